//! The command line as a person and as a script meet it: the real binary, on files.

mod baseline;
mod begin;
mod diff;
mod documents;
mod formats;
mod schedules;
mod streams;

use super::schema::Schemas;
use fabius_testkit::run::Run;
use fabius_testkit::scratch::Scratch;
use serde_json::Value;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The folder with the models of these tests.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli")
}

fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fabius"));
    command.env("FABIUS_CACHE", "off");
    command.args(args).current_dir(folder()).env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn run(args: &[&str]) -> Run {
    Run::from(command(args).output().expect("the binary runs"))
}

fn check(args: &[&str]) -> Run {
    run(&[&["check"], args].concat())
}

fn array<'a>(value: &'a Value, key: &str) -> &'a Vec<Value> {
    value[key].as_array().unwrap_or_else(|| panic!("{key} is an array in {value}"))
}

#[test]
fn a_circle_and_the_worth_of_propositions_are_told_in_text() {
    check(&["circle.pml"]).expect(1).says("They wait for each other: A[0] waits for B[1] waits for A[0].");
    let stays = check(&["served.pml", "--property", "stays"]).expect(1);
    let told = stays.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("In the loop, `n == 0` is "), "{told}");
    assert!(
        told.contains("Waiter[0] waits all the time at `q == 7`, which is false: q is 0; no run from here"),
        "{told}"
    );
    let served = check(&["served.pml", "--property", "served", "--fairness", "weak"]).expect(1);
    assert!(!served.out.contains("make way") && !served.out.contains("counts as progress"), "{}", served.out);
}

#[test]
fn notes_about_dead_code_are_counted_as_far_as_they_go() {
    let scratch = Scratch::new().expect("a folder");
    let unused = |count: usize| -> String { (0..count).map(|i| format!("proctype U{i}() {{ skip }}\n")).collect() };
    let model = |name: &str, count| scratch.file(name, format!("{}init {{ skip }}", unused(count)).as_bytes());
    check(&[&model("few.pml", 8)]).expect(0).says("… and 5 more notes about dead code; --json lists them all");
    let many = "… and at least 197 more notes about dead code; --json lists the first 200";
    check(&[&model("many.pml", 300)]).expect(0).says(many);
}

#[test]
fn a_fair_schedule_is_told_or_who_would_be_held_back() {
    let scratch = Scratch::new().expect("a folder");
    let locks = "bool a, b;\nactive proctype P() {\ndo\n:: atomic { !a -> a = true };\natomic { !b -> b = true };\n\
        b = false;\na = false\nod }\nactive proctype Q() {\ndo\n:: atomic { !b -> b = true };\n\
        atomic { !a -> a = true };\na = false;\nb = false\nod }\n";
    let held = "byte x;\nactive proctype P() { if :: x = 1 :: x = 2 fi; assert(x == 1) }\n\
        active proctype Q() { do :: x < 9 -> x = x od }\n";
    let (locks, held) = (scratch.file("locks.pml", locks.as_bytes()), scratch.file("held.pml", held.as_bytes()));
    let fair = "fair: there is a safe schedule under which every process moves again and again as long as it can";
    run(&["schedule", &locks, "--for", "fair", "--sections"]).expect(0).says(fair).says("section 1: 2 steps");
    let bare = run(&["schedule", &locks, "--sections", "--without-locks"]).expect(0);
    bare.says("without a, b, which serve nothing but waiting: the orders below do what they do")
        .says("section 1: no step; 8 steps left out");
    let whole = run(&["schedule", &held, "--sections", "--without-locks"]).expect(0);
    assert!(whole.err.contains("nothing is left out of the sections"), "{}", whole.err);
    run(&["schedule", &locks, "--without-locks"]).expect(3);
    let neglected = "no fair schedule: under every safe schedule, P[0] may have to be held back for ever although";
    run(&["schedule", &held, "--for", "fair"]).expect(1).says(neglected);
    run(&["schedule", &held, "--for", "progress"])
        .expect(2)
        .says("fairness not known: the model has no progress label");
    run(&["schedule", &held]).expect(0);
    let schemas = Schemas::read();
    for file in [&locks, &held] {
        for more in [&["--for", "fair"][..], &["--sections", "--without-locks"]] {
            let document = run(&[&["schedule", "--json", file][..], more].concat()).json();
            assert_eq!(schemas.errors("schedule.schema.json", &document), Vec::<String>::new(), "{file}");
        }
    }
}

