//! Threads that walk among states that resemble each other, against a set of the standard library.

use super::{Access, Key, MarkedKeys, PlainKeys, SharedKeys, SharedStore, StateSet};
use crate::position::Position;
use crate::store::{Class, Store, TreeStore};
use crate::toy::Random;
use std::collections::{BTreeMap, HashMap};

/// A state, and whether it is transient and reached otherwise.
type State = (Vec<u32>, bool, bool);

/// Walks forwards and back, looks up most states it comes to, and some that it does not go to; returns what it was told of each:
/// its key, and whether it is new.
fn walk<K: SharedKeys>(
    access: &mut Access<'_, K>,
    mut insert: impl FnMut(&mut Access<'_, K>, Key) -> bool,
    (seed, steps): (u64, usize),
    (words_max, values): (usize, usize),
) -> Vec<(State, Key, bool)> {
    let mut random = Random::new(seed);
    let mut position = Position::new(<TreeStore as Store>::MEMO_PER_WORD, 1);
    // Log lengths on the way here, and where the memo is right.
    let mut way: Vec<(usize, usize, Vec<u32>)> = Vec::new();
    let mut right_until = 0;
    let mut told = Vec::new();
    for step in 0..steps {
        if step % 16 == 0 {
            access.leave_if_asked();
        }
        if random.below(3) == 0
            && let Some((log_len, right, state)) = way.pop()
        {
            position.retreat(position.log_len() - log_len);
            assert_eq!(position.state(), state, "seed {seed}");
            right_until = right;
            position.memo_is_right_until(right);
            continue;
        }
        let before = position.state().to_vec();
        let mut state = before.clone();
        if random.below(30) == 0 || state.is_empty() {
            state.resize(1 + random.below(words_max), random.below(3) as u32);
        }
        for _ in 0..random.below(3) {
            let i = random.below(state.len());
            state[i] = random.below(values) as u32;
        }
        let goes = random.below(4) != 0;
        let right_before = right_until;
        position.state_and_successor().1.clone_from(&state);
        position.propose();
        if !goes || random.below(3) != 0 {
            let (transient, otherwise) = (random.below(5) == 0, random.below(5) == 0);
            let class = if transient { Class::Transient } else { Class::Ordinary };
            let key = access.key(&mut position, class, otherwise);
            let new = insert(access, key);
            told.push(((position.visible().to_vec(), transient, otherwise), key, new));
            if goes {
                right_until = position.log_len();
            }
        }
        if goes {
            let changes = position.accept();
            way.push((position.log_len() - changes, right_before, before));
            position.memo_is_right_until(right_until);
        } else {
            position.reject();
            assert_eq!(position.state(), before, "seed {seed}");
        }
    }
    told
}

/// Each state is new to one thread, once; its keys are the same in the present layout, those of other states are others, and lead
/// back to its words.
fn check<K: SharedKeys>(store: &SharedStore<K>, told: Vec<Vec<(State, Key, bool)>>, context: &str) -> usize {
    let mut access = store.access();
    let mut keys: HashMap<Key, State> = HashMap::new();
    let mut news: BTreeMap<State, u32> = BTreeMap::new();
    let mut words = Vec::new();
    let mut set = StateSet::default();
    for (state, key, new) in told.into_iter().flatten() {
        let renewed = access.renewed(key);
        assert_eq!(keys.entry(renewed).or_insert_with(|| state.clone()), &state, "{context}");
        for key in [key, renewed] {
            access.unfold(key, &mut words);
            assert_eq!(words, state.0, "{context}");
        }
        let known = news.contains_key(&state);
        assert_eq!(set.contains(&mut access, key, ()), known, "{context}");
        assert_eq!(set.insert(&mut access, key, ()), !known, "{context}");
        *news.entry(state).or_default() += u32::from(new);
    }
    assert!(news.values().all(|&count| count == 1), "{context}: a state is new more or less than once");
    assert_eq!((keys.len(), set.iter().count()), (news.len(), news.len()), "{context}");
    news.len()
}

/// Many threads and few: what the states are like, by the seed.
fn sizes(seed: u64) -> (u64, (usize, usize)) {
    let words_max = [3, 9, 40, 150][seed as usize % 4];
    (1 + seed % 4, (words_max, [3, 40, 5000][seed as usize % 3]))
}

#[test]
fn threads_agree_with_a_set() {
    let mut states = 0;
    for seed in 0..60 {
        let (threads, sizes) = sizes(seed);
        let store = SharedStore::<PlainKeys>::new(threads as usize);
        let told: Vec<_> = std::thread::scope(|scope| {
            let work = |thread: u64| {
                let store = &store;
                // Two threads each walk the same way, so that they meet.
                move || {
                    walk(&mut store.access(), |access, key| access.insert(key), (seed * 10 + thread / 2, 1500), sizes)
                }
            };
            let threads: Vec<_> = (0..threads).map(|thread| scope.spawn(work(thread))).collect();
            threads.into_iter().map(|thread| thread.join().expect("a thread that ends")).collect()
        });
        states += check(&store, told, &format!("seed {seed}"));
    }
    assert!(states > 20_000, "too few different states to show anything: {states}");
}

/// The bits of a state survive new layouts and larger tables.
#[test]
fn bits_stay_with_their_states() {
    for seed in 0..60 {
        let (threads, sizes) = sizes(seed);
        let store = SharedStore::<MarkedKeys>::new(threads as usize);
        let told: Vec<_> = std::thread::scope(|scope| {
            let work = |thread: u64| {
                let store = &store;
                let mark = 1 << thread;
                let insert = move |access: &mut Access<'_, MarkedKeys>, key: Key| {
                    let old = access.insert(key, mark);
                    access.set(key, 1 << 8);
                    assert_ne!(access.set(key, mark) & 1 << 8, 0);
                    old.is_none()
                };
                move || walk(&mut store.access(), insert, (seed * 10 + thread / 2, 1500), sizes)
            };
            let threads: Vec<_> = (0..threads).map(|thread| scope.spawn(work(thread))).collect();
            threads.into_iter().map(|thread| thread.join().expect("a thread that ends")).collect()
        });
        let mut marks: HashMap<State, u32> = HashMap::new();
        for (thread, told) in told.iter().enumerate() {
            told.iter().for_each(|(state, ..)| *marks.entry(state.clone()).or_insert(1 << 8) |= 1 << thread);
        }
        let mut access = store.access();
        for (state, key, _) in told.iter().flatten() {
            assert_eq!(access.bits(*key), marks[state], "seed {seed}");
        }
        access.leave();
        check(&store, told, &format!("seed {seed}"));
    }
}

