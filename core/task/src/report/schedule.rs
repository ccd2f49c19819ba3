//! Under which schedule a model is safe, as plain data; `docs/schema/schedule.schema.json` describes it.

use super::Verdict;
use serde::{Deserialize, Serialize};

/// Whether a scheduler can avoid the errors of a model.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScheduleVerdict {
    /// It can: an error is known, and there is a schedule under which the model is safe.
    Avoidable,
    /// It cannot: whatever it does, choices inside processes can force an error or a deadlock.
    Unavoidable,
    /// There is such a schedule, while no error is known and not everything was explored.
    SafeIfScheduled,
    /// There is nothing to avoid: no schedule leads to an error.
    Holds,
    /// Not known.
    Unknown,
}

impl ScheduleVerdict {
    /// The answer in a word or two.
    pub fn words(self) -> &'static str {
        match self {
            Self::Avoidable => "avoidable",
            Self::Unavoidable => "unavoidable",
            Self::SafeIfScheduled => "safe if scheduled",
            Self::Holds => "holds",
            Self::Unknown => "not known to be avoidable",
        }
    }
}

/// Under which schedule a model is safe.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ScheduleReport {
    /// The answer.
    pub verdict: ScheduleVerdict,
    /// The answer in a sentence.
    pub reason: String,
    /// Who has to wait where, if a few waits suffice.
    pub waits: Vec<WaitReport>,
    /// What does the same in the program behind the model.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<String>,
    /// Whether it is known that fewer waits of this kind do not suffice.
    pub fewest: bool,
    /// The types of processes, the most important first, if a process moves only where none of a more important type can.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub priorities: Vec<String>,
    /// How much of the model the schedule keeps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<KeptReport>,
    /// Places that safe runs reach, and that are not reached under the schedule.
    pub gives_up: Vec<PlaceReport>,
    /// Processes that can go on in the model and cannot under the schedule.
    pub shuts_out: Vec<String>,
    /// Where a schedule that looks at the whole state holds processes back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held_back: Vec<HeldBackReport>,
    /// What a search of the model under the schedule found, before it was shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checked: Option<CheckedReport>,
    /// Other schedules with as many waits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alternatives: Vec<AlternativeReport>,
    /// For each process that a scheduler could let move first, how the others force an error.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forced: Vec<ForcedReport>,
    /// Whether there is a fair schedule, where that was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fair: Option<FairReport>,
    /// A schedule that stays among safe states, as sections, where they were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sections: Vec<SectionReport>,
    /// Shared variables that the sections do without, since nothing but waiting needs them: locks, say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without: Vec<String>,
    /// What the answer rests on.
    pub explored: ExploredReport,
}

/// Whether a schedule is safe and fair.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FairVerdict {
    /// There is one, and it was checked.
    Fair,
    /// There is none.
    None,
    /// Not known.
    Unknown,
}

/// A schedule under which each process moves again and again.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FairReport {
    /// The answer.
    pub verdict: FairVerdict,
    /// The answer in a sentence.
    pub reason: String,
    /// Processes that move again and again under it, as long as they can ever move again.
    pub strongly: Vec<String>,
    /// Processes that move again and again under it, unless they are blocked again and again.
    pub weakly: Vec<String>,
    /// Whether a progress label is reached again and again under it, too.
    pub progress: bool,
    /// Processes that every safe schedule can have to hold back for ever, although they could move all the time.
    pub held_back: Vec<String>,
    /// What searches of the model under the schedule found: states of model and scheduler.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checked: Option<CheckedReport>,
}

/// A stretch of the runs under a schedule, from one open choice to the next.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SectionReport {
    /// Its number, from 1; every run begins with the first.
    pub number: usize,
    /// How often its steps are there, one lap after the other: more than once only if it follows itself.
    pub laps: u64,
    /// Its steps, in the order of one run.
    pub events: Vec<SectionEventReport>,
    /// Steps that are left out because they would do nothing without the variables of [`ScheduleReport::without`].
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out: u64,
    /// How many orders between steps of different processes have to be kept.
    pub orders: u64,
    /// The number of steps that have to come one after the other.
    pub longest_chain: u64,
    /// The sections that can follow; none if runs end with it.
    pub then: Vec<usize>,
}

