//! Checks on threads of their own: started, watched, superseded.
//!
//! The session never waits for a check. A check tells what happens as [`CheckEvent`], and stops within
//! milliseconds when it is superseded, because the engine looks at the same flag every thousand steps.

use super::cache::Cache;
use fabius_base::{Cancel, Finding, Limits};
use fabius_engine::report::{PropertyReport, Stopped};
use fabius_engine::settings::{Delaying, SchedulerChoice, WHOLE_STATES_MAX};
use fabius_engine::{
    CheckContext, CoReachability, Event, Fairness, Goal, Line, Loaded, Outcome, Planned, Report, SAFETY, Settings,
    Survey, Verdict, crashed, plan,
};
use fabius_supervise::{Task, Unfinished, Voice, begin, memory};
use std::collections::VecDeque;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Stack of a thread that checks: a model may nest deeply before a limit is reached.
pub const STACK_BYTES: usize = 64 << 20;
/// Time between two pieces of news about the progress of one check.
const PROGRESS_PAUSE: Duration = Duration::from_millis(100);

/// The search with ever more delays before the deep one has this part of its time.
const RISING_SHARE: u32 = 30;
/// For loops it has this part. The search for loops that comes after it proves as fast as without it, so it only costs
/// where there is none; where there is one that the short look does not find, it is several times as fast.
const RISING_LOOPS_SHARE: u32 = 60;
/// Time between two pieces of news about what is known so far: more often, whoever shows it would flicker.
const ROUND_PAUSE: Duration = Duration::from_millis(500);
/// The search with ever more delays after the deep one has this part of the time of both.
const FARTHER_SHARE: u32 = 4;

/// What is to be done.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Work {
    /// Checks a property, so deep.
    Check(Tier, String),
    /// Looks at what can be seen in the reachable states.
    Survey,
    /// Checks whether an edit that somebody may want to make mends the model; the number names it.
    FixValidation(u64),
    /// Looks whether two places can be reached at once. Somebody waits for it, and it is short.
    Meet(Vec<Line>),
}

impl Work {
    /// What it shares the processors with.
    fn lane(&self) -> Lane {
        match self {
            Self::Meet(_) => Lane::Question,
            Self::Check(Tier::Quick, _) => Lane::Look,
            Self::Check(..) => Lane::Search,
            Self::Survey | Self::FixValidation(_) => Lane::Background,
        }
    }
}

/// Work of one kind never waits for work of another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Lane {
    /// Somebody waits for the answer.
    Question,
    /// It is over in a moment.
    Look,
    /// It may take its whole budget.
    Search,
    /// It is short, and nobody waits at the screen for it: it goes beside searches, but not beside looks.
    Background,
}

/// This many questions that somebody waits for are looked into at the same time.
const QUESTIONS_MAX: usize = 4;
/// Whether two lines meet is looked for in this many states.
const MEET_STATES_MAX: u64 = 20_000;
/// A survey looks at this many states.
const SURVEY_STATES_MAX: u64 = 50_000;

/// How deep a check goes. What one tier leaves undecided is for the next.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
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
    /// The word for it in messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::DelayDeepening => "rising",
            Self::Deep => "deep",
            Self::Extended => "farther",
        }
    }

    /// The tier that is for what this one left undecided about a property, after this many states.
    pub fn next(self, loaded: &Loaded, question: (&str, Fairness), states: u64) -> Option<Self> {
        match self {
            Self::Quick if goes_by_delays(Self::DelayDeepening, loaded, question) && states < WHOLE_STATES_MAX => {
                Some(Self::DelayDeepening)
            }
            Self::Quick | Self::DelayDeepening => Some(Self::Deep),
            Self::Deep if goes_by_delays(Self::Extended, loaded, question) => Some(Self::Extended),
            Self::Deep | Self::Extended => None,
        }
    }
}

/// Whether a tier looks at a property in the order of delays. Most loops are found at once by the searches for loops, so
/// these come first there. Where the text forbids delays, that order does not lead to every run; nor do searches in that
/// order know of fairness.
fn goes_by_delays(tier: Tier, loaded: &Loaded, (property, fairness): (&str, Fairness)) -> bool {
    let by_delays = match tier {
        Tier::Quick | Tier::Extended => property == SAFETY,
        Tier::DelayDeepening => true,
        Tier::Deep => false,
    };
    by_delays && fairness == Fairness::None && !loaded.is_sealed()
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
            background: Duration::from_secs(2),
            memory_bytes: 1 << 30,
        }
    }
}

