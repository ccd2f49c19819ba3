//! What a person asked of a search, one option at a time. What nobody asked for is no option.

use crate::plan::Question;
use crate::pool::Processes;
use crate::settings::{
    Audit, CheckpointFiles, Cycles, DEPTH_INCREMENT, DelayMode, Delaying, DepthBounding, Fairness, Order, Progress,
    SampleKind, SchedulerBase, SchedulerChoice, Settings, Shard, Storage, ThreadCount,
};

/// Something that a search supports or not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Feature {
    /// An order of states.
    OrderOf(Order),
    /// A store.
    Store(Storage),
    /// More than one thread.
    Threads,
    /// More than one process.
    Processes,
    /// A way to find cycles.
    CyclesBy(Cycles),
    /// Infinite runs that are fair only.
    Fair(Fairness),
    /// What counts as progress.
    ProgressOn(Progress),
    /// The order of delays, of whichever scheduler.
    Delay,
    /// The order of delays of a certain scheduler.
    Scheduler,
    /// What is remembered in the order of delays.
    Mode(DelayMode),
    /// How runs are drawn.
    Sampler(SampleKind),
    /// How many runs are drawn.
    Runs,
    /// A part of the runs that are drawn.
    Shard,
    /// A bound on delays.
    MaxDelays,
    /// A bound on branches other than the first.
    Choices,
    /// The seed of drawn runs.
    Seed,
    /// The seed of a random scheduler.
    RandomSeed,
    /// The order of depth.
    Depth,
    /// A limit on depth.
    MaxDepth,
    /// All violations, not only the first.
    KeepGoing,
    /// The search is saved or resumed.
    Checkpoint,
    /// A proof is audited in every state.
    FullAudit,
    /// States in which a condition holds are left out.
    Prune,
}

impl Feature {
    /// Pairs that no search supports together: what is saved is a search that ends with its first violation, and what is audited is
    /// an exact visited set of one thread, of a proof of the whole model.
    pub const APART: [(Self, Self); 5] = [
        (Self::Checkpoint, Self::KeepGoing),
        (Self::FullAudit, Self::Prune),
        (Self::FullAudit, Self::Threads),
        (Self::FullAudit, Self::Store(Storage::Hash)),
        (Self::FullAudit, Self::Store(Storage::Bitstate)),
    ];

    /// Whether it could matter for a question at all; if not, nobody misses it there.
    pub fn concerns(self, question: Question) -> bool {
        match self {
            Self::CyclesBy(_) | Self::Fair(_) => question != Question::Safety,
            Self::ProgressOn(_) => question == Question::Progress,
            // These have findings of their own.
            Self::Choices => question == Question::Safety,
            Self::Checkpoint => false,
            _ => true,
        }
    }

    /// How it is written on the command line.
    pub fn flag(self) -> String {
        let word = match self {
            Self::OrderOf(Order::BreadthFirst) => "--search bfs",
            Self::OrderOf(Order::DepthFirst | Order::DepthFirstThenShorten) => "--search dfs",
            Self::Store(store) => return format!("--store {}", store.as_str()),
            Self::Threads => "--threads N",
            Self::Processes => "--processes N",
            Self::CyclesBy(cycles) => return format!("--cycles {}", cycles.as_str()),
            Self::Fair(fairness) => return format!("--fairness {}", fairness.as_str()),
            Self::ProgressOn(progress) => return format!("--progress {}", progress.as_str()),
            Self::Delay => "--delay auto",
            Self::Scheduler => "--delay SCHEDULER",
            Self::Mode(DelayMode::Fast) => "--delay-mode fast",
            Self::Mode(DelayMode::Exact) => "--delay-mode exact",
            Self::Mode(DelayMode::Sample) => "--delay-mode sample",
            Self::Sampler(kind) => return format!("--sampler {}", kind.as_str()),
            Self::Runs => "--runs N",
            Self::Shard => "--shard I/N",
            Self::MaxDelays => "--max-delays N",
            Self::Choices => "--choice-bound N",
            Self::Seed | Self::RandomSeed => "--seed N",
            Self::Depth => "--depth-bound STEPS",
            Self::MaxDepth => "--max-depth STEPS",
            Self::KeepGoing => "--keep-going",
            Self::Checkpoint => "--checkpoint FILE",
            Self::FullAudit => "--audit full",
            Self::Prune => "--prune CONDITION",
        };
        word.to_owned()
    }
}

