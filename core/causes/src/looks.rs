//! Searches in which steps that execute some statements are left out.

use crate::{Statements, statements};
use fabius_base::{Cancel, Limits, StopReason};
use fabius_counterexample::{ErrorKind, Found};
use fabius_model::SearchedMachine;
use fabius_program::facts::atomic_sequences_terminate;
use fabius_program::{EdgeId, Move, Program, Watch, meaning::Fault};
use fabius_search::cycle::{self, CycleOutcome, CycleQuestion, ShortestBounds};
use fabius_search::{
    self as search, Completeness, Fairness, Observer, ProcessSet, Quiet, Statistics, StopAt, TreeStore,
};
use fabius_task::plan::{Planned, Question};
use fabius_task::query::{CycleSearch, LivenessQuery, event_trace, liveness_query};
use fabius_task::settings::Settings;
use fabius_task::words::limit_reached;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

/// A search for a run with fewer statements stores at most this many states: it shows little, and there are many such searches.
const SHRINK_STATES_MAX: u64 = 200_000;
/// Why nothing is said of a run that stays in an atomic sequence.
const ATOMIC_MAY_NOT_END: &str = "an atomic sequence may never end, and the property is not evaluated inside it";
/// A shorter infinite run is looked for with this many transitions.
const SHORTEST_WORK_MAX: u64 = 200_000;

/// How far searches go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LooksLimits {
    /// Of each search.
    pub limits: Limits,
    /// When all stop.
    pub until: Option<Duration>,
}

/// Ends a search when its time is over.
struct Deadline<'a> {
    until: Option<Duration>,
    now: &'a (dyn Fn() -> Duration + Sync),
}

impl Observer<Move, Fault> for Deadline<'_> {
    fn progress(&mut self, _: &Statistics) -> ControlFlow<StopReason> {
        match self.until {
            Some(until) if until <= (self.now)() => ControlFlow::Break(StopReason::Timeout),
            _ => ControlFlow::Continue(()),
        }
    }
}

/// Which statements may be executed.
pub(crate) enum Allowed<'a> {
    /// All but these.
    AllBut(&'a Statements),
    /// Only these.
    Only(&'a Statements),
}

/// A run that violates the property.
pub(crate) struct Run {
    pub wrong: ErrorKind,
    pub path: Vec<Move>,
}

/// What a search came to.
pub(crate) enum Looked {
    /// A run.
    Run(Run),
    /// There is none.
    Nothing,
    /// It is not known, and why.
    Unknown(String),
}

/// How the property is searched for.
enum How {
    /// Breadth-first, over the states.
    Safety(Watch),
    /// For cycles.
    Infinite(Box<LivenessQuery>),
}

/// Searches for runs that violate one property.
pub(crate) struct Looks<'a> {
    pub planned: &'a Planned,
    machine: SearchedMachine,
    how: How,
    limits: LooksLimits,
    cancel: Cancel,
    /// An atomic sequence may go on for ever; in it, properties of infinite runs are not evaluated.
    may_stay_atomic: bool,
    /// Searches so far.
    pub searches: u64,
    /// The states that they stored, together.
    pub states: u64,
    /// The memory of the largest one.
    pub memory_bytes: u64,
}

impl<'a> Looks<'a> {
    /// Prepares the searches in a program as it is written.
    ///
    /// # Errors
    /// If no machine can run it, or the property cannot be asked.
    pub(crate) fn new(
        program: &Arc<Program>,
        planned: &'a Planned,
        limits: LooksLimits,
        cancel: &Cancel,
    ) -> Result<Self, String> {
        let settings = Settings { limits: limits.limits, ..Settings::default() };
        let (machine, how) = if planned.question == Question::Safety {
            let watch = Watch { trace: event_trace(program), ..Watch::NOTHING };
            (SearchedMachine::new(Arc::clone(program), watch), How::Safety(watch))
        } else {
            let search = CycleSearch::answering(planned, &settings);
            let query = liveness_query(program, planned, &settings, search).map_err(|finding| finding.headline)?;
            (SearchedMachine::infinite(Arc::clone(&query.program), query.watch), How::Infinite(Box::new(query)))
        };
        let machine = machine.map_err(|refusal| refusal.to_string())?;
        let is_infinite = matches!(how, How::Infinite(_));
        Ok(Self {
            planned,
            may_stay_atomic: is_infinite && !atomic_sequences_terminate(machine.machine().program()),
            machine,
            how,
            limits,
            cancel: cancel.clone(),
            searches: 0,
            states: 0,
            memory_bytes: 0,
        })
    }

    /// The program that is searched.
    pub(crate) fn program(&self) -> &Arc<Program> {
        self.machine.shared_program()
    }

