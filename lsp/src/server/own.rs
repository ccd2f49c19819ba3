//! Our own requests and commands, described in `docs/protocol.md`. A client does well without them.

use super::client::{json, read};
use super::convert::Converter;
use super::lines;
use super::names::{name_of, uri_of};
use super::service::error;
use super::state::State;
use crate::session::Notice;
use crate::session::jobs::{RunId, Tier};
use crate::session::results::Known;
use crate::session::runs::KeptRun;
use fabius_analysis::{CoReachability, Line};
use fabius_base::Span;
use fabius_engine::{Counterexample, Loaded};
use fabius_explore::Exploration;
use fabius_project::config::fairness_named;
use fabius_witness::format::json::{step_record, stuck};
use fabius_witness::format::text;
use fabius_witness::{ProcessStatus, Snapshot, Trace};
use serde::Deserialize;
use serde_json::{Value, json};
use std::ops::Range;
use std::sync::Arc;
use tower_lsp_server::jsonrpc::{ErrorCode, Result};
use tower_lsp_server::ls_types as lsp;

/// Answered when work that was started for it is done.
pub const MEET: &str = "fabius/meet";

/// A page of a trace has this many steps unless the client wants fewer.
const PAGE_STEPS: usize = 200;

/// What a request is about. What it does not need may be left out.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct About {
    /// The model.
    pub uri: lsp::Uri,
    #[serde(default)]
    property: Option<String>,
    #[serde(default)]
    counterexample: usize,
    /// A step, from 1; 0 is the state before all of them.
    #[serde(default)]
    step: usize,
    /// The first step of a page, from 1.
    #[serde(default)]
    from: usize,
    #[serde(default)]
    count: Option<usize>,
    /// Which infinite runs count as violations from now on.
    #[serde(default)]
    fairness: Option<String>,
    /// A process.
    #[serde(default)]
    pid: Option<u8>,
    /// Lines, from 0.
    #[serde(default)]
    pub lines: Vec<u32>,
    /// A run that an answer named, instead of a counterexample.
    #[serde(default)]
    pub run: Option<String>,
    /// The number of times that each process may pass each of its loops.
    #[serde(default)]
    pub laps: Option<u32>,
    /// The number of steps after which executions are cut off.
    #[serde(default)]
    pub within: Option<u32>,
    /// The number of an execution, from 1, in decimal digits.
    #[serde(default)]
    pub number: Option<String>,
    /// The number of the first execution behind a branch, from 1, …
    #[serde(default)]
    pub first: Option<String>,
    /// … and how many there are.
    #[serde(default)]
    pub executions: Option<String>,
    /// The answer is shown.
    #[serde(default)]
    pub tell: bool,
    /// A process type.
    #[serde(default)]
    pub process: Option<String>,
    /// How a counterexample is written.
    #[serde(default)]
    format: Format,
}

impl About {
    /// The same about a run.
    pub fn of_run(self, run: Option<String>) -> Self {
        Self { run, ..self }
    }
}

/// How a counterexample is written for somebody else.
#[derive(Clone, Copy, Default, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Format {
    /// For people, all steps.
    #[default]
    Text,
    /// A message sequence chart in the notation of Mermaid.
    Mermaid,
    /// A trail, which Spin replays.
    Trail,
    /// A saved run, which the explorers and the debugger open, also in a model that was edited since.
    Run,
}

/// Answers one of our own requests.
pub fn answer(server: &mut State, method: &str, params: lsp::LSPAny) -> Result<Value> {
    if method == "fabius/test/panic" && cfg!(debug_assertions) {
        panic!("somebody asked for it");
    }
    let about: About = read(params)?;
    let name = name_of(&about.uri);
    let name = server.session.model_of(&name);
    if server.session.document(&name).is_none() {
        return Err(error(ErrorCode::InvalidParams, format!("{name} is not open")));
    }
    Ok(match method {
        "fabius/properties" => properties(server, &name),
        "fabius/lines" => {
            let _ = server.session.reading(&name);
            lines::lines(server, &name)
        }
        "fabius/trace" => trace(server, &name, &about)?,
        "fabius/export" => export(server, &name, &about)?,
        "fabius/step" => step(server, &name, &about)?,
        "fabius/why" => why(server, &name, &about)?,
        "fabius/run" => run(server, &name, &about)?,
        "fabius/stop" => stop(server, &name),
        "fabius/survey" => survey(server, &name),
        _ => return Err(error(ErrorCode::MethodNotFound, format!("unknown method {method}"))),
    })
}

