//! Refining what maximal accepting predecessors leave: all partitions in each pass, by one thread or several.
//!
//! ```text
//! part := map
//! while some part is not null:
//!   trim: as long as there is one, take out a state that no edge enters from its own part
//!   fine := MAP over the edges between states of the same part     a cycle may be met
//!   part := fine
//! ```
//!
//! All states of a cycle have the same greatest accepting predecessor, so a cycle never leaves its part. A state that
//! nothing enters from its own part lies on no cycle, so trimming loses none; it makes parts without cycles vanish at
//! once (Fisler and others, *Is There a Best Symbolic Cycle-Detection Algorithm?*, TACAS 2001: one way catch them young).
//! Where every edge is accepting, as in a search for livelocks, whatever survives it has a cycle.
//!
//! A part whose greatest accepting state t is not entered by an accepting edge from inside falls into parts with smaller roots; if
//! it is, from s, then t reaches s and the cycle is met. So the values only fall, and it ends.
//!
//! What differs from Figure 5 of the paper: there one partition is refined after the other, states of those that are dissolved
//! already are pulled in again (2ⁿ − 1 rounds on a chain of n accepting edges with an unlucky choice of roots), and nothing is
//! trimmed.
//!
//! Both, trimming and maximal predecessors, are fixed points that do not depend on the order in which they are worked out: that
//! is what several threads are good for here. They work in steps: the states of a step are dealt out, and what
//! comes of them is the next step. One thread takes roots in falling order instead and so gives each state its value once.

use super::graph::{Edge, Graph};
use super::{Closing, Evidence};
use crate::delay_bounded::DelayObserver;
use crate::model::Processes;
use crate::outcome::{Round, Run};
use crate::schedule::Scheduler;
use crate::snapshot::Phase;
use crate::threads;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU32, Ordering};

/// No accepting predecessor.
pub(super) const NULL: u32 = 0;
/// Fewer states are not dealt out: to start a thread takes longer.
const DEALT_OUT_MIN: usize = 2048;

/// What is known of the states while they are refined, by their numbers.
#[derive(Default)]
pub(super) struct Parts {
    /// The part of a state, named by its root; [`NULL`] once it is in none.
    part: Vec<AtomicU32>,
    /// Its greatest accepting predecessor inside its part.
    fine: Vec<AtomicU32>,
    /// Edges that enter it from its own part; later the last step that it waits for.
    entering: Vec<AtomicU32>,
    members: Vec<u32>,
    step: u32,
}

/// What came of the states of a step.
#[derive(Default)]
struct Stepped {
    next: Vec<u32>,
    edges: u64,
    closing: Option<Closing>,
}

/// Deals states out to threads; what each found, in the order of the states.
fn deal_out<R: Send>(threads: usize, states: &[u32], work: impl Fn(&[u32]) -> R + Sync) -> Vec<R> {
    if threads < 2 || states.len() < DEALT_OUT_MIN {
        return vec![work(states)];
    }
    let mut hands = states.chunks(states.len().div_ceil(threads));
    let own = hands.next().unwrap_or_default();
    std::thread::scope(|scope| {
        let work = &work;
        let others: Vec<_> = hands.map(|hand| (hand, threads::begin(scope, move || work(hand)))).collect();
        let mut found = vec![work(own)];
        found.extend(others.into_iter().map(|(hand, other)| match other {
            // A thread that panics takes the caller with it.
            Some(other) => other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            None => work(hand),
        }));
        found
    })
}

impl Parts {
    /// Takes over values that were calculated; states without one are in no part.
    pub fn start(&mut self, values: impl Iterator<Item = u32>) {
        self.members.clear();
        for (state, value) in values.enumerate() {
            if self.part.len() <= state {
                self.part.push(AtomicU32::new(NULL));
                self.fine.push(AtomicU32::new(NULL));
                self.entering.push(AtomicU32::new(0));
            }
            *self.part[state].get_mut() = value;
            if value != NULL {
                self.members.push(state as u32);
            }
        }
    }

    /// The parts become those that were calculated inside them.
    fn split(&mut self) {
        let Self { part, fine, members, .. } = self;
        members.retain(|&state| {
            let value = *fine[state as usize].get_mut();
            *part[state as usize].get_mut() = value;
            value != NULL
        });
    }

    /// How many parts there are.
    fn count(&self) -> u64 {
        let mut roots: Vec<u32> = self.members.iter().map(|&state| self.part_of(state)).collect();
        roots.sort_unstable();
        roots.dedup();
        roots.len() as u64
    }

