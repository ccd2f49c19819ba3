//! Under which scheduling a model is safe: whether its errors can be avoided, and the fewest waits that avoid them.
//!
//! The model is explored as it is written, in the order of delays from a scheduler; `fabius_search::restrict` computes
//! the region of states from which a scheduler can avoid every error, and the waits. Nothing is said beyond what was
//! explored. A schedule is shown only once the model under it was searched by the ordinary search: no error, no dead end,
//! nobody shut out; if that fails, Fabius is wrong.
//!
//! What a schedule may decide is whose turn it is: a process, or the two of a rendezvous. It may not choose between the
//! options of a process, and says nothing inside an atomic sequence. Models with priorities or `enabled()` are refused:
//! there, whoever is held back changes what others may do.

mod export;
mod fair;
mod forced;
mod hints;
mod places;
mod request;
mod restricted;
mod sections;
mod steered;
mod table;
mod values;
mod verify;
mod waits;
mod words;

pub use export::Export;
pub use fabius_task::report::schedule::{
    AlternativeReport, CheckedReport, ExploredReport, FairReport, FairVerdict, ForcedReport, HeldBackReport,
    KeptReport, PlaceReport, ScheduleReport, ScheduleVerdict, SectionEventReport, SectionReport, StretchReport,
    ValueReport, WaitReport, WhileReport,
};
pub use places::By;
pub use request::{Aim, EXPLORATION_TENTHS, ScheduleRequest, Stops, WAITS, WAITS_TENTHS};

use fabius_base::{Cancel, Limits as Bounds};
use fabius_model::SearchedMachine;
use fabius_program::{Move, ProcessId, Program, Watch};
use fabius_schedulers::{ChosenScheduler, plain_scheduler};
use fabius_search::Completeness;
use fabius_search::restrict::{
    Alone, Explorer, Graph, Limits, Refusal, Region, Round, Stop, Stopped, alone, can_move_again, fixed_order,
    movers_in_model, region_or_lost,
};
use fabius_task::internal_error;
use fabius_task::load::Loaded;
use fabius_task::query::event_trace;
use fabius_task::scheduler::{Chosen, scheduler_of, unknown_types};
use fabius_task::settings::SchedulerChoice;
use fabius_task::words::{counted, limit_reached};
use places::{Places, Whereabouts};
use sections::{NoSections, Rule, Telling};
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::sync::Arc;
use steered::Plan;
use verify::Verified;
use words::{keeps, refused, who_is_shut_out};

/// A first look at what was explored comes after this many states at the latest; every other one when there are twice as many.
const STATES_PER_LOOK: usize = 256;
/// To explore what a scheduler does by itself, this part of the transitions is enough.
const ALONE_SHARE: u64 = 4;

/// What was found out.
#[derive(Clone, PartialEq, Debug)]
pub struct Scheduled {
    /// As plain data.
    pub report: ScheduleReport,
    /// The model that waits by itself, where that was asked for and waits were found; or why it cannot be written so.
    pub export: Option<Result<Export, String>>,
    /// Why the report has no sections, although they were asked for, as half a sentence.
    pub no_sections: Option<String>,
    /// What the scheduler names that the model has not.
    pub warning: Option<String>,
    /// Fabius itself is wrong: what happened.
    pub failure: Option<String>,
}

impl Scheduled {
    /// The same as an answer about a model of which a violation is known: there is something to avoid.
    #[must_use]
    pub fn after_violation(mut self) -> Self {
        match self.report.verdict {
            ScheduleVerdict::SafeIfScheduled => self.report.verdict = ScheduleVerdict::Avoidable,
            ScheduleVerdict::Holds => {
                let what = "a violation was found, and the exploration of all schedules found none";
                self.failure = self.failure.or(Some(internal_error(what)));
            }
            _ => {}
        }
        self
    }

    /// This, and nothing else.
    fn only(report: ScheduleReport) -> Self {
        Self { report, export: None, no_sections: None, warning: None, failure: None }
    }
}

/// A round of the exploration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScheduleRound {
    /// The number of delays up to which all states are explored.
    pub delays: u32,
    /// States met.
    pub states: u64,
    /// States from which a scheduler can avoid every error, as far as is known.
    pub safe: u64,
    /// Whether the initial state is one of them.
    pub schedulable: bool,
}

