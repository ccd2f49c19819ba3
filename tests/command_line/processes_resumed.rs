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
/// No check in here takes so long on any machine, unless it hangs.
const HANGS: Duration = Duration::from_secs(200);

fn command(flags: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fabius"));
    command.env("FABIUS_CACHE", "off").args(["check", "--json", "--no-schedule", "--property", "safety"]).args(flags);
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
    let keys = ["verdict", "exhaustive", "states", "transitions", "matched", "depth", "violation_count"];
    let steps = property["violations"][0]["steps"].clone();
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
        let (code, whole) = check(&flags);
        let (mut max, mut stops) = (5_000, 0);
        let (resumed_code, resumed) = loop {
            let limit = max.to_string();
            let resume = if stops == 0 { &[][..] } else { &["--resume", &file] };
            let kept = ["--max-states", &limit, "--checkpoint", &file];
            let (code, report) = check(&[&flags, resume, &kept].concat());
            if code != 2 {
                break (code, report);
            }
            let reason = report["properties"][0]["reason"].as_str().expect("a reason");
            assert!(reason.ends_with(&format!("; resume with `--resume {file}`")) || code == 1, "{reason}");
            assert_eq!(parts(&scratch).len(), processes.parse::<usize>().expect("a number"), "{:?}", parts(&scratch));
            (max, stops) = (max * 3, stops + 1);
        };
        assert!(stops > 1, "it was not interrupted");
        assert_eq!((resumed_code, told(&resumed)), (code, told(&whole)), "{flags:?}");
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
