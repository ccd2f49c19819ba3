//! What a search sums up of the states and transitions of a strongly connected part of the graph, to know
//! whether a run that goes round in it for ever counts.

use crate::model::{Marks, ProcessSet, Processes};

/// A sum over states and transitions; the default is that over none.
pub(crate) trait AcceptanceSummary: Clone + Default {
    /// Whether a part that is too large to count may hold smaller ones that do.
    const SPLITS: bool = false;

    /// Adds an ordinary state, or a transient one that was stored.
    fn add_state<M: Processes>(&mut self, model: &mut M, state: &[u32], transient: bool);

    /// Adds a transition.
    fn add_step<M: Processes>(&mut self, model: &M, label: Option<&M::Label>, marks: Marks);

    /// Adds another sum.
    fn unite(&mut self, other: &Self);

    /// The marks of its transitions.
    fn marks(&self) -> Marks;

    /// The processes that are treated unfairly by a run that goes through all of it again and again.
    fn neglected(&self) -> ProcessSet;

    /// Whether some state of it is ordinary, as far as this matters.
    fn has_ordinary(&self) -> bool {
        true
    }

    /// Whether some process that was neglected in `before`, a part of this, is no more.
    fn is_fairer_than(&self, before: &Self) -> bool;
}

/// Nobody is treated unfairly.
impl AcceptanceSummary for Marks {
    fn add_state<M: Processes>(&mut self, _: &mut M, _: &[u32], _: bool) {}

    fn add_step<M: Processes>(&mut self, _: &M, _: Option<&M::Label>, marks: Marks) {
        *self = self.with(marks);
    }

    fn unite(&mut self, other: &Self) {
        *self = self.with(*other);
    }

    fn marks(&self) -> Marks {
        *self
    }

    fn neglected(&self) -> ProcessSet {
        ProcessSet::EMPTY
    }

    fn is_fairer_than(&self, _: &Self) -> bool {
        false
    }
}

/// Weak fairness: neglected is who is enabled everywhere and never moves.
#[derive(Clone, Copy)]
pub(crate) struct Weak {
    marks: Marks,
    moved: ProcessSet,
    /// Enabled in every state.
    waiting: ProcessSet,
}

impl Default for Weak {
    fn default() -> Self {
        Self { marks: Marks::NONE, moved: ProcessSet::EMPTY, waiting: ProcessSet::ALL }
    }
}

impl AcceptanceSummary for Weak {
    fn add_state<M: Processes>(&mut self, model: &mut M, state: &[u32], transient: bool) {
        self.waiting.retain(&enabled(model, state, transient));
    }

    fn add_step<M: Processes>(&mut self, model: &M, label: Option<&M::Label>, marks: Marks) {
        self.marks = self.marks.with(marks);
        add_movers(&mut self.moved, model, label);
    }

    fn unite(&mut self, other: &Self) {
        self.marks = self.marks.with(other.marks);
        self.moved.extend(&other.moved);
        self.waiting.retain(&other.waiting);
    }

    fn marks(&self) -> Marks {
        self.marks
    }

    fn neglected(&self) -> ProcessSet {
        without(self.waiting, &self.moved)
    }

    fn is_fairer_than(&self, before: &Self) -> bool {
        self.neglected().len() < before.neglected().len()
    }
}

/// Strong fairness: neglected is who is enabled somewhere and never moves.
#[derive(Clone, Copy, Default)]
pub(crate) struct Strong {
    marks: Marks,
    moved: ProcessSet,
    /// Enabled in some ordinary state.
    enabled: ProcessSet,
    /// Enabled in some transient state; it matters if there are no ordinary ones.
    passed: ProcessSet,
    ordinary: bool,
}

impl AcceptanceSummary for Strong {
    const SPLITS: bool = true;

    fn add_state<M: Processes>(&mut self, model: &mut M, state: &[u32], transient: bool) {
        self.ordinary |= !transient;
        let sum = if transient { &mut self.passed } else { &mut self.enabled };
        sum.extend(&enabled(model, state, transient));
    }

    fn add_step<M: Processes>(&mut self, model: &M, label: Option<&M::Label>, marks: Marks) {
        self.marks = self.marks.with(marks);
        add_movers(&mut self.moved, model, label);
    }

    fn unite(&mut self, other: &Self) {
        self.marks = self.marks.with(other.marks);
        self.moved.extend(&other.moved);
        self.enabled.extend(&other.enabled);
        self.passed.extend(&other.passed);
        self.ordinary |= other.ordinary;
    }

    fn marks(&self) -> Marks {
        self.marks
    }

    fn neglected(&self) -> ProcessSet {
        without(if self.ordinary { self.enabled } else { self.passed }, &self.moved)
    }

    fn has_ordinary(&self) -> bool {
        self.ordinary
    }

    fn is_fairer_than(&self, before: &Self) -> bool {
        let neglected = before.neglected();
        (self.ordinary && !before.ordinary) || without(neglected, &self.moved).len() < neglected.len()
    }
}

/// Who is enabled in a state that was stored. In a transient one nobody has a choice, so nobody is excused.
pub(crate) fn enabled<M: Processes>(model: &mut M, state: &[u32], transient: bool) -> ProcessSet {
    if transient {
        return ProcessSet::first(model.process_count(state));
    }
    let mut enabled = ProcessSet::EMPTY;
    model.enabled(state, &mut enabled);
    enabled
}

fn add_movers<M: Processes>(moved: &mut ProcessSet, model: &M, label: Option<&M::Label>) {
    for process in label.map(|label| model.movers(label)).into_iter().flatten().flatten() {
        moved.insert(process);
    }
}

fn without(mut set: ProcessSet, other: &ProcessSet) -> ProcessSet {
    set.subtract(other);
    set
}
