//! Cycles of transient states only, as livelocks.
//!
//! Such a cycle is an atomic sequence that goes on for ever. Neither a claim nor a mark sees anything of it, so that a search for cycles of
//! another kind says nothing about the runs that stay in one.

use crate::model::{Marks, Model, Next};

/// A model in which exactly the transitions to ordinary states make progress: its livelocks are the cycles of transient states. No
/// transition is faulty; those that cannot be computed are left out.
#[derive(Clone, Debug)]
pub struct TransientCycles<M> {
    model: M,
}

impl<M> TransientCycles<M> {
    /// The same states and transitions, with these marks.
    pub fn new(model: M) -> Self {
        Self { model }
    }
}

impl<M: Model> Model for TransientCycles<M> {
    type Label = M::Label;
    type Fault = M::Fault;
    type Cursor = M::Cursor;

    fn hidden_words(&self) -> usize {
        self.model.hidden_words()
    }

    fn initial(&mut self, state: &mut Vec<u32>) -> Result<(), M::Fault> {
        self.model.initial(state)
    }

    fn retrace(&mut self, begins: bool) {
        self.model.retrace(begins);
    }

    fn begin(&mut self, state: &[u32]) -> M::Cursor {
        self.model.begin(state)
    }

    fn next(&mut self, state: &[u32], cursor: &mut M::Cursor, successor: &mut Vec<u32>) -> Next<M::Label, M::Fault> {
        loop {
            match self.model.next(state, cursor, successor) {
                Next::Successor { label, transient, .. } => {
                    let marks = if transient { Marks::NONE } else { Marks::PROGRESS };
                    return Next::Successor { label, transient, fault: None, marks };
                }
                Next::Broken { .. } => {}
                done @ Next::Done(_) => return done,
            }
        }
    }
}
