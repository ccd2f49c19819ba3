//! Runs as a client asks for them: pages of steps, states, why processes wait, and texts.

use super::convert::Converter;
use super::messages::{
    ExportFormat, Exported, FalsePart, Matches, NamedValue, PlacedProcess, PlacedStep, ProcessState, Ribbon,
    StateAfter, TraceKind, TracePage, TraceSource, WaitingStatement, Why,
};
use super::names::uri_of;
use super::service::error;
use super::state::State;
use crate::ide::originals;
use crate::session::ShownStep;
use crate::session::results::Known;
use crate::session::runs::{Found, KeptRun};
use fabius_analysis::deciding_parts;
use fabius_analysis::picture::{MovingPicture, moving_picture};
use fabius_base::{SourceMap, Span};
use fabius_engine::{Counterexample, Loaded, SAFETY};
use fabius_explore::{Exploration, NodeId};
use fabius_project::files;
use fabius_witness::deciding::DecidingPart;
use fabius_witness::diagram::{Diagram, mermaid, plots};
use fabius_witness::format::itf::itf;
use fabius_witness::format::json::{step_record, stuck};
use fabius_witness::format::ribbon::{Table, heading};
use fabius_witness::format::text;
use fabius_witness::{ProcessStatus, Reason, Snapshot, Trace, Waiting};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use tower_lsp_server::jsonrpc::{ErrorCode, Result};
use tower_lsp_server::ls_types as lsp;

/// A page of a trace has this many steps unless the client wants fewer.
pub const PAGE_STEPS: usize = 200;
/// Numbers of longer runs are not plotted.
const PLOTTED_STEPS_MAX: usize = 5_000;
/// Where a pattern is true is looked for in this many states of a run, as in the explorer.
const MATCHED_STATES_MAX: usize = 20_000;
/// More columns of values of a formula are not sent; those in the middle are left out.
const RIBBON_COLUMNS_MAX: usize = 1000;

/// The counterexample that a request is about.
fn counterexample<'a>(server: &'a State, model: &str, source: &TraceSource) -> Result<(&'a Known, &'a Counterexample)> {
    let known = server.session.document(model).and_then(|document| match &source.property {
        Some(property) => document.results.of(property),
        None => document.results.known.iter().find(|known| !known.counterexamples.is_empty()),
    });
    let index = source.counterexample.unwrap_or_default();
    let found = known.and_then(|known| Some((known, known.counterexamples.get(index)?)));
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
    fn place(&self, span: Span, model: &str) -> (String, Range<usize>) {
        match self.of {
            Of::Counterexample(known, _) => known.place(span, model),
            Of::Run(run) => run.origin.place(span, model),
        }
    }

    /// Its name, and how it ends.
    fn headline(&self) -> String {
        match self.of {
            Of::Counterexample(known, example) => headline(known, example),
            Of::Run(run) => format!("{}: {}", run.key, run.message),
        }
    }
}

fn headline(known: &Known, example: &Counterexample) -> String {
    format!("{}: {}", known.report.name, example.finding.headline)
}

/// The run that a request is about.
fn shown<'a>(server: &'a State, model: &str, source: &TraceSource) -> Result<Shown<'a>> {
    if let Some(key) = &source.run {
        let run = server.session.document(model).and_then(|document| document.asked.run(key));
        let run = run.ok_or_else(|| error(ErrorCode::InvalidParams, format!("there is no run `{key}`")))?;
        let origin = &run.origin;
        return Ok(Shown { trace: run.trace(), loaded: &origin.loaded, stale: origin.stale, of: Of::Run(run) });
    }
    let (known, example) = counterexample(server, model, source)?;
    let of = Of::Counterexample(known, example);
    Ok(Shown { trace: &example.trace, loaded: &known.reading.loaded, stale: known.stale, of })
}

/// A page of a trace.
pub fn page(
    server: &State,
    model: &str,
    source: &TraceSource,
    from: Option<usize>,
    count: Option<usize>,
) -> Result<TracePage> {
    let shown = shown(server, model, source)?;
    let map = &shown.loaded.map;
    let converter = Converter::new(&server.session, map, server.encoding);
    let from = from.unwrap_or_default().max(1);
    let count = count.unwrap_or(PAGE_STEPS).min(PAGE_STEPS);
    let page = shown.trace.steps.from(from - 1).take(count);
    let page = page.map(|step| {
        let (file, range) = shown.place(step.actor.span, model);
        PlacedStep {
            record: step_record(&step, map),
            uri: uri_of(&file),
            range: converter.range(&file, range.start, range.end),
            original_uri: original_uri(map, step.actor.span),
        }
    });
    let (property, kind, message) = match shown.of {
        Of::Counterexample(known, example) => {
            (&known.report.name, TraceKind::Violation(example.report.kind), &example.report.message)
        }
        Of::Run(run) => (&run.key, TraceKind::Ending(run.kind), &run.message),
    };
    let report = match shown.of {
        Of::Counterexample(_, example) => Some(&example.report),
        Of::Run(_) => None,
    };
    let (picture, picture_problem) = if from == 1 { picture(&shown, model) } else { (None, None) };
    Ok(TracePage {
        property: property.clone(),
        counterexample: source.counterexample.unwrap_or_default(),
        kind,
        message: message.clone(),
        stale: shown.stale,
        steps: shown.trace.steps.len(),
        loop_start: shown.trace.cycle_start,
        from,
        page: page.collect(),
        blocked: stuck(shown.trace, map),
        explanation: report.map(|report| report.explanation.clone()).unwrap_or_default(),
        advice: report.and_then(|report| report.advice.clone()),
        ribbon: (from == 1).then(|| ribbon(shown.trace)).flatten(),
        plots: if from == 1 && shown.trace.len() <= PLOTTED_STEPS_MAX { plots(shown.trace) } else { Vec::new() },
        picture,
        picture_problem,
    })
}

