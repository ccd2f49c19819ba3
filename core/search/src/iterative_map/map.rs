//! Maximal accepting predecessors (MAP), round by round, by one thread.
//!
//! Figures 3 to 5 of the paper, corrected. States are ordered by the order of their discovery; null is below all.
//! MAP(s) is the greatest t that an accepting edge leads to and that reaches s (t itself counts). If an accepting edge
//! s → t is met while map(s) = t, it closes a cycle.
//!
//! ```text
//! calculate(s):                                       for each edge s → t that the bound allows:
//!   if some edges of s need more delays: s waits        if accepting and map(s) = t: report a cycle
//!                                                       p := t if accepting and map(s) < t, else map(s)
//!                                                       if map(t) < p, or t is new: map(t) := p; calculate(t)
//!
//! refine: see [`super::refine`]
//! ```
//!
//! Why refine: an accepting edge that enters a component from outside may have a greater target than the component's own
//! accepting edges, and shadow them.
//!
//! What differs from Figure 4. There a state is calculated again each time it is raised. Where nearly every state is the target of an
//! accepting edge, as in a search for livelocks, nearly every state is raised again and again, each time with all
//! that it reaches: 125 million edges on a graph of 24 000 states. Here that goes on only as long as it costs no
//! more than a few times the edges there are ([`EAGER_FACTOR`]); it finds cycles early. After that a raised state waits, and those that wait
//! hand on their values together, the greatest first, whenever the states have become twice as many and at the end of the
//! round: so each gets its value once.
//!
//! An edge that a livelock may not use (it makes progress) leads to new states, but hands on nothing.

use super::graph::{Edge, Graph};
use super::refine::{NULL, Parts, Refining};
use super::{Closing, Evidence};
use crate::delay_bounded::DelayObserver;
use crate::model::Processes;
use crate::outcome::{Halt, Round, Run};
use crate::schedule::Scheduler;
use crate::snapshot::Phase;
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;

/// Raised states are calculated again at once as long as that takes at most this many times the edges there are, …
const EAGER_FACTOR: u64 = 4;
/// … or this many edges.
const EAGER_MIN: u64 = 4096;

/// What is known of the states, by their numbers.
#[derive(Default)]
pub(super) struct Maps {
    /// MAP as far as it is calculated: the number plus 1, or [`NULL`]; `None` for states never visited.
    map: Vec<Option<u32>>,
    /// States that were raised and have not handed that on.
    raised: Vec<u32>,
    /// Number of states when all had handed on what they have.
    settled_at: usize,
    /// Edges walked to calculate, in all rounds.
    walked: u64,
    parts: Parts,
}

impl Maps {
    /// As they were kept.
    pub fn of(kept: &KeptMaps) -> Self {
        let KeptMaps { map, settled_at, walked } = kept.clone();
        Self { map, settled_at: settled_at as usize, walked, ..Self::default() }
    }

    pub fn kept(&self) -> KeptMaps {
        KeptMaps { map: self.map.clone(), settled_at: self.settled_at as u64, walked: self.walked }
    }

    fn grow(&mut self, states: usize) {
        self.map.resize(states, None);
    }

    fn value(&self, state: u32) -> u32 {
        self.map[state as usize].unwrap_or(NULL)
    }
}

/// What is kept of the values between two rounds, when all have been handed on.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize, Debug)]
pub(super) struct KeptMaps {
    map: Vec<Option<u32>>,
    settled_at: u64,
    walked: u64,
}

impl KeptMaps {
    /// Whether it may be of this many states.
    pub fn fits(&self, states: usize) -> bool {
        let values = self.map.iter().flatten();
        self.map.len() <= states && values.max().is_none_or(|&greatest| greatest as usize <= states)
    }
}

/// The value that an edge hands on from a state with a value; breaks if it closes a cycle.
fn hand_on(from: u32, edge: Edge, value: u32) -> ControlFlow<Closing, u32> {
    let target = edge.to + 1;
    if !edge.follow() {
        return ControlFlow::Continue(NULL);
    }
    if edge.accept() && value == target {
        return ControlFlow::Break(Closing { from, to: edge.to });
    }
    ControlFlow::Continue(if edge.accept() { value.max(target) } else { value })
}

