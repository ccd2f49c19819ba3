//! Where patterns over the past are true along a run that an editor shows, against their definition.

use super::client::Editor;
use super::models::uri;
use serde_json::{Value, json};

/// The number of the process that a claim's moves are told with.
const CLAIM_PID: u64 = 255;
const MODEL: &str = "byte x, y;
active proctype A() { x = 2; y = 2; x = 1; x = 3; y = 0; x = 2; assert(false) }
active proctype B() { do :: y == 2 -> y = 1 od }
ltl low { [] (x < 3) }
";

/// The values of `x` and `y` in the states of a run.
fn states(editor: &Editor, run: &Value) -> Vec<(i64, i64)> {
    let with = |more: &Value| {
        let mut params = run.as_object().unwrap().clone();
        params.extend(more.as_object().unwrap().clone());
        Value::Object(params)
    };
    let trace = editor.request("fabius/trace", with(&json!({ "from": 1 })));
    let page = trace["page"].as_array().unwrap();
    assert_eq!(trace["steps"].as_u64(), Some(page.len() as u64), "a short run");
    // The moves of a claim are no steps of the system.
    let steps = page.iter().filter(|step| step["pid"] != CLAIM_PID).count();
    let state = |step: usize| {
        let state = editor.request("fabius/step", with(&json!({ "step": step })));
        let variables = state["variables"].as_array().unwrap();
        let value = |name: &str| {
            let found = variables.iter().find(|one| one["name"] == name).unwrap();
            found["value"].as_str().unwrap().parse().unwrap()
        };
        (value("x"), value("y"))
    };
    (0..=steps).map(state).collect()
}

#[test]
fn the_steps_are_those_after_which_a_pattern_is_true_by_its_definition() {
    let editor = Editor::new();
    let uri = uri("matches");
    editor.open(&uri, MODEL);
    let status = editor.settled(&uri, 1);
    let names: Vec<&str> =
        status["properties"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names.len(), 2, "{status}");
    for name in names {
        let run = json!({ "uri": uri, "property": name });
        let states = states(&editor, &run);
        assert!(3 < states.len(), "{states:?}");
        let matches = |pattern: &str| {
            let found = editor.request("fabius/matches", json!({ "uri": uri, "property": name, "pattern": pattern }));
            let steps = found["steps"].as_array().unwrap().iter().map(|step| step.as_u64().unwrap() as usize);
            (steps.collect::<Vec<usize>>(), found["sentence"].as_str().unwrap().to_owned())
        };
        let all = |holds: &dyn Fn(usize) -> bool| (0..states.len()).filter(|at| holds(*at)).collect::<Vec<usize>>();
        let big = all(&|at| states[at].0 > 1);
        assert_eq!(matches(" x > 1").0, big, "{states:?}");
        let after = all(&|at| states[at].0 > 1 && states[..at].iter().any(|state| state.1 == 2));
        assert!(after.len() < big.len(), "{states:?}");
        let (steps, sentence) = matches("x > 1 after y == 2");
        assert_eq!(steps, after, "{states:?}");
        if !after.is_empty() {
            let word = if after.len() == 1 { "state" } else { "states" };
            assert_eq!(sentence, format!("`x > 1 after y == 2` is true in {} {word} of {}", after.len(), states.len()));
        }
        assert_eq!(matches("previously (y == 2)").0, all(&|at| 0 < at && states[at - 1].1 == 2), "{states:?}");
        assert_eq!(matches("start (x == 2)").0, all(&|at| states[at].0 == 2 && 0 < at && states[at - 1].0 != 2));
        assert_eq!(matches("x == 9"), (Vec::new(), "`x == 9` is true nowhere in this run".to_owned()));
    }
}

#[test]
fn what_is_wrong_with_a_pattern_is_said_in_a_sentence() {
    let editor = Editor::new();
    let uri = uri("wrong");
    editor.open(&uri, MODEL);
    editor.settled(&uri, 1);
    for (pattern, said) in [("z > 1", "`z` is not declared"), ("x after", "missing beside `after`"), ("", "")] {
        let params = json!({ "uri": uri, "property": "safety", "pattern": pattern });
        let answer = editor.answer(editor.ask("fabius/matches", params));
        let message = answer["error"]["message"].as_str().unwrap_or_else(|| panic!("{answer}"));
        assert!(message.contains(said) && !message.is_empty(), "{answer}");
    }
}
