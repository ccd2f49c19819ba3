//! Bitstate hashing (supertrace): a few bits in one cache line stand for the state.

use super::hash::{hash_words, mix, scale};
use super::pages::{Line, Pages, prefetch};
use super::{Class, Exactness, Inserted, Store};
use crate::position::Position;

/// Sets some bits per state in an array of fixed size, all in one cache line; a state whose bits are
/// all set is taken for old. Searches more states than fit in memory otherwise, and proves nothing.
#[derive(Debug)]
pub struct BitstateStore {
    lines: Pages<Line>,
    bits_per_state: u32,
    seed: u64,
    states: u64,
    bits_set: u64,
}

impl BitstateStore {
    /// An empty store of a size in bytes (at least one cache line is used) that sets `bits_per_state`
    /// bits, from 1 to 7; 3 is a good choice. States missed with one seed may be found with another.
    pub fn new(size_bytes: u64, bits_per_state: u32, seed: u64) -> Self {
        let lines = usize::try_from(size_bytes / size_of::<Line>() as u64).unwrap_or(usize::MAX >> 10).max(1);
        let lines = Pages::zeroed(lines);
        Self { lines, bits_per_state: bits_per_state.clamp(1, 7), seed, states: 0, bits_set: 0 }
    }
}

impl Store for BitstateStore {
    const MEMO_PER_WORD: usize = 0;

    /// Index of a line, and where the bits in it are.
    type Probe = (usize, u64);

    #[inline]
    fn prepare(&mut self, position: &mut Position, class: Class) -> (usize, u64) {
        let seed = self.seed.wrapping_mul(2).wrapping_add(u64::from(class == Class::Transient));
        let line = scale(hash_words(position.visible(), seed), self.lines.len());
        prefetch(&self.lines[line]);
        (line, mix(hash_words(position.visible(), !seed)))
    }

    #[inline]
    fn commit(&mut self, (line, mut bits): (usize, u64)) -> Inserted {
        let Line(line) = &mut self.lines[line];
        let mut fresh = 0;
        for _ in 0..self.bits_per_state {
            let (word, bit) = ((bits >> 6) as usize % line.len(), bits % 64);
            fresh += u64::from(line[word] >> bit & 1 == 0);
            line[word] |= 1 << bit;
            bits >>= 9;
        }
        self.bits_set += fresh;
        self.states += u64::from(fresh > 0);
        if fresh > 0 { Inserted::New } else { Inserted::Old }
    }

    fn memory_bytes(&self) -> u64 {
        self.lines.memory_bytes()
    }

    fn exactness(&self) -> Exactness {
        let bits = self.lines.memory_bytes() as f64 * 8.0;
        Exactness::Bitstate {
            omission_probability_per_state: (self.bits_set as f64 / bits).powi(self.bits_per_state as i32),
            bits_per_state: bits / self.states.max(1) as f64,
        }
    }
}
