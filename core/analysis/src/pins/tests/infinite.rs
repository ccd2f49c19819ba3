//! Pins of infinite runs of random models. The oracle is the definition: the states of a run, as the reference interpreter lists them, and what a
//! property says of them.

use super::*;
use crate::pins::{PinnedStep, Violated};
use fabius_program::{Formula, Location, PropertyKind};
use fabius_witness::{step as take, value_of};
use std::collections::HashMap;

/// A random model with a formula or a claim, and the name of a property of infinite runs.
fn model(seed: u64) -> (String, &'static str) {
    let text = small::model(seed);
    match seed % 4 {
        // Where one type of process makes progress and another one goes round, there are livelocks.
        0 => (text.replacen("on_", "progress_", 1).replacen("accept_", "progress_", 1), "progress"),
        1 => (text, "acceptance"),
        2 => (format!("{text}{}", small::claim(seed)), "p"),
        _ => (format!("{text}ltl p {{ {} }}\n", small::formula(seed)), "p"),
    }
}

/// The values of a formula at each position of a word that goes back to `back` from its last position: by the rules of satisfaction, each
/// operator as the fixed point that defines it.
fn values(formula: &Formula, at: &dyn Fn(&fabius_program::Expr) -> Vec<bool>, back: usize) -> Vec<bool> {
    let (a, b) = formula.operands();
    let (a, b) = (a.map(|a| values(a, at, back)), b.map(|b| values(b, at, back)));
    let fixed = |first: bool, rule: &dyn Fn(usize, bool) -> bool, length: usize| {
        let mut now = vec![first; length];
        for _ in 0..=length {
            now = (0..length).map(|i| rule(i, if i + 1 < length { now[i + 1] } else { now[back] })).collect();
        }
        now
    };
    match (formula, a, b) {
        (Formula::Proposition(expr), ..) => at(expr),
        (Formula::Not(_), Some(a), _) => a.iter().map(|a| !a).collect(),
        (Formula::Next(_), Some(a), _) => {
            (0..a.len()).map(|i| if i + 1 < a.len() { a[i + 1] } else { a[back] }).collect()
        }
        (Formula::Always(_), Some(a), _) => fixed(true, &|i, next| a[i] && next, a.len()),
        (Formula::Eventually(_), Some(a), _) => fixed(false, &|i, next| a[i] || next, a.len()),
        (Formula::And(..), Some(a), Some(b)) => (0..a.len()).map(|i| a[i] && b[i]).collect(),
        (Formula::Or(..), Some(a), Some(b)) => (0..a.len()).map(|i| a[i] || b[i]).collect(),
        (Formula::Implies(..), Some(a), Some(b)) => (0..a.len()).map(|i| !a[i] || b[i]).collect(),
        (Formula::Equivalent(..), Some(a), Some(b)) => (0..a.len()).map(|i| a[i] == b[i]).collect(),
        (Formula::Until(..), Some(a), Some(b)) => fixed(false, &|i, next| b[i] || (a[i] && next), a.len()),
        (Formula::WeakUntil(..), Some(a), Some(b)) => fixed(true, &|i, next| b[i] || (a[i] && next), a.len()),
        (Formula::Release(..), Some(a), Some(b)) => fixed(true, &|i, next| b[i] && (a[i] || next), a.len()),
        _ => panic!("a formula without operands"),
    }
}

