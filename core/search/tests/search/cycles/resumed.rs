//! A search for cycles by partitions that goes on from a snapshot finds what it would have found.

use super::*;
use crate::resumed::{Kept, kept, states, without_memory};
use fabius_search::partition::{CycleLook, CycleWays, ExchangeError, PartCheckpoints, PartRequest, Reached};
use fabius_search::partition::{cycles, reach};
use fabius_search::{Observer, Statistics, TreeStore};
use std::ops::ControlFlow;

type All = (Result<Reached, ExchangeError>, Vec<Vec<Kept>>);

/// What all partitions report, and the snapshots that they kept.
fn search<O: Observer<u32, u32>>(
    (toy, partitions, settings, look): (&Toy, usize, &Settings, CycleLook),
    from: Option<&[Kept]>,
    each_layer: bool,
    observer: impl Fn() -> O + Sync,
) -> All {
    kept(partitions, from, each_layer, |mut exchange, from, keeper| {
        let (mut stem, mut cycle) = (Vec::new(), Vec::new());
        let (ways, store) = (CycleWays { stem: &mut stem, cycle: &mut cycle }, &mut TreeStore::default());
        let checkpoints = PartCheckpoints { from, keep: Some(keeper) };
        let request = PartRequest { target: look, checkpoints };
        cycles(&mut toy.clone(), store, ways, &mut exchange, &mut observer(), settings, request)
    })
}

fn quietly(asked: (&Toy, usize, &Settings, CycleLook), from: Option<&[Kept]>, each_layer: bool) -> All {
    search(asked, from, each_layer, || Quiet)
}

#[test]
fn after_any_layer_the_same_is_found() {
    let (mut resumed, mut found) = (0, [0, 0]);
    for seed in 0..150 {
        let taste = Taste {
            nodes_max: [9, 40, 120][seed as usize % 3],
            accepting_one_in: 4 + 12 * (seed as usize % 4),
            faults: seed % 8 == 7,
            ..Taste::of(seed)
        };
        let toy = random_toy(seed, taste);
        let limits = Limits { depth_max: (seed % 5 == 4).then_some(seed % 11), ..Limits::default() };
        let settings = Settings { limits, ..Settings::default() };
        for goal in [Goal::AcceptanceCycle, Goal::Livelock] {
            let look = CycleLook { goal, first_states: [1, 4, 1_000][seed as usize % 3] };
            for partitions in [1, 2, 3, 5] {
                let context = format!("seed {seed}, {goal:?}, {partitions} partitions");
                let asked = (&toy, partitions, &settings, look);
                let plain = crate::cycles::partitions::together(&toy, partitions, &settings, look, &context).0;
                let (whole, snapshots) = quietly(asked, None, true);
                let whole = without_memory(&whole.expect("all go on"));
                assert_eq!(whole, without_memory(&plain), "{context}");
                found[usize::from(whole.cycle.is_some())] += 1;
                for (layer, snapshot) in snapshots.iter().enumerate() {
                    let (again, later) = quietly(asked, Some(snapshot), true);
                    let again = without_memory(&again.expect("all go on"));
                    assert_eq!(again, whole, "{context}: after layer {layer}");
                    assert_eq!(later.last().map(|last| states(last)), snapshots.last().map(|last| states(last)));
                    resumed += 1;
                }
            }
        }
    }
    assert!(1_000 < resumed && found.iter().all(|count| 200 < *count), "{resumed} resumed, {found:?}");
}

#[test]
fn where_a_limit_on_states_ended_it_the_same_is_found() {
    let mut resumed = 0;
    for seed in 0..120 {
        let toy = random_toy(seed, Taste { nodes_max: 60, accepting_one_in: 12, ..Taste::of(seed) });
        let goal = if seed % 2 == 0 { Goal::AcceptanceCycle } else { Goal::Livelock };
        let look = CycleLook { goal, first_states: [1, 1_000][seed as usize / 2 % 2] };
        let limits = Limits { states_max: Some(1 + seed % 17), ..Limits::default() };
        let (few, all) = (Settings { limits, ..Settings::default() }, Settings::default());
        for partitions in [1, 2, 3] {
            let (ended, snapshots) = quietly((&toy, partitions, &few, look), None, false);
            let ended = ended.expect("all go on").completeness;
            let Some(last) = snapshots.last() else {
                assert_ne!(ended, Completeness::Stopped(StopReason::States), "seed {seed}: nothing was kept");
                continue;
            };
            let (whole, _) = quietly((&toy, partitions, &all, look), None, false);
            let (again, _) = quietly((&toy, partitions, &all, look), Some(last), false);
            let (whole, again) = (whole.expect("all go on"), again.expect("all go on"));
            assert_eq!(without_memory(&again), without_memory(&whole), "seed {seed}, {partitions} partitions");
            resumed += 1;
        }
    }
    assert!(100 < resumed, "{resumed}");
}

