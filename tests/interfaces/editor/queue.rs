//! The order in which properties are checked: shown while a check goes on, and changed.

use super::client::Editor;
use super::models::uri;
use serde_json::{Value, json};

/// More states than any test waits for, and two formulas beside the assertion.
const MODEL: &str = "int a, b, c, d;
#define COUNT(x) do :: x < 30000 -> x++ :: x > 0 -> x-- od
active proctype A() { COUNT(a) }
active proctype B() { COUNT(b) }
active proctype C() { COUNT(c) }
active proctype D() { do :: d < 30000 -> d++ :: d > 0 -> d-- :: a + b + c + d > 120000 ->
  assert(false)
od }
ltl p { [] (a < 30001) }
ltl q { [] (b < 30001) }
";

fn lenses(editor: &Editor, uri: &str) -> Vec<Value> {
    let lenses = editor.request("textDocument/codeLens", json!({ "textDocument": { "uri": uri } }));
    lenses.as_array().expect("lenses").clone()
}

fn titles_at(editor: &Editor, uri: &str, line: u64) -> Vec<String> {
    let here = |lens: &Value| lens["range"]["start"]["line"] == line;
    let lenses = lenses(editor, uri);
    let titles = lenses.iter().filter(|lens| here(lens)).map(|lens| lens["command"]["title"].as_str());
    titles.map(|title| title.expect("a title").to_owned()).collect()
}

fn line_of(property: &str) -> u64 {
    match property {
        "p" => 8,
        "q" => 9,
        _ => 2,
    }
}

fn names(status: &Value) -> Vec<String> {
    let waiting = status["waiting"].as_array().expect("a queue").iter().map(|one| &one["property"]);
    let all = std::iter::once(&status["running"]["property"]).chain(waiting);
    all.map(|name| name.as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn the_queue_of_a_check_is_told_and_can_be_changed() {
    let editor = Editor::with(json!({ "workspace": { "codeLens": { "refreshSupport": true } } }));
    let uri = uri("queued");
    editor.open(&uri, MODEL);
    let long = |message: &Value| {
        let running = &message["params"]["running"];
        message["method"] == "fabius/status" && running["tier"] == "deep" && !running["progress"].is_null()
    };
    let status = editor.wait("a deep search", long)["params"].clone();
    assert!(status["running"]["ahead"].is_null(), "{status}");
    let order = names(&status);
    let mut sorted = order.clone();
    sorted.sort();
    assert_eq!(sorted, ["p", "q", "safety"]);
    let state = |status: &Value, name: &str| {
        let properties = status["properties"].as_array().unwrap().iter();
        properties.filter(|one| one["name"] == name).map(|one| one["state"].clone()).next().unwrap()
    };
    assert_eq!(state(&status, &order[0]), "running");
    assert_ne!(state(&status, &order[1]), "running");
    // What is being checked says how far it is, and asks for its lenses to be asked for again.
    editor.wait("a refresh", |message| message["method"] == "workspace/codeLens/refresh");
    let running = titles_at(&editor, &uri, line_of(&order[0]));
    assert!(running.iter().any(|title| title.starts_with("checking …, ") && title.contains(" state")), "{running:?}");
    let last = titles_at(&editor, &uri, line_of(&order[2]));
    assert!(last.contains(&"waits, 1 property before it".to_owned()), "{last:?}");
    // The lens of the last one puts it first.
    let first = format!("▶ check {} first", order[2]);
    let lens = lenses(&editor, &uri).into_iter().find(|lens| lens["command"]["title"] == first.as_str()).unwrap();
    let run = &lens["command"];
    let changed =
        editor.request("workspace/executeCommand", json!({ "command": run["command"], "arguments": run["arguments"] }));
    assert_eq!(names(&changed), [&*order[2], &order[0], &order[1]]);
    let interrupted = &changed["waiting"][0]["progress"]["states"];
    assert!(status["running"]["progress"]["states"].as_u64() <= interrupted.as_u64(), "{changed}");
    // One property less, then one less that is being checked.
    let fewer = editor.request("fabius/stop", json!({ "uri": uri, "property": order[1] }));
    assert_eq!(names(&fewer), [&*order[2], &order[0]]);
    let fewer = editor.request("fabius/stop", json!({ "uri": uri, "property": order[2] }));
    assert_eq!(names(&fewer), [&*order[0]]);
    assert!(interrupted.as_u64() <= fewer["running"]["progress"]["states"].as_u64(), "it began again: {fewer}");
    let none = editor.request("fabius/stop", json!({ "uri": uri, "property": order[0] }));
    assert!(none["running"].is_null() && none["waiting"] == json!([]), "{none}");
    let idle = titles_at(&editor, &uri, line_of("p"));
    assert_eq!(idle[0], "▶ check p");
}

#[test]
fn lines_say_where_properties_stand() {
    let editor = Editor::new();
    let uri = uri("placed");
    editor.open(&uri, MODEL);
    let lines = editor.request("fabius/lines", json!({ "uri": uri }));
    let mut found = Vec::new();
    for line in lines["lines"].as_array().unwrap() {
        let marks = line["marks"].as_array().unwrap().iter().filter(|mark| mark["kind"] == "property");
        found.extend(
            marks.map(|mark| (line["line"].as_u64().unwrap(), mark["property"].clone(), mark["assertion"].clone())),
        );
    }
    let wanted = [(2, "safety", false), (6, "safety", true), (8, "p", false), (9, "q", false)];
    assert_eq!(found, wanted.map(|(line, name, assertion)| (line, json!(name), json!(assertion))));
}

#[test]
fn an_editor_that_does_not_follow_lenses_is_not_told_what_gets_old() {
    let editor = Editor::new();
    let uri = uri("frozen");
    editor.open(&uri, MODEL);
    editor.wait("a search", |message| !message["params"]["running"]["progress"].is_null());
    let all: Vec<String> = (0..10).flat_map(|line| titles_at(&editor, &uri, line)).collect();
    assert!(all.iter().any(|title| title.starts_with("■ stop checking")), "{all:?}");
    assert!(!all.iter().any(|title| title.contains("checking …") || title.contains("waits")), "{all:?}");
}
