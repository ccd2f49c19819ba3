//! Several processes that search together, as a check sees them: what each has to be told, and what they report.
//!
//! How processes are started and speak to each other, and where what they keep is stored, is the business of whoever implements
//! [`WorkerPool`].

use crate::load::{Loaded, ModelText, Source, load_until};
use crate::meaning::meaning;
use crate::plan::{Planned, plan};
use crate::query::{CycleSearch, LivenessQuery, liveness_query};
use crate::report::WorkerReport;
use crate::settings::{Progress, SchedulerChoice, Settings};
use fabius_base::{Cancel, Limits, StopReason};
use fabius_program::Program;
use fabius_search::checkpoint::Snapshot;
use fabius_search::partition::{PartSnapshot, Reached};
use fabius_search::{Statistics, StopAt};
use serde::{Deserialize, Serialize};
use std::fmt::{self, Debug};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// How many processes search, and who starts them.
#[derive(Clone)]
pub struct Processes {
    /// With one, the search runs where the check does.
    pub count: usize,
    /// Who starts them; `None` where nobody can.
    pub pool: Option<Arc<dyn WorkerPool>>,
    /// On other machines: what they may use all together, in bytes; the limits of this one do not count.
    pub elsewhere: Option<Option<u64>>,
}

impl Default for Processes {
    fn default() -> Self {
        Self { count: 1, pool: None, elsewhere: None }
    }
}

impl PartialEq for Processes {
    fn eq(&self, other: &Self) -> bool {
        self.count == other.count && self.elsewhere == other.elsewhere
    }
}

impl Eq for Processes {}

/// Who starts processes does not change what they find.
impl Debug for Processes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Processes({})", self.count)
    }
}

/// What a process has done, as far as it told.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct WorkerProgress {
    /// The machine that it is on, if it is another one.
    pub host: Option<String>,
    /// Its part of the search.
    pub statistics: Statistics,
    /// Bytes sent to the other processes.
    pub sent_bytes: u64,
    /// Time for which it waited for them.
    pub waited: Duration,
}

impl From<&WorkerProgress> for WorkerReport {
    fn from(worker: &WorkerProgress) -> Self {
        let WorkerProgress { host, statistics, sent_bytes, waited } = worker;
        Self {
            host: host.clone(),
            states: statistics.states,
            transitions: statistics.transitions(),
            memory_bytes: statistics.memory_bytes,
            sent_bytes: *sent_bytes,
            waited_seconds: waited.as_secs_f64(),
        }
    }
}

/// What all processes have done together.
pub fn total(workers: &[WorkerProgress]) -> Statistics {
    workers.iter().map(|worker| &worker.statistics).fold(Statistics::default(), |sum, one| Statistics {
        states: sum.states + one.states,
        matched: sum.matched + one.matched,
        transient: sum.transient + one.transient,
        depth: sum.depth.max(one.depth),
        violations: sum.violations + one.violations,
        memory_bytes: sum.memory_bytes + one.memory_bytes,
        ..sum
    })
}

/// Is told what each process has done, and may ask to stop.
pub type Observe<'o> = dyn FnMut(&[WorkerProgress]) -> ControlFlow<StopReason> + 'o;

/// Lets processes search together.
pub trait WorkerPool: Send + Sync {
    /// Starts this many processes, and waits for what they find. `observe` is told now and then what they have done, and may ask them
    /// to stop; it is told a last time when they have ended.
    fn search(
        &self,
        part: &Part,
        processes: usize,
        checkpoints: PoolCheckpoints<'_>,
        observe: &mut Observe<'_>,
    ) -> PoolOutcome;
}

/// Where a search by several processes starts, and whether checkpoints of it are kept.
pub struct PoolCheckpoints<'k> {
    /// Where it stood, and the file that says so; without it, it starts at the beginning.
    pub from: Option<(&'k PoolCheckpoint, &'k Path)>,
    /// Is given a checkpoint now and then, which goes into this file: other files of the checkpoint lie beside it.
    pub keep: Option<(&'k Path, &'k mut dyn FnMut(Kept))>,
}

/// What is told of checkpoints.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Kept {
    /// The next one is to be written.
    Next(PoolCheckpoint),
    /// The file holds one of this search.
    Written,
    /// There will be no more: why.
    Failed(String),
}

impl PoolCheckpoints<'_> {
    /// It starts at the beginning, and none is kept.
    pub fn none() -> Self {
        Self { from: None, keep: None }
    }
}

/// Where the processes of a search stood at the end of a layer.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize, Debug)]
pub struct PoolCheckpoint {
    /// Where each of them stood.
    pub parts: Vec<StoredPart>,
}

