//! Searches by several processes, each with a part of the visited set: for violations of safety, and for infinite runs.
//!
//! [`check`] and [`check_cycles`] let a pool search and confirm what it found, and so does [`crate::delayed::check_by_processes`];
//! [`search_part`] is what a process of the pool does.

use crate::liveness::prepare;
use crate::shortest::add_shortest;
use crate::task::{Checked, Job, measured};
use fabius_analysis::dead_code;
use fabius_base::{Cancel, Code, Finding, Severity, StopReason};
use fabius_checkpoint::{CheckpointKey, Checkpointing, unusable};
use fabius_counterexample::{Found, Shorter};
use fabius_model::{Places, SearchedMachine};
use fabius_observe::{CheckContext, EngineObserver, Goal, Task};
use fabius_program::{EdgeId, Move, Watch, meaning::Fault};
use fabius_schedulers::{Overlap, scheduler};
use fabius_search::checkpoint::CheckpointPolicy;
use fabius_search::partition::{
    self, CycleLook, CycleWays, DelayOrder, Exchange, ExchangeError, FIRST_LOOK_STATES, PartSnapshot, Reached, Ways,
    cycles, delays, reach,
};
use fabius_search::{self as search, Completeness, Outcome, SearchOutcome, Statistics, TreeStore, ViolationKind};
use fabius_task::internal_error;
use fabius_task::plan::Planned;
use fabius_task::pool::{
    Kept, Part, PartCheckpoint, PartCheckpoints, PartError, PartKeeper, PoolCheckpoint, PoolCheckpoints, PoolOutcome,
    WorkerProgress, total,
};
use fabius_task::query::{CycleSearch, event_trace};
use fabius_task::report::{OFF, PropertyReport, Stopped, WorkerReport};
use fabius_task::settings::{CheckpointFiles, Settings};
use fabius_task::words::limit_reached;
use fabius_verdict::{self as verdict, Reason};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

/// Only the first few runs are made easier to read; that takes time.
const CALMED_RUNS_MAX: usize = 5;

/// Lets several processes search the reachable states, and confirms what they found.
pub(crate) fn check(job: Job<'_>, processes: usize, context: &mut CheckContext<'_>) -> Checked {
    let Job { loaded, program, planned, settings } = job;
    let mut machine = match job.machine() {
        Ok(machine) => machine,
        Err(checked) => return *checked,
    };
    let kept = Checkpointing::as_asked(&settings.checkpoint_files, || {
        CheckpointKey::new("breadth-first by processes", program, &planned.name, settings)
            .with("the number of processes", processes)
    });
    let places = machine.places();
    let by = kept
        .run(|policy| Ok(Searched::by(job, places, Part::of(loaded, settings), processes, policy, context)))
        .and_then(|by| match &by.told {
            Err(NotTold { unusable: Some(why), .. }) => Err(Box::new(unusable(&settings.checkpoint_files, why))),
            _ => Ok(by),
        });
    let by = match by {
        Ok(by) => by,
        Err(finding) => return Checked::faulty(planned, *finding),
    };
    let not_kept = not_kept(&by, &settings.checkpoint_files);
    let Told { reached, edges, memory_limit, .. } = match by.told {
        Ok(told) => told,
        Err(end) => {
            let mut checked = end.report(planned, "bfs", by.seconds, by.workers);
            checked.reason = resumable(checked.reason, by.checkpoint);
            checked.findings.extend(not_kept);
            return checked;
        }
    };
    machine.learn_edges(&edges);
    let statistics = reached.statistics;
    let Some(outcome) = reached.into_outcome(&mut machine) else {
        return NotTold::no_path(statistics).report(planned, "bfs", by.seconds, by.workers);
    };
    let mut reason = limited(verdict::exhaustive(&outcome), outcome.completeness, memory_limit);
    if is_too_soon(outcome.completeness) {
        reason = resumable(reason, by.checkpoint);
    }
    let mut checked = Checked::of(describe(planned, "bfs", &outcome, by.seconds, by.workers), reason);
    if outcome.completeness == Completeness::Exhaustive {
        checked.findings =
            dead_code(program, &loaded.map, &|edge| machine.reached(edge) || loaded.is_passed_over(edge));
    }
    checked.findings.extend(not_kept);
    confirm_all(&mut checked, job, outcome, context);
    checked
}