/// Does what a command says.
pub fn command(server: &mut State, params: &lsp::ExecuteCommandParams) -> Result<Value> {
    let first = params.arguments.first().cloned().unwrap_or(Value::Null);
    match params.command.as_str() {
        "fabius.check" => answer(server, "fabius/run", first),
        "fabius.stop" => answer(server, "fabius/stop", first),
        "fabius.explain" | "fabius.trace" => {
            let about: About = read(first)?;
            let name = server.session.model_of(&name_of(&about.uri));
            let told = explanation(server, &name, &about)?;
            server.client.show(lsp::MessageType::INFO, told.clone());
            Ok(json!(told))
        }
        "" => Ok(Value::Null),
        other => Err(error(ErrorCode::InvalidParams, format!("unknown command {other}"))),
    }
}

fn properties(server: &mut State, name: &str) -> Value {
    server.status(name).unwrap_or(Value::Null)
}

fn run(server: &mut State, name: &str, about: &About) -> Result<Value> {
    let property = about.property.as_deref();
    if let Some(word) = &about.fairness {
        let fairness = fairness_named(word).map_err(|why| error(ErrorCode::InvalidParams, why))?;
        server.session.ask_fairness(name, property, fairness);
    }
    server.session.check_again(name, property, Tier::Quick);
    Ok(properties(server, name))
}

fn stop(server: &mut State, name: &str) -> Value {
    server.session.stop(name);
    server.show(vec![Notice::Settled(name.to_owned())]);
    properties(server, name)
}

/// Looks at the reachable states, unless that was done for the present text or is being done.
fn survey(server: &mut State, name: &str) -> Value {
    let _ = server.session.reading(name);
    if server.session.document(name).is_some_and(|document| lines::coverage(document).is_none())
        && !server.session.is_surveying(name)
    {
        server.session.survey(name);
    }
    properties(server, name)
}

/// The counterexample that a request is about.
fn example<'a>(server: &'a State, name: &str, about: &About) -> Result<(&'a Known, &'a Counterexample)> {
    let known = server.session.document(name).and_then(|document| match &about.property {
        Some(property) => document.results.of(property),
        None => document.results.known.iter().find(|known| !known.counterexamples.is_empty()),
    });
    let found = known.and_then(|known| Some((known, known.counterexamples.get(about.counterexample)?)));
    found.ok_or_else(|| error(ErrorCode::InvalidParams, "there is no such counterexample"))
}

/// A run that a request is about: a counterexample, or one that an answer named.
struct Shown<'a> {
    trace: &'a Trace,
    loaded: &'a Arc<Loaded>,
    stale: bool,
    of: Of<'a>,
}

enum Of<'a> {
    Counterexample(&'a Known, &'a Counterexample),
    Run(&'a KeptRun),
}

impl Shown<'_> {
    /// Where a place is in the present text.
    fn place(&self, span: Span, name: &str) -> (String, Range<usize>) {
        match self.of {
            Of::Counterexample(known, _) => known.place(span, name),
            Of::Run(run) => run.origin.place(span, name),
        }
    }

    fn property(&self) -> &str {
        match self.of {
            Of::Counterexample(known, _) => &known.report.name,
            Of::Run(run) => &run.key,
        }
    }
}

/// The run that a request is about.
fn shown<'a>(server: &'a State, name: &str, about: &About) -> Result<Shown<'a>> {
    if let Some(key) = &about.run {
        let run = server.session.document(name).and_then(|document| document.asked.run(key));
        let run = run.ok_or_else(|| error(ErrorCode::InvalidParams, format!("there is no run `{key}`")))?;
        let origin = &run.origin;
        return Ok(Shown { trace: run.trace(), loaded: &origin.loaded, stale: origin.stale, of: Of::Run(run) });
    }
    let (known, example) = example(server, name, about)?;
    let of = Of::Counterexample(known, example);
    Ok(Shown { trace: &example.trace, loaded: &known.reading.loaded, stale: known.stale, of })
}

