//! Round-robin: in the order of ranks, then of creation.

use super::{Alike, Order, Ranking, Scheduler, Situation, Step};

/// The processes in a ring. A process keeps control until it blocks or ends, or is held back; then the next one in the ring that can
/// move gets it.
///
/// It does not take control away by itself, so a process that always can move keeps it for ever at no delay.
#[derive(Clone, Copy, Debug, Default)]
pub struct RoundRobin<R = Alike>(pub R);

impl<Label, R: Ranking> Scheduler<Label> for RoundRobin<R> {
    /// The ring of those that can move, from where it stands.
    type State = Order;

    fn start(&self, situation: Situation<'_>) -> Order {
        Order::by_rank(&self.0, situation.state, situation.enabled.iter())
    }

    fn next(&self, state: &Order) -> Option<u8> {
        state.first()
    }

    fn delay(&self, state: &mut Order) {
        state.rotate();
    }

    fn step(&self, state: &mut Order, step: &Step<'_, Label>) {
        let words = step.after.state;
        let mut ring = Order::by_rank(&self.0, words, step.after.enabled.iter());
        // Where nobody moved, it stands where it stood; a process that has ended is followed by whoever came after it.
        if let Some(at) = step.process.or(state.first()) {
            let rank = |state: &[u32], process| (self.0.rank(state, process), process);
            let here = rank(if step.after.enabled.contains(at) { words } else { step.before.state }, at);
            ring.settle(|process| here <= rank(words, process));
        }
        *state = ring;
    }
}
