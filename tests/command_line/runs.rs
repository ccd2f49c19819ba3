//! Runs in other ways than step by step: a picture of the model's own, plots, the Informal Trace Format, and lines of an original text;
//! and the searches that found them.

use super::tool;
use fabius_testkit::scratch::Scratch;
use serde_json::Value;

const COUNTER: &str = "byte n; chan q = [4] of { byte };\nactive proctype P() { do :: n < 3 -> n++; q!n :: else -> break od; assert(false) }\n";
const DRAWING: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\"><text data-fabius-text=\"10 * n\">?</text></svg>";

#[test]
fn a_drawing_beside_the_model_is_on_the_page_and_shows_the_last_state() {
    let scratch = Scratch::new().expect("a folder");
    let model = scratch.file("n.pml", COUNTER);
    let without = tool::run(&["check", "--format", "html", &model]).out;
    assert!(!without.contains("v-own\" data-run"));
    let drawing = scratch.file("n.pml.svg", DRAWING);
    let page = tool::run(&["check", "--format", "html", &model]).out;
    assert!(page.contains("data-bound=\"0\">30</text>"), "{page}");
    assert!(page.contains(r#"{"step":0,"value":"0"}"#), "{page}");
    let other =
        scratch.file("other.svg", "<svg xmlns=\"http://www.w3.org/2000/svg\"><text data-fabius-text=\"m\"/></svg>");
    let refused = tool::run(&["check", "--format", "html", "--picture", &other, &model]).out;
    assert!(refused.contains("The picture is not shown") && refused.contains("is not declared"), "{refused}");
    let unseen = tool::run(&["check", "--picture", &drawing, &model]).expect(3);
    assert!(unseen.err.contains("only the page of --format html shows it"), "{}", unseen.err);
    let missing = tool::run(&["check", "--format", "html", "--picture", "nowhere.svg", &model]).expect(3);
    assert!(missing.err.contains("no such file"), "{}", missing.err);
}

#[test]
fn numbers_are_plotted_from_the_initial_state_on() {
    let scratch = Scratch::new().expect("a folder");
    let model = scratch.file("n.pml", COUNTER);
    let text = tool::run(&["check", "--plot", &model]).out;
    let line = |name: &str| {
        let found = text.lines().find(|line| line.trim_start().starts_with(name) && line.contains('▁'));
        found.unwrap_or_else(|| panic!("{text}")).to_owned()
    };
    assert!(line("n ").ends_with("0 to 3") && line("q ").ends_with("0 to 3 messages"), "{text}");
    assert!(tool::run(&["check", "--format", "html", &model]).out.contains("<svg class=\"plot\""));
    let unseen = tool::run(&["check", "--plot", "--json", &model]).expect(3);
    assert!(unseen.err.contains("--plot draws into the text"), "{}", unseen.err);
}

#[test]
fn states_are_written_in_the_informal_trace_format() {
    let scratch = Scratch::new().expect("a folder");
    let model = scratch.file("n.pml", COUNTER);
    tool::run(&["check", "--itf", &model]).expect(1).says("ITF trace written to");
    let text = std::fs::read_to_string(format!("{model}.itf.json")).expect("the trace");
    let trace: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(trace["vars"], serde_json::json!(["n", "channels", "processes"]));
    let states = trace["states"].as_array().expect("states");
    let last = states.last().expect("a state");
    assert_eq!(last["n"]["#bigint"], "3");
    let messages = &last["channels"]["#map"][0];
    assert_eq!(messages[0], "q");
    assert_eq!(messages[1][2], serde_json::json!({ "#tup": [{ "#bigint": "3" }] }));
    assert_eq!(last["processes"]["#map"][0][1]["name"], "P[0]");
}

#[test]
fn lines_of_an_original_text_are_told() {
    let scratch = Scratch::new().expect("a folder");
    let text = "byte n;\n#line 33 \"a.src\"\nactive proctype P() {\n    n = 1;\n# 7 \"b.src\"\n    assert(n == 2)\n}\n";
    let model = scratch.file("generated.pml", text);
    tool::run(&["check", &model]).says("line 4 (a.src:34)").says("line 6 (b.src:7)").says("generated from b.src:7");
    let report = tool::json(&tool::run(&["check", "--json", &model]), "report.schema.json");
    let steps = &report["properties"][0]["violations"][0]["trace"];
    assert_eq!(steps[0]["original"], serde_json::json!({ "file": "a.src", "line": 34 }));
    assert_eq!(steps[0]["line"], 4);
    assert_eq!(steps[1]["original"]["file"], "b.src");
}

#[test]
fn the_searches_are_named_that_ran() {
    let scratch = Scratch::new().expect("a folder");
    let model = scratch.file("n.pml", COUNTER);
    let table = |args: &[&str]| -> Vec<Vec<String>> {
        let text = tool::run(args).out;
        let lines = text.lines().skip_while(|line| !line.starts_with("property")).skip(1);
        let rows = lines.take_while(|line| line.contains("  ") && !line.contains(':'));
        rows.map(|row| row.split("  ").map(|cell| cell.trim().to_owned()).filter(|cell| !cell.is_empty()).collect())
            .collect()
    };
    let searches = table(&["check", "-v", "--no-cache", "--no-schedule", &model]);
    let report =
        tool::json(&tool::run(&["check", "--json", "--no-cache", "--no-schedule", &model]), "report.schema.json");
    let property = &report["properties"][0];
    let [row] = searches.as_slice() else { panic!("{searches:?}") };
    let number = |value: &Value| value.as_u64().expect("a number").to_string();
    let expected = [
        "safety".to_owned(),
        property["search"].as_str().expect("a word").to_owned(),
        number(&property["states"]),
        number(&property["transitions"]),
        "violated".to_owned(),
    ];
    assert_eq!(row, &expected);
    // Where several searches take turns, each has a row, as each has an entry in the JSON.
    let counter = scratch.file("c.pml", "int n; active proctype P() { do :: n++ :: n > 300 -> assert(n != 350) od }\n");
    let turns = table(&["check", "--verbose", "--no-cache", "--no-schedule", "--max-states", "3M", &counter]);
    let report = tool::run(&["check", "--json", "--no-cache", "--no-schedule", "--max-states", "3M", &counter]);
    let report = tool::json(&report, "report.schema.json");
    let tried = report["properties"][0]["tried"].as_array().expect("several searches");
    assert!(1 < tried.len() && tried.len() == turns.len(), "{turns:?} {tried:?}");
    let unseen = tool::run(&["check", "--verbose", "--json", &model]).expect(3);
    assert!(unseen.err.contains("--json lists the searches"), "{}", unseen.err);
}
