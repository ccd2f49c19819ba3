//! A look at a search while it runs: what it is at, as plain data; and what whoever watches may do to it.
//!
//! Nobody pays for what nobody asks for: [`Controls::ask`] asks for one look, the search answers with one
//! [`Event::Look`](crate::Event::Look) at the next opportunity, which is some thousand steps away.

use fabius_base::{Cancel, Limits, SourceMap};
use fabius_counterexample::elaborate;
use fabius_model::{Boundary, Places, Preference};
use fabius_program::{Move, Program, Watch};
use fabius_search as search;
use fabius_search::{Phase, Rejected, Rejection, SnapshotRequest};
use fabius_task::load::Loaded;
use fabius_task::pattern::state_condition;
use fabius_witness::Claim;
use serde::Serialize;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// This many of the last steps of its path a search shows unless the whole path is asked for.
pub const SHOWN_STEPS_MAX: usize = 256;

/// A paused search looks so often whether it was cancelled.
const PAUSE_LOOK: Duration = Duration::from_millis(50);

const NOTHING: u8 = 0;
const END_OF_PATH: u8 = 1;
const WHOLE_PATH: u8 = 2;

/// What somebody who watches a search from another thread may do to it. Cloning shares it.
#[derive(Clone, Debug, Default)]
pub struct Controls(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    asked: AtomicU8,
    paused: Mutex<bool>,
    resumed: Condvar,
    limits: Mutex<Option<Limits>>,
    last_bound: Mutex<Option<u32>>,
    depth: Mutex<DepthBound>,
    boundary: Boundary,
    visit_order: Mutex<VisitOrder>,
    preference: Preference,
}

/// Which states searches are to visit first, as whoever watches says it.
#[derive(Debug, Default)]
struct VisitOrder {
    condition: Option<String>,
    /// No search has read it.
    is_new: bool,
}

/// A bound on the depth of searches, as whoever watches sets it.
#[derive(Clone, Copy, Debug, Default)]
struct DepthBound {
    /// The bound that was set last, if any was, or that there is to be none.
    wanted: Option<Option<u64>>,
    /// The smallest bound for which some search left states out.
    met: Option<u64>,
}

impl Controls {
    /// Nothing is asked for, nothing is changed.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks for a look at what the search is at; `whole` asks for all of its path.
    pub fn ask(&self, whole: bool) {
        self.0.asked.fetch_max(if whole { WHOLE_PATH } else { END_OF_PATH }, Ordering::Relaxed);
    }

    /// Halts the search where it is, or lets it go on.
    pub fn pause(&self, paused: bool) {
        *lock(&self.0.paused) = paused;
        self.0.resumed.notify_all();
    }

    /// Whether the search is halted.
    pub fn is_paused(&self) -> bool {
        *lock(&self.0.paused)
    }

    /// Changes how much the search may use, from its next look at the limits on.
    pub fn set_limits(&self, limits: Limits) {
        *lock(&self.0.limits) = Some(limits);
    }

    /// The limits that were set, if they were.
    pub fn limits(&self) -> Option<Limits> {
        *lock(&self.0.limits)
    }

    /// Allows a search in the order of delays this many of them, if it was to stop earlier.
    pub fn raise_bound(&self, last: u32) {
        *lock(&self.0.last_bound) = Some(last);
    }

    /// The bound that was raised, if it was.
    pub fn last_bound(&self) -> Option<u32> {
        *lock(&self.0.last_bound)
    }

    /// Whether somebody changed what searches look at: what they find out answers another question then.
    pub fn is_steered(&self) -> bool {
        let has_order = lock(&self.0.visit_order).condition.is_some() || self.preference().heeded().is_some();
        self.leaves_states_out() || has_order || self.limits().is_some() || self.last_bound().is_some()
    }

    /// Whether somebody told searches to leave states out: no checkpoint of theirs can make up for these.
    pub fn leaves_states_out(&self) -> bool {
        lock(&self.0.depth).wanted.is_some() || self.boundary().text().is_some()
    }

    /// Searches for violations cut off runs after this many steps, from their next look at the limits on; `None`: they do not. What a
    /// search left out under a smaller bound it does not make up for, which [`Event::LeftOut`](crate::Event::LeftOut) tells.
    pub fn bound_depth(&self, max: Option<u64>) {
        lock(&self.0.depth).wanted = Some(max);
    }