/// A check to be run.
#[derive(Clone, Debug)]
pub struct Job {
    /// The document it is for.
    pub document: String,
    /// The model.
    pub loaded: Arc<Loaded>,
    /// What is to be done.
    pub work: Work,
    /// The check of a lower tier saw this many states, and left the property undecided.
    pub seen: u64,
    /// What it may use.
    pub budget: Budget,
    /// Whose schedules the short look disturbs.
    pub scheduler: SchedulerChoice,
    /// Which infinite runs count as violations.
    pub fairness: Fairness,
}

/// What a run tells.
#[derive(Debug)]
pub struct CheckEvent {
    /// Which run.
    pub run: RunId,
    /// What happened.
    pub what: Told,
}

/// What happened in a run.
#[derive(Debug)]
pub enum Told {
    /// Something that the engine tells.
    Event(Box<Event>),
    /// The run is over; if it panicked, what the panic said.
    Finished(Box<Result<Outcome, String>>),
    /// A survey is over: what was seen, and hints at what could go better.
    Surveyed(Box<Option<(Survey, Vec<Finding>)>>),
    /// It is known whether two places can be reached at once, if anything is.
    Met(Box<Option<CoReachability>>),
}

impl Told {
    /// Work ended in a panic, which said this.
    fn failed(work: &Work, said: String) -> Self {
        match work {
            Work::Survey => Self::Surveyed(Box::new(None)),
            Work::Meet(_) => Self::Met(Box::new(None)),
            Work::Check(..) | Work::FixValidation(_) => Self::Finished(Box::new(Err(said))),
        }
    }

    /// Work did not come to its end.
    fn unfinished(job: &Job, why: Unfinished) -> Self {
        match &job.work {
            Work::Survey => Self::Surveyed(Box::new(None)),
            Work::Meet(_) => Self::Met(Box::new(None)),
            Work::Check(..) | Work::FixValidation(_) => Self::Finished(Box::new(Ok(undecided(job, why)))),
        }
    }
}

/// What is known after a check that did not come to its end: nothing, and why.
fn undecided(job: &Job, why: Unfinished) -> Outcome {
    let selectors: Vec<String> = match &job.work {
        Work::Check(_, property) => vec![property.clone()],
        _ => Vec::new(),
    };
    let stopped = match why {
        Unfinished::Abandoned(reason) => Stopped::from(reason),
        Unfinished::Crowded => Stopped::Cancelled,
    };
    let reason = format!("not checked: {}", why.sentence());
    let plan = job.loaded.checkable().and_then(|program| plan(program, &selectors).ok());
    let of = |planned: Planned| PropertyReport {
        stopped: Some(stopped),
        expected: job.loaded.expected(&planned.name),
        ..PropertyReport::unchecked(&planned.name, planned.kind, &reason)
    };
    let properties = plan.into_iter().flat_map(|plan| plan.properties).map(of).collect();
    let empty = crashed(&job.loaded.name, "");
    let report =
        Report { verdict: Verdict::Undecided, reason: reason.clone(), properties, internal_error: None, ..empty };
    Outcome { report, counterexamples: Vec::new(), findings: Vec::new(), failure: None }
}

/// Who is told; called on the thread of a check.
pub type EventSink = Arc<dyn Fn(CheckEvent) + Send + Sync>;

/// The checks that run and wait.
pub struct Checker {
    event_sink: EventSink,
    at_once_max: usize,
    next: u64,
    running: Vec<Going>,
    waiting: VecDeque<(RunId, Job)>,
}

/// Work on a thread.
struct Going {
    run: RunId,
    job: Job,
    cancel: Cancel,
    /// It gave way to something more urgent, and is begun again when there is room.
    gave_way: bool,
}

impl Going {
    /// Nobody told it to stop.
    fn is_on(&self) -> bool {
        self.cancel.requested().is_none()
    }

