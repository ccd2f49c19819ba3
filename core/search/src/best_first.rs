//! Best-first search for states in which nothing can move: of the states that wait, the one that is nearest to what is
//! looked for comes next (Pearl, *Heuristics*, 1984; greedy, since any path will do).
//!
//! ```text
//! open := {initial}
//! while open is not empty: take the s of the least distance from open
//!   nothing can move in s, and that is no valid end: it is met
//!   for each ordinary t reached from s through transient states only, t ∉ stored, t not hopeless:
//!     stored := stored ∪ {t};  open := open ∪ {t}
//! ```
//!
//! Of states at the same distance, the one found last comes first. Whoever guides the search may call a state *hopeless*:
//! what is looked for cannot be reached from it, and it is not looked at. The search is exhaustive but for these.

use crate::expansion::Expansion;
use crate::model::{Ending, Model, Next};
use crate::observer::{Countdown, steps_per_look};
use crate::origins::{Origin, Origins};
use crate::position::Position;
use crate::state_log::StateLog;
use crate::store::{Class, Inserted, Store};
use fabius_base::{Cancel, Limits, StopReason};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::ControlFlow;

/// Transitions from one look at the limits to the next.
const STEPS_PER_LOOK: u32 = 256;

/// Guides a search, and is told what it meets.
pub trait Guide<Label> {
    /// How far an ordinary state seems to be from what is looked for; `None` if that cannot be reached from it.
    fn distance(&mut self, state: &[u32]) -> Option<u32>;

    /// Nothing can move in a state, and that is no valid end: the path to it. Says whether to go on.
    fn meet(&mut self, state: &[u32], path: Vec<Label>) -> ControlFlow<()>;
}

/// How a search ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// Nothing is left but what is hopeless.
    Exhausted,
    /// Its guide said so.
    Satisfied,
    /// It was stopped.
    Stopped(StopReason),
}

/// What a search took, and how it ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BestFirst {
    /// How it ended.
    pub ended: Ended,
    /// States stored.
    pub states: u64,
    /// Arrivals at states that are hopeless.
    pub hopeless: u64,
    /// Memory in use at the end, in bytes.
    pub memory_bytes: u64,
}

/// Searches all states that `model` can reach and that are not hopeless, those of the least distance first.
pub fn best_first<M: Model, S: Store>(
    model: &mut M,
    store: S,
    guide: &mut impl Guide<M::Label>,
    limits: &Limits,
    cancel: &Cancel,
) -> BestFirst {
    let hidden = model.hidden_words();
    let mut search = Search {
        model,
        store,
        guide,
        limits,
        cancel,
        position: Position::new(S::MEMO_PER_WORD, hidden),
        expansion: Expansion::new(hidden),
        states: StateLog::new(hidden),
        origins: Origins::default(),
        open: BinaryHeap::new(),
        hopeless: 0,
        countdown: Countdown::default(),
    };
    let ended = match search.run() {
        ControlFlow::Continue(()) => Ended::Exhausted,
        ControlFlow::Break(ended) => ended,
    };
    BestFirst {
        ended,
        states: search.origins.len() as u64,
        hopeless: search.hopeless,
        memory_bytes: search.memory_bytes(),
    }
}

struct Search<'a, M: Model, S, G> {
    model: &'a mut M,
    store: S,
    guide: &'a mut G,
    limits: &'a Limits,
    cancel: &'a Cancel,
    position: Position,
    expansion: Expansion<M::Cursor, M::Label>,
    states: StateLog,
    origins: Origins,
    /// States that wait, by their distance and number.
    open: BinaryHeap<(Reverse<u32>, u32)>,
    hopeless: u64,
    countdown: Countdown,
}

