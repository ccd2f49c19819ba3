//! The visited set that threads share: lossless, the states of each length as keys that are made of dense names.
//!
//! It is the sequential [`crate::TreeStore`], laid out for threads: they name words and pairs at the same time
//! ([`Shape`]), and fill the same sets of keys. There is one set for each length and kind: [`PlainKeys`], or
//! [`MarkedKeys`] for algorithms that keep [`BITS`] bits with each state.
//!
//! New layouts and larger tables need the store for themselves. Each thread holds a reader's lock while it works and asks before
//! each lookup whether somebody wants that; where a name has no place, its thread makes room and names anew.
//!
//! A [`Key`] outlives the layout that it was made in: it is translated when it is used. Two keys of one state may differ
//! then, so sets of keys are kept by [`StateSet`].

mod compact;
mod keys;
#[cfg(all(test, loom))]
mod orders;
mod slots;
mod state_set;
#[cfg(test)]
mod tests;

pub(super) use keys::{BITS, MarkedKeys, PlainKeys, SharedKeys};
pub(super) use state_set::StateSet;

use super::apart::Apart;
use crate::position::Position;
use crate::store::keys::Keys;
use crate::store::layout::Layout;
use crate::store::shape::{Scratch, Shape, Unfit};
use crate::store::{Class, Drawn, Inserted, TreeStore, VisitedSet, draw};
use crate::sync::{AtomicBool, AtomicU64, LOOM, Mutex, RwLock, RwLockReadGuard};
use keys::Place;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

/// Insertions after which a thread tells the others of them.
const TELL_EVERY: u64 = if LOOM { 1 } else { 32 };
/// Sets for each length: ordinary or transient states, each reached in one way or another.
const KINDS: usize = 4;
/// Those of ordinary states.
const ORDINARY: [usize; 2] = [0, 2];

/// The visited set.
#[derive(Debug)]
pub(super) struct SharedStore<K> {
    tables: RwLock<Tables<K>>,
    /// Held by the thread that wants the tables for itself.
    growing: Mutex<()>,
    /// Whether there is one: then all others have to leave.
    wanted: Apart<AtomicBool>,
    memory_bytes: AtomicU64,
    is_full: AtomicBool,
}

#[derive(Debug)]
struct Tables<K> {
    /// How many threads may work on them when all others wait.
    threads: usize,
    /// By the number of words.
    lengths: Vec<Option<Box<OfLength<K>>>>,
    /// All that were ever in use, of all lengths.
    layouts: Vec<Layout>,
}

/// The states of one length.
#[derive(Debug)]
struct OfLength<K> {
    shape: Shape,
    /// Those that there are.
    sets: Vec<K>,
    /// Of each kind, where its set is.
    set_of: [Option<u8>; KINDS],
}

/// A state: its key, and the layout and set that it belongs to. Two keys of one layout are equal if and only if the states are.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Key {
    key: u64,
    layout: u32,
    /// Four times the length, and the kind.
    set: u32,
}

impl Key {
    /// Whether it was reached in another way.
    pub(super) fn is_reached_otherwise(self) -> bool {
        self.set & 2 != 0
    }

    /// Four numbers that name the key.
    pub(super) fn to_words(self) -> [u32; 4] {
        [self.key as u32, (self.key >> 32) as u32, self.layout, self.set]
    }

    /// The key of these numbers.
    pub(super) fn from_words([low, high, layout, set]: [u32; 4]) -> Self {
        Self { key: u64::from(low) | u64::from(high) << 32, layout, set }
    }
}

impl<K: SharedKeys> SharedStore<K> {
    /// An empty set for this many threads.
    pub(super) fn new(threads: usize) -> Self {
        Self {
            tables: RwLock::new(Tables { threads, lengths: Vec::new(), layouts: Vec::new() }),
            growing: Mutex::new(()),
            wanted: Apart::default(),
            memory_bytes: AtomicU64::new(0),
            is_full: AtomicBool::new(false),
        }
    }

    /// Memory in use, in bytes.
    pub(super) fn memory_bytes(&self) -> u64 {
        self.memory_bytes.load(Ordering::Relaxed)
    }

    /// Whether the store cannot take many more states, however much memory there is.
    pub(super) fn is_full(&self) -> bool {
        self.is_full.load(Ordering::Relaxed)
    }

