//! What Spin makes of the trails of counterexamples, and what Fabius says of it beforehand.

use fabius_needs::Need;
use fabius_needs::spin::replay;
use fabius_testkit::scratch::Scratch;
use std::process::Command;

/// Standard output of a command.
fn printed(command: &mut Command) -> String {
    String::from_utf8_lossy(&command.output().expect("it can be run").stdout).into_owned()
}

/// What `fabius check --trail` says of a model, and what Spin's replay shows; nothing of the latter without Spin.
fn replayed(text: &str, flags: &[&str]) -> (String, Option<String>) {
    let scratch = Scratch::new().expect("a folder");
    scratch.write("model.pml", text).expect("a model");
    let mut check = Command::new(env!("CARGO_BIN_EXE_fabius"));
    check.args(["check", "model.pml", "--trail", "--color", "never"]).args(flags);
    let told = printed(check.env("FABIUS_CACHE", "off").current_dir(scratch.path()));
    (told, Need::Spin.met().then(|| printed(&mut replay(scratch.path(), "model.pml"))))
}

#[test]
fn a_run_that_ends_in_a_state_that_repeats_for_ever_has_no_cycle_for_spin() {
    let model = "byte x;\nactive proctype P() { x = 1 }\nltl p { <> (x == 2) }\n";
    let (told, replay) = replayed(model, &["--property", "p"]);
    assert!(told.contains("the trail has no steps of the formula's automaton"), "{told}");
    let Some(replay) = replay else { return };
    assert!(replay.contains("trail ends after 2 steps") && !replay.contains("CYCLE"), "{replay}");
}

#[test]
fn an_assertion_that_fails_on_the_way_is_told_of() {
    let model = "byte x;\nactive proctype P() { assert(false); do :: x = 1 - x od }\nltl p { <> (x == 2) }\n";
    let (told, replay) = replayed(model, &["--property", "p"]);
    assert!(told.contains("reports the assertion that fails on the way, in step 1"), "{told}");
    let Some(replay) = replay else { return };
    assert!(replay.contains("assertion violated") && replay.contains("START OF CYCLE"), "{replay}");
}

#[test]
fn no_replay_is_advised_that_spin_refuses() {
    let model = "byte x;\nactive proctype P() { do :: skip;;; :: break od; assert(x == 1) }\n";
    let (told, replay) = replayed(model, &[]);
    assert!(told.contains("Spin cannot replay it, since it refuses this model (line 2: see the warning)"), "{told}");
    assert!(!told.contains("spin -t"), "{told}");
    let Some(replay) = replay else { return };
    assert!(replay.contains("syntax error"), "{replay}");
}
