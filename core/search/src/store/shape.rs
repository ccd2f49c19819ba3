//! How the states of one length become keys of few bits, without loss; threads may name states at the same time.
//!
//! Every word of a state has few different values: its [`Dictionary`] names them 0, 1, 2, … . A key is the
//! names of all words, side by side, each in a field as wide as its longest name so far. When the key would take
//! more bits than it may, fields are [joined](super::joining): an inner node takes the place of two, and names the
//! pairs of their names. So the nodes are trees, whose tops are the fields of the key.
//!
//! A [`Layout`] says which node is in which field. When a name has outgrown its field, whoever has the shape for itself
//! [arranges](Shape::arrange) a new layout, and all keys are written anew; the names stay, so that keys of an old layout can
//! still be read.

use super::dictionary::Dictionary;
use super::layout::Layout;
use super::long::{LongTree, Marked};
use super::recent::Recent;
use crate::position::{Changed, Position};

/// No node.
pub(super) const NONE: u32 = u32::MAX;

/// A word, or two nodes together.
#[derive(Debug, Default)]
pub(super) struct Node {
    pub(super) dictionary: Dictionary,
    /// The cell of a position's memo that holds its name.
    pub(super) cell: u32,
    /// Which of the living nodes it is part of, or [`NONE`].
    pub(super) parent: u32,
    pub(super) children: (u32, u32),
    /// Its field, if it is part of no node; a word that is always the same has one of width 0.
    pub(super) shift: u8,
    pub(super) width: u8,
}

/// The states of one length.
#[derive(Debug)]
pub struct Shape {
    pub length: usize,
    /// First the words, then inner nodes, parts before wholes; none if states are their own keys, or long.
    pub(super) nodes: Vec<Node>,
    /// What makes keys of long states.
    pub(super) long: Option<LongTree>,
    /// Inner nodes in use; others are needed only to read old keys.
    pub(super) living: Vec<u32>,
    /// The number of the present layout.
    pub layout: u32,
    /// Bits of the keys of the present layout.
    pub key_bits: u32,
    /// Keys have at most this many bits.
    pub(super) key_bits_max: u32,
    /// Whether some field is as wide as a name can be.
    pub(super) is_full: bool,
    /// Memory in use.
    pub(super) bytes: u64,
}

/// Why a state has no key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unfit {
    /// The dictionary of this node has no room for a name.
    Room(usize),
    /// A name does not fit into its field.
    Field,
    /// The length changed, so that all words did.
    Length,
}

/// What one thread needs to name states.
#[derive(Debug, Default)]
pub struct Scratch {
    /// Living nodes to be named anew, one bit each; all zero between states.
    dirty: Vec<u64>,
    /// Names of all nodes of a state.
    names: Vec<u32>,
    /// Nodes of a long state to be named anew.
    marked: Marked,
    /// Names that inner nodes gave lately.
    recent: Recent,
}

impl Scratch {
    /// Makes room for the bits of living nodes, in this many words.
    #[cold]
    fn make_room(&mut self, blocks: usize) {
        self.dirty.resize(blocks, 0);
    }
}

impl Shape {
    /// Nothing is known of the states yet: every word has one value. `layout` is the number of the empty layout; keys have at most
    /// `key_bits_max` bits.
    pub fn new(length: usize, layout: u32, key_bits_max: u32) -> Self {
        let node = |word: usize| Node { cell: Position::memo_cell(word), parent: NONE, ..Node::default() };
        let long = (LongTree::WORDS_MIN <= length).then(|| LongTree::new(length, key_bits_max / 2));
        let is_raw = length <= raw_max(key_bits_max);
        let own_words = if is_raw || long.is_some() { 0 } else { length };
        let mut shape = Self {
            length,
            nodes: (0..own_words).map(node).collect(),
            long,
            living: Vec::new(),
            layout,
            key_bits: if own_words == 0 { key_bits_max } else { 0 },
            key_bits_max,
            is_full: false,
            bytes: 0,
        };
        shape.count_bytes();
        shape
    }

