//! What is asked about the schedules of a model, and how much may be done to answer it.

use super::By;
use fabius_base::Cancel;
use fabius_task::settings::SchedulerChoice;

/// After a check, this many states are explored, …
const STATES_MAX: u64 = 200_000;
/// … this part of the transitions are listed that the check listed, …
const TRANSITIONS_SHARE: u64 = 2;
/// … at least this many …
const TRANSITIONS_MIN: u64 = 100_000;
/// … and at most this many, …
const TRANSITIONS_MAX: u64 = 400_000;
/// … and this many once it is known that there is a schedule, or as many as the check allows, …
const TRANSITIONS_ENOUGH: u64 = 200_000;
/// … but at least this many. With four times as many, 3 of 111 models of the corpus with an error were told a schedule that is easier to
/// follow, and small ones took up to four times as long.
const TRANSITIONS_ENOUGH_MIN: u64 = 50_000;
/// For each of them this many states are looked at to find waits, which takes a part of the time that they took, …
const WORK_PER_TRANSITION: u64 = 2;
/// … at least this many …
const WORK_MIN: u64 = 200_000;
/// … and at most this many.
const WORK_MAX: u64 = 1_000_000;
/// This many sets of waits are tried.
const CHECKS_MAX: u64 = 20_000;
/// This many waits are tried.
const WAITS_MAX: usize = 2;

/// Where somebody waits for the answer, this many waits are tried unless they say otherwise, …
pub const WAITS: u8 = 3;
/// … this many sets of waits, …
const LONG_CHECKS_MAX: u64 = 10_000_000;
/// … and this many states are looked at to find waits: some half a minute.
const LONG_WORK_MAX: u64 = 900_000_000;
/// Tenths of the time allowed that the exploration may take.
pub const EXPLORATION_TENTHS: u32 = 5;
/// Tenths of the time allowed that the exploration and the search for waits may take together.
pub const WAITS_TENTHS: u32 = 8;

/// What a schedule is for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Aim {
    /// No error and no dead end.
    #[default]
    Safe,
    /// And each process moves again and again.
    Fair,
    /// And there is progress again and again, too.
    Progress,
}

/// What is asked, and how much may be done.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScheduleRequest {
    /// The model is explored by increasing number of delays from this scheduler.
    pub scheduler: SchedulerChoice,
    /// At most this many waits.
    pub waits_max: usize,
    /// What the schedule is for.
    pub aim: Aim,
    /// Only these waits; else those by type first, then those of single processes.
    pub by: Option<By>,
    /// Whether waits may speak of the values of shared variables and channels in any case, not only where those for places alone do not do as well.
    pub values: bool,
    /// States met.
    pub states_max: u64,
    /// Transitions listed.
    pub transitions_max: u64,
    /// Transitions listed if it is known by then that there is a schedule: those after that only lead to one that is easier to tell.
    pub transitions_enough: u64,
    /// Memory, in bytes.
    pub memory_bytes_max: Option<u64>,
    /// Whether waits that are found are written into the text, too.
    pub export: bool,
    /// Whether the schedule is wanted in a form that a walk can follow, too.
    pub walk: bool,
    /// Whether a schedule is told as sections, too.
    pub sections: bool,
    /// A section that follows itself is told this many times in a row.
    pub unroll: usize,
    /// Sections do without the shared variables that nothing but waiting needs.
    pub without_locks: bool,
    /// Sets of waits tried, for each vocabulary.
    pub checks_max: u64,
    /// States looked at to find waits, in all vocabularies together, and to check more of them than the best.
    pub work_max: u64,
    /// The same, for each transition listed by the exploration, if that is less.
    pub work_per_transition: u64,
}

impl Default for ScheduleRequest {
    fn default() -> Self {
        Self {
            scheduler: SchedulerChoice::Auto,
            waits_max: WAITS_MAX,
            aim: Aim::Safe,
            by: None,
            values: false,
            states_max: STATES_MAX,
            transitions_max: TRANSITIONS_MAX,
            transitions_enough: TRANSITIONS_ENOUGH,
            memory_bytes_max: None,
            export: false,
            walk: false,
            sections: false,
            unroll: 1,
            without_locks: false,
            checks_max: CHECKS_MAX,
            work_max: WORK_MAX,
            work_per_transition: WORK_PER_TRANSITION,
        }
    }
}

impl ScheduleRequest {
    /// After a check that listed this many transitions.
    pub fn after_check(transitions: u64) -> Self {
        let share = transitions / TRANSITIONS_SHARE;
        Self {
            transitions_max: share.clamp(TRANSITIONS_MIN, TRANSITIONS_MAX),
            transitions_enough: share.clamp(TRANSITIONS_ENOUGH_MIN, TRANSITIONS_ENOUGH),
            ..Self::default()
        }
    }

    /// For somebody who asks for a schedule and waits for it: time and memory are the only limits of the exploration.
    pub fn unhurried() -> Self {
        Self {
            waits_max: usize::from(WAITS),
            states_max: u64::from(u32::MAX),
            transitions_max: u64::MAX,
            transitions_enough: u64::MAX,
            checks_max: LONG_CHECKS_MAX,
            work_max: LONG_WORK_MAX,
            work_per_transition: u64::MAX,
            ..Self::default()
        }
    }

    /// The same question with as little work as after a check; `None` if no more is asked for anyway.
    pub(super) fn brief(&self) -> Option<Self> {
        let least = Self::default();
        (least.transitions_max < self.transitions_max).then(|| Self {
            waits_max: self.waits_max.min(least.waits_max),
            states_max: self.states_max.min(least.states_max),
            transitions_max: least.transitions_max,
            transitions_enough: self.transitions_enough.min(least.transitions_enough),
            checks_max: self.checks_max.min(least.checks_max),
            work_max: self.work_max.min(least.work_max),
            work_per_transition: self.work_per_transition.min(least.work_per_transition),
            ..self.clone()
        })
    }

    /// States that may be looked at to find waits after an exploration that listed this many transitions.
    pub(super) fn work_after(&self, transitions: u64) -> u64 {
        transitions.saturating_mul(self.work_per_transition).max(WORK_MIN).min(self.work_max)
    }
}

/// Whoever raises one of these ends a part of the work; what was found until then counts.
#[derive(Clone, Debug)]
pub struct Stops {
    /// The exploration.
    pub exploration: Cancel,
    /// The search for waits.
    pub waits: Cancel,
    /// Everything.
    pub all: Cancel,
}

impl Stops {
    /// One flag for everything.
    pub fn all(cancel: &Cancel) -> Self {
        Self { exploration: cancel.clone(), waits: cancel.clone(), all: cancel.clone() }
    }
}
