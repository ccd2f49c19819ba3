//! Where a formula and its parts hold along a run, as a table: a row for each part, a column for each position, or for several one after the
//! other at which all parts have the same values. All user interfaces show this table; here it is also written as lines of text.

use super::text::{Layout, Line, Style};
use crate::confirm::Claim;
use crate::trace::Trace;
use fabius_program::ltl::truth::{Ribbon, Truth};
use serde::Serialize;

/// Texts of parts are cut off behind this many columns.
const TEXT_MAX: usize = 34;
/// The last columns that are kept where there are too many.
const LAST_MAX: usize = 6;
/// What the columns are.
pub const AFTER_STEP: &str = "after step";

/// A ribbon as a table.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Table {
    /// What the formula says, where that is easier to read than the formula.
    pub sentence: Option<String>,
    /// The number of positions that the columns stand for.
    pub positions: usize,
    /// The position to which the run goes back after the last one; none where only the beginning of the run is known.
    pub loop_position: Option<usize>,
    /// The columns, in order.
    pub columns: Vec<Column>,
    /// Some columns of a long run are left out.
    pub left_out: Option<LeftOut>,
    /// The rows, the formula first.
    pub rows: Vec<TableRow>,
    /// What the cells mean, of those that there are.
    pub legend: Vec<Meaning>,
    /// What else there is to know about the table.
    pub remarks: Vec<String>,
}

/// Positions one after the other at which all parts have the same values.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Column {
    /// The first one: the state after this number of steps.
    pub first: usize,
    /// The last one.
    pub last: usize,
    /// They are in the loop.
    pub in_loop: bool,
}

impl Column {
    /// Its heading: one number or two.
    pub fn label(&self) -> String {
        if self.first == self.last { self.first.to_string() } else { format!("{}–{}", self.first, self.last) }
    }
}

/// Columns that are left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct LeftOut {
    /// They were before the column with this index.
    pub before: usize,
    /// How many they are.
    pub count: usize,
}

/// A part of a formula, or a place or condition of a claim.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct TableRow {
    /// Its text.
    pub text: String,
    /// How deep it is in the formula: 0 of the formula itself.
    pub depth: usize,
    /// Whether it is about one state.
    pub is_proposition: bool,
    /// Its value in each column.
    pub cells: Vec<Cell>,
}

/// A value, and whether the value of the formula in the initial state follows from it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
pub enum Cell {
    /// True.
    True,
    /// False.
    False,
    /// Continuations of the run differ, or it has no value.
    Undetermined,
    /// False, and the formula is decided there.
    FalseDecisive,
    /// True, and the formula is decided there.
    TrueDecisive,
}

impl Cell {
    fn of(value: Truth, decides: bool) -> Self {
        match (value, decides) {
            (Some(true), false) => Self::True,
            (Some(true), true) => Self::TrueDecisive,
            (Some(false), false) => Self::False,
            (Some(false), true) => Self::FalseDecisive,
            (None, _) => Self::Undetermined,
        }
    }

    /// Its sign.
    pub fn sign(self, unicode: bool) -> &'static str {
        match (self, unicode) {
            (Self::True, true) => "●",
            (Self::True, false) => "T",
            (Self::False, true) => "○",
            (Self::False, false) => "F",
            (Self::Undetermined, _) => "?",
            (Self::FalseDecisive, true) => "✗",
            (Self::FalseDecisive, false) => "X",
            (Self::TrueDecisive, true) => "✓",
            (Self::TrueDecisive, false) => "!",
        }
    }

    /// Its name in classes of styles; the same as in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::True => "true",
            Self::False => "false",
            Self::Undetermined => "undetermined",
            Self::FalseDecisive => "false-decisive",
            Self::TrueDecisive => "true-decisive",
        }
    }

    fn style(self) -> Style {
        match self {
            Self::True => Style::New,
            Self::False => Style::Old,
            Self::Undetermined => Style::Faint,
            Self::FalseDecisive | Self::TrueDecisive => Style::Error,
        }
    }
}

/// What a cell means.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Meaning {
    /// The cell.
    pub cell: Cell,
    /// Its sign.
    pub sign: &'static str,
    /// What it means.
    pub meaning: &'static str,
}

impl Table {
    /// The table of a ribbon, with at most about this many columns (those in the middle of a long run are left out).
    pub fn of(ribbon: &Ribbon, columns_max: usize) -> Self {
        let all = columns(ribbon);
        let is_short = all.len() < ribbon.positions;
        let (columns, left_out) = shown(all, columns_max);
        let row = |(number, row): (usize, &fabius_program::ltl::truth::Row)| TableRow {
            text: row.text.clone(),
            depth: row.depth,
            is_proposition: row.is_proposition,
            cells: (columns.iter())
                .map(|column| Cell::of(row.values[column.first], ribbon.decides == Some((number, column.first))))
                .collect(),
        };
        let rows: Vec<TableRow> = ribbon.rows.iter().enumerate().map(row).collect();
        let legend = legend_of(ribbon, &rows);
        let mut remarks = Vec::new();
        if is_short {
            remarks.push("a column stands for all steps at which nothing in the table changes".to_owned());
        }
        Self {
            sentence: ribbon.sentence.clone(),
            positions: ribbon.positions,
            loop_position: ribbon.back_to,
            columns,
            left_out,
            rows,
            legend,
            remarks,
        }
    }

