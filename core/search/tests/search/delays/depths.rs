//! What is reached within this many steps.

use super::cycles::{Edges, assert_right, edges, has_cycle, program};
use super::programs::{Label, Toys};
use super::truth::expand;
use fabius_base::StopReason;
use fabius_search::checkpoint::CheckpointPolicy;
use fabius_search::cycle::{Found, Goal};
use fabius_search::delay_bounded::{Coverage, DelayObserver};
use fabius_search::depth_bounded::{DepthSettings, Keep, Revisit, depth_bounded, depth_bounded_cycles};
use fabius_search::toy::Toy;
use fabius_search::{
    Completeness, CycleOutcome, Model, Next, Outcome, Quiet, Settings, StopAt, TreeStore, Violation, ViolationKind,
    breadth_first,
};
use std::collections::{BTreeMap, HashMap};

const PROGRAMS: u64 = 400;
const GRAPHS: u64 = 1500;

fn keep_going() -> Settings {
    Settings { stop_at: StopAt::Never, ..Settings::default() }
}

fn search<M: Model<Fault = u32>>(model: &mut M, depth: &DepthSettings) -> Outcome<M::Label, u32>
where
    Quiet: DelayObserver<M::Label, u32>,
{
    depth_bounded(model, &mut Quiet, &keep_going(), depth, CheckpointPolicy::none()).expect("nothing is resumed")
}

fn all_ways(increment: u32, cut_off: Option<u32>) -> impl Iterator<Item = DepthSettings> {
    [Revisit::Threshold, Revisit::Shallower].into_iter().flat_map(move |revisit| {
        [Keep::Tree, Keep::Traces].map(|keep| DepthSettings { increment, cut_off, revisit, keep })
    })
}

/// Steps to each ordinary state on a shortest way.
fn distances(toys: &Toys) -> BTreeMap<Vec<u32>, u32> {
    let mut toys = toys.clone();
    let mut initial = Vec::new();
    toys.initial(&mut initial).expect("there");
    let mut found = BTreeMap::from([(initial.clone(), 0)]);
    let mut layer = vec![initial];
    for distance in 1.. {
        let mut next = Vec::new();
        for state in layer {
            for way in expand(&mut toys, &state).ways {
                if !found.contains_key(&way.target) {
                    found.insert(way.target.clone(), distance);
                    next.push(way.target);
                }
            }
        }
        if next.is_empty() {
            break;
        }
        layer = next;
    }
    found
}

#[test]
fn states_and_frontier_are_exact_at_every_bound() {
    let mut rounds = 0;
    for seed in 0..PROGRAMS {
        let toys = Toys::random(seed, false);
        let distances = distances(&toys);
        for increment in [1, 2, 3] {
            for depth in all_ways(increment, None) {
                let found = search(&mut toys.clone(), &depth);
                let context = format!("seed {seed}, {depth:?}");
                for round in &found.rounds {
                    let within = distances.values().filter(|&&distance| distance <= round.bound).count();
                    let at = distances.values().filter(|&&distance| distance == round.bound).count();
                    assert_eq!((round.states as usize, round.frontier as usize), (within, at), "{context} {round:?}");
                    rounds += 1;
                }
                assert_eq!(found.completeness, Completeness::Exhaustive, "{context}");
                assert_eq!(found.statistics.states as usize, distances.len(), "{context}");
            }
        }
    }
    assert!(rounds > 8_000, "too few rounds to show anything: {rounds}");
}

#[test]
fn every_violation_within_the_bound_is_found_and_no_other() {
    let mut found_at_all = 0;
    for seed in 0..GRAPHS {
        let toy = Toy::random(seed, 14, seed % 2 == 0);
        // Breadth-first search knows how many ordinary states lie on the way to each violation.
        let all = breadth_first(&mut toy.clone(), &mut TreeStore::new(), &mut Quiet, &keep_going());
        let passed = |violation: &Violation<u32, u32>| ordinary_on(&toy, violation);
        for cut_off in [1, 2, 4] {
            let expected: Vec<_> = all
                .violations
                .iter()
                .filter(|violation| passed(violation) < cut_off)
                .map(|violation| (violation.kind, last(&violation.kind, &violation.path)))
                .collect();
            for depth in all_ways(1 + seed as u32 % 3, Some(cut_off)) {
                let found = search(&mut toy.clone(), &depth);
                let context = format!("seed {seed}, {depth:?}");
                for violation in &found.violations {
                    assert!(passed(violation) < cut_off, "{context}");
                }
                let mut kinds: Vec<_> = found
                    .violations
                    .iter()
                    .map(|violation| (violation.kind, last(&violation.kind, &violation.path)))
                    .collect();
                let mut expected = expected.clone();
                let by_text = |pair: &(ViolationKind<u32>, Option<u32>)| format!("{pair:?}");
                kinds.sort_by_key(by_text);
                expected.sort_by_key(by_text);
                assert_eq!(kinds, expected, "{context}");
                found_at_all += kinds.len();
            }
        }
    }
    assert!(found_at_all > 5_000, "too few violations to show anything: {found_at_all}");
}

