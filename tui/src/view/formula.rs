//! Where the formula of a run holds: a row for each part, a column for each step at which something changes.

use super::text::{fit, pad, put, span, width, wrap};
use crate::model::Model;
use crate::session::Session;
use crate::theme::{Sign, Theme};
use fabius_witness::format::ribbon::{AFTER_STEP, Cell, Table};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

/// Columns' worth of room for the signs at the edges and that of the loop.
const MARGIN: usize = 3;

/// Draws the table, with the column of the present state marked; around it, what the formula says and what the signs mean.
pub fn draw(model: &Model, session: &Session, buffer: &mut Buffer, area: Rect) {
    let theme = model.theme;
    let columns = usize::from(area.width);
    let table = match &session.formula {
        Ok(table) => table,
        Err(why) => {
            let lines = wrap(why, columns).into_iter().map(|line| Line::from(span(line, theme.quiet())));
            return put_all(buffer, area, lines.collect(), theme);
        }
    };
    let here = table.column_after(session.walk.number(session.walk.here()));
    let rows = table_lines(theme, table, here, columns);
    let height = usize::from(area.height);
    let says = table.sentence.as_ref().map(|sentence| wrap(&format!("it says: {sentence}"), columns));
    let legend = wrap(&legend(theme, table), columns);
    let quiet = |lines: Vec<String>| lines.into_iter().map(|line| Line::from(span(line, theme.quiet())));
    // The table comes first where there is no room for everything.
    let mut room = height.saturating_sub(rows.len());
    let mut lines: Vec<Line<'_>> = Vec::new();
    if let Some(says) = says.filter(|says| says.len() <= room) {
        room -= says.len();
        lines.extend(quiet(says));
    }
    lines.extend(rows);
    if legend.len() <= room {
        lines.extend(quiet(legend));
    }
    put_all(buffer, area, lines, theme);
}

fn put_all(buffer: &mut Buffer, area: Rect, lines: Vec<Line<'_>>, theme: Theme) {
    for (row, line) in lines.into_iter().take(usize::from(area.height)).enumerate() {
        put(buffer, area, row as u16, &line, theme);
    }
}

/// The lines of the table: the numbers of the steps, then a line for each part.
fn table_lines(theme: Theme, table: &Table, here: Option<usize>, room: usize) -> Vec<Line<'static>> {
    let name = |text: &str, depth: usize| format!("{}{text}", "  ".repeat(depth));
    let longest = table.rows.iter().map(|row| width(&name(&row.text, row.depth))).max().unwrap_or(0);
    let digits = table.positions.saturating_sub(1).to_string().len();
    // The columns get half of the room where they need as much.
    let wanted = ((table.columns.len() + MARGIN) * (digits + 1)).min(room / 2);
    let names = longest.max(AFTER_STEP.len()).min((room - wanted).max(AFTER_STEP.len()));
    let window = Window::around(table, here, room.saturating_sub(names) / (digits + 1), digits + 1);
    let head = pad(AFTER_STEP, names, theme);
    let numbers = |at: usize| (table.columns[at].first.to_string(), theme.quiet());
    let mut lines = vec![window.line(theme, table, here, span(head, theme.quiet()), &numbers)];
    for row in &table.rows {
        let style = if row.is_proposition { theme.accent() } else { Style::new() };
        let begin = span(pad(&fit(&name(&row.text, row.depth), names, theme), names, theme), style);
        let cell = |at: usize| (row.cells[at].sign(!theme.ascii).to_owned(), style_of(theme, row.cells[at]));
        lines.push(window.line(theme, table, here, begin, &cell));
    }
    lines
}

fn style_of(theme: Theme, cell: Cell) -> Style {
    match cell {
        Cell::True => theme.good(),
        Cell::False => Style::new(),
        Cell::Undetermined => theme.changed(),
        Cell::FalseDecisive | Cell::TrueDecisive => theme.bad().patch(theme.strong()),
    }
}

/// The columns that are shown.
struct Window {
    first: usize,
    end: usize,
    cell: usize,
}

impl Window {
    /// Those around the present state, as many as there is room for.
    fn around(table: &Table, here: Option<usize>, room: usize, cell: usize) -> Self {
        let count = table.columns.len();
        let fit = room.saturating_sub(MARGIN).max(1);
        let first = here.unwrap_or(0).saturating_sub(fit / 2).min(count.saturating_sub(fit));
        Self { first, end: (first + fit).min(count), cell }
    }

    fn line(
        &self,
        theme: Theme,
        table: &Table,
        here: Option<usize>,
        begin: Span<'static>,
        cell: &dyn Fn(usize) -> (String, Style),
    ) -> Line<'static> {
        let more = if theme.ascii { "." } else { "…" };
        let edge = |is_cut: bool| span(if is_cut { format!(" {more}") } else { String::new() }, theme.quiet());
        let mut spans = vec![begin, edge(0 < self.first)];
        for at in self.first..self.end {
            if table.loop_position == Some(table.columns[at].first) {
                spans.push(span(format!(" {}", theme.sign(Sign::Down)), theme.accent()));
            }
            let (text, style) = cell(at);
            let marked = here == Some(at);
            let style = if marked { style.patch(theme.cursor()) } else { style };
            let gap = self.cell.saturating_sub(width(&text)).saturating_sub(1);
            spans.push(span(" ", Style::new()));
            spans.push(span(format!("{}{text}", " ".repeat(gap)), style));
        }
        spans.push(edge(self.end < table.columns.len()));
        Line::from(spans)
    }
}

/// What the signs mean.
fn legend(theme: Theme, table: &Table) -> String {
    let signs = table.legend.iter().map(|known| format!("{} {}", known.cell.sign(!theme.ascii), known.meaning));
    let behind = table.loop_position.map(|_| format!("behind {} the loop", theme.sign(Sign::Down)));
    signs.chain(behind).chain(table.remarks.iter().cloned()).collect::<Vec<_>>().join("; ")
}
