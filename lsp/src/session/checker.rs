//! Checks on threads of their own: started, watched, superseded.
//!
//! The session never waits for a check. A check tells what happens as [`News`], and stops within
//! milliseconds when it is superseded, because the engine looks at the same flag every thousand steps.

use super::cache::Cache;
use fabius_base::{Cancel, Limits};
use fabius_engine::{Event, Loaded, Order, Outcome, Settings, Surroundings, Survey};
use std::collections::VecDeque;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// Stack of a thread that checks: a model may nest deeply before a limit is reached.
pub const STACK_BYTES: usize = 64 << 20;
/// Time between two pieces of news about the progress of one check.
const PROGRESS_PAUSE: Duration = Duration::from_millis(100);

/// What is to be done.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Work {
    /// Checks properties (all, if none is named), so deep.
    Check(Tier, Vec<String>),
    /// Looks at what can be seen in the reachable states.
    Survey,
    /// Checks whether an edit that somebody may want to make mends the model; the number names it.
    Trial(u64),
}

/// A survey looks at so many states.
const SURVEY_STATES_MAX: u64 = 50_000;

/// How deep a check goes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Tier {
    /// A short look, shortest runs first.
    Quick,
    /// To the end, or to the end of the budget.
    Deep,
}

/// The number of a run; a later run has a greater one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RunId(pub u64);

/// What a run may use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Budget {
    /// Time for the quick tier.
    pub quick: Duration,
    /// Time for the deep tier.
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
    /// What it may use.
    pub budget: Budget,
}

/// What a run tells.
#[derive(Debug)]
pub struct News {
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
    /// A survey is over.
    Surveyed(Box<Option<Survey>>),
}

/// Who is told; called on the thread of a check.
pub type Outlet = Arc<dyn Fn(News) + Send + Sync>;

/// The checks that run and wait.
pub struct Checker {
    outlet: Outlet,
    at_once_max: usize,
    next: u64,
    running: Vec<(RunId, Job, Cancel)>,
    waiting: VecDeque<(RunId, Job)>,
}

impl Checker {
    /// A checker that runs so many checks at the same time.
    pub fn new(outlet: Outlet, at_once_max: usize) -> Self {
        Self { outlet, at_once_max: at_once_max.max(1), next: 0, running: Vec::new(), waiting: VecDeque::new() }
    }

    /// Starts work as soon as there is room for it. A check goes before what nobody waits for.
    pub fn start(&mut self, job: Job) -> RunId {
        self.next += 1;
        let run = RunId(self.next);
        if matches!(job.work, Work::Check(..)) {
            let background = self.running.iter().filter(|(_, job, _)| !matches!(job.work, Work::Check(..)));
            background.for_each(|(_, _, cancel)| cancel.cancel());
            let first = self.waiting.iter().position(|(_, job)| !matches!(job.work, Work::Check(..)));
            self.waiting.insert(first.unwrap_or(self.waiting.len()), (run, job));
        } else {
            self.waiting.push_back((run, job));
        }
        self.pump();
        run
    }

    /// Stops a run, or takes it from the queue; its last news may still come.
    pub fn cancel(&mut self, run: RunId) {
        self.waiting.retain(|(waiting, _)| *waiting != run);
        for (_, _, cancel) in self.running.iter().filter(|(running, _, _)| *running == run) {
            cancel.cancel();
        }
    }

    /// Stops everything.
    pub fn cancel_all(&mut self) {
        self.waiting.clear();
        self.running.iter().for_each(|(_, _, cancel)| cancel.cancel());
    }

    /// Makes room after a run, and gives its job back.
    pub fn finished(&mut self, run: RunId) -> Option<Job> {
        let at = self.running.iter().position(|(running, _, _)| *running == run)?;
        let (_, job, _) = self.running.swap_remove(at);
        self.pump();
        Some(job)
    }

    /// Whether nothing runs and nothing waits.
    pub fn is_idle(&self) -> bool {
        self.running.is_empty() && self.waiting.is_empty()
    }

