//! A finding is a small tree of plain data; rendering it is someone else's trade.

use crate::codes::Code;
use crate::source::Span;

/// How much a finding matters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Severity {
    /// The model cannot be checked, or a property does not hold.
    Error,
    /// The model can be checked, but something in it is probably not what was meant.
    Warning,
    /// Worth knowing.
    Note,
}

/// A place that a finding speaks of, and what it says there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// What to say there; may be empty.
    pub text: String,
}

/// Something to tell a person about a model: what, where, why, and what to do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// The row of the table of codes.
    pub code: Code,
    /// Error, warning or note.
    pub severity: Severity,
    /// One sentence: what is wrong.
    pub headline: String,
    /// Where; the first is the place itself.
    pub labels: Vec<Label>,
    /// Why: further sentences.
    pub notes: Vec<String>,
    /// What to do about it.
    pub help: Vec<String>,
}

impl Finding {
    /// A finding with the severity of its code.
    pub fn new(code: Code, headline: impl Into<String>) -> Self {
        Self {
            code,
            severity: code.severity(),
            headline: headline.into(),
            labels: Vec::new(),
            notes: Vec::new(),
            help: Vec::new(),
        }
    }

    /// Adds a place; the first one added is where the finding is.
    #[must_use]
    pub fn at(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(Label { span, text: text.into() });
        self
    }

    /// Adds a sentence that says why.
    #[must_use]
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    /// Adds a sentence that says what to do.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help.push(text.into());
        self
    }

    /// Where the finding is.
    pub fn span(&self) -> Option<Span> {
        self.labels.first().map(|label| label.span)
    }

    /// Whether the model cannot be checked because of it.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}
