//! What may be asked of the threads that check: kinds of work, how deep a check goes, what each may use.

use super::questions::Question;
use super::unread::UnreadText;
use fabius_analysis::Line;
use fabius_base::{Cancel, Limits, StopReason};
use fabius_engine::settings::{Delaying, SchedulerChoice, ThreadCount, WHOLE_STATES_MAX};
use fabius_engine::{Fairness, Loaded, SAFETY, Settings};
use fabius_supervise::memory;
use serde::Serialize;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// The search with ever more delays before the deep one stores this many states.
const ORDERED_STATES_MAX: u64 = 200_000;
/// The search with ever more delays before the deep one has this part of its time.
const DELAY_DEEPENING_SHARE: u32 = 30;
/// For loops it has this part. The search for loops that comes after it proves as fast as without it, so it only costs
/// where there is none; where there is one that the short look does not find, it is several times as fast.
const DELAY_DEEPENING_LOOPS_SHARE: u32 = 60;
/// The search with ever more delays after the deep one has this part of the time of both.
const EXTENDED_SHARE: u32 = 4;

/// What is to be done.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Work {
    /// Checks a property, so deep.
    Check(Tier, String),
    /// Looks at what can be seen in the reachable states.
    Survey,
    /// Looks for a schedule that avoids what goes wrong.
    Schedule,
    /// Looks where the text does not exclude a deadlock.
    Deadlocks,
    /// Checks whether an edit that somebody may want to make mends the model; the number names it.
    FixValidation(u64),
    /// Answers a question. Somebody waits for it.
    Ask(Box<Question>),
    /// Looks whether two places can be reached at once. Somebody waits for it, and it is short.
    Meet(Vec<Line>),
}

impl Work {
    /// What it shares the processors with.
    pub(super) fn lane(&self) -> Lane {
        match self {
            Self::Meet(_) | Self::Ask(_) => Lane::Question,
            Self::Check(Tier::Quick, _) => Lane::Look,
            Self::Check(..) => Lane::Search,
            Self::Survey | Self::Schedule | Self::Deadlocks | Self::FixValidation(_) => Lane::Background,
        }
    }
}

/// Work of one kind never waits for work of another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Lane {
    /// Somebody waits for the answer.
    Question,
    /// It is over in a moment.
    Look,
    /// It may take its whole budget.
    Search,
    /// It is short, and nobody waits at the screen for it: it goes beside searches, but not beside looks.
    Background,
}

/// How deep a check goes. What one tier leaves undecided is for the next.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum Tier {
    /// A short look; for violations of safety in the order of delays: what goes wrong under hardly disturbed schedules
    /// is found first.
    Quick,
    /// Ever more delays, as long as the states are so few that a search of another kind would not be quicker.
    DelayDeepening,
    /// Everything, to the end or to the end of the budget; what shows nothing new is left out.
    Deep,
    /// Safety only, where the states are too many to see all: ever more delays, to the end of the budget.
    Extended,
}

impl Tier {
    /// The tier that is for what this one left undecided about a property, after this many states.
    pub fn next(self, loaded: &Loaded, property: &str, demands: &Demands, states: u64) -> Option<Self> {
        match self {
            Self::Quick
                if goes_by_delays(Self::DelayDeepening, loaded, property, demands) && states < ORDERED_STATES_MAX =>
            {
                Some(Self::DelayDeepening)
            }
            Self::Quick | Self::DelayDeepening => Some(Self::Deep),
            Self::Deep if goes_by_delays(Self::Extended, loaded, property, demands) => Some(Self::Extended),
            Self::Deep | Self::Extended => None,
        }
    }
}

/// Whether a tier looks at a property in the order of delays. Most loops are found at once by the searches for loops, so
/// these come first there. Where the text forbids delays, that order does not lead to every run; nor do searches in that
/// order know of fairness, or of states from which they are not to go on, and those for loops know of no
/// bound on depth.
pub(super) fn goes_by_delays(tier: Tier, loaded: &Loaded, property: &str, demands: &Demands) -> bool {
    let by_delays = match tier {
        Tier::Quick | Tier::Extended => property == SAFETY,
        Tier::DelayDeepening => true,
        Tier::Deep => false,
    };
    by_delays && *demands == Demands::default() && !loaded.is_sealed()
}

/// The number of a run; a later run has a greater one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RunId(pub u64);

/// What a run may use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Budget {
    /// Time for the quick tier, for each property.
    pub quick: Duration,
    /// Time for all deeper tiers, for each property.
    pub deep: Duration,
    /// Time for all deeper tiers where the computer runs on its battery, if that is less.
    pub battery: Duration,
    /// Time for what nobody waits for: surveys and trials.
    pub background: Duration,
    /// Memory of a search.
    pub memory_bytes: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            quick: Duration::from_millis(250),
            deep: Duration::from_secs(60),
            battery: Duration::from_secs(10),
            background: Duration::from_secs(2),
            memory_bytes: 1 << 30,
        }
    }
}

