//! Under which scheduling a model is safe, added to a check.

use crate::task::Checked;
use fabius_analysis::schedule::{ScheduleProgress, ScheduleRequest, ScheduleRound, Scheduled, Stops, schedule};
use fabius_observe::{CheckContext, Event};
use fabius_task::Loaded;
use fabius_task::report::schedule::{ScheduleReport, ScheduleVerdict};
use fabius_task::report::{Stopped, Verdict};
use fabius_task::settings::Settings;

/// Adds to a check of safety that found a violation, or that did not look at everything, under which scheduling the model is
/// safe.
pub(crate) fn add_to(checked: &mut Checked, loaded: &Loaded, settings: &Settings, context: &mut CheckContext<'_>) {
    let cancel = context.cancel;
    let violated = checked.report.verdict == Verdict::Violated;
    if !violated && checked.report.verdict != Verdict::Undecided {
        return;
    }
    if cancel.requested().is_some() || checked.report.stopped == Some(Stopped::Timeout) {
        let late = || Box::new(ScheduleReport::unknown("no time was left to look for a schedule".to_owned()));
        checked.report.schedule = violated.then(late);
        return;
    }
    let request = ScheduleRequest::after_check(checked.report.transitions);
    let states_max = settings.limits.states_max.map_or(request.states_max, |most| most.min(request.states_max));
    let request = ScheduleRequest { states_max, memory_bytes_max: settings.limits.memory_bytes_max, ..request };
    let property = checked.report.name.clone();
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
    checked.failure = checked.failure.take().or(failure);
    match report.verdict {
        ScheduleVerdict::Holds => {}
        ScheduleVerdict::Unknown if !violated => {}
        _ => checked.report.schedule = Some(Box::new(report)),
    }
}
