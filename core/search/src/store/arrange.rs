//! New layouts: which fields a key has, and all keys written anew. Whoever arranges has the shape and its keys for itself.

use super::joining;
use super::keys::{KeySet, MANY};
use super::layout::{Layout, Shift};
use super::shape::{NONE, Node, Shape, Unfit};
use crate::position::Position;
use std::cmp::Reverse;

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

impl Shape {
    /// Makes a layout into which all names fit, and writes all keys anew.
    pub fn arrange<K: KeySet>(&mut self, sets: &mut [K], layouts: &mut Vec<Layout>) {
        let old = layouts[self.layout as usize].clone();
        let mut known = self.living.len();
        let nodes_before = self.nodes.len();
        let room = bits_compact(sets);
        if self.key_bits_max < self.bits() {
            if len(sets) <= REBUILT_MAX {
                self.take_apart();
                known = 0;
            }
            while self.key_bits_max < self.bits() && self.join(sets, (&old, known), KEY_BITS_WANTED, true) {}
        }
        if MANY <= len(sets) && room < self.bits() {
            self.join(sets, (&old, known), room.saturating_sub(KEY_BITS_SPARE), false);
        }
        let joined = nodes_before < self.nodes.len();
        let new = self.lay_out(layouts.len() as u32, len(sets), room);
        let shifts = if joined { None } else { new.shifts_from(&old) };
        for set in sets.iter_mut() {
            *set = self.written_anew(set, (&old, known), &new, shifts.as_deref());
        }
        self.layout = layouts.len() as u32;
        self.key_bits = new.bits;
        layouts.push(new);
        self.count_bytes();
    }

    /// A set with its keys written anew; the old layout has the first `known` living nodes, and all keys have names.
    fn written_anew<K: KeySet>(
        &self,
        set: &K,
        (old, known): (&Layout, usize),
        new: &Layout,
        shifts: Option<&[Shift]>,
    ) -> K {
        match shifts {
            Some(shifts) => {
                set.rewritten(new.bits, || |key| shifts.iter().fold(0, |moved, shift| moved | shift.of(key)))
            }
            None => set.rewritten(new.bits, || {
                let mut names = vec![0; self.nodes.len()];
                move |key| match self.names_behind((old, known), key, &mut names) {
                    Ok(()) => new.write(&names),
                    Err(_) => unreachable!("every key was named when the nodes were joined"),
                }
            }),
        }
    }

    /// Makes a set compact.
    pub fn make_compact<K: KeySet>(&mut self, sets: &mut [K], set: usize, layouts: &mut Vec<Layout>) {
        if bits_compact(sets) < self.bits() {
            return self.arrange(sets, layouts);
        }
        sets[set] = sets[set].rewritten(self.key_bits, || |key| key);
    }

    /// The names of all living nodes behind a key of an old layout, which has the first `known` of them, or none.
    fn names_behind(&self, (old, known): (&Layout, usize), key: u64, names: &mut [u32]) -> Result<(), Unfit> {
        old.read(key, names);
        if known == 0 {
            self.split(old, names);
        }
        self.name_living(known, names)
    }

    /// As [`Self::names_behind`], and nodes that are new name what they did not know.
    fn name_all(&mut self, old: (&Layout, usize), key: u64, names: &mut [u32]) {
        while let Err(unfit) = self.names_behind(old, key, names) {
            if let Unfit::Room(node) = unfit {
                self.make_room(node);
            }
        }
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

    /// Gives up all trees.
    fn take_apart(&mut self) {
        self.living.clear();
        self.nodes.iter_mut().for_each(|node| node.parent = NONE);
    }

    /// Joins fields until the key seems to have this many bits; the old layout has the first `known` living nodes. If
    /// not at any price, then only fields with few pairs. False if there was nothing to join.
    fn join<K: KeySet>(&mut self, sets: &[K], (old, known): (&Layout, usize), bits: u32, at_any_price: bool) -> bool {
        let mut nodes = self.tops();
        let columns = self.sample(sets, (old, known), &nodes);
        let states = columns.first().map_or(0, |column| column.0.len()) as u32;
        let pairs_max = if at_any_price { u32::MAX } else { states / STATES_PER_PAIR_MIN };
        let joins = joining::choose(columns, bits, pairs_max);
        for &(a, b) in &joins {
            let children = (nodes[a], nodes[b]);
            let (whole, living) = (self.nodes.len() as u32, self.living.len() as u32);
            self.nodes[nodes[a] as usize].parent = living;
            self.nodes[nodes[b] as usize].parent = living;
            let cell = Position::memo_cell(self.length + self.living.len());
            self.nodes.push(Node { cell, parent: NONE, children, ..Node::default() });
            self.living.push(whole);
            nodes.push(whole);
        }
        let mut names = vec![0; self.nodes.len()];
        for set in sets {
            set.each(|key, _| self.name_all((old, known), key, &mut names));
        }
        !joins.is_empty()
    }

    /// The names of some nodes in some states, and the bits that the names of each take.
    fn sample<K: KeySet>(&mut self, sets: &[K], old: (&Layout, usize), nodes: &[u32]) -> Vec<(Vec<u32>, u32)> {
        let bits = |&node: &u32| self.nodes[node as usize].dictionary.bits();
        let mut columns: Vec<_> = nodes.iter().map(|node| (Vec::new(), bits(node))).collect();
        let mut keys = Vec::new();
        for set in sets {
            let mut left = (SAMPLE_PAIRS / (nodes.len() * nodes.len()).max(1)).clamp(SAMPLE_MIN, SAMPLE_MAX);
            set.each(|key, _| {
                if let Some(fewer) = left.checked_sub(1) {
                    left = fewer;
                    keys.push(key);
                }
            });
        }
        let mut names = vec![0; self.nodes.len()];
        for key in keys {
            self.name_all(old, key, &mut names);
            for (column, &node) in columns.iter_mut().zip(nodes) {
                column.0.push(names[node as usize]);
            }
        }
        columns
    }

    /// A field for each top. Bits that are left over go to those that are nearest to being outgrown. There are `states` states; with
    /// at most `room` bits, sets of their keys are compact.
    fn lay_out(&mut self, number: u32, states: u64, room: u32) -> Layout {
        let bits_max = if self.bits() <= room { room.min(self.key_bits_max) } else { self.key_bits_max };
        let spare = if SLACK_MIN <= states { bits_max.saturating_sub(self.bits()) } else { 0 };
        let tops = self.tops();
        let dictionary = |node: u32| &self.nodes[node as usize].dictionary;
        let mut fullest: Vec<u32> = tops.iter().copied().filter(|&node| dictionary(node).bits() < 32).collect();
        fullest.sort_by_key(|&node| Reverse((dictionary(node).len() as u64) << (32 - dictionary(node).bits())));
        fullest.truncate(spare as usize);
        let mut layout = Layout::empty(self.length, number);
        for node in tops {
            let width = self.nodes[node as usize].dictionary.bits() + u32::from(fullest.contains(&node));
            self.is_full |= self.key_bits_max / 2 <= width;
            let shift = layout.push(node, width as u8);
            (self.nodes[node as usize].shift, self.nodes[node as usize].width) = (shift, width as u8);
        }
        layout
    }
}

/// Keys in all sets.
fn len<K: KeySet>(sets: &[K]) -> u64 {
    sets.iter().map(K::len).sum()
}

/// This many bits may a key have for sets of it to be compact.
fn bits_compact<K: KeySet>(sets: &[K]) -> u32 {
    K::bits_max(len(sets))
}
