//! The causes of a violation: in which different ways a property can be violated.
//!
//! A *cause* is a minimal set of statements with which the property can be violated: there is a violating run that executes only these
//! statements, and none that executes only some of them. Each violating run executes all statements of at least one cause.
//!
//! ```text
//! causes := {}; closed := {}
//! while there is a set L that has a statement of each cause, and all statements of no closed set; a smallest one:
//!   search the model without the steps that execute a statement of L
//!     no violation: add L to closed
//!     a run:        add shrink(its statements) to causes
//! shrink(S): for each statement s of S: search with the statements of S \ {s} only; a run: S := its statements
//! ```
//!
//! Once there is no such L, all causes are known: of a further one, some statement of each known cause would be missing. The sets L
//! are the hitting sets of R. Reiter, *A theory of diagnosis from first principles* (Artificial Intelligence 32, 1987); that the sets
//! found and the sets closed determine each other is the principle of M. H. Liffiton, A. Previti, A. Malik, J. Marques-Silva,
//! *Fast, flexible MUS enumeration* (Constraints 21, 2016).
//!
//! Steps are left out, statements are not taken from the text: an `else`, `timeout` or deadlock is what it is in the whole model.

mod hitting;
mod looks;
pub mod report;

use fabius_base::{Cancel, Limits, StopReason};
use fabius_counterexample::{Counterexample, confirm};
use fabius_engine::settings::VacuityExtent;
use fabius_engine::{CheckContext, Settings, Verdict, check};
use fabius_program::{CLAIM_PID, EdgeId, Move, Program};
use fabius_task::internal_error;
use fabius_task::load::Loaded;
use fabius_task::plan::{plan, unknown_property};
use hitting::{Stopped, smallest_hitting_set};
use looks::{Allowed, Looked, Looks, LooksLimits, Run};
use report::{CauseReport, CausesReport, CausesVerdict, PropertyCauses};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// A set of statements, by the edges of the program as written that execute them.
pub type Statements = BTreeSet<EdgeId>;

/// What is asked.
#[derive(Clone, Debug)]
pub struct CausesRequest {
    /// Which properties count, how much each search may use, and when to stop: the properties share the time until then.
    pub settings: Settings,
    /// Find at most this many causes of each property.
    pub causes_max: usize,
}

/// What the work needs from outside.
pub struct CausesContext<'a> {
    /// Whoever raises this ends it.
    pub cancel: &'a Cancel,
    /// Time since some moment before.
    pub now: &'a (dyn Fn() -> Duration + Sync),
    /// Is told how many causes were found so far, and with how many searches.
    pub observe: &'a mut dyn FnMut(usize, u64),
}

/// What was found out.
#[derive(Clone, Debug)]
pub struct Causes {
    /// As plain data.
    pub report: CausesReport,
    /// The causes in the order of the report.
    pub causes: Vec<Cause>,
}

/// A minimal set of statements with which a property can be violated.
#[derive(Clone, Debug)]
pub struct Cause {
    /// The statements.
    pub statements: Statements,
    /// Whether each of them is known to be needed.
    pub is_minimal: bool,
    /// A run that executes these statements only, walked by the reference interpreter.
    pub counterexample: Counterexample,
    /// The program that the run and the statements belong to.
    pub program: Arc<Program>,
}

/// A run with another cause than some that are known.
#[derive(Clone, Debug)]
pub enum AnotherCause {
    /// There is one.
    Found(Box<Cause>),
    /// There is none: each violating run executes all statements of one of the causes of the known runs, of which there are this many.
    Nothing(usize),
    /// None was found, and why not everything was searched.
    Unknown(String),
    /// Fabius itself is wrong: what happened.
    Failed(String),
}

/// Why nothing can be found out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NotAsked {
    /// There is something wrong with the text: see the findings of the model.
    Faulty,
    /// There is no such property, or no machine can run the program: why.
    Refused(String),
}

