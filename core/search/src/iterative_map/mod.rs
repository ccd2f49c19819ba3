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
//! first met, offers with so many delays on the way and in the state. A cycle may cost delays each time round, so that
//! no run with so many delays goes round it for ever; [`DeepCycles::loop_delays`] says what it costs.
//! Not found within a bound means nothing; found never is if the frontier is empty.
//!
//! Only ordinary states are nodes. An atomic sequence that never ends is no cycle here, but [`DeepCycles::endless_turns`]
//! counts the states in which one starts, and nothing is proved if there are any.

mod graph;
mod lasso;
mod map;
mod nested;
mod refine;
mod scc;
mod together;

use crate::cycle::{CycleOutcome, Found, Goal};
use crate::delay_bounded::{Deepening, DelayObserver, Reach, Round};
use crate::model::Processes;
use crate::observer::Settings;
use crate::outcome::{Completeness, Halt};
use crate::schedule::Scheduler;
use crate::store::Exactness;
use fabius_base::StopReason;
use graph::Graph;
use map::Maps;
use std::ops::ControlFlow;
use together::Others;

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
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
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

/// An edge of the graph that closes an accepted cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Closing {
    pub from: u32,
    pub to: u32,
}

/// Looks for cycles with ever more delays.
pub fn iterative_cycles<M, D, O>(
    model: &mut M,
    scheduler: &D,
    observer: &mut O,
    settings: &Settings,
    deepening: &Deepening,
    (goal, ask): (Goal, Ask),
) -> DeepCycles<M::Label, M::Fault>
where
    M: Processes,
    D: Scheduler<M::Label>,
    O: DelayObserver<M::Label, M::Fault>,
{
    let mut graph = Graph::new(model, scheduler, observer, settings, goal);
    let mut maps = Maps::default();
    let searched = match ask {
        Ask::Map => deepen(&mut graph, deepening, false, |graph, round| map::round(graph, &mut maps, round)),
        Ask::NestedDfs => deepen(&mut graph, deepening, true, nested::round),
        Ask::Components => deepen(&mut graph, deepening, false, scc::round),
    };
    conclude(graph, searched)
}

/// As [`iterative_cycles`] by maximal accepting predecessors, with one thread for each of the models; they must be the
/// same. Each thread has its own copy of the scheduler. The first of them is the caller's thread, and the only one that speaks to the observer.
///
/// Up to `alone_max` states (usually [`ALONE_MAX`]) the caller's thread works alone, as in [`iterative_cycles`]: strictly depth
/// first, and what it finds is the same. From then on states are expanded in another order. States, edges and rounds do not
/// depend on how many threads there are, nor on their pace, and neither does the cycle that is found, if they are several.
pub fn iterative_map_together<M, D, O>(
    models: &mut [M],
    scheduler: &D,
    observer: &mut O,
    settings: &Settings,
    deepening: &Deepening,
    (goal, alone_max): (Goal, usize),
) -> Option<DeepCycles<M::Label, M::Fault>>
where
    M: Processes<Label: Send + Sync, Fault: Send + Sync> + Send,
    D: Scheduler<M::Label, State: Send + Sync> + Clone + Send,
    O: DelayObserver<M::Label, M::Fault>,
{
    let (model, others) = models.split_first_mut()?;
    let mut graph = Graph::new(model, scheduler, observer, settings, goal);
    let mut others = Others::new(others, scheduler, settings.cancel.clone());
    let searched =
        deepen(&mut graph, deepening, false, |graph, round| together::round(graph, (&mut others, alone_max), round));
    Some(conclude(graph, searched))
}

/// Looks for cycles with ever more steps: by components, since these are asked for breadth first.
pub(crate) fn cycles_by_depth<M, D, O>(
    model: &mut M,
    scheduler: &D,
    observer: &mut O,
    settings: &Settings,
    deepening: &Deepening,
    goal: Goal,
) -> DeepCycles<M::Label, M::Fault>
where
    M: Processes,
    D: Scheduler<M::Label>,
    O: DelayObserver<M::Label, M::Fault>,
{
    let mut graph = Graph::new(model, scheduler, observer, settings, goal).by_depth();
    let searched = deepen(&mut graph, deepening, false, scc::round);
    conclude(graph, searched)
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

/// Searches round by round; each starts from nothing if `anew`.
fn deepen<M, D, O>(
    graph: &mut Graph<'_, M, D, O>,
    deepening: &Deepening,
    anew: bool,
    mut search: impl FnMut(&mut Graph<'_, M, D, O>, &mut CycleRound) -> ControlFlow<End>,
) -> Searched
where
    M: Processes,
    D: Scheduler<M::Label>,
    O: DelayObserver<M::Label, M::Fault>,
{
    let mut rounds = Vec::new();
    let mut next = || -> ControlFlow<End> {
        graph.begin(deepening.start()).map_break(End::Halted)?;
        loop {
            let mut round = CycleRound { bound: graph.bound, ..CycleRound::default() };
            let found = search(graph, &mut round);
            (round.states, round.edges) = (graph.states(), graph.edges_there);
            (round.frontier, round.listed) = (graph.frontier_len(), graph.listed);
            rounds.push(round);
            found?;
            let told = Round { bound: round.bound, states: round.states, frontier: round.frontier };
            graph.observer.round(&told).map_break(|reason| End::Halted(Halt::Reason(reason)))?;
            match deepening.as_wanted(graph.observer).after(graph.bound).filter(|_| !graph.is_complete()) {
                None => return ControlFlow::Continue(()),
                Some(bound) if anew => {
                    graph.forget();
                    graph.begin(bound).map_break(End::Halted)?;
                }
                Some(bound) => graph.bound = bound,
            }
        }
    };
    let run = next();
    (run, rounds)
}
