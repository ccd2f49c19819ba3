//! Numbers for short sequences of words: equal ones have the same number.

use rustc_hash::FxHashMap;

/// Sequences of words, numbered from 0 in the order in which they were first met.
#[derive(Clone, Debug, Default)]
pub struct Numbering {
    numbers: FxHashMap<Box<[u32]>, u32>,
}

impl Numbering {
    /// The number of a sequence, and whether it is met for the first time.
    pub fn number(&mut self, words: &[u32]) -> (u32, bool) {
        if let Some(&known) = self.numbers.get(words) {
            return (known, false);
        }
        let next = self.numbers.len() as u32;
        self.numbers.insert(words.into(), next);
        (next, true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_sequences_have_one_number() {
        let mut numbering = Numbering::default();
        assert_eq!(numbering.number(&[1, 2]), (0, true));
        assert_eq!(numbering.number(&[1]), (1, true));
        assert_eq!(numbering.number(&[1, 2]), (0, false));
        assert_eq!(numbering.number(&[2, 1]), (2, true));
        assert_eq!(numbering.number(&[]), (3, true));
    }
}
