//! Sentences about schedules.

use fabius_search::restrict::Refusal;
use fabius_task::report::schedule::AlternativeReport;
use fabius_task::words::{counted, grouped};

/// Why nothing true can be said of a model.
pub(super) fn refused(refusal: Refusal) -> &'static str {
    match refusal {
        Refusal::InfiniteTurn => "an atomic sequence can go on for ever",
        Refusal::Environment => "something other than a process can move",
        Refusal::NoInitialState => "the initial state cannot be computed",
    }
}

/// *nobody is shut out*, or who is: under every safe schedule then.
pub(super) fn who_is_shut_out(shut_out: &[String]) -> String {
    match shut_out {
        [] => "nobody is shut out".to_owned(),
        some => format!("it must hold back for ever: {}", some.join(", ")),
    }
}

/// *keeps 447 of 500 states*.
pub(super) fn keeps(states: u64, of: Option<u64>) -> String {
    match of {
        Some(of) => format!("keeps {} of {}", grouped(states), counted(of, "state")),
        None => format!("keeps {}", counted(states, "state")),
    }
}

/// *holds if … (1 wait; nobody is shut out; keeps 447 of 500 states)*.
pub(super) fn sentence(schedule: &AlternativeReport, waits: usize, shut_out: &[String]) -> String {
    let who: Vec<&str> = schedule.waits.iter().map(|wait| wait.text.as_str()).collect();
    let mut gives_up: Vec<u32> = schedule.gives_up.iter().map(|place| place.line).collect();
    gives_up.sort_unstable();
    gives_up.dedup();
    let gives_up = match gives_up.as_slice() {
        [] => String::new(),
        [line] => format!("; line {line} is no longer reached"),
        lines => {
            let lines: Vec<String> = lines.iter().map(u32::to_string).collect();
            format!("; lines {} are no longer reached", lines.join(", "))
        }
    };
    format!(
        "holds if {} ({}; {}{gives_up}; {})",
        who.join(", and "),
        counted(waits as u64, "wait"),
        who_is_shut_out(shut_out),
        keeps(schedule.kept.states, schedule.kept.of)
    )
}
