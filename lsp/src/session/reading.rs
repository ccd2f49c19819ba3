//! A text as it was read: what it means, and what there is to say about it.

use fabius_base::{FileId, SourceMap, Span};
use fabius_engine::Loaded;
use fabius_language::{Index, Symbol, SymbolKind};
use fabius_task::{SemanticDigest, SourceProgram};
use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

/// One version of a model, read. It never changes, so that everyone may hold on to it.
#[derive(Debug)]
pub struct Reading {
    /// Texts, findings, syntax tree and program.
    pub loaded: Arc<Loaded>,
    /// The files that the text asks for, whether they were there or not.
    asked: BTreeSet<String>,
    written: OnceLock<Option<SourceProgram>>,
    index: OnceLock<Index>,
}

impl Reading {
    /// Keeps what was read, and the names of the files that were asked for meanwhile.
    pub fn new(loaded: Loaded, asked: BTreeSet<String>) -> Self {
        Self { loaded: Arc::new(loaded), asked, written: OnceLock::new(), index: OnceLock::new() }
    }

    /// The model as it is written; `None` if the text is too wrong to be checked.
    pub fn written(&self) -> Option<&SourceProgram> {
        self.written.get_or_init(|| SourceProgram::of(&self.loaded)).as_ref()
    }

    /// What the names in the text mean.
    pub fn index(&self) -> &Index {
        let read = || self.loaded.syntax().map(|syntax| syntax.index(&self.loaded.map));
        self.index.get_or_init(|| read().unwrap_or_default())
    }

    /// Where a property stands: a formula or claim at its name, anything else at the first process.
    pub fn place_of(&self, property: &str) -> Option<Span> {
        let index = self.index();
        let outer = || index.ids().map(|id| index.symbol(id)).filter(|symbol| symbol.container.is_none());
        let is = |symbol: &&Symbol, kinds: [SymbolKind; 2]| kinds.contains(&symbol.kind);
        let mut formulas = outer().filter(|symbol| is(symbol, [SymbolKind::Formula, SymbolKind::Claim]));
        let named = formulas.find(|symbol| property.starts_with(&*symbol.name));
        let processes = || outer().filter(|symbol| is(symbol, [SymbolKind::Process, SymbolKind::Init]));
        let first = || processes().min_by_key(|symbol| (symbol.definition.file.0, symbol.definition.start));
        named.or_else(first).map(|symbol| symbol.definition)
    }

    /// What a property of this model means.
    pub fn digest_of(&self, property: &str) -> Option<SemanticDigest> {
        self.written().map(|written| written.property(property))
    }

    /// The names of the properties that can be asked about, in the order of reports.
    pub fn properties(&self) -> Vec<String> {
        self.asked_for(&[])
    }

    /// The names of the properties that fit selectors, names or kinds; all without a selector.
    pub fn asked_for(&self, selectors: &[String]) -> Vec<String> {
        let Some(program) = self.loaded.checkable() else { return Vec::new() };
        let planned = fabius_engine::plan(program, selectors).map(|plan| plan.properties).unwrap_or_default();
        planned.into_iter().map(|property| property.name).collect()
    }

    /// The texts.
    pub fn map(&self) -> &SourceMap {
        &self.loaded.map
    }

    /// The file with a name, if it is part of the model.
    pub fn file(&self, name: &str) -> Option<FileId> {
        self.map().files().find(|(_, file)| &*file.name == name).map(|(id, _)| id)
    }

    /// The parts that the text asks for; no text for one that was not there.
    pub fn parts(&self) -> impl Iterator<Item = (&str, Option<&str>)> {
        self.asked.iter().map(|name| (name.as_str(), self.file(name).map(|file| &*self.map().file(file).text)))
    }

    /// Whether another text of a file would make this another reading: it is part of the model, or it is missing there.
    pub fn depends_on(&self, name: &str) -> bool {
        self.asked.contains(name) || self.file(name).is_some()
    }
}
