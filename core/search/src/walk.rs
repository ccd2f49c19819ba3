//! What depth-first searches have in common: a stack over a [`Position`], and how transient states are
//! passed through.
//!
//! A frame holds no state. It holds how far its successors are listed, the label that led to it, and how
//! many entries of the position's log lead back to the frame below; beside them whatever its search wants
//! to know of it.
//!
//! Most transient states are passed through *on trust*: they are not looked up, so each visit is a state of
//! its own. Where they come in long runs or in great number they are looked up as ordinary ones are, in a
//! set of their own ([`Class::Transient`]), so that no search goes round among them for ever. To a search,
//! *stored* states of either class are the nodes of the graph, and what is passed on trust belongs to the
//! ways between them.
//!
//! Most of the time goes into waiting for the memory of the visited set. While it is on its way, the next
//! successor is listed already, if the search did not go to the last one: then it is likely not to go to
//! this one, too. If it does, what was listed ahead is forgotten, and listed again later.

use crate::depth_first::{TRANSIENT_PASSES_MAX, TRANSIENT_RUN_MAX};
use crate::model::{Model, Next};
use crate::position::Position;
use crate::store::{Class, Payloads, Store};

/// The stack of a search, and the state on top of it.
pub(crate) struct Walk<M: Model, Own, Probe> {
    pub(crate) position: Position,
    frames: Vec<Frame<M::Cursor, M::Label, Own>>,
    hidden: usize,
    /// Labels on the stack.
    depth: u64,
    /// Transient states visited since an ordinary one was entered or left.
    passes: u32,
    /// Whether transient states are passed through on trust at all.
    pub(crate) trusting: bool,
    /// What comes next in the state on top, if it was listed already.
    ahead: Option<Ahead<M, Probe>>,
    /// Of the successor that is looked at, if it was listed ahead and is proposed to the position.
    proposed: Option<Probe>,
    /// The search did not go to the last successor.
    stayed: bool,
}

/// Something listed before its turn.
struct Ahead<M: Model, Probe> {
    found: Next<M::Label, M::Fault>,
    /// Of a successor to be looked up; then it is proposed to the position.
    probe: Option<Probe>,
    /// How far successors were listed before.
    cursor: M::Cursor,
}

/// A state on the stack.
pub(crate) struct Frame<C, L, Own> {
    cursor: C,
    /// What led to it.
    pub(crate) label: Option<L>,
    /// Entries of the log that lead back to the frame below.
    changes: u32,
    /// Frames from this one downwards that the memo of the position does not reflect: those passed through
    /// on trust since the last stored state.
    stale_run: u32,
    pub(crate) transient: bool,
    /// What the search keeps with it.
    pub(crate) own: Own,
}

impl<C, L, Own> Frame<C, L, Own> {
    /// Whether the state was looked up, not passed through on trust.
    pub(crate) fn is_stored(&self) -> bool {
        self.stale_run == 0
    }

    /// The set it was looked up in.
    pub(crate) fn class(&self) -> Class {
        if self.transient { Class::Transient } else { Class::Ordinary }
    }
}

impl<M: Model, Own, Probe: Copy> Walk<M, Own, Probe> {
    pub(crate) fn new<S: Store<Probe = Probe>>(model: &M) -> Self {
        let hidden = model.hidden_words();
        Self {
            position: Position::new(S::MEMO_PER_WORD, hidden),
            frames: Vec::new(),
            hidden,
            depth: 0,
            passes: 0,
            trusting: true,
            ahead: None,
            proposed: None,
            stayed: false,
        }
    }

    /// Frames on the stack.
    pub(crate) fn len(&self) -> usize {
        self.frames.len()
    }

    /// Labels from the bottom of the stack to its top.
    pub(crate) fn depth(&self) -> u64 {
        self.depth
    }

    /// The frames, the lowest one first.
    pub(crate) fn frames(&self) -> &[Frame<M::Cursor, M::Label, Own>] {
        &self.frames
    }

