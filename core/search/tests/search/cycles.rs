//! Searches for cycles compared with their definitions, followed slowly, on thousands of small random
//! graphs. A failure names the seed of its graph.

use fabius_base::{Cancel, Limits, StopReason};
use fabius_search::cycle::{CycleProviso, NoReduction, Order, components, dfs_fifo, nested_dfs, shortest};
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
    let question = (goal, fairness);
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

/// How many steps an edge is.
fn steps_of(edge: &Edge) -> u64 {
    u64::from(edge.label.is_some() && edge.movers.iter().any(Option::is_some))
}

/// How many steps labels are.
fn length(toy: &Toy, labels: &[u32]) -> u64 {
    labels.iter().filter(|label| toy.movers(label).iter().any(Option::is_some)).count() as u64
}

/// The fewest steps of a run that counts, to a fault or before a cycle and in it: every way is lengthened while that helps.
fn fewest_steps(toy: &Toy, goal: Goal, fairness: Fairness) -> Option<u64> {
    let mut best: Option<u64> = None;
    let mut take = |steps: u64| best = Some(best.map_or(steps, |best| best.min(steps)));
    let mut distances = HashMap::from([(0, 0)]);
    let mut open = vec![0];
    while let Some(node) = open.pop() {
        for edge in &toy.nodes()[node].edges {
            let (steps, Some(to)) = (distances[&node] + steps_of(edge), edge.to) else { continue };
            if edge.fault.is_some() {
                take(steps);
            } else if distances.get(&to).is_none_or(|&known| steps < known) {
                distances.insert(to, steps);
                open.push(to);
            }
        }
    }
    for (&start, &distance) in &distances {
        let first = (start, History::default());
        let mut known = HashMap::from([(first, 0)]);
        let mut open = vec![first];
        while let Some((node, history)) = open.pop() {
            let edges = toy.nodes()[node].edges.iter().filter(|edge| may_take(edge, goal) && edge.fault.is_none());
            for edge in edges {
                let (steps, Some(to)) = (known[&(node, history)] + steps_of(edge), edge.to) else { continue };
                let mut history = history;
                history.take(edge);
                history.arrive(&toy.nodes()[to]);
                let place = (to, history.only(fairness));
                if to == start && place.1.counts(goal, fairness) {
                    take(distance + steps);
                }
                if known.get(&place).is_none_or(|&known| steps < known) {
                    known.insert(place, steps);
                    open.push(place);
                }
            }
        }
    }
    best
}

/// How many steps a run has, once it is walked and shows what was looked for.
fn checked_length(toy: &Toy, found: &Found<u32, u32>, goal: Goal, fairness: Fairness) -> u64 {
    match found {
        Found::Lasso { stem, cycle } => {
            check_lasso(toy, stem, cycle, goal, fairness);
            length(toy, stem) + length(toy, cycle)
        }
        Found::Fault { path, fault } => {
            let mut walker = Walker::new(toy);
            walker.walk(path);
            assert_eq!(walker.fault, Some(*fault));
            length(toy, path)
        }
    }
}

