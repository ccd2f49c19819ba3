//! What ends a search, as paths: from the initial state to a state, over a fault, and from one state to another.

use super::Graph;
use crate::delay_bounded::DelayObserver;
use crate::model::Processes;
use crate::schedule::Scheduler;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

impl<M, D, O> Graph<'_, M, D, O>
where
    M: Processes,
    D: Scheduler<M::Label>,
    O: DelayObserver<M::Label, M::Fault>,
{
    /// A path over edges that cycles may use from one state to another, of at least one edge; the sources and macro steps of the edges.
    pub fn path(&self, from: u32, to: u32) -> Option<Vec<(u32, u32)>> {
        let mut before: FxHashMap<u32, (u32, u32)> = FxHashMap::default();
        let mut queue = VecDeque::from([from]);
        while let Some(state) = queue.pop_front() {
            for edge in self.edges[state as usize].iter().filter(|edge| edge.follow()) {
                if before.contains_key(&edge.to) {
                    continue;
                }
                before.insert(edge.to, (state, edge.macro_step()));
                if edge.to == to {
                    return Some(trace_back(&before, from, to));
                }
                queue.push_back(edge.to);
            }
        }
        None
    }
}

fn trace_back(before: &FxHashMap<u32, (u32, u32)>, from: u32, to: u32) -> Vec<(u32, u32)> {
    let mut path = Vec::new();
    let mut at = to;
    loop {
        let (state, macro_step) = before[&at];
        path.push((state, macro_step));
        at = state;
        if at == from {
            break;
        }
    }
    path.reverse();
    path
}
