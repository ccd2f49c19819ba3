//! Every store against a set of the standard library.

use fabius_search::position::Position;
use fabius_search::store::{Class, Inserted};
use fabius_search::toy::Random;
use fabius_search::{BitstateStore, Exactness, FingerprintStore, Store, TreeStore};
use std::collections::HashSet;

/// Walks at random among states that resemble each other, forwards and back, inserting some of them and
/// passing through others, and looking at some without going there; returns how many answers differ from the truth.
/// The words have this many values.
fn wrong_answers<S: Store>(store: &mut S, seed: u64, steps: usize, words_max: usize, values: usize) -> usize {
    let mut random = Random::new(seed);
    let mut truth: HashSet<(bool, Vec<u32>)> = HashSet::new();
    let mut position = Position::new(S::MEMO_PER_WORD, 1);
    // Log lengths on the way here, and where the memo is right.
    let mut way: Vec<(usize, usize, Vec<u32>)> = Vec::new();
    let mut right_until = 0;
    let mut wrong = 0;
    for _ in 0..steps {
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
        if random.below(10) == 0 || state.is_empty() {
            state.resize(1 + random.below(words_max), random.below(3) as u32);
        }
        for _ in 0..random.below(4) {
            let i = random.below(state.len());
            state[i] = random.below(values) as u32;
        }
        if random.below(4) == 0 {
            position.state_and_successor().1.clone_from(&state);
            position.propose();
            let inserted = store.insert(&mut position, Class::Ordinary);
            let new = truth.insert((false, position.visible().to_vec()));
            wrong += usize::from((inserted == Inserted::New) != new);
            position.reject();
            assert_eq!(position.state(), before, "seed {seed}");
            continue;
        }
        way.push((position.log_len(), right_until, before));
        position.advance(&state);
        if random.below(3) != 0 {
            let class = if random.below(4) == 0 { Class::Transient } else { Class::Ordinary };
            let visible = position.visible().to_vec();
            let inserted = store.insert(&mut position, class);
            let new = truth.insert((class == Class::Transient, visible.clone()));
            wrong += usize::from((inserted == Inserted::New) != new);
            right_until = position.log_len();
            position.memo_is_right_until(right_until);
            let (mut note, mut recalled) = (Vec::new(), vec![99; 3]);
            store.note(&position, &mut note);
            store.recall(&note, &mut recalled);
            assert_eq!(recalled, visible, "seed {seed}");
        }
    }
    assert!(truth.len() > steps / 40, "too few different states to show anything: {}", truth.len());
    wrong
}

#[test]
fn stores_agree_with_a_set() {
    for seed in 0..120 {
        let words_max = [4, 9, 40, 150, 400][seed as usize % 5];
        let values = [3, 40, 5000][seed as usize % 3];
        let context = format!("seed {seed}");
        assert_eq!(wrong_answers(&mut TreeStore::new(), seed, 2000, words_max, values), 0, "{context}");
        assert_eq!(wrong_answers(&mut TreeStore::<u8>::default(), seed, 2000, words_max, values), 0, "{context}");
        assert_eq!(wrong_answers(&mut FingerprintStore::new(seed), seed, 2000, words_max, values), 0, "{context}");
        let mut bits = BitstateStore::new(1 << 20, 3, seed);
        assert_eq!(wrong_answers(&mut bits, seed, 2000, words_max, values), 0, "{context}");
    }
}

#[test]
fn long_states_agree_with_a_set() {
    for seed in 0..6 {
        let words_max = [4100, 9000][seed as usize % 2];
        let values = [2, 3, 5000][seed as usize % 3];
        let context = format!("seed {seed}");
        assert_eq!(wrong_answers(&mut TreeStore::new(), seed, 400, words_max, values), 0, "{context}");
        assert_eq!(wrong_answers(&mut TreeStore::<u8>::default(), seed, 400, words_max, values), 0, "{context}");
    }
}

#[test]
fn a_long_state_of_which_every_word_varies_takes_little() {
    let words = 1 << 16;
    let mut store = TreeStore::new();
    let mut position = Position::new(TreeStore::<()>::MEMO_PER_WORD, 1);
    let mut state = vec![0_u32; words + 1];
    let mut notes = Vec::new();
    for number in 0..3000 {
        state[number * 21 % words] = number as u32;
        state[words] = number as u32;
        position.advance(&state);
        assert_eq!(store.insert(&mut position, Class::Ordinary), Inserted::New);
        let mut note = Vec::new();
        store.note(&position, &mut note);
        assert_eq!(note.len(), 3, "a note is no copy of the state");
        notes.push((note, state.clone().split_off(words)));
        position.forget();
        assert_eq!(store.insert(&mut position, Class::Ordinary), Inserted::Old);
    }
    let bytes = store.memory_bytes();
    assert!(bytes < 3000 * 600, "{bytes} bytes");
    for (number, (note, hidden)) in notes.iter().enumerate().step_by(997) {
        let probe = store.return_to((note, hidden), Class::Ordinary, &mut position, &mut Vec::new());
        assert_eq!(store.commit(probe), Inserted::Old);
        assert_eq!(position.state()[words], number as u32);
        let varied = (0..words).filter(|&word| position.state()[word] != 0).count();
        assert_eq!(varied, number, "state {number}");
    }
}

