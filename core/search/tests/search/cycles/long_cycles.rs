//! Shortcuts of runs with a cycle.

use super::fewest_steps::{fewest_lasso_steps, length};
use super::*;
use fabius_search::cycle::{Shortest, shortcuts, shorter_lasso};

/// A lasso that counts, by a walk at random: the labels of its stem and of its cycle.
fn random_lasso(toy: &Toy, random: &mut Random, goal: Goal, fairness: Fairness) -> Option<(Vec<u32>, Vec<u32>)> {
    let edges = |node: usize| -> Vec<Edge> {
        let taken = toy.nodes()[node].edges.iter().filter(|edge| edge.fault.is_none() && edge.to.is_some());
        taken.copied().collect()
    };
    let mut step = |node: &mut usize, among: &[Edge]| {
        let edge = *among.get(random.below(among.len()))?;
        *node = edge.to?;
        Some(edge)
    };
    let (mut node, mut stem) = (0, Vec::new());
    for _ in 0..20 {
        let among = edges(node);
        stem.extend(step(&mut node, &among)?.label);
    }
    let (start, mut cycle, mut history) = (node, Vec::new(), History::default());
    let mut last = None;
    for number in 0..60 {
        let among: Vec<Edge> = edges(node).into_iter().filter(|edge| may_take(edge, goal)).collect();
        let Some(edge) = step(&mut node, &among) else { break };
        history.take(&edge);
        history.arrive(&toy.nodes()[node]);
        cycle.extend(edge.label);
        if node == start && history.counts(goal, fairness) && !cycle.is_empty() {
            last = Some(cycle.clone());
            if 20 < number {
                break;
            }
        }
    }
    last.map(|cycle| (stem, cycle))
}

fn with_shortcuts(toy: &Toy, known: (&[u32], &[u32]), question: CycleQuestion, work_max: u64) -> Shortest<u32, u32> {
    let steps = length(toy, known.0) + length(toy, known.1);
    let bounds = ShortestBounds { steps, work_max };
    shortcuts(&mut toy.clone(), &mut Quiet, &Settings::default(), question, known, bounds)
}

/// Visits lassos of many random systems, each with its question and with words that tell which one it is.
fn each_random_lasso(mut visit: impl FnMut(&Toy, CycleQuestion, (&[u32], &[u32]), &str)) {
    for seed in 0..GRAPHS {
        let toy = random_toy(seed, Taste { nodes_max: 20, faults: seed % 5 == 0, ..Taste::of(seed) });
        let mut random = Random::new(seed);
        for (goal, fairness) in
            [Goal::AcceptanceCycle, Goal::Livelock].into_iter().flat_map(|goal| FAIRNESSES.map(|f| (goal, f)))
        {
            let Some((stem, cycle)) = random_lasso(&toy, &mut random, goal, fairness) else { continue };
            let context = format!("seed {seed}, {goal:?}, {fairness:?}, {stem:?} {cycle:?}");
            visit(&toy, CycleQuestion { goal, fairness }, (&stem, &cycle), &context);
        }
    }
}

#[test]
fn with_shortcuts_a_run_counts_as_before_and_has_fewer_steps() {
    let (mut shorter, mut shortest, mut same) = (0, 0, 0);
    each_random_lasso(|toy, question, (stem, cycle), context| {
        let CycleQuestion { goal, fairness } = question;
        check_lasso(toy, stem, cycle, goal, fairness);
        let known = length(toy, stem) + length(toy, cycle);
        for work_max in [0, 10, 50, 200, u64::MAX] {
            let found = with_shortcuts(toy, (stem, cycle), question, work_max);
            assert_eq!(found, with_shortcuts(toy, (stem, cycle), question, work_max), "{context}");
            assert!(!found.proved, "{context}");
            let Some(run) = found.found else {
                same += u32::from(work_max == u64::MAX);
                continue;
            };
            let Found::Lasso { stem, cycle } = &run else { panic!("{context}: a fault") };
            check_lasso(toy, stem, cycle, goal, fairness);
            let steps = length(toy, stem) + length(toy, cycle);
            let fewest = fewest_lasso_steps(toy, goal, fairness).expect("there is a run");
            assert!(fewest <= steps && steps < known, "{context}: {steps} of {known}, {fewest}");
            if work_max == u64::MAX {
                shorter += 1;
                shortest += u32::from(steps == fewest);
            }
        }
    });
    assert!(1_000 < shorter && 300 < shortest && 10 < same, "{shorter} {shortest} {same}");
}

