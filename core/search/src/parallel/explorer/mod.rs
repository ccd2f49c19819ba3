//! A thread's depth-first exploration: what it meets, one event after the other, and what becomes of successors.
//!
//! An [`Explorer`] lists successors, passes through transient states and tells its algorithm of each stored state
//! it arrives at; the algorithm says whether to [`Explorer::enter`] it, to [`Explorer::prune`] it, or to
//! [`Explorer::defer`] the decision until the other successors were visited. Below it is the same
//! [`DfsStack`] as in the sequential searches.
//!
//! Threads should not all do the same, so each but the first defers the first successor of about every other
//! state: the successors come in an order that depends on the seed and the thread.

mod paths;
mod watch;

use super::arena::Portion;
use super::store::{Access, Key, SharedKeys, StateSet};
use super::trace::{KnownTrace, Trace, Traced};
use super::watch::is_to_stop;
use super::worker_pool::{Run, Watch, WorkerPool, WorkerStatistics};
use crate::dfs_stack::{DfsStack, Lookup, TransientPolicy, class_of};
use crate::model::{Ending, Marks, Model, Next};
use crate::observer::Countdown;
use crate::position::Position;
use crate::store::{Class, Store, TreeStore};
use crate::toy::Random;
use fabius_base::StopReason;
use std::ops::ControlFlow;

/// Cells of memo with each word, as the sequential store has them.
const MEMO_PER_WORD: usize = <TreeStore as Store>::MEMO_PER_WORD;

/// In a note: other threads count the transitions of this state.
pub(super) const UNCOUNTED: u8 = 1 << 7;

/// What states a thread tells apart, and which transient ones it treats as stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Exploration {
    pub(super) transient: TransientPolicy,
    /// Whether it depends on the way from the last stored state only which transient states are looked up: then
    /// what is reached from a stored state is the same each time, and for every thread. Beyond
    /// [`TransientPolicy::visits_max`], those met before on the way from the same stored state are pruned.
    pub(super) same_for_all: bool,
    /// States reached with these marks are told apart from the same states reached without.
    pub(super) apart: Option<Marks>,
}

impl Exploration {
    /// For algorithms to which it does not matter on which visits transient states are looked up.
    pub(super) const FREE: Self = Self { transient: TransientPolicy::SKIP_LOOKUP, same_for_all: false, apart: None };
    /// For algorithms that compare what different visits of a state lead to.
    pub(super) const SAME_FOR_ALL: Self = Self { same_for_all: true, ..Self::FREE };
}

/// A thread's access to the visited set, with the marks that tell states apart.
struct SharedSet<'s, 'a, K>(&'s mut Access<'a, K>, Option<Marks>);

impl<K: SharedKeys> Lookup for SharedSet<'_, '_, K> {
    type Probe = Key;

    #[inline]
    fn probe(&mut self, position: &mut Position, class: Class, marks: Marks) -> Key {
        self.0.key(position, class, self.1.is_some_and(|apart| marks.has(apart)))
    }
}

/// What listing led to.
enum Listing<M: Model> {
    /// A successor, which is the current one.
    Successor,
    /// Nothing that the algorithm must know of.
    Nothing,
    /// Something that it must know of first.
    Event(Event<M::Label, M::Fault>),
}

/// The labels on the way to a state, and those of the way back to it.
type Lasso<M> = (Vec<<M as Model>::Label>, Vec<<M as Model>::Label>);

/// The exploration of one thread.
pub(super) struct Explorer<'a, M: Model, T, E, K> {
    pub(super) thread: usize,
    pub(super) workers: &'a WorkerPool<'a, T, E, K>,
    pub(super) model: &'a mut M,
    pub(super) access: Access<'a, K>,
    pub(super) share: WorkerStatistics,
    /// Memory of what the algorithm keeps beside the stack.
    pub(super) beside_bytes: u64,
    stack: DfsStack<M, FrameData, Key>,
    deferred: Vec<Deferred>,
    /// The successor listed last.
    current: Option<Listed<M::Label>>,
    /// It has a fault, which was told, and was not looked up yet.
    told_fault: bool,
    how: Exploration,
    /// How the bottom of the stack was reached, …
    bottom: Trace,
    /// … with how many labels.
    depth_below: u64,
    /// Numbers the visits of stored states.
    visits: u64,
    /// Transient states met on the way from a stored one, with the visit, marks and length of the run.
    met: StateSet<(u64, Marks, u32)>,
    portion: Portion,
    random: Random,
    countdown: Countdown,
    watch: Option<Watch<'a, 'a, M::Label>>,
}

