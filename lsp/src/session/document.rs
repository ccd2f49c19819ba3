//! A text that somebody works on: what was chosen for it, what is known about it, and the check that is for it now.

use super::Notice;
use super::edits::Edit;
use super::fix_validations::FixValidations;
use super::jobs::{Budget, RunId, Searched, Tier};
use super::queue::Turn;
use super::reading::Reading;
use super::results::Results;
use super::runs::Asked;
use fabius_engine::settings::{OwnScheduler, SchedulerChoice};
use fabius_engine::{Event, Fairness, Goal, SAFETY, Settings, Verdict, boundary, check_visit_first};
use fabius_project::config::{self, Config};
use fabius_project::defines::definition;
use ropey::Rope;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

/// When checks start by themselves.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum When {
    /// When a model is opened or saved.
    #[default]
    Save,
    /// After every edit that changes what the model means.
    Change,
    /// Only when somebody asks.
    Never,
}

/// What a person may choose about a session.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// When checks start by themselves.
    pub when: When,
    /// What a check may use.
    pub budget: Budget,
    /// Macros that exist before the first line.
    pub defines: Vec<(String, String)>,
    /// Only these properties are checked; empty for all.
    pub properties: Vec<String>,
    /// After a check, the reachable states are looked at for hints.
    pub hints: bool,
    /// After a violation of safety, a schedule that avoids it is looked for.
    pub schedule: bool,
    /// Whose schedules the short look disturbs.
    pub scheduler: SchedulerChoice,
    /// Which infinite runs count as violations.
    pub fairness: Fairness,
    /// Schedulers that the project defines.
    pub own_schedulers: Vec<OwnScheduler>,
    /// By property, the verdict that is expected where the model itself says nothing.
    pub expect: BTreeMap<String, Verdict>,
    /// Models of which the project expects verdicts though they do not exist, a sentence each.
    pub missing_models: Vec<String>,
    /// What of all that was chosen cannot be used, and why.
    pub wrong: Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        let budget = Budget::default();
        Self {
            when: When::default(),
            budget,
            defines: Vec::new(),
            properties: Vec::new(),
            hints: true,
            schedule: true,
            scheduler: SchedulerChoice::default(),
            fairness: Fairness::default(),
            own_schedulers: Vec::new(),
            expect: BTreeMap::new(),
            missing_models: Vec::new(),
            wrong: None,
        }
    }
}

impl Options {
    /// These options, with what a project says over them. `model` is the model's name.
    pub fn under(self, config: &Config, model: &str) -> Self {
        let mut options = self;
        options.when = match config.check.when.as_deref() {
            Some("change") => When::Change,
            Some("never") => When::Never,
            Some("save") => When::Save,
            _ => options.when,
        };
        let budget = &mut options.budget;
        budget.quick = config.check.quick_milliseconds.map_or(budget.quick, Duration::from_millis);
        let deep = config.check.deep_seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        budget.deep = deep.unwrap_or(budget.deep);
        budget.memory_bytes =
            config.check.memory_mebibytes.map_or(budget.memory_bytes, |mib| mib.saturating_mul(1 << 20));
        options.hints = config.check.hints.unwrap_or(options.hints);
        options.fairness = config.check.fairness.map_or(options.fairness, Fairness::from);
        options.own_schedulers = config.own_schedulers().unwrap_or_default();
        let word = config.check.scheduler.as_deref();
        let scheduler = word.and_then(|word| SchedulerChoice::named(word, &options.own_schedulers).ok());
        options.scheduler = scheduler.unwrap_or(options.scheduler);
        if let Some(defines) = &config.defines {
            options.defines = defines.iter().map(|text| definition(text)).collect();
        }
        if let Some(properties) = &config.properties {
            options.properties.clone_from(properties);
        }
        options.expect = config.expected(model);
        options.missing_models = config.missing_models().into_iter().map(|(_, why)| why).collect();
        options
    }
}

/// A text that somebody works on.
#[derive(Debug)]
pub struct Document {
    /// The text.
    pub text: Rope,
    /// What was chosen for it.
    pub options: Options,
    /// The version that the editor gave it.
    pub version: i32,
    /// What is known about it.
    pub results: Results,
    /// The check that is for it now.
    pub run: Option<Running>,
    /// What checks found out about edits that somebody may want to make.
    pub fix_validations: FixValidations,
    /// What somebody asked about it beside checks.
    pub asked: Asked,
    /// The step of a counterexample that the editor shows, as it said last.
    pub shown: Option<ShownStep>,
    /// What is wrong with the file in which a project chooses.
    pub wrong_config: Option<String>,
    /// By property, the fairness that somebody asked for instead of the chosen one.
    pub(super) asked_fairness: BTreeMap<String, Fairness>,
    /// Checks do not go on from states in which this is true.
    pub leave_out: Option<String>,
    /// Checks cut off runs after this many steps.
    pub max_depth: Option<u64>,
    /// Searches visit states in which this is true before others.
    pub visit_first: Option<String>,
    /// The number of the text to which its file changed on the disk, until the document has that text.
    pub(super) on_disk: Option<u64>,
    pub(super) reading: Option<Arc<Reading>>,
    /// Edits since the last reading.
    pub(super) unread: Vec<Edit>,
    /// The text is so long that it is read on a thread of its own.
    pub(super) is_long: bool,
    /// The present text is being read by this run.
    pub(super) being_read: Option<RunId>,
    /// Once the text is read, it is checked so deep.
    pub(super) check_when_read: Option<Tier>,
}