/// Where a process stood, and where its states came from.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub struct StoredPart {
    /// The name of a file that says where its states came from: eight bytes for each, the lowest first. It may be longer.
    pub file: String,
    /// A sum over these bytes.
    pub sum: u64,
    /// Everything else.
    pub checkpoint: PartCheckpoint,
}

/// Where a process stood at the end of a layer.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize, Debug)]
pub struct PartCheckpoint {
    /// How far its search was.
    pub snapshot: PartSnapshot,
    /// Of each edge of the program, whether it had taken it.
    pub edges: Vec<u8>,
    /// The number of an edge whose step had failed, so that a run was not followed, if there was one.
    pub cut: Option<u32>,
}

impl Snapshot for PoolCheckpoint {
    fn is_consistent(&self) -> bool {
        let layers = |part: &StoredPart| part.checkpoint.snapshot.layers();
        !self.parts.is_empty() && self.parts.iter().all(|part| layers(part) == layers(&self.parts[0]))
    }
}

/// Where the search of a process starts, and whether its checkpoints are kept; `W` says where states came from.
pub struct PartCheckpoints<'k, W> {
    /// Where it stood, and where its states came from; without it, it starts at the beginning.
    pub from: Option<(&'k PartCheckpoint, &'k mut W)>,
    /// Whoever keeps its checkpoints.
    pub keep: Option<&'k mut dyn PartKeeper<W>>,
}

impl<W> PartCheckpoints<'_, W> {
    /// It starts at the beginning, and none is kept.
    pub fn none() -> Self {
        Self { from: None, keep: None }
    }
}

/// Keeps the checkpoints of a process.
pub trait PartKeeper<W> {
    /// Whether the end of the next layer is to be kept; all processes then keep it.
    fn is_due(&mut self) -> bool;

    /// Is given a checkpoint, with where states came from; later states may be among them.
    fn keep(&mut self, ways: &mut W, checkpoint: PartCheckpoint);
}

/// How the search of a pool ended.
#[derive(Clone, PartialEq, Debug)]
pub enum PoolOutcome {
    /// All of them told the same.
    Done {
        /// What they found.
        reached: Reached,
        /// Of each edge of the program, whether some search took it.
        edges: Vec<u8>,
        /// The number of an edge whose step failed, so that a run was not followed, if there is one.
        cut: Option<u32>,
        /// Which of them used all the memory that it may use where it is, in a sentence without its end.
        memory_limit: Option<String>,
    },
    /// They were asked to stop for this reason, and did not tell in time what they had found.
    Stopped {
        /// Why.
        why: StopReason,
        /// What they had done, as far as they told.
        statistics: Statistics,
    },
    /// One of them was lost, and so the search is.
    Lost {
        /// Which one and how, in half a sentence.
        what: String,
        /// What they had done, as far as they told.
        statistics: Statistics,
    },
    /// They could not be started; half a sentence says why.
    NotStarted(String),
    /// They could not go on from a checkpoint; half a sentence says why.
    Unusable(String),
    /// Fabius itself is wrong: what happened.
    Failed(String),
}

/// What a process is told of the search.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub struct Part {
    name: String,
    text: String,
    source: Source,
    formulas: Vec<String>,
    optimize: bool,
    cut_ranges: bool,
    /// What the program means that is searched.
    digest: u128,
    keep_going: bool,
    states_max: Option<u64>,
    depth_max: Option<u64>,
    memory_bytes_max: Option<u64>,
    infinite: Option<InfiniteRuns>,
    delays: Option<PartDelays>,
}

/// The order of delays, as a process is told of it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub struct PartDelays {
    /// Whose delays are counted.
    pub scheduler: SchedulerChoice,
    /// Of a scheduler that is random.
    pub seed: u64,
    /// At most this many delays; without it, until nothing is left.
    pub delays_max: Option<u32>,
}

/// A property of infinite runs, as a process is told of it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
struct InfiniteRuns {
    property: String,
    /// Whether transitions make progress, not states.
    progress_on_transitions: bool,
}

impl Part {
    /// The part that each process has in the search of a model; `None` if the model is faulty.
    pub fn of(loaded: &Loaded, settings: &Settings) -> Option<Self> {
        let (_, file) = loaded.map.files().next()?;
        let limits = &settings.limits;
        Some(Self {
            name: loaded.name.clone(),
            text: file.text.to_string(),
            source: Source::clone(&loaded.source),
            formulas: settings.formulas.clone(),
            optimize: settings.optimize,
            cut_ranges: settings.cut_ranges,
            digest: meaning(loaded.program.as_ref()?).0,
            keep_going: settings.keep_going,
            states_max: limits.states_max,
            depth_max: limits.depth_max,
            memory_bytes_max: settings.processes.elsewhere.unwrap_or(limits.memory_bytes_max),
            infinite: None,
            delays: None,
        })
    }

