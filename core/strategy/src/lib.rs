//! Which search answers a question: the options of a person against the searches that exist.
//!
//! [`Settings`] say what is asked for, and [`SEARCHES`] what there is. For each property, the first search is taken that answers it
//! and supports all options ([`choose`]). An option that no search for one property supports is set aside there, and the report says
//! which search ran; an option that is set aside for all properties, or that contradicts another one, is refused ([`refusal`]).
//!
//! Nothing in here searches.

mod refusal;
mod registry;

pub use fabius_task::option::{Feature, RequestedOption};
pub use fabius_task::query::CycleSearch;
pub use refusal::{contradiction, refusal};
pub use registry::{Row, SEARCHES};

use fabius_program::Program;
use fabius_task::load::Loaded;
use fabius_task::plan::{Planned, Question, plan};
use fabius_task::report::StrategyReport;
use fabius_task::scheduler::scheduler_of;
use fabius_task::settings::{
    Audit, Delaying, DepthBounding, Fairness, Order, Progress, SampleKind, Settings, Shard, Storage, ThreadCount,
};

/// The searches, each with what it depends on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Strategy {
    /// For violations of safety: every reachable state.
    Exhaustive {
        /// In which order, and whether a run that is found is shortened.
        order: Order,
        /// How states are remembered.
        store: Storage,
        /// Worker threads.
        threads: ThreadCount,
    },
    /// For violations of safety: every reachable state, depth-first and without a reduction by one thread; saved or resumed.
    Resumable {
        /// Whether a run that is found is shortened.
        order: Order,
    },
    /// For violations of safety: every reachable state, nearest first, by several processes.
    Partitioned {
        /// How many.
        processes: usize,
    },
    /// For violations of safety, by increasing number of delays, by several processes.
    PartitionedDelays {
        /// Whose delays, and how many.
        delaying: Delaying,
        /// How many.
        processes: usize,
    },
    /// For violations of safety, by increasing number of delays.
    Delays {
        /// Whose delays, and how many.
        delaying: Delaying,
        /// How states are remembered.
        store: Storage,
    },
    /// For violations of safety: runs at random.
    Samples {
        /// Of which scheduler, and how many.
        delaying: Delaying,
        /// How they are drawn.
        kind: SampleKind,
    },
    /// For violations of safety, by increasing depth.
    Depth(DepthBounding),
    /// For infinite runs: every reachable state.
    Cycles {
        /// How cycles are found.
        search: CycleSearch,
        /// Which infinite runs count.
        fairness: Fairness,
        /// Worker threads.
        threads: ThreadCount,
    },
    /// For infinite runs: every reachable state, by several processes.
    PartitionedCycles {
        /// How many.
        processes: usize,
    },
    /// For infinite runs, by increasing number of delays.
    DelayedCycles {
        /// Whose delays, and how many.
        delaying: Delaying,
        /// How cycles are found.
        search: DelayedCycleSearch,
        /// Worker threads.
        threads: usize,
    },
    /// For infinite runs, by increasing depth.
    DeepCycles(DepthBounding),
}

/// The searches for cycles by increasing number of delays.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DelayedCycleSearch {
    /// Maximal accepting predecessors.
    Map,
    /// Nested depth-first search, anew with each bound.
    NestedDfs,
    /// Strongly connected components.
    Components,
}

/// What a property asks, with everything that changes its answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Asked<'a> {
    name: &'a str,
    question: Question,
    fairness: Fairness,
    progress: Progress,
}

impl<'a> Asked<'a> {
    /// What a property asks, if these settings are asked for.
    pub fn of(planned: &'a Planned, settings: &Settings) -> Self {
        Self::new(&planned.name, planned.question, settings)
    }

    fn new(name: &'a str, question: Question, settings: &Settings) -> Self {
        let (fairness, progress) = (settings.fairness, settings.progress);
        match question {
            Question::Safety => Self { name, question, fairness: Fairness::None, progress: Progress::default() },
            Question::Progress => Self { name, question, fairness, progress },
            Question::Acceptance | Question::Claim => Self { name, question, fairness, progress: Progress::default() },
        }
    }

