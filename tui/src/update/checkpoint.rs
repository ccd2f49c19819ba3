//! Searches that are saved to a file, and resumed from one.

use super::{prompt, search};
use crate::checkpoint::{goes_by_rounds, misfit, not_saved, with_checkpoints};
use crate::message::{Effect, SavedSearch};
use crate::model::{Model, Question, Tone};
use fabius_engine::words::memory;
use fabius_engine::{CheckpointSummary, Outcome, Settings, Verdict, plan, suited};
use fabius_project::checkpoints::NotSaved;
use std::sync::Arc;

/// A check that runs, or was just stopped, left a checkpoint.
pub(super) fn kept(model: &mut Model, bytes: Arc<[u8]>) {
    model.kept = Some(bytes);
    model.watch.has_checkpoint = true;
}

/// Asks for the file, if there is something to save.
pub(super) fn ask_save(model: &mut Model) {
    if model.kept.is_none() {
        let why = nothing_kept(model);
        return model.say(Tone::Plain, why);
    }
    model.replaces = None;
    prompt::ask(model, Question::SaveSearch, &suggested(model));
}

/// Asks for the file to resume from.
pub(super) fn ask_resume(model: &mut Model) {
    match not_saved_here(model, true) {
        Some(why) => model.say(Tone::Plain, format!("no search can be resumed: {why}")),
        None => prompt::ask(model, Question::ResumeSearch, &suggested(model)),
    }
}

fn suggested(model: &Model) -> String {
    let path = model.launch.checkpoint.clone().unwrap_or_else(|| model.launch.path.with_extension("search"));
    path.display().to_string()
}

/// Why no search that is asked for can be saved; `depth_first`: depth-first ones may be.
fn not_saved_here(model: &Model, depth_first: bool) -> Option<&'static str> {
    let loaded = model.loaded.as_ref()?;
    not_saved(loaded, &suited(loaded, &model.launch.settings), depth_first)
}

/// Whether the depth-first search that runs, or ran last, is one that is saved.
fn saves_depth_first(model: &Model) -> bool {
    let resumed = model.kept.as_ref().map(|bytes| CheckpointSummary::of(bytes));
    let is_asked =
        model.launch.checkpoint.is_some() || matches!(resumed, Some(Ok(summary)) if summary.is_depth_first());
    is_asked && !goes_by_rounds(&model.launch.settings)
}

/// The settings of the search that runs or would run next: one that is saved may be another one.
pub(super) fn settings(model: &Model) -> Settings {
    let settings = &model.launch.settings;
    if saves_depth_first(model) { with_checkpoints(settings) } else { settings.clone() }
}

/// Why there is nothing to save.
fn nothing_kept(model: &Model) -> String {
    let watch = &model.watch;
    let depth_first = saves_depth_first(model);
    if let Some(why) = not_saved_here(model, depth_first) {
        return format!("this search cannot be saved: {why}");
    }
    let bounded = model.launch.settings.limits.depth_max != watch.depth_max;
    let why = match () {
        () if watch.indicators.is_empty() => "no property was checked; S checks all",
        () if bounded => "depth was bounded while it ran; S begins a search that can be saved",
        () if watch.running && watch.local.is_none() && depth_first => {
            "a depth-first search is saved every few minutes, and where it is stopped (X)"
        }
        () if watch.running && watch.local.is_none() => "the first round is not complete",
        () if watch.is_cached => "the result is from the cache; S searches",
        () if depth_first => "the search was over before it was to be saved",
        () => "the search ended in its first round",
    };
    format!("nothing to save: {why}")
}

/// Saves the search under this name.
pub(super) fn save(model: &mut Model, name: &str, effects: &mut Vec<Effect>) -> Result<(), String> {
    let path = prompt::file_name(name)?;
    let bytes = model.kept.clone().ok_or_else(|| nothing_kept(model))?;
    let what = match (model.watch.running && model.check == model.work, model.watch.has_checkpoint) {
        (true, true) if goes_by_rounds(&model.launch.settings) => "the last completed round of the search",
        (true, true) => "the last checkpoint of the search",
        (true, false) => "the starting point of the resumed search",
        (false, _) => "the last checkpoint of the search",
    };
    let may_replace = model.replaces.take().is_some_and(|replaced| replaced == path);
    effects.push(Effect::SaveSearch(Box::new(SavedSearch { path, bytes, what, may_replace })));
    Ok(())
}

