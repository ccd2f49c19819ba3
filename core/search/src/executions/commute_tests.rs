//! Random programs: what is told of each two steps is what the definition says, state by state; and executions are counted
//! exactly with the independence that was learnt.

use super::tests::check;
use super::toy::{Event, Toy};
use super::{Agreement, EventGraph, explore, explore_events};
use crate::model::{Model, Next};
use crate::store::TreeStore;
use fabius_base::{Cancel, Limits};
use std::collections::{HashMap, HashSet, VecDeque};
use std::rc::Rc;

const STATES_MAX: u64 = 400;

/// A step, the state after it unless it cannot be computed, and whether it fails.
type Listed = (Event, Option<Vec<u32>>, bool);

fn listed(toy: &Toy, state: &[u32]) -> Vec<Listed> {
    let (mut toy, mut found, mut next) = (toy.clone(), Vec::new(), Vec::new());
    let mut cursor = toy.begin(state);
    loop {
        match toy.next(state, &mut cursor, &mut next) {
            Next::Done(_) => return found,
            Next::Broken { label, .. } => found.push((label, None, true)),
            Next::Successor { label, fault, .. } => {
                found.push((label.expect("every step has one"), Some(next.clone()), fault.is_some()));
            }
        }
    }
}

/// What happens with `a`, then with `b`: whether each fails, and the state. `Err` if one of them cannot be computed.
fn both(toy: &Toy, state: &[u32], a: Event, b: Event) -> Result<Option<(bool, bool, Vec<u32>)>, ()> {
    let take = |state: &[u32], event: Event| listed(toy, state).into_iter().find(|(other, ..)| *other == event);
    let Some((_, after, fails)) = take(state, a) else { return Ok(None) };
    let after = after.ok_or(())?;
    let Some((_, end, fails_too)) = take(&after, b) else { return Ok(None) };
    Ok(Some((fails, fails_too, end.ok_or(())?)))
}

fn agreement(toy: &Toy, state: &[u32], a: Event, b: Event) -> Agreement {
    match (both(toy, state, a, b), both(toy, state, b, a)) {
        (Err(()), _) | (_, Err(())) => Agreement::End,
        (Ok(None), _) | (_, Ok(None)) => Agreement::Disable,
        (Ok(Some((a, b, end))), Ok(Some((b_too, a_too, other)))) if (a, b, &end) == (a_too, b_too, &other) => {
            Agreement::Commute
        }
        _ => Agreement::Differ,
    }
}

/// What is told of each two steps of each state.
type Told = HashMap<(Vec<u32>, Event, Event), (Agreement, bool)>;

fn by_definition(toy: &Toy) -> (Told, HashMap<Vec<u32>, usize>) {
    let initial = toy.initial_state();
    let (mut told, mut depths) = (Told::new(), HashMap::from([(initial.clone(), 0)]));
    let mut open = VecDeque::from([initial]);
    while let Some(state) = open.pop_front() {
        let (events, last_resort) = toy.events(&state);
        for (at, a) in events.iter().enumerate() {
            for b in &events[at + 1..] {
                let apart = |p: &Option<u8>| p.is_none() || !Toy::movers(b).contains(p);
                if Toy::movers(a).iter().all(apart) {
                    let (first, second) = (*a.min(b), *a.max(b));
                    let found = agreement(toy, &state, first, second);
                    told.insert((state.clone(), first, second), (found, last_resort));
                }
            }
        }
        for next in listed(toy, &state).into_iter().filter_map(|(_, next, _)| next) {
            if !depths.contains_key(&next) {
                depths.insert(next.clone(), depths[&state] + 1);
                open.push_back(next);
            }
        }
    }
    (told, depths)
}

/// `None` if there are many states: variables may grow in loops.
fn graph_of(toy: &Toy) -> Option<EventGraph<Event>> {
    let limits = Limits { states_max: Some(STATES_MAX), ..Limits::default() };
    explore_events(&mut toy.clone(), limits, &Cancel::new()).ok()
}

/// The pairs that commute wherever both are possible, in either order.
fn commuting(graph: &EventGraph<Event>) -> HashSet<(Event, Event)> {
    let (mut all, mut conflicts) = (HashSet::new(), HashSet::new());
    let judged = graph.meetings(&Toy::movers, &Cancel::new(), &mut |meeting| {
        let [a, b] = meeting.steps;
        if !meeting.last_resort {
            all.extend([(a, b), (b, a)]);
            if meeting.agreement != Agreement::Commute {
                conflicts.extend([(a, b), (b, a)]);
            }
        }
    });
    assert_eq!(judged, Ok(()));
    &all - &conflicts
}

#[test]
fn each_two_steps_of_each_state_are_judged_by_the_definition() {
    let mut counts = HashMap::new();
    for seed in 0..250 {
        let toy = Toy::random(seed, seed % 2 == 1);
        let Some(graph) = graph_of(&toy) else { continue };
        let (expected, depths) = by_definition(&toy);
        let (mut told, mut state) = (Told::new(), Vec::new());
        assert_eq!(graph.len(), depths.len(), "seed {seed}");
        let judged = graph.meetings(&Toy::movers, &Cancel::new(), &mut |meeting| {
            graph.recall(meeting.state, &mut state);
            let [a, b] = meeting.steps;
            told.insert((state.clone(), a.min(b), a.max(b)), (meeting.agreement, meeting.last_resort));
            *counts.entry(format!("{:?}", meeting.agreement)).or_insert(0) += 1;
        });
        assert_eq!(judged, Ok(()), "seed {seed}");
        assert_eq!(told, expected, "seed {seed}");
        for number in 0..graph.len() as u32 {
            graph.recall(number, &mut state);
            let path = graph.path_to(number);
            let reached = path.iter().fold(toy.initial_state(), |at, event| toy.after(&at, *event).expect("a step"));
            assert_eq!((reached, path.len()), (state.clone(), depths[&state]), "seed {seed}: a shortest path");
        }
    }
    assert!(counts.len() == 4 && counts.values().all(|count| *count > 20), "{counts:?}");
}

#[test]
fn executions_are_counted_exactly_with_the_independence_that_was_learnt() {
    let (mut programs, mut coarser) = (0, 0);
    for seed in 0..400 {
        let mut toy = Toy::random(seed, seed % 4 == 3);
        let Some(graph) = graph_of(&toy) else { continue };
        toy.commuting = Some(Rc::new(commuting(&graph)));
        let bounds = if seed % 4 == 3 { (None, Some(1)) } else { (None, None) };
        let Some((_, classes)) = check(&toy, seed, bounds) else { continue };
        programs += 1;
        toy.commuting = None;
        let settings = super::Settings { laps_max: bounds.1, ..super::Settings::default() };
        let by_text = explore(&mut toy, TreeStore::default(), &settings).graph.numbers().all;
        coarser += usize::from((classes as u128) < by_text);
    }
    assert!(programs > 200 && coarser > 50, "{programs} programs, {coarser} with fewer executions");
}

#[test]
fn a_limit_leaves_nothing_told() {
    let toy = Toy::random(3, false);
    let limits = Limits { states_max: Some(0), ..Limits::default() };
    assert!(explore_events(&mut toy.clone(), limits, &Cancel::new()).is_err());
}
