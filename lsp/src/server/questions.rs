//! Our own requests that take a search: executions, contexts, deadlocks at a line. Work is started for them, which brings the
//! answer; `docs/protocol.md` describes them.

use super::client::{json, read};
use super::convert::Converter;
use super::names::{name_of, uri_of};
use super::own::{self, About};
use super::service::error;
use super::state::State;
use crate::ide::executions as words;
use crate::session::jobs::{Job, RunId, Work};
use crate::session::questions::{Answer, Bounds, Question, key_of};
use crate::session::runs::Origin;
use fabius_analysis::Line;
use fabius_analysis::stuck::StuckVerdict;
use fabius_engine::Verdict;
use fabius_engine::contexts::ContextsReport;
use fabius_executions::{ExecutionsReport, TreeBranch, branch_reports};
use serde_json::{Value, json};
use tower_lsp_server::jsonrpc::{ErrorCode, Result};
use tower_lsp_server::ls_types as lsp;

/// The requests.
pub const METHODS: [&str; 5] =
    ["fabius/executions", "fabius/executionTree", "fabius/execution", "fabius/contexts", "fabius/stuck"];

/// A command that asks one of these, as the request; anything else as it is. Whoever runs a command is shown the answer.
pub fn of_command(method: &str, params: lsp::LSPAny) -> (&str, lsp::LSPAny) {
    let command = params.get("command").and_then(Value::as_str).filter(|_| method == "workspace/executeCommand");
    let method = match command {
        Some("fabius.contexts") => "fabius/contexts",
        Some("fabius.stuck") => "fabius/stuck",
        Some("fabius.executions") => "fabius/executions",
        _ => return (method, params),
    };
    let mut about = params["arguments"][0].clone();
    if let Some(fields) = about.as_object_mut() {
        fields.insert("tell".to_owned(), json!(true));
    }
    (method, about)
}

fn wrong(why: impl Into<String>) -> tower_lsp_server::jsonrpc::Error {
    error(ErrorCode::InvalidParams, why.into())
}

/// A number from 1 on as a person reads it, in decimal digits: it can be greater than 2⁵³.
fn number(text: &str) -> Result<u128> {
    text.parse::<u128>()
        .ok()
        .filter(|number| *number > 0)
        .ok_or_else(|| wrong(format!("no number from 1 on: `{text}`")))
}

/// Begins to answer a request.
pub fn ask(server: &mut State, method: &str, params: lsp::LSPAny) -> Result<RunId> {
    let about: About = read(params)?;
    let name = name_of(&about.uri);
    let model = server.session.model_of(&name);
    let run = match method {
        "fabius/executions" => {
            server.session.count_executions(&model, Bounds { laps: about.laps, within: about.within })
        }
        "fabius/executionTree" => {
            let branch = match (&about.first, &about.executions) {
                (Some(first), Some(executions)) => Some((number(first)? - 1, number(executions)?)),
                _ => None,
            };
            server.session.alternatives(&model, branch)
        }
        "fabius/execution" => {
            let wanted = about.number.as_deref().ok_or_else(|| wrong("which execution?"))?;
            server.session.execution(&model, number(wanted)? - 1)
        }
        "fabius/contexts" => {
            let with = about.process.as_deref().ok_or_else(|| wrong("which process type?"))?;
            server.session.contexts(&model, with)
        }
        _ => {
            let line = about.lines.first().ok_or_else(|| wrong("which line?"))?;
            server.session.stuck_at(&model, Line { file: name.clone(), line: line + 1 })
        }
    };
    run.ok_or_else(|| match method {
        "fabius/executionTree" | "fabius/execution" => wrong("no executions were counted: ask fabius/executions first"),
        _ => wrong(format!("{name} is not open")),
    })
}

/// The answer to a request; it is shown if a command asked.
pub fn answer(server: &State, params: lsp::LSPAny, job: &Job, answer: Option<Answer>) -> Result<Value> {
    let about: About = read(params)?;
    let tell = about.tell;
    let answer = told(server, about, job, answer);
    if tell {
        let message = match &answer {
            Ok(answer) => answer["sentence"].as_str().unwrap_or_default().to_owned(),
            Err(wrong) => wrong.message.to_string(),
        };
        server.client.show(lsp::MessageType::INFO, message);
    }
    answer
}

