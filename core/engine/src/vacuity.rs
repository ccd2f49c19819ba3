//! What proved properties are worth, added to a check.

use crate::outcome::Outcome;
use crate::prepared::Bases;
use fabius_analysis::Marks;
use fabius_analysis::vacuity::{TRANSITIONS_MAX, VacuityLimits, late, vacuity};
use fabius_base::{Code, Finding, Span};
use fabius_observe::CheckContext;
use fabius_program::Program;
use fabius_task::load::Loaded;
use fabius_task::plan::Plan;
use fabius_task::report::{PropertyClass, PropertyReport, Verdict};
use fabius_task::settings::{Settings, VacuityExtent};
use std::sync::Arc;

/// Adds to a check which parts of the formulas that it proved the model never needs.
pub(crate) fn add_to(
    outcome: &mut Outcome,
    loaded: &Loaded,
    (program, bases): (&Arc<Program>, &Bases),
    plan: &Plan,
    settings: &Settings,
    context: &CheckContext<'_>,
) {
    let mut transitions = match settings.vacuity {
        VacuityExtent::Off => return,
        VacuityExtent::Quick => Some(TRANSITIONS_MAX),
        VacuityExtent::Full => None,
    };
    let is_late = || late(settings.until, (context.now)());
    let basis = bases.of(program);
    for property in &mut outcome.report.properties {
        let is_proved = property.verdict == Verdict::Holds && property.exhaustive;
        let planned = plan.properties.iter().find(|planned| planned.name == property.name);
        let Some(planned) = planned.filter(|_| is_proved) else { continue };
        if context.cancel.requested().is_some() || is_late() {
            return;
        }
        let mut limits = VacuityLimits { cancel: context.cancel, is_late: &is_late, transitions: &mut transitions };
        property.vacuity = vacuity((program, &basis), planned, settings, &mut limits).map(Box::new);
        outcome.findings.extend(vacuity_finding(property, loaded));
    }
}

/// Says of proved properties that nothing of what they are about is ever reached.
pub(crate) fn add_marks(outcome: &mut Outcome, marks: Option<&Marks>, settings: &Settings) {
    let Some(marks) = marks.filter(|_| settings.vacuity != VacuityExtent::Off) else { return };
    for property in &outcome.report.properties {
        if property.verdict != Verdict::Holds || !property.exhaustive {
            continue;
        }
        // What is never executed may have been told of each statement.
        let is_told = |span: &Span| {
            let unreached = outcome.findings.iter().filter(|finding| finding.code == Code::Unreached);
            unreached.into_iter().any(|finding| finding.span() == Some(*span))
        };
        let what = match property.kind {
            PropertyClass::Safety if !marks.asserts && !marks.assertions.iter().all(is_told) => {
                "no run executes an assertion"
            }
            PropertyClass::Progress if !marks.progress => "no process gets to a progress label",
            PropertyClass::Acceptance if !marks.acceptance => "no process gets to an acceptance label",
            _ => continue,
        };
        let headline = format!("`{}` holds, but {what}", property.name);
        outcome.findings.push(Finding::new(Code::Vacuous, headline));
    }
}

/// What is to be said of a proved property that asks for more than the model needs, or for nothing.
pub fn vacuity_finding(property: &PropertyReport, loaded: &Loaded) -> Option<Finding> {
    let program = loaded.program.as_ref()?;
    let span = program.properties.iter().find(|known| known.name == property.name)?.span;
    property.vacuity.as_ref()?.finding(&property.name, span)
}
