//! Maximal accepting predecessors (MAP), round by round.
//!
//! Figures 3 to 5 of the paper, corrected. States are ordered by the order of their discovery; null is below all.
//! MAP(s) is the greatest t that an accepting edge leads to and that reaches s (t itself counts). If an accepting edge
//! s → t is met while map(s) = t, it closes a cycle.
//!
//! ```text
//! calculate(s):                                       for each edge s → t that the bound allows:
//!   if some edges of s need more delays: s waits        if accepting and map(s) = t: report a cycle
//!                                                       p := t if accepting and map(s) < t, else map(s)
//!                                                       if map(t) < p, or t is new: map(t) := p; calculate(t)
//!
//! refine:   partitions := { states with map(s) = root } for each root ≠ null
//!   while there are partitions: take one
//!     forget the map of its members, and calculate it anew from the root, over edges between members only:
//!       a cycle may be met; else the members fall into smaller partitions (by their new map), or into none
//! ```
//!
//! Why refine: an accepting edge that enters a component from outside may have a greater target than the component's own
//! accepting edges, and shadow them.
//!
//! What differs from Figure 5. There a state may be entered unless it belongs to a partition that is still to be
//! done; so states of partitions dissolved already are pulled in again and again, and with an unlucky choice of roots
//! it takes 2ⁿ − 1 rounds on a chain of n accepting edges. Here a state is entered only if it belonged to
//! the very partition that is being refined, and the chain takes n.
//!
//! An edge that a livelock may not use (it makes progress) leads to new states, but hands on nothing.

use super::graph::{Edge, Graph};
use super::{Closing, CycleRound, End};
use crate::delay_bounded::DelayObserver;
use crate::look::Phase;
use crate::model::Processes;
use crate::schedule::Scheduler;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// No accepting predecessor.
const NULL: u32 = 0;

/// What is known of the states, by their numbers.
#[derive(Default)]
pub(super) struct Maps {
    /// MAP as far as it is calculated: the number plus 1, or [`NULL`]; `None` for states never visited.
    map: Vec<Option<u32>>,
    /// The same inside the partition that is being refined.
    fine: Vec<u32>,
    /// The partition to which `fine` belongs: a counter.
    member_of: Vec<u64>,
    visited_in: Vec<u64>,
    partitions: u64,
}

impl Maps {
    fn grow(&mut self, states: usize) {
        self.map.resize(states, None);
        self.fine.resize(states, NULL);
        self.member_of.resize(states, 0);
        self.visited_in.resize(states, 0);
    }
}

/// The value that an edge hands on from a state with a value; breaks if it closes a cycle.
fn hand_on(from: u32, edge: Edge, value: u32) -> ControlFlow<Closing, u32> {
    let target = edge.to + 1;
    if !edge.follow {
        return ControlFlow::Continue(NULL);
    }
    if edge.accept && value == target {
        return ControlFlow::Break(Closing { from, to: edge.to });
    }
    ControlFlow::Continue(if edge.accept { value.max(target) } else { value })
}

/// Calculates and refines what a bound allows.
pub(super) fn round<M, D, O>(
    graph: &mut Graph<'_, M, D, O>,
    maps: &mut Maps,
    round: &mut CycleRound,
) -> ControlFlow<End>
where
    M: Processes,
    D: Scheduler<M::Label>,
    O: DelayObserver<M::Label, M::Fault>,
{
    maps.grow(graph.nodes.len());
    if graph.nodes.len() == 1 && maps.map[0].is_none() {
        maps.map[0] = Some(NULL);
    }
    for state in graph.frontier() {
        // States that this round discovers are calculated when they are.
        if maps.map[state as usize].is_some() {
            calculate(graph, maps, state, round)?;
        }
    }
    refine(graph, maps, round)
}

fn calculate<M, D, O>(
    graph: &mut Graph<'_, M, D, O>,
    maps: &mut Maps,
    start: u32,
    round: &mut CycleRound,
) -> ControlFlow<End>
where
    M: Processes,
    D: Scheduler<M::Label>,
    O: DelayObserver<M::Label, M::Fault>,
{
    let mut stack = vec![(start, 0)];
    while let Some((state, next)) = stack.last_mut() {
        let (from, index) = (*state, *next);
        *next += 1;
        if index == 0 {
            graph.expand(from).map_break(End::Halted)?;
            maps.grow(graph.nodes.len());
        }
        let Some(&edge) = graph.nodes[from as usize].edges.get(index) else {
            stack.pop();
            continue;
        };
        graph.tick(from, Phase::Calculate).map_break(End::Halted)?;
        round.calculated += 1;
        let value = maps.map[from as usize].unwrap_or(NULL);
        let handed = hand_on(from, edge, value).map_break(End::Cycle)?;
        let known = &mut maps.map[edge.to as usize];
        if known.is_none_or(|known| known < handed) {
            *known = Some(handed);
            stack.push((edge.to, 0));
        }
    }
    ControlFlow::Continue(())
}

fn refine<M, D, O>(graph: &mut Graph<'_, M, D, O>, maps: &mut Maps, round: &mut CycleRound) -> ControlFlow<End>
where
    M: Processes,
    D: Scheduler<M::Label>,
    O: DelayObserver<M::Label, M::Fault>,
{
    let mut by_root: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (state, map) in maps.map.iter().enumerate() {
        if let Some(root) = map.filter(|&root| root != NULL) {
            by_root.entry(root).or_default().push(state as u32);
        }
    }
    let mut waiting: Vec<(u32, Vec<u32>)> = by_root.into_iter().collect();
    while let Some((root, members)) = waiting.pop() {
        round.partitions += 1;
        graph.partitions_left = waiting.len() as u64 + 1;
        maps.partitions += 1;
        for &member in &members {
            maps.fine[member as usize] = NULL;
            maps.member_of[member as usize] = maps.partitions;
        }
        calculate_within(graph, maps, root - 1, round)?;
        let mut smaller: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for member in members {
            let root = maps.fine[member as usize];
            if root != NULL {
                smaller.entry(root).or_default().push(member);
            }
        }
        waiting.extend(smaller);
    }
    graph.partitions_left = 0;
    ControlFlow::Continue(())
}

/// Calculates the map of the members of the present partition, all of which the root reaches.
fn calculate_within<M, D, O>(
    graph: &mut Graph<'_, M, D, O>,
    maps: &mut Maps,
    root: u32,
    round: &mut CycleRound,
) -> ControlFlow<End>
where
    M: Processes,
    D: Scheduler<M::Label>,
    O: DelayObserver<M::Label, M::Fault>,
{
    let present = maps.partitions;
    maps.visited_in[root as usize] = present;
    let mut stack = vec![(root, 0)];
    while let Some((state, next)) = stack.last_mut() {
        let (from, index) = (*state, *next);
        *next += 1;
        let Some(&edge) = graph.nodes[from as usize].edges.get(index) else {
            stack.pop();
            continue;
        };
        graph.tick(from, Phase::Refine).map_break(End::Halted)?;
        let to = edge.to as usize;
        if !edge.follow || maps.member_of[to] != present {
            continue;
        }
        round.refined += 1;
        let handed = hand_on(from, edge, maps.fine[from as usize]).map_break(End::Cycle)?;
        if maps.visited_in[to] != present || maps.fine[to] < handed {
            maps.visited_in[to] = present;
            maps.fine[to] = handed;
            stack.push((edge.to, 0));
        }
    }
    ControlFlow::Continue(())
}
