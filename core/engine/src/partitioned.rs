//! Searches by several processes, each with a part of the visited set: for violations of safety, and for infinite runs.
//!
//! [`check`] and [`check_cycles`] let a pool search and confirm what it found, and so does [`crate::delayed::check_by_processes`];
//! [`search_part`] is what a process of the pool does.

use crate::endless_atomic::take_back;
use crate::liveness::about;
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
    self, CycleLook, CycleWays, DelayOrder, Exchange, ExchangeError, FIRST_LOOK_STATES, PartRequest, PartSnapshot,
    Reached, Ways, cycles, delays, reach,
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
/// What every checkpoint of a search by processes depends on.
pub(crate) const PROCESSES: &str = "the number of processes";

/// Lets several processes search the reachable states, and confirms what they found.
pub(crate) fn check(job: Job<'_>, processes: usize, context: &mut CheckContext<'_>) -> Checked {
    let Job { loaded, program, planned, settings, .. } = job;
    let mut machine = match job.machine() {
        Ok(machine) => machine,
        Err(checked) => return *checked,
    };
    let kept = Checkpointing::as_asked(&settings.checkpoint_files, || {
        CheckpointKey::new("breadth-first by processes", program, &planned.name, settings).with(PROCESSES, processes)
    });
    let by = match Searched::by(job, machine.places(), Part::of(loaded, settings), processes, &kept, context) {
        Ok(by) => by,
        Err(finding) => return Checked::faulty(planned, *finding),
    };
    let Searched { told, seconds, workers, checkpoint } = by;
    let Told { reached, edges, memory_limit, .. } = match told {
        Ok(told) => told,
        Err(end) => return end.report(planned, "bfs", seconds, workers, checkpoint),
    };
    machine.learn_edges(&edges);
    let statistics = reached.statistics;
    let Some(outcome) = reached.into_outcome(&mut machine) else {
        return NotTold::no_path(statistics).report(planned, "bfs", seconds, workers, checkpoint);
    };
    let reason = limited(verdict::exhaustive(&outcome), outcome.completeness, memory_limit);
    let reason = checkpoint.named(reason, outcome.completeness);
    let mut checked = Checked::of(describe(planned, "bfs", &outcome, seconds, workers), reason);
    if outcome.completeness == Completeness::Exhaustive {
        checked.findings =
            dead_code(program, &loaded.map, &|edge| machine.reached(edge) || loaded.is_passed_over(edge));
    }
    checked.findings.extend(checkpoint.finding);
    checked.note_executed(&machine);
    confirm_all(&mut checked, job, outcome, context);
    checked
}

/// Lets several processes look for infinite runs that violate a property, and confirms what they found.
pub(crate) fn check_cycles(job: Job<'_>, processes: usize, context: &mut CheckContext<'_>) -> Checked {
    let Job { loaded, planned, settings, .. } = job;
    let (query, mut machine) = match job.infinite(CycleSearch::Components) {
        Ok(prepared) => prepared,
        Err(checked) => return *checked,
    };
    let kept = Checkpointing::as_asked(&settings.checkpoint_files, || {
        CheckpointKey::new("infinite runs by processes", &query.program, &planned.name, settings)
            .with("what counts as progress", format!("{:?}", settings.progress))
            .with(PROCESSES, processes)
    });
    let job = job.over(&query.program);
    let part = Part::of(loaded, settings).map(|part| part.about_infinite_runs(planned, settings));
    let by = match Searched::by(job, machine.places(), part, processes, &kept, context) {
        Ok(by) => by,
        Err(finding) => return Checked::faulty(planned, *finding),
    };
    let Searched { told, seconds, workers, checkpoint } = by;
    let Told { reached, cut, memory_limit, .. } = match told {
        Ok(told) => told,
        Err(end) => return end.report(planned, "map", seconds, workers, checkpoint),
    };
    if let Some(edge) = cut {
        machine.cut_runs().note(EdgeId(edge), None);
    }
    let statistics = reached.statistics;
    let Some(mut outcome) = reached.into_cycle_outcome(&mut machine, query.goal) else {
        return NotTold::no_path(statistics).report(planned, "map", seconds, workers, checkpoint);
    };
    let atomic_loop = take_back(&job.task(), &mut machine, &mut outcome, settings.threads, context);
    let reason = about(&query, &outcome, job, atomic_loop);
    let reason = limited(reason, outcome.completeness, memory_limit);
    let reason = checkpoint.named(reason, outcome.completeness);
    let mut checked = Checked::of(describe(planned, "map", &outcome, seconds, workers), reason);
    checked.findings.extend(checkpoint.finding);
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
    pub checkpoint: LastCheckpoint,
}

/// What came of the checkpoints of a search.
pub(crate) struct LastCheckpoint {
    /// The name of the one from which it can go on, if there is one.
    name: Option<String>,
    /// Says that there is none of a search that ended too soon, or no more from some moment on.
    pub finding: Option<Finding>,
}

impl LastCheckpoint {
    /// A reason that names it, if the search ended too soon.
    pub(crate) fn named(&self, reason: Reason, ended: Completeness) -> Reason {
        match &self.name {
            Some(name) if is_too_soon(ended) => reason.resumable_from(name.clone()),
            _ => reason,
        }
    }
}