    /// A thread's way into the set.
    pub(super) fn access(&self) -> Access<'_, K> {
        Access { store: self, tables: None, scratch: Scratch::default(), uncounted: Uncounted::default() }
    }

    fn read(&self) -> RwLockReadGuard<'_, Tables<K>> {
        self.tables.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SharedStore<PlainKeys> {
    /// The set of states that one thread visited, for this many threads.
    pub(super) fn of(alone: TreeStore, threads: usize) -> Self {
        Self::from_alone(alone, threads, [Some(0), Some(1), None, None], |shape, keys| {
            keys.iter().map(|keys| PlainKeys::of(keys, shape.key_bits, threads)).collect()
        })
    }
}

impl SharedStore<MarkedKeys> {
    /// The set of ordinary states that one thread visited, for this many threads. Its keys have at most [`SharedKeys::KEY_BITS`].
    /// `bits_of` tells the bits of each state, and whether it was reached otherwise.
    pub(super) fn of_marked<P: Copy + Default>(
        alone: TreeStore<P>,
        threads: usize,
        bits_of: impl Fn(P) -> (u32, bool),
    ) -> Self {
        Self::from_alone(alone, threads, [Some(0), None, Some(1), None], |shape, [ordinary, _]| {
            let reached = |wanted: bool| {
                let bits_of = |payload| Some(bits_of(payload)).filter(|bits| bits.1 == wanted).map(|bits| bits.0);
                MarkedKeys::of(ordinary, shape.key_bits, threads, bits_of)
            };
            vec![reached(false), reached(true)]
        })
    }
}

impl<K: SharedKeys> SharedStore<K> {
    /// The states that one thread visited. `sets` makes the sets of those of a length, of which `set_of` says where each kind is.
    fn from_alone<P: Copy + Default>(
        alone: TreeStore<P>,
        threads: usize,
        set_of: [Option<u8>; KINDS],
        sets: impl Fn(&Shape, &[Keys<P>; 2]) -> Vec<K>,
    ) -> Self {
        let (states, layouts) = alone.into_parts();
        let mut lengths = Vec::new();
        for (shape, keys) in states {
            if lengths.len() <= shape.length {
                lengths.resize_with(shape.length + 1, || None);
            }
            let (length, sets) = (shape.length, sets(&shape, &keys));
            lengths[length] = Some(Box::new(OfLength { shape, sets, set_of }));
        }
        let tables = Tables { threads, lengths, layouts };
        let store = Self::new(threads);
        store.memory_bytes.store(tables.memory_bytes(), Ordering::Relaxed);
        store.is_full.store(tables.is_full(), Ordering::Relaxed);
        Self { tables: RwLock::new(tables), ..store }
    }
}

impl<K: SharedKeys> SharedStore<K> {
    /// The states as [`VisitedSet::draw`] draws them. A state that was told apart by how it was reached can be drawn once for each way.
    fn draw(&self, count: u64, seed: u64) -> Vec<Drawn> {
        let tables = self.read();
        let sets = |of: &'_ OfLength<K>| ORDINARY.map(|kind| of.set_of[kind].map(usize::from));
        let ordinary = tables
            .lengths
            .iter()
            .flatten()
            .flat_map(|of| sets(of).into_iter().flatten().filter_map(|set| Some((&of.shape, of.sets.get(set)?))));
        draw(ordinary, count, seed)
    }

    /// The words as [`VisitedSet::words_of`] writes them.
    fn words_of(&self, drawn: Drawn, words: &mut Vec<u32>) {
        words.clear();
        let tables = self.read();
        if let Some(of) = tables.lengths.get(drawn.length()).and_then(|of| of.as_deref()) {
            drawn.write(&of.shape, &tables.layouts, words);
        }
    }

