//! Searches without a table against the graph of states and sleep sets: random models and the corpus.
//!
//! `FABIUS_FULL=1 cargo test -p fabius-executions --test stateless corpus -- --nocapture` compares every model of the corpus with at
//! most [`FULL_STATES_MAX`] states, with [`FULL_SECONDS`] for each count, and says how many could be compared.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "models are read from files, and it says how many"
)]

use fabius_base::{Cancel, Limits};
use fabius_engine::{SAFETY, Settings, load};
use fabius_executions::{By, ExecutionsReport, ExecutionsRequest, Method, NotCounted, Relation, executions};
use fabius_testkit::corpus::Corpus;
use fabius_testkit::generate;
use std::time::Duration;

/// Nodes of the graph at most; the numbers of larger models are not compared.
const NODES_MAX: u64 = 2_000;
/// Executions at most, for the same reason.
const EXECUTIONS_MAX: u64 = 400;
/// Of the small models of the corpus, one in this many is compared.
const SAMPLED: usize = 8;
/// Small models of the corpus have at most this many states.
const CORPUS_STATES_MAX: u64 = 300;

/// The same of all models, if they are compared in full, …
const FULL_STATES_MAX: u64 = 1_000_000;
/// … with this much time and memory for each count.
const FULL_SECONDS: u64 = 4;
const FULL_BYTES_MAX: u64 = 1 << 30;

/// How much a count may use.
#[derive(Clone, Copy)]
enum Extent {
    /// So many nodes of the graph, or steps without a table.
    Nodes(u64),
    /// [`FULL_SECONDS`] and [`FULL_BYTES_MAX`].
    Full,
}

fn is_full() -> bool {
    std::env::var_os("FABIUS_FULL").is_some()
}

fn sampled() -> usize {
    std::env::var("FABIUS_SAMPLED").ok().and_then(|number| number.parse().ok()).unwrap_or(SAMPLED)
}

/// How processes are told apart.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Processes {
    ByNumber,
    /// Where a model does not look at numbers.
    ByBirth,
}

/// Numbers of a model, unless it is refused or they are not exact.
fn count(
    (name, text): (&str, &str),
    processes: Processes,
    by: By,
    extent: Extent,
) -> Result<Option<ExecutionsReport>, String> {
    let mut nothing = |_: &str, _: &str| None;
    let settings = Settings { properties: vec![SAFETY.to_owned()], ..Settings::default() };
    let loaded = load(name, text.to_owned(), &[], &mut nothing, &settings);
    let cancel = Cancel::new();
    let limits = match extent {
        Extent::Nodes(nodes) => Limits { states_max: Some(nodes), ..Limits::default() },
        Extent::Full => Limits { memory_bytes_max: Some(FULL_BYTES_MAX), ..Limits::default() },
    };
    let _clock = matches!(extent, Extent::Full).then(|| Clock::start(&cancel));
    let numbered = processes == Processes::ByNumber;
    let request =
        ExecutionsRequest { by, relation: Relation::Footprints, limits, numbered, ..ExecutionsRequest::default() };
    match executions(&loaded, &request, &cancel, &|| Duration::ZERO) {
        Ok(found) => match found.failure {
            Some(failure) => Err(failure),
            None => Ok(found.report.exhaustive.then_some(found.report)),
        },
        Err(NotCounted::Faulty | NotCounted::Refused(_)) => Ok(None),
    }
}

