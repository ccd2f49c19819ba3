//! Why nothing can move: who waits for whom, and what may be done about it.

use fabius_program::{Action, ChannelTest, Edge, EdgeId, Expr, LocationId, Pattern, Place, Program, Slot, VariableId};
use std::collections::BTreeSet;

use crate::blocked::{Reason, Standing, Waiting, standings};
use crate::evaluate::Evaluation;
use crate::show::statement_text;
use crate::state::State;
use crate::trace::{Step, last_change};

/// Why a state is an invalid end state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Explanation {
    /// The most likely cause.
    pub kind: Cause,
    /// The processes that are stuck where they may not stop.
    pub stuck: Vec<u8>,
    /// Which process waits for which others.
    pub waits: Vec<WaitsFor>,
    /// What happened, in sentences.
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

/// A process that waits, and those who could make it go on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WaitsFor {
    /// The process.
    pub pid: u8,
    /// The statement at which it waits.
    pub text: String,
    /// Processes that may, later on their way, do what it waits for.
    pub on: Vec<u8>,
    /// What it waits for.
    pub need: Needed,
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

/// Explains an invalid end state, to which these steps led.
pub fn explain(program: &Program, state: &State, steps: &[Step]) -> Explanation {
    let standings = standings(program, state);
    let inquiry = Inquiry { program, state };
    let stuck_ones = || standings.iter().filter(|standing| !standing.end);
    let mut waits: Vec<_> = stuck_ones().flat_map(|standing| inquiry.waits_of(standing)).collect();
    for standing in stuck_ones() {
        // Who made the condition false is the first one to ask.
        let blamed = last_writers(standing, steps);
        for wait in waits.iter_mut().filter(|wait| wait.pid == standing.pid) {
            wait.on.sort_by_key(|pid| blamed.iter().position(|blamed| blamed == pid).unwrap_or(usize::MAX));
        }
    }
    let stuck: Vec<u8> = standings.iter().filter(|s| !s.end).map(|s| s.pid).collect();
    let circle = circle(&waits);
    let kind = inquiry.cause(&stuck, &waits, !circle.is_empty());
    let name = |pid: u8| standings[usize::from(pid)].name.clone();
    let mut sentences: Vec<_> = standings.iter().filter(|s| !s.end).map(sentence).collect();
    if kind == Cause::CyclicWait {
        let names: Vec<_> = circle.iter().chain(circle.first()).map(|pid| name(*pid)).collect();
        sentences.push(format!("They wait for each other: {}.", names.join(" waits for ")));
    }
    let suggestion = suggestion(kind, &stuck.iter().map(|pid| name(*pid)).collect::<Vec<_>>().join(", "));
    Explanation { kind, stuck, waits, sentences, suggestion }
}

/// The processes that last changed what a process's false conditions are made of, the latest first.
fn last_writers(standing: &Standing, steps: &[Step]) -> Vec<u8> {
    let operands = standing.waiting.iter().filter_map(|waiting| match &waiting.reason {
        Reason::ConditionFalse { operands, .. } => Some(operands),
        _ => None,
    });
    let writes = operands.flatten().filter_map(|(name, _)| last_change(steps, &standing.name, name));
    let mut writes: Vec<(usize, u8)> = writes.map(|step| (step.number, step.actor.pid)).collect();
    writes.sort_unstable();
    writes.into_iter().rev().map(|(_, pid)| pid).filter(|pid| *pid != standing.pid).collect()
}

/// What a process waits for in a state, and who could bring it about.
pub fn waits_for(program: &Program, state: &State, standing: &Standing) -> Vec<WaitsFor> {
    Inquiry { program, state }.waits_of(standing)
}

fn sentence(standing: &Standing) -> String {
    let reasons: Vec<_> = standing.waiting.iter().map(Waiting::sentence).collect();
    if reasons.is_empty() {
        return format!("{} is where no statement follows.", standing.name);
    }
    format!("{} waits {}.", standing.name, reasons.join(", and "))
}

fn suggestion(kind: Cause, names: &str) -> String {
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

struct Inquiry<'a> {
    program: &'a Program,
    state: &'a State,
}

/// What a statement may change that others wait for.
#[derive(Default)]
struct Effects {
    globals: BTreeSet<u32>,
    sends: BTreeSet<usize>,
    receives: BTreeSet<usize>,
}

