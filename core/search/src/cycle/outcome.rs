//! What a search for cycles found: plain data, the same for every such search.

use crate::outcome::{Completeness, Statistics};
use crate::store::Exactness;
use fabius_base::StopReason;
use std::ops::ControlFlow;

/// Which cycles a search looks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Goal {
    /// Those with a transition that is marked [`crate::Marks::ACCEPTING`].
    AcceptanceCycle,
    /// Those without any transition that is marked [`crate::Marks::PROGRESS`].
    Livelock,
}

/// Which runs count: those of schedulers that are at least so fair.
///
/// A process counts as *enabled* in an ordinary state as [`crate::Processes::enabled`] says. In a transient state
/// nobody has a choice, so nobody is excused there; on a cycle of transient states only, every process
/// counts as enabled.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Fairness {
    /// All runs.
    #[default]
    None,
    /// Who is enabled all the time from some point on, moves again and again. On a cycle every process
    /// either takes part in a transition, or is not enabled in some state.
    Weak,
    /// Who is enabled again and again, moves again and again. On a cycle every process that is enabled in
    /// some state takes part in some transition.
    Strong,
}

/// What was looked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Found<Label, Fault> {
    /// A run that goes on for ever: the stem, then the cycle again and again. The cycle has at least one
    /// label.
    Lasso {
        /// From the initial state to a state of the cycle.
        stem: Vec<Label>,
        /// From that state back to it.
        cycle: Vec<Label>,
    },
    /// A faulty transition; it ends a search for cycles.
    Fault {
        /// From the initial state up to and including the faulty transition; empty if the initial
        /// state is faulty.
        path: Vec<Label>,
        /// What is wrong.
        fault: Fault,
    },
}

/// Result of a search for cycles.
#[derive(Clone, PartialEq, Debug)]
pub struct CycleOutcome<Label, Fault> {
    /// What was found; `None` if there is none, as far as the search looked.
    pub found: Option<Found<Label, Fault>>,
    /// Of a lasso, how many steps with progress are on its stem, if the search made this number as small as it
    /// can be. A way from one ordinary state to the next counts once.
    pub progress_events_min: Option<u64>,
    /// How much was looked at.
    pub completeness: Completeness,
    /// What the store may have missed.
    pub exactness: Exactness,
    /// Counters at the end. [`Statistics::matched`] counts arrivals of a nested search, too.
    pub statistics: Statistics,
}

impl<Label, Fault> CycleOutcome<Label, Fault> {
    /// Whether this is a proof that there is nothing to be found.
    pub fn proves_absence(&self) -> bool {
        self.found.is_none() && self.completeness == Completeness::Exhaustive && self.exactness.is_exact()
    }

    /// Makes the outcome of a search that ran to its end or was halted.
    pub(crate) fn conclude(run: Run<Label, Fault>, exactness: Exactness, statistics: Statistics) -> Self {
        let (found, completeness) = match run {
            ControlFlow::Break(End::Found(found)) => (Some(found), Completeness::FirstViolation),
            ControlFlow::Break(End::Stopped(reason)) => (None, Completeness::Stopped(reason)),
            ControlFlow::Continue(()) if statistics.cut > 0 => (None, Completeness::Stopped(StopReason::Depth)),
            ControlFlow::Continue(()) => (None, Completeness::Exhaustive),
        };
        Self { found, progress_events_min: None, completeness, exactness, statistics }
    }
}

/// Why a search for cycles ends before all is looked at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum End<Label, Fault> {
    Found(Found<Label, Fault>),
    Stopped(StopReason),
}

/// Goes on, or ends with what was found.
pub(crate) type Run<Label, Fault, T = ()> = ControlFlow<End<Label, Fault>, T>;
