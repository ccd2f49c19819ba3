//! Our own messages, each a type: the requests with their parameters and answers, and the status.
//!
//! `vscode-extension/src/messages.ts` is generated from these types, and the headings of `docs/protocol.md` name their
//! fields; the tests in `typescript` fail when one of the three is changed without the others.

mod coverage;
mod params;
mod searches;
mod status;
mod traces;
#[cfg(test)]
mod typescript;

pub use coverage::{Coverage, CoveredStatement, LineMarks, Lines, Mark, NotExecuted, StepMark};
pub use params::{
    CausesParams, CompareParams, ContextsParams, DrawParams, ExecutionParams, ExecutionTreeParams, ExecutionsParams,
    ExportFormat, ExportParams, LinesParams, MatchesParams, ModelParams, QueueParams, RunParams, SteerParams,
    StepParams, TraceParams, TraceSource, WhyParams,
};
pub use searches::{
    Branch, CauseFound, CauseStatement, CausesFound, Contexts, CountedExecutions, Drawing, ExecutionPage,
    ExecutionTree, Meeting, SpentStates, StatesOfPart, StuckAt, Survivor, Survivors, Swept,
};
pub use status::{Faulty, PropertyState, PropertyStatus, Running, Status, SurveyStatus, Waiting};
pub use traces::{
    Exported, FalsePart, Matches, NamedValue, OriginalText, PlacedProcess, PlacedStep, ProcessState, Ribbon,
    RunsCompared, StateAfter, TraceKind, TracePage,
};
pub use traces::{WaitingStatement, Why};

/// A request of our own.
pub trait Request {
    /// The name of its method.
    const METHOD: &'static str;
    /// What it is about.
    type Params;
    /// What is answered.
    type Answer;
}

/// Makes a type of each request, and for the tests their signatures.
macro_rules! requests {
    ($($(#[$doc:meta])* $name:ident = $method:literal, $params:ty => $answer:ty;)*) => {
        $(
            $(#[$doc])*
            pub enum $name {}

            impl Request for $name {
                const METHOD: &'static str = $method;
                type Params = $params;
                type Answer = $answer;
            }
        )*

        /// The methods of all requests.
        pub const METHODS: &[&str] = &[$($method),*];

        #[cfg(test)]
        fn visit_requests(visitor: &mut impl typescript::Visitor) {
            $(visitor.request::<$name>();)*
        }
    };
}

requests! {
    /// All that is known about a model; `None` if that is nothing.
    Properties = "fabius/properties", ModelParams => Option<Status>;
    /// What is known about each line.
    DescribeLines = "fabius/lines", ModelParams => Option<Lines>;
    /// A page of a trace.
    Trace = "fabius/trace", TraceParams => TracePage;
    /// A run as a text.
    Export = "fabius/export", ExportParams => Exported;
    /// The state after a step.
    Step = "fabius/step", StepParams => StateAfter;
    /// The run that violates a property beside the one before the last save.
    CompareRuns = "fabius/compareRuns", CompareParams => RunsCompared;
    /// The line of the original text from which a line of a generated model comes; `None` if it comes from none, or that file is not there.
    FindOriginal = "fabius/original", LinesParams => Option<OriginalText>;
    /// The client shows a step.
    Select = "fabius/select", StepParams => ();
    /// Where a pattern over the past is true along a run.
    FindMatches = "fabius/matches", MatchesParams => Matches;
    /// Why processes can or cannot continue after a step.
    ExplainWaiting = "fabius/why", WhyParams => Why;
    /// Checks a property again, or all.
    Run = "fabius/run", RunParams => Option<Status>;
    /// Bounds the depth of the searches that run.
    Steer = "fabius/steer", SteerParams => Option<Status>;
    /// Checks a property that waits before the others.
    Prioritize = "fabius/prioritize", QueueParams => Option<Status>;
    /// Stops the check of a model, or of one of its properties.
    Stop = "fabius/stop", QueueParams => Option<Status>;
    /// Looks at the reachable states for coverage.
    Survey = "fabius/survey", ModelParams => Option<Status>;
    /// Whether statements of two lines can be next at once; `None` if the model cannot be read.
    Meet = "fabius/meet", LinesParams => Option<Meeting>;
    /// Counts executions.
    Executions = "fabius/executions", ExecutionsParams => CountedExecutions;
    /// The alternatives at the end of a branch of the tree of choices.
    Alternatives = "fabius/executionTree", ExecutionTreeParams => ExecutionTree;
    /// An execution by its number.
    Execution = "fabius/execution", ExecutionParams => ExecutionPage;
    /// The contexts in which a model goes wrong.
    FindContexts = "fabius/contexts", ContextsParams => Contexts;
    /// Whether the model can deadlock with a process waiting at a line.
    Stuck = "fabius/stuck", LinesParams => StuckAt;
    /// Draws the state graph, or the automata of the processes.
    Draw = "fabius/graph", DrawParams => Drawing;
    /// Which changes of the model no property notices.
    Mutate = "fabius/mutate", ModelParams => Survivors;
    /// The causes of the violations of a property.
    FindCauses = "fabius/causes", CausesParams => CausesFound;
    /// What the states of a model are spent on.
    Cost = "fabius/cost", ModelParams => SpentStates;
    /// What came of the values of macros that the comment at a line names.
    Sweep = "fabius/sweep", LinesParams => Swept;
    /// Ends a sweep; the request that began it is answered with what is known.
    StopSweep = "fabius/stopSweep", LinesParams => ();
}

/// The method of the notification with a [`Status`].
pub const STATUS: &str = "fabius/status";
