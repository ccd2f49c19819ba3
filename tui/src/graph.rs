//! The state graph of a small model, as it is shown.

use crate::model::Cursor;
use fabius_analysis::state_graph::{Edge, WalkableGraph};
use fabius_explore::Exploration;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The state graph, with the place of the walk in it.
#[derive(Clone, Debug)]
pub struct GraphView {
    /// The graph.
    pub graph: Arc<WalkableGraph>,
    /// The node at which the walk is, if it is there.
    pub here: Option<usize>,
    /// The nodes through which the run goes that is walked along.
    pub on_run: BTreeSet<usize>,
    /// The steps of that run, from node to node.
    pub run_edges: BTreeSet<(usize, usize)>,
    /// The node that is marked.
    pub cursor: Cursor,
    /// The nodes from which one went along an edge, the last one at the end.
    pub trail: Vec<usize>,
}

impl PartialEq for GraphView {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.graph, &other.graph)
            && (self.here, self.cursor) == (other.here, other.cursor)
            && (&self.on_run, &self.trail) == (&other.on_run, &other.trail)
    }
}

impl GraphView {
    /// The graph around a walk.
    ///
    /// # Errors
    /// Why there is none, in a sentence.
    pub fn of(walk: &Exploration) -> Result<Self, String> {
        let graph = walk.state_graph()?;
        let run: Vec<Option<usize>> = walk.line().iter().map(|node| walk.graph_node(&graph, *node)).collect();
        let edges = run.windows(2).filter_map(|pair| pair[0].zip(pair[1]));
        let here = walk.graph_node(&graph, walk.here());
        let cursor = Cursor { at: here.unwrap_or(0), top: 0 };
        Ok(Self {
            here,
            run_edges: edges.collect(),
            on_run: run.iter().flatten().copied().collect(),
            graph: Arc::new(graph),
            cursor,
            trail: Vec::new(),
        })
    }

    /// The edges that leave the marked node, in the order of the nodes to which they lead.
    pub fn leaving(&self) -> impl Iterator<Item = &Edge> {
        self.graph.graph.edges.iter().filter(|edge| edge.from == self.cursor.at)
    }

    /// The nodes from which edges lead to the marked one.
    pub fn arriving(&self) -> impl Iterator<Item = usize> + '_ {
        self.graph.graph.edges.iter().filter(|edge| edge.to == self.cursor.at).map(|edge| edge.from)
    }
}
