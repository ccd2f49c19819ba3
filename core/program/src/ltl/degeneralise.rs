//! From several acceptance sets on transitions to one on states.
//!
//! The usual counter (Gastin and Oddoux, CAV 2001, section 6; Giannakopoulou and Lerda, FORTE 2002, section 4),
//! used component by component: a copy `(q, l)` of a state has seen the first `l` marks of an order, and is
//! accepting if it has seen all that its component needs. Marks that stand on every transition of a component
//! need not be waited for, and a component without accepting run needs a single copy.
//!
//! A condition that a run has to meet again and again can be waited for in the same way ([`Mark::Letter`]), without
//! an acceptance set of its own: an automaton with a set for each of *n* conditions would need up to 2ⁿ parallel
//! transitions.
//!
//! The size depends on the order of the marks and on where a component is entered, so several ways are tried
//! ([`Way::all`]) and the smallest result is kept.

use super::TooLarge;
use super::boolean::{Condition, Conditions, FALSE};
use super::graph::{Edge, Graph, Inside, components};
use super::simplify::{Free, Marks, simplify};
use fabius_base::components::Components;
use std::collections::HashMap;

/// At most this many states.
const STATES_MAX: usize = 4_000;
/// With more marks than this, only rotations of their order are tried.
const PERMUTED_MAX: usize = 4;
/// Together, the automata that are made in different ways may have about this many transitions.
const TRIED_EDGES_MAX: usize = 4_000;

/// What a run has to see again and again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mark {
    /// A transition in this acceptance set.
    Edge(u64),
    /// A letter of which this holds.
    Letter(Condition),
}

/// A way to make the copies.
struct Way {
    /// The order in which marks are waited for.
    order: Vec<Mark>,
    /// A component is entered as if all had been seen (which then counts once).
    enter_last: bool,
    /// Marks that every transition of a state has count already when the state is reached.
    look_ahead: bool,
    /// What to do first with marks that do not matter.
    free: [Free; 2],
}

impl Way {
    fn all(every: u64, letters: &[Condition]) -> Vec<Self> {
        let bits = (0..64).map(|bit| 1 << bit).filter(|bit| every & bit != 0);
        let marks: Vec<Mark> = bits.map(Mark::Edge).chain(letters.iter().copied().map(Mark::Letter)).collect();
        let orders = if marks.len() <= PERMUTED_MAX { permutations(&marks) } else { rotations(&marks) };
        let mut ways = Vec::new();
        for order in orders {
            for (enter_last, look_ahead) in [(false, false), (true, false), (false, true), (true, true)] {
                for free in [[Free::All, Free::None], [Free::None, Free::All]] {
                    ways.push(Self { order: order.clone(), enter_last, look_ahead, free });
                }
            }
        }
        ways
    }
}

