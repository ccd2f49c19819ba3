//! The requests, each with its arguments.

use super::arguments::{
    BreakpointLocationsArguments, CompletionsArguments, DataBreakpointInfoArguments, EvaluateArguments, GotoArguments,
    GotoTargetsArguments, InitializeArguments, RestartArguments, ScopesArguments, SetBreakpointsArguments,
    SetDataBreakpointsArguments, SetExceptionBreakpointsArguments, SetFunctionBreakpointsArguments, SourceArguments,
    StackTraceArguments, StepInArguments, ThreadArguments, VariablesArguments,
};
use super::own::{HoldParams, JumpParams, TraceParams};
use crate::launch::Launch;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Makes a variant of each request, and the table from commands to variants.
macro_rules! requests {
    ($($(#[$doc:meta])* $name:ident $(($arguments:ty))? = $command:literal;)*) => {
        /// A request. Where there are no arguments, none that are sent would make a difference.
        #[derive(Debug)]
        pub(crate) enum Request {
            $($(#[$doc])* $name $(($arguments))?,)*
            /// None of those above.
            Unknown,
        }

        impl Request {
            /// The request with a command.
            ///
            /// # Errors
            /// If the arguments are not those of the command.
            pub(crate) fn read(command: &str, arguments: Value) -> Result<Self, String> {
                Ok(match command {
                    $($command => Self::$name $((understood::<$arguments>(arguments)?))?,)*
                    _ => Self::Unknown,
                })
            }
        }
    };
}

requests! {
    // The session.
    Initialize(InitializeArguments) = "initialize";
    Launch(Launch) = "launch";
    Restart(RestartArguments) = "restart";
    Attach = "attach";
    Cancel = "cancel";
    ConfigurationDone = "configurationDone";
    Terminate = "terminate";
    Disconnect = "disconnect";
    // What can be seen.
    Threads = "threads";
    StackTrace(StackTraceArguments) = "stackTrace";
    Scopes(ScopesArguments) = "scopes";
    Variables(VariablesArguments) = "variables";
    Evaluate(EvaluateArguments) = "evaluate";
    SetVariable = "setVariable";
    SetExpression = "setExpression";
    ExceptionInfo = "exceptionInfo";
    LoadedSources = "loadedSources";
    Source(SourceArguments) = "source";
    StepInTargets = "stepInTargets";
    GotoTargets(GotoTargetsArguments) = "gotoTargets";
    Completions(CompletionsArguments) = "completions";
    // Breakpoints.
    BreakpointLocations(BreakpointLocationsArguments) = "breakpointLocations";
    SetBreakpoints(SetBreakpointsArguments) = "setBreakpoints";
    SetFunctionBreakpoints(SetFunctionBreakpointsArguments) = "setFunctionBreakpoints";
    SetDataBreakpoints(SetDataBreakpointsArguments) = "setDataBreakpoints";
    DataBreakpointInfo(DataBreakpointInfoArguments) = "dataBreakpointInfo";
    SetExceptionBreakpoints(SetExceptionBreakpointsArguments) = "setExceptionBreakpoints";
    // Moves.
    Continue = "continue";
    ReverseContinue = "reverseContinue";
    Next(ThreadArguments) = "next";
    StepIn(StepInArguments) = "stepIn";
    StepOut(ThreadArguments) = "stepOut";
    StepBack = "stepBack";
    Goto(GotoArguments) = "goto";
    Pause(ThreadArguments) = "pause";
    // Our own.
    Trace(TraceParams) = "fabius/trace";
    Jump(JumpParams) = "fabius/jump";
    Hold(HoldParams) = "fabius/hold";
    Save = "fabius/save";
}

impl Request {
    /// Whether it is answered while the model runs, too.
    pub(crate) fn is_answered_while_running(&self) -> bool {
        matches!(
            self,
            Self::Threads
                | Self::LoadedSources
                | Self::Source(_)
                | Self::SetVariable
                | Self::SetExpression
                | Self::BreakpointLocations(_)
                | Self::SetBreakpoints(_)
                | Self::SetFunctionBreakpoints(_)
                | Self::SetDataBreakpoints(_)
                | Self::SetExceptionBreakpoints(_)
                | Self::Hold(_)
        )
    }
}

/// The arguments of a request; without any, all that can be left out is.
fn understood<T: Default + DeserializeOwned>(arguments: Value) -> Result<T, String> {
    match arguments {
        Value::Null => Ok(T::default()),
        given => serde_json::from_value(given).map_err(|error| format!("the arguments cannot be understood: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::arguments::EvaluateContext;
    use super::*;
    use serde_json::json;

    #[test]
    fn arguments_may_be_missing_but_not_wrong() {
        assert!(matches!(Request::read("threads", json!(7)), Ok(Request::Threads)));
        assert!(matches!(Request::read("burn", json!([])), Ok(Request::Unknown)));
        let Ok(Request::StackTrace(none)) = Request::read("stackTrace", Value::Null) else { panic!("no request") };
        assert_eq!((none.thread_id, none.start_frame, none.levels), (None, 0, 0));
        let why = Request::read("stackTrace", json!({ "threadId": 1.5 })).expect_err("a thread has a whole number");
        assert!(why.starts_with("the arguments cannot be understood: ") && why.contains("1.5"), "{why}");
        let why = Request::read("fabius/hold", json!({ "process": [] })).expect_err("a list is no process");
        assert!(why.contains("a number or a name such as P[1]"), "{why}");
    }

    #[test]
    fn fields_are_those_of_the_protocol() {
        let given = json!({ "line": 3, "hitCondition": "> 2", "logMessage": "x", "mode": "fast" });
        let given = json!({ "breakpoints": [given], "source": { "path": "/m.pml" }, "sourceModified": false });
        let Ok(Request::SetBreakpoints(set)) = Request::read("setBreakpoints", given) else { panic!("no request") };
        let point = &set.breakpoints[0];
        assert_eq!((point.line, set.source.file()), (3, Some("/m.pml")));
        assert_eq!(point.conditions.hit_condition.as_deref(), Some("> 2"));
        assert_eq!(point.conditions.log_message.as_deref(), Some("x"));
        let context = |context: &str| {
            let request = Request::read("evaluate", json!({ "expression": "x", "context": context }));
            let Ok(Request::Evaluate(arguments)) = request else { panic!("no request") };
            arguments.context
        };
        let known = ["repl", "hover", "clipboard"].map(context);
        assert_eq!(known, [EvaluateContext::Repl, EvaluateContext::Hover, EvaluateContext::Other]);
    }
}