/// Whether the run that a pin is in a program violates the property, by definition. `None` for a `never` claim, whose definition is its automaton.
fn violates(program: &Program, pin: &Pin) -> Option<bool> {
    let lasso = pin.lasso(program).ok()?;
    let mut states = vec![State::initial(program).expect("an initial state")];
    for step in &lasso.path {
        let taken = take(program, &states[states.len() - 1], *step).expect("a step that is possible");
        states.push(taken.outcome.state().expect("a state").clone());
    }
    let states: Vec<State> = states.iter().map(|state| settled(program, state)).collect();
    let (last, is_finite) = (&states[states.len() - 1], lasso.start == lasso.path.len());
    assert!(is_finite || last.visible(program) == states[lasso.start].visible(program), "the loop is none");
    let is_at = |state: &State, kind: fn(&Location) -> bool| {
        let mut processes = state.processes.iter();
        processes.any(|process| kind(&program.process(process.process).locations[process.location.0 as usize]))
    };
    // States inside of an atomic sequence are passed through.
    let mut stable = states.iter().enumerate().filter(|(_, state)| state.holder.is_none());
    let stops = matches!(ending(program, last), Ending::Valid | Ending::Invalid);
    match pin.violates.as_ref()? {
        Violated::NoProgress => Some(!stable.any(|(i, state)| lasso.start < i && is_at(state, |l| l.progress))),
        Violated::AcceptanceCycle if is_finite => Some(stops && is_at(last, |l| l.accept)),
        Violated::AcceptanceCycle => Some(stable.any(|(i, state)| lasso.start < i && is_at(state, |l| l.accept))),
        Violated::Property(name) => {
            let property = program.properties.iter().find(|property| property.name == *name)?;
            let PropertyKind::Ltl(formula) = &property.kind else { return None };
            // The state after the loop is that before it, and of a finite run the last one stays.
            let seen: Vec<(usize, &State)> = stable.filter(|(i, _)| is_finite || *i < lasso.path.len()).collect();
            let back = seen.iter().position(|(i, _)| lasso.start <= *i)?;
            let at = |expr: &fabius_program::Expr| -> Vec<bool> {
                seen.iter().map(|(_, state)| value_of(program, state, expr).is_ok_and(|value| value != 0)).collect()
            };
            let violated = !values(formula, &at, back)[0];
            // A run that could go on is none, but what violates the formula whatever follows also does if nothing follows.
            (!is_finite || stops || !violated).then_some(violated)
        }
    }
}

/// Whether the words of the steps can be executed for ever, those of the loop again and again, or to their end if there is no loop; every way is tried. `None` if there are too many states.
fn goes_on_by_force(pin: &Pin, program: &Program) -> Option<bool> {
    let initial = settled(program, &State::initial(program).ok()?);
    let start = pin.loop_start.unwrap_or(pin.steps.len());
    let mut nodes = vec![(0, initial.clone())];
    let mut numbers = HashMap::from([((0, initial.visible(program)), 0)]);
    let mut edges: Vec<Vec<usize>> = Vec::new();
    while let Some((at, state)) = nodes.get(edges.len()).cloned() {
        let mut next = Vec::new();
        for reached in steps_by_words(pin.steps.get(at), program, &state) {
            let to = if at + 1 == pin.steps.len() { start } else { at + 1 };
            let fresh = nodes.len();
            let number = *numbers.entry((to, reached.visible(program))).or_insert(fresh);
            if number == fresh {
                nodes.push((to, reached));
            }
            next.push(number);
        }
        edges.push(next);
        if 20_000 < nodes.len() {
            return None;
        }
    }
    // What leads nowhere is taken away until nothing changes.
    let mut lives = vec![true; nodes.len()];
    let is_end = |i: usize| nodes[i].0 == pin.steps.len();
    loop {
        let goes_on = |i: usize| is_end(i) || edges[i].iter().any(|&to| lives[to]);
        let dead: Vec<usize> = (0..nodes.len()).filter(|&i| lives[i] && !goes_on(i)).collect();
        if dead.is_empty() {
            return Some(lives[0]);
        }
        dead.into_iter().for_each(|i| lives[i] = false);
    }
}

/// The states to which the words of a step lead.
fn steps_by_words(step: Option<&PinnedStep>, program: &Program, state: &State) -> Vec<State> {
    let of = |edge| {
        let process = program.process_of(edge);
        (program.process(process).name.clone(), program.statement(process, edge).text.clone())
    };
    let same = |pid, edge, wanted: (u8, &super::super::Identity)| {
        pid == wanted.0 && of(edge) == (wanted.1.0.clone(), wanted.1.1.clone())
    };
    let mut reached = Vec::new();
    for (taken, outcome) in moves(program, state).successors {
        let Some(step) = step.filter(|step| same(taken.pid, taken.edge, (step.pid, &step.statement))) else { continue };
        let partners = match (taken.partner, &step.partner) {
            (None, None) => true,
            (Some((pid, edge)), Some((wanted, identity))) => same(pid, edge, (*wanted, identity)),
            _ => false,
        };
        reached.extend(outcome.state().filter(|_| partners).map(|state| settled(program, state)));
    }
    reached
}

