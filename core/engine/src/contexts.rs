//! With which processes, arguments and inputs a model without `init` goes wrong: each context is checked by itself.

use crate::run::check;
use fabius_analysis::contexts::{Choices, Context};
use fabius_base::{Cancel, Limits, StopReason};
use fabius_observe::CheckContext;
use fabius_task::{Loaded, SAFETY, Settings, TOOL, VERSION, Verdict};
use serde::Serialize;
use std::time::Duration;

/// Which contexts are checked, and how far.
#[derive(Clone, Debug, Default)]
pub struct ContextsRequest {
    /// At most this many processes are created.
    pub processes_max: usize,
    /// Types to create processes of; all that are not active if empty.
    pub types: Vec<String>,
    /// Only contexts that create a process of this type.
    pub with: Option<String>,
    /// Values of parameters: `NAME=LIST`.
    pub values: Vec<String>,
    /// Values of global variables at the start: `NAME=LIST`.
    pub inputs: Vec<String>,
    /// At most this many contexts are checked.
    pub contexts_max: usize,
    /// What checking one of them may use.
    pub limits: Limits,
}

/// What is known of a context.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ContextReport {
    /// What its `init` does.
    pub statements: Vec<String>,
    /// Whether anything goes wrong.
    pub verdict: Verdict,
    /// What goes wrong, or what the verdict rests on.
    pub reason: String,
    /// Where something goes wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Length of the run that shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
}

/// What is known of all contexts; `docs/schema/contexts.schema.json` describes it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ContextsReport {
    /// `fabius`.
    pub tool: &'static str,
    /// Its version.
    pub version: &'static str,
    /// The model.
    pub file: String,
    /// All contexts were looked at that there are.
    pub complete: bool,
    /// The contexts, those with few processes first.
    pub contexts: Vec<ContextReport>,
}

impl ContextsReport {
    /// The contexts with a verdict.
    pub fn with(&self, verdict: Verdict) -> impl Iterator<Item = &ContextReport> {
        self.contexts.iter().filter(move |context| context.verdict == verdict)
    }
}

/// Why contexts are not judged.
#[derive(Debug)]
pub enum NotJudged {
    /// The request asks for what is not there.
    Refused(String),
    /// The model cannot be checked, alone or with this `init`.
    Faulty(Box<Loaded>, Vec<String>),
    /// Somebody asked to stop before anything was known.
    Stopped(StopReason),
    /// Fabius itself is wrong.
    Internal(String),
}

/// Reads a model with a process that executes these statements at once when a run begins.
pub type LoadWith<'a> = dyn FnMut(&[String]) -> Result<Loaded, StopReason> + 'a;

/// Checks contexts until all are checked or somebody asks to stop. `now` tells the time since some moment.
///
/// # Errors
/// Why none is judged.
pub fn contexts(
    request: &ContextsRequest,
    load: &mut LoadWith<'_>,
    cancel: &Cancel,
    now: &(dyn Fn() -> Duration + Sync),
) -> Result<ContextsReport, NotJudged> {
    // A model in which nothing runs has no program.
    let empty = load(&[]).map_err(NotJudged::Stopped)?;
    if empty.checkable().is_none() {
        return Err(NotJudged::Faulty(Box::new(empty), Vec::new()));
    }
    let choices = Choices::of(&empty, &request.types, &request.values, &request.inputs).map_err(NotJudged::Refused)?;
    if let Some(with) = request.with.as_ref().filter(|with| !choices.has(with)) {
        return Err(NotJudged::Refused(format!("there is no process type `{with}` to create processes of")));
    }
    let wanted = |context: &Context| request.with.as_ref().is_none_or(|with| choices.creates(context, with));
    let mut report =
        ContextsReport { tool: TOOL, version: VERSION, file: empty.name.clone(), complete: true, contexts: Vec::new() };
    for context in choices.contexts(request.processes_max).filter(wanted) {
        let statements = choices.statements(&context);
        let stopped = cancel.requested().is_some() || request.contexts_max <= report.contexts.len();
        let Some(loaded) = (!stopped).then(|| load(&statements).ok()).flatten() else {
            report.complete = false;
            break;
        };
        if loaded.checkable().is_none() {
            return Err(NotJudged::Faulty(Box::new(loaded), statements));
        }
        report.contexts.push(judge(&loaded, request.limits, statements, cancel, now)?);
    }
    Ok(report)
}

fn judge(
    loaded: &Loaded,
    limits: Limits,
    statements: Vec<String>,
    cancel: &Cancel,
    now: &(dyn Fn() -> Duration + Sync),
) -> Result<ContextReport, NotJudged> {
    let settings = Settings { properties: vec![SAFETY.to_owned()], schedule: false, limits, ..Settings::default() };
    let mut context = CheckContext { cancel, now, observe: &mut |_| {}, controls: None };
    let outcome = check(loaded, &settings, &mut context);
    if let Some(failure) = outcome.failure {
        return Err(NotJudged::Internal(failure));
    }
    let verdict = outcome.report.verdict;
    Ok(match outcome.counterexamples.first() {
        Some(found) => ContextReport {
            statements,
            verdict,
            reason: found.finding.headline.clone(),
            line: Some(found.report.line),
            steps: Some(found.report.steps),
        },
        None => ContextReport { statements, verdict, reason: outcome.report.reason, line: None, steps: None },
    })
}
