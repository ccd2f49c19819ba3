//! Searches for cycles in the order of delays.
//!
//! Each round allows more delays and so has more edges; after each it is asked whether what is there contains a cycle.
//! There are three ways to ask:
//!
//! * [`Ask::Map`]: maximal accepting predecessors ([`map`]), the algorithm of Desai, Qadeer, Rajamani
//!   (MSR-TR-2015-28, section 4.2), corrected. What earlier rounds found out is kept. The only one for several threads
//!   ([`iterative_map_together`]).
//! * [`Ask::NestedDfs`]: nested depth-first search, which depends on its order and so starts from nothing in each
//!   round: the paper's baseline, *iterative NDFS*.
//! * [`Ask::Components`]: strongly connected components (Tarjan) of what is there, in each round.
//!
//! What a bound means here: it limits which *edges* are there: those that the scheduler, as it was when the state was
//! first met, offers with this many delays on the way and in the state. A cycle may cost delays each time round, so that
//! no run with this many delays goes round it for ever; [`DeepCycles::loop_delays`] says what it costs.
//! Not found within a bound means nothing; found never is if the frontier is empty.
//!
//! Only ordinary states are nodes. An atomic sequence that never ends is no cycle here, but [`DeepCycles::endless_turns`]
//! counts the states in which one starts, and nothing is proved if there are any.

mod graph;
mod kept;
mod lasso;
mod map;
mod nested;
mod refine;
mod scc;
mod together;

use crate::checkpoint::{Keeping, Unusable};
use crate::cycle::{CycleOutcome, Found, Goal};
use crate::delay_bounded::{Deepening, DelayObserver, Reach, Round};
use crate::model::{Model, Processes};
use crate::observer::Settings;
use crate::outcome::{Completeness, Halt};
use crate::schedule::Scheduler;
use crate::store::Exactness;
use fabius_base::StopReason;
use graph::Graph;
use map::Maps;
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;
use together::Others;

pub use kept::CycleSnapshot;
pub use together::ALONE_MAX;

/// How cycles are looked for in what is there.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Ask {
    /// By maximal accepting predecessors.
    #[default]
    Map,
    /// By nested depth-first search, from nothing in each round.
    NestedDfs,
    /// By strongly connected components.
    Components,
}

/// What a round did.
#[derive(Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, Debug)]
pub struct CycleRound {
    /// Delays allowed.
    pub bound: u32,
    /// States there are.
    pub states: u64,
    /// Edges there are.
    pub edges: u64,
    /// States that wait for more delays.
    pub frontier: u64,
    /// Turns listed by the model, in all rounds so far.
    pub listed: u64,
    /// Edges walked to calculate (or to search), in this round.
    pub calculated: u64,
    /// Edges walked to refine, in this round.
    pub refined: u64,
    /// Partitions refined, in this round.
    pub partitions: u64,
}

/// Result of a search for cycles in the order of delays.
#[derive(Clone, PartialEq, Debug)]
pub struct DeepCycles<Label, Fault> {
    /// What was found.
    pub outcome: CycleOutcome<Label, Fault>,
    /// How far the search came.
    pub reach: Reach,
    /// The rounds, the one in which a cycle was found included.
    pub rounds: Vec<CycleRound>,
    /// Delays that the scheduler needs to go round the cycle once, as soon as it does so always in the same way; `None`
    /// if there is no cycle, or no such way was found.
    pub loop_delays: Option<u32>,
    /// States in which an atomic sequence can go on for ever.
    pub endless_turns: u64,
}

/// What is found in a model.
pub type FoundIn<M> = DeepCycles<<M as Model>::Label, <M as Model>::Fault>;

/// An edge of the graph that closes an accepted cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Closing {
    pub from: u32,
    pub to: u32,
}

