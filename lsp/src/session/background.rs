//! Work beside the checks of a document: surveys for hints, fixes that are tried, questions about places.

use super::costs::KeptCosts;
use super::events::CheckEventKind;
use super::fix_validations;
use super::jobs::{Demands, Job, RunId, Searched, Work};
use super::look_around::StateSpaceFindings;
use super::runs::Origin;
use super::{Document, Notice, Options, Session};
use fabius_analysis::Line;
use fabius_analysis::schedule::Scheduled;
use fabius_analysis::stuck::StuckReport;
use fabius_engine::{Loaded, SAFETY, Verdict};
use std::sync::Arc;

impl Session {
    /// Starts work beside the check of a document.
    pub(super) fn start_beside(
        &mut self,
        name: &str,
        loaded: Arc<Loaded>,
        searched: Arc<Searched>,
        work: Work,
    ) -> Option<RunId> {
        let Options { budget, scheduler, fairness, .. } = &self.documents.get(name)?.options;
        let (document, scheduler) = (name.to_owned(), scheduler.clone());
        let demands = Demands { fairness: *fairness, ..Demands::default() };
        let job = Job { document, loaded, searched, work, seen: 0, budget: *budget, scheduler, demands };
        Some(self.checker.start(job))
    }

    /// Looks at the reachable states in the background, if hints are wanted.
    pub(super) fn look_around(&mut self, name: &str) {
        if self.documents.get(name).is_some_and(|document| document.options.hints) {
            self.survey(name);
        }
    }

    /// Looks at the reachable states of a document in the background; [`Notice::Hints`] tells that it is over.
    pub fn survey(&mut self, name: &str) {
        if let Some(reading) = self.reading(name) {
            let searched = Searched::document(&reading.loaded);
            self.start_beside(name, Arc::clone(&reading.loaded), searched, Work::Survey);
        }
    }

    /// Looks in the background for a schedule that avoids the errors found, if that is wanted and was not done.
    pub(super) fn try_schedule(&mut self, name: &str) {
        let Some(reading) = self.reading(name) else { return };
        let Some(document) = self.documents.get(name) else { return };
        let safety = document.results.of(SAFETY).filter(|known| !known.stale);
        let violated = safety.is_some_and(|known| known.report.verdict == Verdict::Violated);
        if document.options.schedule && violated && document.results.schedule(&reading).is_none() {
            let searched = Searched::document(&reading.loaded);
            self.start_beside(name, Arc::clone(&reading.loaded), searched, Work::Schedule);
        }
    }

    /// A schedule was looked for, for the text as it was then.
    fn scheduled(&mut self, name: &str, then: &Arc<Loaded>, found: Option<Scheduled>) -> Vec<Notice> {
        let (Some(document), Some(scheduled)) = (self.documents.get_mut(name), found) else { return Vec::new() };
        // After an edit that changes the meaning there comes a check, after which it is looked for again.
        if !document.present().is_some_and(|present| Arc::ptr_eq(&present.loaded, then)) {
            return Vec::new();
        }
        let failed = scheduled.failure.clone().map(|failure| Notice::Failed(name.to_owned(), failure));
        document.results.scheduled = Some((Arc::clone(then), Arc::new(scheduled)));
        failed.into_iter().chain([Notice::Changed(name.to_owned()), Notice::Scheduled(name.to_owned())]).collect()
    }

    /// Looks in the background where the text does not exclude a deadlock, if hints are wanted, no check decided that, and it
    /// was not done.
    pub(super) fn try_deadlocks(&mut self, name: &str) {
        let Some(reading) = self.reading(name) else { return };
        let Some(document) = self.documents.get(name) else { return };
        let Document { results, options, .. } = document;
        let known = results.deadlocks.as_ref().is_some_and(|(then, _)| Arc::ptr_eq(then, &reading.loaded));
        let checkable = reading.loaded.checkable().is_some() && document.misconfigured().is_none();
        if options.hints && checkable && !known && results.may_deadlock() {
            let searched = Searched::document(&reading.loaded);
            self.start_beside(name, Arc::clone(&reading.loaded), searched, Work::Deadlocks);
        }
    }

