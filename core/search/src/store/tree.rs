//! The lossless default: states as trees that share their subtrees.
//!
//! After Laarman, van de Pol, Weber: *Parallel Recursive State Compression for Free* (SPIN 2011),
//! with the incremental insertion of its section 4: neighbouring states differ in few words, so few
//! nodes of the tree are named anew.
//!
//! What differs from the paper: names are dense at every node, so that a name takes few bits; the tree
//! has as many tops as their names fit into one key of 64 bits, most often the words themselves; and which nodes are
//! joined is learned from the states ([`Shape`]). So the inner nodes are few and near the processor, and all
//! that is kept for each state is a key of few bits, in one set for each length ([`Keys`](super::keys::Keys)).

use super::shape::{Layout, Shape};
use super::{Class, Exactness, Inserted, Lossless, Payloads, Store, walk_to};
use crate::position::Position;

/// Begins a note that has the words themselves.
const NO_LAYOUT: u32 = u32::MAX;

/// A lossless set of states at about 8 bytes per state. `P` is what is kept with each state.
#[derive(Debug)]
pub struct TreeStore<P = ()> {
    /// By the number of words.
    shapes: Vec<Option<Box<Shape<P>>>>,
    /// All that were ever in use, of all lengths.
    layouts: Vec<Layout>,
}

/// A state, to a [`TreeStore`]: two machine words, so that it is handed over in registers.
#[derive(Clone, Copy, Debug)]
pub struct TreeProbe {
    key: u64,
    /// From the top bit down: 31 bits for the number of words, 32 for the number of the layout, one for the class.
    place: u64,
}

impl TreeProbe {
    /// States have fewer words than 2 to the power of this.
    const LENGTH_BITS: u32 = 31;

    #[inline]
    pub(super) fn new(key: u64, length: usize, layout: u32, class: Class) -> Self {
        debug_assert!(length >> Self::LENGTH_BITS == 0, "states are short");
        Self { key, place: (length as u64) << 33 | u64::from(layout) << 1 | class as u64 }
    }

    #[inline]
    fn length(self) -> usize {
        (self.place >> 33) as usize
    }

    #[inline]
    fn layout(self) -> u32 {
        (self.place >> 1) as u32
    }

    /// The number of the class.
    #[inline]
    fn class(self) -> usize {
        self.place as usize & 1
    }
}

impl<P: Copy + Default> Default for TreeStore<P> {
    fn default() -> Self {
        Self { shapes: Vec::new(), layouts: Vec::new() }
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
        let class = probe.class();
        let mut key = probe.key;
        let is_settled = |shape: &Shape<P>| shape.layout == probe.layout() && !shape.keys[class].is_outgrown();
        if !self.shape(probe.length()).is_some_and(is_settled) {
            key = self.settle(probe);
        }
        let (old, payload) = self.shape_mut(probe.length()).keys[class].entry(key);
        (if old { Inserted::Old } else { Inserted::New }, payload)
    }

    /// Makes room for a state, and gives its key in the present layout.
    #[cold]
    fn settle(&mut self, probe: TreeProbe) -> u64 {
        let Self { shapes, layouts } = self;
        let shape = shape_of(shapes, layouts, probe.length());
        if shape.keys[probe.class()].is_outgrown() {
            shape.make_compact(probe.class(), layouts);
        }
        let mut key = (shape.layout == probe.layout()).then_some(probe.key);
        loop {
            if let Some(key) = key {
                return key;
            }
            key = shape.translate(&layouts[probe.layout() as usize], probe.key);
            if key.is_none() {
                shape.arrange(layouts);
            }
        }
    }

    #[inline]
    pub(super) fn shape(&self, length: usize) -> Option<&Shape<P>> {
        self.shapes.get(length)?.as_deref()
    }

    /// Those that there are.
    pub(super) fn shapes(&self) -> impl Iterator<Item = &Shape<P>> {
        self.shapes.iter().flatten().map(|shape| &**shape)
    }

    pub(super) fn layouts(&self) -> &[Layout] {
        &self.layouts
    }

    #[inline]
    pub(super) fn shape_mut(&mut self, length: usize) -> &mut Shape<P> {
        shape_of(&mut self.shapes, &mut self.layouts, length)
    }

    /// States in the store.
    pub fn len(&self, class: Class) -> u64 {
        self.shapes.iter().flatten().map(|shape| shape.keys[class as usize].len()).sum()
    }

    /// Whether the store is empty.
    pub fn is_empty(&self) -> bool {
        self.len(Class::Ordinary) + self.len(Class::Transient) == 0
    }

    /// Names of inner nodes in the store.
    pub fn inner_nodes(&self) -> usize {
        self.shapes.iter().flatten().map(|shape| shape.inner_names()).sum()
    }

    /// The key of a state of more than two words.
    #[cold]
    pub(super) fn key_of(&mut self, words: &[u32]) -> u64 {
        let Self { shapes, layouts } = self;
        let shape = shape_of(shapes, layouts, words.len());
        loop {
            match shape.key_of(words) {
                Some(key) => return key,
                None => shape.arrange(layouts),
            }
        }
    }

