//! Counting executions without a table of nodes: sleep sets alone, Source-DPOR and Optimal-DPOR. (A bounded number of states is
//! remembered with their steps; what is explored does not depend on it.)
//!
//! Source-DPOR and Optimal-DPOR are from Abdulla, Aronis, Jonsson, Sagonas, *Source Sets: A Foundation for Optimal Dynamic
//! Partial Order Reduction* (J. ACM 64(4), 2017). That paper assumes that a step which is possible stays possible until
//! it is taken; here steps block, so a run may hold no pair of events whose exchange leads to another execution
//! (it never shows the step that was kept from happening). Therefore races are looked for among *conflicting extensions*
//! instead (Rodríguez, Sousa, Sharma, Kroening, *Unfolding-Based Partial Order Reduction*, CONCUR 2015): steps that are
//! possible after a part of a run, and depend on something that comes later in it. Alternatives of a process and partners
//! of a rendezvous are conflicting extensions like any other.
//! (Parsimonious search, Abdulla, Atig, Das, Jonsson, Sagonas, CAV 2024, would need less memory than wakeup trees. It reverses
//! a race once, as soon as it is met; the argument below is about whole runs. Here a race is passed over if its event, and what is
//! concurrent with it later, are those of an earlier run through the same node: its parts would be the same.)
//!
//! ```text
//! explore(E, sleep, back or tree):                      -- E: a run, as a stack of nodes
//!   no step is possible after E: E is an execution;  races(E);  return
//!   every step is asleep: redundant;  races(E), with source sets;  return
//!   sleep sets:    back := all steps
//!   source sets:   back := some step awake              -- races adds to it
//!   wakeup trees:  tree := some step awake, unless E was entered with a tree     -- races adds to it
//!   for each e in back, or first branch e of the tree, e ∉ sleep, in this order:
//!     explore(E·e, {z ∈ sleep : z and e are independent}, subtree of e);  sleep += e
//!
//! races(E):  for each event e of E:
//!   E' := E before e;  K := events of E after e that do not happen after e, or fewer: see `cuts`
//!   for each step m ≠ e that is possible after E'·K and depends on e:
//!     source sets:   v := what happens before m in K, then m
//!                    no step that can come first in v is in back(E') or asleep there: add one of them to back(E')
//!     wakeup trees:  v := K·m;  no weak initial of v is asleep at E': insert(v, tree(E'))
//!
//! insert(v, tree):  the first branch b of the tree that is a weak initial of v:
//!   none: append v as a chain;   b is a leaf: nothing;   otherwise insert(v without b, subtree of b)
//! weak initial of v: it comes in v with nothing before it there, or it is independent of all of v
//! ```
//!
//! Why nothing is lost with wakeup trees: let `w` be an execution from a node `E` none of whose first steps was explored or is
//! asleep there in the end. Of the steps explored or asleep at `E` take the one, `p`, for which the first event `x` of `w`
//! that depends on it comes latest in `w`; if there are several, the one explored first. Let `E'` be the node where it was
//! explored. Everything asleep there before `p` depends on something before `x`, so that behind `E'·p` an execution was
//! explored that contains all of `w` before `x`. There `x` is a conflicting extension, and `v` contains all of `w` up to `x`, so no
//! weak initial of `v` is asleep at `E'`, and a branch for `v` is inserted. Whatever is explored in its place at `E` is a first step of
//! `w` or independent of `w` up to `x`, which contradicts the choice of `p`.
//!
//! That `x` is met among the steps after parts of a run needs more care where the footprint of a step depends on the state: after more
//! than `w` up to `x`, the step may touch something else, and not depend on `p`. Then every event of a part is left out in turn on
//! which some step depends that is possible after it. Let `D` contain `w` up to `x`, and more events, of which some prevent
//! `x` or depend on it. If none of those more events prevents anything, or depends on a step that is possible after `D`, then
//! leaving them out from the last one on changes neither what is possible nor footprints: `x` is possible after `D` with the
//! footprint that it has in `w`, and depends on none of them, a contradiction. So an event that is not needed can be left
//! out, until all that `x` depends on is. With source sets the argument is simpler, as
//! `v` is a part of `w`; but there the branch that is added need not keep steps asleep from coming back, so runs
//! may be redundant. With wakeup trees none is: what is asleep depends on an event of `v`, and is awake once `v` was taken.