    fn part_of(&self, state: u32) -> u32 {
        self.part[state as usize].load(Ordering::Relaxed)
    }

    /// The edges from a state to its own part.
    fn inside<'e>(&self, edges: &'e [Vec<Edge>], state: u32, part: u32) -> impl Iterator<Item = Edge> + use<'_, 'e> {
        let own = move |edge: &Edge| edge.follow() && part != NULL && self.part_of(edge.to) == part;
        edges[state as usize].iter().copied().filter(own)
    }
}

/// Where refining takes place, and what it takes.
pub(super) struct Refining<'g, 'a, 'p, M: Processes, D: Scheduler<M::Label>, O> {
    pub graph: &'g mut Graph<'a, M, D, O>,
    pub parts: &'p mut Parts,
    pub threads: usize,
    pub phase: Phase,
    /// Edges walked.
    pub walked: u64,
    looked: u64,
}

impl<'g, 'a, 'p, M, D, O> Refining<'g, 'a, 'p, M, D, O>
where
    M: Processes,
    D: Scheduler<M::Label>,
    O: DelayObserver<M::Label, M::Fault>,
{
    pub fn new(graph: &'g mut Graph<'a, M, D, O>, parts: &'p mut Parts, threads: usize, phase: Phase) -> Self {
        Self { graph, parts, threads, phase, walked: 0, looked: 0 }
    }

    /// Refines until nothing is left.
    pub fn refine(&mut self, round: &mut Round) -> Run<Evidence> {
        let mut refined = self.trim();
        while refined.is_continue() && !self.parts.members.is_empty() {
            let count = self.parts.count();
            round.work.partitions += count;
            self.graph.partitions_left = count;
            refined = self.pass();
        }
        self.graph.partitions_left = 0;
        refined
    }

    /// Calculates inside the parts, splits them, and trims what is left.
    pub fn pass(&mut self) -> Run<Evidence> {
        for &state in &self.parts.members {
            *self.parts.fine[state as usize].get_mut() = NULL;
        }
        if self.threads < 2 {
            self.calculate_alone()?
        } else {
            self.calculate_together()?
        }
        self.parts.split();
        self.trim()
    }

    /// Takes states out that nothing enters from their own part.
    pub fn trim(&mut self) -> Run<Evidence> {
        for &state in &self.parts.members {
            *self.parts.entering[state as usize].get_mut() = 0;
        }
        let members = std::mem::take(&mut self.parts.members);
        self.step(&members, |parts, edges, hand, stepped| {
            for &state in hand {
                for edge in parts.inside(edges, state, parts.part_of(state)) {
                    parts.entering[edge.to as usize].fetch_add(1, Ordering::Relaxed);
                    stepped.edges += 1;
                }
            }
        })?;
        let is_free = |&state: &u32| self.parts.entering[state as usize].load(Ordering::Relaxed) == 0;
        let mut free: Vec<u32> = members.iter().copied().filter(is_free).collect();
        while !free.is_empty() {
            free = self.step(&free, |parts, edges, hand, stepped| {
                for &state in hand {
                    let part = parts.part[state as usize].swap(NULL, Ordering::Relaxed);
                    for edge in parts.inside(edges, state, part) {
                        stepped.edges += 1;
                        if parts.entering[edge.to as usize].fetch_sub(1, Ordering::Relaxed) == 1 {
                            stepped.next.push(edge.to);
                        }
                    }
                }
            })?;
        }
        self.parts.members = members;
        let Parts { members, part, .. } = &mut *self.parts;
        members.retain(|&state| *part[state as usize].get_mut() != NULL);
        ControlFlow::Continue(())
    }

    /// Deals out a step; the states of the next one. Breaks if a cycle was met, or a limit.
    fn step(
        &mut self,
        states: &[u32],
        work: impl Fn(&Parts, &[Vec<Edge>], &[u32], &mut Stepped) + Sync,
    ) -> Run<Evidence, Vec<u32>> {
        let (parts, edges) = (&*self.parts, self.graph.edges.as_slice());
        let mut found = deal_out(self.threads, states, |hand| {
            let mut stepped = Stepped::default();
            work(parts, edges, hand, &mut stepped);
            stepped
        });
        self.walked += found.iter().map(|stepped| stepped.edges).sum::<u64>() + 1;
        if let Some(closing) = found.iter().find_map(|stepped| stepped.closing) {
            return ControlFlow::Break(closing.into());
        }
        self.look(states.first().copied().unwrap_or(0))?;
        let mut next = std::mem::take(&mut found[0].next);
        found[1..].iter().for_each(|stepped| next.extend_from_slice(&stepped.next));
        ControlFlow::Continue(next)
    }

    /// Looks at the limits, once for this many edges.
    fn look(&mut self, state: u32) -> Run<Evidence> {
        let since = self.walked - self.looked;
        self.looked = self.walked;
        self.graph.ticks(since, state, self.phase)
    }

    /// The roots in falling order: a state that has a value has the greatest.
    fn calculate_alone(&mut self) -> Run<Evidence> {
        let mut roots = BTreeSet::new();
        for &state in &self.parts.members {
            let inside = self.parts.inside(&self.graph.edges, state, self.parts.part_of(state));
            roots.extend(inside.filter(|edge| edge.accept()).map(|edge| edge.to));
        }
        let mut stack = Vec::new();
        while let Some(root) = roots.pop_last() {
            let value = root + 1;
            if *self.parts.fine[root as usize].get_mut() != NULL {
                continue;
            }
            *self.parts.fine[root as usize].get_mut() = value;
            stack.push(root);
            while let Some(state) = stack.pop() {
                for edge in self.parts.inside(&self.graph.edges, state, self.parts.part_of(state)) {
                    self.walked += 1;
                    if edge.accept() && edge.to == root {
                        return ControlFlow::Break(Closing { from: state, to: root }.into());
                    }
                    let fine = &self.parts.fine[edge.to as usize];
                    if fine.load(Ordering::Relaxed) == NULL {
                        fine.store(value, Ordering::Relaxed);
                        stack.push(edge.to);
                    }
                }
                self.look(state)?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Accepting targets first, then whatever was raised, step by step, until nothing is.
    fn calculate_together(&mut self) -> Run<Evidence> {
        for &state in &self.parts.members {
            *self.parts.entering[state as usize].get_mut() = 0;
        }
        self.parts.step = 1;
        let members = std::mem::take(&mut self.parts.members);
        let raise = |parts: &Parts, state: u32, value: u32, stepped: &mut Stepped| {
            let raised = parts.fine[state as usize].fetch_max(value, Ordering::Relaxed) < value;
            if raised && parts.entering[state as usize].fetch_max(parts.step, Ordering::Relaxed) < parts.step {
                stepped.next.push(state);
            }
        };
        let mut raised = self.step(&members, |parts, edges, hand, stepped| {
            for &state in hand {
                for edge in parts.inside(edges, state, parts.part_of(state)).filter(|edge| edge.accept()) {
                    raise(parts, edge.to, edge.to + 1, stepped);
                    stepped.edges += 1;
                }
            }
        })?;
        self.parts.members = members;
        while !raised.is_empty() {
            self.parts.step += 1;
            raised = self.step(&raised, |parts, edges, hand, stepped| {
                for &state in hand {
                    let value = parts.fine[state as usize].load(Ordering::Relaxed);
                    for edge in parts.inside(edges, state, parts.part_of(state)) {
                        stepped.edges += 1;
                        raise(parts, edge.to, value, stepped);
                    }
                }
            })?;
        }
        self.look_for_closing()
    }

    /// Looks for a cycle once the values are final. What is met on the way there depends on the pace of the threads, and so would
    /// the states that a search needs.
    fn look_for_closing(&mut self) -> Run<Evidence> {
        let members = std::mem::take(&mut self.parts.members);
        self.step(&members, |parts, edges, hand, stepped| {
            for &from in hand {
                let value = parts.fine[from as usize].load(Ordering::Relaxed);
                for edge in parts.inside(edges, from, parts.part_of(from)) {
                    stepped.edges += 1;
                    if edge.accept() && edge.to + 1 == value {
                        stepped.closing = stepped.closing.or(Some(Closing { from, to: edge.to }));
                    }
                }
            }
        })?;
        self.parts.members = members;
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads::tests::without_threads;

    #[test]
    fn what_is_dealt_out_comes_back_in_order_with_and_without_threads() {
        let states: Vec<u32> = (0..3 * DEALT_OUT_MIN as u32 + 1).collect();
        for threads in 1..5 {
            let deal = || deal_out(threads, &states, <[u32]>::to_vec).concat();
            assert_eq!((deal(), without_threads(deal)), (states.clone(), states.clone()), "{threads} threads");
        }
    }
}