fn permutations(marks: &[Mark]) -> Vec<Vec<Mark>> {
    let mut all = vec![Vec::new()];
    for &mark in marks {
        let longer = |p: &Vec<Mark>| {
            let p = p.clone();
            (0..=p.len()).map(move |at| [&p[..at], &[mark], &p[at..]].concat())
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

fn rotations(marks: &[Mark]) -> Vec<Vec<Mark>> {
    (0..marks.len().max(1)).map(|at| [&marks[at..], &marks[..at]].concat()).collect()
}

/// The smallest state-based automaton that is found for the runs that moreover see each of `letters` again and again.
pub(super) fn degeneralise(
    graph: &Graph,
    letters: &[Condition],
    conditions: &mut Conditions,
) -> Result<Graph, TooLarge> {
    let mut ways = Way::all(graph.every, letters);
    let copies = graph.every.count_ones() as usize + letters.len() + 1;
    ways.truncate((TRIED_EDGES_MAX / (graph.edge_count() * copies).max(1)).max(1));
    let mut best: Option<Graph> = None;
    for way in ways {
        let mut made = match by_levels(graph, &way, conditions) {
            Ok(made) => made,
            Err(_) if best.is_some() => break,
            Err(why) => return Err(why),
        };
        let simplified = simplify(&mut made, conditions, Marks::OnStates, way.free);
        if simplified.is_err() && best.is_some() {
            break;
        }
        simplified?;
        if best.as_ref().is_none_or(|best| made.size() < best.size()) {
            best = Some(made);
        }
        // A single copy of each state cannot be improved upon.
        if best.as_ref().is_some_and(|best| best.edges.len() <= graph.edges.len()) {
            break;
        }
    }
    best.ok_or(TooLarge::Automaton)
}

/// A graph on its way to its copies.
struct Levels<'a> {
    graph: &'a Graph,
    components: Components,
    inside: Vec<Inside>,
    /// For each state, the marks that all its transitions inside its component have.
    ahead: Vec<u64>,
    way: &'a Way,
    conditions: &'a mut Conditions,
}

fn by_levels(graph: &Graph, way: &Way, conditions: &mut Conditions) -> Result<Graph, TooLarge> {
    let components = components(graph, |_, _| true);
    let inside = graph.marks_inside(&components);
    let ahead = |(state, edges): (usize, &Vec<Edge>)| {
        let own = edges.iter().filter(|e| components.joins(state as u32, e.target));
        if way.look_ahead { own.fold(graph.every, |marks, e| marks & e.marks) } else { 0 }
    };
    let ahead = graph.edges.iter().enumerate().map(ahead).collect();
    let mut levels = Levels { graph, components, inside, ahead, way, conditions };
    let first = (graph.initial, levels.entry(graph.initial));
    let mut numbers = HashMap::from([(first, 0_u32)]);
    let mut order = vec![first];
    let mut edges: Vec<Vec<Edge>> = Vec::new();
    while let Some(&(state, level)) = order.get(edges.len()) {
        let marks = u64::from(levels.accepting(state, level));
        let mut outgoing = Vec::new();
        for edge in &graph.edges[state as usize] {
            for (guard, level) in levels.after(state, level, edge)? {
                let copy = (edge.target, level);
                let target = *numbers.entry(copy).or_insert(order.len() as u32);
                if target as usize == order.len() {
                    order.push(copy);
                }
                outgoing.push(Edge { target, marks, guard });
            }
        }
        if order.len() > STATES_MAX {
            return Err(TooLarge::Automaton);
        }
        edges.push(outgoing);
    }
    Ok(Graph { initial: 0, edges, every: 1 })
}

impl Levels<'_> {
    /// Whether a run can stay in the component of a state and be accepting.
    fn is_live(&self, state: u32) -> bool {
        let component = self.inside[self.components.of[state as usize] as usize];
        component.cyclic && component.some == self.graph.every
    }

    /// The marks to wait for, in order.
    fn needed(&self, state: u32) -> Vec<Mark> {
        if !self.is_live(state) {
            return Vec::new();
        }
        let component = self.inside[self.components.of[state as usize] as usize];
        let needed = |mark: &Mark| !matches!(mark, Mark::Edge(bit) if component.all & bit != 0);
        self.way.order.iter().copied().filter(needed).collect()
    }

    fn accepting(&self, state: u32, level: usize) -> bool {
        self.is_live(state) && level == self.needed(state).len()
    }

    fn entry(&self, state: u32) -> usize {
        if self.way.enter_last { self.needed(state).len() } else { self.look_ahead(state, 0) }
    }

    /// The level when also the marks are counted that follow in any case.
    fn look_ahead(&self, state: u32, level: usize) -> usize {
        let ahead = self.ahead[state as usize];
        let follows = |mark: &&Mark| matches!(mark, Mark::Edge(bit) if ahead & bit != 0);
        level + self.needed(state).iter().skip(level).take_while(follows).count()
    }

    /// The levels that a transition leads to, each with the condition for it.
    fn after(&mut self, state: u32, level: usize, edge: &Edge) -> Result<Vec<(Condition, usize)>, TooLarge> {
        if !self.components.joins(state, edge.target) {
            return Ok(vec![(edge.guard, self.entry(edge.target))]);
        }
        let needed = self.needed(state);
        let mut at = if level == needed.len() { 0 } else { level };
        let mut guard = edge.guard;
        let mut after = Vec::new();
        while let Some(mark) = needed.get(at) {
            match *mark {
                Mark::Edge(bit) if edge.marks & bit == 0 => break,
                Mark::Edge(_) => {}
                Mark::Letter(letter) => {
                    let other = self.conditions.not(letter)?;
                    let waits = self.conditions.and(guard, other)?;
                    after.push((waits, self.look_ahead(edge.target, at)));
                    guard = self.conditions.and(guard, letter)?;
                }
            }
            at += 1;
        }
        after.push((guard, self.look_ahead(edge.target, at)));
        after.retain(|(guard, _)| *guard != FALSE);
        Ok(after)
    }
}
