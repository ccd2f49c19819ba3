//! What `check` and `fabius schedule` say of schedules.

use super::{check, run};
use crate::schema::Schemas;
use fabius_testkit::scratch::Scratch;
use serde_json::Value;

#[test]
fn a_violation_says_whether_a_scheduler_can_avoid_it() {
    let stuck = check(&["stuck.pml", "--property", "safety"]).expect(1);
    stuck.says(
        "avoidable: holds if a philosopher at line 6 waits while another philosopher is at line 7 (1 wait; nobody",
    );
    let forced = check(&["forced.pml"]).expect(1);
    forced.says("unavoidable: under every schedule").says("if P[0] moves: line 8, assert(x == 1): assertion violated");
    let silent = check(&["stuck.pml", "--property", "safety", "--no-schedule"]).expect(1);
    assert!(!silent.out.contains("avoidable"), "{}", silent.out);
    let report = check(&["stuck.pml", "--property", "safety", "--json"]).json();
    let schedule = &report["properties"][0]["schedule"];
    assert_eq!(schedule["verdict"], "avoidable");
    assert_eq!(schedule["waits"][0]["where"]["line"], 6);
    assert_eq!(schedule["kept"]["states"], schedule["checked"]["states"]);
    assert_eq!(check(&["holds.pml", "--json"]).json()["properties"][0].get("schedule"), None);
    let events = check(&["stuck.pml", "--property", "safety", "--events"]);
    let rounds: Vec<Value> = events.out.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let rounds: Vec<&Value> = rounds.iter().filter(|event| event["event"] == "schedule").collect();
    assert!(rounds.first().is_some_and(|first| first["round"] == 0), "{}", events.out);
    assert!(rounds.last().is_some_and(|last| last["verdict"] == "avoidable" && last["property"] == "safety"));
}

#[test]
fn what_there_is_little_to_say_of_is_told_in_few_words() {
    let scratch = Scratch::new().expect("a folder");
    let fails = scratch.file("fails.pml", b"active proctype P() { assert(false) }");
    let told = check(&[&fails]).expect(1).says("(1 state was enough to show this)");
    assert!(!told.out.contains("in the end:"), "there are no variables: {}", told.out);
    // An event trace has nowhere to put what a receive takes, which is no variable of the model.
    let trace = "chan c = [1] of { byte };\ntrace { do :: c!1; c?1 od }\nactive proctype P() { c!1 }\n\
        active proctype Q() { c?_ }\nactive proctype R() { c!2 }\n";
    let told = check(&[&scratch.file("trace.pml", trace.as_bytes())])
        .expect(1)
        .says("unavoidable: every run ends in an error");
    assert!(!told.out.contains("_ = 0") && !told.out.contains("hidden"), "{}", told.out);
}

#[test]
fn a_schedule_that_is_written_is_named_if_it_is_not_the_first() {
    let scratch = Scratch::new().expect("a folder");
    let counter = |name: &str, done: &str| {
        format!(
            "active proctype {name}() {{\n  byte i;\n  do\n  :: i < 2 ->\n     byte t = count;\n     t++;\n     count = t;\n     \
             i++\n  :: else -> break\n  od;\n  {done} = true\n}}\n"
        )
    };
    let (one, two) = (counter("A", "a"), counter("B", "b"));
    let text = format!("byte count;\nbool a, b;\n{one}{two}active proctype End() {{ a && b; assert(count == 4) }}\n");
    let (model, export) = (scratch.file("lost.pml", text.as_bytes()), scratch.path().join("waits.pml"));
    let export = export.display().to_string();
    let told = run(&["schedule", &model, "--export", &export]).expect(0);
    let named = told.err.split_once("since the first schedule cannot be: ").map_or("", |(_, named)| named.trim());
    assert!(named.contains(" waits while ") && !told.out.contains(&format!("avoidable: holds if {named}")), "{told:?}");
    assert!(std::fs::read_to_string(&export).expect("written").contains(named), "{named}");
}

#[test]
fn schedules_are_looked_for_at_length() {
    let schemas = Schemas::read();
    run(&["schedule", "stuck.pml"])
        .expect(0)
        .says("avoidable: holds if a philosopher at line 6")
        .says("up to 0 delays");
    run(&["schedule", "forced.pml"]).expect(1).says("unavoidable: under every schedule");
    run(&["schedule", "holds.pml"]).expect(0).says("holds: no error under any schedule");
    run(&["schedule", "faulty.pml"]).expect(3);
    let open = run(&["schedule", "endless.pml", "--max-states", "500", "--json"]).expect(2).json();
    assert_eq!(open["verdict"], "unknown", "{open}");
    for args in
        [&["stuck.pml"][..], &["stuck.pml", "--by", "process"], &["forced.pml"], &["circle.pml", "--waits", "0"]]
    {
        let document = run(&[&["schedule", "--json"], args].concat()).json();
        assert_eq!(schemas.errors("schedule.schema.json", &document), Vec::<String>::new(), "{args:?}");
    }
    let laps = run(&["schedule", "stuck.pml", "--delay", "laps", "--json"]).expect(0).json();
    assert_eq!(laps["explored"]["scheduler"], "round-robin with laps", "{laps}");
    assert!(run(&["schedule", "stuck.pml", "--delay", "rtx"]).expect(3).err.contains("unknown scheduler `rtx`"));
    let by_process = run(&["schedule", "stuck.pml", "--by", "process"]).expect(0);
    by_process.says("holds if philosopher[2] at line 6");
}
