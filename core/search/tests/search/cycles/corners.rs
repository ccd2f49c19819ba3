//! Corners: long runs of transient states, cycles through the start, paths and rings too long for a stack.

use super::*;

/// An edge: from, to, marks.
pub(super) type Way = (usize, usize, Marks);

/// Nodes with their index as only visible word; edges are labelled by their place in the list.
pub(super) fn graph(transient: &[usize], edges: &[Way]) -> Toy {
    let count = edges.iter().map(|&(from, to, _)| from.max(to)).max().unwrap_or(0) + 1;
    let mut nodes: Vec<Node> = (0..count)
        .map(|i| Node {
            words: vec![i as u32, 0],
            transient: transient.contains(&i),
            processes: PROCESSES,
            ..Node::default()
        })
        .collect();
    for (label, &(from, to, marks)) in edges.iter().enumerate() {
        let edge = Edge { to: Some(to), label: Some(label as u32), marks, ..Edge::default() };
        nodes[from].edges.push(edge);
    }
    Toy::new(nodes, 1)
}

pub(super) const N: Marks = Marks::NONE;
const P: Marks = Marks::PROGRESS;
pub(super) const A: Marks = Marks::ACCEPTING;

pub(super) fn lasso_of(outcome: &ToyOutcome) -> Option<(Vec<u32>, Vec<u32>)> {
    match outcome.first() {
        Some(Found::Lasso { stem, cycle }) => Some((stem.clone(), cycle.clone())),
        _ => None,
    }
}

#[test]
fn livelocks_through_the_state_a_search_starts_from() {
    let some: &[(&[Way], &[u32], &[u32])] = &[
        (&[(0, 0, N)], &[], &[0]),
        (&[(0, 0, P), (0, 0, N)], &[], &[1]),
        (&[(0, 1, P), (1, 1, N)], &[0], &[1]),
        (&[(0, 1, P), (1, 2, N), (2, 1, N)], &[0], &[1, 2]),
        (&[(0, 1, N), (1, 2, N), (2, 0, N)], &[], &[0, 1, 2]),
        (&[(0, 1, P), (1, 2, P), (2, 2, P), (2, 2, N)], &[0, 1], &[3]),
        // The way without progress is taken although one with progress was listed before.
        (&[(0, 1, P), (0, 1, N), (1, 0, N)], &[], &[1, 2]),
        // Progress leads back to a state on the stack, which is on a livelock that is found later.
        (&[(0, 1, N), (1, 0, P), (1, 2, N), (2, 1, N)], &[0], &[2, 3]),
    ];
    for &(edges, stem, cycle) in some {
        for order in [Order::Strict, Order::Newest] {
            let outcome = by_dfs_fifo(&graph(&[], edges), &Settings::default(), order);
            assert_eq!(lasso_of(&outcome), Some((stem.to_vec(), cycle.to_vec())), "{edges:?}");
        }
    }
    let none: &[&[Way]] = &[
        &[],
        &[(0, 0, P)],
        &[(0, 1, N), (1, 0, P)],
        &[(0, 1, P), (1, 1, P)],
        &[(0, 1, P), (1, 0, N), (0, 2, N), (2, 1, P)],
        &[(0, 1, N), (1, 2, P), (2, 0, N), (2, 2, P)],
    ];
    for &edges in none {
        for order in [Order::Strict, Order::Newest] {
            let outcome = by_dfs_fifo(&graph(&[], edges), &Settings::default(), order);
            assert!(outcome.proves_absence(), "{edges:?}");
        }
    }
}

#[test]
fn cycles_of_transient_states_alone_are_found() {
    let infinite = graph(&[1, 2], &[(0, 1, P), (1, 2, A), (2, 1, N)]);
    for goal in [Goal::AcceptanceCycle, Goal::Livelock] {
        for (name, outcome) in outcomes(&infinite, &Settings::default(), goal, Fairness::None) {
            assert!(outcome.first().is_some(), "{name}");
            check_found(&infinite, &outcome, goal, Fairness::None);
        }
    }
    // Nobody else moves meanwhile, so no such run is fair.
    for fairness in [Fairness::Weak, Fairness::Strong] {
        assert!(by_components(&infinite, &Settings::default(), Goal::Livelock, fairness).proves_absence());
    }
    let harmless = graph(&[1, 2], &[(0, 1, A), (1, 2, P), (2, 1, N)]);
    for goal in [Goal::AcceptanceCycle, Goal::Livelock] {
        for (name, outcome) in outcomes(&harmless, &Settings::default(), goal, Fairness::None) {
            assert!(outcome.proves_absence(), "{name}");
        }
    }
}

#[test]
fn long_runs_of_transient_states_close_cycles() {
    for length in [2_usize, 255, 256, 257, 1000] {
        for marked in [0, 1, length / 2, length - 1] {
            let edges: Vec<_> =
                (0..length).map(|i| (i, (i + 1) % length, if i == marked { A.with(P) } else { N })).collect();
            let inner: Vec<usize> = (1..length).collect();
            let ring = graph(&inner, &edges);
            let accepting = by_nested_dfs(&ring, &Settings::default());
            assert_eq!(lasso_of(&accepting).map(|(_, cycle)| cycle.len()), Some(length));
            assert!(by_dfs_fifo(&ring, &Settings::default(), Order::Strict).proves_absence(), "{length} {marked}");
            for (goal, expected) in [(Goal::AcceptanceCycle, true), (Goal::Livelock, false)] {
                let outcome = by_components(&ring, &Settings::default(), goal, Fairness::None);
                assert_eq!(outcome.first().is_some(), expected, "{length} {marked}");
            }
        }
    }
}

