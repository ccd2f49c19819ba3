//! Who can release a process that waits: found by executing statements, never by the names in them alone.
//!
//! Three answers, from weak to strong. A statement is *ahead* of a process if control can come to it, and touches what
//! another process waits for. It is *enough* if, executed in this very state with control at it, it lets the other one
//! move. In a dead state a process *releases* another one if, supposed that a statement that is enough let it go on
//! itself, it alone comes to where the other one can move.
//!
//! Where a loop goes on, nothing needs to be supposed: a bounded search of the runs from there says it.

use fabius_base::Span;
use fabius_program::{EdgeId, Move, Program};
use rustc_hash::FxHashSet;
use std::collections::{BTreeSet, VecDeque};

use crate::explain::WaitsFor;
use crate::interpret::{Ending, Outcome, StepEvaluator, moves, released};
use crate::state::State;
use crate::values::Values;

/// A search from a loop looks at this many states, …
const STATES_MAX: usize = 2_000;
/// … a process that is let go on alone comes to this many, …
const ALONE_STATES_MAX: usize = 100;
/// … and all of them together have this many values.
const WORDS_MAX: usize = 4 << 20;
/// In each of them, every process is asked for its steps: this many times.
const STEPS_MAX: usize = 100_000;
/// This many ways to let a process go on are tried.
const SUPPOSED_MAX: usize = 8;

/// A statement that a process may still come to and that touches what another one waits for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Forecast {
    /// The process.
    pub pid: u8,
    /// The edge that would execute the statement.
    pub edge: EdgeId,
    /// The statement in the text.
    pub span: Span,
    /// The statement.
    pub text: String,
    /// Whether, executed in this state, it would let the other one move; `None` if that was not tried.
    pub enough: Option<bool>,
}

/// What is known of a process that waits all through a loop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Prospect {
    /// A run from the loop lets it move.
    Released {
        /// The process whose step is the last one before it can.
        by: u8,
        /// How many steps the run has.
        steps: usize,
    },
    /// No run from the loop does: this many states were looked at, which are all.
    Never {
        /// This many.
        states: usize,
    },
    /// The search was not finished.
    Unknown,
}

/// How many states of this size may be looked at.
fn states_max(state: &State) -> usize {
    let sum = |values: &[Values]| values.iter().map(|values| values.len()).sum::<usize>();
    let locals: usize = state.processes.iter().map(|process| sum(&process.locals)).sum();
    let messages: usize = state.channels.iter().flat_map(|channel| &channel.messages).map(Vec::len).sum();
    let words = 1 + sum(&state.globals) + locals + messages;
    STATES_MAX.min(WORDS_MAX / words).min(STEPS_MAX / state.processes.len().max(1))
}

/// Whether a run from a loop lets each of these processes move; `first` is a state of the loop.
pub(crate) fn prospects(program: &Program, first: &State, waiting: &[u8]) -> Vec<Prospect> {
    let mut found = vec![Prospect::Unknown; waiting.len()];
    let states_max = states_max(first);
    let mut seen = FxHashSet::from_iter([first.clone()]);
    let mut open = VecDeque::from([(first.clone(), None, 0)]);
    while let Some((state, by, steps)) = open.pop_front() {
        let next = moves(program, &state);
        let can: BTreeSet<u8> = next.successors.iter().filter(reaches).flat_map(|(step, _)| movers(*step)).collect();
        for (pid, prospect) in waiting.iter().zip(&mut found) {
            if let (Prospect::Unknown, true, Some(by)) = (&prospect, can.contains(pid), by) {
                *prospect = Prospect::Released { by, steps };
            }
        }
        if found.iter().all(|prospect| *prospect != Prospect::Unknown) {
            return found;
        }
        let reached = next.successors.into_iter().filter_map(|(step, outcome)| match outcome {
            Outcome::Reaches { state, .. } => Some((state, Some(step.pid), steps + 1)),
            Outcome::Broken { .. } => None,
        });
        let lost = (next.ending == Ending::LosesControl).then(|| (released(&state), by, steps));
        for reached in reached.chain(lost) {
            if !seen.contains(&reached.0) {
                seen.insert(reached.0.clone());
                open.push_back(reached);
            }
        }
        if states_max < seen.len() {
            return found;
        }
    }
    let never = Prospect::Never { states: seen.len() };
    found.into_iter().map(|known| if known == Prospect::Unknown { never.clone() } else { known }).collect()
}

fn reaches((_, outcome): &&(Move, Outcome)) -> bool {
    matches!(outcome, Outcome::Reaches { .. })
}

fn movers(step: Move) -> impl Iterator<Item = u8> {
    std::iter::once(step.pid).chain(step.partner.map(|(pid, _)| pid))
}

/// A state in which processes wait.
pub(crate) struct Waiting<'a> {
    pub(crate) program: &'a Program,
    pub(crate) state: &'a State,
}

/// A state that is supposed, and who can move in it already.
struct Supposed {
    state: State,
    can: BTreeSet<(u8, EdgeId)>,
}

