//! The messages of the Debug Adapter Protocol, each a type: requests, answers and events.
//!
//! Names and meanings are those of the [specification](https://microsoft.github.io/debug-adapter-protocol/specification).
//! There is exactly what this adapter reads and sends: fields that it ignores or never fills are left out, and a field of
//! an answer is optional here if it is sometimes left out.

mod answers;
mod arguments;
mod events;
mod messages;
mod own;
mod requests;
#[cfg(test)]
mod typescript;

pub(crate) use answers::{
    Answer, Breakpoint, BreakpointLocation, Capabilities, CompletionItem, DataBreakpointAccess, DataBreakpointInfo,
    Evaluation, ExceptionBreakMode, ExceptionDetails, ExceptionFilter, ExceptionInfo, FrameHint, Scope, ScopeHint,
    Source, StackFrame, Target, Thread, Variable, VariableHint,
};
pub(crate) use arguments::{
    BreakpointConditions, BreakpointLocationsArguments, CompletionsArguments, DataBreakpoint,
    DataBreakpointInfoArguments, EvaluateArguments, EvaluateContext, FunctionBreakpoint, GotoTargetsArguments,
    InitializeArguments, RestartArguments, ScopesArguments, SetBreakpointsArguments, SetExceptionBreakpointsArguments,
    SourceArguments, SourceBreakpoint, StackTraceArguments, StepInArguments, VariablesArguments,
};
pub(crate) use events::{
    Event, InvalidatedArea, Output, OutputCategory, StartMethod, StopReason, Stopped, ThreadReason,
};
pub(crate) use messages::{Message, Response};
pub(crate) use own::{
    FalsePart, HeldProcesses, HoldParams, Place, Position, ProcessReference, ReceivedFrom, SavedRun, TracePage,
    TraceParams, TraceStep,
};
pub(crate) use requests::Request;

/// Whether a field that says yes or no is left out.
fn is_false(value: &bool) -> bool {
    !value
}
