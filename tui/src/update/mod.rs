//! What happens when something happens: the only place where the model changes.

mod checkpoint;
mod compare;
mod delays;
mod drive;
mod find;
mod graph;
mod mouse;
mod popup;
mod prompt;
mod query;
mod read;
mod schedule;
mod search;
mod steering;

use crate::keys::{self, Act};
use crate::layout::Layout;
use crate::message::{Effect, Message};
use crate::model::{Model, Overlay, Panel, Screen, Tone, TraceTab};
use ratatui::crossterm::event::{KeyEvent, KeyEventKind};

/// Changes the model, and says what is to be done outside.
pub fn update(model: &mut Model, message: Message) -> Vec<Effect> {
    let mut effects = Vec::new();
    if model.background_run.is_some() && waits_for_background_run(&message) {
        model.later.push(message);
        return effects;
    }
    match message {
        Message::Key(key) if key.kind != KeyEventKind::Release => press(model, key, &mut effects),
        Message::Key(_) => {}
        Message::Mouse(event) => mouse::mouse(model, event, &mut effects),
        Message::Pasted(text) => prompt::paste(model, &text),
        Message::Resized(width, height) => model.size = (width, height),
        Message::Loaded(loaded, originals) => {
            model.originals = originals;
            read::read(model, loaded, &mut effects);
        }
        Message::Event(work, event) if work == model.work => search::told(model, *event, &mut effects),
        Message::Event(..) => {}
        Message::Kept(work, bytes) if work == model.check => checkpoint::kept(model, bytes),
        Message::Kept(..) => {}
        Message::CheckpointNotWritten(path, why) => {
            model.say(Tone::Bad, format!("cannot write the checkpoint {}: {why}", path.display()));
        }
        Message::SearchSaved(search, saved) => checkpoint::saved(model, *search, saved),
        Message::SearchRead(path, Ok(bytes)) => {
            checkpoint::resume(model, &path.display().to_string(), bytes, &mut effects);
        }
        Message::SearchRead(path, Err(why)) => {
            model.say(Tone::Bad, format!("cannot resume from {}: {why}", path.display()));
        }
        Message::Checked(work, outcome) if work == model.check => search::checked(model, *outcome, work),
        Message::Searched(work, result) if work == model.work => search::searched(model, *result),
        Message::Found(work, which, result) if work == model.work => search::found(model, which, *result),
        Message::Checked(..) | Message::Searched(..) | Message::Found(..) => {}
        Message::Charted(number, chart) => drive::charted(model, number, *chart),
        Message::Scheduled(number, found) => schedule::found(model, number, *found),
        Message::Rides(number, steps) => drive::background_runs(model, number, steps),
        Message::Ran(number, ran) => drive::ran(model, number, *ran, &mut effects),
        Message::Crashed(work, why) => search::crashed(model, work, why),
        Message::FileChanged => effects.extend([Effect::StopRide, Effect::Load]),
        Message::Read(path, text) => drive::opened(model, &path, text),
        Message::Written(path, Ok(())) => model.say(Tone::Good, format!("saved as {}", path.display())),
        Message::Written(path, Err(why)) => model.say(Tone::Bad, format!("{} was not saved: {why}", path.display())),
        Message::Edited(Ok(())) => effects.push(Effect::Load),
        Message::Edited(Err(why)) => model.say(Tone::Bad, why),
        Message::ShowStep(step) => drive::show_step(model, step),
        Message::Terminate => quit(model, &mut effects),
        Message::Continued => {}
    }
    settle(model);
    drive::look_ahead(model, &mut effects);
    effects
}

/// Whether something would change the walk, which a run is about to change.
fn waits_for_background_run(message: &Message) -> bool {
    use Message::{Charted, Checked, Found, Loaded, Read, Scheduled, Searched};
    matches!(message, Charted(..) | Scheduled(..) | Checked(..) | Searched(..) | Found(..) | Loaded(..) | Read(..))
}

pub(crate) use drive::name_of;

fn quit(model: &mut Model, effects: &mut Vec<Effect>) {
    model.quits = true;
    effects.extend([Effect::Cancel, Effect::Quit]);
}

fn press(model: &mut Model, key: KeyEvent, effects: &mut Vec<Effect>) {
    match &model.overlay {
        Some(Overlay::Prompt(_)) => return prompt::press(model, key, effects),
        Some(Overlay::Popup(_)) => return popup::press(model, key),
        Some(Overlay::Graph(_)) => return graph::press(model, key),
        Some(Overlay::Comparison(_)) => return compare::press(model, key),
        Some(Overlay::Help(_)) => return popup::press_help(model, key, effects),
        None => {}
    }
    if let Some((act, index)) = keys::find(model.screen, model.find.is_some(), &key) {
        perform(model, act, index, effects);
    }
}

