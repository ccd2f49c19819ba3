//! Formulas that hold for a poor reason: which of their parts a model never needs ([`fabius_program::ltl::strengthen`]).
//!
//! After a proof, each literal is left out in turn, and the formula that is left, which is stronger, is checked. If it holds as
//! well, so is each part around the literal, up to the largest one that is not needed.

use fabius_base::{Cancel, Limits, StopReason};
use fabius_model::reduction::{Basis, Preserve, Reduced};
use fabius_model::{Budget, SearchedMachine, listed};
use fabius_program::ltl::strengthen::{Occurrence, Strengthening, is_false, is_valid, never_without};
use fabius_program::ltl::text::FormulaText;
use fabius_program::{Formula, Move, Program, PropertyKind, meaning::Fault};
use fabius_search::cycle::{self, CycleOutcome};
use fabius_search::{Completeness, Observer, Statistics, StopAt, TreeStore};
use fabius_task::plan::Planned;
use fabius_task::query::{CycleSearch, LivenessQuery, liveness_query};
use fabius_task::report::vacuity::{VacuityEnd, VacuityKind, VacuityNote, VacuityReport};
use fabius_task::settings::{Fairness, Settings};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

/// This many transitions are listed for all formulas of a model together, unless all is asked for.
pub const TRANSITIONS_MAX: u64 = 300_000;

/// What the look for parts that are not needed may use.
pub struct VacuityLimits<'a> {
    /// Whoever raises this ends it.
    pub cancel: &'a Cancel,
    /// Whether the time is over.
    pub is_late: &'a dyn Fn() -> bool,
    /// Transitions that may still be listed; `None` without a limit.
    pub transitions: &'a mut Option<u64>,
}

/// The time over which a check is.
pub fn late(until: Option<Duration>, now: Duration) -> bool {
    until.is_some_and(|until| until <= now)
}

/// Which parts of a formula are not needed in a model in which it was proved; `None` if the property is no formula, or the model cannot
/// be searched. Reductions rest on `basis`, which is that of the program.
pub fn vacuity(
    (program, basis): (&Arc<Program>, &Basis),
    planned: &Planned,
    settings: &Settings,
    limits: &mut VacuityLimits<'_>,
) -> Option<VacuityReport> {
    let property = program.properties.iter().find(|property| property.name == planned.name)?;
    let PropertyKind::Ltl(formula) = &property.kind else { return None };
    let parts = Strengthening::of(formula)?;
    let words = FormulaText::of(program, property);
    let literals = parts.literals();
    let mut report =
        VacuityReport { literals: literals.len() as u64, decided: 0, end: VacuityEnd::Complete, notes: Vec::new() };
    if is_valid(formula) == Ok(Some(true)) {
        report.decided = report.literals;
        report.notes.push(VacuityNote {
            kind: VacuityKind::EveryModel,
            part: words.text(parts.formula()),
            also_holds: "true".to_owned(),
            never: None,
            message: "it holds in every model".to_owned(),
        });
        return Some(report);
    }
    let mut asked = Asked { program, basis, planned, settings, limits, known: Vec::new() };
    let mut found: Vec<(Occurrence, Formula)> = Vec::new();
    for literal in literals {
        match asked.holds(&parts.without(&literal)) {
            Ok(false) => report.decided += 1,
            Ok(true) => {
                report.decided += 1;
                let largest = asked.largest(&parts, literal);
                if !found.iter().any(|(known, without)| *known == largest.0 || *without == largest.1) {
                    found.push(largest);
                }
            }
            Err(end) => {
                report.end = end;
                break;
            }
        }
    }
    report.notes = found.iter().map(|(part, without)| note(&words, &parts, part, without)).collect();
    report.notes.sort_by_key(|note| note.kind);
    Some(report)
}

/// What is to be said of a part that is not needed.
fn note(words: &FormulaText<'_>, parts: &Strengthening, part: &Occurrence, without: &Formula) -> VacuityNote {
    let (part, also_holds) = (words.text(parts.part(part)), words.text(without));
    match never_without(parts.formula(), without).map(|never| words.text(never)) {
        Some(never) => {
            let message = format!("`{never}` is never true");
            VacuityNote { kind: VacuityKind::NeverTrue, part, also_holds, never: Some(never), message }
        }
        None => {
            let message = format!("holds also without `{part}`");
            VacuityNote { kind: VacuityKind::NotNeeded, part, also_holds, never: None, message }
        }
    }
}

/// The questions that were asked about a model, and the answers.
struct Asked<'a, 'b> {
    program: &'a Arc<Program>,
    basis: &'a Basis,
    planned: &'a Planned,
    settings: &'a Settings,
    limits: &'a mut VacuityLimits<'b>,
    known: Vec<(Formula, bool)>,
}

