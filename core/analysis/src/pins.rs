//! Pins: runs that are kept as regression tests. A pinned run is followed in the model as it is now, by what its steps are and not
//! by their lines, and must still be impossible (or possible).
//!
//! A run is followed as [`Retracing`] does: each step by the process, the statement and, of a rendezvous, the partner; a process
//! that comes to statements that are new executes them. What that does not settle is said to be unknown: a statement of the run
//! is gone, or there was a choice among new statements. Runs that violate a property of infinite runs are the business of [`infinite`].

mod infinite;

pub use infinite::Violated;

use fabius_counterexample::{Counterexample, Identity, NamedStep, Retracing, name_steps, statements};
use fabius_program::{CLAIM_PID, Move, ProcessKind, Program, Watch, meaning::Fault};
use fabius_task::query::event_trace;
use fabius_task::report::ViolationClass;
use fabius_witness::{Claim, Ending, Outcome, State, ending, moves, settled, step as take};
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// What is kept beside a model.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Pins {
    /// The format: 1, or 2 if a run violates a property of infinite runs.
    pub version: u32,
    /// The runs.
    pub pins: Vec<Pin>,
}

impl Default for Pins {
    /// None, in the oldest format.
    fn default() -> Self {
        Self { version: *Self::FORMATS.start(), pins: Vec::new() }
    }
}

impl Pins {
    /// The formats that are read.
    pub const FORMATS: RangeInclusive<u32> = 1..=2;

    /// Adds a run; a file without infinite runs keeps the format that older versions read.
    pub fn add(&mut self, pin: Pin) {
        let needed = if pin.violates.is_some() { 2 } else { 1 };
        self.version = self.version.max(needed);
        self.pins.push(pin);
    }
}

/// A run that is kept.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Pin {
    /// Its name.
    pub name: String,
    /// What must be so.
    pub expect: Possibility,
    /// How it ends: `deadlock`, the words for the fault of its last step, or what is wrong with an infinite run.
    pub ends: String,
    /// The property of infinite runs that it violates, if it is one of these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub violates: Option<Violated>,
    /// This many of its steps come before its loop; if that is all of them, nothing moves any more. A run without a loop has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loop_start: Option<usize>,
    /// Its steps, of its loop one turn; those of a formula or claim are not among them.
    pub steps: Vec<PinnedStep>,
    /// The statements that the model had, each as its process type and its wording, in the order of the text.
    pub statements: Vec<Identity>,
}

/// A step by what it is.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PinnedStep {
    /// The number of the process.
    pub pid: u8,
    /// Its type, the statement, and how many with the same wording stand before it.
    pub statement: Identity,
    /// The receiver of a rendezvous, and what it executes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partner: Option<(u8, Identity)>,
}

/// Whether a run can happen.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Possibility {
    /// It can, and ends as it did.
    Possible,
    /// It cannot.
    Impossible,
    /// That is not known.
    Unknown,
}

/// Whether a run is possible, and a sentence that says why (without its full stop).
type Judgement = (Possibility, String);

/// How a run ends that has nothing wrong with its last step.
const DEADLOCK: &str = "deadlock";