/// What tells a faulty transition from others; an end state is told by its kind and number only.
fn last(kind: &ViolationKind<u32>, path: &[u32]) -> Option<u32> {
    matches!(kind, ViolationKind::Fault(_)).then(|| path.last().copied()).flatten()
}

/// Ordinary states that a path reaches after the first, the last transition aside if it is the fault.
fn ordinary_on(toy: &Toy, violation: &Violation<u32, u32>) -> u32 {
    let path = &violation.path;
    let edges: HashMap<u32, (usize, Option<usize>)> = toy
        .nodes()
        .iter()
        .enumerate()
        .flat_map(|(i, node)| node.edges.iter().filter_map(move |edge| Some((edge.label?, (i, edge.to)))))
        .collect();
    let mut at = 0;
    let mut passed = 0;
    let settle = |at: &mut usize, passed: &mut u32, wanted: Option<usize>| {
        if toy.nodes()[*at].transient
            && wanted != Some(*at)
            && let Some(to) = toy.nodes()[*at].edges.iter().find(|edge| edge.label.is_none()).and_then(|edge| edge.to)
        {
            *at = to;
            *passed += 1;
        }
    };
    for (i, label) in path.iter().enumerate() {
        let (from, to) = edges[label];
        settle(&mut at, &mut passed, Some(from));
        assert_eq!(at, from);
        match to {
            Some(to) if i + 1 < path.len() || violation.kind == ViolationKind::InvalidEnd => {
                at = to;
                passed += u32::from(!toy.nodes()[to].transient);
            }
            _ => {}
        }
    }
    if violation.kind == ViolationKind::InvalidEnd && !toy.nodes()[at].edges.is_empty() {
        settle(&mut at, &mut passed, None);
    }
    passed
}

/// The finding F5: at the cut-off itself, all may be explored although the deepest states lie at it.
#[test]
fn a_search_that_reaches_the_cut_off_exactly_says_what_it_knows() {
    let chain = Toy::plain(&[&[1], &[2], &[3], &[3]]);
    let run = |cut_off| {
        let depth = DepthSettings { increment: 2, cut_off: Some(cut_off), ..DepthSettings::default() };
        search(&mut chain.clone(), &depth)
    };
    assert_eq!(run(3).completeness, Completeness::Stopped(StopReason::Depth));
    assert_eq!(run(3).rounds.last().map(|round| (round.bound, round.frontier)), Some((3, 1)));
    assert_eq!(run(4).completeness, Completeness::Exhaustive);
}

/// Stopping at the bound without looking again: what the paper's first variant does.
fn naive(toys: &Toys, bound: u32) -> usize {
    fn visit(
        toys: &mut Toys,
        state: Vec<u32>,
        depth: u32,
        bound: u32,
        seen: &mut std::collections::BTreeSet<Vec<u32>>,
    ) {
        if !seen.insert(state.clone()) || depth == bound {
            return;
        }
        for way in expand(toys, &state).ways {
            visit(toys, way.target, depth + 1, bound, seen);
        }
    }
    let mut toys = toys.clone();
    let mut initial = Vec::new();
    toys.initial(&mut initial).expect("there");
    let mut seen = std::collections::BTreeSet::new();
    visit(&mut toys, initial, 0, bound, &mut seen);
    seen.len()
}

#[test]
fn the_naive_search_misses_states_that_these_do_not() {
    let mut missed = 0;
    for seed in 0..PROGRAMS {
        let toys = Toys::random(seed, false);
        for bound in [2, 4, 6] {
            let depth = DepthSettings { increment: bound, cut_off: Some(bound), ..DepthSettings::default() };
            let found = search(&mut toys.clone(), &depth).statistics.states as usize;
            let naively = naive(&toys, bound);
            assert!(naively <= found, "seed {seed}");
            missed += usize::from(naively < found);
        }
    }
    assert!(missed > 10, "the naive search is hardly ever wrong: {missed}");
}

#[test]
fn thresholds_and_trees_save_work() {
    let (mut revisits, mut replayed) = ([0, 0], [0, 0]);
    for seed in 0..300 {
        let toys = Toys::random(seed, false);
        for (i, revisit) in [Revisit::Threshold, Revisit::Shallower].into_iter().enumerate() {
            let depth = DepthSettings { increment: 50, revisit, ..DepthSettings::default() };
            revisits[i] += search(&mut toys.clone(), &depth).rounds.last().map_or(0, |round| round.work.revisits);
        }
    }
    for (i, keep) in [Keep::Tree, Keep::Traces].into_iter().enumerate() {
        let depth = DepthSettings { increment: 2, keep, ..DepthSettings::default() };
        replayed[i] = search(&mut Toys::counters(2, 30), &depth).rounds.last().map_or(0, |round| round.work.replayed);
    }
    assert!(revisits[0] < revisits[1] && 0 < revisits[0], "{revisits:?}");
    assert!(replayed[0] * 3 < replayed[1] * 2, "{replayed:?}");
}