/// Says under which scheduling a model is safe. `observe` is told of rounds.
pub fn schedule(
    loaded: &Loaded,
    request: &ScheduleRequest,
    stops: &Stops,
    observe: &mut dyn FnMut(ScheduleRound),
) -> Scheduled {
    let unknown = |why: String| Scheduled::only(ScheduleReport::unknown(why));
    let Some(program) = loaded.checkable().and_then(|_| loaded.as_written()) else {
        return unknown("the model cannot be checked".to_owned());
    };
    if let Some(why) = unsupported(&program) {
        return unknown(why.to_owned());
    }
    let watch = Watch { trace: event_trace(&program), ..Watch::NOTHING };
    let machine = match SearchedMachine::new(Arc::clone(&program), watch) {
        Ok(machine) => machine,
        Err(refusal) => return unknown(refusal.to_string()),
    };
    let kind = match scheduler_of(&program, &request.scheduler) {
        // Under round-robin, whoever can go on for ever shuts out the others.
        SchedulerChoice::RoundRobin if request.scheduler == SchedulerChoice::Auto => SchedulerChoice::Laps,
        kind => kind,
    };
    let named = Chosen { kind: request.scheduler.clone(), why: None };
    let warning = unknown_types(&program, &named).map(|finding| finding.headline);
    let scheduler = plain_scheduler(machine.machine(), &kind, 0);
    let (scheduler_name, work_left) = (kind.name(), request.work_max);
    let mut question =
        Question { loaded, program, machine, request, stops, scheduler: scheduler_name, work_left, export: None };
    Scheduled { warning, ..question.answer(&scheduler, observe) }
}

/// Why nothing true can be said of schedules of a program.
pub(crate) fn unsupported(program: &Program) -> Option<&'static str> {
    let hidden = program.globals.iter().any(|variable| variable.hidden);
    match () {
        () if program.uses.priority => Some("the model has priorities, and whoever waits would hold back others"),
        () if program.uses.enabled => Some("the model asks with `enabled()` who can move, and whoever waits could not"),
        () if hidden => Some("the model has hidden variables, which do not distinguish states"),
        () => None,
    }
}

struct Question<'a> {
    loaded: &'a Loaded,
    program: Arc<Program>,
    machine: SearchedMachine,
    request: &'a ScheduleRequest,
    stops: &'a Stops,
    scheduler: String,
    /// States that may still be looked at to find waits, and to check more of them than the best.
    work_left: u64,
    /// The model that waits by itself.
    export: Option<Result<Export, String>>,
}

/// What was explored.
struct Explored {
    graph: Graph,
    region: Region,
    /// Where the processes are in each state, unless there are too many.
    whereabouts: Option<Whereabouts>,
    /// The number of delays up to which all states are explored.
    delays: Option<u32>,
    /// Why not everything.
    stopped: Option<Unexplored>,
    /// Transitions were listed up to this number, …
    transitions_max: u64,
    /// … and this many were.
    transitions: u64,
    /// Where it is known that errors can follow under every schedule: a region without the initial state, whatever is explored later.
    lost: Option<Region>,
    movers: OnceCell<MoversAhead>,
}

/// Why not everything was explored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Unexplored {
    /// It was stopped.
    Stopped(Stop),
    /// The answer was known before.
    NotNeeded,
}

/// Of each state, the processes that can move then or later, as bits.
struct MoversAhead {
    /// In the region, as far as is known.
    safely: Vec<u64>,
    /// In the model, be it with an error.
    in_model: Vec<u64>,
}

impl Explored {
    /// Who can move again from each state.
    fn movers(&self, cancel: &Cancel) -> Result<&MoversAhead, Stopped> {
        if let Some(known) = self.movers.get() {
            return Ok(known);
        }
        let safely = can_move_again(&self.graph, &self.region, cancel)?;
        let in_model = movers_in_model(&self.graph, cancel)?;
        Ok(self.movers.get_or_init(|| MoversAhead { safely, in_model }))
    }
}

