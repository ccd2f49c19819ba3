//! The screen as a pure function of the model.

mod comparison;
mod formula;
mod graph;
mod overlay;
mod side;
mod source;
mod text;
mod trace;
mod watch;

use crate::keys::{self, Act};
use crate::layout::{Layout, REMARK_MARGIN};
use crate::model::{Model, Panel, Screen, Tone, TraceTab};
use crate::session::Session;
use crate::theme::{Sign, Theme};
use fabius_engine::Verdict;
use fabius_explore::{Choice, Local, SuccessorHint};
use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use text::{fit, put, span, width, width_of};

pub(crate) use overlay::help_lines;
pub(crate) use side::CLAIM_FIRST;
pub use text::wrap;

/// Draws the screen. If it has another size by now than the model knows, it stays empty until that is known.
pub fn view(model: &Model, frame: &mut Frame<'_>) {
    if frame.area().as_size() != model.size.into() {
        return;
    }
    let layout = Layout::of(model);
    let buffer = frame.buffer_mut();
    if let Some(area) = layout.header {
        header(model, buffer, area);
    }
    match model.screen {
        Screen::Watch => watch::draw(model, buffer, layout.body),
        Screen::Drive => drive(model, buffer, &layout),
    }
    if let Some(area) = layout.status_line {
        status_line(model, buffer, area);
    }
    if let Some(area) = layout.footer {
        footer(model, buffer, area);
    }
    let cursor = overlay::draw(model, buffer, layout.body);
    if let Some(position) = cursor {
        frame.set_cursor_position(position);
    }
}

fn drive(model: &Model, buffer: &mut Buffer, layout: &Layout) {
    for area in &layout.separators {
        for y in area.top()..area.bottom() {
            buffer.set_string(area.x, y, model.theme.sign(Sign::Down), model.theme.quiet());
        }
    }
    for (panel, area) in &layout.panels {
        let title = title(model, *panel);
        let inner = heading(model.theme, buffer, *area, &title, *panel == model.panel);
        match panel {
            Panel::Source => source::draw(model, buffer, inner),
            Panel::Trace => trace::draw(model, buffer, inner),
            Panel::Processes => side::processes(model, buffer, inner),
            Panel::Choices => side::choices(model, buffer, inner),
            Panel::Variables => side::values(model, buffer, inner),
        }
    }
}

/// The title of a panel, with what it shows.
fn title(model: &Model, panel: Panel) -> String {
    match panel {
        Panel::Trace => {
            let session = model.session.as_ref();
            let mut tabs = session.map_or(TraceTab::of_run(false), Session::tabs).to_vec();
            tabs.extend((!tabs.contains(&model.tab)).then_some(model.tab));
            let name =
                |tab: &TraceTab| if *tab == model.tab { format!("[{}]", tab.title()) } else { tab.title().to_owned() };
            let tabs: Vec<String> = tabs.iter().map(name).collect();
            let part = if model.session.as_ref().is_some_and(|session| session.essential.is_some()) {
                " (essential)"
            } else {
                ""
            };
            let delayed = model.session.as_ref().is_some_and(|session| !session.delays.is_empty());
            let delays = match model.session.as_ref().filter(|_| delayed && model.marks_delays) {
                Some(session) => format!(" delaying {}", model.scheduling.name(session.walk.target())),
                None => String::new(),
            };
            format!("Run{part} {}{delays}", tabs.join(" "))
        }
        Panel::Choices => {
            let judged =
                |choice: &Choice| matches!(choice.mark, SuccessorHint::CanFail { .. } | SuccessorHint::CannotFail);
            let session = model.session.as_ref().filter(|session| session.choices.iter().any(judged));
            // What can fail, or cannot, is said: a walk beside one property knows nothing of others.
            let of = session.map(|session| format!(", marks for {}", session.walk.target().property));
            format!("{}{}", panel.title(), of.unwrap_or_default())
        }
        Panel::Variables if model.changed_only => "Values (changed only)".to_owned(),
        Panel::Source => {
            let name = model.source.name.rsplit('/').next().unwrap_or_default();
            let from = source::original(model).map_or_else(String::new, |original| format!(", from {original}"));
            format!("Source {name}{from}")
        }
        other => other.title().to_owned(),
    }
}

