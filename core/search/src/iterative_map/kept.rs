//! Where a search for cycles stands between two rounds; see [`crate::checkpoint`].
//!
//! In the middle of a round nothing is kept: then the values that are handed on are not final, and nothing says what has handed on
//! which.

use super::CycleRound;
use super::graph::KeptGraph;
use super::map::KeptMaps;
use crate::checkpoint::{Bytes, Snapshot, Written};

/// Where a search for cycles stands between two rounds: the graph, and what is known of its states.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct CycleSnapshot {
    /// The rounds that were finished.
    pub rounds: Vec<CycleRound>,
    pub(super) graph: KeptGraph,
    pub(super) maps: KeptMaps,
}

impl Snapshot for CycleSnapshot {
    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Written::default();
        bytes.put_count(self.rounds.len());
        for &CycleRound { bound, states, edges, frontier, listed, calculated, refined, partitions } in &self.rounds {
            bytes.put(bound);
            let counters = [states, edges, frontier, listed, calculated, refined, partitions];
            counters.into_iter().for_each(|counter| bytes.put(counter));
        }
        self.graph.put(&mut bytes);
        self.maps.put(&mut bytes);
        bytes.0
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut bytes = Bytes(bytes);
        let mut rounds = Vec::new();
        for _ in 0..bytes.take_count()? {
            let (bound, states, edges, frontier) = (bytes.take_u32()?, bytes.take()?, bytes.take()?, bytes.take()?);
            let (listed, calculated, refined) = (bytes.take()?, bytes.take()?, bytes.take()?);
            let partitions = bytes.take()?;
            rounds.push(CycleRound { bound, states, edges, frontier, listed, calculated, refined, partitions });
        }
        let (graph, maps) = (KeptGraph::take(&mut bytes)?, KeptMaps::take(&mut bytes)?);
        let fits = !rounds.is_empty() && maps.fits(graph.states());
        bytes.end(Self { rounds, graph, maps }).filter(|_| fits)
    }
}