#[test]
fn a_model_that_waits_by_itself_is_written_or_why_it_cannot_be() {
    let scratch = Scratch::new().expect("a folder");
    let target = scratch.path().join("waits.pml").display().to_string();
    let written = run(&["schedule", "stuck.pml", "--export", &target]).expect(0);
    assert!(written.err.contains("and checked: no error, "), "{}", written.err);
    check(&[&target, "--property", "safety"]).expect(0);
    let refused = scratch.path().join("refused.pml").display().to_string();
    let served = scratch.file("served.pml", RENDEZVOUS);
    let why = run(&["schedule", &served, "--export", &refused]).expect(2).err;
    assert!(why.contains("nothing is written") && why.contains("in line 6"), "{why}");
    assert!(!std::path::Path::new(&refused).exists());
    let none = run(&["schedule", "holds.pml", "--export", &refused]).expect(0).err;
    assert!(none.contains("there is no error to avoid") && !none.contains("error:"), "{none}");
    assert!(!std::path::Path::new(&refused).exists());
    let nowhere = scratch.path().join("no/such/folder.pml").display().to_string();
    run(&["schedule", "stuck.pml", "--export", &nowhere]).expect(3);
}

/// Whoever takes both tokens first lets the other one wait for ever.
const RENDEZVOUS: &str = "chan a = [0] of { bit };
chan b = [0] of { bit };
active proctype P() { end: do :: a?0 od }
active proctype Q() { end: do :: b?0 od }
byte n;
active [2] proctype R() { a!0; d_step { n++; assert(n == 1) }; b!0; n-- }
";

#[test]
fn a_loop_names_the_values_that_it_does_not_restore() {
    let drift = check(&["drift.pml", "--property", "ends"]).expect(1);
    let told = drift.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("Each round leaves other values in rounds: not part of the state"), "{told}");
    let stays = check(&["served.pml", "--property", "stays"]).expect(1);
    assert!(!stays.out.contains("Each round leaves"), "{}", stays.out);
}

#[test]
fn the_exit_code_says_the_verdict() {
    check(&["holds.pml"]).expect(0).says("holds: no assertion can fail").says("exhaustive");
    check(&["broken.pml"]).expect(1).says("violated").says("broken.pml:10:3").says("assert(inside == 1)");
    check(&["stuck.pml"]).expect(1).says("deadlock after");
    check(&["divide.pml"]).expect(1).says("division by zero").says("divide.pml:10:3");
    check(&["endless.pml", "--max-states", "5000"]).expect(2).says("undecided").says("not a proof");
    check(&["faulty.pml"]).expect(3).says("faulty.pml:3:3").says("faulty.pml:4:3");
}

#[test]
fn an_undecided_run_says_what_to_try() {
    const HEAD: &str = "to get further, try one of these:";
    let states = check(&["endless.pml", "--max-states", "5000"]).expect(2).says(HEAD);
    assert!(states.out.contains("--max-states 50000") && states.out.contains("--search bfs"), "{}", states.out);
    assert!(!states.out.contains("--timeout") && !states.out.contains("--store"), "{}", states.out);
    let depth = check(&["endless.pml", "--max-depth", "50"]).expect(2).says("--max-depth 500").says("--depth-bound 50");
    assert!(!depth.out.contains("--max-states"), "{}", depth.out);
    let breadth = check(&["endless.pml", "--max-states", "5000", "--search", "bfs"]).expect(2).says("--delay auto");
    assert!(!breadth.out.contains("--search bfs  "), "what was asked for is no advice: {}", breadth.out);
    let delays = ["endless.pml", "--max-states", "5000", "--delay", "rr", "--max-delays", "2"];
    let delays = check(&delays).expect(2);
    assert!(!delays.out.contains("--search bfs") && !delays.out.contains("--delay auto"), "{}", delays.out);
    for decided in ["holds.pml", "broken.pml", "faulty.pml"] {
        let run = check(&[decided]);
        assert!(!run.out.contains(HEAD), "{decided}: {}", run.out);
    }
}

