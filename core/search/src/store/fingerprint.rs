//! Hash compaction: a 64-bit fingerprint stands for the state.

use super::hash::hash_words;
use super::table::HashTable;
use super::{Class, Exactness, Inserted, Store};
use crate::position::Position;

/// Takes states with the same 64-bit fingerprint for one. Needs as much memory as a tree store does
/// for small states, but never more, and does not care how unlike the states are.
#[derive(Debug)]
pub struct FingerprintStore {
    table: HashTable<()>,
    seed: u64,
}

impl Default for FingerprintStore {
    fn default() -> Self {
        Self::new(0)
    }
}

impl FingerprintStore {
    /// An empty store; states missed with one seed are likely to be found with another.
    pub fn new(seed: u64) -> Self {
        Self { table: HashTable::new(), seed }
    }
}

impl Store for FingerprintStore {
    const MEMO_PER_WORD: usize = 0;

    type Probe = u64;

    #[inline]
    fn prepare(&mut self, position: &mut Position, class: Class) -> u64 {
        let seed = self.seed.wrapping_mul(2).wrapping_add(u64::from(class == Class::Transient));
        let hash = hash_words(position.visible(), seed);
        self.table.prefetch(hash);
        hash
    }

    #[inline]
    fn commit(&mut self, probe: u64) -> Inserted {
        let (old, ()) = self.table.entry(probe);
        if old { Inserted::Old } else { Inserted::New }
    }

    fn memory_bytes(&self) -> u64 {
        self.table.memory_bytes()
    }

    /// With n fingerprints of 64 bits the expected number of states taken for another is n²/2⁶⁵.
    fn exactness(&self) -> Exactness {
        let states = self.table.len() as f64;
        Exactness::Fingerprint { omission_probability: (states * states / 2_f64.powi(65)).min(1.0) }
    }
}
