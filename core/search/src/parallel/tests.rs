//! The searches compared with their definitions on thousands of small random graphs, by threads that
//! stop and go at random. A failure names the seed of its graph.

mod divided;
mod reachability;

use super::explorer::Exploration;
use super::store::SharedStore;
use super::{Levels, Nested, cndfs, dfs_fifo};
use crate::cycle::{CycleOutcome, Found};
use crate::dfs_stack::TransientPolicy;
use crate::model::{Ending, Marks, Model, Next};
use crate::observer::{Observer, Quiet, Settings};
use crate::outcome::{Completeness, Outcome, SearchOutcome, Statistics, StopAt, ViolationKind};
use crate::store::TreeStore;
use crate::toy::{Edge, Node, Random, Toy};
use fabius_base::{Cancel, Limits, StopReason};
use std::collections::{BTreeSet, HashSet, VecDeque};
use std::ops::ControlFlow;
use std::sync::{Arc, Barrier};
use std::time::Duration;

const GRAPHS: u64 = 1500;

/// Transient states are hardly passed through on trust: what else happens seldom happens all the time.
const LOOK_UP_MOST: Exploration =
    Exploration { transient: TransientPolicy { run_max: 1, visits_max: 2 }, ..Exploration::FREE };

/// A graph that takes its time now and then, so that threads meet in many ways.
#[derive(Clone)]
struct Halting {
    toy: Toy,
    random: Random,
    /// All threads begin together.
    together: Option<Arc<Barrier>>,
    /// One step in this many is slow, so that others overtake; none if it is 0.
    slow_one_in: usize,
    /// One state in this many is for later, each time another one; none if it is 0.
    later_one_in: usize,
}

impl Halting {
    fn halt(&mut self) {
        match self.random.below(2000) {
            0 => std::thread::yield_now(),
            turns @ 1..100 => (0..turns).for_each(|_| std::hint::spin_loop()),
            _ => {}
        }
        if self.slow_one_in != 0 && self.random.below(self.slow_one_in) == 0 {
            std::thread::sleep(Duration::from_micros(1));
        }
    }
}

impl Model for Halting {
    type Label = u32;
    type Fault = u32;
    type Cursor = u32;

    fn hidden_words(&self) -> usize {
        Toy::hidden_words(&self.toy)
    }

    fn initial(&mut self, state: &mut Vec<u32>) -> Result<(), u32> {
        if let Some(together) = self.together.take() {
            together.wait();
        }
        self.toy.initial(state)
    }

    fn is_for_later(&mut self, _: &[u32]) -> bool {
        self.later_one_in != 0 && self.random.below(self.later_one_in) == 0
    }

    fn begin(&mut self, state: &[u32]) -> u32 {
        self.halt();
        self.toy.begin(state)
    }

    fn next(&mut self, state: &[u32], cursor: &mut u32, successor: &mut Vec<u32>) -> Next<u32, u32> {
        self.halt();
        self.toy.next(state, cursor, successor)
    }
}

fn models(toy: &Toy, threads: usize, seed: u64) -> Vec<Halting> {
    let barrier = (seed.is_multiple_of(4)).then(|| Arc::new(Barrier::new(threads)));
    let model = |thread| {
        let random = Random::new(seed * 100 + thread);
        Halting { toy: toy.clone(), random, together: barrier.clone(), slow_one_in: 0, later_one_in: 0 }
    };
    (0..threads as u64).map(model).collect()
}

/// As [`models`], of which only the first is asked for the initial state.
fn models_of_reach(toy: &Toy, threads: usize, seed: u64) -> Vec<Halting> {
    let models = models(toy, threads, seed).into_iter();
    let later_one_in = [0, 1, 0, 2, 9][seed as usize % 5];
    models.map(|model| Halting { together: None, later_one_in, ..model }).collect()
}

fn threads(seed: u64) -> usize {
    1 + (seed / 2) as usize % 4
}

fn exploration(seed: u64) -> Exploration {
    if seed.is_multiple_of(3) { LOOK_UP_MOST } else { Exploration::FREE }
}