/// As many states as make a set compact, in the order of a counter.
#[test]
fn many_states_take_at_most_ten_bytes_each() {
    let store = SharedStore::<PlainKeys>::new(3);
    let count = |access: &mut Access<'_, PlainKeys>, states: std::ops::Range<u32>| {
        let mut position = Position::new(<TreeStore as Store>::MEMO_PER_WORD, 0);
        let mut new = 0;
        for i in states {
            position.advance(&[i & 3, i >> 2 & 7, i >> 5 & 31, 0, i >> 10 & 63, i >> 16, 1, i & 1]);
            let key = access.key(&mut position, Class::Ordinary, false);
            new += u32::from(access.insert(key));
            position.forget();
        }
        access.leave();
        new
    };
    let new: u32 = std::thread::scope(|scope| {
        let work = |part: u32| {
            let store = &store;
            move || count(&mut store.access(), part * 250_000..part * 250_000 + 750_000)
        };
        let threads: Vec<_> = (0..3).map(|part| scope.spawn(work(part))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a thread that ends")).sum()
    });
    assert_eq!(new, 1_250_000);
    assert_eq!(count(&mut store.access(), 0..1_250_000), 0);
    let per_state = store.memory_bytes() as f64 / 1_250_000.0;
    assert!((4.0..10.0).contains(&per_state), "{per_state} bytes per state");
}
