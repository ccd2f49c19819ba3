//! How strong the properties are: in a lens, by a command, and at the changes that no property notices.

use super::client::{Editor, PATIENCE};
use super::models::uri;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// Nothing asks for `received`.
const MODEL: &str = "byte sent, received;
active proctype pair() {
  sent++;
  received++;
  assert(sent < 2)
}
";
const OFFER: &str = "▶ how strong are the properties?";

fn titles(editor: &Editor, uri: &str) -> Vec<String> {
    let all = editor.request("textDocument/codeLens", json!({ "textDocument": { "uri": uri } }));
    let all = all.as_array().cloned().unwrap_or_default();
    all.iter().filter_map(|lens| lens["command"]["title"].as_str().map(str::to_owned)).collect()
}

/// The lines (from 0) of the changes that no property notices, of published diagnostics.
fn marked(published: &Value) -> BTreeSet<u64> {
    let all = published["diagnostics"].as_array().cloned().unwrap_or_default();
    let own = all.iter().filter(|one| one["code"] == "F0612");
    own.map(|one| {
        assert!(one["message"].as_str().unwrap().starts_with("no property notices: "), "{one}");
        one["range"]["start"]["line"].as_u64().unwrap()
    })
    .collect()
}

#[test]
fn changes_that_no_property_notices_are_marked_until_the_next_edit() {
    let editor = Editor::new();
    let uri = uri("strong");
    editor.open(&uri, MODEL);
    let end = Instant::now() + PATIENCE;
    while !titles(&editor, &uri).contains(&OFFER.to_owned()) {
        assert!(Instant::now() < end, "the offer");
        std::thread::sleep(Duration::from_millis(20));
    }
    let command = json!({ "command": "fabius.mutants", "arguments": [{ "uri": uri }] });
    let said = editor.request("workspace/executeCommand", command);
    let sentence = said["sentence"].as_str().unwrap();
    assert!(titles(&editor, &uri).contains(&sentence.to_owned()) && !titles(&editor, &uri).contains(&OFFER.to_owned()));
    let lines: BTreeSet<u64> = said["survivors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one: &Value| one["range"]["start"]["line"].as_u64().unwrap())
        .collect();
    // What nothing asks for can be left out.
    assert!(lines.contains(&3), "{said}");
    editor.diagnostics(&uri, "marks", |published| marked(published) == lines);
    editor.forget();
    editor.replace(&uri, 2, &MODEL.replace("received++", "received = 7"));
    editor.diagnostics(&uri, "no old marks", |published| marked(published).is_empty());
}
