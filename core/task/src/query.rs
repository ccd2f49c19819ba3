//! What is asked about infinite runs, in the form in which a search answers it.

use crate::load::Loaded;
use crate::plan::{Planned, Question};
use crate::report::ViolationClass;
use crate::settings::{Fairness, Progress, Settings};
use fabius_base::{Finding, Span};
use fabius_program::ltl::stutter::{is_plainly_invariant, is_stutter_invariant};
use fabius_program::{Expr, Formula, ProcessId, ProcessKind, Program, ProgressOn, Property, PropertyKind, Watch};
use fabius_search::cycle;
use std::sync::Arc;

/// The name of the claim that waits for a livelock.
const LIVELOCK: &str = "np_";

/// The searches for cycles among all reachable states.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CycleSearch {
    /// DFS-FIFO, for livelocks.
    DfsFifo,
    /// Nested depth-first search.
    NestedDfs,
    /// Strongly connected components.
    Components,
}

impl CycleSearch {
    /// The one that suits a question, if nobody asked for another one.
    pub fn answering(planned: &Planned, settings: &Settings) -> Self {
        match (settings.fairness, planned.question) {
            (Fairness::Weak | Fairness::Strong, _) => Self::Components,
            (Fairness::None, Question::Progress) => Self::DfsFifo,
            (Fairness::None, _) => Self::NestedDfs,
        }
    }
}

/// A question in the form in which a search answers it.
#[derive(Clone)]
pub struct LivenessQuery {
    /// The program, with the claim if there is one.
    pub program: Arc<Program>,
    /// What is watched beside the processes.
    pub watch: Watch,
    /// Which cycles are looked for.
    pub goal: cycle::Goal,
    /// What such a cycle is.
    pub class: ViolationClass,
    /// The formula or claim, for a person.
    pub property: Option<(String, Option<Span>)>,
    /// Whether it shows at once that repeating a state of a run for a while never changes the answer.
    is_plainly_invariant: bool,
    /// The search that answers it.
    pub search: CycleSearch,
    /// Which infinite runs count.
    pub fairness: Fairness,
}

impl LivenessQuery {
    /// Whether it is known that repeating a state of a run for a while never changes the answer.
    pub fn is_stutter_invariant(&self) -> bool {
        let processes = self.program.processes.iter().filter(|process| process.kind == ProcessKind::Process);
        // Acceptance labels of the model count beside those of the claim.
        let accepts = processes.flat_map(|process| &process.locations).any(|location| location.accept);
        let of_claim = |claim| !accepts && is_stutter_invariant(&self.program, claim);
        self.is_plainly_invariant || self.watch.claim.is_some_and(of_claim)
    }

    /// The same question about the program as written, if a claim is part of it.
    pub fn as_written(&self, loaded: &Loaded, planned: &Planned, settings: &Settings) -> Option<(Arc<Program>, Watch)> {
        self.watch.claim?;
        let written = liveness_query(&loaded.as_written()?, planned, settings, self.search).ok()?;
        Some((written.program, written.watch))
    }
}

/// Puts a question into the form in which a search answers it.
pub fn liveness_query(
    program: &Arc<Program>,
    planned: &Planned,
    settings: &Settings,
    search: CycleSearch,
) -> Result<LivenessQuery, Box<Finding>> {
    let progress = match settings.progress {
        Progress::States => ProgressOn::States,
        Progress::Transitions => ProgressOn::Transitions,
    };
    let plain = |watch, goal, class| LivenessQuery {
        program: Arc::clone(program),
        watch,
        goal,
        class,
        property: None,
        is_plainly_invariant: true,
        search,
        fairness: settings.fairness,
    };
    let query = match planned.question {
        // Nested depth-first search looks for acceptance cycles only, so a claim waits for the livelock.
        Question::Progress if search == CycleSearch::NestedDfs => livelock_claim(program, planned)?,
        Question::Progress => {
            let watch = Watch { progress: Some(progress), ..Watch::NOTHING };
            plain(watch, cycle::Goal::Livelock, ViolationClass::NonProgressCycle)
        }
        Question::Claim => claim(program, planned)?,
        Question::Safety | Question::Acceptance => {
            let watch = Watch { acceptance: true, ..Watch::NOTHING };
            plain(watch, cycle::Goal::AcceptanceCycle, ViolationClass::AcceptanceCycle)
        }
    };
    Ok(LivenessQuery { search, fairness: settings.fairness, ..query })
}

/// A formula or a claim.
fn claim(program: &Program, planned: &Planned) -> Result<LivenessQuery, Box<Finding>> {
    let (mut program, claim) = program.with_claim(&planned.name).map_err(|why| Box::new(why.finding()))?;
    let property = program.properties.iter().find(|property| property.name == planned.name);
    let formula = property.and_then(|property| match &property.kind {
        PropertyKind::Ltl(formula) => Some(formula),
        _ => None,
    });
    let is_formula = formula.is_some();
    let is_plainly_invariant = formula.is_some_and(|formula| is_plainly_invariant(&program, formula));
    let span = property.and_then(|property| property.span);
    if is_formula {
        // A claim is judged together with the acceptance labels of the model; a formula speaks for itself.
        let processes = program.processes.iter_mut().filter(|process| process.kind == ProcessKind::Process);
        processes.flat_map(|process| &mut process.locations).for_each(|location| location.accept = false);
    }
    Ok(LivenessQuery {
        program: Arc::new(program),
        watch: Watch { claim: Some(claim), acceptance: true, ..Watch::NOTHING },
        goal: cycle::Goal::AcceptanceCycle,
        class: ViolationClass::AcceptanceCycle,
        property: Some((planned.name.clone(), span)),
        is_plainly_invariant,
        search: CycleSearch::NestedDfs,
        fairness: Fairness::None,
    })
}

/// A livelock as what a claim waits for: from some time on there is no progress.
fn livelock_claim(program: &Program, planned: &Planned) -> Result<LivenessQuery, Box<Finding>> {
    let mut program = program.clone();
    let progress = Formula::Not(Box::new(Formula::Proposition(Expr::NonProgress)));
    let again_and_again = Formula::Always(Box::new(Formula::Eventually(Box::new(progress))));
    program.properties.push(Property::new(LIVELOCK, PropertyKind::Ltl(again_and_again), None));
    program.uses.non_progress = true;
    let planned = Planned { name: LIVELOCK.to_owned(), ..planned.clone() };
    Ok(LivenessQuery { class: ViolationClass::NonProgressCycle, property: None, ..claim(&program, &planned)? })
}

/// The event trace that sends and receives must follow, if the model has one.
pub fn event_trace(program: &Program) -> Option<ProcessId> {
    program.properties.iter().find_map(|property| match property.kind {
        PropertyKind::Trace(trace) => Some(trace),
        _ => None,
    })
}
