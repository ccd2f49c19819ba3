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

use fabius_base::{Cancel, Limits};
use fabius_counterexample::{Counterexample, confirm};
use fabius_program::{CLAIM_PID, EdgeId, Move, Program};
use fabius_task::load::Loaded;
use fabius_task::plan::{plan, unknown_property};
use hitting::smallest_hitting_set;
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
    /// Names or kinds of properties; empty for all that the model has.
    pub properties: Vec<String>,
    /// How much each search may use.
    pub limits: Limits,
    /// Find at most this many causes of each property.
    pub causes_max: usize,
    /// When to stop, by the clock of [`CausesContext`]; the properties share the time until then.
    pub until: Option<Duration>,
}

/// What the work needs from outside.
pub struct CausesContext<'a> {
    /// Whoever raises this ends it.
    pub cancel: &'a Cancel,
    /// Time since some moment before.
    pub now: &'a dyn Fn() -> Duration,
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

/// Why nothing can be found out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NotAsked {
    /// There is something wrong with the text: see the findings of the model.
    Faulty,
    /// There is no such property, or no machine can run the program: why.
    Refused(String),
}

/// Finds the causes of the violations of a model.
///
/// # Errors
/// If there is no such property, or the model cannot be run.
pub fn causes(loaded: &Loaded, request: &CausesRequest, context: &mut CausesContext<'_>) -> Result<Causes, NotAsked> {
    let began = (context.now)();
    let program = loaded.checkable().and_then(|_| loaded.as_written()).ok_or(NotAsked::Faulty)?;
    let plan = plan(&program, &request.properties)
        .map_err(|unknown| NotAsked::Refused(unknown_property(&unknown).headline))?;
    let mut found = Causes { report: CausesReport::new(loaded), causes: Vec::new() };
    for (at, planned) in plan.properties.iter().enumerate() {
        let properties_left = (plan.properties.len() - at) as u32;
        let share = |until: Duration| until.saturating_sub((context.now)()) / properties_left;
        let until = request.until.map(|until| (context.now)() + share(until));
        let limits = LooksLimits { limits: request.limits, until };
        let looks = Looks::new(&program, planned, limits, context.cancel).map_err(NotAsked::Refused)?;
        let (causes_max, before) = (request.causes_max, found.causes.len());
        let of_property = Enumeration::new(loaded, looks, context, causes_max, before).run();
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
    causes_max: usize,
    /// Causes of the properties before.
    before: usize,
    causes: Vec<Cause>,
    /// Without the statements of one of these, there is no violation.
    closed: Vec<Statements>,
    /// Why some search did not end, if one did not.
    open: Option<String>,
}

impl<'a, 'b> Enumeration<'a, 'b> {
    fn new(
        loaded: &'a Loaded,
        looks: Looks<'a>,
        context: &'a mut CausesContext<'b>,
        causes_max: usize,
        before: usize,
    ) -> Self {
        let (causes, closed) = (Vec::new(), Vec::new());
        Self { loaded, looks, context, causes_max, before, causes, closed, open: None }
    }

    /// Finds the causes.
    ///
    /// # Errors
    /// The text of an internal error.
    fn run(mut self) -> Result<(PropertyCauses, Vec<Cause>), String> {
        let mut is_complete = false;
        loop {
            let found: Vec<&Statements> = self.causes.iter().map(|cause| &cause.statements).collect();
            let Some(left_out) = smallest_hitting_set(&found, &self.closed) else {
                is_complete = self.open.is_none();
                break;
            };
            if self.causes_max <= self.causes.len() {
                self.open.get_or_insert_with(|| "no more of them were asked for".to_owned());
                break;
            }
            match self.look(&Allowed::AllBut(&left_out)) {
                Looked::Nothing => self.closed.push(left_out),
                Looked::Run(run) => {
                    let cause = self.cause(run)?;
                    self.causes.push(cause);
                }
                Looked::Unknown(why) => {
                    self.open.get_or_insert(why);
                    // Nothing is known without these statements; other sets are looked at.
                    self.closed.push(left_out);
                }
            }
            if self.context.cancel.requested().is_some() || self.looks.is_late(self.context.now) {
                break;
            }
        }
        self.causes.sort_by_key(|cause| (cause.statements.len(), cause.counterexample.report.steps));
        Ok((self.report(is_complete), self.causes))
    }

    fn look(&mut self, allowed: &Allowed<'_>) -> Looked {
        let looked = self.looks.look(allowed, self.context.now);
        (self.context.observe)(self.before + self.causes.len(), self.looks.searches);
        looked
    }

    /// The cause whose statements are among those of a run.
    fn cause(&mut self, run: Run) -> Result<Cause, String> {
        let (run, is_minimal) = self.shrink(run);
        let found = statements(&run.path);
        let run = self.looks.shortest(&found, run);
        let calm = confirm(self.loaded, self.looks.program(), self.looks.found(&run, false));
        let is_of_cause = |example: &Counterexample| statements(&example.path).is_subset(&found);
        let counterexample = match calm {
            Ok(calm) if is_of_cause(&calm) => calm,
            _ => confirm(self.loaded, self.looks.program(), self.looks.found(&run, true))?,
        };
        let program = Arc::clone(self.looks.program());
        Ok(Cause { statements: found, is_minimal, counterexample, program })
    }

    /// A run whose statements are a subset of those of a run, and whether all of them are known to be needed.
    fn shrink(&mut self, mut run: Run) -> (Run, bool) {
        let (mut needed, mut is_minimal) = (Statements::new(), true);
        loop {
            let all = statements(&run.path);
            // What comes last is tried first: a run that ends earlier has none of it.
            let last = run.path.iter().rev().flat_map(|step| [step.partner.map(|(_, edge)| edge), Some(step.edge)]);
            let next = last.flatten().find(|edge| all.contains(edge) && !needed.contains(edge));
            let Some(edge) = next else { return (run, is_minimal) };
            let is_closed = self.open.is_none() && self.closed.iter().any(|set| set.iter().eq([&edge]));
            let rest: Statements = all.into_iter().filter(|other| *other != edge).collect();
            let looked = if is_closed { Looked::Nothing } else { self.look(&Allowed::Only(&rest)) };
            match looked {
                Looked::Run(smaller) => run = smaller,
                Looked::Nothing => _ = needed.insert(edge),
                Looked::Unknown(_) => {
                    needed.insert(edge);
                    is_minimal = false;
                }
            }
        }
    }

    fn report(&self, is_complete: bool) -> PropertyCauses {
        let planned = self.looks.planned;
        let verdict = match () {
            () if !self.causes.is_empty() => CausesVerdict::Violated,
            () if is_complete => CausesVerdict::Holds,
            () => CausesVerdict::Unknown,
        };
        let causes = self.causes.iter().enumerate();
        PropertyCauses {
            property: planned.name.clone(),
            kind: planned.kind,
            verdict,
            causes: causes.map(|(at, cause)| CauseReport::of(self.before + at + 1, cause, self.loaded)).collect(),
            complete: is_complete,
            reason: match (&self.open, is_complete) {
                (_, true) => None,
                (Some(why), false) => Some(why.clone()),
                (None, false) if self.context.cancel.requested().is_some() => Some("it was interrupted".to_owned()),
                (None, false) => Some("the time allowed was used up".to_owned()),
            },
            searches: self.looks.searches,
            states: self.looks.states,
            memory_bytes: self.looks.memory_bytes,
        }
    }
}
