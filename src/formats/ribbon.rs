//! In a page: where a formula and its parts hold along a run, as a table that is read without scripts and without colours.

use super::html::text;
use fabius_witness::Trace;
use fabius_witness::format::ribbon::{AFTER_STEP, Cell, Column, Table, TableRow, heading};
use std::fmt::Write;

/// More columns are not shown; those in the middle are left out.
const COLUMNS_MAX: usize = 1000;

/// The table of a run, if it has one; `step` says which row of the page a step has, if any.
pub fn table(trace: &Trace, step: impl Fn(usize) -> Option<String>) -> String {
    let (Some(ribbon), Some(heading)) = (&trace.ribbon, heading(trace)) else { return String::new() };
    let table = Table::of(ribbon, COLUMNS_MAX);
    let mut out = format!("<details open><summary>{}</summary>\n", text(&first_upper(heading)));
    if let Some(sentence) = &table.sentence {
        let _ = writeln!(out, "<p>It says: {}.</p>", text(sentence));
    }
    out.push_str("<div class=\"v-scroll\"><table class=\"v-ribbon\"><thead>");
    out.push_str(&loop_row(&table));
    let numbers = cells(&table, "th", |column| {
        let label = text(&column.label());
        let label = step(column.first).map_or(label.clone(), |row| format!("<a href=\"#{}\">{label}</a>", text(&row)));
        format!("<th scope=\"col\"{}>{label}</th>", class(&["v-in-loop"][..usize::from(column.in_loop)]))
    });
    let _ = writeln!(out, "<tr><th scope=\"row\">{AFTER_STEP}</th>{numbers}</tr></thead><tbody>");
    table.rows.iter().for_each(|row| out.push_str(&row_of(&table, row)));
    out.push_str("</tbody></table></div>\n");
    let _ = writeln!(out, "<p class=\"v-faint\">{}</p></details>", text(&legend(&table)));
    out
}

/// Above the numbers, which columns are the loop.
fn loop_row(table: &Table) -> String {
    let inside = table.columns.iter().filter(|column| column.in_loop).count();
    if inside == 0 {
        return String::new();
    }
    let extra = |wanted: bool| {
        let is_there = |left_out: &fabius_witness::format::ribbon::LeftOut| {
            table.columns.get(left_out.before).is_some_and(|column| column.in_loop == wanted)
        };
        usize::from(table.left_out.as_ref().is_some_and(is_there))
    };
    let before = table.columns.len() - inside + extra(false);
    let stem = if before == 0 { String::new() } else { format!("<td colspan=\"{before}\"></td>") };
    format!("<tr><td></td>{stem}<th colspan=\"{}\" class=\"v-in-loop\">loop</th></tr>\n", inside + extra(true))
}

fn row_of(table: &Table, row: &TableRow) -> String {
    let mut values = row.cells.iter();
    let values = cells(table, "td", |column| {
        let cell = values.next().copied().unwrap_or(Cell::Undetermined);
        let meaning = table.legend.iter().find(|known| known.cell == cell).map_or("", |known| known.meaning);
        let name = format!("v-{}", cell.name());
        let classes = [name.as_str(), "v-in-loop"];
        let classes = class(&classes[..1 + usize::from(column.in_loop)]);
        let title = text(&format!("{AFTER_STEP} {}: {meaning}", column.label()));
        format!("<td{classes} title=\"{title}\">{}</td>", cell.sign(true))
    });
    let name = format!(
        "<th scope=\"row\" style=\"padding-left: {}ch\"><code>{}</code></th>",
        1 + 2 * row.depth,
        text(&row.text)
    );
    format!("<tr>{name}{values}</tr>\n")
}

/// A cell for each column, and one where columns are left out.
fn cells(table: &Table, element: &str, mut cell: impl FnMut(&Column) -> String) -> String {
    let mut out = String::new();
    for (at, column) in table.columns.iter().enumerate() {
        if let Some(left_out) = table.left_out.filter(|left_out| left_out.before == at) {
            let _ = write!(out, "<{element} title=\"{} columns left out\">…</{element}>", left_out.count);
        }
        out.push_str(&cell(column));
    }
    out
}

fn class(names: &[&str]) -> String {
    if names.is_empty() { String::new() } else { format!(" class=\"{}\"", names.join(" ")) }
}

fn legend(table: &Table) -> String {
    let signs = table.legend.iter().map(|known| format!("{} {}", known.sign, known.meaning));
    signs.chain(table.remarks.iter().cloned()).collect::<Vec<_>>().join("; ")
}

fn first_upper(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
