//! What threads do to the visited set at the same time, executed by loom in many orders (see [`crate::sync`]):
//!
//! `RUSTFLAGS="--cfg loom" cargo test -p fabius-search --lib --profile ci --target-dir target/loom orders`

use super::compact::{self, SharedCompact};
use super::keys::{BITS, MarkedKeys, PlainKeys, SharedKeys};
use super::slots::Slots;
use super::{Access, Key, SharedStore};
use crate::position::Position;
use crate::store::keys::KeySet;
use crate::store::{Class, Store, TreeStore};
use crate::sync::{AtomicU64, together};
use loom::model::Builder;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;

/// Bits of a word below its key.
const LOW: u32 = 4;

/// The words for these keys, all for the same line, are put in; those that were not there.
fn put(slots: &Slots, keys: &[u64]) -> Vec<u64> {
    let is_new = |key: &&u64| {
        let (slot, old) = slots.entry((0, **key), || *key << LOW | 1);
        assert_eq!(slot.load(Ordering::Relaxed) >> LOW, **key, "the slot of another key");
        assert!(old.is_none_or(|old| old >> LOW == **key), "the word of another key");
        old.is_none()
    };
    keys.iter().filter(is_new).copied().collect()
}

/// What was new to the threads is what there is, and each once.
fn are_there_once<'a>(new: impl IntoIterator<Item = u64>, mut found: Vec<u64>, wanted: impl Iterator<Item = &'a u64>) {
    let mut new: Vec<u64> = new.into_iter().collect();
    new.sort_unstable();
    found.sort_unstable();
    let wanted: Vec<u64> = wanted.copied().collect::<BTreeSet<u64>>().into_iter().collect();
    assert_eq!((&new, &found), (&wanted, &wanted));
}

/// Two threads with keys of one line, some of them the same: each is new once, and there once.
fn keys_are_there_once(keys: [&'static [u64]; 2]) {
    let check = move |slots: Slots, new: [Vec<u64>; 2]| {
        let mut found = Vec::new();
        slots.each_in(0, |word| found.push(word >> LOW));
        are_there_once(new.concat(), found, keys.into_iter().flatten());
    };
    together(&Builder::new(), || Slots::new(LOW), put, keys, check);
}

#[test]
fn two_threads_put_in_equal_keys() {
    keys_are_there_once([&[1], &[1]]);
}

#[test]
fn two_threads_put_in_different_keys() {
    keys_are_there_once([&[1], &[2]]);
}

#[test]
fn two_threads_put_in_two_keys_in_different_order() {
    keys_are_there_once([&[1, 2], &[2, 1]]);
}

/// The line has two slots: what comes third continues elsewhere.
#[test]
fn two_threads_fill_a_segment() {
    keys_are_there_once([&[1, 2], &[3, 1]]);
}

/// Who meets a key sees what the thread that put it there did before.
#[test]
fn a_key_tells_what_was_done_before() {
    let work = |(slots, done): &(Slots, [AtomicU64; 2]), thread: usize| {
        done[thread].store(7, Ordering::Relaxed);
        if put(slots, &[1]).is_empty() {
            assert_eq!(done[1 - thread].load(Ordering::Relaxed), 7);
        }
    };
    let make = || (Slots::new(LOW), [AtomicU64::new(0), AtomicU64::new(0)]);
    together(&Builder::new(), make, work, [0, 1], |_, _| ());
}

/// Bits of a state that threads set while one of them puts it in are all there afterwards, and each is new to one thread.
#[test]
fn bits_are_not_lost() {
    let mark = |keys: &MarkedKeys, bits: u32| {
        let (place, old) = keys.entry(5, bits);
        let before = place.set(1 << (BITS - 1));
        if old.is_some() {
            place.set(bits);
        }
        assert_eq!(place.bits() & bits, bits);
        [old.is_none(), before >> (BITS - 1) == 0]
    };
    let check = |keys: MarkedKeys, [one, other]: [[bool; 2]; 2]| {
        assert!(one[0] != other[0] && one[1] != other[1]);
        let mut found = Vec::new();
        keys.each(|key, bits| found.push((key, u32::from(bits))));
        assert_eq!(found, [(5, 1 << (BITS - 1) | 3)]);
    };
    together(&Builder::new(), || MarkedKeys::with_room(0, 0, 1), mark, [1, 2], check);
}

/// A bit that one thread takes back does not take others with it.
#[test]
fn a_bit_is_taken_back_alone() {
    let make = || {
        let keys = MarkedKeys::with_room(0, 0, 1);
        keys.entry(5, 1);
        keys
    };
    let work = |keys: &MarkedKeys, sets: bool| {
        let place = keys.entry(5, 0).0;
        if sets {
            place.set(2);
        } else {
            place.clear(1);
        }
    };
    let check = |keys: MarkedKeys, _: [(); 2]| assert_eq!(keys.entry(5, 0).0.bits(), 2);
    together(&Builder::new(), make, work, [true, false], check);
}

/// Two threads put numbers of one line into a compact table: each is new once, and there once.
fn numbers_are_there_once(choices: [&'static [usize]; 2]) {
    type Shared = (SharedCompact, Vec<u64>);
    let make = || {
        let table = SharedCompact::with_room(16, 0);
        let numbers = (0..1 << 16).filter(|&number| table.line_of(number) == table.line_of(0)).take(5).collect();
        (table, numbers)
    };
    let put = |(table, numbers): &Shared, choice: &'static [usize]| {
        choice.iter().map(|&i| numbers[i]).filter(|&number| table.insert(number)).collect::<Vec<_>>()
    };
    let check = move |(table, numbers): Shared, new: [Vec<u64>; 2]| {
        let mut found = Vec::new();
        (0..compact::SEGMENTS).for_each(|segment| table.each_in(segment, |number| found.push(number)));
        are_there_once(new.concat(), found, choices.into_iter().flatten().map(|&i| &numbers[i]));
    };
    together(&Builder::new(), make, put, choices, check);
}

#[test]
fn two_threads_put_in_equal_numbers() {
    numbers_are_there_once([&[0], &[0]]);
}

/// Both want one of the two slots of a word.
#[test]
fn two_threads_put_in_different_numbers() {
    numbers_are_there_once([&[0], &[1]]);
}

#[test]
fn two_threads_put_in_two_numbers_in_different_order() {
    numbers_are_there_once([&[0, 1], &[1, 0]]);
}

/// The line has four slots: what comes fifth goes to the map on the side.
#[test]
fn two_threads_fill_a_line() {
    numbers_are_there_once([&[0, 1, 2], &[3, 4, 0]]);
}

type States = &'static [&'static [u32]];

