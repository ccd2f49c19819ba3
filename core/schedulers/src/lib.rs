//! The schedulers that a person can choose, as searches know them: with the processes of a machine by the names of their types, and
//! sealed where the text says so.
//!
//! [`with_scheduler`] turns a choice into a scheduler and does something under it; [`rerun`] and [`delays_of`] follow one run under it.
//!
//! Nothing in here searches, or decides a verdict.

mod by_name;
mod laps;
mod rerun;
mod seals;

pub use rerun::{DelayPoint, RunEnd, ScheduledRun, Scheduling, delays_of, rerun};
pub use seals::{Overlap, SealedPlaces};

use by_name::ByName;
use fabius_model::SearchedMachine;
use fabius_program::Move;
use fabius_search::schedule::{
    Laps, Priority, RandomOrder, RankedLaps, RankedRandom, RankedRoundRobin, RankedRunToCompletion, RoundRobin,
    RunToCompletion, Scheduler, Sealed,
};
use fabius_task::load::Loaded;
use fabius_task::settings::{SchedulerBase, SchedulerChoice};
use laps::ClosingEdges;

/// A scheduler of which several threads may have copies.
pub trait SharedScheduler: Scheduler<Move, State: Send + Sync> + Clone + Send {}

impl<D: Scheduler<Move, State: Send + Sync> + Clone + Send> SharedScheduler for D {}

/// Something to be done under a scheduler, whichever it is.
pub trait UnderScheduler {
    /// What comes of it.
    type Result;

    /// Does it.
    fn run<D: SharedScheduler>(self, machine: &mut SearchedMachine, scheduler: &D) -> Self::Result;
}

/// Does something under the scheduler that was chosen, sealed where the text says so.
pub fn with_scheduler<T: UnderScheduler>(
    loaded: &Loaded,
    machine: &mut SearchedMachine,
    kind: &SchedulerChoice,
    seed: u64,
    overlap: &Overlap,
    work: T,
) -> T::Result {
    let reader = machine.machine();
    let seals = SealedPlaces::new(reader, &loaded.map, &loaded.seals).map(|seals| seals.telling(overlap));
    sealed_by(machine, kind, seed, seals, work)
}

/// Does something under the scheduler that was chosen, whatever the text says of sealing.
pub fn with_plain_scheduler<T: UnderScheduler>(
    machine: &mut SearchedMachine,
    kind: &SchedulerChoice,
    seed: u64,
    work: T,
) -> T::Result {
    sealed_by(machine, kind, seed, None, work)
}

fn sealed_by<T: UnderScheduler>(
    machine: &mut SearchedMachine,
    kind: &SchedulerChoice,
    seed: u64,
    seals: Option<SealedPlaces>,
    work: T,
) -> T::Result {
    let reader = machine.machine().clone();
    match kind {
        SchedulerChoice::RoundRobin => seal(machine, RoundRobin, seals, work),
        SchedulerChoice::Laps => seal(machine, Laps(ClosingEdges::of(reader.shared_program())), seals, work),
        SchedulerChoice::Random => seal(machine, RandomOrder::new(seed), seals, work),
        SchedulerChoice::Priority(names) => seal(machine, Priority(ByName::new(reader, names)), seals, work),
        SchedulerChoice::RunToCompletion | SchedulerChoice::Auto => seal(machine, RunToCompletion, seals, work),
        SchedulerChoice::Own(own) => {
            let closing = || ClosingEdges::of(reader.shared_program());
            let ranking = ByName::new(reader.clone(), &own.order);
            match own.base {
                SchedulerBase::RunToCompletion => seal(machine, RankedRunToCompletion(ranking.only()), seals, work),
                SchedulerBase::RoundRobin => seal(machine, RankedRoundRobin(ranking.only()), seals, work),
                SchedulerBase::Laps => {
                    seal(machine, RankedLaps { ranking: ranking.only(), closing: closing() }, seals, work)
                }
                SchedulerBase::Priority => seal(machine, Priority(ranking), seals, work),
                SchedulerBase::Random => {
                    let random = RandomOrder::new(own.seed.unwrap_or(seed));
                    seal(machine, RankedRandom { ranking: ranking.only(), random }, seals, work)
                }
            }
        }
    }
}

fn seal<D: SharedScheduler, T: UnderScheduler>(
    machine: &mut SearchedMachine,
    scheduler: D,
    seals: Option<SealedPlaces>,
    work: T,
) -> T::Result {
    match seals {
        None => work.run(machine, &scheduler),
        Some(seals) => work.run(machine, &Sealed::new(scheduler, seals)),
    }
}
