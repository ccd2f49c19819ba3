//! The traits a search is written against.

use crate::sleep::Asleep;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;

/// A transition system whose states are short sequences of 32-bit words.
///
/// Two states are the same if their *visible* words are: all but the last [`Model::hidden_words`].
/// States of different length are different.
///
/// Methods take `&mut self` because a model may keep scratch memory; they have no other effect.
pub trait Model {
    /// Names a transition; a path is a sequence of labels.
    type Label: Copy + PartialEq + Debug;
    /// Why a transition could not be computed, or what it violated.
    type Fault: Copy + PartialEq + Debug;
    /// How far the successors of a state have been listed. Small: one is kept per state on the stack. A clone of the model goes on from a
    /// cursor of this one: threads hand parts of stacks over.
    type Cursor: Copy;

    /// Words at the end of a state that do not distinguish it from others.
    fn hidden_words(&self) -> usize;

    /// Writes the initial state.
    ///
    /// # Errors
    /// A fault if the initial state cannot be computed.
    fn initial(&mut self, state: &mut Vec<u32>) -> Result<(), Self::Fault>;

    /// A path that a search took is followed again, or it was followed. Until then, a model that came to leave out steps while the search
    /// ran lists all steps that it ever listed.
    fn retrace(&mut self, begins: bool) {
        let _ = begins;
    }

    /// Whether a search that is free to choose leaves this state for later, since somebody who watches it wants others visited before.
    /// May change while a search runs.
    #[inline]
    fn is_for_later(&mut self, state: &[u32]) -> bool {
        let _ = state;
        false
    }

    /// A cursor before the first successor.
    fn begin(&mut self, state: &[u32]) -> Self::Cursor;

    /// Whether processes may [sleep](crate::sleep): whether it has the methods for that.
    fn can_sleep(&mut self) -> bool {
        false
    }

    /// Lets a cursor that has listed nothing yet, of a state that is not transient, pass over processes. If there are some, the state is no
    /// end.
    fn pass_over(&mut self, state: &[u32], cursor: &mut Self::Cursor, asleep: Asleep) {
        let _ = (state, cursor, asleep);
    }

    /// The process whose step was listed last in a state that is not transient, if it may sleep after steps of older ones there.
    fn fall_asleep(&self, cursor: &Self::Cursor, label: &Self::Label) -> Asleep {
        let _ = (cursor, label);
        Asleep::NOBODY
    }

    /// Who sleeps after the step that was listed last in a state that is not transient: of the processes that have a step there, those
    /// that are younger than the one whose step it is, and to whom it makes no difference.
    fn stay_asleep(
        &mut self,
        (state, successor): (&[u32], &[u32]),
        cursor: &Self::Cursor,
        (label, transient): (&Self::Label, bool),
        have_steps: Asleep,
    ) -> Asleep {
        let _ = (state, successor, cursor, label, transient, have_steps);
        Asleep::NOBODY
    }

    /// Writes the next successor of `state` into `successor` (whose old content is dropped) and moves
    /// the cursor past it. The order is the order in which a depth-first search explores.
    fn next(
        &mut self,
        state: &[u32],
        cursor: &mut Self::Cursor,
        successor: &mut Vec<u32>,
    ) -> Next<Self::Label, Self::Fault>;

    /// As [`Model::next`], told in parts: what a search asks of each transition is returned, in one register, and the rest is written to
    /// where it is kept. What [`Model::next`] returns is copied as a whole right after it was written field by field, for which processors
    /// wait.
    #[inline]
    fn list(
        &mut self,
        state: &[u32],
        cursor: &mut Self::Cursor,
        successor: &mut Vec<u32>,
        details: &mut Details<Self::Label, Self::Fault>,
    ) -> Listed {
        details.tell(self.next(state, cursor, successor))
    }
}

