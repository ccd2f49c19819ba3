//! Checks of infinite runs: livelocks, acceptance cycles, formulas and claims.

use crate::endless_atomic;
use crate::prune::bounded;
use crate::reachable::audited;
use crate::task::{Checked, Job, measured};
use crate::unconfirmed::{Runs, Unconfirmed};
use fabius_audit::{Auditable, Audited};
use fabius_model::reduction::{self, Preserve, Reduced, Trials, Trying, WhyNot};
use fabius_model::{Places, SearchedMachine};
use fabius_observe::{CheckContext, EngineObserver, Goal, Task};
use fabius_program::meaning::Fault;
use fabius_program::{EdgeId, Move, ProgressOn};
use fabius_search::cycle::{self, CycleOutcome, CycleQuestion};
use fabius_search::store::VisitedSet;
use fabius_search::{self as search, Processes, TreeStore, parallel};
use fabius_task::query::{CycleSearch, LivenessQuery};
use fabius_task::report::{OFF, ON, PropertyReport};
use fabius_task::settings::{
    ALONE_BEFORE_ANEW_TRANSITIONS, ALONE_TRANSITIONS, Cycles, Fairness, Order, Settings, ThreadCount,
};
use fabius_verdict::{self as verdict, Reason};

/// The random order of the threads' successors starts from this; the same for every run.
const SEED: u64 = 0;

/// Number of states after which it is tried whether the reduction pays.
const TRIED_AFTER_STATES: u64 = 5_000;

/// The word for a search in reports, if this many threads search.
fn word(search: CycleSearch, threads: usize) -> &'static str {
    match search {
        CycleSearch::DfsFifo => "dfs-fifo",
        CycleSearch::NestedDfs if 1 < threads => "cndfs",
        CycleSearch::NestedDfs => "ndfs",
        CycleSearch::Components => "scc",
    }
}

pub(crate) type CycleFound = CycleOutcome<Move, Fault>;

/// Looks for infinite runs that violate a property.
pub(crate) fn check(
    job: Job<'_>,
    search: CycleSearch,
    threads: ThreadCount,
    context: &mut CheckContext<'_>,
) -> Checked {
    let Searched { query, machine, outcome, mut checked } =
        match searched(job, &job.planned.name, search, threads, context) {
            Ok(searched) => searched,
            Err(checked) => return *checked,
        };
    let found = outcome.into_first().map(|run| Runs::Infinite { query, run, by_delays: false });
    checked.unconfirmed = found.map(|runs| Box::new(Unconfirmed::new(job.settings, machine, runs)));
    checked
}

/// What a search for infinite runs came to, before the run that it found, if any, is confirmed.
pub(crate) struct Searched {
    pub query: LivenessQuery,
    /// The model that was searched.
    pub machine: SearchedMachine,
    pub outcome: CycleFound,
    /// What is known without that run.
    pub checked: Checked,
}

/// Looks for infinite runs that violate a property; those who watch are told that it is for the property with this name.
///
/// # Errors
/// What is to be reported instead, if the question makes no sense or no machine can run the model.
pub(crate) fn searched(
    job: Job<'_>,
    name: &str,
    search: CycleSearch,
    threads: ThreadCount,
    context: &mut CheckContext<'_>,
) -> Result<Searched, Box<Checked>> {
    let Job { loaded, planned, settings, .. } = job;
    let (query, mut machine) = job.infinite(search)?;
    // A search for cycles goes over what it explored again, so it cannot leave out states from some moment on.
    if settings.prune.is_some() {
        machine = bounded(loaded, machine, settings, context)
            .map_err(|finding| Box::new(Checked::faulty(planned, *finding)))?;
    }
    let task = Task { property: name, ..job.over(&query.program).task() };
    let began = (context.now)();
    let mut reduction = reduction(&query, job);
    let Explored { mut outcome, word, store_bytes, audited, states_before } =
        explore_reduced(&task, &query, threads, (&mut machine, &mut reduction), context);
    let atomic_loop = endless_atomic::take_back(&task, &mut machine, &mut outcome, threads, context);
    let seconds = ((context.now)() - began).as_secs_f64();
    let report = PropertyReport {
        reduction: reduction_words(&reduction),
        search: word,
        states_before,
        bytes_per_state: store_bytes as f64 / outcome.statistics.states.max(1) as f64,
        ..measured(planned, &outcome, seconds)
    };
    let mut checked = Checked::of(report, about(&query, &outcome, job, atomic_loop));
    checked.qualify(machine.cut_runs(), &query.program, &loaded.map);
    checked.add_audit(audited);
    checked.restrict(&machine, settings);
    checked.note_executed(&machine);
    Ok(Searched { query, machine, outcome, checked })
}

