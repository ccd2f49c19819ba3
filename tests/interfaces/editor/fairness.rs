//! Fairness in the editor: what is chosen, what is asked for, and what a violation says of it.

use super::client::Editor;
use super::uri;
use serde_json::{Value, json};

/// Whether `P` ever moves is a question of fairness.
const MODEL: &str = "\
byte x;
active proctype P() { x = 1 }
active proctype Q() { do :: x < 2 -> skip od }
ltl p { <> (x == 1) }
";

fn property(status: &Value) -> &Value {
    status["properties"].as_array().unwrap().iter().find(|one| one["name"] == "p").unwrap()
}

#[test]
fn a_violation_by_an_unfair_run_offers_a_check_with_fairness() {
    let editor = Editor::new();
    let uri = uri("unfair");
    editor.open(&uri, MODEL);
    let says = |params: &Value, words: &str| params["diagnostics"].to_string().contains(words);
    let found = editor.diagnostics(&uri, "the unfair run", |params| says(params, "excluded under weak fairness"));
    assert_eq!(property(&editor.settled(&uri, 1))["fairness"], "none");
    let whole = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 4, "character": 0 } });
    let about = json!({ "textDocument": { "uri": uri }, "range": whole, "context": { "diagnostics": [] } });
    let offered = editor.request("textDocument/codeAction", about.clone());
    let command = |title: &str, offered: &Value| {
        let all = offered.as_array().unwrap();
        let one = all.iter().find(|one| one["title"] == title);
        one.unwrap_or_else(|| panic!("no `{title}` in {offered}"))["command"].clone()
    };
    let weak = command("Check `p` under weak fairness", &offered);
    assert_eq!(weak["arguments"][0]["fairness"], "weak", "{found}");
    editor.forget();
    editor.request("workspace/executeCommand", json!({ "command": weak["command"], "arguments": weak["arguments"] }));
    // A status of the check before may still be on its way.
    let settled = editor.wait("the check under weak fairness", |message| {
        let params = &message["params"];
        let settled = message["method"] == "fabius/status" && params["running"].is_null();
        settled && property(params)["fairness"] == "weak" && !property(params)["verdict"].is_null()
    });
    let known = property(&settled["params"]);
    assert_eq!(known["verdict"], "holds", "{known}");
    assert!(known["summary"].as_str().unwrap().contains("holds under weak fairness"), "{known}");
    editor.diagnostics(&uri, "no violation", |params| !says(params, "fairness"));
    // And back.
    let all = command("Check `p` without fairness", &editor.request("textDocument/codeAction", about));
    editor.request("workspace/executeCommand", json!({ "command": all["command"], "arguments": all["arguments"] }));
    editor.diagnostics(&uri, "the unfair run", |params| says(params, "excluded under weak fairness"));
}

#[test]
fn fairness_can_be_chosen_and_nonsense_is_refused() {
    let editor = Editor::new();
    editor.notify("workspace/didChangeConfiguration", json!({ "settings": { "fabius": { "fairness": "weak" } } }));
    let uri = uri("fair");
    editor.open(&uri, MODEL);
    let settled = editor.settled(&uri, 1);
    assert_eq!(property(&settled)["verdict"], "holds", "{settled}");
    assert_eq!(property(&settled)["fairness"], "weak", "{settled}");
    let answer = editor.answer(editor.ask("fabius/run", json!({ "uri": uri, "fairness": "fair" })));
    assert!(answer["error"]["message"].as_str().unwrap().contains("`fair`"), "{answer}");
    editor.notify("workspace/didChangeConfiguration", json!({ "settings": { "fabius": { "fairness": "none" } } }));
    let says = |params: &Value| params["diagnostics"].to_string().contains("excluded under weak fairness");
    editor.diagnostics(&uri, "the unfair run", says);
}
