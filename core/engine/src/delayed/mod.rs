//! The search for violations of safety in the order of delays: how often must a scheduler be disturbed?

mod cycles;
mod processes;
mod samples;

pub(crate) use cycles::check as check_cycles;
pub(crate) use processes::check as check_by_processes;

use crate::task::{Checked, Job, measured};
use crate::unconfirmed::{Unconfirmed, keyed};
use fabius_analysis::dead_code;
use fabius_base::{Finding, Limits};
use fabius_checkpoint::{CheckpointKey, Checkpointing};
use fabius_counterexample::{Found, confirm};
use fabius_model::{Budget, SearchedMachine};
use fabius_observe::{CheckContext, EngineObserver, Goal, Task};
use fabius_program::{Move, meaning::Fault};
use fabius_schedulers::{ChosenScheduler, Overlap, SealedPlaces, scheduler};
use fabius_search::delay_bounded::{self, Delay, IterativeDelayBounding};
use fabius_search::{self as search, BitstateStore, FingerprintStore, StopAt, Store, TreeStore, Violation};
use fabius_task::load::Loaded;
use fabius_task::plan::Planned;
use fabius_task::report::PropertyReport;
use fabius_task::scheduler::{Chosen, choose, unknown_types};
use fabius_task::settings::{DelayMode, Delaying, SampleKind, Storage};
use fabius_verdict::{self as verdict, DelayBounds, Reason};

/// The hash functions of lossy stores start from this.
const STORE_SEED: u64 = 0;
/// Bits that a bitstate store sets for each state.
const BITS_PER_STATE: u32 = 3;
/// Memory of a bitstate store if none was named.
const BITSTATE_BYTES_DEFAULT: u64 = 256 << 20;

type Outcome = search::Outcome<Move, Fault>;

/// What a search found, and what its store took.
struct Explored {
    outcome: Outcome,
    store_bytes: u64,
    /// The keys of the violations, in their order.
    keys: Vec<u64>,
}

/// How runs by increasing number of delays are looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    /// All of them, with states remembered like this.
    Search(Storage),
    /// A few at random.
    Sample(SampleKind),
}

impl How {
    /// How states are remembered.
    fn store(self) -> Storage {
        match self {
            Self::Search(store) => store,
            Self::Sample(_) => Storage::default(),
        }
    }

    /// The word for it in reports.
    fn store_word(self) -> &'static str {
        match self {
            Self::Search(store) => store.as_str(),
            Self::Sample(_) => "",
        }
    }
}

/// The seed of what is random.
fn seed_of(delaying: &Delaying) -> u64 {
    delaying.seed.unwrap_or_default()
}

/// A search that is to be run.
#[derive(Clone, Copy)]
struct Order<'a> {
    delaying: &'a Delaying,
    mode: DelayMode,
    how: How,
    limits: Limits,
    stop_at: StopAt,
    last: Option<u32>,
    kept: &'a Checkpointing<'a>,
}

/// Searches in the order of delays, and confirms what was found unless the shortest run is to be shown.
pub(crate) fn check(job: Job<'_>, delaying: &Delaying, how: How, context: &mut CheckContext<'_>) -> Checked {
    let Job { loaded, program, planned, settings, .. } = job;
    let task = job.task();
    let mut machine = match job.machine() {
        Ok(machine) => machine,
        Err(checked) => return *checked,
    };
    let chosen = choose(program, &delaying.scheduler);
    let kept = Checkpointing::as_asked(&settings.checkpoint_files, || {
        let checkpoint_key = CheckpointKey::new(delaying.mode.as_str(), program, &planned.name, settings);
        belonging_to(checkpoint_key, loaded, &machine, &chosen, delaying)
    });
    let (mode, limits) = (delaying.mode, settings.limits);
    let order = Order { delaying, mode, how, limits, stop_at: job.stop_at(), last: delaying.delays_max, kept: &kept };
    let overlap = Overlap::default();
    let began = (context.now)();
    let (explored, reason) = match explore(&task, &mut machine, &chosen, order, &overlap, context) {
        Ok(explored) => explored,
        Err(finding) => return Checked::faulty(planned, *finding),
    };
    let seconds = ((context.now)() - began).as_secs_f64();
    let mut checked = Checked {
        findings: noticed(&task, &machine, &explored, &chosen, &overlap),
        ..Checked::of(describe(planned, how, mode, &explored, seconds), reason)
    };
    checked.report.samples = samples::report(&explored.outcome, program);
    let Explored { outcome, keys, .. } = &explored;
    let shows_shortest = delaying.shows_shortest && keys.len() == outcome.violations.len();
    if !shows_shortest {
        confirm_all(&mut checked, job, &mut machine, &explored, &chosen, order, context);
        checked.note_executed(&machine);
        return checked;
    }
    let runs = keyed(explored.outcome.violations, explored.keys, job.watch());
    checked.note_executed(&machine);
    checked.unconfirmed = Unconfirmed::finite(settings, machine, runs, Some(chosen));
    checked
}

