//! Random: another order in each state, the same one each time.

use super::order::Processes;
use super::{Alike, Order, Ranking, Scheduler, Situation, Step};
use crate::toy::Random;

/// In each state those with the smallest rank first, and a random order among equals; to be held back means that the next in this
/// order moves. The order is a function of seed and state, so a run can be repeated, and a search that comes back to a state
/// finds the order that it left.
#[derive(Clone, Copy, Debug, Default)]
pub struct RandomOrder<R = Alike> {
    /// Another seed, another order.
    pub seed: u64,
    /// Who goes first.
    pub ranking: R,
}

impl RandomOrder {
    /// The scheduler of this seed, to which all processes are alike.
    pub fn new(seed: u64) -> Self {
        Self { seed, ranking: Alike }
    }
}

impl<Label, R: Ranking> Scheduler<Label> for RandomOrder<R> {
    type State = Order;

    fn start(&self, situation: Situation<'_>) -> Order {
        let mix = |hash: u64, word: &u32| (hash ^ u64::from(*word)).wrapping_mul(0x100_0000_01B3).rotate_left(23);
        let mut random = Random::new(situation.state.iter().fold(self.seed ^ 0xCBF2_9CE4_8422_2325, mix));
        let mut processes = Processes::from_iter(situation.enabled.iter());
        for last in (1..processes.len()).rev() {
            processes.swap(last, random.below(last + 1));
        }
        Order::by_rank(&self.ranking, situation.state, processes)
    }

    fn next(&self, state: &Order) -> Option<u8> {
        state.first()
    }

    fn delay(&self, state: &mut Order) {
        state.rotate();
    }

    fn step(&self, state: &mut Order, step: &Step<'_, Label>) {
        *state = <Self as Scheduler<Label>>::start(self, step.after);
    }
}
