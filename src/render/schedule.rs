//! Under which scheduling a model is safe, in words.

use crate::render::numbers::{count, counted};
use crate::render::paint::{BAD, FAINT, GOOD, STRONG, UNSURE, paint};
use fabius_analysis::schedule::{
    FairVerdict, ForcedReport, HeldBackReport, ScheduleReport, ScheduleVerdict, SectionEventReport, SectionReport,
};
use fabius_engine::Report;
use std::fmt::Write;

/// At most this many lines of what forces an error.
const FORCED_MAX: usize = 12;
/// At most this many places where processes are held back.
const HELD_BACK_MAX: usize = 6;

/// What there is to say of the properties of a report.
pub fn of_report(report: &Report) -> String {
    let schedules = report.properties.iter().filter_map(|property| property.schedule.as_deref());
    let mut text: String = schedules.clone().map(paragraph).collect();
    if schedules.clone().any(may_have_more) {
        let _ = writeln!(text, "{}", paint(FAINT, "`fabius schedule` looks longer for one"));
    }
    text
}

/// Whether there may be more to say than what was found beside a check: a schedule, or one in fewer words.
fn may_have_more(schedule: &ScheduleReport) -> bool {
    let words = !schedule.waits.is_empty() || !schedule.priorities.is_empty();
    schedule.verdict != ScheduleVerdict::Unavoidable && 0 < schedule.explored.states && !words
}

/// The answer, in a sentence.
pub fn sentence(schedule: &ScheduleReport) -> String {
    format!("{}: {}", word(schedule.verdict), schedule.reason)
}

/// The answer, in a short paragraph.
pub fn paragraph(schedule: &ScheduleReport) -> String {
    let mut text = format!("{}\n", sentence(schedule));
    for HeldBackReport { place, states, held } in schedule.held_back.iter().take(HELD_BACK_MAX) {
        let of = counted(*states, "state");
        let held = count(*held);
        let _ = writeln!(
            text,
            "  holds {} back at line {} in {held} of {of}: {}",
            place.process, place.line, place.statement
        );
    }
    if HELD_BACK_MAX < schedule.held_back.len() {
        let _ = writeln!(text, "  {}", paint(FAINT, "… --json shows more"));
    }
    // What does not get to an error in a few steps does not show why.
    let shown = if schedule.forced.iter().all(ends) { schedule.forced.as_slice() } else { &[] };
    let mut left = FORCED_MAX;
    tree(&mut text, shown, 1, &mut left);
    if FORCED_MAX < lines(shown) {
        let _ = writeln!(text, "  {}", paint(FAINT, "… --json shows more"));
    }
    text
}

/// What it means to be at a place, where a wait speaks of one.
pub fn meaning(schedule: &ScheduleReport) -> String {
    match schedule.waits.is_empty() {
        true => String::new(),
        false => format!("  {}\n", paint(FAINT, "a process is at the line whose statement it executes next")),
    }
}

/// What does the same in the program behind the model, a line each.
pub fn hints(schedule: &ScheduleReport) -> String {
    schedule.hints.iter().map(|hint| format!("  in a program, {hint}\n")).collect()
}

/// Whether there is a fair schedule, in a line.
pub fn fair(schedule: &ScheduleReport) -> String {
    let Some(fair) = &schedule.fair else { return String::new() };
    let (word, colour) = match fair.verdict {
        FairVerdict::Fair => ("fair", GOOD),
        FairVerdict::None => ("no fair schedule", BAD),
        FairVerdict::Unknown => ("fairness not known", UNSURE),
    };
    format!("{}: {}\n", paint(colour, word), fair.reason)
}

/// A schedule as sections.
pub fn sections(schedule: &ScheduleReport) -> String {
    let mut text = String::new();
    if !schedule.without.is_empty() {
        let [verb, they] = if schedule.without.len() == 1 { ["serves", "it does"] } else { ["serve", "they do"] };
        let names = schedule.without.join(", ");
        let _ = writeln!(text, "\nwithout {names}, which {verb} nothing but waiting: the orders below do what {they}");
    }
    for section in &schedule.sections {
        let SectionReport { number, laps, events, left_out, orders, longest_chain, then } = section;
        let size = match (events.len() as u64, *orders) {
            (0, _) => "no step".to_owned(),
            (steps, 0) => format!("{}, in any order of processes", counted(steps, "step")),
            (steps, orders) => format!("{}, {} to keep", counted(steps, "step"), counted(orders, "order")),
        };
        let chain =
            if events.is_empty() { String::new() } else { format!("; at least {longest_chain} one after the other") };
        let _ = writeln!(
            text,
            "\n{}{}: {size}{chain}{}",
            paint(STRONG, format!("section {number}")),
            if *laps == 1 { String::new() } else { format!(", {laps} times") },
            if *left_out == 0 { String::new() } else { format!("; {} left out", counted(*left_out, "step")) }
        );
        let who = |event: &SectionEventReport| match &event.partner {
            Some(partner) => format!("{} and {partner}", event.process),
            None => event.process.clone(),
        };
        let width = events.iter().map(|event| who(event).chars().count()).max().unwrap_or(0);
        for (index, event) in events.iter().enumerate() {
            let after: Vec<String> = event.after.iter().map(usize::to_string).collect();
            let after = if after.is_empty() { String::new() } else { format!("  after {}", after.join(", ")) };
            let (line, statement) = (event.line, &event.statement);
            let step = format!("  {:>3}  {:width$}  line {line}, {statement}", index + 1, who(event));
            let _ = writeln!(text, "{step}{}", paint(FAINT, &after));
        }
        let then: Vec<String> = then.iter().map(|next| format!("section {next}")).collect();
        let _ = match then.as_slice() {
            [] => writeln!(text, "  then the run is over"),
            then => writeln!(text, "  then {}", then.join(" or ")),
        };
    }
    text
}

/// The word for an answer, in its colour.
pub fn word(verdict: ScheduleVerdict) -> String {
    let colour = match verdict {
        ScheduleVerdict::Avoidable | ScheduleVerdict::SafeIfScheduled | ScheduleVerdict::Holds => GOOD,
        ScheduleVerdict::Unavoidable => BAD,
        ScheduleVerdict::Unknown => UNSURE,
    };
    paint(colour, verdict.words())
}

/// Whether everything that is told ends in an error.
fn ends(forced: &ForcedReport) -> bool {
    forced.error.is_some() || !forced.then.is_empty() && forced.then.iter().all(ends)
}

/// How many lines that takes.
fn lines(forced: &[ForcedReport]) -> usize {
    forced.iter().map(|one| 1 + lines(&one.then)).sum()
}

/// What the processes can do, whoever is let move.
fn tree(text: &mut String, forced: &[ForcedReport], depth: usize, left: &mut usize) {
    for one in forced {
        if *left == 0 {
            return;
        }
        *left -= 1;
        let who = one.who.join(" and ");
        let moves = if one.who.len() == 1 { "moves" } else { "move" };
        let _ = write!(text, "{:indent$}if {} {moves}: ", "", paint(STRONG, who), indent = 2 * depth);
        let _ = write!(text, "line {}, {}", one.line, one.statement);
        let _ = match &one.error {
            Some(error) => writeln!(text, ": {}", paint(BAD, error)),
            None if one.then.is_empty() => writeln!(text, ", …"),
            None => writeln!(text),
        };
        tree(text, &one.then, depth + 1, left);
    }
}
