//! What a thread does for a [`Job`].

use super::events::{CheckEvent, CheckEventKind, EventSink, undecided};
use super::jobs::{Job, RunId, Work, memory_max, settings, time_for};
use super::look_around::look_around;
use super::questions;
use fabius_analysis::schedule::{ScheduleRequest, Scheduled, Stops, schedule};
use fabius_analysis::stuck::{StuckReport, StuckRequest, stuck};
use fabius_analysis::{CoReachability, Line};
use fabius_base::{Cancel, Limits, StopReason};
use fabius_engine::{CheckContext, Controls, Event, Goal, Outcome, Settings};
use fabius_project::cache::{Cache, Ended};
use fabius_supervise::{Clock, Unfinished};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Time between two pieces of news about the progress of one check.
const PROGRESS_PAUSE: Duration = Duration::from_millis(100);

/// Time between two pieces of news about what is known so far: more often, whoever shows it would flicker.
const ROUND_PAUSE: Duration = Duration::from_millis(500);
/// Whether two lines meet is looked for in this many states.
const MEET_STATES_MAX: u64 = 20_000;
/// Whether deadlocks that the text does not exclude can be reached is looked for in this many states.
const DEADLOCKS_STATES_MAX: u64 = 20_000;

/// Does what is to be done, and says what came of it.
pub(super) fn execute(
    run: RunId,
    job: &Job,
    (cancel, clock, controls): (&Cancel, &Clock, &Controls),
    event_sink: &EventSink,
) -> CheckEventKind {
    match &job.work {
        Work::Survey => CheckEventKind::Surveyed(Box::new(look_around(job, cancel))),
        Work::Schedule => CheckEventKind::Scheduled(Box::new(look_for_schedule(job, cancel))),
        Work::Deadlocks => CheckEventKind::Deadlocks(Box::new(look_for_deadlocks(job, cancel))),
        Work::Check(..) | Work::FixValidation(_) => {
            CheckEventKind::Finished(Box::new(Ok(check(run, job, (cancel, clock, controls), event_sink))))
        }
        Work::Ask(question) => {
            let mut tell = |so_far| event_sink(CheckEvent { run, what: CheckEventKind::Sweeping(Box::new(so_far)) });
            CheckEventKind::Answered(Box::new(Some(questions::answer(job, question, cancel, &mut tell))))
        }
        Work::Meet(lines) => CheckEventKind::Met(Box::new(co_reachable(job, lines, cancel))),
    }
}

/// Runs a check to its end; it halts where it tells of its progress while the clock stands still.
fn check(
    run: RunId,
    job: &Job,
    (cancel, clock, controls): (&Cancel, &Clock, &Controls),
    event_sink: &EventSink,
) -> Outcome {
    let is_bounded = job.demands.leave_out.is_some() || job.demands.max_depth.is_some();
    let made = if job.demands.leave_out.is_some() { Ok(Arc::clone(&job.loaded)) } else { job.searched.make(cancel) };
    let loaded = match made {
        Ok(loaded) => loaded,
        Err(reason) => return undecided(job, Unfinished::Abandoned(reason)),
    };
    let mut allowed = time_for(job);
    let mut next_progress = Duration::ZERO;
    let mut next_round = Duration::ZERO;
    let mut untold_round = None;
    let mut observe = |event: Event| {
        clock.wait_while_halted(cancel);
        let now = clock.elapsed();
        if matches!(event, Event::Searching { goal: Goal::ShorterRun | Goal::FairRun, .. }) {
            // What is found is shown by the same run whichever tier finds it, and however busy the machine is.
            allowed = allowed.max(job.budget.deep);
        }
        if allowed < now {
            cancel.time_out();
        }
        if matches!(event, Event::Progress { .. }) {
            if now < next_progress {
                return;
            }
            next_progress = now + PROGRESS_PAUSE;
        }
        if matches!(event, Event::Round { .. }) {
            if now < next_round {
                untold_round = Some(event);
                return;
            }
            (next_round, untold_round) = (now + ROUND_PAUSE, None);
        }
        if !matches!(event, Event::Finding { .. } | Event::Started { .. } | Event::Done { .. }) {
            event_sink(CheckEvent { run, what: CheckEventKind::Event(Box::new(event)) });
        }
    };
    let settings = fabius_engine::suited(&loaded, &settings(job));
    let cache = if is_bounded { None } else { Cache::of_user() };
    let mut context =
        CheckContext { cancel, now: &|| clock.elapsed(), observe: &mut observe, controls: Some(controls) };
    let in_this_order = settings.delaying.is_some().then(|| settings.clone());
    for question in std::iter::once(in_any_order(&settings)).chain(in_this_order) {
        if let Some(known) = cache.as_ref().and_then(|cache| cache.look_up(&loaded, &question, &mut context)) {
            return known;
        }
    }
    let began = clock.elapsed();
    let outcome = fabius_engine::check(&loaded, &settings, &mut context);
    // A bound that was set meanwhile is not part of the question.
    if let Some(cache) = cache.filter(|_| !controls.is_steered()) {
        let ended = Ended { took: clock.elapsed() - began, is_cut_short: cancel.requested().is_some() };
        cache.remember(&loaded, &question(&settings, &outcome), &outcome, ended);
    }
    if let Some(round) = untold_round {
        event_sink(CheckEvent { run, what: CheckEventKind::Event(Box::new(round)) });
    }
    outcome
}

