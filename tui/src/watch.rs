//! What is known of the searches that run, and of those that ran.

use fabius_engine::report::PropertyReport;
use fabius_engine::report::schedule::ScheduleVerdict;
use fabius_engine::report::{Stopped, WorkerReport};
use fabius_engine::settings::Settings;
use fabius_engine::{Event, Goal, Look, Progress, Verdict};
use std::collections::{BTreeMap, VecDeque};

/// This many samples of the rate are kept.
const SAMPLES_MAX: usize = 120;
/// This many different reasons for which cycles were rejected are kept.
const REASONS_MAX: usize = 6;

/// A property of the model, and what is known of it: for all runs from the initial state, with nobody held.
#[derive(Clone, PartialEq, Debug)]
pub struct Indicator {
    /// Its name.
    pub name: String,
    /// Only a check sets it: a confirmed violation at once, else its report. What a search from a state finds is no verdict.
    verdict: Option<Verdict>,
    /// A confirmed violation, until the report of the check is there.
    violation: Option<String>,
    /// Why the search for what violates it stopped early, if it did.
    stopped: Option<Stopped>,
    /// What the verdict rests on, or what is done.
    pub reason: String,
}

impl Indicator {
    fn new(name: &str, reason: &str) -> Self {
        Self { name: name.to_owned(), verdict: None, violation: None, stopped: None, reason: reason.to_owned() }
    }

    /// What a check found out; `None` while the property is searched or waits.
    pub fn verdict(&self) -> Option<Verdict> {
        self.verdict
    }

    fn judge(&mut self, report: &PropertyReport) {
        (self.verdict, self.stopped) = (Some(report.verdict), report.stopped);
        self.violation = None;
        let schedule = report.schedule.as_ref().map(|schedule| schedule.verdict.words());
        let cached = report.cached.as_ref().map(|time| format!("cached result from {time} UTC"));
        let known = [Some(report.reason.clone()), schedule.map(str::to_owned), cached];
        self.reason = known.into_iter().flatten().collect::<Vec<_>>().join("; ");
    }
}

/// A moment of a search.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Sample {
    /// Time since the search started.
    pub seconds: f64,
    /// States stored.
    pub states: u64,
    /// Transitions taken.
    pub transitions: u64,
    /// Memory used.
    pub bytes: u64,
}

/// A round of a search in the order of delays or of depth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Round {
    /// What was allowed.
    pub bound: u32,
    /// States stored by then.
    pub states: u64,
    /// States that waited then.
    pub frontier: u64,
}

/// What is known of searches.
#[derive(Clone, Default, Debug)]
pub struct Watch {
    /// A search runs.
    pub running: bool,
    /// One has ended, and what it found was taken in.
    pub over: bool,
    /// It is halted.
    pub paused: bool,
    /// The property that is searched (or was the last one).
    pub property: String,
    /// What it is searched for.
    pub goal: Option<Goal>,
    /// How far it is.
    pub progress: Progress,
    /// How far each of the processes is that search together.
    pub workers: Vec<WorkerReport>,
    /// How it was before, the oldest first.
    pub samples: VecDeque<Sample>,
    /// The rounds that are finished.
    pub rounds: Vec<Round>,
    /// What it is at.
    pub look: Option<Look>,
    /// The next path that is shown is to be kept.
    pub keeps_next: bool,
    /// How often each line was in a path that was shown, by file.
    pub heat: BTreeMap<String, BTreeMap<u32, u64>>,
    /// Why cycles were rejected, the last reason first, with how often it was seen.
    pub reasons: Vec<(String, u64)>,
    /// The properties, in their order.
    pub indicators: Vec<Indicator>,
    /// What the last search of each property that explored everything needed. From a search that runs, nothing can be told about how
    /// large it will be: the share of steps that lead to new states hardly changes to its end.
    pub before: BTreeMap<String, Progress>,
    /// The memory that a search may use.
    pub memory_max: Option<u64>,
    /// The bound on depth when the check began.
    pub depth_max: Option<u64>,
    /// The check resumes from a checkpoint: that it cannot says nothing of a property.
    pub resumes: bool,
    /// A checkpoint was taken since it began.
    pub has_checkpoint: bool,
    /// All was known from the cache: no search ran.
    pub is_cached: bool,
    /// The search that runs, or ran last, is one from a state: from which, and who is held. It says nothing of the
    /// properties of the model.
    pub local: Option<String>,
}

impl Watch {
    /// A check is about to start.
    pub fn begin(&mut self, settings: &Settings, properties: &[String]) {
        *self = Self {
            running: true,
            indicators: properties.iter().map(|name| Indicator::new(name, "waits")).collect(),
            memory_max: settings.limits.memory_bytes_max,
            depth_max: settings.limits.depth_max,
            before: std::mem::take(&mut self.before),
            ..Self::default()
        };
    }