#[test]
fn the_worst_of_several_files_decides() {
    let run = check(&["holds.pml", "broken.pml", "holds.pml"]).expect(1);
    assert!(run.out.contains("broken.pml: violated") && run.out.contains("holds.pml: holds"), "{}", run.out);
    check(&["broken.pml", "faulty.pml"]).expect(3);
    check(&["endless.pml", "broken.pml", "--max-states", "5000"]).expect(1);
}

#[test]
fn a_wrong_command_line_is_a_faulty_input() {
    for args in [
        &["check"][..],
        &["check", "--nonsense", "holds.pml"],
        &["chek"],
        &[],
        &["check", "holds.pml", "--max-states", "many"],
    ] {
        let run = run(args).expect(3);
        assert!(!run.err.is_empty() && run.out.is_empty(), "{}", run.out);
    }
    run(&["--help"]).expect(0).says("Exit codes");
    run(&["check", "--help"]).expect(0).says("--keep-going").says("Exit codes");
    run(&["--version"]).expect(0).says(env!("CARGO_PKG_VERSION"));
}

#[test]
fn flags_that_do_not_go_together_are_refused_with_the_reason() {
    for (args, why) in [
        (&["--search", "bfs", "--resume", "holds.pml"][..], "`--search bfs` and `--resume FILE` need `--processes N`"),
        (
            &["--delay", "rr", "--delay-mode", "sample", "--choice-bound", "1"],
            "`--delay-mode sample` and `--choice-bound 1` cannot be combined",
        ),
        (&["--delay", "fifo"], "unknown scheduler `fifo`"),
    ] {
        let run = check(&[&["holds.pml"], args].concat()).expect(3);
        assert!(run.err.contains(why) || run.out.contains(why), "{}{}", run.out, run.err);
    }
    let drawn = ["explore", "holds.pml", "--delay", "rr", "--delay-mode", "sample", "--choice-bound", "1"];
    let explored = run(&drawn).expect(3);
    assert!(explored.err.contains("`--choice-bound 1` cannot be combined"), "{}", explored.err);
}

#[test]
fn the_command_to_see_it_again_is_never_refused() {
    let scratch = Scratch::new().expect("a folder");
    let text = b"byte x; ltl p { [] <> (x == 1) }
active [2] proctype P() { do :: x = 1 - x :: x == 1 -> progress: x = 0; assert(x == 0) od }";
    let model = scratch.file("m.pml", text);
    for flags in [
        &["--delay", "rtc", "--fairness", "weak"][..],
        &["--cycles", "dfs-fifo", "--search", "bfs"],
        &["--depth-bound", "20"],
        &["--cycles", "map", "--keep-going"],
    ] {
        let first = check(&[flags, &[model.as_str()]].concat()).expect(1);
        let again =
            first.out.lines().find_map(|line| line.strip_prefix("reproduce with: fabius check ")).expect("a line");
        check(&again.split(' ').collect::<Vec<_>>()).expect(1);
    }
}

#[test]
fn a_bound_on_choices_that_does_not_count_is_told() {
    let scratch = Scratch::new().expect("a folder");
    let text = b"bit x; active proctype P() { progress: do :: x = 0 :: x = 1 od }";
    let model = scratch.file("m.pml", text);
    let told = "the bound on choices does not count in the search for what violates `progress`";
    check(&[&model, "--delay", "rr", "--choice-bound", "1"]).expect(0).says(told).says("F0506");
    let safety = check(&[&model, "--delay", "rr", "--choice-bound", "1", "--property", "safety"]).expect(0);
    assert!(!safety.out.contains("F0506"), "{}", safety.out);
}

#[test]
fn a_scheduler_may_be_defined_beside_the_model() {
    let scratch = Scratch::new().expect("a folder");
    let text = b"byte x; active proctype A() { x = 1 } active proctype B() { assert(x == 1) }";
    let model = scratch.file("m.pml", text);
    scratch.file("fabius.toml", b"[schedulers.a-last]\nbase = \"rr\"\norder = [\"B\", \"A\"]\n");
    check(&["--delay", "rr", "--delay-mode", "exact", &model]).expect(1).says("1 delay,");
    check(&["--delay", "a-last", "--delay-mode", "exact", &model]).expect(1).says("0 delays,").says("under `a-last`");
    let run = check(&["--delay", "last", &model]).expect(3);
    assert!(run.err.contains("fabius.toml defines a-last"), "{}", run.err);
    scratch.file("fabius.toml", b"[schedulers.mine]\nbase = \"fifo\"\n");
    check(&["--delay", "mine", &model]).expect(3).says("F0115").says("cannot be based on `fifo`");
}

