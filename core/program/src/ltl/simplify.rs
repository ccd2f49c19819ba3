//! Making an automaton smaller without changing what it accepts.
//!
//! * States that are not reached, or from which no run is accepting, are left out.
//! * Marks where they do not matter (on transitions between components, in components without accepting run,
//!   and where every cycle has the mark anyway) are chosen in one of two ways, [`Free`].
//! * States are joined, and transitions left out, by direct simulation (Dill, Hu, Wong-Toi 1991; Somenzi and
//!   Bloem, CAV 2000, section 5; for marks on transitions, Babiak, Badie, Duret-Lutz, Křetínský, Strejček,
//!   *Compositional approach to suspension …*, SPIN 2013, section 4): `t` simulates `s` if for every valuation and
//!   every transition of `s` there is one of `t` with at least the marks of the other, to a state that simulates
//!   the other's target.
//! * States are joined by the same relation on the reversed automaton.
//!
//! Every step is a direct simulation of an automaton as it stands, so that each of them preserves the language
//! by itself.

use super::TooLarge;
use super::boolean::{Conditions, FALSE};
use super::graph::{Edge, Graph, components};
use fabius_base::components::Components;
use std::collections::VecDeque;

/// With more states or transitions than this, simulation takes too long; only equal states are joined.
const SIMULATED_STATES_MAX: usize = 150;
const SIMULATED_EDGES_MAX: usize = 1_000;

/// What to do with marks that do not matter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Free {
    /// Set them.
    All,
    /// Do not set them.
    None,
}

/// Where marks stand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Marks {
    /// On transitions.
    OnEdges,
    /// On states: a state has one on all its transitions or on none.
    OnStates,
}

/// Simplifies until nothing changes.
pub(super) fn simplify(
    graph: &mut Graph,
    conditions: &mut Conditions,
    marks: Marks,
    order: [Free; 2],
) -> Result<(), TooLarge> {
    loop {
        let before = graph.size();
        for free in order {
            graph.trim();
            set_free_marks(graph, marks, free);
            graph.join_parallel(conditions)?;
            join_equal(graph);
            if graph.edges.len() <= SIMULATED_STATES_MAX && graph.edge_count() <= SIMULATED_EDGES_MAX {
                by_simulation(graph, conditions)?;
                graph.trim();
                by_reverse_simulation(graph, conditions, marks)?;
            }
            graph.trim();
            graph.join_parallel(conditions)?;
        }
        if graph.size() == before {
            return Ok(());
        }
    }
}

/// Sets or deletes the marks that do not matter.
pub(super) fn set_free_marks(graph: &mut Graph, marks: Marks, free: Free) {
    let whole = components(graph, |_, _| true);
    let inside = graph.marks_inside(&whole);
    let every = graph.every;
    let accepting = |state: usize| {
        let component = inside[whole.of[state] as usize];
        component.cyclic && component.some == every
    };
    let chosen = if free == Free::All { every } else { 0 };
    for state in 0..graph.edges.len() {
        let component = inside[whole.of[state] as usize];
        let accepting = accepting(state);
        for edge in &mut graph.edges[state] {
            let outside = match marks {
                Marks::OnEdges => whole.of[state] != whole.of[edge.target as usize],
                Marks::OnStates => !component.cyclic,
            };
            if outside {
                edge.marks = chosen;
            } else if !accepting {
                edge.marks = 0;
            }
        }
    }
    if free == Free::All {
        complete(graph, marks, &whole);
    }
}

/// Sets a mark where every cycle has it anyway.
fn complete(graph: &mut Graph, marks: Marks, whole: &Components) {
    let inside = graph.marks_inside(whole);
    for bit in (0..64).map(|bit| 1_u64 << bit).filter(|bit| graph.every & bit != 0) {
        let without = components(graph, |state, edge| whole.joins(state as u32, edge.target) && edge.marks & bit == 0);
        let mut cyclic = vec![false; without.count];
        for (state, edges) in graph.edges.iter().enumerate() {
            let stays = |e: &Edge| e.marks & bit == 0 && without.joins(state as u32, e.target);
            cyclic[without.of[state] as usize] |= edges.iter().any(stays);
        }
        for (state, edges) in graph.edges.iter_mut().enumerate() {
            if inside[whole.of[state] as usize].some != graph.every {
                continue;
            }
            let free_state = !cyclic[without.of[state] as usize];
            for edge in edges {
                let free_edge = whole.joins(state as u32, edge.target) && !without.joins(state as u32, edge.target);
                if free_state || marks == Marks::OnEdges && free_edge {
                    edge.marks |= bit;
                }
            }
        }
    }
}

/// Joins states with the same transitions.
fn join_equal(graph: &mut Graph) {
    loop {
        let mut classes: std::collections::HashMap<Vec<Edge>, u32> = std::collections::HashMap::new();
        let mut map: Vec<u32> = Vec::new();
        for (state, edges) in graph.edges.iter_mut().enumerate() {
            edges.sort_unstable();
            edges.dedup();
            map.push(*classes.entry(edges.clone()).or_insert(state as u32));
        }
        if map.iter().enumerate().all(|(state, class)| state as u32 == *class) {
            return;
        }
        graph.initial = map[graph.initial as usize];
        graph.edges.iter_mut().flatten().for_each(|e| e.target = map[e.target as usize]);
        graph.trim();
    }
}

/// A relation between states.
struct Relation {
    size: usize,
    holds: Vec<bool>,
}

