//! What is known about each line: executed, never executed, part of a counterexample. For gutters.

use super::convert::Converter;
use super::messages::{Coverage, CoveredStatement, LineMarks, Lines, Mark, NotExecuted, StepMark};
use super::names::uri_of;
use super::state::State;
use crate::ide::Place;
use crate::session::Document;
use crate::session::executed::moves;
use crate::session::reading::Reading;
use crate::session::results::{Known, Results, is_unreached};
use fabius_analysis::Survey;
use fabius_base::{FileId, Span};
use fabius_engine::{SAFETY, Verdict};
use fabius_witness::Trace;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

/// This many of the steps that execute the same statement are marks of its line, the first ones.
const MARKED_TIMES_MAX: usize = 100;

/// The marks of a document, by line.
struct Marks<'a> {
    document: &'a Document,
    name: &'a str,
    by_line: BTreeMap<u32, Vec<Mark>>,
}

impl Marks<'_> {
    /// A mark at a place, if that is in the document.
    fn add(&mut self, known: &Known, span: Span, mark: impl FnOnce() -> Mark) {
        let (file, range) = known.place(span, self.name);
        self.put(&file, range.start, mark);
    }

    /// A mark at a byte of a file, if that is the document.
    fn put(&mut self, file: &str, at: usize, mark: impl FnOnce() -> Mark) {
        if file == self.name {
            let text = &self.document.text;
            let line = text.byte_to_line(at.min(text.len_bytes())) as u32;
            self.by_line.entry(line).or_default().push(mark());
        }
    }

    /// Marks a place of a property, once in its line.
    fn property(&mut self, place: Place, name: &str, is_assertion: bool) {
        let line = self.document.text.byte_to_line(place.start.min(self.document.text.len_bytes())) as u32;
        let is_known = |mark: &Mark| matches!(mark, Mark::Property { property, assertion } if property == name && *assertion == is_assertion);
        if !self.by_line.get(&line).is_some_and(|marks| marks.iter().any(is_known)) {
            let property = name.to_owned();
            self.put(&place.file, place.start, || Mark::Property { property, assertion: is_assertion });
        }
    }

    /// Marks the steps of a counterexample.
    fn steps(&mut self, known: &Known, counterexample: usize, trace: &Trace) {
        let mut times: HashMap<(Span, StepKind), usize> = HashMap::new();
        for step in trace.steps.outline().filter(|step| !step.is_claims) {
            let kind = match (trace.steps.faults().binary_search(&step.index), trace.cycle_start) {
                (Ok(_), _) => StepKind::Fails,
                (Err(_), Some(start)) if start <= step.number => StepKind::Loop,
                _ => StepKind::Step,
            };
            let times = times.entry((step.span, kind)).or_default();
            *times += 1;
            if MARKED_TIMES_MAX < *times {
                continue;
            }
            let fault = (kind == StepKind::Fails).then(|| trace.steps.get(step.index)).flatten();
            let span = fault.map_or(step.span, |step| step.fault_span);
            let (property, stale) = (known.report.name.clone(), known.stale);
            let mark = || StepMark { step: step.number, property, counterexample, stale };
            self.add(known, span, || match kind {
                StepKind::Fails => Mark::Fails(mark()),
                StepKind::Loop => Mark::Loop(mark()),
                StepKind::Step => Mark::Step(mark()),
            });
        }
    }

    /// Marks where processes are stuck at the end of a counterexample.
    fn stuck(&mut self, known: &Known, trace: &Trace) {
        for status in trace.stuck() {
            let waiting = status.waiting.first();
            self.add(known, waiting.map_or(status.span, |waiting| waiting.span), || Mark::Stuck {
                process: status.name.clone(),
                why: waiting.map(|waiting| waiting.reason.sentence()),
                stale: known.stale,
            });
        }
    }

    /// Marks what no run executes.
    fn unreached(&mut self, known: &Known) {
        for finding in known.findings.iter().filter(|finding| is_unreached(finding) && !known.stale) {
            if let Some(span) = finding.span() {
                let why = finding.labels.first().map(|label| label.text.clone());
                self.add(known, span, || Mark::Unreached { why });
            }
        }
    }
}

/// Where the properties of a model stand, and whether that is an assertion.
fn places_of_properties(reading: &Reading) -> Vec<(String, bool, Span)> {
    let names = reading.properties();
    let placed = |name: &String| Some((name.clone(), false, reading.place_of(name)?));
    let mut places: Vec<(String, bool, Span)> = names.iter().filter_map(placed).collect();
    if let Some(written) = reading.written().filter(|_| names.iter().any(|name| name == SAFETY)) {
        places.extend(written.assertions().into_iter().map(|span| (SAFETY.to_owned(), true, span)));
    }
    places
}

/// How a step of a counterexample is marked.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum StepKind {
    Step,
    Loop,
    Fails,
}

