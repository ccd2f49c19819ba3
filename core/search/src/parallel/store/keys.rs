//! Sets of keys that threads fill at the same time: with bits for an algorithm, or as small as can be.

use super::compact::{self, SharedCompact};
use super::slots::{self, Slots};
use crate::parallel::share_out::share_out;
use crate::store::keys::{FetchQueue, KeySet, Keys, MANY};
use crate::store::quotient::{self, Mixer};
use crate::sync::AtomicU64;
use std::fmt::Debug;
use std::sync::atomic::Ordering;

/// Bits of a state that an algorithm may set.
pub(in super::super) const BITS: u32 = 9;

/// A set of keys that threads fill at the same time.
pub(in super::super) trait SharedKeys: KeySet + Debug + Send + Sync {
    /// Keys have at most this many bits.
    const KEY_BITS: u32;

    /// An empty set for keys of this many bits, with room for `len` of them. It may use this many threads to grow.
    fn with_room(bits: u32, len: u64, threads: usize) -> Self;

    /// Tells the processor that the key will be asked for soon.
    fn prefetch(&self, key: u64);

    /// Counts keys that were put in; whether it is time to make room.
    fn count(&self, new: u64) -> bool;

    /// Whether it should grow.
    fn is_crowded(&self) -> bool;

    /// Makes room.
    fn grow(&mut self);

    /// Whether it should be put into one with room for more.
    fn is_outgrown(&self) -> bool;

    /// Memory in use, in bytes.
    fn memory_bytes(&self) -> u64;
}

/// A set of keys with [`BITS`] bits each.
#[derive(Debug)]
pub(in super::super) struct MarkedKeys {
    slots: Slots,
    threads: usize,
}

impl MarkedKeys {
    /// Bits of a word below the key: one says that the slot is taken.
    const LOW_BITS: u32 = BITS + 1;

    #[inline]
    fn mixer() -> Mixer {
        Mixer::new(Self::KEY_BITS, slots::SEGMENT_BITS)
    }

    /// Keys of this many bits with what is kept with each, for this many threads: those whose payload has bits.
    pub(super) fn of<P: Copy + Default>(
        keys: &Keys<P>,
        bits: u32,
        threads: usize,
        bits_of: impl Fn(P) -> Option<u32>,
    ) -> Self {
        let shared = Self::with_room(bits, keys.len(), threads);
        let mut count = 0;
        keys.each(|key, payload| {
            if let Some(bits) = bits_of(payload) {
                shared.entry(key, bits);
                count += 1;
            }
        });
        shared.count(count);
        shared
    }

    /// Tells the processor that the key will be asked for soon.
    #[inline]
    fn prefetch(&self, key: u64) {
        let (segment, rest) = Self::mixer().place(key);
        self.slots.prefetch(segment, rest);
    }

    /// Every key of a segment, with its bits.
    fn each_in(&self, segment: usize, mut visit: impl FnMut(u64, u16)) {
        let key = |word: u64| Self::mixer().number(segment, word >> Self::LOW_BITS);
        self.slots.each_in(segment, |word| visit(key(word), bits_of(word) as u16));
    }

    /// The place of a key, and its bits before; `None` if it is new, then it gets the bits `fresh`.
    #[inline]
    pub(super) fn entry(&self, key: u64, fresh: u32) -> (Place<'_>, Option<u32>) {
        let (segment, rest) = Self::mixer().place(key);
        let word = || rest << Self::LOW_BITS | u64::from(fresh) << 1 | 1;
        let (slot, old) = self.slots.entry((segment, rest), word);
        (Place(slot), old.map(bits_of))
    }
}

/// The place of a state in the visited set: its bits can be read and set.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Place<'a>(&'a AtomicU64);