#[test]
fn a_pinned_infinite_run_is_possible_in_its_own_model_and_where_lines_have_moved() {
    let mut pinned_by_kind = [0; 4];
    for seed in 1..=800 {
        let (text, property) = model(seed);
        let Some((_, pin)) = pinned(&text, property) else { continue };
        assert!(pin.violates.is_some(), "seed {seed}");
        for edited in [text.clone(), format!("/* one\n two */\n\n{text}\nbyte not_there_before;\n")] {
            let program = target(&edited).expect("a model that can be checked");
            let (found, why) = pin.follow(&program);
            assert_eq!(found, Possibility::Possible, "seed {seed}: {why}\n{edited}");
            assert_ne!(violates(&program, &pin), Some(false), "seed {seed}\n{edited}");
        }
        pinned_by_kind[(seed % 4) as usize] += 1;
    }
    assert!(pinned_by_kind.iter().all(|pinned| 5 < *pinned), "{pinned_by_kind:?} pins");
}

#[test]
fn a_statement_of_the_loop_that_cannot_be_executed_any_more_makes_the_run_impossible() {
    let mut impossible = 0;
    for seed in 1..=800 {
        let (text, property) = model(seed);
        let Some((example, pin)) = pinned(&text, property) else { continue };
        let Some(start) = example.trace.cycle_start else { continue };
        let in_loop = |step: &fabius_witness::Step| step.claim.is_none() && start <= step.number;
        let Some(step) = example.trace.steps.iter().find(in_loop) else { continue };
        let (before, behind) = text.split_at(step.actor.span.start as usize);
        let edited = format!("{before}(1 == 0); {behind}");
        let Some(program) = target(&edited) else { continue };
        let (found, why) = pin.follow(&program);
        assert_eq!(found, Possibility::Impossible, "seed {seed}: {why}\n{edited}");
        impossible += 1;
    }
    assert!(20 < impossible, "{impossible} runs");
}

#[test]
fn where_numbers_are_edited_what_is_said_of_an_infinite_run_is_so() {
    let (mut possible, mut blocked, mut harmless, mut unknown) = (0, 0, 0, 0);
    for seed in 1..=800 {
        let (text, property) = model(seed);
        let Some((_, pin)) = pinned(&text, property) else { continue };
        for (old, new) in [
            ("byte x, y", "byte x = 1, y"),
            ("byte x, y", "byte x, y = 1"),
            ("bit b;", "bit b = 1;"),
            ("= [1]", "= [2]"),
            ("<>", "[]"),
            ("[](", "<>("),
            ("progress_", "on_"),
            ("accept_", "on_"),
            ("on_", "progress_"),
        ] {
            let edited = text.replacen(old, new, 1);
            let Some(program) = target(&edited).filter(|_| edited != text) else { continue };
            let (found, why) = pin.follow(&program);
            match (found, pin.lasso(&program).is_ok()) {
                (Possibility::Possible, _) => {
                    possible += 1;
                    assert_ne!(violates(&program, &pin), Some(false), "seed {seed}: {why}\n{edited}");
                    assert_ne!(goes_on_by_force(&pin, &program), Some(false), "seed {seed}: {why}\n{edited}");
                }
                (Possibility::Impossible, true) => {
                    harmless += 1;
                    assert_ne!(violates(&program, &pin), Some(true), "seed {seed}: {why}\n{edited}");
                }
                (Possibility::Impossible, false) => {
                    blocked += 1;
                    assert_ne!(goes_on_by_force(&pin, &program), Some(true), "seed {seed}: {why}\n{edited}");
                }
                (Possibility::Unknown, _) => unknown += 1,
            }
        }
    }
    assert!(
        [possible, blocked, harmless].iter().all(|count| 5 < *count),
        "{possible} possible, {blocked} blocked, {harmless} harmless, {unknown} unknown"
    );
}
