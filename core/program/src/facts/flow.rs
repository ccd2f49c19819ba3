//! The shape of process automata: what lies ahead of a location, what an atomic sequence may do, where
//! loops close.

use super::bits::Bits;
use super::walk::{any_within, each_within, operands, parts};
use crate::{Action, Expr, Process, ProcessId, Program};

/// The shape of one process type. Edges are numbered from 0 within their type.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    /// Edge 0's number in the program.
    pub first_edge: u32,
    pub edge_count: usize,
    /// For each location, the edges that may still be taken, its own included.
    pub ahead: Vec<Bits>,
    /// For each location, types of which a process may still be created, directly or by those created.
    pub spawned_ahead: Vec<Bits>,
    /// For each edge, types of which a process may be created by taking it, directly or by those created.
    pub created: Vec<Bits>,
    /// All types of which a process may be created.
    pub spawned: Bits,
    /// For each edge, the edges that the process may take before another one moves, the edge included.
    pub run: Vec<Bits>,
    /// For each location, whether an atomic sequence may stop here because it cannot go on.
    pub middle: Vec<bool>,
    /// For each edge, whether it closes a loop: every loop of the automaton has one such edge at least.
    pub closing: Vec<bool>,
    /// For each edge, whether it lies on a loop.
    pub looping: Vec<bool>,
}

impl Shape {
    fn of(program: &Program, process: &Process) -> Self {
        let first_edge = process.locations.iter().map(|location| location.edges.start).min().unwrap_or(0);
        let edge_count: usize = process.locations.iter().map(|location| location.edges.len()).sum();
        let local = |edge: u32| (edge - first_edge) as usize;
        let mut ahead: Vec<Bits> = process.locations.iter().map(|_| Bits::default()).collect();
        for (location, ahead) in process.locations.iter().zip(&mut ahead) {
            location.edges.clone().for_each(|edge| ahead.insert(local(edge)));
        }
        // What lies ahead of an edge's target lies ahead of its source: to the fixpoint.
        let mut changed = true;
        while changed {
            changed = false;
            for (at, location) in process.locations.iter().enumerate().rev() {
                for (_, edge) in program.edges_of(location) {
                    let Some(of_target) = ahead.get(edge.target.0 as usize).cloned() else { continue };
                    let before = ahead[at].clone();
                    ahead[at].extend(&of_target);
                    changed |= ahead[at] != before;
                }
            }
        }
        let edges = || process.locations.iter().flat_map(|location| program.edges_of(location));
        let mut middle = vec![false; process.locations.len()];
        edges().filter(|(_, edge)| edge.atomic).for_each(|(_, edge)| middle[edge.target.0 as usize] = true);
        let looping = edges().map(|(id, edge)| ahead[edge.target.0 as usize].contains(local(id.0))).collect();
        Self {
            run: edges().map(|(id, _)| run(program, process, first_edge, id.0)).collect(),
            closing: closing(program, process, first_edge, edge_count),
            first_edge,
            edge_count,
            ahead,
            spawned_ahead: Vec::new(),
            created: Vec::new(),
            spawned: Bits::default(),
            middle,
            looping,
        }
    }
}

/// The edges that a process may take from an edge on before another one moves.
fn run(program: &Program, process: &Process, first_edge: u32, edge: u32) -> Bits {
    let mut run = Bits::default();
    let mut open = vec![edge];
    while let Some(edge) = open.pop() {
        if run.contains((edge - first_edge) as usize) {
            continue;
        }
        run.insert((edge - first_edge) as usize);
        let edge = &program.edges[edge as usize];
        if edge.atomic
            && let Some(target) = process.locations.get(edge.target.0 as usize)
        {
            open.extend(target.edges.clone());
        }
    }
    run
}

/// Marks the edges that lead back to a location that a depth-first walk has not left yet.
fn closing(program: &Program, process: &Process, first_edge: u32, edge_count: usize) -> Vec<bool> {
    let mut closing = vec![false; edge_count];
    // 0: not met, 1: on the stack, 2: left.
    let mut colour = vec![0_u8; process.locations.len()];
    let entry = process.entry.0 as usize;
    let starts = std::iter::once(entry).chain(0..process.locations.len());
    for start in starts {
        if colour[start] != 0 {
            continue;
        }
        colour[start] = 1;
        let mut stack = vec![(start, process.locations[start].edges.clone())];
        while let Some((at, edges)) = stack.last_mut() {
            let Some(edge) = edges.next() else {
                colour[*at] = 2;
                stack.pop();
                continue;
            };
            let target = program.edges[edge as usize].target.0 as usize;
            match colour.get(target) {
                Some(0) => {
                    colour[target] = 1;
                    stack.push((target, process.locations[target].edges.clone()));
                }
                Some(1) => closing[(edge - first_edge) as usize] = true,
                _ => {}
            }
        }
    }
    closing
}

