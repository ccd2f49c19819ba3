//! What surprises people about a step: a value that did not fit, an `else` that stands for a full channel, control that was
//! lost in an atomic sequence. Each note is a fact about this very step, established by taking it.

use fabius_base::Span;
use fabius_program::lossy::lost_send;
use fabius_program::{Action, BinaryOp, CLAIM_PID, EdgeId, Move, Program, Type};

use crate::blocked::{Reason, Waiting, asks_a_channel, channel_of, waiting_at};
use crate::evaluate::Overflow;
use crate::execute::{Event, Happening, StoredAt};
use crate::interpret::released;
use crate::show::{Names, process_name};
use crate::state::State;
use crate::trace::Taken;

/// A note about a step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Note {
    /// What it is about.
    pub kind: NoteKind,
    /// A sentence without its full stop.
    pub text: String,
    /// The part of a `d_step` that it is about.
    pub span: Option<Span>,
}

/// What a note is about.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum NoteKind {
    /// The process that was inside an atomic sequence could not move, and lost control.
    AtomicityLost,
    /// The step was possible only because nothing else was.
    Timeout,
    /// An `else` was taken because of what is, or is not, in a channel.
    Else,
    /// A process inside an atomic sequence sent to a rendezvous channel, and so gave up control.
    ControlPassed,
    /// A value did not fit where it was stored.
    Wrapped,
    /// The result of an operation did not fit 32 bits.
    Overflow,
    /// A `d_step` took the first of several options that were executable.
    FirstOption,
    /// A new process has the number of one that has ended.
    NumberReused,
    /// A message was sent to a full channel and is lost.
    MessageLost,
}

impl NoteKind {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::AtomicityLost,
        Self::Timeout,
        Self::Else,
        Self::ControlPassed,
        Self::Wrapped,
        Self::Overflow,
        Self::FirstOption,
        Self::NumberReused,
        Self::MessageLost,
    ];

    /// Its name in a report.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AtomicityLost => "atomicity-lost",
            Self::Timeout => "timeout",
            Self::Else => "else",
            Self::ControlPassed => "control-passed",
            Self::Wrapped => "wrapped",
            Self::Overflow => "overflow",
            Self::FirstOption => "first-option",
            Self::NumberReused => "pid-reused",
            Self::MessageLost => "message-lost",
        }
    }

    /// Whether it is about what was the case before the step.
    pub fn is_before(self) -> bool {
        matches!(self, Self::AtomicityLost | Self::Timeout)
    }
}

/// All that there is to note about a step except whose numbers are used again, which only a run knows.
pub(crate) fn of_step(program: &Program, taken: &Taken<'_>) -> Vec<Note> {
    let mut notes = Vec::new();
    let mut add = |kind, text, span| {
        let note = Note { kind, text, span };
        if !notes.contains(&note) {
            notes.push(note);
        }
    };
    if let Some(loser) = taken.lost_control {
        add(NoteKind::AtomicityLost, lost_control(program, taken.before, loser), None);
    }
    if taken.timeout {
        add(NoteKind::Timeout, "timeout: nothing else can move".to_owned(), None);
    }
    if let Some(text) = else_for_a_channel(program, taken) {
        add(NoteKind::Else, text, None);
    }
    if let Some(text) = control_passed(program, taken) {
        add(NoteKind::ControlPassed, text, None);
    }
    if let Some(text) = message_lost(program, taken) {
        add(NoteKind::MessageLost, text, None);
    }
    if let crate::interpret::Outcome::Reaches { state, events, .. } = taken.outcome {
        for event in events {
            if let Some((kind, text, span)) = of_event(program, taken, state, event) {
                add(kind, text, span);
            }
        }
    }
    notes
}

/// That a process loses control, and why.
pub(crate) fn lost_control(program: &Program, before: &State, loser: u8) -> String {
    let waits: Vec<String> =
        waiting_at(program, &released(before), loser, false).iter().map(Waiting::sentence).collect();
    let why = if waits.is_empty() { String::new() } else { format!(": it waits {}", waits.join(" and ")) };
    let name = Names::of(program, before).process(loser);
    format!("{name} cannot go on in its atomic sequence{why}; others may move")
}

