//! Where an answer is, and where a question was asked.

use crate::session::reading::Reading;
use fabius_base::{FileId, SourceMap, Span};
use fabius_language::{Editing, Index, Occurrence, SourceFile, Symbol};

/// A stretch of a file.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Place {
    /// The file.
    pub file: String,
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Place {
    /// The place of a span, as it is written there.
    pub fn of(map: &SourceMap, span: Span) -> Self {
        let file = map.file(span.file).name.to_string();
        Self { file, start: span.start as usize, end: span.end.max(span.start) as usize }
    }

    /// The place of an occurrence.
    pub fn of_occurrence(map: &SourceMap, occurrence: &Occurrence) -> Self {
        Self::of(map, Span::new(occurrence.file, occurrence.start, occurrence.end))
    }
}

/// A file of a model, in which something is asked about.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// The model.
    pub reading: &'a Reading,
    /// The file.
    pub file: FileId,
}

impl<'a> View<'a> {
    /// A file of a model; `None` if it is not part of it.
    pub fn new(reading: &'a Reading, name: &str) -> Option<Self> {
        Some(Self { reading, file: reading.file(name)? })
    }

    /// What the names mean.
    pub fn index(&self) -> &'a Index {
        self.reading.index()
    }

    /// The file, as its language is asked about it.
    pub fn source(&self) -> SourceFile<'a> {
        SourceFile { map: self.reading.map(), index: self.index(), id: self.file }
    }

    /// What its language knows.
    pub fn language(&self) -> &'static dyn Editing {
        self.reading.loaded.language().editing()
    }

    /// The text of the file.
    pub fn text(&self) -> &'a str {
        &self.reading.map().file(self.file).text
    }

    /// The place of a declaration, if it has one.
    pub fn declaration(&self, symbol: &Symbol) -> Option<Place> {
        symbol.is_declared().then(|| Place::of(self.reading.map(), symbol.definition))
    }
}
