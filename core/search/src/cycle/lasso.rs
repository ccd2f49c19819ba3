//! Shorter lassos: a depth-first search finds one, but seldom a short one.
//!
//! The shortest cycle through the state where the lasso closes is looked for, then the shortest path to some
//! state of it, both breadth first and only so far: what is not found with about the work of the search before is
//! not worth the time.

use super::outcome::{Found, Goal};
use super::paths::{Answer, Lane, Path, Step, shortest_path};
use super::proviso::Proviso;
use super::watch::Watch;
use crate::model::{Marks, Model};
use crate::observer::Observer;
use rustc_hash::FxHashMap;
use std::fmt::Debug;
use std::ops::ControlFlow;

/// For each part of a lasso, as many states are looked at as the search stored, but this many if those are fewer …
const STATES_MIN: u64 = 2_000;
/// … and no more than this many.
const STATES_MAX: u64 = 1 << 16;

/// A lasso, with the states that are needed to find a shorter one.
pub(crate) struct Lasso<'a, L> {
    pub(crate) goal: Goal,
    /// The path to the state from where the stem may be made anew.
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
    Short(Path<L>),
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
        let hidden = model.hidden_words();
        let states_max = watch.statistics.states.clamp(STATES_MIN, STATES_MAX) as usize;
        let mut finder = Finder { model, proviso, watch, memory_bytes, states_max, goal: self.goal, hidden };
        let mut stem = self.lead;
        let cycle = match self.cycle {
            Cycle::Short(cycle) => cycle,
            Cycle::Any(labels, start, transient) => match finder.cycle_through(&start, transient) {
                Some(cycle) => cycle,
                None => {
                    stem.extend(self.stem);
                    return Found::Lasso { stem, cycle: labels };
                }
            },
        };
        let mut labels: Vec<Option<L>> = cycle.iter().map(|taken| taken.label).collect();
        match finder.path_to_some(self.from, &cycle) {
            Some((path, last)) => {
                stem.extend(path.into_iter().filter_map(|taken| taken.label));
                labels.rotate_left(last + 1);
            }
            None => stem.extend(self.stem),
        }
        Found::Lasso { stem, cycle: labels.into_iter().flatten().collect() }
    }
}

/// Finds short paths, if it finds them soon.
struct Finder<'a, 'b, M, O, P> {
    model: &'a mut M,
    proviso: &'a mut P,
    watch: &'a mut Watch<'b, O>,
    memory_bytes: u64,
    states_max: usize,
    goal: Goal,
    hidden: usize,
}

impl<M: Model, O: Observer<M::Label, M::Fault>, P: Proviso<M>> Finder<'_, '_, M, O, P> {
    fn path(&mut self, from: &[u32], mut ask: impl FnMut(&Step<'_, M::Label>) -> Answer) -> Option<Path<M::Label>> {
        let (memory_bytes, most) = (self.memory_bytes, Some(self.states_max));
        match shortest_path(self.model, self.proviso, self.watch, memory_bytes, from, most, |_, step| ask(&step)) {
            ControlFlow::Continue(path) => path,
            // There is no time or memory left: the lasso stays as it is.
            ControlFlow::Break(_) => None,
        }
    }

    /// A cycle through a state that is what is looked for.
    fn cycle_through(&mut self, start: &[u32], transient: bool) -> Option<Path<M::Label>> {
        let (goal, hidden) = (self.goal, self.hidden);
        let visible = &start[..start.len().saturating_sub(hidden)];
        self.path(start, |step| closes(step, goal, |step| is_at(step, visible, transient, hidden)))
    }

    /// A path to some state of a cycle, an ordinary one if there is any; which transition of the cycle leads there.
    fn path_to_some(&mut self, from: &[u32], cycle: &Path<M::Label>) -> Option<(Path<M::Label>, usize)> {
        let (goal, hidden) = (self.goal, self.hidden);
        let key = |state: &[u32], transient: bool| (state[..state.len().saturating_sub(hidden)].to_vec(), transient);
        let only_transient = cycle.iter().all(|taken| taken.transient);
        let ends = cycle.iter().enumerate().filter(|(_, taken)| taken.transient == only_transient);
        let places: FxHashMap<_, usize> = ends.map(|(i, taken)| (key(&taken.state, taken.transient), i)).collect();
        if let Some(&place) = places.get(&key(from, false)) {
            return Some((Vec::new(), place));
        }
        let path = self.path(from, |step| match goal {
            Goal::Livelock if step.marks.has(Marks::PROGRESS) => Answer::No,
            _ if places.contains_key(&key(step.target, step.transient)) => Answer::Arrived,
            _ => Answer::Yes(Lane::First),
        })?;
        let place = path.last().and_then(|last| places.get(&key(&last.state, last.transient)).copied())?;
        Some((path, place))
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
