//! What is known about each line: executed, never executed, part of a counterexample. For gutters.

use super::main_loop::MainLoop;
use super::names::uri_of;
use crate::session::results::is_unreached;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The marks of the lines of a document.
pub fn lines(server: &MainLoop, name: &str) -> Value {
    let Some(document) = server.session.document(name) else { return Value::Null };
    let mut marks: BTreeMap<u32, Vec<Value>> = BTreeMap::new();
    let line_of = |at: usize| document.text.byte_to_line(at.min(document.text.len_bytes())) as u32;
    for known in &document.results.known {
        for (index, example) in known.counterexamples.iter().enumerate().take(1) {
            for step in &example.trace.steps {
                let (file, range) = known.place(step.fault_span, name);
                if file != name {
                    continue;
                }
                let kind = match (step.fault, example.trace.cycle_start) {
                    (Some(_), _) => "fails",
                    (None, Some(start)) if start <= step.number => "loop",
                    _ => "step",
                };
                marks.entry(line_of(range.start)).or_default().push(json!({
                    "kind": kind,
                    "step": step.number,
                    "property": known.report.name,
                    "counterexample": index,
                    "stale": known.stale,
                }));
            }
            for standing in example.trace.last.processes.iter().filter(|standing| !standing.end) {
                let span = standing.waiting.first().map_or(standing.span, |waiting| waiting.span);
                let (file, range) = known.place(span, name);
                if file == name {
                    let why = standing.waiting.first().map(|waiting| waiting.reason.sentence());
                    let mark = json!({ "kind": "stuck", "process": standing.name, "why": why, "stale": known.stale });
                    marks.entry(line_of(range.start)).or_default().push(mark);
                }
            }
        }
        for finding in known.findings.iter().filter(|finding| is_unreached(finding) && !known.stale) {
            let Some((file, range)) = finding.span().map(|span| known.place(span, name)) else { continue };
            if file == name {
                let reason = finding.labels.first().map(|label| label.text.as_str());
                let mark = json!({ "kind": "unreached", "why": reason });
                marks.entry(line_of(range.start)).or_default().push(mark);
            }
        }
    }
    let told: Vec<Value> = marks.into_iter().map(|(line, marks)| json!({ "line": line, "marks": marks })).collect();
    json!({ "uri": uri_of(name), "version": document.version, "lines": told })
}
