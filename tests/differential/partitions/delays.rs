//! The search by number of delays in partitions says the same for any number of them, and of what one thread says by number of delays
//! what it can: a proof, its states, and that there is a violation. Every run that is found is confirmed by the reference interpreter,
//! or the check fails.

use super::{STATES_MAX, compare_random_models, conclude, number, read, settings};
use fabius_engine::report::{PropertyReport, Stopped};
use fabius_engine::settings::{DelayMode, Delaying, SchedulerChoice};
use fabius_engine::{Loaded, Settings, Verdict};
use fabius_testkit::corpus::{Corpus, Entry};
use fabius_testkit::{parallel, partitions};

/// Models of the corpus and random ones, unless someone asks for more.
const MODELS: usize = 40;

/// The delays of the violation with the fewest.
fn fewest(report: &PropertyReport) -> Option<usize> {
    report.violations.iter().map(|violation| violation.delays.as_ref().map_or(0, Vec::len)).min()
}

/// Compares any number of partitions with each other and with one thread; whether there was anything to compare, or what is wrong.
fn compare(name: &str, loaded: &Loaded) -> Result<bool, String> {
    let mut compared = false;
    for (scheduler, delays_max) in [
        (SchedulerChoice::Auto, None),
        (SchedulerChoice::RoundRobin, Some(1)),
        (SchedulerChoice::Random, None),
        (SchedulerChoice::Laps, Some(2)),
    ] {
        for keep_going in [false, true] {
            let delaying = Delaying { scheduler: scheduler.clone(), delays_max, ..Delaying::default() };
            let by = |mode| Settings { delaying: Some(Delaying { mode, ..delaying.clone() }), ..settings(keep_going) };
            let (fast, exact) = (by(DelayMode::Fast), by(DelayMode::Exact));
            let of = |processes, settings: &Settings| {
                let outcome = partitions::by_delays(loaded, processes, settings);
                match (outcome.failure, outcome.report.properties.into_iter().next()) {
                    (None, report) => Ok(report),
                    (Some(failure), _) => Err(failure),
                }
            };
            let wrong = |why: &str| format!("{name}, {delaying:?}: {why}");
            let Some(one) = of(None, &fast).map_err(|why| wrong(&why))? else { return Ok(compared) };
            if one.verdict == Verdict::Faulty || STATES_MAX <= one.states {
                return Ok(compared);
            }
            let least = of(None, &exact).map_err(|why| wrong(&why))?.ok_or_else(|| wrong("no report"))?;
            let mut first: Option<PropertyReport> = None;
            for count in [2, 3, 5] {
                let told = of(Some(partitions::threads(count)), &fast).map_err(|why| wrong(&why))?;
                let told = told.ok_or_else(|| wrong("no report of several partitions"))?;
                let PropertyReport { verdict, states, transitions, .. } = told;
                if told.stopped == Some(Stopped::States) {
                    break;
                }
                let is_proved = one.verdict == Verdict::Holds && delays_max.is_none();
                if delays_max.is_none() && one.stopped != Some(Stopped::States) && one.verdict != verdict
                    || is_proved && (one.states, one.transitions) != (states, transitions)
                    || least.stopped != Some(Stopped::States)
                        && fewest(&told).is_some_and(|told| fewest(&least).is_none_or(|least| told < least))
                {
                    return Err(wrong(&format!("one thread and {count} partitions:\n{one:#?}\n{least:#?}\n{told:#?}")));
                }
                let told = PropertyReport {
                    memory_bytes: 0,
                    bytes_per_state: 0.0,
                    strategy: None,
                    workers: Vec::new(),
                    ..told
                };
                let known = first.get_or_insert_with(|| told.clone());
                if *known != told {
                    return Err(wrong(&format!("2 and {count} partitions:\n{known:#?}\n{told:#?}")));
                }
                compared = true;
            }
        }
    }
    Ok(compared)
}

#[test]
fn models_of_the_corpus() {
    let Some(corpus) = Corpus::load() else { return };
    let small = |entry: &&Entry| {
        entry.syntax.ok && entry.run("base").is_some_and(|run| run.complete && run.stored < STATES_MAX / 4)
    };
    let small: Vec<_> = corpus.entries.iter().filter(small).collect();
    let models = number("FABIUS_MODELS", MODELS).clamp(1, small.len());
    let some: Vec<_> = small.iter().step_by(small.len().div_ceil(models)).collect();
    let check = |entry: &&&Entry| read(&corpus.file(entry)).map_or(Ok(false), |loaded| compare(&entry.path, &loaded));
    conclude(parallel::map(&some, check), some.len() / 2);
}

#[test]
fn random_models() {
    compare_random_models(MODELS, 2, compare);
}
