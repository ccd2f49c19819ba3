//! A set of keys of at most 64 bits: compact once the keys are many for their length.

use super::compact::CompactTable;
use super::hash::{mix, unmix};
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

impl<P: Copy + Default> Keys<P> {
    /// An empty set for keys of this many bits, with room for `len` of them.
    pub fn with_room(bits: u32, len: u64) -> Self {
        match CompactTable::<P>::len_min(bits) {
            len_min if len_min <= len => Self::Compact(CompactTable::with_room(bits, len)),
            len_min => {
                let len_max = if len < MANY { len_min.min(MANY) } else { len_min };
                Self::Full { table: HashTable::with_room(len), len_max }
            }
        }
    }

    /// This many bits may a key have for a set of `len` keys to be compact.
    pub fn bits_max(len: u64) -> u32 {
        (0..=64).rev().find(|&bits| CompactTable::<P>::len_min(bits) <= len).unwrap_or(0)
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

    /// Tells the processor that the key will be asked for soon.
    #[inline]
    pub fn prefetch(&self, key: u64) {
        match self {
            Self::Full { table, .. } => table.prefetch(mix(key)),
            Self::Compact(table) => table.prefetch(key),
        }
    }

    /// Every key, with its payload, in an order that has nothing to do with the keys.
    pub fn each(&self, mut visit: impl FnMut(u64, P)) {
        match self {
            Self::Full { table, .. } => table.each(|hash, payload| visit(unmix(hash), payload)),
            Self::Compact(table) => table.each(visit),
        }
    }

    /// Keys in the set.
    pub fn len(&self) -> u64 {
        match self {
            Self::Full { table, .. } => table.len(),
            Self::Compact(table) => table.len(),
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
