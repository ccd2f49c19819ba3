//! Is there a run in which a pattern over the past comes true? A shortest run, or the certainty that there is none.
//!
//! ```text
//! product   states: (memory of the monitor, state of the machine)
//! search    breadth-first over the product of the model as it is written, all of its steps, to the first state where the pattern is true
//! found     the referee walks the run, and the definition of the pattern is true at its last position and at none before
//! not found the referee lists the steps of product states drawn from the visited set again ([`audit`])
//! ```
//!
//! The positions of a run are its initial state and the state after each step, also inside of atomic sequences. Assertions that
//! fail do not end a run here; other runtime errors do, since there is no state behind them.

mod audit;
mod product;
mod report;

pub use report::{FindReport, FindVerdict, Place, RunReport};

use fabius_base::{Cancel, Limits};
use fabius_model::SearchedMachine;
use fabius_program::ltl::truth::{Ribbon, Row};
use fabius_program::{Move, Program, Watch};
use fabius_search::{self as search, Completeness, Outcome, Quiet, StopAt, TreeStore};
use fabius_task::internal_error;
use fabius_task::load::Loaded;
use fabius_task::pattern::{Pattern, pattern};
use fabius_task::settings::Audit;
use fabius_task::words::{counted, limit_reached};
use fabius_witness::{Claim, State, Trace, confirm, states_along, value_of};
use product::{Matched, Product};
use std::sync::Arc;
use std::time::Duration;

/// More parts of a pattern are not told along the run.
const ROWS_MAX: usize = 10;

/// What is asked.
#[derive(Clone, Debug, Default)]
pub struct FindRequest {
    /// The pattern, such as `x > 1 after y == 2`.
    pub pattern: String,
    /// How much the search may use.
    pub limits: Limits,
    /// How many of the states on which *impossible* rests are gone through again by the reference interpreter.
    pub audit: Audit,
}

/// What was found out.
#[derive(Clone, Debug)]
pub struct Found {
    /// As plain data.
    pub report: FindReport,
    /// The run, if there is one.
    pub run: Option<Run>,
}

/// A run in which the pattern comes true.
#[derive(Clone, Debug)]
pub struct Run {
    /// Its steps, in the program as it is written.
    pub path: Vec<Move>,
    /// The same as the reference interpreter saw it.
    pub trace: Trace,
    /// The program that it is a run of.
    pub program: Arc<Program>,
}

/// Why nothing can be found out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NotAsked {
    /// There is something wrong with the text: see the findings of the model.
    Faulty,
    /// The pattern cannot be read, or no machine can run the program: why.
    Refused(String),
}

/// Looks for a run in which a pattern comes true. `now` tells the time since some moment.
///
/// # Errors
/// If the pattern cannot be read, or the model cannot be run.
pub fn find(
    loaded: &Loaded,
    request: &FindRequest,
    cancel: &Cancel,
    now: &(dyn Fn() -> Duration + Sync),
) -> Result<Found, NotAsked> {
    let began = now();
    let refused = |why: String| NotAsked::Refused(why);
    let program = loaded.checkable().and_then(|_| loaded.as_written()).ok_or(NotAsked::Faulty)?;
    let pattern = pattern(loaded, &program, &request.pattern).map_err(refused)?;
    let machine = SearchedMachine::new(Arc::clone(&program), Watch::NOTHING).map_err(|why| refused(why.to_string()))?;
    let mut product = Product::new(machine, &pattern).map_err(refused)?;
    let at_once = product.is_true_at_once().map_err(|fault| refused(format!("there is no initial state: {fault}")))?;
    let (mut store, mut searched, mut audited) = (TreeStore::<()>::default(), None, None);
    let path = if at_once {
        Some(Vec::new())
    } else {
        let settings = search::Settings { limits: request.limits, stop_at: StopAt::First, cancel: cancel.clone() };
        let outcome = search::breadth_first(&mut product, &mut store, &mut Quiet, &settings);
        let path = outcome.violations.first().map(|violation| violation.path.clone());
        if outcome.proves_absence() {
            audited = audit::audit(&mut product, &mut store, &outcome, request.audit, cancel).transpose();
        }
        searched = Some(outcome);
        path
    };
    let mut answer = Answer { pattern, product, searched, run: None, audited: None, failure: None };
    match audited {
        None => {}
        Some(Ok(audited)) => answer.audited = Some(audited),
        Some(Err(why)) => answer.failure = Some(internal_error(&why)),
    }
    match path.map(|path| answer.confirmed(&program, path)) {
        None => {}
        Some(Ok(run)) => answer.run = Some(run),
        Some(Err(why)) => answer.failure = Some(internal_error(&why)),
    }
    let report = answer.report(loaded, request, (now() - began).as_secs_f64());
    Ok(Found { report, run: answer.run })
}

/// What is known once the search is over.
struct Answer {
    pattern: Pattern,
    product: Product,
    /// `None` if the pattern is true in the initial state.
    searched: Option<Outcome<Move, Matched>>,
    run: Option<Run>,
    audited: Option<u64>,
    failure: Option<String>,
}

