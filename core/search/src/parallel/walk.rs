//! A thread's way through the states: a stack, the state on top of it, and what to do with successors.
//!
//! A [`Walk`] lists successors, passes through transient states and tells its algorithm of each stored state
//! it arrives at; the algorithm says whether to [`Walk::enter`] it, to [`Walk::turn_away`], or to
//! [`Walk::put_off`] the decision until the other successors were visited.
//!
//! It goes about the states like [`crate::depth_first`]: a frame of the stack holds no state, but how far its
//! successors are listed and how many entries of the [`Position`]'s log lead back to the frame below; and while the
//! memory of the visited set is on its way, the next successor is listed already, if the last one was known.
//! Marks of transitions are united along transient states. Where transient states come in long runs or in
//! great number, they are treated as stored ones, uncounted; see [`Passing`].
//!
//! Threads should not all do the same, so each but the first puts off the first successor of about every other
//! state: the successors come in an order that depends on the seed and the thread.

use super::arena::Portion;
use super::store::{Access, Key};
use super::team::{Run, Share, Show, Team, Watch};
use super::trace::Trace;
use crate::depth_first::{TRANSIENT_PASSES_MAX, TRANSIENT_RUN_MAX};
use crate::look::{Curiosity, Look, Phase};
use crate::model::{Ending, Marks, Model, Next};
use crate::position::Position;
use crate::store::Class;
use crate::toy::Random;
use fabius_base::StopReason;
use std::collections::HashSet;
use std::ops::ControlFlow;

/// Steps from one look at limits, cancellation and the other threads to the next.
const STEPS_PER_LOOK: u32 = 1024;

/// In a note: other threads count the transitions of this state.
pub(super) const UNCOUNTED: u8 = 1 << 7;

/// When transient states are treated as stored ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Passing {
    /// So many in a row are passed through on trust.
    pub(super) run_max: u32,
    /// So many between one stored state and the next, in whatever order they are visited.
    pub(super) passes_max: u32,
    /// Whether it depends on the way from the last stored state only: then what is reached from a stored
    /// state is the same each time, and for every thread. Beyond `passes_max`, those met before on the way
    /// from the same stored state are turned away from.
    pub(super) same_for_all: bool,
}

impl Passing {
    /// For algorithms to which it does not matter.
    pub(super) const FREE: Self =
        Self { run_max: TRANSIENT_RUN_MAX, passes_max: TRANSIENT_PASSES_MAX, same_for_all: false };
    /// For algorithms that compare what different visits of a state lead to.
    pub(super) const SAME_FOR_ALL: Self = Self { same_for_all: true, ..Self::FREE };
}

/// What there is instead of a successor, if anything.
type Otherwise<M> = Option<Step<<M as Model>::Label, <M as Model>::Fault>>;
/// The labels on the way to a state, and those of the way back to it.
type Lasso<M> = (Vec<<M as Model>::Label>, Vec<<M as Model>::Label>);

/// A walk of one thread.
pub(super) struct Walk<'a, M: Model, T, E> {
    pub(super) thread: usize,
    pub(super) team: &'a Team<'a, T, E>,
    pub(super) model: &'a mut M,
    pub(super) access: Access<'a>,
    pub(super) share: Share,
    /// Memory of what the algorithm keeps beside the stack.
    pub(super) beside_bytes: u64,
    /// The state on top of the stack.
    position: Position,
    stack: Vec<Frame<M::Cursor, M::Label>>,
    put_off: Vec<PutOff<M::Cursor>>,
    /// A successor with a fault, which was told already.
    pending: Option<Listed<M::Cursor, M::Label>>,
    /// The successor last told of.
    current: Option<Listed<M::Cursor, M::Label>>,
    /// What comes next at the top of the stack, if it was listed already.
    ahead: Option<Ahead<M>>,
    last_was_old: bool,
    passing: Passing,
    /// States reached with these marks are told apart from the same states reached without.
    apart: Option<Marks>,
    /// Labels from the initial state to the top of the stack.
    depth: u64,
    /// Transient states visited since a stored one was entered or left.
    passes: u32,
    /// Numbers the visits of stored states.
    visits: u64,
    /// Transient states met on the way from a stored one: visit, state, marks and length of the run.
    met: HashSet<(u64, Key, Marks, u32)>,
    portion: Portion,
    random: Random,
    steps_left: u32,
    watch: Option<Watch<'a, 'a, M::Label>>,
}