#[test]
fn a_shortest_run_has_as_few_steps_as_there_can_be() {
    const FAR: u64 = 1_000;
    let mut lengths = HashMap::new();
    for seed in 0..GRAPHS {
        let toy = random_toy(seed, Taste { faults: seed % 5 == 0, ..Taste::of(seed) });
        for (goal, fairness) in
            [Goal::AcceptanceCycle, Goal::Livelock].into_iter().flat_map(|g| FAIRNESSES.map(|f| (g, f)))
        {
            let context = format!("seed {seed}, {goal:?}, {fairness:?}");
            let resting = |resting: &ProcessSet, bound| {
                shortest(
                    &mut toy.clone(),
                    &mut Quiet,
                    &Settings::default(),
                    (goal, fairness),
                    resting,
                    (bound, u64::MAX),
                )
            };
            let short = |bound| resting(&ProcessSet::EMPTY, bound);
            let fewest = fewest_steps(&toy, goal, fairness);
            let found = short(FAR);
            assert!(found.proved, "{context}");
            let steps = found.found.map(|found| checked_length(&toy, &found, goal, fairness));
            assert_eq!(steps, fewest, "{context}");
            let mut one = ProcessSet::EMPTY;
            one.insert((seed % u64::from(PROCESSES)) as u8);
            let without = resting(&one, FAR);
            assert!(!without.proved, "{context}");
            if let Some(found) = without.found {
                assert!(fewest <= Some(checked_length(&toy, &found, goal, fairness)), "{context}");
                let (Found::Lasso { stem: labels, .. } | Found::Fault { path: labels, .. }) = &found;
                assert!(labels.iter().all(|label| !toy.movers(label).contains(&one.iter().next())), "{context}");
            }
            *lengths.entry(steps.map(|steps| steps.min(5))).or_insert(0) += 1;
            if let Some(fewest) = fewest {
                let none = short(fewest);
                assert_eq!((none.found, none.proved), (None, true), "{context}");
            }
        }
    }
    assert!(lengths.len() == 7 && lengths.values().all(|&count| 10 < count), "{lengths:?}");
}

#[test]
fn a_run_is_not_called_shortest_where_not_all_was_seen() {
    // A ring of ten states that accepts once, nothing else.
    let ring: Vec<Vec<usize>> = (0..10).map(|i| vec![(i + 1) % 10]).collect();
    let edges = |(i, targets): (usize, &Vec<usize>)| Node {
        words: vec![i as u32],
        edges: targets
            .iter()
            .map(|&to| Edge {
                to: Some(to),
                label: Some(i as u32),
                marks: if i == 4 { Marks::ACCEPTING } else { Marks::NONE },
                movers: [Some(0), None],
                ..Edge::default()
            })
            .collect(),
        processes: 1,
        ..Node::default()
    };
    let toy = Toy::new(ring.iter().enumerate().map(edges).collect(), 0);
    let question = (Goal::AcceptanceCycle, Fairness::None);
    let within = |states_max| {
        let limits = Limits { states_max: Some(states_max), ..Limits::default() };
        shortest(
            &mut toy.clone(),
            &mut Quiet,
            &Settings { limits, ..Settings::default() },
            question,
            &ProcessSet::EMPTY,
            (30, u64::MAX),
        )
    };
    let few = within(5);
    assert_eq!((few.found, few.proved), (None, false));
    let all = within(10);
    assert_eq!((all.found, all.proved), (Some(Found::Lasso { stem: vec![], cycle: (0..10).collect() }), true));
}

#[test]
fn a_shortest_run_is_proved_to_be_that_by_however_little_work() {
    const FAR: u64 = 1_000;
    for seed in 0..GRAPHS / 4 {
        let toy = random_toy(seed, Taste { faults: seed % 5 == 0, ..Taste::of(seed) });
        for fairness in FAIRNESSES {
            let goal = if seed % 2 == 0 { Goal::AcceptanceCycle } else { Goal::Livelock };
            let fewest = fewest_steps(&toy, goal, fairness);
            let within = |work_max| {
                let question = (goal, fairness);
                shortest(
                    &mut toy.clone(),
                    &mut Quiet,
                    &Settings::default(),
                    question,
                    &ProcessSet::EMPTY,
                    (FAR, work_max),
                )
            };
            let all = within(u64::MAX);
            for work_max in [0, 1, 2, 5, 10, 20, 50, 100, all.work, 2 * all.work] {
                let some = within(work_max);
                let context = format!("seed {seed}, {goal:?}, {fairness:?}, {work_max}");
                assert_eq!(some, within(work_max), "{context}");
                let steps = some.found.as_ref().map(|found| checked_length(&toy, found, goal, fairness));
                match some.proved {
                    true => assert_eq!(steps, fewest, "{context}"),
                    false => assert!(steps.is_none() || fewest <= steps, "{context}"),
                }
                assert!(some.proved || work_max < 2 * all.work, "{context}");
            }
        }
    }
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

// ---------------------------------------------------------------------------------------------------
// Corners

/// An edge: from, to, marks.
type Way = (usize, usize, Marks);

/// Nodes with their index as only visible word; edges are labelled by their place in the list.
fn graph(transient: &[usize], edges: &[Way]) -> Toy {
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

const N: Marks = Marks::NONE;
const P: Marks = Marks::PROGRESS;
const A: Marks = Marks::ACCEPTING;

fn lasso_of(outcome: &ToyOutcome) -> Option<(Vec<u32>, Vec<u32>)> {
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
                    let outcome =
                        components(&mut ring, &mut store, &mut Quiet, &settings, NoReduction, (goal, fairness));
                    assert_eq!(outcome.first().is_some(), truth, "{marked} {goal:?} {fairness:?}");
                    if let Some(Found::Lasso { cycle, .. }) = outcome.into_first() {
                        assert_eq!(cycle.len(), states as usize);
                    }
                }
            }
        }
    }
}

