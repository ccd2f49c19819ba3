//! Parameters of our own requests. Commands have the same ones as their argument.

use serde::{Deserialize, Serialize};
use tower_lsp_server::ls_types as lsp;
#[cfg(test)]
use ts_rs::TS;

/// A model, or a file that it includes.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(TS))]
pub struct ModelParams {
    /// The address of the model.
    #[cfg_attr(test, ts(type = "string"))]
    pub uri: lsp::Uri,
}

/// Parameters of `fabius/compareRuns`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
pub struct CompareParams {
    /// The address of the model.
    #[cfg_attr(test, ts(type = "string"))]
    pub uri: lsp::Uri,
    /// The property; the first one with a run before the last save if it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub property: Option<String>,
}

/// Parameters of `fabius/stop` and `fabius/prioritize`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
pub struct QueueParams {
    /// The address of the model.
    #[cfg_attr(test, ts(type = "string"))]
    pub uri: lsp::Uri,
    /// The property; the whole check if it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub property: Option<String>,
}

/// Parameters of `fabius/run`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
pub struct RunParams {
    /// The address of the model.
    #[cfg_attr(test, ts(type = "string"))]
    pub uri: lsp::Uri,
    /// The property; all if it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub property: Option<String>,
    /// Which infinite runs count as violations from now on: `none`, `weak` or `strong`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fairness: Option<String>,
    /// From now on, checks of the model do not go on from states in which this is true; an empty text: from all states again.
    #[serde(rename = "leaveOut", skip_serializing_if = "Option::is_none")]
    pub leave_out: Option<String>,
}

/// Parameters of `fabius/steer`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
pub struct SteerParams {
    /// The address of the model.
    #[cfg_attr(test, ts(type = "string"))]
    pub uri: lsp::Uri,
    /// From now on, checks of the model cut off runs after this many steps; 0: they do not. Nothing changes without it.
    #[serde(rename = "maxDepth", default, skip_serializing_if = "Option::is_none")]
    pub max_depth: Option<u64>,
    /// From now on, depth-first searches for violations of safety visit states in which this is true before others; empty: in any order.
    /// Nothing changes without it.
    #[serde(rename = "visitFirst", default, skip_serializing_if = "Option::is_none")]
    pub visit_first: Option<String>,
}

/// A run: a counterexample, or one that an answer named.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
pub struct TraceSource {
    /// The address of the model.
    #[cfg_attr(test, ts(type = "string"))]
    pub uri: lsp::Uri,
    /// The property; the first one with a counterexample if it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub property: Option<String>,
    /// The number of the counterexample, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counterexample: Option<usize>,
    /// A run that an answer named, instead of a counterexample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
}

/// Parameters of `fabius/trace`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
pub struct TraceParams {
    /// The run.
    #[serde(flatten)]
    pub source: TraceSource,
    /// The first step of the page, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<usize>,
    /// The number of steps of the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<usize>,
}

/// Parameters of `fabius/step`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(TS))]
pub struct StepParams {
    /// The run.
    #[serde(flatten)]
    pub source: TraceSource,
    /// The step, from 1; 0 is the state before all of them.
    #[serde(default)]
    pub step: usize,
}

/// Parameters of `fabius/matches`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(TS))]
pub struct MatchesParams {
    /// The run.
    #[serde(flatten)]
    pub source: TraceSource,
    /// A condition, or several with operators that look back, such as `x > 1 after y == 2`.
    pub pattern: String,
}

/// Parameters of `fabius/why`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
pub struct WhyParams {
    /// The run.
    #[serde(flatten)]
    pub source: TraceSource,
    /// The step, from 1; 0 is the state before all of them.
    #[serde(default)]
    pub step: usize,
    /// The process; all if it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u8>,
}

/// Parameters of `fabius/export`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(TS))]
pub struct ExportParams {
    /// The run.
    #[serde(flatten)]
    pub source: TraceSource,
    /// How it is written.
    #[serde(default)]
    pub format: ExportFormat,
}

/// How a run is written for somebody else.
#[derive(Clone, Copy, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(test, derive(TS))]
pub enum ExportFormat {
    /// For people, all steps.
    #[default]
    Text,
    /// A message sequence chart in the notation of Mermaid.
    Mermaid,
    /// A trail, which Spin replays.
    Trail,
    /// A saved run, which the explorers and the debugger open, also in a model that was edited since.
    Run,
    /// The Informal Trace Format, which tools for TLA+ and Quint read.
    Itf,
}

/// Parameters of `fabius/executions`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
pub struct ExecutionsParams {
    /// The address of the model.
    #[cfg_attr(test, ts(type = "string"))]
    pub uri: lsp::Uri,
    /// The number of times that each process may pass each of its loops.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub laps: Option<u32>,
    /// The number of steps after which executions are cut off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub within: Option<u32>,
}

/// Parameters of `fabius/executionTree`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
pub struct ExecutionTreeParams {
    /// The address of the model.
    #[cfg_attr(test, ts(type = "string"))]
    pub uri: lsp::Uri,
    /// The number of the first execution behind the branch, from 1, in decimal digits; …
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<String>,
    /// … and how many there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub executions: Option<String>,
}

/// Parameters of `fabius/execution`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
pub struct ExecutionParams {
    /// The address of the model.
    #[cfg_attr(test, ts(type = "string"))]
    pub uri: lsp::Uri,
    /// The number of the execution, from 1, in decimal digits.
    pub number: String,
    /// The first step of the page, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<usize>,
    /// The number of steps of the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<usize>,
}

/// Parameters of `fabius/contexts`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(TS))]
pub struct ContextsParams {
    /// The address of the model.
    #[cfg_attr(test, ts(type = "string"))]
    pub uri: lsp::Uri,
    /// The process type.
    pub process: String,
}

/// Parameters of `fabius/causes`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(TS))]
pub struct CausesParams {
    /// The address of the model.
    #[cfg_attr(test, ts(type = "string"))]
    pub uri: lsp::Uri,
    /// The name of the property.
    pub property: String,
}

/// Lines of a model.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(TS))]
pub struct LinesParams {
    /// The address of the model or of a file that it includes, in which the lines are.
    #[cfg_attr(test, ts(type = "string"))]
    pub uri: lsp::Uri,
    /// The lines, from 0.
    pub lines: Vec<u32>,
}

/// Parameters of `fabius/graph`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
pub struct DrawParams {
    /// The address of the model.
    #[cfg_attr(test, ts(type = "string"))]
    pub uri: lsp::Uri,
    /// By what states are put together: `locations`, or names of variables with commas between them; each for itself if it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The automata of the processes instead.
    #[serde(default)]
    pub automata: bool,
}