    /// Whether states are their own keys, since they have so few words.
    #[inline]
    pub fn is_raw(&self) -> bool {
        self.nodes.is_empty() && self.long.is_none()
    }

    /// Memory in use, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn count_bytes(&mut self) {
        let dictionaries: u64 = self.nodes.iter().map(|node| node.dictionary.memory_bytes()).sum();
        let long = self.long.as_ref().map_or(0, LongTree::memory_bytes);
        self.bytes = (size_of::<Self>() + size_of_val::<[Node]>(&self.nodes)) as u64 + dictionaries + long;
    }

    /// Names that inner nodes gave.
    pub fn inner_names(&self) -> usize {
        let long = self.long.as_ref().map_or(0, LongTree::names);
        long + self.nodes.iter().skip(self.length).map(|node| node.dictionary.len()).sum::<usize>()
    }

    /// Whether some node may run out of names.
    pub fn is_full(&self) -> bool {
        self.is_full || self.long.as_ref().is_some_and(LongTree::is_full)
    }

    /// The key of the successor of a position, whose memo is brought up to date with it. `epoch` is the number of all
    /// layouts that ever were.
    #[inline]
    pub fn key(&self, epoch: u32, position: &mut Position, scratch: &mut Scratch) -> Result<u64, Unfit> {
        if self.is_raw() {
            return Ok(raw_key(position.visible()));
        }
        if position.memo_epoch() == epoch
            && let Ok(key) = self.fold(position, scratch)
        {
            return Ok(key);
        }
        self.key_anew(epoch, position, scratch)
    }

    /// As [`Self::key`], where the memo is of no use, or a name does not fit. The memo is as it was before if there is no key.
    #[cold]
    fn key_anew(&self, epoch: u32, position: &mut Position, scratch: &mut Scratch) -> Result<u64, Unfit> {
        position.undo_memo();
        scratch.dirty.fill(0);
        let resized = position.is_resized();
        if resized || position.memo_epoch() != epoch {
            let key = self.fold_all(position, resized, scratch)?;
            position.trust_memo(epoch, resized);
            if resized {
                return Ok(key);
            }
        }
        let key = self.fold(position, scratch);
        if key.is_err() {
            position.undo_memo();
        }
        key
    }

    /// Brings the memo up to date with the words that changed; returns the key.
    #[inline]
    fn fold(&self, position: &mut Position, scratch: &mut Scratch) -> Result<u64, Unfit> {
        if let Some(long) = &self.long {
            return long.fold(position, &mut scratch.marked);
        }
        let blocks = self.living.len().div_ceil(64);
        if scratch.dirty.len() < blocks {
            scratch.make_room(blocks);
        }
        let (dirty, recent) = (&mut *scratch.dirty, &mut scratch.recent);
        let mut update = Update { key: position.key(), excess: 0 };
        for entry in position.stale_entries() {
            let word = match position.changed(entry) {
                Changed::Word(word) => word,
                Changed::Other => continue,
                Changed::Length => return Err(Unfit::Length),
            };
            let node = &self.nodes[word];
            let content = u64::from(position.visible()[word]);
            let name = node.dictionary.name(content).ok_or(Unfit::Room(word))?;
            update.rename(node, name, position, dirty);
        }
        for block in 0..blocks {
            while dirty[block] != 0 {
                let bit = dirty[block].trailing_zeros() as usize;
                dirty[block] &= dirty[block] - 1;
                let number = self.living[block * 64 + bit] as usize;
                let node = &self.nodes[number];
                let name = |child: u32| position.memo(self.nodes[child as usize].cell);
                let content = pair(name(node.children.0), name(node.children.1));
                let name = recent.name(self.length, (number, &node.dictionary), content).ok_or(Unfit::Room(number))?;
                update.rename(node, name, position, dirty);
            }
        }
        position.set_key(update.key);
        if update.excess == 0 { Ok(update.key) } else { Err(Unfit::Field) }
    }

    /// Computes the whole memo, of the state or of its successor, for good; returns the key.
    fn fold_all(&self, position: &mut Position, of_successor: bool, scratch: &mut Scratch) -> Result<u64, Unfit> {
        if let Some(long) = &self.long {
            return long.fold_all(position, of_successor);
        }
        let names = &mut scratch.names;
        self.names(if of_successor { position.visible() } else { position.visible_before() }, names)?;
        for node in (0..self.length).chain(self.living.iter().map(|&node| node as usize)) {
            position.set_memo_unlogged(self.nodes[node].cell as usize, names[node]);
        }
        let key = self.write(names);
        position.set_key_unlogged(key.unwrap_or(0));
        key
    }

    /// The key of a state.
    pub fn key_of(&self, words: &[u32], scratch: &mut Scratch) -> Result<u64, Unfit> {
        if self.is_raw() {
            return Ok(raw_key(words));
        }
        if let Some(long) = &self.long {
            return long.key_of(words);
        }
        self.names(words, &mut scratch.names)?;
        self.write(&scratch.names)
    }

    /// Writes the names of all nodes of a state.
    fn names(&self, words: &[u32], names: &mut Vec<u32>) -> Result<(), Unfit> {
        names.clear();
        names.resize(self.nodes.len(), 0);
        for (word, &content) in words.iter().enumerate() {
            names[word] = self.nodes[word].dictionary.name(u64::from(content)).ok_or(Unfit::Room(word))?;
        }
        self.name_living(0, names)
    }

    /// From the names of the words and of the first `known` living nodes to those of the others.
    pub(super) fn name_living(&self, known: usize, names: &mut [u32]) -> Result<(), Unfit> {
        for &whole in &self.living[known..] {
            let node = &self.nodes[whole as usize];
            let content = pair(names[node.children.0 as usize], names[node.children.1 as usize]);
            names[whole as usize] = node.dictionary.name(content).ok_or(Unfit::Room(whole as usize))?;
        }
        Ok(())
    }

    /// The key made of the names of all nodes.
    fn write(&self, names: &[u32]) -> Result<u64, Unfit> {
        let mut update = Update { key: 0, excess: 0 };
        for node in (0..self.length).chain(self.living.iter().map(|&node| node as usize)) {
            update.put(&self.nodes[node], names[node]);
        }
        if update.excess == 0 { Ok(update.key) } else { Err(Unfit::Field) }
    }

    /// Makes room for names, after a thread found none in the dictionary of this node.
    pub fn make_room(&mut self, node: usize) {
        if let Some(long) = &mut self.long {
            long.make_room();
        } else if let Some(node) = self.nodes.get_mut(node)
            && !node.dictionary.has_room()
        {
            node.dictionary.grow();
        }
        self.grow_crowded();
    }

    /// Makes room in each dictionary that has hardly any left.
    fn grow_crowded(&mut self) {
        for node in &mut self.nodes {
            if node.dictionary.is_crowded() {
                node.dictionary.grow();
            }
        }
        self.count_bytes();
    }

    /// Writes a key of an old layout as one of the present layout.
    pub fn translate(&self, old: &Layout, key: u64, scratch: &mut Scratch) -> Result<u64, Unfit> {
        if self.nodes.is_empty() || old.number == self.layout {
            return Ok(key);
        }
        let names = &mut scratch.names;
        names.clear();
        names.resize(self.nodes.len(), 0);
        old.read(key, names);
        self.split(old, names);
        self.name_living(0, names)?;
        self.write(names)
    }

    /// Writes the words behind a key; drops what `words` held.
    pub fn unfold(&self, layout: &Layout, key: u64, words: &mut Vec<u32>) {
        if self.is_raw() {
            words.clear();
            words.extend([key as u32, (key >> 32) as u32].iter().take(self.length));
            return;
        }
        if let Some(long) = &self.long {
            long.unfold(key, words);
            words.drain(..self.length);
            return;
        }
        self.unfold_names(layout, key, words);
        words.truncate(self.length);
        for (word, node) in words.iter_mut().zip(&self.nodes) {
            *word = node.dictionary.content(*word) as u32;
        }
    }

    /// Moves a position to the state behind a key of the present layout, `layout`, whose hidden words are given. The
    /// memo of the position must follow the present layout, and is right afterwards; `names` is room to work in.
    pub fn unfold_into(
        &self,
        layout: &Layout,
        key: u64,
        hidden: &[u32],
        position: &mut Position,
        names: &mut Vec<u32>,
    ) {
        if let Some(long) = &self.long {
            return long.unfold_into(key, hidden, position, names);
        }
        self.unfold_names(layout, key, names);
        for &node in &self.living {
            position.set_memo_unlogged(self.nodes[node as usize].cell as usize, names[node as usize]);
        }
        position.set_key_unlogged(key);
        for (word, (node, &name)) in self.nodes[..self.length].iter().zip(names.iter()).enumerate() {
            position.set_memo_unlogged(node.cell as usize, name);
            position.set_word_unlogged(word, node.dictionary.content(name) as u32);
        }
        position.set_hidden_unlogged(hidden);
    }

    /// Writes the names of all nodes that matter behind a key.
    fn unfold_names(&self, layout: &Layout, key: u64, names: &mut Vec<u32>) {
        names.clear();
        names.resize(self.nodes.len(), 0);
        layout.read(key, names);
        if layout.number == self.layout {
            for &whole in self.living.iter().rev() {
                self.split_node(whole, names);
            }
        } else {
            self.split(layout, names);
        }
    }

    /// From the names of the fields of a layout to those of the words.
    pub(super) fn split(&self, layout: &Layout, names: &mut [u32]) {
        let is_inner = |node: &u32| *node as usize >= self.length;
        let mut open: Vec<u32> = layout.fields.iter().map(|field| field.node).filter(is_inner).collect();
        while let Some(whole) = open.pop() {
            let children = self.split_node(whole, names);
            open.extend([children.0, children.1].into_iter().filter(is_inner));
        }
    }

    #[inline]
    fn split_node(&self, whole: u32, names: &mut [u32]) -> (u32, u32) {
        let node = &self.nodes[whole as usize];
        let content = node.dictionary.content(names[whole as usize]);
        names[node.children.0 as usize] = content as u32;
        names[node.children.1 as usize] = (content >> 32) as u32;
        node.children
    }
}

