//! Walks a path that somebody found and says whether it is what they claim.

use fabius_program::{CLAIM_PID, Move, Program, ProgressOn, Watch, meaning::Fault};
use std::fmt;
use std::sync::Arc;

use crate::explain::{Explanation, explain, explain_stop};
use crate::infinite::{InfiniteRun, RunFairness, acceptance, explain_summary, fake_progress};
use crate::interpret::{Ending, Outcome, Refusal, ending, settled, step as take, stops_accepting};
use crate::loop_summary::LoopSummary;
use crate::round::Round;
use crate::state::State;
use crate::steps::{Recorder, Steps};
use crate::trace::{Trace, snapshot};

/// What a path is said to show.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Claim {
    /// It ends where nothing can move and some process may not stop.
    InvalidEnd,
    /// Its last step has this fault; without steps, the initial state has.
    Fault(Fault),
    /// It is possible, nothing more.
    Reaches,
    /// It is possible, and from the state after this many steps it leads back to the same state. Without any step, it
    /// ends where nothing can move any more, in a state that is accepted for ever.
    Cycle {
        /// This many steps.
        start: usize,
        /// What is said of it.
        shows: CycleClaim,
    },
}

/// What a cycle is said to show.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CycleClaim {
    /// Its steps make no progress, in the sense that is watched.
    pub no_progress: bool,
    /// One of its steps is accepting.
    pub acceptance: bool,
    /// It is at least as fair as this.
    pub fairness: RunFairness,
}

impl CycleClaim {
    /// Nothing but that it closes.
    pub const NOTHING: Self = Self { no_progress: false, acceptance: false, fairness: RunFairness::Unfair };
}

/// Why a path is not what it is said to be. This is a defect in the tool that found the path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Disagreement {
    /// The initial state cannot be computed, or can although the claim says that it cannot.
    Initial {
        /// What it is said to be.
        claimed: Option<Fault>,
        /// What it is.
        found: Option<Fault>,
    },
    /// A step is not possible.
    Step {
        /// Its number, from 1.
        number: usize,
        /// The step.
        wanted: Move,
        /// Why.
        refusal: Refusal,
        /// What is possible instead.
        possible: Vec<Move>,
    },
    /// A step fails otherwise than claimed.
    Fault {
        /// Its number, from 1.
        number: usize,
        /// What was claimed.
        claimed: Option<Fault>,
        /// What was found.
        found: Option<Fault>,
    },
    /// The last state is not an invalid end state.
    NotAnInvalidEnd(Ending),
    /// The path does not come back to where the cycle starts.
    NoCycle,
    /// A step of the cycle makes progress.
    Progress {
        /// Its number, from 1.
        number: usize,
    },
    /// No step of the cycle is accepting.
    NotAccepting,
    /// The cycle is less fair than claimed: it neglects this process.
    Unfair(u8),
}

impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fault = |fault: &Option<Fault>| fault.map_or_else(|| "no fault".to_owned(), |fault| fault.to_string());
        match self {
            Self::Initial { claimed, found } => {
                write!(f, "the initial state has {}, not {}", fault(found), fault(claimed))
            }
            Self::Step { number, wanted, refusal, possible } => {
                write!(f, "step {number} is not possible ({refusal:?}): {wanted:?}; possible are {possible:?}")
            }
            Self::Fault { number, claimed, found } => {
                write!(f, "step {number} has {}, not {}", fault(found), fault(claimed))
            }
            Self::NotAnInvalidEnd(ending) => write!(f, "the last state is not an invalid end state ({ending:?})"),
            Self::Progress { number } => write!(f, "step {number} in the cycle makes progress"),
            Self::NotAccepting => write!(f, "no step of the cycle is accepting"),
            Self::Unfair(pid) => write!(f, "the cycle neglects process {pid}"),
            Self::NoCycle => write!(f, "the path does not come back to where its cycle starts"),
        }
    }
}

/// Walks a path and checks that it shows what is claimed.
///
/// # Errors
/// The first thing that is not as claimed.
pub fn confirm(program: &Arc<Program>, path: &[Move], claim: Claim) -> Result<Trace, Box<Disagreement>> {
    confirm_watching(program, Watch::NOTHING, path, claim)
}