/// A state on the stack.
struct Frame<C, L> {
    cursor: C,
    label: Option<L>,
    key: Key,
    /// Entries of the log that lead back to the frame below.
    changes: u32,
    /// Frames from this one downwards that the memo of the position does not reflect.
    stale_run: u32,
    /// Transient states passed since the last stored one.
    run: u32,
    /// Successors listed.
    listed: u32,
    /// Which successor of the frame below it is, from 1.
    ordinal: u32,
    /// Successors to come back to.
    put_off: u32,
    trace: Option<Trace>,
    /// Of the transitions since the last stored state.
    marks: Marks,
    exhausted: bool,
    /// It is in the store, and not passed through on trust.
    stored: bool,
    /// A note of the algorithm.
    note: u8,
    visit: u64,
}

/// A successor to come back to: where it is listed.
struct PutOff<C> {
    cursor: C,
    listed: u32,
}

/// A successor that was listed.
struct Listed<C, L> {
    /// Before it was listed.
    cursor: C,
    label: Option<L>,
    transient: bool,
    marks: Marks,
    /// It was put off before.
    again: bool,
    /// It is proposed to the position already, and this is its key.
    key: Option<Key>,
}

/// Something listed before its turn.
struct Ahead<M: Model> {
    found: Next<M::Label, M::Fault>,
    /// Of a successor to be stored; then it is proposed to the position.
    key: Option<Key>,
    /// How far successors were listed before.
    cursor: M::Cursor,
}

/// What comes next on a walk.
pub(super) enum Step<L, F> {
    /// A transition from here is faulty. If it has a successor, that comes next.
    Faulty { label: Option<L>, fault: F },
    /// This state may not stop here, but must.
    InvalidEnd,
    /// A stored state can be reached. One of [`Walk::enter`], [`Walk::turn_away`] and [`Walk::put_off`] has
    /// to follow.
    Arrival(Arrival),
    /// All successors of the stored state on top of the stack were visited. [`Walk::leave`] or
    /// [`Walk::list_again`] has to follow.
    Done,
    /// The stack is empty.
    Over,
}

/// A stored state that can be reached.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub(super) key: Key,
    /// Of all transitions from the stored state below.
    pub(super) marks: Marks,
    pub(super) transient: bool,
    /// It was put off before.
    pub(super) again: bool,
}

/// A state to go on from, and how it was reached.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Start {
    pub(super) key: Key,
    pub(super) hidden: Vec<u32>,
    pub(super) trace: Trace,
    pub(super) depth: u64,
}

impl<'a, M: Model, T, E: From<StopReason>> Walk<'a, M, T, E> {
    pub(super) fn new(
        thread: usize,
        team: &'a Team<'a, T, E>,
        model: &'a mut M,
        (passing, apart): (Passing, Option<Marks>),
        watch: Option<Watch<'a, '_, M::Label>>,
    ) -> Self {
        Self {
            thread,
            team,
            access: team.store.access(),
            share: Share::default(),
            beside_bytes: 0,
            position: Position::new(1, model.hidden_words()),
            model,
            stack: Vec::new(),
            put_off: Vec::new(),
            pending: None,
            current: None,
            ahead: None,
            last_was_old: false,
            passing,
            apart,
            depth: 0,
            passes: 0,
            visits: 0,
            met: HashSet::new(),
            portion: Portion::default(),
            random: Random::new(team.seed ^ (thread as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)),
            steps_left: 0,
            watch: watch.map(|watch| watch as Watch<'_, '_, M::Label>),
        }
    }