/// What a search came to, in words; with an edge of an atomic sequence that may never end, if that takes away what it rests on.
pub(crate) fn about(
    query: &LivenessQuery,
    outcome: &CycleFound,
    Job { loaded, settings, .. }: Job<'_>,
    atomic_loop: Option<EdgeId>,
) -> Reason {
    match atomic_loop {
        Some(edge) => {
            let line = loaded.map.position(query.program.span_of(edge)).line;
            verdict::cycles_but_for_atomic(query, outcome, settings, line)
        }
        None => verdict::cycles(query, outcome, settings),
    }
}

/// How the model is to be reduced for the search; `None` if nobody wants that.
fn reduction(query: &LivenessQuery, job: Job<'_>) -> Result<Option<reduction::Plan>, WhyNot> {
    let Job { settings, prepared, .. } = job;
    // As it is written means: every step of it.
    if !settings.reduction || !settings.optimize {
        return Ok(None);
    }
    let preserve = match query.search {
        CycleSearch::Components if query.fairness == Fairness::None => return Ok(None),
        CycleSearch::Components => return Err(WhyNot::Fairness),
        CycleSearch::DfsFifo => Preserve::Livelocks(query.watch.progress.unwrap_or(ProgressOn::States)),
        CycleSearch::NestedDfs => match query.watch.claim {
            None => Preserve::Acceptance,
            Some(claim) if query.is_stutter_invariant() => Preserve::Formula(query.program.process(claim).conditions()),
            Some(_) => return Err(WhyNot::CountsSteps),
        },
    };
    prepared.plan(job, query, preserve).map(Some)
}

/// What a report says of the reduction.
fn reduction_words(reduction: &Result<Option<reduction::Plan>, WhyNot>) -> String {
    match reduction {
        Ok(Some(_)) => ON.to_owned(),
        Ok(None) => OFF.to_owned(),
        Err(why) => why.to_string(),
    }
}

/// What a search found, and what that rests on.
pub(crate) struct Explored {
    pub outcome: CycleFound,
    /// The word for it in reports.
    word: &'static str,
    /// Memory of the states.
    store_bytes: u64,
    /// What the audit of a proof came to.
    audited: Audited,
    /// The states that were stored before the search began anew.
    states_before: u64,
}

/// Runs the search with a reduction, if there is one; if it turns out soon that hardly anything is left out, anew without.
fn explore_reduced(
    task: &Task<'_>,
    query: &LivenessQuery,
    threads: ThreadCount,
    (machine, reduction): (&mut SearchedMachine, &mut Result<Option<reduction::Plan>, WhyNot>),
    context: &mut CheckContext<'_>,
) -> Explored {
    let places = machine.places();
    let Ok(Some(plan)) = reduction else {
        return explore(task, query, threads, (machine, places), context);
    };
    let (until, now) = (task.settings.until, context.now);
    let is_late = || until.is_some_and(|until| until <= now());
    let cancel = context.cancel.clone();
    let mut trials = Trials::beside_reduced(machine, plan.clone(), TRIED_AFTER_STATES, &is_late, cancel);
    let mut reduced = Reduced::of(machine.clone(), plan.clone());
    let tried = (&mut reduced, places.clone());
    let explored = explore_while_it_pays(task, query, threads, tried, Some(&mut trials), context);
    machine.learn(reduced.whole());
    if trials.pays() {
        return explored;
    }
    *reduction = Ok(None);
    let states_before = explored.states_before + explored.outcome.statistics.states;
    let anew = explore(task, query, threads, (machine, places), context);
    Explored { states_before: states_before + anew.states_before, ..anew }
}

