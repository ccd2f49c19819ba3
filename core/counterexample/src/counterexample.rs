//! From a path that a search found to a counterexample that a person may see: confirmed by the
//! reference interpreter, with a place and a sentence.

use crate::elaborate;
use crate::known_run::{BeyondRun, FaultRecord, path_as_text};
use crate::truth::ribbon_of;
use fabius_base::{Code, Finding, SourceMap, Span};
use fabius_program::{Action, CLAIM_PID, EdgeId, Expr, Move, Program, PropertyKind, Watch, meaning::Fault};
use fabius_search::{ViolationKind, cycle};
use fabius_task::condition::relocate;
use fabius_task::internal_error;
use fabius_task::load::Loaded;
use fabius_task::query::LivenessQuery;
use fabius_task::report::{LoopProcessReport, LoopReport, ValueReport, ViolationClass, ViolationReport};
use fabius_task::settings::Fairness;
use fabius_task::words::counted;
use fabius_witness::format::json::StepRecords;
use fabius_witness::format::{json, trail::trail};
use fabius_witness::release::Prospect;
use fabius_witness::{
    Claim, CycleClaim, Disagreement, InLoop, InfiniteRun, ProcessStatus, Role, RunFairness, Trace, check_watching,
    confirm_watching as walk, propositions, shorten,
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// This many places at which processes wait are shown in the text, …
const PLACES_SHOWN_MAX: usize = 6;
/// … and this many processes are named at each.
const NAMES_SHOWN_MAX: usize = 6;

/// A longer run is told as it was found.
const CALMED_STEPS_MAX: usize = 5_000;
/// The reference interpreter may take this many steps to make a run easier to read.
const CALMING_STEPS_MAX: u64 = 20_000;

/// A longer run is not told in the words of the program as written.
const ELABORATED_STEPS_MAX: usize = 20_000;

/// What is said of a run that may not be the shortest.
const MAY_BE_SHORTER: &str = "A shorter run may exist: the search for one was cut short.";

/// What a search found.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum ErrorKind {
    /// The path ends in an invalid end state.
    InvalidEnd,
    /// The last step of the path is faulty.
    Fault(#[serde(with = "FaultRecord")] Fault),
    /// From the state after this many steps, the path leads back to it: a loop of this class.
    Loop(usize, ViolationClass),
}

impl From<ViolationKind<Fault>> for ErrorKind {
    fn from(kind: ViolationKind<Fault>) -> Self {
        match kind {
            ViolationKind::InvalidEnd => Self::InvalidEnd,
            ViolationKind::Fault(fault) => Self::Fault(fault),
        }
    }
}

impl ErrorKind {
    /// What went wrong, without its place.
    pub fn sentence(self) -> String {
        match (self, self.class()) {
            (Self::Fault(fault), ViolationClass::Evaluation) => format!("runtime error: {fault}"),
            (_, class) => class.sentence().to_owned(),
        }
    }

    /// The class of violation.
    pub fn class(self) -> ViolationClass {
        match self {
            Self::InvalidEnd => ViolationClass::InvalidEndState,
            Self::Fault(Fault::AssertionFailed) => ViolationClass::Assertion,
            Self::Fault(Fault::ClaimCompleted) => ViolationClass::ClaimCompleted,
            Self::Fault(Fault::TraceViolated) => ViolationClass::Trace,
            Self::Fault(_) => ViolationClass::Evaluation,
            Self::Loop(_, class) => class,
        }
    }
}

impl Found {
    /// A path that goes wrong, found once: whoever runs it need not be fair, and calmer and shorter ones may be told instead.
    pub fn new(wrong: ErrorKind, path: Vec<Move>, watch: Watch) -> Self {
        Self {
            wrong,
            path,
            watch,
            fairness: RunFairness::Unfair,
            fair_runs: FairRuns::NotAsked,
            written: None,
            property: None,
            count: 1,
            shorter: Shorter::NotAsked,
            as_found: false,
        }
    }

    /// What a search found, as what is to be confirmed.
    pub fn of_cycle(
        query: &LivenessQuery,
        found: cycle::Found<Move, Fault>,
        written: Option<(Arc<Program>, Watch)>,
    ) -> Self {
        let (wrong, path) = match found {
            cycle::Found::Lasso { stem, cycle } => {
                (ErrorKind::Loop(stem.len(), query.class), stem.into_iter().chain(cycle).collect())
            }
            cycle::Found::Fault { path, fault } => (ErrorKind::Fault(fault), path),
        };
        let fairness = match query.fairness {
            Fairness::None => RunFairness::Unfair,
            Fairness::Weak => RunFairness::Weak,
            Fairness::Strong => RunFairness::Strong,
        };
        Self {
            wrong,
            path,
            watch: query.watch,
            fairness,
            fair_runs: FairRuns::NotAsked,
            written,
            property: query.property.clone(),
            count: 1,
            shorter: Shorter::NotAsked,
            as_found: true,
        }
    }

    /// What the reference interpreter is to confirm.
    fn claim(&self) -> Claim {
        match self.wrong {
            ErrorKind::InvalidEnd => Claim::InvalidEnd,
            ErrorKind::Fault(fault) => Claim::Fault(fault),
            ErrorKind::Loop(start, class) => {
                let no_progress = class == ViolationClass::NonProgressCycle;
                // A claim that waits for a livelock accepts it.
                let no_progress = no_progress && self.watch.progress.is_some();
                let shows = CycleClaim { no_progress, acceptance: self.watch.acceptance, fairness: self.fairness };
                Claim::Cycle { start, shows }
            }
        }
    }
}

/// What is known of shorter paths to the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Shorter {
    /// Nobody looked for one.
    NotAsked,
    /// The search for one was cut short.
    CutShort,
    /// There is none.
    None,
}

