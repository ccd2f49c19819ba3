//! Progress and status: how far the checks are, in the protocol's words and in our own.

use super::client::{Client, Expected};
use super::convert::Converter;
use super::lines::coverage;
use super::messages::{self, Faulty, PropertyState, PropertyStatus, Status, SurveyStatus, Waiting};
use super::names::uri_of;
use super::positions::Encoding;
use crate::ide::{Place, schedules};
use crate::session::jobs::{RunId, Tier};
use crate::session::queue::Turn;
use crate::session::results::Known;
use crate::session::{Document, Running, Session};
use fabius_engine::words::{counted, grouped, memory};
use fabius_engine::{Fairness, SAFETY, Verdict};
use std::collections::HashMap;
use tower_lsp_server::ls_types as lsp;

/// The progress that the client shows.
#[derive(Default)]
pub struct ProgressBars {
    /// The client can show progress that the server begins.
    pub supported: bool,
    shown: HashMap<String, Bar>,
}

struct Bar {
    run: RunId,
    /// The client said that it is ready.
    begun: bool,
}

/// The token of the progress of a document.
fn token(name: &str) -> String {
    format!("fabius/check/{name}")
}

impl ProgressBars {
    /// A check goes on.
    pub fn update(&mut self, client: &mut Client, name: &str, running: &Running, ahead: Option<usize>) {
        if !self.supported || running.tier == Tier::Quick {
            return;
        }
        match self.shown.get_mut(name) {
            None => {
                self.shown.insert(name.to_owned(), Bar { run: running.run, begun: false });
                let params = lsp::WorkDoneProgressCreateParams { token: lsp::NumberOrString::String(token(name)) };
                client.ask("window/workDoneProgress/create", params, Expected::Progress(name.to_owned()));
            }
            Some(bar) => {
                bar.run = running.run;
                if bar.begun {
                    let report =
                        lsp::WorkDoneProgressReport { message: Some(line(running, ahead)), ..Default::default() };
                    show(client, name, lsp::WorkDoneProgress::Report(report));
                }
            }
        }
    }

    /// The client can show the progress of a document from now on.
    pub fn created(&mut self, client: &Client, name: &str, session: &Session) {
        let Some(bar) = self.shown.get_mut(name) else { return };
        bar.begun = true;
        let title = format!("checking {}", short(name));
        let running = session.document(name).and_then(|document| document.run.as_ref());
        let message = running.map(|running| line(running, session.checks_ahead(name)));
        let message = Some(message.unwrap_or_default());
        let begin = lsp::WorkDoneProgressBegin { title, cancellable: Some(true), message, percentage: None };
        show(client, name, lsp::WorkDoneProgress::Begin(begin));
    }

    /// No check of a document is under way any more.
    pub fn end(&mut self, client: &Client, name: &str, message: &str) {
        if let Some(Bar { begun: true, .. }) = self.shown.remove(name) {
            let end = lsp::WorkDoneProgressEnd { message: Some(message.to_owned()) };
            show(client, name, lsp::WorkDoneProgress::End(end));
        }
    }

    /// The documents whose progress is shown although no check is under way.
    pub fn orphans(&self, session: &Session) -> Vec<String> {
        let idle = |name: &&String| session.document(name).is_none_or(|document| document.run.is_none());
        self.shown.iter().filter(|(_, bar)| bar.begun).map(|(name, _)| name).filter(idle).cloned().collect()
    }

    /// The document whose progress has a token.
    pub fn document(&self, wanted: &str) -> Option<String> {
        self.shown.keys().find(|name| token(name) == wanted).cloned()
    }
}

fn show(client: &Client, name: &str, progress: lsp::WorkDoneProgress) {
    let (token, value) = (lsp::NumberOrString::String(token(name)), lsp::ProgressParamsValue::WorkDone(progress));
    client.notify("$/progress", lsp::ProgressParams { token, value });
}

