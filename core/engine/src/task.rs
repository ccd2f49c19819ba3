//! What every kind of check is given, and what it leaves behind.

use crate::executed::Executed;
use crate::prepared::Prepared;
use crate::unconfirmed::Unconfirmed;
use fabius_analysis::Marks;
use fabius_audit::Audited;
use fabius_base::{Code, Finding, SourceMap};
use fabius_counterexample::{Counterexample, Found, confirm};
use fabius_machine::Refusal;
use fabius_model::{CutRuns, SearchedMachine};
use fabius_observe::{CheckContext, Event, Task};
use fabius_program::{Initial, Program, Variable, Watch};
use fabius_search::{Completeness, SearchOutcome, StopAt};
use fabius_strategy::{Choice, Strategy};
use fabius_task::internal_error;
use fabius_task::load::Loaded;
use fabius_task::plan::Planned;
use fabius_task::query::{CycleSearch, LivenessQuery, event_trace};
use fabius_task::report::{PropertyReport, Stopped, StrategyReport, Verdict};
use fabius_task::settings::{Settings, Storage};
use fabius_task::words::memory;
use fabius_verdict::Reason;
use std::sync::Arc;

/// This many variables are named where a state is too large.
const LARGEST_SHOWN_MAX: usize = 3;

/// A property of a model that is to be checked.
#[derive(Clone, Copy)]
pub(crate) struct Job<'a> {
    pub loaded: &'a Loaded,
    /// The program that is searched.
    pub program: &'a Arc<Program>,
    pub planned: &'a Planned,
    pub settings: &'a Settings,
    /// What searches for it begin with.
    pub prepared: &'a Prepared,
}

impl<'a> Job<'a> {
    /// The same for those who watch.
    pub(crate) fn task(self) -> Task<'a> {
        let Self { loaded, program, planned, settings, .. } = self;
        Task { loaded, program, property: &planned.name, settings }
    }

    /// The same over the program of a query.
    pub(crate) fn over<'b>(self, program: &'b Arc<Program>) -> Job<'b>
    where
        'a: 'b,
    {
        Job { program, ..self }
    }

    /// A machine for violations of safety.
    ///
    /// # Errors
    /// What is to be reported if no machine can run the model.
    pub(crate) fn machine(self) -> Result<SearchedMachine, Box<Checked>> {
        self.prepared.finite(self)
    }

    /// The question about infinite runs in the form in which a search answers it, and the machine to be searched.
    ///
    /// # Errors
    /// What is to be reported instead, if the question makes no sense or no machine can run the model.
    pub(crate) fn infinite(self, search: CycleSearch) -> Result<(LivenessQuery, SearchedMachine), Box<Checked>> {
        self.prepared.infinite(self, search)
    }

    /// What is watched in the search for violations of safety.
    pub(crate) fn watch(self) -> Watch {
        Watch { trace: event_trace(self.program), ..Watch::NOTHING }
    }

    /// When a violation ends the search for such.
    pub(crate) fn stop_at(self) -> StopAt {
        if self.settings.keep_going { StopAt::Never } else { StopAt::First }
    }
}

/// The run that a search found, and a shorter one if there is one.
pub(crate) struct Either<T> {
    pub shorter: Option<T>,
    pub found: T,
}

/// What the search left behind.
pub(crate) struct Checked {
    /// Its sentence is written when the search for what violates the property is over.
    pub report: PropertyReport,
    /// What the verdict rests on.
    pub reason: Reason,
    pub counterexamples: Vec<Counterexample>,
    pub findings: Vec<Finding>,
    /// Which assertions and labels runs get to, if all were looked at.
    pub marks: Option<Marks>,
    /// The statements that the search executed: not necessarily all of them.
    pub executed: Executed,
    pub failure: Option<String>,
    /// What the search found, until that is confirmed.
    pub unconfirmed: Option<Box<Unconfirmed>>,
}

impl Checked {
    /// What is known before anything that was found is confirmed.
    pub(crate) fn of(report: PropertyReport, reason: Reason) -> Self {
        Self {
            report,
            reason,
            counterexamples: Vec::new(),
            findings: Vec::new(),
            marks: None,
            executed: Executed::default(),
            failure: None,
            unconfirmed: None,
        }
    }

    /// Nothing was searched, for a reason.
    fn unchecked(planned: &Planned, reason: &str) -> Self {
        let mut report = PropertyReport::unchecked(&planned.name, planned.kind, reason);
        report.verdict = Verdict::Faulty;
        Self::of(report, Reason::new(reason))
    }

    /// A check that came to nothing, since something is wrong with the question.
    pub(crate) fn faulty(planned: &Planned, finding: Finding) -> Self {
        let unchecked = Self::unchecked(planned, &finding.headline);
        Self { findings: vec![finding], ..unchecked }
    }

