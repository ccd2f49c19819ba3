//! Checks of documents: begun, stopped, and what becomes of them.

use super::checker::Ended;
use super::document::{Document, Running, When, fairness_of};
use super::events::{CheckEvent, CheckEventKind};
use super::jobs::{Demands, Job, RunId, Searched, Tier, Work};
use super::queue::Turn;
use super::reading::Reading;
use super::results::Results;
use super::{Notice, Session, results};
use fabius_engine::report::Stopped;
use fabius_engine::{Event, Fairness, Goal, Outcome, SAFETY, boundary};
use fabius_supervise::manners;
use std::sync::Arc;

impl Session {
    /// A document was saved, or is to be looked at as if it had been.
    pub fn save(&mut self, name: &str) {
        let model = self.model_of(name);
        if let Some(reading) = self.reading(&model)
            && let Some(document) = self.documents.get_mut(&model)
        {
            document.results.save(&reading);
        }
        if self.documents.get(&model).is_some_and(|document| document.options.when != When::Never) {
            self.check(&model, Tier::Quick);
        }
    }

    /// Starts a check of everything that is not known about a document, unless one is under way.
    pub fn check(&mut self, name: &str, tier: Tier) {
        let Some(reading) = self.reading(name) else {
            if let Some(document) = self.documents.get_mut(name) {
                document.check_when_read = Some(tier);
            }
            return;
        };
        self.overtake(name);
        let Some(document) = self.documents.get(name) else { return };
        // Under other settings than those that are meant, a verdict would be one about another model.
        let misconfigured = document.misconfigured().or_else(|| document.wrong_condition()).is_some();
        if document.run.is_some() || misconfigured || reading.loaded.checkable().is_none() {
            return;
        }
        let wanted = reading.asked_for(&document.options.properties);
        let missing = document.results.missing(&reading);
        let properties: Vec<String> = missing.into_iter().filter(|name| wanted.contains(name)).collect();
        if properties.is_empty() {
            self.try_schedule(name);
            self.try_deadlocks(name);
        } else {
            self.start(name, reading, tier, properties);
        }
    }

    /// Forgets what is known about a property of a document, or about all, and checks it from the beginning.
    pub fn check_again(&mut self, name: &str, property: Option<&str>, tier: Tier) {
        self.stop(name);
        if let Some(document) = self.documents.get_mut(name) {
            let again = |known: &&mut results::Known| property.is_none_or(|property| property == known.report.name);
            document.results.known.iter_mut().filter(again).for_each(|known| known.stale = true);
        }
        self.check(name, tier);
    }

    /// Asks which infinite runs count for a property of a document, or for all, instead of what is chosen. What was found
    /// out under another fairness is forgotten.
    pub fn ask_fairness(&mut self, name: &str, property: Option<&str>, fairness: Fairness) {
        self.stop(name);
        let Some(reading) = self.reading(name) else { return };
        let Some(document) = self.documents.get_mut(name) else { return };
        let asked = reading.properties().into_iter().filter(|known| property.is_none_or(|property| property == known));
        document.asked_fairness.extend(asked.map(|property| (property, fairness)));
        let Document { results, asked_fairness, options, .. } = document;
        results.known.retain(|known| known.fairness == fairness_of(asked_fairness, options, &known.report.name));
        self.fresh.insert(name.to_owned());
    }

    /// Checks of a document do not go on from states in which a condition is true; `None`: from all. What was found out with another
    /// condition is forgotten.
    ///
    /// # Errors
    /// What is wrong with the condition.
    pub fn leave_out(&mut self, name: &str, condition: Option<String>) -> Result<(), String> {
        let reading = self.reading(name).ok_or("the model is still being read")?;
        if let Some(condition) = &condition {
            boundary(&reading.loaded, condition)?;
        }
        let Some(document) = self.documents.get_mut(name).filter(|document| document.leave_out != condition) else {
            return Ok(());
        };
        document.leave_out = condition;
        document.results = Results::default();
        self.stop(name);
        self.fresh.insert(name.to_owned());
        Ok(())
    }

