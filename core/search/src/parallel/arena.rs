//! Numbers that are written once, each found by its index, shared by threads; they never move.

use crate::store::pages::Pages;
use crate::sync::{AtomicU64, LOOM, OnceLock};
use std::ops::Range;
use std::sync::atomic::Ordering;

/// The first block has this many numbers, each further one twice as many as the one before.
const FIRST: usize = if LOOM { 1 } else { 1 << 12 };
/// Blocks, enough for all indices of 32 bits.
const BLOCKS: usize = 21;
/// Indices that a thread takes at a time.
const PORTION: u64 = if LOOM { 1 } else { 64 };

/// An array that only grows.
#[derive(Debug)]
pub(super) struct Arena {
    blocks: [OnceLock<Pages<AtomicU64>>; BLOCKS],
    /// The first index that nobody took.
    next: AtomicU64,
}

/// Indices that a thread took and did not use yet.
#[derive(Debug, Default)]
pub(super) struct Portion(Range<u64>);

impl Arena {
    /// An array in which index 0 is nobody's.
    pub(super) fn new() -> Self {
        Self { blocks: std::array::from_fn(|_| OnceLock::new()), next: AtomicU64::new(1) }
    }

    /// An index that nobody else has. Beyond 32 bits they begin anew: whoever uses an arena looks at
    /// [`Self::taken`] long before.
    #[inline]
    pub(super) fn take(&self, portion: &mut Portion) -> u32 {
        if portion.0.is_empty() {
            let first = self.next.fetch_add(PORTION, Ordering::Relaxed);
            portion.0 = first..first + PORTION;
        }
        let index = portion.0.start;
        portion.0.start += 1;
        index as u32
    }

    /// Writes a number. Other threads see it once they were told its index.
    #[inline]
    pub(super) fn set(&self, index: u32, number: u64) {
        let (block, offset) = place(index);
        let numbers = self.blocks[block].get_or_init(|| Pages::zeroed(FIRST << block));
        numbers[offset].store(number, Ordering::Relaxed);
    }

    /// A number written before; 0 if there is none.
    #[inline]
    pub(super) fn get(&self, index: u32) -> u64 {
        let (block, offset) = place(index);
        self.blocks[block].get().map_or(0, |numbers| numbers[offset].load(Ordering::Relaxed))
    }

    /// Indices taken up to now.
    pub(super) fn taken(&self) -> u64 {
        self.next.load(Ordering::Relaxed)
    }

    /// Memory touched, in bytes.
    pub(super) fn memory_bytes(&self) -> u64 {
        self.taken() * 8
    }
}

/// Block, and place in it.
#[inline]
fn place(index: u32) -> (usize, usize) {
    let shifted = index as usize + FIRST;
    let block = (shifted / FIRST).ilog2() as usize;
    (block, shifted - (FIRST << block))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_index_has_its_own_place() {
        let mut expected = (0, 0);
        for index in 0..1_000_000_u32 {
            assert_eq!(place(index), expected);
            expected.1 += 1;
            if expected.1 == FIRST << expected.0 {
                expected = (expected.0 + 1, 0);
            }
        }
        assert!(place(u32::MAX).0 < BLOCKS);
    }

    #[test]
    fn threads_take_different_indices_and_read_what_others_wrote() {
        let arena = Arena::new();
        std::thread::scope(|scope| {
            for thread in 0..4_u64 {
                let arena = &arena;
                scope.spawn(move || {
                    let mut portion = Portion::default();
                    for i in 0..10_000 {
                        let index = arena.take(&mut portion);
                        assert_ne!(index, 0);
                        arena.set(index, thread << 32 | i);
                    }
                });
            }
        });
        let mut numbers: Vec<u64> = (0..arena.taken() as u32).map(|index| arena.get(index)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.iter().filter(|&&number| number != 0).count(), 39_999);
    }
}

/// What threads do to an array at the same time, executed by loom in many orders (see [`crate::sync`]).
#[cfg(all(test, loom))]
mod orders {
    use super::*;
    use crate::sync::{Mutex, together};
    use loom::model::Builder;
    use std::sync::PoisonError;

    type Shared = (Arena, Mutex<Vec<(u32, u64)>>);

    /// Two threads take indices, write there, and tell the other one: indices differ, and what was written is there.
    #[test]
    fn indices_differ_and_are_told() {
        let work = |(arena, told): &Shared, number: u64| {
            let mut portion = Portion::default();
            for number in [number, number + 1] {
                let index = arena.take(&mut portion);
                arena.set(index, number);
                let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
                for &(other, number) in &*told {
                    assert_ne!(other, index);
                    assert_eq!(arena.get(other), number);
                }
                told.push((index, number));
            }
        };
        let make = || (Arena::new(), Mutex::new(Vec::new()));
        together(&Builder::new(), make, work, [10, 20], |_: Shared, _| ());
    }
}
