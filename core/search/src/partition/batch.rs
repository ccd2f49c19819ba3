//! Successors on their way to their owner, as bytes: each differs in a few words from the one before, and several have the same
//! parent.
//!
//! ```text
//! successor := flags, [key of the parent (8 bytes), number of the parent], ordinal, words
//! words     := count, word…                                     if the number of words is another one than before
//!            | count, (words skipped, old word xor new word)…    if not
//! ```
//!
//! Numbers without a size take as many bytes as they need, seven bits in each.

use super::exchange::ExchangeError;

const NEW_PARENT: u8 = 1;
const NEW_LENGTH: u8 = 2;

/// The parent of a successor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Parent {
    /// Its key.
    pub key: u64,
    /// Its number in its partition.
    pub number: u64,
}

/// Writes a batch.
#[derive(Default)]
pub(super) struct BatchWriter {
    bytes: Vec<u8>,
    parent: Option<Parent>,
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
        self.words.clear();
        let room = Vec::with_capacity(self.bytes.len());
        std::mem::replace(&mut self.bytes, room)
    }

    /// Adds a successor.
    pub(super) fn push(&mut self, parent: Parent, ordinal: u32, words: &[u32]) {
        let is_new_parent = self.parent != Some(parent);
        let is_new_length = self.words.len() != words.len() || self.parent.is_none();
        let flags = if is_new_parent { NEW_PARENT } else { 0 } | if is_new_length { NEW_LENGTH } else { 0 };
        self.bytes.push(flags);
        if is_new_parent {
            self.bytes.extend_from_slice(&parent.key.to_le_bytes());
            self.number(parent.number);
            self.parent = Some(parent);
        }
        self.number(u64::from(ordinal));
        if is_new_length {
            self.number(words.len() as u64);
            words.iter().for_each(|word| self.number(u64::from(*word)));
        } else {
            self.differences(words);
        }
        self.words.clear();
        self.words.extend_from_slice(words);
    }

    fn differences(&mut self, words: &[u32]) {
        let count = self.words.iter().zip(words).filter(|(old, new)| old != new).count();
        self.number(count as u64);
        let mut next = 0;
        for (index, new) in words.iter().enumerate() {
            let old = self.words[index];
            if old != *new {
                self.number((index - next) as u64);
                self.number(u64::from(old ^ new));
                next = index + 1;
            }
        }
    }

    fn number(&mut self, mut number: u64) {
        while 0x80 <= number {
            self.bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }
}

/// Reads the batches of a sender, one successor at a time.
pub(super) struct BatchReader {
    batches: std::vec::IntoIter<Vec<u8>>,
    bytes: Vec<u8>,
    at: usize,
    /// The parent of the successor; `None` before the first one and after the last.
    pub parent: Option<Parent>,
    /// Which of the parent's ordinary successors it is, from 1.
    pub ordinal: u32,
    /// Its words.
    pub words: Vec<u32>,
}

impl BatchReader {
    /// At the first successor.
    pub(super) fn new(batches: Vec<Vec<u8>>) -> Result<Self, ExchangeError> {
        let (batches, words) = (batches.into_iter(), Vec::new());
        let mut reader = Self { batches, bytes: Vec::new(), at: 0, parent: None, ordinal: 0, words };
        reader.advance()?;
        Ok(reader)
    }

    /// Turns to the next successor.
    pub(super) fn advance(&mut self) -> Result<(), ExchangeError> {
        while self.bytes.len() <= self.at {
            self.parent = None;
            let Some(bytes) = self.batches.next() else { return Ok(()) };
            (self.bytes, self.at) = (bytes, 0);
        }
        self.read().ok_or(ExchangeError::Damaged)
    }

    fn read(&mut self) -> Option<()> {
        let flags = self.byte()?;
        if flags & NEW_PARENT != 0 {
            let key = self.bytes.get(self.at..self.at + 8)?;
            let key = u64::from_le_bytes(key.try_into().ok()?);
            self.at += 8;
            self.parent = Some(Parent { key, number: self.number()? });
        }
        self.parent?;
        self.ordinal = self.number()?.try_into().ok()?;
        let count = usize::try_from(self.number()?).ok()?;
        if flags & NEW_LENGTH != 0 {
            // Each word takes a byte at least.
            (count <= self.bytes.len() - self.at).then_some(())?;
            self.words.clear();
            for _ in 0..count {
                let word = self.number()?.try_into().ok()?;
                self.words.push(word);
            }
            return Some(());
        }
        let mut next = 0_usize;
        for _ in 0..count {
            next = next.checked_add(self.number()?.try_into().ok()?)?;
            let difference: u32 = self.number()?.try_into().ok()?;
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
    fn number(&mut self) -> Option<u64> {
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
        for number in 0..2_000 {
            let parent = Parent { key: random.next_u64(), number: number << 20 };
            for ordinal in 1..=random.below(4) as u32 {
                match random.below(10) {
                    0 => words = (0..random.below(9)).map(|_| random.next_u64() as u32).collect(),
                    _ => words.iter_mut().for_each(|word| *word ^= (random.below(20) / 19) as u32),
                }
                writer.push(parent, ordinal, &words);
                written.push((parent, ordinal, words.clone()));
            }
            if 500 < writer.len() {
                batches.push(writer.take());
            }
        }
        batches.push(writer.take());
        let mut reader = BatchReader::new(batches).expect("a batch");
        for (parent, ordinal, words) in written {
            assert_eq!((reader.parent, reader.ordinal, &reader.words), (Some(parent), ordinal, &words));
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