#[test]
fn a_payload_stays_with_its_state() {
    let mut store = TreeStore::<u8>::default();
    let mut position = Position::new(TreeStore::<u8>::MEMO_PER_WORD, 0);
    for round in 0..2 {
        for i in 0..50_000_u32 {
            position.advance(&[i % 7, i / 7, i % 3, 5]);
            let (inserted, payload) = store.entry(&mut position, Class::Ordinary);
            assert_eq!(inserted == Inserted::New, round == 0);
            if round == 0 {
                *payload = (i % 251) as u8;
            }
            assert_eq!(*payload, (i % 251) as u8);
            position.forget();
        }
    }
    assert_eq!(store.len(Class::Ordinary), 50_000);
}

#[test]
fn the_tree_store_takes_at_most_twelve_bytes_per_state() {
    let mut store = TreeStore::new();
    let mut position = Position::new(TreeStore::<()>::MEMO_PER_WORD, 0);
    let mut state = vec![0_u32; 27];
    // Ten components of four states, two to three words each; all 4^10 combinations.
    for number in 0..1_u32 << 20 {
        for (i, word) in state.iter_mut().enumerate() {
            *word = (number >> (i * 10 / 27 * 2) & 3) * (i as u32 % 3 + 1);
        }
        position.advance(&state);
        assert_eq!(store.insert(&mut position, Class::Ordinary), Inserted::New);
        position.forget();
    }
    let bytes = store.memory_bytes() as f64 / f64::from(1 << 20);
    assert!(bytes < 12.0, "{bytes} bytes per state, {} inner nodes", store.inner_nodes());
}

#[test]
fn lossy_stores_say_what_they_may_miss() {
    let mut position = Position::new(0, 0);
    let mut fingerprints = FingerprintStore::default();
    let mut bits = BitstateStore::new(1000, 3, 0);
    let mut missed = 0;
    for i in 0..2000 {
        position.advance(&[i]);
        assert_eq!(fingerprints.insert(&mut position, Class::Ordinary), Inserted::New);
        missed += u32::from(bits.insert(&mut position, Class::Ordinary) == Inserted::Old);
        position.forget();
    }
    let Exactness::Fingerprint { omission_probability } = fingerprints.exactness() else { panic!() };
    let expected = 2000.0_f64 * 2000.0 / 2.0_f64.powi(65);
    assert!((omission_probability / expected - 1.0).abs() < 1e-9);
    let Exactness::Bitstate { omission_probability_per_state, bits_per_state } = bits.exactness() else { panic!() };
    assert!(missed > 100, "so small a store must miss some: {missed}");
    assert!((0.1..1.0).contains(&omission_probability_per_state), "{omission_probability_per_state}");
    assert!((1.0..10.0).contains(&bits_per_state), "{bits_per_state}");
    assert!(!fingerprints.exactness().is_exact() && !bits.exactness().is_exact());
    assert!(TreeStore::new().exactness().is_exact());
}

#[test]
fn a_bitstate_table_begins_small_and_forgets_nothing_while_it_grows() {
    let allowed = 256 << 20;
    let mut bits = BitstateStore::new(allowed, 3, 0);
    let mut position = Position::new(0, 0);
    let first = bits.memory_bytes();
    assert!(first <= 16 << 20, "{first}");
    let mut missed = 0;
    for i in 0..300_000_u32 {
        position.advance(&[i, i / 7]);
        missed += u32::from(bits.insert(&mut position, Class::Ordinary) == Inserted::Old);
        position.forget();
    }
    let grown = bits.memory_bytes();
    assert!(first < grown && grown <= allowed, "{first}, {grown}");
    for i in 0..300_000_u32 {
        position.advance(&[i, i / 7]);
        assert_eq!(bits.insert(&mut position, Class::Ordinary), Inserted::Old, "{i}");
        position.forget();
    }
    let Exactness::Bitstate { omission_probability_per_state, .. } = bits.exactness() else { panic!() };
    assert!(missed < 10 && omission_probability_per_state < 1e-4, "{missed}, {omission_probability_per_state}");
}
