//! The run: as lanes, as a story, as a tree of what was tried; its loop as a ring; and where its formula holds.

use super::text::{fit, mark, pad, put, span, width, wrap};
use crate::model::{Model, Panel, TraceTab};
use crate::session::{Row, Session, TreeRow};
use crate::theme::{Sign, Theme};
use fabius_explore::{NodeId, sentence};
use fabius_witness::Step;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;

/// Columns of the number of a step, and of what stands before it.
const NUMBER: u16 = 7;
/// A run is shown in lanes if there are this many columns for them.
const LANE_MIN: u16 = 9;
/// The statements stand in lanes of at least this width; else beside lanes of [`NARROW`] columns.
const LANE_WITH_TEXT: u16 = 14;
/// A lane that shows only who moves.
const NARROW: u16 = 3;

/// How wide lanes are, and where statements stand that do not fit into them.
#[derive(Clone, Copy)]
pub(super) struct Lanes {
    /// Columns of a lane.
    pub width: u16,
    /// Columns from the beginning of the first lane to the statements, if they stand beside the lanes.
    pub beside: Option<u16>,
}

impl Lanes {
    /// Lanes for this many processes in this many columns.
    pub fn of(count: usize, room: u16) -> Self {
        let count = count.max(1) as u16;
        match room / count {
            width if width >= LANE_WITH_TEXT || count == 1 => Self { width, beside: None },
            _ => Self { width: NARROW, beside: Some((count * NARROW + 1).min(room)) },
        }
    }

    /// How many lanes there may be.
    pub fn most(room: u16) -> usize {
        usize::from((room / 2 / NARROW).max(1))
    }
}

/// Draws the run.
pub fn draw(model: &Model, buffer: &mut Buffer, area: Rect) {
    let Some(session) = &model.session else { return };
    if area.height == 0 {
        return;
    }
    match model.tab {
        // There is no room for a lane.
        TraceTab::Lanes if area.width < NUMBER + LANE_MIN => story(model, session, buffer, area),
        TraceTab::Lanes => lanes(model, session, buffer, area),
        TraceTab::Story => story(model, session, buffer, area),
        TraceTab::Tree => tree(model, session, buffer, area),
        TraceTab::Ring => ring(model, session, buffer, area),
        TraceTab::Formula => super::formula::draw(model, session, buffer, area),
    }
}

/// What stands before a step: the bracket of the loop, a bookmark or where one is, the number.
fn before(model: &Model, session: &Session, row: &Row) -> Vec<ratatui::text::Span<'static>> {
    let theme = model.theme;
    let walk = &session.walk;
    let depth = walk.depth(row.node);
    let bracket = match walk.lasso() {
        Some(lasso) if session.is_row_at(row.node, walk.depth(lasso.end)) => {
            if theme.ascii {
                "`"
            } else {
                "╰"
            }
        }
        Some(lasso) if session.is_row_at(row.node, walk.depth(lasso.start)) => {
            if theme.ascii {
                ","
            } else {
                "╭"
            }
        }
        Some(lasso) if walk.depth(lasso.start) < depth && depth < walk.depth(lasso.end) => theme.sign(Sign::Down),
        _ => " ",
    };
    let here = session.is_row_at(row.node, walk.depth(walk.here()));
    let sign = match (here, walk.name(row.node)) {
        (true, _) => theme.sign(Sign::Here),
        (false, _) if row.must_wait => theme.sign(Sign::Held),
        (false, Some(_)) => theme.sign(Sign::Bookmark),
        (false, None) => " ",
    };
    let number = match &row.step {
        Some(step) if step.claim.is_some() => "    ".to_owned(),
        Some(step) => format!("{:>4}", step.number),
        None => format!("{:>4}", 0),
    };
    let style = if here { theme.accent().patch(theme.strong()) } else { theme.quiet() };
    vec![span(bracket, theme.accent()), span(sign, style), span(format!("{number} "), style)]
}