/// The model that a search looks at. Making it takes time, so the first job that needs it makes it, on its own thread.
#[derive(Debug)]
pub struct Searched {
    source: SearchedSource,
    made: OnceLock<Arc<Loaded>>,
}

#[derive(Debug)]
enum SearchedSource {
    /// The document, with all optimisations.
    Document(Arc<Loaded>),
    /// Another text.
    Text(UnreadText),
}

impl Searched {
    /// The model of a document, as it was read.
    pub fn document(read: &Arc<Loaded>) -> Arc<Self> {
        Arc::new(Self { source: SearchedSource::Document(Arc::clone(read)), made: OnceLock::new() })
    }

    /// A text that nobody has read yet.
    pub fn text(text: UnreadText) -> Arc<Self> {
        Arc::new(Self { source: SearchedSource::Text(text), made: OnceLock::new() })
    }

    /// The model, made now if nobody made it before.
    ///
    /// # Errors
    /// Why it stopped before it was made.
    pub fn make(&self, cancel: &Cancel) -> Result<Arc<Loaded>, StopReason> {
        if let Some(made) = self.made.get() {
            return Ok(Arc::clone(made));
        }
        let _watch = memory::Watch::beside(memory::default_bytes(), cancel);
        let made = match &self.source {
            SearchedSource::Document(read) => read.optimized(cancel)?,
            SearchedSource::Text(text) => text.read(true, cancel)?.0,
        };
        Ok(Arc::clone(self.made.get_or_init(|| Arc::new(made))))
    }
}

/// A check to be run.
#[derive(Clone, Debug)]
pub struct Job {
    /// The document it is for.
    pub document: String,
    /// The model of the document, as it was read.
    pub loaded: Arc<Loaded>,
    /// What a search looks at.
    pub searched: Arc<Searched>,
    /// What is to be done.
    pub work: Work,
    /// The check of a lower tier saw this many states, and left the property undecided.
    pub seen: u64,
    /// What it may use.
    pub budget: Budget,
    /// Whose schedules the short look disturbs.
    pub scheduler: SchedulerChoice,
    /// What was asked of every search.
    pub demands: Demands,
}

/// What was asked of every search for a property.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Demands {
    /// Which infinite runs count as violations.
    pub fairness: Fairness,
    /// It is not to go on from states in which this is true.
    pub leave_out: Option<String>,
    /// It cuts off runs after this many steps.
    pub max_depth: Option<u64>,
    /// If it is free to choose, it visits states in which this is true before others.
    pub visit_first: Option<String>,
}

impl Budget {
    /// What a run may use that begins now.
    pub fn now(self, on_battery: bool) -> Self {
        Self { deep: if on_battery { self.deep.min(self.battery) } else { self.deep }, ..self }
    }
}

/// How long work may take. Where safety has one tier more after the deep one, that has its share of the time.
pub(super) fn time_for(job: &Job) -> Duration {
    let Budget { quick, deep, background, .. } = job.budget;
    match &job.work {
        Work::Check(Tier::Quick, _) => quick,
        Work::Check(Tier::DelayDeepening, property) if property == SAFETY => deep / DELAY_DEEPENING_SHARE,
        Work::Check(Tier::DelayDeepening, _) => deep / DELAY_DEEPENING_LOOPS_SHARE,
        Work::Check(Tier::Deep, property) if goes_by_delays(Tier::Extended, &job.loaded, property, &job.demands) => {
            deep - deep / EXTENDED_SHARE
        }
        Work::Check(Tier::Deep, _) => deep,
        Work::Check(Tier::Extended, _) => deep / EXTENDED_SHARE,
        Work::Ask(_) => deep,
        Work::Survey | Work::Schedule | Work::Deadlocks | Work::FixValidation(_) | Work::Meet(_) => background,
    }
}

pub(super) fn settings(job: &Job) -> Settings {
    let limits = Limits { memory_bytes_max: Some(memory_max(job)), ..Limits::default() };
    let Demands { fairness, leave_out, max_depth, .. } = job.demands.clone();
    let Work::Check(tier, property) = &job.work else { return Settings { limits, fairness, ..Settings::default() } };
    let delaying = goes_by_delays(*tier, &job.loaded, property, &job.demands).then(|| Delaying {
        scheduler: job.scheduler.clone(),
        shows_shortest: true,
        ..Delaying::default()
    });
    let states_max = (*tier == Tier::DelayDeepening).then_some(ORDERED_STATES_MAX);
    // Without the reduction it would see no more than the tier before.
    let by_delays_before = goes_by_delays(Tier::Extended, &job.loaded, property, &job.demands);
    let whole_states_max = if by_delays_before && ORDERED_STATES_MAX <= job.seen { 0 } else { WHOLE_STATES_MAX };
    let properties = vec![property.clone()];
    let limits = Limits { states_max, depth_max: max_depth, ..limits };
    let threads = ThreadCount::of_half_the_machine();
    let settings =
        Settings { delaying, properties, limits, fairness, whole_states_max, threads, ..Settings::default() };
    if leave_out.is_none() {
        return settings;
    }
    // The condition is one on states of the model as it is written.
    Settings { prune: leave_out, optimize: false, reduction: false, ..settings }
}

