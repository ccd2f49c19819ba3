//! A session: the models that somebody works on, what is known about them, and the checks that run.
//!
//! It knows no protocol and no screen. Somebody tells it what happens to texts ([`Session::open`],
//! [`Session::change`], [`Session::save`]) and passes on what checks tell ([`Session::handle`]); it says
//! which documents there is something new about. The language server and `fabius watch` are two faces of
//! it. Checks run on threads of their own; everything else happens where it is called, in order.

pub mod cache;
pub mod checker;
pub mod config;
pub mod document;
pub mod edits;
pub mod files;
pub mod fix_validations;
pub mod jobs;
pub mod reading;
pub mod replay;
pub mod results;
pub mod unread;

pub use document::{Document, Options, Running, When};

use checker::{CheckEvent, Checker, Ended, EventSink, Told};
use document::fairness_of;
use edits::Edit;
use fabius_base::{Finding, StopReason};
use fabius_engine::{CoReachability, Fairness, Goal, Line, Loaded, Survey};
use fix_validations::FixValidations;
use jobs::{Job, RunId, Searched, Tier, Work};
use reading::Reading;
use results::Results;
use ropey::Rope;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use unread::UnreadText;

/// [`Session::read_at_once`], unless a test says otherwise.
const READ_AT_ONCE: Duration = Duration::from_millis(250);
/// A text is read for so long; after that, it is said that it was not.
const READ_MAX: Duration = Duration::from_secs(60);

/// Something that whoever shows the session should know.
#[derive(Clone, Debug)]
pub enum Notice {
    /// There is something new to show about a document.
    Changed(String),
    /// A check of a document goes on.
    Progress(String),
    /// There is something new to show beside the text of a document.
    Hints(String),
    /// The answer to [`Session::co_reachable`], and the model that it speaks of.
    Met(RunId, Box<Option<CoReachability>>, Arc<Loaded>),
    /// What this look finds out about a property of a document is known.
    Decided(String, String),
    /// The last check of a document is over, to the end or to the end of its budget.
    Settled(String),
    /// Fabius itself failed while it checked a document.
    Failed(String, String),
}

/// What somebody chose over what a project says.
pub type Overlay = Box<dyn Fn(Options) -> Options + Send>;

/// The models that somebody works on.
pub struct Session {
    overlay: Overlay,
    documents: BTreeMap<String, Document>,
    /// Documents that were read anew, of which nobody was told yet.
    fresh: BTreeSet<String>,
    checker: Checker,
    /// A text that takes longer than this to be read is read beside everything else.
    read_at_once: Duration,
}

