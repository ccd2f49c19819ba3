//! Memory that comes straight from the kernel.

use super::{LOOM, Plain, chunks};
use std::ptr::{self, NonNull};

/// Blocks below this come from the allocator.
const BYTES_MIN: usize = if LOOM { usize::MAX } else { 1 << 17 };
/// Size and alignment of a huge page.
pub(super) const HUGE: usize = 2 << 20;

/// `len` zeros, or `None` if that is little or the kernel refuses.
pub(super) fn zeroed<T: Plain>(len: usize) -> Option<NonNull<[T]>> {
    let bytes = len.checked_mul(size_of::<T>())?;
    if bytes < BYTES_MIN || bytes > isize::MAX as usize / 2 {
        return None;
    }
    let first = if bytes < HUGE { chunks::zeroed(bytes)? } else { map(page_up(bytes))? };
    Some(NonNull::slice_from_raw_parts(first.cast(), len))
}

/// Gives a block back.
///
/// # Safety
/// It came from [`zeroed`], and nobody uses it any more.
pub(super) unsafe fn give_back<T: Plain>(slice: NonNull<[T]>) {
    let bytes = slice.len() * size_of::<T>();
    if bytes < HUGE {
        // SAFETY: promised by the caller.
        unsafe { chunks::give_back(slice.cast(), bytes) };
    } else {
        // SAFETY: promised by the caller; the block was mapped in whole pages.
        unsafe { unmap(slice.cast(), page_up(bytes)) }
    }
}

/// A zeroed block of this size, in whole pages and at least a huge one, aligned to huge pages.
pub(super) fn map(bytes: usize) -> Option<NonNull<u8>> {
    let mapped = bytes.checked_add(HUGE)?;
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
    let base = NonNull::new(base.cast::<u8>())?;
    let skipped = base.addr().get().next_multiple_of(HUGE) - base.addr().get();
    // SAFETY: `skipped` < `HUGE`, so all ranges lie in the fresh mapping, of which nobody else knows. Pages before and after the
    // block are given back; the advice changes no content, and its failure no meaning.
    unsafe {
        let first = base.add(skipped);
        unmap(base, skipped);
        unmap(first.add(bytes), HUGE - skipped);
        libc::madvise(first.as_ptr().cast(), bytes, libc::MADV_HUGEPAGE);
        Some(first)
    }
}

/// Whole pages, whichever of the sizes in use (4 to 64 KiB) the kernel has.
fn page_up(bytes: usize) -> usize {
    bytes.next_multiple_of(64 << 10)
}

/// # Safety
/// The range is mapped, page-aligned at its start, and nobody uses it any more.
pub(super) unsafe fn unmap(start: NonNull<u8>, bytes: usize) {
    if bytes != 0 {
        // SAFETY: promised by the caller.
        unsafe { libc::munmap(start.as_ptr().cast(), bytes) };
    }
}
