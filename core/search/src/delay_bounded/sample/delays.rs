//! Delays at random.
//!
//! After Desai, Qadeer, Seshia: *Systematic Testing of Asynchronous Reactive Systems* (FSE 2015):
//!
//! ```text
//! draw d points of time from the first L macro steps, uniformly and independently
//! at each macro step: for each point that is due: Delay(scheduler);  Next(scheduler) moves
//! ```
//!
//! A run of at most L macro steps that needs d delays, and no luck in choices inside processes, is met with a
//! probability of at least 1/Lᵈ.

use super::{Delay, Here, Points, Sampler};
use crate::model::Processes;
use crate::schedule::Scheduler;
use crate::toy::Random;

pub(super) struct Delays(Points);

impl Delays {
    pub(super) fn new(delays: u32, length: u64, random: &mut Random) -> Self {
        Self(Points::draw(delays, length, random))
    }
}

impl<M: Processes, D: Scheduler<M::Label>> Sampler<M, D> for Delays {
    fn choose(&mut self, here: &mut Here<'_, M, D>) -> Option<u8> {
        for _ in self.0.take_due(here.taken) {
            if here.enabled.len() > 1 && !here.scheduler.is_sealed(here.schedule) {
                let process = here.scheduler.next(here.schedule)?;
                here.delays.push(Delay { before: here.transitions, process });
                here.scheduler.delay(here.schedule);
            }
        }
        here.scheduler.next(here.schedule)
    }
}

/// The probability of a run that needs this many delays.
pub(super) fn probability(delays: u32, length: u64) -> f64 {
    (length as f64).powi(-(delays.min(1000) as i32))
}
