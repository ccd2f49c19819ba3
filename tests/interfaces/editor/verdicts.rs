//! Verdicts in the editor: when they come, what they say, what an edit does to them.

mod coverage;

use super::client::Editor;
use super::{ENDLESS, FAILING, MENDED, uri};
use serde_json::{Value, json};
use std::path::PathBuf;

fn first(params: &Value) -> &Value {
    &params["diagnostics"][0]
}

fn of_check(params: &Value) -> bool {
    params["diagnostics"].as_array().is_some_and(|all| all.iter().any(|one| one["code"] == "F0601"))
}

/// Whether a diagnostic says something.
fn says(params: &Value, words: &str) -> bool {
    let all = params["diagnostics"].as_array().unwrap();
    all.iter().any(|one| one["message"].as_str().is_some_and(|message| message.contains(words)))
}

#[test]
fn the_assertion_is_underlined_with_its_counterexample() {
    let editor = Editor::new();
    let uri = uri("assertion");
    editor.open(&uri, FAILING);
    let found = editor.diagnostics(&uri, "the violation", of_check);
    let one = first(&found);
    assert_eq!(one["range"]["start"]["line"], 4, "{one}");
    assert_eq!(one["severity"], 1);
    assert_eq!(one["source"], "fabius");
    assert!(one["message"].as_str().unwrap().starts_with("this assertion can fail: "), "{one}");
    assert!(one["codeDescription"]["href"].as_str().unwrap().contains("findings.md#f0601"), "{one}");
    let related = one["relatedInformation"].as_array().unwrap();
    assert!((3..=7).contains(&related.len()), "{one}");
    let numbers: Vec<usize> =
        related.iter().filter_map(|step| step["message"].as_str()?.split('.').next()?.parse().ok()).collect();
    assert!(numbers.len() >= 3 && numbers.is_sorted(), "{related:?}");
    assert!(related.iter().all(|step| step["location"]["uri"] == uri), "{related:?}");
}

#[test]
fn while_the_text_does_not_parse_an_old_violation_says_that_it_is_old() {
    let editor = Editor::new();
    let uri = uri("old");
    editor.open(&uri, FAILING);
    editor.diagnostics(&uri, "the violation", of_check);
    editor.settled(&uri, 1);
    // The model means something else now, and the run was tried: it still fails.
    let with_more = format!("byte unused_new = 3;\n{FAILING}");
    editor.replace(&uri, 2, &with_more);
    let tried = editor.diagnostics(&uri, "the violation, tried", |params| params["version"] == 2 && of_check(params));
    assert_eq!(first(&tried)["severity"], 1, "{tried}");
    // Of the text that is there now nothing is known, wherever it was changed.
    editor.replace(&uri, 3, &format!("{with_more}@@\n"));
    let faulty = editor.diagnostics(&uri, "the faulty text", |params| params["version"] == 3);
    let old = faulty["diagnostics"].as_array().unwrap().iter().find(|one| one["code"] == "F0601").unwrap();
    assert!(old["message"].as_str().unwrap().starts_with("before the last edits: "), "{old}");
    assert_eq!((&old["severity"], &old["range"]["start"]["line"]), (&json!(2), &json!(5)), "{old}");
    let status = editor.request("fabius/properties", json!({ "uri": uri }));
    assert_eq!(status["faulty"]["line"], 8, "{status}");
    let known = &status["properties"][0];
    assert_eq!(
        (&known["name"], &known["state"], &known["stale"]),
        (&json!("safety"), &json!("stale"), &json!(true)),
        "{status}"
    );
    assert!(known["summary"].as_str().unwrap().ends_with(" (before the last edits)"), "{status}");
    assert!(status["faulty"]["message"].as_str().unwrap().starts_with("line 9: "), "{status}");
    // And when it is as it was, the result counts again.
    editor.replace(&uri, 4, FAILING);
    let again = editor.diagnostics(&uri, "the violation again", |params| params["version"] == 4);
    assert_eq!(
        (&first(&again)["severity"], &first(&again)["range"]["start"]["line"]),
        (&json!(1), &json!(4)),
        "{again}"
    );
}

