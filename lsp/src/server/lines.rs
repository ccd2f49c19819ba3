//! What is known about each line: executed, never executed, part of a counterexample. For gutters.

use super::convert::Converter;
use super::names::uri_of;
use super::state::State;
use crate::ide::Place;
use crate::session::Document;
use crate::session::reading::Reading;
use crate::session::results::is_unreached;
use fabius_analysis::Survey;
use fabius_base::{FileId, Span};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// This many of the steps that execute the same statement are marks of its line, the first ones.
const TIMES_TOLD_MAX: usize = 100;

/// The marks of the lines of a document.
pub fn lines(server: &State, name: &str) -> Value {
    let Some(document) = server.session.document(name) else { return Value::Null };
    let mut marks: BTreeMap<u32, Vec<Value>> = BTreeMap::new();
    let line_of = |at: usize| document.text.byte_to_line(at.min(document.text.len_bytes())) as u32;
    for known in &document.results.known {
        for (index, example) in known.counterexamples.iter().enumerate().take(1) {
            let steps = &example.trace.steps;
            let mut told: HashMap<(Span, &str), usize> = HashMap::new();
            for step in steps.outline().filter(|step| !step.is_claims) {
                let fails = steps.faults().binary_search(&step.index).is_ok();
                let kind = match (fails, example.trace.cycle_start) {
                    (true, _) => "fails",
                    (false, Some(start)) if start <= step.number => "loop",
                    _ => "step",
                };
                let times = told.entry((step.span, kind)).or_default();
                *times += 1;
                if TIMES_TOLD_MAX < *times {
                    continue;
                }
                let at = if fails { steps.get(step.index).map(|step| step.fault_span) } else { None };
                let (file, range) = known.place(at.unwrap_or(step.span), name);
                if file != name {
                    continue;
                }
                marks.entry(line_of(range.start)).or_default().push(json!({
                    "kind": kind,
                    "step": step.number,
                    "property": known.report.name,
                    "counterexample": index,
                    "stale": known.stale,
                }));
            }
            for status in example.trace.stuck() {
                let span = status.waiting.first().map_or(status.span, |waiting| waiting.span);
                let (file, range) = known.place(span, name);
                if file == name {
                    let why = status.waiting.first().map(|waiting| waiting.reason.sentence());
                    let mark = json!({ "kind": "stuck", "process": status.name, "why": why, "stale": known.stale });
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
    let covered = coverage(document).map(|(survey, statements, reading)| {
        let converter = Converter::new(&server.session, reading.map(), server.encoding);
        let own = statements.iter().filter(|(place, _)| place.file == name);
        let told = own.map(|(place, executed)| json!({ "range": converter.place(place), "executed": executed }));
        json!({
            "states": survey.states,
            "exhaustive": survey.exhaustive,
            "statements": told.collect::<Vec<Value>>(),
        })
    });
    let told: Vec<Value> = marks.into_iter().map(|(line, marks)| json!({ "line": line, "marks": marks })).collect();
    json!({ "uri": uri_of(name), "version": document.version, "lines": told, "coverage": covered })
}

/// Statements of the present text, and whether some run executes them.
type Statements = Vec<(Place, bool)>;

/// Which statements of the present text are executed, if the states of a model with its meaning were looked at.
pub fn coverage(document: &Document) -> Option<(&Survey, Statements, &Arc<Reading>)> {
    let (survey, surveyed) = (document.results.survey.as_ref()?, document.results.surveyed.as_ref()?);
    let present = document.present()?;
    let moved = match Arc::ptr_eq(present, surveyed) {
        true => None,
        false => Some(moves(surveyed, present)?),
    };
    let place = |(file, start, end): (FileId, u32, u32)| {
        let old = Span::new(file, start, end);
        let new = moved.as_ref().map_or(Some(old), |moved| moved.get(&old).copied());
        new.map(|span| Place::of(present.map(), span))
    };
    let statements = survey.statements.iter().filter_map(|(&at, &executed)| Some((place(at)?, executed)));
    Some((survey, statements.collect(), present))
}

/// Where the statements of a text are in one that means the same; `None` if it means something else.
fn moves(old: &Reading, new: &Reading) -> Option<HashMap<Span, Span>> {
    let same = |property: &String| old.digest_of(property) == new.digest_of(property);
    let names = new.properties();
    if old.properties() != names || !names.iter().all(same) {
        return None;
    }
    let places = old.written()?.places_in(new.written()?);
    Some(places.into_iter().map(|(a, b)| (old.map().user_span(a), new.map().user_span(b))).collect())
}
