//! What is known of schedules that avoid the errors found: in words at the violation, as an edit, and as one bit.

use super::actions::{Action, action};
use super::place::{Place, View};
use crate::session::Document;
use crate::session::reading::Reading;
use crate::session::results::Known;
use fabius_analysis::schedule::{PlaceReport, ScheduleReport, ScheduleVerdict, Scheduled, StretchReport, WhileReport};
use fabius_base::Span;
use fabius_engine::words::counted;
use fabius_engine::{SAFETY, Verdict};

/// The violations of safety in the present text, and the schedule that was looked for.
fn violated<'a>(document: &'a Document, reading: &Reading) -> Option<(&'a Known, &'a Scheduled)> {
    let known = document.results.of(SAFETY).filter(|known| !known.stale)?;
    let scheduled = document.results.schedule(reading)?;
    (known.report.verdict == Verdict::Violated).then_some((known, scheduled))
}

/// Whether a scheduler can avoid the errors that were found; `None` if that is not known.
pub fn avoidable(document: &Document, reading: &Reading) -> Option<bool> {
    match violated(document, reading)?.1.report.verdict {
        ScheduleVerdict::Avoidable => Some(true),
        ScheduleVerdict::Unavoidable => Some(false),
        ScheduleVerdict::SafeIfScheduled | ScheduleVerdict::Holds | ScheduleVerdict::Unknown => None,
    }
}

/// That in a sentence, and at the places of the waits.
pub fn told(document: &Document, reading: &Reading) -> Option<(String, Vec<(Place, String)>)> {
    let (_, scheduled) = violated(document, reading)?;
    let ScheduleReport { reason, waits, .. } = &scheduled.report;
    let word = if avoidable(document, reading)? { "Avoidable" } else { "Unavoidable" };
    let at = |file: &str, line: u32| place_of(reading, file, line);
    let places = waits.iter().flat_map(|wait| {
        let PlaceReport { process, file, line, .. } = &wait.place;
        let waiting = |text: String| at(file, *line).map(|place| (place, text));
        let both = match &wait.while_ {
            WhileReport::Stretch(StretchReport { who, another, file, lines: [first, last], .. }) => {
                let other = if *another { format!("another {process}") } else { who.clone() };
                let there = if first == last { "here".to_owned() } else { format!("here, to line {last}") };
                let meanwhile = at(file, *first).map(|place| (place, format!("… while {other} is {there}")));
                [waiting(format!("avoidable if {process} waits here …")), meanwhile]
            }
            WhileReport::Value(value) => {
                [waiting(format!("avoidable if {process} waits here while `{}`", value.condition)), None]
            }
        };
        both.into_iter().flatten()
    });
    Some((format!("{word}: {reason}"), places.collect()))
}

/// What stands in a line.
pub(super) fn place_of(reading: &Reading, name: &str, line: u32) -> Option<Place> {
    let file = reading.file(name)?;
    let text = &reading.map().file(file).text;
    let start: usize = text.split_inclusive('\n').take(line.checked_sub(1)? as usize).map(str::len).sum();
    let shown = text.get(start..)?.lines().next().unwrap_or("");
    let begin = start + shown.len() - shown.trim_start().len();
    let end = (start + shown.trim_end().len()).max(begin);
    Some(Place::of(reading.map(), Span::new(file, begin as u32, end as u32)))
}

/// What avoids the errors by letting processes wait. It was checked when it was found.
pub(super) fn action_of(document: &Document, view: View<'_>, name: &str) -> Option<Action> {
    let (known, scheduled) = violated(document, view.reading)?;
    let export = scheduled.export.as_ref()?.as_ref().ok()?;
    // The edits are those of the main file.
    if view.reading.loaded.name != name {
        return None;
    }
    let span = known.counterexamples.first()?.finding.span()?;
    let waits: Vec<String> =
        export.waits.iter().map(|wait| wait.replacen(" waits while ", " wait while ", 1)).collect();
    let states = counted(export.states, "state");
    let title = format!("Let {} — no error and no deadlock in all {states} then", waits.join(", and "));
    let edits = export.edits.iter().map(|edit| (edit.start as usize..edit.end as usize, edit.text.clone())).collect();
    let preferred = scheduled.report.gives_up.is_empty() && scheduled.report.shuts_out.is_empty();
    let mends = Some(SAFETY.to_owned());
    Some(Action { tried: false, preferred, mends, ..action(title, &known.place(span, name).1, edits) })
}
