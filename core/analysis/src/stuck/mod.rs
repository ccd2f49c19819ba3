//! Where a model can get stuck: the combinations of places at which all processes could be blocked, and for each a run that
//! leads there or the certainty that there is none.
//!
//! 1. The steps before the first choice are followed ([`start`]).
//! 2. From there on the text says in which combinations of places it does not follow that somebody can move
//!    ([`fabius_program::facts::Facts::stuck_candidates`]). If there is none, the model cannot get stuck.
//! 3. Else a best-first search looks for a way to one of them ([`guide`]), with partial-order reduction where that preserves
//!    deadlocks. Every run is walked by the reference interpreter before it is shown.
//!
//! The model is taken as it is written. Only deadlocks are looked for: claims, formulas and event traces are not looked at,
//! and a runtime error is no deadlock.

mod guide;
mod report;
mod start;
#[cfg(test)]
mod tests;

pub use report::{Being, CandidateReport, CandidateVerdict, PlaceReport, Proof, StuckReport};

use super::Line;
use fabius_base::{Cancel, Limits};
use fabius_counterexample::{Counterexample, ErrorKind, Found, confirm};
use fabius_model::SearchedMachine;
use fabius_model::reduction::{self, Preserve, Reduced};
use fabius_program::facts::{Candidates, Facts, WhyNotTold};
use fabius_program::{Move, Program, Watch};
use fabius_search::best_first::{BestFirst, Ended, best_first};
use fabius_search::{Completeness, ProcessSet, TreeStore};
use fabius_task::load::Loaded;
use fabius_task::words::{counted, limit_reached};
use fabius_task::{TOOL, VERSION, internal_error};
use guide::{Guiding, Met};
use serde::Serialize;
use std::sync::Arc;
use std::time::Duration;

/// What is asked.
#[derive(Clone, Debug, Default)]
pub struct StuckRequest {
    /// Go on after the first run, until each candidate is decided.
    pub every: bool,
    /// Explore all steps.
    pub no_reduction: bool,
    /// Look only for deadlocks in which a process waits at this line.
    pub line: Option<Line>,
    /// How much the search may use.
    pub limits: Limits,
}

/// Whether a deadlock can be reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum StuckVerdict {
    /// A run leads to one.
    Deadlock,
    /// No run leads to one.
    NoDeadlock,
    /// Not known.
    Unknown,
}

/// What was found out.
#[derive(Clone, Debug)]
pub struct Stuck {
    /// As plain data.
    pub report: StuckReport,
    /// Runs to deadlocks.
    pub runs: Vec<Counterexample>,
}

/// Why nothing can be found out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NotAsked {
    /// There is something wrong with the text: see the findings of the model.
    Faulty,
    /// No machine can run the program: why.
    Refused(String),
}

/// Finds out whether a model can get stuck. `now` tells the time since some moment.
///
/// # Errors
/// If the model cannot be run.
pub fn stuck(
    loaded: &Loaded,
    request: &StuckRequest,
    cancel: &Cancel,
    now: &dyn Fn() -> Duration,
) -> Result<Stuck, NotAsked> {
    let began = now();
    let program = loaded.checkable().and_then(|_| loaded.as_written()).ok_or(NotAsked::Faulty)?;
    let machine = SearchedMachine::new(Arc::clone(&program), Watch::NOTHING);
    let machine = machine.map_err(|why| NotAsked::Refused(why.to_string()))?;
    let (mut candidates, machine, before) = match from_text(&program, machine.clone(), cancel) {
        Ok(FromText { candidates, machine, before }) => (Ok(candidates), machine, before),
        Err(why) => (Err(why), machine, Vec::new()),
    };
    if let Some(line) = request.line.as_ref().filter(|line| !report::is_place(&program, &loaded.map, line)) {
        return Err(NotAsked::Refused(format!("no process can wait at line {}: there is no statement", line.line)));
    }
    if let (Some(line), Ok(candidates)) = (&request.line, &mut candidates) {
        let Candidates { participants, list, .. } = candidates;
        list.retain(|candidate| report::waits_at(&program, &loaded.map, participants, candidate, line));
    }
    let nothing = match &candidates {
        Ok(candidates) => candidates.list.is_empty(),
        // The search could not tell which deadlock is at the line.
        Err(_) => request.line.is_some(),
    };
    let searched = if nothing { None } else { Some(search(&program, machine, &before, &candidates, request, cancel)) };
    let mut answer = Answer { program, candidates, searched, failure: None };
    let runs = answer.runs(loaded);
    let report = answer.report(loaded, request, &runs, (now() - began).as_secs_f64());
    Ok(Stuck { report, runs })
}