/// The shapes of all process types.
pub(super) fn shapes(program: &Program) -> Vec<Shape> {
    let mut shapes: Vec<Shape> = program.processes.iter().map(|process| Shape::of(program, process)).collect();
    let spawned: Vec<Vec<Vec<ProcessId>>> = program
        .processes
        .iter()
        .map(|process| {
            let edges = process.locations.iter().flat_map(|location| program.edges_of(location));
            edges.map(|(_, edge)| spawned_by(&process.statements[edge.statement.0 as usize].action)).collect()
        })
        .collect();
    // All types that come from a type, directly or not.
    let mut from: Vec<Bits> = vec![Bits::default(); shapes.len()];
    for (from, spawned) in from.iter_mut().zip(&spawned) {
        spawned.iter().flatten().for_each(|child| from.insert(child.0 as usize));
    }
    for _ in 0..shapes.len() {
        for at in 0..from.len() {
            let children: Vec<usize> = from[at].iter().collect();
            for child in children {
                let grand = from.get(child).cloned().unwrap_or_default();
                from[at].extend(&grand);
            }
        }
    }
    for (shape, spawned) in shapes.iter_mut().zip(&spawned) {
        let with_their_own = |children: &Vec<ProcessId>| {
            children.iter().fold(Bits::default(), |mut types, child| {
                types.insert(child.0 as usize);
                types.extend(&from.get(child.0 as usize).cloned().unwrap_or_default());
                types
            })
        };
        shape.created = spawned.iter().map(with_their_own).collect();
        let union =
            |types: &mut Bits, edge: usize| shape.created.get(edge).into_iter().for_each(|more| types.extend(more));
        let over = |ahead: &Bits| {
            let mut types = Bits::default();
            ahead.iter().for_each(|edge| union(&mut types, edge));
            types
        };
        shape.spawned_ahead = shape.ahead.iter().map(over).collect();
        let mut all = Bits::default();
        (0..shape.edge_count).for_each(|edge| union(&mut all, edge));
        shape.spawned = all;
    }
    shapes
}

/// The types of the processes that an action creates.
pub(super) fn spawned_by(action: &Action) -> Vec<ProcessId> {
    let mut types = Vec::new();
    for e in parts(action).into_iter().flat_map(|part| operands(part).0) {
        each_within(e, |part| {
            if let Expr::Run { process, .. } = part {
                types.push(*process);
            }
        });
    }
    types
}

/// At most how many processes of each type are ever created; `None` if there is no such number.
pub(super) fn instance_counts(program: &Program, shapes: &[Shape]) -> Vec<Option<u64>> {
    const MANY: u64 = 1 << 20;
    let initial =
        |at: usize| program.initial.iter().filter(|instance| instance.process.0 as usize == at).count() as u64;
    let mut counts: Vec<u64> = (0..shapes.len()).map(initial).collect();
    let starting_runs = program
        .globals
        .iter()
        .chain(program.processes.iter().flat_map(|process| &process.locals))
        .flat_map(|variable| super::walk::initial_values(&variable.initial))
        .any(|e| any_within(e, |part| matches!(part, Expr::Run { .. })));
    if starting_runs {
        return vec![None; shapes.len()];
    }
    // Counts only grow; a type that creates itself, or whose creation is repeated, grows beyond all bounds.
    for _ in 0..shapes.len() + 1 {
        let mut next: Vec<u64> = (0..shapes.len()).map(initial).collect();
        for (at, process) in program.processes.iter().enumerate() {
            let edges = process.locations.iter().flat_map(|location| program.edges_of(location));
            for (index, (_, edge)) in edges.enumerate() {
                let action = &process.statements[edge.statement.0 as usize].action;
                for child in spawned_by(action) {
                    let again = shapes[at].looping[index] || parts(action).len() > 1;
                    let times = if again { MANY } else { 1 };
                    let Some(count) = next.get_mut(child.0 as usize) else { continue };
                    *count = (*count).saturating_add(counts[at].saturating_mul(times)).min(MANY);
                }
            }
        }
        counts = next;
    }
    let mut creates_itself = vec![false; shapes.len()];
    for (at, shape) in shapes.iter().enumerate() {
        creates_itself[at] = shape.spawned_ahead.iter().any(|types| types.contains(at));
    }
    counts.iter().zip(creates_itself).map(|(count, itself)| (*count < MANY && !itself).then_some(*count)).collect()
}
