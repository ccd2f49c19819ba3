//! What was found out about executions, as plain data; `docs/schema/executions.schema.json` describes it.

use super::{
    BranchReport, Comparison, Difference, End, Executions, ExecutionsRequest, ListedExecution, Numbers, OrderReport,
    Question, tree,
};
use fabius_program::Move;
use fabius_search::executions::Ended;
use fabius_task::load::Loaded;
use fabius_task::report::{TOOL, VERSION};
use fabius_witness::format::json::{self, ProcessStatusRecord, StepRecord};
use serde::Serialize;

/// The executions of a model. Numbers are decimal strings: they can be greater than 2⁵³.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ExecutionsReport {
    /// The tool's name.
    pub tool: &'static str,
    /// Its version.
    pub version: &'static str,
    /// The model.
    pub file: String,
    /// Executions; absent if there are infinitely many. A lower bound if not exhaustive or if `overflow`.
    pub executions: Option<String>,
    /// Those with a failed assertion or a runtime error.
    pub failing: Option<String>,
    /// Those that end in a deadlock.
    pub stuck: Option<String>,
    /// Those that end well, without a failing step.
    pub ok: Option<String>,
    /// Those that end where processes only wait in a loop for ever.
    pub waiting: Option<String>,
    /// Those that were cut off.
    pub cut: Option<String>,
    /// Interleavings of which these executions are the classes, if they were counted.
    pub interleavings: Option<String>,
    /// States in which executions end, if nothing was cut off. Where processes are told apart by `births`, those that were created
    /// differ only in their type, their location and their variables here, and one that has ended is gone: two such states
    /// are the same if one becomes the other by giving processes that were created other numbers and other parents.
    pub outcomes: Option<String>,
    /// Whether everything was explored, so that the numbers are exact.
    pub exhaustive: bool,
    /// Whether the numbers are too large to be exact.
    pub overflow: bool,
    /// Why not everything was explored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What is counted once: `order` if executions that differ in the order of independent steps are; `order-and-numbers` if
    /// also the numbers of processes, and when one ends that has nothing left to do, make no difference, nor, in
    /// final states, who created whom; else `nothing`.
    pub modulo: &'static str,
    /// How processes are told apart that are created after the start: by `births` or by `numbers`; absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processes: Option<&'static str>,
    /// Why by numbers, if nobody asked for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub numbers_because: Option<&'static str>,
    /// Why every interleaving counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// After how many steps executions are cut off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<u32>,
    /// How often each process may take a step that may close one of its loops.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub laps: Option<u32>,
    /// How they were counted: `graph`, `sleep`, `source` or `optimal`.
    pub by: &'static str,
    /// Which steps are independent: `accords`, `footprints` or `learned`.
    pub independence: &'static str,
    /// Why independence was not learnt, if that was asked for: then it is `accords`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_learnt: Option<String>,
    /// What was learnt, if that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<OrderReport>,
    /// Runs that were given up because what they could go on with was explored before; absent with `graph`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redundant_runs: Option<u64>,
    /// Pairs of a state and a sleep set that were explored; without a table, beginnings of runs.
    pub nodes: u64,
    /// How long counting took.
    pub seconds: f64,
    /// Memory that counting took.
    pub memory_bytes: u64,
    /// An infinite execution.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycle: Option<CycleReport>,
    /// Somebody asked to stop: fewer executions may be listed than were asked for.
    pub list_stopped: bool,
    /// The executions that were asked for.
    pub list: Vec<ExecutionReport>,
    /// The tree of choices, if it was asked for; a branch comes after its parent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<Vec<BranchReport>>,
    /// In what two executions differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comparison: Option<Comparison>,
    /// What distinguishes those that fail, and those that get stuck, from those that end well.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub difference: Vec<Difference>,
    /// Fabius itself is wrong: what happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub internal_error: Option<String>,
}

/// An infinite execution.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CycleReport {
    /// Its steps.
    pub steps: Vec<StepRecord>,
    /// The step, from 1, with which its cycle begins.
    pub loop_start: usize,
}