/// Confirms what a search found.
fn confirm_all(
    checked: &mut Checked,
    job: Job<'_>,
    machine: &mut SearchedMachine,
    explored: &Explored,
    chosen: &Chosen,
    order: Order<'_>,
    context: &mut CheckContext<'_>,
) {
    let Job { loaded, program, planned, settings, .. } = job;
    let (task, watch, delaying) = (job.task(), job.watch(), order.delaying);
    // Other ways to draw runs know nothing of delays.
    let delays_count = !matches!(order.how, How::Sample(kind) if kind != SampleKind::Delays);
    let outcome = &explored.outcome;
    for (index, violation) in outcome.violations.iter().enumerate() {
        let first = Run::new(violation, order.mode == DelayMode::Exact);
        let key = explored.keys.get(index).copied().filter(|_| delays_count);
        let run = match key {
            Some(key) => {
                let everywhere = settings.clarity(checked.report.transitions).everywhere;
                let budget = Budget::near(everywhere, machine, first.path.iter().copied());
                fewer(&task, machine, first, Target { key, budget }, chosen, order, context)
            }
            None => first,
        };
        let found = Found::new(violation.kind.into(), run.path, watch);
        match confirm(loaded, program, Found { count: violation.count, as_found: true, ..found }) {
            Ok(mut counterexample) => {
                if delays_count {
                    counterexample.mark_delays(program, &loaded.map, &run.delays, run.fewest);
                }
                checked.add(planned, counterexample, context);
            }
            Err(failure) => checked.failure = checked.failure.take().or(Some(failure)),
        }
    }
    if let Some(first) = checked.report.violations.first() {
        let count = outcome.violations.len();
        checked.reason = verdict::violated(first, settings.keep_going, count, chosen, delaying.choices_max);
    }
}

/// What the search found out, in figures.
fn describe(planned: &Planned, how: How, mode: DelayMode, explored: &Explored, seconds: f64) -> PropertyReport {
    let outcome = &explored.outcome;
    PropertyReport {
        search: mode.as_str(),
        store: how.store_word(),
        bytes_per_state: explored.store_bytes as f64 / outcome.statistics.states.max(1) as f64,
        ..measured(planned, outcome, seconds)
    }
}

/// The statements that no run executes, if all runs were seen: who keeps to seals does not see all.
fn never_executed(task: &Task<'_>, machine: &SearchedMachine, explored: &Explored) -> Vec<Finding> {
    let outcome = &explored.outcome;
    let all_seen = outcome.completeness == search::Completeness::Exhaustive && outcome.exactness.is_exact();
    if !all_seen || task.loaded.is_sealed() {
        return Vec::new();
    }
    dead_code(task.program, &task.loaded.map, &|edge| machine.reached(edge) || task.loaded.is_passed_over(edge))
}

/// Searches, or draws runs; and says what it means if nothing was found.
fn explore(
    task: &Task<'_>,
    machine: &mut SearchedMachine,
    chosen: &Chosen,
    order: Order<'_>,
    overlap: &Overlap,
    context: &mut CheckContext<'_>,
) -> Result<(Explored, Reason), Box<Finding>> {
    let delaying = order.delaying;
    if let How::Sample(kind) = order.how {
        let drawn = samples::draw(task, machine, &chosen.kind, order, kind, overlap, context);
        let end = drawn.outcome.completeness;
        let reason = |samples| samples::reason((samples, end), kind, delaying, chosen);
        let reason = drawn.outcome.samples.as_ref().map(reason).unwrap_or_default();
        return Ok((drawn, reason));
    }
    let engine_observer = EngineObserver::new(task, context, Goal::Violation, machine.places(), None);
    let scheduler = scheduler(task.loaded, machine.machine(), &chosen.kind, seed_of(delaying), overlap);
    let explored = search(machine, &scheduler, engine_observer, order)?;
    let reason = reason(&explored.outcome, task, chosen, order);
    Ok((explored, reason))
}

/// What it means if nothing was found.
fn reason(outcome: &Outcome, task: &Task<'_>, chosen: &Chosen, order: Order<'_>) -> Reason {
    let asked = DelayBounds {
        exact: order.mode == DelayMode::Exact,
        choices: order.delaying.choices_max,
        is_sealed: task.loaded.is_sealed(),
    };
    verdict::by_delays(outcome, &asked, chosen)
}

/// A run to a violation.
struct Run {
    path: Vec<Move>,
    delays: Vec<Delay>,
    /// No run with fewer delays leads to the same.
    fewest: bool,
}

