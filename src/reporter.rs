//! The faces of a check: text for people, a document at the end, or a line of JSON per event.

use crate::args::Check;
use crate::early::EarlyExamples;
use crate::formats::baseline::Baseline;
use crate::formats::{self, Checked, Format};
use crate::output::{self, complain};
use crate::progress::ProgressLine;
use crate::render::text;
use crate::{diagram, exit, itf, trail};
use anstream::AutoStream;
use fabius_base::Limits;
use fabius_engine::{Event, Loaded, Outcome, Report, plan};
use fabius_supervise::Voice;
use serde::Serialize;
use std::io::{self, Stdout, Write};
use std::path::Path;

/// Shows what happens, in the way that was asked for.
pub struct Reporter {
    kind: Kind,
    args: Check,
    progress: ProgressLine,
    limits: Limits,
    out: AutoStream<Stdout>,
    /// The counterexamples of the file that are shown already.
    early: EarlyExamples,
    /// The models that are done, for a document at the end.
    checked: Vec<Checked>,
    /// The first write that failed.
    failed: Option<io::Error>,
    /// A trail or another file of a run could not be written, which was told.
    unwritten: bool,
    /// Whether there is still anything to say.
    voice: Voice,
}

enum Kind {
    /// For people.
    Text,
    /// Nothing until the end: then one document.
    Document,
    /// A line per event.
    Events,
}

impl Reporter {
    /// The face that the flags ask for.
    pub fn new(args: &Check, limits: Limits) -> Self {
        let kind = match args {
            Check { events: true, .. } => Kind::Events,
            Check { formats, .. } if formats.is_text() => Kind::Text,
            _ => Kind::Document,
        };
        Self {
            kind,
            args: args.clone(),
            progress: ProgressLine::new(args, limits),
            limits,
            out: args.color.stdout(),
            early: EarlyExamples::default(),
            checked: Vec::new(),
            failed: None,
            unwritten: false,
            voice: Voice::default(),
        }
    }

    /// A file is next, about which this voice speaks.
    pub fn begin(&mut self, voice: &Voice) {
        self.progress = ProgressLine::new(&self.args, self.limits);
        self.voice = voice.clone();
    }

    /// A face in the place of one that was lost with its work: it has the reports of the files before.
    pub fn instead(args: &Check, limits: Limits, done: Vec<Report>) -> Self {
        let mut reporter = Self::new(args, limits);
        done.into_iter().for_each(|report| reporter.keep(|| Checked::from_report(report)));
        reporter
    }

    /// A file did not come to its end: this is what is known of it.
    pub fn unfinished(&mut self, report: Report) {
        self.keep(|| Checked::from_report(report.clone()));
        match self.kind {
            Kind::Document => {}
            Kind::Events => self.line(&Event::Done { report: Box::new(report) }),
            Kind::Text => {
                let (counterexamples, findings, failure) = (Vec::new(), Vec::new(), None);
                let outcome = Outcome { report, counterexamples, findings, executed: None, failure };
                let text = text::conclusion(&outcome, &self.args);
                self.write(&text);
            }
        }
    }

    /// The text of a file was read and understood, or not.
    pub fn loaded(&mut self, loaded: &Loaded) {
        let plan = loaded.checkable().and_then(|program| plan(program, &self.args.question.property).ok());
        let properties: Vec<String> = plan.into_iter().flat_map(|plan| plan.properties).map(|of| of.name).collect();
        self.progress.plan(properties.len());
        self.early = EarlyExamples::of(properties);
        if matches!(self.kind, Kind::Text) {
            self.write(&text::findings(&loaded.map, &loaded.findings));
        }
    }

    /// Something happened. A counterexample is shown at once.
    pub fn event(&mut self, loaded: &Loaded, event: &Event) {
        match (&self.kind, event) {
            (Kind::Events, event) => self.line(event),
            (_, event) if !self.voice.is_lost() => self.progress.follow(event),
            _ => {}
        }
        if let Kind::Text = self.kind {
            let before = self.early.len();
            for (i, example) in self.early.follow(event).iter().enumerate() {
                self.progress.clear();
                let text = text::next_counterexample(loaded, example, before + i, &self.args);
                self.write(&text);
                let flushed = self.out.flush();
                self.note(flushed);
            }
        }
    }