/// What is known about the lines of a document.
pub fn lines(server: &State, name: &str) -> Option<Lines> {
    let document = server.session.document(name)?;
    let mut marks = Marks { document, name, by_line: BTreeMap::new() };
    for known in &document.results.known {
        if let Some(first) = known.counterexamples.first() {
            marks.steps(known, 0, &first.trace);
            marks.stuck(known, &first.trace);
        }
        marks.unreached(known);
    }
    if let Some(reading) = document.present() {
        for (property, assertion, span) in places_of_properties(reading) {
            marks.property(Place::of(reading.map(), span), &property, assertion);
        }
    }
    let not_executed = document.present().zip(not_executed(document, name)).map(|(reading, (states, places))| {
        let converter = Converter::new(&server.session, reading.map(), server.encoding);
        let here = places.iter().filter(|place| place.file == name);
        NotExecuted {
            states,
            is_searching: document.run.is_some(),
            ranges: here.map(|place| converter.place(place)).collect(),
        }
    });
    let coverage = coverage(document).map(|(survey, statements, reading)| {
        let converter = Converter::new(&server.session, reading.map(), server.encoding);
        let here = statements.iter().filter(|(place, _)| place.file == name);
        let statement = |(place, transitions): &(Place, u64)| CoveredStatement {
            range: converter.place(place),
            executed: 0 < *transitions,
            transitions: *transitions,
        };
        Coverage {
            states: survey.states,
            transitions: survey.transitions,
            exhaustive: survey.exhaustive,
            statements: here.map(statement).collect(),
        }
    });
    let lines = marks.by_line.into_iter().map(|(line, marks)| LineMarks { line, marks }).collect();
    Some(Lines { uri: uri_of(name)?, version: document.version, lines, coverage, not_executed })
}

/// Statements of the present text, and in how many transitions they are executed.
type Statements = Vec<(Place, u64)>;

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
    let statements = survey.statements.iter().filter_map(|(&at, &transitions)| Some((place(at)?, transitions)));
    Some((survey, statements.collect(), present))
}

/// The statements of the present text that nothing executed so far, and the number of states of the search that got furthest. `None` if it is known
/// of each statement whether some run executes it, or if nothing was searched that its verdict did not end.
fn not_executed<'a>(document: &'a Document, name: &'a str) -> Option<(u64, Vec<Place>)> {
    let Results { executed, known, .. } = &document.results;
    let (present, executed) = (document.present()?, executed.as_ref()?);
    let safety = document.results.of(SAFETY).filter(|known| !known.stale)?;
    let survey = coverage(document);
    let is_open = match (&survey, safety.report.verdict) {
        (Some((survey, ..)), _) if survey.exhaustive => false,
        (_, Verdict::Undecided) => true,
        // What ended at a violation says little of other statements, as long as nothing else was looked at.
        (survey, Verdict::Violated) => survey.is_some(),
        (_, Verdict::Holds | Verdict::Faulty) => false,
    };
    let states = survey.iter().map(|(survey, ..)| survey.states).fold(safety.report.states, u64::max);
    if !is_open || states == 0 {
        return None;
    }
    let fresh = || known.iter().filter(|known| !known.stale);
    let place = |known: &Known, span: Span| {
        let (file, Range { start, end }) = known.place(span, name);
        Place { file, start, end }
    };
    // One that may have been executed is neither.
    let statements: Vec<_> = executed.statements_in(present)?.collect();
    let those = |executed: bool| {
        let is_one = move |(_, is_executed): &&(Span, Option<bool>)| *is_executed == Some(executed);
        statements.iter().filter(is_one).map(|(span, _)| Place::of(present.map(), *span))
    };
    let in_runs = fresh().flat_map(|known| {
        let steps = known.counterexamples.iter().flat_map(|found| found.trace.steps.outline());
        steps.map(move |step| place(known, step.span))
    });
    let never = fresh().flat_map(|known| {
        let findings = known.findings.iter().filter(|finding| is_unreached(finding));
        findings.filter_map(move |finding| Some(place(known, finding.span()?)))
    });
    let seen = survey.iter().flat_map(|(_, statements, _)| statements).filter(|(_, transitions)| 0 < *transitions);
    let seen = seen.map(|(place, _)| place.clone());
    let known: BTreeSet<Place> = those(true).chain(in_runs).chain(never).chain(seen).collect();
    // A statement of which a part was executed is one that began.
    let is_known = |open: &Place| {
        let at = |at: usize| Place { file: open.file.clone(), start: at, end: 0 };
        let is_empty = open.start == open.end;
        known.contains(open) || !is_empty && known.range(at(open.start)..at(open.end)).any(|part| part.end <= open.end)
    };
    let mut open: Vec<Place> = those(false).filter(|place| !is_known(place)).collect();
    open.sort();
    Some((states, open))
}
