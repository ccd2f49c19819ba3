//! The run before the last save beside the one after it.

use super::client::Editor;
use super::{FAILING, MENDED, uri};
use serde_json::{Value, json};

#[test]
fn the_run_before_a_save_is_compared_with_what_came_after() {
    let editor = Editor::new();
    let uri = uri("compared");
    editor.open(&uri, FAILING);
    editor.settled(&uri, 1);
    let compare = |about: Value| editor.answer(editor.ask("fabius/compareRuns", about));
    let early = compare(json!({ "uri": uri }));
    assert!(early["error"]["message"].as_str().unwrap().contains("before the last save"), "{early}");

    let saved = |version: i32, text: &str| {
        editor.forget();
        editor.replace(&uri, version, text);
        editor.save(&uri);
        editor.settled(&uri, version);
        compare(json!({ "uri": uri, "property": "safety" }))
    };
    // A comment changes nothing, and is no text before.
    let comment = saved(2, &format!("/* a comment */\n{FAILING}"));
    assert!(comment["error"].is_object(), "{comment}");
    let longer = saved(3, &FAILING.replace("turn = _pid;", "turn = _pid; turn = 1;"));
    let found = &longer["result"]["comparison"];
    assert_eq!((&found["both_violate"], &found["followed"]["outcome"]), (&json!(true), &json!("violates")), "{longer}");
    let rows = found["runs"]["rows"].as_array().unwrap();
    let added = rows.iter().filter(|row| row.get("first").is_none()).collect::<Vec<_>>();
    assert!(!added.is_empty() && added.iter().all(|row| row["second"]["text"] == "turn = 1"), "{longer}");
    assert!(longer["result"]["text"].as_str().unwrap().contains("+         "), "{longer}");
    let mended = saved(4, MENDED);
    let found = &mended["result"]["comparison"];
    assert_eq!((&found["both_violate"], &found["followed"]["of_old"]), (&json!(false), &json!(true)), "{mended}");
    assert!(found["followed"]["departs"].is_u64(), "{mended}");
    let unknown = compare(json!({ "uri": uri, "property": "nothing" }));
    assert!(unknown["error"]["message"].as_str().unwrap().contains("`nothing`"), "{unknown}");
}
