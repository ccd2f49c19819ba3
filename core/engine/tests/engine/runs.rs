//! What is told of a run in other ways than step by step, compared with what its steps say that they change: pictures of the model's own,
//! and the Informal Trace Format.

use fabius_analysis::picture::moving_picture;
use fabius_base::{Cancel, Limits};
use fabius_engine::{CheckContext, Counterexample, Loaded, Settings, check, load};
use fabius_testkit::generate::small;
use fabius_testkit::parallel;
use fabius_witness::format::itf::itf;
use fabius_witness::{Changed, Trace};
use serde_json::Value;
use std::collections::HashMap;
use std::time::Duration;

/// Searches of random models end here; what was found by then is compared.
const STATES_MAX: u64 = 5_000;

type Values = HashMap<String, String>;

fn counterexamples(text: &str) -> (Loaded, Vec<Counterexample>) {
    let limits = Limits { states_max: Some(STATES_MAX), ..Limits::default() };
    let settings = Settings { limits, ..Settings::default() };
    let loaded = load("model.pml", text.to_owned(), &[], &mut |_, _| None, &settings);
    let mut observe = |_| {};
    let now = &|| Duration::ZERO;
    let mut context = CheckContext { cancel: &Cancel::new(), now, observe: &mut observe, controls: None };
    let outcome = check(&loaded, &settings, &mut context);
    assert_eq!(outcome.failure, None, "{text}");
    (loaded, outcome.counterexamples)
}

/// The global variables after each step, as the steps say that they change; first in the initial state.
fn replayed(trace: &Trace) -> Vec<Values> {
    let mut values: Values = trace.start.variables.iter().cloned().collect();
    let mut along = vec![values.clone()];
    for step in trace.taken() {
        for change in step.changes.iter().filter(|change| change.what == Changed::Variable && change.pid.is_none()) {
            assert_eq!(values.get(&change.name), Some(&change.old), "{change:?}");
            values.insert(change.name.clone(), change.new.clone());
        }
        along.push(values.clone());
    }
    along
}

/// A value of the format as a person reads it.
fn read(value: &Value) -> String {
    match value {
        Value::Bool(value) => value.to_string(),
        Value::String(text) => text.clone(),
        value => value["#bigint"].as_str().expect("a number is text").to_owned(),
    }
}

/// Compares a trace in the format; returns whether it goes back to an earlier state.
fn compare_itf(text: &str, loaded: &Loaded, trace: &Trace, along: &[Values]) -> bool {
    let told = serde_json::to_value(itf(trace, &loaded.map)).expect("plain data");
    let states = told["states"].as_array().expect("states");
    let back_to = told.get("loop").map(|index| index.as_u64().expect("an index") as usize);
    // Of a run into a loop, the state to which it goes back is written once.
    let goes_back = trace.cycle_start.is_some_and(|start| start <= trace.len());
    let fault = usize::from(states.len() + usize::from(goes_back) < along.len());
    assert_eq!(states.len() + usize::from(goes_back) + fault, along.len(), "{text}");
    assert_eq!(back_to, trace.cycle_start.map(|start| start - 1), "{text}");
    if goes_back {
        assert_eq!(along.last(), along.get(trace.cycle_start.map_or(0, |start| start - 1)), "{text}");
    }
    for (index, (state, values)) in states.iter().zip(along).enumerate() {
        assert_eq!(state["#meta"]["index"], index, "{text}");
        for (name, value) in values {
            let told = match name.split_once('[') {
                Some((array, element)) => {
                    let element: usize = element.trim_end_matches(']').parse().expect("an index");
                    read(&state[array][element])
                }
                None => read(&state[name]),
            };
            assert_eq!(told, *value, "{name} after step {index}\n{text}");
        }
    }
    goes_back
}

fn compare_picture(text: &str, loaded: &Loaded, example: &Counterexample, along: &[Values]) {
    let names: Vec<&String> = along[0].keys().collect();
    let bound: String = names.iter().map(|name| format!("<text data-fabius-text=\"{name}\">?</text>")).collect();
    let svg = format!("<svg xmlns=\"http://www.w3.org/2000/svg\">{bound}</svg>");
    let picture = moving_picture(loaded, example, &svg).unwrap_or_else(|why| panic!("{why}\n{text}"));
    assert_eq!(picture.bindings.len(), names.len());
    for (binding, name) in picture.bindings.iter().zip(names) {
        for (step, values) in along.iter().enumerate() {
            // The last step may fail, and then leads nowhere.
            let known =
                binding.values.iter().rev().find(|value| value.step <= step).and_then(|value| value.value.as_ref());
            assert_eq!(known, values.get(name), "{name} after step {step}\n{text}");
        }
        let last = binding.values.last().and_then(|value| value.value.clone()).unwrap_or_default();
        assert!(picture.svg.contains(&format!("data-bound=\"{}\">{last}</text>", binding.element)), "{}", picture.svg);
    }
}

#[test]
fn pictures_and_itf_say_what_the_steps_change() {
    let seeds: Vec<u64> = (0..240).collect();
    let runs = parallel::map(&seeds, |&seed| {
        let text = format!("{}\nltl p {{ {} }}\n", small::model(seed), small::formula(seed));
        let (loaded, examples) = counterexamples(&text);
        let mut counted = (0, 0);
        for example in &examples {
            let along = replayed(&example.trace);
            let goes_back = compare_itf(&text, &loaded, &example.trace, &along);
            compare_picture(&text, &loaded, example, &along);
            counted = (counted.0 + 1, counted.1 + usize::from(goes_back));
        }
        counted
    });
    let (runs, loops) = runs.iter().fold((0, 0), |sum, run| (sum.0 + run.0, sum.1 + run.1));
    assert!(runs > 100 && loops > 20, "{runs} runs, {loops} loops");
}

#[test]
fn a_picture_that_cannot_be_shown_says_why() {
    let (loaded, examples) = counterexamples("byte n; active proctype P() { n = 1; assert(false) }");
    let told = |inside: &str| {
        let svg = format!("<svg xmlns=\"http://www.w3.org/2000/svg\">{inside}</svg>");
        moving_picture(&loaded, &examples[0], &svg)
    };
    assert_eq!(told("<text data-fabius-text=\"m\"/>"), Err("`m`: `m` is not declared".to_owned()));
    assert!(told("<script/>").is_err());
    let shown = told("<rect data-fabius-shown=\"n == 1\" data-fabius-x=\"10 * n\"/>").expect("a picture");
    let values: Vec<_> = shown.bindings.iter().map(|binding| binding.values.len()).collect();
    assert_eq!(values, [2, 2]);
    assert!(shown.svg.contains("display=\"inline\" x=\"10\""), "{}", shown.svg);
}