    /// A check of one of these properties is about to resume from a checkpoint; what is known of the others stays.
    pub fn begin_resumed(&mut self, settings: &Settings, properties: &[String], resumed: &str) {
        let known = std::mem::take(&mut self.indicators);
        self.begin(settings, properties);
        self.resumes = true;
        for indicator in self.indicators.iter_mut().filter(|indicator| indicator.name != resumed) {
            let before = known.iter().find(|before| before.name == indicator.name && before.verdict.is_some());
            *indicator = before.cloned().unwrap_or_else(|| Indicator::new(&indicator.name, "not checked; S checks it"));
        }
    }

    /// The model is another one, perhaps with properties of the same names.
    pub fn forget(&mut self) {
        *self = Self { before: std::mem::take(&mut self.before), ..Self::default() };
    }

    /// What the property that is searched needed the last time that everything was explored.
    pub fn last_time(&self) -> Option<Progress> {
        let is_asked =
            self.goal == Some(Goal::Violation) && self.indicators.iter().any(|indicator| self.is_at(indicator));
        self.before.get(&self.property).copied().filter(|_| is_asked)
    }

    /// A search from a state is about to start; what is known of the model stays. A check that runs is stopped by it.
    pub fn begin_local(&mut self, settings: &Settings, from: String) {
        let mut indicators = std::mem::take(&mut self.indicators);
        for indicator in indicators.iter_mut().filter(|indicator| indicator.verdict.is_none()) {
            "not checked to the end".clone_into(&mut indicator.reason);
        }
        for indicator in &mut indicators {
            // Nothing more is found out about it.
            if let Some(violation) = indicator.violation.take() {
                indicator.reason = violation;
            }
        }
        let (memory_max, before) = (settings.limits.memory_bytes_max, std::mem::take(&mut self.before));
        *self = Self { running: true, indicators, before, memory_max, local: Some(from), ..Self::default() };
    }

    /// What ran is over.
    pub fn end(&mut self) {
        self.running = false;
        self.over = true;
        self.paused = false;
        self.keeps_next = false;
    }

    /// Whether the search for what violates some property left states out that were too deep.
    pub fn has_met_depth(&self) -> bool {
        self.indicators.iter().any(|indicator| indicator.stopped == Some(Stopped::Depth))
    }

    /// Takes over the verdict of a check of the model.
    pub fn judge(&mut self, report: &PropertyReport) {
        let is_refused = self.resumes && report.verdict == Verdict::Faulty;
        let indicator = self.indicator(&report.name);
        indicator.judge(report);
        if is_refused {
            indicator.verdict = None;
        }
    }

    /// Whether a check is at a property now.
    pub fn is_at(&self, indicator: &Indicator) -> bool {
        self.running && self.local.is_none() && self.property == indicator.name && indicator.verdict.is_none()
    }

    /// Something happened.
    pub fn told(&mut self, event: Event) {
        match event {
            Event::Searching { property, goal } => {
                let searched = match goal {
                    Goal::Violation => "is being searched",
                    Goal::ShorterRun => "violated; looks for a shorter run",
                    Goal::FairRun => "violated; asks whether fair runs do the same",
                    Goal::DeadCode => "holds; looks for statements that no run executes",
                };
                if self.local.is_none() {
                    self.indicator(&property).reason = searched.to_owned();
                }
                *self = Self {
                    property,
                    goal: Some(goal),
                    progress: Progress::default(),
                    workers: Vec::new(),
                    samples: VecDeque::new(),
                    rounds: Vec::new(),
                    look: None,
                    reasons: Vec::new(),
                    ..std::mem::take(self)
                };
            }
            Event::Progress { progress, workers, .. } => {
                self.workers = workers;
                self.progressed(progress);
            }
            Event::Round { bound, states, frontier, .. } => self.round(Round { bound, states, frontier }),
            Event::Schedule { property, verdict, .. } => {
                let known = if verdict == ScheduleVerdict::Unknown { "" } else { ": there is one" };
                let indicator = self.indicator(&property);
                let violation = indicator.violation.as_ref().map_or(String::new(), |what| format!("{what}; "));
                indicator.reason = format!("{violation}looking for a schedule that avoids every error{known}");
            }
            Event::Look { look, .. } => self.looked(look),
            Event::Rejected { cycle, .. } => self.rejected(cycle.reason),
            Event::PropertyDone { property } => {
                let needed = Progress {
                    states: property.states,
                    transitions: property.transitions,
                    depth: property.depth,
                    memory_bytes: property.memory_bytes,
                    seconds: property.seconds,
                };
                if property.name == self.property {
                    self.progress = needed;
                }
                if property.exhaustive && self.local.is_none() {
                    self.before.insert(property.name.clone(), needed);
                }
                self.judge(&property);
            }
            Event::Done { .. } => self.running = false,
            Event::Violation { property, violation, .. } if self.local.is_none() => {
                let indicator = self.indicator(&property);
                indicator.verdict = Some(Verdict::Violated);
                // The first one stands for all.
                let what = indicator.violation.get_or_insert(violation.message);
                indicator.reason.clone_from(what);
            }
            Event::Started { .. } | Event::Finding { .. } | Event::Violation { .. } | Event::LeftOut { .. } => {}
        }
    }

