//! The graph between two rounds, as it is written down; see [`crate::checkpoint`].

use super::{Edge, Graph, Node, Progress};
use crate::checkpoint::{Relister, Retraced, Unusable, Visit, origins, retrace};
use crate::delay_bounded::{DelayObserver, Origin};
use crate::model::Processes;
use crate::outcome::Statistics;
use crate::position::Position;
use crate::schedule::Scheduler;
use crate::state_log::StateLog;
use crate::store::{Class, TreeStore};
use fabius_base::StopReason;
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;

/// The graph: the way to each state, how far its edges are there, and these.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize, Debug)]
pub(in super::super) struct KeptGraph {
    counters: Statistics,
    listed: u64,
    endless_macro_steps: u64,
    incomplete: u64,
    #[serde(with = "origins")]
    origins: Vec<Origin>,
    states: Vec<KeptState>,
}

/// n + i and i, whether nobody's macro steps are still to come, whether all edges are there, and the edges.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
struct KeptState {
    delays: u32,
    index: u32,
    environment: bool,
    complete: bool,
    edges: Vec<Edge>,
}

impl KeptGraph {
    /// The same without states: what a search keeps that begins anew in each round.
    pub fn without_states(self) -> Self {
        Self { origins: Vec::new(), states: Vec::new(), ..self }
    }

    /// How many states are kept.
    pub fn states(&self) -> usize {
        self.states.len()
    }

    /// Whether there is one state for each way, and edges lead to states.
    pub fn is_consistent(&self) -> bool {
        let edges = self.states.iter().flat_map(|state| &state.edges);
        let mut targets = edges.map(|edge| edge.to as usize);
        self.states.len() == self.origins.len() && targets.all(|target| target < self.states.len())
    }
}

/// What is found again of the states.
struct Again<'s, State> {
    kept: &'s [KeptState],
    store: &'s mut TreeStore<u32>,
    position: &'s mut Position,
    /// The states in the order in which they are met, and where each is.
    met: StateLog,
    places: Vec<usize>,
    /// The scheduler's state when each was first met, of those that wait for more delays.
    schedules: Vec<Option<State>>,
}

impl<State: Clone> Visit<State> for Again<'_, State> {
    fn wants(&self, number: u32) -> bool {
        !self.kept[number as usize].complete
    }

    fn visit(&mut self, Retraced { number, state, schedule }: Retraced<'_, State>) {
        self.position.advance(state);
        *self.store.entry(self.position, Class::Ordinary).1 = number + 1;
        self.places[number as usize] = self.met.len();
        self.met.push(self.store, self.position, Class::Ordinary);
        self.position.forget();
        // Of the first one it is known anyhow: it stands in for that of states whose edges are all there.
        if number == 0 || !self.kept[number as usize].complete {
            self.schedules[number as usize] = schedule.cloned();
        }
    }
}

impl<M, D, O> Graph<'_, M, D, O>
where
    M: Processes,
    D: Scheduler<M::Label>,
    O: DelayObserver<M::Label, M::Fault>,
{
    /// What there is, once a round is over.
    pub fn kept(&self) -> KeptGraph {
        let origin = |node: &Node<D::State>| {
            node.parent.map_or(Origin::NONE, |(parent, macro_step)| Origin { parent, macro_step })
        };
        let state = |(node, edges): (&Node<D::State>, &Vec<Edge>)| {
            let Progress { delays, index, environment, complete, .. } = node.progress;
            KeptState { delays, index, environment, complete, edges: edges.clone() }
        };
        KeptGraph {
            counters: self.statistics,
            listed: self.listed,
            endless_macro_steps: self.infinite_macro_steps,
            incomplete: self.incomplete,
            origins: self.nodes.iter().map(origin).collect(),
            states: self.nodes.iter().zip(&self.edges).map(state).collect(),
        }
    }

    /// Makes it what it was when it was kept.
    pub fn restore(&mut self, kept: &KeptGraph) -> Result<ControlFlow<StopReason>, Unusable> {
        if !kept.origins.is_empty()
            && let ControlFlow::Break(halt) = self.find_again(kept)?
        {
            return Ok(ControlFlow::Break(halt));
        }
        self.edges_there = self.edges.iter().map(|edges| edges.len() as u64).sum();
        (self.listed, self.infinite_macro_steps, self.incomplete) =
            (kept.listed, kept.endless_macro_steps, kept.incomplete);
        self.statistics = kept.counters;
        self.listing.lister.transient = kept.counters.transient;
        Ok(ControlFlow::Continue(()))
    }

    fn find_again(&mut self, kept: &KeptGraph) -> Result<ControlFlow<StopReason>, Unusable> {
        let states = kept.states.len();
        let mut again = Again {
            kept: &kept.states,
            store: &mut self.states.store,
            position: &mut self.states.position,
            met: StateLog::new(self.listing.model.hidden_words()),
            places: vec![0; states],
            schedules: vec![None; states],
        };
        let mut lister = Relister {
            listing: &mut self.listing,
            scheduler: self.scheduler,
            statistics: &mut self.statistics,
            observer: &mut *self.observer,
        };
        let walked = retrace(&mut lister, &kept.origins, &mut again)?;
        if walked.is_break() {
            return Ok(walked);
        }
        let Again { met, places, mut schedules, .. } = again;
        let any = schedules[0].clone().ok_or(Unusable)?;
        for (number, state) in kept.states.iter().enumerate() {
            let mut schedule = schedules[number].take().unwrap_or_else(|| any.clone());
            if !state.complete {
                (0..state.index.min(u32::from(u8::MAX))).for_each(|_| self.scheduler.delay(&mut schedule));
            }
            let &KeptState { delays, index, environment, complete, ref edges } = state;
            self.states.log.push_from(&met, places[number]);
            let Origin { parent, macro_step } = kept.origins[number];
            let progress = Progress { schedule, delays, index, environment, complete };
            self.nodes.push(Node { progress, parent: (number != 0).then_some((parent, macro_step)) });
            self.edges.push(edges.clone());
        }
        Ok(walked)
    }
}
