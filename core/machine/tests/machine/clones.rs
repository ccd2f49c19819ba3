//! A clone of a machine goes on from where another clone is.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use super::support;
use fabius_machine::{Machine, Step};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// Processes of three types that take the same room, created in any order.
const IN_ANY_ORDER: &str = "bit x, y; chan c = [1] of { bit };
proctype A() { x = 1 - x; c!x }
proctype B() { y = 1 - y; c?_ }
proctype C() { if :: x > y -> x = 0 :: else -> y = 0 fi }
active proctype P() { do :: _nr_pr < 4 -> if :: run A() :: run B() :: run C() fi :: break od }";

/// What comes next from a state, with its words: of one listing, each step of which another of the machines takes.
fn listed(machines: &mut [Machine], state: &[u32]) -> Vec<(Step, Vec<u32>)> {
    let count = machines.len();
    let mut cursor = machines[0].begin(state);
    let mut all = Vec::new();
    loop {
        let mut successor = Vec::new();
        let step = machines[all.len() % count].next(state, &mut cursor, &mut successor);
        all.push((step, successor));
        if matches!(step, Step::Done(_)) {
            return all;
        }
    }
}

/// All states that can be reached.
fn reachable(machine: &mut Machine) -> BTreeSet<Vec<u32>> {
    let mut first = Vec::new();
    machine.initial(&mut first).unwrap();
    let (mut found, mut open) = (BTreeSet::from([first.clone()]), vec![first]);
    while let Some(state) = open.pop() {
        for (step, successor) in listed(std::slice::from_mut(machine), &state) {
            if matches!(step, Step::Successor { .. }) && found.insert(successor.clone()) {
                open.push(successor);
            }
        }
    }
    found
}

#[test]
fn the_steps_are_the_same_whoever_lists_the_next_one() {
    let program = support::program("test.pml", IN_ANY_ORDER, Path::new("."), fabius_promela::Options::NONE).unwrap();
    let new = Machine::new(Arc::new(program)).unwrap();
    let mut alone = new.clone();
    let states = reachable(&mut alone);
    assert!(states.len() > 500, "{}", states.len());
    // Each meets the processes that there may be in another order.
    let (mut forwards, mut backwards) = (new.clone(), new);
    states.iter().for_each(|state| _ = forwards.begin(state));
    states.iter().rev().for_each(|state| _ = backwards.begin(state));
    let mut both = [forwards, backwards];
    for state in &states {
        assert_eq!(both[0].shape_number(state), both[1].shape_number(state));
        assert_eq!(listed(&mut both, state), listed(std::slice::from_mut(&mut alone), state));
    }
}

#[test]
fn threads_that_meet_new_processes_at_the_same_time_number_them_alike() {
    let program = support::program("test.pml", IN_ANY_ORDER, Path::new("."), fabius_promela::Options::NONE).unwrap();
    let new = Machine::new(Arc::new(program)).unwrap();
    let states: Vec<Vec<u32>> = reachable(&mut new.clone()).into_iter().collect();
    for round in 0..50 {
        // A machine that has met none of them yet.
        let fresh = Machine::new(new.shared_program().clone()).unwrap();
        let numbered = |mut machine: Machine, first: usize| {
            let mut numbers: Vec<Option<u32>> = vec![None; states.len()];
            for place in (first..first + states.len()).map(|i| i % states.len()) {
                numbers[place] = machine.shape_number(&states[place]);
            }
            numbers
        };
        let numbers: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|thread| (fresh.clone(), round + thread * 101))
                .map(|(machine, first)| scope.spawn(move || numbered(machine, first)))
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(numbers[0].iter().all(Option::is_some));
        assert!(numbers.iter().all(|others| *others == numbers[0]), "round {round}");
    }
}
