//! Searches for cycles compared with their definitions, followed slowly, on thousands of small random
//! graphs. A failure names the seed of its graph.

mod corners;
mod fewest_steps;
mod long_cycles;
mod partitions;
mod reduction;
mod resumed;

use fabius_base::{Cancel, Limits, StopReason};
use fabius_search::cycle::{
    CycleProviso, CycleQuestion, NoReduction, Order, ShortestBounds, components, dfs_fifo, nested_dfs, shortest,
};
use fabius_search::toy::{Edge, Node, Random, Toy};
use fabius_search::{
    Completeness, CycleOutcome, Ending, Fairness, Found, Goal, Marks, Model, Next, ProcessSet, Processes, Quiet,
    Reducible, Settings, TreeStore,
};
use std::collections::{HashMap, HashSet, VecDeque};

const GRAPHS: u64 = 2000;
const PROCESSES: u8 = 3;
const FAIRNESSES: [Fairness; 3] = [Fairness::None, Fairness::Weak, Fairness::Strong];

type ToyOutcome = CycleOutcome<u32, u32>;

// ---------------------------------------------------------------------------------------------------
// Graphs

/// What random graphs are like.
#[derive(Clone, Copy)]
struct Taste {
    nodes_max: usize,
    /// One node in this many is transient; 0 for none.
    transient_one_in: usize,
    /// One edge in this many is accepting, and one makes progress.
    accepting_one_in: usize,
    progress_one_in: usize,
    faults: bool,
}

impl Taste {
    fn of(seed: u64) -> Self {
        let transient_one_in = [0, 3, 2, 4][seed as usize % 4];
        let progress_one_in = [2, 3, 8][seed as usize % 3];
        Self { nodes_max: 9, transient_one_in, accepting_one_in: 6, progress_one_in, faults: false }
    }
}

fn one_in(random: &mut Random, count: usize) -> bool {
    count != 0 && random.below(count) == 0
}

fn random_marks(random: &mut Random, taste: Taste) -> Marks {
    let mut marks = Marks::NONE;
    if one_in(random, taste.accepting_one_in) {
        marks = marks.with(Marks::ACCEPTING);
    }
    if one_in(random, taste.progress_one_in) {
        marks = marks.with(Marks::PROGRESS);
    }
    marks
}

fn random_movers(random: &mut Random) -> [Option<u8>; 2] {
    let one = Some(random.below(PROCESSES.into()) as u8);
    match random.below(8) {
        0 => [None, None],
        1 => [one, Some(random.below(PROCESSES.into()) as u8)],
        _ => [one, None],
    }
}

fn random_toy(seed: u64, taste: Taste) -> Toy {
    let mut random = Random::new(seed);
    let count = 1 + random.below(taste.nodes_max);
    let mut nodes: Vec<Node> = (0..count)
        .map(|i| {
            let mut words = vec![7; random.below(6)];
            words.push(1000 + i as u32);
            words.push(random.below(5) as u32);
            let transient = i != 0 && one_in(&mut random, taste.transient_one_in);
            Node { words, transient, processes: PROCESSES, ..Node::default() }
        })
        .collect();
    let mut labels = 0..;
    for i in 0..count {
        for _ in 0..random.below(4) {
            let to = Some(random.below(count));
            let fault = (taste.faults && random.below(20) == 0).then_some(5);
            let (marks, movers) = (random_marks(&mut random, taste), random_movers(&mut random));
            nodes[i].edges.push(Edge { to, label: labels.next(), fault, marks, movers });
        }
        let to = random.below(count);
        if nodes[i].transient && !nodes[to].transient && random.below(3) == 0 {
            let marks = random_marks(&mut random, taste);
            nodes[i].edges.push(Edge { to: Some(to), marks, ..Edge::default() });
        }
        let movers = nodes[i].edges.iter().flat_map(|edge| edge.movers).flatten().collect::<Vec<u8>>();
        movers.into_iter().for_each(|process| nodes[i].enabled.insert(process));
        for process in 0..PROCESSES {
            if random.below(6) == 0 {
                nodes[i].enabled.insert(process);
            }
        }
    }
    Toy::new(nodes, 1)
}

// ---------------------------------------------------------------------------------------------------
// Definitions

/// What happened on a closed walk so far.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
struct History {
    accepted: bool,
    ordinary: bool,
    /// Processes, one bit each: that moved, that were enabled or were not, in an ordinary state.
    moved: u8,
    enabled: u8,
    disabled: u8,
}

