//! Proofs are audited: every state of random models and of the models that people are given.
//!
//! `FABIUS_AUDITS=n` says how many random models (default [`MODELS`]), `FABIUS_SEED=n` where to begin.

#![expect(clippy::disallowed_methods, reason = "models are read from files, and whoever runs the tests says how many")]

use fabius_base::{Cancel, Limits};
use fabius_engine::settings::{Audit, Storage};
use fabius_engine::{CheckContext, Cycles, Fairness, Order, Report, Settings, Verdict, check, load};
use fabius_testkit::generate::{claim, model};
use fabius_testkit::workspace;
use std::time::Duration;

/// Random models unless someone asks for more.
const MODELS: u64 = 10;
/// Models with more states are left alone.
const STATES_MAX: u64 = 400;

fn report(text: &str, settings: &Settings) -> Report {
    let loaded = load("m.pml", text.to_owned(), &[], &mut |_, _| None, settings);
    let mut context =
        CheckContext { cancel: &Cancel::new(), now: &|| Duration::ZERO, observe: &mut |_| {}, controls: None };
    check(&loaded, settings, &mut context).report
}

/// Settings under which every state of a proof is audited, by searches of all kinds.
fn searches() -> Vec<Settings> {
    let limits = Limits { states_max: Some(STATES_MAX), ..Limits::default() };
    let full = Settings { audit: Audit::Full, clarify_transitions_max: 0, limits, ..Settings::default() };
    vec![
        full.clone(),
        Settings { whole_states_max: 0, ..full.clone() },
        Settings { search: Order::BreadthFirst, optimize: false, ..full.clone() },
        Settings { cycles: Cycles::Components, reduction: false, ..full.clone() },
        Settings { cycles: Cycles::NestedDfs, ..full.clone() },
        Settings { fairness: Fairness::Weak, ..full },
    ]
}

/// Checks a text in every way; how many states were audited.
fn audit(name: &str, text: &str) -> u64 {
    let mut audited = 0;
    for settings in searches() {
        let report = report(text, &settings);
        assert_eq!(report.internal_error, None, "{name}, {settings:?}\n{text}");
        for property in &report.properties {
            let is_proof = property.verdict == Verdict::Holds && property.strategy.is_some();
            // Of what reads hidden variables, the visited set does not say enough.
            let reads_hidden = property.audited.is_none() && (text.contains("?_") || text.contains("hidden"));
            let all = is_proof.then_some(property.states);
            assert!(property.audited == all || reads_hidden, "{name}, {property:?}\n{text}");
            audited += property.audited.unwrap_or(0);
        }
    }
    audited
}

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

#[test]
fn proofs_of_random_models_are_right_in_every_state() {
    let first = number("FABIUS_SEED", 1);
    let mut audited = 0;
    for seed in first..first + number("FABIUS_AUDITS", MODELS) {
        let formulas = "\nltl once { <> (g1 == 1) }\nltl never { [] (g0 < 3) }";
        audited += audit(&format!("seed {seed} with formulas"), &format!("{}{formulas}", model(seed).text()));
        audited += audit(&format!("seed {seed} with a claim"), &claim::model_with_claim(seed).text());
        audited +=
            claim::model_with_trace(seed).map_or(0, |model| audit(&format!("seed {seed} with a trace"), &model.text()));
    }
    assert!(100 * MODELS < audited, "{audited}");
}

#[test]
fn proofs_of_the_example_models_are_right_in_every_state() {
    let folder = workspace().join("models");
    let mut audited = 0;
    for entry in std::fs::read_dir(folder).expect("the models") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|extension| extension == "pml") {
            audited += audit(&path.display().to_string(), &std::fs::read_to_string(&path).expect("readable"));
        }
    }
    assert!(1_000 < audited, "{audited}");
}

const COUNTING: &str = "byte x; active proctype p() { do :: x < 200 -> x++ :: x == 200 -> break od; assert(x == 200) }";

#[test]
fn a_proof_says_how_many_states_were_audited() {
    let with = |settings: Settings| {
        let property = report(COUNTING, &settings).properties.remove(0);
        assert!(property.exhaustive || !settings.store.is_none_or(Storage::is_exact));
        (property.states, property.audited)
    };
    let (states, audited) = with(Settings::default());
    assert!(audited.is_some_and(|audited| 50 < audited && audited <= states), "{audited:?} of {states}");
    assert_eq!(with(Settings { audit: Audit::Full, ..Settings::default() }), (states, Some(states)));
    assert_eq!(with(Settings { audit: Audit::Off, ..Settings::default() }), (states, None));
    for store in [Storage::Hash, Storage::Bitstate] {
        assert_eq!(with(Settings { store: Some(store), ..Settings::default() }).1, None);
    }
    let violated = report(&COUNTING.replace("assert(x == 200)", "assert(false)"), &Settings::default());
    assert_eq!(violated.properties[0].audited, None);
}

#[test]
fn what_depends_on_hidden_variables_is_not_audited() {
    let text = "hidden byte h; byte x; active proctype p() { h = 1; x = 2 }";
    assert!(report(text, &Settings::default()).properties[0].audited.is_some());
    let read = report(&text.replace("x = 2", "x = h"), &Settings::default());
    assert_eq!((read.verdict, read.properties[0].audited), (Verdict::Holds, None));
}
