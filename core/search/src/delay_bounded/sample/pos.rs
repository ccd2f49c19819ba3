//! POS: random priorities of pending macro steps.
//!
//! After Yuan, Yang, Gu: *Partial Order Aware Concurrency Sampling* (CAV 2018):
//!
//! ```text
//! at each macro step: draw a priority for each pending macro step that has none
//!                     take e, the one of greatest priority
//!                     e, and those that race with it, lose their priorities
//! ```
//!
//! Two macro steps race if they do not commute here, or one keeps the other from happening.

use super::{Here, Priorities, Sampler, Taken};
use crate::model::Processes;
use crate::schedule::Scheduler;
use fabius_base::StopReason;
use std::ops::ControlFlow;

pub(super) struct Pos(Priorities);

impl Default for Pos {
    fn default() -> Self {
        Self(Priorities::none())
    }
}

impl<M: Processes, D: Scheduler<M::Label>> Sampler<M, D> for Pos {
    fn choose(&mut self, here: &mut Here<'_, M, D>) -> Option<u8> {
        self.0.greatest(&here.enabled, here.random)
    }

    fn moved(&mut self, step: &mut Taken<'_>) -> ControlFlow<StopReason> {
        self.0.set(step.process, 0);
        for other in step.enabled.iter().filter(|&other| other != step.process) {
            if (step.races)(other)? {
                self.0.set(other, 0);
            }
        }
        ControlFlow::Continue(())
    }
}