    /// A run that violates the property and executes no other statements than those that are allowed.
    pub(crate) fn look(&mut self, allowed: &Allowed<'_>, now: &(dyn Fn() -> Duration + Sync)) -> Looked {
        let mut observer = Deadline { until: self.limits.until, now };
        let mut limits = Limits { depth_max: None, ..self.limits.limits };
        if matches!(allowed, Allowed::Only(_)) {
            limits.states_max = Some(limits.states_max.map_or(SHRINK_STATES_MAX, |max| max.min(SHRINK_STATES_MAX)));
        }
        let settings = search::Settings { limits, stop_at: StopAt::First, cancel: self.cancel.clone() };
        let mut machine = self.restricted(allowed);
        let mut store = TreeStore::<()>::default();
        match &self.how {
            How::Safety(_) => {
                let outcome = search::breadth_first(&mut machine, &mut store, &mut observer, &settings);
                self.count(outcome.statistics.states, outcome.statistics.memory_bytes);
                match outcome.violations.into_iter().next() {
                    Some(violation) => Looked::Run(Run { wrong: violation.kind.into(), path: violation.path }),
                    None if outcome.completeness == Completeness::Exhaustive => Looked::Nothing,
                    None => Looked::Unknown(limit_reached(outcome.completeness, &limits)),
                }
            }
            How::Infinite(query) => {
                let outcome = cycles(&mut machine, query, &mut observer, &settings);
                let (completeness, class, states) = (outcome.completeness, query.class, outcome.statistics.states);
                let question = CycleQuestion { goal: query.goal, fairness: Fairness::None };
                self.count(states, outcome.statistics.memory_bytes);
                match outcome.into_first() {
                    Some(cycle::Found::Lasso { stem, cycle })
                        if self.may_stay_atomic && machine.edge_of_atomic_loop(&stem, &cycle).is_some() =>
                    {
                        Looked::Unknown(ATOMIC_MAY_NOT_END.to_owned())
                    }
                    Some(found) => {
                        let shorter = machine.shorter_lasso(&mut observer, &settings, question, &found, states);
                        Looked::Run(Run::of(shorter.unwrap_or(found), class))
                    }
                    None if completeness != Completeness::Exhaustive => {
                        Looked::Unknown(limit_reached(completeness, &limits))
                    }
                    None if 0 < machine.cut_runs().seen() => {
                        Looked::Unknown("runs end in runtime errors, behind which nothing is known".to_owned())
                    }
                    None if self.may_stay_atomic => Looked::Unknown(ATOMIC_MAY_NOT_END.to_owned()),
                    None => Looked::Nothing,
                }
            }
        }
    }

    /// Whether the time is over.
    pub(crate) fn is_late(&self, now: &(dyn Fn() -> Duration + Sync)) -> bool {
        self.limits.until.is_some_and(|until| until <= now())
    }

    /// What stopped the searches, in words.
    pub(crate) fn stopped_by(&self, why: StopReason) -> String {
        limit_reached(Completeness::Stopped(why), &self.limits.limits)
    }

    /// Counts a search.
    pub(crate) fn count(&mut self, states: u64, memory_bytes: u64) {
        self.searches += 1;
        self.states += states;
        self.memory_bytes = self.memory_bytes.max(memory_bytes);
    }

    fn restricted(&self, allowed: &Allowed<'_>) -> SearchedMachine {
        let edges = 0..self.program().edges.len();
        let is_left_out = |edge: usize| match allowed {
            Allowed::AllBut(left_out) => left_out.contains(&EdgeId(edge as u32)),
            Allowed::Only(kept) => !kept.contains(&EdgeId(edge as u32)),
        };
        self.machine.clone().without_edges(edges.map(is_left_out).collect())
    }

    /// A shorter run of the same statements, if one is found soon.
    pub(crate) fn shortest(&mut self, kept: &Statements, run: Run) -> Run {
        let How::Infinite(query) = &self.how else { return run };
        let settings = search::Settings {
            limits: Limits { depth_max: None, states_max: Some(SHRINK_STATES_MAX), ..self.limits.limits },
            stop_at: StopAt::First,
            cancel: self.cancel.clone(),
        };
        let question = CycleQuestion { goal: query.goal, fairness: Fairness::None };
        let bounds = ShortestBounds { steps: run.path.len() as u64 + 1, work_max: SHORTEST_WORK_MAX };
        let mut machine = self.restricted(&Allowed::Only(kept));
        let shortest = cycle::shortest(&mut machine, &mut Quiet, &settings, question, &ProcessSet::EMPTY, bounds).found;
        let shorter = shortest.map(|found| Run::of(found, query.class));
        shorter.filter(|shorter| statements(&shorter.path) == *kept).unwrap_or(run)
    }

    /// A run as what is to be confirmed: as it is, or with other orders of its steps.
    pub(crate) fn found(&self, run: &Run, as_found: bool) -> Found {
        let path = run.path.clone();
        match &self.how {
            How::Safety(watch) => Found { as_found, ..Found::new(run.wrong, path, *watch) },
            How::Infinite(query) => {
                let written = query.watch.claim.map(|_| (Arc::clone(&query.program), query.watch));
                let property = query.property.clone();
                Found { as_found: true, written, property, ..Found::new(run.wrong, path, query.watch) }
            }
        }
    }
}

impl Run {
    fn of(found: cycle::Found<Move, Fault>, class: fabius_task::report::ViolationClass) -> Self {
        match found {
            cycle::Found::Lasso { stem, cycle } => {
                let wrong = ErrorKind::Loop(stem.len(), class);
                Self { wrong, path: stem.into_iter().chain(cycle).collect() }
            }
            cycle::Found::Fault { path, fault } => Self { wrong: ErrorKind::Fault(fault), path },
        }
    }
}

fn cycles(
    machine: &mut SearchedMachine,
    query: &LivenessQuery,
    observer: &mut Deadline<'_>,
    settings: &search::Settings,
) -> CycleOutcome<Move, Fault> {
    match query.search {
        CycleSearch::DfsFifo => {
            cycle::dfs_fifo(machine, &mut TreeStore::default(), observer, settings, cycle::Order::Strict)
        }
        CycleSearch::NestedDfs | CycleSearch::Components => {
            cycle::nested_dfs(machine, &mut TreeStore::default(), observer, settings, cycle::NoReduction)
        }
    }
}
