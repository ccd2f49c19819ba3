//! States to start from, in the order of their arrival, and which state each was found from.

use crate::position::Position;
use crate::store::{Class, Store};

/// Where an entry starts; the entry of the initial state is 0.
pub(crate) type Seed = u32;

/// States that wait, and all that ever waited.
///
/// An entry is: the seed from which it was found; twice the length of its note, plus 1 if the state is
/// transient; the store's note; the hidden words.
pub(crate) struct Frontier {
    words: Vec<u32>,
    hidden: usize,
    /// In strict order: the entry whose turn is next.
    next: usize,
    /// How many wait.
    waiting: u64,
    /// In the other order: the entries that wait.
    newest: Option<Vec<Seed>>,
    note: Vec<u32>,
    room: Vec<u32>,
}

/// Words of an entry before the note.
const HEAD: usize = 2;

impl Frontier {
    /// Nobody waits. In strict order who came first is first, otherwise who came last.
    pub(crate) fn new(hidden: usize, strict: bool) -> Self {
        let newest = if strict { None } else { Some(Vec::new()) };
        Self { words: Vec::new(), hidden, next: 0, waiting: 0, newest, note: Vec::new(), room: Vec::new() }
    }

    /// Adds the successor of the position, which was just put into the store. False if there is no room.
    pub(crate) fn put<S: Store>(&mut self, store: &S, position: &Position, class: Class, from: Seed) -> bool {
        let Ok(start) = u32::try_from(self.words.len()) else { return false };
        self.note.clear();
        store.note(position, &mut self.note);
        let transient = u32::from(class == Class::Transient);
        self.words.extend([from, self.note.len() as u32 * 2 + transient]);
        self.words.extend_from_slice(&self.note);
        self.words.extend_from_slice(position.hidden());
        if let Some(newest) = &mut self.newest {
            newest.push(start);
        }
        self.waiting += 1;
        true
    }

    /// Takes the next one that waits.
    pub(crate) fn take(&mut self) -> Option<Seed> {
        if let Some(newest) = &mut self.newest {
            self.waiting = newest.len().saturating_sub(1) as u64;
            return newest.pop();
        }
        let seed = self.next;
        let note = self.words.get(seed + 1)? / 2;
        self.waiting -= 1;
        self.next = seed + HEAD + note as usize + self.hidden;
        Some(seed as Seed)
    }

    /// How many wait.
    pub(crate) fn waiting(&self) -> u64 {
        self.waiting
    }

    /// Writes the state, and says of which class it is.
    pub(crate) fn recall<S: Store>(&self, store: &S, seed: Seed, state: &mut Vec<u32>) -> Class {
        let (note, hidden, class) = self.entry(seed);
        store.recall(note, state);
        state.extend_from_slice(hidden);
        class
    }

    /// Moves a position to the state, and says of which class it is; how the position was reached is forgotten.
    pub(crate) fn return_to<S: Store>(
        &mut self,
        store: &mut S,
        seed: Seed,
        position: &mut Position,
    ) -> (Class, S::Probe) {
        let mut room = std::mem::take(&mut self.room);
        let (note, hidden, class) = self.entry(seed);
        let probe = store.return_to((note, hidden), class, position, &mut room);
        self.room = room;
        (class, probe)
    }

    /// The note, the hidden words and the class of an entry.
    fn entry(&self, seed: Seed) -> (&[u32], &[u32], Class) {
        let start = seed as usize;
        let Some(&[_, note]) = self.words.get(start..start + HEAD) else { return (&[], &[], Class::Ordinary) };
        let middle = start + HEAD + note as usize / 2;
        let class = if note % 2 == 1 { Class::Transient } else { Class::Ordinary };
        (&self.words[start + HEAD..middle], &self.words[middle..middle + self.hidden], class)
    }

    /// The seeds on the way to this one, from the initial state on.
    pub(crate) fn ancestors(&self, seed: Seed) -> Vec<Seed> {
        let parent = |&seed: &Seed| self.words.get(seed as usize).copied().filter(|_| seed != 0);
        let mut seeds: Vec<Seed> = std::iter::successors(Some(seed), parent).collect();
        seeds.reverse();
        seeds
    }

    pub(crate) fn memory_bytes(&self) -> u64 {
        let waiting = self.newest.as_deref().map_or(0, size_of_val::<[Seed]>);
        (size_of_val::<[u32]>(&self.words) + waiting) as u64
    }
}
