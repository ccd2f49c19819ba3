//! Random programs: every stateless search meets each class of equivalent executions exactly once, told by exchanging
//! neighbours in all interleavings; with wakeup trees no run is redundant.

use super::{Ended, Method, StatelessSettings, explore_stateless};
use crate::executions::tests::{by_enumeration, canonical, classes, interleavings};
use crate::executions::toy::{Event, Toy};
use fabius_base::{Cancel, Limits, StopReason};
use std::collections::HashSet;

const METHODS: [Method; 3] = [Method::Sleep, Method::Source, Method::Optimal];

/// Programs that are tried; `FABIUS_PROGRAMS` is how many instead.
#[expect(clippy::disallowed_methods, reason = "how long it takes is up to whoever starts the test")]
fn programs(usual: u64) -> u64 {
    std::env::var("FABIUS_PROGRAMS").ok().and_then(|number| number.parse().ok()).unwrap_or(usual)
}

fn settings(method: Method) -> StatelessSettings {
    StatelessSettings { method, limits: Limits::default(), cancel: Cancel::new() }
}

/// Executions, and the redundant runs of each method.
fn check(toy: &Toy, seed: u64) -> Option<(u128, [u64; 3])> {
    let runs = interleavings(toy, (None, None))?;
    let classes = classes(toy, &runs);
    let expected = by_enumeration(toy, &runs, &classes, false);
    let numbers = canonical(&runs, &classes);
    let redundant = METHODS.map(|method| {
        let mut met = HashSet::new();
        let found = explore_stateless(&mut toy.clone(), &settings(method), &mut |execution| {
            assert!(met.insert(numbers[execution.path]), "seed {seed}, {method:?}: one class is met twice");
        });
        assert!(!found.contradiction, "seed {seed}, {method:?}: a step is not possible where it should be");
        assert_eq!(found.ended, Ended::Complete, "seed {seed}, {method:?}");
        assert_eq!(found.numbers, expected, "seed {seed}, {method:?}");
        found.redundant_runs
    });
    assert_eq!(redundant[2], 0, "seed {seed}: a run is redundant");
    Some((expected.all, redundant))
}

#[test]
fn each_execution_is_met_exactly_once() {
    let (mut tried, mut executions, mut redundant) = (0, 0, [0; 3]);
    for seed in 0..programs(800) {
        let toy = Toy::random(seed, false);
        if toy.has_timeout() {
            continue;
        }
        if let Some((all, runs)) = check(&toy, seed) {
            (tried, executions) = (tried + 1, executions + all);
            redundant.iter_mut().zip(runs).for_each(|(sum, runs)| *sum += runs);
        }
    }
    assert!(tried > 100 && redundant[1] < redundant[0], "{tried} programs, {redundant:?}");
}

#[test]
fn infinite_executions_are_told() {
    let mut cyclic = 0;
    for seed in 0..300 {
        let toy = Toy::random(seed, true);
        if toy.has_timeout() {
            continue;
        }
        let settings_of_graph = crate::executions::Settings::default();
        let graph = crate::executions::explore(&mut toy.clone(), crate::TreeStore::default(), &settings_of_graph);
        let Ended::Cycle(_) = graph.ended else { continue };
        for method in METHODS {
            let found = explore_stateless(&mut toy.clone(), &settings(method), &mut |_| {});
            let Ended::Cycle(cycle) = found.ended else { panic!("seed {seed}, {method:?}: {:?}", found.ended) };
            let after = |path: &[Event]| {
                path.iter().fold(toy.initial_state(), |state, event| toy.after(&state, *event).expect("possible"))
            };
            assert_eq!(after(&cycle.path), after(&cycle.path[..cycle.start]), "seed {seed}, {method:?}");
        }
        cyclic += 1;
    }
    assert!(cyclic > 20, "{cyclic} programs have a loop");
}

#[test]
fn a_limit_leaves_a_lower_bound() {
    for (seed, method) in (0..60).flat_map(|seed| METHODS.map(|method| (seed, method))) {
        let toy = Toy::random(seed, false);
        if toy.has_timeout() {
            continue;
        }
        let all = explore_stateless(&mut toy.clone(), &settings(method), &mut |_| {});
        let limits = Limits { states_max: Some(all.nodes / 2), ..Limits::default() };
        let part = explore_stateless(&mut toy.clone(), &StatelessSettings { limits, ..settings(method) }, &mut |_| {});
        assert_eq!(part.ended, Ended::Stopped(StopReason::States), "seed {seed}");
        assert!(part.numbers.all <= all.numbers.all);
    }
}

#[test]
fn nothing_is_explored_after_a_request_to_stop() {
    let mut stopped = 0;
    for (seed, method) in (0..60).flat_map(|seed| METHODS.map(|method| (seed, method))) {
        let toy = Toy::random(seed, false);
        let all = explore_stateless(&mut toy.clone(), &settings(method), &mut |_| {}).numbers.all;
        if toy.has_timeout() || all < 2 {
            continue;
        }
        let settings = settings(method);
        let cancel = settings.cancel.clone();
        let mut met = 0;
        let found = explore_stateless(&mut toy.clone(), &settings, &mut |_| {
            met += 1;
            cancel.time_out();
        });
        assert_eq!((found.ended, met), (Ended::Stopped(StopReason::Timeout), 1), "seed {seed}, {method:?}");
        assert!(!found.contradiction, "seed {seed}, {method:?}");
        stopped += 1;
    }
    assert!(stopped > 60, "{stopped} searches were stopped");
}