/// The processes that have a lane.
fn lane_owners(session: &Session, room: u16) -> Vec<(u8, String)> {
    let lanes_max = Lanes::most(room);
    let mut owners: Vec<(u8, String)> = Vec::new();
    let mut add = |pid: u8, name: &str| {
        if !owners.iter().any(|(known, _)| *known == pid) {
            owners.push((pid, name.to_owned()));
        }
    };
    for process in &session.processes {
        add(process.status.pid, &process.status.name);
    }
    for step in session.page.rows.iter().filter_map(|row| row.step.as_ref()) {
        add(step.actor.pid, &step.actor.name);
        if let Some(partner) = &step.partner {
            add(partner.pid, &partner.name);
        }
    }
    if owners.len() > lanes_max {
        // Who does nothing on this page has no lane.
        let acts = |pid: u8| {
            let steps = session.page.rows.iter().filter_map(|row| row.step.as_ref());
            steps.into_iter().any(|step| step.actor.pid == pid || step.partner.as_ref().is_some_and(|p| p.pid == pid))
        };
        owners.retain(|(pid, _)| acts(*pid));
        owners.truncate(lanes_max);
    }
    owners.sort_by_key(|(pid, _)| *pid);
    owners
}

fn lanes(model: &Model, session: &Session, buffer: &mut Buffer, area: Rect) {
    let theme = model.theme;
    let room = area.width.saturating_sub(NUMBER);
    let owners = lane_owners(session, room);
    let plan = Lanes::of(owners.len(), room);
    let lane = plan.width;
    let column = |pid: u8| {
        let index = owners.iter().position(|(owner, _)| *owner == pid)?;
        Some(area.x + NUMBER + index as u16 * lane)
    };
    for (pid, name) in &owners {
        let Some(x) = column(*pid) else { continue };
        let name = if plan.beside.is_some() { &pid.to_string() } else { name };
        let text = fit(name, usize::from(lane.saturating_sub(1)), theme);
        buffer.set_string(x, area.y, text, theme.process(*pid).patch(theme.strong()));
    }
    for (index, row) in session.page.rows.iter().enumerate() {
        let y = index as u16 + 1;
        if y >= area.height {
            break;
        }
        put(buffer, Rect { width: NUMBER.min(area.width), ..area }, y, &Line::from(before(model, session, row)), theme);
        for (pid, _) in &owners {
            if let Some(x) = column(*pid) {
                buffer.set_string(x, area.y + y, theme.sign(Sign::Down), theme.quiet());
            }
        }
        match &row.step {
            Some(step) => {
                let mut line = BufferLine { buffer, y: area.y + y };
                arrows(theme, session, row, &mut line, lane, &column);
                boxed(theme, step, &mut line, lane, &column);
                if let Some(beside) = plan.beside {
                    let inner = Rect { x: area.x + NUMBER + beside, width: room - beside, ..area };
                    put(buffer, inner, y, &Line::from(named(theme, step)), theme);
                }
            }
            None => {
                let text = fit("initial state", usize::from(room), theme);
                buffer.set_string(area.x + NUMBER, area.y + y, text, theme.quiet());
            }
        }
        if model.panel == Panel::Trace && session.page.first + index == model.cursors[Panel::Trace.index()].at {
            mark(buffer, area, y, theme.cursor());
        }
    }
}

/// Who moves, and what is executed.
fn named(theme: Theme, step: &Step) -> Vec<ratatui::text::Span<'static>> {
    let style = if step.fault.is_some() { theme.bad() } else { Style::new() };
    let mut spans = vec![
        span(step.actor.name.clone(), theme.process(step.actor.pid)),
        span(format!("  {}", step.actor.text), style),
    ];
    if let Some(partner) = &step.partner {
        let to = format!(" {} {}", theme.sign(Sign::Becomes), partner.name);
        spans.push(span(to, theme.process(partner.pid)));
    }
    for held in &step.held_back {
        spans.push(span(format!("  {} {} held back", theme.sign(Sign::Held), held.name), theme.held()));
    }
    spans
}

