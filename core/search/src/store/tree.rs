//! The lossless default: states as trees that share their subtrees.
//!
//! After Laarman, van de Pol, Weber: *Parallel Recursive State Compression for Free* (SPIN 2011),
//! with the incremental insertion of its section 4. The words of a state of length n are the leaves
//! n..2n of a binary tree laid out as an array, in which node i has the children 2i and 2i+1. An
//! inner node is the identity of the pair of its children; nodes 2 and 3 together, 64 bits, are the
//! state. Neighbouring states differ in few words, so few nodes are new: nearly all of a state is the
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
        Self { interner: Interner::default(), ordinary: Vec::new(), transient: Vec::new(), dirty: Vec::new() }
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
        match length {
            0 => {}
            1 => nodes[1] = root as u32,
            _ => (nodes[2], nodes[3]) = (root as u32, (root >> 32) as u32),
        }
        for node in 2..length {
            (nodes[2 * node], nodes[2 * node + 1]) = self.interner.pair(nodes[node]);
        }
        visible.clear();
        visible.extend_from_slice(&nodes[length..2 * length]);
    }

    /// Computes the inner nodes above the words that changed.
    #[inline]
    fn refresh(&mut self, position: &mut Position) {
        let length = position.visible().len();
        let blocks = length.div_ceil(64);
        if self.dirty.len() < blocks {
            self.dirty.resize(blocks, 0);
        }
        if !position.mark_stale_parents(&mut self.dirty) {
            self.refresh_all(position);
            return;
        }
        for block in (0..blocks).rev() {
            while self.dirty[block] != 0 {
                let bit = self.dirty[block].ilog2() as usize;
                self.dirty[block] &= !(1 << bit);
                let node = block * 64 + bit;
                if node > 1 {
                    self.refresh_node(position, node);
                }
            }
        }
    }

    #[inline]
    fn refresh_node(&mut self, position: &mut Position, node: usize) {
        let identity = self.interner.intern(position.cell(2 * node), position.cell(2 * node + 1));
        if identity != position.cell(node) {
            position.set_memo(node, identity);
            let parent = node / 2;
            self.dirty[parent / 64] |= 1 << (parent % 64);
        }
    }

    /// Computes every inner node.
    #[cold]
    fn refresh_all(&mut self, position: &mut Position) {
        self.dirty.fill(0);
        for node in (2..position.visible().len()).rev() {
            let identity = self.interner.intern(position.cell(2 * node), position.cell(2 * node + 1));
            position.set_memo_unlogged(node, identity);
        }
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

/// The pair of the topmost nodes, which together with the length is the whole state.
#[inline]
fn root(position: &Position, length: usize) -> u64 {
    match length {
        0 => 0,
        1 => u64::from(position.cell(1)),
        _ => u64::from(position.cell(2)) | u64::from(position.cell(3)) << 32,
    }
}

impl<P: Copy + Default> Store for TreeStore<P> {
    const MEMO_PER_WORD: usize = 1;

    type Probe = TreeProbe;

    #[inline]
    fn prepare(&mut self, position: &mut Position, class: Class) -> TreeProbe {
        self.refresh(position);
        let length = position.visible().len();
        let root = root(position, length);
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
        let root = root(position, length);
        note.extend([length as u32, root as u32, (root >> 32) as u32]);
    }

    fn recall(&self, note: &[u32], visible: &mut Vec<u32>) {
        if let &[length, low, high] = note {
            self.unfold(length as usize, u64::from(low) | u64::from(high) << 32, visible);
        }
    }
}

impl<P: Copy + Default> Lossless for TreeStore<P> {}
