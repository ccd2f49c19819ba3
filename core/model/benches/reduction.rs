//! How many states partial-order reduction leaves: `cargo bench -p fabius-model --bench reduction`.
//!
//! For each model of the corpus that the table names: the states of the whole model, those that are left where only
//! deadlocks must be preserved, and where also assertions must be; beside them what Spin's own reduction leaves, and LTSmin's, where its
//! programs are (`FABIUS_LTSMIN` names their folder). The numbers of states are exact; times are CPU times on whatever machine this is.
//!
//! `-- --write` writes the table of `docs/experiments/reduction.md`; other words select models.

#![expect(clippy::disallowed_methods, clippy::disallowed_macros, reason = "a benchmark may read and print")]

#[path = "../tests/reduction/plain.rs"]
mod plain;

use fabius_model::reduction::{Preserve, Proviso, Reduced, prepare};
use fabius_needs::command;
use fabius_needs::ltsmin::{Explored, Ltsmin};
use fabius_needs::spin::{Compiler, Spin};
use fabius_program::meaning::Fault;
use fabius_program::{Move, Watch};
use fabius_promela::Options;
use fabius_search::reduce::OffStack;
use fabius_search::{Completeness, Model, Observer, StopAt, TreeStore, ViolationKind, depth_first};
use plain::{Plain, program_of};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Models: name and file.
const MODELS: &[(&str, &str)] = &[
    ("snoopy", "spin-examples/snoopy.pml"),
    ("sliding window", "spin-test-old/Test_pftp.pml"),
    ("sort", "spin-examples/sort.pml"),
    ("leader (Dolev, Klawe, Rodeh)", "spin-examples/ltl_leader.pml"),
    ("bounded retransmission", "case-studies/brp.pml"),
    ("GARP, leave and join", "case-studies/garp_garp_ls.pml"),
    ("i-protocol 3", "case-studies/i-protocol_i3.pml"),
    ("i-protocol 2", "case-studies/i-protocol_i2.pml"),
    ("GIOP 1, no migration", "case-studies/giop_giop1.nomig.pml"),
    ("Peterson, N=3", "spin-test-old/Test_petersonN.pml"),
    ("firewire link 2", "beem/firewire_link.2.pml"),
    ("lamport 3", "beem/lamport.3.pml"),
    ("msmie 3", "beem/msmie.3.pml"),
    ("at 3", "beem/at.3.pml"),
    ("leader_t, N=4", "dfsfifo/leader_t_derived_noNPC_N4.pml"),
    ("leader_DKR, N=5", "dfsfifo/leader_DKR_derived_N5.pml"),
    ("leader_DKR, N=6", "dfsfifo/leader_DKR_derived_N6.pml"),
];
/// A model with more states is not searched to the end.
const STATES_MAX: u64 = 8_000_000;

/// What a search took.
#[derive(Clone, Copy)]
struct Run {
    states: u64,
    seconds: f64,
    done: bool,
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let only: Vec<&String> = words.iter().filter(|word| !word.starts_with("--")).collect();
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let corpus = std::env::var_os("FABIUS_CORPUS").map_or_else(|| root.join("../shared/corpus"), PathBuf::from);
    let models = corpus.join("models");
    if !models.is_dir() {
        println!("The corpus is not there (set FABIUS_CORPUS): nothing to measure.");
        return;
    }
    let mut table = String::from(
        "| model | all states | deadlocks only | with assertions | Spin | LTSmin, deadlocks only | time per state: all, deadlocks, assertions |\n\
         |---|---|---|---|---|---|---|\n",
    );
    for (name, file) in MODELS {
        let path = models.join(file);
        if !(path.is_file() && (only.is_empty() || only.iter().any(|word| name.contains(word.as_str())))) {
            continue;
        }
        let row = row(name, &path);
        println!("{row}");
        let _ = writeln!(table, "{row}");
    }
    if words.iter().any(|word| word == "--write") {
        let page = root.join("docs/experiments/reduction.md");
        let old = std::fs::read_to_string(&page).unwrap_or_default();
        let head = old.split("<!-- table -->").next().unwrap_or_default();
        std::fs::write(&page, format!("{head}<!-- table -->\n\n{table}")).expect("the page can be written");
    }
}

