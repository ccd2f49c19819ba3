//! A search for violations of safety, with a reduction where [`Trials`] find that it pays.

use crate::reachable::{self, Explored, How, Joined, audited};
use fabius_base::Limits;
use fabius_model::SearchedMachine;
use fabius_model::reduction::{Proviso, Reduced, Trials, Trying, WhyNot};
use fabius_observe::{CheckContext, EngineObserver, Goal, Task};
use fabius_search::reduce::OffStack;
use fabius_search::{self as search, StopAt, TreeStore};
use fabius_task::query::event_trace;
use fabius_task::report::{OFF, ON};
use fabius_task::settings::{Order, Storage, ThreadCount};

/// The reduction that needs no stack leaves more states: only this many threads are faster with it than one with the other.
const THREADS_FOR_LOOPS: usize = 4;

/// What a search found, and how it was reduced.
pub(crate) struct ReducedSearch {
    pub explored: Explored,
    /// What the report says of the reduction.
    pub reduction: String,
    /// The states that were stored before the search began anew.
    pub states_before: u64,
}

/// Explores a model, with a reduction if that pays and no more than a verdict was asked for.
///
/// Several threads have no stack that all of them know, so they take a reduction that needs none.
pub(crate) fn explore(
    task: &Task<'_>,
    machine: &mut SearchedMachine,
    how: How,
    stop_at: StopAt,
    context: &mut CheckContext<'_>,
) -> ReducedSearch {
    let settings = task.settings;
    let plain = how.order == Order::DepthFirstThenShorten && how.store == Storage::Tree;
    if !(settings.reduction && settings.optimize && plain && stop_at == StopAt::First) {
        let explored = reachable::explore(task, machine, how, stop_at, context);
        return ReducedSearch { explored, reduction: OFF.to_owned(), states_before: 0 };
    }
    let has_trace = event_trace(task.program).map(|_| WhyNot::Trace);
    let (until, now) = (settings.until, context.now);
    let is_late = || until.is_some_and(|until| until <= now());
    let are_enough = match how.threads {
        ThreadCount::Exactly(count) => 1 < count,
        ThreadCount::UpTo(count) => THREADS_FOR_LOOPS <= count,
    };
    let proviso = if are_enough { Proviso::Loops } else { Proviso::Stack };
    let (first, cancel) = (settings.whole_states_max, context.cancel.clone());
    let mut trials = Trials::new(machine, proviso, has_trace, first, &is_late, cancel);
    let mut states_before = 0;
    if 0 < settings.whole_states_max {
        let explored = beside_trials(task, machine, how, &mut trials, context);
        if !trials.pays() {
            let reduction = trials.why_not().map_or_else(|| OFF.to_owned(), |why| why.to_string());
            return ReducedSearch { explored, reduction, states_before: 0 };
        }
        states_before = explored.outcome.statistics.states;
    }
    match trials.plan() {
        Ok(plan) => {
            let reduced = Reduced::of(machine.clone(), plan);
            let explored = explore_reduced(task, machine, reduced, proviso, how, context);
            ReducedSearch { explored, reduction: ON.to_owned(), states_before }
        }
        Err(why) => {
            let explored = reachable::explore(task, machine, how, stop_at, context);
            ReducedSearch { explored, reduction: why.to_string(), states_before: 0 }
        }
    }
}

/// Searches a model as it is until a trial finds that a reduction pays.
fn beside_trials(
    task: &Task<'_>,
    machine: &mut SearchedMachine,
    how: How,
    trials: &mut Trials<'_>,
    context: &mut CheckContext<'_>,
) -> Explored {
    let limits = task.settings.limits;
    let observer = EngineObserver::new(task, context, Goal::Violation, machine.places(), None);
    let searching = search_settings(limits, &observer);
    let mut observer = Trying::new(observer, trials, limits);
    if let Some(threads) = how.together() {
        let mut joined = reachable::joined(machine, threads, &mut observer, &searching);
        let keys = observer.observer.keys;
        let audited = if trials.pays() { None } else { joined.audited(machine, task.settings, context) };
        return joined.explored(keys, audited);
    }
    let mut store = TreeStore::new();
    let outcome = search::depth_first(machine, &mut store, &mut observer, &searching);
    let (keys, is_over) = (observer.observer.keys, !trials.pays());
    let audited = if is_over { audited(machine, &mut store, &outcome, task.settings, context) } else { None };
    Explored { store_bytes: search::Store::memory_bytes(&store), outcome, keys, audited }
}

/// Searches a reduced model.
fn explore_reduced(
    task: &Task<'_>,
    machine: &SearchedMachine,
    mut reduced: Reduced,
    proviso: Proviso,
    how: How,
    context: &mut CheckContext<'_>,
) -> Explored {
    let mut observer = EngineObserver::new(task, context, Goal::Violation, machine.places(), None);
    let searching = search_settings(task.settings.limits, &observer);
    if let Some(threads) = how.together().filter(|_| proviso == Proviso::Loops) {
        let reached = search::parallel::reach(&mut reduced, threads, &mut observer, &searching, reachable::SEED);
        let mut joined = Joined { outcome: reached.outcome, visited: reached.visited };
        let keys = observer.keys;
        let audited = joined.audited(&mut reduced, task.settings, context);
        return joined.explored(keys, audited);
    }
    let mut reduced = OffStack::new(reduced);
    let mut store = TreeStore::new();
    let explored = reachable::run(&mut reduced, &mut store, observer, &searching, false);
    let audited = audited(&mut reduced.into_model(), &mut store, &explored.outcome, task.settings, context);
    Explored { audited, ..explored }
}

fn search_settings(limits: Limits, observer: &EngineObserver<'_, '_>) -> search::Settings {
    search::Settings { limits, stop_at: StopAt::First, cancel: observer.context.cancel.clone() }
}
