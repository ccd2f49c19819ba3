//! `fabius causes` as a person and as a script meet it: the real binary, on files.

use super::tool;
use fabius_testkit::run::Run;
use fabius_testkit::scratch::Scratch;
use serde_json::Value;

const SEAT: &str = "models/last_seat.pml";

fn run(args: &[&str]) -> Run {
    tool::run(&[&["causes"], args].concat())
}

fn on(text: &str, args: &[&str]) -> Run {
    tool::on("causes", text, args)
}

fn json(run: &Run) -> Value {
    tool::json(run, "causes.schema.json")
}

#[test]
fn causes_are_a_table_of_statements() {
    let found = run(&[SEAT]).expect(1).says("safety: 3 causes, and no others");
    let found = found.says("line 25  Telephone  skip               ·   ·   ●");
    let found = found.says(" 2 assertion violated: assert(sold < 2) at line 23, after 5 steps");
    found.says(" 3 deadlock at line 18, after 8 steps").says("34 searches, 1 219 states together");
    let report = json(&run(&[SEAT, "--json"]).expect(1));
    let property = &report["properties"][0];
    assert_eq!((&property["verdict"], &property["complete"]), (&"violated".into(), &true.into()));
    let cause = &property["causes"][2];
    assert_eq!((&cause["number"], &cause["minimal"], &cause["run"]["steps"]), (&3.into(), &true.into(), &8.into()));
    assert_eq!((&cause["statements"][0]["line"], &cause["run"]["kind"]), (&12.into(), &"invalid_end_state".into()));
}

#[test]
fn the_run_of_a_cause_is_shown_and_written() {
    let scratch = Scratch::new().expect("a folder");
    let trail = scratch.path().join("run.trail");
    let as_trail = format!("--trail={}", trail.display());
    let shown = run(&[SEAT, "--show", "3", &as_trail]).expect(1);
    shown
        .says("cause 3 of violations of safety: deadlock at line 18, after 8 steps:")
        .says("Desk[0] is stuck at line 18");
    assert_eq!(std::fs::read_to_string(&trail).expect("a trail").lines().count(), 8);
    run(&[SEAT, "--show", "1", "--diagram"]).expect(1).says("Telephone[1]");
    let missing = run(&[SEAT, "--show", "4"]).expect(3);
    assert!(missing.err.contains("there is no cause 4 to show: 3 causes found"), "{}", missing.err);
    let alone = run(&[SEAT, "--diagram"]).expect(3);
    assert!(alone.err.contains("--show"), "{}", alone.err);
}

#[test]
fn properties_are_chosen_and_a_formula_can_be_added() {
    run(&["models/retry_forever.pml", "--property", "progress"]).expect(1).says("progress: 1 cause, and no others");
    let formula = run(&["models/peterson.pml", "--ltl", "[] (critical < 2)", "--ltl", "<> (critical == 2)"]).expect(1);
    formula
        .says("safety: no cause: no run violates it (exhaustive)")
        .says("formula: no cause:")
        .says("violated by an infinite run");
    let unknown = run(&[SEAT, "--property", "nonsense"]).expect(3);
    assert!(unknown.err.contains("this model has no property `nonsense`"), "{}", unknown.err);
    run(&[SEAT, "--property", "ltl"]).expect(0).says("the model has no such property");
}

#[test]
fn what_was_not_searched_is_told() {
    let limited = run(&[SEAT, "--limit", "1"]).expect(1);
    limited.says("safety: 1 cause; there may be more: no more of them were asked for");
    let counting = "int x; active proctype P() { do :: x++; assert(x != -5) od }";
    on(counting, &["--max-states", "100"])
        .expect(2)
        .says("safety: no cause was found: the limit of 100 states was reached");
    on(counting, &["--timeout", "300ms"]).expect(2).says("the time allowed was used up");
    on("proctype P() { x = 1 }", &[]).expect(3);
}
