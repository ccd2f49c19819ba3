//! What most answers need: the document that is asked about, as it was read, and how to say where.

use super::convert::Converter;
use super::names::name_of;
use super::state::State;
use crate::ide::View;
use crate::session::Document;
use crate::session::reading::Reading;
use std::ops::Range;
use std::sync::Arc;
use tower_lsp_server::ls_types as lsp;

/// A document that is asked about.
pub struct Context<'a> {
    /// The server.
    pub server: &'a State,
    /// The name of the document.
    pub name: String,
    /// The name of the model that it belongs to.
    pub model: String,
    reading: Arc<Reading>,
}

impl<'a> Context<'a> {
    /// What is asked about; `None` if it is not open.
    pub fn of(server: &'a mut State, uri: &lsp::Uri) -> Option<Self> {
        let name = name_of(uri);
        let model = server.session.model_of(&name);
        let reading = server.session.reading(&model)?;
        reading.file(&name)?;
        Some(Self { server, name, model, reading })
    }

    /// The file, as it was read.
    pub fn view(&self) -> View<'_> {
        View { reading: &self.reading, file: self.reading.file(&self.name).unwrap_or_default() }
    }

    /// The model, with what is known about it.
    pub fn document(&self) -> Option<&Document> {
        self.server.session.document(&self.model)
    }

    /// Says where things are.
    pub fn converter(&self) -> Converter<'_> {
        Converter::new(&self.server.session, self.reading.map(), self.server.encoding)
    }

    /// The byte at a position.
    pub fn offset(&self, position: lsp::Position) -> usize {
        let document = self.server.session.document(&self.name);
        document.map_or(0, |document| self.server.encoding.offset(&document.text, position))
    }

    /// The bytes of a range.
    pub fn bytes(&self, range: lsp::Range) -> Range<usize> {
        let start = self.offset(range.start);
        start..self.offset(range.end).max(start)
    }

    /// The range of bytes of the document.
    pub fn range(&self, bytes: &Range<usize>) -> lsp::Range {
        self.converter().range(&self.name, bytes.start, bytes.end)
    }
}