    /// Computes the key where the memo is of no use, or a name does not fit.
    #[cold]
    fn fold_anew(&mut self, position: &mut Position) -> u64 {
        let Self { shapes, layouts } = self;
        let shape = shape_of(shapes, layouts, position.visible().len());
        loop {
            position.undo_memo();
            let epoch = layouts.len() as u32;
            let resized = position.is_resized();
            let is_known = !resized && position.memo_epoch() == epoch;
            let mut key = if is_known { Some(0) } else { shape.fold_all(position, resized) };
            if key.is_some() {
                position.trust_memo(epoch, resized);
                if !resized {
                    key = shape.fold(position);
                }
            }
            match key {
                Some(key) => return key,
                None => shape.arrange(layouts),
            }
        }
    }
}

/// The shape of states of this many words; from now on there is one.
#[inline]
fn shape_of<'a, P: Copy + Default>(
    shapes: &'a mut Vec<Option<Box<Shape<P>>>>,
    layouts: &mut Vec<Layout>,
    length: usize,
) -> &'a mut Shape<P> {
    if shapes.len() <= length {
        shapes.resize_with(length + 1, || None);
    }
    shapes[length].get_or_insert_with(|| {
        let number = layouts.len() as u32;
        layouts.push(Layout::empty(length, number));
        Box::new(Shape::new(length, number))
    })
}

/// The key of a state of at most two words.
pub(super) fn raw_key(words: &[u32]) -> u64 {
    words.iter().rev().fold(0, |key, &word| key << 32 | u64::from(word))
}

impl<P: Copy + Default> Store for TreeStore<P> {
    const MEMO_PER_WORD: usize = 2;

    type Probe = TreeProbe;

    #[inline]
    fn prepare(&mut self, position: &mut Position, class: Class) -> TreeProbe {
        let length = position.visible().len();
        let is_raw = length <= Shape::<P>::RAW_MAX;
        let Self { shapes, layouts } = self;
        let shape = shape_of(shapes, layouts, length);
        let key = if is_raw {
            raw_key(position.visible())
        } else if position.memo_epoch() == layouts.len() as u32
            && let Some(key) = shape.fold(position)
        {
            key
        } else {
            self.fold_anew(position)
        };
        let shape = self.shape_mut(length);
        shape.keys[class as usize].prefetch(key);
        TreeProbe::new(key, length, shape.layout, class)
    }

    #[inline]
    fn commit(&mut self, probe: TreeProbe) -> Inserted {
        self.commit_entry(probe).0
    }

    fn memory_bytes(&self) -> u64 {
        size_of::<Self>() as u64 + self.shapes.iter().flatten().map(|shape| shape.memory_bytes()).sum::<u64>()
    }

    fn exactness(&self) -> Exactness {
        Exactness::Exact
    }

    fn is_full(&self) -> bool {
        self.shapes.iter().flatten().any(|shape| shape.is_full())
    }

    fn note(&self, position: &Position, note: &mut Vec<u32>) {
        let words = position.visible();
        match self.shape(words.len()) {
            Some(shape) if Shape::<P>::RAW_MAX < words.len() && position.memo_epoch() == self.layouts.len() as u32 => {
                note.extend([shape.layout, position.key() as u32, (position.key() >> 32) as u32]);
            }
            _ => {
                note.push(NO_LAYOUT);
                note.extend_from_slice(words);
            }
        }
    }

    fn recall(&self, note: &[u32], visible: &mut Vec<u32>) {
        visible.clear();
        let Some((&layout, rest)) = note.split_first() else { return };
        match (self.layouts.get(layout as usize), rest) {
            (Some(layout), &[low, high]) => {
                if let Some(shape) = self.shape(layout.length as usize) {
                    shape.unfold(layout, u64::from(low) | u64::from(high) << 32, visible);
                }
            }
            _ => visible.extend_from_slice(rest),
        }
    }

    fn return_to(
        &mut self,
        (note, hidden): (&[u32], &[u32]),
        class: Class,
        position: &mut Position,
        room: &mut Vec<u32>,
    ) -> TreeProbe {
        if let &[layout, low, high] = note
            && let Some(shape) = self.layouts.get(layout as usize).and_then(|layout| self.shape(layout.length as usize))
            && shape.layout == layout
            && position.memo_epoch() == self.layouts.len() as u32
            && position.visible_before().len() == shape.length
        {
            let key = u64::from(low) | u64::from(high) << 32;
            shape.unfold_into(&self.layouts[layout as usize], key, hidden, position, room);
            position.forget();
            let length = shape.length;
            debug_assert_eq!(self.key_of(position.visible_before()), key, "the memo is that of the state");
            return TreeProbe::new(key, length, layout, class);
        }
        walk_to(self, (note, hidden), class, position, room)
    }
}

impl<P: Copy + Default> Lossless for TreeStore<P> {}

impl<P: Copy + Default> Payloads<P> for TreeStore<P> {
    #[inline]
    fn payload(&mut self, probe: TreeProbe) -> (Inserted, &mut P) {
        self.commit_entry(probe)
    }

    #[inline]
    fn probe_of_state(&mut self, position: &Position, class: Class) -> TreeProbe {
        let words = position.visible_before();
        let key = if words.len() <= Shape::<P>::RAW_MAX {
            raw_key(words)
        } else if position.memo_epoch() == self.layouts.len() as u32 {
            position.key()
        } else {
            self.key_of(words)
        };
        let layout = self.shape_mut(words.len()).layout;
        TreeProbe::new(key, words.len(), layout, class)
    }

    #[inline]
    fn expect(&self, probe: TreeProbe) {
        let shape = self.shape(probe.length()).filter(|shape| shape.layout == probe.layout());
        if let Some(shape) = shape {
            shape.keys[probe.class()].prefetch(probe.key);
        }
    }
}