impl History {
    /// Forgets what does not matter.
    fn only(mut self, fairness: Fairness) -> Self {
        match fairness {
            Fairness::None => (self.moved, self.enabled, self.disabled, self.ordinary) = (0, 0, 0, false),
            Fairness::Weak => self.enabled = 0,
            Fairness::Strong => self.disabled = 0,
        }
        self
    }

    fn arrive(&mut self, node: &Node) {
        if !node.transient {
            self.ordinary = true;
            let enabled = bits(&node.enabled);
            self.enabled |= enabled;
            self.disabled |= ALL & !enabled;
        }
    }

    fn take(&mut self, edge: &Edge) {
        self.accepted |= edge.marks.has(Marks::ACCEPTING);
        for process in edge.movers.into_iter().flatten() {
            self.moved |= 1 << process;
        }
    }

    fn counts(&self, goal: Goal, fairness: Fairness) -> bool {
        let neglected = match fairness {
            Fairness::None => 0,
            _ if !self.ordinary => ALL & !self.moved,
            Fairness::Weak => ALL & !self.disabled & !self.moved,
            Fairness::Strong => self.enabled & !self.moved,
        };
        neglected == 0 && (goal == Goal::Livelock || self.accepted)
    }
}

const ALL: u8 = (1 << PROCESSES) - 1;

fn bits(set: &ProcessSet) -> u8 {
    set.iter().fold(0, |bits, process| bits | 1 << process)
}

fn may_take(edge: &Edge, goal: Goal) -> bool {
    goal == Goal::AcceptanceCycle || !edge.marks.has(Marks::PROGRESS)
}

fn reachable(toy: &Toy) -> Vec<usize> {
    let mut seen = vec![false; toy.nodes().len()];
    let mut list = vec![0];
    seen[0] = true;
    let mut next = 0;
    while let Some(&node) = list.get(next) {
        next += 1;
        for to in toy.nodes()[node].edges.iter().filter_map(|edge| edge.to) {
            if !std::mem::replace(&mut seen[to], true) {
                list.push(to);
            }
        }
    }
    list
}

/// Whether there is a closed walk through this node that counts: all of them are tried.
fn closed_walk_through(toy: &Toy, start: usize, goal: Goal, fairness: Fairness) -> bool {
    let mut seen = HashSet::new();
    let mut stack = vec![(start, History::default())];
    while let Some((node, history)) = stack.pop() {
        for edge in toy.nodes()[node].edges.iter().filter(|edge| may_take(edge, goal)) {
            let (mut history, Some(to)) = (history, edge.to) else { continue };
            history.take(edge);
            history.arrive(&toy.nodes()[to]);
            let history = history.only(fairness);
            if to == start && history.counts(goal, fairness) {
                return true;
            }
            if seen.insert((to, history)) {
                stack.push((to, history));
            }
        }
    }
    false
}

fn exists(toy: &Toy, goal: Goal, fairness: Fairness) -> bool {
    reachable(toy).into_iter().any(|node| closed_walk_through(toy, node, goal, fairness))
}

/// Every node on such a walk.
fn starts(toy: &Toy, goal: Goal, fairness: Fairness) -> Vec<usize> {
    let mut nodes = reachable(toy);
    nodes.retain(|&node| closed_walk_through(toy, node, goal, fairness));
    nodes
}

/// The fewest steps with progress on the way to some of these nodes; a way from one ordinary node to the
/// next is one step.
fn fewest_progress_events(toy: &Toy, targets: &[usize]) -> u64 {
    let mut seen = HashSet::new();
    let mut queue = VecDeque::from([(0, 0, false)]);
    while let Some((events, node, pending)) = queue.pop_front() {
        if !pending && targets.contains(&node) {
            return events;
        }
        if !seen.insert((node, pending)) {
            continue;
        }
        for edge in &toy.nodes()[node].edges {
            let Some(to) = edge.to else { continue };
            let progress = pending || edge.marks.has(Marks::PROGRESS);
            if !progress {
                queue.push_front((events, to, false));
            } else {
                // A transient target may be where the next step starts: there the run may go round for ever.
                queue.push_back((events + 1, to, false));
                if toy.nodes()[to].transient {
                    queue.push_front((events, to, true));
                }
            }
        }
    }
    panic!("no way to {targets:?}");
}

