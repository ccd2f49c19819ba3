//! Waits written into the text of a model, and checked there.

use super::places::Places;
use fabius_base::{Cancel, Finding, Limits};
use fabius_model::SearchedMachine;
use fabius_program::{Program, Watch};
use fabius_search::restrict::Solution;
use fabius_search::{Completeness, Quiet, Settings, StopAt, TreeStore, breadth_first};
use fabius_task::Loaded;
use fabius_task::query::event_trace;
use fabius_task::waits::{TextEdit, Wait};
use std::sync::Arc;

const INTERRUPTED: &str = "the check of the edited model was interrupted";

/// A model that waits by itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Export {
    /// The edits of the main text, in the order of the text.
    pub edits: Vec<TextEdit>,
    /// The main text with these edits.
    pub text: String,
    /// The waits, in sentences.
    pub waits: Vec<String>,
    /// States of the model as it is edited, all of them without an error: as many as under the waits.
    pub states: u64,
}

/// Writes waits into the text, and searches the edited model.
///
/// # Errors
/// Why they cannot be written into this text, as half a sentence.
pub(super) fn export(
    loaded: &Loaded,
    program: &Program,
    places: &Places,
    solution: &Solution,
    cancel: &Cancel,
) -> Result<Export, String> {
    let waits: Option<Vec<Wait>> = solution.waits.iter().map(|wait| places.written(program, wait)).collect();
    let told = solution.waits.iter().filter_map(|wait| places.wait(program, wait)).map(|wait| wait.text).collect();
    let (edits, text) = loaded.with_waits(program, &waits.ok_or("a place has no number")?)?;
    let states = states_of(loaded, text.clone(), solution.kept as u64, cancel)?;
    Ok(Export { edits, text, waits: told, states })
}

/// The number of states of the edited model, if it has no error and is the model under the waits.
fn states_of(loaded: &Loaded, text: String, kept: u64, cancel: &Cancel) -> Result<u64, String> {
    let edited = loaded.with_text(text, cancel).map_err(|_| INTERRUPTED.to_owned())?;
    if let Some(error) = edited.findings.iter().find(|finding| Finding::is_error(finding)) {
        return Err(format!("the edited text would be faulty: {}", error.headline));
    }
    let program = edited.checkable().ok_or("the edited text would be faulty")?;
    let watch = Watch { trace: event_trace(program), ..Watch::NOTHING };
    let mut machine = SearchedMachine::new(Arc::clone(program), watch).map_err(|refusal| refusal.to_string())?;
    let limits = Limits { states_max: Some(kept + 1), ..Limits::default() };
    let settings = Settings { limits, stop_at: StopAt::First, cancel: cancel.clone() };
    let outcome = breadth_first(&mut machine, &mut TreeStore::new(), &mut Quiet, &settings);
    match (outcome.first(), outcome.completeness, outcome.statistics.states) {
        (Some(_), ..) => Err("the edited model would have an error".to_owned()),
        (None, Completeness::Exhaustive, states) if states == kept => Ok(states),
        (None, Completeness::Exhaustive, states) => {
            Err(format!("the edited model would have {states} states instead of {kept}"))
        }
        _ if cancel.requested().is_some() => Err(INTERRUPTED.to_owned()),
        _ => Err(format!("the edited model would have more than {kept} states")),
    }
}