#[test]
fn a_comment_moves_the_violation_and_searches_nothing() {
    let editor = Editor::new();
    let uri = uri("moves");
    editor.open(&uri, FAILING);
    editor.diagnostics(&uri, "the violation", of_check);
    editor.settled(&uri, 1);
    editor.forget();
    editor.edit(&uri, 2, (0, 0), (0, 0), "/* one\n two\n */\n");
    let moved = editor.diagnostics(&uri, "the moved violation", |params| params["version"] == 2);
    assert_eq!(first(&moved)["range"]["start"]["line"], 7, "{moved}");
    assert_eq!(first(&moved)["severity"], 1, "{moved}");
    let searched = editor.wait_until(std::time::Duration::from_millis(300), &|message| {
        message["method"] == "fabius/status" && !message["params"]["running"].is_null()
    });
    assert_eq!(searched, None);
    // Saving does not search either: everything is known.
    editor.save(&uri);
    let searched = editor.wait_until(std::time::Duration::from_millis(300), &|message| {
        message["method"] == "fabius/status" && !message["params"]["running"].is_null()
    });
    assert_eq!(searched, None);
}

#[test]
fn a_known_counterexample_is_tried_after_an_edit() {
    let editor = Editor::new();
    let uri = uri("replay");
    editor.open(&uri, FAILING);
    editor.diagnostics(&uri, "the violation", of_check);
    // It still happens, with a statement more.
    editor.replace(&uri, 2, &FAILING.replace("    critical++;", "    critical++;\n    turn = 1;"));
    // Until it was tried, it stays as it was.
    let still =
        editor.diagnostics(&uri, "the old run", |params| params["version"] == 2 && says(params, "still fails ("));
    assert_eq!(first(&still)["range"]["start"]["line"], 5, "{still}");
    // It is blocked.
    editor.replace(&uri, 3, MENDED);
    let blocked = editor.diagnostics(&uri, "the blocked run", |params| {
        params["version"] == 3
            && (says(params, "old trace now blocked at step") || says(params, "does not fail any more"))
    });
    assert_ne!(first(&blocked)["severity"], 1, "{blocked}");
}

/// A formula that an infinite run violates.
const ENDLESSLY: &str = "\
bool asked, given;
active proctype Client() { asked = true }
active proctype Server() {
    do
    :: given = false
    :: asked -> given = true; break
    od
}
ltl served { [] (asked -> <> given) }
";

#[test]
fn the_moves_of_a_claim_are_no_steps_of_the_model() {
    let editor = Editor::new();
    let uri = uri("claim");
    editor.open(&uri, ENDLESSLY);
    let found = editor.diagnostics(&uri, "the violation", |params| says(params, "infinite run"));
    let one = &found["diagnostics"][0];
    assert!(one["message"].as_str().unwrap().contains(" steps, 2 processes"), "{one}");
    assert!(one["message"].as_str().unwrap().contains("`given` is false"), "{one}");
    // The formula stands in line 8: none of the steps is there, however many rounds of the loop come first.
    let told = one["relatedInformation"].as_array().unwrap().iter();
    let steps: Vec<u64> = told
        .filter(|place| place["message"].as_str().is_some_and(|message| message.contains(". ")))
        .filter_map(|place| place["location"]["range"]["start"]["line"].as_u64())
        .collect();
    assert!(steps.starts_with(&[1, 4]) && steps[1..].iter().all(|line| *line == 4), "{one}");
    let range = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 9, "character": 0 } });
    editor.settled(&uri, 1);
    let hints = editor.request("textDocument/inlayHint", json!({ "textDocument": { "uri": uri }, "range": range }));
    let rounds: Vec<(u64, &str)> = hints
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|hint| {
            let label = hint["label"].as_str().filter(|label| label.contains('⟳'))?;
            Some((hint["position"]["line"].as_u64()?, label))
        })
        .collect();
    assert_eq!(rounds, [(4, " ⟳1")], "{hints}");
}

