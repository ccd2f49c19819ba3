//! How much a reduction leaves out, learnt from the states that a search of the reduced model expands.

use super::{Plan, Reduced, ReducedCursor, Set};
use crate::SearchedMachine;
use fabius_program::{Move, meaning::Fault};
use fabius_search::{Model, Next, ProcessSet, Processes, Reducible};

/// What a reduction left out in the states that were expanded.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Extent {
    /// States that were expanded, transient ones aside.
    pub states: u64,
    /// Processes that could move in them.
    pub enabled: u64,
    /// Those of them whose steps were listed before the search was done with the state.
    pub chosen: u64,
}

impl Extent {
    /// How much of what makes a state lead to more than one other was left out, in per cent: of the processes that could move in a
    /// state beside one, those that were left out.
    pub fn left_out_percent(&self) -> u64 {
        let beside_one = self.enabled.saturating_sub(self.states);
        (100 * (self.enabled - self.chosen)).checked_div(beside_one).unwrap_or(0).min(100)
    }
}

/// A reduced model that counts what it leaves out, which takes longer than leaving it out.
pub struct Measured {
    model: Reduced,
    extent: Extent,
    enabled: ProcessSet,
}

impl Measured {
    /// Counts what a model leaves out.
    pub fn new(model: Reduced) -> Self {
        Self { model, extent: Extent::default(), enabled: ProcessSet::EMPTY }
    }

    /// What was left out so far.
    pub fn extent(&self) -> Extent {
        self.extent
    }

    /// How many processes can move in a state, and how many of these are chosen.
    fn movers(&mut self, state: &[u32], chosen: Set) -> (u64, u64) {
        self.model.enabled(state, &mut self.enabled);
        let is_chosen = |process: &u8| Set::BITS <= u32::from(*process) || chosen >> process & 1 != 0;
        (self.enabled.len() as u64, self.enabled.iter().filter(is_chosen).count() as u64)
    }
}

/// How much a plan leaves out in some of the states that a search has stored, in per cent; where it is the claim's turn, in the state
/// after it.
pub fn left_out_percent(machine: &SearchedMachine, plan: &Plan, states: &[Vec<u32>]) -> u64 {
    let mut measured = Measured::new(Reduced::of(machine.clone(), plan.clone()));
    let (mut state, mut after) = (Vec::new(), Vec::new());
    for visible in states {
        state.clone_from(visible);
        state.resize(visible.len() + measured.hidden_words(), 0);
        if machine.machine().is_claims_turn(&state) {
            let mut cursor = measured.model.begin(&state);
            if let Next::Successor { .. } = measured.model.next(&state, &mut cursor, &mut after) {
                std::mem::swap(&mut state, &mut after);
            }
        }
        measured.begin(&state);
    }
    measured.extent().left_out_percent()
}

impl Model for Measured {
    type Label = Move;
    type Fault = Fault;
    type Cursor = ReducedCursor;

    fn hidden_words(&self) -> usize {
        self.model.hidden_words()
    }

    fn initial(&mut self, state: &mut Vec<u32>) -> Result<(), Fault> {
        self.model.initial(state)
    }

    fn retrace(&mut self, begins: bool) {
        self.model.retrace(begins);
    }

    #[inline]
    fn is_for_later(&mut self, state: &[u32]) -> bool {
        self.model.is_for_later(state)
    }

    fn begin(&mut self, state: &[u32]) -> ReducedCursor {
        let cursor = self.model.begin(state);
        if !self.is_transient(state) {
            self.extent.states += 1;
            let (enabled, chosen) = self.movers(state, cursor.chosen);
            self.extent.enabled += enabled;
            self.extent.chosen += chosen;
        }
        cursor
    }

    fn next(&mut self, state: &[u32], cursor: &mut ReducedCursor, successor: &mut Vec<u32>) -> Next<Move, Fault> {
        self.model.next(state, cursor, successor)
    }
}

impl Reducible for Measured {
    fn is_transient(&self, state: &[u32]) -> bool {
        self.model.is_transient(state)
    }

    fn fully_expand(&mut self, state: &[u32], cursor: &mut ReducedCursor) -> bool {
        let (_, before) = self.movers(state, cursor.chosen);
        let expanded = self.model.fully_expand(state, cursor);
        let (_, after) = self.movers(state, cursor.chosen);
        self.extent.chosen += after - before;
        expanded
    }
}
