//! Büchi automata while they are being made: guards on transitions, and marks of acceptance sets.
//!
//! A run is accepting if each mark of [`Graph::every`] occurs on infinitely many of its transitions. A
//! *state-based* automaton is one with a single mark that stands on all transitions of a state or on none.

use super::TooLarge;
use super::boolean::{Condition, Conditions, FALSE};
use fabius_base::components::Components;

/// A transition.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Edge {
    pub(super) target: u32,
    /// Bits: the acceptance sets it is in.
    pub(super) marks: u64,
    pub(super) guard: Condition,
}

/// An automaton.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Graph {
    pub(super) initial: u32,
    /// The transitions of each state.
    pub(super) edges: Vec<Vec<Edge>>,
    /// Bits: all acceptance sets.
    pub(super) every: u64,
}

/// The strongly connected components of the transitions that `counts`.
pub(super) fn components(graph: &Graph, counts: impl Fn(usize, &Edge) -> bool) -> Components {
    let counts = &counts;
    fabius_base::components::components(graph.edges.len(), |state| {
        let edges = graph.edges[state as usize].iter();
        edges.filter(move |edge| counts(state as usize, edge)).map(|edge| edge.target)
    })
}

impl Graph {
    pub(super) fn edge_count(&self) -> usize {
        self.edges.iter().map(Vec::len).sum()
    }

    /// States count first.
    pub(super) fn size(&self) -> (usize, usize) {
        (self.edges.len(), self.edge_count())
    }

    /// The union of the marks inside each component; 0 also for one without any transition inside.
    pub(super) fn marks_inside(&self, components: &Components) -> Vec<Inside> {
        let mut inside = vec![Inside::default(); components.count];
        for (state, edges) in self.edges.iter().enumerate() {
            for edge in edges.iter().filter(|e| components.joins(state as u32, e.target)) {
                let component = &mut inside[components.of[state] as usize];
                component.all = if component.cyclic { component.all & edge.marks } else { edge.marks };
                component.some |= edge.marks;
                component.cyclic = true;
            }
        }
        inside
    }

    /// Joins parallel transitions with the same marks, and leaves out those that cannot be taken.
    pub(super) fn join_parallel(&mut self, conditions: &mut Conditions) -> Result<(), TooLarge> {
        for edges in &mut self.edges {
            edges.sort_unstable();
            let mut joined: Vec<Edge> = Vec::new();
            for edge in edges.drain(..).filter(|e| e.guard != FALSE) {
                match joined.last_mut() {
                    Some(last) if (last.target, last.marks) == (edge.target, edge.marks) => {
                        last.guard = conditions.or(last.guard, edge.guard)?;
                    }
                    _ => joined.push(edge),
                }
            }
            *edges = joined;
        }
        Ok(())
    }

    /// Keeps the states that are reached and from which a run can be accepting; numbers them in the order of a
    /// breadth-first search.
    pub(super) fn trim(&mut self) {
        let components = components(self, |_, _| true);
        let inside = self.marks_inside(&components);
        // Components are numbered from the leaves on.
        let mut alive: Vec<bool> = inside.iter().map(|c| c.cyclic && c.some == self.every).collect();
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); components.count];
        for (state, component) in components.of.iter().enumerate() {
            members[*component as usize].push(state);
        }
        for (component, states) in members.iter().enumerate() {
            let mut targets = states.iter().flat_map(|s| &self.edges[*s]).map(|e| components.of[e.target as usize]);
            alive[component] = alive[component] || targets.any(|t| t as usize != component && alive[t as usize]);
        }
        let useful = |state: u32| alive[components.of[state as usize] as usize];
        let mut numbers = vec![u32::MAX; self.edges.len()];
        let mut order = vec![self.initial];
        numbers[self.initial as usize] = 0;
        let mut edges: Vec<Vec<Edge>> = Vec::new();
        while let Some(&state) = order.get(edges.len()) {
            let mut outgoing = std::mem::take(&mut self.edges[state as usize]);
            outgoing.retain(|e| useful(e.target));
            for edge in &mut outgoing {
                let number = &mut numbers[edge.target as usize];
                if *number == u32::MAX {
                    *number = order.len() as u32;
                    order.push(edge.target);
                }
                edge.target = *number;
            }
            edges.push(outgoing);
        }
        self.edges = edges;
        self.initial = 0;
    }
}

/// What marks a component has on the transitions inside it.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Inside {
    /// It has a cycle.
    pub(super) cyclic: bool,
    /// On at least one transition.
    pub(super) some: u64,
    /// On every transition.
    pub(super) all: u64,
}
