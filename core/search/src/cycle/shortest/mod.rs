//! Shortest lassos: among all runs that a search for cycles looks for, one with the fewest steps before its cycle and
//! in it together.
//!
//! ```text
//! best := bound;  enough := few
//! repeat
//!   list the states nearest to the initial one, with their transitions,        (graph)
//!     until there are enough, or the next one is at least best steps away
//!   for each listed s on a cycle that may count, the nearest first, while distance(s) < best:
//!     c := a shortest cycle through s that counts, over states no nearer than s
//!     if distance(s) + |c| < best: best := distance(s) + |c|
//!   enough := enough · factor
//! until all states nearer than best are listed
//! ```
//!
//! A shortest cycle is found breadth first over states together with what is known of the path so far ([`history`]: was it
//! accepting, which processes moved, which were enabled). Only states of one strongly connected component are looked at.
//!
//! A step is a transition that a process takes. What else moves (a claim, a change without label) adds nothing to the
//! length.

mod graph;
mod history;

use super::outcome::{CycleQuestion, Fairness, Found, Run};
use super::watch::Watch;
use crate::model::{ProcessSet, Processes};
use crate::observer::{Observer, Settings, state_words};
use crate::outcome::Halt;
use crate::store::{Class, Store};
use fabius_base::StopReason;
use graph::{Edge, Graph, Listed, Node, Parts, may_take};
use history::{History, PROCESSES_MAX};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::ops::ControlFlow;

/// Cycles are looked for once this many states are listed, …
const STATES_FIRST: usize = 1 << 9;
/// … and each time that there are this many times more.
const STATES_FACTOR: usize = 4;
/// This many states on paths that may become cycles are as much work as one transition of the model.
const PLACES_PER_TRANSITION: u64 = 8;
/// States are listed until this part of the work is left: it is for cycles.
const CYCLES_SHARE: u64 = 4;

/// What came of looking for a run with fewer steps.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shortest<Label, Fault> {
    /// One that has fewer than the bound; `None` if none was found.
    pub found: Option<Found<Label, Fault>>,
    /// Whether it is certain that no run has fewer steps than the one found, or than the bound if none was.
    pub proved: bool,
    /// How much work that was, in transitions of the model.
    pub work: u64,
}

/// Up to where a shorter run is looked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ShortestBounds {
    /// It is to have fewer steps than this.
    pub steps: u64,
    /// About as many transitions of the model are listed at most: the result does not depend on time.
    pub work_max: u64,
}

/// Looks for a run with a cycle, or up to a faulty transition, that has as few steps as possible.
///
/// The processes in `resting` do not move: there are fewer runs without them, and a short one is found sooner. That
/// proves nothing of runs in which they do.
pub fn shortest<M, O>(
    model: &mut M,
    observer: &mut O,
    settings: &Settings,
    question: CycleQuestion,
    resting: &ProcessSet,
    bounds: ShortestBounds,
) -> Shortest<M::Label, M::Fault>
where
    M: Processes,
    O: Observer<M::Label, M::Fault>,
{
    let graph = Graph::new(model.hidden_words());
    let (watch, open) = (Watch::new(observer, settings, state_words(model)), VecDeque::new());
    let mut search = Search {
        model,
        watch,
        question,
        resting,
        graph,
        open,
        work_max: bounds.work_max,
        transitions: 0,
        places_seen: 0,
        best: bounds.steps,
        found: None,
    };
    let proved = matches!(search.run(), ControlFlow::Continue(true)) && resting.is_empty();
    let work = search.work();
    Shortest { found: search.found, proved, work }
}

struct Search<'a, M: Processes, O> {
    model: &'a mut M,
    watch: Watch<'a, O>,
    question: CycleQuestion,
    /// These processes do not move.
    resting: &'a ProcessSet,
    graph: Graph<M::Label>,
    /// States whose transitions are still to be listed, the nearest first.
    open: VecDeque<u32>,
    work_max: u64,
    /// Transitions of the model that were listed.
    transitions: u64,
    /// Places that were looked at.
    places_seen: u64,
    /// Steps of the shortest run that is known.
    best: u64,
    found: Option<Found<M::Label, M::Fault>>,
}

/// The labels of a cycle, and how many steps it has.
type Round<L> = (Vec<L>, u64);

/// A state on a path that may become a cycle.
struct Place {
    node: u32,
    history: History,
    steps: u64,
    /// The place before, and the transition from there.
    parent: (u32, u32),
}

