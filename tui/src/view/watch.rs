//! The search, live: how fast, how deep, how much; where it is now; what it tried and rejected.

use super::text::{duration, fit, mark, pad, put, rounded, span, width};
use super::trace::Lanes;
use super::{heading, indicator_sign, wrap};
use crate::model::Model;
use crate::theme::{Sign, Theme};
use crate::watch::Watch;
use fabius_engine::words::{counted, grouped, memory};
use fabius_engine::{Goal, Look, SAFETY};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use std::sync::Arc;

/// Columns of the names of figures.
const NAME: usize = 11;

/// Draws the screen on which one watches.
pub fn draw(model: &Model, buffer: &mut Buffer, body: Rect) {
    let theme = model.theme;
    if body.width < 60 || body.height < 14 {
        let inner = heading(theme, buffer, body, &title(model), true);
        figures(model, buffer, inner);
        return;
    }
    let left = Rect { width: crate::layout::share(body.width, 46), ..body };
    let right = Rect { x: left.right() + 1, width: body.width - left.width - 1, ..body };
    for y in body.top()..body.bottom() {
        buffer.set_string(left.right(), y, theme.sign(Sign::Down), theme.quiet());
    }
    let inner = heading(theme, buffer, Rect { height: 11.min(left.height), ..left }, &title(model), true);
    figures(model, buffer, inner);
    let mut below = Rect { y: left.y + 11, height: left.height.saturating_sub(11), ..left };
    let answers = model.session.as_ref().map_or(0, |session| session.walk.answers().len());
    let indicators = ((model.watch.indicators.len() + answers) as u16 + 1).min(below.height / 3).max(2);
    let inner = heading(theme, buffer, Rect { height: indicators, ..below }, "Properties", false);
    properties(model, buffer, inner);
    below = Rect { y: below.y + indicators, height: below.height - indicators, ..below };
    second(model, buffer, below);
    let heat = (right.height / 3).max(5);
    let path = Rect { height: right.height - heat, ..right };
    let inner = heading(theme, buffer, path, &path_title(model), model.frozen.is_some());
    current_path(model, buffer, inner);
    let area = Rect { y: path.bottom(), height: heat, ..right };
    let inner = heading(theme, buffer, area, "Where it has been lately", false);
    heat_strip(model, buffer, inner);
}

fn title(model: &Model) -> String {
    let watch = &model.watch;
    let doing = watch.look.as_ref().map_or("", |look| look.phase.as_str());
    let what = match watch.goal {
        Some(Goal::ShorterRun) => ", for a shorter run",
        Some(Goal::FairRun) => ", for a fair run",
        Some(Goal::DeadCode) => ", for statements that no run executes",
        _ => "",
    };
    let from = watch.local.as_ref().map_or(String::new(), |from| format!(" {from}"));
    let searched = format!("{}{from}{what}", watch.property);
    match (watch.running, watch.property.is_empty()) {
        (_, true) => "Search".to_owned(),
        (true, _) if watch.paused => format!("{searched}: halted"),
        (true, _) if doing.is_empty() => searched,
        (true, _) => format!("{searched}: {doing}"),
        (false, _) => format!("{}{from}: done", watch.property),
    }
}

/// A name and a value.
fn figure(theme: Theme, name: &str, value: Vec<Span<'static>>) -> Line<'static> {
    let mut spans = vec![span(pad(name, NAME, theme), theme.quiet())];
    spans.extend(value);
    Line::from(spans)
}

fn plain(text: String) -> Vec<Span<'static>> {
    vec![span(text, Style::new())]
}