/// Does what a key stands for.
pub(crate) fn perform(model: &mut Model, act: Act, index: usize, effects: &mut Vec<Effect>) {
    match act {
        Act::Quit => quit(model, effects),
        Act::Suspend => effects.push(Effect::Suspend),
        Act::Help => model.overlay = Some(Overlay::Help(0)),
        Act::Escape => escape(model, effects),
        Act::Zoom => model.zoom = !model.zoom,
        Act::Mouse => {
            model.mouse = !model.mouse;
            effects.push(Effect::Mouse(model.mouse));
            let said =
                if model.mouse { "the mouse is ours; m lets it go" } else { "the mouse is the terminal's; m takes it" };
            model.say(Tone::Plain, said);
        }
        Act::NextPanel => model.panel = model.panel.next(false),
        Act::PreviousPanel => model.panel = model.panel.next(true),
        Act::Up => scroll(model, -1),
        Act::Down => scroll(model, 1),
        Act::PageUp => scroll(model, -page(model)),
        Act::PageDown => scroll(model, page(model)),
        Act::Edit => drive::edit(model, effects),
        Act::Find | Act::FindNext | Act::FindPrevious | Act::FindEnd => find::perform(model, act),
        Act::WatchScreen
        | Act::Freeze
        | Act::Pause
        | Act::Cancel
        | Act::Raise
        | Act::LeaveOut
        | Act::BoundDepth
        | Act::VisitFirst
        | Act::SaveSearch
        | Act::ResumeSearch
        | Act::CheckAll
        | Act::SearchHere => {
            search::perform(model, act, effects);
        }
        _ => drive::perform(model, act, index, effects),
    }
}

fn escape(model: &mut Model, effects: &mut Vec<Effect>) {
    if model.background_run.is_some() {
        effects.push(Effect::StopRide);
    } else if model.seeking.is_some() {
        effects.push(Effect::Cancel);
    } else if model.frozen.take().is_some() {
        model.say(Tone::Plain, "the path moves again");
    } else if model.zoom {
        model.zoom = false;
    } else if model.screen == Screen::Watch {
        model.screen = Screen::Drive;
    }
}

fn page(model: &Model) -> isize {
    let rows = Layout::of(model).rows(model.panel).max(2);
    rows as isize - 1
}

/// Moves the mark of the panel that keys go to.
fn scroll(model: &mut Model, by: isize) {
    let layout = Layout::of(model);
    if model.screen == Screen::Watch {
        if let Some(frozen) = &mut model.frozen {
            let to = frozen.cursor.at.saturating_add_signed(by);
            frozen.cursor.go(to, frozen.look.path.len(), usize::from(layout.body.height / 2));
        }
        return;
    }
    let (panel, count) = (model.panel, entries(model, model.panel));
    let rows = visible(&layout, panel);
    let cursor =
        if panel == Panel::Trace && model.tab == TraceTab::Tree { &mut model.tree_cursor } else { model.cursor(panel) };
    cursor.go(cursor.at.saturating_add_signed(by), count, rows);
    if panel == Panel::Trace {
        drive::tell_marked(model);
    }
}

/// Entries of a panel that fit into it.
pub(crate) fn visible(layout: &Layout, panel: Panel) -> usize {
    match panel {
        Panel::Choices => layout.rows(panel) / 2,
        // The names of the lanes stand above them.
        Panel::Trace => layout.rows(panel).saturating_sub(1),
        _ => layout.rows(panel),
    }
    .max(1)
}

/// How many entries a panel has.
pub(crate) fn entries(model: &Model, panel: Panel) -> usize {
    let Some(session) = &model.session else {
        return if panel == Panel::Source { model.source.lines.len() } else { 0 };
    };
    match panel {
        Panel::Source => model.source.lines.len(),
        Panel::Trace if model.tab == TraceTab::Tree => session.tree.len(),
        Panel::Trace => session.row_count(),
        Panel::Processes => session.processes.len(),
        Panel::Choices => session.choices.len(),
        Panel::Variables => session.watched.len() + session.shown_values(model.changed_only).count(),
    }
}

/// Brings everything that follows from the rest into line: marks in sight, the part of the run that is shown.
fn settle(model: &mut Model) {
    let layout = Layout::of(model);
    for panel in Panel::ALL {
        let (count, rows) = (entries(model, panel), visible(&layout, panel));
        if layout.panel(panel).is_none() {
            // What is not shown keeps its place until it is.
            let cursor = model.cursor(panel);
            cursor.at = cursor.at.min(count.saturating_sub(1));
            cursor.top = cursor.top.min(cursor.at);
        } else if panel != Panel::Trace || model.tab != TraceTab::Tree {
            model.cursor(panel).keep(count, rows);
        }
    }
    let rows = visible(&layout, Panel::Trace);
    let top = model.cursor(Panel::Trace).top;
    let tab = model.tab;
    if let Some(session) = &mut model.session {
        if model.marks_delays {
            session.mark_delays(&model.scheduling);
        }
        session.turn_to(top, rows);
        if tab == TraceTab::Ring {
            session.go_round();
        }
        if tab == TraceTab::Formula {
            session.evaluate_formula();
        }
        if tab == TraceTab::Tree {
            session.grow_tree();
            model.tree_cursor.keep(session.tree.len(), rows + 1);
        }
    }
}
