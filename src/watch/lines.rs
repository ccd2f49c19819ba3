//! The line for one property after a save.

use crate::render::numbers::count;
use crate::render::paint::{BAD, FAINT, GOOD, STRONG, UNSURE, paint};
use fabius_engine::words::counted;
use fabius_engine::{PropertyReport, Verdict};

/// What is known about a property, and what changed; where nothing was searched, nothing could.
pub fn line(now: &PropertyReport, before: Option<&PropertyReport>, searched: bool) -> String {
    let (mark, style) = match (now.verdict, now.is_as_expected()) {
        (_, Some(true)) | (Verdict::Holds, None) => ("✓", GOOD),
        (Verdict::Undecided, _) => ("?", UNSURE),
        _ => ("✗", BAD),
    };
    let mut text = format!("{} {}: {}", paint(style, mark), now.name, paint(style, now.verdict.as_str()));
    text.push_str(&format!(", {}", counted(now.states, "state")));
    if now.verdict == Verdict::Undecided {
        text.push_str(", not everything was checked");
    }
    match (now.is_as_expected(), now.expected) {
        (Some(true), _) => text.push_str(" (as expected)"),
        (_, Some(expected)) => text.push_str(&format!(" ({} was expected)", expected.as_str())),
        (_, None) => {}
    }
    if let Some(time) = &now.cached {
        text.push_str(&paint(FAINT, format!(" · cached result from {time} UTC")));
    }
    let Some(before) = before else { return text };
    if !searched {
        text.push_str(&paint(FAINT, " · unchanged"));
        return text;
    }
    let changed = match (before.verdict, now.verdict) {
        (Verdict::Violated, Verdict::Holds) => Some("fixed"),
        (Verdict::Holds, Verdict::Violated) => Some("broken"),
        (old, new) if old != new => Some("changed"),
        _ => None,
    };
    if let Some(changed) = changed {
        text.push_str(&format!(" · {}", paint(STRONG, changed)));
    }
    let difference = now.states.abs_diff(before.states);
    if difference > 0 {
        let sign = if before.states < now.states { "+" } else { "−" };
        text.push_str(&format!(" · {sign}{} states", count(difference)));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabius_engine::report::PropertyClass;

    fn report(verdict: Verdict, states: u64) -> PropertyReport {
        let mut report = PropertyReport::unchecked("p2", PropertyClass::Ltl, "");
        (report.verdict, report.states) = (verdict, states);
        report
    }

    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    #[test]
    fn a_line_says_what_changed() {
        let (bad, good) = (report(Verdict::Violated, 10), report(Verdict::Holds, 1_223));
        assert_eq!(plain(&line(&good, None, true)), "✓ p2: holds, 1 223 states");
        assert_eq!(plain(&line(&good, Some(&bad), true)), "✓ p2: holds, 1 223 states · fixed · +1 213 states");
        assert_eq!(plain(&line(&bad, Some(&good), true)), "✗ p2: violated, 10 states · broken · −1 213 states");
        assert_eq!(plain(&line(&good, Some(&good), false)), "✓ p2: holds, 1 223 states · unchanged");
        let meant = PropertyReport { expected: Some(Verdict::Violated), ..bad.clone() };
        assert_eq!(plain(&line(&meant, Some(&bad), true)), "✓ p2: violated, 10 states (as expected)");
        let surprise = PropertyReport { expected: Some(Verdict::Violated), ..good };
        assert_eq!(plain(&line(&surprise, None, true)), "✗ p2: holds, 1 223 states (violated was expected)");
    }
}
