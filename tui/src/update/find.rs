//! Finding a text in the panel that is marked, or in the help.

use super::{drive, entries, prompt, query, visible};
use crate::keys::Act;
use crate::layout::Layout;
use crate::model::{Model, Overlay, Panel, Question, Tone, TraceTab};
use crate::session::Session;
use crate::view::help_lines;
use fabius_explore::{NodeId, sentence};

/// This many entries of a panel are looked at for the next place: each step of a run has to be worked out.
const ENTRIES_MAX: usize = 20_000;

pub(super) fn perform(model: &mut Model, act: Act) {
    match act {
        Act::FindNext => next(model, Direction::Forward),
        Act::FindPrevious => next(model, Direction::Back),
        Act::FindEnd => {
            model.find = None;
            model.say(Tone::Plain, "n and N are again what the help says");
        }
        _ => {
            let before = model.find.clone().unwrap_or_default();
            prompt::ask(model, Question::Find, &before);
        }
    }
}

/// Which way to look, and whether the entry that is marked counts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    FromHere,
    Forward,
    Back,
}

/// Looks for a text from the marked entry on, or for what it asks about the run; an empty one ends it.
///
/// # Errors
/// What is wrong with a question about the run, in a sentence.
pub(super) fn begin(model: &mut Model, text: &str) -> Result<(), String> {
    query::hits(model, text).transpose()?;
    model.find = Some(text.to_owned()).filter(|text| !text.is_empty());
    next(model, Direction::FromHere);
    Ok(())
}

/// Marks the next entry that has the text.
fn next(model: &mut Model, direction: Direction) {
    let Some(wanted) = model.find.clone() else { return };
    let (panel, count) = (model.panel, entries(model, model.panel));
    let is_tree = panel == Panel::Trace && model.tab == TraceTab::Tree;
    let at = if is_tree { model.tree_cursor.at } else { model.cursors[panel.index()].at };
    let place = |offset: usize| match direction {
        Direction::FromHere => (at + offset) % count,
        Direction::Forward => (at + offset + 1) % count,
        Direction::Back => (at + 2 * count - offset - 1) % count,
    };
    let lower = wanted.to_lowercase();
    let hits = query::hits(model, &wanted).and_then(Result::ok);
    let has = |index: &usize| match &hits {
        Some(hits) => hits.rows.get(*index) == Some(&true),
        None => text_of(model, *index).to_lowercase().contains(&lower),
    };
    let found = (0..count.min(ENTRIES_MAX)).map(place).find(has);
    let Some(index) = found else {
        if let Some(hits) = hits {
            return model.say(Tone::Plain, hits.sentence);
        }
        let where_to = panel.title();
        let part = if ENTRIES_MAX < count { format!(" in the next {ENTRIES_MAX} entries") } else { String::new() };
        return model.say(Tone::Plain, format!("`{wanted}` was not found{part}: {where_to}"));
    };
    let rows = visible(&Layout::of(model), panel);
    if is_tree {
        model.tree_cursor.go(index, count, rows);
    } else {
        model.cursor(panel).go(index, count, rows);
    }
    let wrapped = match direction {
        Direction::FromHere | Direction::Forward if index < at => ", from the top again",
        Direction::Back if at < index => ", from the end again",
        _ => "",
    };
    if panel == Panel::Trace {
        drive::tell_marked(model);
        match hits {
            Some(hits) => model.say(Tone::Plain, format!("{}{wrapped}", hits.sentence)),
            None => model.status_line.text.push_str(wrapped),
        }
    } else {
        model.say(Tone::Plain, format!("`{wanted}`: entry {} of {count}{wrapped}", index + 1));
    }
}

/// The text of an entry of the panel that is marked.
fn text_of(model: &Model, index: usize) -> String {
    let source = || model.source.lines.get(index).cloned().unwrap_or_default();
    let Some(session) = &model.session else { return source() };
    match model.panel {
        Panel::Source => source(),
        Panel::Trace if model.tab == TraceTab::Tree => {
            session.tree.get(index).map_or_else(String::new, |row| step_text(session, row.node))
        }
        Panel::Trace => session.node_of(index).map_or_else(String::new, |node| step_text(session, node)),
        Panel::Processes => {
            let process = session.process(index);
            let texts = process.map(|process| {
                let waiting = process.status.waiting.iter().map(|waiting| waiting.text.as_str());
                std::iter::once(process.status.name.as_str()).chain(waiting).collect::<Vec<_>>().join(" ")
            });
            texts.unwrap_or_default()
        }
        Panel::Choices => session.choices.get(index).map_or_else(String::new, |choice| {
            format!("{} {} {}", choice.effect.actor.name, choice.effect.actor.text, sentence(&choice.effect))
        }),
        Panel::Variables => {
            let watched = session.watched.iter().map(|watched| format!("{} {}", watched.text, watched.value));
            let values = session.shown_values(model.changed_only).map(|value| {
                let owner = value.pid.map_or_else(String::new, |pid| format!("{}:", session.walk.process_name(pid)));
                format!("{owner}{} {}", value.name, value.value)
            });
            watched.chain(values).nth(index).unwrap_or_default()
        }
    }
}

/// What can be found of a step: its sentence, its statement, and the name of the state after it.
fn step_text(session: &Session, node: NodeId) -> String {
    let name = session.walk.name(node).unwrap_or_default();
    match session.walk.step_to(node) {
        Some(step) => format!("{} {} {name}", sentence(&step), step.actor.text),
        None => format!("initial state {name}"),
    }
}

/// Scrolls the help to the next line after `from`, or the one before it, that has the text.
pub(super) fn in_help(model: &mut Model, from: usize, back: bool) {
    let Some(wanted) = model.find_in_help.as_ref().map(|text| text.to_lowercase()) else { return };
    let lines = help_lines(model.theme, model.size.0);
    let count = lines.len().max(1);
    let place = |offset: usize| match back {
        false => (from + offset) % count,
        true => (from + 2 * count - offset) % count,
    };
    let has = |index: &usize| lines.get(*index).is_some_and(|line| line.to_string().to_lowercase().contains(&wanted));
    let found = (0..count).map(place).find(has);
    model.overlay = Some(Overlay::Help(found.unwrap_or(from)));
}