/// Calculates and refines what a bound allows.
pub(super) fn round<M, D, O>(graph: &mut Graph<'_, M, D, O>, maps: &mut Maps, round: &mut Round) -> Run<Evidence>
where
    M: Processes,
    D: Scheduler<M::Label>,
    O: DelayObserver<M::Label, M::Fault>,
{
    round_of_at_most(usize::MAX, graph, maps, round).map_continue(drop)
}

/// As [`round`], unless there are this many states before its end: then it leaves off. Whether it came to its end.
pub(super) fn round_of_at_most<M, D, O>(
    states_max: usize,
    graph: &mut Graph<'_, M, D, O>,
    maps: &mut Maps,
    round: &mut Round,
) -> Run<Evidence, bool>
where
    M: Processes,
    D: Scheduler<M::Label>,
    O: DelayObserver<M::Label, M::Fault>,
{
    maps.grow(graph.nodes.len());
    if graph.nodes.len() == 1 && maps.map[0].is_none() {
        maps.map[0] = Some(NULL);
    }
    for state in graph.frontier() {
        // States that this round discovers are calculated when they are.
        if maps.map[state as usize].is_some() && !calculate(states_max, graph, maps, state, round)? {
            return ControlFlow::Continue(false);
        }
    }
    settle(graph, maps, round)?;
    maps.parts.start(maps.map.iter().map(|value| value.unwrap_or(NULL)));
    let mut refining = Refining::new(graph, &mut maps.parts, 1, Phase::Refine);
    let refined = refining.refine(round);
    round.work.refined += refining.walked;
    refined.map_continue(|()| true)
}

/// Calculates from a state on; whether all of it, before there are this many states.
fn calculate<M, D, O>(
    states_max: usize,
    graph: &mut Graph<'_, M, D, O>,
    maps: &mut Maps,
    start: u32,
    round: &mut Round,
) -> Run<Evidence, bool>
where
    M: Processes,
    D: Scheduler<M::Label>,
    O: DelayObserver<M::Label, M::Fault>,
{
    let mut stack = vec![(start, 0)];
    while let Some((state, next)) = stack.last_mut() {
        let (from, index) = (*state, *next);
        *next += 1;
        if index == 0 {
            if states_max <= graph.nodes.len() {
                return ControlFlow::Continue(false);
            }
            graph.expand(from)?;
            maps.grow(graph.nodes.len());
            if 2 * maps.settled_at <= graph.nodes.len() {
                settle(graph, maps, round)?;
            }
        }
        let Some(&edge) = graph.edges[from as usize].get(index) else {
            stack.pop();
            continue;
        };
        graph.tick(from, Phase::Calculate)?;
        round.work.calculated += 1;
        maps.walked += 1;
        let handed = hand_on(from, edge, maps.value(from)).map_break(Halt::from)?;
        let known = maps.map[edge.to as usize];
        if known.is_some_and(|known| handed <= known) {
            continue;
        }
        maps.map[edge.to as usize] = Some(handed);
        if known.is_none() || maps.walked <= EAGER_MIN.max(EAGER_FACTOR * graph.edges_there) {
            stack.push((edge.to, 0));
        } else {
            maps.raised.push(edge.to);
        }
    }
    ControlFlow::Continue(true)
}

/// Has the raised states hand on their values, the greatest first. States never visited get theirs when they are.
fn settle<M, D, O>(graph: &mut Graph<'_, M, D, O>, maps: &mut Maps, round: &mut Round) -> Run<Evidence>
where
    M: Processes,
    D: Scheduler<M::Label>,
    O: DelayObserver<M::Label, M::Fault>,
{
    maps.settled_at = graph.nodes.len();
    let mut stack = std::mem::take(&mut maps.raised);
    // The last one is taken first.
    stack.sort_unstable_by_key(|&state| maps.value(state));
    while let Some(from) = stack.pop() {
        for index in 0..graph.edges[from as usize].len() {
            let edge = graph.edges[from as usize][index];
            graph.tick(from, Phase::Calculate)?;
            round.work.calculated += 1;
            let handed = hand_on(from, edge, maps.value(from)).map_break(Halt::from)?;
            if maps.map[edge.to as usize].is_some_and(|known| known < handed) {
                maps.map[edge.to as usize] = Some(handed);
                stack.push(edge.to);
            }
        }
    }
    ControlFlow::Continue(())
}