/// What is known of fair runs that do the same as one that is not.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum FairRuns {
    /// Nobody looked for one, or what ends runs hides them.
    NotAsked,
    /// The search for one was cut short.
    CutShort,
    /// This is the strongest fairness under which some run does the same.
    Known(RunFairness),
}

/// A path that a search found.
#[derive(Clone)]
pub struct Found {
    /// What is wrong with it.
    pub wrong: ErrorKind,
    /// The path.
    pub path: Vec<Move>,
    /// What was watched beside the processes.
    pub watch: Watch,
    /// How fair its loop is, at least.
    pub fairness: RunFairness,
    /// What is known of fair runs that do the same.
    pub fair_runs: FairRuns,
    /// The program as written with what is watched beside its processes, where a claim is.
    pub written: Option<(Arc<Program>, Watch)>,
    /// The formula or claim that it violates: its name, and where it stands if it does in the text.
    pub property: Option<(String, Option<Span>)>,
    /// How often the same was found.
    pub count: u64,
    /// What is known of shorter paths to the same.
    pub shorter: Shorter,
    /// Whether it is to be told as it is, even if a calmer path shows the same.
    pub as_found: bool,
}

/// A run that shows that a property does not hold.
#[derive(Clone, Debug)]
pub struct Counterexample {
    /// What goes wrong and where, ready to be shown.
    pub finding: Finding,
    /// The run, as the reference interpreter saw it: of the program as written, if that can be told.
    pub trace: Trace,
    /// The run of the program that was searched.
    pub path: Vec<Move>,
    /// How many moves of it come before its loop, if it has one.
    pub loop_start: Option<usize>,
    /// The program that `trace` tells of: what its moves name.
    pub told: Arc<Program>,
    /// What was watched beside the processes.
    pub watch: Watch,
    /// What the search found out that the run does not show.
    pub beyond_run: BeyondRun,
    /// All of it as plain data.
    pub report: ViolationReport,
}

