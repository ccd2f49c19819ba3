//! The reference interpreter: which steps are possible in a state, and where they lead.
//!
//! It follows [`fabius_program::meaning`] sentence by sentence and is written to be read; nothing in
//! here is done for speed. It is the second pair of eyes for the machine that searches.

use fabius_base::Span;
use fabius_program::{
    Action, CLAIM_PID, Edge, EdgeId, Location, Move, Program, ProgressOn, Receive, StepMarks, Watch, meaning::Fault,
};

use crate::evaluate::{Evaluation, is_anybody_at};
use crate::execute::{Event, Execution, Offer};
use crate::state::{CLAIM, State, TraceState, Turn};

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
    let steps = StepEvaluator::ordinary(program, state).steps_of(usize::from(holder));
    if steps.is_empty() {
        if state.claim.is_some() {
            return Err(Refusal::NotItsTurn);
        }
        let taken = step_of_any(program, &released(state), wanted)?;
        Ok(Taken { lost_control: Some(holder), ..taken })
    } else if holder == wanted.pid {
        Ok(Taken::of(pick(steps, wanted)?))
    } else {
        Err(Refusal::ControlHeld(holder))
    }
}

/// Takes one step from a state in which nobody holds control.
fn step_of_any(program: &Program, state: &State, wanted: Move) -> Result<Taken, Refusal> {
    let ordinary = StepEvaluator::ordinary(program, state);
    let found = pick(ordinary.steps_of(usize::from(wanted.pid)), wanted);
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
    pass_turn(&mut state, Turn::Claim);
    state
}

/// The same state in the turn of its claim, because the system has stopped.
#[must_use]
pub fn stuttered(program: &Program, state: &State) -> State {
    let mut state = state.clone();
    pass_turn(&mut state, if program.uses.non_progress { Turn::Stuttered } else { Turn::Claim });
    state
}

/// The same state as the processes see it in their turn.
fn in_systems_turn(state: &State) -> State {
    let mut state = state.clone();
    pass_turn(&mut state, Turn::System);
    state
}

fn pass_turn(state: &mut State, turn: Turn) {
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

/// An attempt to find steps of processes in one state.
pub(crate) struct StepEvaluator<'a> {
    program: &'a Program,
    state: &'a State,
    /// The value of `Timeout`.
    timeout: bool,
    /// The processes on whose behalf is asked if others are enabled.
    asked: Vec<usize>,
}

impl<'a> StepEvaluator<'a> {
    /// A trial in which nothing has timed out.
    pub(crate) fn ordinary(program: &'a Program, state: &'a State) -> Self {
        Self::asking(program, state, false, &[])
    }

    /// A trial of a claim's edges.
    fn of_claim(program: &'a Program, state: &'a State) -> Self {
        let system = in_systems_turn(state);
        let timeout = program.uses.timeout && !StepEvaluator::ordinary(program, &system).something_moves();
        Self::asking(program, state, timeout, &[])
    }

    /// A trial on behalf of some processes' questions.
    pub(crate) fn asking(program: &'a Program, state: &'a State, timeout: bool, asked: &[usize]) -> Self {
        Self { program, state, timeout, asked: asked.to_vec() }
    }

    /// Every step of a process, unless something else keeps it from moving.
    pub(crate) fn steps_of(&self, pid: usize) -> Vec<(Move, Outcome)> {
        match self.provided(pid) {
            Ok(true) if self.outranked(pid) => Vec::new(),
            Ok(true) => self.executable_edges(pid),
            Ok(false) => Vec::new(),
            Err(fault) => self.broken_first_edge(pid, fault),
        }
    }

    /// Whether a process could make a step if it were its turn.
    pub(crate) fn enabled(&self, pid: usize) -> bool {
        self.provided(pid) == Ok(true) && !self.executable_edges(pid).is_empty()
    }

    /// Whether any process can move.
    pub(crate) fn something_moves(&self) -> bool {
        (0..self.state.processes.len()).rev().any(|pid| !self.steps_of(pid).is_empty())
    }

    /// The value of the process's `provided`.
    pub(crate) fn provided(&self, pid: usize) -> Result<bool, Fault> {
        let process = self.program.process(self.state.processes[pid].process);
        process.provided.as_ref().map_or(Ok(true), |condition| Ok(self.evaluation(pid).value(condition)? != 0))
    }

    /// Whether a process of higher priority keeps this one from moving.
    pub(crate) fn outranked(&self, pid: usize) -> bool {
        let processes = &self.state.processes;
        let higher = |other: &usize| processes[pid].priority < processes[*other].priority;
        self.program.uses.priority && (0..processes.len()).filter(higher).any(|other| self.enabled(other))
    }

