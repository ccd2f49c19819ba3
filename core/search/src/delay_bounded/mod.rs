//! Searches in the order of delays: how often a scheduler must be disturbed until something goes wrong.
//!
//! * [`fast`] is the paper's algorithm: it remembers states of the system only. It reaches every state in the end,
//!   and most of those within a bound; what it proves is *no error* once its frontier is empty.
//! * [`exact`] remembers states of system and scheduler together: all that is reachable with at most k delays, and
//!   nothing else. Its violations need the fewest delays.
//! * [`crate::partition::delays`] is the fast search by several partitions.
//! * [`sample`](mod@sample) walks single runs at random.
//!
//! All take a [`Model`](crate::Model) whose processes are known and a [`Scheduler`].

pub mod checkpoint;
pub mod exact;
pub mod fast;
mod replay;
pub mod sample;

pub use crate::outcome::{Coverage, Delay, Round};
pub use checkpoint::{ExactSnapshot, FastSnapshot};
pub use exact::exact;
pub use fast::fast;
pub(crate) use replay::{replay, try_replay};
pub use sample::{Samples, Sampling, sample};

use crate::model::Processes;
use crate::observer::{Budget, Observer, Settings, state_words};
use crate::outcome::Statistics;
use crate::schedule::macro_steps::MacroStepLister;
use crate::schedule::{MacroSteps, Scheduler, Situation, Step, covers};
use fabius_base::StopReason;
use std::fmt::Debug;
use std::ops::ControlFlow;

/// How many delays are allowed, round after round.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IterativeDelayBounding {
    /// In the first round.
    pub first: u32,
    /// More in each further round; at least 1.
    pub increment: u32,
    /// At most; without it, until nothing is left.
    pub last: Option<u32>,
    /// This many choices in each run, at most; see [`is_choice`]. Searches for cycles and samples do not heed it.
    pub choices: Option<u32>,
}

impl Default for IterativeDelayBounding {
    fn default() -> Self {
        Self { first: 0, increment: 1, last: None, choices: None }
    }
}

impl IterativeDelayBounding {
    /// As many as there have to be, up to `last`.
    pub fn up_to(last: u32) -> Self {
        Self { last: Some(last), ..Self::default() }
    }

    /// The bound of the first round.
    pub(crate) fn start(&self) -> u32 {
        self.last.map_or(self.first, |last| self.first.min(last))
    }

    /// The same, with the last bound that the observer wants now.
    pub(crate) fn as_wanted<L: Debug, F: Debug>(&self, observer: &mut impl DelayObserver<L, F>) -> Self {
        Self { last: observer.last_bound(self.last), ..*self }
    }

    /// The bound of the round after that with `bound`, if there is one.
    pub(crate) fn after(&self, bound: u32) -> Option<u32> {
        let next = bound.saturating_add(self.increment.max(1));
        match self.last {
            Some(last) if last <= bound => None,
            Some(last) => Some(next.min(last)),
            None => Some(next),
        }
    }
}

/// Whether a macro step is a choice: its process has several ways on, and this is not the first of them that is listed.
///
/// Of the alternatives of a process in a state, the first one is what it does by itself; to take any other costs 1. A way
/// through an atomic sequence is one alternative, and so is each partner of a rendezvous. Macro steps with the same transitions, of
/// which one tells that they are faulty, are one alternative. What is nobody's is no choice.
pub fn is_choice<L: Copy + PartialEq, F: Copy>(macro_steps: &MacroSteps<L, F>, index: usize) -> bool {
    let process = macro_steps.get(index).process;
    let first = macro_steps.next_of(process, 0).unwrap_or(index);
    process.is_some() && macro_steps.labels(first) != macro_steps.labels(index)
}

/// Someone who is told of rounds as well.
pub trait DelayObserver<Label: Debug, Fault: Debug>: Observer<Label, Fault> {
    /// May change the last bound while the search runs. Asked after each round.
    fn last_bound(&mut self, last: Option<u32>) -> Option<u32> {
        last
    }

    /// A round is finished.
    fn round(&mut self, round: &Round) -> ControlFlow<StopReason> {
        let _ = round;
        ControlFlow::Continue(())
    }
}

impl<Label: Debug, Fault: Debug> DelayObserver<Label, Fault> for crate::Quiet {}

/// A path of more macro steps is not executed anew only to be shown.
pub(crate) const SHOWN_MACRO_STEPS_MAX: usize = 2000;

/// Where a state, or a pair of states, came from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Origin {
    /// Number of the parent; the first is its own.
    pub parent: u32,
    /// The parent's macro step that leads here, by its index; [`Origin::DELAY`] for a delay.
    pub macro_step: u32,
}

impl Origin {
    /// No macro step: the process was held back.
    pub const DELAY: u32 = u32::MAX;
    /// Of the first.
    pub const NONE: Self = Self { parent: 0, macro_step: Self::DELAY - 1 };

    /// The macro steps (and delays) that lead to `number`, the first one first.
    pub fn trail(origins: &[Self], number: u32) -> Vec<u32> {
        let mut macro_steps = Vec::new();
        let mut number = number;
        while number != 0 {
            let origin = origins[number as usize];
            macro_steps.push(origin.macro_step);
            number = origin.parent;
        }
        macro_steps.reverse();
        macro_steps
    }
}

/// The scheduler's state after a macro step, given by the macro steps of the state before and its index in them.
pub(crate) fn scheduled<L: Copy, F: Copy, D: Scheduler<L>>(
    scheduler: &D,
    before: &D::State,
    macro_steps: &MacroSteps<L, F>,
    index: usize,
    after: Situation<'_>,
) -> D::State {
    let mut state = before.clone();
    let (process, labels, partners) =
        (macro_steps.get(index).process, macro_steps.labels(index), macro_steps.partners(index));
    scheduler.step(&mut state, &Step { process, labels, partners, before: macro_steps.situation(), after });
    debug_assert!(
        scheduler.is_sealed(&state) || covers(scheduler, &state, after.enabled),
        "the scheduler does not offer {:?} in {state:?}",
        after.enabled
    );
    state
}

/// Lists macro steps within a budget.
pub(crate) struct Listing<'a, M: Processes> {
    pub model: &'a mut M,
    pub lister: MacroStepLister<M::Label>,
    pub budget: Budget<'a>,
}

impl<'a, M: Processes> Listing<'a, M> {
    /// Nothing is listed yet.
    pub fn new(model: &'a mut M, settings: &'a Settings) -> Self {
        let budget = Budget::new(settings, state_words(model));
        Self { model, lister: MacroStepLister::new(), budget }
    }

    /// Lists the macro steps of a state.
    pub fn list<O: Observer<M::Label, M::Fault>>(
        &mut self,
        state: &[u32],
        macro_steps: &mut MacroSteps<M::Label, M::Fault>,
        statistics: &mut Statistics,
        store_is_full: bool,
        observer: &mut O,
    ) -> ControlFlow<StopReason> {
        let Self { model, lister, budget } = self;
        let listed = lister.list(*model, state, macro_steps, || {
            if budget.step_is_due() {
                budget.look(statistics, store_is_full, observer)
            } else {
                ControlFlow::Continue(())
            }
        });
        // What was passed on the way to an interruption is passed again by whoever goes on.
        if listed.is_continue() {
            statistics.transient = lister.transient;
        }
        listed
    }
}
