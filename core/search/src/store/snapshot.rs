//! A [`TreeStore`] as bytes, from which it is built again: for checkpoints.
//!
//! The states of each length are written as they lie in memory: what the dictionaries name, in the order of the names; which nodes
//! are joined; the fields of the keys; and the keys, each in as many bytes as the bits of its layout need. So a state takes about six
//! bytes, and none is computed again. Keys come in the order of the table, which is about that in which a table of the same
//! kind lays them down: to read them takes less time than to insert as many states did.
//!
//! What is read may be anything. It is a store only if names are unique, every name in a node and in a key is one that its
//! dictionary gave, the nodes are trees whose tops are the fields, and no key is there twice. Then two states are the same to the store
//! if and only if they are. The memory that reading takes grows with the number of bytes, whatever they say.

use super::dictionary::Dictionary;
use super::keys::{KeySet, Keys};
use super::layout::{Field, Layout};
use super::long::LongTree;
use super::shape::{NONE, Node, Shape};
use super::tree::{KEY_BITS, OfLength, TreeStore};
use crate::position::Position;
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;

/// Keys that are read at once.
const KEYS_AT_ONCE: usize = 1 << 16;

/// Room for what a file has beside the store, so that it need not be moved.
const SPARE_BYTES: usize = 1 << 14;

/// What the states of one length have in common, and how many there are.
#[derive(Serialize, Deserialize)]
struct LengthHead {
    length: u32,
    /// What each node names: words first, then nodes that are joined of others, parts before wholes; of long states, the one dictionary.
    dictionaries: Vec<Vec<u64>>,
    /// The parts of each node that is joined.
    joined: Vec<(u32, u32)>,
    /// Node and bits of each field of a key.
    fields: Vec<(u32, u8)>,
    /// Keys of ordinary states, and of transient ones.
    len: [u64; 2],
}

/// Why no store was read.
pub(crate) enum Unread<B> {
    /// The bytes are no store.
    Malformed,
    /// Whoever was asked did not want to go on.
    Halted(B),
}

impl TreeStore {
    /// Appends the store as bytes.
    pub(crate) fn write_snapshot(&self, bytes: &mut Vec<u8>) {
        let written: Vec<&OfLength<()>> =
            self.each_length().filter(|of| of.keys.iter().any(|keys| keys.len() != 0)).collect();
        let heads: Vec<LengthHead> = written.iter().map(|of| self.head(of)).collect();
        append(bytes, &heads);
        let size = |of: &OfLength<()>| (of.keys[0].len() + of.keys[1].len()) as usize * key_bytes(of.shape.key_bits);
        bytes.reserve_exact(written.iter().map(|of| size(of)).sum::<usize>() + SPARE_BYTES);
        for of in written {
            let width = key_bytes(of.shape.key_bits);
            for keys in &of.keys {
                keys.each(|key, ()| bytes.extend_from_slice(&key.to_le_bytes()[..width]));
            }
        }
    }

    fn head(&self, OfLength { shape, keys }: &OfLength<()>) -> LengthHead {
        let length = shape.length as u32;
        // Nodes that are needed only to read keys of old layouts are left out, and the others take their numbers.
        let number = |node: u32| match shape.living.iter().position(|&living| living == node) {
            Some(place) if length <= node => length + place as u32,
            _ => node,
        };
        let words = shape.nodes.iter().take(shape.length);
        let joined: Vec<&Node> = shape.living.iter().map(|&node| &shape.nodes[node as usize]).collect();
        let nodes = words.chain(joined.iter().copied()).map(|node| node.dictionary.contents());
        LengthHead {
            length,
            dictionaries: nodes.chain(shape.long.iter().map(LongTree::contents)).collect(),
            joined: joined.iter().map(|node| (number(node.children.0), number(node.children.1))).collect(),
            fields: self.layouts()[shape.layout as usize]
                .fields
                .iter()
                .map(|field| (number(field.node), field.width))
                .collect(),
            len: [keys[0].len(), keys[1].len()],
        }
    }

