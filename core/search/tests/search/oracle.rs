//! Searches compared with their definitions, followed slowly, on thousands of small random graphs.
//! A failure names the seed of its graph.

use fabius_base::{Cancel, Limits, StopReason};
use fabius_search::model::{Model, Next};
use fabius_search::toy::{Edge, Node, Random, Toy};
use fabius_search::{
    BitstateStore, Completeness, FingerprintStore, Marks, Outcome, Quiet, Settings, Statistics, StopAt, Store,
    TreeStore, ViolationKind, breadth_first, depth_first,
};
use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};

const GRAPHS: u64 = 4000;

type ToyOutcome = Outcome<u32, u32>;

fn keep_going() -> Settings {
    Settings { stop_at: StopAt::Never, ..Settings::default() }
}

/// What a violation is, apart from the way to it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Wrong {
    InvalidEnd { node: usize },
    Fault { fault: u32, label: Option<u32> },
}

/// What the definition says about a graph.
#[derive(Default)]
struct Truth {
    /// Ordinary nodes passed on a shortest way to a node.
    distance: BTreeMap<usize, usize>,
    ordinary: usize,
    /// Violations, and the distance of the nodes where they happen.
    wrongs: BTreeMap<Wrong, usize>,
}

fn is_invalid_end(node: &Node) -> bool {
    node.edges.is_empty() && !node.end
}

impl Truth {
    /// Shortest ways, where a step to an ordinary node counts 1 and one to a transient node 0.
    fn of(toy: &Toy) -> Self {
        let mut truth = Self::default();
        let mut queue = VecDeque::from([(0_usize, 0_usize)]);
        while let Some((node, distance)) = queue.pop_front() {
            if truth.distance.contains_key(&node) {
                continue;
            }
            truth.distance.insert(node, distance);
            truth.ordinary += usize::from(!toy.nodes()[node].transient);
            if is_invalid_end(&toy.nodes()[node]) {
                truth.wrongs.insert(Wrong::InvalidEnd { node }, distance);
            }
            for edge in &toy.nodes()[node].edges {
                if let Some(fault) = edge.fault {
                    truth.wrongs.insert(Wrong::Fault { fault, label: edge.label }, distance);
                }
                match edge.to {
                    Some(to) if toy.nodes()[to].transient => queue.push_front((to, distance)),
                    Some(to) => queue.push_back((to, distance + 1)),
                    None => {}
                }
            }
        }
        truth
    }
}

/// Walks a path of labels (no two edges share one); returns the violation it ends in and the number of
/// ordinary nodes passed before the faulty transition, or before the end.
fn walk(toy: &Toy, kind: ViolationKind<u32>, path: &[u32]) -> (Wrong, usize) {
    let edge_of = |label: u32| -> (usize, Edge) {
        let mut edges = toy.nodes().iter().enumerate().flat_map(|(i, node)| node.edges.iter().map(move |e| (i, *e)));
        edges.find(|(_, edge)| edge.label == Some(label)).expect("a label of the graph")
    };
    let unlabelled = |node: usize| -> usize {
        let edge = toy.nodes()[node].edges.iter().find(|edge| edge.label.is_none());
        edge.and_then(|edge| edge.to).expect("an edge without label")
    };
    let (mut node, mut passed) = (0, 0);
    for (i, &label) in path.iter().enumerate() {
        let (from, edge) = edge_of(label);
        if node != from {
            node = unlabelled(node);
            passed += 1;
            assert_eq!(node, from, "{path:?} is not a path");
        }
        if i + 1 == path.len()
            && let ViolationKind::Fault(fault) = kind
        {
            assert_eq!(edge.fault, Some(fault));
            return (Wrong::Fault { fault, label: Some(label) }, passed);
        }
        node = edge.to.expect("a path goes on only after transitions that have a successor");
        passed += usize::from(!toy.nodes()[node].transient);
    }
    assert_eq!(kind, ViolationKind::InvalidEnd);
    if !is_invalid_end(&toy.nodes()[node]) {
        node = unlabelled(node);
        passed += 1;
    }
    assert!(is_invalid_end(&toy.nodes()[node]));
    (Wrong::InvalidEnd { node }, passed)
}

