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
//! * A *macro step* ([`macro_steps`]) is what a process does when it is given control: one transition, or a whole atomic
//!   sequence with all that happens inside it. Nobody is delayed inside a macro step.
//! * A rendezvous is a macro step of its sender. The receiver moves with it and pays nothing.
//! * If a process has several ways on, all are tried at the same cost: a choice inside a process is no delay.
//! * Environment moves (of an observer, or of a claim that goes on alone) cost nothing and are always tried.
//! * A process that is created or that becomes able to move joins the schedule; one that ends or blocks leaves it
//!   ([`Scheduler::step`]).
//!
//! # Writing one's own
//!
//! Implement [`Scheduler`] for a type that knows what you know about the system: which process is the
//! interesting one, which step is urgent. `examples/own_scheduler.rs` in this crate does so from outside.
//! A scheduler only has to keep the *coverage condition* ([`covers`]): told to delay again and again, it names
//! each process that can move. Debug builds check it in each state that a search arrives at.

mod laps;
pub mod macro_steps;
mod order;
mod portable;
mod priority;
mod random;
mod round_robin;
mod run_to_completion;
mod sealed;

pub use laps::{Closing, Laps};
pub use macro_steps::{MacroStep, MacroSteps};
pub use order::Order;
pub use portable::Portable;
pub use priority::Priority;
pub use random::RandomOrder;
pub use round_robin::RoundRobin;
pub use run_to_completion::RunToCompletion;
pub use sealed::{SealKind, Sealed, SealedState, Seals};

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

/// A macro step that was taken.
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

    /// Step(s, d, s′): a macro step was taken. Processes that can no longer move leave, and those that can move now join.
    fn step(&self, state: &mut Self::State, step: &Step<'_, Label>);

    /// Whether no process may be held back at present.
    fn is_sealed(&self, state: &Self::State) -> bool {
        let _ = state;
        false
    }
}

/// A scheduler that is chosen while the program runs.
impl<Label, D: Scheduler<Label> + ?Sized> Scheduler<Label> for Box<D> {
    type State = D::State;

    fn start(&self, situation: Situation<'_>) -> Self::State {
        (**self).start(situation)
    }

    fn next(&self, state: &Self::State) -> Option<u8> {
        (**self).next(state)
    }

    fn delay(&self, state: &mut Self::State) {
        (**self).delay(state);
    }

    fn step(&self, state: &mut Self::State, step: &Step<'_, Label>) {
        (**self).step(state, step);
    }

    fn is_sealed(&self, state: &Self::State) -> bool {
        (**self).is_sealed(state)
    }
}

/// How important a process is in a state: smaller ranks go first. It may look at the state, so a model can change
/// the order by writing to a variable.
pub trait Ranking: Debug {
    /// The rank of a process.
    fn rank(&self, state: &[u32], process: u8) -> u32;
}

/// All processes are equally important.
#[derive(Clone, Copy, Debug, Default)]
pub struct Alike;

impl Ranking for Alike {
    fn rank(&self, _: &[u32], _: u8) -> u32 {
        0
    }
}

/// The coverage condition: Next(d), Next(Delay(d)), … are, within as many terms as there are processes that can move,
/// exactly these.
///
/// (The paper's recursion makes one term more, while its algorithms use as many as here.)
pub fn covers<Label, D: Scheduler<Label>>(scheduler: &D, state: &D::State, enabled: &ProcessSet) -> bool {
    let mut state = state.clone();
    let mut named = ProcessSet::EMPTY;
    for macro_step in 0..enabled.len() {
        if macro_step > 0 {
            scheduler.delay(&mut state);
        }
        match scheduler.next(&state) {
            Some(process) => named.insert(process),
            None => return false,
        }
    }
    named == *enabled
}