    /// It was looked for where the text, as it was then, does not exclude a deadlock.
    fn deadlocks(&mut self, name: &str, then: &Arc<Loaded>, found: Option<StuckReport>) -> Vec<Notice> {
        let (Some(document), Some(report)) = (self.documents.get_mut(name), found) else { return Vec::new() };
        let failed = report.internal_error.clone().map(|failure| Notice::Failed(name.to_owned(), failure));
        document.results.deadlocks = Some((Arc::clone(then), Arc::new(report)));
        let shown =
            document.present().is_some_and(|present| document.results.open_deadlocks(&present.loaded).is_some());
        failed.into_iter().chain(shown.then(|| Notice::Changed(name.to_owned()))).collect()
    }

    /// Whether [`Self::survey`] is under way for a document.
    pub fn is_surveying(&self, name: &str) -> bool {
        self.checker.is_surveying(name)
    }

    /// Looks whether lines of a document can be reached at once; [`Notice::Met`] brings the answer.
    pub fn co_reachable(&mut self, name: &str, lines: Vec<Line>) -> Option<RunId> {
        let loaded = Arc::clone(&self.reading(name)?.loaded);
        let searched = Searched::document(&loaded);
        self.start_beside(name, loaded, searched, Work::Meet(lines))
    }

    /// Stops a piece of work.
    pub fn cancel(&mut self, run: RunId) {
        self.checker.cancel(run);
    }

    /// Work that nobody waited for is done; if the model is another one by now, it was in vain.
    pub(super) fn background_done(&mut self, job: &Job, what: CheckEventKind) -> Vec<Notice> {
        let name = &job.document;
        match (what, &job.work) {
            (CheckEventKind::Surveyed(survey), Work::Survey) => self.surveyed(name, &job.loaded, *survey),
            (CheckEventKind::Scheduled(found), Work::Schedule) => self.scheduled(name, &job.loaded, *found),
            (CheckEventKind::Deadlocks(found), Work::Deadlocks) => self.deadlocks(name, &job.loaded, *found),
            (CheckEventKind::Finished(outcome), Work::FixValidation(number)) => {
                if let Some(document) = self.documents.get_mut(name) {
                    document.fix_validations.finished(*number, outcome.ok(), job);
                }
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    /// The reachable states of a document were looked at, as its text was then.
    fn surveyed(&mut self, name: &str, then: &Arc<Loaded>, found: Option<StateSpaceFindings>) -> Vec<Notice> {
        let Some(document) = self.documents.get_mut(name) else { return Vec::new() };
        let over = Notice::Hints(name.to_owned());
        let (Some(found), Some(present)) = (found, document.reading.clone()) else { return vec![over] };
        if !Arc::ptr_eq(&present.loaded, then) {
            // After an edit that changes the meaning there comes a check, which looks again by itself.
            if document.results.missing(&present).is_empty() {
                self.survey(name);
            }
            return vec![over];
        }
        document.results.survey = Some(found.survey);
        document.results.order = found.order.map(|order| (Arc::clone(then), Arc::new(order)));
        document.results.executions = found.executions.map(|report| (Arc::clone(then), Arc::new(report)));
        if let Some(costs) = found.costs {
            document.asked.costs = Some(KeptCosts { origin: Origin::of(&present), found: Some(costs), run: None });
        }
        document.results.surveyed = Some(present);
        let failed = found.failure.map(|failure| Notice::Failed(name.to_owned(), failure));
        let changed = document.results.take_hints(found.hints).then(|| Notice::Changed(name.to_owned()));
        std::iter::once(over).chain(failed).chain(changed).collect()
    }

    /// Checks another text of a document in the background, unless that was done or is being done.
    pub fn try_text(&mut self, name: &str, text: String) {
        let number = fix_validations::number_of(&text);
        if self.documents.get(name).is_none_or(|document| document.fix_validations.is_known(number)) {
            return;
        }
        let Some(loaded) = self.reading(name).map(|reading| Arc::clone(&reading.loaded)) else { return };
        let searched = Searched::text(self.unread(name, text));
        if let Some(document) = self.documents.get_mut(name) {
            document.fix_validations.begin(number);
            self.start_beside(name, loaded, searched, Work::FixValidation(number));
        }
    }
}
