//! Zeroed memory for big tables.
//!
//! A table that is asked for random keys spends much of its time in address translation unless its
//! pages are huge, and the allocator neither asks for huge pages nor gives a big block back at once.
//! On Linux, blocks of some size therefore come straight from the kernel, those below a huge page as parts of a larger
//! one; elsewhere, and for small ones, a plain vector does.

#[cfg(target_os = "linux")]
mod chunks;
#[cfg(target_os = "linux")]
mod mapped;

use crate::sync::{AtomicU32, AtomicU64, LOOM};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// Element types for which all bits zero is a value, the default one, and which need no destructor.
///
/// # Safety
/// Implemented only for types that any bit pattern is a value of.
pub unsafe trait Plain: Default {}
// SAFETY: every bit pattern is a value.
unsafe impl Plain for u32 {}
// SAFETY: every bit pattern is a value.
unsafe impl Plain for u64 {}
// SAFETY: as for its elements; it has no padding.
unsafe impl Plain for Line {}

/// Eight words that lie in one cache line.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C, align(64))]
pub struct Line(pub [u64; 8]);

// SAFETY: as for its elements; it has no padding.
unsafe impl Plain for HalfLine {}

/// Sixteen half words that lie in one cache line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub struct HalfLine(pub [u32; 16]);

// SAFETY: any bits are a value of an atomic number; what is shared is changed only through its methods. That is not so of the numbers
// of loom, of which all arrays come from the allocator, written.
unsafe impl Plain for AtomicU64 {}
// SAFETY: as above.
unsafe impl Plain for AtomicU32 {}
// SAFETY: as for its elements; it has no padding.
unsafe impl Plain for SharedLine {}

/// Eight words that lie in one cache line, and that threads may change at the same time.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub struct SharedLine(pub [AtomicU64; SharedLine::WORDS]);

impl SharedLine {
    /// Words of a line.
    pub const WORDS: usize = if LOOM { 2 } else { 8 };
}

/// Tells the processor that `line` will be needed soon.
#[inline]
pub fn prefetch<T>(line: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the instruction is part of the architecture's baseline and reads nothing the program sees.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(std::ptr::from_ref(line).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = line;
}

/// A zeroed array of fixed length.
#[derive(Debug)]
pub struct Pages<T: Plain> {
    /// Owned; found without asking who gave it.
    slice: NonNull<[T]>,
    giver: Giver,
}

/// Who gave the memory, and gets it back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Giver {
    Allocator,
    #[cfg(target_os = "linux")]
    Kernel,
}

// SAFETY: it owns its memory as a vector does.
unsafe impl<T: Plain + Send> Send for Pages<T> {}
// SAFETY: it hands out shared references only from shared references.
unsafe impl<T: Plain + Sync> Sync for Pages<T> {}

impl<T: Plain> Pages<T> {
    /// An array of `len` zeros.
    pub fn zeroed(len: usize) -> Self {
        #[cfg(target_os = "linux")]
        if let Some(slice) = mapped::zeroed(len) {
            return Self { slice, giver: Giver::Kernel };
        }
        let boxed: Box<[T]> = std::iter::repeat_with(T::default).take(len).collect();
        Self { slice: NonNull::from(Box::leak(boxed)), giver: Giver::Allocator }
    }

    /// Its size.
    pub fn memory_bytes(&self) -> u64 {
        size_of_val::<[T]>(self) as u64
    }
}

impl<T: Plain> Drop for Pages<T> {
    fn drop(&mut self) {
        match self.giver {
            // SAFETY: the slice was leaked from a box, and nobody else has it.
            Giver::Allocator => drop(unsafe { Box::from_raw(self.slice.as_ptr()) }),
            // SAFETY: the slice was mapped, and no reference to it outlives its owner.
            #[cfg(target_os = "linux")]
            Giver::Kernel => unsafe { mapped::give_back(self.slice) },
        }
    }
}

impl<T: Plain> Default for Pages<T> {
    fn default() -> Self {
        Self::zeroed(0)
    }
}

impl<T: Plain> Deref for Pages<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: the slice is this array's own as long as there is one, all of it is initialised, and any bits are a value.
        unsafe { self.slice.as_ref() }
    }
}

impl<T: Plain> DerefMut for Pages<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as for `deref`, and the exclusive borrow of the owner excludes others.
        unsafe { self.slice.as_mut() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_zero_and_keeps_what_is_written_whatever_its_size() {
        for len in [0_usize, 1, 1000, 1 << 15, (1 << 15) + 1, 1 << 18, (1 << 18) + 12345, 3_000_001] {
            let mut pages = Pages::<u64>::zeroed(len);
            assert_eq!(pages.len(), len);
            assert!(pages.iter().all(|&word| word == 0));
            for (i, word) in pages.iter_mut().enumerate() {
                *word = i as u64;
            }
            assert!(pages.iter().enumerate().all(|(i, &word)| word == i as u64));
        }
    }
}
