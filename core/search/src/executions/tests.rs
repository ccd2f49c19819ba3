//! Random programs: the classes of equivalent executions found by exchanging neighbours, one by one, are as many as
//! the graph says, and as many as inclusion and exclusion over sets of independent steps says.

use super::toy::{Event, Toy};
use super::{Branch, End, Ended, Execution, Graph, Kind, Numbers, Settings, Then, explore};
use crate::store::TreeStore;
use std::collections::{HashMap, HashSet};

/// Programs with more interleavings are left out.
const INTERLEAVINGS_MAX: usize = 1500;

/// An interleaving: its steps, the state it ends in, and whether its last step cannot be computed.
pub(super) type Run = (Vec<Event>, Vec<u32>, bool);

/// The bounds of executions: steps, and how often a process may take a step that goes back.
pub(super) type Bounds = (Option<u32>, Option<u32>);

/// Whether a process goes back once more than it may with the last step of a path.
fn exceeds(toy: &Toy, path: &[Event], laps_max: u32) -> bool {
    let mut state = toy.initial_state();
    let mut keys = Vec::new();
    for event in path {
        keys.push(toy.lap_keys(&state, *event));
        let Some(next) = toy.after(&state, *event) else { return false };
        state = next;
    }
    let Some(last) = keys.last() else { return false };
    let times = |key: &u32| keys.iter().flatten().flatten().filter(|other| *other == key).count();
    last.iter().flatten().any(|key| laps_max < times(key) as u32)
}

/// All interleavings within bounds; `None` if there are too many.
pub(super) fn interleavings(toy: &Toy, (steps_max, laps_max): Bounds) -> Option<Vec<Run>> {
    let steps_max = steps_max.map_or(usize::MAX, |max| max as usize);
    let mut runs = Vec::new();
    let mut open: Vec<(Vec<Event>, Vec<u32>)> = vec![(Vec::new(), toy.initial_state())];
    while let Some((path, state)) = open.pop() {
        let (mut events, _) = toy.events(&state);
        events.retain(|event| {
            let path: Vec<Event> = path.iter().copied().chain([*event]).collect();
            laps_max.is_none_or(|max| !exceeds(toy, &path, max))
        });
        if events.is_empty() || path.len() == steps_max {
            runs.push((path, state, false));
            continue;
        }
        for event in events {
            let mut path = path.clone();
            path.push(event);
            match toy.after(&state, event) {
                Some(next) => open.push((path, next)),
                None => runs.push((path, state.clone(), true)),
            }
        }
        if INTERLEAVINGS_MAX < runs.len() + open.len() {
            return None;
        }
    }
    Some(runs)
}

/// For each interleaving, the least one that exchanges of independent neighbours lead to.
pub(super) fn classes(toy: &Toy, runs: &[Run]) -> Vec<usize> {
    let numbers: HashMap<&[Event], usize> = runs.iter().enumerate().map(|(i, run)| (run.0.as_slice(), i)).collect();
    let mut class: Vec<usize> = (0..runs.len()).collect();
    fn root(class: &[usize], mut at: usize) -> usize {
        while class[at] != at {
            at = class[at];
        }
        at
    }
    for (number, (path, ..)) in runs.iter().enumerate() {
        let mut state = toy.initial_state();
        for at in 0..path.len().saturating_sub(1) {
            let (a, b) = (path[at], path[at + 1]);
            let (events, last_resort) = toy.events(&state);
            if !last_resort && events.contains(&b) && toy.independent(&state, a, b) {
                let mut other = path.clone();
                other.swap(at, at + 1);
                let other = numbers[other.as_slice()];
                assert_eq!(runs[number].1, runs[other].1, "both orders lead to the same state");
                let (a, b) = (root(&class, number), root(&class, other));
                class[a.max(b)] = a.min(b);
            }
            state = toy.after(&state, a).expect("only the last step cannot be computed");
        }
    }
    (0..runs.len()).map(|at| root(&class, at)).collect()
}

