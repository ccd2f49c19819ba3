//! What a search found, and how far it looked: plain data, the same for every search.
//!
//! [`SearchOutcome`] is generic over what can be found, and over nothing else: a search for violations of safety counts and
//! lists many of them, each with one path ([`Violation`]); a search for cycles ends with one lasso or fault
//! ([`Found`](crate::cycle::Found)). So nobody who asks about safety has to say what he does with a lasso. What only some
//! searches have to say (rounds, worker threads, figures of random runs) is empty for the others.
//!
//! Why a search ends early is said in one way as well: by [`Halt`] inside the crate, by [`Completeness`] outside of it.

use crate::parallel::WorkerStatistics;
use crate::store::Exactness;
use fabius_base::StopReason;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
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
    /// All of it, as far as the store can tell; see [`SearchOutcome::exactness`].
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
    /// The delays on the path, in their order; empty unless a scheduler takes part in the search.
    pub delays: Vec<Delay>,
    /// How often one with the same key was found.
    pub count: u64,
}

/// A process was held back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Delay {
    /// Before the transition with this index in the path.
    pub before: usize,
    /// Who was to move, and did not.
    pub process: u8,
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

/// A round of a search whose bound grows from round to round.
#[derive(Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, Debug)]
pub struct Round {
    /// Delays, or steps, allowed.
    pub bound: u32,
    /// States stored so far.
    pub states: u64,
    /// States (in an exact search: of system and scheduler together) that wait for a larger bound.
    pub frontier: u64,
    /// What it took.
    pub work: Work,
}

/// The work of a round, in counters; those that a search does not have are 0.
#[derive(Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, Debug)]
pub struct Work {
    /// By depth: how often a state was expanded again, in all rounds so far.
    pub revisits: u64,
    /// By depth: macro steps executed only to get back to frontier states, in all rounds so far.
    pub replayed: u64,
    /// For cycles: edges there are.
    pub edges: u64,
    /// For cycles: macro steps listed by the model, in all rounds so far.
    pub listed: u64,
    /// For cycles: edges walked to calculate (or to search), in this round.
    pub calculated: u64,
    /// For cycles: edges walked to refine, in this round.
    pub refined: u64,
    /// For cycles: partitions refined, in this round.
    pub partitions: u64,
}

/// Which runs a search covered, if it goes by increasing bounds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Coverage {
    /// Nothing is left that a larger bound could reach: every schedule was seen.
    EverySchedule,
    /// Nothing is left that more delays could reach, but runs with more choices were cut off.
    EveryDelay,
    /// The last bound allowed was searched to its end.
    Bound(u32),
    /// The search ended before; if any, this bound was searched to its end.
    Ended(Option<u32>),
}

/// What random runs say, beside what they found.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SampleStatistics {
    /// Runs drawn.
    pub runs: u64,
    /// The length at which runs were cut off.
    pub length: u64,
    /// A bug that fits the guarantee of the sampler is met in one run with at least this probability.
    pub probability: Option<f64>,
}

/// Result of a search that can find `V`.
#[derive(Clone, PartialEq, Debug)]
pub struct SearchOutcome<V> {
    /// How much was looked at.
    pub completeness: Completeness,
    /// What the store may have missed.
    pub exactness: Exactness,
    /// Counters at the end.
    pub statistics: Statistics,
    /// What was found: one violation for each key, in the order in which they were found; of cycles at most one.
    pub violations: Vec<V>,
    /// Which runs were covered.
    pub coverage: Coverage,
    /// The rounds, if the search goes by rounds: those that were finished, and that in which a cycle was found.
    pub rounds: Vec<Round>,
    /// What each worker thread did, if several searched.
    pub workers: Vec<WorkerStatistics>,
    /// Product states of system and scheduler, if these were stored.
    pub product_states: u64,
    /// Of a lasso, how many steps with progress are on its stem, if the search made this number as small as it
    /// can be. A way from one ordinary state to the next counts once.
    pub progress_events_min: Option<u64>,
    /// Delays that the scheduler needs to go round the cycle once, as soon as it does so always in the same way; `None`
    /// if there is no cycle, or no such way was found.
    pub loop_delays: Option<u32>,
    /// States in which an atomic sequence can go on for ever, if the search leaves these out; 1 if it is known only that there are some.
    pub infinite_macro_steps: u64,
    /// What random runs say.
    pub samples: Option<SampleStatistics>,
}

/// Result of a search for violations of safety.
pub type Outcome<Label, Fault> = SearchOutcome<Violation<Label, Fault>>;

impl<V> SearchOutcome<V> {
    /// Whether this is a proof that there is nothing to be found.
    pub fn proves_absence(&self) -> bool {
        let is_whole = self.completeness == Completeness::Exhaustive && self.infinite_macro_steps == 0;
        is_whole && self.exactness.is_exact() && self.violations.is_empty()
    }

    /// What was found first, if anything.
    pub fn first(&self) -> Option<&V> {
        self.violations.first()
    }

    /// What was found first, if anything, and nothing else.
    pub fn into_first(self) -> Option<V> {
        self.violations.into_iter().next()
    }

