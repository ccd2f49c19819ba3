//! The conversation itself: order, cancellation, panics, encodings, the end. Each row of what is known to
//! go wrong with language servers is a test here.

use super::client::{Editor, PATIENCE};
use super::{ENDLESS, FAILING, uri};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

#[test]
fn every_hover_sees_the_version_before_it() {
    let editor = Editor::new();
    let uri = uri("order");
    editor.open(&uri, "#define N 0\ninit { skip }\n");
    let count = 3000;
    let mut asked = Vec::new();
    for version in 1..=count {
        editor.replace(&uri, version + 1, &format!("#define N {version}\ninit {{ skip }}\n"));
        let position = json!({ "line": 0, "character": 8 });
        asked.push((
            version,
            editor.ask("textDocument/hover", json!({ "textDocument": { "uri": uri }, "position": position })),
        ));
    }
    for (version, id) in asked {
        let answer = editor.answer(id);
        let text = answer["result"]["contents"]["value"].as_str().unwrap_or_default().to_owned();
        assert!(text.contains(&format!("#define N {version}\n")), "version {version}: {answer}");
    }
}

#[test]
fn a_hundred_rapid_edits_during_a_long_search_end_with_the_last_version() {
    let editor = Editor::new();
    let uri = uri("rapid");
    editor.open(&uri, ENDLESS);
    editor.save(&uri);
    editor.wait("a running check", |message| {
        message["method"] == "fabius/status" && message["params"]["running"]["progress"]["states"].as_u64() > Some(1000)
    });
    for version in 2..=101 {
        let text = if version == 101 {
            format!("{ENDLESS}byte last = oops;\n")
        } else {
            format!("{ENDLESS}byte x{version}\n")
        };
        editor.replace(&uri, version, &text);
    }
    let last = editor.diagnostics(&uri, "diagnostics of the last version", |params| params["version"] == 101);
    let found = last["diagnostics"].as_array().unwrap();
    assert_eq!(found.len(), 1, "{last}");
    assert!(found[0]["message"].as_str().unwrap().contains("`oops` is not declared"), "{last}");
    // Nothing about an older version comes later.
    editor.forget_older();
    let late = editor.wait_until(Duration::from_millis(500), &|message| {
        message["method"] == "textDocument/publishDiagnostics" && message["params"]["version"] != 101
    });
    assert_eq!(late, None);
}

#[test]
fn an_edit_stops_a_search_at_once() {
    let editor = Editor::new();
    let uri = uri("supersede");
    editor.open(&uri, ENDLESS);
    editor.wait("a running check", |message| {
        message["method"] == "fabius/status" && message["params"]["running"]["tier"] == "deep"
    });
    editor.replace(&uri, 2, &ENDLESS.replace("30000", "30001"));
    editor.wait("the end of the check", |message| {
        message["method"] == "fabius/status"
            && message["params"]["version"] == 2
            && message["params"]["running"].is_null()
    });
    rests(&editor);
}

/// Too many states for a short look, and few enough to wait for.
const LARGE: &str = "byte n[4];\nactive [4] proctype Count() { do :: n[_pid] < 9 -> n[_pid]++; assert(n[0] + n[1] + n[2] + n[3] < 100) :: n[_pid] == 9 -> n[_pid] = 0 od }\n";

#[test]
fn a_long_search_for_one_model_keeps_nobody_waiting_for_another() {
    let editor = Editor::new();
    let [long, failing, large] = ["long", "failing", "large"].map(uri);
    let searched = |uri: &str, what: &str| {
        editor.wait(what, |message| {
            let (params, running) = (&message["params"], &message["params"]["running"]);
            message["method"] == "fabius/status"
                && params["uri"] == *uri
                && running["tier"] != "quick"
                && running["progress"]["states"].as_u64() > Some(0)
        })
    };
    editor.open(&long, ENDLESS);
    searched(&long, "a long search");
    editor.open(&failing, FAILING);
    editor.diagnostics(&failing, "the error in another model", |params| {
        params["diagnostics"].as_array().is_some_and(|found| !found.is_empty())
    });
    // Another model needs a long search, too: the first one gives way, and goes on afterwards.
    editor.open(&large, LARGE);
    let settled = editor.settled(&large, 1);
    assert_eq!(
        (&settled["properties"][0]["state"], &settled["properties"][0]["exhaustive"]),
        (&json!("holds"), &json!(true))
    );
    editor.forget();
    searched(&long, "the long search, begun again");
}