/// The numbers of executions by enumeration.
pub(super) fn by_enumeration(toy: &Toy, runs: &[Run], classes: &[usize], cut: bool) -> Numbers {
    let mut numbers = Numbers::default();
    for (at, (_, state, broken)) in runs.iter().enumerate().filter(|(at, _)| classes[*at] == *at) {
        assert!(classes.iter().zip(runs).all(|(class, run)| *class != at || run.1 == *state), "one end for each class");
        let end = match () {
            () if *broken => End::Broken,
            () if cut && !toy.events(state).0.is_empty() => End::Cut,
            () if toy.is_end(state) => End::Valid,
            () => End::Stuck,
        };
        numbers.add(&Numbers::one(end).after(Toy::has_failed(state)));
    }
    numbers
}

/// The number of executions from a state on, and of those that fail, by inclusion and exclusion: each maximal
/// execution is counted at the set of steps that can come first in it (Cartier and Foata).
fn by_inclusion_and_exclusion(toy: &Toy, state: &[u32], known: &mut HashMap<Vec<u32>, (i128, i128)>) -> (i128, i128) {
    if let Some(numbers) = known.get(state) {
        return *numbers;
    }
    let (events, last_resort) = toy.events(state);
    let mut numbers = (0, 0);
    if events.is_empty() {
        numbers = (1, i128::from(Toy::has_failed(state)));
    }
    let mut open: Vec<(usize, Vec<Event>, Vec<u32>)> = vec![(0, Vec::new(), state.to_vec())];
    while let Some((from, chosen, reached)) = open.pop() {
        for (at, event) in events.iter().enumerate().skip(from) {
            let apart = chosen.is_empty() || !last_resort && chosen.iter().all(|c| toy.independent(state, *c, *event));
            if !apart {
                continue;
            }
            let sign = if chosen.len() % 2 == 0 { 1 } else { -1 };
            let Some(next) = toy.after(&reached, *event) else {
                numbers = (numbers.0 + sign, numbers.1 + sign);
                continue;
            };
            let behind = by_inclusion_and_exclusion(toy, &next, known);
            numbers = (numbers.0 + sign * behind.0, numbers.1 + sign * behind.1);
            open.push((at + 1, chosen.iter().chain([event]).copied().collect(), next));
        }
    }
    known.insert(state.to_vec(), numbers);
    numbers
}

/// The first of all interleavings that are equivalent to one, as the least in the order of their steps.
pub(super) fn canonical(runs: &[Run], classes: &[usize]) -> HashMap<Vec<Event>, usize> {
    runs.iter().zip(classes).map(|(run, class)| (run.0.clone(), *class)).collect()
}

pub(super) fn check(toy: &Toy, seed: u64, bounds: Bounds) -> Option<(usize, usize)> {
    let (steps_max, laps_max) = bounds;
    let runs = interleavings(toy, bounds)?;
    let classes = classes(toy, &runs);
    let expected = by_enumeration(toy, &runs, &classes, bounds != (None, None));
    let mut model = toy.clone();
    let settings = Settings { steps_max, laps_max, ..Settings::default() };
    let mut explored = explore(&mut model, TreeStore::default(), &settings);
    assert_eq!(explored.ended, Ended::Complete, "seed {seed}");
    assert_eq!(explored.graph.numbers(), expected, "seed {seed}: executions by enumeration");
    if bounds == (None, None) {
        let (all, failing) = by_inclusion_and_exclusion(toy, &toy.initial_state(), &mut HashMap::new());
        assert_eq!(
            (all, failing),
            (expected.all as i128, expected.failing as i128),
            "seed {seed}: inclusion, exclusion"
        );
        let ends: HashSet<(&[u32], bool)> = runs.iter().map(|run| (run.1.as_slice(), run.2)).collect();
        assert_eq!(explored.statistics.outcomes, ends.len() as u64, "seed {seed}: outcomes");
    }
    let numbers = canonical(&runs, &classes);
    for kind in [Kind::All, Kind::Failing, Kind::Stuck, Kind::Ok] {
        let listed: Vec<Execution<Event, u32>> = explored.graph.executions(&mut model, kind, 0).collect();
        let met: HashSet<usize> = listed.iter().map(|execution| numbers[&execution.path]).collect();
        assert_eq!(met.len(), listed.len(), "seed {seed}: listed executions are not equivalent");
        assert_eq!(listed.len() as u128, expected.of(kind), "seed {seed}: {kind:?}");
        if let Some(middle) = listed.get(listed.len() / 2) {
            let nth = explored.graph.executions(&mut model, kind, listed.len() as u128 / 2).next();
            assert_eq!(nth.as_ref().map(|nth| &nth.path), Some(&middle.path), "seed {seed}");
            let same = explored.graph.executions(&mut model, Kind::All, middle.number).next();
            assert_eq!(same.as_ref(), Some(middle), "seed {seed}: the number among all executions");
        }
    }
    check_trees(&mut explored.graph, &mut model, expected, seed);
    check_alternatives(&mut explored.graph, &mut model, seed);
    let settings = Settings { all_interleavings: true, steps_max, laps_max, ..Settings::default() };
    let every = explore(&mut model, TreeStore::default(), &settings);
    assert_eq!(every.graph.numbers().all, runs.len() as u128, "seed {seed}: interleavings");
    Some((runs.len(), met_classes(&classes)))
}

