//! States at which a search stops: it does not go on from them, because somebody asked for that, before it began or while it runs.

use fabius_program::Expr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// A condition on states; a search does not go on from those in which it holds. Cloning shares it.
///
/// A condition can be set once, at any time: what a search left out it could not make up for if the condition were taken back.
#[derive(Clone, Debug, Default)]
pub struct Boundary {
    condition: Arc<OnceLock<(String, Expr)>>,
    was_met: Arc<AtomicBool>,
}

impl Boundary {
    /// The states in which a condition holds; one that cannot be evaluated in a state does not hold there.
    pub fn at(text: &str, condition: Expr) -> Self {
        let known = OnceLock::from((text.to_owned(), condition));
        Self { condition: Arc::new(known), was_met: Arc::default() }
    }

    /// The same condition for a search that has not met it.
    #[must_use]
    pub fn for_search(&self) -> Self {
        Self { condition: Arc::clone(&self.condition), was_met: Arc::default() }
    }

    /// From now on, searches do not go on from states in which the condition of another boundary for the same program holds. Whether
    /// there was no condition before: otherwise the one that there is stays.
    pub fn adopt(&self, other: &Self) -> bool {
        let condition = other.condition.get().cloned();
        condition.is_some_and(|condition| self.condition.set(condition).is_ok())
    }

    /// The condition as it was written, if there is one.
    pub fn text(&self) -> Option<&str> {
        self.condition.get().map(|(text, _)| text.as_str())
    }

    /// The condition, if there is one.
    #[inline]
    pub(crate) fn condition(&self) -> Option<&Expr> {
        self.condition.get().map(|(_, condition)| condition)
    }

    /// Takes note that the condition held in a state.
    pub(crate) fn meet(&self) {
        self.was_met.store(true, Ordering::Relaxed);
    }

    /// The condition, if it held in some state from which a search would have gone on.
    pub fn met(&self) -> Option<&str> {
        self.text().filter(|_| self.was_met.load(Ordering::Relaxed))
    }
}
