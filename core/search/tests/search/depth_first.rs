//! A depth-first search that goes on from a snapshot finds what it would have found: the same states, matched states and depth, and the
//! same violation.

use fabius_base::{Cancel, Limits, StopReason};
use fabius_search::checkpoint::{CheckpointPolicy, Snapshot, Unusable};
use fabius_search::toy::{Random, Toy};
use fabius_search::{
    Completeness, DepthFirstSnapshot, Ending, Learning, Marks, Model, Next, Observer, Outcome, Quiet, Settings,
    Statistics, TreeStore, depth_first, resumable_depth_first,
};
use std::collections::hash_map::DefaultHasher;
use std::fmt::Debug;
use std::hash::{Hash, Hasher};
use std::ops::ControlFlow;

/// A system whose successors follow from a hash of the state: counters in a few words, and blocks that come and go.
#[derive(Clone, Debug)]
struct Hashed {
    seed: u64,
    /// Words of a block.
    block: usize,
    blocks_max: usize,
    /// Values of a word.
    values: u32,
    /// One successor in so many is transient, …
    transient_odds: u64,
    /// … one step in so many is faulty, …
    fault_odds: u64,
    /// … and a state has no successor.
    end_odds: u64,
    /// What was listed, as numbers of steps.
    listed: Vec<u8>,
}

/// The first word says whether the state is transient; the last one is hidden.
const TRANSIENT: u32 = 1;

impl Hashed {
    fn random(seed: u64, values: u32) -> Self {
        let mut random = Random::new(seed);
        Self {
            seed,
            block: 1 + random.below(4),
            blocks_max: 1 + random.below(3),
            values,
            transient_odds: [u64::MAX, 9, 3][random.below(3)],
            fault_odds: [u64::MAX, 20_000, 500][random.below(3)],
            end_odds: [u64::MAX, u64::MAX, 5_000][random.below(3)],
            listed: vec![0; 8],
        }
    }

    fn hash(&self, what: impl Hash) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.seed, what).hash(&mut hasher);
        hasher.finish()
    }
}

impl Model for Hashed {
    type Label = u32;
    type Fault = u32;
    type Cursor = u32;

    fn hidden_words(&self) -> usize {
        1
    }

    fn initial(&mut self, state: &mut Vec<u32>) -> Result<(), u32> {
        state.clear();
        state.resize(self.block + 2, 0);
        Ok(())
    }

    fn begin(&mut self, _: &[u32]) -> u32 {
        0
    }

    fn next(&mut self, state: &[u32], cursor: &mut u32, successor: &mut Vec<u32>) -> Next<u32, u32> {
        let visible = &state[..state.len() - 1];
        let hash = self.hash(visible);
        let steps = if hash % self.end_odds == 1 { 0 } else { 1 + hash as u32 % 4 };
        if steps <= *cursor {
            return Next::Done(if steps == 0 { Ending::InvalidEnd } else { Ending::Moves });
        }
        let step = *cursor;
        *cursor += 1;
        self.listed[step as usize] = 1;
        let hash = self.hash((visible, step));
        let mut random = Random::new(hash);
        successor.clear();
        successor.extend_from_slice(state);
        let (blocks, last) = ((state.len() - 2) / self.block, state.len() - 1);
        match random.below(12) {
            0 if blocks < self.blocks_max => {
                successor.truncate(last);
                successor.resize(last + self.block + 1, 1);
            }
            1 if 1 < blocks => successor.truncate(last - self.block + 1),
            _ => {
                let word = 1 + random.below(last - 1);
                successor[word] = (successor[word] + 1 + random.below(2) as u32) % self.values;
            }
        }
        let transient = random.next_u64() % self.transient_odds == 1;
        successor[0] = if transient { TRANSIENT } else { 0 };
        *successor.last_mut().expect("a hidden word") = step;
        let is_faulty = random.next_u64() % self.fault_odds == 1;
        match random.below(2_000) {
            0 if is_faulty => Next::Broken { label: step, fault: 7 },
            // Only a transient state changes without a step.
            1 if state[0] == TRANSIENT && !transient => {
                Next::Successor { label: None, transient, fault: None, marks: Marks::NONE }
            }
            _ => Next::Successor { label: Some(step), transient, fault: is_faulty.then_some(3), marks: Marks::NONE },
        }
    }
}

impl Learning for Hashed {
    fn learned(&self) -> Vec<u8> {
        self.listed.clone()
    }

    fn learn_again(&mut self, learned: &[u8]) -> bool {
        let is_same = learned.len() == self.listed.len();
        self.listed.iter_mut().zip(learned).for_each(|(mine, theirs)| *mine |= theirs);
        is_same
    }
}

