//! Cycles, in the order of delays.

use super::programs::{Label, Rule, Toys};
use super::truth::expand;
use fabius_base::{Limits, StopReason};
use fabius_search::checkpoint::CheckpointPolicy;
use fabius_search::cycle::{Found, Goal};
use fabius_search::delay_bounded::{Coverage, IterativeDelayBounding};
use fabius_search::iterative_map::{ALONE_MAX, Ask, CycleRounds, iterative_cycles, iterative_map_together};
use fabius_search::schedule::{Alike, RandomOrder, RoundRobin, RunToCompletion, Scheduler};
use fabius_search::{Completeness, CycleOutcome, Marks, Model, Next, Quiet, Settings};
use std::collections::{BTreeMap, BTreeSet};

const PROGRAMS: u64 = 350;
const TOGETHER: u64 = 3000;
const ASKS: [Ask; 3] = [Ask::Map, Ask::NestedDfs, Ask::Components];
const GOALS: [Goal; 2] = [Goal::AcceptanceCycle, Goal::Livelock];

/// A program without faults, which end a search for cycles.
pub fn program(seed: u64) -> Toys {
    let toys = Toys::random(seed, true);
    let rules = toys.rules.iter().map(|rule| Rule { fault: false, ..*rule }).collect();
    Toys { rules, ..toys }
}

fn search<D: Scheduler<Label>>(
    toys: &Toys,
    scheduler: &D,
    bounding: &IterativeDelayBounding,
    (goal, ask): (Goal, Ask),
) -> CycleOutcome<Label, u32> {
    iterative_cycles(
        &mut toys.clone(),
        scheduler,
        &mut Quiet,
        &Settings::default(),
        CycleRounds { goal, bounding },
        ask,
        CheckpointPolicy::none(),
    )
    .expect("there is nothing to go on from")
}

/// Maximal accepting predecessors by this many threads, from this many states on.
fn together<D: Scheduler<Label, State: Send + Sync> + Clone + Send>(
    toys: &Toys,
    scheduler: &D,
    bounding: &IterativeDelayBounding,
    goal: Goal,
    (threads, alone_max): (usize, usize),
) -> CycleOutcome<Label, u32> {
    let mut models = vec![toys.clone(); threads];
    let settings = Settings::default();
    let found = iterative_map_together(
        &mut models,
        scheduler,
        &mut Quiet,
        &settings,
        CycleRounds { goal, bounding },
        alone_max,
        CheckpointPolicy::none(),
    );
    found.expect("there is nothing to go on from").expect("there are models")
}

pub type Edges = BTreeMap<Vec<u32>, BTreeSet<(Vec<u32>, bool)>>;

