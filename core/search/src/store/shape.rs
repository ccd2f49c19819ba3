//! How the states of one length become keys of at most 64 bits, without loss.
//!
//! Every word of a state has few different values: its [`Dictionary`] names them 0, 1, 2, … . A key is the
//! names of all words, side by side, each in a field as wide as its longest name so far. When the key would take
//! more than 64 bits, fields are [joined](super::joining): an inner node takes the place of two, and names the
//! pairs of their names. So the nodes are trees, whose tops are the fields of the key.
//!
//! A [`Layout`] says which node is in which field. When a name has outgrown its field, there is a new layout,
//! and all keys are written anew; the names stay, so that keys of an old layout can still be read.

use super::dictionary::Dictionary;
use super::joining;
use super::keys::{self, Keys};
use super::long::LongTree;
use crate::position::{Changed, Position};
use std::cmp::Reverse;

/// Keys have at most this many bits.
const KEY_BITS: u32 = 64;
/// When fields must be joined, they are joined until the key has this many bits; then it can grow for a while.
const KEY_BITS_WANTED: u32 = 44;
/// When fields are joined to make the set of keys compact, this many bits are left over.
const KEY_BITS_SPARE: u32 = 3;
/// At least this many states, if there are, tell which fields to join, …
const SAMPLE_MIN: usize = 1 << 11;
/// … more if the fields are few, …
const SAMPLE_MAX: usize = 1 << 16;
/// … but this many for each pair of fields.
const SAMPLE_PAIRS: usize = 1 << 20;
/// Up to this many states, trees are built anew when fields must be joined; later they only grow.
const REBUILT_MAX: u64 = 1 << 16;
/// Where fields are joined only to save memory, one pair in this many states of the sample is one too many.
const STATES_PER_PAIR_MIN: u32 = 2;
/// From this many states on, fields are made wide enough for more names than there are.
const SLACK_MIN: u64 = 1 << 8;
/// No node.
const NONE: u32 = u32::MAX;

/// Which nodes make up a key, and where.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// Words of the states it is for.
    pub length: u32,
    /// Its number among all layouts.
    number: u32,
    fields: Vec<Field>,
    bits: u32,
}

#[derive(Clone, Copy, Debug)]
struct Field {
    node: u32,
    shift: u8,
    width: u8,
}

/// Some bits of a key, and how far they go round.
#[derive(Clone, Copy, Debug)]
struct Shift {
    bits: u64,
    by: u32,
}

/// A word, or two nodes together.
#[derive(Debug, Default)]
struct Node {
    dictionary: Dictionary,
    /// The cell of a position's memo that holds its name.
    cell: u32,
    /// Which of the living nodes it is part of, or [`NONE`].
    parent: u32,
    children: (u32, u32),
    /// Its field, if it is part of no node; a word that is always the same has one of width 0.
    shift: u8,
    width: u8,
}

/// The states of one length.
#[derive(Debug)]
pub struct Shape<P> {
    pub length: usize,
    /// First the words, then inner nodes, parts before wholes; none if states are their own keys, or long.
    nodes: Vec<Node>,
    /// What makes keys of long states.
    long: Option<LongTree>,
    /// Inner nodes in use; others are needed only to read old keys.
    living: Vec<u32>,
    /// The number of the present layout.
    pub layout: u32,
    /// Living nodes to be named anew, one bit each; all zero between states.
    dirty: Vec<u64>,
    /// Ordinary states, then transient ones.
    pub keys: [Keys<P>; 2],
    key_bits: u32,
    /// Whether some field is as wide as a name can be.
    is_full: bool,
    /// Memory in use but for the keys.
    bytes: u64,
}

impl Layout {
    /// Without fields: every word has one value.
    pub fn empty(length: usize, number: u32) -> Self {
        Self { length: length as u32, number, ..Self::default() }
    }

    /// Writes the names of its fields; all others are 0.
    fn read(&self, key: u64, names: &mut [u32]) {
        names.fill(0);
        for field in &self.fields {
            names[field.node as usize] = (key >> field.shift & low_bits(field.width)) as u32;
        }
    }

    fn write(&self, names: &[u32]) -> u64 {
        self.fields.iter().map(|field| u64::from(names[field.node as usize]) << field.shift).sum()
    }

    /// How to move the bits of a key of an old layout to where they are in this one; `None` if a field of the old one
    /// is none of this one's. Neighbours that go equally far go together.
    fn shifts_from(&self, old: &Self) -> Option<Vec<Shift>> {
        let mut shifts: Vec<Shift> = Vec::new();
        for field in &old.fields {
            let new = self.fields.iter().find(|new| new.node == field.node)?;
            let bits = low_bits(field.width) << field.shift;
            let by = u32::from(new.shift.wrapping_sub(field.shift) & 63);
            match shifts.last_mut() {
                Some(last) if last.by == by => last.bits |= bits,
                _ => shifts.push(Shift { bits, by }),
            }
        }
        Some(shifts)
    }

