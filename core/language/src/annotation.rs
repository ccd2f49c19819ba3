//! Comments that speak to the checker: where a scheduler may not interrupt, and which verdict is expected.

use fabius_base::{Code, Finding, Span};

/// How processes are scheduled inside of a sealed stretch.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SealKind {
    /// `rr`: round-robin.
    RoundRobin,
    /// `rtc`: run-to-completion.
    RunToCompletion,
}

/// A stretch of text in which a delaying scheduler may not interrupt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SealedStretch {
    /// How processes are scheduled inside.
    pub kind: SealKind,
    /// From the annotation that begins it to the end of the one that ends it.
    pub span: Span,
}

/// A verdict that the text says to expect.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Expectation {
    /// The property; `None` for what every model is checked for.
    pub property: Option<String>,
    /// Whether it is to hold.
    pub holds: bool,
    /// The annotation.
    pub span: Span,
}

/// What is wrong with an annotation about an expected verdict.
pub fn expectation_complaint(span: Span, why: &str) -> Finding {
    Finding::new(Code::BadExpectation, "invalid `expect` annotation").at(span, why)
}
