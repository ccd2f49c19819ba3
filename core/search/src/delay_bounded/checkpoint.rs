//! Where a search in the order of delays stands, so that it can go on another day.
//!
//! A snapshot holds no states. It holds the way to each: the state it was first met from, and by which turn. Whoever resumes a
//! search walks this tree once, and has every state and every state of the scheduler again, whatever store keeps
//! them. That lists the turns of each state that others came of once, and of no other.
//! Beside the tree it holds what waits: the loops of states that were interrupted or postponed, in the order in which they would
//! have gone on. So a search that is resumed does exactly what it would have done.

use super::{Origin, Round};
use crate::outcome::Statistics;

/// A snapshot that was written down differently is not read.
const FORMAT: u64 = 2;

/// Where a search stands.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Snapshot {
    /// The bound of the round that was going on or about to begin.
    pub bound: u32,
    /// The rounds that were finished.
    pub rounds: Vec<Round>,
    pub(crate) matched: u64,
    pub(crate) transient: u64,
    pub(crate) cut: u64,
    /// Alternatives were not taken for want of choices.
    pub(crate) cut_off: bool,
    pub(crate) depth: u64,
    /// Of each state, by its number.
    pub(crate) origins: Vec<Origin>,
    /// What this round has yet to do, in this order.
    pub(crate) now: Vec<Waiting>,
    /// What waits for the next round.
    pub(crate) later: Vec<Waiting>,
}

/// The loop of a state, as far as it came.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Waiting {
    pub number: u32,
    pub delays: u32,
    pub index: u32,
    pub turn: u32,
    pub nobodys: bool,
    pub depth: u64,
    pub choices: u32,
}

impl Snapshot {
    /// States found so far.
    pub fn states(&self) -> u64 {
        self.origins.len() as u64
    }

    /// States whose loops wait.
    pub fn waiting(&self) -> u64 {
        (self.now.len() + self.later.len()) as u64
    }

    pub(crate) fn counters(&self) -> Statistics {
        Statistics {
            states: self.states(),
            matched: self.matched,
            transient: self.transient,
            cut: self.cut,
            depth: self.depth,
            ..Statistics::default()
        }
    }

    /// The snapshot as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut put = |number: u64| put(&mut bytes, number);
        put(FORMAT);
        put(u64::from(self.bound));
        put(self.rounds.len() as u64);
        for round in &self.rounds {
            [u64::from(round.bound), round.states, round.frontier].into_iter().for_each(&mut put);
        }
        [self.matched, self.transient, self.cut, u64::from(self.cut_off), self.depth].into_iter().for_each(&mut put);
        put(self.origins.len() as u64);
        for (number, origin) in self.origins.iter().enumerate().skip(1) {
            put(number as u64 - u64::from(origin.parent));
            put(u64::from(origin.turn));
        }
        for waiting in [&self.now, &self.later] {
            put(waiting.len() as u64);
            for one in waiting {
                let numbers = [one.number, one.delays, one.index, one.turn, u32::from(one.nobodys), one.choices];
                numbers.into_iter().map(u64::from).chain([one.depth]).for_each(&mut put);
            }
        }
        bytes
    }

    /// The snapshot that these bytes are; `None` if they are none.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut bytes = Bytes(bytes);
        if bytes.take()? != FORMAT {
            return None;
        }
        let mut snapshot = Self { bound: bytes.take_u32()?, ..Self::default() };
        for _ in 0..bytes.take_count()? {
            let (bound, states, frontier) = (bytes.take_u32()?, bytes.take()?, bytes.take()?);
            snapshot.rounds.push(Round { bound, states, frontier });
        }
        (snapshot.matched, snapshot.transient) = (bytes.take()?, bytes.take()?);
        (snapshot.cut, snapshot.cut_off, snapshot.depth) = (bytes.take()?, bytes.take()? != 0, bytes.take()?);
        let states = bytes.take_count()?;
        snapshot.origins.extend((0 < states).then_some(Origin::NONE));
        for number in 1..states {
            let (back, turn) = (bytes.take()?, bytes.take_u32()?);
            let parent = (number as u64).checked_sub(back).filter(|&parent| parent < number as u64)?;
            snapshot.origins.push(Origin { parent: parent as u32, turn });
        }
        (snapshot.now, snapshot.later) = (bytes.take_waiting(states)?, bytes.take_waiting(states)?);
        bytes.0.is_empty().then_some(snapshot)
    }
}

/// Seven bits to a byte, the lowest first; the eighth says that more follow.
fn put(bytes: &mut Vec<u8>, number: u64) {
    let mut rest = number;
    while rest >= 0x80 {
        bytes.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    bytes.push(rest as u8);
}

/// What is left to read.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn take(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            number |= u64::from(byte & 0x7F).checked_shl(shift)?;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    fn take_u32(&mut self) -> Option<u32> {
        u32::try_from(self.take()?).ok()
    }

    /// A number of things that follow, each of which takes at least a byte.
    fn take_count(&mut self) -> Option<usize> {
        let count = usize::try_from(self.take()?).ok()?;
        (count <= self.0.len() + 1).then_some(count)
    }

    fn take_waiting(&mut self, states: usize) -> Option<Vec<Waiting>> {
        let mut waiting = Vec::new();
        for _ in 0..self.take_count()? {
            let number = self.take_u32().filter(|&number| (number as usize) < states)?;
            let (delays, index, turn) = (self.take_u32()?, self.take_u32()?, self.take_u32()?);
            let (nobodys, choices, depth) = (self.take()? != 0, self.take_u32()?, self.take()?);
            waiting.push(Waiting { number, delays, index, turn, nobodys, depth, choices });
        }
        Some(waiting)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Snapshot {
        let one =
            Waiting { number: 2, delays: 300, index: 1, turn: u32::MAX, nobodys: true, depth: 1 << 40, choices: 6 };
        Snapshot {
            bound: 3,
            rounds: vec![Round { bound: 0, states: 1, frontier: 1 }, Round { bound: 1, states: 3, frontier: 2 }],
            matched: 70_000,
            transient: 5,
            cut: 0,
            cut_off: true,
            depth: 129,
            origins: vec![Origin::NONE, Origin { parent: 0, turn: 128 }, Origin { parent: 0, turn: 0 }],
            now: vec![one, Waiting { number: 0, ..one }],
            later: vec![Waiting { nobodys: false, ..one }],
        }
    }

    #[test]
    fn what_is_read_is_what_was_written() {
        let bytes = example().to_bytes();
        assert_eq!(Snapshot::from_bytes(&bytes), Some(example()));
        assert_eq!(Snapshot::from_bytes(&Snapshot::default().to_bytes()), Some(Snapshot::default()));
    }

    #[test]
    fn damaged_bytes_are_refused_or_read_and_never_worse() {
        let bytes = example().to_bytes();
        for end in 0..bytes.len() {
            assert_eq!(Snapshot::from_bytes(&bytes[..end]), None);
        }
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << bit;
                let _ = Snapshot::from_bytes(&damaged);
            }
        }
        assert_eq!(Snapshot::from_bytes(&[&bytes[..], &[0]].concat()), None);
    }
}