/// A random graph with marks, and with faults only if `faults`.
fn random_toy(seed: u64, nodes_max: usize, faults: bool) -> Toy {
    let mut random = Random::new(seed);
    let toy = Toy::random(seed, nodes_max, seed.is_multiple_of(2));
    let mut nodes = toy.nodes().to_vec();
    let marked = [2, 3, 8][seed as usize % 3];
    for node in &mut nodes {
        if !faults {
            node.edges.retain(|edge| edge.to.is_some());
        }
        for edge in &mut node.edges {
            edge.fault = edge.fault.filter(|_| faults);
            if random.below(marked) == 0 {
                edge.marks = edge.marks.with(Marks::PROGRESS);
            }
            if random.below(7) == 0 {
                edge.marks = edge.marks.with(Marks::ACCEPTING);
            }
        }
    }
    Toy::new(nodes, toy.hidden_words())
}

/// The nodes that can be reached from `start` over edges that `may` be taken, one at least.
fn reachable(toy: &Toy, start: usize, may: impl Fn(&Edge) -> bool) -> BTreeSet<usize> {
    let mut seen = BTreeSet::new();
    let mut list = vec![start];
    while let Some(node) = list.pop() {
        for edge in toy.nodes()[node].edges.iter().filter(|edge| may(edge)) {
            list.extend(edge.to.filter(|&to| seen.insert(to)));
        }
    }
    seen
}

fn all(toy: &Toy) -> BTreeSet<usize> {
    let mut all = reachable(toy, 0, |_| true);
    all.insert(0);
    all
}

fn has_progress(edge: &Edge) -> bool {
    edge.marks.has(Marks::PROGRESS)
}

fn has_livelock(toy: &Toy) -> bool {
    all(toy).into_iter().any(|node| reachable(toy, node, |edge| !has_progress(edge)).contains(&node))
}

/// Walks labels from a node (no two edges share one; a step without label comes before one that does not start
/// here); returns where it ends, and the edges taken.
fn walk(toy: &Toy, mut node: usize, labels: &[u32]) -> (usize, Vec<Edge>) {
    let mut edges = Vec::new();
    for label in labels {
        let of =
            |node: usize, label: Option<u32>| toy.nodes()[node].edges.iter().find(|edge| edge.label == label).copied();
        let edge = of(node, Some(*label)).unwrap_or_else(|| {
            let silent =
                of(node, None).unwrap_or_else(|| panic!("{labels:?} is not a path: no {label} from {node} of {toy:?}"));
            edges.push(silent);
            of(silent.to.expect("a successor"), Some(*label)).expect("a path")
        });
        edges.push(edge);
        node = edge.to.unwrap_or(node);
    }
    (node, edges)
}

/// Walks a lasso; returns the edges of the stem and of the cycle.
fn walk_lasso(toy: &Toy, stem: &[u32], cycle: &[u32]) -> (Vec<Edge>, Vec<Edge>) {
    assert!(!cycle.is_empty(), "a cycle without label");
    let (start, stem) = walk(toy, 0, stem);
    let (once, _) = walk(toy, start, cycle);
    let (twice, edges) = walk(toy, once, cycle);
    assert_eq!(once, twice, "the cycle does not close");
    (stem, edges)
}

/// Fewest steps from one ordinary node to the next with progress before a livelock.
fn fewest_progress_events(toy: &Toy) -> Option<usize> {
    let on_livelock = |node: usize| reachable(toy, node, |edge| !has_progress(edge)).contains(&node);
    // Of an ordinary node, or of a transient one on a way with or without progress so far.
    let mut seen = HashSet::new();
    let mut queue = VecDeque::from([(0, false, 0)]);
    let mut best = None::<usize>;
    while let Some((node, progress, events)) = queue.pop_front() {
        if !seen.insert((node, progress)) {
            continue;
        }
        if on_livelock(node) && !toy.nodes()[node].transient {
            best = Some(best.map_or(events, |best| best.min(events)));
        }
        for edge in &toy.nodes()[node].edges {
            let Some(to) = edge.to else { continue };
            let progress = progress || has_progress(edge);
            match (toy.nodes()[to].transient, progress) {
                (true, _) => queue.push_front((to, progress, events)),
                (false, false) => queue.push_front((to, false, events)),
                (false, true) => queue.push_back((to, false, events + 1)),
            }
        }
    }
    best
}

type ToyCycle = CycleOutcome<u32, u32>;

/// Searches from the beginning, with one thread for each model.
fn reach<M, O>(models: &mut [M], observer: &mut O, settings: &Settings, seed: u64) -> Outcome<M::Label, M::Fault>
where
    M: Model<Label: Send, Fault: Send, Cursor: Send> + Send + Clone,
    O: Observer<M::Label, M::Fault>,
{
    super::reach::search(models, observer, settings, seed, TransientPolicy::SKIP_LOOKUP)
}