/// A page of a trace.
pub fn trace(server: &State, name: &str, about: &About) -> Result<Value> {
    let shown = shown(server, name, about)?;
    let map = &shown.loaded.map;
    let converter = Converter::new(&server.session, map, server.encoding);
    let first = about.from.max(1);
    let count = about.count.unwrap_or(PAGE_STEPS).min(PAGE_STEPS);
    let page = shown.trace.steps.from(first - 1).take(count);
    let steps: Vec<Value> = page
        .map(|step| {
            let mut record = json(step_record(&step, map));
            let (file, range) = shown.place(step.actor.span, name);
            record["uri"] = json!(uri_of(&file));
            record["range"] = json!(converter.range(&file, range.start, range.end));
            record
        })
        .collect();
    let (kind, message, explanation, advice) = match shown.of {
        Of::Counterexample(_, example) => {
            let report = &example.report;
            (json!(report.kind), &report.message, &report.explanation[..], report.advice.as_ref())
        }
        Of::Run(run) => (json!(run.kind), &run.message, &[][..], None),
    };
    Ok(json!({
        "property": shown.property(),
        "counterexample": about.counterexample,
        "kind": kind,
        "message": message,
        "stale": shown.stale,
        "steps": shown.trace.steps.len(),
        "loopStart": shown.trace.cycle_start,
        "from": first,
        "page": steps,
        "blocked": stuck(shown.trace, map),
        "explanation": explanation,
        "advice": advice,
    }))
}

fn state(server: &State, name: &str, about: &About) -> Result<Snapshot> {
    let trace = shown(server, name, about)?.trace;
    if about.step == 0 {
        return Ok(trace.start.clone());
    }
    if about.step >= trace.len() {
        return Ok(trace.last.clone());
    }
    // The moves of a claim stand between the steps of the system, and have the number of the next one.
    let moves = trace.steps.outline().take_while(|step| step.number <= about.step).count();
    let found = trace.steps.snapshot_after(moves);
    found.ok_or_else(|| error(ErrorCode::InternalError, "this state cannot be shown"))
}

/// The state after a step.
fn step(server: &State, name: &str, about: &About) -> Result<Value> {
    let snapshot = state(server, name, about)?;
    let shown = shown(server, name, about)?;
    let converter = Converter::new(&server.session, &shown.loaded.map, server.encoding);
    let pair = |(name, value): &(String, String)| json!({ "name": name, "value": value });
    let processes: Vec<Value> = snapshot
        .processes
        .iter()
        .map(|status| {
            let (file, range) = shown.place(status.span, name);
            let mut told = told_standing(status);
            told["uri"] = json!(uri_of(&file));
            told["range"] = json!(converter.range(&file, range.start, range.end));
            told
        })
        .collect();
    Ok(json!({
        "step": about.step,
        "variables": snapshot.variables.iter().map(pair).collect::<Vec<_>>(),
        "channels": snapshot.channels.iter().map(pair).collect::<Vec<_>>(),
        "processes": processes,
    }))
}

fn told_standing(status: &ProcessStatus) -> Value {
    let waiting: Vec<Value> = status
        .waiting
        .iter()
        .map(|waiting| json!({ "statement": waiting.text, "why": waiting.reason.sentence() }))
        .collect();
    let variables: Vec<Value> =
        status.variables.iter().map(|(name, value)| json!({ "name": name, "value": value })).collect();
    json!({
        "pid": status.pid,
        "name": status.name,
        "labels": status.labels,
        "end": status.end,
        "statements": waiting,
        "variables": variables,
    })
}

/// Why a process can or cannot go on after a step.
fn why(server: &State, name: &str, about: &About) -> Result<Value> {
    let snapshot = state(server, name, about)?;
    let wanted = snapshot.processes.iter().filter(|status| about.pid.is_none_or(|pid| pid == status.pid));
    Ok(json!({ "step": about.step, "processes": wanted.map(told_standing).collect::<Vec<_>>() }))
}

