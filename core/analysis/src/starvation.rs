//! Hints at starvation: where a process can wait for ever while others go on, under every fair scheduler.
//!
//! For a process and a place where it may have to wait, everywhere else is made progress for it: then a livelock is a
//! run in which it stays there, and one that is strongly fair is one in which it can never move. The run is
//! walked again in the program as it is before anything is said.

use fabius_base::{Cancel, Code, Finding, Limits, StopReason};
use fabius_model::{Budget, SearchedMachine, listed};
use fabius_program::{
    Action, EdgeId, Location, Move, ProcessId, ProcessKind, Program, ProgressOn, Watch, meaning::Fault,
};
use fabius_search::cycle::{self, Found};
use fabius_search::{Completeness, Observer, Statistics, StopAt, TreeStore};
use fabius_task::internal_error;
use fabius_task::load::Loaded;
use fabius_task::settings::Settings;
use fabius_witness::{Claim, CycleClaim, InfiniteRun, Role, RunFairness, confirm};
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Each place is looked at in this many states at most; …
const STATES_MAX: u64 = 20_000;
/// … in all of them together, this many transitions are listed (those of large states count more than once).
const TRANSITIONS_MAX: u64 = 400_000;
/// No more hints than this are given.
const HINTS_MAX: usize = 5;

/// Ends a search once it has listed this many transitions.
struct UpTo(u64);

impl Observer<Move, Fault> for UpTo {
    fn progress(&mut self, statistics: &Statistics) -> ControlFlow<StopReason> {
        if self.0 <= listed(statistics) { ControlFlow::Break(StopReason::States) } else { ControlFlow::Continue(()) }
    }
}

/// What was found out about starvation.
#[derive(Default)]
pub struct Hints {
    /// One for each place.
    pub findings: Vec<Finding>,
    /// Whether some places were not looked at, or not in all states.
    pub cut_short: bool,
    /// Fabius itself is wrong: what happened.
    pub failure: Option<String>,
}

impl Hints {
    /// The findings, and that they may not be all.
    pub fn into_findings(self) -> Vec<Finding> {
        let headline = "more places of starvation may exist: the search for them was cut short";
        let note = self.cut_short.then(|| Finding::new(Code::Starvation, headline));
        self.findings.into_iter().chain(note).collect()
    }
}

/// Hints at starvation in a model.
pub fn hints_about(loaded: &Loaded, cancel: &Cancel) -> Vec<Finding> {
    loaded.checkable().map_or_else(Vec::new, |program| hints(program, &Settings::default(), cancel).findings)
}

/// Places where a process of those that exist at the start can wait for ever while others go on; as far as a small
/// budget goes.
pub fn hints(program: &Arc<Program>, settings: &Settings, cancel: &Cancel) -> Hints {
    let mut told = BTreeSet::new();
    let mut hints = Hints::default();
    let mut left = TRANSITIONS_MAX;
    for (pid, instance) in program.initial.iter().enumerate() {
        for (index, location) in program.process(instance.process).locations.iter().enumerate() {
            if told.contains(&(instance.process, index)) || !may_wait(program, location, index) {
                continue;
            }
            if HINTS_MAX <= hints.findings.len() || left == 0 || cancel.requested().is_some() {
                hints.cut_short = true;
                return hints;
            }
            let limits = Limits { states_max: Some(STATES_MAX), ..settings.limits };
            let search = fabius_search::Settings { limits, stop_at: StopAt::First, cancel: cancel.clone() };
            match starved(program, pid, index, &mut left, &search) {
                Starved::Yes(infinite) => {
                    hints.findings.extend(hint(program, location, &infinite, pid as u8));
                    told.insert((instance.process, index));
                }
                Starved::No => {}
                Starved::Unknown => hints.cut_short = true,
                Starved::Refused(why) => hints.failure = hints.failure.or(Some(why)),
            }
        }
    }
    hints
}

/// Whether a process may have to wait at a location, and stays there only by waiting.
fn may_wait(program: &Program, location: &Location, index: usize) -> bool {
    let waits = |action: &Action| match action {
        Action::Merged(actions) => actions.first().is_some_and(is_conditional),
        Action::Block(block) => {
            block.nodes.first().is_some_and(|node| node.options.iter().all(|o| is_conditional(&o.action)))
        }
        action => is_conditional(action),
    };
    let mut edges = program.edges_of(location).peekable();
    !location.end
        && edges.peek().is_some()
        && edges.all(|(id, edge)| edge.target.0 as usize != index && waits(&program.statement(edge.process, id).action))
}

fn is_conditional(action: &Action) -> bool {
    matches!(action, Action::Guard(_) | Action::Send(_) | Action::Receive(_))
}

