//! The states that a layer leads to, and how each of them is to be explored: the least of its arrivals.

use crate::state_log::StateLog;

/// The new states of a layer, in the order in which they were inserted.
pub(super) struct NewStates {
    /// The number of the first one.
    pub first: u64,
    pub states: StateLog,
    /// By state: the least of its arrivals.
    pub arrivals: Vec<Arrival>,
    hidden: usize,
    schedule_words: usize,
}

/// How a state was reached. What comes first decides which of several arrivals is the least; all but the last is a function of the two
/// states and the scheduler.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Arrival {
    /// The state of the scheduler.
    pub schedule: Box<[u32]>,
    /// Macro steps on the way.
    pub depth: u64,
    /// The hash of the state before, …
    pub parent: u64,
    /// … and which of its macro steps it was, from 1.
    pub ordinal: u32,
    /// Where that state is, packed.
    pub origin: u64,
}

impl NewStates {
    pub(super) fn new(hidden: usize) -> Self {
        Self { first: 0, states: StateLog::new(hidden), arrivals: Vec::new(), hidden, schedule_words: 0 }
    }

    pub(super) fn len(&self) -> u64 {
        self.states.len() as u64
    }

    /// Takes note of an arrival at a new state, the first one or another one.
    pub(super) fn offer(&mut self, number: u64, state: &[u32], arrival: Arrival) {
        let index = (number - self.first) as usize;
        match self.arrivals.get_mut(index) {
            None => {
                self.schedule_words += arrival.schedule.len();
                self.arrivals.push(arrival);
            }
            Some(known) if arrival < *known => {
                *known = arrival;
                self.states.replace_hidden(index, &state[state.len().saturating_sub(self.hidden)..]);
            }
            Some(_) => {}
        }
    }

    pub(super) fn memory_bytes(&self) -> u64 {
        let arrivals = size_of_val::<[Arrival]>(&self.arrivals) + self.schedule_words * size_of::<u32>();
        self.states.memory_bytes() + arrivals as u64
    }
}
