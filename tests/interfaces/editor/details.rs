//! What an editor asks for once somebody looks at it: more about a proposal, the edits of an action.

use super::client::Editor;
use super::models::uri;
use serde_json::{Value, json};

fn at(uri: &str, line: u32, character: u32) -> Value {
    json!({ "textDocument": { "uri": uri }, "position": { "line": line, "character": character } })
}

#[test]
fn a_proposal_says_more_when_it_is_asked() {
    let editor = Editor::new();
    let uri = uri("proposals");
    editor.open(&uri, "byte total; /* what was sold */\nproctype Shop(byte id; chan to) { to!id }\ninit { t; run  }\n");
    let items = editor.request("textDocument/completion", at(&uri, 2, 8))["items"].clone();
    let find = |items: &Value, label: &str| {
        let found = items.as_array().unwrap().iter().find(|item| item["label"] == label);
        found.unwrap_or_else(|| panic!("{label} is not in {items}")).clone()
    };
    let told = |item: Value| editor.request("completionItem/resolve", item)["documentation"]["value"].clone();
    let total = find(&items, "total");
    assert_eq!(total["documentation"], Value::Null, "the list says only what is needed to choose");
    let documentation = told(total.clone());
    assert!(documentation.as_str().unwrap().contains("what was sold"), "{documentation}");
    let documentation = told(find(&items, "atomic"));
    assert!(documentation.as_str().unwrap().contains("No other process moves"), "{documentation}");
    // Parameters are places to fill in, with their names.
    let shops = editor.request("textDocument/completion", at(&uri, 2, 14))["items"].clone();
    let shop = find(&shops, "Shop");
    assert_eq!(
        (&shop["textEdit"]["newText"], &shop["insertTextFormat"]),
        (&json!("Shop(${1:id}, ${2:to})"), &json!(2))
    );
    // What the text does not say any more is not told of another name.
    editor.replace(&uri, 2, "mtype = { red };\nbyte other;\ninit { t }\n");
    assert_eq!(told(total), Value::Null);
    let unchanged = json!({ "label": "nothing", "data": { "uri": "file:///nowhere/else.pml", "symbol": 7 } });
    assert_eq!(editor.request("completionItem/resolve", unchanged.clone()), unchanged);
}

#[test]
fn an_action_says_its_edits_when_it_is_chosen() {
    let support = json!({ "dataSupport": true, "resolveSupport": { "properties": ["edit"] } });
    let editor = Editor::with(json!({ "textDocument": { "codeAction": support } }));
    let uri = uri("chosen");
    editor.open(&uri, "byte counter;\ninit { coutner = 1 }\n");
    let range = json!({ "start": { "line": 1, "character": 9 }, "end": { "line": 1, "character": 9 } });
    let params = json!({ "textDocument": { "uri": uri }, "range": range, "context": { "diagnostics": [] } });
    let action = editor.request("textDocument/codeAction", params)[0].clone();
    assert_eq!((&action["title"], &action["edit"]), (&json!("Write `counter`"), &Value::Null), "{action}");
    let chosen = editor.request("codeAction/resolve", action.clone());
    assert_eq!(chosen["edit"]["changes"][&uri][0]["newText"], "counter", "{chosen}");
    assert_eq!(chosen["edit"]["changes"][&uri][0]["range"]["start"], json!({ "line": 1, "character": 7 }));
    // The edits of another text would break this one.
    editor.replace(&uri, 2, "byte counter;\n\ninit { coutner = 1 }\n");
    let refused = editor.answer(editor.ask("codeAction/resolve", action));
    assert_eq!(refused["error"]["code"], -32801, "{refused}");
}
