//! Hints at deadlocks that are not excluded, while no check decided whether there is one.

use super::client::Editor;
use super::models::uri;
use serde_json::{Value, json};

/// The text does not tell that `n` never passes the limit, and no search gets that far.
const OPEN: &str = "int n; bool ready;
active proctype Worker() {
    do
    :: n < 100000000 -> n++
    :: n == 100000000 -> break
    od;
    ready = true
}
active proctype Waiter() {
    ready
}
";

/// Each takes its left fork first.
const FORKS: &str = "byte fork[2];
active [2] proctype Philosopher() {
    fork[_pid] == 0 -> fork[_pid] = 1;
    fork[1 - _pid] == 0
}
";

fn editor(settings: &Value) -> Editor {
    let editor = Editor::new();
    editor.notify("workspace/didChangeConfiguration", json!({ "settings": settings }));
    editor
}

/// What is said of deadlocks, by severity and line.
fn deadlocks(told: &Value) -> Vec<(u64, u64, String)> {
    let all = told["diagnostics"].as_array().unwrap().iter().filter(|diagnostic| diagnostic["code"] == "F0602");
    let one = |diagnostic: &Value| {
        let line = diagnostic["range"]["start"]["line"].as_u64().unwrap();
        (diagnostic["severity"].as_u64().unwrap(), line, diagnostic["message"].as_str().unwrap().to_owned())
    };
    all.map(one).collect()
}

const HINT: u64 = 4;

#[test]
fn an_undecided_check_leaves_hints_where_processes_could_wait_for_each_other() {
    let editor = editor(&json!({ "quickMilliseconds": 20, "deepSeconds": 0 }));
    let uri = uri("open");
    editor.open(&uri, OPEN);
    let told = editor.diagnostics(&uri, "hints", |told| !deadlocks(told).is_empty());
    let found = deadlocks(&told);
    let places: Vec<(u64, u64)> = found.iter().map(|(severity, line, _)| (*severity, *line)).collect();
    assert_eq!(places, [(HINT, 3), (HINT, 9)], "{told}");
    assert_eq!(
        found[1].2,
        "A deadlock is not excluded yet: Waiter[1] could wait here for `ready` while Worker[0] waits at line 4."
    );
    let hint = told["diagnostics"].as_array().unwrap().iter().find(|it| it["message"] == found[1].2).unwrap();
    let related = &hint["relatedInformation"][0];
    assert_eq!(related["location"]["range"]["start"]["line"], 3, "{hint}");
    assert_eq!(related["message"], "Worker[0] could wait here for `n < 100000000` or an alternative", "{hint}");
    // A text in which nothing is known to be open has no hint.
    editor.replace(&uri, 2, &OPEN.replace("ready\n", "n >= 0\n"));
    editor.save(&uri);
    let told = editor.diagnostics(&uri, "no hint at the second process", |told| {
        let found = deadlocks(told);
        told["version"] == 2 && found.iter().all(|(_, line, _)| *line != 9)
    });
    assert!(deadlocks(&told).iter().all(|(severity, ..)| *severity == HINT), "{told}");
}

#[test]
fn a_deadlock_that_the_text_excludes_is_said_to_be_impossible() {
    let editor = editor(&json!({ "quickMilliseconds": 20, "deepSeconds": 0 }));
    let uri = uri("excluded");
    editor.open(&uri, &OPEN.replace(":: n == 100000000", ":: else"));
    let told = editor.diagnostics(&uri, "a hint", |told| !deadlocks(told).is_empty());
    let found = deadlocks(&told);
    assert_eq!(found.len(), 1, "{told}");
    assert!(
        found[0].0 == HINT && found[0].2.starts_with("Deadlock proved impossible without a search: in each of "),
        "{told}"
    );
}

#[test]
fn a_check_that_decides_takes_the_hints_away() {
    let editor = editor(&json!({ "check": "never" }));
    let uri = uri("never");
    // Without a check, the guided search finds the run.
    editor.open(&uri, FORKS);
    let told = editor.diagnostics(&uri, "what a run shows", |told| !deadlocks(told).is_empty());
    let found = deadlocks(&told);
    assert!(found.iter().all(|(_, line, text)| *line == 3 && text.starts_with("A run of ")), "{told}");
    assert!(found[0].2.contains(" leads to a deadlock: Philosopher["), "{told}");
    editor.request("fabius/run", json!({ "uri": uri }));
    editor.settled(&uri, 1);
    let told =
        editor.diagnostics(&uri, "the violation", |told| deadlocks(told).iter().any(|(severity, ..)| *severity == 1));
    assert!(deadlocks(&told).iter().all(|(_, _, text)| !text.starts_with("A run of ")), "{told}");
    // A check that holds leaves none either.
    let harmless = OPEN.replace("100000000", "100");
    editor.replace(&uri, 2, &harmless);
    editor.diagnostics(&uri, "hints of the new text", |told| told["version"] == 2 && !deadlocks(told).is_empty());
    editor.forget_older();
    editor.request("fabius/run", json!({ "uri": uri }));
    editor.diagnostics(&uri, "nothing", |told| told["version"] == 2 && deadlocks(told).is_empty());
}