    /// A file is done.
    pub fn done(&mut self, loaded: &Loaded, outcome: &Outcome) {
        self.progress.clear();
        if !self.voice.take() {
            return;
        }
        if let Kind::Text = self.kind {
            let report = text::outcome(loaded, outcome, &self.early, &self.args);
            self.write(&report);
        }
        let args = &self.args;
        for told in [trail::write, itf::write, diagram::write].map(|write| write(loaded, outcome, args)).concat() {
            match (&self.kind, told) {
                (Kind::Text, Ok(message)) => self.write(&format!("{message}\n")),
                (_, Ok(message)) => complain(&message),
                (_, Err(why)) => {
                    self.unwritten = true;
                    complain(&why);
                }
            }
        }
        if let Some(failure) = &outcome.failure {
            complain(failure);
        }
        let (format, picture) = (self.args.formats.format(), self.args.picture.clone());
        self.keep(|| Checked::new(loaded, outcome, format, picture.as_deref()));
    }

    /// Keeps what a document at the end needs, if there is to be one.
    fn keep(&mut self, checked: impl FnOnce() -> Checked) {
        if self.args.formats.format() != Format::Text || self.args.baseline.is_used() {
            self.checked.push(checked());
        }
    }

    /// The work on a file ended in a panic.
    pub fn crashed(&mut self, path: &Path, panic: &str) {
        self.progress.clear();
        if !self.voice.take() {
            return;
        }
        let report = fabius_engine::crashed(&path.display().to_string(), panic);
        complain(&report.reason);
        self.keep(|| Checked::from_report(report.clone()));
        match self.kind {
            Kind::Text | Kind::Document => {}
            Kind::Events => self.line(&Event::Done { report: Box::new(report) }),
        }
    }

    /// Whether there is no point in going on: what is found cannot be told.
    pub fn has_failed(&self) -> bool {
        self.failed.is_some()
    }

    /// All files are done, the worst of them with this exit code; returns the exit code of all, with what is known from a
    /// baseline, and if the output could not be written.
    pub fn finish(mut self, mut worst: u8, baseline: Option<&Baseline>) -> u8 {
        if let Some(baseline) = baseline {
            let compared = baseline.apply(&mut self.checked);
            // Of a file without a report, only its exit code is known.
            let unknown = if worst < exit::FAULTY { exit::UNDECIDED } else { worst };
            let unknown = (self.checked.len() < self.args.files.len()).then_some(unknown);
            worst = self.checked.iter().map(Checked::code).chain(unknown).fold(0, exit::worse);
            self.say(&compared);
        }
        let complete = self.checked.len() == self.args.files.len();
        let (written, code) = self.args.baseline.write(&self.checked, complete);
        self.say(&written);
        let flushed = self.out.flush();
        self.note(flushed);
        if self.args.formats.format() != Format::Text {
            let written = formats::write(&self.args, &self.checked, std::io::stdout().lock());
            self.note(written);
        }
        let failed = output::code(self.failed.map_or(Ok(()), Err));
        let unwritten = if self.unwritten { exit::FAULTY } else { 0 };
        [code, failed, unwritten].into_iter().fold(worst, exit::worse)
    }

    /// Says something about all files, beside the document if there is one.
    fn say(&mut self, text: &str) {
        match self.kind {
            _ if text.is_empty() => {}
            Kind::Text => self.write(text),
            _ => complain(text.trim_end()),
        }
    }

    fn line(&mut self, event: &impl Serialize) {
        let line = serde_json::to_string(event).unwrap_or_default();
        self.write(&line);
        self.write("\n");
        let flushed = self.out.flush();
        self.note(flushed);
    }

    fn write(&mut self, text: &str) {
        if self.voice.is_lost() {
            return;
        }
        let written = self.out.write_all(text.as_bytes());
        self.note(written);
    }

    /// Keeps the first error; a reader that has gone away is none: the exit code still says what was found.
    fn note(&mut self, written: io::Result<()>) {
        self.failed = self.failed.take().or(output::unless_closed(written).err());
    }
}
