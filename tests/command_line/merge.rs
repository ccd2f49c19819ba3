//! `--shard` and `fabius merge`: many jobs, one report.

use super::tool;
use fabius_testkit::scratch::Scratch;
use serde_json::Value;
use std::collections::BTreeMap;

/// Updates are lost, and a process that sees the second of them cannot go on.
const RACE: &str = "byte x;\nactive [3] proctype P() {\n  byte old;\n  old = x;\n  x = old + 1;\n  assert(x == old + 1);\n  x != 2\n}\n";

const SAMPLE: [&str; 9] =
    ["check", "--json", "--keep-going", "--delay", "auto", "--delay-mode", "sample", "--runs", "203"];

fn report(file: &str, more: &[&str], code: i32) -> String {
    let args = [&SAMPLE[..], &["--no-schedule", "--property", "safety"], more, &[file]].concat();
    tool::run(&args).expect(code).out.clone()
}

/// What is added up, and how often what was met where.
fn figures(report: &Value) -> (Vec<u64>, BTreeMap<String, u64>) {
    let property = &report["properties"][0];
    let figures = ["states", "transitions", "matched", "violation_count", "depth"];
    let mut figures: Vec<u64> = figures.iter().filter_map(|key| property[key].as_u64()).collect();
    figures.extend(property["samples"]["runs"].as_u64());
    let violations = property["violations"].as_array().expect("violations").iter();
    let place = |violation: &Value| format!("{} {}", violation["kind"], violation["line"]);
    let counts = violations.map(|violation| (place(violation), violation["count"].as_u64().expect("a count")));
    (figures, counts.collect())
}

#[test]
fn the_parts_of_a_check_are_together_the_whole() {
    let folder = Scratch::new().expect("a folder");
    let file = folder.file("race.pml", RACE);
    for sampler in ["delays", "walk", "pct", "pos", "surw"] {
        let flags = ["--sampler", sampler, "--seed", "7"];
        let whole: Value = serde_json::from_str(&report(&file, &flags, 1)).expect("a report");
        for count in [1, 2, 5, 16] {
            let parts: Vec<String> = (1..=count)
                .map(|part| {
                    let shard = format!("{part}/{count}");
                    let text = report(&file, &[&flags[..], &["--shard", &shard]].concat(), i32::from(count == 1));
                    folder.file(&format!("{part}.json"), &text)
                })
                .collect();
            let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
            let merged = tool::run(&[&["merge", "--json"], &parts[..]].concat());
            let merged: Value = tool::json(&merged.expect(1), "report.schema.json");
            assert_eq!(figures(&merged), figures(&whole), "{sampler}, {count} parts");
            assert!(merged["properties"][0]["shards"]["missing"].as_array().is_some_and(Vec::is_empty));
        }
    }
}

#[test]
fn what_does_not_fit_together_is_refused_and_what_is_missing_is_named() {
    let folder = Scratch::new().expect("a folder");
    let file = folder.file("race.pml", RACE);
    let part = |name: &str, flags: &[&str]| folder.file(name, report(&file, flags, 0));
    let (one, two, four) =
        (part("1.json", &["--shard", "1/4"]), part("2.json", &["--shard", "2/4"]), part("4.json", &["--shard", "4/4"]));
    tool::run(&["merge", &one, &two, &four]).expect(1).says("(without part 3 of 4)").says("assertion violated");
    let seeded = part("seeded.json", &["--shard", "3/4", "--seed", "1"]);
    let refused = |files: &[&str], why: &str| {
        let run = tool::run(&[&["merge"], files].concat()).expect(3);
        assert!(run.err.contains(why), "{}", run.err);
    };
    refused(&[&one, &seeded], "are of different checks: the flags differ");
    refused(&[&one, &one], "are both part 1 of 4");
    refused(&[&one, &part("half.json", &["--shard", "2/2"])], "cannot be merged");
    refused(&[&folder.file("none.json", "{}")], "is no report of `fabius check --json`");
    refused(&[&folder.file("cut.json", "{\"tool\": ")], "is no report of `fabius check --json`");
    refused(&["/nowhere.json"], "cannot read /nowhere.json");
    let formula = part("formula.json", &["--shard", "3/4", "--ltl", "[] (x < 1)", "--property", "ltl"]);
    refused(&[&one, &formula], "1.json has no property `formula`");
    refused(&[&formula, &one], "are of different checks");
    folder.file("race.pml", RACE.replace("old + 1", "old + 2"));
    refused(&[&one, &part("other.json", &["--shard", "3/4"])], "are of different checks: the models differ\n");
}

#[test]
fn a_part_is_done_whatever_was_found() {
    let folder = Scratch::new().expect("a folder");
    let held = folder.file("held.pml", "byte x;\nactive [2] proctype P() { x++ }\n");
    let shard = ["--shard", "2/3"];
    report(&held, &shard, 0);
    report(&folder.file("race.pml", RACE), &shard, 0);
    report(&folder.file("faulty.pml", "active proctype P() { x = 1 }\n"), &shard, 3);
    let refused = tool::run(&["check", "--delay", "rtc", "--shard", "1/2", &held]).expect(3);
    refused.says("`--shard 1/2`").says("`--delay-mode sample`");
    for wrong in ["0/3", "4/3", "1", "a/b", "1/0"] {
        let refused =
            tool::run(&["check", "--delay", "rtc", "--delay-mode", "sample", "--shard", wrong, &held]).expect(3);
        assert!(refused.err.contains("a shard is written I/N"), "{}", refused.err);
    }
}
