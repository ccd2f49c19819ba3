//! Single executions of a graph that was counted: the n-th one, those after it, samples.

use super::expand::{End, Walker, Way};
use super::numbers::{Kind, Nodes, Numbers};
use super::{Graph, Independence};
use crate::store::Payloads;

/// An execution.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Execution<Label, Fault> {
    /// Its number among all executions, from 0; not exact if there are too many to count.
    pub number: u128,
    /// Its steps; if it is [`End::Broken`], the last one cannot be computed, or there is no initial state.
    pub path: Vec<Label>,
    /// Why the last step cannot be computed.
    pub fault: Option<Fault>,
    /// Whether a step is faulty.
    pub failed: bool,
    /// How it ends.
    pub end: End,
}

/// Executions of one kind in the order of their numbers.
pub struct Executions<'a, M: Independence, S> {
    /// `None` if there is no initial state.
    walker: Option<Walker<'a, M, S>>,
    nodes: &'a Nodes,
    kind: Kind,
    /// Executions to be passed over.
    skip: u128,
    /// The number of the next execution, of whatever kind.
    number: u128,
    /// Why there is no initial state.
    stillborn: Option<M::Fault>,
    /// For each node on the stack, whether a step before it is faulty.
    failed: Vec<bool>,
    path: Vec<M::Label>,
    begun: bool,
}

impl<S: Payloads<u32>> Graph<S> {
    /// The executions of a kind from a number on, counted from 0. The graph must be complete, and the model the one
    /// with which it was explored.
    pub fn executions<'a, M: Independence>(
        &'a mut self,
        model: &'a mut M,
        kind: Kind,
        first: u128,
    ) -> Executions<'a, M, S> {
        let walker = Walker::new(model, (&mut self.store, &mut self.sets), self.rules);
        let (walker, stillborn) = match walker {
            Ok(walker) => (Some(walker), None),
            Err(fault) => (None, Some(fault)),
        };
        Executions {
            walker,
            stillborn,
            number: 0,
            nodes: &self.nodes,
            kind,
            skip: first,
            failed: Vec::new(),
            path: Vec::new(),
            begun: false,
        }
    }
}

impl<M: Independence, S: Payloads<u32>> Executions<'_, M, S> {
    /// How many executions of the kind there are behind a node; `failed` if a step before it is faulty.
    fn weight(&self, numbers: &Numbers, failed: bool) -> u128 {
        numbers.after(failed).of(self.kind)
    }

    /// Whether there is something to be listed among executions, of which this many are of the kind; else they are passed over.
    fn wants(&mut self, weight: u128, all: u128) -> bool {
        if self.skip < weight {
            return true;
        }
        self.skip -= weight;
        self.number = self.number.saturating_add(all);
        false
    }

    fn begin(&mut self) -> Option<Execution<M::Label, M::Fault>> {
        self.begun = true;
        let Some(walker) = &mut self.walker else {
            return self.ending(End::Broken, None, self.stillborn);
        };
        walker.payload_of_proposed(false);
        walker.enter(None, false);
        self.failed.push(false);
        None
    }

    /// Goes to the node that is proposed if executions behind it are wanted.
    fn arrive(&mut self, label: Option<M::Label>, fails: bool, transient: bool) {
        let failed = fails || self.failed.last().is_some_and(|failed| *failed);
        let Some(walker) = &mut self.walker else { return };
        let node = *walker.payload_of_proposed(transient);
        // A node without numbers is not behind the first one: the graph is that of another model.
        let Some(numbers) = self.nodes.numbers(node) else { return walker.position.reject() };
        let wanted = self.wants(self.weight(&numbers, failed), numbers.all);
        let Some(walker) = &mut self.walker else { return };
        if wanted {
            walker.enter(label, transient);
            self.failed.push(failed);
            self.path.extend(label);
        } else {
            walker.position.reject();
        }
    }

    fn leave(&mut self) {
        let Some(walker) = &mut self.walker else { return };
        if walker.frames.last().is_some_and(|frame| frame.label.is_some()) {
            self.path.pop();
        }
        walker.leave();
        self.failed.pop();
    }

    /// An execution that ends here, if it is wanted.
    fn ending(
        &mut self,
        end: End,
        last: Option<M::Label>,
        fault: Option<M::Fault>,
    ) -> Option<Execution<M::Label, M::Fault>> {
        let failed = end == End::Broken || self.failed.last().is_some_and(|failed| *failed);
        let weight = self.weight(&Numbers::one(end), failed);
        if !self.wants(weight, 1) {
            return None;
        }
        let number = self.number;
        self.number = number.saturating_add(1);
        let path = self.path.iter().copied().chain(last).collect();
        Some(Execution { number, path, fault, failed, end })
    }
}

impl<M: Independence, S: Payloads<u32>> Iterator for Executions<'_, M, S> {
    type Item = Execution<M::Label, M::Fault>;

    fn next(&mut self) -> Option<Self::Item> {
        if !self.begun {
            let only = self.begin();
            if only.is_some() {
                return only;
            }
        }
        loop {
            let walker = self.walker.as_mut()?;
            if walker.frames.is_empty() {
                return None;
            }
            match walker.next_way() {
                Way::Next { label, fails, transient } => self.arrive(label, fails, transient),
                Way::Broken { label, fault } => {
                    if let Some(execution) = self.ending(End::Broken, Some(label), Some(fault)) {
                        return Some(execution);
                    }
                }
                Way::Done | Way::Nameless | Way::Full => self.leave(),
                Way::End(end) => {
                    let execution = self.ending(end, None, None);
                    self.leave();
                    if execution.is_some() {
                        return execution;
                    }
                }
            }
        }
    }
}
