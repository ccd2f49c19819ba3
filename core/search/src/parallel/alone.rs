//! The search of [`super::reach`] by one thread: what a depth-first search left is visited by some traversals in turn.
//!
//! ```text
//! visit the states on the stack and what can be reached from them, as [`super::traversals`] tells
//! ```
//!
//! The visited set is the one of the depth-first search, which needs no locks.

use super::arena::Portion;
use super::trace::{Trace, Traces};
use super::traversals::{HowReached, Part, Thread, Traversal, Traversals, Way};
use super::watch;
use crate::depth_first::DepthFirst;
use crate::dfs_stack::Lookup;
use crate::model::{Marks, Model};
use crate::observer::{Budget, Observer};
use crate::outcome::{Halt, Outcome, Statistics, ViolationKind, Violations};
use crate::position::Position;
use crate::snapshot::{Phase, SearchSnapshot};
use crate::state_log::StateLog;
use crate::store::{Class, Inserted, Store};
use fabius_base::StopReason;
use std::ops::ControlFlow;

/// Goes on with a search until all states are visited.
pub(super) fn go_on<M: Model, S: Store, O: Observer<M::Label, M::Fault>>(
    search: DepthFirst<'_, M, S, O>,
) -> Outcome<M::Label, M::Fault> {
    let DepthFirst { model, store, observer, budget, stack, statistics, violations, .. } = search;
    let traces = Traces::new();
    let mut traversals = Traversals::new(model, S::MEMO_PER_WORD, stack.policy);
    let aside = Aside { states: StateLog::new(model.hidden_words()), reached: Vec::new() };
    traversals.take_over(Part { stack: stack.hand_over(|()| Way::NEW), bottom: Trace::START, depth_below: 0 });
    let can_sleep = model.can_sleep();
    let (traces, portion) = (&traces, Portion::default());
    let mut alone = Alone { store, observer, budget, statistics, violations, traces, portion, aside, can_sleep };
    let ended = traversals.visit(model, &mut alone);
    let Alone { store, statistics, violations, .. } = alone;
    violations.conclude(ended, store.exactness(), statistics)
}

/// The only thread.
struct Alone<'a, M: Model, S, O> {
    store: &'a mut S,
    observer: &'a mut O,
    budget: Budget<'a>,
    statistics: Statistics,
    violations: Violations<M::Label, M::Fault>,
    traces: &'a Traces,
    portion: Portion,
    aside: Aside,
    can_sleep: bool,
}

/// States that were set aside.
struct Aside {
    states: StateLog,
    /// How each was reached.
    reached: Vec<HowReached>,
}

impl Aside {
    fn memory_bytes(&self) -> u64 {
        self.states.memory_bytes() + size_of_val::<[HowReached]>(&self.reached) as u64
    }
}

impl<M: Model, S: Store, O> Lookup for Alone<'_, M, S, O> {
    type Probe = S::Probe;

    #[inline]
    fn probe(&mut self, position: &mut Position, class: Class, _: Marks) -> S::Probe {
        self.store.prepare(position, class)
    }
}

impl<M: Model, S: Store, O: Observer<M::Label, M::Fault>> Thread<M> for Alone<'_, M, S, O> {
    type Halt = Halt;

    #[inline]
    fn can_sleep(&self) -> bool {
        self.can_sleep
    }

    #[inline]
    fn insert(&mut self, probe: S::Probe) -> bool {
        self.store.commit(probe) == Inserted::New
    }

    #[inline]
    fn statistics(&mut self) -> &mut Statistics {
        &mut self.statistics
    }

    #[inline]
    fn is_too_deep(&self, depth: u64) -> bool {
        self.budget.too_deep(depth)
    }

    #[inline]
    fn count_state(&mut self) -> ControlFlow<Halt> {
        if self.budget.states_exhausted(self.statistics.states) {
            return ControlFlow::Break(Halt::Stopped(StopReason::States));
        }
        self.statistics.states += 1;
        ControlFlow::Continue(())
    }

    #[inline]
    fn step_is_due(&mut self) -> bool {
        self.budget.step_is_due()
    }

    #[cold]
    fn look(&mut self, model: &mut M, traversal: &Traversal<M, S::Probe>, stacks_bytes: u64) -> ControlFlow<Halt> {
        let set_aside = self.aside.memory_bytes();
        let now = self.store.memory_bytes() + self.traces.memory_bytes() + set_aside + stacks_bytes;
        self.statistics.memory_bytes = self.statistics.memory_bytes.max(now);
        let is_full = self.store.is_full() || self.traces.is_full();
        self.budget.look(&self.statistics, is_full, self.observer).map_break(Halt::Stopped)?;
        if let Some(wanted) = self.observer.snapshot_request() {
            let begun = (traversal.bottom, traversal.depth());
            let look = watch::snapshot((Phase::DepthFirst, self.traces), (model, &traversal.stack), begun, wanted);
            let set_aside = self.aside.reached.len() as u64;
            self.observer.on_snapshot(SearchSnapshot { frontier: (set_aside != 0).then_some(set_aside), ..look });
        }
        ControlFlow::Continue(())
    }

    #[cold]
    fn report(
        &mut self,
        model: &mut M,
        traversal: &mut Traversal<M, S::Probe>,
        kind: ViolationKind<M::Fault>,
        label: Option<M::Label>,
    ) -> ControlFlow<Halt> {
        self.statistics.violations += 1;
        let key = self.observer.key(&kind, label.as_ref(), traversal.stack.position.state());
        let Self { traces, portion, violations, .. } = self;
        violations.record(key, kind, || {
            let mut path = traces.execute(traversal.trace(traces, portion), model);
            path.extend(label);
            (path, Vec::new())
        })
    }

    #[cold]
    fn set_aside(&mut self, (_, position): (S::Probe, &Position), reached: HowReached) {
        self.aside.states.push(self.store, position, Class::Ordinary);
        self.aside.reached.push(reached);
    }

    fn take_aside(&mut self, state: &mut Vec<u32>) -> Option<HowReached> {
        let Aside { states, reached } = &mut self.aside;
        let last = reached.pop()?;
        states.recall(self.store, reached.len(), state);
        states.truncate(reached.len());
        Some(last)
    }

    fn traces(&mut self) -> (&Traces, &mut Portion) {
        (self.traces, &mut self.portion)
    }
}