/// What a thread keeps with a state on the stack.
#[derive(Clone, Copy)]
struct FrameData {
    key: Key,
    /// Transient states passed since the last stored one.
    run: u32,
    /// Successors to come back to.
    deferred: u32,
    trace: KnownTrace,
    exhausted: bool,
    /// It is in the visited set.
    stored: bool,
    /// A note of the algorithm.
    note: u8,
    visit: u64,
}

impl Traced for FrameData {
    fn trace(&mut self) -> &mut KnownTrace {
        &mut self.trace
    }
}

/// A successor to come back to: how many are listed before it.
struct Deferred(u32);

/// A successor that was listed.
struct Listed<L> {
    label: Option<L>,
    transient: bool,
    marks: Marks,
    /// It was deferred before.
    again: bool,
}

/// What a thread meets next.
pub(super) enum Event<L, F> {
    /// A transition from here is faulty. If it has a successor, that comes next.
    Faulty { label: Option<L>, fault: F },
    /// This state may not stop here, but must.
    InvalidEnd,
    /// A stored state can be reached. One of [`Explorer::enter`], [`Explorer::prune`] and [`Explorer::defer`] has
    /// to follow.
    Arrival(Arrival),
    /// All successors of the stored state on top of the stack were visited. [`Explorer::leave`] or
    /// [`Explorer::list_again`] has to follow.
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
    /// It was deferred before.
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

impl<'a, M: Model, T, E: From<StopReason>, K: SharedKeys> Explorer<'a, M, T, E, K> {
    pub(super) fn new(
        thread: usize,
        workers: &'a WorkerPool<'a, T, E, K>,
        model: &'a mut M,
        how: Exploration,
        watch: Option<Watch<'a, '_, M::Label>>,
    ) -> Self {
        let mut stack = DfsStack::new(model, MEMO_PER_WORD);
        stack.policy = how.transient;
        Self {
            thread,
            workers,
            access: workers.store.access(),
            share: WorkerStatistics::default(),
            beside_bytes: 0,
            stack,
            model,
            deferred: Vec::new(),
            current: None,
            told_fault: false,
            how,
            bottom: Trace::START,
            depth_below: 0,
            visits: 0,
            met: StateSet::default(),
            portion: Portion::default(),
            random: Random::new(workers.seed ^ (thread as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)),
            countdown: Countdown::default(),
            watch: watch.map(|watch| watch as Watch<'_, '_, M::Label>),
        }
    }

    /// Moves to the initial state, with nothing below.
    pub(super) fn reset_to_initial(&mut self) -> Result<Start, M::Fault> {
        let mut initial = Vec::new();
        self.model.initial(&mut initial)?;
        let key = self.reset(&initial);
        Ok(Start { key, hidden: self.stack.position.hidden().to_vec(), trace: Trace::START, depth: 0 })
    }

    /// Moves to a state that is in the visited set, with nothing below.
    pub(super) fn reset_to(&mut self, start: &Start) {
        let mut state = Vec::new();
        self.access.unfold(start.key, &mut state);
        state.extend_from_slice(&start.hidden);
        self.reset(&state);
    }

    fn reset(&mut self, state: &[u32]) -> Key {
        self.stack.reset(state);
        self.access.key(&mut self.stack.position, Class::Ordinary, false)
    }

    /// Puts the state moved to at the bottom of the stack.
    pub(super) fn begin(&mut self, start: &Start, note: u8) {
        self.share.pieces += 1;
        (self.bottom, self.depth_below) = (start.trace, start.depth);
        self.visits += 1;
        let data = FrameData { trace: start.trace.into(), ..self.frame_data(start.key, note) };
        self.stack.start(self.model, false, data);
    }

    /// Lists in the state on top as much as another search of the same model has listed there.
    pub(super) fn list_as_before(&mut self, listed: u32) {
        for _ in 0..listed {
            self.current = match self.stack.next(self.model) {
                Some(Next::Successor { label, transient, marks, .. }) => {
                    Some(Listed { label, transient, marks, again: false })
                }
                _ => None,
            };
        }
    }

