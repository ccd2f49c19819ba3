//! No execution reaches a person unless the reference interpreter walked it and agrees with how it ends.

use fabius_program::meaning::Fault;
use fabius_program::{Move, Program, Watch};
use fabius_search::executions::{Cycle, End, Execution};
use fabius_witness::{Claim, Ending, State, Trace, confirm_watching, ending, moves, settled, step};
use std::sync::Arc;

/// Walks an execution.
pub(super) fn walk(program: &Arc<Program>, watch: Watch, execution: &Execution<Move, Fault>) -> Result<Trace, String> {
    let claim = match (execution.end, execution.fault) {
        (End::Broken, Some(fault)) => Claim::Fault(fault),
        (End::Broken, None) => return Err("an execution ends with an error that is not known".to_owned()),
        (End::Stuck, _) => Claim::InvalidEnd,
        (End::Valid | End::Waiting | End::Cut, _) => Claim::Reaches,
    };
    let path = &execution.path;
    let refused =
        |why: &dyn std::fmt::Display| format!("execution {} is none: {why}\npath: {path:?}", execution.number);
    let trace = confirm_watching(program, watch, path, claim).map_err(|why| refused(&why))?;
    let failed = !trace.steps.faults().is_empty() || execution.end == End::Broken;
    if failed != execution.failed {
        return Err(refused(&"whether a step is faulty is not as claimed"));
    }
    if matches!(execution.end, End::Valid | End::Waiting) {
        let last = last_state(program, watch, path).ok_or_else(|| refused(&"it has no last state"))?;
        let agrees = match execution.end {
            End::Valid => ending(program, &last) == Ending::Valid,
            _ => only_waits(program, &last),
        };
        if !agrees {
            return Err(refused(&"it does not end as claimed"));
        }
    }
    Ok(trace)
}

/// Walks an infinite execution.
pub(super) fn walk_cycle(program: &Arc<Program>, watch: Watch, cycle: &Cycle<Move>) -> Result<Trace, String> {
    let claim = Claim::Cycle { start: cycle.start, shows: fabius_witness::CycleClaim::NOTHING };
    confirm_watching(program, watch, &cycle.path, claim)
        .map_err(|why| format!("an infinite execution is none: {why}\npath: {:?}", cycle.path))
}

fn last_state(program: &Program, watch: Watch, path: &[Move]) -> Option<State> {
    let mut state = State::watching(program, watch).ok()?;
    for wanted in path {
        state = step(program, &state, *wanted).ok()?.outcome.state()?.clone();
    }
    Some(settled(program, &state))
}

/// Whether every step leads back to the same state.
fn only_waits(program: &Program, state: &State) -> bool {
    let steps = moves(program, state).successors;
    let here = state.visible(program);
    !steps.is_empty() && steps.iter().all(|(_, taken)| taken.state().is_some_and(|next| next.visible(program) == here))
}
