//! The table of requests: which method is answered by whom.

use super::answers;
use super::capabilities::capabilities;
use super::client::{json, read};
use super::service::error;
use super::state::State;
use super::{completion, hierarchy, offers, own, tokens, workspace};
use tower_lsp_server::jsonrpc::{ErrorCode, Result};
use tower_lsp_server::ls_types as lsp;

/// Answers a request.
pub fn answer(server: &mut State, method: &str, params: lsp::LSPAny) -> Result<lsp::LSPAny> {
    Ok(match method {
        "initialize" => {
            server.initialize(&read(params)?);
            capabilities(server.encoding)
        }
        "shutdown" => {
            server.session.stop_all();
            lsp::LSPAny::Null
        }
        "textDocument/diagnostic" => json(workspace::diagnostic(server, &read(params)?)),
        "textDocument/hover" => json(answers::hover(server, &read(params)?)),
        "textDocument/definition" | "textDocument/declaration" => json(answers::definition(server, &read(params)?)),
        "textDocument/typeDefinition" => json(answers::type_definition(server, &read(params)?)),
        "textDocument/implementation" => json(answers::implementation(server, &read(params)?)),
        "textDocument/linkedEditingRange" => json(answers::linked_ranges(server, &read(params)?)),
        "textDocument/references" => json(answers::references(server, &read(params)?)),
        "textDocument/documentHighlight" => json(answers::highlights(server, &read(params)?)),
        "textDocument/prepareRename" => json(answers::prepare_rename(server, &read(params)?)?),
        "textDocument/rename" => json(answers::rename(server, &read(params)?)?),
        "textDocument/documentSymbol" => json(answers::symbols(server, &read(params)?)),
        "workspace/symbol" => json(answers::all_symbols(server, &read(params)?)),
        "textDocument/completion" => json(completion::completion(server, &read(params)?)),
        "completionItem/resolve" => json(completion::resolve(server, read(params)?)),
        "textDocument/signatureHelp" => json(answers::signature(server, &read(params)?)),
        "textDocument/foldingRange" => json(answers::folds(server, &read(params)?)),
        "textDocument/selectionRange" => json(answers::selections(server, &read(params)?)),
        "textDocument/formatting" => json(answers::format(server, &read(params)?)),
        "textDocument/rangeFormatting" => json(answers::format_range(server, &read(params)?)),
        "textDocument/rangesFormatting" => {
            let ranges: Vec<lsp::Range> = read(params["ranges"].clone())?;
            json(answers::format_ranges(server, &read(params)?, &ranges))
        }
        "textDocument/onTypeFormatting" => json(answers::format_typed(server, &read(params)?)),
        "textDocument/semanticTokens/full" => json(tokens::tokens(server, &read(params)?)),
        "textDocument/semanticTokens/full/delta" => json(tokens::tokens_delta(server, &read(params)?)),
        "textDocument/semanticTokens/range" => json(tokens::tokens_range(server, &read(params)?)),
        "textDocument/documentLink" => json(answers::links(server, &read(params)?)),
        "textDocument/prepareCallHierarchy" => json(hierarchy::prepare(server, &read(params)?)),
        "callHierarchy/incomingCalls" => json(hierarchy::incoming(server, &read(params)?)),
        "callHierarchy/outgoingCalls" => json(hierarchy::outgoing(server, &read(params)?)),
        "textDocument/inlayHint" => json(answers::hints(server, &read(params)?)),
        "textDocument/inlineValue" => json(answers::inline_values(server, &read(params)?)),
        "textDocument/codeLens" => json(offers::lenses(server, &read(params)?)),
        "textDocument/codeAction" => json(offers::actions(server, &read(params)?)),
        "codeAction/resolve" => json(offers::resolve(server, read(params)?)?),
        "workspace/willRenameFiles" => json(workspace::will_rename(server, &read(params)?)),
        "workspace/executeCommand" => own::command(server, &read(params)?)?,
        _ if method.starts_with("fabius/") => return own::answer(server, method, params),
        _ => return Err(error(ErrorCode::MethodNotFound, format!("unknown method {method}"))),
    })
}
