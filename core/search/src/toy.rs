//! Small explicit graphs, for tests: every node is written out, so that every answer can be worked
//! out by hand, or by a slow program that follows the definition.

use crate::model::{Ending, Learning, Marks, Model, Next, ProcessSet, Processes};
use std::collections::HashMap;

/// A state of a [`Toy`].
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Node {
    /// Visible and hidden words; different nodes have different words.
    pub words: Vec<u32>,
    /// Passed through, not stored.
    pub transient: bool,
    /// May stop here.
    pub end: bool,
    /// Number of processes.
    pub processes: u8,
    /// Those that a fair scheduler may not neglect for ever if it comes here again and again.
    pub enabled: ProcessSet,
    /// Paths on, in the order in which they are tried.
    pub edges: Vec<Edge>,
}

/// A transition of a [`Toy`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Edge {
    /// Index of the node it leads to; `None` if it cannot be computed (then it has a label and a fault).
    pub to: Option<usize>,
    /// Its label.
    pub label: Option<u32>,
    /// What it violates.
    pub fault: Option<u32>,
    /// What it means to a search for cycles.
    pub marks: Marks,
    /// Who takes part in it.
    pub movers: [Option<u8>; 2],
}

/// A graph whose first node is the initial state.
#[derive(Clone, Debug, Default)]
pub struct Toy {
    nodes: Vec<Node>,
    hidden_words: usize,
    by_words: HashMap<Vec<u32>, usize>,
    movers: HashMap<u32, [Option<u8>; 2]>,
}

impl Toy {
    /// A graph; the last `hidden_words` words of each node are hidden. Edges with the same label have the same
    /// movers.
    pub fn new(nodes: Vec<Node>, hidden_words: usize) -> Self {
        let by_words = nodes.iter().enumerate().map(|(i, node)| (node.words.clone(), i)).collect();
        let edges = nodes.iter().flat_map(|node| &node.edges);
        let movers = edges.filter_map(|edge| Some((edge.label?, edge.movers))).collect();
        Self { nodes, hidden_words, by_words, movers }
    }

    /// A graph in which nodes have their index as only word, and labels number the edges.
    pub fn plain(successors: &[&[usize]]) -> Self {
        let mut label = 0..;
        let nodes = successors.iter().enumerate().map(|(i, targets)| Node {
            words: vec![i as u32],
            edges: targets.iter().map(|&to| Edge { to: Some(to), label: label.next(), ..Edge::default() }).collect(),
            ..Node::default()
        });
        Self::new(nodes.collect(), 0)
    }

    /// The nodes.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Words at the end of a node that are hidden.
    pub fn hidden_words(&self) -> usize {
        self.hidden_words
    }

    /// The node with these words.
    pub fn node_of(&self, words: &[u32]) -> Option<usize> {
        self.by_words.get(words).copied()
    }

    /// A random graph with up to `nodes_max` nodes, one third of them transient if `transient`, and with
    /// labels that differ. Only transient nodes have an edge without label, at most one, and it leads
    /// to an ordinary node.
    pub fn random(seed: u64, nodes_max: usize, transient: bool) -> Self {
        let mut random = Random::new(seed);
        let count = 1 + random.below(nodes_max);
        let mut nodes: Vec<Node> = (0..count).map(|i| random_node(&mut random, i, transient)).collect();
        let mut label = 0..;
        for i in 0..count {
            for _ in 0..random.below(4) {
                let to = Some(random.below(count)).filter(|_| random.below(10) != 0);
                let fault = (to.is_none() || random.below(10) == 0).then(|| random.below(3) as u32);
                nodes[i].edges.push(Edge { to, label: label.next(), fault, ..Edge::default() });
            }
            let to = random.below(count);
            if nodes[i].transient && !nodes[to].transient && random.below(3) == 0 {
                nodes[i].edges.push(Edge { to: Some(to), ..Edge::default() });
            }
        }
        Self::new(nodes, 1)
    }
}

/// Words that make the node known, with others that many nodes share, and a hidden one.
fn random_node(random: &mut Random, index: usize, transient: bool) -> Node {
    let mut words = vec![7; random.below(20)];
    for _ in 0..3.min(words.len()) {
        let i = random.below(words.len());
        words[i] = random.below(3) as u32;
    }
    words.insert(random.below(words.len() + 1), 1000 + index as u32);
    words.push(random.below(5) as u32);
    let transient = transient && index != 0 && random.below(3) == 0;
    Node { words, transient, end: random.below(2) == 0, ..Node::default() }
}

impl Model for Toy {
    type Label = u32;
    type Fault = u32;
    type Cursor = u32;

    fn hidden_words(&self) -> usize {
        Toy::hidden_words(self)
    }

    fn initial(&mut self, state: &mut Vec<u32>) -> Result<(), u32> {
        state.clear();
        state.extend_from_slice(&self.nodes.first().ok_or(0_u32)?.words);
        Ok(())
    }

    fn begin(&mut self, _: &[u32]) -> u32 {
        0
    }

    fn next(&mut self, state: &[u32], cursor: &mut u32, successor: &mut Vec<u32>) -> Next<u32, u32> {
        let Some(node) = self.node_of(state) else { return Next::Done(Ending::Moves) };
        let node = &self.nodes[node];
        let Some(edge) = node.edges.get(*cursor as usize) else {
            return Next::Done(match (node.edges.is_empty(), node.end) {
                (false, _) => Ending::Moves,
                (true, true) => Ending::ValidEnd,
                (true, false) => Ending::InvalidEnd,
            });
        };
        *cursor += 1;
        let Some(to) = edge.to else {
            return Next::Broken { label: edge.label.unwrap_or_default(), fault: edge.fault.unwrap_or_default() };
        };
        successor.clear();
        successor.extend_from_slice(&self.nodes[to].words);
        Next::Successor { label: edge.label, transient: self.nodes[to].transient, fault: edge.fault, marks: edge.marks }
    }
}

impl Learning for Toy {}

impl Processes for Toy {
    fn process_count(&self, state: &[u32]) -> usize {
        self.node_of(state).map_or(0, |node| usize::from(self.nodes[node].processes))
    }

    fn movers(&self, label: &u32) -> [Option<u8>; 2] {
        self.movers.get(label).copied().unwrap_or_default()
    }

    fn enabled(&mut self, state: &[u32], enabled: &mut ProcessSet) {
        *enabled = self.node_of(state).map_or(ProcessSet::EMPTY, |node| self.nodes[node].enabled);
    }
}

/// A small generator of numbers that look random (SplitMix64).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The same seed gives the same numbers.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// One of many sequences that belong to a seed: each run that is drawn has its own.
    pub fn numbered(seed: u64, number: u64) -> Self {
        Self(Self::new(Self::new(seed).next_u64() ^ number).next_u64())
    }

    /// The next number.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^ (x >> 31)
    }

    /// A number below `bound`, or 0.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next_u64() % bound.max(1) as u64) as usize
    }
}
