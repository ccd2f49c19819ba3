//! What is known about a model and its properties.

use crate::session::jobs::Tier;
use fabius_engine::report::PropertyClass;
use fabius_engine::{Fairness, Progress, Verdict};
use serde::Serialize;
use tower_lsp_server::ls_types as lsp;
#[cfg(test)]
use ts_rs::TS;

/// All that is known about a model.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Status {
    /// The model.
    #[cfg_attr(test, ts(type = "string"))]
    pub uri: lsp::Uri,
    /// The version of the document.
    pub version: i32,
    /// A later status of the same server has a greater number.
    pub serial: u64,
    /// The check that is under way.
    pub running: Option<Running>,
    /// The properties that are checked after the one that is under way, in this order.
    pub waiting: Vec<Waiting>,
    /// Checks do not go on from states in which this is true.
    #[serde(rename = "leaveOut")]
    pub leave_out: Option<String>,
    /// Checks cut off runs after this many steps.
    #[serde(rename = "maxDepth")]
    pub max_depth: Option<u64>,
    /// Depth-first searches for violations of safety prefer states in which this is true. Null as well while that says nothing about the
    /// model, since its text was edited.
    #[serde(rename = "visitFirst")]
    pub visit_first: Option<String>,
    /// Why the model cannot be checked as it is; the properties are then those from before.
    pub faulty: Option<Faulty>,
    /// The properties.
    pub properties: Vec<PropertyStatus>,
    /// Which reachable states were looked at for coverage.
    pub survey: Option<SurveyStatus>,
    /// The states are being looked at for coverage.
    pub surveying: bool,
}

/// A check that is under way.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Running {
    /// The property.
    pub property: String,
    /// How deep the check goes.
    pub tier: Tier,
    /// The number of delays up to which it found nothing so far.
    pub bound: Option<u32>,
    /// How far the search is.
    pub progress: Option<Progress>,
    /// How many checks of other models begin before it, if it waits for one of them to end; `null` if it goes on.
    pub ahead: Option<usize>,
}

/// A property that waits for its turn.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Waiting {
    /// The property.
    pub property: String,
    /// How deep it is going to be looked at.
    pub tier: Tier,
    /// How far the search was when it was interrupted for another property, if it goes on from there.
    pub progress: Option<Progress>,
}

/// Why a model cannot be checked.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Faulty {
    /// The first error, in one line.
    pub message: String,
    /// The number of errors.
    pub errors: usize,
    /// The line of the first one in its file, from 0; `null` if the settings of the project are what is wrong.
    pub line: Option<u32>,
}

/// Which reachable states were looked at.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct SurveyStatus {
    /// Their number.
    pub states: u64,
    /// Whether these are all.
    pub exhaustive: bool,
}

/// What is known about a property.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct PropertyStatus {
    /// Its name.
    pub name: String,
    /// What it asks.
    pub kind: Option<PropertyClass>,
    /// Its state, in a word.
    pub state: PropertyState,
    /// The last verdict.
    pub verdict: Option<Verdict>,
    /// The verdict rests on every reachable state of the present text.
    pub exhaustive: bool,
    /// The verdict is about an earlier text.
    pub stale: bool,
    /// Which infinite runs count.
    pub fairness: Fairness,
    /// The time (UTC) of the earlier run that proved it, if it was not searched now.
    pub cached: Option<String>,
    /// What is known, in one line.
    pub summary: Option<String>,
    /// The same in a few words.
    pub short: Option<String>,
    /// The number of states visited.
    pub states: Option<u64>,
    /// The number of delays up to which a search found nothing.
    pub bound: Option<u32>,
    /// The number of counterexamples.
    pub counterexamples: usize,
    /// Whether a scheduler can avoid every error.
    pub avoidable: Option<bool>,
    /// What became of the first counterexample in the present text.
    pub replay: Option<String>,
    /// The verdict that the project or the model says is right.
    pub expected: Option<Verdict>,
    /// Where the property is in this document.
    #[cfg_attr(test, ts(type = "Range | null"))]
    pub range: Option<lsp::Range>,
}

/// The state of a property.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(test, derive(TS))]
pub enum PropertyState {
    /// Nothing is known.
    Unknown,
    /// It is being checked.
    Running,
    /// What is known is about an earlier text.
    Stale,
    /// It holds.
    Holds,
    /// There is a counterexample.
    Violated,
    /// No counterexample was found, but not everything was checked.
    Undecided,
    /// It cannot be checked.
    Faulty,
}

impl From<Verdict> for PropertyState {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Holds => Self::Holds,
            Verdict::Violated => Self::Violated,
            Verdict::Undecided => Self::Undecided,
            Verdict::Faulty => Self::Faulty,
        }
    }
}
