//! What was learnt about the order of statements, in words.

use super::numbers::counted;
use super::paint::{FAINT, STRONG, paint};
use fabius_executions::{OrderReport, PairReport, StatementReport};
use std::fmt::Write as _;

/// This many pairs of statements are told of each kind.
const PAIRS_TOLD: usize = 8;

/// Which pairs of statements commute although the text does not tell so, and where the order of others matters.
pub fn learnt(order: &OrderReport) -> String {
    let states = counted(order.states, "reachable state");
    let mut text = format!("{} {states}\n", paint(STRONG, "independence learnt from all"));
    let learnt: Vec<&PairReport> = order.pairs.iter().filter(|pair| pair.learnt).collect();
    if !learnt.is_empty() {
        text.push_str("  independent here, which the text alone does not tell:\n");
    }
    for pair in learnt.iter().take(PAIRS_TOLD) {
        let _ = writeln!(text, "    {}", both(pair));
        let _ = writeln!(text, "        {}", paint(FAINT, pair.sentence()));
    }
    text.push_str(&left_out(learnt.len()));
    let mut matters: Vec<&PairReport> = order.pairs.iter().filter(|pair| pair.differing > 0).collect();
    matters.sort_by_key(|pair| std::cmp::Reverse(pair.differing));
    if !matters.is_empty() {
        text.push_str("  the order matters:\n");
    }
    for pair in matters.iter().take(PAIRS_TOLD) {
        let _ = writeln!(text, "    {}", both(pair));
        let _ = writeln!(text, "        {}", paint(FAINT, pair.sentence()));
    }
    text + &left_out(matters.len())
}

fn left_out(pairs: usize) -> String {
    match pairs.saturating_sub(PAIRS_TOLD) {
        0 => String::new(),
        more => format!("    … and {} (--json shows all)\n", counted(more as u64, "more pair")),
    }
}

fn both(pair: &PairReport) -> String {
    let [one, other] = pair.statements.each_ref().map(statement);
    format!("{one}  and  {other}")
}

fn statement(statement: &StatementReport) -> String {
    let atomic = if statement.atomic { " (atomic)" } else { "" };
    format!("{} line {} {}{atomic}", statement.process, statement.line, statement.text)
}
