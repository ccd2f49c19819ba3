//! What the search keeps: T and the frontier, the stack of calls of `expand`, and what was found.

use super::DepthSettings;
use super::frontier::{Frontier, NodeId};
use crate::delay_bounded::{DelayObserver, Listing, Origin};
use crate::macro_stack::MacroStack;
use crate::model::Processes;
use crate::observer::Settings;
use crate::outcome::{Halt, Outcome, Round, Statistics, Violations};
use crate::store::{Store, TreeStore};
use fabius_base::StopReason;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::ops::ControlFlow;

/// What is known of a state.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Known {
    /// Its threshold, plus 2; 0 if it is not in T.
    pub(super) threshold: u32,
    /// Its place in the frontier, plus 1; 0 if it is not in it.
    pub(super) place: u32,
}

impl Known {
    pub(super) fn threshold(self) -> Option<i64> {
        (self.threshold != 0).then(|| i64::from(self.threshold) - 2)
    }
}

pub(super) struct DepthBounded<'a, M: Processes, O> {
    pub(super) listing: Listing<'a, M>,
    pub(super) depth: DepthSettings,
    pub(super) observer: &'a mut O,
    /// The number of each state, plus 1.
    pub(super) store: TreeStore<u32>,
    /// Of each state, by its number.
    pub(super) known: Vec<Known>,
    /// Where each state was first met from, if that is to be kept.
    pub(super) origins: Option<Vec<Origin>>,
    pub(super) stack: MacroStack<M, Expand>,
    /// Calls of `expand` so far; each has a tag of its own.
    pub(super) tags: u64,
    pub(super) frontier: Frontier,
    /// Frontier states of the round before that are to be expanded in this one.
    pub(super) waiting: VecDeque<NodeId>,
    /// The frontier state below the stack.
    pub(super) from: Option<NodeId>,
    /// The depth of the states that this round starts with, and the bound.
    pub(super) start: u32,
    pub(super) bound: u32,
    pub(super) revisits: u64,
    pub(super) rounds: Vec<Round>,
    pub(super) statistics: Statistics,
    pub(super) violations: Violations<M::Label, M::Fault>,
}

/// A call of `expand`.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub(super) struct Expand {
    /// The state's number.
    pub(super) state: u32,
    pub(super) depth: u32,
    /// m of the algorithm.
    pub(super) most: i64,
    /// The state was not expanded before.
    pub(super) first: bool,
}

impl<'a, M, O> DepthBounded<'a, M, O>
where
    M: Processes,
    O: DelayObserver<M::Label, M::Fault>,
{
    pub(super) fn new(
        model: &'a mut M,
        observer: &'a mut O,
        settings: &'a Settings,
        depth: &DepthSettings,
        with_origins: bool,
    ) -> Self {
        Self {
            stack: MacroStack::new(model, TreeStore::<u32>::MEMO_PER_WORD),
            listing: Listing::new(model, settings),
            depth: *depth,
            observer,
            store: TreeStore::default(),
            known: Vec::new(),
            origins: with_origins.then(Vec::new),
            tags: 0,
            frontier: Frontier::new(depth.keep),
            waiting: VecDeque::new(),
            from: None,
            start: 0,
            bound: 0,
            revisits: 0,
            rounds: Vec::new(),
            statistics: Statistics::default(),
            violations: Violations::new(settings.stop_at),
        }
    }

    pub(super) fn conclude(mut self, run: ControlFlow<Halt>) -> Outcome<M::Label, M::Fault> {
        self.look_at_memory();
        let everything = self.frontier.is_empty();
        let outcome = self.violations.conclude(run, self.store.exactness(), self.statistics);
        outcome.by_rounds(self.rounds, everything, false, StopReason::Depth)
    }

    #[cold]
    pub(super) fn look_at_memory(&mut self) {
        let local = self.known.capacity() * size_of::<Known>()
            + self.origins.as_ref().map_or(0, |origins| origins.capacity() * size_of::<Origin>())
            + self.frontier.memory_bytes();
        let now = self.store.memory_bytes() + self.stack.memory_bytes() + local as u64;
        self.statistics.memory_bytes = self.statistics.memory_bytes.max(now);
    }
}