/// A search was saved, or not. A checkpoint of the same name is replaced only if that is said again.
pub(super) fn saved(model: &mut Model, search: SavedSearch, result: Result<(), NotSaved>) {
    let name = search.path.display();
    match result {
        Ok(()) => {
            let said = sentence(&search);
            model.say(Tone::Good, said);
        }
        Err(NotSaved::Because(why)) => model.say(Tone::Bad, format!("the search was not saved as {name}: {why}")),
        Err(NotSaved::Exists) => {
            prompt::ask(model, Question::SaveSearch, &name.to_string());
            prompt::complain(model, "there is a checkpoint of this name; enter again replaces it");
            model.replaces = Some(search.path);
        }
    }
}

/// What was saved: the search, how far it was, and the file.
fn sentence(search: &SavedSearch) -> String {
    let summary = CheckpointSummary::of(&search.bytes).ok();
    let property = summary.as_ref().map_or(String::new(), |summary| format!(" for {}", summary.property));
    let progress = summary.and_then(|summary| summary.words()).map_or(String::new(), |words| format!(": {words}"));
    let bytes = memory(search.bytes.len() as u64);
    format!("saved {}{property} as {} ({bytes}){progress}", search.what, search.path.display())
}

/// Resumes a search from a checkpoint: only its property is checked.
pub(super) fn resume(model: &mut Model, name: &str, bytes: Arc<[u8]>, effects: &mut Vec<Effect>) {
    if let Err(why) = begin(model, name, bytes, effects) {
        model.say(Tone::Bad, format!("cannot resume from {name}: {why}"));
    }
}

fn begin(model: &mut Model, name: &str, bytes: Arc<[u8]>, effects: &mut Vec<Effect>) -> Result<(), String> {
    let loaded = model.loaded.clone().ok_or("there is no model")?;
    let program = loaded.checkable().ok_or("the model has errors and cannot be checked")?;
    let summary = CheckpointSummary::of(&bytes)?;
    if let Some(why) = not_saved_here(model, true) {
        return Err(why.to_owned());
    }
    if let Some(why) = misfit(&model.launch.settings, &summary) {
        return Err(why.to_owned());
    }
    let plan = plan(program, &model.launch.settings.properties).map_err(|unknown| unknown.selector)?;
    let names: Vec<String> = plan.properties.iter().map(|planned| planned.name.clone()).collect();
    let property = summary.property.clone();
    if !names.contains(&property) {
        let known = names.join(", ");
        return Err(format!("it holds a search for `{property}`, which is not checked here (checked: {known})"));
    }
    search::begin(model);
    model.check = model.work;
    model.watch.begin_resumed(&model.launch.settings, &names, &property);
    model.kept = Some(Arc::clone(&bytes));
    let progress = summary.words().map_or(String::new(), |words| format!(": {words}"));
    model.say(Tone::Plain, format!("resumes the search for {property} from {name}{progress}"));
    let resume = Some((name.to_owned(), bytes));
    effects.push(Effect::Check { work: model.work, properties: vec![property], resume });
    Ok(())
}

/// The checkpoint from which a search for what violates these properties goes on with more allowed, if it can. What was left out since
/// it was too deep is in no checkpoint.
pub(super) fn to_go_on(model: &Model, properties: &[String]) -> Option<Arc<[u8]>> {
    let watch = &model.watch;
    let is_same = watch.depth_max == model.launch.settings.limits.depth_max && !watch.has_met_depth();
    let bytes = model.kept.clone().filter(|_| is_same)?;
    let summary = CheckpointSummary::of(&bytes).ok()?;
    (properties == [summary.property]).then_some(bytes)
}

/// A check is over.
pub(super) fn ended(model: &mut Model, outcome: &Outcome) {
    let properties = &outcome.report.properties;
    model.watch.is_cached = !properties.is_empty() && properties.iter().all(|property| property.cached.is_some());
    if outcome.report.verdict == Verdict::Faulty {
        // There was nothing to resume from, and no search ran.
        model.kept = None;
    }
}
