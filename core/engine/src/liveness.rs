//! Checks of infinite runs: livelocks, acceptance cycles, formulas and claims.

use crate::prune::pruned;
use crate::reachable::audited;
use crate::shortest::add_shortest;
use crate::task::{Checked, Job, measured, refused};
use fabius_audit::{Auditable, Audited};
use fabius_model::SearchedMachine;
use fabius_model::reduction::{self, Preserve, Reduced, WhyNot};
use fabius_observe::{CheckContext, EngineObserver, Goal, Task};
use fabius_program::meaning::Fault;
use fabius_program::{Action, Expr, Move, ProcessId, Program, ProgressOn};
use fabius_search::cycle::{self, CycleOutcome, CycleQuestion};
use fabius_search::{self as search, Processes, TreeStore, parallel};
use fabius_task::query::{CycleSearch, LivenessQuery, liveness_query};
use fabius_task::report::{OFF, ON, PropertyReport};
use fabius_task::settings::{Fairness, Settings};
use fabius_verdict as verdict;
use std::sync::Arc;

/// The random order of the threads' successors starts from this; the same for every run.
const SEED: u64 = 0;

/// The word for a search in reports, if this many threads search.
fn word(search: CycleSearch, threads: usize) -> &'static str {
    match search {
        CycleSearch::DfsFifo => "dfs-fifo",
        CycleSearch::NestedDfs if 1 < threads => "cndfs",
        CycleSearch::NestedDfs => "ndfs",
        CycleSearch::Components => "scc",
    }
}

type CycleFound = CycleOutcome<Move, Fault>;

/// Looks for infinite runs that violate a property, and confirms what was found.
pub(crate) fn check(job: Job<'_>, search: CycleSearch, threads: usize, context: &mut CheckContext<'_>) -> Checked {
    let Job { loaded, planned, settings, .. } = job;
    let (query, mut machine) = match prepare(job, search) {
        Ok(prepared) => prepared,
        Err(checked) => return *checked,
    };
    let job = job.over(&query.program);
    machine = match pruned(loaded, machine, settings) {
        Ok(machine) => machine,
        Err(finding) => return Checked::faulty(planned, *finding),
    };
    let task = job.task();
    let began = (context.now)();
    let engine_observer = EngineObserver::new(&task, context, Goal::Violation, machine.places(), None);
    let reduction = reduction(&query, settings);
    let (outcome, store_bytes, audited) = match &reduction {
        Ok(Some(plan)) => {
            explore(&task, &query, threads, &mut Reduced::of(machine.clone(), plan.clone()), engine_observer)
        }
        _ => explore(&task, &query, threads, &mut machine, engine_observer),
    };
    let seconds = ((context.now)() - began).as_secs_f64();
    let report = PropertyReport {
        reduction: reduction_words(&reduction),
        search: word(search, threads),
        bytes_per_state: store_bytes as f64 / outcome.statistics.states.max(1) as f64,
        ..measured(planned, &outcome, seconds)
    };
    let mut checked = Checked::of(report, verdict::cycles(&query, &outcome, settings));
    checked.qualify(machine.cut_runs(), &query.program, &loaded.map);
    checked.add_audit(audited);
    checked.restrict(&machine, settings);
    if let Some(found) = outcome.into_first() {
        add_shortest(job, &query, &mut machine, found, context, &mut checked);
    }
    checked
}

/// Puts a question into the form in which a search answers it, and makes the machine to be searched.
///
/// # Errors
/// What is to be reported instead, if the question makes no sense or no machine can run the model.
pub(crate) fn prepare(job: Job<'_>, search: CycleSearch) -> Result<(LivenessQuery, SearchedMachine), Box<Checked>> {
    let Job { program, planned, settings, .. } = job;
    let query = liveness_query(program, planned, settings, search)
        .map_err(|finding| Box::new(Checked::faulty(planned, *finding)))?;
    let machine = SearchedMachine::infinite(Arc::clone(&query.program), query.watch)
        .map_err(|refusal| Box::new(refused(planned, program, refusal)))?;
    Ok((query, machine))
}

