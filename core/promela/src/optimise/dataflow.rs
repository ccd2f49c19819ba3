//! Dead locals: a local whose value is not read again before it is written is set to 0, so that states
//! which differ only in it become one.

use super::graph::Graph;
use crate::flow::{Flow, Node};
use fabius_program::{Action, Expr, VariableId};
use std::collections::HashSet;

/// How a variable that is dead after an edge was used by it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Used {
    Read,
    Written,
}

pub(super) fn reset_dead_locals(flow: &mut Flow, graph: &Graph) {
    // Newest states first.
    for index in (0..graph.states.len()).rev() {
        for edge in &graph.states[index].edges {
            let Some(el) = edge.el else { continue };
            let reads = edge.uses.reads.iter().map(|v| (*v, Used::Read));
            let writes = edge.uses.writes.iter().map(|v| (*v, Used::Written));
            for (variable, used) in reads.chain(writes) {
                if dies(graph, edge.to, variable) && worth_it(&flow.el(el).node, used) {
                    let dead = &mut flow.el_mut(el).merge.dead;
                    if !dead.contains(&variable) {
                        dead.insert(0, variable);
                    }
                }
            }
        }
    }
}

/// Whether no path from a state reads a variable before it writes it. Like Spin's search, this one is
/// content with the first edge of a state that uses the variable.
fn dies(graph: &Graph, from: u32, variable: VariableId) -> bool {
    let mut seen = HashSet::new();
    let mut waiting = vec![from];
    while let Some(number) = waiting.pop() {
        if number == 0 || !seen.insert(number) {
            continue;
        }
        let Some(state) = graph.state(number) else { continue };
        let mut targets = Vec::new();
        for edge in &state.edges {
            if edge.uses.reads.contains(&variable) {
                return false;
            }
            if edge.uses.writes.contains(&variable) {
                break;
            }
            targets.push(edge.to);
        }
        waiting.extend(targets.into_iter().rev());
    }
    true
}

/// Spin resets only what it can undo.
fn worth_it(node: &Node, used: Used) -> bool {
    match (node, used) {
        (Node::Action(Action::Assign(_, Expr::Constant(0))), Used::Written) => false,
        (_, Used::Written) => true,
        (Node::Action(Action::Guard(_) | Action::Receive(_)), Used::Read) => true,
        (_, Used::Read) => false,
    }
}
