//! Checks on threads of their own: started, watched, superseded.
//!
//! The session never waits for a check. A check tells what happens as [`CheckEvent`], and stops within
//! milliseconds when it is superseded, because the engine looks at the same flag every thousand steps.

use super::jobs::{Job, Lane, RunId, Work, memory_max, settings, time_for};
use super::look_around::{StateSpaceFindings, look_around};
use super::questions::{self, Answer};
use super::reading::Reading;
use super::unread::UnreadText;
use super::workspace::{WorkspaceFindings, WorkspaceRequest};
use fabius_analysis::schedule::{ScheduleRequest, Scheduled, Stops, schedule};
use fabius_analysis::stuck::{StuckReport, StuckRequest, stuck};
use fabius_analysis::{CoReachability, Line};
use fabius_base::{Cancel, Limits, StopReason};
use fabius_engine::report::{PropertyReport, Stopped};
use fabius_engine::{CheckContext, Event, Goal, Outcome, Planned, Report, Settings, Verdict, crashed, plan};
use fabius_project::cache::Cache;
use fabius_supervise::{Clock, Task, Unfinished, Voice, begin};
use std::collections::VecDeque;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Stack of a thread that checks: a model may nest deeply before a limit is reached.
pub const STACK_BYTES: usize = 64 << 20;
/// Time between two pieces of news about the progress of one check.
const PROGRESS_PAUSE: Duration = Duration::from_millis(100);

/// Time between two pieces of news about what is known so far: more often, whoever shows it would flicker.
const ROUND_PAUSE: Duration = Duration::from_millis(500);
/// This many questions that somebody waits for are looked into at the same time.
const QUESTIONS_MAX: usize = 4;
/// Whether two lines meet is looked for in this many states.
const MEET_STATES_MAX: u64 = 20_000;
/// Whether deadlocks that the text does not exclude can be reached is looked for in this many states.
const DEADLOCKS_STATES_MAX: u64 = 20_000;

/// What a run tells.
#[derive(Debug)]
pub struct CheckEvent {
    /// Which run.
    pub run: RunId,
    /// What happened.
    pub what: CheckEventKind,
}

/// What happened in a run.
#[derive(Debug)]
pub enum CheckEventKind {
    /// Something that the engine tells.
    Event(Box<Event>),
    /// The run is over; if it panicked, what the panic said.
    Finished(Box<Result<Outcome, String>>),
    /// A survey is over: what was seen.
    Surveyed(Box<Option<StateSpaceFindings>>),
    /// A schedule that avoids what goes wrong was looked for.
    Scheduled(Box<Option<Scheduled>>),
    /// It was looked for where deadlocks are not excluded.
    Deadlocks(Box<Option<StuckReport>>),
    /// A question was answered, if anything is known.
    Answered(Box<Option<Answer>>),
    /// It is known whether two places can be reached at once, if anything is.
    Met(Box<Option<CoReachability>>),
    /// The models of the folders were read; `None` if that did not come to its end.
    Workspace(Box<Option<WorkspaceFindings>>),
    /// A text of this document was read; if that ended in a panic, what the panic said.
    Read(String, Box<Result<Reading, String>>),
}

impl CheckEventKind {
    /// Work ended in a panic, which said this.
    fn failed(work: &Work, said: String) -> Self {
        match work {
            Work::Survey => Self::Surveyed(Box::new(None)),
            Work::Schedule => Self::Scheduled(Box::new(None)),
            Work::Deadlocks => Self::Deadlocks(Box::new(None)),
            Work::Ask(_) => Self::Answered(Box::new(Some(Answer::Failed(said)))),
            Work::Meet(_) => Self::Met(Box::new(None)),
            Work::Check(..) | Work::FixValidation(_) => Self::Finished(Box::new(Err(said))),
        }
    }

