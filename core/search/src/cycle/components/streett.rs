//! Strong fairness: components that are too large are searched again without some of their states.
//!
//! ```text
//! split(component):                                        for each subproblem, until none is left:
//!   states := those where nobody neglected is enabled        search its components
//!   subproblems := subproblems ∪ {states}                    those that are too large in turn: split
//! ```
//!
//! A process that is enabled in a component somewhere and never moves there makes a run through all of it unfair.
//! A fair run avoids the states where the process is enabled (a Streett condition).

use super::couvreur::Halted;
use super::pass::Pass;
use super::{Components, Number};
use crate::cycle::acceptance_summary::{self, AcceptanceSummary};
use crate::cycle::outcome::Run;
use crate::cycle::proviso::Proviso;
use crate::model::Processes;
use crate::observer::Observer;
use crate::outcome::Halt;
use crate::state_log::StateLog;
use crate::store::{Class, Payloads};
use fabius_base::StopReason;
use std::ops::ControlFlow;

/// What is left of a component that was too large.
pub(super) struct Subproblem {
    pub(super) number: Number,
    pub(super) states: StateLog,
}

impl<M, S, O, P, C> Components<'_, M, S, O, P, C>
where
    M: Processes,
    S: Payloads<Number>,
    O: Observer<M::Label, M::Fault>,
    P: Proviso<M>,
    C: AcceptanceSummary,
{
    /// Searches what is left of the component that was split, and of what is split in turn.
    pub(super) fn search_subproblems(&mut self, whole: &mut Pass<M, C, S::Probe>) -> Run<M::Label, M::Fault> {
        let mut state = Vec::new();
        while let Some(subproblem) = self.subproblems.pop() {
            let first = whole.first + whole.active.len() as u32;
            let mut pass = Pass::new::<S>(self.model, first, Some(subproblem.number));
            for index in 0..subproblem.states.len() {
                let class = subproblem.states.recall(self.store, index, &mut state);
                if !self.start(&mut pass, &state, class)? {
                    continue;
                }
                loop {
                    match self.explore(&mut pass, Some(whole))? {
                        Halted::Found => return self.report(whole, Some(&mut pass)),
                        Halted::Split => drop(pass.stack.pop()),
                        Halted::Exhausted => break,
                    }
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// Takes the states out of the component where someone neglected is enabled; what is left is a subproblem.
    pub(super) fn split(&mut self, pass: &Pass<M, C, S::Probe>, from: usize, sum: &C) -> Run<M::Label, M::Fault> {
        if self.subproblems_made == Number::QUEUED.0 - Number::FIRST_SUBPROBLEM.0 {
            return ControlFlow::Break(Halt::Stopped(StopReason::Full));
        }
        let number = Number(Number::FIRST_SUBPROBLEM.0 + self.subproblems_made);
        self.subproblems_made += 1;
        let mut subproblem = Subproblem { number, states: StateLog::new(self.model.hidden_words()) };
        let neglected = sum.neglected();
        let mut state = Vec::new();
        for (index, &probe) in pass.active.iter().enumerate().skip(from) {
            let class = pass.states.recall(self.store, index, &mut state);
            let mut left_out = acceptance_summary::enabled(self.model, &state, class == Class::Transient);
            left_out.retain(&neglected);
            let stays = left_out.is_empty() || (class == Class::Transient && sum.has_ordinary());
            *self.store.payload(probe).1 = if stays { number } else { Number::DONE };
            if stays {
                subproblem.states.push_from(&pass.states, index);
            }
        }
        if !subproblem.states.is_empty() {
            self.subproblems.push(subproblem);
        }
        ControlFlow::Continue(())
    }
}
