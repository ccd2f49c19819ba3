//! Successors on their way to their owner, as bytes: each differs in a few words from the one before, and several have the same
//! parent, with which comes what its partition tells of it.
//!
//! ```text
//! successor := flags, [difference of the number of the parent], [notes about the parent], ordinal, words
//! words     := count, word…                                        if the number of words is another one than before
//!            | (1 + words skipped, old word xor new word)…, 0       if not
//! ```
//!
//! A number takes as many bytes as it needs, seven bits in each.

use super::exchange::ExchangeError;

const NEW_PARENT: u8 = 1;
const NEW_LENGTH: u8 = 2;
const NEW_NOTES: u8 = 4;

/// What a partition tells of a parent, beside its number.
pub(super) type Notes = [u64; 2];
/// If there is nothing to tell; takes no bytes.
pub(super) const NO_NOTES: Notes = [0; 2];

/// This many words are compared at once.
const CHUNK: usize = 16;

/// Writes a batch.
#[derive(Default)]
pub(super) struct BatchWriter {
    bytes: Vec<u8>,
    /// The number of the parent.
    parent: Option<u64>,
    notes: Notes,
    words: Vec<u32>,
}

impl BatchWriter {
    /// Bytes written.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Gives what was written, and begins anew with room for as much.
    pub(super) fn take(&mut self) -> Vec<u8> {
        self.parent = None;
        self.notes = NO_NOTES;
        self.words.clear();
        let room = Vec::with_capacity(self.bytes.len());
        std::mem::replace(&mut self.bytes, room)
    }

    /// What was written.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Adds a successor of the state with this number.
    pub(super) fn push(&mut self, parent: u64, notes: Notes, ordinal: u32, words: &[u32]) {
        let is_new_parent = self.parent != Some(parent);
        let is_new_length = self.words.len() != words.len() || self.parent.is_none();
        let are_new_notes = self.notes != notes;
        let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
        let lengths = flag(is_new_parent, NEW_PARENT) | flag(is_new_length, NEW_LENGTH);
        self.bytes.push(lengths | flag(are_new_notes, NEW_NOTES));
        if is_new_parent {
            self.number(folded(parent.wrapping_sub(self.parent.unwrap_or(0))));
            self.parent = Some(parent);
        }
        if are_new_notes {
            notes.into_iter().for_each(|note| self.number(note));
            self.notes = notes;
        }
        self.number(u64::from(ordinal));
        if is_new_length {
            self.number(words.len() as u64);
            words.iter().for_each(|word| self.number(u64::from(*word)));
            self.words.clear();
            self.words.extend_from_slice(words);
        } else {
            self.differences(words);
        }
    }

    fn differences(&mut self, words: &[u32]) {
        let mut next = 0;
        for (chunk, new) in words.chunks(CHUNK).enumerate() {
            let first = chunk * CHUNK;
            if self.words[first..first + new.len()] == *new {
                continue;
            }
            for (index, new) in (first..).zip(new) {
                let difference = std::mem::replace(&mut self.words[index], *new) ^ new;
                if difference != 0 {
                    self.number((index - next) as u64 + 1);
                    self.number(u64::from(difference));
                    next = index + 1;
                }
            }
        }
        self.bytes.push(0);
    }

    #[inline]
    fn number(&mut self, mut number: u64) {
        while 0x80 <= number {
            self.bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }
}

/// A difference that may be below 0, near 0 a small number: 0, -1, 1, -2, 2, … become 0, 1, 2, 3, 4, …
fn folded(difference: u64) -> u64 {
    difference << 1 ^ (difference >> 63).wrapping_neg()
}

/// The difference that was folded.
fn unfolded(number: u64) -> u64 {
    number >> 1 ^ (number & 1).wrapping_neg()
}

/// Reads the batches of a sender, one successor at a time.
pub(super) struct BatchReader {
    batches: std::vec::IntoIter<Vec<u8>>,
    bytes: Vec<u8>,
    at: usize,
    /// The number of the parent of the successor; `None` before the first one and after the last.
    pub parent: Option<u64>,
    /// The same; begins anew in each batch.
    number: u64,
    /// What its partition tells of the parent.
    pub notes: Notes,
    /// Which of the parent's ordinary successors it is, from 1.
    pub ordinal: u32,
    /// Its words.
    pub words: Vec<u32>,
}

impl BatchReader {
    /// At the first successor.
    pub(super) fn new(batches: Vec<Vec<u8>>) -> Result<Self, ExchangeError> {
        let (batches, words) = (batches.into_iter(), Vec::new());
        let (parent, notes) = (None, NO_NOTES);
        let mut reader = Self { batches, bytes: Vec::new(), at: 0, parent, number: 0, notes, ordinal: 0, words };
        reader.advance()?;
        Ok(reader)
    }

