//! The nodes of the graph and the ways from one to the next, in an order that is the same whenever they are listed.
//!
//! A node is written as a row of words: the state, padding, and a word with the number of its sleep set ([`SleepSets`]) and that of the
//! words of padding. With padding few nodes have rows of different length, although processes come and go: between rows of
//! one length, a store looks only at what a step changed. The hidden words of a state must be the last ones: if there are some, there is no
//! padding, and the word comes first.

use super::sleep_sets::{Row, SleepSets};
use super::{Independence, Rules};
use crate::model::{Ending, Next};
use crate::position::Position;
use crate::store::{Class, Payloads};

/// Rows without hidden words are padded to a multiple of so many words.
const ROW: usize = 1 << PADDING_BITS;
/// Bits of a row's word for the number of words of padding.
const PADDING_BITS: u32 = 3;

/// Where a row has the state, and where the word about it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum RowOrder {
    /// The state, padding, the word.
    Padded,
    /// The word, the state.
    Hidden,
}

impl RowOrder {
    fn new(hidden_words: usize) -> Self {
        if hidden_words == 0 { Self::Padded } else { Self::Hidden }
    }

    /// The number of the sleep set of a node.
    #[inline]
    fn set_of(self, row: &[u32]) -> u32 {
        let word = match self {
            Self::Padded => row.last(),
            Self::Hidden => row.first(),
        };
        word.map_or(0, |word| word >> PADDING_BITS)
    }

    /// The state of a node.
    #[inline]
    fn state_of(self, row: &[u32]) -> &[u32] {
        match (self, row) {
            (Self::Padded, [rest @ .., word]) => &rest[..rest.len() - *word as usize % ROW],
            (Self::Hidden, [_, state @ ..]) => state,
            (_, []) => &[],
        }
    }

    /// Makes a row of a state.
    #[inline]
    fn complete(self, row: &mut Vec<u32>, set: u32) {
        match self {
            Self::Padded => {
                let used = row.len() + 1;
                let padding = used.next_multiple_of(ROW) - used;
                row.reserve(ROW);
                for _ in 0..padding {
                    row.push(0);
                }
                row.push(set << PADDING_BITS | padding as u32);
            }
            Self::Hidden => row.insert(0, set << PADDING_BITS),
        }
    }
}

/// A way from a node.
#[derive(Debug)]
pub(super) enum Way<L, F> {
    /// The next node is written to the position as its successor.
    Next { label: Option<L>, fails: bool, transient: bool },
    /// A step that cannot be computed: the execution ends with it.
    Broken { label: L, fault: F },
    /// There are no more.
    Done,
    /// There is none: executions end here.
    End(End),
    /// A step has no name.
    Nameless,
    /// There are too many different sleep sets.
    Full,
}

/// How an execution ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// Nothing can move, as it should be.
    Valid,
    /// Nothing can move, and some process is not at an end.
    Stuck,
    /// Nothing happens any more but waiting in a loop.
    Waiting,
    /// It was cut off.
    Cut,
    /// With a step that cannot be computed.
    Broken,
}

/// A node on the stack.
#[derive(Debug)]
pub(super) struct Frame<C, L> {
    pub label: Option<L>,
    cursor: C,
    /// Entries of the position's log that lead back.
    changes: usize,
    /// Where the names of the steps start that fell asleep here.
    start: usize,
    pub transient: bool,
    /// Something is possible.
    moved: bool,
    waits: bool,
    /// A process may not close a loop once more.
    rests: bool,
    /// The step that falls asleep once the way just listed was followed.
    pending: Option<u32>,
}

/// The stack of nodes from the first one to the present one.
pub(super) struct Walker<'a, M: Independence, S> {
    pub model: &'a mut M,
    pub store: &'a mut S,
    pub sets: &'a mut SleepSets,
    pub position: Position,
    pub frames: Vec<Frame<M::Cursor, M::Label>>,
    /// Steps that fell asleep, frame by frame, without those that were asleep from the beginning.
    asleep: Vec<u32>,
    /// The steps asleep at the successor.
    kept: Vec<u32>,
    left_next: u32,
    /// Keys of loops, and how often each was met, at the successor.
    laps: Vec<u32>,
    sleeps: bool,
    bounded: bool,
    laps_max: Option<u32>,
    order: RowOrder,
}

