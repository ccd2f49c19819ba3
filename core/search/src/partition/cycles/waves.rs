//! What is handed on along the edges of a graph: each state that is due tells its successors of itself, which changes what is known of
//! them, and may make them due.

use super::super::batch::Notes;
use super::super::exchange::ExchangeError;
use std::collections::BinaryHeap;

/// No accepting predecessor, and no part.
pub(super) const NULL: u64 = 0;
/// The part of all states before the first pass.
const WHOLE: u64 = u64::MAX;
/// A state is raised in the same round as those with the greatest values, if at most this many states of each partition lie between.
const WINDOW_STATES: u64 = 1024;

/// What is known of the states of a partition, by their numbers.
pub(super) struct Parts {
    me: u64,
    partitions: u64,
    /// The part of a state, named by its root; [`NULL`] once it is in none.
    pub part: Vec<u64>,
    /// Its greatest accepting predecessor inside its part.
    pub fine: Vec<u64>,
    /// Edges that enter it from its own part, unless they are too many to be counted; later another number, at most one for each state.
    pub entering: Vec<u32>,
}

impl Parts {
    /// All of this many states are in one part.
    pub fn new(me: usize, partitions: usize, states: usize) -> Self {
        let (me, partitions) = (me as u64, partitions as u64);
        Self { me, partitions, part: vec![WHOLE; states], fine: vec![NULL; states], entering: vec![0; states] }
    }

    /// Names a state of this partition among those of all partitions, in an order that all partitions know.
    pub fn value_of(&self, state: u32) -> u64 {
        u64::from(state) * self.partitions + self.me + 1
    }

    /// The state with a name, if it is one of this partition's.
    fn is_named(&self, state: u32, value: u64) -> bool {
        self.value_of(state) == value
    }

    /// The parts become those that were calculated inside them; how many states are left in any.
    pub fn split(&mut self) -> u64 {
        let mut left = 0;
        for (part, fine) in self.part.iter_mut().zip(&self.fine) {
            *part = if *part == NULL { NULL } else { *fine };
            left += u64::from(*part != NULL);
        }
        left
    }

    /// Memory in use, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        (size_of_val::<[u64]>(&self.part) + size_of_val::<[u64]>(&self.fine) + size_of_val::<[u32]>(&self.entering))
            as u64
    }
}

/// An edge, as its end learns of it.
pub(super) struct Arrival {
    /// What is told of its source.
    pub notes: Notes,
    pub accepts: bool,
    /// Its end.
    pub to: u32,
    /// Where it came from: the partition of its source, the number by which that is told, and which of its edges it is, from 1.
    pub from: (usize, u64, u32),
}

/// What is handed on.
pub(super) trait Wave {
    /// The next state that is due, and what it tells: its number, and notes.
    fn next(&mut self, parts: &mut Parts) -> Option<(u32, u64, Notes)>;

    /// Takes an edge in; whether it is the one that was looked for.
    fn arrive(&mut self, parts: &mut Parts, arrival: &Arrival) -> Result<bool, ExchangeError>;

    /// 0 if no state is due; a larger number if there are more.
    fn due(&self) -> u64;

    /// Whether cycles of transient states are looked for at the states that are due.
    const MEETS_ALL: bool = false;

    /// The greatest value that is to be handed on, where that matters.
    fn greatest(&mut self, _: &Parts) -> u64 {
        NULL
    }

    /// Is told before a round what the greatest of all partitions is.
    fn begin_round(&mut self, _: &Parts, _: u64) {}

    /// Memory in use, in bytes.
    fn memory_bytes(&self) -> u64 {
        0
    }
}

/// Counts the edges that enter each state from its own part, and makes the ends of accepting ones roots.
pub(super) struct Enter {
    next: usize,
    states: usize,
    /// Accepting edges between states of the same part.
    pub accepting: u64,
}

impl Enter {
    pub fn new(parts: &mut Parts) -> Self {
        parts.entering.fill(0);
        parts.fine.fill(NULL);
        Self { next: 0, states: parts.part.len(), accepting: 0 }
    }
}

impl Wave for Enter {
    const MEETS_ALL: bool = true;

    fn next(&mut self, parts: &mut Parts) -> Option<(u32, u64, Notes)> {
        let skipped = parts.part[self.next..].iter().position(|part| *part != NULL);
        let state = skipped.map_or(self.states, |skipped| self.next + skipped);
        self.next = self.states.min(state + 1);
        (state < self.states).then(|| (state as u32, state as u64, [parts.part[state], NULL]))
    }

