//! The features of the editor over the wire, on one model; what they say in detail is tested where they are.

use super::client::Editor;
use super::uri;
use serde_json::{Value, json};

const MODEL: &str = "\
/* how many */
#define N 3
mtype = { ask, tell };
typedef Point { byte a; byte b };
chan line = [2] of { mtype, byte };
byte total;   /* counts */
Point point;

inline twice(v) {
    v = v * 2
}

proctype Asker(byte id) {
    byte mine;
again:
    line!ask(id);
    twice(total);
    if
    :: total > N -> goto again
    :: else -> skip
    fi
}

init {
    run Asker(7);
    line?tell, total;
    point.a = 1
}

ltl fine { [] (total < 200) }
";

fn opened(name: &str) -> (Editor, String) {
    let editor = Editor::new();
    let uri = uri(name);
    editor.open(&uri, MODEL);
    (editor, uri)
}

/// The position of a word: the `nth` occurrence, and some letters into it.
fn position(word: &str, nth: usize, into: u32) -> Value {
    let at = MODEL.match_indices(word).nth(nth).expect("the word is there").0;
    let line = MODEL[..at].matches('\n').count();
    let column = at - MODEL[..at].rfind('\n').map_or(0, |end| end + 1);
    json!({ "line": line, "character": column as u32 + into })
}

fn place(uri: &str, word: &str, nth: usize) -> Value {
    json!({ "textDocument": { "uri": uri }, "position": position(word, nth, 1) })
}

fn document(uri: &str) -> Value {
    json!({ "textDocument": { "uri": uri } })
}

#[test]
fn hover_says_what_a_word_means() {
    let (editor, uri) = opened("hover");
    let says =
        |word, nth| editor.request("textDocument/hover", place(&uri, word, nth))["contents"]["value"].to_string();
    assert!(says("total", 0).contains("byte total") && says("total", 0).contains("counts"));
    assert!(says(" N ->", 0).contains("#define N 3") && says(" N ->", 0).contains("how many"));
    assert!(says("goto", 0).contains("Goes on at the label"));
    assert!(says("tell", 1).contains("= 1"));
    assert!(says("line!", 0).contains("[2] of { mtype, byte }"));
}

#[test]
fn after_a_check_hover_says_which_values_were_seen() {
    let editor = Editor::new();
    let uri = uri("seen");
    editor.open(&uri, "byte x;\nactive proctype P() { do :: x < 3 -> x++ :: x == 3 -> x = 0 od }\n");
    let params = json!({ "textDocument": { "uri": uri }, "position": { "line": 0, "character": 5 } });
    let end = std::time::Instant::now() + super::client::PATIENCE;
    loop {
        let hover = editor.request("textDocument/hover", params.clone())["contents"]["value"].to_string();
        if hover.contains("0..3, 4 values") {
            break;
        }
        assert!(std::time::Instant::now() < end, "{hover}");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let range = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 2, "character": 0 } });
    let hints = editor.request("textDocument/inlayHint", json!({ "textDocument": { "uri": uri }, "range": range }));
    assert!(hints.as_array().unwrap().iter().any(|hint| hint["label"] == " 0..3, 62 % of states"), "{hints}");
    let lenses = editor.request("textDocument/codeLens", document(&uri));
    let titles: Vec<&str> =
        lenses.as_array().unwrap().iter().filter_map(|lens| lens["command"]["title"].as_str()).collect();
    assert!(titles.iter().any(|title| title.starts_with("✓ holds")), "{titles:?}");
    assert!(titles.contains(&"▶ check safety"), "{titles:?}");
    assert!(titles.iter().any(|title| title.ends_with("places reached")), "{titles:?}");
}

#[test]
fn names_lead_to_their_declarations_and_uses() {
    let (editor, uri) = opened("names");
    let line = |answer: &Value| answer["range"]["start"]["line"].as_u64().unwrap();
    let definition = editor.request("textDocument/definition", place(&uri, "twice(total", 0));
    assert_eq!(line(&definition[0]), 8, "{definition}");
    let mut params = place(&uri, "total", 0);
    params["context"] = json!({ "includeDeclaration": false });
    let references = editor.request("textDocument/references", params);
    assert_eq!(references.as_array().unwrap().iter().map(line).collect::<Vec<_>>(), [16, 18, 25, 29]);
    let highlights = editor.request("textDocument/documentHighlight", place(&uri, "total", 0));
    assert_eq!(highlights.as_array().unwrap().len(), 5);
    let mut params = place(&uri, "again", 0);
    assert_eq!(editor.request("textDocument/prepareRename", params.clone())["placeholder"], "again");
    params["newName"] = json!("once_more");
    let edits = editor.request("textDocument/rename", params)["changes"][&uri].clone();
    assert_eq!(edits.as_array().unwrap().len(), 2);
    let mut params = place(&uri, "again", 0);
    params["newName"] = json!("do");
    let refused = editor.answer(editor.ask("textDocument/rename", params));
    assert!(refused["error"]["message"].as_str().unwrap().contains("keyword"), "{refused}");
}

