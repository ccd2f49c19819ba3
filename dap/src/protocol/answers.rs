//! What successful answers say.

use super::own::{HeldProcesses, Position, SavedRun, TracePage};
use serde::{Deserialize, Serialize};

/// The body of a successful answer.
#[derive(Debug, Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub(crate) enum Answer {
    /// That something is done, or begins.
    Done {},
    /// To `initialize`.
    Capabilities(Box<Capabilities>),
    /// To `threads`.
    Threads { threads: Vec<Thread> },
    /// To `stackTrace`: a page of the frames, and how many there are.
    StackTrace { stack_frames: Vec<StackFrame>, total_frames: usize },
    /// To `scopes`.
    Scopes { scopes: Vec<Scope> },
    /// To `variables`.
    Variables { variables: Vec<Variable> },
    /// To `evaluate`.
    Evaluation(Evaluation),
    /// To `exceptionInfo`.
    ExceptionInfo(ExceptionInfo),
    /// To `loadedSources`.
    LoadedSources { sources: Vec<Source> },
    /// To `source`.
    Source { content: String },
    /// To `stepInTargets` and `gotoTargets`.
    Targets { targets: Vec<Target> },
    /// To `completions`.
    Completions { targets: Vec<CompletionItem> },
    /// To `breakpointLocations`.
    BreakpointLocations { breakpoints: Vec<BreakpointLocation> },
    /// To requests that set breakpoints: what became of each, in the same order.
    Breakpoints { breakpoints: Vec<Breakpoint> },
    /// To `dataBreakpointInfo`.
    DataBreakpointInfo(DataBreakpointInfo),
    /// To `continue`.
    Continued { all_threads_continued: bool },
    /// To `goto` and `fabius/jump`.
    Position(Position),
    /// To `fabius/trace`.
    Trace(TracePage),
    /// To `fabius/hold`.
    Held(HeldProcesses),
    /// To `fabius/save`.
    Saved(SavedRun),
}

/// What this adapter can do. The requests, and the fields of requests, that each capability is about are in its name.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Capabilities {
    pub supports_configuration_done_request: bool,
    pub supports_function_breakpoints: bool,
    pub supports_conditional_breakpoints: bool,
    pub supports_hit_conditional_breakpoints: bool,
    pub supports_log_points: bool,
    pub supports_evaluate_for_hovers: bool,
    pub supports_step_back: bool,
    pub supports_step_in_targets_request: bool,
    pub supports_restart_request: bool,
    pub supports_exception_info_request: bool,
    pub supports_terminate_request: bool,
    pub supports_data_breakpoints: bool,
    pub supports_loaded_sources_request: bool,
    pub supports_breakpoint_locations_request: bool,
    pub supports_completions_request: bool,
    pub supports_goto_targets_request: bool,
    /// Characters that open the list of completions in the console.
    pub completion_trigger_characters: &'static [&'static str],
    /// The filters that `setExceptionBreakpoints` knows.
    pub exception_breakpoint_filters: &'static [ExceptionFilter],
}

/// A kind of error at which a run may stop (`ExceptionBreakpointsFilter`).
#[derive(Debug, Serialize)]
pub(crate) struct ExceptionFilter {
    /// Its name in requests.
    pub filter: &'static str,
    /// Its name for the user.
    pub label: &'static str,
    pub description: &'static str,
    /// Whether it is on unless the user says otherwise.
    pub default: bool,
}

/// A thread: a process of the model.
#[derive(Debug, Serialize)]
pub(crate) struct Thread {
    pub id: i64,
    pub name: String,
}

/// A file of the model.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(crate) struct Source {
    /// The short name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

impl Source {
    /// The name of the file in the model: its path, or its short name if that is all there is.
    pub(crate) fn file(&self) -> Option<&str> {
        self.path.as_deref().or(self.name.as_deref())
    }
}

/// A frame of a thread.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StackFrame {
    pub id: i64,
    pub name: String,
    pub source: Source,
    pub line: u32,
    pub column: u32,
    pub end_line: u32,
    pub end_column: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub presentation_hint: Option<FrameHint>,
}

