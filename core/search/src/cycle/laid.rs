//! A lasso that is walked, with its states.

use super::outcome::Run;
use super::watch::Watch;
use crate::model::{Marks, Model};
use crate::near::along;
use crate::numbered_states::NumberedStates;
use crate::observer::Observer;
use crate::outcome::Halt;
use crate::store::{Class, Store};
use fabius_base::StopReason;
use std::ops::ControlFlow;

/// A transition of a lasso.
#[derive(Clone, Copy)]
pub(super) struct Taken<L> {
    pub(super) label: Option<L>,
    pub(super) marks: Marks,
    /// The number of the state where it leads.
    pub(super) target: u32,
}

/// A lasso, with the transitions that have no label.
pub(super) struct Laid<L> {
    pub(super) stem: Vec<Taken<L>>,
    pub(super) cycle: Vec<Taken<L>>,
}

/// Transitions without a label, and the one after them that has one.
type UpToLabel<L> = (Vec<Taken<L>>, Taken<L>);

/// Walks lassos, and numbers their states: the initial one is the first.
pub(super) struct Walker<'w, 'o, M, O> {
    pub(super) model: &'w mut M,
    pub(super) watch: &'w mut Watch<'o, O>,
    pub(super) states: &'w mut NumberedStates,
    /// Transitions that were taken, and how many may be.
    pub(super) work: &'w mut u64,
    pub(super) work_max: u64,
}

impl<M: Model, O: Observer<M::Label, M::Fault>> Walker<'_, '_, M, O> {
    /// Walks the lasso with these labels; `None` if it is none.
    pub(super) fn lay(
        &mut self,
        labels: (&[M::Label], &[M::Label]),
    ) -> Run<M::Label, M::Fault, Option<Laid<M::Label>>> {
        self.model.retrace(true);
        let laid = self.walk(labels);
        self.model.retrace(false);
        laid
    }

    fn walk(&mut self, (stem, cycle): (&[M::Label], &[M::Label])) -> Run<M::Label, M::Fault, Option<Laid<M::Label>>> {
        let mut state = Vec::new();
        if self.model.initial(&mut state).is_err() {
            return ControlFlow::Continue(None);
        }
        let initial = self.states.number_of(&state, Class::Ordinary);
        let mut laid = Laid { stem: Vec::new(), cycle: Vec::new() };
        for &label in stem {
            let Some((before, taken)) = self.follow(&mut state, label)? else { return ControlFlow::Continue(None) };
            laid.stem.extend(before);
            laid.stem.push(taken);
        }
        for &label in cycle {
            let Some((before, taken)) = self.follow(&mut state, label)? else { return ControlFlow::Continue(None) };
            // What leads to the cycle without a label may not be part of it.
            let part = if laid.cycle.is_empty() { &mut laid.stem } else { &mut laid.cycle };
            part.extend(before);
            laid.cycle.push(taken);
        }
        let first = laid.stem.last().map_or(initial, |last| last.target);
        // What leads back to where the cycle begins may have no label either; nor may all of it.
        let mut last = laid.cycle.last().map(|last| last.target);
        for _ in 0..=self.states.log.len() {
            if last == Some(first) {
                return ControlFlow::Continue(Some(laid));
            }
            let Some(taken) = self.step(&mut state, None)? else { break };
            // A state that lasts for ever may be reached without a label.
            let here = laid.cycle.iter().position(|before| before.target == taken.target);
            laid.cycle.push(taken);
            if let Some(here) = here.filter(|_| cycle.is_empty()) {
                laid.stem.extend(laid.cycle.drain(..=here));
                return ControlFlow::Continue(Some(laid));
            }
            last = Some(taken.target);
        }
        ControlFlow::Continue(None)
    }

    /// Goes on up to the transition that has a label: those before it, which have none, and that one.
    fn follow(
        &mut self,
        state: &mut Vec<u32>,
        label: M::Label,
    ) -> Run<M::Label, M::Fault, Option<UpToLabel<M::Label>>> {
        let mut before = Vec::new();
        while before.len() <= self.states.log.len() {
            let Some(taken) = self.step(state, Some(label))? else { break };
            if taken.label.is_some() {
                return ControlFlow::Continue(Some((before, taken)));
            }
            before.push(taken);
        }
        ControlFlow::Continue(None)
    }

    /// Goes on with the transition that has a label, or with one without; `None` if there is neither.
    fn step(
        &mut self,
        state: &mut Vec<u32>,
        label: Option<M::Label>,
    ) -> Run<M::Label, M::Fault, Option<Taken<M::Label>>> {
        if self.watch.step_is_due() {
            self.watch.look(self.states.memory_bytes(), self.states.store.is_full())?;
        }
        *self.work += 1;
        if self.work_max < *self.work {
            return ControlFlow::Break(Halt::Stopped(StopReason::States));
        }
        let Some(along) = along(self.model, state, label) else { return ControlFlow::Continue(None) };
        let class = if along.transient { Class::Transient } else { Class::Ordinary };
        let target = self.states.number_of(state, class);
        ControlFlow::Continue(Some(Taken { label: label.filter(|_| along.is_taken), marks: along.marks, target }))
    }
}
