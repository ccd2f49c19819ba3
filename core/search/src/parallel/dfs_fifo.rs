//! Parallel DFS-FIFO: cycles without progress, found by many threads that share what they visited.
//!
//! After Laarman, Faragó: *Improved On-The-Fly Livelock Detection* (NFM 2013), Algorithm 2:
//!
//! ```text
//! fifo(i):  while F ≠ ∅:                     dfs(s, i):  Sᵢ := Sᵢ ∪ {s}
//!             s := some s ∈ F                  for each t := α(s), α ∈ postᵢ(s):
//!             if s ∉ V: dfs(s, i)                if t ∈ Sᵢ and α, t ∉ P: report a cycle
//!             F := F \ {s}                       if t ∉ V:
//!                                                  if α, t ∉ P: dfs(t, i)
//!                                                  else if t ∉ F: F := F ∪ {t}
//!                                              V := V ∪ {s};  Sᵢ := Sᵢ \ {s}
//! ```
//!
//! P are the transitions marked [`Marks::PROGRESS`]. V and F are bits of the shared visited set; states are never
//! removed from F. Each thread queues the states that it put into F first. A thread without work takes half of
//! another one's queue; if that one has none to give, or gave often, but is deep in a search, it joins it: both search
//! from the same state, as Algorithm 2 permits, and share V.
//!
//! What differs from the paper:
//!
//! * `t ∈ V` is asked before `t ∈ Sᵢ`: no state of V lies on a cycle without progress (Lemma 5).
//! * A successor that some thread has on its stack comes last: it may be in V by then. Without that,
//!   threads that meet would go on side by side. (Successors in random order alone help less: see [`super::explorer`].)
//! * A state that is put into F while it is on the thread's own stack is not queued: it will be in V.
//! * Sᵢ is a bit of the visited set, too, one for each of the first few threads. It is never taken back, as
//!   a state that leaves a stack is in V. With more threads, some share a bit, and each has a set besides.
//! * Transient states that are not passed through, because there are too many, are treated as states.
//!
//! The order of levels may be strict: then all threads wait for each other before they go on to the states
//! behind one more transition with progress, and a cycle that is found has as few of these before it as there can be.

use super::explorer::{Arrival, Event, Exploration, Explorer, Start, UNCOUNTED};
use super::pool::NextWork;
use super::queue::Queue;
use super::store::{BITS, Key, MarkedKeys, SharedStore, SharedTree, StateSet};
use super::worker_pool::{Run, Show, WorkerPool};
use crate::cycle::outcome::{CycleOutcome, Found};
use crate::model::{Marks, Model};
use crate::observer::{Observer, Settings, tell_together};
use crate::outcome::{Halt, Statistics};
use fabius_base::Limits;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

/// The set V.
const VISITED: u32 = 1;
/// The set F.
const FRONTIER: u32 = 2;
/// The first of the bits that say who has, or had, a state on his stack.
const STACKED_FIRST: u32 = 4;
/// All of them.
const STACKED: u32 = !(VISITED | FRONTIER);
/// How many there are.
const STACKED_BITS: usize = BITS as usize - 2;
/// A search that has entered fewer states is not worth joining.
const WORTH_JOINING: u64 = 64;

/// A thread that comes for more of a queue so often, while the same search goes on, joins that search instead.
const QUEUES_MAX: u32 = 8;

/// In which order the states behind progress come.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Levels {
    /// As they come: no thread waits while there is work.
    #[default]
    Free,
    /// First all states behind one transition with progress, then those behind two, and so on: a cycle that is
    /// found has as few on its stem as there can be.
    Strict,
}

/// Work that one thread hands to another.
#[derive(Debug)]
enum Work {
    /// States to begin with.
    Queue(Queue),
    /// A state that another thread is searching from.
    Join(Start),
}

/// Why a search ends: with a cycle, and the progress events before it if they are as few as can be.
type Reason<M> = Halt<(Found<<M as Model>::Label, <M as Model>::Fault>, Option<u64>)>;

/// Looks for a cycle without progress, with one thread for each of the models, which must be the same.
/// The first of them is the caller's thread. The states visited come with what was found.
pub fn dfs_fifo<M, O>(
    models: &mut [M],
    observer: &mut O,
    settings: &Settings,
    levels: Levels,
    seed: u64,
) -> (CycleOutcome<M::Label, M::Fault>, SharedTree)
where
    M: Model<Label: Send, Fault: Send> + Send + Clone,
    O: Observer<M::Label, M::Fault>,
{
    search(models, observer, settings, levels, seed, Exploration::FREE)
}

