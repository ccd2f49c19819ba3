//! The searches that exist: one row for each.
//!
//! Of the rows that answer a question and support every option, the first is taken. A new search is a row here, beside its algorithm
//! in `core/search` and the function in `core/engine` that runs it (`safety`, `liveness`, `delayed` or `deepening`).

use super::Feature::{self, *};
use super::{CycleSearch, DelayedCycleSearch, Strategy};
use fabius_task::plan::Question::{self, Acceptance, Claim, Progress as Livelock, Safety};
use fabius_task::settings::{
    Cycles, DelayMode, Delaying, Fairness, Order, Progress, SampleKind, Settings, Storage, ThreadCount,
};

/// What a search can do, and what it is called.
pub struct Row {
    /// The word for it in reports.
    pub name: &'static str,
    /// What it does, in a few words.
    pub about: &'static str,
    /// In which order it looks at states or runs, for reports.
    pub order: &'static str,
    /// What it answers.
    pub questions: &'static [Question],
    /// It is taken only if one option of each of these groups was given.
    pub asked_by: &'static [&'static [Feature]],
    /// The options that it supports.
    pub supports: &'static [&'static [Feature]],
    /// The search, with everything that it depends on.
    pub build: fn(&Settings) -> Strategy,
}

impl Row {
    /// Whether it supports an option.
    pub fn supports(&self, feature: Feature) -> bool {
        self.supports.iter().any(|group| group.contains(&feature))
    }
}

const INFINITE: &[Question] = &[Livelock, Acceptance, Claim];

const ANY_STORE: &[Feature] = &[Store(Storage::Tree), Store(Storage::Hash), Store(Storage::Bitstate)];
const TREE: &[Feature] = &[Store(Storage::Tree)];
const DEPTH_FIRST: &[Feature] = &[OrderOf(Order::DepthFirst)];
const ANY_PROGRESS: &[Feature] = &[ProgressOn(Progress::States), ProgressOn(Progress::Transitions)];
/// Alternatives of the flag that chooses the order of delays.
const BY_DELAYS: &[Feature] = &[Delay, Scheduler];

