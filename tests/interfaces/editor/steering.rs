//! Checks whose depth is bounded while they run, and whose order is changed.

use super::client::Editor;
use super::uri;
use serde_json::{Value, json};

/// Too much to search in a test; nothing goes wrong, and every run may stop.
const BIG: &str = "\
byte a, b, c, d, e, f;
active proctype P() { end: do :: a < 200 -> a++ :: b < 200 -> b++ :: c < 200 -> c++ :: a + b + c > 590 -> a = 0 od }
active proctype Q() { end: do :: d < 200 -> d++ :: e < 200 -> e++; assert(a + d < 402) :: f < 200 -> f++ :: d + e + f > 590 -> d = a od }
";

/// Something goes wrong after some steps only.
const LATE: &str = "\
byte x;
active proctype P() { do :: x < 100 -> x++ :: x == 100 -> assert(false) od }
";

fn safety(status: &Value) -> &Value {
    status["properties"].as_array().unwrap().iter().find(|one| one["name"] == "safety").unwrap()
}

fn steer(editor: &Editor, uri: &str, max: u64) -> Value {
    editor.answer(editor.ask("fabius/steer", json!({ "uri": uri, "maxDepth": max })))["result"].clone()
}

/// What is told of this version once nothing runs any more under this bound.
fn settled(editor: &Editor, version: i32, max: &Value) -> Value {
    let settled = editor.wait("the check", |message| {
        let params = &message["params"];
        let settled = message["method"] == "fabius/status" && params["running"].is_null();
        let is_known = |known: &Value| known["stale"] == false && !known["verdict"].is_null();
        settled && params["version"] == version && params["maxDepth"] == *max && is_known(safety(params))
    });
    settled["params"].clone()
}

#[test]
fn a_search_that_runs_keeps_to_a_bound_on_depth_and_begins_anew_without_it() {
    let editor = Editor::new();
    let uri = uri("steering");
    editor.open(&uri, BIG);
    let running = editor.wait("a long search", |message| {
        let running = &message["params"]["running"];
        running["tier"] == "deep" && !running["progress"].is_null()
    });
    assert_eq!(running["params"]["maxDepth"], Value::Null);
    editor.forget();
    let status = steer(&editor, &uri, 9);
    assert_eq!((&status["maxDepth"], &status["running"]["tier"]), (&json!(9), &json!("deep")), "it goes on: {status}");
    let bounded = settled(&editor, 1, &json!(9));
    let known = safety(&bounded);
    assert_eq!((&known["verdict"], &known["exhaustive"]), (&json!("undecided"), &json!(false)), "{known}");
    assert!(known["summary"].as_str().unwrap().contains("runs of 9 steps and more were cut off"), "{known}");
    // Without a bound, what was left out is searched: anew.
    editor.forget();
    let status = steer(&editor, &uri, 0);
    assert_eq!((&status["maxDepth"], safety(&status)["state"].as_str()), (&Value::Null, Some("running")), "{status}");
    editor.wait("a search that goes deeper", |message| {
        message["params"]["running"]["progress"]["depth"].as_u64().is_some_and(|depth| 20 < depth)
    });
}

#[test]
fn what_a_bound_left_undecided_is_decided_without_it() {
    let editor = Editor::new();
    let uri = uri("steered-before");
    editor.open(&uri, "byte x; active proctype P() { x = 1 }\n");
    editor.settled(&uri, 1);
    steer(&editor, &uri, 50);
    editor.forget();
    editor.replace(&uri, 2, LATE);
    editor.save(&uri);
    let bounded = settled(&editor, 2, &json!(50));
    let known = safety(&bounded);
    assert_eq!((&known["verdict"], &known["exhaustive"]), (&json!("undecided"), &json!(false)), "{known}");
    assert!(known["summary"].as_str().unwrap().contains("runs of 50 steps and more were cut off"), "{known}");
    editor.forget();
    steer(&editor, &uri, 300);
    assert_eq!(safety(&settled(&editor, 2, &json!(300)))["verdict"], "violated");
    // What is decided stays, whatever the bound.
    let status = steer(&editor, &uri, 5);
    assert_eq!((&safety(&status)["verdict"], &status["running"]), (&json!("violated"), &Value::Null), "{status}");
}

#[test]
fn a_search_that_runs_visits_first_what_it_is_told_to_and_goes_on() {
    let editor = Editor::new();
    let uri = uri("steered-order");
    editor.open(&uri, BIG);
    editor.wait("a long search", |message| {
        let running = &message["params"]["running"];
        running["tier"] == "deep" && !running["progress"].is_null()
    });
    let order =
        |condition: &str| editor.answer(editor.ask("fabius/steer", json!({ "uri": uri, "visitFirst": condition })));
    for (wrong, why) in [("nobody > 1", "`nobody` is not declared"), ("once a > 1", "looks back along the run")] {
        let refused = order(wrong)["error"].clone();
        assert_eq!(refused["code"], -32602, "{refused}");
        assert!(refused["message"].as_str().unwrap().contains(why), "{refused}");
    }
    let status = order("a > 100")["result"].clone();
    assert_eq!((&status["visitFirst"], &status["maxDepth"]), (&json!("a > 100"), &Value::Null), "{status}");
    assert_eq!(status["running"]["tier"], "deep", "it goes on: {status}");
    // While the text gives the condition no meaning, it is not heeded, and not lost.
    editor.forget();
    editor.replace(&uri, 2, "byte x; active proctype P() { x = 1 }\n");
    let read = editor.wait("the new text", |message| {
        message["method"] == "fabius/status"
            && message["params"]["version"] == 2
            && !message["params"]["visitFirst"].is_string()
    });
    assert_eq!(read["params"]["faulty"], Value::Null, "{read}");
    editor.forget();
    editor.replace(&uri, 3, BIG);
    editor.wait("the text before", |message| message["params"]["visitFirst"] == "a > 100");
    assert_eq!(order("")["result"]["visitFirst"], Value::Null);
}
