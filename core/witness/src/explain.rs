//! Why nothing can move: who waits for whom, and what may be done about it.

use fabius_program::{Action, Edge, EdgeId, LocationId, Program};
use std::cell::{Cell, OnceCell};
use std::collections::{BTreeSet, HashMap};

use crate::blocked::{ProcessStatus, Reason, Waiting, process_statuses};
use crate::effects::{Doer, Effects};
use crate::release::{self, Forecast};
use crate::show::statement_text;
use crate::state::State;
use crate::trace::{Actor, Step, last_changes};

/// This many statements are named that may change something for one that waits, …
const AHEAD_SHOWN_MAX: usize = 3;
/// … for this many that wait.
const RELATIONS_SHOWN_MAX: usize = 6;

/// To explain a dead state, this many steps are tried, …
const TRIES_MAX: usize = 100_000;
/// … and this many to say what one process waits for.
const TRIES_OF_ONE_MAX: usize = 5_000;

/// Why a state is an invalid end state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Explanation {
    /// The most likely cause.
    pub kind: Cause,
    /// The processes that are stuck where they may not stop.
    pub stuck: Vec<u8>,
    /// Which process waits for which others.
    pub waits: Vec<WaitsFor>,
    /// Processes that wait for each other, each for the next one and the last one for the first; empty if none do.
    pub circle: Vec<u8>,
    /// Who waits for whom, and what others may still do about it, in sentences.
    pub relations: Vec<String>,
    /// Where each process is stuck, and `relations`: what happened, in sentences.
    pub sentences: Vec<String>,
    /// What may be done, in a sentence.
    pub suggestion: String,
}

/// The likely cause of an invalid end state.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Cause {
    /// Processes that serve others wait for more work: an `end` label is missing.
    MissingEndLabel,
    /// A message is waited for that nobody who is left sends.
    NobodySends,
    /// A message is to be sent into a full channel that nobody who is left empties.
    NobodyReceives,
    /// A message is to be handed over directly, and nobody who is left ever comes to the other half.
    NoPartner,
    /// A condition is waited for that nobody who is left can make true.
    NobodyChanges,
    /// Processes wait for each other in a circle.
    CyclicWait,
    /// Something else.
    Unknown,
}

/// A process that waits, and what is known of those who could make it go on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WaitsFor {
    /// The process.
    pub pid: u8,
    /// The edge that it waits to take.
    pub edge: EdgeId,
    /// The statement at which it waits.
    pub text: String,
    /// What it waits for.
    pub need: Needed,
    /// Statements that other processes may still come to and that touch what it waits for.
    pub ahead: Vec<Forecast>,
    /// What it waits for may also change in other ways, such as by where a process stands.
    pub beyond: bool,
    /// What it waits for depends on nothing but its own variables.
    pub own: bool,
    /// In a dead state: processes that would let it go on if they could go on themselves; see [`crate::release`].
    pub on: Vec<u8>,
}

impl WaitsFor {
    /// No statement that is left can change anything about it.
    fn is_hopeless(&self) -> bool {
        self.ahead.is_empty() && !self.beyond && self.need != Needed::Ends
    }

    /// The statements ahead of other processes that touch what it waits for, and whether one of them is enough, if that
    /// is known; those that are come first. `None` if there is none.
    fn statements_ahead(&self, name: &dyn Fn(u8) -> String) -> Option<(String, Option<bool>)> {
        let known = [Some(true), None, Some(false)];
        let enough = known.into_iter().find(|known| self.ahead.iter().any(|ahead| ahead.enough == *known))?;
        let mut shown: Vec<String> = Vec::new();
        for ahead in self.ahead.iter().filter(|ahead| ahead.enough == enough) {
            let statement = format!("`{}` of {}", ahead.text, name(ahead.pid));
            if !shown.contains(&statement) && shown.len() < AHEAD_SHOWN_MAX {
                shown.push(statement);
            }
        }
        Some((shown.join(" or "), enough))
    }

