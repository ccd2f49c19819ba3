//! Limits, and searches that list only some of the edges.

use super::corners::{A, N, graph};
use super::*;

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
                let question = CycleQuestion { goal: Goal::AcceptanceCycle, fairness: Fairness::None };
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
