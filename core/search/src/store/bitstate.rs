//! Bitstate hashing (supertrace): a few bits in one cache line stand for the state.

use super::hash::{hash_words, mix, scale};
use super::pages::{Line, Pages, prefetch};
use super::{Class, Exactness, Inserted, Store};
use crate::position::Position;

/// A table that may grow is at most so large in the beginning.
const FIRST_BYTES_MAX: u64 = 16 << 20;
/// By this factor a table grows, …
const GROWTH: usize = 8;
/// … when one of this many of its bits was set since it had its size.
const BITS_PER_FRESH_BIT: u64 = 256;

/// Sets some bits per state in a table, all in one cache line; a state whose bits are all set is taken for old.
/// Searches more states than fit in memory otherwise, and proves nothing.
///
/// The table begins small and grows up to the size allowed, so that a small search pays for little memory. Where a line
/// stands follows the order of the hashes: each line of the old table becomes a few neighbours in the new one, all with
/// its bits. So whatever was in the set still is, and the bits copied are few.
#[derive(Debug)]
pub struct BitstateStore {
    lines: Pages<Line>,
    /// How often the table may still grow.
    growths_left: u32,
    /// Bits set when the table got its size.
    bits_copied: u64,
    bits_per_state: u32,
    seed: u64,
    states: u64,
    bits_set: u64,
}

impl BitstateStore {
    /// An empty store of at most a size in bytes (at least one cache line is used) that sets `bits_per_state`
    /// bits, from 1 to 7; 3 is a good choice. States missed with one seed may be found with another.
    pub fn new(bytes_max: u64, bits_per_state: u32, seed: u64) -> Self {
        let (mut bytes, mut growths_left) = (bytes_max, 0);
        while FIRST_BYTES_MAX < bytes {
            (bytes, growths_left) = (bytes / GROWTH as u64, growths_left + 1);
        }
        let lines = usize::try_from(bytes / size_of::<Line>() as u64).unwrap_or(usize::MAX >> 10).max(1);
        Self {
            lines: Pages::zeroed(lines),
            growths_left,
            bits_copied: 0,
            bits_per_state: bits_per_state.clamp(1, 7),
            seed,
            states: 0,
            bits_set: 0,
        }
    }

    /// Whether so many bits were set that a larger table pays.
    #[inline]
    fn is_crowded(&self) -> bool {
        let bits = self.lines.memory_bytes() * 8;
        0 < self.growths_left && bits / BITS_PER_FRESH_BIT < self.bits_set - self.bits_copied
    }

    #[cold]
    fn grow(&mut self) {
        let mut lines = Pages::<Line>::zeroed(self.lines.len() * GROWTH);
        for (copies, line) in lines.chunks_exact_mut(GROWTH).zip(&*self.lines) {
            if *line != Line::default() {
                copies.fill(*line);
            }
        }
        self.lines = lines;
        self.growths_left -= 1;
        self.bits_set *= GROWTH as u64;
        self.bits_copied = self.bits_set;
    }
}

impl Store for BitstateStore {
    const MEMO_PER_WORD: usize = 0;

    /// A hash that says which line, and where the bits in it are.
    type Probe = (u64, u64);

    #[inline]
    fn prepare(&mut self, position: &mut Position, class: Class) -> (u64, u64) {
        let seed = self.seed.wrapping_mul(2).wrapping_add(u64::from(class == Class::Transient));
        let hash = hash_words(position.visible(), seed);
        prefetch(&self.lines[scale(hash, self.lines.len())]);
        (hash, mix(hash_words(position.visible(), !seed)))
    }

    #[inline]
    fn commit(&mut self, (hash, mut bits): (u64, u64)) -> Inserted {
        if self.is_crowded() {
            self.grow();
        }
        let line = scale(hash, self.lines.len());
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
