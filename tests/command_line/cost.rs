//! `fabius cost` as a person and as a script meet it: the real binary, on files.

use super::tool;
use fabius_testkit::run::Run;

fn on(text: &str, args: &[&str]) -> Run {
    tool::on("cost", text, args)
}

/// `seen` only counts, and nothing reads it.
const MODEL: &str = "byte seen; chan q = [2] of { bit };
active proctype P() { bit v; do :: q ! 0 :: q ! 1 :: q ? v; if :: seen < 9 -> seen++ :: else fi od }";

#[test]
fn what_states_are_spent_on_is_told_with_what_may_be_done() {
    let model = MODEL.replace("if :: seen < 9 -> seen++ :: else fi", "seen = v");
    let text = on(&model, &[]).expect(0).says(", exhaustive").says("messages in q").says("places of P");
    text.says("what to try:\n").says("  seen (line 1):\n    nothing reads it: declare it `hidden`, or leave it out\n");
    let report = tool::json(&on(MODEL, &["--json"]).expect(0), "cost.schema.json");
    let costs = report["costs"].as_array().expect("a list");
    let seen = costs.iter().find(|cost| cost["name"] == "seen").expect("a cost");
    assert_eq!((&seen["values"], &seen["line"], &seen["part"]), (&10.into(), &1.into(), &"variable".into()));
    let (states, without) = (report["states"].as_u64(), seen["states_without"].as_u64());
    assert!(without.zip(states).is_some_and(|(without, states)| without * 5 < states), "{report}");
}

#[test]
fn a_limit_is_named_and_a_model_without_choices_costs_nothing() {
    on(MODEL, &["--max-states", "20"]).expect(2).says("20 states looked at, the nearest ones: the limit of 20 states");
    let report = tool::json(&on(MODEL, &["--max-states", "20", "--json"]).expect(2), "cost.schema.json");
    assert_eq!((&report["exhaustive"], &report["states"]), (&false.into(), &20.into()));
    on("active proctype P() { end: false }", &[]).expect(0).says("no variable, channel or place");
    on("active proctype P() { x = 1 }", &[]).expect(3);
}