    /// Whether a search answers it.
    fn is_answered_by(&self, row: &Row) -> bool {
        row.questions.contains(&self.question)
            && (self.fairness == Fairness::None || row.supports(Feature::Fair(self.fairness)))
            && (self.question != Question::Progress || row.supports(Feature::ProgressOn(self.progress)))
    }

    /// The searches that answer it.
    fn rows(&self) -> impl DoubleEndedIterator<Item = &'static Row> {
        SEARCHES.iter().filter(|row| self.is_answered_by(row))
    }

    /// The options that some search for an answer supports, and those that none does.
    fn sort(&self, options: Vec<RequestedOption>) -> (Vec<RequestedOption>, Vec<RequestedOption>) {
        options.into_iter().partition(|option| self.rows().any(|row| row.supports(option.feature)))
    }
}

impl Row {
    /// Whether it supports all of these options.
    fn supports_all(&self, options: &[RequestedOption]) -> bool {
        let is_there = |feature| options.iter().any(|option| option.feature == feature);
        let are_apart = Feature::APART.into_iter().any(|(one, other)| is_there(one) && is_there(other));
        options.iter().all(|option| self.supports(option.feature)) && !are_apart
    }

    /// Groups of options without which it is not taken, and of which none was given.
    fn missing(&self, options: &[RequestedOption]) -> impl Iterator<Item = &'static [Feature]> {
        let is_uttered = move |group: &&[Feature]| options.iter().any(|option| group.contains(&option.feature));
        self.asked_by.iter().copied().filter(move |group| !is_uttered(group))
    }
}

/// The search for what violates a property.
#[derive(Clone)]
pub struct Choice {
    /// The search, with everything that it depends on.
    pub strategy: Strategy,
    /// The settings without the options that were set aside.
    pub settings: Settings,
    /// What no search for an answer supports.
    pub set_aside: Vec<RequestedOption>,
    row: &'static Row,
}

/// Chooses the search for what violates a property; `None` if the options contradict each other.
///
/// A checkpoint holds one search: where none that answers this property can be saved as is asked for, one is taken that is not saved. Whether
/// that of another property is, [`refusal`] makes sure.
pub fn choose(asked: &Asked<'_>, settings: &Settings) -> Option<Choice> {
    let is_saved = |option: &RequestedOption| option.feature == Feature::Checkpoint;
    choose_among(asked, settings, settings.options()).or_else(|| {
        let (saved, options): (Vec<_>, Vec<_>) = settings.options().into_iter().partition(is_saved);
        let choice = choose_among(asked, settings, options).filter(|_| !saved.is_empty())?;
        let settings = choice.settings.without(Feature::Checkpoint);
        Some(Choice { settings, set_aside: [choice.set_aside, saved].concat(), ..choice })
    })
}

/// As [`choose`], where these options were given.
fn choose_among(asked: &Asked<'_>, settings: &Settings, options: Vec<RequestedOption>) -> Option<Choice> {
    let (options, set_aside) = asked.sort(options);
    let row = asked.rows().find(|row| row.supports_all(&options) && row.missing(&options).next().is_none())?;
    let settings = set_aside.iter().fold(settings.clone(), |settings, option| settings.without(option.feature));
    let settings = Settings { fairness: asked.fairness, progress: asked.progress, ..settings };
    Some(Choice { strategy: (row.build)(&settings), settings, set_aside, row })
}

/// The settings for a check of some properties of a model, without what was asked with others in mind: options that suit none of
/// those that are checked.
pub fn suited(loaded: &Loaded, settings: &Settings) -> Settings {
    let plan = loaded.checkable().and_then(|program| plan(program, &settings.properties).ok());
    let Some(plan) = plan.filter(|plan| !plan.properties.is_empty()) else { return settings.clone() };
    refusal::unfit_options(&plan, settings)
        .iter()
        .fold(settings.clone(), |settings, option| settings.without(option.feature))
}

