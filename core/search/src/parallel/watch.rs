//! What a thread of any search tells those who watch, and what it is told: limits, cancellation, the end.

use super::pool::NextWork;
use super::store::SharedKeys;
use super::trace::{Trace, Traces};
use super::worker_pool::{Run, Show, Watch, WorkerPool};
use crate::dfs_stack::DfsStack;
use crate::model::Model;
use crate::snapshot::{Phase, SearchSnapshot, SnapshotRequest};
use fabius_base::StopReason;
use std::ops::ControlFlow;
use std::sync::PoisonError;

/// Whether the search is over, or was cancelled.
pub(super) fn is_to_stop<T, E, K: SharedKeys>(workers: &WorkerPool<'_, T, E, K>) -> bool {
    workers.pool.is_stopped() || workers.settings.cancel.requested().is_some()
}

/// Whether there is a reason to stop.
pub(super) fn look_around<T, E: From<StopReason>, K: SharedKeys, L>(
    workers: &WorkerPool<'_, T, E, K>,
    watch: &mut Option<Watch<'_, '_, L>>,
    show: Show<'_, L>,
) -> Run<E> {
    let stop = |reason: StopReason| ControlFlow::Break(Some(reason.into()));
    if watch.is_none() {
        drop(workers.telling.lock().unwrap_or_else(PoisonError::into_inner));
    }
    if workers.pool.is_stopped() {
        return ControlFlow::Break(None);
    }
    if let Some(reason) = workers.settings.cancel.requested() {
        return stop(reason);
    }
    let mut limits = workers.limits();
    let limit = limits.memory_bytes_max;
    if workers.is_full() {
        return stop(StopReason::Full);
    }
    if limit.is_none() && watch.is_none() {
        return ControlFlow::Continue(());
    }
    let statistics = workers.statistics();
    if limit.is_some_and(|max| max < statistics.memory_bytes) {
        return stop(StopReason::Memory);
    }
    match watch {
        Some(watch) => {
            let telling = workers.telling.lock().unwrap_or_else(PoisonError::into_inner);
            let run = watch(&statistics, &mut limits, show);
            drop(telling);
            workers.set_limits(&limits);
            run.map_break(|reason| Some(reason.into()))
        }
        None => ControlFlow::Continue(()),
    }
}

/// Waits for a turn of the pool, with so much work for the next level.
pub(super) fn wait<T, E: From<StopReason>, K: SharedKeys, L>(
    workers: &WorkerPool<'_, T, E, K>,
    watch: &mut Option<Watch<'_, '_, L>>,
    next_level: usize,
) -> NextWork<T> {
    let mut stop = None;
    let is_watching = watch.is_some();
    let look_around = || match look_around(workers, watch, &mut |_| SearchSnapshot::at(Phase::Together)) {
        ControlFlow::Continue(()) => ControlFlow::Continue(()),
        ControlFlow::Break(why) => {
            stop = why;
            ControlFlow::Break(())
        }
    };
    let turn = workers.pool.take(next_level, is_watching.then_some(look_around));
    if let Some(why) = stop {
        workers.end(why);
    }
    turn
}

/// What a thread is at, with this stack, whose bottom was reached as `start` says, on a path of `depth` labels.
pub(super) fn snapshot<M: Model, D, P: Copy>(
    (phase, traces): (Phase, &Traces),
    (model, stack): (&mut M, &DfsStack<M, D, P>),
    (start, depth): (Trace, u64),
    wanted: SnapshotRequest,
) -> SearchSnapshot<M::Label> {
    let labels = stack.labels();
    let look = SearchSnapshot::at(phase);
    let look = if wanted.whole { look.along(wanted, labels) } else { look.along_many(wanted, depth, labels) };
    let look = SearchSnapshot { stack: stack.len() as u64, from_initial: start == Trace::START, ..look };
    if look.from_initial || !wanted.whole {
        return look;
    }
    look.led_by(traces.execute(start, model))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observer::Settings;
    use crate::outcome::{Halt, Statistics};
    use crate::parallel::store::{PlainKeys, SharedStore};
    use fabius_base::Limits;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::thread;

    #[test]
    fn no_thread_goes_on_while_whoever_watches_is_told() {
        let settings = Settings::default();
        let workers = WorkerPool::<u32, Halt, PlainKeys>::new(SharedStore::new(3), 3, 1, 0, &settings);
        let looks = AtomicU64::new(0);
        let mut grown = Vec::new();
        let mut watch = |_: &Statistics, _: &mut Limits, _: Show<'_, u32>| {
            let before = looks.load(Ordering::SeqCst);
            (0..2_000).for_each(|_| thread::yield_now());
            grown.push(looks.load(Ordering::SeqCst) - before);
            if grown.len() < 20 { ControlFlow::Continue(()) } else { ControlFlow::Break(StopReason::Cancelled) }
        };
        workers.work(&mut [(), (), ()], &mut watch, None::<()>, |thread, (), mut watch, _| {
            loop {
                let before = looks.load(Ordering::SeqCst);
                look_around(&workers, &mut watch, &mut |_| SearchSnapshot::at(Phase::Together))?;
                if thread == 0 {
                    // The others get on in between.
                    while looks.load(Ordering::SeqCst) == before {
                        thread::yield_now();
                    }
                } else {
                    looks.fetch_add(1, Ordering::SeqCst);
                }
            }
        });
        // Each of the two others may have looked around just before.
        assert!(grown.len() == 20 && grown.iter().all(|looks| *looks <= 2), "{grown:?}");
    }
}
