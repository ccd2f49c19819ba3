//! Search by several partitions, each with its own part of the visited set: breadth-first for violations of safety, and then, if that
//! is asked for, for cycles ([`cycles`]); or by increasing number of delays ([`delays`]).
//!
//! A state belongs to the partition that its hash names. The partitions go through the state space layer by layer, in rounds: in a
//! round, each expands some of its states, inserts the successors that are its own, and sends the others to their owners, who insert
//! them when all have arrived.
//!
//! ```text
//! layer := {initial}
//! while some partition's layer is not empty:
//!   for each round of the layer:
//!     for each s in the part of my layer that is due, in order:
//!       for each ordinary t reached from s through transient states only:
//!         if t is mine: insert(t, (me, s, ordinal of t)), else send t, with (number of s, ordinal of t), to its owner
//!     wait until everybody has sent everything
//!     for each partition p, for each t that p sent, in order: insert(t, (p, number of its parent, ordinal of t))
//!   if a violation was seen: it is over
//!   layer := next layer
//!
//! insert(t, origin): if t ∉ stored: stored := stored ∪ {t};  append t to the next layer;  note its origin
//! ```
//!
//! States are inserted in an order that depends on the number of partitions, but not on which is faster: a search can be repeated
//! exactly. A layer is finished before a violation ends the search, and the least one of its layer is told, by the hash of the
//! state that was expanded: which violation is told does not depend on the number of partitions, nor does its depth; of several
//! equally short paths to it, the number of partitions decides.
//!
//! Nobody begins a round before everybody has inserted what the round before brought, so what is under way at any time is what
//! some ten thousand states lead to. Where states came from is written to [`Ways`], eight bytes for each; a path is executed anew
//! from these numbers ([`replay`]).
//!
//! The same numbers make a search resumable ([`PartSnapshot`]): its states are executed anew from where they came from, layer by layer,
//! or, by increasing number of delays, once those that lead there are known.
//!
//! How partitions speak to each other is not known here: see [`Exchange`].

mod batch;
mod checkpoint;
mod counted;
mod cycles;
mod delays;
mod ended;
mod exchange;
mod owners;
mod resume;
mod retrace;
mod search;
#[cfg(test)]
mod tests;
mod way;

pub use checkpoint::{PartCheckpoints, PartKeeper, PartRequest, PartSnapshot};
pub use cycles::{CycleLook, CycleWays, FIRST_LOOK_STATES, cycles, replay_cycle};
pub use delays::{DelayOrder, delays, replay_delays};
pub use exchange::{Exchange, ExchangeError, Local, Round};
pub use search::{PartStore, reach};
pub use way::{CycleWay, Origin, Way, Ways, replay};

use crate::cycle::{CycleOutcome, Found, Goal};
use crate::model::{Model, Processes};
use crate::outcome::{self, Completeness, Halt, Outcome, SearchOutcome, Statistics, ViolationKind};
use crate::schedule::Scheduler;
use crate::store::Exactness;
use fabius_base::StopReason;
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;

/// What all partitions found together; every one of them returns the same.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub struct Reached {
    /// How much was looked at.
    #[serde(with = "ended")]
    pub completeness: Completeness,
    /// Counters of all partitions together.
    #[serde(with = "counted")]
    pub statistics: Statistics,
    /// The ways to the violations, one for each key, the nearest first.
    pub ways: Vec<Way>,
    /// The way to the cycle, if one was looked for and found.
    pub cycle: Option<CycleWay>,
    /// Of a search by increasing number of delays: the numbers that were searched to their ends.
    pub rounds: Vec<outcome::Round>,
    /// What each partition did.
    pub partitions: Vec<PartitionStatistics>,
}

impl Reached {
    /// The outcome of the search, with the paths to its violations; `None` if a way is none of this model.
    pub fn into_outcome<M: Model>(self, model: &mut M) -> Option<Outcome<M::Label, M::Fault>> {
        let violations: Option<Vec<_>> = self.ways.iter().map(|way| replay(model, way)).collect();
        Some(concluded(self.statistics, violations?, self.completeness))
    }

    /// The outcome of a search by increasing number of delays, with the paths to its violations and the delays on them; `None` if a way is
    /// none of this model under this scheduler.
    pub fn into_delay_outcome<M: Processes, D: Scheduler<M::Label>>(
        self,
        model: &mut M,
        scheduler: &D,
    ) -> Option<Outcome<M::Label, M::Fault>> {
        let violations: Option<Vec<_>> = self.ways.iter().map(|way| replay_delays(model, scheduler, way)).collect();
        let nothing_left = self.rounds.last().is_some_and(|round| round.frontier == 0);
        let outcome = concluded(self.statistics, violations?, self.completeness);
        Some(outcome.by_rounds(self.rounds, nothing_left, false, StopReason::Delays))
    }

    /// The outcome of a search for cycles, with the run that it found; `None` if that is none of this model.
    pub fn into_cycle_outcome<M: Model>(self, model: &mut M, goal: Goal) -> Option<CycleOutcome<M::Label, M::Fault>> {
        let found = match (&self.cycle, self.ways.first()) {
            (Some(way), _) => Some(replay_cycle(model, goal, way)?),
            (None, Some(way)) => {
                let violation = replay(model, way)?;
                let ViolationKind::Fault(fault) = violation.kind else { return None };
                Some(Found::Fault { path: violation.path, fault })
            }
            (None, None) => None,
        };
        Some(concluded(self.statistics, found.into_iter().collect(), self.completeness))
    }
}

/// The outcome of a search whose partitions were stopped before they could tell what they found.
pub fn stopped<V>(statistics: Statistics, why: StopReason) -> SearchOutcome<V> {
    concluded(statistics, Vec::new(), Completeness::Stopped(why))
}

fn concluded<V>(statistics: Statistics, found: Vec<V>, completeness: Completeness) -> SearchOutcome<V> {
    let ended = match completeness {
        Completeness::FirstViolation => ControlFlow::Break(Halt::Found(())),
        Completeness::Stopped(reason) => ControlFlow::Break(Halt::Stopped(reason)),
        Completeness::Exhaustive => ControlFlow::Continue(()),
    };
    SearchOutcome::conclude(ended, found, Exactness::Exact, statistics)
}

/// What a partition did.
#[derive(Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, Debug)]
pub struct PartitionStatistics {
    /// States stored.
    pub states: u64,
    /// Arrivals, those at states that were stored already included.
    pub transitions: u64,
    /// Memory in use, in bytes; the most seen at any look.
    pub memory_bytes: u64,
}
