//! Work that ends soon after it was asked to, whether it notices or not.
//!
//! A search asks every few steps whether it should stop. Reading a huge model or preparing its tables does not, and
//! giving back what was allocated may take long. So work is done by a thread of its own; if that does not
//! answer in time, it is left alone, and what is known is told without it. What was left alone may still take memory and
//! processors, so there is only so much of it: after that no more is begun.

use crate::clock::Clock;
use crate::memory::{self, PAUSE};
use crate::timer::Timer;
use fabius_base::{Cancel, StopReason};
use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering};
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

/// Work that was left alone and has not ended may be this much; while there is more, nothing is begun.
const LOST_MAX: usize = 3;

const WORKING: u8 = 0;
const TELLING: u8 = 1;
const ABANDONED: u8 = 2;
const ENDED: u8 = 3;
const ENDED_LOST: u8 = 4;

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
        matches!(self.0.load(Ordering::Acquire), ABANDONED | ENDED_LOST)
    }

    fn abandon(&self) -> bool {
        // Counted before it is so, since the work may end at any time.
        LOST.fetch_add(1, Ordering::AcqRel);
        let abandoned = self.0.compare_exchange(WORKING, ABANDONED, Ordering::AcqRel, Ordering::Acquire).is_ok();
        if !abandoned {
            LOST.fetch_sub(1, Ordering::AcqRel);
        }
        abandoned
    }
}

/// Work to be begun.
pub struct Task {
    /// The name of its thread.
    pub name: &'static str,
    /// Asks it to stop.
    pub cancel: Cancel,
    /// Who may speak about it.
    pub voice: Voice,
    /// It may take so long, …
    pub allowed: Option<Duration>,
    /// … by this clock.
    pub clock: Clock,
}

impl Task {
    /// Work that somebody waits for, without a limit of its time.
    pub fn new(name: &'static str, cancel: Cancel) -> Self {
        Self { name, cancel, voice: Voice::default(), allowed: None, clock: Clock::default() }
    }
}

/// Why work has no result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unfinished {
    /// It was asked to stop for this reason and did not: it was left alone.
    Abandoned(StopReason),
    /// It was not begun: so much other work was left alone and has not ended.
    Crowded,
}

impl Unfinished {
    /// What happened, in half a sentence.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Abandoned(StopReason::Timeout) => "the time allowed was used up",
            Self::Abandoned(StopReason::Exhausted) => "the system gave no more memory",
            Self::Abandoned(StopReason::Memory) => "the memory allowed was used up",
            Self::Abandoned(_) => "it was interrupted",
            Self::Crowded => "earlier work that was stopped has not ended yet",
        }
    }
}

/// Work that goes on, by number.
static GOING: Mutex<BTreeMap<u64, Cancel>> = Mutex::new(BTreeMap::new());
/// How much work was left alone and goes on.
static LOST: AtomicUsize = AtomicUsize::new(0);

/// Asks all work to stop, since the system gives no more memory.
pub fn exhaust_all() {
    GOING.lock().unwrap_or_else(PoisonError::into_inner).values().for_each(Cancel::exhaust);
}

/// Whether no work goes on, not even such as was left alone.
pub fn is_idle() -> bool {
    GOING.lock().unwrap_or_else(PoisonError::into_inner).is_empty() && LOST.load(Ordering::Acquire) == 0
}

/// Begins work on a thread of its own; its result, or why it has none, is told on another thread.
///
/// # Errors
/// If no thread can be started.
pub fn begin<T: Send + 'static>(
    task: Task,
    work: impl FnOnce() -> T + Send + 'static,
    tell: impl FnOnce(Result<T, Unfinished>) + Send + 'static,
) -> io::Result<()> {
    let supervise = move || {
        if LOST_MAX <= LOST.load(Ordering::Acquire) {
            return tell(Err(Unfinished::Crowded));
        }
        let _timer = Timer::by(&task.clock, task.allowed, &task.cancel);
        let cores = thread::available_parallelism().map_or(1, usize::from);
        // The clock of the task may stand still, which a timer of its own knows about.
        let waiting = Waiting { name: task.name, allowed: None, grace: Duration::ZERO, look: &mut || {} };
        let done = run_meanwhile(&task.cancel, &task.voice, cores, waiting, move |result| {
            let _ = result.send(work());
        });
        tell(done.map_err(Unfinished::Abandoned));
    };
    thread::Builder::new().spawn(supervise).map(drop)
}

/// Work in the list of what goes on.
struct Listed(u64);

impl Listed {
    fn new(cancel: &Cancel) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        GOING.lock().unwrap_or_else(PoisonError::into_inner).insert(number, cancel.clone());
        Self(number)
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        GOING.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.0);
    }
}

/// Says that work has ended, if it was left alone before.
struct Ending(Voice);

impl Drop for Ending {
    fn drop(&mut self) {
        // Whoever abandons it comes first or never.
        let ended = |state: u8| Some(if state == ABANDONED { ENDED_LOST } else { ENDED });
        if self.0.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, ended) == Ok(ABANDONED) {
            LOST.fetch_sub(1, Ordering::AcqRel);
        }
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
    let waiting = Waiting { name: "check", allowed: None, grace: Duration::ZERO, look: &mut || {} };
    run_meanwhile(cancel, voice, threads, waiting, work)
}

/// What whoever waits for work does meanwhile; a thread for each would cost more than a short piece of work does.
pub struct Waiting<'a> {
    /// The name of the thread that works.
    pub name: &'static str,
    /// Tells the work that its time is used up, after so long.
    pub allowed: Option<Duration>,
    /// Once it was asked to stop, the work may use so much time of a processor, if that is more than any work may.
    pub grace: Duration,
    /// Called every 20 milliseconds.
    pub look: &'a mut dyn FnMut(),
}