/// Whether the numbers of a model could be compared.
fn compare(model: (&str, &str), processes: Processes, full: bool) -> Result<bool, String> {
    let extent = |nodes: u64| if full { Extent::Full } else { Extent::Nodes(nodes) };
    let Some(graph) = count(model, processes, By::Graph, extent(NODES_MAX))? else { return Ok(false) };
    let all: u64 = graph.executions.as_deref().and_then(|number| number.parse().ok()).unwrap_or(u64::MAX);
    if !full && EXECUTIONS_MAX < all {
        return Ok(false);
    }
    let numbers = |report: &ExecutionsReport| {
        [&report.executions, &report.failing, &report.stuck, &report.ok, &report.waiting].map(Clone::clone)
    };
    for method in [Method::Optimal, Method::Source, Method::Sleep] {
        // More runs are redundant with less: those of sleep sets alone can be too many.
        let states_max = if method == Method::Sleep { 20 * NODES_MAX } else { u64::MAX };
        let Some(found) = count(model, processes, By::Stateless(method), extent(states_max))? else {
            if method == Method::Sleep {
                continue;
            } else {
                return Ok(false);
            };
        };
        if found.processes != graph.processes {
            return Err(format!("{method:?}: processes by {:?}, graph: {:?}", found.processes, graph.processes));
        }
        if numbers(&found) != numbers(&graph) {
            return Err(format!("{method:?}: {:?}, graph: {:?}", numbers(&found), numbers(&graph)));
        }
        if method == Method::Optimal && found.redundant_runs != Some(0) {
            return Err(format!("{:?} runs are redundant", found.redundant_runs));
        }
    }
    Ok(true)
}

/// How many of some random models could be compared.
fn compare_all(seeds: u64, processes: Processes, text: impl Fn(u64) -> String) -> u64 {
    let mut compared = 0;
    for seed in 0..seeds * SAMPLED as u64 / sampled() as u64 {
        let text = text(seed);
        match compare(("random.pml", &text), processes, false) {
            Ok(counts) => compared += u64::from(counts),
            Err(why) => panic!("seed {seed}: {why}\n{text}"),
        }
    }
    compared
}

#[test]
fn random_models_have_as_many_executions_without_a_table() {
    let compared = compare_all(64, Processes::ByNumber, |seed| match seed % 2 {
        0 => generate::model(seed).text(),
        _ => generate::model_with_faults(seed).text(),
    });
    assert!(compared > 10, "{compared} models were compared");
}

#[test]
fn so_have_small_ones_with_locks_channels_and_atomic_sequences() {
    let compared = compare_all(64, Processes::ByNumber, generate::small::model);
    assert!(compared > 20, "{compared} models were compared");
}

#[test]
fn so_have_small_ones_whose_processes_talk() {
    let compared = compare_all(64, Processes::ByNumber, generate::messages::model);
    assert!(compared > 20, "{compared} models were compared");
}

#[test]
fn so_have_small_ones_whose_processes_meet() {
    let compared = compare_all(64, Processes::ByNumber, generate::meetings::model);
    assert!(compared > 20, "{compared} models were compared");
}

#[test]
fn so_have_small_ones_whose_processes_are_told_apart_by_their_births() {
    let compared = compare_all(64, Processes::ByBirth, generate::births::model);
    assert!(compared > 20, "{compared} models were compared");
}

#[test]
fn so_do_models_of_the_corpus() {
    let Some(corpus) = Corpus::load() else { return };
    let (full, states_max) = (is_full(), if is_full() { FULL_STATES_MAX } else { CORPUS_STATES_MAX });
    let is_small = |entry: &&fabius_testkit::corpus::Entry| {
        entry.run("base").is_some_and(|base| base.complete && base.stored <= states_max)
    };
    let (mut compared, mut left_out, mut wrong) = (0, 0, Vec::new());
    for entry in corpus.entries.iter().filter(is_small).step_by(if full { 1 } else { sampled() }) {
        let Ok(text) = std::fs::read_to_string(corpus.file(entry)) else { continue };
        match compare((&entry.path, &text), Processes::ByNumber, full) {
            Ok(true) => compared += 1,
            Ok(false) => left_out += 1,
            Err(why) => wrong.push(format!("{}: {why}", entry.path)),
        }
    }
    println!(
        "{compared} models compared; {left_out} have infinite executions, are refused, or were not counted in time"
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(compared > 1, "{compared} models were compared");
}

/// Stops a count after [`FULL_SECONDS`].
struct Clock {
    /// Dropped when the count is over.
    _over: std::sync::mpsc::Sender<()>,
}

impl Clock {
    fn start(cancel: &Cancel) -> Self {
        let (over, wait) = std::sync::mpsc::channel::<()>();
        let cancel = cancel.clone();
        std::thread::spawn(move || {
            if wait.recv_timeout(Duration::from_secs(FULL_SECONDS)) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                cancel.time_out();
            }
        });
        Self { _over: over }
    }
}