fn wrongs(toy: &Toy, outcome: &ToyOutcome) -> Vec<(Wrong, usize)> {
    outcome.violations.iter().map(|violation| walk(toy, violation.kind, &violation.path)).collect()
}

fn dfs<S: Store>(toy: &Toy, store: &mut S, settings: &Settings) -> ToyOutcome {
    depth_first(&mut toy.clone(), store, &mut Quiet, settings)
}

fn bfs<S: Store>(toy: &Toy, store: &mut S, settings: &Settings) -> ToyOutcome {
    breadth_first(&mut toy.clone(), store, &mut Quiet, settings)
}

/// All searches and stores; large enough bitstate stores miss nothing in graphs this small (and if they
/// did, these seeds are fixed).
fn all_outcomes(toy: &Toy, settings: &Settings) -> Vec<(&'static str, ToyOutcome)> {
    vec![
        ("depth first, tree", dfs(toy, &mut TreeStore::new(), settings)),
        ("depth first, tree with payload", dfs(toy, &mut TreeStore::<u8>::default(), settings)),
        ("depth first, fingerprint", dfs(toy, &mut FingerprintStore::default(), settings)),
        ("depth first, bitstate", dfs(toy, &mut BitstateStore::new(1 << 16, 3, 0), settings)),
        ("breadth first, tree", bfs(toy, &mut TreeStore::new(), settings)),
        ("breadth first, fingerprint", bfs(toy, &mut FingerprintStore::default(), settings)),
    ]
}

#[test]
fn every_search_finds_every_state_and_every_violation() {
    for seed in 0..GRAPHS {
        let toy = Toy::random(seed, 14, seed % 2 == 0);
        let truth = Truth::of(&toy);
        for (name, outcome) in all_outcomes(&toy, &keep_going()) {
            let context = format!("seed {seed}, {name}");
            assert_eq!(outcome.completeness, Completeness::Exhaustive, "{context}");
            assert_eq!(outcome.statistics.states as usize, truth.ordinary, "{context}");
            let found: BTreeSet<Wrong> = wrongs(&toy, &outcome).into_iter().map(|(wrong, _)| wrong).collect();
            assert!(found.iter().eq(truth.wrongs.keys()), "{context}: {found:?} instead of {:?}", truth.wrongs);
            assert_eq!(found.len(), outcome.violations.len(), "{context}: one violation per key");
            let counted: u64 = outcome.violations.iter().map(|violation| violation.count).sum();
            assert_eq!(counted, outcome.statistics.violations, "{context}");
            let proved = outcome.proves_absence();
            assert_eq!(proved, name.contains("tree") && truth.wrongs.is_empty(), "{context}");
        }
    }
}

#[test]
fn breadth_first_paths_are_shortest() {
    let mut violations = 0;
    for seed in 0..GRAPHS {
        let toy = Toy::random(seed, 14, seed % 2 == 0);
        let truth = Truth::of(&toy);
        let outcome = bfs(&toy, &mut TreeStore::new(), &keep_going());
        for (wrong, passed) in wrongs(&toy, &outcome) {
            assert_eq!(passed, truth.wrongs[&wrong], "seed {seed}, {wrong:?}");
            violations += 1;
        }
        let depth = truth.distance.values().max().copied().unwrap_or(0);
        assert_eq!(outcome.statistics.depth as usize, depth, "seed {seed}");
    }
    assert!(violations > GRAPHS, "the graphs have too few violations to show anything: {violations}");
}

#[test]
fn the_first_violation_ends_a_search_that_stops_at_it() {
    for seed in 0..GRAPHS {
        let toy = Toy::random(seed, 14, seed % 2 == 0);
        let truth = Truth::of(&toy);
        for (name, outcome) in all_outcomes(&toy, &Settings::default()) {
            let context = format!("seed {seed}, {name}");
            let found = wrongs(&toy, &outcome);
            assert_eq!(found.len(), truth.wrongs.len().min(1), "{context}");
            assert_eq!(outcome.completeness == Completeness::FirstViolation, !found.is_empty(), "{context}");
            if name.starts_with("breadth") {
                assert!(found.iter().all(|(_, passed)| Some(passed) == truth.wrongs.values().min()), "{context}");
            }
        }
    }
}

