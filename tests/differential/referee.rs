//! The machine that searches and the interpreter that is written for reading compute the same: they walk side
//! by side through the models of the book and through random ones, as they stand and optimised.
//!
//! `FABIUS_WALKS=n` says how many random models (default [`MODELS`]), `FABIUS_SEED=n` where to begin.

use fabius_testkit::generate::claim;
use fabius_testkit::referee::{self, Options};
use fabius_testkit::{book, generate, parallel};

/// Random models unless someone asks for more.
const MODELS: u64 = 300;
/// Steps in each model.
const STEPS: usize = 400;

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// Walks through each text; says how many were models.
fn walk_all(texts: &[(String, String)]) -> usize {
    let results = parallel::map(texts, |(name, text)| {
        let mut walked = 0;
        for options in [Options::NONE, Options::ALL] {
            let Some(program) = referee::program(text, options) else { continue };
            for watch in referee::watches(&program) {
                referee::walk_watching(&program, watch, 1, STEPS)
                    .map_err(|why| format!("{name}, {options:?}, {watch:?}: {why}\n{text}"))?;
            }
            walked += 1;
        }
        Ok(walked)
    });
    let failures: Vec<&String> =
        results.iter().filter_map(|result: &Result<usize, String>| result.as_ref().err()).collect();
    assert!(failures.is_empty(), "{} differ, the first: {}", failures.len(), failures[0]);
    results.iter().filter_map(|result| result.as_ref().ok()).filter(|walked| **walked == 2).count()
}

#[test]
fn machine_and_witness_agree_on_the_book() {
    let rules = book::load(&book::directory()).expect("the book can be read");
    let texts: Vec<_> = rules.into_iter().map(|rule| (format!("{}:{}", rule.page, rule.line), rule.model)).collect();
    let walked = walk_all(&texts);
    println!("{walked} of {} models walked", texts.len());
    assert!(walked * 2 > texts.len());
}

#[test]
fn machine_and_witness_agree_on_random_models() {
    let first = number("FABIUS_SEED", 1);
    let seeds = first..first + number("FABIUS_WALKS", MODELS);
    let texts: Vec<_> = seeds.map(|seed| (format!("seed {seed}"), generate::model(seed).text())).collect();
    let walked = walk_all(&texts);
    println!("{walked} of {} models walked", texts.len());
    assert!(walked * 2 > texts.len());
}

#[test]
fn machine_and_witness_agree_where_statements_fail_in_several_places() {
    let first = number("FABIUS_SEED", 1);
    let seeds = first..first + number("FABIUS_WALKS", MODELS);
    let texts: Vec<_> =
        seeds.map(|seed| (format!("seed {seed} with faults"), generate::model_with_faults(seed).text())).collect();
    let walked = walk_all(&texts);
    println!("{walked} of {} models walked", texts.len());
    assert!(walked * 2 > texts.len());
}

#[test]
fn machine_and_witness_agree_beside_random_claims_and_event_traces() {
    let first = number("FABIUS_SEED", 1);
    let seeds = first..first + number("FABIUS_WALKS", MODELS) / 2;
    let claims = seeds.clone().map(|seed| (format!("seed {seed} with a claim"), claim::model_with_claim(seed)));
    let traces = seeds.filter_map(|seed| Some((format!("seed {seed} with a trace"), claim::model_with_trace(seed)?)));
    let texts: Vec<_> = claims.chain(traces).map(|(name, sketch)| (name, sketch.text())).collect();
    let walked = walk_all(&texts);
    println!("{walked} of {} models walked", texts.len());
    assert!(walked * 2 > texts.len());
}
