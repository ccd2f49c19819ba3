//! A path as a person reads it: who did what, where, and what changed.

use fabius_base::Span;
use fabius_program::ltl::truth::Ribbon;
use fabius_program::{Action, CLAIM_PID, EdgeId, Expr, Move, Program, Variable, indices_of, meaning::Fault};
use std::collections::HashMap;

use crate::blocked::{ProcessStatus, Reason};
use crate::confirm::Claim;
use crate::execute::{Event, Happening};
use crate::explain::Explanation;
use crate::infinite::{InfiniteRun, Role};
use crate::interpret::Outcome;
use crate::notes::{self, Note};
use crate::show::{Names, process_name, statement_text};
use crate::state::State;
use crate::steps::Steps;
use crate::values::Values;

/// A confirmed path.
#[derive(Clone, Debug)]
pub struct Trace {
    /// What the path shows.
    pub claim: Claim,
    /// Its steps.
    pub steps: Steps,
    /// The state it starts in.
    pub start: Snapshot,
    /// The state it ends in; if the last step cannot be computed, the state before it.
    pub last: Snapshot,
    /// Number of the first step of the cycle, for a path that runs into one; one more than there are steps if
    /// nothing moves in it.
    pub cycle_start: Option<usize>,
    /// For a run that ends where nothing can move: who waits for whom, and what may be done.
    pub explanation: Option<Explanation>,
    /// For a path that runs into a cycle: what happens there.
    pub infinite: Option<InfiniteRun>,
    /// For a formula: what its propositions are in the loop or in the last state, in sentences.
    pub propositions: Vec<String>,
    /// For a formula: where it and its parts hold along the run.
    pub ribbon: Option<Ribbon>,
}

/// A state as a person reads it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Snapshot {
    /// Global variables: names and values.
    pub variables: Vec<(String, String)>,
    /// Channels: names and contents.
    pub channels: Vec<(String, String)>,
    /// Where each process stands.
    pub processes: Vec<ProcessStatus>,
}

/// A process and the statement it executes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Actor {
    /// Its number.
    pub pid: u8,
    /// The name of its type.
    pub process: String,
    /// How it is shown, such as `P[1]`.
    pub name: String,
    /// The statement in the text.
    pub span: Span,
    /// The statement.
    pub text: String,
    /// The number by which a trail knows it.
    pub statement: u32,
    /// Labels of the location it was at.
    pub labels: Vec<String>,
}

/// A step of a [`Trace`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// Number, from 1. A move of the claim has that of the step of the system that follows.
    pub number: usize,
    /// The transition.
    pub taken: Move,
    /// Who moved (the sender of a rendezvous).
    pub actor: Actor,
    /// The receiver of a rendezvous.
    pub partner: Option<Actor>,
    /// What changed.
    pub changes: Vec<Change>,
    /// Messages sent and received.
    pub messages: Vec<Message>,
    /// What was printed.
    pub printed: String,
    /// Processes created.
    pub created: Vec<Created>,
    /// The process ended.
    pub ended: bool,
    /// The process held control before the step.
    pub held: bool,
    /// A process holds control after the step.
    pub holds: bool,
    /// This process held control before and lost it because it could not move.
    pub lost_control: Option<String>,
    /// The step was possible only because nothing else was.
    pub timeout: bool,
    /// Several statements were executed as one (`d_step`).
    pub block: bool,
    /// Processes that a scheduler would have let move before this step, and that were held back.
    pub held_back: Vec<HeldBack>,
    /// What is wrong with the step.
    pub fault: Option<Fault>,
    /// Where it goes wrong: the statement, or the part of it that fails.
    pub fault_span: Span,
    /// The parts that a `d_step` executed, in order (the first thousand).
    pub parts: Vec<Span>,
    /// It is a move of the claim, which no process sees.
    pub claim: Option<ClaimMove>,
    /// What surprises people about it.
    pub notes: Vec<Note>,
}