/// The threads that worked are gone: the server uses no time any more.
#[track_caller]
fn rests(editor: &Editor) {
    let end = Instant::now() + PATIENCE;
    let used = || {
        let before = cpu_ticks(editor.pid());
        std::thread::sleep(Duration::from_millis(400));
        cpu_ticks(editor.pid()) - before
    };
    while used() > 4 {
        assert!(Instant::now() < end, "the server goes on working");
    }
}

/// The time that a process used, in hundredths of a second; 0 where nobody can say.
fn cpu_ticks(pid: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    let field = |at: usize| fields.get(at).and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
    field(11) + field(12)
}

#[test]
fn a_comment_does_not_stop_a_search() {
    let editor = Editor::new();
    let uri = uri("comment");
    editor.open(&uri, ENDLESS);
    let states = |message: &Value| message["params"]["running"]["progress"]["states"].as_u64().unwrap_or(0);
    let deep = |message: &Value| message["method"] == "fabius/status" && message["params"]["running"]["tier"] == "deep";
    editor.wait("a deep check", |message| deep(message) && states(message) > 10_000);
    editor.edit(&uri, 2, (0, 0), (0, 0), "/* a comment */\n");
    let later = editor.wait("the same check", |message| deep(message) && message["params"]["version"] == 2);
    assert!(states(&later) > 10_000, "the search began again: {later}");
}

#[test]
fn an_edit_that_is_taken_back_lets_a_search_go_on() {
    let editor = Editor::new();
    let uri = uri("undone");
    editor.open(&uri, ENDLESS);
    let states = |message: &Value| message["params"]["running"]["progress"]["states"].as_u64();
    let deep = |message: &Value| message["method"] == "fabius/status" && message["params"]["running"]["tier"] == "deep";
    let before = editor.wait("a deep check", |message| deep(message) && states(message) > Some(10_000));
    let before = states(&before).unwrap();
    let place = ENDLESS.find("30000").unwrap() - ENDLESS.find("#define").unwrap();
    let digit = |at: usize| (1, (place + at) as u32);
    editor.edit(&uri, 2, digit(4), digit(5), "1");
    editor.wait("the end of the check", |message| {
        message["method"] == "fabius/status"
            && message["params"]["version"] == 2
            && message["params"]["running"].is_null()
    });
    rests(&editor);
    editor.forget();
    editor.edit(&uri, 3, digit(4), digit(5), "0");
    let after = editor.wait("the same check", |message| deep(message) && message["params"]["version"] == 3);
    assert!(states(&after) >= Some(before), "the search began again: {after}");
    let later = editor.wait("progress", |message| deep(message) && states(message) > states(&after));
    assert_eq!(later["params"]["version"], 3);
    // Whoever stops it means it: there is nothing to go on with.
    editor.request("fabius/stop", json!({ "uri": uri }));
    editor.edit(&uri, 4, digit(4), digit(5), "1");
    editor.edit(&uri, 5, digit(4), digit(5), "0");
    let status = editor.request("fabius/properties", json!({ "uri": uri }));
    assert!(status["running"].is_null(), "{status}");
}

