//! Statement merging: a step that cannot block and that no other process can observe is executed
//! together with the step before it.

use super::facts::{Facts, runs};
use super::graph::{Edge, Graph, State};
use crate::flow::{ATOM, El, Flow, LAST_ATOM, Node, WATCHED};
use fabius_program::Action;
use std::collections::HashSet;

pub(super) fn merge_steps(flow: &mut Flow, facts: &Facts, graph: &Graph) {
    let mut merger = Merger { flow, facts, graph };
    // Newest states first.
    for state in graph.states.iter().rev() {
        for (index, edge) in state.edges.iter().enumerate() {
            if let Some(el) = edge.el {
                merger.flow.el_mut(el).merge.entered = state.entered;
                merger.consider(state, index, el);
            }
        }
    }
    for state in graph.states.iter().rev() {
        for (index, edge) in state.edges.iter().enumerate() {
            if let Some(el) = edge.el {
                merger.consider_start(state, index, edge, el);
            }
        }
    }
}

struct Merger<'a> {
    flow: &'a mut Flow,
    facts: &'a Facts,
    graph: &'a Graph,
}

impl<'a> Merger<'a> {
    fn blocks(&self, el: El) -> bool {
        matches!(self.flow.el(el).node, Node::Action(Action::Guard(_) | Action::Send(_) | Action::Receive(_)))
    }

    fn consider(&mut self, state: &'a State, index: usize, el: El) {
        if self.flow.el(el).merge.until != 0 || self.blocks(el) || !self.eligible(state, index) {
            return;
        }
        let to = state.edges[index].to;
        let next = self.graph.state(to);
        if next.is_some_and(|next| self.eligible(next, 0)) {
            self.build(state, index);
        } else {
            self.flow.el_mut(el).merge.single = to;
        }
    }

    /// Finds where a chain of mergeable steps ends, and notes it on each of them.
    fn build(&mut self, state: &'a State, index: usize) {
        let mut chain: Vec<(El, u32)> = Vec::new();
        let mut there: HashSet<El> = HashSet::new();
        let (mut at, mut edge) = (state, index);
        let end = loop {
            let Some(Edge { el: Some(el), to, .. }) = at.edges.get(edge) else { break None };
            let until = self.flow.el(*el).merge.until;
            if until != 0 {
                break Some(until);
            }
            if !self.eligible(at, edge) || !there.insert(*el) {
                break None;
            }
            chain.push((*el, *to));
            match self.graph.state(*to) {
                Some(next) => (at, edge) = (next, 0),
                None => break None,
            }
        };
        let mut end = end;
        for (el, to) in chain.into_iter().rev() {
            let until = end.unwrap_or(to);
            self.flow.el_mut(el).merge.until = until;
            end = Some(until);
        }
    }

    /// Whether an edge never blocks, has no alternative, and cannot be observed.
    fn eligible(&self, state: &State, index: usize) -> bool {
        let Some(Edge { el: Some(el), .. }) = state.edges.get(index) else { return false };
        let kind = match &self.flow.el(*el).node {
            Node::Goto(_) | Node::Dot | Node::Break | Node::Prioritise(_) => true,
            Node::Action(Action::SetPriority(..)) => false,
            Node::Action(_) => !self.blocks(*el),
            _ => false,
        };
        kind && !self.flow.is_labelled(*el) && self.unobserved(state, index, *el)
    }

    /// Whether an edge has no alternative, no escape, and touches nothing that others see.
    fn unobserved(&self, state: &State, index: usize, el: El) -> bool {
        let element = self.flow.el(el);
        let alternatives = index + 1 < state.edges.len();
        let atomic = element.status & (ATOM | LAST_ATOM) != 0;
        !alternatives
            && element.escapes.is_empty()
            && element.status & WATCHED == 0
            && (atomic || !self.facts.is_global(element))
    }

    /// A step that may block can begin a merge.
    fn consider_start(&mut self, state: &State, index: usize, edge: &Edge, el: El) {
        if self.flow.el(el).merge.until != 0 {
            return;
        }
        let may = match &self.flow.el(el).node {
            Node::Action(Action::Guard(e)) => !runs(e),
            Node::Action(Action::Receive(_)) => true,
            Node::Action(Action::Send(_)) => !self.facts.rendezvous,
            _ => false,
        };
        if !may || !self.unobserved(state, index, el) {
            return;
        }
        let next = self.graph.state(edge.to).and_then(|s| s.edges.first()).and_then(|e| e.el);
        if let Some(next) = next {
            let merge = &self.flow.el(next).merge;
            let until = if merge.until != 0 { merge.until } else { merge.single };
            self.flow.el_mut(el).merge.start_until = until;
        }
    }
}