impl<M: Processes, O: Observer<M::Label, M::Fault>> Search<'_, M, O> {
    /// Lists states and looks for cycles, alternately; whether the best that was found is proved to be that.
    fn run(&mut self) -> Run<M::Label, M::Fault, bool> {
        let mut state = Vec::new();
        if self.model.initial(&mut state).is_err() {
            return ControlFlow::Continue(false);
        }
        self.reach(None, &state, Class::Ordinary)?;
        let mut enough = STATES_FIRST;
        loop {
            let listed = match self.list(enough) {
                ControlFlow::Break(Halt::Stopped(StopReason::States)) => Listed::Most,
                listed => listed?,
            };
            if self.question.fairness != Fairness::None
                && self.graph.nodes.iter().any(|n| PROCESSES_MAX < n.processes.into())
            {
                return ControlFlow::Continue(false);
            }
            self.look_for_cycles()?;
            if listed != Listed::Enough {
                return ControlFlow::Continue(listed == Listed::All);
            }
            enough *= STATES_FACTOR;
        }
    }

    fn work(&self) -> u64 {
        self.transitions + self.places_seen / PLACES_PER_TRANSITION
    }

    /// Looks for cycles through the states whose transitions are listed, the nearest first.
    fn look_for_cycles(&mut self) -> Run<M::Label, M::Fault> {
        let parts = Parts::of(&self.graph, self.question.goal);
        let mut starts: Vec<u32> = (0..self.graph.nodes.len() as u32).filter(|&n| parts.counts(n)).collect();
        starts.sort_by_key(|&start| self.graph.nodes[start as usize].distance);
        for start in starts {
            let distance = self.graph.nodes[start as usize].distance;
            if self.best <= distance {
                break;
            }
            if let Some((cycle, steps)) = self.cycle_through(start, &parts)? {
                self.best = distance + steps;
                self.found = Some(Found::Lasso { stem: self.graph.path_to(start), cycle });
            }
        }
        ControlFlow::Continue(())
    }

    /// A shortest cycle through a state that counts and makes a shorter run than the best, over states that are not nearer; its
    /// labels and how many steps it has.
    fn cycle_through(&mut self, start: u32, parts: &Parts) -> Run<M::Label, M::Fault, Option<Round<M::Label>>> {
        let distance = self.graph.nodes[start as usize].distance;
        let history = History::start(self.question, self.graph.nodes[start as usize].processes);
        let mut places = vec![Place { node: start, history, steps: 0, parent: (0, 0) }];
        let mut seen = FxHashMap::from_iter([((start, history), 0)]);
        let mut open = VecDeque::from([0_u32]);
        while let Some(number) = open.pop_front() {
            self.pause()?;
            self.places_seen += 1;
            if self.work_max <= self.work() {
                return ControlFlow::Break(Halt::Stopped(StopReason::States));
            }
            let Place { node, history, steps, .. } = places[number as usize];
            if history.closed {
                return ControlFlow::Continue(Some((self.graph.cycle(&places, number), steps)));
            }
            if seen.get(&(node, history)).is_some_and(|&known| known < steps) {
                continue;
            }
            for index in self.graph.nodes[node as usize].listed() {
                let edge = self.graph.edges[index as usize];
                let steps = steps + edge.steps();
                let target = &self.graph.nodes[edge.target as usize];
                let stays = parts.together(start, edge.target) && distance <= target.distance;
                if !stays || !may_take(self.question.goal, edge.marks) || self.best <= distance + steps {
                    continue;
                }
                let mut history = history.after(&edge, target, self.question);
                let processes = self.graph.nodes[start as usize].processes;
                history.closed = edge.target == start && history.counts(self.question, processes);
                let known = seen.entry((edge.target, history)).or_insert(u64::MAX);
                if steps < *known {
                    *known = steps;
                    places.push(Place { node: edge.target, history, steps, parent: (number, index) });
                    let place = places.len() as u32 - 1;
                    if edge.steps() == 0 { open.push_front(place) } else { open.push_back(place) }
                }
            }
        }
        ControlFlow::Continue(None)
    }

    #[inline]
    fn pause(&mut self) -> Run<M::Label, M::Fault> {
        if self.watch.step_is_due() {
            let graph = &self.graph;
            let listed = size_of_val::<[Node]>(&graph.nodes) + size_of_val::<[Edge<M::Label>]>(&graph.edges);
            let states = graph.states.memory_bytes();
            let memory_bytes = states + listed as u64;
            self.watch.look(memory_bytes, graph.states.store.is_full())?;
        }
        ControlFlow::Continue(())
    }
}
