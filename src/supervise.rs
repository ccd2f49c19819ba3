//! Work that ends soon after it was asked to, whether it notices or not.
//!
//! A search asks every few steps whether it should stop. Reading a huge model or preparing its tables does not, and
//! giving back what was allocated may take long. So each file is worked on by a thread of its own; if that does not
//! answer in time, it is left alone, and what is known is told without it.

use fabius_base::{Cancel, StopReason};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Stack of a thread that works: a model may nest deeply before a limit is reached.
pub const STACK_BYTES: usize = 64 << 20;
/// Stacks of the thread for a file: where the system does not give so much, a smaller one must do.
const STACKS_BYTES: [usize; 3] = [STACK_BYTES, STACK_BYTES / 4, STACK_BYTES / 16];
/// Work that was asked to stop may use so much time of a processor, …
const GRACE: Duration = Duration::from_secs(1);
/// … or this part of the time that it was given: what a long search found is worth a look at whether it is true, …
const GRACE_SHARE: u32 = 20;
/// … and so much time altogether, or twice the grace: on a busy machine the one takes longer than the other.
const GRACE_WALL: Duration = Duration::from_secs(10);
/// The time altogether where nobody can say what a process used.
const GRACE_WALL_ONLY: Duration = Duration::from_secs(2);
/// Time between two looks at whether the work should have ended.
const PAUSE: Duration = Duration::from_millis(50);

const WORKING: u8 = 0;
const TELLING: u8 = 1;
const ABANDONED: u8 = 2;

/// Who may speak about a piece of work: whoever does it, until it is abandoned.
#[derive(Clone, Debug, Default)]
pub struct Voice(Arc<AtomicU8>);

impl Voice {
    /// Takes the word for the result; false if somebody else has it.
    pub fn take(&self) -> bool {
        let taken = self.0.compare_exchange(WORKING, TELLING, Ordering::AcqRel, Ordering::Acquire);
        taken.is_ok() || taken == Err(TELLING)
    }

    /// Whether the work was left alone.
    pub fn is_lost(&self) -> bool {
        self.0.load(Ordering::Acquire) == ABANDONED
    }

    fn abandon(&self) -> bool {
        self.0.compare_exchange(WORKING, ABANDONED, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }
}

/// Lets work be done by a thread of its own, which sends its result; what it does afterwards nobody waits for.
///
/// # Errors
/// Why the work should have stopped, if it did not.
pub fn run<T: Send + 'static>(
    cancel: &Cancel,
    voice: &Voice,
    threads: usize,
    work: impl FnOnce(Sender<T>) + Send + 'static,
) -> Result<T, StopReason> {
    let (result, results) = mpsc::channel();
    let work = Arc::new(Mutex::new(Some(|| work(result))));
    let spawn = |stack: usize| {
        let work = Arc::clone(&work);
        let begin = move || {
            let work = work.lock().unwrap_or_else(PoisonError::into_inner).take();
            work.into_iter().for_each(|work| work());
        };
        thread::Builder::new().stack_size(stack).spawn(begin).is_ok()
    };
    if !STACKS_BYTES.into_iter().any(spawn) {
        return Err(StopReason::Exhausted);
    }
    drop(work);
    let began = Instant::now();
    let mut asked: Option<Asked> = None;
    loop {
        match results.recv_timeout(PAUSE) {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Disconnected) => return Err(StopReason::Cancelled),
            Err(RecvTimeoutError::Timeout) => {}
        }
        let Some(reason) = cancel.requested() else { continue };
        let given = if reason == StopReason::Timeout { began.elapsed() } else { Duration::ZERO };
        let asked = asked.get_or_insert_with(|| Asked::now(GRACE.max(given / GRACE_SHARE)));
        if asked.is_overdue(threads) && voice.abandon() {
            return Err(reason);
        }
    }
}

/// When work was asked to stop.
struct Asked {
    at: Instant,
    /// What the process had used by then.
    used: Option<Duration>,
    /// How much more of a processor each thread may use.
    grace: Duration,
}

impl Asked {
    fn now(grace: Duration) -> Self {
        Self { at: Instant::now(), used: processor_time(), grace }
    }

    fn is_overdue(&self, threads: usize) -> bool {
        let elapsed = self.at.elapsed();
        match (self.used, processor_time()) {
            (Some(before), Some(now)) => {
                let used = now.saturating_sub(before);
                self.grace * threads.max(1) as u32 <= used || GRACE_WALL.max(2 * self.grace) <= elapsed
            }
            _ => GRACE_WALL_ONLY <= elapsed,
        }
    }
}

/// Time that this process has used of the processors, if the system tells.
fn processor_time() -> Option<Duration> {
    /// The unit of the times in this file, for every Linux that runs on common processors.
    const TICK: Duration = Duration::from_millis(10);
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The second field is the name, in parentheses, and may contain anything; the 14th and 15th are the times.
    let (_, rest) = text.rsplit_once(')')?;
    let mut times = rest.split_whitespace().skip(11).map(str::parse::<u32>);
    let (user, system) = (times.next()?.ok()?, times.next()?.ok()?);
    Some(TICK * user.checked_add(system)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_answers_is_waited_for() {
        let answer = run(&Cancel::new(), &Voice::default(), 1, |result| {
            let _ = result.send(7);
        });
        assert_eq!(answer, Ok(7));
    }

    #[test]
    fn work_that_does_not_stop_is_left_alone_and_has_no_voice() {
        let (cancel, voice) = (Cancel::new(), Voice::default());
        cancel.time_out();
        let (stop, stopped) = mpsc::channel::<()>();
        let busy = move |result: Sender<()>| {
            while stopped.try_recv() == Err(mpsc::TryRecvError::Empty) {
                std::hint::spin_loop();
            }
            drop(result);
        };
        assert_eq!(run(&cancel, &voice, 1, busy), Err(StopReason::Timeout));
        assert!(voice.is_lost() && !voice.take());
        drop(stop);
    }

    #[test]
    fn work_that_has_begun_to_tell_its_result_is_waited_for() {
        let (cancel, voice) = (Cancel::new(), Voice::default());
        cancel.time_out();
        assert!(voice.take());
        let before = processor_time();
        let slow = move |result: Sender<u8>| {
            while processor_time() < before.map(|time| time + 2 * GRACE) {
                std::hint::spin_loop();
            }
            let _ = result.send(3);
        };
        assert_eq!(run(&cancel, &voice, 1, slow), Ok(3));
    }
}
