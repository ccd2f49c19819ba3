//! A generated model: its directives, diagnostics and steps lead to the original text.

use super::client::Editor;
use serde_json::{Value, json};
use std::path::Path;

const MODEL: &str = "byte n;
#line 2 \"program.src\"
active proctype P() {
    n = 1;
# 4 \"program.src\"
    assert(n == 2)
# 1 \"missing.src\"
}
";

fn address(path: &Path) -> String {
    format!("file://{}", path.display())
}

#[test]
fn a_generated_model_leads_to_its_original() {
    let folder = std::env::temp_dir().join(format!("fabius-originals-test-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("program.src"), "program\nbegin\n  set n to 1\n  n must be 2\nend\n").unwrap();
    let (uri, original) = (address(&folder.join("generated.pml")), address(&folder.join("program.src")));
    let editor = Editor::with(json!({
        "window": { "showDocument": { "support": true } },
        "textDocument": { "publishDiagnostics": { "relatedInformation": true } },
    }));
    editor.open(&uri, MODEL);
    let is_found = |params: &Value| params["diagnostics"].as_array().is_some_and(|all| !all.is_empty());
    let found = editor.diagnostics(&uri, "the assertion", is_found);
    let related = found["diagnostics"][0]["relatedInformation"].as_array().unwrap();
    let last = related.last().unwrap();
    assert_eq!(
        (&last["message"], &last["location"]["uri"]),
        (&json!("generated from program.src:4"), &json!(original))
    );
    assert_eq!(last["location"]["range"]["start"], json!({ "line": 3, "character": 0 }));

    let document = json!({ "uri": uri });
    let links = editor.request("textDocument/documentLink", json!({ "textDocument": document }));
    let links: Vec<(&Value, &Value)> =
        links.as_array().unwrap().iter().map(|link| (&link["range"]["start"]["line"], &link["target"])).collect();
    let line = |line: u32| json!(format!("{original}#L{line}"));
    assert_eq!(links, [(&json!(1), &line(2)), (&json!(4), &line(4))]);
    let place = json!({ "textDocument": document, "position": { "line": 4, "character": 3 } });
    let defined = editor.request("textDocument/definition", place);
    assert_eq!((&defined[0]["uri"], &defined[0]["range"]["start"]["line"]), (&json!(original), &json!(3)));

    let steps = editor.request("fabius/trace", json!({ "uri": uri }));
    assert_eq!(steps["page"][0]["originalUri"], json!(original), "{steps}");
    assert_eq!(steps["page"][0]["original"], json!({ "file": "program.src", "line": 3 }));
    let of = |line: u32| editor.request("fabius/original", json!({ "uri": uri, "lines": [line] }));
    assert_eq!(of(0), Value::Null);
    assert_eq!(of(7), Value::Null, "its original is not there");
    assert_eq!((&of(3)["words"], &of(3)["range"]["start"]["line"]), (&json!("program.src:3"), &json!(2)));

    let range = json!({ "start": { "line": 3, "character": 6 }, "end": { "line": 3, "character": 6 } });
    let params = json!({ "textDocument": document, "range": range, "context": { "diagnostics": [] } });
    let actions = editor.request("textDocument/codeAction", params);
    let action = actions.as_array().unwrap().iter().find(|action| action["command"]["command"] == "fabius.original");
    let action = action.unwrap_or_else(|| panic!("no action in {actions}"));
    assert_eq!(action["title"], "Open the original text, program.src:3");
    let asked = editor.ask("workspace/executeCommand", action["command"].clone());
    let shown = editor.wait("the original", |message| message["method"] == "window/showDocument");
    assert_eq!((&shown["params"]["uri"], &shown["params"]["takeFocus"]), (&json!(original), &json!(true)));
    assert_eq!(shown["params"]["selection"]["start"]["line"], 2);
    assert_eq!(editor.answer(asked)["result"]["words"], "program.src:3");
    std::fs::remove_dir_all(&folder).unwrap();
}
