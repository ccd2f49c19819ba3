//! What distinguishes nodes beside their states, each kept once: a sleep set, how often loops were closed, how many steps are
//! left. A node has its number in a single word, so that nodes of states of the same length are of the same length, and a
//! store compares and remembers only what a step changes.

use crate::store::hash::hash_words;

/// What a node is beside its state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Row<'a> {
    /// Steps that an execution may still take.
    pub left: u32,
    /// Names of the steps asleep, in ascending order.
    pub asleep: &'a [u32],
    /// Keys of loops, each followed by how often it was met.
    pub laps: &'a [u32],
}

/// Different rows, numbered in the order of their arrival.
#[derive(Debug, Default)]
pub(super) struct SleepSets {
    /// Row by row: steps left, how many steps are asleep, their names, then the keys of loops.
    words: Vec<u32>,
    /// Where each row ends.
    ends: Vec<u32>,
    /// Open addressing: one more than the number of a row, or 0.
    slots: Vec<u32>,
    /// The row that is looked for.
    room: Vec<u32>,
}

/// Words of a row before the names of the steps asleep.
const HEAD: usize = 2;

impl SleepSets {
    /// The number of a row, a new one if it has none yet; `None` if there is no room for more.
    #[inline]
    pub(super) fn number_of(&mut self, row: &Row<'_>) -> Option<u32> {
        if self.slots.len() < 2 * (self.ends.len() + 1) {
            self.grow();
        }
        self.room.clear();
        self.room.extend([row.left, row.asleep.len() as u32]);
        self.room.extend_from_slice(row.asleep);
        self.room.extend_from_slice(row.laps);
        let mask = self.slots.len() - 1;
        let mut at = hash_words(&self.room, 0) as usize & mask;
        while let Some(number) = self.slots[at].checked_sub(1) {
            if self.words_of(number) == self.room {
                return Some(number);
            }
            at = (at + 1) & mask;
        }
        let end = u32::try_from(self.words.len() + self.room.len()).ok()?;
        self.words.extend_from_slice(&self.room);
        self.ends.push(end);
        self.slots[at] = self.ends.len() as u32;
        Some(self.slots[at] - 1)
    }

    /// The row with a number.
    #[inline]
    pub(super) fn row(&self, number: u32) -> Row<'_> {
        let words = self.words_of(number);
        let (asleep, laps) = words[HEAD..].split_at(words[1] as usize);
        Row { left: words[0], asleep, laps }
    }

    #[inline]
    fn words_of(&self, number: u32) -> &[u32] {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before as usize]);
        &self.words[start as usize..self.ends[number as usize] as usize]
    }

    #[cold]
    fn grow(&mut self) {
        let len = (self.slots.len() * 2).max(64);
        self.slots = vec![0; len];
        for number in 0..self.ends.len() as u32 {
            let mut at = hash_words(self.words_of(number), 0) as usize & (len - 1);
            while self.slots[at] != 0 {
                at = (at + 1) & (len - 1);
            }
            self.slots[at] = number + 1;
        }
    }

    /// Memory in use, in bytes.
    pub(super) fn memory_bytes(&self) -> u64 {
        let words = self.words.capacity() + self.ends.capacity() + self.slots.capacity() + self.room.capacity();
        (words * size_of::<u32>()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toy::Random;
    use std::collections::HashMap;

    #[test]
    fn rows_have_the_same_number_exactly_if_they_are_equal() {
        let (mut sets, mut random) = (SleepSets::default(), Random::new(1));
        let mut known: HashMap<(u32, Vec<u32>, Vec<u32>), u32> = HashMap::new();
        for _ in 0..20_000 {
            let mut words =
                |most: usize| -> Vec<u32> { (0..random.below(most)).map(|_| random.below(3) as u32).collect() };
            let (asleep, laps, left) = (words(6), words(3), words(2).len() as u32);
            let number = sets.number_of(&Row { left, asleep: &asleep, laps: &laps }).expect("there is room");
            let next = known.len() as u32;
            assert_eq!(*known.entry((left, asleep, laps)).or_insert(next), number);
        }
        assert!(known.len() > 500, "{}", known.len());
        for ((left, asleep, laps), number) in &known {
            let row = sets.row(*number);
            assert_eq!((row.left, row.asleep, row.laps), (*left, &asleep[..], &laps[..]));
        }
    }
}
