//! A path as a person reads it: who did what, where, and what changed.

use fabius_base::Span;
use fabius_program::{Action, EdgeId, Move, Program, Variable, meaning::Fault};

use crate::blocked::Standing;
use crate::confirm::Claim;
use crate::execute::{Event, Happening};
use crate::explain::Explanation;
use crate::interpret::Outcome;
use crate::show::{Names, element_name, statement_text};
use crate::state::State;

/// A confirmed path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trace {
    /// What the path shows.
    pub claim: Claim,
    /// Its steps.
    pub steps: Vec<Step>,
    /// The state it starts in.
    pub start: Snapshot,
    /// The state it ends in; if the last step cannot be computed, the state before it.
    pub last: Snapshot,
    /// Number of the first step of the cycle, for a path that runs into one.
    pub cycle_start: Option<usize>,
    /// For an invalid end state: who waits for whom, and what may be done.
    pub explanation: Option<Explanation>,
}

/// A state as a person reads it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Snapshot {
    /// Global variables: names and values.
    pub variables: Vec<(String, String)>,
    /// Channels: names and contents.
    pub channels: Vec<(String, String)>,
    /// Where each process stands.
    pub processes: Vec<Standing>,
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
    /// Number, from 1.
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
    /// What is wrong with the step.
    pub fault: Option<Fault>,
    /// Where it goes wrong: the statement, or the part of it that fails.
    pub fault_span: Span,
    /// The parts that a `d_step` executed, in order (the first thousand).
    pub parts: Vec<Span>,
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
    /// The last step that changed a variable or channel, as process `owner` calls it.
    pub fn last_change(&self, owner: &str, name: &str) -> Option<&Step> {
        let own = format!("{owner}:{name}");
        self.steps.iter().rev().find(|step| step.changes.iter().any(|c| c.name == name || c.name == own))
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
        processes: crate::blocked::standings(program, state),
    }
}

/// Variables and their values; a channel variable that never held another channel is left out.
pub(crate) fn variables_of(
    names: &Names<'_>,
    variables: &[Variable],
    values: &[Vec<i32>],
    owner: &str,
) -> Vec<(String, String)> {
    let mut shown = Vec::new();
    for (variable, values) in variables.iter().zip(values) {
        if matches!(variable.initial, fabius_program::Initial::Channel(_)) {
            continue;
        }
        for (element, &value) in values.iter().enumerate() {
            let name = format!("{owner}{}", element_name(variable, element));
            shown.push((name, names.value(variable.ty.kind, value)));
        }
    }
    shown
}

/// Everything about a step that the interpreter knows.
pub(crate) struct Taken<'a> {
    pub(crate) number: usize,
    pub(crate) step: Move,
    pub(crate) before: &'a State,
    pub(crate) outcome: &'a Outcome,
    pub(crate) lost_control: Option<u8>,
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
            actor: self.actor(program, &names, pid, self.step.edge),
            partner: self.step.partner.map(|(pid, edge)| self.actor(program, &names, pid, edge)),
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
            fault: self.outcome.fault(),
            fault_span: program.span_of(self.step.edge),
            parts: Vec::new(),
        };
        if let Outcome::Broken { inside: Some(part), .. } = self.outcome {
            step.fault_span = *part;
        }
        if let Outcome::Reaches { state, events, .. } = self.outcome {
            step.holds = state.holder.is_some();
            let names_after = Names::of(program, state);
            step.changes = changes(program, (self.before, &names), (state, &names_after));
            for event in events {
                self.add_event(program, &mut step, &names, &names_after, state, event);
            }
        }
        step
    }

    fn actor(&self, program: &Program, names: &Names<'_>, pid: u8, edge: EdgeId) -> Actor {
        let process = program.process(program.process_of(edge));
        let statement = program.statement(program.process_of(edge), edge);
        let location = &process.locations[program.edge(edge).source.0 as usize];
        Actor {
            pid,
            process: process.name.clone(),
            name: names.process(pid),
            span: statement.span,
            text: statement_text(statement).to_owned(),
            statement: statement.number,
            labels: location.labels.clone(),
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
        }
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

/// What is different between two successive states.
fn changes(
    program: &Program,
    (before, old_names): (&State, &Names<'_>),
    (after, new_names): (&State, &Names<'_>),
) -> Vec<Change> {
    let mut found = Vec::new();
    let mut compare = |variables: &[Variable], old: &[Vec<i32>], new: &[Vec<i32>], owner: &str, pid: Option<u8>| {
        for ((variable, old), new) in variables.iter().zip(old).zip(new) {
            for (element, (old, new)) in old.iter().zip(new).enumerate().filter(|(_, (old, new))| old != new) {
                found.push(Change {
                    name: format!("{owner}{}", element_name(variable, element)),
                    pid,
                    what: Changed::Variable,
                    old: old_names.value(variable.ty.kind, *old),
                    new: new_names.value(variable.ty.kind, *new),
                });
            }
        }
    };
    compare(&program.globals, &before.globals, &after.globals, "", None);
    for (pid, (old, new)) in before.processes.iter().zip(&after.processes).enumerate() {
        let owner = format!("{}:", old_names.process(pid as u8));
        compare(&program.process(old.process).locals, &old.locals, &new.locals, &owner, Some(pid as u8));
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