    fn stop(&mut self) {
        self.cancel.cancel();
        self.gave_way = false;
    }

    fn preempt(&mut self) {
        self.cancel.cancel();
        self.gave_way = true;
    }
}

/// What became of work that is over.
#[derive(Debug)]
pub enum Ended {
    /// It is done; this was the job, if it is known.
    Done(Option<Job>),
    /// It gave way, and waits for its turn to begin again: what it says of itself does not count.
    GaveWay,
}

impl Checker {
    /// A checker that runs this many checks at the same time.
    pub fn new(event_sink: EventSink, at_once_max: usize) -> Self {
        Self { event_sink, at_once_max: at_once_max.max(1), next: 0, running: Vec::new(), waiting: VecDeque::new() }
    }

    /// Starts work as soon as there is room for it. A search for the document that was last looked at goes before those for
    /// other documents, of which one gives way; what is done aside gives way to looks and questions.
    pub fn start(&mut self, job: Job) -> RunId {
        self.next += 1;
        let run = RunId(self.next);
        self.drop_outdated_by(&job);
        match job.work.lane() {
            Lane::Background => self.waiting.push_back((run, job)),
            lane => {
                if lane == Lane::Search && !self.has_room(lane) {
                    self.make_way(&job);
                }
                if lane != Lane::Search {
                    self.going_in(Lane::Background).for_each(Going::preempt);
                }
                self.waiting.push_front((run, job));
            }
        }
        self.pump();
        run
    }

    /// A new survey takes the place of the one before; a check of a document, that of trials of what it was.
    fn drop_outdated_by(&mut self, job: &Job) {
        let outdated = |old: &Job| match (&job.work, &old.work) {
            (Work::Survey, Work::Survey) | (Work::Check(..), Work::FixValidation(_)) => old.document == job.document,
            _ => false,
        };
        self.running.iter_mut().filter(|going| outdated(&going.job)).for_each(Going::stop);
        if job.work == Work::Survey {
            self.waiting.retain(|(_, old)| !outdated(old));
        }
    }

    /// Whether a survey of a document is under way or waits.
    pub fn is_surveying(&self, document: &str) -> bool {
        let wanted = |job: &Job| job.work == Work::Survey && job.document == document;
        let going = self.running.iter().any(|going| wanted(&going.job) && (going.gave_way || going.is_on()));
        going || self.waiting.iter().any(|(_, job)| wanted(job))
    }

    /// What goes on in a lane.
    fn going_in(&mut self, lane: Lane) -> impl Iterator<Item = &mut Going> {
        self.running.iter_mut().filter(move |going| going.job.work.lane() == lane && going.is_on())
    }

    /// Interrupts the oldest search for another document.
    fn make_way(&mut self, job: &Job) {
        if let Some(going) = self.going_in(Lane::Search).find(|going| going.job.document != job.document) {
            going.preempt();
        }
    }

    /// Stops a run, or takes it from the queue; its last news may still come.
    pub fn cancel(&mut self, run: RunId) {
        self.waiting.retain(|(waiting, _)| *waiting != run);
        self.running.iter_mut().filter(|going| going.run == run).for_each(Going::stop);
    }

    /// Stops all work for a document but answers to questions, which somebody waits for.
    pub fn cancel_for(&mut self, document: &str) {
        let theirs = |job: &Job| job.document == document && job.work.lane() != Lane::Question;
        self.waiting.retain(|(_, job)| !theirs(job));
        self.running.iter_mut().filter(|going| theirs(&going.job)).for_each(Going::stop);
    }

    /// Stops everything.
    pub fn cancel_all(&mut self) {
        self.waiting.clear();
        self.running.iter_mut().for_each(Going::stop);
    }

    /// Makes room after a run.
    pub fn finished(&mut self, run: RunId) -> Ended {
        let Some(at) = self.running.iter().position(|going| going.run == run) else { return Ended::Done(None) };
        let Going { job, gave_way, .. } = self.running.remove(at);
        let ended = if gave_way {
            let first = self.waiting.iter().position(|(_, job)| job.work.lane() == Lane::Background);
            self.waiting.insert(first.unwrap_or(self.waiting.len()), (run, job));
            Ended::GaveWay
        } else {
            Ended::Done(Some(job))
        };
        self.pump();
        ended
    }

