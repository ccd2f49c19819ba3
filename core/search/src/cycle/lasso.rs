//! Shorter lassos: a depth-first search finds one, but seldom a short one.
//!
//! The shortest cycle through the state where the lasso closes is looked for, then the shortest way to some
//! state of it, both breadth first and only so far: what is not found soon is not worth the time.

use super::outcome::{Found, Goal};
use super::proviso::Proviso;
use super::watch::Watch;
use super::ways::{Answer, Lane, Step, Way, shortest_way};
use crate::model::{Marks, Model};
use crate::observer::Observer;
use std::collections::HashMap;
use std::fmt::Debug;
use std::ops::ControlFlow;

/// So many states are looked at for each part of a lasso.
const STATES_MAX: usize = 1 << 16;

/// A lasso, with the states that are needed to find a shorter one.
pub(crate) struct Lasso<'a, L> {
    pub(crate) goal: Goal,
    /// The way to the state from where the stem may be made anew.
    pub(crate) lead: Vec<L>,
    pub(crate) from: &'a [u32],
    /// From there to the cycle; if the goal is a livelock, without progress.
    pub(crate) stem: Vec<L>,
    pub(crate) cycle: Cycle<L>,
}

/// A cycle.
pub(crate) enum Cycle<L> {
    /// Found depth first: its labels, the state where it closes, and whether that is transient.
    Any(Vec<L>, Vec<u32>, bool),
    /// Short already.
    Short(Way<L>),
}

impl<L: Copy + Debug> Lasso<'_, L> {
    /// The lasso, made shorter as far as that is easy.
    pub(crate) fn shortened<M, O, P>(
        self,
        model: &mut M,
        proviso: &mut P,
        watch: &mut Watch<'_, O>,
        memory_bytes: u64,
    ) -> Found<L, M::Fault>
    where
        M: Model<Label = L>,
        O: Observer<M::Label, M::Fault>,
        P: Proviso<M>,
    {
        let (goal, hidden) = (self.goal, model.hidden_words());
        let mut way = |from: &[u32], ask: &mut dyn FnMut(&Step<'_, L>) -> Answer| {
            let most = Some(STATES_MAX);
            match shortest_way(model, proviso, watch, memory_bytes, from, most, |_, step| ask(&step)) {
                ControlFlow::Continue(way) => way,
                // There is no time or memory left: the lasso stays as it is.
                ControlFlow::Break(_) => None,
            }
        };
        let mut stem = self.lead;
        let cycle = match self.cycle {
            Cycle::Short(cycle) => cycle,
            Cycle::Any(labels, start, transient) => {
                let visible = &start[..start.len().saturating_sub(hidden)];
                let mut ask = |step: &Step<'_, L>| closes(step, goal, |step| is_at(step, visible, transient, hidden));
                match way(&start, &mut ask) {
                    Some(cycle) => cycle,
                    None => {
                        stem.extend(self.stem);
                        return Found::Lasso { stem, cycle: labels };
                    }
                }
            }
        };
        let key = |state: &[u32], transient: bool| (state[..state.len().saturating_sub(hidden)].to_vec(), transient);
        let only_transient = cycle.iter().all(|taken| taken.transient);
        let goals = cycle.iter().enumerate().filter(|(_, taken)| taken.transient == only_transient);
        let places: HashMap<_, _> = goals.map(|(i, taken)| (key(&taken.state, taken.transient), i)).collect();
        let mut turn = places.get(&key(self.from, false)).copied();
        let mut direct = Vec::new();
        if turn.is_none() {
            let mut ask = |step: &Step<'_, L>| match goal {
                Goal::Livelock if step.marks.has(Marks::PROGRESS) => Answer::No,
                _ if places.contains_key(&key(step.target, step.transient)) => Answer::Arrived,
                _ => Answer::Yes(Lane::First),
            };
            if let Some(found) = way(self.from, &mut ask) {
                turn = found.last().and_then(|last| places.get(&key(&last.state, last.transient)).copied());
                direct = found;
            }
        }
        let mut labels: Vec<Option<L>> = cycle.iter().map(|taken| taken.label).collect();
        match turn {
            Some(turn) => {
                stem.extend(direct.into_iter().filter_map(|taken| taken.label));
                let places = labels.len();
                labels.rotate_left((turn + 1) % places);
            }
            None => stem.extend(self.stem),
        }
        Found::Lasso { stem, cycle: labels.into_iter().flatten().collect() }
    }
}

/// Goes on until the cycle is what is looked for and `is_start` holds.
fn closes<L>(step: &Step<'_, L>, goal: Goal, is_start: impl Fn(&Step<'_, L>) -> bool) -> Answer {
    if goal == Goal::Livelock && step.marks.has(Marks::PROGRESS) {
        return Answer::No;
    }
    let complete = goal == Goal::Livelock || step.lane == Lane::Second || step.marks.has(Marks::ACCEPTING);
    match complete {
        true if is_start(step) => Answer::Arrived,
        true => Answer::Yes(Lane::Second),
        false => Answer::Yes(Lane::First),
    }
}

/// Whether a step leads to the state with these visible words.
pub(crate) fn is_at<L>(step: &Step<'_, L>, visible: &[u32], transient: bool, hidden: usize) -> bool {
    step.transient == transient && step.target.len() == visible.len() + hidden && step.target.starts_with(visible)
}
