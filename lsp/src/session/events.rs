//! What work on threads of its own tells the session.

use super::jobs::{Job, RunId, Work};
use super::look_around::StateSpaceFindings;
use super::questions::Answer;
use super::reading::Reading;
use super::sweeps::SweepProgress;
use super::workspace::WorkspaceFindings;
use fabius_analysis::CoReachability;
use fabius_analysis::schedule::Scheduled;
use fabius_analysis::stuck::StuckReport;
use fabius_engine::report::{PropertyReport, Stopped};
use fabius_engine::{Event, Outcome, Planned, Report, Verdict, crashed, plan};
use fabius_supervise::Unfinished;
use std::sync::Arc;

/// What a run tells.
#[derive(Debug)]
pub struct CheckEvent {
    /// Which run.
    pub run: RunId,
    /// What happened.
    pub what: CheckEventKind,
}

/// What happened in a run.
#[derive(Debug)]
pub enum CheckEventKind {
    /// Something that the engine tells.
    Event(Box<Event>),
    /// A sweep goes on.
    Sweeping(Box<SweepProgress>),
    /// The run is over; if it panicked, what the panic said.
    Finished(Box<Result<Outcome, String>>),
    /// A survey is over: what was seen.
    Surveyed(Box<Option<StateSpaceFindings>>),
    /// A schedule that avoids what goes wrong was looked for.
    Scheduled(Box<Option<Scheduled>>),
    /// It was looked for where deadlocks are not excluded.
    Deadlocks(Box<Option<StuckReport>>),
    /// A question was answered, if anything is known.
    Answered(Box<Option<Answer>>),
    /// It is known whether two places can be reached at once, if anything is.
    Met(Box<Option<CoReachability>>),
    /// The models of the folders were read; `None` if that did not come to its end.
    Workspace(Box<Option<WorkspaceFindings>>),
    /// A text of this document was read; if that ended in a panic, what the panic said.
    Read(String, Box<Result<Reading, String>>),
}

impl CheckEventKind {
    /// Work ended in a panic, which said this.
    pub(super) fn failed(work: &Work, said: String) -> Self {
        match work {
            Work::Survey => Self::Surveyed(Box::new(None)),
            Work::Schedule => Self::Scheduled(Box::new(None)),
            Work::Deadlocks => Self::Deadlocks(Box::new(None)),
            Work::Ask(_) => Self::Answered(Box::new(Some(Answer::Failed(said)))),
            Work::Meet(_) => Self::Met(Box::new(None)),
            Work::Check(..) | Work::FixValidation(_) => Self::Finished(Box::new(Err(said))),
        }
    }

    /// Work did not come to its end.
    pub(super) fn unfinished(job: &Job, why: Unfinished) -> Self {
        match &job.work {
            Work::Survey => Self::Surveyed(Box::new(None)),
            Work::Schedule => Self::Scheduled(Box::new(None)),
            Work::Deadlocks => Self::Deadlocks(Box::new(None)),
            Work::Ask(_) => Self::Answered(Box::new(None)),
            Work::Meet(_) => Self::Met(Box::new(None)),
            Work::Check(..) | Work::FixValidation(_) => Self::Finished(Box::new(Ok(undecided(job, why)))),
        }
    }
}

/// What is known after a check that did not come to its end: nothing, and why.
pub(super) fn undecided(job: &Job, why: Unfinished) -> Outcome {
    let selectors: Vec<String> = match &job.work {
        Work::Check(_, property) => vec![property.clone()],
        _ => Vec::new(),
    };
    let stopped = match why {
        Unfinished::Abandoned(reason) => Stopped::from(reason),
        Unfinished::Crowded => Stopped::Cancelled,
    };
    let reason = format!("not checked: {}", why.sentence());
    let plan = job.loaded.checkable().and_then(|program| plan(program, &selectors).ok());
    let of = |planned: Planned| PropertyReport {
        stopped: Some(stopped),
        expected: job.loaded.expected(&planned.name),
        ..PropertyReport::unchecked(&planned.name, planned.kind, &reason)
    };
    let properties = plan.into_iter().flat_map(|plan| plan.properties).map(of).collect();
    let empty = crashed(&job.loaded.name, "");
    let report =
        Report { verdict: Verdict::Undecided, reason: reason.clone(), properties, internal_error: None, ..empty };
    Outcome { report, counterexamples: Vec::new(), findings: Vec::new(), executed: None, failure: None }
}

/// Who is told; called on the thread of a check.
pub type EventSink = Arc<dyn Fn(CheckEvent) + Send + Sync>;

/// What a panic said.
pub fn said(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic without words").to_owned()
}