/// Finds the causes of the violations of a model. First it is checked as it always is: what was proved has no cause, and what was
/// violated has one among the statements of the run that was found.
///
/// # Errors
/// If there is no such property, or the model cannot be run.
pub fn causes(loaded: &Loaded, request: &CausesRequest, context: &mut CausesContext<'_>) -> Result<Causes, NotAsked> {
    let began = (context.now)();
    let program = loaded.checkable().and_then(|_| loaded.as_written()).ok_or(NotAsked::Faulty)?;
    let plan = plan(&program, &request.settings.properties)
        .map_err(|unknown| NotAsked::Refused(unknown_property(&unknown).headline))?;
    let mut found = Causes { report: CausesReport::new(loaded), causes: Vec::new() };
    for (at, planned) in plan.properties.iter().enumerate() {
        let properties_left = (plan.properties.len() - at) as u32;
        let share = |until: Duration| until.saturating_sub((context.now)()) / properties_left;
        let until = request.settings.until.map(|until| (context.now)() + share(until));
        let limits = LooksLimits { limits: request.settings.limits, until };
        let mut looks = Looks::new(&program, planned, limits, context.cancel).map_err(NotAsked::Refused)?;
        let settings = Settings { until, ..request.settings.clone() };
        let before = found.causes.len();
        let of_property = checked(loaded, &mut looks, &settings, context)
            .and_then(|known| Enumeration::new(loaded, looks, context, before).run(request.causes_max, &known));
        match of_property {
            Ok((report, causes)) => {
                found.report.properties.push(report);
                found.causes.extend(causes);
            }
            Err(failure) => {
                found.report.internal_error = Some(failure);
                break;
            }
        }
    }
    found.report.seconds = ((context.now)() - began).as_secs_f64();
    Ok(found)
}

/// What a check says of a property.
enum Known {
    /// It holds.
    Holds,
    /// It is violated, by this run if that is one of the program that is searched for causes.
    Violated(Option<Vec<Move>>),
    /// Neither.
    Nothing,
}

/// Checks a property; counts that as a search.
///
/// # Errors
/// The text of an internal error.
fn checked(
    loaded: &Loaded,
    looks: &mut Looks<'_>,
    settings: &Settings,
    context: &CausesContext<'_>,
) -> Result<Known, String> {
    let settings = Settings {
        properties: vec![looks.planned.name.clone()],
        vacuity: VacuityExtent::Off,
        hints: false,
        schedule: false,
        threads: settings.threads,
        ..settings.question_only()
    };
    let mut observe = |_| {};
    let mut inner = CheckContext { cancel: context.cancel, now: context.now, observe: &mut observe, controls: None };
    let outcome = check(loaded, &settings, &mut inner);
    if let Some(failure) = outcome.failure {
        return Err(failure);
    }
    let name = &looks.planned.name;
    let Some(property) = outcome.report.properties.iter().find(|property| property.name == *name) else {
        return Ok(Known::Nothing);
    };
    looks.count(property.states, property.memory_bytes);
    let is_of_program = |told: &Program| told.edges == looks.program().edges;
    Ok(match (property.verdict, outcome.counterexamples.first()) {
        (Verdict::Holds, _) if property.exhaustive => Known::Holds,
        (Verdict::Violated, Some(example)) => Known::Violated(
            is_of_program(&example.told).then(|| example.trace.steps.iter().map(|step| step.taken).collect()),
        ),
        _ => Known::Nothing,
    })
}

/// Finds a run with another cause than some runs of the program as written that violate a property of a model.
///
/// # Errors
/// If there is no such property, or the model cannot be run.
pub fn another_cause(
    loaded: &Loaded,
    property: &str,
    runs: &[Vec<Move>],
    limits: Limits,
    context: &mut CausesContext<'_>,
) -> Result<AnotherCause, NotAsked> {
    let program = loaded.checkable().and_then(|_| loaded.as_written()).ok_or(NotAsked::Faulty)?;
    let plan = plan(&program, &[property.to_owned()])
        .map_err(|unknown| NotAsked::Refused(unknown_property(&unknown).headline))?;
    let none = || NotAsked::Refused(format!("the model has no property `{property}`"));
    let limits = LooksLimits { limits, until: None };
    let planned = plan.properties.first().ok_or_else(none)?;
    let looks = Looks::new(&program, planned, limits, context.cancel).map_err(NotAsked::Refused)?;
    let mut enumeration = Enumeration::new(loaded, looks, context, 0);
    for path in runs {
        let found = match enumeration.look(&Allowed::Only(&statements(path))) {
            Looked::Run(run) => run.path,
            Looked::Unknown(_) => path.clone(),
            Looked::Nothing => return Err(NotAsked::Refused(format!("the run shown does not violate `{property}`"))),
        };
        let (smaller, _) = enumeration.shrink(&found);
        let cause = statements(&smaller.map_or(found, |run| run.path));
        if !enumeration.known.contains(&cause) {
            enumeration.known.push(cause);
        }
    }
    Ok(match enumeration.next_cause() {
        Err(failure) => AnotherCause::Failed(failure),
        Ok(Some(cause)) => AnotherCause::Found(Box::new(cause)),
        Ok(None) => match enumeration.reason() {
            Some(why) => AnotherCause::Unknown(why),
            None => AnotherCause::Nothing(enumeration.known.len()),
        },
    })
}

