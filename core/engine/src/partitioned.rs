//! The search for violations of safety by several processes, each with a part of the visited set.
//!
//! [`check`] lets a pool search and confirms what it found; [`search_part`] is what a process of the pool does.

use crate::task::{Checked, Job, measured};
use fabius_analysis::dead_code;
use fabius_base::{Cancel, StopReason};
use fabius_counterexample::{Found, Shorter};
use fabius_model::SearchedMachine;
use fabius_observe::{CheckContext, EngineObserver, Goal, Task};
use fabius_program::{Move, Watch, meaning::Fault};
use fabius_search::partition::{self, Exchange, ExchangeError, Reached, Ways, reach};
use fabius_search::{self as search, Completeness, Outcome, Statistics, TreeStore, ViolationKind};
use fabius_task::internal_error;
use fabius_task::plan::Planned;
use fabius_task::pool::{Part, PartError, PoolOutcome, WorkerProgress, total};
use fabius_task::query::event_trace;
use fabius_task::report::{OFF, PropertyReport, Stopped, WorkerReport};
use fabius_task::settings::Settings;
use fabius_task::words::limit_reached;
use fabius_verdict as verdict;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

/// Only the first few runs are made easier to read; that takes time.
const CALMED_RUNS_MAX: usize = 5;

/// Lets several processes search the reachable states, and confirms what they found.
pub(crate) fn check(job: Job<'_>, processes: usize, context: &mut CheckContext<'_>) -> Checked {
    let Job { loaded, program, planned, settings } = job;
    let task = job.task();
    let mut machine = match job.machine() {
        Ok(machine) => machine,
        Err(checked) => return *checked,
    };
    let began = (context.now)();
    let mut observer = EngineObserver::new(&task, context, Goal::Violation, machine.places(), None);
    let mut workers: Vec<WorkerReport> = Vec::new();
    let mut observe = |told: &[WorkerProgress]| {
        workers = told.iter().map(WorkerReport::from).collect();
        observer.progressed(&total(told), workers.clone())
    };
    let end = match (&settings.processes.pool, Part::of(loaded, settings)) {
        (Some(pool), Some(part)) => pool.search(&part, processes, &mut observe),
        _ => PoolOutcome::NotStarted("nobody here can start them".to_owned()),
    };
    let seconds = ((context.now)() - began).as_secs_f64();
    let end = match end {
        PoolOutcome::Done { reached, edges, memory_limit } => {
            machine.learn_edges(&edges);
            let statistics = reached.statistics;
            match reached.into_outcome(&mut machine) {
                Some(outcome) => {
                    let mut reason = verdict::exhaustive(&outcome);
                    if let (Completeness::Stopped(StopReason::Memory), Some(limit)) =
                        (outcome.completeness, memory_limit)
                    {
                        reason = reason.ended_since(&limit);
                    }
                    let mut checked = Checked::of(describe(planned, &outcome, seconds, workers), reason);
                    if outcome.completeness == Completeness::Exhaustive {
                        checked.findings = dead_code(program, &loaded.map, &|edge| {
                            machine.reached(edge) || loaded.is_passed_over(edge)
                        });
                    }
                    confirm_all(&mut checked, job, outcome, context);
                    return checked;
                }
                None => NotTold::failed(statistics, "a process reported a path that is none of the model"),
            }
        }
        PoolOutcome::NotStarted(why) => {
            let what = format!("the processes cannot be started: {why}");
            NotTold { what, ..NotTold::lost(Statistics::default()) }
        }
        PoolOutcome::Failed(what) => NotTold::failed(Statistics::default(), &what),
        PoolOutcome::Lost { what, statistics } => NotTold { what, ..NotTold::lost(statistics) },
        PoolOutcome::Stopped { why, statistics } => {
            let what = limit_reached(Completeness::Stopped(why), &settings.limits);
            NotTold { what, reason: why, stopped: why.into(), ..NotTold::lost(statistics) }
        }
    };
    let report = describe(planned, &partition::stopped(end.statistics, end.reason), seconds, workers);
    // What was not told cannot be shown.
    let report = PropertyReport { stopped: Some(end.stopped), violation_count: 0, ..report };
    Checked { failure: end.failure, ..Checked::of(report, verdict::not_told(&end.statistics, &end.what)) }
}

/// A search whose processes could not tell in the end what they found.
struct NotTold {
    /// What they had done, as far as they told.
    statistics: Statistics,
    what: String,
    stopped: Stopped,
    reason: StopReason,
    failure: Option<String>,
}

impl NotTold {
    fn lost(statistics: Statistics) -> Self {
        let (stopped, reason) = (Stopped::WorkerLost, StopReason::Cancelled);
        Self { statistics, what: String::new(), stopped, reason, failure: None }
    }

    fn failed(statistics: Statistics, what: &str) -> Self {
        Self { what: what.to_owned(), failure: Some(internal_error(what)), ..Self::lost(statistics) }
    }
}

/// What the processes found out, in figures.
fn describe(
    planned: &Planned,
    outcome: &Outcome<Move, Fault>,
    seconds: f64,
    workers: Vec<WorkerReport>,
) -> PropertyReport {
    PropertyReport { search: "bfs", reduction: OFF.to_owned(), workers, ..measured(planned, outcome, seconds) }
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
}

/// Searches the part of one process; `tell` is told now and then what it has done, and may stop it.
///
/// # Errors
/// If it has to give up.
pub fn search_part(
    part: &Part,
    exchange: &mut impl Exchange,
    ways: &mut impl Ways,
    cancel: &Cancel,
    tell: &mut dyn FnMut(&Statistics) -> ControlFlow<StopReason>,
) -> Result<PartFound, PartError> {
    let loaded = part.load(cancel)?;
    let program = loaded.checkable().ok_or(PartError::OtherProgram)?;
    let watch = Watch { trace: event_trace(program), ..Watch::NOTHING };
    let made = SearchedMachine::new(Arc::clone(program), watch);
    let mut machine = made.map_err(|_| PartError::NoMachine)?;
    let settings = Settings::default();
    let task = Task { loaded: &loaded, program, property: "", settings: &settings };
    let mut context = CheckContext { cancel, now: &|| Duration::ZERO, observe: &mut |_| {}, controls: None };
    let names = EngineObserver::new(&task, &mut context, Goal::Violation, machine.places(), None);
    let mut observer = PartObserver { names, tell };
    let (limits, stop_at) = part.bounds();
    let searching = search::Settings { limits, stop_at, cancel: cancel.clone() };
    let mut store = TreeStore::new();
    let reached = reach(&mut machine, &mut store, ways, exchange, &mut observer, &searching);
    let reached = reached.map_err(|error| match error {
        ExchangeError::Lost => PartError::Lost,
        ExchangeError::Damaged => PartError::Damaged,
    })?;
    Ok(PartFound { reached, edges: machine.reached_edges().to_vec() })
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