    fn arrive(&mut self, parts: &mut Parts, arrival: &Arrival) -> Result<bool, ExchangeError> {
        let to = arrival.to as usize;
        if parts.part[to] == arrival.notes[0] {
            parts.entering[to] = parts.entering[to].saturating_add(1);
            if arrival.accepts {
                self.accepting += 1;
                parts.fine[to] = parts.value_of(arrival.to);
            }
        }
        Ok(false)
    }

    fn due(&self) -> u64 {
        (self.states - self.next) as u64
    }
}

/// Takes states out that no edge enters from their own part.
pub(super) struct Trim(Vec<u32>);

impl Trim {
    pub fn new(parts: &Parts) -> Self {
        let is_free = |&state: &u32| parts.part[state as usize] != NULL && parts.entering[state as usize] == 0;
        Self((0..parts.part.len() as u32).filter(is_free).collect())
    }
}

impl Wave for Trim {
    fn next(&mut self, parts: &mut Parts) -> Option<(u32, u64, Notes)> {
        let state = self.0.pop()?;
        let part = std::mem::replace(&mut parts.part[state as usize], NULL);
        Some((state, u64::from(state), [part, NULL]))
    }

    fn arrive(&mut self, parts: &mut Parts, arrival: &Arrival) -> Result<bool, ExchangeError> {
        let to = arrival.to as usize;
        // Where they are too many to be counted, nothing is taken out: that only takes longer.
        if parts.part[to] == arrival.notes[0] && parts.entering[to] < u32::MAX {
            let left = parts.entering[to].checked_sub(1).ok_or(ExchangeError::Damaged)?;
            parts.entering[to] = left;
            if left == 0 {
                self.0.push(arrival.to);
            }
        }
        Ok(false)
    }

    fn due(&self) -> u64 {
        self.0.len() as u64
    }

    fn memory_bytes(&self) -> u64 {
        size_of_val::<[u32]>(&self.0) as u64
    }
}

/// Hands on the greatest accepting predecessors, about the greatest first, so that most states are raised once. What all of them come
/// to does not depend on the order.
pub(super) struct Raise {
    /// States that were raised, with the value that they were raised to.
    raised: BinaryHeap<(u64, u32)>,
    /// Roots with smaller numbers have not handed on their values.
    roots: usize,
    /// Smaller values wait.
    least: u64,
}

impl Raise {
    pub fn new(parts: &Parts) -> Self {
        Self { raised: BinaryHeap::new(), roots: parts.part.len(), least: u64::MAX }
    }

    /// The greatest root that has not handed on its value. One that was raised meanwhile is none any more.
    fn next_root(&mut self, parts: &Parts) -> Option<u32> {
        while let Some(state) = self.roots.checked_sub(1) {
            if parts.part[state] != NULL && parts.is_named(state as u32, parts.fine[state]) {
                return Some(state as u32);
            }
            self.roots = state;
        }
        None
    }

    /// The greatest value of a state that was raised and has not handed it on.
    fn next_raised(&mut self, parts: &Parts) -> Option<(u64, u32)> {
        while let Some(&(value, state)) = self.raised.peek() {
            if parts.fine[state as usize] == value {
                return Some((value, state));
            }
            self.raised.pop();
        }
        None
    }
}

impl Wave for Raise {
    fn next(&mut self, parts: &mut Parts) -> Option<(u32, u64, Notes)> {
        let root = self.next_root(parts).map(|state| (parts.value_of(state), state));
        let raised = self.next_raised(parts);
        let (value, state) = root.max(raised).filter(|(value, _)| self.least <= *value)?;
        if raised == Some((value, state)) {
            self.raised.pop();
        } else {
            self.roots = state as usize;
        }
        Some((state, u64::from(state), [parts.part[state as usize], value]))
    }

    fn arrive(&mut self, parts: &mut Parts, arrival: &Arrival) -> Result<bool, ExchangeError> {
        let (to, [part, value]) = (arrival.to as usize, arrival.notes);
        if parts.part[to] != part {
            return Ok(false);
        }
        if arrival.accepts && parts.is_named(arrival.to, value) {
            return Ok(true);
        }
        if parts.fine[to] < value {
            parts.fine[to] = value;
            self.raised.push((value, arrival.to));
        }
        Ok(false)
    }

    fn due(&self) -> u64 {
        (self.raised.len() + self.roots) as u64
    }

    fn greatest(&mut self, parts: &Parts) -> u64 {
        let root = self.next_root(parts).map_or(NULL, |state| parts.value_of(state));
        self.next_raised(parts).map_or(NULL, |(value, _)| value).max(root)
    }

    fn begin_round(&mut self, parts: &Parts, greatest: u64) {
        self.least = greatest.saturating_sub(WINDOW_STATES * parts.partitions);
    }

    fn memory_bytes(&self) -> u64 {
        (self.raised.len() * size_of::<(u64, u32)>()) as u64
    }
}
