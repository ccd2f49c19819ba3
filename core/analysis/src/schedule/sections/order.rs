//! The order of the steps of a section: worked out from what they read and change, and tried by the reference interpreter.

use super::Section;
use fabius_program::{Move, Watch};
use fabius_search::toy::Random;
use fabius_witness::footprint::{Footprint, footprints};
use fabius_witness::{Claim, State, confirm_watching, moves, settled, step};
use std::collections::BTreeSet;

/// A section is taken in this many other orders.
const ORDERS_TRIED: u64 = 8;

impl Section<'_> {
    /// For each step, the earlier ones that it must not precede.
    pub(super) fn order(&self) -> Result<Vec<Vec<usize>>, String> {
        let footprints = self.footprints()?;
        let earlier = |index: usize| {
            (0..index).filter(|&earlier| footprints[index].depends_on(&footprints[earlier])).collect::<Vec<usize>>()
        };
        Ok((0..footprints.len()).map(earlier).collect())
    }

    /// What each of the steps reads and changes.
    pub(super) fn footprints(&self) -> Result<Vec<Footprint>, String> {
        let path: Vec<Move> = self.before.iter().chain(self.events.iter().flatten()).copied().collect();
        let trace = confirm_watching(self.program, Watch::NOTHING, &path, Claim::Reaches)
            .map_err(|why| format!("a section is no part of a run: {why}"))?;
        let mut all = footprints(&trace).into_iter().skip(self.before.len());
        let mut found = Vec::new();
        for labels in self.events {
            let mut event = Footprint::default();
            (0..labels.len()).for_each(|_| all.next().iter().for_each(|part| event.add(part)));
            found.push(event);
        }
        Ok(found)
    }

    pub(super) fn state_before(&self) -> Result<State, String> {
        let state = State::watching(self.program, Watch::NOTHING).map_err(|fault| fault.to_string())?;
        self.after(state, self.before)
    }

    pub(super) fn after(&self, state: State, labels: &[Move]) -> Result<State, String> {
        labels.iter().try_fold(state, |state, label| {
            let taken = step(self.program, &state, *label).map_err(|why| format!("a step is not possible: {why:?}"))?;
            match taken.outcome.fault() {
                Some(fault) => Err(format!("a step of a safe schedule fails: {fault}")),
                None => taken.outcome.state().cloned().ok_or_else(|| "a step leads nowhere".to_owned()),
            }
        })
    }

    /// Takes the steps in some other orders.
    pub(super) fn takes_other_orders(&self, from: &State, order: &[Vec<usize>], seed: u64) -> Result<(), String> {
        let (end, ways) = self.taken_in_order(from, &(0..order.len()).collect::<Vec<usize>>())?;
        let mut random = Random::new(seed);
        for _ in 0..ORDERS_TRIED {
            let mut left: BTreeSet<usize> = (0..order.len()).collect();
            let mut sequence = Vec::new();
            while !left.is_empty() {
                let free = |event: &&usize| order[**event].iter().all(|earlier| !left.contains(earlier));
                let free: Vec<usize> = left.iter().filter(free).copied().collect();
                let event = free[random.below(free.len())];
                left.remove(&event);
                sequence.push(event);
            }
            let (other_end, other_ways) = self.taken_in_order(from, &sequence)?;
            if other_end.visible(self.program) != end.visible(self.program) {
                return Err(format!("the order of a section does not determine its end: {sequence:?}"));
            }
            if other_ways != ways {
                return Err(format!("the order of a section does not determine the ways on: {sequence:?}"));
            }
        }
        Ok(())
    }

    /// The state after the steps in an order, and of each step the number of ways on that its processes had.
    pub(super) fn taken_in_order(&self, from: &State, sequence: &[usize]) -> Result<(State, Vec<usize>), String> {
        let (mut state, mut ways) = (from.clone(), vec![0; sequence.len()]);
        for &event in sequence {
            let labels = &self.events[event];
            let movers = |label: &Move| (label.pid, label.partner.map(|(partner, _)| partner));
            let wanted = labels.first().map(movers);
            state = settled(self.program, &state);
            let successors = moves(self.program, &state).successors;
            ways[event] = successors.iter().filter(|(label, _)| Some(movers(label)) == wanted).count();
            state = self.after(state, labels)?;
        }
        Ok((settled(self.program, &state), ways))
    }
}

/// Of the steps that each step follows, those that do not follow from the others.
pub(super) fn reduced(order: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut before: Vec<BTreeSet<usize>> = Vec::new();
    let mut kept = Vec::new();
    for earlier in order {
        let implied: BTreeSet<usize> = earlier.iter().flat_map(|&event| before[event].iter().copied()).collect();
        kept.push(earlier.iter().copied().filter(|event| !implied.contains(event)).collect());
        before.push(implied.into_iter().chain(earlier.iter().copied()).collect());
    }
    kept
}

/// The number of steps that have to come one after the other.
pub(super) fn longest_chain(order: &[Vec<usize>]) -> u64 {
    let mut lengths: Vec<u64> = Vec::new();
    for earlier in order {
        lengths.push(1 + earlier.iter().map(|&event| lengths[event]).max().unwrap_or(0));
    }
    lengths.into_iter().max().unwrap_or(0)
}
