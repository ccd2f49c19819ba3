//! How long states become keys: by one balanced tree over their words, whose inner nodes share one dictionary.
//!
//! After Laarman, van de Pol, Weber: *Parallel Recursive State Compression for Free* (SPIN 2011), as it stands there: nothing
//! is learned from the states, and nothing is ever written anew. A [`Shape`](super::shape::Shape) takes fewer bytes per
//! state, but it keeps a dictionary for each word, and looks at all words whenever a name outgrows its field; with many
//! thousand words that is what takes the time.
//!
//! The nodes are numbered as in a heap: node `n` has the children `2n` and `2n + 1`, and word `w` of a state of `l` words
//! is node `l + w`. The names of nodes 2 and 3 make up the key, which has no name.

use super::dictionary::Dictionary;
use super::shape::{Unfit, pair};
use crate::position::{Changed, Position};
use std::collections::BinaryHeap;

/// The tree over the states of one length.
#[derive(Debug, Default)]
pub struct LongTree {
    length: usize,
    pub(super) pairs: Dictionary,
    /// Bits of a name.
    name_bits: u32,
}

/// Nodes to be named anew; none between states.
pub type Marked = BinaryHeap<u32>;

impl LongTree {
    /// States of at least this many words are long: 16 KiB.
    pub const WORDS_MIN: usize = 1 << 12;

    /// A tree over this many words, whose nodes have names of so many bits.
    pub fn new(length: usize, name_bits: u32) -> Self {
        Self { length, name_bits, ..Self::default() }
    }

    /// Memory in use.
    pub fn memory_bytes(&self) -> u64 {
        self.pairs.memory_bytes()
    }

    /// Names of inner nodes.
    pub fn names(&self) -> usize {
        self.pairs.len()
    }

    /// What they stand for, in the order of the names.
    pub fn contents(&self) -> Vec<u64> {
        self.pairs.contents()
    }

    /// Whether it may run out of names.
    pub fn is_full(&self) -> bool {
        let names = 1_usize << self.name_bits;
        names - names / 256 <= self.pairs.len()
    }

    /// Makes room for names.
    pub fn make_room(&mut self) {
        if !self.pairs.has_room() || self.pairs.is_crowded() {
            self.pairs.grow();
        }
    }

    /// The name of a pair of nodes.
    fn name(&self, content: u64) -> Result<u32, Unfit> {
        let name = self.pairs.name(content).ok_or(Unfit::Room(0))?;
        if u64::from(name) >> self.name_bits == 0 { Ok(name) } else { Err(Unfit::Field) }
    }

    /// The key made of the names of nodes 2 and 3.
    fn key(&self, left: u32, right: u32) -> u64 {
        u64::from(left) | u64::from(right) << self.name_bits
    }

    /// The cell of a position's memo with the name of an inner node; node 1, the first, has none.
    fn cell(node: usize) -> u32 {
        Position::memo_cell(node - 2)
    }

    /// The name of a node of the successor, or the word that it is.
    fn value(&self, position: &Position, node: usize) -> u32 {
        match node.checked_sub(self.length) {
            Some(word) => position.visible()[word],
            None => position.memo(Self::cell(node)),
        }
    }

    /// Brings the memo up to date with the words that changed; returns the key.
    pub fn fold(&self, position: &mut Position, marked: &mut Marked) -> Result<u64, Unfit> {
        marked.clear();
        for entry in position.stale_entries() {
            match position.changed(entry) {
                Changed::Word(word) => marked.push(((self.length + word) / 2) as u32),
                Changed::Other => {}
                Changed::Length => return Err(Unfit::Length),
            }
        }
        // A node's number is greater than that of the one it is part of.
        while let Some(node) = marked.pop() {
            while marked.peek() == Some(&node) {
                marked.pop();
            }
            let node = node as usize;
            let (left, right) = (self.value(position, 2 * node), self.value(position, 2 * node + 1));
            if node == 1 {
                position.set_key(self.key(left, right));
                continue;
            }
            let (cell, name) = (Self::cell(node), self.name(pair(left, right))?);
            if position.memo(cell) != name {
                position.set_memo(cell as usize, name);
                marked.push(node as u32 / 2);
            }
        }
        Ok(position.key())
    }

    /// Computes the whole memo, for good; returns the key.
    pub fn fold_all(&self, position: &mut Position, of_successor: bool) -> Result<u64, Unfit> {
        let words = if of_successor { position.visible() } else { position.visible_before() };
        let names = self.names_of(words)?;
        let key = self.key_of_names(&names, words);
        for (node, &name) in names.iter().enumerate().skip(2) {
            position.set_memo_unlogged(Self::cell(node) as usize, name);
        }
        position.set_key_unlogged(key);
        Ok(key)
    }

    /// The key of a state.
    pub fn key_of(&self, words: &[u32]) -> Result<u64, Unfit> {
        let names = self.names_of(words)?;
        Ok(self.key_of_names(&names, words))
    }

    fn key_of_names(&self, names: &[u32], words: &[u32]) -> u64 {
        let value = |node: usize| names.get(node).copied().unwrap_or_else(|| words[node - self.length]);
        self.key(value(2), value(3))
    }

    /// The names of all inner nodes of a state.
    fn names_of(&self, words: &[u32]) -> Result<Vec<u32>, Unfit> {
        let mut names = vec![0; self.length];
        // Most words of a long state are the same as their neighbours.
        let mut last = (0, self.name(0)?);
        for node in (2..self.length).rev() {
            let value = |node: usize| names.get(node).copied().unwrap_or_else(|| words[node - self.length]);
            let content = pair(value(2 * node), value(2 * node + 1));
            if content != last.0 {
                last = (content, self.name(content)?);
            }
            names[node] = last.1;
        }
        Ok(names)
    }

    /// Writes the names of all nodes of the state behind a key, and its words behind them: node `n` at place `n`.
    pub fn unfold(&self, key: u64, values: &mut Vec<u32>) {
        values.clear();
        values.resize(2 * self.length, 0);
        let names = (1_u64 << self.name_bits) - 1;
        (values[2], values[3]) = ((key & names) as u32, (key >> self.name_bits) as u32);
        for node in 2..self.length {
            let content = self.pairs.content(values[node]);
            (values[2 * node], values[2 * node + 1]) = (content as u32, (content >> 32) as u32);
        }
    }

    /// Moves a position to the state behind a key, whose hidden words are given. The memo is right afterwards; `values` is room
    /// to work in.
    pub fn unfold_into(&self, key: u64, hidden: &[u32], position: &mut Position, values: &mut Vec<u32>) {
        self.unfold(key, values);
        let (names, words) = values.split_at(self.length);
        for (node, &name) in names.iter().enumerate().skip(2) {
            position.set_memo_unlogged(Self::cell(node) as usize, name);
        }
        for (word, &content) in words.iter().enumerate() {
            position.set_word_unlogged(word, content);
        }
        position.set_key_unlogged(key);
        position.set_hidden_unlogged(hidden);
    }
}