    /// Work did not come to its end.
    fn unfinished(job: &Job, why: Unfinished) -> Self {
        match &job.work {
            Work::Survey => Self::Surveyed(Box::new(None)),
            Work::Schedule => Self::Scheduled(Box::new(None)),
            Work::Deadlocks => Self::Deadlocks(Box::new(None)),
            Work::Ask(_) => Self::Answered(Box::new(None)),
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
    reading: Vec<Read>,
}

/// A text that is being read.
struct Read {
    run: RunId,
    document: String,
    cancel: Cancel,
}

/// Work on a thread.
struct Going {
    run: RunId,
    job: Job,
    cancel: Cancel,
    /// Its time, which stands still while it is halted.
    clock: Clock,
    /// It gave way to something more urgent, and is begun again when there is room.
    gave_way: bool,
}

impl Going {
    /// Nobody told it to stop or to halt.
    fn is_on(&self) -> bool {
        self.cancel.requested().is_none() && !self.clock.is_halted()
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
        Self {
            event_sink,
            at_once_max: at_once_max.max(1),
            next: 0,
            running: Vec::new(),
            waiting: VecDeque::new(),
            reading: Vec::new(),
        }
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

    /// Reads a text on a thread of its own, within this time, instead of an older one of the same document.
    pub fn read(&mut self, text: UnreadText, allowed: Duration) -> RunId {
        self.next += 1;
        let (run, document, cancel, event_sink) =
            (RunId(self.next), text.name.clone(), Cancel::new(), Arc::clone(&self.event_sink));
        self.stop_reading(&document);
        self.reading.push(Read { run, document: document.clone(), cancel: cancel.clone() });
        let text = Arc::new(text);
        let (read, asked_to_stop, unread) = (Arc::clone(&text), cancel.clone(), Arc::clone(&text));
        let work = move || {
            panic::catch_unwind(AssertUnwindSafe(|| read.prepare(&asked_to_stop))).map_err(|panic| said(&*panic))
        };
        let tell = move |done: Result<Result<Reading, String>, Unfinished>| {
            let reading = done.unwrap_or_else(|why| match why {
                Unfinished::Abandoned(reason) => Ok(unread.not_read(reason)),
                Unfinished::Crowded => Ok(unread.not_read(StopReason::Cancelled)),
            });
            event_sink(CheckEvent { run, what: CheckEventKind::Read(document, Box::new(reading)) });
        };
        let task = Task { allowed: Some(allowed), ..Task::new("read", cancel) };
        if begin(task, work, tell).is_err() {
            let reading = Ok(text.not_read(StopReason::Exhausted));
            (self.event_sink)(CheckEvent { run, what: CheckEventKind::Read(text.name.clone(), Box::new(reading)) });
        }
        run
    }

    /// Reads the models of the folders on a thread of its own, within this time.
    pub fn read_workspace(&mut self, request: WorkspaceRequest, allowed: Duration) -> RunId {
        self.next += 1;
        let (run, cancel, event_sink) = (RunId(self.next), Cancel::new(), Arc::clone(&self.event_sink));
        self.reading.push(Read { run, document: String::new(), cancel: cancel.clone() });
        let asked_to_stop = cancel.clone();
        let work = move || panic::catch_unwind(AssertUnwindSafe(|| request.read(&asked_to_stop))).ok();
        let tell = move |done: Result<Option<WorkspaceFindings>, Unfinished>| {
            let found = Box::new(done.ok().flatten());
            event_sink(CheckEvent { run, what: CheckEventKind::Workspace(found) });
        };
        let task = Task { allowed: Some(allowed), ..Task::new("workspace", cancel) };
        if begin(task, work, tell).is_err() {
            (self.event_sink)(CheckEvent { run, what: CheckEventKind::Workspace(Box::new(None)) });
        }
        run
    }

    /// Nobody wants to know any more what a text of a document means.
    fn stop_reading(&mut self, document: &str) {
        self.reading.iter().filter(|read| read.document == document).for_each(|read| read.cancel.cancel());
    }

    /// A new survey takes the place of the one before; a check of a document, that of trials of what it was.
    fn drop_outdated_by(&mut self, job: &Job) {
        let outdated = |old: &Job| match (&job.work, &old.work) {
            (Work::Survey, Work::Survey)
            | (Work::Schedule, Work::Schedule)
            | (Work::Deadlocks, Work::Deadlocks)
            | (Work::Check(..), Work::Schedule | Work::FixValidation(_)) => old.document == job.document,
            (Work::Check(..), Work::Deadlocks) => {
                old.document == job.document && !Arc::ptr_eq(&old.loaded, &job.loaded)
            }
            _ => false,
        };
        self.running.iter_mut().filter(|going| outdated(&going.job)).for_each(Going::stop);
        if matches!(job.work, Work::Survey | Work::Schedule | Work::Deadlocks) {
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

    /// Halts a run where it is, so that others have its place; false if it is not going on.
    pub fn halt(&mut self, run: RunId) -> bool {
        let Some(going) = self.running.iter().find(|going| going.run == run && going.is_on()) else { return false };
        going.clock.halt();
        self.pump();
        true
    }

    /// Lets a run go on that was halted; false if it is over.
    pub fn resume(&mut self, run: RunId) -> bool {
        let halted = |going: &&Going| going.run == run && going.cancel.requested().is_none();
        let Some((job, clock)) = self.running.iter().find(halted).map(|going| (going.job.clone(), going.clock.clone()))
        else {
            return false;
        };
        if !self.has_room(job.work.lane()) {
            self.make_way(&job);
        }
        clock.resume();
        true
    }

    /// Stops all work for a document but answers to questions, which somebody waits for.
    pub fn cancel_for(&mut self, document: &str) {
        self.stop_reading(document);
        let theirs = |job: &Job| job.document == document && job.work.lane() != Lane::Question;
        self.waiting.retain(|(_, job)| !theirs(job));
        self.running.iter_mut().filter(|going| theirs(&going.job)).for_each(Going::stop);
    }

    /// Stops everything.
    pub fn cancel_all(&mut self) {
        self.waiting.clear();
        self.running.iter_mut().for_each(Going::stop);
        self.reading.iter().for_each(|read| read.cancel.cancel());
    }

    /// Makes room after a run.
    pub fn finished(&mut self, run: RunId) -> Ended {
        self.reading.retain(|read| read.run != run);
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

    /// Whether nothing runs and nothing waits; what is halted may stay so for ever.
    pub fn is_idle(&self) -> bool {
        let halted = |going: &Going| going.clock.is_halted() && going.cancel.requested().is_none();
        self.running.iter().all(halted) && self.waiting.is_empty() && self.reading.is_empty()
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
        let (cancel, voice, clock) = (Cancel::new(), Voice::default(), Clock::default());
        let event_sink = Arc::clone(&self.event_sink);
        let (theirs, stop, alive, time) = (job.clone(), cancel.clone(), voice.clone(), clock.clone());
        // What was left alone has nothing to say any more.
        let heard: EventSink = Arc::new(move |event| {
            if !alive.is_lost() {
                event_sink(event)
            }
        });
        let work = move || {
            let done = panic::catch_unwind(AssertUnwindSafe(|| match &theirs.work {
                Work::Survey => CheckEventKind::Surveyed(Box::new(look_around(&theirs, &stop))),
                Work::Schedule => CheckEventKind::Scheduled(Box::new(look_for_schedule(&theirs, &stop))),
                Work::Deadlocks => CheckEventKind::Deadlocks(Box::new(look_for_deadlocks(&theirs, &stop))),
                Work::Check(..) | Work::FixValidation(_) => {
                    CheckEventKind::Finished(Box::new(Ok(check(run, &theirs, (&stop, &time), &heard))))
                }
                Work::Ask(question) => {
                    CheckEventKind::Answered(Box::new(Some(questions::answer(&theirs, question, &stop))))
                }
                Work::Meet(lines) => CheckEventKind::Met(Box::new(co_reachable(&theirs, lines, &stop))),
            }));
            done.unwrap_or_else(|panic| CheckEventKind::failed(&theirs.work, said(&*panic)))
        };
        // Whatever happens, it is told that the work is over: what nobody knows to be over keeps its place for ever.
        let (event_sink, unfinished) = (Arc::clone(&self.event_sink), job.clone());
        let tell = move |done: Result<CheckEventKind, Unfinished>| {
            let what = done.unwrap_or_else(|why| CheckEventKind::unfinished(&unfinished, why));
            drop(unfinished);
            event_sink(CheckEvent { run, what });
        };
        let allowed = match job.work {
            Work::Check(..) | Work::FixValidation(_) | Work::Deadlocks => time_for(&job),
            Work::Survey | Work::Schedule | Work::Meet(_) | Work::Ask(_) => job.budget.deep,
        };
        let (name, allowed) = ("check", Some(allowed));
        let task = Task { name, cancel: cancel.clone(), voice, allowed, clock: clock.clone() };
        let started = begin(task, work, tell);
        self.running.push(Going { run, job, cancel, clock, gave_way: false });
        if let Err(error) = started {
            let outcome = Err(format!("no thread could be started: {error}"));
            (self.event_sink)(CheckEvent { run, what: CheckEventKind::Finished(Box::new(outcome)) });
        }
    }
}

/// Runs a check to its end; it halts where it tells of its progress while the clock stands still.
fn check(run: RunId, job: &Job, (cancel, clock): (&Cancel, &Clock), event_sink: &EventSink) -> Outcome {
    let loaded = match job.searched.make(cancel) {
        Ok(loaded) => loaded,
        Err(reason) => return undecided(job, Unfinished::Abandoned(reason)),
    };
    let mut allowed = time_for(job);
    let mut next_progress = Duration::ZERO;
    let mut next_round = Duration::ZERO;
    let mut untold_round = None;
    let mut observe = |event: Event| {
        clock.wait_while_halted(cancel);
        let now = clock.elapsed();
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
            event_sink(CheckEvent { run, what: CheckEventKind::Event(Box::new(event)) });
        }
    };
    let settings = fabius_engine::suited(&loaded, &settings(job));
    let cache = Cache::of_user();
    // A proof is one in whichever order the states were looked at.
    let proved = Settings { delaying: None, ..settings.clone() };
    if let Some(known) = cache.as_ref().and_then(|cache| cache.look_up(&loaded, &proved)) {
        return known;
    }
    let mut context = CheckContext { cancel, now: &|| clock.elapsed(), observe: &mut observe, controls: None };
    let outcome = fabius_engine::check(&loaded, &settings, &mut context);
    if let Some(cache) = &cache {
        cache.remember(&loaded, &proved, &outcome);
    }
    if let Some(round) = untold_round {
        event_sink(CheckEvent { run, what: CheckEventKind::Event(Box::new(round)) });
    }
    outcome
}

/// Looks for a schedule that avoids the violation that was found, and writes it into the text where that is possible.
fn look_for_schedule(job: &Job, cancel: &Cancel) -> Option<Scheduled> {
    let request =
        ScheduleRequest { export: true, memory_bytes_max: Some(memory_max(job)), ..ScheduleRequest::default() };
    let found = schedule(&job.loaded, &request, &Stops::all(cancel), &mut |_| {}).after_violation();
    cancel.requested().is_none().then_some(found)
}

/// Looks where the text does not exclude a deadlock, and for a while whether a run leads there. What is known when the time
/// is up is true.
fn look_for_deadlocks(job: &Job, cancel: &Cancel) -> Option<StuckReport> {
    let began = Instant::now();
    let request = StuckRequest { every: true, limits: limits(job, DEADLOCKS_STATES_MAX), ..StuckRequest::default() };
    let found = stuck(&job.loaded, &request, cancel, &|| began.elapsed()).ok()?;
    (cancel.requested() != Some(StopReason::Cancelled)).then_some(found.report)
}

/// Looks whether places can be reached at once.
fn co_reachable(job: &Job, lines: &[Line], cancel: &Cancel) -> Option<CoReachability> {
    fabius_analysis::co_reachable(&job.loaded, lines, limits(job, MEET_STATES_MAX), cancel)
}

fn limits(job: &Job, states_max: u64) -> Limits {
    Limits { states_max: Some(states_max), memory_bytes_max: Some(memory_max(job)), ..Limits::default() }
}

/// What a panic said.
pub fn said(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic without words").to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::jobs::{Budget, Searched, Tier, settings};
    use super::*;
    use fabius_engine::settings::{SchedulerChoice, WHOLE_STATES_MAX};
    use fabius_engine::{Fairness, Loaded, SAFETY};
    use std::sync::mpsc;

    fn job(document: &str, work: Work) -> Job {
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
            let next = |tier: Tier| tier.next(loaded, property, Fairness::None, states);
            tiers.extend(std::iter::successors(next(Tier::Quick), |tier| next(*tier)));
            tiers
        };
        let (few, many) = (10, WHOLE_STATES_MAX);
        assert_eq!(after(&plain, SAFETY, few), [Tier::Quick, Tier::DelayDeepening, Tier::Deep, Tier::Extended]);
        assert_eq!(after(&plain, SAFETY, many), [Tier::Quick, Tier::Deep, Tier::Extended]);
        assert_eq!(after(&plain, "p", few), [Tier::Quick, Tier::DelayDeepening, Tier::Deep]);
        // Searches in the order of delays do not know of fairness.
        assert_eq!(Tier::Quick.next(&plain, "p", Fairness::Weak, few), Some(Tier::Deep));
        assert_eq!(settings(&Job { fairness: Fairness::Weak, ..job("a", Work::Survey) }).fairness, Fairness::Weak);
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
            let pauses = fabius_engine::settings::Pauses { first: 5_000, growth: 4 };
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
            if matches!(what, CheckEventKind::Event(_)) || matches!(checker.finished(run), Ended::GaveWay) {
                continue;
            }
            over.push(run);
            if let CheckEventKind::Surveyed(found) = what {
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
            if let (Ended::Done(_), CheckEventKind::Surveyed(survey)) = (checker.finished(run), what) {
                found.extend(survey.map(|_| run));
            }
        }
        assert_eq!(found.last(), runs.last(), "{found:?} of {runs:?}");
    }
}
