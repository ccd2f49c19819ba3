//! Where a formula and its parts hold along a run, as lines of text: a row for each part, a column for each position, or for several one
//! after the other at which all parts have the same values.

use fabius_program::ltl::truth::{Ribbon, Truth};

use super::text::{Layout, Line, Style};

/// Texts of parts are cut off behind this many columns.
const TEXT_MAX: usize = 34;
/// The last columns that are kept where there are too many.
const LAST_MAX: usize = 6;

/// Positions one after the other with the same values.
struct Column {
    /// The first one.
    first: usize,
    /// It begins the loop.
    begins_loop: bool,
}

/// The lines; the first one has the numbers of the steps.
pub fn lines(ribbon: &Ribbon, layout: Layout) -> Vec<Line> {
    let columns = columns(ribbon);
    let digits = ribbon.positions.saturating_sub(1).to_string().len();
    let indented =
        |row: &fabius_program::ltl::truth::Row| cut(&format!("{}{}", "  ".repeat(row.depth), row.text), layout);
    let heading = "after step";
    let width = ribbon.rows.iter().map(|row| indented(row).chars().count()).max().unwrap_or(0).max(heading.len());
    let cell = digits + 1;
    let loops = usize::from(ribbon.back_to.is_some()) * 2;
    let room = (layout.width.saturating_sub(width + loops + 6) / cell).max(LAST_MAX + 2);
    let (shown, left_out) = shown(&columns, room);
    let mut lines =
        vec![line(vec![(Style::Faint, format!("{heading:<width$}"))], &shown, left_out, layout, |column| {
            (Style::Number, format!("{:>cell$}", column.first))
        })];
    for (number, row) in ribbon.rows.iter().enumerate() {
        let style = if row.is_proposition { Style::Name } else { Style::Statement };
        let begin = vec![(style, format!("{:<width$}", indented(row)))];
        lines.push(line(begin, &shown, left_out, layout, |column| {
            let decides = ribbon.decides == Some((number, column.first));
            let (style, sign) = sign(row.values[column.first], decides, layout);
            (style, format!("{sign:>cell$}"))
        }));
    }
    lines
}

/// What the signs mean.
pub fn legend(ribbon: &Ribbon, layout: Layout) -> Vec<Line> {
    let signs = if layout.unicode { ["●", "○", "?", "✗", "┆"] } else { ["T", "F", "?", "X", "|"] };
    let mut parts = vec![format!("{} true", signs[0]), format!("{} false", signs[1])];
    if ribbon.rows.iter().any(|row| row.values.contains(&None)) {
        let when = if ribbon.is_claim { "now and then, or without a value" } else { "depends on how the run goes on" };
        parts.push(format!("{} {when}", signs[2]));
    }
    match ribbon.decides.map(|(row, at)| ribbon.rows[row].values[at]) {
        Some(Some(false)) => parts.push(format!("{} false and decisive", signs[3])),
        Some(Some(true)) => parts.push(format!("{} true and decisive", if layout.unicode { "✓" } else { "!" })),
        _ => {}
    }
    if ribbon.back_to.is_some() {
        parts.push(format!("behind {} the loop", signs[4]));
    }
    if columns(ribbon).len() < ribbon.positions {
        parts.push("a column counts up to the next one".to_owned());
    }
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        match lines.last_mut() {
            Some(line) if line.chars().count() + part.chars().count() + 2 < layout.width => {
                line.push_str(&format!("; {part}"));
            }
            _ => lines.push(part),
        }
    }
    lines.into_iter().map(|line| vec![(Style::Faint, line)]).collect()
}

fn columns(ribbon: &Ribbon) -> Vec<Column> {
    let starts = ribbon.columns().into_iter();
    starts.map(|first| Column { first, begins_loop: ribbon.back_to == Some(first) }).collect()
}

/// The columns for which there is room, and behind how many of them some are left out.
fn shown(columns: &[Column], room: usize) -> (Vec<&Column>, Option<usize>) {
    if columns.len() <= room {
        return (columns.iter().collect(), None);
    }
    let before = room - LAST_MAX - 1;
    let behind = columns.len() - LAST_MAX;
    (columns[..before].iter().chain(&columns[behind..]).collect(), Some(before))
}

fn line(
    mut line: Line,
    columns: &[&Column],
    left_out: Option<usize>,
    layout: Layout,
    cell: impl Fn(&Column) -> (Style, String),
) -> Line {
    let dots = if layout.unicode { " …" } else { " ." };
    for (number, column) in columns.iter().enumerate() {
        if left_out == Some(number) {
            line.push((Style::Faint, dots.to_owned()));
        }
        if column.begins_loop {
            line.push((Style::Faint, if layout.unicode { " ┆" } else { " |" }.to_owned()));
        }
        line.push(cell(column));
    }
    line
}

fn sign(value: Truth, decides: bool, layout: Layout) -> (Style, &'static str) {
    match (value, decides, layout.unicode) {
        (Some(true), false, true) => (Style::New, "●"),
        (Some(true), false, false) => (Style::New, "T"),
        (Some(true), true, true) => (Style::Error, "✓"),
        (Some(true), true, false) => (Style::Error, "!"),
        (Some(false), false, true) => (Style::Old, "○"),
        (Some(false), false, false) => (Style::Old, "F"),
        (Some(false), true, true) => (Style::Error, "✗"),
        (Some(false), true, false) => (Style::Error, "X"),
        (None, ..) => (Style::Faint, "?"),
    }
}

/// A text, without its end if it is long.
fn cut(text: &str, layout: Layout) -> String {
    if text.chars().count() <= TEXT_MAX {
        return text.to_owned();
    }
    let dots = if layout.unicode { "…" } else { "..." };
    let kept: String = text.chars().take(TEXT_MAX - dots.chars().count()).collect();
    kept + dots
}
