//! What the search reports: violations, and where it is.

use super::state::DepthBounded;
use crate::delay_bounded::{DelayObserver, SHOWN_MACRO_STEPS_MAX};
use crate::model::Processes;
use crate::outcome::{Halt, ViolationKind};
use crate::schedule::MacroSteps;
use crate::schedule::macro_steps::MacroStepLister;
use crate::snapshot::{Phase, SearchSnapshot};
use std::ops::ControlFlow;

impl<M, O> DepthBounded<'_, M, O>
where
    M: Processes,
    O: DelayObserver<M::Label, M::Fault>,
{
    #[cold]
    pub(super) fn report(&mut self, kind: ViolationKind<M::Fault>, macro_step: Option<usize>) -> ControlFlow<Halt> {
        self.statistics.violations += 1;
        let (label, state) = self.stack.macro_steps().place(macro_step);
        let key = self.observer.key(&kind, label.as_ref(), state);
        let mut trail = self.from.map_or(Vec::new(), |node| self.frontier.trail(node));
        let below = self.stack.len().saturating_sub(1);
        trail.extend(self.stack.frames()[..below].iter().map(|frame| frame.macro_step - 1));
        trail.extend(macro_step.map(|macro_step| macro_step as u32));
        let model = &mut *self.listing.model;
        self.violations.record(key, kind, || (path_of(model, &trail), Vec::new()))
    }

    /// Shows an observer who wants to see it what the search is at.
    #[cold]
    pub(super) fn show(&mut self, depth: u32) {
        let Some(wanted) = self.observer.snapshot_request() else { return };
        let mut trail = self.from.map_or(Vec::new(), |node| self.frontier.trail(node));
        let below = self.stack.len().saturating_sub(1);
        trail.extend(self.stack.frames()[..below].iter().map(|frame| frame.macro_step - 1));
        let look = SearchSnapshot {
            before: u64::from(depth),
            stack: self.stack.len() as u64,
            frontier: Some(self.frontier.len()),
            ..SearchSnapshot::at(Phase::Depth(self.bound))
        };
        let look = if wanted.whole || trail.len() <= SHOWN_MACRO_STEPS_MAX {
            look.along(wanted, path_of(self.listing.model, &trail).into_iter())
        } else {
            look
        };
        self.observer.on_snapshot(look);
    }
}

/// Executes macro steps from the initial state on; returns their labels.
fn path_of<M: Processes>(model: &mut M, trail: &[u32]) -> Vec<M::Label> {
    let (mut path, mut state, mut macro_steps, mut lister) =
        (Vec::new(), Vec::new(), MacroSteps::default(), MacroStepLister::new());
    if model.initial(&mut state).is_err() {
        return path;
    }
    for &macro_step in trail {
        let _: ControlFlow<()> = lister.list(model, &state, &mut macro_steps, || ControlFlow::Continue(()));
        path.extend_from_slice(macro_steps.labels(macro_step as usize));
        let Some(target) = macro_steps.target(macro_step as usize) else { break };
        state = target.to_vec();
    }
    path
}
