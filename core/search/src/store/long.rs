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
use crate::position::{Changed, Position};
use std::collections::BinaryHeap;

/// The tree over the states of one length.
#[derive(Debug, Default)]
pub struct LongTree {
    length: usize,
    pairs: Dictionary,
    /// Nodes to be named anew; empty between states.
    dirty: BinaryHeap<u32>,
    bytes: u64,
}

impl LongTree {
    /// States of at least this many words are long: 16 KiB.
    pub const WORDS_MIN: usize = 1 << 12;
    /// With this many names, the dictionary cannot take many more.
    const NAMES_MAX: usize = u32::MAX as usize - (1 << 24);

    /// A tree over this many words.
    pub fn new(length: usize) -> Self {
        Self { length, ..Self::default() }
    }

    /// Memory in use.
    pub fn memory_bytes(&self) -> u64 {
        self.bytes
    }

    /// Names of inner nodes.
    pub fn names(&self) -> usize {
        self.pairs.len()
    }

    /// Whether it may run out of names.
    pub fn is_full(&self) -> bool {
        self.pairs.len() >= Self::NAMES_MAX
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

    fn pair(&self, position: &Position, node: usize) -> u64 {
        pair(self.value(position, 2 * node), self.value(position, 2 * node + 1))
    }

    /// Brings the memo up to date with the words that changed; returns the key. `None` if the length changed.
    pub fn fold(&mut self, position: &mut Position) -> Option<u64> {
        for entry in position.stale_entries() {
            match position.changed(entry) {
                Changed::Word(word) => self.dirty.push(((self.length + word) / 2) as u32),
                Changed::Other => {}
                Changed::Length => {
                    self.dirty.clear();
                    return None;
                }
            }
        }
        // A node's number is greater than that of the one it is part of.
        while let Some(node) = self.dirty.pop() {
            while self.dirty.peek() == Some(&node) {
                self.dirty.pop();
            }
            let content = self.pair(position, node as usize);
            if node == 1 {
                position.set_key(content);
                continue;
            }
            let (cell, name) = (Self::cell(node as usize), self.pairs.name(content, &mut self.bytes));
            if position.memo(cell) != name {
                position.set_memo(cell as usize, name);
                self.dirty.push(node / 2);
            }
        }
        Some(position.key())
    }

    /// Computes the whole memo, for good; returns the key.
    pub fn fold_all(&mut self, position: &mut Position, of_successor: bool) -> u64 {
        let names = self.names_of(if of_successor { position.visible() } else { position.visible_before() });
        for (node, &name) in names.iter().enumerate().skip(2) {
            position.set_memo_unlogged(Self::cell(node) as usize, name);
        }
        let key = self.key(&names, position.visible_before());
        position.set_key_unlogged(key);
        key
    }

    /// The key of a state.
    pub fn key_of(&mut self, words: &[u32]) -> u64 {
        let names = self.names_of(words);
        self.key(&names, words)
    }

    fn key(&self, names: &[u32], words: &[u32]) -> u64 {
        let value = |node: usize| names.get(node).copied().unwrap_or_else(|| words[node - self.length]);
        pair(value(2), value(3))
    }

    /// The names of all inner nodes of a state.
    fn names_of(&mut self, words: &[u32]) -> Vec<u32> {
        let mut names = vec![0; self.length];
        // Most words of a long state are the same as their neighbours.
        let mut last = (0, self.pairs.name(0, &mut self.bytes));
        for node in (2..self.length).rev() {
            let value = |node: usize| names.get(node).copied().unwrap_or_else(|| words[node - self.length]);
            let content = pair(value(2 * node), value(2 * node + 1));
            if content != last.0 {
                last = (content, self.pairs.name(content, &mut self.bytes));
            }
            names[node] = last.1;
        }
        names
    }

    /// Writes the names of all nodes of the state behind a key, and its words behind them: node `n` at place `n`.
    pub fn unfold(&self, key: u64, values: &mut Vec<u32>) {
        values.clear();
        values.resize(2 * self.length, 0);
        (values[2], values[3]) = (key as u32, (key >> 32) as u32);
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

fn pair(left: u32, right: u32) -> u64 {
    u64::from(left) | u64::from(right) << 32
}
