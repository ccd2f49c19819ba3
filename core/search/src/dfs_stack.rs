//! The stack of a depth-first search, the state on top of it, and what becomes of a successor.
//!
//! ```text
//! for each successor t of the state on top:        what the search may do with it:
//!   look_up(t):                                      enter    t becomes the top; it is in the visited set
//!     if t is transient and none of too many:        descend  t becomes the top without a lookup
//!       no lookup                                    reject   t was looked up, the search stays
//!     else: probe of t in the visited set            cut      t is not looked up at all
//! ```
//!
//! A frame holds no state. It holds how far its successors are listed, the label that led to it, and how
//! many entries of the [`Position`]'s log lead back to the frame below; beside them whatever its search keeps
//! with it.
//!
//! *Transient states.* Most of them are passed through without a lookup, so each visit is a state of
//! its own. Where they come in long runs or in great number ([`TransientPolicy`]) they are looked up as ordinary
//! ones are, in a set of their own ([`Class::Transient`]), so that no search goes round among them for ever. To a
//! search, *stored* states of either class are the nodes of the graph, and what is not looked up belongs to the
//! edges between them. The marks of all transitions of such an edge are united.
//!
//! *Look-ahead.* Most of the time goes into waiting for the memory of the visited set. While it is on its way, the next
//! successor is listed already, if the search did not go to the last one: then it is likely not to go to
//! this one, too. If it does, what was listed ahead is forgotten, and listed again later. This changes no order.

use crate::model::{Details, Listed, Marks, Model, Next};
use crate::position::Position;
use crate::sleep::Asleep;
use crate::store::{Class, Payloads, Store};

/// A visited set, as far as the stack knows it.
pub(crate) trait Lookup {
    /// What it needs to find a state.
    type Probe: Copy;

    /// Looks at the successor of a position, which was reached with these marks since the last stored state, and
    /// brings the memo up to date with it.
    fn probe(&mut self, position: &mut Position, class: Class, marks: Marks) -> Self::Probe;
}

impl<S: Store> Lookup for S {
    type Probe = S::Probe;

    #[inline]
    fn probe(&mut self, position: &mut Position, class: Class, _: Marks) -> S::Probe {
        self.prepare(position, class)
    }
}

/// Up to when transient states are passed through without a lookup.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TransientPolicy {
    /// In a row.
    pub(crate) run_max: u32,
    /// Between one stored state and the next, in whatever order they are visited.
    pub(crate) visits_max: u32,
}

impl TransientPolicy {
    /// Lookups are left out as long as nothing suggests that transient states could go on for ever.
    pub(crate) const SKIP_LOOKUP: Self = Self { run_max: 256, visits_max: 4096 };
    /// Each is looked up.
    pub(crate) const LOOK_UP_ALL: Self = Self { run_max: 0, visits_max: 0 };
}

/// The stack of a search, and the state on top of it.
pub(crate) struct DfsStack<M: Model, Data, Probe> {
    pub(crate) position: Position,
    frames: Vec<Frame<M::Cursor, M::Label, Data>>,
    hidden: usize,
    /// Labels on the stack.
    depth: u64,
    /// Transient states visited since an ordinary one was entered or left.
    pub(crate) transient_visits: u32,
    pub(crate) policy: TransientPolicy,
    /// Of what was listed last, as of the present successor.
    pub(crate) details: Details<M::Label, M::Fault>,
    /// What comes next in the state on top, if it was listed already, …
    ahead: Option<Ahead<M::Cursor, Probe>>,
    /// … and its details, written where they are kept ([`Model::list`]).
    details_ahead: Details<M::Label, M::Fault>,
    /// Of the present successor, if it was listed ahead and is proposed to the position.
    proposed: Option<Probe>,
    /// The search did not go to the last successor.
    rejected: bool,
}

/// Something listed before its turn.
struct Ahead<C, Probe> {
    listed: Listed,
    /// Of a successor to be looked up; then it is proposed to the position.
    probe: Option<Probe>,
    /// How far successors were listed before.
    cursor: C,
}

