//! The search by increasing number of delays, by several processes.

use super::{Explored, How, Order, confirm_all, describe, noticed, reason, seed_of};
use crate::partitioned::{self, NotTold, Searched, Told};
use crate::task::{Checked, Job};
use fabius_checkpoint::Checkpointing;
use fabius_observe::CheckContext;
use fabius_schedulers::{Overlap, scheduler};
use fabius_search::checkpoint::CheckpointPolicy;
use fabius_task::pool::{Part, PartDelays};
use fabius_task::report::PropertyReport;
use fabius_task::scheduler::choose;
use fabius_task::settings::{DelayMode, Delaying, Storage};

/// Lets several processes search by increasing number of delays, and confirms what they found.
pub(crate) fn check(job: Job<'_>, delaying: &Delaying, processes: usize, context: &mut CheckContext<'_>) -> Checked {
    let Job { loaded, program, planned, settings } = job;
    let (task, mode) = (job.task(), DelayMode::Fast);
    let mut machine = match job.machine() {
        Ok(machine) => machine,
        Err(checked) => return *checked,
    };
    let chosen = choose(program, &delaying.scheduler);
    let (seed, delays_max) = (seed_of(delaying), delaying.delays_max);
    let by = PartDelays { scheduler: chosen.kind.clone(), seed, delays_max };
    let part = Part::of(loaded, settings).map(|part| part.by_delays(by));
    let by = Searched::by(job, machine.places(), part, processes, CheckpointPolicy::none(), context);
    let Told { reached, edges, memory_limit, .. } = match by.told {
        Ok(told) => told,
        Err(end) => return end.report(planned, mode.as_str(), by.seconds, by.workers),
    };
    machine.learn_edges(&edges);
    let statistics = reached.statistics;
    let keys = reached.ways.iter().map(|way| way.key).collect();
    let overlap = Overlap::default();
    let scheduler = scheduler(loaded, machine.machine(), &chosen.kind, seed, &overlap);
    let Some(outcome) = reached.into_delay_outcome(&mut machine, &scheduler) else {
        return NotTold::no_path(statistics).report(planned, mode.as_str(), by.seconds, by.workers);
    };
    let (how, limits, stop_at) = (How::Search(Storage::Tree), settings.limits, job.stop_at());
    let order = Order { delaying, mode, how, limits, stop_at, last: delays_max, kept: &Checkpointing::not() };
    let reason = partitioned::limited(reason(&outcome, &task, &chosen, order), outcome.completeness, memory_limit);
    let explored = Explored { outcome, store_bytes: statistics.memory_bytes, keys };
    let report = describe(planned, how, mode, &explored, by.seconds);
    let mut checked = Checked {
        findings: noticed(&task, &machine, &explored, &chosen, &overlap),
        ..Checked::of(PropertyReport { workers: by.workers, ..report }, reason)
    };
    confirm_all(&mut checked, job, &mut machine, &explored, &chosen, order, context);
    checked
}
