//! What was tried: a tree of steps. States are kept here and there only; the others are walked to again.

use fabius_program::{CLAIM_PID, Move, Program, Watch, meaning::Fault};
use fabius_witness::{Event, Happening, Outcome, State, settled, step};
use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// At first, every this many steps the state is kept for good; …
const KEPT_EVERY: u32 = 64;
/// … if these states take more memory than this, half of them are dropped.
const KEPT_BYTES_MAX: usize = 64 << 20;
/// This many states are kept beside those, …
const RECENT_MAX: usize = 512;
/// … in so much memory, …
const RECENT_BYTES_MAX: usize = 64 << 20;
/// … and always this many.
const RECENT_MIN: usize = 8;
/// No node.
const NONE: u32 = u32::MAX;

/// A node of the tree: a state that was reached, and how.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The initial state.
    pub const ROOT: Self = Self(0);

    fn at(self) -> usize {
        self.0 as usize
    }
}

#[derive(Clone, Debug)]
struct Node {
    parent: u32,
    /// The youngest child; its siblings follow, the younger ones first.
    child: u32,
    sibling: u32,
    /// How many moves lead here.
    depth: u32,
    /// How many of them are the system's.
    taken: u32,
    step: Option<Move>,
    /// Of what distinguishes the state from others.
    hash: u64,
    /// The next older node with the same hash.
    same: u32,
    fault: Option<Fault>,
    /// There is no state after the step.
    broken: bool,
    /// The smallest number of a node, this one or one further down, where something is wrong; [`NONE`] if there is none.
    first_error: u32,
}

/// A state, and who sent the messages in its channels.
#[derive(Clone, Debug)]
pub(crate) struct Situation {
    pub state: State,
    /// By identity of the channel - 1, the oldest message first: the message, and the node whose step sent it.
    sent: Vec<VecDeque<(Vec<i32>, NodeId)>>,
    /// The messages that the last step received: the channel's identity, and the node whose step sent it.
    pub received: Vec<(i32, NodeId)>,
}

/// Everything that was tried.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    program: Arc<Program>,
    nodes: Vec<Node>,
    /// The youngest node with each hash.
    by_hash: HashMap<u64, u32>,
    root: Arc<Situation>,
    kept: RefCell<Kept>,
    /// How often nodes were forgotten.
    epoch: u64,
}

#[derive(Clone, Debug)]
struct Kept {
    /// With the depths of the nodes: multiples of `every`.
    for_good: HashMap<u32, (u32, Arc<Situation>)>,
    every: u32,
    bytes: usize,
    recent: HashMap<u32, Arc<Situation>>,
    order: VecDeque<u32>,
    recent_bytes: usize,
}

impl Default for Kept {
    fn default() -> Self {
        let (for_good, recent, order) = (HashMap::new(), HashMap::new(), VecDeque::new());
        Self { for_good, every: KEPT_EVERY, bytes: 0, recent, order, recent_bytes: 0 }
    }
}

impl Kept {
    fn get(&self, node: u32) -> Option<&Arc<Situation>> {
        self.for_good.get(&node).map(|(_, known)| known).or_else(|| self.recent.get(&node))
    }

    fn put(&mut self, node: u32, depth: u32, situation: Arc<Situation>) {
        let bytes = situation.state.bytes();
        if depth.is_multiple_of(self.every) {
            let known = self.for_good.insert(node, (depth, situation));
            self.bytes += if known.is_none() { bytes } else { 0 };
            if KEPT_BYTES_MAX < self.bytes {
                self.thin_out();
            }
        } else if self.recent.insert(node, situation).is_none() {
            self.order.push_back(node);
            self.recent_bytes += bytes;
            while RECENT_MAX < self.order.len() || RECENT_MIN < self.order.len() && RECENT_BYTES_MAX < self.recent_bytes
            {
                let oldest = self.order.pop_front().and_then(|oldest| self.recent.remove(&oldest));
                self.recent_bytes -= oldest.map_or(0, |oldest| oldest.state.bytes());
            }
        }
    }

