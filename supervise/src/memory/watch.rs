//! The memory of work that does not count what it takes, as reading a model.

use super::limit::read_small;
use fabius_base::Cancel;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Time between two looks.
pub const PAUSE: Duration = Duration::from_millis(20);

/// So much is allowed in any case: what a program takes to begin with differs from system to system.
const ALWAYS: u64 = 64 << 20;

/// Tells the work that the program takes more memory than is allowed, and more than 64 MiB, until it is dropped. Where the system
/// does not say how much that is (it does on Linux), nothing happens.
pub struct Watch(#[expect(dead_code, reason = "dropping it is what ends the watch")] By);

/// Who looks how much memory is in use.
enum By {
    /// Whoever waits for the work of this thread, by the number of the watch.
    Waiting(#[expect(dead_code, reason = "dropping it is what ends the watch")] Listed),
    /// A thread that ends when this is dropped.
    Thread(#[expect(dead_code, reason = "dropping it is what wakes the thread")] Sender<()>),
}

/// Watches of work that somebody waits for, by number: how many bytes are allowed, and who is to be told that there are more.
static WATCHES: Mutex<BTreeMap<u64, (u64, Cancel)>> = Mutex::new(BTreeMap::new());

/// A number in the list of watches.
struct Listed(u64);

impl Drop for Listed {
    fn drop(&mut self) {
        WATCHES.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.0);
    }
}

thread_local! {
    /// Somebody waits for the work of this thread, and [looks](look) now and then.
    static IS_ATTENDED: Cell<bool> = const { Cell::new(false) };
}

/// Says that somebody waits for the work of this thread, and [looks](look) now and then until it ends: that saves a thread for each
/// watch.
pub fn attended() {
    IS_ATTENDED.set(true);
}

/// Looks how much memory is in use, for all watches of work that somebody waits for.
pub fn look() {
    let mut watches = WATCHES.lock().unwrap_or_else(PoisonError::into_inner);
    if watches.is_empty() {
        return;
    }
    if let Some(bytes) = used_bytes() {
        watches.retain(|_, (bytes_max, cancel)| {
            let is_over = *bytes_max < bytes;
            if is_over {
                cancel.over_memory();
            }
            !is_over
        });
    }
}

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
        if IS_ATTENDED.get() {
            static NEXT: AtomicU64 = AtomicU64::new(0);
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            WATCHES.lock().unwrap_or_else(PoisonError::into_inner).insert(number, (bytes_max, cancel.clone()));
            return Self(By::Waiting(Listed(number)));
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
        Self(By::Thread(keep))
    }
}

/// The bytes of memory that this program has in use, without those of its own file.
fn used_bytes() -> Option<u64> {
    let status = read_small("/proc/self/status".as_ref())?;
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