impl Place<'_> {
    /// Sets bits; returns those that were set before.
    #[inline]
    pub(in super::super) fn set(self, bits: u32) -> u32 {
        bits_of(self.0.fetch_or(u64::from(bits) << 1, Ordering::SeqCst))
    }

    /// Takes bits back.
    #[inline]
    pub(in super::super) fn clear(self, bits: u32) {
        self.0.fetch_and(!(u64::from(bits) << 1), Ordering::SeqCst);
    }

    /// The bits that are set.
    #[inline]
    pub(in super::super) fn bits(self) -> u32 {
        bits_of(self.0.load(Ordering::SeqCst))
    }
}

#[inline]
fn bits_of(word: u64) -> u32 {
    (word >> 1) as u32 & ((1 << BITS) - 1)
}

impl KeySet for MarkedKeys {
    type Payload = u16;

    fn bits_max(_: u64) -> u32 {
        Self::KEY_BITS
    }

    fn len(&self) -> u64 {
        self.slots.len()
    }

    fn each(&self, mut visit: impl FnMut(u64, u16)) {
        (0..slots::SEGMENTS).for_each(|segment| self.each_in(segment, &mut visit));
    }

    fn rewritten<W: FnMut(u64) -> u64>(&self, bits: u32, writer: impl Fn() -> W + Sync) -> Self {
        let keys = Self::with_room(bits, self.len(), self.threads);
        share_out(threads_for(self.len(), self.threads), (0..slots::SEGMENTS).collect(), |segment| {
            let (mut write, mut fetched) = (writer(), FetchQueue::new());
            self.each_in(segment, |key, marks| {
                let key = write(key);
                keys.prefetch(key);
                if let Some((key, marks)) = fetched.push((key, marks)) {
                    keys.entry(key, u32::from(marks));
                }
            });
            for (key, marks) in fetched.rest() {
                keys.entry(key, u32::from(marks));
            }
        });
        keys.count(self.len());
        keys
    }
}

impl SharedKeys for MarkedKeys {
    const KEY_BITS: u32 = u64::BITS - Self::LOW_BITS + slots::SEGMENT_BITS;

    fn with_room(_: u32, len: u64, threads: usize) -> Self {
        Self { slots: Slots::with_room(Self::LOW_BITS, len), threads }
    }

    #[inline]
    fn prefetch(&self, key: u64) {
        self.prefetch(key);
    }

    fn count(&self, new: u64) -> bool {
        self.slots.count(new)
    }

    fn is_crowded(&self) -> bool {
        self.slots.is_crowded()
    }

    fn grow(&mut self) {
        let threads = threads_for(self.len(), self.threads);
        self.slots.grow(threads);
    }

    fn is_outgrown(&self) -> bool {
        false
    }

    fn memory_bytes(&self) -> u64 {
        self.slots.memory_bytes()
    }
}

/// A set of keys: compact once they are many for their length.
#[derive(Debug)]
pub(in super::super) struct PlainKeys {
    table: Table,
    threads: usize,
}

#[derive(Debug)]
enum Table {
    /// Kept in full length.
    Full {
        slots: Slots,
        /// With this many keys, the set can become compact, or should be made so.
        len_max: u64,
    },
    /// Kept in half.
    Compact(SharedCompact),
}

impl PlainKeys {
    /// Bits of a word below the key, of which one says that the slot is taken.
    const LOW_BITS: u32 = slots::SEGMENT_BITS;

    #[inline]
    fn mixer() -> Mixer {
        Mixer::new(Self::KEY_BITS, slots::SEGMENT_BITS)
    }

    /// The same keys, of this many bits, for this many threads.
    pub(super) fn of(keys: &Keys<()>, bits: u32, threads: usize) -> Self {
        let shared = Self::with_room(bits, keys.len(), threads);
        keys.each(|key, ()| {
            shared.insert(key);
        });
        shared.count(keys.len());
        shared
    }

    /// Puts a key into the set; whether it was not there before.
    #[inline]
    pub(super) fn insert(&self, key: u64) -> bool {
        match &self.table {
            Table::Compact(table) => table.insert(key),
            Table::Full { slots, .. } => {
                let (segment, rest) = Self::mixer().place(key);
                slots.entry((segment, rest), || rest << Self::LOW_BITS | 1).1.is_none()
            }
        }
    }

