//! A search for violations of safety, with a reduction where [`Trials`] find that it pays.

use crate::run::audited;
use crate::safety::{self, Explored, How};
use fabius_base::Limits;
use fabius_model::SearchedMachine;
use fabius_model::reduction::{Reduced, Trials, Trying, WhyNot};
use fabius_observe::{CheckContext, EngineObserver, Goal, Task};
use fabius_search::reduce::OffStack;
use fabius_search::{self as search, StopAt, TreeStore};
use fabius_task::query::event_trace;
use fabius_task::report::{OFF, ON};
use fabius_task::settings::{Order, Storage};

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
    let has_trace = event_trace(task.program).map(|_| WhyNot::Trace);
    let (until, now) = (settings.until, context.now);
    let is_late = || until.is_some_and(|until| until <= now());
    let mut trials = Trials::new(machine, has_trace, settings.whole_states_max, &is_late, context.cancel.clone());
    let mut states_before = 0;
    if 0 < settings.whole_states_max {
        let observer = EngineObserver::new(task, context, Goal::Violation, machine.places(), None);
        let searching = search_settings(settings.limits, &observer);
        let mut observer = Trying::new(observer, &mut trials, settings.limits);
        let mut store = TreeStore::new();
        let outcome = search::depth_first(machine, &mut store, &mut observer, &searching);
        let keys = observer.observer.keys;
        if !trials.pays() {
            let audited = audited(machine, &mut store, &outcome, settings, context);
            let explored = Explored { store_bytes: search::Store::memory_bytes(&store), outcome, keys, audited };
            return (explored, (trials.why_not().map_or_else(|| OFF.to_owned(), |why| why.to_string()), 0));
        }
        states_before = outcome.statistics.states;
    }
    match trials.plan() {
        Ok(plan) => {
            let mut reduced = OffStack::new(Reduced::of(machine.clone(), plan));
            let observer = EngineObserver::new(task, context, Goal::Violation, machine.places(), None);
            let searching = search_settings(settings.limits, &observer);
            let mut store = TreeStore::new();
            let explored = safety::run(&mut reduced, &mut store, observer, &searching, false);
            let audited = audited(&mut reduced.into_model(), &mut store, &explored.outcome, settings, context);
            (Explored { audited, ..explored }, (ON.to_owned(), states_before))
        }
        Err(why) => (safety::explore(task, machine, how, stop_at, context), (why.to_string(), 0)),
    }
}

fn search_settings(limits: Limits, observer: &EngineObserver<'_, '_>) -> search::Settings {
    search::Settings { limits, stop_at: StopAt::First, cancel: observer.context.cancel.clone() }
}