/// The leaves of the opened tree are the executions, and what lies behind a choice is the sum of its alternatives.
fn check_trees(graph: &mut Graph<TreeStore<u32>>, model: &mut Toy, expected: Numbers, seed: u64) {
    for kind in [Kind::All, Kind::Failing, Kind::Stuck, Kind::Ok] {
        let listed: Vec<Execution<Event, u32>> = graph.executions(model, kind, 0).collect();
        let tree = graph.tree(model, kind, usize::MAX);
        let path_to = |at: usize| {
            let mut steps: Vec<&[Event]> = Vec::new();
            let mut next = Some(at);
            while let Some(at) = next {
                steps.push(&tree[at].path);
                next = tree[at].parent;
            }
            steps.into_iter().rev().flatten().copied().collect::<Vec<_>>()
        };
        let leaves = tree.iter().enumerate().filter_map(|(at, branch)| match branch.then {
            Then::End(end, failed, fault) => {
                Some(Execution { number: branch.first, path: path_to(at), fault, failed, end })
            }
            _ => None,
        });
        assert_eq!(leaves.collect::<Vec<_>>(), listed, "seed {seed}: {kind:?}");
        for max in [1, 4, usize::MAX] {
            let tree = graph.tree(model, kind, max);
            let behind = |at: Option<usize>| {
                let of = tree.iter().filter(|branch| branch.parent == at);
                of.fold(Numbers::default(), |mut sum, branch| {
                    sum.add(&branch.numbers);
                    sum
                })
            };
            assert!(listed.is_empty() == tree.is_empty() && (listed.is_empty() || behind(None) == expected));
            for (at, branch) in tree.iter().enumerate().filter(|(_, branch)| branch.then == Then::Choice) {
                let sum = behind(Some(at));
                assert_eq!(sum.of(kind), branch.numbers.of(kind), "seed {seed}: {kind:?}, {max} branches");
                assert!(kind != Kind::All || sum == branch.numbers, "seed {seed}: {sum:?}, {branch:?}");
            }
        }
    }
}

/// What is opened on demand is what the whole tree has there.
fn check_alternatives(graph: &mut Graph<TreeStore<u32>>, model: &mut Toy, seed: u64) {
    let whole = graph.tree(model, Kind::All, usize::MAX);
    for (at, branch) in whole.iter().enumerate().take(20) {
        let opened = graph.alternatives(model, branch.first, branch.numbers.all);
        let mut ancestors: Vec<usize> = std::iter::successors(Some(at), |at| whole[*at].parent).collect();
        ancestors.reverse();
        for (ancestor, found) in ancestors.iter().zip(&opened) {
            let expected = &whole[*ancestor];
            let alike = |one: &Branch<Event, u32>| (one.depth, one.path.clone(), one.numbers, one.first, one.then);
            assert_eq!(alike(found), alike(expected), "seed {seed}: the way to branch {at}");
        }
        let children: Vec<_> = whole.iter().filter(|child| child.parent == Some(at)).collect();
        let found = &opened[ancestors.len()..];
        assert_eq!(found.len(), children.len(), "seed {seed}: the alternatives at branch {at}");
        for (found, expected) in found.iter().zip(children) {
            assert_eq!(found.parent, Some(ancestors.len() - 1), "seed {seed}");
            assert_eq!((found.numbers, found.first), (expected.numbers, expected.first), "seed {seed}");
            assert_eq!(found.path.first(), expected.path.first(), "seed {seed}");
            assert_eq!(found.then == Then::Unopened, found.numbers.all > 1, "seed {seed}");
        }
        let others =
            whole.iter().any(|other| (other.first, other.numbers.all) == (branch.first + 1, branch.numbers.all));
        assert!(others || graph.alternatives(model, branch.first + 1, branch.numbers.all).is_empty(), "seed {seed}");
    }
}

