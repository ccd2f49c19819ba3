//! The search for violations of safety: failed assertions, invalid end states, evaluation errors.

use crate::adapter::{Places, SearchedMachine};
use crate::counterexample::{Counterexample, Found, class_of, confirm, place_of};
use crate::event::{Event, Goal, Progress};
use crate::load::Loaded;
use crate::plan::Planned;
use crate::report::{PropertyReport, Stopped, Verdict};
use crate::run::{Surroundings, internal_error};
use crate::settings::{Order, Settings, Storage};
use crate::unreached::unreached;
use crate::words::{counted, grouped, memory};
use fabius_base::{Code, Finding, Limits, SourceMap, Span, StopReason};
use fabius_machine::Refusal;
use fabius_program::{Move, Program, Variable, meaning::Fault};
use fabius_search::store::Exactness;
use fabius_search::{
    self as search, BitstateStore, Completeness, FingerprintStore, Statistics, StopAt, TreeStore, Violation,
    ViolationKind,
};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

/// The hash functions of lossy stores start from this; the same for every run, so that a run can be repeated.
const SEED: u64 = 0;
/// Bits that a bitstate store sets for each state.
const BITS_PER_STATE: u32 = 3;
/// A bitstate store takes at most this share of the memory allowed.
const BITSTATE_SHARE: u64 = 2;
/// Memory of a bitstate store if none was named.
const BITSTATE_BYTES_DEFAULT: u64 = 256 << 20;
/// A search for a shorter run may store so many times the states that the first search stored, …
const SHORTEN_STATES_FACTOR: u64 = 10;
/// … but always so many, …
const SHORTEN_STATES_MIN: u64 = 100_000;
/// … and may take so long.
const SHORTEN_TIME_MAX: Duration = Duration::from_secs(1);

/// Only the first few runs are made easier to read; that takes time.
const CALMED_RUNS_MAX: usize = 5;

type SearchOutcome = search::Outcome<Move, Fault>;

/// What a search found, and what its store took.
struct Explored {
    outcome: SearchOutcome,
    store_bytes: u64,
    /// The keys of the violations, in their order.
    keys: Vec<u64>,
}

/// What the search left behind.
pub(crate) struct Checked {
    pub report: PropertyReport,
    pub counterexamples: Vec<Counterexample>,
    pub findings: Vec<Finding>,
    pub failure: Option<String>,
}

/// Everything that the parts of a check need to know.
pub(crate) struct Task<'a> {
    pub loaded: &'a Loaded,
    pub program: &'a Program,
    pub property: &'a str,
    pub settings: &'a Settings,
}

/// Searches the reachable states, and confirms what was found.
pub(crate) fn check(
    loaded: &Loaded,
    program: &Arc<Program>,
    planned: &Planned,
    settings: &Settings,
    around: &mut Surroundings<'_>,
) -> Checked {
    let task = Task { loaded, program, property: &planned.name, settings };
    let mut machine = match SearchedMachine::new(Arc::clone(program)) {
        Ok(machine) => machine,
        Err(refusal) => return refused(planned, program, refusal),
    };
    let began = (around.now)();
    let stop_at = if settings.keep_going { StopAt::Never } else { StopAt::First };
    let watcher = Watcher::new(&task, around, Goal::Violation, machine.places(), None);
    let explored = explore(&task, &mut machine, watcher, settings.search, settings.limits, stop_at);
    let seconds = ((around.now)() - began).as_secs_f64();
    let outcome = &explored.outcome;
    let mut checked = Checked {
        report: describe(planned, settings, &explored, seconds),
        counterexamples: Vec::new(),
        findings: Vec::new(),
        failure: None,
    };
    if outcome.completeness == Completeness::Exhaustive && outcome.exactness.is_exact() {
        checked.findings = unreached(program, &loaded.map, &|edge| machine.reached(edge));
    }
    for (index, (violation, &key)) in outcome.violations.iter().zip(&explored.keys).enumerate() {
        let found = Found {
            violation: violation.clone(),
            shortest: settings.search == Order::BreadthFirst,
            as_found: settings.search == Order::DepthFirst || CALMED_RUNS_MAX <= index,
        };
        let found = shorter(&task, &mut machine, found, key, &outcome.statistics, around);
        match confirm(loaded, program, found) {
            Ok(counterexample) => checked.add(planned, counterexample, around),
            Err(failure) => checked.failure = checked.failure.or(Some(failure)),
        }
    }
    checked
}

