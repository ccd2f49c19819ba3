//! Can two places be reached at once? A shortest run that shows it, or the certainty that there is none.

use fabius_base::{Cancel, Limits, SourceMap};
use fabius_machine::Cursor;
use fabius_model::SearchedMachine;
use fabius_program::{LocationId, Move, Program, Watch, meaning::Fault};
use fabius_search::{self as search, Completeness, Model, Next, Quiet, StopAt, TreeStore};
use fabius_task::internal_error;
use fabius_task::load::Loaded;
use fabius_witness::{Claim, Trace, confirm};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A line of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Line {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
}

/// Whether two places can be reached at once.
#[derive(Clone, Debug)]
pub enum CoReachability {
    /// They can: a shortest run.
    Possible(Box<Trace>),
    /// They cannot; every reachable state was looked at.
    Never(u64),
    /// Not in the states that were looked at, which are not all.
    NotSeen(u64),
    /// No process can stop at one of the lines.
    NoSuchPlace,
    /// Fabius itself is wrong: what happened.
    Failed(String),
}

/// Whether there is a state in which, for each line, a process of its own is about to execute a statement
/// that begins there. One line asks whether it can be reached at all.
pub fn co_reachable(loaded: &Loaded, lines: &[Line], limits: Limits, cancel: &Cancel) -> Option<CoReachability> {
    loaded.checkable()?;
    let program = loaded.as_written()?;
    let wanted: Vec<Places> = lines.iter().map(|line| places(&program, &loaded.map, line)).collect();
    if wanted.iter().any(BTreeSet::is_empty) {
        return Some(CoReachability::NoSuchPlace);
    }
    let machine = SearchedMachine::new(Arc::clone(&program), Watch::NOTHING).ok()?;
    let mut search = MachineWithTarget { machine, wanted };
    let mut initial = Vec::new();
    search.machine.initial(&mut initial).ok()?;
    if search.is_there(&initial) {
        return Some(possible(&program, &[]));
    }
    let settings = search::Settings { limits, stop_at: StopAt::First, cancel: cancel.clone() };
    let outcome = search::breadth_first(&mut search, &mut TreeStore::new(), &mut Quiet, &settings);
    let found = outcome.violations.first();
    Some(match (found, outcome.completeness) {
        (Some(found), _) => possible(&program, &found.path),
        (None, Completeness::Exhaustive) => CoReachability::Never(outcome.statistics.states),
        (None, _) => CoReachability::NotSeen(outcome.statistics.states),
    })
}

/// The run to both places, once the reference interpreter has walked it.
fn possible(program: &Arc<Program>, path: &[Move]) -> CoReachability {
    match confirm(program, path, Claim::Reaches) {
        Ok(trace) => CoReachability::Possible(Box::new(trace)),
        Err(why) => CoReachability::Failed(internal_error(&format!("the run found is none: {why}"))),
    }
}

/// Locations by process type.
type Places = BTreeSet<(u32, u32)>;

/// The locations at which a process is about to execute a statement that begins on a line.
fn places(program: &Program, map: &SourceMap, line: &Line) -> Places {
    let mut found = Places::new();
    for (at, process) in program.processes.iter().enumerate() {
        for (number, location) in process.locations.iter().enumerate() {
            let here = program.edges_of(location).any(|(id, _)| {
                let shown = map.user_span(program.span_of(id));
                map.line_column(shown.file, shown.start).0 == line.line && *map.file(shown.file).name == *line.file
            });
            if here {
                found.insert((at as u32, number as u32));
            }
        }
    }
    found
}

/// The machine, in which getting there counts as a fault.
struct MachineWithTarget {
    machine: SearchedMachine,
    wanted: Vec<Places>,
}

impl MachineWithTarget {
    fn is_there(&self, state: &[u32]) -> bool {
        let machine = self.machine.machine();
        let place = |pid: usize| Some((machine.process_of(state, pid)?.0, location(machine.location_of(state, pid)?)));
        let places: Vec<Option<(u32, u32)>> = (0..machine.process_count(state)).map(place).collect();
        let at = |wanted: &Places, pid: usize| places[pid].is_some_and(|place| wanted.contains(&place));
        match self.wanted.as_slice() {
            [one] => (0..places.len()).any(|pid| at(one, pid)),
            [one, other] => (0..places.len())
                .any(|pid| at(one, pid) && (0..places.len()).any(|second| second != pid && at(other, second))),
            _ => false,
        }
    }
}

fn location(id: LocationId) -> u32 {
    id.0
}

impl Model for MachineWithTarget {
    type Label = Move;
    type Fault = Fault;
    type Cursor = Cursor;

    fn hidden_words(&self) -> usize {
        self.machine.hidden_words()
    }

    fn initial(&mut self, state: &mut Vec<u32>) -> Result<(), Fault> {
        self.machine.initial(state)
    }

    fn begin(&mut self, state: &[u32]) -> Cursor {
        self.machine.begin(state)
    }

    fn next(&mut self, state: &[u32], cursor: &mut Cursor, successor: &mut Vec<u32>) -> Next<Move, Fault> {
        loop {
            return match self.machine.next(state, cursor, successor) {
                Next::Successor { label, transient, marks, .. } => {
                    let fault = (label.is_some() && self.is_there(successor)).then_some(Fault::AssertionFailed);
                    Next::Successor { label, transient, fault, marks }
                }
                // What goes wrong elsewhere is another question.
                Next::Broken { .. } => continue,
                Next::Done(_) => Next::Done(search::Ending::ValidEnd),
            };
        }
    }
}