/// A move of a claim.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClaimMove {
    /// What is true of the state, as the claim says it; `None` if it says nothing.
    pub condition: Option<String>,
    /// The claim is at an accepting location afterwards.
    pub accepting: bool,
    /// The claim goes to another location.
    pub moves: bool,
    /// The system has stopped before: its last state goes on for ever.
    pub stuttered: bool,
}

impl ClaimMove {
    /// The move in one line.
    pub fn sentence(&self) -> String {
        let stopped = if self.stuttered { "nothing can move any more; " } else { "" };
        let condition = match &self.condition {
            Some(condition) => format!("`{condition}` is true"),
            None => "goes on".to_owned(),
        };
        let accepting = if self.accepting { ", goes to an accepting state" } else { "" };
        format!("{stopped}claim: {condition}{accepting}")
    }
}

/// A process that was held back.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HeldBack {
    /// Its number.
    pub pid: u8,
    /// How it is shown, such as `P[1]`.
    pub name: String,
    /// Where it stands.
    pub span: Span,
}

/// A value that a step changed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// Variable or channel, with index and process.
    pub name: String,
    /// The process it belongs to.
    pub pid: Option<u8>,
    /// What it is.
    pub what: Changed,
    /// Value before.
    pub old: String,
    /// Value after.
    pub new: String,
}

/// What changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Changed {
    /// A variable.
    Variable,
    /// The contents of a channel.
    Channel,
    /// The priority of a process.
    Priority,
}

/// A message sent or received in a step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Message {
    /// Who sent or received it.
    pub pid: u8,
    /// The channel.
    pub channel: String,
    /// Its fields, such as `2, ack`.
    pub fields: String,
    /// Sent; else received.
    pub sent: bool,
    /// It stayed in the channel.
    pub kept: bool,
    /// The other half happens in the same step.
    pub rendezvous: bool,
}

/// A process created in a step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Created {
    /// Its number.
    pub pid: u8,
    /// How it is shown.
    pub name: String,
    /// Its parameters: names and values.
    pub parameters: Vec<(String, String)>,
}

impl Trace {
    /// The steps of the system: all but the moves of a claim.
    pub fn taken(&self) -> impl Iterator<Item = Step> + '_ {
        self.steps.iter().filter(|step| step.claim.is_none())
    }

    /// The steps of the system with these numbers.
    pub fn taken_from(&self, first: usize, last: usize) -> impl Iterator<Item = Step> + '_ {
        self.steps.numbered(first, last).filter(|step| step.claim.is_none())
    }

    /// The last step of the system.
    pub fn last_taken(&self) -> Option<Step> {
        self.taken_from(self.len(), self.len()).next()
    }

    /// How many steps the system takes.
    pub fn len(&self) -> usize {
        self.steps.taken()
    }

    /// Whether the system takes no step.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The processes that are stuck at the end where they may not stop: in a loop, those that never move in it and never
    /// can; else those that cannot move in the last state.
    pub fn stuck(&self) -> impl Iterator<Item = &ProcessStatus> {
        let role = |pid: u8| self.infinite.as_ref()?.processes.iter().find(|process| process.pid == pid);
        let never_moves = move |status: &&ProcessStatus| match role(status.pid) {
            Some(process) => matches!(process.role, Role::Blocked { .. }),
            None => status.waiting.iter().all(|waiting| waiting.reason != Reason::Executable),
        };
        self.last.processes.iter().filter(|status| !status.end).filter(never_moves)
    }
}

/// To find out who changed something last, this many steps are looked at.
const BLAMED_STEPS_MAX: usize = 100_000;