fn figures(model: &Model, buffer: &mut Buffer, area: Rect) {
    let (theme, watch) = (model.theme, &model.watch);
    if watch.property.is_empty() {
        let said = if watch.running { "starting" } else { "no search has run yet; S checks all properties" };
        put(buffer, area, 0, &Line::from(span(said, theme.quiet())), theme);
        return;
    }
    let progress = &watch.progress;
    let look = watch.look.as_ref();
    let room = usize::from(area.width).saturating_sub(NAME);
    let mut lines = vec![
        figure(theme, "states", vec![span(grouped(progress.states), theme.strong())]),
        figure(theme, "rate", rate(theme, watch, room)),
        figure(theme, "steps", plain(grouped(progress.transitions))),
        figure(theme, "depth", plain(depth(watch, look))),
        figure(theme, "waiting", plain(waiting(watch, look))),
        figure(theme, "memory", fill(theme, watch, room)),
        figure(theme, "time", plain(duration(progress.seconds))),
    ];
    let max = model.launch.settings.limits.depth_max;
    lines.extend(max.map(|max| figure(theme, "max. depth", plain(counted(max, "step")))));
    // Searches for cycles heed neither, nor do those from a state.
    let heeds = watch.local.is_none() && (watch.property.is_empty() || watch.property == SAFETY);
    let heeded = [("not beyond", &model.leave_out), ("first", &model.visit_first)].into_iter().filter(|_| heeds);
    lines.extend(heeded.filter_map(|(name, condition)| Some(figure(theme, name, plain(condition.clone()?)))));
    lines.extend(estimates(theme, watch));
    for (row, line) in lines.iter().enumerate() {
        put(buffer, area, row as u16, line, theme);
    }
}

/// States that wait, where that is known: processes do not tell.
fn waiting(watch: &Watch, look: Option<&Look>) -> String {
    let otherwise = if watch.workers.is_empty() { "none" } else { "not known" };
    look.and_then(|look| look.frontier).map_or(otherwise.to_owned(), grouped)
}

fn depth(watch: &Watch, look: Option<&Look>) -> String {
    let now = look.map_or(0, |look| look.before + look.path.len() as u64);
    let deepest = grouped(watch.progress.depth);
    match look.filter(|look| watch.running && look.stack > 0) {
        Some(_) => format!("{} now, {deepest} at most", grouped(now)),
        None => format!("{deepest} at most"),
    }
}

/// The rate, and how it was.
fn rate(theme: Theme, watch: &Watch, room: usize) -> Vec<Span<'static>> {
    let text = format!("{}/s ", rounded(watch.rate() as u64));
    let rates = watch.rates();
    let columns = room.saturating_sub(width(&text)).min(24);
    let recent = &rates[rates.len().saturating_sub(columns)..];
    let most = recent.iter().copied().fold(1.0, f64::max);
    let curve: String = recent.iter().map(|rate| theme.height((rate / most * 8.0).round() as usize)).collect();
    vec![span(text, Style::new()), span(curve, theme.accent())]
}

/// The memory, and how much of what is allowed that is.
fn fill(theme: Theme, watch: &Watch, room: usize) -> Vec<Span<'static>> {
    let used = watch.progress.memory_bytes;
    let text = match watch.memory_max {
        Some(max) => format!(" {} of {}", memory(used), memory(max)),
        None => format!(" {}", memory(used)),
    };
    let columns = room.saturating_sub(width(&text)).min(12);
    let share = watch.memory_max.map_or(0.0, |max| used as f64 / max.max(1) as f64).min(1.0);
    let style = if share > 0.8 { theme.bad() } else { theme.accent() };
    vec![span(bar(theme, share, columns), style), span(text, Style::new())]
}

/// A bar that fills a share of its columns.
fn bar(theme: Theme, share: f64, columns: usize) -> String {
    let eighths = (share * columns as f64 * 8.0).round() as usize;
    (0..columns).map(|column| theme.eighths(eighths.saturating_sub(column * 8))).collect()
}

/// What the last complete search needed, which is the best that is known of this one; and when memory is full.
fn estimates(theme: Theme, watch: &Watch) -> Vec<Line<'static>> {
    if !watch.running || watch.paused {
        return Vec::new();
    }
    let mut lines = Vec::new();
    if let Some(before) = watch.last_time() {
        let said = format!("{} states in {}", grouped(before.states), duration(before.seconds));
        lines.push(figure(theme, "last time", vec![span(said, theme.quiet())]));
    }
    if let Some(seconds) = watch.memory_full_in().filter(|seconds| *seconds < 600.0) {
        let said = format!("memory full in {} at this rate", duration(seconds));
        lines.push(figure(theme, "", vec![span(said, theme.bad())]));
    }
    lines
}

