//! What a person may choose about a check.

mod ordered;
mod threads;

pub use ordered::{
    CheckpointFiles, CheckpointPaths, DEPTH_INCREMENT, DelayMode, Delaying, DepthBounding, OwnScheduler, SampleKind,
    Save, SchedulerBase, SchedulerChoice, Shard,
};
pub use threads::{ALONE_BEFORE_ANEW_TRANSITIONS, ALONE_TRANSITIONS, ThreadCount};

use crate::pool::Processes;
use fabius_base::Limits;
use serde::Serialize;
use std::time::Duration;

/// A main search pauses when it has listed this many transitions, which takes about a millisecond, …
const FIRST_PAUSE: u64 = 2_300;
/// … and again each time when it has listed so many times as many; …
const PAUSE_GROWTH: u64 = 4;
/// … in this many of the pauses, as in the last of them at about 147 000 transitions, it has done little.
const EARLY_PAUSES: u32 = 4;

/// A first look has this much work: hardly more than a search begins with.
const FIRST_LOOK: u64 = 1_000;
/// A turn with less work than this is left out: a search tells how far it is only after about a thousand steps.
const SHORTEST_TURN: u64 = 900;
/// A search whose turn is as long as this keeps what it knows until its next one: the thread that it needs for that costs about as much
/// as a thousand transitions.
const KEPT_FROM: u64 = 5_000;

/// This many states are explored without a reduction, unless somebody chose otherwise.
pub const WHOLE_STATES_MAX: u64 = 10_000;
/// This many transitions are listed to make a violation clearer, unless somebody chose otherwise: with small states that is
/// about two seconds of one processor.
pub const CLARIFY_TRANSITIONS_MAX: u64 = 1_500_000;
/// A shortest run is looked for among all with at most this many times the work of the search that found one, and near that one
/// with as much once more; …
const CLARIFY_FACTOR: u64 = 8;
/// … and with this many transitions more, near the run half as many: no model is known on which more of them showed a shorter run
/// after a short search.
const CLARIFY_BESIDE: u64 = 100_000;
/// The same for an infinite run, where several searches share them: for one with fewer steps, and for fair ones. One model is known on
/// which more of the former shortened a run a little, from 2 620 steps to 2 376.
const CLARIFY_INFINITE_FACTOR: u64 = 2;
/// See [`CLARIFY_INFINITE_FACTOR`].
const CLARIFY_INFINITE_BESIDE: u64 = 300_000;
/// What is worth so much for a search of everything is worth one part of that near a run.
const CLARIFY_NEAR_SHARE: u64 = 2;

/// For each step of a run that is found, this many transitions may be listed near it: fewer do not suffice to walk a very long one and
/// to look around.
const CLARIFY_PER_STEP: u64 = 4;

/// How many transitions may be listed to make a violation clearer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Clarity {
    /// Among all states.
    pub everywhere: u64,
    /// Then, if that was not enough, near the run that was found.
    pub near: u64,
}