    /// Drops every other state that is kept for good.
    fn thin_out(&mut self) {
        self.every = self.every.saturating_mul(2);
        self.for_good.retain(|_, (depth, _)| depth.is_multiple_of(self.every));
        self.count();
    }

    fn count(&mut self) {
        self.bytes = self.for_good.values().map(|(_, known)| known.state.bytes()).sum();
        self.recent_bytes = self.recent.values().map(|known| known.state.bytes()).sum();
    }

    fn truncate(&mut self, size: u32) {
        self.for_good.retain(|node, _| *node < size);
        self.recent.retain(|node, _| *node < size);
        self.order.retain(|node| *node < size);
        self.count();
    }
}

impl Tree {
    /// A tree of nothing but the initial state.
    pub(crate) fn new(program: Arc<Program>, watch: Watch) -> Result<Self, Fault> {
        let state = State::watching(&program, watch)?;
        let hash = hash_of(&program, &state);
        let sent = vec![VecDeque::new(); state.channels.len()];
        let situation = Arc::new(Situation { state, sent, received: Vec::new() });
        let root = Node {
            parent: NONE,
            child: NONE,
            sibling: NONE,
            depth: 0,
            taken: 0,
            step: None,
            hash,
            same: NONE,
            fault: None,
            broken: false,
            first_error: NONE,
        };
        let by_hash = HashMap::from([(hash, 0)]);
        Ok(Self { program, nodes: vec![root], by_hash, root: situation, kept: RefCell::default(), epoch: 0 })
    }