impl<'a, M: Independence, S: Payloads<u32>> Walker<'a, M, S> {
    /// A walker at the first node, which is in the store afterwards.
    ///
    /// # Errors
    /// A fault if there is no initial state.
    pub(super) fn new(
        model: &'a mut M,
        (store, sets): (&'a mut S, &'a mut SleepSets),
        rules: Rules,
    ) -> Result<Self, M::Fault> {
        let hidden_words = model.hidden_words();
        let mut walker = Self {
            model,
            store,
            sets,
            position: Position::new(S::MEMO_PER_WORD, hidden_words),
            frames: Vec::new(),
            asleep: Vec::new(),
            kept: Vec::new(),
            left_next: rules.steps_max.unwrap_or(0),
            laps: Vec::new(),
            sleeps: !rules.all_interleavings,
            bounded: rules.steps_max.is_some(),
            laps_max: rules.laps_max,
            order: RowOrder::new(hidden_words),
        };
        walker.model.initial(walker.position.state_and_successor().1)?;
        // There is room for the first one.
        walker.compose();
        walker.position.propose();
        Ok(walker)
    }

    /// The state of the present node.
    pub(super) fn state(&self) -> &[u32] {
        self.order.state_of(self.position.state())
    }

    /// What distinguishes the present state as one in which executions end; see [`Independence::write_outcome`].
    pub(super) fn write_outcome(&mut self, outcome: &mut Vec<u32>) -> bool {
        self.model.write_outcome(self.order.state_of(self.position.state()), outcome)
    }

    /// Goes to the node that is proposed, at which the store has looked.
    #[inline]
    pub(super) fn enter(&mut self, label: Option<M::Label>, transient: bool) {
        let changes = self.position.accept();
        self.position.memo_is_right_until(self.position.log_len());
        let row = self.position.state();
        let Row { left, asleep, .. } = self.sets.row(self.order.set_of(row));
        let state = self.order.state_of(row);
        let mut cursor = self.model.begin(state);
        // Where an execution is cut off, it counts, whatever is asleep.
        let counts_at_once = self.bounded && left == 0;
        let sleeps = !asleep.is_empty() && !transient && !counts_at_once;
        if sleeps {
            self.model.leave_out(state, &mut cursor, asleep);
        }
        if self.frames.len() == self.frames.capacity() {
            self.frames.reserve_exact(8 + self.frames.len() / 4);
        }
        self.frames.push(Frame {
            label,
            cursor,
            changes,
            start: self.asleep.len(),
            transient,
            moved: sleeps,
            waits: false,
            rests: false,
            pending: None,
        });
    }

    /// Goes back to the node before.
    #[inline]
    pub(super) fn leave(&mut self) {
        let Some(frame) = self.frames.pop() else { return };
        self.asleep.truncate(frame.start);
        self.position.retreat(frame.changes);
        self.position.memo_is_right_until(self.position.log_len());
    }

    /// What the store keeps with the node that is proposed: its number, once it was met.
    #[inline]
    pub(super) fn payload_of_proposed(&mut self, transient: bool) -> &mut u32 {
        self.position.propose();
        let probe = self.store.prepare(&mut self.position, class_of(transient));
        self.store.payload(probe).1
    }

    /// The next way from the present node.
    pub(super) fn next_way(&mut self) -> Way<M::Label, M::Fault> {
        loop {
            let Some(frame) = self.frames.last_mut() else { return Way::Done };
            self.asleep.extend(frame.pending.take());
            let (row, successor) = self.position.state_and_successor();
            let state = self.order.state_of(row);
            match self.model.next(state, &mut frame.cursor, successor) {
                Next::Successor { label, transient, fault, .. } => {
                    if !frame.transient
                        && let Some(label) = label
                    {
                        if !transient && *successor == *state && self.model.is_waiting(&label) {
                            frame.waits = true;
                            continue;
                        }
                        match self.first_step(label) {
                            Judged::Goes => {}
                            Judged::Sleeps | Judged::Rests => continue,
                            Judged::Beyond => return Way::End(End::Cut),
                            Judged::Nameless => return Way::Nameless,
                        }
                    } else {
                        frame.moved = true;
                        let Row { left, asleep, laps } = self.sets.row(self.order.set_of(row));
                        self.kept.clear();
                        self.kept.extend_from_slice(asleep);
                        self.left_next = left;
                        self.laps.clear();
                        self.laps.extend_from_slice(laps);
                    }
                    self.carry();
                    if !self.compose() {
                        return Way::Full;
                    }
                    return Way::Next { label, fails: fault.is_some(), transient };
                }
                Next::Broken { label, fault } => {
                    frame.moved = true;
                    if self.bounded && !frame.transient && self.sets.row(self.order.set_of(row)).left == 0 {
                        return Way::End(End::Cut);
                    }
                    return Way::Broken { label, fault };
                }
                Next::Done(_) if frame.moved => return Way::Done,
                Next::Done(ending) => {
                    return Way::End(match ending {
                        _ if frame.rests => End::Cut,
                        _ if frame.waits => End::Waiting,
                        Ending::InvalidEnd => End::Stuck,
                        Ending::ValidEnd | Ending::Moves => End::Valid,
                    });
                }
            }
        }
    }

