//! The shortest runs with a cycle.

use super::*;

/// How many steps an edge is.
fn steps_of(edge: &Edge) -> u64 {
    u64::from(edge.label.is_some() && edge.movers.iter().any(Option::is_some))
}

/// How many steps labels are.
pub(super) fn length(toy: &Toy, labels: &[u32]) -> u64 {
    labels.iter().filter(|label| toy.movers(label).iter().any(Option::is_some)).count() as u64
}

/// The fewest steps of a run that counts, to a fault or before a cycle and in it.
fn fewest_steps(toy: &Toy, goal: Goal, fairness: Fairness) -> Option<u64> {
    let (to_a_fault, with_a_cycle) = fewest_of_each(toy, goal, fairness);
    [to_a_fault, with_a_cycle].into_iter().flatten().min()
}

/// The fewest steps of a run that counts, before its cycle and in it.
pub(super) fn fewest_lasso_steps(toy: &Toy, goal: Goal, fairness: Fairness) -> Option<u64> {
    fewest_of_each(toy, goal, fairness).1
}

/// The fewest steps to a fault, and before a cycle that counts and in it: every way is lengthened while that helps.
fn fewest_of_each(toy: &Toy, goal: Goal, fairness: Fairness) -> (Option<u64>, Option<u64>) {
    let take = |best: &mut Option<u64>, steps: u64| *best = Some(best.map_or(steps, |best| best.min(steps)));
    let (mut to_a_fault, mut with_a_cycle) = (None, None);
    let mut distances = HashMap::from([(0, 0)]);
    let mut open = vec![0];
    while let Some(node) = open.pop() {
        for edge in &toy.nodes()[node].edges {
            let (steps, Some(to)) = (distances[&node] + steps_of(edge), edge.to) else { continue };
            if edge.fault.is_some() {
                take(&mut to_a_fault, steps);
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
                    take(&mut with_a_cycle, distance + steps);
                }
                if known.get(&place).is_none_or(|&known| steps < known) {
                    known.insert(place, steps);
                    open.push(place);
                }
            }
        }
    }
    (to_a_fault, with_a_cycle)
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
                    CycleQuestion { goal, fairness },
                    resting,
                    ShortestBounds { steps: bound, work_max: u64::MAX },
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
    let question = CycleQuestion { goal: Goal::AcceptanceCycle, fairness: Fairness::None };
    let within = |states_max| {
        let limits = Limits { states_max: Some(states_max), ..Limits::default() };
        shortest(
            &mut toy.clone(),
            &mut Quiet,
            &Settings { limits, ..Settings::default() },
            question,
            &ProcessSet::EMPTY,
            ShortestBounds { steps: 30, work_max: u64::MAX },
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
                let question = CycleQuestion { goal, fairness };
                shortest(
                    &mut toy.clone(),
                    &mut Quiet,
                    &Settings::default(),
                    question,
                    &ProcessSet::EMPTY,
                    ShortestBounds { steps: FAR, work_max },
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