/// Whether a process can starve at a place.
enum Starved {
    Yes(Box<InfiniteRun>),
    No,
    Unknown,
    /// The reference interpreter does not confirm the run that was found.
    Refused(String),
}

/// A loop in which the process `pid` waits at a location and others move, if a strongly fair run can have one; takes the
/// transitions that were listed away from what is left.
fn starved(
    program: &Arc<Program>,
    pid: usize,
    location: usize,
    left: &mut u64,
    settings: &fabius_search::Settings,
) -> Starved {
    let (marked, copied_from) = marked(program, pid, location);
    let watch = Watch { progress: Some(ProgressOn::States), ..Watch::NOTHING };
    let Ok(mut machine) = SearchedMachine::infinite(Arc::new(marked), watch) else { return Starved::Unknown };
    let mut budget = Budget::new(*left, &mut machine);
    let mut engine_observer = UpTo(budget.transitions());
    let question = cycle::CycleQuestion { goal: cycle::Goal::Livelock, fairness: cycle::Fairness::Strong };
    let mut store = TreeStore::default();
    let outcome =
        cycle::components(&mut machine, &mut store, &mut engine_observer, settings, cycle::NoReduction, question);
    budget.spend(listed(&outcome.statistics));
    *left = budget.left();
    let states = outcome.statistics.states;
    let (stem, cycle) = match (outcome.completeness, outcome.into_first()) {
        (_, Some(found)) => {
            let shorter = machine.shorter_lasso(&mut engine_observer, settings, question, &found, states);
            let Found::Lasso { stem, cycle } = shorter.unwrap_or(found) else { return Starved::Unknown };
            (stem, cycle)
        }
        (Completeness::Exhaustive, None) => return Starved::No,
        _ => return Starved::Unknown,
    };
    let original = |edge: EdgeId| match (edge.0 as usize).checked_sub(program.edges.len()) {
        Some(copy) => copied_from.get(copy).copied().unwrap_or(edge),
        None => edge,
    };
    let path: Vec<Move> = stem
        .iter()
        .chain(&cycle)
        .map(|step| Move {
            edge: original(step.edge),
            partner: step.partner.map(|(pid, edge)| (pid, original(edge))),
            ..*step
        })
        .collect();
    let shows = CycleClaim { fairness: RunFairness::Strong, ..CycleClaim::NOTHING };
    match confirm(program, &path, Claim::Cycle { start: stem.len(), shows }) {
        Ok(trace) => trace.infinite.map_or(Starved::No, |infinite| Starved::Yes(Box::new(infinite))),
        Err(why) => Starved::Refused(internal_error(&format!("the starvation found is none: {why}"))),
    }
}

/// The program in which one process is of a type of its own, where everywhere but at one location is progress; and
/// of which edges that type's edges are copies.
fn marked(program: &Program, pid: usize, location: usize) -> (Program, Vec<EdgeId>) {
    let mut marked = program.clone();
    let own = ProcessId(marked.processes.len() as u32);
    for process in marked.processes.iter_mut().filter(|process| process.kind == ProcessKind::Process) {
        process.locations.iter_mut().for_each(|location| location.progress = false);
    }
    let mut copied_from = Vec::new();
    let mut copy = marked.process(program.initial[pid].process).clone();
    for (index, place) in copy.locations.iter_mut().enumerate() {
        let first = marked.edges.len() as u32;
        for edge in place.edges.clone() {
            copied_from.push(EdgeId(edge));
            let edge = fabius_program::Edge { process: own, ..marked.edges[edge as usize].clone() };
            marked.edges.push(edge);
        }
        place.edges = first..marked.edges.len() as u32;
        place.progress = index != location;
    }
    marked.processes.push(copy);
    marked.initial[pid].process = own;
    (marked, copied_from)
}

fn hint(program: &Program, location: &Location, infinite: &InfiniteRun, pid: u8) -> Option<Finding> {
    let waiting = infinite.processes.iter().find(|process| process.pid == pid)?;
    let Role::Blocked { reasons, .. } = &waiting.role else { return None };
    let moving: Vec<&str> =
        infinite.processes.iter().filter(|p| p.role == Role::Moves).map(|process| process.name.as_str()).collect();
    let span = program.edges_of(location).next().map_or(location.span, |(id, _)| program.span_of(id));
    let headline = format!("{} can wait here for ever while others go on", waiting.name);
    let mut finding = Finding::new(Code::Starvation, headline).at(span, reasons.join(", and "));
    finding = finding.note(format!("{} can go on without it, and no fair scheduler prevents that", moving.join(", ")));
    Some(finding.help("give the place a label that begins with `end` if that is as it should be"))
}
