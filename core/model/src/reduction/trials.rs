//! Whether a reduction pays, tried beside a search of the model as it is.
//!
//! A small model is best explored as it is: that takes no time, and tells at once what is never executed. If the states become many, the
//! search pauses, and a short search of the reduced model tries whether much can be left out. If so, the search ends, to begin anew with the reduction.
//! If not, it goes on, since a step costs two to three times as much with a reduction, even with one that leaves out nothing; it tries
//! again later, with the same share of its work. How large a trial is depends on the model alone, so it comes to the same whoever
//! searches beside it.

use super::{Measured, Plan, Preserve, Proviso, Reduced, WhyNot, prepare};
use crate::SearchedMachine;
use fabius_base::{Cancel, Limits, StopReason};
use fabius_program::{Move, meaning::Fault};
use fabius_search::reduce::OffStack;
use fabius_search::{
    Completeness, Observer, Rejected, SearchSnapshot, Settings, SnapshotRequest, Statistics, StopAt, TreeStore,
    ViolationKind, depth_first,
};
use std::ops::ControlFlow;

/// A trial stores one state for this many that the search has stored, …
const STATES_PER_TRIED: u64 = 20;
/// … and no fewer than this, or half as many as the search: fewer may tell little of the others.
const TRIED_MIN: u64 = 1_000;
/// … and the next one comes when the search has stored this many times as many states.
const NEXT_TRIAL: u64 = 4;
/// The reduction pays if it leaves out this much, in per cent: with less, there are hardly fewer states, and each takes longer.
const LEFT_OUT_MIN_PERCENT: u64 = 25;

/// A reduction that is tried from time to time.
pub struct Trials<'a> {
    machine: SearchedMachine,
    proviso: Proviso,
    /// How to reduce, once that was asked.
    plan: Option<Result<Plan, WhyNot>>,
    /// The next trial comes when the search has stored this many states.
    next: u64,
    is_late: &'a dyn Fn() -> bool,
    cancel: Cancel,
    pays: bool,
}

impl<'a> Trials<'a> {
    /// Trials of what preserves all faults with this proviso, unless it is known why there is none. The first comes when the search
    /// has stored `first` states; each ends early when `is_late` says so or somebody cancels.
    pub fn new(
        machine: &SearchedMachine,
        proviso: Proviso,
        why_not: Option<WhyNot>,
        first: u64,
        is_late: &'a dyn Fn() -> bool,
        cancel: Cancel,
    ) -> Self {
        Self { machine: machine.clone(), proviso, plan: why_not.map(Err), next: first, is_late, cancel, pays: false }
    }

    /// How to reduce, or why that cannot be.
    pub fn plan(&mut self) -> Result<Plan, WhyNot> {
        let prepared = || prepare(self.machine.shared_program(), Preserve::Faults(self.proviso));
        self.plan.get_or_insert_with(prepared).clone()
    }

    /// Why there is no reduction, where that was asked.
    pub fn why_not(&self) -> Option<WhyNot> {
        self.plan.as_ref()?.as_ref().err().copied()
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
        self.next = self.next.saturating_mul(NEXT_TRIAL);
        if limits.states_max.is_some_and(|max| max < statistics.states + most) {
            return false;
        }
        let memory_bytes_max = limits.memory_bytes_max.map(|max| max.saturating_sub(statistics.memory_bytes));
        let limits = Limits { states_max: Some(most), memory_bytes_max, ..limits };
        let settings = Settings { limits, stop_at: StopAt::First, cancel: self.cancel.clone() };
        let mut measured = Measured::new(Reduced::of(self.machine.clone(), plan));
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
            Completeness::Stopped(StopReason::States) => LEFT_OUT_MIN_PERCENT <= measured.extent().left_out_percent(),
            Completeness::Stopped(_) => false,
        }
    }
}

/// Ends a trial in time.
struct Clock<'a>(&'a dyn Fn() -> bool);

impl Observer<Move, Fault> for Clock<'_> {
    fn progress(&mut self, _: &Statistics) -> ControlFlow<StopReason> {
        if (self.0)() { ControlFlow::Break(StopReason::Timeout) } else { ControlFlow::Continue(()) }
    }
}

/// Watches a search of a model as it is together with another observer, and cancels it where a reduction pays.
pub struct Trying<'t, 'a, O> {
    /// Who watches it, too.
    pub observer: O,
    trials: &'t mut Trials<'a>,
    limits: Limits,
}

impl<'t, 'a, O> Trying<'t, 'a, O> {
    /// Watches a search with these limits.
    pub fn new(observer: O, trials: &'t mut Trials<'a>, limits: Limits) -> Self {
        Self { observer, trials, limits }
    }
}

impl<O: Observer<Move, Fault>> Observer<Move, Fault> for Trying<'_, '_, O> {
    fn progress(&mut self, statistics: &Statistics) -> ControlFlow<StopReason> {
        self.observer.progress(statistics)?;
        if self.trials.next <= statistics.states {
            self.trials.pays = self.trials.pay(statistics, self.limits);
            if self.trials.pays {
                return ControlFlow::Break(StopReason::Cancelled);
            }
        }
        ControlFlow::Continue(())
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
