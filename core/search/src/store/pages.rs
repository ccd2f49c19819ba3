//! Zeroed memory for big tables.
//!
//! A table that is asked for random keys spends much of its time in address translation unless its
//! pages are huge, and the allocator neither asks for huge pages nor gives a big block back at once.
//! On Linux, blocks of some size therefore come straight from the kernel; elsewhere, and for small
//! ones, a plain vector does.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::AtomicU64;

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

// SAFETY: any bits are a value of an atomic number; what is shared is changed only through its methods.
unsafe impl Plain for AtomicU64 {}
// SAFETY: as for its elements; it has no padding.
unsafe impl Plain for SharedLine {}

/// Eight words that lie in one cache line, and that threads may change at the same time.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub struct SharedLine(pub [AtomicU64; 8]);

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
pub struct Pages<T: Plain>(Memory<T>);

#[derive(Debug)]
enum Memory<T: Plain> {
    Small(Box<[T]>),
    #[cfg(target_os = "linux")]
    Mapped(mapped::Mapping<T>),
}

impl<T: Plain> Pages<T> {
    /// An array of `len` zeros.
    pub fn zeroed(len: usize) -> Self {
        #[cfg(target_os = "linux")]
        if let Some(mapping) = mapped::Mapping::zeroed(len) {
            return Self(Memory::Mapped(mapping));
        }
        Self(Memory::Small(std::iter::repeat_with(T::default).take(len).collect()))
    }

    /// Its size.
    pub fn memory_bytes(&self) -> u64 {
        size_of_val::<[T]>(self) as u64
    }
}

impl<T: Plain> Default for Pages<T> {
    fn default() -> Self {
        Self(Memory::Small(Box::default()))
    }
}

impl<T: Plain> Deref for Pages<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        match &self.0 {
            Memory::Small(slice) => slice,
            #[cfg(target_os = "linux")]
            Memory::Mapped(mapping) => mapping,
        }
    }
}

impl<T: Plain> DerefMut for Pages<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        match &mut self.0 {
            Memory::Small(slice) => slice,
            #[cfg(target_os = "linux")]
            Memory::Mapped(mapping) => mapping,
        }
    }
}

#[cfg(target_os = "linux")]
mod mapped {
    use super::Plain;
    use std::ops::{Deref, DerefMut};
    use std::ptr::{self, NonNull};

    /// Blocks below this come from the allocator.
    const BYTES_MIN: usize = 1 << 18;
    /// Size and alignment of a huge page.
    const HUGE: usize = 2 << 20;

    /// Anonymous memory of the kernel's, owned.
    #[derive(Debug)]
    pub struct Mapping<T: Plain> {
        first: NonNull<T>,
        len: usize,
    }

    // SAFETY: it owns its memory as a vector does.
    unsafe impl<T: Plain + Send> Send for Mapping<T> {}
    // SAFETY: it hands out shared references only from shared references.
    unsafe impl<T: Plain + Sync> Sync for Mapping<T> {}

    impl<T: Plain> Mapping<T> {
        /// `len` zeros, or `None` if that is little or the kernel refuses.
        pub fn zeroed(len: usize) -> Option<Self> {
            let bytes = len.checked_mul(size_of::<T>())?;
            if bytes < BYTES_MIN || bytes > isize::MAX as usize / 2 {
                return None;
            }
            let slack = if bytes < HUGE { 0 } else { HUGE };
            let block = page_up(bytes);
            let mapped = block.checked_add(slack)?;
            // SAFETY: asks for fresh memory at an address of the kernel's choosing; nothing else is touched.
            let base = unsafe {
                libc::mmap(
                    ptr::null_mut(),
                    mapped,
                    libc::PROT_READ | libc::PROT_WRITE,
                    libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                    -1,
                    0,
                )
            };
            if base == libc::MAP_FAILED {
                return None;
            }
            let skipped = if slack == 0 { 0 } else { (base as usize).next_multiple_of(HUGE) - base as usize };
            // SAFETY: `skipped` < `slack`, or both are 0, so all ranges below lie in the fresh mapping,
            // of which nobody else knows; the pointer stays within it and is not null. Pages before and
            // after the block are given back; the advice changes no content, and its failure no meaning.
            unsafe {
                let first = base.cast::<u8>().add(skipped);
                if slack != 0 {
                    unmap(base.cast(), skipped);
                    unmap(first.add(block), slack - skipped);
                    libc::madvise(first.cast(), block, libc::MADV_HUGEPAGE);
                }
                Some(Self { first: NonNull::new(first.cast())?, len })
            }
        }
    }

    impl<T: Plain> Drop for Mapping<T> {
        fn drop(&mut self) {
            // SAFETY: the block was mapped by `zeroed`, and no reference to it outlives its owner.
            unsafe { unmap(self.first.as_ptr().cast(), page_up(self.len * size_of::<T>())) }
        }
    }

    impl<T: Plain> Deref for Mapping<T> {
        type Target = [T];

        #[inline]
        fn deref(&self) -> &[T] {
            // SAFETY: `len` elements from `first` are mapped and zero or written since, and any bits are a value.
            unsafe { std::slice::from_raw_parts(self.first.as_ptr(), self.len) }
        }
    }

    impl<T: Plain> DerefMut for Mapping<T> {
        #[inline]
        fn deref_mut(&mut self) -> &mut [T] {
            // SAFETY: as for `deref`, and the exclusive borrow of the owner excludes others.
            unsafe { std::slice::from_raw_parts_mut(self.first.as_ptr(), self.len) }
        }
    }

    /// Whole pages, whichever of the sizes in use (4 to 64 KiB) the kernel has.
    fn page_up(bytes: usize) -> usize {
        bytes.next_multiple_of(64 << 10)
    }

    /// # Safety
    /// The range is mapped, page-aligned at its start, and nobody uses it any more.
    unsafe fn unmap(start: *mut u8, bytes: usize) {
        if bytes != 0 {
            // SAFETY: promised by the caller.
            unsafe { libc::munmap(start.cast(), bytes) };
        }
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
