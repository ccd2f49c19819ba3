//! The reference interpreter: which steps are possible in a state, and where they lead.
//!
//! It follows [`fabius_program::meaning`] sentence by sentence and is written to be read; nothing in
//! here is done for speed. It is the second pair of eyes for the machine that searches.

mod evaluator;

pub(crate) use evaluator::{Executable, StepEvaluator};

use crate::evaluate::is_anybody_at;
use crate::execute::Event;
use crate::state::{CLAIM, NextMover, State, TraceState};
use fabius_base::Span;
use fabius_program::{CLAIM_PID, EdgeId, Location, Move, Program, ProgressOn, StepMarks, Watch, meaning::Fault};

/// Where a step leads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// To a state.
    Reaches {
        /// The state.
        state: State,
        /// What happened on the way.
        events: Vec<Event>,
        /// An assertion failed on the way.
        assertion_failed: bool,
    },
    /// Nowhere.
    Broken {
        /// Why.
        fault: Fault,
        /// The part of a `d_step` that cannot be computed.
        inside: Option<Span>,
    },
}

impl Outcome {
    /// What is wrong with the step, if anything is.
    pub fn fault(&self) -> Option<Fault> {
        match self {
            Self::Reaches { assertion_failed, .. } => assertion_failed.then_some(Fault::AssertionFailed),
            Self::Broken { fault, .. } => Some(*fault),
        }
    }

    /// The state it leads to.
    pub fn state(&self) -> Option<&State> {
        match self {
            Self::Reaches { state, .. } => Some(state),
            Self::Broken { .. } => None,
        }
    }
}

/// What may happen next in a state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Moves {
    /// Every possible step and where it leads, in the order in which a search explores them.
    pub successors: Vec<(Move, Outcome)>,
    /// What is known of the state.
    pub ending: Ending,
    /// The steps are possible because nothing else is.
    pub timeout: bool,
}

/// What is known of a state once all its steps are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// It has successors.
    Moves,
    /// The process that holds control cannot move and loses it: the state [`released`] follows
    /// without a step.
    LosesControl,
    /// The system has stopped, and the claim that is watched goes on: the state [`stuttered`] follows without a
    /// step.
    Stutters,
    /// It has none, and may stop there; or it is the turn of a claim that cannot move.
    Valid,
    /// It has none, and may not stop there.
    Invalid,
}

/// Why a step is not possible.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// There is no such process.
    NoProcess,
    /// The edge does not start where the process is.
    Elsewhere,
    /// Another process holds control and can move.
    ControlHeld(u8),
    /// It is the turn of the claim, or not.
    NotItsTurn,
    /// The edge is not executable, or not with this partner.
    NotExecutable,
}

/// All steps from a state, in the defined order.
pub fn moves(program: &Program, state: &State) -> Moves {
    if state.is_claims_turn() {
        return moves_of_claim(program, state);
    }
    if let Some(holder) = state.holder {
        let successors = StepEvaluator::ordinary(program, state).steps_of(usize::from(holder));
        let ending = if successors.is_empty() { Ending::LosesControl } else { Ending::Moves };
        return Moves { successors, ending, timeout: false };
    }
    for timeout in [false, true] {
        let trial = StepEvaluator::asking(program, state, timeout, &[]);
        let successors: Vec<_> = (0..state.processes.len()).rev().flat_map(|pid| trial.steps_of(pid)).collect();
        if !successors.is_empty() {
            return Moves { successors, ending: Ending::Moves, timeout };
        }
    }
    Moves { successors: Vec::new(), ending: end(program, state), timeout: false }
}

/// All steps of the claim that is watched, in its turn.
fn moves_of_claim(program: &Program, state: &State) -> Moves {
    let successors = StepEvaluator::of_claim(program, state).executable_edges(CLAIM);
    let ending = if successors.is_empty() { Ending::Valid } else { Ending::Moves };
    Moves { successors, ending, timeout: false }
}

/// What is known of a state without successors, in the system's turn.
fn end(program: &Program, state: &State) -> Ending {
    match may_stop(program, state) {
        _ if state.claim.is_some() => Ending::Stutters,
        true => Ending::Valid,
        false => Ending::Invalid,
    }
}