// ---------------------------------------------------------------------------------------------------
// Limits

#[test]
fn limits_end_a_search_and_prove_nothing() {
    for seed in 0..GRAPHS / 4 {
        let toy = random_toy(seed, Taste { nodes_max: 30, ..Taste::of(seed) });
        for goal in [Goal::AcceptanceCycle, Goal::Livelock] {
            for (name, whole) in outcomes(&toy, &Settings::default(), goal, Fairness::None) {
                let states_max = whole.statistics.states.saturating_sub(1);
                let limits = Limits { states_max: Some(states_max), ..Limits::default() };
                let settings = Settings { limits, ..Settings::default() };
                let again = outcomes(&toy, &settings, goal, Fairness::None);
                let (_, bounded) = again.into_iter().find(|(other, _)| *other == name).expect("same searches");
                assert!(bounded.statistics.states <= states_max, "seed {seed}, {name}");
                assert_eq!(bounded.completeness, Completeness::Stopped(StopReason::States), "seed {seed}, {name}");
            }
            let limits = Limits { depth_max: Some(4), ..Limits::default() };
            for (name, outcome) in outcomes(&toy, &Settings { limits, ..Settings::default() }, goal, Fairness::None) {
                check_found(&toy, &outcome, goal, Fairness::None);
                assert!(outcome.statistics.depth < 4, "seed {seed}, {name}");
                if outcome.proves_absence() {
                    assert!(!exists(&toy, goal, Fairness::None), "seed {seed}, {name}");
                }
            }
        }
    }
}

#[test]
fn a_search_stops_when_it_is_told_to() {
    let cancel = Cancel::new();
    cancel.cancel();
    let settings = Settings { cancel, ..Settings::default() };
    let toy = graph(&[], &[(0, 1, N), (1, 0, A)]);
    for goal in [Goal::AcceptanceCycle, Goal::Livelock] {
        for (name, outcome) in outcomes(&toy, &settings, goal, Fairness::None) {
            assert_eq!(outcome.completeness, Completeness::Stopped(StopReason::Cancelled), "{name}");
        }
    }
}

// ---------------------------------------------------------------------------------------------------
// Reduction

/// A graph of whose edges some are listed only when asked for; remembers where that was.
struct Reduced {
    toy: Toy,
    /// Of each node: how many edges are listed at first.
    listed: Vec<usize>,
    fully_expanded: HashSet<usize>,
}

impl Reduced {
    fn new(toy: Toy, seed: u64) -> Self {
        let mut random = Random::new(!seed);
        let listed = toy.nodes().iter().map(|node| node.edges.len().min(1 + random.below(3))).collect();
        Self { toy, listed, fully_expanded: HashSet::new() }
    }

    /// The graph that was searched in the end.
    fn searched(&self) -> Toy {
        let mut nodes = self.toy.nodes().to_vec();
        for (index, node) in nodes.iter_mut().enumerate() {
            if !self.fully_expanded.contains(&index) {
                node.edges.truncate(self.listed[index]);
            }
        }
        Toy::new(nodes, 1)
    }