    /// How often nodes were forgotten; a number may be given anew after that.
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch
    }

    pub(crate) fn len(&self) -> u32 {
        self.nodes.len() as u32
    }

    pub(crate) fn parent(&self, node: NodeId) -> Option<NodeId> {
        Some(self.nodes[node.at()].parent).filter(|parent| *parent != NONE).map(NodeId)
    }

    pub(crate) fn depth(&self, node: NodeId) -> usize {
        self.nodes[node.at()].depth as usize
    }

    /// How many steps of the system lead to a node.
    pub(crate) fn taken(&self, node: NodeId) -> usize {
        self.nodes[node.at()].taken as usize
    }

    pub(crate) fn step(&self, node: NodeId) -> Option<Move> {
        self.nodes[node.at()].step
    }

    pub(crate) fn fault(&self, node: NodeId) -> Option<Fault> {
        self.nodes[node.at()].fault
    }

    /// A hash of what distinguishes the state of a node from others.
    pub(crate) fn hash(&self, node: NodeId) -> u64 {
        self.nodes[node.at()].hash
    }

    pub(crate) fn is_broken(&self, node: NodeId) -> bool {
        self.nodes[node.at()].broken
    }

    /// Whether something is wrong at a node or further down, as far as nodes with a smaller number than `size` say.
    pub(crate) fn leads_to_error(&self, node: NodeId, size: u32) -> bool {
        self.nodes[node.at()].first_error < size
    }

    /// The children of a node with a smaller number than `size`, the oldest first.
    pub(crate) fn children(&self, node: NodeId, size: u32) -> Vec<NodeId> {
        let mut found = Vec::new();
        let mut child = self.nodes[node.at()].child;
        while child != NONE {
            if child < size {
                found.push(NodeId(child));
            }
            child = self.nodes[child as usize].sibling;
        }
        found.reverse();
        found
    }

    /// The nodes from the root to `node`, both included.
    pub(crate) fn way_to(&self, node: NodeId) -> Vec<NodeId> {
        let mut way = vec![node];
        let mut here = node;
        while let Some(parent) = self.parent(here) {
            way.push(parent);
            here = parent;
        }
        way.reverse();
        way
    }

    /// The moves of the system on the way to `node` and the numbers of these steps, the last one first.
    pub(crate) fn moves_to(&self, node: NodeId) -> impl Iterator<Item = (Move, usize)> + '_ {
        let way = std::iter::successors(Some(node), |node| self.parent(*node));
        way.filter_map(|node| Some((self.step(node).filter(|step| step.pid != CLAIM_PID)?, self.taken(node))))
    }

    /// The moves from the root to `node`.
    pub(crate) fn path_to(&self, node: NodeId) -> Vec<Move> {
        self.way_to(node).into_iter().filter_map(|node| self.step(node)).collect()
    }

    /// The child of a node by a step, if there is one with a smaller number than `size`.
    pub(crate) fn child_by(&self, node: NodeId, step: Move, size: u32) -> Option<NodeId> {
        self.children(node, size).into_iter().find(|child| self.step(*child) == Some(step))
    }

    /// Adds a child: where a step leads.
    pub(crate) fn add(&mut self, parent: NodeId, step: Move, outcome: &Outcome) -> NodeId {
        let node = NodeId(self.len());
        let before = self.situation(parent);
        let depth = self.nodes[parent.at()].depth + 1;
        let fault = outcome.fault();
        let situation = before.after(outcome, node);
        let hash = hash_of(&self.program, &situation.state);
        let broken = outcome.state().is_none();
        self.nodes.push(Node {
            parent: parent.0,
            child: NONE,
            sibling: self.nodes[parent.at()].child,
            depth,
            taken: self.nodes[parent.at()].taken + u32::from(step.pid != fabius_program::CLAIM_PID),
            step: Some(step),
            hash,
            same: NONE,
            fault,
            broken,
            first_error: NONE,
        });
        self.nodes[parent.at()].child = node.0;
        if !broken {
            self.nodes[node.at()].same = self.by_hash.insert(hash, node.0).unwrap_or(NONE);
        }
        self.kept.borrow_mut().put(node.0, depth, Arc::new(situation));
        if fault.is_some() {
            self.mark_error(node);
        }
        node
    }

    /// Says that a node is an error: all nodes on the way lead to it.
    pub(crate) fn mark_error(&mut self, node: NodeId) {
        let mut here = Some(node);
        while let Some(above) = here.filter(|above| self.nodes[above.at()].first_error > node.0) {
            self.nodes[above.at()].first_error = node.0;
            here = self.parent(above);
        }
    }

    /// Forgets all nodes but the first `size`.
    pub(crate) fn truncate(&mut self, size: u32) {
        if self.len() <= size {
            return;
        }
        for node in (size..self.len()).rev() {
            let Node { parent, sibling, hash, same, .. } = self.nodes[node as usize];
            // A younger child comes before its siblings, so what is dropped is always the first.
            self.nodes[parent as usize].child = sibling;
            // So it is with those of the same state.
            if self.by_hash.get(&hash) == Some(&node) {
                if same == NONE {
                    self.by_hash.remove(&hash)
                } else {
                    self.by_hash.insert(hash, same)
                };
            }
        }
        self.epoch += 1;
        self.nodes.truncate(size as usize);
        for node in &mut self.nodes {
            // The first error is the last to be forgotten.
            if node.first_error >= size {
                node.first_error = NONE;
            }
        }
        self.kept.borrow_mut().truncate(size);
    }

    /// A node with a smaller number than `size` whose state is the same as one that would have this hash.
    pub(crate) fn known(&self, state: &State, size: u32) -> Option<NodeId> {
        self.same(state).filter(|node| node.0 < size).last()
    }

    /// The first node from the root to `node` with the same state as it.
    pub(crate) fn earlier_same(&self, state: &State, node: NodeId) -> Option<NodeId> {
        // The numbers fall on both ways.
        let mut above = node;
        let on_the_way = |known: &NodeId| {
            while let Some(parent) = self.parent(above).filter(|_| *known < above) {
                above = parent;
            }
            above == *known
        };
        self.same(state).filter(on_the_way).last()
    }

    /// The nodes with the same state as one that would have this hash, the youngest first.
    fn same(&self, state: &State) -> impl Iterator<Item = NodeId> + '_ {
        let youngest = self.by_hash.get(&hash_of(&self.program, state)).copied();
        std::iter::successors(youngest, |node| Some(self.nodes[*node as usize].same).filter(|same| *same != NONE))
            .map(NodeId)
    }

    /// The state of a node; of one that has none, that of the node before.
    pub(crate) fn situation(&self, node: NodeId) -> Arc<Situation> {
        if let Some(known) = self.kept.borrow().get(node.0) {
            return Arc::clone(known);
        }
        let mut missing = Vec::new();
        let mut here = node;
        let mut situation = loop {
            if let Some(known) = self.kept.borrow().get(here.0) {
                break Arc::clone(known);
            }
            let Some(parent) = self.parent(here) else { break Arc::clone(&self.root) };
            missing.push(here);
            here = parent;
        };
        for node in missing.into_iter().rev() {
            let Some(wanted) = self.step(node) else { continue };
            if let Ok(taken) = step(&self.program, &situation.state, wanted) {
                situation = Arc::new(situation.after(&taken.outcome, node));
            }
            let depth = self.nodes[node.at()].depth;
            self.kept.borrow_mut().put(node.0, depth, Arc::clone(&situation));
        }
        situation
    }
}

