//! Joining states of which no simulation says that they may be joined, and asking whether it did any harm.
//!
//! Joining two states can only add words to what an automaton accepts. Whether it added one can be told exactly,
//! since the automaton of the negated formula is at hand: no word may be accepted by both. Automata of formulas
//! are small, and so are their products.
//!
//! An example is `<> p || []<> q`: a run may stay in the first state, instead of one of its own, for as long as it
//! waits for `p`, since `[]<> q` can be decided upon at any time.

use super::TooLarge;
use super::boolean::{Conditions, FALSE};
use super::graph::{Edge, Graph, components};
use super::simplify::{Free, Marks, simplify};
use std::collections::HashMap;

/// Larger automata are left as they are.
const STATES_MAX: usize = 16;
/// Products with more transitions than this are not made.
const PRODUCT_EDGES_MAX: usize = 4_000;

/// Joins states of a state-based automaton as long as it accepts no word that `opposite` accepts.
pub(super) fn join_states(graph: &mut Graph, opposite: &Graph, conditions: &mut Conditions) -> Result<(), TooLarge> {
    while graph.edges.len() <= STATES_MAX {
        let Some(smaller) = joined(graph, opposite, conditions)? else { return Ok(()) };
        *graph = smaller;
    }
    Ok(())
}

/// The automaton with two of its states joined, if there are such two.
fn joined(graph: &Graph, opposite: &Graph, conditions: &mut Conditions) -> Result<Option<Graph>, TooLarge> {
    for s in 0..graph.edges.len() as u32 {
        for t in 0..s {
            let mut candidate = join(graph, t, s);
            candidate.join_parallel(conditions)?;
            if are_disjoint(&candidate, opposite, conditions)? {
                simplify(&mut candidate, conditions, Marks::OnStates, [Free::All, Free::None])?;
                if candidate.edges.len() < graph.edges.len() {
                    return Ok(Some(candidate));
                }
            }
        }
    }
    Ok(None)
}

/// State `t` with the transitions of `s` too, accepting if one of the two is, and reached wherever `s` was.
fn join(graph: &Graph, t: u32, s: u32) -> Graph {
    let mut joined = graph.clone();
    let moved = std::mem::take(&mut joined.edges[s as usize]);
    let own = &mut joined.edges[t as usize];
    own.extend(moved);
    let marks = own.iter().fold(0, |marks, edge| marks | edge.marks);
    own.iter_mut().for_each(|edge| edge.marks = marks);
    for edge in joined.edges.iter_mut().flatten().filter(|edge| edge.target == s) {
        edge.target = t;
    }
    if joined.initial == s {
        joined.initial = t;
    }
    joined
}

/// Whether no word is accepted by both; `false` if that is too much to ask.
fn are_disjoint(some: &Graph, others: &Graph, conditions: &mut Conditions) -> Result<bool, TooLarge> {
    let shift = some.every.count_ones();
    if others.every.leading_zeros() < shift {
        return Ok(false);
    }
    let first = (some.initial, others.initial);
    let mut numbers = HashMap::from([(first, 0_u32)]);
    let mut order = vec![first];
    let mut edges: Vec<Vec<Edge>> = Vec::new();
    let mut edge_count = 0;
    while let Some(&(s, t)) = order.get(edges.len()) {
        let mut outgoing = Vec::new();
        for a in &some.edges[s as usize] {
            for b in &others.edges[t as usize] {
                let guard = conditions.and(a.guard, b.guard)?;
                if guard == FALSE {
                    continue;
                }
                let pair = (a.target, b.target);
                let target = *numbers.entry(pair).or_insert(order.len() as u32);
                if target as usize == order.len() {
                    order.push(pair);
                }
                outgoing.push(Edge { target, marks: a.marks | b.marks << shift, guard });
            }
        }
        edge_count += outgoing.len();
        if edge_count > PRODUCT_EDGES_MAX {
            return Ok(false);
        }
        edges.push(outgoing);
    }
    let product = Graph { initial: 0, edges, every: some.every | others.every << shift };
    let inside = product.marks_inside(&components(&product, |_, _| true));
    Ok(!inside.iter().any(|component| component.cyclic && component.some == product.every))
}
