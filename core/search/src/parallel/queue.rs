//! States to go on from, first in, first out, in few words each.

use super::explorer::Start;
use super::store::Key;
use super::trace::Trace;

/// The queue.
#[derive(Debug, Default)]
pub(super) struct Queue {
    /// Per state: four words of the key, trace, depth, number of hidden words, those.
    words: Vec<u32>,
    /// Words of states that were taken.
    taken: usize,
    len: usize,
}

/// Words of a state without those that are hidden.
const FIXED: usize = 7;
/// This many words of states that were taken are kept in any case.
const TAKEN_MIN: usize = 1 << 12;

impl Queue {
    /// States in the queue.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Memory in use, in bytes.
    pub(super) fn memory_bytes(&self) -> u64 {
        size_of_val::<[u32]>(&self.words) as u64
    }

    /// Adds a state at the end.
    pub(super) fn put(&mut self, start: &Start) {
        self.words.extend(start.key.to_words());
        self.words.extend([start.trace.0, u32::try_from(start.depth).unwrap_or(u32::MAX), start.hidden.len() as u32]);
        self.words.extend_from_slice(&start.hidden);
        self.len += 1;
    }

    /// Takes the first state.
    pub(super) fn take(&mut self) -> Option<Start> {
        let fixed = self.words.get(self.taken..self.taken + FIXED)?;
        let &[low, high, layout, set, trace, depth, hidden] = fixed else { return None };
        let start = self.taken + FIXED;
        self.taken = start + hidden as usize;
        let hidden = self.words[start..self.taken].to_vec();
        self.len -= 1;
        if TAKEN_MIN < self.taken && self.words.len() / 2 < self.taken {
            self.words.drain(..self.taken);
            self.taken = 0;
        }
        let key = Key::from_words([low, high, layout, set]);
        Some(Start { key, hidden, trace: Trace(trace), depth: u64::from(depth) })
    }

    /// Takes the first half, or all but one.
    pub(super) fn take_half(&mut self) -> Self {
        let mut half = Self::default();
        for _ in 0..self.len / 2 {
            if let Some(start) = self.take() {
                half.put(&start);
            }
        }
        half
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    #[test]
    fn states_come_out_in_the_order_in_which_they_went_in() {
        let mut queue = Queue::default();
        let mut expected = VecDeque::new();
        for i in 0..5000_u32 {
            let hidden = vec![i; i as usize % 3];
            let key = Key::from_words([i, i + 1, i + 2, i + 3]);
            let start = Start { key, hidden, trace: Trace(i * 7), depth: u64::from(i) * 3 };
            queue.put(&start);
            expected.push_back(start);
            if i % 3 == 0 {
                assert_eq!(queue.take(), expected.pop_front());
            }
            assert_eq!(queue.len(), expected.len());
        }
        let mut half = queue.take_half();
        assert!(half.len().abs_diff(queue.len()) <= 1);
        for queue in [&mut half, &mut queue] {
            while let Some(start) = queue.take() {
                assert_eq!(Some(start), expected.pop_front());
            }
        }
        assert!(expected.is_empty());
    }
}
