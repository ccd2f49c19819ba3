//! Checkpoints of searches by several processes: what is resumed finds what it would have found, and what cannot be resumed is refused.

use super::workers::{are_gone, signal, workers};
use fabius_testkit::generate::Dice;
use fabius_testkit::run::Run;
use fabius_testkit::scratch::Scratch;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Some hundred thousand states in more than a hundred layers.
const TWO_ENDS: &str = "#ifndef N\n#define N 24\n#endif\nbyte a, b; short c; active proctype P() { end: do :: a < N -> a++ :: a > 0 -> a-- od }\n\
    active proctype Q() { end: do :: b < N -> b++; c = a * b :: b == N -> b = 0; assert(c < BAD) od }\n";
/// Ten thousands of states, and each step of the claim is accepting: with BAD, one process begins again for ever.
const TO_AN_END: &str = "#define done (a == 18 && b == 18 && c == 9)\nbyte a, b, c; byte l;\n\
    active proctype P() { do :: a < 18 -> a++; l = 1 :: a == 18 -> break\n#ifdef BAD\n:: b == 18 && c > 5 && a > 9 -> a = 9\n#endif\nod }\n\
    active proctype Q() { do :: b < 18 -> b++; l = 2 :: b == 18 -> break od }\n\
    active proctype R() { do :: c < 9 -> c++; l = 3 :: c == 9 -> break od }\n\
    ltl ends { <> done }\n";
/// No check in here takes so long on any machine, unless it hangs.
const HANGS: Duration = Duration::from_secs(200);