    fn segments(&self) -> usize {
        match &self.table {
            Table::Full { .. } => slots::SEGMENTS,
            Table::Compact(_) => compact::SEGMENTS,
        }
    }

    /// Every key of a segment.
    fn each_in(&self, segment: usize, mut visit: impl FnMut(u64)) {
        match &self.table {
            Table::Full { slots, .. } => {
                slots.each_in(segment, |word| visit(Self::mixer().number(segment, word >> Self::LOW_BITS)));
            }
            Table::Compact(table) => table.each_in(segment, visit),
        }
    }
}

impl KeySet for PlainKeys {
    type Payload = ();

    fn bits_max(len: u64) -> u32 {
        quotient::bits_max(len, compact::SEGMENT_BITS)
    }

    fn len(&self) -> u64 {
        match &self.table {
            Table::Full { slots, .. } => slots.len(),
            Table::Compact(table) => table.len(),
        }
    }

    fn each(&self, mut visit: impl FnMut(u64, ())) {
        (0..self.segments()).for_each(|segment| self.each_in(segment, |key| visit(key, ())));
    }

    fn rewritten<W: FnMut(u64) -> u64>(&self, bits: u32, writer: impl Fn() -> W + Sync) -> Self {
        let keys = Self::with_room(bits, self.len(), self.threads);
        share_out(threads_for(self.len(), self.threads), (0..self.segments()).collect(), |segment| {
            let (mut write, mut fetched) = (writer(), FetchQueue::new());
            self.each_in(segment, |key| {
                let key = write(key);
                keys.prefetch(key);
                if let Some(key) = fetched.push(key) {
                    keys.insert(key);
                }
            });
            for key in fetched.rest() {
                keys.insert(key);
            }
        });
        keys.count(self.len());
        keys
    }
}

impl SharedKeys for PlainKeys {
    const KEY_BITS: u32 = u64::BITS;

    fn with_room(bits: u32, len: u64, threads: usize) -> Self {
        let table = match quotient::len_min(bits, compact::SEGMENT_BITS) {
            len_min if len_min <= len => Table::Compact(SharedCompact::with_room(bits, len)),
            len_min => {
                let len_max = if len < MANY { len_min.min(MANY) } else { len_min };
                Table::Full { slots: Slots::with_room(Self::LOW_BITS, len), len_max }
            }
        };
        Self { table, threads }
    }

    #[inline]
    fn prefetch(&self, key: u64) {
        match &self.table {
            Table::Full { slots, .. } => {
                let (segment, rest) = Self::mixer().place(key);
                slots.prefetch(segment, rest);
            }
            Table::Compact(table) => table.prefetch(key),
        }
    }

    fn count(&self, new: u64) -> bool {
        match &self.table {
            Table::Full { slots, len_max } => slots.count(new) || *len_max <= slots.len(),
            Table::Compact(table) => table.count(new),
        }
    }

    fn is_crowded(&self) -> bool {
        match &self.table {
            Table::Full { slots, .. } => slots.is_crowded(),
            Table::Compact(table) => table.is_crowded(),
        }
    }

    fn grow(&mut self) {
        let threads = threads_for(self.len(), self.threads);
        match &mut self.table {
            Table::Full { slots, .. } => slots.grow(threads),
            Table::Compact(table) => table.grow(threads),
        }
    }

    fn is_outgrown(&self) -> bool {
        match &self.table {
            Table::Full { slots, len_max } => *len_max <= slots.len(),
            Table::Compact(_) => false,
        }
    }

    fn memory_bytes(&self) -> u64 {
        match &self.table {
            Table::Full { slots, .. } => slots.memory_bytes(),
            Table::Compact(table) => table.memory_bytes(),
        }
    }
}

/// Few keys are moved sooner than threads start.
fn threads_for(len: u64, threads: usize) -> usize {
    if len < MANY { 1 } else { threads }
}
