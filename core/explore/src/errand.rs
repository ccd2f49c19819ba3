//! A search from where one is: what it needs, to be taken to another thread.

use crate::Exploration;
use fabius_engine::{Ground, Loaded, Onward, Settings, Surroundings, onward};
use fabius_program::Move;
use std::sync::Arc;

/// Everything that a search from a state needs.
#[derive(Clone, Debug)]
pub struct Errand {
    loaded: Arc<Loaded>,
    ground: Ground,
    path: Vec<Move>,
    held: Vec<u8>,
}

impl Exploration {
    /// A search from the present state for a violation of the property, while the processes that are held do not move.
    pub fn errand(&self) -> Errand {
        Errand {
            loaded: Arc::clone(self.loaded()),
            ground: self.ground().clone(),
            path: self.path(self.here()),
            held: self.held(),
        }
    }
}

impl Errand {
    /// Searches. Of the settings, limits, fairness and how cycles are looked for matter.
    ///
    /// # Errors
    /// If it cannot be searched, in a sentence.
    pub fn run(&self, settings: &Settings, around: &mut Surroundings<'_>) -> Result<Onward, String> {
        onward(&self.loaded, &self.ground, &self.path, &self.held, settings, around)
    }
}
