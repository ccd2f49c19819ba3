//! A trace as a message sequence chart, in the notation of Mermaid.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::trace::{Step, Trace};

/// A sequence diagram: a lane per process and per buffered channel that carries a message, an arrow
/// per message, a note per failed assertion and per line printed.
pub fn mermaid(trace: &Trace) -> String {
    let mut chart = Chart { lanes: BTreeMap::new(), order: Vec::new(), lines: Vec::new() };
    for status in &trace.start.processes {
        chart.lane(&status.name);
    }
    for step in &trace.steps {
        chart.step(&step);
    }
    let mut text = String::from("sequenceDiagram\n");
    for (number, name) in chart.order.iter().enumerate() {
        let _ = writeln!(text, "    participant l{number} as {}", plain(name));
    }
    for line in &chart.lines {
        let _ = writeln!(text, "    {line}");
    }
    text
}

struct Chart {
    lanes: BTreeMap<String, usize>,
    order: Vec<String>,
    lines: Vec<String>,
}

impl Chart {
    fn lane(&mut self, name: &str) -> String {
        let next = self.order.len();
        let number = *self.lanes.entry(name.to_owned()).or_insert(next);
        if number == next {
            self.order.push(name.to_owned());
        }
        format!("l{number}")
    }

    fn step(&mut self, step: &Step) {
        let own = self.lane(&step.actor.name);
        for created in &step.created {
            let child = self.lane(&created.name);
            self.lines.push(format!("{own}-->>{child}: run"));
        }
        if let Some(partner) = &step.partner {
            let other = self.lane(&partner.name);
            let message = step.messages.iter().find(|message| message.sent);
            let text = message.map(|m| format!("{} [{}]", m.channel, m.fields)).unwrap_or_default();
            self.lines.push(format!("{own}->>{other}: {}", plain(&text)));
        } else {
            for message in &step.messages {
                let channel = self.lane(&message.channel);
                let fields = plain(&format!("[{}]", message.fields));
                self.lines.push(match (message.sent, message.kept) {
                    (true, _) => format!("{own}->>{channel}: {fields}"),
                    (false, false) => format!("{channel}->>{own}: {fields}"),
                    (false, true) => format!("{channel}-->>{own}: {fields}"),
                });
            }
        }
        for line in step.printed.lines().filter(|line| !line.trim().is_empty()) {
            self.lines.push(format!("Note over {own}: {}", plain(line)));
        }
        if let Some(fault) = step.fault {
            self.lines.push(format!("Note over {own}: {}", plain(&fault.to_string())));
        }
    }
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