fn properties(model: &Model, buffer: &mut Buffer, area: Rect) {
    let theme = model.theme;
    for (row, indicator) in model.watch.indicators.iter().enumerate() {
        let (sign, style) =
            indicator_sign(theme, indicator.verdict(), model.watch.is_at(indicator), model.watch.paused);
        // What the verdict rests on comes after a semicolon, where there is no room for all of it.
        let room = usize::from(area.width).saturating_sub(4 + width(&indicator.name));
        let whole = indicator.reason.as_str();
        let reason = if width(whole) <= room { whole } else { whole.split(';').next().unwrap_or(whole) };
        let line = Line::from(vec![
            span(format!("{sign} "), style),
            span(indicator.name.clone(), theme.strong()),
            span(format!("  {reason}"), theme.quiet()),
        ]);
        put(buffer, area, row as u16, &line, theme);
    }
    local_answers(model, buffer, area);
}

/// What searches from states found, below the properties: a sign stands only before what is true of the present state.
fn local_answers(model: &Model, buffer: &mut Buffer, area: Rect) {
    let (theme, first) = (model.theme, model.watch.indicators.len());
    let Some(session) = &model.session else { return };
    let here = session.walk.answer_here();
    for (row, answer) in session.walk.answers().iter().rev().enumerate() {
        let is_here = here.is_some_and(|here| Arc::ptr_eq(here, answer));
        let sign = if is_here { theme.sign(Sign::Here) } else { " " };
        let style = if is_here { Style::new() } else { theme.quiet() };
        let line = Line::from(vec![span(format!("{sign} "), theme.accent()), span(answer.sentence(), style)]);
        put(buffer, area, (first + row) as u16, &line, theme);
    }
}

/// Rounds or cycles, whichever the search has.
fn second(model: &Model, buffer: &mut Buffer, area: Rect) {
    let (theme, watch) = (model.theme, &model.watch);
    if area.height < 2 {
        return;
    }
    let for_cycles = watch
        .look
        .as_ref()
        .is_some_and(|look| look.rejected > 0 || look.largest_component.is_some() || look.partitions.is_some());
    let rounds = !watch.rounds.is_empty();
    let mut area = area;
    if !watch.workers.is_empty() {
        let inner = heading(theme, buffer, area, "States of each process", false);
        workers(theme, watch, buffer, inner);
        return;
    }
    if rounds {
        let height = if for_cycles { area.height / 2 } else { area.height };
        let inner = heading(theme, buffer, Rect { height, ..area }, "States for each bound", false);
        bounds(theme, watch, buffer, inner);
        area = Rect { y: area.y + height, height: area.height - height, ..area };
    }
    if for_cycles || !rounds {
        let inner = heading(theme, buffer, area, "Cycles", false);
        cycles(theme, watch, buffer, inner);
    }
}

fn bounds(theme: Theme, watch: &Watch, buffer: &mut Buffer, area: Rect) {
    let most = watch.progress.states.max(watch.rounds.last().map_or(1, |round| round.states)).max(1);
    let columns = usize::from(area.width).saturating_sub(20);
    let current = watch.rounds.last().map(|last| (last.bound + 1, watch.progress.states, None));
    let finished = watch.rounds.iter().map(|round| (round.bound, round.states, Some(round.frontier)));
    let rows: Vec<_> = finished.chain(current.filter(|_| watch.running)).collect();
    let skipped = rows.len().saturating_sub(usize::from(area.height));
    for (row, (bound, states, frontier)) in rows.into_iter().skip(skipped).enumerate() {
        let share = states as f64 / most as f64;
        let sign = if frontier.is_some() { theme.sign(Sign::Good) } else { theme.sign(Sign::Loop) };
        let line = Line::from(vec![
            span(format!("{bound:>3} {sign} "), theme.quiet()),
            span(pad(&bar(theme, share, columns), columns, theme), theme.accent()),
            span(format!(" {}", rounded(states)), Style::new()),
        ]);
        put(buffer, area, row as u16, &line, theme);
    }
}

