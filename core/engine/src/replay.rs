//! What becomes of a known run in a model that was edited since: it is walked again, step for step,
//! by the reference interpreter.
//!
//! A step is recognised by the statement it executes: the wording, the process type, and which of the
//! statements with this wording it is. Lines do not matter. Statements that the old model did not have
//! are passed through when their process comes to them; statements that are gone are left out.

use crate::load::Loaded;
use crate::meaning::Written;
use fabius_base::Span;
use fabius_program::{CLAIM_PID, EdgeId, Move, Program};
use fabius_witness::{
    Claim, Outcome, Snapshot, State, Trace, confirm, moves, released, snapshot, standings, states_along,
};
use std::collections::HashMap;

/// A process passes through so many new statements before it must come to a known one.
const NEW_STEPS_MAX: usize = 16;
/// A longer run is not tried.
const STEPS_MAX: usize = 5_000;

/// What became of a run.
#[derive(Clone, Debug)]
pub enum Replay {
    /// It shows the same as before.
    Same(Box<Trace>),
    /// It is possible, but does not go wrong any more.
    Harmless,
    /// It cannot go on.
    Blocked(Blocked),
    /// It was not tried.
    Unknown,
}

/// Where a run cannot go on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Blocked {
    /// The step of the old run, from 1.
    pub step: usize,
    /// The process that cannot take it, as it is shown.
    pub process: String,
    /// The statement.
    pub text: String,
    /// Why, as half a sentence.
    pub reason: String,
    /// Where the process stands now.
    pub span: Option<Span>,
}

/// Which statement of a process type: its wording, and how many with the same wording stand before it.
type Identity = (String, String, usize);

impl Written {
    /// Walks a run of the model `old` through this one.
    pub fn replay(&self, old: &Self, run: &Trace) -> Replay {
        // What a loop shows depends on who watches; it is searched for again.
        if STEPS_MAX < run.steps.len() || matches!(run.claim, Claim::Cycle { .. }) {
            return Replay::Unknown;
        }
        let Ok(state) = State::initial(self.program()) else { return Replay::Unknown };
        let known = identities(old.program());
        let present = identities(self.program());
        let mut walk = Walk { program: self.program(), known: &known, present, state, path: Vec::new(), broken: false };
        for step in &run.steps {
            let wanted = |name: &str, number: u32| known.by_number.get(&(name.to_owned(), number)).cloned();
            let Some(own) = wanted(&step.actor.process, step.actor.statement) else { return Replay::Unknown };
            let partner = match &step.partner {
                Some(partner) => wanted(&partner.process, partner.statement).map(|identity| (partner.pid, identity)),
                None => None,
            };
            if !walk.present.all.contains_key(&own) {
                continue;
            }
            if walk.broken || !walk.advance(step.actor.pid, &own, partner.as_ref()) {
                return Replay::Blocked(walk.blocked(step.number, step.actor.pid, &step.actor.name, &step.actor.text));
            }
        }
        match confirm(self.program(), &walk.path, run.claim) {
            Ok(trace) => Replay::Same(Box::new(trace)),
            Err(_) => Replay::Harmless,
        }
    }
}

/// The state after so many steps of a run of this model, as a person reads it; 0 is the beginning.
pub fn snapshot_after(loaded: &Loaded, run: &Trace, steps: usize) -> Option<Snapshot> {
    let path: Vec<Move> =
        run.steps.iter().map(|step| step.taken).take(steps).filter(|step| step.pid != CLAIM_PID).collect();
    let written = loaded.as_written();
    // A run is told in the words of the text if it can be, else in those of what was searched.
    let programs = written.iter().chain(loaded.program.as_deref());
    programs.into_iter().find_map(|program| {
        let states = states_along(program, &path);
        let known = path.iter().all(|step| (step.edge.0 as usize) < program.edges.len());
        let state = states.get(path.len()).or(states.last().filter(|_| steps == run.steps.len()))?;
        known.then(|| snapshot(program, state))
    })
}

