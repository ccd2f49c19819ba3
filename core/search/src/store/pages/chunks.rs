//! Blocks below the size of a huge page, which share huge pages.
//!
//! A table that is cut into segments has many of them. In small pages each costs a fault of the processor for every few kilobytes,
//! and its lines are translated one by one; parts of larger chunks cost neither. What is given back serves again, and a
//! chunk of which nothing is in use goes back to the kernel.

use super::mapped::{self, HUGE};
use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Size of a chunk: some huge pages. Those that nobody writes to take no memory.
const CHUNK: usize = 4 * HUGE;
/// A block takes a whole number of these.
const PART: usize = CHUNK / u128::BITS as usize;

static CHUNKS: Mutex<Vec<Chunk>> = Mutex::new(Vec::new());

/// A chunk, and by bits which of its parts …
#[derive(Debug)]
struct Chunk {
    base: NonNull<u8>,
    /// … belong to blocks, …
    used: u128,
    /// … and which ever did: the others are zero.
    written: u128,
}

// SAFETY: it owns its memory as a vector does.
unsafe impl Send for Chunk {}

/// A zeroed block of this size, less than a huge page; `None` if the kernel refuses.
pub(super) fn zeroed(bytes: usize) -> Option<NonNull<u8>> {
    let parts = bytes.div_ceil(PART);
    let mut chunks = lock();
    let found = chunks.iter_mut().find_map(|chunk| chunk.take(parts));
    let (block, written) = match found {
        Some(found) => found,
        None => {
            let mut chunk = Chunk { base: mapped::map(CHUNK)?, used: 0, written: 0 };
            let taken = chunk.take(parts)?;
            chunks.push(chunk);
            taken
        }
    };
    drop(chunks);
    if written {
        // SAFETY: the block is the caller's alone from now on, and has at least this size.
        unsafe { block.write_bytes(0, bytes) };
    }
    Some(block)
}

/// Gives back a block.
///
/// # Safety
/// It came from [`zeroed`] with this size, and nobody uses it any more.
pub(super) unsafe fn give_back(block: NonNull<u8>, bytes: usize) {
    let parts = bytes.div_ceil(PART);
    let mut chunks = lock();
    let found = chunks.iter().enumerate().find_map(|(index, chunk)| Some((index, chunk.first_part_of(block)?)));
    let (index, first) = found.expect("a block lies in one of the chunks");
    chunks[index].used &= !(ones(parts) << first);
    if chunks[index].used == 0 {
        let Chunk { base, .. } = chunks.swap_remove(index);
        drop(chunks);
        // SAFETY: it was mapped with this size, and, as all callers promise, nobody uses any of it or knows of it any more.
        unsafe { mapped::unmap(base, CHUNK) };
    }
}

fn lock() -> MutexGuard<'static, Vec<Chunk>> {
    CHUNKS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A number whose `count` lowest bits are set.
fn ones(count: usize) -> u128 {
    u128::MAX >> (u128::BITS as usize - count)
}

impl Chunk {
    /// A block of this number of parts, if there is room, and whether any of it was used before.
    fn take(&mut self, parts: usize) -> Option<(NonNull<u8>, bool)> {
        let all = u128::BITS as usize;
        let first = (0..=all - parts).find(|&first| self.used & ones(parts) << first == 0)?;
        let bits = ones(parts) << first;
        let written = self.written & bits != 0;
        self.used |= bits;
        self.written |= bits;
        // SAFETY: `first` is the number of a part of the chunk.
        Some((unsafe { self.base.add(first * PART) }, written))
    }

    /// The first part of a block, if it lies in this chunk.
    fn first_part_of(&self, block: NonNull<u8>) -> Option<usize> {
        let offset = block.addr().get().checked_sub(self.base.addr().get())?;
        (offset < CHUNK).then_some(offset / PART)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toy::Random;

    /// Blocks come and go in threads; each is zero when it comes, and nobody else writes to it.
    #[test]
    fn a_block_is_zero_and_its_owners_alone() {
        let work = |seed: u64| {
            let mut random = Random::new(seed);
            let mut blocks: Vec<(NonNull<u8>, usize, u8)> = Vec::new();
            for round in 0..400 {
                let bytes = random.next_u64() as usize % (HUGE - 1) + 1;
                let block = zeroed(bytes).expect("memory for some blocks");
                // SAFETY: the block is this thread's own, and has this size.
                let content = unsafe { std::slice::from_raw_parts_mut(block.as_ptr(), bytes) };
                assert!(content.iter().all(|&byte| byte == 0));
                let mark = (seed * 50 + round % 50) as u8 | 1;
                content.fill(mark);
                blocks.push((block, bytes, mark));
                while blocks.len() > random.next_u64() as usize % 16 {
                    let (block, bytes, mark) = blocks.swap_remove(random.next_u64() as usize % blocks.len());
                    // SAFETY: as above.
                    let content = unsafe { std::slice::from_raw_parts(block.as_ptr(), bytes) };
                    assert!(content.iter().all(|&byte| byte == mark));
                    // SAFETY: it came from there, and is not used below.
                    unsafe { give_back(block, bytes) };
                }
            }
            for (block, bytes, _) in blocks {
                // SAFETY: as above.
                unsafe { give_back(block, bytes) };
            }
        };
        std::thread::scope(|scope| {
            for seed in 0..3 {
                scope.spawn(move || work(seed));
            }
        });
    }
}
