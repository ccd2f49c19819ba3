//! The searches that exist, each behind the strategy that chooses it.

use crate::prepared::Prepared;
use crate::task::{Checked, Job};
use crate::{deepening, delayed, liveness, partitioned, reachable, safety};
use fabius_observe::CheckContext;
use fabius_program::Program;
use fabius_strategy::{Choice, Strategy};
use fabius_task::load::Loaded;
use fabius_task::plan::Planned;
use std::sync::Arc;

/// Runs the search that was chosen for a property.
pub(crate) fn search(
    loaded: &Loaded,
    program: &Arc<Program>,
    (planned, prepared): (&Planned, &Prepared),
    choice: &Choice,
    context: &mut CheckContext<'_>,
) -> Checked {
    let job = Job { loaded, program, planned, settings: &choice.settings, prepared };
    match &choice.strategy {
        Strategy::Exhaustive { order, store, threads } => {
            let how = reachable::How { order: *order, store: *store, threads: *threads };
            safety::check(job, how, context)
        }
        Strategy::Resumable { order } => safety::check_resumable(job, *order, context),
        Strategy::Partitioned { processes } => partitioned::check(job, *processes, context),
        Strategy::PartitionedCycles { processes } => partitioned::check_cycles(job, *processes, context),
        Strategy::PartitionedDelays { delaying, processes } => {
            delayed::check_by_processes(job, delaying, *processes, context)
        }
        Strategy::Delays { delaying, store } => delayed::check(job, delaying, delayed::How::Search(*store), context),
        Strategy::Samples { delaying, kind } => delayed::check(job, delaying, delayed::How::Sample(*kind), context),
        Strategy::Depth(depth) => deepening::check(job, depth, context),
        Strategy::Cycles { search, threads, .. } => liveness::check(job, *search, *threads, context),
        Strategy::DelayedCycles { delaying, search, threads } => {
            delayed::check_cycles(job, delaying, *search, *threads, context)
        }
        Strategy::DeepCycles(depth) => deepening::check_cycles(job, depth, context),
    }
}
