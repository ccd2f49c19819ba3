//! A bound on the depth of searches that run, and the order in which they visit states.

use super::{checkpoint, prompt, search};
use crate::message::Effect;
use crate::model::{Model, Question, Tone};
use fabius_engine::words::counted;
use fabius_engine::{Settings, check_visit_first, strategy};

/// Asks for the bound.
pub(super) fn ask_depth(model: &mut Model) {
    let bound = model.launch.settings.limits.depth_max.map_or(String::new(), |max| max.to_string());
    prompt::ask(model, Question::DepthBound, &bound);
}

/// Says after how many steps searches cut off runs; an empty text: never. A search that runs keeps to it at once. What was left out under a
/// smaller bound cannot be made up for: then all checks begin anew.
pub(super) fn bound_depth(model: &mut Model, text: &str, effects: &mut Vec<Effect>) -> Result<(), String> {
    let max = match text {
        "" => None,
        text => Some(text.parse().ok().filter(|max| 0 < *max).ok_or("a number of steps is wanted, from 1 on")?),
    };
    let before = model.launch.settings.limits.depth_max;
    if max == before {
        return Ok(());
    }
    let mut settings = model.launch.settings.clone();
    settings.limits.depth_max = max;
    heeded(model, &settings)?;
    model.launch.settings = settings;
    effects.push(Effect::BoundDepth(max));
    let said = match max {
        Some(max) => format!("searches for violations cut off runs after {}", counted(max, "step")),
        None => "the depth of searches is not bounded any more".to_owned(),
    };
    let is_larger = before.is_some_and(|before| max.is_none_or(|max| before < max));
    let is_apart = model.watch.running && 1 < model.launch.settings.processes.count;
    if is_apart || is_larger && model.watch.has_met_depth() {
        begin_anew(model, &said, effects);
    } else if model.watch.running {
        model.say(Tone::Plain, format!("from now on, {said}"));
    } else {
        model.say(Tone::Plain, said);
    }
    Ok(())
}

/// Says which states searches visit first, the one that runs, too; an empty text: none.
pub(super) fn visit_first(model: &mut Model, condition: &str, effects: &mut Vec<Effect>) -> Result<(), String> {
    let condition = Some(condition.to_owned()).filter(|condition| !condition.is_empty());
    if condition == model.visit_first {
        return Ok(());
    }
    if let Some(condition) = &condition {
        check_visit_first(model.loaded.as_ref().ok_or("there is no model")?, &checkpoint::settings(model), condition)?;
    }
    let said = match &condition {
        Some(condition) => {
            format!("searches for violations of safety prefer states in which `{condition}` is true")
        }
        None => "searches visit states in any order again".to_owned(),
    };
    model.visit_first.clone_from(&condition);
    effects.push(Effect::VisitFirst(condition));
    model.say(Tone::Plain, if model.watch.running { format!("from now on, {said}") } else { said });
    Ok(())
}

/// Takes back which states are visited first if that says nothing about the model any more, since its text was edited; says why.
pub(super) fn take_back_order(model: &mut Model, effects: &mut Vec<Effect>) -> Option<String> {
    let condition = model.visit_first.as_ref()?;
    let why = check_visit_first(model.loaded.as_ref()?, &checkpoint::settings(model), condition).err()?;
    let said = format!("searches no longer prefer states in which `{condition}` is true: {why}");
    model.visit_first = None;
    effects.push(Effect::VisitFirst(None));
    Some(said)
}

/// Refuses a bound that the searches asked for would not heed.
fn heeded(model: &Model, settings: &Settings) -> Result<(), String> {
    match model.loaded.as_ref().and_then(|loaded| strategy::contradiction(loaded, settings)) {
        Some(finding) => Err(finding.headline),
        None => Ok(()),
    }
}

/// The search that runs had left out states beyond a bound that is not in force any more.
pub(super) fn left_out(model: &mut Model, depth: u64, effects: &mut Vec<Effect>) {
    let said = format!("runs of {} and more had been cut off", counted(depth, "step"));
    if model.watch.local.is_some() {
        return model.say(Tone::Plain, format!("{said}: s begins the search from here anew"));
    }
    begin_anew(model, &said, effects);
}

fn begin_anew(model: &mut Model, said: &str, effects: &mut Vec<Effect>) {
    search::check_all(model, effects);
    model.say(Tone::Plain, format!("{said}: all checks begin anew"));
}