/// What the text tells of a model.
struct FromText {
    candidates: Candidates,
    /// The machine, beginning with the first choice.
    machine: SearchedMachine,
    /// The steps that come before.
    before: Vec<Move>,
}

/// The combinations of places that the text does not exclude.
fn from_text(program: &Arc<Program>, mut machine: SearchedMachine, cancel: &Cancel) -> Result<FromText, WhyNotTold> {
    let facts = Facts::of(Arc::clone(program), &[]).one_by_one();
    let start = start::start(&mut machine).ok_or(WhyNotTold::Restricted)?;
    let processes = start.processes(&facts).ok_or(WhyNotTold::Restricted)?;
    let candidates = facts.stuck_candidates(&processes, &start, &|| cancel.requested().is_some())?;
    let before = start.path;
    let machine = machine.beginning_after(&before, ProcessSet::EMPTY).ok_or(WhyNotTold::Restricted)?;
    Ok(FromText { candidates, machine, before })
}

/// What a search found.
struct Searched {
    effort: BestFirst,
    met: Vec<Met>,
    /// Of each candidate, whether a deadlock was met that may be at it or at another one.
    perhaps: Vec<bool>,
    failure: Option<String>,
}

fn search(
    program: &Arc<Program>,
    machine: SearchedMachine,
    before: &[Move],
    candidates: &Result<Candidates, WhyNotTold>,
    request: &StuckRequest,
    cancel: &Cancel,
) -> Searched {
    let reader = machine.machine().clone();
    let all = request.line.is_none();
    let mut guide = Guiding::new(Arc::clone(program), reader, candidates.as_ref().ok(), request.every, all);
    let store = TreeStore::<()>::default();
    let plan = if request.no_reduction { None } else { reduction::prepare(program, Preserve::Deadlocks).ok() };
    let effort = match plan {
        Some(plan) => best_first(&mut Reduced::of(machine, plan), store, &mut guide, &request.limits, cancel),
        None => {
            let mut machine = machine;
            best_first(&mut machine, store, &mut guide, &request.limits, cancel)
        }
    };
    let after = |met: Met| Met { path: before.iter().copied().chain(met.path).collect(), ..met };
    Searched { effort, met: guide.met.into_iter().map(after).collect(), perhaps: guide.perhaps, failure: guide.failure }
}

/// What is known once everything was tried.
struct Answer {
    program: Arc<Program>,
    candidates: Result<Candidates, WhyNotTold>,
    /// `None` if there was nothing to look for.
    searched: Option<Searched>,
    failure: Option<String>,
}

impl Answer {
    /// The runs that were found, as the reference interpreter walks them.
    fn runs(&mut self, loaded: &Loaded) -> Vec<Counterexample> {
        let Some(searched) = &self.searched else { return Vec::new() };
        self.failure = searched.failure.as_deref().map(internal_error);
        let mut runs = Vec::new();
        for met in &searched.met {
            let mut found = Found::new(ErrorKind::InvalidEnd, met.path.clone(), Watch::NOTHING);
            // A calmer run could end somewhere else.
            found.as_found = true;
            match confirm(loaded, &self.program, found) {
                Ok(run) => runs.push(run),
                Err(why) => self.failure = Some(why),
            }
        }
        runs
    }

    /// The answer, what establishes it, and in a sentence.
    fn verdict(&self, request: &StuckRequest, runs: &[Counterexample]) -> (StuckVerdict, Option<Proof>, String) {
        if self.failure.is_some() {
            return (StuckVerdict::Unknown, None, "Fabius itself is wrong".to_owned());
        }
        if let Some(run) = runs.iter().min_by_key(|run| run.trace.len()) {
            let places = self.candidates.as_ref().map_or(0, |it| it.list.len());
            let here = at(request);
            let reason = match (runs.len(), request.every && places > 1) {
                (reached, true) => {
                    format!(
                        "runs lead to {reached} of {}{here} in which all processes could be blocked",
                        combinations(places)
                    )
                }
                _ => format!("a run of {} leads to one{here}", counted(run.trace.len() as u64, "step")),
            };
            return (StuckVerdict::Deadlock, None, reason);
        }
        match (&self.searched, &self.candidates) {
            (None, Ok(candidates)) => (StuckVerdict::NoDeadlock, Some(Proof::Text), by_text(candidates, request)),
            (Some(Searched { effort, .. }), _) if effort.ended == Ended::Exhausted => {
                (StuckVerdict::NoDeadlock, Some(Proof::Search), self.by_search(effort, request))
            }
            (Some(Searched { effort, .. }), _) => {
                let why = match effort.ended {
                    Ended::Stopped(reason) => limit_reached(Completeness::Stopped(reason), &request.limits),
                    Ended::Exhausted | Ended::Satisfied => String::new(),
                };
                (StuckVerdict::Unknown, None, why)
            }
            (None, Err(why)) => (StuckVerdict::Unknown, None, format!("no search: {}", sentence(*why))),
        }
    }

