//! What lies over the screen: the help, questions, cards.

use super::text::{mark, pad, put, span, width, wrap};
use crate::keys;
use crate::model::{Model, Overlay, Popup, Prompt, Question};
use crate::theme::{Sign, Theme};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect, Size};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Widget};

/// Draws what lies over the screen; where the terminal's cursor is to be, if somewhere.
pub fn draw(model: &Model, buffer: &mut Buffer, body: Rect) -> Option<Position> {
    match model.overlay.as_ref()? {
        Overlay::Help(top) => {
            help(model, buffer, body, *top);
            None
        }
        Overlay::Popup(popup) => {
            show_popup(model, popup, buffer, body);
            None
        }
        Overlay::Comparison(comparison) => {
            super::comparison::draw(model, comparison, buffer, body);
            None
        }
        Overlay::Graph(view) => {
            super::graph::draw(model, view, buffer, body);
            None
        }
        Overlay::Prompt(prompt) => ask(model, prompt, buffer, body),
    }
}

/// An empty box in the middle; what is inside of it.
pub(super) fn frame(theme: Theme, buffer: &mut Buffer, body: Rect, size: Size, title: &str) -> Rect {
    let Size { width: columns, height: rows } = size;
    let area = Rect {
        x: body.x + body.width.saturating_sub(columns) / 2,
        y: body.y + body.height.saturating_sub(rows) / 2,
        width: columns.min(body.width),
        height: rows.min(body.height),
    };
    Clear.render(area, buffer);
    if area.width < 12 || area.height < 3 {
        return area;
    }
    let (across, down) = (theme.sign(Sign::Across), theme.sign(Sign::Down));
    let corners = if theme.ascii { ["+", "+", "+", "+"] } else { ["╭", "╮", "╰", "╯"] };
    let style = theme.accent();
    let inside = usize::from(area.width - 2);
    buffer.set_string(area.x, area.y, format!("{}{}{}", corners[0], across.repeat(inside), corners[1]), style);
    let title = super::fit(title, inside.saturating_sub(4), theme);
    buffer.set_string(area.x + 2, area.y, format!(" {title} "), style.patch(theme.strong()));
    for y in area.y + 1..area.bottom() - 1 {
        buffer.set_string(area.x, y, down, style);
        buffer.set_string(area.right() - 1, y, down, style);
    }
    buffer.set_string(
        area.x,
        area.bottom() - 1,
        format!("{}{}{}", corners[2], across.repeat(inside), corners[3]),
        style,
    );
    Rect { x: area.x + 2, y: area.y + 1, width: area.width - 4, height: area.height - 2 }
}

/// At most this many columns are taken by the help.
const HELP_COLUMNS_MAX: u16 = 96;

/// The lines of the help on a screen of this many columns.
pub(crate) fn help_lines(theme: Theme, columns: u16) -> Vec<Line<'static>> {
    let text = columns.min(HELP_COLUMNS_MAX).saturating_sub(4 + 17);
    let mut lines: Vec<Line<'static>> = Vec::new();
    for (chapter, rows) in keys::chapters() {
        if !lines.is_empty() {
            lines.push(Line::default());
        }
        lines.push(Line::from(span(chapter, theme.accent().patch(theme.strong()))));
        for row in rows {
            for (index, part) in wrap(row.long, usize::from(text)).into_iter().enumerate() {
                let keys = if index == 0 { keys::shown_keys(row, theme.ascii) } else { String::new() };
                lines.push(Line::from(vec![
                    span(pad(&keys, 16, theme), theme.strong()),
                    span(" ", Style::new()),
                    span(part, Style::new()),
                ]));
            }
        }
    }
    lines.push(Line::default());
    lines.extend(signs(theme));
    lines
}

fn help(model: &Model, buffer: &mut Buffer, body: Rect, top: usize) {
    let theme = model.theme;
    let lines = help_lines(theme, body.width);
    let title = match &model.find_in_help {
        Some(text) => format!("Keys with `{text}`: n next, N previous, esc closes"),
        None => "Keys: up and down scroll, / finds, esc closes".to_owned(),
    };
    let inner = frame(theme, buffer, body, Size::new(body.width.min(HELP_COLUMNS_MAX), body.height), &title);
    let found = |line: &Line<'_>| {
        let wanted = model.find_in_help.as_ref().map(|text| text.to_lowercase());
        wanted.is_some_and(|wanted| line.to_string().to_lowercase().contains(&wanted))
    };
    let top = top.min(lines.len().saturating_sub(usize::from(inner.height)));
    for (row, line) in lines.iter().skip(top).take(usize::from(inner.height)).enumerate() {
        put(buffer, inner, row as u16, line, theme);
        if found(line) {
            mark(buffer, inner, row as u16, theme.cursor());
        }
    }
}

/// What the signs mean.
fn signs(theme: Theme) -> Vec<Line<'static>> {
    let rows = [
        (Sign::Go, "the process can move; the search runs"),
        (Sign::Stuck, "the process cannot move"),
        (Sign::Held, "it is held back; the search is halted"),
        (Sign::Loop, "in the loop of the run; being searched"),
        (Sign::Good, "holds; has ended as it may"),
        (Sign::Bad, "violated; goes wrong"),
        (Sign::Bookmark, "a bookmark"),
    ];
    let mut lines = vec![Line::from(span("Signs", theme.accent().patch(theme.strong())))];
    lines.extend(rows.map(|(sign, means)| {
        Line::from(vec![span(pad(theme.sign(sign), 17, theme), theme.strong()), span(means, Style::new())])
    }));
    let marks = if theme.ascii {
        "next step: + new, . known, @ enters a cycle, ! can reach the error, # deadlock next, x goes wrong"
    } else {
        "next step: + new, · known, ⟳ enters a cycle, ! can reach the error, ■ deadlock next, ✗ goes wrong"
    };
    lines.push(Line::from(span(marks, Style::new())));
    lines
}