    /// Whether nothing runs and nothing waits.
    pub fn is_idle(&self) -> bool {
        self.running.is_empty() && self.waiting.is_empty()
    }

    /// Starts what waits, as far as there is room.
    fn pump(&mut self) {
        while let Some(at) = self.waiting.iter().position(|(_, job)| self.has_room(job.work.lane())) {
            let Some((run, job)) = self.waiting.remove(at) else { return };
            self.run(run, job);
        }
    }

    /// Whether work can start now. What was told to stop is as good as over.
    fn has_room(&self, lane: Lane) -> bool {
        let going = |lane: Lane| {
            let alike = |going: &&Going| going.is_on() && going.job.work.lane() == lane;
            self.running.iter().filter(alike).count()
        };
        match lane {
            Lane::Question => going(lane) < QUESTIONS_MAX,
            Lane::Look | Lane::Search => going(lane) < self.at_once_max,
            Lane::Background => going(Lane::Question) + going(Lane::Look) + going(Lane::Background) == 0,
        }
    }

    /// Starts work on a thread of its own.
    fn run(&mut self, run: RunId, job: Job) {
        let (cancel, voice) = (Cancel::new(), Voice::default());
        let event_sink = Arc::clone(&self.event_sink);
        let (theirs, stop, alive) = (job.clone(), cancel.clone(), voice.clone());
        // What was left alone has nothing to say any more.
        let heard: EventSink = Arc::new(move |event| {
            if !alive.is_lost() {
                event_sink(event)
            }
        });
        let work = move || {
            let done = panic::catch_unwind(AssertUnwindSafe(|| match &theirs.work {
                Work::Survey => Told::Surveyed(Box::new(look_around(&theirs, &stop))),
                Work::Check(..) | Work::FixValidation(_) => {
                    Told::Finished(Box::new(Ok(check(run, &theirs, &stop, &heard))))
                }
                Work::Meet(lines) => Told::Met(Box::new(co_reachable(&theirs, lines, &stop))),
            }));
            done.unwrap_or_else(|panic| Told::failed(&theirs.work, said(&*panic)))
        };
        // Whatever happens, it is told that the work is over: what nobody knows to be over keeps its place for ever.
        let (event_sink, unfinished) = (Arc::clone(&self.event_sink), job.clone());
        let tell = move |done: Result<Told, Unfinished>| {
            let what = done.unwrap_or_else(|why| Told::unfinished(&unfinished, why));
            drop(unfinished);
            event_sink(CheckEvent { run, what });
        };
        let allowed = match job.work {
            Work::Check(..) | Work::FixValidation(_) => time_for(&job),
            Work::Survey | Work::Meet(_) => job.budget.deep,
        };
        let task = Task { name: "check", cancel: cancel.clone(), voice, allowed: Some(allowed) };
        let started = begin(task, work, tell);
        self.running.push(Going { run, job, cancel, gave_way: false });
        if let Err(error) = started {
            let outcome = Err(format!("no thread could be started: {error}"));
            (self.event_sink)(CheckEvent { run, what: Told::Finished(Box::new(outcome)) });
        }
    }
}

/// Runs a check to its end.
fn check(run: RunId, job: &Job, cancel: &Cancel, event_sink: &EventSink) -> Outcome {
    let started = Instant::now();
    let mut allowed = time_for(job);
    let mut next_progress = Duration::ZERO;
    let mut next_round = Duration::ZERO;
    let mut untold_round = None;
    let mut observe = |event: Event| {
        let now = started.elapsed();
        if matches!(event, Event::Searching { goal: Goal::ShorterRun | Goal::FairRun, .. }) {
            // What is found is shown by the same run whichever tier finds it, and however busy the machine is.
            allowed = allowed.max(job.budget.deep);
        }
        if allowed < now {
            cancel.time_out();
        }
        if matches!(event, Event::Progress { .. }) {
            if now < next_progress {
                return;
            }
            next_progress = now + PROGRESS_PAUSE;
        }
        if matches!(event, Event::Round { .. }) {
            if now < next_round {
                untold_round = Some(event);
                return;
            }
            (next_round, untold_round) = (now + ROUND_PAUSE, None);
        }
        if !matches!(event, Event::Finding { .. } | Event::Started { .. } | Event::Done { .. }) {
            event_sink(CheckEvent { run, what: Told::Event(Box::new(event)) });
        }
    };
    let settings = fabius_engine::suited(&job.loaded, &settings(job));
    let cache = Cache::of_user();
    // A proof is one in whichever order the states were looked at.
    let proved = Settings { delaying: None, ..settings.clone() };
    if let Some(known) = cache.as_ref().and_then(|cache| cache.look_up(&job.loaded, &proved)) {
        return known;
    }
    let mut context = CheckContext { cancel, now: &|| started.elapsed(), observe: &mut observe, controls: None };
    let outcome = fabius_engine::check(&job.loaded, &settings, &mut context);
    if let Some(cache) = &cache {
        cache.remember(&job.loaded, &proved, &outcome);
    }
    if let Some(round) = untold_round {
        event_sink(CheckEvent { run, what: Told::Event(Box::new(round)) });
    }
    outcome
}

