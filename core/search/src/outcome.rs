//! What a search found, and how far it looked: plain data.

use crate::store::Exactness;
use fabius_base::StopReason;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::ops::ControlFlow;

/// When a violation ends a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum StopAt {
    /// At the first one.
    #[default]
    First,
    /// Never: every violation is counted, and one of each key is kept.
    Never,
}

/// How much of the state space was looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Completeness {
    /// All of it, as far as the store can tell; see [`Outcome::exactness`].
    Exhaustive,
    /// It ended at the first violation, as it was told to.
    FirstViolation,
    /// It was stopped, or paths were cut off.
    Stopped(StopReason),
}

/// What is wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ViolationKind<Fault> {
    /// The path ends in a state in which nothing can move, and that is not meant to be an end.
    InvalidEnd,
    /// The last transition of the path, or the initial state if the path is empty, is faulty.
    Fault(Fault),
}

/// A violation and a path to it.
#[derive(Clone, PartialEq, Debug)]
pub struct Violation<Label, Fault> {
    /// What is wrong.
    pub kind: ViolationKind<Fault>,
    /// From the initial state up to and including the faulty transition, if it is one.
    pub path: Vec<Label>,
    /// How often one with the same key was found.
    pub count: u64,
}

/// Counters. Those of what was found and used are not kept in a checkpoint.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Debug, Default)]
pub struct Statistics {
    /// States stored, the initial one included.
    pub states: u64,
    /// Arrivals at states that were stored already or lay beyond the depth allowed.
    pub matched: u64,
    /// Arrivals at transient states; these are not stored.
    pub transient: u64,
    /// Arrivals at states beyond the depth allowed, transient ones included.
    pub cut: u64,
    /// Violations found, the same one any number of times.
    #[serde(skip)]
    pub violations: u64,
    /// Length of the longest path walked: in transitions if depth-first, in stored states passed if
    /// breadth-first.
    pub depth: u64,
    /// Memory of visited set and stack or queue together, in bytes; the most seen at any look.
    #[serde(skip)]
    pub memory_bytes: u64,
}

impl Statistics {
    /// Transitions as Spin counts them: stored and matched states together.
    pub fn transitions(&self) -> u64 {
        self.states + self.matched
    }
}

/// Result of a search.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome<Label, Fault> {
    /// How much was looked at.
    pub completeness: Completeness,
    /// What the store may have missed.
    pub exactness: Exactness,
    /// Counters at the end.
    pub statistics: Statistics,
    /// One violation for each key, in the order in which they were found.
    pub violations: Vec<Violation<Label, Fault>>,
}

impl<Label, Fault> Outcome<Label, Fault> {
    /// Whether this is a proof that there is no violation.
    pub fn proves_absence(&self) -> bool {
        self.completeness == Completeness::Exhaustive && self.exactness.is_exact() && self.statistics.violations == 0
    }
}

/// Why a search ends before its stack or queue is empty.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Halt {
    Violation,
    Reason(StopReason),
}

/// The violations found so far.
#[derive(Debug)]
pub(crate) struct Violations<Label, Fault> {
    stop_at: StopAt,
    listed: Vec<Violation<Label, Fault>>,
    by_key: HashMap<u64, usize>,
}

impl<Label, Fault> Violations<Label, Fault> {
    pub(crate) fn new(stop_at: StopAt) -> Self {
        Self { stop_at, listed: Vec::new(), by_key: HashMap::new() }
    }

    /// Counts a violation, and keeps it with its path if it is the first of its key.
    #[cold]
    pub(crate) fn record(
        &mut self,
        key: u64,
        kind: ViolationKind<Fault>,
        path: impl FnOnce() -> Vec<Label>,
    ) -> ControlFlow<Halt> {
        let listed = &mut self.listed;
        let index = *self.by_key.entry(key).or_insert_with(|| {
            listed.push(Violation { kind, path: path(), count: 0 });
            listed.len() - 1
        });
        self.listed[index].count += 1;
        match self.stop_at {
            StopAt::First => ControlFlow::Break(Halt::Violation),
            StopAt::Never => ControlFlow::Continue(()),
        }
    }

    /// Makes the outcome of a search that ran to its end or was halted.
    pub(crate) fn conclude(
        self,
        run: ControlFlow<Halt>,
        exactness: Exactness,
        statistics: Statistics,
    ) -> Outcome<Label, Fault> {
        let completeness = match run {
            ControlFlow::Break(Halt::Violation) => Completeness::FirstViolation,
            ControlFlow::Break(Halt::Reason(reason)) => Completeness::Stopped(reason),
            ControlFlow::Continue(()) if statistics.cut > 0 => Completeness::Stopped(StopReason::Depth),
            ControlFlow::Continue(()) => Completeness::Exhaustive,
        };
        Outcome { completeness, exactness, statistics, violations: self.listed }
    }
}
