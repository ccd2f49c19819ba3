//! Random walk: each time one of the processes that can move, all equally likely.

use super::{Here, Sampler, Taken};
use crate::model::Processes;
use crate::schedule::Scheduler;
use fabius_base::StopReason;
use std::ops::ControlFlow;

#[derive(Default)]
pub(super) struct Walk {
    /// Macro steps of interest that each process took.
    pub(super) counts: Vec<u64>,
}

impl<M: Processes, D: Scheduler<M::Label>> Sampler<M, D> for Walk {
    fn choose(&mut self, here: &mut Here<'_, M, D>) -> Option<u8> {
        here.enabled.iter().nth(here.random.below(here.enabled.len()))
    }

    fn moved(&mut self, step: &mut Taken<'_>) -> ControlFlow<StopReason> {
        let process = usize::from(step.process);
        if self.counts.len() <= process {
            self.counts.resize(process + 1, 0);
        }
        self.counts[process] += u64::from(step.of_interest);
        ControlFlow::Continue(())
    }
}
