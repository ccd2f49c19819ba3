//! Shared variables and channels that serve nothing but waiting: locks, semaphores, barriers.
//!
//! ```text
//! V := the shared variables that are not hidden, and that nothing but steps reads: no formula, no first value
//! repeat, until nothing changes:  for each part of a step that touches a variable of V:
//!   unless the part waits for, or changes, nothing but variables of V, and its process has no other way on there:
//!     V := V without what it touches
//! those of V for which somebody waits, and what shares a part of a step with one of these
//! ```
//!
//! A part that waits may wait for data as well, if that is a condition of its own: of `!lock && count > 0`, the part `count > 0` stays. A
//! channel with a buffer is a lock, too, where it is named by its variable alone and what is received is not looked at: messages are
//! tokens then.
//!
//! Without them, each such part is a step that is always possible, or waits for data only, and changes nothing. Whether whoever waits also
//! reads variables of his own makes no difference. Nobody may wait for them inside an atomic sequence, where he would go on and keep the others from moving, nor
//! where a process may end, where a run would not end. Nobody may ask where another process is: one that does not wait is further on.

use super::walk::{any_within, each_within, initial_values, operands};
use crate::{
    Action, BinaryOp, Expr, Initial, Kind, LocationId, Pattern, Place, Process, ProcessId, ProcessKind, Program,
    PropertyKind, Receive, Send, Slot, VariableId,
};
use std::collections::BTreeSet;

/// The shared variables of a program that serve nothing but waiting; none if it asks who can move, who moved last, or where others are.
pub fn only_waited_for(program: &Program) -> BTreeSet<VariableId> {
    let uses = program.uses;
    let asks_where = expressions(program)
        .into_iter()
        .any(|e| any_within(e, |part| matches!(part, Expr::At { .. } | Expr::LocationOf(_) | Expr::Remote { .. })));
    if uses.timeout || uses.last || uses.enabled || uses.priority || uses.non_progress || asks_where {
        return BTreeSet::new();
    }
    let mut open: BTreeSet<VariableId> = (0..program.globals.len() as u32).map(VariableId).collect();
    open.retain(|variable| {
        let variable = &program.globals[variable.0 as usize];
        let buffered = match variable.initial {
            Initial::Channel(ty) => program.channel_types[ty.0 as usize].capacity != 0 && !watches_channels(program),
            _ => variable.ty.kind != Kind::Channel,
        };
        !variable.hidden && buffered
    });
    for e in outside_of_steps(program) {
        open = &open - &shared_in(e);
    }
    // Where a process would go on if it did not wait, although it must not.
    let atomic: BTreeSet<(ProcessId, LocationId)> =
        program.edges.iter().filter(|edge| edge.atomic).map(|edge| (edge.process, edge.target)).collect();
    loop {
        let before = open.len();
        for edge in &program.edges {
            let process = program.process(edge.process);
            let location = &process.locations[edge.source.0 as usize];
            let alone = location.edges.len() == 1 && process.kind == ProcessKind::Process;
            let must_wait = location.end || atomic.contains(&(edge.process, edge.source));
            let action = &process.statements[edge.statement.0 as usize].action;
            for (number, part) in parts(action).into_iter().enumerate() {
                let waits = number == 0 && can_wait(part.action);
                if alone && part.alone && !(waits && must_wait) {
                    open = &open - &kept_by(part.action, &open, &|local| !is_read(process, local));
                } else {
                    open = &open - &touched(part.action);
                }
            }
        }
        if open.len() == before {
            break;
        }
    }
    let statements = || program.processes.iter().flat_map(|process| &process.statements);
    let waits = statements().flat_map(|statement| parts(&statement.action)).filter(|part| can_wait(part.action));
    let awaited: BTreeSet<VariableId> = waits.flat_map(|part| touched(part.action)).collect();
    let mut found = &open & &awaited;
    loop {
        let together = statements().flat_map(|statement| parts(&statement.action)).map(|part| touched(part.action));
        let together: BTreeSet<VariableId> = together.filter(|part| !part.is_disjoint(&found)).flatten().collect();
        let more = &found | &(&together & &open);
        if more.len() == found.len() {
            return found;
        }
        found = more;
    }
}

/// Whether something looks at what is sent and received.
fn watches_channels(program: &Program) -> bool {
    program.processes.iter().any(|process| process.kind == ProcessKind::Trace || process.kind == ProcessKind::NoTrace)
}

/// Whether an action can be impossible until others have moved.
fn can_wait(action: &Action) -> bool {
    matches!(action, Action::Guard(_) | Action::Send(_) | Action::Receive(_))
}

