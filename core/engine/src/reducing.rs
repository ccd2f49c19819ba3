//! A search for violations of safety, with a reduction where [`Trials`] find that it pays.

use crate::reachable::{self, Explored, How, Joined, SearchOutcome, audited};
use fabius_analysis::open_edges;
use fabius_base::Limits;
use fabius_model::SearchedMachine;
use fabius_model::reduction::{
    Basis, Plan, Preserve, Proviso, Reduced, Trials, Trying, WhyNot, drawn, left_out_percent,
};
use fabius_observe::{CheckContext, EngineObserver, Goal, Task};
use fabius_program::EdgeId;
use fabius_search::reduce::OffStack;
use fabius_search::{self as search, Completeness, StopAt, TreeStore};
use fabius_task::query::event_trace;
use fabius_task::report::{OFF, ON};
use fabius_task::settings::{ALONE_BEFORE_ANEW_TRANSITIONS, Audit, Order, Settings, Storage};

/// Number of states, of those that a search with one reduction has stored, in which it is compared with the other one.
const COMPARED_STATES: u64 = 1_000;
/// The one for several threads, or the one that also asks which edges some run takes, is taken if no more than three times as much
/// remains in them for two of the other one.
const REMAINS_MOST: (u64, u64) = (3, 2);

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
    pub(crate) fn whole(explored: Explored, reduction: String) -> Self {
        Self { explored, reduction, states_before: 0, edges_known: true }
    }
}

