//! The run that violates a property before a change of the model, beside the one after it.

use super::{ComparedRun, RunComparison, compare_runs};
use crate::replay::Followed;
use crate::{Blocked, Counterexample, Replay};
use fabius_program::{Move, Program, Watch, meaning::Fault};
use fabius_task::load::Loaded;
use fabius_task::meaning::SourceProgram;
use fabius_task::query::event_trace;
use fabius_task::words::counted;
use fabius_witness::{Claim, Disagreement, Trace, confirm_watching};
use serde::Serialize;
use std::sync::Arc;

/// A version of a model, and what is known of a property in it.
#[derive(Clone, Copy)]
pub struct Version<'a> {
    /// The model.
    pub loaded: &'a Loaded,
    /// The name of the property.
    pub property: &'a str,
    /// The run that violates it, if one is known.
    pub example: Option<&'a Counterexample>,
}

/// Two versions of a model: what became of the run that violates a property in one of them.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct VersionComparison {
    /// The run of one version, followed in the other one.
    pub followed: FollowedRunRecord,
    /// Whether both versions have a run that violates the property: these are compared. Else the run that was followed is
    /// compared with what became of it.
    pub both_violate: bool,
    /// The run of the old version and that of the new one; absent if they cannot be compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs: Option<RunComparison>,
    /// Why they are not compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_compared: Option<String>,
}

/// What became of a run in another version of its model.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum FollowedRun {
    /// It violates the property there, too.
    Violates,
    /// All of its steps are possible, and it does not violate the property.
    DoesNotViolate,
    /// Its steps are possible, and do not lead back to where its loop starts.
    LoopStaysOpen,
    /// A step is not possible.
    Blocked,
    /// It was not followed.
    NotTried,
}

/// What became of a run in another version of its model, with its place and a sentence.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct FollowedRunRecord {
    /// Whether it is the run of the old version, followed in the new one; else the other way round.
    pub of_old: bool,
    /// What became of it.
    pub outcome: FollowedRun,
    /// Number of its steps that could be followed.
    pub steps: usize,
    /// Number of steps that it has.
    pub of: usize,
    /// Numbers of the steps that were left out, since their statements are not in the other version.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<usize>,
    /// Number of the first step that is not possible, is left out, or has another effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub departs: Option<usize>,
    /// All of it, in sentences without their full stops.
    pub sentences: Vec<String>,
}

/// Compares the runs that violate a property before and after a change; `None` if neither version is known to
/// violate it, or the text of one is faulty.
pub fn compare_versions(old: &Version<'_>, new: &Version<'_>) -> Option<VersionComparison> {
    let (of_old, from, to, example) = match (old.example, new.example) {
        (Some(example), _) => (true, old, new, example),
        (None, Some(example)) => (false, new, old, example),
        (None, None) => return None,
    };
    let (source, there) = (SourceProgram::of(from.loaded)?, SourceProgram::of(to.loaded)?);
    let followed = Followed::of(&there, &source, to.property, &example.trace);
    let program = there.program();
    let there = trace_of(program, to.property, &followed.path);
    let ends = ending_there(&followed.replay, there.as_ref(), example);
    let run =
        ComparedRun { program: &example.told, trace: &example.trace, map: &from.loaded.map, ends: &ending_of(example) };
    let in_other = there.as_ref().map(|trace| ComparedRun { program, trace, map: &to.loaded.map, ends: &ends });
    let both = old.example.zip(new.example);
    let tried = !matches!(followed.replay, Replay::Unknown);
    let walked = in_other.filter(|_| tried).map(|other| compare_runs(&run, &other));
    let record =
        record(of_old, &followed, &example.trace, walked.as_ref().and_then(|walked| walked.as_ref().ok()), &ends);
    let runs = match (both, in_other) {
        (Some((_, after)), _) => {
            let ends = ending_of(after);
            compare_runs(
                &run,
                &ComparedRun { program: &after.told, trace: &after.trace, map: &new.loaded.map, ends: &ends },
            )
        }
        (None, Some(other)) if tried && of_old => compare_runs(&run, &other),
        (None, Some(other)) if tried => compare_runs(&other, &run),
        _ => Err("the run could not be followed in the other version".to_owned()),
    };
    let (runs, not_compared) = runs.map_or_else(|why| (None, Some(why)), |runs| (Some(runs), None));
    Some(VersionComparison { followed: record, both_violate: both.is_some(), runs, not_compared })
}

/// The run that came of following another one, as far as it went; the violation of a claim is not part of it.
fn trace_of(program: &Arc<Program>, property: &str, path: &[Move]) -> Option<Trace> {
    let watch = match property == fabius_task::plan::SAFETY {
        true => Watch { trace: event_trace(program), ..Watch::NOTHING },
        false => Watch::NOTHING,
    };
    trace_of_path(program, watch, path)
}

