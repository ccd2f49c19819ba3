//! Searches in the order of delays or of depth: schedulers, bounds, samples, and where such a search is kept.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

/// More steps in each round of a search in the order of depth, unless somebody chose otherwise.
pub const DEPTH_INCREMENT: u32 = 100;
/// This many runs are drawn, unless somebody chose otherwise.
const RUNS_MAX: u64 = 1_000;

/// A search in the order of depth.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct DepthBounding {
    /// More steps in each round.
    pub increment: u32,
    /// At most this many steps; an atomic sequence is one.
    pub cut_off: Option<u32>,
}

impl Default for DepthBounding {
    fn default() -> Self {
        Self { increment: DEPTH_INCREMENT, cut_off: None }
    }
}

/// A search in the order of delays.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Delaying {
    /// Who is disturbed.
    pub scheduler: SchedulerChoice,
    /// What is remembered, and so what may be concluded.
    pub mode: DelayMode,
    /// How runs are drawn, if somebody chose.
    pub sampler: Option<SampleKind>,
    /// How many runs are drawn, if somebody chose.
    pub runs: Option<u64>,
    /// Which of the runs that are drawn, if not all.
    pub shard: Shard,
    /// At most this many delays; without it, until nothing is left.
    pub delays_max: Option<u32>,
    /// At most this many choices inside processes: alternatives other than the first one listed. For searches for violations of
    /// safety; samples and searches for infinite runs do not support it.
    pub choices_max: Option<u32>,
    /// Of the random scheduler, and of samples; 0 if nobody chose.
    pub seed: Option<u64>,
    /// Whether the order only serves to find a violation soon: then the run shown is a shortest one, as without it, and not
    /// one with few delays.
    pub shows_shortest: bool,
}

/// One of several parts of the runs that are drawn: every `count`-th of them, from the `number`-th on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shard {
    /// Which part, from 1.
    pub number: u64,
    /// How many parts there are.
    pub count: u64,
}

impl Shard {
    /// All runs.
    pub const WHOLE: Self = Self { number: 1, count: 1 };
}

impl Default for Shard {
    fn default() -> Self {
        Self::WHOLE
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/').and_then(|(number, count)| Some((number.parse().ok()?, count.parse().ok()?)));
        match parts {
            Some((number, count)) if (1..=count).contains(&number) => Ok(Self { number, count }),
            _ => Err("a shard is written I/N, with I from 1 to N: `3/100` is the third of a hundred".to_owned()),
        }
    }
}

impl std::fmt::Display for Shard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.number, self.count)
    }
}

impl Delaying {
    /// How many runs are drawn, by all shards together.
    pub fn runs_max(&self) -> u64 {
        self.runs.unwrap_or(RUNS_MAX)
    }
}

/// Whoever keeps a search, so that another can go on where it ended.
#[derive(Clone, Default)]
pub struct CheckpointFiles {
    /// A checkpoint to go on from, and its name.
    pub resume: Option<(String, Arc<[u8]>)>,
    /// Is given a checkpoint now and then; the last one counts.
    pub save: Option<Arc<Save>>,
    /// The files that both are, if they are files: what is too large for a checkpoint lies beside it.
    pub paths: CheckpointPaths,
}

/// The files of checkpoints.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct CheckpointPaths {
    /// Of the one to go on from.
    pub resume: Option<PathBuf>,
    /// Of the one that is written.
    pub save: Option<PathBuf>,
}

/// Puts the bytes of a checkpoint somewhere safe; false if that failed.
pub type Save = dyn Fn(&[u8]) -> bool + Send + Sync;

impl CheckpointFiles {
    /// Whether there is anything to do.
    pub fn is_asked_for(&self) -> bool {
        self.resume.is_some() || self.save.is_some()
    }
}

impl PartialEq for CheckpointFiles {
    fn eq(&self, other: &Self) -> bool {
        let same = |one: &Arc<Save>, other: &Arc<Save>| Arc::ptr_eq(one, other);
        let save = match (&self.save, &other.save) {
            (Some(one), Some(other)) => same(one, other),
            (one, other) => one.is_none() && other.is_none(),
        };
        save && self.resume == other.resume && self.paths == other.paths
    }
}

impl Eq for CheckpointFiles {}

/// Where a search is kept does not change what it finds.
impl std::fmt::Debug for CheckpointFiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CheckpointFiles")
    }
}

/// Who decides which process moves next, unless disturbed.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug, Default)]
pub enum SchedulerChoice {
    /// The one that suits the model.
    #[default]
    Auto,
    /// What a step causes happens next.
    RunToCompletion,
    /// In the order of creation, until blocked.
    RoundRobin,
    /// In the order of creation, until blocked or once around a loop.
    Laps,
    /// Another order in each state.
    Random,
    /// Processes of these types first, in this order; then by the priorities of the model.
    Priority(Vec<String>),
    /// One that a project defines.
    Own(Arc<OwnScheduler>),
}