/// Walks a path of a program and of what is watched beside it, and checks that it shows what is claimed.
///
/// # Errors
/// The first thing that is not as claimed.
pub fn confirm_watching(
    program: &Arc<Program>,
    watch: Watch,
    path: &[Move],
    claim: Claim,
) -> Result<Trace, Box<Disagreement>> {
    match walk(program, watch, path, claim)? {
        Some((walk, initial)) => Ok(walk.told(claim, &initial)),
        None => Ok(stillborn(claim)),
    }
}

/// As [`confirm_watching`], for a path of which nothing is told: why it shows what is claimed takes longer to say than to see.
///
/// # Errors
/// The first thing that is not as claimed.
pub fn check_watching(
    program: &Arc<Program>,
    watch: Watch,
    path: &[Move],
    claim: Claim,
) -> Result<(), Box<Disagreement>> {
    walk(program, watch, path, claim).map(|_| ())
}

/// A walk along a path that shows what is claimed, and the initial state; nothing where that cannot be computed, as claimed.
fn walk<'a>(
    program: &'a Arc<Program>,
    watch: Watch,
    path: &[Move],
    claim: Claim,
) -> Result<Option<(Walk<'a>, State)>, Box<Disagreement>> {
    let claimed_fault = match claim {
        Claim::Fault(fault) => Some(fault),
        _ => None,
    };
    let initial = match State::watching(program, watch) {
        Ok(state) => state,
        Err(fault) if path.is_empty() && claimed_fault == Some(fault) => return Ok(None),
        Err(found) => return Err(Box::new(Disagreement::Initial { claimed: claimed_fault, found: Some(found) })),
    };
    if path.is_empty() && claimed_fault.is_some() {
        return Err(Box::new(Disagreement::Initial { claimed: claimed_fault, found: None }));
    }
    let mut walk = Walk {
        program,
        watch,
        state: initial.clone(),
        steps: Recorder::new(program),
        cycle: None,
        round: Round::default(),
        summary: LoopSummary::default(),
    };
    for (index, step) in path.iter().enumerate() {
        walk.mark_cycle(claim, index);
        walk.advance(*step, if index + 1 == path.len() { claimed_fault } else { None }, index + 1 == path.len())?;
    }
    walk.mark_cycle(claim, path.len());
    walk.state = settled(program, &walk.state);
    walk.shows(claim)?;
    Ok(Some((walk, initial)))
}

/// The states along a path, the initial one first; ends early if a step is not possible.
pub fn states_along(program: &Program, path: &[Move]) -> Vec<State> {
    let Ok(mut state) = State::initial(program) else { return Vec::new() };
    let mut states = vec![state.clone()];
    for step in path {
        match take(program, &state, *step).map(|taken| taken.outcome) {
            Ok(Outcome::Reaches { state: next, .. }) => state = next,
            _ => break,
        }
        states.push(state.clone());
    }
    states
}

/// A walk along a path.
struct Walk<'a> {
    program: &'a Program,
    state: State,
    steps: Recorder,
    watch: Watch,
    /// The state in which the cycle starts.
    cycle: Option<State>,
    /// What was seen of it.
    round: Round,
    /// The states of the system before each of its steps in the cycle, and these steps.
    summary: LoopSummary,
}

