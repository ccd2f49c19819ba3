//! Numbers of executions against the verdicts of the check: random models and the corpus.

#![expect(clippy::disallowed_methods, reason = "models are read from files")]

use fabius_base::{Cancel, Limits};
use fabius_engine::report::ViolationClass;
use fabius_engine::{CheckContext, Loaded, Outcome, SAFETY, Settings, check, load};
use fabius_executions::{ExecutionsReport, ExecutionsRequest, NotCounted, executions};
use fabius_testkit::corpus::Corpus;
use fabius_testkit::generate;
use std::time::Duration;

/// Nodes at most; the numbers of larger models are not compared.
const NODES_MAX: u64 = 2_000;
/// Of the small models of the corpus, one in this many is compared.
const SAMPLED: usize = 8;
/// Small models of the corpus have at most this many states.
const CORPUS_STATES_MAX: u64 = 300;

fn settings() -> Settings {
    let limits = Limits { states_max: Some(20_000), ..Limits::default() };
    Settings { properties: vec![SAFETY.to_owned()], keep_going: true, optimize: false, limits, ..Settings::default() }
}

fn count(loaded: &Loaded, reduction: bool) -> Option<ExecutionsReport> {
    let limits = Limits { states_max: Some(NODES_MAX), ..Limits::default() };
    let request = ExecutionsRequest { reduction, count: 5, limits, ..ExecutionsRequest::default() };
    match executions(loaded, &request, &Cancel::new(), &|| Duration::ZERO) {
        Ok(found) => {
            assert_eq!(found.failure, None);
            Some(found.report)
        }
        Err(NotCounted::Faulty | NotCounted::Refused(_)) => None,
    }
}

fn checked(loaded: &Loaded) -> Outcome {
    let cancel = Cancel::new();
    let (now, observe) = (|| Duration::ZERO, &mut |_| {});
    check(loaded, &settings(), &mut CheckContext { cancel: &cancel, now: &now, observe, controls: None })
}

/// Whether the numbers of a model could be compared.
fn compare(name: &str, text: &str) -> Result<bool, String> {
    let mut nothing = |_: &str, _: &str| None;
    let loaded = load(name, text.to_owned(), &[], &mut nothing, &settings());
    if loaded.checkable().is_none() {
        return Ok(false);
    }
    let (Some(whole), Some(reduced)) = (count(&loaded, false), count(&loaded, true)) else { return Ok(false) };
    if !whole.exhaustive {
        return Ok(false);
    }
    let numbers = |report: &ExecutionsReport| {
        let one = |number: &Option<String>| number.clone().unwrap_or_default();
        [&report.executions, &report.failing, &report.stuck, &report.ok, &report.outcomes, &report.interleavings]
            .map(one)
    };
    if numbers(&whole) != numbers(&reduced) {
        return Err(format!("{:?}, reduced {:?}", numbers(&whole), numbers(&reduced)));
    }
    let outcome = checked(&loaded);
    let safety = &outcome.report.properties[0];
    if !safety.exhaustive {
        return Ok(false);
    }
    let has = |wanted: bool| safety.violations.iter().any(|v| (v.kind == ViolationClass::InvalidEndState) == wanted);
    let some = |number: &Option<String>| number.as_deref() != Some("0");
    if (some(&whole.stuck), some(&whole.failing)) != (has(true), has(false)) {
        let kinds: Vec<ViolationClass> = safety.violations.iter().map(|violation| violation.kind).collect();
        return Err(format!("{:?} stuck, {:?} fail; the check finds {kinds:?}", whole.stuck, whole.failing));
    }
    Ok(true)
}

#[test]
fn executions_fail_or_get_stuck_exactly_if_the_check_finds_that() {
    let mut compared = 0;
    for seed in 0..150 {
        let sketch = if seed % 2 == 0 { generate::model(seed) } else { generate::model_with_faults(seed) };
        let text = sketch.text();
        match compare("random.pml", &text) {
            Ok(counts) => compared += u64::from(counts),
            Err(why) => panic!("seed {seed}: {why}\n{text}"),
        }
    }
    assert!(compared > 20, "{compared} models were compared");
}

#[test]
fn so_they_do_in_models_of_the_corpus() {
    let Some(corpus) = Corpus::load() else { return };
    let is_small = |entry: &&fabius_testkit::corpus::Entry| {
        entry.run("base").is_some_and(|base| base.complete && base.stored <= CORPUS_STATES_MAX)
    };
    let (mut compared, mut wrong) = (0, Vec::new());
    for entry in corpus.entries.iter().filter(is_small).step_by(SAMPLED) {
        let Ok(text) = std::fs::read_to_string(corpus.file(entry)) else { continue };
        match compare(&entry.path, &text) {
            Ok(counts) => compared += u64::from(counts),
            Err(why) => wrong.push(format!("{}: {why}", entry.path)),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(compared > 2, "{compared} models were compared");
}