    /// Memory in use, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        (size_of::<Self>() + self.fields.capacity() * size_of::<Field>()) as u64
    }
}

fn low_bits(width: u8) -> u64 {
    (1_u64 << width) - 1
}

impl<P: Copy + Default> Shape<P> {
    /// Nothing is known of the states yet: every word has one value. `layout` is the number of the empty layout.
    pub fn new(length: usize, layout: u32) -> Self {
        let node = |word: usize| Node { cell: Position::memo_cell(word), parent: NONE, ..Node::default() };
        let long = (LongTree::WORDS_MIN <= length).then(|| LongTree::new(length));
        let own_words = if length <= Self::RAW_MAX || long.is_some() { 0 } else { length };
        let bits = if own_words == 0 { KEY_BITS } else { 0 };
        Self {
            length,
            nodes: (0..own_words).map(node).collect(),
            long,
            living: Vec::new(),
            layout,
            dirty: vec![0; own_words.div_ceil(64)],
            keys: [Keys::with_room(bits, 0), Keys::with_room(bits, 0)],
            key_bits: bits,
            is_full: false,
            bytes: (size_of::<Self>() + own_words * size_of::<Node>()) as u64,
        }
    }

    /// States of so few words are their own keys.
    pub const RAW_MAX: usize = 2;

    /// Memory in use, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        let long = self.long.as_ref().map_or(0, LongTree::memory_bytes);
        self.bytes + long + self.keys.iter().map(Keys::memory_bytes).sum::<u64>()
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

    /// Brings the memo up to date with the words that changed; returns the key. `None` if a name does not fit
    /// into its field, or if the length changed, so that all words did.
    #[inline]
    pub fn fold(&mut self, position: &mut Position) -> Option<u64> {
        if let Some(long) = &mut self.long {
            return long.fold(position);
        }
        let mut update = Update { key: position.key(), excess: 0 };
        for entry in position.stale_entries() {
            let word = match position.changed(entry) {
                Changed::Word(word) => word,
                Changed::Other => continue,
                Changed::Length => return None,
            };
            let node = &mut self.nodes[word];
            let name = node.dictionary.name(u64::from(position.visible()[word]), &mut self.bytes);
            update.rename(node, name, position, &mut self.dirty);
        }
        for block in 0..self.living.len().div_ceil(64) {
            while self.dirty[block] != 0 {
                let bit = self.dirty[block].trailing_zeros() as usize;
                self.dirty[block] &= self.dirty[block] - 1;
                let node = self.living[block * 64 + bit] as usize;
                let (left, right) = self.nodes[node].children;
                let name = |child: u32| position.memo(self.nodes[child as usize].cell);
                let content = pair(name(left), name(right));
                let node = &mut self.nodes[node];
                let name = node.dictionary.name(content, &mut self.bytes);
                update.rename(node, name, position, &mut self.dirty);
            }
        }
        position.set_key(update.key);
        (update.excess == 0).then_some(update.key)
    }

    /// Computes the whole memo, of the state or of its successor, for good; returns the key. `None` if a name
    /// does not fit into its field.
    pub fn fold_all(&mut self, position: &mut Position, of_successor: bool) -> Option<u64> {
        if let Some(long) = &mut self.long {
            return Some(long.fold_all(position, of_successor));
        }
        let names = self.names(if of_successor { position.visible() } else { position.visible_before() });
        for node in (0..self.length).chain(self.living.iter().map(|&node| node as usize)) {
            position.set_memo_unlogged(self.nodes[node].cell as usize, names[node]);
        }
        let key = self.write(&names);
        position.set_key_unlogged(key.unwrap_or(0));
        key
    }

    /// The key of a state. `None` if a name does not fit into its field.
    pub fn key_of(&mut self, words: &[u32]) -> Option<u64> {
        if let Some(long) = &mut self.long {
            return Some(long.key_of(words));
        }
        let names = self.names(words);
        self.write(&names)
    }

    /// The names of all nodes of a state.
    fn names(&mut self, words: &[u32]) -> Vec<u32> {
        let mut names = vec![0; self.nodes.len()];
        for ((name, node), &content) in names.iter_mut().zip(&mut self.nodes).zip(words) {
            *name = node.dictionary.name(u64::from(content), &mut self.bytes);
        }
        self.name_living(0, &mut names);
        names
    }

