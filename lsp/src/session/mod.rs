//! A session: the models that somebody works on, what is known about them, and the checks that run.
//!
//! It knows no protocol and no screen. Somebody tells it what happens to texts ([`Session::open`],
//! [`Session::change`], [`Session::save`]) and passes on what checks tell ([`Session::handle`]); it says
//! which documents there is something new about. The language server and `fabius watch` stand on it. Checks run on threads of their own; everything else happens where it is called, in order.

mod background;
pub mod causes;
mod checker;
mod checks;
pub mod costs;
pub mod document;
pub mod edits;
pub mod events;
pub mod executed;
pub mod fix_validations;
mod halted;
pub mod jobs;
pub mod look_around;
pub mod mutants;
pub mod questions;
pub mod queue;
pub mod reading;
mod reads;
pub mod replay;
pub mod results;
pub mod runs;
pub mod saved_runs;
mod steering;
pub mod sweeps;
pub mod unread;
mod work;
pub mod workspace;

pub use document::{Document, Options, Running, ShownStep, When};

use checker::Checker;
use edits::Edit;
use events::EventSink;
use fabius_analysis::CoReachability;
use fabius_engine::Loaded;
use fabius_project::{config, files};
use fix_validations::FixValidations;
use halted::Halted;
use jobs::{Job, RunId, Tier};
use questions::Answer;
use results::Results;
use ropey::Rope;
use runs::Asked;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use workspace::Workspace;

/// [`Session::read_at_once`], unless a test says otherwise.
const READ_AT_ONCE: Duration = Duration::from_millis(250);

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
    /// The answer to a question, if there is one, and the work that brought it.
    Answered(RunId, Box<Option<Answer>>, Box<Job>),
    /// The models of the folders were read.
    Workspace,
    /// What this look finds out about a property of a document is known.
    Decided(String, String),
    /// The last check of a document is over, to the end or to the end of its budget.
    Settled(String),
    /// All checks of a document came to their ends, and were not stopped: what nobody waits for may be done now.
    Checked(String),
    /// It was looked for a schedule that avoids the violation of safety in a document.
    Scheduled(String),
    /// Fabius itself failed while it checked a document.
    Failed(String, String),
}

/// What somebody chose over what a project says.
pub type Overlay = Arc<dyn Fn(Options) -> Options + Send + Sync>;

/// The models that somebody works on.
pub struct Session {
    overlay: Overlay,
    documents: BTreeMap<String, Document>,
    /// Documents that were read anew, of which nobody was told yet.
    fresh: BTreeSet<String>,
    checker: Checker,
    /// Searches of texts that were edited since, the latest last.
    halted: Vec<Halted>,
    /// The documents whose check waited for a thread when this was looked at last, and how many others were before it.
    waiting: BTreeMap<String, usize>,
    /// The folders that somebody works in, and what there is to say about the models in them.
    workspace: Workspace,
    /// A text that takes longer than this to be read is read beside everything else.
    read_at_once: Duration,
}

/// What is chosen for a model: by whoever uses the session, over the project, over the defaults; and what is wrong with what the
/// project says.
fn chosen_for(overlay: &Overlay, name: &str) -> (Options, Option<String>) {
    let defaults = Options::default();
    let (options, wrong) = match config::find(Path::new(name)) {
        Some((_, Ok(config))) => (defaults.under(&config, name), None),
        Some((path, Err(wrong))) => (defaults, Some(format!("{}: {wrong}", path.display()))),
        None => (defaults, None),
    };
    (overlay(options), wrong)
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
            halted: Vec::new(),
            waiting: BTreeMap::new(),
            workspace: Workspace::default(),
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
        chosen_for(&self.overlay, name)
    }

    /// Looks again what is chosen for each model; those for which it matters are checked again. Whatever else is chosen
    /// otherwise now, there is something new to show.
    fn choose_again(&mut self) {
        self.workspace.is_old = true;
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
            asked: Asked::default(),
            shown: None,
            asked_fairness: BTreeMap::new(),
            leave_out: None,
            max_depth: None,
            visit_first: None,
            on_disk: None,
            reading: None,
            unread: Vec::new(),
            is_long: false,
            being_read: None,
            check_when_read: None,
        };
        self.documents.insert(name.to_owned(), document);
        self.forget_readings_with(name);
        self.workspace.is_old = true;
    }

    /// A document is not open any more.
    pub fn close(&mut self, name: &str) {
        self.stop(name);
        self.checker.cancel_for(name);
        if self.documents.remove(name).is_some() {
            self.forget_readings_with(name);
            self.workspace.is_old = true;
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
        self.workspace.changed(name);
    }

    /// A file may have changed on the disk.
    pub fn touched(&mut self, name: &str) {
        self.workspace.is_old = true;
        if name.ends_with(config::NAME) {
            self.choose_again();
        }
        match self.documents.get_mut(name) {
            Some(document) => {
                document.on_disk =
                    files::read_ordinary(Path::new(name)).ok().map(|text| fix_validations::number_of(&text))
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

    /// The editor shows a step of a counterexample.
    pub fn show_step(&mut self, name: &str, shown: ShownStep) {
        if let Some(document) = self.documents.get_mut(name) {
            document.shown = Some(shown);
        }
    }

    /// The model that a document belongs to: another open one if that includes it, else itself.
    pub fn model_of(&self, name: &str) -> String {
        let includes = |(model, document): &(&String, &Document)| {
            *model != name && document.reading.as_ref().is_some_and(|reading| reading.file(name).is_some())
        };
        self.documents.iter().find(includes).map_or(name, |(model, _)| model).to_owned()
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
            match self.documents.get(name).map(|document| document.options.when) {
                Some(When::Change) => self.check(name, Tier::Quick),
                Some(When::Never) => self.try_deadlocks(name),
                Some(When::Save) | None => {}
            }
        }
        fresh.into_iter().map(Notice::Changed).chain(self.moved_in_queue()).collect()
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
}