    /// Stands on the initial state, with nothing below.
    pub(super) fn stand_on_initial(&mut self) -> Result<Start, M::Fault> {
        self.model.initial(self.position.state_and_successor().1)?;
        let key = self.stand();
        Ok(Start { key, hidden: self.position.hidden().to_vec(), trace: Trace::START, depth: 0 })
    }

    /// Stands on a state that is in the store, with nothing below.
    pub(super) fn stand_on(&mut self, start: &Start) {
        let successor = self.position.state_and_successor().1;
        self.access.unfold(start.key, successor);
        successor.extend_from_slice(&start.hidden);
        self.stand();
    }

    fn stand(&mut self) -> Key {
        self.position.propose();
        let key = self.access.key(&mut self.position, Class::Ordinary, false);
        self.position.accept();
        self.position.forget();
        key
    }

    /// Puts the state that the walk stands on at the bottom of the stack.
    pub(super) fn begin(&mut self, start: &Start, note: u8) {
        self.share.pieces += 1;
        self.depth = start.depth;
        self.passes = 0;
        self.visits += 1;
        let cursor = self.model.begin(self.position.state());
        let frame = Frame { trace: Some(start.trace), ..self.frame(cursor, None, start.key, note) };
        self.stack.push(frame);
    }

    fn frame(&self, cursor: M::Cursor, label: Option<M::Label>, key: Key, note: u8) -> Frame<M::Cursor, M::Label> {
        Frame {
            cursor,
            label,
            key,
            changes: 0,
            stale_run: 0,
            run: 0,
            listed: 0,
            ordinal: 0,
            put_off: 0,
            trace: None,
            marks: Marks::NONE,
            exhausted: false,
            stored: true,
            note,
            visit: self.visits,
        }
    }

    /// Goes on to whatever the algorithm has to know of next.
    #[inline]
    pub(super) fn step(&mut self) -> Run<E, Step<M::Label, M::Fault>> {
        loop {
            match self.steps_left.checked_sub(1) {
                Some(left) => self.steps_left = left,
                None => self.look()?,
            }
            let listed = match self.pending.take() {
                Some(listed) => listed,
                None => match self.list() {
                    Ok(listed) => listed,
                    Err(Some(step)) => return ControlFlow::Continue(step),
                    Err(None) => continue,
                },
            };
            if let Some(arrival) = self.arrive(listed) {
                return ControlFlow::Continue(Step::Arrival(arrival));
            }
        }
    }

    /// The next successor of the state on top of the stack, or what else the algorithm must know.
    #[inline]
    fn list(&mut self) -> Result<Listed<M::Cursor, M::Label>, Otherwise<M>> {
        let Some(frame) = self.stack.last_mut() else { return Err(Some(Step::Over)) };
        let again = frame.exhausted;
        if again {
            let Some(put_off) = (frame.put_off != 0).then(|| self.put_off.pop()).flatten() else {
                if frame.stored {
                    return Err(Some(Step::Done));
                }
                self.leave();
                return Err(None);
            };
            frame.put_off -= 1;
            (frame.cursor, frame.listed) = (put_off.cursor, put_off.listed);
        }
        let (before, found, key) = match self.ahead.take() {
            Some(ahead) => (ahead.cursor, ahead.found, ahead.key),
            None => {
                let before = frame.cursor;
                let (state, successor) = self.position.state_and_successor();
                (before, self.model.next(state, &mut frame.cursor, successor), None)
            }
        };
        frame.listed += 1;
        match found {
            Next::Successor { label, transient, fault, marks } => {
                let first = frame.listed == 1 && !again && self.thread != 0;
                let listed = Listed { cursor: before, label, transient, marks, again, key };
                if first && self.random.next_u64() & 1 != 0 {
                    self.remember(listed.cursor);
                    return Err(None);
                }
                match fault {
                    None => Ok(listed),
                    Some(fault) => {
                        self.pending = Some(listed);
                        Err(Some(Step::Faulty { label, fault }))
                    }
                }
            }
            Next::Broken { label, fault } => Err(Some(Step::Faulty { label: Some(label), fault })),
            Next::Done(ending) => {
                frame.exhausted = true;
                Err((ending == Ending::InvalidEnd).then_some(Step::InvalidEnd))
            }
        }
    }