impl Pin {
    /// The run of a counterexample to a property of a model, which is `written`.
    ///
    /// # Errors
    /// Why it cannot be kept.
    pub fn of(
        name: String,
        expect: Possibility,
        example: &Counterexample,
        property: &str,
        written: &Program,
    ) -> Result<Self, &'static str> {
        let known = statements_of_processes(&example.told);
        if known != statements_of_processes(written) {
            return Err("the one that was found cannot be told in the model as it is written");
        }
        let trace = &example.trace;
        let is_systems = |step: &&Move| step.pid != CLAIM_PID;
        let path: Vec<Move> = trace.steps.moves().iter().filter(is_systems).copied().collect();
        let (violates, loop_start) = match trace.claim {
            Claim::Cycle { start, .. } => {
                let violated = match example.report.kind {
                    ViolationClass::NonProgressCycle => Violated::NoProgress,
                    _ if example.watch.claim.is_some() => Violated::Property(property.to_owned()),
                    _ => Violated::AcceptanceCycle,
                };
                let start = trace.steps.moves().iter().take(start).filter(is_systems).count();
                (Some(violated), Some(start))
            }
            Claim::Fault(Fault::ClaimCompleted) => (Some(Violated::Property(property.to_owned())), None),
            Claim::Fault(_) if example.watch.claim.is_some() => {
                return Err("a statement of the claim itself fails in it");
            }
            Claim::InvalidEnd | Claim::Fault(_) => (None, None),
            Claim::Reaches => return Err("nothing is wrong with the one that was found"),
        };
        let ends = match (&violates, trace.claim) {
            (Some(violated), _) => violated.words(),
            (None, Claim::Fault(fault)) => fault.to_string(),
            (None, _) => DEADLOCK.to_owned(),
        };
        let pinned = |NamedStep { pid, statement, partner }: NamedStep| PinnedStep { pid, statement, partner };
        let steps = name_steps(&example.told, &path).into_iter().map(pinned).collect();
        Ok(Self { name, expect, ends, violates, loop_start, steps, statements: known })
    }

    /// Whether the run is possible in a model as it is written, and violates what it violated, and a sentence that says why (without its full stop).
    pub fn follow(&self, written: &Arc<Program>) -> (Possibility, String) {
        match &self.violates {
            Some(violated) => infinite::follow(self, violated, written),
            None => self.follow_to_end(written),
        }
    }

    /// Whether the run to a violation of safety is possible.
    fn follow_to_end(&self, program: &Program) -> Judgement {
        let watch = Watch { trace: event_trace(program), ..Watch::NOTHING };
        let Ok(start) = State::watching(program, watch) else {
            return unknown("the initial state cannot be computed");
        };
        let walk = Retracing::new(program, &self.statements);
        match self.part(program, &walk, &start, &self.named(), &|step| format!("step {step}")) {
            Ok(path) => self.ending(program, start, &path),
            Err(found) => found,
        }
    }

    /// Its steps by what they are.
    fn named(&self) -> Vec<NamedStep> {
        let named = |PinnedStep { pid, statement, partner }: &PinnedStep| NamedStep {
            pid: *pid,
            statement: statement.clone(),
            partner: partner.clone(),
        };
        self.steps.iter().map(named).collect()
    }

    /// Follows steps from a state: their moves. `place` names a step by its number among them, from 1.
    ///
    /// # Errors
    /// What is known if they are not all possible.
    fn part(
        &self,
        program: &Program,
        walk: &Retracing<'_>,
        start: &State,
        steps: &[NamedStep],
        place: &dyn Fn(usize) -> String,
    ) -> Result<Vec<Move>, Judgement> {
        let found = walk.from(start.clone(), false, steps);
        if let Some(step) = found.gone.first().and_then(|at| steps.get(*at)) {
            let (process, text, _) = &step.statement;
            return Err(unknown(format!("there is no statement `{text}` in {process} any more")));
        }
        if self.chose(program, start, &found.path, &found.after) {
            return Err(unknown("there is a choice among statements that are new"));
        }
        let Some(blocked) = found.blocked else { return Ok(found.path) };
        let step = blocked.step.checked_sub(1).and_then(|at| steps.get(at));
        if let Some(why) = step.and_then(|step| renumbered(program, start, &found.path, step)) {
            return Err(unknown(why));
        }
        let (process, text, place) = (blocked.process, blocked.text, place(blocked.step));
        Err(impossible(format!("{process} cannot execute `{text}` in {place}: {}", blocked.reason)))
    }

    /// Whether a new statement was executed where another new one could have been.
    fn chose(&self, program: &Program, start: &State, path: &[Move], after: &[usize]) -> bool {
        let mut state = start.clone();
        for (at, step) in path.iter().enumerate() {
            let others = moves(program, &settled(program, &state)).successors;
            let is_other = |(other, _): &&(Move, Outcome)| other.pid == step.pid && other != step;
            let choice = others.iter().filter(is_other).any(|(other, _)| self.is_new(program, *other));
            if !after.contains(&(at + 1)) && choice {
                return true;
            }
            match take(program, &state, *step).map(|taken| taken.outcome) {
                Ok(Outcome::Reaches { state: next, .. }) => state = next,
                _ => return false,
            }
        }
        false
    }

    /// Whether a step executes a statement whose wording the process type did not have.
    fn is_new(&self, program: &Program, step: Move) -> bool {
        let named = name_steps(program, &[step]);
        let known = |(process, text, _): &Identity| {
            self.statements.iter().any(|(of, wording, _)| of == process && wording == text)
        };
        !named.iter().all(|step| known(&step.statement))
    }

    /// How the run ends, all of whose steps are possible.
    fn ending(&self, program: &Program, start: State, path: &[Move]) -> Judgement {
        let (mut state, mut fault) = (start, None);
        for step in path {
            match take(program, &state, *step).map(|taken| taken.outcome) {
                Ok(outcome) => {
                    fault = outcome.fault().map(|fault| fault.to_string());
                    state = outcome.state().cloned().unwrap_or(state);
                }
                Err(_) => return broken(),
            }
        }
        let state = settled(program, &state);
        let stuck = fault.is_none() && ending(program, &state) == Ending::Invalid;
        let ends = if stuck { Some(DEADLOCK.to_owned()) } else { fault };
        if ends.as_ref() == Some(&self.ends) {
            return (Possibility::Possible, format!("it can be followed to its end: {}", self.ends));
        }
        let mut next = moves(program, &state).successors;
        next.retain(|(step, _)| self.is_new(program, *step));
        match (ends, next.is_empty()) {
            (Some(other), _) => (Possibility::Impossible, format!("it ends otherwise: {other}")),
            (None, true) => (Possibility::Impossible, "it can be followed, and does not go wrong any more".to_owned()),
            (None, false) => (Possibility::Unknown, "it goes on with statements that are new".to_owned()),
        }
    }
}

