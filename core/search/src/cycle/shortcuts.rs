//! Shortcuts: a shorter lasso than a long one that is known, by short paths from its states to later ones.
//!
//! ```text
//! for size := few, …, many:
//!   repeat with s := the next state of the lasso, first at its beginning, then by halves, quarters, …
//!     look at `size` states breadth first from s; among those that are on the lasso, take the one to which
//!       the path found saves the most transitions; the path replaces what was between
//!   until many states were looked at in vain
//! ```
//!
//! Part of the stem may always be replaced, if need be up to another state of the cycle, which then begins there. Part of the cycle may be,
//! even all of it, if what it becomes still counts: in a livelock the path makes no progress, in an acceptance cycle either the path or what
//! remains accepts. The cycles of fair runs are left as they are.
//!
//! The states near a path ([`crate::Near`]) show shortcuts of few steps wherever they are, this one shows long ones that save
//! much: a lasso often goes round and round nearly the same way, and a few steps lead to its last round.

use super::laid::{Laid, Taken, Walker};
use super::outcome::{CycleQuestion, Fairness, Found, Goal, Run};
use super::paths::{Answer, Lane, Path, Step, shortest_path};
use super::proviso::NoReduction;
use super::shortest::{Shortest, ShortestBounds};
use super::watch::Watch;
use crate::model::{Marks, Model, Processes};
use crate::numbered_states::NumberedStates;
use crate::observer::{Observer, Settings, state_words};
use crate::outcome::Halt;
use crate::store::Class;
use fabius_base::StopReason;
use std::ops::ControlFlow;

/// This many states are looked at from one state of the lasso, first and at last, …
const STATES_MIN: usize = 1 << 8;
const STATES_MAX: usize = 1 << 14;
/// … and this many times more, …
const STATES_FACTOR: usize = 4;
/// … after this many were looked at in vain.
const STATES_IN_VAIN: usize = 1 << 15;

/// Looks for a run with fewer steps than a lasso that is known. `bounds.steps` are those of the known one. [`Shortest::proved`] is
/// never true.
pub fn shortcuts<M, O>(
    model: &mut M,
    observer: &mut O,
    settings: &Settings,
    question: CycleQuestion,
    known: (&[M::Label], &[M::Label]),
    bounds: ShortestBounds,
) -> Shortest<M::Label, M::Fault>
where
    M: Processes,
    O: Observer<M::Label, M::Fault>,
{
    let watch = Watch::new(observer, settings, state_words(model));
    let mut search = Search {
        states: NumberedStates::new(model.hidden_words()),
        model,
        watch,
        question,
        lasso: Lasso { stem: Vec::new(), cycle: Vec::new(), places: Vec::new(), accepting: Vec::new() },
        work: 0,
        work_max: bounds.work_max,
    };
    let Search { model, watch, states, work, work_max, .. } = &mut search;
    let laid = Walker { model: &mut **model, watch, states, work, work_max: *work_max }.lay(known);
    let laid = laid.continue_value().flatten();
    let is_laid = laid.is_some();
    // What ends it early takes nothing away from what was found.
    if let Some(Laid { stem, cycle }) = laid {
        (search.lasso.stem, search.lasso.cycle) = (stem, cycle);
        search.lasso.leave_out_detours(search.states.log.len());
        let _ = search.run();
    }
    let (stem, cycle) = search.lasso.labels();
    let is_step = |label: &&M::Label| search.model.movers(label).iter().any(Option::is_some);
    let is_shorter = is_laid && (stem.iter().chain(&cycle).filter(is_step).count() as u64) < bounds.steps;
    Shortest { found: is_shorter.then_some(Found::Lasso { stem, cycle }), proved: false, work: search.work }
}

struct Search<'a, M: Model, O> {
    model: &'a mut M,
    watch: Watch<'a, O>,
    question: CycleQuestion,
    /// Those of the lasso and of the paths that became part of it; the initial one is the first.
    states: NumberedStates,
    lasso: Lasso<M::Label>,
    /// Transitions of the model that were listed.
    work: u64,
    work_max: u64,
}

/// A lasso, with its states.
struct Lasso<L> {
    stem: Vec<Taken<L>>,
    cycle: Vec<Taken<L>>,
    /// The last place of each state, in the cycle if it is there.
    places: Vec<Place>,
    /// How many of the first transitions of the cycle accept, for each number of them.
    accepting: Vec<usize>,
}

/// Which transitions of a lasso a path replaces.
#[derive(Clone, Copy)]
enum Replaced {
    /// Of the stem, from one to before another one.
    Stem(usize, usize),
    /// Of the stem, from one to its end; the cycle then begins with this one.
    Entry(usize, usize),
    /// Of the cycle, from one on this many, over its end if need be.
    Cycle(usize, usize),
}