/// Whether a local variable of a process is ever read.
fn is_read(process: &Process, local: VariableId) -> bool {
    let loads = |e: &Expr| {
        any_within(
            e,
            |part| matches!(part, Expr::Load(place) if matches!(place.slot, Slot::Local(found) if found == local)),
        )
    };
    let initial = process.locals.iter().flat_map(|variable| initial_values(&variable.initial));
    let steps = process.statements.iter().flat_map(|statement| parts(&statement.action)).flat_map(|part| {
        let (values, places) = operands(part.action);
        values.into_iter().chain(places.into_iter().flat_map(|place| &place.indices)).collect::<Vec<&Expr>>()
    });
    initial.chain(&process.provided).chain(steps).any(loads)
}

/// The local variables in which receives from some channels store something: nobody reads them.
pub fn stored_from(program: &Program, variables: &BTreeSet<VariableId>) -> BTreeSet<(ProcessId, VariableId)> {
    let mut found = BTreeSet::new();
    for (number, process) in (0..).map(ProcessId).zip(&program.processes) {
        for part in process.statements.iter().flat_map(|statement| parts(&statement.action)) {
            if !matches!(part.action, Action::Receive(_)) || touched(part.action).is_disjoint(variables) {
                continue;
            }
            let (_, places) = operands(part.action);
            found.extend(places.iter().filter_map(|place| match place.slot {
                Slot::Local(local) => Some((number, local)),
                Slot::Global(_) => None,
            }));
        }
    }
    found
}

/// What is evaluated elsewhere than in steps: first values, `provided`, formulas.
fn outside_of_steps(program: &Program) -> Vec<&Expr> {
    let others = program.globals.iter().chain(program.processes.iter().flat_map(|process| &process.locals));
    let mut found: Vec<&Expr> = others.flat_map(|variable| initial_values(&variable.initial)).collect();
    found.extend(program.processes.iter().flat_map(|process| &process.provided));
    for property in &program.properties {
        if let PropertyKind::Ltl(formula) = &property.kind {
            found.extend(formula.propositions());
        }
    }
    found
}

/// All expressions of a program that are evaluated.
pub(super) fn expressions(program: &Program) -> Vec<&Expr> {
    let mut found = outside_of_steps(program);
    let statements = program.processes.iter().flat_map(|process| &process.statements);
    for part in statements.flat_map(|statement| parts(&statement.action)) {
        let (values, places) = operands(part.action);
        found.extend(values.into_iter().chain(places.into_iter().flat_map(|place| &place.indices)));
    }
    found
}

/// The program without variables of [`only_waited_for`]: what touches them is always possible, and changes nothing.
#[must_use]
pub fn without(program: &Program, variables: &BTreeSet<VariableId>) -> Program {
    let mut program = program.clone();
    for statement in program.processes.iter_mut().flat_map(|process| &mut process.statements) {
        leave_out(&mut statement.action, variables);
    }
    program
}

/// Whether all that an action does is done to some variables.
pub fn is_only_about(action: &Action, variables: &BTreeSet<VariableId>) -> bool {
    let parts = parts(action);
    parts.iter().any(|part| !touched(part.action).is_disjoint(variables))
        && parts.iter().all(|part| {
            matches!(rest_of(part.action, variables), Some(Action::Skip)) || matches!(part.action, Action::Skip)
        })
}

fn leave_out(action: &mut Action, variables: &BTreeSet<VariableId>) {
    match action {
        Action::Merged(parts) => parts.iter_mut().for_each(|part| leave_out(part, variables)),
        Action::Block(block) => {
            let options = block.nodes.iter_mut().flat_map(|node| &mut node.options);
            options.for_each(|option| leave_out(&mut option.action, variables));
        }
        action => {
            if let Some(rest) = rest_of(action, variables) {
                *action = rest;
            }
        }
    }
}

/// What is left of an action without parts if it does nothing to some variables, and does not wait for them; nothing if it is the same.
fn rest_of(action: &Action, variables: &BTreeSet<VariableId>) -> Option<Action> {
    if touched(action).is_disjoint(variables) {
        return None;
    }
    let Action::Guard(e) = action else { return Some(Action::Skip) };
    // What the process asks itself is so: it goes on in the program with them.
    let is_left =
        |condition: &&Expr| shared_in(condition).is_disjoint(variables) && !is_only_of(condition, &BTreeSet::new());
    let others = conditions(e).into_iter().filter(is_left).cloned();
    let all = others.reduce(|all, next| Expr::Binary(BinaryOp::And, Box::new(all), Box::new(next)));
    Some(all.map_or(Action::Skip, Action::Guard))
}

/// The conditions all of which have to be true for an expression to be true, in their order.
fn conditions(e: &Expr) -> Vec<&Expr> {
    let (mut found, mut open) = (Vec::new(), vec![e]);
    while let Some(e) = open.pop() {
        match e {
            Expr::Binary(BinaryOp::And, first, second) => open.extend([&**second, &**first]),
            e => found.push(e),
        }
    }
    found
}