/// A step of a section: what a process does until another one may move.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SectionEventReport {
    /// Who moves.
    pub process: String,
    /// The receiver of a rendezvous.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partner: Option<String>,
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// What it does.
    pub statement: String,
    /// The steps of other processes that have to come before, by number in the section, from 1; those that follow from others
    /// are left out.
    pub after: Vec<usize>,
}

/// A process does not move from a place while another one is in a stretch.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct WaitReport {
    /// As a sentence.
    pub text: String,
    /// The type of the process that waits, or the process.
    pub who: String,
    /// Where it waits.
    #[serde(rename = "where")]
    pub place: PlaceReport,
    /// While what is the case.
    #[serde(rename = "while")]
    pub while_: WhileReport,
}

/// What somebody waits for to be over.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum WhileReport {
    /// Another process is in a stretch of its text.
    Stretch(StretchReport),
    /// A shared variable has one of certain values, or a channel holds so many messages.
    Value(ValueReport),
}

/// Values of a shared variable, or numbers of messages in a channel.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ValueReport {
    /// The variable, an element of an array, or `len(q)`.
    pub cell: String,
    /// That it has one of these values, as an expression.
    pub condition: String,
    /// The least and the greatest of these values that it has in any state that was explored.
    pub values: [i32; 2],
}

/// A place in the text of a process.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PlaceReport {
    /// The type of the process, or the process.
    pub process: String,
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// What the process does next there.
    pub statement: String,
}

/// A place where a schedule holds processes back.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct HeldBackReport {
    /// The place.
    #[serde(rename = "where")]
    pub place: PlaceReport,
    /// States under the schedule in which a process there could move.
    pub states: u64,
    /// Those of them in which it may not, or not in every way.
    pub held: u64,
}

/// Neighbouring places in the text of a process.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct StretchReport {
    /// The type of the process, or the process.
    pub who: String,
    /// Whether it is of the same type as the one that waits: then another one is meant.
    pub another: bool,
    /// The file.
    pub file: String,
    /// The first and the last line.
    pub lines: [u32; 2],
    /// What the process does next at the first place.
    pub first: String,
    /// What it does next at the last place.
    pub last: String,
}

/// How much of a model a schedule keeps.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct KeptReport {
    /// States that are reached under the schedule.
    pub states: u64,
    /// States of the model; absent if not all were explored.
    pub of: Option<u64>,
}

/// What a search of the model under a schedule found.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CheckedReport {
    /// `holds`.
    pub verdict: Verdict,
    /// States that it stored; all there are.
    pub states: u64,
}

/// Another schedule.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct AlternativeReport {
    /// Who has to wait where.
    pub waits: Vec<WaitReport>,
    /// How much of the model it keeps.
    pub kept: KeptReport,
    /// Places that it gives up.
    pub gives_up: Vec<PlaceReport>,
}

/// How an error is forced once a scheduler has let certain processes move.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ForcedReport {
    /// Who moves: a process, or two for a rendezvous.
    pub who: Vec<String>,
    /// The file in which the first of them is.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// What it does, of all that it can do.
    pub statement: String,
    /// What goes wrong with that, if it does at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What a scheduler could do then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub then: Vec<ForcedReport>,
}

/// What an answer rests on.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ExploredReport {
    /// States met.
    pub states: u64,
    /// Those of them from which a scheduler can avoid every error, as far as is known.
    pub safe: u64,
    /// Whether these are all states of the model.
    pub exhaustive: bool,
    /// In the order of delays from this scheduler.
    pub scheduler: String,
    /// All states that need at most so many delays were explored.
    pub delays: Option<u32>,
    /// Sets of waits that were tried.
    pub tried: u64,
}

impl ScheduleReport {
    /// Nothing is known, and why.
    pub fn unknown(reason: String) -> Self {
        Self {
            verdict: ScheduleVerdict::Unknown,
            reason,
            waits: Vec::new(),
            hints: Vec::new(),
            fewest: false,
            priorities: Vec::new(),
            kept: None,
            gives_up: Vec::new(),
            shuts_out: Vec::new(),
            held_back: Vec::new(),
            checked: None,
            alternatives: Vec::new(),
            forced: Vec::new(),
            fair: None,
            sections: Vec::new(),
            without: Vec::new(),
            explored: ExploredReport::default(),
        }
    }
}

/// Whether there is nothing to say.
fn is_zero(number: &u64) -> bool {
    *number == 0
}
