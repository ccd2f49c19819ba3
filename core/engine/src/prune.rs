//! States that are left out, because somebody asked for that: what is searched then, and what a verdict rests on.

use crate::task::Checked;
use fabius_base::{Code, Finding};
use fabius_model::SearchedMachine;
use fabius_program::Program;
use fabius_task::load::Loaded;
use fabius_task::pattern::state_condition;
use fabius_task::report::{Stopped, Verdict};
use fabius_task::settings::{Settings, VacuityExtent};
use fabius_task::words::counted;
use fabius_verdict::Reason;

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

/// The machine without the states that are to be left out.
///
/// # Errors
/// What is to be reported instead.
pub(crate) fn pruned(
    loaded: &Loaded,
    machine: SearchedMachine,
    settings: &Settings,
) -> Result<SearchedMachine, Box<Finding>> {
    let Some(condition) = &settings.prune else { return Ok(machine) };
    let refused = |why: String| Box::new(Finding::new(Code::Contradiction, format!("`--prune '{condition}'`: {why}")));
    let expr = state_condition(loaded, machine.shared_program(), condition).map_err(refused)?;
    let mut machine = machine.pruning(&expr).map_err(|why| refused(why.to_string()))?;
    match machine.keeps_initial() {
        Ok(false) => Err(refused("it holds in the initial state, so nothing is left to explore".to_owned())),
        Ok(true) | Err(_) => Ok(machine),
    }
}

impl Checked {
    /// Makes the report say no more than is known if states were left out.
    pub(crate) fn restrict(&mut self, machine: &SearchedMachine, settings: &Settings) {
        let Some(condition) = &settings.prune else { return };
        let report = &mut self.report;
        if !machine.has_pruned() {
            let never = format!("; no step leads to a state in which `{condition}` is true");
            if report.exhaustive {
                self.reason = std::mem::take(&mut self.reason).also(&never);
            }
            return;
        }
        let was_exhaustive = std::mem::replace(&mut report.exhaustive, false);
        match report.verdict {
            Verdict::Holds => {
                report.verdict = Verdict::Undecided;
                report.stopped = Some(Stopped::Pruned);
                let states = counted(report.states, "state");
                self.reason = Reason::new(format!(
                    "no violation in the {states} that are reached without a state in which `{condition}` is true; the others were not explored"
                ));
            }
            Verdict::Violated if was_exhaustive => {
                report.stopped = Some(Stopped::Pruned);
                self.reason = std::mem::take(&mut self.reason).but(left_out(condition));
            }
            _ => self.reason = std::mem::take(&mut self.reason).but(left_out(condition)),
        }
    }
}

fn left_out(condition: &str) -> String {
    format!("states in which `{condition}` is true were left out")
}
