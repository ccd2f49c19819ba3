//! The messages of the Debug Adapter Protocol, each a type: answers and events.
//!
//! Names and meanings are those of the [specification](https://microsoft.github.io/debug-adapter-protocol/specification).
//! There is exactly what this adapter sends: fields that it never fills are left out, and a field is optional here if it
//! is sometimes left out.

mod answers;
mod events;
mod messages;
mod own;

pub(crate) use answers::{
    Answer, Breakpoint, BreakpointLocation, Capabilities, CompletionItem, DataBreakpointAccess, DataBreakpointInfo,
    Evaluation, ExceptionBreakMode, ExceptionDetails, ExceptionFilter, ExceptionInfo, Scope, ScopeHint, Source,
    StackFrame, Target, Thread, Variable, VariableHint,
};
pub(crate) use events::{
    Event, InvalidatedArea, Output, OutputCategory, StartMethod, StopReason, Stopped, ThreadReason,
};
pub(crate) use messages::{Message, Response};
pub(crate) use own::{HeldProcesses, Place, Position, ReceivedFrom, SavedRun, TracePage, TraceStep};

/// Whether a field that says yes or no is left out.
fn is_false(value: &bool) -> bool {
    !value
}