    /// The column of the state after this number of steps, if it is not left out. After the last step of a loop, the run is where the loop begins.
    pub fn column_after(&self, steps: usize) -> Option<usize> {
        let position = if steps < self.positions { steps } else { self.loop_position? };
        self.columns.iter().position(|column| (column.first..=column.last).contains(&position))
    }
}

/// What the table of a run shows.
pub fn heading(trace: &Trace) -> Option<&'static str> {
    let ribbon = trace.ribbon.as_ref()?;
    Some(match (ribbon.is_claim, trace.claim) {
        (true, _) => "where the claim goes, and which of its conditions are true",
        (false, Claim::Reaches) => "where the pattern holds",
        (false, _) => "where the formula holds",
    })
}

/// The table as lines of text; the first one has the numbers of the steps.
pub fn lines(ribbon: &Ribbon, layout: Layout) -> Vec<Line> {
    let digits = ribbon.positions.saturating_sub(1).to_string().len();
    let indented = |text: &str, depth: usize| cut(&format!("{}{text}", "  ".repeat(depth)), layout);
    let widths = ribbon.rows.iter().map(|row| indented(&row.text, row.depth).chars().count());
    let width = widths.max().unwrap_or(0).max(AFTER_STEP.len());
    let cell = digits + 1;
    let loops = usize::from(ribbon.back_to.is_some()) * 2;
    let room = (layout.width.saturating_sub(width + loops + 6) / cell).max(LAST_MAX + 2);
    let table = Table::of(ribbon, room);
    let mut lines = vec![line(&table, vec![(Style::Faint, format!("{AFTER_STEP:<width$}"))], layout, |at| {
        (Style::Number, format!("{:>cell$}", table.columns[at].first))
    })];
    for row in &table.rows {
        let style = if row.is_proposition { Style::Name } else { Style::Statement };
        let begin = vec![(style, format!("{:<width$}", indented(&row.text, row.depth)))];
        lines.push(line(&table, begin, layout, |at| {
            let value = row.cells[at];
            (value.style(), format!("{:>cell$}", value.sign(layout.unicode)))
        }));
    }
    lines
}

/// What the signs mean.
pub fn legend(ribbon: &Ribbon, layout: Layout) -> Vec<Line> {
    let table = Table::of(ribbon, usize::MAX);
    let said = |meaning: &Meaning| format!("{} {}", meaning.cell.sign(layout.unicode), meaning.meaning);
    let mut parts: Vec<String> = table.legend.iter().map(said).collect();
    if ribbon.back_to.is_some() {
        parts.push(format!("behind {} the loop", if layout.unicode { "┆" } else { "|" }));
    }
    if table.columns.len() < ribbon.positions {
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

/// What the cells mean: true and false always, the others where there are some.
fn legend_of(ribbon: &Ribbon, rows: &[TableRow]) -> Vec<Meaning> {
    let is_there = |cell: Cell| rows.iter().any(|row| row.cells.contains(&cell));
    let undetermined =
        if ribbon.is_claim { "now and then, or without a value" } else { "depends on how the run goes on" };
    let meanings = [
        (Cell::True, "true"),
        (Cell::False, "false"),
        (Cell::Undetermined, undetermined),
        (Cell::FalseDecisive, "false and decisive"),
        (Cell::TrueDecisive, "true and decisive"),
    ];
    let told = meanings.into_iter().filter(|(cell, _)| *cell <= Cell::False || is_there(*cell));
    told.map(|(cell, meaning)| Meaning { cell, sign: cell.sign(true), meaning }).collect()
}

fn columns(ribbon: &Ribbon) -> Vec<Column> {
    let starts = ribbon.columns();
    let ends = starts.iter().skip(1).copied().chain([ribbon.positions]);
    let column = |(first, end): (usize, usize)| Column {
        first,
        last: end.saturating_sub(1),
        in_loop: ribbon.back_to.is_some_and(|back| back <= first),
    };
    starts.iter().copied().zip(ends).map(column).collect()
}

/// The columns for which there is room, and which are left out.
fn shown(mut columns: Vec<Column>, room: usize) -> (Vec<Column>, Option<LeftOut>) {
    if columns.len() <= room {
        return (columns, None);
    }
    let before = room.saturating_sub(LAST_MAX + 1).max(1);
    let behind = (columns.len() - LAST_MAX.min(columns.len())).max(before);
    let count = columns.drain(before..behind).count();
    (columns, Some(LeftOut { before, count }))
}

fn line(table: &Table, mut line: Line, layout: Layout, cell: impl Fn(usize) -> (Style, String)) -> Line {
    let dots = if layout.unicode { " …" } else { " ." };
    for (at, column) in table.columns.iter().enumerate() {
        if table.left_out.is_some_and(|left_out| left_out.before == at) {
            line.push((Style::Faint, dots.to_owned()));
        }
        if table.loop_position == Some(column.first) {
            line.push((Style::Faint, if layout.unicode { " ┆" } else { " |" }.to_owned()));
        }
        line.push(cell(at));
    }
    line
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
