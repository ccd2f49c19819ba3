//! The lossless default: states as trees that share their subtrees.
//!
//! After Laarman, van de Pol, Weber: *Parallel Recursive State Compression for Free* (SPIN 2011),
//! with the incremental insertion of its section 4. The words of a state are the leaves of a binary
//! tree ([`Shape`]). An inner node is the identity of the pair of its children; the two nodes below the
//! top together, 64 bits, are the state. Neighbouring states differ in few words, so few nodes are new: nearly all of a state is the
//! one entry in the table of roots.
//!
//! What differs from the paper: one table of inner nodes for all positions, a table of roots for each
//! length, and roots that are mixed by a bijection, so that their place in the table says a part of them.

use super::hash::mix;
use super::intern::Interner;
use super::roots::RootTable;
use super::table::HashTable;
use super::{Class, Exactness, Inserted, Lossless, Store};
use crate::position::Position;

/// A lossless set of states at about 8 bytes per state. `P` is what is kept with each state.
#[derive(Debug)]
pub struct TreeStore<P = ()> {
    interner: Interner,
    ordinary: Vec<Option<Roots<P>>>,
    transient: Vec<Option<Roots<P>>>,
    /// Of the states of each length.
    shapes: Vec<Shape>,
    /// Inner nodes to be computed, one bit each; all zero between insertions.
    dirty: Vec<u64>,
}

/// A state, to a [`TreeStore`].
#[derive(Clone, Copy, Debug)]
pub struct TreeProbe {
    root: u64,
    length: u32,
    class: Class,
}

impl<P: Copy + Default> Default for TreeStore<P> {
    fn default() -> Self {
        Self {
            interner: Interner::default(),
            ordinary: Vec::new(),
            transient: Vec::new(),
            shapes: Vec::new(),
            dirty: Vec::new(),
        }
    }
}

impl TreeStore {
    /// An empty store without payload.
    pub fn new() -> Self {
        Self::default()
    }
}

impl<P: Copy + Default> TreeStore<P> {
    /// As [`Store::insert`], and gives the payload of the state.
    #[inline]
    pub fn entry(&mut self, position: &mut Position, class: Class) -> (Inserted, &mut P) {
        let probe = self.prepare(position, class);
        self.commit_entry(probe)
    }

    /// As [`Store::commit`], and gives the payload of the state.
    #[inline]
    pub fn commit_entry(&mut self, probe: TreeProbe) -> (Inserted, &mut P) {
        let table = self.table(probe.class, probe.length as usize);
        let (old, payload) = table.entry(probe.root);
        (if old { Inserted::Old } else { Inserted::New }, payload)
    }

    #[inline]
    fn table(&mut self, class: Class, length: usize) -> &mut Roots<P> {
        let tables = if class == Class::Ordinary { &mut self.ordinary } else { &mut self.transient };
        if tables.len() <= length {
            tables.resize_with(length + 1, || None);
        }
        tables[length].get_or_insert_with(|| Roots::new(length))
    }

    /// States in the store.
    pub fn len(&self, class: Class) -> u64 {
        let tables = if class == Class::Ordinary { &self.ordinary } else { &self.transient };
        tables.iter().flatten().map(Roots::len).sum()
    }

    /// Whether the store is empty.
    pub fn is_empty(&self) -> bool {
        self.len(Class::Ordinary) + self.len(Class::Transient) == 0
    }

    /// Inner nodes in the store.
    pub fn inner_nodes(&self) -> usize {
        self.interner.len()
    }

    /// Writes the words of the state of `length` words with this root; drops what `visible` held.
    pub fn unfold(&self, length: usize, root: u64, visible: &mut Vec<u32>) {
        let mut nodes = vec![0; 2 * length.max(1)];
        if length == 1 {
            nodes[1] = root as u32;
        }
        if let Some(shape) = self.shapes.get(length) {
            for node in 1..length {
                let (left, right) = shape.children[node];
                let pair = if node == 1 { (root as u32, (root >> 32) as u32) } else { self.interner.pair(nodes[node]) };
                (nodes[left as usize], nodes[right as usize]) = pair;
            }
        }
        visible.clear();
        visible.extend_from_slice(&nodes[length..2 * length]);
    }

    /// Computes the inner nodes above the words that changed.
    #[inline]
    fn refresh(&mut self, position: &mut Position) {
        let length = position.visible().len();
        let blocks = length.div_ceil(64);
        if self.shapes.len() <= length {
            self.shapes.extend((self.shapes.len()..=length).map(Shape::new));
            self.dirty.resize(self.dirty.len().max(blocks), 0);
        }
        if !position.mark_stale_parents(&self.shapes[length].parents, &mut self.dirty) {
            self.refresh_all(position);
            return;
        }
        for block in (0..blocks).rev() {
            while self.dirty[block] != 0 {
                let bit = self.dirty[block].ilog2() as usize;
                self.dirty[block] &= !(1 << bit);
                let node = block * 64 + bit;
                if node > 1 {
                    self.refresh_node(position, length, node);
                }
            }
        }
    }

    #[inline]
    fn refresh_node(&mut self, position: &mut Position, length: usize, node: usize) {
        let shape = &self.shapes[length];
        let (left, right) = shape.children[node];
        let identity = self.interner.intern(position.cell(left as usize), position.cell(right as usize));
        if identity != position.cell(node) {
            position.set_memo(node, identity);
            let parent = shape.parents[node] as usize;
            self.dirty[parent / 64] |= 1 << (parent % 64);
        }
    }

