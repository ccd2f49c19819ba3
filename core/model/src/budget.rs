//! How much work goes into making a violation clearer once it is found.
//!
//! It is counted in transitions that the model lists, not in time: so what is shown does not depend on how busy the machine
//! is. Whoever asks for the check may end this work, like every search, at any time.

use crate::SearchedMachine;
use fabius_search::{Model, Statistics};

/// A transition counts once, and once more for each this many words of a state.
const WORDS_PER_TRANSITION: u64 = 256;

/// Transitions that may still be listed.
#[derive(Clone, Debug)]
pub struct Budget {
    left: u64,
    /// What a transition counts.
    price: u64,
}

impl Budget {
    /// This many transitions, if they have small states, for searches of this machine.
    pub fn new(transitions_max: u64, machine: &mut SearchedMachine) -> Self {
        let mut state = Vec::new();
        // Where there is no initial state, no transition is listed.
        let words = machine.initial(&mut state).map_or(0, |()| state.len() as u64);
        Self { left: transitions_max, price: 1 + words / WORDS_PER_TRANSITION }
    }

    /// How many transitions may be listed.
    pub fn transitions(&self) -> u64 {
        self.left / self.price
    }

    /// What is left, in transitions of small states.
    pub fn left(&self) -> u64 {
        self.left
    }

    /// Keeps only one of this many parts; returns the others.
    pub fn set_aside(&mut self, parts: u64) -> u64 {
        let aside = self.left - self.left / parts;
        self.left -= aside;
        aside
    }

    /// Adds what was set aside.
    pub fn put_back(&mut self, aside: u64) {
        self.left += aside;
    }

    /// Takes away what a search listed.
    pub fn spend(&mut self, transitions: u64) {
        self.left = self.left.saturating_sub(transitions.saturating_mul(self.price));
    }
}

/// How many transitions a search has listed.
pub fn listed(statistics: &Statistics) -> u64 {
    statistics.transitions() + statistics.transient
}