    /// What statements ahead of other processes would do about it, in half a sentence that follows on why it waits.
    pub fn forecast(&self, name: &dyn Fn(u8) -> String) -> Option<String> {
        let (statements, enough) = self.statements_ahead(name)?;
        let would = match enough {
            Some(true) => "would change that",
            Some(false) => "alone would not change that",
            None => "touches it",
        };
        Some(format!("{statements} {would}"))
    }

    /// The same of a state in which nothing moves, as a sentence.
    fn relation(&self, name: &dyn Fn(u8) -> String) -> Option<String> {
        let (statements, enough) = self.statements_ahead(name)?;
        let waiting = name(self.pid);
        Some(match enough {
            Some(true) => format!("{statements} would let {waiting} go on, but does not come."),
            Some(false) => format!("{statements} alone would not let {waiting} go on."),
            None => format!("{statements} touches what {waiting} waits for."),
        })
    }
}

/// What a process waits for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Needed {
    /// A message.
    Message,
    /// Room in a channel.
    Room,
    /// Somebody who takes part in a rendezvous.
    Partner,
    /// A condition.
    Condition,
    /// The end of other processes.
    Ends,
}

/// Explains an invalid end state, to which steps led: `backwards` are these, the last one first.
pub fn explain(program: &Program, state: &State, backwards: impl Iterator<Item = Step>) -> Explanation {
    let process_statuses = process_statuses(program, state);
    let changes = last_changes(process_statuses.iter().flat_map(operands).collect(), backwards);
    let analysis = WaitAnalysis::new(program, state, TRIES_MAX);
    let mut waits: Vec<_> = process_statuses.iter().flat_map(|status| analysis.waits_of(status)).collect();
    release::Waiting { program, state }.find_releases(&mut waits);
    waits.retain(|wait| !process_statuses[usize::from(wait.pid)].end);
    let stuck_ones = || process_statuses.iter().filter(|status| !status.end);
    let blamed: Vec<Vec<u8>> = process_statuses.iter().map(|status| last_writers(status, &changes)).collect();
    for status in stuck_ones() {
        // Who made the condition false is the first one to ask.
        let blamed = &blamed[usize::from(status.pid)];
        for wait in waits.iter_mut().filter(|wait| wait.pid == status.pid) {
            wait.on.sort_by_key(|pid| blamed.iter().position(|blamed| blamed == pid).unwrap_or(usize::MAX));
        }
    }
    let stuck: Vec<u8> = stuck_ones().map(|s| s.pid).collect();
    let circle = circle(&waits);
    let kind = analysis.cause(&stuck, &waits, !circle.is_empty());
    let name = |pid: u8| process_statuses[usize::from(pid)].name.clone();
    let relations = relations(&waits, &circle, &name);
    let sentences = stuck_ones().map(sentence).chain(relations.iter().cloned()).collect();
    let names = stuck.iter().map(|pid| name(*pid)).collect::<Vec<_>>().join(", ");
    let next_ones = circle.iter().cycle().skip(1);
    let holds = circle.iter().zip(next_ones).all(|(pid, next)| blamed[usize::from(*pid)].contains(next));
    let suggestion = match waits_for_itself(&stuck, &waits).filter(|_| kind == Cause::NobodyChanges) {
        Some(pid) => format!(
            "No other process can change what {} waits for: check whether another way on is missing there, such as `else`.",
            name(pid)
        ),
        None => suggestion(kind, holds, &names),
    };
    Explanation { kind, stuck, waits, circle, relations, sentences, suggestion }
}

/// Explains a state in which nothing moves any more and that lasts for ever, to which steps led (`backwards`, the last one
/// first): a property of infinite runs is violated there.
pub fn explain_stop(program: &Program, state: &State, backwards: impl Iterator<Item = Step>) -> Explanation {
    let mut explanation = explain(program, state, backwards);
    let process_statuses = process_statuses(program, state);
    let waiting = process_statuses.iter().filter(|status| !status.has_ended());
    let stop = if waiting.clone().next().is_none() { "Every process has ended" } else { "Nothing can move any more" };
    let stop = format!("{stop}; the last state lasts for ever.");
    let told = std::iter::once(stop).chain(waiting.map(sentence));
    explanation.sentences = told.chain(explanation.relations.iter().cloned()).collect();
    let advice = match explanation.kind {
        _ if explanation.stuck.is_empty() => {
            "The run ends where it may: what the property asks for has to happen before, or the property has to allow \
             for runs that end."
        }
        Cause::MissingEndLabel | Cause::Unknown => {
            "Check why the processes stop here, or let the property allow for runs that end."
        }
        _ => return explanation,
    };
    explanation.suggestion = advice.to_owned();
    explanation
}