    /// The key made of the names of all nodes. `None` if a name does not fit into its field.
    fn write(&self, names: &[u32]) -> Option<u64> {
        let mut update = Update { key: 0, excess: 0 };
        for node in (0..self.length).chain(self.living.iter().map(|&node| node as usize)) {
            update.put(&self.nodes[node], names[node]);
        }
        (update.excess == 0).then_some(update.key)
    }

    /// Makes a layout into which all names fit, and writes all keys anew.
    pub fn arrange(&mut self, layouts: &mut Vec<Layout>) {
        let old = layouts[self.layout as usize].clone();
        let mut known = self.living.len();
        let nodes_before = self.nodes.len();
        if KEY_BITS < self.bits() {
            if self.len() <= REBUILT_MAX {
                self.take_apart();
                known = 0;
            }
            while KEY_BITS < self.bits() && self.join(&old, known, KEY_BITS_WANTED, true) {}
        }
        if keys::MANY <= self.len() && self.bits_compact() < self.bits() {
            self.join(&old, known, self.bits_compact().saturating_sub(KEY_BITS_SPARE), false);
        }
        let joined = nodes_before < self.nodes.len();
        let new = self.lay_out(layouts.len() as u32);
        let mut names = vec![0; self.nodes.len()];
        let shifts = if joined { None } else { new.shifts_from(&old) };
        for class in 0..2 {
            let mut keys = Keys::with_room(new.bits, self.keys[class].len());
            let old_keys = std::mem::replace(&mut self.keys[class], Keys::with_room(0, 0));
            let mut filling = keys.fill();
            old_keys.each(|key, payload| {
                let key = match &shifts {
                    Some(shifts) => {
                        shifts.iter().fold(0, |moved, shift| moved | (key & shift.bits).rotate_left(shift.by))
                    }
                    None => {
                        old.read(key, &mut names);
                        self.name_from(known, &old, &mut names);
                        new.write(&names)
                    }
                };
                filling.take(key, payload);
            });
            drop(filling);
            self.keys[class] = keys;
        }
        self.layout = layouts.len() as u32;
        self.key_bits = new.bits;
        self.bytes += new.memory_bytes();
        layouts.push(new);
    }

    /// Writes a key of an old layout as one of the present layout, if all names fit.
    pub fn translate(&mut self, old: &Layout, key: u64) -> Option<u64> {
        if self.long.is_some() {
            return Some(key);
        }
        let mut names = vec![0; self.nodes.len()];
        old.read(key, &mut names);
        self.name_from(0, old, &mut names);
        self.write(&names)
    }

