//! The search for infinite runs in partitions answers what components answer, and says the same for any number of partitions and
//! whatever carries their batches. Every run that is found is confirmed by the reference interpreter, or the check fails.

use super::{STATES_MAX, conclude, number, read, settings};
use fabius_engine::report::Stopped;
use fabius_engine::settings::Progress;
use fabius_engine::{Loaded, Outcome, Settings, Verdict, load};
use fabius_testkit::corpus::{Corpus, Entry};
use fabius_testkit::{generate, parallel, partitions};
use std::collections::BTreeMap;

/// Models of the corpus and random ones, unless someone asks for more.
const MODELS: usize = 40;
const KINDS: [&str; 3] = ["progress", "acceptance", "ltl"];
const FORMULAS: [&str; 6] =
    ["[] (g1 != 2)", "<> (g0 == 2)", "[] <> (b0 == 0)", "<> [] (s0 <= 2)", "[] ((g0 == 1) -> <> (g0 != 1))", "<> true"];

/// What is said of each property, apart from the run that is shown.
fn told(outcome: &Outcome) -> BTreeMap<String, (Verdict, Option<Stopped>, u64, u64, u64)> {
    let properties = outcome.report.properties.iter();
    let said = properties.map(|property| {
        let stored = (property.verdict, property.stopped, property.states, property.transitions, property.depth);
        (property.name.clone(), stored)
    });
    said.collect()
}

/// Compares partitions with components; how many answers of which kind could be compared, or what is wrong.
fn compare(name: &str, loaded: &Loaded, settings: &Settings) -> Result<Vec<Verdict>, String> {
    let mut compared = Vec::new();
    for kind in KINDS {
        let one = told(&partitions::infinite(loaded, None, settings, kind));
        let mut first = BTreeMap::new();
        for count in [2, 3, 5] {
            let outcome = partitions::infinite(loaded, Some(partitions::threads(count)), settings, kind);
            if let Some(failure) = outcome.failure {
                return Err(format!("{name}, {kind}, {count} partitions: {failure}"));
            }
            let all = told(&outcome);
            let wrong = || Err(format!("{name}, {kind}: components and {count} partitions:\n{one:#?}\n{all:#?}"));
            for (property, expected) in &one {
                let Some(found) = all.get(property) else { return wrong() };
                let (verdict, stopped, states, ..) = *found;
                let contradicts = [(Verdict::Holds, Verdict::Violated), (Verdict::Violated, Verdict::Holds)];
                if contradicts.contains(&(expected.0, verdict)) {
                    return wrong();
                }
                // At which state the limit ends a search depends on how it searches. A search that reached the limit may still
                // have found a cycle among the states that it had expanded: then only the number of states tells.
                let is_cut = [expected.1, stopped].contains(&Some(Stopped::States)) || STATES_MAX < states;
                if is_cut || expected.0 == Verdict::Faulty {
                    continue;
                }
                let is_same = *first.entry(property.clone()).or_insert(*found) == *found;
                if !is_same || verdict != expected.0 || verdict == Verdict::Holds && states != expected.2 {
                    return wrong();
                }
                compared.extend((count == 2).then_some(verdict));
            }
        }
    }
    Ok(compared)
}

fn counted(results: Vec<Result<Vec<Verdict>, String>>, at_least: usize) {
    let all: Vec<Verdict> = results.iter().flatten().flatten().copied().collect();
    conclude(results.into_iter().map(|result| result.map(|compared| !compared.is_empty())).collect(), 1);
    for verdict in [Verdict::Holds, Verdict::Violated] {
        let count = all.iter().filter(|told| **told == verdict).count();
        assert!(at_least <= count, "only {count} answers are {verdict:?} of {}", all.len());
    }
}

fn small(entry: &Entry) -> bool {
    let is_small = |name: &str| entry.run(name).is_some_and(|run| run.complete && run.stored < STATES_MAX);
    entry.syntax.ok && (is_small("base") || is_small("np"))
}