/// The trace of a path, whatever its last step does; `None` if it is not possible.
pub fn trace_of_path(program: &Arc<Program>, watch: Watch, path: &[Move]) -> Option<Trace> {
    match confirm_watching(program, watch, path, Claim::Reaches) {
        Ok(trace) => Some(trace),
        Err(why) => match *why {
            Disagreement::Fault { found: Some(fault), .. } => {
                confirm_watching(program, watch, path, Claim::Fault(fault)).ok()
            }
            _ => None,
        },
    }
}

/// How a counterexample ends, in a few words.
fn ending_of(example: &Counterexample) -> String {
    match (example.trace.claim, example.trace.last_taken().and_then(|step| step.fault)) {
        (Claim::Fault(fault), _) if fault != Fault::ClaimCompleted => fault.to_string(),
        _ => example.report.kind.sentence().to_owned(),
    }
}

/// How a run ends that was followed in another version.
fn ending_there(replay: &Replay, there: Option<&Trace>, example: &Counterexample) -> String {
    let fault = there.and_then(|trace| trace.last_taken()?.fault);
    match (replay, fault) {
        (Replay::Same(_), _) => ending_of(example),
        (_, Some(fault)) => fault.to_string(),
        (Replay::Blocked(blocked), None) => format!("cannot execute `{}`", blocked.text),
        (Replay::Open, None) => "the loop does not close".to_owned(),
        (Replay::Harmless | Replay::Unknown, None) => NO_VIOLATION.to_owned(),
    }
}

/// How a run ends that violates nothing.
const NO_VIOLATION: &str = "no violation";

fn record(
    of_old: bool,
    followed: &Followed,
    run: &Trace,
    walked: Option<&RunComparison>,
    ends: &str,
) -> FollowedRunRecord {
    let outcome = match &followed.replay {
        Replay::Same(_) => FollowedRun::Violates,
        Replay::Harmless => FollowedRun::DoesNotViolate,
        Replay::Open => FollowedRun::LoopStaysOpen,
        Replay::Blocked(_) => FollowedRun::Blocked,
        Replay::Unknown => FollowedRun::NotTried,
    };
    let of = run.len();
    let blocked = match &followed.replay {
        Replay::Blocked(blocked) => Some(blocked),
        _ => None,
    };
    // In the rounds of a loop, a step is taken more than once.
    let steps = blocked.map_or(followed.steps.min(of), |blocked| blocked.step.saturating_sub(1));
    let other_effect = walked.and_then(|walked| {
        let row = walked.rows.iter().find(|row| row.first.is_some() && !row.same)?;
        Some((row.first.as_ref()?.step, row.second.is_some()))
    });
    let blocked_at = blocked.map(|blocked| blocked.step);
    let changed = other_effect.filter(|(_, taken)| *taken).map(|(step, _)| step);
    let mut left_out = followed.gone.clone();
    left_out.sort_unstable();
    left_out.dedup();
    let departs = [changed, blocked_at, left_out.first().copied()].into_iter().flatten().min();
    let sentences = sentences(of_old, outcome, blocked, (changed, &left_out), ends);
    FollowedRunRecord { of_old, outcome, steps, of, left_out, departs, sentences }
}

fn sentences(
    of_old: bool,
    outcome: FollowedRun,
    blocked: Option<&Blocked>,
    (changed, left_out): (Option<usize>, &[usize]),
    ends: &str,
) -> Vec<String> {
    let (run, model) = if of_old { ("old run", "new model") } else { ("new run", "old model") };
    let mut all = Vec::new();
    match left_out {
        [] => {}
        [step] => all
            .push(format!("the {model} has no statement that corresponds to step {step} of the {run}: it is left out")),
        [first, ..] => {
            let steps = counted(left_out.len() as u64, "step");
            all.push(format!("the {model} has no statements that correspond to {steps} of the {run}, the first is step {first}: they are left out"));
        }
    }
    all.extend(changed.map(|step| format!("step {step} of the {run} has another effect in the {model}")));
    all.push(match (outcome, blocked) {
        (_, Some(Blocked { step, process, text, reason, .. })) => {
            let until = match step {
                0 | 1 => format!("the {run} does not begin in the {model}"),
                step => format!("followed in the {model}, the {run} comes to step {}", step - 1),
            };
            format!("{until}; in step {step}, {process} cannot execute `{text}`: {reason}")
        }
        (FollowedRun::Violates, _) => format!("the {run} violates the property in the {model}, too: {ends}"),
        (FollowedRun::DoesNotViolate, _) if ends != NO_VIOLATION => {
            format!("followed to its end in the {model}, the {run} ends otherwise there: {ends}")
        }
        (FollowedRun::DoesNotViolate, _) => {
            format!("followed to its end in the {model}, the {run} does not violate the property there")
        }
        (FollowedRun::LoopStaysOpen, _) => {
            format!("followed in the {model}, the {run} does not come back to where its loop starts")
        }
        (FollowedRun::Blocked | FollowedRun::NotTried, None) => {
            return vec![format!(
                "the {run} was not followed in the {model}: it is too long, or the property is not there"
            )];
        }
    });
    all
}