#[test]
fn a_deadlock_at_the_start_is_told_as_one() {
    let editor = Editor::new();
    let uri = uri("start");
    editor.open(&uri, "chan a = [0] of { byte };\nactive proctype P() { a ! 1 }\n");
    let found = editor.diagnostics(&uri, "the deadlock", |params| says(params, "deadlock"));
    let message = first(&found)["message"].as_str().unwrap().lines().next().unwrap().to_owned();
    assert_eq!(message, "deadlock in the initial state");
}

#[test]
fn a_known_loop_is_tried_after_an_edit() {
    let editor = Editor::new();
    let uri = uri("lasso");
    editor.open(&uri, ENDLESSLY);
    let violated = |params: &Value| {
        params["diagnostics"].as_array().is_some_and(|all| all.iter().any(|one| one["code"] == "F0607"))
    };
    let message = |params: &Value| {
        let all = params["diagnostics"].as_array().unwrap();
        let one = all.iter().find(|one| one["code"] == "F0607").unwrap();
        (one["message"].as_str().unwrap().to_owned(), one["severity"].as_i64().unwrap())
    };
    editor.diagnostics(&uri, "the violation", violated);
    editor.replace(&uri, 2, &ENDLESSLY.replace(":: given = false", ":: given = false; asked = true"));
    let still =
        editor.diagnostics(&uri, "the old loop", |params| params["version"] == 2 && says(params, "still loops ("));
    let (text, severity) = message(&still);
    assert!(text.contains("loop of 2)"), "{text}");
    assert_eq!(severity, 1, "{still}");
    // The loop cannot be entered any more.
    editor.replace(&uri, 3, &ENDLESSLY.replace(":: given = false", ":: !asked; given = false"));
    let blocked = editor.diagnostics(&uri, "the blocked loop", |params| {
        params["version"] == 3 && says(params, "old trace now blocked at step")
    });
    let (text, severity) = message(&blocked);
    assert!(text.contains("`!asked`"), "{text}");
    assert_ne!(severity, 1, "{blocked}");
    // It closes, but it is not bad any more.
    editor.replace(&uri, 4, &ENDLESSLY.replace("<> given", "<> !given"));
    editor.diagnostics(&uri, "the harmless loop", |params| {
        params["version"] == 4 && says(params, "does not fail any more")
    });
}

/// Ten processes that count apart and together: few states with few delays, and ever more with more of them. A step takes
/// long, so that a short look sees few states however fast the machine is.
const COUNTERS: &str = "\
short all;
byte a[10];
hidden byte i;
active [10] proctype P() {
    do
    :: atomic { a[_pid] < 4 -> a[_pid]++; all++; d_step { i = 0; do :: i < 100 -> i++ :: else -> break od; i = 0 } }
    :: else -> break
    od;
    assert(all <= 40)
}
";

#[test]
fn bounds_rise_until_the_time_is_up() {
    let editor = Editor::new();
    let uri = uri("delays");
    let settings = json!({ "deepSeconds": 15 });
    editor.notify("workspace/didChangeConfiguration", json!({ "settings": { "fabius": settings } }));
    editor.open(&uri, COUNTERS);
    for tier in ["quick", "delay-deepening", "deep", "extended"] {
        editor.wait(tier, |message| {
            message["method"] == "fabius/status"
                && message["params"]["uri"] == uri
                && message["params"]["running"]["tier"] == tier
                && (tier == "deep" || message["params"]["running"]["bound"].as_u64() >= Some(1))
        });
    }
    editor.wait("progress that says how far", |message| {
        message["method"] == "$/progress"
            && message["params"]["value"]["message"]
                .as_str()
                .is_some_and(|told| told.starts_with("safety: no error up to ") && told.contains("/s, depth "))
    });
    let status = editor.settled(&uri, 1);
    let safety = &status["properties"][0];
    assert_eq!((&safety["state"], &safety["exhaustive"]), (&json!("undecided"), &json!(false)), "{status}");
    assert!(safety["bound"].as_u64() >= Some(1), "{status}");
    let summary = safety["summary"].as_str().unwrap();
    assert!(summary.starts_with("? no error up to ") && summary.ends_with("not everything was checked"), "{summary}");
}

