//! A depth-first search that is kept in a file and resumed by another run of the binary: the same verdict, states and counterexample as of
//! one that was not interrupted, and a refusal where that cannot be.

use super::checkpoints::{in_pieces, report as check};
use fabius_testkit::scratch::Scratch;
use serde_json::Value;
use std::path::Path;

fn model(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("models").join(name).display().to_string()
}

fn same(flags: &[&str], step: u64) -> Value {
    let scratch = Scratch::new().expect("a folder");
    let file = scratch.path().join("model.search").display().to_string();
    let flags = [flags, &["--property", "safety"]].concat();
    let strict = if flags.contains(&"--search") { &[][..] } else { &["--search", "dfs"] };
    let (code, whole) = check(&[&flags[..], strict].concat());
    let (resumed_code, resumed, stops) = in_pieces(&flags, &file, step, |report, limit| {
        let property = &report["properties"][0];
        assert_eq!(property["states"], limit, "{report}");
        let reason = property["reason"].as_str().unwrap_or_default();
        assert!(reason.ends_with(&format!("; resume with `--resume {file}`")), "{reason}");
    });
    assert!(stops > 1, "{flags:?} was not interrupted");
    assert_eq!(resumed_code, code, "{resumed}");
    let (one, other) = (&resumed["properties"][0], &whole["properties"][0]);
    for key in ["verdict", "states", "transitions", "matched", "depth", "exhaustive"] {
        assert_eq!(one[key], other[key], "{flags:?}: {key}");
    }
    // What no run executes is known as if the search had not been interrupted.
    assert_eq!(resumed["findings"], whole["findings"], "{flags:?}");
    if flags.contains(&"--search") {
        assert_eq!(one["violations"], other["violations"], "{flags:?}");
    }
    assert_eq!(one["strategy"]["checkpoint"], true);
    resumed
}

#[test]
fn a_proof_in_pieces_is_the_same_proof() {
    let strict = same(&["--search", "dfs", "-DN=2", &model("families/german.pml")], 900);
    assert_eq!(strict["properties"][0]["reduction"], "off");
    let plain = same(&["-DN=2", &model("families/german.pml")], 1_100);
    let reduction = plain["properties"][0]["reduction"].as_str().unwrap_or_default();
    assert!(reduction.contains("saved or resumed is not reduced"), "{reduction}");
}

#[test]
fn an_error_is_found_by_whoever_resumes_with_the_same_run() {
    same(&["--search", "dfs", "-DN=3", "-DBUG", &model("families/lann.pml")], 9);
}

#[test]
fn dead_code_is_known_to_whoever_resumes() {
    let scratch = Scratch::new().expect("a folder");
    let text = "byte a, b, once;
        active proctype Early() { once = 1 }
        active proctype A() { do :: a < 60 -> a++ :: a > 60 -> a = 0 :: else -> break od }
        active proctype B() { do :: b < 60 -> b++ :: else -> break od }";
    let path = scratch.write("counters.pml", text).expect("a file").display().to_string();
    let report = same(&["--search", "dfs", &path], 2_000);
    let findings = report["findings"].as_array().map_or(0, Vec::len);
    assert!(findings == 1, "one statement is never executed: {report}");
}

#[test]
fn other_properties_are_not_kept_and_it_is_said() {
    let scratch = Scratch::new().expect("a folder");
    let text = "byte a, b;
        active proctype A() { do :: a < 90 -> a++ :: a > 0 -> a-- od }
        active proctype B() { do :: b < 90 -> b++ :: b > 0 -> b-- od }
        ltl low { [] (a < 91) }";
    let path = scratch.write("counters.pml", text).expect("a file").display().to_string();
    let file = scratch.path().join("model.search").display().to_string();
    let (_, report) = check(&["--max-states", "500", "--checkpoint", &file, &path]);
    let notes: Vec<&Value> = report["findings"].as_array().into_iter().flatten().collect();
    let [note] = notes.as_slice() else { panic!("one search is not kept: {notes:?}") };
    assert_eq!((&note["code"], &note["severity"]), (&Value::from("F0503"), &Value::from("note")));
    assert_eq!(note["message"], "the checkpoint does not hold the search for `low`");
    let (code, report) = check(&["--resume", &file, &path]);
    assert_eq!(code, 0, "{report}");
    let (_, whole) = check(&["--search", "dfs", "--property", "safety", &path]);
    assert_eq!(report["properties"][0]["states"], whole["properties"][0]["states"]);
}

