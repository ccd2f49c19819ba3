//! Where a search in the order of depth stands; see [`crate::checkpoint`].
//!
//! Beside the way to each state it holds its threshold, the tree of frontier states, and the stack: its states are found
//! again by taking the same turns from the frontier state below it.

use super::cycles::Unscheduled;
use super::frontier::{Branch, Frontier, NodeId};
use super::{DepthBounded, DepthRound, Frame, Known};
use crate::checkpoint::{Bytes, Retraced, Snapshot, Unusable, Visit, Written, retrace};
use crate::delay_bounded::{DelayObserver, Origin};
use crate::model::Processes;
use crate::outcome::{Halt, Statistics};
use crate::position::Position;
use crate::schedule::Turns;
use crate::store::{Class, TreeStore};
use std::ops::ControlFlow;

/// Where a search in the order of depth stands.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct DepthSnapshot {
    /// The bound of the round that was going on or about to begin.
    pub bound: u32,
    /// The rounds that were finished.
    pub rounds: Vec<DepthRound>,
    start: u32,
    counters: Statistics,
    revisits: u64,
    replayed: u64,
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
    stack: Vec<Frame>,
    returned: Option<i64>,
}

impl DepthSnapshot {
    /// States found so far.
    pub fn states(&self) -> u64 {
        self.origins.len() as u64
    }
}