/// A line of the screen.
struct BufferLine<'a> {
    buffer: &'a mut Buffer,
    y: u16,
}

/// A step in the lane of its process; a rendezvous in both.
fn boxed(theme: Theme, step: &Step, line: &mut BufferLine<'_>, lane: u16, column: &dyn Fn(u8) -> Option<u16>) {
    let BufferLine { buffer, y } = line;
    let y = *y;
    if let Some(claim) = &step.claim {
        if let Some(x) = column(0) {
            buffer.set_string(x, y, fit(&claim.sentence(), usize::from(lane) * 2, theme), theme.quiet());
        }
        return;
    }
    let room = if lane <= NARROW { 0 } else { usize::from(lane).saturating_sub(3) };
    let mut draw = |pid: u8, text: &str| {
        let Some(x) = column(pid) else { return };
        let style = if step.fault.is_some() { theme.bad() } else { theme.process(pid) };
        let sign = if step.fault.is_some() { Sign::Bad } else { Sign::Step };
        buffer.set_string(x, y, theme.sign(sign), style);
        buffer.set_string(x + 1, y, " ", Style::new());
        buffer.set_string(x + 2, y, fit(text, room, theme), style);
    };
    draw(step.actor.pid, &step.actor.text);
    if let Some(partner) = &step.partner {
        draw(partner.pid, &partner.text);
    }
    let held: Vec<&str> = step.held_back.iter().map(|held| held.name.as_str()).collect();
    if !held.is_empty() {
        for held in &step.held_back {
            if let Some(x) = column(held.pid) {
                buffer.set_string(x, y, theme.sign(Sign::Held), theme.held());
                buffer.set_string(x + 2, y, fit("held back", room, theme), theme.held());
            }
        }
    }
}

/// The messages that a step receives: a line from the lane of the sender.
fn arrows(
    theme: Theme,
    session: &Session,
    row: &Row,
    line: &mut BufferLine<'_>,
    lane: u16,
    column: &dyn Fn(u8) -> Option<u16>,
) {
    let BufferLine { buffer, y } = line;
    let y = *y;
    let Some(step) = &row.step else { return };
    let received = session.page.arrows.iter().filter(|arrow| arrow.to == row.node);
    for arrow in received {
        let sender = match arrow.from == row.node {
            true => Some(step.actor.pid),
            false => session.walk.mover(arrow.from),
        };
        let receiver = match (&step.partner, arrow.from == row.node) {
            (Some(partner), true) => partner.pid,
            _ => step.actor.pid,
        };
        let (Some(from), Some(to)) = (sender.and_then(column), column(receiver)) else { continue };
        let label = fit(&arrow.channel, usize::from(lane / 2), theme);
        let across = theme.sign(Sign::Across);
        if from < to {
            (from + 1..to).for_each(|x| {
                buffer.set_string(x, y, across, theme.quiet());
            });
            buffer.set_string(to.saturating_sub(1), y, theme.sign(Sign::Right), theme.quiet());
            let at = to.saturating_sub(2 + width(&label) as u16).max(from + 1);
            buffer.set_string(at, y, label, theme.quiet());
        } else if to < from {
            // It ends behind the text of the receiver.
            let own = step.partner.as_ref().filter(|partner| partner.pid == receiver).unwrap_or(&step.actor);
            let room = if lane <= NARROW { 0 } else { usize::from(lane).saturating_sub(3) };
            let head = (to + 3 + width(&own.text).min(room) as u16).min(from.saturating_sub(1));
            (head + 1..from).for_each(|x| {
                buffer.set_string(x, y, across, theme.quiet());
            });
            buffer.set_string(head, y, theme.sign(Sign::Left), theme.quiet());
            let label = fit(&label, usize::from(from.saturating_sub(head + 2)), theme);
            buffer.set_string(head + 2, y, label, theme.quiet());
        }
    }
}

