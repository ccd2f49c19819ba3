//! Known runs in models that were edited since: what became of them, and that what is said of them is true.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops there, and says where")]

use fabius_base::Cancel;
use fabius_counterexample::Replay;
use fabius_engine::{CheckContext, Loaded, Settings, check, load};
use fabius_task::SourceProgram;
use std::time::Duration;

fn loaded(text: &str) -> Loaded {
    load("model.pml", text.to_owned(), &[], &mut |_, _| None, &Settings::default())
}

/// What becomes of the first counterexample to the safety of a model in another one.
fn replayed(old: &str, new: &str) -> Replay {
    let (old, new) = (loaded(old), loaded(new));
    let mut observe = |_| {};
    let mut context =
        CheckContext { cancel: &Cancel::new(), now: &|| Duration::ZERO, observe: &mut observe, controls: None };
    let settings = Settings { properties: vec!["safety".to_owned()], ..Settings::default() };
    let outcome = check(&old, &settings, &mut context);
    let run = &outcome.counterexamples.first().unwrap().trace;
    Replay::of(&SourceProgram::of(&new).unwrap(), &SourceProgram::of(&old).unwrap(), "safety", run)
}

#[test]
fn a_statement_that_is_inserted_before_others_with_its_wording_is_passed_through() {
    let old = "byte x; active proctype P() { x = 1; skip; x = 2; assert(x == 3) }";
    for new in [
        "byte x; active proctype P() { skip; x = 1; skip; x = 2; assert(x == 3) }",
        "byte x; active proctype P() { x = 1; skip; skip; x = 2; assert(x == 3) }",
        "byte x; active proctype P() { x = 1; x = 1; skip; x = 2; skip; assert(x == 3) }",
        "byte x; active proctype P() { x = 1; x = 2; assert(x == 3) }",
    ] {
        let replay = replayed(old, new);
        assert!(matches!(replay, Replay::Same(_)), "{new}: {replay:?}");
    }
}

#[test]
fn a_deadlock_is_still_one_behind_a_statement_that_is_inserted() {
    let old = "byte x; active proctype P() { x = 1; skip; x == 2 } active proctype Q() { skip; x == 3 }";
    let new = "byte x; active proctype P() { x = 1; skip; skip; x == 2 } active proctype Q() { skip; skip; x == 3 }";
    let replay = replayed(old, new);
    assert!(matches!(replay, Replay::Same(_)), "{replay:?}");
}

#[test]
fn a_run_that_is_blocked_is_blocked_for_the_reason_that_is_told() {
    let old = "byte x; active proctype A() { x = 1; x = 2 } active proctype B() { x == 1; assert(x != 1) }";
    let new = "byte x; active proctype A() { atomic { x = 1; x = 2 } } active proctype B() { x == 1; assert(x != 1) }";
    let Replay::Blocked(blocked) = replayed(old, new) else { panic!("not blocked") };
    assert_eq!((blocked.text.as_str(), blocked.reason.as_str()), ("x == 1", "A[0] is inside an atomic sequence"));
    let guarded = "byte x; active proctype A() { x = 4; x = 2 } active proctype B() { x == 1; assert(x != 1) }";
    let Replay::Blocked(blocked) = replayed(old, guarded) else { panic!("not blocked") };
    assert!(!blocked.reason.contains("can be executed"), "{blocked:?}");
}
