//! From several acceptance sets on transitions to one on states.
//!
//! The usual counter (Gastin and Oddoux, CAV 2001, section 6; Giannakopoulou and Lerda, FORTE 2002, section 4),
//! used component by component: a copy `(q, l)` of a state has seen the first `l` marks of an order, and is
//! accepting if it has seen all that its component needs. Marks that stand on every transition of a component
//! need not be waited for, and a component without accepting run needs a single copy.
//!
//! The size depends on the order of the marks and on where a component is entered, so several ways are tried
//! ([`Way::all`]) and the smallest result is kept.

use super::TooLarge;
use super::boolean::Conditions;
use super::graph::{Components, Edge, Graph, Inside, components};
use super::simplify::{Free, Marks, simplify};
use std::collections::HashMap;

/// At most so many states.
const STATES_MAX: usize = 4_000;
/// With more marks than this, only rotations of their order are tried.
const PERMUTED_MAX: usize = 4;
/// An automaton with more transitions than this is made in one way only.
const TRIED_EDGES_MAX: usize = 400;

/// A way to make the copies.
struct Way {
    /// The order in which marks are waited for.
    order: Vec<u64>,
    /// A component is entered as if all had been seen (which then counts once).
    enter_last: bool,
    /// Marks that every transition of a state has count already when the state is reached.
    look_ahead: bool,
    /// What to do first with marks that do not matter.
    free: [Free; 2],
}

impl Way {
    fn all(every: u64) -> Vec<Self> {
        let marks: Vec<u64> = (0..64).map(|bit| 1 << bit).filter(|bit| every & bit != 0).collect();
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

fn permutations(marks: &[u64]) -> Vec<Vec<u64>> {
    let mut all = vec![Vec::new()];
    for &mark in marks {
        let longer = |p: &Vec<u64>| {
            let p = p.clone();
            (0..=p.len()).map(move |at| [&p[..at], &[mark], &p[at..]].concat())
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

fn rotations(marks: &[u64]) -> Vec<Vec<u64>> {
    (0..marks.len().max(1)).map(|at| [&marks[at..], &marks[..at]].concat()).collect()
}

/// The smallest state-based automaton that is found.
pub(super) fn degeneralise(graph: &Graph, conditions: &mut Conditions) -> Result<Graph, TooLarge> {
    let mut ways = Way::all(graph.every);
    if graph.edge_count() > TRIED_EDGES_MAX {
        ways.truncate(1);
    }
    let mut best: Option<Graph> = None;
    for way in ways {
        let mut made = by_levels(graph, &way)?;
        simplify(&mut made, conditions, Marks::OnStates, way.free)?;
        let size = |g: &Graph| (g.edges.len(), g.edge_count());
        if best.as_ref().is_none_or(|best| size(&made) < size(best)) {
            best = Some(made);
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
}

fn by_levels(graph: &Graph, way: &Way) -> Result<Graph, TooLarge> {
    let components = components(graph, |_, _| true);
    let inside = graph.marks_inside(&components);
    let ahead = |(state, edges): (usize, &Vec<Edge>)| {
        let own = edges.iter().filter(|e| components.joins(state, e.target));
        if way.look_ahead { own.fold(graph.every, |marks, e| marks & e.marks) } else { 0 }
    };
    let ahead = graph.edges.iter().enumerate().map(ahead).collect();
    let levels = Levels { graph, components, inside, ahead, way };
    let first = (graph.initial, levels.entry(graph.initial));
    let mut numbers = HashMap::from([(first, 0_u32)]);
    let mut order = vec![first];
    let mut edges: Vec<Vec<Edge>> = Vec::new();
    while let Some(&(state, level)) = order.get(edges.len()) {
        let marks = u64::from(levels.accepting(state, level));
        let mut outgoing = Vec::new();
        for edge in &graph.edges[state as usize] {
            let copy = (edge.target, levels.after(state, level, edge));
            let target = *numbers.entry(copy).or_insert(order.len() as u32);
            if target as usize == order.len() {
                order.push(copy);
            }
            outgoing.push(Edge { target, marks, guard: edge.guard });
        }
        if order.len() > STATES_MAX {
            return Err(TooLarge::Automaton);
        }
        edges.push(outgoing);
    }
    Ok(Graph { initial: 0, edges, every: 1 })
}

impl Levels<'_> {
    fn component(&self, state: u32) -> Inside {
        self.inside[self.components.of[state as usize] as usize]
    }

    /// The marks to wait for, in order.
    fn needed(&self, state: u32) -> impl Iterator<Item = u64> {
        let component = self.component(state);
        let live = component.cyclic && component.some == self.graph.every;
        self.way.order.iter().copied().filter(move |mark| live && component.all & mark == 0)
    }

    fn accepting(&self, state: u32, level: usize) -> bool {
        let component = self.component(state);
        component.cyclic && component.some == self.graph.every && level == self.needed(state).count()
    }

    fn entry(&self, state: u32) -> usize {
        if self.way.enter_last { self.needed(state).count() } else { self.advance(state, 0, 0) }
    }

    /// The level when the marks are seen, and those that are ahead.
    fn advance(&self, state: u32, level: usize, marks: u64) -> usize {
        let ahead = self.ahead[state as usize];
        let from = level + self.needed(state).skip(level).take_while(|mark| marks & mark != 0).count();
        from + self.needed(state).skip(from).take_while(|mark| ahead & mark != 0).count()
    }

    fn after(&self, state: u32, level: usize, edge: &Edge) -> usize {
        if !self.components.joins(state as usize, edge.target) {
            return self.entry(edge.target);
        }
        let from = if level == self.needed(state).count() { 0 } else { level };
        self.advance(edge.target, from, edge.marks)
    }
}
