//! Time that work has had: a clock that stands still while the work is halted.

use fabius_base::Cancel;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Halted work looks so often whether it was asked to stop.
const LOOK: Duration = Duration::from_millis(50);

/// The time that work has had since it began. Cloning shares it.
#[derive(Clone, Debug)]
pub struct Clock(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    began: Instant,
    halts: Mutex<Halts>,
    resumed: Condvar,
}

#[derive(Debug, Default)]
struct Halts {
    /// The work is halted since then.
    since: Option<Instant>,
    /// How long it was halted before.
    before: Duration,
}

impl Default for Clock {
    fn default() -> Self {
        Self(Arc::new(Shared { began: Instant::now(), halts: Mutex::default(), resumed: Condvar::new() }))
    }
}

impl Clock {
    /// The time that the work has had.
    pub fn elapsed(&self) -> Duration {
        let halts = self.halts();
        let until = halts.since.unwrap_or_else(Instant::now);
        until.duration_since(self.0.began).saturating_sub(halts.before)
    }

    /// Asks the work to halt where it is, and stops the clock.
    pub fn halt(&self) {
        self.halts().since.get_or_insert_with(Instant::now);
    }

    /// Lets the work and the clock go on.
    pub fn resume(&self) {
        let mut halts = self.halts();
        if let Some(since) = halts.since.take() {
            halts.before += since.elapsed();
        }
        self.0.resumed.notify_all();
    }

    /// Whether the work is to halt.
    pub fn is_halted(&self) -> bool {
        self.halts().since.is_some()
    }

    /// Returns once the work may go on, or is to stop.
    pub fn wait_while_halted(&self, cancel: &Cancel) {
        let mut halts = self.halts();
        while halts.since.is_some() && cancel.requested().is_none() {
            halts = self.0.resumed.wait_timeout(halts, LOOK).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn halts(&self) -> MutexGuard<'_, Halts> {
        self.0.halts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;
    use std::thread;

    #[test]
    fn the_clock_stands_still_while_work_is_halted() {
        let clock = Clock::default();
        clock.halt();
        clock.halt();
        let halted = clock.elapsed();
        thread::sleep(Duration::from_millis(20));
        assert_eq!(clock.elapsed(), halted);
        clock.resume();
        clock.resume();
        assert!(!clock.is_halted());
        thread::sleep(Duration::from_millis(5));
        assert!(halted < clock.elapsed() && clock.elapsed() < clock.0.began.elapsed());
    }

    #[test]
    fn halted_work_goes_on_when_it_may_or_is_to_stop() {
        for stop in [false, true] {
            let (clock, cancel) = (Clock::default(), Cancel::new());
            clock.halt();
            let (over, told) = mpsc::channel();
            let (theirs, asked) = (clock.clone(), cancel.clone());
            thread::spawn(move || {
                theirs.wait_while_halted(&asked);
                let _ = over.send(());
            });
            assert_eq!(told.recv_timeout(Duration::from_millis(30)), Err(mpsc::RecvTimeoutError::Timeout));
            if stop {
                cancel.cancel();
            } else {
                clock.resume();
            }
            assert_eq!(told.recv(), Ok(()));
        }
    }
}
