//! Searches in which processes sleep, against those in which nobody does: the same states, and the same violations.

use crate::{for_all, load, seeds, text};
use fabius_model::SearchedMachine;
use fabius_model::reduction::Basis;
use fabius_program::meaning::Fault;
use fabius_program::{Move, Program, Watch};
use fabius_search::{Completeness, Model, Next, Quiet, Violation, ViolationKind, parallel};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Larger models are not compared.
const STATES_MAX: u64 = 20_000;

/// What a search came to.
#[derive(PartialEq, Eq, Debug)]
struct Found {
    states: BTreeSet<Vec<u32>>,
    /// What is wrong, with the step at which it is, or the end in which.
    violations: BTreeSet<(String, Vec<u32>)>,
    edges: Vec<u8>,
}

/// The visible words of the state after a path; `None` if the machine cannot take it. A step that is broken stays where it is.
fn walk(machine: &mut SearchedMachine, path: &[Move]) -> Option<Vec<u32>> {
    let (mut state, mut successor) = (Vec::new(), Vec::new());
    machine.initial(&mut state).ok()?;
    let mut rest = path.iter();
    let mut wanted = rest.next();
    'steps: while let Some(step) = wanted {
        let mut cursor = machine.begin(&state);
        loop {
            match machine.next(&state, &mut cursor, &mut successor) {
                Next::Successor { label: None, .. } => break,
                Next::Successor { label: Some(label), .. } if label == *step => {
                    wanted = rest.next();
                    break;
                }
                Next::Broken { label, .. } if label == *step && rest.len() == 0 => break 'steps,
                Next::Done(_) => return None,
                Next::Successor { .. } | Next::Broken { .. } => {}
            }
        }
        std::mem::swap(&mut state, &mut successor);
    }
    // Whoever holds control and cannot go on loses it without a step.
    let mut cursor = machine.begin(&state);
    let loses_control =
        matches!(machine.next(&state, &mut cursor, &mut successor), Next::Successor { label: None, .. });
    let mut end = if loses_control { successor } else { state };
    end.truncate(end.len() - machine.hidden_words());
    Some(end)
}

fn what(machine: &mut SearchedMachine, violation: &Violation<Move, Fault>) -> Result<(String, Vec<u32>), String> {
    let state = walk(machine, &violation.path).ok_or_else(|| format!("nobody can walk {violation:?}"))?;
    Ok(match &violation.kind {
        ViolationKind::InvalidEnd => ("end".to_owned(), state),
        ViolationKind::Fault(fault) => (format!("{fault:?} {:?}", violation.path.last()), Vec::new()),
    })
}

/// Searches a program with some threads; what it found, and how many transitions it took. `None` if there are too many states.
fn search(
    program: &Arc<Program>,
    basis: Option<&Basis>,
    (threads, alone): (usize, u64),
) -> Result<Option<(Found, u64)>, String> {
    let Ok(mut machine) = SearchedMachine::new(Arc::clone(program), Watch::NOTHING) else { return Ok(None) };
    let mut settings = for_all();
    settings.limits.states_max = Some(STATES_MAX);
    machine.let_sleep(basis);
    let mut reached = parallel::reach(&mut machine, (threads, alone), &mut Quiet, &settings, 1);
    reached.models.iter().for_each(|clone| machine.learn(clone));
    if reached.outcome.completeness != Completeness::Exhaustive {
        return Ok(None);
    }
    let visited = reached.visited.as_set();
    let words = |drawn| {
        let mut words = Vec::new();
        visited.words_of(drawn, &mut words);
        words
    };
    let states = visited.draw(u64::MAX, 0).into_iter().map(words).collect();
    let violations: Result<_, _> = reached.outcome.violations.iter().map(|one| what(&mut machine, one)).collect();
    let found = Found { states, violations: violations?, edges: machine.reached_edges().to_vec() };
    Ok(Some((found, reached.outcome.statistics.transitions())))
}

/// Compares both for some models. How many were compared, and the transitions taken with and without sleep.
fn compare_all(models: impl Iterator<Item = (u64, String)>) -> (u64, u64, u64) {
    let (mut compared, mut taken, mut all) = (0, 0, 0);
    for (seed, text) in models {
        let Some(program) = load(&text, seed) else { continue };
        let basis = Basis::of(&program);
        // Where hidden variables are read, what is found depends on the order.
        if basis.facts_for_sleep(&program).is_none() {
            continue;
        }
        let fail = |why: String| -> ! { panic!("seed {seed}: {why}\n{text}") };
        let Some((whole, transitions)) = search(&program, None, (1, 0)).unwrap_or_else(|why| fail(why)) else {
            continue;
        };
        for (threads, alone) in [(1, 0), (1, 20), (2, 0), (2, 20)] {
            let found = search(&program, Some(&basis), (threads, alone)).unwrap_or_else(|why| fail(why));
            let Some((found, with_sleep)) = found else { fail("it has more states".to_owned()) };
            if found != whole {
                let missing: Vec<_> = whole.states.difference(&found.states).collect();
                let (wrong, right) = (&found.violations, &whole.violations);
                let edges: Vec<_> = (0..whole.edges.len()).filter(|&at| whole.edges[at] != found.edges[at]).collect();
                fail(format!(
                    "{threads} threads after {alone} transitions: {missing:?} is missing\n{wrong:?}\ninstead of\n{right:?}\n{edges:?}"
                ));
            }
            (taken, all) = (taken + with_sleep, all + transitions);
        }
        compared += 1;
    }
    (compared, taken, all)
}

#[test]
fn sleep_leaves_out_no_state_and_no_violation() {
    let (compared, taken, all) = compare_all(seeds(3_000).map(|seed| (seed, text(seed))));
    println!("sleep: {compared} compared, {taken} of {all} transitions");
    assert!(2_000 < compared && taken < all, "{compared}, {taken} of {all}");
}

/// Processes that have nothing to do with each other: each state but the first one is reached once.
#[test]
fn independent_processes_close_no_diamond() {
    let process = |name: char| {
        format!(
            "byte {name};\nactive proctype P{name}() {{ do :: {name} < 4 -> {name}++ :: {name} == 4 -> {name} = 0 od }}\n"
        )
    };
    let program = load(&('a'..='d').map(process).collect::<String>(), 1).expect("a model");
    let basis = Basis::of(&program);
    let (found, taken) = search(&program, Some(&basis), (1, 0)).expect("it can be walked").expect("it is small");
    assert!(taken < 2 * found.states.len() as u64, "{taken} transitions to {} states", found.states.len());
}