/// Everything a person may choose; [`Settings::default`] is what they get without flags.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// In which order states are looked at.
    pub search: Order,
    /// How the states seen are remembered; `None` if nobody chose.
    pub store: Option<Storage>,
    /// Explore everything and count, instead of stopping at the first violation.
    pub keep_going: bool,
    /// Reset dead variables and merge statements before the search.
    pub optimize: bool,
    /// Leave out values between which no comparison of the model tells a difference, where a process chooses one.
    pub cut_ranges: bool,
    /// Leave out orders of independent steps that show nothing new.
    pub reduction: bool,
    /// Do not go on from states in which this is true. Needs a model that is not optimised.
    pub prune: Option<String>,
    /// Only a model with more states than this is explored with the reduction, if that leaves out much: a smaller one takes no time
    /// as it is, and what runs do in it is counted in full. 0: with the reduction at once, however much it leaves out.
    pub whole_states_max: u64,
    /// Names or kinds of properties; empty for all that the model has.
    pub properties: Vec<String>,
    /// How many of the states on which a proof rests are gone through again by the reference interpreter.
    pub audit: Audit,
    /// Look for places where a process can wait for ever while others go on.
    pub hints: bool,
    /// After a violation of safety, say under which scheduling the model is safe.
    pub schedule: bool,
    /// How much is done to find out which parts of a proved formula the model never needs.
    pub vacuity: VacuityExtent,
    /// Macros whose values are given from outside and count whatever the text defines.
    pub fixed_macros: Vec<String>,
    /// Formulas of linear temporal logic to check beside those of the model.
    pub formulas: Vec<String>,
    /// Which infinite runs count as violations.
    pub fairness: Fairness,
    /// How infinite runs are looked for.
    pub cycles: Cycles,
    /// What counts as progress.
    pub progress: Progress,
    /// Search in the order of delays, if at all.
    pub delaying: Option<Delaying>,
    /// Search in the order of depth, if at all.
    pub depth_bounding: Option<DepthBounding>,
    /// Where a search in the order of delays or of depth is kept, and where it goes on.
    pub checkpoint_files: CheckpointFiles,
    /// How many threads may search.
    pub threads: ThreadCount,
    /// This many processes may search, and who starts them.
    pub processes: Processes,
    /// How much a search may use.
    pub limits: Limits,
    /// How many transitions may be listed at most to find a shorter run to a violation; those of large states count more than
    /// once. A search that was soon over is worth less ([`Settings::clarity`]).
    pub clarify_transitions_max: u64,
    /// When a search that nobody chose pauses, so that others have a turn.
    pub pauses: Pauses,
    /// When to stop, by the clock of [`crate::CheckContext`]; the properties share the time until then.
    pub until: Option<Duration>,
}

impl Settings {
    /// How much may be done to make a violation of safety clearer that was found with this many transitions.
    pub fn clarity(&self, found_with: u64) -> Clarity {
        let (work, max) = (found_with.saturating_mul(CLARIFY_FACTOR), self.clarify_transitions_max);
        let near = work.saturating_add(CLARIFY_BESIDE / CLARIFY_NEAR_SHARE);
        let everywhere = work.saturating_add(CLARIFY_BESIDE);
        Clarity { everywhere: everywhere.min(max), near: near.min(max / CLARIFY_NEAR_SHARE) }
    }

    /// The same for an infinite run.
    pub fn clarity_of_infinite(&self, found_with: u64) -> Clarity {
        let work = found_with.saturating_mul(CLARIFY_INFINITE_FACTOR).saturating_add(CLARIFY_INFINITE_BESIDE);
        let everywhere = work.min(self.clarify_transitions_max);
        Clarity { everywhere, near: everywhere / CLARIFY_NEAR_SHARE }
    }

    /// How many transitions may be listed near a run with this many steps to make it shorter, where this many are set aside for that: in
    /// proportion to its length if that is more, unless fewer than by default may be listed at all.
    pub fn clarify_near(&self, transitions: u64, steps: usize) -> u64 {
        if self.clarify_transitions_max < CLARIFY_TRANSITIONS_MAX {
            return transitions;
        }
        transitions.max(CLARIFY_PER_STEP.saturating_mul(steps as u64))
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            search: Order::default(),
            store: None,
            keep_going: false,
            optimize: true,
            cut_ranges: false,
            reduction: true,
            prune: None,
            whole_states_max: WHOLE_STATES_MAX,
            properties: Vec::new(),
            audit: Audit::default(),
            hints: false,
            schedule: false,
            vacuity: VacuityExtent::default(),
            fixed_macros: Vec::new(),
            formulas: Vec::new(),
            fairness: Fairness::default(),
            cycles: Cycles::default(),
            progress: Progress::default(),
            delaying: None,
            depth_bounding: None,
            checkpoint_files: CheckpointFiles::default(),
            threads: ThreadCount::default(),
            processes: Processes::default(),
            limits: Limits::default(),
            clarify_transitions_max: CLARIFY_TRANSITIONS_MAX,
            pauses: Pauses::default(),
            until: None,
        }
    }
}

/// How many of the states on which a proof rests are audited.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Audit {
    /// None.
    Off,
    /// Some, drawn at random: as many as take little time beside the search.
    #[default]
    Sample,
    /// All.
    Full,
}

