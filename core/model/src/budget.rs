//! How much work goes into making a violation clearer once it is found.
//!
//! It is counted in transitions that the model lists, not in time: so what is shown does not depend on how busy the machine
//! is. Whoever asks for the check may end this work, like every search, at any time.

use crate::SearchedMachine;
use fabius_program::{Action, Move};
use fabius_search::{Model, Next, Statistics, visit_along};
use std::ops::ControlFlow;

/// A transition counts once, once more for each this many words of a state, …
const WORDS_PER_TRANSITION: u64 = 256;
/// … and once more for each this many steps within blocks, …
const BLOCK_STEPS_PER_TRANSITION: u64 = 4;
/// … as many as there are in the mean in the transitions of this many states on a path, or of fewer with this many such steps.
const SAMPLED_STATES: usize = 1_000;
/// See [`SAMPLED_STATES`].
const SAMPLED_STEPS: u64 = 1_000_000;

/// Simple steps that a search takes before it looks at what is left.
const STEPS_PER_LOOK: u64 = 1024;

/// Transitions that may still be listed.
#[derive(Clone, Debug)]
pub struct Budget {
    left: u64,
    /// What a transition counts.
    price: u64,
}

impl Budget {
    /// This many transitions, if they are simple and have small states, for searches of this machine.
    pub fn new(transitions_max: u64, machine: &mut SearchedMachine) -> Self {
        let mut state = Vec::new();
        // Where there is no initial state, no transition is listed.
        let words = machine.initial(&mut state).map_or(0, |()| state.len() as u64);
        Self { left: transitions_max, price: 1 + words / WORDS_PER_TRANSITION }
    }

    /// The same, where transitions may have blocks: as many steps of them as those along this path.
    pub fn near(transitions_max: u64, machine: &mut SearchedMachine, path: impl IntoIterator<Item = Move>) -> Self {
        let Self { left, price } = Self::new(transitions_max, machine);
        Self { left, price: price + block_steps(machine, path) / BLOCK_STEPS_PER_TRANSITION }
    }

    /// How many transitions may be listed.
    pub fn transitions(&self) -> u64 {
        self.left / self.price
    }

    /// After at most how many steps a search looks at what is left: fewer where they count more.
    pub fn steps_per_look(&self) -> u32 {
        (STEPS_PER_LOOK / self.price).clamp(1, STEPS_PER_LOOK) as u32
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

/// Steps within blocks that a transition takes, in the mean of those that the first states on a path have.
fn block_steps(machine: &mut SearchedMachine, path: impl IntoIterator<Item = Move>) -> u64 {
    let mut statements = machine.machine().program().processes.iter().flat_map(|process| &process.statements);
    if !statements.any(|statement| has_block(&statement.action)) {
        return 0;
    }
    let (mut states, mut steps, mut transitions) = (0, 0, 0);
    visit_along(machine, path, |machine, state| {
        let before = machine.machine().block_steps();
        transitions += count_transitions(machine, state);
        steps += machine.machine().block_steps() - before;
        states += 1;
        if states < SAMPLED_STATES && steps < SAMPLED_STEPS {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    });
    steps / transitions.max(1)
}

fn count_transitions(machine: &mut SearchedMachine, state: &[u32]) -> u64 {
    let (mut cursor, mut successor) = (machine.begin(state), Vec::new());
    let listing = std::iter::from_fn(|| match machine.next(state, &mut cursor, &mut successor) {
        Next::Successor { .. } | Next::Broken { .. } => Some(()),
        Next::Done(_) => None,
    });
    listing.count() as u64
}

fn has_block(action: &Action) -> bool {
    match action {
        Action::Block(_) => true,
        Action::Merged(parts) => parts.iter().any(has_block),
        _ => false,
    }
}

/// How many transitions a search has listed.
pub fn listed(statistics: &Statistics) -> u64 {
    statistics.transitions() + statistics.transient
}
