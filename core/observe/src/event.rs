//! What happens during a check, as it happens. The faces (command line, editor, terminal) show it;
//! none of them computes a verdict.

use crate::look::{Look, RejectedCycle};
use fabius_counterexample::Counterexample;
use fabius_task::report::schedule::ScheduleVerdict;
use fabius_task::report::{FindingReport, PropertyReport, Report, ViolationReport, WorkerReport};
use serde::Serialize;
use std::sync::Arc;

/// Something that happened. As JSON, `event` names it.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A file is about to be checked.
    Started {
        /// `fabius`.
        tool: &'static str,
        /// Its version.
        version: &'static str,
        /// The model, as it was named.
        file: String,
    },
    /// There is something to say about the text of the model.
    Finding {
        /// What.
        finding: FindingReport,
    },
    /// The search for violations of a property starts.
    Searching {
        /// The property.
        property: String,
        /// What the search is for: a first violation, or a shorter way to the one found.
        goal: Goal,
    },
    /// A search goes on.
    Progress {
        /// The property.
        property: String,
        /// How far it is.
        progress: Progress,
        /// How far each of the processes is that search together, if there are any.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        workers: Vec<WorkerReport>,
    },
    /// A round of a search in the order of delays (or of depth) is finished.
    Round {
        /// The property.
        property: String,
        /// How many delays (or steps) were allowed.
        bound: u32,
        /// States stored so far.
        states: u64,
        /// What waits for a larger bound.
        frontier: u64,
    },
    /// A round of the search for a schedule that avoids every error is finished, or the first one is found in it; what it found stays
    /// true.
    Schedule {
        /// The property.
        property: String,
        /// The number of delays of the round.
        round: u32,
        /// Whether all states up to that number of delays are explored.
        finished: bool,
        /// States met so far.
        states: u64,
        /// Those of them from which a scheduler can avoid every error, as far as is known.
        region: u64,
        /// Whether a scheduler can avoid every error from the initial state on, as far as is known.
        verdict: ScheduleVerdict,
    },
    /// What a search is at: told once for each time that somebody asks ([`crate::Controls::ask`]).
    Look {
        /// The property.
        property: String,
        /// What the search is at.
        look: Look,
    },
    /// A cycle is none of those that are looked for: told now and then, after a look.
    Rejected {
        /// The property.
        property: String,
        /// What is known of it.
        cycle: RejectedCycle,
    },
    /// A bound on depth was raised or removed while searches ran, and under it states had been left out: the search goes on without
    /// these, so only a search that begins anew is complete ([`crate::Controls::bound_depth`]).
    LeftOut {
        /// The property.
        property: String,
        /// The bound under which they were left out.
        depth: u64,
    },
    /// A counterexample was found and confirmed.
    Violation {
        /// The property.
        property: String,
        /// The counterexample.
        violation: ViolationReport,
        /// The same with its run, for whoever shows it.
        #[serde(skip)]
        counterexample: Arc<Counterexample>,
    },
    /// A property is decided, or the search for violations of it is over.
    PropertyDone {
        /// What was found out.
        property: Box<PropertyReport>,
    },
    /// The check is over.
    Done {
        /// All that was found out.
        report: Box<Report>,
    },
}

/// What a search is for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Goal {
    /// A violation, or the certainty that there is none.
    Violation,
    /// A shorter run to a violation that is known.
    ShorterRun,
    /// A fair run that never ends, where one that is not is known.
    FairRun,
    /// Which statements no run executes, where what holds was proved with a reduction.
    DeadCode,
}

/// How far a search is.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Progress {
    /// States stored so far.
    pub states: u64,
    /// Transitions taken so far.
    pub transitions: u64,
    /// Length of the run it is at, in steps.
    pub depth: u64,
    /// Memory of visited set and stack together.
    pub memory_bytes: u64,
    /// Time since the search started.
    pub seconds: f64,
}