    /// Whether an action is executable by itself. A send on a rendezvous channel counts as
    /// executable: whether it is depends on the partners. `else_holds`: what an `Else` is.
    pub(crate) fn executable(&self, pid: usize, action: &Action, else_holds: bool) -> Result<bool, Fault> {
        let mut evaluation = self.evaluation(pid);
        match action {
            Action::Skip | Action::Assign(..) | Action::Assert(_) | Action::Print(_) | Action::SetPriority(..) => {
                Ok(true)
            }
            Action::Else => Ok(else_holds),
            Action::Guard(expr) => Ok(evaluation.value(expr)? != 0),
            Action::Send(send) => {
                let channel = evaluation.channel(&send.channel)?;
                let capacity = evaluation.channel_type(channel).capacity as usize;
                if capacity > 0 && self.state.channels[channel].messages.len() >= capacity {
                    return Ok(false);
                }
                evaluation.check_field_count(channel, send.fields.len())?;
                Ok(true)
            }
            Action::Receive(receive) => {
                let channel = evaluation.channel(&receive.channel)?;
                if evaluation.channel_type(channel).capacity == 0 {
                    return if receive.keep { Err(Fault::PollOnRendezvous) } else { Ok(false) };
                }
                Ok(evaluation.find_to_receive(channel, receive)?.is_some())
            }
            Action::End => Ok(pid + 1 == self.state.processes.len()),
            Action::Merged(actions) => actions.first().map_or(Ok(true), |a| self.executable(pid, a, else_holds)),
            Action::Block(block) => {
                for (index, option) in block.nodes[0].options.iter().enumerate() {
                    if self.executable(pid, &option.action, else_holds || 0 < index)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
        }
    }

    /// Whether an action is a send on a rendezvous channel.
    pub(crate) fn is_rendezvous(&self, pid: usize, action: &Action) -> Result<bool, Fault> {
        let Action::Send(send) = action else { return Ok(false) };
        let mut evaluation = self.evaluation(pid);
        let channel = evaluation.channel(&send.channel)?;
        Ok(evaluation.channel_type(channel).capacity == 0)
    }

    fn evaluation(&self, pid: usize) -> Evaluation<'a> {
        Evaluation::within(self.program, self.state, pid, self.timeout, &self.asked)
    }

    /// The edges that leave the location of a process, in order.
    fn edges_of(&self, state: &State, pid: usize) -> impl Iterator<Item = (EdgeId, &'a Edge)> + use<'a> {
        let (process, location) = state.whereabouts(pid);
        let location = &self.program.process(process).locations[location.0 as usize];
        self.program.edges_of(location)
    }

    fn action(&self, edge: EdgeId) -> &'a Action {
        &self.program.statement(self.program.process_of(edge), edge).action
    }

    fn broken_first_edge(&self, pid: usize, fault: Fault) -> Vec<(Move, Outcome)> {
        let first = self.edges_of(self.state, pid).next();
        first.map(|(edge, _)| (Move { pid: pid as u8, edge, partner: None }, broken(fault))).into_iter().collect()
    }

    /// The steps that the edges of a process's location make possible.
    fn executable_edges(&self, pid: usize) -> Vec<(Move, Outcome)> {
        let deterministic = self.program.process(self.state.whereabouts(pid).0).deterministic;
        let mut found = Vec::new();
        let mut escape = 0;
        for (id, edge) in self.edges_of(self.state, pid) {
            if escape != 0 && escape != edge.escape {
                break;
            }
            let mut steps = self.steps_along(pid, id, found.is_empty());
            if steps.is_empty() {
                continue;
            }
            if deterministic && !found.is_empty() {
                steps = vec![(steps[0].0, broken(Fault::NotDeterministic))];
            }
            escape = edge.escape;
            found.append(&mut steps);
        }
        found
    }

    /// The steps along one edge: one for each partner if it is a rendezvous.
    fn steps_along(&self, pid: usize, edge: EdgeId, else_holds: bool) -> Vec<(Move, Outcome)> {
        for start in 0..starts(self.action(edge)) {
            match self.steps_from(pid, edge, start, else_holds) {
                Ok(steps) if steps.is_empty() => {}
                Ok(steps) => return steps,
                Err(fault) => return vec![(Move { pid: pid as u8, edge, partner: None }, broken(fault))],
            }
        }
        Vec::new()
    }

    /// The steps along one edge, if its action starts in a certain way.
    fn steps_from(
        &self,
        pid: usize,
        edge: EdgeId,
        start: usize,
        else_holds: bool,
    ) -> Result<Vec<(Move, Outcome)>, Fault> {
        let action = self.action(edge);
        let else_holds = else_holds || 0 < start;
        if !self.executable(pid, first_action(action, start), else_holds)? {
            return Ok(Vec::new());
        }
        let mut execution = Execution::new(self.program, self.state, pid, self.timeout);
        if let Err(fault) = execution.perform(action, start) {
            let outcome = Outcome::Broken { fault, inside: execution.inside };
            return Ok(vec![(Move { pid: pid as u8, edge, partner: None }, outcome)]);
        }
        let offer = execution.offered.take();
        let edge_data = self.program.edge(edge);
        if pid == CLAIM {
            execution.arrive_as_claim(edge_data);
            return Ok(vec![(Move { pid: CLAIM_PID, edge, partner: None }, self.unless_complete(reached(execution)))]);
        }
        execution.arrive(edge_data, edge_data.atomic && offer.is_none());
        match offer {
            None => Ok(vec![(Move { pid: pid as u8, edge, partner: None }, reached(execution))]),
            Some(offer) => Ok(self.rendezvous(pid, edge, &execution, &offer)),
        }
    }

    /// The outcome of a claim's step, unless it completes the claim.
    fn unless_complete(&self, outcome: Outcome) -> Outcome {
        let complete = outcome.state().is_some_and(|state| {
            let (process, location) = state.whereabouts(CLAIM);
            self.program.process(process).locations[location.0 as usize].end
        });
        if complete { broken(Fault::ClaimCompleted) } else { outcome }
    }

    /// One step for each partner that takes the message.
    fn rendezvous(&self, pid: usize, edge: EdgeId, sender: &Execution<'a>, offer: &Offer) -> Vec<(Move, Outcome)> {
        let mut takers = Vec::new();
        for partner in (0..sender.state.processes.len()).rev().filter(|partner| *partner != pid) {
            let steps = self.taking(partner, sender, offer);
            takers.extend(steps.into_iter().map(|(taken, outcome)| {
                let step = Move { pid: pid as u8, edge, partner: Some((partner as u8, taken)) };
                (step, outcome, sender.state.processes[partner].priority)
            }));
        }
        let highest = takers.iter().map(|(.., priority)| *priority).max();
        let may = |priority: u8| !self.program.uses.priority || Some(priority) == highest;
        takers.into_iter().filter(|(.., priority)| may(*priority)).map(|(step, outcome, _)| (step, outcome)).collect()
    }

    /// The edges along which a process takes the message that a sender offers.
    fn taking(&self, partner: usize, sender: &Execution<'a>, offer: &Offer) -> Vec<(EdgeId, Outcome)> {
        let trial = StepEvaluator::asking(self.program, &sender.state, self.timeout, &self.asked);
        let mut found = Vec::new();
        if trial.provided(partner) != Ok(true) {
            return found;
        }
        let mut escape = 0;
        for (id, edge) in self.edges_of(&sender.state, partner) {
            if escape != 0 && escape != edge.escape {
                break;
            }
            let outcome = match trial.start_that_takes(partner, self.action(id), offer) {
                Ok(None) => continue,
                Ok(Some(start)) => receive_offer(sender, partner, offer, edge, self.action(id), start),
                Err(fault) => broken(fault),
            };
            escape = edge.escape;
            found.push((id, outcome));
        }
        found
    }

    /// How an action begins when it takes an offered message; `None` if it does not take it.
    fn start_that_takes(&self, pid: usize, action: &Action, offer: &Offer) -> Result<Option<usize>, Fault> {
        for start in 0..starts(action) {
            if let Action::Receive(receive) = first_action(action, start)
                && self.takes(pid, receive, offer)?
            {
                return Ok(Some(start));
            }
        }
        Ok(None)
    }

    fn takes(&self, pid: usize, receive: &Receive, offer: &Offer) -> Result<bool, Fault> {
        let mut evaluation = self.evaluation(pid);
        if receive.keep || evaluation.value(&receive.channel)? != offer.channel as i32 + 1 {
            return Ok(false);
        }
        let matches = evaluation.matches(&receive.fields, &offer.message)?;
        if matches {
            evaluation.check_field_count(offer.channel, receive.fields.len())?;
        }
        Ok(matches)
    }
}

/// In how many ways an action may begin: a block with any option of its first node.
fn starts(action: &Action) -> usize {
    match action {
        Action::Block(block) => block.nodes.first().map_or(0, |node| node.options.len()),
        _ => 1,
    }
}

/// The action that decides if a step is executable, when it begins in a certain way.
fn first_action(action: &Action, start: usize) -> &Action {
    match action {
        Action::Block(block) => &block.nodes[0].options[start].action,
        Action::Merged(actions) => actions.first().unwrap_or(&Action::Skip),
        _ => action,
    }
}

fn receive_offer(
    sender: &Execution<'_>,
    partner: usize,
    offer: &Offer,
    edge: &Edge,
    action: &Action,
    start: usize,
) -> Outcome {
    let mut receiver = Execution::receiving(sender, partner, offer);
    match receiver.perform(action, start) {
        Ok(()) => {
            receiver.arrive(edge, edge.atomic);
            reached(receiver)
        }
        Err(fault) => Outcome::Broken { fault, inside: receiver.inside },
    }
}

fn broken(fault: Fault) -> Outcome {
    Outcome::Broken { fault, inside: None }
}

fn reached(execution: Execution<'_>) -> Outcome {
    let assertion_failed = execution.assertion_failed();
    Outcome::Reaches { state: execution.state, events: execution.events, assertion_failed }
}
