//! A run that stays in an atomic sequence for ever is neither said to violate a property of infinite runs nor not to.

use crate::infinite::{property, ways};
use fabius_engine::{Fairness, Settings, Verdict};

/// B is at its progress label in every state, A is never.
const PROGRESS_BESIDE: &str = "byte x;
active proctype A() { atomic { do :: x = 1 - x od } }
active proctype B() { progress: (x == 7) }";

const NO_PROGRESS: &str = "byte x; active proctype A() { progress: x = 0; atomic { do :: x = 1 - x od } }";

/// The sequence may end.
const MAY_END: &str = "byte x;
active proctype B() { progress: (x == 7) }
active proctype A() { atomic { x = 0; do :: x = 1 - x :: x == 0 -> break od } }";

const FORMULA: &str = "byte x; active proctype A() { atomic { do :: x = 1 - x od } }
ltl f { [] <> (x == 5) }";

const ACCEPTANCE: &str = "byte x; active proctype A() { atomic { do :: x = 1 - x od } }
active proctype B() { accept: (x == 7) }";

/// Control goes round, without a loop in either process.
const ROUND: &str = "chan c = [0] of { byte }; chan d = [0] of { byte }; bool go;
active proctype A() { d ! 0; do :: atomic { c ? _; d ! 1 } od }
active proctype B() { do :: atomic { d ? _; c ! 1 } od }
ltl f { <> go }";

#[test]
fn nothing_is_said_of_a_run_that_stays_in_an_atomic_sequence() {
    let models = [
        (PROGRESS_BESIDE, "progress", 2),
        (NO_PROGRESS, "progress", 1),
        (MAY_END, "progress", 3),
        (FORMULA, "f", 1),
        (ACCEPTANCE, "acceptance", 1),
        (ROUND, "f", 0),
    ];
    for (text, name, line) in models {
        let weak = Settings { fairness: Fairness::Weak, ..Settings::default() };
        for settings in ways().into_iter().chain([weak]) {
            let found = property(text, name, &settings);
            assert_eq!((found.verdict, found.exhaustive), (Verdict::Undecided, false), "{text}\n{settings:?}");
            assert!(found.violations.is_empty() && found.reason.contains("may never end"), "{}", found.reason);
            let told = found.reason.contains(&format!("line {line} may never end"));
            assert!(told || line == 0, "{}", found.reason);
        }
    }
}

#[test]
fn a_sequence_that_ends_in_each_run_takes_no_proof_away() {
    let text = "byte x, y = 1;
active proctype A() { do :: atomic { x = 0; do :: x != 9 -> x = x + y :: else -> break od } od }
ltl f { [] <> (x == 9) }";
    for settings in ways() {
        let found = property(text, "f", &settings);
        assert_eq!((found.verdict, found.exhaustive), (Verdict::Holds, true), "{settings:?}: {}", found.reason);
    }
}

/// What follows where the formula is satisfied already does not matter to it.
#[test]
fn a_formula_that_was_satisfied_before_holds() {
    let text = "byte x; bool go; active proctype A() { go = true; atomic { do :: x = 1 - x od } }
ltl f { <> go }";
    for settings in ways() {
        let found = property(text, "f", &settings);
        assert_eq!((found.verdict, found.exhaustive), (Verdict::Holds, true), "{settings:?}: {}", found.reason);
    }
}

/// Where a loop leaves the atomic sequence now and then, the property is evaluated there.
#[test]
fn a_loop_that_leaves_the_sequence_violates() {
    let text = "byte x; active proctype A() { do :: atomic { x = 1; x = 2; x = 0 } od }
ltl f { <> (x == 3) }";
    for settings in ways() {
        assert_eq!(property(text, "f", &settings).verdict, Verdict::Violated, "{settings:?}");
    }
}