    fn indicator(&mut self, name: &str) -> &mut Indicator {
        let index =
            self.indicators.iter().position(|indicator| indicator.name == name).unwrap_or(self.indicators.len());
        if index == self.indicators.len() {
            self.indicators.push(Indicator::new(name, ""));
        }
        &mut self.indicators[index]
    }

    fn progressed(&mut self, progress: Progress) {
        self.progress = progress;
        let Progress { states, transitions, memory_bytes: bytes, seconds, .. } = progress;
        if self.samples.len() == SAMPLES_MAX {
            self.samples.pop_front();
        }
        self.samples.push_back(Sample { seconds, states, transitions, bytes });
    }

    /// A search that draws runs calls each of them a round; only the last one is of interest.
    fn round(&mut self, round: Round) {
        match self.rounds.last_mut() {
            Some(last) if round.frontier == 0 && last.frontier == 0 && last.bound + 1 == round.bound => *last = round,
            _ => self.rounds.push(round),
        }
    }

    fn looked(&mut self, look: Look) {
        for step in &look.path {
            let lines = match self.heat.get_mut(step.file.as_ref()) {
                Some(lines) => lines,
                None => self.heat.entry(step.file.to_string()).or_default(),
            };
            *lines.entry(step.line).or_default() += 1;
        }
        self.look = Some(look);
    }

    fn rejected(&mut self, reason: String) {
        let known = self.reasons.iter().position(|(known, _)| *known == reason);
        let (reason, count) = known.map_or((reason, 0), |index| self.reasons.remove(index));
        self.reasons.insert(0, (reason, count + 1));
        self.reasons.truncate(REASONS_MAX);
    }

    /// States stored in each second, lately.
    pub fn rate(&self) -> f64 {
        let recent = self.samples.len().saturating_sub(10);
        match (self.samples.get(recent), self.samples.back()) {
            (Some(first), Some(last)) if first.seconds < last.seconds => {
                last.states.saturating_sub(first.states) as f64 / (last.seconds - first.seconds)
            }
            _ if 0.0 < self.progress.seconds => self.progress.states as f64 / self.progress.seconds,
            _ => 0.0,
        }
    }

    /// States stored in each second between one sample and the next.
    pub fn rates(&self) -> Vec<f64> {
        let pairs = self.samples.iter().zip(self.samples.iter().skip(1));
        pairs
            .map(|(before, after)| {
                let seconds = (after.seconds - before.seconds).max(1e-6);
                after.states.saturating_sub(before.states) as f64 / seconds
            })
            .collect()
    }

