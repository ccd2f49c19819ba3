//! A look for a schedule at length begins with a brief one, so that it does not say less than that.
//!
//! A look explores first, and then asks what can be told of what was explored. The more states there are, the longer the second part
//! takes; with a limit of time, more states can end in less of an answer. So what the brief look found is kept until there is as good
//! an answer about more states.

use super::{
    ScheduleProgress, ScheduleReport, ScheduleRequest, ScheduleRound, ScheduleVerdict, Scheduled, Stops, look,
};
use fabius_task::internal_error;
use fabius_task::load::Loaded;
use fabius_task::report::schedule::FairVerdict;

/// Says under which scheduling a model is safe. `observe` is told of stages and rounds.
pub fn schedule(
    loaded: &Loaded,
    request: &ScheduleRequest,
    stops: &Stops,
    observe: &mut dyn FnMut(ScheduleProgress),
) -> Scheduled {
    let Some(brief) = request.brief() else { return look(loaded, request, stops, observe).0 };
    let mut told = None;
    let (before, was_erroneous) = look(loaded, &brief, stops, &mut |progress| {
        if let ScheduleProgress::Round(round) = &progress {
            told = Some(furthest(round));
        }
        observe(progress);
    });
    if strength(&before.report) == Strength::All || stops.all.requested().is_some() {
        return before;
    }
    // It explores the same states in the same order first.
    let (then, is_erroneous) = look(loaded, request, stops, &mut |progress| match &progress {
        ScheduleProgress::Round(round) if told.is_some_and(|told| furthest(round) <= told) => {}
        _ => observe(progress),
    });
    better(before, then, was_erroneous || is_erroneous)
}

/// How far a round is, to be compared.
fn furthest(round: &ScheduleRound) -> (u32, u64, bool) {
    (round.delays, round.states, round.finished)
}

/// How much an answer says. What is proved of the whole model is most; then comes what is easiest to follow: a few waits, a fixed
/// order of types, a scheduler that looks at the whole state or decides by itself.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Strength {
    Nothing,
    WholeState,
    Order,
    Waits,
    FewestWaits,
    All,
}

fn strength(report: &ScheduleReport) -> Strength {
    match report.verdict {
        ScheduleVerdict::Unknown => Strength::Nothing,
        ScheduleVerdict::Unavoidable | ScheduleVerdict::Holds => Strength::All,
        ScheduleVerdict::Avoidable | ScheduleVerdict::SafeIfScheduled => match () {
            () if !report.waits.is_empty() && report.fewest => Strength::FewestWaits,
            () if !report.waits.is_empty() => Strength::Waits,
            () if !report.priorities.is_empty() => Strength::Order,
            () => Strength::WholeState,
        },
    }
}

/// The answer that says more, the later one if both say as much. Both are of the same model, `erroneous` if one of them met an error.
fn better(before: Scheduled, then: Scheduled, erroneous: bool) -> Scheduled {
    let is_known =
        |report: &ScheduleReport| report.fair.as_ref().is_some_and(|fair| fair.verdict != FairVerdict::Unknown);
    let says = |report: &ScheduleReport| (is_known(report), strength(report));
    let scheduled = |verdict| matches!(verdict, ScheduleVerdict::Avoidable | ScheduleVerdict::SafeIfScheduled);
    let contradicts = match (before.report.verdict, then.report.verdict) {
        (known, ScheduleVerdict::Unavoidable) => scheduled(known),
        (ScheduleVerdict::Avoidable, ScheduleVerdict::Holds) => true,
        _ => false,
    };
    let failure = before.failure.clone().or(then.failure.clone());
    if contradicts {
        let what = "a brief look found a schedule that avoids every error, and a longer one that there is none or nothing to avoid";
        return Scheduled { failure: failure.or(Some(internal_error(what))), ..then };
    }
    if says(&before.report) <= says(&then.report) {
        return Scheduled { failure, ..then };
    }
    let mut kept = Scheduled { failure, ..before };
    if erroneous && kept.report.verdict == ScheduleVerdict::SafeIfScheduled {
        kept.report.verdict = ScheduleVerdict::Avoidable;
    }
    kept.report.reason = format!("{}; a longer look found no more: {}", kept.report.reason, then.report.reason);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(verdict: ScheduleVerdict) -> Scheduled {
        Scheduled::only(ScheduleReport { verdict, ..ScheduleReport::unknown(format!("{verdict:?}")) })
    }

    #[test]
    fn an_answer_is_kept_until_there_is_as_good_a_one() {
        use ScheduleVerdict::{Avoidable, Holds, SafeIfScheduled, Unavoidable, Unknown};
        let of = |before, then, erroneous| {
            let better = better(answer(before), answer(then), erroneous);
            (better.report.verdict, better.failure.is_some(), better.report.reason)
        };
        assert_eq!(of(Unknown, Unknown, true), (Unknown, false, "Unknown".to_owned()));
        assert_eq!(of(Unknown, Unavoidable, true).0, Unavoidable);
        let kept = "SafeIfScheduled; a longer look found no more: Unknown";
        assert_eq!(of(SafeIfScheduled, Unknown, false), (SafeIfScheduled, false, kept.to_owned()));
        assert_eq!(of(SafeIfScheduled, Unknown, true), (Avoidable, false, kept.to_owned()));
        assert_eq!(of(SafeIfScheduled, Holds, false), (Holds, false, "Holds".to_owned()));
        for (before, then) in [(Avoidable, Unavoidable), (SafeIfScheduled, Unavoidable), (Avoidable, Holds)] {
            assert!(of(before, then, true).1, "{before:?} {then:?} cannot both be true");
        }
    }
}
