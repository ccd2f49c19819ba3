//! How strong the properties of a model are: the model is changed a little in many ways, one at a time, and each mutant is checked.
//! A mutant that violates a property which held before is *killed* by it. One under which all of them still hold *survives*: no property
//! notices the change.
//!
//! After R. A. DeMillo, R. J. Lipton, F. G. Sayward, *Hints on test data selection* (1978), and, for model checking, H. Chockler,
//! O. Kupferman, M. Y. Vardi, *Coverage metrics for temporal logic model checking* (TACAS 2001). What is changed is told by
//! the language of the model ([`fabius_task::mutants`]).

pub mod report;

use fabius_base::{Cancel, StopReason};
use fabius_engine::report::{TOOL, VERSION};
use fabius_engine::settings::{Audit, VacuityExtent};
use fabius_engine::{CheckContext, Loaded, Outcome, Settings, Verdict, check};
use fabius_task::mutants::{TextMutant, effect, mutated, text_mutants};
use report::{BaselineReport, MutantOutcome, MutantReport, MutationReport, MutationStop};
use std::collections::BTreeSet;
use std::time::Duration;

/// What is to be done.
#[derive(Clone, Debug)]
pub struct MutationRequest {
    /// How the model and its mutants are checked, and which properties count.
    pub settings: Settings,
    /// Time for each mutant.
    pub per_mutant: Option<Duration>,
    /// Check at most this many mutants, drawn at random.
    pub limit: usize,
    /// Where the random numbers start.
    pub seed: u64,
}

/// What the work needs from outside.
pub struct MutationContext<'a> {
    /// Whoever raises this ends it.
    pub cancel: &'a Cancel,
    /// Time since some moment before.
    pub now: &'a (dyn Fn() -> Duration + Sync),
    /// Is told how many mutants of how many were checked.
    pub observe: &'a mut dyn FnMut(usize, usize),
}

/// A mutant that is a model, and what it is checked as.
struct Candidate {
    mutant: TextMutant,
    loaded: Loaded,
}

/// Checks the mutants of a model; `None` if the model cannot be checked.
pub fn mutation(
    loaded: &Loaded,
    request: &MutationRequest,
    context: &mut MutationContext<'_>,
) -> Option<MutationReport> {
    loaded.checkable()?;
    let began = (context.now)();
    let settings = Settings {
        vacuity: VacuityExtent::Off,
        audit: Audit::Off,
        hints: false,
        schedule: false,
        keep_going: false,
        until: None,
        ..request.settings.clone()
    };
    let original = verdicts(loaded, &settings, context);
    let mut report = MutationReport {
        tool: TOOL,
        version: VERSION,
        file: loaded.name.clone(),
        properties: (original.report.properties.iter())
            .map(|property| BaselineReport {
                name: property.name.clone(),
                verdict: property.verdict,
                counts: property.verdict == Verdict::Holds && property.exhaustive,
            })
            .collect(),
        generated: 0,
        unreadable: 0,
        equal: 0,
        killed: 0,
        survived: 0,
        undecided: 0,
        not_checked: 0,
        seed: request.seed,
        stopped: None,
        seconds: 0.0,
        mutants: Vec::new(),
        internal_error: original.failure,
    };
    let counted: Vec<String> = report.properties.iter().filter(|it| it.counts).map(|it| it.name.clone()).collect();
    if !counted.is_empty() && report.internal_error.is_none() {
        try_all(loaded, &settings, &counted, request, context, &mut report);
    }
    report.stopped = report.stopped.or(context.cancel.requested().map(MutationStop::from));
    report.seconds = ((context.now)() - began).as_secs_f64();
    Some(report)
}

fn verdicts(loaded: &Loaded, settings: &Settings, context: &MutationContext<'_>) -> Outcome {
    let mut observe = |_| {};
    let mut inner = CheckContext { cancel: context.cancel, now: context.now, observe: &mut observe, controls: None };
    check(loaded, settings, &mut inner)
}

