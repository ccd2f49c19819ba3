//! Pins: runs that are kept as regression tests. A pinned run is followed in the model as it is now, by what its steps are and not
//! by their lines, and must still be impossible (or possible).
//!
//! A run is followed as [`Retracing`] does: each step by the process, the statement and, of a rendezvous, the partner; a process
//! that comes to statements that are new executes them. What that does not settle is said to be unknown: a statement of the run
//! is gone, or there was a choice among new statements.

use fabius_counterexample::{
    Counterexample, ExplorationTarget, Identity, NamedStep, Retracing, name_steps, statements,
};
use fabius_program::{Move, Program};
use fabius_witness::{Claim, Ending, Outcome, State, ending, moves, settled, step as take};
use serde::{Deserialize, Serialize};

/// What is kept beside a model.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Pins {
    /// The format: 1.
    pub version: u32,
    /// The runs.
    pub pins: Vec<Pin>,
}

/// A run that is kept.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Pin {
    /// Its name.
    pub name: String,
    /// What must be so.
    pub expect: Possibility,
    /// How it ends: `deadlock`, or the words for the fault of its last step.
    pub ends: String,
    /// Its steps.
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

/// How a run ends that has nothing wrong with its last step.
const DEADLOCK: &str = "deadlock";

impl Pin {
    /// The run of a counterexample of safety; `None` of one that goes on for ever, that violates a formula or claim, or that
    /// could not be told in the program as it is written, which is `written`.
    pub fn of(name: String, expect: Possibility, example: &Counterexample, written: &Program) -> Option<Self> {
        if statements(&example.told) != statements(written) {
            return None;
        }
        let trace = &example.trace;
        let ends = match trace.claim {
            _ if example.is_infinite() => return None,
            Claim::InvalidEnd => DEADLOCK.to_owned(),
            Claim::Fault(fault) => fault.to_string(),
            Claim::Reaches | Claim::Cycle { .. } => return None,
        };
        let pinned = |NamedStep { pid, statement, partner }: NamedStep| PinnedStep { pid, statement, partner };
        let steps = name_steps(&example.told, trace.steps.moves()).into_iter().map(pinned).collect();
        Some(Self { name, expect, ends, steps, statements: statements(&example.told) })
    }

    /// Whether the run is possible in a model, and a sentence that says why (without its full stop).
    pub fn follow(&self, target: &ExplorationTarget) -> (Possibility, String) {
        let program = &*target.program;
        let unknown = |why: String| (Possibility::Unknown, why);
        let Ok(start) = State::watching(program, target.watch) else {
            return unknown("the initial state cannot be computed".to_owned());
        };
        let named = |PinnedStep { pid, statement, partner }: &PinnedStep| NamedStep {
            pid: *pid,
            statement: statement.clone(),
            partner: partner.clone(),
        };
        let steps: Vec<NamedStep> = self.steps.iter().map(named).collect();
        let found = Retracing::new(program, &self.statements).from(start.clone(), false, &steps);
        if let Some(step) = found.gone.first().and_then(|at| steps.get(*at)) {
            return unknown(format!("there is no statement `{}` in {} any more", step.statement.1, step.statement.0));
        }
        if self.chose(program, &start, &found.path, &found.after) {
            return unknown("there is a choice among statements that are new".to_owned());
        }
        if let Some(blocked) = found.blocked {
            let step = blocked.step.checked_sub(1).and_then(|at| steps.get(at));
            if let Some(why) = step.and_then(|step| renumbered(program, &start, &found.path, step)) {
                return unknown(why);
            }
            let why = format!(
                "{} cannot execute `{}` in step {}: {}",
                blocked.process, blocked.text, blocked.step, blocked.reason
            );
            return (Possibility::Impossible, why);
        }
        self.ending(program, start, &found.path)
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
    fn ending(&self, program: &Program, start: State, path: &[Move]) -> (Possibility, String) {
        let (mut state, mut fault) = (start, None);
        for step in path {
            match take(program, &state, *step).map(|taken| taken.outcome) {
                Ok(outcome) => {
                    fault = outcome.fault().map(|fault| fault.to_string());
                    state = outcome.state().cloned().unwrap_or(state);
                }
                Err(_) => return (Possibility::Unknown, "its steps cannot be walked again".to_owned()),
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
