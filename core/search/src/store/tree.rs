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

use super::keys::{KeySet, Keys};
use super::layout::Layout;
use super::shape::{Scratch, Shape, Unfit};
use super::{Class, Exactness, Inserted, Lossless, Payloads, Store, walk_to};
use crate::position::Position;

/// Begins a note that has the words themselves.
const NO_LAYOUT: u32 = u32::MAX;

/// A lossless set of states at about 8 bytes per state. `P` is what is kept with each state.
#[derive(Debug)]
pub struct TreeStore<P = ()> {
    /// By the number of words.
    lengths: Vec<Option<Box<OfLength<P>>>>,
    /// All that were ever in use, of all lengths.
    layouts: Vec<Layout>,
    /// Keys have at most this many bits.
    key_bits_max: u32,
    scratch: Scratch,
}

/// The states of one length.
#[derive(Debug)]
pub(super) struct OfLength<P> {
    pub(super) shape: Shape,
    /// Ordinary states, then transient ones.
    pub(super) keys: [Keys<P>; 2],
}

/// Keys have at most this many bits, unless something else is said.
pub(super) const KEY_BITS: u32 = 64;

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
        Self::with_keys_of(KEY_BITS)
    }
}

impl TreeStore {
    /// An empty store without payload.
    pub fn new() -> Self {
        Self::default()
    }
}

impl<P: Copy + Default> TreeStore<P> {
    /// An empty store whose keys have at most this many bits.
    pub(crate) fn with_keys_of(key_bits_max: u32) -> Self {
        Self { lengths: Vec::new(), layouts: Vec::new(), key_bits_max, scratch: Scratch::default() }
    }

    /// The states of each length, and all layouts.
    pub(crate) fn into_parts(self) -> (impl Iterator<Item = (Shape, [Keys<P>; 2])>, Vec<Layout>) {
        let lengths = self.lengths.into_iter().flatten().map(|of| (of.shape, of.keys));
        (lengths, self.layouts)
    }

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
        let is_settled = |of: &OfLength<P>| of.shape.layout == probe.layout() && !of.keys[class].is_outgrown();
        if !self.of_length(probe.length()).is_some_and(is_settled) {
            key = self.settle(probe);
        }
        let of = self.lengths[probe.length()].as_mut().expect("a state of this length was looked at");
        let (old, payload) = of.keys[class].entry(key);
        (if old { Inserted::Old } else { Inserted::New }, payload)
    }

    /// Makes room for a state, and gives its key in the present layout.
    #[cold]
    fn settle(&mut self, probe: TreeProbe) -> u64 {
        let Self { lengths, layouts, key_bits_max, scratch } = self;
        let of = of_length(lengths, layouts, (probe.length(), *key_bits_max));
        if of.keys[probe.class()].is_outgrown() {
            of.shape.make_compact(&mut of.keys, probe.class(), layouts);
        }
        loop {
            match of.shape.translate(&layouts[probe.layout() as usize], probe.key, scratch) {
                Ok(key) => return key,
                Err(unfit) => of.make_room(unfit, layouts),
            }
        }
    }

    #[inline]
    pub(super) fn of_length(&self, length: usize) -> Option<&OfLength<P>> {
        self.lengths.get(length)?.as_deref()
    }

    /// Those that there are.
    pub(super) fn each_length(&self) -> impl Iterator<Item = &OfLength<P>> {
        self.lengths.iter().flatten().map(|of| &**of)
    }

    pub(super) fn layouts(&self) -> &[Layout] {
        &self.layouts
    }

    #[inline]
    pub(super) fn of_length_mut(&mut self, length: usize) -> &mut OfLength<P> {
        of_length(&mut self.lengths, &mut self.layouts, (length, self.key_bits_max))
    }

    /// States in the store.
    pub fn len(&self, class: Class) -> u64 {
        self.each_length().map(|of| of.keys[class as usize].len()).sum()
    }

    /// Whether the store is empty.
    pub fn is_empty(&self) -> bool {
        self.len(Class::Ordinary) + self.len(Class::Transient) == 0
    }

    /// Names of inner nodes in the store.
    pub fn inner_nodes(&self) -> usize {
        self.each_length().map(|of| of.shape.inner_names()).sum()
    }

    /// Adds the states of a length of which there are none; `None` if there are some.
    pub(super) fn add(&mut self, shape: Shape, layout: Layout, keys: [Keys<P>; 2]) -> Option<()> {
        let length = shape.length;
        if self.lengths.len() <= length {
            self.lengths.resize_with(length + 1, || None);
        }
        let place = self.lengths.get_mut(length).filter(|place| place.is_none())?;
        *place = Some(Box::new(OfLength { shape, keys }));
        self.layouts.push(layout);
        Some(())
    }

    /// The key of a state.
    #[cold]
    pub(super) fn key_of(&mut self, words: &[u32]) -> u64 {
        let Self { lengths, layouts, key_bits_max, scratch } = self;
        let of = of_length(lengths, layouts, (words.len(), *key_bits_max));
        loop {
            match of.shape.key_of(words, scratch) {
                Ok(key) => return key,
                Err(unfit) => of.make_room(unfit, layouts),
            }
        }
    }
}

