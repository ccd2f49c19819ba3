//! Depth-first search for violations of safety: faulty transitions and invalid end states.
//!
//! ```text
//! visit(s):                                    for each step s → t of next(s), in order:
//!   stored := stored ∪ {s}                       report the step if it is faulty
//!   for each step s → t: …                       if t is transient: visit t, not storing it
//!   report s if it is an invalid end             else if t ∉ stored: visit t
//! ```
//!
//! The order is exactly that of [`Model::next`], and successors are asked for one at a time, as pan
//! does: numbers of states, matched states and depth are comparable to Spin's.
//!
//! How the stack holds states, and what becomes of transient ones, is told in [`crate::dfs_stack`].

mod resumable;

pub use resumable::{DepthFirstSnapshot, resumable_depth_first};

use crate::dfs_stack::DfsStack;
use crate::model::{Details, Ending, Listed, Marks, Model};
use crate::observer::{Budget, Observer, Settings, state_words};
use crate::outcome::{Halt, Outcome, Statistics, ViolationKind, Violations};
use crate::snapshot::{Phase, SearchSnapshot};
use crate::store::{Class, Inserted, Store};
use fabius_base::StopReason;
use std::ops::ControlFlow;

/// Searches all states that `model` can reach, in the order in which it lists them.
pub fn depth_first<M: Model, S: Store, O: Observer<M::Label, M::Fault>>(
    model: &mut M,
    store: &mut S,
    observer: &mut O,
    settings: &Settings,
) -> Outcome<M::Label, M::Fault> {
    let mut search = DepthFirst::new(model, store, observer, settings, u64::MAX);
    let ended = search.run().map_continue(|_| ());
    search.conclude(ended)
}

/// A search that others may go on with.
pub(crate) struct DepthFirst<'a, M: Model, S: Store, O> {
    pub(crate) model: &'a mut M,
    pub(crate) store: &'a mut S,
    pub(crate) observer: &'a mut O,
    pub(crate) budget: Budget<'a>,
    /// After this many transitions, others go on; with the greatest number never.
    transitions_max: u64,
    pub(crate) stack: DfsStack<M, (), S::Probe>,
    pub(crate) statistics: Statistics,
    pub(crate) violations: Violations<M::Label, M::Fault>,
    /// Memory that checkpoints take beside it for each state.
    checkpoint_bytes_per_state: u64,
}

/// How far a search came that was not halted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Extent {
    /// All states were visited.
    Whole,
    /// What is left is on the stack. Others go on, or a checkpoint is due.
    Part,
}

impl<'a, M: Model, S: Store, O: Observer<M::Label, M::Fault>> DepthFirst<'a, M, S, O> {
    /// A search that has not begun.
    pub(crate) fn new(
        model: &'a mut M,
        store: &'a mut S,
        observer: &'a mut O,
        settings: &'a Settings,
        transitions_max: u64,
    ) -> Self {
        let stack = DfsStack::new(model, S::MEMO_PER_WORD);
        let budget = Budget::new(settings, state_words(model));
        let violations = Violations::new(settings.stop_at);
        let statistics = Statistics::default();
        Self {
            model,
            store,
            observer,
            budget,
            transitions_max,
            stack,
            statistics,
            violations,
            checkpoint_bytes_per_state: 0,
        }
    }

    pub(crate) fn run(&mut self) -> ControlFlow<Halt, Extent> {
        self.begin()?;
        self.visit()
    }

    /// Puts the initial state on the stack, if there is one and it is to be looked at.
    fn begin(&mut self) -> ControlFlow<Halt> {
        let mut initial = Vec::new();
        if let Err(fault) = self.model.initial(&mut initial) {
            return self.report(ViolationKind::Fault(fault), None);
        }
        if self.budget.too_deep(0) {
            self.cut();
            return ControlFlow::Continue(());
        }
        self.stack.reset(&initial);
        self.store.insert(&mut self.stack.position, Class::Ordinary);
        self.stack.start(self.model, false, ());
        self.count_state()
    }

    /// The outcome of a search that ran to its end or was halted.
    pub(crate) fn conclude(mut self, ended: ControlFlow<Halt>) -> Outcome<M::Label, M::Fault> {
        self.statistics.memory_bytes = self.statistics.memory_bytes.max(self.memory_bytes());
        self.violations.conclude(ended, self.store.exactness(), self.statistics)
    }