/// States of at most this many words are their own keys.
fn raw_max(key_bits_max: u32) -> usize {
    (key_bits_max / u32::BITS) as usize
}

/// The key of a state that is its own.
fn raw_key(words: &[u32]) -> u64 {
    words.iter().rev().fold(0, |key, &word| key << 32 | u64::from(word))
}

pub(super) fn pair(left: u32, right: u32) -> u64 {
    u64::from(left) | u64::from(right) << 32
}

/// A key in the making.
struct Update {
    key: u64,
    /// Not 0 if a name did not fit into its field.
    excess: u64,
}

impl Update {
    /// Changes the name of a node.
    #[inline(always)]
    fn rename(&mut self, node: &Node, name: u32, position: &mut Position, dirty: &mut [u64]) {
        let old = position.memo(node.cell);
        if name == old {
            return;
        }
        position.set_memo(node.cell as usize, name);
        if node.parent == NONE {
            self.key ^= u64::from(name ^ old) << (node.shift & 63);
            self.excess |= u64::from(name) >> node.width;
        } else {
            dirty[node.parent as usize / 64] |= 1 << (node.parent % 64);
        }
    }

    /// Puts the name of a node into its field, if it has one.
    fn put(&mut self, node: &Node, name: u32) {
        if node.parent == NONE {
            self.key |= u64::from(name) << (node.shift & 63);
            self.excess |= u64::from(name) >> node.width;
        }
    }
}
