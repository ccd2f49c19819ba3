//! The time allowed.

use crate::clock::Clock;
use fabius_base::Cancel;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

/// Time between two looks at a clock that may stand still.
const LOOK: Duration = Duration::from_millis(50);

/// Tells the work that its time is used up, unless it is dropped before.
pub struct Timer(#[expect(dead_code, reason = "dropping it is what wakes the thread")] Option<Sender<()>>);

impl Timer {
    /// Starts to count; without a time allowed, nothing happens.
    pub fn start(allowed: Option<Duration>, cancel: &Cancel) -> Self {
        Self::by(&Clock::default(), allowed, cancel)
    }

    /// As [`Self::start`], by a clock that may stand still meanwhile.
    pub fn by(clock: &Clock, allowed: Option<Duration>, cancel: &Cancel) -> Self {
        let Some(allowed) = allowed else { return Self(None) };
        if allowed <= clock.elapsed() {
            cancel.time_out();
            return Self(None);
        }
        let (keep, gone) = mpsc::channel();
        let (clock, cancel) = (clock.clone(), cancel.clone());
        let count = move || {
            let mut left = allowed.saturating_sub(clock.elapsed());
            while gone.recv_timeout(left) == Err(RecvTimeoutError::Timeout) {
                if allowed <= clock.elapsed() {
                    return cancel.time_out();
                }
                left = allowed.saturating_sub(clock.elapsed()).max(LOOK);
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

    #[test]
    fn no_time_at_all_is_used_up_at_once() {
        let cancel = Cancel::new();
        let _timer = Timer::start(Some(Duration::ZERO), &cancel);
        assert_eq!(cancel.requested(), Some(StopReason::Timeout));
    }

    #[test]
    fn a_timer_waits_for_a_clock_that_stands_still() {
        let (clock, cancel) = (Clock::default(), Cancel::new());
        clock.halt();
        let timer = Timer::by(&clock, Some(Duration::from_millis(1)), &cancel);
        thread::sleep(3 * LOOK);
        assert_eq!(cancel.requested(), None);
        clock.resume();
        while cancel.requested().is_none() {
            thread::yield_now();
        }
        drop(timer);
    }
}
