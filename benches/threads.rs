//! What several threads gain: `cargo bench --bench threads`.
//!
//! Big models of the corpus are searched for violations of safety, all reachable states, by one thread and as Fabius does it if it is not
//! told otherwise, in turn: time and CPU time of the whole process, in the fastest of some runs. Those with half a million states count;
//! what becomes of smaller ones is told beside. Then some are searched for runs without progress, by one thread and by two.
//! Two cores have to be free: read ratios, and the load beside them.
//!
//! `-- --write` writes `docs/benchmarks.md`; `-- --runs N` changes the number of runs; other words select models.

use fabius_testkit::measure::{BIG_MODELS, Options, corpus_models, geometric_mean, timed};
use serde_json::Value;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

/// Models with this many states count …
const STATES_MIN: u64 = 500_000;
/// … and of smaller ones those that take one thread so long, in seconds: threads have hardly a part in them, and yet they can be measured.
const SHORT_SECONDS: std::ops::Range<f64> = 0.05..0.3;
/// The flags of a search for violations of safety.
const SAFETY: &[&str] = &["--property", "safety", "--audit", "off", "--keep-going"];
/// Models that are searched for runs without progress. The search of most others ends at one soon.
const ENDLESS: &[&str] = &[
    "case-studies/giop_giop1.nomig.pml",
    "case-studies/i-protocol_i3.pml",
    "dfsfifo/leader_DKR_derived_N6.pml",
    "dfsfifo/leader_t_derived_noNPC_N4.pml",
];
const PROGRESS: &[&str] = &["--property", "progress"];

/// What a search took, and what it counted.
struct Searched {
    cpu: f64,
    elapsed: f64,
    states: u64,
    transitions: u64,
    bytes_per_state: f64,
}

/// What one thread and several took for the same.
struct Row {
    one: Searched,
    several: Searched,
    text: String,
}

impl Row {
    fn time(&self) -> f64 {
        self.several.elapsed / self.one.elapsed
    }

    fn cpu(&self) -> f64 {
        self.several.cpu / self.one.cpu
    }
}

fn main() {
    let options = Options::read(3);
    let Some(models) = corpus_models() else { return };
    let text = [("threads", safety(&models, &options)), ("endless-threads", endless(&models, &options))];
    for (part, text) in text {
        println!("\n{text}");
        if options.write {
            let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/benchmarks.md");
            fabius_testkit::page::put(&page, part, &text).expect("docs/benchmarks.md can be written");
        }
    }
}

/// Searches for violations of safety, as they are begun by default.
fn safety(models: &Path, options: &Options) -> String {
    let rows = rows(models, options, BIG_MODELS, [&[SAFETY, &["--threads", "1"]].concat(), SAFETY]);
    let (large, small): (Vec<&Row>, Vec<&Row>) = rows.iter().partition(|row| STATES_MIN <= row.one.states);
    let mut text = String::from(
        "| model | states | one thread, s | default, s | default / one | CPU, default / one | bytes of the visited set for each state, one / default |\n|---|--:|--:|--:|--:|--:|--:|\n",
    );
    for row in &rows {
        let _ = writeln!(text, "{}", row.text);
    }
    let means = [Row::time, Row::cpu].map(|of| geometric_mean(&large.iter().map(|row| of(row)).collect::<Vec<_>>()));
    if let [Some(time), Some(cpu)] = means {
        let millions = large.iter().filter(|row| 1_000_000 <= row.one.states);
        let most = millions.map(|row| row.several.bytes_per_state).fold(0.0, f64::max);
        let _ = writeln!(
            text,
            "\nGeometric mean of the {} with half a million states: {time:.2} of the time with {cpu:.2} times the CPU (goals 0.60 and 1.15); with a million states, at most {most:.1} bytes of the visited set for each (goal 10).",
            large.len(),
        );
    }
    let short = small.iter().filter(|row| SHORT_SECONDS.contains(&row.one.elapsed));
    if let Some(worst) = short.map(|row| row.time()).max_by(f64::total_cmp) {
        let _ = writeln!(
            text,
            "\nOf the smaller ones that take one thread {:.2} to {:.2} s, the slowest takes {worst:.2} of its time (goal 1.05).",
            SHORT_SECONDS.start, SHORT_SECONDS.end,
        );
    }
    if let Some(load) = load() {
        let _ = writeln!(
            text,
            "\nLoad of the last minutes when they were done: {load}, of which these searches make up to 2."
        );
    }
    text
}