/// Explores a model, with a reduction if that pays and no more than a verdict was asked for.
///
/// Several threads have no stack that all of them know, so they take a reduction that needs none.
pub(crate) fn explore(
    (task, basis): (&Task<'_>, &Basis),
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
    let proviso = if 1 < how.threads.exactly() { Proviso::Loops } else { Proviso::Stack };
    let (first, cancel) = (settings.whole_states_max, context.cancel.clone());
    let mut trials = Trials::new((machine, basis), proviso, has_trace, first, &is_late, cancel);
    let (mut states_before, mut states) = (0, Vec::new());
    if 0 < settings.whole_states_max {
        let (explored, drawn) = beside_trials((task, basis), machine, how, &mut trials, context);
        if !trials.pays() {
            let reduction = trials.why_not().map_or_else(|| OFF.to_owned(), |why| why.to_string());
            return ReducedSearch::whole(explored, reduction);
        }
        (states_before, states) = (explored.outcome.statistics.states, drawn);
    }
    match trials.plan() {
        Ok(plan) => {
            let mut reducing = Reducing { task, basis, plan, proviso, how, asks_for_edges: false };
            reducing.ask_for_edges(machine, &states);
            let explored = match reducing.begin(machine, context) {
                Begun::Over(explored) => *explored,
                Begun::Anew(states) => {
                    states_before += states;
                    reducing.explore(machine, Goal::Violation, task.settings.limits, context)
                }
            };
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

/// Searches a model as it is until a trial finds that a reduction pays. What was found, and some of the states stored if it does.
fn beside_trials(
    (task, basis): (&Task<'_>, &Basis),
    machine: &mut SearchedMachine,
    how: How,
    trials: &mut Trials<'_>,
    context: &mut CheckContext<'_>,
) -> (Explored, Vec<Vec<u32>>) {
    let limits = task.settings.limits;
    let observer = EngineObserver::new(task, context, Goal::Violation, machine.places(), None);
    let searching = search_settings(limits, &observer);
    let mut observer = Trying::new(observer, Some(trials), limits);
    if let Some(threads) = how.together() {
        machine.let_sleep(Some(basis).filter(|_| limits.depth_max.is_none() && event_trace(task.program).is_none()));
        let mut joined = reachable::joined(machine, threads, &mut observer, &searching);
        machine.let_sleep(None);
        let keys = observer.observer.keys;
        if trials.pays() {
            let states = joined.drawn(COMPARED_STATES);
            return (joined.explored(keys, None), states);
        }
        let audited = joined.audited(machine, task.settings, context);
        return (joined.explored(keys, audited), Vec::new());
    }
    let mut store = TreeStore::new();
    let outcome = search::depth_first(machine, &mut store, &mut observer, &searching);
    let (keys, pays) = (observer.observer.keys, trials.pays());
    let states = if pays { drawn(&store, COMPARED_STATES) } else { Vec::new() };
    let audited = if pays { None } else { audited(machine, &mut store, &outcome, task.settings, context) };
    (Explored { store_bytes: search::Store::memory_bytes(&store), outcome, keys, audited }, states)
}

/// How a reduced model is searched.
struct Reducing<'t> {
    task: &'t Task<'t>,
    /// What plans rest on.
    basis: &'t Basis,
    plan: Plan,
    proviso: Proviso,
    how: How,
    /// The plan has the edges as goals of which it is not known whether some run takes them.
    asks_for_edges: bool,
}

/// How a search began that several threads may join.
enum Begun {
    /// It is over.
    Over(Box<Explored>),
    /// It begins anew; the number of states that it had stored.
    Anew(u64),
}

impl Reducing<'_> {
    /// Searches with one thread for a while, where more may join. If that is not enough, the reduction for several threads is taken if
    /// it leaves out as much.
    fn begin(&mut self, machine: &mut SearchedMachine, context: &mut CheckContext<'_>) -> Begun {
        let task = self.task;
        if self.proviso == Proviso::Loops || self.how.threads.most() < 2 {
            return Begun::Anew(0);
        }
        let Ok(for_threads) = self.basis.prepare(machine.shared_program(), Preserve::Faults(Proviso::Loops)) else {
            return Begun::Anew(0);
        };
        let observer = EngineObserver::new(task, context, Goal::Violation, machine.places(), None);
        let mut observer = observer.up_to(ALONE_BEFORE_ANEW_TRANSITIONS);
        let searching = search_settings(task.settings.limits, &observer);
        let (explored, store) = self.on_a_stack(machine, &mut observer, &searching, task.settings);
        if !observer.is_spent() {
            return Begun::Over(Box::new(explored));
        }
        let states = drawn(&store, COMPARED_STATES);
        let open = self.open_edges(machine);
        let with_goals = |plan: Plan| if self.asks_for_edges { plan.with_goals(&open) } else { plan };
        let (for_threads, for_one) = (with_goals(for_threads), with_goals(self.plan.clone()));
        let hardly_more = hardly_more_remains(machine, &for_threads, &for_one, &states);
        (self.plan, self.proviso) = if hardly_more { (for_threads, Proviso::Loops) } else { (for_one, self.proviso) };
        Begun::Anew(explored.outcome.statistics.states)
    }

    /// The edges of which it is not known whether some run takes them.
    fn open_edges(&self, machine: &SearchedMachine) -> Vec<EdgeId> {
        let Task { program, loaded, .. } = *self.task;
        open_edges(program, &|edge| machine.reached(edge) || loaded.is_passed_over(edge))
    }

    /// Has the search for violations also ask for the edges that are open, if that hardly takes more in these states: otherwise, that is a
    /// search of its own.
    fn ask_for_edges(&mut self, machine: &SearchedMachine, states: &[Vec<u32>]) {
        let asking = self.plan.clone().with_goals(&self.open_edges(machine));
        if !states.is_empty() && hardly_more_remains(machine, &asking, &self.plan, states) {
            (self.plan, self.asks_for_edges) = (asking, true);
        }
    }

    /// Searches the reduced model with the reduction that needs the stack of one thread.
    fn on_a_stack(
        &self,
        machine: &mut SearchedMachine,
        observer: &mut EngineObserver<'_, '_>,
        searching: &search::Settings,
        auditing: &Settings,
    ) -> (Explored, TreeStore) {
        let mut reduced = OffStack::new(Reduced::of(machine.clone(), self.plan.clone()));
        let mut store = TreeStore::new();
        let outcome = search::depth_first(&mut reduced, &mut store, observer, searching);
        let mut reduced = reduced.into_model();
        let audited = audited(&mut reduced, &mut store, &outcome, auditing, observer.context);
        machine.learn(reduced.whole());
        let store_bytes = search::Store::memory_bytes(&store);
        (Explored { outcome, store_bytes, keys: observer.keys.clone(), audited }, store)
    }

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
        let mut observer = EngineObserver::new(task, context, goal, machine.places(), None);
        let searching = search_settings(limits, &observer);
        let Some(threads) = self.how.together().filter(|_| self.proviso == Proviso::Loops) else {
            return self.on_a_stack(machine, &mut observer, &searching, &auditing).0;
        };
        let mut reduced = Reduced::of(machine.clone(), self.plan.clone());
        let reached = search::parallel::reach(&mut reduced, threads, &mut observer, &searching, reachable::SEED);
        let mut joined = Joined { outcome: reached.outcome, visited: reached.visited };
        let keys = observer.keys;
        let audited = joined.audited(&mut reduced, &auditing, context);
        let clones = reached.models.into_iter().chain([reduced]);
        clones.for_each(|mut clone| machine.learn(clone.whole()));
        joined.explored(keys, audited)
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
        let open = self.open_edges(machine);
        if open.is_empty() || self.asks_for_edges {
            return true;
        }
        let states_max = WORK_FACTOR * proved.statistics.states + WORK_BESIDE;
        let settings = self.task.settings;
        let left = settings.limits.states_max.map(|max| max.saturating_sub(stored));
        let limits =
            Limits { states_max: Some(left.map_or(states_max, |left| left.min(states_max))), ..settings.limits };
        let asking = Reducing { plan: self.plan.clone().with_goals(&open), ..*self };
        is_exhaustive(&asking.explore(machine, Goal::DeadCode, limits, context).outcome)
    }
}

/// Whether hardly more remains of these states with one plan than with the other.
fn hardly_more_remains(machine: &SearchedMachine, one: &Plan, other: &Plan, states: &[Vec<u32>]) -> bool {
    let remains = |plan: &Plan| 100 - left_out_percent(machine, plan, states);
    let (many, few) = REMAINS_MOST;
    few * remains(one) <= many * remains(other)
}

fn search_settings(limits: Limits, observer: &EngineObserver<'_, '_>) -> search::Settings {
    search::Settings { limits, stop_at: StopAt::First, cancel: observer.context.cancel.clone() }
}