/// All searches, in the order in which they are considered.
pub const SEARCHES: &[Row] = &[
    Row {
        name: "dfs",
        about: "depth-first search",
        order: "depth-first",
        questions: &[Safety],
        asked_by: &[],
        supports: &[DEPTH_FIRST, ANY_STORE, &[MaxDepth, Prune, KeepGoing, FullAudit]],
        build: |settings| exhaustive(settings, settings.store.unwrap_or_default(), may_be_joined(settings)),
    },
    Row {
        name: "dfs",
        about: "depth-first search by several threads over one visited set",
        order: "depth-first",
        questions: &[Safety],
        asked_by: &[&[Threads]],
        supports: &[DEPTH_FIRST, TREE, &[Threads, MaxDepth, Prune, KeepGoing, FullAudit]],
        build: |settings| exhaustive(settings, Storage::Tree, settings.threads),
    },
    Row {
        name: "dfs",
        about: "depth-first search by one thread without reduction, which can be saved and resumed",
        order: "depth-first",
        questions: &[Safety],
        asked_by: &[&[Checkpoint]],
        supports: &[DEPTH_FIRST, TREE, &[MaxDepth, FullAudit, Checkpoint]],
        build: |settings| Strategy::Resumable { order: settings.search },
    },
    Row {
        name: "bfs",
        about: "breadth-first search",
        order: "breadth-first",
        questions: &[Safety],
        asked_by: &[],
        supports: &[&[OrderOf(Order::BreadthFirst)], ANY_STORE, &[MaxDepth, Prune, KeepGoing, FullAudit]],
        build: |settings| exhaustive(settings, settings.store.unwrap_or_default(), ThreadCount::Exactly(1)),
    },
    Row {
        name: "bfs",
        about: "breadth-first search by several processes, each with a part of the visited set",
        order: "breadth-first",
        questions: &[Safety],
        asked_by: &[&[Processes]],
        supports: &[&[OrderOf(Order::BreadthFirst)], TREE, &[Processes, MaxDepth, KeepGoing, Checkpoint]],
        build: |settings| Strategy::Partitioned { processes: settings.processes.count },
    },
    Row {
        name: "delays",
        about: "search by increasing number of delays over states of the model",
        order: "delays",
        questions: &[Safety],
        asked_by: &[BY_DELAYS],
        supports: &[BY_DELAYS, ANY_STORE, &[MaxDelays, Choices, RandomSeed, MaxDepth, KeepGoing, Checkpoint]],
        build: |settings| Strategy::Delays {
            delaying: delaying(settings, DelayMode::Fast),
            store: settings.store.unwrap_or_default(),
        },
    },
    Row {
        name: "delays",
        about: "search by increasing number of delays over states of the model, by several processes",
        order: "delays",
        questions: &[Safety],
        asked_by: &[BY_DELAYS, &[Processes]],
        supports: &[BY_DELAYS, TREE, &[Processes, MaxDelays, RandomSeed, KeepGoing, Checkpoint]],
        build: |settings| Strategy::PartitionedDelays {
            delaying: delaying(settings, DelayMode::Fast),
            processes: settings.processes.count,
        },
    },
    Row {
        name: "delays-exact",
        about: "search by increasing number of delays over states of model and scheduler",
        order: "delays",
        questions: &[Safety],
        asked_by: &[BY_DELAYS, &[Mode(DelayMode::Exact)]],
        supports: &[
            BY_DELAYS,
            TREE,
            &[Mode(DelayMode::Exact), MaxDelays, Choices, RandomSeed, MaxDepth, KeepGoing, Checkpoint],
        ],
        build: |settings| Strategy::Delays { delaying: delaying(settings, DelayMode::Exact), store: Storage::Tree },
    },
    Row {
        name: "delays-sample",
        about: "random runs of a scheduler with random delays",
        order: "random",
        questions: &[Safety],
        asked_by: &[BY_DELAYS, &[Mode(DelayMode::Sample)]],
        supports: &[BY_DELAYS, SAMPLES, &[Sampler(SampleKind::Delays), MaxDelays]],
        build: |settings| samples(settings, SampleKind::Delays),
    },
    Row {
        name: "delays-sample",
        about: "random runs in which each process is equally likely to move",
        order: "random",
        questions: &[Safety],
        asked_by: &[&[Sampler(SampleKind::Walk)], BY_DELAYS, &[Mode(DelayMode::Sample)]],
        supports: &[&[Delay, Sampler(SampleKind::Walk)], SAMPLES],
        build: |settings| samples(settings, SampleKind::Walk),
    },
    Row {
        name: "delays-sample",
        about: "random runs with priorities of processes that change a few times (PCT)",
        order: "random",
        questions: &[Safety],
        asked_by: &[&[Sampler(SampleKind::Pct)], BY_DELAYS, &[Mode(DelayMode::Sample)]],
        supports: &[&[Delay, Sampler(SampleKind::Pct), MaxDelays], SAMPLES],
        build: |settings| samples(settings, SampleKind::Pct),
    },
    Row {
        name: "delays-sample",
        about: "random runs with priorities of steps (POS)",
        order: "random",
        questions: &[Safety],
        asked_by: &[&[Sampler(SampleKind::Pos)], BY_DELAYS, &[Mode(DelayMode::Sample)]],
        supports: &[&[Delay, Sampler(SampleKind::Pos)], SAMPLES],
        build: |settings| samples(settings, SampleKind::Pos),
    },
    Row {
        name: "delays-sample",
        about: "random runs with all orders of steps about equally likely (SURW)",
        order: "random",
        questions: &[Safety],
        asked_by: &[&[Sampler(SampleKind::Surw)], BY_DELAYS, &[Mode(DelayMode::Sample)]],
        supports: &[&[Delay, Sampler(SampleKind::Surw)], SAMPLES],
        build: |settings| samples(settings, SampleKind::Surw),
    },
    Row {
        name: "depth-bounded",
        about: "search by increasing depth",
        order: "depth",
        questions: &[Safety],
        asked_by: &[&[Depth]],
        supports: &[TREE, &[Depth, KeepGoing, Checkpoint]],
        build: |settings| Strategy::Depth(settings.depth_bounding.unwrap_or_default()),
    },
    Row {
        name: "dfs-fifo",
        about: "depth-first search without progress, then what lies behind progress",
        order: "depth-first",
        questions: &[Livelock],
        asked_by: &[],
        supports: &[DEPTH_FIRST, TREE, ANY_PROGRESS, &[CyclesBy(Cycles::DfsFifo), Threads, MaxDepth, Prune, FullAudit]],
        build: |settings| cycles(settings, CycleSearch::DfsFifo, may_be_joined(settings)),
    },
    Row {
        name: "ndfs",
        about: "nested depth-first search; unless it is chosen, `dfs` for formulas whose claims accept only by ending",
        order: "depth-first",
        questions: INFINITE,
        asked_by: &[],
        supports: &[
            DEPTH_FIRST,
            TREE,
            &[ProgressOn(Progress::States), CyclesBy(Cycles::NestedDfs), MaxDepth, Prune, FullAudit],
        ],
        build: |settings| cycles(settings, CycleSearch::NestedDfs, may_be_joined(settings)),
    },
    Row {
        name: "cndfs",
        about: "nested depth-first search by several threads; `dfs` as with `ndfs`",
        order: "depth-first",
        questions: INFINITE,
        asked_by: &[&[Threads]],
        supports: &[
            DEPTH_FIRST,
            TREE,
            &[ProgressOn(Progress::States), CyclesBy(Cycles::NestedDfs), Threads, MaxDepth, Prune, FullAudit],
        ],
        build: |settings| cycles(settings, CycleSearch::NestedDfs, settings.threads),
    },
    Row {
        name: "scc",
        about: "strongly connected components",
        order: "depth-first",
        questions: INFINITE,
        asked_by: &[],
        supports: &[
            DEPTH_FIRST,
            TREE,
            ANY_PROGRESS,
            &[Fair(Fairness::Weak), Fair(Fairness::Strong), CyclesBy(Cycles::Components), MaxDepth, Prune, FullAudit],
        ],
        build: |settings| cycles(settings, CycleSearch::Components, ThreadCount::Exactly(1)),
    },
    Row {
        name: "map",
        about: "maximal accepting predecessors by several processes, each with a part of the visited set",
        order: "breadth-first",
        questions: INFINITE,
        asked_by: &[&[Processes]],
        supports: &[TREE, ANY_PROGRESS, &[CyclesBy(Cycles::Map), Processes, MaxDepth, Checkpoint]],
        build: |settings| Strategy::PartitionedCycles { processes: settings.processes.count },
    },
    Row {
        name: "map",
        about: "maximal accepting predecessors by increasing number of delays",
        order: "delays",
        questions: INFINITE,
        asked_by: &[&[Delay, Scheduler, CyclesBy(Cycles::Map)]],
        supports: &[
            BY_DELAYS,
            TREE,
            ANY_PROGRESS,
            &[CyclesBy(Cycles::Map), MaxDelays, RandomSeed, Threads, Checkpoint],
        ],
        build: |settings| delayed_cycles(settings, DelayedCycleSearch::Map, settings.threads.exactly()),
    },
    Row {
        name: "iterative-scc",
        about: "strongly connected components by increasing number of delays",
        order: "delays",
        questions: INFINITE,
        asked_by: &[BY_DELAYS],
        supports: &[BY_DELAYS, TREE, ANY_PROGRESS, &[CyclesBy(Cycles::Components), MaxDelays, RandomSeed, Checkpoint]],
        build: |settings| delayed_cycles(settings, DelayedCycleSearch::Components, 1),
    },
    Row {
        name: "iterative-ndfs",
        about: "nested depth-first search, anew with each number of delays",
        order: "delays",
        questions: INFINITE,
        asked_by: &[&[Delay, Scheduler, CyclesBy(Cycles::IterativeNestedDfs)]],
        supports: &[
            BY_DELAYS,
            TREE,
            ANY_PROGRESS,
            &[CyclesBy(Cycles::IterativeNestedDfs), CyclesBy(Cycles::NestedDfs), MaxDelays, RandomSeed, Checkpoint],
        ],
        build: |settings| delayed_cycles(settings, DelayedCycleSearch::NestedDfs, 1),
    },
    Row {
        name: "depth-bounded-scc",
        about: "strongly connected components by increasing depth",
        order: "depth",
        questions: INFINITE,
        asked_by: &[&[Depth]],
        supports: &[TREE, ANY_PROGRESS, &[CyclesBy(Cycles::Components), Depth, Checkpoint]],
        build: |settings| Strategy::DeepCycles(settings.depth_bounding.unwrap_or_default()),
    },
];

