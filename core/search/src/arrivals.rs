//! States on their way into a visited set.
//!
//! Most of the time of a lookup is waiting for the memory of the visited set. A search that need not know at once whether a state is
//! new looks at some others meanwhile:
//!
//! ```text
//! look_up(t):  if DELAY states wait: commit the one that waits longest
//!              prepare t: its key is known, its memory is on its way; note t
//! ```
//!
//! States are committed in the order in which they were looked up, so what is new does not depend on the delay.

use crate::position::Position;
use crate::store::{Class, Inserted, Store};

/// This many states wait for their memory.
const DELAY: usize = 8;

/// Ordinary states that were looked up and are not in the visited set yet, each with what its search has to know of it.
pub(crate) struct Arrivals<Probe, Tag> {
    /// Used as a ring.
    slots: Vec<Arrival<Probe, Tag>>,
    first: usize,
    len: usize,
}

/// A state that was looked up.
pub(crate) struct Arrival<Probe, Tag> {
    probe: Probe,
    pub(crate) tag: Tag,
    /// As a [`StateLog`](crate::state_log::StateLog) keeps it: the note of the store, and the hidden words.
    pub(crate) words: Vec<u32>,
}

impl<Probe: Copy, Tag: Copy> Arrivals<Probe, Tag> {
    pub(crate) fn new() -> Self {
        Self { slots: Vec::with_capacity(DELAY), first: 0, len: 0 }
    }

    /// Whether one must be committed before another one is looked up.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.len == DELAY
    }

    /// Looks up the successor of a position; they are not full.
    #[inline]
    pub(crate) fn look_up<S: Store<Probe = Probe>>(&mut self, store: &mut S, position: &mut Position, tag: Tag) {
        let probe = store.prepare(position, Class::Ordinary);
        let index = (self.first + self.len) % DELAY;
        if self.slots.len() <= index {
            self.slots.push(Arrival { probe, tag, words: Vec::new() });
        }
        let slot = &mut self.slots[index];
        (slot.probe, slot.tag) = (probe, tag);
        slot.words.clear();
        store.note(position, &mut slot.words);
        slot.words.extend_from_slice(position.hidden());
        self.len += 1;
    }

    /// Puts the state into the set that waits longest; `None` if none does.
    #[inline]
    pub(crate) fn commit<S: Store<Probe = Probe>>(
        &mut self,
        store: &mut S,
    ) -> Option<(Inserted, &Arrival<Probe, Tag>)> {
        self.commit_by(store, |store, probe| store.commit(probe))
    }

    /// The same, in this way of putting a state into the set.
    #[inline]
    pub(crate) fn commit_by<S: Store<Probe = Probe>>(
        &mut self,
        store: &mut S,
        commit: impl FnOnce(&mut S, Probe) -> Inserted,
    ) -> Option<(Inserted, &Arrival<Probe, Tag>)> {
        if self.len == 0 {
            return None;
        }
        let arrival = &self.slots[self.first];
        (self.first, self.len) = ((self.first + 1) % DELAY, self.len - 1);
        Some((commit(store, arrival.probe), arrival))
    }
}