impl Counterexample {
    /// Whether it violates a property of infinite runs: one with a loop, or what already violates a formula or claim.
    pub fn is_infinite(&self) -> bool {
        self.loop_start.is_some() || self.report.kind == ViolationClass::ClaimCompleted
    }

    /// Whether the search counted the steps of the run as they are told. It counts statements that are merged as one step,
    /// and for safety an atomic sequence, too; only a run without these is known to have the fewest steps if it is
    /// [`ViolationReport::shortest`].
    pub fn counts_as_searched(&self) -> bool {
        let searched = self.path.iter().filter(|step| step.pid != CLAIM_PID).count();
        let atomic = !self.is_infinite() && self.trace.steps.holds();
        searched == self.trace.len() && !atomic
    }

    /// The run as a trail file, which `spin -t -p` replays.
    pub fn trail(&self, loaded: &Loaded) -> String {
        loaded.program.as_ref().map(|program| trail(program, &self.path, self.loop_start)).unwrap_or_default()
    }
}

/// Walks the path with the reference interpreter and describes what it shows.
///
/// # Errors
/// The text of an internal error, if the path is not what the search says.
pub fn confirm(loaded: &Loaded, program: &Arc<Program>, mut found: Found) -> Result<Counterexample, String> {
    let claim = found.claim();
    if !found.as_found && found.path.len() <= CALMED_STEPS_MAX {
        found.path = shorten(program, found.watch, &found.path, claim, CALMING_STEPS_MAX);
    }
    // A longer run is walked below, in any case.
    let written = if found.path.len() <= ELABORATED_STEPS_MAX {
        check(program, &found)?;
        as_written(loaded, program, &found)
    } else {
        None
    };
    let (told, watch, mut trace) = match written {
        Some(told) => told,
        None => {
            let trace = walk(program, found.watch, &found.path, claim).map_err(|why| is_none(&found, &why))?;
            (Arc::clone(program), found.watch, trace)
        }
    };
    match (&mut trace.infinite, found.fair_runs) {
        (Some(infinite), FairRuns::Known(fairness)) => infinite.set_fair_runs(fairness),
        (Some(infinite), FairRuns::CutShort) => infinite.set_fair_runs_unknown(),
        _ => {}
    }
    if let Some((name, _)) = &found.property {
        trace.propositions = proposition_sentences(loaded, &told, watch, &trace, name);
        trace.ribbon = ribbon_of(loaded, &told, watch, &trace, name);
    }
    let finding = finding(&loaded.map, &found, &trace);
    let report = report(loaded, &found, &trace, &finding);
    let loop_start = match found.wrong {
        ErrorKind::Loop(start, _) => Some(start),
        _ => None,
    };
    let has_claim = found.watch.claim.is_some();
    let Found { wrong, fair_runs, shorter, path, .. } = found;
    let beyond_run = BeyondRun { wrong, has_claim, fair_runs, shorter, delays: None };
    Ok(Counterexample { finding, trace, path, loop_start, told, watch, beyond_run, report })
}

/// Whether the reference interpreter can walk the run that was found, and it shows what the search says.
///
/// # Errors
/// The text of an internal error, if not.
pub fn check(program: &Arc<Program>, found: &Found) -> Result<(), String> {
    check_watching(program, found.watch, &found.path, found.claim()).map_err(|why| is_none(found, &why))
}

/// The text of the internal error that a run is not what the search says.
fn is_none(found: &Found, why: &Disagreement) -> String {
    let (claim, path) = (found.claim(), path_as_text(&found.path));
    internal_error(&format!("the counterexample found is none: {why}\nclaim: {claim:?}\npath: {path}"))
}

