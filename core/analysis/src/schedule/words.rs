//! Sentences about schedules.

use fabius_search::restrict::Refusal;
use fabius_task::report::schedule::AlternativeReport;
use fabius_task::words::{counted, grouped};
use std::collections::BTreeSet;

/// At most this many places that are given up are named.
const GIVEN_UP_MAX: usize = 6;

/// Why nothing true can be said of a model.
pub(super) fn refused(refusal: Refusal) -> &'static str {
    match refusal {
        Refusal::InfiniteTurn => "an atomic sequence can go on for ever",
        Refusal::Environment => "something other than a process can move",
        Refusal::NoInitialState => "the initial state cannot be computed",
    }
}

/// How much is known of who is shut out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Certainty {
    /// Every safe schedule shuts them out where they are, and nobody else.
    Must,
    /// The schedule does, and nobody else; another one need not.
    Does,
    /// The schedule does, and may shut out others: not everything was explored.
    AsFarAsIsKnown,
}

/// *nobody is shut out*, or who is.
pub(super) fn who_is_shut_out(shut_out: &[String], certainty: Certainty) -> String {
    match (shut_out, certainty) {
        ([], Certainty::Must | Certainty::Does) => "nobody is shut out".to_owned(),
        ([], Certainty::AsFarAsIsKnown) => "nobody is known to be shut out".to_owned(),
        (some, Certainty::Must) => format!("it must hold back for ever: {}", some.join(", ")),
        (some, Certainty::Does) => format!("it holds back for ever: {}", some.join(", ")),
        (some, Certainty::AsFarAsIsKnown) => format!("it holds back for ever, as far as is known: {}", some.join(", ")),
    }
}

/// *keeps 447 of 500 states*.
pub(super) fn keeps(states: u64, of: Option<u64>) -> String {
    match of {
        Some(of) => format!("keeps {} of {}", grouped(states), counted(of, "state")),
        None => format!("keeps {}", counted(states, "state")),
    }
}

/// *holds if … (1 wait; nobody is shut out; keeps 447 of 500 states)*; `checking` are those who wait and only check something,
/// `given_up` the places that are no longer reached.
pub(super) fn sentence(
    schedule: &AlternativeReport,
    checking: &BTreeSet<String>,
    given_up: &[String],
    shut_out: &[String],
) -> String {
    let who: Vec<&str> = schedule.waits.iter().map(|wait| wait.text.as_str()).collect();
    let shown = &given_up[..given_up.len().min(GIVEN_UP_MAX)];
    let more = match given_up.len() - shown.len() {
        0 => String::new(),
        more => format!(" and {}", counted(more as u64, "more place")),
    };
    let given_up =
        if shown.is_empty() { String::new() } else { format!("; no longer reached: {}{more}", shown.join(", ")) };
    let checks = |who: &String| format!("; {who} only checks, and changes nothing that is shared");
    let checking: String = checking.iter().map(checks).collect();
    format!(
        "holds if {} ({}{checking}; {}{given_up}; {})",
        who.join(", and "),
        counted(who.len() as u64, "wait"),
        who_is_shut_out(shut_out, Certainty::Must),
        keeps(schedule.kept.states, schedule.kept.of)
    )
}