fn met_classes(classes: &[usize]) -> usize {
    classes.iter().enumerate().filter(|(at, class)| at == *class).count()
}

#[test]
fn three_ways_to_count_agree() {
    let (mut programs, mut interleavings, mut executions) = (0, 0, 0);
    for seed in 0..1500 {
        if let Some((runs, classes)) = check(&Toy::random(seed, false), seed, (None, None)) {
            (programs, interleavings, executions) = (programs + 1, interleavings + runs, executions + classes);
        }
    }
    assert!(programs > 1000 && executions * 2 < interleavings, "{programs}, {interleavings}, {executions}");
}

#[test]
fn executions_that_are_cut_off_are_counted_exactly() {
    let mut cyclic = 0;
    for seed in 0..600 {
        let toy = Toy::random(seed, true);
        if check(&toy, seed, (Some(5), None)).is_some() {
            let ended = explore(&mut toy.clone(), TreeStore::default(), &Settings::default()).ended;
            cyclic += usize::from(matches!(ended, Ended::Cycle(_)));
        }
    }
    assert!(cyclic > 50, "{cyclic} programs have a loop");
}

#[test]
fn executions_in_which_loops_are_closed_a_few_times_are_counted_exactly() {
    let (mut cut, mut programs) = (0, 0);
    for seed in 0..150 {
        let toy = Toy::random(seed, true);
        for laps_max in [0, 1, 2] {
            programs += usize::from(check(&toy, seed, (None, Some(laps_max))).is_some());
            let settings = Settings { laps_max: Some(laps_max), ..Settings::default() };
            let explored = explore(&mut toy.clone(), TreeStore::default(), &settings);
            assert_eq!(explored.ended, Ended::Complete, "seed {seed}: every cycle goes back");
            cut += usize::from(explored.graph.numbers().cut > 0);
        }
        check(&toy, seed, (Some(6), Some(1)));
    }
    assert!(cut > 60 && programs > 200, "{cut} of {programs}");
}

#[test]
fn a_cycle_is_shown_from_the_state_where_it_begins() {
    let mut found = 0;
    for seed in 0..200 {
        let toy = Toy::random(seed, true);
        let ended = explore(&mut toy.clone(), TreeStore::default(), &Settings::default()).ended;
        let Ended::Cycle(cycle) = ended else { continue };
        let mut states = vec![toy.initial_state()];
        for event in &cycle.path {
            let before = states.last().expect("there is one");
            assert!(toy.events(before).0.contains(event), "seed {seed}");
            states.push(toy.after(before, *event).expect("it can be computed"));
        }
        assert_eq!(states.last(), states.get(cycle.start), "seed {seed}");
        found += 1;
    }
    assert!(found > 10);
}

#[test]
fn what_was_met_before_a_limit_is_a_lower_bound() {
    for seed in 0..300 {
        let mut toy = Toy::random(seed, false);
        let all = explore(&mut toy, TreeStore::default(), &Settings::default());
        let nodes = all.statistics.nodes;
        let limits = fabius_base::Limits { states_max: Some(nodes / 2), ..fabius_base::Limits::default() };
        let part = explore(&mut toy, TreeStore::default(), &Settings { limits, ..Settings::default() });
        assert!(matches!(part.ended, Ended::Stopped(fabius_base::StopReason::States)), "seed {seed}");
        let (part, all) = (part.graph.numbers(), all.graph.numbers());
        assert!(part.all <= all.all && part.failing <= all.failing && part.ok <= all.ok, "seed {seed}");
    }
}
