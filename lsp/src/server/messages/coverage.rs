//! What is known about each line.

use serde::Serialize;
use tower_lsp_server::ls_types as lsp;
#[cfg(test)]
use ts_rs::TS;

/// What is known about the lines of a document.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct Lines {
    /// The document.
    #[cfg_attr(test, ts(type = "string"))]
    pub uri: lsp::Uri,
    /// Its version.
    pub version: i32,
    /// The lines with marks.
    pub lines: Vec<LineMarks>,
    /// Which statements some run executes.
    pub coverage: Option<Coverage>,
    /// Which statements nothing executed so far, where a search was not complete.
    pub not_executed: Option<NotExecuted>,
}

/// Statements that nothing executed so far: no search, and no counterexample. Some run may still execute them.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct NotExecuted {
    /// The number of states that the search stored that got furthest.
    pub states: u64,
    /// A search goes on or waits that may execute them.
    pub is_searching: bool,
    /// Where they stand in the document.
    #[cfg_attr(test, ts(type = "Range[]"))]
    pub ranges: Vec<lsp::Range>,
}

/// The marks of a line.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct LineMarks {
    /// The line, from 0.
    pub line: u32,
    /// The marks.
    pub marks: Vec<Mark>,
}

/// Something that is known about a line.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
#[cfg_attr(test, derive(TS))]
pub enum Mark {
    /// A step of a counterexample executes it.
    Step(StepMark),
    /// A step of the loop of a counterexample executes it.
    Loop(StepMark),
    /// A step fails there.
    Fails(StepMark),
    /// A process cannot move there in the last state, or never in the loop.
    Stuck {
        /// The process, such as `P[1]`.
        process: String,
        /// Why it cannot move.
        why: Option<String>,
        /// The run is one of an earlier text.
        stale: bool,
    },
    /// A property stands there, in the present text.
    Property {
        /// The property.
        property: String,
        /// It is one of the assertions that the property is about, not the formula or claim itself.
        assertion: bool,
    },
    /// No run executes it.
    Unreached {
        /// Why not.
        why: Option<String>,
    },
}

/// A step of a counterexample.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct StepMark {
    /// Its number, from 1.
    pub step: usize,
    /// The property.
    pub property: String,
    /// The number of the counterexample, from 0.
    pub counterexample: usize,
    /// The run is one of an earlier text.
    pub stale: bool,
}

/// Which statements some run executes.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Coverage {
    /// The number of states that were looked at.
    pub states: u64,
    /// The number of transitions that were listed.
    pub transitions: u64,
    /// Whether these are all.
    pub exhaustive: bool,
    /// The statements.
    pub statements: Vec<CoveredStatement>,
}

/// A statement.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct CoveredStatement {
    /// Where it is.
    #[cfg_attr(test, ts(type = "Range"))]
    pub range: lsp::Range,
    /// Whether some run executes it.
    pub executed: bool,
    /// In how many transitions it is executed.
    pub transitions: u64,
}