fn has_transient_cycle(toy: &Toy) -> bool {
    let transient = |node: usize| toy.nodes()[node].transient;
    let mut in_degree: HashMap<usize, usize> = HashMap::new();
    let targets = |node: usize| toy.nodes()[node].edges.iter().filter_map(|edge| edge.to);
    let nodes: Vec<usize> = (0..toy.nodes().len()).filter(|&node| transient(node)).collect();
    for &node in &nodes {
        targets(node).filter(|&to| transient(to)).for_each(|to| *in_degree.entry(to).or_default() += 1);
    }
    let mut free: Vec<usize> = nodes.iter().copied().filter(|node| !in_degree.contains_key(node)).collect();
    let mut removed = 0;
    while let Some(node) = free.pop() {
        removed += 1;
        for to in targets(node).filter(|&to| transient(to)) {
            let degree = in_degree.get_mut(&to).expect("counted above");
            *degree -= 1;
            if *degree == 0 {
                free.push(to);
            }
        }
    }
    removed < nodes.len()
}

// ---------------------------------------------------------------------------------------------------
// Walking what was found

/// Walks by labels, which are unique; edges without label are taken where there is no other way.
struct Walker<'a> {
    toy: &'a Toy,
    node: usize,
    history: History,
    progress: bool,
    /// Steps with progress, and whether there was some since the last ordinary node.
    events: u64,
    pending: bool,
    fault: Option<u32>,
}

impl<'a> Walker<'a> {
    fn new(toy: &'a Toy) -> Self {
        let history = History::default();
        Self { toy, node: 0, history, progress: false, events: 0, pending: false, fault: None }
    }

    fn take(&mut self, edge: &Edge) {
        assert!(self.fault.is_none(), "a path goes on after a fault");
        self.fault = edge.fault;
        self.history.take(edge);
        self.progress |= edge.marks.has(Marks::PROGRESS);
        self.pending |= edge.marks.has(Marks::PROGRESS);
        self.node = edge.to.expect("a path goes on only where there is a successor");
        self.history.arrive(&self.toy.nodes()[self.node]);
        if !self.toy.nodes()[self.node].transient {
            self.events += u64::from(std::mem::take(&mut self.pending));
        }
    }

    /// Takes an edge without label, if there is none with this one.
    fn settle(&mut self, label: u32) {
        let edges = |node: usize| self.toy.nodes()[node].edges.iter();
        if !edges(self.node).any(|edge| edge.label == Some(label)) {
            let silent = *edges(self.node).find(|edge| edge.label.is_none()).expect("not a path");
            self.take(&silent);
        }
    }

    fn walk(&mut self, labels: &[u32]) {
        for &label in labels {
            self.settle(label);
            let edges = &self.toy.nodes()[self.node].edges;
            let edge = *edges.iter().find(|edge| edge.label == Some(label)).expect("not a path");
            self.take(&edge);
        }
    }
}

/// Checks a lasso; returns the number of progress events on its stem.
fn check_lasso(toy: &Toy, stem: &[u32], cycle: &[u32], goal: Goal, fairness: Fairness) -> u64 {
    assert!(!cycle.is_empty(), "an empty cycle");
    let mut walker = Walker::new(toy);
    walker.walk(stem);
    walker.settle(cycle[0]);
    let events = walker.events + u64::from(walker.pending);
    walker.walk(cycle);
    let node = walker.node;
    (walker.history, walker.progress) = (History::default(), false);
    walker.walk(cycle);
    assert_eq!(walker.node, node, "the cycle does not close");
    assert!(walker.fault.is_none(), "a fault in a cycle");
    assert!(goal == Goal::AcceptanceCycle || !walker.progress, "a livelock with progress");
    assert!(walker.history.counts(goal, fairness), "the cycle is not what was looked for");
    events
}

fn check_found(toy: &Toy, outcome: &ToyOutcome, goal: Goal, fairness: Fairness) -> Option<u64> {
    match outcome.first()? {
        Found::Lasso { stem, cycle } => Some(check_lasso(toy, stem, cycle, goal, fairness)),
        Found::Fault { path, fault } => {
            let mut walker = Walker::new(toy);
            walker.walk(path);
            assert_eq!(walker.fault, Some(*fault));
            None
        }
    }
}

// ---------------------------------------------------------------------------------------------------
// Searches

fn by_nested_dfs(toy: &Toy, settings: &Settings) -> ToyOutcome {
    nested_dfs(&mut toy.clone(), &mut TreeStore::default(), &mut Quiet, settings, NoReduction)
}

fn by_dfs_fifo(toy: &Toy, settings: &Settings, order: Order) -> ToyOutcome {
    dfs_fifo(&mut toy.clone(), &mut TreeStore::default(), &mut Quiet, settings, order)
}