impl Situation {
    /// What follows by a step, which is that of `node`.
    fn after(&self, outcome: &Outcome, node: NodeId) -> Self {
        let Outcome::Reaches { state, events, .. } = outcome else {
            return Self { received: Vec::new(), ..self.clone() };
        };
        let mut sent = self.sent.clone();
        let mut received = Vec::new();
        sent.resize_with(state.channels.len().max(sent.len()), VecDeque::new);
        for Event { what, .. } in events {
            match what {
                Happening::Sent { channel, message } => {
                    if let Some(queue) = queue(&mut sent, *channel) {
                        queue.push_back((message.clone(), node));
                    }
                }
                Happening::Received { channel, message, kept } => {
                    let Some(queue) = queue(&mut sent, *channel) else { continue };
                    let Some(at) = queue.iter().position(|(known, _)| known == message) else { continue };
                    received.push((*channel, queue[at].1));
                    if !kept {
                        queue.remove(at);
                    }
                }
                _ => {}
            }
        }
        sent.truncate(state.channels.len());
        for (known, channel) in sent.iter_mut().zip(&state.channels) {
            // Sorted sends: the order is that of the channel.
            let mut left = std::mem::take(known);
            for message in &channel.messages {
                let at = left.iter().position(|(content, _)| content == message);
                known.push_back(at.and_then(|at| left.remove(at)).unwrap_or_else(|| (message.clone(), node)));
            }
        }
        Self { state: state.clone(), sent, received }
    }
}

fn queue(sent: &mut [VecDeque<(Vec<i32>, NodeId)>], channel: i32) -> Option<&mut VecDeque<(Vec<i32>, NodeId)>> {
    sent.get_mut(usize::try_from(channel).ok()?.checked_sub(1)?)
}

/// The state that follows without a step, as far as any does.
pub(crate) fn rest(program: &Program, state: &State) -> State {
    // Only a holder can lose control, and only beside a claim the system stutters.
    if state.holder.is_none() && (state.claim.is_none() || state.is_claims_turn()) {
        return state.clone();
    }
    let mut here = settled(program, state);
    loop {
        let next = settled(program, &here);
        if next == here {
            return here;
        }
        here = next;
    }
}

fn hash_of(program: &Program, state: &State) -> u64 {
    let mut hasher = DefaultHasher::new();
    rest(program, state).visible(program).hash(&mut hasher);
    hasher.finish()
}
