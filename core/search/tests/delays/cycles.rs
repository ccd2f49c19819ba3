//! Cycles, in the order of delays.

use crate::programs::{Label, Rule, Toys};
use crate::truth::expand;
use fabius_search::cycle::{Found, Goal};
use fabius_search::delay_bounded::{Deepening, Reach};
use fabius_search::iterative_map::{Ask, DeepCycles, iterative_cycles};
use fabius_search::schedule::{RandomOrder, RoundRobin, RunToCompletion, Scheduler};
use fabius_search::{Completeness, Marks, Model, Next, Quiet, Settings};
use std::collections::{BTreeMap, BTreeSet};

const PROGRAMS: u64 = 350;
const ASKS: [Ask; 3] = [Ask::Map, Ask::NestedDfs, Ask::Components];
const GOALS: [Goal; 2] = [Goal::AcceptanceCycle, Goal::Livelock];

/// A program without faults, which end a search for cycles.
fn program(seed: u64) -> Toys {
    let toys = Toys::random(seed, true);
    let rules = toys.rules.iter().map(|rule| Rule { fault: false, ..*rule }).collect();
    Toys { rules, ..toys }
}

fn search<D: Scheduler<Label>>(
    toys: &Toys,
    scheduler: &D,
    deepening: &Deepening,
    question: (Goal, Ask),
) -> DeepCycles<Label, u32> {
    iterative_cycles(&mut toys.clone(), scheduler, &mut Quiet, &Settings::default(), deepening, question)
}

type Edges = BTreeMap<Vec<u32>, BTreeSet<(Vec<u32>, bool)>>;

/// The edges that a cycle may use, and whether they make it one that is looked for.
fn edges(toys: &Toys, goal: Goal) -> Edges {
    let mut toys = toys.clone();
    let mut initial = Vec::new();
    toys.initial(&mut initial).expect("there");
    let mut edges = Edges::new();
    let mut waiting = vec![initial];
    while let Some(state) = waiting.pop() {
        if edges.contains_key(&state) {
            continue;
        }
        let ways = expand(&mut toys, &state).ways;
        let from = edges.entry(state).or_default();
        for way in ways {
            let usable = goal == Goal::AcceptanceCycle || !way.marks.has(Marks::PROGRESS);
            if usable {
                from.insert((way.target.clone(), goal == Goal::Livelock || way.marks.has(Marks::ACCEPTING)));
            }
            waiting.push(way.target);
        }
    }
    edges
}

/// By definition: is there an accepting edge whose target reaches its source?
fn has_cycle(edges: &Edges) -> bool {
    let reaches = |from: &Vec<u32>, to: &Vec<u32>| {
        let mut seen = BTreeSet::from([from.clone()]);
        let mut waiting = vec![from.clone()];
        while let Some(state) = waiting.pop() {
            if state == *to {
                return true;
            }
            waiting.extend(edges[&state].iter().map(|(next, _)| next.clone()).filter(|next| seen.insert(next.clone())));
        }
        false
    };
    edges.iter().any(|(from, next)| next.iter().any(|(to, accepting)| *accepting && reaches(to, from)))
}

/// Walks a lasso: it must be a run, its loop must close, and be one that is looked for.
fn walk(toys: &Toys, goal: Goal, stem: &[Label], cycle: &[Label]) {
    let mut model = toys.clone();
    let mut state = Vec::new();
    model.initial(&mut state).expect("there");
    let mut marks = Vec::new();
    let mut at_start = Vec::new();
    for (i, wanted) in stem.iter().chain(cycle).chain(cycle).enumerate() {
        if i == stem.len() || i == stem.len() + cycle.len() {
            at_start.push(settled(&mut model, &state, *wanted));
        }
        state = settled(&mut model, &state, *wanted);
        let (next, mark) = take(&mut model, &state, *wanted).expect("a step of the lasso");
        state = next;
        if stem.len() <= i {
            marks.push(mark);
        }
    }
    assert_eq!(at_start.len(), 2, "a loop has steps");
    assert_eq!(at_start[0], at_start[1], "the loop does not close");
    match goal {
        Goal::AcceptanceCycle => assert!(marks.iter().any(|mark| mark.has(Marks::ACCEPTING))),
        Goal::Livelock => assert!(marks.iter().all(|mark| !mark.has(Marks::PROGRESS))),
    }
}

fn take(model: &mut Toys, state: &[u32], wanted: Label) -> Option<(Vec<u32>, Marks)> {
    let mut cursor = model.begin(state);
    let mut successor = Vec::new();
    loop {
        match model.next(state, &mut cursor, &mut successor) {
            Next::Successor { label: Some(label), marks, .. } if label == wanted => return Some((successor, marks)),
            Next::Done(_) => return None,
            _ => {}
        }
    }
}

/// The state itself, or, if the step is not possible because a process holds control and cannot move, without it.
fn settled(model: &mut Toys, state: &[u32], wanted: Label) -> Vec<u32> {
    if take(model, state, wanted).is_some() {
        return state.to_vec();
    }
    let mut free = state.to_vec();
    free[0] = 0;
    free
}