#[test]
fn models_of_the_corpus() {
    let Some(corpus) = Corpus::load() else { return };
    let small: Vec<&Entry> = corpus
        .entries
        .iter()
        .filter(|entry| small(entry) && !(entry.claims().is_empty() && entry.run("np").is_none()))
        .collect();
    let models = number("FABIUS_MODELS", MODELS).clamp(1, small.len());
    let some: Vec<_> = small.iter().step_by(small.len().div_ceil(models)).collect();
    let check = |entry: &&&&Entry| {
        read(&corpus.file(entry)).map_or(Ok(Vec::new()), |loaded| compare(&entry.path, &loaded, &settings(false)))
    };
    counted(parallel::map(&some.iter().collect::<Vec<_>>(), check), some.len() / 8);
}

#[test]
fn random_models() {
    let models = number("FABIUS_MODELS", MODELS);
    let seeds: Vec<u64> = (0..models as u64).collect();
    let check = |seed: &u64| {
        let formula = FORMULAS[*seed as usize % FORMULAS.len()];
        let with_formula = |model: String| format!("{model}\nltl asked {{ {formula} }}\n");
        let text = match seed % 3 {
            0 => generate::claim::model_with_claim(*seed).text(),
            // Where runs end in runtime errors, little can be proved.
            1 => with_formula(generate::model_with_faults(*seed).text()),
            _ => with_formula(generate::model(*seed).text()),
        };
        let progress = if seed.is_multiple_of(2) { Progress::States } else { Progress::Transitions };
        let settings = Settings { progress, ..settings(false) };
        let loaded = load("model.pml", text.clone(), &[], &mut |_, _| None, &Settings::default());
        compare(&format!("seed {seed}"), &loaded, &settings).map_err(|wrong| format!("{wrong}\n{text}"))
    };
    counted(parallel::map(&seeds, check), models / 10);
}

/// Questions that are asked of processes, unless someone asks for more.
#[cfg(unix)]
const BY_PROCESSES: usize = 8;

#[cfg(unix)]
#[test]
fn processes_and_machines_tell_what_memory_tells() {
    use fabius_cluster::{LocalPool, Program};
    use fabius_engine::pool::WorkerPool;
    use std::sync::Arc;
    let Some(corpus) = Corpus::load() else { return };
    let small: Vec<&Entry> = corpus.entries.iter().filter(|entry| small(entry) && !entry.claims().is_empty()).collect();
    let models = number("FABIUS_MODELS", BY_PROCESSES).clamp(1, small.len());
    let machines = super::machines::Machines::start();
    let program = Program::new(env!("CARGO_BIN_EXE_fabius").into(), &["worker", "--memory-each=0"]);
    let sockets: Arc<LocalPool> = Arc::new(LocalPool::new(program));
    let mut compared = 0;
    for entry in small.iter().step_by(small.len().div_ceil(models)) {
        let Some(loaded) = read(&corpus.file(entry)) else { continue };
        for (kind, count) in [("progress", 2), ("ltl", 3), ("acceptance", 2)] {
            let settings = settings(false);
            let memory = partitions::infinite(&loaded, Some(partitions::threads(count)), &settings, kind);
            let pools: [(&str, Arc<dyn WorkerPool>); 2] =
                [("sockets", sockets.clone()), ("machines", Arc::new(machines.pool(count)))];
            for (name, pool) in pools {
                let outcome = partitions::infinite(&loaded, Some(partitions::of_pool(pool, count)), &settings, kind);
                assert_eq!(outcome.failure, None, "{}, {kind}, {name}", entry.path);
                assert_eq!(told(&outcome), told(&memory), "{}, {kind}, {name}", entry.path);
                let runs = |outcome: &Outcome| -> Vec<_> {
                    outcome.report.properties.iter().map(|property| property.violations.clone()).collect()
                };
                assert_eq!(runs(&outcome), runs(&memory), "{}, {kind}, {name}", entry.path);
                compared += outcome.report.properties.len();
            }
        }
    }
    assert!(models <= compared, "only {compared} searches could be compared");
}
