//! A model without processes: whose step it is does not matter where no scheduler chooses.

use crate::model::{Model, Next, ProcessSet, Processes};

/// A model all of whose moves are environment moves: they belong to no process.
pub(crate) struct EnvironmentMoves<'a, M>(pub(crate) &'a mut M);

impl<M: Model> Model for EnvironmentMoves<'_, M> {
    type Label = M::Label;
    type Fault = M::Fault;
    type Cursor = M::Cursor;

    fn hidden_words(&self) -> usize {
        self.0.hidden_words()
    }

    fn initial(&mut self, state: &mut Vec<u32>) -> Result<(), M::Fault> {
        self.0.initial(state)
    }

    fn begin(&mut self, state: &[u32]) -> M::Cursor {
        self.0.begin(state)
    }

    fn next(&mut self, state: &[u32], cursor: &mut M::Cursor, successor: &mut Vec<u32>) -> Next<M::Label, M::Fault> {
        self.0.next(state, cursor, successor)
    }
}

impl<M: Model> Processes for EnvironmentMoves<'_, M> {
    fn process_count(&self, _: &[u32]) -> usize {
        0
    }

    fn movers(&self, _: &M::Label) -> [Option<u8>; 2] {
        [None, None]
    }

    fn enabled(&mut self, _: &[u32], enabled: &mut ProcessSet) {
        *enabled = ProcessSet::EMPTY;
    }
}
