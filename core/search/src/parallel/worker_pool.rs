//! What the threads of a search have in common, and how they start and end.

use super::apart::Apart;
use super::pool::WorkPool;
use super::store::{SharedKeys, SharedStore};
use super::trace::Traces;
use crate::observer::Settings;
use crate::outcome::{Halt, SearchOutcome, Statistics};
use crate::snapshot::{SearchSnapshot, SnapshotRequest};
use crate::store::Exactness;
use crate::threads;
use fabius_base::{Limits, StopReason};
use std::ops::ControlFlow;
#[cfg(debug_assertions)]
use std::sync::atomic::AtomicBool;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// What a thread did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct WorkerStatistics {
    /// Its part of the counters. States that another thread was working on already, and their
    /// transitions, are not in here; the memory is that of the thread alone.
    pub statistics: Statistics,
    /// States expanded although another thread expanded them.
    pub revisits: u64,
    /// New states found from those: the other thread counts the way there as a match.
    pub found_on_revisits: u64,
    /// Pieces of work begun: whatever the thread went on from with an empty stack.
    pub pieces: u64,
}

/// Everything that the threads share. `T` is a piece of work, `E` says why a search ended, `K` is a set of states.
#[derive(Debug)]
pub(super) struct WorkerPool<'a, T, E, K> {
    pub(super) settings: &'a Settings,
    pub(super) store: SharedStore<K>,
    pub(super) traces: Traces,
    pub(super) pool: WorkPool<T>,
    pub(super) threads: usize,
    /// Memory of work that was handed over, and that nobody has taken yet.
    pub(super) handed_over_bytes: AtomicU64,
    /// The threads' random numbers start from this.
    pub(super) seed: u64,
    /// States stored, counted only if they are limited.
    states: Apart<AtomicU64>,
    /// The limits, which whoever watches may change; the largest number is none.
    states_max: AtomicU64,
    memory_bytes_max: AtomicU64,
    depth_max: AtomicU64,
    /// At some time, the depth was limited.
    #[cfg(debug_assertions)]
    was_limited: AtomicBool,
    shares: Box<[Apart<Mutex<WorkerStatistics>>]>,
    /// Held while whoever watches is told; the other threads wait meanwhile, so that who watches can halt the search.
    pub(super) telling: Mutex<()>,
    /// Why the search ended, if not because all was done.
    end: Mutex<Option<E>>,
}

/// Why a thread ends before all is done: for a reason of its own, or because others say so.
pub(super) type Run<E, T = ()> = ControlFlow<Option<E>, T>;

/// Shows what the caller's thread is at.
pub(super) type Show<'a, L> = &'a mut dyn FnMut(SnapshotRequest) -> SearchSnapshot<L>;

/// Is shown the counters of all threads now and then, may change the limits, may have a look, and may stop the search.
pub(super) type Watch<'a, 'b, L> =
    &'a mut (dyn FnMut(&Statistics, &mut Limits, Show<'_, L>) -> ControlFlow<StopReason> + 'b);

impl<'a, T, E, K: SharedKeys> WorkerPool<'a, T, E, K> {
    pub(super) fn new(store: SharedStore<K>, threads: usize, stock: usize, seed: u64, settings: &'a Settings) -> Self {
        Self {
            settings,
            store,
            traces: Traces::new(),
            pool: WorkPool::new(threads, stock),
            threads,
            handed_over_bytes: AtomicU64::new(0),
            seed,
            states: Apart::default(),
            states_max: AtomicU64::new(settings.limits.states_max.unwrap_or(u64::MAX)),
            memory_bytes_max: AtomicU64::new(settings.limits.memory_bytes_max.unwrap_or(u64::MAX)),
            depth_max: AtomicU64::new(settings.limits.depth_max.unwrap_or(u64::MAX)),
            #[cfg(debug_assertions)]
            was_limited: AtomicBool::new(settings.limits.depth_max.is_some()),
            shares: std::iter::repeat_with(Apart::default).take(threads).collect(),
            telling: Mutex::default(),
            end: Mutex::new(None),
        }
    }

    /// Whether one more state may be stored.
    #[inline]
    pub(super) fn may_store(&self) -> bool {
        let max = self.states_max.load(Ordering::Relaxed);
        max == u64::MAX || self.states.0.fetch_add(1, Ordering::Relaxed) < max
    }

    /// Counts states that were stored before the threads begin.
    pub(super) fn count_stored(&self, states: u64) {
        self.states.0.store(states, Ordering::Relaxed);
    }

    /// Whether a state at this depth is not to be looked at.
    #[inline]
    pub(super) fn too_deep(&self, depth: u64) -> bool {
        self.depth_max.load(Ordering::Relaxed) <= depth
    }

    /// Whether states may have been left out since they were too deep.
    #[cfg(debug_assertions)]
    pub(super) fn was_limited(&self) -> bool {
        self.was_limited.load(Ordering::SeqCst)
    }

    /// How much may be used now.
    pub(super) fn limits(&self) -> Limits {
        let limit = |limit: &AtomicU64| Some(limit.load(Ordering::Relaxed)).filter(|max| *max != u64::MAX);
        Limits {
            states_max: limit(&self.states_max),
            depth_max: limit(&self.depth_max),
            memory_bytes_max: limit(&self.memory_bytes_max),
        }
    }

