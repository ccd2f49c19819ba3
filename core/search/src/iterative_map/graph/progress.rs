//! States and edges, and how far the edges of a state are there.

use crate::schedule::{MacroSteps, Scheduler};
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;

/// An edge, as the algorithms see it, in eight bytes: there are several of them to a state.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub(in crate::iterative_map) struct Edge {
    pub to: u32,
    /// Which macro step it is, above the two marks.
    packed: u32,
}

impl Edge {
    const ACCEPT: u32 = 1;
    const FOLLOW: u32 = 2;
    const MARK_BITS: u32 = 2;

    /// The edge that a macro step of its source is, with its marks.
    pub fn new(to: u32, macro_step: u32, follow: bool, accept: bool) -> Self {
        let marks = if follow { Self::FOLLOW } else { 0 } | if accept { Self::ACCEPT } else { 0 };
        Self { to, packed: macro_step << Self::MARK_BITS | marks }
    }

    /// Which macro step of its source it is.
    pub fn macro_step(self) -> u32 {
        self.packed >> Self::MARK_BITS
    }

    /// Whether cycles may use it.
    pub fn follow(self) -> bool {
        self.packed & Self::FOLLOW != 0
    }

    /// Whether a cycle that uses it is one that is looked for.
    pub fn accept(self) -> bool {
        self.packed & Self::ACCEPT != 0
    }
}

/// A state.
pub(in crate::iterative_map) struct Node<State> {
    pub progress: Progress<State>,
    /// The state from which it was first met, and the macro step from there.
    pub parent: Option<(u32, u32)>,
}

/// How far the edges of a state are there.
#[derive(Clone)]
pub(in crate::iterative_map) struct Progress<State> {
    /// dᵢ, n + i, i.
    pub schedule: State,
    pub delays: u32,
    pub index: u32,
    /// Environment moves are still to come.
    pub environment: bool,
    /// All its edges are there.
    pub complete: bool,
}

impl<State> Progress<State> {
    /// Of a state that was met with this many delays.
    pub fn begin(schedule: State, delays: u32) -> Self {
        Self { schedule, delays, index: 0, environment: true, complete: false }
    }

    /// Whether no edge was looked for yet.
    pub fn is_fresh(&self) -> bool {
        self.index == 0 && self.environment
    }

    /// Takes the macro steps that a bound allows and that were not taken yet.
    pub fn take_macro_steps<L: Copy, F: Copy, D: Scheduler<L, State = State>, B>(
        &mut self,
        scheduler: &D,
        bound: u32,
        macro_steps: &MacroSteps<L, F>,
        mut take: impl FnMut(&Self, usize) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        loop {
            let process = if self.environment { None } else { scheduler.next(&self.schedule) };
            if !self.environment && (process.is_none() || macro_steps.enabled().len() <= self.index as usize) {
                self.complete = true;
                return ControlFlow::Continue(());
            }
            if bound < self.delays {
                return ControlFlow::Continue(());
            }
            let mut from = 0;
            while let Some(macro_step) = macro_steps.next_of(process, from) {
                from = macro_step + 1;
                take(self, macro_step)?;
            }
            if self.environment {
                self.environment = false;
            } else if scheduler.is_sealed(&self.schedule) {
                self.index = u32::MAX;
            } else {
                scheduler.delay(&mut self.schedule);
                self.delays += 1;
                self.index += 1;
            }
        }
    }
}
