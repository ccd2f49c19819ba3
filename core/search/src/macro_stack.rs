//! The stack of a depth-first search that goes from one ordinary state to the next by whole turns, and the turns of the
//! states near its top.
//!
//! As in [`crate::dfs_stack`], a frame holds no state, only how many entries of the [`Position`]'s log lead back to
//! the frame below. The turns of a few states on top are kept; those of others are listed anew when the search comes
//! back to them.

use crate::delay_bounded::{DelayObserver, Listing};
use crate::model::{Model, Processes};
use crate::outcome::Statistics;
use crate::position::Position;
use crate::schedule::Turns;
use fabius_base::StopReason;
use std::ops::ControlFlow;

/// The turns of this many states on the stack are kept.
pub(crate) const KEPT: usize = 16;

/// The turns of a state of a model.
pub(crate) type TurnsOf<M> = Turns<<M as Model>::Label, <M as Model>::Fault>;

/// The stack, and the state on top of it.
pub(crate) struct MacroStack<M: Processes, Data> {
    pub(crate) position: Position,
    frames: Vec<Frame<Data>>,
    /// The turns of the frame at height h are in place h modulo [`KEPT`], if they have its tag.
    kept: Vec<(u64, TurnsOf<M>)>,
}

/// A state on the stack.
#[derive(Clone, Debug)]
pub(crate) struct Frame<Data> {
    /// Says which turns are its; not 0.
    tag: u64,
    /// Entries of the log that lead back to the frame below.
    changes: u32,
    /// The turn to look at next; the one before leads to the frame above.
    pub(crate) turn: u32,
    /// What the search keeps with it.
    pub(crate) data: Data,
}

impl<M: Processes, Data> MacroStack<M, Data> {
    /// An empty stack, for a visited set that keeps this many cells of memo with each word.
    pub(crate) fn new(model: &M, memo_per_word: usize) -> Self {
        let kept = (0..KEPT).map(|_| (0, Turns::default())).collect();
        Self { position: Position::new(memo_per_word, model.hidden_words()), frames: Vec::new(), kept }
    }

    /// Frames on the stack.
    pub(crate) fn len(&self) -> usize {
        self.frames.len()
    }

    /// The frames, the lowest one first.
    pub(crate) fn frames(&self) -> &[Frame<Data>] {
        &self.frames
    }

    /// The frame on top.
    pub(crate) fn top(&self) -> Option<&Frame<Data>> {
        self.frames.last()
    }

    /// The frame on top, and its turns.
    pub(crate) fn top_mut(&mut self) -> Option<(&mut Frame<Data>, &TurnsOf<M>)> {
        let turns = &self.kept[self.frames.len() % KEPT].1;
        self.frames.last_mut().map(|frame| (frame, turns))
    }

    /// The turns of the state on top, once they are listed.
    pub(crate) fn turns(&self) -> &TurnsOf<M> {
        &self.kept[self.frames.len() % KEPT].1
    }

    /// The turns of the frame with this index, if they are kept.
    pub(crate) fn turns_of(&self, index: usize) -> Option<&TurnsOf<M>> {
        let (tag, turns) = &self.kept[(index + 1) % KEPT];
        self.frames.get(index).filter(|frame| frame.tag == *tag).map(|_| turns)
    }

    /// Lists the turns of the state on top anew if they are not kept. False if there is no state.
    pub(crate) fn list_top<O: DelayObserver<M::Label, M::Fault>>(
        &mut self,
        listing: &mut Listing<'_, M>,
        statistics: &mut Statistics,
        store_is_full: bool,
        observer: &mut O,
    ) -> ControlFlow<StopReason, bool> {
        let Some(tag) = self.frames.last().map(|frame| frame.tag) else { return ControlFlow::Continue(false) };
        let kept = &mut self.kept[self.frames.len() % KEPT];
        if kept.0 != tag {
            let mut turns = std::mem::take(&mut kept.1);
            listing.list(self.position.state(), &mut turns, statistics, store_is_full, observer)?;
            *kept = (tag, turns);
        }
        ControlFlow::Continue(true)
    }

    /// Memory for the turns of the state that may be put on top next.
    pub(crate) fn spare_turns(&mut self) -> TurnsOf<M> {
        let kept = &mut self.kept[(self.frames.len() + 1) % KEPT];
        kept.0 = 0;
        std::mem::take(&mut kept.1)
    }

    /// Proposes the state that a turn of the state on top leads to.
    pub(crate) fn propose(&mut self, turn: usize) {
        let turns = &self.kept[self.frames.len() % KEPT].1;
        propose(&mut self.position, turns, turn);
    }

    /// Makes the state proposed, at which the store has looked, the top.
    pub(crate) fn push(&mut self, tag: u64, turns: TurnsOf<M>, data: Data) {
        let changes = accept(&mut self.position);
        self.push_frame((tag, changes, 0), turns, data);
    }

    /// Makes the state that the position stands on the bottom of the stack, from a turn on; its turns are listed if
    /// they are not known.
    pub(crate) fn start(&mut self, (tag, turn): (u64, u32), turns: Option<TurnsOf<M>>, data: Data) {
        match turns {
            Some(turns) => self.push_frame((tag, 0, turn), turns, data),
            None => self.frames.push(Frame { tag, changes: 0, turn, data }),
        }
    }

    /// Makes the state proposed the top, from a turn on; its turns are not known.
    pub(crate) fn resume(&mut self, (tag, turn): (u64, u32), data: Data) {
        let changes = accept(&mut self.position);
        self.frames.push(Frame { tag, changes, turn, data });
    }

    fn push_frame(&mut self, (tag, changes, turn): (u64, u32, u32), turns: TurnsOf<M>, data: Data) {
        self.kept[(self.frames.len() + 1) % KEPT] = (tag, turns);
        self.frames.push(Frame { tag, changes, turn, data });
    }

    /// Returns to the frame below.
    pub(crate) fn pop(&mut self) -> Option<Frame<Data>> {
        let frame = self.frames.pop()?;
        self.position.retreat(frame.changes as usize);
        self.position.memo_is_right_until(self.position.log_len());
        Some(frame)
    }

    pub(crate) fn memory_bytes(&self) -> u64 {
        self.position.memory_bytes() + size_of_val::<[Frame<Data>]>(&self.frames) as u64
    }
}

/// Proposes the state that a turn leads to.
pub(crate) fn propose<L: Copy, F: Copy>(position: &mut Position, turns: &Turns<L, F>, turn: usize) {
    let successor = position.state_and_successor().1;
    successor.clear();
    successor.extend_from_slice(turns.target(turn).unwrap_or(&[]));
    position.propose();
}

/// Makes the state proposed, at which the store has looked, the position's; returns how many entries of the log lead back.
pub(crate) fn accept(position: &mut Position) -> u32 {
    let changes = position.accept() as u32;
    position.memo_is_right_until(position.log_len());
    changes
}
