//! Two revisions of Fabius side by side: `cargo bench --bench revisions -- --before BINARY`.
//!
//! Big models of the corpus are searched by both in turn, all reachable states, by one thread and by two: the ratio of their
//! CPU times, each the least of some runs, without what comes after a search; models with few states tell how long a process takes to
//! begin, and are left out. Then every model of the corpus, up to a limit on states: whether states,
//! transitions and counterexamples are the same. Machines are shared; read ratios, not seconds.
//!
//! `-- --write` writes `docs/benchmarks.md`; `-- --runs N` changes the number of runs, `-- --states N` the limit; other words
//! select models.

use fabius_testkit::measure::{BIG_MODELS, Timed, corpus_models, geometric_mean, timed};
use serde_json::Value;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

struct Options {
    before: PathBuf,
    write: bool,
    runs: u32,
    /// Of each model of the corpus, this many states are compared.
    states: u64,
    only: Vec<String>,
}

/// A model with fewer states takes too short a time to be measured in whole processes.
const STATES_MIN: u64 = 500_000;

/// What a search reported.
#[derive(Clone, PartialEq)]
struct Searched {
    states: u64,
    transitions: u64,
    verdict: String,
    /// Kind, line and number of steps of each counterexample.
    counterexamples: Vec<(String, u64, u64)>,
}

fn main() {
    let Some(options) = options() else {
        println!("`-- --before BINARY` names the older program.");
        return;
    };
    let Some(models) = corpus_models() else { return };
    let chosen = |name: &str| options.only.is_empty() || options.only.iter().any(|word| name.contains(word.as_str()));
    let mut text = String::from(
        "| model | states | one thread, s before | after | before / after | two threads, s before | after | before / after |\n|---|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    let mut ratios = [Vec::new(), Vec::new()];
    for name in BIG_MODELS.iter().filter(|name| chosen(name)) {
        let path = models.join(name);
        if let Some(row) = path.is_file().then(|| speed(name, &path, &options, &mut ratios)).flatten() {
            println!("{row}");
            let _ = writeln!(text, "{row}");
        }
    }
    if let [Some(one), Some(two)] = ratios.map(|ratios| geometric_mean(&ratios)) {
        let _ = writeln!(text, "\nGeometric means: {one:.2} with one thread, {two:.2} with two.\n");
    }
    text.push_str(&counts(&models, &options, &chosen));
    println!("\n{text}");
    if options.write {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/benchmarks.md");
        fabius_testkit::page::put(&page, "revisions", &text).expect("docs/benchmarks.md can be written");
    }
}

fn options() -> Option<Options> {
    let (mut before, mut write, mut runs, mut states, mut only) = (None, false, 3, 20_000, Vec::new());
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--before" => before = arguments.next().map(PathBuf::from),
            "--write" => write = true,
            "--runs" => runs = arguments.next()?.parse().ok()?,
            "--states" => states = arguments.next()?.parse().ok()?,
            "--bench" => {}
            word => only.push(word.to_owned()),
        }
    }
    Some(Options { before: before?, write, runs, states, only })
}

/// One model searched by both revisions, with one thread and with two; nothing if one of them does not accept it, or if it is small.
fn speed(name: &str, path: &Path, options: &Options, ratios: &mut [Vec<f64>; 2]) -> Option<String> {
    let mut row = String::new();
    let mut states = 0;
    for (threads, ratios) in ["1", "2"].into_iter().zip(ratios) {
        let mut seconds = [f64::INFINITY; 2];
        let mut found = [None, None];
        for _ in 0..options.runs {
            for (revision, binary) in [options.before.as_path(), after()].into_iter().enumerate() {
                let (cpu, searched) = search(binary, path, &["--threads", threads])?;
                seconds[revision] = seconds[revision].min(cpu);
                found[revision] = Some(searched);
            }
        }
        let [before, now] = &found;
        let counts = |found: &Option<Searched>| found.as_ref().map(|found| (found.states, found.transitions));
        let differ = if counts(before) == counts(now) { "" } else { " (counts differ)" };
        states = now.as_ref()?.states;
        if states < STATES_MIN {
            return None;
        }
        let ratio = seconds[0] / seconds[1];
        ratios.push(ratio);
        let _ = write!(row, " {:.2} | {:.2}{differ} | {ratio:.2} |", seconds[0], seconds[1]);
    }
    Some(format!("| {name} | {states} |{row}"))
}

/// On how many models both revisions found the same, and on which they did not.
fn counts(models: &Path, options: &Options, chosen: &dyn Fn(&str) -> bool) -> String {
    let limit = options.states.to_string();
    let (mut same, mut refused, mut other) = (0, 0, Vec::new());
    for path in files(models) {
        let name = path.strip_prefix(models).unwrap_or(&path).display().to_string();
        if !chosen(&name) {
            continue;
        }
        let [before, now] =
            [options.before.as_path(), after()].map(|binary| search(binary, &path, &["--max-states", &limit]));
        match (before, now) {
            (Some((_, before)), Some((_, now))) if before == now => same += 1,
            (Some((_, before)), Some((_, now))) => other.push(format!(
                "`{name}`: {} states and {} transitions became {} and {}{}",
                before.states,
                before.transitions,
                now.states,
                now.transitions,
                if before.counterexamples == now.counterexamples { "" } else { ", with other counterexamples" },
            )),
            (None, None) => refused += 1,
            (before, _) => {
                let by = if before.is_some() { "the older" } else { "the newer" };
                other.push(format!("`{name}`: accepted by {by} only"));
            }
        }
    }
    let mut text = format!(
        "The first {limit} states of every model of the corpus: states, transitions and counterexamples are the same on {same} models, not on {}; {refused} are accepted by neither.\n",
        other.len()
    );
    for line in other {
        println!("{line}");
        let _ = write!(text, "\n* {line}");
    }
    text
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "pml" || ending == "prom" || ending == "pr") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn after() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_fabius"))
}

/// The flags of a revision that leave out what comes after the search, as far as it has such.
fn search_only(binary: &Path) -> Vec<&'static str> {
    let help = Command::new(binary).args(["check", "--help"]).output();
    let help = help.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let known = [vec!["--audit", "off"], vec!["--no-schedule"]];
    known.into_iter().filter(|flags| help.contains(flags[0])).flatten().collect()
}

/// Searches for violations of safety, without optimisation and reduction, depth-first: CPU seconds and what was found.
fn search(binary: &Path, model: &Path, flags: &[&str]) -> Option<(f64, Searched)> {
    let mut command = Command::new(binary);
    command.env("FABIUS_CACHE", "off").args(["check", "--json", "--keep-going", "--no-optimize", "--no-cache"]);
    command.args(["--property", "safety", "--search", "dfs"]).args(search_only(binary)).args(flags).arg(model);
    let Timed { cpu, text, .. } = timed(&mut command)?;
    let report: Value = serde_json::from_str(&text).ok()?;
    let property = report["properties"].as_array()?.iter().find(|property| property["kind"] == "safety")?;
    let mut counterexamples: Vec<_> = property["violations"]
        .as_array()?
        .iter()
        .filter_map(|one| Some((one["kind"].as_str()?.to_owned(), one["line"].as_u64()?, one["steps"].as_u64()?)))
        .collect();
    counterexamples.sort();
    let searched = Searched {
        states: property["states"].as_u64()?,
        transitions: property["transitions"].as_u64()?,
        verdict: property["verdict"].as_str()?.to_owned(),
        counterexamples,
    };
    Some((cpu, searched))
}