/// The statements that a run executes.
fn statements(path: &[Move]) -> Statements {
    let steps = path.iter().filter(|step| step.pid != CLAIM_PID);
    steps.flat_map(|step| [Some(step.edge), step.partner.map(|(_, edge)| edge)]).flatten().collect()
}

/// The search for the causes of one property.
struct Enumeration<'a, 'b> {
    loaded: &'a Loaded,
    looks: Looks<'a>,
    context: &'a mut CausesContext<'b>,
    /// Causes of the properties before.
    before: usize,
    /// The causes that are known.
    known: Vec<Statements>,
    /// Without the statements of one of these, there is no violation.
    closed: Vec<Statements>,
    /// Why some search did not end, if one did not.
    open: Option<String>,
    /// There are no other causes than those that are known.
    is_complete: bool,
}

impl<'a, 'b> Enumeration<'a, 'b> {
    fn new(loaded: &'a Loaded, looks: Looks<'a>, context: &'a mut CausesContext<'b>, before: usize) -> Self {
        let (known, closed) = (Vec::new(), Vec::new());
        Self { loaded, looks, context, before, known, closed, open: None, is_complete: false }
    }

    /// Finds the causes, at most some number of them; the first one among the statements of the run that a check found.
    ///
    /// # Errors
    /// The text of an internal error.
    fn run(mut self, causes_max: usize, known: &Known) -> Result<(PropertyCauses, Vec<Cause>), String> {
        let mut causes = Vec::new();
        let contradicted =
            || internal_error("a check found a violation that a search of the model as it is written does not find");
        match known {
            Known::Holds => {
                self.is_complete = true;
                return Ok((self.report(&[]), causes));
            }
            Known::Violated(Some(path)) => match self.look(&Allowed::Only(&statements(path))) {
                Looked::Run(run) => {
                    let cause = self.cause(run)?;
                    self.known.push(cause.statements.clone());
                    causes.push(cause);
                }
                Looked::Nothing => return Err(contradicted()),
                // Then another one is looked for.
                Looked::Unknown(_) => {}
            },
            Known::Violated(None) | Known::Nothing => {}
        }
        while causes.len() < causes_max {
            let Some(cause) = self.next_cause()? else { break };
            causes.push(cause);
        }
        if self.is_complete && causes.is_empty() && matches!(known, Known::Violated(_)) {
            return Err(contradicted());
        }
        if causes.len() == causes_max {
            self.is_complete = self.open.is_none() && self.to_leave_out() == Ok(None);
            self.open.get_or_insert_with(|| "no more of them were asked for".to_owned());
        }
        let order =
            |cause: &Cause| (cause.statements.len(), cause.counterexample.report.steps, cause.statements.clone());
        causes.sort_by_cached_key(order);
        Ok((self.report(&causes), causes))
    }

    /// A smallest set of statements without which another cause may be left.
    ///
    /// # Errors
    /// If the time was over before that was known.
    fn to_leave_out(&self) -> Result<Option<Statements>, Stopped> {
        smallest_hitting_set(&self.known, &self.closed, &|| self.is_over())
    }

    /// Whether somebody asked to stop, or the time is over.
    fn is_over(&self) -> bool {
        self.context.cancel.requested().is_some() || self.looks.is_late(self.context.now)
    }

