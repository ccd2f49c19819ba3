//! What a search for cycles found: plain data, the same for every such search.

use crate::outcome::SearchOutcome;

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

/// What a search for cycles is asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CycleQuestion {
    /// Which cycles are looked for.
    pub goal: Goal,
    /// Which of them count.
    pub fairness: Fairness,
}

/// What was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Found<Label, Fault> {
    /// A run that goes on for ever: the stem, then the cycle again and again. The cycle has no
    /// label if the last state lasts for ever because nothing can move.
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

/// Result of a search for cycles. [`Statistics::matched`](crate::Statistics::matched) counts arrivals of a nested search, too.
pub type CycleOutcome<Label, Fault> = SearchOutcome<Found<Label, Fault>>;

/// Goes on, or ends with what was found.
pub(crate) type Run<Label, Fault, T = ()> = crate::outcome::Run<Found<Label, Fault>, T>;
