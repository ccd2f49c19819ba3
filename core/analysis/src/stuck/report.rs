//! Whether a model can get stuck, as plain data; `docs/schema/stuck.schema.json` describes it.

use super::StuckVerdict;
use super::guide::only_ends;
use crate::Line;
use fabius_base::SourceMap;
use fabius_program::facts::{Candidates, Participant, Whereabouts};
use fabius_program::{LocationId, Process, ProcessId, ProcessKind, Program};
use fabius_task::ViolationReport;
use serde::Serialize;

/// This many alternatives are named at a place.
const ALTERNATIVES_MAX: usize = 4;

/// What establishes that a model cannot get stuck.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Proof {
    /// Its text, without a search.
    Text,
    /// A search that was exhaustive.
    Search,
}

/// Whether a model can get stuck.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct StuckReport {
    /// `fabius`.
    pub tool: &'static str,
    /// Its version.
    pub version: &'static str,
    /// The model.
    pub file: String,
    /// The answer.
    pub verdict: StuckVerdict,
    /// Only deadlocks in which a process waits at this line were looked for, and `candidates` has only these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The answer in a sentence.
    pub reason: String,
    /// What establishes that it cannot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proof: Option<Proof>,
    /// Number of combinations of places at which processes can be blocked; `None` if the text does not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub combinations: Option<String>,
    /// Why the text does not tell where the model could get stuck.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_told: Option<&'static str>,
    /// The combinations that the text does not exclude.
    pub candidates: Vec<CandidateReport>,
    /// Runs to deadlocks.
    pub runs: Vec<ViolationReport>,
    /// States that the search stored; 0 if there was none.
    pub states: u64,
    /// Arrivals at states from which no candidate can be reached.
    pub hopeless: u64,
    /// The search left out nothing that matters.
    pub exhaustive: bool,
    /// Time taken, in seconds.
    pub seconds: f64,
    /// Memory that the search took.
    pub memory_bytes: u64,
    /// Fabius itself is wrong: what happened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub internal_error: Option<String>,
}

/// What is known of a combination of places.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CandidateVerdict {
    /// A run leads there.
    Reached,
    /// No run leads there.
    Impossible,
    /// Not known.
    Unknown,
}

/// A combination of places at which everybody could be blocked.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct CandidateReport {
    /// What is known of it.
    pub verdict: CandidateVerdict,
    /// The run that leads there, by its number in [`StuckReport::runs`], from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<usize>,
    /// Where each process is.
    pub places: Vec<PlaceReport>,
}

/// Where a process could be blocked.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct PlaceReport {
    /// Its type.
    pub process: String,
    /// Its number, if it exists from the start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u8>,
    /// Whether it was created, is blocked, may stay here, or has ended or can only end.
    pub is: Being,
    /// The file, unless it was not created.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line, unless it was not created.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// What it waits for: some of the statements that it could execute next.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub statements: Vec<String>,
}

/// What a process does where everybody is blocked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Being {
    /// It was not created.
    Absent,
    /// It waits.
    Blocked,
    /// It waits where it may stay.
    AtEndLabel,
    /// It has ended, or nothing else is left to it.
    Ended,
}

/// Whether a process can come to a statement of a line.
pub(super) fn is_place(program: &Program, map: &SourceMap, line: &Line) -> bool {
    let of = |process: &Process| process.kind == ProcessKind::Process;
    let mut processes = program.processes.iter().enumerate().filter(|(_, process)| of(process));
    processes.any(|(number, process)| {
        (0..process.locations.len()).any(|at| is_at(program, map, ProcessId(number as u32), at as u32, line))
    })
}

/// Whether a process waits at a line in a candidate.
pub(super) fn waits_at(
    program: &Program,
    map: &SourceMap,
    participants: &[Participant],
    candidate: &[Whereabouts],
    line: &Line,
) -> bool {
    participants.iter().zip(candidate).any(|(participant, place)| match place {
        Whereabouts::Absent => false,
        Whereabouts::At(LocationId(at)) => is_at(program, map, participant.process(), *at, line),
    })
}

/// Whether a statement that could be next at a location of a process is on a line.
fn is_at(program: &Program, map: &SourceMap, process: ProcessId, at: u32, line: &Line) -> bool {
    let mut edges = program.edges_of(&program.process(process).locations[at as usize]);
    let is_here = |span| {
        let position = map.position(map.user_span(span));
        position.line == line.line && *position.file == *line.file
    };
    !only_ends(program, process, at) && edges.any(|(id, _)| is_here(program.statement(process, id).span))
}

/// A candidate as plain data.
pub(super) fn candidate(
    program: &Program,
    map: &SourceMap,
    candidates: &Candidates,
    number: usize,
    verdict: (CandidateVerdict, Option<usize>),
) -> CandidateReport {
    let places = candidates.participants.iter().zip(&candidates.list[number]).map(|(participant, place)| {
        let process = program.process(participant.process());
        let (name, pid) = (process.name.clone(), participant.instance.key.pid);
        match place {
            Whereabouts::Absent => {
                PlaceReport { process: name, pid, is: Being::Absent, file: None, line: None, statements: Vec::new() }
            }
            Whereabouts::At(LocationId(at)) => {
                let location = &process.locations[*at as usize];
                let ends = only_ends(program, participant.process(), *at);
                let is = match (ends, location.end) {
                    (true, _) => Being::Ended,
                    (false, true) => Being::AtEndLabel,
                    (false, false) => Being::Blocked,
                };
                let edges = program.edges_of(location);
                let statements: Vec<_> = edges.map(|(id, _)| program.statement(participant.process(), id)).collect();
                let position = map.position(statements.first().map_or(location.span, |statement| statement.span));
                let texts = statements.iter().take(ALTERNATIVES_MAX).map(|statement| statement.text.clone());
                let statements = if ends { Vec::new() } else { texts.collect() };
                let (file, line) = (Some(position.file.to_string()), Some(position.line));
                PlaceReport { process: name, pid, is, file, line, statements }
            }
        }
    });
    CandidateReport { verdict: verdict.0, run: verdict.1, places: places.collect() }
}
