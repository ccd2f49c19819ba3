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

/// So many places are fetched at the same time.
const AHEAD: usize = 16;

/// A set of keys of one layout, in which there may be something with each key.
pub trait KeySet: Sized {
    /// What is kept with a key.
    type Payload: Copy + Default;

    /// This many bits may a key have for a set of `len` keys to take as little memory as it can.
    fn bits_max(len: u64) -> u32;

    /// Keys in the set.
    fn len(&self) -> u64;

    /// Every key, with its payload, in an order that has nothing to do with the keys.
    fn each(&self, visit: impl FnMut(u64, Self::Payload));

    /// The set with its keys, each different from the others, written anew with this many bits. Each thread that writes has a
    /// `writer` of its own.
    fn rewritten<W: FnMut(u64) -> u64>(&self, bits: u32, writer: impl Fn() -> W + Sync) -> Self;
}

/// Things that wait until the memory for them has arrived: while one is fetched, others are looked at.
pub struct FetchQueue<T> {
    /// The last ones, round and round.
    waiting: [T; AHEAD],
    taken: usize,
}

impl<T: Copy + Default> FetchQueue<T> {
    /// Nothing waits.
    pub fn new() -> Self {
        Self { waiting: [T::default(); AHEAD], taken: 0 }
    }

    /// Lets one more wait; the one that waited longest is ready, if enough of them wait.
    #[inline]
    pub fn push(&mut self, new: T) -> Option<T> {
        let oldest = std::mem::replace(&mut self.waiting[self.taken % AHEAD], new);
        self.taken += 1;
        (AHEAD < self.taken).then_some(oldest)
    }

    /// Those that still wait.
    pub fn rest(self) -> impl Iterator<Item = T> {
        (self.taken.saturating_sub(AHEAD)..self.taken).map(move |number| self.waiting[number % AHEAD])
    }
}

impl<P: Copy + Default> Keys<P> {
    /// An empty set for keys of this many bits, with room for `len` of them.
    pub fn with_room(bits: u32, len: u64) -> Self {
        match quotient::len_min(bits, compact::SEGMENT_BITS) {
            len_min if len_min <= len => Self::Compact(CompactTable::with_room(bits, len)),
            len_min => {
                let len_max = if len < MANY { len_min.min(MANY) } else { len_min };
                Self::Full { table: HashTable::with_room(len), len_max }
            }
        }
    }

    /// Puts a key that is not there into the set.
    #[inline]
    fn insert_new(&mut self, key: u64, payload: P) {
        match self {
            Self::Full { table, .. } => table.insert_new(mix(key), payload),
            Self::Compact(table) => table.insert_new(key, payload),
        }
    }

    /// Tells the processor that the key will be asked for soon.
    #[inline]
    pub fn prefetch(&self, key: u64) {
        match self {
            Self::Full { table, .. } => table.prefetch(mix(key)),
            Self::Compact(table) => table.prefetch(key),
        }
    }

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

    fn rewritten<W: FnMut(u64) -> u64>(&self, bits: u32, writer: impl Fn() -> W + Sync) -> Self {
        let mut keys = Self::with_room(bits, self.len());
        let (mut write, mut fetched) = (writer(), FetchQueue::new());
        self.each(|key, payload| {
            let key = write(key);
            keys.prefetch(key);
            if let Some((key, payload)) = fetched.push((key, payload)) {
                keys.insert_new(key, payload);
            }
        });
        fetched.rest().for_each(|(key, payload)| keys.insert_new(key, payload));
        keys
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn a_set_that_was_rewritten_has_the_same_keys() {
        for (bits, room) in [(20, 1 << 17), (64, 0), (64, 5000)] {
            for count in [0, 1, AHEAD as u64 - 1, AHEAD as u64, 40, 5000] {
                let mut keys = Keys::<u8>::with_room(bits, room);
                (0..count).for_each(|i| *keys.entry(i * 199).1 = i as u8);
                let mut keys = keys.rewritten(bits, || |key| key + 1);
                assert_eq!(keys.len(), count);
                let mut found = BTreeMap::new();
                keys.each(|key, payload| assert_eq!(found.insert(key, payload), None));
                assert_eq!(found, (0..count).map(|i| (i * 199 + 1, i as u8)).collect());
                assert!((0..count).all(|i| keys.entry(i * 199 + 1) == (true, &mut (i as u8))));
            }
        }
    }
}