/// A step of a counterexample.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ShownStep {
    /// The property.
    pub property: String,
    /// Which of its counterexamples.
    pub counterexample: usize,
    /// The step; 0 is the state before all of them.
    pub step: usize,
}

/// A check that goes on.
#[derive(Clone, Debug)]
pub struct Running {
    /// Its number.
    pub run: RunId,
    /// How deep it goes.
    pub tier: Tier,
    /// With this many delays nothing was found, if that was looked for.
    pub bound: Option<u32>,
    /// The model that is checked.
    pub reading: Arc<Reading>,
    /// The property that is looked at now.
    pub property: String,
    /// How far it is.
    pub progress: Option<fabius_engine::Progress>,
    /// What is searched for.
    pub(super) goal: Goal,
    /// The model as it is searched.
    pub(super) searched: Arc<Searched>,
    /// The properties that come after this one, in their order.
    pub next: VecDeque<Turn>,
}

impl Document {
    /// What was read of the text, if that was done since the last edit.
    pub fn present(&self) -> Option<&Arc<Reading>> {
        self.reading.as_ref()
    }

    /// What is wrong with what the project says about this model: with the file, or with a property that it names.
    pub fn misconfigured(&self) -> Option<String> {
        let unknown = || config::unknown_property(self.options.expect.keys(), &self.reading.as_ref()?.loaded);
        self.wrong_config.clone().or_else(|| Some(format!("{}: {}", config::NAME, unknown()?.1)))
    }

    /// What is wrong with the condition of the states from which checks are not to go on: after an edit it may say nothing about the model.
    pub fn wrong_condition(&self) -> Option<String> {
        boundary(&self.reading.as_ref()?.loaded, self.leave_out.as_ref()?).err()
    }

    /// Which states searches prefer, unless that says nothing about the model since its text was edited.
    pub fn heeded_order(&self) -> Option<&String> {
        let loaded = &self.reading.as_ref()?.loaded;
        let is_heeded = |condition: &&String| check_visit_first(loaded, &Settings::default(), condition).is_ok();
        self.visit_first.as_ref().filter(is_heeded)
    }

    /// The verdict that is expected of a property: by the model, else by the project.
    pub fn expected(&self, property: &str) -> Option<Verdict> {
        let written = self.reading.as_ref().and_then(|reading| reading.loaded.expected(property));
        written.or_else(|| self.options.expect.get(property).copied())
    }

    /// Which infinite runs count for a property: as somebody asked for it, else as it is chosen.
    pub fn fairness(&self, property: &str) -> Fairness {
        fairness_of(&self.asked_fairness, &self.options, property)
    }

    /// What was read is not what the text, or what it includes, says now.
    pub(super) fn forget_reading(&mut self) {
        (self.reading, self.being_read) = (None, None);
    }

    /// Results follow the text.
    pub(super) fn follow(&mut self, reading: &Arc<Reading>, edits: &[Edit]) {
        self.results.follow(reading, edits);
        self.asked.follow(reading, edits);
    }
}

/// Which infinite runs count for a property; for safety, which finite runs decide, that is no question.
pub(super) fn fairness_of(asked: &BTreeMap<String, Fairness>, options: &Options, property: &str) -> Fairness {
    match property {
        SAFETY => Fairness::None,
        _ => asked.get(property).copied().unwrap_or(options.fairness),
    }
}

impl Running {
    /// Takes in what the engine tells.
    pub(super) fn handle(&mut self, name: &str, event: Event) -> Option<Notice> {
        match event {
            Event::Searching { property, goal } => {
                (self.property, self.goal) = (property, goal);
                Some(Notice::Progress(name.to_owned()))
            }
            Event::Progress { progress, .. } => {
                self.progress = Some(progress);
                Some(Notice::Progress(name.to_owned()))
            }
            // What is known about the property is more now. The rounds of a search for a shorter run teach nothing.
            Event::Round { bound, .. } if self.goal == Goal::Violation => {
                self.bound = self.bound.max(Some(bound));
                Some(Notice::Hints(name.to_owned()))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_put_over_the_defaults() {
        let text = "defines = [\"N=3\"]\n[check]\nwhen = \"change\"\ndeep-seconds = 5\nfairness = \"weak\"\nscheduler = \"rr\"\n[expect.\"a.pml\"]\nsafety = \"violated\"\n";
        let config: Config = config::read(text).unwrap();
        let options = Options::default().under(&config, "/x/a.pml");
        assert_eq!((options.when, options.budget.deep), (When::Change, Duration::from_secs(5)));
        assert_eq!(options.defines, [("N".to_owned(), "3".to_owned())]);
        assert_eq!((options.scheduler, options.fairness), (SchedulerChoice::RoundRobin, Fairness::Weak));
        assert_eq!(options.expect["safety"], Verdict::Violated);
        assert!(Options::default().under(&config, "/x/b.pml").expect.is_empty());
    }

    #[test]
    fn a_scheduler_of_ones_own_may_be_chosen() {
        let text = "[schedulers.lazy]\nbase = \"rr\"\norder = [\"B\", \"A\"]\n[check]\nscheduler = \"lazy\"\n";
        let config = config::read(text).unwrap();
        let options = Options::default().under(&config, "/x/a.pml");
        let SchedulerChoice::Own(own) = options.scheduler else { panic!("{:?}", options.scheduler) };
        assert_eq!((own.name.as_str(), own.order.as_slice()), ("lazy", ["B".to_owned(), "A".to_owned()].as_slice()));
    }
}