/// Searches for runs without progress, by two threads from the beginning.
fn endless(models: &Path, options: &Options) -> String {
    let flags = ["1", "2"].map(|threads| [PROGRESS, &["--threads", threads]].concat());
    let rows = rows(models, options, ENDLESS, [&flags[0], &flags[1]]);
    let mut text = String::from(
        "| model | states | one thread, s | two, s | two / one | CPU, two / one | bytes of the visited set for each state, one / two |\n|---|--:|--:|--:|--:|--:|--:|\n",
    );
    for row in &rows {
        let _ = writeln!(text, "{}", row.text);
    }
    let means = [Row::time, Row::cpu].map(|of| geometric_mean(&rows.iter().map(of).collect::<Vec<_>>()));
    if let [Some(time), Some(cpu)] = means {
        let _ = writeln!(text, "\nGeometric means: {time:.2} of the time with {cpu:.2} times the CPU (goal 1.25).");
    }
    text
}

/// Each model searched with both lists of flags, in turn, where both count the same.
fn rows(models: &Path, options: &Options, names: &[&str], flags: [&[&str]; 2]) -> Vec<Row> {
    let mut rows = Vec::new();
    for name in names.iter().filter(|name| options.wants(name)) {
        let path = models.join(name);
        let mut fastest: [Option<Searched>; 2] = [None, None];
        for _ in 0..options.runs {
            for (fastest, flags) in fastest.iter_mut().zip(flags) {
                let searched = search(&path, flags);
                let is_faster =
                    |searched: &Searched| !matches!(fastest, Some(other) if other.elapsed <= searched.elapsed);
                if let Some(searched) = searched.filter(is_faster) {
                    *fastest = Some(searched);
                }
            }
        }
        let [Some(one), Some(several)] = fastest else { continue };
        let same = (one.states, one.transitions) == (several.states, several.transitions);
        let mut row = Row { one, several, text: String::new() };
        row.text = format!(
            "| {name} | {}{} | {:.2} | {:.2} | {:.2} | {:.2} | {:.1} / {:.1} |",
            row.one.states,
            if same { "" } else { " (counts differ)" },
            row.one.elapsed,
            row.several.elapsed,
            row.time(),
            row.cpu(),
            row.one.bytes_per_state,
            row.several.bytes_per_state,
        );
        println!("{}", row.text);
        rows.push(row);
    }
    rows
}

/// Searches everything, and nothing else.
fn search(model: &Path, flags: &[&str]) -> Option<Searched> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fabius"));
    command.env("FABIUS_CACHE", "off").args(["check", "--json", "--no-cache", "--no-schedule"]);
    let timed = timed(command.arg("--no-reduction").args(flags).arg(model))?;
    let report: Value = serde_json::from_str(&timed.text).ok()?;
    let property = report["properties"].as_array()?.first()?;
    Some(Searched {
        cpu: timed.cpu,
        elapsed: timed.elapsed,
        states: property["states"].as_u64()?,
        transitions: property["transitions"].as_u64()?,
        bytes_per_state: property["bytes_per_state"].as_f64()?,
    })
}

/// The load averages that the system tells, if it does.
fn load() -> Option<String> {
    let told = std::fs::read_to_string("/proc/loadavg").ok()?;
    Some(told.split_whitespace().take(3).collect::<Vec<_>>().join(", "))
}