/// Stops a search at some look, and has snapshots taken at others.
struct Fickle {
    random: Random,
    /// One look in so many stops the search, …
    stop_odds: usize,
    /// … and one in so many takes a snapshot.
    keep_odds: usize,
    /// The states told at the first look.
    first: Option<u64>,
}

impl<L: Debug, F: Debug> Observer<L, F> for Fickle {
    fn progress(&mut self, statistics: &Statistics) -> ControlFlow<StopReason> {
        self.first.get_or_insert(statistics.states);
        match self.random.below(self.stop_odds) {
            0 => ControlFlow::Break(StopReason::Cancelled),
            _ => ControlFlow::Continue(()),
        }
    }

    fn checkpoint_is_due(&mut self) -> bool {
        self.random.below(self.keep_odds) == 0
    }
}

fn without_memory<M: Model>(outcome: Outcome<M::Label, M::Fault>) -> Outcome<M::Label, M::Fault> {
    Outcome { statistics: Statistics { memory_bytes: 0, ..outcome.statistics }, ..outcome }
}

fn whole<M: Learning>(model: &mut M, settings: &Settings) -> Outcome<M::Label, M::Fault> {
    without_memory::<M>(depth_first(model, &mut TreeStore::new(), &mut Quiet, settings))
}

fn resumed<M: Learning>(
    model: &mut M,
    observer: &mut impl Observer<M::Label, M::Fault>,
    settings: &Settings,
    from: Option<DepthFirstSnapshot>,
    kept: &mut Option<DepthFirstSnapshot>,
) -> Result<Outcome<M::Label, M::Fault>, Unusable> {
    let mut keep = |snapshot: DepthFirstSnapshot| *kept = Some(snapshot);
    let checkpoint = CheckpointPolicy { from, keep: Some(&mut keep) };
    let outcome = resumable_depth_first(model, &mut TreeStore::new(), observer, settings, checkpoint)?;
    Ok(without_memory::<M>(outcome))
}

/// What was written is read.
fn through_bytes(snapshot: DepthFirstSnapshot) -> DepthFirstSnapshot {
    let bytes = snapshot.clone().into_bytes();
    assert_eq!(bytes, snapshot.to_bytes());
    let read = DepthFirstSnapshot::from_bytes(&bytes).expect("a snapshot");
    assert_eq!(read.states(), snapshot.states());
    read
}

/// Searches with a limit on states that grows at random, each time from where the search ended; how often it was interrupted.
fn by_states<M: Learning + Clone>(model: &M, random: &mut Random, step: usize, depth_max: Option<u64>) -> u64
where
    M::Label: PartialEq,
{
    let limits = Limits { depth_max, ..Limits::default() };
    let expected = whole(&mut model.clone(), &Settings { limits, ..Settings::default() });
    let (mut states_max, mut kept, mut stops) = (random.below(2) as u64, None, 0);
    loop {
        let limits = Limits { states_max: Some(states_max), ..limits };
        let settings = Settings { limits, ..Settings::default() };
        let from = kept.take().map(through_bytes);
        let found = resumed(&mut model.clone(), &mut Quiet, &settings, from, &mut kept).expect("its own snapshot");
        if found.completeness != Completeness::Stopped(StopReason::States) {
            assert_eq!(found, expected, "after {stops} interruptions");
            assert!(kept.is_none(), "there is nothing left to do");
            return stops;
        }
        assert_eq!(found.statistics.states, states_max);
        assert_eq!(kept.as_ref().map(DepthFirstSnapshot::states), Some(states_max));
        // The same limit leads nowhere.
        stops += 1;
        states_max += random.below(step) as u64;
    }
}

#[test]
fn small_graphs_are_searched_in_pieces() {
    let mut stops = 0;
    for seed in 0..4_000 {
        let mut random = Random::new(seed);
        let toy = Toy::random(seed, 60, seed % 3 != 0);
        let depth_max = (seed % 5 == 0).then(|| random.below(20) as u64);
        stops += by_states(&toy, &mut random, 8, depth_max);
    }
    assert!(4_000 < stops, "{stops}");
}

#[test]
fn small_systems_with_blocks_that_come_and_go_are_searched_in_pieces() {
    let mut stops = 0;
    for seed in 0..1_000 {
        let mut random = Random::new(seed);
        let (block, blocks_max) = (1 + random.below(3), 1 + random.below(2));
        let model = Hashed { block, blocks_max, ..Hashed::random(seed, 2 + seed as u32 % 3) };
        let depth_max = (seed % 7 == 0).then(|| random.below(50) as u64);
        stops += by_states(&model, &mut random, 400, depth_max);
    }
    assert!(1_000 < stops, "{stops}");
}

