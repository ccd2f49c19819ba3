//! What of a model is explored to find a schedule: states, turns, and the region, with the rounds that are told meanwhile.

use super::places::{Places, Whereabouts};
use super::words::refused;
use super::{ExploredReport, Question, ScheduleRequest};
use fabius_base::{Cancel, Limits as Bounds};
use fabius_machine::Machine;
use fabius_schedulers::ChosenScheduler;
use fabius_search::Completeness;
use fabius_search::restrict::{
    Explorer, Graph, Limits, Refusal, Region, Round, Site, Stop, Stopped, can_move_again, movers_in_model, region,
    region_at_most,
};
use fabius_task::words::{counted, limit_reached};
use std::cell::OnceCell;

/// A look at what was explored comes after this many more states, …
const STATES_PER_LOOK: usize = 4;
/// … as long as all looks together are at no more than this many states and macro steps; …
const WORK_ALLOWED: u64 = 4_096;
/// … the next one after this many states at the latest, …
const STATES_BETWEEN: usize = 256;
/// … and every other one when there are this many times as many.
const GROWTH: usize = 4;
/// After each round there is a look, too, if all looks together are at no more than [`WORK_ALLOWED`] states and macro steps, …
/// … and this many more for each transition that was listed. To look at one takes at most about a tenth of the time that listing one takes.
const WORK_PER_TRANSITION: u64 = 1;

/// What happens while a schedule is looked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ScheduleProgress {
    /// A stage of the work begins, and the one before it ends.
    Begins(Stage),
    /// A round of the exploration is finished, or the first schedule is found in it.
    Round(ScheduleRound),
}

/// A part of the work that looking for a schedule takes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Stage {
    /// States and macro steps are explored.
    Exploration,
    /// The region of what was explored is computed.
    Region,
    /// What a scheduler does by itself is explored.
    Alone,
    /// The fewest waits are looked for.
    Waits,
    /// Fixed orders of types are tried.
    Order,
    /// The model under a schedule is searched.
    Check,
    /// The rest: fairness, sections, words.
    Telling,
}

/// A round of the exploration is finished, or the first schedule is found in it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScheduleRound {
    /// The number of delays of the round.
    pub delays: u32,
    /// Whether all states up to that number of delays are explored; else the round goes on, and a first schedule was found in it.
    pub finished: bool,
    /// States met.
    pub states: u64,
    /// States from which a scheduler can avoid every error, as far as is known.
    pub safe: u64,
    /// Whether the initial state is one of them.
    pub schedulable: bool,
    /// Whether an error was met.
    pub erroneous: bool,
}

/// What was explored.
pub(super) struct Explored {
    pub(super) graph: Graph,
    pub(super) region: Region,
    /// Reads states.
    machine: Machine,
    /// Where the processes are in each state, once somebody asked.
    whereabouts: OnceCell<Option<Whereabouts>>,
    /// The number of delays up to which all states are explored.
    pub(super) delays: Option<u32>,
    /// Why not everything.
    pub(super) stopped: Option<Unexplored>,
    /// Transitions were listed up to this number, …
    pub(super) transitions_max: u64,
    /// … and this many were.
    pub(super) transitions: u64,
    /// Where it is known that errors can follow under every schedule: a region without the initial state, whatever is explored later.
    pub(super) lost: Option<Region>,
    /// Number of states met when it was first known that there is a schedule.
    pub(super) schedulable_with: Option<usize>,
    safe_movers: OnceCell<Vec<u64>>,
    movers_in_model: OnceCell<Vec<u64>>,
}

/// Why not everything was explored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Unexplored {
    /// It was stopped.
    Stopped(Stop),
    /// The answer was known before.
    NotNeeded,
}

impl Explored {
    /// Where the processes are in each state, if the initial one is in the region; nothing if there are too many of them, or somebody
    /// stops it.
    pub(super) fn whereabouts(&self, cancel: &Cancel) -> Option<&Whereabouts> {
        let look = || self.region.contains(0).then(|| Whereabouts::new(&self.graph, &self.machine, cancel)).flatten();
        self.whereabouts.get_or_init(look).as_ref()
    }

    /// Where the processes are in a state, and the values there that waits speak of.
    pub(super) fn sites(&self, places: &Places, state: u32) -> Vec<Site> {
        let (mut words, mut sites) = (Vec::new(), Vec::new());
        self.graph.recall(state, &mut words);
        places.sites(&self.machine, &words, &mut sites);
        sites
    }

    /// Of each state, the processes that can move then or later in the region, as far as is known, as bits.
    pub(super) fn safe_movers(&self, cancel: &Cancel) -> Result<&[u64], Stopped> {
        known(&self.safe_movers, || can_move_again(&self.graph, &self.region, cancel))
    }

    /// Of each state, the processes that can move then or later in the model, as far as was explored, be it with an error.
    pub(super) fn movers_in_model(&self, cancel: &Cancel) -> Result<&[u64], Stopped> {
        known(&self.movers_in_model, || movers_in_model(&self.graph, cancel))
    }
}