#[test]
fn what_a_project_says_counts_for_a_check() {
    let scratch = Scratch::new().expect("a folder");
    let model = scratch.file("m.pml", b"byte x;\n#ifndef N\n#define N 1\n#endif\nactive proctype P() { x = 1 }\nactive proctype Q() { do :: x < 2 -> skip od }\nltl p { <> (x == N) }\n");
    check(&["--property", "p", &model]).expect(1);
    scratch.file("fabius.toml", b"defines = [\"N=2\"]\nproperties = [\"p\"]\n[check]\nfairness = \"weak\"\n[expect.\"m.pml\"]\np = \"violated\"\n");
    let run = check(&[&model, "--no-cache"]).expect(0);
    run.says("violated, as expected")
        .says("settings from ")
        .says("defines = [\"N=2\"]")
        .says("check.fairness = \"weak\"");
    let report = check(&[&model, "--json", "--no-cache"]).expect(0).json();
    assert_eq!(report["properties"].as_array().unwrap().len(), 1, "{report}");
    assert_eq!(report["properties"][0]["expected"], "violated", "{report}");
    assert!(report["project"]["file"].as_str().unwrap().ends_with("fabius.toml"), "{report}");
    assert_eq!(report["project"]["settings"].as_array().unwrap().len(), 4, "{report}");
    // Flags come first: with this value the formula holds under the fairness of the project, which is not as expected.
    check(&[&model, "-D", "N=1", "--no-cache"]).expect(1).says("holds, but was expected to be violated");
    check(&[&model, "-D", "N=1", "--fairness", "none", "--no-cache"]).expect(0).says("violated, as expected");
    scratch.file("fabius.toml", b"define = 1\n");
    check(&[&model]).expect(3).says("F0115").says("fabius.toml").says("`define`");
    assert_eq!(check(&[&model, "--json"]).expect(3).json()["verdict"], "faulty");
    scratch.file("fabius.toml", b"[expect.\"m.pml\"]\np = \"holds\"\nsaftey = \"violated\"\n");
    check(&[&model]).expect(3).says("F0115").says("fabius.toml:3:").says("no property `saftey`").says("safety, p");
    scratch.file("fabius.toml", b"[expect.\"m.pm\"]\np = \"holds\"\n");
    check(&[&model, "--property", "safety"]).says("F0116").says("fabius.toml:1:").says("no file `m.pm`");
    // What a project chooses is heeded by the advice: searches in the order of delays know no fairness.
    let model = scratch.file("n.pml", b"byte y; active proctype P() { do :: y++ od }\nltl p { [] (y < 200) }\n");
    let undecided = ["--property", "p", "--max-states", "2", "--no-cache", &model];
    scratch.file("fabius.toml", b"defines = [\"N=1\"]\n");
    check(&undecided).expect(2).says("--delay auto");
    scratch.file("fabius.toml", b"defines = [\"N=1\"]\n[check]\nfairness = \"weak\"\n");
    let fair = check(&undecided).expect(2).says("--max-states 20");
    assert!(!fair.out.contains("--delay auto"), "{}", fair.out);
}

#[test]
fn completions_and_manual_page_can_be_printed() {
    for shell in ["bash", "zsh", "fish"] {
        run(&["completions", shell]).expect(0).says("keep-going");
    }
    run(&["man"]).expect(0).says(".TH fabius").says("keep\\-going");
}

#[test]
fn a_code_is_explained() {
    run(&["explain", "f0602"]).expect(0).says("F0602 Deadlock").says("    chan c = [0]");
    run(&["explain"]).expect(0).says("F0101  ").says("F0609  ");
    let unknown = run(&["explain", "F9999"]).expect(3);
    assert!(unknown.err.contains("no code `F9999`"), "{}", unknown.err);
}

#[test]
fn a_file_that_cannot_be_read_is_a_finding() {
    let scratch = Scratch::new().expect("a folder");
    check(&["no-such-file.pml"]).expect(3).says("F0108").says("no-such-file.pml");
    check(&[&scratch.path().display().to_string()]).expect(3).says("F0108");
    let report = check(&["no-such-file.pml", "--json"]).expect(3).json();
    assert_eq!(report["verdict"], "faulty");
    assert_eq!(report["findings"][0]["code"], "F0108");
}