mod event;
mod event_set;
mod explorer;
mod races;
#[cfg(test)]
mod tests;

pub use event::{Footprint, Message, Traffic};

use super::{Cycle, End, Ended, Independence, Numbers};
use event::Event;
use explorer::Explorer;
use fabius_base::{Cancel, Limits};
use std::hash::Hash;

/// How a stateless search keeps from taking every interleaving.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Method {
    /// Sleep sets only.
    Sleep,
    /// Source sets, and sleep sets.
    Source,
    /// Wakeup trees, and sleep sets.
    Optimal,
}

/// A model that tells what its steps touch. A step stands for all that happens until the next ordinary state.
///
/// Two steps *depend* on each other if their order may matter wherever they come one right after the other: also where
/// one makes the other possible. If they do not depend on each other, and one is possible right after the other, each is
/// possible before the other as well, and both orders lead to the same state.
pub trait Dependence: Independence<Label: Hash> {
    /// What a step touches.
    type Touched: Clone;

    /// The footprint of a step that was possible in an ordinary state. `path` is what it took, `after` the state that it led to,
    /// unless it cannot be computed.
    ///
    /// It is the same wherever the step is possible but for the level of its message; if footprints vary
    /// ([`Dependence::varies`]), it is the same after another step that does not depend on it.
    fn footprint(
        &mut self,
        state: &[u32],
        path: &[Self::Label],
        after: Option<&[u32]>,
    ) -> Option<Footprint<Self::Touched>>;

    /// Whether two steps depend on each other, [`Footprint::message`] aside.
    fn depend(&mut self, a: &Self::Touched, b: &Self::Touched) -> bool;

    /// Whether some process takes part in both.
    fn share_process(&self, a: &Self::Touched, b: &Self::Touched) -> bool;

    /// Whether the footprint of a step may depend on the state in which it is possible.
    fn varies(&self) -> bool {
        false
    }

    /// Whether the only successor of an ordinary state is listed, which is taken at once and is part of the step that led
    /// there, as nobody can tell when it is taken.
    fn settles(&mut self, state: &[u32]) -> bool;
}

/// What a stateless search does.
#[derive(Clone, Debug)]
pub struct StatelessSettings {
    /// How.
    pub method: Method,
    /// How much it may use; the depth is not limited.
    pub limits: Limits,
    /// Whoever raises this stops it.
    pub cancel: Cancel,
}

/// What a stateless search found.
#[derive(Clone, Debug)]
pub struct Stateless<Label> {
    /// How many executions there are; a lower bound unless [`Ended::Complete`].
    pub numbers: Numbers,
    /// Runs that were given up because whatever they could go on with was explored before.
    pub redundant_runs: u64,
    /// Nodes: runs and all that they begin with, each once.
    pub nodes: u64,
    /// Memory that the longest run and the states remembered took, about, in bytes.
    pub memory_bytes: u64,
    /// How it ended.
    pub ended: Ended<Label>,
    /// The model contradicts itself: a step is not possible where it should be.
    pub contradiction: bool,
}

/// An execution, as [`explore_stateless`] tells it.
#[derive(Debug)]
pub struct Met<'a, Label> {
    /// Its steps.
    pub path: &'a [Label],
    /// How it ends.
    pub end: End,
    /// Whether a step is faulty.
    pub failed: bool,
}

/// Explores the executions of a model, and calls `met` with each.
pub fn explore_stateless<M: Dependence>(
    model: &mut M,
    settings: &StatelessSettings,
    met: &mut dyn FnMut(Met<'_, M::Label>),
) -> Stateless<M::Label> {
    Explorer::new(model, settings).run(met)
}