impl Run {
    fn new(violation: &Violation<Move, Fault>, exact: bool) -> Self {
        let Violation { path, delays, .. } = violation.clone();
        let fewest = exact || delays.is_empty();
        Self { path, delays, fewest }
    }
}

/// The violation to which another run is looked for, and how much work that may take.
struct Target {
    key: u64,
    budget: Budget,
}

/// Looks for a run with fewer delays, or with as many and fewer steps, to the same violation.
fn fewer(
    task: &Task<'_>,
    machine: &mut SearchedMachine,
    run: Run,
    Target { key, budget }: Target,
    chosen: &Chosen,
    order: Order<'_>,
    context: &mut CheckContext<'_>,
) -> Run {
    let is_done = order.mode == DelayMode::Exact || task.settings.keep_going;
    if is_done || context.cancel.requested().is_some() {
        return run;
    }
    let limits = Limits { depth_max: None, ..order.limits };
    let last = Some(run.delays.len() as u32);
    let order =
        Order { mode: DelayMode::Exact, limits, stop_at: StopAt::Never, last, kept: &Checkpointing::not(), ..order };
    let engine_observer =
        EngineObserver::new(task, context, Goal::ShorterRun, machine.places(), Some(key)).within(&budget);
    let seed = seed_of(order.delaying);
    let scheduler = scheduler(task.loaded, machine.machine(), &chosen.kind, seed, &Overlap::default());
    let Ok(explored) = search(machine, &scheduler, engine_observer, order) else { return run };
    let same = explored.keys.iter().position(|&other| other == key);
    let better = same.and_then(|index| explored.outcome.violations.get(index));
    match better {
        Some(violation) => Run::new(violation, true),
        None => run,
    }
}

/// Searches for violations of safety.
fn search(
    machine: &mut SearchedMachine,
    scheduler: &ChosenScheduler,
    mut engine_observer: EngineObserver<'_, '_>,
    order: Order<'_>,
) -> Result<Explored, Box<Finding>> {
    let Order { limits, stop_at, last, .. } = order;
    let settings = search::Settings { limits, stop_at, cancel: engine_observer.context.cancel.clone() };
    let bounding =
        IterativeDelayBounding { last, choices: order.delaying.choices_max, ..IterativeDelayBounding::default() };
    if order.mode == DelayMode::Exact {
        let outcome = order.kept.run(|checkpoint| {
            delay_bounded::exact(machine, scheduler, &mut engine_observer, &settings, &bounding, checkpoint)
        })?;
        let store_bytes = outcome.statistics.memory_bytes;
        return Ok(Explored { outcome, store_bytes, keys: engine_observer.keys });
    }
    macro_rules! over {
        ($store:expr) => {{
            let mut store = $store;
            let outcome = order.kept.run(|checkpoint| {
                let observer = &mut engine_observer;
                delay_bounded::fast(machine, scheduler, &mut store, observer, &settings, &bounding, checkpoint)
            })?;
            (outcome, store.memory_bytes())
        }};
    }
    let (outcome, store_bytes) = match order.how.store() {
        Storage::Tree => over!(TreeStore::new()),
        Storage::Hash => over!(FingerprintStore::new(STORE_SEED)),
        Storage::Bitstate => {
            let bytes = limits.memory_bytes_max.map_or(BITSTATE_BYTES_DEFAULT, |max| max / 2);
            over!(BitstateStore::new(bytes, BITS_PER_STATE, STORE_SEED))
        }
    };
    Ok(Explored { outcome, store_bytes, keys: engine_observer.keys })
}

/// What a search in the order of delays depends on beside the model.
fn belonging_to(
    checkpoint_key: CheckpointKey,
    loaded: &Loaded,
    machine: &SearchedMachine,
    chosen: &Chosen,
    delaying: &Delaying,
) -> CheckpointKey {
    let seals = SealedPlaces::new(machine.machine(), &loaded.map, &loaded.seals);
    checkpoint_key
        .with_sum_of("the scheduler", &format!("{:?}", chosen.kind))
        .with("the seed", seed_of(delaying))
        .with("the bound on choices", delaying.choices_max.map_or("none".to_owned(), |most| most.to_string()))
        .with_sum_of("the sealed stretches", &format!("{seals:?}"))
}

/// What a search noticed beside violations.
fn noticed(
    task: &Task<'_>,
    machine: &SearchedMachine,
    explored: &Explored,
    chosen: &Chosen,
    overlap: &Overlap,
) -> Vec<Finding> {
    let mut findings = never_executed(task, machine, explored);
    findings.extend(unknown_types(task.program, chosen));
    findings.extend(overlap.finding(task.program, &task.loaded.map));
    findings
}