/// The steps of a run, and the transitions of its cycle.
fn lengths(toy: &Toy, (stem, cycle): (&[u32], &[u32])) -> (u64, usize) {
    (length(toy, stem) + length(toy, cycle), cycle.len())
}

#[test]
fn a_shorter_lasso_counts_as_before_and_makes_no_more_progress() {
    let (mut shorter, mut same, mut fair) = (0, 0, 0);
    each_random_lasso(|toy, question, (stem, cycle), context| {
        let CycleQuestion { goal, fairness } = question;
        let events = check_lasso(toy, stem, cycle, goal, fairness);
        let shorter_than = |stem: &[u32]| {
            shorter_lasso(&mut toy.clone(), &mut Quiet, &Settings::default(), question, (stem, cycle), 0)
        };
        if let Some(Found::Lasso { stem: short_stem, cycle: short_cycle }) = shorter_than(stem) {
            assert!(short_stem.len() + short_cycle.len() < stem.len() + cycle.len(), "{context}");
        }
        // Where the stem goes round once more, there is always a shorter one.
        let Some(Found::Lasso { stem: short_stem, cycle: short_cycle }) = shorter_than(&[stem, cycle].concat()) else {
            panic!("{context}: nothing, although there are few states")
        };
        let events_now = check_lasso(toy, &short_stem, &short_cycle, goal, fairness);
        assert!(goal == Goal::AcceptanceCycle || events_now <= events, "{context}: {events_now} of {events}");
        let (known, now) = (lengths(toy, (stem, cycle)), lengths(toy, (&short_stem, &short_cycle)));
        assert!(now.1 <= known.1, "{context}: {now:?} of {known:?}");
        if fairness != Fairness::None {
            let mut rotated = short_cycle.clone();
            let place = cycle.iter().position(|&label| label == short_cycle[0]).expect("a label of the cycle");
            rotated.rotate_right(place);
            fair += u32::from(rotated == cycle && now.0 < known.0);
            assert_eq!(now.1, known.1, "{context}");
        }
        shorter += u32::from(now.0 < known.0);
        same += u32::from(now.0 == known.0);
    });
    assert!(1_000 < shorter && 10 < same && 300 < fair, "{shorter} {same} {fair}");
}

#[test]
fn a_state_that_lasts_for_ever_is_reached_sooner() {
    let to = |target: usize, label: Option<u32>| Edge { to: Some(target), label, ..Edge::default() };
    let lasts = |marks: Marks| Edge { marks, ..to(4, None) };
    for (goal, marks) in [(Goal::AcceptanceCycle, Marks::ACCEPTING), (Goal::Livelock, Marks::NONE)] {
        for fairness in FAIRNESSES {
            // 0 → 1 → 2 → 3 → 4 or 0 → 3 → 4; what leads from 3 to 4 has no label, and 4 stays as it is.
            let edges = [
                vec![to(1, Some(1)), to(3, Some(2))],
                vec![to(2, Some(3))],
                vec![to(3, Some(4))],
                vec![to(4, None)],
                vec![lasts(marks)],
            ];
            let node =
                |(number, edges): (usize, Vec<Edge>)| Node { words: vec![number as u32], edges, ..Node::default() };
            let mut toy = Toy::new(edges.into_iter().enumerate().map(node).collect(), 0);
            let question = CycleQuestion { goal, fairness };
            let found = shorter_lasso(&mut toy, &mut Quiet, &Settings::default(), question, (&[1, 3, 4], &[]), 0);
            assert_eq!(found, Some(Found::Lasso { stem: vec![2], cycle: Vec::new() }), "{question:?}");
        }
    }
}

