//! What the search keeps: the stack of calls, what waits for later rounds, and what was found.

use super::postponed::Postponed;
use crate::delay_bounded::{DelayObserver, IterativeDelayBounding, Listing, Origin, Round};
use crate::macro_stack::MacroStack;
use crate::model::Processes;
use crate::observer::Settings;
use crate::outcome::{Halt, Outcome, Statistics, Violations};
use crate::schedule::Scheduler;
use crate::store::Store;
use fabius_base::StopReason;
use std::ops::ControlFlow;

pub(super) struct Fast<'a, M: Processes, S, D: Scheduler<M::Label>, O> {
    pub(super) listing: Listing<'a, M>,
    pub(super) scheduler: &'a D,
    pub(super) store: &'a mut S,
    pub(super) observer: &'a mut O,
    pub(super) stack: MacroStack<M, Explore<D::State>>,
    /// Of each state, by its number.
    pub(super) origins: Vec<Origin>,
    /// What waits for the next round.
    pub(super) frontier: Postponed<D::State>,
    /// What waited for this one, and how much of it was taken up.
    pub(super) present: Postponed<D::State>,
    pub(super) taken_up: usize,
    pub(super) bounding: &'a IterativeDelayBounding,
    pub(super) bound: u32,
    /// The bound on choices cut something off.
    pub(super) cut_off: bool,
    pub(super) finished: Vec<Round>,
    pub(super) statistics: Statistics,
    pub(super) violations: Violations<M::Label, M::Fault>,
}

/// A call of `explore`.
#[derive(Clone)]
pub(super) struct Explore<State> {
    pub(super) number: u32,
    /// d, n and i of the algorithm.
    pub(super) schedule: State,
    pub(super) delays: u32,
    pub(super) index: u32,
    /// Environment moves come first.
    pub(super) environment: bool,
    /// Transitions from the initial state.
    pub(super) depth: u64,
    /// Choices on the way.
    pub(super) choices: u32,
}

impl<State> Explore<State> {
    /// Says on the stack which macro steps are its.
    pub(super) fn tag(&self) -> u64 {
        u64::from(self.number) + 1
    }
}

impl<'a, M, S, D, O> Fast<'a, M, S, D, O>
where
    M: Processes,
    S: Store,
    D: Scheduler<M::Label>,
    O: DelayObserver<M::Label, M::Fault>,
{
    pub(super) fn new(
        model: &'a mut M,
        scheduler: &'a D,
        store: &'a mut S,
        observer: &'a mut O,
        settings: &'a Settings,
        bounding: &'a IterativeDelayBounding,
    ) -> Self {
        let hidden = model.hidden_words();
        Self {
            stack: MacroStack::new(model, S::MEMO_PER_WORD),
            listing: Listing::new(model, settings),
            scheduler,
            store,
            observer,
            origins: Vec::new(),
            frontier: Postponed::new(hidden),
            present: Postponed::new(hidden),
            taken_up: 0,
            bounding,
            bound: bounding.start(),
            cut_off: false,
            finished: Vec::new(),
            statistics: Statistics::default(),
            violations: Violations::new(settings.stop_at),
        }
    }

    pub(super) fn conclude(mut self, run: ControlFlow<Halt>) -> Outcome<M::Label, M::Fault> {
        self.look_at_memory();
        let outcome = self.violations.conclude(run, self.store.exactness(), self.statistics);
        outcome.by_rounds(self.finished, self.frontier.is_empty(), self.cut_off, StopReason::Delays)
    }

    #[cold]
    pub(super) fn look_at_memory(&mut self) {
        self.statistics.memory_bytes = self.statistics.memory_bytes.max(self.memory_bytes());
    }

    pub(super) fn memory_bytes(&self) -> u64 {
        let local = (self.frontier.calls.len() + self.present.calls.len()) * size_of::<(Explore<D::State>, u32)>()
            + self.origins.capacity() * size_of::<Origin>();
        let postponed = self.frontier.states.memory_bytes() + self.present.states.memory_bytes();
        self.store.memory_bytes() + self.stack.memory_bytes() + postponed + local as u64
    }
}