    /// Puts an ordinary state with these words into the set by `insert`, which says whether it is new there; whether it was there
    /// before, however it was reached.
    fn insert_words(&self, words: &[u32], insert: impl Fn(&mut Access<'_, K>, Key) -> bool) -> Inserted {
        let there =
            |kind: &usize| *kind == ORDINARY[0] || self.read().set((words.len() * KINDS + kind) as u32).is_some();
        let kinds: Vec<usize> = ORDINARY.into_iter().filter(there).collect();
        let mut access = self.access();
        let mut put = |kind: usize| {
            let key = access.key_of(words, kind);
            insert(&mut access, key)
        };
        if kinds.into_iter().all(&mut put) { Inserted::New } else { Inserted::Old }
    }
}

/// The states that several threads visited.
#[derive(Debug)]
pub struct SharedTree(Kept);

#[derive(Debug)]
enum Kept {
    Plain(SharedStore<PlainKeys>),
    Marked(SharedStore<MarkedKeys>),
}

impl From<SharedStore<PlainKeys>> for SharedTree {
    fn from(store: SharedStore<PlainKeys>) -> Self {
        Self(Kept::Plain(store))
    }
}

impl From<SharedStore<MarkedKeys>> for SharedTree {
    fn from(store: SharedStore<MarkedKeys>) -> Self {
        Self(Kept::Marked(store))
    }
}

impl SharedTree {
    /// Memory in use, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        match &self.0 {
            Kept::Plain(store) => store.memory_bytes(),
            Kept::Marked(store) => store.memory_bytes(),
        }
    }
}

impl VisitedSet for SharedTree {
    fn draw(&self, count: u64, seed: u64) -> Vec<Drawn> {
        match &self.0 {
            Kept::Plain(store) => store.draw(count, seed),
            Kept::Marked(store) => store.draw(count, seed),
        }
    }

    fn words_of(&self, drawn: Drawn, words: &mut Vec<u32>) {
        match &self.0 {
            Kept::Plain(store) => store.words_of(drawn, words),
            Kept::Marked(store) => store.words_of(drawn, words),
        }
    }

    fn insert_words(&mut self, words: &[u32]) -> Inserted {
        match &self.0 {
            Kept::Plain(store) => store.insert_words(words, |access, key| access.insert(key)),
            Kept::Marked(store) => store.insert_words(words, |access, key| access.insert(key, 0).is_none()),
        }
    }
}

impl<K: SharedKeys> Tables<K> {
    /// How many layouts there ever were.
    #[inline]
    fn epoch(&self) -> u32 {
        self.layouts.len() as u32
    }

    /// The states of a length, and the set itself, if it is there.
    #[inline]
    fn set(&self, set: u32) -> Option<(&Shape, &K)> {
        let of = self.lengths.get(set as usize / KINDS)?.as_deref()?;
        let number = of.set_of[set as usize % KINDS]?;
        Some((&of.shape, of.sets.get(number as usize)?))
    }

    /// Makes sure that there is this set, that no set is crowded, and that what did not fit will, unless there are other layouts
    /// by now than those of the epoch given with it.
    fn make_room(&mut self, set: u32, unfit: Option<(Unfit, u32)>) {
        let epoch = self.epoch();
        let Self { threads, lengths, layouts } = self;
        let (length, kind) = (set as usize / KINDS, set as usize % KINDS);
        if lengths.len() <= length {
            lengths.resize_with(length + 1, || None);
        }
        let of = lengths[length].get_or_insert_with(|| {
            let number = layouts.len() as u32;
            layouts.push(Layout::empty(length, number));
            let shape = Shape::new(length, number, K::KEY_BITS);
            Box::new(OfLength { shape, sets: Vec::new(), set_of: [None; KINDS] })
        });
        if of.set_of[kind].is_none() {
            of.set_of[kind] = Some(of.sets.len() as u8);
            of.sets.push(K::with_room(of.shape.key_bits, 0, *threads));
        }
        match unfit {
            Some((unfit, seen)) if seen == epoch => match unfit {
                Unfit::Room(node) => of.shape.make_room(node),
                Unfit::Field | Unfit::Length => of.shape.arrange(&mut of.sets, layouts),
            },
            _ => {}
        }
        for of in lengths.iter_mut().flatten() {
            for set in 0..of.sets.len() {
                if of.sets[set].is_crowded() {
                    of.sets[set].grow();
                }
                if of.sets[set].is_outgrown() {
                    of.shape.make_compact(&mut of.sets, set, layouts);
                }
            }
        }
    }

    fn is_crowded(&self) -> bool {
        let is_crowded = |set: &K| set.is_crowded() || set.is_outgrown();
        self.lengths.iter().flatten().any(|of| of.sets.iter().any(is_crowded))
    }