fn fifo(toy: &Toy, seed: u64, settings: &Settings, levels: Levels) -> ToyCycle {
    let mut models = models(toy, threads(seed), seed);
    dfs_fifo::search(&mut models, &mut Quiet, settings, levels, seed, exploration(seed)).0
}

fn ordinary(toy: &Toy) -> u64 {
    all(toy).into_iter().filter(|&node| !toy.nodes()[node].transient).count() as u64
}

fn check_workers<V>(outcome: &SearchOutcome<V>, threads: usize) {
    assert_eq!(outcome.workers.len(), threads);
    assert_eq!(outcome.workers.iter().map(|one| one.statistics.states).sum::<u64>(), outcome.statistics.states);
}

#[test]
fn dfs_fifo_finds_a_livelock_if_there_is_one() {
    let mut found = 0;
    for seed in 0..2 * GRAPHS {
        let toy = random_toy(seed, 12, false);
        let levels = if seed % 5 < 2 { Levels::Strict } else { Levels::Free };
        let joint = fifo(&toy, seed, &Settings::default(), levels);
        let outcome = &joint;
        check_workers(outcome, threads(seed));
        assert_eq!(outcome.first().is_some(), has_livelock(&toy), "seed {seed}");
        match outcome.first() {
            None => {
                assert!(outcome.proves_absence(), "seed {seed}");
                assert_eq!(outcome.statistics.states, ordinary(&toy), "seed {seed}");
            }
            Some(Found::Lasso { stem, cycle }) => {
                found += 1;
                let (_, edges) = walk_lasso(&toy, stem, cycle);
                assert!(!edges.iter().any(has_progress), "seed {seed}: progress on {cycle:?}");
            }
            Some(Found::Fault { .. }) => panic!("seed {seed}: a fault where there is none"),
        }
    }
    assert!((GRAPHS / 4..GRAPHS * 7 / 4).contains(&found), "{found}");
}

#[test]
fn a_livelock_found_level_by_level_has_the_fewest_progress_events_before_it() {
    let mut counts = BTreeSet::new();
    for seed in 0..GRAPHS {
        let toy = random_toy(seed, 30, false);
        let joint =
            dfs_fifo(&mut models(&toy, threads(seed), seed), &mut Quiet, &Settings::default(), Levels::Strict, seed).0;
        let (Some(Found::Lasso { stem, cycle }), Some(found)) = (joint.first().cloned(), joint.progress_events_min)
        else {
            continue;
        };
        let (mut start, mut stem_edges) = walk(&toy, 0, &stem);
        if toy.nodes()[start].transient {
            let silent =
                toy.nodes()[start].edges.iter().find(|edge| edge.label.is_none()).expect("a step without label");
            stem_edges.push(*silent);
            start = silent.to.expect("a successor");
        }
        let mut events = 0;
        let mut progress = false;
        for edge in &stem_edges {
            progress |= has_progress(edge);
            if edge.to.is_some_and(|to| !toy.nodes()[to].transient) {
                events += usize::from(std::mem::take(&mut progress));
            }
        }
        walk(&toy, start, &cycle);
        let expected = fewest_progress_events(&toy);
        assert_eq!(expected, Some(found as usize), "seed {seed}");
        assert_eq!(expected, Some(events), "seed {seed}");
        counts.insert(found);
    }
    assert!(counts.len() > 2, "{counts:?}");
}

#[test]
fn a_fault_ends_a_search_for_cycles() {
    let mut faults = 0;
    for seed in 0..GRAPHS {
        let toy = random_toy(seed, 12, true);
        let is_wrong = all(&toy).iter().any(|&node| toy.nodes()[node].edges.iter().any(|edge| edge.fault.is_some()));
        match fifo(&toy, seed, &Settings::default(), Levels::Free).into_first() {
            None => assert!(!is_wrong && !has_livelock(&toy), "seed {seed}"),
            Some(Found::Lasso { stem, cycle }) => drop(walk_lasso(&toy, &stem, &cycle)),
            Some(Found::Fault { path, fault }) => {
                let (_, edges) = walk(&toy, 0, &path);
                assert_eq!(edges.last().and_then(|edge| edge.fault), Some(fault), "seed {seed}");
                faults += 1;
            }
        }
    }
    assert!(faults > GRAPHS / 10, "{faults}");
}

