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
        reach(&mut model.clone(), &mut store, &mut ways, &mut exchange, &mut Quiet, settings).expect("all go on")
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
        reach(&mut toy.clone(), &mut store, &mut ways, &mut exchange, &mut Quiet, &Settings::default())
    };
    let ends: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = exchanges.into_iter().map(|exchange| scope.spawn(|| search(exchange))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    assert!(ends.iter().all(|end| *end == Err(ExchangeError::Lost)));
}
