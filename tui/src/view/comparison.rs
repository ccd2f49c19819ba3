//! Two runs beside one another, in a lane each.

use super::overlay::frame;
use super::text::{fit, mark, pad, put, span, width, wrap};
use crate::comparison::Comparison;
use crate::model::Model;
use crate::theme::{Sign, Theme};
use fabius_engine::comparison::{ComparedStep, StepRecord, ValueDifference, beginning, process_name, run_line};
use ratatui::buffer::Buffer;
use ratatui::layout::{Rect, Size};
use ratatui::style::Style;
use ratatui::text::Line;

/// At most this many lines are about the runs as wholes.
const REMARK_LINES_MAX: usize = 6;

/// Draws two runs over the whole screen.
pub(super) fn draw(model: &Model, comparison: &Comparison, buffer: &mut Buffer, body: Rect) {
    let theme = model.theme;
    let inner = frame(theme, buffer, body, Size::new(body.width, body.height), &comparison.title);
    let columns = usize::from(inner.width);
    let lane = columns.saturating_sub(3) / 2;
    let mut remarks = comparison.remarks.join("; ");
    if !remarks.is_empty() {
        remarks.push_str("; ");
    }
    remarks.push_str(&beginning(&comparison.runs));
    let mut lines: Vec<Line<'_>> = wrap(&remarks, columns)
        .into_iter()
        .take(REMARK_LINES_MAX)
        .map(|line| Line::from(span(line, Style::new())))
        .collect();
    let [first, second] = [&comparison.runs.first, &comparison.runs.second].map(run_line);
    let down = theme.sign(Sign::Down);
    let two = |left: &str, right: &str, style: Style| {
        let left = pad(&fit(left, lane, theme), lane, theme);
        Line::from(vec![
            span(left, style),
            span(format!(" {down} "), theme.quiet()),
            span(fit(right, lane, theme), style),
        ])
    };
    lines.push(two(&comparison.names[0], &comparison.names[1], theme.accent().patch(theme.strong())));
    lines.push(two(&first, &second, theme.quiet()));
    let legend = legend(theme, comparison, columns);
    let above = lines.len() as u16;
    let rows = inner.height.saturating_sub(above + legend.len() as u16);
    for (row, line) in lines.iter().enumerate() {
        put(buffer, inner, row as u16, line, theme);
    }
    let mut cursor = comparison.cursor;
    cursor.keep(comparison.rows.len(), usize::from(rows));
    for (at, y) in (cursor.top..comparison.rows.len()).zip(0..rows) {
        put(buffer, inner, above + y, &row(theme, comparison, at, lane), theme);
        if at == cursor.at {
            mark(buffer, inner, above + y, theme.cursor());
        }
    }
    for (line, y) in legend.iter().zip(above + rows..inner.height) {
        put(buffer, inner, y, line, theme);
    }
}

/// A row: the step of each run, and between them whether they differ.
fn row(theme: Theme, comparison: &Comparison, at: usize, lane: usize) -> Line<'static> {
    let (same, effect) = (comparison.is_same(at), comparison.is_other_effect(at));
    let sign = match (same, effect, theme.ascii) {
        (true, ..) => theme.sign(Sign::Down),
        (false, true, _) => "~",
        (false, false, true) => "#",
        (false, false, false) => "≠",
    };
    let style = if same { theme.quiet() } else { theme.changed().patch(theme.strong()) };
    let mut spans = cell(theme, comparison.step(at, 0), same, lane);
    spans.push(span(format!(" {sign} "), style));
    spans.extend(cell(theme, comparison.step(at, 1), same, lane));
    Line::from(spans)
}

/// The step of one run, exactly as wide as its lane.
fn cell(theme: Theme, step: Option<&StepRecord>, same: bool, lane: usize) -> Vec<ratatui::text::Span<'static>> {
    let Some(step) = step else { return vec![span(" ".repeat(lane), Style::new())] };
    let name = process_name(&step.process, usize::from(step.pid));
    let number = format!("{:>4} ", step.step);
    let effect = ComparedStep::effect(step);
    let effect = if effect.is_empty() || effect == step.text { String::new() } else { format!("  {effect}") };
    let room = lane.saturating_sub(width(&number) + width(&name) + 1);
    let text = pad(&fit(&format!("{}{effect}", step.text), room, theme), room, theme);
    let style = match (&step.fault, same) {
        (Some(_), _) => theme.bad(),
        (None, true) => theme.quiet(),
        (None, false) => Style::new(),
    };
    vec![
        span(number, theme.quiet()),
        span(fit(&name, lane.saturating_sub(width("    0 ")), theme), theme.process(step.pid)),
        span(" ", Style::new()),
        span(text, style),
    ]
}

/// Values that differ in the end, and what the signs and keys mean.
fn legend(theme: Theme, comparison: &Comparison, columns: usize) -> Vec<Line<'static>> {
    let value = |value: &ValueDifference| format!("{}: {} / {}", value.name, value.first, value.second);
    let said = |title: &str, values: &[ValueDifference]| {
        let values: Vec<String> = values.iter().map(value).collect();
        (!values.is_empty()).then(|| format!("{title}: {}", values.join(", ")))
    };
    let differing = [said("initially", &comparison.runs.initial), said("in the end", &comparison.runs.last)];
    let differing: Vec<String> = differing.into_iter().flatten().collect();
    let signs = if theme.ascii { "# other step, ~ other effect" } else { "≠ other step, ~ other effect" };
    let go = if comparison.ends.is_some() { ", enter goes there" } else { "" };
    let keys = format!("{signs}; n N differences{go}, esc closes");
    let lines = [differing.join("; "), keys].into_iter().filter(|line| !line.is_empty());
    lines.map(|line| Line::from(span(fit(&line, columns, theme), theme.quiet()))).collect()
}
