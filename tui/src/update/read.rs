//! The model is read, for the first time or again.

use super::{checkpoint, drive, search};
use crate::message::Effect;
use crate::model::{Before, Known, Model, Overlay, Panel, Source, Tone};
use crate::session::Session;
use fabius_engine::Loaded;
use fabius_explore::Exploration;
use std::sync::Arc;

/// The model was read. Nothing that was found out of an earlier text is shown as true of this one.
pub(super) fn read(model: &mut Model, loaded: Arc<Loaded>, effects: &mut Vec<Effect>) {
    let text = loaded.map.files().next().map(|(_, file)| file.text.to_string()).unwrap_or_default();
    model.source = Source { name: loaded.name.clone(), lines: text.lines().map(str::to_owned).collect() };
    let first = model.loaded.is_none();
    remember(model);
    let checked = !model.watch.indicators.is_empty();
    model.loaded = Some(Arc::clone(&loaded));
    forget(model, effects);
    let old = model.session.take().or_else(|| model.aside.take());
    if loaded.checkable().is_none() {
        model.launch.check |= checked;
        model.aside = old;
        return complain(model, &loaded);
    }
    match old {
        Some(old) => drive::replay(model, &loaded, old),
        None => match Exploration::of_model(Arc::clone(&loaded), None) {
            Ok(walk) => {
                model.session = Some(Session::new(walk));
                model.say(Tone::Plain, "n or enter takes a step, s looks for an error from here, ? shows all keys");
                drive::arrived(model);
            }
            Err(why) => model.say(Tone::Bad, why),
        },
    }
    if first {
        effects.extend(model.launch.trail.clone().map(Effect::Read));
    }
    if let Some((name, bytes)) = model.launch.resume.take() {
        checkpoint::resume(model, &name, bytes, effects);
    } else if model.launch.check || checked {
        search::check_all(model, effects);
    }
}

/// What was found out of a text that was checked is what the next one is compared with.
fn remember(model: &mut Model) {
    let checked = !model.watch.running && !model.watch.indicators.is_empty() || !model.known.examples.is_empty();
    if let Some(loaded) = model.loaded.as_ref().filter(|loaded| checked && loaded.checkable().is_some()) {
        model.before = Some(Before { loaded: Arc::clone(loaded), examples: model.known.examples.clone() });
    }
}

/// What was searched in an earlier text is stopped, and what it would still tell is not listened to.
fn forget(model: &mut Model, effects: &mut Vec<Effect>) {
    if model.watch.running || model.seeking.is_some() {
        effects.push(Effect::Cancel);
    }
    model.work += 1;
    model.check = 0;
    model.watch.forget();
    model.known = Known::default();
    model.kept = None;
    (model.frozen, model.seeking, model.next_other) = (None, None, 0);
    model.with_causes.clear();
    model.chosen = None;
    model.linked = None;
    if matches!(model.overlay, Some(Overlay::Popup(_) | Overlay::Comparison(_) | Overlay::Graph(_))) {
        model.overlay = None;
    }
}

/// Says what is wrong with the text, and shows where.
fn complain(model: &mut Model, loaded: &Loaded) {
    let errors = loaded.findings.iter().filter(|finding| finding.is_error()).count();
    let first_error = loaded.findings.iter().find(|finding| finding.is_error());
    let line = first_error.and_then(|finding| finding.span()).map(|span| loaded.map.position(span).line);
    let what = first_error.map_or_else(|| "it cannot be read".to_owned(), |finding| finding.headline.clone());
    if let Some(line) = line {
        let count = model.source.lines.len();
        model.cursor(Panel::Source).go(line as usize - 1, count, 1);
    }
    let place = line.map_or(String::new(), |line| format!("line {line}: "));
    let more = if errors > 1 { format!(" (and {} more)", errors - 1) } else { String::new() };
    let aside = if model.aside.is_some() { "; the run comes back when the text can be read" } else { "" };
    model.say(Tone::Bad, format!("{place}{what}{more}{aside}"));
}
