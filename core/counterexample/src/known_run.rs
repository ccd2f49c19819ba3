//! Counterexamples that were confirmed, as plain data that can be written and read: confirmed again before they are shown.
//!
//! A run speaks of a program by the numbers of its edges, so it is one of a program with the same semantic digest only. The
//! reference interpreter walks it again and says whether it violates the property. What a search found out about *other* runs
//! (that none is shorter, which fair runs do the same) is not seen from the run: it is kept in words.

use crate::{Counterexample, ErrorKind, FairRuns, Found, Shorter, confirm};
use fabius_program::{EdgeId, Move, Program, Watch, meaning::Fault};
use fabius_search::cycle;
use fabius_search::delay_bounded::Delay;
use fabius_task::load::Loaded;
use fabius_task::plan::{Planned, Question};
use fabius_task::query::{CycleSearch, event_trace, liveness_query};
use fabius_task::report::ViolationClass;
use fabius_task::settings::Settings;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What a search found out about a run that the run does not show.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct BeyondRun {
    /// What is wrong with the run of the program that was searched.
    pub wrong: ErrorKind,
    /// Whether a claim moves beside the processes.
    pub has_claim: bool,
    /// What is known of fair runs that do the same.
    pub fair_runs: FairRuns,
    /// What is known of shorter runs to the same.
    pub shorter: Shorter,
    /// In a search in the order of delays: who was held back.
    pub delays: Option<KnownDelays>,
}

impl BeyondRun {
    /// Whether the same search finds out no more about it with more time.
    pub fn is_final(&self) -> bool {
        self.shorter != Shorter::CutShort && self.fair_runs != FairRuns::CutShort && self.delays.is_none()
    }
}

/// Who was held back in a run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct KnownDelays {
    /// Before the transition with this index in the path, this process.
    held_back: Vec<(usize, u8)>,
    /// No run with fewer leads to the same.
    fewest: bool,
}

impl KnownDelays {
    pub(crate) fn new(delays: &[Delay], fewest: bool) -> Self {
        Self { held_back: delays.iter().map(|delay| (delay.before, delay.process)).collect(), fewest }
    }
}

/// A counterexample that was confirmed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct KnownRun {
    /// The run of the program that was searched, as [`path_as_text`] writes it.
    path: String,
    /// How often the same was found.
    count: u64,
    #[serde(flatten)]
    beyond_run: BeyondRun,
}

impl KnownRun {
    /// What is to be kept of a counterexample.
    pub fn of(counterexample: &Counterexample) -> Self {
        Self {
            path: path_as_text(&counterexample.path),
            count: counterexample.report.count,
            beyond_run: counterexample.beyond_run.clone(),
        }
    }

    /// What the search found out beyond the run.
    pub fn beyond_run(&self) -> &BeyondRun {
        &self.beyond_run
    }

    /// The counterexample, once the reference interpreter has walked the run through the program that is to be searched for
    /// violations of a property, and confirmed that it is one.
    ///
    /// # Errors
    /// Why it is none.
    pub fn confirm(&self, loaded: &Loaded, planned: &Planned, settings: &Settings) -> Result<Counterexample, String> {
        let program = loaded.checkable().ok_or("the model cannot be checked")?;
        let path = path_of_text(&self.path).ok_or("the path cannot be read")?;
        let (program, found) = match planned.question {
            Question::Safety => (Arc::clone(program), self.of_safety(program, path)?),
            _ => self.of_infinite_runs(loaded, program, planned, settings, path)?,
        };
        let BeyondRun { fair_runs, shorter, .. } = self.beyond_run;
        let found = Found { fair_runs, shorter, count: self.count, as_found: true, ..found };
        let mut counterexample = confirm(loaded, &program, found)?;
        if let Some(KnownDelays { held_back, fewest }) = &self.beyond_run.delays {
            let delays: Vec<Delay> = held_back.iter().map(|&(before, process)| Delay { before, process }).collect();
            counterexample.mark_delays(&program, &loaded.map, &delays, *fewest);
        }
        Ok(counterexample)
    }

