//! When a search for violations of safety is worth a reduction.
//!
//! A small model is explored as it is: that tells what is never executed, too. If the states become many, the search pauses, and a
//! short search of the reduced model tries whether much can be left out. If so, the search begins anew with the reduction. If not, it
//! goes on, since a step costs two to three times as much with a reduction, even with one that leaves out nothing; it tries again
//! later, with the same share of its work.

use crate::run::audited;
use crate::safety::{self, Explored, How};
use fabius_base::{Cancel, Limits, StopReason};
use fabius_model::SearchedMachine;
use fabius_model::reduction::{self, Measured, Plan, Preserve, Proviso, Reduced, WhyNot};
use fabius_observe::{CheckContext, Controls, EngineObserver, Goal, Task};
use fabius_program::{Move, meaning::Fault};
use fabius_search::reduce::OffStack;
use fabius_search::{
    self as search, Completeness, Rejected, SearchSnapshot, SnapshotRequest, Statistics, StopAt, TreeStore,
    ViolationKind,
};
use fabius_task::query::event_trace;
use fabius_task::report::{OFF, ON};
use fabius_task::settings::{Order, Storage};
use std::ops::ControlFlow;
use std::time::Duration;

/// A trial stores one state for this many that the search has stored, …
const STATES_PER_TRIED: u64 = 20;
/// … and the next one comes when the search has stored this many times as many states.
const NEXT_TRIAL: u64 = 4;
/// The reduction pays if it leaves out this much, in per cent: with less, there are hardly fewer states, and each takes longer.
const LEFT_OUT_MIN_PERCENT: u64 = 25;

/// Explores a model, with a reduction if that pays and no more than a verdict was asked for. What the report says of the reduction
/// comes with it, and how many states were stored before the search began anew.
pub(crate) fn explore(
    task: &Task<'_>,
    machine: &mut SearchedMachine,
    how: How,
    stop_at: StopAt,
    context: &mut CheckContext<'_>,
) -> (Explored, (String, u64)) {
    let settings = task.settings;
    let plain = how.order == Order::DepthFirstThenShorten && how.store == Storage::Tree && how.threads == 1;
    if !(settings.reduction && settings.optimize && plain && stop_at == StopAt::First) {
        return (safety::explore(task, machine, how, stop_at, context), (OFF.to_owned(), 0));
    }
    let mut trials = Trials::new(task, machine, context);
    if 0 < settings.whole_states_max {
        let observer = EngineObserver::new(task, context, Goal::Violation, machine.places(), None);
        let searching = search_settings(settings.limits, &observer);
        let mut observer = Trying { observer, trials: &mut trials };
        let mut store = TreeStore::new();
        let outcome = search::depth_first(machine, &mut store, &mut observer, &searching);
        let keys = observer.observer.keys;
        if !trials.pays {
            let audited = audited(machine, &mut store, &outcome, settings, context);
            let explored = Explored { store_bytes: search::Store::memory_bytes(&store), outcome, keys, audited };
            return (explored, (trials.told(), 0));
        }
        trials.states_before = outcome.statistics.states;
    }
    match trials.plan() {
        Ok(plan) => {
            let mut reduced = OffStack::new(Reduced::of(machine.clone(), plan));
            let observer = EngineObserver::new(task, context, Goal::Violation, machine.places(), None);
            let searching = search_settings(settings.limits, &observer);
            let mut store = TreeStore::new();
            let explored = safety::run(&mut reduced, &mut store, observer, &searching, false);
            let audited = audited(&mut reduced.into_model(), &mut store, &explored.outcome, settings, context);
            (Explored { audited, ..explored }, (ON.to_owned(), trials.states_before))
        }
        Err(why) => (safety::explore(task, machine, how, stop_at, context), (why.to_string(), 0)),
    }
}

fn search_settings(limits: Limits, observer: &EngineObserver<'_, '_>) -> search::Settings {
    search::Settings { limits, stop_at: StopAt::First, cancel: observer.context.cancel.clone() }
}