    /// Visits the state on the stack and all that can be reached from it.
    fn visit(&mut self) -> ControlFlow<Halt, Extent> {
        loop {
            if self.budget.step_is_due() {
                self.look()?;
                if self.others_go_on() || self.observer.checkpoint_is_due() {
                    return ControlFlow::Continue(Extent::Part);
                }
            }
            let Some(listed) = self.stack.list(self.model) else { return ControlFlow::Continue(Extent::Whole) };
            match listed {
                Listed::Successor { labelled, transient, faulty, .. } => {
                    if faulty {
                        self.report_fault()?;
                    }
                    self.arrive(labelled, transient)?;
                }
                Listed::Broken => self.report_fault()?,
                Listed::Done(ending) => {
                    if ending == Ending::InvalidEnd {
                        self.report(ViolationKind::InvalidEnd, None)?;
                    }
                    self.stack.pop();
                }
            }
        }
    }

    /// Whether others go on from here: the time for that has come, or somebody wants an order that only they have.
    fn others_go_on(&mut self) -> bool {
        self.transitions_max <= self.statistics.transitions()
            || self.transitions_max != u64::MAX && self.model.is_for_later(self.stack.position.state())
    }

    /// Goes to the successor, unless it was visited before or lies too deep.
    #[inline]
    fn arrive(&mut self, labelled: bool, transient: bool) -> ControlFlow<Halt> {
        let depth = self.stack.depth() + u64::from(labelled);
        self.statistics.transient += u64::from(transient);
        if self.budget.too_deep(depth) {
            self.stack.cut();
            self.cut();
            return ControlFlow::Continue(());
        }
        match self.stack.look_up(self.model, self.store, transient, Marks::NONE) {
            None => self.stack.descend(self.model, self.stack.details.label, Marks::NONE, ()),
            Some((class, probe)) => {
                if self.store.commit(probe) == Inserted::Old {
                    self.statistics.matched += u64::from(class == Class::Ordinary);
                    self.stack.reject();
                    return ControlFlow::Continue(());
                }
                self.stack.enter(self.model, self.store, self.stack.details.label, transient, ());
                if class == Class::Ordinary {
                    self.count_state()?;
                }
            }
        }
        self.statistics.depth = self.statistics.depth.max(depth);
        ControlFlow::Continue(())
    }

    fn cut(&mut self) {
        self.statistics.cut += 1;
        self.statistics.matched += 1;
    }

    #[inline]
    fn count_state(&mut self) -> ControlFlow<Halt> {
        if self.budget.states_exhausted(self.statistics.states) {
            return ControlFlow::Break(Halt::Stopped(StopReason::States));
        }
        self.statistics.states += 1;
        ControlFlow::Continue(())
    }

    /// Reports what the transition violates that was listed last.
    #[cold]
    fn report_fault(&mut self) -> ControlFlow<Halt> {
        let Details { label, fault, .. } = self.stack.details;
        self.report(ViolationKind::Fault(fault.expect("a transition is faulty by a fault")), label)
    }

    /// Reports a violation: of the transition `label` from here, or of this state.
    #[cold]
    fn report(&mut self, kind: ViolationKind<M::Fault>, label: Option<M::Label>) -> ControlFlow<Halt> {
        self.statistics.violations += 1;
        let key = self.observer.key(&kind, label.as_ref(), self.stack.position.state());
        let stack = &self.stack;
        self.violations.record(key, kind, || (stack.labels().chain(label).collect(), Vec::new()))
    }

    #[cold]
    fn look(&mut self) -> ControlFlow<Halt> {
        let now = self.memory_bytes();
        self.statistics.memory_bytes = self.statistics.memory_bytes.max(now);
        self.budget.look(&self.statistics, self.store.is_full(), self.observer).map_break(Halt::Stopped)?;
        if let Some(wanted) = self.observer.snapshot_request() {
            let look =
                SearchSnapshot::at(Phase::DepthFirst).along_many(wanted, self.stack.depth(), self.stack.labels());
            let look = SearchSnapshot { stack: self.stack.len() as u64, ..look };
            self.observer.on_snapshot(look);
        }
        ControlFlow::Continue(())
    }

    fn memory_bytes(&self) -> u64 {
        let checkpoint_bytes = self.statistics.states * self.checkpoint_bytes_per_state;
        self.store.memory_bytes() + self.stack.memory_bytes() + checkpoint_bytes
    }
}