impl<'a> Inquiry<'a> {
    fn cause(&self, stuck: &[u8], waits: &[WaitsFor], circle: bool) -> Cause {
        let hopeless = |pid: &u8| {
            let mut own = waits.iter().filter(|w| w.pid == *pid).peekable();
            own.peek().is_some() && own.all(|w| w.on.is_empty())
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

    fn waits_of(&self, standing: &Standing) -> Vec<WaitsFor> {
        let pid = usize::from(standing.pid);
        let mut edges: Vec<EdgeId> = standing.waiting.iter().map(|w| w.edge).collect();
        edges.dedup();
        let edges = edges.into_iter().flat_map(|edge| {
            let text = statement_text(self.program.statement(self.program.process_of(edge), edge));
            let action = &self.program.statement(self.program.process_of(edge), edge).action;
            first_actions(action).into_iter().filter_map(|action| self.wait(pid, text, action))
        });
        edges.collect()
    }

    /// Who could make an action of a process executable.
    fn wait(&self, pid: usize, text: &str, action: &Action) -> Option<WaitsFor> {
        let (need, on) = match action {
            Action::Send(send) => {
                let channel = self.channel(pid, &send.channel)?;
                let need = if self.is_rendezvous(channel) { Needed::Partner } else { Needed::Room };
                (need, self.others(pid, |effects| effects.receives.contains(&channel)))
            }
            Action::Receive(receive) => {
                let channel = self.channel(pid, &receive.channel)?;
                let need = if self.is_rendezvous(channel) { Needed::Partner } else { Needed::Message };
                (need, self.others(pid, |effects| effects.sends.contains(&channel)))
            }
            Action::Guard(condition) => {
                let mut read = Effects::default();
                self.reads(pid, condition, &mut read);
                let touched = |effects: &Effects| {
                    !read.globals.is_disjoint(&effects.globals)
                        || !read.sends.is_disjoint(&effects.sends)
                        || !read.receives.is_disjoint(&effects.receives)
                };
                (Needed::Condition, self.others(pid, touched))
            }
            Action::End => (Needed::Ends, (pid + 1..self.state.processes.len()).map(|pid| pid as u8).collect()),
            _ => return None,
        };
        Some(WaitsFor { pid: pid as u8, text: text.to_owned(), on, need })
    }

    /// The other processes that may do a thing on their way from where they are.
    fn others(&self, pid: usize, does: impl Fn(&Effects) -> bool) -> Vec<u8> {
        let others = (0..self.state.processes.len()).filter(|other| *other != pid);
        others.filter(|other| does(&self.effects_ahead(*other))).map(|other| other as u8).collect()
    }

    fn is_rendezvous(&self, channel: usize) -> bool {
        let types = self.state.channels.get(channel).map(|channel| channel.channel_type);
        types.is_some_and(|ty| self.program.channel_types[ty.0 as usize].capacity == 0)
    }

    /// Whether a process is where it receives.
    fn receives_here(&self, pid: u8) -> bool {
        let here = self.state.processes[usize::from(pid)].location;
        self.edges_from(usize::from(pid), here).any(|(id, edge)| {
            let action = &self.program.statement(edge.process, id).action;
            first_actions(action).into_iter().any(|action| matches!(action, Action::Receive(_)))
        })
    }

    fn channel(&self, pid: usize, expr: &Expr) -> Option<usize> {
        Evaluation::new(self.program, self.state, pid).channel(expr).ok()
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

    fn effects_ahead(&self, pid: usize) -> Effects {
        let mut effects = Effects::default();
        for edge in self.edges_ahead(pid) {
            let action = &self.program.statement(self.program.process_of(edge), edge).action;
            self.add_effects(pid, action, &mut effects);
        }
        effects
    }

    fn add_effects(&self, pid: usize, action: &Action, effects: &mut Effects) {
        match action {
            Action::Assign(place, _) => add_global(place, effects),
            Action::Send(send) => effects.sends.extend(self.channel(pid, &send.channel)),
            Action::Receive(receive) => {
                effects.receives.extend(self.channel(pid, &receive.channel));
                for field in &receive.fields {
                    if let Pattern::Store(place) = field {
                        add_global(place, effects);
                    }
                }
            }
            Action::Merged(actions) => actions.iter().for_each(|action| self.add_effects(pid, action, effects)),
            Action::Block(block) => {
                let options = block.nodes.iter().flat_map(|node| &node.options);
                options.for_each(|option| self.add_effects(pid, &option.action, effects));
            }
            _ => {}
        }
    }

    /// The globals and channels that a condition depends on.
    fn reads(&self, pid: usize, expr: &Expr, read: &mut Effects) {
        match expr {
            Expr::Load(place) => {
                add_global(place, read);
                place.indices.iter().for_each(|index| self.reads(pid, index, read));
            }
            Expr::Unary(_, operand) => self.reads(pid, operand, read),
            Expr::Binary(_, left, right) => {
                self.reads(pid, left, read);
                self.reads(pid, right, read);
            }
            Expr::Conditional(condition, yes, no) => {
                [condition, yes, no].into_iter().for_each(|part| self.reads(pid, part, read));
            }
            Expr::Test(ChannelTest::Full | ChannelTest::NotEmpty, channel) | Expr::Poll { channel, .. } => {
                read.sends.extend(self.channel(pid, channel));
            }
            Expr::Test(ChannelTest::Empty | ChannelTest::NotFull, channel) => {
                read.receives.extend(self.channel(pid, channel));
            }
            Expr::Length(channel) => {
                let channel = self.channel(pid, channel);
                read.sends.extend(channel);
                read.receives.extend(channel);
            }
            _ => {}
        }
    }
}

fn add_global(place: &Place, effects: &mut Effects) {
    if let Slot::Global(VariableId(id)) = place.slot {
        effects.globals.insert(id);
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
