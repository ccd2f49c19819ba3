//! Where the formula of a property holds along a run that violates it.

use fabius_program::ltl::text::FormulaText;
use fabius_program::ltl::truth::{Ribbon, literals, ribbon};
use fabius_program::{Program, PropertyKind, Watch};
use fabius_task::condition::relocate;
use fabius_task::load::Loaded;
use fabius_witness::{Trace, values_along};

/// The formula of a property and its parts along a run that violates it, if it has one and the run is not very long. A
/// formula sees each state before a step; of a run with a loop, the state behind the loop is that before it.
pub(crate) fn ribbon_of(
    loaded: &Loaded,
    (told, watch): (&Program, Watch),
    trace: &Trace,
    name: &str,
) -> Option<Ribbon> {
    let program = loaded.program.as_ref()?;
    let property = program.properties.iter().find(|property| property.name == name)?;
    let PropertyKind::Ltl(formula) = &property.kind else { return None };
    let exprs = literals(formula).into_iter().map(|mut expr| relocate(program, told, &mut expr).map(|()| expr));
    let exprs: Vec<_> = exprs.collect::<Result<_, _>>().ok()?;
    let mut values = values_along(told, watch, trace, &exprs);
    let (positions, back_to) = match trace.cycle_start {
        Some(start) if start <= trace.len() => (trace.len(), Some(start.checked_sub(1)?)),
        // Nothing moves any more.
        Some(_) => (trace.len() + 1, Some(trace.len())),
        None => (trace.len() + 1, None),
    };
    if values.is_empty() || values.iter().any(|along| along.len() < positions) {
        return None;
    }
    values.iter_mut().for_each(|along| along.truncate(positions));
    let ribbon = ribbon(&FormulaText::of(program, property), formula, &values, back_to)?;
    // What a formula sees of a step (`_last`, `timeout`) is not always what its state shows; then nothing is told.
    (ribbon.rows.first()?.values.first() == Some(&Some(false))).then_some(ribbon)
}
