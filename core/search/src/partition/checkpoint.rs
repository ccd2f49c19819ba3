//! Where a partition stood at the end of a layer, so that another search can go on from there.

use super::counted;
use super::delays::DelaySnapshot;
use super::search::Seen;
use crate::model::Marks;
use crate::outcome::Statistics;
use serde::{Deserialize, Serialize};

/// Where a partition stood at the end of a layer. Where its states came from belongs to it: the entries of its [`Ways`](super::Ways) for
/// [`PartSnapshot::states`] states.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize, Debug)]
pub struct PartSnapshot {
    /// Layers that were expanded.
    pub(super) layers: u64,
    /// The number of its first state that waits.
    pub(super) first: u64,
    /// Its counters.
    #[serde(with = "counted")]
    pub(super) statistics: Statistics,
    /// By the observer's key: which violation it met first, and how often.
    pub(super) seen: Vec<(u64, Seen, u64)>,
    /// What else the search needs to go on.
    pub(super) more: More,
}

/// What a search needs to go on beside its states and counters.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize, Debug)]
pub(super) enum More {
    /// Nothing: breadth-first, for violations of safety.
    #[default]
    Nothing,
    /// For cycles.
    Cycles {
        /// Of all steps that were listed.
        marks: Marks,
        /// Number of states at which cycles are looked for next.
        look_at: u64,
    },
    /// By increasing number of delays.
    Delays(DelaySnapshot),
}

impl PartSnapshot {
    /// Layers that all partitions had expanded.
    pub fn layers(&self) -> u64 {
        self.layers
    }

    /// States of the partition.
    pub fn states(&self) -> u64 {
        self.statistics.states
    }

    /// Bytes that say which states wait and how they are explored, in a search by number of delays; 0 in others.
    pub fn waiting_bytes(&self) -> u64 {
        match &self.more {
            More::Delays(delays) => delays.waiting_bytes(),
            More::Nothing | More::Cycles { .. } => 0,
        }
    }
}

/// Keeps snapshots of a partition.
pub trait PartKeeper<M, W> {
    /// Whether the end of the next layer is to be kept; all partitions then keep it.
    fn is_due(&mut self) -> bool;

    /// Is given a snapshot, with where the states of the partition came from; later states may be among them.
    fn keep(&mut self, model: &M, ways: &mut W, snapshot: PartSnapshot);
}

/// Where the search of a partition starts, and whether snapshots of it are kept.
pub struct PartCheckpoints<'c, M, W> {
    /// Where it stood, and where its states came from; without it, it starts at the beginning.
    pub from: Option<(&'c PartSnapshot, &'c mut W)>,
    /// Is given a snapshot where the search is stopped, and whenever it is due.
    pub keep: Option<&'c mut dyn PartKeeper<M, W>>,
}

/// What a partition is to search for, and where it starts.
pub struct PartRequest<'c, T, M, W> {
    /// What to search for.
    pub target: T,
    /// Where it starts, and whether snapshots are kept.
    pub checkpoints: PartCheckpoints<'c, M, W>,
}

impl<T, M, W> PartRequest<'_, T, M, W> {
    /// It starts at the beginning, and nothing is kept.
    pub fn from_start(target: T) -> Self {
        Self { target, checkpoints: PartCheckpoints::none() }
    }
}

impl<M, W> PartCheckpoints<'_, M, W> {
    /// It starts at the beginning, and nothing is kept.
    pub fn none() -> Self {
        Self { from: None, keep: None }
    }
}