#[test]
fn symbols_are_listed() {
    let (editor, uri) = opened("symbols");
    let symbols = editor.request("textDocument/documentSymbol", document(&uri));
    let names: Vec<&str> = symbols.as_array().unwrap().iter().filter_map(|symbol| symbol["name"].as_str()).collect();
    assert_eq!(
        names,
        ["N", "ask", "tell", "Point", "line", "total", "point", "twice", "Asker", ":init:", "fine"],
        "{symbols}"
    );
    let asker = symbols.as_array().unwrap().iter().find(|symbol| symbol["name"] == "Asker").unwrap();
    let inside: Vec<&str> = asker["children"].as_array().unwrap().iter().filter_map(|s| s["name"].as_str()).collect();
    assert_eq!(inside, ["id", "mine", "again"]);
    let found = editor.request("workspace/symbol", json!({ "query": "ask" }));
    let names: Vec<&str> = found.as_array().unwrap().iter().filter_map(|symbol| symbol["name"].as_str()).collect();
    assert!(names.contains(&"Asker") && names.contains(&"ask"), "{found}");
}

#[test]
fn completion_knows_the_place() {
    let (editor, uri) = opened("completion");
    let labels = |params: Value| -> Vec<String> {
        let answer = editor.request("textDocument/completion", params);
        answer["items"].as_array().unwrap().iter().filter_map(|item| Some(item["label"].as_str()?.to_owned())).collect()
    };
    let at = |word, nth, into| json!({ "textDocument": { "uri": uri }, "position": position(word, nth, into) });
    assert_eq!(labels(at("goto again", 0, 5)), ["again"]);
    assert_eq!(labels(at("run Asker", 0, 4)), ["Asker"]);
    assert_eq!(labels(at("point.a", 0, 6)), ["a", "b"]);
    let anything = labels(at("mine;", 0, 5));
    for word in ["id", "mine", "total", "twice", "tell", "N", "if", "do", "atomic", "assert"] {
        assert!(anything.iter().any(|label| label == word), "{word} is not in {anything:?}");
    }
    assert!(!anything.contains(&"again".to_owned()));
    assert_eq!(labels(at("how many", 0, 2)), Vec::<String>::new());
}

#[test]
fn completion_reads_directives_and_inlines() {
    let editor = Editor::new();
    let uri = uri("directives");
    let text = "#define N 3\n#define BOTH(one, two) (one && tw)\n#if N\n#endif\nbyte total;\n\
                inline leave() { goto ou }\ninit { leave(); out: skip }\n";
    editor.open(&uri, text);
    let labels = |line: u32, character: u32| -> Vec<String> {
        let params = json!({ "textDocument": { "uri": uri }, "position": { "line": line, "character": character } });
        let answer = editor.request("textDocument/completion", params);
        answer["items"].as_array().unwrap().iter().filter_map(|item| Some(item["label"].as_str()?.to_owned())).collect()
    };
    let body = labels(1, 33);
    for word in ["one", "two", "total", "N"] {
        assert!(body.iter().any(|label| label == word), "{word} is not in {body:?}");
    }
    assert_eq!(labels(2, 5), ["N", "BOTH"]);
    assert_eq!(labels(1, 10), Vec::<String>::new());
    assert!(labels(0, 3).contains(&"define".to_owned()));
    assert_eq!(labels(5, 24), ["out"]);
}

#[test]
fn signatures_follow_the_arguments() {
    let (editor, uri) = opened("signature");
    let help = |word, nth, into| {
        let params = json!({ "textDocument": { "uri": uri }, "position": position(word, nth, into) });
        editor.request("textDocument/signatureHelp", params)
    };
    let run = help("Asker(7", 0, 6);
    assert_eq!(run["signatures"][0]["label"], "Asker(byte id)", "{run}");
    let message = help("line?tell, total", 0, 11);
    assert_eq!(
        (&message["signatures"][0]["label"], &message["activeParameter"]),
        (&json!("line ? mtype, byte"), &json!(1))
    );
    assert_eq!(help("skip", 0, 1), Value::Null);
}

