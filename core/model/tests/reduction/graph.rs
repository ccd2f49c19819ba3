//! All states of a model, written out, and questions about them by definition.

use crate::numbers::Numbers;
use fabius_program::Move;
use fabius_search::{Ending, Marks, Model, Next};
use std::collections::{BTreeSet, HashMap};
use std::fmt::Debug;

/// Who moves, if processes are told apart by their numbers, and the edge that it takes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Mover(pub Option<u8>, pub u32);

/// A step, with its partner; nothing for the beginning.
pub type StepTaken = Option<(Mover, Option<Mover>)>;

/// A way from one state to another.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Way {
    pub to: usize,
    pub marks: Marks,
    pub taken: StepTaken,
}

/// All that can be reached.
#[derive(PartialEq, Debug, Default)]
pub struct Graph {
    pub states: Vec<Vec<u32>>,
    pub ways: Vec<Vec<Way>>,
    /// States in which nothing can move, by their words, and whether they are valid.
    pub ends: BTreeSet<(Vec<u32>, bool)>,
    /// Faulty steps, and what is wrong with them.
    pub faults: BTreeSet<(StepTaken, String)>,
}

impl Graph {
    /// Explores a model; `None` if it has more states than that.
    pub fn of<M: Model<Label = Move>>(model: &mut M, states_max: usize) -> Option<Self>
    where
        M::Fault: Debug,
    {
        let step = |label: Option<&Move>| Numbers::Told.step(label);
        let mut graph = Self::default();
        let mut numbers = HashMap::new();
        let mut state = Vec::new();
        if let Err(fault) = model.initial(&mut state) {
            graph.faults.insert((None, format!("{fault:?}")));
            return Some(graph);
        }
        let hidden = model.hidden_words();
        numbers.insert(state[..state.len() - hidden].to_vec(), 0);
        graph.states.push(state);
        let mut at = 0;
        let mut successor = Vec::new();
        while at < graph.states.len() {
            if states_max < graph.states.len() {
                return None;
            }
            let state = graph.states[at].clone();
            let mut cursor = model.begin(&state);
            let mut ways = Vec::new();
            loop {
                match model.next(&state, &mut cursor, &mut successor) {
                    Next::Successor { label, fault, marks, .. } => {
                        if let Some(fault) = fault {
                            graph.faults.insert((step(label.as_ref()), format!("{fault:?}")));
                        }
                        let next = graph.states.len();
                        let to = *numbers.entry(successor[..successor.len() - hidden].to_vec()).or_insert(next);
                        if to == next {
                            graph.states.push(successor.clone());
                        }
                        ways.push(Way { to, marks, taken: step(label.as_ref()) });
                    }
                    Next::Broken { label, fault } => {
                        graph.faults.insert((step(Some(&label)), format!("{fault:?}")));
                    }
                    Next::Done(Ending::Moves) => break,
                    Next::Done(ending) => {
                        graph.ends.insert((state[..state.len() - hidden].to_vec(), ending == Ending::ValidEnd));
                        break;
                    }
                }
            }
            graph.ways.push(ways);
            at += 1;
        }
        Some(graph)
    }

    /// Whether a run can go on for ever without progress.
    pub fn has_livelock(&self) -> bool {
        self.components(|way| !way.marks.has(Marks::PROGRESS)).1
    }

    /// Whether a run can pass accepting steps for ever.
    pub fn has_accepting_cycle(&self) -> bool {
        let (component, _) = self.components(|_| true);
        let on_cycle = |from: usize, way: &Way| component[from] == component[way.to] && way.marks.has(Marks::ACCEPTING);
        self.ways.iter().enumerate().any(|(from, ways)| ways.iter().any(|way| on_cycle(from, way)))
    }

    /// Whether there is a cycle of ways, each with the state that it leads from, that are not left out.
    pub fn has_cycle_without(&self, is_left_out: &impl Fn(usize, &Way) -> bool) -> bool {
        let mut waits: Vec<usize> = vec![0; self.states.len()];
        let kept = |from: usize| self.ways[from].iter().filter(move |way| !is_left_out(from, way));
        (0..self.states.len()).flat_map(&kept).for_each(|way| waits[way.to] += 1);
        let mut open: Vec<usize> = (0..self.states.len()).filter(|state| waits[*state] == 0).collect();
        let mut seen = 0;
        while let Some(state) = open.pop() {
            seen += 1;
            for way in kept(state) {
                waits[way.to] -= 1;
                if waits[way.to] == 0 {
                    open.push(way.to);
                }
            }
        }
        seen < self.states.len()
    }

    /// The strongly connected component of each state along some of the ways, and whether one has a cycle.
    fn components(&self, counts: impl Fn(&Way) -> bool) -> (Vec<usize>, bool) {
        let count = self.states.len();
        let (mut index, mut low) = (vec![usize::MAX; count], vec![0; count]);
        let mut component = vec![usize::MAX; count];
        let (mut open, mut next, mut cyclic) = (Vec::new(), 0, false);
        for root in 0..count {
            if index[root] != usize::MAX {
                continue;
            }
            let mut stack = vec![(root, 0)];
            index[root] = next;
            low[root] = next;
            next += 1;
            open.push(root);
            while let Some((at, way)) = stack.last_mut() {
                let at = *at;
                if let Some(edge) = self.ways[at].get(*way) {
                    *way += 1;
                    if !counts(edge) {
                        continue;
                    }
                    cyclic |= edge.to == at;
                    if index[edge.to] == usize::MAX {
                        index[edge.to] = next;
                        low[edge.to] = next;
                        next += 1;
                        open.push(edge.to);
                        stack.push((edge.to, 0));
                    } else if component[edge.to] == usize::MAX {
                        low[at] = low[at].min(index[edge.to]);
                    }
                    continue;
                }
                stack.pop();
                if let Some((below, _)) = stack.last() {
                    low[*below] = low[*below].min(low[at]);
                }
                if low[at] == index[at] {
                    let mut size = 0;
                    while let Some(member) = open.pop() {
                        component[member] = at;
                        size += 1;
                        if member == at {
                            break;
                        }
                    }
                    cyclic |= size > 1;
                }
            }
        }
        (component, cyclic)
    }
}
