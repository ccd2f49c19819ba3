//! What the search reports: violations, and where it is.

use super::state::Fast;
use crate::delay_bounded::replay::replay;
use crate::delay_bounded::{DelayObserver, Origin};
use crate::macro_stack::KEPT;
use crate::model::Processes;
use crate::outcome::{Halt, ViolationKind};
use crate::schedule::Scheduler;
use crate::snapshot::{Phase, SearchSnapshot};
use crate::store::Store;
use std::ops::ControlFlow;

impl<M, S, D, O> Fast<'_, M, S, D, O>
where
    M: Processes,
    S: Store,
    D: Scheduler<M::Label>,
    O: DelayObserver<M::Label, M::Fault>,
{
    /// Reports a violation: of a macro step of the state on top of the stack, or of that state.
    #[cold]
    pub(super) fn report(&mut self, kind: ViolationKind<M::Fault>, macro_step: Option<usize>) -> ControlFlow<Halt> {
        self.statistics.violations += 1;
        let (label, state) = self.stack.macro_steps().place(macro_step);
        let key = self.observer.key(&kind, label.as_ref(), state);
        let mut trail = self.stack.top().map_or(Vec::new(), |frame| Origin::trail(&self.origins, frame.data.number));
        trail.extend(macro_step.map(|macro_step| macro_step as u32));
        let (model, scheduler) = (&mut *self.listing.model, self.scheduler);
        self.violations.record(key, kind, || replay(model, scheduler, &trail).into())
    }

    /// Shows an observer who wants to see it what the search is at. Unless the whole path is wanted, its end: the
    /// macro steps that are kept.
    #[cold]
    pub(super) fn show(&mut self) {
        let Some(wanted) = self.observer.snapshot_request() else { return };
        let look = SearchSnapshot {
            stack: self.stack.len() as u64,
            frontier: Some(self.frontier.calls.len() as u64),
            ..SearchSnapshot::at(Phase::Delays(self.bound))
        };
        let look = if wanted.whole {
            let trail = self.stack.top().map_or(Vec::new(), |frame| Origin::trail(&self.origins, frame.data.number));
            look.along(wanted, replay(self.listing.model, self.scheduler, &trail).path.into_iter())
        } else {
            let path = self.end_of_path();
            let before = self.stack.top().map_or(0, |frame| frame.data.depth).saturating_sub(path.len() as u64);
            SearchSnapshot { before, ..look.along(wanted, path.into_iter()) }
        };
        self.observer.on_snapshot(look);
    }

    /// The labels of the macro steps to the topmost states of the stack, as far as they are kept.
    fn end_of_path(&self) -> Vec<M::Label> {
        let mut path = Vec::new();
        for (index, frame) in self.stack.frames().iter().enumerate().skip(self.stack.len().saturating_sub(KEPT - 1)) {
            let macro_step = (frame.macro_step as usize).checked_sub(1);
            match macro_step
                .zip(self.stack.macro_steps_of(index))
                .filter(|(macro_step, macro_steps)| *macro_step < macro_steps.len())
            {
                Some((macro_step, macro_steps)) => path.extend_from_slice(macro_steps.labels(macro_step)),
                None => path.clear(),
            }
        }
        path
    }
}
