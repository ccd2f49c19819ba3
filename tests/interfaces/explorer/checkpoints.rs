//! Searches saved in the explorer and resumed by `fabius check`, and the other way round.

use super::terminal::{Terminal, text};
use super::{binary, explore, model};
use fabius_testkit::scratch::Scratch;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const GERMAN: [&str; 5] = ["--property", "safety", "--delay", "rtc", "-DN=3"];

fn german() -> PathBuf {
    model("families/german.pml")
}

fn file(scratch: &Scratch, name: &str) -> String {
    scratch.path().join(name).to_str().expect("paths of tests are text").to_owned()
}

/// The exit code and the report of a check with these flags.
fn check(path: &Path, flags: &[&str]) -> (Option<i32>, Value) {
    let mut command = Command::new(binary());
    command.env("FABIUS_CACHE", "off").args(["check", "--json"]).args(flags).arg(path);
    let output = command.stdin(Stdio::null()).output().expect("the binary runs");
    (output.status.code(), serde_json::from_slice(&output.stdout).unwrap_or(Value::Null))
}

/// What a search with these flags finds if nobody interrupts it.
fn same(path: &Path, flags: &[&str], resumed: &[&str]) {
    let (whole_code, whole) = check(path, flags);
    let (code, resumed) = check(path, &[flags, resumed].concat());
    assert_eq!(code, whole_code, "{resumed}");
    for key in ["verdict", "states", "transitions", "reason"] {
        assert_eq!(resumed["properties"][0][key], whole["properties"][0][key], "{key}");
    }
}

/// Saves the search that is watched.
fn save(terminal: &mut Terminal, file: &str) -> String {
    terminal.keys("\x13");
    terminal.says("Save the search as");
    terminal.keys(&format!("\x15{file}\r"));
    terminal.until("it is saved", |screen| text(screen).contains("saved the"))
}

#[test]
fn a_search_that_ended_at_its_bound_is_saved_and_check_resumes_it() {
    let scratch = Scratch::new().expect("a directory");
    let file = file(&scratch, "a.search");
    let mut terminal = explore(&german(), &[&GERMAN[..], &["--max-delays", "1"]].concat());
    terminal.says("? safety");
    terminal.keys("`");
    let screen = save(&mut terminal, &file);
    assert!(screen.contains("saved the last checkpoint of the search for safety"), "{screen}");
    // Nobody replaces it by mistake.
    terminal.keys(&format!("\x13\x15{file}\r"));
    terminal.says("enter again replaces it");
    terminal.keys("\r");
    terminal.until("it is saved again", |screen| {
        text(screen).contains("saved the last checkpoint of the search for safety")
    });
    terminal.keys(&format!("\x13\x15{}\r", german().display()));
    terminal.says("not a checkpoint");
    terminal.keys("q");
    assert!(terminal.ended().success());
    same(&german(), &GERMAN, &["--resume", &file]);
}

#[test]
fn a_search_that_runs_is_saved_and_check_resumes_it() {
    let scratch = Scratch::new().expect("a directory");
    let file = file(&scratch, "a.search");
    let mut terminal = explore(&german(), &["--property", "safety", "--delay", "rtc", "-DN=5"]);
    terminal.keys("`");
    terminal.until("a round is complete", |screen| text(screen).contains("0 ✓"));
    // Halted, so that the next rounds do not come before it is saved.
    terminal.keys(" ");
    terminal.says("halted");
    let screen = save(&mut terminal, &file);
    assert!(screen.contains("saved the last completed round of the search for"), "{screen}");
    let (_, rounds) = screen.rsplit_once("complete up to ").expect("how far it was");
    let bound: u32 = rounds.split_whitespace().next().and_then(|word| word.parse().ok()).expect("a number");
    terminal.keys("q");
    assert!(terminal.ended().success());
    let more = (bound + 1).to_string();
    let flags = ["--property", "safety", "--delay", "rtc", "-DN=5", "--max-delays", &more];
    same(&german(), &flags, &["--resume", &file]);
}

#[test]
fn what_check_saved_is_resumed_and_kept_up_to_date() {
    let scratch = Scratch::new().expect("a directory");
    let (file, other) = (file(&scratch, "a.search"), file(&scratch, "b.search"));
    check(&german(), &[&GERMAN[..], &["--max-states", "1000", "--checkpoint", &file]].concat());
    let bound = ["--max-delays", "2"];
    let flags = [&GERMAN[..], &bound, &["--resume", &file, "--checkpoint", &other]].concat();
    let mut terminal = explore(&german(), &flags);
    terminal.says("? safety");
    terminal.keys("`");
    let (_, whole) = check(&german(), &[&GERMAN[..], &bound].concat());
    let states = whole["properties"][0]["states"].as_u64().expect("a number");
    let grouped = fabius_engine::words::grouped(states);
    terminal.until("all states of a search that nobody interrupted", |screen| {
        text(screen).lines().any(|line| line.starts_with("states") && line.contains(&format!(" {grouped} ")))
    });
    terminal.keys("q");
    assert!(terminal.ended().success());
    same(&german(), &GERMAN, &["--resume", &other]);
}

#[test]
fn whoever_quits_leaves_a_checkpoint_of_where_the_search_was() {
    let scratch = Scratch::new().expect("a directory");
    let file = file(&scratch, "a.search");
    let flags = ["--property", "safety", "--delay", "rtc", "-DN=5", "--checkpoint", &file];
    let mut terminal = explore(&german(), &flags);
    terminal.keys("`");
    terminal.until("a round is complete", |screen| text(screen).contains("0 ✓"));
    terminal.keys("q");
    assert!(terminal.ended().success());
    let bytes = std::fs::read(&file).expect("it was written");
    let summary = fabius_engine::CheckpointSummary::of(&bytes).expect("it is whole");
    let progress = summary.progress.expect("it says how far it is");
    let bound = progress.bound.expect("a round was complete").to_string();
    let (_, complete) = check(&german(), &["--property", "safety", "--delay", "rtc", "-DN=5", "--max-delays", &bound]);
    assert!(complete["properties"][0]["states"].as_u64() <= Some(progress.states), "not less than its rounds");
}

