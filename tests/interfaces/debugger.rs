//! The debug adapter as a debugger meets it: the real binary over standard input and output. Every message that it
//! sends is checked against the schema of the Debug Adapter Protocol.

mod client;
mod console;
mod schema;

use client::{Debugger, model};
use serde_json::{Value, json};
use std::path::PathBuf;

/// A folder of its own for a test.
fn scratch(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("fabius-debugger-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("there is room");
    folder
}

fn written(name: &str, text: &str) -> PathBuf {
    let path = scratch(name).join("m.pml");
    std::fs::write(&path, text).expect("there is room");
    path
}

/// The variables of a scope of a thread: name, value, whether it is marked as changed.
fn variables(debugger: &mut Debugger, thread: i64, scope: usize) -> Vec<(String, String, bool)> {
    let frames = debugger.request("stackTrace", json!({ "threadId": thread }));
    let scopes = debugger.request("scopes", json!({ "frameId": frames["stackFrames"][0]["id"] }));
    let found =
        debugger.request("variables", json!({ "variablesReference": scopes["scopes"][scope]["variablesReference"] }));
    let told = |variable: &Value| {
        let text = |key: &str| variable[key].as_str().expect("a text").to_owned();
        (text("name"), text("value"), variable["presentationHint"]["attributes"] == json!(["changed"]))
    };
    found["variables"].as_array().expect("a list").iter().map(told).collect()
}

#[test]
fn a_counterexample_is_walked_forwards_and_back() {
    let program = model("peterson_broken");
    let mut debugger = Debugger::new();
    let launch = debugger.launch(&program, json!({ "property": "safety", "counterexample": 0 }));
    debugger.request("setExceptionBreakpoints", json!({ "filters": ["assertion"] }));
    let stopped = debugger.configured();
    assert_eq!((stopped["reason"].as_str(), debugger.answer(launch)["success"].as_bool()), (Some("entry"), Some(true)));
    let at = debugger.event("fabius/at");
    let length = at["of"].as_u64().expect("a length");
    assert!(at["step"] == 0 && 5 < length && at["file"] == json!(program), "{at}");

    let threads = debugger.request("threads", json!({}));
    let names: Vec<&str> =
        threads["threads"].as_array().expect("a list").iter().filter_map(|t| t["name"].as_str()).collect();
    assert_eq!(names, ["Worker[0]", "Worker[1]"]);
    let first = debugger.go("next", json!({ "threadId": 1 }));
    assert_eq!((first.reason.as_str(), first.step), ("step", 1));
    let back = debugger.go("stepBack", json!({ "threadId": 1 }));
    assert_eq!((back.step, variables(&mut debugger, 1, 3)), (0, Vec::new()));
    let mut changed = Vec::new();
    while changed.is_empty() {
        assert!(debugger.go("next", json!({ "threadId": 1 })).step < length);
        changed = variables(&mut debugger, 1, 3);
    }
    assert!(changed.len() == 1 && changed[0].1.contains(" → ") && changed[0].2, "{changed:?}");

    let end = debugger.go("continue", json!({ "threadId": 1 }));
    assert_eq!((end.reason.as_str(), end.step, end.line), ("exception", length, 19));
    let info = debugger.request("exceptionInfo", json!({ "threadId": end.thread }));
    assert_eq!(info["exceptionId"], "assertion");
    let critical = variables(&mut debugger, end.thread, 1).into_iter().find(|(name, ..)| name == "critical");
    assert_eq!(critical.map(|(_, value, _)| value).as_deref(), Some("2"));
    let start = debugger.go("reverseContinue", json!({ "threadId": 1 }));
    assert_eq!((start.step, start.of), (0, length));
    let there = debugger.request("fabius/jump", json!({ "step": 4 }));
    assert_eq!((there["step"].as_u64(), debugger.stop().step), (Some(4), 4));
    assert!(debugger.refused("fabius/jump", json!({ "step": 4000 })).contains("4000"));
    assert_eq!(debugger.end(), Some(0));
}

#[test]
fn breakpoints_of_all_kinds_stop_the_run() {
    let program = model("peterson_broken");
    let mut debugger = Debugger::new();
    debugger.launch(&program, json!({ "counterexample": 0 }));
    let source = json!({ "path": program });
    let set = json!({ "source": source, "breakpoints": [
        { "line": 18, "condition": "critical == 1" }, { "line": 4000 }, { "line": 15, "condition": "nonsense" },
        { "line": 14, "logMessage": "turn is {turn}" }, { "line": 14, "hitCondition": "often" },
    ] });
    let told = debugger.request("setBreakpoints", set);
    let verified: Vec<&Value> =
        told["breakpoints"].as_array().expect("a list").iter().map(|b| &b["verified"]).collect();
    assert_eq!(verified, [true, false, false, true, false]);
    assert!(told["breakpoints"][2]["message"].as_str().is_some_and(|why| why.contains("nonsense")), "{told}");
    debugger.configured();
    debugger.event("fabius/at");
    let stop = debugger.go("continue", json!({ "threadId": 1 }));
    assert_eq!((stop.reason.as_str(), stop.line), ("breakpoint", 18));
    let value = debugger.request("evaluate", json!({ "expression": "critical", "context": "watch" }));
    assert_eq!(value["result"], "1");

    debugger.request("setBreakpoints", json!({ "source": source, "breakpoints": [] }));
    debugger.request("fabius/jump", json!({ "step": 0 }));
    debugger.stop();
    let info = debugger.request("dataBreakpointInfo", json!({ "name": "turn", "variablesReference": 300 }));
    let data = json!({ "breakpoints": [{ "dataId": info["dataId"] }] });
    debugger.request("setDataBreakpoints", data);
    let stop = debugger.go("continue", json!({ "threadId": 1 }));
    assert_eq!(stop.reason, "data breakpoint");
    assert!(stop.text.starts_with("turn changed from 0 to 1"), "{stop:?}");
    assert_eq!(debugger.request("dataBreakpointInfo", json!({ "name": "nobody" }))["dataId"], Value::Null);
    let told = debugger
        .request("setFunctionBreakpoints", json!({ "breakpoints": [{ "name": "Worker" }, { "name": "Idler" }] }));
    assert_eq!(
        (&told["breakpoints"][0]["verified"], &told["breakpoints"][1]["verified"]),
        (&json!(true), &json!(false))
    );
    let locations = debugger.request("breakpointLocations", json!({ "source": source, "line": 1, "endLine": 16 }));
    let lines: Vec<u64> =
        locations["breakpoints"].as_array().expect("a list").iter().filter_map(|b| b["line"].as_u64()).collect();
    assert_eq!(lines, [14, 15, 16]);
    assert_eq!(debugger.end(), Some(0));
}

#[test]
fn patterns_over_the_past_are_conditions_and_function_breakpoints() {
    let program = model("bounded_buffer");
    let mut debugger = Debugger::new();
    debugger.launch(&program, json!({ "counterexample": 0 }));
    let source = json!({ "path": program });
    let names = ["stored == 4 after stored == 2", "stored == 4 after", "historically nobody"];
    let set: Vec<Value> = names.iter().map(|name| json!({ "name": name })).collect();
    let told = debugger.request("setFunctionBreakpoints", json!({ "breakpoints": set }));
    let verified: Vec<&Value> =
        told["breakpoints"].as_array().expect("a list").iter().map(|b| &b["verified"]).collect();
    assert_eq!(verified, [true, false, false]);
    assert!(told["breakpoints"][2]["message"].as_str().is_some_and(|why| why.contains("`nobody`")), "{told}");
    debugger.request(
        "setBreakpoints",
        json!({ "source": source, "breakpoints": [
        { "line": 31, "condition": "stored == 4 since start (stored == 4)" },
    ] }),
    );
    debugger.configured();
    debugger.event("fabius/at");
    let stop = debugger.go("continue", json!({ "threadId": 1 }));
    assert_eq!((stop.reason.as_str(), stop.step), ("function breakpoint", 8));
    assert!(stop.text.contains("`stored == 4 after stored == 2` is true now"), "{stop:?}");
    let stop = debugger.go("continue", json!({ "threadId": 1 }));
    assert_eq!((stop.reason.as_str(), stop.step, stop.line), ("breakpoint", 9, 31));
    let stop = debugger.go("reverseContinue", json!({ "threadId": 1 }));
    assert_eq!((stop.reason.as_str(), stop.step), ("function breakpoint", 8));
    let stop = debugger.go("reverseContinue", json!({ "threadId": 1 }));
    assert_eq!(stop.step, 0);
    assert_eq!(debugger.end(), Some(0));
}

#[test]
fn free_stepping_branches_by_choices() {
    let program = written(
        "free",
        "byte x;\nproctype Child(byte n) {\n  x = n;\n  printf(\"child %d\\n\", n)\n}\ninit {\n  if\n  :: run Child(1)\n  :: run Child(2)\n  fi\n}\n",
    );
    let mut debugger = Debugger::launched(&program, json!({}));
    debugger.event("fabius/at");
    let targets = debugger.request("stepInTargets", json!({ "frameId": 1000 }));
    let targets = targets["targets"].as_array().expect("a list").clone();
    assert_eq!(targets.len(), 2);
    assert!(
        targets[1]["label"].as_str().is_some_and(|label| label.contains("starts Child[1] with n = 2")),
        "{targets:?}"
    );
    debugger.request("setFunctionBreakpoints", json!({ "breakpoints": [{ "name": "Child" }] }));
    let stop = debugger.go("stepIn", json!({ "threadId": 1, "targetId": targets[1]["id"] }));
    assert_eq!(stop.step, 1);
    let started: Vec<i64> = (0..2).map(|_| debugger.event("thread")["threadId"].as_i64().expect("a thread")).collect();
    assert_eq!(started, [1, 2]);
    assert_eq!(variables(&mut debugger, 2, 0), [("n".to_owned(), "2".to_owned(), false)]);
    let stop = debugger.go("next", json!({ "threadId": 2 }));
    assert_eq!((stop.step, variables(&mut debugger, 2, 1)), (2, vec![("x".to_owned(), "2".to_owned(), true)]));
    debugger.go("continue", json!({ "threadId": 1 }));
    assert_eq!(debugger.output("stdout"), "child 2\n");
    let stop = debugger.go("reverseContinue", json!({ "threadId": 1 }));
    assert_eq!((stop.reason.as_str(), stop.step), ("function breakpoint", 1));
    debugger.request("setFunctionBreakpoints", json!({ "breakpoints": [] }));
    debugger.go("reverseContinue", json!({ "threadId": 1 }));
    // The run that was made is a line: it is followed.
    let stop = debugger.go("next", json!({ "threadId": 1 }));
    assert_eq!((stop.step, stop.of), (1, 5));
    let stop = debugger.go("stepBack", json!({ "threadId": 1 }));
    assert_eq!(stop.step, 0);
    debugger.go("stepIn", json!({ "threadId": 1, "targetId": 1 }));
    assert_eq!(variables(&mut debugger, 2, 0), [("n".to_owned(), "1".to_owned(), false)]);
    assert!(debugger.refused("stepIn", json!({ "threadId": 1, "targetId": 77 })).contains("choice"));
    assert_eq!(debugger.end(), Some(0));
}

#[test]
fn a_process_is_held_and_released() {
    let program = written(
        "hold",
        "byte x;\nactive proctype A() { do :: x < 3 -> x++ :: else -> break od }\nactive proctype B() { x = 9 }\n",
    );
    let mut debugger = Debugger::launched(&program, json!({}));
    debugger.event("fabius/at");
    assert_eq!(debugger.request("fabius/hold", json!({ "process": "B", "held": true }))["held"], json!([1]));
    debugger.event("invalidated");
    let threads = debugger.request("threads", json!({}));
    assert_eq!(threads["threads"][1]["name"], "B[1] ⏸ held");
    let stop = debugger.go("continue", json!({ "threadId": 1 }));
    assert!(stop.text.contains("held"), "{stop:?}");
    assert_eq!(debugger.request("evaluate", json!({ "expression": "x", "context": "hover" }))["result"], "3");
    // Pausing a thread while all stand still does the same.
    debugger.go("pause", json!({ "threadId": 2 }));
    let stop = debugger.go("continue", json!({ "threadId": 1 }));
    assert_eq!(
        debugger.request("evaluate", json!({ "expression": "x", "context": "hover" }))["result"],
        "9",
        "{stop:?}"
    );
    assert!(debugger.refused("fabius/hold", json!({ "process": 77, "held": true })).contains("77"));
    assert_eq!(debugger.end(), Some(0));
}

#[test]
fn a_name_in_the_text_of_another_process_has_the_value_that_it_has_there() {
    let text = "byte g = 9;\nactive proctype P() {\n  byte x = 1;\n  x == 1;\n  x = 3\n}\n\
                active [2] proctype Q() {\n  byte x = 5, y = 7;\n  x = x + _pid;\n  g == 0\n}\n\
                proctype Never() { byte x; x = 1 }\n";
    let program = written("hover", text);
    let mut debugger = Debugger::launched(&program, json!({}));
    debugger.event("fabius/at");
    let frame = debugger.request("stackTrace", json!({ "threadId": 1 }))["stackFrames"][0]["id"].clone();
    let path = program.to_str().expect("a path is text");
    let at = |expression: &str, line: u32, column: u32| {
        json!({ "expression": expression, "frameId": frame, "context": "hover", "line": line, "column": column,
                "source": { "path": path } })
    };
    // In its own text, and a global one everywhere.
    for (expression, line, value) in [("x", 5, "1"), ("x", 3, "1"), ("g", 10, "9"), ("g", 4, "9")] {
        assert_eq!(debugger.request("evaluate", at(expression, line, 3))["result"], value, "{expression}:{line}");
    }
    for (expression, line, value) in
        [("x", 9, "5 (Q[1]), 5 (Q[2])"), ("x", 8, "5 (Q[1]), 5 (Q[2])"), ("y", 8, "7 (Q[1]), 7 (Q[2])")]
    {
        assert_eq!(debugger.request("evaluate", at(expression, line, 3))["result"], value, "{expression}:{line}");
    }
    assert!(debugger.refused("evaluate", at("x", 12, 28)).contains("there is no such process now"));
    // Where nobody says where the name stands, the value says whose it is.
    let anywhere = json!({ "expression": "x", "frameId": frame, "context": "hover" });
    assert_eq!(debugger.request("evaluate", anywhere)["result"], "1 (P[0])");
    assert_eq!(debugger.end(), Some(0));
}

#[test]
fn arrays_and_structures_are_shown_whole() {
    let program = written(
        "whole",
        "typedef Log { byte at[2]; bool used };\ntypedef Box { chan in = [1] of { byte }; byte n };\nBox boxes[2];\nLog one;\nLog logs[2];\nbyte a[3];\n\
         proctype P() { byte mine[2]; byte k = 1; mine[1] = 3; one.at[0] = 4; logs[1].at[0] = 6; a[2] = 5 }\ninit { run P() }\n",
    );
    let mut debugger = Debugger::launched(&program, json!({}));
    debugger.event("fabius/at");
    for _ in 0..5 {
        debugger.go("next", json!({ "threadId": 1 }));
    }
    let frame = debugger.request("stackTrace", json!({ "threadId": 2 }))["stackFrames"][0]["id"].clone();
    let evaluate = |debugger: &mut Debugger, expression: &str, context: &str| {
        let arguments = json!({ "expression": expression, "frameId": frame, "context": context });
        debugger.request("evaluate", arguments)
    };
    for context in ["watch", "repl"] {
        for (expression, value) in [
            ("a", "{0, 0, 5}"),
            ("mine", "{0, 3}"),
            ("P[1]:mine", "{0, 3}"),
            ("P:mine", "{0, 3}"),
            ("one", "{at: {4, 0}, used: false}"),
            ("one.at", "{4, 0}"),
            ("logs[k].at", "{6, 0}"),
            ("logs[ k - 1 ]", "{at: {0, 0}, used: false}"),
            ("logs", "{{at: {0, 0}, used: false}, {at: {6, 0}, used: false}}"),
            ("mine[ k - 1 ] + 1", "1"),
            ("boxes", "{{n: 0, in: empty}, {n: 0, in: empty}}"),
            ("boxes[k]", "{n: 0, in: empty}"),
        ] {
            assert_eq!(evaluate(&mut debugger, expression, context)["result"], value, "{expression}");
        }
    }
    let whole = evaluate(&mut debugger, "a", "watch");
    assert_eq!((whole["indexedVariables"].as_i64(), whole["type"].as_str()), (Some(3), Some("byte[3]")));
    let elements = debugger.request("variables", json!({ "variablesReference": whole["variablesReference"] }));
    assert_eq!(
        (&elements["variables"][2]["name"], &elements["variables"][2]["evaluateName"]),
        (&json!("[2]"), &json!("a[2]"))
    );
    let below = json!({ "name": "[2]", "variablesReference": whole["variablesReference"] });
    assert_eq!(debugger.request("dataBreakpointInfo", below)["dataId"], "a[2]");
    assert_eq!(debugger.end(), Some(0));
}

#[test]
fn what_is_unknown_or_impossible_is_said_so() {
    let program = written("unknown", "byte turn;\nactive proctype P() { byte other; other = 1; turn = other }\n");
    let mut debugger = Debugger::launched(&program, json!({}));
    debugger.event("fabius/at");
    let mut refused = |expression: &str, context: &str| {
        debugger.refused("evaluate", json!({ "expression": expression, "frameId": 1000, "context": context }))
    };
    for context in ["watch", "repl"] {
        assert_eq!(refused("trun", context), "`trun` is not declared: did you mean `turn`?");
        assert_eq!(refused("othr + 1", context), "`othr` is not declared: did you mean `other`?");
        assert!(refused("turn = 3", context).starts_with("variables cannot be set: "));
        assert!(refused("turn++", context).starts_with("variables cannot be set: "));
    }
    assert!(refused("hlod P", "repl").starts_with("unknown command `hlod`: did you mean `hold`?"));
    assert!(refused("frobnicate 3", "repl").starts_with("unknown command `frobnicate`; `help` lists them"));
    assert_eq!(refused("take", "repl"), "`take` is used as `take N`: take the choice with this number");
    assert!(refused("choices 3", "repl").starts_with("`choices` is used as `choices`"));
    for command in ["setVariable", "setExpression"] {
        let why = debugger.refused(command, json!({ "variablesReference": 300, "name": "turn", "value": "1" }));
        assert!(why.starts_with("variables cannot be set: every state shown is reached by"), "{why}");
    }
    assert_eq!(debugger.refused("burn", json!({})), "unknown request `burn`");
    assert_eq!(debugger.end(), Some(0));
}

#[test]
fn a_jump_goes_to_a_state_of_the_run() {
    let program = model("peterson_broken");
    let mut debugger = Debugger::launched(&program, json!({ "property": "safety" }));
    debugger.event("fabius/at");
    let source = json!({ "path": program });
    let targets = debugger.request("gotoTargets", json!({ "source": source, "line": 19 }))["targets"].clone();
    let targets = targets.as_array().expect("a list");
    assert!(targets[0]["label"].as_str().is_some_and(|label| label.starts_with("before step 9: ")), "{targets:?}");
    let stop = debugger.go("goto", json!({ "threadId": 1, "targetId": targets[0]["id"] }));
    assert_eq!((stop.reason.as_str(), stop.step, stop.line), ("goto", 8, 19));
    let why = debugger.refused("gotoTargets", json!({ "source": source, "line": 1 }));
    assert!(why.contains("the run executes no statement of line 1"), "{why}");
    assert!(debugger.refused("goto", json!({ "threadId": 1, "targetId": 400 })).contains("399"));
    assert_eq!(debugger.end(), Some(0));
}

#[test]
fn a_deadlock_a_livelock_and_a_formula_are_explained() {
    let mut debugger = Debugger::launched(&model("philosophers"), json!({ "property": "safety" }));
    debugger.event("fabius/at");
    let stop = debugger.go("continue", json!({ "threadId": 1 }));
    assert!(stop.reason == "exception" && stop.text.starts_with("deadlock"), "{stop:?}");
    let info = debugger.request("exceptionInfo", json!({ "threadId": stop.thread }));
    assert!(info["details"]["message"].as_str().is_some_and(|text| text.contains("would change that")), "{info}");
    assert_eq!(debugger.end(), Some(0));

    let mut debugger = Debugger::launched(&model("retry_forever"), json!({ "property": "progress" }));
    debugger.event("fabius/at");
    for _ in 0..2 {
        let stop = debugger.go("continue", json!({ "threadId": 1 }));
        assert!(
            stop.reason == "exception" && stop.text.contains("livelock (non-progress cycle)") && stop.step == stop.of,
            "{stop:?}"
        );
    }
    assert_eq!(debugger.end(), Some(0));

    let program =
        written("formula", "bool x;\nactive proctype P() { do :: x = 1 :: x = 0 od }\nltl settles { <> [] x }\n");
    let mut debugger = Debugger::launched(&program, json!({ "property": "settles" }));
    debugger.event("fabius/at");
    let stop = debugger.go("continue", json!({ "threadId": 1 }));
    assert!(
        stop.reason == "exception"
            && stop.text.starts_with("`settles` is violated by an acceptance cycle: the loop of"),
        "{stop:?}"
    );
    debugger.go("reverseContinue", json!({ "threadId": 1 }));
    assert_eq!(debugger.end(), Some(0));
}

#[test]
fn a_trail_of_the_command_line_is_walked() {
    let program = scratch("trail").join("lost.pml");
    std::fs::copy(model("lost_wakeup"), &program).expect("there is room");
    let trail = program.with_extension("trail");
    let done = std::process::Command::new(env!("CARGO_BIN_EXE_fabius"))
        .args(["check", "--no-cache"])
        .arg(format!("--trail={}", trail.display()))
        .arg(&program)
        .env("FABIUS_CACHE", "off")
        .output()
        .expect("the model can be checked");
    assert_eq!(done.status.code(), Some(1));
    let mut debugger = Debugger::launched(&program, json!({ "trail": "lost.trail" }));
    debugger.event("fabius/at");
    let stop = debugger.go("continue", json!({ "threadId": 1 }));
    assert!(stop.text.starts_with("deadlock") && stop.step == stop.of, "{stop:?}");

    let saved = debugger.request("fabius/save", json!({}))["text"].as_str().expect("a text").to_owned();
    let path = program.with_extension("json");
    std::fs::write(&path, &saved).expect("there is room");
    let edited = std::fs::read_to_string(&program).expect("it is there").replace("asleep = true", "asleep = 1");
    std::fs::write(&program, edited).expect("there is room");
    let mut debugger = Debugger::launched(&program, json!({ "trail": path }));
    assert!(debugger.output("important").contains("`asleep = true` is gone"));
    assert!(debugger.event("fabius/at")["of"].as_u64() < Some(stop.of));
    assert_eq!(debugger.end(), Some(0));

    std::fs::write(&trail, "1:0:1\nnonsense\n").expect("there is room");
    let mut debugger = Debugger::new();
    let why = debugger.refused("launch", json!({ "program": program, "trail": trail }));
    assert!(why.contains("line 2 of the trail"), "{why}");
}

#[test]
fn stepping_out_leaves_an_inline_and_frames_show_it() {
    let program = written(
        "inline",
        "byte x;\ninline twice(n) {\n  x = x + n;\n  x = x + n\n}\nactive proctype P() {\n  twice(1);\n  twice(2);\n  x = 0\n}\n",
    );
    let mut debugger = Debugger::launched(&program, json!({}));
    debugger.event("fabius/at");
    let frames = debugger.request("stackTrace", json!({ "threadId": 1 }));
    let told: Vec<(&str, u64)> = frames["stackFrames"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|frame| (frame["name"].as_str().expect("a name"), frame["line"].as_u64().expect("a line")))
        .collect();
    assert_eq!(told, [("twice", 3), ("P[0]", 7)]);
    let source = debugger.request("source", json!({ "sourceReference": 0, "source": { "path": program } }));
    assert!(source["content"].as_str().is_some_and(|text| text.starts_with("byte x")));
    let stop = debugger.go("stepOut", json!({ "threadId": 1 }));
    assert_eq!((stop.step, stop.line), (4, 9));
    assert_eq!(debugger.request("loadedSources", json!({}))["sources"][0]["path"], json!(program));
    let page = debugger.request("fabius/trace", json!({ "from": 2, "count": 2 }));
    let numbers: Vec<u64> =
        page["steps"].as_array().expect("a list").iter().filter_map(|step| step["step"].as_u64()).collect();
    assert_eq!((numbers, page["of"].as_u64()), (vec![2, 3], Some(4)));
    assert_eq!(debugger.end(), Some(0));
}

#[test]
fn the_second_frame_is_the_original_of_a_generated_statement() {
    let folder = scratch("generated");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("counter.src"), "counter\n  begin\n  count up\n").expect("a file");
    let program = folder.join("counter.pml");
    let text = "byte n;\ninline up() { n++ }\nactive proctype P() {\n#line 3 \"counter.src\"\n  up();\n#line 9 \"gone.src\"\n  n = 0\n}\n";
    std::fs::write(&program, text).expect("a file");
    let mut debugger = Debugger::launched(&program, json!({}));
    debugger.event("fabius/at");
    let frames = |debugger: &mut Debugger| {
        let told = debugger.request("stackTrace", json!({ "threadId": 1 }));
        let frame = |frame: &Value| {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            (text(&frame["source"]["name"]), frame["line"].as_u64().unwrap(), text(&frame["presentationHint"]))
        };
        told["stackFrames"].as_array().expect("a list").iter().map(frame).collect::<Vec<_>>()
    };
    let one = |file: &str, line, hint: &str| (file.to_owned(), line, hint.to_owned());
    let inline = [one("counter.pml", 2, ""), one("counter.pml", 5, ""), one("counter.src", 3, "subtle")];
    assert_eq!(frames(&mut debugger), inline, "the call of the inline was generated");
    debugger.go("next", json!({ "threadId": 1 }));
    assert_eq!(frames(&mut debugger), [one("counter.pml", 7, "")], "there is no such file");
}

