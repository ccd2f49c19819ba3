//! Visited sets: they answer whether a state was seen before, and remember it.

mod arrange;
mod bitstate;
mod compact;
mod dictionary;
mod drawn;
mod fingerprint;
pub(crate) mod hash;
mod joining;
pub(crate) mod keys;
pub(crate) mod layout;
mod long;
pub(crate) mod pages;
pub(crate) mod quotient;
mod recent;
pub(crate) mod shape;
pub(crate) mod snapshot;
mod table;
mod tree;

pub use bitstate::BitstateStore;
pub(crate) use drawn::draw;
pub use drawn::{Drawn, VisitedSet};
pub use fingerprint::FingerprintStore;
pub use tree::TreeStore;

use crate::position::Position;

/// Which of two disjoint sets a state is put into.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// The states of the model.
    Ordinary,
    /// States passed through, kept only so that a search does not go round in circles.
    Transient,
}

/// Whether a state was seen before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Inserted {
    /// It was not, and is remembered now.
    New,
    /// It was, or a lossy store takes it for one that was.
    Old,
}

/// What a store may miss. Part of the verdict: only [`Exactness::Exact`] makes it a proof.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Exactness {
    /// Nothing: two states are the same to the store if and only if they are.
    Exact,
    /// States with the same fingerprint are taken for one.
    Fingerprint {
        /// About how likely it is that any state at all was missed.
        omission_probability: f64,
    },
    /// States whose bits were all set by others are taken for old.
    Bitstate {
        /// About how likely it is that a new state, asked for last, is taken for old.
        omission_probability_per_state: f64,
        /// Bits of memory per state put in; below 100 or so, expect misses.
        bits_per_state: f64,
    },
}

impl Exactness {
    /// Whether the store misses nothing.
    pub fn is_exact(self) -> bool {
        self == Self::Exact
    }
}

/// A set of states.
pub trait Store {
    /// Cells per visible word that the store wants to keep with the [`Position`] of a search.
    const MEMO_PER_WORD: usize;

    /// What the store needs to know of a state to find and remember it.
    type Probe: Copy;

    /// Looks at the successor of a position, and brings the memo up to date with it. The memory that
    /// [`Store::commit`] will need is on its way afterwards.
    fn prepare(&mut self, position: &mut Position, class: Class) -> Self::Probe;

    /// Whether the state was inserted before. It is remembered afterwards.
    fn commit(&mut self, probe: Self::Probe) -> Inserted;

    /// Both in one.
    #[inline]
    fn insert(&mut self, position: &mut Position, class: Class) -> Inserted {
        let probe = self.prepare(position, class);
        self.commit(probe)
    }

    /// Memory in use, in bytes.
    fn memory_bytes(&self) -> u64;

    /// What the store may have missed up to now.
    fn exactness(&self) -> Exactness;

    /// Whether the store cannot take many more states, however much memory there is.
    fn is_full(&self) -> bool {
        false
    }

    /// Appends a note from which [`Store::recall`] finds the visible words of the state just inserted.
    fn note(&self, position: &Position, note: &mut Vec<u32>) {
        note.extend_from_slice(position.visible());
    }

    /// Writes the visible words that a note stands for; drops what `visible` held.
    fn recall(&self, note: &[u32], visible: &mut Vec<u32>) {
        visible.clear();
        visible.extend_from_slice(note);
    }

    /// Moves a position to the state that a note and its hidden words stand for and looks at it, as
    /// [`Store::prepare`] does; how the position was reached is forgotten. `room` is to work in.
    fn return_to(
        &mut self,
        (note, hidden): (&[u32], &[u32]),
        class: Class,
        position: &mut Position,
        room: &mut Vec<u32>,
    ) -> Self::Probe {
        walk_to(self, (note, hidden), class, position, room)
    }
}

/// Moves a position to a state that was noted, in the way of all moves.
fn walk_to<S: Store + ?Sized>(
    store: &mut S,
    (note, hidden): (&[u32], &[u32]),
    class: Class,
    position: &mut Position,
    room: &mut Vec<u32>,
) -> S::Probe {
    store.recall(note, room);
    room.extend_from_slice(hidden);
    position.advance(room);
    let probe = store.prepare(position, class);
    position.forget();
    probe
}

/// A store that misses nothing, for searches that are wrong without.
pub trait Lossless: Store {}

/// A store that keeps something with each state.
pub trait Payloads<P>: Lossless {
    /// As [`Store::commit`], and gives what is kept with the state; at first it is the default.
    fn payload(&mut self, probe: Self::Probe) -> (Inserted, &mut P);

    /// The probe of the state that the position stands on, where that state was put into the store and the memo
    /// is right for it.
    fn probe_of_state(&mut self, position: &Position, class: Class) -> Self::Probe;

    /// Tells the processor that the state will be asked for soon.
    fn expect(&self, probe: Self::Probe);
}