/// The last steps that changed variables or channels, each named with the process that calls it so: who took the step, and
/// its number. `backwards`: the steps, the last one first.
pub(crate) fn last_changes<'n>(
    mut wanted: Vec<(&'n str, &'n str)>,
    backwards: impl Iterator<Item = Step>,
) -> HashMap<(&'n str, &'n str), (usize, Actor)> {
    let mut found = HashMap::new();
    for step in backwards.take(if wanted.is_empty() { 0 } else { BLAMED_STEPS_MAX }) {
        wanted.retain(|(owner, name)| {
            let own = |changed: &str| changed.strip_prefix(owner).and_then(|rest| rest.strip_prefix(':')) == Some(name);
            let changes = step.changes.iter().any(|change| change.name == *name || own(&change.name));
            if changes {
                found.insert((*owner, *name), (step.number, step.actor.clone()));
            }
            !changes
        });
        if wanted.is_empty() {
            break;
        }
    }
    found
}

impl Snapshot {
    /// Every place becomes another one.
    pub fn move_places(&mut self, place: &dyn Fn(&mut Span)) {
        for status in &mut self.processes {
            place(&mut status.span);
            status.waiting.iter_mut().for_each(|waiting| place(&mut waiting.span));
        }
    }
}

/// A state as a person reads it.
pub fn snapshot(program: &Program, state: &State) -> Snapshot {
    let names = Names::of(program, state);
    let channels = state.channels.iter().enumerate();
    let channels = channels.map(|(index, channel)| (names.channel(index as i32 + 1), names.contents(channel)));
    Snapshot {
        variables: variables_of(&names, &program.globals, &state.globals, ""),
        channels: channels.collect(),
        processes: crate::blocked::process_statuses(program, state),
    }
}

/// Variables and their values; a channel variable that never held another channel is left out.
pub(crate) fn variables_of(
    names: &Names<'_>,
    variables: &[Variable],
    values: &[Values],
    owner: &str,
) -> Vec<(String, String)> {
    let named = |(variable, element): (usize, usize)| {
        let declared = &variables[variable];
        let name = format!("{owner}{}", declared.element_name(element));
        (name, names.value(declared.ty.kind, values[variable][element]))
    };
    elements_in_order(variables, values).into_iter().map(named).collect()
}

/// The elements of variables in the order in which a person reads them, by variable and number: without `_` and those that hold
/// the channels they created, and what belongs to one element of an array of structures together.
pub(crate) fn elements_in_order(variables: &[Variable], values: &[Values]) -> Vec<(usize, usize)> {
    let shown = variables.iter().zip(values).enumerate();
    let is_shown = |variable: &Variable| {
        !variable.is_nowhere() && !matches!(variable.initial, fabius_program::Initial::Channel(_))
    };
    let shown = shown.filter(|(_, (variable, _))| is_shown(variable));
    let mut elements: Vec<(usize, usize)> =
        shown.flat_map(|(variable, (_, values))| (0..values.len()).map(move |element| (variable, element))).collect();
    if variables.iter().any(|variable| variable.name.contains("[].")) {
        group_by_element(variables, &mut elements);
    }
    elements
}

/// Puts together what belongs to one element of an array of structures, by variable and number of the element.
fn group_by_element(variables: &[Variable], elements: &mut [(usize, usize)]) {
    // Of each variable, where each piece of its name up to an index is met first.
    let mut first_met: HashMap<&str, usize> = HashMap::new();
    let mut ranks: Vec<Vec<usize>> = Vec::new();
    for (number, variable) in variables.iter().enumerate() {
        let ends = variable.name.match_indices("[]").map(|(at, _)| at).chain([variable.name.len()]);
        ranks.push(ends.map(|end| *first_met.entry(&variable.name[..end]).or_insert(number)).collect());
    }
    elements.sort_by_cached_key(|&(variable, element)| {
        let indices = indices_of(&variables[variable].dimensions, element);
        let own = &ranks[variable];
        let mut key: Vec<usize> = own.iter().zip(&indices).flat_map(|(rank, index)| [*rank, *index]).collect();
        key.extend(own.get(indices.len()..).unwrap_or_default());
        key.extend(indices.get(own.len()..).unwrap_or_default());
        key
    });
}

