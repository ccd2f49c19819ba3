//! A search for violations of safety, with a reduction where [`Trials`] find that it pays.

use crate::reachable::{self, Explored, How, Joined, SearchOutcome, audited};
use fabius_analysis::open_edges;
use fabius_base::Limits;
use fabius_model::SearchedMachine;
use fabius_model::reduction::{Plan, Proviso, Reduced, Trials, Trying, WhyNot};
use fabius_observe::{CheckContext, EngineObserver, Goal, Task};
use fabius_search::reduce::OffStack;
use fabius_search::{self as search, Completeness, StopAt, TreeStore};
use fabius_task::query::event_trace;
use fabius_task::report::{OFF, ON};
use fabius_task::settings::{Audit, Order, Settings, Storage, ThreadCount};

/// The reduction that needs no stack leaves more states: only this many threads are faster with it than one with the other.
const THREADS_FOR_LOOPS: usize = 4;

/// A search for edges that some run takes may store this many times as many states as the proof before it, …
const WORK_FACTOR: u64 = 2;
/// … and this many more.
const WORK_BESIDE: u64 = 20_000;

/// What a search found, and how it was reduced.
pub(crate) struct ReducedSearch {
    pub explored: Explored,
    /// What the report says of the reduction.
    pub reduction: String,
    /// The states that were stored before the search began anew.
    pub states_before: u64,
    /// The machine has noted each edge that some run takes, if everything was explored.
    pub edges_known: bool,
}

impl ReducedSearch {
    /// A search of the model as it is.
    fn whole(explored: Explored, reduction: String) -> Self {
        Self { explored, reduction, states_before: 0, edges_known: true }
    }
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
        return ReducedSearch::whole(explored, OFF.to_owned());
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
            return ReducedSearch::whole(explored, reduction);
        }
        states_before = explored.outcome.statistics.states;
    }
    match trials.plan() {
        Ok(plan) => {
            let reducing = Reducing { task, plan, proviso, how };
            let explored = reducing.explore(machine, Goal::Violation, task.settings.limits, context);
            let stored = states_before + explored.outcome.statistics.states;
            let edges_known = reducing.knows_edges(machine, &explored.outcome, stored, context);
            ReducedSearch { explored, reduction: ON.to_owned(), states_before, edges_known }
        }
        Err(why) => {
            let explored = reachable::explore(task, machine, how, stop_at, context);
            ReducedSearch::whole(explored, why.to_string())
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

/// How a reduced model is searched.
struct Reducing<'t> {
    task: &'t Task<'t>,
    plan: Plan,
    proviso: Proviso,
    how: How,
}

impl Reducing<'_> {
    /// Searches the reduced model, and has the machine note which edges were taken. Only a search for violations is audited.
    fn explore(
        &self,
        machine: &mut SearchedMachine,
        goal: Goal,
        limits: Limits,
        context: &mut CheckContext<'_>,
    ) -> Explored {
        let task = self.task;
        let audit = if goal == Goal::Violation { task.settings.audit } else { Audit::Off };
        let auditing = Settings { audit, ..task.settings.clone() };
        let mut reduced = Reduced::of(machine.clone(), self.plan.clone());
        let mut observer = EngineObserver::new(task, context, goal, machine.places(), None);
        let searching = search_settings(limits, &observer);
        if let Some(threads) = self.how.together().filter(|_| self.proviso == Proviso::Loops) {
            let reached = search::parallel::reach(&mut reduced, threads, &mut observer, &searching, reachable::SEED);
            let mut joined = Joined { outcome: reached.outcome, visited: reached.visited };
            let keys = observer.keys;
            let audited = joined.audited(&mut reduced, &auditing, context);
            let clones = reached.models.into_iter().chain([reduced]);
            clones.for_each(|mut clone| machine.learn(clone.whole()));
            return joined.explored(keys, audited);
        }
        let mut reduced = OffStack::new(reduced);
        let mut store = TreeStore::new();
        let explored = reachable::run(&mut reduced, &mut store, observer, &searching, false);
        let mut reduced = reduced.into_model();
        let audited = audited(&mut reduced, &mut store, &explored.outcome, &auditing, context);
        machine.learn(reduced.whole());
        Explored { audited, ..explored }
    }

    /// Whether the machine has noted each edge that some run takes. A reduced search may leave out edges that no violation needs; if
    /// it proved that there is none and some edges are open, another one asks for them, with about as much work. `stored` is how many
    /// states the searches before have stored.
    fn knows_edges(
        &self,
        machine: &mut SearchedMachine,
        proved: &SearchOutcome,
        stored: u64,
        context: &mut CheckContext<'_>,
    ) -> bool {
        let is_exhaustive = |outcome: &SearchOutcome| outcome.completeness == Completeness::Exhaustive;
        if !is_exhaustive(proved) {
            return false;
        }
        let Task { program, loaded, settings, .. } = *self.task;
        let open = open_edges(program, &|edge| machine.reached(edge) || loaded.is_passed_over(edge));
        if open.is_empty() {
            return true;
        }
        let states_max = WORK_FACTOR * proved.statistics.states + WORK_BESIDE;
        let left = settings.limits.states_max.map(|max| max.saturating_sub(stored));
        let limits =
            Limits { states_max: Some(left.map_or(states_max, |left| left.min(states_max))), ..settings.limits };
        let asking = Reducing { plan: self.plan.clone().with_goals(&open), ..*self };
        is_exhaustive(&asking.explore(machine, Goal::DeadCode, limits, context).outcome)
    }
}

fn search_settings(limits: Limits, observer: &EngineObserver<'_, '_>) -> search::Settings {
    search::Settings { limits, stop_at: StopAt::First, cancel: observer.context.cancel.clone() }
}
