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

mod choices;
mod explored;
mod export;
mod fair;
mod forced;
mod hints;
mod looks;
mod mutex;
mod places;
mod request;
mod restricted;
mod safe_schedule;
mod sections;
mod steered;
mod table;
mod values;
mod verify;
mod waits;
mod words;

pub use explored::{ScheduleProgress, ScheduleRound, Stage};
pub use export::Export;
pub use fabius_task::report::schedule::{
    AlternativeReport, CheckedReport, ExploredReport, FairReport, FairVerdict, ForcedReport, HeldBackReport,
    KeptReport, PlaceReport, ScheduleReport, ScheduleVerdict, SectionEventReport, SectionReport, StretchReport,
    ValueReport, WaitReport, WhileReport,
};
pub use looks::schedule;
pub use places::By;
pub use request::{Aim, EXPLORATION_TENTHS, ScheduleRequest, Stops, WAITS, WAITS_TENTHS};
pub use safe_schedule::{MustWait, SafeSchedule};

use explored::Explored;
use fabius_model::SearchedMachine;
use fabius_program::{Move, ProcessId, Program, Watch};
use fabius_schedulers::{ChosenScheduler, plain_scheduler};
use fabius_search::restrict::{Alone, Region, alone, every_run_fails, fixed_order, region_of_first};
use fabius_task::internal_error;
use fabius_task::load::Loaded;
use fabius_task::query::event_trace;
use fabius_task::report::Verdict;
use fabius_task::scheduler::{Chosen, scheduler_of, unknown_types};
use fabius_task::settings::SchedulerChoice;
use fabius_task::words::counted;
use places::Places;
use sections::{NoSections, Rule, Telling};
use std::collections::BTreeSet;
use std::sync::Arc;
use steered::Plan;
use verify::Verified;
use words::{Certainty, keeps, refused, who_is_shut_out};

/// To explore what a scheduler does by itself, this part of the transitions is enough that were listed, …
const ALONE_SHARE: u64 = 4;
/// … or of this many.
const ALONE_TRANSITIONS_MIN: u64 = 400_000;
/// Of this many states, the most permissive schedule is checked first for those with which a schedule was first known, …
const PARTS_STATES_MIN: usize = 100_000;
/// … then for this many times as many, and so on.
const PARTS_GROWTH: usize = 8;

/// What was found out.
#[derive(Clone, Debug)]
pub struct Scheduled {
    /// As plain data.
    pub report: ScheduleReport,
    /// The model that waits by itself, where that was asked for and waits were found; or why it cannot be written so.
    pub export: Option<Result<Export, String>>,
    /// The schedule in a form that a walk can follow, where that was asked for and there is one.
    pub safe_schedule: Option<Arc<SafeSchedule>>,
    /// Why the report has no sections, although they were asked for, as half a sentence.
    pub no_sections: Option<String>,
    /// What the scheduler names that the model has not.
    pub warning: Option<String>,
    /// Fabius itself is wrong: what happened.
    pub failure: Option<String>,
}

impl Scheduled {
    /// The same as an answer about a model of which a violation is known, though the exploration may have met none: there is
    /// something to avoid.
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
        Self { report, export: None, safe_schedule: None, no_sections: None, warning: None, failure: None }
    }
}

/// Explores a model once, and says under which scheduling it is safe, and whether an error was met.
fn look(
    loaded: &Loaded,
    request: &ScheduleRequest,
    stops: &Stops,
    observe: &mut dyn FnMut(ScheduleProgress),
) -> (Scheduled, bool) {
    let unknown = |why: String| (Scheduled::only(ScheduleReport::unknown(why)), false);
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
    let mut question = Question {
        loaded,
        program,
        watch,
        machine,
        request,
        stops,
        observe,
        scheduler: scheduler_name,
        work_left,
        export: None,
        safe_schedule: None,
        is_erroneous: false,
    };
    let answer = question.answer(&scheduler);
    (Scheduled { warning, ..answer }, question.is_erroneous)
}

/// Why nothing true can be said of schedules of a program.
pub(crate) fn unsupported(program: &Program) -> Option<&'static str> {
    let hidden = program.globals.iter().any(|variable| variable.hidden && !variable.is_nowhere());
    match () {
        () if program.uses.priority => Some("the model has priorities, and whoever waits would hold back others"),
        () if program.uses.enabled => Some("the model asks with `enabled()` who can move, and whoever waits could not"),
        () if hidden => Some("the model has hidden variables, which do not distinguish states"),
        () => None,
    }
}

