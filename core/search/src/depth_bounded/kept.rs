//! Where a search in the order of depth stands; see [`crate::checkpoint`].
//!
//! Beside the way to each state it holds its threshold, the tree of frontier states, and the stack: its states are found
//! again by taking the same macro steps from the frontier state below it.

use super::cycles::Unscheduled;
use super::frontier::{Branch, Frontier, NodeId};
use super::state::{DepthBounded, Expand, Known};
use crate::checkpoint::{Relister, Retraced, Snapshot, Unusable, Visit, origins, retrace};
use crate::delay_bounded::{DelayObserver, Origin};
use crate::macro_stack::propose;
use crate::model::Processes;
use crate::outcome::{Round, Statistics};
use crate::position::Position;
use crate::schedule::MacroSteps;
use crate::store::{Class, TreeStore};
use fabius_base::StopReason;
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;

/// Where a search in the order of depth stands.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize, Debug)]
pub struct DepthSnapshot {
    /// The bound of the round that was going on or about to begin.
    pub bound: u32,
    /// The rounds that were finished.
    pub rounds: Vec<Round>,
    start: u32,
    counters: Statistics,
    revisits: u64,
    replayed: u64,
    #[serde(with = "origins")]
    origins: Vec<Origin>,
    /// Of each state, as in [`Known`].
    thresholds: Vec<u32>,
    branches: Vec<Branch>,
    /// By their places in `branches`: what this round has yet to expand, the frontier, what is being expanded, and where the search
    /// stands in the tree.
    waiting: Vec<u32>,
    frontier: Vec<u32>,
    from: Option<u32>,
    stands_at: Option<u32>,
    /// Calls of `expand`, each with the macro step to look at next.
    stack: Vec<(Expand, u32)>,
}

impl DepthSnapshot {
    /// States found so far.
    pub fn states(&self) -> u64 {
        self.origins.len() as u64
    }
}

impl Snapshot for DepthSnapshot {
    fn is_consistent(&self) -> bool {
        let (states, branches) = (self.origins.len(), self.branches.len());
        let is_branch = |(number, branch): (usize, &Branch)| {
            (branch.state as usize) < states && branch.parent.is_none_or(|parent| (parent as usize) < number)
        };
        let mut nodes = self.waiting.iter().chain(&self.frontier).chain(&self.from).chain(&self.stands_at);
        self.thresholds.len() == states
            && self.branches.iter().enumerate().all(is_branch)
            && nodes.all(|&node| (node as usize) < branches)
            && self.stack.iter().all(|(call, _)| (call.state as usize) < states && -1 <= call.most)
    }
}

/// Gives every state of a snapshot its number again.
struct Again<'s> {
    store: &'s mut TreeStore<u32>,
    position: &'s mut Position,
}

impl Visit<()> for Again<'_> {
    fn wants(&self, _: u32) -> bool {
        false
    }

    fn visit(&mut self, Retraced { number, state, .. }: Retraced<'_, ()>) {
        self.position.advance(state);
        *self.store.entry(self.position, Class::Ordinary).1 = number + 1;
        self.position.forget();
    }
}

/// Taking a snapshot, and going on from one.
impl<M, O> DepthBounded<'_, M, O>
where
    M: Processes,
    O: DelayObserver<M::Label, M::Fault>,
{
    /// Where the search is.
    pub(super) fn take_snapshot(&self) -> DepthSnapshot {
        let stands_at = self.frontier.stands_at();
        let tips = self.waiting.iter().copied().chain(self.frontier.iter()).chain(self.from).chain(stands_at);
        let (branches, numbers) = self.frontier.branches(tips);
        let number = |node: NodeId| numbers.get(&node).copied();
        DepthSnapshot {
            bound: self.bound,
            rounds: self.rounds.clone(),
            start: self.start,
            counters: self.statistics,
            revisits: self.revisits,
            replayed: self.frontier.replayed,
            origins: self.origins.clone().unwrap_or_default(),
            thresholds: self.known.iter().map(|known| known.threshold).collect(),
            branches,
            waiting: self.waiting.iter().copied().filter_map(number).collect(),
            frontier: self.frontier.iter().filter_map(number).collect(),
            from: self.from.and_then(number),
            stands_at: stands_at.and_then(number),
            stack: self.stack.frames().iter().map(|frame| (frame.data, frame.macro_step)).collect(),
        }
    }

    /// Finds all states of a snapshot again, and goes to where it was taken.
    pub(super) fn resume_from(&mut self, snapshot: &DepthSnapshot) -> Result<ControlFlow<StopReason>, Unusable> {
        (self.bound, self.start, self.rounds) = (snapshot.bound, snapshot.start, snapshot.rounds.clone());
        let mut again = Again { store: &mut self.store, position: &mut self.stack.position };
        let mut lister = Relister {
            listing: &mut self.listing,
            scheduler: &Unscheduled,
            statistics: &mut self.statistics,
            observer: &mut *self.observer,
        };
        let walked = retrace(&mut lister, &snapshot.origins, &mut again)?;
        if walked.is_break() {
            return Ok(walked);
        }
        let used = snapshot.waiting.iter().copied().chain(snapshot.from);
        self.frontier = Frontier::of(self.depth.keep, &snapshot.branches, &snapshot.frontier, used);
        self.known = snapshot.thresholds.iter().map(|&threshold| Known { threshold, place: 0 }).collect();
        for (place, &node) in snapshot.frontier.iter().enumerate() {
            self.known[snapshot.branches[node as usize].state as usize].place = place as u32 + 1;
        }
        self.waiting = snapshot.waiting.iter().copied().map(NodeId).collect();
        self.from = snapshot.from.map(NodeId);
        let stood = self.go_back(snapshot)?;
        self.origins = Some(snapshot.origins.clone());
        self.revisits = snapshot.revisits;
        self.frontier.replayed = snapshot.replayed;
        self.statistics = snapshot.counters;
        self.listing.lister.transient = snapshot.counters.transient;
        Ok(stood)
    }

    /// Goes to where a snapshot was taken: in the tree, then along the stack.
    fn go_back(&mut self, snapshot: &DepthSnapshot) -> Result<ControlFlow<StopReason>, Unusable> {
        let mut initial = Vec::new();
        self.listing.model.initial(&mut initial).map_err(|_| Unusable)?;
        let position = &mut self.stack.position;
        position.advance(&initial);
        self.store.entry(position, Class::Ordinary);
        position.forget();
        if let Some(node) = snapshot.stands_at
            && let ControlFlow::Break(halt) = self.go_to(NodeId(node))
        {
            return Ok(ControlFlow::Break(halt));
        }
        let (mut before, mut macro_steps) = (None, MacroSteps::default());
        for &(call, macro_step) in &snapshot.stack {
            self.tags += 1;
            match before.replace(macro_step) {
                None => self.stack.start_at(self.tags, macro_step, call),
                Some(before) => {
                    let taken = before.checked_sub(1).ok_or(Unusable)? as usize;
                    macro_steps = match self.list(false, macro_steps) {
                        ControlFlow::Continue(macro_steps) => macro_steps,
                        ControlFlow::Break(halt) => return Ok(ControlFlow::Break(halt)),
                    };
                    if macro_steps.len() <= taken {
                        return Err(Unusable);
                    }
                    propose(&mut self.stack.position, &macro_steps, taken);
                    if *self.store.entry(&mut self.stack.position, Class::Ordinary).1 != call.state + 1 {
                        return Err(Unusable);
                    }
                    self.stack.push_at(self.tags, macro_step, call);
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}
