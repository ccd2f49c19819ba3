//! The time allowed.

use fabius_base::Cancel;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

/// Tells the work that its time is used up, unless it is dropped before.
pub struct Timer(#[expect(dead_code, reason = "dropping it is what wakes the thread")] Option<Sender<()>>);

impl Timer {
    /// Starts to count; without a time allowed, nothing happens.
    pub fn start(allowed: Option<Duration>, cancel: &Cancel) -> Self {
        let Some(allowed) = allowed else { return Self(None) };
        let (keep, gone) = mpsc::channel();
        let cancel = cancel.clone();
        let count = move || {
            if gone.recv_timeout(allowed) == Err(RecvTimeoutError::Timeout) {
                cancel.time_out();
            }
        };
        // Where there is no room for one more thread, a search still looks at the clock by itself.
        let _ = thread::Builder::new().spawn(count);
        Self(Some(keep))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabius_base::StopReason;

    #[test]
    fn a_timer_fires_unless_dropped() {
        let late = Cancel::new();
        drop(Timer::start(Some(Duration::from_millis(1)), &Cancel::new()));
        let timer = Timer::start(Some(Duration::from_millis(1)), &late);
        while late.requested().is_none() {
            thread::yield_now();
        }
        assert_eq!(late.requested(), Some(StopReason::Timeout));
        drop(timer);
    }
}
