//! What the server offers to do: code lenses and code actions.

use super::client::json;
use super::context::Context;
use super::messages::{
    CausesParams, ContextsParams, ExecutionsParams, LinesParams, ModelParams, QueueParams, RunParams, TraceSource,
};
use super::names::uri_of;
use super::service::error;
use super::state::State;
use crate::ide::actions::{self as fixes, Action, ActionKind, Command as Effect};
use crate::ide::lenses::{self as lines, Click, Lens};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::HashMap;
use tower_lsp_server::jsonrpc::{ErrorCode, Result};
use tower_lsp_server::ls_types as lsp;
use xxhash_rust::xxh3::xxh3_128;

/// A command with its parameters, if it has any.
fn command(title: &str, name: &str, params: Option<Value>) -> lsp::Command {
    lsp::Command { title: title.to_owned(), command: name.to_owned(), arguments: Some(params.into_iter().collect()) }
}

fn counterexample(uri: lsp::Uri, property: &str, index: usize) -> TraceSource {
    TraceSource { uri, property: Some(property.to_owned()), counterexample: Some(index), run: None }
}

fn of_queue(uri: lsp::Uri, property: &str) -> QueueParams {
    QueueParams { uri, property: Some(property.to_owned()) }
}

pub fn lenses(server: &mut State, params: &lsp::CodeLensParams) -> Option<Vec<lsp::CodeLens>> {
    let context = Context::of(server, &params.text_document.uri)?;
    let uri = uri_of(&context.model)?;
    let one = |lens: &Lens| {
        let uri = uri.clone();
        let (name, params) = match &lens.click {
            Click::Check(property) => (
                "fabius.check",
                Some(json(RunParams { uri, property: Some(property.clone()), fairness: None, leave_out: None })),
            ),
            Click::Stop(property) => ("fabius.stop", Some(json(of_queue(uri, property)))),
            Click::Prioritize(property) => ("fabius.prioritize", Some(json(of_queue(uri, property)))),
            Click::Show(property, index) => ("fabius.trace", Some(json(counterexample(uri, property, *index)))),
            Click::Executions => ("fabius.executions", Some(json(ExecutionsParams { uri, laps: None, within: None }))),
            Click::Sweep(at) | Click::StopSweep(at) => {
                let uri = params.text_document.uri.clone();
                let line = context.range(&(*at..*at)).start.line;
                let stops = matches!(lens.click, Click::StopSweep(_));
                let name = if stops { "fabius.stopSweep" } else { "fabius.sweep" };
                (name, Some(json(LinesParams { uri, lines: vec![line] })))
            }
            Click::Costs => ("fabius.costs", Some(json(ModelParams { uri }))),
            Click::Mutants => ("fabius.mutants", Some(json(ModelParams { uri }))),
            Click::Nothing => ("", None),
        };
        let command = Some(command(&lens.title, name, params));
        lsp::CodeLens { range: context.range(&lens.range), command, data: None }
    };
    let ahead = context.server.session.checks_ahead(&context.model);
    let follows = context.server.able.refresh_lenses;
    Some(lines::lenses(context.view(), context.document()?, ahead, follows).iter().map(one).collect())
}

/// Which action it is: where it was offered, and a digest of the text that its edits lead to.
#[derive(Serialize, Deserialize)]
struct Offered {
    uri: lsp::Uri,
    range: lsp::Range,
    digest: String,
}

pub fn actions(server: &mut State, params: &lsp::CodeActionParams) -> Option<Vec<lsp::CodeAction>> {
    let later = server.able.resolves_edits;
    let context = Context::of(server, &params.text_document.uri)?;
    let range = context.bytes(params.range);
    let found = fixes::actions(&context.name, context.document()?, context.view().reading, &range);
    let wanted = |action: &&Action| {
        let kind = kind_of(action.kind);
        let only = params.context.only.as_ref();
        only.is_none_or(|only| only.iter().any(|wanted| kind.as_str().starts_with(wanted.as_str())))
    };
    let wanted: Vec<&Action> = found.iter().filter(wanted).collect();
    let answers = wanted.iter().map(|action| offer(&context, params, action, later)).collect();
    let untried = wanted.iter().filter(|action| action.tried);
    let untried: Vec<String> = untried.map(|action| fixes::edited(context.view().text(), &action.edits)).collect();
    let model = context.model.clone();
    if model == context.name {
        untried.into_iter().for_each(|text| server.session.try_text(&model, text));
    }
    Some(answers)
}