/// What a thread was told of a state: its key, and whether it is new.
type Told = (&'static [u32], Key, bool);

/// Puts states into a store.
fn visit<K: SharedKeys>(
    store: &SharedStore<K>,
    states: States,
    insert: impl Fn(&mut Access<'_, K>, Key) -> bool,
) -> Vec<Told> {
    let (mut access, mut position) = (store.access(), Position::new(<TreeStore as Store>::MEMO_PER_WORD, 0));
    let mut told = Vec::new();
    for &state in states {
        position.advance(state);
        let key = access.key(&mut position, Class::Ordinary, false);
        told.push((state, key, insert(&mut access, key)));
        position.forget();
    }
    told
}

/// Two threads put states into an empty store, which grows meanwhile: each state is new once, equal states have equal keys, different
/// ones different keys, and a key leads back to its state.
fn states_are_there_once<K: SharedKeys + 'static>(
    visit: fn(&SharedStore<K>, States) -> Vec<Told>,
    states: [States; 2],
) {
    let check = |store: SharedStore<K>, told: [Vec<Told>; 2]| {
        let mut access = store.access();
        let (mut keys, mut news) = (BTreeMap::new(), BTreeMap::new());
        let mut words = Vec::new();
        for (state, key, new) in told.into_iter().flatten() {
            let key = access.renewed(key);
            access.unfold(key, &mut words);
            assert_eq!(words, state);
            assert_eq!(*keys.entry(key.to_words()).or_insert(state), state);
            *news.entry(state).or_insert(0) += u32::from(new);
        }
        assert!(news.values().all(|&count| count == 1), "a state is new more or less than once: {news:?}");
        assert_eq!(keys.len(), news.len());
    };
    // A thread that waits for the tables is not interrupted; two interruptions beside take seconds.
    let mut builder = Builder::new();
    builder.preemption_bound = Some(2);
    builder.max_branches = 20_000;
    together(&builder, || SharedStore::new(2), visit, states, check);
}

fn visit_plain(store: &SharedStore<PlainKeys>, states: States) -> Vec<Told> {
    visit(store, states, |access, key| access.insert(key))
}

fn visit_marked(store: &SharedStore<MarkedKeys>, states: States) -> Vec<Told> {
    visit(store, states, |access, key| access.insert(key, 1).is_none())
}

/// States that are their own keys, in a table that grows.
#[test]
fn short_states_are_there_once() {
    states_are_there_once(visit_plain, [&[&[1], &[2], &[3]], &[&[2], &[3]]]);
}

/// States whose words are named, in dictionaries that grow.
#[test]
fn states_are_there_once_while_dictionaries_grow() {
    states_are_there_once(visit_plain, [&[&[1, 1, 1], &[1, 1, 2]], &[&[1, 1, 2], &[1, 1, 3]]]);
}

#[test]
fn marked_states_are_there_once_while_dictionaries_grow() {
    states_are_there_once(visit_marked, [&[&[1, 1, 1], &[1, 1, 2]], &[&[1, 1, 2], &[1, 1, 1]]]);
}