fn story(model: &Model, session: &Session, buffer: &mut Buffer, area: Rect) {
    let theme = model.theme;
    let line = Line::from(span(" ".repeat(7) + "what happens", theme.quiet()));
    put(buffer, area, 0, &line, theme);
    for (index, row) in session.page.rows.iter().enumerate() {
        let y = index as u16 + 1;
        let mut spans = before(model, session, row);
        match &row.step {
            Some(step) => {
                let style = if step.fault.is_some() { theme.bad() } else { Style::new() };
                for held in &step.held_back {
                    spans.push(span(format!("{} {} held back; ", theme.sign(Sign::Held), held.name), theme.held()));
                }
                let text = sentence(step);
                let name = step.actor.name.clone();
                match text.strip_prefix(&name) {
                    Some(rest) => {
                        spans.push(span(name, theme.process(step.actor.pid)));
                        spans.push(span(rest.to_owned(), style));
                    }
                    None => spans.push(span(text, style)),
                }
            }
            None => spans.push(span("the initial state", theme.quiet())),
        }
        put(buffer, area, y, &Line::from(spans), theme);
        if model.panel == Panel::Trace && session.page.first + index == model.cursors[Panel::Trace.index()].at {
            mark(buffer, area, y, theme.cursor());
        }
    }
}

fn tree(model: &Model, session: &Session, buffer: &mut Buffer, area: Rect) {
    let theme = model.theme;
    let top = model.tree_cursor.top;
    for (index, row) in session.tree.iter().enumerate().skip(top).take(usize::from(area.height)) {
        let y = (index - top) as u16;
        put(buffer, area, y, &Line::from(tree_line(theme, session, row)), theme);
        if model.panel == Panel::Trace && index == model.tree_cursor.at {
            mark(buffer, area, y, theme.cursor());
        }
    }
}

fn tree_line(theme: Theme, session: &Session, row: &TreeRow) -> Vec<ratatui::text::Span<'static>> {
    let walk = &session.walk;
    let indent = theme.sign(Sign::Down).to_owned() + " ";
    let mut spans = vec![span(indent.repeat(row.indent.saturating_sub(1)), theme.quiet())];
    if row.indent > 0 {
        let branch = if row.last { Sign::BranchEnd } else { Sign::Branch };
        spans.push(span(format!("{}{}", theme.sign(branch), theme.sign(Sign::Across)), theme.quiet()));
    }
    let here = row.node == walk.here();
    let on_line = walk.line().get(walk.depth(row.node)) == Some(&row.node);
    let style = if here {
        theme.accent().patch(theme.strong())
    } else if on_line {
        Style::new()
    } else {
        theme.quiet()
    };
    let sign = if here {
        Sign::Here
    } else if on_line {
        Sign::Step
    } else {
        Sign::Open
    };
    let number = walk.number(row.node);
    let steps = match row.steps {
        0 => "start".to_owned(),
        1 => format!("step {number}"),
        more => format!("steps {} to {number}", number + 1 - more.min(number)),
    };
    spans.push(span(format!("{} {steps}", theme.sign(sign)), style));
    if let Some(name) = walk.name(row.node) {
        spans.push(span(format!(" {} {name}", theme.sign(Sign::Bookmark)), theme.changed()));
    }
    if !row.says.is_empty() {
        spans.push(span(format!("  {}", row.says), style));
    }
    // Where it goes wrong, not everywhere from where it can.
    if walk.leads_to_error(row.node) && !walk.children(row.node).into_iter().any(|child| walk.leads_to_error(child)) {
        spans.push(span(format!(" {}", theme.sign(Sign::Bad)), theme.bad()));
    }
    spans
}

