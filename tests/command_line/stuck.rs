//! `fabius stuck` as a person and as a script meet it: the real binary, on files.

use super::tool;
use fabius_testkit::run::Run;
use serde_json::Value;

fn run(args: &[&str]) -> Run {
    tool::run(&[&["stuck"], args].concat())
}

fn on(text: &str, args: &[&str]) -> Run {
    tool::on("stuck", text, args)
}

fn json(run: &Run) -> Value {
    tool::json(run, "stuck.schema.json")
}

#[test]
fn mutual_exclusion_is_proved_without_a_search() {
    run(&["models/peterson.pml"]).expect(0).says("no deadlock, proved without a search: in the only combination");
    let report = json(&run(&["models/peterson.pml", "--json"]).expect(0));
    assert_eq!(
        (&report["verdict"], &report["proof"], &report["states"]),
        (&"no_deadlock".into(), &"text".into(), &0.into())
    );
}

#[test]
fn philosophers_deadlock_in_the_only_way_there_is() {
    let text = run(&["models/philosophers_once.pml"]).expect(1);
    let text = text.says("deadlock possible: a run of 8 steps leads to one").says("reached: Philosopher[0] at line 15");
    text.says("They wait for each other").says("81 combinations of places");
    run(&["models/philosophers_once.pml", "--diagram"]).expect(1).says("Philosopher[3]").says("deadlock possible");
    let report = json(&run(&["models/philosophers_once.pml", "-D", "N=7", "--json", "--every"]).expect(1));
    let candidates = report["candidates"].as_array().expect("a list");
    assert_eq!((candidates.len(), &candidates[0]["verdict"], &candidates[0]["run"]), (1, &"reached".into(), &0.into()));
    assert_eq!(report["runs"][0]["kind"], "invalid_end_state");
}

#[test]
fn a_line_is_asked_by_itself() {
    let model = "models/philosophers_once.pml";
    run(&[model, "--line", "15"]).expect(1).says("a run of 8 steps leads to one with a process at line 15");
    let report = json(&run(&[model, "--line", "14", "--json"]).expect(0));
    assert_eq!((&report["line"], &report["proof"]), (&14.into(), &"text".into()), "{report}");
    assert_eq!(report["candidates"], Value::Array(Vec::new()));
    let refused = run(&[model, "--line", "3"]).expect(3);
    assert!(refused.err.contains("no process can wait at line 3"), "{}", refused.err);
    // Where the text does not tell, nothing is claimed of a line.
    let text =
        "byte n; proctype P() { n < 2 } \nactive proctype M() { do :: n < 3 -> run P(); n++ :: n > 0 -> n-- od }";
    let report = json(&on(text, &["--line", "1", "--json"]).expect(2));
    assert_eq!((&report["verdict"], &report["states"]), (&"unknown".into(), &0.into()), "{report}");
}

#[test]
fn a_search_decides_what_the_text_leaves_open_and_says_so_if_it_does_not_end() {
    run(&["models/bounded_buffer.pml"])
        .expect(0)
        .says("no deadlock: the only combination")
        .says("impossible: Producer");
    let open = "int x, y; active [2] proctype P() { do :: x < 9000 -> x++ :: x > 0 -> x-- :: y < 9 -> y++ od }";
    let report = json(&on(open, &["--max-states", "5", "--json"]).expect(2));
    assert_eq!((&report["verdict"], &report["exhaustive"]), (&"unknown".into(), &false.into()));
    on(open, &["--max-states", "5"]).expect(2).says("not known whether a deadlock is possible: the limit of 5 states");
}

#[test]
fn where_the_text_does_not_tell_a_note_says_why() {
    let text = "byte n; proctype P() { n < 2 } \
                active proctype M() { do :: n < 3 -> run P(); n++ :: n > 0 -> n-- od }";
    let report = json(&on(text, &["--json", "--max-states", "50"]).expect(2));
    assert_eq!(report["candidates"], Value::Array(Vec::new()));
    assert!(report["not_told"].as_str().is_some_and(|why| why.contains("in a loop")), "{report}");
    on("active proctype P() { x = 1 }", &[]).expect(3);
}