/// A scheduler that a project defines: one of the usual ones, with an order of its own among processes.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub struct OwnScheduler {
    /// Its name.
    pub name: String,
    /// Which of the usual ones.
    pub base: SchedulerBase,
    /// Types of processes, the most important first; those not named come after.
    pub order: Vec<String>,
    /// What is random, if anything; without it, as for others.
    pub seed: Option<u64>,
}

/// The usual schedulers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Debug)]
pub enum SchedulerBase {
    /// What a step causes happens next.
    RunToCompletion,
    /// One after the other, until blocked.
    RoundRobin,
    /// One after the other, until blocked or once around a loop.
    Laps,
    /// Another order in each state.
    Random,
    /// The most important process.
    Priority,
}

impl FromStr for SchedulerBase {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "rtc" => Ok(Self::RunToCompletion),
            "rr" => Ok(Self::RoundRobin),
            "laps" => Ok(Self::Laps),
            "random" => Ok(Self::Random),
            "priority" => Ok(Self::Priority),
            _ => Err(format!("a scheduler cannot be based on `{text}`: rtc, rr, laps, random and priority are known")),
        }
    }
}

impl SchedulerChoice {
    /// The scheduler that a word names: one that is always there, or one of these.
    ///
    /// # Errors
    /// What there is, and how to define one.
    pub fn named(word: &str, own: &[OwnScheduler]) -> Result<Self, String> {
        if let Ok(known) = word.parse() {
            return Ok(known);
        }
        if let Some(own) = own.iter().find(|own| own.name == word) {
            return Ok(Self::Own(Arc::new(own.clone())));
        }
        let theirs: Vec<String> = own.iter().map(|own| own.name.clone()).collect();
        let there = match theirs.as_slice() {
            [] => "fabius.toml defines none".to_owned(),
            _ => format!("fabius.toml defines {}", theirs.join(", ")),
        };
        Err(format!(
            "unknown scheduler `{word}` (known: auto, rtc, rr, laps, random, priority, priority:TYPE,TYPE; {there})\n\
             help: to define it, write in fabius.toml, in the folder of the model or above it:\n\
             \n    [schedulers.{}]\n    base = \"rtc\"                  # or rr, laps, random, priority\n    \
             order = [\"Server\", \"Client\"]  # types of processes, the most important first",
            if is_bare(word) { word } else { "mine" }
        ))
    }
}

/// Whether a name may stand in a file of settings as it is.
fn is_bare(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|sign| sign.is_ascii_alphanumeric() || "-_".contains(sign))
}

impl SchedulerChoice {
    /// The word for it on the command line.
    pub fn word(&self) -> String {
        match self {
            Self::Auto => "auto".to_owned(),
            Self::RunToCompletion => "rtc".to_owned(),
            Self::RoundRobin => "rr".to_owned(),
            Self::Laps => "laps".to_owned(),
            Self::Random => "random".to_owned(),
            Self::Priority(types) if types.is_empty() => "priority".to_owned(),
            Self::Priority(types) => format!("priority:{}", types.join(",")),
            Self::Own(own) => own.name.clone(),
        }
    }
}

impl FromStr for SchedulerChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            Some(("priority", names)) => Ok(Self::Priority(names.split(',').map(str::to_owned).collect())),
            _ => match text {
                "auto" => Ok(Self::Auto),
                "rtc" => Ok(Self::RunToCompletion),
                "rr" => Ok(Self::RoundRobin),
                "laps" => Ok(Self::Laps),
                "random" => Ok(Self::Random),
                "priority" => Ok(Self::Priority(Vec::new())),
                _ => Err("expected auto, rtc, rr, laps, random, priority or priority:TYPE,TYPE".to_owned()),
            },
        }
    }
}

/// What a search in the order of delays remembers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum DelayMode {
    /// States of the system: fast, and no proof before everything was seen.
    #[default]
    Fast,
    /// States of system and scheduler: a proof for each number of delays.
    Exact,
    /// Nothing: runs are drawn at random.
    Sample,
}

/// How runs are drawn.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum SampleKind {
    /// A scheduler, disturbed at random.
    #[default]
    Delays,
    /// Each process equally likely.
    Walk,
    /// Random priorities of processes that change a few times (PCT).
    Pct,
    /// Random priorities of steps (POS).
    Pos,
    /// In proportion to the steps left (SURW).
    Surw,
}

impl SampleKind {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Delays, Self::Walk, Self::Pct, Self::Pos, Self::Surw];

    /// What it does, for the help.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Delays => "A scheduler with random delays",
            Self::Walk => "Each process equally likely",
            Self::Pct => "Random priorities that change a few times",
            Self::Pos => "Random priorities of steps",
            Self::Surw => "In proportion to the steps left",
        }
    }

    /// The word for it in reports and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Delays => "delays",
            Self::Walk => "walk",
            Self::Pct => "pct",
            Self::Pos => "pos",
            Self::Surw => "surw",
        }
    }
}

impl DelayMode {
    /// The word for the search in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fast => "delays",
            Self::Exact => "delays-exact",
            Self::Sample => "delays-sample",
        }
    }
}
