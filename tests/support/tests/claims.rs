//! Cycles of random models, with and without random claims: the product of machine and claim, searched by brute
//! force, gives Spin's verdict.
//!
//! `FABIUS_MODELS=n` says how many models (default [`MODELS`]), `FABIUS_SEED=n` where to begin; every failure
//! prints the seed.

use fabius_program::Move;
use fabius_testkit::Kind;
use fabius_testkit::generate::claim::{CLAIM, model_with_claim, model_with_trace};
use fabius_testkit::parallel;
use fabius_testkit::product::{self, Verdict};
use fabius_testkit::shrink::shrink;
use fabius_testkit::sketch::Sketch;
use fabius_testkit::spin::{self, Answer, InfiniteRun, Spin, is_infinite};
use fabius_witness::format::trail::trail;
use fabius_witness::{Claim, confirm_watching};
use std::time::Duration;

/// How many models are compared unless someone asks for more.
const MODELS: u64 = 40;
/// More states than this say nothing that fewer would not say.
const STATES_MAX: usize = 3_000;
/// This many of the failing models are made smaller.
const SHRUNK_MAX: usize = 3;

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// A question to both.
#[derive(Clone, Copy, Debug)]
struct Question {
    infinite: InfiniteRun<'static>,
    fair: bool,
}

const QUESTIONS: [Question; 6] = [
    Question { infinite: InfiniteRun::Progress, fair: false },
    Question { infinite: InfiniteRun::Progress, fair: true },
    Question { infinite: InfiniteRun::Acceptance, fair: false },
    Question { infinite: InfiniteRun::Acceptance, fair: true },
    Question { infinite: InfiniteRun::Claim(CLAIM), fair: false },
    Question { infinite: InfiniteRun::Claim(CLAIM), fair: true },
];

/// What Spin says; `None` if it does not.
fn spin_says(spin: &Spin, sketch: &Sketch, question: Question) -> Option<bool> {
    match spin.ask_infinite(&sketch.text(), question.infinite, question.fair) {
        Answer::Run(run) if run.complete => Some(run.messages.iter().any(|message| is_infinite(message))),
        _ => None,
    }
}

/// What came of a model.
enum Outcome {
    Skipped,
    Agreed(bool),
    /// Spin's `-f` overlooks a run that the reference interpreter confirms.
    Overlooked,
    Differed(String),
}

fn judge(spin: &Spin, sketch: &Sketch, question: Question) -> Outcome {
    let text = sketch.text();
    let Some(verdict) = product::verdict(&text, question.infinite, question.fair, STATES_MAX) else {
        return Outcome::Skipped;
    };
    if let Some((path, claim)) = &verdict.run
        && let Err(why) = proved(spin, &text, &verdict, path, *claim)
    {
        return Outcome::Differed(why);
    }
    if !verdict.comparable {
        return Outcome::Skipped;
    }
    match (verdict.run.is_some(), spin_says(spin, sketch, question)) {
        (_, None) => Outcome::Skipped,
        (true, Some(false)) if question.fair => Outcome::Overlooked,
        (ours, Some(spins)) if ours != spins => Outcome::Differed(format!("the product says {ours}, Spin {spins}")),
        (ours, _) => Outcome::Agreed(ours),
    }
}

/// The run that the product found is one to the reference interpreter as well, and Spin replays it.
fn proved(spin: &Spin, text: &str, verdict: &Verdict, path: &[Move], claim: Claim) -> Result<(), String> {
    confirm_watching(&verdict.program, verdict.watch, path, claim).map_err(|why| format!("the run is none: {why}"))?;
    let start = match claim {
        Claim::Cycle { start, .. } => Some(start),
        _ => None,
    };
    // Spin's simulator takes a rendezvous channel for full.
    if text.contains("nfull(") {
        return Ok(());
    }
    let trail = trail(&verdict.program, path, start);
    let replay = spin.replay(text, &trail)?;
    let bad = ["no matching stmnt", "invalid statement", "transition failed", "no process", "stop error", "(?)"];
    let complaint = bad.iter().find(|bad| replay.contains(**bad));
    let marks_cycle = replay.contains("START OF CYCLE");
    if complaint.is_some() || marks_cycle != start.is_some() {
        return Err(format!("Spin cannot replay the trail ({complaint:?}):\n{trail}\n{replay}"));
    }
    Ok(())
}

