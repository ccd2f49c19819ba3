//! Dead locals: a local whose value is not read again before it is written is set to 0, so that states
//! which differ only in it become one.
//!
//! Like Spin's search, this one is content with the first edge of a state that uses the variable. Whether a variable
//! is read later is found out for all states at once, backwards from the states that read it, so that its cost is that
//! of the states in which the variable is live.

use super::graph::Graph;
use crate::flow::{El, Flow, Node};
use fabius_base::Cancel;
use fabius_program::{Action, Expr, VariableId};
use std::collections::BTreeMap;

/// How a variable that is dead after an edge was used by it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Used {
    Read,
    Written,
}

/// An edge that uses a variable, which may be reset after it.
struct Candidate {
    el: El,
    to: u32,
}

/// What concerns one variable.
#[derive(Default)]
struct Variable {
    /// Candidates, by their number in order.
    candidates: Vec<(usize, Candidate)>,
    /// States that use it, with the first edge that does, and whether that one reads it.
    first_uses: Vec<(usize, usize, bool)>,
}

pub(super) fn reset_dead_locals(flow: &mut Flow, graph: &Graph, cancel: &Cancel) {
    let mut lives = Lives::new(graph);
    let mut dead: Vec<(usize, El, VariableId)> = Vec::new();
    for (variable, uses) in variables(flow, graph) {
        if cancel.requested().is_some() {
            return;
        }
        lives.follow(&uses.first_uses);
        let dying = uses.candidates.into_iter().filter(|(_, candidate)| !lives.is_live(candidate.to));
        dead.extend(dying.map(|(order, candidate)| (order, candidate.el, variable)));
    }
    dead.sort_by_key(|(order, _, _)| *order);
    for (_, el, variable) in dead {
        let there = &mut flow.el_mut(el).merge.dead;
        if !there.contains(&variable) {
            there.insert(0, variable);
        }
    }
}

/// All variables that edges use; the candidates are in the order in which Spin looks at them.
fn variables(flow: &Flow, graph: &Graph) -> BTreeMap<VariableId, Variable> {
    let mut variables: BTreeMap<VariableId, Variable> = BTreeMap::new();
    let mut order = 0;
    // Newest states first.
    for (index, state) in graph.states.iter().enumerate().rev() {
        for (number, edge) in state.edges.iter().enumerate() {
            let reads = edge.uses.reads.iter().map(|v| (*v, Used::Read));
            let writes = edge.uses.writes.iter().map(|v| (*v, Used::Written));
            for (variable, used) in reads.chain(writes) {
                let of = variables.entry(variable).or_default();
                if of.first_uses.last().is_none_or(|(state, _, _)| *state != index) {
                    of.first_uses.push((index, number, used == Used::Read));
                }
                if let Some(el) = edge.el.filter(|el| worth_it(&flow.el(*el).node, used)) {
                    of.candidates.push((order, Candidate { el, to: edge.to }));
                    order += 1;
                }
            }
        }
    }
    variables
}

/// In which states one variable is live: some path reads it before it writes it.
struct Lives<'g> {
    graph: &'g Graph,
    /// Of each state: the states that lead to it, and by which of their edges.
    sources: Vec<Vec<(usize, usize)>>,
    /// Of each state: which variable (by number, from 1) was found to be live in it last.
    live: Vec<usize>,
    /// Of each state: which variable was found to be used by it last, and by which edge first.
    used: Vec<(usize, usize)>,
    variable: usize,
}

impl<'g> Lives<'g> {
    fn new(graph: &'g Graph) -> Self {
        let mut sources = vec![Vec::new(); graph.states.len()];
        for (index, state) in graph.states.iter().enumerate() {
            for (number, edge) in state.edges.iter().enumerate() {
                if let Some(to) = graph.index(edge.to) {
                    sources[to].push((index, number));
                }
            }
        }
        let count = graph.states.len();
        Self { graph, sources, live: vec![0; count], used: vec![(0, 0); count], variable: 0 }
    }

    /// Follows the next variable.
    fn follow(&mut self, first_uses: &[(usize, usize, bool)]) {
        self.variable += 1;
        let mut waiting = Vec::new();
        for (state, edge, reads) in first_uses {
            self.used[*state] = (self.variable, *edge);
            if *reads {
                self.live[*state] = self.variable;
                waiting.push(*state);
            }
        }
        while let Some(state) = waiting.pop() {
            for (source, edge) in &self.sources[state] {
                let (used_by, first) = self.used[*source];
                let behind_use = used_by == self.variable && first <= *edge;
                if self.live[*source] != self.variable && !behind_use {
                    self.live[*source] = self.variable;
                    waiting.push(*source);
                }
            }
        }
    }

    fn is_live(&self, state: u32) -> bool {
        self.graph.index(state).is_some_and(|index| self.live[index] == self.variable)
    }
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

#[cfg(test)]
mod tests {
    use super::super::facts::Uses;
    use super::super::graph::{Edge, State};
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    const VARIABLE: VariableId = VariableId(0);

    /// The definition: no path from a state reads the variable before it writes it, where the first edge of a state that
    /// uses the variable decides.
    fn dies(graph: &Graph, from: u32) -> bool {
        let (mut seen, mut waiting) = (HashSet::new(), vec![from]);
        while let Some(number) = waiting.pop() {
            let Some(state) = graph.state(number).filter(|_| number != 0 && seen.insert(number)) else { continue };
            for edge in &state.edges {
                if edge.uses.reads.contains(&VARIABLE) {
                    return false;
                }
                if edge.uses.writes.contains(&VARIABLE) {
                    break;
                }
                waiting.push(edge.to);
            }
        }
        true
    }

    fn edge((to, reads, writes): (u32, bool, bool)) -> Edge {
        let list = |used: bool| if used { vec![VARIABLE] } else { Vec::new() };
        Edge { to, el: None, uses: Uses { reads: list(reads), writes: list(writes) } }
    }

    proptest! {
        #[test]
        fn a_variable_is_live_where_the_definition_says_so(
            states in prop::collection::vec(
                prop::collection::vec((0u32..8, prop::bool::weighted(0.2), prop::bool::weighted(0.2)), 0..4), 1..8),
        ) {
            let edges = |list: Vec<_>| State { entered: 0, edges: list.into_iter().map(edge).collect() };
            let graph = Graph::of_states(states.into_iter().map(edges).collect());
            let uses = variables(&Flow::new(), &graph).remove(&VARIABLE).unwrap_or_default();
            let mut lives = Lives::new(&graph);
            lives.follow(&uses.first_uses);
            for state in 0..8 {
                prop_assert_eq!(lives.is_live(state), !dies(&graph, state), "state {}", state);
            }
        }
    }
}
