//! States that a search visits before others, because somebody asked for that while it runs.

use fabius_program::Expr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A condition on states: depth-first searches for violations of safety visit those in which it holds before others. Cloning shares it.
///
/// It can be set, changed and taken back at any time, since all states are visited in the end.
#[derive(Clone, Debug, Default)]
pub struct Preference(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    /// How often the condition was changed.
    version: AtomicU64,
    /// Some state had to wait for the condition that there is.
    is_heeded: AtomicBool,
    conditions: Mutex<Conditions>,
}

#[derive(Debug, Default)]
struct Conditions {
    condition: Option<(String, Expr)>,
    /// The last condition before it for which some state had to wait, as it was written.
    heeded_before: Option<String>,
}

impl Preference {
    /// From now on, searches prefer the states in which a condition holds (one that cannot be evaluated in a state does not hold there),
    /// given as it was written and for the program that is searched; none, if there is no condition.
    pub fn set(&self, condition: Option<(String, Expr)>) {
        let mut conditions = self.conditions();
        let before = std::mem::replace(&mut conditions.condition, condition);
        if self.0.is_heeded.swap(false, Ordering::Relaxed) {
            conditions.heeded_before = before.map(|(text, _)| text);
        }
        self.0.version.fetch_add(1, Ordering::Release);
    }

    /// The last condition for which some state had to wait, as it was written.
    pub fn heeded(&self) -> Option<String> {
        let conditions = self.conditions();
        let now = conditions.condition.as_ref().filter(|_| self.0.is_heeded.load(Ordering::Relaxed));
        now.map(|(text, _)| text.clone()).or_else(|| conditions.heeded_before.clone())
    }

    /// Another number after each change.
    #[inline]
    pub(crate) fn version(&self) -> u64 {
        self.0.version.load(Ordering::Acquire)
    }

    /// The condition, if there is one.
    pub(crate) fn condition(&self) -> Option<Expr> {
        self.conditions().condition.as_ref().map(|(_, condition)| condition.clone())
    }

    /// Takes note that a state had to wait.
    #[inline]
    pub(crate) fn heed(&self) {
        self.0.is_heeded.store(true, Ordering::Relaxed);
    }

    fn conditions(&self) -> MutexGuard<'_, Conditions> {
        self.0.conditions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
