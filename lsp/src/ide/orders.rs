//! With which statements the order of a statement matters, learnt from all reachable states.

use super::place::View;
use fabius_engine::words::counted;
use fabius_executions::{OrderReport, PairReport, StatementReport};
use std::ops::Range;

/// This many other statements are told.
const PAIRS_TOLD: usize = 6;

/// What is known about the statement at a byte, and its bytes. Nothing is said about a statement that is never possible together
/// with one of another process.
pub fn about(view: View<'_>, order: &OrderReport, at: usize) -> Option<(Range<usize>, String)> {
    let bytes = |statement: &StatementReport| {
        let (file, start, end) = statement.place;
        let range = start as usize..end as usize;
        (file == view.file && range.contains(&at)).then_some(range)
    };
    let statements = || order.pairs.iter().flat_map(|pair| &pair.statements);
    let range = statements().filter_map(bytes).min_by_key(ExactSizeIterator::len)?;
    let is_it = |statement: &StatementReport| bytes(statement).is_some_and(|found| found == range);
    let mut pairs: Vec<(&StatementReport, &PairReport)> = Vec::new();
    for pair in &order.pairs {
        match &pair.statements {
            [it, other] if is_it(it) => pairs.push((other, pair)),
            [other, it] if is_it(it) => pairs.push((other, pair)),
            _ => {}
        }
    }
    let atomic = statements().any(|statement| is_it(statement) && statement.atomic);
    let what = if atomic { "the atomic sequence that begins with this statement" } else { "this statement" };
    let (matters, free): (Vec<_>, Vec<_>) = pairs.into_iter().partition(|(_, pair)| pair.differing > 0);
    let mut text = format!("The order of {what} and those of other processes, in the whole state space:\n");
    text.push_str(&list("it matters with", &matters));
    text.push_str(&list("independent of", &free));
    Some((range, text))
}

fn list(how: &str, pairs: &[(&StatementReport, &PairReport)]) -> String {
    let mut lines: Vec<String> = Vec::new();
    for (other, pair) in pairs {
        let StatementReport { process, line, text, atomic, .. } = other;
        let atomic = if *atomic { " (atomic)" } else { "" };
        let line = format!("* {how} line {line} `{text}`{atomic} of `{process}`: {}\n", pair.sentence());
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    let more = match lines.len().saturating_sub(PAIRS_TOLD) {
        0 => String::new(),
        more => format!("* {how} {}\n", counted(more as u64, "more statement")),
    };
    lines.iter().take(PAIRS_TOLD).cloned().collect::<String>() + &more
}