/// What [`Model::list`] found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Listed {
    /// A successor was written: [`Next::Successor`].
    Successor {
        /// It has a label.
        labelled: bool,
        /// It is passed through.
        transient: bool,
        /// Its transition violates something.
        faulty: bool,
        /// The marks of its transition.
        marks: Marks,
    },
    /// A transition cannot be computed.
    Broken,
    /// All successors have been listed.
    Done(Ending),
}

/// What [`Listed`] leaves out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Details<Label, Fault> {
    /// The transition; right after a successor and a broken transition.
    pub label: Option<Label>,
    /// What it violated; right after a successor that is faulty, and a broken transition.
    pub fault: Option<Fault>,
    /// Words in which the successor may differ from the state, if their lengths are equal: bit `i` stands for word `i`, and for those
    /// behind it in steps of 64.
    pub touched: u64,
}

impl<Label, Fault> Details<Label, Fault> {
    /// Of nothing.
    pub const NONE: Self = Self { label: None, fault: None, touched: u64::MAX };

    /// Tells in parts what was found.
    #[inline]
    pub fn tell(&mut self, found: Next<Label, Fault>) -> Listed {
        match found {
            Next::Successor { label, transient, fault, marks } => {
                let listed = Listed::Successor { labelled: label.is_some(), transient, faulty: fault.is_some(), marks };
                *self = Self { label, fault, touched: u64::MAX };
                listed
            }
            Next::Broken { label, fault } => {
                *self = Self { label: Some(label), fault: Some(fault), ..Self::NONE };
                Listed::Broken
            }
            Next::Done(ending) => Listed::Done(ending),
        }
    }
}

impl<Label: Copy, Fault: Copy> Details<Label, Fault> {
    /// What was found, as a whole.
    ///
    /// # Panics
    /// If these are not the details of what was listed.
    #[inline]
    pub fn with(&self, listed: Listed) -> Next<Label, Fault> {
        const WHOLE: &str = "these are the details of what was listed";
        let Self { label, fault, .. } = *self;
        match listed {
            Listed::Successor { labelled, transient, faulty, marks } => {
                Next::Successor { label: label.filter(|_| labelled), transient, fault: fault.filter(|_| faulty), marks }
            }
            Listed::Broken => Next::Broken { label: label.expect(WHOLE), fault: fault.expect(WHOLE) },
            Listed::Done(ending) => Next::Done(ending),
        }
    }
}

/// What [`Model::next`] found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next<Label, Fault> {
    /// A successor was written.
    Successor {
        /// The transition; `None` if the state changed without one (an atomic sequence that blocked
        /// lost control). Such a change has no place in a path.
        label: Option<Label>,
        /// The successor is passed through, not stored and not counted.
        transient: bool,
        /// The transition violates something, but the search may go on.
        fault: Option<Fault>,
        /// What the transition means to a search for cycles.
        marks: Marks,
    },
    /// The transition cannot be computed; there is no successor.
    Broken {
        /// The transition.
        label: Label,
        /// Why.
        fault: Fault,
    },
    /// All successors have been listed.
    Done(Ending),
}

/// What is known of a state once all its successors are listed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// It has successors.
    Moves,
    /// It has none, and may stop there.
    ValidEnd,
    /// It has none, and may not stop there.
    InvalidEnd,
}

/// What a transition means to a search for cycles: a set of marks.
///
/// Marks stand on transitions. A mark that a model puts on a state belongs to each transition that leads
/// there: a cycle has the same marks either way. On a way through transient states, the marks of all its
/// transitions count.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, Debug)]
pub struct Marks(u8);

impl Marks {
    /// No mark.
    pub const NONE: Self = Self(0);
    /// A run that takes such transitions again and again is accepted: it is what one looks for.
    pub const ACCEPTING: Self = Self(1);
    /// A run that takes such transitions again and again makes progress.
    pub const PROGRESS: Self = Self(2);

    /// Whether all of these marks are there.
    pub fn has(self, marks: Self) -> bool {
        self.0 & marks.0 == marks.0
    }

