//! Cancellation: a flag that whoever started the work may raise, with the reason.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// Why work stopped before it was done.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum StopReason {
    /// Someone asked for it: Ctrl-C, a newer edit, a closed editor.
    Cancelled,
    /// The time allowed was used up.
    Timeout,
    /// The number of states allowed was reached.
    States,
    /// The memory allowed was used up.
    Memory,
    /// The visited set, or what goes with it, cannot hold more states, however much memory there is.
    Full,
    /// The system gave no more memory.
    Exhausted,
    /// Paths longer than the depth allowed were cut off.
    Depth,
    /// Runs in which the scheduler is disturbed more often than allowed were left out.
    Delays,
}

/// A flag shared between the one who works and the one who waits. Cloning shares it.
#[derive(Clone, Debug, Default)]
pub struct Cancel {
    flag: Arc<AtomicU8>,
    /// A flag that counts as this one, too.
    above: Option<Arc<Cancel>>,
}

/// The reasons that a flag can hold; each is stored as its place in this list, from 1.
const REASONS: [StopReason; 5] =
    [StopReason::Cancelled, StopReason::Timeout, StopReason::Exhausted, StopReason::States, StopReason::Memory];

impl Cancel {
    /// A flag that is not raised.
    pub fn new() -> Self {
        Self::default()
    }

    /// A flag for a part of the work: whoever raises it stops only that part; whoever raises this one stops all.
    pub fn part(&self) -> Self {
        Self { flag: Arc::default(), above: Some(Arc::new(self.clone())) }
    }

    /// Asks the work to stop; the first reason given stays.
    pub fn cancel(&self) {
        self.stop(1);
    }

    /// Tells the work that its time is used up; the first reason given stays.
    pub fn time_out(&self) {
        self.stop(2);
    }

    /// Tells the work that the system gives no more memory; the first reason given stays.
    pub fn exhaust(&self) {
        self.stop(3);
    }

    /// Tells the work that as many states are stored as are allowed; the first reason given stays.
    pub fn too_many_states(&self) {
        self.stop(4);
    }

    /// Tells the work that it used the memory allowed; the first reason given stays.
    pub fn over_memory(&self) {
        self.stop(5);
    }

    /// Whether the work should stop, and why. Cheap enough for every thousandth step.
    pub fn requested(&self) -> Option<StopReason> {
        let place = usize::from(self.flag.load(Ordering::Relaxed)).checked_sub(1);
        let own = place.and_then(|place| REASONS.get(place).copied());
        own.or_else(|| self.above.as_ref()?.requested())
    }

    fn stop(&self, reason: u8) {
        let _ = self.flag.compare_exchange(0, reason, Ordering::Relaxed, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_stops_all_stops_each_part_and_keeps_its_reason() {
        let all = Cancel::new();
        let (one, other) = (all.part(), all.part());
        one.too_many_states();
        assert_eq!((one.requested(), other.requested(), all.requested()), (Some(StopReason::States), None, None));
        all.time_out();
        assert_eq!([&one, &other].map(Cancel::requested), [Some(StopReason::States), Some(StopReason::Timeout)]);
    }
}