/// What all searches that draw runs support.
const SAMPLES: &[Feature] = &[Mode(DelayMode::Sample), Runs, Shard, Seed, RandomSeed, MaxDepth, KeepGoing];

/// The threads of a depth-first search: none may join it where the order is to be strict, or states could be missed.
fn may_be_joined(settings: &Settings) -> ThreadCount {
    let is_free = settings.search == Order::DepthFirstThenShorten && settings.limits.depth_max.is_none();
    let is_exact = settings.store.unwrap_or_default().is_exact();
    match settings.threads {
        ThreadCount::UpTo(_) if !(is_free && is_exact) => ThreadCount::Exactly(1),
        threads => threads,
    }
}

fn exhaustive(settings: &Settings, store: Storage, threads: ThreadCount) -> Strategy {
    Strategy::Exhaustive { order: settings.search, store, threads }
}

fn delaying(settings: &Settings, mode: DelayMode) -> Delaying {
    Delaying { mode, ..settings.delaying.clone().unwrap_or_default() }
}

fn samples(settings: &Settings, kind: SampleKind) -> Strategy {
    Strategy::Samples { delaying: delaying(settings, DelayMode::Sample), kind }
}

fn cycles(settings: &Settings, search: CycleSearch, threads: ThreadCount) -> Strategy {
    Strategy::Cycles { search, fairness: settings.fairness, threads }
}

fn delayed_cycles(settings: &Settings, search: DelayedCycleSearch, threads: usize) -> Strategy {
    Strategy::DelayedCycles { delaying: delaying(settings, DelayMode::Fast), search, threads }
}