    /// The marks of either.
    #[must_use]
    pub fn with(self, marks: Self) -> Self {
        Self(self.0 | marks.0)
    }

    /// A number below 4 for each set of marks.
    pub(crate) fn bits(self) -> u8 {
        self.0
    }
}

/// A model whose transitions are taken by processes: what fairness and schedulers need to know.
///
/// Processes are numbered from 0, fewer than 256 of them; a number may be given anew when its process has ended.
pub trait Processes: Model {
    /// Number of processes of a state: those with smaller numbers exist.
    fn process_count(&self, state: &[u32]) -> usize;

    /// The processes that take part in a transition: none (something other than the system moved), one, or
    /// two for a rendezvous. The first one is the one that a scheduler would pick.
    fn movers(&self, label: &Self::Label) -> [Option<u8>; 2];

    /// Writes which processes could take part in a transition of a state: those that a fair scheduler may
    /// not neglect for ever.
    fn enabled(&mut self, state: &[u32], enabled: &mut ProcessSet);
}

/// A model whose states may be expanded in part: partial-order reduction.
///
/// [`Model::next`] lists a sufficient part of the successors, the same part for the same state; whether the
/// rest was left out is known when it answers [`Next::Done`].
pub trait Reducible: Model {
    /// Whether a state is transient: passed through, not stored. Nothing is left out in such a state.
    fn is_transient(&self, state: &[u32]) -> bool {
        let _ = state;
        false
    }

    /// After [`Next::Done`]: makes `cursor` list the successors left out. False if there were none.
    fn fully_expand(&mut self, state: &[u32], cursor: &mut Self::Cursor) -> bool;
}

/// A model that learns something while it lists successors, which a search that is resumed would not learn again.
pub trait Learning: Model {
    /// What it has learned.
    fn learned(&self) -> Vec<u8> {
        Vec::new()
    }

    /// Learns what it had learned before; false if that is nothing that this model can learn.
    fn learn_again(&mut self, learned: &[u8]) -> bool {
        learned.is_empty()
    }
}

/// A set of processes, by number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, Debug)]
pub struct ProcessSet([u64; 4]);

impl ProcessSet {
    /// Nobody.
    pub const EMPTY: Self = Self([0; 4]);
    /// Every number, whether there is such a process or not.
    pub const ALL: Self = Self([u64::MAX; 4]);

    /// The first `count` processes.
    pub fn first(count: usize) -> Self {
        let mut set = Self::EMPTY;
        (0..count.min(256)).for_each(|process| set.insert(process as u8));
        set
    }

    /// Adds a process.
    pub fn insert(&mut self, process: u8) {
        self.0[usize::from(process >> 6)] |= 1 << (process & 63);
    }

    /// Takes a process out.
    pub fn remove(&mut self, process: u8) {
        self.0[usize::from(process >> 6)] &= !(1 << (process & 63));
    }

    /// Whether a process is in it.
    pub fn contains(&self, process: u8) -> bool {
        self.0[usize::from(process >> 6)] & (1 << (process & 63)) != 0
    }

    /// Whether nobody is in it.
    pub fn is_empty(&self) -> bool {
        self.0 == [0; 4]
    }

    /// Number of processes in it.
    pub fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Adds all of another set.
    pub fn extend(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(word, other)| *word |= other);
    }

    /// Keeps only those in another set as well.
    pub fn retain(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(word, other)| *word &= other);
    }

    /// Takes all of another set out.
    pub fn subtract(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(word, other)| *word &= !other);
    }

    /// The processes in it, the smallest number first.
    pub fn iter(&self) -> impl Iterator<Item = u8> + '_ {
        self.0.iter().zip([0_u8, 64, 128, 192]).flat_map(|(&word, first)| {
            let rest = |word: &u64| Some(word & (word - 1)).filter(|&rest| rest != 0);
            let words = std::iter::successors(Some(word).filter(|&word| word != 0), rest);
            words.map(move |word| first + word.trailing_zeros() as u8)
        })
    }
}
