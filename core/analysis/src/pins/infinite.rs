//! Pinned runs that violate a property of infinite runs: a livelock, an acceptance cycle, a formula or a claim.
//!
//! Such a run is its steps, the last of which it takes again and again. It is followed until a state comes back that it had at the beginning of an
//! earlier turn of its loop; only then is it known that it goes on for ever. Whether it is still wrong is asked of the property as it stands in
//! the model now: its formula or claim may go another way along the run.

use super::{Judgement, Pin, Possibility, broken, impossible, unknown};
use fabius_counterexample::{LassoVerdict, NamedStep, Retracing, judge_lasso};
use fabius_program::{Move, Program};
use fabius_task::CycleSearch;
use fabius_task::plan::{Planned, Question, plan};
use fabius_task::query::{LivenessQuery, liveness_query};
use fabius_task::report::PropertyClass;
use fabius_task::settings::Settings;
use fabius_witness::{Outcome, State, moves, settled, snapshot, step as take};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::Arc;

/// The loop is gone round at most this often, which is more often than a `byte` has values, …
const TURNS_MAX: usize = 300;
/// … and no other turn begins after this many steps.
const STEPS_MAX: usize = 20_000;

/// The property of infinite runs that a run violates.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Violated {
    /// Its loop makes no progress.
    NoProgress,
    /// Its loop passes an acceptance label, or it stops at one.
    AcceptanceCycle,
    /// The formula or claim with this name.
    Property(String),
}

impl Violated {
    /// What is wrong with such a run.
    pub(super) fn words(&self) -> String {
        match self {
            Self::NoProgress => "no progress".to_owned(),
            Self::AcceptanceCycle => "acceptance cycle".to_owned(),
            Self::Property(name) => format!("`{name}` violated"),
        }
    }

    /// The property as it stands in a model, in the form in which it can be asked of a run.
    ///
    /// # Errors
    /// Why it cannot be asked.
    fn query(&self, written: &Arc<Program>) -> Result<LivenessQuery, String> {
        let of_labels =
            |kind: PropertyClass, question| Planned { name: kind.as_str().to_owned(), kind, question, asked: true };
        let planned = match self {
            Self::NoProgress => of_labels(PropertyClass::Progress, Question::Progress),
            Self::AcceptanceCycle => of_labels(PropertyClass::Acceptance, Question::Acceptance),
            Self::Property(name) => {
                let known = plan(written, std::slice::from_ref(name)).map(|plan| plan.properties).unwrap_or_default();
                let is_it = |planned: &Planned| planned.name == *name && planned.question == Question::Claim;
                let found = known.into_iter().find(is_it);
                found.ok_or_else(|| format!("there is no formula or claim `{name}` any more"))?
            }
        };
        let settings = Settings::default();
        let search = CycleSearch::answering(&planned, &settings);
        liveness_query(written, &planned, &settings, search).map_err(|finding| finding.headline)
    }
}

/// A run that was followed in a model: its path, and the state after it.
struct Walked {
    path: Vec<Move>,
    state: State,
}

/// A pinned run in the model as it is now.
pub(super) struct Lasso {
    /// Its moves.
    pub(super) path: Vec<Move>,
    /// From its end it leads back to the state after this many of them; if that is all of them, it is a finite run.
    pub(super) start: usize,
    /// The turns of the pinned loop after which the state is the same, from 0.
    turns: (usize, usize),
}

/// Whether a run is possible and violates the property that it violated when it was pinned.
pub(super) fn follow(pin: &Pin, violated: &Violated, written: &Arc<Program>) -> Judgement {
    if *violated == Violated::NoProgress && pin.loop_start.is_none_or(|start| pin.steps.len() <= start) {
        return unknown("it has no loop");
    }
    match violated.query(written) {
        Ok(query) => pin.lasso(&query.program).map_or_else(|why| why, |lasso| judge(pin, violated, &query, &lasso)),
        Err(why) => unknown(why),
    }
}

impl Pin {
    /// The run in a program, without what is watched beside it.
    ///
    /// # Errors
    /// What is known otherwise.
    pub(super) fn lasso(&self, program: &Program) -> Result<Lasso, Judgement> {
        let Ok(state) = State::initial(program) else {
            return Err(unknown("the initial state cannot be computed"));
        };
        let walk = Retracing::new(program, &self.statements).of_infinite_runs();
        let steps = self.named();
        let Some((stem, turn)) = steps.split_at_checked(self.loop_start.unwrap_or(steps.len())) else {
            return Err(unknown("its loop begins behind its last step"));
        };
        let mut walked = Walked { path: Vec::new(), state };
        self.walk_on(program, &walk, &mut walked, stem, &|step| format!("step {step}"))?;
        if turn.is_empty() {
            let start = walked.path.len();
            return Ok(Lasso { path: walked.path, start, turns: (0, 0) });
        }
        let mut seen: HashMap<State, (usize, usize)> = HashMap::new();
        let mut first = None;
        for turns in 0..=TURNS_MAX {
            let now = settled(program, &walked.state).into_visible(program);
            if let Some(&(before, start)) = seen.get(&now) {
                return Ok(Lasso { path: walked.path, start, turns: (before, turns) });
            }
            if turns == 1 {
                first = Some(now.clone());
            }
            if turns == TURNS_MAX || (0 < turns && STEPS_MAX < walked.path.len()) {
                break;
            }
            seen.insert(now, (turns, walked.path.len()));
            let place = |step: usize| match turns {
                0 => format!("step {}", stem.len() + step),
                _ => format!("step {} in turn {} of its loop", stem.len() + step, turns + 1),
            };
            self.walk_on(program, &walk, &mut walked, turn, &place)?;
        }
        let before = seen.into_iter().find(|(_, (turns, _))| *turns == 0).map(|(state, _)| state);
        let difference =
            before.zip(first).map_or_else(String::new, |(before, after)| difference(program, &before, &after));
        Err(unknown(format!(
            "the run does not return to where its loop starts: {difference}, and whether it does after more turns is not known"
        )))
    }