#[test]
fn a_channel_that_is_passed_on_has_a_signature() {
    let editor = Editor::new();
    let uri = uri("passed");
    let text = "mtype = { go };\nchan line = [1] of { mtype, byte };\ninline send(to) { to!go, }\n\
                proctype Inner(byte n; chan in) { send(in) }\nproctype Outer(chan out) { run Inner(1, out); out!go, }\n\
                init { run Outer(line) }\n";
    editor.open(&uri, text);
    for (line, character) in [(4, 53), (2, 24)] {
        let params = json!({ "textDocument": { "uri": uri }, "position": { "line": line, "character": character } });
        let help = editor.request("textDocument/signatureHelp", params);
        let label = help["signatures"][0]["label"].as_str().unwrap_or_default();
        assert!(label.ends_with(" ! mtype, byte"), "{line}: {help}");
        assert_eq!(help["activeParameter"], 1, "{line}: {help}");
    }
}

#[test]
fn the_shape_of_the_text_is_known() {
    let (editor, uri) = opened("shape");
    let folds = editor.request("textDocument/foldingRange", document(&uri));
    let starts: Vec<u64> = folds.as_array().unwrap().iter().filter_map(|fold| fold["startLine"].as_u64()).collect();
    assert_eq!(starts, [8, 12, 17, 23], "{folds}");
    let params = json!({ "textDocument": { "uri": uri }, "positions": [position("total > N", 0, 1)] });
    let mut selection = editor.request("textDocument/selectionRange", params)[0].clone();
    let mut count = 0;
    while selection.is_object() {
        (selection, count) = (selection["parent"].clone(), count + 1);
    }
    assert!(count >= 5, "{count}");
}

#[test]
fn every_word_has_a_colour_and_changes_are_sent_alone() {
    let (editor, uri) = opened("colours");
    let full = editor.request("textDocument/semanticTokens/full", document(&uri));
    let data = full["data"].as_array().unwrap();
    assert!(data.len() > 300 && data.len() % 5 == 0);
    editor.edit(&uri, 2, (5, 0), (5, 0), "byte more;\n");
    let params = json!({ "textDocument": { "uri": uri }, "previousResultId": full["resultId"] });
    let delta = editor.request("textDocument/semanticTokens/full/delta", params);
    let fresh = editor.request("textDocument/semanticTokens/full", document(&uri));
    let mut patched: Vec<Value> = data.clone();
    for edit in delta["edits"].as_array().unwrap() {
        let start = edit["start"].as_u64().unwrap() as usize;
        let end = start + edit["deleteCount"].as_u64().unwrap() as usize;
        patched.splice(start..end, edit["data"].as_array().cloned().unwrap_or_default());
    }
    assert_eq!(Value::Array(patched), fresh["data"]);
    let range = json!({ "start": { "line": 8, "character": 0 }, "end": { "line": 11, "character": 0 } });
    let part =
        editor.request("textDocument/semanticTokens/range", json!({ "textDocument": { "uri": uri }, "range": range }));
    assert!((10..200).contains(&part["data"].as_array().unwrap().len()), "{part}");
}

#[test]
fn formatting_is_done_once() {
    let editor = Editor::new();
    let uri = uri("format");
    editor.open(&uri, "init{\nbyte x;\nif\n::x==0->skip\n:: else\nfi }\n");
    let params = json!({ "textDocument": { "uri": uri }, "options": { "tabSize": 2, "insertSpaces": true } });
    let edits = editor.request("textDocument/formatting", params.clone());
    assert!(!edits.as_array().unwrap().is_empty());
    editor.replace(&uri, 2, "init {\n  byte x;\n  if\n  :: x == 0 -> skip\n  :: else\n  fi }\n");
    assert_eq!(editor.request("textDocument/formatting", params), json!([]));
}

