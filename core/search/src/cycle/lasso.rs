//! A shorter lasso than the one that a depth-first search found.
//!
//! The shortest cycle through the state where the lasso closes is looked for, then the shortest path to some
//! state of it, both breadth first and only so far: what is not found with about the work of the search before is
//! not worth the time. The cycles of fair runs are left as they are.

use super::laid::{Laid, Taken, Walker};
use super::outcome::{CycleQuestion, Fairness, Found, Goal};
use super::paths::{self, Answer, Lane, Path, Step, shortest_path};
use super::proviso::NoReduction;
use super::watch::Watch;
use crate::model::{Marks, Model};
use crate::numbered_states::NumberedStates;
use crate::observer::{Observer, Settings, state_words};
use crate::store::Class;
use rustc_hash::FxHashMap;
use std::ops::ControlFlow;

/// For each part of a lasso, as many states are looked at as the search stored, but this many if those are fewer …
const STATES_MIN: u64 = 2_000;
/// … and no more than this many.
const STATES_MAX: u64 = 1 << 16;

/// Looks for a lasso with fewer labels than the known one, as far as that is easy; `states` are those that the search stored which found
/// that one. `None` also if the model does not have the known one, or if a limit is reached before a cycle is found.
///
/// The stem of a livelock has no more progress than it had.
pub fn shorter_lasso<M, O>(
    model: &mut M,
    observer: &mut O,
    settings: &Settings,
    question: CycleQuestion,
    known: (&[M::Label], &[M::Label]),
    states: u64,
) -> Option<Found<M::Label, M::Fault>>
where
    M: Model,
    O: Observer<M::Label, M::Fault>,
{
    let mut watch = Watch::new(observer, settings, state_words(model));
    let states_max = states.clamp(STATES_MIN, STATES_MAX).min(settings.limits.states_max.unwrap_or(u64::MAX));
    let (goal, hidden) = (question.goal, model.hidden_words());
    let mut states = NumberedStates::new(hidden);
    let (watched, numbered, work) = (&mut watch, &mut states, &mut 0);
    let walker = &mut Walker { model: &mut *model, watch: watched, states: numbered, work, work_max: u64::MAX };
    let Laid { stem, cycle } = walker.lay(known).continue_value()??;
    let arrived = |target: u32| {
        let mut state = Vec::new();
        let transient = states.recall(target, &mut state) == Class::Transient;
        (state, transient)
    };
    // Of the stem of a livelock, what is before the last progress stays.
    let is_progress = |taken: &Taken<M::Label>| goal == Goal::Livelock && taken.marks.has(Marks::PROGRESS);
    let lead = stem.iter().rposition(is_progress).map_or(0, |last| last + 1);
    let (from, _) = arrived(lead.checked_sub(1).map_or(0, |last| stem[last].target));
    let mut finder =
        Finder { model, watch, memory_bytes: states.memory_bytes(), states_max: states_max as usize, goal, hidden };
    let shortest: Path<M::Label> = if question.fairness == Fairness::None {
        let (start, transient) = arrived(cycle.last()?.target);
        finder.cycle_through(&start, transient)?
    } else {
        let of = |taken: &Taken<M::Label>| {
            let (state, transient) = arrived(taken.target);
            paths::Taken { label: taken.label, marks: taken.marks, state, transient }
        };
        cycle.iter().map(of).collect()
    };
    let mut cycle: Vec<Option<M::Label>> = shortest.iter().map(|taken| taken.label).collect();
    let mut stem: Vec<Option<M::Label>> = stem.iter().map(|taken| taken.label).collect();
    if let Some((path, last)) = finder.path_to_some(&from, &shortest) {
        cycle.rotate_left(last + 1);
        stem.truncate(lead);
        stem.extend(path.into_iter().map(|taken| taken.label));
    }
    let labels = |part: Vec<Option<M::Label>>| -> Vec<M::Label> { part.into_iter().flatten().collect() };
    let (stem, cycle) = (labels(stem), labels(cycle));
    let is_shorter = stem.len() + cycle.len() < known.0.len() + known.1.len();
    is_shorter.then_some(Found::Lasso { stem, cycle })
}

/// Finds short paths, if it finds them soon.
struct Finder<'m, 'a, M, O> {
    model: &'m mut M,
    watch: Watch<'a, O>,
    /// In use elsewhere.
    memory_bytes: u64,
    states_max: usize,
    goal: Goal,
    hidden: usize,
}

impl<M: Model, O: Observer<M::Label, M::Fault>> Finder<'_, '_, M, O> {
    fn path(&mut self, from: &[u32], mut ask: impl FnMut(&Step<'_, M::Label>) -> Answer) -> Option<Path<M::Label>> {
        let (memory_bytes, most) = (self.memory_bytes, Some(self.states_max));
        let ask = |_: &mut M, step: Step<'_, M::Label>| ask(&step);
        match shortest_path(self.model, &mut NoReduction, &mut self.watch, memory_bytes, from, most, ask) {
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