    /// Makes the report say no more than is known: nothing is known of what would follow the runtime errors.
    pub(crate) fn qualify(&mut self, cut: &CutRuns, program: &Program, map: &SourceMap) {
        let report = &mut self.report;
        let Some(sentence) = cut.sentence(program, map).filter(|_| report.verdict != Verdict::Violated) else {
            return;
        };
        report.verdict = Verdict::Undecided;
        report.exhaustive = false;
        report.stopped = report.stopped.or(Some(Stopped::RuntimeErrors));
        self.reason = std::mem::take(&mut self.reason).but(sentence);
    }

    /// Takes note of the statements that a machine executed in searches.
    pub(crate) fn note_executed(&mut self, machine: &SearchedMachine) {
        self.executed.extend(Executed::of(machine.machine().program(), |edge| machine.reached(edge)));
    }

    /// The name of the search. With several threads, it can be another one than was chosen; for infinite runs, it can depend on the formula.
    pub(crate) fn algorithm(&self, choice: &Choice) -> &'static str {
        let PropertyReport { search, threads, .. } = self.report;
        let is_named_late = 1 < threads || matches!(choice.strategy, Strategy::Cycles { .. });
        if is_named_late && !search.is_empty() { search } else { choice.name() }
    }

    /// Says which search it was, if there was one.
    pub(crate) fn describe(&mut self, choice: &Choice, program: &Program, planned: &Planned) {
        let ran = !self.report.search.is_empty();
        let algorithm = self.algorithm(choice).to_owned();
        let threads = self.report.threads;
        let strategy = |report: StrategyReport| match threads {
            0 | 1 => StrategyReport { algorithm, ..report },
            _ => StrategyReport { algorithm, threads, ..report },
        };
        self.report.strategy = ran.then(|| strategy(choice.report(program, planned.question)));
    }

    /// Adds what a search found, once it is confirmed; of what is not, the first failure is kept.
    pub(crate) fn confirm(&mut self, job: Job<'_>, found: Found, context: &mut CheckContext<'_>) {
        match confirm(job.loaded, job.program, found) {
            Ok(counterexample) => self.add(job.planned, counterexample, context),
            Err(failure) => self.failure = self.failure.take().or(Some(failure)),
        }
    }

    /// Adds a shorter run than the one that a search found, once it is confirmed, or else the one found. If the shorter one is
    /// refused, that is a failure, too: a search listed a step that is none.
    pub(crate) fn confirm_either(&mut self, job: Job<'_>, either: Either<Found>, context: &mut CheckContext<'_>) {
        match either.shorter.map(|shorter| confirm(job.loaded, job.program, shorter)) {
            Some(Ok(counterexample)) => self.add(job.planned, counterexample, context),
            refused => {
                self.failure = self.failure.take().or(refused.and_then(Result::err));
                self.confirm(job, either.found, context);
            }
        }
    }

    /// Adds a counterexample, and tells of it.
    pub(crate) fn add(&mut self, planned: &Planned, counterexample: Counterexample, context: &mut CheckContext<'_>) {
        let violation = counterexample.report.clone();
        (context.observe)(Event::Violation {
            property: planned.name.clone(),
            violation: violation.clone(),
            counterexample: Arc::new(counterexample.clone()),
        });
        self.report.violations.push(violation);
        self.counterexamples.push(counterexample);
    }

    /// Takes in what an audit came to. Where it failed, nothing is proved.
    pub(crate) fn add_audit(&mut self, audited: Audited) {
        match audited {
            Some(Ok(states)) if self.report.verdict == Verdict::Holds => self.report.audited = Some(states),
            Some(Err(what)) => {
                self.report.verdict = Verdict::Undecided;
                self.report.exhaustive = false;
                self.reason = Reason::new("fabius itself failed");
                self.failure = self.failure.take().or(Some(what));
            }
            _ => {}
        }
    }
}

/// A model that the machine cannot run.
pub(crate) fn refused(planned: &Planned, program: &Program, refusal: Refusal) -> Checked {
    let reason = format!("not checked: {refusal}");
    let mut finding = Finding::new(Code::TooMany, refusal.to_string());
    if refusal == Refusal::TooLarge {
        for (variable, size) in largest(program) {
            finding = finding.at(variable.span, format!("`{}` alone takes {}", variable.name, memory(size)));
        }
        finding = finding.help("make arrays shorter, channels smaller or types narrower");
    }
    let (findings, failure) = match refusal {
        Refusal::TooLarge | Refusal::TooMany(..) | Refusal::TooDeep => (vec![finding], None),
        Refusal::Malformed(_) => (Vec::new(), Some(internal_error(&refusal.to_string()))),
    };
    Checked { findings, failure, ..Checked::unchecked(planned, &reason) }
}

