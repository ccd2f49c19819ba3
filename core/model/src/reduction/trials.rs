//! Whether a reduction pays, tried beside a search of the model as it is.
//!
//! A small model is best explored as it is: that takes no time, and tells at once what is never executed. If the states become many, the
//! search pauses, and a short search of the reduced model tries whether much can be left out. If so, the search ends, to begin anew with the reduction.
//! If not, it goes on, since a step costs two to three times as much with a reduction, even with one that leaves out nothing; it tries
//! again later, with the same share of its work. How large a trial is depends on the model alone, so it comes to the same whoever
//! searches beside it.
//!
//! A search for infinite runs is reduced from the beginning; it is tried once whether that pays, and if not, the search begins anew without.

use super::{Basis, Measured, Plan, Preserve, Proviso, Reduced, WhyNot, left_out_percent};
use crate::SearchedMachine;
use fabius_base::{Cancel, Limits, StopReason};
use fabius_program::{Move, meaning::Fault};
use fabius_search::reduce::OffStack;
use fabius_search::store::VisitedSet;
use fabius_search::{
    Completeness, Observer, Rejected, SearchSnapshot, Settings, SnapshotRequest, Statistics, StopAt, TreeStore,
    ViolationKind, breadth_first, depth_first,
};
use std::ops::ControlFlow;

/// Drawing states starts from this; the same for every run.
const SEED: u64 = 0;
/// A trial stores one state for this many that the search has stored, …
const STATES_PER_TRIED: u64 = 20;
/// … and no fewer than this, or half as many as the search: fewer may tell little of the others.
const TRIED_MIN: u64 = 1_000;
/// … and the next one comes when the search has stored this many times as many states.
const NEXT_TRIAL: u64 = 4;
/// The reduction pays if it leaves out this much, in per cent: with less, there may be half as many states, but each takes three times as
/// long.
const LEFT_OUT_MIN_PERCENT: u64 = 50;
/// Or if it would leave out this much in the states of the whole model that are nearest to the initial one. A process that is soon at its end, and comes first in the reduced
/// model, is left out in hardly any state there, but its interleavings with all others are most of the whole model.
const LEFT_OUT_OF_WHOLE_MIN_PERCENT: u64 = 90;
/// Number of states of the whole model that are stored, for one that a trial stores, …
const WHOLE_PER_TRIED: u64 = 2;
/// … and this many of them are looked at.
const WHOLE_DRAWN: u64 = 300;
/// States are drawn until they have this many words together: 16 MiB.
const DRAWN_WORDS_MAX: usize = 1 << 22;

/// How to reduce, or why that cannot be.
enum Asked<'a> {
    /// Nobody has asked yet; what the answer rests on.
    NotYet(&'a Basis),
    /// The answer.
    Answered(Box<Result<Plan, WhyNot>>),
}

/// A reduction that is tried from time to time.
pub struct Trials<'a> {
    machine: SearchedMachine,
    proviso: Proviso,
    plan: Asked<'a>,
    /// The next trial comes when the search has stored this many states.
    next: u64,
    is_late: &'a dyn Fn() -> bool,
    cancel: Cancel,
    pays: bool,
    /// The search beside it is reduced, and ends where that does not pay.
    reduced: bool,
}

impl<'a> Trials<'a> {
    /// Trials of what preserves all faults with this proviso, unless it is known why there is none. The first comes when the search
    /// has stored `first` states; each ends early when `is_late` says so or somebody cancels.
    pub fn new(
        (machine, basis): (&SearchedMachine, &'a Basis),
        proviso: Proviso,
        why_not: Option<WhyNot>,
        first: u64,
        is_late: &'a dyn Fn() -> bool,
        cancel: Cancel,
    ) -> Self {
        let (machine, plan) =
            (machine.clone(), why_not.map_or(Asked::NotYet(basis), |why| Asked::Answered(Box::new(Err(why)))));
        Self { machine, proviso, plan, next: first, is_late, cancel, pays: false, reduced: false }
    }

    /// A trial of a plan beside a search that is reduced by it: whether the search should go on so once it has stored `first` states.
    pub fn beside_reduced(
        machine: &SearchedMachine,
        plan: Plan,
        first: u64,
        is_late: &'a dyn Fn() -> bool,
        cancel: Cancel,
    ) -> Self {
        let machine = machine.clone();
        Self {
            machine,
            proviso: Proviso::Loops,
            plan: Asked::Answered(Box::new(Ok(plan))),
            next: first,
            is_late,
            cancel,
            pays: true,
            reduced: true,
        }
    }

    /// How to reduce, or why that cannot be.
    pub fn plan(&mut self) -> Result<Plan, WhyNot> {
        let program = self.machine.shared_program();
        let answer = match &self.plan {
            Asked::NotYet(basis) => basis.prepare(program, Preserve::Faults(self.proviso)),
            Asked::Answered(answer) => return Result::clone(answer),
        };
        self.plan = Asked::Answered(Box::new(answer.clone()));
        answer
    }

    /// Why there is no reduction, where that was asked.
    pub fn why_not(&self) -> Option<WhyNot> {
        match &self.plan {
            Asked::NotYet(_) => None,
            Asked::Answered(answer) => (**answer).as_ref().err().copied(),
        }
    }

    /// Whether the last trial found that much is left out.
    pub fn pays(&self) -> bool {
        self.pays
    }

    /// Searches the reduced model for a while beside a search that has done this much; whether much is left out.
    fn pay(&mut self, statistics: &Statistics, limits: Limits) -> bool {
        let Ok(plan) = self.plan() else {
            self.next = u64::MAX;
            return false;
        };
        let most = (self.next / STATES_PER_TRIED).max(TRIED_MIN.min(self.next / 2));
        self.next = if self.reduced { u64::MAX } else { self.next.saturating_mul(NEXT_TRIAL) };
        if limits.states_max.is_some_and(|max| max < statistics.states + most) {
            return self.reduced;
        }
        let memory_bytes_max = limits.memory_bytes_max.map(|max| max.saturating_sub(statistics.memory_bytes));
        let limits = Limits { states_max: Some(most), memory_bytes_max, ..limits };
        let settings = Settings { limits, stop_at: StopAt::First, cancel: self.cancel.clone() };
        let mut measured = Measured::new(Reduced::of(self.machine.clone(), plan.clone()));
        let (mut store, mut clock) = (TreeStore::new(), Clock(self.is_late));
        let completeness = match self.proviso {
            Proviso::Loops => depth_first(&mut measured, &mut store, &mut clock, &settings).completeness,
            Proviso::Stack => {
                let mut off_stack = OffStack::new(measured);
                let outcome = depth_first(&mut off_stack, &mut store, &mut clock, &settings);
                measured = off_stack.into_model();
                outcome.completeness
            }
        };
        match completeness {
            Completeness::Exhaustive | Completeness::FirstViolation => true,
            Completeness::Stopped(StopReason::States) => {
                LEFT_OUT_MIN_PERCENT <= measured.extent().left_out_percent()
                    || LEFT_OUT_OF_WHOLE_MIN_PERCENT <= self.left_out_of_whole(&plan, most, settings)
            }
            Completeness::Stopped(_) => self.reduced,
        }
    }
}

impl Trials<'_> {
    /// How much a plan would leave out in states of the whole model, in per cent.
    fn left_out_of_whole(&self, plan: &Plan, tried: u64, settings: Settings) -> u64 {
        let limits = Limits { states_max: Some(tried * WHOLE_PER_TRIED), ..settings.limits };
        let mut store = TreeStore::<()>::default();
        let (mut whole, mut clock) = (self.machine.clone(), Clock(self.is_late));
        breadth_first(&mut whole, &mut store, &mut clock, &Settings { limits, ..settings });
        left_out_percent(&self.machine, plan, &drawn(&store, WHOLE_DRAWN))
    }
}

