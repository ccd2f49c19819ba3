//! Models checked with several values of their macros, where a comment says so: `/*@ sweep N = 2..5 */`.

use super::jobs::{Job, RunId, Work, memory_max};
use super::questions::{Answer, Question};
use super::unread::UnreadText;
use super::{Notice, Session};
use fabius_base::{Cancel, Limits, StopReason};
use fabius_engine::settings::ThreadCount;
use fabius_engine::sweep::{
    Cell, NoEffect, Parameter, Prediction, combinations, in_line, named, not_worth_trying, predictions, without_effect,
};
use fabius_engine::{CheckContext, Event, Loaded, Settings, suited};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What came of the values of some macros.
#[derive(Clone, Debug)]
pub struct KeptSweep {
    /// The model; only a text that was not edited since is known to give the same.
    pub loaded: Arc<Loaded>,
    /// The macros.
    pub parameters: Vec<Parameter>,
    /// The combinations, and what the next value will cost; nothing as long as they are being checked.
    pub found: Option<(Vec<Cell>, Vec<Prediction>)>,
    /// How far it is as long as that is nothing.
    pub so_far: SweepProgress,
    run: RunId,
}

/// How far a sweep is.
#[derive(Clone, Default, Debug)]
pub struct SweepProgress {
    /// The combinations that were checked, or will not be.
    pub cells: Vec<Cell>,
    /// The values that are being checked, in a line; empty before the first.
    pub values: String,
    /// The states of their check so far.
    pub states: u64,
}

/// Time between two pieces of news about one combination.
const PROGRESS_PAUSE: Duration = Duration::from_secs(1);

/// Why a combination is not checked once the sweep is to end.
fn why_not(cancel: &Cancel) -> Option<String> {
    let why = match cancel.requested()? {
        StopReason::Cancelled => "the sweep was stopped",
        StopReason::Memory | StopReason::Full | StopReason::Exhausted => "the memory allowed for all was used up",
        StopReason::Timeout | StopReason::States | StopReason::Depth | StopReason::Delays => {
            "the time allowed for all was used up"
        }
    };
    Some(why.to_owned())
}

/// Checks a text with all combinations of values, as far as the time goes.
pub(super) fn sweep(
    job: &Job,
    text: &UnreadText,
    parameters: &[Parameter],
    cancel: &Cancel,
    tell: &mut dyn FnMut(SweepProgress),
) -> Answer {
    let combinations = match combinations(parameters) {
        Ok(combinations) => combinations,
        Err(why) => return Answer::Refused(why),
    };
    let mut cells: Vec<Cell> = Vec::new();
    for values in combinations {
        let cell = match why_not(cancel).or_else(|| not_worth_trying(parameters, &values, cells.last())) {
            Some(why) => Cell::unchecked(named(parameters, &values), why),
            None => {
                let line = in_line(&named(parameters, &values));
                let mut tell = |states| tell(SweepProgress { cells: cells.clone(), values: line.clone(), states });
                match checked(job, text, (parameters, &values), cancel, &mut tell) {
                    Ok(cell) => cell,
                    Err(answer) => return answer,
                }
            }
        };
        cells.push(cell);
    }
    let predictions = predictions(parameters, &cells);
    Answer::Sweep(cells, predictions)
}

/// Checks one combination.
///
/// # Errors
/// The answer, if no combination can be checked.
fn checked(
    job: &Job,
    text: &UnreadText,
    (parameters, values): (&[Parameter], &[i64]),
    cancel: &Cancel,
    tell: &mut dyn FnMut(u64),
) -> Result<Cell, Answer> {
    tell(0);
    let named = named(parameters, values);
    let mut text = text.clone();
    text.defines.retain(|(name, _)| !named.contains_key(name));
    text.defines.extend(named.iter().map(|(name, value)| (name.clone(), value.to_string())));
    text.fixed = named.keys().cloned().collect();
    let Ok((loaded, _)) = text.read(true, cancel) else {
        return Ok(Cell::unchecked(named, why_not(cancel).unwrap_or_default()));
    };
    if let Some((Parameter { name, .. }, why)) = without_effect(&loaded, parameters) {
        return Err(Answer::Refused(match why {
            NoEffect::Unused => format!("the model does not use {name}, so its values have no effect"),
            NoEffect::Defined(_) => {
                format!("the model defines {name} with arguments, so its values have no effect")
            }
        }));
    }
    if let Some(error) = loaded.findings.iter().find(|finding| finding.is_error()) {
        return Ok(Cell::faulty(named, &error.headline));
    }
    let limits = Limits { memory_bytes_max: Some(memory_max(job)), ..Limits::default() };
    let (threads, fairness) = (ThreadCount::of_half_the_machine(), job.demands.fairness);
    let settings = suited(&loaded, &Settings { limits, threads, fairness, schedule: false, ..Settings::default() });
    let began = Instant::now();
    let now = || began.elapsed();
    let mut next = PROGRESS_PAUSE;
    let mut observe = |event: Event| match event {
        Event::Progress { progress, .. } if next <= began.elapsed() => {
            next = began.elapsed() + PROGRESS_PAUSE;
            tell(progress.states);
        }
        _ => {}
    };
    let mut context = CheckContext { cancel, now: &now, observe: &mut observe, controls: None };
    let outcome = fabius_engine::check(&loaded, &settings, &mut context);
    match outcome.failure {
        Some(failure) => Err(Answer::Failed(failure)),
        None => Ok(Cell::of(named, &outcome.report)),
    }
}