pub(super) fn search<M, O>(
    models: &mut [M],
    observer: &mut O,
    settings: &Settings,
    levels: Levels,
    seed: u64,
    how: Exploration,
) -> (CycleOutcome<M::Label, M::Fault>, SharedTree)
where
    M: Model<Label: Send, Fault: Send> + Send + Clone,
    O: Observer<M::Label, M::Fault>,
{
    let workers =
        WorkerPool::<Work, Reason<M>, MarkedKeys>::new(SharedStore::new(models.len()), models.len(), 0, seed, settings);
    let has_promoted = AtomicBool::new(false);
    let mut watch = |statistics: &Statistics, limits: &mut Limits, show: Show<'_, M::Label>| {
        tell_together(observer, statistics, limits, show)
    };
    let why = workers.work(models, &mut watch, None::<()>, |thread, model, watch, _| {
        let mut search = DfsFifo {
            explorer: Explorer::new(thread, &workers, model, how, watch),
            frontier: Queue::default(),
            next: Queue::default(),
            levels,
            level: 0,
            mine: STACKED_FIRST << (thread % STACKED_BITS),
            stacked: (STACKED_BITS < workers.threads).then(StateSet::default),
            begun: None,
            given: 0,
            has_promoted: &has_promoted,
        };
        let run = search.fifo();
        search.explorer.publish();
        run
    });
    let (why, progress_events_min) = match why {
        None => (None, None),
        Some(Halt::Stopped(reason)) => (Some(Halt::Stopped(reason)), None),
        Some(Halt::Found((found, events))) => (Some(Halt::Found(found)), events),
    };
    let outcome = CycleOutcome { progress_events_min, ..workers.conclude_found(why) };
    (outcome, workers.store.into())
}

/// One of the threads.
struct DfsFifo<'a, M: Model> {
    explorer: Explorer<'a, M, Work, Reason<M>, MarkedKeys>,
    /// The thread's part of F, as a queue.
    frontier: Queue,
    /// If the order is strict: that for the next level.
    next: Queue,
    levels: Levels,
    level: u64,
    /// The thread's bit for Sᵢ, …
    mine: u32,
    /// … and Sᵢ itself, if there are more threads than bits.
    stacked: Option<StateSet>,
    /// What the thread searches from, and the states entered when it began.
    begun: Option<(Start, u64)>,
    /// How often it gave away a part of its queue since then.
    given: u32,
    /// Whether some transient state was treated as an ordinary one.
    has_promoted: &'a AtomicBool,
}

