//! What of a model is explored to find a schedule: states, turns, and the region, with the rounds that are told meanwhile.

use super::places::Whereabouts;
use super::words::refused;
use super::{ExploredReport, Question, ScheduleRequest};
use fabius_base::{Cancel, Limits as Bounds};
use fabius_machine::Machine;
use fabius_schedulers::ChosenScheduler;
use fabius_search::Completeness;
use fabius_search::restrict::{
    Explorer, Graph, Limits, Refusal, Region, Round, Stop, Stopped, can_move_again, movers_in_model, region,
    region_at_most,
};
use fabius_task::words::{counted, limit_reached};
use std::cell::OnceCell;

/// A first look at what was explored comes after this many states at the latest; …
const STATES_PER_LOOK: usize = 256;
/// … every other one when there are this many times as many.
const GROWTH: usize = 4;
/// After each round there is a look, too, if all looks together are at no more than this many states and macro steps, …
const WORK_ALLOWED: u64 = 4_096;
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
    movers: OnceCell<MoversAhead>,
}

/// Why not everything was explored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Unexplored {
    /// It was stopped.
    Stopped(Stop),
    /// The answer was known before.
    NotNeeded,
}

/// Of each state, the processes that can move then or later, as bits.
pub(super) struct MoversAhead {
    /// In the region, as far as is known.
    pub(super) safely: Vec<u64>,
    /// In the model, be it with an error.
    pub(super) in_model: Vec<u64>,
}

impl Explored {
    /// Where the processes are in each state, if the initial one is in the region; nothing if there are too many of them, or somebody
    /// stops it.
    pub(super) fn whereabouts(&self, cancel: &Cancel) -> Option<&Whereabouts> {
        let look = || self.region.contains(0).then(|| Whereabouts::new(&self.graph, &self.machine, cancel)).flatten();
        self.whereabouts.get_or_init(look).as_ref()
    }

    /// Who can move again from each state.
    pub(super) fn movers(&self, cancel: &Cancel) -> Result<&MoversAhead, Stopped> {
        if let Some(known) = self.movers.get() {
            return Ok(known);
        }
        let safely = can_move_again(&self.graph, &self.region, cancel)?;
        let in_model = movers_in_model(&self.graph, cancel)?;
        Ok(self.movers.get_or_init(|| MoversAhead { safely, in_model }))
    }
}

/// When regions are computed while the graph grows, so that this takes a small part of the time.
#[derive(Default)]
struct Regions {
    /// Expanded states when the last one was computed.
    last: usize,
    /// States and macro steps of all graphs of which one was computed.
    work: u64,
}

impl Regions {
    /// The number of expanded states with which the next one is computed at the latest.
    fn next_at(&self) -> usize {
        STATES_PER_LOOK.max(GROWTH * self.last)
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
        let (mut delays, mut known_before, mut transitions_max) = (None, false, limits.transitions_max);
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
            if let Some(delays) = now.filter(|_| finished || schedulable && !known_before) {
                let (states, safe) = (graph.len() as u64, region.len() as u64);
                (self.observe)(ScheduleProgress::Round(ScheduleRound { delays, finished, states, safe, schedulable }));
            }
            (self.observe)(ScheduleProgress::Begins(Stage::Exploration));
            if schedulable {
                known_before = true;
                transitions_max = self.request.transitions_enough;
                explorer.allow_transitions(transitions_max);
            }
        };
        let transitions = explorer.transitions();
        let graph = explorer.into_graph();
        self.begins(Stage::Region);
        let is_of_all = |(expanded, _): &(usize, Region)| *expanded == graph.expanded();
        let region = latest.filter(is_of_all).map_or_else(|| region(&graph), |(_, region)| region);
        let lost = graph.is_lost(0).then(|| region_at_most(&graph));
        let (whereabouts, movers, machine) = (OnceCell::new(), OnceCell::new(), self.machine.machine().clone());
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
            movers,
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
