//! A text as it was read: what it means, and what there is to say about it.

use fabius_base::{FileId, SourceMap};
use fabius_engine::{Loaded, Meaning, Written};
use fabius_promela::query::Index;
use std::sync::{Arc, OnceLock};

/// One version of a model, read. It never changes, so that everyone may hold on to it.
#[derive(Debug)]
pub struct Reading {
    /// Texts, findings, syntax tree and program.
    pub loaded: Arc<Loaded>,
    written: OnceLock<Option<Written>>,
    index: OnceLock<Index>,
}

impl Reading {
    /// Keeps what was read.
    pub fn new(loaded: Loaded) -> Self {
        Self { loaded: Arc::new(loaded), written: OnceLock::new(), index: OnceLock::new() }
    }

    /// The model as it is written; `None` if the text is too wrong to be checked.
    pub fn written(&self) -> Option<&Written> {
        self.written.get_or_init(|| Written::of(&self.loaded)).as_ref()
    }

    /// What the names in the text mean.
    pub fn index(&self) -> &Index {
        self.index.get_or_init(|| match self.loaded.tree() {
            Some(tree) => Index::new(&self.loaded.map, tree),
            None => Index::default(),
        })
    }

    /// What a property of this model means.
    pub fn meaning_of(&self, property: &str) -> Option<Meaning> {
        self.written().map(|written| written.property(property))
    }

    /// The names of the properties that can be asked about, in the order of reports.
    pub fn properties(&self) -> Vec<String> {
        self.asked_for(&[])
    }

    /// The names of the properties that fit wishes, names or kinds; all without a wish.
    pub fn asked_for(&self, wishes: &[String]) -> Vec<String> {
        let Some(program) = self.loaded.checkable() else { return Vec::new() };
        let planned = fabius_engine::plan(program, wishes).map(|plan| plan.properties).unwrap_or_default();
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
}