/// An option, and how it is written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RequestedOption {
    /// What is asked for.
    pub feature: Feature,
    /// The flag.
    pub flag: String,
}

impl Settings {
    /// What is asked of the search, in the order of the documentation, without what is part of the question.
    pub fn options(&self) -> Vec<RequestedOption> {
        let mut options = Vec::new();
        let mut add = |feature, flag: String| options.push(RequestedOption { feature, flag });
        if self.cycles != Cycles::Suitable {
            add(Feature::CyclesBy(self.cycles), format!("--cycles {}", self.cycles.as_str()));
        }
        if 1 < self.threads.exactly() {
            add(Feature::Threads, format!("--threads {}", self.threads.exactly()));
        }
        match self.processes.elsewhere {
            Some(_) => add(Feature::Processes, "--hosts FILE".to_owned()),
            None if 1 < self.processes.count => {
                add(Feature::Processes, format!("--processes {}", self.processes.count))
            }
            None => {}
        }
        match self.search {
            Order::DepthFirstThenShorten => {}
            Order::DepthFirst => add(Feature::OrderOf(self.search), "--search dfs".to_owned()),
            Order::BreadthFirst => add(Feature::OrderOf(self.search), "--search bfs".to_owned()),
        }
        if let Some(store) = self.store {
            add(Feature::Store(store), format!("--store {}", store.as_str()));
        }
        self.wishes_about_delays(&mut add);
        if let Some(depth) = self.depth_bounding {
            let flag = match depth.cut_off {
                Some(steps) => format!("--depth-bound {steps}"),
                None => format!("--depth-increment {}", depth.increment),
            };
            add(Feature::Depth, flag);
        }
        if let Some(steps) = self.limits.depth_max {
            add(Feature::MaxDepth, format!("--max-depth {steps}"));
        }
        if self.keep_going {
            add(Feature::KeepGoing, "--keep-going".to_owned());
        }
        if self.checkpoint_files.is_asked_for() {
            let resumed = if self.checkpoint_files.save.is_none() { "--resume" } else { "--checkpoint" };
            add(Feature::Checkpoint, format!("{resumed} FILE"));
        }
        if self.audit == Audit::Full {
            add(Feature::FullAudit, "--audit full".to_owned());
        }
        if let Some(condition) = &self.prune {
            add(Feature::Prune, format!("--prune '{condition}'"));
        }
        options
    }

    fn wishes_about_delays(&self, add: &mut impl FnMut(Feature, String)) {
        let Some(delaying) = &self.delaying else { return };
        let scheduler = &delaying.scheduler;
        let delay = if *scheduler == SchedulerChoice::Auto { Feature::Delay } else { Feature::Scheduler };
        add(delay, format!("--delay {}", scheduler.word()));
        match delaying.mode {
            DelayMode::Fast => {}
            DelayMode::Exact => add(Feature::Mode(delaying.mode), "--delay-mode exact".to_owned()),
            DelayMode::Sample => add(Feature::Mode(delaying.mode), "--delay-mode sample".to_owned()),
        }
        if let Some(kind) = delaying.sampler {
            add(Feature::Sampler(kind), format!("--sampler {}", kind.as_str()));
        }
        if let Some(runs) = delaying.runs {
            add(Feature::Runs, format!("--runs {runs}"));
        }
        if delaying.shard != Shard::WHOLE {
            add(Feature::Shard, format!("--shard {}", delaying.shard));
        }
        if let Some(delays) = delaying.delays_max {
            add(Feature::MaxDelays, format!("--max-delays {delays}"));
        }
        if let Some(choices) = delaying.choices_max {
            add(Feature::Choices, format!("--choice-bound {choices}"));
        }
        if let Some(seed) = delaying.seed {
            add(if scheduler.needs_seed() { Feature::RandomSeed } else { Feature::Seed }, format!("--seed {seed}"));
        }
    }

