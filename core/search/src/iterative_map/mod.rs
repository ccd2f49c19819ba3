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
//! no run with this many delays goes round it for ever; [`SearchOutcome::loop_delays`](crate::SearchOutcome::loop_delays) says what it costs.
//! Not found within a bound means nothing; found never is if the frontier is empty.
//!
//! Only ordinary states are nodes. An atomic sequence that never ends is no cycle here, but [`SearchOutcome::infinite_macro_steps`](crate::SearchOutcome::infinite_macro_steps)
//! counts the states in which one starts, and nothing is proved if there are any.

mod graph;
mod kept;
mod lasso;
mod map;
mod nested;
mod refine;
mod scc;
mod together;

use crate::checkpoint::{CheckpointPolicy, Unusable};
use crate::cycle::{CycleOutcome, Found, Goal};
use crate::delay_bounded::{DelayObserver, IterativeDelayBounding};
use crate::model::{Model, Processes};
use crate::observer::Settings;
use crate::outcome::{Coverage, Halt, Round, Run};
use crate::schedule::Scheduler;
use crate::store::Exactness;
use fabius_base::StopReason;
use graph::Graph;
use map::Maps;
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

/// Which cycles are looked for, and in which rounds.
#[derive(Clone, Copy, Debug)]
pub struct CycleRounds<'a> {
    /// Which cycles.
    pub goal: Goal,
    /// The bounds of the rounds.
    pub bounding: &'a IterativeDelayBounding,
}

/// What is found in a model.
pub type FoundIn<M> = CycleOutcome<<M as Model>::Label, <M as Model>::Fault>;

/// An edge of the graph that closes an accepted cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Closing {
    pub from: u32,
    pub to: u32,
}

/// What ends the rounds: a cycle, or a faulty transition that the graph knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Evidence {
    Cycle(Closing),
    Fault,
}

