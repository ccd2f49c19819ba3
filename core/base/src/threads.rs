//! What has to be there before a thread begins.

use std::hint::black_box;

/// More than a thread takes to begin: its stack and what the C library keeps for it.
const BEGIN_BYTES: usize = 4 << 20;

/// Asks for the memory that a thread takes to begin, and gives it back.
///
/// Where there is no memory for what the C library keeps of a new thread, it ends the program; the allocator of the program, which is
/// asked here, knows what else to do.
pub fn reserve_thread() {
    drop(black_box(Vec::<u8>::with_capacity(BEGIN_BYTES)));
}
