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
use std::time::{Duration, Instant};

/// How many models are compared unless someone asks for more.
const MODELS: u64 = 60;
/// This many of the failing models are made smaller, …
const SHRUNK_MAX: usize = 4;
/// … with this many questions for each.
const SHRINK_TRIES_MAX: usize = 600;
/// … and so much time.
const SHRINK_TIME_MAX: Duration = Duration::from_secs(60);
/// More states than this say nothing that fewer would not say.
const STATES_MAX: u64 = 60_000;

/// Spin stops at an error of evaluation; what lies beyond it may be without end.
const LIMITS: [&str; 2] = ["--timeout", "10s"];

/// What came of a model.
enum Outcome {
    Agreed {
        accepted: bool,
        states: u64,
    },
    /// Spin gave no answer, or too large a one.
    Skipped,
    Differed {
        seed: u64,
        first: Disagreement,
    },
}

/// Who is asked.
struct Sides {
    spin: Spin,
    tool: Tool,
    /// Sends to full channels lose their messages.
    lossy: bool,
}

impl Sides {
    fn find(lossy: bool) -> Option<Self> {
        let spin = Spin::find()?.within(Duration::from_secs(4));
        let tool = Tool::new(env!("CARGO_BIN_EXE_fabius")).within(Duration::from_secs(20));
        Some(Self { spin, tool, lossy })
    }
}

#[test]
fn random_models_get_spins_answers() {
    ask_of_random_models(false);
}

#[test]
fn random_models_that_lose_messages_get_spins_answers() {
    ask_of_random_models(true);
}

fn ask_of_random_models(lossy: bool) {
    let Some(sides) = Sides::find(lossy) else { return };
    let first = number("FABIUS_SEED", 1);
    let seeds: Vec<u64> = (first..first + number("FABIUS_MODELS", MODELS)).collect();
    let outcomes = parallel::map(&seeds, |seed| judge(&sides, *seed));
    report(&sides, &outcomes);
}

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

fn report(sides: &Sides, outcomes: &[Outcome]) {
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
            Outcome::Differed { seed, first } => failures.push((*seed, first)),
        }
    }
    println!(
        "{accepted_count} models agree ({states_sum} states), {rejected_count} are rejected by both, \
         {skipped_count} skipped, {} differ",
        failures.len()
    );
    for (seed, first) in &failures {
        println!("seed {seed}: {first}");
    }
    let described = parallel::map(&failures[..failures.len().min(SHRUNK_MAX)], |(seed, first)| {
        format!("seed {seed}: {}", smallest(sides, *seed, first))
    });
    let others = failures.iter().skip(SHRUNK_MAX).map(|(seed, first)| format!("seed {seed}: {first}"));
    let complaints: Vec<String> = described.into_iter().chain(others).collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    assert!(accepted_count * 2 > outcomes.len(), "most of the random models should be models");
}

fn judge(sides: &Sides, seed: u64) -> Outcome {
    let Some((expected, disagreements)) = differences(sides, &generate::model(seed)) else {
        return Outcome::Skipped;
    };
    match disagreements.into_iter().next() {
        None => Outcome::Agreed { accepted: expected.accepted, states: expected.states.unwrap_or(0) },
        Some(first) => Outcome::Differed { seed, first },
    }
}

/// The model of a seed, made as small as it will go while it differs in the same way.
fn smallest(sides: &Sides, seed: u64, first: &Disagreement) -> String {
    let begun = Instant::now();
    let fails =
        |candidate: &Sketch| begun.elapsed() < SHRINK_TIME_MAX && differs_in(sides, candidate, first.aspect).is_some();
    let small = shrink(generate::model(seed), SHRINK_TRIES_MAX, fails);
    let difference = differs_in(sides, &small, first.aspect).unwrap_or_else(|| first.clone());
    format!("{difference}\n{}", small.text())
}

fn differs_in(sides: &Sides, sketch: &Sketch, aspect: Aspect) -> Option<Disagreement> {
    let (_, disagreements) = differences(sides, sketch)?;
    disagreements.into_iter().find(|disagreement| disagreement.aspect == aspect)
}

/// What Spin says and in what the tool differs; `None` if Spin says nothing that could be compared.
fn differences(sides: &Sides, sketch: &Sketch) -> Option<(Expected, Vec<Disagreement>)> {
    let text = sketch.text();
    let Sides { spin, tool, lossy } = sides;
    let question = Question { lossy: *lossy, ..Question::ALL_STATES };
    let plain = spin.ask(&text, question);
    if matches!(&plain, Answer::Run(run) if run.stored > STATES_MAX) {
        return None;
    }
    let optimised = match &plain {
        Answer::Run(_) => spin.ask(&text, Question { optimised: true, ..question }),
        _ => plain.clone(),
    };
    let expected = Expected::asked(&plain, &optimised)?;
    let scratch = Scratch::new().expect("a scratch directory");
    let text = if *lossy { format!("/*@ lossy */ {text}") } else { text };
    let model = scratch.write("model.pml", &text).expect("a scratch file");
    let said = Said::by(tool, &model, &LIMITS);
    Some((expected.clone(), compare(&expected, &said)))
}