/// The program as it is written, and the trace of the same run of it; `None` if there is none that the
/// reference interpreter confirms.
fn as_written(loaded: &Loaded, program: &Program, found: &Found) -> Option<(Arc<Program>, Watch, Trace)> {
    let (written, watch) = match &found.written {
        Some((written, watch)) => (Arc::clone(written), *watch),
        None if found.watch.claim.is_none() => (loaded.as_written()?, found.watch),
        None => return None,
    };
    let elaborated = elaborate(program, &written, watch, &found.path, found.claim())?;
    let trace = walk(&written, watch, &elaborated.path, elaborated.claim).ok()?;
    Some((written, watch, trace))
}

/// What the propositions of a formula are along a run that violates it, in sentences.
fn proposition_sentences(loaded: &Loaded, walked: &Program, watch: Watch, trace: &Trace, name: &str) -> Vec<String> {
    let Some(program) = &loaded.program else { return Vec::new() };
    let formula = program.properties.iter().find_map(|property| match &property.kind {
        PropertyKind::Ltl(formula) if property.name == name => Some(formula),
        _ => None,
    });
    let exprs = formula.map_or_else(Vec::new, |formula| formula.propositions().into_iter().cloned().collect());
    // A place that the program of the trace does not have has no value there.
    let same = |mut expr: Expr| relocate(program, walked, &mut expr).ok().map(|()| expr);
    let exprs: Vec<Expr> = exprs.into_iter().filter_map(same).collect();
    propositions(walked, watch, trace, &exprs)
}

/// Where a faulty transition stands in the text.
pub fn place_of(program: &Program, edge: EdgeId, fault: Fault) -> Span {
    let statement = program.statement(program.process_of(edge), edge);
    let Action::Block(block) = &statement.action else { return statement.span };
    let options = block.nodes.iter().flat_map(|node| &node.options);
    let mut asserts = options.filter(|option| matches!(option.action, Action::Assert(_)));
    match (fault, asserts.next(), asserts.next()) {
        (Fault::AssertionFailed, Some(only), None) => only.span,
        _ => statement.span,
    }
}

fn finding(map: &SourceMap, found: &Found, trace: &Trace) -> Finding {
    match found.wrong {
        ErrorKind::InvalidEnd => stuck(map, trace),
        ErrorKind::Fault(Fault::ClaimCompleted) => completed(found.property.as_ref(), trace),
        ErrorKind::Fault(fault) => faulty(fault, trace),
        ErrorKind::Loop(_, class) => infinite(class, found.property.as_ref(), trace),
    }
}

/// A run that never ends: the first step of its loop, and the property that it violates.
fn infinite(class: ViolationClass, property: Option<&(String, Option<Span>)>, trace: &Trace) -> Finding {
    let start = trace.cycle_start.unwrap_or(1);
    let steps = trace.len() + 1 - start;
    let (code, headline) = match (class, property) {
        (ViolationClass::NonProgressCycle, _) => {
            (Code::NonProgressCycle, "non-progress cycle: a run can go on for ever without progress".to_owned())
        }
        (_, Some((name, _))) if steps == 0 => (Code::PropertyViolated, format!("`{name}` is violated by a finite run")),
        (_, Some((name, _))) => (Code::PropertyViolated, format!("`{name}` is violated by an infinite run")),
        _ if steps == 0 => (Code::AcceptanceCycle, "acceptance cycle: a run can end at an acceptance label".to_owned()),
        _ => (Code::AcceptanceCycle, "acceptance cycle: a run can pass acceptance labels for ever".to_owned()),
    };
    let mut finding = Finding::new(code, headline);
    if let Some(first) = trace.taken_from(start, trace.len()).next() {
        let length = counted(steps as u64, "step");
        let text = format!("a loop of {length} starts here: {}, in step {}", first.actor.name, first.number);
        finding = finding.at(first.actor.span, text);
    } else if let Some(last) = trace.last_taken() {
        finding = finding
            .at(last.actor.span, format!("after {}, in step {}, nothing can move", last.actor.name, last.number));
    }
    with_property(finding, property)
}

