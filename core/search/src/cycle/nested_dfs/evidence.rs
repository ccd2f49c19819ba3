//! What the search reports: the cycle, a fault, where it is, and cycles that it rejects.

use super::{Mark, NestedDfs};
use crate::cycle::outcome::{Found, Run};
use crate::cycle::proviso::Proviso;
use crate::model::Model;
use crate::observer::Observer;
use crate::outcome::Halt;
use crate::snapshot::{Phase, Rejection, SearchSnapshot};
use crate::store::{Class, Payloads};
use std::ops::ControlFlow;

impl<M: Model, S: Payloads<Mark>, O: Observer<M::Label, M::Fault>, P: Proviso<M>> NestedDfs<'_, M, S, O, P> {
    /// The successor, which is on the stack, closes the cycle.
    #[cold]
    pub(super) fn report<T>(&mut self, label: Option<M::Label>, class: Class) -> Run<M::Label, M::Fault, T> {
        let (stem, cycle) = self.stack.close_cycle(self.store, label, class);
        ControlFlow::Break(Halt::Found(Found::Lasso { stem, cycle }))
    }

    #[cold]
    pub(super) fn fault(&mut self, label: Option<M::Label>, fault: M::Fault) -> Run<M::Label, M::Fault> {
        let path = self.stack.labels().chain(label).collect();
        ControlFlow::Break(Halt::Found(Found::Fault { path, fault }))
    }

    #[cold]
    pub(super) fn look(&mut self, phase: Phase) -> Run<M::Label, M::Fault> {
        self.watch.look(self.memory_bytes(), self.store.is_full())?;
        if let Some(wanted) = self.watch.snapshot_request() {
            let look = SearchSnapshot::at(phase).along_many(wanted, self.stack.depth(), self.stack.labels());
            self.watch.show(SearchSnapshot { stack: self.stack.len() as u64, ..look });
        }
        ControlFlow::Continue(())
    }

    /// A red search found nothing: no way leads back to the accepting transition `label`.
    pub(super) fn no_way_back(&mut self, label: Option<M::Label>) {
        if self.watch.rejects() {
            self.watch.show_rejected(Rejection::NoWayBack, label, self.stack.position.state());
        }
    }
}