/// The definition of depth-first search, as a recursive function without any cleverness. `depth` counts
/// labels; transient nodes are visited each time they are met.
struct Definition<'a> {
    toy: &'a Toy,
    depth_max: u64,
    stored: HashSet<Vec<u32>>,
    entered: Vec<usize>,
    statistics: Statistics,
}

impl<'a> Definition<'a> {
    fn new(toy: &'a Toy, depth_max: u64) -> Self {
        let stored = HashSet::new();
        Self { toy, depth_max, stored, entered: Vec::new(), statistics: Statistics::default() }
    }

    fn arrive(&mut self, node: usize, depth: u64) {
        let Node { words, transient, edges, .. } = &self.toy.nodes()[node];
        self.statistics.transient += u64::from(*transient);
        if self.depth_max <= depth {
            self.statistics.cut += 1;
            self.statistics.matched += 1;
            return;
        }
        if !transient {
            let visible = words[..words.len() - self.toy.hidden_words()].to_vec();
            if !self.stored.insert(visible) {
                self.statistics.matched += 1;
                return;
            }
            self.statistics.states += 1;
        }
        self.entered.push(node);
        self.statistics.depth = self.statistics.depth.max(depth);
        for edge in edges {
            self.statistics.violations += u64::from(edge.fault.is_some());
            if let Some(to) = edge.to {
                self.arrive(to, depth + u64::from(edge.label.is_some()));
            }
        }
        self.statistics.violations += u64::from(is_invalid_end(&self.toy.nodes()[node]));
    }
}

/// Notes which states are entered.
struct Recorder {
    toy: Toy,
    entered: Vec<usize>,
}

impl Model for Recorder {
    type Label = u32;
    type Fault = u32;
    type Cursor = u32;

    fn hidden_words(&self) -> usize {
        self.toy.hidden_words()
    }

    fn initial(&mut self, state: &mut Vec<u32>) -> Result<(), u32> {
        self.toy.initial(state)
    }

    fn begin(&mut self, state: &[u32]) -> u32 {
        self.entered.push(self.toy.node_of(state).expect("a state of the graph"));
        self.toy.begin(state)
    }

    fn next(&mut self, state: &[u32], cursor: &mut u32, successor: &mut Vec<u32>) -> Next<u32, u32> {
        self.toy.next(state, cursor, successor)
    }
}

/// Drops edges between transient nodes that do not go up, so that the definition comes to an end.
fn without_transient_cycles(toy: &Toy) -> Toy {
    let mut nodes = toy.nodes().to_vec();
    for i in 0..nodes.len() {
        let transient: Vec<bool> = nodes.iter().map(|node| node.transient).collect();
        nodes[i].edges.retain(|edge| !edge.to.is_some_and(|to| transient[i] && transient[to] && to <= i));
    }
    Toy::new(nodes, toy.hidden_words())
}

/// Gives some nodes the visible words of others, so that only hidden words tell them apart.
fn with_twins(toy: &Toy, seed: u64) -> Toy {
    let mut random = Random::new(seed);
    let mut nodes = toy.nodes().to_vec();
    for i in 0..nodes.len() {
        let twin = random.below(nodes.len());
        if random.below(4) == 0 && nodes[i].transient == nodes[twin].transient {
            nodes[i].words = nodes[twin].words.clone();
            if let Some(hidden) = nodes[i].words.last_mut() {
                *hidden = 100 + i as u32;
            }
        }
    }
    Toy::new(nodes, toy.hidden_words())
}