/// An action with the command that it runs, or the edits that it makes; these `later` if the client asks for them then.
fn offer(context: &Context<'_>, params: &lsp::CodeActionParams, action: &Action, later: bool) -> lsp::CodeAction {
    let uri = &params.text_document.uri;
    let command = action.command.as_ref().map(|effect| {
        let uri = uri.clone();
        let (name, params) = match effect {
            Effect::Explain(property, index) => ("fabius.explain", json(counterexample(uri, property, *index))),
            Effect::Check(property, fairness) => {
                let (property, fairness) = (Some(property.clone()), Some(fairness.as_str().to_owned()));
                ("fabius.check", json(RunParams { uri, property, fairness, leave_out: None }))
            }
            Effect::Causes(property) => ("fabius.causes", json(CausesParams { uri, property: property.clone() })),
            Effect::Contexts(process) => ("fabius.contexts", json(ContextsParams { uri, process: process.clone() })),
            Effect::Original(line) => ("fabius.original", json(LinesParams { uri, lines: vec![line - 1] })),
            Effect::Stuck(line) => ("fabius.stuck", json(LinesParams { uri, lines: vec![line - 1] })),
        };
        command(&action.title, name, Some(params))
    });
    let edits = command.is_none();
    let offered = || Offered { uri: uri.clone(), range: params.range, digest: digest(context, action) };
    lsp::CodeAction {
        title: action.title.clone(),
        kind: Some(kind_of(action.kind)),
        is_preferred: Some(action.preferred),
        edit: (edits && !later).then(|| edit(context, uri, action)),
        data: (edits && later).then(|| json(offered())),
        command,
        ..lsp::CodeAction::default()
    }
}

/// An action with its edits.
pub fn resolve(server: &mut State, mut action: lsp::CodeAction) -> Result<lsp::CodeAction> {
    let offered = action.data.clone().and_then(|data| serde_json::from_value::<Offered>(data).ok());
    let Some(offered) = offered else { return Ok(action) };
    let found = Context::of(server, &offered.uri).and_then(|context| {
        let range = context.bytes(offered.range);
        let all = fixes::actions(&context.name, context.document()?, context.view().reading, &range);
        let found = all.iter().find(|action| digest(&context, action) == offered.digest)?;
        Some(edit(&context, &offered.uri, found))
    });
    let changed = || error(ErrorCode::ContentModified, "the text changed since this was offered");
    action.edit = Some(found.ok_or_else(changed)?);
    Ok(action)
}

fn digest(context: &Context<'_>, action: &Action) -> String {
    format!("{:032x}", xxh3_128(fixes::edited(context.view().text(), &action.edits).as_bytes()))
}

fn edit(context: &Context<'_>, uri: &lsp::Uri, action: &Action) -> lsp::WorkspaceEdit {
    let edits = action.edits.iter().map(|(bytes, text)| lsp::TextEdit::new(context.range(bytes), text.clone()));
    lsp::WorkspaceEdit {
        changes: Some(HashMap::from([(uri.clone(), edits.collect())])),
        ..lsp::WorkspaceEdit::default()
    }
}

fn kind_of(kind: ActionKind) -> lsp::CodeActionKind {
    match kind {
        ActionKind::Fix | ActionKind::Explain => lsp::CodeActionKind::QUICKFIX,
        ActionKind::Rewrite => lsp::CodeActionKind::REFACTOR_REWRITE,
        ActionKind::Ask => lsp::CodeActionKind::new("refactor.ask"),
        ActionKind::Open => lsp::CodeActionKind::EMPTY,
    }
}