/// Some of the states that a search has stored, fewer where they are large; the same ones for the same search.
pub fn drawn(store: &impl VisitedSet, count: u64) -> Vec<Vec<u32>> {
    let (mut states, mut left, mut words) = (Vec::new(), DRAWN_WORDS_MAX, Vec::new());
    for drawn in store.draw(count, SEED) {
        store.words_of(drawn, &mut words);
        // A copy has no more room than it needs.
        states.push(words.clone());
        match left.checked_sub(words.len()) {
            Some(fewer) => left = fewer,
            None => break,
        }
    }
    states
}

/// Ends a trial in time.
struct Clock<'a>(&'a dyn Fn() -> bool);

impl Observer<Move, Fault> for Clock<'_> {
    fn progress(&mut self, _: &Statistics) -> ControlFlow<StopReason> {
        if (self.0)() { ControlFlow::Break(StopReason::Timeout) } else { ControlFlow::Continue(()) }
    }
}

/// Watches a search together with another observer, and cancels it where a trial finds that it should be reduced, or should not be.
pub struct Trying<'t, 'a, O> {
    /// Who watches it, too.
    pub observer: O,
    trials: Option<&'t mut Trials<'a>>,
    limits: Limits,
}

impl<'t, 'a, O> Trying<'t, 'a, O> {
    /// Watches a search with these limits; without trials, it only passes on what the search tells.
    pub fn new(observer: O, trials: Option<&'t mut Trials<'a>>, limits: Limits) -> Self {
        Self { observer, trials, limits }
    }
}

impl<O: Observer<Move, Fault>> Observer<Move, Fault> for Trying<'_, '_, O> {
    fn progress(&mut self, statistics: &Statistics) -> ControlFlow<StopReason> {
        self.observer.progress(statistics)?;
        let Some(trials) = self.trials.as_mut().filter(|trials| trials.next <= statistics.states) else {
            return ControlFlow::Continue(());
        };
        trials.pays = trials.pay(statistics, self.limits);
        if trials.pays == trials.reduced {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(StopReason::Cancelled)
        }
    }

    fn snapshot_request(&mut self) -> Option<SnapshotRequest> {
        self.observer.snapshot_request()
    }

    fn on_snapshot(&mut self, look: SearchSnapshot<Move>) {
        self.observer.on_snapshot(look);
    }

    fn rejected(&mut self, rejected: Rejected<Move>) {
        self.observer.rejected(rejected);
    }

    fn change_limits(&mut self, limits: &mut Limits) {
        self.observer.change_limits(limits);
        self.limits = *limits;
    }

    fn key(&mut self, kind: &ViolationKind<Fault>, label: Option<&Move>, state: &[u32]) -> u64 {
        self.observer.key(kind, label, state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabius_search::store::Inserted;

    #[test]
    fn fewer_states_are_drawn_where_they_are_large() {
        for (words, expected) in [(1 << 4, 40), (1 << 20, 5)] {
            let mut store = TreeStore::new();
            for number in 0..40 {
                let mut state = vec![0; words];
                state[3] = number;
                assert_eq!(store.insert_words(&state), Inserted::New);
            }
            let states = drawn(&store, 40);
            assert_eq!(states.len(), expected);
            assert!(states.iter().all(|state| state.len() == words && state.capacity() == words));
        }
    }
}
