//! A search in the order of delays that is kept in a file and resumed by another run of the binary: the same verdict and the same
//! states as a search that was not interrupted, and a refusal where that cannot be.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A fresh folder that is removed again.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("fabius-kept-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("a folder can be made");
        Self(path)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn model(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("models/families").join(name).display().to_string()
}

/// The exit code and the report of a check.
pub(super) fn report(flags: &[&str]) -> (i32, Value) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fabius"));
    command.env("FABIUS_CACHE", "off").args(["check", "--json"]).args(flags);
    let output = command.stdin(Stdio::null()).output().expect("the binary runs");
    let report = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
    let code = output.status.code().unwrap_or(-1);
    assert!((0..4).contains(&code), "{code}: {}", String::from_utf8_lossy(&output.stderr));
    (code, report)
}

/// The same of a check of safety, if the flags name no property.
fn check(flags: &[&str]) -> (i32, Value) {
    let property = if flags.contains(&"--property") { &[][..] } else { &["--property", "safety"] };
    report(&[flags, property].concat())
}

/// Checks with a limit that grows by `step` states, until there is a verdict; says how often it was interrupted, and tells of each time
/// the report and the limit.
pub(super) fn in_pieces(flags: &[&str], file: &str, step: u64, interrupted: impl Fn(&Value, u64)) -> (i32, Value, u32) {
    let (mut limit, mut stops) = (step, 0);
    loop {
        let max = limit.to_string();
        let mut all = [flags, &["--max-states", &max, "--checkpoint", file]].concat();
        if stops > 0 {
            all.extend(["--resume", file]);
        }
        let (code, report) = check(&all);
        if code != 2 {
            return (code, report, stops);
        }
        interrupted(&report, limit);
        stops += 1;
        limit += step;
        assert!(stops < 100, "no end: {report}");
    }
}

fn same(flags: &[&str], step: u64) {
    let scratch = Scratch::new(&format!("same-{step}"));
    let (code, whole) = check(flags);
    let (resumed_code, resumed, stops) = in_pieces(flags, &scratch.path("search"), step, |_, _| ());
    assert!(stops > 1, "{flags:?} was not interrupted");
    assert_eq!(resumed_code, code, "{resumed}");
    let (one, other) = (&resumed["properties"][0], &whole["properties"][0]);
    for key in ["verdict", "states", "transitions", "matched", "depth", "exhaustive"] {
        assert_eq!(one[key], other[key], "{flags:?}: {key}");
    }
    // The limit also bounds the look for a clearer run to an error, so the run that is told may be another.
    if code == 0 {
        assert_eq!(one["reason"], other["reason"], "{flags:?}");
    }
    let delays = |property: &Value| property["violations"][0]["delays"].as_array().map(Vec::len);
    assert_eq!(delays(one), delays(other), "{flags:?}");
}

#[test]
fn a_proof_in_pieces_is_the_same_proof() {
    same(&["--delay", "rtc", "-DN=2", &model("german.pml")], 700);
}

#[test]
fn an_error_is_found_by_whoever_resumes() {
    same(&["--delay", "rr", "-DN=3", "-DBUG", &model("lann.pml")], 9);
}

#[test]
fn what_is_proved_exactly_or_by_depth_in_pieces_is_the_same_proof() {
    same(&["--delay", "rtc", "--delay-mode", "exact", "-DN=2", &model("german.pml")], 800);
    same(&["--depth-bound", "1000", "--depth-increment", "7", "-DN=2", &model("german.pml")], 900);
}

#[test]
fn an_error_at_some_depth_is_found_by_whoever_resumes() {
    same(&["--depth-bound", "1000", "--depth-increment", "5", "-DN=3", "-DBUG", &model("lann.pml")], 200);
}

/// Between two rounds: with one delay, or step, more each time.
fn rounds_add_up(flags: &[&str], bound: &str, bounds: [&str; 3]) {
    let scratch = Scratch::new(&format!("rounds{bound}-{}", flags.len()));
    let file = scratch.path("search");
    let flags = [flags, &["--property", "progress"]].concat();
    let (code, whole) = check(&[&flags[..], &[bound, bounds[2]]].concat());
    check(&[&flags[..], &[bound, bounds[0], "--checkpoint", &file]].concat());
    check(&[&flags[..], &[bound, bounds[1], "--checkpoint", &file, "--resume", &file]].concat());
    let (resumed_code, resumed) = check(&[&flags[..], &[bound, bounds[2], "--resume", &file]].concat());
    assert_eq!(resumed_code, code, "{flags:?}: {resumed}");
    let (one, other) = (&resumed["properties"][0], &whole["properties"][0]);
    for key in ["verdict", "states", "transitions", "matched", "reason", "search"] {
        assert_eq!(one[key], other[key], "{flags:?}: {key}");
    }
}