    /// Reads a store of states of at most `words_max` words. Now and then, `go_on` is asked.
    ///
    /// # Errors
    /// If the bytes are none, or `go_on` did not want to.
    pub(crate) fn read_snapshot<B>(
        bytes: &[u8],
        words_max: usize,
        mut go_on: impl FnMut() -> ControlFlow<B>,
    ) -> Result<Self, Unread<B>> {
        let (heads, mut rest) = postcard::take_from_bytes::<Vec<LengthHead>>(bytes).map_err(|_| Unread::Malformed)?;
        let mut store = Self::new();
        for head in heads.iter() {
            if words_max < head.length as usize {
                return Err(Unread::Malformed);
            }
            let (shape, layout) = shape(head, store.layouts().len() as u32).ok_or(Unread::Malformed)?;
            let width = key_bytes(shape.key_bits);
            let valid = ValidKeys::of(&shape, &layout);
            let mut keys = [0, 1].map(|_| Keys::with_room(shape.key_bits, 0));
            for (keys, len) in keys.iter_mut().zip(head.len) {
                let size = usize::try_from(len).ok().and_then(|len| len.checked_mul(width));
                let (own, others) = size.and_then(|size| rest.split_at_checked(size)).ok_or(Unread::Malformed)?;
                rest = others;
                *keys = read_keys(own, (len, width), &shape, &valid, &mut go_on)?;
            }
            store.add(shape, layout, keys).ok_or(Unread::Malformed)?;
        }
        if rest.is_empty() { Ok(store) } else { Err(Unread::Malformed) }
    }
}

/// Reads a set of keys.
fn read_keys<B>(
    bytes: &[u8],
    (len, width): (u64, usize),
    shape: &Shape,
    valid: &ValidKeys,
    go_on: &mut impl FnMut() -> ControlFlow<B>,
) -> Result<Keys<()>, Unread<B>> {
    if width == 0 {
        let mut keys = Keys::with_room(shape.key_bits, len.min(1));
        if 0 < len {
            keys.entry(0);
        }
        return if len <= 1 { Ok(keys) } else { Err(Unread::Malformed) };
    }
    let mut keys = Keys::with_room(shape.key_bits, len);
    for some in bytes.chunks(width * KEYS_AT_ONCE) {
        if let ControlFlow::Break(why) = go_on() {
            return Err(Unread::Halted(why));
        }
        for key in some.chunks_exact(width) {
            let mut words = [0; 8];
            words[..width].copy_from_slice(key);
            let key = u64::from_le_bytes(words);
            if !valid.has(key) || keys.entry(key).0 {
                return Err(Unread::Malformed);
            }
        }
    }
    Ok(keys)
}

/// Bytes of a key of this many bits.
fn key_bytes(bits: u32) -> usize {
    bits.div_ceil(8) as usize
}

/// Appends plain data.
pub(crate) fn append(bytes: &mut Vec<u8>, data: &impl Serialize) {
    let extended = postcard::to_extend(data, std::mem::take(bytes));
    *bytes = extended.expect("what is written is plain data, and its lists know their lengths");
}

/// The keys that states can have.
struct ValidKeys {
    /// Of each field: where it begins, its bits, and how many names there are.
    fields: Vec<(u32, u64, u64)>,
    /// The bits that a key may have at all.
    bits: u64,
}

impl ValidKeys {
    fn of(shape: &Shape, layout: &Layout) -> Self {
        let all = |bits: u32| if bits == 0 { 0 } else { u64::MAX >> (64 - bits) };
        if let Some(long) = &shape.long {
            let (half, names) = (shape.key_bits / 2, long.names() as u64);
            return Self { fields: vec![(0, all(half), names), (half, all(half), names)], bits: u64::MAX };
        }
        if shape.is_raw() {
            return Self { fields: Vec::new(), bits: all(shape.length as u32 * u32::BITS) };
        }
        let field = |field: &Field| {
            let names = shape.nodes[field.node as usize].dictionary.len();
            (u32::from(field.shift), all(u32::from(field.width)), names as u64)
        };
        Self { fields: layout.fields.iter().map(field).collect(), bits: all(layout.bits) }
    }