impl<P: Copy + Default> OfLength<P> {
    /// Makes room, so that what did not fit will.
    #[cold]
    fn make_room(&mut self, unfit: Unfit, layouts: &mut Vec<Layout>) {
        match unfit {
            Unfit::Room(node) => self.shape.make_room(node),
            Unfit::Field | Unfit::Length => self.shape.arrange(&mut self.keys, layouts),
        }
    }
}

/// The states of this many words; from now on there is a place for them.
#[inline(always)]
fn of_length<'a, P: Copy + Default>(
    lengths: &'a mut Vec<Option<Box<OfLength<P>>>>,
    layouts: &mut Vec<Layout>,
    (length, key_bits_max): (usize, u32),
) -> &'a mut OfLength<P> {
    if lengths.get(length).is_none_or(Option::is_none) {
        add_length(lengths, layouts, (length, key_bits_max));
    }
    lengths[length].as_mut().expect("there is a place for states of this length")
}

/// Makes a place for states of this many words.
#[cold]
fn add_length<P: Copy + Default>(
    lengths: &mut Vec<Option<Box<OfLength<P>>>>,
    layouts: &mut Vec<Layout>,
    (length, key_bits_max): (usize, u32),
) {
    if lengths.len() <= length {
        lengths.resize_with(length + 1, || None);
    }
    let number = layouts.len() as u32;
    layouts.push(Layout::empty(length, number));
    let shape = Shape::new(length, number, key_bits_max);
    let keys = [Keys::with_room(shape.key_bits, 0), Keys::with_room(shape.key_bits, 0)];
    lengths[length] = Some(Box::new(OfLength { shape, keys }));
}

impl<P: Copy + Default> Store for TreeStore<P> {
    const MEMO_PER_WORD: usize = 2;

    type Probe = TreeProbe;

    #[inline]
    fn prepare(&mut self, position: &mut Position, class: Class) -> TreeProbe {
        let length = position.visible().len();
        let Self { lengths, layouts, key_bits_max, scratch } = self;
        let of = of_length(lengths, layouts, (length, *key_bits_max));
        let key = loop {
            match of.shape.key(layouts.len() as u32, position, scratch) {
                Ok(key) => break key,
                Err(unfit) => of.make_room(unfit, layouts),
            }
        };
        of.keys[class as usize].prefetch(key);
        TreeProbe::new(key, length, of.shape.layout, class)
    }

    #[inline]
    fn commit(&mut self, probe: TreeProbe) -> Inserted {
        self.commit_entry(probe).0
    }

    fn memory_bytes(&self) -> u64 {
        let layouts: u64 = self.layouts.iter().map(Layout::memory_bytes).sum();
        let keys = |of: &OfLength<P>| of.keys.iter().map(Keys::memory_bytes).sum::<u64>();
        let states: u64 = self.each_length().map(|of| of.shape.memory_bytes() + keys(of)).sum();
        size_of::<Self>() as u64 + layouts + states
    }

    fn exactness(&self) -> Exactness {
        Exactness::Exact
    }

    fn is_full(&self) -> bool {
        self.each_length().any(|of| of.shape.is_full())
    }

    fn note(&self, position: &Position, note: &mut Vec<u32>) {
        let words = position.visible();
        match self.of_length(words.len()) {
            Some(of) if !of.shape.is_raw() && position.memo_epoch() == self.layouts.len() as u32 => {
                note.extend([of.shape.layout, position.key() as u32, (position.key() >> 32) as u32]);
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
                if let Some(of) = self.of_length(layout.length as usize) {
                    of.shape.unfold(layout, u64::from(low) | u64::from(high) << 32, visible);
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
            && let Some(of) =
                self.layouts.get(layout as usize).and_then(|layout| self.of_length(layout.length as usize))
            && let shape = &of.shape
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
        let of = self.of_length_mut(words.len());
        let (is_raw, layout) = (of.shape.is_raw(), of.shape.layout);
        if !is_raw && position.memo_epoch() == self.layouts.len() as u32 {
            return TreeProbe::new(position.key(), words.len(), layout, class);
        }
        let key = self.key_of(words);
        TreeProbe::new(key, words.len(), self.of_length_mut(words.len()).shape.layout, class)
    }

    #[inline]
    fn expect(&self, probe: TreeProbe) {
        let of = self.of_length(probe.length()).filter(|of| of.shape.layout == probe.layout());
        if let Some(of) = of {
            of.keys[probe.class()].prefetch(probe.key);
        }
    }
}