#[test]
fn searches_for_endless_runs_go_on_between_rounds() {
    let planning = model("elevator_planning.pml");
    for cycles in ["map", "scc", "iterative-ndfs"] {
        let flags = ["--delay", "random", "--cycles", cycles, "-DN=2", &planning];
        rounds_add_up(&flags, "--max-delays", ["0", "1", "3"]);
    }
    let flags = ["--delay", "random", "--cycles", "map", "--threads", "2", "-DN=2", &planning];
    rounds_add_up(&flags, "--max-delays", ["0", "1", "3"]);
    rounds_add_up(&["--depth-increment", "10", "-DN=2", &planning], "--depth-bound", ["10", "20", "40"]);
}

#[test]
fn a_first_round_that_is_interrupted_leaves_nothing_and_says_so() {
    let scratch = Scratch::new("nothing");
    let (file, planning) = (scratch.path("search"), model("elevator_planning.pml"));
    for flags in [&["--delay", "rr"][..], &["--depth-bound", "90"]] {
        let few = ["--property", "progress", "--max-states", "20", "-DN=2", "--checkpoint", &file, &planning];
        let (code, report) = check(&[flags, &few].concat());
        assert_eq!(code, 2, "{report}");
        let note = report["findings"][0]["message"].as_str().unwrap_or_default();
        assert!(note.contains("no checkpoint was written"), "{report}");
        assert!(!Path::new(&file).exists());
    }
}

/// A checkpoint takes the place of the file before it; of anything else, it would be the end.
#[cfg(unix)]
#[test]
fn what_is_no_ordinary_file_is_left_alone() {
    let scratch = Scratch::new("socket");
    let (socket, planning) = (scratch.path("socket"), model("elevator_planning.pml"));
    let _listener = std::os::unix::net::UnixListener::bind(&socket).expect("a socket");
    let (code, report) = check(&["--delay", "rr", "--max-delays", "0", "-DN=2", "--checkpoint", &socket, &planning]);
    assert_eq!((code, report), (3, Value::Null));
    assert!(!std::fs::metadata(&socket).expect("still there").is_file());
}

/// So it is with a file in which there is something else, such as the model.
#[test]
fn what_is_no_checkpoint_is_not_replaced() {
    let scratch = Scratch::new("model");
    let copy = scratch.path("model.pml");
    std::fs::copy(model("elevator_planning.pml"), &copy).expect("copied");
    let before = std::fs::read(&copy).expect("there");
    let (code, report) = check(&["--delay", "rr", "--max-delays", "0", "-DN=2", "--checkpoint", &copy, &copy]);
    assert_eq!((code, report), (3, Value::Null));
    assert_eq!(std::fs::read(&copy).expect("still there"), before);
}

#[test]
fn a_file_holds_one_search_and_what_is_not_kept_is_told() {
    let scratch = Scratch::new("one");
    let (file, planning) = (scratch.path("search"), model("elevator_planning.pml"));
    let flags = ["--delay", "rr", "--max-delays", "0", "-DN=2", "--checkpoint", &file, &planning];
    let both = [&flags[..], &["--property", "safety", "--property", "progress"]].concat();
    let (_, report) = check(&both);
    let notes: Vec<&str> =
        report["findings"].as_array().into_iter().flatten().filter_map(|found| found["message"].as_str()).collect();
    assert!(notes.iter().any(|note| note.contains("does not hold the search for")), "{notes:?}");
    // What was kept is the search for violations of safety.
    let (code, report) = check(&[&flags[..5], &["--property", "progress", "--resume", &file, &planning]].concat());
    assert_eq!(code, 3, "{report}");
    let why = report["findings"][0]["message"].as_str().unwrap_or_default();
    assert!(why.contains("the model was another") || why.contains("the property was another"), "{why}");
    for flags in [&["--keep-going"][..], &["--delay-mode", "sample"]] {
        let drawn = flags.contains(&"sample");
        let (code, report) = check(&[&["--delay", "rr", "-DN=2", &planning], flags, &["--resume", &file]].concat());
        assert_eq!(code, 3, "{flags:?}: {report}");
        let why = report["findings"][0]["message"].as_str().unwrap_or_default();
        assert!(!drawn || why.contains("`--resume FILE` cannot be combined"), "{flags:?}: {why}");
    }
}