/// How the model is to be reduced for the search; `None` if nobody wants that.
fn reduction(query: &LivenessQuery, settings: &Settings) -> Result<Option<reduction::Plan>, WhyNot> {
    // As it is written means: every step of it.
    if !settings.reduction || !settings.optimize {
        return Ok(None);
    }
    let preserve = match query.search {
        CycleSearch::Components if query.fairness == Fairness::None => return Ok(None),
        CycleSearch::Components => return Err(WhyNot::Fairness),
        CycleSearch::DfsFifo => Preserve::Livelocks(query.watch.progress.unwrap_or(ProgressOn::States)),
        CycleSearch::NestedDfs => match query.watch.claim {
            None => Preserve::Acceptance,
            Some(claim) if query.stutters => Preserve::Formula(propositions(&query.program, claim)),
            Some(_) => return Err(WhyNot::NextTime),
        },
    };
    reduction::prepare(&query.program, preserve).map(Some)
}

/// What a claim looks at.
fn propositions(program: &Program, claim: ProcessId) -> Vec<Expr> {
    let actions = program.process(claim).statements.iter().map(|statement| &statement.action);
    actions.filter_map(|action| if let Action::Guard(e) = action { Some(e.clone()) } else { None }).collect()
}

/// What a report says of the reduction.
fn reduction_words(reduction: &Result<Option<reduction::Plan>, WhyNot>) -> String {
    match reduction {
        Ok(Some(_)) => ON.to_owned(),
        Ok(None) => OFF.to_owned(),
        Err(why) => why.to_string(),
    }
}

/// Runs the search; the outcome, the memory of its store, and what the audit of a proof came to.
pub(crate) fn explore<M>(
    task: &Task<'_>,
    query: &LivenessQuery,
    threads: usize,
    machine: &mut M,
    mut engine_observer: EngineObserver<'_, '_>,
) -> (CycleFound, u64, Audited)
where
    M: Processes<Label = Move, Fault = Fault> + Auditable + Clone + Send,
{
    let cancel = engine_observer.context.cancel.clone();
    let settings = search::Settings { limits: task.settings.limits, stop_at: search::StopAt::First, cancel };
    macro_rules! with_store {
        ($store:ident => $outcome:expr) => {{
            let mut $store = TreeStore::default();
            let outcome = $outcome;
            let store_bytes = search::Store::memory_bytes(&$store);
            let audited = audited(machine, &mut $store, &outcome, task.settings, engine_observer.context);
            (outcome, store_bytes, audited)
        }};
    }
    if 1 < threads && query.search != CycleSearch::Components {
        let mut machines = vec![machine.clone(); threads];
        let outcome = match query.search {
            CycleSearch::DfsFifo => {
                parallel::dfs_fifo(&mut machines, &mut engine_observer, &settings, parallel::Levels::Free, SEED)
            }
            _ => parallel::cndfs(&mut machines, &mut engine_observer, &settings, SEED),
        };
        let memory_bytes = outcome.statistics.memory_bytes;
        return (outcome, memory_bytes, None);
    }
    match query.search {
        CycleSearch::DfsFifo => {
            with_store!(store => cycle::dfs_fifo(machine, &mut store, &mut engine_observer, &settings, cycle::Order::Strict))
        }
        CycleSearch::NestedDfs => {
            with_store!(store => cycle::nested_dfs(machine, &mut store, &mut engine_observer, &settings, cycle::NoReduction))
        }
        CycleSearch::Components => {
            let fairness = match query.fairness {
                Fairness::None => cycle::Fairness::None,
                Fairness::Weak => cycle::Fairness::Weak,
                Fairness::Strong => cycle::Fairness::Strong,
            };
            let question = CycleQuestion { goal: query.goal, fairness };
            with_store!(store => {
                cycle::components(machine, &mut store, &mut engine_observer, &settings, cycle::NoReduction, question)
            })
        }
    }
}