/// The edges that a cycle may use, and whether they make it one that is looked for.
pub fn edges(toys: &Toys, goal: Goal) -> Edges {
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
pub fn has_cycle(edges: &Edges) -> bool {
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
pub fn walk(toys: &Toys, goal: Goal, stem: &[Label], cycle: &[Label]) {
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

/// What a search without bounds found must be what the definition says, and a lasso must be a run. Whether there is one.
pub fn assert_right(toys: &Toys, goal: Goal, truth: bool, found: &CycleOutcome<Label, u32>, context: &str) -> bool {
    match found.first() {
        Some(Found::Lasso { stem, cycle }) => walk(toys, goal, stem, cycle),
        Some(other) => panic!("{context}: {other:?}"),
        None => assert_eq!(found.coverage == Coverage::EverySchedule, found.infinite_macro_steps == 0, "{context}"),
    }
    assert_eq!(found.first().is_some(), truth, "{context}");
    truth
}

#[test]
fn every_way_to_ask_agrees_with_the_definition_once_the_frontier_is_empty() {
    let (mut with, mut without, mut infinite) = (0, 0, 0);
    for seed in 0..PROGRAMS {
        let toys = program(seed);
        for goal in GOALS {
            let truth = has_cycle(&edges(&toys, goal));
            let mut check = |name: &str, ask: Ask, found: CycleOutcome<Label, u32>| {
                let context = format!("seed {seed}, {name}, {goal:?}, {ask:?}");
                if assert_right(&toys, goal, truth, &found, &context) {
                    with += 1;
                } else {
                    let proved = found.coverage == Coverage::EverySchedule;
                    assert_eq!(proved, found.completeness == Completeness::Exhaustive, "{context}");
                    infinite += usize::from(!proved);
                    without += 1;
                }
            };
            for ask in ASKS {
                let all = IterativeDelayBounding {
                    first: seed as u32 % 3,
                    increment: 1 + seed as u32 % 2,
                    last: None,
                    choices: None,
                };
                check("round-robin", ask, search(&toys, &RoundRobin(Alike), &all, (goal, ask)));
                check("run-to-completion", ask, search(&toys, &RunToCompletion(Alike), &all, (goal, ask)));
                check("random", ask, search(&toys, &RandomOrder::new(seed), &all, (goal, ask)));
            }
        }
    }
    assert!(with > 500 && without > 500 && infinite > 5, "{with} with a cycle, {without} without, {infinite} unknown");
}

/// One, two and four threads: the verdict of the definition, a lasso that is a run, and the same states and rounds whatever
/// the number of threads.
#[test]
fn several_threads_agree_with_the_definition_and_with_each_other() {
    let (mut with, mut without) = (0, 0);
    for seed in 0..TOGETHER {
        let toys = program(seed);
        let goal = GOALS[seed as usize % 2];
        let truth = has_cycle(&edges(&toys, goal));
        let all = IterativeDelayBounding {
            first: seed as u32 % 3,
            increment: 1 + seed as u32 % 2,
            last: None,
            choices: None,
        };
        // Some join at once, some in the middle.
        let alone_max = if seed % 4 < 2 { 0 } else { 1 + seed as usize % 11 };
        let search = |threads| match seed % 3 {
            0 => together(&toys, &RoundRobin(Alike), &all, goal, (threads, alone_max)),
            1 => together(&toys, &RunToCompletion(Alike), &all, goal, (threads, alone_max)),
            _ => together(&toys, &RandomOrder::new(seed), &all, goal, (threads, alone_max)),
        };
        let alone = search(1);
        let [two, four] = [2, 4].map(search).map(|found| {
            assert_eq!(found.first().is_some(), alone.first().is_some(), "seed {seed}");
            let figures = |found: &CycleOutcome<Label, u32>| {
                let rounds: Vec<_> = found
                    .rounds
                    .iter()
                    .map(|round| (round.bound, round.states, round.work.edges, round.frontier))
                    .collect();
                (found.coverage, rounds, found.statistics.states, found.statistics.matched)
            };
            assert_eq!(figures(&found), figures(&alone), "seed {seed}");
            found
        });
        assert_eq!(two.violations, four.violations, "seed {seed}");
        match assert_right(&toys, goal, truth, &alone, &format!("seed {seed}")) {
            true => with += 1,
            false => without += 1,
        }
    }
    assert!(with > 500 && without > 500, "{with} with a cycle, {without} without");
}

/// As long as one thread works alone it finds what a single one finds, with the same states.
#[test]
fn small_systems_are_searched_as_by_one_thread() {
    let mut with = 0;
    for seed in 0..PROGRAMS {
        let toys = program(seed);
        let goal = GOALS[seed as usize % 2];
        let all = IterativeDelayBounding::default();
        let alone = search(&toys, &RoundRobin(Alike), &all, (goal, Ask::Map));
        assert_eq!(together(&toys, &RoundRobin(Alike), &all, goal, (3, ALONE_MAX)), alone, "seed {seed}");
        with += usize::from(alone.first().is_some());
    }
    assert!(with > 50, "{with} with a cycle");
}

/// Large enough that batches, steps and parts are dealt out to the threads. The counters begin again, so everything is
/// one component; the loop that is looked for is there or not.
#[test]
fn several_threads_share_large_systems() {
    for accepting in [false, true] {
        let mut toys = Toys::counters(4, 8);
        let last = toys.rules[toys.rules.len() - 1];
        let progress = if accepting { Marks::ACCEPTING } else { Marks::NONE };
        toys.rules.push(Rule { from: last.to, to: 0, marks: progress, ..last });
        for (goal, cyclic) in [(Goal::AcceptanceCycle, accepting), (Goal::Livelock, true)] {
            for threads in [1, 2, 4] {
                let found = together(&toys, &RoundRobin(Alike), &IterativeDelayBounding::default(), goal, (threads, 0));
                assert_eq!(found.first().is_some(), cyclic, "{goal:?}, {threads} threads");
                if let Some(Found::Lasso { stem, cycle }) = found.first() {
                    walk(&toys, goal, stem, cycle);
                }
                if !cyclic {
                    assert_eq!(found.statistics.states, 9_u64.pow(4));
                    assert_eq!(found.coverage, Coverage::EverySchedule);
                }
            }
        }
        // Without a way back there is no loop: everything is trimmed.
        toys.rules.pop();
        for threads in [1, 2, 4] {
            let found = together(
                &toys,
                &RunToCompletion(Alike),
                &IterativeDelayBounding::default(),
                Goal::Livelock,
                (threads, 100),
            );
            assert_eq!(found.first(), None);
            assert_eq!(found.statistics.states, 9_u64.pow(4));
        }
    }
}

#[test]
fn limits_end_a_search_by_several_threads() {
    let toys = Toys::counters(4, 8);
    let run = |settings: &Settings| {
        let mut models = vec![toys.clone(); 3];
        let all = IterativeDelayBounding::default();
        let rounds = CycleRounds { goal: Goal::Livelock, bounding: &all };
        iterative_map_together(
            &mut models,
            &RoundRobin(Alike),
            &mut Quiet,
            settings,
            rounds,
            64,
            CheckpointPolicy::none(),
        )
        .expect("there is nothing to go on from")
        .expect("there are models")
    };
    let limits = Limits { states_max: Some(500), ..Limits::default() };
    let found = run(&Settings { limits, ..Settings::default() });
    assert_eq!(found.completeness, Completeness::Stopped(StopReason::States));
    assert_eq!(found.statistics.states, 500);
    let cancelled = Settings::default();
    cancelled.cancel.cancel();
    let found = run(&cancelled);
    assert_eq!(found.completeness, Completeness::Stopped(StopReason::Cancelled));
    assert!(found.statistics.states < 2000);
}

#[test]
fn what_is_found_within_a_bound_is_the_same_however_it_is_asked() {
    let mut late = 0;
    for seed in 0..PROGRAMS {
        let toys = program(seed);
        for goal in GOALS {
            // The same edges are there for those that keep them, so the same round finds a cycle.
            let bound_of = |ask| {
                let found = search(&toys, &RoundRobin(Alike), &IterativeDelayBounding::default(), (goal, ask));
                found.first().and(found.rounds.last().map(|round| round.bound))
            };
            let found = ASKS.map(bound_of);
            assert_eq!(found[0].is_some(), found[1].is_some(), "seed {seed}, {goal:?}");
            assert_eq!(found[0].is_some(), found[2].is_some(), "seed {seed}, {goal:?}");
            late += usize::from(found[0] > Some(0));
        }
    }
    assert!(late > 10, "hardly any cycle needs delays: {late}");
}

/// The finding F3: a chain of accepting edges, discovered in order, takes 2ⁿ − 1 rounds if it is refined as in the paper. It has
/// no cycle, so here trimming takes it away before anything is refined.
#[test]
fn a_chain_is_not_refined_at_all() {
    for length in [4, 16, 200] {
        let mut toys = Toys::counters(1, length);
        toys.rules.iter_mut().for_each(|rule| rule.marks = Marks::ACCEPTING);
        let found =
            search(&toys, &RoundRobin(Alike), &IterativeDelayBounding::default(), (Goal::AcceptanceCycle, Ask::Map));
        assert_eq!(found.first(), None);
        assert_eq!(found.coverage, Coverage::EverySchedule);
        let partitions: u64 = found.rounds.iter().map(|round| round.work.partitions).sum();
        assert_eq!(partitions, 0, "a chain of {length}");
        let walked: u64 = found.rounds.iter().map(|round| round.work.refined).sum();
        assert!(walked <= 4 * u64::from(length) + 8, "{walked} edges walked to trim a chain of {length}");
    }
}

/// Loops without an accepting edge, one behind the other, with accepting edges between them: nothing can be trimmed, and
/// the number of parts is that of the loops. Discovered in order or against it, it takes at most one pass for each.
#[test]
fn a_chain_of_loops_is_refined_in_at_most_as_many_passes_as_it_has_loops() {
    let length = 60;
    for backwards in [false, true] {
        let mut toys = Toys::counters(1, length);
        toys.rules.iter_mut().for_each(|rule| rule.marks = Marks::ACCEPTING);
        let around = toys.rules.clone().into_iter().map(|rule| Rule { to: rule.from, marks: Marks::NONE, ..rule });
        toys.rules.extend(around.collect::<Vec<_>>());
        if backwards {
            // All are discovered from the start, the last one first.
            let first = toys.rules[0];
            let jumps = (1..=length).rev().map(|to| Rule { from: 0, to, marks: Marks::NONE, ..first });
            toys.rules.splice(0..0, jumps.collect::<Vec<_>>());
        }
        let found =
            search(&toys, &RoundRobin(Alike), &IterativeDelayBounding::default(), (Goal::AcceptanceCycle, Ask::Map));
        assert_eq!(found.first(), None);
        let walked: u64 = found.rounds.iter().map(|round| round.work.refined).sum();
        assert!(walked <= 16 * u64::from(length * length), "{walked} edges walked, backwards {backwards}");
        let together =
            together(&toys, &RoundRobin(Alike), &IterativeDelayBounding::default(), Goal::AcceptanceCycle, (2, 0));
        assert_eq!(together.first(), None);
        assert_eq!(together.coverage, Coverage::EverySchedule);
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
        let found = search(&toys, &RoundRobin(Alike), &IterativeDelayBounding::default(), (Goal::AcceptanceCycle, ask));
        assert!(matches!(found.first(), Some(Found::Lasso { .. })), "{ask:?}");
        if ask == Ask::Map {
            assert!(found.rounds[0].work.partitions > 0, "found without refining: {found:?}");
        }
    }
}

#[test]
fn a_loop_says_what_it_costs() {
    let (mut free, mut dear) = (0, 0);
    for seed in 0..PROGRAMS {
        let toys = program(seed);
        let found =
            search(&toys, &RoundRobin(Alike), &IterativeDelayBounding::default(), (Goal::Livelock, Ask::Components));
        match found.loop_delays {
            Some(0) => free += 1,
            Some(_) => dear += 1,
            None => {}
        }
    }
    assert!(free > 10 && dear > 3, "{free} loops for nothing, {dear} with delays");
}
