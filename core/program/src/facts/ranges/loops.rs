//! Loops that count a variable up and may be left at any value: what `select` over a wide range is made of.
//!
//! ```text
//! L: x < b → M    M: x = x + 1 → L    L: … → elsewhere        every other way to L stores a constant in x
//! ```
//!
//! Nothing else happens in between that anybody could tell from being at L: no label tells them apart, nobody asks who moved last or where
//! a process is, and all formulas are insensitive to stuttering.

use super::super::waiting::expressions;
use super::super::walk::any_within;
use super::flow::Node;
use crate::{
    Action, BinaryOp, Edge, Expr, Formula, Initial, LocationId, Place, Process, ProcessId, ProcessKind, Program,
    PropertyKind, Slot,
};
use std::collections::BTreeSet;

/// A loop that counts up.
pub(super) struct Counting {
    /// The variable.
    pub(super) node: Node,
    pub(super) place: Place,
    /// Values with which the loop is entered, …
    pub(super) from: BTreeSet<i32>,
    /// … and that at which it counts no further.
    pub(super) to: i32,
    /// The edge that adds 1, …
    pub(super) step: usize,
    /// … and those that leave the loop.
    pub(super) exits: Vec<usize>,
}

/// The loops of a program that count.
pub(super) fn counting(program: &Program) -> Vec<Counting> {
    let asks_where = expressions(program)
        .into_iter()
        .any(|e| any_within(e, |part| matches!(part, Expr::At { .. } | Expr::LocationOf(_) | Expr::Remote { .. })));
    let counts_steps = program.properties.iter().any(|property| match &property.kind {
        PropertyKind::Ltl(formula) => has_next(formula),
        PropertyKind::Never(_) => true,
        _ => false,
    });
    let claims = program.processes.iter().any(|process| process.kind == ProcessKind::Claim);
    if asks_where || counts_steps || claims || program.uses.last || program.uses.non_progress {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (at, process) in program.processes.iter().enumerate() {
        if process.kind != ProcessKind::Process || process.deterministic {
            continue;
        }
        let id = ProcessId(at as u32);
        let locations = (0..process.locations.len() as u32).map(LocationId);
        found.extend(locations.filter_map(|location| counting_at(program, id, process, location)));
    }
    found
}

fn has_next(formula: &Formula) -> bool {
    let mut open = vec![formula];
    while let Some(formula) = open.pop() {
        if matches!(formula, Formula::Next(_)) {
            return true;
        }
        let (a, b) = formula.operands();
        open.extend(a.into_iter().chain(b));
    }
    false
}

fn counting_at(program: &Program, id: ProcessId, process: &Process, location: LocationId) -> Option<Counting> {
    let here = &process.locations[location.0 as usize];
    let edges: Vec<usize> = here.edges.clone().map(|edge| edge as usize).collect();
    let action = |edge: usize| &process.statements[program.edges[edge].statement.0 as usize].action;
    let incoming = |to: LocationId| -> Vec<usize> {
        let edges = program.edges.iter().enumerate();
        edges.filter(|(_, edge)| edge.process == id && edge.target == to).map(|(at, _)| at).collect()
    };
    let (begin, step, place, to) = edges.iter().find_map(|&edge| {
        if let Action::Merged(parts) = action(edge) {
            let [Action::Guard(guard), assign] = parts.as_slice() else { return None };
            let (place, to) = is_below(guard)?;
            let fits = adds_one(assign, place) && program.edges[edge].target == location;
            return fits.then_some((edge, edge, place, to));
        }
        let Action::Guard(guard) = action(edge) else { return None };
        let (place, to) = is_below(guard)?;
        let middle = program.edges[edge].target;
        let between = &process.locations[middle.0 as usize];
        let [step] = between.edges.clone().map(|edge| edge as usize).collect::<Vec<_>>().try_into().ok()?;
        let fits = middle != location
            && adds_one(action(step), place)
            && program.edges[step].target == location
            && incoming(middle) == [edge]
            && process.entry != middle
            && (between.progress, between.accept) == (here.progress, here.accept);
        fits.then_some((edge, step, place, to))
    })?;
    let exits: Vec<usize> = edges.iter().copied().filter(|&edge| edge != begin).collect();
    let mut from = BTreeSet::new();
    let declared = match place.slot {
        Slot::Global(variable) => &program.globals[variable.0 as usize],
        Slot::Local(variable) => &process.locals[variable.0 as usize],
    };
    let entries: Vec<usize> = incoming(location).into_iter().filter(|edge| *edge != step).collect();
    for &entry in &entries {
        from.insert(stored(action(entry), place)?);
    }
    if process.entry == location {
        let parameter = matches!(place.slot, Slot::Local(variable) if variable.0 < process.parameter_count);
        from.insert(match (&declared.initial, place.slot) {
            (Initial::Zero, Slot::Local(_)) if !parameter => 0,
            _ => return None,
        });
    }
    let atomic = |edge: usize| program.edges[edge].atomic;
    let alike = entries.iter().chain([&step]).all(|&edge| atomic(edge) == atomic(begin))
        && (process.entry != location || !atomic(begin))
        && edges.iter().chain([&step]).all(|&edge| program.edges[edge].escape == 0)
        && exits.iter().all(|&edge| restricted(action(edge), &Expr::Constant(1)).is_some());
    let alone = written_by_one(program, id, place);
    let fits = |value: &i32| declared.ty.truncate(*value) == *value && *value <= to;
    let node = match place.slot {
        Slot::Global(variable) => Node::Global(variable),
        Slot::Local(variable) => Node::Local(id, variable),
    };
    let all_fit = !from.is_empty() && from.iter().chain([&to]).all(fits);
    (alike && alone && all_fit && !exits.is_empty()).then(|| Counting {
        node,
        place: place.clone(),
        from,
        to,
        step,
        exits,
    })
}

/// Whether nobody but one process of this type stores something in a variable.
fn written_by_one(program: &Program, id: ProcessId, place: &Place) -> bool {
    if matches!(place.slot, Slot::Local(_)) {
        return true;
    }
    let writes_to = |edge: &Edge| {
        let statement = &program.process(edge.process).statements[edge.statement.0 as usize];
        edge.process != id && writes(&statement.action, place)
    };
    let is_run = |part: &Expr| matches!(part, Expr::Run { process, .. } if *process == id);
    program.initial.iter().filter(|instance| instance.process == id).count() == 1
        && !program.edges.iter().any(writes_to)
        && !expressions(program).into_iter().any(|e| any_within(e, is_run))
}

/// `x < b`
fn is_below(guard: &Expr) -> Option<(&Place, i32)> {
    match guard {
        Expr::Binary(BinaryOp::Less, a, b) => match (&**a, &**b) {
            (Expr::Load(place), Expr::Constant(to)) if place.indices.is_empty() => Some((place, *to)),
            _ => None,
        },
        _ => None,
    }
}

/// `x = x + 1`
fn adds_one(action: &Action, place: &Place) -> bool {
    let Action::Assign(to, Expr::Binary(BinaryOp::Add, a, b)) = action else { return false };
    to == place && **a == Expr::Load(place.clone()) && **b == Expr::Constant(1)
}

/// The constant that a step stores in a variable, if it does nothing else to it.
fn stored(action: &Action, place: &Place) -> Option<i32> {
    match action {
        Action::Assign(to, Expr::Constant(value)) if to == place => Some(*value),
        Action::Merged(parts) => {
            parts.iter().rev().find(|part| writes(part, place)).and_then(|part| stored(part, place))
        }
        _ => None,
    }
}

/// Whether a step may store something in a variable.
fn writes(action: &Action, place: &Place) -> bool {
    super::super::walk::parts(action)
        .into_iter()
        .any(|part| super::super::walk::operands(part).1.iter().any(|to| to.slot == place.slot))
}

/// A step that can only be taken if something holds; `None` if that cannot be said of it.
pub(super) fn restricted(action: &Action, condition: &Expr) -> Option<Action> {
    let guard = || Action::Guard(condition.clone());
    match action {
        Action::Skip => Some(guard()),
        Action::Guard(e) => Some(Action::Guard(Expr::binary(BinaryOp::And, condition.clone(), e.clone()))),
        Action::Assign(..) | Action::Print(_) | Action::Assert(_) => {
            Some(Action::Merged(vec![guard(), action.clone()]))
        }
        Action::Merged(parts) => {
            let (first, rest) = parts.split_first()?;
            let first = match restricted(first, condition)? {
                Action::Merged(parts) => parts,
                first => vec![first],
            };
            Some(Action::Merged(first.into_iter().chain(rest.iter().cloned()).collect()))
        }
        Action::Else
        | Action::Send(_)
        | Action::Receive(_)
        | Action::SetPriority(..)
        | Action::End
        | Action::Block(_) => None,
    }
}
