//! The searches in the order of depth: for violations of safety, and for infinite runs.

use crate::liveness::prepare;
use crate::safety::shortest;
use crate::shortest::add_shortest;
use crate::task::{Checked, measured, refused};
use fabius_checkpoint::{CheckpointKey, Checkpointing, no_checkpoint};
use fabius_counterexample::Found;
use fabius_model::SearchedMachine;
use fabius_observe::{CheckContext, EngineObserver, Goal, Task};
use fabius_program::{Program, Watch};
use fabius_search::depth_bounded::{DepthSettings, depth_bounded, depth_bounded_cycles};
use fabius_search::{self as search, StopAt};
use fabius_task::load::Loaded;
use fabius_task::plan::Planned;
use fabius_task::query::{CycleSearch, event_trace};
use fabius_task::report::PropertyReport;
use fabius_task::settings::{DepthBounding, Settings};
use fabius_verdict as verdict;
use std::sync::Arc;

/// Searches runs of ever more steps, and confirms what was found.
pub(crate) fn check(
    loaded: &Loaded,
    program: &Arc<Program>,
    planned: &Planned,
    settings: &Settings,
    depth: &DepthBounding,
    context: &mut CheckContext<'_>,
) -> Checked {
    let task = Task { loaded, program, property: &planned.name, settings };
    let watch = Watch { trace: event_trace(program), ..Watch::NOTHING };
    let mut machine = match SearchedMachine::new(Arc::clone(program), watch) {
        Ok(machine) => machine,
        Err(refusal) => return refused(planned, program, refusal),
    };
    let began = (context.now)();
    let mut engine_observer = EngineObserver::new(&task, context, Goal::Violation, machine.places(), None);
    let stop_at = if settings.keep_going { StopAt::Never } else { StopAt::First };
    let search_settings =
        search::Settings { limits: settings.limits, stop_at, cancel: engine_observer.context.cancel.clone() };
    let bounds = DepthSettings { increment: depth.increment, cut_off: depth.cut_off, ..DepthSettings::default() };
    let kept = kept("depth-bounded", program, planned, settings, depth);
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
    for (violation, key) in found.violations.iter().zip(keys) {
        let found = Found::new(violation.kind.into(), violation.path.clone(), watch);
        let found = Found { count: violation.count, ..found };
        let either = shortest(&task, &mut machine, found, (key, checked.report.transitions), context);
        checked.confirm_either(loaded, program, planned, either, context);
    }
    checked
}

/// Looks for infinite runs that violate a property among the states within ever more steps, and confirms what was found.
pub(crate) fn check_cycles(
    loaded: &Loaded,
    program: &Arc<Program>,
    planned: &Planned,
    settings: &Settings,
    depth: &DepthBounding,
    context: &mut CheckContext<'_>,
) -> Checked {
    let (query, mut machine) = match prepare(program, planned, settings, CycleSearch::Components) {
        Ok(posed) => posed,
        Err(checked) => return *checked,
    };
    let task = Task { loaded, program: &query.program, property: &planned.name, settings };
    let began = (context.now)();
    let mut engine_observer = EngineObserver::new(&task, context, Goal::Violation, machine.places(), None);
    let cancel = engine_observer.context.cancel.clone();
    let search_settings = search::Settings { limits: settings.limits, stop_at: StopAt::First, cancel };
    let bounds = DepthSettings { increment: depth.increment, cut_off: depth.cut_off, ..DepthSettings::default() };
    let kept = kept("depth-bounded-scc", &query.program, planned, settings, depth).cutting(machine.cut_runs());
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
    if let Some(found) = found.into_first() {
        add_shortest(&task, planned, &query, &mut machine, found, context, &mut checked);
    }
    checked
}

/// How a search in the order of depth is kept. It may go deeper when it goes on, with the same steps.
fn kept<'a>(
    kind: &str,
    program: &Program,
    planned: &Planned,
    settings: &'a Settings,
    depth: &DepthBounding,
) -> Checkpointing<'a> {
    Checkpointing::as_asked(&settings.checkpoint_files, || {
        CheckpointKey::new(kind, program, &planned.name, settings)
            .with("what counts as progress", format!("{:?}", settings.progress))
            .with("`--depth-increment`", depth.increment)
    })
}
