//! Fabius and Spin side by side: `cargo bench --bench versus`.
//!
//! For each of some big models of the corpus: the time from source to verdict (`spin -a`, a C compiler and `pan`
//! against `fabius check`), the time of the search per transition, and the memory per state. Both
//! explore the same states, without reduction and without optimisation; a row whose counts differ says so. Fabius searches by one
//! thread, in the order that it takes by itself and depth-first as `pan` does. CPU time
//! is what is compared, the least of some runs, since machines are shared; read ratios, not seconds.
//!
//! `-- --write` writes `docs/benchmarks.md`; `-- --runs N` changes the number of runs; other words select models.

use fabius_needs::spin::{AS_WRITTEN, Compiler, Spin};
use fabius_testkit::measure::{BIG_MODELS, Options, Timed, geometric_mean, timed};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Below this many states much of the time is that of starting the programs.
const MILLION: u64 = 1_000_000;

/// One program's part in a row.
#[derive(Clone, Copy, Default)]
struct Cost {
    /// Before the search: generating and compiling.
    prepare_seconds: f64,
    /// The search itself.
    search_seconds: f64,
    states: u64,
    transitions: u64,
    bytes_per_state: f64,
}

impl Cost {
    /// Of the search, per transition.
    fn nanoseconds(&self) -> f64 {
        self.search_seconds * 1e9 / self.transitions.max(1) as f64
    }
}

struct Row {
    name: String,
    gcc: Option<Cost>,
    tcc: Option<Cost>,
    /// In the order that is taken where none is asked for.
    fabius: Option<Cost>,
    depth_first: Option<Cost>,
}

fn main() {
    let options = Options::read(2);
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let corpus = fabius_needs::corpus_folder();
    let models = corpus.join("models");
    if !models.is_dir() {
        println!("The corpus is not there (set FABIUS_CORPUS): nothing to measure.");
        return;
    }
    let mut rows = Vec::new();
    for name in BIG_MODELS {
        if !options.wants(name) {
            continue;
        }
        let path = models.join(name);
        if !path.is_file() {
            println!("{name}: not in this corpus");
            continue;
        }
        rows.push(measure(name, &path, options.runs));
        println!("{}", render_row(rows.last().expect("just pushed")));
    }
    let table = render(&rows);
    println!("\n{table}");
    if options.write {
        let page = root.join("docs/benchmarks.md");
        fabius_testkit::page::put(&page, "table", &table).expect("docs/benchmarks.md can be written");
    }
}

fn measure(name: &str, path: &Path, runs: u32) -> Row {
    let mut row = Row { name: name.to_owned(), gcc: None, tcc: None, fabius: None, depth_first: None };
    for _ in 0..runs {
        row.gcc = cheaper(row.gcc, spin(path, Compiler::Gcc, &["-O2"]));
        row.fabius = cheaper(row.fabius, fabius(path, &[]));
        row.depth_first = cheaper(row.depth_first, fabius(path, &["--search", "dfs"]));
        row.tcc = cheaper(row.tcc, spin(path, Compiler::Tcc, &[]));
    }
    row
}

fn cheaper(old: Option<Cost>, new: Option<Cost>) -> Option<Cost> {
    match (old, new) {
        (Some(a), Some(b)) => Some(Cost {
            prepare_seconds: a.prepare_seconds.min(b.prepare_seconds),
            search_seconds: a.search_seconds.min(b.search_seconds),
            ..b
        }),
        (a, b) => a.or(b),
    }
}

fn spin(path: &Path, compiler: Compiler, flags: &[&str]) -> Option<Cost> {
    let folder = Spin::on_file(path).ok()?;
    let generate = timed(&mut folder.generate(&AS_WRITTEN))?.cpu;
    let flags = [flags, &["-DSAFETY", "-DNOREDUCE", "-DNOCLAIM", "-DMEMLIM=16000"]].concat();
    let compile = timed(&mut folder.compile(compiler, &flags))?.cpu;
    let Timed { cpu: search, text, .. } = timed(&mut folder.verify(&["-c0", "-m10000000", "-w22"]))?;
    let states = number_before(&text, " states, stored")?;
    let memory = number_before(&text, "\ttotal actual memory usage").unwrap_or(0.0)
        - number_before(&text, "\tmemory used for DFS stack").unwrap_or(0.0);
    Some(Cost {
        prepare_seconds: generate + compile,
        search_seconds: search,
        states: states as u64,
        transitions: number_before(&text, " transitions (= stored+matched)")? as u64,
        bytes_per_state: memory * 1024.0 * 1024.0 / states,
    })
}

