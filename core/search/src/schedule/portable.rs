//! States of schedulers as words, for searches that send them to other processes.

use super::order::{Order, Processes};

/// Processes in a word.
const PER_WORD: usize = 4;

/// A state of a scheduler that is written to words and read from them: equal states have equal words, and only these.
pub trait Portable: Sized {
    /// Appends it to words.
    fn write(&self, words: &mut Vec<u32>);

    /// Takes it from the beginning of words; `None` if none begins there.
    fn read(words: &mut &[u32]) -> Option<Self>;
}

impl Portable for Order {
    fn write(&self, words: &mut Vec<u32>) {
        let (processes, held_back) = self.parts();
        words.push(processes.len() as u32 | u32::from(held_back) << 16);
        words.extend(processes.chunks(PER_WORD).map(|chunk| {
            let mut bytes = [0; PER_WORD];
            bytes[..chunk.len()].copy_from_slice(chunk);
            u32::from_le_bytes(bytes)
        }));
    }

    fn read(words: &mut &[u32]) -> Option<Self> {
        let (head, rest) = words.split_first()?;
        let (len, held_back) = ((head & 0xFFFF) as usize, u8::try_from(head >> 16).ok()?);
        let (packed, rest) = rest.split_at_checked(len.div_ceil(PER_WORD))?;
        let processes: Processes = packed.iter().flat_map(|word| word.to_le_bytes()).take(len).collect();
        *words = rest;
        Some(Self::of_parts(processes, held_back))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toy::Random;

    #[test]
    fn what_was_written_is_read_and_equal_words_are_equal_states() {
        let mut random = Random::new(1);
        let mut orders = Vec::new();
        for _ in 0..200 {
            let len = random.below(12);
            let mut order = Order::new((0..len).map(|_| random.below(3) as u8));
            (0..random.below(3)).for_each(|_| order.hold_back());
            orders.push(order);
        }
        let written: Vec<Vec<u32>> = orders.iter().map(words_of).collect();
        for (order, words) in orders.iter().zip(&written) {
            let followed = [&words[..], &[7]].concat();
            let mut left = &followed[..];
            assert_eq!(Order::read(&mut left).as_ref(), Some(order));
            assert_eq!(left, [7]);
            for (other, others) in orders.iter().zip(&written) {
                assert_eq!(order == other, words == others);
            }
        }
    }

    fn words_of(order: &Order) -> Vec<u32> {
        let mut words = Vec::new();
        order.write(&mut words);
        words
    }

    #[test]
    fn words_that_are_no_order_are_refused() {
        let words = words_of(&Order::new(0..9));
        for end in 0..words.len() {
            assert_eq!(Order::read(&mut &words[..end]), None);
        }
        assert_eq!(Order::read(&mut &[u32::MAX, 1][..]), None);
    }
}