#[test]
fn what_is_no_lasso_of_the_model_is_left_as_it_is() {
    let (toy, lap) = counters();
    let question = CycleQuestion { goal: Goal::AcceptanceCycle, fairness: Fairness::None };
    let shorter = |stem: &[u32], cycle: &[u32], question| {
        shorter_lasso(&mut toy.clone(), &mut Quiet, &Settings::default(), question, (stem, cycle), 0)
    };
    assert!(shorter(&[], &lap, question).is_some());
    assert_eq!(shorter(&lap[1..2], &lap, question), None, "no path begins so");
    let fair = CycleQuestion { fairness: Fairness::Strong, ..question };
    assert!(shorter(&lap, &lap, fair).is_some());
    assert_eq!(shorter(&lap, &lap[..700], fair), None, "no cycle closes so");
}

/// Two counters, of which one goes round in 11 and the other in 64: both go on, or only the second, in two steps. What accepts is in
/// one round of many.
fn counters() -> (Toy, Vec<u32>) {
    let number = |first: usize, second: usize| (second % 64) * 11 + first % 11;
    let plain = |from: usize, to: usize| Edge {
        to: Some(to),
        label: Some((from * 2_000 + to) as u32),
        movers: [Some(0), None],
        ..Edge::default()
    };
    let mut nodes = Vec::new();
    for second in 0..64 {
        for first in 0..11 {
            let here = number(first, second);
            let mut both = plain(here, number(first + 1, second + 1));
            if second == 40 {
                both.marks = Marks::ACCEPTING;
            }
            let edges = vec![both, plain(here, 704 + here)];
            nodes.push(Node { words: vec![here as u32], edges, processes: 1, ..Node::default() });
        }
    }
    for second in 0..64 {
        for first in 0..11 {
            let here = 704 + number(first, second);
            let edges = vec![plain(here, number(first, second + 1))];
            nodes.push(Node { words: vec![here as u32], edges, processes: 1, ..Node::default() });
        }
    }
    let mut lap = Vec::new();
    let mut node = 0;
    for _ in 0..704 {
        lap.extend(nodes[node].edges[0].label);
        node = nodes[node].edges[0].to.unwrap_or_default();
    }
    assert_eq!(node, 0);
    (Toy::new(nodes, 0), lap)
}

#[test]
fn a_cycle_of_many_similar_rounds_becomes_one_round() {
    let (toy, lap) = counters();
    let question = CycleQuestion { goal: Goal::AcceptanceCycle, fairness: Fairness::None };
    let found = with_shortcuts(&toy, (&[], &lap), question, u64::MAX);
    let Some(Found::Lasso { stem, cycle }) = found.found else { panic!("a shorter one") };
    check_lasso(&toy, &stem, &cycle, Goal::AcceptanceCycle, Fairness::None);
    // In one round, the first counter waits 9 times; from then on it is as far as it was.
    assert_eq!((stem.len(), cycle.len()), (0, 64 + 9));
}

#[test]
fn the_cycle_of_a_fair_run_stays_as_it_is() {
    let (toy, lap) = counters();
    let question = CycleQuestion { goal: Goal::AcceptanceCycle, fairness: Fairness::Strong };
    let mut round = lap.clone();
    round.rotate_left(300);
    let stem: Vec<u32> = lap.iter().chain(&lap[..300]).copied().collect();
    let found = with_shortcuts(&toy, (&stem, &round), question, u64::MAX);
    assert_eq!(found.found, Some(Found::Lasso { stem: Vec::new(), cycle: lap }));
}
