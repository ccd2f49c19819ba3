//! What a thread tells the others and those who watch, and what it is told: limits, cancellation, the end.

use super::{Deferred, Explorer};
use crate::model::Model;
use crate::parallel::pool::NextWork;
use crate::parallel::trace::Trace;
use crate::parallel::worker_pool::{Run, Show, Watch, WorkerPool};
use crate::snapshot::{Phase, SearchSnapshot, SnapshotRequest};
use fabius_base::StopReason;
use std::ops::ControlFlow;

/// Steps from one look at limits, cancellation and the other threads to the next.
const STEPS_PER_LOOK: u32 = 1024;

impl<M: Model, T, E: From<StopReason>> Explorer<'_, M, T, E> {
    /// Tells the others what this thread did, and whether there is a reason to stop.
    #[cold]
    pub(in super::super) fn look(&mut self) -> Run<E> {
        self.steps_left = STEPS_PER_LOOK;
        self.access.leave_if_asked();
        self.publish();
        let mut watch = self.watch.take();
        let run = look_around(self.workers, &mut watch, &mut |wanted| self.shown(wanted));
        self.watch = watch;
        run
    }

    /// What this thread is at.
    fn shown(&mut self, wanted: SnapshotRequest) -> SearchSnapshot<M::Label> {
        let start = self.bottom();
        let labels = self.stack.labels();
        let look = SearchSnapshot::at(Phase::Together);
        let look =
            if wanted.whole { look.along(wanted, labels) } else { look.along_many(wanted, self.depth(), labels) };
        let look = SearchSnapshot { stack: self.stack.len() as u64, from_initial: start == Trace::START, ..look };
        if look.from_initial || !wanted.whole {
            return look;
        }
        look.led_by(self.workers.traces.execute(start, self.model))
    }

    /// Waits for a turn of the pool, with so much work for the next level.
    pub(in super::super) fn wait(&mut self, next_level: usize) -> NextWork<T> {
        self.access.leave();
        self.publish();
        let (workers, watch) = (self.workers, &mut self.watch);
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

    /// Says what this thread did up to now.
    pub(in super::super) fn publish(&mut self) {
        let now = self.memory_bytes();
        let statistics = &mut self.share.statistics;
        statistics.memory_bytes = statistics.memory_bytes.max(now);
        self.workers.publish(self.thread, &self.share);
    }

    fn memory_bytes(&self) -> u64 {
        let deferred = size_of_val::<[Deferred<M::Cursor>]>(&self.deferred) as u64;
        self.stack.memory_bytes() + deferred + self.access.memory_bytes() + self.beside_bytes
    }
}

/// Whether there is a reason to stop.
fn look_around<T, E: From<StopReason>, L>(
    workers: &WorkerPool<'_, T, E>,
    watch: &mut Option<Watch<'_, '_, L>>,
    show: Show<'_, L>,
) -> Run<E> {
    let stop = |reason: StopReason| ControlFlow::Break(Some(reason.into()));
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
            let run = watch(&statistics, &mut limits, show);
            workers.set_limits(&limits);
            run.map_break(|reason| Some(reason.into()))
        }
        None => ControlFlow::Continue(()),
    }
}
