//! Partitions against the search by one thread, on random graphs.

use super::*;
use crate::model::Model;
use crate::observer::{Quiet, Settings};
use crate::outcome::{StopAt, Violation, ViolationKind};
use crate::store::TreeStore;
use crate::toy::{Random, Toy};
use fabius_base::{Limits, StopReason};
use std::thread;

/// What each of the partitions reports, in one process.
fn together<M: Model + Clone + Send + Sync>(model: &M, partitions: usize, settings: &Settings) -> Vec<Reached> {
    let partition = |mut exchange: Local| {
        let (mut store, mut ways) = (TreeStore::new(), Vec::new());
        reach(&mut model.clone(), &mut store, &mut ways, &mut exchange, &mut Quiet, settings, PartCheckpoints::none())
            .expect("all go on")
    };
    thread::scope(|scope| {
        let exchanges = Local::connect(partitions).into_iter();
        let threads: Vec<_> = exchanges.map(|exchange| scope.spawn(|| partition(exchange))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    })
}

impl<L, F> Violation<L, F> {
    fn steps(&self) -> usize {
        self.path.len()
    }
}

fn kinds(violations: &[Violation<u32, u32>]) -> Vec<(String, u64)> {
    let mut kinds: Vec<(String, u64)> = violations
        .iter()
        .map(|violation| (format!("{:?} {:?}", violation.kind, last(violation)), violation.count))
        .collect();
    kinds.sort();
    kinds
}

/// The faulty transition, which names a violation.
fn last(violation: &Violation<u32, u32>) -> Option<u32> {
    let is_fault = matches!(violation.kind, ViolationKind::Fault(_));
    violation.path.last().copied().filter(|_| is_fault)
}

fn random_settings(random: &mut Random) -> Settings {
    let depth_max = (random.below(4) == 0).then(|| random.below(12) as u64);
    let stop_at = if random.below(2) == 0 { StopAt::First } else { StopAt::Never };
    Settings { limits: Limits { depth_max, ..Limits::default() }, stop_at, ..Settings::default() }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "whoever runs the tests says how long")]
