//! What is typed in the debug console.

use super::client::{Debugger, model};
use serde_json::json;

/// What the console answers.
fn say(debugger: &mut Debugger, expression: &str) -> String {
    let seq = debugger.ask("evaluate", json!({ "expression": expression, "context": "repl" }));
    let answer = debugger.answer(seq);
    let told = answer["body"]["result"].as_str().filter(|_| answer["success"] == true).or(answer["message"].as_str());
    told.expect("a text, or a reason").to_owned()
}

#[test]
fn the_console_knows_commands_and_expressions() {
    let program = model("lost_wakeup");
    let mut debugger = Debugger::launched(&program, json!({}));
    debugger.event("fabius/at");
    let mut repl = |expression: &str| say(&mut debugger, expression);
    assert!(repl("help").contains("choices"));
    assert!(repl("choices").lines().count() >= 2);
    assert_eq!(repl("asleep || ready"), "false");
    assert_eq!(repl("hold Sleeper 2"), "Sleeper[0] is held");
    assert!(repl("take 0").contains("ready"), "the waker is the last process: it is the first choice");
    assert!(repl("why Sleeper").contains("can move"));
    assert!(repl("story").starts_with("1. Waker[1]"));
    assert_eq!(repl("name woken"), "named");
    assert_eq!(repl("jump 0"), "after step 0");
    assert_eq!(repl("go woken"), "there");
    assert_eq!(repl("undo"), "taken back");
    assert!(repl("take 99").contains("99"));
    assert_eq!(repl("release Sleeper"), "released");
    assert_eq!(repl("jump 0"), "after step 0");
    assert!(repl("search").contains("deadlock"));
    assert!(repl("delays rr").contains("the error needs the delay at step"));
    assert!(repl("essential").contains("steps matter:"));
    assert_eq!(repl("writers nobody"), "nobody has written `nobody` yet");
    assert!(repl("why Nobody").contains("Sleeper[0], Waker[1]"));
    assert!(repl("x +").len() > 3);
    let found = debugger.request("completions", json!({ "text": "rea", "column": 4 }));
    assert_eq!(found["targets"][0]["label"], "ready");
    assert_eq!(debugger.end(), Some(0));
}

#[test]
fn a_schedule_under_which_the_model_is_safe_is_followed() {
    let mut debugger =
        Debugger::launched(&model("philosophers"), json!({ "property": "safety", "schedule": "random:3" }));
    debugger.event("fabius/at");
    assert_eq!(say(&mut debugger, "avoid off"), "no schedule is followed");
    let said = say(&mut debugger, "avoid on");
    let wait = "a Philosopher at line 28 waits while another Philosopher is at line 29";
    assert_eq!(said, format!("the schedule is followed: {wait}"));
    for _ in 0..2 {
        debugger.go("next", json!({ "threadId": 1 }));
    }
    assert!(say(&mut debugger, "choices").contains(&format!("[{wait}]")));
    let threads = debugger.request("threads", json!({}))["threads"].to_string();
    assert!(threads.contains("⏸ has to wait"), "{threads}");
    // The counterexample is left where it does what the schedule forbids, and there is no deadlock ahead.
    for _ in 0..40 {
        let stop = debugger.go("next", json!({ "threadId": 1 }));
        assert_eq!(stop.reason, "step", "{stop:?}");
    }
    assert_eq!(say(&mut debugger, "avoid off"), "the schedule is no longer followed");
    assert_eq!(debugger.end(), Some(0));
}