#[test]
fn flags_that_it_cannot_obey_are_refused() {
    let scratch = Scratch::new().expect("a folder");
    let file = scratch.path().join("model.search").display().to_string();
    let german = model("families/german.pml");
    for flags in [
        &["--threads", "2"][..],
        &["--store", "hash"],
        &["--store", "bitstate"],
        &["--search", "bfs"],
        &["--keep-going"],
        &["--prune", "false"],
    ] {
        let (code, report) =
            check(&[flags, &["--property", "safety", "--checkpoint", &file, "-DN=2", &german]].concat());
        assert_eq!(code, 3, "{flags:?}: {report}");
        assert_eq!(report["findings"][0]["code"], "F0508", "{flags:?}: {report}");
    }
    let planning = model("families/elevator_planning.pml");
    let (code, report) = check(&["--property", "progress", "--checkpoint", &file, "-DN=2", &planning]);
    assert_eq!((code, &report["findings"][0]["code"]), (3, &Value::from("F0508")), "{report}");
    assert!(!Path::new(&file).exists());
}

#[test]
fn a_file_of_another_search_is_refused_with_the_reason() {
    let scratch = Scratch::new().expect("a folder");
    let file = scratch.path().join("model.search").display().to_string();
    let (german, lann) = (model("families/german.pml"), model("families/lann.pml"));
    let safety = ["--property", "safety", "-DN=2"];
    let (code, _) = check(&[&safety[..], &["--max-states", "500", "--checkpoint", &file, &german]].concat());
    assert_eq!(code, 2);
    let refusal = |flags: &[&str]| {
        let (code, report) = check(&[flags, &["--property", "safety", "--resume", &file]].concat());
        assert_eq!(code, 3, "{flags:?}: {report}");
        report["findings"][0]["message"].as_str().unwrap_or_default().to_owned()
    };
    assert!(refusal(&[&lann]).contains("the model was another"));
    assert!(refusal(&["-DN=3", &german]).contains("the model was another"));
    assert!(refusal(&["--delay", "rtc", "-DN=2", &german]).contains("the kind of search was another: dfs, not delays"));
    assert!(refusal(&["--depth-bound", "20", "-DN=2", &german]).contains("the kind of search was another"));
    assert!(refusal(&["--max-depth", "20", "-DN=2", &german]).contains("the limit on depth was another"));
    let good = std::fs::read(&file).expect("it was written");
    for at in [0, 10, good.len() / 3, good.len() / 2, good.len() - 9, good.len() - 1] {
        let mut damaged = good.clone();
        damaged[at] ^= 16;
        std::fs::write(&file, &damaged).expect("written");
        assert_ne!(refusal(&["-DN=2", &german]), "", "{at}");
        std::fs::write(&file, &good[..at]).expect("written");
        assert_ne!(refusal(&["-DN=2", &german]), "", "{at}");
    }
    let left = std::fs::read_dir(scratch.path()).expect("the folder").count();
    assert_eq!(left, 1, "nothing lies about");
}

/// A proof that was resumed can be checked in full.
#[test]
fn a_resumed_proof_is_audited() {
    let scratch = Scratch::new().expect("a folder");
    let file = scratch.path().join("model.search").display().to_string();
    let flags = ["--property", "safety", "-DN=2", "--audit", "full", &model("families/german.pml")];
    check(&[&flags[..], &["--max-states", "1000", "--checkpoint", &file]].concat());
    let (code, report) = check(&[&flags[..], &["--resume", &file]].concat());
    assert_eq!(code, 0, "{report}");
    assert_eq!(report["properties"][0]["audited"], report["properties"][0]["states"]);
}
