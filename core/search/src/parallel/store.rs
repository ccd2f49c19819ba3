//! The visited set that threads share: lossless, states as trees that share their subtrees, each with bits
//! that an algorithm may set.
//!
//! It is the sequential [`crate::TreeStore`], laid out for threads: inner nodes are pairs with an identity,
//! found through one lock-free table ([`Slots`]), and a state is the word of its two topmost nodes in
//! another, one for each length. That word has 54 bits of the mixed nodes (the segment says the other
//! six) and [`BITS`] for the algorithm, which therefore cost no access to memory of their own.
//!
//! A state takes 8 bytes at load 13/16 and less while the table fills up, 12 on average; an inner node,
//! of which there are few, takes about 20.
//!
//! Growing needs the tables for itself. Each thread holds a reader's lock while it works and asks before
//! each insertion whether somebody wants that; an insertion that began always succeeds.

use super::arena::{Arena, Portion};
use super::fold::Folder;
use super::slots::{Apart, SEGMENT_BITS, Slots};
use crate::position::Position;
use crate::store::Class;
use crate::store::hash::mix;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError, RwLock, RwLockReadGuard};

/// Bits of an inner node's identity.
const IDENTITY_BITS: u32 = 30;
/// Identities are given out up to here, and then a search is told to stop. What is left is more than
/// can be used before it asks.
const IDENTITIES_MAX: u64 = (1 << IDENTITY_BITS) - (1 << 26);
/// Bits of a word below the key of a state: one says that the slot is taken.
const LOW_BITS: u32 = BITS + 1;
/// Bits of a state that an algorithm may set.
pub(super) const BITS: u32 = 9;
/// Insertions after which a thread tells the others of them.
const TELL_EVERY: u64 = 32;
/// Entries of a thread's cache in front of the table of inner nodes.
const CACHE_BITS: u32 = 14;
/// Tables for each length: ordinary or transient states, each reached in one way or another.
const KINDS: usize = 4;
/// Odd, with bits that look random.
const FIRST: u64 = 0x9E37_79B9_7F4A_7C15;
/// As above.
const SECOND: u64 = 0xBB67_AE85_84CA_A73B;

/// The visited set.
#[derive(Debug)]
pub(super) struct SharedStore {
    tables: RwLock<Tables>,
    /// Inner nodes by identity: two numbers of 32 bits each.
    pairs: Arena,
    /// Held by the thread that wants the tables for itself.
    growing: Mutex<()>,
    /// Whether there is one: then all others have to leave.
    wanted: Apart<AtomicBool>,
    memory_bytes: AtomicU64,
}

#[derive(Debug)]
struct Tables {
    /// Identities of inner nodes, with bits of the hashes of their pairs.
    nodes: Slots,
    /// States, by length and kind; most of these tables are void.
    roots: Vec<Slots>,
}

/// A state: which table it is in, and its topmost nodes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Key {
    /// Four times the length, and the kind.
    table: u32,
    left: u32,
    right: u32,
}

impl Key {
    /// Whether it was reached in another way.
    pub(super) fn is_reached_otherwise(self) -> bool {
        self.table & 2 != 0
    }

    /// Visible words of the state.
    fn length(self) -> usize {
        self.table as usize / KINDS
    }

    /// Three numbers that name the key.
    pub(super) fn to_words(self) -> [u32; 3] {
        [self.table, self.left, self.right]
    }

    /// The key of these numbers.
    pub(super) fn from_words([table, left, right]: [u32; 3]) -> Self {
        Self { table, left, right }
    }

    /// Segment and key in the table: the two nodes, mixed by a bijection of the numbers of 60 bits.
    #[inline]
    fn place(self) -> (usize, u64) {
        const MASK: u64 = (1 << (2 * IDENTITY_BITS)) - 1;
        const KEY_BITS: u32 = 2 * IDENTITY_BITS - SEGMENT_BITS;
        let x = u64::from(self.left) | u64::from(self.right) << IDENTITY_BITS;
        let x = (x ^ (x >> IDENTITY_BITS)).wrapping_mul(FIRST) & MASK;
        let x = (x ^ (x >> IDENTITY_BITS)).wrapping_mul(SECOND) & MASK;
        let x = x ^ (x >> IDENTITY_BITS);
        ((x >> KEY_BITS) as usize, x & ((1 << KEY_BITS) - 1))
    }
}

/// The place of a state in the visited set: its bits can be read and set.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'a>(&'a AtomicU64);

impl Place<'_> {
    /// Sets bits; returns those that were set before.
    #[inline]
    pub(super) fn set(self, bits: u32) -> u32 {
        bits_of(self.0.fetch_or(u64::from(bits) << 1, Ordering::SeqCst))
    }

    /// Takes bits back.
    #[inline]
    pub(super) fn clear(self, bits: u32) {
        self.0.fetch_and(!(u64::from(bits) << 1), Ordering::SeqCst);
    }

    /// The bits that are set.
    #[inline]
    pub(super) fn bits(self) -> u32 {
        bits_of(self.0.load(Ordering::SeqCst))
    }
}