impl Checked {
    fn add(&mut self, planned: &Planned, counterexample: Counterexample, around: &mut Surroundings<'_>) {
        let violation = counterexample.report.clone();
        (around.observe)(Event::Violation { property: planned.name.clone(), violation: violation.clone() });
        self.report.violations.push(violation);
        self.counterexamples.push(counterexample);
    }
}

/// Runs one search in the order and with the store that were asked for.
fn explore(
    task: &Task<'_>,
    machine: &mut SearchedMachine,
    watcher: Watcher<'_, '_>,
    order: Order,
    limits: Limits,
    stop_at: StopAt,
) -> Explored {
    let cancel = watcher.around.cancel.clone();
    let settings = search::Settings { limits, stop_at, cancel };
    let breadth = order == Order::BreadthFirst;
    match task.settings.store {
        Storage::Tree => run(machine, TreeStore::new(), watcher, &settings, breadth),
        Storage::Hash => run(machine, FingerprintStore::new(SEED), watcher, &settings, breadth),
        Storage::Bitstate => {
            let bytes = limits.memory_bytes_max.map_or(BITSTATE_BYTES_DEFAULT, |max| max / BITSTATE_SHARE);
            run(machine, BitstateStore::new(bytes, BITS_PER_STATE, SEED), watcher, &settings, breadth)
        }
    }
}

fn run<S: search::Store>(
    machine: &mut SearchedMachine,
    mut store: S,
    mut watcher: Watcher<'_, '_>,
    settings: &search::Settings,
    breadth: bool,
) -> Explored {
    let outcome = if breadth {
        search::breadth_first(machine, &mut store, &mut watcher, settings)
    } else {
        search::depth_first(machine, &mut store, &mut watcher, settings)
    };
    Explored { outcome, store_bytes: store.memory_bytes(), keys: watcher.keys }
}

/// Looks for a shorter run to the violation that a depth-first search found, with a small budget.
fn shorter(
    task: &Task<'_>,
    machine: &mut SearchedMachine,
    found: Found,
    key: u64,
    spent: &Statistics,
    around: &mut Surroundings<'_>,
) -> Found {
    let wanted = task.settings.search == Order::DepthFirstThenShorten && !task.settings.keep_going;
    if !wanted || found.violation.path.len() < 2 || around.cancel.requested().is_some() {
        return found;
    }
    let states_max = spent.states.saturating_mul(SHORTEN_STATES_FACTOR).max(SHORTEN_STATES_MIN);
    let states_max = task.settings.limits.states_max.map_or(states_max, |max| max.min(states_max));
    let limits = Limits { states_max: Some(states_max), depth_max: None, ..task.settings.limits };
    let watcher = Watcher::new(task, around, Goal::ShorterRun, machine.places(), Some(key));
    let explored = explore(task, machine, watcher, Order::BreadthFirst, limits, StopAt::Never);
    let same = explored.keys.iter().position(|&other| other == key);
    match same.and_then(|index| explored.outcome.violations.into_iter().nth(index)) {
        Some(shorter) if shorter.path.len() < found.violation.path.len() => {
            let violation = Violation { count: found.violation.count, ..shorter };
            Found { violation, shortest: true, ..found }
        }
        Some(_) => Found { shortest: true, ..found },
        None => found,
    }
}