    /// Proposes the successor, or enters it if it is transient. `None` if there is nothing to tell.
    #[inline]
    fn arrive(&mut self, listed: Listed<M::Cursor, M::Label>) -> Option<Arrival> {
        let (counted, cut) = (self.is_counted(), self.is_cut(listed.label));
        let statistics = &mut self.share.statistics;
        statistics.transient += u64::from(listed.transient && counted);
        if cut {
            statistics.cut += 1;
            statistics.matched += u64::from(counted);
            return None;
        }
        let marks = self.stack.last().map_or(Marks::NONE, |frame| frame.marks).with(listed.marks);
        let key = match listed.key {
            Some(key) => key,
            None => {
                self.position.propose();
                if listed.transient && self.pass(&listed, marks) {
                    return None;
                }
                self.key(listed.transient, marks)
            }
        };
        let arrival = Arrival { key, marks, transient: listed.transient, again: listed.again };
        let may_look_ahead = self.last_was_old && !listed.transient && !listed.again;
        self.current = Some(listed);
        if may_look_ahead {
            self.look_ahead();
        }
        Some(arrival)
    }

    /// The key of the successor proposed.
    #[inline]
    fn key(&mut self, transient: bool, marks: Marks) -> Key {
        let class = if transient { Class::Transient } else { Class::Ordinary };
        let apart = self.apart.is_some_and(|apart| marks.has(apart));
        self.access.key(&mut self.position, class, apart)
    }

    /// Lists what comes next while the store's memory for the state proposed is on its way.
    #[inline]
    fn look_ahead(&mut self) {
        let Some(frame) = self.stack.last_mut() else { return };
        let (cursor, above) = (frame.cursor, frame.marks);
        self.position.put_aside();
        let (state, successor) = self.position.state_and_successor();
        let found = self.model.next(state, &mut frame.cursor, successor);
        let key = match found {
            Next::Successor { label, transient: false, fault: None, marks } if !self.is_cut(label) => {
                self.position.propose();
                Some(self.key(false, above.with(marks)))
            }
            _ => None,
        };
        self.ahead = Some(Ahead { found, key, cursor });
    }

    /// Forgets what was listed ahead, and proposes again the state before it.
    #[inline]
    fn forget_ahead(&mut self, key: Key) {
        let Some(ahead) = self.ahead.take() else { return };
        if let Some(frame) = self.stack.last_mut() {
            frame.cursor = ahead.cursor;
        }
        self.position.take_from_aside();
        self.access.key(&mut self.position, Class::Ordinary, key.is_reached_otherwise());
    }

    /// Whether a successor reached with this label lies too deep.
    #[inline]
    fn is_cut(&self, label: Option<M::Label>) -> bool {
        let depth = self.depth + u64::from(label.is_some());
        self.team.settings.limits.depth_max.is_some_and(|max| max <= depth)
    }

    /// Passes through the transient state proposed, or turns away from it; false if it is to be treated as
    /// a stored one.
    fn pass(&mut self, listed: &Listed<M::Cursor, M::Label>, marks: Marks) -> bool {
        let Some(below) = self.stack.last() else { return false };
        let (run, visit) = (below.run + 1, below.visit);
        let mut stale_run = 1 + below.stale_run;
        self.passes = self.passes.saturating_add(1);
        let many = self.passing.passes_max < self.passes;
        if self.passing.run_max < run || (many && !self.passing.same_for_all) {
            return false;
        }
        let mut key = below.key;
        if many {
            key = self.access.key(&mut self.position, Class::Transient, false);
            if !self.met.insert((visit, key, marks, run)) {
                self.position.reject();
                return true;
            }
            self.position.memo_is_right_until(self.position.log_len());
            stale_run = 0;
        }
        let changes = self.position.accept() as u32;
        let cursor = self.model.begin(self.position.state());
        let frame = self.frame(cursor, listed.label, key, self.note());
        let (ordinal, depth) = (self.ordinal(), u64::from(listed.label.is_some()));
        self.stack.push(Frame { changes, stale_run, run, ordinal, marks, stored: false, visit, ..frame });
        self.deepen(depth);
        true
    }

