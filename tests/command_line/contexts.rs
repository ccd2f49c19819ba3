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
    // With the macros of the command line, without which nothing goes wrong.
    let text = "#ifndef N\n#define N 0\n#endif\nproctype P() { assert(N == 0) } // the end";
    let model = scratch.file("macros.pml", text);
    run(&["contexts", &model, "-D", "N=3", "--processes", "1", "--export", &written]).expect(1);
    run(&["check", &written]).expect(1).says("this assertion can fail");
    let part = scratch.file("part.h", "byte x;\n");
    let model = scratch.file("parts.pml", "#include \"part.h\"\nproctype P() { x++; assert(x < 2) }\n");
    let elsewhere = Scratch::new().expect("a folder can be made");
    let there = elsewhere.file("wrong.pml", "");
    let told = run(&["contexts", &model, "--export", &there]).expect(1).err;
    assert!(told.contains("includes `part.h`, which cannot be found from there"), "{told} {part}");
}

#[test]
fn numbers_of_contexts_too_large_to_be_counted_are_no_error() {
    let text = "byte a, b, c, d, e, f, g, h; proctype P() { skip } proctype Q(byte n, m, o) { skip }";
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let inputs: Vec<String> = names.iter().map(|name| format!("--input={name}=0..255")).collect();
    let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
    let told = on(text, &[&inputs[..], &["--type", "P", "--max-contexts", "5"]].concat()).expect(2);
    told.says("of the first 5 contexts").says("not all contexts were checked");
    let many = ["--values", "n=0..999", "--values", "m=0..999", "--values", "o=0..999"];
    let refused = on(text, &many).expect(3);
    assert!(refused.err.contains("`Q` has more than 10000 lists of arguments"), "{}", refused.err);
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
