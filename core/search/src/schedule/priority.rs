//! Priority: the most important process that can move moves.

use super::{Order, Ranking, Scheduler, Situation, Step};
use crate::model::ProcessSet;

/// The process with the smallest rank first; of equals, the oldest. A process that is held back goes behind all
/// others, and stays there until it blocks: as if its priority were lowered at this point (as PCT does).
#[derive(Clone, Copy, Debug)]
pub struct Priority<R>(pub R);

impl<Label, R: Ranking> Scheduler<Label> for Priority<R> {
    /// Those never held back since they could last move, by rank, then those held back.
    type State = Order;

    fn start(&self, situation: Situation<'_>) -> Order {
        Order::by_rank(&self.0, situation.state, situation.enabled.iter())
    }

    fn next(&self, state: &Order) -> Option<u8> {
        state.first()
    }

    fn delay(&self, state: &mut Order) {
        state.hold_back();
    }

    fn step(&self, state: &mut Order, step: &Step<'_, Label>) {
        let can_move = step.after.enabled;
        let mut free = *can_move;
        state.held_back().for_each(|process| free.remove(process));
        let ranked = |processes: &ProcessSet| Order::by_rank(&self.0, step.after.state, processes.iter());
        *state = if free.is_empty() {
            // Everybody is behind everybody else: nobody is.
            ranked(can_move)
        } else {
            ranked(&free).before(state.held_back().filter(|&process| can_move.contains(process)))
        };
    }
}
