//! Where a formula holds along a counterexample: the trace of the editor says what the report says, and hover says what the formula means.

use super::client::Editor;
use super::models::uri;
use fabius_testkit::run::Run;
use fabius_testkit::scratch::Scratch;
use serde_json::{Value, json};

const MODEL: &str = "\
byte x; bool req, ack;
active proctype P() { do :: req = 1; req = 0 :: x < 3 -> x++ :: ack = 1; ack = 0 od }
ltl live { [] (req -> <> (ack && x < 2)) }
ltl low { [] (x < 3) }
ltl fine { [] (x < 4) }
";

/// The ribbon of a property in the report of the command line.
fn reported(property: &str) -> Value {
    let scratch = Scratch::new().unwrap();
    let model = scratch.file("m.pml", MODEL);
    let command = format!("\"$0\" check --json --property {property} \"$1\"");
    let run = Run::shell(env!("CARGO_BIN_EXE_fabius"), &command, &[&model]);
    let report: Value = serde_json::from_str(&run.out).unwrap();
    report["properties"][0]["violations"][0]["ribbon"].clone()
}

/// The value of a cell of the table as the report has it, and whether it decides.
fn value(cell: &Value) -> (Value, bool) {
    match cell.as_str().unwrap() {
        "true" => (json!(true), false),
        "false" => (json!(false), false),
        "undetermined" => (Value::Null, false),
        "false-decisive" => (json!(false), true),
        "true-decisive" => (json!(true), true),
        other => panic!("{other}"),
    }
}

#[test]
fn the_trace_has_the_ribbon_of_the_report() {
    let editor = Editor::new();
    let uri = uri("ribbon");
    editor.open(&uri, MODEL);
    editor.settled(&uri, 1);
    for property in ["live", "low"] {
        let told = reported(property);
        let trace = editor.request("fabius/trace", json!({ "uri": uri, "property": property }));
        let table = &trace["ribbon"];
        assert_eq!(table["heading"], "where the formula holds", "{trace}");
        assert_eq!(table["sentence"], told["sentence"]);
        assert_eq!(
            (&table["positions"], &table["loopPosition"]),
            (&told["positions"], &told["loop_position"]),
            "{table}"
        );
        let columns = table["columns"].as_array().unwrap();
        assert_eq!(
            columns.iter().map(|column| &column["first"]).collect::<Vec<_>>(),
            told["columns"].as_array().unwrap().iter().collect::<Vec<_>>()
        );
        let rows = table["rows"].as_array().unwrap();
        assert_eq!(rows.len(), told["rows"].as_array().unwrap().len());
        for (number, row) in rows.iter().enumerate() {
            assert_eq!(row["text"], told["rows"][number]["formula"]);
            for (column, cell) in columns.iter().zip(row["cells"].as_array().unwrap()) {
                let at = column["first"].as_u64().unwrap();
                let decides = told["decides"]["row"] == number && told["decides"]["position"] == at;
                let all = column["first"].as_u64().unwrap()..=column["last"].as_u64().unwrap();
                for position in all {
                    let expected = &told["rows"][number]["values"][position as usize];
                    assert_eq!(value(cell), (expected.clone(), decides), "{property} {number} {position}");
                }
            }
        }
    }
    let second = editor.request("fabius/trace", json!({ "uri": uri, "property": "live", "from": 2 }));
    assert_eq!(second["ribbon"], Value::Null, "only the first page has it");
}

#[test]
fn hover_on_a_formula_says_what_it_means_and_where_its_automaton_is() {
    let editor = Editor::new();
    let uri = uri("formula");
    editor.open(&uri, MODEL);
    editor.settled(&uri, 1);
    let hover = |line: u32, character: u32| {
        let params = json!({ "textDocument": { "uri": uri }, "position": { "line": line, "character": character } });
        editor.request("textDocument/hover", params)["contents"]["value"].as_str().unwrap_or_default().to_owned()
    };
    let says = hover(2, 5);
    let sentence = reported("live")["sentence"].as_str().unwrap().to_owned();
    assert!(says.contains(&format!("`live` says: {sentence}.")), "{says}");
    assert!(says.contains("state 1 (initial)") && says.contains("(accepting)"), "{says}");
    assert!(says.contains("In the counterexample it is in state 1 after step 0"), "{says}");
    assert!(!says.contains("which is shown"), "{says}");
    // The run goes into the accepting state when `req` is true, after step 1.
    for (step, state) in [(0, 1), (1, 2)] {
        editor.request("fabius/select", json!({ "uri": uri, "property": "live", "step": step }));
        let says = hover(2, 5);
        let wanted = format!("**After step {step}, which is shown, it is in state {state}.**");
        assert!(says.contains(&wanted), "{wanted}: {says}");
    }
    // What is shown is a run of another formula; a formula that holds has none.
    assert!(hover(3, 5).contains("`low` says: `x < 3` is always true.") && !hover(3, 5).contains("which is shown"));
    assert!(hover(4, 5).contains("`fine` says: ") && !hover(4, 5).contains("counterexample"), "{}", hover(4, 5));
}