/// For how many of the states, those that were met first, the most permissive schedule is checked; for all of them last.
fn parts(explored: &Explored) -> Vec<usize> {
    let all = explored.graph.len();
    let larger = |part: &usize| part.checked_mul(PARTS_GROWTH);
    let parts = std::iter::successors(explored.schedulable_with, larger).take_while(|part| *part < all);
    let parts = parts.filter(|_| PARTS_STATES_MIN <= all);
    parts.chain([all]).collect()
}

struct Question<'a> {
    loaded: &'a Loaded,
    program: Arc<Program>,
    watch: Watch,
    machine: SearchedMachine,
    request: &'a ScheduleRequest,
    stops: &'a Stops,
    observe: &'a mut dyn FnMut(ScheduleProgress),
    scheduler: String,
    /// States that may still be looked at to find waits, and to check more of them than the best.
    work_left: u64,
    /// The model that waits by itself.
    export: Option<Result<Export, String>>,
    /// The schedule that was found and checked.
    safe_schedule: Option<Arc<SafeSchedule>>,
    /// An error was met.
    is_erroneous: bool,
}

impl Question<'_> {
    fn begins(&mut self, stage: Stage) {
        (self.observe)(ScheduleProgress::Begins(stage));
    }

    fn answer(&mut self, scheduler: &ChosenScheduler) -> Scheduled {
        let mut explored = match self.explore(scheduler) {
            Ok(explored) => explored,
            Err(refusal) => {
                let report = ScheduleReport::unknown(refused(refusal).to_owned());
                return Scheduled::only(report);
            }
        };
        self.is_erroneous = explored.graph.has_errors();
        let report = self.judge(&mut explored, scheduler);
        self.begins(Stage::Telling);
        let told = report.and_then(|report| self.with_fairness(&mut explored, report));
        let told = told.and_then(|(report, plan)| self.with_sections(&mut explored, report, plan.as_ref()));
        match told {
            Ok((report, no_sections)) => {
                let (export, safe_schedule) = (self.export.take(), self.safe_schedule.take());
                Scheduled { export, safe_schedule, no_sections, ..Scheduled::only(report) }
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

    /// The answer that the scheduler by itself is safe, or round-robin, if nobody chose one.
    fn by_itself(
        &mut self,
        scheduler: &ChosenScheduler,
        explored: &Explored,
        verdict: ScheduleVerdict,
    ) -> Option<ScheduleReport> {
        self.alone((&self.scheduler.clone(), scheduler), explored, verdict).or_else(|| {
            // It asks for less: whoever can go on for ever may shut out the others.
            let may = self.request.scheduler == SchedulerChoice::Auto;
            let ring = plain_scheduler(self.machine.machine(), &SchedulerChoice::RoundRobin, 0);
            may.then(|| self.alone(("round-robin", &ring), explored, verdict)).flatten()
        })
    }

    /// The answer that the scheduler by itself is safe, where that is so.
    fn alone(
        &mut self,
        (name_of_it, scheduler): (&str, &ChosenScheduler),
        explored: &Explored,
        verdict: ScheduleVerdict,
    ) -> Option<ScheduleReport> {
        self.begins(Stage::Alone);
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
        let listed = explored.transitions.max(ALONE_TRANSITIONS_MIN);
        limits.transitions_max = limits.transitions_max.min(listed) / ALONE_SHARE;
        let outcome = alone(&mut self.machine, scheduler, limits, &self.stops.all, &mut taken);
        let Ok(Alone::Safe(states)) = outcome else { return None };
        let name =
            |&(of, pid): &(ProcessId, usize)| format!("{}[{pid}]", places::shown(&reader.program().process(of).name));
        let shuts_out: BTreeSet<String> = there.difference(&moved).map(name).collect();
        let shuts_out: Vec<String> = shuts_out.into_iter().collect();
        let never = match shuts_out.as_slice() {
            [] => "every process can get a turn".to_owned(),
            some => format!("without a turn: {}", some.join(", ")),
        };
        let reason = format!(
            "{name_of_it} without any delay: no error and no deadlock in its {} ({never}); not all of the model was explored: {}",
            counted(states, "state"),
            self.limit(explored)
        );
        Some(ScheduleReport {
            verdict,
            kept: Some(KeptReport { states, of: None }),
            checked: Some(CheckedReport { verdict: Verdict::Holds, states }),
            shuts_out,
            explored: self.explored(explored),
            ..ScheduleReport::unknown(reason)
        })
    }

    /// The answer: by few waits, by a scheduler alone, by an order, by the whole state; an error if a schedule that was found is none.
    fn judge(&mut self, explored: &mut Explored, scheduler: &ChosenScheduler) -> Result<ScheduleReport, String> {
        let report = ScheduleReport { explored: self.explored(explored), ..ScheduleReport::unknown(String::new()) };
        if explored.lost.is_some() {
            return Ok(self.unavoidable(explored, report));
        }
        let verdict = match explored.graph.has_errors() {
            true => ScheduleVerdict::Avoidable,
            false if explored.stopped.is_none() => return self.holds(explored, report),
            false => ScheduleVerdict::SafeIfScheduled,
        };
        let is_schedulable = explored.region.contains(0);
        let report = ScheduleReport { verdict, ..report };
        if is_schedulable {
            self.work_left = self.request.work_after(explored.transitions);
            if let Some(found) = self.with_waits(explored, &report)? {
                return Ok(found);
            }
        }
        if explored.stopped.is_some()
            && let Some(found) = self.by_itself(scheduler, explored, verdict)
        {
            return Ok(found);
        }
        if !is_schedulable {
            let states = counted(explored.graph.len() as u64, "state");
            let reason = format!("no schedule was found in {states}: {}", self.limit(explored));
            return Ok(ScheduleReport { verdict: ScheduleVerdict::Unknown, reason, ..report });
        }
        match self.with_order(explored, &report)? {
            Some(found) => Ok(found),
            None => self.with_region(explored, report),
        }
    }

    /// No schedule leads to an error, which the search of the model under the one that allows everything has to find as well.
    fn holds(&mut self, explored: &mut Explored, report: ScheduleReport) -> Result<ScheduleReport, String> {
        self.begins(Stage::Check);
        let region = explored.region.clone();
        let Verified::Holds { states, .. } = verify::region(&self.machine, explored, &region, &self.stops.all)? else {
            let reason = "all states were explored without an error, but the search ended before that was checked";
            return Ok(ScheduleReport { verdict: ScheduleVerdict::Unknown, reason: reason.to_owned(), ..report });
        };
        Ok(ScheduleReport {
            verdict: ScheduleVerdict::Holds,
            reason: format!("no error under any schedule ({}, exhaustive)", counted(states, "state")),
            fewest: true,
            kept: Some(KeptReport { states, of: Some(states) }),
            checked: Some(CheckedReport { verdict: Verdict::Holds, states }),
            ..report
        })
    }

    fn unavoidable(&mut self, explored: &mut Explored, report: ScheduleReport) -> ScheduleReport {
        let region = explored.lost.as_ref().unwrap_or(&explored.region);
        let forced = forced::forced(&mut self.machine, &self.loaded.map, &mut explored.graph, region);
        let states = counted(explored.graph.len() as u64, "state");
        let searched = match (explored.stopped, explored.graph.len()) {
            (None, _) => format!("{states}, exhaustive"),
            (Some(_), 1) => format!("{states} was enough to show this"),
            (Some(_), _) => format!("{states} were enough to show this"),
        };
        let reason = match every_run_fails(&explored.graph) {
            true => format!("every run ends in an error or a deadlock, whatever processes choose ({searched})"),
            false => {
                let reason = format!("under every schedule an error or a deadlock can follow ({searched})");
                let example = forced::example(&mut self.machine, &self.loaded.map, &mut explored.graph, region);
                example.map_or(reason.clone(), |example| format!("{reason}, {example}"))
            }
        };
        ScheduleReport { verdict: ScheduleVerdict::Unavoidable, reason, forced, ..report }
    }

    /// Keeps the schedule that was found and checked, if it is to be followed.
    fn follow(&mut self, schedule: impl FnOnce(&Self) -> Option<SafeSchedule>) {
        if self.request.walk {
            self.safe_schedule = schedule(self).map(Arc::new);
        }
    }

    fn places(&self, explored: &Explored, by: By) -> Option<Places> {
        let seen = explored.whereabouts(&self.stops.all)?;
        Places::new(&self.program, self.loaded, seen, by)
    }

    /// The processes that are shut out, by type and place.
    fn told_shut_out(&self, shut_out: &[(u32, u64)], explored: &Explored) -> Vec<String> {
        let (Some(seen), Some(places)) = (explored.whereabouts(&self.stops.all), self.places(explored, By::Type))
        else {
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
        let (Some(places), Some(seen)) = (self.places(explored, By::Type), explored.whereabouts(&self.stops.all))
        else {
            return Ok(None);
        };
        self.begins(Stage::Order);
        let types = seen.types();
        let Some(vocabulary) = self.vocabulary(explored, &places) else { return Ok(None) };
        let Ok(safe_movers) = explored.safe_movers(&self.stops.waits) else { return Ok(None) };
        let found = fixed_order(&explored.graph, &vocabulary, &types, safe_movers, &self.stops.waits);
        let Some(order) = found else { return Ok(None) };
        self.begins(Stage::Check);
        let verified = verify::order(&self.machine, &places, &order, explored, &self.stops.all)?;
        let Verified::Holds { states, shut_out } = verified else { return Ok(None) };
        let shuts_out = self.told_shut_out(&shut_out.known, explored);
        let priorities: Vec<String> = order.kinds.iter().map(|&kind| places.who(kind)).collect();
        let of = explored.stopped.is_none().then_some(explored.graph.len() as u64);
        let reason = format!(
            "holds if a process moves only where none of a more important type can: {} ({}; {})",
            priorities.join(", then "),
            who_is_shut_out(&shuts_out, Certainty::Must),
            keeps(states, of)
        );
        let (kept, checked) = (KeptReport { states, of }, CheckedReport { verdict: Verdict::Holds, states });
        let (kept, checked) = (Some(kept), Some(checked));
        self.follow(|this| Some(SafeSchedule::by_order(&this.program, &places, &order)));
        Ok(Some(ScheduleReport { reason, priorities, kept, checked, shuts_out, ..report.clone() }))
    }

    /// Where the schedule that allows all that a region allows holds processes back.
    fn held_back(&self, explored: &Explored, region: &Region) -> Vec<HeldBackReport> {
        let (Some(seen), Some(places)) = (explored.whereabouts(&self.stops.all), self.places(explored, By::Type))
        else {
            return Vec::new();
        };
        table::held_back((&explored.graph, region), seen, &places)
    }

    /// The most permissive schedule, if neither few waits nor an order do. Where the time is up before it is checked, that of the
    /// states that were met first, which is a schedule as well.
    fn with_region(&mut self, explored: &mut Explored, report: ScheduleReport) -> Result<ScheduleReport, String> {
        self.begins(Stage::Check);
        let mut checked = None;
        for part in parts(explored) {
            let is_all = part == explored.graph.len();
            let region = match is_all {
                true => explored.region.clone(),
                false => region_of_first(&explored.graph, part),
            };
            if !region.contains(0) {
                continue;
            }
            let verified = verify::region(&self.machine, explored, &region, &self.stops.all)?;
            let Verified::Holds { states, shut_out } = verified else { break };
            checked = Some((region, states, shut_out, is_all));
        }
        let Some((region, states, shut_out, is_all)) = checked else {
            let reason =
                "a schedule that avoids every error was found, but the search ended before it was checked".to_owned();
            return Ok(ScheduleReport { verdict: ScheduleVerdict::Unknown, reason, ..report });
        };
        let shuts_out = self.told_shut_out(&shut_out.known, explored);
        let certainty = match () {
            () if shut_out.more_are_possible => Certainty::AsFarAsIsKnown,
            () if is_all && explored.stopped.is_none() => Certainty::Must,
            () => Certainty::Does,
        };
        let of = explored.stopped.is_none().then_some(explored.graph.len() as u64);
        let reason = self.by_whole_state(explored, states, &who_is_shut_out(&shuts_out, certainty));
        let (kept, checked) =
            (Some(KeptReport { states, of }), Some(CheckedReport { verdict: Verdict::Holds, states }));
        let held_back = self.held_back(explored, &region);
        self.follow(|this| {
            let machine = (this.machine.machine(), this.watch);
            Some(SafeSchedule::by_region(&this.program, machine, explored, &region))
        });
        Ok(ScheduleReport { reason, kept, shuts_out, held_back, checked, ..report })
    }

    fn by_whole_state(&self, explored: &Explored, states: u64, who: &str) -> String {
        if explored.stopped.is_some() {
            return format!(
                "a scheduler that looks at the whole state can stay among {}, all explored and without an error ({who}); \
                 of the others not all are known: {}",
                counted(states, "state"),
                self.limit(explored)
            );
        }
        let waits = match self.request.waits_max {
            0 => String::new(),
            most => format!("no schedule with at most {} was found, but ", counted(most as u64, "wait")),
        };
        let keeps = keeps(states, Some(explored.graph.len() as u64));
        format!("{waits}a scheduler that looks at the whole state can avoid every error ({who}; {keeps})")
    }
}