/// A path that saves transitions.
struct Shortcut {
    saved: usize,
    replaced: Replaced,
    /// The state where it leads, the lane in which it does, and its length.
    target: u32,
    lane: Lane,
    length: u32,
}

/// Where on a lasso a state is: which transition leaves it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Nowhere,
    Stem(usize),
    Cycle(usize),
}

impl<M: Processes, O: Observer<M::Label, M::Fault>> Search<'_, M, O> {
    /// Looks for shortcuts among few states each, then among more.
    fn run(&mut self) -> Run<M::Label, M::Fault> {
        let mut size = STATES_MIN;
        while size <= STATES_MAX {
            let (mut in_vain, mut number) = (0, 0_u32);
            while in_vain < STATES_IN_VAIN && (number as usize) < self.lasso.len() {
                in_vain = if self.shorten(scattered(number, self.lasso.len()), size)? { 0 } else { in_vain + size };
                number += 1;
            }
            size *= STATES_FACTOR;
        }
        ControlFlow::Continue(())
    }

    /// Takes the shortcut from a state of the lasso that saves the most, if there is any among this many states.
    fn shorten(&mut self, from: usize, size: usize) -> Run<M::Label, M::Fault, bool> {
        let here = match from.checked_sub(self.lasso.stem.len()) {
            None => Place::Stem(from),
            Some(at) => Place::Cycle(at),
        };
        let question = self.question;
        let mut best: Option<Shortcut> = None;
        self.paths_from(here, size, |lasso, step, target| {
            let shortcut = target.and_then(|target| lasso.shortcut(question, here, step, target));
            let saved = best.as_ref().map_or(0, |best| best.saved);
            if let Some(shortcut) = shortcut.filter(|shortcut| saved < shortcut.saved) {
                best = Some(shortcut);
            }
            false
        })?;
        let Some(best) = best else { return ControlFlow::Continue(false) };
        let path = self.paths_from(here, size, |_, step, target| {
            (target, step.number) == (Some(best.target), best.length) && lane_after(here, step) == best.lane
        })?;
        let Some(path) = path else { return ControlFlow::Continue(false) };
        self.replace(best.replaced, path);
        ControlFlow::Continue(true)
    }

    /// The path from a state of the lasso that is complete, among this many states, if any is. With each transition: the number of the
    /// state where it leads, if it has one.
    fn paths_from(
        &mut self,
        here: Place,
        size: usize,
        mut is_complete: impl FnMut(&Lasso<M::Label>, &Step<'_, M::Label>, Option<u32>) -> bool,
    ) -> Run<M::Label, M::Fault, Option<Path<M::Label>>> {
        let no_progress = self.question.goal == Goal::Livelock && matches!(here, Place::Cycle(_));
        let mut state = Vec::new();
        self.states.recall(self.lasso.source(here), &mut state);
        let Self { model, watch, states, lasso, work, work_max, .. } = self;
        let size = usize::try_from(work_max.saturating_sub(*work)).map_or(size, |left| left.min(size));
        let memory_bytes = states.memory_bytes();
        let path = shortest_path(*model, &mut NoReduction, watch, memory_bytes, &state, Some(size), |_, step| {
            *work += 1;
            if *work_max < *work || no_progress && step.marks.has(Marks::PROGRESS) {
                return Answer::No;
            }
            let class = if step.transient { Class::Transient } else { Class::Ordinary };
            match is_complete(lasso, &step, states.look_up(step.target, class)) {
                true => Answer::Arrived,
                false => Answer::Yes(lane_after(here, &step)),
            }
        })?;
        match *work_max < *work {
            true => ControlFlow::Break(Halt::Stopped(StopReason::States)),
            false => ControlFlow::Continue(path),
        }
    }

    /// Puts a path where it saves transitions.
    fn replace(&mut self, replaced: Replaced, path: Path<M::Label>) {
        let mut taken = Vec::new();
        for step in path {
            let class = if step.transient { Class::Transient } else { Class::Ordinary };
            taken.push(Taken {
                label: step.label,
                marks: step.marks,
                target: self.states.number_of(&step.state, class),
            });
        }
        let Lasso { stem, cycle, .. } = &mut self.lasso;
        match replaced {
            Replaced::Stem(from, to) => drop(stem.splice(from..to, taken)),
            Replaced::Entry(from, to) => {
                stem.splice(from.., taken);
                cycle.rotate_left(to);
            }
            Replaced::Cycle(from, count) => {
                stem.extend_from_slice(&cycle[..from]);
                cycle.rotate_left(from);
                cycle.splice(..count, taken);
            }
        }
        self.lasso.leave_out_detours(self.states.log.len());
    }
}