    fn is_full(&self) -> bool {
        self.lengths.iter().flatten().any(|of| of.shape.is_full())
    }

    fn memory_bytes(&self) -> u64 {
        let sets = |of: &OfLength<K>| of.sets.iter().map(K::memory_bytes).sum::<u64>();
        let states: u64 = self.lengths.iter().flatten().map(|of| of.shape.memory_bytes() + sets(of)).sum();
        states + self.layouts.iter().map(Layout::memory_bytes).sum::<u64>()
    }
}

/// A thread's way into the visited set.
pub(super) struct Access<'a, K> {
    store: &'a SharedStore<K>,
    /// Held while the thread works.
    tables: Option<RwLockReadGuard<'a, Tables<K>>>,
    scratch: Scratch,
    uncounted: Uncounted,
}

/// What a thread put in, as far as it is not counted for all threads yet.
#[derive(Debug, Default)]
struct Uncounted {
    set: u32,
    keys: u64,
    /// Some set is crowded.
    crowded: bool,
}

impl<K: SharedKeys> Access<'_, K> {
    /// The key of the successor of a position, and brings the memo up to date with it. The memory that a lookup
    /// will need is on its way afterwards.
    #[inline]
    pub(super) fn key(&mut self, position: &mut Position, class: Class, reached_otherwise: bool) -> Key {
        let kind = usize::from(class == Class::Transient) + 2 * usize::from(reached_otherwise);
        let set = (position.visible().len() * KINDS + kind) as u32;
        loop {
            let mut unfit = None;
            if let Some(tables) = self.tables.as_deref().filter(|_| !self.uncounted.crowded)
                && !self.store.wanted.0.load(Ordering::Relaxed)
                && let Some((shape, keys)) = tables.set(set)
            {
                match shape.key(tables.epoch(), position, &mut self.scratch) {
                    Ok(key) => {
                        keys.prefetch(key);
                        return Key { key, layout: shape.layout, set };
                    }
                    Err(why) => unfit = Some((why, tables.epoch())),
                }
            }
            self.make_room(set, unfit);
        }
    }

    /// Does something in the set that a key belongs to, with the key of its present layout; `act` says, too, whether it added a key.
    #[inline]
    fn look_up<R>(&mut self, key: Key, act: impl Fn(&K, u64) -> (R, bool)) -> R {
        loop {
            let Key { key, layout, set } = self.renewed(key);
            let Self { tables, uncounted, .. } = self;
            if let Some(tables) = tables.as_deref()
                && let Some((shape, keys)) = tables.set(set)
                && shape.layout == layout
            {
                let (result, new) = act(keys, key);
                if new {
                    uncounted.add(tables, set);
                }
                return result;
            }
        }
    }

    /// The key of a state of a kind with these visible words.
    fn key_of(&mut self, words: &[u32], kind: usize) -> Key {
        let set = (words.len() * KINDS + kind) as u32;
        loop {
            let mut unfit = None;
            if let Some(tables) = self.tables.as_deref()
                && let Some((shape, _)) = tables.set(set)
            {
                match shape.key_of(words, &mut self.scratch) {
                    Ok(key) => return Key { key, layout: shape.layout, set },
                    Err(why) => unfit = Some((why, tables.epoch())),
                }
            }
            self.make_room(set, unfit);
        }
    }

    /// The key of the same state in the present layout.
    #[inline]
    pub(super) fn renewed(&mut self, key: Key) -> Key {
        match self.tables.as_deref().and_then(|tables| tables.set(key.set)) {
            Some((shape, _)) if shape.layout == key.layout => key,
            _ => self.translated(key),
        }
    }

    /// As [`Self::renewed`], where the layout is another one, or the thread has to wait for the tables.
    #[cold]
    fn translated(&mut self, key: Key) -> Key {
        loop {
            let mut unfit = None;
            if let Some(tables) = self.tables.as_deref()
                && let Some((shape, _)) = tables.set(key.set)
                && let Some(old) = tables.layouts.get(key.layout as usize)
            {
                match shape.translate(old, key.key, &mut self.scratch) {
                    Ok(translated) => return Key { key: translated, layout: shape.layout, set: key.set },
                    Err(why) => unfit = Some((why, tables.epoch())),
                }
            }
            self.make_room(key.set, unfit);
        }
    }

    /// How many layouts there ever were, to who was told of a key just now.
    pub(super) fn epoch(&self) -> u32 {
        self.tables.as_ref().map_or(0, |tables| tables.epoch())
    }

    /// Leaves the tables if another thread wants them for itself.
    pub(super) fn leave_if_asked(&mut self) {
        if self.store.wanted.0.load(Ordering::Relaxed) {
            self.leave();
        }
    }

    /// Lets others have the tables for themselves, until this thread goes on.
    pub(super) fn leave(&mut self) {
        if let Some(tables) = &self.tables {
            self.uncounted.tell(tables);
        }
        self.tables = None;
    }

    /// Lets the thread pass that wants the tables for itself, or becomes that thread.
    #[cold]
    fn make_room(&mut self, set: u32, unfit: Option<(Unfit, u32)>) {
        let store = self.store;
        self.leave();
        let growing = store.growing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut tables = store.read();
        if unfit.is_some() || tables.set(set).is_none() || tables.is_crowded() {
            drop(tables);
            store.wanted.0.store(true, Ordering::Relaxed);
            let mut all = store.tables.write().unwrap_or_else(PoisonError::into_inner);
            store.wanted.0.store(false, Ordering::Relaxed);
            all.make_room(set, unfit);
            store.memory_bytes.store(all.memory_bytes(), Ordering::Relaxed);
            store.is_full.store(all.is_full(), Ordering::Relaxed);
            drop(all);
            tables = store.read();
        }
        drop(growing);
        self.tables = Some(tables);
        self.uncounted.crowded = false;
    }

    /// Writes the visible words of a state in the set; drops what `visible` held.
    pub(super) fn unfold(&mut self, key: Key, visible: &mut Vec<u32>) {
        let store = self.store;
        let tables = self.tables.get_or_insert_with(|| store.read());
        if let (Some((shape, _)), Some(layout)) = (tables.set(key.set), tables.layouts.get(key.layout as usize)) {
            shape.unfold(layout, key.key, visible);
        }
    }
}

