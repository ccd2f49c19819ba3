//! A violation that one run found is known to the next one: what is told is what a fresh check tells.

use fabius_testkit::run::Run;
use fabius_testkit::scratch::Scratch;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Takes a while to check, whatever is asked: runs go on for long, and shorter ones are looked for.
pub const COUNTERS: &str = "byte a, b, c;\nltl p { []<> (a + b + c == 0) }\nltl q { [] (a + b + c < 90) }\n\
    active proctype P() {\n\
    do :: a < 30 -> a++ :: b < 30 -> b++ :: c < 30 -> c++\n\
    :: else -> assert(a + b + c < 90); a = 0 od }\n";

/// A model in a folder with a cache of its own.
pub struct Model {
    scratch: Scratch,
    pub path: String,
}

impl Model {
    pub fn new(text: &str) -> Self {
        let scratch = Scratch::new().expect("a folder");
        let path = scratch.file("m.pml", text);
        Self { scratch, path }
    }

    /// Where results are remembered.
    pub fn cache(&self) -> PathBuf {
        self.scratch.path().join("cache")
    }

    /// Checks it, with what is remembered.
    pub fn check(&self, args: &[&str]) -> Run {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fabius"));
        command.args(["check", &self.path]).args(args).current_dir(self.scratch.path()).stdin(Stdio::null());
        command.env("XDG_CACHE_HOME", self.cache()).env_remove("FABIUS_CACHE").env_remove("CLICOLOR_FORCE");
        Run::from(command.output().expect("the binary runs"))
    }

    /// The report of a property, and whether it is a remembered one.
    fn json(&self, args: &[&str]) -> (Value, bool) {
        let mut report = self.check(&[args, &["--json"]].concat()).expect(1).json();
        let property = report["properties"][0].as_object_mut().expect("a property");
        let is_cached = property.remove("cached").is_some();
        (report, is_cached)
    }
}

/// The files in a folder and below.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[test]
fn a_known_violation_is_told_as_a_fresh_one() {
    for property in ["safety", "p", "q"] {
        let model = Model::new(COUNTERS);
        let asked = ["--property", property];
        let with = |more: &[&'static str]| [&asked, more].concat();
        let first = model.check(&asked).expect(1);
        let again = model.check(&asked).expect(1);
        let line = again.out.lines().find(|line| line.starts_with("cached result from ")).unwrap_or_default();
        assert!(line.ends_with(" UTC; --no-cache checks again"), "{}", again.out);
        assert_eq!(again.out.replace(&format!("{line}\n"), ""), first.out);
        // The same figures, time included, as data.
        let ((report, is_cached), (known, is_known)) = (model.json(&with(&["--no-cache"])), model.json(&asked));
        assert_eq!((is_cached, is_known), (false, true));
        let placed = |report: &Value| report["properties"][0]["violations"].clone();
        assert_eq!(placed(&known), placed(&report));
        // Its files: as those of a fresh check.
        let written = |name: &str, more: &[&str]| {
            let path = model.scratch.path().join(name);
            model.check(&[&asked[..], &[&format!("--trail={}", path.display())], more].concat()).expect(1);
            std::fs::read_to_string(path).expect("a trail")
        };
        assert_eq!(written("known.trail", &[]), written("fresh.trail", &["--no-cache"]));
    }
}

#[test]
fn lines_are_those_of_the_present_text() {
    let model = Model::new(COUNTERS);
    let asked = ["--property", "safety"];
    let line = |report: &Value| report["properties"][0]["violations"][0]["line"].as_u64().expect("a line");
    let (first, _) = model.json(&asked);
    model.scratch.file("m.pml", format!("/* One. */\n/* Two. */\n{COUNTERS}"));
    let (moved, is_cached) = model.json(&asked);
    assert!(is_cached);
    assert_eq!(line(&moved), line(&first) + 2);
    let told = model.check(&asked).expect(1).out;
    assert!(told.contains(&format!("m.pml:{}", line(&moved))), "{told}");
}

#[test]
fn another_question_or_model_is_searched() {
    let model = Model::new(COUNTERS);
    let asked = |more: &[&'static str]| model.json(&[&["--property", "safety"], more].concat()).1;
    assert!(!asked(&[]));
    assert!(asked(&[]));
    let others: [&[&str]; 6] = [
        &["--search", "bfs"],
        &["--search", "dfs"],
        &["--keep-going"],
        &["--delay", "auto"],
        &["--max-depth", "1000"],
        &["--no-cache"],
    ];
    others.iter().for_each(|other| assert!(!asked(other), "{other:?}"));
    // All violations are looked for each time.
    assert!(!asked(&["--keep-going"]));
    // Each question has its own answer, and none takes the place of another one.
    assert!(asked(&["--search", "bfs"]) && asked(&["--delay", "auto"]) && asked(&[]) && asked(&["--no-schedule"]));
    model.scratch.file("m.pml", COUNTERS.replace("a + b + c < 90); a = 0", "a + b + c < 90); b = 0"));
    assert!(!asked(&[]));
}

#[test]
fn a_damaged_entry_is_no_violation() {
    let model = Model::new(COUNTERS);
    let asked = ["--property", "safety", "--no-schedule"];
    let (first, _) = model.json(&asked);
    let entries = files(&model.cache());
    let [entry] = entries.as_slice() else { panic!("one entry: {entries:?}") };
    let text = std::fs::read_to_string(entry).expect("an entry");
    let damages = [
        text[..text.len() / 2].to_owned(),
        text.replacen("\"path\":\"0.", "\"path\":\"1.", 1),
        text.replacen("\"states\":", "\"states\":1", 1),
        String::new(),
        "{}".to_owned(),
    ];
    for damage in damages {
        assert_ne!(damage, text);
        std::fs::write(entry, &damage).expect("it can be written");
        let (report, is_cached) = model.json(&asked);
        assert!(!is_cached, "{damage}");
        assert_eq!(report["properties"][0]["violations"], first["properties"][0]["violations"]);
        assert!(model.json(&asked).1);
    }
}

#[test]
fn of_a_check_that_is_known_in_part_only_the_rest_is_searched_and_it_says_which() {
    let model = Model::new(COUNTERS);
    model.check(&["--property", "p"]).expect(1);
    let told = model.check(&[]).expect(1);
    let line = told.out.lines().find(|line| line.starts_with("cached results: ")).expect("it says what is known");
    assert!(line.starts_with("cached results: p from 2") && !line.contains("q from"), "{line}");
    let report = model.check(&["--json"]).expect(1).json();
    let known = report["properties"].as_array().expect("properties").iter().map(|one| one["cached"].is_string());
    assert!(known.eq([true, true, true]), "all are known then: {report}");
    assert!(model.check(&[]).out.contains("\ncached result"), "{}", told.out);
}
