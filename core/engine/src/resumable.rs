//! The depth-first search for violations of safety that is saved to a file, and resumed from one.
//!
//! It is the strict one, by one thread and without a reduction: what it visits next follows from its stack and its visited set alone, which is
//! what a checkpoint holds. It is written [every few minutes](fabius_observe::Cadence), and where the search is stopped.

use crate::reachable::{Explored, audited};
use crate::reducing::ReducedSearch;
use crate::task::Job;
use fabius_base::Finding;
use fabius_checkpoint::{CheckpointKey, Checkpointing, DEPTH_FIRST};
use fabius_model::SearchedMachine;
use fabius_observe::{CheckContext, EngineObserver, Goal};
use fabius_search::{self as search, Store as _, TreeStore, resumable_depth_first};
use fabius_task::report::{OFF, UNREDUCED_TO_BE_SAVED};
use fabius_task::settings::Order;

/// Searches the reachable states, from where the search was saved if it was.
///
/// # Errors
/// If it cannot go on from there.
pub(crate) fn explore(
    job: Job<'_>,
    machine: &mut SearchedMachine,
    context: &mut CheckContext<'_>,
) -> Result<ReducedSearch, Box<Finding>> {
    let (task, settings) = (job.task(), job.settings);
    let checkpointing = Checkpointing::as_asked(&settings.checkpoint_files, || {
        CheckpointKey::new(DEPTH_FIRST, job.program, &job.planned.name, settings)
    });
    let mut observer = EngineObserver::new(&task, context, Goal::Violation, machine.places(), None).saved();
    let cancel = observer.context.cancel.clone();
    let searching = search::Settings { limits: settings.limits, stop_at: job.stop_at(), cancel };
    let mut store = TreeStore::new();
    let outcome = checkpointing
        .run(|checkpoint| resumable_depth_first(machine, &mut store, &mut observer, &searching, checkpoint))?;
    let keys = std::mem::take(&mut observer.keys);
    let store_bytes = store.memory_bytes();
    let audited = audited(machine, &mut store, &outcome, settings, context);
    let would_be_reduced = settings.reduction && settings.optimize && settings.search == Order::DepthFirstThenShorten;
    let reduction = if would_be_reduced { UNREDUCED_TO_BE_SAVED } else { OFF };
    Ok(ReducedSearch::whole(Explored { outcome, store_bytes, keys, audited }, reduction.to_owned()))
}