/// A title with a rule; what is below it.
pub(crate) fn heading(theme: Theme, buffer: &mut Buffer, area: Rect, title: &str, focused: bool) -> Rect {
    if area.height == 0 || area.width == 0 {
        return area;
    }
    let style = if focused { theme.accent().patch(theme.strong()) } else { theme.quiet() };
    let sign = if focused { theme.sign(Sign::Here) } else { theme.sign(Sign::Across) };
    let title_style = if focused { style } else { Style::new() };
    let room = usize::from(area.width).saturating_sub(3);
    let title = fit(title, room, theme);
    let rule = room.saturating_sub(width(&title));
    let line = Line::from(vec![
        span(format!("{sign} "), style),
        span(title, title_style),
        span(" ", style),
        span(theme.sign(Sign::Across).repeat(rule), style),
    ]);
    put(buffer, area, 0, &line, theme);
    Rect { y: area.y + 1, height: area.height - 1, ..area }
}

/// The line at the top: the file, the properties and their verdicts, and where one is.
fn header(model: &Model, buffer: &mut Buffer, area: Rect) {
    let theme = model.theme;
    let mut spans = vec![span(" fabius ", theme.accent().patch(theme.strong()))];
    for indicator in &model.watch.indicators {
        let (sign, style) =
            indicator_sign(theme, indicator.verdict(), model.watch.is_at(indicator), model.watch.paused);
        spans.push(span(format!(" {sign} "), style));
        spans.push(span(indicator.name.clone(), Style::new()));
    }
    if model.watch.indicators.is_empty() {
        spans.push(span(format!(" {}", model.source.name), theme.quiet()));
    }
    let right = place(model);
    let room = usize::from(area.width).saturating_sub(width(&right) + 2);
    let line = Line::from(spans);
    // What is known of here is shown in full if there is room, else in short; properties make way for it.
    let fits = |part: &Span<'_>| width_of(&line) + width(&part.content) <= room;
    let here = local(model, false).filter(fits).or_else(|| local(model, true));
    let columns = here.as_ref().map_or(0, |part| width(&part.content));
    let indicators = width_of(&line).min(room.saturating_sub(columns));
    put(buffer, Rect { width: indicators as u16, ..area }, 0, &line, theme);
    if let Some(part) = here {
        let left = Rect { x: area.x + indicators as u16, width: room.saturating_sub(indicators) as u16, ..area };
        put(buffer, left, 0, &Line::from(part), theme);
    }
    if width_of(&line) > 0 && usize::from(area.width) > width(&right) {
        let x = area.right() - width(&right) as u16;
        buffer.set_string(x, area.y, &right, theme.strong());
    }
}

/// What a search from the present state found, or that one runs: it is shown only at that state, with the same holds.
fn local(model: &Model, short: bool) -> Option<Span<'static>> {
    let theme = model.theme;
    if let Some(from) = model.watch.local.as_ref().filter(|_| model.watch.running) {
        let sign = theme.sign(if model.watch.paused { Sign::Held } else { Sign::Loop });
        let text = if short { format!("  {sign} local") } else { format!("  {sign} {from}") };
        return Some(span(text, theme.accent()));
    }
    let answer = model.session.as_ref()?.walk.answer_here()?;
    let (words, sign, style) = match answer.local() {
        Local::NoViolation => ("no violation", theme.sign(Sign::Good), theme.good()),
        Local::Violation => ("violation", theme.sign(Sign::Bad), theme.bad()),
        Local::Unknown => ("none found, not exhaustive", "?", theme.changed()),
    };
    let held = if answer.scope().held().is_empty() { "" } else { ", with holds" };
    let text = if short { format!("  (here {sign})") } else { format!("  (from here{held}: {words})") };
    Some(span(text, style))
}

/// The sign of a property.
pub(crate) fn indicator_sign(
    theme: Theme,
    verdict: Option<Verdict>,
    searched: bool,
    paused: bool,
) -> (&'static str, Style) {
    match verdict {
        _ if searched && paused => (theme.sign(Sign::Held), theme.held()),
        _ if searched => (theme.sign(Sign::Loop), theme.accent()),
        Some(Verdict::Holds) => (theme.sign(Sign::Good), theme.good()),
        Some(Verdict::Violated | Verdict::Faulty) => (theme.sign(Sign::Bad), theme.bad()),
        Some(Verdict::Undecided) => ("?", theme.changed()),
        None => (theme.sign(Sign::Open), theme.quiet()),
    }
}

