//! What the editor says of schedules that avoid an error.

use super::client::{Editor, PATIENCE};
use super::models::uri;
use serde_json::{Value, json};

/// Each takes its left fork first.
const FORKS: &str = "byte fork[2];
active [2] proctype Philosopher() {
    do
    :: fork[_pid] == 0 -> fork[_pid] = 1;
       fork[1 - _pid] == 0;
       fork[1 - _pid] = 1;
       fork[1 - _pid] = 0;
       fork[_pid] = 0
    od
}
";

fn has_schedule(diagnostic: &Value) -> bool {
    diagnostic["message"].as_str().is_some_and(|message| message.contains("\nAvoidable: holds if "))
}

fn of(told: &Value) -> &Vec<Value> {
    told["diagnostics"].as_array().unwrap()
}

/// Asks for actions at the violation until one lets processes wait.
fn waiting(editor: &Editor, uri: &str, at: &Value) -> Value {
    let params = json!({ "textDocument": { "uri": uri }, "range": at, "context": { "diagnostics": [] } });
    let end = std::time::Instant::now() + PATIENCE;
    loop {
        let actions = editor.request("textDocument/codeAction", params.clone());
        let titled = |action: &&Value| action["title"].as_str().is_some_and(|title| title.starts_with("Let a Phil"));
        if let Some(action) = actions.as_array().unwrap().iter().find(titled) {
            return action.clone();
        }
        assert!(std::time::Instant::now() < end, "{actions}");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

#[test]
fn a_violation_says_which_waits_avoid_it_and_an_action_writes_them() {
    let editor = Editor::new();
    let uri = uri("forks");
    editor.open(&uri, FORKS);
    let told = editor.diagnostics(&uri, "a schedule", |all| of(all).iter().any(has_schedule));
    let violation = of(&told).iter().find(|diagnostic| has_schedule(diagnostic)).unwrap();
    let related = violation["relatedInformation"].as_array().unwrap();
    let says = |words: &str| related.iter().any(|place| place["message"].as_str().unwrap().contains(words));
    assert!(says("avoidable if Philosopher waits here"), "{violation}");
    assert!(says("while another Philosopher is"), "{violation}");
    let properties = editor.request("fabius/properties", json!({ "uri": uri }));
    assert_eq!(properties["properties"][0]["avoidable"], true, "{properties}");
    let action = waiting(&editor, &uri, &violation["range"]);
    assert!(action["title"].as_str().unwrap().contains("no error and no deadlock in all "), "{action}");
    let mut text = FORKS.to_owned();
    let mut edits: Vec<&Value> = action["edit"]["changes"][&uri].as_array().unwrap().iter().collect();
    let byte = |position: &Value| {
        let before: usize =
            FORKS.split_inclusive('\n').take(position["line"].as_u64().unwrap() as usize).map(str::len).sum();
        before + position["character"].as_u64().unwrap() as usize
    };
    edits.sort_by_key(|edit| std::cmp::Reverse(byte(&edit["range"]["start"])));
    for edit in edits {
        let range = byte(&edit["range"]["start"])..byte(&edit["range"]["end"]);
        text.replace_range(range, edit["newText"].as_str().unwrap());
    }
    editor.replace(&uri, 2, &text);
    editor.save(&uri);
    editor.settled(&uri, 2);
    let last = editor.request("fabius/properties", json!({ "uri": uri }));
    assert_eq!(last["properties"][0]["verdict"], "holds", "{last}\n{text}");
}