/// The loop: its steps one below the other, and a line that leads from the last one back to the first one.
fn ring(model: &Model, session: &Session, buffer: &mut Buffer, area: Rect) {
    let theme = model.theme;
    let walk = &session.walk;
    let Some(lasso) = walk.lasso() else {
        let text = "This run has no loop. S checks all properties; a livelock is a run with a loop.";
        for (row, line) in wrap(text, usize::from(area.width)).into_iter().enumerate() {
            put(buffer, area, row as u16, &Line::from(span(line, theme.quiet())), theme);
        }
        return;
    };
    let (start, end) = (walk.depth(lasso.start), walk.depth(lasso.end));
    let constant = session.unchanged.as_slice();
    let below = 2 + constant.len().min(3) as u16;
    let rows = area.height.saturating_sub(1 + below);
    let prefix = walk.number(lasso.start);
    let lead = match prefix {
        0 => "from the beginning, again and again:".to_owned(),
        1 => "1 step leads here; then again and again:".to_owned(),
        more => format!("{more} steps lead here; then again and again:"),
    };
    put(buffer, area, 0, &Line::from(span(lead, theme.quiet())), theme);
    let nodes = walk.line().get(start + 1..=end).unwrap_or_default().iter().copied();
    let nodes: Vec<NodeId> = nodes.filter(|node| session.claim_moves || !session.is_claims(*node)).collect();
    let here = walk.depth(walk.here());
    let at = nodes.partition_point(|node| walk.depth(*node) <= here).checked_sub(1);
    let first = at.unwrap_or(0).saturating_sub(usize::from(rows / 2));
    let first = first.min(nodes.len().saturating_sub(usize::from(rows)));
    let mut y = 1;
    if nodes.is_empty() {
        put(
            buffer,
            area,
            y,
            &Line::from(span("the processes have stopped; only the claim moves", theme.quiet())),
            theme,
        );
        y += 1;
    }
    for (index, node) in nodes.iter().copied().enumerate().skip(first).take(usize::from(rows)) {
        let Some(step) = walk.step_to(node) else { continue };
        let is_here = at == Some(index) && here <= end;
        let (left, right) = ring_signs(theme, index == 0, index + 1 == nodes.len(), is_here);
        let room = usize::from(area.width).saturating_sub(width(&left) + width(&right));
        let text = format!("{:>4} {}  {}", step.number, step.actor.name, step.actor.text);
        let style = if is_here { theme.accent().patch(theme.strong()) } else { theme.process(step.actor.pid) };
        let line = Line::from(vec![
            span(left, theme.accent()),
            span(pad(&text, room, theme), style),
            span(right, theme.accent()),
        ]);
        put(buffer, area, y, &line, theme);
        y += 1;
    }
    unchanging(theme, constant, buffer, Rect { y: area.y + y, height: area.height.saturating_sub(y), ..area });
}

/// What stands left and right of a step of the loop.
fn ring_signs(theme: Theme, first: bool, last: bool, here: bool) -> (String, String) {
    let at = if here { theme.sign(Sign::Here) } else { " " };
    let (left, right) = match (theme.ascii, first, last) {
        (false, true, true) => ("╶", "⟲"),
        (false, true, false) => ("╭▶", "─╮"),
        (false, false, true) => ("╰─", "◀╯"),
        (false, false, false) => ("│ ", " │"),
        (true, true, true) => ("- ", " @"),
        (true, true, false) => (",>", "-."),
        (true, false, true) => ("`-", "<'"),
        (true, false, false) => ("| ", " |"),
    };
    (format!("{left}{at}"), right.to_owned())
}

/// What never changes in the loop.
fn unchanging(theme: Theme, constant: &[(String, String)], buffer: &mut Buffer, area: Rect) {
    if constant.is_empty() {
        put(buffer, area, 0, &Line::from(span("every value changes in the loop", theme.quiet())), theme);
        return;
    }
    let values: Vec<String> = constant.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    let text = format!("never changes: {}", values.join(", "));
    for (row, line) in wrap(&text, usize::from(area.width)).into_iter().enumerate() {
        put(buffer, area, row as u16, &Line::from(span(line, Style::new())), theme);
    }
}
