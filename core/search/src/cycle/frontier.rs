//! States to start from, in the order of their arrival, and which state each was found from.

use crate::position::Position;
use crate::state_log::StateLog;
use crate::store::{Class, Store};

/// Number of a state that waits or waited; that of the initial state is 0.
pub(crate) type Seed = u32;

/// States that wait, and all that ever waited.
pub(crate) struct Frontier {
    states: StateLog,
    /// From which seed each was found.
    parents: Vec<Seed>,
    /// In strict order: the seed whose turn is next.
    next: usize,
    /// In the other order: the seeds that wait.
    newest: Option<Vec<Seed>>,
}

impl Frontier {
    /// An empty frontier. In strict order who came first is first, otherwise who came last.
    pub(crate) fn new(hidden: usize, strict: bool) -> Self {
        let newest = if strict { None } else { Some(Vec::new()) };
        Self { states: StateLog::new(hidden), parents: Vec::new(), next: 0, newest }
    }

    /// Adds the successor of the position, which was just put into the store. False if there is no room.
    pub(crate) fn push<S: Store>(&mut self, store: &S, position: &Position, class: Class, from: Seed) -> bool {
        let Ok(seed) = Seed::try_from(self.states.len()) else { return false };
        self.states.push(store, position, class);
        self.parents.push(from);
        if let Some(newest) = &mut self.newest {
            newest.push(seed);
        }
        true
    }

    /// Takes the next one that waits.
    pub(crate) fn take(&mut self) -> Option<Seed> {
        if let Some(newest) = &mut self.newest {
            return newest.pop();
        }
        let seed = self.next;
        self.next += usize::from(seed < self.states.len());
        (seed < self.states.len()).then_some(seed as Seed)
    }

    /// How many wait.
    pub(crate) fn waiting(&self) -> u64 {
        self.newest.as_ref().map_or(self.states.len() - self.next, Vec::len) as u64
    }

    /// Writes the state, and says of which class it is.
    pub(crate) fn recall<S: Store>(&self, store: &S, seed: Seed, state: &mut Vec<u32>) -> Class {
        self.states.recall(store, seed as usize, state)
    }

    /// Moves a position to the state, and says of which class it is; how the position was reached is forgotten.
    pub(crate) fn return_to<S: Store>(
        &mut self,
        store: &mut S,
        seed: Seed,
        position: &mut Position,
    ) -> (Class, S::Probe) {
        self.states.return_to(store, seed as usize, position)
    }

    /// The seeds on the way to this one, from the initial state on.
    pub(crate) fn ancestors(&self, seed: Seed) -> Vec<Seed> {
        let parent = |&seed: &Seed| (seed != 0).then(|| self.parents[seed as usize]);
        let mut seeds: Vec<Seed> = std::iter::successors(Some(seed), parent).collect();
        seeds.reverse();
        seeds
    }

    pub(crate) fn memory_bytes(&self) -> u64 {
        let waiting = self.newest.as_deref().map_or(0, size_of_val::<[Seed]>);
        self.states.memory_bytes() + (size_of_val::<[Seed]>(&self.parents) + waiting) as u64
    }
}