#[test]
fn several_ranges_are_formatted_at_once() {
    let editor = Editor::new();
    let uri = uri("ranges");
    editor.open(&uri, "init {\nbyte x;\nbyte y;\nbyte z;\nx = y + z\n}\n");
    let line =
        |line: u32| json!({ "start": { "line": line, "character": 0 }, "end": { "line": line, "character": 7 } });
    let touched = |ranges: Value| -> Vec<u64> {
        let params = json!({
            "textDocument": { "uri": uri }, "ranges": ranges, "options": { "tabSize": 2, "insertSpaces": true },
        });
        let edits = editor.request("textDocument/rangesFormatting", params);
        let lines = edits.as_array().unwrap().iter();
        lines.map(|edit| edit["range"]["start"]["line"].as_u64().unwrap()).collect()
    };
    assert_eq!(touched(json!([line(1), line(3)])), [1, 3]);
    assert_eq!(touched(json!([line(1), line(1)])), [1], "no edit comes twice");
    assert_eq!(touched(json!([])), [0; 0]);
}

#[test]
fn a_range_that_ends_where_a_line_begins_leaves_that_line_alone() {
    let editor = Editor::new();
    let uri = uri("range-end");
    editor.open(&uri, "init {\nbyte x;\nbyte y;\nx = y\n}\n");
    let touched = |method: &str, from: (u32, u32), to: (u32, u32)| -> Vec<u64> {
        let range = json!({
            "start": { "line": from.0, "character": from.1 }, "end": { "line": to.0, "character": to.1 },
        });
        let params = json!({
            "textDocument": { "uri": uri }, "range": range, "ranges": [range],
            "options": { "tabSize": 2, "insertSpaces": true },
        });
        let edits = editor.request(method, params);
        edits.as_array().unwrap().iter().map(|edit| edit["range"]["start"]["line"].as_u64().unwrap()).collect()
    };
    for method in ["textDocument/rangeFormatting", "textDocument/rangesFormatting"] {
        assert_eq!(touched(method, (1, 0), (2, 0)), [1], "{method}");
        assert_eq!(touched(method, (1, 0), (2, 1)), [1, 2], "{method}");
        assert_eq!(touched(method, (2, 0), (2, 0)), [2], "an empty range is the line on which it is");
        assert_eq!(touched(method, (0, 0), (5, 0)), [1, 2, 3], "{method}");
    }
}

