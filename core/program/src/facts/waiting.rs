//! Shared variables that serve nothing but waiting: locks, semaphores, barriers.
//!
//! ```text
//! V := the shared variables that are neither channels nor hidden, and that nothing but steps reads: no formula, no first value
//! repeat, until nothing changes:  for each part of a step that touches a variable of V:
//!   unless the part waits for, or changes, nothing but variables of V, and its process has no other way on there:
//!     V := V without what it touches
//! those of V for which somebody waits, and what shares a part of a step with one of these
//! ```
//!
//! Without them, each such part is a step that is always possible and changes nothing. Whether whoever waits also reads variables of his own
//! makes no difference. Nobody may wait for them inside an atomic sequence, where he would go on and keep the others from moving, nor
//! where a process may end, where a run would not end. Nobody may ask where another process is: one that does not wait is further on.

use super::walk::{any_within, each_within, initial_values, operands};
use crate::{
    Action, Expr, Initial, LocationId, Pattern, Place, ProcessId, ProcessKind, Program, PropertyKind, Slot, VariableId,
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
        !variable.hidden && !matches!(variable.initial, Initial::Channel(_))
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
                let waits = number == 0 && matches!(part.action, Action::Guard(_));
                if !alone || !part.alone || waits && must_wait || !only_of(part.action, &open) {
                    open = &open - &touched(part.action);
                }
            }
        }
        if open.len() == before {
            break;
        }
    }
    let statements = || program.processes.iter().flat_map(|process| &process.statements);
    let guards = statements().flat_map(|statement| parts(&statement.action)).filter_map(|part| match part.action {
        Action::Guard(e) => Some(shared_in(e)),
        _ => None,
    });
    let awaited: BTreeSet<VariableId> = guards.flatten().collect();
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
    let about = |action: &Action| touched(action).iter().any(|variable| variables.contains(variable));
    let parts = parts(action);
    parts.iter().any(|part| about(part.action))
        && parts.iter().all(|part| about(part.action) || matches!(part.action, Action::Skip))
}

fn leave_out(action: &mut Action, variables: &BTreeSet<VariableId>) {
    match action {
        Action::Merged(parts) => parts.iter_mut().for_each(|part| leave_out(part, variables)),
        Action::Block(block) => {
            let options = block.nodes.iter_mut().flat_map(|node| &mut node.options);
            options.for_each(|option| leave_out(&mut option.action, variables));
        }
        action if touched(action).iter().any(|variable| variables.contains(variable)) => *action = Action::Skip,
        _ => {}
    }
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

/// Whether an action does nothing but wait for some variables, or change them.
fn only_of(action: &Action, variables: &BTreeSet<VariableId>) -> bool {
    let (values, places) = match action {
        Action::Guard(e) => (vec![e], vec![]),
        Action::Assign(place, e) if matches!(place.slot, Slot::Global(_)) => {
            (std::iter::once(e).chain(&place.indices).collect(), vec![place])
        }
        _ => return touched(action).is_empty(),
    };
    let is_one = |slot: Slot| match slot {
        Slot::Global(variable) => variables.contains(&variable),
        Slot::Local(_) => true,
    };
    let mut fits = places.iter().all(|place: &&Place| is_one(place.slot));
    for value in values {
        each_within(value, |part| {
            fits &= match part {
                Expr::Load(place) => is_one(place.slot),
                Expr::Constant(_) | Expr::Unary(..) | Expr::Binary(..) | Expr::Conditional(..) | Expr::Pid => true,
                _ => false,
            };
        });
    }
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