#[test]
fn requests_are_answered_while_many_things_go_on() {
    let editor = Editor::new();
    for name in ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"] {
        editor.open(&uri(name), ENDLESS);
    }
    let params = json!({ "textDocument": { "uri": uri("a") }, "position": { "line": 1, "character": 30 } });
    for _ in 0..20 {
        editor.request("textDocument/hover", params.clone());
    }
    // All of them go on, or wait for their turn.
    let status = editor.request("fabius/properties", json!({ "uri": uri("a") }));
    assert!(!status["running"].is_null(), "{status}");
    let stopped = editor.request("fabius/stop", json!({ "uri": uri("a") }));
    assert!(stopped["running"].is_null(), "{stopped}");
}

#[test]
fn a_client_that_answers_no_request_is_served() {
    let mut editor = Editor::with(json!({
        "window": { "workDoneProgress": true },
        "workspace": {
            "codeLens": { "refreshSupport": true },
            "inlayHint": { "refreshSupport": true },
            "configuration": true,
        },
    }));
    editor.answers = false;
    let uri = uri("deaf");
    editor.open(&uri, FAILING);
    for version in 2..40 {
        editor.replace(&uri, version, &format!("{FAILING}/* {version} */\n"));
        let params = json!({ "textDocument": { "uri": uri }, "position": { "line": 0, "character": 6 } });
        assert!(editor.request("textDocument/hover", params)["contents"].is_object());
    }
    // It is asked to refresh once; who does not answer is not asked again.
    let refreshes = |message: &Value| message["method"] == "workspace/codeLens/refresh";
    editor.wait("a request to refresh", refreshes);
    assert_eq!(editor.wait_until(Duration::from_millis(200), &refreshes), None);
}

#[test]
fn cancelled_requests_are_answered_as_cancelled() {
    let editor = Editor::new();
    let uri = uri("cancel");
    editor.open(&uri, &format!("{}init {{ skip }}\n", "#define A(x) x + x\n".repeat(200)));
    // Behind a long row of edits, so that they wait.
    for version in 2..200 {
        editor.replace(&uri, version, &format!("{}init {{ skip }}\n", "#define A(x) x + x\n".repeat(500)));
        editor.ask("textDocument/documentSymbol", json!({ "textDocument": { "uri": uri } }));
    }
    let ids: Vec<i64> = (0..12)
        .map(|_| editor.ask("textDocument/semanticTokens/full", json!({ "textDocument": { "uri": uri } })))
        .collect();
    for id in &ids {
        editor.notify("$/cancelRequest", json!({ "id": id }));
    }
    let cancelled = ids.iter().filter(|id| editor.answer(**id)["error"]["code"] == -32800).count();
    assert!(cancelled >= 11, "only {cancelled} of 12 were cancelled");
}

#[test]
fn a_panic_is_answered_and_survived() {
    let editor = Editor::new();
    let uri = uri("panic");
    editor.open(&uri, FAILING);
    let answer = editor.answer(editor.ask("fabius/test/panic", json!({ "uri": uri })));
    if !cfg!(debug_assertions) {
        return;
    }
    assert_eq!(answer["error"]["code"], -32603, "{answer}");
    let params = json!({ "textDocument": { "uri": uri }, "position": { "line": 0, "character": 6 } });
    assert!(editor.request("textDocument/hover", params)["contents"].is_object());
}

#[test]
fn an_editor_that_does_not_read_is_listened_to() {
    let mut editor = Editor::new();
    let uri = uri("flood");
    editor.open(&uri, "init { skip }\n");
    editor.settled(&uri, 1);
    // More answers than any pipe holds, and nobody reads them; every question can be asked all the same.
    editor.read(false);
    let ids: Vec<i64> = (0..40_000)
        .map(|_| editor.ask("textDocument/documentSymbol", json!({ "textDocument": { "uri": uri } })))
        .collect();
    editor.read(true);
    for id in [ids[0], ids[20_000], ids[39_999]] {
        assert!(editor.answer(id)["result"].is_array());
    }
    editor.request("shutdown", Value::Null);
    editor.notify("exit", Value::Null);
    assert_eq!(editor.exit_code(PATIENCE), Some(0));
}