/// How long work may take. Where safety has one tier more after the deep one, that has its share of the time.
fn time_for(job: &Job) -> Duration {
    let Budget { quick, deep, background, .. } = job.budget;
    match &job.work {
        Work::Check(Tier::Quick, _) => quick,
        Work::Check(Tier::DelayDeepening, property) if property == SAFETY => deep / RISING_SHARE,
        Work::Check(Tier::DelayDeepening, _) => deep / RISING_LOOPS_SHARE,
        Work::Check(Tier::Deep, property) if goes_by_delays(Tier::Extended, &job.loaded, (property, job.fairness)) => {
            deep - deep / FARTHER_SHARE
        }
        Work::Check(Tier::Deep, _) => deep,
        Work::Check(Tier::Extended, _) => deep / FARTHER_SHARE,
        Work::Survey | Work::FixValidation(_) | Work::Meet(_) => background,
    }
}

fn settings(job: &Job) -> Settings {
    let limits = Limits { memory_bytes_max: Some(memory_max(job)), ..Limits::default() };
    let fairness = job.fairness;
    let Work::Check(tier, property) = &job.work else { return Settings { limits, fairness, ..Settings::default() } };
    let delaying = goes_by_delays(*tier, &job.loaded, (property, fairness)).then(|| Delaying {
        scheduler: job.scheduler.clone(),
        shows_shortest: true,
        ..Delaying::default()
    });
    let states_max = (*tier == Tier::DelayDeepening).then_some(WHOLE_STATES_MAX);
    // Without the reduction it would see no more than the tier before.
    let by_delays_before = goes_by_delays(Tier::Extended, &job.loaded, (property, fairness));
    let whole_states_max = if by_delays_before && WHOLE_STATES_MAX <= job.seen { 0 } else { WHOLE_STATES_MAX };
    let properties = vec![property.clone()];
    let limits = Limits { states_max, ..limits };
    Settings { delaying, properties, limits, fairness, whole_states_max, ..Settings::default() }
}

/// Looks at the reachable states for a while.
fn look_around(job: &Job, cancel: &Cancel) -> Option<(Survey, Vec<Finding>)> {
    let survey = fabius_engine::survey(&job.loaded, limits(job, SURVEY_STATES_MAX), cancel)?;
    let hints = fabius_engine::hints(&job.loaded, cancel);
    cancel.requested().is_none().then_some((survey, hints))
}

/// Looks whether places can be reached at once.
fn co_reachable(job: &Job, lines: &[Line], cancel: &Cancel) -> Option<CoReachability> {
    fabius_engine::co_reachable(&job.loaded, lines, limits(job, MEET_STATES_MAX), cancel)
}

fn limits(job: &Job, states_max: u64) -> Limits {
    Limits { states_max: Some(states_max), memory_bytes_max: Some(memory_max(job)), ..Limits::default() }
}

/// The memory of a search: what the project allows, and no more than the system gives.
fn memory_max(job: &Job) -> u64 {
    job.budget.memory_bytes.min(memory::default_bytes())
}