    fn by_search(&self, effort: &BestFirst, request: &StuckRequest) -> String {
        let states = counted(effort.states, "state");
        let here = at(request);
        match &self.candidates {
            Ok(it) if it.list.len() == 1 => {
                format!(
                    "the only combination of places{here} that the text does not exclude is not reached ({states}, exhaustive)"
                )
            }
            Ok(it) => format!(
                "none of the {}{here} that the text does not exclude is reached ({states}, exhaustive)",
                combinations(it.list.len())
            ),
            Err(_) => format!("no deadlock is reached ({states}, exhaustive)"),
        }
    }

    fn report(&self, loaded: &Loaded, request: &StuckRequest, runs: &[Counterexample], seconds: f64) -> StuckReport {
        let (verdict, proof, reason) = self.verdict(request, runs);
        let effort = self.searched.as_ref().map(|searched| searched.effort);
        let exhaustive = effort.is_none_or(|effort| effort.ended == Ended::Exhausted);
        let candidates = self.candidates.as_ref().ok();
        let run_of = |number: usize| {
            let met = self.searched.as_ref().map_or(&[][..], |searched| &searched.met);
            met.iter().position(|met| met.candidate == Some(number)).filter(|run| *run < runs.len())
        };
        let perhaps = |number: usize| self.searched.as_ref().is_some_and(|it| it.perhaps.get(number) == Some(&true));
        let decided = |number: usize| match run_of(number) {
            Some(run) => (CandidateVerdict::Reached, Some(run)),
            None if exhaustive && !perhaps(number) && self.failure.is_none() => (CandidateVerdict::Impossible, None),
            None => (CandidateVerdict::Unknown, None),
        };
        let of = |candidates: &Candidates| {
            let one = |number| report::candidate(&self.program, &loaded.map, candidates, number, decided(number));
            (0..candidates.list.len()).map(one).collect()
        };
        StuckReport {
            tool: TOOL,
            version: VERSION,
            file: loaded.name.clone(),
            verdict,
            line: request.line.as_ref().map(|line| line.line),
            reason,
            proof,
            combinations: candidates.map(|it| it.combinations.to_string()),
            not_told: self.candidates.as_ref().err().map(|why| sentence(*why)),
            candidates: candidates.map_or_else(Vec::new, of),
            runs: runs.iter().map(|run| run.report.clone()).collect(),
            states: effort.map_or(0, |effort| effort.states),
            hopeless: effort.map_or(0, |effort| effort.hopeless),
            exhaustive: exhaustive && self.failure.is_none(),
            seconds,
            memory_bytes: effort.map_or(0, |effort| effort.memory_bytes),
            internal_error: self.failure.clone(),
        }
    }
}

/// Whether a process of a model can come to a statement of a line, so that it makes sense to ask whether it gets stuck there.
pub fn is_place(loaded: &Loaded, line: &Line) -> bool {
    let program = loaded.checkable().and_then(|_| loaded.as_written());
    program.is_some_and(|program| report::is_place(&program, &loaded.map, line))
}

fn combinations(count: usize) -> String {
    counted(count as u64, "combination") + " of places"
}

/// Where deadlocks are looked for, if not everywhere.
fn at(request: &StuckRequest) -> String {
    request.line.as_ref().map_or_else(String::new, |line| format!(" with a process at line {}", line.line))
}

/// What the text says of a model that has no candidate.
fn by_text(candidates: &Candidates, request: &StuckRequest) -> String {
    if request.line.is_some() {
        return format!("no combination of places{} is a deadlock, as the text tells", at(request));
    }
    let which = match u64::try_from(candidates.combinations) {
        Ok(0) => return "some process can always move".to_owned(),
        Ok(1) => "the only combination".to_owned(),
        Ok(count) => format!("each of the {}", counted(count, "combination")),
        Err(_) => "each of the combinations".to_owned(),
    };
    format!("in {which} of places at which processes can be blocked, some process can move or all are at a valid end")
}

/// Why the text does not tell where a model can get stuck.
fn sentence(why: WhyNotTold) -> &'static str {
    match why {
        WhyNotTold::Restricted => "whether a process can move depends on priorities or on a `provided` clause",
        WhyNotTold::Unbounded => "processes are created in a loop, or by more than a simple `run` statement",
        WhyNotTold::Many => "there are too many combinations of places",
        WhyNotTold::Stopped => "there was no time to look at all combinations of places",
    }
}
