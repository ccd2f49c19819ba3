//! Our own requests and commands, described in `docs/protocol.md`. A client does well without them.

use super::client::{Expected, json, read};
use super::context::Context;
use super::convert::original_location;
use super::lines;
use super::messages::{
    CompareParams, CompareRuns, DescribeLines, ExplainWaiting, Export, FindMatches, FindOriginal, Lines, LinesParams,
    ModelParams, OriginalText, Prioritize, Properties, QueueParams, Request, Run, RunParams, RunsCompared, Select,
    Status, Steer, SteerParams, Step, Stop, StopSweep, Survey, Trace, TraceSource,
};
use super::names::name_of;
use super::service::error;
use super::state::State;
use super::traces;
use crate::ide::originals;
use crate::session::Notice;
use crate::session::jobs::Tier;
use fabius_engine::comparison::version_lines;
use fabius_project::config::fairness_named;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tower_lsp_server::jsonrpc::{ErrorCode, Result};
use tower_lsp_server::ls_types as lsp;

/// Answers one of our own requests.
pub fn answer(server: &mut State, method: &str, params: lsp::LSPAny) -> Result<Value> {
    if method == "fabius/test/panic" && cfg!(debug_assertions) {
        panic!("somebody asked for it");
    }
    match method {
        Properties::METHOD => answered::<Properties>(server, params, |server, model, _| Ok(server.status(model))),
        Run::METHOD => answered::<Run>(server, params, run),
        Stop::METHOD => answered::<Stop>(server, params, stop),
        Steer::METHOD => answered::<Steer>(server, params, steer),
        Prioritize::METHOD => answered::<Prioritize>(server, params, prioritize),
        StopSweep::METHOD => answered::<StopSweep>(server, params, stop_sweep),
        Survey::METHOD => answered::<Survey>(server, params, survey),
        DescribeLines::METHOD => answered::<DescribeLines>(server, params, describe_lines),
        Trace::METHOD => answered::<Trace>(server, params, |server, model, params| {
            traces::page(server, model, &params.source, params.from, params.count)
        }),
        Export::METHOD => answered::<Export>(server, params, |server, model, params| {
            traces::export(server, model, &params.source, params.format)
        }),
        CompareRuns::METHOD => answered::<CompareRuns>(server, params, compare_runs),
        Step::METHOD => answered::<Step>(server, params, |server, model, params| {
            traces::state_after(server, model, &params.source, params.step)
        }),
        Select::METHOD => answered::<Select>(server, params, |server, model, params| {
            traces::select(server, model, &params.source, params.step)
        }),
        FindOriginal::METHOD => answered::<FindOriginal>(server, params, find_original),
        FindMatches::METHOD => answered::<FindMatches>(server, params, |server, model, params| {
            traces::matches(server, model, &params.source, &params.pattern)
        }),
        ExplainWaiting::METHOD => answered::<ExplainWaiting>(server, params, |server, model, params| {
            traces::why(server, model, &params.source, params.step, params.pid)
        }),
        _ => Err(error(ErrorCode::MethodNotFound, format!("unknown method {method}"))),
    }
}

/// The answer to a request about a document: what the function says of the model that it belongs to.
fn answered<R>(
    server: &mut State,
    params: lsp::LSPAny,
    answer: impl FnOnce(&mut State, &str, R::Params) -> Result<R::Answer>,
) -> Result<Value>
where
    R: Request<Params: DeserializeOwned, Answer: Serialize>,
{
    let ModelParams { uri } = read(params.clone())?;
    let model = server.session.model_of(&name_of(&uri));
    if server.session.document(&model).is_none() {
        return Err(error(ErrorCode::InvalidParams, format!("{model} is not open")));
    }
    answer(server, &model, read(params)?).map(json)
}

/// Does what a command says.
pub fn command(server: &mut State, params: &lsp::ExecuteCommandParams) -> Result<Value> {
    let first = params.arguments.first().cloned().unwrap_or(Value::Null);
    match params.command.as_str() {
        "fabius.check" => answer(server, Run::METHOD, first),
        "fabius.stop" => answer(server, Stop::METHOD, first),
        "fabius.stopSweep" => answer(server, StopSweep::METHOD, first),
        "fabius.prioritize" => answer(server, Prioritize::METHOD, first),
        "fabius.explain" | "fabius.trace" => {
            let source: TraceSource = read(first)?;
            let model = server.session.model_of(&name_of(&source.uri));
            let text = traces::explanation(server, &model, &source)?;
            server.client.show(lsp::MessageType::INFO, text.clone());
            Ok(json(text))
        }
        "fabius.original" => open_original(server, first),
        "" => Ok(Value::Null),
        other => Err(error(ErrorCode::InvalidParams, format!("unknown command {other}"))),
    }
}

