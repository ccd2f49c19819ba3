//! The traits a search is written against.

use std::fmt::Debug;

/// A transition system whose states are short sequences of 32-bit words.
///
/// Two states are the same if their *visible* words are: all but the last [`Model::hidden_words`].
/// States of different length are different.
///
/// Methods take `&mut self` because a model may keep scratch memory; they have no other effect.
pub trait Model {
    /// Names a transition; a path is a sequence of labels.
    type Label: Copy + PartialEq + Debug;
    /// Why a transition could not be computed, or what it violated.
    type Fault: Copy + PartialEq + Debug;
    /// How far the successors of a state have been listed. Small: one is kept per state on the stack.
    type Cursor: Copy;

    /// Words at the end of a state that do not distinguish it from others.
    fn hidden_words(&self) -> usize;

    /// Writes the initial state.
    ///
    /// # Errors
    /// A fault if the initial state cannot be computed.
    fn initial(&mut self, state: &mut Vec<u32>) -> Result<(), Self::Fault>;

    /// A cursor before the first successor.
    fn begin(&mut self, state: &[u32]) -> Self::Cursor;

    /// Writes the next successor of `state` into `successor` (whose old content is dropped) and moves
    /// the cursor past it. The order is the order in which a depth-first search explores.
    fn next(
        &mut self,
        state: &[u32],
        cursor: &mut Self::Cursor,
        successor: &mut Vec<u32>,
    ) -> Next<Self::Label, Self::Fault>;
}

/// What [`Model::next`] found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next<Label, Fault> {
    /// A successor was written.
    Successor {
        /// The transition; `None` if the state changed without one (an atomic sequence that blocked
        /// lost control). Such a change has no place in a path.
        label: Option<Label>,
        /// The successor is passed through, not stored and not counted.
        transient: bool,
        /// The transition violates something, but the search may go on.
        fault: Option<Fault>,
    },
    /// The transition cannot be computed; there is no successor.
    Broken {
        /// The transition.
        label: Label,
        /// Why.
        fault: Fault,
    },
    /// All successors have been listed.
    Done(Ending),
}

/// What is known of a state once all its successors are listed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// It has successors.
    Moves,
    /// It has none, and may stop there.
    ValidEnd,
    /// It has none, and may not stop there.
    InvalidEnd,
}