    /// Whether some cycle has no node whose edges are all listed.
    fn ignores(&self) -> bool {
        let searched = self.searched();
        let in_part = |node: usize| searched.nodes()[node].edges.len() < self.toy.nodes()[node].edges.len();
        let nodes = reachable(&searched);
        nodes.iter().any(|&start| {
            let mut seen = HashSet::new();
            let mut stack = vec![start];
            while let Some(node) = stack.pop().filter(|_| in_part(start)) {
                for to in searched.nodes()[node].edges.iter().filter_map(|edge| edge.to).filter(|&to| in_part(to)) {
                    if to == start {
                        return true;
                    }
                    if seen.insert(to) {
                        stack.push(to);
                    }
                }
            }
            false
        })
    }
}

impl Model for Reduced {
    type Label = u32;
    type Fault = u32;
    /// Next edge, and whether all are listed.
    type Cursor = (u32, bool);

    fn hidden_words(&self) -> usize {
        Model::hidden_words(&self.toy)
    }

    fn initial(&mut self, state: &mut Vec<u32>) -> Result<(), u32> {
        self.toy.initial(state)
    }

    fn begin(&mut self, _: &[u32]) -> (u32, bool) {
        (0, false)
    }

    fn next(&mut self, state: &[u32], cursor: &mut (u32, bool), successor: &mut Vec<u32>) -> Next<u32, u32> {
        let node = self.toy.node_of(state).expect("a state of the graph");
        if !cursor.1 && self.listed[node] == cursor.0 as usize {
            return Next::Done(Ending::Moves);
        }
        self.toy.next(state, &mut cursor.0, successor)
    }
}

impl Processes for Reduced {
    fn process_count(&self, state: &[u32]) -> usize {
        self.toy.process_count(state)
    }

    fn movers(&self, label: &u32) -> [Option<u8>; 2] {
        self.toy.movers(label)
    }

    fn enabled(&mut self, state: &[u32], enabled: &mut ProcessSet) {
        self.toy.enabled(state, enabled);
    }
}

impl Reducible for Reduced {
    fn fully_expand(&mut self, state: &[u32], cursor: &mut (u32, bool)) -> bool {
        let node = self.toy.node_of(state).expect("a state of the graph");
        let expands = !cursor.1 && self.listed[node] < self.toy.nodes()[node].edges.len();
        if expands {
            cursor.1 = true;
            self.fully_expanded.insert(node);
        }
        expands
    }
}

#[test]
fn no_transition_is_put_off_for_ever() {
    let (mut in_part, mut fully_expanded) = (0, 0);
    for seed in 0..2 * GRAPHS {
        let toy = random_toy(seed, Taste { nodes_max: 12, accepting_one_in: 20, ..Taste::of(seed) });
        for nested in [true, false] {
            let context = format!("seed {seed}, nested {nested}");
            let mut model = Reduced::new(toy.clone(), seed);
            let (settings, mut quiet) = (Settings::default(), Quiet);
            let outcome = if nested {
                nested_dfs(&mut model, &mut TreeStore::default(), &mut quiet, &settings, CycleProviso)
            } else {
                let question = (Goal::AcceptanceCycle, Fairness::None);
                components(&mut model, &mut TreeStore::default(), &mut quiet, &settings, CycleProviso, question)
            };
            check_found(&toy, &outcome, Goal::AcceptanceCycle, Fairness::None);
            if outcome.first().is_some() {
                continue;
            }
            assert!(!model.ignores(), "{context}");
            let searched = model.searched();
            assert!(!exists(&searched, Goal::AcceptanceCycle, Fairness::None), "{context}");
            let count = reachable(&searched).iter().filter(|&&node| !toy.nodes()[node].transient).count();
            assert_eq!(outcome.statistics.states, count as u64, "{context}");
            in_part += u64::from(count < reachable(&toy).iter().filter(|&&node| !toy.nodes()[node].transient).count());
            fully_expanded += u64::from(!model.fully_expanded.is_empty());
        }
    }
    assert!(in_part > GRAPHS / 10 && fully_expanded > GRAPHS / 10, "{in_part} {fully_expanded}");
}
