//! Whether every atomic sequence terminates.
//!
//! ```text
//! terminates(edges):  for each component of the edges that has a cycle:
//!   find edges of it that can be taken finitely often only:
//!     those that count a variable up (or down), if nothing else in the component sets the variable, and between any two of them
//!       an edge is taken that asks whether the variable is below (above) a constant
//!     those that take a message out of a channel, if none in the component puts one in
//!   none: it may go on for ever
//!   else: terminates(the edges of the component without them)
//! ```
//!
//! So it is with the loops that set an array, go through what there is, or empty a channel. An `else` asks whether all conditions beside it
//! are false. A process may share its
//! atomic sequence with others by rendezvous; then only its own variables count. And control may go round among processes that receive it so
//! and send on, without a loop in any of them.

use crate::{
    Action, BinaryOp, Edge, Expr, LocationId, Pattern, Place, Process, ProcessKind, Program, Slot, UnaryOp, Variable,
};
use fabius_base::components::components;
use std::cell::Cell;
use std::collections::BTreeSet;

/// So many edges of a process are looked at, each as often as that happens.
const LOOKED_AT_MAX: usize = 200_000;
/// Expressions that are nested deeper are not looked into.
const DEPTH_MAX: u32 = 100;

/// Whether no run stays in atomic sequences for ever, without a state in which nobody holds control; `false` where that was not found out.
pub fn atomic_sequences_terminate(program: &Program) -> bool {
    let rendezvous = program.channel_types.iter().any(|ty| ty.capacity == 0);
    let is_process = |process: &&Process| process.kind == ProcessKind::Process;
    program.processes.iter().filter(is_process).all(|process| {
        let edges = process.locations.iter().flat_map(|location| program.edges_of(location)).map(|(_, edge)| edge);
        let atomic: Vec<&Edge> = edges.filter(|edge| edge.atomic).collect();
        let loops = Loops { program, process, rendezvous, looked_at: Cell::new(0) };
        !(rendezvous && loops.passes_control_on(&atomic)) && loops.terminates(atomic)
    })
}

/// What is needed to know of the loops of a process.
struct Loops<'p> {
    program: &'p Program,
    process: &'p Process,
    /// There are channels without a buffer.
    rendezvous: bool,
    /// How many edges were looked at.
    looked_at: Cell<usize>,
}