fn short(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// How far a check is, in one line.
fn line(running: &Running, ahead: Option<usize>) -> String {
    let mut told = running.property.clone();
    if ahead.is_some() {
        return format!("{told}: waiting for checks of other models");
    }
    let bound = running.bound.map(|bound| format!("no error up to {}", counted(u64::from(bound), "delay")));
    let states = running.progress.as_ref().map(|progress| {
        let rate = if progress.seconds > 0.0 { progress.states as f64 / progress.seconds } else { 0.0 };
        let states = counted(progress.states, "state");
        format!("{states}, {}, depth {}, {}", per_second(rate), grouped(progress.depth), memory(progress.memory_bytes))
    });
    for (index, part) in bound.into_iter().chain(states).enumerate() {
        told.push_str(if index == 0 { ": " } else { ", " });
        told.push_str(&part);
    }
    told
}

/// A rate per second, in few digits.
fn per_second(rate: f64) -> String {
    match rate {
        rate if rate < 10_000.0 => format!("{}/s", grouped(rate as u64)),
        rate => format!("{} k/s", grouped((rate / 1000.0) as u64)),
    }
}

/// The state of a property of the present text; `goes_on`: its check, if there is one, does not wait for a thread.
fn state_of(document: &Document, property: &str, goes_on: bool) -> PropertyState {
    let running = goes_on && document.run.as_ref().is_some_and(|running| running.property == property);
    match document.results.of(property) {
        _ if running => PropertyState::Running,
        None => PropertyState::Unknown,
        Some(known) if known.stale => PropertyState::Stale,
        Some(known) => known.report.verdict.into(),
    }
}

/// What is known about a property, in one line that never says more than is known. `is_old`: the text cannot be read now.
pub fn summary(known: &Known, is_old: bool) -> String {
    let states = counted(known.report.states, "state");
    let old = if known.stale || is_old { " (before the last edits)" } else { "" };
    let fair = match known.fairness {
        Fairness::None => String::new(),
        fairness => format!(" under {} fairness", fairness.as_str()),
    };
    let words = match known.report.verdict {
        Verdict::Holds => format!("✓ holds{fair}, {states}"),
        Verdict::Violated => format!("✗ {}", violated(known)),
        Verdict::Undecided => format!("? {}", known.words_if_undecided()),
        Verdict::Faulty => format!("✗ {}", known.report.reason),
    };
    let cached = known.report.cached.as_ref().map(|time| format!(" (cached result from {time} UTC)"));
    format!("{words}{}{old}", cached.unwrap_or_default())
}

/// The same in a few words, for a place with little room.
fn short_line(known: &Known, is_old: bool) -> String {
    let old = if known.stale || is_old { " (old)" } else { "" };
    let words = match known.report.verdict {
        Verdict::Holds => "✓ holds".to_owned(),
        Verdict::Violated => known.counterexamples.first().map_or_else(
            || "✗ violated".to_owned(),
            |example| format!("✗ {}", counted(example.trace.len() as u64, "step")),
        ),
        Verdict::Undecided => "? undecided".to_owned(),
        Verdict::Faulty => "✗ faulty".to_owned(),
    };
    format!("{words}{old}")
}

/// Why a model cannot be checked as it is.
fn faulty(document: &Document) -> Option<Faulty> {
    let reading = document.present()?;
    if let Some(wrong) = document.misconfigured() {
        let message =
            format!("the settings of the project cannot be read: {}", wrong.lines().next().unwrap_or_default());
        return Some(Faulty { message, errors: 1, line: None });
    }
    let is_readable = reading.loaded.checkable().is_some();
    if let (true, Some(condition), Some(why)) = (is_readable, &document.leave_out, document.wrong_condition()) {
        let message = format!("checks are not to go on where `{condition}` is true: {why}");
        return Some(Faulty { message, errors: 1, line: None });
    }
    let mut errors = reading.loaded.findings.iter().filter(|finding| finding.is_error());
    let first = errors.next()?;
    let place = first.span().map(|span| reading.map().position(reading.map().user_span(span)));
    let line = place.as_ref().map(|place| place.line.saturating_sub(1));
    let place = place.map(|place| {
        let own = *place.file == *reading.loaded.name;
        let file = if own { String::new() } else { format!("{}, ", short(&place.file)) };
        format!("{file}line {}: ", place.line)
    });
    let place = place.unwrap_or_default();
    Some(Faulty { message: format!("{place}{}", first.headline), errors: 1 + errors.count(), line })
}

/// What goes wrong first, and how long that takes.
fn violated(known: &Known) -> String {
    let Some(example) = known.counterexamples.first() else { return known.report.reason.clone() };
    let (what, steps) = (example.report.kind.sentence(), example.trace.len());
    match example.trace.cycle_start {
        Some(start) if steps < start => format!("{what}: {}, then nothing moves", counted(steps as u64, "step")),
        Some(start) => format!("{what}: {}, loop of {}", counted(steps as u64, "step"), steps + 1 - start),
        None if steps == 0 => format!("{what} in the initial state"),
        None => format!("{what}: {}", counted(steps as u64, "step")),
    }
}

/// All that is known about a document, for a notification or an answer; a later one has a greater number.
pub fn status(session: &Session, encoding: Encoding, name: &str, document: &Document, serial: u64) -> Option<Status> {
    let present = document.present().map(|reading| reading.properties()).unwrap_or_default();
    // While the text cannot be read, what was known before it became so is still worth telling.
    let is_old = present.is_empty();
    let before = document.results.known.iter().map(|known| known.report.name.clone());
    let properties = if is_old { before.collect() } else { present };
    let range = |property: &str| {
        let reading = document.present()?;
        let place = Place::of(reading.map(), reading.place_of(property)?);
        let converter = Converter::new(session, reading.map(), encoding);
        (place.file == name).then(|| converter.place(&place))
    };
    let ahead = session.checks_ahead(name);
    let running = document.run.as_ref().map(|running| messages::Running {
        property: running.property.clone(),
        tier: running.tier,
        bound: running.bound,
        progress: running.progress,
        ahead,
    });
    let turns = document.run.iter().flat_map(|running| &running.next);
    let turn = |turn: &Turn| Waiting { property: turn.property.clone(), tier: turn.tier, progress: turn.progress() };
    let survey = coverage(document);
    Some(Status {
        uri: uri_of(name)?,
        version: document.version,
        serial,
        running,
        waiting: turns.map(turn).collect(),
        leave_out: document.leave_out.clone(),
        max_depth: document.max_depth,
        visit_first: document.heeded_order().cloned(),
        faulty: faulty(document),
        properties: properties
            .iter()
            .map(|property| PropertyStatus {
                range: range(property),
                ..property_status(document, property, is_old, ahead.is_none())
            })
            .collect(),
        survey: survey.map(|(survey, ..)| SurveyStatus { states: survey.states, exhaustive: survey.exhaustive }),
        surveying: session.is_surveying(name),
    })
}

/// What is known about a property, but for where it is.
fn property_status(document: &Document, property: &str, is_old: bool, goes_on: bool) -> PropertyStatus {
    let known = document.results.of(property);
    let report = known.map(|known| &known.report);
    let stale = known.is_some_and(|known| known.stale || is_old);
    let avoidable = || document.present().and_then(|reading| schedules::avoidable(document, reading));
    PropertyStatus {
        name: property.to_owned(),
        kind: report.map(|report| report.kind),
        state: if is_old { PropertyState::Stale } else { state_of(document, property, goes_on) },
        verdict: report.map(|report| report.verdict),
        exhaustive: report.is_some_and(|report| report.exhaustive && !stale),
        stale,
        fairness: document.fairness(property),
        cached: report.and_then(|report| report.cached.clone()),
        summary: known.map(|known| summary(known, is_old)),
        short: known.map(|known| short_line(known, is_old)),
        states: report.map(|report| report.states),
        bound: known.and_then(|known| known.bound),
        counterexamples: known.map_or(0, |known| known.counterexamples.len()),
        avoidable: if property == SAFETY { avoidable() } else { None },
        replay: known.and_then(|known| known.replayed.as_ref()).map(|replayed| replayed.words()),
        expected: document.expected(property),
        range: None,
    }
}