    fn start(&mut self, name: &str, reading: Arc<Reading>, tier: Tier, properties: Vec<String>) {
        let running = Running {
            run: RunId(0),
            tier,
            searched: Searched::document(&reading.loaded),
            reading,
            property: String::new(),
            progress: None,
            bound: None,
            goal: Goal::Violation,
            next: properties.into_iter().map(|property| Turn::new(tier, property)).collect(),
        };
        self.go_on(name, running);
    }

    /// Looks at the next property: all of them shortly, then some deeply. Says whether there was one.
    pub(super) fn go_on(&mut self, name: &str, mut running: Running) -> bool {
        let (Some(turn), Some(document)) = (running.next.pop_front(), self.documents.get_mut(name)) else {
            return false;
        };
        let Turn { tier, property, halted } = turn;
        let known = document.results.of(&property).filter(|known| !known.stale && known.is_open());
        let (bound, seen) = known.map_or((None, 0), |known| (known.bound, known.report.states));
        let goal = Goal::Violation;
        if let Some((run, progress)) = halted.filter(|(run, _)| self.checker.resume(*run)) {
            document.run = Some(Running { run, tier, property, progress, bound, goal, ..running });
            return true;
        }
        let job = Job {
            document: name.to_owned(),
            loaded: Arc::clone(&running.reading.loaded),
            searched: Arc::clone(&running.searched),
            work: Work::Check(tier, property.clone()),
            seen,
            budget: document.options.budget.now(manners::on_battery()),
            scheduler: document.options.scheduler.clone(),
            demands: Demands {
                fairness: document.fairness(&property),
                leave_out: document.leave_out.clone(),
                max_depth: document.max_depth,
                visit_first: document.visit_first.clone(),
            },
        };
        let run = self.checker.start(job);
        document.run = Some(Running { run, tier, property, progress: None, bound, goal, ..running });
        true
    }

    /// Stops the check of a document, if one is under way, and those that are halted.
    pub fn stop(&mut self, name: &str) {
        self.give_up(|halted| halted.document == name);
        if let Some(document) = self.documents.get_mut(name) {
            document.check_when_read = None;
        }
        if let Some(mut running) = self.documents.get_mut(name).and_then(|document| document.run.take()) {
            running.drop_interrupted(&mut self.checker);
            self.checker.cancel(running.run);
        }
    }

    /// Stops everything.
    pub fn stop_all(&mut self) {
        self.checker.cancel_all();
        self.halted.clear();
        self.documents.values_mut().for_each(|document| document.run = None);
    }

    /// Whether no check is under way.
    pub fn is_idle(&self) -> bool {
        self.checker.is_idle()
    }

