//! Questions with a line to type the answer.

use super::{checkpoint, drive, find, search, steering};
use crate::background_run::Goal;
use crate::message::Effect;
use crate::model::{Model, Overlay, Panel, Prompt, Question, Tone};
use fabius_engine::words::counted;
use fabius_explore::Until;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use std::path::PathBuf;

/// This many random steps may be asked for.
const RANDOM_MAX: usize = 1_000_000;

/// Asks.
pub(super) fn ask(model: &mut Model, asks: Question, text: &str) {
    let (text, at) = (text.to_owned(), text.chars().count());
    model.overlay = Some(Overlay::Prompt(Prompt { asks, text, at, wrong: None }));
}

/// Says what is wrong with what is typed.
pub(super) fn complain(model: &mut Model, why: &str) {
    if let Some(Overlay::Prompt(prompt)) = &mut model.overlay {
        prompt.wrong = Some(why.to_owned());
    }
}

/// Text was pasted: one line of it.
pub(super) fn paste(model: &mut Model, text: &str) {
    let Some(Overlay::Prompt(prompt)) = &mut model.overlay else { return };
    text.lines().next().unwrap_or_default().chars().filter(|c| !c.is_control()).for_each(|c| insert(prompt, c));
}

fn insert(prompt: &mut Prompt, c: char) {
    let byte = byte_at(&prompt.text, prompt.at);
    prompt.text.insert(byte, c);
    prompt.at += 1;
}

fn byte_at(text: &str, at: usize) -> usize {
    text.char_indices().nth(at).map_or(text.len(), |(byte, _)| byte)
}

pub(super) fn press(model: &mut Model, key: KeyEvent, effects: &mut Vec<Effect>) {
    let Some(Overlay::Prompt(prompt)) = &mut model.overlay else { return };
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    prompt.wrong = None;
    match key.code {
        KeyCode::Esc => model.overlay = None,
        KeyCode::Char('c') if control => model.overlay = None,
        KeyCode::Char('u') if control => (prompt.text, prompt.at) = (String::new(), 0),
        KeyCode::Char(c) if !control => insert(prompt, c),
        KeyCode::Backspace if prompt.at > 0 => {
            prompt.at -= 1;
            let byte = byte_at(&prompt.text, prompt.at);
            prompt.text.remove(byte);
        }
        KeyCode::Delete if prompt.at < prompt.text.chars().count() => {
            let byte = byte_at(&prompt.text, prompt.at);
            prompt.text.remove(byte);
        }
        KeyCode::Left => prompt.at = prompt.at.saturating_sub(1),
        KeyCode::Right => prompt.at = (prompt.at + 1).min(prompt.text.chars().count()),
        KeyCode::Home => prompt.at = 0,
        KeyCode::End => prompt.at = prompt.text.chars().count(),
        KeyCode::Enter => {
            let (asks, text) = (prompt.asks, prompt.text.trim().to_owned());
            match answer(model, asks, &text, effects) {
                Ok(()) if matches!(model.overlay, Some(Overlay::Prompt(_))) => model.overlay = None,
                Ok(()) => {}
                Err(why) => {
                    if let Some(Overlay::Prompt(prompt)) = &mut model.overlay {
                        prompt.wrong = Some(why);
                    }
                }
            }
        }
        _ => {}
    }
}