#[test]
fn every_way_to_ask_agrees_with_the_definition_once_the_frontier_is_empty() {
    let (mut with, mut without, mut endless) = (0, 0, 0);
    for seed in 0..PROGRAMS {
        let toys = program(seed);
        for goal in GOALS {
            let truth = has_cycle(&edges(&toys, goal));
            let mut check = |name: &str, ask: Ask, found: DeepCycles<Label, u32>| {
                let context = format!("seed {seed}, {name}, {goal:?}, {ask:?}");
                match &found.outcome.found {
                    Some(Found::Lasso { stem, cycle }) => {
                        assert!(truth, "{context}");
                        walk(&toys, goal, stem, cycle);
                        with += 1;
                    }
                    Some(other) => panic!("{context}: {other:?}"),
                    None => {
                        assert!(!truth, "{context}");
                        let proved = found.reach == Reach::EverySchedule;
                        assert_eq!(proved, found.outcome.completeness == Completeness::Exhaustive, "{context}");
                        assert_eq!(proved, found.endless_turns == 0, "{context}");
                        endless += usize::from(!proved);
                        without += 1;
                    }
                }
            };
            for ask in ASKS {
                let all = Deepening { first: seed as u32 % 3, increment: 1 + seed as u32 % 2, last: None };
                check("round-robin", ask, search(&toys, &RoundRobin, &all, (goal, ask)));
                check("run-to-completion", ask, search(&toys, &RunToCompletion, &all, (goal, ask)));
                check("random", ask, search(&toys, &RandomOrder::new(seed), &all, (goal, ask)));
            }
        }
    }
    assert!(with > 500 && without > 500 && endless > 5, "{with} with a cycle, {without} without, {endless} unknown");
}

#[test]
fn what_is_found_within_a_bound_is_the_same_however_it_is_asked() {
    let mut late = 0;
    for seed in 0..PROGRAMS {
        let toys = program(seed);
        for goal in GOALS {
            // The same edges are there for those that keep them, so the same round finds a cycle.
            let bound_of = |ask| {
                let found = search(&toys, &RoundRobin, &Deepening::default(), (goal, ask));
                found.outcome.found.as_ref().and(found.rounds.last().map(|round| round.bound))
            };
            let found = ASKS.map(bound_of);
            assert_eq!(found[0].is_some(), found[1].is_some(), "seed {seed}, {goal:?}");
            assert_eq!(found[0].is_some(), found[2].is_some(), "seed {seed}, {goal:?}");
            late += usize::from(found[0] > Some(0));
        }
    }
    assert!(late > 10, "hardly any cycle needs delays: {late}");
}

/// The finding F3: a chain of accepting edges, discovered in order, is refined in as many rounds as it has edges.
#[test]
fn a_chain_is_refined_in_as_many_rounds_as_it_has_edges() {
    for length in [4, 16, 200] {
        let mut toys = Toys::counters(1, length);
        toys.rules.iter_mut().for_each(|rule| rule.marks = Marks::ACCEPTING);
        let found = search(&toys, &RoundRobin, &Deepening::default(), (Goal::AcceptanceCycle, Ask::Map));
        assert_eq!(found.outcome.found, None);
        assert_eq!(found.reach, Reach::EverySchedule);
        let partitions: u64 = found.rounds.iter().map(|round| round.partitions).sum();
        assert_eq!(partitions, u64::from(length), "a chain of {length}");
        let walked: u64 = found.rounds.iter().map(|round| round.refined).sum();
        assert!(walked <= u64::from(length * length), "{walked} edges walked to refine a chain of {length}");
    }
}

/// The paper's example: an accepting edge that enters the component shadows the one inside; only refining finds it.
#[test]
fn a_shadowed_cycle_is_found_by_refining() {
    let step = |from, to, accepting| Rule {
        from,
        to,
        guard: None,
        effect: None,
        atomic: false,
        meets: None,
        spawns: false,
        fault: false,
        marks: if accepting { Marks::ACCEPTING } else { Marks::NONE },
    };
    // The cycle is 2, 3, 4 with the accepting edge to 2; it is entered by an accepting edge to 3, which comes after 2.
    let rules = vec![
        step(0, 1, false),
        step(0, 2, false),
        step(1, 3, true),
        step(3, 4, false),
        step(4, 2, true),
        step(2, 3, false),
    ];
    let toys = Toys { rules, places: 5, variables: 0, start: vec![0], processes_max: 1 };
    for ask in ASKS {
        let found = search(&toys, &RoundRobin, &Deepening::default(), (Goal::AcceptanceCycle, ask));
        assert!(matches!(found.outcome.found, Some(Found::Lasso { .. })), "{ask:?}");
        if ask == Ask::Map {
            assert!(found.rounds[0].partitions > 0, "found without refining: {found:?}");
        }
    }
}

#[test]
fn a_loop_says_what_it_costs() {
    let (mut free, mut dear) = (0, 0);
    for seed in 0..PROGRAMS {
        let toys = program(seed);
        let found = search(&toys, &RoundRobin, &Deepening::default(), (Goal::Livelock, Ask::Components));
        match found.loop_delays {
            Some(0) => free += 1,
            Some(_) => dear += 1,
            None => {}
        }
    }
    assert!(free > 10 && dear > 3, "{free} loops for nothing, {dear} with delays");
}
