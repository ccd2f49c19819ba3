//! The causes of violations in an editor: offered at a violation, found by a search, each with its run.

use super::client::Editor;
use super::models::uri;
use serde_json::json;

/// Somebody overwrites the lock, or the lock is taken without looking.
const SEAT: &str = "byte seats = 1, sold;
active proctype Desk() {
  seats > 0; sold++; assert(sold < 2); seats--
}
active proctype Telephone() {
  seats > 0; sold++; assert(sold < 2); seats--
}
";

#[test]
fn a_violation_offers_its_causes_and_each_has_a_run() {
    let editor = Editor::new();
    let uri = uri("causes");
    editor.open(&uri, SEAT);
    editor.settled(&uri, 1);
    let actions = editor.request(
        "textDocument/codeAction",
        json!({ "textDocument": { "uri": uri }, "range": { "start": { "line": 0, "character": 0 }, "end": { "line": 7, "character": 0 } },
            "context": { "diagnostics": [] } }),
    );
    let offered = actions.as_array().unwrap().iter().find(|action| action["command"]["command"] == "fabius.causes");
    let offered = offered.unwrap_or_else(|| panic!("{actions}"));
    assert_eq!(offered["title"], "Find the causes of all violations of `safety`");
    let params = offered["command"]["arguments"][0].clone();
    assert_eq!(params, json!({ "uri": uri, "property": "safety" }));
    let found = editor.request("fabius/causes", params);
    assert_eq!((&found["complete"], &found["stale"]), (&json!(true), &json!(false)), "{found}");
    let causes = found["causes"].as_array().unwrap();
    assert_eq!(found["sentence"], json!(format!("safety: {} causes, and no others", causes.len())), "{found}");
    assert!(1 < causes.len(), "{found}");
    for cause in causes {
        let page = editor.request("fabius/trace", json!({ "uri": uri, "run": cause["run"] }));
        assert_eq!(page["message"], cause["sentence"], "{page}");
        let lines = |steps: &serde_json::Value, key: &str| -> std::collections::BTreeSet<u64> {
            steps.as_array().unwrap().iter().map(|step| step[key].as_u64().unwrap()).collect()
        };
        assert_eq!(lines(&page["page"], "line"), lines(&cause["statements"], "line"), "{page}");
    }
    let none = editor.request("fabius/causes", json!({ "uri": uri, "property": "progress" }));
    assert_eq!(none["sentence"], "the model has no such property");
    let unknown = editor.answer(editor.ask("fabius/causes", json!({ "uri": uri, "property": "nonsense" })));
    assert!(unknown["error"]["message"].as_str().unwrap().contains("no property `nonsense`"), "{unknown}");
}
