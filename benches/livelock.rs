//! The tables of the livelock paper, remade: `cargo bench --bench livelock`.
//!
//! Laarman and Faragó, *Improved on-the-fly livelock detection* (NFM 2013), compare DFS-FIFO with depth-first search
//! and nested depth-first search; so does this, with `pan` beside it, on the same models as far as the corpus has
//! them. Every figure is the user CPU time or the count of one run; machines are shared, so read ratios.
//!
//! `-- --write` writes `docs/experiments/livelock.md`; other words select models.

use fabius_needs::spin::{Compiler, Spin};
use fabius_testkit::measure::{Timed, timed};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Models with progress labels: name and file.
const MODELS: &[(&str, &str)] = &[
    ("leader_t, N=4", "dfsfifo/leader_t_derived_noNPC_N4.pml"),
    ("leader_t, N=5", "dfsfifo/leader_t_derived_noNPC_N5.pml"),
    ("i-protocol i3", "case-studies/i-protocol_i3.pml"),
    ("giop1, no migration", "case-studies/giop_giop1.nomig.pml"),
    ("garp", "case-studies/garp_garp.pml"),
    ("leader_DKR, N=5", "dfsfifo/leader_DKR_derived_N5.pml"),
    ("leader_DKR, N=6", "dfsfifo/leader_DKR_derived_N6.pml"),
];
/// Models of growing size.
const GROWING: &[(&str, &str)] = &[
    ("3", "dfsfifo/leader_DKR_derived_N3.pml"),
    ("4", "dfsfifo/leader_DKR_derived_N4.pml"),
    ("5", "dfsfifo/leader_DKR_derived_N5.pml"),
    ("6", "dfsfifo/leader_DKR_derived_N6.pml"),
];
/// Models with a livelock.
const SEEDED: &[(&str, &str)] = &[
    ("shallow: TimingWithoutTimeout9", "ltsmin/TimingWithoutTimeout9OnTheFlynessShallow.pml"),
    ("leader_t with a livelock, N=5", "dfsfifo/leader_t_derived_NPC_N5.pml"),
    ("leader_t with a livelock, N=7", "dfsfifo/leader_t_derived_NPC_N7.pml"),
];
/// A run may take so long.
const LIMIT: &str = "100";

/// What a run took and found.
#[derive(Clone, Copy)]
struct Run {
    seconds: f64,
    /// Wall-clock time.
    elapsed: f64,
    states: u64,
    done: bool,
    /// Length of the counterexample, if one was found.
    length: Option<u64>,
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let write = words.iter().any(|word| word == "--write");
    let only: Vec<&String> = words.iter().filter(|word| !word.starts_with("--")).collect();
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let corpus = fabius_needs::corpus_folder();
    let models = corpus.join("models");
    if !models.is_dir() {
        println!("The corpus is not there (set FABIUS_CORPUS): nothing to measure.");
        return;
    }
    let chosen = |list: &[(&'static str, &'static str)]| -> Vec<(&'static str, PathBuf)> {
        let wanted = |name: &str| only.is_empty() || only.iter().any(|word| name.contains(word.as_str()));
        let there = list.iter().map(|(name, file)| (*name, models.join(file)));
        there.filter(|(name, path)| wanted(name) && path.is_file()).collect()
    };
    let mut text = String::new();
    text.push_str(&searches(&chosen(MODELS)));
    text.push_str(&reductions(&chosen(MODELS)));
    text.push_str(&growth(&chosen(GROWING)));
    text.push_str(&on_the_fly(&chosen(SEEDED)));
    println!("{text}");
    if write {
        let page = root.join("docs/experiments/livelock.md");
        fabius_testkit::page::put(&page, "tables", &text).expect("the page can be written");
    }
}