/// What was computed before, else what is computed now.
fn known(cell: &OnceCell<Vec<u64>>, compute: impl FnOnce() -> Result<Vec<u64>, Stopped>) -> Result<&[u64], Stopped> {
    if let Some(known) = cell.get() {
        return Ok(known);
    }
    let computed = compute()?;
    Ok(cell.get_or_init(|| computed))
}

/// When regions are computed while the graph grows, so that this takes a small part of the time.
#[derive(Default)]
struct Regions {
    /// Expanded states when the last one was computed.
    last: usize,
    /// States and macro steps of all graphs of which one was computed.
    work: u64,
    /// Number of states met when it was first known that there is a schedule.
    schedulable_with: Option<usize>,
}

impl Regions {
    /// The number of expanded states with which the next one is computed at the latest.
    fn next_at(&self) -> usize {
        match self.schedulable_with.is_none() && self.work < WORK_ALLOWED {
            true => self.last + STATES_PER_LOOK,
            false => STATES_BETWEEN.max(GROWTH * self.last),
        }
    }

    /// Whether one is computed now, after a round or when it is time in any case; counts it.
    fn is_time(&mut self, graph: &Graph, transitions: u64) -> bool {
        let work = self.work + (graph.len() + graph.macro_step_count()) as u64;
        let is_time = self.next_at() <= graph.expanded() || work <= WORK_ALLOWED + WORK_PER_TRANSITION * transitions;
        if is_time {
            (self.last, self.work) = (graph.expanded(), work);
        }
        is_time
    }
}

impl Question<'_> {
    /// Explores the model, in rounds, until the limits or until more would not help.
    pub(super) fn explore(&mut self, scheduler: &ChosenScheduler) -> Result<Explored, Refusal> {
        let limits = self.limits();
        self.begins(Stage::Exploration);
        let explorer = Explorer::new(&mut self.machine, scheduler, limits, &self.stops.exploration)?;
        let mut explorer = explorer.until_lost();
        let (mut regions, mut latest) = (Regions::default(), None);
        let (mut delays, mut transitions_max) = (None, limits.transitions_max);
        let stopped = loop {
            let now = explorer.delays();
            let finished = match explorer.round(regions.next_at()) {
                Ok(Round::Complete) => break None,
                Ok(Round::Lost) => break Some(Unexplored::NotNeeded),
                Ok(Round::Paused) => false,
                Ok(Round::Finished(done)) => {
                    delays = Some(done);
                    true
                }
                Err(Stop::Refused(refusal)) => return Err(refusal),
                Err(stop) => break Some(Unexplored::Stopped(stop)),
            };
            let graph = explorer.graph();
            if !regions.is_time(graph, explorer.transitions()) {
                continue;
            }
            (self.observe)(ScheduleProgress::Begins(Stage::Region));
            let (_, region) = latest.insert((graph.expanded(), region(graph)));
            let schedulable = region.contains(0);
            if let Some(delays) = now.filter(|_| finished || schedulable && regions.schedulable_with.is_none()) {
                let (states, safe) = (graph.len() as u64, region.len() as u64);
                let erroneous = graph.has_errors();
                let round = ScheduleRound { delays, finished, states, safe, schedulable, erroneous };
                (self.observe)(ScheduleProgress::Round(round));
            }
            (self.observe)(ScheduleProgress::Begins(Stage::Exploration));
            if schedulable {
                regions.schedulable_with.get_or_insert(explorer.graph().len());
                transitions_max = self.request.transitions_enough;
                explorer.allow_transitions(transitions_max);
            }
        };
        let transitions = explorer.transitions();
        let graph = explorer.into_graph();
        self.begins(Stage::Region);
        let is_of_all = |(expanded, _): &(usize, Region)| *expanded == graph.expanded();
        let region = latest.filter(is_of_all).map_or_else(|| region(&graph), |(_, region)| region);
        let (in_region, states) = (region.contains(0), graph.len());
        let lost = graph.is_lost(0).then(|| region_at_most(&graph));
        let (whereabouts, machine) = (OnceCell::new(), self.machine.machine().clone());
        Ok(Explored {
            region,
            machine,
            whereabouts,
            graph,
            delays,
            stopped,
            transitions_max,
            transitions,
            lost,
            schedulable_with: regions.schedulable_with.or_else(|| in_region.then_some(states)),
            safe_movers: OnceCell::new(),
            movers_in_model: OnceCell::new(),
        })
    }

    pub(super) fn limits(&self) -> Limits {
        let ScheduleRequest { states_max, transitions_max, memory_bytes_max, .. } = *self.request;
        Limits { states_max, transitions_max, memory_bytes_max }
    }

    pub(super) fn explored(&self, explored: &Explored) -> ExploredReport {
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
    pub(super) fn limit(&self, explored: &Explored) -> String {
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
}
