//! How many essentially different executions a model has: exact counts, single executions by their number, samples.
//!
//! Two executions are *equivalent* if one becomes the other by exchanging neighbouring steps that were both possible
//! and are independent (Mazurkiewicz traces; [`Independence`] says what is independent). The nodes of the graph
//! explored here are pairs of a state and a *sleep set* (Godefroid, *Partial-Order Methods for the Verification of
//! Concurrent Systems*, LNCS 1032, chapter 5): the steps whose executions were listed at an earlier alternative.
//!
//! ```text
//! ways(s, Z):  for each step e of s, in order, e ∉ Z:      -- all steps of s, or those of a source set
//!                yield e with (after e, {z ∈ Z : z and e are independent});  Z := Z ∪ {e}
//! count(s, Z) = 1 if nothing is possible in s, else Σ count over ways(s, Z)
//! ```
//!
//! Each class of equivalent executions is exactly one path of this graph that does not end asleep, so that counting,
//! the n-th execution and uniform samples are passes over it: a way behind which the count is 0 is never entered,
//! which is the optimal enumeration with an oracle of Herbreteau, Larroze-Jardiné, Point, Walukiewicz (CONCUR 2025). A step
//! that is followed by transient states is judged as a whole at its start: in between, sleep sets stay as they are.

mod commute;
#[cfg(test)]
mod commute_tests;
mod count;
mod expand;
mod list;
mod numbers;
mod sleep_sets;
mod stateless;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod toy;
mod tree;

pub use commute::{Agreement, EventGraph, Meeting, MoversOf, NotExplored, explore_events};
pub use count::{Cycle, Ended, Explored, Statistics, explore};
pub use expand::End;
pub use list::{Execution, Executions};
pub use numbers::{Kind, Numbers};
pub use stateless::{
    Dependence, Footprint, Message, Met, Method, Stateless, StatelessSettings, Traffic, explore_stateless,
};
pub use tree::{Branch, Then};

use crate::model::Model;
use fabius_base::{Cancel, Limits};
use numbers::Nodes;
use sleep_sets::SleepSets;

/// A model that says which of its steps are independent of each other.
///
/// The relation is about *first steps* of ordinary states: where a first step leads to transient states, it stands for
/// all that may follow until the next ordinary state. It must be symmetric, and where two independent steps are both
/// possible, each stays possible after the other, and both orders lead to the same state.
pub trait Independence: Model {
    /// A name for a step among those of a state, which stays the same while independent steps are taken, unless
    /// [`Independence::carry`] changes it; `None` if it has none.
    fn name_of(&mut self, state: &[u32], label: &Self::Label) -> Option<u32>;

    /// Removes the steps that are not independent of `step` from a list of names. All are possible in `state`.
    fn retain_independent(&mut self, state: &[u32], step: u32, names: &mut Vec<u32>);

    /// Lets a cursor that has listed nothing yet leave out steps that are asleep, as many as it is cheap to leave out. All that
    /// are asleep are possible in the state, which is an ordinary one; what is listed is listed in the same order.
    fn leave_out(&mut self, _state: &[u32], _cursor: &mut Self::Cursor, _asleep: &[u32]) {}

    /// Changes names of steps, all of them possible in a state, and keys of loops ([`Independence::laps_of`]; each is followed by
    /// how often it was met) to those that they have after the transition that was listed last. The order of neither changes;
    /// keys of processes that are gone are removed.
    fn carry(&mut self, _names: &mut [u32], _laps: &mut Vec<u32>) {}

    /// Writes what distinguishes a state in which executions end from others; false if that is all of the state but its hidden
    /// words.
    fn write_outcome(&mut self, _state: &[u32], _outcome: &mut Vec<u32>) -> bool {
        false
    }

    /// Whether the successors listed now are possible only because no other step was: then they are independent of nothing.
    fn is_last_resort(&self, cursor: &Self::Cursor) -> bool;

    /// Whether a step that leads back to the same state is waiting, and so no step at all. If it is, it leads back to
    /// every state in which it is possible, unless the model's own state (not that of others) says otherwise.
    fn is_waiting(&mut self, label: &Self::Label) -> bool;

    /// For a step and for the process that takes part in it: a key if what it begins may close a loop of its process.
    /// Every infinite execution takes steps with one of these keys again and again.
    fn laps_of(&mut self, state: &[u32], label: &Self::Label) -> [Option<u32>; 2];

    /// Whether it is known of a step that cannot be computed that it ends executions, so that it is independent of
    /// nothing.
    fn ends_executions(&self, label: &Self::Label) -> bool;
}

/// How a graph is explored.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Without sleep sets, every interleaving counts.
    pub all_interleavings: bool,
    /// Executions are cut off after this many steps of ordinary states.
    pub steps_max: Option<u32>,
    /// A step that may close a loop is taken at most this many times by each process, see [`Independence::laps_of`]; an
    /// execution that cannot go on because of that is cut off.
    pub laps_max: Option<u32>,
    /// How much it may use; the depth is not limited.
    pub limits: Limits,
    /// Whoever raises this stops it.
    pub cancel: Cancel,
}

/// A graph that was explored, with the numbers of executions behind each node.
#[derive(Debug)]
pub struct Graph<S> {
    store: S,
    sets: SleepSets,
    nodes: Nodes,
    root: Numbers,
    rules: Rules,
}

/// What counts as an execution.
#[derive(Clone, Copy, Debug)]
struct Rules {
    all_interleavings: bool,
    steps_max: Option<u32>,
    laps_max: Option<u32>,
}

impl Settings {
    fn rules(&self) -> Rules {
        let Self { all_interleavings, steps_max, laps_max, .. } = *self;
        Rules { all_interleavings, steps_max, laps_max }
    }
}

impl<S> Graph<S> {
    /// The numbers of executions.
    pub fn numbers(&self) -> Numbers {
        self.root
    }
}