#[test]
fn progress_begins_and_ends_and_can_be_stopped_there() {
    let editor = Editor::new();
    let uri = uri("progress");
    editor.open(&uri, ENDLESS);
    let progress = |kind: &'static str| {
        move |message: &Value| message["method"] == "$/progress" && message["params"]["value"]["kind"] == kind
    };
    let begin = editor.wait("the beginning", progress("begin"));
    assert_eq!(begin["params"]["value"]["cancellable"], true, "{begin}");
    let report = editor.wait("a report", progress("report"));
    let told = report["params"]["value"]["message"].as_str().unwrap();
    assert!(told.contains("/s, depth"), "{told}");
    editor.notify("window/workDoneProgress/cancel", json!({ "token": begin["params"]["token"] }));
    let end = editor.wait("the end", progress("end"));
    assert_eq!(end["params"]["token"], begin["params"]["token"]);
    editor.forget();
    rests(&editor);
    let more = editor.wait_until(Duration::ZERO, &|message| message["method"] == "$/progress");
    assert_eq!(more, None, "after the end there is no progress");
}

#[test]
fn the_work_behind_a_cancelled_question_stops() {
    let editor = Editor::new();
    editor.notify("workspace/didChangeConfiguration", json!({ "settings": { "fabius": { "check": "never" } } }));
    let uri = uri("question");
    // Each state has so many processes that even a short look takes long.
    let slow = format!("{ENDLESS}active [200] proctype E() {{ int x; COUNT(x) }}\ninit {{ false;\nskip }}\n");
    editor.open(&uri, &slow);
    editor.diagnostics(&uri, "the text", |_| true);
    let ids: Vec<i64> = (0..12).map(|_| editor.ask("fabius/meet", json!({ "uri": uri, "lines": [8] }))).collect();
    // Other questions are answered meanwhile, and before these.
    let params = json!({ "textDocument": { "uri": uri }, "position": { "line": 1, "character": 30 } });
    editor.request("textDocument/hover", params);
    for id in &ids {
        editor.notify("$/cancelRequest", json!({ "id": id }));
    }
    let cancelled = ids.iter().filter(|id| editor.answer(**id)["error"]["code"] == -32800).count();
    assert!(cancelled >= 11, "only {cancelled} of 12 were cancelled");
    rests(&editor);
}

#[test]
fn shutdown_and_exit_end_the_server_although_its_input_stays_open() {
    let mut editor = Editor::new();
    editor.open(&uri("end"), ENDLESS);
    assert_eq!(editor.request("shutdown", Value::Null), Value::Null);
    let refused = editor.answer(editor.ask("textDocument/hover", json!({})));
    assert_eq!(refused["error"]["code"], -32600, "{refused}");
    editor.notify("exit", Value::Null);
    assert_eq!(editor.exit_code(PATIENCE), Some(0));
}

#[test]
fn exit_without_shutdown_is_told_by_the_exit_code() {
    let mut editor = Editor::new();
    editor.notify("exit", Value::Null);
    assert_eq!(editor.exit_code(PATIENCE), Some(1));
}

#[test]
fn a_client_that_goes_away_ends_the_server() {
    let mut editor = Editor::new();
    editor.open(&uri("gone"), ENDLESS);
    editor.hang_up();
    assert_eq!(editor.exit_code(PATIENCE), Some(1));
}

#[test]
fn nothing_is_answered_before_initialize() {
    let editor = Editor::silent();
    let refused = editor.answer(editor.ask("textDocument/hover", json!({})));
    assert_eq!(refused["error"]["code"], -32002, "{refused}");
    editor.request("initialize", json!({ "capabilities": {} }));
    let again = editor.answer(editor.ask("initialize", json!({ "capabilities": {} })));
    assert_eq!(again["error"]["code"], -32600, "{again}");
}