    /// Computes every inner node.
    #[cold]
    fn refresh_all(&mut self, position: &mut Position) {
        self.dirty.fill(0);
        let length = position.visible().len();
        for node in (2..length).rev() {
            let (left, right) = self.shapes[length].children[node];
            let identity = self.interner.intern(position.cell(left as usize), position.cell(right as usize));
            position.set_memo_unlogged(node, identity);
        }
    }

    /// The two nodes below the top, which together with the length are the whole state.
    #[inline]
    fn root(&self, position: &Position, length: usize) -> u64 {
        match length {
            0 => 0,
            1 => u64::from(position.cell(1)),
            _ => {
                let (left, right) = self.shapes[length].children[1];
                u64::from(position.cell(left as usize)) | u64::from(position.cell(right as usize)) << 32
            }
        }
    }
}

/// The tree above the words of the states of one length n: each node is split into halves that are as
/// long, give or take one, so that both have about as many different values.
///
/// Inner nodes are the cells 1..n, level by level, so that children come after their parents; the words
/// are the cells n..2n.
#[derive(Debug)]
struct Shape {
    /// Of each inner node; of cell 0, which is none, nothing.
    children: Box<[(u32, u32)]>,
    /// Of each cell but the top.
    parents: Box<[u32]>,
}

impl Shape {
    fn new(length: usize) -> Self {
        let words = Self::order(length);
        let mut children = vec![(0, 0); length];
        let mut parents = vec![0; 2 * length];
        let mut next = 2;
        let mut spans = std::collections::VecDeque::from([(1, 0, length)]);
        while let Some((node, first, end)) = spans.pop_front() {
            if end - first < 2 {
                continue;
            }
            let middle = first + (end - first).div_ceil(2);
            let mut child = |first: usize, end: usize| {
                let is_word = end - first == 1;
                let cell = if is_word { length + words[first] } else { next };
                next += usize::from(!is_word);
                parents[cell] = node as u32;
                spans.push_back((cell, first, end));
                cell as u32
            };
            children[node] = (child(first, middle), child(middle, end));
        }
        Self { children: children.into(), parents: parents.into() }
    }

    /// The order of the words as leaves: first and third quarter, then second and fourth.
    fn order(length: usize) -> Vec<usize> {
        let quarter = |i: usize| i * length / 4;
        [0, 2, 1, 3].into_iter().flat_map(|i| quarter(i)..quarter(i + 1)).collect()
    }
}

/// The states of one length, by their topmost nodes.
#[derive(Debug)]
enum Roots<P> {
    /// The topmost nodes are, or may be, words: any numbers of 32 bits.
    Words(HashTable<P>),
    /// They are identities of inner nodes, mostly small.
    Nodes(RootTable<P>),
}

impl<P: Copy + Default> Roots<P> {
    fn new(length: usize) -> Self {
        if length < 4 { Self::Words(HashTable::new()) } else { Self::Nodes(RootTable::new()) }
    }

    fn len(&self) -> u64 {
        match self {
            Self::Words(table) => table.len(),
            Self::Nodes(table) => table.len(),
        }
    }

    fn memory_bytes(&self) -> u64 {
        match self {
            Self::Words(table) => table.memory_bytes(),
            Self::Nodes(table) => table.memory_bytes(),
        }
    }

    #[inline]
    fn prefetch(&self, root: u64) {
        match self {
            Self::Words(table) => table.prefetch(mix(root)),
            Self::Nodes(table) => table.prefetch(root as u32, (root >> 32) as u32),
        }
    }

    #[inline]
    fn entry(&mut self, root: u64) -> (bool, &mut P) {
        match self {
            Self::Words(table) => table.entry(mix(root)),
            Self::Nodes(table) => table.entry(root as u32, (root >> 32) as u32),
        }
    }
}

impl<P: Copy + Default> Store for TreeStore<P> {
    const MEMO_PER_WORD: usize = 1;

    type Probe = TreeProbe;

    #[inline]
    fn prepare(&mut self, position: &mut Position, class: Class) -> TreeProbe {
        self.refresh(position);
        let length = position.visible().len();
        let root = self.root(position, length);
        self.table(class, length).prefetch(root);
        TreeProbe { root, length: length as u32, class }
    }

    #[inline]
    fn commit(&mut self, probe: TreeProbe) -> Inserted {
        self.commit_entry(probe).0
    }

    fn memory_bytes(&self) -> u64 {
        let tables = self.ordinary.iter().chain(&self.transient).flatten();
        self.interner.memory_bytes() + tables.map(Roots::memory_bytes).sum::<u64>()
    }

    fn exactness(&self) -> Exactness {
        Exactness::Exact
    }

    fn is_full(&self) -> bool {
        self.interner.is_full()
    }

    fn note(&self, position: &Position, note: &mut Vec<u32>) {
        let length = position.visible().len();
        let root = self.root(position, length);
        note.extend([length as u32, root as u32, (root >> 32) as u32]);
    }

    fn recall(&self, note: &[u32], visible: &mut Vec<u32>) {
        if let &[length, low, high] = note {
            self.unfold(length as usize, u64::from(low) | u64::from(high) << 32, visible);
        }
    }
}

impl<P: Copy + Default> Lossless for TreeStore<P> {}
