//! Random models: the tool and Spin give the same verdict, the same kinds of violation and the same
//! number of states.
//!
//! `FABIUS_MODELS=n` says how many models (default [`MODELS`]), `FABIUS_SEED=n` where to begin; every
//! failure prints the seed, and the model made as small as it will go.

use fabius_testkit::compare::{Aspect, Disagreement, Expected, Said, compare};
use fabius_testkit::generate;
use fabius_testkit::parallel;
use fabius_testkit::scratch::Scratch;
use fabius_testkit::shrink::shrink;
use fabius_testkit::sketch::Sketch;
use fabius_testkit::spin::{Answer, Question, Spin};
use fabius_testkit::tool::Tool;
use std::time::Duration;

/// How many models are compared unless someone asks for more.
const MODELS: u64 = 60;
/// Questions asked while a failing model is made smaller.
const SHRINK_TRIES_MAX: usize = 1_500;
/// More states than this say nothing that fewer would not say.
const STATES_MAX: u64 = 60_000;

/// What came of a model.
enum Outcome {
    Agreed {
        accepted: bool,
        states: u64,
    },
    /// Spin gave no answer, or too large a one.
    Skipped,
    Differed(String),
}

#[test]
fn random_models_get_spins_answers() {
    let spin = match Spin::find() {
        Ok(spin) => spin.within(Duration::from_secs(4)),
        Err(missing) => return println!("skipped: {missing}"),
    };
    let tool = Tool::new(env!("CARGO_BIN_EXE_fabius")).within(Duration::from_secs(20));
    let first = number("FABIUS_SEED", 1);
    let seeds: Vec<u64> = (first..first + number("FABIUS_MODELS", MODELS)).collect();
    let outcomes = parallel::map(&seeds, |seed| judge(&spin, &tool, *seed));
    report(&outcomes);
}

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

fn report(outcomes: &[Outcome]) {
    let (mut accepted_count, mut rejected_count, mut skipped_count, mut states_sum) = (0, 0, 0, 0);
    let mut failures = Vec::new();
    for outcome in outcomes {
        match outcome {
            Outcome::Agreed { accepted: true, states } => {
                accepted_count += 1;
                states_sum += states;
            }
            Outcome::Agreed { .. } => rejected_count += 1,
            Outcome::Skipped => skipped_count += 1,
            Outcome::Differed(why) => failures.push(why.as_str()),
        }
    }
    println!(
        "{accepted_count} models agree ({states_sum} states), {rejected_count} are rejected by both, \
         {skipped_count} skipped, {} differ",
        failures.len()
    );
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(accepted_count * 2 > outcomes.len(), "most of the random models should be models");
}

fn judge(spin: &Spin, tool: &Tool, seed: u64) -> Outcome {
    let sketch = generate::model(seed);
    let Some((expected, disagreements)) = differences(spin, tool, &sketch) else { return Outcome::Skipped };
    let Some(first) = disagreements.first() else {
        return Outcome::Agreed { accepted: expected.accepted, states: expected.states.unwrap_or(0) };
    };
    let aspect = first.aspect;
    let small = shrink(sketch, SHRINK_TRIES_MAX, |candidate| differs_in(spin, tool, candidate, aspect).is_some());
    let difference = differs_in(spin, tool, &small, aspect).map_or_else(|| first.to_string(), |d| d.to_string());
    Outcome::Differed(format!("seed {seed}: {difference}\n{}", small.text()))
}

fn differs_in(spin: &Spin, tool: &Tool, sketch: &Sketch, aspect: Aspect) -> Option<Disagreement> {
    let (_, disagreements) = differences(spin, tool, sketch)?;
    disagreements.into_iter().find(|disagreement| disagreement.aspect == aspect)
}

/// What Spin says and in what the tool differs; `None` if Spin says nothing that could be compared.
fn differences(spin: &Spin, tool: &Tool, sketch: &Sketch) -> Option<(Expected, Vec<Disagreement>)> {
    let text = sketch.text();
    let plain = spin.ask(&text, Question::ALL_STATES);
    if matches!(&plain, Answer::Run(run) if run.stored > STATES_MAX) {
        return None;
    }
    let optimised = spin.ask(&text, Question { optimised: true, ..Question::ALL_STATES });
    let expected = Expected::asked(&plain, &optimised)?;
    let scratch = Scratch::new().expect("a scratch directory");
    let model = scratch.write("model.pml", &text).expect("a scratch file");
    let said = Said::by(tool, &model, &[]);
    Some((expected.clone(), compare(&expected, &said)))
}
