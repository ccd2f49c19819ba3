//! Partitions find a cycle if and only if there is one, on thousands of small random graphs and for any number of partitions.

use super::*;
use fabius_search::partition::{CycleLook, CycleWays, ExchangeError, Local, PartRequest, Reached, cycles};
use fabius_search::{Observer, Statistics};
use std::ops::ControlFlow;
use std::thread;

const PARTITIONS: [usize; 4] = [1, 2, 3, 5];

/// What each of the partitions reports.
fn parts<M: Model<Label: Send, Fault: Send> + Clone + Send + Sync>(
    model: &M,
    partitions: usize,
    settings: &Settings,
    look: CycleLook,
) -> Vec<Reached> {
    let partition = |mut exchange: Local| {
        let (mut stem, mut cycle) = (Vec::new(), Vec::new());
        let (ways, store) = (CycleWays { stem: &mut stem, cycle: &mut cycle }, &mut TreeStore::default());
        cycles(&mut model.clone(), store, ways, &mut exchange, &mut Quiet, settings, PartRequest::from_start(look))
            .expect("all go on")
    };
    thread::scope(|scope| {
        let exchanges = Local::connect(partitions).into_iter();
        let threads: Vec<_> = exchanges.map(|exchange| scope.spawn(|| partition(exchange))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    })
}

/// What the partitions report together, which has to be the same for each of them.
pub(super) fn together(
    toy: &Toy,
    partitions: usize,
    settings: &Settings,
    look: CycleLook,
    context: &str,
) -> (Reached, ToyOutcome) {
    let all = parts(toy, partitions, settings, look);
    assert!(all.iter().all(|reached| *reached == all[0]), "{context}: the partitions disagree");
    let outcome = all[0].clone().into_cycle_outcome(&mut toy.clone(), look.goal);
    (all[0].clone(), outcome.unwrap_or_else(|| panic!("{context}: no run of the model: {:?}", all[0])))
}

fn counted(statistics: Statistics) -> Statistics {
    Statistics { memory_bytes: 0, ..statistics }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "whoever runs the tests says how long")]
