//! Two runs beside one another, in colour.

use super::paint::{BAD, FAINT, GOOD, STRONG, UNSURE, paint};
use super::text;
use fabius_engine::comparison::{ComparisonLine, LineKind, VersionComparison, version_lines};
use fabius_witness::format::text::wrap;
use std::fmt::Write as _;

/// Columns before the second line of a sentence, from where the first one begins.
const SENTENCE_INDENT: usize = 2;
/// Columns before the second line of a step: below who takes it.
const STEP_INDENT: usize = 13;

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
        for part in wrapped(&line) {
            let _ = writeln!(text, "{indent}{}", paint(style, part));
        }
    }
    text
}

/// The lines as which a line is shown; those after the first are indented below its words.
fn wrapped(line: &ComparisonLine) -> Vec<String> {
    let words = line.text.trim_start();
    let lead = line.text.chars().count() - words.chars().count();
    let below = match line.kind {
        LineKind::Heading | LineKind::Detail => lead + SENTENCE_INDENT,
        LineKind::Same | LineKind::Effect | LineKind::First | LineKind::Second => STEP_INDENT,
    };
    let room = text::layout(None).width.saturating_sub(below);
    let indented = |(at, part): (usize, String)| " ".repeat(if at == 0 { lead } else { below }) + &part;
    wrap(words, room).into_iter().enumerate().map(indented).collect()
}
