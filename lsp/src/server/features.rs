//! The table of requests: which method is answered by whom, and what the server says it can do.

use super::client::json;
use super::convert::Converter;
use super::main_loop::{MainLoop, read};
use super::names::name_of;
use super::positions::Encoding;
use super::service::error;
use crate::ide::diagnostics::diagnostics;
use tower_lsp_server::jsonrpc::{ErrorCode, Result};
use tower_lsp_server::ls_types as lsp;

/// What the server says that it can do.
pub fn capabilities(encoding: Encoding) -> lsp::InitializeResult {
    let capabilities = lsp::ServerCapabilities {
        position_encoding: Some(encoding.kind()),
        text_document_sync: Some(lsp::TextDocumentSyncCapability::Options(lsp::TextDocumentSyncOptions {
            open_close: Some(true),
            change: Some(lsp::TextDocumentSyncKind::INCREMENTAL),
            save: Some(lsp::TextDocumentSyncSaveOptions::Supported(true)),
            ..lsp::TextDocumentSyncOptions::default()
        })),
        diagnostic_provider: Some(lsp::DiagnosticServerCapabilities::Options(lsp::DiagnosticOptions {
            identifier: Some("fabius".to_owned()),
            inter_file_dependencies: true,
            workspace_diagnostics: false,
            ..lsp::DiagnosticOptions::default()
        })),
        ..lsp::ServerCapabilities::default()
    };
    let version = Some(fabius_engine::VERSION.to_owned());
    let server_info = Some(lsp::ServerInfo { name: "fabius".to_owned(), version });
    lsp::InitializeResult { capabilities, server_info, offset_encoding: None }
}

/// Answers a request.
pub fn answer(server: &mut MainLoop, method: &str, params: lsp::LSPAny) -> Result<lsp::LSPAny> {
    match method {
        "initialize" => Ok(json(server.initialize(&read(params)?))),
        "shutdown" => {
            server.session.stop_all();
            Ok(lsp::LSPAny::Null)
        }
        "textDocument/diagnostic" => Ok(json(pulled(server, &read(params)?))),
        "fabius/test/panic" if cfg!(debug_assertions) => panic!("somebody asked for it"),
        _ => Err(error(ErrorCode::MethodNotFound, format!("there is no method {method}"))),
    }
}

/// What the text of a document says, for a client that asks.
fn pulled(server: &mut MainLoop, params: &lsp::DocumentDiagnosticParams) -> lsp::DocumentDiagnosticReport {
    let name = name_of(&params.text_document.uri);
    let model = server.session.model_of(&name);
    let mut items = Vec::new();
    if let Some(reading) = server.session.reading(&model)
        && let Some(document) = server.session.document(&model)
    {
        let converter = Converter::new(&server.session, reading.map(), server.encoding);
        let all = diagnostics(&model, document, &reading);
        let own = all.iter().filter(|diagnostic| !diagnostic.of_check && diagnostic.place.file == name);
        items.extend(own.map(|diagnostic| converter.diagnostic(diagnostic, true)));
    }
    let full_document_diagnostic_report = lsp::FullDocumentDiagnosticReport { result_id: None, items };
    lsp::DocumentDiagnosticReport::Full(lsp::RelatedFullDocumentDiagnosticReport {
        related_documents: None,
        full_document_diagnostic_report,
    })
}