impl Walk<'_> {
    fn mark_cycle(&mut self, claim: Claim, taken: usize) {
        if matches!(claim, Claim::Cycle { start, .. } if start == taken) {
            self.cycle = Some(settled(self.program, &self.state).visible(self.program));
        }
    }

    fn advance(&mut self, step: Move, claimed: Option<Fault>, last: bool) -> Result<(), Box<Disagreement>> {
        let number = self.steps.taken() + 1;
        let taken = take(self.program, &self.state, step).map_err(|refusal| {
            let possible = crate::interpret::moves(self.program, &self.state).successors;
            let possible = possible.into_iter().map(|(step, _)| step).collect();
            Box::new(Disagreement::Step { number, wanted: step, refusal, possible })
        })?;
        let found = taken.outcome.fault();
        let goes_on = !last && found == Some(Fault::AssertionFailed);
        let unclaimed_assertion = last && claimed.is_none() && found == Some(Fault::AssertionFailed);
        if found != claimed && !goes_on && !unclaimed_assertion {
            return Err(Box::new(Disagreement::Fault { number, claimed, found }));
        }
        self.steps.add(&self.state, step, &taken.outcome);
        if self.cycle.is_some() && step.pid != CLAIM_PID {
            self.summary.add(self.program, &bare(&self.state), Some(step));
        }
        if let Outcome::Reaches { state, .. } = taken.outcome {
            if self.cycle.is_some() {
                self.round.add(self.program, self.watch, number, step, &state);
            }
            self.state = state;
        }
        Ok(())
    }

    /// Whether the end of the path is as claimed.
    fn shows(&self, claim: Claim) -> Result<(), Box<Disagreement>> {
        match claim {
            Claim::InvalidEnd => match ending(self.program, &self.state) {
                Ending::Invalid => Ok(()),
                found => Err(Box::new(Disagreement::NotAnInvalidEnd(found))),
            },
            Claim::Cycle { start, shows } => {
                let stops = || self.watch.acceptance && stops_accepting(self.program, self.watch, &self.state);
                let length = self.steps.len();
                let closes = match length.checked_sub(start) {
                    None => false,
                    Some(0) => stops(),
                    Some(_) => self.cycle == Some(self.state.visible(self.program)),
                };
                if !closes {
                    return Err(Box::new(Disagreement::NoCycle));
                }
                if start < length { self.round.check(shows) } else { Ok(()) }
            }
            Claim::Fault(_) | Claim::Reaches => Ok(()),
        }
    }

    /// The trace, with why the end is as claimed.
    fn told(mut self, claim: Claim, initial: &State) -> Trace {
        let taken = self.steps.taken();
        let steps = std::mem::replace(&mut self.steps, Recorder::new(&Arc::default())).finish();
        let mut explanation = None;
        let mut cycle_start = None;
        let mut infinite = None;
        match claim {
            Claim::InvalidEnd => explanation = Some(explain(self.program, &self.state, steps.backwards())),
            Claim::Cycle { shows, .. } => {
                cycle_start = Some(taken + 1 - self.summary.steps);
                let (explained, stop) = self.explain(shows, &steps);
                (infinite, explanation) = (Some(explained), stop);
            }
            Claim::Fault(_) | Claim::Reaches => {}
        }
        let (start, last) = (snapshot(self.program, initial), snapshot(self.program, &self.state));
        Trace { claim, steps, start, last, cycle_start, explanation, infinite, propositions: Vec::new(), ribbon: None }
    }

    /// Explains a cycle that closes; one in which the system does not move, as the state that it is.
    fn explain(&mut self, shows: CycleClaim, steps: &Steps) -> (InfiniteRun, Option<Explanation>) {
        if self.summary.first.is_none() {
            self.summary.add(self.program, &bare(&self.state), None);
        }
        let mut explained = explain_summary(self.program, self.watch, &self.summary);
        if shows.no_progress && self.watch.progress == Some(ProgressOn::Transitions) {
            explained.sentences.extend(fake_progress(self.program, &self.summary));
        }
        if shows.acceptance && self.watch.claim.is_none() {
            let at = explained.sentences.len().min(1);
            let told = acceptance(self.program, &self.summary);
            told.into_iter().for_each(|told| explained.sentences.insert(at, told));
        }
        let still = self.summary.first.as_ref().filter(|_| self.summary.steps == 0);
        let stop = still.map(|state| explain_stop(self.program, state, steps.backwards()));
        (explained, stop)
    }
}

/// The state of the processes without what is watched beside them.
fn bare(state: &State) -> State {
    State { claim: None, trace: None, ..state.clone() }
}

/// The trace of a program whose initial state cannot be computed.
fn stillborn(claim: Claim) -> Trace {
    let nothing = crate::trace::Snapshot { variables: Vec::new(), channels: Vec::new(), processes: Vec::new() };
    Trace {
        claim,
        steps: Steps::default(),
        start: nothing.clone(),
        last: nothing,
        cycle_start: None,
        explanation: None,
        infinite: None,
        propositions: Vec::new(),
        ribbon: None,
    }
}