#[test]
fn where_nothing_is_accepted_faults_are_found_by_any_number_of_threads() {
    let mut faults = 0;
    for seed in 0..GRAPHS {
        let toy = Toy::random(seed, if seed % 3 == 0 { 60 } else { 12 }, true);
        let is_wrong = all(&toy).iter().any(|&node| toy.nodes()[node].edges.iter().any(|edge| edge.fault.is_some()));
        let alone = crate::cycle::nested_dfs(
            &mut toy.clone(),
            &mut TreeStore::default(),
            &mut Quiet,
            &Settings::default(),
            crate::cycle::NoReduction,
        );
        for threads in [(1, 0), (1, 7), (2, 0), (4, 7)] {
            let (outcome, ..) = super::faults(&toy, threads, &mut Quiet, &Settings::default(), seed);
            match outcome.first() {
                None => {
                    assert!(!is_wrong && outcome.proves_absence(), "seed {seed}");
                    assert_eq!(outcome.statistics.states, alone.statistics.states, "seed {seed}");
                }
                Some(Found::Lasso { .. }) => panic!("seed {seed}: there are no cycles to be found"),
                Some(Found::Fault { path, fault }) => {
                    let (_, edges) = walk(&toy, 0, path);
                    assert_eq!(edges.last().and_then(|edge| edge.fault), Some(*fault), "seed {seed}");
                    faults += 1;
                }
            }
        }
    }
    assert!(GRAPHS / 10 < faults && faults < 4 * GRAPHS, "{faults}");
}

fn is_accepting(edge: &Edge) -> bool {
    edge.marks.has(Marks::ACCEPTING)
}

fn has_acceptance_cycle(toy: &Toy) -> bool {
    let all = all(toy);
    let edges = all.iter().flat_map(|&node| toy.nodes()[node].edges.iter().map(move |edge| (node, edge)));
    edges
        .filter(|(_, edge)| is_accepting(edge))
        .any(|(node, edge)| edge.to.is_some_and(|to| to == node || reachable(toy, to, |_| true).contains(&node)))
}

/// Whether an acceptance cycle was found: one that there is, or else there is none and all states were visited.
fn finds_acceptance(toy: &Toy, outcome: &ToyCycle, seed: u64) -> bool {
    assert_eq!(outcome.first().is_some(), has_acceptance_cycle(toy), "seed {seed}");
    match outcome.first() {
        None => {
            assert!(outcome.proves_absence(), "seed {seed}");
            assert!(outcome.statistics.states >= ordinary(toy), "seed {seed}");
            false
        }
        Some(Found::Lasso { stem, cycle }) => {
            let (_, edges) = walk_lasso(toy, stem, cycle);
            assert!(edges.iter().any(is_accepting), "seed {seed}: {cycle:?} is not accepted");
            true
        }
        Some(Found::Fault { .. }) => panic!("seed {seed}: a fault where there is none"),
    }
}

fn nested(toy: &Toy, threads: usize, seed: u64) -> ToyCycle {
    let how = Exploration { same_for_all: true, ..exploration(seed) };
    let begun = (SharedStore::new(threads), None);
    cndfs::search(&mut models(toy, threads, seed), &mut Quiet, &Settings::default(), seed, how, begun).0
}

/// Watches each step.
struct Watchful;

impl Observer<u32, u32> for Watchful {
    fn steps_per_look(&self) -> u32 {
        1
    }
}

/// Some threads join one that has listed this many transitions alone, if it is not done by then.
fn nested_joined(toy: &Toy, (threads, alone): (usize, u64), seed: u64) -> Nested<Halting> {
    let mut model = models(toy, 1, 4 * seed + 1).remove(0);
    cndfs(&mut model, (threads, alone), &mut Watchful, &Settings::default(), seed)
}

