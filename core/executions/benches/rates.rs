//! How fast executions are counted and listed: `cargo bench -p fabius-executions --bench rates`.
//!
//! Nodes of the graph per second and bytes per node, executions listed per second (each walked by the reference
//! interpreter), runs per second without a table. Every figure is the best of some runs, in wall-clock time of one thread;
//! machines are shared, so the load average stands beside them. Numbers of nodes and executions are exact.
//!
//! `-- --write` writes the table of `docs/experiments/executions.md`. `-- --count NUMBER` only counts the executions of one model,
//! once, for a profiler that counts instructions; models have numbers from 0. `--list NUMBER` lists some as well, `--optimal NUMBER` counts
//! by wakeup trees.

#![expect(clippy::disallowed_methods, clippy::disallowed_macros, reason = "a benchmark may read and print")]

use fabius_base::Cancel;
use fabius_engine::{Loaded, SAFETY, Settings, load};
use fabius_executions::{By, Executions, ExecutionsRequest, Method, Relation, executions};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Each figure is the best of this many.
const RUNS: usize = 3;
/// Executions that are listed.
const LISTED: usize = 5_000;

/// With more executions than this they are not all taken without a table.
const RUNS_MAX: f64 = 1e6;

/// A model.
struct Model {
    name: &'static str,
    text: String,
    defines: Vec<(String, String)>,
    reduction: bool,
}

/// What a run took.
struct Run {
    found: Executions,
    seconds: f64,
}

fn models() -> Vec<Model> {
    let model = |name, text: &str| Model { name, text: text.to_owned(), defines: Vec::new(), reduction: true };
    let page = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models/philosophers_once.pml");
    let text = std::fs::read_to_string(page).expect("it is there");
    let eight = || vec![("N".to_owned(), "8".to_owned())];
    let whole = model("philosophers who eat once, N = 8, without reduction", &text);
    let philosophers = model("philosophers who eat once, N = 8", &text);
    vec![
        Model { defines: eight(), reduction: false, ..whole },
        Model { defines: eight(), ..philosophers },
        model(
            "FR(7): seven writers, a reader",
            "byte x, o; active [7] proctype W() { x = _pid + 1 } active proctype R() { o = x }",
        ),
        model(
            "one lock, 4 processes take it twice",
            "bit l; active [4] proctype P() { atomic { !l -> l = 1 }; l = 0; atomic { !l -> l = 1 }; l = 0 }",
        ),
        model("Fib(4): tasks that create tasks", &fib(4)),
        model("Fib(5)", &fib(5)),
    ]
}

/// Tasks that create tasks, as many as the N-th number of Fibonacci takes.
fn fib(n: u32) -> String {
    format!(
        "short nr = 1, r;
         proctype res(short v) {{
             atomic {{ if :: nr > 0 -> nr = 0; r = v :: else -> run res(r + v); r = 0; nr = 1 fi }}
         }}
         proctype fib(short v) {{
             atomic {{ if :: v <= 1 -> run res(v) :: else -> run fib(v - 1); run fib(v - 2) fi }}
         }}
         init {{ run fib({n}) }}"
    )
}

fn ask(loaded: &Loaded, request: &ExecutionsRequest) -> Run {
    let best = (0..RUNS).map(|_| {
        let began = Instant::now();
        let found = executions(loaded, request, &Cancel::new(), &|| began.elapsed()).expect("it can be counted");
        assert!(found.failure.is_none() && found.report.exhaustive, "{:?}", found.report);
        Run { found, seconds: began.elapsed().as_secs_f64() }
    });
    best.min_by(|a, b| a.seconds.total_cmp(&b.seconds)).expect("some runs")
}

/// Takes one measurement of a model once; says what that took.
fn run_once(model: &Model, what: &str) {
    let settings = Settings { properties: vec![SAFETY.to_owned()], ..Settings::default() };
    let loaded = load("model.pml", model.text.clone(), &model.defines, &mut |_, _| None, &settings);
    let counting = ExecutionsRequest { reduction: model.reduction, ..ExecutionsRequest::default() };
    let request = match what {
        "--list" => ExecutionsRequest { count: LISTED, outlines: true, ..counting },
        "--optimal" => optimal(),
        _ => counting,
    };
    let found = executions(&loaded, &request, &Cancel::new(), &|| Duration::ZERO).expect("it can be counted");
    let report = &found.report;
    println!("{}: {} nodes, {} bytes", model.name, report.nodes, report.memory_bytes);
}

/// Counting by wakeup trees.
fn optimal() -> ExecutionsRequest {
    let by = By::Stateless(Method::Optimal);
    ExecutionsRequest { by, relation: Relation::Footprints, ..ExecutionsRequest::default() }
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    for once in ["--count", "--list", "--optimal"] {
        let number = words.iter().skip_while(|word| *word != once).nth(1);
        if let Some(model) = number.and_then(|number| models().into_iter().nth(number.parse().ok()?)) {
            return run_once(&model, once);
        }
    }
    let write = std::env::args().any(|word| word == "--write");
    let load_average = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load_average = load_average.split(' ').next().unwrap_or("?").to_owned();
    let build = if cfg!(debug_assertions) { "with assertions" } else { "without assertions" };
    let mut text = format!(
        "Rates of a build {build}, the best of {RUNS} runs; load average at the start: {load_average}.\n\n\
         | model | executions | nodes | nodes per second | bytes per node | listed per second | runs per second, `optimal` |\n\
         |---|--:|--:|--:|--:|--:|--:|\n"
    );
    for model in models() {
        let row = row(&model);
        println!("{row}");
        let _ = writeln!(text, "{row}");
    }
    if write {
        let page = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/experiments/executions.md");
        fabius_testkit::page::put(&page, "rates", &text).expect("the page can be written");
    }
}

fn row(model: &Model) -> String {
    let settings = Settings { properties: vec![SAFETY.to_owned()], ..Settings::default() };
    let loaded = load("model.pml", model.text.clone(), &model.defines, &mut |_, _| None, &settings);
    let request = ExecutionsRequest { reduction: model.reduction, ..ExecutionsRequest::default() };
    let counted = ask(&loaded, &request);
    let report = &counted.found.report;
    let listed = ask(&loaded, &ExecutionsRequest { count: LISTED, outlines: true, ..request.clone() });
    let all: f64 = report.executions.as_deref().and_then(|all| all.parse().ok()).unwrap_or(0.0);
    let per_second = |number: f64, seconds: f64| format!("{:.0}", number / seconds);
    // Of few executions or runs a rate says nothing.
    let many = all >= 1_000.0;
    let listing = match listed.seconds - counted.seconds {
        seconds if many && seconds > 0.0 => per_second(listed.found.outlines.len() as f64, seconds),
        _ => "–".to_owned(),
    };
    // Each run takes its time.
    let optimal = if many && all < RUNS_MAX {
        let run = ask(&loaded, &optimal()).found.report;
        let runs: f64 = run.executions.as_deref().and_then(|all| all.parse().ok()).unwrap_or(0.0);
        per_second(runs, run.seconds)
    } else {
        "–".to_owned()
    };
    let (nodes, name) = (report.nodes as f64, model.name);
    let rate = per_second(nodes, report.seconds);
    let bytes = report.memory_bytes as f64 / nodes;
    format!("| {name} | {all:.0} | {} | {rate} | {bytes:.0} | {listing} | {optimal} |", report.nodes)
}
