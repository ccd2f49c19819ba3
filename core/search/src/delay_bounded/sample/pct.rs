//! PCT: random priorities with few changes.
//!
//! After Burckhardt, Kothari, Musuvathi, Nagarakatte: *A Randomized Scheduler with Probabilistic Guarantees of Finding
//! Bugs* (ASPLOS 2010):
//!
//! ```text
//! give each process a random priority above d;  draw d − 1 points of time from the first L macro steps
//! at each macro step: for the i-th point, if it is due: the process of greatest priority gets priority i
//!                     the process of greatest priority moves
//! ```
//!
//! A bug of depth d among n processes is met with a probability of at least 1/(n·Lᵈ⁻¹).

use super::{Here, Points, Priorities, Sampler};
use crate::model::Processes;
use crate::schedule::Scheduler;
use crate::toy::Random;

pub(super) struct Pct {
    priorities: Priorities,
    changes: Points,
}

impl Pct {
    pub(super) fn new(depth: u32, length: u64, random: &mut Random) -> Self {
        Self { priorities: Priorities::none(), changes: Points::draw(depth.saturating_sub(1), length, random) }
    }
}

impl<M: Processes, D: Scheduler<M::Label>> Sampler<M, D> for Pct {
    fn choose(&mut self, here: &mut Here<'_, M, D>) -> Option<u8> {
        let mut first = self.priorities.greatest(&here.enabled, here.random);
        for low in self.changes.take_due(here.taken) {
            self.priorities.set(first?, low);
            first = self.priorities.greatest(&here.enabled, here.random);
        }
        first
    }
}

/// The probability of a bug of this depth.
pub(super) fn probability(depth: u32, length: u64, processes: u32) -> f64 {
    let changes = depth.saturating_sub(1).min(1000) as i32;
    (length as f64).powi(-changes) / f64::from(processes.max(1))
}
