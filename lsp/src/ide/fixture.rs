//! Small models for tests, with marks in their text: `/*~name*/` stands right before the place that it
//! names. The marks are comments, so that a model is the same with them.

use super::place::View;
use crate::session::reading::Reading;
use fabius_engine::{Settings, load};
use std::collections::BTreeSet;

/// A model with marks.
pub(crate) struct Fixture {
    text: String,
    reading: Reading,
}

impl Fixture {
    /// Reads a model.
    pub(crate) fn new(text: &str) -> Self {
        let loaded = load("/test/model.pml", text.to_owned(), &[], &mut |_, _| None, &Settings::default());
        Self { text: text.to_owned(), reading: Reading::new(loaded, BTreeSet::new()) }
    }

    /// The only file.
    pub(crate) fn view(&self) -> View<'_> {
        View::new(&self.reading, "/test/model.pml").expect("the model has a file")
    }

    /// The byte behind a mark; `~` alone is the mark without a name.
    pub(crate) fn mark(&self, name: &str) -> usize {
        let mark = format!("/*{name}*/");
        self.text.find(&mark).map(|at| at + mark.len()).unwrap_or_else(|| panic!("no mark {name} in {}", self.text))
    }
}