#[test]
fn bytes_that_are_no_model_are_findings() {
    let scratch = Scratch::new().expect("a folder");
    let bytes: Vec<u8> = (0..20_000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    for content in [&bytes[..], b"\0\0\0", b"\xff\xfe", b"/* never closed", b"active proctype p() { if :: "] {
        let file = scratch.file("x.pml", content);
        let run = check(&[&file]).expect(3);
        assert!(run.out.len() < 200_000, "{} bytes of output", run.out.len());
        let report = check(&[&file, "--json"]).expect(3).json();
        assert!(!array(&report, "findings").is_empty());
    }
}

#[test]
fn a_model_that_is_too_large_is_answered_all_the_same() {
    let scratch = Scratch::new().expect("a folder");
    let nested = format!("active proctype p() {{ assert({}1{}) }}", "(".repeat(300_000), ")".repeat(300_000));
    let file = scratch.file("nested.pml", nested.as_bytes());
    check(&[&file]).expect(3);
    let file = scratch.file("array.pml", b"int a[1000000]; active proctype p() { do :: a[5]++ od }");
    // Nothing reads the array, so it is no part of the state.
    check(&[&file, "--max-states", "20"]).expect(0).says("1 state,");
    let file = scratch.file("larger.pml", b"int a[100000000]; active proctype p() { do :: a[5]++ od }");
    check(&[&file, "--max-states", "20"]).expect(3).says("F0411");
    let file = scratch.file("run.pml", b"proctype p() { do :: run p() od } init { run p() }");
    let run = check(&[&file, "--max-states", "100000", "--timeout", "10"]);
    assert!([1, 2].contains(&run.code), "{} {}", run.out, run.err);
}

#[test]
fn a_model_may_come_through_standard_input() {
    for (name, code) in [("holds.pml", 0), ("broken.pml", 1), ("faulty.pml", 3)] {
        let text = std::fs::read(folder().join(name)).expect("model");
        let mut child = command(&["check", "-"]).stdin(Stdio::piped()).spawn().expect("the binary runs");
        child.stdin.take().expect("stdin").write_all(&text).expect("written");
        let run = Run::from(child.wait_with_output().expect("it ends")).expect(code);
        assert!(code == 0 || run.out.contains("<stdin>:"), "{}", run.out);
    }
}

#[test]
fn macros_come_from_the_command_line() {
    check(&["define.pml"]).expect(0);
    check(&["define.pml", "-D", "N=7"]).expect(1);
    check(&["define.pml", "-DN=7"]).expect(1);
    check(&["define.pml", "-DN"]).expect(0);
    check(&["define.pml", "-DN=3", "-DOTHER"]).expect(0);
}

#[test]
fn included_files_are_found_beside_the_including_one() {
    check(&["include.pml"]).expect(0);
    let elsewhere = Run::from(
        command(&["check", &folder().join("include.pml").display().to_string()])
            .current_dir(std::env::temp_dir())
            .output()
            .expect("the binary runs"),
    );
    elsewhere.expect(0);
    let scratch = Scratch::new().expect("a folder");
    let file = scratch.file("x.pml", b"#include \"missing.h\"\ninit { skip }\n");
    check(&[&file]).expect(3).says("missing.h").says("x.pml:1:");
}

#[test]
fn keep_going_lists_every_violation_once_and_counts() {
    let report = check(&["several.pml", "--json", "--keep-going"]).expect(1).json();
    let violations = array(&report["properties"][0], "violations");
    let mut places: Vec<(String, u64)> = violations
        .iter()
        .map(|v| (v["kind"].as_str().expect("kind").to_owned(), v["line"].as_u64().expect("line")))
        .collect();
    places.sort();
    assert_eq!(places, [("assertion".into(), 7), ("assertion".into(), 8), ("invalid_end_state".into(), 9)]);
    assert_eq!(report["exhaustive"], true);

    let report = check(&["broken.pml", "--json", "--keep-going"]).expect(1).json();
    let property = &report["properties"][0];
    assert_eq!(array(property, "violations").len(), 1, "one place, although both processes fail there");
    assert!(property["violations"][0]["count"].as_u64() > Some(1), "{property}");
    assert_eq!(property["violation_count"], property["violations"][0]["count"]);
}

#[test]
fn breadth_first_is_shortest_and_depth_first_as_asked() {
    let steps = |args: &[&str]| {
        let report = check(&[&["broken.pml", "--json"], args].concat()).expect(1).json();
        let violation = &report["properties"][0]["violations"][0];
        (violation["steps"].as_u64().expect("steps"), violation["shortest"].as_bool().expect("shortest"))
    };
    let (shortest, is_shortest) = steps(&["--search", "bfs"]);
    assert!(is_shortest);
    assert_eq!(steps(&[]), (shortest, true), "the default shortens what depth-first found");
    let (first, claims_shortest) = steps(&["--search", "dfs"]);
    assert!(first >= shortest && !claims_shortest);
}

#[test]
fn limits_leave_the_verdict_open() {
    for (args, stopped) in [
        (["--max-states", "1000"], "states"),
        (["--max-depth", "50"], "depth"),
        (["--max-memory", "8M"], "memory"),
        (["--timeout", "200ms"], "timeout"),
    ] {
        let began = Instant::now();
        let report = check(&[&["endless.pml", "--json"], &args[..]].concat()).expect(2).json();
        assert_eq!(report["verdict"], "undecided");
        assert_eq!(report["exhaustive"], false);
        assert_eq!(report["properties"][0]["stopped"], stopped, "{args:?}");
        assert!(began.elapsed() < Duration::from_secs(60), "{args:?} took {:?}", began.elapsed());
    }
}

#[test]
fn properties_share_the_time() {
    // Nobody explores all of this in the time; but each formula has a run against it that is found at once.
    let wishes = ["--ltl", "[] false", "--ltl", "<> false"];
    let report = check(&[&["endless.pml", "--json", "--timeout", "3"], &wishes[..]].concat()).expect(1).json();
    let verdicts: Vec<&str> = array(&report, "properties").iter().filter_map(|p| p["verdict"].as_str()).collect();
    assert_eq!(verdicts[0], "undecided", "{report}");
    assert!(verdicts.contains(&"violated"), "{report}");
}

#[test]
fn lossy_stores_do_not_prove() {
    for store in ["hash", "bitstate"] {
        let report = check(&["holds.pml", "--json", "--store", store]).expect(2).json();
        assert_eq!(report["verdict"], "undecided");
        assert_eq!(report["properties"][0]["store"], store);
        check(&["broken.pml", "--store", store]).expect(1);
    }
    check(&["holds.pml", "--store", "tree"]).expect(0);
}

#[test]
fn each_property_has_its_verdict() {
    let run = check(&["wishes.pml"]).expect(0).says("again");
    assert_eq!(run.out.lines().filter(|line| line.contains("  holds: ")).count(), 3, "{}", run.out);
    let report = check(&["wishes.pml", "--json"]).expect(0).json();
    let kinds: Vec<&str> = array(&report, "properties").iter().filter_map(|p| p["kind"].as_str()).collect();
    assert_eq!(kinds, ["safety", "progress", "ltl"]);
    for (wish, count) in [("safety", 1), ("again", 1), ("ltl", 1), ("progress", 1)] {
        let report = check(&["wishes.pml", "--json", "--property", wish]).expect(0).json();
        assert_eq!(array(&report, "properties").len(), count, "{wish}");
    }
    check(&["wishes.pml", "--property", "agian"]).expect(3).says("again");
    check(&["wishes.pml", "--ltl", "<> [] done", "--property", "formula"]).expect(1).says("for ever").says("⟳");
    check(&["wishes.pml", "--ltl", "<> [] nonsense"]).expect(3).says("nonsense");
}

#[test]
fn a_model_says_what_it_expects() {
    let scratch = Scratch::new().expect("a folder");
    let text = "byte x;\ninit { x = 1; assert(x == N) }\n/*@ expect: violated */\nltl q { [] (x == 0) }\n";
    let model = scratch.file("m.pml", format!("/*@ expect: holds */\n{text}").as_bytes());
    check(&["-D", "N=1", &model]).expect(0).says("q       violated, as expected: ").says("holds, as expected: ");
    let surprise = check(&["-D", "N=2", "--json", &model]).expect(1).json();
    let told: Vec<_> =
        array(&surprise, "properties").iter().map(|p| (p["verdict"].clone(), p["expected"].clone())).collect();
    assert_eq!(told, [("violated".into(), "holds".into()), ("violated".into(), "violated".into())]);
    assert_eq!(Schemas::read().errors("report.schema.json", &surprise), Vec::<String>::new());
    // The other way round: what was to fail holds.
    let holds = scratch.file("holds.pml", b"/*@ expect: violated */ init { skip }");
    check(&[&holds]).expect(1).says("holds, but was expected to be violated: ");
    // A wish that cannot be read is told, and changes nothing.
    let nonsense = scratch.file("nonsense.pml", b"/*@ expect: violatd */ init { skip } /*@ expect p: holds */");
    check(&[&nonsense]).expect(0).says("F0114").says("this model has no property `p`");
}

#[test]
fn colours_are_for_terminals_unless_asked_for() {
    let coloured = |args: &[&str]| check(args).out.contains('\u{1b}');
    for file in ["holds.pml", "broken.pml", "faulty.pml"] {
        assert!(!coloured(&[file]));
        assert!(!coloured(&[file, "--color", "never"]));
        assert!(coloured(&[file, "--color", "always"]));
        assert!(!coloured(&[file, "--color", "always", "--json"]), "JSON has no colours");
    }
}

#[test]
fn a_pipe_sees_no_progress() {
    let run = check(&["endless.pml", "--timeout", "1500ms"]).expect(2);
    assert!(!run.out.contains('\r') && run.err.is_empty(), "{} {}", run.out, run.err);
}

#[test]
fn every_accepted_flag_is_accepted() {
    check(&["holds.pml", "--no-reduction", "--no-cache", "--no-optimize", "--property", "safety"]).expect(0);
}

#[test]
fn the_command_to_see_it_again_shows_it_again() {
    let out = check(&["define.pml", "-D", "N=7"]).expect(1).out;
    let command = out.lines().find_map(|line| line.strip_prefix("reproduce with: fabius ")).expect("a command");
    let words: Vec<&str> = command.split(' ').collect();
    run(&words).expect(1).says("assert(N < 5)");
}

#[test]
fn states_that_are_left_out_are_named_in_the_verdict_and_nothing_is_proved() {
    use super::tool;
    let run = |args: &[&str]| tool::run(&[&["check"], args].concat());
    let left = run(&["models/bounded_buffer.pml", "--prune", "stored > 3"]).expect(2);
    left.says("no violation in 369 states; the search did not go on from states in which `stored > 3` is true");
    let json = run(&["models/bounded_buffer.pml", "--prune", "stored > 3", "--json"]).expect(2);
    let report = tool::json(&json, "report.schema.json");
    let property = &report["properties"][0];
    assert_eq!((&property["stopped"], &property["exhaustive"]), (&"pruned".into(), &false.into()));
    assert_eq!(property["strategy"]["prune"], "stored > 3");
    // What is found is wrong in the whole model, but need not be shortest there.
    let found = run(&["models/bounded_buffer.pml", "--prune", "stored == 1 && Consumer@line 32", "--search", "bfs"]);
    found.expect(1).says("(a shorter run may exist)").says("--prune 'stored == 1 && Consumer@line 32'");
    // A condition that is never true leaves nothing out.
    let whole = run(&["models/peterson.pml", "--prune", "critical > 1"]).expect(0);
    whole.says("no step leads to a state in which `critical > 1` is true");
    for (args, why) in [
        (&["--prune", "stored == 0"][..], "it holds in the initial state"),
        (&["--prune", "once stored == 1"], "looks back along the run"),
        (&["--prune", "nobody"], "`nobody` is not declared"),
        (&["--prune", "stored == 1", "--delay", "auto"], "cannot be combined"),
        (&["--prune", "stored == 1", "--processes", "2"], "cannot be combined"),
        (&["--prune", "stored == 1", "--cut-ranges"], "cannot be"),
    ] {
        let refused = run(&[&["models/bounded_buffer.pml"], args].concat()).expect(3);
        assert!(refused.err.contains(why) || refused.out.contains(why), "{why}: {} {}", refused.out, refused.err);
    }
}
