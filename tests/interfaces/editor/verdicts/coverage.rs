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