    /// The same question, with nothing asked of the search.
    pub fn question_only(&self) -> Self {
        let limits = fabius_base::Limits { depth_max: None, ..self.limits };
        let audit = if self.audit == Audit::Full { Audit::default() } else { self.audit };
        Self {
            audit,
            search: Order::default(),
            store: None,
            keep_going: false,
            prune: None,
            cycles: Cycles::default(),
            delaying: None,
            depth_bounding: None,
            checkpoint_files: CheckpointFiles::default(),
            threads: ThreadCount::default(),
            processes: Processes::default(),
            limits,
            ..self.clone()
        }
    }

    /// The same with one option more; `None` if it is there, or makes no sense alone.
    pub fn with(mut self, feature: Feature) -> Option<Self> {
        match (feature, &mut self.delaying) {
            (Feature::Delay, delaying @ None) => *delaying = Some(Delaying::default()),
            (Feature::Mode(mode), Some(delaying)) if delaying.mode == DelayMode::Fast => delaying.mode = mode,
            (Feature::Depth, _) if self.depth_bounding.is_none() => {
                self.depth_bounding =
                    Some(DepthBounding { cut_off: Some(DEPTH_INCREMENT), ..DepthBounding::default() });
            }
            _ => return None,
        }
        Some(self)
    }

    /// The same without one option.
    pub fn without(mut self, feature: Feature) -> Self {
        let delaying = self.delaying.as_mut();
        match feature {
            Feature::OrderOf(_) => self.search = Order::default(),
            Feature::Store(_) => self.store = None,
            Feature::Threads => self.threads = ThreadCount::default(),
            Feature::Processes => self.processes = Processes::default(),
            Feature::CyclesBy(_) => self.cycles = Cycles::default(),
            Feature::Fair(_) => self.fairness = Fairness::default(),
            Feature::ProgressOn(_) => self.progress = Progress::default(),
            Feature::Delay | Feature::Scheduler => self.delaying = None,
            Feature::Depth => self.depth_bounding = None,
            Feature::MaxDepth => self.limits.depth_max = None,
            Feature::KeepGoing => self.keep_going = false,
            Feature::Checkpoint => self.checkpoint_files = CheckpointFiles::default(),
            Feature::FullAudit => self.audit = Audit::default(),
            Feature::Prune => self.prune = None,
            Feature::Mode(_) => delaying.into_iter().for_each(|delaying| delaying.mode = DelayMode::default()),
            Feature::Sampler(_) => delaying.into_iter().for_each(|delaying| delaying.sampler = None),
            Feature::Runs => delaying.into_iter().for_each(|delaying| delaying.runs = None),
            Feature::Shard => delaying.into_iter().for_each(|delaying| delaying.shard = Shard::WHOLE),
            Feature::MaxDelays => delaying.into_iter().for_each(|delaying| delaying.delays_max = None),
            Feature::Choices => delaying.into_iter().for_each(|delaying| delaying.choices_max = None),
            Feature::Seed | Feature::RandomSeed => delaying.into_iter().for_each(|delaying| delaying.seed = None),
        }
        self
    }
}

impl SchedulerChoice {
    /// Whether a seed decides what it does.
    pub fn needs_seed(&self) -> bool {
        match self {
            Self::Random => true,
            Self::Own(own) => own.base == SchedulerBase::Random && own.seed.is_none(),
            Self::Auto | Self::RunToCompletion | Self::RoundRobin | Self::Laps | Self::Priority(_) => false,
        }
    }
}
