//! The graph of elements: states and the elements that lead from one to the next.

use super::Facts;
use super::facts::Uses;
use crate::flow::{El, Flow, Node, Seq};
use crate::names::Names;
use fabius_program::{Action, Expr};
use rustc_hash::{FxHashMap, FxHashSet};

/// An edge.
#[derive(Clone, Debug)]
pub(super) struct Edge {
    pub to: u32,
    /// `None`: the way into an escape.
    pub el: Option<El>,
    pub uses: Uses,
}

/// A state with its edges, the one added last first.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    pub entered: u32,
    pub edges: Vec<Edge>,
}

/// The graph of one process type.
#[derive(Debug, Default)]
pub(super) struct Graph {
    /// In the order in which they were met.
    pub states: Vec<State>,
    index: FxHashMap<u32, usize>,
    done: FxHashSet<El>,
}

impl Graph {
    pub fn build(flow: &mut Flow, names: &Names, facts: &Facts, body: Seq) -> Self {
        let mut graph = Self::default();
        let mut reader = Reader { flow, names, facts };
        graph.sequence(&mut reader, body);
        graph.states.iter_mut().for_each(|state| state.edges.reverse());
        graph
    }

    /// A graph of states by number.
    #[cfg(test)]
    pub fn of_states(states: Vec<State>) -> Self {
        let index = (0..states.len()).map(|number| (number as u32, number)).collect();
        Self { states, index, done: FxHashSet::default() }
    }

    pub fn state(&self, number: u32) -> Option<&State> {
        self.index.get(&number).map(|&i| &self.states[i])
    }

    /// The place of a state in [`Graph::states`]; 0 is not a state.
    pub fn index(&self, number: u32) -> Option<usize> {
        self.index.get(&number).copied().filter(|_| number != 0)
    }

    fn find_or_add(&mut self, number: u32) -> &mut State {
        let index = *self.index.entry(number).or_insert_with(|| {
            self.states.push(State::default());
            self.states.len() - 1
        });
        &mut self.states[index]
    }

    fn edge(&mut self, from: u32, to: u32, el: Option<El>, uses: Uses) {
        self.find_or_add(from).edges.push(Edge { to, el, uses });
        self.find_or_add(to).entered += 1;
    }

    fn sequence(&mut self, reader: &mut Reader, seq: Seq) {
        let mut at = reader.flow.seq(seq).first;
        while let Some(el) = at {
            if self.done.insert(el) {
                self.element(reader, el);
            }
            if Some(el) == reader.flow.seq(seq).last {
                break;
            }
            at = reader.flow.el(el).next;
        }
    }

    fn element(&mut self, reader: &mut Reader, el: El) {
        let from = reader.flow.el(el).state;
        let sub = reader.flow.el(el).sub.clone();
        match reader.flow.el(el).node.clone() {
            Node::Unless => self.sequence(reader, sub[0]),
            Node::If | Node::Do => {
                for option in &sub {
                    let start = reader.flow.hunt_start(reader.flow.first(*option));
                    let element = reader.flow.el(start);
                    let never = matches!(element.node, Node::Action(Action::Guard(Expr::Constant(0))));
                    if !never || !element.escapes.is_empty() {
                        self.edge(from, element.state, Some(el), Uses::default());
                    }
                }
                for option in sub {
                    self.sequence(reader, option);
                }
            }
            Node::Atomic(body) | Node::DStep(body) | Node::Block(body) => {
                let start = reader.flow.hunt_start(reader.flow.first(body));
                if let Some(last) = reader.flow.seq(body).last {
                    reader.flow.el_mut(last).next = reader.flow.el(el).next;
                }
                self.edge(from, reader.flow.el(start).state, Some(el), Uses::default());
                self.sequence(reader, body);
            }
            node => self.simple(reader, el, from, &node),
        }
    }

    fn simple(&mut self, reader: &mut Reader, el: El, from: u32, node: &Node) {
        let status = reader.flow.el(el).status;
        let follow = match node {
            Node::Goto(label) => reader.flow.target_of(label, reader.names),
            _ => reader.flow.el(el).next,
        };
        let to = match follow {
            Some(next) => {
                let target = reader.flow.find_start(next, status, None, reader.names);
                reader.flow.el(target).state
            }
            None => 0,
        };
        let uses = reader.facts.uses(reader.flow.el(el));
        self.edge(from, to, Some(el), uses);
        if matches!(node, Node::Goto(_) | Node::Dot) {
            return;
        }
        for escape in reader.flow.el(el).escapes.clone() {
            let start = reader.flow.hunt_start(reader.flow.first(escape));
            self.edge(from, reader.flow.el(start).state, None, Uses::default());
            self.sequence(reader, escape);
        }
    }
}

struct Reader<'a> {
    flow: &'a mut Flow,
    names: &'a Names,
    facts: &'a Facts,
}