/// A process that is stuck where nothing but conditions on its own variables would let it go on, all of them false.
fn waits_for_itself(stuck: &[u8], waits: &[WaitsFor]) -> Option<u8> {
    stuck.iter().copied().find(|pid| {
        let mut own = waits.iter().filter(|wait| wait.pid == *pid).peekable();
        own.peek().is_some() && own.all(|wait| wait.own && wait.need == Needed::Condition)
    })
}

/// Who waits for whom, in sentences; of those who wait in no circle, what others may still do about it.
fn relations(waits: &[WaitsFor], circle: &[u8], name: &dyn Fn(u8) -> String) -> Vec<String> {
    let mut sentences = Vec::new();
    if !circle.is_empty() {
        let names: Vec<_> = circle.iter().chain(circle.first()).map(|pid| name(*pid)).collect();
        sentences.push(format!("They wait for each other: {}.", names.join(" waits for ")));
    }
    // A process may wait at several options for the same.
    let mut outside: Vec<String> = Vec::new();
    for relation in waits.iter().filter(|wait| !circle.contains(&wait.pid)).filter_map(|wait| wait.relation(name)) {
        if outside.len() < RELATIONS_SHOWN_MAX && !outside.contains(&relation) {
            outside.push(relation);
        }
    }
    sentences.extend(outside);
    sentences
}

/// What the false conditions of a process are made of: the process's name, and the variable's or channel's.
pub(crate) fn operands(status: &ProcessStatus) -> impl Iterator<Item = (&str, &str)> {
    let operands = status.waiting.iter().filter_map(|waiting| match &waiting.reason {
        Reason::ConditionFalse { operands, .. } => Some(operands),
        _ => None,
    });
    operands.flatten().map(|(name, _)| (status.name.as_str(), name.as_str()))
}

/// The processes that last changed what a process's false conditions are made of, the latest first.
fn last_writers(status: &ProcessStatus, changes: &HashMap<(&str, &str), (usize, Actor)>) -> Vec<u8> {
    let writes = operands(status).filter_map(|operand| changes.get(&operand));
    let mut writes: Vec<(usize, u8)> = writes.map(|(number, actor)| (*number, actor.pid)).collect();
    writes.sort_unstable();
    writes.into_iter().rev().map(|(_, pid)| pid).filter(|pid| *pid != status.pid).collect()
}

/// What a process waits for in a state, and who could bring it about.
pub fn waits_for(program: &Program, state: &State, status: &ProcessStatus) -> Vec<WaitsFor> {
    WaitAnalysis::new(program, state, TRIES_OF_ONE_MAX).waits_of(status)
}

fn sentence(status: &ProcessStatus) -> String {
    let reasons: Vec<_> = status.waiting.iter().map(Waiting::sentence).collect();
    if reasons.is_empty() {
        return format!("{} is where no statement follows.", status.name);
    }
    format!("{} waits {}.", status.name, reasons.join(", and "))
}

/// `holds` says that each process in a circle waits for a condition that the next one made false: for what that one holds.
fn suggestion(kind: Cause, holds: bool, names: &str) -> String {
    let advice = match kind {
        Cause::MissingEndLabel => {
            return format!("If {names} may wait here for ever, give this place a label that begins with `end`.");
        }
        Cause::NobodySends => "Check who should have sent the message, and whether it was taken by another receive.",
        Cause::NobodyReceives => "Check who should have received the messages, or give the channel more room.",
        Cause::NoPartner => {
            "A rendezvous needs two: check who should be at the other half, or give the channel room for a message."
        }
        Cause::NobodyChanges => "Check who should have made the condition true, and whether it was true too early.",
        Cause::CyclicWait if !holds => {
            "Each of them does what another one waits for only after its own wait: let one do it before, or let all ask in the same order."
        }
        Cause::CyclicWait => "Let all processes ask in the same order, or let one of them give up what it holds.",
        Cause::Unknown => "Check whether the processes that are left can still bring about what is waited for.",
    };
    advice.to_owned()
}

