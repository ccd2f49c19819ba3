//! Messages of our own, which `docs/protocol.md` describes.

use fabius_witness::format::json::StepRecord;
use serde::{Deserialize, Serialize};
#[cfg(test)]
use ts_rs::TS;

/// Where everything stands still (`fabius/at`).
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(crate) struct Place {
    /// The number of the step that led here; 0 at the beginning.
    pub step: usize,
    /// How many steps the run has.
    pub of: usize,
    /// The file in which the process stands that moves next.
    pub file: String,
    /// Its line, from 1.
    pub line: u32,
    /// The parts that make the conditions false at which blocked processes wait.
    pub parts: Vec<FalsePart>,
}

/// A part of a condition that makes it false.
#[derive(PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub(crate) struct FalsePart {
    /// The process that waits, such as `P[1]`.
    pub process: String,
    /// Whether the part is true or false, and the values of which it is made, in a sentence.
    pub sentence: String,
    /// The file in which it is written.
    pub file: String,
    /// Where it begins: the line, from 1.
    pub line: u32,
    /// The column, in characters, from 1.
    pub column: u32,
    /// Where it ends: the line.
    pub end_line: u32,
    /// The column after it.
    pub end_column: u32,
}

/// The arguments of `fabius/jump`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
#[cfg_attr(test, derive(TS))]
pub(crate) struct JumpParams {
    /// The number of the step after which to be; 0 is the beginning.
    #[cfg_attr(test, ts(type = "number"))]
    pub step: Option<usize>,
}

/// The answer to `fabius/jump`, and to `goto`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(crate) struct Position {
    /// The number of the step that led here.
    pub step: usize,
}

/// The arguments of `fabius/hold`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
#[cfg_attr(test, derive(TS), ts(optional_fields))]
pub(crate) struct HoldParams {
    /// By its number, or by a name such as `P[1]`.
    #[cfg_attr(test, ts(type = "number | string"))]
    pub process: Option<ProcessReference>,
    /// Whether the process is held from now on, or released; held if nothing is said.
    pub held: Option<bool>,
    /// For how many steps of others.
    pub steps: Option<u32>,
    /// Until this expression is true.
    pub condition: Option<String>,
}

/// A process.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "`process` is a number or a name such as P[1]")]
pub(crate) enum ProcessReference {
    Number(i64),
    Name(String),
}

/// The answer to `fabius/hold`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub(crate) struct HeldProcesses {
    /// The numbers of the processes that are held.
    pub held: Vec<u8>,
}

/// The answer to `fabius/save`.
#[derive(Debug, Serialize)]
pub(crate) struct SavedRun {
    /// The run, as the text of a file.
    pub text: String,
}

/// The arguments of `fabius/trace`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct TraceParams {
    /// The first step of the page, from 1.
    pub from: Option<usize>,
    /// How many steps.
    pub count: Option<usize>,
}

/// The answer to `fabius/trace`: a page of the run.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TracePage {
    /// The number of the step that led here.
    pub step: usize,
    /// How many steps the run has.
    pub of: usize,
    /// The first step of the page, from 1.
    pub from: usize,
    pub steps: Vec<TraceStep>,
    /// The number of the step with which the loop begins.
    pub loop_start: Option<usize>,
    /// The numbers of the processes that are held.
    pub held: Vec<u8>,
}

/// A step of the run.
#[derive(Debug, Serialize)]
pub(crate) struct TraceStep {
    #[serde(flatten)]
    pub record: StepRecord,
    /// What it does.
    pub sentence: String,
    /// Where the messages come from that it receives.
    #[serde(rename = "receivedFrom")]
    pub received_from: Vec<ReceivedFrom>,
}

/// Where a message comes from.
#[derive(Debug, Serialize)]
pub(crate) struct ReceivedFrom {
    /// The number of the step that sent it.
    pub from: usize,
    pub channel: String,
}
