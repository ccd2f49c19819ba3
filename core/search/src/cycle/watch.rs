//! Limits, counters and the observer of a search for cycles.

use super::outcome::{Found, Run};
use crate::dfs_stack::DfsStack;
use crate::model::Model;
use crate::observer::{Budget, Observer, Settings};
use crate::outcome::{Halt, Statistics};
use crate::snapshot::{Rejected, Rejection, SearchSnapshot, SnapshotRequest};
use crate::store::{Class, Store};
use fabius_base::{Limits, StopReason};
use std::fmt::Debug;
use std::ops::ControlFlow;

/// Counts, and ends a search that used up what it may.
pub(crate) struct Watch<'a, O> {
    observer: &'a mut O,
    budget: Budget<'a>,
    pub(crate) statistics: Statistics,
    /// Cycles that are none of those that are looked for.
    rejected: u64,
    /// Nobody has seen an example of them lately.
    wants_example: bool,
}

impl<'a, O> Watch<'a, O> {
    /// For a search of states of about this many words.
    pub(crate) fn new(observer: &'a mut O, settings: &'a Settings, words: usize) -> Self {
        let (rejected, wants_example) = (0, false);
        Self {
            observer,
            budget: Budget::new(settings, words),
            statistics: Statistics::default(),
            rejected,
            wants_example,
        }
    }

    /// How much may be used now.
    pub(crate) fn limits(&self) -> Limits {
        self.budget.limits()
    }

    /// Arrives at the initial state, with an empty stack: counts it, and looks for it in the store.
    pub(crate) fn arrive_at_initial<M, D, S>(
        &mut self,
        model: &mut M,
        store: &mut S,
        stack: &mut DfsStack<M, D, S::Probe>,
    ) -> Run<M::Label, M::Fault, S::Probe>
    where
        M: Model,
        S: Store,
        O: Observer<M::Label, M::Fault>,
    {
        let mut state = Vec::new();
        if let Err(fault) = model.initial(&mut state) {
            return ControlFlow::Break(Halt::Found(Found::Fault { path: Vec::new(), fault }));
        }
        self.counts_state()?;
        stack.reset(&state);
        ControlFlow::Continue(store.prepare(&mut stack.position, Class::Ordinary))
    }

    /// Takes a step; whether it is time to [`Self::look`].
    #[inline]
    pub(crate) fn step_is_due(&mut self) -> bool {
        self.budget.step_is_due()
    }

    /// Compares what was used with the limits, and asks observer and canceller.
    #[cold]
    pub(crate) fn look<L: Debug, F: Debug>(&mut self, memory_bytes: u64, store_is_full: bool) -> Run<L, F>
    where
        O: Observer<L, F>,
    {
        self.statistics.memory_bytes = self.statistics.memory_bytes.max(memory_bytes);
        self.budget.look(&self.statistics, store_is_full, self.observer).map_break(Halt::Stopped)
    }

    /// What the observer wants to see.
    pub(crate) fn snapshot_request<L: Debug, F: Debug>(&mut self) -> Option<SnapshotRequest>
    where
        O: Observer<L, F>,
    {
        self.observer.snapshot_request()
    }

    /// Shows the observer what the search is at.
    pub(crate) fn show<L: Debug, F: Debug>(&mut self, look: SearchSnapshot<L>)
    where
        O: Observer<L, F>,
    {
        self.wants_example = true;
        self.observer.on_snapshot(SearchSnapshot { rejected: self.rejected, ..look });
    }

    /// Counts a cycle that is none of those that are looked for. Whether an example is wanted.
    #[inline]
    pub(crate) fn rejects(&mut self) -> bool {
        self.rejected += 1;
        self.wants_example
    }

    /// Shows the observer a cycle that is none of those that are looked for.
    #[cold]
    pub(crate) fn show_rejected<L: Debug, F: Debug>(&mut self, why: Rejection, label: Option<L>, state: &[u32])
    where
        O: Observer<L, F>,
    {
        self.wants_example = false;
        self.observer.rejected(Rejected { why, label, state: state.to_vec() });
    }

    /// Counts an arrival at this depth; whether it lies too deep to be looked at.
    #[inline]
    pub(crate) fn arrives_too_deep(&mut self, depth: u64, transient: bool) -> bool {
        self.statistics.transient += u64::from(transient);
        let too_deep = self.budget.too_deep(depth);
        if too_deep {
            self.statistics.cut += 1;
            self.statistics.matched += 1;
        }
        too_deep
    }

    /// Counts a state that is new, unless there may be no more.
    #[inline]
    pub(crate) fn counts_state<L, F>(&mut self) -> Run<L, F> {
        if self.budget.states_exhausted(self.statistics.states) {
            return ControlFlow::Break(Halt::Stopped(StopReason::States));
        }
        self.statistics.states += 1;
        ControlFlow::Continue(())
    }
}