    fn has(&self, key: u64) -> bool {
        key & !self.bits == 0 && self.fields.iter().all(|&(shift, mask, names)| key >> shift & mask < names)
    }
}

/// The shape of the states of a length, and the layout of their keys, which has this number.
fn shape(head: &LengthHead, number: u32) -> Option<(Shape, Layout)> {
    let length = head.length as usize;
    let mut shape = Shape::new(length, number, KEY_BITS);
    let mut layout = Layout::empty(length, number);
    let mut dictionaries = head.dictionaries.iter().map(|contents| Dictionary::of(contents));
    if shape.is_raw() || shape.long.is_some() {
        if let Some(long) = &mut shape.long {
            long.pairs = dictionaries.next()??;
        }
        let has_more = dictionaries.next().is_some() || !head.joined.is_empty() || !head.fields.is_empty();
        shape.count_bytes();
        return (!has_more).then_some((shape, layout));
    }
    if head.dictionaries.len() != length + head.joined.len() {
        return None;
    }
    let is_word = |contents: &Vec<u64>| contents.iter().all(|&content| u32::try_from(content).is_ok());
    if !head.dictionaries[..length].iter().all(is_word) {
        return None;
    }
    for (node, dictionary) in shape.nodes.iter_mut().zip(dictionaries.by_ref()) {
        node.dictionary = dictionary?;
    }
    for ((&children, contents), dictionary) in head.joined.iter().zip(&head.dictionaries[length..]).zip(dictionaries) {
        join(&mut shape, children, contents, dictionary?)?;
    }
    lay_out(&mut shape, &mut layout, &head.fields)?;
    shape.count_bytes();
    Some((shape, layout))
}

/// Joins two nodes, which are part of no other; the pairs are of names that they gave.
fn join(shape: &mut Shape, children: (u32, u32), contents: &[u64], dictionary: Dictionary) -> Option<()> {
    let living = shape.living.len();
    let cell = Position::memo_cell(shape.length + living);
    // The memo of a position has two cells for each word, two of which hold the key.
    if 2 * shape.length <= cell as usize {
        return None;
    }
    let mut names = [0; 2];
    for (child, names) in [children.0, children.1].into_iter().zip(&mut names) {
        let node = shape.nodes.get_mut(child as usize).filter(|node| node.parent == NONE)?;
        node.parent = living as u32;
        *names = node.dictionary.len() as u64;
    }
    let is_pair = |content: u64| content & u64::from(u32::MAX) < names[0] && content >> 32 < names[1];
    if !contents.iter().all(|&content| is_pair(content)) {
        return None;
    }
    shape.living.push(shape.nodes.len() as u32);
    shape.nodes.push(Node { dictionary, cell, parent: NONE, children, ..Node::default() });
    Some(())
}

/// Gives the tops their fields: each that has several names has one, and every name fits.
fn lay_out(shape: &mut Shape, layout: &mut Layout, fields: &[(u32, u8)]) -> Option<()> {
    for &(number, width) in fields {
        let node = shape.nodes.get_mut(number as usize)?;
        let is_free = node.parent == NONE && node.width == 0;
        let fits = node.dictionary.bits() <= u32::from(width) && u32::from(width) <= u32::BITS;
        if !(is_free && fits && width != 0 && layout.bits + u32::from(width) <= KEY_BITS) {
            return None;
        }
        shape.is_full |= KEY_BITS / 2 <= u32::from(width);
        (node.shift, node.width) = (layout.push(number, width), width);
    }
    shape.key_bits = layout.bits;
    let has_field = |node: &Node| node.parent != NONE || node.width != 0 || node.dictionary.len() == 1;
    shape.nodes.iter().all(has_field).then_some(())
}
