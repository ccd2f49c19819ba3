//! What a thread tells the others and those who watch.

use super::{Deferred, Explorer};
use crate::model::Model;
use crate::observer::steps_per_look;
use crate::parallel::pool::NextWork;
use crate::parallel::store::SharedKeys;
use crate::parallel::watch::{self, look_around};
use crate::parallel::worker_pool::Run;
use crate::snapshot::Phase;
use fabius_base::StopReason;

impl<M: Model, T, E: From<StopReason>, K: SharedKeys> Explorer<'_, M, T, E, K> {
    /// Tells the others what this thread did, and whether there is a reason to stop.
    #[cold]
    pub(in super::super) fn look(&mut self) -> Run<E> {
        self.countdown.restart(steps_per_look(self.stack.position.state().len()));
        self.access.leave_if_asked();
        self.publish();
        let begun = (self.bottom, self.depth());
        let Self { workers, model, stack, watch, .. } = self;
        look_around(workers, watch, &mut |wanted| {
            watch::snapshot((Phase::Together, &workers.traces), (*model, stack), begun, wanted)
        })
    }

    /// Waits for a turn of the pool, with so much work for the next level.
    pub(in super::super) fn wait(&mut self, next_level: usize) -> NextWork<T> {
        self.access.leave();
        self.publish();
        watch::wait(self.workers, &mut self.watch, next_level)
    }

    /// Says what this thread did up to now.
    pub(in super::super) fn publish(&mut self) {
        let now = self.memory_bytes();
        let statistics = &mut self.share.statistics;
        statistics.memory_bytes = statistics.memory_bytes.max(now);
        self.workers.publish(self.thread, &self.share);
    }

    fn memory_bytes(&self) -> u64 {
        let deferred = size_of_val::<[Deferred]>(&self.deferred) as u64;
        self.stack.memory_bytes() + deferred + self.beside_bytes
    }
}