#[test]
fn a_message_leads_to_where_it_is_received() {
    let (editor, uri) = opened("implementation");
    let starts = |word, nth| {
        let found = editor.request("textDocument/implementation", place(&uri, word, nth));
        found.as_array().unwrap().iter().map(|place| place["range"]["start"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(starts("tell };", 0), [position("tell, total", 0, 0)]);
    assert_eq!(starts("ask,", 0), Vec::<Value>::new());
    assert_eq!(starts("line!", 0), [position("line?", 0, 0)]);
    assert_eq!(starts("Asker(byte", 0), [position("Asker(7", 0, 0)]);
}

#[test]
fn a_declaration_and_its_uses_change_together() {
    let (editor, uri) = opened("linked");
    let linked = |word, nth| editor.request("textDocument/linkedEditingRange", place(&uri, word, nth));
    let label = linked("again:", 0);
    let starts: Vec<&Value> = label["ranges"].as_array().unwrap().iter().map(|range| &range["start"]).collect();
    assert_eq!(starts, [&position("again:", 0, 0), &position("again", 1, 0)], "{label}");
    assert_eq!(linked("again", 1), Value::Null, "whoever types at a `goto` means another label");
    assert_eq!(linked("total;", 0), Value::Null, "other processes use it, too");
}

#[test]
fn diagnostics_that_did_not_change_are_not_sent_again() {
    let editor = Editor::new();
    let uri = uri("unchanged");
    editor.open(&uri, "init { x = 1 }\n");
    let ask = |previous: &Value| {
        let params = json!({ "textDocument": { "uri": uri }, "previousResultId": previous });
        editor.request("textDocument/diagnostic", params)
    };
    let first = ask(&Value::Null);
    assert_eq!((&first["kind"], first["items"].as_array().unwrap().len()), (&json!("full"), 1), "{first}");
    let same = ask(&first["resultId"]);
    assert_eq!(same, json!({ "kind": "unchanged", "resultId": first["resultId"] }));
    editor.replace(&uri, 2, "\ninit { x = 1 }\n");
    let moved = ask(&first["resultId"]);
    assert_eq!(moved["kind"], "full", "the finding stands on another line: {moved}");
    assert_ne!(moved["resultId"], first["resultId"]);
    editor.replace(&uri, 3, "init { x = 1 }\n");
    assert_eq!(ask(&first["resultId"])["kind"], "unchanged", "undone");
}

#[test]
fn an_option_is_put_below_the_one_before_it() {
    let editor = Editor::new();
    let uri = uri("typed");
    editor.open(&uri, "init {\n  do\n  :: skip;\n     skip\n     ::\n}\n");
    let typed = |line: u32, character: u32, key: &str| {
        let params = json!({
            "textDocument": { "uri": uri },
            "position": { "line": line, "character": character },
            "ch": key,
            "options": { "tabSize": 4, "insertSpaces": true },
        });
        editor.request("textDocument/onTypeFormatting", params)
    };
    let range = json!({ "start": { "line": 4, "character": 0 }, "end": { "line": 4, "character": 5 } });
    assert_eq!(typed(4, 7, ":"), json!([{ "range": range, "newText": "  " }]));
    assert_eq!(typed(2, 4, ":"), json!([]));
}

#[test]
fn calls_go_both_ways() {
    let (editor, uri) = opened("calls");
    let item = editor.request("textDocument/prepareCallHierarchy", place(&uri, "Asker(byte", 0))[0].clone();
    assert_eq!(item["name"], "Asker");
    let incoming = editor.request("callHierarchy/incomingCalls", json!({ "item": item }));
    assert_eq!(incoming[0]["from"]["name"], "init", "{incoming}");
    let outgoing = editor.request("callHierarchy/outgoingCalls", json!({ "item": item }));
    assert_eq!(outgoing[0]["to"]["name"], "twice", "{outgoing}");
    assert_eq!(outgoing[1]["to"]["name"], "line", "{outgoing}");
    assert_eq!(outgoing.as_array().map(Vec::len), Some(2), "{outgoing}");
}

#[test]
fn a_channel_says_who_sends_and_who_receives() {
    let (editor, uri) = opened("channels");
    for (word, nth) in [("line =", 0), ("line!", 0), ("line?", 0)] {
        let item = editor.request("textDocument/prepareCallHierarchy", place(&uri, word, nth))[0].clone();
        assert_eq!(item["name"], "line", "{word}");
        assert_eq!(item["selectionRange"]["start"], position("line =", 0, 0), "{word}");
        let senders = editor.request("callHierarchy/incomingCalls", json!({ "item": item }));
        assert_eq!(senders.as_array().map(Vec::len), Some(1), "{senders}");
        assert_eq!(senders[0]["from"]["name"], "Asker");
        assert_eq!(senders[0]["fromRanges"][0]["start"], position("line!", 0, 0));
        let receivers = editor.request("callHierarchy/outgoingCalls", json!({ "item": item }));
        assert_eq!(receivers.as_array().map(Vec::len), Some(1), "{receivers}");
        assert_eq!(receivers[0]["to"]["name"], "init");
        assert_eq!(receivers[0]["fromRanges"][0]["start"], position("line?", 0, 0));
    }
}

#[test]
fn a_variable_leads_to_its_type() {
    let (editor, uri) = opened("types");
    let start = |word, nth| {
        let found = editor.request("textDocument/typeDefinition", place(&uri, word, nth));
        found.as_array().unwrap().iter().map(|place| place["range"]["start"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(start("point.", 0), [position("Point {", 0, 0)]);
    assert_eq!(start("line!", 0), [position("ask,", 0, 0)]);
    assert_eq!(start("tell,", 0), [position("ask,", 0, 0)]);
    assert_eq!(start("total", 0), Vec::<Value>::new());
    // In the middle of typing there may be no answer, but no error.
    for cut in (0..MODEL.len()).step_by(37) {
        let uri = super::uri(&format!("types{cut}"));
        editor.open(&uri, &MODEL[..cut]);
        let params = json!({ "textDocument": { "uri": uri }, "position": { "line": 0, "character": 0 } });
        let found = editor.request("textDocument/typeDefinition", params);
        assert!(found.is_array(), "{found}");
    }
}

#[test]
fn parameters_are_named() {
    let (editor, uri) = opened("hints");
    let range = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 40, "character": 0 } });
    let hints = editor.request("textDocument/inlayHint", json!({ "textDocument": { "uri": uri }, "range": range }));
    let labels: Vec<&str> = hints.as_array().unwrap().iter().filter_map(|hint| hint["label"].as_str()).collect();
    assert!(labels.contains(&"id:") && labels.contains(&"v:"), "{labels:?}");
}

#[test]
fn a_misspelt_name_can_be_mended() {
    let editor = Editor::new();
    let uri = uri("spelling");
    editor.open(&uri, "byte counter;\ninit { coutner = 1 }\n");
    let range = json!({ "start": { "line": 1, "character": 9 }, "end": { "line": 1, "character": 9 } });
    let params = json!({ "textDocument": { "uri": uri }, "range": range, "context": { "diagnostics": [] } });
    let actions = editor.request("textDocument/codeAction", params);
    assert_eq!(actions[0]["title"], "Write `counter`", "{actions}");
    assert_eq!(actions[0]["edit"]["changes"][&uri][0]["newText"], "counter");
}

#[test]
fn hover_says_what_a_constant_is_and_what_was_written() {
    let editor = Editor::new();
    let uri = uri("values");
    editor.open(&uri, "mtype = { first, second, third };\n#define N 3\nint limit = N + 4;\ninit { limit = third }\n");
    let hover = |line: u32, character: u32| {
        let place = json!({ "textDocument": { "uri": uri }, "position": { "line": line, "character": character } });
        editor.request("textDocument/hover", place)["contents"]["value"].as_str().unwrap().to_owned()
    };
    // The last name is 1, as Spin has it.
    assert!(hover(0, 11).contains("mtype first = 3"), "{}", hover(0, 11));
    assert!(hover(3, 16).contains("mtype third = 1"), "{}", hover(3, 16));
    assert!(hover(2, 5).contains("int limit = N + 4\n"), "{}", hover(2, 5));
}

#[test]
fn values_beside_the_code_are_those_of_the_process_that_is_stopped() {
    let editor = Editor::new();
    let uri = uri("inline-values");
    let text = "byte g;\nactive proctype P() {\n  byte x;\n  x = 1; g = x\n}\nactive proctype Q() {\n  byte x;\n  x = 2; g = x\n}\n";
    editor.open(&uri, text);
    let stopped = |line: u32| {
        let at = json!({ "start": { "line": line, "character": 2 }, "end": { "line": line, "character": 7 } });
        let whole = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 9, "character": 0 } });
        let context = json!({ "frameId": 1000, "stoppedLocation": at });
        let params = json!({ "textDocument": { "uri": uri }, "range": whole, "context": context });
        let found = editor.request("textDocument/inlineValue", params);
        let one = |value: &Value| {
            assert_eq!(value["caseSensitiveLookup"], true);
            format!("{}:{}", value["range"]["start"]["line"], value["variableName"].as_str().unwrap())
        };
        found.as_array().unwrap().iter().map(one).collect::<Vec<_>>()
    };
    assert_eq!(stopped(3), ["0:g", "2:x", "3:x", "3:g"]);
    assert_eq!(stopped(7), ["0:g", "3:g", "6:x", "7:x", "7:g"]);
}