impl Asked<'_, '_> {
    /// The largest part around a literal that is not needed, as far as is known, and the formula without it.
    fn largest(&mut self, parts: &Strengthening, literal: Occurrence) -> (Occurrence, Formula) {
        let mut largest = (parts.without(&literal), literal);
        while let Some(around) = parts.around(&largest.1) {
            let without = parts.without(&around);
            if self.holds(&without) != Ok(true) {
                break;
            }
            largest = (without, around);
        }
        (largest.1, largest.0)
    }

    /// Whether every run of the model satisfies a formula.
    fn holds(&mut self, formula: &Formula) -> Result<bool, VacuityEnd> {
        // Every model has a run.
        if is_false(formula) {
            return Ok(false);
        }
        if let Some((_, holds)) = self.known.iter().find(|(known, _)| known == formula) {
            return Ok(*holds);
        }
        let holds = self.search(formula)?;
        self.known.push((formula.clone(), holds));
        Ok(holds)
    }

    fn search(&mut self, formula: &Formula) -> Result<bool, VacuityEnd> {
        let mut program = Program::clone(self.program);
        for property in program.properties.iter_mut().filter(|property| property.name == self.planned.name) {
            property.kind = PropertyKind::Ltl(formula.clone());
        }
        let settings = self.settings.question_only();
        let search = CycleSearch::answering(self.planned, &settings);
        let query = liveness_query(&Arc::new(program), self.planned, &settings, search);
        let query = query.map_err(|_| VacuityEnd::Stopped)?;
        let machine = SearchedMachine::infinite(Arc::clone(&query.program), query.watch);
        let mut machine = machine.map_err(|_| VacuityEnd::Stopped)?;
        let mut budget = Budget::new(self.limits.transitions.unwrap_or(u64::MAX), &mut machine);
        let mut observer = Bounds { transitions_max: budget.transitions(), is_late: self.limits.is_late };
        let outcome = explore((&mut machine, self.basis), &query, &settings, self.limits.cancel, &mut observer);
        if self.limits.transitions.is_some() {
            budget.spend(listed(&outcome.statistics));
            *self.limits.transitions = Some(budget.left());
        }
        match (outcome.first().is_some(), outcome.completeness) {
            (true, _) => Ok(false),
            // Nothing is known of what would follow a runtime error.
            (false, Completeness::Exhaustive) if machine.cut_runs().seen() == 0 => Ok(true),
            (false, Completeness::Stopped(StopReason::States))
                if observer.transitions_max <= listed(&outcome.statistics) =>
            {
                Err(VacuityEnd::Budget)
            }
            _ => Err(VacuityEnd::Stopped),
        }
    }
}

fn explore(
    (machine, basis): (&mut SearchedMachine, &Basis),
    query: &LivenessQuery,
    settings: &Settings,
    cancel: &Cancel,
    observer: &mut Bounds<'_>,
) -> CycleOutcome<Move, Fault> {
    let limits = Limits { depth_max: None, ..settings.limits };
    let searching = fabius_search::Settings { limits, stop_at: StopAt::First, cancel: cancel.clone() };
    let fairness = match query.fairness {
        Fairness::None => cycle::Fairness::None,
        Fairness::Weak => cycle::Fairness::Weak,
        Fairness::Strong => cycle::Fairness::Strong,
    };
    if query.search == CycleSearch::Components {
        let question = cycle::CycleQuestion { goal: query.goal, fairness };
        return cycle::components(
            machine,
            &mut TreeStore::default(),
            observer,
            &searching,
            cycle::NoReduction,
            question,
        );
    }
    let may_reduce = settings.reduction && settings.optimize && query.is_stutter_invariant();
    let plan = query.watch.claim.filter(|_| may_reduce).and_then(|claim| {
        let looked_at = query.program.process(claim).conditions();
        basis.prepare(&query.program, Preserve::Formula(looked_at)).ok()
    });
    match plan {
        Some(plan) => {
            let mut reduced = Reduced::of(machine.clone(), plan);
            cycle::nested_dfs(&mut reduced, &mut TreeStore::default(), observer, &searching, cycle::NoReduction)
        }
        None => cycle::nested_dfs(machine, &mut TreeStore::default(), observer, &searching, cycle::NoReduction),
    }
}

/// Ends a search once its work is done, or the time is over.
struct Bounds<'a> {
    transitions_max: u64,
    is_late: &'a dyn Fn() -> bool,
}

impl Observer<Move, Fault> for Bounds<'_> {
    fn progress(&mut self, statistics: &Statistics) -> ControlFlow<StopReason> {
        match () {
            () if (self.is_late)() => ControlFlow::Break(StopReason::Timeout),
            () if self.transitions_max <= listed(statistics) => ControlFlow::Break(StopReason::States),
            () => ControlFlow::Continue(()),
        }
    }
}
