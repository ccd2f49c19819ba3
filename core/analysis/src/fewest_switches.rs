//! A run to an error with as few changes of process as there can be: a breadth-first search in which only a change of
//! process counts (0-1 breadth-first search), over states together with the process that moved last.

use fabius_base::Cancel;
use fabius_counterexample::{Counterexample, ErrorKind, ExplorationTarget, Found, confirm};
use fabius_model::SearchedMachine;
use fabius_program::{Move, Watch, meaning::Fault};
use fabius_search::{Ending, Model, Next};
use fabius_task::load::Loaded;
use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

/// Where a state came from: the number of the one before, and the step.
type Origin = (u32, Option<Move>);

/// A run of an exploration target that somebody made by hand, as the counterexample that it is: its last step is faulty, or, without a
/// fault, nothing can move after it although something should.
///
/// # Errors
/// If the run does not show that, in a sentence.
pub fn as_counterexample(
    loaded: &Loaded,
    target: &ExplorationTarget,
    path: Vec<Move>,
    fault: Option<Fault>,
) -> Result<Counterexample, String> {
    let wrong = fault.map_or(ErrorKind::InvalidEnd, ErrorKind::Fault);
    confirm(loaded, &target.program, as_it_is(wrong, path, target.watch))
}

/// A run to an error, to be told as it is.
fn as_it_is(wrong: ErrorKind, path: Vec<Move>, watch: Watch) -> Found {
    Found { as_found: true, ..Found::new(wrong, path, watch) }
}

/// A run that goes wrong as `like` does, with the fewest changes of process; `None` if none is found within this many
/// states.
///
/// # Errors
/// If the model cannot be run, in a sentence.
pub fn fewest_switches(
    loaded: &Loaded,
    target: &ExplorationTarget,
    like: &Counterexample,
    states_max: usize,
    cancel: &Cancel,
) -> Result<Option<Counterexample>, String> {
    let watch = Watch { trace: target.watch.trace, ..Watch::NOTHING };
    let machine = SearchedMachine::new(Arc::clone(&target.program), watch).map_err(|refusal| refusal.to_string())?;
    let mut search = Search { machine, seen: HashSet::new(), origins: Vec::new(), open: VecDeque::new() };
    let mut initial = Vec::new();
    search.machine.initial(&mut initial).map_err(|fault| fault.to_string())?;
    search.open.push_back((initial, None, (0, None)));
    while let Some((state, last, origin)) = search.open.pop_front() {
        if states_max < search.origins.len() || cancel.requested().is_some() {
            break;
        }
        let Some(errors) = search.expand(state, last, origin) else { continue };
        for (wrong, path) in errors {
            let found = confirm(loaded, &target.program, as_it_is(wrong, path, watch))?;
            if found.report.kind == like.report.kind && found.finding.span() == like.finding.span() {
                return Ok(Some(found));
            }
        }
    }
    Ok(None)
}

struct Search {
    machine: SearchedMachine,
    /// States with the process that moved last.
    seen: HashSet<(Vec<u32>, Option<u8>)>,
    origins: Vec<Origin>,
    open: VecDeque<(Vec<u32>, Option<u8>, Origin)>,
}

impl Search {
    /// Looks at the successors of a state; the errors among them, or `None` if the state was seen before.
    fn expand(&mut self, state: Vec<u32>, last: Option<u8>, origin: Origin) -> Option<Vec<(ErrorKind, Vec<Move>)>> {
        if !self.seen.insert((state.clone(), last)) {
            return None;
        }
        let number = self.origins.len() as u32;
        self.origins.push(origin);
        let mut errors: Vec<(ErrorKind, Vec<Move>)> = Vec::new();
        let fails = |this: &Self, fault: Fault, step: Move| (ErrorKind::Fault(fault), this.path(number, Some(step)));
        let mut cursor = self.machine.begin(&state);
        loop {
            let mut successor = Vec::new();
            match self.machine.next(&state, &mut cursor, &mut successor) {
                Next::Successor { label, fault, .. } => {
                    if let (Some(fault), Some(step)) = (fault, label) {
                        errors.push(fails(self, fault, step));
                    }
                    let mover = label.map_or(last, |step| Some(step.pid));
                    let item = (successor, mover, (number, label));
                    if mover == last { self.open.push_front(item) } else { self.open.push_back(item) }
                }
                Next::Broken { label, fault } => errors.push(fails(self, fault, label)),
                Next::Done(Ending::InvalidEnd) => {
                    errors.push((ErrorKind::InvalidEnd, self.path(number, None)));
                    return Some(errors);
                }
                Next::Done(_) => return Some(errors),
            }
        }
    }

    /// The steps to a state, and one more.
    fn path(&self, number: u32, last: Option<Move>) -> Vec<Move> {
        let mut path: Vec<Move> = last.into_iter().collect();
        let mut here = number;
        while here != 0 {
            let (before, step) = self.origins[here as usize];
            path.extend(step);
            here = before;
        }
        path.reverse();
        path
    }
}