#[test]
fn depth_first_search_follows_its_definition_step_by_step() {
    for seed in 0..GRAPHS {
        let toy = with_twins(&without_transient_cycles(&Toy::random(seed, 12, true)), seed);
        for depth_max in [None, Some(seed % 7)] {
            let mut definition = Definition::new(&toy, depth_max.unwrap_or(u64::MAX));
            definition.arrive(0, 0);
            let limits = Limits { depth_max, ..Limits::default() };
            let settings = Settings { limits, ..keep_going() };
            let mut recorder = Recorder { toy: toy.clone(), entered: Vec::new() };
            let outcome = depth_first(&mut recorder, &mut TreeStore::new(), &mut Quiet, &settings);
            let context = format!("seed {seed}, depth {depth_max:?}");
            assert_eq!(recorder.entered, definition.entered, "{context}");
            assert!(outcome.statistics.memory_bytes > 0);
            let counted = Statistics { memory_bytes: 0, ..outcome.statistics };
            assert_eq!(counted, definition.statistics, "{context}");
            let cut = definition.statistics.cut > 0;
            let truncated = outcome.completeness == Completeness::Stopped(StopReason::Depth);
            assert_eq!(truncated, cut, "{context}");
        }
    }
}

#[test]
fn a_search_that_was_cut_short_says_so() {
    for seed in 0..GRAPHS / 4 {
        let toy = Toy::random(seed, 14, seed % 2 == 0);
        let truth = Truth::of(&toy);
        for states_max in 0..=truth.ordinary as u64 {
            let limits = Limits { states_max: Some(states_max), ..Limits::default() };
            let all = (truth.ordinary as u64) <= states_max;
            for (name, outcome) in all_outcomes(&toy, &Settings { limits, ..keep_going() }) {
                let context = format!("seed {seed}, {name}, at most {states_max} states");
                let wanted = if all { Completeness::Exhaustive } else { Completeness::Stopped(StopReason::States) };
                assert_eq!(outcome.completeness, wanted, "{context}");
                assert!(outcome.statistics.states <= states_max, "{context}");
            }
        }
        for depth_max in 0..6 {
            let limits = Limits { depth_max: Some(depth_max), ..Limits::default() };
            for (name, outcome) in all_outcomes(&toy, &Settings { limits, ..keep_going() }) {
                let context = format!("seed {seed}, {name}, depth {depth_max}");
                assert!(outcome.statistics.depth <= depth_max, "{context}");
                if outcome.completeness == Completeness::Exhaustive {
                    assert_eq!(outcome.statistics.states as usize, truth.ordinary, "{context}");
                    assert_eq!(outcome.violations.len(), truth.wrongs.len(), "{context}");
                }
            }
        }
    }
}

/// Counts upwards for ever, through transient states if so told.
struct Counter {
    transient: bool,
}

impl Model for Counter {
    type Label = ();
    type Fault = ();
    type Cursor = bool;

    fn hidden_words(&self) -> usize {
        0
    }

    fn initial(&mut self, state: &mut Vec<u32>) -> Result<(), ()> {
        *state = vec![0, 0];
        Ok(())
    }

    fn begin(&mut self, _: &[u32]) -> bool {
        true
    }

    fn next(&mut self, state: &[u32], more: &mut bool, successor: &mut Vec<u32>) -> Next<(), ()> {
        if !std::mem::take(more) {
            return Next::Done(fabius_search::Ending::Moves);
        }
        *successor = vec![state[0].wrapping_add(1), state[1].wrapping_add(u32::from(state[0] == u32::MAX))];
        Next::Successor { label: Some(()), transient: self.transient, fault: None, marks: Marks::NONE }
    }
}

