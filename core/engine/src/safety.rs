//! The search for violations of safety: failed assertions, invalid end states, evaluation errors.

use crate::prune::pruned;
use crate::reducing;
use crate::run::audited;
use crate::task::{Checked, measured, refused};
use fabius_analysis::{dead_code, marks};
use fabius_audit::{Auditable, Audited};
use fabius_base::Limits;
use fabius_counterexample::{Found, Shorter};
use fabius_model::{Budget, SearchedMachine};
use fabius_observe::{CheckContext, EngineObserver, Goal, Task};
use fabius_program::{Move, Program, Watch, meaning::Fault};
use fabius_search::parallel::Visited;
use fabius_search::{self as search, BitstateStore, Completeness, FingerprintStore, Model, StopAt, TreeStore};
use fabius_task::load::Loaded;
use fabius_task::plan::Planned;
use fabius_task::query::event_trace;
use fabius_task::report::{ON, PropertyReport};
use fabius_task::settings::{ALONE_TRANSITIONS, Order, Settings, Storage, ThreadCount};
use fabius_verdict as verdict;
use std::sync::Arc;

/// The hash functions of lossy stores start from this; the same for every run, so that a run can be repeated.
pub(crate) const SEED: u64 = 0;
/// Bits that a bitstate store sets for each state.
const BITS_PER_STATE: u32 = 3;
/// A bitstate store takes at most this share of the memory allowed.
const BITSTATE_SHARE: u64 = 2;
/// Memory of a bitstate store if none was named.
const BITSTATE_BYTES_DEFAULT: u64 = 256 << 20;

/// Only the first few runs are made easier to read; that takes time.
const CALMED_RUNS_MAX: usize = 5;

type SearchOutcome = search::Outcome<Move, Fault>;

/// What a search found, and what its store took.
pub(crate) struct Explored {
    pub outcome: SearchOutcome,
    pub store_bytes: u64,
    /// The keys of the violations, in their order.
    pub keys: Vec<u64>,
    pub audited: Audited,
}

impl Explored {
    /// What several threads found.
    pub(crate) fn by_threads(outcome: SearchOutcome, keys: Vec<u64>) -> Self {
        let store_bytes = outcome.statistics.memory_bytes;
        Self { outcome, store_bytes, keys, audited: None }
    }
}

/// How the reachable states are searched.
#[derive(Clone, Copy)]
pub(crate) struct How {
    pub order: Order,
    pub store: Storage,
    pub threads: ThreadCount,
}

/// Searches the reachable states, and confirms what was found.
pub(crate) fn check(
    loaded: &Loaded,
    program: &Arc<Program>,
    planned: &Planned,
    settings: &Settings,
    how: How,
    context: &mut CheckContext<'_>,
) -> Checked {
    let task = Task { loaded, program, property: &planned.name, settings };
    let watch = Watch { trace: event_trace(program), ..Watch::NOTHING };
    let mut machine = match SearchedMachine::new(Arc::clone(program), watch) {
        Ok(machine) => machine,
        Err(refusal) => return refused(planned, program, refusal),
    };
    machine = match pruned(loaded, machine, settings) {
        Ok(machine) => machine,
        Err(finding) => return Checked::faulty(planned, *finding),
    };
    let began = (context.now)();
    let stop_at = if settings.keep_going { StopAt::Never } else { StopAt::First };
    let (mut explored, (reduction, states_before)) = reducing::explore(&task, &mut machine, how, stop_at, context);
    let seconds = ((context.now)() - began).as_secs_f64();
    let audited = explored.audited.take();
    let outcome = &explored.outcome;
    let report = PropertyReport { reduction, states_before, ..describe(planned, how, &explored, seconds) };
    let mut checked = Checked::of(report, verdict::exhaustive(outcome));
    checked.add_audit(audited);
    checked.restrict(&machine, settings);
    // A reduced search does not execute all that can be executed.
    let all_seen = outcome.completeness == Completeness::Exhaustive && outcome.exactness.is_exact();
    if all_seen && checked.report.reduction != ON && settings.prune.is_none() {
        checked.findings =
            dead_code(program, &loaded.map, &|edge| machine.reached(edge) || loaded.is_passed_over(edge));
        checked.marks = Some(marks(program, &|edge| machine.reached(edge)));
    }
    // A store that is not exact may have left out what is nearer.
    let first_is_shortest =
        how.order == Order::BreadthFirst && outcome.exactness.is_exact() && settings.prune.is_none();
    for (index, (violation, &key)) in outcome.violations.iter().zip(&explored.keys).enumerate() {
        let found = Found {
            shorter: if first_is_shortest { Shorter::None } else { Shorter::NotAsked },
            as_found: how.order == Order::DepthFirst || CALMED_RUNS_MAX <= index,
            count: violation.count,
            ..Found::new(violation.kind.into(), violation.path.clone(), watch)
        };
        let (other, as_found) = shortest(&task, &mut machine, found, (key, checked.report.transitions), context);
        checked.confirm_either(loaded, program, planned, (other, as_found), context);
    }
    checked
}

