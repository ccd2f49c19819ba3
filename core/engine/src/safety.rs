//! The search for violations of safety: failed assertions, invalid end states, evaluation errors.

use crate::prune::bounded;
use crate::reachable::{Explored, How};
use crate::reducing::{self, ReducedSearch};
use crate::resumable;
use crate::task::{Checked, Job, measured};
use crate::unconfirmed::Unconfirmed;
use crate::visit_first::preferring;
use fabius_analysis::{dead_code, marks};
use fabius_base::Finding;
use fabius_counterexample::{Found, Shorter};
use fabius_model::SearchedMachine;
use fabius_observe::CheckContext;
use fabius_search::Completeness;
use fabius_task::plan::Planned;
use fabius_task::report::{PropertyReport, Stopped};
use fabius_task::settings::{Order, Save, Storage, ThreadCount};
use fabius_verdict as verdict;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Only the first few runs are made easier to read; that takes time.
const CALMED_RUNS_MAX: usize = 5;

/// Searches the reachable states.
pub(crate) fn check(job: Job<'_>, how: How, context: &mut CheckContext<'_>) -> Checked {
    check_by(job, how, context, |machine, context| {
        let basis = job.prepared.basis(job.program);
        Ok(reducing::explore((&job.task(), &basis), machine, how, job.stop_at(), context))
    })
}

/// As [`check`], by a search that is saved or resumed.
pub(crate) fn check_resumable(job: Job<'_>, order: Order, context: &mut CheckContext<'_>) -> Checked {
    let mut settings = job.settings.clone();
    let is_saved = Arc::new(AtomicBool::new(false));
    settings.checkpoint_files.save = settings.checkpoint_files.save.map(|save| noting(save, Arc::clone(&is_saved)));
    let job = Job { settings: &settings, ..job };
    let how = How { order, store: Storage::Tree, threads: ThreadCount::Exactly(1) };
    let mut checked = check_by(job, how, context, |machine, context| resumable::explore(job, machine, context));
    let file = &job.settings.checkpoint_files.paths.save;
    if let (Some(file), true) = (file, is_saved.load(Ordering::Relaxed) && was_stopped(&checked)) {
        checked.reason = std::mem::take(&mut checked.reason).resumable_from(file.display().to_string());
    }
    checked
}

/// Whether a search was stopped before it was done.
fn was_stopped(checked: &Checked) -> bool {
    !matches!(checked.report.stopped, None | Some(Stopped::Violation | Stopped::Depth)) && 0 < checked.report.states
}

/// The same, and takes note of whether some checkpoint was saved.
fn noting(save: Arc<Save>, is_saved: Arc<AtomicBool>) -> Arc<Save> {
    Arc::new(move |bytes: &[u8]| {
        let saved = save(bytes);
        is_saved.fetch_or(saved, Ordering::Relaxed);
        saved
    })
}

/// Searches the reachable states by `explore`.
fn check_by(
    job: Job<'_>,
    how: How,
    context: &mut CheckContext<'_>,
    explore: impl FnOnce(&mut SearchedMachine, &mut CheckContext<'_>) -> Result<ReducedSearch, Box<Finding>>,
) -> Checked {
    let Job { loaded, program, planned, settings, .. } = job;
    let task = job.task();
    let mut machine = match job.machine() {
        Ok(machine) => machine,
        Err(checked) => return *checked,
    };
    machine = match bounded(loaded, machine, settings, context) {
        Ok(machine) => machine,
        Err(finding) => return Checked::faulty(planned, *finding),
    };
    machine = preferring(&task, machine, context);
    let began = (context.now)();
    let ReducedSearch { mut explored, reduction, states_before, edges_known } = match explore(&mut machine, context) {
        Ok(explored) => explored,
        Err(finding) => return Checked::faulty(planned, *finding),
    };
    let seconds = ((context.now)() - began).as_secs_f64();
    if settings.prune.is_none() {
        machine.close_boundary();
    }
    let audited = explored.audited.take();
    let outcome = &explored.outcome;
    let visited_first = context.controls.and_then(|controls| controls.preference().heeded());
    let report =
        PropertyReport { reduction, states_before, visited_first, ..describe(planned, how, &explored, seconds) };
    let mut checked = Checked::of(report, verdict::exhaustive(outcome));
    if let Some(condition) = &checked.report.visited_first {
        let order = format!("; once it was told to, the search preferred states in which `{condition}` is true");
        checked.reason = std::mem::take(&mut checked.reason).also(&order);
    }
    checked.add_audit(audited);
    checked.restrict(&machine, settings);
    let all_seen = outcome.completeness == Completeness::Exhaustive && outcome.exactness.is_exact();
    if all_seen && edges_known && machine.boundary_met().is_none() {
        checked.findings =
            dead_code(program, &loaded.map, &|edge| machine.reached(edge) || loaded.is_passed_over(edge));
        checked.marks = Some(marks(program, &|edge| machine.reached(edge)));
    }
    // A store that is not exact may have left out what is nearer.
    let is_whole = outcome.exactness.is_exact() && !machine.is_bounded();
    let first_is_shortest = how.order == Order::BreadthFirst && is_whole;
    let found = explored.outcome.violations.into_iter().enumerate().map(|(index, violation)| Found {
        shorter: if first_is_shortest { Shorter::None } else { Shorter::NotAsked },
        as_found: how.order == Order::DepthFirst || CALMED_RUNS_MAX <= index,
        count: violation.count,
        ..Found::new(violation.kind.into(), violation.path, job.watch())
    });
    let runs: Vec<(Found, u64)> = found.zip(explored.keys).collect();
    checked.note_executed(&machine);
    checked.unconfirmed = Unconfirmed::finite(settings, machine, runs, None);
    checked
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
