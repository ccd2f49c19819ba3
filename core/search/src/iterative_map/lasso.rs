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
    let edge = edges.find(|edge| edge.accept() && edge.to == closing.to).map_or(0, |edge| edge.macro_step());
    let mut round = vec![edge];
    if closing.to != closing.from {
        round.extend(
            graph.path(closing.to, closing.from).unwrap_or_default().into_iter().map(|(_, macro_step)| macro_step),
        );
    }
    let stem = graph.trail(closing.from);
    let scheduler = graph.scheduler;
    let mut lengths = Vec::new();
    let mut costs = Vec::new();
    let mut trail = stem.clone();
    let stem_told = replay(graph.model(), scheduler, &trail);
    lengths.push(stem_told.path.len());
    costs.push(stem_told.delays.len());
    let mut told = stem_told;
    for _ in 0..ROUNDS_MAX {
        trail.extend_from_slice(&round);
        told = replay(graph.model(), scheduler, &trail);
        lengths.push(told.path.len());
        costs.push(told.delays.len());
    }
    let cycle = told.path[lengths[0]..lengths[1]].to_vec();
    told.path.truncate(lengths[0]);
    Lasso { stem: told.path, cycle, loop_delays: steady(&costs) }
}

/// What a round costs once all rounds cost the same, if the last few do.
fn steady(costs: &[usize]) -> Option<u32> {
    let rounds: Vec<usize> = costs.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let last = *rounds.last()?;
    let same = rounds.iter().rev().take_while(|&&cost| cost == last).count();
    (ROUNDS_MAX / 2 <= same).then_some(last as u32)
}
