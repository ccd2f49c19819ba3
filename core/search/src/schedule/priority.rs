//! Priority: the most important process that can move moves.

use super::{Order, Scheduler, Situation, Step};
use std::fmt::Debug;

/// How important a process is in a state: smaller ranks go first. It may look at the state, so a model can change
/// the order by writing to a variable.
pub trait Ranking: Debug {
    /// The rank of a process.
    fn rank(&self, state: &[u32], process: u8) -> u32;
}

/// The process with the smallest rank first; of equals, the oldest. A process that is held back goes behind all
/// others, and stays there until it blocks: as if its priority were lowered at this point (as PCT does).
#[derive(Clone, Copy, Debug)]
pub struct Priority<R>(pub R);

/// Those never held back since they could last move, by rank, then those held back, in this order.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Queue {
    order: Order,
    held_back: super::ProcessSet,
}

impl<R: Ranking> Priority<R> {
    fn sorted(&self, situation: Situation<'_>, mut processes: Vec<u8>) -> Vec<u8> {
        processes.sort_by_key(|&process| (self.0.rank(situation.state, process), process));
        processes
    }
}

impl<Label, R: Ranking> Scheduler<Label> for Priority<R> {
    type State = Queue;

    fn start(&self, situation: Situation<'_>) -> Queue {
        let processes = self.sorted(situation, situation.enabled.iter().collect());
        Queue { order: Order::new(processes), held_back: super::ProcessSet::EMPTY }
    }

    fn next(&self, state: &Queue) -> Option<u8> {
        state.order.first()
    }

    fn delay(&self, state: &mut Queue) {
        if let Some(first) = state.order.first() {
            state.held_back.insert(first);
            state.order.rotate();
        }
    }

    fn step(&self, state: &mut Queue, step: &Step<'_, Label>) {
        let (before, after) = (step.before.enabled, step.after.enabled);
        let mut blocked = *before;
        blocked.subtract(after);
        state.held_back.subtract(&blocked);
        if state.held_back == *after {
            // Everybody is behind everybody else: nobody is.
            state.held_back = super::ProcessSet::EMPTY;
        }
        let mut free = *after;
        free.subtract(&state.held_back);
        let mut processes = self.sorted(step.after, free.iter().collect());
        processes.extend(state.order.iter().filter(|&process| state.held_back.contains(process)));
        state.order = Order::new(processes);
    }

    fn on_enabled(&self, state: &mut Queue, process: u8, _: Option<u8>) {
        state.order.remove(process);
        state.order.insert_before(process, |other| state.held_back.contains(other));
    }

    fn on_blocked(&self, state: &mut Queue, process: u8) {
        state.order.remove(process);
        state.held_back.remove(process);
    }
}