impl Searched {
    /// Lets the pool of the settings search, from where it was kept if it was.
    ///
    /// # Errors
    /// If it cannot go on from there.
    pub(crate) fn by(
        job: Job<'_>,
        places: Places,
        part: Option<Part>,
        processes: usize,
        kept: &Checkpointing<'_>,
        context: &mut CheckContext<'_>,
    ) -> Result<Self, Box<Finding>> {
        let by = kept.run(|policy| Ok(Self::under(policy, job, places, part, processes, context)))?;
        match &by.told {
            Err(NotTold { unusable: Some(why), .. }) => Err(Box::new(unusable(&job.settings.checkpoint_files, why))),
            _ => Ok(by),
        }
    }

    fn under(
        policy: CheckpointPolicy<'_, PoolCheckpoint>,
        job: Job<'_>,
        places: Places,
        part: Option<Part>,
        processes: usize,
        context: &mut CheckContext<'_>,
    ) -> Self {
        let (task, settings) = (job.task(), job.settings);
        let CheckpointFiles { resume, paths, .. } = &settings.checkpoint_files;
        let CheckpointPolicy { from, mut keep } = policy;
        let mut checkpoint = from.as_ref().and(resume.as_ref()).map(|(name, _)| name.clone());
        let mut why_not_kept = None;
        let mut hear = |told: Kept| match told {
            Kept::Next(next) => keep.iter_mut().for_each(|keep| keep(next.clone())),
            Kept::Written => checkpoint = paths.save.as_ref().map(|path| path.display().to_string()),
            Kept::Failed(why) => why_not_kept = Some(why),
        };
        let checkpoints = PoolCheckpoints {
            from: from.as_ref().zip(paths.resume.as_deref()),
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
        let finding = match &why_not_kept {
            Some(why) => Some(not_kept(why, checkpoint.is_some())),
            None if paths.save.is_some() && checkpoint.is_none() => nothing_kept(&told),
            None => None,
        };
        Self { told, seconds, workers, checkpoint: LastCheckpoint { name: checkpoint, finding } }
    }
}

/// Says why no checkpoint was written of a search, or none from some moment on.
fn not_kept(why: &str, is_some_kept: bool) -> Finding {
    let what =
        if is_some_kept { "no more checkpoints were written from some moment on" } else { "no checkpoint was written" };
    note(format!("{what}: {why}"))
}

/// Says that there is no checkpoint of a search, if it could have gone on.
fn nothing_kept(told: &Result<Told, NotTold>) -> Option<Finding> {
    let ended = told.as_ref().map_or(Completeness::Stopped(StopReason::Cancelled), |told| told.reached.completeness);
    is_too_soon(ended).then(|| note("no checkpoint was written: the search ended too soon".to_owned()))
}

fn note(what: String) -> Finding {
    Finding { severity: Severity::Note, ..Finding::new(Code::Checkpoint, what) }
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
        checkpoint: LastCheckpoint,
    ) -> Checked {
        let outcome = partition::stopped::<()>(self.statistics, self.reason);
        let report = describe(planned, search, &outcome, seconds, workers);
        // What was not told cannot be shown.
        let report = PropertyReport { stopped: Some(self.stopped), violation_count: 0, ..report };
        let reason = checkpoint.named(verdict::not_told(&self.statistics, &self.what), outcome.completeness);
        Checked {
            failure: self.failure,
            findings: checkpoint.finding.into_iter().collect(),
            ..Checked::of(report, reason)
        }
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
        let cut = machine.cut_runs().edge().map(|edge| edge.0);
        self.0.keep(ways, PartCheckpoint { snapshot, edges: machine.reached_edges().to_vec(), cut });
    }
}

/// Searches the part of one process; `tell` is told now and then what it has done, and may stop it.
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
    let from = checkpoints.from.map(|(from, ways)| {
        machine.learn_edges(&from.edges);
        if let Some(edge) = from.cut {
            machine.cut_runs().note(EdgeId(edge), None);
        }
        (&from.snapshot, ways)
    });
    let mut keep = checkpoints.keep.map(Keeping);
    let keep = keep.as_mut().map(|keep| keep as &mut dyn partition::PartKeeper<SearchedMachine, W>);
    let checkpoints = partition::PartCheckpoints { from, keep };
    let store = &mut TreeStore::default();
    let reached = match (&query, part.delays()) {
        (None, Some(by)) => {
            let scheduler = scheduler(&loaded, machine.machine(), &by.scheduler, by.seed, &Overlap::default());
            let order = DelayOrder { scheduler: &scheduler, delays_max: by.delays_max };
            let request = PartRequest { target: order, checkpoints };
            delays(&mut machine, request, store, ways.stem, exchange, &mut observer, &searching)
        }
        (None, None) => {
            reach(&mut machine, &mut TreeStore::new(), ways.stem, exchange, &mut observer, &searching, checkpoints)
        }
        (Some(query), _) => {
            let look = CycleLook { goal: query.goal, first_states: FIRST_LOOK_STATES };
            let searching = search::Settings { stop_at: search::StopAt::First, ..searching };
            let request = PartRequest { target: look, checkpoints };
            cycles(&mut machine, store, ways, exchange, &mut observer, &searching, request)
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