/// Why an `else` was taken, if an option before it waits for a channel.
fn else_for_a_channel(program: &Program, taken: &Taken<'_>) -> Option<String> {
    let Move { pid, edge, .. } = taken.step;
    if pid == CLAIM_PID || !begins_with_else(action(program, edge)) {
        return None;
    }
    let before = released(taken.before);
    let options = waiting_at(program, &before, pid, taken.timeout);
    let earlier = options.iter().filter(|option| option.edge < edge);
    let waits = |option: &&Waiting| match (&option.reason, action(program, option.edge)) {
        (Reason::ChannelFull { .. } | Reason::ChannelEmpty { .. }, _) => true,
        (
            Reason::NoMatch { .. } | Reason::NoReceiver { .. } | Reason::NoSender { .. } | Reason::SenderChooses { .. },
            _,
        ) => true,
        (Reason::ConditionFalse { .. }, action) => {
            guard_of(action).is_some_and(|condition| asks_a_channel(program, &before, pid, taken.timeout, condition))
        }
        _ => false,
    };
    let waits: Vec<String> = earlier.filter(waits).map(Waiting::sentence).collect();
    (!waits.is_empty()).then(|| format!("`else`: not {}", waits.join(", and not ")))
}

fn begins_with_else(action: &Action) -> bool {
    match action {
        Action::Else => true,
        Action::Merged(parts) => matches!(parts.first(), Some(Action::Else)),
        _ => false,
    }
}

fn guard_of(action: &Action) -> Option<&fabius_program::Expr> {
    match action {
        Action::Guard(condition) => Some(condition),
        Action::Merged(parts) => match parts.first() {
            Some(Action::Guard(condition)) => Some(condition),
            _ => None,
        },
        _ => None,
    }
}

/// That a process gave up control although its next statement is in the same atomic sequence.
fn control_passed(program: &Program, taken: &Taken<'_>) -> Option<String> {
    let (partner, _) = taken.step.partner?;
    let after = taken.outcome.state()?;
    if !program.edge(taken.step.edge).atomic {
        return None;
    }
    let names = Names::of(program, taken.before);
    let sender = names.process(taken.step.pid);
    Some(match after.holder {
        Some(holder) if holder == partner => {
            format!(
                "control passes with the message from the atomic sequence of {sender} to {}",
                names.process(partner)
            )
        }
        _ => {
            format!("{sender} gives up control in its atomic sequence because it hands over a message; others may move")
        }
    })
}

/// That a step sends to a full channel, and its message is lost.
fn message_lost(program: &Program, taken: &Taken<'_>) -> Option<String> {
    let Move { pid, edge, .. } = taken.step;
    let send = lost_send(program, edge).filter(|_| pid != CLAIM_PID)?;
    let channel = channel_of(program, &released(taken.before), pid, taken.timeout, &send.channel)?;
    lost_on(program, taken.before, channel)
}

/// That a message is lost on the channel with an identity.
fn lost_on(program: &Program, state: &State, channel: i32) -> Option<String> {
    let kind = state.channels.get(usize::try_from(channel).ok()?.checked_sub(1)?)?.channel_type;
    let capacity = program.channel_types.get(kind.0 as usize)?.capacity;
    let full = Reason::ChannelFull { channel: Names::of(program, state).channel(channel), capacity };
    Some(format!("the message is lost: {}", full.sentence()))
}

