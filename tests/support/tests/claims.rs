//! Cycles of random models, with and without random claims: the product of machine and claim, searched by brute
//! force, gives Spin's verdict.
//!
//! `FABIUS_MODELS=n` says how many models (default [`MODELS`]), `FABIUS_SEED=n` where to begin; every failure
//! prints the seed.

use fabius_testkit::generate::claim::{CLAIM, model_with_claim};
use fabius_testkit::parallel;
use fabius_testkit::product;
use fabius_testkit::shrink::shrink;
use fabius_testkit::sketch::Sketch;
use fabius_testkit::spin::{Answer, Endless, Spin, is_endless};
use std::time::Duration;

/// How many models are compared unless someone asks for more.
const MODELS: u64 = 40;
/// More states than this say nothing that fewer would not say.
const STATES_MAX: usize = 3_000;
/// So many of the failing models are made smaller.
const SHRUNK_MAX: usize = 2;

/// A question to both.
#[derive(Clone, Copy, Debug)]
struct Question {
    endless: Endless<'static>,
    fair: bool,
}

const QUESTIONS: [Question; 6] = [
    Question { endless: Endless::Progress, fair: false },
    Question { endless: Endless::Progress, fair: true },
    Question { endless: Endless::Acceptance, fair: false },
    Question { endless: Endless::Acceptance, fair: true },
    Question { endless: Endless::Claim(CLAIM), fair: false },
    Question { endless: Endless::Claim(CLAIM), fair: true },
];

/// What the product says; `None` if it cannot be asked.
fn product_says(sketch: &Sketch, question: Question) -> Option<bool> {
    product::violated(&sketch.text(), question.endless, question.fair, STATES_MAX)
}

/// What Spin says; `None` if it does not.
fn spin_says(spin: &Spin, sketch: &Sketch, question: Question) -> Option<bool> {
    match spin.ask_endless(&sketch.text(), question.endless, question.fair) {
        Answer::Run(run) if run.complete => Some(run.messages.iter().any(|message| is_endless(message))),
        _ => None,
    }
}

fn differ(spin: &Spin, sketch: &Sketch, question: Question) -> Option<(bool, bool)> {
    let ours = product_says(sketch, question)?;
    let spins = spin_says(spin, sketch, question)?;
    Some((ours, spins))
}

#[test]
fn random_claims_get_spins_answers() {
    let spin = match Spin::find() {
        Ok(spin) => spin.within(Duration::from_secs(8)),
        Err(missing) => return println!("skipped: {missing}"),
    };
    let number = |variable: &str, otherwise: u64| {
        std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
    };
    let first = number("FABIUS_SEED", 1);
    let seeds: Vec<u64> = (first..first + number("FABIUS_MODELS", MODELS)).collect();
    let answers = parallel::map(&seeds, |seed| {
        let sketch = model_with_claim(*seed);
        let question = QUESTIONS[*seed as usize % QUESTIONS.len()];
        (*seed, question, differ(&spin, &sketch, question))
    });
    let (mut violated, mut held, mut skipped) = (0, 0, 0);
    let mut complaints = Vec::new();
    for (seed, question, answer) in answers {
        match answer {
            None => skipped += 1,
            Some((true, true)) => violated += 1,
            Some((false, false)) => held += 1,
            Some((ours, spins)) => complaints.push((seed, question, ours, spins)),
        }
    }
    println!("{held} hold, {violated} are violated, {skipped} skipped, {} differ", complaints.len());
    let told: Vec<String> = complaints
        .iter()
        .enumerate()
        .map(|(index, (seed, question, ours, spins))| {
            let mut sketch = model_with_claim(*seed);
            if index < SHRUNK_MAX {
                let fails = |candidate: &Sketch| {
                    differ(&spin, candidate, *question).is_some_and(|(a, b)| (a, b) == (*ours, *spins))
                };
                sketch = shrink(sketch, 300, fails);
            }
            format!("seed {seed}, {question:?}: the product says {ours}, Spin {spins}\n{}", sketch.text())
        })
        .collect();
    assert!(told.is_empty(), "{}", told.join("\n"));
    assert!(held + violated > skipped, "most of the models should give an answer");
    assert!(held.min(violated) * 8 > held + violated, "both answers should occur");
}
