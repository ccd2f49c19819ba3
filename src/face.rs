//! The faces of a check: text for people, one JSON document, or a line of JSON per event.

use crate::args::{Check, ColorWhen};
use crate::progress::ProgressLine;
use crate::render::text;
use crate::trail;
use anstream::{AutoStream, ColorChoice};
use fabius_engine::{Event, Loaded, Outcome, Report};
use serde::Serialize;
use std::io::{BufWriter, Stdout, Write};
use std::path::Path;

/// Shows what happens, in the way that was asked for.
pub struct Face {
    kind: Kind,
    args: Check,
    progress: ProgressLine,
    out: AutoStream<Stdout>,
}

enum Kind {
    /// For people.
    Text,
    /// One document at the end.
    Json(Vec<Report>),
    /// A line per event.
    Events,
}

impl Face {
    /// The face that the flags ask for.
    pub fn new(args: &Check) -> Self {
        let choice = match args.color {
            ColorWhen::Auto => AutoStream::choice(&std::io::stdout()),
            ColorWhen::Always => ColorChoice::AlwaysAnsi,
            ColorWhen::Never => ColorChoice::Never,
        };
        let kind = match args {
            Check { json: true, .. } => Kind::Json(Vec::new()),
            Check { events: true, .. } => Kind::Events,
            _ => Kind::Text,
        };
        Self {
            kind,
            args: args.clone(),
            progress: ProgressLine::new(),
            out: AutoStream::new(std::io::stdout(), choice),
        }
    }

    /// A file is next.
    pub fn begin(&mut self) {
        self.progress = ProgressLine::new();
    }

    /// The text of a file was read and understood, or not.
    pub fn loaded(&mut self, loaded: &Loaded) {
        if matches!(self.kind, Kind::Text) {
            self.write(&text::findings(&loaded.map, &loaded.findings));
        }
    }

    /// Something happened.
    pub fn event(&mut self, event: &Event) {
        match (&self.kind, event) {
            (Kind::Events, event) => self.line(event),
            (_, Event::Progress { progress, .. }) => self.progress.show(progress),
            _ => {}
        }
    }

    /// A file is done.
    pub fn done(&mut self, loaded: &Loaded, outcome: &Outcome) {
        self.progress.clear();
        if let Kind::Text = self.kind {
            let report = text::outcome(loaded, outcome, &self.args);
            self.write(&report);
        }
        for message in trail::write(loaded, outcome, &self.args) {
            match self.kind {
                Kind::Text => self.write(&format!("{message}\n")),
                _ => complain(&message),
            }
        }
        if let Some(failure) = &outcome.failure {
            complain(failure);
        }
        if let Kind::Json(reports) = &mut self.kind {
            reports.push(outcome.report.clone());
        }
    }

    /// The work on a file ended in a panic.
    pub fn crashed(&mut self, path: &Path, panic: &str) {
        self.progress.clear();
        let report = fabius_engine::crashed(&path.display().to_string(), panic);
        complain(&report.reason);
        match &mut self.kind {
            Kind::Text => {}
            Kind::Json(reports) => reports.push(report),
            Kind::Events => self.line(&Event::Done { report }),
        }
    }

    /// All files are done.
    pub fn finish(&mut self) {
        if let Kind::Json(reports) = &self.kind {
            let mut out = BufWriter::new(std::io::stdout().lock());
            // As in `write`, a reader that has gone away is no error.
            let _ = match reports.as_slice() {
                [report] if self.args.files.len() == 1 => serde_json::to_writer_pretty(&mut out, report),
                reports => serde_json::to_writer_pretty(&mut out, reports),
            };
            let _ = out.write_all(b"\n").and_then(|()| out.flush());
        }
        let _ = self.out.flush();
    }

    fn line(&mut self, event: &impl Serialize) {
        let line = serde_json::to_string(event).unwrap_or_default();
        self.write(&line);
        self.write("\n");
        let _ = self.out.flush();
    }

    /// A reader that has gone away is no error: the exit code still says what was found.
    fn write(&mut self, text: &str) {
        let _ = self.out.write_all(text.as_bytes());
    }
}

/// Says on standard error what must not disturb the output.
fn complain(message: &str) {
    let _ = writeln!(std::io::stderr(), "{message}");
}