/// Lets several processes look for infinite runs that violate a property, and confirms what they found.
pub(crate) fn check_cycles(job: Job<'_>, processes: usize, context: &mut CheckContext<'_>) -> Checked {
    let Job { loaded, planned, settings, .. } = job;
    let (query, mut machine) = match prepare(job, CycleSearch::Components) {
        Ok(prepared) => prepared,
        Err(checked) => return *checked,
    };
    let job = job.over(&query.program);
    let part = Part::of(loaded, settings).map(|part| part.about_infinite_runs(planned, settings));
    let by = Searched::by(job, machine.places(), part, processes, CheckpointPolicy::none(), context);
    let Told { reached, cut, memory_limit, .. } = match by.told {
        Ok(told) => told,
        Err(end) => return end.report(planned, "map", by.seconds, by.workers),
    };
    if let Some(edge) = cut {
        machine.cut_runs().note(EdgeId(edge), None);
    }
    let statistics = reached.statistics;
    let Some(outcome) = reached.into_cycle_outcome(&mut machine, query.goal) else {
        return NotTold::no_path(statistics).report(planned, "map", by.seconds, by.workers);
    };
    let reason = limited(verdict::cycles(&query, &outcome, settings), outcome.completeness, memory_limit);
    let mut checked = Checked::of(describe(planned, "map", &outcome, by.seconds, by.workers), reason);
    checked.qualify(machine.cut_runs(), &query.program, &loaded.map);
    if let Some(found) = outcome.into_first() {
        add_shortest(job, &query, &mut machine, found, context, &mut checked);
    }
    checked
}

/// What a pool told in the end.
pub(crate) struct Told {
    pub reached: Reached,
    pub edges: Vec<u8>,
    cut: Option<u32>,
    pub memory_limit: Option<String>,
}

/// A search by a pool.
pub(crate) struct Searched {
    pub told: Result<Told, NotTold>,
    pub seconds: f64,
    pub workers: Vec<WorkerReport>,
    /// The checkpoint from which it can go on, if there is one.
    checkpoint: Option<String>,
    /// Why there were no more checkpoints from some moment on.
    not_kept: Option<String>,
}

impl Searched {
    /// Lets the pool of the settings search.
    pub(crate) fn by(
        job: Job<'_>,
        places: Places,
        part: Option<Part>,
        processes: usize,
        policy: CheckpointPolicy<'_, PoolCheckpoint>,
        context: &mut CheckContext<'_>,
    ) -> Self {
        let (task, settings) = (job.task(), job.settings);
        let CheckpointFiles { resume, paths, .. } = &settings.checkpoint_files;
        let CheckpointPolicy { from, mut keep } = policy;
        let mut checkpoint = from.and(resume.as_ref()).map(|(name, _)| name.clone());
        let mut not_kept = None;
        let mut hear = |told: Kept| match told {
            Kept::Next(next) => keep.iter_mut().for_each(|keep| keep(next.clone())),
            Kept::Written => checkpoint = paths.save.as_ref().map(|path| path.display().to_string()),
            Kept::Failed(why) => not_kept = Some(why),
        };
        let checkpoints = PoolCheckpoints {
            from: from.zip(paths.resume.as_deref()),
            keep: paths.save.as_deref().map(|path| (path, &mut hear as &mut dyn FnMut(_))),
        };
        let began = (context.now)();
        let mut observer = EngineObserver::new(&task, context, Goal::Violation, places, None);
        let mut workers: Vec<WorkerReport> = Vec::new();
        let mut observe = |told: &[WorkerProgress]| {
            workers = told.iter().map(WorkerReport::from).collect();
            observer.progressed(&total(told), workers.clone())
        };
        let end = match (&settings.processes.pool, part) {
            (Some(pool), Some(part)) => pool.search(&part, processes, checkpoints, &mut observe),
            _ => PoolOutcome::NotStarted("nobody here can start them".to_owned()),
        };
        let seconds = ((context.now)() - began).as_secs_f64();
        let told = match end {
            PoolOutcome::Done { reached, edges, cut, memory_limit } => Ok(Told { reached, edges, cut, memory_limit }),
            PoolOutcome::NotStarted(why) => {
                let what = format!("the processes cannot be started: {why}");
                Err(NotTold { what, ..NotTold::lost(Statistics::default()) })
            }
            PoolOutcome::Unusable(why) => Err(NotTold { unusable: Some(why), ..NotTold::lost(Statistics::default()) }),
            PoolOutcome::Failed(what) => Err(NotTold::failed(Statistics::default(), &what)),
            PoolOutcome::Lost { what, statistics } => Err(NotTold { what, ..NotTold::lost(statistics) }),
            PoolOutcome::Stopped { why, statistics } => {
                let what = limit_reached(Completeness::Stopped(why), &settings.limits);
                Err(NotTold { what, reason: why, stopped: why.into(), ..NotTold::lost(statistics) })
            }
        };
        Self { told, seconds, workers, checkpoint, not_kept }
    }
}