fn told(server: &State, about: About, job: &Job, answer: Option<Answer>) -> Result<Value> {
    let Work::Ask(question) = &job.work else { return Ok(Value::Null) };
    let answer = answer.ok_or_else(|| error(ErrorCode::InternalError, "there was no time for an answer"))?;
    match answer {
        Answer::Failed(why) => Err(error(ErrorCode::InternalError, why)),
        Answer::Refused(why) => Err(wrong(why)),
        Answer::Executions(report) => Ok(executions(server, &job.document, &report)),
        Answer::Alternatives(branches) => tree(server, &job.document, &branches),
        Answer::Execution(None) => Err(wrong("there is no such execution")),
        Answer::Execution(Some(_)) => page(server, &job.document, question, about),
        Answer::Contexts(report) => Ok(contexts(server, &job.document, question, &report)),
        Answer::Stuck(found) => {
            let mut told = json!({
                "verdict": found.report.verdict,
                "sentence": words::stuck(&found.report),
                "states": found.report.states,
                "exhaustive": found.report.exhaustive,
            });
            if found.report.verdict == StuckVerdict::Deadlock {
                told["run"] = json!(key_of(question));
            }
            Ok(told)
        }
    }
}

/// The first page of a run that was just kept, as `fabius/trace` tells it.
fn page(server: &State, name: &str, question: &Question, about: About) -> Result<Value> {
    let key = key_of(question);
    let mut told = own::trace(server, name, &about.of_run(key.clone()))?;
    told["run"] = json!(key);
    Ok(told)
}

/// How many executions there are.
fn executions(server: &State, name: &str, report: &ExecutionsReport) -> Value {
    let mut told = json(report);
    let document = server.session.document(name);
    let kept = document.and_then(|document| document.asked.executions.as_ref());
    told["uri"] = json!(uri_of(name));
    told["stale"] = json!(kept.is_none_or(|kept| kept.origin.stale));
    told["sentence"] = json!(words::sentence(report));
    told["advice"] = json!(words::advice(report));
    told
}

/// A branch of the tree of choices, and the alternatives at its end.
fn tree(server: &State, name: &str, branches: &[TreeBranch]) -> Result<Value> {
    let kept = server.session.document(name).and_then(|document| document.asked.executions.as_ref());
    let origin = &kept.ok_or_else(|| wrong("no executions were counted: ask fabius/executions first"))?.origin;
    let ways =
        branches.iter().filter(|branch| branch.parent.is_some_and(|parent| parent + 1 == at_end(branches))).count();
    let (way, alternatives) = branches.split_at(branches.len() - ways);
    let branch = way.last().ok_or_else(|| wrong("there is no such branch, or not everything was explored"))?;
    Ok(json!({
        "uri": uri_of(name),
        "stale": origin.stale,
        "branch": told_branch(server, name, origin, branch),
        "alternatives": alternatives.iter().map(|branch| told_branch(server, name, origin, branch)).collect::<Vec<_>>(),
    }))
}

/// How many branches come before the alternatives at the end of the last one of them.
fn at_end(branches: &[TreeBranch]) -> usize {
    branches.last().and_then(|last| last.parent).map_or(branches.len(), |parent| parent + 1)
}

fn told_branch(server: &State, name: &str, origin: &Origin, branch: &TreeBranch) -> Value {
    let mut told = branch_reports(std::slice::from_ref(branch), &origin.loaded).first().map_or(Value::Null, json);
    if let Some(fields) = told.as_object_mut() {
        fields.remove("parent");
        let steps = fields.remove("steps");
        fields.insert("step".to_owned(), steps.and_then(|steps| steps.get(0).cloned()).unwrap_or(Value::Null));
    }
    if let Some(step) = branch.steps.first() {
        let converter = Converter::new(&server.session, &origin.loaded.map, server.encoding);
        let (file, range) = origin.place(step.actor.span, name);
        told["step"]["uri"] = json!(uri_of(&file));
        told["step"]["range"] = json!(converter.range(&file, range.start, range.end));
    }
    told["sentence"] = json!(words::behind(branch));
    told
}

/// The contexts, and a text that shows them: the model with the first one that goes wrong.
fn contexts(server: &State, name: &str, question: &Question, report: &ContextsReport) -> Value {
    let text = server.session.document(name).map(|document| document.text.to_string()).unwrap_or_default();
    let (text, with) = match question {
        Question::Contexts(unread, with) => (unread.text.clone(), with.as_str()),
        _ => (text, ""),
    };
    json!({
        "sentence": words::contexts(report, with),
        "complete": report.complete,
        "contexts": report.contexts,
        "model": report.with(Verdict::Violated).next().map(|wrong| words::model(&text, report, wrong, with)),
    })
}
