//! The searches that ran, as a table.

use crate::render::numbers::count;
use crate::render::paint::{STRONG, paint};
use fabius_engine::Report;
use fabius_engine::report::{PropertyReport, SearchReport};
use std::fmt::Write;

/// Columns between columns.
const GAP: &str = "  ";
/// The columns of the table, and whether they hold numbers.
const COLUMNS: [(&str, bool); 5] =
    [("property", false), ("search", false), ("states", true), ("transitions", true), ("outcome", false)];

/// A line for each search of each property: in which order it explored, how far it got, and how it ended; with the search that
/// decided the property, or got furthest, first.
pub fn table(report: &Report) -> String {
    let rows: Vec<[String; 5]> = report.properties.iter().flat_map(rows).collect();
    if rows.is_empty() {
        return String::new();
    }
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.chain([COLUMNS[column].0.chars().count()]).max().unwrap_or(0)
    };
    let widths: [usize; 5] = std::array::from_fn(width);
    let line = |cells: [&str; 5]| {
        let padded = cells.iter().zip(COLUMNS).zip(widths).map(|((cell, (_, is_number)), width)| {
            if is_number { format!("{cell:>width$}") } else { format!("{cell:<width$}") }
        });
        padded.collect::<Vec<_>>().join(GAP).trim_end().to_owned()
    };
    let mut text = String::new();
    let _ = writeln!(text, "{}", paint(STRONG, line(COLUMNS.map(|(heading, _)| heading))));
    for row in &rows {
        let _ = writeln!(text, "{}", line(std::array::from_fn(|column| row[column].as_str())));
    }
    text
}

/// The searches of a property; its name stands before the first of them.
fn rows(property: &PropertyReport) -> Vec<[String; 5]> {
    if property.tried.is_empty() {
        return vec![only(property)];
    }
    let of = |(at, search): (usize, &SearchReport)| {
        let name = if at == 0 { property.name.clone() } else { String::new() };
        let SearchReport { strategy, states, transitions, outcome } = search;
        [name, strategy.clone(), count(*states), count(*transitions), outcome.as_str().to_owned()]
    };
    property.tried.iter().enumerate().map(of).collect()
}

/// The search of a property for which no other one had a turn.
fn only(property: &PropertyReport) -> [String; 5] {
    let name = property.name.clone();
    let Some(strategy) = &property.strategy else {
        return [name, "none".to_owned(), String::new(), String::new(), property.verdict.as_str().to_owned()];
    };
    let mut outcome = property.verdict.as_str().to_owned();
    if property.cached.is_some() {
        outcome.push_str(", known from an earlier run");
    } else if !property.together_with.is_empty() {
        outcome.push_str(&format!(", together with {}", property.together_with.join(", ")));
    }
    [name, strategy.algorithm.clone(), count(property.states), count(property.transitions), outcome]
}