/// Processes that wait for each other in a circle, in order; empty if there are none.
fn circle(waits: &[WaitsFor]) -> Vec<u8> {
    let waiting: BTreeSet<u8> = waits.iter().map(|w| w.pid).collect();
    for &first in &waiting {
        let mut path = vec![first];
        while let Some(next) = next_in_circle(waits, &waiting, *path.last().unwrap_or(&first)) {
            if let Some(start) = path.iter().position(|pid| *pid == next) {
                return path.split_off(start);
            }
            path.push(next);
        }
    }
    Vec::new()
}

fn next_in_circle(waits: &[WaitsFor], waiting: &BTreeSet<u8>, pid: u8) -> Option<u8> {
    waits.iter().filter(|w| w.pid == pid).flat_map(|w| &w.on).copied().find(|on| waiting.contains(on) && *on != pid)
}

struct WaitAnalysis<'a> {
    program: &'a Program,
    state: &'a State,
    /// What each process may still do, worked out when it is asked for.
    ahead: Vec<OnceCell<Vec<(EdgeId, Effects)>>>,
    /// This many steps may still be tried to find out whether a statement is enough.
    tries_left: Cell<usize>,
}

impl<'a> WaitAnalysis<'a> {
    fn new(program: &'a Program, state: &'a State, tries: usize) -> Self {
        let ahead = state.processes.iter().map(|_| OnceCell::new()).collect();
        Self { program, state, ahead, tries_left: Cell::new(tries) }
    }

    fn cause(&self, stuck: &[u8], waits: &[WaitsFor], circle: bool) -> Cause {
        let hopeless = |pid: &u8| {
            let mut own = waits.iter().filter(|w| w.pid == *pid).peekable();
            own.peek().is_some() && own.all(WaitsFor::is_hopeless)
        };
        let need = |pid: &u8| waits.iter().find(|w| w.pid == *pid).map(|w| w.need);
        let waits_for_work = |pid: &u8| match need(pid) {
            Some(Needed::Message) => true,
            Some(Needed::Partner) => self.receives_here(*pid),
            _ => false,
        };
        let serves = |pid: &u8| self.is_in_loop(*pid) && waits_for_work(pid);
        if !stuck.is_empty() && stuck.iter().all(|pid| serves(pid) && hopeless(pid)) {
            return Cause::MissingEndLabel;
        }
        match stuck.iter().find(|pid| hopeless(pid)).and_then(need) {
            Some(Needed::Message) => Cause::NobodySends,
            Some(Needed::Room) => Cause::NobodyReceives,
            Some(Needed::Partner) => Cause::NoPartner,
            Some(Needed::Condition) => Cause::NobodyChanges,
            Some(Needed::Ends) => Cause::Unknown,
            None if circle => Cause::CyclicWait,
            None => Cause::Unknown,
        }
    }

    fn waits_of(&self, status: &ProcessStatus) -> Vec<WaitsFor> {
        let pid = usize::from(status.pid);
        let mut edges: Vec<EdgeId> = status.waiting.iter().map(|w| w.edge).collect();
        edges.dedup();
        let edges = edges.into_iter().flat_map(|edge| {
            let action = &self.program.statement(self.program.process_of(edge), edge).action;
            first_actions(action).into_iter().filter_map(move |action| self.wait(pid, edge, action))
        });
        edges.collect()
    }

