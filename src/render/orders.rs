//! What was learnt about the order of statements, in words.

use super::numbers::{count, counted};
use super::paint::{FAINT, STRONG, paint};
use fabius_executions::{OrderReport, PairReport, StateReport, StatementReport};
use std::fmt::Write as _;

/// This many pairs of statements are told of each kind.
const PAIRS_TOLD: usize = 8;
/// This many values of a state are told.
const VALUES_TOLD: usize = 8;

/// Which pairs of statements commute although the text does not tell so, and where the order of others matters.
pub fn learnt(order: &OrderReport) -> String {
    let states = counted(order.states, "reachable state");
    let mut text = format!("{} {states}\n", paint(STRONG, "independence learnt from all"));
    let learnt: Vec<&PairReport> = order.pairs.iter().filter(|pair| pair.learnt).collect();
    if learnt.is_empty() {
        text.push_str("  no pair of statements is independent beyond what the text tells\n");
    } else {
        text.push_str("  independent here, which the text alone does not tell:\n");
    }
    for pair in learnt.iter().take(PAIRS_TOLD) {
        let _ = writeln!(text, "    {}", both(pair));
        let _ = writeln!(text, "        {}", paint(FAINT, always(pair)));
    }
    text.push_str(&left_out(learnt.len()));
    let mut matters: Vec<&PairReport> = order.pairs.iter().filter(|pair| pair.differing > 0).collect();
    matters.sort_by_key(|pair| std::cmp::Reverse(pair.differing));
    if !matters.is_empty() {
        text.push_str("  the order matters:\n");
    }
    for pair in matters.iter().take(PAIRS_TOLD) {
        let _ = writeln!(text, "    {}", both(pair));
        let _ = writeln!(text, "        {}", paint(FAINT, matter(pair)));
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

fn always(pair: &PairReport) -> String {
    match pair.states {
        1 => "both orders lead to the same state in the one state where both are possible".to_owned(),
        states => format!("both orders lead to the same state in all {} states where both are possible", count(states)),
    }
}

fn matter(pair: &PairReport) -> String {
    let disabling = match pair.disabling {
        0 => String::new(),
        all if all == pair.differing => ": one makes the other impossible".to_owned(),
        some => format!("; in {} one makes the other impossible", count(some)),
    };
    let place = match (pair.differing, pair.states) {
        (_, 1) => "in the one state".to_owned(),
        (differing, states) if differing == states => format!("in all {} states", count(states)),
        (differing, states) => format!("in {} of {} states", count(differing), count(states)),
    };
    let example = pair.example.as_ref().map(example).unwrap_or_default();
    format!("{place} where both are possible{disabling}{example}")
}

fn example(state: &StateReport) -> String {
    let shown: Vec<String> =
        state.values.iter().take(VALUES_TOLD).map(|(name, value)| format!("{name} = {value}")).collect();
    let more = if VALUES_TOLD < state.values.len() { ", …" } else { "" };
    let values = if shown.is_empty() { String::new() } else { format!(" ({}{more})", shown.join(", ")) };
    match state.steps {
        0 => format!(", such as the initial state{values}"),
        steps => format!(", such as after {}{values}", counted(steps as u64, "step")),
    }
}
