//! Delaying schedulers: deterministic schedulers that can be disturbed.
//!
//! After Desai, Qadeer, Rajamani: *Iterative Cycle Detection via Delaying Explorers* (MSR-TR-2015-28), section 2.
//! A scheduler D is (D, Next, Step, d₀): in the scheduler's state d the process Next(d) moves, and Step says in
//! which state the scheduler is afterwards. A *delaying* scheduler can also be told to Delay: it holds
//! back the process that would move, at a cost of 1, and names another one. Few delays are few departures from
//! what the scheduler would do by itself, so they order the runs of a system, the plainest first.
//!
//! # What a delay is
//!
//! * Only processes that can move count. One that is blocked is passed over at no cost, and the only one that can
//!   move cannot be held back.
//! * A *turn* ([`turns`]) is what a process does when it is given control: one transition, or a whole atomic
//!   sequence with all that happens inside it. Nobody is delayed inside a turn.
//! * A rendezvous is a turn of its sender. The receiver moves with it and pays nothing.
//! * If a process has several ways on, all are tried at the same cost: a choice inside a process is no delay.
//! * Environment moves (of an observer, or of a claim that goes on alone) cost nothing and are always tried.
//! * A process that is created or that becomes able to move joins the schedule ([`Scheduler::on_enabled`]); one
//!   that ends or blocks leaves it ([`Scheduler::on_blocked`]).
//!
//! # Writing one's own
//!
//! Implement [`Scheduler`] for a type that knows what you know about the system: which process is the
//! interesting one, which step is urgent. `examples/own_scheduler.rs` in this crate does so from outside.
//! A scheduler only has to keep the *coverage condition* ([`covers`]): told to delay again and again, it names
//! each process that can move. Debug builds check it in each state that a search arrives at.

mod laps;
mod priority;
mod random;
mod ranked;
mod round_robin;
mod run_to_completion;
mod sealed;
pub mod turns;

pub use laps::{Closing, Laps};
pub use priority::{Priority, Ranking};
pub use random::RandomOrder;
pub use ranked::{RankedLaps, RankedRandom, RankedRoundRobin, RankedRunToCompletion};
pub use round_robin::RoundRobin;
pub use run_to_completion::RunToCompletion;
pub use sealed::{SealKind, Sealed, SealedState, Seals};
pub use turns::{Turn, Turns};

use crate::model::ProcessSet;
use std::fmt::Debug;
use std::hash::Hash;

/// A state of the system, as far as a scheduler looks at it.
#[derive(Clone, Copy, Debug)]
pub struct Situation<'a> {
    /// The words of the state.
    pub state: &'a [u32],
    /// The processes that can move.
    pub enabled: &'a ProcessSet,
}

/// A turn that was taken.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a, Label> {
    /// Whose turn it was; `None` if nobody's.
    pub process: Option<u8>,
    /// The transitions it was made of.
    pub labels: &'a [Label],
    /// Who else took part: receivers of rendezvous.
    pub partners: &'a ProcessSet,
    /// The state before.
    pub before: Situation<'a>,
    /// The state after.
    pub after: Situation<'a>,
}

/// A delaying scheduler.
///
/// Everything it remembers is in its state; the same calls give the same answers, so that any run can be repeated.
pub trait Scheduler<Label> {
    /// A state d of the scheduler. Two equal states schedule equally; the fewer differ, the less an exact search
    /// has to do: leave out what does not matter, such as processes that cannot move.
    type State: Clone + Eq + Hash + Debug;

    /// d₀, for the initial state of the system.
    fn start(&self, situation: Situation<'_>) -> Self::State;

    /// Next(d): the process that is to move; one that can. `None` only if no process can.
    fn next(&self, state: &Self::State) -> Option<u8>;

    /// Delay(d): holds back the process that would move next. Told so once less than there are processes that can
    /// move, it must have named each of them; told so again, anything goes.
    fn delay(&self, state: &mut Self::State);

    /// Step(s, d, s′): a turn was taken. As it stands: processes that can no longer move leave, those that can move
    /// now join, and so do the partners of a rendezvous, the process with the smallest number first.
    fn step(&self, state: &mut Self::State, step: &Step<'_, Label>) {
        let (before, after) = (step.before.enabled, step.after.enabled);
        let mut blocked = *before;
        blocked.subtract(after);
        blocked.iter().for_each(|process| self.on_blocked(state, process));
        awakened(step).iter().for_each(|process| self.on_enabled(state, process, step.process));
    }

    /// A process can move now, and could not before, or has just received a message in a rendezvous; `by` is whose
    /// turn caused it.
    fn on_enabled(&self, state: &mut Self::State, process: u8, by: Option<u8>);

    /// A process cannot move any more: it waits, or it ended.
    fn on_blocked(&self, state: &mut Self::State, process: u8);

    /// Whether no process may be held back at present.
    fn is_sealed(&self, state: &Self::State) -> bool {
        let _ = state;
        false
    }
}

/// The processes that a turn set going: those that can move now and could not before, and those that took part in a
/// rendezvous and can go on.
pub fn awakened<Label>(step: &Step<'_, Label>) -> ProcessSet {
    let mut awakened = *step.after.enabled;
    awakened.subtract(step.before.enabled);
    let mut partners = *step.partners;
    partners.retain(step.after.enabled);
    awakened.extend(&partners);
    awakened
}

/// The coverage condition: Next(d), Next(Delay(d)), … are, within as many terms as there are processes that can move,
/// exactly these.
///
/// (The paper's recursion makes one term more, while its algorithms use as many as here.)
pub fn covers<Label, D: Scheduler<Label>>(scheduler: &D, state: &D::State, enabled: &ProcessSet) -> bool {
    let mut state = state.clone();
    let mut named = ProcessSet::EMPTY;
    for turn in 0..enabled.len() {
        if turn > 0 {
            scheduler.delay(&mut state);
        }
        match scheduler.next(&state) {
            Some(process) => named.insert(process),
            None => return false,
        }
    }
    named == *enabled
}

/// A short list of processes, the next one first: the state of most schedulers.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Order(Vec<u8>);

impl Order {
    /// These processes, in this order.
    pub fn new(processes: impl IntoIterator<Item = u8>) -> Self {
        Self(processes.into_iter().collect())
    }

    /// The first.
    pub fn first(&self) -> Option<u8> {
        self.0.first().copied()
    }

    /// Sends the first to the end.
    pub fn rotate(&mut self) {
        if !self.0.is_empty() {
            self.0.rotate_left(1);
        }
    }

    /// Takes a process out.
    pub fn remove(&mut self, process: u8) {
        self.0.retain(|&other| other != process);
    }

    /// Puts a process at the front, wherever it was.
    pub fn put_first(&mut self, process: u8) {
        self.remove(process);
        self.0.insert(0, process);
    }

    /// Puts a process, which is not there, before the first one of which `after` is true.
    pub fn insert_before(&mut self, process: u8, after: impl Fn(u8) -> bool) {
        let place = self.0.iter().position(|&other| after(other)).unwrap_or(self.0.len());
        self.0.insert(place, process);
    }

    /// The processes, in order.
    pub fn iter(&self) -> impl Iterator<Item = u8> + '_ {
        self.0.iter().copied()
    }
}