impl Access<'_, PlainKeys> {
    /// Puts a state into the set; whether it was not there before.
    #[inline]
    pub(super) fn insert(&mut self, key: Key) -> bool {
        self.look_up(key, |keys, key| {
            let new = keys.insert(key);
            (new, new)
        })
    }
}

impl Access<'_, MarkedKeys> {
    /// Puts a state into the set; its bits before, `None` if it was not there: then it gets the bits `fresh`.
    #[inline]
    pub(super) fn insert(&mut self, key: Key, fresh: u32) -> Option<u32> {
        self.look_up(key, |keys, key| {
            let old = keys.entry(key, fresh).1;
            (old, old.is_none())
        })
    }

    /// The bits of a state.
    #[inline]
    pub(super) fn bits(&mut self, key: Key) -> u32 {
        self.at(key, |place| place.bits())
    }

    /// Sets bits of a state; returns those that were set before.
    #[inline]
    pub(super) fn set(&mut self, key: Key, bits: u32) -> u32 {
        self.at(key, |place| place.set(bits))
    }

    /// Takes bits of a state back.
    #[inline]
    pub(super) fn clear(&mut self, key: Key, bits: u32) {
        self.at(key, |place| place.clear(bits));
    }

    #[inline]
    fn at<R>(&mut self, key: Key, act: impl Fn(Place<'_>) -> R) -> R {
        self.look_up(key, |keys, key| {
            let (place, old) = keys.entry(key, 0);
            (act(place), old.is_none())
        })
    }
}

impl Uncounted {
    #[inline]
    fn add<K: SharedKeys>(&mut self, tables: &Tables<K>, set: u32) {
        if self.set != set {
            self.tell(tables);
            self.set = set;
        }
        self.keys += 1;
        if self.keys == TELL_EVERY {
            self.tell(tables);
        }
    }

    #[cold]
    fn tell<K: SharedKeys>(&mut self, tables: &Tables<K>) {
        if let Some((_, keys)) = tables.set(self.set) {
            self.crowded |= keys.count(std::mem::take(&mut self.keys));
        }
    }
}