/// Tries from time to time whether a reduction pays.
struct Trials<'a> {
    machine: SearchedMachine,
    /// An event trace is watched.
    has_trace: bool,
    /// How to reduce, once that was asked.
    plan: Option<Result<Plan, WhyNot>>,
    /// The next trial comes when the search has stored this many states.
    next: u64,
    limits: Limits,
    controls: Option<&'a Controls>,
    until: Option<Duration>,
    now: &'a dyn Fn() -> Duration,
    cancel: Cancel,
    /// The reduction pays.
    pays: bool,
    /// States that were stored before the search began anew.
    states_before: u64,
}

impl<'a> Trials<'a> {
    fn new(task: &Task<'_>, machine: &SearchedMachine, context: &CheckContext<'a>) -> Self {
        Self {
            machine: machine.clone(),
            has_trace: event_trace(task.program).is_some(),
            plan: None,
            next: task.settings.whole_states_max,
            limits: task.settings.limits,
            controls: context.controls,
            until: task.settings.until,
            now: context.now,
            cancel: context.cancel.clone(),
            pays: false,
            states_before: 0,
        }
    }

    fn plan(&mut self) -> Result<Plan, WhyNot> {
        let prepared = || match self.has_trace {
            true => Err(WhyNot::Trace),
            false => reduction::prepare(self.machine.shared_program(), Preserve::Faults(Proviso::Stack)),
        };
        self.plan.get_or_insert_with(prepared).clone()
    }

    /// Searches the reduced model for a while beside a search that has done this much; whether much is left out.
    fn pay(&mut self, statistics: &Statistics) -> bool {
        let limits = self.controls.and_then(Controls::limits).unwrap_or(self.limits);
        let Ok(plan) = self.plan() else {
            self.next = u64::MAX;
            return false;
        };
        let most = statistics.states / STATES_PER_TRIED;
        self.next = statistics.states.saturating_mul(NEXT_TRIAL);
        if limits.states_max.is_some_and(|max| max < statistics.states + most) {
            return false;
        }
        let memory_bytes_max = limits.memory_bytes_max.map(|max| max.saturating_sub(statistics.memory_bytes));
        let limits = Limits { states_max: Some(most), memory_bytes_max, ..limits };
        let searching = search::Settings { limits, stop_at: StopAt::First, cancel: self.cancel.clone() };
        let mut reduced = OffStack::new(Measured::new(Reduced::of(self.machine.clone(), plan)));
        let mut clock = Clock { now: self.now, until: self.until };
        let outcome = search::depth_first(&mut reduced, &mut TreeStore::new(), &mut clock, &searching);
        match outcome.completeness {
            Completeness::Exhaustive | Completeness::FirstViolation => true,
            Completeness::Stopped(StopReason::States) => {
                LEFT_OUT_MIN_PERCENT <= reduced.model().extent().left_out_percent()
            }
            Completeness::Stopped(_) => false,
        }
    }

    /// What a report says of the reduction if it was not used.
    fn told(&self) -> String {
        match &self.plan {
            Some(Err(why)) => why.to_string(),
            _ => OFF.to_owned(),
        }
    }
}

/// Ends a trial in time.
struct Clock<'a> {
    now: &'a dyn Fn() -> Duration,
    until: Option<Duration>,
}

impl search::Observer<Move, Fault> for Clock<'_> {
    fn progress(&mut self, _: &Statistics) -> ControlFlow<StopReason> {
        let is_late = self.until.is_some_and(|until| until <= (self.now)());
        if is_late { ControlFlow::Break(StopReason::Timeout) } else { ControlFlow::Continue(()) }
    }
}

/// Watches a search of a model as it is, and ends it where a reduction pays.
struct Trying<'t, 'n, 'a, 'b> {
    observer: EngineObserver<'a, 'b>,
    trials: &'t mut Trials<'n>,
}

impl search::Observer<Move, Fault> for Trying<'_, '_, '_, '_> {
    fn progress(&mut self, statistics: &Statistics) -> ControlFlow<StopReason> {
        self.observer.progress(statistics)?;
        if self.trials.next <= statistics.states {
            self.trials.pays = self.trials.pay(statistics);
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
    }

    fn key(&mut self, kind: &ViolationKind<Fault>, label: Option<&Move>, state: &[u32]) -> u64 {
        self.observer.key(kind, label, state)
    }
}