/// The lane after a transition: whether the path accepts, where a cycle may need that.
fn lane_after<L>(here: Place, step: &Step<'_, L>) -> Lane {
    let accepts = step.lane == Lane::Second || step.marks.has(Marks::ACCEPTING);
    if accepts && matches!(here, Place::Cycle(_)) { Lane::Second } else { Lane::First }
}

impl<L: Copy> Lasso<L> {
    fn len(&self) -> usize {
        self.stem.len() + self.cycle.len()
    }

    /// The labels of stem and cycle.
    fn labels(&self) -> (Vec<L>, Vec<L>) {
        let labels = |part: &[Taken<L>]| part.iter().filter_map(|taken| taken.label).collect();
        (labels(&self.stem), labels(&self.cycle))
    }

    /// The number of the state at a place.
    fn source(&self, place: Place) -> u32 {
        let before = match place {
            Place::Nowhere => None,
            Place::Stem(at) => at.checked_sub(1).and_then(|before| self.stem.get(before)),
            Place::Cycle(at) => at.checked_sub(1).map_or(self.cycle.last(), |before| self.cycle.get(before)),
        };
        before.map_or(0, |taken| taken.target)
    }

    /// What is saved by a path from one place to this state, if that may replace what is between.
    fn shortcut(&self, question: CycleQuestion, here: Place, step: &Step<'_, L>, target: u32) -> Option<Shortcut> {
        let (replaced, count) = self.replaced(here, *self.places.get(target as usize)?)?;
        let saved = count.checked_sub(step.number as usize).filter(|&saved| 0 < saved)?;
        let lane = lane_after(here, step);
        let counts = match replaced {
            Replaced::Stem(..) | Replaced::Entry(..) => true,
            Replaced::Cycle(..) if question.fairness != Fairness::None => false,
            Replaced::Cycle(from, count) => {
                question.goal == Goal::Livelock || lane == Lane::Second || self.accepts_without(from, count)
            }
        };
        counts.then_some(Shortcut { saved, replaced, target, lane, length: step.number })
    }

    /// Whether the cycle accepts without this many transitions from one on.
    fn accepts_without(&self, from: usize, count: usize) -> bool {
        let (to, length) = (from + count, self.cycle.len());
        match to.checked_sub(length) {
            None => self.accepting[from] != 0 || self.accepting[to] != self.accepting[length],
            Some(to) => self.accepting[to] != self.accepting[from],
        }
    }

    /// What a path between two places replaces, and how many transitions that are.
    fn replaced(&self, from: Place, to: Place) -> Option<(Replaced, usize)> {
        match (from, to) {
            (Place::Stem(from), Place::Stem(to)) => Some((Replaced::Stem(from, to), to.checked_sub(from)?)),
            (Place::Stem(from), Place::Cycle(to)) => Some((Replaced::Entry(from, to), self.stem.len() - from)),
            (Place::Cycle(from), Place::Cycle(to)) => {
                let count = if from < to { to - from } else { to + self.cycle.len() - from };
                Some((Replaced::Cycle(from, count), count))
            }
            _ => None,
        }
    }

    /// Makes the stem end where it first comes to the cycle, and visit no state twice; given how many states there are.
    fn leave_out_detours(&mut self, states: usize) {
        self.locate(states);
        let (mut stem, mut at) = (Vec::new(), 0);
        loop {
            match self.places[self.source(Place::Stem(at)) as usize] {
                Place::Stem(last) => {
                    stem.push(self.stem[last]);
                    at = last + 1;
                }
                Place::Cycle(first) => {
                    self.cycle.rotate_left(first);
                    break;
                }
                Place::Nowhere => unreachable!("the stem leads to the cycle"),
            }
        }
        self.stem = stem;
        self.locate(states);
    }

    /// Notes the places of this many states, and what accepts.
    fn locate(&mut self, states: usize) {
        let mut places = vec![Place::Nowhere; states];
        let stem = (0..self.stem.len()).map(Place::Stem);
        for place in stem.chain((0..self.cycle.len()).map(Place::Cycle)) {
            places[self.source(place) as usize] = place;
        }
        let mut count = 0;
        let counts = self.cycle.iter().map(|taken| {
            count += usize::from(taken.marks.has(Marks::ACCEPTING));
            count
        });
        (self.places, self.accepting) = (places, std::iter::once(0).chain(counts).collect());
    }
}

/// A number below `length` for each number below it: first 0, then the middle, then the quarters, and so on.
fn scattered(number: u32, length: usize) -> usize {
    ((u64::from(number.reverse_bits()) * length as u64) >> u32::BITS) as usize
}