/// Runs the search. One thread begins if others may join; where that is not enough, they do so, or all of them begin anew.
pub(crate) fn explore<M>(
    task: &Task<'_>,
    query: &LivenessQuery,
    threads: ThreadCount,
    machine: (&mut M, Places),
    context: &mut CheckContext<'_>,
) -> Explored
where
    M: Processes<Label = Move, Fault = Fault, Cursor: Send> + Auditable + Clone + Send,
{
    explore_while_it_pays(task, query, threads, machine, None, context)
}

/// The same, until a trial finds that the reduction does not pay.
fn explore_while_it_pays<M>(
    task: &Task<'_>,
    query: &LivenessQuery,
    threads: ThreadCount,
    (machine, places): (&mut M, Places),
    mut trials: Option<&mut Trials<'_>>,
    context: &mut CheckContext<'_>,
) -> Explored
where
    M: Processes<Label = Move, Fault = Fault, Cursor: Send> + Auditable + Clone + Send,
{
    let cancel = context.cancel.clone();
    let settings = search::Settings { limits: task.settings.limits, stop_at: search::StopAt::First, cancel };
    if asks_for_faults_only(query, task.settings) {
        let observer = EngineObserver::new(task, context, Goal::Violation, places, None);
        let mut observer = Trying::new(observer, trials, settings.limits);
        let threads = threads.together().unwrap_or((1, ALONE_TRANSITIONS));
        return explore_for_faults(task, machine, threads, &mut observer, &settings);
    }
    let threads = threads.together().filter(|_| query.search != CycleSearch::Components);
    if let Some((count, alone)) = threads.filter(|_| query.search == CycleSearch::NestedDfs) {
        let observer = EngineObserver::new(task, context, Goal::Violation, places, None);
        let mut observer = Trying::new(observer, trials, settings.limits);
        let alone = alone.min(ALONE_BEFORE_ANEW_TRANSITIONS);
        return nested_together(task, machine, (count, alone), &mut observer, &settings);
    }
    let mut states_before = 0;
    if threads.is_none_or(|(_, alone)| 0 < alone) {
        let observer = EngineObserver::new(task, context, Goal::Violation, places.clone(), None);
        let observer = if threads.is_some() { observer.up_to(ALONE_BEFORE_ANEW_TRANSITIONS) } else { observer };
        let mut observer = Trying::new(observer, trials.as_deref_mut(), settings.limits);
        let (outcome, store_bytes, mut visited) = alone(query, machine, &mut observer, &settings);
        if !observer.observer.is_spent() {
            let audited = audited(machine, &mut *visited, &outcome, task.settings, context);
            return Explored { word: word(query.search, 1), outcome, store_bytes, audited, states_before };
        }
        states_before = outcome.statistics.states;
    }
    let mut machines = vec![machine.clone(); threads.map_or(1, |(count, _)| count)];
    let observer = EngineObserver::new(task, context, Goal::Violation, places, None);
    let mut observer = Trying::new(observer, trials, settings.limits);
    let (outcome, mut visited) =
        parallel::dfs_fifo(&mut machines, &mut observer, &settings, parallel::Levels::Free, SEED);
    let store_bytes = visited.memory_bytes();
    let word = word(query.search, outcome.workers.len());
    let explored = searched_by(machine, machines, outcome, (&mut visited, store_bytes), word, (task, context));
    Explored { states_before, ..explored }
}