#[test]
fn an_endless_search_can_be_stopped() {
    for transient in [false, true] {
        let memory = Settings {
            limits: Limits { memory_bytes_max: Some(10 << 20), ..Limits::default() },
            ..Settings::default()
        };
        let cancelled = Settings { cancel: Cancel::new(), ..Settings::default() };
        cancelled.cancel.cancel();
        let late = Settings { cancel: Cancel::new(), ..Settings::default() };
        late.cancel.time_out();
        let cases = [(memory, StopReason::Memory), (cancelled, StopReason::Cancelled), (late, StopReason::Timeout)];
        for (settings, reason) in cases {
            let mut model = Counter { transient };
            let outcomes = [
                depth_first(&mut model, &mut TreeStore::new(), &mut Quiet, &settings),
                breadth_first(&mut model, &mut TreeStore::new(), &mut Quiet, &settings),
                depth_first(&mut model, &mut FingerprintStore::default(), &mut Quiet, &settings),
            ];
            for outcome in outcomes {
                assert_eq!(outcome.completeness, Completeness::Stopped(reason));
                assert!(!outcome.proves_absence());
                assert!(outcome.statistics.memory_bytes < 12 << 20, "{}", outcome.statistics.memory_bytes);
            }
        }
    }
}

/// Raises the flag when told of progress, and counts how often it is told.
struct Impatient {
    looks_left: u32,
    reason: StopReason,
}

impl fabius_search::Observer<(), ()> for Impatient {
    fn progress(&mut self, _: &Statistics) -> std::ops::ControlFlow<StopReason> {
        match self.looks_left.checked_sub(1) {
            Some(left) => {
                self.looks_left = left;
                std::ops::ControlFlow::Continue(())
            }
            None => std::ops::ControlFlow::Break(self.reason),
        }
    }
}

#[test]
fn an_observer_is_told_every_few_thousand_steps_and_may_stop_the_search() {
    for transient in [false, true] {
        let settings = Settings::default();
        let mut observer = Impatient { looks_left: 9, reason: StopReason::Cancelled };
        let mut model = Counter { transient };
        let outcome = depth_first(&mut model, &mut TreeStore::new(), &mut observer, &settings);
        assert_eq!(outcome.completeness, Completeness::Stopped(StopReason::Cancelled));
        let steps = outcome.statistics.transitions() + outcome.statistics.transient;
        assert!((4_000..40_000).contains(&steps), "{steps}");
    }
}

/// An atomic sequence that loops, alone or with very many ways round, does not keep a search.
#[test]
fn loops_of_transient_states_come_to_an_end() {
    let transient = |index: u32, to: &[usize]| Node {
        words: vec![index],
        transient: true,
        edges: to
            .iter()
            .map(|&to| Edge { to: Some(to), label: Some(index * 10 + to as u32), ..Edge::default() })
            .collect(),
        ..Node::default()
    };
    let ordinary = |index: u32, to: &[usize]| Node { transient: false, ..transient(index, to) };
    let ring = |length: u32| {
        let around = (1..length).map(|i| transient(i, &[1 + (i % (length - 1)) as usize]));
        std::iter::once(ordinary(0, &[1])).chain(around).collect::<Vec<_>>()
    };
    let complete: Vec<Node> = std::iter::once(ordinary(0, &[1]))
        .chain((1..9).map(|i| transient(i, &[1, 2, 3, 4, 5, 6, 7, 8, 9])))
        .chain([Node { words: vec![9], ..Node::default() }])
        .collect();
    for (nodes, ordinary) in
        [(ring(2), 1), (ring(3), 1), (ring(100), 1), (ring(300), 1), (ring(2000), 1), (complete, 2)]
    {
        let toy = Toy::new(nodes, 0);
        for (name, outcome) in all_outcomes(&toy, &keep_going()) {
            assert_eq!(outcome.completeness, Completeness::Exhaustive, "{name}");
            assert_eq!(outcome.statistics.states, ordinary, "{name}");
            assert_eq!(outcome.violations.len(), ordinary as usize - 1, "{name}");
        }
    }
}

/// A fault in the initial state is a violation with an empty path.
#[test]
fn a_faulty_initial_state_is_reported() {
    for (name, outcome) in all_outcomes(&Toy::new(vec![], 0), &Settings::default()) {
        assert_eq!(outcome.completeness, Completeness::FirstViolation, "{name}");
        assert_eq!(outcome.violations[0].kind, ViolationKind::Fault(0), "{name}");
        assert!(outcome.violations[0].path.is_empty(), "{name}");
        assert_eq!(outcome.statistics.states, 0, "{name}");
    }
}
