//! A depth-first search that is under way: its stack, the active states, and the roots of their components.

use super::Number;
use crate::cycle::acceptance_summary::AcceptanceSummary;
use crate::dfs_stack::DfsStack;
use crate::model::{Marks, Model, Processes};
use crate::state_log::StateLog;
use crate::store::Payloads;

/// A depth-first search through the whole graph, or through a subproblem of it.
pub(super) struct Pass<M: Model, C, Probe> {
    pub(super) stack: DfsStack<M, FrameData, Probe>,
    pub(super) roots: Vec<Root<C>>,
    pub(super) active: Vec<Probe>,
    /// If components may have to be split: the active states.
    pub(super) states: StateLog,
    /// Numbers up to this one are those of another pass.
    pub(super) first: u32,
    /// The subproblem to stay in.
    pub(super) subproblem: Option<Number>,
}

/// A component, as far as it is known.
pub(super) struct Root<C> {
    pub(super) number: u32,
    pub(super) sum: C,
    /// Of the way from the active state before to the root.
    pub(super) way: C,
    /// Whether it has a transition.
    pub(super) cyclic: bool,
}

/// What is kept with a state on the stack.
#[derive(Clone, Copy)]
pub(super) struct FrameData {
    pub(super) number: u32,
    /// Of the transition that led here.
    pub(super) marks: Marks,
    /// Some successor is active.
    pub(super) closes: bool,
}

impl<M: Processes, C: AcceptanceSummary, Probe: Copy> Pass<M, C, Probe> {
    pub(super) fn new<S: Payloads<Number, Probe = Probe>>(model: &M, first: u32, subproblem: Option<Number>) -> Self {
        Self {
            stack: DfsStack::new(model, S::MEMO_PER_WORD),
            roots: Vec::new(),
            active: Vec::new(),
            states: StateLog::new(model.hidden_words()),
            first,
            subproblem,
        }
    }

    /// Whether a state with this number is to be entered.
    #[inline]
    pub(super) fn admits(&self, number: Number) -> bool {
        match self.subproblem {
            None => number == Number::NEW || number == Number::QUEUED,
            Some(subproblem) => number == subproblem,
        }
    }

    #[inline]
    pub(super) fn is_active(&self, number: Number) -> bool {
        self.first < number.0 && number.0 <= self.first + self.active.len() as u32
    }

    /// The sum of the way to the successor from the last stored state.
    #[inline]
    pub(super) fn way_to_successor(&self, model: &M, label: Option<M::Label>, marks: Marks) -> C {
        let mut way = C::default();
        way.add_step(model, label.as_ref(), marks);
        for frame in self.stack.frames().iter().rev().take_while(|frame| !frame.is_stored()) {
            way.add_step(model, frame.label.as_ref(), frame.data.marks);
        }
        way
    }

    /// The root of the component on top; there is one while a state is active.
    pub(super) fn top_root(&mut self) -> &mut Root<C> {
        self.roots.last_mut().expect("an active state has a root")
    }

    /// There is a way from the state on top to the active state with this number.
    pub(super) fn merge(&mut self, number: u32, mut sum: C) {
        while let Some(root) = self.roots.pop_if(|root| number < root.number) {
            sum.unite(&root.sum);
            sum.unite(&root.way);
        }
        let root = self.top_root();
        root.sum.unite(&sum);
        root.cyclic = true;
        self.stack.top_frame().data.closes = true;
    }

    /// Goes back to the root of the component on top: it, whether it is transient, and the numbers of its component.
    pub(super) fn retreat_to_root(&mut self) -> (Vec<u32>, bool, std::ops::RangeInclusive<u32>) {
        let number = self.top_root().number;
        self.stack.forget_ahead();
        while !self.stack.top_frame().is_stored() || self.stack.top_frame().data.number != number {
            self.stack.pop();
        }
        let transient = self.stack.top_frame().transient;
        (self.stack.position.state().to_vec(), transient, number..=self.first + self.active.len() as u32)
    }

    pub(super) fn memory_bytes(&self) -> u64 {
        let beside = size_of_val::<[Root<C>]>(&self.roots) + size_of_val::<[Probe]>(&self.active);
        self.stack.memory_bytes() + self.states.memory_bytes() + beside as u64
    }
}