    /// The frame on top.
    #[inline]
    pub(crate) fn top(&mut self) -> Option<&mut Frame<M::Cursor, M::Label, Own>> {
        self.frames.last_mut()
    }

    /// The labels on the stack.
    pub(crate) fn labels(&self) -> impl DoubleEndedIterator<Item = M::Label> + '_ {
        self.frames.iter().filter_map(|frame| frame.label)
    }

    /// Visible words of the state on top.
    pub(crate) fn visible(&self) -> &[u32] {
        let state = self.position.state();
        &state[..state.len().saturating_sub(self.hidden)]
    }

    /// Moves to a state, to start from it with an empty stack; the store is to look at it next.
    pub(crate) fn land(&mut self, state: &[u32]) {
        self.position.advance(state);
    }

    /// Puts the state landed on, which the store has looked at, at the bottom of the stack.
    pub(crate) fn start(&mut self, model: &mut M, transient: bool, own: Own) {
        self.position.forget();
        let cursor = model.begin(self.position.state());
        self.frames.push(Frame { cursor, label: None, changes: 0, stale_run: 0, transient, own });
        self.depth = 0;
        self.passes = 0;
    }

    /// What comes next in the state on top, whose successor is written to the position.
    #[inline]
    pub(crate) fn next(&mut self, model: &mut M) -> Option<Next<M::Label, M::Fault>> {
        let frame = self.frames.last_mut()?;
        if let Some(ahead) = self.ahead.take() {
            self.proposed = ahead.probe;
            return Some(ahead.found);
        }
        let (state, successor) = self.position.state_and_successor();
        Some(model.next(state, &mut frame.cursor, successor))
    }

    /// The state on top and how far its successors are listed.
    pub(crate) fn state_and_cursor(&mut self) -> Option<(&[u32], &mut M::Cursor)> {
        let frame = self.frames.last_mut()?;
        Some((self.position.state(), &mut frame.cursor))
    }

    /// Lists the successors of the state on top from the beginning.
    pub(crate) fn rewind(&mut self, model: &mut M) {
        if let Some(frame) = self.frames.last_mut() {
            frame.cursor = model.begin(self.position.state());
        }
    }

    /// Looks at the successor: the set and the place where to look it up, `None` if it is passed through on trust.
    #[inline]
    pub(crate) fn look_up<S: Store<Probe = Probe>>(
        &mut self,
        model: &mut M,
        store: &mut S,
        transient: bool,
    ) -> Option<(Class, Probe)> {
        let proposed = self.proposed.take();
        if proposed.is_none() {
            self.position.propose();
        }
        let class = self.class(transient)?;
        let probe = proposed.unwrap_or_else(|| store.prepare(&mut self.position, class));
        if self.stayed {
            self.look_ahead(model, store);
        }
        Some((class, probe))
    }

    /// As what the successor is to be looked up; `None` if it is passed through on trust.
    #[inline]
    fn class(&mut self, transient: bool) -> Option<Class> {
        if !transient {
            return Some(Class::Ordinary);
        }
        let run = 1 + self.frames.last().map_or(0, |below| below.stale_run);
        self.passes = self.passes.saturating_add(1);
        let trusted = self.trusting && run <= TRANSIENT_RUN_MAX && self.passes <= TRANSIENT_PASSES_MAX;
        if trusted { None } else { Some(Class::Transient) }
    }

    /// Lists what comes next while the store's memory for the successor is on its way.
    #[inline]
    fn look_ahead<S: Store<Probe = Probe>>(&mut self, model: &mut M, store: &mut S) {
        let Some(frame) = self.frames.last_mut() else { return };
        let cursor = frame.cursor;
        self.position.put_aside();
        let (state, successor) = self.position.state_and_successor();
        let found = model.next(state, &mut frame.cursor, successor);
        let probe = match found {
            Next::Successor { transient: false, .. } => {
                self.position.propose();
                Some(store.prepare(&mut self.position, Class::Ordinary))
            }
            _ => None,
        };
        self.ahead = Some(Ahead { found, probe, cursor });
    }

    /// Turns back to the successor that was looked up, where something was listed ahead.
    pub(crate) fn recover<S: Store>(&mut self, store: &mut S) {
        let Some(ahead) = self.ahead.take() else { return };
        if let Some(frame) = self.frames.last_mut() {
            frame.cursor = ahead.cursor;
        }
        self.position.take_from_aside();
        store.prepare(&mut self.position, Class::Ordinary);
    }

    /// Forgets what was listed ahead, to stay at the state on top or leave it.
    pub(crate) fn forget_ahead(&mut self) {
        let Some(ahead) = self.ahead.take() else { return };
        if let Some(frame) = self.frames.last_mut() {
            frame.cursor = ahead.cursor;
        }
        if ahead.probe.is_some() {
            self.position.reject();
        }
    }

    /// Does not go to the successor, which was looked up.
    #[inline]
    pub(crate) fn stay(&mut self) {
        self.stayed = true;
        if self.ahead.is_none() {
            self.position.reject();
        }
    }

    /// Does not even look at the successor.
    pub(crate) fn skip(&mut self) {
        if self.proposed.take().is_some() {
            self.position.reject();
        }
    }

    /// Goes to the successor, which was looked up.
    #[inline]
    pub(crate) fn enter<S: Store>(
        &mut self,
        model: &mut M,
        store: &mut S,
        label: Option<M::Label>,
        transient: bool,
        own: Own,
    ) {
        self.recover(store);
        self.stayed = false;
        self.position.memo_is_right_until(self.position.log_len());
        if !transient {
            self.passes = 0;
        }
        self.push(model, label, transient, 0, own);
    }

    /// Goes to the successor, a transient state, on trust.
    #[inline]
    pub(crate) fn pass(&mut self, model: &mut M, label: Option<M::Label>, own: Own) {
        let stale_run = 1 + self.frames.last().map_or(0, |below| below.stale_run);
        self.push(model, label, true, stale_run, own);
    }

    #[inline]
    fn push(&mut self, model: &mut M, label: Option<M::Label>, transient: bool, stale_run: u32, own: Own) {
        let changes = self.position.accept() as u32;
        let cursor = model.begin(self.position.state());
        self.frames.push(Frame { cursor, label, changes, stale_run, transient, own });
        self.depth += u64::from(label.is_some());
    }

    /// Returns to the frame below.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Frame<M::Cursor, M::Label, Own>> {
        let frame = self.frames.pop()?;
        self.depth -= u64::from(frame.label.is_some());
        self.position.retreat(frame.changes as usize);
        if !frame.transient {
            self.passes = 0;
        }
        if frame.is_stored() {
            self.position.memo_is_right_until(self.position.log_len() - self.stale_changes());
        }
        Some(frame)
    }

    /// Tells the store that the state on top will be asked for, when it is left.
    #[inline]
    pub(crate) fn announce_top<P, S: Payloads<P, Probe = Probe>>(&self, store: &mut S) {
        if let Some(top) = self.frames.last().filter(|top| top.is_stored()) {
            let probe = store.probe_of_state(&self.position, top.class());
            store.expect(probe);
        }
    }

    /// Goes back to the stored state of this class with these visible words. `None` if there is none; then
    /// nothing is left of the stack.
    pub(crate) fn retreat_to(&mut self, visible: &[u32], class: Class) -> Option<()> {
        while let Some(frame) = self.frames.last() {
            if frame.is_stored() && frame.class() == class && self.visible() == visible {
                return Some(());
            }
            self.pop();
        }
        None
    }

    /// Entries of the log that the memo of the state on top does not reflect.
    #[inline]
    fn stale_changes(&self) -> usize {
        let stale_run = self.frames.last().map_or(0, |frame| frame.stale_run as usize);
        self.frames[self.frames.len() - stale_run..].iter().map(|frame| frame.changes as usize).sum()
    }

    pub(crate) fn memory_bytes(&self) -> u64 {
        self.position.memory_bytes() + size_of_val::<[Frame<M::Cursor, M::Label, Own>]>(&self.frames) as u64
    }
}
