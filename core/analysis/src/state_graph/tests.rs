//! The graph against the searches, which find states with another interpreter, and against what it is by definition.

use super::{Explored, GraphLimits, Grouping, StateGraph, WalkableGraph, state_graph, visible};
use fabius_base::Cancel;
use fabius_program::Program;
use fabius_testkit::generate::{self, small};
use fabius_testkit::referee::{Options, program};
use fabius_witness::{Ending, Outcome, State, ending, moves, settled};
use std::collections::{BTreeMap, BTreeSet, HashMap};

const STATES_MAX: usize = 3_000;

fn graph(program: &Program, grouping: &Grouping, states_max: usize) -> StateGraph {
    state_graph(program, grouping, GraphLimits::states(states_max), &|_| Some(1), &Cancel::new()).expect("it begins")
}

fn model(seed: u64) -> String {
    match seed % 3 {
        0 => generate::model(seed).text(),
        1 => small::model(seed),
        _ => generate::model_with_faults(seed).text(),
    }
}

/// States, steps between them, and how many steps lead to no state.
type Graph = (Vec<State>, BTreeSet<(usize, usize)>, usize);

/// All states and steps, one state after the other: the definition.
fn by_force(program: &Program) -> Option<Graph> {
    let mut states = vec![settled(program, &State::initial(program).ok()?)];
    let mut numbers = HashMap::from([(states[0].visible(program), 0)]);
    let (mut edges, mut broken, mut at) = (BTreeSet::new(), 0, 0);
    while at < states.len() {
        if STATES_MAX < states.len() {
            return None;
        }
        for (_, outcome) in moves(program, &states[at].clone()).successors {
            let Outcome::Reaches { state, .. } = outcome else {
                broken += 1;
                continue;
            };
            let state = settled(program, &state);
            let next = states.len();
            let to = *numbers.entry(state.visible(program)).or_insert(next);
            if to == next {
                states.push(state);
            }
            edges.insert((at, to));
        }
        at += 1;
    }
    Some((states, edges, broken))
}

#[test]
fn the_graph_is_all_that_can_be_reached() {
    let (mut compared, mut with_errors) = (0, 0);
    for seed in 1..=150 {
        let Some(program) = program(&model(seed), Options::NONE) else { continue };
        let Some((states, edges, broken)) = by_force(&program) else { continue };
        let drawn = graph(&program, &Grouping::States, STATES_MAX * 2);
        assert_eq!((drawn.stopped, drawn.nodes.iter().filter(|node| node.states == 1).count()), (None, states.len()));
        assert!(drawn.nodes.iter().all(|node| node.states <= 1), "seed {seed}");
        assert_eq!(drawn.states, states.iter().filter(|state| state.holder.is_none()).count(), "seed {seed}");
        let real = drawn.edges.iter().filter(|edge| drawn.nodes[edge.to].states == 1).count();
        assert_eq!(real, edges.len(), "seed {seed}");
        let deadlocks = states.iter().filter(|state| ending(&program, state) == Ending::Invalid).count();
        let said = drawn.nodes.iter().filter(|node| node.states == 1 && node.error.is_some()).count();
        assert_eq!(said, deadlocks, "seed {seed}");
        assert_eq!(0 < drawn.nodes.iter().filter(|node| node.states == 0).count(), 0 < broken, "seed {seed}");
        run_is_shortest(&drawn, seed);
        compared += 1;
        with_errors += usize::from(drawn.nodes.iter().any(|node| node.error.is_some()));
    }
    assert!(60 < compared && 10 < with_errors, "{compared} graphs, {with_errors} with errors");
}