    /// Looks at the successor listed last, to which another search of the same model went; the state, if it is a stored one. Then
    /// [`Self::enter`] has to follow.
    pub(super) fn go_on_as_before(&mut self, is_stored: bool) -> Option<Key> {
        let &Listed { label, transient, marks, .. } = self.current.as_ref().expect("another search went on from here");
        self.stack.propose();
        if !is_stored {
            assert!(self.descend(label, marks), "what another search passed through is passed through");
            return None;
        }
        let set = &mut SharedSet(&mut self.access, self.how.apart);
        Some(self.stack.probe(set, class_of(transient), marks))
    }

    fn frame_data(&self, key: Key, note: u8) -> FrameData {
        FrameData {
            key,
            run: 0,
            deferred: 0,
            trace: KnownTrace::NONE,
            exhausted: false,
            stored: true,
            note,
            visit: self.visits,
        }
    }

    /// Goes on to whatever the algorithm has to know of next.
    #[inline]
    pub(super) fn next(&mut self) -> Run<E, Event<M::Label, M::Fault>> {
        loop {
            if self.countdown.steps_are_due(1, || is_to_stop(self.workers)) {
                self.look()?;
            }
            if !std::mem::take(&mut self.told_fault) {
                match self.list() {
                    Listing::Successor => {}
                    Listing::Nothing => continue,
                    Listing::Event(event) => return ControlFlow::Continue(event),
                }
            }
            if let Some(arrival) = self.arrive() {
                return ControlFlow::Continue(Event::Arrival(arrival));
            }
        }
    }

    /// Lists the next successor of the state on top of the stack, or finds what else the algorithm must know.
    #[inline]
    fn list(&mut self) -> Listing<M> {
        let Some(frame) = self.stack.top() else { return Listing::Event(Event::Over) };
        let again = frame.data.exhausted;
        if again {
            let Some(Deferred(before)) = (frame.data.deferred != 0).then(|| self.deferred.pop()).flatten() else {
                if frame.data.stored {
                    return Listing::Event(Event::Done);
                }
                self.leave();
                return Listing::Nothing;
            };
            frame.data.deferred -= 1;
            self.stack.rewind(self.model);
            for _ in 0..before {
                self.stack.next(self.model);
            }
        }
        let Some(found) = self.stack.next(self.model) else { return Listing::Event(Event::Over) };
        let Some(frame) = self.stack.top() else { return Listing::Event(Event::Over) };
        match found {
            Next::Successor { label, transient, fault, marks } => {
                let first = frame.listed == 1 && !again && self.thread != 0;
                if first && self.random.next_u64() & 1 != 0 {
                    self.remember();
                    return Listing::Nothing;
                }
                self.current = Some(Listed { label, transient, marks, again });
                match fault {
                    None => Listing::Successor,
                    Some(fault) => {
                        self.told_fault = true;
                        Listing::Event(Event::Faulty { label, fault })
                    }
                }
            }
            Next::Broken { label, fault } => Listing::Event(Event::Faulty { label: Some(label), fault }),
            Next::Done(ending) => {
                frame.data.exhausted = true;
                if ending == Ending::InvalidEnd { Listing::Event(Event::InvalidEnd) } else { Listing::Nothing }
            }
        }
    }

    /// Looks up the successor, or descends to it if it needs no lookup. `None` if there is nothing to tell.
    #[inline]
    fn arrive(&mut self) -> Option<Arrival> {
        let &Listed { label, transient, marks, again, .. } = self.current.as_ref()?;
        if transient {
            self.share.statistics.transient += u64::from(self.is_counted());
        }
        if self.is_cut(label) {
            self.share.statistics.cut += 1;
            self.count_match();
            self.stack.cut();
            return None;
        }
        self.stack.propose();
        if transient && self.descend(label, marks) {
            return None;
        }
        let set = &mut SharedSet(&mut self.access, self.how.apart);
        let key = self.stack.probe(set, class_of(transient), marks);
        if !transient && !again {
            self.stack.look_ahead(self.model, set);
        }
        Some(Arrival { key, marks: self.stack.marks_with(marks), transient, again })
    }

    /// Whether a successor reached with this label lies too deep.
    #[inline]
    fn is_cut(&self, label: Option<M::Label>) -> bool {
        let depth = self.depth() + u64::from(label.is_some());
        self.workers.too_deep(depth)
    }