    /// Turns to the next successor.
    pub(super) fn advance(&mut self) -> Result<(), ExchangeError> {
        while self.bytes.len() <= self.at {
            self.parent = None;
            let Some(bytes) = self.batches.next() else { return Ok(()) };
            (self.bytes, self.at, self.number, self.notes) = (bytes, 0, 0, NO_NOTES);
        }
        self.read().ok_or(ExchangeError::Damaged)
    }

    fn read(&mut self) -> Option<()> {
        let flags = self.byte()?;
        if flags & NEW_PARENT != 0 {
            self.number = self.number.wrapping_add(unfolded(self.read_number()?));
            self.parent = Some(self.number);
        }
        self.parent?;
        if flags & NEW_NOTES != 0 {
            self.notes = [self.read_number()?, self.read_number()?];
        }
        self.ordinal = self.read_number()?.try_into().ok()?;
        if flags & NEW_LENGTH != 0 {
            let count = usize::try_from(self.read_number()?).ok()?;
            // Each word takes a byte at least.
            (count <= self.bytes.len() - self.at).then_some(())?;
            self.words.clear();
            for _ in 0..count {
                let word = self.read_number()?.try_into().ok()?;
                self.words.push(word);
            }
            return Some(());
        }
        let mut next = 0_usize;
        while let Some(skipped) = self.read_number()?.checked_sub(1) {
            next = next.checked_add(skipped.try_into().ok()?)?;
            let difference: u32 = self.read_number()?.try_into().ok()?;
            *self.words.get_mut(next)? ^= difference;
            next += 1;
        }
        Some(())
    }

    #[inline]
    fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    #[inline]
    fn read_number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toy::Random;

    #[test]
    fn what_was_written_is_read() {
        let mut random = Random::new(1);
        let mut writer = BatchWriter::default();
        let (mut written, mut batches) = (Vec::new(), Vec::new());
        let mut words = vec![1, 2, 3];
        for _ in 0..2_000 {
            let parent = random.next_u64() >> random.below(64);
            let notes = if random.below(2) == 0 { NO_NOTES } else { [random.next_u64(), u64::MAX] };
            for ordinal in 1..=random.below(4) as u32 {
                match random.below(10) {
                    0 => words = (0..random.below(9)).map(|_| random.next_u64() as u32).collect(),
                    _ => words.iter_mut().for_each(|word| *word ^= (random.below(20) / 19) as u32),
                }
                writer.push(parent, notes, ordinal, &words);
                written.push((parent, notes, ordinal, words.clone()));
            }
            if 500 < writer.len() {
                batches.push(writer.take());
            }
        }
        batches.push(writer.take());
        let mut reader = BatchReader::new(batches).expect("a batch");
        for (parent, notes, ordinal, words) in written {
            let read = (reader.parent, reader.notes, reader.ordinal, &reader.words);
            assert_eq!(read, (Some(parent), notes, ordinal, &words));
            reader.advance().expect("a successor");
        }
        assert_eq!(reader.parent, None);
    }

    #[test]
    fn bytes_that_are_no_batch_are_refused_or_read_but_never_trusted() {
        let mut random = Random::new(2);
        for length in 0..2_000 {
            let bytes: Vec<u8> = (0..length % 40).map(|_| (random.next_u64() % 140) as u8).collect();
            let Ok(mut reader) = BatchReader::new(vec![bytes]) else { continue };
            while reader.parent.is_some() && reader.advance().is_ok() {}
        }
    }
}
