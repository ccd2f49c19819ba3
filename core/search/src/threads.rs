//! Threads that do a part of the work, as far as the system gives any.

use fabius_base::reserve_thread;
use std::thread::{Builder, Scope, ScopedJoinHandle};

/// Begins a thread; none if the system gives none.
pub(crate) fn begin<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Option<ScopedJoinHandle<'scope, T>> {
    #[cfg(test)]
    if tests::REFUSED.get() {
        return None;
    }
    reserve_thread();
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
