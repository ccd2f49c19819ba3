//! A set of keys of at most 64 bits: compact once the keys are many for their length.

use super::compact::{self, CompactTable};
use super::hash::{mix, unmix};
use super::quotient;
use super::table::HashTable;

/// With this many keys, it is worth while to make them shorter so that they can be compact.
pub const MANY: u64 = 1 << 16;

/// A set of keys, each with a payload.
#[derive(Debug)]
pub enum Keys<P> {
    /// Kept in full length.
    Full {
        table: HashTable<P>,
        /// With this many keys, the set can become compact, or should be made so.
        len_max: u64,
    },
    /// Kept in half.
    Compact(CompactTable<P>),
}

/// The place of a key is fetched while so many others are put into the set.
const AHEAD: usize = 16;

/// A set of keys of one layout, in which there may be something with each key.
pub trait KeySet: Sized {
    /// What is kept with a key.
    type Payload: Copy + Default;

    /// An empty set for keys of this many bits, with room for `len` of them.
    fn with_room(bits: u32, len: u64) -> Self;

    /// This many bits may a key have for a set of `len` keys to take as little memory as it can.
    fn bits_max(len: u64) -> u32;

    /// Keys in the set.
    fn len(&self) -> u64;

    /// Every key, with its payload, in an order that has nothing to do with the keys.
    fn each(&self, visit: impl FnMut(u64, Self::Payload));

    /// Tells the processor that the key will be asked for soon.
    fn prefetch(&self, key: u64);

    /// Puts a key that is not there into the set.
    fn insert_new(&mut self, key: u64, payload: Self::Payload);
}

/// A set that takes many new keys, in their order; each is put into the set when the processor had time to fetch its place.
pub struct Filling<'k, K: KeySet> {
    keys: &'k mut K,
    /// The last keys taken, round and round.
    waiting: [(u64, K::Payload); AHEAD],
    taken: usize,
}

impl<'k, K: KeySet> Filling<'k, K> {
    /// Nothing is taken yet.
    pub fn new(keys: &'k mut K) -> Self {
        Self { keys, waiting: [(0, K::Payload::default()); AHEAD], taken: 0 }
    }

    /// Takes a key that is not in the set, and was not taken before.
    #[inline]
    pub fn take(&mut self, key: u64, payload: K::Payload) {
        self.keys.prefetch(key);
        let slot = &mut self.waiting[self.taken % AHEAD];
        let (key, payload) = std::mem::replace(slot, (key, payload));
        if AHEAD <= self.taken {
            self.keys.insert_new(key, payload);
        }
        self.taken += 1;
    }
}

impl<K: KeySet> Drop for Filling<'_, K> {
    fn drop(&mut self) {
        for number in self.taken.saturating_sub(AHEAD)..self.taken {
            let (key, payload) = self.waiting[number % AHEAD];
            self.keys.insert_new(key, payload);
        }
    }
}

impl<P: Copy + Default> Keys<P> {
    /// Whether the set should be put into one with room for more.
    #[inline]
    pub fn is_outgrown(&self) -> bool {
        match self {
            Self::Full { table, len_max } => table.len() >= *len_max,
            Self::Compact(_) => false,
        }
    }

    /// Whether the key was there already, and its payload. It is there afterwards.
    #[inline]
    pub fn entry(&mut self, key: u64) -> (bool, &mut P) {
        match self {
            Self::Full { table, .. } => table.entry(mix(key)),
            Self::Compact(table) => table.entry(key),
        }
    }

    /// Memory in use, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        match self {
            Self::Full { table, .. } => table.memory_bytes(),
            Self::Compact(table) => table.memory_bytes(),
        }
    }
}

impl<P: Copy + Default> KeySet for Keys<P> {
    type Payload = P;

    fn with_room(bits: u32, len: u64) -> Self {
        match quotient::len_min(bits, compact::SEGMENT_BITS) {
            len_min if len_min <= len => Self::Compact(CompactTable::with_room(bits, len)),
            len_min => {
                let len_max = if len < MANY { len_min.min(MANY) } else { len_min };
                Self::Full { table: HashTable::with_room(len), len_max }
            }
        }
    }

    fn bits_max(len: u64) -> u32 {
        quotient::bits_max(len, compact::SEGMENT_BITS)
    }

    fn len(&self) -> u64 {
        match self {
            Self::Full { table, .. } => table.len(),
            Self::Compact(table) => table.len(),
        }
    }

    fn each(&self, mut visit: impl FnMut(u64, P)) {
        match self {
            Self::Full { table, .. } => table.each(|hash, payload| visit(unmix(hash), payload)),
            Self::Compact(table) => table.each(visit),
        }
    }

    #[inline]
    fn prefetch(&self, key: u64) {
        match self {
            Self::Full { table, .. } => table.prefetch(mix(key)),
            Self::Compact(table) => table.prefetch(key),
        }
    }

    #[inline]
    fn insert_new(&mut self, key: u64, payload: P) {
        match self {
            Self::Full { table, .. } => table.insert_new(mix(key), payload),
            Self::Compact(table) => table.insert_new(key, payload),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn a_set_that_was_filled_has_what_it_was_given() {
        for (bits, room) in [(20, 1 << 17), (64, 0), (64, 5000)] {
            for count in [0, 1, AHEAD as u64 - 1, AHEAD as u64, 40, 5000] {
                let mut keys = Keys::<u8>::with_room(bits, room);
                let mut filling = Filling::new(&mut keys);
                (0..count).for_each(|i| filling.take(i * 199, i as u8));
                drop(filling);
                assert_eq!(keys.len(), count);
                let mut found = BTreeMap::new();
                keys.each(|key, payload| assert_eq!(found.insert(key, payload), None));
                assert_eq!(found, (0..count).map(|i| (i * 199, i as u8)).collect());
                assert!((0..count).all(|i| keys.entry(i * 199) == (true, &mut (i as u8))));
            }
        }
    }
}
