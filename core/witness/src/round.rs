//! One round of a cycle: what its steps mark, who moves in it and who could.

use fabius_program::{CLAIM_PID, Move, Program, StepMarks, Watch};
use std::collections::{BTreeMap, BTreeSet};

use crate::confirm::{CycleClaim, Disagreement};
use crate::infinite::RunFairness;
use crate::interpret::{enabled, marks, settled};
use crate::state::State;

/// What was seen of a cycle, step by step.
#[derive(Clone, Debug, Default)]
pub(crate) struct Round {
    accepting: bool,
    /// Number of the first step that makes progress.
    progress: Option<usize>,
    movers: BTreeSet<u8>,
    /// Number of states that are not transient, …
    states: usize,
    /// … in how many of them each process is enabled, …
    enabled: BTreeMap<u8, usize>,
    /// … and the number of processes in that with the most.
    processes_max: usize,
}

impl Round {
    /// Adds a step and the state that it leads to, and what follows without a step.
    pub(crate) fn add(&mut self, program: &Program, watch: Watch, number: usize, step: Move, reached: &State) {
        self.mark(marks(program, watch, Some(step), reached), number);
        if step.pid != CLAIM_PID {
            self.movers.insert(step.pid);
            self.movers.extend(step.partner.map(|(pid, _)| pid));
        }
        let rest = settled(program, reached);
        let went_on = rest != *reached;
        if went_on {
            self.mark(marks(program, watch, None, &rest), number);
        }
        if rest.holder.is_none() && (went_on || step.pid != CLAIM_PID) {
            self.states += 1;
            enabled(program, &rest).into_iter().for_each(|pid| *self.enabled.entry(pid).or_default() += 1);
            self.processes_max = self.processes_max.max(rest.processes.len());
        }
    }

    fn mark(&mut self, marks: StepMarks, number: usize) {
        self.accepting |= marks.accepting;
        if marks.progress {
            self.progress.get_or_insert(number);
        }
    }

    /// Whether the cycle shows what is claimed.
    pub(crate) fn check(&self, shows: CycleClaim) -> Result<(), Box<Disagreement>> {
        match (shows.no_progress, self.progress) {
            (true, Some(number)) => return Err(Box::new(Disagreement::Progress { number })),
            _ if shows.acceptance && !self.accepting => return Err(Box::new(Disagreement::NotAccepting)),
            _ => {}
        }
        let neglected = match shows.fairness {
            RunFairness::Unfair => None,
            RunFairness::Weak => self.neglected(|able| able == self.states),
            RunFairness::Strong => self.neglected(|able| 0 < able),
        };
        neglected.map_or(Ok(()), |pid| Err(Box::new(Disagreement::Unfair(pid))))
    }

    /// A process that never moves although it is enabled often enough to have a right to.
    fn neglected(&self, has_a_right: impl Fn(usize) -> bool) -> Option<u8> {
        (0..self.processes_max).map(|pid| pid as u8).find(|pid| {
            let able = self.enabled.get(pid).copied().unwrap_or(0);
            !self.movers.contains(pid) && 0 < able && has_a_right(able)
        })
    }
}