    /// These limits, with the bound on depth that was set since.
    pub fn in_force(&self, limits: Limits) -> Limits {
        let depth_max = lock(&self.0.depth).wanted.unwrap_or(limits.depth_max);
        Limits { depth_max, ..limits }
    }

    /// A search left states out that were too deep under this bound.
    pub(crate) fn left_out_beyond(&self, bound: Option<u64>) {
        let mut depth = lock(&self.0.depth);
        depth.met = [depth.met, bound].into_iter().flatten().min();
    }

    /// The smallest bound on depth for which some search left states out.
    pub fn depth_met(&self) -> Option<u64> {
        lock(&self.0.depth).met
    }

    /// Where searches for violations of safety do not go on, from the moment on in which it gets a condition.
    pub fn boundary(&self) -> &Boundary {
        &self.0.boundary
    }

    /// Depth-first searches for violations of safety visit states in which a condition is true before others, from their next look at
    /// the limits on; without a condition, in any order. The condition is one that [`state_condition`] accepts; others count for none.
    pub fn visit_first(&self, condition: Option<&str>) {
        *lock(&self.0.visit_order) = VisitOrder { condition: condition.map(str::to_owned), is_new: true };
    }

    /// Reads what is to be visited first, for the program that is searched.
    pub fn read_visit_order(&self, loaded: &Loaded, program: &Program) {
        let mut visit_order = lock(&self.0.visit_order);
        if std::mem::take(&mut visit_order.is_new) {
            let condition = visit_order.condition.clone();
            let read = |text: String| state_condition(loaded, program, &text).ok().map(|condition| (text, condition));
            self.0.preference.set(condition.and_then(read));
        }
    }

    /// Which states the search that runs visits first.
    pub fn preference(&self) -> &Preference {
        &self.0.preference
    }

    /// What was asked for since the last look.
    pub fn snapshot_request(&self) -> Option<SnapshotRequest> {
        if self.0.asked.load(Ordering::Relaxed) == NOTHING {
            return None;
        }
        match self.0.asked.swap(NOTHING, Ordering::Relaxed) {
            NOTHING => None,
            END_OF_PATH => Some(SnapshotRequest { labels_max: SHOWN_STEPS_MAX, whole: false }),
            _ => Some(SnapshotRequest { labels_max: usize::MAX, whole: true }),
        }
    }

    /// Returns once the search may go on, or is to stop.
    pub fn wait_while_paused(&self, cancel: &Cancel) {
        let mut paused = lock(&self.0.paused);
        while *paused && cancel.requested().is_none() {
            paused = self.0.resumed.wait_timeout(paused, PAUSE_LOOK).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a search is at.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Look {
    /// What it is doing, as a few words.
    pub phase: String,
    /// The end of the run it is at.
    pub path: Vec<LookStep>,
    /// Steps of the run before those.
    pub before: u64,
    /// The run starts in the initial state; else in one that waited.
    pub from_initial: bool,
    /// States on the stack; 0 if there is none.
    pub stack: u64,
    /// States that wait until their turn comes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frontier: Option<u64>,
    /// Cycles met that are none of those that are looked for.
    pub rejected: u64,
    /// Whether the search tells of such cycles.
    #[serde(skip)]
    pub tells_of_cycles: bool,
    /// States of the largest strongly connected component that was left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub largest_component: Option<u64>,
    /// Partitions that are still to be refined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partitions: Option<u64>,
    /// The whole path was asked for: these are its moves, in the program that is searched.
    #[serde(skip)]
    pub moves: Option<Vec<Move>>,
}

/// A step of the run that a search is at.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct LookStep {
    /// The number of the process.
    pub pid: u8,
    /// How it is shown, such as `P[1]`.
    pub process: String,
    /// The receiver of a rendezvous.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partner: Option<u8>,
    /// The statement.
    pub text: String,
    /// The file.
    pub file: Arc<str>,
    /// The line, from 1.
    pub line: u32,
}

/// A cycle that was looked at and is none of those that are looked for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct RejectedCycle {
    /// Why, as half a sentence.
    pub reason: String,
    /// The line of the statement that closes it (or to which no way leads back), from 1; 0 if there is none.
    pub line: u32,
}

/// Reads what a search shows.
pub struct Reader<'a> {
    pub program: &'a Program,
    pub map: &'a SourceMap,
    pub places: &'a Places,
}