#[test]
fn paths_are_runs() {
    for seed in 0..PROGRAMS {
        let toys = Toys::random(seed, false);
        let depth = DepthSettings { increment: 2, ..DepthSettings::default() };
        for violation in search(&mut toys.clone(), &depth).violations {
            let mut model = toys.clone();
            let (mut state, mut successor) = (Vec::new(), Vec::new());
            model.initial(&mut state).expect("there");
            for wanted in violation.path {
                take(&mut model, &mut state, &mut successor, wanted, seed);
            }
        }
    }
}

fn take(model: &mut Toys, state: &mut Vec<u32>, successor: &mut Vec<u32>, wanted: Label, seed: u64) {
    let mut cursor = model.begin(state);
    loop {
        match model.next(state, &mut cursor, successor) {
            Next::Successor { label: Some(label), .. } if label == wanted => break,
            Next::Successor { label: None, .. } => {
                std::mem::swap(state, successor);
                cursor = model.begin(state);
            }
            Next::Successor { .. } => {}
            other => panic!("seed {seed}: {wanted:?} cannot be taken: {other:?}"),
        }
    }
    std::mem::swap(state, successor);
}

/// This many random systems for infinite runs.
const CYCLIC: u64 = 2000;

/// The edges between states within a depth.
fn within(edges: &Edges, distances: &BTreeMap<Vec<u32>, u32>, depth: u32) -> Edges {
    let near = |state: &Vec<u32>| distances[state] <= depth;
    let kept = edges.iter().filter(|(from, _)| near(from));
    kept.map(|(from, next)| (from.clone(), next.iter().filter(|(to, _)| near(to)).cloned().collect())).collect()
}

fn cycles(toys: &Toys, increment: u32, cut_off: Option<u32>, goal: Goal) -> CycleOutcome<Label, u32> {
    let depth = DepthSettings { increment, cut_off, ..DepthSettings::default() };
    let found = depth_bounded_cycles(
        &mut toys.clone(),
        &mut Quiet,
        &Settings::default(),
        &depth,
        goal,
        CheckpointPolicy::none(),
    );
    found.expect("there is nothing to go on from")
}

/// The states that a path goes through, between its macro steps.
fn deepest(toys: &Toys, distances: &BTreeMap<Vec<u32>, u32>, path: &[Label]) -> u32 {
    let mut model = toys.clone();
    let (mut state, mut successor) = (Vec::new(), Vec::new());
    model.initial(&mut state).expect("there");
    let mut deepest = 0;
    for wanted in path {
        let mut cursor = model.begin(&state);
        loop {
            match model.next(&state, &mut cursor, &mut successor) {
                Next::Successor { label: Some(label), .. } if label == *wanted => break,
                Next::Successor { label: None, .. } => {
                    // Control is lost: an ordinary state.
                    state.clone_from(&successor);
                    deepest = deepest.max(distances[&state]);
                    cursor = model.begin(&state);
                }
                Next::Done(_) => panic!("{wanted:?} cannot be taken"),
                _ => {}
            }
        }
        std::mem::swap(&mut state, &mut successor);
        if state[0] == 0 {
            deepest = deepest.max(distances[&state]);
        }
    }
    deepest
}

#[test]
fn endless_runs_are_found_at_the_smallest_depth_that_holds_one() {
    let (mut with, mut without, mut deep) = (0, 0, 0);
    for seed in 0..CYCLIC {
        let toys = program(seed);
        let goal = [Goal::AcceptanceCycle, Goal::Livelock][seed as usize % 2];
        let (all, distances) = (edges(&toys, goal), distances(&toys));
        let last = distances.values().copied().max().unwrap_or(0);
        let least = (0..=last).find(|&depth| has_cycle(&within(&all, &distances, depth)));
        let context = format!("seed {seed}, {goal:?}");
        // One step at a time: the first round that can find it does. The first round has a bound of 1.
        let found = cycles(&toys, 1, None, goal);
        let bound = found.rounds.last().map_or(0, |round| round.bound);
        assert_right(&toys, goal, least.is_some(), &found, &context);
        if let (Some(Found::Lasso { stem, cycle }), Some(least)) = (found.first(), least) {
            assert_eq!(bound, least.max(1), "{context}");
            let path = [stem.as_slice(), cycle].concat();
            assert!(deepest(&toys, &distances, &path) <= bound, "{context}");
            with += 1;
            deep += u32::from(1 < least);
        } else {
            assert_eq!(found.statistics.states as usize, distances.len(), "{context}");
            without += 1;
        }
        // Whatever the increment, up to a cut-off: found if and only if it lies within.
        for (increment, cut_off) in [(1, 2), (2, 3), (3, 5), (100, last.max(1))] {
            let found = cycles(&toys, increment, Some(cut_off), goal);
            let there = least.is_some_and(|least| least <= cut_off);
            assert_eq!(found.first().is_some(), there, "{context}, {increment}, {cut_off}");
            if !there && cut_off < last {
                assert_eq!(found.coverage, Coverage::Bound(cut_off), "{context}, {increment}");
                assert_eq!(found.completeness, Completeness::Stopped(StopReason::Depth), "{context}");
                assert!(!found.proves_absence(), "{context}");
            }
        }
    }
    assert!(with > 300 && without > 300 && deep > 50, "{with} with a cycle, {without} without, {deep} deep");
}
