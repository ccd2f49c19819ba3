//! Questions about a run: where a pattern is true, where the value of an expression changes.

use crate::model::{Model, Panel, TraceTab};
use crate::session::Session;
use fabius_explore::NodeId;

/// This many rows of a run are looked at.
const ROWS_MAX: usize = 20_000;

/// The rows of the run that answer a question.
pub(super) struct Hits {
    /// Of each row that was looked at, whether it does.
    pub rows: Vec<bool>,
    /// All of them in a sentence without its full stop.
    pub sentence: String,
}

/// The rows that a text asks for: `= PATTERN` those where it is true, `~ EXPRESSION` those where its value is another one than before.
/// `None` if the text asks for no more than itself, or no run is marked.
///
/// # Errors
/// What is wrong with the question, in a sentence.
pub(super) fn hits(model: &Model, text: &str) -> Option<Result<Hits, String>> {
    let of_run = model.panel == Panel::Trace && model.tab != TraceTab::Tree;
    let session = model.session.as_ref().filter(|_| of_run)?;
    let nodes: Vec<NodeId> = (0..session.row_count().min(ROWS_MAX)).filter_map(|row| session.node_of(row)).collect();
    match text.split_at_checked(1)? {
        ("=", pattern) => Some(true_at(session, pattern.trim(), &nodes)),
        ("~", expression) => Some(changes(session, expression.trim(), &nodes)),
        _ => None,
    }
}

fn true_at(session: &Session, text: &str, nodes: &[NodeId]) -> Result<Hits, String> {
    let found = session.walk.matches(text, nodes)?;
    Ok(Hits { rows: found.states, sentence: found.sentence })
}

fn changes(session: &Session, text: &str, nodes: &[NodeId]) -> Result<Hits, String> {
    let walk = &session.walk;
    let expression = walk.condition(text)?;
    let values: Vec<_> = nodes.iter().map(|node| walk.shown_at(&expression, *node)).collect();
    let is_new = |row: usize| 0 < row && values[row] != values[row - 1];
    let rows: Vec<bool> = (0..nodes.len()).map(is_new).collect();
    let steps: Vec<usize> = (0..nodes.len()).filter(|row| rows[*row]).map(|row| walk.number(nodes[row])).collect();
    let sentence = match steps.as_slice() {
        [] => format!("`{text}` never changes in this run"),
        [only] => format!("`{text}` changes in step {only} only"),
        [first, .., last] => {
            format!("`{text}` changes in {} steps, first in step {first}, last in step {last}", steps.len())
        }
    };
    Ok(Hits { rows, sentence })
}
