//! Formulas that say what is true in every state: one search proves several of them.
//!
//! A search for what violates `[] p` goes through all reachable states, and so does one for what violates `[] (p && q)`, which
//! holds exactly if both `[] p` and `[] q` do. Only a reduction may leave out less, since it has to heed what either of them
//! looks at; so such a search may do no more work than one search for each formula would. Where a run violates some of
//! them, these are left out, and the others are tried again.

use crate::liveness::{Searched, searched};
use crate::prepared::Prepared;
use crate::task::{Checked, Job};
use fabius_machine::Condition;
use fabius_model::SearchedMachine;
use fabius_observe::CheckContext;
use fabius_program::{BinaryOp, Expr, Formula, Move, Program, Property, PropertyKind};
use fabius_search::Model;
use fabius_search::cycle::Found;
use fabius_strategy::{Choice, CycleSearch, Strategy};
use fabius_task::load::Loaded;
use fabius_task::plan::Planned;
use fabius_task::report::{PropertyReport, Verdict};
use std::sync::Arc;

/// A formula that says what is true in every state.
#[derive(Clone)]
pub(crate) struct Invariant<'a> {
    /// The number of its property.
    pub index: usize,
    pub planned: &'a Planned,
    condition: Expr,
}

impl<'a> Invariant<'a> {
    /// The property with this number, if it is one and its search is the one that proves several.
    pub(crate) fn of(program: &Program, index: usize, planned: &'a Planned, choice: &Choice) -> Option<Self> {
        let suits = matches!(choice.strategy, Strategy::Cycles { search: CycleSearch::NestedDfs, .. });
        let property = program.properties.iter().find(|property| suits && property.name == planned.name)?;
        match &property.kind {
            PropertyKind::Ltl(formula) => Some(Self { index, planned, condition: formula.invariant()? }),
            _ => None,
        }
    }
}

/// What one search for the violations of several invariants came to.
pub(crate) enum Together {
    /// All of them hold; what is known of each.
    Proved(Vec<Checked>),
    /// Some run violates one; the others are still open.
    Others(Vec<usize>),
    /// Nothing new is known.
    Undecided,
    /// Fabius itself is wrong: what happened.
    Failed(String),
}

/// Looks for what violates any of these invariants, by the search that was chosen for the first one.
pub(crate) fn prove(
    loaded: &Loaded,
    program: &Arc<Program>,
    invariants: &[Invariant<'_>],
    (choice, prepared): (&Choice, &Prepared),
    context: &mut CheckContext<'_>,
) -> Together {
    let (Strategy::Cycles { search, threads, .. }, Some((first, rest))) = (&choice.strategy, invariants.split_first())
    else {
        return Together::Undecided;
    };
    let and =
        |all: Expr, one: &Invariant<'_>| Expr::Binary(BinaryOp::And, Box::new(all), Box::new(one.condition.clone()));
    let all = rest.iter().fold(first.condition.clone(), and);
    // No property has a name with a blank.
    let name = format!("{} and more", first.planned.name);
    let mut joined = Program::clone(program);
    let always = Formula::Always(Box::new(Formula::Proposition(all)));
    joined.properties.push(Property::new(&*name, PropertyKind::Ltl(always), None));
    let planned = Planned { name, ..first.planned.clone() };
    let job = Job { loaded, program: &Arc::new(joined), planned: &planned, settings: &choice.settings, prepared };
    let mut found = match searched(job, &first.planned.name, *search, *threads, context) {
        Ok(found) => found,
        Err(checked) => return checked.failure.map_or(Together::Undecided, Together::Failed),
    };
    if let Some(failure) = found.checked.failure.take() {
        return Together::Failed(failure);
    }
    let report = &found.checked.report;
    match report.verdict {
        Verdict::Holds if report.exhaustive => {
            Together::Proved(invariants.iter().map(|one| proved(one, invariants, &found.checked)).collect())
        }
        Verdict::Violated => {
            let kept = satisfied(found, invariants).unwrap_or_default();
            Together::Others(kept.into_iter().map(|at| invariants[at].index).collect())
        }
        _ => Together::Undecided,
    }
}

/// What the proof of all invariants tells of one of them.
fn proved(invariant: &Invariant<'_>, all: &[Invariant<'_>], checked: &Checked) -> Checked {
    let Planned { name, kind, .. } = invariant.planned;
    let others: Vec<&str> = all.iter().map(|one| &*one.planned.name).filter(|other| other != name).collect();
    let report = PropertyReport {
        name: name.clone(),
        kind: *kind,
        together_with: others.iter().map(|&other| other.to_owned()).collect(),
        ..checked.report.clone()
    };
    Checked::of(report, checked.reason.clone().together_with(&others))
}

/// Which of the invariants are true in all states of the run that was found, by their place; `None` if they all are, which is
/// for the search for each of them to find out.
fn satisfied(found: Searched, invariants: &[Invariant<'_>]) -> Option<Vec<usize>> {
    let Searched { mut machine, outcome, .. } = found;
    let run: Vec<Move> = match outcome.into_first()? {
        Found::Lasso { stem, cycle } => stem.into_iter().chain(cycle).collect(),
        Found::Fault { path, .. } => path,
    };
    let conditions = invariants.iter().map(|one| machine.machine_mut().condition(&one.condition).ok());
    let conditions: Vec<Condition> = conditions.collect::<Option<_>>()?;
    let mut kept: Vec<usize> = (0..conditions.len()).collect();
    let mut state = Vec::new();
    machine.initial(&mut state).ok()?;
    let mut keep = |machine: &mut SearchedMachine, state: &[u32]| {
        kept.retain(|&at| machine.machine_mut().holds(state, conditions[at]) == Ok(true));
    };
    keep(&mut machine, &state);
    for step in run {
        // The step of the claim that ends a run leads nowhere.
        let Some(after) = machine.after(&state, step) else { break };
        state = after;
        keep(&mut machine, &state);
    }
    (kept.len() < conditions.len()).then_some(kept)
}