/// An execution.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ExecutionReport {
    /// Its number among all executions, from 1.
    pub rank: String,
    /// How it ends: `well`, `stuck`, `failed` (with a runtime error), `waiting` or `cut`.
    pub ends: &'static str,
    /// Whether an assertion fails or a runtime error occurs in it.
    pub failed: bool,
    /// Its steps.
    pub steps: Vec<StepRecord>,
    /// Where processes are stuck in the end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stuck: Vec<ProcessStatusRecord>,
}

/// The word for how an execution ends.
pub(super) fn word(end: End) -> &'static str {
    match end {
        End::Valid => "well",
        End::Stuck => "stuck",
        End::Waiting => "waiting",
        End::Cut => "cut",
        End::Broken => "failed",
    }
}

/// What was counted.
pub(super) struct Counted<'a> {
    pub numbers: Numbers,
    pub ended: &'a Ended<Move>,
    pub nodes: u64,
    pub memory_bytes: u64,
    pub outcomes: Option<u64>,
    pub redundant_runs: Option<u64>,
}

/// The report, without a list.
pub(super) fn of(
    loaded: &Loaded,
    request: &ExecutionsRequest,
    question: &Question<'_>,
    counted: &Counted<'_>,
    interleavings: Option<u128>,
    seconds: f64,
) -> ExecutionsReport {
    let numbers = counted.numbers;
    let finite = !matches!(counted.ended, Ended::Cycle(_));
    let number = |of: fn(&Numbers) -> u128| finite.then(|| of(&numbers).to_string());
    ExecutionsReport {
        tool: TOOL,
        version: VERSION,
        file: loaded.name.clone(),
        executions: number(|n| n.all),
        failing: number(|n| n.failing),
        stuck: number(|n| n.stuck),
        ok: number(|n| n.ok),
        waiting: number(|n| n.waiting),
        cut: number(|n| n.cut),
        interleavings: interleavings.map(|number| number.to_string()),
        outcomes: counted.outcomes.map(|number| number.to_string()),
        exhaustive: *counted.ended == Ended::Complete,
        overflow: numbers.overflows(),
        reason: question.reason(counted.ended),
        modulo: match question.why_nothing() {
            Some(_) => "nothing",
            None if question.naming.is_by_birth() => "order-and-numbers",
            None => "order",
        },
        processes: question.naming.word(),
        numbers_because: question.naming.why_numbers(),
        note: question.why_nothing().map(|why| why.because().to_owned()),
        within: request.steps_max,
        laps: request.laps_max,
        by: request.by.word(),
        independence: question.relation().word(),
        not_learnt: None,
        order: None,
        redundant_runs: counted.redundant_runs,
        nodes: counted.nodes,
        seconds,
        memory_bytes: counted.memory_bytes,
        cycle: None,
        list_stopped: false,
        list: Vec::new(),
        tree: None,
        comparison: None,
        difference: Vec::new(),
        internal_error: None,
    }
}

/// Adds to a report what the reference interpreter walked.
pub(super) fn add_listed(found: &mut Executions, loaded: &Loaded) {
    let record = |execution: &ListedExecution| ExecutionReport {
        rank: execution.number.saturating_add(1).to_string(),
        ends: word(execution.end),
        failed: execution.failed,
        steps: json::steps(&execution.trace, &loaded.map),
        stuck: if execution.end == End::Stuck { json::stuck(&execution.trace, &loaded.map) } else { Vec::new() },
    };
    found.report.list = found.listed.iter().map(record).collect();
    found.report.cycle = found.cycle.as_ref().map(|(trace, start)| CycleReport {
        steps: json::steps(trace, &loaded.map),
        loop_start: trace.cycle_start.unwrap_or(start + 1),
    });
    found.report.tree =
        found.tree.as_ref().map(|branches| branches.iter().map(|branch| tree::branch_report(branch, loaded)).collect());
    found.report.internal_error.clone_from(&found.failure);
}
