//! Checks that are told from which states not to go on.

use super::client::Editor;
use super::uri;
use serde_json::{Value, json};

const MODEL: &str = "\
byte x, y;
active proctype P() { do :: x < 9 -> x++ :: x == 9 -> assert(y < 9) od }
active proctype Q() { do :: y < 9 -> y++ :: else -> y = 0 od }
";

fn safety(status: &Value) -> &Value {
    status["properties"].as_array().unwrap().iter().find(|one| one["name"] == "safety").unwrap()
}

#[test]
fn checks_do_not_go_on_from_states_that_were_named() {
    let editor = Editor::new();
    let uri = uri("leave-out");
    editor.open(&uri, MODEL);
    let before = editor.settled(&uri, 1);
    assert_eq!((&safety(&before)["verdict"], &before["leaveOut"]), (&json!("violated"), &Value::Null), "{before}");
    let answer =
        |condition: &str| editor.answer(editor.ask("fabius/run", json!({ "uri": uri, "leaveOut": condition })));
    let settled = |wanted: Value| {
        let settled = editor.wait("the check", |message| {
            let params = &message["params"];
            let settled = message["method"] == "fabius/status" && params["running"].is_null();
            settled && params["leaveOut"] == wanted && !safety(params)["verdict"].is_null()
        });
        settled["params"].clone()
    };
    for (condition, why) in
        [("z > 1", "`z` is not declared"), ("x == 0", "nothing is left to explore"), ("x +", "expected an expression")]
    {
        let refused = answer(condition);
        assert!(refused["error"]["message"].as_str().is_some_and(|told| told.contains(why)), "{refused}");
    }
    editor.forget();
    assert_eq!(answer(" x == 3 ")["result"]["leaveOut"], "x == 3");
    let known = safety(&settled(json!("x == 3"))).clone();
    assert_eq!((&known["verdict"], &known["exhaustive"]), (&json!("undecided"), &json!(false)), "{known}");
    assert!(
        known["summary"].as_str().unwrap().contains("did not go on from states in which `x == 3` is true"),
        "{known}"
    );
    // What an edit leaves without a meaning is said, and nothing is checked as if it had been taken back.
    editor.forget();
    editor.replace(&uri, 2, &MODEL.replace('x', "z"));
    editor.save(&uri);
    let faulty = editor.wait("the condition without a meaning", |message| !message["params"]["faulty"].is_null());
    let told = faulty["params"]["faulty"]["message"].as_str().unwrap();
    assert!(told.contains("where `x == 3` is true") && told.contains("`x` is not declared"), "{told}");
    editor.forget();
    assert_eq!(answer("")["result"]["leaveOut"], Value::Null);
    assert_eq!(safety(&settled(Value::Null))["verdict"], "violated");
}