/// Names the checkpoint from which a search can go on that ended too soon.
fn resumable(reason: Reason, checkpoint: Option<String>) -> Reason {
    match checkpoint {
        Some(checkpoint) => reason.resumable_from(checkpoint),
        None => reason,
    }
}

/// Says that no checkpoint was written of a search that ended too soon, or none from some moment on.
fn not_kept(by: &Searched, files: &CheckpointFiles) -> Option<Finding> {
    let ended = by.told.as_ref().map_or(Completeness::Stopped(StopReason::Cancelled), |told| told.reached.completeness);
    let what = match (&by.not_kept, &by.checkpoint) {
        (Some(why), None) => format!("no checkpoint was written: {why}"),
        (Some(why), Some(_)) => format!("no more checkpoints were written from some moment on: {why}"),
        (None, None) if files.save.is_some() && is_too_soon(ended) => {
            "no checkpoint was written: the search ended too soon".to_owned()
        }
        _ => return None,
    };
    Some(Finding { severity: Severity::Note, ..Finding::new(Code::Checkpoint, what) })
}

/// Whether a search could have gone on.
fn is_too_soon(ended: Completeness) -> bool {
    matches!(ended, Completeness::Stopped(reason) if reason != StopReason::Depth)
}

/// Says which of the processes used all the memory that it may use, if that ended the search.
pub(crate) fn limited(reason: Reason, completeness: Completeness, memory_limit: Option<String>) -> Reason {
    match memory_limit.filter(|_| completeness == Completeness::Stopped(StopReason::Memory)) {
        Some(limit) => reason.ended_since(&limit),
        None => reason,
    }
}

/// A search whose processes could not tell in the end what they found.
pub(crate) struct NotTold {
    /// What they had done, as far as they told.
    statistics: Statistics,
    what: String,
    stopped: Stopped,
    reason: StopReason,
    failure: Option<String>,
    /// Why they could not go on from a checkpoint.
    unusable: Option<String>,
}

impl NotTold {
    fn lost(statistics: Statistics) -> Self {
        let (stopped, reason) = (Stopped::WorkerLost, StopReason::Cancelled);
        Self { statistics, what: String::new(), stopped, reason, failure: None, unusable: None }
    }

    fn failed(statistics: Statistics, what: &str) -> Self {
        Self { what: what.to_owned(), failure: Some(internal_error(what)), ..Self::lost(statistics) }
    }

    pub(crate) fn no_path(statistics: Statistics) -> Self {
        Self::failed(statistics, "a process reported a path that is none of the model")
    }

    /// What is known all the same.
    pub(crate) fn report(
        self,
        planned: &Planned,
        search: &'static str,
        seconds: f64,
        workers: Vec<WorkerReport>,
    ) -> Checked {
        let outcome = partition::stopped::<()>(self.statistics, self.reason);
        let report = describe(planned, search, &outcome, seconds, workers);
        // What was not told cannot be shown.
        let report = PropertyReport { stopped: Some(self.stopped), violation_count: 0, ..report };
        Checked { failure: self.failure, ..Checked::of(report, verdict::not_told(&self.statistics, &self.what)) }
    }
}

/// What the processes found out, in figures.
fn describe<V>(
    planned: &Planned,
    search: &'static str,
    outcome: &SearchOutcome<V>,
    seconds: f64,
    workers: Vec<WorkerReport>,
) -> PropertyReport {
    PropertyReport { search, reduction: OFF.to_owned(), workers, ..measured(planned, outcome, seconds) }
}

fn confirm_all(checked: &mut Checked, job: Job<'_>, outcome: Outcome<Move, Fault>, context: &mut CheckContext<'_>) {
    for (index, violation) in outcome.violations.into_iter().enumerate() {
        let found = Found {
            // Nothing nearer was left out: a layer is finished before the next one begins.
            shorter: Shorter::None,
            as_found: CALMED_RUNS_MAX <= index,
            count: violation.count,
            ..Found::new(violation.kind.into(), violation.path, job.watch())
        };
        checked.confirm(job, found, context);
    }
}

/// What a process of a pool found.
pub struct PartFound {
    /// What all of them found together.
    pub reached: Reached,
    /// Of each edge of the program, whether this process took it.
    pub edges: Vec<u8>,
    /// The number of an edge whose step failed, so that a run was not followed, if there is one.
    pub cut: Option<u32>,
}

