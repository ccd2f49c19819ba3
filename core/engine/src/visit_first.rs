//! States that depth-first searches visit before others, because somebody who watches asked for that.

use crate::reachable::How;
use fabius_model::SearchedMachine;
use fabius_observe::{CheckContext, Task};
use fabius_program::{Program, Watch};
use fabius_strategy::{Asked, Strategy, choose};
use fabius_task::load::Loaded;
use fabius_task::pattern::state_condition;
use fabius_task::plan::{SAFETY, plan};
use fabius_task::settings::{Order, Settings};
use std::sync::Arc;

/// What is wrong with a condition on states that the search for violations of safety is to visit first that these settings ask for.
///
/// # Errors
/// That, in a sentence.
pub fn check_visit_first(loaded: &Loaded, settings: &Settings, condition: &str) -> Result<(), String> {
    let program = loaded.checkable().ok_or("the model has errors")?;
    let condition = state_condition(loaded, program, condition)?;
    let mut machine = SearchedMachine::new(Arc::clone(program), Watch::NOTHING).map_err(|why| why.to_string())?;
    machine.machine_mut().condition(&condition).map_err(|why| why.to_string())?;
    if !can_visit_first(program, settings) {
        return Err("only a depth-first search by this process, in an order that nobody chose, can do so".to_owned());
    }
    Ok(())
}

/// Whether the search for violations of safety is free to visit some states before others.
fn can_visit_first(program: &Program, settings: &Settings) -> bool {
    let Ok(plan) = plan(program, &[SAFETY.to_owned()]) else { return false };
    let choice = plan.properties.first().and_then(|safety| choose(&Asked::of(safety, settings), settings));
    match choice.map(|choice| choice.strategy) {
        Some(Strategy::Exhaustive { order, store, threads }) => {
            order != Order::BreadthFirst && How { order, store, threads }.together().is_some()
        }
        _ => false,
    }
}

/// The machine, of whose states a search visits those first that whoever watches prefers, now or later.
pub(crate) fn preferring(task: &Task<'_>, machine: SearchedMachine, context: &CheckContext<'_>) -> SearchedMachine {
    match context.controls {
        Some(controls) => {
            controls.read_visit_order(task.loaded, task.program);
            machine.preferring(controls.preference().clone())
        }
        None => machine,
    }
}
