//! The states near the initial one, with all transitions between them.

use super::history::bits;
use super::{CYCLES_SHARE, Place, Search};
use crate::cycle::outcome::{Fairness, Found, Goal, Run};
use crate::model::{Marks, Next, ProcessSet, Processes};
use crate::numbered_states::NumberedStates;
use crate::observer::Observer;
use crate::store::Class;
use fabius_base::components::{Components, components};
use std::ops::{ControlFlow, Range};

/// A state.
pub(super) struct Node {
    /// Fewest steps from the initial state, as far as known.
    pub(super) distance: u64,
    /// The last transition of a path with this many steps: from which state it leads, and its number.
    parent: Option<(u32, u32)>,
    pub(super) transient: bool,
    /// Its transitions, once they are listed.
    edges: Option<(u32, u32)>,
    /// The processes that a fair scheduler may not neglect, one bit each; 0 where nobody asks.
    pub(super) enabled: u32,
    /// How many processes there are.
    pub(super) processes: u8,
}

impl Node {
    /// The numbers of its transitions; none if they are not listed.
    pub(super) fn listed(&self) -> Range<u32> {
        let (first, end) = self.edges.unwrap_or_default();
        first..end
    }
}

/// A transition.
#[derive(Clone, Copy)]
pub(super) struct Edge<L> {
    pub(super) target: u32,
    pub(super) label: Option<L>,
    pub(super) marks: Marks,
    /// The processes that take part, one bit each.
    pub(super) movers: u32,
}

impl<L> Edge<L> {
    /// How many steps it is.
    pub(super) fn steps(&self) -> u64 {
        u64::from(self.movers != 0)
    }
}

/// The states listed so far.
pub(super) struct Graph<L> {
    pub(super) states: NumberedStates,
    pub(super) nodes: Vec<Node>,
    pub(super) edges: Vec<Edge<L>>,
}

/// How far the states are listed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Listed {
    /// All that are near enough to matter.
    All,
    /// As many as were asked for.
    Enough,
    /// As many as may be.
    Most,
}

impl<L: Copy> Graph<L> {
    pub(super) fn new(hidden: usize) -> Self {
        Self { states: NumberedStates::new(hidden), nodes: Vec::new(), edges: Vec::new() }
    }

    /// The number of a state; if it has none, the next one is its own now.
    fn number_of(&mut self, state: &[u32], class: Class) -> u32 {
        self.states.find(state, class).unwrap_or(self.nodes.len() as u32)
    }

    fn is_new(&self, number: u32) -> bool {
        number as usize == self.nodes.len()
    }

    /// Adds the state that was just given a number.
    fn add(&mut self, class: Class) {
        self.nodes.push(Node {
            distance: u64::MAX,
            parent: None,
            transient: class == Class::Transient,
            edges: None,
            enabled: 0,
            processes: 0,
        });
        self.states.add(class);
    }

    pub(super) fn path_to(&self, number: u32) -> Vec<L> {
        let parent = |edge: &(u32, u32)| self.nodes[edge.0 as usize].parent;
        let edges = std::iter::successors(self.nodes[number as usize].parent, parent);
        let mut path: Vec<L> = edges.filter_map(|(_, edge)| self.edges[edge as usize].label).collect();
        path.reverse();
        path
    }

    /// The labels of the path to a place.
    pub(super) fn cycle(&self, places: &[Place], mut number: u32) -> Vec<L> {
        let mut labels = Vec::new();
        while number != 0 {
            let (before, edge) = places[number as usize].parent;
            labels.extend(self.edges[edge as usize].label);
            number = before;
        }
        labels.reverse();
        labels
    }
}

/// The strongly connected components of the transitions that a cycle may take.
pub(super) struct Parts {
    components: Components,
    /// Of each component, whether it may hold a cycle that counts.
    counting: Vec<bool>,
}

impl Parts {
    pub(super) fn of<L: Copy>(graph: &Graph<L>, goal: Goal) -> Self {
        let taken = |node: u32| {
            let edges = graph.nodes[node as usize].listed().map(|edge| &graph.edges[edge as usize]);
            edges.filter(move |edge| may_take(goal, edge.marks))
        };
        let components = components(graph.nodes.len(), |node| taken(node).map(|edge| edge.target));
        let mut counting = vec![false; components.count];
        for source in 0..graph.nodes.len() as u32 {
            let mut inside = taken(source).filter(|edge| components.joins(source, edge.target));
            let counts = inside.any(|edge| goal == Goal::Livelock || edge.marks.has(Marks::ACCEPTING));
            counting[components.of[source as usize] as usize] |= counts;
        }
        Self { components, counting }
    }

