//! How values change from state to state along a path.

use fabius_base::{Cancel, Span};
use fabius_machine::View;
use fabius_model::SearchedMachine;
use fabius_program::{ChannelTypeId, Kind, Move, ProcessId, Program, VariableId};
use fabius_search::Model;
use std::collections::BTreeMap;

/// Whose value it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Subject {
    /// An element of a global variable.
    Global { variable: VariableId, element: usize },
    /// An element of a variable of a process.
    Local { pid: usize, process: ProcessId, variable: VariableId, element: usize },
    /// The number of messages in a channel, by its identity.
    Length { channel: usize },
    /// A field, counted from 0, of the youngest message in a channel. It has no value while the channel is empty.
    LastMessage { channel: usize, ty: ChannelTypeId, field: usize },
}

/// How a value changed along a path, or along the part of it on which there was such a process or channel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Course {
    pub first: i64,
    pub last: i64,
    /// It was smaller than before at some time.
    pub fell: bool,
    /// Steps from the first value to the end of the path.
    pub steps: usize,
}

/// The values that exist at the end of a path.
#[derive(Debug)]
pub(super) struct Followed {
    pub courses: Vec<(Subject, Course)>,
    /// Variables that hold channels at the end, as name, declaration and identity of the channel.
    channels: Vec<(String, Span, usize)>,
}

/// How all values changed along a path; `None` if the path cannot be followed to its end.
pub(super) fn courses(
    program: &Program,
    machine: &mut SearchedMachine,
    path: &[Move],
    cancel: &Cancel,
) -> Option<Followed> {
    // In the order in which the values of a state are told, which is the same as long as there are the same processes and channels.
    let mut known: Vec<(Subject, Option<Course>)> = Vec::new();
    let mut ended: BTreeMap<Subject, Option<Course>> = BTreeMap::new();
    let mut channels = Vec::new();
    let (mut state, mut before) = (Vec::new(), (Vec::new(), 0));
    machine.initial(&mut state).ok()?;
    for at in 0..=path.len() {
        cancel.requested().is_none().then_some(())?;
        let view = machine.machine().view(&state)?;
        let processes: Vec<Option<ProcessId>> = (0..view.process_count()).map(|pid| view.process_of(pid)).collect();
        let now = (processes, view.channel_count());
        if before != now {
            // The youngest process ends first, and its channels with it: what is there again later is another one.
            let kept = before.0.iter().zip(&now.0).take_while(|(before, now)| before == now).count();
            ended = known.drain(..).collect();
            ended.retain(|subject, _| match subject {
                Subject::Global { .. } => true,
                Subject::Local { pid, .. } => *pid < kept,
                Subject::Length { channel } | Subject::LastMessage { channel, .. } => *channel <= before.1.min(now.1),
            });
            before = now;
        }
        let mut index = 0;
        each_value(program, &view, &mut |subject, value| {
            if index == known.len() {
                known.push((subject, ended.remove(&subject).flatten()));
            }
            if let (Some((_, course)), Some(value)) = (known.get_mut(index), value) {
                let new = Course { first: value, last: value, fell: false, steps: path.len() - at };
                let course = course.get_or_insert(new);
                (course.fell, course.last) = (course.fell || value < course.last, value);
            }
            index += 1;
        });
        match path.get(at) {
            Some(step) => state = machine.after(&state, *step)?,
            None => each_variable(program, &view, &mut |variable, _, values| {
                let held = values.iter().filter(|_| variable.ty.kind == Kind::Channel).enumerate();
                channels.extend(held.filter_map(|(element, &id)| {
                    Some((variable.element_name(element), variable.span, usize::try_from(id).ok()?))
                }));
            }),
        }
    }
    let courses = known.into_iter().filter_map(|(subject, course)| Some((subject, course?))).collect();
    Some(Followed { courses, channels })
}

/// The name and the declaration of a variable that holds a channel.
pub(super) fn named_channel(followed: &Followed, channel: usize) -> Option<(&str, Span)> {
    let (name, span, _) = followed.channels.iter().find(|(_, _, id)| *id == channel)?;
    Some((name, *span))
}

/// Tells of each variable whose process it is, if any, and the values of its elements.
fn each_variable<'p>(
    program: &'p Program,
    view: &View<'_>,
    tell: &mut dyn FnMut(&'p fabius_program::Variable, Subject, Vec<i32>),
) {
    for (index, variable) in program.globals.iter().enumerate() {
        let id = VariableId(index as u32);
        tell(variable, Subject::Global { variable: id, element: 0 }, view.global(id));
    }
    for pid in 0..view.process_count() {
        let Some(process) = view.process_of(pid) else { continue };
        for (index, variable) in program.process(process).locals.iter().enumerate() {
            let id = VariableId(index as u32);
            tell(variable, Subject::Local { pid, process, variable: id, element: 0 }, view.local(pid, id));
        }
    }
}

/// Tells of all values of a state, in an order that depends only on its processes and channels; a field of a message that is not
/// there has no value.
fn each_value(program: &Program, view: &View<'_>, tell: &mut dyn FnMut(Subject, Option<i64>)) {
    each_variable(program, view, &mut |_, subject, values| {
        for (at, value) in values.into_iter().enumerate() {
            let subject = match subject {
                Subject::Global { variable, .. } => Subject::Global { variable, element: at },
                Subject::Local { pid, process, variable, .. } => Subject::Local { pid, process, variable, element: at },
                channel => channel,
            };
            tell(subject, Some(i64::from(value)));
        }
    });
    for channel in 1..=view.channel_count() {
        let Some((ty, length)) = view.channel_length(channel) else { continue };
        tell(Subject::Length { channel }, Some(i64::from(length)));
        let last = length.checked_sub(1).and_then(|position| view.message(channel, position));
        let fields = program.channel_types.get(ty.0 as usize).map_or(0, |ty| ty.fields.len());
        for field in 0..fields {
            let value = last.as_ref().and_then(|message| message.get(field));
            tell(Subject::LastMessage { channel, ty, field }, value.map(|&value| i64::from(value)));
        }
    }
}