/// Runs one search in the order and with the store that were asked for; what it proves over an exact store is audited.
pub(crate) fn explore(
    task: &Task<'_>,
    machine: &mut SearchedMachine,
    how: How,
    stop_at: StopAt,
    context: &mut CheckContext<'_>,
) -> Explored {
    let limits = task.settings.limits;
    let mut engine_observer = EngineObserver::new(task, context, Goal::Violation, machine.places(), None);
    let settings = search::Settings { limits, stop_at, cancel: engine_observer.context.cancel.clone() };
    let breadth = how.order == Order::BreadthFirst;
    if 1 < how.threads.exactly() {
        let outcome = together(machine, how.threads.exactly(), &mut engine_observer, &settings);
        return Explored::by_threads(outcome, engine_observer.keys);
    }
    if 1 < how.threads.joining() {
        let mut joined = joined(machine, how.threads.joining(), &mut engine_observer, &settings);
        let EngineObserver { keys, context, .. } = engine_observer;
        let audited = joined.audited(machine, task.settings, context);
        return joined.explored(keys, audited);
    }
    match how.store {
        Storage::Tree => {
            let mut store = TreeStore::new();
            let explored = run(machine, &mut store, engine_observer, &settings, breadth);
            let audited = audited(machine, &mut store, &explored.outcome, task.settings, context);
            Explored { audited, ..explored }
        }
        Storage::Hash => run(machine, &mut FingerprintStore::new(SEED), engine_observer, &settings, breadth),
        Storage::Bitstate => {
            let bytes = limits.memory_bytes_max.map_or(BITSTATE_BYTES_DEFAULT, |max| max / BITSTATE_SHARE);
            run(machine, &mut BitstateStore::new(bytes, BITS_PER_STATE, SEED), engine_observer, &settings, breadth)
        }
    }
}

pub(crate) fn run<M: Model<Label = Move, Fault = Fault>, S: search::Store>(
    machine: &mut M,
    store: &mut S,
    mut engine_observer: EngineObserver<'_, '_>,
    settings: &search::Settings,
    breadth: bool,
) -> Explored {
    let outcome = if breadth {
        search::breadth_first(machine, store, &mut engine_observer, settings)
    } else {
        search::depth_first(machine, store, &mut engine_observer, settings)
    };
    Explored { outcome, store_bytes: store.memory_bytes(), keys: engine_observer.keys, audited: None }
}

/// Searches with several threads.
pub(crate) fn together(
    machine: &mut SearchedMachine,
    threads: usize,
    observer: &mut impl search::Observer<Move, Fault>,
    settings: &search::Settings,
) -> SearchOutcome {
    let mut machines = machine.clones(threads);
    let outcome = search::parallel::reach(&mut machines, observer, settings, SEED);
    machines.iter().for_each(|clone| machine.learn(clone));
    outcome
}