/// Snapshots are taken at looks, too, and the search goes on after them; and the last one counts, not where the search was ended.
#[test]
fn large_systems_are_interrupted_anywhere() {
    let (mut stops, mut largest) = (0, 0);
    for seed in 0..40 {
        let mut model = Hashed::random(seed, 4 + seed as u32 % 9);
        model.end_odds = u64::MAX;
        model.fault_odds = if seed % 4 == 0 { 200_000 } else { u64::MAX };
        let limits = Limits { states_max: Some(150_000), ..Limits::default() };
        let settings = Settings { limits, ..Settings::default() };
        let mut learned = model.clone();
        let expected = whole(&mut learned, &settings);
        largest = largest.max(expected.statistics.states);
        let (mut random, mut kept) = (Random::new(seed), None);
        loop {
            let from: Option<DepthFirstSnapshot> = kept.clone().map(through_bytes);
            let states = from.as_ref().map(DepthFirstSnapshot::states);
            let stop_odds = 40 + random.below(200);
            let mut observer = Fickle { random: random.clone(), stop_odds, keep_odds: 30, first: None };
            random.next_u64();
            let mut again = model.clone();
            let found = resumed(&mut again, &mut observer, &settings, from, &mut kept).expect("its own snapshot");
            assert!(states.is_none() || observer.first == states, "states are told at once");
            if found.completeness != Completeness::Stopped(StopReason::Cancelled) {
                assert_eq!(found, expected, "{seed}");
                assert_eq!(again.listed, learned.listed, "{seed}");
                break;
            }
            stops += 1;
        }
    }
    assert!(40 < stops && 65_536 < largest, "{stops}, {largest} states");
}

/// The sets of keys become compact after the search was resumed, and before.
#[test]
fn keys_become_compact_before_and_after() {
    let model = Hashed {
        block: 5,
        blocks_max: 2,
        transient_odds: 6,
        fault_odds: u64::MAX,
        end_odds: u64::MAX,
        ..Hashed::random(5, 40)
    };
    let at_most = |states| {
        let limits = Limits { states_max: Some(states), ..Limits::default() };
        Settings { limits, ..Settings::default() }
    };
    let expected = whole(&mut model.clone(), &at_most(400_000));
    assert_eq!(expected.statistics.states, 400_000);
    let mut kept = None;
    for states in [1_000, 60_000, 65_536, 65_537, 140_000, 300_000, 400_000] {
        let from = kept.take().map(through_bytes);
        let found =
            resumed(&mut model.clone(), &mut Quiet, &at_most(states), from, &mut kept).expect("its own snapshot");
        if states == 400_000 {
            assert_eq!(found, expected);
        }
        let bytes = kept.as_ref().map_or(0, |kept| kept.to_bytes().len());
        assert!(states < 65_536 || bytes < 10 * states as usize, "{bytes} bytes for {states} states");
    }
}

/// States of one and two words are their own keys, and those of very many words are kept in another way.
#[test]
fn short_and_long_states_are_kept() {
    /// Counts in the last two of many words.
    #[derive(Clone)]
    struct Long(usize);

    impl Model for Long {
        type Label = u32;
        type Fault = u32;
        type Cursor = u32;

        fn hidden_words(&self) -> usize {
            0
        }

        fn initial(&mut self, state: &mut Vec<u32>) -> Result<(), u32> {
            state.clear();
            state.resize(self.0, 3);
            Ok(())
        }

        fn begin(&mut self, _: &[u32]) -> u32 {
            0
        }

        fn next(&mut self, state: &[u32], cursor: &mut u32, successor: &mut Vec<u32>) -> Next<u32, u32> {
            successor.clear();
            successor.extend_from_slice(state);
            *cursor += 1;
            let place = (state.len() / 2 * (*cursor as usize - 1)).min(state.len() - 1);
            if 2 < *cursor {
                return Next::Done(Ending::Moves);
            }
            successor[place] = (successor[place] + 1) % 30;
            Next::Successor { label: Some(*cursor), transient: false, fault: None, marks: Marks::NONE }
        }
    }

    impl Learning for Long {}

    for length in [1, 2, 3, 4_095, 4_096, 5_000] {
        let stops = by_states(&Long(length), &mut Random::new(length as u64), 200, None);
        assert!(length == 1 || 1 < stops, "{length}: {stops}");
    }
}