    /// What a process needs to execute an action, and which statements of others touch that.
    fn wait(&self, pid: usize, edge: EdgeId, action: &Action) -> Option<WaitsFor> {
        let doer = self.doer(pid);
        let need = match action {
            Action::Send(send) if doer.is_rendezvous(doer.channel(&send.channel)?) => Needed::Partner,
            Action::Receive(receive) if doer.is_rendezvous(doer.channel(&receive.channel)?) => Needed::Partner,
            Action::Send(_) => Needed::Room,
            Action::Receive(_) => Needed::Message,
            Action::Guard(_) => Needed::Condition,
            Action::End => Needed::Ends,
            _ => return None,
        };
        let read = doer.reads(action);
        let others = (0..self.state.processes.len()).filter(|other| *other != pid);
        let ahead = others.flat_map(|other| self.touching(other, &read, (pid as u8, edge))).collect();
        let text = statement_text(self.program.statement(self.program.process_of(edge), edge)).to_owned();
        let (beyond, own) = (read.beyond, read.is_own());
        Some(WaitsFor { pid: pid as u8, edge, text, need, ahead, beyond, own, on: Vec::new() })
    }

    /// The statements that a process may come to and that touch what another one depends on.
    fn touching(&self, other: usize, read: &Effects, waiting: (u8, EdgeId)) -> Vec<Forecast> {
        let ahead = self.ahead[other].get_or_init(|| self.effects_ahead(other));
        let touching = ahead.iter().filter(|(_, effects)| effects.touch(read)).map(|&(edge, _)| {
            let statement = self.program.statement(self.program.process_of(edge), edge);
            let text = statement_text(statement).to_owned();
            let enough = self.is_enough(waiting, (other as u8, edge));
            Forecast { pid: other as u8, edge, span: statement.span, text, enough }
        });
        touching.collect()
    }

    /// What a process may still do, by edge.
    fn effects_ahead(&self, pid: usize) -> Vec<(EdgeId, Effects)> {
        let (doer, mut edges) = (self.doer(pid), self.edges_ahead(pid));
        edges.sort_unstable();
        let action = |edge: EdgeId| &self.program.statement(self.program.process_of(edge), edge).action;
        edges.into_iter().map(|edge| (edge, doer.effects(action(edge)))).collect()
    }

    /// Whether a statement of another process is enough; `None` if too much was tried already.
    fn is_enough(&self, waiting: (u8, EdgeId), statement: (u8, EdgeId)) -> Option<bool> {
        let left = self.tries_left.get().checked_sub(self.state.processes.len())?;
        self.tries_left.set(left);
        Some(self.waiting().is_enough(waiting, statement))
    }

    fn doer(&self, pid: usize) -> Doer<'a> {
        Doer { program: self.program, state: self.state, pid }
    }

    fn waiting(&self) -> release::Waiting<'a> {
        release::Waiting { program: self.program, state: self.state }
    }

    /// Whether a process is where it receives.
    fn receives_here(&self, pid: u8) -> bool {
        let here = self.state.processes[usize::from(pid)].location;
        self.edges_from(usize::from(pid), here).any(|(id, edge)| {
            let action = &self.program.statement(edge.process, id).action;
            first_actions(action).into_iter().any(|action| matches!(action, Action::Receive(_)))
        })
    }

    fn edges_from(&self, pid: usize, location: LocationId) -> impl Iterator<Item = (EdgeId, &'a Edge)> {
        let process = self.program.process(self.state.processes[pid].process);
        self.program.edges_of(&process.locations[location.0 as usize])
    }

    /// Edges that a process may reach from where it is.
    fn edges_ahead(&self, pid: usize) -> Vec<EdgeId> {
        let mut seen = BTreeSet::new();
        let mut open = vec![self.state.processes[pid].location];
        let mut edges = Vec::new();
        while let Some(location) = open.pop() {
            if seen.insert(location) {
                for (id, edge) in self.edges_from(pid, location) {
                    edges.push(id);
                    open.push(edge.target);
                }
            }
        }
        edges
    }

    /// Whether a process may come back to where it is.
    fn is_in_loop(&self, pid: u8) -> bool {
        let here = self.state.processes[usize::from(pid)].location;
        self.edges_ahead(usize::from(pid)).into_iter().any(|edge| self.program.edge(edge).target == here)
    }
}

/// The actions that decide whether an action is executable.
fn first_actions(action: &Action) -> Vec<&Action> {
    match action {
        Action::Block(block) => {
            block.nodes.first().map_or(Vec::new(), |node| node.options.iter().map(|option| &option.action).collect())
        }
        Action::Merged(actions) => actions.first().into_iter().collect(),
        _ => vec![action],
    }
}