    /// A run that violates safety.
    fn of_safety(&self, program: &Program, path: Vec<Move>) -> Result<Found, String> {
        let wrong = self.beyond_run.wrong;
        match wrong {
            ErrorKind::Loop(..) | ErrorKind::Fault(Fault::ClaimCompleted) => Err(unfit(wrong)),
            ErrorKind::InvalidEnd | ErrorKind::Fault(_) => {
                Ok(Found::new(wrong, path, Watch { trace: event_trace(program), ..Watch::NOTHING }))
            }
        }
    }

    /// A run that violates a property of infinite runs, and the program with what is watched beside its processes.
    fn of_infinite_runs(
        &self,
        loaded: &Loaded,
        program: &Arc<Program>,
        planned: &Planned,
        settings: &Settings,
        path: Vec<Move>,
    ) -> Result<(Arc<Program>, Found), String> {
        let BeyondRun { wrong, has_claim, .. } = self.beyond_run;
        // It is the only search that has a claim wait for a livelock.
        let search = if has_claim { CycleSearch::NestedDfs } else { CycleSearch::Components };
        let query = liveness_query(program, planned, settings, search).map_err(|finding| finding.headline)?;
        if query.watch.claim.is_some() != has_claim {
            return Err(unfit(wrong));
        }
        let run = match wrong {
            ErrorKind::Loop(start, class) if class == query.class && start <= path.len() => {
                let mut stem = path;
                let cycle = stem.split_off(start);
                cycle::Found::Lasso { stem, cycle }
            }
            ErrorKind::Fault(fault @ Fault::ClaimCompleted)
                if has_claim && query.class == ViolationClass::AcceptanceCycle =>
            {
                cycle::Found::Fault { path, fault }
            }
            _ => return Err(unfit(wrong)),
        };
        let written = query.as_written(loaded, planned, settings);
        Ok((Arc::clone(&query.program), Found::of_cycle(&query, run, written)))
    }
}

fn unfit(wrong: ErrorKind) -> String {
    format!("the property is not about this: {}", wrong.sentence())
}

/// A path as one word that can be pasted: per step the process and the edge, with the receiver's.
pub(crate) fn path_as_text(path: &[Move]) -> String {
    let step = |step: &Move| match step.partner {
        None => format!("{}.{}", step.pid, step.edge.0),
        Some((pid, edge)) => format!("{}.{}+{pid}.{}", step.pid, step.edge.0, edge.0),
    };
    path.iter().map(step).collect::<Vec<_>>().join(",")
}

/// The path that was written; `None` if the text is none.
fn path_of_text(text: &str) -> Option<Vec<Move>> {
    let half = |text: &str| {
        let (pid, edge) = text.split_once('.')?;
        Some((pid.parse().ok()?, EdgeId(edge.parse().ok()?)))
    };
    let step = |text: &str| {
        let (first, partner) = match text.split_once('+') {
            Some((first, partner)) => (first, Some(half(partner)?)),
            None => (text, None),
        };
        let (pid, edge) = half(first)?;
        Some(Move { pid, edge, partner })
    };
    if text.is_empty() { Some(Vec::new()) } else { text.split(',').map(step).collect() }
}

/// [`Fault`] in the form in which it is written.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Fault")]
pub(crate) enum FaultRecord {
    AssertionFailed,
    DivisionByZero,
    IndexOutOfRange { index: i32, length: u32 },
    NoChannel,
    DeadChannel(i32),
    FieldCount { given: u32, expected: u32 },
    TooManyProcesses,
    TooManyChannels,
    BlockedInside,
    EndlessBlock,
    PollOnRendezvous,
    EnabledOfSelf,
    PriorityOutOfRange(i32),
    NotDeterministic,
    ClaimCompleted,
    TraceViolated,
    TraceAmbiguous,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_read_as_it_was_written() {
        let step = |pid, edge, partner| Move { pid, edge: EdgeId(edge), partner };
        let paths = [vec![], vec![step(0, 7, None)], vec![step(0, 7, Some((255, EdgeId(1)))), step(2, u32::MAX, None)]];
        for path in paths {
            assert_eq!(path_of_text(&path_as_text(&path)), Some(path));
        }
        for text in [",", "1", "1.2+", "1.2+3", "256.1", "1.2 ", "1.2,"] {
            assert_eq!(path_of_text(text), None, "{text}");
        }
    }
}