impl<M: Model> DfsFifo<'_, M> {
    fn fifo(&mut self) -> Run<Reason<M>> {
        match self.explorer.reset_to_initial() {
            Err(fault) if self.explorer.thread == 0 => return self.found(Found::Fault { path: Vec::new(), fault }),
            Ok(start) if self.explorer.thread == 0 => {
                self.explorer.access.insert(start.key, FRONTIER);
                self.explorer.count(false)?;
                self.frontier.put(&start);
            }
            _ => {}
        }
        loop {
            while let Some(start) = self.frontier.take() {
                self.dfs(start)?;
            }
            match self.explorer.wait(self.next.len()) {
                NextWork::Work(Work::Queue(queue)) => self.frontier = queue,
                NextWork::Work(Work::Join(start)) => self.dfs(start)?,
                NextWork::Level => {
                    std::mem::swap(&mut self.frontier, &mut self.next);
                    self.level += 1;
                }
                NextWork::Nothing => return ControlFlow::Continue(()),
            }
        }
    }

    /// Searches from a state, unless it was visited.
    fn dfs(&mut self, start: Start) -> Run<Reason<M>> {
        if self.explorer.access.bits(start.key) & VISITED != 0 {
            return ControlFlow::Continue(());
        }
        let note = note(self.explorer.access.set(start.key, self.mine));
        self.explorer.reset_to(&start);
        self.explorer.begin(&start, note);
        self.stack(start.key);
        self.begun = Some((start, self.explorer.visits()));
        self.given = 0;
        loop {
            match self.explorer.next()? {
                Event::Arrival(arrival) => self.arrive(arrival)?,
                Event::Done => self.leave(),
                Event::Over => break,
                Event::InvalidEnd => {}
                Event::Faulty { label, fault } => {
                    let mut path = self.explorer.path();
                    path.extend(label);
                    return self.found(Found::Fault { path, fault });
                }
            }
            if self.explorer.workers.pool.is_hungry() {
                self.share();
            }
        }
        self.explorer.access.leave_if_asked();
        ControlFlow::Continue(())
    }

    /// Decides what becomes of t, reached from s.
    #[inline]
    fn arrive(&mut self, t: Arrival) -> Run<Reason<M>> {
        let has_progress = t.marks.has(Marks::PROGRESS);
        let fresh = if has_progress { FRONTIER } else { self.mine };
        let Some(bits) = self.explorer.access.insert(t.key, fresh) else {
            if t.transient {
                self.has_promoted.store(true, Ordering::Relaxed);
            }
            self.explorer.count(t.transient)?;
            if has_progress {
                self.queue(t.key)
            } else {
                self.enter(t.key, 0)
            }
            return ControlFlow::Continue(());
        };
        if bits & VISITED != 0 {
            self.prune();
        } else if has_progress {
            let before = self.explorer.access.set(t.key, FRONTIER);
            if before & (FRONTIER | VISITED) == 0 && !self.is_stacked(before, t.key) {
                self.explorer.count_match();
                self.queue(t.key);
            } else {
                self.prune();
            }
        } else if self.is_stacked(bits, t.key) {
            return self.cycle(t.key);
        } else if bits & STACKED != 0 && !t.again {
            self.explorer.defer();
        } else {
            let note = note(self.explorer.access.set(t.key, self.mine));
            self.explorer.count_match();
            self.enter(t.key, note);
        }
        ControlFlow::Continue(())
    }

    /// Whether a state with these bits, which is not in V, is in Sᵢ.
    #[inline]
    fn is_stacked(&mut self, bits: u32, t: Key) -> bool {
        let Self { stacked, explorer, .. } = self;
        bits & self.mine != 0 && stacked.as_mut().is_none_or(|stacked| stacked.contains(&mut explorer.access, t, ()))
    }

    #[inline]
    fn prune(&mut self) {
        self.explorer.count_match();
        self.explorer.prune();
    }

    #[inline]
    fn enter(&mut self, t: Key, note: u8) {
        self.explorer.share.revisits += u64::from(note == UNCOUNTED);
        self.explorer.enter(t, note);
        self.stack(t);
    }

    /// Adds the state arrived at to the thread's part of F.
    fn queue(&mut self, t: Key) {
        let start = self.explorer.start(t);
        self.explorer.prune();
        match self.levels {
            Levels::Free => self.frontier.put(&start),
            Levels::Strict => self.next.put(&start),
        }
        self.explorer.beside_bytes = self.frontier.memory_bytes() + self.next.memory_bytes();
    }

    /// Puts the state on top of the stack into V.
    #[inline]
    fn leave(&mut self) {
        let Some(s) = self.explorer.top() else { return };
        #[cfg(debug_assertions)]
        self.successors_are_known();
        self.explorer.access.set(s, VISITED);
        if let Some(stacked) = &mut self.stacked {
            stacked.remove(&mut self.explorer.access, s, ());
        }
        self.explorer.leave();
    }

    #[inline]
    fn stack(&mut self, s: Key) {
        if let Some(stacked) = &mut self.stacked {
            stacked.insert(&mut self.explorer.access, s, ());
        }
    }

    /// Reports the cycle that the successor `t`, which is in Sᵢ, closes.
    #[cold]
    fn cycle(&mut self, t: Key) -> Run<Reason<M>> {
        let lasso = self.explorer.lasso_closed_by(t);
        // Lemma 5: V has no state on a cycle without progress.
        #[cfg(debug_assertions)]
        self.cycle_is_unvisited(t);
        self.found(lasso)
    }

    fn found(&self, found: Found<M::Label, M::Fault>) -> Run<Reason<M>> {
        let fewest = self.levels == Levels::Strict && !self.has_promoted.load(Ordering::Relaxed);
        let events = (fewest && matches!(found, Found::Lasso { .. })).then_some(self.level);
        ControlFlow::Break(Some(Halt::Found((found, events))))
    }

    /// Gives work to somebody who has none.
    #[cold]
    fn share(&mut self) {
        if 1 < self.frontier.len() && self.given < QUEUES_MAX {
            self.given += 1;
            let half = self.frontier.take_half();
            return self.explorer.workers.pool.offer(Work::Queue(half));
        }
        let Some((start, visits)) = &self.begun else { return };
        if self.explorer.visits() - visits < WORTH_JOINING {
            return;
        }
        self.given = 0;
        if self.explorer.access.bits(start.key) & VISITED == 0 {
            self.explorer.workers.pool.offer(Work::Join(start.clone()));
        }
    }

    /// Lemma 3: the successors of a state of V are in V or F. What was cut off is in neither.
    #[cfg(debug_assertions)]
    fn successors_are_known(&mut self) {
        if !self.explorer.workers.was_limited() {
            self.explorer.each_successor(|access, t, marks| {
                let bits = access.bits(t);
                let wanted = if marks.has(Marks::PROGRESS) { VISITED | FRONTIER } else { VISITED };
                assert_ne!(bits & wanted, 0, "a successor of a visited state is neither visited nor in the frontier");
            });
        }
    }

    #[cfg(debug_assertions)]
    fn cycle_is_unvisited(&mut self, t: Key) {
        let stored: Vec<Key> = self.explorer.stored().collect();
        for &s in stored.iter().rev().take_while(|&&s| s != t).chain([&t]) {
            let bits = self.explorer.access.bits(s);
            assert_eq!(bits & VISITED, 0, "a visited state lies on a cycle without progress");
        }
    }
}

/// The note of a state that had these bits when it was entered: if it was on a stack before, others count it.
#[inline]
fn note(before: u32) -> u8 {
    if before & (STACKED | VISITED) == 0 { 0 } else { UNCOUNTED }
}