/// Searches with one thread, which others join if the search takes a while.
pub(crate) fn joined(
    machine: &mut SearchedMachine,
    threads: usize,
    observer: &mut impl search::Observer<Move, Fault>,
    settings: &search::Settings,
) -> Joined {
    let reached =
        search::parallel::reach_from_depth_first(machine, (threads, ALONE_TRANSITIONS), observer, settings, SEED);
    reached.models.iter().for_each(|clone| machine.learn(clone));
    Joined { outcome: reached.outcome, visited: reached.visited }
}

/// What a search found that threads may have joined, and what it visited.
pub(crate) struct Joined {
    pub outcome: SearchOutcome,
    pub visited: Visited,
}

impl Joined {
    pub(crate) fn explored(self, keys: Vec<u64>, audited: Audited) -> Explored {
        let store_bytes = match &self.visited {
            Visited::Alone(store) => search::Store::memory_bytes(store),
            Visited::Together(store) => store.memory_bytes(),
        };
        Explored { outcome: self.outcome, store_bytes, keys, audited }
    }

    /// Audits what was proved.
    pub(crate) fn audited(
        &mut self,
        model: &mut impl Auditable,
        settings: &Settings,
        context: &mut CheckContext<'_>,
    ) -> Audited {
        match &mut self.visited {
            Visited::Alone(store) => audited(model, store, &self.outcome, settings, context),
            Visited::Together(store) => audited(model, store, &self.outcome, settings, context),
        }
    }
}

/// Looks for the shortest run to a violation, as far as a budget goes that depends on `work`, the transitions of the search that
/// found it: such a run if there is one, and the one found with what is known of it.
///
/// Which violation a long search finds first may depend on the pace of its threads, and on their number; then the nearest one of any
/// kind is shown, which does not.
pub(crate) fn shortest(
    task: &Task<'_>,
    machine: &mut SearchedMachine,
    found: Found,
    (key, work): (u64, u64),
    context: &mut CheckContext<'_>,
) -> (Option<Found>, Found) {
    // Among the states that are left, a shortest run says nothing of all runs.
    let is_pruned = task.settings.prune.is_some();
    if task.settings.search != Order::DepthFirstThenShorten || task.settings.keep_going || is_pruned {
        return (None, found);
    }
    if found.path.len() < 2 {
        return (None, Found { shorter: Shorter::None, ..found });
    }
    let limits = Limits { depth_max: None, ..task.settings.limits };
    let budget = Budget::new(task.settings.clarify_transitions(work), machine);
    let (sought, stop_at) = if work < ALONE_TRANSITIONS { (Some(key), StopAt::Never) } else { (None, StopAt::First) };
    let engine_observer =
        EngineObserver::new(task, context, Goal::ShorterRun, machine.places(), sought).within(&budget);
    let settings = search::Settings { limits, stop_at, cancel: engine_observer.context.cancel.clone() };
    let explored = run(machine, &mut TreeStore::new(), engine_observer, &settings, true);
    let wanted = match sought {
        Some(key) => explored.keys.iter().position(|&other| other == key),
        None => Some(0),
    };
    match wanted.and_then(|index| explored.outcome.violations.into_iter().nth(index)) {
        Some(nearest) => {
            let wrong = nearest.kind.into();
            (Some(Found { wrong, path: nearest.path, shorter: Shorter::None, ..found.clone() }), found)
        }
        None => (None, Found { shorter: Shorter::CutShort, ..found }),
    }
}

/// What the search found out, in figures.
fn describe(planned: &Planned, how: How, explored: &Explored, seconds: f64) -> PropertyReport {
    let outcome = &explored.outcome;
    PropertyReport {
        search: if how.order == Order::BreadthFirst { "bfs" } else { "dfs" },
        store: how.store.as_str(),
        bytes_per_state: explored.store_bytes as f64 / outcome.statistics.states.max(1) as f64,
        ..measured(planned, outcome, seconds)
    }
}
