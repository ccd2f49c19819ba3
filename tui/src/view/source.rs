//! The text, with where every process stands.

use super::text::{put, span};
use crate::model::{Model, Panel};
use crate::theme::{Sign, Theme};
use fabius_base::Original;
use fabius_explore::Role;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use std::collections::BTreeMap;

/// Columns of the marks.
const MARKS: usize = 5;

/// Words of the language that are shown in bold.
const KEYWORDS: &[&str] = &[
    "active", "assert", "atomic", "bit", "bool", "break", "byte", "chan", "d_step", "do", "else", "fi", "for", "goto",
    "hidden", "if", "init", "inline", "int", "local", "ltl", "mtype", "never", "notrace", "od", "of", "pid", "printf",
    "priority", "proctype", "provided", "run", "select", "short", "show", "skip", "timeout", "trace", "typedef",
    "unless", "unsigned", "xr", "xs",
];

/// Draws the text.
pub fn draw(model: &Model, buffer: &mut Buffer, area: Rect) {
    let theme = model.theme;
    let cursor = model.cursors[Panel::Source.index()];
    let status = status(model);
    let last = last_line(model);
    let written = original_line(model);
    // A blank stands between the marks and the longest number.
    let digits = model.source.lines.len().to_string().len().max(2) + 1;
    let mut in_comment = is_in_comment(&model.source.lines, cursor.top);
    for row in 0..area.height {
        let index = cursor.top + usize::from(row);
        let Some(text) = model.source.lines.get(index) else { break };
        let number = index as u32 + 1;
        let mut spans = marks(theme, status.get(&number).map_or(&[], Vec::as_slice));
        let is_last = last == Some(number);
        let number_style = if is_last { theme.changed() } else { theme.quiet() };
        let sign = if is_last { theme.sign(Sign::Here) } else { " " };
        spans.push(span(format!("{number:>digits$}{sign}"), number_style));
        spans.extend(highlighted(theme, text, &mut in_comment));
        spans.extend(written.iter().filter(|_| is_last).map(|written| span(format!("   {written}"), theme.quiet())));
        put(buffer, area, row, &Line::from(spans), theme);
        if model.panel == Panel::Source && index == cursor.at {
            super::text::mark(buffer, area, row, theme.cursor());
        } else if is_last {
            super::text::mark(buffer, area, row, theme.strong());
        }
    }
}

/// Where the statement of the last step was generated from.
pub fn original(model: &Model) -> Option<Original> {
    let (session, loaded) = (model.session.as_ref()?, model.loaded.as_ref()?);
    let step = session.walk.step_to(session.walk.here())?;
    loaded.map.original(step.fault_span)
}

/// The line from which the statement of the last step was generated, if that file can be read. The title says where it is.
fn original_line(model: &Model) -> Option<String> {
    let (session, loaded) = (model.session.as_ref()?, model.loaded.as_ref()?);
    let span = session.walk.step_to(session.walk.here())?.fault_span;
    model.originals.line(&loaded.map, span).map(|line| format!("from: {line}"))
}

/// The line of the last step.
fn last_line(model: &Model) -> Option<u32> {
    let (session, loaded) = (model.session.as_ref()?, model.loaded.as_ref()?);
    let step = session.walk.step_to(session.walk.here())?;
    let place = loaded.map.position(step.fault_span);
    (place.file.as_ref() == loaded.name).then_some(place.line)
}

/// The processes that stand on each line; those that stand in another file are on none.
fn status(model: &Model) -> BTreeMap<u32, Vec<(u8, Sign, Style)>> {
    let mut found: BTreeMap<u32, Vec<(u8, Sign, Style)>> = BTreeMap::new();
    let (Some(session), Some(loaded)) = (&model.session, &model.loaded) else { return found };
    for process in &session.processes {
        let pid = process.status.pid;
        let sign = match process.role {
            Role::Ended => continue,
            _ if process.held.is_some() => Sign::Held,
            Role::Enabled => Sign::Go,
            Role::Excluded(_) | Role::Blocked => Sign::Stuck,
        };
        let place = loaded.map.position(process.status.span);
        if place.file.as_ref() != loaded.name {
            continue;
        }
        found.entry(place.line).or_default().push((pid, sign, model.theme.process(pid)));
    }
    found
}

fn marks(theme: Theme, status: &[(u8, Sign, Style)]) -> Vec<Span<'static>> {
    let mut spans = Vec::new();
    let mut used = 0;
    for (index, (pid, sign, style)) in status.iter().enumerate() {
        let text = format!("{}{pid}", theme.sign(*sign));
        let width = super::text::width(&text);
        let more = status.len() - index;
        if used + width > MARKS || (used + width + 2 > MARKS && more > 1 && used > 0) {
            let rest = format!("+{more}");
            used += rest.len();
            spans.push(span(rest, theme.quiet()));
            break;
        }
        used += width;
        spans.push(span(text, *style));
    }
    spans.insert(0, span(" ".repeat(MARKS.saturating_sub(used)), Style::new()));
    spans
}

/// Whether a comment is open at the beginning of a line.
fn is_in_comment(lines: &[String], upto: usize) -> bool {
    let mut open = false;
    for line in lines.iter().take(upto) {
        let mut rest = line.as_str();
        while let Some(at) = rest.find(if open { "*/" } else { "/*" }) {
            rest = &rest[at + 2..];
            open = !open;
        }
    }
    open
}

/// A line of the text: keywords bold, comments quiet.
fn highlighted(theme: Theme, text: &str, in_comment: &mut bool) -> Vec<Span<'static>> {
    let mut spans = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        if *in_comment {
            let end = rest.find("*/").map_or(rest.len(), |at| at + 2);
            *in_comment = !rest[..end].ends_with("*/");
            spans.push(span(rest[..end].to_owned(), theme.quiet()));
            rest = &rest[end..];
        } else if rest.starts_with("//") {
            spans.push(span(rest.to_owned(), theme.quiet()));
            break;
        } else if rest.starts_with("/*") {
            *in_comment = true;
        } else {
            let end = word_end(rest);
            let style =
                if KEYWORDS.contains(&&rest[..end]) { Style::new().add_modifier(Modifier::BOLD) } else { Style::new() };
            spans.push(span(rest[..end].to_owned(), style));
            rest = &rest[end..];
        }
    }
    spans
}

/// The end of the first word, or of what stands before it.
fn word_end(text: &str) -> usize {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let starts_word = text.starts_with(is_word);
    let mut previous = ' ';
    for (at, c) in text.char_indices() {
        let comment = previous == '/' && (c == '/' || c == '*');
        if comment && at > 1 {
            return at - 1;
        }
        if at > 0 && is_word(c) != starts_word {
            return at;
        }
        previous = c;
    }
    text.len()
}
