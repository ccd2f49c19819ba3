//! Atomic sequences that may never end.
//!
//! A claim, and the labels of the other processes, see the states in which nobody holds control. A run that stays in atomic sequences has no
//! more of them from some time on, so that a search for infinite runs can say neither that it violates a property nor that it does not: `pan`
//! goes down such a run to its limit of depth.

use crate::liveness::CycleFound;
use fabius_base::StopReason;
use fabius_model::SearchedMachine;
use fabius_observe::{CheckContext, EngineObserver, Goal, Task};
use fabius_program::EdgeId;
use fabius_program::facts::atomic_sequences_terminate;
use fabius_search::cycle::{Found, Order, TransientCycles, dfs_fifo};
use fabius_search::{Completeness, Settings, StopAt, TreeStore, parallel};
use fabius_task::settings::ThreadCount;

/// The random order of the threads' successors starts from this; the same for every run.
const SEED: u64 = 0;

/// Changes what a search for infinite runs came to, where a run that stays in atomic sequences for ever takes away what it rests on: a
/// violation whose loop is such a run, or a proof. Returns an edge of the loop. The task is that of the search, which searched the machine.
pub(crate) fn take_back(
    task: &Task<'_>,
    machine: &mut SearchedMachine,
    outcome: &mut CycleFound,
    threads: ThreadCount,
    context: &mut CheckContext<'_>,
) -> Option<EdgeId> {
    let edge = match outcome.first() {
        Some(Found::Lasso { stem, cycle }) => machine.edge_of_atomic_loop(stem, cycle)?,
        Some(Found::Fault { .. }) => return None,
        None if outcome.proves_absence() && !atomic_sequences_terminate(task.program) => {
            match find(task, machine, threads, context) {
                Ok(edge) => edge?,
                Err(stopped) => {
                    outcome.completeness = Completeness::Stopped(stopped);
                    return None;
                }
            }
        }
        None => return None,
    };
    outcome.violations.clear();
    (outcome.completeness, outcome.infinite_macro_steps) = (Completeness::Exhaustive, 1);
    Some(edge)
}

/// Looks for a run of the machine that stays in atomic sequences for ever: an edge that it takes. Where a claim has come to an end, nothing
/// that follows matters, and the machine does not go on.
///
/// # Errors
/// What stopped the search.
fn find(
    task: &Task<'_>,
    machine: &SearchedMachine,
    threads: ThreadCount,
    context: &mut CheckContext<'_>,
) -> Result<Option<EdgeId>, StopReason> {
    let settings = Settings { limits: task.settings.limits, stop_at: StopAt::First, cancel: context.cancel.clone() };
    let mut observer = EngineObserver::new(task, context, Goal::Violation, machine.places(), None);
    let mut model = TransientCycles::new(machine.clone());
    let outcome = match threads.together() {
        Some((count, _)) => {
            let mut models = vec![model; count];
            parallel::dfs_fifo(&mut models, &mut observer, &settings, parallel::Levels::Free, SEED).0
        }
        None => dfs_fifo(&mut model, &mut TreeStore::default(), &mut observer, &settings, Order::Strict),
    };
    match (outcome.first(), outcome.completeness) {
        (Some(Found::Lasso { cycle, .. }), _) => Ok(cycle.last().map(|step| step.edge)),
        (_, Completeness::Stopped(reason)) => Err(reason),
        _ => Ok(None),
    }
}