/// A snapshot of a search that was stopped, and its bytes.
fn stopped<M: Learning + Clone>(model: &M, states: u64) -> Option<Vec<u8>> {
    let limits = Limits { states_max: Some(states), ..Limits::default() };
    let mut kept = None;
    let settings = Settings { limits, ..Settings::default() };
    resumed(&mut model.clone(), &mut Quiet, &settings, None, &mut kept).expect("nothing is resumed");
    kept.map(DepthFirstSnapshot::into_bytes)
}

/// Whatever the bytes are, they are refused, or a search goes on from them: nothing is asked of it but that it ends.
fn refused_or_resumed<M: Learning + Clone>(model: &M, bytes: &[u8]) -> bool {
    let Some(snapshot) = DepthFirstSnapshot::from_bytes(bytes) else { return true };
    let limits = Limits { states_max: Some(1_000), ..Limits::default() };
    let settings = Settings { limits, ..Settings::default() };
    resumed(&mut model.clone(), &mut Quiet, &settings, Some(snapshot), &mut None).is_err()
}

fn damaged_bytes_do_no_harm<M: Learning + Clone>(model: &M, states: u64, seed: u64) -> (u32, u32) {
    let Some(bytes) = stopped(model, states) else { return (0, 0) };
    let mut random = Random::new(seed);
    let (mut refused, mut tried) = (0, 0);
    for _ in 0..60 {
        let mut damaged = bytes.clone();
        match random.below(4) {
            0 => damaged.truncate(random.below(bytes.len())),
            1 => damaged.extend([0; 3]),
            2 => damaged = (0..random.below(200)).map(|_| random.next_u64() as u8).collect(),
            _ => {}
        }
        for _ in 0..1 + random.below(3) {
            let at = random.below(damaged.len());
            if let Some(byte) = damaged.get_mut(at) {
                *byte = if random.below(2) == 0 { *byte ^ 1 << random.below(8) } else { random.next_u64() as u8 };
            }
        }
        refused += u32::from(refused_or_resumed(model, &damaged));
        tried += 1;
    }
    (refused, tried)
}

#[test]
fn damaged_bytes_are_refused_or_do_no_harm() {
    let (mut refused, mut tried) = (0, 0);
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let toy = Toy::random(seed, 60, true);
        let system = Hashed::random(seed, 5);
        for (some_refused, some_tried) in [
            damaged_bytes_do_no_harm(&toy, 1 + random.below(20) as u64, seed),
            damaged_bytes_do_no_harm(&system, 1 + random.below(400) as u64, seed),
        ] {
            refused += some_refused;
            tried += some_tried;
        }
    }
    assert!(10_000 < tried && tried / 2 < refused, "{refused} of {tried} are refused");
}

/// Each bit of one file, since some of them are the lengths of lists and the numbers of states.
#[test]
fn no_bit_of_a_snapshot_does_harm() {
    let system = |seed| Hashed { transient_odds: 3, end_odds: u64::MAX, ..Hashed::random(seed, 5) };
    let (system, bytes) =
        (0..).find_map(|seed| Some((system(seed), stopped(&system(seed), 60)?))).expect("one of them");
    for at in 0..bytes.len() {
        assert!(refused_or_resumed(&system, &bytes[..at]), "cut to {at} bytes");
        for bit in 0..8 {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << bit;
            refused_or_resumed(&system, &damaged);
        }
        let mut large = bytes[..at].to_vec();
        large.extend([0xFF, 0xFF, 0xFF, 0xFF, 0x0F]);
        large.extend(&bytes[at..]);
        refused_or_resumed(&system, &large);
    }
}

#[test]
fn snapshots_of_another_model_are_refused() {
    let mut refused = 0;
    for seed in 0..200 {
        let (mine, other) = (Hashed::random(seed, 5), Hashed::random(seed + 1_000, 6));
        let Some(bytes) = stopped(&mine, 300) else { continue };
        refused += u32::from(refused_or_resumed(&other, &bytes));
    }
    assert!(80 < refused, "{refused}");
}

#[test]
fn stopped_while_it_is_resumed_it_keeps_what_was() {
    let model = Hashed { fault_odds: u64::MAX, end_odds: u64::MAX, ..Hashed::random(1, 9) };
    let bytes = stopped(&model, 500).expect("it was stopped");
    let settings = Settings { cancel: Cancel::new(), ..Settings::default() };
    settings.cancel.time_out();
    let mut kept = None;
    let from = DepthFirstSnapshot::from_bytes(&bytes);
    let found = resumed(&mut model.clone(), &mut Quiet, &settings, from, &mut kept).expect("its own snapshot");
    assert_eq!(found.completeness, Completeness::Stopped(StopReason::Timeout));
    assert_eq!(found.statistics.states, 500);
    assert!(kept.is_none_or(|kept| kept.states() == 500));
}
