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
pub struct Cancel(Arc<AtomicU8>);

impl Cancel {
    /// A flag that is not raised.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks the work to stop; the first reason given stays.
    pub fn cancel(&self) {
        let _ = self.0.compare_exchange(0, 1, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Tells the work that its time is used up; the first reason given stays.
    pub fn time_out(&self) {
        let _ = self.0.compare_exchange(0, 2, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Tells the work that the system gives no more memory; the first reason given stays.
    pub fn exhaust(&self) {
        let _ = self.0.compare_exchange(0, 3, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Tells the work that it used the memory allowed; the first reason given stays.
    pub fn over_memory(&self) {
        let _ = self.0.compare_exchange(0, 4, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Whether the work should stop, and why. Cheap enough for every thousandth step.
    pub fn requested(&self) -> Option<StopReason> {
        match self.0.load(Ordering::Relaxed) {
            0 => None,
            1 => Some(StopReason::Cancelled),
            2 => Some(StopReason::Timeout),
            4 => Some(StopReason::Memory),
            _ => Some(StopReason::Exhausted),
        }
    }
}
