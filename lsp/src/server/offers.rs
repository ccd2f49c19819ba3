//! What the server offers to do: code lenses and code actions.

use super::context::Context;
use super::names::uri_of;
use super::state::State;
use crate::ide::actions::{self as fixes, Action, ActionKind, Command as Effect};
use crate::ide::lenses::{self as lines, Click, Lens};
use serde_json::{Value, json};
use std::collections::HashMap;
use tower_lsp_server::ls_types as lsp;

/// A command about one thing, or about nothing.
fn command(title: &str, name: &str, about: Option<Value>) -> lsp::Command {
    lsp::Command { title: title.to_owned(), command: name.to_owned(), arguments: Some(about.into_iter().collect()) }
}

pub fn lenses(server: &mut State, params: &lsp::CodeLensParams) -> Option<Vec<lsp::CodeLens>> {
    let context = Context::of(server, &params.text_document.uri)?;
    let uri = uri_of(&context.model)?;
    let one = |lens: &Lens| {
        let (name, about) = match &lens.click {
            Click::Check(property) => ("fabius.check", Some(json!({ "uri": uri, "property": property }))),
            Click::Stop => ("fabius.stop", Some(json!({ "uri": uri }))),
            Click::Show(property, index) => {
                ("fabius.trace", Some(json!({ "uri": uri, "property": property, "counterexample": index })))
            }
            Click::Executions => ("fabius.executions", Some(json!({ "uri": uri }))),
            Click::Nothing => ("", None),
        };
        let command = Some(command(&lens.title, name, about));
        lsp::CodeLens { range: context.range(&lens.range), command, data: None }
    };
    Some(lines::lenses(context.view(), context.document()?).iter().map(one).collect())
}

pub fn actions(server: &mut State, params: &lsp::CodeActionParams) -> Option<Vec<lsp::CodeAction>> {
    let context = Context::of(server, &params.text_document.uri)?;
    let range = context.bytes(params.range);
    let found = fixes::actions(&context.name, context.document()?, context.view().reading, &range);
    let wanted = |action: &&Action| {
        let kind = kind_of(action.kind);
        let only = params.context.only.as_ref();
        only.is_none_or(|only| only.iter().any(|wanted| kind.as_str().starts_with(wanted.as_str())))
    };
    let wanted: Vec<&Action> = found.iter().filter(wanted).collect();
    let answers = wanted.iter().map(|action| offer(&context, &params.text_document.uri, action)).collect();
    let untried = wanted.iter().filter(|action| action.tried);
    let untried: Vec<String> = untried.map(|action| fixes::edited(context.view().text(), &action.edits)).collect();
    let model = context.model.clone();
    if model == context.name {
        untried.into_iter().for_each(|text| server.session.try_text(&model, text));
    }
    Some(answers)
}

/// An action with the command that it runs, or the edits that it makes.
fn offer(context: &Context<'_>, uri: &lsp::Uri, action: &Action) -> lsp::CodeAction {
    let command = action.command.as_ref().map(|effect| {
        let (name, about) = match effect {
            Effect::Explain(property, index) => {
                ("fabius.explain", json!({ "uri": uri, "property": property, "counterexample": index }))
            }
            Effect::Check(property, fairness) => {
                ("fabius.check", json!({ "uri": uri, "property": property, "fairness": fairness.as_str() }))
            }
            Effect::Contexts(process) => ("fabius.contexts", json!({ "uri": uri, "process": process })),
            Effect::Stuck(line) => ("fabius.stuck", json!({ "uri": uri, "lines": [line - 1] })),
        };
        command(&action.title, name, Some(about))
    });
    let edits = action.edits.iter().map(|(bytes, text)| lsp::TextEdit::new(context.range(bytes), text.clone()));
    let edit = command.is_none().then(|| lsp::WorkspaceEdit {
        changes: Some(HashMap::from([(uri.clone(), edits.collect())])),
        ..lsp::WorkspaceEdit::default()
    });
    lsp::CodeAction {
        title: action.title.clone(),
        kind: Some(kind_of(action.kind)),
        is_preferred: Some(action.preferred),
        edit,
        command,
        ..lsp::CodeAction::default()
    }
}

fn kind_of(kind: ActionKind) -> lsp::CodeActionKind {
    match kind {
        ActionKind::Fix | ActionKind::Explain => lsp::CodeActionKind::QUICKFIX,
        ActionKind::Rewrite => lsp::CodeActionKind::REFACTOR_REWRITE,
        ActionKind::Ask => lsp::CodeActionKind::new("refactor.ask"),
    }
}