fn row(name: &str, path: &Path) -> String {
    let Some(program) = program_of(path, Options::ALL).ok().map(Arc::new) else { return format!("| {name} | – |") };
    let Ok(mut whole) = Plain::new(Arc::clone(&program), Watch::NOTHING) else { return format!("| {name} | – |") };
    let all = search(&mut whole);
    let deadlocks = prepare(&program, Preserve::Deadlocks).ok();
    let deadlocks =
        deadlocks.and_then(|plan| Some(search(&mut Reduced::new(Arc::clone(&program), Watch::NOTHING, plan).ok()?)));
    let faults = prepare(&program, Preserve::Faults(Proviso::Stack)).ok();
    let faults = faults.and_then(|plan| {
        Some(search(&mut OffStack::new(Reduced::new(Arc::clone(&program), Watch::NOTHING, plan).ok()?)))
    });
    let part = |run: Option<Run>| match run {
        None => "–".to_owned(),
        Some(run) if !run.done || !all.done => format!("{}{}", if run.done { "" } else { "> " }, run.states),
        Some(run) => format!("{} ({:.1} %)", run.states, 100.0 * run.states as f64 / all.states as f64),
    };
    let each =
        |run: Option<Run>| run.map_or("–".to_owned(), |run| format!("{:.2}", 1e6 * run.seconds / run.states as f64));
    format!(
        "| {name} | {} | {} | {} | {} | {} | {}, {}, {} µs |",
        part(Some(Run { done: all.done, ..all })).replace(" (100.0 %)", ""),
        part(deadlocks),
        part(faults),
        spin(path).map_or("–".to_owned(), |states| states.to_string()),
        ltsmin(path).unwrap_or("–".to_owned()),
        each(Some(all)),
        each(deadlocks),
        each(faults),
    )
}

/// The time for which this thread has been running, where the system tells.
fn busy() -> Duration {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    Duration::from_nanos(told.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or(0))
}

/// Only the number of states matters: all violations are one.
struct Counting;

impl Observer<Move, Fault> for Counting {
    fn key(&mut self, _: &ViolationKind<Fault>, _: Option<&Move>, _: &[u32]) -> u64 {
        0
    }
}

fn search<M: Model<Label = Move, Fault = Fault>>(model: &mut M) -> Run {
    let mut settings = fabius_search::Settings { stop_at: StopAt::Never, ..fabius_search::Settings::default() };
    settings.limits.states_max = Some(STATES_MAX);
    let begun = busy();
    let outcome = depth_first(model, &mut TreeStore::new(), &mut Counting, &settings);
    Run {
        states: outcome.statistics.states,
        seconds: (busy() - begun).as_secs_f64(),
        done: outcome.completeness == Completeness::Exhaustive,
    }
}

/// The states that `pan` stores with its own reduction, going on after errors.
fn spin(path: &Path) -> Option<u64> {
    let folder = Spin::on_file(path).ok()?;
    let run = |mut command| command::run(&mut command, Duration::from_secs(200)).ok();
    run(folder.generate(&[]))?;
    run(folder.compile(Compiler::Gcc, &["-O2", "-DSAFETY", "-DNOCLAIM", "-DMEMLIM=4000"]))?;
    let text = run(folder.verify(&["-c0", "-m10000000", "-w22"]))?.stdout;
    let line = text.lines().find(|line| line.contains(" states, stored"))?;
    line.split_whitespace().next()?.parse::<f64>().ok().map(|states| states as u64)
}

/// What LTSmin leaves of its own translation where only deadlocks matter, of how many states; `None` if it is not here, does not accept the
/// model, or takes too long.
fn ltsmin(path: &Path) -> Option<String> {
    let folder = Ltsmin::is_here().then(|| Ltsmin::on_file(path).ok())??;
    let run = |mut command| command::run(&mut command, Duration::from_secs(400)).ok();
    run(folder.compile())?;
    let whole = Explored::read(&run(folder.search(1, false))?.stdout)?.states;
    let left = Explored::read(&run(folder.search(1, true))?.stdout)?.states;
    Some(format!("{left} of {whole} ({:.1} %)", 100.0 * left as f64 / whole as f64))
}