    /// Goes to the state arrived at.
    #[inline]
    pub(super) fn enter(&mut self, key: Key, note: u8) {
        let Some(listed) = self.current.take() else { return };
        self.forget_ahead(key);
        self.last_was_old = false;
        self.position.memo_is_right_until(self.position.log_len());
        let changes = self.position.accept() as u32;
        let cursor = self.model.begin(self.position.state());
        self.visits += 1;
        let ordinal = self.ordinal();
        let frame = self.frame(cursor, listed.label, key, note);
        self.stack.push(Frame { changes, ordinal, ..frame });
        self.passes = 0;
        self.deepen(u64::from(listed.label.is_some()));
    }

    #[inline]
    fn deepen(&mut self, labels: u64) {
        self.depth += labels;
        self.share.statistics.depth = self.share.statistics.depth.max(self.depth);
    }

    /// Which successor of the state on top of the stack was listed last.
    #[inline]
    fn ordinal(&self) -> u32 {
        self.stack.last().map_or(0, |frame| frame.listed)
    }

    /// Stays here: there is nothing to do where it arrived.
    #[inline]
    pub(super) fn turn_away(&mut self) {
        self.current = None;
        self.last_was_old = true;
        if self.ahead.is_none() {
            self.position.reject();
        }
    }

    /// Stays here, and comes back to the state arrived at when the other successors were visited.
    pub(super) fn put_off(&mut self) {
        if self.ahead.is_none() {
            self.position.reject();
        }
        if let Some(listed) = self.current.take() {
            self.remember(listed.cursor);
        }
    }

    /// Comes back later to the successor listed last.
    fn remember(&mut self, cursor: M::Cursor) {
        if let Some(frame) = self.stack.last_mut() {
            frame.put_off += 1;
            self.put_off.push(PutOff { cursor, listed: frame.listed - 1 });
        }
    }

    /// Returns to the frame below.
    #[inline]
    pub(super) fn leave(&mut self) {
        let Some(frame) = self.stack.pop() else { return };
        self.depth -= u64::from(frame.label.is_some());
        self.position.retreat(frame.changes as usize);
        if frame.stored {
            self.passes = 0;
            if !self.met.is_empty() {
                self.met.retain(|met| met.0 != frame.visit);
            }
        }
        if frame.stale_run == 0 {
            let stale = self.stale_changes();
            self.position.memo_is_right_until(self.position.log_len() - stale);
        }
    }

    /// Entries of the log that the memo of the state on top of the stack does not reflect.
    #[inline]
    fn stale_changes(&self) -> usize {
        let stale_run = self.stack.last().map_or(0, |frame| frame.stale_run as usize);
        self.stack[self.stack.len() - stale_run..].iter().map(|frame| frame.changes as usize).sum()
    }

    /// Visits the successors of the state on top of the stack once more, with another note.
    pub(super) fn list_again(&mut self, note: u8) {
        self.visits += 1;
        if let Some(frame) = self.stack.last_mut() {
            frame.cursor = self.model.begin(self.position.state());
            (frame.listed, frame.exhausted, frame.note, frame.visit) = (0, false, note, self.visits);
        }
    }

    /// The stored state on top of the stack, after [`Step::Done`].
    #[inline]
    pub(super) fn top(&self) -> Option<Key> {
        self.stack.last().map(|frame| frame.key)
    }

    /// The note of the stored state nearest to the top of the stack.
    #[inline]
    pub(super) fn note(&self) -> u8 {
        self.stack.last().map_or(0, |frame| frame.note)
    }

    /// Whether transitions from here are counted.
    #[inline]
    fn is_counted(&self) -> bool {
        self.note() & UNCOUNTED == 0
    }