#[test]
fn of_several_formulas_the_first_search_is_kept_and_goes_on() {
    let scratch = Scratch::new("formulas");
    let (file, counters) = (scratch.path("search"), scratch.path("counters.pml"));
    let text = "byte a, b;
        active proctype A() { do :: a < 12 -> a++ :: a > 0 -> a-- od }
        active proctype B() { do :: b < 12 -> b++ :: b > 0 -> b-- od }
        ltl low { [] (a < 13) }
        ltl left { [] (b < 13) }";
    std::fs::write(&counters, text).expect("the model is written");
    for order in [&["--delay", "rtc"][..], &["--depth-bound", "200", "--depth-increment", "4"]] {
        let _ = std::fs::remove_file(&file);
        let asked = [order, &["--property", "left", "--property", "low", &counters]].concat();
        let (code, whole) = check(&asked);
        assert_eq!(code, 0, "{whole}");
        let (code, report) = check(&[&asked[..], &["--max-states", "150", "--checkpoint", &file]].concat());
        assert_eq!(code, 2, "{report}");
        let notes: Vec<&Value> = report["findings"].as_array().into_iter().flatten().collect();
        let [note] = notes.as_slice() else { panic!("one search is not kept: {notes:?}") };
        let (kept, other) = (&whole["properties"][0]["name"], &whole["properties"][1]["name"]);
        let (kept, other) = (kept.as_str().expect("a name"), other.as_str().expect("a name"));
        assert_eq!(note["message"], format!("the checkpoint does not hold the search for `{other}`"));
        let help =
            format!("a checkpoint holds one search, here the one for `{kept}`; `--property {other}` saves this one");
        assert!(note.to_string().contains(&help), "{note}");
        let (code, resumed) = check(&[&asked[..], &["--resume", &file]].concat());
        assert_eq!(code, 0, "{resumed}");
        for (one, all) in [0, 1].map(|index| (&resumed["properties"][index], &whole["properties"][index])) {
            for key in ["name", "verdict", "states", "transitions", "reason"] {
                assert_eq!(one[key], all[key], "{order:?}: {key}");
            }
        }
        let (code, refused) = check(&[order, &["--property", other, "--resume", &file, &counters]].concat());
        assert_eq!(code, 3, "the file is of another search: {refused}");
    }
}

#[test]
fn a_file_that_cannot_be_used_is_refused_with_the_reason() {
    let scratch = Scratch::new("refused");
    let file = scratch.path("search");
    let (german, lann) = (model("german.pml"), model("lann.pml"));
    let (code, _) = check(&["--delay", "rtc", "-DN=2", "--max-states", "500", "--checkpoint", &file, &german]);
    assert_eq!(code, 2);
    let refusal = |flags: &[&str]| {
        let (code, report) = check(&[flags, &["--resume", &file]].concat());
        assert_eq!(code, 3, "{flags:?}: {report}");
        report["findings"][0]["message"].as_str().unwrap_or_default().to_owned()
    };
    assert!(refusal(&["--delay", "rtc", &lann]).contains("the model was another"));
    assert!(refusal(&["--delay", "rtc", "-DN=3", &german]).contains("the model was another"));
    assert!(refusal(&["--delay", "rr", "-DN=2", &german]).contains("the scheduler was another"));
    let exact = ["--delay", "rtc", "--delay-mode", "exact", "-DN=2", &german];
    assert!(refusal(&exact).contains("the kind of search was another"));
    assert!(refusal(&["--depth-bound", "20", "-DN=2", &german]).contains("the kind of search was another"));
    let good = std::fs::read(&file).expect("it was written");
    std::fs::write(&file, &good[..good.len() / 2]).expect("written");
    assert!(refusal(&["--delay", "rtc", "-DN=2", &german]).contains("damaged"));
    std::fs::write(&file, "something else").expect("written");
    assert!(refusal(&["--delay", "rtc", "-DN=2", &german]).contains("not a checkpoint"));
    let missing = scratch.path("missing");
    assert_eq!(check(&["--delay", "rtc", "--resume", &missing, &german]).0, 3);
    let left: Vec<_> = std::fs::read_dir(&scratch.0).expect("the folder").flatten().collect();
    assert_eq!(left.len(), 1, "nothing lies about: {left:?}");
}

#[test]
fn layout_does_not_matter_and_the_bound_may_grow() {
    let scratch = Scratch::new("grown");
    let file = scratch.path("search");
    let text = std::fs::read_to_string(model("lcr.pml")).expect("there");
    let (first, second) = (scratch.path("first.pml"), scratch.path("second.pml"));
    std::fs::write(&first, format!("{text}\nltl few {{ [] (_nr_pr < 99) }}\n")).expect("written");
    let again = format!("/* Read again. */\n\n{text}\nltl few {{ [](_nr_pr  <  99) }}\n");
    std::fs::write(&second, again).expect("written");
    let flags = ["--delay", "rtc", "-DN=3", "--property", "safety"];
    check(&[&flags[..], &["--max-delays", "1", "--checkpoint", &file, &first]].concat());
    let (code, resumed) = check(&[&flags[..], &["--max-delays", "3", "--resume", &file, &second]].concat());
    let (whole_code, whole) = check(&[&flags[..], &["--max-delays", "3", &second]].concat());
    assert_eq!((code, &resumed["properties"][0]["states"]), (whole_code, &whole["properties"][0]["states"]));
    assert_eq!(resumed["reason"], whole["reason"]);
}