fn try_all(
    loaded: &Loaded,
    settings: &Settings,
    counted: &[String],
    request: &MutationRequest,
    context: &mut MutationContext<'_>,
    report: &mut MutationReport,
) {
    let all = text_mutants(loaded);
    report.generated = all.len() as u64;
    let (mut seen, mut tried) = (BTreeSet::from_iter(effect(loaded)), Vec::new());
    for index in shuffled(all.len(), request.seed) {
        if context.cancel.requested().is_some() || request.limit <= tried.len() {
            break;
        }
        let Ok(changed) = mutated(loaded, &all[index], settings, context.cancel) else { break };
        match effect(&changed) {
            None => report.unreadable += 1,
            // It does what the model, or another mutant, does.
            Some(effect) if !seen.insert(effect) => report.equal += 1,
            Some(_) => tried.push((index, Candidate { mutant: all[index].clone(), loaded: changed })),
        }
    }
    let total = tried.len();
    report.not_checked = report.generated - report.unreadable - report.equal - total as u64;
    let mut done = Vec::new();
    for (number, (index, candidate)) in tried.into_iter().enumerate() {
        (context.observe)(number, total);
        if context.cancel.requested().is_some() {
            report.not_checked += 1;
            continue;
        }
        match try_one(loaded, settings, counted, request, context, &candidate) {
            Ok(told) => done.push((index, told)),
            Err(failure) => {
                report.internal_error = Some(failure);
                report.not_checked += (total - number) as u64;
                break;
            }
        }
    }
    done.sort_by_key(|(index, _)| *index);
    report.mutants = done.into_iter().map(|(_, told)| told).collect();
    let of = |outcome| report.mutants.iter().filter(|mutant| mutant.outcome == outcome).count() as u64;
    (report.killed, report.survived, report.undecided) =
        (of(MutantOutcome::Killed), of(MutantOutcome::Survived), of(MutantOutcome::Undecided));
}

/// Checks a mutant, one property after the other, until one notices it.
fn try_one(
    loaded: &Loaded,
    settings: &Settings,
    counted: &[String],
    request: &MutationRequest,
    context: &MutationContext<'_>,
    candidate: &Candidate,
) -> Result<MutantReport, String> {
    let mut told = MutantReport::new(&loaded.map, &candidate.mutant);
    let until = request.per_mutant.map(|time| (context.now)() + time);
    for name in counted {
        let settings = Settings { properties: vec![name.clone()], until, ..settings.clone() };
        let outcome = verdicts(&candidate.loaded, &settings, context);
        if let Some(failure) = outcome.failure {
            return Err(failure);
        }
        let Some(property) = outcome.report.properties.iter().find(|property| property.name == *name) else {
            told.outcome = MutantOutcome::Undecided;
            continue;
        };
        match property.verdict {
            Verdict::Violated => {
                told.outcome = MutantOutcome::Killed;
                told.killed_by = Some(name.clone());
                told.reason = property.violations.first().map(|violation| violation.message.clone());
                return Ok(told);
            }
            Verdict::Holds if property.exhaustive => {}
            _ => {
                told.outcome = MutantOutcome::Undecided;
                told.reason = Some(format!("{name}: {}", property.reason));
            }
        }
    }
    Ok(told)
}

impl From<StopReason> for MutationStop {
    fn from(reason: StopReason) -> Self {
        match reason {
            StopReason::Timeout => Self::Timeout,
            StopReason::Cancelled => Self::Cancelled,
            _ => Self::Memory,
        }
    }
}

/// The numbers below `count` in an order that depends on the seed alone (Fisher, Yates; SplitMix64).
fn shuffled(count: usize, seed: u64) -> Vec<usize> {
    let mut numbers: Vec<usize> = (0..count).collect();
    let mut state = seed;
    for last in (1..count).rev() {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        numbers.swap(last, ((z ^ (z >> 31)) % (last as u64 + 1)) as usize);
    }
    numbers
}
