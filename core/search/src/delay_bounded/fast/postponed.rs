//! States that wait for a later round: F of the algorithm.

use super::state::Explore;
use crate::position::Position;
use crate::state_log::StateLog;
use crate::store::{Class, Store};

/// States that wait for more delays, each with its call of `explore` and the macro step to look at next.
pub(super) struct Postponed<State> {
    pub(super) calls: Vec<(Explore<State>, u32)>,
    pub(super) states: StateLog,
}

impl<State> Postponed<State> {
    pub(super) fn new(hidden: usize) -> Self {
        Self { calls: Vec::new(), states: StateLog::new(hidden) }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Adds the state that is both the position's state and its successor.
    pub(super) fn push<S: Store>(&mut self, store: &S, position: &Position, call: Explore<State>, macro_step: u32) {
        self.states.push(store, position, Class::Ordinary);
        self.calls.push((call, macro_step));
    }
}
