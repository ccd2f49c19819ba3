//! What the adapter tells by itself.

use super::answers::Source;
use super::own::Place;
use serde::Serialize;

/// An event: its name and its body.
#[derive(Debug, Serialize)]
#[serde(tag = "event", content = "body", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(crate) enum Event {
    /// Breakpoints can be set now.
    Initialized {},
    /// The session has ended.
    Terminated {},
    /// A model is debugged.
    Process { name: String, start_method: StartMethod, is_local_process: bool },
    /// Everything stands still.
    Stopped(Stopped),
    /// A thread has begun or ended.
    Thread { reason: ThreadReason, thread_id: i64 },
    /// Something to be read.
    Output(Output),
    /// What a client has asked for is no longer so.
    Invalidated { areas: Vec<InvalidatedArea> },
    /// Where everything stands still.
    #[serde(rename = "fabius/at")]
    At(Place),
}

/// How a model came to be debugged.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum StartMethod {
    Launch,
}

/// Everything stands still: why, and which thread to look at.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Stopped {
    pub reason: StopReason,
    /// The reason in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    pub thread_id: i64,
    /// More about the reason, such as the error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    pub all_threads_stopped: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hit_breakpoint_ids: Vec<i64>,
}

/// Why everything stands still.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum StopReason {
    Step,
    Breakpoint,
    Exception,
    Pause,
    Entry,
    Goto,
    #[serde(rename = "function breakpoint")]
    FunctionBreakpoint,
    #[serde(rename = "data breakpoint")]
    DataBreakpoint,
}

/// What became of a thread.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum ThreadReason {
    Started,
    Exited,
}

/// A text, and the place that it belongs to.
#[derive(Debug, Serialize)]
pub(crate) struct Output {
    pub category: OutputCategory,
    pub output: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
}

/// Where a text is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum OutputCategory {
    /// In the console.
    Console,
    /// Where the user notices it.
    Important,
    /// In the console, as what the model prints.
    Stdout,
}

/// What is no longer so.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum InvalidatedArea {
    Threads,
}
