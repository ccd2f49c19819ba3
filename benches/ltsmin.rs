//! Fabius and LTSmin side by side: `cargo bench --bench ltsmin`.
//!
//! On those models of the corpus that LTSmin's front end SpinS accepts: all reachable states, depth-first, states as trees, without
//! reduction, by one thread and by two, both programs in turn. Each has its own translation of the model, so the numbers of states and
//! transitions differ, and the time per transition is given beside the time. CPU times, the least of some runs: machines are shared, so read
//! ratios. What LTSmin takes before its search (SpinS in Java, then a C compiler) is given apart.
//!
//! LTSmin's programs `spins` and `prom2lts-mc` are looked for in the folder `FABIUS_LTSMIN`, or else in `PATH`. `FABIUS_PROGRAM` names
//! another build of Fabius. `-- --write` writes `docs/benchmarks.md`; `-- --runs N` changes the number of runs; other words select models.

use fabius_needs::ltsmin::{Explored, Ltsmin};
use fabius_testkit::measure::{BIG_MODELS, Options, Timed, corpus_models, geometric_mean, timed};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Models beside [`BIG_MODELS`].
const MODELS: &[&str] = &["case-studies/i-protocol_i3.pml"];
/// A run that fails is tried again until there were so many.
const ATTEMPTS: u32 = 20;
/// Numbers of threads.
const THREADS: [usize; 2] = [1, 2];

/// What a search took, and what it counted.
#[derive(Clone, Copy)]
struct Cost {
    seconds: f64,
    states: u64,
    transitions: u64,
    bytes_per_state: f64,
}

/// One model: by number of threads, both programs.
struct Row {
    name: String,
    /// SpinS and the C compiler.
    compile_seconds: f64,
    fabius: [Cost; 2],
    ltsmin: [Cost; 2],
}

fn main() {
    let options = Options::read(2);
    let Some(models) = corpus_models() else { return };
    if !Ltsmin::is_here() {
        println!(
            "LTSmin's programs `spins` and `prom2lts-mc` are not there (set FABIUS_LTSMIN to their folder): nothing to measure."
        );
        return;
    }
    let (mut rows, mut refused) = (Vec::new(), Vec::new());
    for &name in BIG_MODELS.iter().chain(MODELS) {
        let path = models.join(name);
        if !path.is_file() || !options.wants(name) {
            continue;
        }
        match measure(name, &path, options.runs) {
            Some(row) => {
                println!("{}", render_row(&row));
                rows.push(row);
            }
            None => {
                println!("{name}: not searched by both");
                refused.push(name);
            }
        }
    }
    let table = render(&rows, &refused);
    println!("\n{table}");
    if options.write {
        let page = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("docs/benchmarks.md");
        fabius_testkit::page::put(&page, "ltsmin", &table).expect("docs/benchmarks.md can be written");
    }
}

/// Both programs on a model; nothing if one of them does not accept it.
fn measure(name: &str, path: &Path, runs: u32) -> Option<Row> {
    let folder = Ltsmin::on_file(path).ok()?;
    let compile_seconds = timed(&mut folder.compile())?.cpu;
    if !folder.is_accepted() {
        return None;
    }
    let (mut fabius_best, mut ltsmin_best) = ([None; 2], [None; 2]);
    for _ in 0..runs.max(1) {
        for (at, threads) in THREADS.into_iter().enumerate() {
            ltsmin_best[at] = cheaper(ltsmin_best[at], ltsmin(&folder, threads)?);
            fabius_best[at] = cheaper(fabius_best[at], fabius(path, threads)?);
        }
    }
    let both = |best: [Option<Cost>; 2]| Some([best[0]?, best[1]?]);
    Some(Row { name: name.to_owned(), compile_seconds, fabius: both(fabius_best)?, ltsmin: both(ltsmin_best)? })
}

fn cheaper(old: Option<Cost>, new: Cost) -> Option<Cost> {
    Some(old.filter(|old| old.seconds <= new.seconds).unwrap_or(new))
}

