//! From plain data to the types of the protocol.

use super::manual;
use super::names::uri_of;
use super::positions::Encoding;
use crate::ide::Place;
use crate::ide::diagnostics::{Diagnostic, Level};
use crate::ide::originals::OriginalPlace;
use crate::session::Session;
use fabius_base::SourceMap;
use ropey::Rope;
use serde_json::json;
use std::cell::RefCell;
use std::collections::HashMap;
use tower_lsp_server::ls_types as lsp;

/// Knows the texts of all files of a model, to say where bytes are.
pub struct Converter<'a> {
    session: &'a Session,
    map: &'a SourceMap,
    encoding: Encoding,
    closed: RefCell<HashMap<String, Rope>>,
}

impl<'a> Converter<'a> {
    /// A converter for a model.
    pub fn new(session: &'a Session, map: &'a SourceMap, encoding: Encoding) -> Self {
        Self { session, map, encoding, closed: RefCell::new(HashMap::new()) }
    }

    /// The positions of a stretch of a file.
    pub fn range(&self, file: &str, start: usize, end: usize) -> lsp::Range {
        if let Some(document) = self.session.document(file) {
            return self.encoding.range(&document.text, start, end);
        }
        let mut closed = self.closed.borrow_mut();
        let rope = closed.entry(file.to_owned()).or_insert_with(|| {
            let found = self.map.files().find(|(_, known)| &*known.name == file);
            found.map(|(_, known)| Rope::from_str(&known.text)).unwrap_or_default()
        });
        self.encoding.range(rope, start, end)
    }

    /// The positions of a place.
    pub fn place(&self, place: &Place) -> lsp::Range {
        self.range(&place.file, place.start, place.end)
    }

    /// A place with the address of its file; `None` if it is in no file.
    pub fn location(&self, place: &Place) -> Option<lsp::Location> {
        Some(lsp::Location { uri: uri_of(&place.file)?, range: self.place(place) })
    }

    /// A diagnostic.
    pub fn diagnostic(&self, diagnostic: &Diagnostic, related: bool) -> lsp::Diagnostic {
        let information = diagnostic.related.iter().filter_map(|(place, message)| {
            Some(lsp::DiagnosticRelatedInformation { location: self.location(place)?, message: message.clone() })
        });
        let original = diagnostic.original.iter().filter_map(|place| {
            let message = format!("generated from {}", place.words);
            Some(lsp::DiagnosticRelatedInformation { location: original_location(place)?, message })
        });
        let data = diagnostic.counterexample.as_ref();
        lsp::Diagnostic {
            range: self.place(&diagnostic.place),
            severity: Some(match diagnostic.level {
                Level::Error => lsp::DiagnosticSeverity::ERROR,
                Level::Warning => lsp::DiagnosticSeverity::WARNING,
                Level::Information => lsp::DiagnosticSeverity::INFORMATION,
                Level::Hint => lsp::DiagnosticSeverity::HINT,
            }),
            code: Some(lsp::NumberOrString::String(diagnostic.code.to_owned())),
            code_description: manual::page_of(diagnostic.code).map(|href| lsp::CodeDescription { href }),
            source: Some("fabius".to_owned()),
            message: diagnostic.message.clone(),
            related_information: related.then(|| information.chain(original).collect()),
            tags: diagnostic.faded.then(|| vec![lsp::DiagnosticTag::UNNECESSARY]),
            data: data.map(|(property, index)| json!({ "property": property, "counterexample": index })),
        }
    }
}

/// A line of an original text, which nobody has opened or read: its beginning.
pub fn original_location(place: &OriginalPlace) -> Option<lsp::Location> {
    let start = lsp::Position { line: place.line.saturating_sub(1), character: 0 };
    Some(lsp::Location { uri: uri_of(&place.file)?, range: lsp::Range { start, end: start } })
}
