//! Atomic numbers and locks of the visited sets that threads share: those of the standard library.
//!
//! In tests with `--cfg loom` they are those of loom: it executes a test in many orders of the threads' steps, and lets each load return
//! every value that the memory model of C11 allows. Tests that it executes stand in modules named `orders`, and share
//! [small](LOOM) tables, since each number that threads read multiplies the orders.
//!
//! Not every order is executed: of the accesses to a number loom remembers the last one only, so that it does not come back to a load if
//! the other thread loads the number, too, before it changes it. [`together`] lets each of two threads be the first one, which makes
//! up for that where one thread is done before the other begins. `SeqCst` is taken for `AcqRel`.

#[cfg(all(test, loom))]
pub(crate) use loom::sync::{Mutex, RwLock, RwLockReadGuard, atomic::AtomicBool, atomic::AtomicU32, atomic::AtomicU64};
#[cfg(not(all(test, loom)))]
pub(crate) use std::sync::{
    Mutex, OnceLock, RwLock, RwLockReadGuard, atomic::AtomicBool, atomic::AtomicU32, atomic::AtomicU64,
};

/// Whether loom executes the tests.
pub(crate) const LOOM: bool = cfg!(all(test, loom));

/// The value of a number that its caller has for itself.
#[inline]
pub(crate) fn get(number: &mut AtomicU64) -> u64 {
    #[cfg(all(test, loom))]
    return number.with_mut(|value| *value);
    #[cfg(not(all(test, loom)))]
    *number.get_mut()
}

/// Changes a number that its caller has for itself.
#[inline]
pub(crate) fn set(number: &mut AtomicU64, value: u64) {
    #[cfg(all(test, loom))]
    number.with_mut(|old| *old = value);
    #[cfg(not(all(test, loom)))]
    {
        *number.get_mut() = value;
    }
}

/// What two threads return that do something with the same thing at the same time, in every order; `check` is called after each.
#[cfg(all(test, loom))]
pub(crate) fn together<T, R, A>(
    builder: &loom::model::Builder,
    make: impl Fn() -> T + Clone + Send + Sync + 'static,
    work: fn(&T, A) -> R,
    [first, second]: [A; 2],
    check: impl Fn(T, [R; 2]) + Clone + Send + Sync + 'static,
) where
    T: Send + Sync + 'static,
    R: Send + 'static,
    A: Copy + Send + Sync + 'static,
{
    use std::sync::Arc;
    for (first, second) in [(first, second), (second, first)] {
        let (make, check) = (make.clone(), check.clone());
        builder.check(move || {
            let shared = Arc::new(make());
            let threads = [first, second].map(|argument| {
                let shared = Arc::clone(&shared);
                loom::thread::spawn(move || work(&shared, argument))
            });
            let results = threads.map(|thread| thread.join().expect("a thread that ends"));
            check(Arc::into_inner(shared).expect("the threads ended"), results);
        });
    }
}

#[cfg(all(test, loom))]
pub(crate) use once::OnceLock;

/// Loom has no `OnceLock`.
#[cfg(all(test, loom))]
mod once {
    use super::{AtomicBool, Mutex};
    use std::sync::{PoisonError, atomic::Ordering};

    /// A value that is written once: whoever finds it there sees what was done before it was written.
    #[derive(Debug, Default)]
    pub(crate) struct OnceLock<T> {
        value: std::sync::OnceLock<T>,
        is_there: AtomicBool,
        writing: Mutex<()>,
    }

    impl<T> OnceLock<T> {
        pub(crate) fn new() -> Self {
            Self { value: std::sync::OnceLock::new(), is_there: AtomicBool::new(false), writing: Mutex::new(()) }
        }

        pub(crate) fn get(&self) -> Option<&T> {
            self.value.get().filter(|_| self.is_there.load(Ordering::Acquire))
        }

        pub(crate) fn get_mut(&mut self) -> Option<&mut T> {
            self.value.get_mut()
        }

        pub(crate) fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
            if let Some(value) = self.get() {
                return value;
            }
            let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
            let value = self.value.get_or_init(make);
            self.is_there.store(true, Ordering::Release);
            value
        }
    }
}