    /// Takes in what a check tells. News of a check that was overtaken by an edit is forgotten.
    pub fn handle(&mut self, event: CheckEvent) -> Vec<Notice> {
        if matches!(event.what, CheckEventKind::Finished(_)) {
            self.halted.retain(|halted| halted.running.run != event.run);
        }
        if let CheckEventKind::Workspace(found) = event.what {
            self.checker.finished(event.run);
            return self.workspace.was_read(*found);
        }
        let job = match event.what {
            CheckEventKind::Event(_) => None,
            CheckEventKind::Sweeping(so_far) => return self.sweep_goes_on(event.run, *so_far),
            _ => match self.checker.finished(event.run) {
                Ended::Done(job) => job.map(|job| *job),
                Ended::GaveWay => {
                    self.begins_again(event.run);
                    return Vec::new();
                }
            },
        };
        if let CheckEventKind::Read(name, reading) = event.what {
            return self.was_read_beside(&name, event.run, *reading);
        }
        if let CheckEventKind::Met(meeting) = event.what {
            let loaded = job.map(|job| job.loaded);
            return loaded.map(|loaded| Notice::Met(event.run, meeting, loaded)).into_iter().collect();
        }
        if let CheckEventKind::Answered(answer) = event.what {
            return job.map(|job| self.answered(event.run, &job, *answer)).unwrap_or_default();
        }
        if let Some(job) = job.as_ref().filter(|job| !matches!(job.work, Work::Check(..))) {
            return self.background_done(job, event.what);
        }
        let ours = |document: &Document| document.run.as_ref().is_some_and(|running| running.run == event.run);
        let Some((name, document)) = self.documents.iter_mut().find(|(_, document)| ours(document)) else {
            return Vec::new();
        };
        let name = name.clone();
        match event.what {
            CheckEventKind::Event(event) => {
                if matches!(*event, Event::LeftOut { .. }) {
                    self.begin_anew(&name);
                    return vec![Notice::Changed(name)];
                }
                let Some(running) = document.run.as_mut() else { return Vec::new() };
                let notice = running.handle(&name, *event);
                if let Some(bound) = running.bound {
                    document.results.rise(&running.property, bound);
                }
                notice.into_iter().collect()
            }
            CheckEventKind::Finished(outcome) => self.finished(&name, job, *outcome),
            CheckEventKind::Surveyed(_)
            | CheckEventKind::Scheduled(_)
            | CheckEventKind::Deadlocks(_)
            | CheckEventKind::Met(_)
            | CheckEventKind::Workspace(_)
            | CheckEventKind::Sweeping(_)
            | CheckEventKind::Answered(_)
            | CheckEventKind::Read(..) => Vec::new(),
        }
    }

    /// A check gave way to that of another document: what it told of how far it is counts no more.
    fn begins_again(&mut self, run: RunId) {
        let runs = self.documents.values_mut().filter_map(|document| document.run.as_mut());
        runs.filter(|running| running.run == run).for_each(|running| running.progress = None);
    }

    fn finished(&mut self, name: &str, job: Option<Job>, outcome: Result<Outcome, String>) -> Vec<Notice> {
        let Some(document) = self.documents.get_mut(name) else { return Vec::new() };
        let Some(mut running) = document.run.take() else { return Vec::new() };
        let outcome = match outcome {
            Ok(outcome) => outcome,
            Err(panic) => return vec![Notice::Failed(name.to_owned(), panic), Notice::Settled(name.to_owned())],
        };
        let mut notices = Vec::new();
        // The short look at what can deadlock is over; what follows may take long.
        let looked = job.as_ref().is_some_and(|job| job.work == Work::Check(Tier::Quick, SAFETY.to_owned()));
        notices.extend(outcome.failure.clone().map(|failure| Notice::Failed(name.to_owned(), failure)));
        let fairness = job.as_ref().map_or(Fairness::None, |job| job.demands.fairness);
        document.results.take(&running.reading, outcome, fairness);
        // The text may have been edited without a change of meaning since the check began.
        if let Some(present) = document.reading.clone().filter(|present| !Arc::ptr_eq(present, &running.reading)) {
            document.follow(&present, &[]);
        }
        notices.push(Notice::Changed(name.to_owned()));
        if let Some(Job { work: Work::Check(tier, property), demands, .. }) = job {
            if let Some(bound) = running.bound {
                document.results.rise(&property, bound);
            }
            // Beyond a bound on depth, a longer search sees no more.
            let goes_on = |known: &&results::Known| known.is_open() && known.report.stopped != Some(Stopped::Depth);
            let open = document.results.of(&property).filter(goes_on);
            match open.and_then(|known| tier.next(&running.reading.loaded, &property, &demands, known.report.states)) {
                Some(next) => running.next.push_back(Turn::new(next, property)),
                None => notices.push(Notice::Decided(name.to_owned(), property)),
            }
        }
        if !self.go_on(name, running) {
            self.give_up(|halted| halted.document == name);
            notices.push(Notice::Settled(name.to_owned()));
            self.try_schedule(name);
            self.try_deadlocks(name);
            self.look_around(name);
            notices.push(Notice::Checked(name.to_owned()));
        } else if looked {
            self.try_deadlocks(name);
        }
        notices
    }
}
