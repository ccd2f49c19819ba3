//! Executions that were counted, and runs that somebody looks at beside the counterexamples of checks.
//!
//! They are those of the text as it was when somebody asked. Their places move along with edits, and once the model means
//! something else they are old.

use super::costs::KeptCosts;
use super::edits::{self, Edit};
use super::jobs::RunId;
use super::mutants::KeptMutants;
use super::reading::Reading;
use super::sweeps::KeptSweep;
use fabius_base::Span;
use fabius_causes::Cause;
use fabius_engine::{Counterexample, Loaded, SAFETY};
use fabius_executions::{Counted, ListedExecution};
use fabius_task::SemanticDigest;
use fabius_witness::Trace;
use fabius_witness::format::trail::trail;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// This many runs of a document are kept, those that were asked for last.
const RUNS_MAX: usize = 16;

/// The model that an answer speaks of, and what happened to the text since.
#[derive(Clone, Debug)]
pub struct Origin {
    /// The model.
    pub loaded: Arc<Loaded>,
    meaning: Option<SemanticDigest>,
    edits: Vec<Edit>,
    /// The present text means something else.
    pub stale: bool,
}

impl Origin {
    /// The present text.
    pub fn of(reading: &Reading) -> Self {
        let loaded = Arc::clone(&reading.loaded);
        Self { loaded, meaning: reading.digest_of(SAFETY), edits: Vec::new(), stale: false }
    }

    fn follow(&mut self, reading: &Reading, edits: &[Edit]) {
        self.edits.extend_from_slice(edits);
        self.stale = self.meaning.is_none() || reading.digest_of(SAFETY) != self.meaning;
    }

    /// Where a place is in the present text of the document.
    pub fn place(&self, span: Span, document: &str) -> (String, Range<usize>) {
        edits::place(&self.loaded.map, span, document, &self.edits)
    }
}

/// Executions that were counted, shared by the threads that are asked about them; nothing before they are.
#[derive(Clone, Default, Debug)]
pub struct Shared(Arc<Mutex<Option<Counted>>>);

impl Shared {
    /// What was counted. Whoever counts or asks holds it meanwhile.
    pub fn lock(&self) -> MutexGuard<'_, Option<Counted>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PartialEq for Shared {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Shared {}

/// The executions of a document that were counted last.
#[derive(Clone, Debug)]
pub struct KeptExecutions {
    /// Of which model.
    pub origin: Origin,
    /// The graph from which questions about them are answered.
    pub counted: Shared,
    /// The work that counts them.
    pub(super) run: RunId,
}

/// A run that somebody looks at.
#[derive(Clone, Debug)]
pub struct KeptRun {
    /// The name by which it is asked for.
    pub key: String,
    /// Of which model.
    pub origin: Origin,
    /// How it ends, in a word.
    pub kind: &'static str,
    /// How it ends, in a sentence.
    pub message: String,
    /// The run.
    pub run: Found,
}

/// What a run was found as.
#[derive(Clone, Debug)]
pub enum Found {
    /// An execution.
    Execution(Box<ListedExecution>),
    /// A way to a deadlock.
    Deadlock(Box<Counterexample>),
    /// The run of a cause of violations of a property.
    Cause(String, Box<Cause>),
}

impl KeptRun {
    /// What it does.
    pub fn trace(&self) -> &Trace {
        match &self.run {
            Found::Execution(execution) => &execution.trace,
            Found::Deadlock(example) => &example.trace,
            Found::Cause(_, cause) => &cause.counterexample.trace,
        }
    }

    /// The run as a trail, which Spin replays.
    pub fn trail(&self) -> Option<String> {
        match &self.run {
            Found::Execution(execution) => Some(trail(&*self.origin.loaded.as_written()?, &execution.path, None)),
            Found::Deadlock(example) => Some(example.trail(&self.origin.loaded)),
            Found::Cause(_, cause) => {
                Some(trail(&cause.program, &cause.counterexample.path, cause.counterexample.loop_start))
            }
        }
    }
}

/// What somebody asked about a document beside checks.
#[derive(Clone, Default, Debug)]
pub struct Asked {
    /// Its executions.
    pub executions: Option<KeptExecutions>,
    /// What its states are spent on.
    pub costs: Option<KeptCosts>,
    /// Which changes no property notices.
    pub mutants: Option<KeptMutants>,
    /// What came of the values of macros that comments name.
    pub sweeps: Vec<KeptSweep>,
    runs: VecDeque<KeptRun>,
}

impl Asked {
    /// The text was edited and read again.
    pub(super) fn follow(&mut self, reading: &Reading, edits: &[Edit]) {
        let executions = self.executions.iter_mut().map(|kept| &mut kept.origin);
        executions
            .chain(self.costs.iter_mut().map(|kept| &mut kept.origin))
            .chain(self.mutants.iter_mut().map(|kept| &mut kept.origin))
            .chain(self.runs.iter_mut().map(|run| &mut run.origin))
            .for_each(|origin| origin.follow(reading, edits));
    }

    /// Keeps a run instead of an older one of its name; of many, the oldest goes.
    pub fn keep(&mut self, run: KeptRun) {
        self.runs.retain(|kept| kept.key != run.key);
        self.runs.push_back(run);
        while RUNS_MAX < self.runs.len() {
            self.runs.pop_front();
        }
    }

    /// A run by its name.
    pub fn run(&self, key: &str) -> Option<&KeptRun> {
        self.runs.iter().find(|run| run.key == key)
    }
}
