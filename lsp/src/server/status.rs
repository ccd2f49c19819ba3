//! Progress and status: how far the checks are, in the protocol's words and in our own.

use super::client::{Client, Expected, json};
use super::convert::Converter;
use super::lines::coverage;
use super::names::uri_of;
use super::positions::Encoding;
use crate::ide::{Place, schedules};
use crate::session::jobs::{RunId, Tier};
use crate::session::results::Known;
use crate::session::{Document, Running, Session};
use fabius_engine::words::{counted, grouped, memory};
use fabius_engine::{Fairness, SAFETY, Verdict};
use serde_json::{Value, json};
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
    pub fn update(&mut self, client: &mut Client, name: &str, running: &Running) {
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
                    let report = lsp::WorkDoneProgressReport { message: Some(line(running)), ..Default::default() };
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
        let message = Some(running.map(line).unwrap_or_default());
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
fn line(running: &Running) -> String {
    let mut told = running.property.clone();
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

/// The state of a property, in one word.
pub fn state_of(document: &Document, property: &str) -> &'static str {
    let running = document.run.as_ref().is_some_and(|running| running.property == property);
    match document.results.of(property) {
        _ if running => "running",
        None => "unknown",
        Some(known) if known.stale => "stale",
        Some(known) => match known.report.verdict {
            Verdict::Holds => "holds",
            Verdict::Violated => "violated",
            Verdict::Undecided => "undecided",
            Verdict::Faulty => "faulty",
        },
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

/// Why a model cannot be checked as it is: its first error, in one line, and how many there are.
fn faulty(document: &Document) -> Option<Value> {
    let reading = document.present()?;
    if let Some(wrong) = document.misconfigured() {
        let message =
            format!("the settings of the project cannot be read: {}", wrong.lines().next().unwrap_or_default());
        return Some(json!({ "message": message, "errors": 1, "line": null }));
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
    Some(json!({ "message": format!("{place}{}", first.headline), "errors": 1 + errors.count(), "line": line }))
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

/// The state of all properties of a document, as our own requests and notifications tell it; a later one has a greater
/// number.
pub fn status(session: &Session, encoding: Encoding, name: &str, document: &Document, serial: u64) -> Value {
    let reading = document.present();
    let present = reading.map(|reading| reading.properties()).unwrap_or_default();
    // While the text cannot be read, what was known before it became so is still worth telling.
    let is_old = present.is_empty();
    let before = document.results.known.iter().map(|known| known.report.name.clone());
    let properties = if is_old { before.collect() } else { present };
    let range = |property: &str| {
        let reading = reading?;
        let place = Place::of(reading.map(), reading.place_of(property)?);
        let converter = Converter::new(session, reading.map(), encoding);
        (place.file == name).then(|| converter.place(&place))
    };
    let told = properties.iter().map(|property| {
        let known = document.results.of(property);
        json!({
            "name": property,
            "kind": known.map(|known| known.report.kind),
            "state": if is_old { "stale" } else { state_of(document, property) },
            "verdict": known.map(|known| known.report.verdict),
            "exhaustive": known.is_some_and(|known| known.report.exhaustive && !known.stale && !is_old),
            "stale": known.is_some_and(|known| known.stale || is_old),
            "fairness": document.fairness(property).as_str(),
            "cached": known.and_then(|known| known.report.cached.as_deref()),
            "summary": known.map(|known| summary(known, is_old)),
            "short": known.map(|known| short_line(known, is_old)),
            "states": known.map(|known| known.report.states),
            "bound": known.and_then(|known| known.bound),
            "counterexamples": known.map_or(0, |known| known.counterexamples.len()),
            "avoidable": reading.filter(|_| property == SAFETY).and_then(|reading| schedules::avoidable(document, reading)),
            "replay": known.and_then(|known| known.replayed.as_ref()).map(|replayed| replayed.words()),
            "expected": document.expected(property),
            "range": range(property),
        })
    });
    let running = document.run.as_ref().map(|running| {
        json!({
            "property": running.property,
            "tier": running.tier.as_str(),
            "bound": running.bound,
            "progress": running.progress.map(json),
        })
    });
    json!({
        "uri": uri_of(name),
        "version": document.version,
        "serial": serial,
        "running": running,
        "faulty": faulty(document),
        "properties": told.collect::<Vec<Value>>(),
        "survey": coverage(document).map(|(survey, ..)| json!({ "states": survey.states, "exhaustive": survey.exhaustive })),
        "surveying": session.is_surveying(name),
    })
}