fn run(server: &mut State, model: &str, params: RunParams) -> Result<Option<Status>> {
    let property = params.property.as_deref();
    if let Some(word) = &params.fairness {
        let fairness = fairness_named(word).map_err(|why| error(ErrorCode::InvalidParams, why))?;
        server.session.ask_fairness(model, property, fairness);
    }
    if let Some(condition) = &params.leave_out {
        let condition = Some(condition.trim().to_owned()).filter(|condition| !condition.is_empty());
        server.session.leave_out(model, condition).map_err(|why| error(ErrorCode::InvalidParams, why))?;
    }
    server.session.check_again(model, property, Tier::Quick);
    Ok(server.status(model))
}

fn steer(server: &mut State, model: &str, params: SteerParams) -> Result<Option<Status>> {
    if let Some(condition) = &params.visit_first {
        let condition = Some(condition.trim().to_owned()).filter(|condition| !condition.is_empty());
        server.session.visit_first(model, condition).map_err(|why| error(ErrorCode::InvalidParams, why))?;
    }
    if let Some(max) = params.max_depth {
        server.session.bound_depth(model, Some(max).filter(|max| 0 < *max));
    }
    Ok(server.status(model))
}

fn compare_runs(server: &mut State, model: &str, params: CompareParams) -> Result<RunsCompared> {
    let results = server.session.document(model).map(|document| &document.results);
    let results = results.ok_or_else(|| error(ErrorCode::InvalidParams, format!("{model} is not open")))?;
    let named = |property: &str| {
        let found = results.compare_with_run_before(property);
        found.map(|comparison| (property.to_owned(), comparison))
    };
    let with_run = results.known.iter().map(|known| &*known.report.name).filter(|name| results.has_run_before(name));
    let found = match &params.property {
        Some(property) => named(property),
        None => with_run
            .map(named)
            .reduce(|one, other| one.or(other))
            .unwrap_or_else(|| Err("nothing is known of this model before the last save that changed it".to_owned())),
    };
    let (property, comparison) = found.map_err(|why| error(ErrorCode::InvalidRequest, why))?;
    let lines = version_lines(&comparison, usize::MAX).into_iter().map(|line| line.text + "\n");
    let text = format!("{property}\n\n{}", lines.collect::<String>());
    Ok(RunsCompared { property, text, comparison })
}

fn find_original(server: &mut State, _: &str, params: LinesParams) -> Result<Option<OriginalText>> {
    let context = Context::of(server, &params.uri);
    let found = context.and_then(|context| {
        let start = lsp::Position { line: *params.lines.first()?, character: 0 };
        originals::at(context.view(), context.offset(start))
    });
    Ok(found.and_then(|place| {
        let lsp::Location { uri, range } = original_location(&place)?;
        Some(OriginalText { uri, range, words: place.words })
    }))
}

/// Has the client open the original of a line, or says where it is if the client cannot.
fn open_original(server: &mut State, params: Value) -> Result<Value> {
    let found = find_original(server, "", read(params)?)?;
    let Some(original) = &found else {
        server.client.show(lsp::MessageType::INFO, "there is no original text of this line".to_owned());
        return Ok(Value::Null);
    };
    if server.able.shows_documents {
        let (uri, selection) = (original.uri.clone(), Some(original.range));
        let params = lsp::ShowDocumentParams { uri, external: None, take_focus: Some(true), selection };
        server.client.ask("window/showDocument", params, Expected::Shown);
    } else {
        let path = name_of(&original.uri);
        let line = original.range.start.line.saturating_add(1);
        server.client.show(lsp::MessageType::INFO, format!("the original text: {path}:{line}"));
    }
    Ok(json(found))
}

fn prioritize(server: &mut State, model: &str, params: QueueParams) -> Result<Option<Status>> {
    server.session.prioritize(model, params.property.as_deref());
    server.show(vec![Notice::Changed(model.to_owned())]);
    Ok(server.status(model))
}

fn stop_sweep(server: &mut State, model: &str, params: LinesParams) -> Result<()> {
    let file = name_of(&params.uri);
    params.lines.iter().for_each(|line| server.session.stop_sweep(model, &file, line.saturating_add(1)));
    Ok(())
}

fn stop(server: &mut State, model: &str, params: QueueParams) -> Result<Option<Status>> {
    let notices = match params.property {
        Some(property) => server.session.stop_property(model, &property),
        None => {
            server.session.stop(model);
            vec![Notice::Settled(model.to_owned())]
        }
    };
    server.show(notices);
    Ok(server.status(model))
}

/// Looks at the reachable states, unless that was done for the present text or is being done.
fn survey(server: &mut State, model: &str, _: ModelParams) -> Result<Option<Status>> {
    let _ = server.session.reading(model);
    if server.session.document(model).is_some_and(|document| lines::coverage(document).is_none())
        && !server.session.is_surveying(model)
    {
        server.session.survey(model);
    }
    Ok(server.status(model))
}

fn describe_lines(server: &mut State, model: &str, _: ModelParams) -> Result<Option<Lines>> {
    let _ = server.session.reading(model);
    Ok(lines::lines(server, model))
}