fn any_number_of_partitions_finds_a_cycle_if_and_only_if_there_is_one() {
    let graphs = std::env::var("FABIUS_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(GRAPHS);
    let mut found = HashMap::new();
    for seed in 0..graphs {
        let nodes_max = [9, 9, 40][seed as usize % 3];
        let faults = seed % 8 == 7;
        let toy = random_toy(
            seed,
            Taste { nodes_max, faults, accepting_one_in: 4 + 8 * (seed as usize % 2), ..Taste::of(seed) },
        );
        for goal in [Goal::AcceptanceCycle, Goal::Livelock] {
            let truth = exists(&toy, goal, Fairness::None);
            let components = by_components(&toy, &Settings::default(), goal, Fairness::None);
            let first_states = [1, 4, 1_000][seed as usize % 3];
            let look = CycleLook { goal, first_states };
            let mut told = None;
            for partitions in PARTITIONS {
                let context = format!("seed {seed}, {goal:?}, {partitions} partitions");
                let (reached, outcome) = together(&toy, partitions, &Settings::default(), look, &context);
                if !faults {
                    assert_eq!(outcome.first().is_some(), truth, "{context}");
                    assert_eq!(outcome.proves_absence(), !truth, "{context}");
                    let ended = if truth { Completeness::FirstViolation } else { Completeness::Exhaustive };
                    assert_eq!(outcome.completeness, ended, "{context}");
                } else {
                    assert_eq!(outcome.first().is_some(), components.first().is_some(), "{context}");
                }
                if outcome.first().is_none() {
                    assert_eq!(outcome.statistics.states, components.statistics.states, "{context}");
                }
                check_found(&toy, &outcome, goal, Fairness::None);
                if seed % 4 == 0 {
                    let again = together(&toy, partitions, &Settings::default(), look, &context).0;
                    assert_eq!(again, reached, "{context}: it cannot be repeated");
                }
                let same = (counted(outcome.statistics), outcome.completeness);
                assert_eq!(*told.get_or_insert(same), same, "{context}: another story");
                *found.entry((goal == Goal::Livelock, outcome.first().is_some())).or_insert(0_u64) += 1;
            }
        }
    }
    assert_eq!(found.len(), 4);
    assert!(found.values().all(|&count| count > graphs / 5), "too few of some kind: {found:?}");
}

/// Loops behind each other, each entered from the one before by an accepting edge, the last one alone accepting: the roots of the
/// loops before shadow it.
fn shadowed(loops: usize, last_accepts: bool) -> Toy {
    let plain = |i: usize, to: usize, marks: Marks| Edge {
        to: Some(to),
        label: Some((2 * i + usize::from(to > i)) as u32),
        marks,
        ..Edge::default()
    };
    let nodes = (0..loops).map(|i| {
        let accepts = if last_accepts && i + 1 == loops { Marks::ACCEPTING } else { Marks::NONE };
        let mut edges = vec![plain(i, i, accepts)];
        edges.extend((i + 1 < loops).then(|| plain(i, i + 1, Marks::ACCEPTING)));
        Node { words: vec![i as u32], edges, ..Node::default() }
    });
    Toy::new(nodes.collect(), 0)
}

#[test]
fn a_shadowed_cycle_is_found_and_where_there_is_none_the_passes_end() {
    for (loops, accepts) in [(2, true), (2, false), (60, true), (60, false)] {
        let toy = shadowed(loops, accepts);
        for partitions in PARTITIONS {
            let look = CycleLook { goal: Goal::AcceptanceCycle, first_states: 1_000 };
            let context = format!("{loops} loops, {partitions} partitions");
            let (_, outcome) = together(&toy, partitions, &Settings::default(), look, &context);
            assert_eq!(outcome.first().is_some(), accepts, "{context}");
            check_found(&toy, &outcome, Goal::AcceptanceCycle, Fairness::None);
        }
    }
}

/// A state in which nothing moves lasts for ever, by an edge without a label.
#[test]
fn a_run_that_stutters_for_ever_is_a_cycle_without_labels() {
    let edge = |to, label, marks| Edge { to: Some(to), label, marks, ..Edge::default() };
    let nodes = vec![
        Node { words: vec![0], edges: vec![edge(1, Some(7), Marks::NONE)], ..Node::default() },
        Node { words: vec![1], edges: vec![edge(1, None, Marks::ACCEPTING)], ..Node::default() },
    ];
    let toy = Toy::new(nodes, 0);
    for partitions in PARTITIONS {
        let look = CycleLook { goal: Goal::AcceptanceCycle, first_states: 1_000 };
        let context = format!("{partitions} partitions");
        let (_, outcome) = together(&toy, partitions, &Settings::default(), look, &context);
        assert_eq!(outcome.first(), Some(&Found::Lasso { stem: vec![7], cycle: Vec::new() }), "{context}");
    }
}

/// A ring with chords, large enough for several rounds; with one accepting edge, or with progress on all edges but those of a cycle.
fn ring(nodes: usize, goal: Goal) -> Toy {
    let marks = |i: usize| match goal {
        Goal::AcceptanceCycle if i == nodes / 2 => Marks::ACCEPTING,
        Goal::Livelock if !i.is_multiple_of(16) => Marks::PROGRESS,
        _ => Marks::NONE,
    };
    let mut label = 0..;
    let list = (0..nodes).map(|i| {
        let ends = [(i + 1) % nodes, (i * 7 + 3) % nodes, (i + 16) % nodes];
        let mut edge = |to| Edge { to: Some(to), label: label.next(), marks: marks(i), ..Edge::default() };
        Node { words: vec![i as u32], edges: ends.into_iter().map(&mut edge).collect(), ..Node::default() }
    });
    Toy::new(list.collect(), 0)
}

#[test]
fn large_graphs_are_searched_in_several_rounds() {
    for goal in [Goal::AcceptanceCycle, Goal::Livelock] {
        let toy = ring(40_000, goal);
        let mut states = Vec::new();
        for partitions in [1, 2, 3] {
            let look = CycleLook { goal, first_states: fabius_search::partition::FIRST_LOOK_STATES };
            let context = format!("{goal:?}, {partitions} partitions");
            let (reached, outcome) = together(&toy, partitions, &Settings::default(), look, &context);
            assert_eq!(outcome.completeness, Completeness::FirstViolation, "{context}");
            check_found(&toy, &outcome, goal, Fairness::None);
            states.push(reached.statistics.states);
        }
        assert!(states.iter().all(|count| *count == states[0] && 8192 <= *count), "{states:?}");
    }
}

#[test]
fn limits_end_all_partitions_and_prove_nothing() {
    for seed in 0..GRAPHS / 4 {
        let toy = random_toy(seed, Taste { nodes_max: 40, ..Taste::of(seed) });
        let goal = if seed % 2 == 0 { Goal::AcceptanceCycle } else { Goal::Livelock };
        let truth = exists(&toy, goal, Fairness::None);
        let look = CycleLook { goal, first_states: 1_000 };
        for limits in [
            Limits { states_max: Some(seed % 7), ..Limits::default() },
            Limits { depth_max: Some(seed % 5), ..Limits::default() },
        ] {
            let settings = Settings { limits, ..Settings::default() };
            for partitions in [1, 3] {
                let context = format!("seed {seed}, {limits:?}, {partitions} partitions");
                let (_, outcome) = together(&toy, partitions, &settings, look, &context);
                assert!(truth || outcome.first().is_none(), "{context}");
                assert!(!(truth && outcome.proves_absence()), "{context}");
                check_found(&toy, &outcome, goal, Fairness::None);
            }
        }
    }
}

#[test]
fn whoever_is_asked_to_stop_stops_all() {
    let toy = ring(2_000, Goal::AcceptanceCycle);
    let settings = Settings { cancel: Cancel::new(), ..Settings::default() };
    settings.cancel.time_out();
    let look = CycleLook { goal: Goal::AcceptanceCycle, first_states: 1 };
    for partitions in PARTITIONS {
        let (_, outcome) = together(&toy, partitions, &settings, look, "asked to stop");
        assert_eq!(outcome.completeness, Completeness::Stopped(StopReason::Timeout));
    }
}

/// Asks to stop as soon as cycles are looked for: then the number of states does not change any more.
#[derive(Default)]
struct StopsLate {
    states: u64,
    looks: u32,
}

impl Observer<u32, u32> for StopsLate {
    fn progress(&mut self, statistics: &Statistics) -> ControlFlow<StopReason> {
        self.looks = if self.states == statistics.states { self.looks + 1 } else { 0 };
        self.states = statistics.states;
        if self.looks < 2 { ControlFlow::Continue(()) } else { ControlFlow::Break(StopReason::Cancelled) }
    }
}

/// A graph that is left for good by accepting edges, into a part that has many cycles and is large enough for several looks.
fn entered_by_accepting_edges(nodes: usize) -> Toy {
    let mut label = 0..;
    let list = (0..nodes).map(|i| {
        let marks = if i == 0 { Marks::ACCEPTING } else { Marks::NONE };
        let ends = [i, i * 7 + 3, i + 16].map(|end| 1 + end % (nodes - 1));
        let mut edge = |to| Edge { to: Some(to), label: label.next(), marks, ..Edge::default() };
        Node { words: vec![i as u32], edges: ends.into_iter().map(&mut edge).collect(), ..Node::default() }
    });
    Toy::new(list.collect(), 0)
}

#[test]
fn where_all_accepting_edges_lie_before_all_cycles_there_is_no_cycle() {
    let toy = entered_by_accepting_edges(6_000);
    for partitions in PARTITIONS {
        let look = CycleLook { goal: Goal::AcceptanceCycle, first_states: 100 };
        let (_, outcome) = together(&toy, partitions, &Settings::default(), look, "entered");
        assert!(outcome.proves_absence(), "{partitions} partitions");
        assert_eq!(outcome.statistics.states, 6_000);
    }
}

#[test]
fn a_search_that_is_stopped_while_it_looks_for_cycles_proves_nothing() {
    let toy = entered_by_accepting_edges(6_000);
    let settings = Settings::default();
    let look = CycleLook { goal: Goal::AcceptanceCycle, first_states: 100_000 };
    for partitions in [1, 2, 3] {
        let partition = |mut exchange: Local| -> Result<Reached, ExchangeError> {
            let (mut stem, mut cycle) = (Vec::new(), Vec::new());
            let (ways, store) = (CycleWays { stem: &mut stem, cycle: &mut cycle }, &mut TreeStore::default());
            cycles(
                &mut toy.clone(),
                store,
                ways,
                &mut exchange,
                &mut StopsLate::default(),
                &settings,
                PartRequest::from_start(look),
            )
        };
        let all: Vec<_> = thread::scope(|scope| {
            let exchanges = Local::connect(partitions).into_iter();
            let threads: Vec<_> = exchanges.map(|exchange| scope.spawn(|| partition(exchange))).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
        });
        for reached in all {
            let reached = reached.expect("all go on");
            assert_eq!(reached.completeness, Completeness::Stopped(StopReason::Cancelled), "{partitions} partitions");
            assert_eq!(reached.statistics.states, 6_000);
        }
    }
}
