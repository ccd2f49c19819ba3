//! `fabius mutate` as a person and as a script meet it: the real binary, on files.

use super::tool;
use fabius_testkit::run::Run;
use serde_json::Value;

fn run(args: &[&str]) -> Run {
    tool::run(&[&["mutate"], args].concat())
}

fn on(text: &str, args: &[&str]) -> Run {
    tool::on("mutate", text, args)
}

fn json(run: &Run) -> Value {
    tool::json(run, "mutate.schema.json")
}

#[test]
fn what_no_property_notices_is_named_first() {
    let told = run(&["models/semaphore.pml"]).expect(1);
    let told = told.says("no property notices:").says("line 12:8   atomic dropped      atomic\n");
    let told = told.says("noticed by safety: invalid end state\n").says("assignment dropped  free--\n");
    assert!(told.out.lines().all(|line| line.chars().count() <= 80), "{}", told.out);
    told.says("14 mutants: 5 killed, 9 survived").says("not proved of the model, so not asked: gets_it");
    let report = json(&run(&["models/semaphore.pml", "--json"]).expect(1));
    assert_eq!((&report["killed"], &report["survived"], &report["not_checked"]), (&5.into(), &9.into(), &0.into()));
    assert_eq!(report["mutants"].as_array().map(Vec::len), Some(14));
    let asked = run(&["models/semaphore.pml", "--ltl", "[] (free <= 1)"]).expect(1);
    asked.says("noticed by formula: ").says("constant changed    1 → 2\n");
}

#[test]
fn all_noticed_none_asked_and_limits_have_codes_of_their_own() {
    let strict = "byte x; active proctype P() { x = 1; assert(x == 1) }";
    on(strict, &[]).expect(0).says("killed").says("asked: safety");
    on("active proctype P() { false }", &[]).expect(2).says("so none can notice a change: safety is violated");
    let limited = on(strict, &["--limit", "1"]).expect(2);
    limited.says("1 mutant: 1 killed").says("--limit allows no more");
    let report = json(&on(strict, &["--limit", "1", "--json"]).expect(2));
    assert_eq!(report["mutants"].as_array().map(Vec::len), Some(1));
    on(strict, &["--timeout", "0"]).expect(2);
    on(strict, &["--max-states", "1"]).expect(2).says("safety is undecided");
    on("active proctype P() { x = 1 }", &[]).expect(3);
    on(strict, &["--property", "no"]).expect(3);
}