impl Waiting<'_> {
    /// Whether a statement, executed in this state with its process's control at it, lets a process take an edge.
    pub(crate) fn is_enough(&self, (pid, edge): (u8, EdgeId), (other, statement): (u8, EdgeId)) -> bool {
        !self.after(other, statement, pid, edge).is_empty()
    }

    /// Fills in which processes would release those that wait: for each of `waits`, those who would, were they to go on.
    pub(crate) fn find_releases(&self, waits: &mut [WaitsFor]) {
        let mut left = states_max(self.state);
        let mut released = BTreeSet::new();
        let pids: BTreeSet<u8> = waits.iter().map(|wait| wait.pid).collect();
        for pid in pids {
            for supposed in self.supposed(pid, waits) {
                for (other, edge) in self.released_by(pid, supposed, &mut left) {
                    released.insert((other, edge, pid));
                }
            }
        }
        for wait in waits {
            let by = |(other, edge, by): &(u8, EdgeId, u8)| (*other == wait.pid && *edge == wait.edge).then_some(*by);
            wait.on = released.iter().filter_map(by).collect();
        }
    }

    /// States in which a process that waits has gone on, because a statement that is enough was executed.
    fn supposed(&self, pid: u8, waits: &[WaitsFor]) -> Vec<Supposed> {
        let own = waits.iter().filter(|wait| wait.pid == pid);
        let enough = own
            .flat_map(|wait| wait.ahead.iter().filter(|ahead| ahead.enough == Some(true)).map(move |a| (wait.edge, a)));
        enough.flat_map(|(edge, ahead)| self.after(ahead.pid, ahead.edge, pid, edge)).take(SUPPOSED_MAX).collect()
    }

    /// The states after a statement of `other` and then an edge of `pid`, which may be one step; what `other` does
    /// then is what it did before.
    fn after(&self, other: u8, statement: EdgeId, pid: u8, edge: EdgeId) -> Vec<Supposed> {
        let mut there = self.state.clone();
        let Some(process) = there.processes.get_mut(usize::from(other)) else { return Vec::new() };
        process.location = self.program.edge(statement).source;
        let takes = |step: &Move| step.pid == pid && step.edge == edge || step.partner == Some((pid, edge));
        let mut found = Vec::new();
        for (step, outcome) in self.steps(&there) {
            let Outcome::Reaches { state, .. } = outcome else { continue };
            let of_other = step.pid == other && step.edge == statement || step.partner == Some((other, statement));
            let Some(state) = self.put_back(state, other).filter(|_| of_other) else { continue };
            if takes(&step) {
                found.push(Supposed { state, can: BTreeSet::new() });
                continue;
            }
            if step.partner.is_some() {
                continue;
            }
            let next = self.steps(&state);
            let can = can_take(&next);
            let taken = next.into_iter().filter(|(step, _)| takes(step) && movers(*step).all(|mover| mover != other));
            found.extend(taken.filter_map(|(_, outcome)| match outcome {
                Outcome::Reaches { state, .. } => Some(Supposed { state, can: can.clone() }),
                Outcome::Broken { .. } => None,
            }));
        }
        found
    }

    /// The same state with a process where it waits, and without control; `None` if processes came or went.
    fn put_back(&self, mut state: State, pid: u8) -> Option<State> {
        if state.processes.len() != self.state.processes.len() {
            return None;
        }
        let at = usize::from(pid);
        state.processes[at] = self.state.processes[at].clone();
        state.holder = state.holder.filter(|holder| *holder != pid);
        Some(state)
    }

    /// Whom a process lets move that could not before, if it goes on alone from a supposed state: processes and edges.
    fn released_by(&self, pid: u8, supposed: Supposed, left: &mut usize) -> BTreeSet<(u8, EdgeId)> {
        let mut found = BTreeSet::new();
        let mut seen = FxHashSet::from_iter([supposed.state.clone()]);
        let mut open = vec![supposed.state];
        while let Some(state) = open.pop() {
            let steps = self.steps(&state);
            let released = can_take(&steps).into_iter().filter(|(other, _)| *other != pid);
            found.extend(released.filter(|taken| !supposed.can.contains(taken)));
            for (step, outcome) in steps {
                let Outcome::Reaches { state, .. } = outcome else { continue };
                if step.pid == pid && step.partner.is_none() && *left != 0 && seen.insert(state.clone()) {
                    open.push(State { holder: None, ..state });
                    *left -= 1;
                }
            }
            if ALONE_STATES_MAX < seen.len() {
                break;
            }
        }
        found
    }

    /// Every step of every process, whoever holds control.
    fn steps(&self, state: &State) -> Vec<(Move, Outcome)> {
        let trial = StepEvaluator::ordinary(self.program, state);
        (0..state.processes.len()).flat_map(|pid| trial.steps_of(pid)).collect()
    }
}

/// Who can move, along which edges.
fn can_take(steps: &[(Move, Outcome)]) -> BTreeSet<(u8, EdgeId)> {
    let steps = steps.iter().filter(reaches).map(|(step, _)| *step);
    steps.flat_map(|step| std::iter::once((step.pid, step.edge)).chain(step.partner)).collect()
}