impl Choice {
    /// The word for the search in reports.
    pub fn name(&self) -> &'static str {
        self.row.name
    }

    /// Whether a checkpoint can hold it.
    pub fn is_kept(&self) -> bool {
        let is_set_aside = self.set_aside.iter().any(|option| option.feature == Feature::Checkpoint);
        self.row.supports(Feature::Checkpoint) && !is_set_aside
    }

    /// Whether it does not go on from states at some depth, if that is asked for.
    pub fn heeds_depth(&self) -> bool {
        self.row.supports(Feature::MaxDepth)
    }

    /// What a report says of the search.
    pub fn report(&self, program: &Program, question: Question) -> StrategyReport {
        let settings = &self.settings;
        let supports = |feature| self.row.supports(feature);
        let report = StrategyReport {
            algorithm: self.row.name.to_owned(),
            order: self.row.order.to_owned(),
            fairness: settings.fairness.as_str().to_owned(),
            progress: (question == Question::Progress).then(|| settings.progress.as_str().to_owned()),
            threads: 1,
            shortened: settings.search == Order::DepthFirstThenShorten,
            max_depth: settings.limits.depth_max.filter(|_| supports(Feature::MaxDepth)),
            prune: settings.prune.clone().filter(|_| supports(Feature::Prune)),
            keep_going: settings.keep_going && supports(Feature::KeepGoing),
            checkpoint: settings.checkpoint_files.is_asked_for() && supports(Feature::Checkpoint),
            full_audit: settings.audit == Audit::Full && supports(Feature::FullAudit),
            ..StrategyReport::default()
        };
        match &self.strategy {
            Strategy::Exhaustive { order, threads, .. } => {
                let shortened = *order == Order::DepthFirstThenShorten && !report.keep_going;
                StrategyReport { threads: threads.exactly(), shortened, ..report }
            }
            Strategy::Resumable { .. } => report,
            Strategy::Partitioned { processes } | Strategy::PartitionedCycles { processes } => {
                StrategyReport { processes: Some(*processes), ..report }
            }
            Strategy::PartitionedDelays { delaying, processes } => {
                StrategyReport { processes: Some(*processes), ..by_delays(delaying, program, report) }
            }
            Strategy::Delays { delaying, .. } => {
                let report = by_delays(delaying, program, report);
                StrategyReport { shortened: delaying.shows_shortest, ..report }
            }
            Strategy::Samples { delaying, kind } => {
                let report = by_delays(delaying, program, report);
                StrategyReport {
                    shortened: delaying.shows_shortest,
                    scheduler: report.scheduler.filter(|_| supports(Feature::Scheduler)),
                    sampler: Some(kind.as_str().to_owned()),
                    runs: Some(delaying.runs_max()),
                    shard: Some(delaying.shard).filter(|shard| *shard != Shard::WHOLE).map(|shard| shard.to_string()),
                    seed: Some(delaying.seed.unwrap_or_default()),
                    ..report
                }
            }
            Strategy::DelayedCycles { delaying, threads, .. } => {
                StrategyReport { threads: *threads, ..by_delays(delaying, program, report) }
            }
            Strategy::Cycles { threads, .. } => StrategyReport { threads: threads.exactly(), ..report },
            Strategy::Depth(depth) | Strategy::DeepCycles(depth) => {
                StrategyReport { depth_bound: depth.cut_off, depth_increment: Some(depth.increment), ..report }
            }
        }
    }
}

fn by_delays(delaying: &Delaying, program: &Program, report: StrategyReport) -> StrategyReport {
    let scheduler = scheduler_of(program, &delaying.scheduler);
    let seed = scheduler.needs_seed().then(|| delaying.seed.unwrap_or_default());
    let (delays_max, choices_max) = (delaying.delays_max, delaying.choices_max);
    StrategyReport { scheduler: Some(scheduler.word()), delays_max, choices_max, seed, ..report }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_wishes_every_question_is_answered() {
        for question in [Question::Safety, Question::Progress, Question::Acceptance, Question::Claim] {
            for fairness in [Fairness::None, Fairness::Weak, Fairness::Strong] {
                for progress in [Progress::States, Progress::Transitions] {
                    let settings = Settings { fairness, progress, ..Settings::default() };
                    let choice = choose(&Asked::new("p", question, &settings), &settings);
                    assert!(choice.is_some_and(|choice| choice.set_aside.is_empty()), "{question:?} {fairness:?}");
                }
            }
        }
    }
}
