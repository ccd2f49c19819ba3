//! What is seen in the reachable states of a document, in the background.

use super::jobs::{Job, memory_max};
use fabius_analysis::Survey;
use fabius_analysis::cost::{Costs, costs};
use fabius_base::{Cancel, Finding, Limits, StopReason};
use fabius_executions::{ExecutionsReport, ExecutionsRequest, NotLearnt, OrderReport, executions, order_of_statements};
use std::time::Duration;

/// A survey looks at this many states.
const SURVEY_STATES_MAX: u64 = 50_000;
/// With what the order of statements matters is only looked for below this many states.
const ORDER_STATES_MAX: u64 = 20_000;

/// Executions are counted without being asked for on graphs with at most this many nodes.
const EXECUTION_NODES_MAX: u64 = 100_000;

/// What was seen in the reachable states.
#[derive(Debug)]
pub struct StateSpaceFindings {
    /// Values, contents, places.
    pub survey: Survey,
    /// What could go better.
    pub hints: Vec<Finding>,
    /// With which statements the order of each statement matters, if all reachable states were seen.
    pub order: Option<OrderReport>,
    /// How many executions there are, if all were counted.
    pub executions: Option<ExecutionsReport>,
    /// What the states are spent on, if all reachable states were seen.
    pub costs: Option<Costs>,
    /// Fabius itself is wrong: what happened.
    pub failure: Option<String>,
}

/// Looks at the reachable states for a while.
pub(super) fn look_around(job: &Job, cancel: &Cancel) -> Option<StateSpaceFindings> {
    let limits = |states_max: u64| Limits {
        states_max: Some(states_max),
        memory_bytes_max: Some(memory_max(job)),
        ..Limits::default()
    };
    let survey = fabius_analysis::survey(&job.loaded, limits(SURVEY_STATES_MAX), cancel)?;
    let hints = fabius_analysis::starvation::hints_about(&job.loaded, cancel);
    if cancel.requested().is_some() {
        return None;
    }
    let few = survey.exhaustive && survey.states < ORDER_STATES_MAX;
    let (order, failure) = match few.then(|| order_of_statements(&job.loaded, limits(ORDER_STATES_MAX), cancel)) {
        Some(Ok(order)) => (Some(order), None),
        Some(Err(NotLearnt::Failed(why))) => (None, Some(why)),
        Some(Err(NotLearnt::Unknown(_))) | None => (None, None),
    };
    // With more states there are more nodes.
    let few = survey.exhaustive && survey.states < EXECUTION_NODES_MAX;
    let counted = if few { counted(job, limits(EXECUTION_NODES_MAX), cancel) } else { Ok(None) };
    let (executions, failure) = match counted {
        Ok(executions) => (executions, failure),
        Err(why) => (None, failure.or(Some(why))),
    };
    let costs = survey.exhaustive.then(|| costs(&job.loaded, limits(SURVEY_STATES_MAX), cancel, cancel)).flatten();
    // If the time is up meanwhile, what was seen before is still there.
    (cancel.requested() != Some(StopReason::Cancelled)).then_some(StateSpaceFindings {
        survey,
        hints,
        order,
        executions,
        costs: costs.filter(|costs| costs.limit.is_none()),
        failure,
    })
}

/// How many executions a model has, if that is known within limits.
fn counted(job: &Job, limits: Limits, cancel: &Cancel) -> Result<Option<ExecutionsReport>, String> {
    let request = ExecutionsRequest { limits, ..ExecutionsRequest::default() };
    let Ok(found) = executions(&job.loaded, &request, cancel, &|| Duration::ZERO) else { return Ok(None) };
    match found.failure {
        Some(why) => Err(why),
        None => Ok(Some(found.report).filter(|report| report.exhaustive && !report.overflow)),
    }
}