fn with_property(finding: Finding, property: Option<&(String, Option<Span>)>) -> Finding {
    match property {
        Some((_, Some(span))) => finding.at(*span, "this is violated"),
        _ => finding,
    }
}

/// A run whose beginning already violates the property.
fn completed(property: Option<&(String, Option<Span>)>, trace: &Trace) -> Finding {
    let name = property.map_or("the claim", |(name, _)| name);
    let headline = match trace.len() {
        0 => format!("`{name}` is violated in the initial state"),
        steps => format!("`{name}` is violated after {}", counted(steps as u64, "step")),
    };
    let mut finding = Finding::new(Code::PropertyViolated, headline);
    if let Some(step) = trace.last_taken() {
        finding = finding.at(step.actor.span, format!("after {}, in step {}", step.actor.name, step.number));
    }
    with_property(finding, property)
}

/// A step that fails.
fn faulty(fault: Fault, trace: &Trace) -> Finding {
    let code = match fault {
        Fault::AssertionFailed => Code::AssertionViolated,
        Fault::ClaimCompleted => Code::PropertyViolated,
        Fault::TraceViolated => Code::TraceViolated,
        _ => Code::EvaluationFailed,
    };
    let Some(step) = trace.last_taken() else {
        return Finding::new(code, format!("runtime error in the initial state: {fault}"));
    };
    let headline = match fault {
        Fault::AssertionFailed => "this assertion can fail".to_owned(),
        Fault::ClaimCompleted | Fault::TraceViolated => fault.to_string(),
        fault => format!("runtime error: {fault}"),
    };
    Finding::new(code, headline).at(step.fault_span, format!("{} fails here, in step {}", step.actor.name, step.number))
}

/// A state in which nothing can move.
fn stuck(map: &SourceMap, trace: &Trace) -> Finding {
    let waiting: Vec<&ProcessStatus> = trace.last.processes.iter().filter(|status| !status.end).collect();
    let headline = match trace.len() {
        0 => "deadlock in the initial state".to_owned(),
        steps => format!("deadlock after {}", counted(steps as u64, "step")),
    };
    let mut finding = Finding::new(Code::InvalidEndState, headline);
    let mut places: Vec<(Span, Vec<&ProcessStatus>)> = Vec::new();
    for status in waiting.iter().copied() {
        let span = map.user_span(status.waiting.first().map_or(status.span, |waiting| waiting.span));
        match places.iter_mut().find(|(known, _)| (known.file, known.start) == (span.file, span.start)) {
            Some((_, there)) => there.push(status),
            None => places.push((span, vec![status])),
        }
    }
    for (span, there) in places.iter().take(PLACES_SHOWN_MAX) {
        finding = finding.at(*span, waits_here(there));
    }
    if places.len() > PLACES_SHOWN_MAX {
        finding = finding.note(format!("processes wait at {} more places", places.len() - PLACES_SHOWN_MAX));
    }
    if let Some(explanation) = &trace.explanation {
        finding = finding.help(explanation.suggestion.clone());
    }
    finding
}

/// Who waits at a place, and why if one reason says it.
fn waits_here(process_statuses: &[&ProcessStatus]) -> String {
    if let [only] = process_statuses {
        return match only.waiting.as_slice() {
            [waiting] => format!("{} waits here: {}", only.name, waiting.reason.sentence()),
            _ => format!("{} waits here", only.name),
        };
    }
    let names: Vec<&str> = process_statuses.iter().take(NAMES_SHOWN_MAX).map(|status| status.name.as_str()).collect();
    match process_statuses.len().checked_sub(NAMES_SHOWN_MAX + 1) {
        None => format!("{} wait here", names.join(", ")),
        Some(more) => format!("{} and {} more wait here", names.join(", "), more + 1),
    }
}

