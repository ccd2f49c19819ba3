//! The states at the bound, kept as the macro steps that lead to them: a tree in which what two of them have in common
//! stands once.
//!
//! Section 3.3 of the paper. A node holds the macro steps from its parent, a frontier state of the round before. To move from
//! one frontier state to the next, the search goes back to the lowest common ancestor (its log says how) and executes
//! only what follows; between siblings that is twice the increment. The frontier is gone through in the order in
//! which it was found, which is an order of the tree.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// How frontier states are kept.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Keep {
    /// In the tree.
    #[default]
    Tree,
    /// Each with its whole way from the initial state: the paper's baseline.
    Traces,
}

/// Number of a node.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct NodeId(pub u32);

/// A node as it is written down.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub(super) struct Branch {
    /// The state's number.
    pub state: u32,
    /// A node before it.
    pub parent: Option<u32>,
    /// Macro steps from there.
    pub trace: Vec<u32>,
}

/// A state that is, or was, in the frontier.
#[derive(Debug)]
struct Node {
    /// The state's number.
    state: u32,
    parent: Option<NodeId>,
    /// Macro steps from the parent, or from the initial state.
    trace: Box<[u32]>,
    /// Nodes that have it as parent, and 1 while it is in use itself.
    uses: u32,
}

/// The frontier, and the tree of the states that led to it.
#[derive(Debug)]
pub(super) struct Frontier {
    keep: Keep,
    nodes: Vec<Option<Node>>,
    free: Vec<u32>,
    /// The frontier, in order; `None` for states that were met at a smaller depth after all.
    list: Vec<Option<NodeId>>,
    alive: u64,
    /// Where the search stands: nodes from the root on, each with the length of the log there.
    spine: Vec<(NodeId, usize)>,
    /// What is still to be executed on the way to a node, nearest first.
    way: VecDeque<NodeId>,
    /// Macro steps executed to get to frontier states.
    pub replayed: u64,
    trace_words: usize,
}