/// A state on the stack.
pub(crate) struct Frame<C, L, Data> {
    pub(crate) cursor: C,
    /// What led to it.
    pub(crate) label: Option<L>,
    /// Entries of the log that lead back to the frame below.
    changes: u32,
    /// Frames from this one downwards that the memo of the position does not reflect: those that were not
    /// looked up since the last stored state.
    stale_run: u32,
    /// What was listed: successors, and transitions without one. The last one leads to the frame above.
    pub(crate) listed: u32,
    pub(crate) transient: bool,
    /// Of the transitions since the last stored state.
    pub(crate) marks: Marks,
    /// What the search keeps with it.
    pub(crate) data: Data,
}

impl<C, L, Data> Frame<C, L, Data> {
    /// Whether the state was looked up.
    #[inline]
    pub(crate) fn is_stored(&self) -> bool {
        self.stale_run == 0
    }

    /// The set it was looked up in.
    #[inline]
    pub(crate) fn class(&self) -> Class {
        class_of(self.transient)
    }
}

/// The set in which a state is looked up.
#[inline]
pub(crate) fn class_of(transient: bool) -> Class {
    if transient { Class::Transient } else { Class::Ordinary }
}

impl<M: Model, Data, Probe: Copy> DfsStack<M, Data, Probe> {
    /// An empty stack, for a visited set that keeps this many cells of memo with each word.
    pub(crate) fn new(model: &M, memo_per_word: usize) -> Self {
        let hidden = model.hidden_words();
        Self {
            position: Position::new(memo_per_word, hidden),
            frames: Vec::new(),
            hidden,
            depth: 0,
            transient_visits: 0,
            policy: TransientPolicy::SKIP_LOOKUP,
            details: Details::NONE,
            ahead: None,
            details_ahead: Details::NONE,
            proposed: None,
            rejected: false,
        }
    }

    /// The same stack for a search that keeps something else with each state, and asks another visited set of the same kind.
    pub(crate) fn hand_over<D, P>(mut self, data: impl Fn(Data) -> D) -> DfsStack<M, D, P> {
        self.forget_ahead();
        let Self { position, frames, hidden, depth, transient_visits, policy, rejected, .. } = self;
        let frame = |frame: Frame<M::Cursor, M::Label, Data>| {
            let Frame { cursor, label, changes, stale_run, listed, transient, marks, data: old } = frame;
            Frame { cursor, label, changes, stale_run, listed, transient, marks, data: data(old) }
        };
        let frames = frames.into_iter().map(frame).collect();
        DfsStack {
            position,
            frames,
            hidden,
            depth,
            transient_visits,
            policy,
            details: Details::NONE,
            ahead: None,
            details_ahead: Details::NONE,
            proposed: None,
            rejected,
        }
    }

    /// Leaves the frames from number `lowest` on, whose state was looked up; those below are returned as a stack of their own, on top of
    /// which the successor is visited that led to `lowest`.
    pub(crate) fn split(&mut self, lowest: usize) -> Self {
        debug_assert!(
            self.ahead.is_none() && self.frames[lowest].is_stored(),
            "a stored state, with nothing listed ahead"
        );
        let entries_above: usize = self.frames[lowest + 1..].iter().map(|frame| frame.changes as usize).sum();
        let entries = self.position.log_before() - entries_above;
        let upper = self.frames.split_off(lowest);
        let frames = std::mem::replace(&mut self.frames, upper);
        let bottom = &mut self.frames[0];
        let position = self.position.earlier(entries - bottom.changes as usize);
        self.position.forget_first(entries);
        let transient_visits = if bottom.transient { self.transient_visits } else { 0 };
        (bottom.label, bottom.changes) = (None, 0);
        self.depth = self.labels().count() as u64;
        let mut lower = Self {
            position,
            frames,
            hidden: self.hidden,
            depth: 0,
            transient_visits,
            policy: self.policy,
            details: Details::NONE,
            ahead: None,
            details_ahead: Details::NONE,
            proposed: None,
            rejected: true,
        };
        lower.depth = lower.labels().count() as u64;
        lower.position.memo_is_right_until(lower.position.log_len() - lower.stale_changes());
        lower
    }