fn report(loaded: &Loaded, found: &Found, trace: &Trace, finding: &Finding) -> ViolationReport {
    let place = finding.span().map(|span| loaded.map.position(span));
    let explanation = trace.explanation.as_ref();
    let infinite = trace.infinite.as_ref();
    let sentences = explanation.map(|why| &why.sentences).or(infinite.map(|infinite| &infinite.sentences));
    let advice = explanation.map(|why| &why.suggestion).or(infinite.map(|infinite| &infinite.suggestion));
    ViolationReport {
        kind: found.wrong.class(),
        message: message(found.wrong, trace),
        file: place.as_ref().map_or_else(|| loaded.name.clone(), |place| place.file.to_string()),
        line: place.as_ref().map_or(0, |place| place.line),
        column: place.as_ref().map_or(0, |place| place.column),
        count: found.count.max(1),
        steps: trace.len() as u64,
        shortest: found.shorter == Shorter::None,
        trace: StepRecords::of(trace, &loaded.map),
        steps_left_out: json::left_out(trace) as u64,
        loop_start: trace.cycle_start.map(|start| start as u64),
        infinite: trace.infinite.as_ref().map(|infinite| in_loop(&loaded.map, infinite, trace)),
        delays: None,
        fewest_delays: None,
        blocked: match explanation {
            Some(_) => json::stuck(trace, &loaded.map),
            None => Vec::new(),
        },
        ribbon: trace.ribbon.as_ref().map(|ribbon| Box::new(ribbon.into())),
        explanation: (trace.propositions.iter().chain(sentences.into_iter().flatten()).cloned())
            .chain((found.shorter == Shorter::CutShort).then(|| MAY_BE_SHORTER.to_owned()))
            .collect(),
        advice: advice.cloned(),
    }
}

/// What happens in the loop of a run that never ends.
fn in_loop(map: &SourceMap, infinite: &InfiniteRun, trace: &Trace) -> LoopReport {
    let process = |process: &InLoop| {
        let place = map.position(process.span);
        let (role, reasons, waits_for) = match &process.role {
            Role::Moves => ("moves", Vec::new(), Vec::new()),
            Role::AlwaysNeglected => ("neglected", Vec::new(), Vec::new()),
            Role::SometimesNeglected => ("sometimes_neglected", Vec::new(), Vec::new()),
            Role::Blocked { reasons, prospect, .. } => ("blocked", reasons.clone(), released_by(prospect)),
            Role::Ended => ("ended", Vec::new(), Vec::new()),
        };
        LoopProcessReport {
            name: process.name.clone(),
            pid: process.pid,
            role,
            reasons,
            waits_for,
            file: place.file.to_string(),
            line: place.line,
            column: place.column,
        }
    };
    LoopReport {
        steps: trace.cycle_start.map_or(0, |start| trace.len() + 1 - start) as u64,
        fairness: match infinite.fairness {
            RunFairness::Unfair => "none",
            RunFairness::Weak => "weak",
            RunFairness::Strong => "strong",
        },
        processes: infinite.processes.iter().map(process).collect(),
        unchanged: infinite
            .unchanged
            .iter()
            .map(|(name, value)| ValueReport { name: name.clone(), value: value.clone() })
            .collect(),
    }
}

/// The process that lets one that waits in a loop go on, if one is known.
fn released_by(prospect: &Prospect) -> Vec<u8> {
    match prospect {
        Prospect::Released { by, .. } => vec![*by],
        Prospect::Never { .. } | Prospect::Unknown => Vec::new(),
    }
}

fn message(wrong: ErrorKind, trace: &Trace) -> String {
    let text = trace.last_taken().map_or_else(|| "the initial state".to_owned(), |step| step.actor.text);
    match wrong {
        ErrorKind::InvalidEnd => "invalid end state".to_owned(),
        ErrorKind::Fault(fault) => format!("{fault}: {text}"),
        ErrorKind::Loop(_, ViolationClass::NonProgressCycle) => "non-progress cycle".to_owned(),
        ErrorKind::Loop(..) => "acceptance cycle".to_owned(),
    }
}
