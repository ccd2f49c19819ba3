//! The parts of a condition that make it false, named and placed.

use super::client::Editor;
use super::models::uri;
use serde_json::{Value, json};

const MODEL: &str = "byte a, b, c = 1;
active proctype P() {
  c == 1;
  if
  :: c && (a || b > 2) && !(c > 0)
  :: a > 5
  fi
}
";

#[test]
fn the_parts_that_keep_a_process_from_going_on_are_named_and_placed() {
    let editor = Editor::new();
    let uri = uri("parts");
    editor.open(&uri, MODEL);
    editor
        .diagnostics(&uri, "a deadlock", |params| params["diagnostics"].as_array().is_some_and(|all| !all.is_empty()));
    let why = |step: u64| editor.request("fabius/why", json!({ "uri": uri, "step": step, "pid": 0 }));
    let parts = |statement: &Value| -> Vec<(String, bool, u64, u64, u64)> {
        let parts = statement["parts"].as_array().unwrap().iter();
        let number = |value: &Value| value.as_u64().unwrap();
        let shown = parts.map(|part| {
            let (start, end) = (&part["range"]["start"], &part["range"]["end"]);
            assert_eq!((&part["uri"], &start["line"]), (&json!(uri), &end["line"]));
            (
                part["text"].as_str().unwrap().to_owned(),
                part["holds"] == true,
                number(&start["line"]),
                number(&start["character"]),
                number(&end["character"]),
            )
        });
        shown.collect()
    };
    let last = why(1);
    let statements = last["processes"][0]["statements"].as_array().unwrap();
    assert!(statements.iter().all(|statement| statement["executable"] == false), "{last}");
    let named = |text: &str, holds, line, from, to| (text.to_owned(), holds, line, from, to);
    assert_eq!(
        parts(&statements[0]),
        [named("a", false, 4, 11, 12), named("b > 2", false, 4, 16, 21), named("c > 0", true, 4, 27, 34)],
        "{last}"
    );
    assert_eq!(statements[0]["parts"][1]["sentence"], "`b > 2` is false: b is 0");
    assert_eq!(statements[0]["parts"][2]["sentence"], "`c > 0` is true: c is 1");
    assert_eq!(parts(&statements[1]), [named("a > 5", false, 5, 5, 10)]);
    // What can be executed has no such parts.
    let first = why(0);
    let statement = &first["processes"][0]["statements"][0];
    assert_eq!((&statement["executable"], &statement["parts"]), (&json!(true), &json!([])), "{first}");
}

#[test]
fn the_parts_of_a_provided_clause_and_of_macros_are_placed() {
    let text = "#define LIMIT 3\n#define OPEN (a > 0)\nbyte a, b = 1;\n\
        active proctype P() provided (b == 2 || OPEN) {\n  b = 0\n}\nactive proctype Q() {\n  b > LIMIT && OPEN\n}\n";
    let editor = Editor::new();
    let uri = uri("provided");
    editor.open(&uri, text);
    editor
        .diagnostics(&uri, "a deadlock", |params| params["diagnostics"].as_array().is_some_and(|all| !all.is_empty()));
    let placed = |pid: u64| -> Vec<(String, String)> {
        let why = editor.request("fabius/why", json!({ "uri": uri, "step": 0, "pid": pid }));
        let parts = why["processes"][0]["statements"][0]["parts"].as_array().unwrap().clone();
        let shown = parts.iter().map(|part| {
            let (start, end) = (&part["range"]["start"], &part["range"]["end"]);
            let line = text.lines().nth(start["line"].as_u64().unwrap() as usize).unwrap();
            let at = |position: &Value| position["character"].as_u64().unwrap() as usize;
            (line[at(start)..at(end)].to_owned(), part["sentence"].as_str().unwrap().to_owned())
        });
        shown.collect()
    };
    let named = |place: &str, sentence: &str| (place.to_owned(), sentence.to_owned());
    let open = named("OPEN", "`a > 0` is false: a is 0");
    assert_eq!(placed(0), [named("b == 2", "`b == 2` is false: b is 1"), open.clone()]);
    assert_eq!(placed(1), [named("b > LIMIT", "`b > 3` is false: b is 1"), open]);
}