/// What a part of a statement does, as far as it matters here.
enum Part<'p> {
    /// It asks whether this is true, or, with false, whether it is not.
    Asks(&'p Expr, bool),
    /// It sets a variable to the value of this.
    Sets(&'p Place, &'p Expr),
    /// It sets a variable to anything.
    Overwrites(&'p Place),
    /// It takes a message out of a channel.
    Takes,
    /// It puts one into a channel.
    Puts,
}

/// What a variable does in a component: how far it is counted, and what bounds it.
#[derive(Default)]
struct Count {
    /// Of each edge: how far it counts the variable.
    steps: Vec<i64>,
    /// Of each edge: the greatest value at which it can be taken.
    at_most: Vec<Option<i64>>,
}

impl<'p> Loops<'p> {
    /// Whether no run goes on along these edges for ever.
    fn terminates(&self, edges: Vec<&'p Edge>) -> bool {
        self.looked_at.set(self.looked_at.get() + edges.len());
        self.cycles(&edges).into_iter().all(|component| {
            if LOOKED_AT_MAX < self.looked_at.get() {
                return false;
            }
            let finitely_often = self.taken_finitely_often(&component);
            let left = component.iter().zip(&finitely_often).filter(|(_, gone)| !**gone).map(|(edge, _)| *edge);
            finitely_often.contains(&true) && self.terminates(left.collect())
        })
    }

    /// Whether the process may receive control with a message and give it to another one with the next, where these are its edges after which
    /// it holds control.
    fn passes_control_on(&self, atomic: &[&Edge]) -> bool {
        let is_receive = |edge: &&&Edge| has_part(self.action(edge), &|action| matches!(action, Action::Receive(_)));
        let mut reached: Vec<LocationId> = atomic.iter().filter(is_receive).map(|edge| edge.target).collect();
        let mut known: BTreeSet<LocationId> = reached.iter().copied().collect();
        while let Some(location) = reached.pop() {
            let sends = |edge: &Edge| has_part(self.action(edge), &|action| matches!(action, Action::Send(_)));
            if self.program.edges_of(&self.process.locations[location.0 as usize]).any(|(_, edge)| sends(edge)) {
                return true;
            }
            let ahead = atomic.iter().filter(|edge| edge.source == location).map(|edge| edge.target);
            reached.extend(ahead.filter(|target| known.insert(*target)));
        }
        false
    }

    fn action(&self, edge: &Edge) -> &'p Action {
        &self.process.statements[edge.statement.0 as usize].action
    }

    /// The components of these edges that have a cycle, each as its edges; edges come in the order of where they start.
    fn cycles(&self, edges: &[&'p Edge]) -> Vec<Vec<&'p Edge>> {
        let from = |location: u32| {
            let first = edges.partition_point(|edge| edge.source.0 < location);
            edges[first..].iter().take_while(move |edge| edge.source.0 == location).map(|edge| edge.target.0)
        };
        let parts = components(self.process.locations.len(), from);
        let mut found = vec![Vec::new(); parts.count];
        for edge in edges.iter().filter(|edge| parts.joins(edge.source.0, edge.target.0)) {
            found[parts.of[edge.source.0 as usize] as usize].push(*edge);
        }
        found.retain(|component| !component.is_empty());
        found
    }

    /// Of each edge of a component: whether it is known that it can be taken finitely often only.
    fn taken_finitely_often(&self, component: &[&'p Edge]) -> Vec<bool> {
        let parts: Vec<Vec<Part<'p>>> = component.iter().map(|edge| self.parts(edge)).collect();
        let is = |test: fn(&Part<'_>) -> bool| parts.iter().map(|parts| parts.iter().any(test)).collect::<Vec<bool>>();
        let takes = is(|part| matches!(part, Part::Takes));
        if takes.contains(&true) && !self.rendezvous && !is(|part| matches!(part, Part::Puts)).contains(&true) {
            return takes;
        }
        let counted = parts.iter().flatten().filter_map(|part| match part {
            Part::Sets(place, e) => step_of(place, e).map(|step| (place.slot, 0 < step)),
            _ => None,
        });
        let counted: BTreeSet<(Slot, bool)> = counted.collect();
        for (slot, up) in counted {
            self.looked_at.set(self.looked_at.get() + component.len());
            let count = self.count(&parts, slot, up);
            if let Some(finite) = count.and_then(|count| self.is_bounded(component, slot, up, &count)) {
                return finite;
            }
        }
        vec![false; component.len()]
    }

    /// How far a variable is counted by the edges; counting down is told as counting up what is below 0. `None` if something else sets
    /// the variable, or may.
    fn count(&self, parts: &[Vec<Part<'p>>], slot: Slot, up: bool) -> Option<Count> {
        if matches!(slot, Slot::Global(_)) && self.rendezvous {
            return None;
        }
        let (sign, mut count) = (if up { 1 } else { -1 }, Count::default());
        for parts in parts {
            let (mut steps, mut at_most) = (0, None);
            for part in parts {
                match part {
                    Part::Sets(place, e) if place.slot == slot => {
                        steps += step_of(place, e).map(|step| sign * step).filter(|step| 0 < *step)?;
                    }
                    Part::Overwrites(place) if place.slot == slot => return None,
                    // What is asked after a step is about another value.
                    Part::Asks(e, holds) if steps == 0 => {
                        at_most = limits(e, *holds, (slot, up), DEPTH_MAX).into_iter().chain(at_most).min();
                    }
                    _ => {}
                }
            }
            count.steps.push(steps);
            count.at_most.push(at_most);
        }
        Some(count)
    }

    /// The edges that count, if they can be taken finitely often only: on each cycle with one there is an edge that asks, and the variable
    /// does not get beyond its type on the way from one that asks to the next.
    fn is_bounded(&self, component: &[&'p Edge], slot: Slot, up: bool, count: &Count) -> Option<Vec<bool>> {
        let (least, greatest) = super::value::type_bounds(self.variable(slot)?.ty);
        let greatest = if up { greatest } else { -least };
        let counts: Vec<bool> = count.steps.iter().map(|steps| 0 < *steps).collect();
        let all: i64 = count.steps.iter().sum();
        let unasked = component.iter().zip(&count.at_most).filter(|(_, at_most)| at_most.is_none());
        let unasked: Vec<&Edge> = unasked.map(|(edge, _)| *edge).collect();
        let on_cycles = self.cycles(&unasked);
        let is_counted_unasked = component
            .iter()
            .zip(&counts)
            .filter(|(_, counts)| **counts)
            .any(|(edge, _)| on_cycles.iter().flatten().any(|other| std::ptr::eq(*other, *edge)));
        let fits = count.at_most.iter().flatten().all(|at_most| at_most + all <= greatest);
        (counts.contains(&true) && !is_counted_unasked && fits).then_some(counts)
    }

    fn variable(&self, slot: Slot) -> Option<&'p Variable> {
        let variable = match slot {
            Slot::Global(id) => self.program.globals.get(id.0 as usize),
            Slot::Local(id) => self.process.locals.get(id.0 as usize),
        };
        variable.filter(|variable| variable.dimensions.is_empty())
    }

    fn parts(&self, edge: &Edge) -> Vec<Part<'p>> {
        let mut parts = Vec::new();
        if matches!(first_of(self.action(edge)), Action::Else) {
            let location = &self.process.locations[edge.source.0 as usize];
            let others = self.program.edges_of(location).map(|(_, other)| other);
            let asked = others.filter(|other| other.escape == edge.escape).filter_map(|other| {
                match first_of(self.action(other)) {
                    Action::Guard(e) => Some(Part::Asks(e, false)),
                    _ => None,
                }
            });
            parts.extend(asked);
        }
        add_parts(self.action(edge), false, &mut parts);
        parts
    }
}

/// What an action does first.
fn first_of(action: &Action) -> &Action {
    match action {
        Action::Merged(actions) => actions.first().map_or(action, first_of),
        action => action,
    }
}

/// Whether an action or a part of it is of some kind.
fn has_part(action: &Action, is: &dyn Fn(&Action) -> bool) -> bool {
    match action {
        Action::Merged(actions) => actions.iter().any(|action| has_part(action, is)),
        Action::Block(block) => {
            block.nodes.iter().flat_map(|node| &node.options).any(|option| has_part(&option.action, is))
        }
        action => is(action),
    }
}

/// Adds what an action does, in its order; inside a block it is not known what is executed, nor how often.
fn add_parts<'p>(action: &'p Action, inside: bool, parts: &mut Vec<Part<'p>>) {
    match action {
        Action::Guard(e) if !inside => parts.push(Part::Asks(e, true)),
        Action::Assign(place, e) if !inside => parts.push(Part::Sets(place, e)),
        Action::Assign(place, _) => parts.push(Part::Overwrites(place)),
        Action::Send(_) => parts.push(Part::Puts),
        Action::Receive(receive) => {
            if !receive.keep && !inside {
                parts.push(Part::Takes);
            }
            parts.extend(receive.fields.iter().filter_map(|field| match field {
                Pattern::Store(place) => Some(Part::Overwrites(place)),
                _ => None,
            }));
        }
        Action::Merged(actions) => actions.iter().for_each(|action| add_parts(action, inside, parts)),
        Action::Block(block) => {
            block.nodes.iter().flat_map(|node| &node.options).for_each(|option| add_parts(&option.action, true, parts));
        }
        Action::Skip
        | Action::Else
        | Action::Guard(_)
        | Action::Assert(_)
        | Action::Print(_)
        | Action::SetPriority(..)
        | Action::End => {}
    }
}

/// By how much an assignment changes a scalar: `x = x + k`, `x = k + x`, `x = x - k`.
fn step_of(place: &Place, e: &Expr) -> Option<i64> {
    let is_place = |e: &Expr| matches!(e, Expr::Load(loaded) if loaded == place) && place.indices.is_empty();
    let Expr::Binary(op, left, right) = e else { return None };
    match op {
        BinaryOp::Add if is_place(left) => number(right),
        BinaryOp::Add if is_place(right) => number(left),
        BinaryOp::Subtract if is_place(left) => number(right).map(|k| -k),
        _ => None,
    }
}

/// The greatest values of a variable at which a condition can be true (or false, unless it `holds`); of one that is counted down, the
/// least, told by their negative.
fn limits(e: &Expr, holds: bool, (slot, up): (Slot, bool), depth: u32) -> Vec<i64> {
    let Some(depth) = depth.checked_sub(1) else { return Vec::new() };
    let (op, left, right) = match e {
        Expr::Unary(UnaryOp::Not, e) => return limits(e, !holds, (slot, up), depth),
        Expr::Binary(op, left, right) => (*op, left, right),
        _ => return Vec::new(),
    };
    if op == if holds { BinaryOp::And } else { BinaryOp::Or } {
        return [left, right].into_iter().flat_map(|e| limits(e, holds, (slot, up), depth)).collect();
    }
    let Some(op) = (if holds { Some(op) } else { negated(op) }) else { return Vec::new() };
    let is_it = |e: &Expr| matches!(e, Expr::Load(place) if place.slot == slot && place.indices.is_empty());
    let (op, k) = match (number(left), number(right)) {
        (None, Some(k)) if is_it(left) => (op, k),
        (Some(k), None) if is_it(right) => (op.mirrored(), k),
        _ => return Vec::new(),
    };
    let limit = match (op, up) {
        (BinaryOp::Less, true) => Some(k - 1),
        (BinaryOp::Greater, false) => Some(-(k + 1)),
        (BinaryOp::LessEqual | BinaryOp::Equal, true) => Some(k),
        (BinaryOp::GreaterEqual | BinaryOp::Equal, false) => Some(-k),
        _ => None,
    };
    limit.into_iter().collect()
}

/// The comparison that is true where another one is false.
fn negated(op: BinaryOp) -> Option<BinaryOp> {
    Some(match op {
        BinaryOp::Less => BinaryOp::GreaterEqual,
        BinaryOp::GreaterEqual => BinaryOp::Less,
        BinaryOp::Greater => BinaryOp::LessEqual,
        BinaryOp::LessEqual => BinaryOp::Greater,
        BinaryOp::NotEqual => BinaryOp::Equal,
        _ => return None,
    })
}

/// The value of an expression of constants.
fn number(e: &Expr) -> Option<i64> {
    constant(e, DEPTH_MAX).map(i64::from)
}

fn constant(e: &Expr, depth: u32) -> Option<i32> {
    let depth = depth.checked_sub(1)?;
    match e {
        Expr::Constant(value) => Some(*value),
        Expr::Binary(op, left, right) => super::value::fold(*op, constant(left, depth)?, constant(right, depth)?),
        _ => None,
    }
}
