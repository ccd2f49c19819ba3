//! The arguments of requests: those fields that this adapter reads. A client may leave out any of them, since what is
//! missing is said in the words of the request.

use super::answers::Source;
use crate::launch::Launch;
use serde::Deserialize;

/// Of `initialize`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct InitializeArguments {
    /// Whether the client knows the event `invalidated`.
    pub supports_invalidated_event: Option<bool>,
}

/// Of `restart`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RestartArguments {
    /// Those of the launch, as far as they are new.
    pub arguments: Option<Launch>,
}

/// Of `next`, `stepOut` and `pause`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ThreadArguments {
    pub thread_id: Option<i64>,
}

/// Of `stepIn`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct StepInArguments {
    pub thread_id: Option<i64>,
    /// Which of the step-in targets.
    pub target_id: Option<i64>,
}

/// Of `goto`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct GotoArguments {
    /// Which of the goto targets.
    pub target_id: Option<i64>,
}

/// Of `stackTrace`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct StackTraceArguments {
    pub thread_id: Option<i64>,
    /// The first frame of the page, from 0.
    pub start_frame: usize,
    /// How many frames; 0 for all.
    pub levels: usize,
}

/// Of `scopes`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ScopesArguments {
    pub frame_id: Option<i64>,
}

/// Of `variables`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct VariablesArguments {
    pub variables_reference: i64,
    /// The first variable of the page, from 0.
    pub start: usize,
    /// How many variables; 0 for all.
    pub count: usize,
}

/// Of `evaluate`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct EvaluateArguments {
    pub expression: String,
    pub frame_id: Option<i64>,
    pub context: EvaluateContext,
    /// Where the expression stands, with `line` and `column`.
    pub source: Source,
    pub line: Option<u32>,
    pub column: Option<usize>,
}

/// For what an expression is evaluated.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum EvaluateContext {
    /// It was typed in the console.
    Repl,
    /// The mouse is over it.
    Hover,
    /// It is watched, for example.
    #[default]
    #[serde(other)]
    Other,
}

/// Of `source`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct SourceArguments {
    pub source: Source,
}

/// Of `gotoTargets`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct GotoTargetsArguments {
    pub source: Source,
    pub line: u32,
}

/// Of `completions`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct CompletionsArguments {
    pub text: String,
    /// Where the cursor is in the text, from 1.
    pub column: Option<usize>,
}

/// Of `breakpointLocations`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct BreakpointLocationsArguments {
    pub source: Source,
    pub line: Option<u32>,
    /// The last line; without it, `line` is the only one.
    pub end_line: Option<u32>,
}

/// Of `setBreakpoints`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct SetBreakpointsArguments {
    pub source: Source,
    pub breakpoints: Vec<SourceBreakpoint>,
    /// Lines with breakpoints, as older clients say it.
    pub lines: Vec<u32>,
}

/// When a breakpoint stops the run, and whether it only logs.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct BreakpointConditions {
    pub condition: Option<String>,
    pub hit_condition: Option<String>,
    pub log_message: Option<String>,
}

/// A breakpoint on a line.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct SourceBreakpoint {
    pub line: u32,
    #[serde(flatten)]
    pub conditions: BreakpointConditions,
}

/// Of `setFunctionBreakpoints`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct SetFunctionBreakpointsArguments {
    pub breakpoints: Vec<FunctionBreakpoint>,
}

/// A breakpoint on a process type, or on a pattern.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct FunctionBreakpoint {
    pub name: String,
    #[serde(flatten)]
    pub conditions: BreakpointConditions,
}

/// Of `setDataBreakpoints`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct SetDataBreakpointsArguments {
    pub breakpoints: Vec<DataBreakpoint>,
}

/// A breakpoint on a variable or a channel.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct DataBreakpoint {
    pub data_id: String,
    #[serde(flatten)]
    pub conditions: BreakpointConditions,
}

/// Of `dataBreakpointInfo`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct DataBreakpointInfoArguments {
    /// The scope or variable below which the name stands.
    pub variables_reference: i64,
    pub name: String,
}

/// Of `setExceptionBreakpoints`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct SetExceptionBreakpointsArguments {
    pub filters: Vec<String>,
    /// Filters as newer clients say them.
    pub filter_options: Vec<FilterOption>,
}

/// A filter of errors (`ExceptionFilterOptions`).
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct FilterOption {
    pub filter_id: String,
}