/// Where one is.
fn place(model: &Model) -> String {
    let Some(session) = &model.session else { return String::new() };
    let walk = &session.walk;
    let (here, tip) = (walk.number(walk.here()), walk.line().last().map_or(0, |tip| walk.number(*tip)));
    let in_loop = walk.lasso().is_some_and(|lasso| walk.depth(lasso.start) <= walk.depth(walk.here()));
    let looping = if in_loop { format!("{} ", model.theme.sign(Sign::Loop)) } else { String::new() };
    let held = walk.held().len();
    let holds = if held > 0 { format!("{} {held} held  ", model.theme.sign(Sign::Held)) } else { String::new() };
    let sealed = if walk.sealed().is_some() { "sealed  " } else { "" };
    let scheduled = if walk.follows_schedule() { "schedule  " } else { "" };
    let name =
        walk.name(walk.here()).map(|name| format!("  {} {name}", model.theme.sign(Sign::Bookmark))).unwrap_or_default();
    format!("{holds}{sealed}{scheduled}{looping}step {here} of {tip}{name} ")
}

fn status_line(model: &Model, buffer: &mut Buffer, area: Rect) {
    let theme = model.theme;
    let (sign, style) = match model.status_line.tone {
        Tone::Plain => (" ", Style::new()),
        Tone::Good => (theme.sign(Sign::Good), theme.good()),
        Tone::Bad => (theme.sign(Sign::Bad), theme.bad()),
    };
    let text = &model.status_line.text;
    let lines = match area.height {
        1 => vec![text.clone()],
        _ => {
            let mut lines = wrap(text, usize::from(area.width).saturating_sub(REMARK_MARGIN));
            let rest = lines.split_off(1).join(" ");
            lines.extend(Some(rest).filter(|rest| !rest.is_empty()));
            lines
        }
    };
    for (row, line) in lines.into_iter().enumerate() {
        let sign = if row == 0 { sign } else { " " };
        put(buffer, area, row as u16, &Line::from(vec![span(format!("{sign} "), style), span(line, style)]), theme);
    }
}

/// The keys that are most useful now: as many as fit as a whole. How to get help and out always stands at the end.
fn footer(model: &Model, buffer: &mut Buffer, area: Rect) {
    let theme = model.theme;
    let item = |key: &str, says: &str, after: &'static str| {
        let key = span(key.to_owned(), theme.accent().patch(theme.strong()));
        Line::from(vec![key, span(format!(" {says}"), theme.quiet()), span(after, theme.quiet())])
    };
    let help = item("?", "help", "");
    let quit = item("q", "quit", "");
    let room = usize::from(area.width);
    let mut last = vec![span(" ", theme.quiet())];
    for (item, gap) in [(help, "   "), (quit, " ")] {
        let used: usize = last.iter().map(|part| width(&part.content)).sum();
        if used + width_of(&item) + gap.len() <= room / 2 {
            last.extend(item.spans);
            last.push(span(gap, theme.quiet()));
        }
    }
    let last = Line::from(last);
    let room = room.saturating_sub(width_of(&last));
    let mut spans = Vec::new();
    let mut used = 0;
    let in_loop = model.session.as_ref().is_some_and(|session| session.walk.lasso().is_some());
    for act in keys::hints(model.screen, model.panel, (in_loop, model.find.is_some())) {
        let Some(binding) = keys::binding(model.screen, *act) else { continue };
        let key = match act {
            Act::Choice => keys::shown_keys(binding, theme.ascii),
            _ => keys::shown(binding.keys[0], theme.ascii).to_owned(),
        };
        let short = match act {
            Act::WatchScreen if model.screen == Screen::Watch => "drive",
            Act::WatchScreen => "watch",
            Act::Enter => entering(model.panel),
            _ => binding.short,
        };
        let gap = if spans.is_empty() { " " } else { "   " };
        let next = item(&key, short, "");
        used += width(gap) + width_of(&next);
        if used > room {
            break;
        }
        spans.push(span(gap, theme.quiet()));
        spans.extend(next.spans);
    }
    put(buffer, Rect { width: room as u16, ..area }, 0, &Line::from(spans), theme);
    let columns = width_of(&last) as u16;
    put(buffer, Rect { x: area.right() - columns, width: columns, ..area }, 0, &last, theme);
}

/// What enter does in a panel.
fn entering(panel: Panel) -> &'static str {
    match panel {
        Panel::Source => "run to here",
        Panel::Trace => "go there",
        Panel::Processes => "move it",
        Panel::Choices => "take it",
        Panel::Variables => "who wrote it",
    }
}
