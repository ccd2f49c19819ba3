//! Values of macros that a comment names: checked by a code lens, told in a line and as a table.

use super::client::{Editor, PATIENCE};
use super::models::uri;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Deadlocks if there are more than three.
const MODEL: &str = "/*@ sweep N = 2..5 */
#ifndef N
#define N 2
#endif
byte done;
active [N] proctype P() { done++; done <= 3 || N < 4 }
";

fn lenses(editor: &Editor, uri: &str) -> Vec<Value> {
    let all = editor.request("textDocument/codeLens", json!({ "textDocument": { "uri": uri } }));
    let all = all.as_array().expect("lenses").clone();
    all.into_iter().filter(|lens| lens["range"]["start"]["line"] == 0).collect()
}

/// The titles of the lenses at the comment, once one of them says this.
fn titles(editor: &Editor, uri: &str, says: &str) -> Vec<String> {
    let end = Instant::now() + PATIENCE;
    loop {
        let titles: Vec<String> = lenses(editor, uri)
            .iter()
            .filter_map(|lens| lens["command"]["title"].as_str().map(str::to_owned))
            .collect();
        if titles.iter().any(|title| title.contains(says)) {
            return titles;
        }
        assert!(Instant::now() < end, "{titles:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn hover(editor: &Editor, uri: &str) -> String {
    let at = json!({ "textDocument": { "uri": uri }, "position": { "line": 0, "character": 6 } });
    editor.request("textDocument/hover", at)["contents"]["value"].as_str().expect("text").to_owned()
}

#[test]
fn a_lens_checks_the_values_that_a_comment_names() {
    let editor = Editor::new();
    let uri = uri("swept");
    editor.open(&uri, MODEL);
    let before = titles(&editor, &uri, "check with");
    assert_eq!(before, ["▶ check with N = 2..5"]);
    assert!(hover(&editor, &uri).contains("checked with each of these values when somebody asks"));
    let lens = lenses(&editor, &uri).remove(0);
    let (command, arguments) = (&lens["command"]["command"], &lens["command"]["arguments"]);
    let answer = editor.request("workspace/executeCommand", json!({ "command": command, "arguments": arguments }));
    let sentence = "holds with N = 2..3, violated with N = 4..5";
    assert_eq!(answer["sentence"], sentence, "{answer}");
    assert_eq!(answer["stale"], false);
    let table = answer["table"].as_str().expect("a table");
    for row in
        ["| N | property | verdict | states | time |", "| 3 | `safety` | holds |", "| 4 | `safety` | violated | ≥ "]
    {
        assert!(table.contains(row), "{row}: {table}");
    }
    assert_eq!(titles(&editor, &uri, sentence), ["▶ check with N = 2..5", sentence]);
    assert_eq!(hover(&editor, &uri), table);
    // An edit may change what the values come to.
    editor.replace(&uri, 2, &MODEL.replace("done <= 3", "done <= 4"));
    titles(&editor, &uri, "violated with N = 4..5 (before the last edits)");
    assert!(hover(&editor, &uri).starts_with("Before the last edits:"));
    let again = editor.request("fabius/sweep", json!({ "uri": uri, "lines": [0] }));
    assert_eq!(again["sentence"], "holds with N = 2..4, violated with N = 5", "{again}");
    titles(&editor, &uri, "holds with N = 2..4, violated with N = 5");
}

#[test]
fn values_without_effect_are_refused() {
    let editor = Editor::new();
    let uri = uri("swept");
    editor.open(&uri, "/*@ sweep N = 2..5 */ active proctype P() { skip }");
    for (line, why) in [(0, "the model does not use N"), (1, "no comment")] {
        let answer = editor.answer(editor.ask("fabius/sweep", json!({ "uri": uri, "lines": [line] })));
        assert!(answer["error"]["message"].as_str().is_some_and(|said| said.contains(why)), "{answer}");
    }
}

/// The more, the longer: with 7 nobody waits for the end.
const GROWING: &str = "/*@ sweep N = 1..9 */
#ifndef N
#define N 1
#endif
int x[N];
active [N] proctype P() { do :: x[_pid] < 60 -> x[_pid]++ :: x[_pid] > 0 -> x[_pid]-- od }
";

#[test]
fn a_sweep_tells_row_by_row_and_can_be_stopped() {
    let editor = Editor::with(json!({ "workspace": { "codeLens": { "refreshSupport": true } } }));
    let uri = uri("growing");
    editor.open(&uri, GROWING);
    let begin = titles(&editor, &uri, "check with");
    assert_eq!(begin, ["▶ check with N = 1..9"]);
    let asked = editor.ask("fabius/sweep", json!({ "uri": uri, "lines": [0] }));
    let going = titles(&editor, &uri, "; checking N = ");
    assert_eq!(going[0], "■ stop checking with N = 1..9");
    assert!(going[1].starts_with("holds with N = 1"), "{going:?}");
    let lens = lenses(&editor, &uri).remove(0);
    let (command, arguments) = (&lens["command"]["command"], &lens["command"]["arguments"]);
    editor.request("workspace/executeCommand", json!({ "command": command, "arguments": arguments }));
    let answer = editor.answer(asked);
    let sentence = answer["result"]["sentence"].as_str().expect("a sentence").to_owned();
    assert!(sentence.starts_with("holds with N = 1") && sentence.contains("not checked with N = "), "{sentence}");
    assert!(answer["result"]["table"].as_str().unwrap().contains("the sweep was stopped"), "{answer}");
    let after = titles(&editor, &uri, &sentence);
    assert_eq!(after, ["▶ check with N = 1..9", &*sentence]);
}
