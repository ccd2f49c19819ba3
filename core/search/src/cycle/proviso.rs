//! The cycle proviso of partial-order reduction, apart from the searches that need it.
//!
//! A reduction may put off a transition in each state of a cycle, for ever: then what it does is never seen.
//! The proviso is that each cycle has a state that is expanded in full. A search that goes depth
//! first sees when a cycle closes, and then asks for the rest of the successors.
//!
//! This is a condition on the graph that is searched, which for a claim is the product: it is what the corrected
//! theorem needs of a search (Siegel, *What's Wrong with On-the-Fly Partial Order Reduction*, CAV 2019). What
//! the theorem needs beside, of the automaton of the claim, is not seen from here.

use crate::model::{Model, Reducible};

/// What becomes of successors that a model leaves out.
pub trait Proviso<M: Model> {
    /// Whether the model may leave any out.
    const REDUCES: bool;

    /// After all successors were listed: makes `cursor` list those left out. False if there were none.
    fn fully_expand(&mut self, model: &mut M, state: &[u32], cursor: &mut M::Cursor) -> bool;
}

/// For models that leave no successor out.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoReduction;

/// For models that do.
#[derive(Clone, Copy, Debug, Default)]
pub struct CycleProviso;

impl<M: Model> Proviso<M> for NoReduction {
    const REDUCES: bool = false;

    fn fully_expand(&mut self, _: &mut M, _: &[u32], _: &mut M::Cursor) -> bool {
        false
    }
}

impl<M: Reducible> Proviso<M> for CycleProviso {
    const REDUCES: bool = true;

    fn fully_expand(&mut self, model: &mut M, state: &[u32], cursor: &mut M::Cursor) -> bool {
        model.fully_expand(state, cursor)
    }
}