/// Does what was asked for, or says what is wrong with the answer.
fn answer(model: &mut Model, asks: Question, text: &str, effects: &mut Vec<Effect>) -> Result<(), String> {
    match asks {
        Question::Save => {
            let session = model.session.as_ref().ok_or("there is no run to save")?;
            effects.push(Effect::Write(PathBuf::from(text), session.walk.save().text()));
        }
        Question::Open => effects.push(Effect::Read(PathBuf::from(text))),
        Question::SaveSearch => checkpoint::save(model, text, effects)?,
        Question::ResumeSearch => effects.push(Effect::ReadSearch(file_name(text)?)),
        Question::Until => {
            let walk = &model.session.as_ref().ok_or("there is no model")?.walk;
            let pattern = walk.pattern(text)?;
            drive::background_run(model, Goal::Until(pattern), format!("until `{text}`"), effects);
        }
        Question::Random => {
            let walk = &model.session.as_ref().ok_or("there is no model")?.walk;
            let wanted = match text.parse::<usize>() {
                Ok(steps) => Ok(steps.min(RANDOM_MAX)),
                Err(_) => Err(walk.pattern(text)?),
            };
            model.seed = model.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let seed = model.seed;
            let (goal, words) = match wanted {
                Ok(steps) => (Goal::Random { steps, seed }, "at random".to_owned()),
                Err(pattern) => (Goal::RandomUntil { pattern, seed }, format!("at random until `{text}`")),
            };
            drive::background_run(model, goal, words, effects);
        }
        Question::HoldUntil(pid) => {
            let walk = &model.session.as_ref().ok_or("there is no model")?.walk;
            let condition = walk.condition(text)?;
            hold(model, pid, Until::Condition(condition), &format!("until `{text}`"))?;
        }
        Question::Delay(pid) => {
            let steps = number(text)?;
            let others = u32::try_from(steps).map_err(|_| "this is too long")?;
            let words = format!("for {} of others", counted(steps as u64, "step"));
            hold(model, pid, Until::Others(others), &words)?;
        }
        Question::Find => find::begin(model, text)?,
        Question::FindInHelp => {
            model.find_in_help = Some(text.to_owned()).filter(|text| !text.is_empty());
            model.overlay = Some(Overlay::Help(0));
            find::in_help(model, 0, false);
        }
        Question::LeaveOut => search::leave_out(model, text, effects)?,
        Question::DepthBound => steering::bound_depth(model, text, effects)?,
        Question::VisitFirst => steering::visit_first(model, text, effects)?,
        Question::Watch => watch(model, text)?,
        Question::Bookmark => bookmark(model, text),
        Question::Jump => jump(model, text)?,
    }
    Ok(())
}

/// The name of a file, which has to be there.
pub(super) fn file_name(text: &str) -> Result<PathBuf, String> {
    if text.is_empty() { Err("the name of a file is needed".to_owned()) } else { Ok(PathBuf::from(text)) }
}

fn number(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| "a number is wanted".to_owned())
}

fn hold(model: &mut Model, pid: u8, until: Until, words: &str) -> Result<(), String> {
    let name = drive::name_of(model, pid);
    let session = model.session.as_mut().ok_or("there is no model")?;
    session.walk.hold(pid, until)?;
    drive::arrived(model);
    model.say(Tone::Plain, format!("{name} is held back {words}"));
    Ok(())
}

/// Watches an expression that can be read.
fn watch(model: &mut Model, text: &str) -> Result<(), String> {
    let session = model.session.as_ref().ok_or("there is no model")?;
    session.walk.condition(text)?;
    if !model.watches.iter().any(|known| known == text) {
        model.watches.push(text.to_owned());
    }
    drive::arrived(model);
    let (at, count) = (model.watches.len() - 1, super::entries(model, Panel::Variables));
    model.panel = Panel::Variables;
    model.cursor(Panel::Variables).go(at, count, 1);
    model.say(Tone::Plain, format!("`{text}` is watched; enter shows how it changes along the run, - removes it"));
    Ok(())
}

fn bookmark(model: &mut Model, name: &str) {
    let Some(session) = &mut model.session else { return };
    let here = session.walk.here();
    session.walk.set_name(here, name);
    let said = if name.is_empty() { "the bookmark is gone".to_owned() } else { format!("this state is called {name}") };
    model.say(Tone::Plain, said);
}

fn jump(model: &mut Model, text: &str) -> Result<(), String> {
    let session = model.session.as_mut().ok_or("there is no model")?;
    let named = session.walk.names().find(|(_, name)| *name == text).map(|(node, _)| node);
    match (named, text.parse::<usize>()) {
        (Some(node), _) => drive::go(model, node),
        (None, Ok(number)) => {
            if !session.walk.go_to_number(number) {
                return Err("the run has no such step".to_owned());
            }
            let here = session.walk.here();
            drive::go(model, here);
        }
        (None, Err(_)) => return Err("neither a step nor a bookmark has this name".to_owned()),
    }
    Ok(())
}