/// Looks for cycles with ever more delays; keeps where it stands between rounds, and goes on from there, if that is asked for.
///
/// # Errors
/// If there is a snapshot to go on from, and it cannot be one of this search.
pub fn iterative_cycles<M, D, O>(
    model: &mut M,
    scheduler: &D,
    observer: &mut O,
    settings: &Settings,
    deepening: &Deepening,
    (goal, ask): (Goal, Ask),
    keeping: Option<Keeping<'_, CycleSnapshot>>,
) -> Result<DeepCycles<M::Label, M::Fault>, Unusable>
where
    M: Processes,
    D: Scheduler<M::Label>,
    O: DelayObserver<M::Label, M::Fault>,
{
    let graph = Graph::new(model, scheduler, observer, settings, goal);
    search(graph, deepening, ask == Ask::NestedDfs, keeping, |graph, maps, round| match ask {
        Ask::Map => map::round(graph, maps, round),
        Ask::NestedDfs => nested::round(graph, round),
        Ask::Components => scc::round(graph, round),
    })
}

/// As [`iterative_cycles`] by maximal accepting predecessors, with one thread for each of the models; they must be the
/// same. Each thread has its own copy of the scheduler. The first of them is the caller's thread, and the only one that speaks to the
/// observer. `None` if there are no models.
///
/// Up to `alone_max` states (usually [`ALONE_MAX`]) the caller's thread works alone, as in [`iterative_cycles`]: strictly depth
/// first, and what it finds is the same. From then on states are expanded in another order. States, edges and rounds do not
/// depend on how many threads there are, nor on their pace, and neither does the cycle that is found, if they are several.
///
/// # Errors
/// If there is a snapshot to go on from, and it cannot be one of this search.
pub fn iterative_map_together<M, D, O>(
    models: &mut [M],
    scheduler: &D,
    observer: &mut O,
    settings: &Settings,
    deepening: &Deepening,
    (goal, alone_max): (Goal, usize),
    keeping: Option<Keeping<'_, CycleSnapshot>>,
) -> Result<Option<FoundIn<M>>, Unusable>
where
    M: Processes<Label: Send + Sync, Fault: Send + Sync> + Send,
    D: Scheduler<M::Label, State: Send + Sync> + Clone + Send,
    O: DelayObserver<M::Label, M::Fault>,
{
    let Some((model, others)) = models.split_first_mut() else { return Ok(None) };
    let graph = Graph::new(model, scheduler, observer, settings, goal);
    let mut others = Others::new(others, scheduler, settings.cancel.clone());
    let round = |graph: &mut Graph<'_, M, D, O>, maps: &mut Maps, round: &mut CycleRound| {
        together::round(graph, (&mut others, alone_max), maps, round)
    };
    search(graph, deepening, false, keeping, round).map(Some)
}

/// Looks for cycles with ever more steps: by components, since these are asked for breadth first.
pub(crate) fn cycles_by_depth<M, D, O>(
    model: &mut M,
    scheduler: &D,
    observer: &mut O,
    settings: &Settings,
    deepening: &Deepening,
    goal: Goal,
    keeping: Option<Keeping<'_, CycleSnapshot>>,
) -> Result<DeepCycles<M::Label, M::Fault>, Unusable>
where
    M: Processes,
    D: Scheduler<M::Label>,
    O: DelayObserver<M::Label, M::Fault>,
{
    let graph = Graph::new(model, scheduler, observer, settings, goal).by_depth();
    search(graph, deepening, false, keeping, |graph, _, round| scc::round(graph, round))
}

/// Searches round by round, from where a snapshot was taken if there is one; each round starts from nothing if `anew`.
fn search<'a, M, D, O>(
    mut graph: Graph<'a, M, D, O>,
    deepening: &Deepening,
    anew: bool,
    keeping: Option<Keeping<'_, CycleSnapshot>>,
    round: impl FnMut(&mut Graph<'a, M, D, O>, &mut Maps, &mut CycleRound) -> ControlFlow<End>,
) -> Result<DeepCycles<M::Label, M::Fault>, Unusable>
where
    M: Processes,
    D: Scheduler<M::Label>,
    O: DelayObserver<M::Label, M::Fault>,
{
    let (from, keep) = keeping.map_or((None, None), |keeping| (keeping.from, keeping.keep));
    let mut searched = Vec::new();
    let mut maps = Maps::default();
    if let Some(snapshot) = from {
        searched.clone_from(&snapshot.rounds);
        maps = Maps::of(&snapshot.maps);
        if let ControlFlow::Break(halt) = graph.restore(&snapshot.graph)? {
            return Ok(conclude(graph, (ControlFlow::Break(End::Halted(halt)), searched)));
        }
    }
    let run = deepen(&mut graph, (&mut maps, &mut searched), deepening, anew, keep, round);
    Ok(conclude(graph, (run, searched)))
}