/// The report of a search over the exact store, in figures; its name, and the sentence on what the verdict rests on, are the caller's.
pub(crate) fn measured<V>(planned: &Planned, outcome: &SearchOutcome<V>, seconds: f64) -> PropertyReport {
    let statistics = &outcome.statistics;
    let stopped = match outcome.completeness {
        Completeness::Exhaustive => None,
        Completeness::FirstViolation => Some(Stopped::Violation),
        Completeness::Stopped(reason) => Some(reason.into()),
    };
    let verdict = match outcome.first() {
        Some(_) => Verdict::Violated,
        None if outcome.proves_absence() => Verdict::Holds,
        None => Verdict::Undecided,
    };
    PropertyReport {
        verdict,
        exhaustive: stopped.is_none() && outcome.exactness.is_exact() && outcome.infinite_macro_steps == 0,
        stopped,
        store: Storage::Tree.as_str(),
        states: statistics.states,
        transitions: statistics.transitions(),
        matched: statistics.matched,
        depth: statistics.depth,
        threads: outcome.workers.len(),
        seconds,
        memory_bytes: statistics.memory_bytes,
        bytes_per_state: statistics.memory_bytes as f64 / statistics.states.max(1) as f64,
        // A search for cycles does not count what it ends with.
        violation_count: statistics.violations.max(outcome.violations.len() as u64),
        ..PropertyReport::unchecked(&planned.name, planned.kind, "")
    }
}

/// The variables that take the most room in a state, with the channels that they create.
fn largest(program: &Program) -> Vec<(&Variable, u64)> {
    let bits = |variable: &Variable| match variable.initial {
        Initial::Channel(ty) => program.channel_types.get(ty.0 as usize).map_or(0, |ty| {
            let message: u64 = ty.fields.iter().map(|field| u64::from(field.bits)).sum();
            u64::from(ty.capacity) * message
        }),
        _ => u64::from(variable.ty.bits),
    };
    let bytes = |variable: &Variable| (bits(variable) * u64::from(variable.element_count())).div_ceil(8);
    let variables = program.globals.iter().chain(program.processes.iter().flat_map(|process| &process.locals));
    let mut sized: Vec<(&Variable, u64)> = variables.map(|variable| (variable, bytes(variable))).collect();
    sized.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    // What is small beside the largest is not to blame.
    let least = sized.first().map_or(0, |(_, bytes)| bytes / 10);
    sized.retain(|(_, bytes)| least < *bytes);
    sized.truncate(LARGEST_SHOWN_MAX);
    sized
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabius_base::Cancel;
    use fabius_counterexample::ErrorKind;
    use fabius_program::{EdgeId, Move, meaning::Fault};
    use fabius_task::load::load;
    use fabius_task::plan::plan;
    use fabius_task::report::PropertyClass;
    use std::time::Duration;

    #[test]
    fn a_run_that_is_refused_is_a_failure_beside_the_one_that_was_found() {
        let text = "active proctype p() { assert(false) }".to_owned();
        let loaded = load("model.pml", text, &[], &mut |_, _| None, &Settings::default());
        let program = loaded.checkable().expect("a model");
        let planned = plan(program, &[]).expect("a plan").properties.remove(0);
        let wrong = ErrorKind::Fault(Fault::AssertionFailed);
        let found = Found::new(wrong, vec![Move { pid: 0, edge: EdgeId(0), partner: None }], Watch::NOTHING);
        let shorter = Some(Found { path: Vec::new(), ..found.clone() });
        let mut context =
            CheckContext { cancel: &Cancel::new(), now: &|| Duration::ZERO, observe: &mut |_| {}, controls: None };
        let mut checked = Checked::unchecked(&planned, "");
        let (settings, prepared) = (Settings::default(), Prepared::default());
        let job = Job { loaded: &loaded, program, planned: &planned, settings: &settings, prepared: &prepared };
        checked.confirm_either(job, Either { shorter, found }, &mut context);
        assert!(checked.failure.is_some_and(|failure| failure.contains("internal error")));
        assert_eq!(checked.report.violations.first().map(|violation| violation.steps), Some(1));
    }

    #[test]
    fn a_failed_audit_leaves_no_proof() {
        let mut report = PropertyReport::unchecked("safety", PropertyClass::Safety, "");
        (report.verdict, report.exhaustive) = (Verdict::Holds, true);
        let mut checked = Checked::of(report.clone(), Reason::new("safe"));
        checked.add_audit(Some(Ok(7)));
        assert_eq!((checked.report.audited, &checked.failure), (Some(7), &None));
        let mut checked = Checked::of(report, Reason::new("safe"));
        checked.add_audit(Some(Err("wrong".to_owned())));
        assert_eq!((checked.report.verdict, checked.report.exhaustive), (Verdict::Undecided, false));
        assert_eq!((checked.failure.as_deref(), checked.report.audited), (Some("wrong"), None));
    }
}
