//! The graph of the states around the walk, for small models.

use crate::Exploration;
use crate::tree::NodeId;
use fabius_analysis::state_graph::WalkableGraph;
use fabius_base::Cancel;

/// At most this many states are in the graph.
const STATES_MAX: usize = 1_000;

impl Exploration {
    /// The graph of the states of the model, at most a thousand of them, nearest to the initial state first.
    ///
    /// # Errors
    /// Why there is none, in a sentence.
    pub fn state_graph(&self) -> Result<WalkableGraph, String> {
        let map = &self.loaded().map;
        let line_of = |span| Some(map.position(span).line).filter(|line| 0 < *line);
        WalkableGraph::of(&self.target().program, STATES_MAX, &line_of, &Cancel::new())
    }

    /// The node of the graph at which one is.
    pub fn graph_node(&self, graph: &WalkableGraph, node: NodeId) -> Option<usize> {
        if self.fault(node).is_some() {
            return None;
        }
        graph.node_of(&self.target().program, &self.state_at(node))
    }
}
