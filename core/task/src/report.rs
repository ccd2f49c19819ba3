//! What a check found out, as plain data: the contract with scripts and other tools.
//!
//! The keys are described by `docs/schema/report.schema.json`; keys may be added, never renamed.

pub mod ribbon;
pub mod schedule;
mod search;
pub mod vacuity;

use fabius_base::{Finding, SourceMap, Span, StopReason};
use fabius_witness::format::json::{ProcessStatusRecord, StepRecords};
pub use ribbon::RibbonReport;
use schedule::ScheduleReport;
pub use search::{SearchEnd, SearchReport, StrategyReport, WorkerReport};
use serde::{Deserialize, Serialize};
use vacuity::VacuityReport;

/// The name of the tool, as reports carry it.
pub const TOOL: &str = "fabius";
/// Its version.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// How an internal error is told to a person.
pub fn internal_error(what: &str) -> String {
    format!(
        "internal error of {TOOL} {VERSION}: {what}\n\
         This is a bug in {TOOL}, not in your model. Please report it, with the model and these lines."
    )
}

/// What [`PropertyReport::reduction`] says where no state was left out.
pub const OFF: &str = "off";
/// What it says of a search that would be reduced if it was not saved or resumed.
pub const UNREDUCED_TO_BE_SAVED: &str = "Reduction off: a depth-first search that is saved or resumed is not reduced.";
/// What it says where some were.
pub const ON: &str = "on";

/// The answer to a question about a model.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum Verdict {
    /// Yes, and everything was checked.
    Holds,
    /// No: there is a counterexample.
    Violated,
    /// No counterexample was found, but not everything was checked.
    Undecided,
    /// The model cannot be checked.
    Faulty,
}

impl Verdict {
    /// The word for it, in reports of every kind.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Violated => "violated",
            Self::Undecided => "undecided",
            Self::Faulty => "faulty",
        }
    }
}

/// What kind of question a property asks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum PropertyClass {
    /// Something bad never happens.
    Safety,
    /// Something good happens again and again.
    Progress,
    /// No acceptance label is passed again and again.
    Acceptance,
    /// A formula or a claim.
    Ltl,
}

impl PropertyClass {
    /// The word for it in reports and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Safety => "safety",
            Self::Progress => "progress",
            Self::Acceptance => "acceptance",
            Self::Ltl => "ltl",
        }
    }
}

/// What went wrong at the end of a counterexample.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum ViolationClass {
    /// An `assert` failed.
    Assertion,
    /// Nothing can move, and some process is not where it may stop.
    InvalidEndState,
    /// An expression or statement has no result: division by zero, an index outside its array, …
    Evaluation,
    /// A run goes on for ever without progress.
    NonProgressCycle,
    /// A run passes acceptance labels for ever: those of the model, or those of the formula's or claim's automaton.
    AcceptanceCycle,
    /// A run matches a claim to its end; whatever happens afterwards, the formula or claim is violated.
    ClaimCompleted,
    /// A send or a receive that an event trace does not allow.
    Trace,
}

impl ViolationClass {
    /// What it means, as a sentence without its full stop.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Assertion => "an assertion can fail",
            Self::InvalidEndState => "deadlock",
            Self::Evaluation => "runtime error",
            Self::NonProgressCycle => "non-progress cycle",
            Self::AcceptanceCycle => "an infinite run violates it",
            Self::ClaimCompleted => "a finite run violates it",
            Self::Trace => "event trace violated",
        }
    }
}

/// Why a search stopped before it had seen everything.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stopped {
    /// Somebody asked for it.
    Cancelled,
    /// The time allowed was used up.
    Timeout,
    /// The number of states allowed was reached.
    States,
    /// The memory allowed was used up.
    Memory,
    /// What remembers the states can hold no more of them.
    Full,
    /// Runs longer than the depth allowed were cut off.
    Depth,
    /// Runs with more delays than allowed were left out.
    Delays,
    /// A process that took part in the search was lost.
    WorkerLost,
    /// Runs ended in runtime errors, and what would follow them is not known.
    RuntimeErrors,
    /// The first violation was found.
    Violation,
    /// Steps led to states that were to be left out.
    Pruned,
}

