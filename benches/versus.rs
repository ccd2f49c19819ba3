//! Fabius and Spin side by side: `cargo bench --bench versus`.
//!
//! For each of some big models of the corpus: the time from source to verdict (`spin -a`, a C compiler and `pan`
//! against `fabius check`), the time of the search per transition, and the memory per state. Both
//! explore the same states, without reduction and without optimisation; a row whose counts differ says so. User CPU time
//! is what is compared, the least of some runs, since machines are shared; read ratios, not seconds.
//!
//! `-- --write` writes `docs/benchmarks.md`; `-- --runs N` changes the number of runs; other words select models.

use fabius_needs::spin::{AS_WRITTEN, Compiler, Spin};
use fabius_testkit::measure::{BIG_MODELS, Options, Timed, geometric_mean, timed};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

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

struct Row {
    name: String,
    gcc: Option<Cost>,
    tcc: Option<Cost>,
    fabius: Option<Cost>,
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
    let mut row = Row { name: name.to_owned(), gcc: None, tcc: None, fabius: None };
    for _ in 0..runs {
        row.gcc = cheaper(row.gcc, spin(path, Compiler::Gcc, &["-O2"]));
        row.fabius = cheaper(row.fabius, fabius(path));
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

fn fabius(path: &Path) -> Option<Cost> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fabius"));
    command.env("FABIUS_CACHE", "off");
    command.args(["check", "--json", "--keep-going", "--no-optimize", "--no-cache", "--property", "safety"]);
    command.args(["--search", "dfs"]).arg(path);
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
    let (Some(gcc), Some(fabius)) = (row.gcc, row.fabius) else {
        return format!("| {} | not measured | | | | | | | |", row.name);
    };
    let whole = |cost: Cost| cost.prepare_seconds + cost.search_seconds;
    let per_transition = |cost: Cost| cost.search_seconds * 1e9 / cost.transitions.max(1) as f64;
    let differ = if gcc.states == fabius.states { "" } else { " (counts differ!)" };
    let tcc = row.tcc.map_or("–".to_owned(), |tcc| format!("{:.1}×", whole(tcc) / whole(fabius)));
    format!(
        "| {}{differ} | {} | {} | {:.2} + {:.2} | {:.2} | {:.1}× | {tcc} | {:.0} / {:.0} = {:.2} | {:.0} / {:.1} |",
        row.name,
        fabius.states,
        fabius.transitions,
        gcc.prepare_seconds,
        gcc.search_seconds,
        fabius.search_seconds,
        whole(gcc) / whole(fabius),
        per_transition(fabius),
        per_transition(gcc),
        per_transition(fabius) / per_transition(gcc),
        gcc.bytes_per_state,
        fabius.bytes_per_state,
    )
}

fn render(rows: &[Row]) -> String {
    let mut text = String::from(
        "| model | states | transitions | Spin: prepare + search, s | Fabius, s | source to verdict, against gcc -O2 | against tcc | ns per transition, Fabius / pan | bytes per state, pan / Fabius |\n|---|---|---|---|---|---|---|---|---|\n",
    );
    for row in rows {
        let _ = writeln!(text, "{}", render_row(row));
    }
    let ratios: Vec<f64> = rows
        .iter()
        .filter_map(|row| {
            let (gcc, fabius) = (row.gcc?, row.fabius?);
            let per = |cost: Cost| cost.search_seconds / cost.transitions.max(1) as f64;
            Some(per(fabius) / per(gcc))
        })
        .collect();
    if let Some(mean) = geometric_mean(&ratios) {
        let _ = writeln!(
            text,
            "\nGeometric mean of time per transition, Fabius / pan: {mean:.2} over {} models.",
            ratios.len()
        );
    }
    text
}