    /// Descends to the transient successor, or prunes it; false if it is to be treated as a stored one.
    fn descend(&mut self, label: Option<M::Label>, marks: Marks) -> bool {
        let visits = self.stack.count_transient_visit();
        let Some(below) = self.stack.top().map(|frame| frame.data) else { return false };
        let (run, policy) = (below.run + 1, self.how.transient);
        let many = policy.visits_max < visits;
        if policy.run_max < run || (many && !self.how.same_for_all) {
            return false;
        }
        let data = FrameData { run, stored: false, visit: below.visit, ..self.frame_data(below.key, below.note) };
        if !many {
            self.stack.descend(self.model, label, marks, data);
        } else {
            let key = self.access.key(&mut self.stack.position, Class::Transient, false);
            let with = (below.visit, self.stack.marks_with(marks), run);
            if !self.met.insert(&mut self.access, key, with) {
                self.stack.position.reject();
                return true;
            }
            self.stack.descend_after_lookup(self.model, label, marks, FrameData { key, ..data });
        }
        self.deepen();
        true
    }

    /// Goes to the state arrived at.
    #[inline]
    pub(super) fn enter(&mut self, key: Key, note: u8) {
        let Some(label) = self.current.as_ref().map(|listed| listed.label) else { return };
        self.visits += 1;
        let data = self.frame_data(key, note);
        let set = &mut SharedSet(&mut self.access, self.how.apart);
        // Whatever was looked up counts as ordinary here: it is a node of the graph.
        self.stack.enter(self.model, set, label, false, data);
        self.deepen();
    }

    #[inline]
    fn deepen(&mut self) {
        self.share.statistics.depth = self.share.statistics.depth.max(self.depth());
    }

    /// Labels from the initial state to the top of the stack.
    #[inline]
    fn depth(&self) -> u64 {
        self.depth_below + self.stack.depth()
    }

    /// Stays here: there is nothing to do where it arrived.
    #[inline]
    pub(super) fn prune(&mut self) {
        self.stack.reject();
    }

    /// Stays here, and comes back to the state arrived at when the other successors were visited.
    pub(super) fn defer(&mut self) {
        self.stack.reject();
        self.remember();
    }

    /// Comes back later to the successor listed last.
    fn remember(&mut self) {
        if let Some(frame) = self.stack.top() {
            frame.data.deferred += 1;
            self.deferred.push(Deferred(frame.listed - 1));
        }
    }

    /// Returns to the frame below.
    #[inline]
    pub(super) fn leave(&mut self) {
        let Some(&mut FrameData { stored, visit, .. }) = self.stack.top().map(|frame| &mut frame.data) else { return };
        self.stack.pop();
        if stored && !self.met.is_empty() {
            self.met.retain(|met| met.0 != visit);
        }
    }

    /// Visits the successors of the state on top of the stack once more, with another note.
    pub(super) fn list_again(&mut self, note: u8) {
        self.visits += 1;
        self.stack.rewind(self.model);
        if let Some(FrameData { exhausted, note: old, visit, .. }) = self.stack.top().map(|top| &mut top.data) {
            (*exhausted, *old, *visit) = (false, note, self.visits);
        }
    }

    /// The stored state on top of the stack, after [`Event::Done`].
    #[inline]
    pub(super) fn top(&self) -> Option<Key> {
        self.stack.frames().last().map(|frame| frame.data.key)
    }

    /// The note of the stored state nearest to the top of the stack.
    #[inline]
    pub(super) fn note(&self) -> u8 {
        self.stack.frames().last().map_or(0, |frame| frame.data.note)
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
        self.stack.frames().iter().filter(|frame| frame.data.stored).map(|frame| frame.data.key)
    }

    /// Visits of stored states up to now.
    pub(super) fn visits(&self) -> u64 {
        self.visits
    }

    /// Lists the ordinary successors of the stored state on top of the stack.
    #[cfg(debug_assertions)]
    pub(super) fn each_successor(&mut self, mut visit: impl FnMut(&mut Access<'a, K>, Key, Marks)) {
        let mut cursor = self.model.begin(self.stack.position.state());
        loop {
            let (state, successor) = self.stack.position.state_and_successor();
            match self.model.next(state, &mut cursor, successor) {
                Next::Done(_) => return,
                Next::Successor { transient: false, marks, .. } => {
                    self.stack.position.propose();
                    let apart = self.how.apart.is_some_and(|apart| marks.has(apart));
                    let key = self.access.key(&mut self.stack.position, Class::Ordinary, apart);
                    self.stack.position.reject();
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
            if !self.workers.may_store() {
                return ControlFlow::Break(Some(StopReason::States.into()));
            }
            self.share.statistics.states += 1;
        }
        self.share.found_on_revisits += u64::from(!self.is_counted());
        ControlFlow::Continue(())
    }
}