/// The number of states on a screen.
fn states_shown(screen: &str) -> Option<u64> {
    let line = screen.lines().find_map(|line| line.strip_prefix("states"))?;
    let digits: String = line.split('│').next()?.chars().filter(char::is_ascii_digit).collect();
    digits.parse().ok()
}

#[test]
fn a_depth_first_search_is_saved_where_it_is_left_and_resumed_from_there() {
    let scratch = Scratch::new().expect("a directory");
    let (file, other) = (file(&scratch, "a.search"), file(&scratch, "b.search"));
    let question = ["--property", "safety", "-DN=4"];
    let mut terminal = explore(&german(), &[&question[..], &["--checkpoint", &file]].concat());
    terminal.keys("`");
    terminal.says("rate");
    // It is stopped, and saved under another name, too.
    terminal.keys("X");
    terminal.says("? safety");
    let screen = save(&mut terminal, &other);
    assert!(screen.contains("saved the last checkpoint of the search for safety"), "{screen}");
    terminal.keys("q");
    assert!(terminal.ended().success());
    assert_eq!(std::fs::read(&file).expect("it was written"), std::fs::read(&other).expect("it was saved"));
    // The explorer resumes it, without a flag for its kind.
    let mut terminal = explore(&german(), &[&question[..], &["--no-check"]].concat());
    terminal.says("takes a step");
    terminal.keys(&format!("`\x0f\x15{other}\r"));
    let bytes = std::fs::read(&other).expect("it was saved");
    let saved = fabius_engine::CheckpointSummary::of(&bytes).expect("it is whole").progress.expect("how far it is");
    // That it comes to the same end is seen below, by a search that is shown to nobody and takes less time.
    terminal.until("more states than were saved", |screen| {
        states_shown(&text(screen)).is_some_and(|states| saved.states < states)
    });
    terminal.keys("q");
    assert!(terminal.ended().success());
    let (_, whole) = check(&german(), &[&question[..], &["--threads", "1", "--no-reduction"]].concat());
    let (code, resumed) = check(&german(), &[&question[..], &["--resume", &file]].concat());
    assert_eq!(code, Some(0), "{resumed}");
    for key in ["verdict", "states", "transitions"] {
        assert_eq!(resumed["properties"][0][key], whole["properties"][0][key], "{key}");
    }
}

#[test]
fn a_file_that_does_not_belong_is_refused_with_the_reason_of_check() {
    let scratch = Scratch::new().expect("a directory");
    let file = file(&scratch, "a.search");
    check(&german(), &[&GERMAN[..], &["--max-states", "1000", "--checkpoint", &file]].concat());
    let lann = model("families/lann.pml");
    let (code, report) = check(&lann, &["--property", "safety", "--delay", "rtc", "--resume", &file]);
    let why = report["findings"][0]["message"].as_str().expect("a reason");
    let (_, why) = why.split_once(": ").expect("the file, then why");
    assert_eq!((code, why), (Some(3), "it was written by a search in which the model was another"));
    let mut terminal = explore(&lann, &["--property", "safety", "--delay", "rtc", "--resume", &file]);
    terminal.until("the same", |screen| {
        let shown = screen.contents();
        let words: Vec<&str> = shown.split_whitespace().collect();
        words.join(" ").contains(why)
    });
    terminal.keys("q");
    assert!(terminal.ended().success());
}

#[test]
fn flags_that_cannot_be_are_refused_before_the_screen_is_taken() {
    let scratch = Scratch::new().expect("a directory");
    let (file, missing) = (file(&scratch, "a.search"), file(&scratch, "missing"));
    let german = german();
    let name = german.to_str().expect("paths of tests are text");
    let refusal = |flags: &[&str]| {
        let mut command = Command::new(binary());
        command.arg("explore").args(flags).arg(&german).stdin(Stdio::null());
        let output = command.output().expect("the binary runs");
        assert_eq!(output.status.code(), Some(3), "{flags:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(refusal(&["--delay", "rtc", "--keep-going", "--checkpoint", &file]).contains("cannot be combined"));
    assert!(refusal(&["--delay", "rtc", "--checkpoint", name]).contains("it is not a checkpoint"));
    assert!(refusal(&["--delay", "rtc", "--resume", &missing]).contains("cannot resume from"));
    let processes = ["--delay", "rtc", "--processes", "2", "--checkpoint", &file];
    assert!(refusal(&processes).contains("only `fabius check --checkpoint FILE` saves searches by several processes"));
    assert!(!Path::new(&file).exists());
    check(&german, &["--property", "safety", "--max-states", "100", "--checkpoint", &file]);
    let why = refusal(&["--delay", "rtc", "--resume", &file]);
    assert!(why.contains("it holds a depth-first search: leave out --delay and --depth-bound"), "{why}");
    std::fs::remove_file(&file).expect("it is there");
    check(&german, &[&GERMAN[..], &["--max-states", "1000", "--checkpoint", &file]].concat());
    let why = refusal(&["--resume", &file]);
    assert!(why.contains("it holds no depth-first search: give the flags with which it began"), "{why}");
    assert!(refusal(&["--checkpoint", &file, "--threads", "2"]).contains("cannot be combined"));
}
