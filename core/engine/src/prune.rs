//! States from which a search does not go on, because somebody asked for that, before it began or while it runs: what is searched then,
//! and what a verdict rests on.

use crate::task::Checked;
use fabius_base::{Code, Finding};
use fabius_model::{Boundary, SearchedMachine};
use fabius_observe::CheckContext;
use fabius_program::{Program, Watch};
use fabius_task::load::Loaded;
use fabius_task::pattern::state_condition;
use fabius_task::report::{Stopped, Verdict};
use fabius_task::settings::{Settings, VacuityExtent};
use fabius_task::words::counted;
use fabius_verdict::Reason;
use std::sync::Arc;

/// What is wrong with the states that are to be left out, if anything.
pub(crate) fn refusal(loaded: &Loaded, program: &Program, settings: &Settings) -> Option<Finding> {
    let condition = settings.prune.as_ref()?;
    let refused = |why: String| Some(Finding::new(Code::Contradiction, format!("`--prune '{condition}'`: {why}")));
    if loaded.is_optimized() {
        return refused("the model has to be explored as it is written".to_owned());
    }
    state_condition(loaded, program, condition).err().and_then(refused)
}

/// The settings without what would say something about the whole model.
pub(crate) fn without_more(settings: &Settings) -> Settings {
    let settings = settings.clone();
    if settings.prune.is_none() {
        return settings;
    }
    Settings { schedule: false, vacuity: VacuityExtent::Off, optimize: false, reduction: false, ..settings }
}

/// The machine, in which nothing goes on from the states that are to be left out; or in which somebody who watches may still say which
/// these are.
///
/// # Errors
/// What is to be reported instead.
pub(crate) fn bounded(
    loaded: &Loaded,
    machine: SearchedMachine,
    settings: &Settings,
    context: &CheckContext<'_>,
) -> Result<SearchedMachine, Box<Finding>> {
    let refused =
        |text: &str, why: String| Box::new(Finding::new(Code::Contradiction, format!("`--prune '{text}'`: {why}")));
    let Some(text) = &settings.prune else {
        let Some(boundary) = context.controls.map(|controls| controls.boundary().for_search()) else {
            return Ok(machine);
        };
        let text = boundary.text().unwrap_or_default().to_owned();
        return machine.bounded(boundary).map_err(|why| refused(&text, why.to_string()));
    };
    let expr = state_condition(loaded, machine.shared_program(), text).map_err(|why| refused(text, why))?;
    let machine = machine.bounded(Boundary::at(text, expr)).map_err(|why| refused(text, why.to_string()))?;
    goes_on(machine).map_err(|why| refused(text, why))
}

/// The machine, if a search goes on from its initial state.
fn goes_on(mut machine: SearchedMachine) -> Result<SearchedMachine, String> {
    match machine.goes_on_from_initial() {
        Ok(false) => Err("it holds in the initial state, so nothing is left to explore".to_owned()),
        Ok(true) | Err(_) => Ok(machine),
    }
}

/// The states of a model from which searches are not to go on: those in which a condition holds.
///
/// # Errors
/// What is wrong with the condition, in a sentence.
pub fn boundary(loaded: &Loaded, text: &str) -> Result<Boundary, String> {
    let program = loaded.checkable().ok_or("the model has errors")?;
    let boundary = Boundary::at(text, state_condition(loaded, program, text)?);
    let machine = SearchedMachine::new(Arc::clone(program), Watch::NOTHING).map_err(|why| why.to_string())?;
    goes_on(machine.bounded(boundary.clone()).map_err(|why| why.to_string())?).map(|_| boundary)
}

impl Checked {
    /// Makes the report say no more than is known if a search did not go on from some states.
    pub(crate) fn restrict(&mut self, machine: &SearchedMachine, settings: &Settings) {
        let report = &mut self.report;
        let Some(condition) = machine.boundary_met() else {
            if let Some(condition) = settings.prune.as_ref().filter(|_| report.exhaustive) {
                let never = format!("; no step leads to a state in which `{condition}` is true");
                self.reason = std::mem::take(&mut self.reason).also(&never);
            }
            return;
        };
        let was_exhaustive = std::mem::replace(&mut report.exhaustive, false);
        let left_out = format!("the search did not go on from states in which `{condition}` is true");
        match report.verdict {
            Verdict::Holds => {
                report.verdict = Verdict::Undecided;
                report.stopped = Some(Stopped::Pruned);
                let states = counted(report.states, "state");
                self.reason = Reason::new(format!("no violation in {states}; {left_out}"));
            }
            Verdict::Violated if was_exhaustive => {
                report.stopped = Some(Stopped::Pruned);
                self.reason = std::mem::take(&mut self.reason).but(left_out);
            }
            _ => self.reason = std::mem::take(&mut self.reason).but(left_out),
        }
    }
}
