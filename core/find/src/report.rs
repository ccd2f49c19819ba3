//! The answer as plain data; `docs/schema/find.schema.json` describes it.

use crate::Run;
use fabius_base::SourceMap;
use fabius_task::report::{RibbonReport, ValueReport};
use fabius_witness::format::json::{StepRecord, steps_at_ends};
use serde::Serialize;

/// Whether there is a run in which the pattern comes true.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FindVerdict {
    /// There is one.
    Found,
    /// There is none.
    Impossible,
    /// Not known.
    Unknown,
}

/// What was found out about a pattern.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct FindReport {
    /// `fabius`.
    pub tool: &'static str,
    /// Its version.
    pub version: &'static str,
    /// The model, as it was named.
    pub file: String,
    /// The pattern, as it was written.
    pub pattern: String,
    /// The answer.
    pub verdict: FindVerdict,
    /// The answer in a sentence.
    pub reason: String,
    /// A run with the fewest steps in which the pattern comes true, walked by the reference interpreter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<RunReport>,
    /// Every state was looked at.
    pub exhaustive: bool,
    /// Of *impossible*: states drawn from the visited set whose steps the reference interpreter listed again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audited: Option<u64>,
    /// A part of the pattern that had no value in some state, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub without_value: Option<String>,
    /// What is said of runs that end in a runtime error, if there are such.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_runs: Option<String>,
    /// States of the product of model and pattern that were stored.
    pub states: u64,
    /// Transitions listed.
    pub transitions: u64,
    /// Steps that the search went deep.
    pub depth: u64,
    /// Time it took.
    pub seconds: f64,
    /// Memory of visited set and queue together.
    pub memory_bytes: u64,
    /// Only if Fabius itself is wrong: what happened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub internal_error: Option<String>,
}

/// A run in which a pattern comes true.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct RunReport {
    /// Length of the run.
    pub steps: u64,
    /// Its steps; of a very long run, those of both ends.
    pub trace: Vec<StepRecord>,
    /// How many steps in the middle are not in `trace`.
    #[serde(skip_serializing_if = "is_zero")]
    pub steps_left_out: u64,
    /// Where the pattern and its parts are true along the run, if it is about the past.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ribbon: Option<RibbonReport>,
    /// Where the processes are at its end.
    pub places: Vec<Place>,
    /// The values of global variables and channels at its end.
    pub values: Vec<ValueReport>,
}

/// Where a process is.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Place {
    /// How it is shown, such as `P[1]`.
    pub name: String,
    /// Its number.
    pub pid: u8,
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
}

impl RunReport {
    pub(crate) fn of(run: &Run, map: &SourceMap) -> Self {
        let (trace, left_out) = steps_at_ends(&run.trace, map);
        let last = &run.trace.last;
        let place = |status: &fabius_witness::ProcessStatus| {
            let at = map.position(status.waiting.first().map_or(status.span, |waiting| waiting.span));
            Place { name: status.name.clone(), pid: status.pid, file: at.file.to_string(), line: at.line }
        };
        let value = |(name, value): &(String, String)| ValueReport { name: name.clone(), value: value.clone() };
        Self {
            steps: run.path.len() as u64,
            trace,
            steps_left_out: left_out as u64,
            ribbon: run.trace.ribbon.as_ref().map(RibbonReport::from),
            places: last.processes.iter().filter(|status| !status.has_ended()).map(place).collect(),
            values: last.variables.iter().chain(&last.channels).map(value).collect(),
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(value: &u64) -> bool {
    *value == 0
}