impl Question<'_> {
    fn answer(&mut self, scheduler: &ChosenScheduler, observe: &mut dyn FnMut(ScheduleRound)) -> Scheduled {
        let mut explored = match self.explore(scheduler, observe) {
            Ok(explored) => explored,
            Err(refusal) => {
                let report = ScheduleReport::unknown(refused(refusal).to_owned());
                return Scheduled::only(report);
            }
        };
        let is_open = explored.stopped.is_some() && explored.lost.is_none();
        let alone = is_open.then(|| {
            self.alone((&self.scheduler.clone(), scheduler), &explored).or_else(|| {
                // It asks for less: whoever can go on for ever may shut out the others.
                let may = self.request.scheduler == SchedulerChoice::Auto;
                let ring = plain_scheduler(self.machine.machine(), &SchedulerChoice::RoundRobin, 0);
                may.then(|| self.alone(("round-robin", &ring), &explored)).flatten()
            })
        });
        let report = alone.flatten().map_or_else(|| self.judge(&mut explored), Ok);
        let told = report.and_then(|report| self.with_fairness(&mut explored, report));
        let told = told.and_then(|(report, plan)| self.with_sections(&mut explored, report, plan.as_ref()));
        match told {
            Ok((report, no_sections)) => {
                Scheduled { export: self.export.take(), no_sections, ..Scheduled::only(report) }
            }
            Err(why) => {
                let report = ScheduleReport::unknown("no schedule passed the check of it".to_owned());
                Scheduled { failure: Some(internal_error(&why)), ..Scheduled::only(report) }
            }
        }
    }

    /// Adds the sections of a schedule, if they are wanted and there is one; else why not.
    fn with_sections(
        &mut self,
        explored: &mut Explored,
        mut report: ScheduleReport,
        plan: Option<&Plan>,
    ) -> Result<(ScheduleReport, Option<String>), String> {
        if !self.request.sections {
            return Ok((report, None));
        }
        if !explored.region.contains(0) {
            return Ok((report, Some("no safe schedule is known".to_owned())));
        }
        let Explored { graph, region, .. } = explored;
        let rule = plan.map_or(Rule::Laps(region), Rule::Plan);
        let ScheduleRequest { unroll, without_locks, .. } = *self.request;
        let telling = Telling { rule, unroll, without_locks };
        match sections::sections(&mut self.machine, &self.loaded.map, graph, telling, &self.stops.all) {
            Ok(told) => {
                (report.sections, report.without) = (told.sections, told.without);
                Ok((report, None))
            }
            Err(NoSections::TooLarge(why)) => Ok((report, Some(why))),
            Err(NoSections::Stopped) => Ok((report, Some("the time allowed was used up".to_owned()))),
            Err(NoSections::Wrong(why)) => Err(why),
        }
    }

    fn explore(
        &mut self,
        scheduler: &ChosenScheduler,
        observe: &mut dyn FnMut(ScheduleRound),
    ) -> Result<Explored, Refusal> {
        let limits = self.limits();
        let mut explorer = Explorer::new(&mut self.machine, scheduler, limits, &self.stops.exploration)?;
        let (mut delays, mut looked_at) = (None, 0);
        let mut transitions_max = limits.transitions_max;
        let stopped = loop {
            let round = match explorer.round(STATES_PER_LOOK.max(2 * looked_at)) {
                Ok(Round::Complete) => break None,
                Err(Stop::Refused(refusal)) => return Err(refusal),
                Err(stop) => break Some(Unexplored::Stopped(stop)),
                Ok(round) => round,
            };
            let graph = explorer.graph();
            match round {
                Round::Finished(done) => delays = Some(done),
                Round::Paused | Round::Complete => {}
            }
            // The regions of graphs each twice as large as the one before take little beside the exploration.
            if graph.expanded() < 2 * looked_at {
                continue;
            }
            looked_at = graph.expanded();
            let (region, lost_here) = region_or_lost(graph);
            let schedulable = region.contains(0);
            if let Round::Finished(delays) = round {
                let (states, safe) = (graph.len() as u64, region.len() as u64);
                observe(ScheduleRound { delays, states, safe, schedulable });
            }
            if lost_here.is_some() {
                break Some(Unexplored::NotNeeded);
            }
            if schedulable {
                transitions_max = self.request.transitions_enough;
                explorer.allow_transitions(transitions_max);
            }
        };
        let transitions = explorer.transitions();
        let graph = explorer.into_graph();
        let (region, lost_at_last) = region_or_lost(&graph);
        let whereabouts = region.contains(0).then(|| Whereabouts::new(&graph, self.machine.machine())).flatten();
        let (lost, movers) = (lost_at_last, OnceCell::new());
        Ok(Explored { region, whereabouts, graph, delays, stopped, transitions_max, transitions, lost, movers })
    }

    fn limits(&self) -> Limits {
        let ScheduleRequest { states_max, transitions_max, memory_bytes_max, .. } = *self.request;
        Limits { states_max, transitions_max, memory_bytes_max }
    }

    /// The answer that the scheduler by itself is safe, where that is so.
    fn alone(
        &mut self,
        (name_of_it, scheduler): (&str, &ChosenScheduler),
        explored: &Explored,
    ) -> Option<ScheduleReport> {
        let (mut moved, mut there) = (BTreeSet::new(), BTreeSet::new());
        let reader = self.machine.machine().clone();
        let process = |state: &[u32], pid: usize| Some((reader.process_of(state, pid)?, pid));
        let mut taken = |state: &[u32], labels: &[Move]| {
            there.extend((0..reader.process_count(state)).filter_map(|pid| process(state, pid)));
            for label in labels {
                let partner = label.partner.map(|(partner, _)| partner);
                let movers = std::iter::once(label.pid).chain(partner);
                moved.extend(movers.filter_map(|pid| process(state, usize::from(pid))));
            }
        };
        let mut limits = self.limits();
        limits.transitions_max /= ALONE_SHARE;
        let outcome = alone(&mut self.machine, scheduler, limits, &self.stops.all, &mut taken);
        let Ok(Alone::Safe(states)) = outcome else { return None };
        let name =
            |&(of, pid): &(ProcessId, usize)| format!("{}[{pid}]", places::shown(&reader.program().process(of).name));
        let shuts_out: BTreeSet<String> = there.difference(&moved).map(name).collect();
        let shuts_out: Vec<String> = shuts_out.into_iter().collect();
        let never = match shuts_out.as_slice() {
            [] => "every process gets a turn".to_owned(),
            some => format!("without a turn: {}", some.join(", ")),
        };
        let reason = format!(
            "{name_of_it} without any delay: no error in its {} ({never}); of the whole model that is not known: {}",
            counted(states, "state"),
            self.limit(explored)
        );
        Some(ScheduleReport {
            verdict: ScheduleVerdict::SafeIfScheduled,
            kept: Some(KeptReport { states, of: None }),
            checked: Some(CheckedReport { verdict: "holds", states }),
            shuts_out,
            explored: self.explored(explored),
            ..ScheduleReport::unknown(reason)
        })
    }

    /// The answer; an error if a schedule that was found is none.
    fn judge(&mut self, explored: &mut Explored) -> Result<ScheduleReport, String> {
        let report = ScheduleReport { explored: self.explored(explored), ..ScheduleReport::unknown(String::new()) };
        if !explored.region.contains(0) {
            if explored.lost.is_some() {
                return Ok(self.unavoidable(explored, report));
            }
            let states = counted(explored.graph.len() as u64, "state");
            let reason = format!("no schedule was found in {states}: {}", self.limit(explored));
            return Ok(ScheduleReport { reason, ..report });
        }
        let verdict = match explored.stopped {
            None => ScheduleVerdict::Avoidable,
            Some(_) => ScheduleVerdict::SafeIfScheduled,
        };
        let report = ScheduleReport { verdict, ..report };
        self.work_left = self.request.work_after(explored.transitions);
        let vocabularies = self.vocabularies(explored);
        for (&(by, values), more) in vocabularies.iter().zip((1..=vocabularies.len() as u64).rev()) {
            if let Some(found) = self.with_waits(explored, &report, (by, values), more)? {
                return Ok(found);
            }
        }
        match self.with_order(explored, &report)? {
            Some(found) => Ok(found),
            None => self.with_region(explored, report),
        }
    }

    fn explored(&self, explored: &Explored) -> ExploredReport {
        ExploredReport {
            states: explored.graph.len() as u64,
            safe: explored.region.len() as u64,
            exhaustive: explored.stopped.is_none(),
            scheduler: self.scheduler.clone(),
            delays: explored.delays,
            tried: 0,
        }
    }

    /// Why not everything was explored.
    fn limit(&self, explored: &Explored) -> String {
        match explored.stopped {
            Some(Unexplored::Stopped(Stop::Limit(reason))) => {
                let states_max = Some(self.request.states_max);
                let limits = Bounds { states_max, memory_bytes_max: self.request.memory_bytes_max, depth_max: None };
                let transitions = (explored.graph.len() as u64) < self.request.states_max;
                match (reason, transitions) {
                    (fabius_base::StopReason::States, true) => {
                        format!("the limit of {} was reached", counted(explored.transitions_max, "transition"))
                    }
                    _ => limit_reached(Completeness::Stopped(reason), &limits),
                }
            }
            Some(Unexplored::Stopped(Stop::Refused(refusal))) => refused(refusal).to_owned(),
            Some(Unexplored::NotNeeded) | None => String::new(),
        }
    }

    fn unavoidable(&mut self, explored: &mut Explored, report: ScheduleReport) -> ScheduleReport {
        let region = explored.lost.as_ref().unwrap_or(&explored.region);
        let forced = forced::forced(&mut self.machine, &self.loaded.map, &mut explored.graph, region);
        let states = counted(explored.graph.len() as u64, "state");
        let searched = match explored.stopped {
            None => format!("{states}, exhaustive"),
            Some(_) => format!("{states} were enough to show this"),
        };
        let reason = format!("under every schedule an error or a deadlock can follow ({searched})");
        ScheduleReport { verdict: ScheduleVerdict::Unavoidable, reason, forced, ..report }
    }

    fn places(&self, explored: &Explored, by: By) -> Option<Places> {
        let seen = explored.whereabouts.as_ref()?;
        Places::new(&self.program, self.loaded, seen, by)
    }

    /// The processes that are shut out, by type and place.
    fn told_shut_out(&self, shut_out: &[(u32, u64)], explored: &Explored) -> Vec<String> {
        let (Some(seen), Some(places)) = (&explored.whereabouts, self.places(explored, By::Type)) else {
            return Vec::new();
        };
        let mut told = BTreeSet::new();
        for &(state, processes) in shut_out {
            for (_, &(of, location)) in seen.of(state).iter().enumerate().filter(|(pid, _)| processes >> pid & 1 != 0) {
                told.extend(places.process_at(of, location).map(|(who, place)| format!("{who} {place}")));
            }
        }
        told.into_iter().collect()
    }

    /// A fixed order of the types, if no few waits do.
    fn with_order(
        &mut self,
        explored: &mut Explored,
        report: &ScheduleReport,
    ) -> Result<Option<ScheduleReport>, String> {
        let (Some(places), Some(seen)) = (self.places(explored, By::Type), &explored.whereabouts) else {
            return Ok(None);
        };
        let types = seen.types();
        let Some(vocabulary) = self.vocabulary(explored, &places) else { return Ok(None) };
        let Ok(movers) = explored.movers(&self.stops.waits) else { return Ok(None) };
        let found = fixed_order(&explored.graph, &vocabulary, &types, &movers.safely, &self.stops.waits);
        let Some(order) = found else { return Ok(None) };
        let verified = verify::order(&self.machine, &places, &order, explored, &self.stops.all)?;
        let Verified::Holds { states, shut_out } = verified else { return Ok(None) };
        let shuts_out = self.told_shut_out(&shut_out, explored);
        let priorities: Vec<String> = order.kinds.iter().map(|&kind| places.who(kind)).collect();
        let of = explored.stopped.is_none().then_some(explored.graph.len() as u64);
        let reason = format!(
            "holds if a process moves only where none of a more important type can: {} ({}; {})",
            priorities.join(", then "),
            who_is_shut_out(&shuts_out),
            keeps(states, of)
        );
        let (kept, checked) = (KeptReport { states, of }, CheckedReport { verdict: "holds", states });
        let (kept, checked) = (Some(kept), Some(checked));
        Ok(Some(ScheduleReport { reason, priorities, kept, checked, shuts_out, ..report.clone() }))
    }

    /// Where the most permissive schedule holds processes back.
    fn held_back(&self, explored: &Explored) -> Vec<HeldBackReport> {
        let (Some(seen), Some(places)) = (&explored.whereabouts, self.places(explored, By::Type)) else {
            return Vec::new();
        };
        table::held_back((&explored.graph, &explored.region), seen, &places)
    }

    /// The most permissive schedule, if neither few waits nor an order do.
    fn with_region(&mut self, explored: &mut Explored, report: ScheduleReport) -> Result<ScheduleReport, String> {
        let kept = explored.region.reached(&explored.graph).len();
        let Verified::Holds { states, shut_out } = verify::region(&self.machine, explored, kept, &self.stops.all)?
        else {
            let reason =
                "a schedule that avoids every error was found, but the search ended before it was checked".to_owned();
            return Ok(ScheduleReport { verdict: ScheduleVerdict::Unknown, reason, ..report });
        };
        let checked = CheckedReport { verdict: "holds", states };
        let shuts_out = self.told_shut_out(&shut_out, explored);
        let of = explored.stopped.is_none().then_some(explored.graph.len() as u64);
        let keeps = keeps(kept as u64, of);
        let reason = match explored.stopped {
            None => {
                let waits = match self.request.waits_max {
                    0 => String::new(),
                    most => format!("no schedule with at most {} was found, but ", counted(most as u64, "wait")),
                };
                let who = who_is_shut_out(&shuts_out);
                format!("{waits}a scheduler that looks at the whole state can avoid every error ({who}; {keeps})")
            }
            Some(_) => format!(
                "a scheduler that looks at the whole state can stay among {}, all explored and without an error ({}); \
                 of the others not all are known: {}",
                counted(kept as u64, "state"),
                who_is_shut_out(&shuts_out),
                self.limit(explored)
            ),
        };
        let kept = Some(KeptReport { states: kept as u64, of });
        let held_back = self.held_back(explored);
        Ok(ScheduleReport { reason, kept, shuts_out, held_back, checked: Some(checked), ..report })
    }
}
