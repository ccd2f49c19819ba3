//! How often a search writes a checkpoint.

use std::time::Duration;

/// At least so much time lies between two checkpoints, …
const INTERVAL_MIN: Duration = Duration::from_secs(3 * 60);
/// … and so many times what the last one took.
const INTERVAL_FACTOR: u32 = 30;

/// When a checkpoint is due: every few minutes, and so that writing takes a small part of the time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cadence {
    /// When the next one is due.
    next: Duration,
    /// When the last one was due that may still be on its way.
    began: Option<Duration>,
}

impl Cadence {
    /// Of a search that begins now.
    pub fn starting(now: Duration) -> Self {
        Self { next: now.saturating_add(INTERVAL_MIN), began: None }
    }

    /// Whether a checkpoint is due now. If so, it is on its way until the next call.
    pub fn is_due(&mut self, now: Duration) -> bool {
        if let Some(began) = self.began.take() {
            let took = now.saturating_sub(began);
            self.next = now.saturating_add(INTERVAL_MIN.max(took.saturating_mul(INTERVAL_FACTOR)));
        }
        let is_due = self.next <= now;
        if is_due {
            self.began = Some(now);
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn one_is_due_every_few_minutes() {
        let mut cadence = Cadence::starting(5 * SECOND);
        let due: Vec<u32> = (5..1000).filter(|&now| cadence.is_due(now * SECOND)).collect();
        assert_eq!(due, [185, 366, 547, 728, 909]);
    }

    #[test]
    fn what_takes_long_is_written_rarely() {
        let mut cadence = Cadence::starting(Duration::ZERO);
        assert!(cadence.is_due(180 * SECOND));
        assert!(!cadence.is_due(200 * SECOND));
        assert!(!cadence.is_due(799 * SECOND) && cadence.is_due(800 * SECOND));
    }
}
