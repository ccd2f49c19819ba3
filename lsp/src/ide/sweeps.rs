//! What came of the values of macros that a comment names: in a line, and as a table.

use super::place::View;
use crate::session::Document;
use crate::session::sweeps::KeptSweep;
use fabius_base::Span;
use fabius_engine::sweep::{Cell, Measured, Parameter, Prediction};
use fabius_engine::words::{grouped, seconds};
use fabius_task::WrittenSweep;
use std::ops::Range;
use std::sync::Arc;

/// More rows than this are not shown in a hover.
const ROWS_MAX: usize = 40;

/// The comments about a sweep in a file.
pub fn written(view: View<'_>) -> impl Iterator<Item = (&WrittenSweep, Range<usize>)> {
    let own = view.reading.loaded.sweeps.iter().filter(move |sweep| sweep.span.file == view.file);
    own.map(|sweep| (sweep, bytes(sweep.span)))
}

fn bytes(span: Span) -> Range<usize> {
    span.start as usize..span.end as usize
}

/// What is known of the values of some macros.
pub fn known<'d>(document: &'d Document, parameters: &[Parameter]) -> Option<&'d KeptSweep> {
    document.asked.sweeps.iter().find(|kept| kept.parameters == parameters)
}

/// Whether the text was edited since the values were checked.
pub fn is_stale(view: View<'_>, kept: &KeptSweep) -> bool {
    !Arc::ptr_eq(&kept.loaded, &view.reading.loaded)
}

/// What to show about the comment at a byte, as Markdown.
pub fn about(view: View<'_>, document: Option<&Document>, at: usize) -> Option<(Range<usize>, String)> {
    let (sweep, range) = written(view).find(|(_, range)| range.contains(&at))?;
    let kept = document.and_then(|document| known(document, &sweep.parameters));
    let found = kept.and_then(|kept| kept.found.as_ref().map(|found| (found, is_stale(view, kept))));
    Some((range, match found {
        Some(((cells, predictions), stale)) => {
            let old = if stale { "Before the last edits:\n\n" } else { "" };
            format!("{old}{}", table(&sweep.parameters, cells, predictions))
        }
        None => "The model is checked with each of these values when somebody asks for it: by the line above, or by `fabius check --sweep annotated`.".to_owned(),
    }))
}

/// The combinations as a table, and what the next value will cost.
pub fn table(parameters: &[Parameter], cells: &[Cell], predictions: &[Prediction]) -> String {
    let names: String = parameters.iter().map(|parameter| format!("| {} ", parameter.name)).collect();
    let lines = "|--:".repeat(parameters.len());
    let mut text = format!("{names}| property | verdict | states | time |\n{lines}|---|---|--:|--:|\n");
    let rows: Vec<String> = cells.iter().flat_map(|cell| rows(parameters, cell)).collect();
    text.extend(rows.iter().take(ROWS_MAX).map(String::as_str));
    if ROWS_MAX < rows.len() {
        text.push_str(&format!("\n… and {} more rows\n", rows.len() - ROWS_MAX));
    }
    text.extend(predictions.iter().map(|told| format!("\n{}.\n", told.sentence())));
    text
}

/// The rows of a combination, one for each property.
fn rows(parameters: &[Parameter], cell: &Cell) -> Vec<String> {
    let values: String = parameters.iter().map(|parameter| format!("| {} ", cell.values[&parameter.name])).collect();
    if let Some(why) = &cell.not_checked {
        return vec![format!("{values}| | not checked: {} | | |\n", why.replace('|', "\\|"))];
    }
    if cell.properties.is_empty() {
        let why = cell.reason.as_deref().unwrap_or("nothing to check");
        return vec![format!("{values}| | {} | | |\n", why.replace('|', "\\|"))];
    }
    let row = |property: &Measured| {
        let more = if property.exhaustive { "" } else { "≥ " };
        let reduced = if property.reduced { " (reduced)" } else { "" };
        let (name, verdict) = (&property.name, property.word());
        let (states, time) = (grouped(property.states), seconds(property.seconds));
        format!("{values}| `{name}` | {verdict} | {more}{states}{reduced} | {time} |\n")
    };
    cell.properties.iter().map(row).collect()
}