#[test]
fn a_sealed_model_is_searched_without_its_seals_too() {
    let editor = Editor::new();
    let uri = uri("sealed");
    // It fails only where a process is interrupted inside of the seal.
    let sealed = "byte x;\nactive proctype P() { /*@ seal rtc */ x = 1; x = 0 /*@ unseal */ }\nactive proctype Q() { assert(x == 0) }\n";
    editor.open(&uri, sealed);
    let status = editor.settled(&uri, 1);
    assert_eq!(status["properties"][0]["state"], "violated", "{status}");
}

#[test]
fn a_mended_model_is_clean_after_saving() {
    let editor = Editor::new();
    let uri = uri("mended");
    editor.open(&uri, FAILING);
    editor.diagnostics(&uri, "the violation", of_check);
    editor.replace(&uri, 2, MENDED);
    editor.save(&uri);
    editor.diagnostics(&uri, "nothing", |params| {
        params["version"] == 2 && params["diagnostics"].as_array().is_some_and(Vec::is_empty)
    });
    let status = editor.settled(&uri, 2);
    assert_eq!(status["properties"][0]["state"], "holds", "{status}");
    assert_eq!(status["properties"][0]["exhaustive"], true, "{status}");
}

#[test]
fn only_the_changed_formula_is_checked_again() {
    let editor = Editor::new();
    let uri = uri("formulas");
    let model = "byte x; active proctype P() { do :: x < 5 -> x++ :: x == 5 -> x = 0 od }\nltl one { [] (x <= 5) }\n";
    editor.open(&uri, model);
    editor.settled(&uri, 1);
    editor.forget();
    editor.replace(&uri, 2, &format!("{model}ltl two {{ [] <> (x == 5) }}\n"));
    editor.save(&uri);
    let searching = editor
        .wait("a search", |message| message["method"] == "fabius/status" && !message["params"]["running"].is_null());
    assert_eq!(searching["params"]["running"]["property"], "two", "{searching}");
    let status = editor.settled(&uri, 2);
    let names: Vec<&str> = status["properties"].as_array().unwrap().iter().filter_map(|p| p["name"].as_str()).collect();
    assert_eq!(names, ["safety", "one", "two"]);
}

#[test]
fn code_that_is_never_executed_is_faded_with_the_reason() {
    let editor = Editor::new();
    let uri = uri("faded");
    editor.open(&uri, "byte x; init { if :: x == 1 -> x = 2 :: x == 0 -> skip fi }\n");
    let faded = editor.diagnostics(&uri, "faded code", |params| {
        params["diagnostics"].as_array().is_some_and(|all| all.iter().any(|one| one["tags"] == json!([1])))
    });
    assert_eq!(first(&faded)["severity"], 4, "{faded}");
    assert!(first(&faded)["message"].as_str().unwrap().contains("never true"), "{faded}");
}