/// The macros and values that the comment at a line (from 1) of a file names.
fn written_at(loaded: &Loaded, file: &str, line: u32) -> Option<Vec<Parameter>> {
    let is_there = |span| {
        let position = loaded.map.position(span);
        &*loaded.map.file(span.file).name == file && position.line == line
    };
    Some(loaded.sweeps.iter().find(|sweep| is_there(sweep.span))?.parameters.clone())
}

impl Session {
    /// Checks a document with the values that the comment at a line (from 1) of a file says; [`Notice::Answered`] brings the
    /// answer, and the document keeps it.
    pub fn sweep(&mut self, name: &str, file: &str, line: u32) -> Option<RunId> {
        let reading = self.reading(name)?;
        let loaded = Arc::clone(&reading.loaded);
        let parameters = written_at(&loaded, file, line)?;
        let text = self.unread(name, self.documents.get(name)?.text.to_string());
        let run = self.ask(name, Question::Sweep(Box::new(text), parameters.clone()))?;
        let sweeps = &mut self.documents.get_mut(name)?.asked.sweeps;
        let outdated: Vec<RunId> = sweeps
            .extract_if(.., |kept| kept.parameters == parameters)
            .filter(|kept| kept.found.is_none())
            .map(|kept| kept.run)
            .collect();
        sweeps.push(KeptSweep { loaded, parameters, found: None, so_far: SweepProgress::default(), run });
        outdated.into_iter().for_each(|run| self.cancel(run));
        Some(run)
    }

    /// Ends the sweep of the comment at a line (from 1) of a file; what it found out by now is its answer.
    pub fn stop_sweep(&mut self, name: &str, file: &str, line: u32) {
        let Some(parameters) = self.reading(name).and_then(|reading| written_at(&reading.loaded, file, line)) else {
            return;
        };
        let Some(document) = self.documents.get(name) else { return };
        let going = |kept: &&KeptSweep| kept.parameters == parameters && kept.found.is_none();
        let runs: Vec<RunId> = document.asked.sweeps.iter().filter(going).map(|kept| kept.run).collect();
        runs.into_iter().for_each(|run| self.cancel(run));
    }

    /// A sweep goes on.
    pub(super) fn sweep_goes_on(&mut self, run: RunId, so_far: SweepProgress) -> Vec<Notice> {
        for (name, document) in &mut self.documents {
            if let Some(kept) = document.asked.sweeps.iter_mut().find(|kept| kept.run == run) {
                kept.so_far = so_far;
                return vec![Notice::Hints(name.clone())];
            }
        }
        Vec::new()
    }

    /// A sweep came to its end, or could not.
    pub(super) fn swept(&mut self, run: RunId, job: &Job, answer: Option<&Answer>) -> Vec<Notice> {
        let Work::Ask(question) = &job.work else { return Vec::new() };
        let (Question::Sweep(..), Some(document)) = (&**question, self.documents.get_mut(&job.document)) else {
            return Vec::new();
        };
        let sweeps = &mut document.asked.sweeps;
        match answer {
            Some(Answer::Sweep(cells, predictions)) => {
                let own = sweeps.iter_mut().filter(|kept| kept.run == run);
                own.for_each(|kept| kept.found = Some((cells.clone(), predictions.clone())));
            }
            _ => sweeps.retain(|kept| kept.run != run),
        }
        vec![Notice::Hints(job.document.clone())]
    }
}