    /// Counts an arrival at a state that was stored before.
    #[inline]
    pub(super) fn count_match(&mut self) {
        self.share.statistics.matched += u64::from(self.is_counted());
    }

    /// The stored states on the stack, from the bottom.
    pub(super) fn stored(&self) -> impl DoubleEndedIterator<Item = Key> {
        self.stack.iter().filter(|frame| frame.stored).map(|frame| frame.key)
    }

    /// Visits of stored states up to now.
    pub(super) fn visits(&self) -> u64 {
        self.visits
    }

    /// All words of the state on top of the stack.
    pub(super) fn state(&self) -> &[u32] {
        self.position.state()
    }

    /// How the state on top of the stack was reached.
    pub(super) fn trace(&mut self) -> Trace {
        let known = self.stack.iter().rposition(|frame| frame.trace.is_some());
        let mut trace = known.and_then(|i| self.stack[i].trace).unwrap_or(Trace::START);
        for frame in &mut self.stack[known.map_or(0, |i| i + 1)..] {
            trace = self.team.traces.extend(trace, frame.ordinal, &mut self.portion);
            frame.trace = Some(trace);
        }
        trace
    }

    /// The state arrived at, to be gone on from later or by another thread.
    pub(super) fn start(&mut self, key: Key) -> Start {
        self.forget_ahead(key);
        let trace = self.trace();
        let trace = self.team.traces.extend(trace, self.ordinal(), &mut self.portion);
        let label = self.current.as_ref().is_some_and(|listed| listed.label.is_some());
        let depth = self.depth + u64::from(label);
        Start { key, hidden: self.position.hidden().to_vec(), trace, depth }
    }

    /// The label of the successor told of last.
    pub(super) fn label(&self) -> Option<M::Label> {
        self.current.as_ref().and_then(|listed| listed.label)
    }

    /// The labels from the initial state to the stored state `key` on the stack, the lowest such, and on to the top.
    /// If it is not there, which cannot be, all of them come before: what was found is not lost, and whoever confirms it
    /// sees that it is no cycle.
    pub(super) fn labels_around(&mut self, key: Key) -> Lasso<M> {
        let place = self.stack.iter().position(|frame| frame.stored && frame.key == key);
        debug_assert!(place.is_some(), "a cycle is closed by a state that is not on the stack");
        let place = place.unwrap_or(self.stack.len() - 1);
        let labels = |frames: &[Frame<_, M::Label>]| frames.iter().filter_map(|frame| frame.label).collect::<Vec<_>>();
        let (below, above) = (labels(&self.stack[1..=place]), labels(&self.stack[place + 1..]));
        let start = self.stack[0].trace.unwrap_or(Trace::START);
        let mut stem = self.team.traces.execute(start, self.model);
        stem.extend(below);
        (stem, above)
    }

    /// The labels from the initial state to the top of the stack.
    pub(super) fn path(&mut self) -> Vec<M::Label> {
        let start = self.stack.first().and_then(|frame| frame.trace).unwrap_or(Trace::START);
        let mut path = self.team.traces.execute(start, self.model);
        path.extend(self.stack.iter().filter_map(|frame| frame.label));
        path
    }