    /// Writes the words behind a key.
    pub fn unfold(&self, layout: &Layout, key: u64, words: &mut Vec<u32>) {
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

    /// Makes the set of a class compact.
    pub fn make_compact(&mut self, class: usize, layouts: &mut Vec<Layout>) {
        if self.bits_compact() < self.bits() {
            return self.arrange(layouts);
        }
        let mut keys = Keys::with_room(self.key_bits, self.keys[class].len());
        let mut filling = keys.fill();
        self.keys[class].each(|key, payload| filling.take(key, payload));
        drop(filling);
        self.keys[class] = keys;
    }

    fn len(&self) -> u64 {
        self.keys.iter().map(Keys::len).sum()
    }

    /// The nodes that are fields, because they have several names and are part of no other.
    fn tops(&self) -> Vec<u32> {
        let words = self.length.min(self.nodes.len()) as u32;
        let nodes = (0..words).chain(self.living.iter().copied());
        let is_top = |node: &Node| node.parent == NONE && node.dictionary.len() > 1;
        nodes.filter(|&node| is_top(&self.nodes[node as usize])).collect()
    }

    /// Bits that a key must have.
    fn bits(&self) -> u32 {
        self.tops().into_iter().map(|node| self.nodes[node as usize].dictionary.bits()).sum()
    }

    /// This many bits may a key have for the set of keys to be compact.
    fn bits_compact(&self) -> u32 {
        Keys::<P>::bits_max(self.len())
    }

    /// Gives up all trees.
    fn take_apart(&mut self) {
        self.living.clear();
        self.nodes.iter_mut().for_each(|node| node.parent = NONE);
    }

    /// Joins fields until the key seems to have this many bits; the old layout has the first `known` living nodes. If
    /// not at any price, then only fields with few pairs. False if there was nothing to join.
    fn join(&mut self, old: &Layout, known: usize, bits: u32, at_any_price: bool) -> bool {
        let mut nodes = self.tops();
        let columns = self.sample(old, known, &nodes);
        let states = columns.first().map_or(0, |column| column.0.len()) as u32;
        let pairs_max = if at_any_price { u32::MAX } else { states / STATES_PER_PAIR_MIN };
        let joins = joining::choose(columns, bits, pairs_max);
        for &(a, b) in &joins {
            let children = (nodes[a], nodes[b]);
            let (whole, living) = (self.nodes.len() as u32, self.living.len() as u32);
            self.nodes[nodes[a] as usize].parent = living;
            self.nodes[nodes[b] as usize].parent = living;
            let cell = Position::memo_cell(self.length + self.living.len());
            self.nodes.push(Node {
                dictionary: Dictionary::default(),
                cell,
                parent: NONE,
                children,
                shift: 0,
                width: 0,
            });
            self.bytes += size_of::<Node>() as u64;
            self.living.push(whole);
            nodes.push(whole);
        }
        let mut names = vec![0; self.nodes.len()];
        for class in 0..2 {
            let keys = std::mem::replace(&mut self.keys[class], Keys::with_room(0, 0));
            keys.each(|key, _| {
                old.read(key, &mut names);
                self.name_from(known, old, &mut names);
            });
            self.keys[class] = keys;
        }
        !joins.is_empty()
    }

    /// The names of some nodes in some states, and the bits that the names of each take.
    fn sample(&mut self, old: &Layout, known: usize, nodes: &[u32]) -> Vec<(Vec<u32>, u32)> {
        let bits = |&node: &u32| self.nodes[node as usize].dictionary.bits();
        let mut columns: Vec<_> = nodes.iter().map(|node| (Vec::new(), bits(node))).collect();
        let mut keys = Vec::new();
        for class in &self.keys {
            let mut left = (SAMPLE_PAIRS / (nodes.len() * nodes.len()).max(1)).clamp(SAMPLE_MIN, SAMPLE_MAX);
            class.each(|key, _| {
                if let Some(fewer) = left.checked_sub(1) {
                    left = fewer;
                    keys.push(key);
                }
            });
        }
        let mut names = vec![0; self.nodes.len()];
        for key in keys {
            old.read(key, &mut names);
            self.name_from(known, old, &mut names);
            for (column, &node) in columns.iter_mut().zip(nodes) {
                column.0.push(names[node as usize]);
            }
        }
        columns
    }

    /// A field for each top. Bits that are left over go to those that are nearest to being outgrown.
    fn lay_out(&mut self, number: u32) -> Layout {
        let bits_max = if self.bits() <= self.bits_compact() { self.bits_compact() } else { KEY_BITS };
        let has_many = SLACK_MIN <= self.len();
        let spare = if has_many { bits_max.saturating_sub(self.bits()) } else { 0 };
        let tops = self.tops();
        let dictionary = |node: u32| &self.nodes[node as usize].dictionary;
        let mut fullest: Vec<u32> = tops.iter().copied().filter(|&node| dictionary(node).bits() < 32).collect();
        fullest.sort_by_key(|&node| Reverse((dictionary(node).len() as u64) << (32 - dictionary(node).bits())));
        fullest.truncate(spare as usize);
        let mut layout = Layout::empty(self.length, number);
        for node in tops {
            let width = self.nodes[node as usize].dictionary.bits() + u32::from(fullest.contains(&node));
            let (shift, width) = (layout.bits as u8, width as u8);
            layout.bits += u32::from(width);
            self.is_full |= width == 32;
            layout.fields.push(Field { node, shift, width });
            (self.nodes[node as usize].shift, self.nodes[node as usize].width) = (shift, width);
        }
        layout
    }

    /// From the names of the fields of a layout to those of the words.
    fn split(&self, layout: &Layout, names: &mut [u32]) {
        let mut open: Vec<u32> = layout.fields.iter().map(|field| field.node).collect();
        while let Some(whole) = open.pop() {
            if whole as usize >= self.length {
                let children = self.split_node(whole, names);
                open.extend([children.0, children.1]);
            }
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

    /// From the names of the fields of a layout to those of the living nodes, if the layout has the first `known` of
    /// them; otherwise, if there are none that it has.
    fn name_from(&mut self, known: usize, layout: &Layout, names: &mut [u32]) {
        if known == 0 {
            self.split(layout, names);
        }
        self.name_living(known, names);
    }

    /// From the names of the words and of the first `known` living nodes to those of the others.
    fn name_living(&mut self, known: usize, names: &mut [u32]) {
        for &whole in &self.living[known..] {
            let node = &mut self.nodes[whole as usize];
            let content = pair(names[node.children.0 as usize], names[node.children.1 as usize]);
            names[whole as usize] = node.dictionary.name(content, &mut self.bytes);
        }
    }
}

fn pair(left: u32, right: u32) -> u64 {
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