impl<M: Model, S: Store, G: Guide<M::Label>> Search<'_, M, S, G> {
    fn run(&mut self) -> ControlFlow<Ended> {
        if self.model.initial(&mut self.expansion.successor).is_err() {
            return ControlFlow::Continue(());
        }
        self.arrive(Origin::INITIAL)?;
        let mut state = Vec::new();
        while let Some((_, number)) = self.open.pop() {
            self.states.recall(&self.store, number as usize, &mut state);
            self.expand(&state, number)?;
        }
        ControlFlow::Continue(())
    }

    /// Arrives at every ordinary successor of the state with this number.
    fn expand(&mut self, state: &[u32], number: u32) -> ControlFlow<Ended> {
        self.expansion.begin(self.model, state);
        let mut ordinal = 0;
        while let Some(found) = self.expansion.next(self.model) {
            self.look()?;
            match found {
                Next::Successor { label, transient: true, .. } => self.expansion.pass(label),
                Next::Successor { transient: false, .. } => {
                    ordinal += 1;
                    self.arrive(Origin::of(number, ordinal))?;
                }
                Next::Broken { .. } => {}
                Next::Done(ending) => {
                    if ending == Ending::InvalidEnd {
                        self.meet(number)?;
                    }
                    self.expansion.turn(self.model);
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// Nothing can move in the current state of the expansion, which is that of the state with this number.
    fn meet(&mut self, number: u32) -> ControlFlow<Ended> {
        let mut path = self.origins.path_to(self.model, number);
        self.expansion.path_to_current(&mut path);
        self.guide.meet(self.expansion.state(), path).map_break(|()| Ended::Satisfied)
    }

    /// Stores the successor, and lets it wait, unless it was stored before.
    fn arrive(&mut self, origin: Origin) -> ControlFlow<Ended> {
        let Some(distance) = self.guide.distance(&self.expansion.successor) else {
            self.hopeless += 1;
            return ControlFlow::Continue(());
        };
        self.position.advance(&self.expansion.successor);
        let inserted = self.store.insert(&mut self.position, Class::Ordinary);
        self.position.forget();
        if inserted == Inserted::Old {
            return ControlFlow::Continue(());
        }
        if self.limits.states_max.is_some_and(|max| max <= self.origins.len() as u64) {
            return ControlFlow::Break(Ended::Stopped(StopReason::States));
        }
        let Some(number) = self.origins.next_number() else {
            return ControlFlow::Break(Ended::Stopped(StopReason::Full));
        };
        self.origins.push(origin);
        self.states.push(&self.store, &self.position, Class::Ordinary);
        self.open.push((Reverse(distance), number));
        ControlFlow::Continue(())
    }

    #[inline]
    fn look(&mut self) -> ControlFlow<Ended> {
        if !self.countdown.steps_are_due(1, || self.cancel.requested().is_some()) {
            return ControlFlow::Continue(());
        }
        self.countdown.restart(STEPS_PER_LOOK.min(steps_per_look(self.position.proposed().len())));
        let memory_bytes_max = self.limits.memory_bytes_max.unwrap_or(u64::MAX);
        let reason = match self.cancel.requested() {
            Some(reason) => Some(reason),
            None if self.store.is_full() => Some(StopReason::Full),
            None if memory_bytes_max < self.memory_bytes() => Some(StopReason::Memory),
            None => None,
        };
        reason.map_or(ControlFlow::Continue(()), |reason| ControlFlow::Break(Ended::Stopped(reason)))
    }

    fn memory_bytes(&self) -> u64 {
        let open = self.open.capacity() * size_of::<(Reverse<u32>, u32)>();
        let words = self.expansion.memory_bytes() + open + self.origins.memory_bytes();
        self.store.memory_bytes() + self.position.memory_bytes() + self.states.memory_bytes() + words as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::TreeStore;
    use crate::toy::Toy;
    use std::collections::BTreeSet;

    /// Knows how far each node is from a dead end, and keeps what it met.
    struct Knowing<'a> {
        toy: &'a Toy,
        distances: Vec<Option<u32>>,
        met: Vec<(usize, Vec<u32>)>,
    }

    impl Guide<u32> for Knowing<'_> {
        fn distance(&mut self, state: &[u32]) -> Option<u32> {
            self.distances[self.toy.node_of(state)?]
        }

        fn meet(&mut self, state: &[u32], path: Vec<u32>) -> ControlFlow<()> {
            self.met.extend(self.toy.node_of(state).map(|node| (node, path)));
            ControlFlow::Continue(())
        }
    }

    fn is_dead_end(toy: &Toy, node: usize) -> bool {
        toy.nodes()[node].edges.is_empty() && !toy.nodes()[node].end
    }

    /// Of each node, the number of edges to a dead end.
    fn distances(toy: &Toy) -> Vec<Option<u32>> {
        let count = toy.nodes().len();
        let mut known: Vec<Option<u32>> = (0..count).map(|node| is_dead_end(toy, node).then_some(0)).collect();
        for _ in 0..count {
            for (node, words) in toy.nodes().iter().enumerate() {
                let next = words.edges.iter().filter_map(|edge| known[edge.to?]).min().map(|it| it + 1);
                known[node] = [known[node], next].into_iter().flatten().min();
            }
        }
        known
    }

    /// The nodes that a path can lead to, from some nodes.
    fn follow(toy: &Toy, from: BTreeSet<usize>, path: &[u32]) -> BTreeSet<usize> {
        let over = |nodes: &BTreeSet<usize>, label: Option<u32>| -> BTreeSet<usize> {
            let edges = nodes.iter().flat_map(|node| &toy.nodes()[*node].edges);
            edges.filter(|edge| edge.label == label).filter_map(|edge| edge.to).collect()
        };
        let mut silent = from;
        silent.extend(over(&silent, None));
        match path.split_first() {
            Some((label, rest)) => follow(toy, over(&silent, Some(*label)), rest),
            None => silent,
        }
    }

    #[test]
    fn every_dead_end_that_can_be_reached_is_met_by_a_path_that_leads_there() {
        for seed in 0..2_000 {
            let mut toy = Toy::random(seed, 24, seed % 2 == 0);
            let graph = toy.clone();
            let mut reached = BTreeSet::from([0]);
            while let Some(next) = reached
                .iter()
                .flat_map(|node| graph.nodes()[*node].edges.iter().filter_map(|edge| edge.to))
                .find(|to| !reached.contains(to))
            {
                reached.insert(next);
            }
            let wanted: BTreeSet<usize> = reached.into_iter().filter(|node| is_dead_end(&graph, *node)).collect();
            let mut guide = Knowing { toy: &graph, distances: distances(&graph), met: Vec::new() };
            let store = TreeStore::<()>::default();
            let found = best_first(&mut toy, store, &mut guide, &Limits::default(), &Cancel::new());
            assert_eq!(found.ended, Ended::Exhausted);
            let met: BTreeSet<usize> = guide.met.iter().map(|(node, _)| *node).collect();
            assert_eq!(met, wanted, "seed {seed}");
            for (node, path) in &guide.met {
                assert!(follow(&graph, BTreeSet::from([0]), path).contains(node), "seed {seed}: {path:?}");
            }
        }
    }

    #[test]
    fn it_ends_where_its_guide_is_satisfied_and_at_a_limit() {
        struct First;
        impl Guide<u32> for First {
            fn distance(&mut self, state: &[u32]) -> Option<u32> {
                Some(10 - state[0])
            }
            fn meet(&mut self, _: &[u32], path: Vec<u32>) -> ControlFlow<()> {
                assert_eq!(path.len(), 2);
                ControlFlow::Break(())
            }
        }
        let mut toy = Toy::plain(&[&[1, 3], &[2], &[2], &[4], &[]]);
        let search = |toy: &mut Toy, states_max| {
            let limits = Limits { states_max, ..Limits::default() };
            best_first(toy, TreeStore::<()>::default(), &mut First, &limits, &Cancel::new())
        };
        let found = search(&mut toy, None);
        assert_eq!((found.ended, found.states), (Ended::Satisfied, 4));
        assert_eq!(search(&mut toy, Some(2)).ended, Ended::Stopped(StopReason::States));
    }
}