fn command(flags: &[&str]) -> Command {
    let property = if flags.contains(&"--property") { &[][..] } else { &["--property", "safety"] };
    let mut command = Command::new(env!("CARGO_BIN_EXE_fabius"));
    command.env("FABIUS_CACHE", "off").args(["check", "--json", "--no-schedule"]).args(property).args(flags);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn check(flags: &[&str]) -> (i32, Value) {
    let run = Run::from(command(flags).output().expect("the binary runs"));
    (run.code, serde_json::from_str(&run.out).unwrap_or(Value::Null))
}

fn model(scratch: &Scratch) -> String {
    scratch.file("m.pml", TWO_ENDS)
}

fn path(scratch: &Scratch, name: &str) -> String {
    scratch.path().join(name).display().to_string()
}

/// What does not depend on where a search began.
fn told(report: &Value) -> Vec<Value> {
    let property = &report["properties"][0];
    let keys =
        ["verdict", "exhaustive", "states", "transitions", "matched", "depth", "violation_count", "coverage", "delays"];
    let steps = property["violations"][0].clone();
    let findings = report["findings"].as_array().into_iter().flatten().map(|finding| finding["message"].clone());
    keys.iter().map(|key| property[key].clone()).chain([steps]).chain(findings).collect()
}

fn message(report: &Value) -> String {
    report["findings"][0]["message"].as_str().unwrap_or_default().to_owned()
}

/// Files that belong to a checkpoint.
fn parts(scratch: &Scratch) -> Vec<String> {
    let names = fs::read_dir(scratch.path()).expect("a folder").flatten();
    let mut names: Vec<String> = names.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.retain(|name| name.contains(".part-"));
    names.sort();
    names
}

#[test]
fn a_search_in_pieces_finds_what_it_would_have_found() {
    let scratch = Scratch::new().expect("a folder");
    let (model, file) = (model(&scratch), path(&scratch, "search"));
    for (bad, processes, flags) in
        [("30000", "2", &[][..]), ("30000", "3", &[]), ("500", "2", &[]), ("570", "3", &["--max-depth", "5000"])]
    {
        let bad = format!("-DBAD={bad}");
        let flags = [&["--processes", processes, &bad, &model], flags].concat();
        in_pieces(&scratch, &file, &flags, 5_000);
    }
}

/// Searches until the search is done, with ever more states, and compares what is said in the end with what is said at once.
fn in_pieces(scratch: &Scratch, file: &str, flags: &[&str], states_max: u64) -> Value {
    let (code, whole) = check(flags);
    let (mut max, mut stops) = (states_max, 0);
    let (resumed_code, resumed) = loop {
        let limit = max.to_string();
        let resume = if stops == 0 { &[][..] } else { &["--resume", file] };
        let kept = ["--max-states", &limit, "--checkpoint", file];
        let (code, report) = check(&[flags, resume, &kept].concat());
        if code != 2 {
            break (code, report);
        }
        let reason = report["properties"][0]["reason"].as_str().expect("a reason");
        assert!(reason.ends_with(&format!("; resume with `--resume {file}`")), "{reason}");
        assert_eq!(parts(scratch).len(), flags[1].parse::<usize>().expect("a number"), "{:?}", parts(scratch));
        (max, stops) = (max * 3, stops + 1);
    };
    assert!(stops > 1, "it was not interrupted: {flags:?}");
    assert_eq!((resumed_code, told(&resumed)), (code, told(&whole)), "{flags:?}");
    resumed
}

#[test]
fn a_search_by_number_of_delays_in_pieces_finds_what_it_would_have_found() {
    let scratch = Scratch::new().expect("a folder");
    let (model, file) = (model(&scratch), path(&scratch, "search"));
    for (bad, processes, delay) in [("30000", "2", "rr"), ("30000", "3", "rtc"), ("500", "2", "random")] {
        let bad = format!("-DBAD={bad}");
        let flags = ["--processes", processes, "--delay", delay, &bad, &model];
        let verdict = in_pieces(&scratch, &file, &flags, 1_500)["properties"][0]["verdict"].clone();
        assert_eq!(verdict, if bad == "-DBAD=500" { "violated" } else { "holds" });
    }
    // What was searched up to a bound goes on with another one.
    let flags = ["--processes", "2", "--delay", "rtc", "-DBAD=30000", &model];
    let (code, bounded) = check(&[&flags[..], &["--max-delays", "2", "--checkpoint", &file]].concat());
    let reason = bounded["properties"][0]["reason"].as_str().expect("a reason");
    assert!(code == 2 && reason.ends_with(&format!("; resume with `--resume {file}`")), "{reason}");
    let (more, at_once) = (["--max-delays", "4"], ["--max-delays", "4", "--resume", &file]);
    assert_eq!(told(&check(&[&flags[..], &at_once].concat()).1), told(&check(&[&flags[..], &more].concat()).1));
}

#[test]
fn a_search_for_infinite_runs_in_pieces_finds_what_it_would_have_found() {
    let scratch = Scratch::new().expect("a folder");
    let (model, file) = (scratch.file("m.pml", TO_AN_END), path(&scratch, "search"));
    for (processes, macros, verdict) in
        [("2", "-DGOOD", "holds"), ("3", "-DBAD", "violated"), ("2", "-DBAD", "violated")]
    {
        let flags = ["--processes", processes, "--property", "ends", macros, &model];
        let report = in_pieces(&scratch, &file, &flags, 3_000);
        assert_eq!(report["properties"][0]["verdict"], verdict, "{report}");
    }
}

/// What stands after a runtime error is not followed by a search for infinite runs; whoever resumes it knows that.
#[test]
fn a_runtime_error_before_a_checkpoint_is_known_after_it() {
    let scratch = Scratch::new().expect("a folder");
    // The state before the error leads nowhere else, so nobody expands it to find other states again.
    let text = "byte mode, a, b, c; active proctype Z() { if :: mode = 1 :: mode = 2; b = 1 / (mode - 2) fi }\n\
        active proctype P() { mode == 1; do :: a < 99 -> a++ :: a == 99 -> break od }\n\
        active proctype Q() { mode == 1; do :: c < 99 -> c++ :: c == 99 -> break od }\n\
        ltl ends { <> (a == 99 && c == 99) }\n";
    let (model, file) = (scratch.file("m.pml", text), path(&scratch, "search"));
    let flags = ["--processes", "2", "--property", "ends", &model];
    let (code, whole) = check(&flags);
    let (_, cut) = check(&[&flags[..], &["--max-states", "3000", "--checkpoint", &file]].concat());
    assert_eq!(cut["properties"][0]["stopped"], "states", "{cut}");
    let (resumed_code, resumed) = check(&[&flags[..], &["--resume", &file]].concat());
    assert_eq!((resumed_code, told(&resumed)), (code, told(&whole)));
    assert_eq!(resumed["properties"][0]["reason"], whole["properties"][0]["reason"]);
    assert_eq!(code, 2, "{whole}");
}

#[test]
fn a_checkpoint_of_another_order_of_delays_or_property_is_refused() {
    let scratch = Scratch::new().expect("a folder");
    let text = TWO_ENDS.to_owned() + "ltl one { [] <> (a < N) }\nltl two { [] <> (b < N) }\n";
    let (model, file) = (scratch.file("m.pml", &text), path(&scratch, "search"));
    let asked = |flags: &[&'static str]| [&["-DBAD=30000"], flags].concat();
    for (kept, others) in [
        (
            asked(&["--processes", "2", "--delay", "rtc"]),
            [
                (asked(&["--processes", "2", "--delay", "rr"]), "the scheduler was another"),
                (asked(&["--processes", "3", "--delay", "rtc"]), "the number of processes was another: 2, not 3"),
                (
                    asked(&["--processes", "2"]),
                    "the kind of search was another: delays by processes, not breadth-first",
                ),
            ],
        ),
        (
            asked(&["--processes", "2", "--property", "one"]),
            [
                (asked(&["--processes", "2", "--property", "two"]), "the property was another: one, not two"),
                (
                    asked(&["--processes", "2", "--property", "one", "--max-depth", "99"]),
                    "the limit on depth was another",
                ),
                (asked(&["--processes", "2", "--property", "safety"]), "the property was another: one, not safety"),
            ],
        ),
    ] {
        let flags = |flags: &[&str], more: &[&str]| check(&[flags, more, &[&model]].concat());
        let (code, report) = flags(&kept, &["--max-states", "4000", "--checkpoint", &file]);
        assert_eq!(code, 2, "{report}");
        for (other, why) in others {
            let (code, report) = flags(&other, &["--resume", &file]);
            assert!(code == 3 && message(&report).contains(why), "{other:?}: {}", message(&report));
        }
        let first = scratch.path().join(&parts(&scratch)[0]);
        let whole = fs::read(&first).expect("a file");
        fs::write(&first, &whole[..whole.len() - 8]).expect("written");
        let (code, report) = flags(&kept, &["--resume", &file]);
        assert!(code == 3 && message(&report).contains("was cut short"), "{}", message(&report));
        fs::write(&first, &whole).expect("written");
        let checkpoint = fs::read(&file).expect("a file");
        let mut changed = checkpoint.clone();
        changed[checkpoint.len() - 20] ^= 1;
        fs::write(&file, changed).expect("written");
        let (code, report) = flags(&kept, &["--resume", &file]);
        assert!(code == 3 && message(&report).contains("it is damaged"), "{}", message(&report));
        fs::write(&file, checkpoint).expect("written");
        assert_ne!(flags(&kept, &["--resume", &file]).0, 3);
    }
}

#[test]
fn a_checkpoint_of_something_else_is_refused_with_why() {
    let scratch = Scratch::new().expect("a folder");
    let (model, file) = (model(&scratch), path(&scratch, "search"));
    let asked = ["--processes", "2", "-DBAD=30000", &model];
    let (code, _) = check(&[&asked[..], &["--max-states", "9000", "--checkpoint", &file]].concat());
    assert_eq!(code, 2);
    for (flags, why) in [
        (&["--processes", "3", "-DBAD=30000", &model][..], "the number of processes was another: 2, not 3"),
        (&["--processes", "2", "-DBAD=30000", "-DN=20", &model], "the model was another"),
        (&["--processes", "2", "-DBAD=30000", "--max-depth", "50", &model], "the limit on depth was another"),
        (&["--delay", "rr", "-DBAD=30000", &model], "the kind of search was another"),
    ] {
        let (code, report) = check(&[flags, &["--resume", &file]].concat());
        assert_eq!(code, 3, "{report}");
        assert!(message(&report).contains(why), "{}", message(&report));
    }
    let names = parts(&scratch);
    let first = scratch.path().join(&names[0]);
    let whole = fs::read(&first).expect("a file");
    let mut changed = whole.clone();
    changed[whole.len() / 4] ^= 64;
    let second = fs::read(scratch.path().join(&names[1])).expect("a file");
    for (bytes, why) in [
        (Some(&whole[..whole.len() / 2]), "was cut short"),
        (Some(&changed[..]), "was changed after it was written"),
        (Some(&second[..]), &names[0]),
        (None, "cannot be read"),
    ] {
        match bytes {
            Some(bytes) => fs::write(&first, bytes).expect("written"),
            None => fs::remove_file(&first).expect("removed"),
        }
        let (code, report) = check(&[&asked[..], &["--resume", &file]].concat());
        assert_eq!(code, 3, "{report}");
        let message = message(&report);
        assert!(message.contains("cannot resume from") && message.contains(why), "{message}");
    }
    fs::write(&first, whole).expect("written");
    assert_eq!(check(&[&asked[..], &["--resume", &file]].concat()).0, 0);
}

/// Kills some process of a search that is kept, again and again, at the moments that are drawn; then it is left alone. What it says, and
/// how often it was lost.
fn survives_kills(scratch: &Scratch, flags: &[&str], random: &mut Dice) -> (Value, u32) {
    let file = path(scratch, "search");
    let mut losses = 0;
    // At first there is no checkpoint yet.
    for wait_max in [300, 2_000, 4_000, 6_000] {
        let resume = if Path::new(&file).exists() { &["--resume", &file][..] } else { &[] };
        let mut check = command(&[flags, resume, &["--checkpoint", &file]].concat()).spawn().expect("the tool starts");
        let wait = Duration::from_millis(random.below(wait_max) as u64);
        let began = Instant::now();
        let mut all = Vec::new();
        while began.elapsed() < wait && check.try_wait().expect("a child").is_none() {
            all = [all, workers(check.id())].into_iter().max_by_key(Vec::len).unwrap_or_default();
            thread::sleep(Duration::from_millis(5));
        }
        let victims = [&all[..], &[check.id()]].concat();
        signal("-KILL", victims[random.below(victims.len())]);
        let output = check.wait_with_output().expect("its output");
        let ended = Instant::now();
        while !are_gone(&all) {
            assert!(ended.elapsed() < HANGS, "workers are left");
            thread::sleep(Duration::from_millis(20));
        }
        match output.status.code() {
            Some(0) => return (serde_json::from_slice(&output.stdout).expect("a report"), losses),
            Some(2) => {
                let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
                let property = &report["properties"][0];
                assert_eq!((&property["verdict"], &property["stopped"]), (&"undecided".into(), &"worker_lost".into()));
                let reason = property["reason"].as_str().expect("a reason");
                assert_eq!(reason.contains("--resume"), Path::new(&file).exists(), "{reason}");
            }
            // It was the check itself.
            None => {}
            code => panic!("{code:?}: {}", String::from_utf8_lossy(&output.stdout)),
        }
        losses += 1;
    }
    let resume = if Path::new(&file).exists() { &["--resume", &file][..] } else { &[] };
    (check(&[flags, resume].concat()).1, losses)
}

#[test]
fn a_search_whose_processes_are_killed_again_and_again_ends_as_one_that_is_left_alone() {
    let mut losses = 0;
    for processes in [2, 3] {
        let scratch = Scratch::new().expect("a folder");
        let text = "byte a[4]; active [2] proctype P() { end: do :: a[0] < 9 -> a[0]++ :: a[1] < 9 -> a[1]++\n\
            :: a[2] < 9 -> a[2]++ :: a[3] < 7 -> a[3]++ :: a[0] > 8 -> a[0] = 0 od }\n";
        let model = scratch.file("m.pml", text);
        let count = processes.to_string();
        let flags = ["--processes", &count, &model];
        let (code, whole) = check(&flags);
        assert_eq!(code, 0, "{whole}");
        let (resumed, lost) = survives_kills(&scratch, &flags, &mut Dice::new(processes));
        assert_eq!(told(&resumed), told(&whole), "{lost} losses");
        losses += lost;
    }
    assert!(0 < losses, "nothing was lost");
}