    /// Whether two states are in the same component.
    pub(super) fn together(&self, one: u32, other: u32) -> bool {
        self.components.joins(one, other)
    }

    /// Whether a cycle that counts may go through a state.
    pub(super) fn counts(&self, node: u32) -> bool {
        self.counting[self.components.of[node as usize] as usize]
    }
}

pub(super) fn may_take(goal: Goal, marks: Marks) -> bool {
    goal == Goal::AcceptanceCycle || !marks.has(Marks::PROGRESS)
}

impl<M: Processes, O: Observer<M::Label, M::Fault>> Search<'_, M, O> {
    /// Lists states, until there are this many.
    pub(super) fn list(&mut self, enough: usize) -> Run<M::Label, M::Fault, Listed> {
        while let Some(number) = self.open.pop_front() {
            let node = &self.graph.nodes[number as usize];
            if node.edges.is_some() {
                continue;
            }
            let reason = match () {
                () if self.best <= node.distance => Some(Listed::All),
                () if self.work_max - self.work_max / CYCLES_SHARE <= self.work() => Some(Listed::Most),
                () if enough <= self.graph.nodes.len() => Some(Listed::Enough),
                () => None,
            };
            if let Some(reason) = reason {
                self.open.push_front(number);
                return ControlFlow::Continue(reason);
            }
            self.expand(number)?;
        }
        ControlFlow::Continue(Listed::All)
    }

    /// Lists the transitions of a state.
    fn expand(&mut self, number: u32) -> Run<M::Label, M::Fault> {
        let (mut state, mut successor) = (Vec::new(), Vec::new());
        self.graph.states.recall(number, &mut state);
        if self.question.fairness != Fairness::None {
            let node = &mut self.graph.nodes[number as usize];
            node.processes = u8::try_from(self.model.process_count(&state)).unwrap_or(u8::MAX);
            let mut enabled = ProcessSet::EMPTY;
            self.model.enabled(&state, &mut enabled);
            node.enabled = bits(enabled.iter());
        }
        let first = self.graph.edges.len() as u32;
        let mut cursor = self.model.begin(&state);
        loop {
            self.pause()?;
            self.transitions += 1;
            match self.model.next(&state, &mut cursor, &mut successor) {
                Next::Successor { label: Some(label), .. } | Next::Broken { label, .. } if self.rests(&label) => {}
                Next::Successor { label, fault: Some(fault), .. } => self.fails(number, label, fault),
                Next::Broken { label, fault } => self.fails(number, Some(label), fault),
                Next::Successor { label, transient, marks, fault: None } => {
                    let movers = label.map(|label| self.model.movers(&label)).into_iter().flatten().flatten();
                    let edge = Edge { target: 0, label, marks, movers: bits(movers) };
                    let class = if transient { Class::Transient } else { Class::Ordinary };
                    self.reach(Some((number, edge)), &successor, class)?;
                }
                Next::Done(_) => break,
            }
        }
        self.graph.nodes[number as usize].edges = Some((first, self.graph.edges.len() as u32));
        ControlFlow::Continue(())
    }

    /// Whether a process takes part that is not to move.
    fn rests(&self, label: &M::Label) -> bool {
        self.model.movers(label).into_iter().flatten().any(|process| self.resting.contains(process))
    }

    /// Adds a state and the transition to it.
    pub(super) fn reach(
        &mut self,
        via: Option<(u32, Edge<M::Label>)>,
        state: &[u32],
        class: Class,
    ) -> Run<M::Label, M::Fault> {
        let target = self.graph.number_of(state, class);
        if self.graph.is_new(target) {
            self.watch.counts_state()?;
            self.graph.add(class);
        }
        let Some((source, edge)) = via else {
            self.graph.nodes[target as usize].distance = 0;
            self.open.push_back(target);
            return ControlFlow::Continue(());
        };
        self.graph.edges.push(Edge { target, ..edge });
        let distance = self.graph.nodes[source as usize].distance + edge.steps();
        let node = &mut self.graph.nodes[target as usize];
        if distance < node.distance {
            node.distance = distance;
            node.parent = Some((source, self.graph.edges.len() as u32 - 1));
            if edge.steps() == 0 { self.open.push_front(target) } else { self.open.push_back(target) }
        }
        ControlFlow::Continue(())
    }

    /// A faulty transition ends a run.
    fn fails(&mut self, number: u32, label: Option<M::Label>, fault: M::Fault) {
        let moves = label.is_some_and(|label| self.model.movers(&label).iter().any(Option::is_some));
        let steps = self.graph.nodes[number as usize].distance + u64::from(moves);
        if steps < self.best {
            self.best = steps;
            let path = self.graph.path_to(number).into_iter().chain(label).collect();
            self.found = Some(Found::Fault { path, fault });
        }
    }
}
