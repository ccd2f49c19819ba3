//! How much a search has done, and how long it has worked.

use fabius_observe::{Event, Goal, Progress};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// What a search has done so far, as its events tell.
#[derive(Clone, Default)]
pub(super) struct Meter {
    /// Work of searches that began anew.
    before: u64,
    pub(super) last: Progress,
    /// It looks for a first violation, not for more about one.
    is_at_work: bool,
}

impl Meter {
    /// Takes an event in; whether it says how far the search for a violation is.
    pub(super) fn hear(&mut self, event: &Event) -> bool {
        match event {
            Event::Searching { goal, .. } => {
                self.before = self.work();
                self.last = Progress::default();
                self.is_at_work = *goal == Goal::Violation;
                false
            }
            Event::Progress { progress, .. } => {
                self.last = *progress;
                self.is_at_work
            }
            _ => false,
        }
    }

    pub(super) fn work(&self) -> u64 {
        self.before + self.last.transitions.max(self.last.states)
    }
}

/// Time in which a search waited for its turn.
#[derive(Default)]
pub(super) struct Waited {
    pub(super) in_all: Duration,
    /// Since the last search began that it consists of.
    lately: Duration,
}

impl Waited {
    pub(super) fn add(&mut self, time: Duration) {
        self.in_all += time;
        self.lately += time;
    }

    /// Leaves it out of what an event tells.
    pub(super) fn leave_out(&mut self, event: &mut Event) {
        match event {
            Event::Searching { .. } => self.lately = Duration::ZERO,
            Event::Progress { progress, .. } => {
                progress.seconds = (progress.seconds - self.lately.as_secs_f64()).max(0.0);
            }
            _ => {}
        }
    }
}

/// The clock of a search: the time in which others had their turns does not count.
pub(super) struct Clock<'c> {
    outside: &'c (dyn Fn() -> Duration + Sync),
    /// In nanoseconds.
    left_out: AtomicU64,
}

impl<'c> Clock<'c> {
    pub(super) fn new(outside: &'c (dyn Fn() -> Duration + Sync)) -> Self {
        Self { outside, left_out: AtomicU64::new(0) }
    }

    pub(super) fn now(&self) -> Duration {
        (self.outside)().saturating_sub(Duration::from_nanos(self.left_out.load(Ordering::Relaxed)))
    }

    /// Leaves out time that has passed.
    pub(super) fn leave_out(&self, time: Duration) {
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.left_out.fetch_add(nanoseconds, Ordering::Relaxed);
    }
}