/// What the search found out, in figures and one sentence.
fn describe(planned: &Planned, settings: &Settings, explored: &Explored, seconds: f64) -> PropertyReport {
    let outcome = &explored.outcome;
    let statistics = &outcome.statistics;
    let stopped = match outcome.completeness {
        Completeness::Exhaustive => None,
        Completeness::FirstViolation => Some(Stopped::Violation),
        Completeness::Stopped(reason) => Some(reason.into()),
    };
    let verdict = match statistics.violations {
        0 if outcome.proves_absence() => Verdict::Holds,
        0 => Verdict::Undecided,
        _ => Verdict::Violated,
    };
    let bytes_per_state = explored.store_bytes as f64 / statistics.states.max(1) as f64;
    PropertyReport {
        verdict,
        exhaustive: stopped.is_none() && outcome.exactness.is_exact(),
        reason: reason(outcome, &settings.limits),
        stopped,
        search: if settings.search == Order::BreadthFirst { "bfs" } else { "dfs" },
        store: settings.store.as_str(),
        states: statistics.states,
        transitions: statistics.transitions(),
        matched: statistics.matched,
        depth: statistics.depth,
        seconds,
        memory_bytes: statistics.memory_bytes,
        bytes_per_state,
        violation_count: statistics.violations,
        ..PropertyReport::unchecked(&planned.name, planned.kind, "")
    }
}

/// One sentence that says what the verdict rests on.
fn reason(outcome: &SearchOutcome, limits: &Limits) -> String {
    let states = counted(outcome.statistics.states, "state");
    let missed = missed(outcome.exactness);
    match (outcome.statistics.violations, outcome.completeness) {
        (0, Completeness::Exhaustive) if outcome.exactness.is_exact() => {
            "no assertion can fail, no invalid end state, no evaluation error".to_owned()
        }
        (0, Completeness::Exhaustive) => format!("no error found in {states}; this is not a proof: {missed}"),
        (0, _) => {
            let limit = limit_reached(outcome.completeness, limits);
            format!("no error found in {states}; this is not a proof: {limit}")
        }
        (_, Completeness::FirstViolation) => {
            let what = outcome.violations.first().map_or("", |violation| class_of(&violation.kind).sentence());
            format!("{what}; stopped at the first violation")
        }
        (found, completeness) => {
            let kinds = counted(outcome.violations.len() as u64, "different violation");
            let all = format!("{kinds}, met {} in all", times(found));
            match completeness {
                Completeness::Exhaustive if outcome.exactness.is_exact() => format!("{all}; everything was explored"),
                Completeness::Exhaustive => format!("{all}; there may be more: {missed}"),
                _ => format!("{all}; there may be more: {}", limit_reached(completeness, limits)),
            }
        }
    }
}

fn times(count: u64) -> String {
    if count == 1 { "once".to_owned() } else { format!("{} times", grouped(count)) }
}

/// What kept a search from looking at everything.
fn limit_reached(completeness: Completeness, limits: &Limits) -> String {
    let limit = |what: &str, value: Option<u64>| match value {
        Some(value) => format!("the limit of {} was reached", counted(value, what)),
        None => format!("no more {what}s fit"),
    };
    match completeness {
        Completeness::Exhaustive | Completeness::FirstViolation => String::new(),
        Completeness::Stopped(StopReason::Cancelled) => "it was interrupted".to_owned(),
        Completeness::Stopped(StopReason::Timeout) => "the time allowed was used up".to_owned(),
        Completeness::Stopped(StopReason::States) => limit("state", limits.states_max),
        Completeness::Stopped(StopReason::Memory) => match limits.memory_bytes_max {
            Some(bytes) => format!("the memory limit of {} was reached", memory(bytes)),
            None => "no more states fit into the store".to_owned(),
        },
        Completeness::Stopped(StopReason::Depth) => {
            let depth = limits.depth_max.unwrap_or(0);
            format!("runs of {} and more were cut off", counted(depth, "step"))
        }
    }
}

/// What a lossy store may have missed.
fn missed(exactness: Exactness) -> String {
    match exactness {
        Exactness::Exact => String::new(),
        Exactness::Fingerprint { omission_probability } => {
            format!("two states may have been taken for one, with a probability of about {omission_probability:.1e}")
        }
        Exactness::Bitstate { omission_probability_per_state, bits_per_state } => format!(
            "with {bits_per_state:.0} bits per state, about one in {:.0} states may have been missed",
            1.0 / omission_probability_per_state.max(1e-15)
        ),
    }
}