/// A part of an action, and whether nothing else can be done in its place.
struct Part<'a> {
    action: &'a Action,
    alone: bool,
}

fn parts(action: &Action) -> Vec<Part<'_>> {
    match action {
        Action::Merged(merged) => merged.iter().flat_map(parts).collect(),
        Action::Block(block) => {
            let options = block.nodes.iter().flat_map(|node| {
                let alone = node.options.len() == 1;
                node.options.iter().map(move |option| Part { action: &option.action, alone })
            });
            options.collect()
        }
        action => vec![Part { action, alone: true }],
    }
}

/// Of some variables, those that an action does more with than to wait for them, or to change them; nobody reads a local variable of which
/// `is_unread` is true.
fn kept_by(
    action: &Action,
    variables: &BTreeSet<VariableId>,
    is_unread: &dyn Fn(VariableId) -> bool,
) -> BTreeSet<VariableId> {
    let all = touched(action);
    let fits = match action {
        Action::Guard(e) => {
            // A condition that is about other variables, too, is about none of these alone.
            let mixed = conditions(e).into_iter().filter(|condition| !is_only_of(condition, variables));
            return mixed.flat_map(shared_in).collect();
        }
        Action::Assign(place, e) => {
            let mut values = std::iter::once(e).chain(&place.indices);
            matches!(place.slot, Slot::Global(variable) if variables.contains(&variable))
                && values.all(|value| is_only_of(value, variables))
        }
        Action::Send(Send { channel, fields, .. }) => {
            is_named(channel, variables) && fields.iter().all(|value| is_only_of(value, variables))
        }
        Action::Receive(Receive { channel, fields, .. }) => {
            let is_token = |field: &Pattern| match field {
                Pattern::Ignore => true,
                Pattern::Match(value) => is_only_of(value, variables),
                Pattern::Store(place) => matches!(place.slot, Slot::Local(local) if is_unread(local)),
            };
            is_named(channel, variables) && fields.iter().all(is_token)
        }
        _ => false,
    };
    if fits { BTreeSet::new() } else { all }
}

/// Whether an expression is the channel that some variable was declared with.
fn is_named(channel: &Expr, variables: &BTreeSet<VariableId>) -> bool {
    match channel {
        Expr::Load(Place { slot: Slot::Global(variable), indices, .. }) => {
            variables.contains(variable) && indices.iter().all(|index| is_only_of(index, variables))
        }
        _ => false,
    }
}

/// Whether an expression reads no other shared variables than these, and channels only to ask how full they are or what they hold.
fn is_only_of(e: &Expr, variables: &BTreeSet<VariableId>) -> bool {
    let is_one = |slot: Slot| match slot {
        Slot::Global(variable) => variables.contains(&variable),
        Slot::Local(_) => true,
    };
    let is_token = |field: &Pattern| !matches!(field, Pattern::Store(_));
    let mut fits = true;
    each_within(e, |part| {
        fits &= match part {
            Expr::Load(place) => is_one(place.slot),
            Expr::Length(channel) | Expr::Test(_, channel) => is_named(channel, variables),
            Expr::Poll { channel, fields, .. } => is_named(channel, variables) && fields.iter().all(is_token),
            Expr::Constant(_) | Expr::Unary(..) | Expr::Binary(..) | Expr::Conditional(..) | Expr::Pid => true,
            _ => false,
        };
    });
    fits
}

/// The shared variables that an action without parts reads or changes.
fn touched(action: &Action) -> BTreeSet<VariableId> {
    let (values, places) = operands(action);
    let indices = places.iter().flat_map(|place| &place.indices);
    let mut touched: BTreeSet<VariableId> = values.into_iter().chain(indices).flat_map(shared_in).collect();
    touched.extend(places.iter().filter_map(|place| match place.slot {
        Slot::Global(variable) => Some(variable),
        Slot::Local(_) => None,
    }));
    touched
}

/// The shared variables that an expression reads.
fn shared_in(e: &Expr) -> BTreeSet<VariableId> {
    let mut found = BTreeSet::new();
    each_within(e, |part| {
        let places: Vec<&Place> = match part {
            Expr::Load(place) => vec![place],
            // What a poll would store to is not changed, but is none of those that are left out, either.
            Expr::Poll { fields, .. } => fields
                .iter()
                .filter_map(|field| match field {
                    Pattern::Store(place) => Some(place),
                    _ => None,
                })
                .collect(),
            _ => vec![],
        };
        found.extend(places.iter().filter_map(|place| match place.slot {
            Slot::Global(variable) => Some(variable),
            Slot::Local(_) => None,
        }));
    });
    found
}