/// Why rounds ended early, if they did, and the rounds.
type Searched = (ControlFlow<End>, Vec<CycleRound>);

/// Says what came of a search.
fn conclude<M, D, O>(mut graph: Graph<'_, M, D, O>, (run, rounds): Searched) -> DeepCycles<M::Label, M::Fault>
where
    M: Processes,
    D: Scheduler<M::Label>,
    O: DelayObserver<M::Label, M::Fault>,
{
    let finished = rounds.iter().rev().skip(usize::from(run.is_break())).map(|round| round.bound).next();
    let mut statistics = graph.statistics;
    statistics.memory_bytes = statistics.memory_bytes.max(graph.memory_bytes());
    let mut outcome = CycleOutcome {
        found: None,
        progress_events_min: None,
        completeness: Completeness::Exhaustive,
        exactness: Exactness::Exact,
        statistics,
    };
    let endless_turns = graph.endless_turns;
    let mut loop_delays = None;
    let reach = match run {
        ControlFlow::Continue(()) if graph.is_complete() && endless_turns == 0 => Reach::EverySchedule,
        ControlFlow::Continue(()) => {
            outcome.completeness = Completeness::Stopped(StopReason::Delays);
            Reach::Bound(finished.unwrap_or(0))
        }
        ControlFlow::Break(End::Halted(Halt::Reason(reason))) => {
            outcome.completeness = Completeness::Stopped(reason);
            Reach::Ended(finished)
        }
        ControlFlow::Break(End::Halted(Halt::Violation)) => {
            outcome.completeness = Completeness::FirstViolation;
            outcome.found = graph.faulty();
            Reach::Ended(finished)
        }
        ControlFlow::Break(End::Cycle(closing)) => {
            outcome.completeness = Completeness::FirstViolation;
            let lasso = lasso::lasso(&mut graph, closing);
            loop_delays = lasso.loop_delays;
            outcome.found = Some(Found::Lasso { stem: lasso.stem, cycle: lasso.cycle });
            Reach::Ended(finished)
        }
    };
    DeepCycles { outcome, reach, rounds, loop_delays, endless_turns }
}

/// Why the rounds ended early.
pub(crate) enum End {
    Cycle(Closing),
    Halted(Halt),
}

fn deepen<'a, M, D, O>(
    graph: &mut Graph<'a, M, D, O>,
    (maps, rounds): (&mut Maps, &mut Vec<CycleRound>),
    deepening: &Deepening,
    anew: bool,
    mut keep: Option<&mut dyn FnMut(CycleSnapshot)>,
    mut search: impl FnMut(&mut Graph<'a, M, D, O>, &mut Maps, &mut CycleRound) -> ControlFlow<End>,
) -> ControlFlow<End>
where
    M: Processes,
    D: Scheduler<M::Label>,
    O: DelayObserver<M::Label, M::Fault>,
{
    loop {
        match rounds.last() {
            None => graph.begin(deepening.start()).map_break(End::Halted)?,
            Some(last) => {
                let next = deepening.as_wanted(graph.observer).after(last.bound);
                let Some(bound) = next.filter(|_| last.frontier > 0) else { return ControlFlow::Continue(()) };
                if anew {
                    graph.forget();
                    graph.begin(bound).map_break(End::Halted)?;
                }
                graph.bound = bound;
            }
        }
        let mut round = CycleRound { bound: graph.bound, ..CycleRound::default() };
        let found = search(graph, maps, &mut round);
        (round.states, round.edges) = (graph.states(), graph.edges_there);
        (round.frontier, round.listed) = (graph.frontier_len(), graph.listed);
        rounds.push(round);
        found?;
        let told = Round { bound: round.bound, states: round.states, frontier: round.frontier };
        let told = graph.observer.round(&told).map_break(|reason| End::Halted(Halt::Reason(reason)));
        if let Some(keep) = keep.as_mut().filter(|_| round.frontier > 0) {
            let kept = graph.kept();
            let (rounds, maps) = (rounds.clone(), maps.kept());
            keep(CycleSnapshot { rounds, maps, graph: if anew { kept.without_states() } else { kept } });
        }
        told?;
    }
}
