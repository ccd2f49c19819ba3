//! What the searches for violations in the order of delays leave behind; see [`crate::checkpoint`].

use super::{Origin, Round};
use crate::checkpoint::{Snapshot, origins};
use crate::model::ProcessSet;
use crate::outcome::Statistics;
use serde::{Deserialize, Serialize};

/// Where a fast search stands: what waits are loops of states that were interrupted or postponed.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize, Debug)]
pub struct FastSnapshot {
    /// The bound of the round that was going on or about to begin.
    pub bound: u32,
    /// The rounds that were finished.
    pub rounds: Vec<Round>,
    pub(crate) counters: Statistics,
    /// Alternatives were not taken for want of choices.
    pub(crate) cut_off: bool,
    /// Of each state, by its number.
    #[serde(with = "origins")]
    pub(crate) origins: Vec<Origin>,
    /// What this round has yet to do, in this order.
    pub(crate) now: Vec<Waiting>,
    /// What waits for the next round.
    pub(crate) later: Vec<Waiting>,
}

/// The loop of a state, as far as it came.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub(crate) struct Waiting {
    pub number: u32,
    pub delays: u32,
    pub index: u32,
    pub macro_step: u32,
    pub environment: bool,
    pub depth: u64,
    pub choices: u32,
}

impl FastSnapshot {
    /// States found so far.
    pub fn states(&self) -> u64 {
        self.origins.len() as u64
    }

    /// States whose loops wait.
    pub fn waiting(&self) -> u64 {
        (self.now.len() + self.later.len()) as u64
    }
}

impl Snapshot for FastSnapshot {
    fn is_consistent(&self) -> bool {
        self.now.iter().chain(&self.later).all(|waiting| (waiting.number as usize) < self.origins.len())
    }
}

/// Where an exact search stands: its numbers are those of pairs of states of system and scheduler.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize, Debug)]
pub struct ExactSnapshot {
    /// The bound of the round that was going on or is over.
    pub bound: u32,
    /// The rounds that were finished.
    pub rounds: Vec<Round>,
    pub(crate) counters: Statistics,
    /// Of each pair that was ever queued.
    #[serde(with = "origins")]
    pub(crate) origins: Vec<Origin>,
    /// Pairs that are to be looked at, in this order.
    pub(crate) now: Vec<u32>,
    /// Pairs that need one delay more, in this order.
    pub(crate) later: Vec<u32>,
    /// Of each state of the system, in the order in which they were met: the processes that can move and have not been run there.
    pub(crate) waiting: Vec<ProcessSet>,
}

impl ExactSnapshot {
    /// States of the system found so far.
    pub fn states(&self) -> u64 {
        self.waiting.len() as u64
    }
}

impl Snapshot for ExactSnapshot {
    fn is_consistent(&self) -> bool {
        self.now.iter().chain(&self.later).all(|&pair| (pair as usize) < self.origins.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs() -> ExactSnapshot {
        ExactSnapshot {
            bound: 2,
            rounds: vec![Round { bound: 1, states: 3, frontier: 2, ..Round::default() }],
            counters: Statistics { states: 2, matched: 1 << 50, ..Statistics::default() },
            origins: vec![
                Origin::NONE,
                Origin { parent: 0, macro_step: Origin::DELAY },
                Origin { parent: 1, macro_step: 3 },
            ],
            now: vec![2],
            later: vec![0, 1],
            waiting: vec![ProcessSet::first(3), ProcessSet::EMPTY],
        }
    }

    fn example() -> FastSnapshot {
        let one = Waiting {
            number: 2,
            delays: 300,
            index: 1,
            macro_step: u32::MAX,
            environment: true,
            depth: 1 << 40,
            choices: 6,
        };
        FastSnapshot {
            bound: 3,
            rounds: vec![
                Round { bound: 0, states: 1, frontier: 1, ..Round::default() },
                Round { bound: 1, states: 3, frontier: 2, ..Round::default() },
            ],
            counters: Statistics { matched: 70_000, transient: 5, depth: 129, ..Statistics::default() },
            cut_off: true,
            origins: vec![Origin::NONE, Origin { parent: 0, macro_step: 128 }, Origin { parent: 0, macro_step: 0 }],
            now: vec![one, Waiting { number: 0, ..one }],
            later: vec![Waiting { environment: false, ..one }],
        }
    }

    fn is_read_as_written<S: Snapshot + PartialEq + std::fmt::Debug>(snapshot: &S) {
        assert_eq!(S::from_bytes(&snapshot.to_bytes()).as_ref(), Some(snapshot));
    }

    #[test]
    fn what_is_read_is_what_was_written() {
        is_read_as_written(&example());
        is_read_as_written(&FastSnapshot::default());
        is_read_as_written(&pairs());
        is_read_as_written(&ExactSnapshot::default());
    }

    /// Nothing is asked of what is read from damaged bytes but that it is read.
    fn is_refused_or_read<S: Snapshot + PartialEq + std::fmt::Debug>(snapshot: &S) {
        let bytes = snapshot.to_bytes();
        for end in 0..bytes.len() {
            assert_eq!(S::from_bytes(&bytes[..end]), None);
        }
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << bit;
                let _ = S::from_bytes(&damaged);
            }
        }
        assert_eq!(S::from_bytes(&[&bytes[..], &[0]].concat()), None);
    }

    #[test]
    fn damaged_bytes_are_refused_or_read_and_never_worse() {
        is_refused_or_read(&example());
        is_refused_or_read(&pairs());
    }
}
