//! The path to a state that was put off because of progress: from seed to seed, without progress but for the last
//! step.

use super::frontier::{Frontier, Seed};
use super::lasso::is_at;
use super::outcome::Run;
use super::paths::{Answer, Lane, shortest_path};
use super::proviso::Proviso;
use super::watch::Watch;
use crate::model::{Marks, Model};
use crate::observer::Observer;
use crate::store::{Class, Store};
use std::ops::ControlFlow;

/// The labels of a path through these seeds, of which each was found from the one before.
pub(crate) fn stem_to<M, S, O, P>(
    model: &mut M,
    store: &S,
    proviso: &mut P,
    watch: &mut Watch<'_, O>,
    memory_bytes: u64,
    queue: &Frontier,
    seeds: &[Seed],
) -> Run<M::Label, M::Fault, Vec<M::Label>>
where
    M: Model,
    S: Store,
    O: Observer<M::Label, M::Fault>,
    P: Proviso<M>,
{
    let hidden = model.hidden_words();
    let (mut from, mut to) = (Vec::new(), Vec::new());
    let mut stem = Vec::new();
    for pair in seeds.windows(2) {
        queue.recall(store, pair[0], &mut from);
        let class = queue.recall(store, pair[1], &mut to);
        let visible = &to[..to.len().saturating_sub(hidden)];
        let path = shortest_path(model, proviso, watch, memory_bytes, &from, None, |_, step| {
            let progress = step.lane == Lane::Second || step.marks.has(Marks::PROGRESS);
            let is_target = is_at(&step, visible, class == Class::Transient, hidden);
            match (progress, step.transient) {
                (true, _) if is_target => Answer::Arrived,
                (true, true) => Answer::Yes(Lane::Second),
                (true, false) => Answer::No,
                (false, _) => Answer::Yes(Lane::First),
            }
        })?;
        let path = path.expect("a path leads from each seed to the next");
        stem.extend(path.into_iter().filter_map(|taken| taken.label));
    }
    ControlFlow::Continue(stem)
}
