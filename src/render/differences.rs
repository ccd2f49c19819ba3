//! In what executions differ, in sentences.

use super::choices::ending;
use super::numbers::{count, counted};
use super::paint::{FAINT, STRONG, paint};
use fabius_executions::{
    Comparison, Difference, EventRecord, ExecutionsReport, FactRecord, ListedExecution, OrderRecord,
};
use std::fmt::Write as _;

/// In what two executions differ.
pub fn comparison(comparison: &Comparison, executions: &[ListedExecution]) -> String {
    let mut text = String::new();
    let [one, other] = comparison.ranks.each_ref().map(|rank| format!("#{rank}"));
    for (rank, execution) in [&one, &other].into_iter().zip(executions) {
        let after = counted(execution.trace.len() as u64, "step");
        let _ = writeln!(text, "{} {} after {after}", paint(STRONG, rank), ending(execution.end, execution.failed));
    }
    if one == other {
        return text + "they are the same\n";
    }
    let alike = match comparison.alike {
        0 => "they part in the initial state:".to_owned(),
        steps => format!("they begin with the same {}, then:", counted(steps as u64, "step")),
    };
    let _ = writeln!(text, "{alike}");
    for (rank, then) in [&one, &other].into_iter().zip(&comparison.then) {
        let step = then.as_ref().map_or_else(|| "ends here".to_owned(), event);
        let _ = writeln!(text, "  {rank}  {step}");
    }
    if !comparison.orders.is_empty() {
        let _ = writeln!(text, "{}", paint(STRONG, "steps in another order:"));
    }
    for order in &comparison.orders {
        text.push_str(&order_lines(order, &one, &other));
    }
    if !comparison.values.is_empty() {
        let _ = writeln!(text, "{}", paint(STRONG, "values in the end:"));
    }
    for (name, value, other_value) in &comparison.values {
        let _ = writeln!(text, "  {name}  {one}: {value}, {other}: {other_value}");
    }
    text
}

fn order_lines(order: &OrderRecord, one: &str, other: &str) -> String {
    let (earlier, later) = (event(&order.earlier), event(&order.later));
    let never = if order.later_never_comes { ", which never comes" } else { "" };
    let reversed = match order.earlier_never_comes {
        true => "the second comes, and the first never does",
        false => "the other way round",
    };
    format!(
        "  {}\n    {one}  {earlier}\n        before {later}{never}\n    {other}  {reversed}\n",
        paint(STRONG, &order.touches)
    )
}

/// A step: process, line and statement, and how often it came before.
fn event(event: &EventRecord) -> String {
    let again = match event.before {
        0 => String::new(),
        before => format!(" (time {})", before + 1),
    };
    format!("{} {} {}{again}", event.process, paint(FAINT, format!("line {}", event.line)), event.text)
}

/// What distinguishes the executions of each kind from those that end well.
pub fn difference(report: &ExecutionsReport) -> String {
    let mut text: String = report.difference.iter().map(one_kind).collect();
    if text.is_empty() {
        text = match (report.ok.as_deref(), report.failing.as_deref(), report.stuck.as_deref()) {
            (Some("0"), ..) => "there is no difference to tell: no execution ends well\n".to_owned(),
            (_, Some("0"), Some("0")) => {
                "there is no difference to tell: no execution fails or gets stuck\n".to_owned()
            }
            _ => "no difference was looked for: the executions are too long\n".to_owned(),
        };
    }
    text
}

fn one_kind(found: &Difference) -> String {
    let does = match (found.kind, found.looked_at) {
        ("failing", 1) => "fails",
        ("failing", _) => "fail",
        (_, 1) => "gets stuck",
        _ => "get stuck",
    };
    let (bad, ok) = (count(found.looked_at as u64), count(found.ok_looked_at as u64));
    let of_all = match (found.all, found.looked_at, found.ok_looked_at) {
        (true, 1, 1) => format!("in the execution that {does}, and not in the one that ends well"),
        (true, 1, _) => format!("in the execution that {does}, and in none of the {ok} that end well"),
        (true, _, 1) => format!("in all {bad} executions that {does}, and not in the one that ends well"),
        (true, ..) => format!("in all {bad} executions that {does}, and in none of the {ok} that end well"),
        (false, ..) => format!(
            "in each of {bad} executions that {does}, and in none of {ok} that end well; these were looked at, there are more"
        ),
    };
    let mut text = String::new();
    if !found.each.is_empty() {
        let _ = writeln!(text, "{} {of_all}:", paint(STRONG, "the difference:"));
        found.each.iter().for_each(|known| text.push_str(&fact(known)));
    } else if !found.together.is_empty() {
        let _ = writeln!(text, "{} {of_all}, all of this is true:", paint(STRONG, "the difference:"));
        found.together.iter().for_each(|known| text.push_str(&fact(known)));
    } else {
        let _ = writeln!(
            text,
            "{} no order of steps is common to the executions that {does} and in none that ends well",
            paint(STRONG, "the difference:")
        );
    }
    text
}

fn fact(known: &FactRecord) -> String {
    let Some(later) = &known.before else { return format!("  {} comes\n", event(&known.event)) };
    let never = if known.never { ", which never comes" } else { "" };
    let touches = known.touches.as_ref().map(|name| paint(FAINT, format!("  ({name})"))).unwrap_or_default();
    format!("  {}\n      before {}{never}{touches}\n", event(&known.event), event(later))
}