impl From<StopReason> for Stopped {
    fn from(reason: StopReason) -> Self {
        match reason {
            StopReason::Cancelled => Self::Cancelled,
            StopReason::Timeout => Self::Timeout,
            StopReason::States => Self::States,
            StopReason::Memory | StopReason::Exhausted => Self::Memory,
            StopReason::Full => Self::Full,
            StopReason::Depth => Self::Depth,
            StopReason::Delays => Self::Delays,
        }
    }
}

/// Everything that a check of one file found out.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Report {
    /// `fabius`.
    pub tool: &'static str,
    /// Its version.
    pub version: &'static str,
    /// The model, as it was named.
    pub file: String,
    /// The answer, over all properties that were asked for.
    pub verdict: Verdict,
    /// Whether the answer rests on every reachable state.
    pub exhaustive: bool,
    /// One sentence that says what the verdict rests on.
    pub reason: String,
    /// What there is to say about the text of the model.
    pub findings: Vec<FindingReport>,
    /// The properties of the model.
    pub properties: Vec<PropertyReport>,
    /// The file in which the project chooses settings, and what of it counted here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectReport>,
    /// Only if Fabius itself is wrong: what happened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub internal_error: Option<String>,
}

/// The settings that come from the file of a project.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct ProjectReport {
    /// The file.
    pub file: String,
    /// Each setting as it is written there, such as `defines = ["N=3"]`.
    pub settings: Vec<String>,
}

/// What a check found out about one property.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PropertyReport {
    /// `safety`, `progress`, `acceptance`, or the name of a formula or claim.
    pub name: String,
    /// What kind of question it asks.
    pub kind: PropertyClass,
    /// The answer.
    pub verdict: Verdict,
    /// The answer that the model says to expect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<Verdict>,
    /// Whether the answer rests on every reachable state.
    pub exhaustive: bool,
    /// States drawn from the visited set after a proof whose steps the reference interpreter listed again, each found in the visited
    /// set and none of them a violation. None if there was no such audit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audited: Option<u64>,
    /// How many threads searched, if several did.
    #[serde(skip)]
    pub threads: usize,
    /// One sentence that says what the verdict rests on.
    pub reason: String,
    /// Why the search stopped early, if it did.
    pub stopped: Option<Stopped>,
    /// How the states were explored: `dfs` or `bfs`; empty if they were not.
    pub search: &'static str,
    /// How the states were remembered: `tree`, `hash` or `bitstate`; empty if they were not.
    pub store: &'static str,
    /// The search that ran, with everything that was asked of it; `None` if there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strategy: Option<StrategyReport>,
    /// `on` if a reduction left out states, `off` if not; with a reason where the model is it.
    pub reduction: String,
    /// States that were stored before the search began anew, with the reduction or with more threads.
    #[serde(skip_serializing_if = "is_zero")]
    pub states_before: u64,
    /// The condition on the states that a depth-first search preferred, once somebody who watched asked for that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub visited_first: Option<String>,
    /// States stored.
    pub states: u64,
    /// Transitions as Spin counts them: states stored and matched together. Where processes slept
    /// ([`fabius_search::sleep`]), not all are taken.
    pub transitions: u64,
    /// Transitions that led to a state already stored.
    pub matched: u64,
    /// Length of the longest run explored, in steps.
    pub depth: u64,
    /// Time the search took.
    pub seconds: f64,
    /// Memory of visited set and stack together.
    pub memory_bytes: u64,
    /// Memory of the visited set per stored state.
    pub bytes_per_state: f64,
    /// What went wrong, once per kind and place.
    pub violations: Vec<ViolationReport>,
    /// How many violations were met in all; more than one only if the search kept going.
    pub violation_count: u64,
    /// Of violations of safety: whether a scheduler can avoid them, and how.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule: Option<Box<ScheduleReport>>,
    /// Of a formula that was proved: which of its parts the model never needs, as far as that was looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vacuity: Option<Box<VacuityReport>>,
    /// The result is that of an earlier run, which ended then (UTC).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached: Option<String>,
    /// Of a search that draws runs: what they were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub samples: Option<Box<SamplesReport>>,
    /// The searches that ran, if there were several: the main search first, then those that had turns in its pauses.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tried: Vec<SearchReport>,
    /// The properties that the same search proved: `states`, `seconds` and the like are those of one search for all of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub together_with: Vec<String>,
    /// The processes that searched together, if there were any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub workers: Vec<WorkerReport>,
}

