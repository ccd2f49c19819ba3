//! States by number: the visited set of a search that keeps more of a state than that it was there.
//!
//! ```text
//! find(s):  s has a number: that one            add:  the state looked for last has the next number,
//!           else nothing                              and is written down
//! ```

use crate::position::Position;
use crate::state_log::StateLog;
use crate::store::{Class, Store, TreeStore};

/// States, numbered from 0 in the order in which they were added.
#[derive(Debug)]
pub(crate) struct NumberedStates {
    /// With the number of each state, plus 1; 0 with one that was only looked up.
    pub(crate) store: TreeStore<u32>,
    pub(crate) position: Position,
    pub(crate) log: StateLog,
}

impl NumberedStates {
    /// No states, of those that have this many hidden words.
    pub(crate) fn new(hidden: usize) -> Self {
        Self {
            store: TreeStore::default(),
            position: Position::new(TreeStore::<u32>::MEMO_PER_WORD, hidden),
            log: StateLog::new(hidden),
        }
    }

    /// The number of a state. If it has none, the next one is its own now, and [`Self::add`] comes before anything else.
    #[inline]
    pub(crate) fn find(&mut self, words: &[u32], class: Class) -> Option<u32> {
        let next = self.log.len() as u32 + 1;
        let number = self.entry(words, class);
        let known = number.checked_sub(1);
        if known.is_none() {
            *number = next;
        }
        known
    }

    /// The number of a state, if it has one.
    pub(crate) fn look_up(&mut self, words: &[u32], class: Class) -> Option<u32> {
        self.entry(words, class).checked_sub(1)
    }

    /// Adds the state that was looked for last, and had no number.
    #[inline]
    pub(crate) fn add(&mut self, class: Class) -> u32 {
        let number = self.log.len() as u32;
        self.log.push(&self.store, &self.position, class);
        number
    }

    /// The number of a state, which is added if it has none.
    pub(crate) fn number_of(&mut self, words: &[u32], class: Class) -> u32 {
        self.find(words, class).unwrap_or_else(|| self.add(class))
    }

    /// Writes the words of a state; drops what `state` held.
    #[inline]
    pub(crate) fn recall(&self, number: u32, state: &mut Vec<u32>) -> Class {
        self.log.recall(&self.store, number as usize, state)
    }

    #[inline]
    fn entry(&mut self, words: &[u32], class: Class) -> &mut u32 {
        self.position.advance(words);
        let number = self.store.entry(&mut self.position, class).1;
        self.position.forget();
        number
    }

    /// Memory in use, in bytes.
    pub(crate) fn memory_bytes(&self) -> u64 {
        self.store.memory_bytes() + self.position.memory_bytes() + self.log.memory_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_follow_the_order_of_adding_and_looking_up_gives_none() {
        let mut states = NumberedStates::new(1);
        let mut state = Vec::new();
        for number in 0..100 {
            let words = [number / 7, number % 7, 0];
            assert_eq!(states.look_up(&words, Class::Ordinary), None);
            assert_eq!(states.find(&words, Class::Ordinary), None);
            assert_eq!(states.add(Class::Ordinary), number);
            assert_eq!(states.find(&words, Class::Transient), None, "each class has its own");
            assert_eq!(
                states.look_up(&[number / 7, number % 7, 1], Class::Ordinary),
                Some(number),
                "without hidden words"
            );
            states.recall(number, &mut state);
            assert_eq!(state, words);
        }
        assert_eq!(states.find(&[0, 3, 0], Class::Ordinary), Some(3));
        assert_eq!(states.log.len(), 100);
    }
}
