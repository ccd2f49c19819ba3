//! How threads share work: who has nothing to do says so, and who has much gives some away.
//!
//! A thread looks at [`WorkPool::is_hungry`] now and then, which costs next to nothing as long as everyone is
//! busy. The work handed over lies in one short list behind a lock; all other work is private.
//!
//! Only a thread that works makes work. So when every thread waits and the list is empty, there is nothing left:
//! in a search by levels, of this level. All this is known under the lock.

use super::apart::Apart;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A thread that has to look around while it waits does so this often.
const LOOK_AROUND_EVERY: Duration = Duration::from_millis(10);

/// Work that is handed over, and who waits for it.
#[derive(Debug)]
pub(super) struct WorkPool<T> {
    /// Offers that are kept in stock, so that nobody has to wait.
    stock: usize,
    /// Threads that wait and are not served yet.
    hungry: Apart<AtomicUsize>,
    /// Offers that the stock lacks.
    lacking: Apart<AtomicUsize>,
    /// Nobody is to go on.
    stopped: AtomicBool,
    state: Mutex<State<T>>,
    woken: Condvar,
}

#[derive(Debug)]
struct State<T> {
    /// Threads that take part.
    threads: usize,
    offers: Vec<T>,
    waiting: usize,
    /// Work that those who wait have for the next level.
    next_level: usize,
    level: u64,
    finished: bool,
}

/// What comes next for a thread without work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NextWork<T> {
    /// Work of another thread.
    Work(T),
    /// Everybody turns to the next level.
    Level,
    /// Nothing, for nobody.
    Nothing,
}

impl<T> WorkPool<T> {
    /// Nothing to do yet, for this many threads.
    pub(super) fn new(threads: usize, stock: usize) -> Self {
        let state = State { threads, offers: Vec::new(), waiting: 0, next_level: 0, level: 0, finished: false };
        Self {
            stock,
            hungry: Apart::default(),
            lacking: Apart(AtomicUsize::new(stock)),
            stopped: AtomicBool::new(false),
            state: Mutex::new(state),
            woken: Condvar::new(),
        }
    }

    /// Whether somebody waits for work.
    #[inline]
    pub(super) fn is_hungry(&self) -> bool {
        self.hungry.0.load(Ordering::Relaxed) != 0
    }

    /// Whether somebody waits for work, or would soon.
    #[inline]
    pub(super) fn lacks_stock(&self) -> bool {
        self.lacking.0.load(Ordering::Relaxed) != 0
    }

    /// Whether nobody is to go on.
    #[inline]
    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Tells everybody to stop.
    pub(super) fn stop(&self) {
        // Under the lock, so that nobody is between asking and waiting.
        let _state = self.lock();
        self.stopped.store(true, Ordering::Relaxed);
        self.woken.notify_all();
    }

    /// A thread that was expected does not take part. Told by one that does and is not waiting.
    pub(super) fn go_without_one(&self) {
        self.lock().threads -= 1;
    }

    /// Hands work over.
    pub(super) fn offer(&self, work: T) {
        let mut state = self.lock();
        state.offers.push(work);
        self.tell(&state);
        if state.waiting != 0 {
            self.woken.notify_one();
        }
    }

    /// Waits for work. The caller has none left for this level, and `next_level` for the next one. `look_around`
    /// is called now and then meanwhile, if there is such a function, and may end the waiting.
    pub(super) fn take(
        &self,
        next_level: usize,
        mut look_around: Option<impl FnMut() -> ControlFlow<()>>,
    ) -> NextWork<T> {
        let mut state = self.lock();
        let level = state.level;
        state.next_level += next_level;
        state.waiting += 1;
        loop {
            if state.finished || self.is_stopped() {
                return NextWork::Nothing;
            }
            if state.level != level {
                return NextWork::Level;
            }
            if let Some(work) = state.offers.pop() {
                state.waiting -= 1;
                state.next_level -= next_level;
                self.tell(&state);
                return NextWork::Work(work);
            }
            if state.waiting == state.threads {
                self.turn_page(&mut state);
                continue;
            }
            self.tell(&state);
            state = match &mut look_around {
                None => self.woken.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(look_around) => {
                    let waited = self.woken.wait_timeout(state, LOOK_AROUND_EVERY);
                    drop(waited.unwrap_or_else(PoisonError::into_inner));
                    if look_around().is_break() {
                        return NextWork::Nothing;
                    }
                    self.lock()
                }
            };
        }
    }

    /// Nobody has work left for this level.
    fn turn_page(&self, state: &mut State<T>) {
        state.finished = state.next_level == 0;
        state.next_level = 0;
        state.waiting = 0;
        state.level += 1;
        self.tell(state);
        self.woken.notify_all();
    }

    /// Tells the threads that work what is wanted.
    fn tell(&self, state: &State<T>) {
        let wanted = |count: usize| count.saturating_sub(state.offers.len());
        self.hungry.0.store(wanted(state.waiting), Ordering::Relaxed);
        self.lacking.0.store(wanted(state.waiting + self.stock), Ordering::Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;

    type Nobody = Option<fn() -> ControlFlow<()>>;

    /// Each piece of work makes two smaller ones, some for the next level: all of it is done once, by threads that
    /// come and go, and everybody notices the end.
    #[test]
    fn all_work_is_done_once_and_then_everybody_stops() {
        for round in 0..300 {
            let threads = 1 + round % 4;
            let pool = WorkPool::<u32>::new(threads, round % 3);
            let done = AtomicU64::new(0);
            std::thread::scope(|scope| {
                for thread in 0..threads {
                    let (pool, done) = (&pool, &done);
                    scope.spawn(move || {
                        let mut mine = if thread == 0 { vec![9_u32] } else { vec![] };
                        let mut next = vec![];
                        loop {
                            while let Some(size) = mine.pop() {
                                done.fetch_add(1, Ordering::Relaxed);
                                if size > 0 {
                                    mine.push(size - 1);
                                    if round % 2 == 0 {
                                        mine.push(size - 1)
                                    } else {
                                        next.push(size - 1)
                                    };
                                }
                                if mine.len() > 1 && pool.lacks_stock() {
                                    pool.offer(mine.remove(0));
                                }
                            }
                            match pool.take(next.len(), Nobody::None) {
                                NextWork::Work(size) => mine.push(size),
                                NextWork::Level => mine.append(&mut next),
                                NextWork::Nothing => break,
                            }
                        }
                    });
                }
            });
            assert_eq!(done.load(Ordering::Relaxed), (1 << 10) - 1);
        }
    }

    #[test]
    fn whoever_waits_is_told_to_stop() {
        let pool = WorkPool::<u32>::new(2, 0);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| pool.take(0, Nobody::None));
            pool.stop();
            assert!(matches!(waiting.join(), Ok(NextWork::Nothing)));
        });
    }

    #[test]
    fn whoever_waits_may_look_around_and_go() {
        let pool = WorkPool::<u32>::new(2, 0);
        let mut looks = 0;
        let turn = pool.take(
            0,
            Some(|| {
                looks += 1;
                if looks < 3 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            }),
        );
        assert_eq!((turn, looks), (NextWork::Nothing, 3));
    }
}