impl From<Closing> for Halt<Evidence> {
    fn from(closing: Closing) -> Self {
        Self::Found(Evidence::Cycle(closing))
    }
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
    rounds: CycleRounds<'_>,
    ask: Ask,
    checkpoint: CheckpointPolicy<'_, CycleSnapshot>,
) -> Result<CycleOutcome<M::Label, M::Fault>, Unusable>
where
    M: Processes,
    D: Scheduler<M::Label>,
    O: DelayObserver<M::Label, M::Fault>,
{
    let graph = Graph::new(model, scheduler, observer, settings, rounds.goal);
    search(graph, rounds.bounding, ask == Ask::NestedDfs, checkpoint, |graph, maps, round| match ask {
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
    rounds: CycleRounds<'_>,
    alone_max: usize,
    checkpoint: CheckpointPolicy<'_, CycleSnapshot>,
) -> Result<Option<FoundIn<M>>, Unusable>
where
    M: Processes<Label: Send + Sync, Fault: Send + Sync> + Send,
    D: Scheduler<M::Label, State: Send + Sync> + Clone + Send,
    O: DelayObserver<M::Label, M::Fault>,
{
    let Some((model, others)) = models.split_first_mut() else { return Ok(None) };
    let graph = Graph::new(model, scheduler, observer, settings, rounds.goal);
    let mut others = Others::new(others, scheduler, settings.cancel.clone());
    let round = |graph: &mut Graph<'_, M, D, O>, maps: &mut Maps, round: &mut Round| {
        together::round(graph, &mut others, alone_max, maps, round)
    };
    search(graph, rounds.bounding, false, checkpoint, round).map(Some)
}

/// Looks for cycles with ever more steps: by components, since these are asked for breadth first.
pub(crate) fn cycles_by_depth<M, D, O>(
    model: &mut M,
    scheduler: &D,
    observer: &mut O,
    settings: &Settings,
    rounds: CycleRounds<'_>,
    checkpoint: CheckpointPolicy<'_, CycleSnapshot>,
) -> Result<CycleOutcome<M::Label, M::Fault>, Unusable>
where
    M: Processes,
    D: Scheduler<M::Label>,
    O: DelayObserver<M::Label, M::Fault>,
{
    let graph = Graph::new(model, scheduler, observer, settings, rounds.goal).by_depth();
    search(graph, rounds.bounding, false, checkpoint, |graph, _, round| scc::round(graph, round))
}

/// Searches round by round, from where a snapshot was taken if there is one; each round starts from nothing if `anew`.
fn search<'a, M, D, O>(
    mut graph: Graph<'a, M, D, O>,
    bounding: &IterativeDelayBounding,
    anew: bool,
    checkpoint: CheckpointPolicy<'_, CycleSnapshot>,
    round: impl FnMut(&mut Graph<'a, M, D, O>, &mut Maps, &mut Round) -> Run<Evidence>,
) -> Result<CycleOutcome<M::Label, M::Fault>, Unusable>
where
    M: Processes,
    D: Scheduler<M::Label>,
    O: DelayObserver<M::Label, M::Fault>,
{
    let CheckpointPolicy { from, keep } = checkpoint;
    let mut searched = Vec::new();
    let mut maps = Maps::default();
    if let Some(snapshot) = from {
        searched = snapshot.rounds;
        maps = Maps::of(&snapshot.maps);
        if let ControlFlow::Break(reason) = graph.restore(&snapshot.graph)? {
            return Ok(conclude(graph, ControlFlow::Break(reason.into()), searched));
        }
    }
    let run = deepen(&mut graph, &mut maps, &mut searched, bounding, anew, keep, round);
    Ok(conclude(graph, run, searched))
}

/// The outcome of a search whose rounds ended like this.
fn conclude<M, D, O>(
    mut graph: Graph<'_, M, D, O>,
    ended: Run<Evidence>,
    rounds: Vec<Round>,
) -> CycleOutcome<M::Label, M::Fault>
where
    M: Processes,
    D: Scheduler<M::Label>,
    O: DelayObserver<M::Label, M::Fault>,
{
    let finished = rounds.iter().rev().skip(usize::from(ended.is_break())).map(|round| round.bound).next();
    let everything = ended.is_continue() && graph.is_complete() && graph.infinite_macro_steps == 0;
    let coverage = match ended {
        ControlFlow::Continue(()) if everything => Coverage::EverySchedule,
        ControlFlow::Continue(()) => Coverage::Bound(finished.unwrap_or(0)),
        ControlFlow::Break(_) => Coverage::Ended(finished),
    };
    let mut statistics = graph.statistics;
    statistics.memory_bytes = statistics.memory_bytes.max(graph.memory_bytes());
    let infinite_macro_steps = graph.infinite_macro_steps;
    let (mut found, mut loop_delays) = (None, None);
    let ended = match ended {
        ControlFlow::Continue(()) if everything => ControlFlow::Continue(()),
        ControlFlow::Continue(()) => ControlFlow::Break(Halt::Stopped(StopReason::Delays)),
        ControlFlow::Break(Halt::Stopped(reason)) => ControlFlow::Break(Halt::Stopped(reason)),
        ControlFlow::Break(Halt::Found(evidence)) => {
            found = match evidence {
                Evidence::Fault => graph.faulty(),
                Evidence::Cycle(closing) => {
                    let lasso = lasso::lasso(&mut graph, closing);
                    loop_delays = lasso.loop_delays;
                    Some(Found::Lasso { stem: lasso.stem, cycle: lasso.cycle })
                }
            };
            ControlFlow::Break(Halt::Found(()))
        }
    };
    let outcome = CycleOutcome::conclude(ended, found.into_iter().collect(), Exactness::Exact, statistics);
    CycleOutcome { coverage, rounds, loop_delays, infinite_macro_steps, ..outcome }
}

fn deepen<'a, M, D, O>(
    graph: &mut Graph<'a, M, D, O>,
    maps: &mut Maps,
    rounds: &mut Vec<Round>,
    bounding: &IterativeDelayBounding,
    anew: bool,
    mut keep: Option<&mut dyn FnMut(CycleSnapshot)>,
    mut search: impl FnMut(&mut Graph<'a, M, D, O>, &mut Maps, &mut Round) -> Run<Evidence>,
) -> Run<Evidence>
where
    M: Processes,
    D: Scheduler<M::Label>,
    O: DelayObserver<M::Label, M::Fault>,
{
    loop {
        match rounds.last() {
            None => graph.begin(bounding.start())?,
            Some(last) => {
                let next = bounding.as_wanted(graph.observer).after(last.bound);
                let Some(bound) = next.filter(|_| last.frontier > 0) else { return ControlFlow::Continue(()) };
                if anew {
                    graph.forget();
                    graph.begin(bound)?;
                }
                graph.bound = bound;
            }
        }
        let mut round = Round { bound: graph.bound, ..Round::default() };
        let found = search(graph, maps, &mut round);
        (round.states, round.frontier) = (graph.states(), graph.frontier_len());
        (round.work.edges, round.work.listed) = (graph.edges_there, graph.listed);
        rounds.push(round);
        found?;
        let answer = graph.observer.round(&round).map_break(Halt::Stopped);
        if let Some(keep) = keep.as_mut().filter(|_| round.frontier > 0) {
            let kept = graph.kept();
            let (rounds, maps) = (rounds.clone(), maps.kept());
            keep(CycleSnapshot { rounds, maps, graph: if anew { kept.without_states() } else { kept } });
        }
        answer?;
    }
}