#[inline]
fn bits_of(word: u64) -> u32 {
    (word >> 1) as u32 & ((1 << BITS) - 1)
}

impl SharedStore {
    /// An empty set.
    pub(super) fn new() -> Self {
        let tables = Tables { nodes: Slots::new(IDENTITY_BITS), roots: Vec::new() };
        let memory_bytes = AtomicU64::new(tables.memory_bytes());
        Self {
            tables: RwLock::new(tables),
            pairs: Arena::new(),
            growing: Mutex::new(()),
            wanted: Apart::default(),
            memory_bytes,
        }
    }

    /// Memory in use, in bytes.
    pub(super) fn memory_bytes(&self) -> u64 {
        self.memory_bytes.load(Ordering::Relaxed) + self.pairs.memory_bytes()
    }

    /// Whether the store cannot take many more states, however much memory there is.
    pub(super) fn is_full(&self) -> bool {
        IDENTITIES_MAX < self.pairs.taken()
    }

    /// A thread's way into the set.
    pub(super) fn access(&self) -> Access<'_> {
        Access {
            store: self,
            tables: None,
            folder: Folder::default(),
            cache: vec![(0, 0); 1 << CACHE_BITS].into_boxed_slice(),
            portion: Portion::default(),
            uncounted: Uncounted::default(),
        }
    }

    fn read(&self) -> RwLockReadGuard<'_, Tables> {
        self.tables.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tables {
    fn has(&self, table: u32) -> bool {
        self.roots.get(table as usize).is_some_and(|slots| !slots.is_void())
    }

    fn is_crowded(&self) -> bool {
        self.nodes.is_crowded() || self.roots.iter().any(Slots::is_crowded)
    }

    /// Makes sure that there is this table, and that no table is crowded.
    #[cold]
    fn make_room(&mut self, table: u32) {
        if self.roots.len() <= table as usize {
            self.roots.resize_with(table as usize + 1, Slots::default);
        }
        if self.roots[table as usize].is_void() {
            self.roots[table as usize] = Slots::new(LOW_BITS);
        }
        let all = self.roots.iter_mut().chain([&mut self.nodes]);
        all.filter(|slots| slots.is_crowded()).for_each(Slots::grow);
    }

    fn memory_bytes(&self) -> u64 {
        let beside = size_of_val::<[Slots]>(&self.roots) as u64;
        self.nodes.memory_bytes() + self.roots.iter().map(Slots::memory_bytes).sum::<u64>() + beside
    }
}

/// A thread's way into the visited set.
pub(super) struct Access<'a> {
    store: &'a SharedStore,
    /// Held while the thread works.
    tables: Option<RwLockReadGuard<'a, Tables>>,
    folder: Folder,
    /// Pairs interned lately.
    cache: Box<[(u64, u32)]>,
    portion: Portion,
    uncounted: Uncounted,
}

/// What a thread put in, as far as it is not counted for all threads yet.
#[derive(Debug, Default)]
struct Uncounted {
    nodes: u64,
    table: u32,
    roots: u64,
    /// Some table is crowded.
    crowded: bool,
}

impl<'a> Access<'a> {
    /// The key of the successor of a position, and brings the memo up to date with it. The memory that
    /// [`Self::entry`] will need is on its way afterwards.
    #[inline]
    pub(super) fn key(&mut self, position: &mut Position, class: Class, reached_otherwise: bool) -> Key {
        let length = position.visible().len();
        let kind = usize::from(class == Class::Transient) + 2 * usize::from(reached_otherwise);
        let table = (length * KINDS + kind) as u32;
        self.come_in(table);
        let Self { store, tables, folder, cache, portion, uncounted } = self;
        let Some(tables) = tables else { return Key { table, left: 0, right: 0 } };
        let mut intern = |left, right| {
            let pair = u64::from(left) | u64::from(right) << 32;
            let place = (pair ^ (pair >> 29)).wrapping_mul(FIRST) >> (64 - CACHE_BITS);
            let cached = &mut cache[place as usize];
            if cached.0 != pair || cached.1 == 0 {
                *cached = (pair, find_or_add(&tables.nodes, &store.pairs, portion, uncounted, pair));
            }
            cached.1
        };
        let (left, right) = if length < 4 {
            let word = |i| position.visible().get(i).copied().unwrap_or(0);
            (intern(word(0), word(1)), intern(word(2), 0))
        } else {
            folder.refresh(position, intern);
            let root = folder.root(position, length);
            (root as u32, (root >> 32) as u32)
        };
        let key = Key { table, left, right };
        let (segment, rest) = key.place();
        tables.roots[table as usize].prefetch(segment, rest);
        key
    }

