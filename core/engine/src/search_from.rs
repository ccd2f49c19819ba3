//! The search from a state that a person has reached, with some processes held back.

use crate::endless_atomic::take_back;
use crate::shortest::shortest;
use fabius_counterexample::{Counterexample, ErrorKind, ExplorationTarget, Found, confirm};
use fabius_model::SearchedMachine;
use fabius_observe::{CheckContext, EngineObserver, Goal, Task};
use fabius_program::{Move, Watch};
use fabius_search::{self as search, Completeness, ProcessSet, StopAt, TreeStore};
use fabius_task::load::Loaded;
use fabius_task::plan::{Planned, Question, plan, unknown_property};
use fabius_task::query::{CycleSearch, liveness_query};
use fabius_task::settings::Settings;
use fabius_verdict as verdict;
use std::sync::Arc;

/// What a search from a state found. It says nothing of the rest of the model, so it has no [`crate::Verdict`].
#[derive(Clone, Debug)]
pub struct SearchedFrom {
    /// A run that goes wrong: from the initial state, through the state from which was searched.
    pub found: Option<Counterexample>,
    /// States looked at.
    pub states: u64,
    /// Every state that can be reached like this was looked at.
    pub exhaustive: bool,
    /// What was found, in a sentence that does not say from where, and who was held.
    pub sentence: String,
}

/// Searches from the state after `path` for a run that violates the property of the exploration target, while the processes in
/// `held` do not move. Safety is searched breadth-first, so the run found is a shortest one from there; of an infinite run a
/// shorter one is looked for, as far as the budget goes that a check has for it.
///
/// A run that cannot go on because only processes that are held could move is no error.
///
/// # Errors
/// If it cannot be searched, in a sentence.
pub fn search_from(
    loaded: &Loaded,
    target: &ExplorationTarget,
    path: &[Move],
    held: &[u8],
    settings: &Settings,
    context: &mut CheckContext<'_>,
) -> Result<SearchedFrom, String> {
    let selectors = [target.property.clone()];
    let plan = plan(&target.program, &selectors).map_err(|unknown| unknown_property(&unknown).headline)?;
    let planned = plan.properties.first().ok_or("there is no such property")?;
    let mut from = ProcessSet::EMPTY;
    held.iter().for_each(|pid| from.insert(*pid));
    let task = Task { loaded, program: &target.program, property: &planned.name, settings };
    let (found, statistics, completeness, cut) = match planned.question {
        Question::Safety => safety(&task, target, path, from, context)?,
        _ => infinite(&task, target, planned, path, from, context)?,
    };
    let found = found.map(|found| confirm(loaded, &target.program, found)).transpose()?;
    let exhaustive = completeness == Completeness::Exhaustive && cut.is_none();
    let violation = found.as_ref().map(|found| {
        let steps = found.trace.steps.len().saturating_sub(path.len());
        (found.report.kind, steps)
    });
    let sentence = verdict::from_here(
        &context.named(task.settings.limits),
        violation,
        statistics.states,
        completeness,
        cut.as_deref(),
    );
    Ok(SearchedFrom { found, states: statistics.states, exhaustive, sentence })
}

/// What was found; if nothing, and runs were cut off by runtime errors, that in words.
type Searched = (Option<Found>, search::Statistics, Completeness, Option<String>);

const IMPOSSIBLE: &str = "the state from which to search cannot be reached";

fn safety(
    task: &Task<'_>,
    target: &ExplorationTarget,
    path: &[Move],
    held: ProcessSet,
    context: &mut CheckContext<'_>,
) -> Result<Searched, String> {
    let watch = Watch { trace: target.watch.trace, ..Watch::NOTHING };
    let machine = SearchedMachine::new(Arc::clone(&target.program), watch).map_err(|refusal| refusal.to_string())?;
    let mut machine = machine.beginning_after(path, held).ok_or(IMPOSSIBLE)?;
    let cancel = context.cancel.clone();
    let settings = search::Settings { limits: task.settings.limits, stop_at: StopAt::First, cancel };
    let mut engine_observer = EngineObserver::new(task, context, Goal::Violation, machine.places(), None);
    let outcome = search::breadth_first(&mut machine, &mut TreeStore::new(), &mut engine_observer, &settings);
    let found = outcome.violations.first().map(|violation| {
        let path = path.iter().chain(&violation.path).copied().collect();
        Found { count: violation.count, as_found: true, ..Found::new(violation.kind.into(), path, watch) }
    });
    Ok((found, outcome.statistics, outcome.completeness, None))
}

/// The exploration target has the claim in it already, so the question is put with it as it is.
fn infinite(
    task: &Task<'_>,
    target: &ExplorationTarget,
    planned: &Planned,
    path: &[Move],
    held: ProcessSet,
    context: &mut CheckContext<'_>,
) -> Result<Searched, String> {
    // What was asked of other searches does not count here; which runs count, and what progress is, does.
    let search = CycleSearch::answering(planned, task.settings);
    let mut query =
        liveness_query(&target.program, planned, task.settings, search).map_err(|finding| finding.headline)?;
    query.program = Arc::clone(&target.program);
    query.watch = target.watch;
    let machine = SearchedMachine::infinite(Arc::clone(&target.program), target.watch);
    let machine = machine.map_err(|refusal| refusal.to_string())?;
    let mut machine = machine.beginning_after(path, held).ok_or(IMPOSSIBLE)?;
    let places = machine.places();
    let explored = crate::liveness::explore(task, &query, task.settings.threads, (&mut machine, places), context);
    let mut outcome = explored.outcome;
    let atomic_loop = take_back(task, &mut machine, &mut outcome, task.settings.threads, context);
    let line = |edge| task.loaded.map.position(target.program.span_of(edge)).line;
    let (statistics, completeness) = (outcome.statistics, outcome.completeness);
    let cut = machine.cut_runs().sentence(&target.program, &task.loaded.map);
    let cut = cut.or_else(|| atomic_loop.map(|edge| verdict::not_evaluated_inside(line(edge))));
    let clarity = task.settings.clarity_of_infinite(statistics.transitions());
    let found = outcome.into_first().map(|found| {
        let known = (&found, statistics.states);
        let (shorter, _) = shortest(task, query.goal, &mut machine, known, clarity, context);
        let mut found = Found::of_cycle(&query, shorter.unwrap_or(found), None);
        if let ErrorKind::Loop(start, _) = &mut found.wrong {
            *start += path.len();
        }
        found.path.splice(0..0, path.iter().copied());
        found
    });
    Ok((found, statistics, completeness, cut))
}