/// Table 3's shape: states and time of the searches.
fn searches(models: &[(&str, PathBuf)]) -> String {
    let mut text = String::from(
        "## The searches, without reduction\n\n\
         States, and user CPU seconds (of `pan`: of the search alone, compiled with `-O2 -DNOREDUCE`).\n\n\
         | model | DFS | DFS-FIFO | FIFO / DFS | NDFS on the product | NDFS / FIFO | pan DFS | pan NDFS (`-DNP -l`) |\n\
         |---|---|---|---|---|---|---|---|\n",
    );
    for (name, path) in models {
        let dfs = fabius(path, &["--property", "safety", "--search", "dfs", "--keep-going"]);
        let fifo = fabius(path, &["--property", "progress", "--no-reduction"]);
        let ndfs = fabius(path, &["--property", "progress", "--no-reduction", "--cycles", "ndfs"]);
        let pan_dfs = pan(path, &["-DSAFETY", "-DNOREDUCE", "-DNOCLAIM"], &["-c0"]);
        let pan_np = pan(path, &["-DNP", "-DNOREDUCE"], &["-l", "-A", "-E", "-c1"]);
        let row = format!(
            "| {name} | {} | {} | {} | {} | {} | {} | {} |",
            cell(dfs),
            cell(fifo),
            ratio(fifo, dfs),
            cell(ndfs),
            ratio(ndfs, fifo),
            cell(pan_dfs),
            cell(pan_np)
        );
        println!("{row}");
        let _ = writeln!(text, "{row}");
    }
    text.push('\n');
    text
}

/// Table 5's shape: how many of the states are left.
fn reductions(models: &[(&str, PathBuf)]) -> String {
    let mut text = String::from(
        "## What partial-order reduction leaves\n\n\
         States in per cent of those without reduction. *T*: progress on transitions, *S*: on states. The safety search\n\
         begins to reduce at 200 000 states; below that there is nothing to compare.\n\n\
         | model | DFS | FIFO^T | FIFO^S | pan DFS | pan NDFS |\n\
         |---|---|---|---|---|---|\n",
    );
    for (name, path) in models {
        let whole = fabius(path, &["--property", "safety", "--keep-going"]);
        let dfs = fabius(path, &["--property", "safety"]);
        let all = fabius(path, &["--property", "progress", "--no-reduction"]);
        let on_transitions = fabius(path, &["--property", "progress", "--progress", "transitions"]);
        let on_states = fabius(path, &["--property", "progress"]);
        let pan_all = pan(path, &["-DSAFETY", "-DNOREDUCE", "-DNOCLAIM"], &["-c0"]);
        let pan_dfs = pan(path, &["-DSAFETY", "-DNOCLAIM"], &["-c0"]);
        let pan_np_all = pan(path, &["-DNP", "-DNOREDUCE"], &["-l", "-A", "-E", "-c1"]);
        let pan_np = pan(path, &["-DNP"], &["-l", "-A", "-E", "-c1"]);
        let row = format!(
            "| {name} | {} | {} | {} | {} | {} |",
            share(dfs, whole),
            share(on_transitions, all),
            share(on_states, all),
            share(pan_dfs, pan_all),
            share(pan_np, pan_np_all)
        );
        println!("{row}");
        let _ = writeln!(text, "{row}");
    }
    text.push('\n');
    text
}

/// Table 6's shape: one model that grows.
fn growth(models: &[(&str, PathBuf)]) -> String {
    let mut text = String::from(
        "## leader_DKR, growing, with one and two threads\n\n\
         | N | DFS-FIFO | with reduction | two threads | CPU of two / one | CNDFS, two threads |\n|---|---|---|---|---|---|\n",
    );
    for (name, path) in models {
        let fifo = ["--property", "progress", "--progress", "transitions"];
        let whole = fabius(path, &[&fifo[..], &["--no-reduction"]].concat());
        let reduced = fabius(path, &fifo);
        let two = fabius(path, &[&fifo[..], &["--no-reduction", "--threads", "2"]].concat());
        let cndfs = fabius(path, &["--property", "progress", "--no-reduction", "--cycles", "ndfs", "--threads", "2"]);
        let elapsed = two.map_or(String::new(), |run| format!(", {:.2} s elapsed", run.elapsed));
        let row = format!(
            "| {name} | {} | {} | {}{elapsed} | {} | {} |",
            cell(whole),
            cell(reduced),
            cell(two),
            ratio(two, whole),
            cell(cndfs)
        );
        println!("{row}");
        let _ = writeln!(text, "{row}");
    }
    text.push('\n');
    text
}

