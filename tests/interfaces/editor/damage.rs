//! Damaged texts: real models cut off and with bytes changed, opened, edited and asked about. Nothing
//! may panic or hang, and every request is answered.

use super::client::Editor;
use super::uri;
use fabius_testkit::corpus::Corpus;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Unless everything is asked for, this many models are damaged, …
const MODELS: usize = 12;
/// … each at this many places.
const PLACES: usize = 4;

/// The models to damage: ours, and those of the corpus.
fn models() -> Vec<PathBuf> {
    let own = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("models");
    let mut found: Vec<PathBuf> = std::fs::read_dir(own).unwrap().flatten().map(|entry| entry.path()).collect();
    if let Some(corpus) = Corpus::load() {
        found.extend(corpus.entries.iter().map(|entry| corpus.file(entry)));
    }
    found.sort();
    found
}

fn ask_everything(editor: &Editor, uri: &str, lines: u32) {
    let document = json!({ "uri": uri });
    let mut ids = Vec::new();
    for line in [0, lines / 3, lines / 2, lines] {
        let at = json!({ "textDocument": document, "position": { "line": line, "character": 6 } });
        for method in
            ["hover", "definition", "documentHighlight", "completion", "signatureHelp", "prepareCallHierarchy"]
        {
            ids.push(editor.ask(&format!("textDocument/{method}"), at.clone()));
        }
        let mut references = at.clone();
        references["context"] = json!({ "includeDeclaration": true });
        ids.push(editor.ask("textDocument/references", references));
    }
    let whole = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": lines, "character": 0 } });
    for (method, more) in [
        ("documentSymbol", json!({})),
        ("foldingRange", json!({})),
        ("semanticTokens/full", json!({})),
        ("documentLink", json!({})),
        ("codeLens", json!({})),
        ("formatting", json!({ "options": { "tabSize": 4, "insertSpaces": true } })),
        ("inlayHint", json!({ "range": whole })),
        ("codeAction", json!({ "range": whole, "context": { "diagnostics": [] } })),
        ("selectionRange", json!({ "positions": [{ "line": lines / 2, "character": 3 }] })),
    ] {
        let mut params = more;
        params["textDocument"] = document.clone();
        ids.push(editor.ask(&format!("textDocument/{method}"), params));
    }
    for id in ids {
        let answer = editor.answer(id);
        assert!(answer.get("error").is_none(), "{uri}: {answer}");
    }
}

#[test]
fn damaged_models_are_served() {
    let editor = Editor::with(json!({}));
    editor.notify("workspace/didChangeConfiguration", json!({ "settings": { "fabius": { "check": "never" } } }));
    let all = models();
    let full = std::env::var_os("FABIUS_FULL").is_some();
    let step = if full { 1 } else { (all.len() / MODELS).max(1) };
    let mut seed = 0x9E37_79B9_7F4A_7C15_u64;
    let mut random = move |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed % below.max(1) as u64) as usize
    };
    let mut served = 0;
    for path in all.iter().step_by(step) {
        let Ok(bytes) = std::fs::read(path) else { continue };
        let uri = uri(&format!("damaged-{served}"));
        editor.open(&uri, &String::from_utf8_lossy(&bytes));
        // Cut off at every hundredth byte, …
        let cuts: Vec<usize> = match full {
            true => (0..bytes.len()).step_by(100).collect(),
            false => (0..PLACES / 2).map(|_| random(bytes.len() / 100 + 1) * 100).collect(),
        };
        // … and as often with bytes flipped.
        let flipped = |random: &mut dyn FnMut(usize) -> usize| {
            let mut damaged = bytes.clone();
            for _ in 0..1 + random(8) {
                let at = random(damaged.len());
                damaged.get_mut(at).into_iter().for_each(|byte| *byte ^= 1 + random(255) as u8);
            }
            damaged
        };
        let damaged = cuts.iter().flat_map(|&cut| [bytes[..cut.min(bytes.len())].to_vec(), flipped(&mut random)]);
        for (version, damaged) in damaged.enumerate() {
            let text = String::from_utf8_lossy(&damaged).into_owned();
            editor.replace(&uri, version as i32 + 2, &text);
            ask_everything(&editor, &uri, text.lines().count() as u32);
        }
        editor.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
        editor.forget();
        served += 1;
    }
    assert!(served >= 8, "only {served} models were damaged");
    assert_eq!(editor.request("workspace/symbol", json!({ "query": "" })), Value::Array(Vec::new()));
}
