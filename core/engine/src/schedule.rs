//! Under which scheduling a model is safe, added to a check.

use fabius_analysis::schedule::{ScheduleProgress, ScheduleRequest, ScheduleRound, Scheduled, Stops, schedule};
use fabius_observe::{CheckContext, Event};
use fabius_task::Loaded;
use fabius_task::report::schedule::{ScheduleReport, ScheduleVerdict};
use fabius_task::report::{PropertyReport, Stopped, Verdict};
use fabius_task::settings::Settings;

/// Adds to the report on safety under which scheduling the model is safe, if a violation was found or not everything was looked at.
///
/// # Errors
/// Fabius itself is wrong: what happened.
pub fn add_schedule(
    safety: &mut PropertyReport,
    loaded: &Loaded,
    settings: &Settings,
    context: &mut CheckContext<'_>,
) -> Result<(), String> {
    let cancel = context.cancel;
    let violated = safety.verdict == Verdict::Violated;
    if !violated && safety.verdict != Verdict::Undecided {
        return Ok(());
    }
    if cancel.requested().is_some() || safety.stopped == Some(Stopped::Timeout) {
        let late = || Box::new(ScheduleReport::unknown("no time was left to look for a schedule".to_owned()));
        safety.schedule = violated.then(late);
        return Ok(());
    }
    let request = ScheduleRequest::after_check(safety.transitions);
    let states_max = settings.limits.states_max.map_or(request.states_max, |most| most.min(request.states_max));
    let request = ScheduleRequest { states_max, memory_bytes_max: settings.limits.memory_bytes_max, ..request };
    let property = safety.name.clone();
    let scheduled = schedule(loaded, &request, &Stops::all(cancel), &mut |progress| {
        let ScheduleProgress::Round(round) = progress else { return };
        let verdict = match (round.schedulable, violated || round.erroneous) {
            (true, true) => ScheduleVerdict::Avoidable,
            (true, false) => ScheduleVerdict::SafeIfScheduled,
            (false, _) => ScheduleVerdict::Unknown,
        };
        let ScheduleRound { delays: round, finished, states, safe: region, .. } = round;
        let property = property.clone();
        (context.observe)(Event::Schedule { property, round, finished, states, region, verdict });
    });
    let Scheduled { report, failure, .. } = if violated { scheduled.after_violation() } else { scheduled };
    match report.verdict {
        ScheduleVerdict::Holds => {}
        ScheduleVerdict::Unknown if !violated => {}
        _ => safety.schedule = Some(Box::new(report)),
    }
    failure.map_or(Ok(()), Err)
}
