//! Under which scheduling a model is safe, in words.

use crate::render::paint::{BAD, FAINT, GOOD, STRONG, UNSURE, paint};
use fabius_analysis::schedule::{ForcedReport, ScheduleReport, ScheduleVerdict};
use fabius_engine::Report;
use std::fmt::Write;

/// At most this many lines of what forces an error.
const FORCED_MAX: usize = 12;

/// What there is to say of the properties of a report.
pub fn of_report(report: &Report) -> String {
    let schedules = report.properties.iter().filter_map(|property| property.schedule.as_deref());
    schedules.map(paragraph).collect()
}

/// The answer, in a short paragraph.
pub fn paragraph(schedule: &ScheduleReport) -> String {
    let mut text = format!("{}: {}\n", word(schedule.verdict), schedule.reason);
    let mut left = FORCED_MAX;
    tree(&mut text, &schedule.forced, 1, &mut left);
    if left == 0 {
        let _ = writeln!(text, "  {}", paint(FAINT, "… --json shows more"));
    }
    text
}

/// What does the same in the program behind the model, a line each.
pub fn hints(schedule: &ScheduleReport) -> String {
    schedule.hints.iter().map(|hint| format!("  in a program, {hint}\n")).collect()
}

/// The word for an answer.
pub fn plain(verdict: ScheduleVerdict) -> &'static str {
    match verdict {
        ScheduleVerdict::Avoidable => "avoidable",
        ScheduleVerdict::Unavoidable => "unavoidable",
        ScheduleVerdict::SafeIfScheduled => "safe if scheduled",
        ScheduleVerdict::Holds => "holds",
        ScheduleVerdict::Unknown => "not known to be avoidable",
    }
}

/// The word for an answer, in its colour.
pub fn word(verdict: ScheduleVerdict) -> String {
    let colour = match verdict {
        ScheduleVerdict::Avoidable | ScheduleVerdict::SafeIfScheduled | ScheduleVerdict::Holds => GOOD,
        ScheduleVerdict::Unavoidable => BAD,
        ScheduleVerdict::Unknown => UNSURE,
    };
    paint(colour, plain(verdict))
}

/// What the processes can do, whoever is let move.
fn tree(text: &mut String, forced: &[ForcedReport], depth: usize, left: &mut usize) {
    for one in forced {
        if *left == 0 {
            return;
        }
        *left -= 1;
        let who = one.who.join(" and ");
        let _ = write!(text, "{:indent$}if {} moves: ", "", paint(STRONG, who), indent = 2 * depth);
        let _ = write!(text, "line {}, {}", one.line, one.statement);
        let _ = match &one.error {
            Some(error) => writeln!(text, ": {}", paint(BAD, error)),
            None if one.then.is_empty() => writeln!(text, ", …"),
            None => writeln!(text),
        };
        tree(text, &one.then, depth + 1, left);
    }
}
