//! Runtime errors end runs. What a search for infinite runs says of the others is the same whether it is reduced or not,
//! and it never says *holds* where a runtime error can be reached.
//!
//! `FABIUS_WALKS=n` says how many random models, `FABIUS_SEED=n` where to begin.

use fabius_engine::report::{PropertyReport, Stopped, ViolationClass};
use fabius_engine::{CheckContext, Settings, Verdict, check, load};
use fabius_testkit::{generate, parallel};
use std::time::Duration;

/// Random models unless someone asks for more.
const MODELS: u64 = 300;
/// Larger models say little more.
const STATES_MAX: u64 = 20_000;

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// What no run violates: its automaton goes along with every run to its end.
const TRUE: &str = "[] (g1 <= 255)";

/// The report on one property, or nothing if the model is faulty.
fn ask(text: &str, property: &str, settings: &Settings) -> Option<PropertyReport> {
    let settings = Settings { properties: vec![property.to_owned()], ..settings.clone() };
    let loaded = load("model.pml", text.to_owned(), &[], &mut |_, _| None, &settings);
    let cancel = fabius_base::Cancel::new();
    let mut observe = |_| {};
    let mut context = CheckContext { cancel: &cancel, now: &|| Duration::ZERO, observe: &mut observe, controls: None };
    let outcome = check(&loaded, &settings, &mut context);
    assert_eq!(outcome.failure, None, "{text}");
    outcome.report.properties.into_iter().find(|report| report.name == property && report.verdict != Verdict::Faulty)
}

#[derive(Default)]
struct Compared {
    models: usize,
    cut: usize,
    reduced: usize,
}

/// Compares the answers about one model.
fn compare(seed: u64) -> Result<Compared, String> {
    let formulas = ["[] (g1 != 2)", "<> (g0 == 2)", "[] <> (b0 == 0)", "[] (s0 <= 2)", TRUE];
    let formula = formulas[seed as usize % formulas.len()];
    let text = format!("{}\nltl asked {{ {formula} }}\n", generate::model_with_faults(seed).text());
    let limits = fabius_base::Limits { states_max: Some(STATES_MAX), ..Settings::default().limits };
    let whole = Settings { limits, reduction: false, ..Settings::default() };
    let everything = Settings { keep_going: true, ..whole.clone() };
    let Some(safety) = ask(&text, "safety", &everything).filter(|report| report.stopped.is_none()) else {
        return Ok(Compared::default());
    };
    let can_fail = safety.violations.iter().any(|violation| violation.kind == ViolationClass::Evaluation);
    let Some(plain) = ask(&text, "asked", &whole) else { return Ok(Compared::default()) };
    let Some(reduced) = ask(&text, "asked", &Settings { reduction: true, ..whole }) else {
        return Err(format!("seed {seed}: faulty only if reduced\n{text}"));
    };
    if [&plain, &reduced].into_iter().any(|report| report.stopped == Some(Stopped::States)) {
        return Ok(Compared::default());
    }
    let (verdict, stopped) = (plain.verdict, plain.stopped);
    if (reduced.verdict, reduced.stopped) != (verdict, stopped) {
        return Err(format!("seed {seed}: {verdict:?} as it is, {:?} if reduced\n{text}", reduced.verdict));
    }
    let is_cut = stopped == Some(Stopped::RuntimeErrors);
    if formula == TRUE && is_cut != can_fail {
        return Err(format!("seed {seed}: {verdict:?}, where a runtime error is reached: {can_fail}\n{text}"));
    }
    Ok(Compared { models: 1, cut: usize::from(is_cut), reduced: usize::from(reduced.states < plain.states) })
}

#[test]
fn nothing_is_said_of_what_lies_behind_a_runtime_error() {
    let first = number("FABIUS_SEED", 1);
    let seeds: Vec<u64> = (first..first + number("FABIUS_WALKS", MODELS)).collect();
    let mut all = Compared::default();
    for compared in parallel::map(&seeds, |seed| compare(*seed)) {
        let Compared { models, cut, reduced } = compared.unwrap_or_else(|difference| panic!("{difference}"));
        (all.models, all.cut, all.reduced) = (all.models + models, all.cut + cut, all.reduced + reduced);
    }
    println!("{} models compared, {} cut by runtime errors, {} reduced", all.models, all.cut, all.reduced);
    assert!(seeds.len() < 100 || all.cut * 10 > seeds.len() && all.reduced > 0);
}