/// The number that stands before a text, on the line where it occurs first.
fn number_before(text: &str, marker: &str) -> Option<f64> {
    let line = text.lines().find(|line| line.contains(marker))?;
    line[..line.find(marker)?].split_whitespace().last()?.parse().ok()
}

fn fabius(path: &Path, flags: &[&str]) -> Option<Cost> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fabius"));
    command.env("FABIUS_CACHE", "off");
    command.args(["check", "--json", "--keep-going", "--no-optimize", "--no-cache", "--property", "safety"]);
    command.args(["--no-reduction", "--no-schedule", "--audit", "off", "--threads", "1"]).args(flags).arg(path);
    let Timed { cpu: seconds, text, .. } = timed(&mut command)?;
    let report: serde_json::Value = serde_json::from_str(&text).ok()?;
    let property = report["properties"].as_array()?.iter().find(|property| property["kind"] == "safety")?;
    Some(Cost {
        prepare_seconds: 0.0,
        search_seconds: seconds,
        states: property["states"].as_u64()?,
        transitions: property["transitions"].as_u64()?,
        bytes_per_state: property["bytes_per_state"].as_f64()?,
    })
}

fn render_row(row: &Row) -> String {
    let (Some(gcc), Some(fabius), Some(depth_first)) = (row.gcc, row.fabius, row.depth_first) else {
        return format!("| {} | not measured | | | | | | | | | |", row.name);
    };
    let whole = |cost: Cost| cost.prepare_seconds + cost.search_seconds;
    let same = fabius.states == gcc.states && depth_first.states == gcc.states;
    let differ = if same { "" } else { " (counts differ!)" };
    let tcc = row.tcc.map_or("–".to_owned(), |tcc| format!("{:.1}×", whole(tcc) / whole(fabius)));
    let ratio = |cost: Cost| format!("{:.0}, {:.2}", cost.nanoseconds(), cost.nanoseconds() / gcc.nanoseconds());
    format!(
        "| {}{differ} | {} | {} | {:.2} + {:.2} | {:.2} | {:.1}× | {tcc} | {:.0} | {} | {} | {:.0} / {:.1} |",
        row.name,
        fabius.states,
        fabius.transitions,
        gcc.prepare_seconds,
        gcc.search_seconds,
        fabius.search_seconds,
        whole(gcc) / whole(fabius),
        gcc.nanoseconds(),
        ratio(fabius),
        ratio(depth_first),
        gcc.bytes_per_state,
        fabius.bytes_per_state,
    )
}

fn render(rows: &[Row]) -> String {
    let mut text = String::from(
        "| model | states | transitions | Spin: prepare + search, s | Fabius, s | source to verdict, against gcc -O2 | against tcc | `pan`: ns per transition | Fabius: ns, ratio | depth-first: ns, ratio | bytes per state, pan / Fabius |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    for row in rows {
        let _ = writeln!(text, "{}", render_row(row));
    }
    let _ = writeln!(text, "\nGeometric means of time per transition, Fabius / `pan`:\n");
    for (which, states_min) in [("all models", 0), ("those of more than a million states", MILLION)] {
        let large: Vec<(Cost, Cost, Cost)> = rows
            .iter()
            .filter_map(|row| Some((row.gcc?, row.fabius?, row.depth_first?)))
            .filter(|(gcc, ..)| states_min < gcc.states)
            .collect();
        let mean = |of: fn(&(Cost, Cost, Cost)) -> f64| geometric_mean(&large.iter().map(of).collect::<Vec<f64>>());
        let by_itself = mean(|(gcc, fabius, _)| fabius.nanoseconds() / gcc.nanoseconds());
        let depth_first = mean(|(gcc, _, depth_first)| depth_first.nanoseconds() / gcc.nanoseconds());
        if let (Some(by_itself), Some(depth_first)) = (by_itself, depth_first) {
            let models = large.len();
            let _ = writeln!(text, "* {which} ({models}): {by_itself:.2}; depth-first {depth_first:.2}");
        }
    }
    text
}