/// What a panic said.
pub fn said(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic without words").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    fn job(document: &str, work: Work) -> Job {
        let text = "byte n[3];\nactive [3] proctype P() { do :: n[_pid] < 200 -> n[_pid]++ od }\n";
        let loaded = fabius_engine::load(document, text.to_owned(), &[], &mut |_, _| None, &Settings::default());
        let budget = Budget { quick: Duration::from_millis(50), ..Budget::default() };
        Job {
            document: document.to_owned(),
            loaded: Arc::new(loaded),
            work,
            seen: 0,
            budget,
            scheduler: SchedulerChoice::default(),
            fairness: Fairness::None,
        }
    }

    #[test]
    fn what_the_short_look_leaves_undecided_is_looked_at_in_the_order_of_delays() {
        let plain = job("a", Work::Survey).loaded;
        let text = "active [2] proctype P() { byte x; /*@ seal rtc */ x++; x++ /*@ unseal */ }\n".to_owned();
        let sealed = fabius_engine::load("b", text, &[], &mut |_, _| None, &Settings::default());
        assert!(sealed.is_sealed() && !plain.is_sealed());
        let after = |loaded: &Loaded, property: &str, states: u64| {
            let mut tiers = vec![Tier::Quick];
            let question = (property, Fairness::None);
            tiers.extend(std::iter::successors(Tier::Quick.next(loaded, question, states), |tier| {
                tier.next(loaded, question, states)
            }));
            tiers
        };
        let (few, many) = (10, WHOLE_STATES_MAX);
        assert_eq!(after(&plain, SAFETY, few), [Tier::Quick, Tier::DelayDeepening, Tier::Deep, Tier::Extended]);
        assert_eq!(after(&plain, SAFETY, many), [Tier::Quick, Tier::Deep, Tier::Extended]);
        assert_eq!(after(&plain, "p", few), [Tier::Quick, Tier::DelayDeepening, Tier::Deep]);
        // Searches in the order of delays do not know of fairness.
        assert_eq!(Tier::Quick.next(&plain, ("p", Fairness::Weak), few), Some(Tier::Deep));
        assert_eq!(settings(&Job { fairness: Fairness::Weak, ..job("a", Work::Survey) }).fairness, Fairness::Weak);
        for property in [SAFETY, "p"] {
            assert_eq!(after(&sealed, property, few), [Tier::Quick, Tier::Deep]);
        }
        // Loops are looked for by the searches for loops first, and last.
        let delays = |tier| settings(&job("a", Work::Check(tier, "p".to_owned()))).delaying.is_some();
        assert_eq!([Tier::Quick, Tier::DelayDeepening, Tier::Deep].map(delays), [false, true, false]);
    }

    #[test]
    fn a_survey_that_gives_way_is_begun_again() {
        let (sender, events) = mpsc::channel();
        let mut checker = Checker::new(Arc::new(move |told| drop(sender.send(told))), 1);
        let survey = checker.start(job("a", Work::Survey));
        let look = checker.start(job("b", Work::Check(Tier::Quick, SAFETY.to_owned())));
        assert!(checker.is_surveying("a") && !checker.is_surveying("b"));
        let mut over = Vec::new();
        while !checker.is_idle() {
            let CheckEvent { run, what } = events.recv().unwrap();
            if matches!(what, Told::Event(_)) || matches!(checker.finished(run), Ended::GaveWay) {
                continue;
            }
            over.push(run);
            if let Told::Surveyed(found) = what {
                assert!(found.is_some());
            }
        }
        over.sort();
        assert_eq!(over, [survey, look]);
        assert!(!checker.is_surveying("a"));
    }

    #[test]
    fn a_new_survey_takes_the_place_of_the_one_before() {
        let (sender, events) = mpsc::channel();
        let mut checker = Checker::new(Arc::new(move |told| drop(sender.send(told))), 1);
        let runs: Vec<RunId> = (0..3).map(|_| checker.start(job("a", Work::Survey))).collect();
        let mut found = Vec::new();
        while !checker.is_idle() {
            let CheckEvent { run, what } = events.recv().unwrap();
            if let (Ended::Done(_), Told::Surveyed(survey)) = (checker.finished(run), what) {
                found.extend(survey.map(|_| run));
            }
        }
        assert_eq!(found.last(), runs.last(), "{found:?} of {runs:?}");
    }
}