fn any_number_of_partitions_finds_what_one_thread_finds() {
    let rounds = std::env::var("FABIUS_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(300);
    for seed in 0..rounds {
        let mut random = Random::new(seed);
        let toy = Toy::random(seed, 1 + random.below(120), random.below(2) == 0);
        let settings = random_settings(&mut random);
        let mut store = TreeStore::new();
        let one = crate::breadth_first(&mut toy.clone(), &mut store, &mut Quiet, &settings);
        let mut before = None;
        for partitions in [1, 2, 3, 5] {
            let all = together(&toy, partitions, &settings);
            assert!(all.iter().all(|reached| *reached == all[0]), "{seed}: the partitions disagree");
            let reached = &all[0];
            let found: Vec<_> =
                reached.ways.iter().map(|way| replay(&mut toy.clone(), way).expect("a way of the model")).collect();
            assert_eq!(reached.completeness, one.completeness, "{seed}, {partitions}");
            assert_eq!(reached.statistics.depth, one.statistics.depth, "{seed}, {partitions}");
            assert_eq!(reached.statistics.violations, one.statistics.violations, "{seed}, {partitions}");
            if one.completeness == Completeness::FirstViolation {
                let nearest = reached.ways[0].ordinals.len() as u64;
                assert_eq!((found.len(), nearest), (1, one.statistics.depth), "{seed}, {partitions}");
            } else {
                let counters = |statistics: Statistics| Statistics { memory_bytes: 0, ..statistics };
                assert_eq!(counters(reached.statistics), counters(one.statistics), "{seed}, {partitions}");
                assert_eq!(kinds(&found), kinds(&one.violations), "{seed}, {partitions}");
            }
            assert_eq!(together(&toy, partitions, &settings)[0].ways, reached.ways, "{seed}: it cannot be repeated");
            let violations: Vec<_> = found.iter().map(|found| (found.kind, last(found), found.count)).collect();
            let lengths: Vec<_> = reached.ways.iter().map(|way| (way.ordinals.len(), way.event)).collect();
            let told = (violations, lengths, Statistics { memory_bytes: 0, ..reached.statistics });
            assert_eq!(
                *before.get_or_insert_with(|| told.clone()),
                told,
                "{seed}: {partitions} partitions tell another story"
            );
        }
    }
}

#[test]
fn states_that_few_bytes_spread_are_counted_as_by_one_thread() {
    const NODES: usize = 20_000;
    // Hubs lead everywhere, so that nearly all nodes are reached.
    let to = |node: usize, i: usize| (node * 31 + i * 7_919 + 1) % NODES;
    let successors: Vec<Vec<usize>> = (0..NODES).map(|node| (0..3).map(|i| to(node, i)).collect()).collect();
    let toy = Toy::plain(&successors.iter().map(Vec::as_slice).collect::<Vec<_>>());
    let settings = Settings { stop_at: StopAt::Never, ..Settings::default() };
    let one = crate::breadth_first(&mut toy.clone(), &mut TreeStore::new(), &mut Quiet, &settings);
    assert!(8_192 < one.statistics.states, "{}", one.statistics.states);
    for partitions in [2, 3, 5] {
        let all = together(&toy, partitions, &settings);
        let counters = |statistics: Statistics| Statistics { memory_bytes: 0, ..statistics };
        assert_eq!(counters(all[0].statistics), counters(one.statistics), "{partitions}");
        assert!(all[0].partitions.iter().all(|part| 100 < part.states), "{:?}", all[0].partitions);
    }
}

#[test]
fn a_shortest_violation_is_as_long_as_that_of_one_thread_where_nothing_is_transient() {
    for seed in 0..200 {
        let toy = Toy::random(seed, 60, false);
        let settings = Settings::default();
        let one = crate::breadth_first(&mut toy.clone(), &mut TreeStore::new(), &mut Quiet, &settings);
        let all = together(&toy, 3, &settings);
        let steps = all[0].ways.first().map(|way| replay(&mut toy.clone(), way).expect("a way").steps());
        let is_end = |violation: &Violation<u32, u32>| violation.kind == ViolationKind::InvalidEnd;
        let one = one.first().map(|violation| violation.steps() + usize::from(is_end(violation)));
        let three = steps.zip(all[0].ways.first()).map(|(steps, way)| {
            let end = replay(&mut toy.clone(), way).is_some_and(|violation| is_end(&violation));
            steps + usize::from(end)
        });
        assert_eq!(three, one, "{seed}");
    }
}

#[test]
fn a_limit_on_states_ends_all_partitions_and_is_no_proof() {
    let successors: Vec<Vec<usize>> = (0..2_000).map(|node| vec![(node + 1) % 2_000, (node * 7) % 2_000]).collect();
    let toy = Toy::plain(&successors.iter().map(Vec::as_slice).collect::<Vec<_>>());
    let limits = Limits { states_max: Some(100), ..Limits::default() };
    let settings = Settings { limits, stop_at: StopAt::Never, ..Settings::default() };
    for partitions in [1, 3] {
        let all = together(&toy, partitions, &settings);
        assert_eq!(all[0].completeness, Completeness::Stopped(StopReason::States));
        assert!((100..2_000).contains(&all[0].statistics.states), "{}", all[0].statistics.states);
    }
}

#[test]
fn whoever_is_asked_to_stop_stops_all() {
    let toy = Toy::random(3, 100, true);
    let settings = Settings { stop_at: StopAt::Never, ..Settings::default() };
    settings.cancel.time_out();
    let all = together(&toy, 3, &settings);
    assert!(all.iter().all(|reached| reached.completeness == Completeness::Stopped(StopReason::Timeout)));
}

#[test]
fn a_partition_that_is_gone_ends_the_others() {
    let toy = Toy::random(5, 100, false);
    let mut exchanges = Local::connect(3);
    drop(exchanges.pop());
    let search = |mut exchange: Local| {
        let (mut store, mut ways) = (TreeStore::new(), Vec::new());
        reach(
            &mut toy.clone(),
            &mut store,
            &mut ways,
            &mut exchange,
            &mut Quiet,
            &Settings::default(),
            PartCheckpoints::none(),
        )
    };
    let ends: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = exchanges.into_iter().map(|exchange| scope.spawn(|| search(exchange))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    assert!(ends.iter().all(|end| *end == Err(ExchangeError::Lost)));
}

/// A snapshot, and where the states of the partition came from.
type Kept = (PartSnapshot, Vec<u64>);

/// Keeps every snapshot that it is given; each layer is due.
struct Every(Vec<Kept>);

impl<M> PartKeeper<M, Vec<u64>> for Every {
    fn is_due(&mut self) -> bool {
        true
    }

    fn keep(&mut self, _: &M, ways: &mut Vec<u64>, snapshot: PartSnapshot) {
        let states = snapshot.states() as usize;
        self.0.push((snapshot, ways[..states].to_vec()));
    }
}

/// What the first partition reports, and all snapshots of each, if they go on from these.
fn kept<M: Model + Clone + Send + Sync>(
    model: &M,
    partitions: usize,
    settings: &Settings,
    from: Option<&[Kept]>,
) -> (Result<Reached, ExchangeError>, Vec<Vec<Kept>>) {
    let partition = |me: usize, mut exchange: Local| {
        let (mut store, mut ways, mut every) = (TreeStore::new(), Vec::new(), Every(Vec::new()));
        let mut from = from.map(|from| from[me].clone());
        let from = from.as_mut().map(|(snapshot, ways)| (&*snapshot, ways));
        let checkpoints = PartCheckpoints { from, keep: Some(&mut every) };
        let reached =
            reach(&mut model.clone(), &mut store, &mut ways, &mut exchange, &mut Quiet, settings, checkpoints);
        (reached, every.0)
    };
    let (reached, kept): (Vec<_>, Vec<_>) = thread::scope(|scope| {
        let exchanges = Local::connect(partitions).into_iter().enumerate();
        let threads: Vec<_> = exchanges.map(|(me, exchange)| scope.spawn(move || partition(me, exchange))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).unzip()
    });
    assert!(reached.iter().all(|one| one.is_err() || *one == reached[0]));
    let error = reached.iter().find(|one| matches!(one, Err(ExchangeError::Unusable))).cloned();
    let layers = kept[0].len();
    let by_layer = (0..layers).map(|layer| kept.iter().map(|part| part[layer].clone()).collect()).collect();
    (error.unwrap_or_else(|| reached[0].clone()), by_layer)
}

/// Without the most memory in use, which depends on where a search began.
fn without_memory(reached: &Reached) -> Reached {
    let mut reached = reached.clone();
    reached.statistics.memory_bytes = 0;
    reached.partitions.iter_mut().for_each(|part| part.memory_bytes = 0);
    reached
}

#[test]
fn a_search_that_is_resumed_after_any_layer_finds_what_it_would_have_found() {
    let mut resumed = 0;
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let toy = Toy::random(seed, 1 + random.below(120), random.below(2) == 0);
        let settings = random_settings(&mut random);
        for partitions in [1, 2, 3, 5] {
            let plain = &together(&toy, partitions, &settings)[0];
            let (whole, snapshots) = kept(&toy, partitions, &settings, None);
            let whole = without_memory(&whole.expect("all go on"));
            assert_eq!(whole, without_memory(plain), "{seed}, {partitions}");
            for (layer, snapshot) in snapshots.iter().enumerate() {
                let (again, later) = kept(&toy, partitions, &settings, Some(snapshot));
                let again = without_memory(&again.expect("all go on"));
                assert_eq!(again, whole, "{seed}, {partitions}: after layer {layer}");
                // What is kept afterwards is the same, too.
                let tail = |all: &[Vec<Kept>]| -> Vec<Kept> {
                    let mut last = all.last().cloned().unwrap_or_default();
                    last.iter_mut().for_each(|(snapshot, _)| snapshot.statistics.memory_bytes = 0);
                    last
                };
                assert_eq!(tail(&later), tail(&snapshots), "{seed}, {partitions}: after layer {layer}");
                resumed += 1;
            }
        }
    }
    assert!(500 < resumed, "{resumed}");
}

#[test]
fn a_search_of_many_rounds_is_resumed_where_it_was_stopped() {
    const NODES: usize = 150_000;
    let to = |node: usize, i: usize| (node * 31 + i * 7_919 + 1) % NODES;
    let successors: Vec<Vec<usize>> = (0..NODES).map(|node| (0..3).map(|i| to(node, i)).collect()).collect();
    let toy = Toy::plain(&successors.iter().map(Vec::as_slice).collect::<Vec<_>>());
    let settings = Settings { stop_at: StopAt::Never, ..Settings::default() };
    let whole = without_memory(&together(&toy, 2, &settings)[0]);
    let limits = Limits { states_max: Some(whole.statistics.states * 3 / 4), ..Limits::default() };
    let short = Settings { limits, ..settings.clone() };
    let (stopped, snapshots) = kept(&toy, 2, &short, None);
    assert_eq!(stopped.expect("all go on").completeness, Completeness::Stopped(StopReason::States));
    let last = snapshots.last().expect("some layer ended");
    assert!(whole.statistics.states / 4 < last.iter().map(|(snapshot, _)| snapshot.states()).sum());
    let (again, _) = kept(&toy, 2, &settings, Some(last));
    assert_eq!(without_memory(&again.expect("all go on")), whole);
}

#[test]
fn a_search_that_is_stopped_while_it_is_resumed_tells_what_was_known() {
    let toy = Toy::random(7, 120, true);
    let settings = Settings { stop_at: StopAt::Never, ..Settings::default() };
    let (whole, snapshots) = kept(&toy, 3, &settings, None);
    let last = snapshots.last().expect("some layer ended");
    let known: u64 = last.iter().map(|(snapshot, _)| snapshot.states()).sum();
    let cancelled = Settings { cancel: fabius_base::Cancel::new(), ..settings };
    cancelled.cancel.time_out();
    let (stopped, later) = kept(&toy, 3, &cancelled, Some(last));
    let stopped = stopped.expect("all go on");
    assert_eq!(stopped.completeness, Completeness::Stopped(StopReason::Timeout));
    assert_eq!(stopped.statistics.states, known);
    let whole = whole.expect("all go on");
    assert_eq!(stopped.statistics.violations, whole.statistics.violations.min(stopped.statistics.violations));
    for way in &stopped.ways {
        assert!(replay(&mut toy.clone(), way).is_some(), "a path to a violation that was known");
    }
    // What was stopped before it was whole again is not kept in place of what was.
    assert!(later.iter().all(|parts| parts.iter().zip(last).all(|(new, old)| new.1 == old.1)));
}

#[test]
fn snapshots_of_another_model_are_refused() {
    let settings = Settings { stop_at: StopAt::Never, ..Settings::default() };
    let mut refused = 0;
    for seed in 0..40 {
        let (_, snapshots) = kept(&Toy::random(seed, 80, false), 2, &settings, None);
        let Some(last) = snapshots.last() else { continue };
        let (other, _) = kept(&Toy::random(seed + 1_000, 40, false), 2, &settings, Some(last));
        refused += usize::from(other == Err(ExchangeError::Unusable));
    }
    assert!(30 < refused, "{refused}");
}