    /// The place of a state, which is in the set afterwards, and its bits before; `None` if it is new. A new
    /// one gets the bits `fresh`. The key was computed by [`Self::key`] just now, or lies in the set already.
    #[inline]
    pub(super) fn entry(&mut self, key: Key, fresh: u32) -> (Place<'_>, Option<u32>) {
        let Self { tables, uncounted, store, .. } = self;
        let tables = tables.get_or_insert_with(|| store.read());
        let (segment, rest) = key.place();
        let word = rest << LOW_BITS | u64::from(fresh) << 1 | 1;
        let (slot, old) = tables.roots[key.table as usize].entry((segment, rest), |_| true, || word);
        if old.is_none() {
            uncounted.root(tables, key.table);
        }
        (Place(slot), old.map(bits_of))
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
            self.uncounted.all(tables);
        }
        self.tables = None;
    }

    /// Makes sure that the thread may use the tables, that there is this one, and that none is crowded.
    #[inline]
    fn come_in(&mut self, table: u32) {
        let is_free = !self.store.wanted.0.load(Ordering::Relaxed) && !self.uncounted.crowded;
        if !is_free || !self.tables.as_ref().is_some_and(|tables| tables.has(table)) {
            self.make_room(table);
        }
    }

    /// Lets the thread pass that wants the tables for itself, or becomes that thread.
    #[cold]
    fn make_room(&mut self, table: u32) {
        let store = self.store;
        self.leave();
        let growing = store.growing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut tables = store.read();
        if !tables.has(table) || tables.is_crowded() {
            drop(tables);
            store.wanted.0.store(true, Ordering::Relaxed);
            let mut all = store.tables.write().unwrap_or_else(PoisonError::into_inner);
            store.wanted.0.store(false, Ordering::Relaxed);
            all.make_room(table);
            store.memory_bytes.store(all.memory_bytes(), Ordering::Relaxed);
            drop(all);
            tables = store.read();
        }
        drop(growing);
        self.tables = Some(tables);
        self.uncounted.crowded = false;
    }

    /// Memory of the thread's own, in bytes.
    pub(super) fn memory_bytes(&self) -> u64 {
        size_of_val::<[(u64, u32)]>(&self.cache) as u64
    }

    /// Writes the visible words of a state in the set; drops what `visible` held.
    pub(super) fn unfold(&mut self, key: Key, visible: &mut Vec<u32>) {
        let length = key.length();
        let pairs = &self.store.pairs;
        let pair = |identity| {
            let pair = pairs.get(identity);
            (pair as u32, (pair >> 32) as u32)
        };
        if length < 4 {
            let ((first, second), (third, _)) = (pair(key.left), pair(key.right));
            visible.clear();
            visible.extend_from_slice(&[first, second, third][..length]);
            return;
        }
        self.folder.learn(length);
        self.folder.unfold(length, u64::from(key.left) | u64::from(key.right) << 32, pair, visible);
    }
}

/// The identity of a pair, a new one if it has none yet.
#[inline(never)]
fn find_or_add(nodes: &Slots, pairs: &Arena, portion: &mut Portion, uncounted: &mut Uncounted, pair: u64) -> u32 {
    const IDENTITY_MASK: u64 = (1 << IDENTITY_BITS) - 1;
    let hash = mix(pair);
    let place = ((hash >> (64 - SEGMENT_BITS)) as usize, hash << SEGMENT_BITS >> IDENTITY_BITS);
    let mut taken = None;
    let same = |word: u64| pairs.get((word & IDENTITY_MASK) as u32) == pair;
    let fresh = || {
        let identity = *taken.get_or_insert_with(|| {
            let identity = pairs.take(portion) & IDENTITY_MASK as u32;
            pairs.set(identity, pair);
            identity
        });
        place.1 << IDENTITY_BITS | u64::from(identity)
    };
    let (_, old) = nodes.entry(place, same, fresh);
    match (old, taken) {
        (None, taken) => {
            uncounted.node(nodes);
            taken.unwrap_or(0)
        }
        (Some(word), taken) => {
            if taken.is_some() {
                Arena::give_back(portion);
            }
            (word & IDENTITY_MASK) as u32
        }
    }
}

impl Uncounted {
    #[inline]
    fn node(&mut self, nodes: &Slots) {
        self.nodes += 1;
        if self.nodes == TELL_EVERY {
            self.crowded |= nodes.count(std::mem::take(&mut self.nodes));
        }
    }

    #[inline]
    fn root(&mut self, tables: &Tables, table: u32) {
        if self.table != table {
            self.tell_roots(tables);
            self.table = table;
        }
        self.roots += 1;
        if self.roots == TELL_EVERY {
            self.tell_roots(tables);
        }
    }

    fn tell_roots(&mut self, tables: &Tables) {
        if let Some(slots) = tables.roots.get(self.table as usize) {
            self.crowded |= slots.count(std::mem::take(&mut self.roots));
        }
    }

    #[cold]
    fn all(&mut self, tables: &Tables) {
        self.tell_roots(tables);
        self.crowded |= tables.nodes.count(std::mem::take(&mut self.nodes));
    }
}