impl Frontier {
    pub fn new(keep: Keep) -> Self {
        Self {
            keep,
            nodes: Vec::new(),
            free: Vec::new(),
            list: Vec::new(),
            alive: 0,
            spine: Vec::new(),
            way: VecDeque::new(),
            replayed: 0,
            trace_words: 0,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.alive == 0
    }

    /// States in it.
    pub fn len(&self) -> u64 {
        self.alive
    }

    /// Adds a state by its way from another frontier state; returns its place.
    pub fn add(&mut self, state: u32, from: Option<NodeId>, trace: Vec<u32>) -> u32 {
        let (parent, trace) = match (self.keep, from) {
            (Keep::Traces, Some(from)) => (None, [self.trail(from), trace].concat()),
            (_, parent) => (parent, trace),
        };
        if let Some(parent) = parent.and_then(|parent| self.nodes[parent.0 as usize].as_mut()) {
            parent.uses += 1;
        }
        self.trace_words += trace.len();
        let node = Node { state, parent, trace: trace.into(), uses: 1 };
        let id = match self.free.pop() {
            Some(free) => {
                self.nodes[free as usize] = Some(node);
                NodeId(free)
            }
            None => {
                self.nodes.push(Some(node));
                NodeId(self.nodes.len() as u32 - 1)
            }
        };
        self.list.push(Some(id));
        self.alive += 1;
        self.list.len() as u32 - 1
    }

    /// Takes the state at a place out.
    pub fn remove(&mut self, place: u32) {
        if let Some(node) = self.list.get_mut(place as usize).and_then(Option::take) {
            self.alive -= 1;
            self.release(node);
        }
    }

    /// Takes all states out, in order; each is to be released once it is done with.
    pub fn take(&mut self) -> Vec<NodeId> {
        self.alive = 0;
        std::mem::take(&mut self.list).into_iter().flatten().collect()
    }

    /// The number of the state at a node.
    pub fn state(&self, node: NodeId) -> u32 {
        self.nodes[node.0 as usize].as_ref().map_or(0, |node| node.state)
    }

    /// A node is no longer used by the search; it goes if nothing hangs on it.
    pub fn release(&mut self, node: NodeId) {
        let mut next = Some(node);
        while let Some(id) = next {
            next = None;
            let place = &mut self.nodes[id.0 as usize];
            if let Some(node) = place {
                node.uses -= 1;
                if node.uses == 0 && !self.spine.iter().any(|(on, _)| *on == id) {
                    self.trace_words -= node.trace.len();
                    next = node.parent;
                    *place = None;
                    self.free.push(id.0);
                }
            }
        }
    }

    /// The macro steps from the initial state to a node.
    pub fn trail(&self, node: NodeId) -> Vec<u32> {
        let nodes = self.ancestors(node);
        nodes
            .iter()
            .rev()
            .filter_map(|id| self.nodes[id.0 as usize].as_ref())
            .flat_map(|node| node.trace.to_vec())
            .collect()
    }

    /// The node and all above it.
    fn ancestors(&self, node: NodeId) -> Vec<NodeId> {
        let parent = |id: &NodeId| self.nodes[id.0 as usize].as_ref().and_then(|node| node.parent);
        std::iter::successors(Some(node), parent).collect()
    }

    /// Leaves the spine above the lowest common ancestor with a node; returns the length of the log there.
    pub fn leave_for(&mut self, node: NodeId) -> usize {
        let ancestors = self.ancestors(node);
        let mut abandoned = Vec::new();
        while let Some((top, _)) = self.spine.last() {
            if ancestors.contains(top) {
                break;
            }
            abandoned.extend(self.spine.pop().map(|(node, _)| node));
        }
        let on = self.spine.last().map(|(node, _)| *node);
        self.way = ancestors.into_iter().take_while(|ancestor| Some(*ancestor) != on).collect();
        abandoned.into_iter().for_each(|node| self.forget(node));
        self.spine.last().map_or(0, |(_, log)| *log)
    }

    /// Drops a node that left the spine, if nothing uses it any more.
    fn forget(&mut self, node: NodeId) {
        if let Some(left) = &mut self.nodes[node.0 as usize]
            && left.uses == 0
        {
            left.uses = 1;
            self.release(node);
        }
    }

    /// The next node on the way, and how to get there from where the search stands.
    pub fn next_on_the_way(&mut self) -> Option<(NodeId, Vec<u32>)> {
        let next = self.way.pop_back()?;
        let trace = self.nodes[next.0 as usize].as_ref().map_or(Vec::new(), |node| node.trace.to_vec());
        self.replayed += trace.len() as u64;
        Some((next, trace))
    }

    /// The search stands at a node now, with a log of this length.
    pub fn arrived(&mut self, node: NodeId, log: usize) {
        self.spine.push((node, log));
    }

    /// Where the search stands: the node nearest to it.
    pub fn stands_at(&self) -> Option<NodeId> {
        self.spine.last().map(|(node, _)| *node)
    }

    /// The frontier, in order.
    pub fn iter(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.list.iter().copied().flatten()
    }

    /// These nodes and all above them, each after its parent, and the new numbers of all.
    pub fn branches(&self, tips: impl Iterator<Item = NodeId>) -> (Vec<Branch>, FxHashMap<NodeId, u32>) {
        let (mut branches, mut numbers) = (Vec::new(), FxHashMap::default());
        for tip in tips {
            let known = |id: &NodeId| !numbers.contains_key(id);
            let new: Vec<NodeId> = self.ancestors(tip).into_iter().take_while(known).collect();
            for id in new.into_iter().rev() {
                let Some(node) = &self.nodes[id.0 as usize] else { continue };
                let parent = node.parent.and_then(|parent| numbers.get(&parent).copied());
                numbers.insert(id, branches.len() as u32);
                branches.push(Branch { state: node.state, parent, trace: node.trace.to_vec() });
            }
        }
        (branches, numbers)
    }

    /// A frontier of these nodes, of which some are in it; others are used by the search itself.
    pub fn of(keep: Keep, branches: &[Branch], list: &[u32], used: impl Iterator<Item = u32>) -> Self {
        let mut uses = vec![0; branches.len()];
        let parents = branches.iter().filter_map(|branch| branch.parent);
        list.iter().copied().chain(used).chain(parents).for_each(|node| uses[node as usize] += 1);
        let node = |(branch, uses): (&Branch, u32)| {
            let Branch { state, parent, ref trace } = *branch;
            Some(Node { state, parent: parent.map(NodeId), trace: trace.as_slice().into(), uses })
        };
        Self {
            nodes: branches.iter().zip(uses).map(node).collect(),
            list: list.iter().map(|&node| Some(NodeId(node))).collect(),
            alive: list.len() as u64,
            trace_words: branches.iter().map(|branch| branch.trace.len()).sum(),
            ..Self::new(keep)
        }
    }

    pub fn memory_bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Option<Node>>() + self.trace_words * 4 + self.list.capacity() * 8
    }
}
