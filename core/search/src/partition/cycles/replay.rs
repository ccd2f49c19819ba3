//! From the numbers of a way to the run that goes on for ever.

use super::edges::{Listed, next_edge};
use super::transient::transient_cycle;
use crate::cycle::{Found, Goal};
use crate::expansion::Expansion;
use crate::model::Model;
use crate::origins::follow;
use crate::partition::way::CycleWay;

/// Executes the way to a cycle and once round it; `None` if this is no cycle of the model.
pub fn replay_cycle<M: Model>(model: &mut M, goal: Goal, way: &CycleWay) -> Option<Found<M::Label, M::Fault>> {
    let hidden = model.hidden_words();
    let mut expansion = Expansion::new(hidden);
    let (mut state, mut stem) = (Vec::new(), Vec::new());
    model.initial(&mut state).ok()?;
    follow(model, &mut expansion, &mut state, way.stem.iter().copied(), &mut stem)?;
    if way.cycle.is_empty() {
        expansion.begin(model, &state);
        while next_edge(&mut expansion, model, goal).is_some() {}
        let (lead, cycle) = transient_cycle(&expansion, goal)?;
        stem.extend(lead);
        return Some(Found::Lasso { stem, cycle });
    }
    let visible = |state: &[u32]| state[..state.len().saturating_sub(hidden)].to_vec();
    let (start, mut cycle, mut has_accepted) = (visible(&state), Vec::new(), false);
    for ordinal in &way.cycle {
        has_accepted |= take_edge(model, &mut expansion, &mut state, *ordinal, goal, &mut cycle)?;
    }
    // A state in which nothing can move lasts for ever: its only edge has no label.
    (has_accepted && visible(&state) == start).then_some(Found::Lasso { stem, cycle })
}

/// Moves to the end of the edge with this ordinal, and adds the labels on the way there; whether the edge is accepting.
fn take_edge<M: Model>(
    model: &mut M,
    expansion: &mut Expansion<M::Cursor, M::Label>,
    state: &mut Vec<u32>,
    ordinal: u32,
    goal: Goal,
    labels: &mut Vec<M::Label>,
) -> Option<bool> {
    expansion.begin(model, state);
    let mut edges_left = ordinal;
    loop {
        let Listed::Edge { label, accepts } = next_edge(expansion, model, goal)? else { continue };
        edges_left = edges_left.checked_sub(1)?;
        if edges_left == 0 {
            expansion.path_to_current(labels);
            labels.extend(label);
            std::mem::swap(state, &mut expansion.successor);
            return Some(accepts);
        }
    }
}