    /// Follows some of the steps of the run from where it has come to; `place` names one by its number among them, from 1.
    fn walk_on(
        &self,
        program: &Program,
        walk: &Retracing<'_>,
        walked: &mut Walked,
        steps: &[NamedStep],
        place: &dyn Fn(usize) -> String,
    ) -> Result<(), Judgement> {
        for step in self.part(program, walk, &walked.state, steps, place)? {
            match take(program, &walked.state, step).map(|taken| taken.outcome) {
                Ok(Outcome::Reaches { state, .. }) => walked.state = state,
                Ok(Outcome::Broken { fault, .. }) => return Err(impossible(format!("it ends otherwise: {fault}"))),
                Err(_) => return Err(broken()),
            }
            walked.path.push(step);
        }
        Ok(())
    }
}

/// Whether a run that is possible violates the property.
fn judge(pin: &Pin, violated: &Violated, query: &LivenessQuery, lasso: &Lasso) -> Judgement {
    let ends = violated.words();
    let is_finite = lasso.start == lasso.path.len();
    match judge_lasso(query, &lasso.path, lasso.start) {
        LassoVerdict::Violates if is_finite => {
            (Possibility::Possible, format!("it can be followed to its end: {ends}"))
        }
        LassoVerdict::Violates if lasso.turns == (0, 1) => {
            (Possibility::Possible, format!("it can be followed for ever: {ends}"))
        }
        LassoVerdict::Violates => {
            let (before, after) = lasso.turns;
            let why = match before {
                0 => format!("it returns to where its loop starts after {after} turns"),
                _ => format!("the state after {after} turns of its loop is that after {before}"),
            };
            (Possibility::Possible, format!("it can be followed for ever ({why}): {ends}"))
        }
        LassoVerdict::Unknown => unknown("what its formula or claim says of it takes too long to find out"),
        LassoVerdict::Satisfies if meets_new(pin, &query.program, lasso) => {
            unknown("statements that are new can be executed where it goes on")
        }
        LassoVerdict::Satisfies => {
            let goes_on = if is_finite { "it can be followed to its end" } else { "it can be followed for ever" };
            let why = match violated {
                Violated::NoProgress => "makes progress in its loop".to_owned(),
                Violated::AcceptanceCycle if is_finite => "does not stop at an acceptance label any more".to_owned(),
                Violated::AcceptanceCycle => "passes no acceptance label in its loop any more".to_owned(),
                Violated::Property(name) => format!("does not violate `{name}` any more"),
            };
            impossible(format!("{goes_on}, and {why}"))
        }
    }
}

/// Whether a statement that is new can be executed, and is not, in the loop of a run or at its end.
fn meets_new(pin: &Pin, program: &Program, lasso: &Lasso) -> bool {
    let Ok(mut state) = State::initial(program) else { return true };
    for (at, step) in lasso.path.iter().map(Some).chain([None]).enumerate() {
        if lasso.start <= at {
            let mut others = moves(program, &settled(program, &state)).successors;
            others.retain(|(other, _)| step != Some(other) && pin.is_new(program, *other));
            if !others.is_empty() && (step.is_some() || lasso.start == lasso.path.len()) {
                return true;
            }
        }
        let Some(step) = step else { break };
        match take(program, &state, *step).map(|taken| taken.outcome) {
            Ok(Outcome::Reaches { state: next, .. }) => state = next,
            _ => return true,
        }
    }
    false
}

/// What a state after a loop differs in from that before it, as a sentence without its full stop.
fn difference(program: &Program, before: &State, after: &State) -> String {
    let (old, new) = (snapshot(program, before), snapshot(program, after));
    let of_processes = |of: &fabius_witness::Snapshot| -> Vec<(String, String)> {
        let processes = of.processes.iter();
        processes
            .flat_map(|process| {
                process.variables.iter().map(|(name, value)| (format!("{}:{name}", process.name), value.clone()))
            })
            .collect()
    };
    let named = |of: &fabius_witness::Snapshot| [of.variables.clone(), of.channels.clone(), of_processes(of)].concat();
    let values: HashMap<String, String> = named(&old).into_iter().collect();
    let differing = named(&new).into_iter().find_map(|(name, value)| {
        let before = values.get(&name).filter(|before| **before != value)?;
        Some(format!("after the loop `{name}` is {value}, not {before}"))
    });
    let moved = || {
        let same = |pid: u8| old.processes.iter().find(|process| process.pid == pid);
        let moved = new.processes.iter().find(|now| same(now.pid).is_some_and(|then| then.location != now.location))?;
        Some(format!("after the loop {} is somewhere else", moved.name))
    };
    let count = || {
        (old.processes.len() != new.processes.len())
            .then(|| format!("after the loop there are {} processes, not {}", new.processes.len(), old.processes.len()))
    };
    differing.or_else(count).or_else(moved).unwrap_or_else(|| "after the loop the state is another one".to_owned())
}
