//! States written down one after the other, each as the note of its visited set and its hidden words.
//!
//! Whatever a search keeps of states beside the visited set is kept here: those that wait, those that were numbered,
//! those of a component. A note takes few words however large the state is; what else is known of a state
//! lies with its number at the search.

use crate::position::Position;
use crate::store::{Class, Store};

/// States, numbered from 0 in the order in which they were added.
#[derive(Debug)]
pub(crate) struct StateLog {
    words: Vec<u32>,
    /// Of each state: twice where its words end, plus 1 if it is transient.
    ends: Vec<u64>,
    hidden: usize,
    /// To work in.
    room: Vec<u32>,
}

impl StateLog {
    /// An empty log, of states with this many hidden words.
    pub(crate) fn new(hidden: usize) -> Self {
        Self { words: Vec::new(), ends: Vec::new(), hidden, room: Vec::new() }
    }

    /// Number of states.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Forgets all states.
    pub(crate) fn clear(&mut self) {
        self.truncate(0);
    }

    /// Keeps the first `len` states.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.ends.truncate(len);
        self.words.truncate(self.start(self.ends.len()));
    }

    /// Adds the successor of a position, which was just put into the store.
    #[inline]
    pub(crate) fn push<S: Store>(&mut self, store: &S, position: &Position, class: Class) {
        store.note(position, &mut self.words);
        self.words.extend_from_slice(position.hidden());
        self.ends.push((self.words.len() as u64) << 1 | u64::from(class == Class::Transient));
    }

    /// Adds an ordinary state, whose note and hidden words these are.
    #[inline]
    pub(crate) fn push_words(&mut self, words: &[u32]) {
        self.words.extend_from_slice(words);
        self.ends.push((self.words.len() as u64) << 1);
    }

    /// Gives a state other hidden words.
    pub(crate) fn replace_hidden(&mut self, number: usize, hidden: &[u32]) {
        let end = self.start(number + 1);
        self.words[end - hidden.len()..end].copy_from_slice(hidden);
    }

    /// Adds a state of another log.
    pub(crate) fn push_from(&mut self, other: &Self, number: usize) {
        let (start, end) = (other.start(number), other.start(number + 1));
        self.words.extend_from_slice(&other.words[start..end]);
        self.ends.push((self.words.len() as u64) << 1 | other.ends[number] & 1);
    }

    /// Writes a state (dropping what `state` held), and says of which class it is.
    #[inline]
    pub(crate) fn recall<S: Store>(&self, store: &S, number: usize, state: &mut Vec<u32>) -> Class {
        let (note, hidden, class) = self.entry(number);
        store.recall(note, state);
        state.extend_from_slice(hidden);
        class
    }

    /// Moves a position to a state and looks at it, as [`Store::prepare`] does; how the position was reached is
    /// forgotten.
    pub(crate) fn return_to<S: Store>(
        &mut self,
        store: &mut S,
        number: usize,
        position: &mut Position,
    ) -> (Class, S::Probe) {
        let mut room = std::mem::take(&mut self.room);
        let (note, hidden, class) = self.entry(number);
        let probe = store.return_to((note, hidden), class, position, &mut room);
        self.room = room;
        (class, probe)
    }

    /// The note, the hidden words and the class of a state.
    #[inline]
    fn entry(&self, number: usize) -> (&[u32], &[u32], Class) {
        let (start, end) = (self.start(number), self.start(number + 1));
        let (note, hidden) = self.words[start..end].split_at((end - start).saturating_sub(self.hidden));
        let class = if self.ends[number] & 1 == 1 { Class::Transient } else { Class::Ordinary };
        (note, hidden, class)
    }

    /// Where the words of a state start.
    #[inline]
    fn start(&self, number: usize) -> usize {
        number.checked_sub(1).map_or(0, |before| (self.ends[before] >> 1) as usize)
    }

    /// Memory in use, in bytes.
    pub(crate) fn memory_bytes(&self) -> u64 {
        (size_of_val::<[u32]>(&self.words) + size_of_val::<[u64]>(&self.ends)) as u64
    }
}