#[test]
fn nonsense_is_answered_with_errors() {
    let editor = Editor::new();
    let unknown = editor.answer(editor.ask("textDocument/nonsense", json!({})));
    assert_eq!(unknown["error"]["code"], -32601, "{unknown}");
    for params in [json!(null), json!(3), json!({ "textDocument": 1 }), json!([])] {
        let wrong = editor.answer(editor.ask("textDocument/hover", params));
        assert_eq!(wrong["error"]["code"], -32602, "{wrong}");
    }
    let missing = json!({ "textDocument": { "uri": uri("missing") }, "position": { "line": 0, "character": 0 } });
    assert_eq!(editor.request("textDocument/hover", missing), Value::Null);
    editor.notify("textDocument/didChange", json!({ "textDocument": 7 }));
    editor.replace(&uri("missing"), 1, "x");
    editor.notify("$/whatever", json!({}));
    assert_eq!(editor.request("workspace/symbol", json!({ "query": "" })), json!([]));
}

#[test]
fn positions_are_counted_as_agreed() {
    let text = "/* é😀 */ byte first; byte second = frist;\ninit { skip }\n";
    for (encoding, expected) in [("utf-8", 39), ("utf-16", 36), ("utf-32", 35)] {
        let editor = Editor::with(json!({ "general": { "positionEncodings": [encoding, "utf-16"] } }));
        let uri = uri(encoding);
        editor.open(&uri, text);
        let wrong = |params: &Value| params["diagnostics"].as_array().is_some_and(|all| all.len() == 1);
        let found = editor.diagnostics(&uri, "the misspelt name", wrong);
        assert_eq!(
            found["diagnostics"][0]["range"]["start"],
            json!({ "line": 0, "character": expected }),
            "{encoding}"
        );
        // An edit behind the emoji hits the word.
        editor.edit(&uri, 2, (0, expected), (0, expected + 5), "first");
        editor.diagnostics(&uri, "no more errors", |params| {
            params["version"] == 2 && params["diagnostics"].as_array().is_some_and(Vec::is_empty)
        });
    }
}

#[test]
fn what_is_no_message_is_answered_and_the_conversation_goes_on() {
    let editor = Editor::new();
    let bodies: [&[u8]; 5] = [b"{bad}", b"[]", b"5", b"{\"jsonrpc\":\"2.0\",\"method\":\"\xff\"}", b"{}"];
    for body in bodies {
        editor.send_body(body);
        let answer = editor.wait("an error", |message| message["error"]["code"] == -32700);
        assert_eq!(answer["id"], Value::Null, "{answer}");
    }
    let uri = uri("frames");
    editor.open(&uri, FAILING);
    assert_eq!(editor.request("fabius/properties", json!({ "uri": uri }))["version"], 1);
}

/// A text that takes long to be read: this many process types.
const MANY: usize = 30_000;

#[test]
fn a_question_about_a_text_that_is_being_read_waits_for_it_and_others_do_not() {
    let editor = Editor::new();
    let long: String = (0..MANY).map(|i| format!("proctype P{i}() {{ byte x; x = {}; g = x }}\n", i % 200)).collect();
    editor.open(&uri("long.pml"), &format!("byte g;\n{long}active proctype Q() {{ assert(g == 0) }}\n"));
    let hover = |name: &str| {
        let position = json!({ "line": 0, "character": 5 });
        editor.ask("textDocument/hover", json!({ "textDocument": { "uri": uri(name) }, "position": position }))
    };
    let about_long = hover("long.pml");
    editor.open(&uri("short.pml"), "byte h;\nactive proctype P() { assert(h == 0) }\n");
    let about_short = hover("short.pml");
    let shown = |answer: &Value| answer["result"]["contents"]["value"].as_str().unwrap_or_default().to_owned();
    assert!(shown(&editor.answer(about_short)).contains("byte h"));
    assert!(shown(&editor.answer(about_long)).contains("byte g"));
}
