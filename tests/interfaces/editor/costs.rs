//! What states are spent on: behind declarations, in lenses, and by a request.

use super::client::{Editor, PATIENCE};
use super::models::uri;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Every value of `left` goes with every one of `right`.
const MODEL: &str = "byte left, right;
active proctype P() {
  do
  :: left < 3 -> left++
  :: right < 2 -> right++
  :: else -> left = 0; right = 0
  od
}
";

fn hints(editor: &Editor, uri: &str) -> Vec<String> {
    let range = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 99, "character": 0 } });
    let all = editor.request("textDocument/inlayHint", json!({ "textDocument": { "uri": uri }, "range": range }));
    let all = all.as_array().cloned().unwrap_or_default();
    all.iter().filter_map(|hint| hint["label"].as_str().map(str::to_owned)).collect()
}

fn until(what: &str, holds: impl Fn() -> Option<Vec<String>>) -> Vec<String> {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = holds() {
            return found;
        }
        assert!(Instant::now() < end, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn titles(editor: &Editor, uri: &str) -> Vec<String> {
    let all = editor.request("textDocument/codeLens", json!({ "textDocument": { "uri": uri } }));
    let all = all.as_array().cloned().unwrap_or_default();
    all.iter().filter_map(|lens| lens["command"]["title"].as_str().map(str::to_owned)).collect()
}

#[test]
fn a_declaration_says_which_share_of_the_states_its_variable_costs() {
    let editor = Editor::new();
    let uri = uri("spent");
    editor.open(&uri, MODEL);
    let shown = until("shares", || {
        let hints = hints(&editor, &uri);
        hints.iter().any(|hint| hint.contains("% of states")).then_some(hints)
    });
    // The request tells the same.
    let answer = editor.request("fabius/cost", json!({ "uri": uri }));
    assert_eq!((&answer["exhaustive"], &answer["stale"]), (&json!(true), &json!(false)), "{answer}");
    let costs = answer["costs"].as_array().unwrap();
    let share = |name: &str| {
        let cost = costs.iter().find(|cost| cost["name"] == name).unwrap();
        format!("{:.0} % of states", (cost["share"].as_f64().unwrap() * 100.0).floor())
    };
    assert!(shown.iter().any(|hint| hint.contains("0..3") && hint.ends_with(&share("left"))), "{shown:?} {answer}");
    assert!(shown.iter().any(|hint| hint.contains("0..2") && hint.ends_with(&share("right"))), "{shown:?} {answer}");
    let left = costs.iter().find(|cost| cost["name"] == "left").unwrap();
    assert_eq!(left["place"]["range"]["start"], json!({ "line": 0, "character": 5 }), "{left}");
    assert_eq!(left["part"], "variable");
    assert!(answer["sentence"].as_str().unwrap().contains("differ only in `left`"), "{answer}");
    // A comment changes nothing; anything else may.
    editor.replace(&uri, 2, &format!("/* c */ {MODEL}"));
    assert!(hints(&editor, &uri).iter().any(|hint| hint.contains("% of states")));
    editor.replace(&uri, 3, &MODEL.replace("left < 3", "left < 5"));
    assert!(!hints(&editor, &uri).iter().any(|hint| hint.contains("% of states")), "an old figure");
}

#[test]
fn a_larger_model_is_looked_at_when_somebody_asks() {
    let editor = Editor::new();
    let uri = uri("large");
    let text = "byte x[3]; byte y;
active proctype P() { do :: x[0] < 60 -> x[0]++ :: x[1] < 60 -> x[1]++ :: x[2] < 60 -> x[2]++ :: else -> break od }
";
    editor.open(&uri, text);
    until("the offer", || {
        let titles = titles(&editor, &uri);
        titles.contains(&"▶ what states are spent on".to_owned()).then_some(titles)
    });
    assert!(!hints(&editor, &uri).iter().any(|hint| hint.contains("% of states")));
    let said =
        editor.request("workspace/executeCommand", json!({ "command": "fabius.costs", "arguments": [{ "uri": uri }] }));
    assert!(said["states"].as_u64() > Some(61 * 61 * 61) && said["exhaustive"] == true, "{said}");
    let shown = |message: &Value| message["method"] == "window/showMessage";
    let shown = editor.wait("the sentence", shown);
    assert_eq!(shown["params"]["message"], said["sentence"]);
    let hints = hints(&editor, &uri);
    assert!(hints.iter().any(|hint| hint.ends_with("99 % of states")), "{hints:?}");
    assert!(!titles(&editor, &uri).contains(&"▶ what states are spent on".to_owned()));
}
