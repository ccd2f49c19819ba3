//! What several processes cost: `cargo bench --bench processes`.
//!
//! Big models of the corpus are searched breadth-first for violations of safety, all reachable states, by one thread and by two
//! processes in turn: CPU times, each the least of some runs, and memory. What a process takes to begin and what comes after the search
//! is in both, so models with few states are left out. Machines are shared; read ratios, not seconds.
//!
//! `-- --write` writes `docs/benchmarks.md`; `-- --runs N` changes the number of runs; other words select models.

use fabius_testkit::measure::{BIG_MODELS, Options, corpus_models, geometric_mean, timed};
use serde_json::Value;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

/// A model with fewer states takes too short a time to be measured in whole processes.
const STATES_MIN: u64 = 500_000;
const MEGABYTE: f64 = 1e6;

/// What a search took, and what it counted.
struct Searched {
    cpu: f64,
    elapsed: f64,
    states: u64,
    transitions: u64,
    memory_bytes: f64,
}

fn main() {
    let options = Options::read(3);
    let Some(models) = corpus_models() else { return };
    let mut text = String::from(
        "| model | states | one thread, CPU s | two processes, CPU s | ratio | elapsed, one / two | memory, MB, one / two together |\n|---|--:|--:|--:|--:|--:|--:|\n",
    );
    let mut ratios = Vec::new();
    for name in BIG_MODELS.iter().filter(|name| options.wants(name)) {
        let path = models.join(name);
        let least = |flags: &[&str]| {
            let searched = (0..options.runs).filter_map(|_| search(&path, flags));
            searched.min_by(|one, other| one.cpu.total_cmp(&other.cpu))
        };
        let (Some(one), Some(two)) = (least(&[]), least(&["--processes", "2"])) else { continue };
        if one.states < STATES_MIN {
            continue;
        }
        let differ =
            if (one.states, one.transitions) == (two.states, two.transitions) { "" } else { " (counts differ)" };
        let ratio = two.cpu / one.cpu;
        ratios.push(ratio);
        let row = format!(
            "| {name} | {}{differ} | {:.2} | {:.2} | {ratio:.2} | {:.2} / {:.2} | {:.0} / {:.0} |",
            one.states,
            one.cpu,
            two.cpu,
            one.elapsed,
            two.elapsed,
            one.memory_bytes / MEGABYTE,
            two.memory_bytes / MEGABYTE,
        );
        println!("{row}");
        let _ = writeln!(text, "{row}");
    }
    if let Some(mean) = geometric_mean(&ratios) {
        let _ = writeln!(text, "\nGeometric mean of the ratios: {mean:.2} (goal 1.30).");
    }
    println!("\n{text}");
    if options.write {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/benchmarks.md");
        fabius_testkit::page::put(&page, "processes", &text).expect("docs/benchmarks.md can be written");
    }
}

/// Searches all reachable states for violations of safety.
fn search(model: &Path, flags: &[&str]) -> Option<Searched> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fabius"));
    command.env("FABIUS_CACHE", "off").args(["check", "--json", "--keep-going", "--no-cache", "--no-schedule"]);
    command.args(["--property", "safety", "--search", "bfs", "--audit", "off"]).args(flags).arg(model);
    let timed = timed(&mut command)?;
    let report: Value = serde_json::from_str(&timed.text).ok()?;
    let property = report["properties"].as_array()?.iter().find(|property| property["kind"] == "safety")?;
    Some(Searched {
        cpu: timed.cpu,
        elapsed: timed.elapsed,
        states: property["states"].as_u64()?,
        transitions: property["transitions"].as_u64()?,
        memory_bytes: property["memory_bytes"].as_f64()?,
    })
}
