//! The stack of a depth-first search that goes from one ordinary state to the next by whole macro steps, and the macro steps of the
//! states near its top.
//!
//! As in [`crate::dfs_stack`], a frame holds no state, only how many entries of the [`Position`]'s log lead back to
//! the frame below. The macro steps of a few states on top are kept; those of others are listed anew when the search comes
//! back to them.

use crate::delay_bounded::{DelayObserver, Listing};
use crate::model::{Model, Processes};
use crate::outcome::Statistics;
use crate::position::Position;
use crate::schedule::MacroSteps;
use fabius_base::StopReason;
use std::ops::ControlFlow;

/// The macro steps of this many states on the stack are kept.
pub(crate) const KEPT: usize = 16;

/// The macro steps of a state of a model.
pub(crate) type MacroStepsOf<M> = MacroSteps<<M as Model>::Label, <M as Model>::Fault>;

/// The stack, and the state on top of it.
pub(crate) struct MacroStack<M: Processes, Data> {
    pub(crate) position: Position,
    frames: Vec<Frame<Data>>,
    /// The macro steps of the frame at height h are in place h modulo [`KEPT`], if they have its tag.
    kept: Vec<(u64, MacroStepsOf<M>)>,
}

/// A state on the stack.
#[derive(Clone, Debug)]
pub(crate) struct Frame<Data> {
    /// Says which macro steps are its; not 0.
    tag: u64,
    /// Entries of the log that lead back to the frame below.
    changes: u32,
    /// The macro step to look at next; the one before leads to the frame above.
    pub(crate) macro_step: u32,
    /// What the search keeps with it.
    pub(crate) data: Data,
}

impl<M: Processes, Data> MacroStack<M, Data> {
    /// An empty stack, for a visited set that keeps this many cells of memo with each word.
    pub(crate) fn new(model: &M, memo_per_word: usize) -> Self {
        let kept = (0..KEPT).map(|_| (0, MacroSteps::default())).collect();
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

    /// The frame on top of a stack that is not empty, and its macro steps.
    pub(crate) fn top_frame(&mut self) -> (&mut Frame<Data>, &MacroStepsOf<M>) {
        let macro_steps = &self.kept[self.frames.len() % KEPT].1;
        (self.frames.last_mut().expect("a state is on the stack"), macro_steps)
    }

    /// The macro steps of the state on top, once they are listed.
    pub(crate) fn macro_steps(&self) -> &MacroStepsOf<M> {
        &self.kept[self.frames.len() % KEPT].1
    }

    /// The macro steps of the frame with this index, if they are kept.
    pub(crate) fn macro_steps_of(&self, index: usize) -> Option<&MacroStepsOf<M>> {
        let (tag, macro_steps) = &self.kept[(index + 1) % KEPT];
        self.frames.get(index).filter(|frame| frame.tag == *tag).map(|_| macro_steps)
    }

    /// Lists the macro steps of the state on top anew if they are not kept. False if there is no state.
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
            let mut macro_steps = std::mem::take(&mut kept.1);
            listing.list(self.position.state(), &mut macro_steps, statistics, store_is_full, observer)?;
            *kept = (tag, macro_steps);
        }
        ControlFlow::Continue(true)
    }

    /// Memory for the macro steps of the state that may be put on top next.
    pub(crate) fn spare_macro_steps(&mut self) -> MacroStepsOf<M> {
        let kept = &mut self.kept[(self.frames.len() + 1) % KEPT];
        kept.0 = 0;
        std::mem::take(&mut kept.1)
    }

    /// Proposes the state that a macro step of the state on top leads to.
    pub(crate) fn propose(&mut self, macro_step: usize) {
        let macro_steps = &self.kept[self.frames.len() % KEPT].1;
        propose(&mut self.position, macro_steps, macro_step);
    }

    /// Makes the state proposed, at which the store has looked, the top.
    pub(crate) fn push(&mut self, tag: u64, macro_steps: MacroStepsOf<M>, data: Data) {
        let changes = accept(&mut self.position);
        self.keep(tag, macro_steps);
        self.frames.push(Frame { tag, changes, macro_step: 0, data });
    }

    /// Makes the state of the position, whose macro steps these are, the bottom of the stack.
    pub(crate) fn start(&mut self, tag: u64, macro_steps: MacroStepsOf<M>, data: Data) {
        self.keep(tag, macro_steps);
        self.frames.push(Frame { tag, changes: 0, macro_step: 0, data });
    }

    /// Makes the state of the position the bottom of the stack, to go on from a macro step; its macro steps are listed later.
    pub(crate) fn start_at(&mut self, tag: u64, macro_step: u32, data: Data) {
        self.frames.push(Frame { tag, changes: 0, macro_step, data });
    }

    /// Makes the state proposed the top, to go on from a macro step; its macro steps are listed later.
    pub(crate) fn push_at(&mut self, tag: u64, macro_step: u32, data: Data) {
        let changes = accept(&mut self.position);
        self.frames.push(Frame { tag, changes, macro_step, data });
    }

    /// Keeps the macro steps of the state that is put on top next.
    fn keep(&mut self, tag: u64, macro_steps: MacroStepsOf<M>) {
        self.kept[(self.frames.len() + 1) % KEPT] = (tag, macro_steps);
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

/// Proposes the state that a macro step leads to.
pub(crate) fn propose<L: Copy, F: Copy>(position: &mut Position, macro_steps: &MacroSteps<L, F>, macro_step: usize) {
    let successor = position.state_and_successor().1;
    successor.clear();
    successor.extend_from_slice(macro_steps.target(macro_step).expect("the macro step leads to a state"));
    position.propose();
}

/// Makes the state proposed, at which the store has looked, the position's; returns how many entries of the log lead back.
pub(crate) fn accept(position: &mut Position) -> u32 {
    let changes = position.accept() as u32;
    position.memo_is_right_until(position.log_len());
    changes
}
