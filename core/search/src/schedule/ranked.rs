//! The usual schedulers, with an order of one's own among processes.
//!
//! A [`Ranking`] says how important a process is; where the usual scheduler prefers the older process or the younger one, these
//! prefer the one with the smaller rank, and only among equals do as usual.

use super::{Closing, Order, RandomOrder, Ranking, Scheduler, Situation, Step, awakened};

/// Round-robin in the order of ranks, then of creation: a process keeps control until it blocks, ends or is held back.
#[derive(Clone, Copy, Debug)]
pub struct RankedRoundRobin<R>(pub R);

/// The same, and it passes on at the ends of loops.
#[derive(Clone, Copy, Debug)]
pub struct RankedLaps<R, C> {
    /// Who goes first.
    pub ranking: R,
    /// Which transitions close a loop.
    pub closing: C,
}

/// Run-to-completion; of several processes set going at once, the one with the smallest rank is on top, and of equals the youngest.
/// At the start the smallest rank is on top, and of equals the oldest.
#[derive(Clone, Copy, Debug)]
pub struct RankedRunToCompletion<R>(pub R);

/// In each state those with the smallest rank first, in a random order among equals.
#[derive(Clone, Copy, Debug)]
pub struct RankedRandom<R> {
    /// Who goes first.
    pub ranking: R,
    /// The order among equals.
    pub random: RandomOrder,
}

/// Processes by rank, and among equals as they were.
fn by_rank<R: Ranking>(ranking: &R, state: &[u32], processes: impl Iterator<Item = u8>) -> Vec<u8> {
    let mut processes: Vec<u8> = processes.collect();
    processes.sort_by_key(|&process| ranking.rank(state, process));
    processes
}

/// The ring of those that can move after a step, turned to whoever moved last, or came after.
fn turn_to_last<Label, R: Ranking>(ranking: &R, state: &mut Order, step: &Step<'_, Label>) {
    let words = step.after.state;
    let mut ring = by_rank(ranking, words, step.after.enabled.iter());
    // Where nobody moved, it stands where it stood; a process that has ended is followed by whoever came after it.
    if let Some(at) = step.process.or(state.first()) {
        let rank = |state: &[u32], process| (ranking.rank(state, process), process);
        let here = rank(if step.after.enabled.contains(at) { words } else { step.before.state }, at);
        let behind = ring.iter().take_while(|&&process| rank(words, process) < here).count();
        let len = ring.len().max(1);
        ring.rotate_left(behind % len);
    }
    *state = Order::new(ring);
}

impl<Label, R: Ranking> Scheduler<Label> for RankedRoundRobin<R> {
    /// The ring of those that can move, from where it stands.
    type State = Order;

    fn start(&self, situation: Situation<'_>) -> Order {
        Order::new(by_rank(&self.0, situation.state, situation.enabled.iter()))
    }

    fn next(&self, state: &Order) -> Option<u8> {
        state.first()
    }

    fn delay(&self, state: &mut Order) {
        state.rotate();
    }

    fn step(&self, state: &mut Order, step: &Step<'_, Label>) {
        turn_to_last(&self.0, state, step);
    }

    fn on_enabled(&self, state: &mut Order, process: u8, _: Option<u8>) {
        state.remove(process);
        state.insert_before(process, |_| false);
    }

    fn on_blocked(&self, state: &mut Order, process: u8) {
        state.remove(process);
    }
}

impl<Label, R: Ranking, C: Closing<Label>> Scheduler<Label> for RankedLaps<R, C> {
    type State = Order;

    fn start(&self, situation: Situation<'_>) -> Order {
        Order::new(by_rank(&self.ranking, situation.state, situation.enabled.iter()))
    }

    fn next(&self, state: &Order) -> Option<u8> {
        state.first()
    }

    fn delay(&self, state: &mut Order) {
        state.rotate();
    }

    fn step(&self, state: &mut Order, step: &Step<'_, Label>) {
        turn_to_last(&self.ranking, state, step);
        if let Some(process) = step.process
            && state.first() == Some(process)
            && step.labels.iter().any(|label| self.closing.closes(label, process))
        {
            state.rotate();
        }
    }

    fn on_enabled(&self, state: &mut Order, process: u8, _: Option<u8>) {
        state.remove(process);
        state.insert_before(process, |_| false);
    }

    fn on_blocked(&self, state: &mut Order, process: u8) {
        state.remove(process);
    }
}

impl<Label, R: Ranking> Scheduler<Label> for RankedRunToCompletion<R> {
    type State = Order;

    fn start(&self, situation: Situation<'_>) -> Order {
        Order::new(by_rank(&self.0, situation.state, situation.enabled.iter()))
    }

    fn next(&self, state: &Order) -> Option<u8> {
        state.first()
    }

    fn delay(&self, state: &mut Order) {
        state.rotate();
    }

    fn step(&self, state: &mut Order, step: &Step<'_, Label>) {
        let mut blocked = *step.before.enabled;
        blocked.subtract(step.after.enabled);
        blocked.iter().for_each(|process| state.remove(process));
        let mut set_going: Vec<u8> = awakened(step).iter().collect();
        // The last one comes on top: the smallest rank, and of equals the youngest.
        set_going.sort_by_key(|&process| (std::cmp::Reverse(self.0.rank(step.after.state, process)), process));
        set_going.into_iter().for_each(|process| state.put_first(process));
    }

    fn on_enabled(&self, state: &mut Order, process: u8, _: Option<u8>) {
        state.put_first(process);
    }

    fn on_blocked(&self, state: &mut Order, process: u8) {
        state.remove(process);
    }
}

impl<Label, R: Ranking> Scheduler<Label> for RankedRandom<R> {
    type State = Order;

    fn start(&self, situation: Situation<'_>) -> Order {
        let order = <RandomOrder as Scheduler<Label>>::start(&self.random, situation);
        Order::new(by_rank(&self.ranking, situation.state, order.iter()))
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

    fn on_enabled(&self, state: &mut Order, process: u8, _: Option<u8>) {
        state.put_first(process);
    }

    fn on_blocked(&self, state: &mut Order, process: u8) {
        state.remove(process);
    }
}
