//! From an edge that closes a cycle to a run that goes on for ever.

use super::Closing;
use super::graph::Graph;
use crate::delay_bounded::{DelayObserver, replay};
use crate::model::Processes;
use crate::schedule::Scheduler;

/// The loop is gone round so often at most to find out what it costs.
const ROUNDS_MAX: usize = 12;

/// A run that goes on for ever.
pub(super) struct Lasso<Label> {
    pub stem: Vec<Label>,
    pub cycle: Vec<Label>,
    pub loop_delays: Option<u32>,
}

/// The stem leads to the source of the closing edge, as it was found; the cycle is a shortest one through this edge.
pub(super) fn lasso<M, D, O>(graph: &mut Graph<'_, M, D, O>, closing: Closing) -> Lasso<M::Label>
where
    M: Processes,
    D: Scheduler<M::Label>,
    O: DelayObserver<M::Label, M::Fault>,
{
    let mut edges = graph.edges[closing.from as usize].iter();
    let edge = edges.find(|edge| edge.accept() && edge.to == closing.to).expect("the edge that closes the cycle");
    let mut round = vec![edge.macro_step()];
    if closing.to != closing.from {
        let path = graph.path(closing.to, closing.from).expect("a path back to where the cycle closes");
        round.extend(path.into_iter().map(|(_, macro_step)| macro_step));
    }
    let stem = graph.trail(closing.from);
    let scheduler = graph.scheduler;
    let mut lengths = Vec::new();
    let mut costs = Vec::new();
    let mut trail = stem.clone();
    let mut replayed = replay(graph.model(), scheduler, &trail);
    lengths.push(replayed.path.len());
    costs.push(replayed.delays.len());
    for _ in 0..ROUNDS_MAX {
        trail.extend_from_slice(&round);
        replayed = replay(graph.model(), scheduler, &trail);
        lengths.push(replayed.path.len());
        costs.push(replayed.delays.len());
    }
    let cycle = replayed.path[lengths[0]..lengths[1]].to_vec();
    replayed.path.truncate(lengths[0]);
    Lasso { stem: replayed.path, cycle, loop_delays: steady(&costs) }
}

/// What a round costs once all rounds cost the same, if the last few do.
fn steady(costs: &[usize]) -> Option<u32> {
    let rounds: Vec<usize> = costs.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let last = *rounds.last()?;
    let same = rounds.iter().rev().take_while(|&&cost| cost == last).count();
    (ROUNDS_MAX / 2 <= same).then_some(last as u32)
}
