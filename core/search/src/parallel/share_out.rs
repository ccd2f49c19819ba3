//! Work in pieces for threads that do nothing else meanwhile.

use crate::threads;
use std::sync::{Mutex, PoisonError};

/// Works on each of the pieces, with this many threads: the caller's, and others that end when all is done.
pub(super) fn share_out<P: Send>(threads: usize, pieces: Vec<P>, work: impl Fn(P) + Sync) {
    let threads = threads.min(pieces.len());
    let pieces = Mutex::new(pieces.into_iter());
    let next = || pieces.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work_on = || {
        while let Some(piece) = next() {
            work(piece);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            // Without another thread, those that there are do more.
            let _ = threads::begin(scope, work_on);
        }
        work_on();
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads::tests::without_threads;
    use std::sync::atomic::{AtomicU64, Ordering};

    #[test]
    fn each_piece_is_worked_on_once() {
        for threads in 0..5 {
            for pieces in [0, 1, 3, 100] {
                let done: Vec<AtomicU64> = (0..pieces).map(|_| AtomicU64::new(0)).collect();
                let share = || {
                    share_out(threads, (0..pieces).collect(), |piece: usize| {
                        done[piece].fetch_add(1, Ordering::Relaxed);
                    });
                };
                if threads == 4 {
                    without_threads(share)
                } else {
                    share()
                }
                assert!(done.iter().all(|count| count.load(Ordering::Relaxed) == 1));
            }
        }
    }
}
