//! The state graph: a row for each state, and the steps that lead to the marked one and from it.

use super::overlay::frame;
use super::text::{fit, mark, pad, put, span, wrap};
use crate::graph::GraphView;
use crate::model::Model;
use crate::theme::{Sign, Theme};
use fabius_analysis::state_graph::Edge;
use ratatui::buffer::Buffer;
use ratatui::layout::{Rect, Size};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

/// At most this many rows are for the steps that leave the marked state.
const STEPS_MAX: usize = 9;

/// At most this many lines are for all that is said of the marked state.
const LABEL_LINES_MAX: usize = 4;

/// Draws the graph over the whole screen.
pub(super) fn draw(model: &Model, view: &GraphView, buffer: &mut Buffer, body: Rect) {
    let theme = model.theme;
    let graph = &view.graph.graph;
    let part = if graph.stopped.is_some() { ", not all" } else { "" };
    let title = format!("State graph: {} states{part}, {} edges", graph.states, graph.edges.len());
    let inner = frame(theme, buffer, body, Size::new(body.width, body.height), &title);
    let columns = usize::from(inner.width);
    let mut below = vec![Line::from(span(theme.sign(Sign::Across).repeat(columns), theme.quiet()))];
    let label = graph.nodes.get(view.cursor.at).map(|node| node.label.join(", ")).unwrap_or_default();
    let label = wrap(&label, columns).into_iter().take(LABEL_LINES_MAX);
    below.extend(label.map(|line| Line::from(span(line, theme.strong()))));
    below.push(arriving(theme, view, columns));
    below.extend(leaving(theme, view, columns));
    let legend = format!(
        "{} here, {} run, {} wrong; 1-9 along a step, p back, n N run, enter goes there",
        theme.sign(Sign::Here),
        theme.sign(Sign::Step),
        theme.sign(Sign::Bad)
    );
    below.push(Line::from(span(fit(&legend, columns, theme), theme.quiet())));
    let rows = usize::from(inner.height).saturating_sub(below.len());
    let mut cursor = view.cursor;
    cursor.keep(graph.nodes.len(), rows);
    for (at, y) in (cursor.top..graph.nodes.len()).take(rows).zip(0..) {
        put(buffer, inner, y, &state(theme, view, at, columns), theme);
        if at == cursor.at {
            mark(buffer, inner, y, theme.cursor());
        }
    }
    for (line, y) in below.iter().zip(rows as u16..inner.height) {
        put(buffer, inner, y, line, theme);
    }
}

/// A row: where the walk is, whether the run goes through it, what is wrong, its number, and what is said of it.
fn state(theme: Theme, view: &GraphView, at: usize, columns: usize) -> Line<'static> {
    let node = &view.graph.graph.nodes[at];
    let here = view.here == Some(at);
    let mut spans = vec![
        span(if here { theme.sign(Sign::Here) } else { " " }, theme.accent().patch(theme.strong())),
        span(if view.on_run.contains(&at) { theme.sign(Sign::Step) } else { " " }, theme.accent()),
    ];
    let (sign, style) = match (&node.error, node.open, node.end) {
        (Some(_), ..) => (theme.sign(Sign::Bad), theme.bad()),
        (None, true, _) => (theme.sign(Sign::More), theme.quiet()),
        (None, false, true) => (theme.sign(Sign::Good), theme.good()),
        _ => (" ", Style::new()),
    };
    spans.push(span(format!("{sign} "), style));
    spans.push(span(format!("{at:>4} "), theme.quiet()));
    let mut said = node.label.join("  ");
    if let Some(error) = node.error.as_ref().filter(|error| !said.contains(error.as_str())) {
        said = format!("{error}  {said}");
    }
    let style = if node.transient { theme.quiet() } else { Style::new() };
    spans.push(span(fit(&said, columns.saturating_sub(9), theme), style));
    Line::from(spans)
}

/// From which states steps lead to the marked one.
fn arriving(theme: Theme, view: &GraphView, columns: usize) -> Line<'static> {
    let from: Vec<String> = view.arriving().map(|node| node.to_string()).collect();
    let distance = view.graph.distances.get(view.cursor.at).copied().unwrap_or_default();
    let nearest = match distance {
        0 => "the initial state".to_owned(),
        1 => "1 step from the initial state".to_owned(),
        steps => format!("{steps} steps from the initial state"),
    };
    let from = if from.is_empty() { String::new() } else { format!("; reached from {}", from.join(", ")) };
    Line::from(span(fit(&format!("{}: {nearest}{from}", view.cursor.at), columns, theme), theme.quiet()))
}

/// The steps that leave the marked state.
fn leaving(theme: Theme, view: &GraphView, columns: usize) -> Vec<Line<'static>> {
    let count = view.leaving().count();
    let mut lines: Vec<Line<'static>> =
        view.leaving().take(STEPS_MAX).enumerate().map(|(at, edge)| step(theme, view, at, edge, columns)).collect();
    if STEPS_MAX < count {
        lines.push(Line::from(span(format!("   {} more", count - STEPS_MAX), theme.quiet())));
    }
    if count == 0 {
        let node = view.graph.graph.nodes.get(view.cursor.at);
        let open = node.is_some_and(|node| node.open);
        let said = if open { "its steps were not explored" } else { "nothing leads on from here" };
        lines.push(Line::from(span(format!("   {said}"), theme.quiet())));
    }
    lines
}

fn step(theme: Theme, view: &GraphView, at: usize, edge: &Edge, columns: usize) -> Line<'static> {
    let on_run = view.run_edges.contains(&(edge.from, edge.to));
    let style = match (edge.fails, on_run) {
        (true, _) => theme.bad(),
        (false, true) => theme.accent(),
        (false, false) => Style::new(),
    };
    let sign: Span<'static> = span(if on_run { theme.sign(Sign::Step) } else { " " }, theme.accent());
    let to = pad(&format!("{} {}", theme.sign(Sign::Becomes), edge.to), 7, theme);
    let text = fit(&edge.steps.join("; "), columns.saturating_sub(12), theme);
    Line::from(vec![
        span(format!("{} ", at + 1), theme.strong()),
        sign,
        span(format!(" {to} "), style),
        span(text, style),
    ])
}