#[test]
fn random_claims_get_spins_answers() {
    let Some(spin) = Spin::find().map(|spin| spin.within(Duration::from_secs(8))) else { return };
    let first = number("FABIUS_SEED", 1);
    let seeds: Vec<u64> = (first..first + number("FABIUS_MODELS", MODELS)).collect();
    let outcomes = parallel::map(&seeds, |seed| {
        let question = QUESTIONS[*seed as usize % QUESTIONS.len()];
        (*seed, question, judge(&spin, &model_with_claim(*seed), question))
    });
    let (mut violated, mut held, mut skipped, mut overlooked) = (0, 0, 0, 0);
    let mut complaints = Vec::new();
    for (seed, question, outcome) in outcomes {
        match outcome {
            Outcome::Skipped => skipped += 1,
            Outcome::Overlooked => overlooked += 1,
            Outcome::Agreed(true) => violated += 1,
            Outcome::Agreed(false) => held += 1,
            Outcome::Differed(why) => complaints.push((seed, question, why)),
        }
    }
    println!(
        "{held} hold, {violated} are violated, Spin overlooks {overlooked}, {skipped} skipped, {} differ",
        complaints.len()
    );
    let told: Vec<String> = complaints
        .iter()
        .enumerate()
        .map(|(index, (seed, question, why))| {
            let mut sketch = model_with_claim(*seed);
            if index < SHRUNK_MAX {
                let fails = |candidate: &Sketch| matches!(judge(&spin, candidate, *question), Outcome::Differed(_));
                sketch = shrink(sketch, 300, fails);
            }
            format!("seed {seed}, {question:?}: {why}\n{}", sketch.text())
        })
        .collect();
    assert!(told.is_empty(), "{}", told.join("\n"));
    assert!(2 * (held + violated) > skipped, "most of the models should give an answer");
    assert!(overlooked * 10 < held + violated, "Spin overlooks little");
    assert!(held.min(violated) * 8 > held + violated, "both answers should occur");
}

#[test]
fn random_event_traces_get_spins_answers() {
    let Some(spin) = Spin::find().map(|spin| spin.within(Duration::from_secs(8))) else { return };
    let first = number("FABIUS_SEED", 1);
    let seeds: Vec<u64> = (first..first + number("FABIUS_MODELS", MODELS)).collect();
    let judge = |sketch: &Sketch| -> Option<Result<bool, String>> {
        let (kinds, states) = product::beside_trace(&sketch.text(), 20 * STATES_MAX)?;
        let violated = kinds.contains(&Kind::Trace);
        let Answer::Run(run) = spin.ask(&sketch.text(), spin::Question::ALL_STATES) else { return None };
        if !run.complete || run.kinds().contains(&Kind::Evaluation) {
            return None;
        }
        let spins = run.kinds().contains(&Kind::Trace);
        Some(if violated != spins {
            Err(format!("the product says {violated}, Spin {spins}"))
        } else if !violated && (kinds != run.kinds() || states != run.stored) {
            // After a violation Spin goes on as if nothing had happened.
            Err(format!("the product has {states} states and {kinds:?}, Spin {} and {:?}", run.stored, run.kinds()))
        } else {
            Ok(violated)
        })
    };
    let judged = parallel::map(&seeds, |seed| model_with_trace(*seed).and_then(|sketch| judge(&sketch)));
    let count = |wanted: bool| judged.iter().flatten().filter(|answer| **answer == Ok(wanted)).count();
    let (violated, held) = (count(true), count(false));
    println!("{held} hold, {violated} are violated, of {}", seeds.len());
    for (seed, answer) in seeds.iter().zip(&judged) {
        if let Some(Err(_)) = answer {
            let fails = |candidate: &Sketch| matches!(judge(candidate), Some(Err(_)));
            let small = model_with_trace(*seed).map(|sketch| shrink(sketch, 300, fails));
            let why = small.as_ref().and_then(judge);
            panic!("seed {seed}: {why:?}\n{}", small.map(|small| small.text()).unwrap_or_default());
        }
    }
    assert!(0 < violated && 0 < held, "both answers should occur");
}