/// A row for each process, with a bar for its states; the one that others wait for most waits least.
fn workers(theme: Theme, watch: &Watch, buffer: &mut Buffer, area: Rect) {
    let most = watch.workers.iter().map(|worker| worker.states).max().unwrap_or(0).max(1);
    let seconds = watch.progress.seconds.max(1e-6);
    for (row, (number, worker)) in (1..).zip(&watch.workers).take(usize::from(area.height)).enumerate() {
        let waits = (100.0 * worker.waited_seconds / seconds).min(100.0);
        let host = worker.host.as_ref().map_or(String::new(), |host| format!("  {host}"));
        let text = format!(" {}, waits {waits:.0} %{host}", rounded(worker.states));
        let columns = usize::from(area.width).saturating_sub(4 + width(&text)).clamp(4, 20);
        let share = worker.states as f64 / most as f64;
        let line = Line::from(vec![
            span(format!("{number:>3} "), theme.quiet()),
            span(pad(&bar(theme, share, columns), columns, theme), theme.accent()),
            span(text, Style::new()),
        ]);
        put(buffer, area, row as u16, &line, theme);
    }
}

fn cycles(theme: Theme, watch: &Watch, buffer: &mut Buffer, area: Rect) {
    let Some(look) = &watch.look else {
        let said = if watch.running { "nothing is known yet" } else { "over before one could look" };
        put(buffer, area, 0, &Line::from(span(said, theme.quiet())), theme);
        return;
    };
    let mut lines = Vec::new();
    if look.rejected > 0 {
        let count = counted(look.rejected, "candidate");
        let said = format!("{count} rejected (ways back to known states); lately:");
        lines.extend(wrap(&said, usize::from(area.width)).into_iter().map(|line| Line::from(span(line, Style::new()))));
        for (reason, _) in &watch.reasons {
            // Why is what one wants to know: it is never cut.
            for (row, text) in wrap(reason, usize::from(area.width).saturating_sub(4)).into_iter().enumerate() {
                let sign = if row == 0 { theme.sign(Sign::Bad) } else { " " };
                lines.push(Line::from(span(format!("  {sign} {text}"), theme.quiet())));
            }
        }
    }
    if let Some(largest) = look.largest_component {
        lines.insert(0, Line::from(span(format!("largest component: {}", counted(largest, "state")), Style::new())));
    }
    if let Some(partitions) = look.partitions {
        lines.insert(0, Line::from(span(format!("{} left", counted(partitions, "partition")), Style::new())));
    }
    if lines.is_empty() {
        let said = if look.tells_of_cycles { "none was met yet" } else { "this search does not tell of any" };
        lines.push(Line::from(span(said, theme.quiet())));
    }
    for (row, line) in lines.iter().enumerate() {
        put(buffer, area, row as u16, line, theme);
    }
}

fn path_title(model: &Model) -> String {
    match (&model.frozen, &model.watch.look) {
        (Some(frozen), _) => {
            let count = frozen.look.before + frozen.look.path.len() as u64;
            let at = frozen.look.before + frozen.cursor.at as u64 + 1;
            format!("Kept path, step {at} of {count}")
        }
        (None, Some(look)) if !look.from_initial => "Its path, from a state that waited".to_owned(),
        (None, _) => "Its path now".to_owned(),
    }
}