    /// Changes how much may be used.
    pub(super) fn set_limits(&self, limits: &Limits) {
        let states_max = limits.states_max.unwrap_or(u64::MAX);
        if states_max != u64::MAX && self.states_max.load(Ordering::Relaxed) == u64::MAX {
            self.count_stored(self.statistics().states);
        }
        self.states_max.store(states_max, Ordering::Relaxed);
        #[cfg(debug_assertions)]
        if limits.depth_max.is_some() {
            self.was_limited.store(true, Ordering::SeqCst);
        }
        self.depth_max.store(limits.depth_max.unwrap_or(u64::MAX), Ordering::Relaxed);
        self.memory_bytes_max.store(limits.memory_bytes_max.unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Says what a thread did up to now.
    pub(super) fn publish(&self, thread: usize, share: &WorkerStatistics) {
        *self.shares[thread].0.lock().unwrap_or_else(PoisonError::into_inner) = *share;
    }

    /// What each thread did, as far as it said so.
    pub(super) fn shares(&self) -> Vec<WorkerStatistics> {
        self.shares.iter().map(|share| *share.0.lock().unwrap_or_else(PoisonError::into_inner)).collect()
    }

    /// The counters of all threads together.
    pub(super) fn statistics(&self) -> Statistics {
        let mut sum = Statistics::default();
        let mut counted_twice = 0;
        for WorkerStatistics { statistics: one, found_on_revisits, .. } in self.shares() {
            counted_twice += found_on_revisits;
            sum.states += one.states;
            sum.matched += one.matched;
            sum.transient += one.transient;
            sum.cut += one.cut;
            sum.violations += one.violations;
            sum.depth = sum.depth.max(one.depth);
            sum.memory_bytes += one.memory_bytes;
        }
        sum.matched = sum.matched.saturating_sub(counted_twice);
        sum.memory_bytes += self.store.memory_bytes() + self.traces.memory_bytes();
        sum.memory_bytes += self.handed_over_bytes.load(Ordering::Relaxed);
        sum
    }

    /// Whether there is no place for many more states.
    pub(super) fn is_full(&self) -> bool {
        self.store.is_full() || self.traces.is_full()
    }

    /// Makes the outcome of a search that is over.
    pub(super) fn conclude<V>(&self, ended: Option<Halt>, violations: Vec<V>) -> SearchOutcome<V> {
        let ended = ended.map_or(ControlFlow::Continue(()), ControlFlow::Break);
        let outcome = SearchOutcome::conclude(ended, violations, Exactness::Exact, self.statistics());
        SearchOutcome { workers: self.shares(), ..outcome }
    }

    /// Makes the outcome of a search that ends with what it finds, once it is over.
    pub(super) fn conclude_found<V>(&self, ended: Option<Halt<V>>) -> SearchOutcome<V> {
        let ended = ended.map_or(ControlFlow::Continue(()), ControlFlow::Break);
        let outcome = SearchOutcome::conclude_found(ended, Exactness::Exact, self.statistics());
        SearchOutcome { workers: self.shares(), ..outcome }
    }

    /// Ends the search; the first reason counts.
    pub(super) fn end(&self, why: E) {
        self.end.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(why);
        self.pool.stop();
    }
}

impl<T: Send, E: Send + From<StopReason>, K: SharedKeys> WorkerPool<'_, T, E, K> {
    /// Has each of the models worked on by a thread of its own, the first one by the caller's, which also
    /// watches, and goes on with what was begun, if anything. Where the system does not give so many threads, those that it
    /// gives do all. Returns why the search ended, if not because all was done.
    pub(super) fn work<M: Send + Clone, L, B>(
        &self,
        models: &mut [M],
        watch: Watch<'_, '_, L>,
        begun: Option<B>,
        work: impl Fn(usize, &mut M, Option<Watch<'_, '_, L>>, Option<B>) -> Run<E> + Sync,
    ) -> Option<E> {
        let work = |thread: usize, model: &mut M, watch: Option<Watch<'_, '_, L>>, begun: Option<B>| {
            let _guard = StopIfPanicking(&self.pool);
            // In memory that this thread asked for: one that lies beside another thread's shares cache lines with it, and each
            // waits whenever the other writes.
            let mut own = model.clone();
            if let ControlFlow::Break(Some(why)) = work(thread, &mut own, watch, begun) {
                self.end(why);
            }
            *model = own;
        };
        if let Some((first, others)) = models.split_first_mut() {
            std::thread::scope(|scope| {
                for (i, model) in others.iter_mut().enumerate() {
                    let work = &work;
                    if threads::begin(scope, move || work(i + 1, model, None, None)).is_none() {
                        self.pool.go_without_one();
                    }
                }
                work(0, first, Some(watch), begun);
            });
        }
        let why = self.end.lock().unwrap_or_else(PoisonError::into_inner).take();
        why.or_else(|| self.is_full().then(|| StopReason::Full.into()))
    }
}

/// Stops the others if a thread panics, so that nobody waits for it.
struct StopIfPanicking<'a, T>(&'a WorkPool<T>);

impl<T> Drop for StopIfPanicking<'_, T> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop();
        }
    }
}