/// The file from which a statement was generated, if it is there.
pub fn original_uri(map: &SourceMap, span: Span) -> Option<lsp::Uri> {
    uri_of(&originals::place(map, span)?.file)
}

/// Where the formula holds along a run, as a table.
fn ribbon(trace: &Trace) -> Option<Ribbon> {
    let table = Table::of(trace.ribbon.as_ref()?, RIBBON_COLUMNS_MAX);
    Some(Ribbon { heading: heading(trace)?.to_owned(), table })
}

/// The drawing beside a model along a counterexample, if there is one, or why it cannot be shown.
fn picture(shown: &Shown<'_>, model: &str) -> (Option<MovingPicture>, Option<String>) {
    let path = files::picture_of(Path::new(model));
    let Of::Counterexample(_, example) = &shown.of else { return (None, None) };
    if !path.is_file() {
        return (None, None);
    }
    let found = files::read_ordinary(&path).and_then(|svg| moving_picture(shown.loaded, example, &svg));
    match found {
        Ok(picture) => (Some(picture), None),
        Err(why) => (None, Some(format!("{}: {why}", path.display()))),
    }
}

/// The client shows a step: what is said about the formula is about that.
pub fn select(server: &mut State, model: &str, source: &TraceSource, step: usize) -> Result<()> {
    let property = match shown(server, model, source)?.of {
        Of::Counterexample(known, _) => known.report.name.clone(),
        Of::Run(run) => run.key.clone(),
    };
    let counterexample = source.counterexample.unwrap_or_default();
    server.session.show_step(model, ShownStep { property, counterexample, step });
    Ok(())
}

/// The state after a step of a trace.
fn snapshot(trace: &Trace, step: usize) -> Result<Snapshot> {
    if step == 0 {
        return Ok(trace.start.clone());
    }
    if step >= trace.len() {
        return Ok(trace.last.clone());
    }
    // The moves of a claim stand between the steps of the system, and have the number of the next one.
    let moves = trace.steps.outline().take_while(|taken| taken.number <= step).count();
    let found = trace.steps.snapshot_after(moves);
    found.ok_or_else(|| error(ErrorCode::InternalError, "this state cannot be shown"))
}

/// The state after a step.
pub fn state_after(server: &State, model: &str, source: &TraceSource, step: usize) -> Result<StateAfter> {
    let shown = shown(server, model, source)?;
    let snapshot = snapshot(shown.trace, step)?;
    let converter = Converter::new(&server.session, &shown.loaded.map, server.encoding);
    let placed = |status: &ProcessStatus| {
        let (file, range) = shown.place(status.span, model);
        PlacedProcess {
            process: process_state(&shown, &converter, model, status),
            uri: uri_of(&file),
            range: converter.range(&file, range.start, range.end),
        }
    };
    Ok(StateAfter {
        step,
        variables: named_values(&snapshot.variables),
        channels: named_values(&snapshot.channels),
        processes: snapshot.processes.iter().map(placed).collect(),
    })
}

fn named_values(values: &[(String, String)]) -> Vec<NamedValue> {
    values.iter().map(|(name, value)| NamedValue { name: name.clone(), value: value.clone() }).collect()
}

fn process_state(shown: &Shown<'_>, converter: &Converter<'_>, model: &str, status: &ProcessStatus) -> ProcessState {
    let statements = status.waiting.iter().map(|waiting| WaitingStatement {
        statement: waiting.text.clone(),
        why: waiting.reason.sentence(),
        executable: waiting.reason == Reason::Executable,
        parts: false_parts(shown, converter, model, waiting),
    });
    ProcessState {
        pid: status.pid,
        name: status.name.clone(),
        location: format!("{} {}", status.process, status.location),
        labels: status.labels.clone(),
        end: status.end,
        statements: statements.collect(),
        variables: named_values(&status.variables),
    }
}