/// The same question, in whichever order the states are looked at.
fn in_any_order(settings: &Settings) -> Settings {
    Settings { delaying: None, ..settings.clone() }
}

/// The question that an outcome answers. A proof is one in any order, and a shortest run is one; another run is what a search in
/// the order of delays shows, and others may show a shorter one.
fn question(settings: &Settings, outcome: &Outcome) -> Settings {
    let mut violations = outcome.report.properties.iter().flat_map(|property| &property.violations);
    if violations.all(|violation| violation.shortest) { in_any_order(settings) } else { settings.clone() }
}

/// Looks for a schedule that avoids the violation that was found, and writes it into the text where that is possible.
fn look_for_schedule(job: &Job, cancel: &Cancel) -> Option<Scheduled> {
    let request =
        ScheduleRequest { export: true, memory_bytes_max: Some(memory_max(job)), ..ScheduleRequest::default() };
    let found = schedule(&job.loaded, &request, &Stops::all(cancel), &mut |_| {}).after_violation();
    cancel.requested().is_none().then_some(found)
}

/// Looks where the text does not exclude a deadlock, and for a while whether a run leads there. What is known when the time
/// is up is true.
fn look_for_deadlocks(job: &Job, cancel: &Cancel) -> Option<StuckReport> {
    let began = Instant::now();
    let request = StuckRequest { every: true, limits: limits(job, DEADLOCKS_STATES_MAX), ..StuckRequest::default() };
    let found = stuck(&job.loaded, &request, cancel, &|| began.elapsed()).ok()?;
    (cancel.requested() != Some(StopReason::Cancelled)).then_some(found.report)
}

/// Looks whether places can be reached at once.
fn co_reachable(job: &Job, lines: &[Line], cancel: &Cancel) -> Option<CoReachability> {
    fabius_analysis::co_reachable(&job.loaded, lines, limits(job, MEET_STATES_MAX), cancel)
}

fn limits(job: &Job, states_max: u64) -> Limits {
    Limits { states_max: Some(states_max), memory_bytes_max: Some(memory_max(job)), ..Limits::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabius_engine::{Delaying, load};

    #[test]
    fn a_run_that_may_not_be_a_shortest_answers_for_its_order_only() {
        let text = "byte x;\nactive [2] proctype P() { x++; x++; assert(x < 4) }\n";
        let asked = |clarify_transitions_max| Settings {
            delaying: Some(Delaying { shows_shortest: true, ..Delaying::default() }),
            clarify_transitions_max,
            schedule: false,
            ..Settings::default()
        };
        let answered = |settings: &Settings, text: &str| {
            let loaded = load("m.pml", text.to_owned(), &[], &mut |_, _| None, settings);
            let mut context =
                CheckContext { cancel: &Cancel::new(), now: &|| Duration::ZERO, observe: &mut |_| {}, controls: None };
            question(settings, &fabius_engine::check(&loaded, settings, &mut context))
        };
        let (thorough, hasty) = (asked(Settings::default().clarify_transitions_max), asked(0));
        assert_eq!(answered(&thorough, text), in_any_order(&thorough));
        assert_eq!(answered(&hasty, text), hasty);
        assert_eq!(answered(&hasty, &text.replace("x < 4", "x < 9")), in_any_order(&hasty), "it is proved");
    }
}
