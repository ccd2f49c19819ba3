//! What a person may choose about a check.

use crate::pool::Processes;
use fabius_base::Limits;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

/// A main search pauses when it has listed this many transitions, …
const FIRST_PAUSE: u64 = 150_000;
/// … and again each time when it has listed so many times as many.
const PAUSE_GROWTH: u64 = 4;

/// This many states are explored without a reduction, unless somebody chose otherwise.
pub const WHOLE_STATES_MAX: u64 = 200_000;
/// This many transitions are listed to make a violation clearer, unless somebody chose otherwise: with small states that is
/// about two seconds of one processor.
pub const CLARIFY_TRANSITIONS_MAX: u64 = 1_500_000;
/// A violation is made clearer with at most this many times the work of the search that found it, …
const CLARIFY_FACTOR: u64 = 15;
/// … and this many transitions more: no model is known on which more of them showed a shorter run after a short search.
const CLARIFY_BESIDE: u64 = 100_000;
/// The same for an infinite run, where several searches share them: for one with fewer steps, and for fair ones.
const CLARIFY_INFINITE_BESIDE: u64 = 300_000;

/// More steps in each round of a search in the order of depth, unless somebody chose otherwise.
pub const DEPTH_INCREMENT: u32 = 100;
/// After this many transitions, which take a fifth of a second or so, other threads join a search. A violation that it finds before
/// does not depend on their number.
pub const ALONE_TRANSITIONS: u64 = 1_000_000;
/// This many runs are drawn, unless somebody chose otherwise.
const RUNS_MAX: u64 = 1_000;

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
    /// Leave out the states in which this holds. Needs a model that is not optimised.
    pub prune: Option<String>,
    /// Only a model with more states than this is explored with the reduction, if that leaves out much: before, what is never
    /// executed is worth knowing. 0: with the reduction at once, however much it leaves out.
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
    /// once. A search that was soon over is worth less ([`Settings::clarify_transitions`]).
    pub clarify_transitions_max: u64,
    /// When a search that nobody chose pauses, so that others have a turn.
    pub pauses: Pauses,
    /// When to stop, by the clock of [`crate::CheckContext`]; the properties share the time until then.
    pub until: Option<Duration>,
}

impl Settings {
    /// How many transitions may be listed to make a violation of safety clearer that was found with this many.
    pub fn clarify_transitions(&self, found_with: u64) -> u64 {
        self.clarify_beside(found_with, CLARIFY_BESIDE)
    }

    /// How many transitions may be listed to make an infinite run clearer that was found with this many.
    pub fn clarify_infinite_transitions(&self, found_with: u64) -> u64 {
        self.clarify_beside(found_with, CLARIFY_INFINITE_BESIDE)
    }

    fn clarify_beside(&self, found_with: u64, beside: u64) -> u64 {
        self.clarify_transitions_max.min(found_with.saturating_mul(CLARIFY_FACTOR).saturating_add(beside))
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

/// How many threads may search.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ThreadCount {
    /// As many, from the beginning.
    Exactly(usize),
    /// One at first; once a search has listed [`ALONE_TRANSITIONS`], up to so many, if it can use them.
    UpTo(usize),
}

impl ThreadCount {
    /// Up to as many as the machine has cores.
    pub fn of_machine() -> Self {
        Self::UpTo(cores())
    }

    /// Up to half as many as the machine has cores: for who serves somebody that does something else meanwhile.
    pub fn of_half_the_machine() -> Self {
        Self::UpTo(cores().div_ceil(2))
    }

    /// At most this many.
    pub fn most(self) -> usize {
        match self {
            Self::Exactly(count) | Self::UpTo(count) => count,
        }
    }

    /// This many, if that was asked for.
    pub fn exactly(self) -> usize {
        match self {
            Self::Exactly(count) => count,
            Self::UpTo(_) => 1,
        }
    }

    /// At most this many, one of which searches alone at first; 1 if all begin together.
    pub fn joining(self) -> usize {
        match self {
            Self::Exactly(_) => 1,
            Self::UpTo(count) => count,
        }
    }
}

impl Default for ThreadCount {
    fn default() -> Self {
        Self::UpTo(1)
    }
}

/// How many threads run at once; 1 if the system does not say.
fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
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
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
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
}

/// Puts the bytes of a checkpoint somewhere safe.
pub type Save = dyn Fn(&[u8]) + Send + Sync;

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
        save && self.resume == other.resume
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
#[derive(Clone, PartialEq, Eq, Debug, Default)]
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
#[derive(Clone, PartialEq, Eq, Debug)]
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
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
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

/// When main searches pause.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pauses {
    /// After this many transitions for the first time.
    pub first: u64,
    /// How many times as many until the next time; at least 2.
    pub growth: u64,
}

impl Default for Pauses {
    fn default() -> Self {
        Self { first: FIRST_PAUSE, growth: PAUSE_GROWTH }
    }
}

impl Pauses {
    /// The work before a pause; they are numbered from 0.
    pub fn work(self, pause: u32) -> u64 {
        self.first.saturating_mul(self.growth.max(2).saturating_pow(pause))
    }
}
