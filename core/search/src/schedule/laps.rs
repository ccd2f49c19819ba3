//! Round-robin that passes on at the ends of loops.

use super::{Alike, Order, Ranking, RoundRobin, Scheduler, Situation, Step};
use std::fmt::Debug;

/// Says which transitions close a loop: every loop of a process must have one that does.
pub trait Closing<Label>: Debug {
    /// Whether a transition closes a loop of a process.
    fn closes(&self, label: &Label, process: u8) -> bool;
}

/// The processes in a ring. A process keeps control until it blocks or ends, is held back, or has been once around a loop; then the
/// next one in the ring that can move gets it.
///
/// No process keeps control for ever, since it cannot go on for ever without closing a loop: in an infinite run with finitely many
/// delays, each process that can always move from some point on has its turn again and again.
#[derive(Clone, Copy, Debug)]
pub struct Laps<C, R = Alike> {
    /// Which transitions close a loop.
    pub closing: C,
    /// Who stands before whom in the ring.
    pub ring: RoundRobin<R>,
}

impl<C> Laps<C> {
    /// In the order of creation.
    pub fn new(closing: C) -> Self {
        Self { closing, ring: RoundRobin::default() }
    }
}

impl<Label, C: Closing<Label>, R: Ranking> Scheduler<Label> for Laps<C, R> {
    type State = Order;

    fn start(&self, situation: Situation<'_>) -> Order {
        Scheduler::<Label>::start(&self.ring, situation)
    }

    fn next(&self, state: &Order) -> Option<u8> {
        Scheduler::<Label>::next(&self.ring, state)
    }

    fn delay(&self, state: &mut Order) {
        Scheduler::<Label>::delay(&self.ring, state);
    }

    fn step(&self, state: &mut Order, step: &Step<'_, Label>) {
        self.ring.step(state, step);
        if let Some(process) = step.process
            && state.first() == Some(process)
            && step.labels.iter().any(|label| self.closing.closes(label, process))
        {
            state.rotate();
        }
    }
}
