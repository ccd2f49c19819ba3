//! Which statements runs execute, beside the text.

use super::*;

#[test]
fn coverage_follows_the_text() {
    let editor = Editor::new();
    let uri = uri("coverage");
    let text = "byte x;\nactive proctype P() {\n    x = 1;\n    if\n    :: x == 1 -> x = 2\n    :: x == 5 -> x = 3\n    fi\n}\n";
    editor.open(&uri, text);
    let surveyed = |version: i32| {
        editor.wait("the survey", |message| {
            message["method"] == "fabius/status"
                && message["params"]["version"] == version
                && message["params"]["survey"]["exhaustive"] == true
        })
    };
    let coverage = || editor.request("fabius/lines", json!({ "uri": uri }))["coverage"].clone();
    let lines = |coverage: &Value, executed: bool| -> Vec<u64> {
        let statements = coverage["statements"].as_array().unwrap().iter();
        let found = statements.filter(|one| one["executed"] == executed);
        found.map(|one| one["range"]["start"]["line"].as_u64().unwrap()).collect()
    };
    surveyed(1);
    let first = coverage();
    assert_eq!((lines(&first, true), lines(&first, false)), (vec![2, 4, 4], vec![5, 5]), "{first}");
    // A comment moves it, an edit of the meaning ends it.
    editor.edit(&uri, 2, (0, 0), (0, 0), "// one\n");
    let moved = coverage();
    assert_eq!((lines(&moved, true), lines(&moved, false)), (vec![3, 5, 5], vec![6, 6]), "{moved}");
    editor.replace(&uri, 3, &text.replace("x = 1;", "x = 5;"));
    assert!(coverage().is_null());
}

#[test]
fn coverage_comes_while_another_model_is_searched() {
    let editor = Editor::new();
    let [long, small] = ["long", "small"].map(uri);
    let searched = |params: &Value| params["uri"] == *long && params["running"]["tier"] == "deep";
    editor.open(&long, ENDLESS);
    editor.wait("a long search", |message| message["method"] == "fabius/status" && searched(&message["params"]));
    editor.open(&small, FAILING);
    editor.wait("the survey", |message| {
        let params = &message["params"];
        message["method"] == "fabius/status" && params["uri"] == *small && params["survey"].is_object()
    });
    let status = editor.request("fabius/properties", json!({ "uri": long }));
    assert!(!status["running"].is_null(), "{status}");
}

#[test]
fn coverage_comes_for_whoever_asks_although_nobody_wants_hints() {
    let editor = Editor::new();
    let uri = uri("asked");
    editor.notify("workspace/didChangeConfiguration", json!({ "settings": { "fabius": { "hints": false } } }));
    editor.open(&uri, FAILING);
    let status = editor.settled(&uri, 1);
    assert_eq!((&status["survey"], &status["surveying"]), (&Value::Null, &json!(false)), "{status}");
    editor.forget();
    let status = editor.request("fabius/survey", json!({ "uri": uri }));
    assert_eq!((&status["survey"], &status["surveying"]), (&Value::Null, &json!(true)), "{status}");
    // What was told before may come after the answer.
    let begun = status["serial"].as_u64();
    let over = editor.wait("the end of the survey", |message| {
        let params = &message["params"];
        message["method"] == "fabius/status" && begun < params["serial"].as_u64() && params["surveying"] == false
    });
    assert_eq!(over["params"]["survey"]["exhaustive"], true, "{over}");
    // What is there is not looked for again.
    let status = editor.request("fabius/survey", json!({ "uri": uri }));
    assert_eq!(status["surveying"], false, "{status}");
}

/// No search comes to the end of it, or to the third option.
const COUNTING: &str = "int n, m, x;
active proctype P() {
  do
  :: n < 900000000 -> n++
  :: n == 900000000 -> x = 1
  od
}
active proctype Q() {
  do
  :: m++
  od
}
";

/// The lines of the statements that nothing executed so far.
fn not_executed(lines: &Value) -> Vec<u64> {
    let ranges = lines["notExecuted"]["ranges"].as_array().into_iter().flatten();
    ranges.map(|range| range["start"]["line"].as_u64().unwrap()).collect()
}

#[test]
fn what_was_not_executed_so_far_is_told_while_a_search_is_not_complete() {
    let editor = Editor::new();
    let uri = uri("counting");
    editor.notify(
        "workspace/didChangeConfiguration",
        json!({ "settings": { "fabius": { "quickMilliseconds": 20, "deepSeconds": 600 } } }),
    );
    editor.open(&uri, COUNTING);
    let lines = || editor.request("fabius/lines", json!({ "uri": uri }));
    editor.wait("the first look", |message| {
        let params = &message["params"];
        message["method"] == "fabius/status"
            && params["uri"] == *uri
            && params["running"]["tier"] == "deep"
            && params["properties"][0]["verdict"] == "undecided"
    });
    let told = lines();
    let open = not_executed(&told);
    assert!(!open.is_empty() && open.iter().all(|line| *line == 4), "{told}");
    assert!(told["notExecuted"]["states"].as_u64().unwrap() > 0, "{told}");
    assert_eq!(told["notExecuted"]["isSearching"], true, "{told}");
    // A comment moves them; an edit of the meaning ends what is known.
    editor.edit(&uri, 2, (0, 0), (0, 0), "// one\n");
    assert_eq!(not_executed(&lines()), open.iter().map(|line| line + 1).collect::<Vec<u64>>());
    editor.replace(&uri, 3, &COUNTING.replace("x = 1", "x = 2"));
    assert!(lines()["notExecuted"].is_null());
}

#[test]
fn what_a_search_proved_or_a_run_executes_is_not_told_as_not_executed_so_far() {
    let editor = Editor::new();
    let [proved, failing] = ["proved", "failing"].map(uri);
    editor.open(&proved, &COUNTING.replace("900000000", "9").replace("m++", "m = 1 - m"));
    editor.settled(&proved, 1);
    let lines = editor.request("fabius/lines", json!({ "uri": proved }));
    assert!(lines["notExecuted"].is_null(), "{lines}");
    editor.open(&failing, &FAILING.replace("critical--", "critical--; x = 1").replace("byte turn", "byte x, turn"));
    editor.settled(&failing, 1);
    let lines = editor.request("fabius/lines", json!({ "uri": failing }));
    assert!(lines["notExecuted"].is_null(), "a violation ends the search early: {lines}");
}
