//! Breadth-first search for violations of safety by several partitions, each with its own part of the visited set.
//!
//! A state belongs to the partition that its hash names. The partitions go through the state space layer by layer, in rounds: in a
//! round, each expands some of its states and sends the successors to their owners; when all have arrived, they are inserted.
//!
//! ```text
//! layer := {initial}
//! while some partition's layer is not empty:
//!   for each round of the layer:
//!     for each s of my layer whose key lies in the range of the round, least key first:
//!       for each ordinary t reached from s through transient states only: send t, with (key of s, ordinal of t), to its owner
//!     wait until everybody has sent everything
//!     for each t that arrived, least (key of its parent, ordinal) first:
//!       if t ∉ stored: stored := stored ∪ {t};  next layer := next layer ∪ {t};  note where t came from
//!   if a violation was seen: it is over
//!   layer := next layer
//! ```
//!
//! The key of a state is a permutation of its hash, so states are inserted in an order that depends neither on the number of
//! partitions nor on which is faster; nor does anything that is reported, the path to a violation included. A layer is finished
//! before a violation ends the search: it is the least one of its layer, by the key of its state.
//!
//! Nobody begins a round before everybody has inserted what the round before brought, so what is under way at any time is what
//! some ten thousand states lead to. Where states came from is written to [`Ways`], eight bytes for each; a path is executed anew
//! from these numbers ([`replay`]).
//!
//! How partitions speak to each other is not known here: see [`Exchange`].

mod batch;
mod counted;
mod ended;
mod exchange;
mod search;
#[cfg(test)]
mod tests;
mod way;

pub use exchange::{Exchange, ExchangeError, Local, Round};
pub use search::reach;
pub use way::{Origin, Way, Ways, replay};

use crate::model::Model;
use crate::outcome::{Completeness, Halt, Outcome, Statistics, Violation};
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
    /// What each partition did.
    pub partitions: Vec<PartitionStatistics>,
}

impl Reached {
    /// The outcome of the search, with the paths to its violations; `None` if a way is none of this model.
    pub fn into_outcome<M: Model>(self, model: &mut M) -> Option<Outcome<M::Label, M::Fault>> {
        let violations: Option<Vec<_>> = self.ways.iter().map(|way| replay(model, way)).collect();
        Some(concluded(self.statistics, violations?, self.completeness))
    }
}

/// The outcome of a search whose partitions were stopped before they could tell what they found.
pub fn stopped<L, F>(statistics: Statistics, why: StopReason) -> Outcome<L, F> {
    concluded(statistics, Vec::new(), Completeness::Stopped(why))
}

fn concluded<L, F>(
    statistics: Statistics,
    violations: Vec<Violation<L, F>>,
    completeness: Completeness,
) -> Outcome<L, F> {
    let ended = match completeness {
        Completeness::FirstViolation => ControlFlow::Break(Halt::Found(())),
        Completeness::Stopped(reason) => ControlFlow::Break(Halt::Stopped(reason)),
        Completeness::Exhaustive => ControlFlow::Continue(()),
    };
    Outcome::conclude(ended, violations, Exactness::Exact, statistics)
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
