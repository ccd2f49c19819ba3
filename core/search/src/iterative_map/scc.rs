//! Strongly connected components of what a bound allows (Tarjan 1972), with an explicit stack.
//!
//! An accepting edge between two states of one component lies on a cycle, and no other accepting edge does. One pass
//! per bound is linear in what is there, which maximal accepting predecessors are not.

use super::graph::Graph;
use super::{Closing, Evidence};
use crate::delay_bounded::DelayObserver;
use crate::model::Processes;
use crate::outcome::{Round, Run};
use crate::schedule::Scheduler;
use crate::snapshot::Phase;
use std::ops::ControlFlow;

/// A state that belongs to a component already.
const DONE: u32 = u32::MAX;

/// Searches what a bound allows.
pub(super) fn round<M, D, O>(graph: &mut Graph<'_, M, D, O>, round: &mut Round) -> Run<Evidence>
where
    M: Processes,
    D: Scheduler<M::Label>,
    O: DelayObserver<M::Label, M::Fault>,
{
    // First everything is made to be there, in the order of discovery.
    for state in graph.frontier() {
        graph.expand(state)?;
    }
    let mut state = 0;
    while state < graph.nodes.len() {
        graph.expand(state as u32)?;
        state += 1;
    }
    // Index and lowest index of each state, from 1; 0 before it is visited.
    let mut order = vec![(0_u32, 0_u32); graph.nodes.len()];
    let mut index = 0;
    for root in 0..graph.nodes.len() {
        if order[root].0 == 0 {
            components_from(graph, root as u32, &mut order, &mut index, round)?;
        }
    }
    ControlFlow::Continue(())
}

fn components_from<M, D, O>(
    graph: &mut Graph<'_, M, D, O>,
    root: u32,
    order: &mut [(u32, u32)],
    index: &mut u32,
    round: &mut Round,
) -> Run<Evidence>
where
    M: Processes,
    D: Scheduler<M::Label>,
    O: DelayObserver<M::Label, M::Fault>,
{
    let mut open: Vec<u32> = Vec::new();
    let mut stack: Vec<(u32, usize)> = Vec::new();
    let mut next_state = Some(root);
    loop {
        if let Some(state) = next_state.take() {
            *index += 1;
            order[state as usize] = (*index, *index);
            open.push(state);
            stack.push((state, 0));
        }
        let Some((state, next)) = stack.last_mut() else { return ControlFlow::Continue(()) };
        let from = *state;
        let edge = graph.edges[from as usize].get(*next).copied();
        *next += 1;
        let Some(edge) = edge else {
            stack.pop();
            let (own, lowest) = order[from as usize];
            if own == lowest {
                close(graph, order, &mut open, from)?;
            } else if let Some((below, _)) = stack.last() {
                let below = &mut order[*below as usize].1;
                *below = (*below).min(lowest);
            }
            continue;
        };
        graph.tick(from, Phase::Components)?;
        round.work.calculated += 1;
        match order[edge.to as usize] {
            _ if !edge.follow() => {}
            (0, _) => next_state = Some(edge.to),
            (_, DONE) => {}
            (own, _) => order[from as usize].1 = order[from as usize].1.min(own),
        }
    }
}

/// Takes the component of a state off the open states; breaks if an accepting edge lies in it.
fn close<M, D, O>(
    graph: &Graph<'_, M, D, O>,
    order: &mut [(u32, u32)],
    open: &mut Vec<u32>,
    state: u32,
) -> Run<Evidence>
where
    M: Processes,
    D: Scheduler<M::Label>,
    O: DelayObserver<M::Label, M::Fault>,
{
    let first = open.iter().rposition(|&other| other == state).unwrap_or(0);
    let members: Vec<u32> = open.drain(first..).collect();
    let least = order[state as usize].0;
    for &from in &members {
        for edge in graph.edges[from as usize].iter().filter(|edge| edge.accept()) {
            // Members have indices from that of the first of them on, and are not done yet.
            let (own, lowest) = order[edge.to as usize];
            if least <= own && lowest != DONE {
                return ControlFlow::Break(Closing { from, to: edge.to }.into());
            }
        }
    }
    members.into_iter().for_each(|member| order[member as usize].1 = DONE);
    ControlFlow::Continue(())
}
