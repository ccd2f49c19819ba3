//! The schedulers that a person can choose, as searches know them: with the processes of a machine by the names of their types, and
//! sealed where the text says so.
//!
//! [`scheduler`] turns a choice into a scheduler; [`rerun`] and [`delays_of`] follow one run under it. All choices are of one type,
//! [`ChosenScheduler`]: what a search does under a scheduler is compiled once, and who moves next is asked through a table of functions.
//!
//! Nothing in here searches, or decides a verdict.

mod by_name;
mod laps;
mod rerun;
mod seals;

pub use rerun::{DelayPoint, RunEnd, ScheduledRun, Scheduling, delays_of, rerun};
pub use seals::{Overlap, SealedPlaces};

use by_name::ByName;
use fabius_machine::Machine;
use fabius_program::Move;
use fabius_search::schedule::{Laps, Order, Priority, RandomOrder, RoundRobin, RunToCompletion, Scheduler, Sealed};
use fabius_task::load::Loaded;
use fabius_task::settings::{SchedulerBase, SchedulerChoice};
use laps::ClosingEdges;

/// A scheduler that somebody chose, whichever it is, sealed where the text says so.
pub type ChosenScheduler = Sealed<Box<dyn AnyScheduler>, Option<SealedPlaces>>;

/// One of the schedulers of `fabius_search`, of which several threads may have copies.
pub trait AnyScheduler: Scheduler<Move, State = Order> + Send {
    /// A copy.
    fn copy(&self) -> Box<dyn AnyScheduler>;
}

impl<D: Scheduler<Move, State = Order> + Clone + Send + 'static> AnyScheduler for D {
    fn copy(&self) -> Box<dyn AnyScheduler> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn AnyScheduler> {
    fn clone(&self) -> Self {
        (**self).copy()
    }
}

/// The scheduler that was chosen, sealed where the text says so. What `overlap` is told of stretches that meet is found out later.
pub fn scheduler(
    loaded: &Loaded,
    machine: &Machine,
    choice: &SchedulerChoice,
    seed: u64,
    overlap: &Overlap,
) -> ChosenScheduler {
    let seals = SealedPlaces::new(machine, &loaded.map, &loaded.seals).map(|seals| seals.telling(overlap));
    Sealed::new(unsealed(machine, choice, seed), seals)
}

/// The scheduler that was chosen, whatever the text says of sealing.
pub fn plain_scheduler(machine: &Machine, choice: &SchedulerChoice, seed: u64) -> ChosenScheduler {
    Sealed::new(unsealed(machine, choice, seed), None)
}

fn unsealed(machine: &Machine, choice: &SchedulerChoice, seed: u64) -> Box<dyn AnyScheduler> {
    let ranking = |names: &[String]| ByName::new(machine.clone(), names);
    let closing = || ClosingEdges::of(machine.shared_program());
    let of = |base, names: &[String], seed| -> Box<dyn AnyScheduler> {
        match base {
            SchedulerBase::RunToCompletion => Box::new(RunToCompletion(ranking(names).only())),
            SchedulerBase::RoundRobin => Box::new(RoundRobin(ranking(names).only())),
            SchedulerBase::Laps => Box::new(Laps { closing: closing(), ring: RoundRobin(ranking(names).only()) }),
            SchedulerBase::Priority => Box::new(Priority(ranking(names))),
            SchedulerBase::Random => Box::new(RandomOrder { seed, ranking: ranking(names).only() }),
        }
    };
    match choice {
        SchedulerChoice::RoundRobin => of(SchedulerBase::RoundRobin, &[], seed),
        SchedulerChoice::Laps => of(SchedulerBase::Laps, &[], seed),
        SchedulerChoice::Random => of(SchedulerBase::Random, &[], seed),
        SchedulerChoice::Priority(names) => of(SchedulerBase::Priority, names, seed),
        SchedulerChoice::RunToCompletion | SchedulerChoice::Auto => of(SchedulerBase::RunToCompletion, &[], seed),
        SchedulerChoice::Own(own) => of(own.base, &own.order, own.seed.unwrap_or(seed)),
    }
}