/// The memory of a search: what the project allows, and no more than the system gives.
pub(super) fn memory_max(job: &Job) -> u64 {
    job.budget.memory_bytes.min(memory::default_bytes())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use fabius_engine::{CheckContext, Verdict};

    /// Work on a small model.
    pub fn job(document: &str, work: Work) -> Job {
        let text = "byte n[3];\nactive [3] proctype P() { do :: n[_pid] < 200 -> n[_pid]++ od }\n";
        let loaded =
            Arc::new(fabius_engine::load(document, text.to_owned(), &[], &mut |_, _| None, &Settings::default()));
        let budget = Budget { quick: Duration::from_millis(50), ..Budget::default() };
        Job {
            document: document.to_owned(),
            searched: Searched::document(&loaded),
            loaded,
            work,
            seen: 0,
            budget,
            scheduler: SchedulerChoice::default(),
            demands: Demands::default(),
        }
    }

    #[test]
    fn what_the_short_look_leaves_undecided_is_looked_at_in_the_order_of_delays() {
        let plain = job("a", Work::Survey).loaded;
        let text = "active [2] proctype P() { byte x; /*@ seal rtc */ x++; x++ /*@ unseal */ }\n".to_owned();
        let sealed = fabius_engine::load("b", text, &[], &mut |_, _| None, &Settings::default());
        assert!(sealed.is_sealed() && !plain.is_sealed());
        let after_with = |loaded: &Loaded, property: &str, states: u64, demands: &Demands| {
            let mut tiers = vec![Tier::Quick];
            let next = |tier: Tier| tier.next(loaded, property, demands, states);
            tiers.extend(std::iter::successors(next(Tier::Quick), |tier| next(*tier)));
            tiers
        };
        let free = Demands::default();
        let after = |loaded: &Loaded, property: &str, states| after_with(loaded, property, states, &free);
        let (few, many) = (10, ORDERED_STATES_MAX);
        assert_eq!(after(&plain, SAFETY, few), [Tier::Quick, Tier::DelayDeepening, Tier::Deep, Tier::Extended]);
        assert_eq!(after(&plain, SAFETY, many), [Tier::Quick, Tier::Deep, Tier::Extended]);
        assert_eq!(after(&plain, "p", few), [Tier::Quick, Tier::DelayDeepening, Tier::Deep]);
        // Searches in the order of delays do not know of fairness.
        let fair = Demands { fairness: Fairness::Weak, ..Demands::default() };
        assert_eq!(after_with(&plain, "p", few, &fair), [Tier::Quick, Tier::Deep]);
        assert_eq!(settings(&Job { demands: fair, ..job("a", Work::Survey) }).fairness, Fairness::Weak);
        // Nor of states from which they are not to go on.
        let bounded = Demands { leave_out: Some("n[0] > 3".to_owned()), ..Demands::default() };
        assert_eq!(after_with(&plain, SAFETY, few, &bounded), [Tier::Quick, Tier::Deep]);
        let check = Work::Check(Tier::Quick, SAFETY.to_owned());
        let asked = settings(&Job { demands: bounded, ..job("a", check) });
        assert_eq!((asked.delaying, asked.prune.as_deref(), asked.optimize), (None, Some("n[0] > 3"), false));
        for property in [SAFETY, "p"] {
            assert_eq!(after(&sealed, property, few), [Tier::Quick, Tier::Deep]);
        }
        // Loops are looked for by the searches for loops first, and last.
        let delays = |tier| settings(&job("a", Work::Check(tier, "p".to_owned()))).delaying.is_some();
        assert_eq!([Tier::Quick, Tier::DelayDeepening, Tier::Deep].map(delays), [false, true, false]);
    }

    #[test]
    fn searches_take_turns_in_looks_by_delays() {
        // Without a delay, the process that counts goes on for ever.
        let text = "int n; byte x; ltl p { [] (n != -1) }
            active proctype W() { do :: n++ od }
            active proctype R() { do :: x < 3 -> x++ :: x == 3 -> assert(n < 0) od }";
        let loaded = fabius_engine::load("m", text.to_owned(), &[], &mut |_, _| None, &Settings::default());
        for tier in [Tier::Quick, Tier::DelayDeepening] {
            let job = Job { loaded: Arc::new(loaded.clone()), ..job("a", Work::Check(tier, SAFETY.to_owned())) };
            let pauses = fabius_engine::settings::Pauses { first: 5_000, growth: 4, early: 1, ..Default::default() };
            let settings = Settings { pauses, clarify_transitions_max: 50_000, ..settings(&job) };
            let context = &mut CheckContext {
                cancel: &Cancel::new(),
                now: &|| Duration::ZERO,
                observe: &mut drop,
                controls: None,
            };
            let property = fabius_engine::check(&job.loaded, &settings, context).report.properties.remove(0);
            assert_eq!((property.verdict, property.search), (Verdict::Violated, "depth-bounded"), "{tier:?}");
        }
    }
}