/// A model that the machine cannot run.
fn refused(planned: &Planned, program: &Program, refusal: Refusal) -> Checked {
    let reason = format!("not checked: {refusal}");
    let mut finding = Finding::new(Code::TooMany, refusal.to_string());
    let bytes = |variable: &Variable| u64::from(variable.element_count()) * u64::from(variable.ty.bits).div_ceil(8);
    let variables = program.globals.iter().chain(program.processes.iter().flat_map(|process| &process.locals));
    if let (Refusal::TooLarge, Some(variable)) = (refusal, variables.max_by_key(|variable| bytes(variable))) {
        let text = format!("`{}` alone takes {}", variable.name, memory(bytes(variable)));
        finding = finding.at(variable.span, text);
    }
    let mut report = PropertyReport::unchecked(&planned.name, planned.kind, &reason);
    report.verdict = Verdict::Faulty;
    let (findings, failure) = match refusal {
        Refusal::TooLarge | Refusal::TooDeep => (vec![finding], None),
        Refusal::Malformed(_) => (Vec::new(), Some(internal_error(&refusal.to_string()))),
    };
    Checked { report, counterexamples: Vec::new(), findings, failure }
}

/// Watches a search on behalf of the one who asked for the check.
struct Watcher<'a, 'b> {
    property: &'a str,
    program: &'a Program,
    map: &'a SourceMap,
    around: &'a mut Surroundings<'b>,
    places: Places,
    goal: Goal,
    began: Duration,
    /// The violation whose shorter run is looked for, by its key.
    hunted: Option<u64>,
    /// The keys of the violations met, in order, each once.
    keys: Vec<u64>,
}

impl<'a, 'b> Watcher<'a, 'b> {
    fn new(task: &Task<'a>, around: &'a mut Surroundings<'b>, goal: Goal, places: Places, hunted: Option<u64>) -> Self {
        (around.observe)(Event::Searching { property: task.property.to_owned(), goal });
        let began = (around.now)();
        Self {
            property: task.property,
            program: task.program,
            map: &task.loaded.map,
            around,
            places,
            goal,
            began,
            hunted,
            keys: Vec::new(),
        }
    }

    /// Where a violation is: the file and the byte at which the guilty statement stands.
    fn place(&self, kind: &ViolationKind<Fault>, label: Option<&Move>, state: &[u32]) -> Option<Span> {
        match (kind, label) {
            (ViolationKind::InvalidEnd, _) => self.places.first_stuck(state),
            (ViolationKind::Fault(fault), Some(step)) => Some(place_of(self.program, step.edge, *fault)),
            (ViolationKind::Fault(_), None) => None,
        }
    }
}

impl search::Observer<Move, Fault> for Watcher<'_, '_> {
    fn progress(&mut self, statistics: &Statistics) -> ControlFlow<StopReason> {
        let seconds = (self.around.now)() - self.began;
        if self.goal == Goal::ShorterRun && SHORTEN_TIME_MAX < seconds {
            return ControlFlow::Break(StopReason::Timeout);
        }
        if self.hunted.is_some_and(|key| self.keys.contains(&key)) {
            return ControlFlow::Break(StopReason::Cancelled);
        }
        let progress = Progress {
            states: statistics.states,
            transitions: statistics.transitions(),
            depth: statistics.depth,
            memory_bytes: statistics.memory_bytes,
            seconds: seconds.as_secs_f64(),
        };
        (self.around.observe)(Event::Progress { property: self.property.to_owned(), progress });
        ControlFlow::Continue(())
    }

    fn key(&mut self, kind: &ViolationKind<Fault>, label: Option<&Move>, state: &[u32]) -> u64 {
        let place = self.place(kind, label, state).map(|span| self.map.user_span(span));
        let fault = match kind {
            ViolationKind::InvalidEnd => None,
            ViolationKind::Fault(fault) => Some(std::mem::discriminant(fault)),
        };
        let mut hasher = DefaultHasher::new();
        (fault, place.map(|span| (span.file, span.start))).hash(&mut hasher);
        let key = hasher.finish();
        if !self.keys.contains(&key) {
            self.keys.push(key);
        }
        key
    }
}
