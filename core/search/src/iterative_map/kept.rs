//! Where a search for cycles stands between two rounds; see [`crate::checkpoint`].
//!
//! In the middle of a round nothing is kept: then the values that are handed on are not final, and nothing says what has handed on
//! which.

use super::graph::KeptGraph;
use super::map::KeptMaps;
use crate::checkpoint::Snapshot;
use crate::outcome::Round;
use serde::{Deserialize, Serialize};

/// Where a search for cycles stands between two rounds: the graph, and what is known of its states.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize, Debug)]
pub struct CycleSnapshot {
    /// The rounds that were finished.
    pub rounds: Vec<Round>,
    pub(super) graph: KeptGraph,
    pub(super) maps: KeptMaps,
}

impl Snapshot for CycleSnapshot {
    fn is_consistent(&self) -> bool {
        !self.rounds.is_empty() && self.graph.is_consistent() && self.maps.fits(self.graph.states())
    }
}
