//! `fabius contexts` as a person and as a script meet it: the real binary, on files.

use super::tool::{self, run};
use fabius_testkit::run::Run;
use fabius_testkit::scratch::Scratch;
use serde_json::Value;

/// Who takes two locks in opposite orders can deadlock with another one.
const LOCKS: &str = "bool lock[2];
proctype Take(byte first) {
  atomic { !lock[first] -> lock[first] = true };
  atomic { !lock[1 - first] -> lock[1 - first] = true };
  lock[0] = false; lock[1] = false
}
";

fn on(text: &str, args: &[&str]) -> Run {
    tool::on("contexts", text, args)
}

fn json(run: &Run) -> Value {
    tool::json(run, "contexts.schema.json")
}

#[test]
fn two_processes_that_take_locks_in_opposite_orders_deadlock() {
    let text = on(LOCKS, &["--processes", "2"]).expect(1);
    let text = text.says("run Take(0); run Take(1): deadlock after").says("1 of 5 contexts leads to a deadlock");
    assert!(!text.out.contains("run Take(0); run Take(0)"), "{}", text.out);
    let report = json(&on(LOCKS, &["--processes", "3", "--json"]).expect(1));
    let contexts = report["contexts"].as_array().expect("a list");
    let wrong = contexts.iter().filter(|it| it["verdict"] == "violated");
    let with_both =
        |it: &Value| ["run Take(0)", "run Take(1)"].iter().all(|run| it["statements"].to_string().contains(run));
    assert_eq!((contexts.len(), report["complete"].as_bool()), (9, Some(true)));
    assert!(wrong.clone().all(with_both), "{report}");
    assert_eq!(wrong.count(), contexts.iter().filter(|it| with_both(it)).count());
    on(LOCKS, &["--values", "first=1"]).expect(0).says("0 of 3 contexts lead to a deadlock");
}

#[test]
fn the_model_that_is_written_goes_wrong_as_well() {
    let scratch = Scratch::new().expect("a folder can be made");
    let (model, written) = (scratch.file("model.pml", LOCKS), scratch.file("wrong.pml", ""));
    run(&["contexts", &model, "--export", &written]).expect(1);
    run(&["check", &written]).expect(1).says("deadlock after");
}

#[test]
fn inputs_and_channels_are_tried_and_failures_found() {
    let text = "byte limit; chan c = [1] of { byte }; chan d = [1] of { byte };
                proctype Send(chan to) { to!1; assert(limit != 2) }
                proctype Get(chan from) { byte got; from?got }";
    let report = json(&on(text, &["--processes", "1", "--input", "limit=1..2", "--json"]).expect(1));
    let contexts = report["contexts"].as_array().expect("a list");
    let verdict = |input: &str, run: &str| {
        let is_it = |it: &&Value| it["statements"] == serde_json::json!([input, run]);
        contexts.iter().find(is_it).map(|it| it["verdict"].as_str().unwrap_or_default().to_owned())
    };
    assert_eq!(contexts.len(), 8);
    assert_eq!(verdict("limit = 1", "run Send(c)").as_deref(), Some("holds"));
    assert_eq!(verdict("limit = 2", "run Send(d)").as_deref(), Some("violated"));
    assert_eq!(verdict("limit = 1", "run Get(c)").as_deref(), Some("violated"));
}

#[test]
fn what_is_left_out_is_said_and_what_is_wrong_is_refused() {
    on(LOCKS, &["--values", "first=0", "--max-contexts", "2"]).expect(2).says("not all contexts were checked");
    let endless = "byte x; proctype P() { do :: x < 200 -> x++ :: x > 100 -> x = 0 od }";
    on(endless, &["--max-states", "5"]).expect(2).says("not decided within the limits");
    on(LOCKS, &["--type", "Nobody"]).expect(3);
    on(LOCKS, &["--values", "first"]).expect(3);
    on(LOCKS, &["--input", "nothing=1"]).expect(3);
    on("proctype P(chan c) { c!1 }", &[]).expect(3);
    on("active proctype P() { skip }", &[]).expect(3);
}
