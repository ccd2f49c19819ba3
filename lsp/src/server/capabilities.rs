//! What the server says that it can do.

use super::messages::METHODS;
use super::positions::Encoding;
use fabius_engine::{LANGUAGES, languages};
use fabius_language::{Color, Triggers};
use serde_json::json;
use tower_lsp_server::ls_types as lsp;

/// The commands that a client may ask for.
pub const COMMANDS: [&str; 14] = [
    "fabius.check",
    "fabius.stop",
    "fabius.prioritize",
    "fabius.costs",
    "fabius.stopSweep",
    "fabius.explain",
    "fabius.trace",
    "fabius.original",
    "fabius.contexts",
    "fabius.stuck",
    "fabius.executions",
    "fabius.mutants",
    "fabius.causes",
    "fabius.sweep",
];

/// The modifiers of coloured words, in the order of their bits.
const MODIFIERS: [&str; 4] = ["declaration", "modification", "static", "readonly"];

/// What the server says that it can do.
pub fn capabilities(encoding: Encoding) -> lsp::LSPAny {
    json!({
        "capabilities": {
            "positionEncoding": encoding.kind(),
            "textDocumentSync": { "openClose": true, "change": lsp::TextDocumentSyncKind::INCREMENTAL, "save": true },
            "diagnosticProvider": {
                "identifier": "fabius", "interFileDependencies": true, "workspaceDiagnostics": true,
            },
            "hoverProvider": true,
            "definitionProvider": true,
            "declarationProvider": true,
            "typeDefinitionProvider": true,
            "implementationProvider": true,
            "linkedEditingRangeProvider": true,
            "referencesProvider": true,
            "documentHighlightProvider": true,
            "renameProvider": { "prepareProvider": true },
            "documentSymbolProvider": true,
            "workspaceSymbolProvider": true,
            "completionProvider": {
                "triggerCharacters": triggers(|triggers| triggers.completion), "resolveProvider": true,
            },
            "signatureHelpProvider": { "triggerCharacters": triggers(|triggers| triggers.signature) },
            "foldingRangeProvider": true,
            "selectionRangeProvider": true,
            "documentFormattingProvider": true,
            "documentRangeFormattingProvider": { "rangesSupport": true },
            "documentOnTypeFormattingProvider": on_type(),
            "semanticTokensProvider": {
                "legend": { "tokenTypes": Color::ALL.map(token_type), "tokenModifiers": MODIFIERS },
                "range": true,
                "full": { "delta": true },
            },
            "documentLinkProvider": {},
            "callHierarchyProvider": true,
            "inlayHintProvider": true,
            "inlineValueProvider": true,
            "codeLensProvider": {},
            "codeActionProvider": {
                "codeActionKinds": ["quickfix", "refactor.rewrite", "refactor.ask"], "resolveProvider": true,
            },
            "executeCommandProvider": { "commands": COMMANDS },
            "workspace": {
                "workspaceFolders": { "supported": true, "changeNotifications": true },
                "fileOperations": { "willRename": { "filters": renamed_files() } },
            },
            "experimental": { "fabius": METHODS },
        },
        "serverInfo": { "name": "fabius", "version": fabius_engine::VERSION },
    })
}

/// The files and folders whose new names matter to others.
fn renamed_files() -> Vec<lsp::FileOperationFilter> {
    let endings: Vec<&str> = languages::model_endings().chain(languages::included_endings()).collect();
    let filter = |glob: String, kind: lsp::FileOperationPatternKind| lsp::FileOperationFilter {
        scheme: Some("file".to_owned()),
        pattern: lsp::FileOperationPattern { glob, matches: Some(kind), options: None },
    };
    let files = filter(format!("**/*.{{{}}}", endings.join(",")), lsp::FileOperationPatternKind::File);
    vec![files, filter("**".to_owned(), lsp::FileOperationPatternKind::Folder)]
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

/// The protocol's word for a colour.
fn token_type(color: Color) -> &'static str {
    match color {
        Color::Keyword => "keyword",
        Color::Type => "type",
        Color::Number => "number",
        Color::String => "string",
        Color::Comment => "comment",
        Color::Operator => "operator",
        Color::Macro => "macro",
        Color::Process => "class",
        Color::Inline => "function",
        Color::Structure => "struct",
        Color::Field => "property",
        Color::Variable => "variable",
        Color::Parameter => "parameter",
        Color::Constant => "enumMember",
        Color::Label => "label",
        Color::Property => "event",
    }
}