/// As [`run`], and does something while it waits.
///
/// # Errors
/// Why the work should have stopped, if it did not.
pub fn run_meanwhile<T: Send + 'static>(
    cancel: &Cancel,
    voice: &Voice,
    threads: usize,
    waiting: Waiting<'_>,
    work: impl FnOnce(Sender<T>) + Send + 'static,
) -> Result<T, StopReason> {
    let began = Instant::now();
    if waiting.allowed == Some(Duration::ZERO) {
        cancel.time_out();
    }
    let _listed = Listed::new(cancel);
    let (result, results) = mpsc::channel();
    let ending = Ending(voice.clone());
    let work = Arc::new(Mutex::new(Some(move || {
        work(result);
        drop(ending);
    })));
    let spawn = |stack: usize| {
        let work = Arc::clone(&work);
        let begin = move || {
            memory::attended();
            let work = work.lock().unwrap_or_else(PoisonError::into_inner).take();
            work.into_iter().for_each(|work| work());
        };
        thread::Builder::new().name(waiting.name.to_owned()).stack_size(stack).spawn(begin).is_ok()
    };
    if !STACKS_BYTES.into_iter().any(spawn) {
        return Err(StopReason::Exhausted);
    }
    drop(work);
    let mut asked: Option<Asked> = None;
    loop {
        let left = waiting.allowed.map(|allowed| allowed.saturating_sub(began.elapsed()));
        match results.recv_timeout(left.filter(|left| !left.is_zero()).map_or(PAUSE, |left| left.min(PAUSE))) {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Disconnected) => return Err(StopReason::Cancelled),
            Err(RecvTimeoutError::Timeout) => {}
        }
        if waiting.allowed.is_some_and(|allowed| allowed <= began.elapsed()) {
            cancel.time_out();
        }
        memory::start_guardian();
        memory::look();
        (waiting.look)();
        let Some(reason) = cancel.requested() else { continue };
        let given = if reason == StopReason::Timeout { began.elapsed() } else { Duration::ZERO };
        let asked = asked.get_or_insert_with(|| Asked::now(GRACE.max(waiting.grace).max(given / GRACE_SHARE)));
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
    fn whoever_waits_counts_the_time_and_looks_after_other_things() {
        let (cancel, mut looks) = (Cancel::new(), 0);
        let asked = cancel.clone();
        let look = &mut || looks += 1;
        let waiting = Waiting { name: "check", allowed: Some(3 * PAUSE), grace: Duration::ZERO, look };
        let why = run_meanwhile(&cancel, &Voice::default(), 1, waiting, move |result| {
            while asked.requested().is_none() {
                thread::yield_now();
            }
            let _ = result.send(asked.requested());
        });
        assert_eq!(why, Ok(Some(StopReason::Timeout)));
        assert!(2 <= looks, "{looks}");
    }

    #[test]
    fn work_that_has_no_time_is_told_so_before_it_begins() {
        let cancel = Cancel::new();
        let asked = cancel.clone();
        let (allowed, grace) = (Some(Duration::ZERO), Duration::ZERO);
        let waiting = Waiting { name: "check", allowed, grace, look: &mut || {} };
        let why = run_meanwhile(&cancel, &Voice::default(), 1, waiting, move |result| {
            let _ = result.send(asked.requested());
        });
        assert_eq!(why, Ok(Some(StopReason::Timeout)));
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
    fn the_memory_of_work_is_watched_by_whoever_waits_for_it() {
        let Some(status) = std::fs::read_to_string("/proc/self/status").ok() else { return };
        assert!(status.contains("RssAnon:"));
        let cancels = [Cancel::new(), Cancel::new()];
        let [modest, greedy] = cancels.clone();
        let answer = run(&Cancel::new(), &Voice::default(), 1, move |result| {
            let dropped = memory::Watch::start(u64::MAX, &modest);
            let _watch = memory::Watch::start(0, &greedy);
            drop(dropped);
            // More than is allowed in any case, and written to.
            let mut much = vec![1_u8; 100 << 20];
            while greedy.requested().is_none() {
                much.iter_mut().step_by(4096).for_each(|byte| *byte = byte.wrapping_add(1));
            }
            let _ = result.send((modest.requested(), greedy.requested()));
        });
        assert_eq!(answer, Ok((None, Some(StopReason::Memory))));
        assert_eq!(cancels.map(|cancel| cancel.requested()), [None, Some(StopReason::Memory)]);
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

    #[test]
    fn so_much_work_that_does_not_end_is_left_alone_and_then_none_is_begun() {
        let stop = Arc::new(AtomicU8::new(0));
        let (send, told) = mpsc::channel();
        let start = || {
            let (stop, send) = (Arc::clone(&stop), send.clone());
            let allowed = Some(Duration::from_millis(1));
            let task = Task { allowed, ..Task::new("test", Cancel::new()) };
            let busy = move || {
                while stop.load(Ordering::Acquire) == 0 {
                    std::hint::spin_loop();
                }
            };
            let tell = move |result| {
                let _ = send.send(result);
            };
            begin(task, busy, tell).expect("a thread");
            told.recv().expect("it is told")
        };
        for _ in 0..LOST_MAX {
            let result = start();
            assert!(matches!(result, Err(Unfinished::Abandoned(StopReason::Timeout) | Unfinished::Crowded)));
        }
        assert!(!is_idle());
        assert_eq!(start(), Err(Unfinished::Crowded));
        // What was left alone ends at last, and there is room again.
        stop.store(1, Ordering::Release);
        while start() == Err(Unfinished::Crowded) {
            thread::yield_now();
        }
    }
}
