//! Round-robin that passes on at the ends of loops.

use super::round_robin::Ring;
use super::{RoundRobin, Scheduler, Situation, Step};
use std::fmt::Debug;

/// Says which transitions close a loop: every loop of a process must have one that does.
pub trait Closing<Label>: Debug {
    /// Whether a transition closes a loop of a process.
    fn closes(&self, label: &Label, process: u8) -> bool;
}

/// The processes in a ring, in the order of creation. A process keeps control until it blocks or ends, is held back, or has
/// been once around a loop; then the next one in the ring that can move gets it.
///
/// No process keeps control for ever, since it cannot go on for ever without closing a loop: in an infinite run with finitely many
/// delays, each process that can always move from some point on has its turn again and again.
#[derive(Clone, Copy, Debug)]
pub struct Laps<C>(pub C);

impl<Label, C: Closing<Label>> Scheduler<Label> for Laps<C> {
    type State = Ring;

    fn start(&self, situation: Situation<'_>) -> Ring {
        Scheduler::<Label>::start(&RoundRobin, situation)
    }

    fn next(&self, state: &Ring) -> Option<u8> {
        Scheduler::<Label>::next(&RoundRobin, state)
    }

    fn delay(&self, state: &mut Ring) {
        Scheduler::<Label>::delay(&RoundRobin, state);
    }

    fn step(&self, state: &mut Ring, step: &Step<'_, Label>) {
        RoundRobin.step(state, step);
        if let Some(process) = step.process
            && step.labels.iter().any(|label| self.0.closes(label, process))
        {
            state.settle(process.saturating_add(1));
        }
    }

    fn on_enabled(&self, state: &mut Ring, process: u8, by: Option<u8>) {
        Scheduler::<Label>::on_enabled(&RoundRobin, state, process, by);
    }

    fn on_blocked(&self, state: &mut Ring, process: u8) {
        Scheduler::<Label>::on_blocked(&RoundRobin, state, process);
    }
}
