//! The steps of processes in one state: edge by edge, as the definition says it.

use super::{Outcome, in_systems_turn};
use crate::evaluate::Evaluation;
use crate::execute::{Execution, Offer};
use crate::state::{CLAIM, State};
use fabius_program::{Action, CLAIM_PID, Edge, EdgeId, Move, Program, Receive, meaning::Fault};

/// Whether an action can be executed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Executable {
    No,
    Yes,
    /// It is a condition, of whose evaluation nothing came but its value.
    WithoutEffect,
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
    pub(super) fn of_claim(program: &'a Program, state: &'a State) -> Self {
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

    /// The steps of a process that decide whether it can take a certain one: those along its edge, where no other edge of the
    /// location matters to them.
    pub(super) fn steps_towards(&self, wanted: Move) -> Vec<(Move, Outcome)> {
        let pid = usize::from(wanted.pid);
        if self.provided(pid) == Ok(true) && self.is_independent(pid, wanted.edge) {
            return if self.outranked(pid) { Vec::new() } else { self.steps_along(pid, wanted.edge, false) };
        }
        self.steps_of(pid)
    }

    /// Whether the steps along an edge of a process's location are the same whatever its other edges are.
    fn is_independent(&self, pid: usize, wanted: EdgeId) -> bool {
        let deterministic = self.program.process(self.state.whereabouts(pid).0).deterministic;
        let escape = self.program.edge(wanted).escape;
        let mut before = self.edges_of(self.state, pid).take_while(|(id, _)| *id != wanted);
        let yields = |(_, edge): (EdgeId, &Edge)| edge.escape == 0 || edge.escape == escape;
        !deterministic && !asks_else(self.action(wanted)) && before.all(yields)
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
    pub(crate) fn executable(&self, pid: usize, action: &Action, else_holds: bool) -> Result<Executable, Fault> {
        let mut evaluation = self.evaluation(pid);
        let is_executable = self.is_executable(&mut evaluation, action, else_holds)?;
        Ok(match is_executable {
            false => Executable::No,
            true if matches!(action, Action::Guard(_)) && evaluation.is_pure() => Executable::WithoutEffect,
            true => Executable::Yes,
        })
    }

    fn is_executable(&self, evaluation: &mut Evaluation<'_>, action: &Action, else_holds: bool) -> Result<bool, Fault> {
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
            Action::End => Ok(evaluation.pid() + 1 == self.state.processes.len()),
            Action::Merged(actions) => {
                actions.first().map_or(Ok(true), |first| self.is_executable(evaluation, first, else_holds))
            }
            Action::Block(block) => {
                for (index, option) in block.nodes[0].options.iter().enumerate() {
                    if self.is_executable(evaluation, &option.action, else_holds || 0 < index)? {
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

    fn evaluation(&self, pid: usize) -> Evaluation<'_> {
        Evaluation::within(self.program, self.state, pid, self.timeout, &self.asked)
    }

    /// The edges that leave the location of a process, in order.
    pub(super) fn edges_of(&self, state: &State, pid: usize) -> impl Iterator<Item = (EdgeId, &'a Edge)> + use<'a> {
        let (process, location) = state.whereabouts(pid);
        let location = &self.program.process(process).locations[location.0 as usize];
        self.program.edges_of(location)
    }

    pub(super) fn action(&self, edge: EdgeId) -> &'a Action {
        &self.program.statement(self.program.process_of(edge), edge).action
    }

    fn broken_first_edge(&self, pid: usize, fault: Fault) -> Vec<(Move, Outcome)> {
        let first = self.edges_of(self.state, pid).next();
        first.map(|(edge, _)| (Move { pid: pid as u8, edge, partner: None }, broken(fault))).into_iter().collect()
    }

    /// The steps that the edges of a process's location make possible.
    pub(super) fn executable_edges(&self, pid: usize) -> Vec<(Move, Outcome)> {
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
            match found.is_empty() {
                true => found = steps,
                false => found.append(&mut steps),
            }
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
        let first = self.executable(pid, first_action(action, start), else_holds)?;
        if first == Executable::No {
            return Ok(Vec::new());
        }
        let mut execution = Execution::new(self.program, self.state, pid, self.timeout);
        if let Err(fault) = execution.perform(action, start, first) {
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

/// Whether an action may begin with an `Else`.
fn asks_else(action: &Action) -> bool {
    (0..starts(action)).any(|start| match first_action(action, start) {
        Action::Else => true,
        inner @ (Action::Block(_) | Action::Merged(_)) => asks_else(inner),
        _ => false,
    })
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
    match receiver.perform(action, start, Executable::Yes) {
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
