//! Runs: pages of steps, states, and what processes wait for.

use fabius_analysis::picture::MovingPicture;
use fabius_engine::comparison::VersionComparison;
use fabius_engine::report::ViolationClass;
use fabius_witness::diagram::Plot;
use fabius_witness::format::json::{ProcessStatusRecord, StepRecord};
use fabius_witness::format::ribbon::Table;
use serde::Serialize;
use tower_lsp_server::ls_types as lsp;
#[cfg(test)]
use ts_rs::TS;

/// A page of a run.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct TracePage {
    /// The property, or the name of the run.
    pub property: String,
    /// The number of the counterexample, from 0.
    pub counterexample: usize,
    /// How the run ends, in a word.
    pub kind: TraceKind,
    /// How the run ends, in a sentence.
    pub message: String,
    /// The run is one of an earlier text.
    pub stale: bool,
    /// The number of steps of the run, those of a claim included.
    pub steps: usize,
    /// The number of the step with which the loop begins.
    pub loop_start: Option<usize>,
    /// The first step of the page, from 1.
    pub from: usize,
    /// The steps.
    pub page: Vec<PlacedStep>,
    /// The processes that are stuck at the end.
    pub blocked: Vec<ProcessStatusRecord>,
    /// What explains the run, a sentence each.
    pub explanation: Vec<String>,
    /// What to do.
    pub advice: Option<String>,
    /// Where the formula or claim holds; of the first page only, if the run has one.
    pub ribbon: Option<Ribbon>,
    /// How numbers change along the run; of the first page only, and of a run of at most 5 000 steps.
    pub plots: Vec<Plot>,
    /// The drawing beside the model, as it moves along the run; of the first page only, if there is one.
    pub picture: Option<MovingPicture>,
    /// Why the drawing beside the model cannot be shown, if there is one that cannot.
    pub picture_problem: Option<String>,
}

/// Where a formula and its parts hold along a run, or where a claim is. Position `p` is the state after `p` steps.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Ribbon {
    /// What the table shows.
    pub heading: String,
    /// The table.
    #[serde(flatten)]
    pub table: Table,
}

/// How a run ends.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(untagged)]
#[cfg_attr(test, derive(TS))]
pub enum TraceKind {
    /// What is wrong with a counterexample.
    Violation(ViolationClass),
    /// How an execution ends.
    Ending(&'static str),
}

/// A step with the place of its statement in the present text.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct PlacedStep {
    /// The step.
    #[serde(flatten)]
    pub record: StepRecord,
    /// The file of the statement.
    #[cfg_attr(test, ts(type = "string | null"))]
    pub uri: Option<lsp::Uri>,
    /// The statement.
    #[cfg_attr(test, ts(type = "Range"))]
    pub range: lsp::Range,
    /// The file from which the statement was generated, if it is there; `original` says which line.
    #[serde(rename = "originalUri")]
    #[cfg_attr(test, ts(type = "string | null"))]
    pub original_uri: Option<lsp::Uri>,
}

/// A line of the text from which a model was generated.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct OriginalText {
    /// The file.
    #[cfg_attr(test, ts(type = "string"))]
    pub uri: lsp::Uri,
    /// The beginning of the line. The file may have fewer lines.
    #[cfg_attr(test, ts(type = "Range"))]
    pub range: lsp::Range,
    /// The place in the words of the model, such as `a.src:33`.
    pub words: String,
}

/// The run that violates a property beside the one before the last save.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct RunsCompared {
    /// The property.
    pub property: String,
    /// All of it as a text.
    pub text: String,
    /// The steps of both runs, and what became of the older one.
    pub comparison: VersionComparison,
}

/// The state after a step.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct StateAfter {
    /// The step, from 1; 0 is before all of them.
    pub step: usize,
    /// The global variables.
    pub variables: Vec<NamedValue>,
    /// The channels.
    pub channels: Vec<NamedValue>,
    /// The processes.
    pub processes: Vec<PlacedProcess>,
}

/// A variable or channel with its value.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct NamedValue {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// A process with its place in the present text.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct PlacedProcess {
    /// The process.
    #[serde(flatten)]
    pub process: ProcessState,
    /// The file in which it is.
    #[cfg_attr(test, ts(type = "string | null"))]
    pub uri: Option<lsp::Uri>,
    /// Where it is.
    #[cfg_attr(test, ts(type = "Range"))]
    pub range: lsp::Range,
}

/// A process in a state.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct ProcessState {
    /// Its number.
    pub pid: u8,
    /// How it is shown, such as `P[1]`.
    pub name: String,
    /// Its location, as the drawing of its automaton has it (`data-location`): the name of its type and a number.
    pub location: String,
    /// The labels of its location.
    pub labels: Vec<String>,
    /// It may stop there.
    pub end: bool,
    /// Its next statements.
    pub statements: Vec<WaitingStatement>,
    /// Its local variables.
    pub variables: Vec<NamedValue>,
}

/// A statement that a process could execute next.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct WaitingStatement {
    /// The statement.
    pub statement: String,
    /// Why it can or cannot be executed.
    pub why: String,
    /// Whether it can be executed.
    pub executable: bool,
    /// The parts that make its condition false, from left to right: whatever the others are, it is false as long as these are as they are.
    pub parts: Vec<FalsePart>,
}

/// A part of a condition that makes it false.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct FalsePart {
    /// The part.
    pub text: String,
    /// It is true, which under a negation makes the condition false.
    pub holds: bool,
    /// Whether it is true or false, and the values of which it is made, in a sentence.
    pub sentence: String,
    /// The file in which it is written.
    #[cfg_attr(test, ts(type = "string | null"))]
    pub uri: Option<lsp::Uri>,
    /// Where it is written; `null` if that is not known.
    #[cfg_attr(test, ts(type = "Range | null"))]
    pub range: Option<lsp::Range>,
}

/// What the processes of a state wait for.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Why {
    /// The step, from 1; 0 is before all of them.
    pub step: usize,
    /// The processes.
    pub processes: Vec<ProcessState>,
}

/// A run as a text.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Exported {
    /// The text.
    pub text: String,
}

/// Where a pattern is true along a run.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Matches {
    /// The steps after which it is true, in their order; 0 is the state before all of them.
    pub steps: Vec<usize>,
    /// In how many states that is, of those that were looked at.
    pub sentence: String,
}
