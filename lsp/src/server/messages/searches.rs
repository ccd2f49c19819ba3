//! Answers that take a search: executions, contexts, deadlocks at a line, statements that are next at once.

use super::{PlacedStep, TracePage};
use fabius_analysis::cost::Part;
use fabius_analysis::stuck::StuckVerdict;
use fabius_engine::contexts::ContextReport;
use fabius_executions::ExecutionsReport;
use fabius_witness::format::json::StepRecord;
use serde::Serialize;
use tower_lsp_server::ls_types as lsp;
#[cfg(test)]
use ts_rs::TS;

/// How many executions a model has, as in `docs/schema/executions.schema.json`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct CountedExecutions {
    /// The numbers, with an empty `list`.
    #[serde(flatten)]
    pub report: ExecutionsReport,
    /// The model.
    #[cfg_attr(test, ts(type = "string | null"))]
    pub uri: Option<lsp::Uri>,
    /// The present text means something else.
    pub stale: bool,
    /// The numbers in words.
    pub sentence: String,
    /// What to do where not all could be counted.
    pub advice: Option<&'static str>,
}

/// The changes of a model that no property notices.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Survivors {
    /// How many there are, of how many.
    pub sentence: String,
    /// The present text means something else.
    pub stale: bool,
    /// The changes, in the order of the text.
    pub survivors: Vec<Survivor>,
}

/// A change that no property notices.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Survivor {
    /// The file.
    #[cfg_attr(test, ts(type = "string"))]
    pub uri: lsp::Uri,
    /// What is changed.
    #[cfg_attr(test, ts(type = "Range"))]
    pub range: lsp::Range,
    /// How, in a sentence.
    pub message: String,
}

/// What came of the values of macros that a comment names.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Swept {
    /// What came of all values, in a line.
    pub sentence: String,
    /// The text was edited meanwhile.
    pub stale: bool,
    /// A row for each combination and property, and what the next value will cost, as Markdown.
    pub table: String,
}

/// A picture of a state graph, or of automata.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Drawing {
    /// The picture. Elements with an attribute `data-lines` stand for these lines of the model, from 1, with blanks between them.
    pub svg: String,
    /// How many states there are, and why there may be more; empty for automata.
    pub sentence: String,
}

/// A branch of the tree of choices, and the alternatives at its end.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct ExecutionTree {
    /// The model.
    #[cfg_attr(test, ts(type = "string | null"))]
    pub uri: Option<lsp::Uri>,
    /// The present text means something else.
    pub stale: bool,
    /// The branch.
    pub branch: Branch,
    /// The alternatives.
    pub alternatives: Vec<Branch>,
}

/// A branch of the tree of choices: executions with neighbouring numbers, which are in decimal digits.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Branch {
    /// The number of its first execution, from 1.
    pub first: String,
    /// The number of its executions.
    pub executions: String,
    /// Those that fail.
    pub failing: String,
    /// Those that get stuck.
    pub stuck: String,
    /// Those that end well.
    pub ok: String,
    /// How its execution ends, if there is only one: `well`, `stuck`, `failed`, `waiting` or `cut`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub ends: Option<&'static str>,
    /// There is more behind it than is listed.
    pub unopened: bool,
    /// The number of its steps.
    pub length: usize,
    /// The first of its steps, which distinguishes it from its alternatives.
    pub step: Option<PlacedStep>,
    /// What is behind it, in words.
    pub sentence: String,
}

/// The first page of an execution.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct ExecutionPage {
    /// The page.
    #[serde(flatten)]
    pub page: TracePage,
    /// The name by which more of the run can be asked for.
    pub run: String,
}

/// The contexts in which a model goes wrong.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Contexts {
    /// How many go wrong, in words.
    pub sentence: String,
    /// All contexts were checked that there are.
    pub complete: bool,
    /// The contexts.
    pub contexts: Vec<ContextReport>,
    /// The text of the model with the first one that goes wrong.
    pub model: Option<String>,
}

/// What the states of a model are spent on.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct SpentStates {
    /// The answer in words.
    pub sentence: String,
    /// The number of states that were looked at.
    pub states: u64,
    /// Whether these are all.
    pub exhaustive: bool,
    /// The text was edited since.
    pub stale: bool,
    /// What costs something, the most expensive first.
    pub costs: Vec<StatesOfPart>,
}

/// What a part of the states costs.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct StatesOfPart {
    /// Its name: `x`, `P:x`, or `P` for the places of a process type.
    pub name: String,
    /// What it is: `variable`, `channel` or `places`.
    #[cfg_attr(test, ts(type = "\"variable\" | \"channel\" | \"places\""))]
    pub part: Part,
    /// The share of the states that differ from others only in it, from 0 to 1.
    pub share: f64,
    /// The number of its different values.
    pub values: u64,
    /// Where it is declared.
    #[cfg_attr(test, ts(type = "{ uri: string; range: Range } | null"))]
    pub place: Option<lsp::Location>,
}

/// Whether a model can deadlock with a process waiting at a line.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct StuckAt {
    /// Whether it can.
    pub verdict: StuckVerdict,
    /// The same in words.
    pub sentence: String,
    /// The number of states that were visited.
    pub states: u64,
    /// Whether everything was checked.
    pub exhaustive: bool,
    /// The name of the run that shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub run: Option<String>,
}

/// The causes of the violations of a property.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct CausesFound {
    /// How many there are, in words.
    pub sentence: String,
    /// Whether these are all.
    pub complete: bool,
    /// The text was edited since somebody asked.
    pub stale: bool,
    /// The causes: those with the fewest statements first.
    pub causes: Vec<CauseFound>,
}

/// A minimal set of statements with which a property can be violated.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct CauseFound {
    /// What goes wrong in its run, and where.
    pub sentence: String,
    /// Whether each statement is known to be needed.
    pub minimal: bool,
    /// The name of its run.
    pub run: String,
    /// Its statements, in the order of the text.
    pub statements: Vec<CauseStatement>,
}

/// A statement of a cause.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct CauseStatement {
    /// The line, from 1.
    pub line: u32,
    /// The process type that executes it.
    pub process: String,
    /// Its text.
    pub statement: String,
    /// Whether all causes have it.
    pub shared: bool,
}

/// Whether statements can be next at once.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "answer", rename_all = "lowercase")]
#[cfg_attr(test, derive(TS))]
pub enum Meeting {
    /// They can, after these steps.
    Possible {
        /// The number of steps.
        steps: usize,
        /// The first of them.
        page: Vec<StepRecord>,
        /// The answer in words.
        sentence: String,
    },
    /// They cannot.
    Never {
        /// The number of states, which are all.
        states: u64,
        /// The answer in words.
        sentence: String,
    },
    /// That is not known.
    Unknown {
        /// The number of states that were visited.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        states: Option<u64>,
        /// The answer in words.
        sentence: String,
    },
}