/// The run on the graph leads from the beginning to an error, in as few steps as there can be.
fn run_is_shortest(graph: &StateGraph, seed: u64) {
    let bad = |at: usize| graph.nodes[at].error.is_some();
    let mut distance: BTreeMap<usize, usize> = BTreeMap::from([(0, 0)]);
    let mut layer = vec![0];
    while !layer.is_empty() {
        let next = graph.edges.iter().filter(|edge| layer.contains(&edge.from)).map(|edge| (edge.from, edge.to));
        let mut new = Vec::new();
        for (from, to) in next.collect::<Vec<_>>() {
            let steps = distance[&from] + 1;
            if let std::collections::btree_map::Entry::Vacant(entry) = distance.entry(to) {
                entry.insert(steps);
                new.push(to);
            }
        }
        layer = new;
    }
    let to_bad = distance.iter().filter(|(at, _)| bad(**at)).map(|(_, steps)| *steps);
    let failing = graph.edges.iter().filter(|edge| edge.fails).map(|edge| distance[&edge.from] + 1);
    let shortest = to_bad.chain(failing).min();
    let run: Vec<&super::Edge> = graph.edges.iter().filter(|edge| edge.on_run).collect();
    assert_eq!(run.len(), shortest.unwrap_or(0), "seed {seed}");
    assert_eq!(graph.nodes[0].on_run, shortest.is_some(), "seed {seed}");
    let leaves: BTreeSet<usize> = run.iter().map(|edge| edge.from).collect();
    assert_eq!(leaves.len(), run.len(), "seed {seed}: each state is left once");
    assert!(run.iter().all(|edge| edge.from == 0 || run.iter().any(|other| other.to == edge.from)), "seed {seed}");
}

#[test]
fn a_grouped_graph_is_the_quotient() {
    let mut compared = 0;
    for seed in 1..=150 {
        let Some(program) = program(&model(seed), Options::NONE) else { continue };
        let whole = graph(&program, &Grouping::States, STATES_MAX / 4);
        if whole.stopped.is_some() {
            continue;
        }
        // Elements that never change are not in the labels of the whole graph.
        let of = |known: &str, name: &str| known == name || known.starts_with(&format!("{name}["));
        let mut names = program.globals.iter().map(|variable| variable.name.clone());
        let varies = |name: &String| {
            !name.contains('[')
                && !whole.constant.iter().any(|(known, _)| of(known, name))
                && whole.nodes[0].label.iter().any(|line| of(line.split(" = ").next().unwrap_or_default(), name))
        };
        let Some(name) = names.find(varies) else { continue };
        let grouped = graph(&program, &Grouping::Values(vec![name.clone()]), STATES_MAX * 2);
        // The class of a state, from the label of the whole graph; what leads to no state is a class of its own.
        let class = |at: usize| -> Vec<String> {
            let node = &whole.nodes[at];
            let chosen = |line: &&String| of(visible(line).split(" = ").next().unwrap_or_default(), &name);
            match node.states {
                0 => node.label.clone(),
                _ => node.label.iter().filter(chosen).cloned().collect(),
            }
        };
        let mut classes: BTreeMap<Vec<String>, usize> = BTreeMap::new();
        (0..whole.nodes.len()).for_each(|at| *classes.entry(class(at)).or_default() += whole.nodes[at].states);
        let said: BTreeMap<Vec<String>, usize> =
            grouped.nodes.iter().map(|node| (node.label.clone(), node.states)).collect();
        assert_eq!(said, classes, "seed {seed}");
        let expected: BTreeSet<(Vec<String>, Vec<String>)> =
            whole.edges.iter().map(|edge| (class(edge.from), class(edge.to))).collect();
        let label = |at: usize| grouped.nodes[at].label.clone();
        let edges: BTreeSet<_> = grouped.edges.iter().map(|edge| (label(edge.from), label(edge.to))).collect();
        assert_eq!(edges, expected, "seed {seed}");
        compared += 1;
    }
    assert!(20 < compared, "{compared}");
}

#[test]
fn what_a_limit_cuts_off_is_marked() {
    let text = "byte x; active proctype P() { do :: x++ od }";
    let program = program(text, Options::NONE).expect("a model");
    let part = graph(&program, &Grouping::States, 10);
    assert_eq!((part.states, part.stopped), (10, Some("the limit on states was reached")));
    assert_eq!(part.nodes.iter().filter(|node| node.open).count(), 1);
    let cancel = Cancel::new();
    cancel.cancel();
    let stopped =
        state_graph(&program, &Grouping::States, GraphLimits::states(10), &|_| None, &cancel).expect("it begins");
    assert_eq!((stopped.nodes.len(), stopped.stopped), (1, Some("it was interrupted")));
    let unknown = Grouping::Values(vec!["y".to_owned()]);
    let refused = state_graph(&program, &unknown, GraphLimits::states(10), &|_| None, &Cancel::new());
    assert!(refused.is_err_and(|why| why.contains("no variable is called `y` in any state; there are x")));
}

