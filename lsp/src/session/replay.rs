//! What became of a known counterexample in the text that is there now.

use super::reading::Reading;
use super::results::Known;
use fabius_counterexample::{Blocked, Replay};
use fabius_engine::words::counted;

/// What became of a counterexample.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Replayed {
    /// It still happens, in this many steps.
    StillFails(usize),
    /// It is still endless: this many steps, this many of them in its loop.
    StillLoops(usize, usize),
    /// Its steps are possible, but they do not come back to where the loop started.
    Open,
    /// Its steps are possible, but nothing goes wrong any more.
    Harmless,
    /// It cannot go on.
    Blocked(Blocked),
}

impl Replayed {
    /// What became of it, in a few words.
    pub fn words(&self) -> String {
        match self {
            Self::StillFails(steps) => format!("still fails ({})", counted(*steps as u64, "step")),
            Self::StillLoops(steps, 0) => format!("still stops for ever ({})", counted(*steps as u64, "step")),
            Self::StillLoops(steps, round) => {
                format!("still loops ({}, loop of {round})", counted(*steps as u64, "step"))
            }
            Self::Open => "the old loop does not close any more".to_owned(),
            Self::Harmless => "the old run does not fail any more".to_owned(),
            Self::Blocked(blocked) => {
                format!("old trace now blocked at step {}, `{}`: {}", blocked.step, blocked.text, blocked.reason)
            }
        }
    }
}

/// Walks the first counterexample of a stale result through the present text.
pub fn replay(known: &Known, present: &Reading) -> Option<Replayed> {
    let run = &known.counterexamples.first()?.trace;
    let (old, new) = (known.reading.written()?, present.written()?);
    match Replay::of(new, old, &known.report.name, run) {
        Replay::Same(trace) => Some(match trace.cycle_start {
            Some(start) => Replayed::StillLoops(trace.len(), trace.len() + 1 - start),
            None => Replayed::StillFails(trace.len()),
        }),
        Replay::Open => Some(Replayed::Open),
        Replay::Harmless => Some(Replayed::Harmless),
        Replay::Blocked(blocked) => Some(Replayed::Blocked(blocked)),
        Replay::Unknown => None,
    }
}
