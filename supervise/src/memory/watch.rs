//! The memory of work that does not count what it takes, as reading a model.

use fabius_base::Cancel;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

/// Time between two looks.
const PAUSE: Duration = Duration::from_millis(20);

/// So much is allowed in any case: what a program takes to begin with differs from system to system.
const ALWAYS: u64 = 64 << 20;

/// Tells the work that the program takes more memory than is allowed, and more than 64 MiB, until it is dropped. Where the system
/// does not say how much that is (it does on Linux), nothing happens.
pub struct Watch(#[expect(dead_code, reason = "dropping it is what wakes the thread")] Option<Sender<()>>);

impl Watch {
    /// Looks from now on whether more than so many bytes are in use.
    pub fn start(bytes_max: u64, cancel: &Cancel) -> Self {
        Self::over(bytes_max.max(ALWAYS), cancel)
    }

    /// Looks from now on whether more than so many bytes are in use beside those that are now: for one piece of work of several.
    pub fn beside(bytes_max: u64, cancel: &Cancel) -> Self {
        Self::over(used_bytes().unwrap_or(0).saturating_add(bytes_max.max(ALWAYS)), cancel)
    }

    fn over(bytes_max: u64, cancel: &Cancel) -> Self {
        if used_bytes().is_none() {
            return Self(None);
        }
        let (keep, gone) = mpsc::channel();
        let cancel = cancel.clone();
        let watch = move || {
            while gone.recv_timeout(PAUSE) == Err(RecvTimeoutError::Timeout) {
                if used_bytes().is_some_and(|bytes| bytes_max < bytes) {
                    return cancel.over_memory();
                }
            }
        };
        let _ = thread::Builder::new().spawn(watch);
        Self(Some(keep))
    }
}

/// The bytes of memory that this program has in use, without those of its own file.
fn used_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabius_base::StopReason;

    #[test]
    fn who_takes_more_than_is_allowed_is_told() {
        let Some(now) = used_bytes() else { return };
        let (modest, greedy) = (Cancel::new(), Cancel::new());
        let watches = [Watch::start(now << 10, &modest), Watch::over(1, &greedy)];
        while greedy.requested().is_none() {
            thread::yield_now();
        }
        drop(watches);
        assert_eq!((modest.requested(), greedy.requested()), (None, Some(StopReason::Memory)));
    }
}