impl Session {
    /// A session without documents. `event_sink` is called on other threads with what checks tell, which
    /// has to come back through [`Self::handle`].
    pub fn new(overlay: Overlay, event_sink: EventSink) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            overlay,
            documents: BTreeMap::new(),
            fresh: BTreeSet::new(),
            checker: Checker::new(event_sink, cores.saturating_sub(1)),
            read_at_once: READ_AT_ONCE,
        }
    }

    /// Other choices count from now on. What was found out under other ones is forgotten.
    pub fn set(&mut self, overlay: Overlay) {
        self.overlay = overlay;
        self.choose_again();
    }

    /// What is chosen for a document: by whoever uses the session, over the project, over the defaults.
    fn options_for(&self, name: &str) -> (Options, Option<String>) {
        let defaults = Options::default();
        let found = config::find(Path::new(name));
        let (options, wrong) = match found {
            Some((_, Ok(config))) => (config.over(defaults, name), None),
            Some((path, Err(wrong))) => (defaults, Some(format!("{}: {wrong}", path.display()))),
            None => (defaults, None),
        };
        ((self.overlay)(options), wrong)
    }

    /// Looks again what is chosen for each document; those for which it matters are checked again. Whatever else is chosen
    /// otherwise now, there is something new to show.
    fn choose_again(&mut self) {
        let names: Vec<String> = self.documents.keys().cloned().collect();
        for name in names {
            let (options, wrong) = self.options_for(&name);
            let Some(document) = self.documents.get_mut(&name) else { continue };
            if (&document.options, &document.wrong_config) == (&options, &wrong) {
                continue;
            }
            self.fresh.insert(name.clone());
            let before = std::mem::replace(&mut document.options, options);
            let readable = document.wrong_config.is_none() && wrong.is_none();
            document.wrong_config = wrong;
            let now = &document.options;
            let of_checks = |options: &Options| {
                (options.defines.clone(), options.properties.clone(), options.when, options.fairness)
            };
            if readable && of_checks(&before) == of_checks(now) {
                continue;
            }
            document.asked_fairness.clear();
            document.forget_reading();
            document.results = Results::default();
            self.stop(&name);
            self.save(&name);
        }
    }

    /// A document is open from now on.
    pub fn open(&mut self, name: &str, version: i32, text: &str) {
        self.close(name);
        let (options, wrong_config) = self.options_for(name);
        let document = Document {
            text: Rope::from_str(text),
            options,
            wrong_config,
            version,
            results: Results::default(),
            run: None,
            fix_validations: FixValidations::default(),
            asked_fairness: BTreeMap::new(),
            on_disk: None,
            reading: None,
            unread: Vec::new(),
            is_long: false,
            being_read: None,
            check_when_read: None,
        };
        self.documents.insert(name.to_owned(), document);
        self.forget_readings_with(name);
    }

    /// A document is not open any more.
    pub fn close(&mut self, name: &str) {
        self.stop(name);
        self.checker.cancel_for(name);
        if self.documents.remove(name).is_some() {
            self.forget_readings_with(name);
        }
    }

    /// Changes the text of a document; `change` makes the edits and returns them.
    pub fn change(&mut self, name: &str, version: i32, change: impl FnOnce(&mut Rope) -> Vec<Edit>) {
        let Some(document) = self.documents.get_mut(name) else { return };
        let edits = change(&mut document.text);
        document.version = version;
        document.unread.extend(edits);
        document.forget_reading();
        self.forget_readings_with(name);
    }

    /// What was read of a document or of a model that includes it, or would if it were there, must be read again.
    fn forget_readings_with(&mut self, name: &str) {
        for document in self.documents.values_mut() {
            if document.reading.as_ref().is_some_and(|reading| reading.depends_on(name)) {
                document.forget_reading();
            }
        }
    }

    /// A file may have changed on the disk.
    pub fn touched(&mut self, name: &str) {
        if name.ends_with(config::NAME) {
            self.choose_again();
        }
        match self.documents.get_mut(name) {
            Some(document) => {
                document.on_disk = files::read(Path::new(name)).map(|text| fix_validations::number_of(&text))
            }
            None => self.forget_readings_with(name),
        }
    }

    /// The documents whose file changed on the disk and whose text is what is there now: that counts as a save.
    pub fn take_saved(&mut self) -> Vec<String> {
        let mut saved = Vec::new();
        for (name, document) in &mut self.documents {
            let Some(on_disk) = document.on_disk else { continue };
            if fix_validations::number_of(&document.text.to_string()) == on_disk {
                document.on_disk = None;
                saved.push(name.clone());
            }
        }
        saved
    }

    /// The documents, by name.
    pub fn documents(&self) -> impl Iterator<Item = (&str, &Document)> {
        self.documents.iter().map(|(name, document)| (name.as_str(), document))
    }

    /// A document.
    pub fn document(&self, name: &str) -> Option<&Document> {
        self.documents.get(name)
    }

    /// The model that a document belongs to: another open one if that includes it, else itself.
    pub fn model_of(&self, name: &str) -> String {
        let includes = |(model, document): &(&String, &Document)| {
            *model != name && document.reading.as_ref().is_some_and(|reading| reading.file(name).is_some())
        };
        self.documents.iter().find(includes).map_or(name, |(model, _)| model).to_owned()
    }

    /// What was read of a document: the text as it is now. `None` while a long text is being read; [`Notice::Changed`] tells
    /// when it is.
    pub fn reading(&mut self, name: &str) -> Option<Arc<Reading>> {
        let document = self.documents.get(name)?;
        if document.reading.is_some() || document.being_read.is_some() {
            return document.reading.clone();
        }
        let text = self.unread(name, document.text.to_string());
        let at_once = if document.is_long { None } else { text.read_within(self.read_at_once) };
        match at_once {
            Some(reading) => self.was_read(name, reading),
            None => {
                let run = self.checker.read(text, READ_MAX);
                let document = self.documents.get_mut(name)?;
                (document.is_long, document.being_read) = (true, Some(run));
                None
            }
        }
    }

    /// Whether the present text of a document, or of the model that it belongs to, is still being read.
    pub fn is_being_read(&self, name: &str) -> bool {
        let being_read = |name: &str| self.documents.get(name).is_some_and(|document| document.being_read.is_some());
        being_read(name) || being_read(&self.model_of(name))
    }

    /// The present text of a document was read.
    fn was_read(&mut self, name: &str, reading: Reading) -> Option<Arc<Reading>> {
        let document = self.documents.get_mut(name)?;
        let reading = Arc::new(reading);
        (document.reading, document.being_read) = (Some(Arc::clone(&reading)), None);
        let edits = std::mem::take(&mut document.unread);
        document.follow(&reading, &edits);
        self.fresh.insert(name.to_owned());
        Some(reading)
    }

    /// A text of a document was read on a thread of its own. If it is not the present one any more, that was in vain.
    fn was_read_beside(&mut self, name: &str, run: RunId, reading: Result<Reading, String>) -> Vec<Notice> {
        let Some(document) = self.documents.get(name).filter(|document| document.being_read == Some(run)) else {
            return Vec::new();
        };
        let (reading, failed) = match reading {
            Ok(reading) => (reading, None),
            Err(panic) => {
                let text = self.unread(name, document.text.to_string());
                (text.not_read(StopReason::Cancelled), Some(Notice::Failed(name.to_owned(), panic)))
            }
        };
        let _ = self.was_read(name, reading);
        if let Some(tier) = self.documents.get_mut(name).and_then(|document| document.check_when_read.take()) {
            self.check(name, tier);
        }
        failed.into_iter().collect()
    }

    /// A text of a document, with what it takes to read it.
    fn unread(&self, name: &str, text: String) -> UnreadText {
        let defines = self.documents.get(name).map_or_else(Vec::new, |document| document.options.defines.clone());
        let open = self.documents.iter().map(|(name, document)| (name.clone(), document.text.clone())).collect();
        UnreadText { name: name.to_owned(), text, defines, open }
    }

    /// Reads what was edited, and stops checks that the edits made pointless. Says which documents have
    /// something new to show.
    pub fn settle(&mut self) -> Vec<Notice> {
        let unread: Vec<String> = self
            .documents
            .iter()
            .filter(|(_, document)| document.reading.is_none())
            .map(|(name, _)| name.clone())
            .collect();
        for name in &unread {
            let _ = self.reading(name);
        }
        let fresh = std::mem::take(&mut self.fresh);
        for name in &fresh {
            self.overtake(name);
            if self.documents.get(name).is_some_and(|document| document.options.when == When::Change) {
                self.check(name, Tier::Quick);
            }
        }
        fresh.into_iter().map(Notice::Changed).collect()
    }

    /// Tries a known counterexample in the text as it is now, if one is to be tried. Says which document that was.
    pub fn replay_one(&mut self) -> Option<String> {
        for (name, document) in &mut self.documents {
            let Some(reading) = &document.reading else { continue };
            if let Some(known) = document.results.known.iter_mut().find(|known| known.untried) {
                (known.untried, known.replayed) = (false, replay::replay(known, reading));
                return Some(name.clone());
            }
        }
        None
    }

    /// Stops the check of a document if it is one of another model by now.
    fn overtake(&mut self, name: &str) {
        let Some(document) = self.documents.get(name) else { return };
        let (Some(running), Some(reading)) = (&document.run, &document.reading) else { return };
        let names = running.reading.properties();
        let same = names == reading.properties()
            && names.iter().all(|name| running.reading.digest_of(name) == reading.digest_of(name));
        if !same {
            self.stop(name);
        }
    }

    /// A document was saved, or is to be looked at as if it had been.
    pub fn save(&mut self, name: &str) {
        let model = self.model_of(name);
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
        let misconfigured = document.misconfigured().is_some();
        if document.run.is_some() || misconfigured || reading.loaded.checkable().is_none() {
            return;
        }
        let wanted = reading.asked_for(&document.options.properties);
        let missing = document.results.missing(&reading);
        let properties: Vec<String> = missing.into_iter().filter(|name| wanted.contains(name)).collect();
        if !properties.is_empty() {
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
            next: properties.into_iter().map(|property| (tier, property)).collect(),
        };
        self.go_on(name, running);
    }

    /// Looks at the next property: all of them shortly, then some deeply. Says whether there was one.
    fn go_on(&mut self, name: &str, mut running: Running) -> bool {
        let (Some((tier, property)), Some(document)) = (running.next.pop_front(), self.documents.get_mut(name)) else {
            return false;
        };
        let known = document.results.of(&property).filter(|known| !known.stale && known.is_open());
        let (bound, seen) = known.map_or((None, 0), |known| (known.bound, known.report.states));
        let job = Job {
            document: name.to_owned(),
            loaded: Arc::clone(&running.reading.loaded),
            searched: Arc::clone(&running.searched),
            work: Work::Check(tier, property.clone()),
            seen,
            budget: document.options.budget,
            scheduler: document.options.scheduler.clone(),
            fairness: document.fairness(&property),
        };
        let run = self.checker.start(job);
        document.run = Some(Running { run, tier, property, progress: None, bound, goal: Goal::Violation, ..running });
        true
    }

    /// Starts work beside the check of a document.
    fn start_beside(
        &mut self,
        name: &str,
        (loaded, searched): (Arc<Loaded>, Arc<Searched>),
        work: Work,
    ) -> Option<RunId> {
        let Options { budget, scheduler, fairness, .. } = &self.documents.get(name)?.options;
        let (document, scheduler) = (name.to_owned(), scheduler.clone());
        let job = Job { document, loaded, searched, work, seen: 0, budget: *budget, scheduler, fairness: *fairness };
        Some(self.checker.start(job))
    }

    /// Stops the check of a document, if one is under way.
    pub fn stop(&mut self, name: &str) {
        if let Some(document) = self.documents.get_mut(name) {
            document.check_when_read = None;
        }
        if let Some(running) = self.documents.get_mut(name).and_then(|document| document.run.take()) {
            self.checker.cancel(running.run);
        }
    }

    /// Stops everything.
    pub fn stop_all(&mut self) {
        self.checker.cancel_all();
        self.documents.values_mut().for_each(|document| document.run = None);
    }

    /// Whether no check is under way.
    pub fn is_idle(&self) -> bool {
        self.checker.is_idle()
    }

    /// Takes in what a check tells. News of a check that was overtaken by an edit is forgotten.
    pub fn handle(&mut self, event: CheckEvent) -> Vec<Notice> {
        let job = match event.what {
            Told::Event(_) => None,
            _ => match self.checker.finished(event.run) {
                Ended::Done(job) => job,
                Ended::GaveWay => return Vec::new(),
            },
        };
        if let Told::Read(name, reading) = event.what {
            return self.was_read_beside(&name, event.run, *reading);
        }
        if let Told::Met(meeting) = event.what {
            let loaded = job.map(|job| job.loaded);
            return loaded.map(|loaded| Notice::Met(event.run, meeting, loaded)).into_iter().collect();
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
            Told::Event(event) => {
                let Some(running) = document.run.as_mut() else { return Vec::new() };
                let notice = running.handle(&name, *event);
                if let Some(bound) = running.bound {
                    document.results.rise(&running.property, bound);
                }
                notice.into_iter().collect()
            }
            Told::Finished(outcome) => self.finished(&name, job, *outcome),
            Told::Surveyed(_) | Told::Met(_) | Told::Read(..) => Vec::new(),
        }
    }

    fn finished(
        &mut self,
        name: &str,
        job: Option<Job>,
        outcome: Result<fabius_engine::Outcome, String>,
    ) -> Vec<Notice> {
        let Some(document) = self.documents.get_mut(name) else { return Vec::new() };
        let Some(mut running) = document.run.take() else { return Vec::new() };
        let outcome = match outcome {
            Ok(outcome) => outcome,
            Err(panic) => return vec![Notice::Failed(name.to_owned(), panic), Notice::Settled(name.to_owned())],
        };
        let mut notices = Vec::new();
        notices.extend(outcome.failure.clone().map(|failure| Notice::Failed(name.to_owned(), failure)));
        let fairness = job.as_ref().map_or(Fairness::None, |job| job.fairness);
        document.results.take(&running.reading, outcome, fairness);
        // The text may have been edited without a change of meaning since the check began.
        if let Some(present) = document.reading.clone().filter(|present| !Arc::ptr_eq(present, &running.reading)) {
            document.follow(&present, &[]);
        }
        notices.push(Notice::Changed(name.to_owned()));
        if let Some(Job { work: Work::Check(tier, property), fairness, .. }) = job {
            if let Some(bound) = running.bound {
                document.results.rise(&property, bound);
            }
            let open = document.results.of(&property).filter(|known| known.is_open());
            match open.and_then(|known| tier.next(&running.reading.loaded, (&property, fairness), known.report.states))
            {
                Some(next) => running.next.push_back((next, property)),
                None => notices.push(Notice::Decided(name.to_owned(), property)),
            }
        }
        if !self.go_on(name, running) {
            notices.push(Notice::Settled(name.to_owned()));
            self.look_around(name);
            self.try_fixes(name);
        }
        notices
    }

    /// Looks at the reachable states in the background, if hints are wanted.
    fn look_around(&mut self, name: &str) {
        if self.documents.get(name).is_some_and(|document| document.options.hints) {
            self.survey(name);
        }
    }

    /// Looks at the reachable states of a document in the background; [`Notice::Hints`] tells that it is over.
    pub fn survey(&mut self, name: &str) {
        if let Some(reading) = self.reading(name) {
            let searched = Searched::document(&reading.loaded);
            self.start_beside(name, (Arc::clone(&reading.loaded), searched), Work::Survey);
        }
    }

    /// Whether [`Self::survey`] is under way for a document.
    pub fn is_surveying(&self, name: &str) -> bool {
        self.checker.is_surveying(name)
    }

    /// Looks whether lines of a document can be reached at once; [`Notice::Met`] brings the answer.
    pub fn co_reachable(&mut self, name: &str, lines: Vec<Line>) -> Option<RunId> {
        let loaded = Arc::clone(&self.reading(name)?.loaded);
        let searched = Searched::document(&loaded);
        self.start_beside(name, (loaded, searched), Work::Meet(lines))
    }

    /// Stops a piece of work.
    pub fn cancel(&mut self, run: RunId) {
        self.checker.cancel(run);
    }

    /// Work that nobody waited for is done; if the model is another one by now, it was in vain.
    fn background_done(&mut self, job: &Job, what: Told) -> Vec<Notice> {
        let name = &job.document;
        match (what, &job.work) {
            (Told::Surveyed(survey), Work::Survey) => self.surveyed(name, &job.loaded, *survey),
            (Told::Finished(outcome), Work::FixValidation(number)) => {
                if let Some(document) = self.documents.get_mut(name) {
                    document.fix_validations.finished(*number, outcome.ok(), job);
                }
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    /// The reachable states of a document were looked at, as its text was then.
    fn surveyed(&mut self, name: &str, then: &Arc<Loaded>, survey: Option<(Survey, Vec<Finding>)>) -> Vec<Notice> {
        let Some(document) = self.documents.get_mut(name) else { return Vec::new() };
        let over = Notice::Hints(name.to_owned());
        let (Some((survey, hints)), Some(present)) = (survey, document.reading.clone()) else { return vec![over] };
        if !Arc::ptr_eq(&present.loaded, then) {
            // After an edit that changes the meaning there comes a check, which looks again by itself.
            if document.results.missing(&present).is_empty() {
                self.survey(name);
            }
            return vec![over];
        }
        document.results.survey = Some(survey);
        document.results.surveyed = Some(present);
        match document.results.take_hints(hints) {
            true => vec![over, Notice::Changed(name.to_owned())],
            false => vec![over],
        }
    }

    /// Tries the fixes that could be offered for what is wrong with a document, in the background.
    fn try_fixes(&mut self, name: &str) {
        let Some(reading) = self.reading(name) else { return };
        let Some(document) = self.documents.get(name) else { return };
        let wanted = crate::ide::actions::worth_trying(name, document, &reading);
        wanted.into_iter().for_each(|text| self.try_text(name, text));
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
            self.start_beside(name, (loaded, searched), Work::FixValidation(number));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{Receiver, channel};

    const NAME: &str = "/nowhere/model.pml";

    /// A session that reads every text beside everything else, and what its threads tell.
    fn session() -> (Session, Receiver<CheckEvent>) {
        let (sender, events) = channel();
        let mut session = Session::new(Box::new(|options| options), Arc::new(move |event| drop(sender.send(event))));
        session.read_at_once = Duration::ZERO;
        (session, events)
    }

    /// Lets the threads tell all that they know.
    fn until_idle(session: &mut Session, events: &Receiver<CheckEvent>) -> Vec<Notice> {
        let mut notices = Vec::new();
        while !session.is_idle() {
            notices.extend(session.handle(events.recv().unwrap()));
            notices.extend(session.settle());
        }
        notices
    }

    fn type_at_the_end(session: &mut Session, version: i32, text: &str) {
        session.change(NAME, version, |rope| {
            let at = rope.len_bytes();
            rope.insert(rope.len_chars(), text);
            vec![Edit { start: at, removed: 0, inserted: text.len() }]
        });
    }

    #[test]
    fn a_long_text_is_read_beside_everything_else_and_then_checked() {
        let (mut session, events) = session();
        session.open(NAME, 1, "active proctype P() { assert(false) }\n");
        assert!(session.reading(NAME).is_none() && session.is_being_read(NAME));
        session.save(NAME);
        let notices = until_idle(&mut session, &events);
        assert!(notices.iter().any(|notice| matches!(notice, Notice::Changed(name) if name == NAME)));
        let document = session.document(NAME).unwrap();
        assert!(document.present().is_some() && !session.is_being_read(NAME));
        let safety = document.results.of("safety").map(|known| known.report.verdict);
        assert_eq!(safety, Some(fabius_engine::Verdict::Violated));
    }

    #[test]
    fn what_was_read_of_an_older_text_does_not_count() {
        let (mut session, events) = session();
        session.open(NAME, 1, "byte x;\n");
        assert!(session.reading(NAME).is_none());
        type_at_the_end(&mut session, 2, "active proctype P() { x = 1 }\n");
        assert!(!session.is_being_read(NAME) && session.reading(NAME).is_none());
        until_idle(&mut session, &events);
        let present = session.document(NAME).unwrap().present().unwrap();
        assert!(present.loaded.checkable().is_some_and(|program| program.processes.len() == 1));
        type_at_the_end(&mut session, 3, "active proctype Q() { x = 2 }\n");
        session.settle();
        assert!(session.document(NAME).unwrap().present().is_none());
        until_idle(&mut session, &events);
        let present = session.reading(NAME).unwrap();
        assert!(present.loaded.checkable().is_some_and(|program| program.processes.len() == 2));
    }
}