impl Reader<'_> {
    /// What a search is at.
    pub fn look(&self, look: search::SearchSnapshot<Move>) -> Look {
        let shown = look.path.len().saturating_sub(SHOWN_STEPS_MAX);
        Look {
            phase: phase(look.phase),
            path: look.path[shown..].iter().map(|step| self.step(step)).collect(),
            before: look.before + shown as u64,
            from_initial: look.from_initial,
            stack: look.stack,
            frontier: look.frontier,
            rejected: look.rejected,
            tells_of_cycles: tells_of_cycles(look.phase),
            largest_component: look.largest_component,
            partitions: look.partitions,
            moves: (look.from_initial && look.before == 0).then_some(look.path),
        }
    }

    fn step(&self, step: &Move) -> LookStep {
        let id = self.program.process_of(step.edge);
        let process = self.program.process(id);
        let statement = self.program.statement(id, step.edge);
        let place = self.map.position(statement.span);
        LookStep {
            pid: step.pid,
            process: format!("{}[{}]", process.name, step.pid),
            partner: step.partner.map(|(pid, _)| pid),
            text: statement.text.clone(),
            file: place.file,
            line: place.line,
        }
    }

    /// Why a cycle is none of those that are looked for.
    pub fn rejected(&self, rejected: &Rejected<Move>) -> RejectedCycle {
        let line = rejected.label.map_or(0, |step| self.map.position(self.program.span_of(step.edge)).line);
        let reason = match rejected.why {
            Rejection::Progress => match self.progress_label(rejected) {
                Some((label, line)) => format!("passes the progress label `{label}` at line {line}"),
                None => "makes progress".to_owned(),
            },
            Rejection::NotAccepting => "accepts nowhere".to_owned(),
            Rejection::NoWayBack => format!("no way leads back to the accepting step at line {line}"),
            Rejection::Unfair => "neglects a process".to_owned(),
        };
        RejectedCycle { reason, line }
    }

    /// The progress label at which a process stands before or after the step that closes a loop.
    fn progress_label(&self, rejected: &Rejected<Move>) -> Option<(String, u32)> {
        let own = rejected.label.into_iter().flat_map(|step| {
            let edge = self.program.edge(step.edge);
            let process = self.program.process(edge.process);
            [edge.target, edge.source].map(|location| &process.locations[location.0 as usize])
        });
        let status = self.places.locations(&rejected.state);
        own.chain(status).find(|location| location.progress).map(|location| {
            let label = location.labels.iter().find(|label| label.starts_with("progress"));
            let line = self.map.position(location.span).line;
            (label.cloned().unwrap_or_else(|| "progress".to_owned()), line)
        })
    }
}

/// The path of a search as a run of the program as it is written, on which a person walks; without what watches it.
/// `None` if it cannot be told so.
pub fn as_walked(loaded: &Loaded, path: &[Move]) -> Option<Vec<Move>> {
    let (program, written) = (loaded.program.as_ref()?, loaded.as_written()?);
    elaborate(program, &written, Watch::NOTHING, path, Claim::Reaches).map(|elaborated| elaborated.path)
}

/// Whether a search that is at this tells of the cycles that it met, and why they are none of those that are looked for.
fn tells_of_cycles(phase: Phase) -> bool {
    match phase {
        Phase::WithoutProgress | Phase::Blue | Phase::Red | Phase::Components | Phase::Subproblems => true,
        Phase::DepthFirst | Phase::BreadthFirst | Phase::Delays(_) | Phase::Depth(_) => false,
        Phase::Calculate | Phase::Refine | Phase::Sample | Phase::Together => false,
    }
}

/// What a search is doing, in a few words.
fn phase(phase: Phase) -> String {
    match phase {
        Phase::DepthFirst => "depth first".to_owned(),
        Phase::BreadthFirst => "breadth first".to_owned(),
        Phase::Delays(bound) => format!("up to {}", fabius_task::words::counted(u64::from(bound), "delay")),
        Phase::Depth(bound) => format!("up to {}", fabius_task::words::counted(u64::from(bound), "step")),
        Phase::WithoutProgress => "goes on without progress".to_owned(),
        Phase::Blue => "looks for accepting steps".to_owned(),
        Phase::Red => "looks for a way back".to_owned(),
        Phase::Components => "collects components".to_owned(),
        Phase::Subproblems => "splits a component".to_owned(),
        Phase::Calculate => "calculates".to_owned(),
        Phase::Refine => "refines".to_owned(),
        Phase::Sample => "draws runs".to_owned(),
        Phase::Together => "several threads".to_owned(),
    }
}
