//! Two runs beside one another, in colour.

use super::paint::{BAD, FAINT, GOOD, STRONG, UNSURE, paint};
use fabius_engine::comparison::{LineKind, VersionComparison, version_lines};
use std::fmt::Write as _;

/// The comparison of the runs of two versions, a line each, below `indent`; at most `steps_max` lines are about steps.
pub fn versions(found: &VersionComparison, indent: &str, steps_max: usize) -> String {
    let mut text = String::new();
    for line in version_lines(found, steps_max) {
        let style = match line.kind {
            LineKind::Heading => STRONG,
            LineKind::Same => FAINT,
            LineKind::Effect => UNSURE,
            LineKind::First => BAD,
            LineKind::Second => GOOD,
            LineKind::Detail => FAINT,
        };
        let _ = writeln!(text, "{indent}{}", paint(style, line.text));
    }
    text
}
