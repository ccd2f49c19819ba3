//! Where the text does not exclude a deadlock, while no check decided whether there is one.

use super::diagnostics::{Diagnostic, Level};
use super::place::Place;
use super::schedules::place_of;
use crate::session::Document;
use crate::session::reading::Reading;
use fabius_analysis::stuck::{Being, CandidateReport, CandidateVerdict, PlaceReport, StuckReport, StuckVerdict};
use fabius_base::Code;
use fabius_engine::SAFETY;
use fabius_engine::words::counted;
use std::collections::BTreeMap;

/// Hints at this many lines.
const HINTS_MAX: usize = 20;
/// Where more processes than this wait, they are only counted.
const NAMED_MAX: usize = 2;

/// A hint at each place at which a process could be part of a deadlock; or that there is none.
pub(super) fn hints(name: &str, document: &Document, reading: &Reading) -> Vec<Diagnostic> {
    let Some(report) = document.results.open_deadlocks(&reading.loaded) else { return Vec::new() };
    if report.verdict == StuckVerdict::NoDeadlock {
        return none_possible(name, report, reading).into_iter().collect();
    }
    let mut lines: BTreeMap<(&str, u32), Vec<(&CandidateReport, usize)>> = BTreeMap::new();
    // What a run was found to comes first.
    for verdict in [CandidateVerdict::Reached, CandidateVerdict::Unknown] {
        for candidate in report.candidates.iter().filter(|candidate| candidate.verdict == verdict) {
            for (at, place) in candidate.places.iter().enumerate().filter(|(_, place)| place.is == Being::Blocked) {
                let Some((file, line)) = place.file.as_deref().zip(place.line) else { continue };
                lines.entry((file, line)).or_default().push((candidate, at));
            }
        }
    }
    let hint =
        |((file, line), all): (&(&str, u32), &Vec<_>)| hint(reading, place_of(reading, file, *line)?, report, all);
    lines.iter().filter_map(hint).take(HINTS_MAX).collect()
}

fn hint(
    reading: &Reading,
    place: Place,
    report: &StuckReport,
    all: &[(&CandidateReport, usize)],
) -> Option<Diagnostic> {
    let (candidate, at) = *all.first()?;
    let here = &candidate.places[at];
    let waiting = |(index, place): &(usize, &PlaceReport)| *index != at && is_waiting(place);
    let others: Vec<&PlaceReport> =
        candidate.places.iter().enumerate().filter(waiting).map(|(_, place)| place).collect();
    let run = candidate.run.and_then(|run| report.runs.get(run));
    let begins = match run {
        Some(run) => {
            format!("A run of {} leads to a deadlock: {} waits here", counted(run.steps, "step"), name_of(here))
        }
        None => format!("A deadlock is not excluded yet: {} could wait here", name_of(here)),
    };
    let open = all.iter().filter(|(other, _)| other.verdict == CandidateVerdict::Unknown && *other != candidate);
    let further = match open.count() as u64 {
        0 => String::new(),
        count => format!(" ({} more)", counted(count, "combination")),
    };
    let message = format!("{begins}{} {}{further}.", awaited(here), meanwhile(&others));
    let could = if run.is_some() { "waits" } else { "could wait" };
    let related = others.iter().filter_map(|other| {
        let there = place_of(reading, other.file.as_deref()?, other.line?)?;
        Some((there, format!("{} {could} here{}", name_of(other), awaited(other))))
    });
    Some(Diagnostic {
        related: related.collect(),
        level: if run.is_some() { Level::Warning } else { Level::Hint },
        ..diagnostic(place, message)
    })
}

fn is_waiting(place: &PlaceReport) -> bool {
    matches!(place.is, Being::Blocked | Being::AtEndLabel)
}

/// That there is no deadlock, and how that is known.
fn none_possible(name: &str, report: &StuckReport, reading: &Reading) -> Option<Diagnostic> {
    let place = Place::of(reading.map(), reading.place_of(SAFETY)?);
    let how = match report.proof? {
        fabius_analysis::stuck::Proof::Text => "proved impossible without a search: ",
        fabius_analysis::stuck::Proof::Search => "impossible: ",
    };
    (place.file == name).then(|| diagnostic(place, format!("Deadlock {how}{}.", report.reason)))
}

fn diagnostic(place: Place, message: String) -> Diagnostic {
    Diagnostic {
        place,
        level: Level::Hint,
        code: Code::InvalidEndState.as_str(),
        message,
        related: Vec::new(),
        original: None,
        of_check: true,
        faded: false,
        counterexample: None,
    }
}

fn name_of(place: &PlaceReport) -> String {
    let pid = place.pid.map(|pid| format!("[{pid}]")).unwrap_or_default();
    format!("{}{pid}", place.process)
}

fn awaited(place: &PlaceReport) -> String {
    let Some(first) = place.statements.first() else { return String::new() };
    let more = if place.statements.len() > 1 { " or an alternative" } else { "" };
    format!(" for `{first}`{more}")
}

/// What the other processes do meanwhile.
fn meanwhile(others: &[&PlaceReport]) -> String {
    let waits = |other: &&PlaceReport| {
        let line = other.line.map(|line| format!(" at line {line}")).unwrap_or_default();
        format!("{} waits{line}", name_of(other))
    };
    match others.len() {
        0 => "while no other process is left".to_owned(),
        few if few <= NAMED_MAX => format!("while {}", others.iter().map(waits).collect::<Vec<_>>().join(" and ")),
        many => format!("while {many} other processes wait, too"),
    }
}
