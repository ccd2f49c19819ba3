//! The search by increasing number of delays, by several processes.

use super::{Explored, How, Order, belonging_to, confirm_all, describe, noticed, reason, seed_of};
use crate::partitioned::{self, NotTold, PROCESSES, Searched, Told};
use crate::task::{Checked, Job};
use fabius_checkpoint::{CheckpointKey, Checkpointing};
use fabius_observe::CheckContext;
use fabius_schedulers::{Overlap, scheduler};
use fabius_task::pool::{Part, PartDelays};
use fabius_task::report::PropertyReport;
use fabius_task::scheduler::choose;
use fabius_task::settings::{DelayMode, Delaying, Storage};

/// Lets several processes search by increasing number of delays, and confirms what they found.
pub(crate) fn check(job: Job<'_>, delaying: &Delaying, processes: usize, context: &mut CheckContext<'_>) -> Checked {
    let Job { loaded, program, planned, settings, .. } = job;
    let (task, mode) = (job.task(), DelayMode::Fast);
    let mut machine = match job.machine() {
        Ok(machine) => machine,
        Err(checked) => return *checked,
    };
    let chosen = choose(program, &delaying.scheduler);
    let (seed, delays_max) = (seed_of(delaying), delaying.delays_max);
    let by = PartDelays { scheduler: chosen.kind.clone(), seed, delays_max };
    let part = Part::of(loaded, settings).map(|part| part.by_delays(by));
    let kept = Checkpointing::as_asked(&settings.checkpoint_files, || {
        let checkpoint_key = CheckpointKey::new("delays by processes", program, &planned.name, settings);
        belonging_to(checkpoint_key, loaded, &machine, &chosen, delaying).with(PROCESSES, processes)
    });
    let by = match Searched::by(job, machine.places(), part, processes, &kept, context) {
        Ok(by) => by,
        Err(finding) => return Checked::faulty(planned, *finding),
    };
    let Searched { told, seconds, workers, checkpoint } = by;
    let Told { reached, edges, memory_limit, .. } = match told {
        Ok(told) => told,
        Err(end) => return end.report(planned, mode.as_str(), seconds, workers, checkpoint),
    };
    machine.learn_edges(&edges);
    let statistics = reached.statistics;
    let keys = reached.ways.iter().map(|way| way.key).collect();
    let overlap = Overlap::default();
    let scheduler = scheduler(loaded, machine.machine(), &chosen.kind, seed, &overlap);
    let Some(outcome) = reached.into_delay_outcome(&mut machine, &scheduler) else {
        return NotTold::no_path(statistics).report(planned, mode.as_str(), seconds, workers, checkpoint);
    };
    let (how, limits, stop_at) = (How::Search(Storage::Tree), settings.limits, job.stop_at());
    let order = Order { delaying, mode, how, limits, stop_at, last: delays_max, kept: &Checkpointing::not() };
    let reason = partitioned::limited(reason(&outcome, &task, &chosen, order), outcome.completeness, memory_limit);
    let reason = checkpoint.named(reason, outcome.completeness);
    let explored = Explored { outcome, store_bytes: statistics.memory_bytes, keys };
    let report = describe(planned, how, mode, &explored, seconds);
    let mut checked = Checked {
        findings: noticed(&task, &machine, &explored, &chosen, &overlap),
        ..Checked::of(PropertyReport { workers, ..report }, reason)
    };
    checked.findings.extend(checkpoint.finding);
    confirm_all(&mut checked, job, &mut machine, &explored, &chosen, order, context);
    checked.note_executed(&machine);
    checked
}