/// Has a checkpoint of a process kept, with what the machine knows.
struct Keeping<'k, W>(&'k mut dyn PartKeeper<W>);

impl<W> partition::PartKeeper<SearchedMachine, W> for Keeping<'_, W> {
    fn is_due(&mut self) -> bool {
        self.0.is_due()
    }

    fn keep(&mut self, machine: &SearchedMachine, ways: &mut W, snapshot: PartSnapshot) {
        self.0.keep(ways, PartCheckpoint { snapshot, edges: machine.reached_edges().to_vec() });
    }
}

/// Searches the part of one process, for infinite runs and by number of delays always from the beginning; `tell` is told now and then what it has done, and may stop it.
///
/// # Errors
/// If it has to give up.
pub fn search_part<W: Ways>(
    part: &Part,
    exchange: &mut impl Exchange,
    ways: CycleWays<'_, W>,
    checkpoints: PartCheckpoints<'_, W>,
    cancel: &Cancel,
    tell: &mut dyn FnMut(&Statistics) -> ControlFlow<StopReason>,
) -> Result<PartFound, PartError> {
    let loaded = part.load(cancel)?;
    let program = loaded.checkable().ok_or(PartError::OtherProgram)?;
    let query = part.query(program)?;
    let made = match &query {
        Some(query) => SearchedMachine::infinite(Arc::clone(&query.program), query.watch),
        None => SearchedMachine::new(Arc::clone(program), Watch { trace: event_trace(program), ..Watch::NOTHING }),
    };
    let mut machine = made.map_err(|_| PartError::NoMachine)?;
    let program = query.as_ref().map_or(program, |query| &query.program);
    let settings = Settings::default();
    let task = Task { loaded: &loaded, program, property: "", settings: &settings };
    let mut context = CheckContext { cancel, now: &|| Duration::ZERO, observe: &mut |_| {}, controls: None };
    let names = EngineObserver::new(&task, &mut context, Goal::Violation, machine.places(), None);
    let mut observer = PartObserver { names, tell };
    let (limits, stop_at) = part.bounds();
    let searching = search::Settings { limits, stop_at, cancel: cancel.clone() };
    let reached = match (&query, part.delays()) {
        (None, Some(by)) => {
            let scheduler = scheduler(&loaded, machine.machine(), &by.scheduler, by.seed, &Overlap::default());
            let order = DelayOrder { scheduler: &scheduler, delays_max: by.delays_max };
            delays(&mut machine, order, &mut TreeStore::default(), ways.stem, exchange, &mut observer, &searching)
        }
        (None, None) => {
            let from = checkpoints.from.map(|(from, ways)| {
                machine.learn_edges(&from.edges);
                (&from.snapshot, ways)
            });
            let mut keep = checkpoints.keep.map(Keeping);
            let keep = keep.as_mut().map(|keep| keep as &mut dyn partition::PartKeeper<SearchedMachine, W>);
            let checkpoints = partition::PartCheckpoints { from, keep };
            reach(&mut machine, &mut TreeStore::new(), ways.stem, exchange, &mut observer, &searching, checkpoints)
        }
        (Some(query), _) => {
            let look = CycleLook { goal: query.goal, first_states: FIRST_LOOK_STATES };
            let searching = search::Settings { stop_at: search::StopAt::First, ..searching };
            cycles(&mut machine, &mut TreeStore::default(), ways, exchange, &mut observer, &searching, look)
        }
    };
    let reached = reached.map_err(|error| match error {
        ExchangeError::Lost => PartError::Lost,
        ExchangeError::Damaged => PartError::Damaged,
        ExchangeError::Unusable => PartError::Unusable,
    })?;
    let cut = machine.cut_runs().edge().map(|edge| edge.0);
    Ok(PartFound { reached, edges: machine.reached_edges().to_vec(), cut })
}

/// Names violations as every check does, and passes on what was done.
struct PartObserver<'a, 'b, 't> {
    names: EngineObserver<'a, 'b>,
    tell: &'t mut dyn FnMut(&Statistics) -> ControlFlow<StopReason>,
}

impl search::Observer<Move, Fault> for PartObserver<'_, '_, '_> {
    fn progress(&mut self, statistics: &Statistics) -> ControlFlow<StopReason> {
        (self.tell)(statistics)
    }

    fn key(&mut self, kind: &ViolationKind<Fault>, label: Option<&Move>, state: &[u32]) -> u64 {
        self.names.key(kind, label, state)
    }
}