    /// Lists the ordinary successors of the stored state on top of the stack.
    #[cfg(debug_assertions)]
    pub(super) fn each_successor(&mut self, mut visit: impl FnMut(&mut Access<'a>, Key, Marks)) {
        let mut cursor = self.model.begin(self.position.state());
        loop {
            let (state, successor) = self.position.state_and_successor();
            match self.model.next(state, &mut cursor, successor) {
                Next::Done(_) => return,
                Next::Successor { transient: false, marks, .. } => {
                    self.position.propose();
                    let apart = self.apart.is_some_and(|apart| marks.has(apart));
                    let key = self.access.key(&mut self.position, Class::Ordinary, apart);
                    self.position.reject();
                    visit(&mut self.access, key, marks);
                }
                _ => {}
            }
        }
    }

    /// Counts a new state.
    #[inline]
    pub(super) fn count(&mut self, transient: bool) -> Run<E> {
        if !transient {
            if !self.team.may_store() {
                return ControlFlow::Break(Some(StopReason::States.into()));
            }
            self.share.statistics.states += 1;
        }
        self.share.found_on_revisits += u64::from(!self.is_counted());
        ControlFlow::Continue(())
    }

    /// Tells the others what this thread did, and whether there is a reason to stop.
    #[cold]
    pub(super) fn look(&mut self) -> Run<E> {
        self.steps_left = STEPS_PER_LOOK;
        self.access.leave_if_asked();
        self.publish();
        let mut watch = self.watch.take();
        let run = look_around(self.team, &mut watch, &mut |wanted| self.shown(wanted));
        self.watch = watch;
        run
    }

    /// What this thread is at.
    fn shown(&mut self, wanted: Curiosity) -> Look<M::Label> {
        let start = self.stack.first().and_then(|frame| frame.trace).unwrap_or(Trace::START);
        let labels = self.stack.iter().filter_map(|frame| frame.label);
        let look = Look::at(Phase::Together);
        let look = if wanted.whole { look.along(wanted, labels) } else { look.along_many(wanted, self.depth, labels) };
        let look = Look { stack: self.stack.len() as u64, from_initial: start == Trace::START, ..look };
        if look.from_initial || !wanted.whole {
            return look;
        }
        look.led_by(self.team.traces.execute(start, self.model))
    }

    /// Waits for a turn of the pool, with so much work for the next level.
    pub(super) fn wait(&mut self, next_level: usize) -> super::pool::Turn<T> {
        self.access.leave();
        self.publish();
        let (team, watch) = (self.team, &mut self.watch);
        let mut stop = None;
        let is_watching = watch.is_some();
        let look_around = || match look_around(team, watch, &mut |_| Look::at(Phase::Together)) {
            ControlFlow::Continue(()) => ControlFlow::Continue(()),
            ControlFlow::Break(why) => {
                stop = why;
                ControlFlow::Break(())
            }
        };
        let turn = team.pool.take(next_level, is_watching.then_some(look_around));
        if let Some(why) = stop {
            team.end(why);
        }
        turn
    }

    /// Says what this thread did up to now.
    pub(super) fn publish(&mut self) {
        let now = self.memory_bytes();
        let statistics = &mut self.share.statistics;
        statistics.memory_bytes = statistics.memory_bytes.max(now);
        self.team.publish(self.thread, &self.share);
    }

    fn memory_bytes(&self) -> u64 {
        let stack = size_of_val::<[Frame<M::Cursor, M::Label>]>(&self.stack);
        let put_off = size_of_val::<[PutOff<M::Cursor>]>(&self.put_off);
        self.position.memory_bytes() + (stack + put_off) as u64 + self.access.memory_bytes() + self.beside_bytes
    }
}

/// Whether there is a reason to stop.
fn look_around<T, E: From<StopReason>, L>(
    team: &Team<'_, T, E>,
    watch: &mut Option<Watch<'_, '_, L>>,
    show: Show<'_, L>,
) -> Run<E> {
    let stop = |reason: StopReason| ControlFlow::Break(Some(reason.into()));
    if team.pool.is_stopped() {
        return ControlFlow::Break(None);
    }
    if let Some(reason) = team.settings.cancel.requested() {
        return stop(reason);
    }
    let mut limits = team.limits();
    let limit = limits.memory_bytes_max;
    if team.is_full() {
        return stop(StopReason::Memory);
    }
    if limit.is_none() && watch.is_none() {
        return ControlFlow::Continue(());
    }
    let statistics = team.statistics();
    if limit.is_some_and(|max| max < statistics.memory_bytes) {
        return stop(StopReason::Memory);
    }
    match watch {
        Some(watch) => {
            let run = watch(&statistics, &mut limits, show);
            team.set_limits(&limits);
            run.map_break(|reason| Some(reason.into()))
        }
        None => ControlFlow::Continue(()),
    }
}