/// A step that was taken from a state, as a person reads it; `number` is its number.
pub fn describe(program: &Program, number: usize, before: &State, step: Move, taken: &crate::interpret::Taken) -> Step {
    let crate::interpret::Taken { outcome, lost_control, stuttered, timeout } = taken;
    let (lost_control, stuttered, timeout) = (*lost_control, *stuttered, *timeout);
    Taken { number, step, before, outcome, lost_control, stuttered, timeout }.describe(program)
}

/// Everything about a step that the interpreter knows.
pub(crate) struct Taken<'a> {
    pub(crate) number: usize,
    pub(crate) step: Move,
    pub(crate) before: &'a State,
    pub(crate) outcome: &'a Outcome,
    pub(crate) lost_control: Option<u8>,
    pub(crate) stuttered: bool,
    pub(crate) timeout: bool,
}

impl Taken<'_> {
    /// The step as a person reads it.
    pub(crate) fn describe(&self, program: &Program) -> Step {
        let names = Names::of(program, self.before);
        let pid = self.step.pid;
        let mut step = Step {
            number: self.number,
            taken: self.step,
            actor: actor(program, pid, self.step.edge),
            partner: self.step.partner.map(|(pid, edge)| actor(program, pid, edge)),
            changes: Vec::new(),
            messages: Vec::new(),
            printed: String::new(),
            created: Vec::new(),
            ended: false,
            held: self.before.holder == Some(pid) && self.lost_control.is_none(),
            holds: false,
            lost_control: self.lost_control.map(|pid| names.process(pid)),
            timeout: self.timeout,
            block: matches!(action(program, self.step.edge), Action::Block(_)),
            held_back: Vec::new(),
            fault: self.outcome.fault(),
            fault_span: program.span_of(self.step.edge),
            parts: Vec::new(),
            claim: (pid == CLAIM_PID).then(|| self.claim_move(program)),
            notes: notes::of_step(program, self),
        };
        if let Outcome::Broken { inside: Some(part), .. } = self.outcome {
            step.fault_span = *part;
        }
        if let Outcome::Reaches { state, events, .. } = self.outcome {
            step.holds = state.holder.is_some();
            let names_after = Names::of(program, state);
            step.changes = changes(
                program,
                NamedState { state: self.before, names: &names },
                NamedState { state, names: &names_after },
            );
            for event in events {
                self.add_event(program, &mut step, &names, &names_after, state, event);
            }
        }
        step
    }

    fn claim_move(&self, program: &Program) -> ClaimMove {
        let edge = program.edge(self.step.edge);
        let process = program.process(edge.process);
        let statement = &process.statements[edge.statement.0 as usize];
        let says_nothing = matches!(statement.action, Action::Skip | Action::Guard(Expr::Constant(_)));
        ClaimMove {
            condition: (!says_nothing).then(|| statement_text(statement).to_owned()),
            accepting: process.locations[edge.target.0 as usize].accept,
            moves: edge.source != edge.target,
            stuttered: self.stuttered,
        }
    }

    fn add_event(
        &self,
        program: &Program,
        step: &mut Step,
        names: &Names<'_>,
        names_after: &Names<'_>,
        after: &State,
        event: &Event,
    ) {
        let rendezvous = self.step.partner.is_some();
        let mut message = |channel: i32, fields: &[i32], sent: bool, kept: bool| {
            let shown = self.before.channels.get(channel as usize - 1);
            let fields = shown.map(|channel| names.fields(channel, fields)).unwrap_or_default();
            let channel = names.channel(channel);
            step.messages.push(Message { pid: event.pid, channel, fields, sent, kept, rendezvous });
        };
        match &event.what {
            Happening::Sent { channel, message: fields } => message(*channel, fields, true, false),
            Happening::Received { channel, message: fields, kept } => message(*channel, fields, false, *kept),
            Happening::Printed(text) => step.printed.push_str(text),
            Happening::Created(pid) => step.created.extend(created(program, names_after, after, *pid)),
            Happening::Ended => step.ended = true,
            Happening::AssertionFailed { inside } => step.fault_span = inside.unwrap_or(step.fault_span),
            Happening::Executed(part) => step.parts.push(*part),
            // These are notes.
            Happening::Truncated { .. }
            | Happening::Overflowed { .. }
            | Happening::FirstOfSeveral { .. }
            | Happening::Lost { .. } => {}
        }
    }
}