/// Runs that were drawn at random.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct SamplesReport {
    /// How many, of this part of them.
    pub runs: u64,
    /// At which length they were cut off, in macro steps.
    pub length: u64,
    /// An error that fits the guarantee of the sampler is met in one run with at least this probability.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probability: Option<f64>,
    /// What the model means, as a digest: parts of the same runs have the same.
    pub model: String,
}

/// A counterexample: what goes wrong, where, and the run that leads there.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ViolationReport {
    /// What goes wrong.
    pub kind: ViolationClass,
    /// The same as a sentence.
    pub message: String,
    /// The file in which it goes wrong.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
    /// How often it was met.
    pub count: u64,
    /// Length of the run.
    pub steps: u64,
    /// Whether it is proved that no shorter run does the same. Length is counted in steps of the search: merged statements
    /// are one step and, for safety, so is an atomic sequence; of a loop, one round counts.
    pub shortest: bool,
    /// The run, from the initial state; it may be long, so events and reports share it, and it is told when somebody asks.
    pub trace: StepRecords,
    /// How many steps in the middle of the run are not in `trace`, since it is very long.
    #[serde(skip_serializing_if = "is_zero")]
    pub steps_left_out: u64,
    /// For a run that never ends: the number of the first step of its loop, from 1; one more than there are
    /// steps if nothing moves in the loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loop_start: Option<u64>,
    /// For a run that never ends: what happens in its loop.
    #[serde(rename = "loop", skip_serializing_if = "Option::is_none")]
    pub infinite: Option<LoopReport>,
    /// In a search in the order of delays: who was held back on the way, and where.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delays: Option<Vec<DelayReport>>,
    /// In a search in the order of delays: whether it is known that no run with fewer leads to the same violation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fewest_delays: Option<bool>,
    /// For a run that ends where nothing can move: the processes that wait where they may not stop, and for what.
    pub blocked: Vec<ProcessStatusRecord>,
    /// Of a formula: where it and its parts hold along the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ribbon: Option<Box<RibbonReport>>,
    /// Why, in sentences.
    pub explanation: Vec<String>,
    /// What may be done about it.
    pub advice: Option<String>,
}

/// The loop of a run that never ends.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct LoopReport {
    /// Steps in the loop.
    pub steps: u64,
    /// The strongest fairness that the run satisfies: `none`, `weak` or `strong`.
    pub fairness: &'static str,
    /// What each process does in the loop.
    pub processes: Vec<LoopProcessReport>,
    /// Variables and channels that have the same value all the time.
    pub unchanged: Vec<ValueReport>,
}

/// What a process does in a loop.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct LoopProcessReport {
    /// How it is shown, such as `P[1]`.
    pub name: String,
    /// Its number.
    pub pid: u8,
    /// `moves`, `neglected` (it could always move, and never does), `sometimes_neglected`, `blocked` or `ended`.
    pub role: &'static str,
    /// Why it does not move.
    pub reasons: Vec<String>,
    /// If a run from the loop is known that lets it go on: the process that takes the last step of it.
    pub waits_for: Vec<u8>,
    /// The file it stands in.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
}

/// A variable or channel, and what it holds.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ValueReport {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// A process that was to move, and was held back.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct DelayReport {
    /// Before this step of the run.
    pub step: u64,
    /// The type of the process.
    pub process: String,
    /// Its number.
    pub pid: u8,
    /// The file in which it stood.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
}

/// Something to say about the text of a model.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct FindingReport {
    /// The row of the table of codes, such as `F0201`.
    pub code: &'static str,
    /// `error`, `warning` or `note`.
    pub severity: &'static str,
    /// What is wrong, as a sentence.
    pub message: String,
    /// Where: the file; empty if the finding has no place.
    pub file: String,
    /// The line, from 1; 0 if the finding has no place.
    pub line: u32,
    /// The column in characters, from 1; 0 if the finding has no place.
    pub column: u32,
    /// What to say about that place and about others.
    pub labels: Vec<LabelReport>,
    /// Why.
    pub notes: Vec<String>,
    /// What to do about it.
    pub help: Vec<String>,
    /// Through which macros and inline calls the text came to be, innermost first.
    pub expansions: Vec<ExpansionReport>,
}