impl Snapshot for DepthSnapshot {
    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Written::default();
        bytes.put(self.bound);
        bytes.put(self.start);
        bytes.put_count(self.rounds.len());
        for &DepthRound { bound, states, frontier, revisits, replayed } in &self.rounds {
            bytes.put(bound);
            [states, frontier, revisits, replayed].into_iter().for_each(|one| bytes.put(one));
        }
        bytes.put_counters(&self.counters);
        bytes.put(self.revisits);
        bytes.put(self.replayed);
        bytes.put_origins(&self.origins);
        self.thresholds.iter().for_each(|&threshold| bytes.put(threshold));
        bytes.put_count(self.branches.len());
        for branch in &self.branches {
            bytes.put(branch.state);
            bytes.put(branch.parent.map_or(0, |parent| parent + 1));
            bytes.put_list(&branch.trace);
        }
        bytes.put_list(&self.waiting);
        bytes.put_list(&self.frontier);
        [self.from, self.stands_at].into_iter().for_each(|node| bytes.put(node.map_or(0, |node| node + 1)));
        bytes.put_count(self.stack.len());
        for frame in &self.stack {
            [frame.state, frame.turn, frame.depth, u32::from(frame.first)].into_iter().for_each(|one| bytes.put(one));
            bytes.put((frame.most + 1) as u64);
        }
        bytes.put(self.returned.map_or(0, |returned| returned + 2) as u64);
        bytes.0
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut bytes = Bytes(bytes);
        let (bound, start) = (bytes.take_u32()?, bytes.take_u32()?);
        let mut rounds = Vec::new();
        for _ in 0..bytes.take_count()? {
            let (bound, states, frontier) = (bytes.take_u32()?, bytes.take()?, bytes.take()?);
            rounds.push(DepthRound { bound, states, frontier, revisits: bytes.take()?, replayed: bytes.take()? });
        }
        let (counters, revisits, replayed) = (bytes.take_counters()?, bytes.take()?, bytes.take()?);
        let origins = bytes.take_origins()?;
        let thresholds = origins.iter().map(|_| bytes.take_u32()).collect::<Option<_>>()?;
        let mut branches = Vec::new();
        for number in 0..bytes.take_count()? {
            let state = bytes.take_below(origins.len())?;
            let parent = bytes.take_below(number + 1)?.checked_sub(1);
            branches.push(Branch { state, parent, trace: bytes.take_list(usize::MAX)? });
        }
        let (waiting, frontier) = (bytes.take_list(branches.len())?, bytes.take_list(branches.len())?);
        let mut take_node = || Some(bytes.take_below(branches.len() + 1)?.checked_sub(1));
        let (from, stands_at) = (take_node()?, take_node()?);
        let mut stack = Vec::new();
        for _ in 0..bytes.take_count()? {
            let (state, turn, depth) = (bytes.take_below(origins.len())?, bytes.take_u32()?, bytes.take_u32()?);
            let (first, most) = (bytes.take_bool()?, i64::from(bytes.take_u32()?) - 1);
            stack.push(Frame { state, tag: 0, turn, depth, most, changes: 0, first });
        }
        let returned = bytes.take_u32()?;
        let returned = (returned != 0).then(|| i64::from(returned) - 2);
        let snapshot = Self {
            bound,
            rounds,
            start,
            counters,
            revisits,
            replayed,
            origins,
            thresholds,
            branches,
            waiting,
            frontier,
            from,
            stands_at,
            stack,
            returned,
        };
        bytes.end(snapshot)
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
    /// Where the search stands. A turn that was taken only by half is taken anew.
    pub(super) fn stand(&self) -> DepthSnapshot {
        let stands_at = self.frontier.stands_at();
        let tips = self.waiting.iter().copied().chain(self.frontier.iter()).chain(self.from).chain(stands_at);
        let (branches, numbers) = self.frontier.branches(tips);
        let number = |node: NodeId| numbers.get(&node).copied();
        let mut stack = self.stack.clone();
        if let Some(top) = stack.last_mut().filter(|_| self.in_flight) {
            top.turn = top.turn.saturating_sub(1);
        }
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
            stack,
            returned: self.returned,
        }
    }

    /// Finds all states of a snapshot again, and goes to where it was taken.
    pub(super) fn return_to(&mut self, snapshot: &DepthSnapshot) -> Result<ControlFlow<Halt>, Unusable> {
        (self.bound, self.start, self.rounds) = (snapshot.bound, snapshot.start, snapshot.rounds.clone());
        let mut again = Again { store: &mut self.store, position: &mut self.position };
        let counted = (&mut self.statistics, &mut *self.observer);
        let walked = retrace((&mut self.listing, &Unscheduled), &snapshot.origins, counted, &mut again)?;
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
        (self.revisits, self.returned) = (snapshot.revisits, snapshot.returned);
        self.frontier.replayed = snapshot.replayed;
        self.statistics = snapshot.counters;
        self.listing.lister.transient = snapshot.counters.transient;
        Ok(stood)
    }

    /// Goes to where a snapshot was taken: in the tree, then along the stack.
    fn go_back(&mut self, snapshot: &DepthSnapshot) -> Result<ControlFlow<Halt>, Unusable> {
        let mut initial = Vec::new();
        self.listing.model.initial(&mut initial).map_err(|_| Unusable)?;
        self.position.advance(&initial);
        self.store.entry(&mut self.position, Class::Ordinary);
        self.position.forget();
        if let Some(node) = snapshot.stands_at
            && let ControlFlow::Break(halt) = self.go_to(NodeId(node))
        {
            return Ok(ControlFlow::Break(halt));
        }
        let mut turns = Turns::default();
        for frame in &snapshot.stack {
            let mut changes = 0;
            if let Some(below) = self.stack.last() {
                let turn = (below.turn as usize).checked_sub(1).ok_or(Unusable)?;
                if let ControlFlow::Break(halt) = self.list(false, &mut turns) {
                    return Ok(ControlFlow::Break(halt));
                }
                if turns.len() <= turn {
                    return Err(Unusable);
                }
                self.propose(&turns, turn);
                if *self.store.entry(&mut self.position, Class::Ordinary).1 != frame.state + 1 {
                    return Err(Unusable);
                }
                changes = self.step_to_proposed();
            }
            self.tags += 1;
            self.stack.push(Frame { changes, tag: self.tags, ..*frame });
        }
        Ok(ControlFlow::Continue(()))
    }
}
