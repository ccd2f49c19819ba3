//! A search in partitions finds what one thread finds breadth-first, and says the same for any number of them, but for
//! which of several violations of a kind is found first, and by which of the paths of fewest transitions.
//!
//! What carries batches between partitions changes nothing: memory, pairs of sockets, and connections between machines.
//!
//! `FABIUS_MODELS=n` says how many models of the corpus, and how many random ones.

#[path = "partitions/delays.rs"]
mod delays;
#[path = "partitions/infinite.rs"]
mod infinite;
#[cfg(unix)]
#[path = "partitions/machines.rs"]
mod machines;

use fabius_base::Limits;
use fabius_engine::report::{PropertyReport, Stopped, ViolationReport};
use fabius_engine::{Loaded, Outcome, Settings, Verdict, load};
use fabius_project::files;
use fabius_testkit::corpus::Corpus;
use fabius_testkit::{generate, parallel, partitions};
use std::path::Path;

/// Models of the corpus and random ones, unless someone asks for more.
const MODELS: usize = 60;
/// Larger models say little more.
const STATES_MAX: u64 = 20_000;

fn number(variable: &str, otherwise: usize) -> usize {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

fn settings(keep_going: bool) -> Settings {
    let limits = Limits { states_max: Some(STATES_MAX), ..Limits::default() };
    Settings { keep_going, limits, ..Settings::default() }
}

/// What of a report does not depend on memory, and on how the search is called.
fn told(outcome: &Outcome) -> Option<PropertyReport> {
    let report = outcome.report.properties.first()?.clone();
    Some(PropertyReport {
        memory_bytes: 0,
        bytes_per_state: 0.0,
        strategy: None,
        audited: None,
        workers: Vec::new(),
        ..report
    })
}

/// What is told beside the violations: which of several ways to a violation is found first, and with which values
/// of the variables, depends on the number of partitions.
fn without_violations(report: &PropertyReport) -> PropertyReport {
    PropertyReport { violations: Vec::new(), ..report.clone() }
}

/// Kinds, places and counts of the violations, in some order. A message may give values of the run that is shown.
fn violations(report: &PropertyReport) -> Vec<String> {
    let told = |found: &ViolationReport| {
        let ViolationReport { kind, file, line, column, count, .. } = found;
        format!("{kind:?} {file}:{line}:{column} {count}")
    };
    let mut all: Vec<String> = report.violations.iter().map(told).collect();
    all.sort();
    all
}

/// Compares all ways to search a model; what is wrong, and whether there was anything to compare.
fn compare(name: &str, loaded: &Loaded) -> Result<bool, String> {
    let mut compared = false;
    for keep_going in [false, true] {
        let settings = settings(keep_going);
        let one = partitions::safety(loaded, None, &settings);
        let Some(expected) = told(&one) else { return Ok(false) };
        if expected.verdict == Verdict::Faulty || expected.stopped == Some(Stopped::States) {
            return Ok(compared);
        }
        let mut first: Option<PropertyReport> = None;
        for count in [2, 3, 5] {
            let outcome = partitions::safety(loaded, Some(partitions::threads(count)), &settings);
            let report = told(&outcome).ok_or_else(|| format!("{name}: no report of {count} partitions"))?;
            if let Some(failure) = outcome.failure {
                return Err(format!("{name}, {count} partitions: {failure}"));
            }
            let same = expected.verdict == report.verdict && expected.depth == report.depth;
            let counted = expected.stopped == Some(Stopped::Violation)
                || (expected.states, expected.transitions, violations(&expected), &expected.reason)
                    == (report.states, report.transitions, violations(&report), &report.reason);
            if !same || !counted {
                return Err(format!("{name}: one thread and {count} partitions:\n{expected:#?}\n{report:#?}"));
            }
            let known = first.get_or_insert_with(|| report.clone());
            if without_violations(known) != without_violations(&report) || violations(known) != violations(&report) {
                return Err(format!("{name}: 2 and {count} partitions:\n{known:#?}\n{report:#?}"));
            }
        }
        compared = true;
    }
    Ok(compared)
}

fn conclude(results: Vec<Result<bool, String>>, at_least: usize) {
    let wrong: Vec<&String> = results.iter().filter_map(|result| result.as_ref().err()).collect();
    assert!(wrong.is_empty(), "{} models, such as {}", wrong.len(), wrong[0]);
    let compared = results.iter().filter(|result| **result == Ok(true)).count();
    assert!(at_least <= compared, "only {compared} models of {} could be compared", results.len());
}

fn read(path: &Path) -> Option<Loaded> {
    let mut include = |including: &str, included: &str| {
        let path = files::beside(Path::new(including), included);
        files::read(&path).ok().map(|text| (path.display().to_string(), text))
    };
    let text = files::read(path).ok()?;
    Some(load(&path.display().to_string(), text, &[], &mut include, &Settings::default()))
}

#[test]
fn models_for_people_to_try() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
    let entries = std::fs::read_dir(folder).expect("a folder");
    let models: Vec<_> = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    let check = |path: &std::path::PathBuf| {
        read(path).map_or(Ok(false), |loaded| compare(&path.display().to_string(), &loaded))
    };
    conclude(parallel::map(&models, check), 15);
}