#[test]
fn a_graph_stays_within_its_memory() {
    let program = program("short x; active proctype P() { do :: x++ od }", Options::NONE).expect("a model");
    let within = |bytes| {
        let limits = GraphLimits { states_max: 10_000, memory_bytes_max: Some(bytes) };
        state_graph(&program, &Grouping::States, limits, &|_| None, &Cancel::new()).expect("it begins")
    };
    let (some, more) = (within(1 << 20), within(2 << 20));
    assert_eq!((some.stopped, more.stopped), (Some("memory ran out"), Some("memory ran out")));
    assert!(100 < some.states && some.states * 3 / 2 < more.states && more.states < 2_000, "{}", more.states);
    assert_eq!(some.nodes.iter().filter(|node| node.open).count(), 1);
}

/// What is left out of a graph is marked where it would go on, and the run to the error stays.
#[test]
fn a_part_of_what_was_explored_keeps_the_run_to_the_error() {
    let mut compared = 0;
    for seed in 1..=150 {
        let Some(program) = program(&model(seed), Options::NONE) else { continue };
        let limits = GraphLimits::states(STATES_MAX / 4);
        let mut explored = Explored::of(&program, limits, &|_| Some(1), &Cancel::new()).expect("it begins");
        let whole = explored.graph(&Grouping::States, &Cancel::new()).expect("a graph");
        explored.cut(whole.nodes.len() / 2);
        let part = explored.graph(&Grouping::States, &Cancel::new()).expect("a graph");
        assert_eq!(part.states + part.left_out, whole.states, "seed {seed}");
        let run = |graph: &StateGraph| -> Vec<Vec<String>> {
            graph.edges.iter().filter(|edge| edge.on_run).map(|edge| edge.steps.clone()).collect()
        };
        assert_eq!(run(&part).len(), run(&whole).len(), "seed {seed}");
        if part.edges.len() < whole.edges.len() {
            assert!(part.nodes.iter().any(|node| node.open), "seed {seed}");
            compared += 1;
        }
        let steps = |graph: &StateGraph| graph.edges.iter().map(|edge| edge.steps.len()).sum::<usize>();
        assert!(part.nodes.len() <= whole.nodes.len() && steps(&part) <= steps(&whole), "seed {seed}");
    }
    assert!(60 < compared, "{compared}");
}

/// The distances of all states from the first one, by going through the edges again and again.
fn distances(states: usize, edges: &BTreeSet<(usize, usize)>) -> Vec<usize> {
    let mut found = vec![usize::MAX; states];
    found[0] = 0;
    while let Some((to, distance)) = edges.iter().find_map(|(from, to)| {
        let through = found[*from].checked_add(1)?;
        (through < found[*to]).then_some((*to, through))
    }) {
        found[to] = distance;
    }
    found
}

#[test]
fn each_state_has_its_node_and_a_shortest_run_leads_there() {
    let mut compared = 0;
    for seed in 0..60 {
        let Some(program) = program(&model(seed), Options::NONE) else { continue };
        let Some((states, edges, _)) = by_force(&program).filter(|(states, ..)| states.len() < 300) else { continue };
        let graph = WalkableGraph::of(&program, STATES_MAX, &|_| Some(1), &Cancel::new()).expect("it begins");
        let nodes: Vec<usize> =
            states.iter().map(|state| graph.node_of(&program, state).expect("a node of each state")).collect();
        assert_eq!(nodes.iter().collect::<BTreeSet<_>>().len(), states.len(), "two states share a node, seed {seed}");
        let by_node: BTreeSet<(usize, usize)> = edges.iter().map(|(from, to)| (nodes[*from], nodes[*to])).collect();
        let drawn = graph.graph.edges.iter().map(|edge| (edge.from, edge.to));
        let drawn: BTreeSet<_> = drawn.filter(|(_, to)| graph.graph.nodes[*to].states == 1).collect();
        assert_eq!(drawn, by_node, "other edges, seed {seed}");
        for (state, distance) in distances(states.len(), &edges).into_iter().enumerate() {
            let path = graph.path_to(nodes[state]);
            assert_eq!((path.len(), graph.distances[nodes[state]]), (distance, distance), "seed {seed}, {state}");
            let mut here = State::initial(&program).expect("it begins");
            for wanted in path {
                let mut possible = moves(&program, &settled(&program, &here)).successors.into_iter();
                let taken = possible.find(|(step, _)| *step == wanted).expect("a step that is possible");
                here = taken.1.state().cloned().expect("a state");
            }
            assert_eq!(graph.node_of(&program, &here), Some(nodes[state]), "seed {seed}: the run leads elsewhere");
        }
        compared += 1;
    }
    assert!(20 < compared, "only {compared} models were compared");
}