impl Answer {
    /// The run, once the reference interpreter has walked it and the definition of the pattern agrees.
    fn confirmed(&self, program: &Arc<Program>, path: Vec<Move>) -> Result<Run, String> {
        // A run is walked without any claim about its last step: an assertion may fail there, and it goes on.
        let states = states_along(program, &path);
        if states.len() != path.len() + 1 {
            return Err(format!("the run found stops after {}", counted(states.len() as u64, "state")));
        }
        let true_at = positions(&self.pattern, program, &states);
        if true_at.iter().position(|now| *now) != Some(path.len()) {
            return Err(format!("`{}` is not first true at the end of the run found", self.pattern.text));
        }
        let mut trace =
            confirm(program, &path, Claim::Reaches).map_err(|why| format!("the run found is none: {why}"))?;
        trace.ribbon = ribbon(&self.pattern, program, &states);
        Ok(Run { path, trace, program: Arc::clone(program) })
    }

    fn verdict(&self, request: &FindRequest) -> (FindVerdict, String) {
        if self.failure.is_some() {
            return (FindVerdict::Unknown, "Fabius itself is wrong".to_owned());
        }
        let comes = if self.pattern.is_of_one_state() { "holds" } else { "comes true" };
        if let Some(run) = &self.run {
            return (
                FindVerdict::Found,
                match run.path.len() {
                    0 => "it holds in the initial state".to_owned(),
                    steps => format!("it {comes} after {}, and in no shorter run", counted(steps as u64, "step")),
                },
            );
        }
        let Some(searched) = &self.searched else { return (FindVerdict::Unknown, String::new()) };
        let states = counted(searched.statistics.states, "state");
        if searched.proves_absence() {
            let of = if self.pattern.is_of_one_state() { "" } else { ", each with what the pattern remembers" };
            return (FindVerdict::Impossible, format!("it never {comes} ({states}{of}, exhaustive)"));
        }
        let why = match searched.completeness {
            Completeness::Exhaustive | Completeness::FirstViolation => "the search is not exhaustive".to_owned(),
            stopped => limit_reached(stopped, &request.limits),
        };
        (FindVerdict::Unknown, format!("not within {states}: {why}"))
    }

    fn report(&self, loaded: &Loaded, request: &FindRequest, seconds: f64) -> FindReport {
        let (verdict, reason) = self.verdict(request);
        let statistics = self.searched.as_ref().map(|searched| searched.statistics).unwrap_or_default();
        let without_value = self.product.without_value.map(|(proposition, fault)| {
            format!(
                "`{}` has no value in some states ({fault}), and counts as false there",
                self.pattern.words[proposition]
            )
        });
        FindReport {
            tool: fabius_task::TOOL,
            version: fabius_task::VERSION,
            file: loaded.name.clone(),
            pattern: self.pattern.text.clone(),
            verdict,
            reason,
            run: self.run.as_ref().map(|run| RunReport::of(run, &loaded.map)),
            exhaustive: verdict == FindVerdict::Impossible,
            audited: self.audited,
            without_value,
            ended_runs: self.product.ended_runs().then(|| {
                "some runs end in a runtime error: there is no state behind it in which the pattern could be true"
                    .to_owned()
            }),
            states: statistics.states,
            transitions: statistics.transitions(),
            depth: statistics.depth,
            seconds,
            memory_bytes: statistics.memory_bytes,
            internal_error: self.failure.clone(),
        }
    }
}

/// At which positions of a run a pattern is true, by its definition and the reference interpreter.
fn positions(pattern: &Pattern, program: &Program, states: &[State]) -> Vec<bool> {
    pattern.formula.positions(states.len(), &mut |p, now| is_true(pattern, program, &states[now], *p))
}

/// Whether a proposition is true in a state; one without a value is false.
fn is_true(pattern: &Pattern, program: &Program, state: &State, proposition: usize) -> bool {
    value_of(program, state, &pattern.propositions[proposition]).is_ok_and(|value| value != 0)
}

/// Where a pattern and its parts are true along a run; nothing of a pattern about one state.
fn ribbon(pattern: &Pattern, program: &Program, states: &[State]) -> Option<Ribbon> {
    if pattern.is_of_one_state() {
        return None;
    }
    let words =
        pattern.formula.replaced(&mut |p| Ok::<_, ()>(fabius_pattern::Past::Proposition(pattern.words[*p].clone())));
    let words = words.ok()?;
    let mut rows: Vec<Row> = Vec::new();
    for ((part, depth), (worded, _)) in pattern.formula.parts().into_iter().zip(words.parts()) {
        let text = worded.to_string();
        if ROWS_MAX <= rows.len() || rows.iter().any(|row| row.text == text) {
            continue;
        }
        let truth = part.positions(states.len(), &mut |p, now| is_true(pattern, program, &states[now], *p));
        let is_proposition = matches!(part, fabius_pattern::Past::Proposition(_));
        rows.push(Row { text, depth, is_proposition, values: truth.into_iter().map(Some).collect() });
    }
    let (is_claim, sentence, back_to, decides) = (false, None, None, None);
    Some(Ribbon { is_claim, sentence, rows, positions: states.len(), back_to, decides })
}
