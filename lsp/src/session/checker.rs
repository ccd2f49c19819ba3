//! Checks on threads of their own: started, watched, superseded.
//!
//! The session never waits for a check. A check tells what happens as [`CheckEvent`], and stops within
//! milliseconds when it is superseded, because the engine looks at the same flag every thousand steps.

use super::events::{CheckEvent, CheckEventKind, EventSink, said};
use super::jobs::{Job, Lane, RunId, Work, goes_by_delays, time_for};
use super::reading::Reading;
use super::unread::UnreadText;
use super::work;
use super::workspace::{WorkspaceFindings, WorkspaceRequest};
use fabius_base::{Cancel, StopReason};
use fabius_engine::{Controls, SAFETY};
use fabius_supervise::{Clock, Task, Unfinished, Voice, begin, manners};
use std::collections::VecDeque;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::time::Duration;

/// This many questions that somebody waits for are looked into at the same time.
const QUESTIONS_MAX: usize = 4;
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
    /// What can be done to its searches while they run.
    controls: Controls,
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
    Done(Option<Box<Job>>),
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

    /// How many runs of its kind begin before a run that waits for room; nothing if it does not wait.
    pub fn ahead(&self, run: RunId) -> Option<usize> {
        let at = self.waiting.iter().position(|(waiting, _)| *waiting == run)?;
        let lane = self.waiting.get(at)?.1.work.lane();
        Some(self.waiting.iter().take(at).filter(|(_, job)| job.work.lane() == lane).count())
    }

    /// Begins a run that waits before all others; a search for another document is interrupted for it.
    pub fn hurry(&mut self, run: RunId) {
        let at = self.waiting.iter().position(|(waiting, _)| *waiting == run);
        if let Some((run, job)) = at.and_then(|at| self.waiting.remove(at)) {
            if job.work.lane() == Lane::Search && !self.has_room(Lane::Search) {
                self.make_way(&job);
            }
            self.waiting.push_front((run, job));
            self.pump();
        }
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

    /// Bounds the depth of the checks of a document, those that run and those that wait. False if a search is among them that does not know
    /// of such a bound.
    pub fn bound_depth(&mut self, document: &str, max: Option<u64>) -> bool {
        let theirs = |job: &Job| matches!(job.work, Work::Check(..)) && job.document == document;
        let waiting = self.waiting.iter_mut().filter(|(_, job)| theirs(job));
        waiting.for_each(|(_, job)| job.demands.max_depth = max);
        let mut is_heeded = true;
        for going in self.running.iter_mut().filter(|going| theirs(&going.job)) {
            let Work::Check(tier, property) = &going.job.work else { continue };
            is_heeded &= property == SAFETY || !goes_by_delays(*tier, &going.job.loaded, property, &going.job.demands);
            going.job.demands.max_depth = max;
            going.controls.bound_depth(max);
        }
        is_heeded
    }

    /// Says which states the searches of a document visit first, those that run and those that wait.
    pub fn visit_first(&mut self, document: &str, condition: Option<&str>) {
        let theirs = |job: &Job| matches!(job.work, Work::Check(..)) && job.document == document;
        let wanted = condition.map(str::to_owned);
        let waiting = self.waiting.iter_mut().filter(|(_, job)| theirs(job));
        waiting.for_each(|(_, job)| job.demands.visit_first.clone_from(&wanted));
        for going in self.running.iter_mut().filter(|going| theirs(&going.job)) {
            going.job.demands.visit_first.clone_from(&wanted);
            going.controls.visit_first(condition);
        }
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
            Ended::Done(Some(Box::new(job)))
        };
        self.pump();
        ended
    }

    /// Whether nothing runs and nothing waits; what is halted may stay so for ever.
    pub fn is_idle(&self) -> bool {
        let halted = |going: &Going| going.clock.is_halted() && going.cancel.requested().is_none();
        self.running.iter().all(halted) && self.waiting.is_empty() && self.reading.is_empty()
    }

    /// Whether no thread works and nothing is halted.
    #[cfg(test)]
    pub fn is_over(&self) -> bool {
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
        let (cancel, voice, clock, controls) = (Cancel::new(), Voice::default(), Clock::default(), Controls::new());
        controls.visit_first(job.demands.visit_first.as_deref());
        let event_sink = Arc::clone(&self.event_sink);
        let (theirs, stop, alive, time) = (job.clone(), cancel.clone(), voice.clone(), clock.clone());
        let steered = controls.clone();
        // What was left alone has nothing to say any more.
        let heard: EventSink = Arc::new(move |event| {
            if !alive.is_lost() {
                event_sink(event)
            }
        });
        let in_background = matches!(job.work.lane(), Lane::Search | Lane::Background);
        let work = move || {
            if in_background {
                manners::lower_priority();
            }
            let done =
                panic::catch_unwind(AssertUnwindSafe(|| work::execute(run, &theirs, (&stop, &time, &steered), &heard)));
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
        self.running.push(Going { run, job, cancel, clock, controls, gave_way: false });
        if let Err(error) = started {
            let outcome = Err(format!("no thread could be started: {error}"));
            (self.event_sink)(CheckEvent { run, what: CheckEventKind::Finished(Box::new(outcome)) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::jobs::Tier;
    use super::super::jobs::tests::job;
    use super::*;
    use std::sync::mpsc;

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
    fn a_check_that_waits_can_be_begun_at_once() {
        let (sender, events) = mpsc::channel();
        let mut checker = Checker::new(Arc::new(move |told| drop(sender.send(told))), 1);
        let deep = |document: &str| job(document, Work::Check(Tier::Deep, SAFETY.to_owned()));
        let first = checker.start(deep("a"));
        let (second, third) = (checker.start(deep("a")), checker.start(deep("a")));
        // The newest is begun first.
        assert_eq!([first, second, third].map(|run| checker.ahead(run)), [None, Some(1), Some(0)]);
        // Looks are no searches.
        let look = checker.start(job("a", Work::Check(Tier::Quick, SAFETY.to_owned())));
        assert_eq!((checker.ahead(look), checker.ahead(second)), (None, Some(1)));
        checker.hurry(second);
        assert_eq!((checker.ahead(second), checker.ahead(third)), (Some(0), Some(1)));
        let other = checker.start(deep("b"));
        // The search for the other document is interrupted at once, and waits again.
        assert_eq!(checker.ahead(other), None);
        checker.hurry(third);
        assert_eq!(checker.ahead(third), None);
        checker.cancel_all();
        while !checker.is_over() {
            let CheckEvent { run, what } = events.recv().unwrap();
            if !matches!(what, CheckEventKind::Event(_)) {
                checker.finished(run);
            }
        }
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