/// Asks to stop at a look.
struct Stops {
    looks_left: u32,
}

impl Observer<u32, u32> for Stops {
    fn progress(&mut self, _: &Statistics) -> ControlFlow<StopReason> {
        match self.looks_left.checked_sub(1) {
            Some(left) => {
                self.looks_left = left;
                ControlFlow::Continue(())
            }
            None => ControlFlow::Break(StopReason::Cancelled),
        }
    }
}

/// Large enough for several looks at cycles, of which there is one, far from the beginning, if `accepts`.
fn large(accepts: bool) -> Toy {
    const NODES: usize = 4_000;
    let mut label = 0..;
    let list = (0..NODES).map(|i| {
        let marks = if i == 1 || (accepts && i + 1 == NODES) { Marks::ACCEPTING } else { Marks::NONE };
        let ends = if i == 0 { [1, 1] } else { [2 + i * 7 % (NODES - 2), 2 + (i - 1) % (NODES - 2)] };
        let mut edge = |to| Edge { to: Some(to), label: label.next(), marks, ..Edge::default() };
        Node { words: vec![i as u32], edges: ends.into_iter().map(&mut edge).collect(), ..Node::default() }
    });
    Toy::new(list.collect(), 0)
}

#[test]
fn stopped_at_any_look_the_same_is_found() {
    for accepts in [false, true] {
        let toy = large(accepts);
        let look = CycleLook { goal: Goal::AcceptanceCycle, first_states: 100 };
        let settings = Settings::default();
        for partitions in [1, 2, 3] {
            let asked = (&toy, partitions, &settings, look);
            let whole = without_memory(&quietly(asked, None, false).0.expect("all go on"));
            assert_eq!(whole.cycle.is_some(), accepts);
            let mut kept_states = HashSet::new();
            for looks_left in 0.. {
                let (stopped, snapshots) = search(asked, None, false, || Stops { looks_left });
                let stopped = stopped.expect("all go on");
                if stopped.completeness != Completeness::Stopped(StopReason::Cancelled) {
                    assert_eq!(without_memory(&stopped), whole);
                    break;
                }
                let last = snapshots.last().expect("a snapshot");
                assert!(states(last) <= stopped.statistics.states);
                kept_states.insert((states(last), stopped.statistics.states));
                let again = quietly(asked, Some(last), false).0.expect("all go on");
                assert_eq!(without_memory(&again), whole, "{partitions} partitions, stopped after {looks_left} looks");
            }
            assert!(5 < kept_states.len(), "{kept_states:?}");
        }
    }
}

#[test]
fn stopped_while_it_is_resumed_it_keeps_what_was_kept() {
    let (toy, settings) = (large(false), Settings::default());
    let look = CycleLook { goal: Goal::AcceptanceCycle, first_states: 100 };
    let (whole, snapshots) = quietly((&toy, 3, &settings, look), None, true);
    assert!(whole.expect("all go on").completeness == Completeness::Exhaustive);
    let last = snapshots.last().expect("some layer ended");
    let cancelled = Settings { cancel: Cancel::new(), ..settings };
    cancelled.cancel.time_out();
    let (stopped, later) = quietly((&toy, 3, &cancelled, look), Some(last), true);
    let stopped = stopped.expect("all go on");
    assert_eq!(stopped.completeness, Completeness::Stopped(StopReason::Timeout));
    assert_eq!((stopped.statistics.states, later.len()), (states(last), 0));
}

#[test]
fn snapshots_of_another_model_or_search_are_refused() {
    let settings = Settings::default();
    let look = CycleLook { goal: Goal::Livelock, first_states: 1_000 };
    let mut refused = 0;
    for seed in 0..60 {
        let toy = |seed| random_toy(seed, Taste { nodes_max: 80, progress_one_in: 1, ..Taste::of(seed) });
        let (_, snapshots) = quietly((&toy(seed), 2, &settings, look), None, true);
        let Some(last) = snapshots.last().filter(|last| 10 < states(last)) else { continue };
        let (other, _) = quietly((&toy(seed + 1_000), 2, &settings, look), Some(last), true);
        assert_eq!(other, Err(ExchangeError::Unusable), "{seed}");
        let of_safety = kept(2, Some(last), true, |mut exchange, from, keeper| {
            let (mut store, mut ways) = (TreeStore::new(), Vec::new());
            let checkpoints = PartCheckpoints { from, keep: Some(keeper) };
            reach(&mut toy(seed), &mut store, &mut ways, &mut exchange, &mut Quiet, &settings, checkpoints)
        });
        assert_eq!(of_safety.0, Err(ExchangeError::Unusable), "{seed}");
        refused += 1;
    }
    assert!(10 < refused, "{refused}");
}