#[test]
fn a_client_that_asks_gets_what_the_text_says() {
    let editor = Editor::with(
        json!({ "textDocument": { "diagnostic": {}, "publishDiagnostics": { "relatedInformation": true } } }),
    );
    let uri = uri("pull");
    editor.open(&uri, &FAILING.replace("turn = _pid", "trun = _pid"));
    let report = editor.request("textDocument/diagnostic", json!({ "textDocument": { "uri": uri } }));
    assert_eq!(report["kind"], "full");
    assert_eq!(report["items"][0]["code"], "F0301", "{report}");
    editor.replace(&uri, 2, FAILING);
    editor.save(&uri);
    // What checks find is pushed all the same.
    editor.diagnostics(&uri, "the violation", of_check);
    let report = editor.request("textDocument/diagnostic", json!({ "textDocument": { "uri": uri } }));
    assert_eq!(report["items"], json!([]));
}

#[test]
fn an_included_file_shows_its_own_errors() {
    let folder = std::env::temp_dir().join(format!("fabius-include-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("part.h"), "byte x;\nbyte x;\n").unwrap();
    let editor = Editor::new();
    let address = |path: PathBuf| format!("file://{}", path.display());
    let (model, part) = (address(folder.join("model.pml")), address(folder.join("part.h")));
    editor.open(&model, "#include \"part.h\"\ninit { skip }\n");
    let found = editor
        .diagnostics(&part, "the error in the part", |params| !params["diagnostics"].as_array().unwrap().is_empty());
    assert_eq!(first(&found)["range"]["start"]["line"], 1, "{found}");
    // The part is opened and mended in the editor; the disk stays as it is.
    editor.open(&part, "byte x;\nbyte y;\n");
    editor.diagnostics(&part, "nothing any more", |params| params["diagnostics"].as_array().unwrap().is_empty());
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn settings_change_what_is_checked() {
    let editor = Editor::new();
    let uri = uri("settings");
    let model = "#ifndef N\n#define N 3\n#endif\ninit { assert(N == 3) }\n";
    editor.open(&uri, model);
    let status = editor.settled(&uri, 1);
    assert_eq!(status["properties"][0]["state"], "holds", "{status}");
    editor.notify("workspace/didChangeConfiguration", json!({ "settings": { "fabius": { "defines": ["N=4"] } } }));
    editor.diagnostics(&uri, "the violation", of_check);
}

#[test]
fn a_counterexample_can_be_stepped_through() {
    let editor = Editor::new();
    let uri = uri("steps");
    editor.open(&uri, FAILING);
    editor.diagnostics(&uri, "the violation", of_check);
    let trace = editor.request("fabius/trace", json!({ "uri": uri, "property": "safety" }));
    let count = trace["steps"].as_u64().unwrap();
    assert_eq!(trace["page"].as_array().unwrap().len() as u64, count);
    for step in 0..=count {
        let state = editor.request("fabius/step", json!({ "uri": uri, "property": "safety", "step": step }));
        let names: Vec<&str> =
            state["variables"].as_array().unwrap().iter().filter_map(|v| v["name"].as_str()).collect();
        assert_eq!(names, ["turn", "critical"], "{state}");
    }
    let last = editor.request("fabius/step", json!({ "uri": uri, "property": "safety", "step": count - 1 }));
    assert_eq!(last["variables"][1]["value"], "2", "{last}");
    let why = editor.request("fabius/why", json!({ "uri": uri, "step": 1, "pid": 0 }));
    assert_eq!(why["processes"].as_array().unwrap().len(), 1, "{why}");
    let lines = editor.request("fabius/lines", json!({ "uri": uri }));
    let fails = lines["lines"].as_array().unwrap().iter().find(|line| line["line"] == 4).unwrap();
    assert!(fails["marks"].as_array().unwrap().iter().any(|mark| mark["kind"] == "fails"), "{lines}");
}

#[test]
fn a_step_is_one_of_the_system_also_where_a_claim_moves() {
    let editor = Editor::new();
    let uri = uri("claim-steps");
    editor.open(&uri, "byte x;\nactive proctype P() { x = 1; x = 2; x = 3 }\nltl low { [] (x < 3) }\n");
    editor.settled(&uri, 1);
    let value = |step: u64| {
        let state = editor.request("fabius/step", json!({ "uri": uri, "property": "low", "step": step }));
        state["variables"][0]["value"].as_str().map(str::to_owned)
    };
    assert_eq!([0, 1, 2].map(value), ["0", "1", "2"].map(|value| Some(value.to_owned())));
}

#[test]
fn two_lines_can_be_asked_whether_they_meet() {
    let editor = Editor::new();
    let uri = uri("meet");
    editor.open(&uri, FAILING);
    let both = editor.request("fabius/meet", json!({ "uri": uri, "lines": [4, 4] }));
    assert_eq!(both["answer"], "possible", "{both}");
    editor.replace(&uri, 2, MENDED);
    let never = editor.request("fabius/meet", json!({ "uri": uri, "lines": [4, 4] }));
    assert_eq!(never["answer"], "never", "{never}");
    let one = editor.request("fabius/meet", json!({ "uri": uri, "lines": [5] }));
    assert_eq!(one["answer"], "possible", "{one}");
}

/// Two processes add one to a number, each in two steps.
const RACE: &str = "\
byte number, done;
active [2] proctype P() {
    byte copy;
    copy = number;
    number = copy + 1;
    done++;
    assert(done < 2 || number == 2)
}
";

/// Asks for the actions at a place until the checker knows of one that holds: that one, and the titles of all.
fn tried(editor: &Editor, uri: &str, at: &Value) -> (Value, Vec<String>) {
    let params = json!({
        "textDocument": { "uri": uri }, "range": { "start": at, "end": at }, "context": { "diagnostics": [] },
    });
    let end = std::time::Instant::now() + super::client::PATIENCE;
    loop {
        let actions = editor.request("textDocument/codeAction", params.clone());
        let actions = actions.as_array().unwrap();
        let titles: Vec<String> = actions.iter().map(|action| action["title"].as_str().unwrap().to_owned()).collect();
        let holds = actions.iter().find(|action| action["title"].as_str().unwrap().contains("holds, "));
        if let Some(holds) = holds.filter(|_| !titles.iter().any(|title| title.ends_with("being tried"))) {
            return (holds.clone(), titles);
        }
        assert!(std::time::Instant::now() < end, "{titles:?}");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

#[test]
fn a_fix_is_tried_before_it_is_offered() {
    let editor = Editor::new();
    let uri = uri("fix");
    editor.open(&uri, RACE);
    editor.diagnostics(&uri, "the violation", of_check);
    let (holds, _) = tried(&editor, &uri, &json!({ "line": 6, "character": 6 }));
    assert!(holds["title"].as_str().unwrap().contains("atomic"), "{holds}");
    assert_eq!(holds["isPreferred"], true);
    let edits = holds["edit"]["changes"][&uri].as_array().unwrap();
    assert_eq!(edits.len(), 2, "{holds}");
}

#[test]
fn processes_that_are_done_together_may_all_wait() {
    let editor = Editor::new();
    let uri = uri("all");
    let text = "chan a = [0] of { bit };\n\
                active proctype P() { a?0 }\n\
                active proctype Q() {\n    if\n    :: a?1\n    fi\n}\n";
    editor.open(&uri, text);
    let found =
        editor.diagnostics(&uri, "the deadlock", |params| !params["diagnostics"].as_array().unwrap().is_empty());
    let (holds, titles) = tried(&editor, &uri, &found["diagnostics"][0]["range"]["start"]);
    assert!(holds["title"].as_str().unwrap().starts_with("Let all 2 processes wait here for ever"), "{titles:?}");
    let edits = holds["edit"]["changes"][&uri].as_array().unwrap();
    let places: Vec<(&Value, &Value)> =
        edits.iter().map(|edit| (&edit["range"]["start"]["line"], &edit["newText"])).collect();
    assert_eq!(places, [(&json!(1), &json!("end: ")), (&json!(3), &json!("end2: "))], "{holds}");
    // It only has the check ask for less: nobody is to take it without reading that.
    assert!(holds["title"].as_str().unwrap().contains("weakens the property"), "{titles:?}");
    assert_eq!(holds["isPreferred"], false);
    // Each alone does not help, and is not offered.
    assert!(!titles.iter().any(|title| title.starts_with("Let P wait here for ever")), "{titles:?}");
    assert!(!titles.iter().any(|title| title.contains("still fails")), "{titles:?}");
    assert_eq!(titles.iter().filter(|title| title.contains("holds, ")).count(), 1, "{titles:?}");
}

#[test]
fn a_model_says_which_verdicts_are_right() {
    let editor = Editor::new();
    let uri = uri("expected");
    let text = format!(
        "/*@ expect: violated */\n{FAILING}/*@ expect: holds */ ltl p {{ [] (turn < 2) }}\nltl q {{ true }}\n/*@ expect q: holds */"
    );
    editor.open(&uri, &text);
    let status = editor.settled(&uri, 1);
    let expected: Vec<(&str, &str)> = status["properties"]
        .as_array()
        .unwrap()
        .iter()
        .map(|property| (property["name"].as_str().unwrap(), property["expected"].as_str().unwrap_or("")))
        .collect();
    assert_eq!(expected, [("safety", "violated"), ("p", "holds"), ("q", "holds")], "{status}");
    let line = |at: usize| status["properties"][at]["range"]["start"]["line"].as_u64();
    assert_eq!((line(0), line(1), line(2)), (Some(2), Some(8), Some(9)), "{status}");
}

#[test]
fn a_counterexample_leaves_the_editor() {
    let editor = Editor::new();
    let uri = uri("export");
    editor.open(&uri, FAILING);
    editor.settled(&uri, 1);
    let export = |format: &str| {
        let answer = editor.request("fabius/export", json!({ "uri": uri, "format": format }));
        answer["text"].as_str().unwrap().to_owned()
    };
    assert!(export("mermaid").starts_with("sequenceDiagram\n"));
    let trail = export("trail");
    let steps: Vec<Vec<i64>> =
        trail.lines().map(|line| line.split(':').map(|n| n.parse().unwrap()).collect()).collect();
    assert!(steps.len() >= 4 && steps.iter().all(|step| step.len() == 3), "{trail}");
    let run: Value = serde_json::from_str(&export("run")).unwrap();
    assert_eq!((&run["property"], run["steps"].as_array().map(Vec::len)), (&json!("safety"), Some(steps.len())));
    let text = export("text");
    assert!(
        text.starts_with("safety: ") && text.contains("critical++") && text.contains("assert(critical == 1)"),
        "{text}"
    );
}

#[test]
fn a_process_that_can_go_on_is_not_stuck() {
    let editor = Editor::new();
    let uri = uri("stuck");
    let stuck = |text: &str, version: i32| -> usize {
        editor.replace(&uri, version, text);
        editor.save(&uri);
        editor.settled(&uri, version);
        let lines = editor.request("fabius/lines", json!({ "uri": uri }));
        let marks = lines["lines"].as_array().unwrap().iter().flat_map(|line| line["marks"].as_array().unwrap());
        marks.filter(|mark| mark["kind"] == "stuck").count()
    };
    editor.open(&uri, FAILING);
    assert_eq!(stuck(FAILING, 2), 0);
    assert_eq!(stuck("chan c = [0] of { byte };\nactive proctype P() { c ! 1 }\n", 3), 1);
    // `B` cannot move in the last state of the loop, but does in every round; `C` never does.
    let turns = "byte turn;\nactive proctype A() { do :: turn == 0; turn = 1 od }\n\
                 active proctype B() { do :: turn == 1; turn = 0 od }\nactive proctype C() { turn == 2; progress: skip }\n";
    assert_eq!(stuck(turns, 4), 1);
}