    /// Makes the outcome of a search that ran to its end or was halted, and listed this.
    pub(crate) fn conclude(
        ended: ControlFlow<Halt>,
        violations: Vec<V>,
        exactness: Exactness,
        statistics: Statistics,
    ) -> Self {
        let completeness = match ended {
            ControlFlow::Break(Halt::Found(())) => Completeness::FirstViolation,
            ControlFlow::Break(Halt::Stopped(reason)) => Completeness::Stopped(reason),
            ControlFlow::Continue(()) if statistics.cut > 0 => Completeness::Stopped(StopReason::Depth),
            ControlFlow::Continue(()) => Completeness::Exhaustive,
        };
        Self {
            completeness,
            exactness,
            statistics,
            violations,
            coverage: match completeness {
                Completeness::Exhaustive => Coverage::EverySchedule,
                _ => Coverage::Ended(None),
            },
            rounds: Vec::new(),
            workers: Vec::new(),
            product_states: 0,
            progress_events_min: None,
            loop_delays: None,
            infinite_macro_steps: 0,
            samples: None,
        }
    }

    /// The same outcome, of which what was found is put in another way; what `put` drops is left out.
    pub(crate) fn map<W>(self, put: impl FnMut(V) -> Option<W>) -> SearchOutcome<W> {
        let Self { completeness, exactness, statistics, violations, coverage, rounds, workers, .. } = self;
        let Self { product_states, progress_events_min, loop_delays, infinite_macro_steps, samples, .. } = self;
        SearchOutcome {
            completeness,
            exactness,
            statistics,
            violations: violations.into_iter().filter_map(put).collect(),
            coverage,
            rounds,
            workers,
            product_states,
            progress_events_min,
            loop_delays,
            infinite_macro_steps,
            samples,
        }
    }

    /// Makes the outcome of a search that ends with what it finds.
    pub(crate) fn conclude_found(ended: Run<V>, exactness: Exactness, statistics: Statistics) -> Self {
        let (ended, found) = match ended {
            ControlFlow::Break(Halt::Found(found)) => (ControlFlow::Break(Halt::Found(())), Some(found)),
            ControlFlow::Break(Halt::Stopped(reason)) => (ControlFlow::Break(Halt::Stopped(reason)), None),
            ControlFlow::Continue(()) => (ControlFlow::Continue(()), None),
        };
        Self::conclude(ended, found.into_iter().collect(), exactness, statistics)
    }

    /// Says what the outcome means if runs beyond a bound were left out, for the reason `left_out`.
    ///
    /// `nothing_left` says that no run waits for a larger bound, `cut` that some alternatives were never taken for want of
    /// choices.
    pub(crate) fn by_rounds(self, rounds: Vec<Round>, nothing_left: bool, cut: bool, left_out: StopReason) -> Self {
        let last = rounds.last().map(|round| round.bound);
        let coverage = match (self.completeness, last) {
            (Completeness::Exhaustive, _) if nothing_left && cut => Coverage::EveryDelay,
            (Completeness::Exhaustive, _) if nothing_left => Coverage::EverySchedule,
            (Completeness::Exhaustive, Some(bound)) => Coverage::Bound(bound),
            (Completeness::Stopped(StopReason::Depth), _) => Coverage::Ended(None),
            (_, last) => Coverage::Ended(last),
        };
        let completeness = match self.completeness {
            Completeness::Exhaustive if cut || !nothing_left => Completeness::Stopped(left_out),
            completeness => completeness,
        };
        Self { completeness, coverage, rounds, ..self }
    }
}

/// Why a search ends before all is looked at: it found what ends it, or it was stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Halt<V = ()> {
    Found(V),
    Stopped(StopReason),
}

/// Goes on, or ends.
pub(crate) type Run<V, T = ()> = ControlFlow<Halt<V>, T>;

impl<V> From<StopReason> for Halt<V> {
    fn from(reason: StopReason) -> Self {
        Self::Stopped(reason)
    }
}

/// The violations found so far.
#[derive(Debug)]
pub(crate) struct Violations<Label, Fault> {
    stop_at: StopAt,
    listed: Vec<Violation<Label, Fault>>,
    by_key: FxHashMap<u64, usize>,
}

impl<Label, Fault> Violations<Label, Fault> {
    pub(crate) fn new(stop_at: StopAt) -> Self {
        Self { stop_at, listed: Vec::new(), by_key: FxHashMap::default() }
    }

    /// Counts a violation, and keeps it with its path and the delays on it if it is the first of its key.
    #[cold]
    pub(crate) fn record(
        &mut self,
        key: u64,
        kind: ViolationKind<Fault>,
        path: impl FnOnce() -> (Vec<Label>, Vec<Delay>),
    ) -> ControlFlow<Halt> {
        let listed = &mut self.listed;
        let index = *self.by_key.entry(key).or_insert_with(|| {
            let (path, delays) = path();
            listed.push(Violation { kind, path, delays, count: 0 });
            listed.len() - 1
        });
        self.listed[index].count += 1;
        match self.stop_at {
            StopAt::First => ControlFlow::Break(Halt::Found(())),
            StopAt::Never => ControlFlow::Continue(()),
        }
    }

    /// What was found, and which key each has.
    pub(crate) fn into_listed(self) -> (Vec<Violation<Label, Fault>>, FxHashMap<u64, usize>) {
        (self.listed, self.by_key)
    }

    /// Makes the outcome of a search that ran to its end or was halted.
    pub(crate) fn conclude(
        self,
        ended: ControlFlow<Halt>,
        exactness: Exactness,
        statistics: Statistics,
    ) -> Outcome<Label, Fault> {
        Outcome::conclude(ended, self.listed, exactness, statistics)
    }
}