    /// In how many seconds the memory is full, if it goes on like this.
    pub fn memory_full_in(&self) -> Option<f64> {
        let (first, last) = (self.samples.front()?, self.samples.back()?);
        let grown = last.bytes.checked_sub(first.bytes).filter(|grown| *grown > 0)? as f64;
        let seconds = last.seconds - first.seconds;
        Some(self.memory_max?.saturating_sub(last.bytes) as f64 * seconds / grown).filter(|_| seconds > 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a check of the safety of a model tells.
    fn events_of(text: &str, settings: &Settings) -> Vec<Event> {
        let settings = Settings { properties: vec!["safety".to_owned()], ..settings.clone() };
        let loaded = fabius_engine::load("m.pml", text.to_owned(), &[], &mut |_, _| None, &settings);
        let mut events = Vec::new();
        let (cancel, now) = (fabius_base::Cancel::new(), || std::time::Duration::ZERO);
        let mut observe = |event: Event| events.push(event);
        let mut context =
            fabius_engine::CheckContext { cancel: &cancel, now: &now, observe: &mut observe, controls: None };
        fabius_engine::check(&loaded, &settings, &mut context);
        events
    }

    #[test]
    fn whether_a_scheduler_can_avoid_a_violation_stands_beside_it() {
        let text = "bool a; active proctype P() { a = 1 } active proctype Q() { assert(!a) }".to_owned();
        let settings = Settings { schedule: true, properties: vec!["safety".to_owned()], ..Settings::default() };
        let loaded = fabius_engine::load("m.pml", text, &[], &mut |_, _| None, &settings);
        let (mut watch, mut looked_for) = (Watch::default(), 0);
        let mut observe = |event: Event| {
            let is_round = matches!(event, Event::Schedule { .. });
            watch.told(event);
            if is_round {
                looked_for += 1;
                let indicator = &watch.indicators[0];
                assert_eq!(indicator.verdict(), Some(Verdict::Violated), "it is known before a schedule is");
                assert!(!watch.is_at(indicator));
                let (what, rest) = indicator.reason.split_once("; ").expect("what goes wrong, and what is done");
                assert!(what.contains("assert"), "{what}");
                assert!("looking for a schedule that avoids every error: there is one".starts_with(rest), "{rest}");
            }
        };
        let (cancel, now) = (fabius_base::Cancel::new(), || std::time::Duration::ZERO);
        let mut context =
            fabius_engine::CheckContext { cancel: &cancel, now: &now, observe: &mut observe, controls: None };
        fabius_engine::check(&loaded, &settings, &mut context);
        assert!(0 < looked_for);
        let indicator = &watch.indicators[0];
        assert_eq!(indicator.verdict(), Some(Verdict::Violated));
        assert!(indicator.reason.ends_with("; avoidable"), "{}", indicator.reason);
    }

    #[test]
    fn a_violation_stays_known_when_a_search_from_a_state_ends_the_check() {
        let settings = Settings { schedule: true, ..Settings::default() };
        let text = "bool a; active proctype P() { a = 1 } active proctype Q() { assert(!a) }";
        let mut events = events_of(text, &settings);
        let ended = events.iter().position(|event| matches!(event, Event::PropertyDone { .. })).expect("an end");
        let mut watch = Watch::default();
        events.drain(..ended).for_each(|event| watch.told(event));
        watch.begin_local(&settings, "step 1".to_owned());
        let indicator = &watch.indicators[0];
        assert_eq!(indicator.verdict(), Some(Verdict::Violated));
        assert!(!indicator.reason.contains("looking"), "{}", indicator.reason);
    }

    #[test]
    fn what_the_last_complete_search_needed_stands_beside_the_next_one() {
        let settings = Settings::default();
        let names = ["safety".to_owned()];
        let mut watch = Watch::default();
        let check = |watch: &mut Watch, text: &str| {
            watch.begin(&settings, &names);
            let mut last_time = None;
            for event in events_of(text, &settings) {
                watch.told(event);
                last_time = last_time.or(watch.last_time().map(|before| before.states));
            }
            watch.end();
            last_time
        };
        let (three, five) = (
            "byte x; active proctype P() { do :: x < 3 -> x++ :: x == 3 -> x = 0 od }",
            "byte x; active proctype P() { do :: x < 5 -> x++ :: x == 5 -> x = 0 od }",
        );
        assert_eq!(check(&mut watch, three), None);
        let needed = watch.progress.states;
        assert!(0 < needed);
        // The text is another one.
        watch.forget();
        assert_eq!(check(&mut watch, five), Some(needed));
        assert!(needed < watch.progress.states);
        // What was not explored to its end says nothing, nor does a search from a state, nor is anything said beside that.
        let before = watch.progress.states;
        assert_eq!(check(&mut watch, "byte x; active proctype P() { x++; assert(false) }"), Some(before));
        assert_eq!(watch.before["safety"].states, before);
        watch.begin_local(&settings, "step 1".to_owned());
        for event in events_of(three, &settings) {
            watch.told(event);
            assert_eq!(watch.last_time(), None);
        }
        assert_eq!(watch.before["safety"].states, before);
    }

    #[test]
    fn when_memory_is_full_follows_from_how_it_grows() {
        let mut watch = Watch { running: true, memory_max: Some(1_000), ..Watch::default() };
        assert_eq!(watch.memory_full_in(), None);
        for tick in 0..5_u8 {
            let progress =
                Progress { memory_bytes: 100 * u64::from(tick), seconds: f64::from(tick), ..Progress::default() };
            watch.progressed(progress);
        }
        let left = watch.memory_full_in().expect("it grows");
        assert!((left - 6.0).abs() < 1e-9, "600 bytes are left, and 100 are needed in a second: {left}");
    }

    #[test]
    fn the_last_reason_comes_first_and_is_counted() {
        let mut watch = Watch::default();
        for reason in ["a", "b", "a"] {
            watch.rejected(reason.to_owned());
        }
        assert_eq!(watch.reasons, [("a".to_owned(), 2), ("b".to_owned(), 1)]);
    }
}
