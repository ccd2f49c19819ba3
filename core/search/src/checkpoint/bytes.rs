//! Numbers as bytes: seven bits to a byte, the lowest first; the eighth says that more follow.

use crate::delay_bounded::{Origin, Round};
use crate::model::ProcessSet;
use crate::outcome::Statistics;

/// What was written so far.
#[derive(Default)]
pub(crate) struct Written(pub Vec<u8>);

impl Written {
    pub fn put(&mut self, number: impl Into<u64>) {
        let mut rest = number.into();
        while rest >= 0x80 {
            self.0.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        self.0.push(rest as u8);
    }

    /// How many of something follow.
    pub fn put_count(&mut self, count: usize) {
        self.put(count as u64);
    }

    pub fn put_list(&mut self, list: &[u32]) {
        self.put_count(list.len());
        list.iter().for_each(|&one| self.put(one));
    }

    pub fn put_set(&mut self, set: &ProcessSet) {
        self.put_count(set.len());
        set.iter().for_each(|process| self.put(process));
    }

    pub fn put_rounds(&mut self, rounds: &[Round]) {
        self.put_count(rounds.len());
        for round in rounds {
            self.put(round.bound);
            self.put(round.states);
            self.put(round.frontier);
        }
    }

    /// The counters that go on counting.
    pub fn put_counters(&mut self, counters: &Statistics) {
        let Statistics { states, matched, transient, cut, depth, .. } = *counters;
        [states, matched, transient, cut, depth].into_iter().for_each(|counter| self.put(counter));
    }

    /// Of each state or pair: how far its parent lies before it, and the turn from there. The first one has none.
    pub fn put_origins(&mut self, origins: &[Origin]) {
        self.put_count(origins.len());
        for (number, origin) in origins.iter().enumerate().skip(1) {
            self.put(number as u64 - u64::from(origin.parent));
            // A delay is the greatest number there is, and becomes the least.
            self.put(origin.turn.wrapping_add(1));
        }
    }
}

/// What is left to read.
pub(crate) struct Bytes<'a>(pub &'a [u8]);

impl Bytes<'_> {
    pub fn take(&mut self) -> Option<u64> {
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

    pub fn take_u32(&mut self) -> Option<u32> {
        u32::try_from(self.take()?).ok()
    }

    pub fn take_bool(&mut self) -> Option<bool> {
        match self.take()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    /// A number of things that follow, each of which takes at least a byte.
    pub fn take_count(&mut self) -> Option<usize> {
        let count = usize::try_from(self.take()?).ok()?;
        (count <= self.0.len() + 1).then_some(count)
    }

    /// A number below a limit.
    pub fn take_below(&mut self, limit: usize) -> Option<u32> {
        self.take_u32().filter(|&number| (number as usize) < limit)
    }

    /// Numbers below a limit.
    pub fn take_list(&mut self, limit: usize) -> Option<Vec<u32>> {
        let count = self.take_count()?;
        (0..count).map(|_| self.take_below(limit)).collect()
    }

    pub fn take_set(&mut self) -> Option<ProcessSet> {
        let mut set = ProcessSet::EMPTY;
        for _ in 0..self.take_count()? {
            set.insert(u8::try_from(self.take()?).ok()?);
        }
        Some(set)
    }

    pub fn take_rounds(&mut self) -> Option<Vec<Round>> {
        let count = self.take_count()?;
        let one = |_| Some(Round { bound: self.take_u32()?, states: self.take()?, frontier: self.take()? });
        (0..count).map(one).collect()
    }

    pub fn take_counters(&mut self) -> Option<Statistics> {
        let (states, matched, transient) = (self.take()?, self.take()?, self.take()?);
        let (cut, depth) = (self.take()?, self.take()?);
        Some(Statistics { states, matched, transient, cut, depth, ..Statistics::default() })
    }

    pub fn take_origins(&mut self) -> Option<Vec<Origin>> {
        let count = self.take_count()?;
        let mut origins: Vec<Origin> = (0 < count).then_some(Origin::NONE).into_iter().collect();
        for number in 1..count as u64 {
            let (back, turn) = (self.take()?, self.take_u32()?.wrapping_sub(1));
            let parent = number.checked_sub(back).filter(|&parent| parent < number)?;
            origins.push(Origin { parent: u32::try_from(parent).ok()?, turn });
        }
        Some(origins)
    }

    /// What was read, if nothing is left.
    pub fn end<T>(&self, read: T) -> Option<T> {
        self.0.is_empty().then_some(read)
    }
}
