//! A diagram in the notation of Mermaid.

use std::fmt::Write;

use super::{Diagram, Row};
use crate::trace::Step;

/// A Mermaid sequence diagram: an arrow for each message where it is received, notes for the other steps, a bar where
/// a process waits and a dashed arrow from the step that lets it go on.
pub fn mermaid(diagram: &Diagram) -> String {
    let mut chart = Chart { diagram, lines: Vec::new(), notes: None, waiting: vec![false; diagram.lanes.len()] };
    for (number, lane) in diagram.lanes.iter().enumerate().filter(|(_, lane)| lane.created == 0) {
        chart.lines.push(format!("participant l{number} as {}", plain(&lane.name)));
    }
    chart.waits_from(0);
    let mut left_out = diagram.left_out;
    for row in &diagram.rows {
        if let Some((count, _)) = left_out.filter(|(_, after)| *after < row.step.number) {
            chart.note(row.lane, &format!("… {count} steps …"));
            left_out = None;
        }
        if diagram.cycle_start == Some(row.step.number) {
            chart.flush();
            chart.lines.push("loop for ever".to_owned());
        }
        chart.row(row);
    }
    chart.end();
    let mut text = String::from("sequenceDiagram\n");
    for line in &chart.lines {
        let _ = writeln!(text, "    {line}");
    }
    text
}

struct Chart<'a> {
    diagram: &'a Diagram,
    lines: Vec<String>,
    /// Steps of one process that are not written yet.
    notes: Option<(usize, Vec<String>)>,
    /// For each lane, whether a bar is open.
    waiting: Vec<bool>,
}

impl Chart<'_> {
    fn flush(&mut self) {
        if let Some((lane, notes)) = self.notes.take() {
            self.lines.push(format!("Note over l{lane}: {}", notes.join("<br/>")));
        }
    }

    /// A note over a lane, together with those of the steps before if they are of the same process.
    fn note(&mut self, lane: usize, text: &str) {
        match &mut self.notes {
            Some((at, notes)) if *at == lane => notes.push(plain(text)),
            _ => {
                self.flush();
                self.notes = Some((lane, vec![plain(text)]));
            }
        }
    }

    fn arrow(&mut self, from: usize, arrow: &str, to: usize, text: &str) {
        self.flush();
        self.lines.push(format!("l{from}{arrow}l{to}: {}", plain(text)));
    }

    fn row(&mut self, row: &Row) {
        let step = &row.step;
        self.end_waits_of_movers(row);
        if let Some(partner) = row.partner {
            let sent = step.messages.iter().find(|message| message.sent);
            let text = sent.map(|m| format!("{} {} [{}]", step.number, m.channel, m.fields)).unwrap_or_default();
            self.arrow(row.lane, "->>", partner, &text);
        } else {
            let told = told(step);
            self.note(row.lane, &told);
        }
        for delivery in &row.received {
            let kept = if delivery.kept { ", stays there" } else { "" };
            let text = format!("{} [{}] of step {}{kept}", delivery.channel, delivery.fields, delivery.sent_in);
            self.arrow(delivery.from, "-)", row.lane, &text);
        }
        for created in &row.created {
            self.flush();
            let name = plain(&self.diagram.lanes[*created].name);
            self.lines.push(format!("create participant l{created} as {name}"));
            self.arrow(row.lane, "-->>", *created, "run");
        }
        for line in step.printed.lines().filter(|line| !line.trim().is_empty()) {
            self.note(row.lane, &format!("prints {line}"));
        }
        for note in &step.notes {
            self.note(row.lane, &format!("⚠ {}", note.text));
        }
        if let Some(fault) = step.fault {
            self.note(row.lane, &format!("✗ {fault}"));
        }
        let diagram = self.diagram;
        for wait in diagram.released_by(step.number) {
            self.arrow(row.lane, "-->>", wait.lane, "can go on");
            self.end_wait(wait.lane);
        }
        self.waits_from(step.number);
    }

    fn end_waits_of_movers(&mut self, row: &Row) {
        for lane in [Some(row.lane), row.partner].into_iter().flatten() {
            if self.waiting[lane] {
                self.flush();
                self.end_wait(lane);
            }
        }
    }

    fn end_wait(&mut self, lane: usize) {
        if std::mem::take(&mut self.waiting[lane]) {
            self.lines.push(format!("deactivate l{lane}"));
        }
    }

    fn waits_from(&mut self, after: usize) {
        let diagram = self.diagram;
        for wait in diagram.waits_from(after) {
            self.flush();
            self.lines.push(format!("activate l{}", wait.lane));
            self.waiting[wait.lane] = true;
            self.note(wait.lane, &format!("waits {}", wait.reason));
        }
    }

    fn end(&mut self) {
        self.flush();
        if self.diagram.cycle_start.is_some_and(|start| start <= self.diagram.steps) {
            self.lines.push("end".to_owned());
        }
        for (at, lane) in self.diagram.circle.iter().enumerate() {
            let next = self.diagram.circle[(at + 1) % self.diagram.circle.len()];
            self.arrow(*lane, "--x", next, "waits for");
        }
        for lane in 0..self.waiting.len() {
            self.end_wait(lane);
        }
    }
}

/// A step in a note.
fn told(step: &Step) -> String {
    let changes = step.changes.iter().filter(|change| change.what != crate::trace::Changed::Channel);
    let changes: Vec<_> = changes.map(|change| format!("{} = {}", change.name, change.new)).collect();
    let changes = if changes.is_empty() { String::new() } else { format!(" ({})", changes.join(", ")) };
    format!("{} {}{changes}", step.number, step.actor.text)
}

/// Text without the characters that mean something to Mermaid.
fn plain(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '#' | ';' | ':' | '<' | '>' | '%' | '"' => {
                let _ = write!(out, "#{};", u32::from(c));
            }
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
