//! The lossless default: states as trees that share their subtrees.
//!
//! After Laarman, van de Pol, Weber: *Parallel Recursive State Compression for Free* (SPIN 2011),
//! with the incremental insertion of its section 4. The words of a state are the leaves of a binary
//! tree ([`Folder`]). An inner node is the identity of the pair of its children; the two nodes below the
//! top together, 64 bits, are the state. Neighbouring states differ in few words, so few nodes are new: nearly all of a state is the
//! one entry in the table of roots.
//!
//! What differs from the paper: one table of inner nodes for all positions, a table of roots for each
//! length, and roots that are mixed by a bijection, so that their place in the table says a part of them.

use super::fold::Folder;
use super::hash::mix;
use super::intern::Interner;
use super::roots::RootTable;
use super::table::HashTable;
use super::{Class, Exactness, Inserted, Lossless, Payloads, Store};
use crate::position::Position;

/// A lossless set of states at about 8 bytes per state. `P` is what is kept with each state.
#[derive(Debug)]
pub struct TreeStore<P = ()> {
    interner: Interner,
    ordinary: Vec<Option<Roots<P>>>,
    transient: Vec<Option<Roots<P>>>,
    folder: Folder,
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
            folder: Folder::default(),
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
        self.folder.unfold(length, root, |node| self.interner.pair(node), visible);
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
        let Self { folder, interner, .. } = self;
        folder.refresh(position, |left, right| interner.intern(left, right));
        let length = position.visible().len();
        let root = self.folder.root(position, length);
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
        let root = self.folder.root(position, length);
        note.extend([length as u32, root as u32, (root >> 32) as u32]);
    }

    fn recall(&self, note: &[u32], visible: &mut Vec<u32>) {
        if let &[length, low, high] = note {
            self.unfold(length as usize, u64::from(low) | u64::from(high) << 32, visible);
        }
    }
}

impl<P: Copy + Default> Lossless for TreeStore<P> {}

impl<P: Copy + Default> Payloads<P> for TreeStore<P> {
    #[inline]
    fn payload(&mut self, probe: TreeProbe) -> (Inserted, &mut P) {
        self.commit_entry(probe)
    }

    #[inline]
    fn probe_of_state(&self, position: &Position, class: Class) -> TreeProbe {
        let length = position.visible_len();
        let root = self.folder.root_of_state(position, length);
        TreeProbe { root, length: length as u32, class }
    }

    #[inline]
    fn expect(&self, probe: TreeProbe) {
        let tables = if probe.class == Class::Ordinary { &self.ordinary } else { &self.transient };
        if let Some(Some(table)) = tables.get(probe.length as usize) {
            table.prefetch(probe.root);
        }
    }
}