fn by_components(toy: &Toy, settings: &Settings, goal: Goal, fairness: Fairness) -> ToyOutcome {
    let question = CycleQuestion { goal, fairness };
    components(&mut toy.clone(), &mut TreeStore::default(), &mut Quiet, settings, NoReduction, question)
}

/// Every search that answers the question.
fn outcomes(toy: &Toy, settings: &Settings, goal: Goal, fairness: Fairness) -> Vec<(&'static str, ToyOutcome)> {
    let mut list = vec![("components", by_components(toy, settings, goal, fairness))];
    match (goal, fairness) {
        (Goal::AcceptanceCycle, Fairness::None) => list.push(("nested dfs", by_nested_dfs(toy, settings))),
        (Goal::Livelock, Fairness::None) => {
            list.push(("dfs-fifo, strict", by_dfs_fifo(toy, settings, Order::Strict)));
            list.push(("dfs-fifo, newest first", by_dfs_fifo(toy, settings, Order::Newest)));
        }
        _ => {}
    }
    list
}

#[test]
fn a_cycle_is_found_if_and_only_if_there_is_one() {
    let mut found = HashMap::new();
    for seed in 0..GRAPHS {
        let toy = random_toy(seed, Taste::of(seed));
        for goal in [Goal::AcceptanceCycle, Goal::Livelock] {
            for fairness in FAIRNESSES {
                let truth = exists(&toy, goal, fairness);
                *found.entry((format!("{goal:?} {fairness:?}"), truth)).or_insert(0_u64) += 1;
                for (name, outcome) in outcomes(&toy, &Settings::default(), goal, fairness) {
                    let context = format!("seed {seed}, {name}, {goal:?}, {fairness:?}");
                    assert_eq!(outcome.first().is_some(), truth, "{context}");
                    assert_eq!(outcome.proves_absence(), !truth, "{context}");
                    let ended = if truth { Completeness::FirstViolation } else { Completeness::Exhaustive };
                    assert_eq!(outcome.completeness, ended, "{context}");
                    check_found(&toy, &outcome, goal, fairness);
                }
            }
        }
    }
    assert_eq!(found.len(), 12);
    assert!(found.values().all(|&count| count > GRAPHS / 20), "too few of some kind: {found:?}");
}

#[test]
fn strict_dfs_fifo_finds_a_livelock_after_the_fewest_progress_events() {
    let mut by_events = [0; 4];
    for seed in 0..2 * GRAPHS {
        let toy = random_toy(seed, Taste { nodes_max: 14, progress_one_in: 2, ..Taste::of(seed) });
        let outcome = by_dfs_fifo(&toy, &Settings::default(), Order::Strict);
        let Some(events) = check_found(&toy, &outcome, Goal::Livelock, Fairness::None) else { continue };
        let fewest = fewest_progress_events(&toy, &starts(&toy, Goal::Livelock, Fairness::None));
        let reported = outcome.progress_events_min.expect("strict order knows");
        assert!(fewest <= reported, "seed {seed}");
        if !has_transient_cycle(&toy) {
            assert_eq!(reported, fewest, "seed {seed}");
            assert_eq!(reported, events, "seed {seed}");
            by_events[fewest.min(3) as usize] += 1;
        }
    }
    assert!(by_events.iter().all(|&count| count > 5), "{by_events:?}");
}

#[test]
fn a_fault_ends_a_search_for_cycles() {
    let mut faults = 0;
    for seed in 0..GRAPHS {
        let taste = Taste { faults: true, accepting_one_in: 12, ..Taste::of(seed) };
        let toy = random_toy(seed, taste);
        let faulty =
            reachable(&toy).iter().any(|&node| toy.nodes()[node].edges.iter().any(|edge| edge.fault.is_some()));
        for goal in [Goal::AcceptanceCycle, Goal::Livelock] {
            let truth = faulty || exists(&toy, goal, Fairness::None);
            for (name, outcome) in outcomes(&toy, &Settings::default(), goal, Fairness::None) {
                assert_eq!(outcome.first().is_some(), truth, "seed {seed}, {name}, {goal:?}");
                if let Some(Found::Fault { path, fault }) = outcome.first() {
                    let mut walker = Walker::new(&toy);
                    walker.walk(path);
                    assert_eq!(walker.fault, Some(*fault), "seed {seed}, {name}, {goal:?}");
                    faults += 1;
                }
            }
        }
    }
    assert!(faults > GRAPHS / 2, "{faults}");
}