/// The processes that have a step in a state in which nobody holds control, the smallest number first. A
/// process that can only be the receiver of a rendezvous is not among them.
pub fn enabled(program: &Program, state: &State) -> Vec<u8> {
    let state = in_systems_turn(state);
    for timeout in [false, true] {
        let trial = StepEvaluator::asking(program, &state, timeout, &[]);
        let may_move = |pid: &usize| trial.provided(*pid) == Ok(true) && !trial.steps_of(*pid).is_empty();
        let found: Vec<u8> = (0..state.processes.len()).filter(may_move).map(|pid| pid as u8).collect();
        if !found.is_empty() {
            return found;
        }
    }
    Vec::new()
}

/// What a step means to someone who looks for cycles, by the state that it leads to; `None` for a step that
/// is none, where control is lost or the system stutters.
pub fn marks(program: &Program, watch: Watch, step: Option<Move>, reached: &State) -> StepMarks {
    let is_transient = reached.holder.is_some() || step.is_some_and(|step| step.pid == CLAIM_PID);
    let leads_to = |kind: fn(&Location) -> bool| !is_transient && is_anybody_at(program, reached, kind);
    let leaves = |edge: EdgeId| {
        let edge = program.edge(edge);
        program.process(edge.process).locations[edge.source.0 as usize].progress
    };
    StepMarks {
        accepting: watch.acceptance && leads_to(|location| location.accept),
        progress: match watch.progress {
            None => false,
            Some(ProgressOn::States) => leads_to(|location| location.progress),
            Some(ProgressOn::Transitions) => {
                step.is_some_and(|step| leaves(step.edge) || step.partner.is_some_and(|(_, edge)| leaves(edge)))
            }
        },
    }
}

/// Whether a state in which nothing can move is accepted for ever: there is an accepting change without a step
/// that leads back to it.
pub fn stops_accepting(program: &Program, watch: Watch, state: &State) -> bool {
    let stops = || matches!(ending(program, state), Ending::Valid | Ending::Invalid);
    watch.acceptance && state.claim.is_none() && is_anybody_at(program, state, |location| location.accept) && stops()
}

/// A step that was taken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Taken {
    /// Where it leads.
    pub outcome: Outcome,
    /// The process that held control before and lost it because it could not move.
    pub lost_control: Option<u8>,
    /// The system had stopped: the claim goes on alone.
    pub stuttered: bool,
    /// The step was possible only because nothing else was.
    pub timeout: bool,
}

/// Takes one step from a state. If the process that holds control cannot move, it has lost control
/// before; if the system has stopped, it has stuttered.
///
/// # Errors
/// Why the step is not possible.
pub fn step(program: &Program, state: &State, wanted: Move) -> Result<Taken, Refusal> {
    if wanted.pid == CLAIM_PID {
        return step_of_claim(program, state, wanted);
    }
    if state.is_claims_turn() {
        return Err(Refusal::NotItsTurn);
    }
    let process = state.processes.get(usize::from(wanted.pid)).ok_or(Refusal::NoProcess)?;
    let location = &program.process(process.process).locations[process.location.0 as usize];
    if !location.edges.contains(&wanted.edge.0) {
        return Err(Refusal::Elsewhere);
    }
    let Some(holder) = state.holder else { return step_of_any(program, state, wanted) };
    let ordinary = StepEvaluator::ordinary(program, state);
    if holder == wanted.pid
        && let Ok(outcome) = pick(ordinary.steps_towards(wanted), wanted)
    {
        return Ok(Taken::of(outcome));
    }
    if ordinary.steps_of(usize::from(holder)).is_empty() {
        if state.claim.is_some() {
            return Err(Refusal::NotItsTurn);
        }
        let taken = step_of_any(program, &released(state), wanted)?;
        Ok(Taken { lost_control: Some(holder), ..taken })
    } else if holder == wanted.pid {
        Err(Refusal::NotExecutable)
    } else {
        Err(Refusal::ControlHeld(holder))
    }
}