    /// Frames on the stack.
    pub(crate) fn len(&self) -> usize {
        self.frames.len()
    }

    /// Labels from the bottom of the stack to its top.
    #[inline]
    pub(crate) fn depth(&self) -> u64 {
        self.depth
    }

    /// The frames, the lowest one first.
    pub(crate) fn frames(&self) -> &[Frame<M::Cursor, M::Label, Data>] {
        &self.frames
    }

    /// The frames, the lowest one first.
    pub(crate) fn frames_mut(&mut self) -> &mut [Frame<M::Cursor, M::Label, Data>] {
        &mut self.frames
    }

    /// The frame on top.
    #[inline]
    pub(crate) fn top(&mut self) -> Option<&mut Frame<M::Cursor, M::Label, Data>> {
        self.frames.last_mut()
    }

    /// The frame on top of a stack that is not empty.
    #[inline]
    pub(crate) fn top_frame(&mut self) -> &mut Frame<M::Cursor, M::Label, Data> {
        self.frames.last_mut().expect("a state is on the stack")
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

    /// Moves to a state, to start from it with an empty stack; the visited set is to look at it next.
    pub(crate) fn reset(&mut self, state: &[u32]) {
        self.position.advance(state);
    }

    /// Puts the state that the position was reset to, and at which the visited set has looked, at the bottom of
    /// the stack.
    pub(crate) fn start(&mut self, model: &mut M, transient: bool, data: Data) {
        self.position.forget();
        let cursor = model.begin(self.position.state());
        let marks = Marks::NONE;
        self.frames.push(Frame { cursor, label: None, changes: 0, stale_run: 0, listed: 0, transient, marks, data });
        self.depth = 0;
        self.transient_visits = 0;
    }

    /// What comes next in the state on top, whose successor is written to the position.
    #[inline]
    pub(crate) fn next(&mut self, model: &mut M) -> Option<Next<M::Label, M::Fault>> {
        let listed = self.list(model)?;
        Some(self.details.with(listed))
    }

    /// As [`Self::next`], told in parts: [`Self::details`] have the rest.
    #[inline]
    pub(crate) fn list(&mut self, model: &mut M) -> Option<Listed> {
        let frame = self.frames.last_mut()?;
        frame.listed = frame.listed.wrapping_add(1);
        if let Some(ahead) = self.ahead.take() {
            (self.proposed, self.details) = (ahead.probe, self.details_ahead);
            return Some(ahead.listed);
        }
        let (state, successor) = self.position.state_and_successor();
        Some(model.list(state, &mut frame.cursor, successor, &mut self.details))
    }

    /// The state on top and the successor that was looked at last, if they are of the same length.
    #[inline]
    pub(crate) fn state_and_successor(&self) -> Option<(&[u32], &[u32])> {
        Some((self.position.state_beside_proposed()?, self.position.proposed()))
    }

    /// Passes over some processes in the state on top, of which nothing is listed yet.
    #[inline]
    pub(crate) fn pass_over(&mut self, model: &mut M, asleep: Asleep) {
        if !asleep.is_nobody() {
            let (state, cursor) = self.state_and_cursor();
            model.pass_over(state, cursor, asleep);
        }
    }

    /// The state on top and how far its successors are listed.
    pub(crate) fn state_and_cursor(&mut self) -> (&[u32], &mut M::Cursor) {
        let frame = self.frames.last_mut().expect("a state is on the stack");
        (self.position.state(), &mut frame.cursor)
    }

    /// Lists the successors of the state on top from the beginning.
    pub(crate) fn rewind(&mut self, model: &mut M) {
        let cursor = model.begin(self.position.state());
        let frame = self.top_frame();
        (frame.cursor, frame.listed) = (cursor, 0);
    }

    /// The marks of a transition from the state on top, and of those that led there from the last stored state.
    #[inline]
    pub(crate) fn marks_with(&self, marks: Marks) -> Marks {
        self.frames.last().map_or(marks, |frame| frame.marks.with(marks))
    }

    /// Looks at the successor: the set and the probe to look it up with, `None` if it needs no lookup.
    #[inline]
    pub(crate) fn look_up(
        &mut self,
        model: &mut M,
        set: &mut impl Lookup<Probe = Probe>,
        transient: bool,
        marks: Marks,
    ) -> Option<(Class, Probe)> {
        let found = self.look_up_only(set, transient, marks)?;
        self.look_ahead(model, set);
        Some(found)
    }

    /// As [`Self::look_up`], and lists nothing ahead: for who does something else while the memory is on its way.
    #[inline]
    pub(crate) fn look_up_only(
        &mut self,
        set: &mut impl Lookup<Probe = Probe>,
        transient: bool,
        marks: Marks,
    ) -> Option<(Class, Probe)> {
        self.propose();
        if transient && self.skips_lookup() {
            return None;
        }
        let class = class_of(transient);
        Some((class, self.probe(set, class, marks)))
    }

    /// Finds out where the successor differs from the state on top.
    #[inline]
    pub(crate) fn propose(&mut self) {
        if self.proposed.is_none() {
            self.position.propose_touched(self.details.touched);
        }
    }

    /// Counts a visit of a transient successor; whether it needs no lookup.
    #[inline]
    fn skips_lookup(&mut self) -> bool {
        let run = 1 + self.frames.last().map_or(0, |below| below.stale_run);
        let visits = self.count_transient_visit();
        run <= self.policy.run_max && visits <= self.policy.visits_max
    }

    /// Counts a visit of a transient successor; how many there were since the last stored state.
    #[inline]
    pub(crate) fn count_transient_visit(&mut self) -> u32 {
        self.transient_visits = self.transient_visits.saturating_add(1);
        self.transient_visits
    }

    /// The probe of the successor.
    #[inline]
    pub(crate) fn probe(&mut self, set: &mut impl Lookup<Probe = Probe>, class: Class, marks: Marks) -> Probe {
        let marks = self.marks_with(marks);
        self.proposed.take().unwrap_or_else(|| set.probe(&mut self.position, class, marks))
    }

    /// Lists what comes next while the memory for the successor is on its way, if that is likely to be of use.
    #[inline]
    pub(crate) fn look_ahead(&mut self, model: &mut M, set: &mut impl Lookup<Probe = Probe>) {
        if !self.rejected {
            return;
        }
        self.position.put_aside();
        let frame = self.frames.last_mut().expect("a state is on the stack");
        let (cursor, above) = (frame.cursor, frame.marks);
        let (state, successor) = self.position.state_and_successor();
        let listed = model.list(state, &mut frame.cursor, successor, &mut self.details_ahead);
        let probe = match listed {
            Listed::Successor { transient: false, marks, .. } => {
                self.position.propose_touched(self.details_ahead.touched);
                Some(set.probe(&mut self.position, Class::Ordinary, above.with(marks)))
            }
            _ => None,
        };
        self.ahead = Some(Ahead { listed, probe, cursor });
    }

    /// Turns back to the successor that was looked up, where something was listed ahead.
    pub(crate) fn recover(&mut self, set: &mut impl Lookup<Probe = Probe>) {
        let Some(ahead) = self.ahead.take() else { return };
        self.top_frame().cursor = ahead.cursor;
        self.position.take_from_aside();
        set.probe(&mut self.position, Class::Ordinary, Marks::NONE);
    }

    /// Forgets what was listed ahead, to stay at the state on top or leave it.
    pub(crate) fn forget_ahead(&mut self) {
        let Some(ahead) = self.ahead.take() else { return };
        self.top_frame().cursor = ahead.cursor;
        if ahead.probe.is_some() {
            self.position.reject();
        }
    }

    /// Does not go to the successor, which was looked up.
    #[inline]
    pub(crate) fn reject(&mut self) {
        self.rejected = true;
        if self.ahead.is_none() {
            self.position.reject();
        }
    }

    /// Does not even look at the successor.
    #[inline]
    pub(crate) fn cut(&mut self) {
        if self.proposed.take().is_some() {
            self.position.reject();
        }
    }

    /// Goes to the successor, which was looked up.
    #[inline]
    pub(crate) fn enter(
        &mut self,
        model: &mut M,
        set: &mut impl Lookup<Probe = Probe>,
        label: Option<M::Label>,
        transient: bool,
        data: Data,
    ) {
        self.recover(set);
        self.rejected = false;
        self.position.memo_is_right_until(self.position.log_len());
        if !transient {
            self.transient_visits = 0;
        }
        self.push(model, label, transient, 0, Marks::NONE, data);
    }

    /// Goes to the successor, a transient state, without a lookup.
    #[inline]
    pub(crate) fn descend(&mut self, model: &mut M, label: Option<M::Label>, marks: Marks, data: Data) {
        let stale_run = 1 + self.frames.last().map_or(0, |below| below.stale_run);
        let marks = self.marks_with(marks);
        self.push(model, label, true, stale_run, marks, data);
    }

    /// Goes to the successor, a transient state, which was looked up without being a node of the graph.
    pub(crate) fn descend_after_lookup(&mut self, model: &mut M, label: Option<M::Label>, marks: Marks, data: Data) {
        self.position.memo_is_right_until(self.position.log_len());
        let marks = self.marks_with(marks);
        self.push(model, label, true, 0, marks, data);
    }

    #[inline]
    fn push(
        &mut self,
        model: &mut M,
        label: Option<M::Label>,
        transient: bool,
        stale_run: u32,
        marks: Marks,
        data: Data,
    ) {
        let changes = self.position.accept() as u32;
        let cursor = model.begin(self.position.state());
        self.frames.push(Frame { cursor, label, changes, stale_run, listed: 0, transient, marks, data });
        self.depth += u64::from(label.is_some());
    }

    /// Returns to the frame below.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Frame<M::Cursor, M::Label, Data>> {
        let frame = self.frames.pop()?;
        self.depth -= u64::from(frame.label.is_some());
        self.position.retreat(frame.changes as usize);
        if !frame.transient {
            self.transient_visits = 0;
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

    /// Goes back to the stored state of this class with these visible words, which is on the stack.
    fn retreat_to(&mut self, visible: &[u32], class: Class) {
        loop {
            let frame = self.top_frame();
            let is_stored = frame.is_stored() && frame.class() == class;
            if is_stored && self.visible() == visible {
                return;
            }
            self.pop();
        }
    }

    /// The labels up to the successor that was looked up, and is on the stack, and those of the cycle that it closes.
    pub(crate) fn close_cycle(
        &mut self,
        set: &mut impl Lookup<Probe = Probe>,
        label: Option<M::Label>,
        class: Class,
    ) -> (Vec<M::Label>, Vec<M::Label>) {
        self.recover(set);
        let target = self.position.visible().to_vec();
        let mut stem: Vec<M::Label> = self.labels().chain(label).collect();
        self.position.reject();
        self.retreat_to(&target, class);
        let cycle = stem.split_off(self.depth as usize);
        (stem, cycle)
    }

    /// Entries of the log that the memo of the state on top does not reflect.
    #[inline]
    fn stale_changes(&self) -> usize {
        let stale_run = self.frames.last().map_or(0, |frame| frame.stale_run as usize);
        self.frames[self.frames.len() - stale_run..].iter().map(|frame| frame.changes as usize).sum()
    }

    pub(crate) fn memory_bytes(&self) -> u64 {
        self.position.memory_bytes() + size_of_val::<[Frame<M::Cursor, M::Label, Data>]>(&self.frames) as u64
    }
}
