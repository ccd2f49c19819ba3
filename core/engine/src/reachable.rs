//! One search of the reachable states, in some order, over some store.

use crate::near::run_near;
use crate::task::Either;
use fabius_audit::{Auditable, Audited, Stops, audit};
use fabius_base::Limits;
use fabius_counterexample::{Found, Shorter};
use fabius_model::reduction::drawn;
use fabius_model::{Budget, SearchedMachine};
use fabius_observe::{CheckContext, EngineObserver, Goal, Task};
use fabius_program::{Move, meaning::Fault};
use fabius_search::parallel::Visited;
use fabius_search::store::VisitedSet;
use fabius_search::{self as search, BitstateStore, FingerprintStore, Model, StopAt, TreeStore};
use fabius_task::settings::{ALONE_TRANSITIONS, Order, Settings, Storage, ThreadCount};

/// The hash functions of lossy stores start from this; the same for every run, so that a run can be repeated.
pub(crate) const SEED: u64 = 0;
/// Bits that a bitstate store sets for each state.
const BITS_PER_STATE: u32 = 3;
/// A bitstate store takes at most this share of the memory allowed.
const BITSTATE_SHARE: u64 = 2;
/// Memory of a bitstate store if none was named.
const BITSTATE_BYTES_DEFAULT: u64 = 256 << 20;

pub(crate) type SearchOutcome = search::Outcome<Move, Fault>;

/// What a search found, and what its store took.
pub(crate) struct Explored {
    pub outcome: SearchOutcome,
    pub store_bytes: u64,
    /// The keys of the violations, in their order.
    pub keys: Vec<u64>,
    pub audited: Audited,
}

/// How the reachable states are searched.
#[derive(Clone, Copy)]
pub(crate) struct How {
    pub order: Order,
    pub store: Storage,
    pub threads: ThreadCount,
}

impl How {
    /// How many threads search, and after how many transitions of a depth-first search they begin; `None` if the search is to
    /// keep its order to the end.
    pub(crate) fn together(self) -> Option<(usize, u64)> {
        let is_free = self.order == Order::DepthFirstThenShorten && self.store == Storage::Tree;
        self.threads.together().or(is_free.then_some((1, ALONE_TRANSITIONS)))
    }
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
    if let Some(threads) = how.together() {
        let mut joined = joined(machine, threads, &mut engine_observer, &settings);
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

/// Searches with several threads, which join the first one once it has listed some transitions.
pub(crate) fn joined(
    machine: &mut SearchedMachine,
    threads: (usize, u64),
    observer: &mut impl search::Observer<Move, Fault>,
    settings: &search::Settings,
) -> Joined {
    let reached = search::parallel::reach(machine, threads, observer, settings, SEED);
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
        Explored { store_bytes: self.visited.memory_bytes(), outcome: self.outcome, keys, audited }
    }

    /// Some of the states that it stored.
    pub(crate) fn drawn(&self, count: u64) -> Vec<Vec<u32>> {
        match &self.visited {
            Visited::Alone(store) => drawn(store, count),
            Visited::Together(store) => drawn(&**store, count),
        }
    }

    /// Audits what was proved.
    pub(crate) fn audited(
        &mut self,
        model: &mut impl Auditable,
        settings: &Settings,
        context: &mut CheckContext<'_>,
    ) -> Audited {
        audited(model, self.visited.as_set(), &self.outcome, settings, context)
    }
}

/// Looks for the shortest run to the violation with a key, as far as a budget goes that depends on `work`, the transitions of the
/// search that found it; where that is not enough, for a shorter one near the one found, as far as the same budget goes: such a run if there
/// is one, and the one found with what is known of it.
///
/// Which violation a long search finds first may depend on the pace of its threads, and on their number; then the nearest one of any
/// kind is shown, which does not.
pub(crate) fn shortest(
    task: &Task<'_>,
    machine: &mut SearchedMachine,
    found: Found,
    key: u64,
    work: u64,
    context: &mut CheckContext<'_>,
) -> Either<Found> {
    // A shortest run among those that do not go on from some states says nothing of all runs.
    let is_bounded = machine.is_bounded();
    if task.settings.search != Order::DepthFirstThenShorten || task.settings.keep_going || is_bounded {
        return Either { shorter: None, found };
    }
    if found.path.len() < 2 {
        return Either { shorter: None, found: Found { shorter: Shorter::None, ..found } };
    }
    let limits = Limits { depth_max: None, ..task.settings.limits };
    let clarity = task.settings.clarity(work);
    let budget = Budget::near(clarity.everywhere, machine, found.path.iter().copied());
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
            let shorter = Found { wrong, path: nearest.path, shorter: Shorter::None, ..found.clone() };
            Either { shorter: Some(shorter), found }
        }
        None => {
            let (shorter, known) = run_near(task, machine, &found, key, clarity.near, context);
            match shorter {
                Some(shorter) => Either { shorter: Some(Found { shorter: known, ..shorter }), found },
                None => Either { shorter: None, found: Found { shorter: known, ..found } },
            }
        }
    }
}

/// Audits what a search over this store found out, if that is a proof.
pub(crate) fn audited<V>(
    model: &mut impl Auditable,
    store: &mut dyn VisitedSet,
    outcome: &search::SearchOutcome<V>,
    settings: &Settings,
    context: &CheckContext<'_>,
) -> Audited {
    let stops = Stops { cancel: context.cancel, now: context.now, until: settings.until };
    audit(model, store, outcome, settings.audit, &stops)
}
