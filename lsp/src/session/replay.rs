//! What became of a known counterexample in the text that is there now.

use super::reading::Reading;
use super::results::Known;
use fabius_engine::{Blocked, Replay};

/// What became of a counterexample.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Replayed {
    /// It still happens, in so many steps.
    StillFails(usize),
    /// Its steps are possible, but nothing goes wrong any more.
    Harmless,
    /// It cannot go on.
    Blocked(Blocked),
}

impl Replayed {
    /// What became of it, in a few words.
    pub fn words(&self) -> String {
        match self {
            Self::StillFails(1) => "still fails (1 step)".to_owned(),
            Self::StillFails(steps) => format!("still fails ({steps} steps)"),
            Self::Harmless => "the old run does not fail any more".to_owned(),
            Self::Blocked(blocked) => {
                format!("the old run is blocked at step {}, `{}`: {}", blocked.step, blocked.text, blocked.reason)
            }
        }
    }
}

/// Walks the first counterexample of a stale result through the present text.
pub fn replay(known: &Known, present: &Reading) -> Option<Replayed> {
    let run = &known.counterexamples.first()?.trace;
    let (old, new) = (known.reading.written()?, present.written()?);
    match new.replay(old, run) {
        Replay::Same(trace) => Some(Replayed::StillFails(trace.steps.len())),
        Replay::Harmless => Some(Replayed::Harmless),
        Replay::Blocked(blocked) => Some(Replayed::Blocked(blocked)),
        Replay::Unknown => None,
    }
}