#[test]
fn nested_searches_that_are_joined_find_an_acceptance_cycle_if_there_is_one() {
    let (mut found, mut joined, mut anew) = (0, 0, 0);
    for seed in 0..2 * GRAPHS {
        let nodes_max = [10, 10, 40, 200][seed as usize % 4];
        let toy = random_toy(seed, nodes_max, false);
        let toy = if seed % 3 == 0 { toy } else { accepting_states(&toy, seed) };
        let threads = if seed % 50 == 49 { 9 } else { threads(seed) };
        let alone = [1, 2, 5, 10, 20, 50][(seed / 4) as usize % 6];
        let Nested { outcome, models, states_before, .. } = nested_joined(&toy, (threads, alone), seed);
        joined += u64::from(!models.is_empty() && states_before == 0);
        anew += u64::from(0 < states_before);
        let is_found = finds_acceptance(&toy, &outcome, seed);
        found += u64::from(is_found);
        // Where it depends on the state whether it is accepting, each is one.
        let is_one = seed % 3 != 0 && !toy.nodes().iter().any(|node| node.transient);
        assert!(is_found || !is_one || outcome.statistics.states == ordinary(&toy), "seed {seed}");
    }
    assert!((GRAPHS / 2..GRAPHS * 3 / 2).contains(&found), "{found}");
    assert!(GRAPHS / 2 < joined && 10 < anew, "{joined} joined, {anew} began anew");
}

#[test]
fn cndfs_finds_an_acceptance_cycle_if_there_is_one() {
    let mut found = 0;
    for seed in 0..3 * GRAPHS {
        let toy = random_toy(seed, if seed % 7 == 0 { 40 } else { 10 }, false);
        let threads = if seed % 50 == 49 { 9 } else { threads(seed) };
        let joint = nested(&toy, threads, seed);
        let outcome = &joint;
        check_workers(outcome, threads);
        found += u64::from(finds_acceptance(&toy, outcome, seed));
    }
    assert!((GRAPHS / 2..GRAPHS * 5 / 2).contains(&found), "{found}");
}

/// Nested searches of several threads go through the same states at the same time, and one must not make the other
/// miss its cycle. Graphs with one way back behind many accepting nodes, and threads that are slow now and then.
#[test]
fn nested_searches_do_not_spoil_each_other() {
    for seed in 0..250 {
        let mut random = Random::new(seed);
        let count = 7 + random.below(5);
        let mut label = 0..;
        let mut edge = |to: usize, accepting: bool| {
            let marks = if accepting { Marks::ACCEPTING } else { Marks::NONE };
            Edge { to: Some(to), label: label.next(), marks, ..Edge::default() }
        };
        // The way back leads from the end to some node; neither is accepting, or the blue search would see it.
        let back = 1 + random.below(count - 3);
        let accepting: Vec<bool> = (0..count).map(|i| i != back && i + 1 != count && random.below(2) == 0).collect();
        let mut nodes: Vec<Node> = (0..count as u32).map(|i| Node { words: vec![i], ..Node::default() }).collect();
        for (i, node) in nodes.iter_mut().enumerate() {
            for _ in 0..2 {
                let to = i + 1 + random.below(4);
                if to < count {
                    node.edges.push(edge(to, accepting[to]));
                }
            }
        }
        nodes[count - 1].edges.push(edge(back, accepting[back]));
        let toy = Toy::new(nodes, 0);
        let expected = has_acceptance_cycle(&toy);
        for round in 0..4 {
            let threads = 2 + round as usize % 2;
            let mut models = models(&toy, threads, 4 * (4 * seed + round));
            models.iter_mut().for_each(|model| model.slow_one_in = 2 + round as usize);
            let (settings, how) = (Settings::default(), Exploration::SAME_FOR_ALL);
            let begun = (SharedStore::new(threads), None);
            let found = cndfs::search(&mut models, &mut Quiet, &settings, seed + round, how, begun).0.into_first();
            assert_eq!(found.is_some(), expected, "seed {seed}, round {round}");
            let mut slow = Halting { together: None, ..models.remove(0) };
            let alone = 3 + 4 * round;
            let found = cndfs(&mut slow, (threads, alone), &mut Watchful, &settings, seed + round).outcome.into_first();
            assert_eq!(found.is_some(), expected, "seed {seed}, round {round}, joined");
        }
    }
}

/// The same graph, in which it depends on where a transition leads whether it is accepting; none that leads to a transient node is, or to
/// the start.
fn accepting_states(toy: &Toy, seed: u64) -> Toy {
    let mut random = Random::new(seed);
    let is_accepting = |(at, node): (usize, &Node)| at != 0 && !node.transient && random.below(3) == 0;
    let accepting: Vec<bool> = toy.nodes().iter().enumerate().map(is_accepting).collect();
    let mut nodes = toy.nodes().to_vec();
    for edge in nodes.iter_mut().flat_map(|node| &mut node.edges) {
        let is_accepting = edge.to.is_some_and(|to| accepting[to]);
        edge.marks = if is_accepting { Marks::ACCEPTING } else { Marks::NONE };
    }
    Toy::new(nodes, toy.hidden_words())
}

