//! Random: another order in each state, the same one each time.

use super::{Order, Scheduler, Situation, Step};
use crate::toy::Random;

/// In each state a random order of the processes that can move; to be held back means that the next in this order
/// moves. The order is a function of seed and state, so a run can be repeated, and a search that comes back to a state
/// finds the order that it left.
#[derive(Clone, Copy, Debug, Default)]
pub struct RandomOrder {
    seed: u64,
}

impl RandomOrder {
    /// The scheduler of this seed.
    pub fn new(seed: u64) -> Self {
        Self { seed }
    }

    fn order(self, situation: Situation<'_>) -> Order {
        let mix = |hash: u64, word: &u32| (hash ^ u64::from(*word)).wrapping_mul(0x100_0000_01B3).rotate_left(23);
        let mut random = Random::new(situation.state.iter().fold(self.seed ^ 0xCBF2_9CE4_8422_2325, mix));
        let mut processes: Vec<u8> = situation.enabled.iter().collect();
        for last in (1..processes.len()).rev() {
            processes.swap(last, random.below(last + 1));
        }
        Order::new(processes)
    }
}

impl<Label> Scheduler<Label> for RandomOrder {
    type State = Order;

    fn start(&self, situation: Situation<'_>) -> Order {
        self.order(situation)
    }

    fn next(&self, state: &Order) -> Option<u8> {
        state.first()
    }

    fn delay(&self, state: &mut Order) {
        state.rotate();
    }

    fn step(&self, state: &mut Order, step: &Step<'_, Label>) {
        *state = self.order(step.after);
    }

    fn on_enabled(&self, state: &mut Order, process: u8, _: Option<u8>) {
        state.put_first(process);
    }

    fn on_blocked(&self, state: &mut Order, process: u8) {
        state.remove(process);
    }
}