#[test]
fn models_of_the_corpus() {
    let Some(corpus) = Corpus::load() else { return };
    let small = |entry: &&fabius_testkit::corpus::Entry| {
        entry.syntax.ok && entry.run("base").is_some_and(|run| run.complete && run.stored < STATES_MAX)
    };
    let small: Vec<_> = corpus.entries.iter().filter(small).collect();
    let models = number("FABIUS_MODELS", MODELS).clamp(1, small.len());
    let some: Vec<_> = small.iter().step_by(small.len().div_ceil(models)).collect();
    let check = |entry: &&&fabius_testkit::corpus::Entry| {
        read(&corpus.file(entry)).map_or(Ok(false), |loaded| compare(&entry.path, &loaded))
    };
    conclude(parallel::map(&some, check), some.len() / 2);
}

/// Models that are searched by processes, unless someone asks for more.
#[cfg(unix)]
const BY_PROCESSES: usize = 12;

#[cfg(unix)]
#[test]
fn sockets_and_connections_tell_what_memory_tells() {
    use fabius_cluster::{LocalPool, Program};
    use std::sync::Arc;
    let Some(corpus) = Corpus::load() else { return };
    let small = |entry: &&fabius_testkit::corpus::Entry| {
        entry.syntax.ok && entry.run("base").is_some_and(|run| run.complete && run.stored < STATES_MAX)
    };
    let small: Vec<_> = corpus.entries.iter().filter(small).collect();
    let models = number("FABIUS_MODELS", BY_PROCESSES).clamp(1, small.len());
    let machines = machines::Machines::start();
    let program = Program::new(env!("CARGO_BIN_EXE_fabius").into(), &["worker", "--memory-each=0"]);
    let sockets: Arc<LocalPool> = Arc::new(LocalPool::new(program));
    let settings = settings(true);
    // The machines serve one search at a time.
    let mut compared = 0;
    for entry in small.iter().step_by(small.len().div_ceil(models)) {
        let Some(loaded) = read(&corpus.file(entry)) else { continue };
        for count in [1, 2, 3, 5] {
            let Some(memory) = told(&partitions::safety(&loaded, Some(partitions::threads(count)), &settings)) else {
                continue;
            };
            // One thread stops exactly at a limit, processes at the end of a round.
            if count == 1 && memory.stopped == Some(Stopped::States) {
                continue;
            }
            let pools: [(&str, Arc<dyn fabius_engine::pool::WorkerPool>); 2] =
                [("sockets", sockets.clone()), ("machines", Arc::new(machines.pool(count)))];
            for (name, pool) in pools {
                let outcome = partitions::safety(&loaded, Some(partitions::of_pool(pool, count)), &settings);
                assert_eq!(outcome.failure, None, "{}, {count}, {name}", entry.path);
                let report = told(&outcome).expect("a report");
                // One partition is what one thread is, and is told as that.
                let same = if count == 1 {
                    without_violations(&report) == without_violations(&memory)
                } else {
                    report == memory
                };
                assert!(same, "{}, {count}, {name}:\n{memory:#?}\n{report:#?}", entry.path);
                compared += 1;
            }
        }
    }
    assert!(models * 3 <= compared, "only {compared} searches could be compared");
}

#[test]
fn random_models() {
    compare_random_models(MODELS, 3, compare);
}

/// Compares this many random models, unless someone asks for more; one of so many at least must be comparable.
fn compare_random_models(models: usize, one_of: usize, compare: impl Fn(&str, &Loaded) -> Result<bool, String> + Sync) {
    let seeds: Vec<u64> = (0..number("FABIUS_MODELS", models) as u64).collect();
    let check = |seed: &u64| {
        let text = generate::model_with_faults(*seed).text();
        let loaded = load("model.pml", text.clone(), &[], &mut |_, _| None, &Settings::default());
        compare(&format!("seed {seed}"), &loaded).map_err(|wrong| format!("{wrong}\n{text}"))
    };
    conclude(parallel::map(&seeds, check), seeds.len() / one_of);
}