/// The statements of a program by what they are.
struct Identities {
    by_number: HashMap<(String, u32), Identity>,
    all: HashMap<Identity, u32>,
}

fn identities(program: &Program) -> Identities {
    let mut found = Identities { by_number: HashMap::new(), all: HashMap::new() };
    for process in &program.processes {
        let mut numbered: Vec<_> = process.statements.iter().map(|s| (s.number, &s.text)).collect();
        numbered.sort_unstable();
        numbered.dedup();
        let mut before: HashMap<&str, usize> = HashMap::new();
        for (number, text) in numbered {
            let ordinal = before.entry(text).or_default();
            let identity = (process.name.clone(), text.clone(), *ordinal);
            *ordinal += 1;
            found.by_number.insert((process.name.clone(), number), identity.clone());
            found.all.insert(identity, number);
        }
    }
    found
}

/// A run through the edited model.
struct Walk<'a> {
    program: &'a Program,
    known: &'a Identities,
    present: Identities,
    state: State,
    path: Vec<Move>,
    /// The last step is faulty; nothing follows it.
    broken: bool,
}

impl Walk<'_> {
    /// Takes the step that executes a statement, after the new statements before it.
    fn advance(&mut self, pid: u8, own: &Identity, partner: Option<&(u8, Identity)>) -> bool {
        for _ in 0..NEW_STEPS_MAX {
            if self.take(|walk, step| {
                step.pid == pid
                    && walk.identity(step.edge).as_ref() == Some(own)
                    && step.partner.map(|(pid, edge)| (Some(pid), walk.identity(edge)))
                        == partner.map(|(pid, identity)| (Some(*pid), Some(identity.clone())))
            }) {
                return true;
            }
            let new = |walk: &Self, step: &Move| {
                step.pid == pid
                    && walk.identity(step.edge).is_some_and(|identity| !walk.known.all.contains_key(&identity))
            };
            if self.broken || !self.take(new) {
                return false;
            }
        }
        false
    }

    /// Takes the first possible step that is wanted.
    fn take(&mut self, wanted: impl Fn(&Self, &Move) -> bool) -> bool {
        let mut possible = moves(self.program, &self.state).successors;
        if possible.is_empty() && self.state.holder.is_some() {
            self.state = released(&self.state);
            possible = moves(self.program, &self.state).successors;
        }
        let Some((step, outcome)) = possible.into_iter().find(|(step, _)| wanted(self, step)) else { return false };
        self.path.push(step);
        match outcome {
            Outcome::Reaches { state, assertion_failed, .. } => {
                self.state = state;
                self.broken = assertion_failed;
            }
            Outcome::Broken { .. } => self.broken = true,
        }
        true
    }

    fn identity(&self, edge: EdgeId) -> Option<Identity> {
        let process = self.program.process_of(edge);
        let number = self.program.statement(process, edge).number;
        self.present.by_number.get(&(self.program.process(process).name.clone(), number)).cloned()
    }

    /// Why a process cannot take a step of the old run.
    fn blocked(&self, step: usize, pid: u8, process: &str, text: &str) -> Blocked {
        let standing = standings(self.program, &self.state).into_iter().find(|standing| standing.pid == pid);
        let waiting = standing.as_ref().and_then(|standing| {
            standing.waiting.iter().find(|waiting| waiting.text == text).or(standing.waiting.first())
        });
        let reason = match (waiting, &standing) {
            (Some(waiting), _) if waiting.text == text => waiting.reason.sentence(),
            (Some(waiting), _) => format!("{process} is at `{}` instead", waiting.text),
            (None, Some(_)) => format!("{process} is somewhere else"),
            (None, None) => format!("there is no process {process}"),
        };
        let span = waiting.map(|waiting| waiting.span).or(standing.as_ref().map(|standing| standing.span));
        Blocked { step, process: process.to_owned(), text: text.to_owned(), reason, span }
    }
}