fn show_popup(model: &Model, popup: &Popup, buffer: &mut Buffer, body: Rect) {
    let theme = model.theme;
    let longest = popup.lines.iter().map(|(line, _)| width(line)).max().unwrap_or(0).max(width(&popup.title) + 4);
    let columns = (longest as u16 + 6).clamp(30, body.width.max(30)).min(body.width.min(100));
    let text = usize::from(columns.saturating_sub(6));
    let wrapped: Vec<Vec<String>> = popup.lines.iter().map(|(line, _)| wrap(line, text)).collect();
    let rows: usize = wrapped.iter().map(Vec::len).sum();
    let leads = popup.lines.iter().any(|(_, node)| node.is_some());
    let inner = frame(theme, buffer, body, Size::new(columns, rows as u16 + if leads { 4 } else { 2 }), &popup.title);
    let mut y = 0;
    for (index, lines) in wrapped.iter().enumerate().skip(popup.cursor.top) {
        for (part, line) in lines.iter().enumerate() {
            let here = leads && index == popup.cursor.at;
            let sign = if part == 0 && here { theme.sign(Sign::Here) } else { " " };
            put(
                buffer,
                inner,
                y,
                &Line::from(text_of(popup, index, line, lines.len() == 1, span(format!("{sign} "), theme.accent()))),
                theme,
            );
            if here {
                mark(buffer, inner, y, theme.strong());
            }
            y += 1;
        }
    }
    if leads {
        let hint = "enter goes there, esc closes";
        put(buffer, inner, inner.height.saturating_sub(1), &Line::from(span(hint, theme.quiet())), theme);
    }
}

/// A row of a popup; of a line that is in one row, stretches may be underlined.
fn text_of(popup: &Popup, index: usize, line: &str, is_whole: bool, sign: Span<'static>) -> Vec<Span<'static>> {
    let is_as_written = is_whole && popup.lines.get(index).is_some_and(|(written, _)| written == line);
    let marked = popup.underlined.iter().filter(|(at, _)| is_as_written && *at == index);
    let mut row = vec![sign];
    let mut done = 0;
    for (_, range) in marked {
        let (Some(before), Some(part)) = (line.get(done..range.start), line.get(range.clone())) else { continue };
        row.push(span(before.to_owned(), Style::new()));
        row.push(span(part.to_owned(), Style::new().add_modifier(Modifier::UNDERLINED)));
        done = range.end;
    }
    row.push(span(line.get(done..).unwrap_or_default().to_owned(), Style::new()));
    row
}

/// What is asked, and an example of an answer.
fn words(asks: Question, model: &Model) -> (String, &'static str) {
    let name = |pid: u8| crate::update::name_of(model, pid);
    match asks {
        Question::Until => ("Run until".to_owned(), "a pattern, such as  len(q) == 0  or  x > 2 after y == 1"),
        Question::Random => ("At random".to_owned(), "how many steps, or until what:  x > 2 after y == 1"),
        Question::HoldUntil(pid) => (format!("Hold {} until", name(pid)), "a condition, such as  len(q) == 2"),
        Question::Delay(pid) => (format!("Delay {}", name(pid)), "for how many steps of the others"),
        Question::Bookmark => ("Name of this state".to_owned(), "an empty name takes the bookmark away"),
        Question::Save => ("Save the run as".to_owned(), "its steps, holds and bookmarks"),
        Question::Open => ("Open a run".to_owned(), "a trail of Spin, or a run that was saved"),
        Question::SaveSearch => ("Save the search as".to_owned(), "a file from which it can be resumed"),
        Question::ResumeSearch => {
            ("Resume a search from".to_owned(), "a file saved here, or by fabius check --checkpoint")
        }
        Question::Find => (format!("Find in: {}", model.panel.title()), "n goes to the next one, N to the one before"),
        Question::FindInHelp => ("Find in the help".to_owned(), "n goes to the next one, N to the one before"),
        Question::LeaveOut => {
            ("Do not go on where".to_owned(), "a condition, such as  x > 3 && len(q) == 2; nothing: go on everywhere")
        }
        Question::DepthBound => ("Bound on depth".to_owned(), "cut off runs after this many steps; nothing: do not"),
        Question::VisitFirst => {
            ("Visit first where".to_owned(), "a condition, such as  x > 3 && len(q) == 2; nothing: in any order")
        }
        Question::Watch => ("Watch".to_owned(), "an expression, such as  len(q) + x, P[0]:x or P[0]@label"),
        Question::Jump => ("Go to".to_owned(), "the number of a step, or the name of a bookmark"),
    }
}

fn ask(model: &Model, prompt: &Prompt, buffer: &mut Buffer, body: Rect) -> Option<Position> {
    let theme = model.theme;
    let (title, hint) = words(prompt.asks, model);
    let columns = body.width.min(64);
    let inner = frame(theme, buffer, body, Size::new(columns, 4), &title);
    let room = usize::from(inner.width.saturating_sub(1));
    let skip = prompt.at.saturating_sub(room);
    let shown: String = prompt.text.chars().skip(skip).take(room).collect();
    let before: String = prompt.text.chars().skip(skip).take(prompt.at - skip).collect();
    put(buffer, inner, 0, &Line::from(span(shown, theme.strong())), theme);
    let (below, style) = match &prompt.wrong {
        Some(wrong) => (wrong.as_str(), theme.bad()),
        None => (hint, theme.quiet()),
    };
    put(buffer, inner, 1, &Line::from(span(below.to_owned(), style)), theme);
    (inner.height > 0).then(|| Position::new(inner.x + width(&before) as u16, inner.y))
}