    /// Starts what waits, as far as there is room. Runs that were told to stop are as good as over.
    fn pump(&mut self) {
        while self.running.iter().filter(|(_, _, cancel)| cancel.requested().is_none()).count() < self.at_once_max {
            let Some((run, job)) = self.waiting.pop_front() else { return };
            let cancel = Cancel::new();
            let outlet = Arc::clone(&self.outlet);
            let (theirs, stop) = (job.clone(), cancel.clone());
            let work = move || {
                let what = match theirs.work {
                    Work::Survey => Told::Surveyed(Box::new(look_around(&theirs, &stop))),
                    Work::Check(..) | Work::Trial(_) => Told::Finished(Box::new(check(run, &theirs, &stop, &outlet))),
                };
                drop(theirs);
                outlet(News { run, what });
            };
            let started = thread::Builder::new().name("check".to_owned()).stack_size(STACK_BYTES).spawn(work);
            self.running.push((run, job, cancel));
            if let Err(error) = started {
                let outcome = Err(format!("no thread could be started: {error}"));
                (self.outlet)(News { run, what: Told::Finished(Box::new(outcome)) });
            }
        }
    }
}

/// Runs a check to its end.
fn check(run: RunId, job: &Job, cancel: &Cancel, outlet: &Outlet) -> Result<Outcome, String> {
    let started = Instant::now();
    let allowed = match job.work {
        Work::Check(Tier::Quick, _) => job.budget.quick,
        Work::Check(Tier::Deep, _) => job.budget.deep,
        Work::Survey | Work::Trial(_) => job.budget.background,
    };
    let mut next_progress = Duration::ZERO;
    let mut observe = |event: Event| {
        let now = started.elapsed();
        if allowed < now {
            cancel.time_out();
        }
        if matches!(event, Event::Progress { .. }) {
            if now < next_progress {
                return;
            }
            next_progress = now + PROGRESS_PAUSE;
        }
        if !matches!(event, Event::Finding { .. } | Event::Started { .. } | Event::Done { .. }) {
            outlet(News { run, what: Told::Event(Box::new(event)) });
        }
    };
    let settings = settings(job);
    let cache = Cache::of_user();
    if let Some(known) = cache.as_ref().and_then(|cache| cache.look_up(&job.loaded, &settings)) {
        return Ok(known);
    }
    let mut around = Surroundings { cancel, now: &|| started.elapsed(), observe: &mut observe, controls: None };
    let checked = panic::catch_unwind(AssertUnwindSafe(|| fabius_engine::check(&job.loaded, &settings, &mut around)));
    if let (Ok(outcome), Some(cache)) = (&checked, &cache) {
        cache.remember(&job.loaded, &settings, outcome);
    }
    checked.map_err(|panic| said(&*panic))
}

fn settings(job: &Job) -> Settings {
    Settings {
        search: match job.work {
            Work::Check(Tier::Quick, _) => Order::BreadthFirst,
            _ => Order::DepthFirstThenShorten,
        },
        properties: match &job.work {
            Work::Check(_, properties) => properties.clone(),
            _ => Vec::new(),
        },
        hints: matches!(job.work, Work::Check(Tier::Deep, _)),
        limits: Limits { memory_bytes_max: Some(job.budget.memory_bytes), ..Limits::default() },
        ..Settings::default()
    }
}

/// Looks at the reachable states for a while.
fn look_around(job: &Job, cancel: &Cancel) -> Option<Survey> {
    let limits = Limits {
        states_max: Some(SURVEY_STATES_MAX),
        memory_bytes_max: Some(job.budget.memory_bytes),
        ..Limits::default()
    };
    let survey = || fabius_engine::survey(&job.loaded, limits, cancel);
    let seen = panic::catch_unwind(AssertUnwindSafe(survey)).ok().flatten()?;
    cancel.requested().is_none().then_some(seen)
}

/// What a panic said.
pub fn said(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic without words").to_owned()
}