/// Takes one step from a state in which nobody holds control.
fn step_of_any(program: &Program, state: &State, wanted: Move) -> Result<Taken, Refusal> {
    let ordinary = StepEvaluator::ordinary(program, state);
    let found = pick(ordinary.steps_towards(wanted), wanted);
    if found.is_ok() || ordinary.something_moves() {
        return Ok(Taken::of(found?));
    }
    let last_resort = StepEvaluator::asking(program, state, true, &[]).steps_of(usize::from(wanted.pid));
    Ok(Taken { timeout: true, ..Taken::of(pick(last_resort, wanted)?) })
}

/// Takes one step of the claim, after whatever had to pass the turn to it without a step.
fn step_of_claim(program: &Program, state: &State, wanted: Move) -> Result<Taken, Refusal> {
    let ready = settled(program, state);
    let Some(claim) = ready.claim.as_ref().filter(|_| ready.is_claims_turn()) else {
        return Err(Refusal::NotItsTurn);
    };
    let location = &program.process(claim.process).locations[claim.location.0 as usize];
    if !location.edges.contains(&wanted.edge.0) {
        return Err(Refusal::Elsewhere);
    }
    let outcome = pick(moves_of_claim(program, &ready).successors, wanted)?;
    let lost_control = state.holder.filter(|_| ready.holder.is_none());
    let stuttered = lost_control.is_none() && !state.is_claims_turn();
    Ok(Taken { outcome, lost_control, stuttered, timeout: false })
}

impl Taken {
    /// A step without anything unusual before it.
    fn of(outcome: Outcome) -> Self {
        Self { outcome, lost_control: None, stuttered: false, timeout: false }
    }
}

fn pick(steps: Vec<(Move, Outcome)>, wanted: Move) -> Result<Outcome, Refusal> {
    let found = steps.into_iter().find(|(step, _)| *step == wanted);
    found.map(|(_, outcome)| outcome).ok_or(Refusal::NotExecutable)
}

/// What is known of a state: whether it has successors, and if not, whether it may stop there.
pub fn ending(program: &Program, state: &State) -> Ending {
    if state.is_claims_turn() {
        return moves_of_claim(program, state).ending;
    }
    if let Some(holder) = state.holder {
        let moves = !StepEvaluator::ordinary(program, state).steps_of(usize::from(holder)).is_empty();
        return if moves { Ending::Moves } else { Ending::LosesControl };
    }
    let moves =
        [false, true].iter().any(|&timeout| StepEvaluator::asking(program, state, timeout, &[]).something_moves());
    if moves { Ending::Moves } else { end(program, state) }
}

/// The state that follows without a step: with nobody holding control if the process that does cannot move,
/// in the claim's turn if the system has stopped. Else the same.
#[must_use]
pub fn settled(program: &Program, state: &State) -> State {
    match ending(program, state) {
        Ending::LosesControl => released(state),
        Ending::Stutters => stuttered(program, state),
        _ => state.clone(),
    }
}

/// The same state with nobody holding control.
#[must_use]
pub fn released(state: &State) -> State {
    let mut state = State { holder: None, ..state.clone() };
    pass_turn(&mut state, NextMover::Claim);
    state
}

/// The same state in the turn of its claim, because the system has stopped.
#[must_use]
pub fn stuttered(program: &Program, state: &State) -> State {
    let mut state = state.clone();
    pass_turn(&mut state, if program.uses.non_progress { NextMover::Stuttered } else { NextMover::Claim });
    state
}

/// The same state as the processes see it in their turn.
fn in_systems_turn(state: &State) -> State {
    let mut state = state.clone();
    pass_turn(&mut state, NextMover::System);
    state
}

fn pass_turn(state: &mut State, turn: NextMover) {
    if let Some(claim) = &mut state.claim {
        claim.turn = turn;
    }
}

/// Whether every process is where it may stop, and the event trace too if a process is left.
fn may_stop(program: &Program, state: &State) -> bool {
    let trace = state.trace.as_ref().filter(|_| !state.processes.is_empty());
    let at_end = |trace: &TraceState| program.process(trace.process).locations[trace.location.0 as usize].end;
    trace.is_none_or(at_end)
        && state.processes.iter().all(|p| program.process(p.process).locations[p.location.0 as usize].end)
}