    /// A cause that is not known yet. `None` if there is none, or none was found: [`Self::is_complete`] says which.
    ///
    /// # Errors
    /// The text of an internal error.
    fn next_cause(&mut self) -> Result<Option<Cause>, String> {
        loop {
            let left_out = match self.to_leave_out() {
                Ok(Some(left_out)) => left_out,
                Ok(None) => {
                    self.is_complete = self.open.is_none();
                    return Ok(None);
                }
                Err(Stopped) => return Ok(None),
            };
            match self.look(&Allowed::AllBut(&left_out)) {
                Looked::Nothing => self.closed.push(left_out),
                Looked::Run(run) => {
                    let cause = self.cause(run)?;
                    self.known.push(cause.statements.clone());
                    return Ok(Some(cause));
                }
                Looked::Unknown(why) => {
                    self.open.get_or_insert(why);
                    // Nothing is known without these statements; other sets are looked at.
                    self.closed.push(left_out);
                }
            }
            if self.is_over() {
                return Ok(None);
            }
        }
    }

    fn look(&mut self, allowed: &Allowed<'_>) -> Looked {
        let looked = self.looks.look(allowed, self.context.now);
        (self.context.observe)(self.before + self.known.len(), self.looks.searches);
        looked
    }

    /// The cause whose statements are among those of a run.
    fn cause(&mut self, run: Run) -> Result<Cause, String> {
        let (smaller, is_minimal) = self.shrink(&run.path);
        let run = smaller.unwrap_or(run);
        let found = statements(&run.path);
        let run = self.looks.shortest(&found, run);
        let program = Arc::clone(self.looks.program());
        let mut counterexample = confirm(self.loaded, &program, self.looks.found(&run, false))?;
        if !statements(&counterexample.path).is_subset(&found) {
            counterexample = confirm(self.loaded, &program, self.looks.found(&run, true))?;
        }
        Ok(Cause { statements: found, is_minimal, counterexample, program })
    }

    /// A run whose statements are fewest among subsets of those of a run, if they are fewer, and whether all of them are known to be
    /// needed.
    fn shrink(&mut self, path: &[Move]) -> (Option<Run>, bool) {
        let (mut needed, mut is_minimal) = (Statements::new(), true);
        let mut smaller: Option<Run> = None;
        loop {
            let path = smaller.as_ref().map_or(path, |run| &run.path);
            let all = statements(path);
            // What comes last is tried first: a run that ends earlier has none of it.
            let steps = path.iter().rev().filter(|step| step.pid != CLAIM_PID);
            let last = steps.flat_map(|step| [step.partner.map(|(_, edge)| edge), Some(step.edge)]);
            let Some(edge) = last.flatten().find(|edge| !needed.contains(edge)) else { return (smaller, is_minimal) };
            let is_closed = self.open.is_none() && self.closed.iter().any(|set| set.iter().eq([&edge]));
            let rest: Statements = all.into_iter().filter(|other| *other != edge).collect();
            let looked = if is_closed { Looked::Nothing } else { self.look(&Allowed::Only(&rest)) };
            match looked {
                Looked::Run(run) => smaller = Some(run),
                Looked::Nothing => _ = needed.insert(edge),
                Looked::Unknown(_) => {
                    needed.insert(edge);
                    is_minimal = false;
                }
            }
        }
    }

    /// Why there may be other causes.
    fn reason(&self) -> Option<String> {
        match &self.open {
            _ if self.is_complete => None,
            Some(why) => Some(why.clone()),
            None => {
                let why = self.context.cancel.requested().unwrap_or(StopReason::Timeout);
                Some(self.looks.stopped_by(why))
            }
        }
    }

    fn report(&self, causes: &[Cause]) -> PropertyCauses {
        let planned = self.looks.planned;
        let verdict = match () {
            () if !causes.is_empty() => CausesVerdict::Violated,
            () if self.is_complete => CausesVerdict::Holds,
            () => CausesVerdict::Unknown,
        };
        let causes = causes.iter().enumerate();
        PropertyCauses {
            property: planned.name.clone(),
            kind: planned.kind,
            verdict,
            causes: causes.map(|(at, cause)| CauseReport::of(self.before + at + 1, cause, self.loaded)).collect(),
            complete: self.is_complete,
            reason: self.reason(),
            searches: self.looks.searches,
            states: self.looks.states,
            memory_bytes: self.looks.memory_bytes,
        }
    }
}
