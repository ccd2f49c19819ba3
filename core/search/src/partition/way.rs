//! Where states came from, and the way to a violation as numbers from which it is executed anew.

use crate::expansion::Expansion;
use crate::model::{Ending, Model, Next};
use crate::origins::follow;
use crate::outcome::{Violation, ViolationKind};
use serde::{Deserialize, Serialize};

/// Bits of an entry for the partition of the parent, …
const PARTITION_BITS: u32 = 12;
/// … and for which of its successors the state is; the rest is the parent's number.
const ORDINAL_BITS: u32 = 16;
const NUMBER_BITS: u32 = 64 - PARTITION_BITS - ORDINAL_BITS;

/// Where a state came from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Origin {
    /// The partition of its parent.
    pub partition: usize,
    /// The number of its parent there.
    pub number: u64,
    /// Which of the parent's ordinary successors it is, from 1; 0 for the initial state.
    pub ordinal: u32,
}

impl Origin {
    /// That of the initial state.
    pub const INITIAL: Self = Self { partition: 0, number: 0, ordinal: 0 };

    /// In eight bytes; `None` if it is too large for them.
    pub fn pack(self) -> Option<u64> {
        let fits = |value: u64, bits: u32| (value >> bits == 0).then_some(value);
        let partition = fits(self.partition as u64, PARTITION_BITS)?;
        let number = fits(self.number, NUMBER_BITS)?;
        let ordinal = fits(u64::from(self.ordinal), ORDINAL_BITS)?;
        Some(partition << (NUMBER_BITS + ORDINAL_BITS) | number << ORDINAL_BITS | ordinal)
    }

    /// What was packed.
    pub fn unpack(packed: u64) -> Self {
        Self {
            partition: (packed >> (NUMBER_BITS + ORDINAL_BITS)) as usize,
            number: packed >> ORDINAL_BITS & ((1 << NUMBER_BITS) - 1),
            ordinal: (packed & ((1 << ORDINAL_BITS) - 1)) as u32,
        }
    }
}

/// Keeps where the states of a partition came from, by their numbers.
pub trait Ways {
    /// Adds that of the next state; false if it cannot be kept.
    fn push(&mut self, packed: u64) -> bool;

    /// That of the state with this number.
    fn get(&mut self, number: u64) -> Option<u64>;

    /// Those of the states from this number on, in place of what `entries` holds; false if there are not as many.
    fn read(&mut self, first: u64, entries: &mut [u64]) -> bool {
        (first..).zip(entries).all(|(number, entry)| self.get(number).map(|packed| *entry = packed).is_some())
    }

    /// Memory in use, in bytes.
    fn memory_bytes(&self) -> u64;
}

impl Ways for Vec<u64> {
    fn push(&mut self, packed: u64) -> bool {
        Vec::push(self, packed);
        true
    }

    fn get(&mut self, number: u64) -> Option<u64> {
        self.as_slice().get(usize::try_from(number).ok()?).copied()
    }

    fn memory_bytes(&self) -> u64 {
        size_of_val::<[u64]>(self) as u64
    }
}

/// The way to a violation, in numbers.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub struct Way {
    /// Which ordinary successor comes next, from the initial state on, each counted from 1; in the order of delays, which macro step.
    pub ordinals: Vec<u32>,
    /// Which violation of the last state it is, in the order in which they are met, from 1. In the order of delays: which of its macro
    /// steps is wrong, from 1, or 0 if it is the state itself.
    pub event: u32,
    /// What the observer called it.
    pub key: u64,
    /// How often one with the same key was found.
    pub count: u64,
}

/// The way to a cycle and once round it, in numbers.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub struct CycleWay {
    /// Which ordinary successor comes next, from the initial state to a state of the cycle, each counted from 1.
    pub stem: Vec<u32>,
    /// The same from there back to it, among the successors that the search for cycles counts; if there is none, the cycle has
    /// transient states only, and begins in that state.
    pub cycle: Vec<u32>,
}

/// The violation met with what an expansion found next, and the transition that it names, if it names one.
pub fn violation_at<L: Copy, F: Copy>(found: &Next<L, F>) -> Option<(ViolationKind<F>, Option<L>)> {
    match *found {
        Next::Successor { label, fault: Some(fault), .. } => Some((ViolationKind::Fault(fault), label)),
        Next::Broken { label, fault } => Some((ViolationKind::Fault(fault), Some(label))),
        Next::Done(Ending::InvalidEnd) => Some((ViolationKind::InvalidEnd, None)),
        Next::Successor { .. } | Next::Done(_) => None,
    }
}

/// Executes a way: the violation at its end, with the path to it; `None` if this is no way of the model.
pub fn replay<M: Model>(model: &mut M, way: &Way) -> Option<Violation<M::Label, M::Fault>> {
    let violation = |kind, path| Violation { kind, path, delays: Vec::new(), count: way.count };
    let (mut state, mut path) = (Vec::new(), Vec::new());
    if let Err(fault) = model.initial(&mut state) {
        return way.ordinals.is_empty().then(|| violation(ViolationKind::Fault(fault), path));
    }
    let mut expansion = Expansion::new(model.hidden_words());
    follow(model, &mut expansion, &mut state, way.ordinals.iter().copied(), &mut path)?;
    expansion.begin(model, &state);
    let mut events_left = way.event;
    while let Some(found) = expansion.next(model) {
        if let Some((kind, last)) = violation_at(&found) {
            events_left = events_left.checked_sub(1)?;
            if events_left == 0 {
                expansion.path_to_current(&mut path);
                path.extend(last);
                return Some(violation(kind, path));
            }
        }
        match found {
            Next::Successor { label, transient: true, .. } => expansion.pass(label),
            Next::Done(_) => expansion.turn(model),
            Next::Successor { .. } | Next::Broken { .. } => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_takes_eight_bytes_or_is_refused() {
        let largest = Origin { partition: 4095, number: (1 << 36) - 1, ordinal: 65_535 };
        for origin in [Origin::INITIAL, Origin { partition: 3, number: 1 << 35, ordinal: 7 }, largest] {
            assert_eq!(origin.pack().map(Origin::unpack), Some(origin));
        }
        assert_eq!(Origin { partition: 4096, ..largest }.pack(), None);
        assert_eq!(Origin { number: 1 << 36, ..largest }.pack(), None);
        assert_eq!(Origin { ordinal: 65_536, ..largest }.pack(), None);
    }
}