/// It is not known whether a run is possible.
fn unknown(why: impl Into<String>) -> Judgement {
    (Possibility::Unknown, why.into())
}

/// A run is impossible.
fn impossible(why: impl Into<String>) -> Judgement {
    (Possibility::Impossible, why.into())
}

/// A path that was found cannot be walked again.
fn broken() -> Judgement {
    unknown("its steps cannot be walked again")
}

/// All statements of the processes of a program, without those of claims and event traces.
fn statements_of_processes(program: &Program) -> Vec<Identity> {
    let is_process = |name: &str| {
        program.processes.iter().all(|process| process.kind == ProcessKind::Process || process.name != name)
    };
    let mut found = statements(program);
    found.retain(|(process, ..)| is_process(process));
    found
}

/// Why a step is not that of the process that it was of: processes have other numbers now.
fn renumbered(program: &Program, start: &State, path: &[Move], step: &NamedStep) -> Option<String> {
    let mut state = start.clone();
    for step in path {
        match take(program, &state, *step).map(|taken| taken.outcome) {
            Ok(Outcome::Reaches { state: next, .. }) => state = next,
            _ => return None,
        }
    }
    let partner = step.partner.iter().map(|(pid, statement)| (*pid, &statement.0));
    std::iter::once((step.pid, &step.statement.0)).chain(partner).find_map(|(pid, wanted)| {
        let found = state.processes.get(usize::from(pid)).map(|process| &program.process(process.process).name);
        match found {
            Some(name) if name == wanted => None,
            Some(name) => Some(format!("process {pid} is of type {name} now, and was of type {wanted}")),
            None => Some(format!("there is no process {pid} of type {wanted} at this point any more")),
        }
    })
}

#[cfg(test)]
mod tests;
