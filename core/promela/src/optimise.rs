//! Spin's own optimisations of automata, so that numbers of states agree with its defaults: locals are
//! reset where their value is not needed any more ([`dataflow`]), and steps that no other process can
//! observe are executed together with the one before them ([`merge`]).
//!
//! Both look at a graph of the elements, not at the finished automata, and both depend on the order in
//! which states and edges were added to it; so that order is Spin's.

mod dataflow;
pub(crate) mod facts;
mod graph;
mod merge;

pub(crate) use facts::{EXCLUSIVE_RECEIVE, EXCLUSIVE_SEND, Facts, SEEN_BY_CLAIM};

use crate::flow::{El, Flow, Seq};
use crate::names::Names;
use fabius_base::Cancel;
use graph::Graph;

/// Annotates the elements of one process type.
pub(crate) fn optimise(flow: &mut Flow, names: &Names, facts: &Facts, body: Seq, what: What, cancel: &Cancel) {
    let graph = Graph::build(flow, names, facts, body);
    if what.reset {
        dataflow::reset_dead_locals(flow, &graph, cancel);
    }
    if what.merge {
        merge::merge_steps(flow, facts, &graph);
        let first = flow.first(body);
        let entry: El = flow.find_start(first, flow.el(first).status, None, names);
        flow.el_mut(entry).merge.entered = 1;
    }
}

/// Which optimisations are applied.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct What {
    pub reset: bool,
    pub merge: bool,
}
