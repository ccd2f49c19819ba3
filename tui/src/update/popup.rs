//! Keys while there is something to read.

use super::{drive, find, prompt, quit};
use crate::keys;
use crate::message::Effect;
use crate::model::{Model, Overlay, Panel, Popup, Question, Tone};
use crate::session::Session;
use crate::view::CLAIM_FIRST;
use fabius_explore::{Hold, Role, Until};
use fabius_witness::{ProcessStatus, Reason};
use ratatui::crossterm::event::KeyEvent;
use std::ops::Range;

/// Rows of a popup that are always in sight.
const ROWS: usize = 8;

pub(super) fn press(model: &mut Model, key: KeyEvent) {
    let Some(Overlay::Popup(popup)) = &mut model.overlay else { return };
    let (name, count) = (keys::name(&key), popup.lines.len());
    match (popup.cursor.moved(name.as_deref(), count, ROWS), name.as_deref()) {
        (Some(to), _) => popup.cursor.go(to, count, ROWS),
        (None, Some("enter")) => {
            let target = popup.lines.get(popup.cursor.at).and_then(|(_, node)| *node);
            model.overlay = None;
            if let Some(node) = target {
                drive::go(model, node);
            }
        }
        _ => model.overlay = None,
    }
}

pub(super) fn press_help(model: &mut Model, key: KeyEvent, effects: &mut Vec<Effect>) {
    let Some(Overlay::Help(top)) = &mut model.overlay else { return };
    match keys::name(&key).as_deref() {
        Some("up" | "k") => *top = top.saturating_sub(1),
        Some("down" | "j") => *top += 1,
        Some("pgup" | "ctrl-u") => *top = top.saturating_sub(10),
        Some("pgdn" | "ctrl-d" | "space") => *top += 10,
        Some("home" | "g") => *top = 0,
        Some("ctrl-c") => quit(model, effects),
        Some("/") => prompt::ask(model, Question::FindInHelp, ""),
        Some("n") if model.find_in_help.is_some() => {
            let from = *top + 1;
            find::in_help(model, from, false);
        }
        Some("N") if model.find_in_help.is_some() => {
            let from = top.wrapping_sub(1);
            find::in_help(model, if from == usize::MAX { 0 } else { from }, true);
        }
        _ => (model.overlay, model.find_in_help) = (None, None),
    }
}

/// Shows something to read.
pub(super) fn show(model: &mut Model, popup: Popup) {
    model.overlay = Some(Overlay::Popup(popup));
}

/// Why the marked process cannot go on, and who could change that.
pub(super) fn show_why(model: &mut Model) {
    let Some(session) = &model.session else { return };
    let at = model.cursors[Panel::Processes.index()].at;
    let Some(process) = session.process(at) else { return };
    let name = &process.status.name;
    let names = |pid: u8| session.walk.process_name(pid);
    let (title, mut sentences) = match process.role {
        Role::Enabled => (format!("{name} can move"), Vec::new()),
        Role::Ended => (format!("{name} has ended"), Vec::new()),
        Role::Excluded(holder) => {
            let holder = names(holder);
            (format!("{name} has to wait"), vec![format!("{holder} is inside an atomic sequence")])
        }
        Role::Blocked if session.walk.is_claims_turn() => (format!("{name} has to wait"), vec![CLAIM_FIRST.to_owned()]),
        Role::Blocked => (format!("{name} is blocked"), Vec::new()),
    };
    if sentences.is_empty() {
        sentences.extend(process.sentences(&names));
    }
    if let Some(hold) = &process.held {
        sentences.push(held_words(hold));
    }
    let underlined =
        if process.role == Role::Blocked { add_parts(session, &process.status, &mut sentences) } else { Vec::new() };
    let lines = sentences.into_iter().map(|sentence| (sentence, None)).collect();
    show(model, Popup { title, lines, underlined, ..Popup::default() });
}

/// Adds which parts of the conditions at which a process waits make them false; the stretches of lines that are these parts.
fn add_parts(session: &Session, status: &ProcessStatus, lines: &mut Vec<String>) -> Vec<(usize, Range<usize>)> {
    let mut underlined = Vec::new();
    let mut is_provided_told = false;
    for waiting in &status.waiting {
        let parts = session.walk.deciding_parts(waiting);
        // Of a condition without parts, the sentence says all.
        if parts.iter().all(|(part, _)| part.path.is_empty()) {
            continue;
        }
        if matches!(waiting.reason, Reason::NotProvided { .. }) {
            // It is the same at each statement.
            if !std::mem::replace(&mut is_provided_told, true) {
                let told: Vec<String> = parts.iter().map(|(part, _)| part.sentence()).collect();
                lines.push(format!("`provided`: {}", told.join("; ")));
            }
            continue;
        }
        let (line, ranges) =
            session.walk.deciding_in_line(waiting).unwrap_or_else(|| (waiting.text.clone(), Vec::new()));
        underlined.extend(ranges.into_iter().map(|range| (lines.len(), range)));
        lines.push(line);
        let told: Vec<String> = parts.iter().map(|(part, _)| part.sentence()).collect();
        lines.push(told.join("; "));
    }
    underlined
}

/// How long a process is held back, in words.
pub(crate) fn held_words(hold: &Hold) -> String {
    match &hold.until {
        Until::Released => "held back until you let it go (h)".to_owned(),
        Until::Condition(condition) => format!("held back until `{}`", condition.text),
        Until::Others(1) => "held back for 1 more step of others".to_owned(),
        Until::Others(steps) => format!("held back for {steps} more steps of others"),
    }
}

/// Who wrote the marked value, back through the channels.
pub(super) fn show_writers(model: &mut Model) {
    let Some(session) = &model.session else { return };
    let at = model.cursors[Panel::Variables.index()].at;
    if let Some(watched) = session.watched.get(at) {
        let title = format!("{} along the run", watched.text);
        match session.along_run(&watched.text) {
            Ok(lines) => show(model, Popup { title, lines, ..Popup::default() }),
            Err(why) => model.say(Tone::Bad, why),
        }
        return;
    }
    let at = at - session.watched.len();
    let Some(value) = session.shown_values(model.changed_only).nth(at) else { return };
    let title = format!("{} = {}", value.name, value.value);
    let mut lines = session.writers(value);
    if lines.is_empty() {
        lines.push(("nobody wrote it: it is as it was in the beginning".to_owned(), None));
    }
    show(model, Popup { title, lines, ..Popup::default() });
}