/// What a search found, for which threads may have searched these clones of the machine.
fn searched_by<M>(
    machine: &mut M,
    clones: Vec<M>,
    outcome: CycleFound,
    (visited, store_bytes): (&mut dyn VisitedSet, u64),
    word: &'static str,
    (task, context): (&Task<'_>, &mut CheckContext<'_>),
) -> Explored
where
    M: Processes<Label = Move, Fault = Fault> + Auditable,
{
    clones.into_iter().for_each(|mut clone| machine.whole().learn(clone.whole()));
    let audited = audited(machine, visited, &outcome, task.settings, context);
    Explored { word, store_bytes, outcome, audited, states_before: 0 }
}

/// Runs a nested search that several threads may join.
fn nested_together<M>(
    task: &Task<'_>,
    machine: &mut M,
    threads: (usize, u64),
    observer: &mut Trying<'_, '_, EngineObserver<'_, '_>>,
    settings: &search::Settings,
) -> Explored
where
    M: Processes<Label = Move, Fault = Fault, Cursor: Send> + Auditable + Clone + Send,
{
    let parallel::Nested { outcome, mut visited, models, states_before } =
        parallel::cndfs(machine, threads, observer, settings, SEED);
    let store_bytes = visited.memory_bytes();
    let word = word(CycleSearch::NestedDfs, outcome.workers.len());
    let of_task = (task, &mut *observer.observer.context);
    let explored = searched_by(machine, models, outcome, (visited.as_set(), store_bytes), word, of_task);
    Explored { states_before, ..explored }
}

/// Whether nothing is accepted again and again, and the order of the search is free: then only faults can be found.
fn asks_for_faults_only(query: &LivenessQuery, settings: &Settings) -> bool {
    let is_free = settings.cycles == Cycles::Suitable && settings.search == Order::DepthFirstThenShorten;
    query.search == CycleSearch::NestedDfs && is_free && !query.watch.may_accept(&query.program)
}

/// Runs a search for faults only.
fn explore_for_faults<M>(
    task: &Task<'_>,
    machine: &mut M,
    threads: (usize, u64),
    observer: &mut Trying<'_, '_, EngineObserver<'_, '_>>,
    settings: &search::Settings,
) -> Explored
where
    M: Processes<Label = Move, Fault = Fault, Cursor: Send> + Auditable + Clone + Send,
{
    let (outcome, mut visited, models) = parallel::faults(machine, threads, observer, settings, SEED);
    let store_bytes = visited.memory_bytes();
    let of_task = (task, &mut *observer.observer.context);
    searched_by(machine, models, outcome, (visited.as_set(), store_bytes), "dfs", of_task)
}

/// Runs the search with one thread; what it found, the memory of the states, and the states.
fn alone<M>(
    query: &LivenessQuery,
    machine: &mut M,
    observer: &mut impl search::Observer<Move, Fault>,
    settings: &search::Settings,
) -> (CycleFound, u64, Box<dyn VisitedSet>)
where
    M: Processes<Label = Move, Fault = Fault>,
{
    macro_rules! over_a_tree {
        ($store:ident => $outcome:expr) => {{
            let mut $store = TreeStore::default();
            let outcome = $outcome;
            (outcome, search::Store::memory_bytes(&$store), Box::new($store))
        }};
    }
    match query.search {
        CycleSearch::DfsFifo => {
            over_a_tree!(store => cycle::dfs_fifo(machine, &mut store, observer, settings, cycle::Order::Strict))
        }
        CycleSearch::NestedDfs => {
            over_a_tree!(store => cycle::nested_dfs(machine, &mut store, observer, settings, cycle::NoReduction))
        }
        CycleSearch::Components => {
            let fairness = match query.fairness {
                Fairness::None => cycle::Fairness::None,
                Fairness::Weak => cycle::Fairness::Weak,
                Fairness::Strong => cycle::Fairness::Strong,
            };
            let question = CycleQuestion { goal: query.goal, fairness };
            over_a_tree!(store => {
                cycle::components(machine, &mut store, observer, settings, cycle::NoReduction, question)
            })
        }
    }
}