    /// Judges a step of an ordinary state, and finds out what is asleep after it.
    #[inline]
    fn first_step(&mut self, label: M::Label) -> Judged {
        if !self.pass_lap(&label) {
            return Judged::Rests;
        }
        let Some(frame) = self.frames.last_mut() else { return Judged::Nameless };
        frame.moved = true;
        let row = self.position.state();
        let Row { left, asleep, .. } = self.sets.row(self.order.set_of(row));
        if self.bounded {
            if left == 0 {
                return Judged::Beyond;
            }
            self.left_next = left - 1;
        }
        self.kept.clear();
        if !self.sleeps {
            return Judged::Goes;
        }
        let state = self.order.state_of(row);
        let Some(name) = self.model.name_of(state, &label) else { return Judged::Nameless };
        if asleep.contains(&name) {
            return Judged::Sleeps;
        }
        let fell_asleep = &self.asleep[frame.start..];
        let some_sleep = !asleep.is_empty() || !fell_asleep.is_empty();
        if some_sleep && !self.model.is_last_resort(&frame.cursor) {
            self.kept.extend_from_slice(asleep);
            self.kept.extend_from_slice(fell_asleep);
            self.model.retain_independent(state, name, &mut self.kept);
            self.kept.sort_unstable();
            self.kept.dedup();
        }
        frame.pending = Some(name);
        Judged::Goes
    }

    /// Counts a step of an ordinary state that may close loops; false if a process may not take it once more.
    #[inline]
    fn pass_lap(&mut self, label: &M::Label) -> bool {
        let Some(laps_max) = self.laps_max else { return true };
        let Some(frame) = self.frames.last_mut() else { return false };
        let row = self.position.state();
        self.laps.clear();
        self.laps.extend_from_slice(self.sets.row(self.order.set_of(row)).laps);
        for key in self.model.laps_of(self.order.state_of(row), label).into_iter().flatten() {
            let at = self.laps.chunks_exact(2).position(|lap| key <= lap[0]).map_or(self.laps.len(), |at| 2 * at);
            if self.laps.get(at) != Some(&key) {
                self.laps.splice(at..at, [key, 0]);
            }
            if laps_max <= self.laps[at + 1] {
                frame.rests = true;
                return false;
            }
            self.laps[at + 1] += 1;
        }
        true
    }

    /// Gives what is asleep, and the loops that were closed, the names that they have in the successor.
    #[inline]
    fn carry(&mut self) {
        if !self.kept.is_empty() || !self.laps.is_empty() {
            self.model.carry(&mut self.kept, &mut self.laps);
        }
    }

    /// Completes the row of the successor, of which the state is written; false if there is no number left for its sleep set.
    #[inline]
    fn compose(&mut self) -> bool {
        let row = Row { left: self.left_next, asleep: &self.kept, laps: &self.laps };
        let before = self.order.set_of(self.position.state());
        let number = match self.frames.is_empty() {
            // Most often nothing is asleep before and after.
            false if self.sets.row(before) == row => before,
            _ => match self.sets.number_of(&row).filter(|number| *number < u32::MAX >> PADDING_BITS) {
                Some(number) => number,
                None => return false,
            },
        };
        self.order.complete(self.position.state_and_successor().1, number);
        true
    }

    /// Memory in use but for the store's, in bytes.
    pub(super) fn memory_bytes(&self) -> u64 {
        let frames = self.frames.capacity() * size_of::<Frame<M::Cursor, M::Label>>();
        let words = self.asleep.capacity() + self.kept.capacity();
        self.position.memory_bytes() + self.sets.memory_bytes() + (frames + words * size_of::<u32>()) as u64
    }
}

/// What becomes of a step of an ordinary state.
enum Judged {
    Goes,
    Sleeps,
    Beyond,
    Rests,
    Nameless,
}

fn class_of(transient: bool) -> Class {
    if transient { Class::Transient } else { Class::Ordinary }
}