/// A place that a finding speaks of.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct LabelReport {
    /// What to say there; may be empty.
    pub message: String,
    /// The file.
    pub file: String,
    /// The first line, from 1.
    pub line: u32,
    /// The first column in characters, from 1.
    pub column: u32,
    /// The last line.
    pub end_line: u32,
    /// One past the last column.
    pub end_column: u32,
}

/// A macro use or an inline call.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ExpansionReport {
    /// `macro` or `inline`.
    pub kind: &'static str,
    /// Its name.
    pub name: String,
    /// The file in which it was used.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
}

impl PropertyReport {
    /// The report of a property that was not looked at.
    pub fn unchecked(name: &str, kind: PropertyClass, reason: &str) -> Self {
        Self {
            name: name.to_owned(),
            kind,
            verdict: Verdict::Undecided,
            expected: None,
            exhaustive: false,
            audited: None,
            threads: 1,
            reason: reason.to_owned(),
            stopped: None,
            search: "",
            store: "",
            strategy: None,
            reduction: OFF.to_owned(),
            states_before: 0,
            visited_first: None,
            states: 0,
            transitions: 0,
            matched: 0,
            depth: 0,
            seconds: 0.0,
            memory_bytes: 0,
            bytes_per_state: 0.0,
            violations: Vec::new(),
            violation_count: 0,
            schedule: None,
            vacuity: None,
            cached: None,
            samples: None,
            tried: Vec::new(),
            together_with: Vec::new(),
            workers: Vec::new(),
        }
    }

    /// Whether the answer is the expected one; `None` if nothing is expected, or nothing is known.
    pub fn is_as_expected(&self) -> Option<bool> {
        let known = matches!(self.verdict, Verdict::Holds | Verdict::Violated);
        self.expected.filter(|_| known).map(|expected| expected == self.verdict)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(value: &u64) -> bool {
    *value == 0
}

impl FindingReport {
    /// The plain data of a finding, with lines and columns instead of offsets.
    pub fn new(map: &SourceMap, finding: &Finding) -> Self {
        let place = finding.span().map(|span| map.position(span));
        Self {
            code: finding.code.as_str(),
            severity: match finding.severity {
                fabius_base::Severity::Error => "error",
                fabius_base::Severity::Warning => "warning",
                fabius_base::Severity::Note => "note",
            },
            message: finding.headline.clone(),
            file: place.as_ref().map(|place| place.file.to_string()).unwrap_or_default(),
            line: place.as_ref().map_or(0, |place| place.line),
            column: place.as_ref().map_or(0, |place| place.column),
            labels: finding.labels.iter().map(|label| LabelReport::new(map, label.span, &label.text)).collect(),
            notes: finding
                .notes
                .iter()
                .cloned()
                .chain(finding.span().and_then(|span| original_note(map, span)))
                .collect(),
            help: finding.help.clone(),
            expansions: finding.span().map(|span| expansions(map, span)).unwrap_or_default(),
        }
    }
}

impl LabelReport {
    fn new(map: &SourceMap, span: Span, text: &str) -> Self {
        let shown = map.user_span(span);
        let (line, column) = map.line_column(shown.file, shown.start);
        let (end_line, end_column) = map.line_column(shown.file, shown.end.max(shown.start));
        let file = map.file(shown.file).name.to_string();
        Self { message: text.to_owned(), file, line, column, end_line, end_column }
    }
}

/// Where generated text comes from, as a sentence without its full stop.
pub fn original_note(map: &SourceMap, span: Span) -> Option<String> {
    map.original(span).map(|original| format!("generated from {original}, as a `#line` directive says"))
}

fn expansions(map: &SourceMap, span: Span) -> Vec<ExpansionReport> {
    let report = |expansion: &fabius_base::Expansion| {
        let (line, column) = map.line_column(expansion.call.file, expansion.call.start);
        ExpansionReport {
            kind: match expansion.kind {
                fabius_base::ExpansionKind::Macro => "macro",
                fabius_base::ExpansionKind::Inline => "inline",
            },
            name: expansion.name.to_string(),
            file: map.file(expansion.call.file).name.to_string(),
            line,
            column,
        }
    };
    map.expansion_chain(span).into_iter().map(report).collect()
}