impl Relation {
    fn get(&self, s: u32, t: u32) -> bool {
        self.holds[s as usize * self.size + t as usize]
    }

    fn both(&self, s: u32, t: u32) -> bool {
        self.get(s, t) && self.get(t, s)
    }

    /// The greatest relation each of whose pairs may stay, given the relation itself. Whether a pair may stay depends on
    /// the pairs of states that `edges` lead to, so that it is asked again when one of those is gone.
    fn greatest(
        edges: &[Vec<Edge>],
        mut may_stay: impl FnMut(&Self, usize, usize) -> Result<bool, TooLarge>,
    ) -> Result<Self, TooLarge> {
        let size = edges.len();
        let sources = sources(edges);
        let mut relation = Self { size, holds: vec![true; size * size] };
        let mut pending: VecDeque<(usize, usize)> = (0..size).flat_map(|s| (0..size).map(move |t| (s, t))).collect();
        let mut is_pending = vec![true; size * size];
        while let Some((s, t)) = pending.pop_front() {
            is_pending[s * size + t] = false;
            if s == t || !relation.holds[s * size + t] || may_stay(&relation, s, t)? {
                continue;
            }
            relation.holds[s * size + t] = false;
            for &a in &sources[s] {
                for &b in &sources[t] {
                    let pair = a * size + b;
                    if relation.holds[pair] && !std::mem::replace(&mut is_pending[pair], true) {
                        pending.push_back((a, b));
                    }
                }
            }
        }
        Ok(relation)
    }

    /// The first state that is equivalent to each.
    fn classes(&self) -> Vec<u32> {
        let n = self.size as u32;
        (0..n).map(|s| (0..s).find(|&t| self.both(s, t)).unwrap_or(s)).collect()
    }
}

/// From where each state is reached.
fn sources(edges: &[Vec<Edge>]) -> Vec<Vec<usize>> {
    let mut sources = vec![Vec::new(); edges.len()];
    for (source, edges) in edges.iter().enumerate() {
        for edge in edges {
            sources[edge.target as usize].push(source);
        }
    }
    sources.iter_mut().for_each(Vec::dedup);
    sources
}

/// Whether for every valuation the transitions `others` have one that does what `edge` does, and more.
fn covered(relation: &Relation, conditions: &mut Conditions, edge: &Edge, others: &[Edge]) -> Result<bool, TooLarge> {
    let better = |other: &&Edge| edge.marks & !other.marks == 0 && relation.get(edge.target, other.target);
    if others.iter().filter(better).any(|other| other.guard == edge.guard) {
        return Ok(true);
    }
    let mut left = edge.guard;
    for other in others {
        if better(&other) {
            let elsewhere = conditions.not(other.guard)?;
            left = conditions.and(left, elsewhere)?;
            if left == FALSE {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

fn all_covered(
    relation: &Relation,
    conditions: &mut Conditions,
    edges: &[Edge],
    others: &[Edge],
) -> Result<bool, TooLarge> {
    for edge in edges {
        if !covered(relation, conditions, edge, others)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Joins states that simulate each other, and restricts transitions to where there is no better one.
fn by_simulation(graph: &mut Graph, conditions: &mut Conditions) -> Result<(), TooLarge> {
    let relation = Relation::greatest(&graph.edges, |relation, s, t| {
        all_covered(relation, conditions, &graph.edges[s], &graph.edges[t])
    })?;
    let classes = relation.classes();
    quotient(graph, &classes);
    graph.join_parallel(conditions)?;
    for edges in &mut graph.edges {
        let before = edges.clone();
        for (at, edge) in edges.iter_mut().enumerate() {
            for (other_at, other) in before.iter().enumerate() {
                let better = before[at].marks & !other.marks == 0 && relation.get(before[at].target, other.target);
                if at != other_at && better {
                    let elsewhere = conditions.not(other.guard)?;
                    edge.guard = conditions.and(edge.guard, elsewhere)?;
                }
            }
        }
        edges.retain(|e| e.guard != FALSE);
    }
    Ok(())
}

/// Joins states that are reached in the same ways.
fn by_reverse_simulation(graph: &mut Graph, conditions: &mut Conditions, marks: Marks) -> Result<(), TooLarge> {
    let mut incoming: Vec<Vec<Edge>> = vec![Vec::new(); graph.edges.len()];
    for (source, edges) in graph.edges.iter().enumerate() {
        for edge in edges {
            incoming[edge.target as usize].push(Edge { target: source as u32, ..*edge });
        }
    }
    let initial = graph.initial as usize;
    let marks_of = |state: usize| match marks {
        Marks::OnEdges => 0,
        Marks::OnStates => graph.edges[state].first().map_or(0, |e| e.marks),
    };
    let relation = Relation::greatest(&incoming, |relation, s, t| {
        if s == initial && t != initial || marks_of(s) & !marks_of(t) != 0 {
            return Ok(false);
        }
        all_covered(relation, conditions, &incoming[s], &incoming[t])
    })?;
    quotient(graph, &relation.classes());
    Ok(())
}

/// Joins the states of each class.
fn quotient(graph: &mut Graph, classes: &[u32]) {
    let edges = std::mem::take(&mut graph.edges);
    graph.edges = vec![Vec::new(); edges.len()];
    for (state, outgoing) in edges.into_iter().enumerate() {
        let mapped = outgoing.into_iter().map(|e| Edge { target: classes[e.target as usize], ..e });
        graph.edges[classes[state] as usize].extend(mapped);
    }
    graph.initial = classes[graph.initial as usize];
}