/// The parts that make the condition false at which a process waits.
fn false_parts(shown: &Shown<'_>, converter: &Converter<'_>, model: &str, waiting: &Waiting) -> Vec<FalsePart> {
    let one = |(part, span): (DecidingPart, Option<Span>)| {
        let place = span.map(|span| shown.place(span, model));
        let sentence = part.sentence();
        FalsePart {
            text: part.text,
            holds: part.holds,
            sentence,
            uri: place.as_ref().and_then(|(file, _)| uri_of(file)),
            range: place.map(|(file, range)| converter.range(&file, range.start, range.end)),
        }
    };
    deciding_parts(shown.loaded, waiting).into_iter().map(one).collect()
}

/// Why processes can or cannot continue after a step: one of them, or all.
pub fn why(server: &State, model: &str, source: &TraceSource, step: usize, pid: Option<u8>) -> Result<Why> {
    let shown = shown(server, model, source)?;
    let snapshot = snapshot(shown.trace, step)?;
    let converter = Converter::new(&server.session, &shown.loaded.map, server.encoding);
    let wanted = snapshot.processes.iter().filter(|status| pid.is_none_or(|pid| pid == status.pid));
    Ok(Why { step, processes: wanted.map(|status| process_state(&shown, &converter, model, status)).collect() })
}

/// A run as the explorer walks along it.
fn walk(shown: &Shown<'_>) -> Result<Exploration> {
    let loaded = Arc::clone(shown.loaded);
    let walk = match &shown.of {
        Of::Counterexample(known, example) => Exploration::of_counterexample(loaded, example, &known.report.name),
        Of::Run(KeptRun { run: Found::Deadlock(example), .. }) => {
            Exploration::of_counterexample(loaded, example, SAFETY)
        }
        Of::Run(KeptRun { run: Found::Cause(property, cause), .. }) => {
            Exploration::of_counterexample(loaded, &cause.counterexample, property)
        }
        Of::Run(run) => Exploration::of_trail(loaded, None, &run.trail().unwrap_or_default()),
    };
    walk.map_err(|why| error(ErrorCode::InternalError, why))
}

/// After which steps of a run a pattern over the past is true.
pub fn matches(server: &State, model: &str, source: &TraceSource, pattern: &str) -> Result<Matches> {
    let walk = walk(&shown(server, model, source)?)?;
    // The move of a claim leads to no other state.
    let is_new = |node: &&NodeId| walk.parent(**node).is_none_or(|before| walk.number(before) != walk.number(**node));
    let nodes: Vec<NodeId> = walk.line().iter().filter(is_new).take(MATCHED_STATES_MAX).copied().collect();
    let found = walk.matches(pattern.trim(), &nodes).map_err(|why| error(ErrorCode::InvalidParams, why))?;
    let hits = nodes.iter().zip(&found.states).filter(|(_, holds)| **holds);
    Ok(Matches { steps: hits.map(|(node, _)| walk.number(*node)).collect(), sentence: found.sentence })
}

/// A run as a text to be kept or sent.
pub fn export(server: &State, model: &str, source: &TraceSource, format: ExportFormat) -> Result<Exported> {
    let shown = shown(server, model, source)?;
    let text = match (format, &shown.of) {
        (ExportFormat::Itf, _) => serde_json::to_string(&itf(shown.trace, &shown.loaded.map)).unwrap_or_default(),
        (ExportFormat::Mermaid, _) => mermaid(&Diagram::of(shown.trace)),
        (ExportFormat::Trail, Of::Counterexample(_, example)) => example.trail(shown.loaded),
        (ExportFormat::Trail, Of::Run(run)) => run.trail().unwrap_or_default(),
        (ExportFormat::Run, Of::Counterexample(known, example)) => {
            let run = Exploration::of_counterexample(Arc::clone(shown.loaded), example, &known.report.name);
            run.map_err(|why| error(ErrorCode::InternalError, why))?.save().text()
        }
        (ExportFormat::Run, Of::Run(_)) => {
            return Err(error(ErrorCode::InvalidParams, "this run can be exported as text, mermaid, itf or trail"));
        }
        (ExportFormat::Text, _) => {
            let (layout, map) = (text::Layout::default(), &shown.loaded.map);
            let steps = text::plain(&text::steps(shown.trace, map, layout));
            let ending = text::plain(&text::ending(shown.trace, map, layout));
            format!("{}\n\n{steps}\n{ending}", shown.headline())
        }
    };
    Ok(Exported { text })
}

/// A counterexample as text.
pub fn explanation(server: &State, model: &str, source: &TraceSource) -> Result<String> {
    let (known, example) = counterexample(server, model, source)?;
    let layout = text::Layout { ends: Some((20, 40)), ..text::Layout::default() };
    let steps = text::plain(&text::steps(&example.trace, known.reading.map(), layout));
    let mut lines = vec![headline(known, example), steps];
    lines.extend(example.report.explanation.iter().cloned());
    lines.extend(example.report.advice.clone());
    Ok(lines.join("\n"))
}