/// Where all transitions into a node agree, each node is one state.
#[test]
fn cndfs_stores_a_state_once_if_acceptance_stands_on_states() {
    for seed in 0..GRAPHS {
        let toy = random_toy(seed, 30, false);
        let mut random = Random::new(seed);
        let accepting: Vec<bool> = toy.nodes().iter().map(|_| random.below(4) == 0).collect();
        let mut nodes = toy.nodes().to_vec();
        for (i, node) in nodes.iter_mut().enumerate() {
            // No way back to the start or through transient nodes, which other marks would be added to; no cycles.
            node.edges.retain(|edge| edge.to.is_some_and(|to| i < to && !toy.nodes()[to].transient));
            for edge in &mut node.edges {
                let to = edge.to.unwrap_or(0);
                edge.marks = if accepting[to] { Marks::ACCEPTING } else { Marks::NONE };
            }
        }
        let toy = Toy::new(nodes, toy.hidden_words());
        let joint = nested(&toy, threads(seed), seed);
        assert!(joint.proves_absence(), "seed {seed}");
        assert_eq!(joint.statistics.states, ordinary(&toy), "seed {seed}");
    }
}

/// A livelock that only one way leads to is found each time, whoever gets there first.
#[test]
fn the_answer_does_not_depend_on_the_pace_of_the_threads() {
    for seed in 0..40 {
        let toy = random_toy(seed, 60, false);
        let expected = has_livelock(&toy);
        let accepted = has_acceptance_cycle(&toy);
        for round in 0..25 {
            let found = nested(&toy, 2 + round as usize % 3, seed * 1000 + round).into_first();
            assert_eq!(found.is_some(), accepted, "seed {seed}, round {round}");
            let mut models = models(&toy, 2 + round as usize % 3, seed * 1000 + round);
            let how = if round % 2 == 0 { Exploration::FREE } else { LOOK_UP_MOST };
            let found = dfs_fifo::search(&mut models, &mut Quiet, &Settings::default(), Levels::Free, round, how)
                .0
                .into_first();
            assert_eq!(found.is_some(), expected, "seed {seed}, round {round}");
        }
    }
}

/// Large graphs without livelock, so that everything is visited by all threads.
#[test]
fn many_threads_store_each_state_once() {
    for seed in 0..20 {
        let mut random = Random::new(seed);
        let count = 3000;
        let nodes = (0..count).map(|i| {
            let edges = (0..random.below(4)).map(|k| {
                let to = random.below(count);
                let marks = if to <= i || random.below(20) == 0 { Marks::PROGRESS } else { Marks::NONE };
                Edge { to: Some(to), label: Some((4 * i + k) as u32), marks, ..Edge::default() }
            });
            let words = [i as u32 % 7, i as u32 / 7, 3, i as u32 % 11, 4, 4];
            Node {
                edges: edges.collect(),
                transient: i % 5 == 4,
                words: words[..4 + i % 3].to_vec(),
                ..Node::default()
            }
        });
        let toy = Toy::new(nodes.collect(), 0);
        let threads = if seed % 10 == 9 { 9 } else { 4 };
        let levels = if seed % 2 == 0 { Levels::Free } else { Levels::Strict };
        let mut models = models(&toy, threads, seed);
        let joint = dfs_fifo::search(&mut models, &mut Quiet, &Settings::default(), levels, seed, exploration(seed)).0;
        assert!(joint.proves_absence(), "seed {seed}: {:?}", joint.into_first());
        assert_eq!(joint.statistics.states, ordinary(&toy), "seed {seed}");
        let mut models = models_of_reach(&toy, threads, seed);
        let joint =
            crate::parallel::reach::search(&mut models, &mut Quiet, &keep_going(), seed, exploration(seed).transient);
        assert_eq!(joint.statistics.states, ordinary(&toy), "seed {seed}");
        assert_eq!(joint.completeness, Completeness::Exhaustive);
    }
}

fn keep_going() -> Settings {
    Settings { stop_at: StopAt::Never, ..Settings::default() }
}
