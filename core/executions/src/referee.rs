//! No execution reaches a person unless the reference interpreter walked it and agrees with how it ends.

use fabius_program::meaning::Fault;
use fabius_program::{Move, Program, Watch};
use fabius_search::executions::{Cycle, End, Execution};
use fabius_witness::{
    Claim, Ending, Outcome, ProcessStatus, State, Trace, confirm_watching, ending, moves, process_statuses, settled,
    step,
};
use std::sync::Arc;

/// An execution without its text: it was walked as well.
#[derive(Clone, Debug)]
pub struct ExecutionOutline {
    /// Its number among all executions, from 0.
    pub number: u128,
    /// Whether a step is faulty.
    pub failed: bool,
    /// How it ends.
    pub end: End,
    /// How many steps it has.
    pub steps: usize,
    /// If it ends in a deadlock: the processes that are stuck.
    pub stuck: Vec<ProcessStatus>,
}

/// Walks executions one after the other; what one begins with as the one before is not walked again.
pub(super) struct Follower<'a> {
    program: &'a Program,
    path: Vec<Move>,
    /// The states before, between and after the steps of the path, each with whether a step before it is faulty.
    states: Vec<(State, bool)>,
}

impl<'a> Follower<'a> {
    /// A walker in the initial state, if there is one.
    pub(super) fn new(program: &'a Program, watch: Watch) -> Self {
        let initial = State::watching(program, watch).ok().map(|state| (state, false));
        Self { program, path: Vec::new(), states: initial.into_iter().collect() }
    }

    /// Walks an execution.
    pub(super) fn follow(&mut self, execution: &Execution<Move, Fault>) -> Result<ExecutionOutline, String> {
        let alike = self.path.iter().zip(&execution.path).take_while(|(a, b)| a == b).count();
        self.path.truncate(alike);
        self.states.truncate(alike + 1);
        let mut broken = None;
        for wanted in &execution.path[alike..] {
            let refused = |why: &str| format!("execution {} is none: {why}: {wanted:?}", execution.number);
            let (state, failed) = self.states.last().ok_or_else(|| refused("there is no initial state"))?;
            if broken.is_some() {
                return Err(refused("it goes on after a runtime error"));
            }
            let outcome = step(self.program, state, *wanted).map_err(|why| refused(&format!("{why:?}")))?.outcome;
            let failed = *failed || outcome.fault().is_some();
            match outcome {
                Outcome::Reaches { state, .. } => {
                    self.states.push((state, failed));
                    self.path.push(*wanted);
                }
                Outcome::Broken { fault, .. } => broken = Some(fault),
            }
        }
        self.outline(execution, broken)
    }

    /// What is told of an execution that was walked, if it ends as claimed.
    fn outline(&self, execution: &Execution<Move, Fault>, broken: Option<Fault>) -> Result<ExecutionOutline, String> {
        let Execution { number, ref path, fault, failed, end } = *execution;
        let last = self.states.last();
        let settle = || last.map(|(state, _)| settled(self.program, state));
        let ends = |wanted: Ending| settle().is_some_and(|state| ending(self.program, &state) == wanted);
        let agrees = match end {
            End::Broken => broken == fault || path.is_empty() && last.is_none(),
            End::Stuck => ends(Ending::Invalid),
            End::Valid => ends(Ending::Valid),
            End::Waiting => settle().is_some_and(|state| only_waits(self.program, &state)),
            End::Cut => true,
        };
        let fails = end == End::Broken || last.is_some_and(|(_, failed)| *failed);
        if !agrees || fails != failed || (end != End::Broken && broken.is_some()) {
            return Err(format!("execution {number} does not end as claimed\npath: {path:?}"));
        }
        let stuck = match settle().filter(|_| end == End::Stuck) {
            Some(state) => process_statuses(self.program, &state).into_iter().filter(|status| !status.end).collect(),
            None => Vec::new(),
        };
        Ok(ExecutionOutline { number, failed, end, steps: path.len(), stuck })
    }
}

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
