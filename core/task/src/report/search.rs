//! The searches of a check, as plain data.

use serde::{Deserialize, Serialize};

/// One of several searches for what violates a property.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SearchReport {
    /// The word for it, as in [`PropertyReport::search`].
    pub strategy: String,
    /// States that it stored.
    pub states: u64,
    /// Transitions as Spin counts them.
    pub transitions: u64,
    /// How it ended.
    pub outcome: SearchEnd,
}

/// What one of several processes that search together did, as far as it told.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct WorkerReport {
    /// The machine that it is on, if it is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// States stored.
    pub states: u64,
    /// Transitions to states of its part.
    pub transitions: u64,
    /// Memory in use.
    pub memory_bytes: u64,
    /// Bytes sent to the other processes.
    pub sent_bytes: u64,
    /// Time for which it waited for the other processes.
    pub waited_seconds: f64,
}

/// How one of several searches ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SearchEnd {
    /// It proved that the property holds.
    Holds,
    /// It found a violation.
    Violated,
    /// It had done as much work as its turn allowed.
    Budget,
    /// Another search decided the property.
    Superseded,
    /// It ended without a verdict, or a limit ended it.
    Stopped,
}

impl SearchEnd {
    /// How it ended, in a few words.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Violated => "violated",
            Self::Budget => "its share of the work was done",
            Self::Superseded => "another search decided first",
            Self::Stopped => "undecided",
        }
    }
}

/// The search that ran for a property, with everything that was asked of it.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct StrategyReport {
    /// The same word as in `search`.
    pub algorithm: String,
    /// The order of states or runs: `depth-first`, `breadth-first`, `delays`, `depth` or `random`.
    pub order: String,
    /// Whether a shorter run is looked for once a violation is found.
    pub shortened: bool,
    /// Worker threads that it may use.
    pub threads: usize,
    /// Processes that search together, if others than the one that checks do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processes: Option<usize>,
    /// Which infinite runs count: `none` (all), `weak` or `strong`.
    pub fairness: String,
    /// What counts as progress, where that is asked: `states` or `transitions`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<String>,
    /// Whose delays are counted, in the words of the command line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<String>,
    /// How runs are drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampler: Option<String>,
    /// How many runs are drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs: Option<u64>,
    /// Which part of these runs, if not all: `I/N`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<String>,
    /// Where the random numbers start, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The bound on delays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delays_max: Option<u32>,
    /// The bound on branches other than the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choices_max: Option<u32>,
    /// The bound on the steps of runs, within which nothing is missed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth_bound: Option<u32>,
    /// How many steps each round adds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth_increment: Option<u32>,
    /// Runs are cut off after this many steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_depth: Option<u64>,
    /// The search did not go on from states in which this is true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prune: Option<String>,
    /// Whether it goes on after the first violation.
    pub keep_going: bool,
    /// Whether it is saved to, or resumed from, a checkpoint.
    pub checkpoint: bool,
    /// Whether a proof is audited in every state, if one is found; models that read hidden variables are never audited.
    pub full_audit: bool,
}
