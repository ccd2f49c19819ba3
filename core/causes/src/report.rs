//! The answer as plain data; `docs/schema/causes.schema.json` describes it.

use crate::Cause;
use fabius_program::EdgeId;
use fabius_task::load::Loaded;
use fabius_task::report::{PropertyClass, ViolationClass, ViolationReport};
use fabius_task::words::counted;
use fabius_task::{TOOL, VERSION};
use fabius_witness::show::statement_text;
use serde::Serialize;

/// The causes of the violations of a model.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CausesReport {
    /// `fabius`.
    pub tool: &'static str,
    /// Its version.
    pub version: &'static str,
    /// The model, as it was named.
    pub file: String,
    /// The properties that were asked about.
    pub properties: Vec<PropertyCauses>,
    /// Time it took.
    pub seconds: f64,
    /// Only if Fabius itself is wrong: what happened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub internal_error: Option<String>,
}

/// Whether a property can be violated.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CausesVerdict {
    /// It can.
    Violated,
    /// It cannot.
    Holds,
    /// Not known.
    Unknown,
}

/// The causes of the violations of a property.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PropertyCauses {
    /// Its name.
    pub property: String,
    /// What kind of property it is.
    pub kind: PropertyClass,
    /// Whether it can be violated.
    pub verdict: CausesVerdict,
    /// The causes that were found: those with the fewest statements first.
    pub causes: Vec<CauseReport>,
    /// Whether these are all: each violating run executes all statements of one of them.
    pub complete: bool,
    /// Why there may be more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Number of searches; the check before them counts as one.
    pub searches: u64,
    /// The states that they stored, together.
    pub states: u64,
    /// Memory of the largest search.
    pub memory_bytes: u64,
}

/// A minimal set of statements with which a property can be violated.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CauseReport {
    /// Its number among the causes of the model, from 1.
    pub number: usize,
    /// What goes wrong in its run, and where.
    pub sentence: String,
    /// Whether each statement is known to be needed: with the others alone, the property cannot be violated.
    pub minimal: bool,
    /// The statements, in the order of the text.
    pub statements: Vec<StatementReport>,
    /// A run that executes these statements only.
    pub run: ViolationReport,
}

/// A statement.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
pub struct StatementReport {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
    /// The process type that executes it.
    pub process: String,
    /// Its text.
    pub statement: String,
    /// Its number in the program as written: what tells apart two statements with the same place.
    pub edge: u32,
}

impl CausesReport {
    pub(crate) fn new(loaded: &Loaded) -> Self {
        Self {
            tool: TOOL,
            version: VERSION,
            file: loaded.name.clone(),
            properties: Vec::new(),
            seconds: 0.0,
            internal_error: None,
        }
    }
}

impl PropertyCauses {
    /// The answer in a sentence.
    pub fn sentence(&self) -> String {
        let (number, why) = (counted(self.causes.len() as u64, "cause"), self.reason.as_deref().unwrap_or_default());
        match (self.verdict, self.complete) {
            (CausesVerdict::Holds, _) => "no cause: no run violates it (exhaustive)".to_owned(),
            (CausesVerdict::Unknown, _) => format!("no cause was found: {why}"),
            (CausesVerdict::Violated, true) => format!("{number}, and no others"),
            (CausesVerdict::Violated, false) => format!("{number}; there may be more: {why}"),
        }
    }
}

impl CauseReport {
    pub(crate) fn of(number: usize, cause: &Cause, loaded: &Loaded) -> Self {
        let mut statements: Vec<StatementReport> =
            cause.statements.iter().map(|edge| statement(cause, *edge, loaded)).collect();
        statements.sort();
        let run = cause.counterexample.report.clone();
        Self { number, sentence: sentence(&run), minimal: cause.is_minimal, statements, run }
    }
}

/// What goes wrong in a run, and where.
fn sentence(run: &ViolationReport) -> String {
    let (steps, line) = (counted(run.steps, "step"), run.line);
    match run.kind {
        ViolationClass::InvalidEndState => format!("deadlock at line {line}, after {steps}"),
        ViolationClass::ClaimCompleted => format!("violated by a finite run of {steps}, at line {line}"),
        ViolationClass::AcceptanceCycle => {
            format!("violated by an infinite run at line {line}: {steps}, those of its loop once")
        }
        ViolationClass::NonProgressCycle => format!("livelock at line {line}: {steps}, those of its loop once"),
        _ => format!("{} at line {line}, after {steps}", run.message),
    }
}

fn statement(cause: &Cause, edge: EdgeId, loaded: &Loaded) -> StatementReport {
    let process = cause.program.process_of(edge);
    let statement = cause.program.statement(process, edge);
    let at = loaded.map.position(statement.span);
    StatementReport {
        file: at.file.to_string(),
        line: at.line,
        column: at.column,
        process: cause.program.process(process).name.clone(),
        statement: statement_text(statement).to_owned(),
        edge: edge.0,
    }
}
