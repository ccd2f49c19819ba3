//! Bad input beside the model: whatever stands in `fabius.toml` or among remembered results, the tool does not crash, and
//! no verdict is another one than without it.
//!
//! `FABIUS_MODELS=n` says how many damaged files are tried, `FABIUS_SEED=n` where to begin.

use fabius_testkit::generate::Dice;
use fabius_testkit::parallel;
use fabius_testkit::run::Run;
use fabius_testkit::scratch::Scratch;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What a project may say; of safety in these models, nothing of it changes the verdict.
const PROJECT: &str = "defines = [\"N=3\", \"M\"]\nproperties = [\"safety\"]\n[check]\nwhen = \"save\"\ndeep-seconds = 5\n\
    memory-mebibytes = 512\nfairness = \"weak\"\nscheduler = \"lazy\"\n[schedulers.lazy]\nbase = \"rr\"\norder = [\"Q\", \"P\"]\n\
    [expect.\"m.pml\"]\nsafety = \"violated\"\n";
const VIOLATED: &str = "byte x; active proctype P() { x = 1; assert(x == 0) }\n";
/// Takes enough states that its proof is remembered.
const HOLDS: &str = "byte a, b, c; active proctype P() { do :: a < 40 -> a++ :: b < 40 -> b++ :: c < BOUND -> c++\n\
    :: else -> a = 0; b = 0; c = 0 od }\n";

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// A text after an accident; the seed names it.
fn damaged(seed: u64, text: &[u8]) -> Vec<u8> {
    let (mut dice, mut text) = (Dice::new(seed), text.to_vec());
    match dice.below(5) {
        0 => text.truncate(dice.below(text.len())),
        1 => text = (0..dice.below(400)).map(|_| dice.below(256) as u8).collect(),
        2 => {
            let (from, to) = (dice.below(text.len()), dice.below(text.len()));
            text.drain(from.min(to)..from.max(to));
        }
        3 => {
            let (at, again) = (dice.below(text.len()), dice.below(text.len()));
            let piece = text[again..(again + 40).min(text.len())].to_vec();
            text.splice(at..at, piece);
        }
        _ => {
            for _ in 0..1 + dice.below(6) {
                let at = dice.below(text.len());
                text[at] = dice.below(256) as u8;
            }
        }
    }
    text
}

/// A check of the safety of a model; `cache` is where results are remembered.
fn check(model: &Path, cache: Option<&Path>) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fabius"));
    command.args(["check", "--json", "--property", "safety", "--timeout", "60s"]).arg(model).stdin(Stdio::null());
    match cache {
        Some(folder) => command.env("XDG_CACHE_HOME", folder).env_remove("FABIUS_CACHE"),
        None => command.env("FABIUS_CACHE", "off"),
    };
    command.output().expect("the binary runs").into()
}

/// What is wrong with an answer: none of the verdicts, or another one than the truth.
fn complaint(run: &Run, truth: &str) -> Option<String> {
    let Ok(report) = serde_json::from_str::<Value>(&run.out) else {
        return Some(format!("no report, code {}: {}", run.code, run.err));
    };
    let misconfigured = || report["findings"][0]["code"] == "F0115" && run.code == 3;
    let right = report["properties"][0]["verdict"] == truth && (0..=1).contains(&run.code);
    (!right && !misconfigured()).then(|| format!("code {}: {}{}", run.code, run.out, run.err))
}

#[test]
fn a_damaged_project_is_an_error_or_changes_no_verdict() {
    let first = number("FABIUS_SEED", 1);
    let seeds: Vec<u64> = (first..first + number("FABIUS_MODELS", 60)).collect();
    let failures: Vec<String> = parallel::map(&seeds, |seed| {
        let scratch = Scratch::new().expect("a folder");
        let model = PathBuf::from(scratch.file("m.pml", VIOLATED));
        let project = damaged(*seed, PROJECT.as_bytes());
        scratch.file("fabius.toml", &project);
        let why = complaint(&check(&model, None), "violated")?;
        Some(format!("seed {seed}: {why}\n{}", String::from_utf8_lossy(&project)))
    })
    .into_iter()
    .flatten()
    .collect();
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
}

/// The files in a folder and below.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// A model, the states of its proof, and what is remembered of it in a cache of its own.
fn proved(scratch: &Scratch, name: &str, bound: u32) -> (PathBuf, Value, PathBuf, Vec<u8>) {
    let model = PathBuf::from(scratch.file(name, HOLDS.replace("BOUND", &bound.to_string())));
    let cache = scratch.path().join(format!("{name}-cache"));
    let states = check(&model, Some(&cache)).expect(0).json()["properties"][0]["states"].clone();
    let known = files(&cache);
    assert_eq!(known.len(), 1, "the proof is remembered: {known:?}");
    let entry = std::fs::read(&known[0]).expect("it can be read");
    (model, states, known[0].clone(), entry)
}

#[test]
fn a_damaged_memory_changes_no_verdict() {
    let scratch = Scratch::new().expect("a folder");
    let (model, states, place, entry) = proved(&scratch, "one.pml", 20);
    let cache = scratch.path().join("one.pml-cache");
    let (_, other_states, _, other) = proved(&scratch, "two.pml", 22);
    assert_ne!(states, other_states);
    let answers = |entry: &[u8]| {
        std::fs::write(&place, entry).expect("it can be written");
        let run = check(&model, Some(&cache));
        assert_eq!(complaint(&run, "holds"), None);
        let property = run.json()["properties"][0].clone();
        assert_eq!(property["states"], states, "{}", String::from_utf8_lossy(entry));
        property["cached"].is_string()
    };
    assert!(answers(&entry), "what is whole is believed");
    assert!(!answers(&other), "what is about another model is not");
    let first = number("FABIUS_SEED", 1);
    for seed in first..first + number("FABIUS_MODELS", 60) / 10 {
        let bad = damaged(seed, &entry);
        assert!(!answers(&bad) || bad == entry, "seed {seed}");
    }
    // What was remembered of the model says nothing of another one in its place.
    std::fs::write(&place, &entry).expect("it can be written");
    std::fs::write(&model, VIOLATED).expect("it can be written");
    assert_eq!(complaint(&check(&model, Some(&cache)), "violated"), None);
}
