//! The table of requests: which method is answered by whom, and what the server says it can do.

use super::answers;
use super::client::json;
use super::main_loop::{MainLoop, read};
use super::own;
use super::positions::Encoding;
use super::service::error;
use fabius_engine::LANGUAGES;
use fabius_language::{Color, Triggers};
use serde_json::json;
use tower_lsp_server::jsonrpc::{ErrorCode, Result};
use tower_lsp_server::ls_types as lsp;

/// The commands that a client may ask for.
pub const COMMANDS: [&str; 7] = [
    "fabius.check",
    "fabius.stop",
    "fabius.explain",
    "fabius.trace",
    "fabius.contexts",
    "fabius.stuck",
    "fabius.executions",
];

/// What the server says that it can do.
pub fn capabilities(encoding: Encoding) -> lsp::LSPAny {
    json!({
        "capabilities": {
            "positionEncoding": encoding.kind(),
            "textDocumentSync": { "openClose": true, "change": 2, "save": true },
            "diagnosticProvider": {
                "identifier": "fabius", "interFileDependencies": true, "workspaceDiagnostics": false,
            },
            "hoverProvider": true,
            "definitionProvider": true,
            "declarationProvider": true,
            "typeDefinitionProvider": true,
            "referencesProvider": true,
            "documentHighlightProvider": true,
            "renameProvider": { "prepareProvider": true },
            "documentSymbolProvider": true,
            "workspaceSymbolProvider": true,
            "completionProvider": { "triggerCharacters": triggers(|triggers| triggers.completion) },
            "signatureHelpProvider": { "triggerCharacters": triggers(|triggers| triggers.signature) },
            "foldingRangeProvider": true,
            "selectionRangeProvider": true,
            "documentFormattingProvider": true,
            "documentRangeFormattingProvider": { "rangesSupport": true },
            "documentOnTypeFormattingProvider": on_type(),
            "semanticTokensProvider": {
                "legend": { "tokenTypes": Color::ALL.map(answers::token_type), "tokenModifiers": answers::MODIFIERS },
                "range": true,
                "full": { "delta": true },
            },
            "documentLinkProvider": {},
            "callHierarchyProvider": true,
            "inlayHintProvider": true,
            "inlineValueProvider": true,
            "codeLensProvider": {},
            "codeActionProvider": { "codeActionKinds": ["quickfix", "refactor.rewrite", "refactor.ask"] },
            "executeCommandProvider": { "commands": COMMANDS },
            "experimental": { "fabius": own::METHODS },
        },
        "serverInfo": { "name": "fabius", "version": fabius_engine::VERSION },
    })
}

/// The characters after which an editor asks by itself, in any language.
fn triggers(of: fn(Triggers) -> &'static [&'static str]) -> Vec<&'static str> {
    LANGUAGES.into_iter().flat_map(|language| of(language.editing().triggers())).copied().collect()
}

/// After which characters a line is indented; `None` if no language does that.
fn on_type() -> Option<lsp::DocumentOnTypeFormattingOptions> {
    let mut characters = triggers(|triggers| triggers.format).into_iter().map(str::to_owned);
    let first_trigger_character = characters.next()?;
    let more = characters.collect();
    Some(lsp::DocumentOnTypeFormattingOptions { first_trigger_character, more_trigger_character: Some(more) })
}

/// Answers a request.
pub fn answer(server: &mut MainLoop, method: &str, params: lsp::LSPAny) -> Result<lsp::LSPAny> {
    Ok(match method {
        "initialize" => server.initialize(&read(params)?),
        "shutdown" => {
            server.session.stop_all();
            lsp::LSPAny::Null
        }
        "textDocument/diagnostic" => answers::diagnostic(server, &read(params)?),
        "textDocument/hover" => json(answers::hover(server, &read(params)?)),
        "textDocument/definition" | "textDocument/declaration" => json(answers::definition(server, &read(params)?)),
        "textDocument/typeDefinition" => json(answers::type_definition(server, &read(params)?)),
        "textDocument/references" => json(answers::references(server, &read(params)?)),
        "textDocument/documentHighlight" => json(answers::highlights(server, &read(params)?)),
        "textDocument/prepareRename" => answers::prepare_rename(server, &read(params)?)?,
        "textDocument/rename" => answers::rename(server, &read(params)?)?,
        "textDocument/documentSymbol" => json(answers::symbols(server, &read(params)?)),
        "workspace/symbol" => json(answers::all_symbols(server, &read(params)?)),
        "textDocument/completion" => json(answers::completion(server, &read(params)?)),
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
        "textDocument/semanticTokens/full" => json(answers::tokens(server, &read(params)?)),
        "textDocument/semanticTokens/full/delta" => json(answers::tokens_delta(server, &read(params)?)),
        "textDocument/semanticTokens/range" => json(answers::tokens_range(server, &read(params)?)),
        "textDocument/documentLink" => json(answers::links(server, &read(params)?)),
        "textDocument/prepareCallHierarchy" => json(answers::hierarchy(server, &read(params)?)),
        "callHierarchy/incomingCalls" => json(answers::incoming(server, &read(params)?)),
        "callHierarchy/outgoingCalls" => json(answers::outgoing(server, &read(params)?)),
        "textDocument/inlayHint" => json(answers::hints(server, &read(params)?)),
        "textDocument/inlineValue" => json(answers::inline_values(server, &read(params)?)),
        "textDocument/codeLens" => json(answers::lenses(server, &read(params)?)),
        "textDocument/codeAction" => json(answers::actions(server, &read(params)?)),
        "workspace/executeCommand" => own::command(server, &read(params)?)?,
        _ if method.starts_with("fabius/") => return own::answer(server, method, params),
        _ => return Err(error(ErrorCode::MethodNotFound, format!("unknown method {method}"))),
    })
}