/// A process that takes an edge, and the statement that it executes there.
pub(crate) fn actor(program: &Program, pid: u8, edge: EdgeId) -> Actor {
    let process = program.process(program.process_of(edge));
    let statement = program.statement(program.process_of(edge), edge);
    let location = &process.locations[program.edge(edge).source.0 as usize];
    Actor {
        pid,
        process: process.name.clone(),
        name: if pid == CLAIM_PID { process.name.clone() } else { process_name(&process.name, usize::from(pid)) },
        span: statement.span,
        text: statement_text(statement).to_owned(),
        statement: statement.number,
        labels: location.labels.clone(),
    }
}

fn action(program: &Program, edge: EdgeId) -> &Action {
    &program.statement(program.process_of(edge), edge).action
}

fn created(program: &Program, names: &Names<'_>, after: &State, pid: u8) -> Option<Created> {
    let process = after.processes.get(usize::from(pid))?;
    let data = program.process(process.process);
    let parameters = &data.locals[..data.parameter_count as usize];
    let parameters = variables_of(names, parameters, &process.locals, "");
    Some(Created { pid, name: names.process(pid), parameters })
}

/// A state, and the names of what is in it.
#[derive(Clone, Copy)]
struct NamedState<'a> {
    state: &'a State,
    names: &'a Names<'a>,
}

/// What is different between two successive states.
fn changes(program: &Program, old: NamedState<'_>, new: NamedState<'_>) -> Vec<Change> {
    let (NamedState { state: before, names: old_names }, NamedState { state: after, names: new_names }) = (old, new);
    let mut found = Vec::new();
    let mut compare = |variables: &[Variable], old: &[Values], new: &[Values], pid: Option<u8>| {
        if old == new {
            return;
        }
        let owner = match pid {
            None => String::new(),
            Some(CLAIM_PID) => {
                after.claim.as_ref().map(|claim| program.process(claim.process).name.clone() + ":").unwrap_or_default()
            }
            Some(pid) => old_names.process(pid) + ":",
        };
        let changed = variables.iter().zip(old).zip(new).filter(|((_, old), new)| old != new);
        for ((variable, old), new) in changed {
            for (element, (old, new)) in old.iter().zip(new.iter()).enumerate().filter(|(_, (old, new))| old != new) {
                found.push(Change {
                    name: format!("{owner}{}", variable.element_name(element)),
                    pid,
                    what: Changed::Variable,
                    old: old_names.value(variable.ty.kind, *old),
                    new: new_names.value(variable.ty.kind, *new),
                });
            }
        }
    };
    compare(&program.globals, &before.globals, &after.globals, None);
    for (pid, (old, new)) in before.processes.iter().zip(&after.processes).enumerate() {
        compare(&program.process(old.process).locals, &old.locals, &new.locals, Some(pid as u8));
    }
    if let (Some(old), Some(new)) = (&before.claim, &after.claim) {
        let process = program.process(old.process);
        compare(&process.locals, &old.locals, &new.locals, Some(CLAIM_PID));
    }
    for (pid, (old, new)) in before.processes.iter().zip(&after.processes).enumerate() {
        if old.priority != new.priority {
            found.push(Change {
                name: format!("priority of {}", old_names.process(pid as u8)),
                pid: Some(pid as u8),
                what: Changed::Priority,
                old: old.priority.to_string(),
                new: new.priority.to_string(),
            });
        }
    }
    for (index, (old, new)) in before.channels.iter().zip(&after.channels).enumerate() {
        if old != new {
            found.push(Change {
                name: old_names.channel(index as i32 + 1),
                pid: None,
                what: Changed::Channel,
                old: old_names.contents(old),
                new: new_names.contents(new),
            });
        }
    }
    found
}