/// How a frame looks.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum FrameHint {
    /// It is not where the process is.
    Subtle,
}

/// A scope of a frame.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Scope {
    pub name: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub presentation_hint: Option<ScopeHint>,
    pub variables_reference: i64,
    /// Whether it takes long to list the variables.
    pub expensive: bool,
}

/// What a scope contains.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum ScopeHint {
    Locals,
}

/// A variable, an element or a field.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Variable {
    pub name: String,
    pub value: String,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub ty: Option<String>,
    pub presentation_hint: VariableHint,
    /// What `evaluate` understands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evaluate_name: Option<String>,
    /// By which `variables` lists its parts; 0 if it has none.
    pub variables_reference: i64,
    /// How many elements it has, if it is an array.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub indexed_variables: Option<usize>,
}

/// How a variable is shown (`VariablePresentationHint`).
#[derive(Debug, Serialize)]
pub(crate) struct VariableHint {
    pub kind: VariableKind,
    pub attributes: Vec<VariableAttribute>,
}

impl VariableHint {
    /// That of data that the last step changed, or did not.
    pub(crate) fn data(is_changed: bool) -> Self {
        let attributes = if is_changed { vec![VariableAttribute::Changed] } else { Vec::new() };
        Self { kind: VariableKind::Data, attributes }
    }
}

/// The kind of a variable.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum VariableKind {
    Data,
}

/// An attribute of a variable. The specification names some; others are allowed.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum VariableAttribute {
    /// Our own: the last step changed it.
    Changed,
}

/// The value of an expression, or what a command of the console says.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Evaluation {
    pub result: String,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub ty: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub presentation_hint: Option<VariableHint>,
    /// By which `variables` lists the parts of the value; 0 if it has none.
    pub variables_reference: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub indexed_variables: Option<usize>,
}

impl Evaluation {
    /// A text without parts.
    pub(crate) fn text(result: String) -> Self {
        Self { result, ..Self::default() }
    }
}

impl From<Variable> for Evaluation {
    fn from(variable: Variable) -> Self {
        let Variable { value, ty, presentation_hint, variables_reference, indexed_variables, .. } = variable;
        Self { result: value, ty, presentation_hint: Some(presentation_hint), variables_reference, indexed_variables }
    }
}

/// What went wrong where a thread has stopped.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExceptionInfo {
    /// The filter that it belongs to.
    pub exception_id: &'static str,
    pub description: String,
    pub break_mode: ExceptionBreakMode,
    pub details: ExceptionDetails,
}

/// When errors of a kind stop a run.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum ExceptionBreakMode {
    Always,
}

/// More about an error.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExceptionDetails {
    pub message: String,
    pub type_name: &'static str,
    pub stack_trace: String,
}

/// A place that can be chosen: a step to take next (`StepInTarget`), or a state to jump to (`GotoTarget`).
#[derive(Debug, Serialize)]
pub(crate) struct Target {
    pub id: usize,
    pub label: String,
    pub line: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
}

/// A text that can be typed in the console.
#[derive(Debug, Serialize)]
pub(crate) struct CompletionItem {
    pub label: String,
    /// What is inserted.
    pub text: String,
}

/// A line that can have a breakpoint.
#[derive(Debug, Serialize)]
pub(crate) struct BreakpointLocation {
    pub line: u32,
}

/// What became of a breakpoint.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Breakpoint {
    pub id: i64,
    /// Whether it is in force.
    pub verified: bool,
    /// Why it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

/// Whether a variable can be watched.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DataBreakpointInfo {
    /// The name by which `setDataBreakpoints` knows it; null if it cannot be watched.
    pub data_id: Option<String>,
    /// What a breakpoint would wait for, or why there can be none.
    pub description: String,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub access_types: &'static [DataBreakpointAccess],
    /// Whether the name outlasts the session.
    #[serde(skip_serializing_if = "super::is_false")]
    pub can_persist: bool,
}

/// What a breakpoint on data waits for.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum DataBreakpointAccess {
    Write,
}
