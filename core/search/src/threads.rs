//! Threads that do a part of the work, as far as the system gives any.

use std::hint::black_box;
use std::thread::{Builder, Scope, ScopedJoinHandle};

/// More than a thread takes to begin: its stack and what the C library keeps for it.
const BEGIN_BYTES: usize = 4 << 20;

/// Begins a thread; none if the system gives none.
///
/// Where there is no memory for what the C library keeps of a new thread, it ends the program. So that memory is asked for in
/// advance, and given back: the allocator of the program knows what to do where there is none.
pub(crate) fn begin<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Option<ScopedJoinHandle<'scope, T>> {
    #[cfg(test)]
    if tests::REFUSED.get() {
        return None;
    }
    drop(black_box(Vec::<u8>::with_capacity(BEGIN_BYTES)));
    Builder::new().spawn_scoped(scope, work).ok()
}

#[cfg(test)]
pub(crate) mod tests {
    use std::cell::Cell;

    thread_local! {
        /// Whether this thread gets no others.
        pub(super) static REFUSED: Cell<bool> = const { Cell::new(false) };
    }

    /// Does something while the system gives this thread no others.
    pub(crate) fn without_threads<T>(work: impl FnOnce() -> T) -> T {
        REFUSED.set(true);
        let done = work();
        REFUSED.set(false);
        done
    }
}