/// A search by LTSmin. With two threads, some of its runs end at an assertion of its own while the model is loaded; these are run again.
fn ltsmin(folder: &Ltsmin, threads: usize) -> Option<Cost> {
    (0..ATTEMPTS).find_map(|_| {
        let Timed { cpu: seconds, text, .. } = timed(&mut folder.search(threads, false))?;
        let Explored { states, transitions, bytes_per_state } = Explored::read(&text)?;
        Some(Cost { seconds, states, transitions, bytes_per_state })
    })
}

fn fabius(path: &Path, threads: usize) -> Option<Cost> {
    let program = std::env::var_os("FABIUS_PROGRAM").unwrap_or_else(|| env!("CARGO_BIN_EXE_fabius").into());
    let mut command = Command::new(program);
    command.env("FABIUS_CACHE", "off");
    command.args(["check", "--json", "--keep-going", "--no-cache", "--property", "safety", "--no-reduction"]);
    command.args(["--no-schedule", "--audit", "off", "--search", "dfs", "--threads", &threads.to_string()]).arg(path);
    let Timed { cpu: seconds, text, .. } = timed(&mut command)?;
    let report: serde_json::Value = serde_json::from_str(&text).ok()?;
    let property = report["properties"].as_array()?.iter().find(|property| property["kind"] == "safety")?;
    Some(Cost {
        seconds,
        states: property["states"].as_u64()?,
        transitions: property["transitions"].as_u64()?,
        bytes_per_state: property["bytes_per_state"].as_f64()?,
    })
}

/// Time of Fabius by that of LTSmin.
fn ratio(row: &Row, threads_at: usize) -> f64 {
    row.fabius[threads_at].seconds / row.ltsmin[threads_at].seconds
}

/// The same per transition.
fn ratio_per_transition(row: &Row) -> f64 {
    let per = |cost: &Cost| cost.seconds / cost.transitions.max(1) as f64;
    per(&row.fabius[0]) / per(&row.ltsmin[0])
}

fn render_row(row: &Row) -> String {
    let ([fabius, fabius_two], [ltsmin, ltsmin_two]) = (row.fabius, row.ltsmin);
    format!(
        "| {} | {} / {} | {} / {} | {:.2} | {:.2} / {:.2} = {:.2} | {:.2} | {:.2} / {:.2} = {:.2} | {:.1} / {:.1} |",
        row.name,
        fabius.states,
        ltsmin.states,
        fabius.transitions,
        ltsmin.transitions,
        row.compile_seconds,
        fabius.seconds,
        ltsmin.seconds,
        ratio(row, 0),
        ratio_per_transition(row),
        fabius_two.seconds,
        ltsmin_two.seconds,
        ratio(row, 1),
        fabius.bytes_per_state,
        ltsmin.bytes_per_state,
    )
}

fn render(rows: &[Row], refused: &[&str]) -> String {
    let mut text = String::from(
        "| model | states, Fabius / LTSmin | transitions | before LTSmin's search, s | one thread, s | ratio per transition | \
         two threads together, s | bytes per state |\n|---|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    for row in rows {
        let _ = writeln!(text, "{}", render_row(row));
    }
    let mean = |of: &dyn Fn(&Row) -> f64| geometric_mean(&rows.iter().map(of).collect::<Vec<f64>>());
    let means = (mean(&|row| ratio(row, 0)), mean(&ratio_per_transition), mean(&|row| ratio(row, 1)));
    if let (Some(one), Some(per_transition), Some(two)) = means {
        let _ = writeln!(
            text,
            "\nGeometric means of CPU time, Fabius / LTSmin, over {} models: {one:.2} with one thread ({per_transition:.2} per transition), \
             {two:.2} with two.",
            rows.len()
        );
    }
    if !refused.is_empty() {
        let _ = writeln!(
            text,
            "\nNot compared, since SpinS refuses them or LTSmin does not come to the end: {}.",
            refused.join(", ")
        );
    }
    text
}