/// The end of the path that the search is at, in lanes.
fn current_path(model: &Model, buffer: &mut Buffer, area: Rect) {
    let theme = model.theme;
    if area.height == 0 || area.width < 20 {
        return;
    }
    let shown = model.frozen.as_ref().map(|frozen| (&frozen.look, Some(frozen.cursor.at)));
    let Some((look, cursor)) = shown.or(model.watch.look.as_ref().map(|look| (look, None))) else { return };
    let mut pids: Vec<(u8, &str)> = look.path.iter().map(|step| (step.pid, step.process.as_str())).collect();
    pids.sort_unstable();
    pids.dedup();
    let room = area.width.saturating_sub(7);
    pids.truncate(Lanes::most(room));
    let plan = Lanes::of(pids.len(), room);
    let lane = plan.width;
    for (index, (pid, name)) in pids.iter().enumerate() {
        let x = area.x + 7 + index as u16 * lane;
        let number = pid.to_string();
        let name = if plan.beside.is_some() { number.as_str() } else { name };
        let name = fit(name, usize::from(lane.saturating_sub(1)), theme);
        buffer.set_string(x, area.y, name, theme.process(*pid).patch(theme.strong()));
    }
    let rows = usize::from(area.height.saturating_sub(1));
    let first = match cursor {
        Some(at) => (at + 1).saturating_sub(rows.saturating_sub(rows / 3)).min(look.path.len().saturating_sub(rows)),
        None => look.path.len().saturating_sub(rows),
    };
    for (row, (index, step)) in look.path.iter().enumerate().skip(first).take(rows).enumerate() {
        let y = row as u16 + 1;
        let number = look.before + index as u64 + 1;
        put(buffer, area, y, &Line::from(span(format!("{number:>6} "), theme.quiet())), theme);
        for (index, (pid, _)) in pids.iter().enumerate() {
            let x = area.x + 7 + index as u16 * lane;
            if *pid == step.pid || step.partner == Some(*pid) {
                let text = if *pid == step.pid && plan.beside.is_none() { step.text.as_str() } else { "" };
                let text = fit(
                    format!("{} {text}", theme.sign(Sign::Step)).trim_end(),
                    usize::from(lane.saturating_sub(1)),
                    theme,
                );
                buffer.set_string(x, area.y + y, text, theme.process(*pid));
            } else {
                buffer.set_string(x, area.y + y, theme.sign(Sign::Down), theme.quiet());
            }
        }
        if let Some(beside) = plan.beside {
            let inner = Rect { x: area.x + 7 + beside, width: room - beside, ..area };
            let who = span(step.process.clone(), theme.process(step.pid));
            put(buffer, inner, y, &Line::from(vec![who, span(format!("  {}", step.text), Style::new())]), theme);
        }
        if cursor == Some(index) {
            mark(buffer, area, y, theme.cursor());
        }
    }
}

/// The text, each line with how often it was in a path that was shown. If it does not fit, the hottest part.
fn heat_strip(model: &Model, buffer: &mut Buffer, area: Rect) {
    let theme = model.theme;
    let Some(heat) = model.watch.heat.get(&model.source.name) else {
        put(buffer, area, 0, &Line::from(span("nowhere yet", theme.quiet())), theme);
        return;
    };
    let most = heat.values().copied().max().unwrap_or(1).max(1);
    let rows = usize::from(area.height);
    let (Some(first), Some(last)) = (heat.keys().next(), heat.keys().next_back()) else { return };
    let (first, last) = (*first as usize, *last as usize);
    let warmth = |from: usize| heat.range(from as u32..(from + rows) as u32).map(|(_, count)| *count).sum::<u64>();
    let start = if last - first < rows {
        first
    } else {
        (first..=last + 1 - rows).max_by_key(|from| (warmth(*from), std::cmp::Reverse(*from))).unwrap_or(first)
    };
    for row in 0..rows {
        let number = start + row;
        let Some(text) = model.source.lines.get(number - 1) else { break };
        let count = heat.get(&(number as u32)).copied().unwrap_or(0);
        // A tenth of the hottest is half as warm.
        let level = if count == 0 { 0 } else { 1 + (3.0 * (count as f64 / most as f64).sqrt()).round() as usize };
        let style = if level > 2 { theme.changed() } else { theme.quiet() };
        let line = Line::from(vec![
            span(theme.heat(level).repeat(2), style),
            span(format!("{number:>4} "), theme.quiet()),
            span(text.trim_end().to_owned(), if count > 0 { Style::new() } else { theme.quiet() }),
        ]);
        put(buffer, area, row as u16, &line, theme);
    }
}
