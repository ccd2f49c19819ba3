//! A list of processes: the state of the schedulers in here.

use super::Ranking;
use smallvec::SmallVec;

/// Processes; a few need no memory of their own.
pub(super) type Processes = SmallVec<[u8; 16]>;

/// A short list of processes, the next one first. Those at its end may have been held back.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Order {
    processes: Processes,
    held_back: u8,
}

impl Order {
    /// These processes, in this order.
    pub fn new(processes: impl IntoIterator<Item = u8>) -> Self {
        Self { processes: processes.into_iter().collect(), held_back: 0 }
    }

    /// These processes, those with the smallest rank first, and equals as they come.
    pub fn by_rank(ranking: &impl Ranking, state: &[u32], processes: impl IntoIterator<Item = u8>) -> Self {
        let mut order = Self::new(processes);
        order.processes.sort_by_key(|&process| ranking.rank(state, process));
        order
    }

    /// The first.
    pub fn first(&self) -> Option<u8> {
        self.processes.first().copied()
    }

    /// Sends the first to the end.
    pub fn rotate(&mut self) {
        if !self.processes.is_empty() {
            self.processes.rotate_left(1);
        }
    }

    /// Macro steps a ring to the first process of which `here` is true; leaves it as it is if there is none.
    pub fn settle(&mut self, here: impl Fn(u8) -> bool) {
        let place = self.processes.iter().position(|&process| here(process)).unwrap_or(0);
        self.processes.rotate_left(place);
    }

    /// Takes a process out.
    pub fn remove(&mut self, process: u8) {
        self.processes.retain(|&mut other| other != process);
    }

    /// Puts a process at the front, wherever it was.
    pub fn put_first(&mut self, process: u8) {
        self.remove(process);
        self.processes.insert(0, process);
    }

    /// The processes, in order.
    pub fn iter(&self) -> impl Iterator<Item = u8> + '_ {
        self.processes.iter().copied()
    }

    /// Sends the first to the end, behind all that were not held back.
    pub(super) fn hold_back(&mut self) {
        self.rotate();
        let all = u8::try_from(self.processes.len()).unwrap_or(u8::MAX);
        self.held_back = all.min(self.held_back.saturating_add(1));
    }

    /// Those held back, the one that was first.
    pub(super) fn held_back(&self) -> impl Iterator<Item = u8> + '_ {
        self.processes[self.processes.len().saturating_sub(usize::from(self.held_back))..].iter().copied()
    }

    /// The processes in order, and how many of them were held back.
    pub(super) fn parts(&self) -> (&[u8], u8) {
        (&self.processes, self.held_back)
    }

    /// The order with these parts.
    pub(super) fn of_parts(processes: Processes, held_back: u8) -> Self {
        Self { processes, held_back }
    }

    /// The same processes before others, which are held back.
    pub(super) fn before(mut self, held_back: impl Iterator<Item = u8>) -> Self {
        let free = self.processes.len();
        self.processes.extend(held_back);
        self.held_back = u8::try_from(self.processes.len() - free).unwrap_or(u8::MAX);
        self
    }
}