#[test]
fn a_run_without_end_is_paused_and_restarted() {
    let program = written("endless", "byte x;\nactive proctype P() { do :: x++ od }\n");
    let mut debugger = Debugger::launched(&program, json!({ "schedule": "random:3" }));
    debugger.event("fabius/at");
    debugger.request("continue", json!({ "threadId": 1 }));
    assert!(debugger.refused("stackTrace", json!({ "threadId": 1 })).contains("running"));
    let stop = debugger.go("pause", json!({ "threadId": 1 }));
    assert_eq!(stop.reason, "pause");
    std::fs::write(&program, "byte y;\nactive proctype P() { y = 1 }\n").expect("there is room");
    debugger.request("restart", json!({}));
    assert_eq!(debugger.stop().reason, "entry");
    assert_eq!(debugger.request("evaluate", json!({ "expression": "y" }))["result"], "0");
    debugger.request("terminate", json!({}));
    debugger.event("terminated");
    assert_eq!(debugger.request("threads", json!({}))["threads"], json!([]));
    assert_eq!(debugger.end(), Some(0));
}

#[test]
fn a_launch_that_cannot_be_says_why() {
    let mut debugger = Debugger::new();
    for (arguments, part) in [
        (json!({}), "`program` is missing"),
        (json!({ "program": "/nowhere/m.pml" }), "no such file"),
        (json!({ "program": 7 }), "cannot be understood"),
        (json!({ "program": model("peterson"), "schedule": "soon" }), "soon"),
        (json!({ "program": written("faulty", "active proctype P() { x = }") }), "m.pml:1:"),
    ] {
        let why = debugger.refused("launch", arguments.clone());
        assert!(why.contains(part), "{arguments}: {why}");
    }
    assert!(debugger.refused("next", json!({ "threadId": 1 })).contains("no model"));
    let launch = debugger.launch(&model("peterson"), json!({ "property": "safety" }));
    let answer = debugger.answer(launch);
    assert!(answer["message"].as_str().is_some_and(|why| why.contains("there is no counterexample")), "{answer}");
    debugger.event("terminated");
    assert_eq!(debugger.end(), Some(0));
}

