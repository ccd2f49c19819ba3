//! The folders that an editor works in: diagnostics of models that are not open, and files that get other names.

use super::client::Editor;
use super::settings::Folder;
use serde_json::{Value, json};
use std::time::Duration;

/// An editor that asks for diagnostics, and tells of files that change if it `watches`.
fn editor(folder: &Folder, watches: bool) -> Editor {
    let capabilities = json!({
        "textDocument": { "diagnostic": { "relatedDocumentSupport": true } },
        "workspace": {
            "didChangeWatchedFiles": { "dynamicRegistration": watches }, "diagnostics": { "refreshSupport": true },
        },
    });
    Editor::in_folders(capabilities, &[folder.uri()])
}

/// What a report says about each file: the end of its address, and the number of its diagnostics or `unchanged`.
fn told(report: &Value) -> Vec<String> {
    let items = report["items"].as_array().unwrap_or_else(|| panic!("{report}"));
    let one = |item: &Value| {
        let name = item["uri"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
        match item["items"].as_array() {
            Some(found) => format!("{name} {}", found.len()),
            None => format!("{name} {}", item["kind"].as_str().unwrap()),
        }
    };
    items.iter().map(one).collect()
}

fn known(report: &Value) -> Value {
    let items = report["items"].as_array().unwrap().iter();
    items.map(|item| json!({ "uri": item["uri"], "value": item["resultId"] })).collect()
}

fn ask(editor: &Editor, known: &Value) -> i64 {
    editor.ask("workspace/diagnostic", json!({ "previousResultIds": known }))
}

/// The answer within a moment, if there is one.
fn soon(editor: &Editor, id: i64) -> Option<Value> {
    let is_answer = |message: &Value| message.get("method").is_none() && message["id"] == id;
    editor.wait_until(Duration::from_millis(400), &is_answer).map(|mut answer| answer["result"].take())
}

fn changed(editor: &Editor, uri: &str) {
    editor.notify("workspace/didChangeWatchedFiles", json!({ "changes": [{ "uri": uri, "type": 2 }] }));
}

#[test]
fn models_that_are_not_open_have_diagnostics_too() {
    let folder = Folder::new("all-models");
    folder.write("good.pml", "init { skip }\n");
    let wrong = folder.write("deep/wrong.pml", "init { x = 1; y = 2 }\n");
    // A part has the ending of a model; alone, it would be wrong.
    folder.write("whole.pml", "byte shared;\n#include \"part.pml\"\ninit { set() }\n");
    folder.write("part.pml", "inline set() { shared = 1; unknown = 2 }\n");
    folder.write("fabius.toml", "defines = [\"x=z\"]\n");
    let open = folder.write("open.pml", "init { skip }\n");
    let editor = editor(&folder, true);
    editor.open(&open, "init { here = 1 }\n");
    let report = editor.answer(ask(&editor, &json!([])))["result"].take();
    assert_eq!(told(&report), ["wrong.pml 2", "good.pml 0", "open.pml 1", "part.pml 1", "whole.pml 0"], "{report}");
    let first = &report["items"][0];
    assert_eq!((&first["uri"], &first["version"]), (&json!(wrong), &Value::Null));
    assert_eq!(first["items"][0]["range"]["start"], json!({ "line": 0, "character": 7 }), "{first}");
    assert!(first["items"][0]["message"].as_str().unwrap().contains('z'), "macros of the project count: {first}");
    assert_eq!(report["items"][2]["version"], 1);
    // There is nothing new, so the answer comes when there is.
    let later = ask(&editor, &known(&report));
    assert_eq!(soon(&editor, later), None);
    folder.write("deep/wrong.pml", "byte x;\ninit { x = 1; y = 2 }\n");
    folder.write("fabius.toml", "defines = []\n");
    changed(&editor, &wrong);
    let mut answer = editor.answer(later)["result"].take();
    assert_eq!(
        told(&answer),
        ["wrong.pml 1", "good.pml unchanged", "open.pml unchanged", "part.pml unchanged", "whole.pml unchanged"],
    );
    // An edit of an open document, one of a part, and a file that goes.
    let mut next = |act: &dyn Fn(), expected: &[&str]| {
        let id = ask(&editor, &known(&answer));
        act();
        answer = editor.answer(id)["result"].take();
        assert_eq!(told(&answer), expected);
    };
    let [good, part, whole] = ["good.pml unchanged", "part.pml unchanged", "whole.pml unchanged"];
    let edit = || editor.replace(&open, 2, "byte here;\ninit { here = 1 }\n");
    next(&edit, &["wrong.pml unchanged", good, "open.pml 0", part, whole]);
    let edit = || {
        let part = folder.write("part.pml", "inline set() { shared = 1 }\n");
        changed(&editor, &part);
    };
    next(&edit, &["wrong.pml unchanged", good, "open.pml unchanged", whole, "part.pml 0"]);
    let edit = || {
        std::fs::remove_file(wrong.strip_prefix("file://").unwrap()).unwrap();
        changed(&editor, &wrong);
    };
    next(&edit, &[good, "open.pml unchanged", whole, "wrong.pml 0"]);
}

#[test]
fn an_editor_that_tells_nothing_of_files_is_answered_at_once() {
    let folder = Folder::new("no-watch");
    folder.write("wrong.pml", "init { x = 1 }\n");
    let editor = editor(&folder, false);
    let report = editor.answer(ask(&editor, &json!([])))["result"].take();
    assert_eq!(told(&report), ["wrong.pml 1"]);
    let again = editor.answer(ask(&editor, &known(&report)))["result"].take();
    assert_eq!(told(&again), ["wrong.pml unchanged"]);
}

#[test]
fn a_request_that_was_cancelled_is_not_held() {
    let folder = Folder::new("held");
    let good = folder.write("good.pml", "init { skip }\n");
    let editor = editor(&folder, true);
    let report = editor.answer(ask(&editor, &json!([])))["result"].take();
    let held = ask(&editor, &known(&report));
    editor.notify("$/cancelRequest", json!({ "id": held }));
    assert_eq!(editor.answer(held)["error"]["code"], -32800);
    folder.write("good.pml", "init { x = 1 }\n");
    changed(&editor, &good);
    let report = editor.answer(ask(&editor, &known(&report)))["result"].take();
    assert_eq!(told(&report), ["good.pml 1"]);
}

#[test]
fn folders_come_and_go() {
    let (one, other) = (Folder::new("one"), Folder::new("other"));
    one.write("a.pml", "init { x = 1 }\n");
    other.write("b.pml", "init { x = 1 }\n");
    let editor = editor(&one, true);
    let report = editor.answer(ask(&editor, &json!([])))["result"].take();
    assert_eq!(told(&report), ["a.pml 1"]);
    let later = ask(&editor, &known(&report));
    let folder = |folder: &Folder| json!([{ "uri": folder.uri(), "name": "a folder" }]);
    let event = json!({ "added": folder(&other), "removed": folder(&one) });
    editor.notify("workspace/didChangeWorkspaceFolders", json!({ "event": event }));
    let report = editor.answer(later)["result"].take();
    assert_eq!(told(&report), ["b.pml 1", "a.pml 0"]);
}

#[test]
fn what_is_wrong_in_a_part_comes_with_the_model_and_is_asked_for_again_when_files_change() {
    let folder = Folder::new("related");
    let part = folder.write("part.h", "byte x = unknown;\n");
    let text = "#include \"part.h\"\ninit { x = 1 }\n";
    let model = folder.write("model.pml", text);
    let editor = editor(&folder, true);
    editor.open(&model, text);
    let report = editor.request("textDocument/diagnostic", json!({ "textDocument": { "uri": model } }));
    assert_eq!(report["items"], json!([]), "{report}");
    let related = &report["relatedDocuments"][&part];
    assert_eq!((&related["kind"], related["items"].as_array().map(Vec::len)), (&json!("full"), Some(1)), "{report}");
    folder.write("part.h", "byte x;\n");
    changed(&editor, &part);
    editor.wait("a request to ask again", |message| message["method"] == "workspace/diagnostic/refresh");
    let report = editor.request("textDocument/diagnostic", json!({ "textDocument": { "uri": model } }));
    assert_eq!(report["relatedDocuments"], Value::Null, "{report}");
}

#[test]
fn a_client_that_takes_no_related_documents_is_sent_what_is_wrong_in_a_part() {
    let folder = Folder::new("unrelated");
    let part = folder.write("part.h", "byte x = unknown;\n");
    let text = "#include \"part.h\"\ninit { x = 1 }\n";
    let model = folder.write("model.pml", text);
    let editor = Editor::with(json!({ "textDocument": { "diagnostic": {} } }));
    editor.open(&model, text);
    editor.diagnostics(&part, "the error in the part", |params| params["diagnostics"].as_array().unwrap().len() == 1);
}

#[test]
fn includes_follow_files_that_get_other_names() {
    let folder = Folder::new("renamed");
    folder.write("lib/part.h", "#include \"more.h\"\n");
    folder.write("lib/more.h", "byte x;\n");
    let closed = folder.write("closed.pml", "/* é */ byte y;\n#if 0\n#include \"lib/part.h\"\n#endif\ninit { skip }\n");
    let open = folder.write("open.pml", "init { skip }\n");
    let editor = editor(&folder, true);
    editor.open(&open, "byte z;\n  #include \"./lib/part.h\"\ninit { skip }\n");
    let rename = |old: &str, new: &str| {
        let files =
            json!([{ "oldUri": format!("{}/{old}", folder.uri()), "newUri": format!("{}/{new}", folder.uri()) }]);
        let edit = editor.request("workspace/willRenameFiles", json!({ "files": files }));
        let texts = |uri: &String| {
            let edits = edit["changes"][uri].as_array().cloned().unwrap_or_default();
            edits.iter().map(|edit| format!("{}: {}", edit["range"]["start"], edit["newText"])).collect::<Vec<_>>()
        };
        let part = format!("{}/lib/part.h", folder.uri());
        [&closed, &open, &part].map(texts)
    };
    let at = |line: u32, character: u32, text: &str| {
        vec![format!("{}: {}", json!({ "line": line, "character": character }), json!(text))]
    };
    assert_eq!(
        rename("lib/part.h", "parts/p.h"),
        [at(2, 10, "parts/p.h"), at(1, 12, "parts/p.h"), at(0, 10, "../lib/more.h")]
    );
    assert_eq!(rename("lib", "parts"), [at(2, 10, "parts/part.h"), at(1, 12, "parts/part.h"), Vec::new()]);
    assert_eq!(rename("open.pml", "other.pml"), [Vec::<String>::new(), Vec::new(), Vec::new()]);
}
