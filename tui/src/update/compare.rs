//! Two runs beside one another: two branches of the tree, or the run before the model was written and the present one.

use super::drive;
use crate::comparison::Comparison;
use crate::keys;
use crate::model::{Before, Model, Overlay, Panel, Tone, TraceTab};
use fabius_engine::comparison::{ComparedStep, StepRecord, Version, compare_versions, process_name, version_names};
use fabius_explore::NodeId;
use ratatui::crossterm::event::KeyEvent;

/// Rows around the comparison that show no step: the frame, what is said above, and what the signs mean.
const ROWS_AROUND: usize = 7;

/// Chooses the branch that is marked in the tree; the second one is shown beside the first one.
pub(super) fn branches(model: &mut Model) {
    let Some(session) = &model.session else { return };
    let in_tree = model.tab == TraceTab::Tree && model.panel == Panel::Trace;
    let marked = session.tree.get(model.tree_cursor.at).map(|row| row.node).filter(|_| in_tree);
    let Some(node) = marked.or(model.chosen.map(|_| session.walk.here())) else {
        return model.say(Tone::Plain, "mark a state in the tree of what was tried (l) first; = chooses the run to it");
    };
    let Some(first) = model.chosen.take().filter(|first| session.walk.has(*first)) else {
        let name = branch_name(model, node);
        model.chosen = Some(node);
        return model
            .say(Tone::Plain, format!("the run {name} is chosen; = at another state shows both beside one another"));
    };
    if first == node {
        return model.say(Tone::Plain, "this run is no longer chosen");
    }
    match session.walk.compare(first, node) {
        Ok(runs) => {
            let names = [first, node].map(|node| branch_name(model, node));
            let comparison = Comparison::new("Two branches".to_owned(), Vec::new(), names, runs, Some([first, node]));
            show(model, comparison);
        }
        Err(why) => model.say(Tone::Bad, why),
    }
}

fn branch_name(model: &Model, node: NodeId) -> String {
    let Some(session) = &model.session else { return String::new() };
    let bookmark = session.walk.name(node).map(|name| format!(" ({name})")).unwrap_or_default();
    match session.walk.number(node) {
        0 => format!("to the initial state{bookmark}"),
        number => {
            let step = session.walk.step_to(node).map(|step| format!(": {} {}", step.actor.name, step.actor.text));
            format!("to step {number}{}{bookmark}", step.unwrap_or_default())
        }
    }
}

/// The run that violated the property before the model was written last, beside the present one.
pub(super) fn before(model: &mut Model) {
    let Some(Before { loaded: old, examples }) = &model.before else {
        return model.say(Tone::Plain, "the model was not written since it was checked here: there is no run before");
    };
    let Some(loaded) = model.loaded.as_ref().filter(|loaded| loaded.checkable().is_some()) else {
        return model.say(Tone::Bad, "the present text cannot be read: there is nothing to compare with");
    };
    let known = &model.known.examples;
    let shown = known.get(model.known.shown).or_else(|| known.first()).map(|(property, _)| property);
    let Some(property) = shown.or(examples.first().map(|(property, _)| property)) else {
        return model.say(
            Tone::Plain,
            "no run is known that violates a property, neither before the model was written nor after it",
        );
    };
    let example = |examples| {
        let mut examples: std::slice::Iter<'_, (String, _)> = examples;
        examples.find(|(of, _)| of == property).map(|(_, example)| example)
    };
    let version = |loaded, examples| Version { loaded, property, example: example(examples) };
    let found = compare_versions(&version(old, examples.iter()), &version(loaded, known.iter()));
    let Some(found) = found else {
        return model.say(Tone::Plain, format!("no run is known that violates `{property}`"));
    };
    let names = version_names(&found).map(str::to_owned);
    let title = format!("{property}: before and after the model was written");
    match found.runs {
        Some(runs) => show(model, Comparison::new(title, found.followed.sentences, names, runs, None)),
        None => model.say(Tone::Plain, found.not_compared.unwrap_or_default()),
    }
}

fn show(model: &mut Model, mut comparison: Comparison) {
    let rows = rows_of(model);
    comparison.cursor.keep(comparison.rows.len(), rows);
    tell(model, &comparison);
    model.overlay = Some(Overlay::Comparison(Box::new(comparison)));
}

fn rows_of(model: &Model) -> usize {
    usize::from(model.size.1).saturating_sub(ROWS_AROUND + 2).max(1)
}

/// Keys while two runs are shown beside one another.
pub(super) fn press(model: &mut Model, key: KeyEvent) {
    let rows = rows_of(model);
    let Some(Overlay::Comparison(comparison)) = &mut model.overlay else { return };
    let (at, count) = (comparison.cursor.at, comparison.rows.len());
    let name = keys::name(&key);
    let to = match (comparison.cursor.moved(name.as_deref(), count, rows), name.as_deref()) {
        (Some(to), _) => to,
        (None, Some("n")) => comparison.next_difference(false).unwrap_or(at),
        (None, Some("N" | "p")) => comparison.next_difference(true).unwrap_or(at),
        (None, Some("enter")) => return enter(model),
        _ => {
            model.overlay = None;
            return;
        }
    };
    comparison.cursor.go(to, count, rows);
    let comparison = comparison.clone();
    tell(model, &comparison);
}

/// Goes to the state after the step that is marked, where both are runs of the tree.
fn enter(model: &mut Model) {
    let Some(Overlay::Comparison(comparison)) = model.overlay.take() else { return };
    let at = comparison.cursor.at;
    let Some(session) = &model.session else { return };
    // The step of the second run; if only the first one has one, that.
    let side = usize::from(comparison.step(at, 1).is_some());
    let wanted = comparison.step(at, side).map(|step| step.step).zip(comparison.ends.map(|ends| ends[side]));
    let mut node = wanted.map(|(_, end)| end);
    while let (Some(here), Some((number, _))) = (node, wanted) {
        if session.walk.number(here) <= number {
            break;
        }
        node = session.walk.parent(here);
    }
    if let Some(node) = node {
        drive::go(model, node);
    }
}

/// Says all of the row that is marked: there may not be enough room for it.
fn tell(model: &mut Model, comparison: &Comparison) {
    let at = comparison.cursor.at;
    let words = |step: &StepRecord| {
        let effect = ComparedStep::effect(step);
        let effect = if effect.is_empty() { String::new() } else { format!(" ({effect})") };
        let name = process_name(&step.process, usize::from(step.pid));
        format!("{name}, line {}: {}{effect}", step.line, step.text)
    };
    let said = match [comparison.step(at, 0), comparison.step(at, 1)] {
        [Some(step), Some(_)] if comparison.is_same(at) => format!("the same: {}", words(step)),
        [Some(first), Some(second)] => format!("{}  ≠  {}", words(first), words(second)),
        [Some(step), None] => format!("only the first run: {}", words(step)),
        [None, Some(step)] => format!("only the second run: {}", words(step)),
        [None, None] => "neither run has a step".to_owned(),
    };
    model.say(Tone::Plain, said);
}
