//! `fabius find` as a person and as a script meet it: the real binary, on files.

use super::tool;
use fabius_testkit::run::Run;
use fabius_testkit::scratch::Scratch;
use serde_json::Value;

const BUFFER: &str = "models/bounded_buffer.pml";

fn run(args: &[&str]) -> Run {
    tool::run(&[&["find"], args].concat())
}

fn on(text: &str, args: &[&str]) -> Run {
    tool::on("find", text, args)
}

fn json(run: &Run) -> Value {
    tool::json(run, "find.schema.json")
}

#[test]
fn a_shortest_run_is_shown_with_where_the_pattern_holds() {
    let found = run(&[BUFFER, "stored == 0 after stored > 3"]).expect(1);
    let found =
        found.says("found: it comes true after 20 steps, and in no shorter run").says("where the pattern holds:");
    found.says("stored > 3                  ○  ○  ●  ○  ○").says("buffer = {3, 1, 2}, stored = 0");
    let report = json(&run(&[BUFFER, "stored == 0 after stored > 3", "--json"]).expect(1));
    let run = &report["run"];
    assert_eq!(
        (&report["verdict"], &run["steps"], &run["ribbon"]["positions"]),
        (&"found".into(), &20.into(), &21.into())
    );
    assert_eq!(run["values"][3], serde_json::json!({ "name": "stored", "value": "0" }));
    assert_eq!((&run["places"][1]["name"], &run["places"][1]["line"]), (&"Consumer[1]".into(), &30.into()));
}

#[test]
fn places_are_named_by_line_and_by_label() {
    let model = "active [2] proctype P() {\n  skip;\n  in: skip;\n  skip\n}";
    let both = json(&on(model, &["P[0]@line 3 && P[1]@in", "--json"]).expect(1));
    assert_eq!((&both["run"]["steps"], &both["run"]["ribbon"]), (&2.into(), &Value::Null));
    on(model, &["P[0]@line 3 && P[1]@line 3", "--diagram"]).expect(1).says("it holds after 2 steps");
    on(model, &["P@line 2"]).expect(1).says("in the initial state:").says("found: it holds in the initial state");
    let refused = on(model, &["P@line 1"]).expect(3);
    assert!(refused.err.contains("near it, statements begin on 2, 3, 4"), "{}", refused.err);
    let refused = on(model, &["Q@line 2"]).expect(3);
    assert!(refused.err.contains("there is no process type `Q`"), "{}", refused.err);
}

#[test]
fn impossible_is_exhaustive_and_audited() {
    run(&["models/peterson.pml", "critical > 1"]).expect(0).says("impossible: it never holds (38 states, exhaustive)");
    let report = json(&run(&["models/peterson.pml", "critical == 1 since critical == 2", "--json"]).expect(0));
    assert_eq!(
        (&report["verdict"], &report["exhaustive"], &report["run"]),
        (&"impossible".into(), &true.into(), &Value::Null)
    );
    assert_eq!(report["audited"], report["states"], "{report}");
    let not = json(&run(&["models/peterson.pml", "critical > 1", "--audit", "off", "--json"]).expect(0));
    assert_eq!(not["audited"], Value::Null);
    let open = run(&["models/leader.pml", "_nr_pr == 200", "--max-states", "5"]).expect(2);
    open.says("not known: not within 5 states: the limit of 5 states was reached");
}

#[test]
fn what_has_no_value_and_runs_that_end_are_named() {
    let model = "byte a[2], i; active proctype P() { do :: i < 3 -> i++ :: i == 3 -> i = 1 / (i - 3) od }";
    let report = json(&on(model, &["a[i] == 1", "--json"]).expect(0));
    let text = report["without_value"].as_str().expect("said");
    assert!(text.contains("`a[i] == 1` has no value in some states (index 2 is outside"), "{text}");
    assert!(report["ended_runs"].as_str().is_some_and(|text| text.contains("runtime error")), "{report}");
    for (pattern, why) in [
        ("timeout", "`timeout` cannot be used"),
        ("_last == 1", "`_last` is no part of a state"),
        ("once i + once i", "`once` cannot be part of"),
        ("i > 1 after", "an expression is missing beside `after`"),
        ("j == 1", "`j` is not declared"),
        ("<> i", "temporal operators are not allowed"),
    ] {
        let refused = on(model, &[pattern]).expect(3);
        assert!(refused.err.contains(why), "{pattern}: {}", refused.err);
    }
    let hidden = on("hidden byte h; active proctype P() { h = 1 }", &["h == 1"]).expect(3);
    assert!(hidden.err.contains("`h` is hidden"), "{}", hidden.err);
}

#[test]
fn the_run_is_a_trail_that_can_be_read_again() {
    let scratch = Scratch::new().expect("a folder can be made");
    let trail = scratch.file("run.trail", "");
    run(&[BUFFER, "start (stored == 1) && once stored == 3", &format!("--trail={trail}")]).expect(1);
    let lines = std::fs::read_to_string(&trail).expect("a trail");
    let steps =
        json(&run(&[BUFFER, "start (stored == 1) && once stored == 3", "--json"]).expect(1))["run"]["steps"].clone();
    assert_eq!(Value::from(lines.lines().count()), steps);
}
