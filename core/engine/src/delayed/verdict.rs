//! What a search in the order of delays found out, in figures and in sentences.

use super::{Explored, How, Order};
use crate::task::{measured, missed};
use fabius_search::delay_bounded::Coverage;
use fabius_task::plan::Planned;
use fabius_task::report::{PropertyReport, ViolationReport};
use fabius_task::scheduler::Chosen;
use fabius_task::settings::DelayMode;
use fabius_task::words::{counted, limit_reached};

/// What the search found out, in figures and one sentence.
pub(super) fn describe(
    planned: &Planned,
    how: How,
    mode: DelayMode,
    explored: &Explored,
    sentence: String,
    seconds: f64,
) -> PropertyReport {
    let outcome = &explored.outcome;
    PropertyReport {
        reason: sentence,
        search: mode.as_str(),
        store: how.store_word(),
        bytes_per_state: explored.store_bytes as f64 / outcome.statistics.states.max(1) as f64,
        ..measured(planned, outcome, seconds)
    }
}

/// One sentence that says what the verdict rests on, if nothing was found.
pub(super) fn reason(explored: &Explored, order: Order<'_>, chosen: &Chosen, is_sealed: bool) -> String {
    let (outcome, exact) = (&explored.outcome, order.mode == DelayMode::Exact);
    let choices = order.delaying.choices_max;
    let searched = format!("searched {}", counted(outcome.statistics.states, "state"));
    let under = under(chosen);
    match explored.outcome.coverage {
        Coverage::EverySchedule if outcome.exactness.is_exact() => {
            let which = if is_sealed { " that keeps to the seals" } else { "" };
            let all = format!(
                "safe under every schedule{which}: no assertion can fail, no invalid end state, no runtime error"
            );
            match exact {
                true => format!("{all}; {} with the scheduler's", counted(explored.outcome.product_states, "state")),
                false => all,
            }
        }
        Coverage::EverySchedule => {
            format!("no error found ({searched}); this is not a proof: {}", missed(outcome.exactness))
        }
        Coverage::EveryDelay => {
            let choices = counted(u64::from(choices.unwrap_or(0)), "choice");
            let more = "more delays lead to nothing new, runs with more choices were not looked at";
            match exact {
                true => format!("safe for all schedules with at most {choices} ({searched}); {more}"),
                false => format!("no error found up to {choices} ({searched}); {more}"),
            }
        }
        Coverage::Bound(bound) if exact => {
            let bounds = within(bound, choices);
            let pairs = counted(explored.outcome.product_states, "state");
            format!("safe with at most {bounds} {under} ({searched}, {pairs} with the scheduler's)")
        }
        Coverage::Bound(bound) => format!("no error found up to {} {under} ({searched})", within(bound, choices)),
        Coverage::Ended(bound) => {
            let limit = limit_reached(outcome.completeness, &order.limits);
            match bound {
                Some(bound) if exact => {
                    format!("safe with at most {} {under} ({searched}); then {limit}", within(bound, choices))
                }
                Some(bound) => {
                    format!("no error found up to {} {under} ({searched}); then {limit}", within(bound, choices))
                }
                None => format!("no error found {under} ({searched}); this is not a proof: {limit}"),
            }
        }
    }
}

/// The bounds of a search, in words.
pub(super) fn within(delays: u32, choices: Option<u32>) -> String {
    let delays = counted(u64::from(delays), "delay");
    match choices {
        Some(choices) => format!("{delays} and {}", counted(u64::from(choices), "choice")),
        None => delays,
    }
}

pub(super) fn under(chosen: &Chosen) -> String {
    match chosen.why {
        Some(why) => format!("under {}, {why}", chosen.kind.name()),
        None => format!("under {}", chosen.kind.name()),
    }
}

/// The sentence for a violation: how many delays and steps it takes.
pub(super) fn violated(
    first: &ViolationReport,
    keep_going: bool,
    different: usize,
    chosen: &Chosen,
    choices: Option<u32>,
) -> String {
    let Some(delays) = &first.delays else {
        return format!("{}: {}", first.kind.sentence(), counted(first.steps, "step"));
    };
    let fewest = match (first.fewest_delays, choices) {
        // Nothing is fewer than none.
        (Some(true), Some(choices)) if !delays.is_empty() => {
            format!(", and not with fewer within {}", counted(u64::from(choices), "choice"))
        }
        (Some(true), _) => ", and not with fewer".to_owned(),
        _ => String::new(),
    };
    let delays = counted(delays.len() as u64, "delay");
    let steps = counted(first.steps, "step");
    let what = first.kind.sentence();
    let more = match (keep_going, different) {
        (false, _) => "; stopped at the first violation".to_owned(),
        (true, 1) => String::new(),
        (true, several) => format!("; {} in all", counted(several as u64, "different violation")),
    };
    format!("{what}: {delays}, {steps}, {}{fewest}{more}", under(chosen))
}
