//! No execution reaches a person unless the reference interpreter walked it and agrees with how it ends.

use fabius_program::meaning::Fault;
use fabius_program::{Move, Program, Watch};
use fabius_search::executions::{Cycle, End, Execution};
use fabius_witness::{
    Claim, Ending, Outcome, ProcessStatus, State, Trace, confirm_watching, ending, moves, process_statuses, settled,
    step,
};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// An execution without its text: it was walked as well.
#[derive(Clone, PartialEq, Eq, Debug)]
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

/// Maximum number of states that are remembered with the answers about them.
const STATES_MAX: usize = 1 << 15;

/// Walks executions one after the other; what one begins with as the one before is not walked again. The reference interpreter
/// is asked once for each step from each state that is remembered: its answer depends on nothing else.
pub(super) struct Follower<'a> {
    program: &'a Program,
    path: Vec<Move>,
    /// The numbers of the states before, between and after the steps of the path, each with whether a step before it is faulty.
    reached: Vec<(usize, bool)>,
    /// The states that were met, by their numbers.
    visited: Vec<VisitedState>,
    numbers: FxHashMap<Arc<State>, usize>,
    visited_max: usize,
}

/// A state, and what the reference interpreter told of it.
struct VisitedState {
    state: Arc<State>,
    steps: FxHashMap<Move, StepResult>,
    /// How executions end that stop here; `None` if nobody asked.
    stopped: Option<Stopped>,
}

/// Where a step leads.
#[derive(Clone, Copy)]
enum StepResult {
    Reaches { number: usize, fails: bool },
    Broken(Fault),
}

/// How executions end that stop in a state.
struct Stopped {
    ending: Ending,
    only_waits: bool,
    stuck: Vec<ProcessStatus>,
}

impl<'a> Follower<'a> {
    /// A walker in the initial state, if there is one.
    pub(super) fn new(program: &'a Program, watch: Watch) -> Self {
        Self::remembering(program, watch, STATES_MAX)
    }

    /// A walker that remembers at most `visited_max` states beside those of its path.
    pub(super) fn remembering(program: &'a Program, watch: Watch, visited_max: usize) -> Self {
        let (path, reached, visited, numbers) = (Vec::new(), Vec::new(), Vec::new(), FxHashMap::default());
        let mut follower = Self { program, path, reached, visited, numbers, visited_max };
        if let Ok(state) = State::watching(program, watch) {
            let number = follower.number(Arc::new(state));
            follower.reached.push((number, false));
        }
        follower
    }

    /// The number of a state.
    fn number(&mut self, state: Arc<State>) -> usize {
        if let Some(number) = self.numbers.get(&state) {
            return *number;
        }
        self.visited.push(VisitedState { state: Arc::clone(&state), steps: FxHashMap::default(), stopped: None });
        self.numbers.insert(state, self.visited.len() - 1);
        self.visited.len() - 1
    }

    /// Forgets the states that are not on the path, if too many are remembered.
    fn forget(&mut self) {
        if self.visited.len() <= self.visited_max {
            return;
        }
        let visited = std::mem::take(&mut self.visited);
        self.numbers.clear();
        for at in 0..self.reached.len() {
            let number = self.number(Arc::clone(&visited[self.reached[at].0].state));
            self.reached[at].0 = number;
        }
    }

    /// Takes a step from a state.
    fn take(&mut self, from: usize, wanted: Move) -> Result<StepResult, String> {
        let from_state = &self.visited[from];
        if let Some(stepped) = from_state.steps.get(&wanted) {
            return Ok(*stepped);
        }
        let outcome = step(self.program, &from_state.state, wanted).map_err(|why| format!("{why:?}"))?.outcome;
        let fails = outcome.fault().is_some();
        let stepped = match outcome {
            Outcome::Reaches { state, .. } => StepResult::Reaches { number: self.number(Arc::new(state)), fails },
            Outcome::Broken { fault, .. } => StepResult::Broken(fault),
        };
        self.visited[from].steps.insert(wanted, stepped);
        Ok(stepped)
    }

    /// Walks an execution.
    pub(super) fn follow(&mut self, execution: &Execution<Move, Fault>) -> Result<ExecutionOutline, String> {
        let alike = self.path.iter().zip(&execution.path).take_while(|(a, b)| a == b).count();
        self.path.truncate(alike);
        self.reached.truncate(alike + 1);
        self.forget();
        let mut broken = None;
        for wanted in &execution.path[alike..] {
            let refused = |why: &str| format!("execution {} is none: {why}: {wanted:?}", execution.number);
            let (from, failed) = *self.reached.last().ok_or_else(|| refused("there is no initial state"))?;
            if broken.is_some() {
                return Err(refused("it goes on after a runtime error"));
            }
            match self.take(from, *wanted).map_err(|why| refused(&why))? {
                StepResult::Reaches { number, fails } => {
                    self.reached.push((number, failed || fails));
                    self.path.push(*wanted);
                }
                StepResult::Broken(fault) => broken = Some(fault),
            }
        }
        self.outline(execution, broken)
    }

    /// What is told of an execution that was walked, if it ends as claimed.
    fn outline(
        &mut self,
        execution: &Execution<Move, Fault>,
        broken: Option<Fault>,
    ) -> Result<ExecutionOutline, String> {
        let Execution { number, ref path, fault, failed, end } = *execution;
        let last = self.reached.last().copied();
        let stopped = match end {
            End::Stuck | End::Valid | End::Waiting => last.map(|(state, _)| self.stopped(state)),
            End::Broken | End::Cut => None,
        };
        let agrees = match end {
            End::Broken => broken == fault || path.is_empty() && last.is_none(),
            End::Stuck => stopped.is_some_and(|stopped| stopped.ending == Ending::Invalid),
            End::Valid => stopped.is_some_and(|stopped| stopped.ending == Ending::Valid),
            End::Waiting => stopped.is_some_and(|stopped| stopped.only_waits),
            End::Cut => true,
        };
        let fails = end == End::Broken || last.is_some_and(|(_, failed)| failed);
        if !agrees || fails != failed || (end != End::Broken && broken.is_some()) {
            return Err(format!("execution {number} does not end as claimed\npath: {path:?}"));
        }
        let stuck = stopped.filter(|_| end == End::Stuck).map_or_else(Vec::new, |stopped| stopped.stuck.clone());
        Ok(ExecutionOutline { number, failed, end, steps: path.len(), stuck })
    }

    /// How executions end that stop in a state.
    fn stopped(&mut self, number: usize) -> &Stopped {
        let VisitedState { state, stopped, .. } = &mut self.visited[number];
        let program = self.program;
        stopped.get_or_insert_with(|| {
            let state = settled(program, state);
            let ending = ending(program, &state);
            let stuck = match ending {
                Ending::Invalid => process_statuses(program, &state).into_iter().filter(|status| !status.end).collect(),
                _ => Vec::new(),
            };
            Stopped { ending, only_waits: only_waits(program, &state), stuck }
        })
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
