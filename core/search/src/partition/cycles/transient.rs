//! Cycles of transient states only: an atomic sequence that never ends. They lie behind one ordinary state, so no other partition
//! has to know of them.

use super::edges::{accepts, is_usable};
use crate::cycle::Goal;
use crate::expansion::{Expansion, TransientStep};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};

/// The path from the ordinary state that was expanded to a cycle of transient states, and once round it, if there is one that is
/// looked for.
pub(super) fn transient_cycle<C: Copy, L: Copy>(expansion: &Expansion<C, L>, goal: Goal) -> Option<(Vec<L>, Vec<L>)> {
    if !expansion.has_rejoined() {
        return None;
    }
    let usable = expansion.transient_steps().filter(|step| step.from != 0 && is_usable(goal, step.marks));
    let steps = behind_cycles(usable.collect());
    let mut from: BTreeMap<usize, Vec<TransientStep<L>>> = BTreeMap::new();
    steps.iter().for_each(|step| from.entry(step.from).or_default().push(*step));
    for step in steps.iter().filter(|step| accepts(goal, step.marks)) {
        let Some(back) = path(&from, step.to, step.from) else { continue };
        let cycle: Vec<L> = step.label.into_iter().chain(back).collect();
        if !cycle.is_empty() {
            let mut lead = Vec::new();
            expansion.path_to(step.from, &mut lead);
            return Some((lead, cycle));
        }
    }
    None
}

/// The steps that a cycle leads to: what is left when members that nothing leads to are taken out, again and again.
fn behind_cycles<L: Copy>(mut steps: Vec<TransientStep<L>>) -> Vec<TransientStep<L>> {
    loop {
        let members = 1 + steps.iter().map(|step| step.from.max(step.to)).max().unwrap_or(0);
        let mut is_entered = vec![false; members];
        steps.iter().for_each(|step| is_entered[step.to] = true);
        let before = steps.len();
        steps.retain(|step| is_entered[step.from]);
        if steps.len() == before {
            return steps;
        }
    }
}

/// The labels of a shortest path from one member to another.
fn path<L: Copy>(from: &BTreeMap<usize, Vec<TransientStep<L>>>, start: usize, end: usize) -> Option<Vec<L>> {
    let mut origin: BTreeMap<usize, Option<TransientStep<L>>> = BTreeMap::from([(start, None)]);
    let mut open = VecDeque::from([start]);
    while let Some(member) = open.pop_front() {
        if member == end {
            let back = |step: &TransientStep<L>| origin.get(&step.from).copied().flatten();
            let last = origin.get(&end).copied().flatten();
            let mut labels: Vec<Option<L>> = std::iter::successors(last, back).map(|step| step.label).collect();
            labels.reverse();
            return Some(labels.into_iter().flatten().collect());
        }
        for step in from.get(&member).into_iter().flatten() {
            if let Entry::Vacant(place) = origin.entry(step.to) {
                place.insert(Some(*step));
                open.push_back(step.to);
            }
        }
    }
    None
}