/// Whether statements of two lines can be next at once: begins to look for it. The answer comes later.
pub fn ask_meet(server: &mut State, params: lsp::LSPAny) -> Result<Option<RunId>> {
    let about: About = read(params)?;
    let name = name_of(&about.uri);
    let lines: Vec<Line> = about.lines.iter().map(|line| Line { file: name.clone(), line: line + 1 }).collect();
    if !(1..=2).contains(&lines.len()) {
        return Err(error(ErrorCode::InvalidParams, "one line or two"));
    }
    let model = server.session.model_of(&name);
    Ok(server.session.co_reachable(&model, lines))
}

/// The answer to that.
pub fn met(found: Option<CoReachability>, loaded: &Loaded) -> Value {
    match found {
        None => json!({ "answer": "unknown", "sentence": "the model cannot be run" }),
        Some(CoReachability::Failed(why)) => json!({ "answer": "unknown", "sentence": why }),
        Some(CoReachability::NoSuchPlace) => {
            json!({ "answer": "unknown", "sentence": "no process can stop at one of these lines" })
        }
        Some(CoReachability::Never(states)) => {
            json!({ "answer": "never", "states": states, "sentence": format!("never ({states} states, exhaustive)") })
        }
        Some(CoReachability::NotSeen(states)) => {
            json!({ "answer": "unknown", "states": states, "sentence": format!("not in the {states} states explored; not exhaustive") })
        }
        Some(CoReachability::Possible(trace)) => {
            let steps: Vec<Value> =
                trace.steps.iter().take(PAGE_STEPS).map(|step| json(step_record(&step, &loaded.map))).collect();
            let count = trace.steps.len();
            json!({ "answer": "possible", "steps": count, "page": steps, "sentence": format!("possible, after {count} steps") })
        }
    }
}

/// A run as a text to be kept or sent.
fn export(server: &State, name: &str, about: &About) -> Result<Value> {
    let shown = shown(server, name, about)?;
    let (trace, map) = (shown.trace, &shown.loaded.map);
    let text = match (about.format, &shown.of) {
        (Format::Mermaid, _) => fabius_witness::diagram::mermaid(&fabius_witness::diagram::Diagram::of(trace)),
        (Format::Trail, Of::Counterexample(_, example)) => example.trail(shown.loaded),
        (Format::Trail, Of::Run(run)) => run.trail().unwrap_or_default(),
        (Format::Run, Of::Counterexample(known, example)) => {
            let run = Exploration::of_counterexample(Arc::clone(shown.loaded), example, &known.report.name);
            run.map_err(|why| error(ErrorCode::InternalError, why))?.save().text()
        }
        (Format::Run, Of::Run(_)) => {
            return Err(error(ErrorCode::InvalidParams, "this run can be exported as text, mermaid or trail"));
        }
        (Format::Text, of) => {
            let layout = text::Layout::default();
            let headline = match of {
                Of::Counterexample(known, example) => format!("{}: {}", known.report.name, example.finding.headline),
                Of::Run(run) => format!("{}: {}", run.key, run.message),
            };
            let mut told = vec![format!("{headline}\n")];
            told.push(text::plain(&text::steps(trace, map, layout)));
            told.push(text::plain(&text::ending(trace, map, layout)));
            told.join("\n")
        }
    };
    Ok(json!({ "text": text }))
}

/// A counterexample as text.
fn explanation(server: &State, name: &str, about: &About) -> Result<String> {
    let (known, example) = example(server, name, about)?;
    let map = known.reading.map();
    let mut told = vec![format!("{}: {}", known.report.name, example.finding.headline)];
    told.push(text::plain(&text::steps(
        &example.trace,
        map,
        text::Layout { ends: Some((20, 40)), ..text::Layout::default() },
    )));
    told.extend(example.report.explanation.iter().cloned());
    told.extend(example.report.advice.clone());
    Ok(told.join("\n"))
}
