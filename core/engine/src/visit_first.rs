//! States that depth-first searches visit before others, because somebody who watches asked for that.

use fabius_model::SearchedMachine;
use fabius_observe::{CheckContext, Task};
use fabius_program::Watch;
use fabius_task::load::Loaded;
use fabius_task::pattern::state_condition;
use fabius_task::settings::{Order, Settings, Storage};
use std::sync::Arc;

/// What is wrong with a condition on states that searches are to visit first.
///
/// # Errors
/// That, in a sentence.
pub fn check_visit_first(loaded: &Loaded, condition: &str) -> Result<(), String> {
    let program = loaded.checkable().ok_or("the model has errors")?;
    let condition = state_condition(loaded, program, condition)?;
    let mut machine = SearchedMachine::new(Arc::clone(program), Watch::NOTHING).map_err(|why| why.to_string())?;
    machine.machine_mut().condition(&condition).map(drop).map_err(|why| why.to_string())
}

/// Whether the search for violations of safety that these settings ask for can visit some states before others: it is depth-first, in an
/// order that nobody chose, in one process.
pub fn can_visit_first(settings: &Settings) -> bool {
    let is_free = settings.threads.together().is_some() || settings.search == Order::DepthFirstThenShorten;
    let is_depth_first = settings.search != Order::BreadthFirst && is_free;
    let has_tree = settings.store.is_none_or(|store| store == Storage::Tree);
    let has_other_order = settings.delaying.is_some() || settings.depth_bounding.is_some();
    is_depth_first && has_tree && !has_other_order && settings.processes.count <= 1
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