    /// The same in the search by increasing number of delays.
    #[must_use]
    pub fn by_delays(self, delays: PartDelays) -> Self {
        Self { delays: Some(delays), ..self }
    }

    /// Whose delays are counted, if the search goes by their number.
    pub fn delays(&self) -> Option<&PartDelays> {
        self.delays.as_ref()
    }

    /// The same in the search for infinite runs that violate a property.
    #[must_use]
    pub fn about_infinite_runs(self, planned: &Planned, settings: &Settings) -> Self {
        let progress_on_transitions = settings.progress == Progress::Transitions;
        Self { infinite: Some(InfiniteRuns { property: planned.name.clone(), progress_on_transitions }), ..self }
    }

    /// What is asked of infinite runs; `None` if the question is safety.
    ///
    /// # Errors
    /// If the program does not have the property here.
    pub fn query(&self, program: &Arc<Program>) -> Result<Option<LivenessQuery>, PartError> {
        let Some(InfiniteRuns { property, progress_on_transitions }) = &self.infinite else { return Ok(None) };
        let plan = plan(program, std::slice::from_ref(property)).map_err(|_| PartError::OtherProgram)?;
        let planned = plan.properties.iter().find(|planned| planned.name == *property);
        let progress = if *progress_on_transitions { Progress::Transitions } else { Progress::States };
        let settings = Settings { progress, ..Settings::default() };
        let query =
            liveness_query(program, planned.ok_or(PartError::OtherProgram)?, &settings, CycleSearch::Components);
        query.map(Some).map_err(|_| PartError::OtherProgram)
    }

    /// Reads the model again, in the process that has this part.
    ///
    /// # Errors
    /// If it is not the same model here.
    pub fn load(&self, cancel: &Cancel) -> Result<Loaded, PartError> {
        let mut include = |includer: &str, written: &str| self.source.include(includer, written);
        let settings = Settings {
            formulas: self.formulas.clone(),
            fixed_macros: self.source.fixed.clone(),
            optimize: self.optimize,
            cut_ranges: self.cut_ranges,
            ..Settings::default()
        };
        let text = ModelText { name: &self.name, text: self.text.clone() };
        let loaded = load_until(cancel, text, &self.source.defines, &mut include, &settings);
        let loaded = loaded.map_err(PartError::Stopped)?;
        match &loaded.program {
            Some(program) if meaning(program).0 == self.digest => Ok(loaded),
            _ => Err(PartError::OtherProgram),
        }
    }

    /// How much this part may use, and when a violation ends the search.
    pub fn bounds(&self) -> (Limits, StopAt) {
        let (states_max, depth_max) = (self.states_max, self.depth_max);
        let stop_at = if self.keep_going { StopAt::Never } else { StopAt::First };
        (Limits { states_max, depth_max, memory_bytes_max: self.memory_bytes_max }, stop_at)
    }
}

/// Why a process cannot search its part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PartError {
    /// It was asked to stop before it had read the model.
    Stopped(StopReason),
    /// The text that it was sent means another program to it.
    OtherProgram,
    /// The machine cannot run the program, though it could where the search began.
    NoMachine,
    /// Another process is gone.
    Lost,
    /// Another process sent what it cannot have sent.
    Damaged,
    /// The checkpoint that it was to go on from is none of this search.
    Unusable,
}

impl PartError {
    /// What happened, in half a sentence.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Stopped(_) => "a process was asked to stop before it had read the model",
            Self::OtherProgram => "a process read another program from the same text",
            Self::NoMachine => "a process cannot run the program",
            Self::Lost => "another process is gone",
            Self::Damaged => "a process received what no process of the search sends",
            Self::Unusable => "its states are not those of this model",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::load;

    #[test]
    fn a_process_reads_the_same_program_from_what_it_is_sent() {
        let text = "#include \"n.h\"\nbyte n; active [N] proctype P() { n++; assert(n < M) }".to_owned();
        let mut include = |_: &str, name: &str| Some((format!("lib/{name}"), "#define N 2\n".to_owned()));
        let defines = [("M".to_owned(), "7".to_owned())];
        let settings = Settings { formulas: vec!["[] (n < 9)".to_owned()], ..Settings::default() };
        let loaded = load("m.pml", text, &defines, &mut include, &settings);
        let part = Part::of(&loaded, &settings).expect("a model");
        assert!(part.load(&Cancel::new()).is_ok());
        let other = Part { text: part.text.replace('7', "8").replace("n++", "n--"), ..part };
        assert_eq!(other.load(&Cancel::new()).err(), Some(PartError::OtherProgram));
    }
}
