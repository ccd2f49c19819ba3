//! The searches in the order of depth: for violations of safety, and for infinite runs.

use crate::task::{Checked, Job, measured};
use crate::unconfirmed::{Runs, Unconfirmed, keyed};
use fabius_checkpoint::{CheckpointKey, Checkpointing, no_checkpoint};
use fabius_observe::{CheckContext, EngineObserver, Goal};
use fabius_search::depth_bounded::{DepthSettings, depth_bounded, depth_bounded_cycles};
use fabius_search::{self as search, StopAt};
use fabius_task::query::CycleSearch;
use fabius_task::report::PropertyReport;
use fabius_task::settings::DepthBounding;
use fabius_verdict as verdict;

/// Searches runs of ever more steps.
pub(crate) fn check(job: Job<'_>, depth: &DepthBounding, context: &mut CheckContext<'_>) -> Checked {
    let Job { planned, settings, .. } = job;
    let task = job.task();
    let mut machine = match job.machine() {
        Ok(machine) => machine,
        Err(checked) => return *checked,
    };
    let began = (context.now)();
    let mut engine_observer = EngineObserver::new(&task, context, Goal::Violation, machine.places(), None);
    let cancel = engine_observer.context.cancel.clone();
    let search_settings = search::Settings { limits: settings.limits, stop_at: job.stop_at(), cancel };
    let bounds = DepthSettings { increment: depth.increment, cut_off: depth.cut_off, ..DepthSettings::default() };
    let kept = kept("depth-bounded", job, depth);
    let found =
        kept.run(|checkpoint| depth_bounded(&mut machine, &mut engine_observer, &search_settings, &bounds, checkpoint));
    let found = match found {
        Ok(found) => found,
        Err(finding) => return Checked::faulty(planned, *finding),
    };
    let keys = engine_observer.keys;
    let seconds = ((context.now)() - began).as_secs_f64();
    let mut checked = Checked::of(
        PropertyReport { search: "depth-bounded", ..measured(planned, &found, seconds) },
        verdict::by_depth(&found, settings),
    );
    let runs = keyed(found.violations, keys, job.watch());
    checked.note_executed(&machine);
    checked.unconfirmed = Unconfirmed::finite(settings, machine, runs, None);
    checked
}

/// Looks for infinite runs that violate a property among the states within ever more steps.
pub(crate) fn check_cycles(job: Job<'_>, depth: &DepthBounding, context: &mut CheckContext<'_>) -> Checked {
    let Job { loaded, planned, settings, .. } = job;
    let (query, mut machine) = match job.infinite(CycleSearch::Components) {
        Ok(prepared) => prepared,
        Err(checked) => return *checked,
    };
    let task = job.over(&query.program).task();
    let began = (context.now)();
    let mut engine_observer = EngineObserver::new(&task, context, Goal::Violation, machine.places(), None);
    let cancel = engine_observer.context.cancel.clone();
    let search_settings = search::Settings { limits: settings.limits, stop_at: StopAt::First, cancel };
    let bounds = DepthSettings { increment: depth.increment, cut_off: depth.cut_off, ..DepthSettings::default() };
    let kept = kept("depth-bounded-scc", job.over(&query.program), depth).cutting(machine.cut_runs());
    let found = kept.run(|checkpoint| {
        depth_bounded_cycles(&mut machine, &mut engine_observer, &search_settings, &bounds, query.goal, checkpoint)
    });
    let found = match found {
        Ok(found) => found,
        Err(finding) => return Checked::faulty(planned, *finding),
    };
    let seconds = ((context.now)() - began).as_secs_f64();
    let report = PropertyReport { search: "depth-bounded-scc", ..measured(planned, &found, seconds) };
    let mut checked = Checked {
        findings: no_checkpoint(settings, found.coverage, found.first().is_some()).into_iter().collect(),
        ..Checked::of(report, verdict::cycles_by_depth(&query, &found))
    };
    checked.qualify(machine.cut_runs(), &query.program, &loaded.map);
    checked.note_executed(&machine);
    let found = found.into_first().map(|run| Runs::Infinite { query, run, by_delays: false });
    checked.unconfirmed = found.map(|runs| Box::new(Unconfirmed::new(settings, machine, runs)));
    checked
}

/// How a search by depth is kept. It may go deeper when it is resumed, with the same steps.
fn kept<'a>(kind: &str, job: Job<'a>, depth: &DepthBounding) -> Checkpointing<'a> {
    Checkpointing::as_asked(&job.settings.checkpoint_files, || {
        CheckpointKey::new(kind, job.program, &job.planned.name, job.settings)
            .with("what counts as progress", format!("{:?}", job.settings.progress))
            .with("`--depth-increment`", depth.increment)
    })
}