/// How much is done to find out which parts of a proved formula the model never needs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum VacuityExtent {
    /// Nothing.
    Off,
    /// As much as takes little time.
    #[default]
    Quick,
    /// All that the limits of the check allow.
    Full,
}

/// In which order states are looked at.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Order {
    /// Depth-first; if that finds a violation, a short look for a shorter run to it.
    #[default]
    DepthFirstThenShorten,
    /// Depth-first, and the first counterexample as it is.
    DepthFirst,
    /// Breadth-first: the counterexample is a shortest one.
    BreadthFirst,
}

/// How the states seen are remembered.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Storage {
    /// Exactly, compressed.
    #[default]
    Tree,
    /// By 64 bits of each state; two states may be taken for one, which is very unlikely.
    Hash,
    /// By a few bits of each state in one large table; states may be missed.
    Bitstate,
}

impl Storage {
    /// The word for it in reports and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tree => "tree",
            Self::Hash => "hash",
            Self::Bitstate => "bitstate",
        }
    }

    /// Whether no state is ever missed.
    pub fn is_exact(self) -> bool {
        self == Self::Tree
    }
}

/// Which infinite runs count as violations.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum Fairness {
    /// All.
    #[default]
    None,
    /// Those in which a process that can always move from some time on moves again and again.
    Weak,
    /// Those in which a process that can move again and again moves again and again.
    Strong,
}

impl Fairness {
    /// The word for it in reports and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Weak => "weak",
            Self::Strong => "strong",
        }
    }
}

/// How infinite runs are looked for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Cycles {
    /// The search that suits the question: DFS-FIFO for livelocks, nested depth-first search for acceptance
    /// cycles, strongly connected components where fairness is asked for.
    #[default]
    Suitable,
    /// DFS-FIFO, for livelocks only.
    DfsFifo,
    /// Nested depth-first search; for livelocks, beside a claim that waits for one.
    NestedDfs,
    /// Strongly connected components.
    Components,
    /// In the order of delays: maximal accepting predecessors.
    Map,
    /// In the order of delays: nested depth-first search, anew with each bound.
    IterativeNestedDfs,
}

impl Cycles {
    /// The word for it on the command line; of what suits the question, there is none.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Suitable => "",
            Self::DfsFifo => "dfs-fifo",
            Self::NestedDfs => "ndfs",
            Self::Components => "scc",
            Self::Map => "map",
            Self::IterativeNestedDfs => "iterative-ndfs",
        }
    }
}

/// What counts as progress.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Progress {
    /// Every state in which some process stands at a progress label, as under Spin.
    #[default]
    States,
    /// Every step from a progress label.
    Transitions,
}

impl Progress {
    /// The word for it in reports and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::States => "states",
            Self::Transitions => "transitions",
        }
    }
}

/// When main searches pause.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pauses {
    /// After this many transitions for the first time.
    pub first: u64,
    /// How many times as many until the next time; at least 2.
    pub growth: u64,
    /// In this many pauses the main search has done so little that others may do much beside it.
    pub early: u32,
    /// In the first pause, the searches for other properties have a first look with at least this much work; none if it is 0.
    pub first_look: u64,
    /// A turn with less work than this is left out.
    pub shortest_turn: u64,
    /// A search whose turn is as long as this keeps what it knows until its next turn.
    pub kept_from: u64,
}

impl Default for Pauses {
    fn default() -> Self {
        Self {
            first: FIRST_PAUSE,
            growth: PAUSE_GROWTH,
            early: EARLY_PAUSES,
            first_look: FIRST_LOOK,
            shortest_turn: SHORTEST_TURN,
            kept_from: KEPT_FROM,
        }
    }
}

impl Pauses {
    /// None at all.
    pub const NEVER: Self =
        Self { first: u64::MAX, growth: PAUSE_GROWTH, early: 1, first_look: 0, shortest_turn: 0, kept_from: 0 };

    /// The work before a pause; they are numbered from 0.
    pub fn work(self, pause: u32) -> u64 {
        self.first.saturating_mul(self.growth.max(2).saturating_pow(pause))
    }
}