/// Labels of the steps that [`stretched`] puts in.
const INNER: u32 = 1 << 20;

/// Each transient node becomes a path of `length` such nodes.
fn stretched(toy: &Toy, length: usize) -> Toy {
    let first: Vec<usize> = toy
        .nodes()
        .iter()
        .scan(0, |next, node| Some(std::mem::replace(next, *next + if node.transient { length } else { 1 })))
        .collect();
    let mut nodes = Vec::new();
    for node in toy.nodes() {
        let path = if node.transient { length } else { 1 };
        for i in 0..path {
            let words = vec![nodes.len() as u32, 0];
            let mut edges = node.edges.clone();
            edges.iter_mut().for_each(|edge| edge.to = edge.to.map(|to| first[to]));
            if i + 1 < path {
                let label = Some(INNER + nodes.len() as u32);
                edges = vec![Edge { to: Some(nodes.len() + 1), label, ..Edge::default() }];
            }
            nodes.push(Node { words, edges, ..node.clone() });
        }
    }
    Toy::new(nodes, 1)
}

#[test]
fn transient_states_may_come_in_long_runs() {
    for seed in 0..GRAPHS / 10 {
        let toy = random_toy(seed, Taste { transient_one_in: 2, ..Taste::of(seed) });
        let length = [100, 140, 256, 257, 300][seed as usize % 5];
        let long = stretched(&toy, length);
        for goal in [Goal::AcceptanceCycle, Goal::Livelock] {
            for fairness in FAIRNESSES {
                let truth = exists(&toy, goal, fairness);
                for (name, outcome) in outcomes(&long, &Settings::default(), goal, fairness) {
                    let context = format!("seed {seed}, {name}, {goal:?}, {fairness:?}");
                    assert_eq!(outcome.first().is_some(), truth, "{context}");
                    let Some(Found::Lasso { mut stem, mut cycle }) = outcome.into_first() else { continue };
                    stem.retain(|&label| label < INNER);
                    cycle.retain(|&label| label < INNER);
                    check_lasso(&toy, &stem, &cycle, goal, fairness);
                }
            }
        }
    }
}

/// A path, or a ring, of many states; one edge is marked.
struct Ring {
    states: u32,
    closes: bool,
    marked: u32,
    marks: Marks,
}

impl Model for Ring {
    type Label = u32;
    type Fault = u32;
    type Cursor = bool;

    fn hidden_words(&self) -> usize {
        0
    }

    fn initial(&mut self, state: &mut Vec<u32>) -> Result<(), u32> {
        *state = vec![0, 1, 2, 3];
        Ok(())
    }

    fn begin(&mut self, _: &[u32]) -> bool {
        false
    }

    fn next(&mut self, state: &[u32], done: &mut bool, successor: &mut Vec<u32>) -> Next<u32, u32> {
        let last = state[0] + 1 == self.states;
        if *done || (last && !self.closes) {
            return Next::Done(if last { Ending::ValidEnd } else { Ending::Moves });
        }
        *done = true;
        let next = if last { 0 } else { state[0] + 1 };
        *successor = vec![next, 1, 2, 3];
        let marks = if state[0] == self.marked { self.marks } else { Marks::NONE };
        Next::Successor { label: Some(state[0]), transient: false, fault: None, marks }
    }
}

impl Processes for Ring {
    fn process_count(&self, _: &[u32]) -> usize {
        1
    }

    fn movers(&self, _: &u32) -> [Option<u8>; 2] {
        [Some(0), None]
    }

    fn enabled(&mut self, _: &[u32], enabled: &mut ProcessSet) {
        *enabled = ProcessSet::first(1);
    }
}

#[test]
fn long_paths_and_rings_need_no_stack() {
    let states = 30_000;
    let settings = Settings::default();
    for closes in [false, true] {
        for (marked, marks) in [(0, A), (states / 2, A), (states - 1, A), (states / 2, P), (states - 1, N)] {
            let mut ring = Ring { states, closes, marked, marks };
            let accepting = closes && marks == A;
            let livelock = closes && marks != P;
            let outcome = nested_dfs(&mut ring, &mut TreeStore::default(), &mut Quiet, &settings, NoReduction);
            assert_eq!(outcome.first().is_some(), accepting);
            assert_eq!(outcome.statistics.states, u64::from(states));
            let outcome = dfs_fifo(&mut ring, &mut TreeStore::default(), &mut Quiet, &settings, Order::Strict);
            assert_eq!(outcome.first().is_some(), livelock);
            for fairness in FAIRNESSES {
                for (goal, truth) in [(Goal::AcceptanceCycle, accepting), (Goal::Livelock, livelock)] {
                    let mut store = TreeStore::default();
                    let outcome = components(
                        &mut ring,
                        &mut store,
                        &mut Quiet,
                        &settings,
                        NoReduction,
                        CycleQuestion { goal, fairness },
                    );
                    assert_eq!(outcome.first().is_some(), truth, "{marked} {goal:?} {fairness:?}");
                    if let Some(Found::Lasso { cycle, .. }) = outcome.into_first() {
                        assert_eq!(cycle.len(), states as usize);
                    }
                }
            }
        }
    }
}