#[test]
fn whatever_arrives_is_answered_or_passed_over() {
    let mut debugger = Debugger::silent();
    assert!(debugger.refused("threads", json!({})).contains("initialize"));
    debugger.write(b"nonsense\r\n\r\nContent-Length: 2\r\n\r\n{}Content-Length: 99999999999999999999999\r\n\r\nContent-Length: 4\r\n\r\n\xff\xfe{]");
    for _ in 0..3 {
        assert_eq!(debugger.event("output")["category"], "important");
    }
    debugger.request("initialize", json!({ "adapterID": "x" }));
    assert!(debugger.refused("initialize", json!({})).contains("already"));
    let program = model("handshake");
    debugger.launch(&program, json!({}));
    debugger.configured();
    let commands = [
        "stackTrace",
        "scopes",
        "variables",
        "evaluate",
        "setBreakpoints",
        "setDataBreakpoints",
        "dataBreakpointInfo",
        "stepInTargets",
        "completions",
        "source",
        "breakpointLocations",
        "exceptionInfo",
        "fabius/jump",
        "fabius/hold",
        "fabius/trace",
        "threads",
        "setExceptionBreakpoints",
        "setFunctionBreakpoints",
        "loadedSources",
        "attach",
        "cancel",
        "burn",
    ];
    let wild = [
        Value::Null,
        json!([]),
        json!("x"),
        json!({ "threadId": i64::MAX, "frameId": i64::MIN, "variablesReference": i64::MAX, "step": u64::MAX, "process": 1e300 }),
        json!({ "threadId": -1, "frameId": 999, "variablesReference": -5, "startFrame": u64::MAX, "levels": u64::MAX }),
        json!({ "breakpoints": [{ "line": u32::MAX, "condition": "((((", "hitCondition": "%0", "name": "\u{0}", "dataId": "" }] }),
        json!({ "expression": "]] }} { run(", "context": "repl", "frameId": 1000, "text": "é", "column": 900 }),
        json!({ "expression": "1 << 99", "from": u64::MAX, "count": u64::MAX, "process": "\u{202e}", "lines": [0] }),
        json!({ "threadId": 1.5, "filters": 7 }),
        json!({ "source": { "path": 5 } }),
    ];
    for command in commands {
        for arguments in &wild {
            let seq = debugger.ask(command, arguments.clone());
            debugger.answer(seq);
        }
    }
    debugger.request("threads", json!({}));
    assert_eq!(debugger.gone(), Some(1), "the client went away without a word");
}

#[test]
fn what_the_project_of_a_model_says_counts() {
    let program = written("project", "#ifndef N\n#define N 1\n#endif\nbyte x;\nactive proctype P() { x = N }\n");
    let project = program.with_file_name("fabius.toml");
    std::fs::write(&project, "defines = [\"N=2\"]\n").expect("there is room");
    let after_the_step = |defines: Value| {
        let mut debugger = Debugger::new();
        debugger.launch(&program, json!({ "defines": defines }));
        debugger.configured();
        debugger.go("next", json!({ "threadId": 1 }));
        variables(&mut debugger, 1, 1)
    };
    assert_eq!(after_the_step(Value::Null), [("x".to_owned(), "2".to_owned(), true)]);
    // What the client defines comes first.
    assert_eq!(after_the_step(json!({ "N": 3 })), [("x".to_owned(), "3".to_owned(), true)]);
    std::fs::write(&project, "define = 1\n").expect("there is room");
    let mut debugger = Debugger::new();
    let why = debugger.refused("launch", json!({ "program": program }));
    assert!(why.contains("fabius.toml"), "{why}");
}
