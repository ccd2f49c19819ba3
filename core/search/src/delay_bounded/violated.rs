//! Violations with the delays of their runs.

use super::replay::replay;
use super::{Delay, DelayOutcome, Round};
use crate::model::Processes;
use crate::outcome::{Halt, Statistics, StopAt, ViolationKind, Violations};
use crate::schedule::Scheduler;
use crate::store::Exactness;
use std::ops::ControlFlow;

/// The violations found so far, with the delays of their runs.
pub(super) struct Violated<Label, Fault> {
    violations: Violations<Label, Fault>,
    delays: Vec<Vec<Delay>>,
}

impl<Label, Fault> Violated<Label, Fault> {
    pub fn new(stop_at: StopAt) -> Self {
        Self { violations: Violations::new(stop_at), delays: Vec::new() }
    }

    /// Counts a violation, and keeps it with the run along its trail if it is the first of its key.
    pub fn record<M, D>(
        &mut self,
        key: u64,
        kind: ViolationKind<Fault>,
        (model, scheduler): (&mut M, &D),
        trail: &[u32],
    ) -> ControlFlow<Halt>
    where
        M: Processes<Label = Label, Fault = Fault>,
        D: Scheduler<Label>,
    {
        let delays = &mut self.delays;
        self.violations.record(key, kind, || {
            let told = replay(model, scheduler, trail);
            delays.push(told.delays);
            told.path
        })
    }

    /// The outcome of a search that ran to its end or was halted; `left` is that of [`DelayOutcome::conclude`].
    pub fn conclude(
        self,
        run: ControlFlow<Halt>,
        (exactness, statistics): (Exactness, Statistics),
        rounds: Vec<Round>,
        left: (bool, bool),
    ) -> DelayOutcome<Label, Fault> {
        let outcome = self.violations.conclude(run, exactness, statistics);
        DelayOutcome { delays: self.delays, ..DelayOutcome::conclude(outcome, rounds, left) }
    }
}