/// How soon a livelock is found, and how long its run is.
fn on_the_fly(models: &[(&str, PathBuf)]) -> String {
    let mut text = String::from(
        "## Livelocks that are there\n\nStates and user CPU seconds until it is found, and the steps of the run.\n\n\
         | model | DFS-FIFO^T | DFS-FIFO^S | NDFS |\n|---|---|---|---|\n",
    );
    for (name, path) in models {
        let on_transitions = fabius(path, &["--property", "progress", "--progress", "transitions"]);
        let on_states = fabius(path, &["--property", "progress"]);
        let ndfs = fabius(path, &["--property", "progress", "--cycles", "ndfs"]);
        let found = |run: Option<Run>| match run {
            Some(Run { length: Some(length), .. }) => format!("{}, {length} steps", cell(run)),
            _ => format!("{}: none", cell(run)),
        };
        let row = format!("| {name} | {} | {} | {} |", found(on_transitions), found(on_states), found(ndfs));
        println!("{row}");
        let _ = writeln!(text, "{row}");
    }
    text
}

fn cell(run: Option<Run>) -> String {
    match run {
        None => "–".to_owned(),
        Some(run) => format!("{}{} / {:.2} s", if run.done { "" } else { "> " }, run.states, run.seconds),
    }
}

fn ratio(one: Option<Run>, other: Option<Run>) -> String {
    match (one, other) {
        (Some(one), Some(other)) if one.done && other.done => format!("{:.2}", one.seconds / other.seconds.max(0.001)),
        _ => "–".to_owned(),
    }
}

fn share(kept: Option<Run>, all: Option<Run>) -> String {
    match (kept, all) {
        (Some(kept), Some(all)) if kept.done && all.done => {
            format!("{:.1} %", 100.0 * kept.states as f64 / all.states as f64)
        }
        _ => "–".to_owned(),
    }
}

fn fabius(path: &Path, flags: &[&str]) -> Option<Run> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fabius"));
    command.args(["check", "--json", "--no-cache", "--timeout", LIMIT]).args(flags).arg(path);
    let Timed { cpu: seconds, elapsed, text } = timed(&mut command)?;
    let report: serde_json::Value = serde_json::from_str(&text).ok()?;
    let property = report["properties"].as_array()?.first()?;
    Some(Run {
        seconds,
        elapsed,
        states: property["states"].as_u64()?,
        done: property["verdict"] != "undecided",
        length: property["violations"][0]["steps"].as_u64(),
    })
}

fn pan(path: &Path, flags: &[&str], arguments: &[&str]) -> Option<Run> {
    let folder = Spin::on_file(path).ok()?;
    timed(&mut folder.generate(&[]))?;
    timed(&mut folder.compile(Compiler::Gcc, &[&["-O2", "-DMEMLIM=12000"], flags].concat()))?;
    let mut search = Command::new("timeout");
    search.arg(LIMIT).arg(folder.folder().join("pan")).args(arguments).args(["-m10000000", "-w22"]);
    let Timed { cpu: seconds, elapsed, text } = timed(search.current_dir(folder.folder()))?;
    let states = number_before(&text, " states, stored")? as u64;
    Some(Run { seconds, elapsed, states, done: !text.contains("Search not completed"), length: None })
}

/// The number that stands before a text, on the line where it occurs first.
fn number_before(text: &str, marker: &str) -> Option<f64> {
    let line = text.lines().find(|line| line.contains(marker))?;
    line[..line.find(marker)?].split_whitespace().last()?.parse().ok()
}
