//! A state graph of which it is known which state each node is, and how one gets there.

use super::{Explored, GraphLimits, Grouping, StateGraph};
use fabius_base::{Cancel, Span};
use fabius_program::{Move, Program};
use fabius_witness::{State, settled};
use std::collections::HashMap;

/// A state graph with a node for each state, in the order of their distances from the initial state.
#[derive(Clone, Debug)]
pub struct WalkableGraph {
    /// The graph; an edge leads from one node to another, with all steps that do.
    pub graph: StateGraph,
    /// Number of steps of a shortest run to each node.
    pub distances: Vec<usize>,
    nodes: HashMap<State, usize>,
    /// For each node the node before it on a shortest run, with the step.
    before: Vec<Option<(usize, Move)>>,
}

impl WalkableGraph {
    /// The graph of the states of a program, as far as `states_max` states; what is watched beside the processes is no part of them.
    ///
    /// # Errors
    /// A sentence, if the initial state cannot be computed.
    pub fn of(
        program: &Program,
        states_max: usize,
        line_of: &dyn Fn(Span) -> Option<u32>,
        cancel: &Cancel,
    ) -> Result<Self, String> {
        let mut explored = Explored::of(program, GraphLimits::states(states_max), line_of, cancel)?;
        let graph = explored.graph(&Grouping::States, &Cancel::new())?.readable();
        let Explored { numbers: nodes, edges, parents, .. } = explored;
        let mut found = Self { graph, distances: Vec::new(), nodes, before: vec![None; parents.len()] };
        for (at, parent) in parents.into_iter().enumerate() {
            found.before[at] = parent.map(|edge| (edges[edge].from, edges[edge].taken));
            // A node comes after the one before it on a shortest run.
            let distance = found.before[at].map_or(0, |(from, _)| found.distances[from] + 1);
            found.distances.push(distance);
        }
        Ok(found)
    }

    /// The node of a state, without what is watched beside the processes.
    pub fn node_of(&self, program: &Program, state: &State) -> Option<usize> {
        let bare = State { claim: None, trace: None, ..state.clone() };
        self.nodes.get(&settled(program, &bare).visible(program)).copied()
    }

    /// The moves of a shortest run to a node.
    pub fn path_to(&self, node: usize) -> Vec<Move> {
        let mut path = Vec::new();
        let mut here = node;
        while let Some((from, step)) = self.before.get(here).copied().flatten() {
            path.push(step);
            here = from;
        }
        path.reverse();
        path
    }
}