fn of_event(
    program: &Program,
    taken: &Taken<'_>,
    after: &State,
    event: &Event,
) -> Option<(NoteKind, String, Option<Span>)> {
    match event.what {
        Happening::Truncated { place, given, kept, inside } => {
            let (name, ty) = stored(program, taken, after, place)?;
            let kept = Names::of(program, after).value(ty.kind, kept);
            let (low, high) = range(ty);
            let text = format!("wrapped: {given} does not fit {name} ({low} to {high}), which becomes {kept}");
            Some((NoteKind::Wrapped, text, inside))
        }
        Happening::Overflowed { overflow: Overflow { left, op, right, kept }, inside } => {
            let sign = match op {
                BinaryOp::Add => "+",
                BinaryOp::Subtract => "-",
                BinaryOp::Multiply => "*",
                _ => "/",
            };
            let right = if right < 0 { format!("({right})") } else { right.to_string() };
            let text = format!("wrapped: {left} {sign} {right} does not fit 32 bits and becomes {kept}");
            Some((NoteKind::Overflow, text, inside))
        }
        Happening::FirstOfSeveral { executable, taken } => {
            let text = format!("the `d_step` takes the first of {executable} executable options, never another one");
            Some((NoteKind::FirstOption, text, Some(taken)))
        }
        Happening::Lost { channel, inside } => {
            Some((NoteKind::MessageLost, lost_on(program, after, channel)?, Some(inside)))
        }
        _ => None,
    }
}

/// The name of a place that a step stored into, and its type.
fn stored(program: &Program, taken: &Taken<'_>, after: &State, place: StoredAt) -> Option<(String, Type)> {
    match place {
        StoredAt::Global(id, element) => {
            let variable = &program.globals[id.0 as usize];
            Some((variable.element_name(element), variable.ty))
        }
        StoredAt::Local(pid, id, element) => {
            let (process, name) = if pid == CLAIM_PID {
                let claim = after.claim.as_ref()?.process;
                (claim, program.process(claim).name.clone())
            } else {
                let process = after.processes.get(usize::from(pid))?.process;
                (process, process_name(&program.process(process).name, usize::from(pid)))
            };
            let variable = program.process(process).locals.get(id.0 as usize)?;
            let own = pid == taken.step.pid;
            let name = if own { String::new() } else { format!("{name}:") };
            Some((format!("{name}{}", variable.element_name(element)), variable.ty))
        }
        StoredAt::Field(channel, field) => {
            let index = usize::try_from(channel).ok()?.checked_sub(1)?;
            let channel_type = &program.channel_types[after.channels.get(index)?.channel_type.0 as usize];
            let name = Names::of(program, after).channel(channel);
            let which = if channel_type.fields.len() == 1 {
                "the message".to_owned()
            } else {
                format!("field {} of the message", field + 1)
            };
            Some((format!("{which} on {name}"), *channel_type.fields.get(field)?))
        }
    }
}

/// The smallest and the largest value of a type.
fn range(ty: Type) -> (i64, i64) {
    let bits = u32::from(ty.bits);
    match ty.signed {
        true => (-(1i64 << (bits - 1)), (1i64 << (bits - 1)) - 1),
        // A variable of 32 bits is read back as a signed number.
        false if bits == 32 => (i64::from(i32::MIN), i64::from(i32::MAX)),
        false => (0, (1i64 << bits) - 1),
    }
}

fn action(program: &Program, edge: EdgeId) -> &Action {
    &program.statement(program.process_of(edge), edge).action
}

/// That a new process has the number of one that ended earlier on the way. `backwards`: the moves before the step that
/// created it and the numbers of these steps, the last one first.
pub fn number_reused(
    program: &Program,
    pid: u8,
    name: &str,
    mut backwards: impl Iterator<Item = (Move, usize)>,
) -> Option<Note> {
    let (step, number) = backwards.find(|(step, _)| step.pid == pid && ends(action(program, step.edge)))?;
    let former = process_name(&program.process(program.process_of(step.edge)).name, usize::from(pid));
    let text = match former == name {
        true => format!("{name} is a new process: the {former} before it ended in step {number}"),
        false => format!("{name} gets the number of {former}, which ended in step {number}"),
    };
    Some(Note { kind: NoteKind::NumberReused, text, span: None })
}

fn ends(action: &Action) -> bool {
    match action {
        Action::End => true,
        Action::Merged(parts) => parts.contains(&Action::End),
        _ => false,
    }
}