#[test]
fn after_a_check_hover_says_with_what_the_order_of_a_statement_matters() {
    let editor = Editor::new();
    let uri = uri("order");
    editor.open(
        &uri,
        "byte slot[2], i = 0, j = 1, x;\nactive proctype Left() { slot[i] = 1; x = 1 }\n\
         active proctype Right() { slot[j] = 2; x = 2 }\n",
    );
    let hover = |line: u32, character: u32| {
        let place = json!({ "textDocument": { "uri": uri }, "position": { "line": line, "character": character } });
        editor.request("textDocument/hover", place)["contents"]["value"].as_str().unwrap_or_default().to_owned()
    };
    let end = std::time::Instant::now() + super::client::PATIENCE;
    while !hover(1, 25).contains("The order of this statement") {
        assert!(std::time::Instant::now() < end, "{}", hover(1, 25));
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let (array, write) = (hover(1, 25), hover(2, 39));
    assert!(array.contains("in the whole state space"), "{array}");
    assert!(
        array.contains("* independent of line 3 `slot[j] = 2` of `Right`: both orders lead to the same state"),
        "{array}"
    );
    assert!(!array.contains("it matters with"), "{array}");
    assert!(write.contains("* it matters with line 2 `x = 1` of `Left`: in the one state"), "{write}");
    // What was learnt of another text is not said.
    editor.replace(&uri, 2, "byte x;\nactive proctype Left() { x = 1 }\nactive proctype Right() { x = x + 1 }\n");
    assert!(!hover(1, 25).contains("line 3 `slot[j] = 2`"));
}
