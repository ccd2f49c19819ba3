//! Several depth-first traversals that one thread has act in turn.
//!
//! Most of the time of a lookup is waiting for the memory of the visited set V. A traversal that has asked for it lets the next one
//! act meanwhile:
//!
//! ```text
//! turn of a traversal:  t := the successor that it looked up in its last turn, if any
//!                       if t ∉ V:  V := V ∪ {t};  give t to who has nothing to do, if there is anybody, else visit(t)
//!                       go on listing until a successor is to be looked up; ask for its memory
//! ```
//!
//! Each has a stack of its own, and only new states and parts of stacks are given away, so each state is expanded once. A new state that is for later
//! ([`Model::is_for_later`]) is set aside until no traversal has work.

use super::arena::Portion;
use super::trace::{KnownTrace, Trace, Traced, Traces, step_above};
use crate::dfs_stack::{DfsStack, Lookup, TransientPolicy};
use crate::model::{Details, Ending, Listed, Marks, Model};
use crate::outcome::{Statistics, ViolationKind};
use crate::position::Position;
use crate::sleep::Asleep;
use crate::store::Class;
use std::ops::ControlFlow;

/// A stack is divided if its lower half has at least this many states: then there is likely more to do than handing it over costs. Tests,
/// which have assertions, divide wherever that is possible.
const HALF_MIN: usize = if cfg!(debug_assertions) { 1 } else { 4 };

/// With four, one thread takes 0.80 to 0.85 of the time that it takes with one, and each of two 0.87 to 0.95, on models of the corpus
/// with more than 10⁶ states. With eight, it is no faster.
const COUNT: usize = 4;

/// What the traversals of a thread have in common: the visited set, and whom they tell.
pub(super) trait Thread<M: Model>: Lookup {
    /// Why a thread ends before all is done.
    type Halt;

    /// Whether processes may sleep.
    fn can_sleep(&self) -> bool;

    /// Puts a state that was looked up into the visited set; whether it was not there before.
    fn insert(&mut self, probe: Self::Probe) -> bool;

    /// What the thread did up to now.
    fn statistics(&mut self) -> &mut Statistics;

    /// Whether a state at this depth is not to be looked at.
    fn is_too_deep(&self, depth: u64) -> bool;

    /// Counts a new state.
    fn count_state(&mut self) -> ControlFlow<Self::Halt>;

    /// Takes a step; whether it is time to [`Self::look`].
    fn step_is_due(&mut self) -> bool;

    /// Looks at limits and at whoever watches, from this traversal; `stacks_bytes` is the memory of all stacks.
    fn look(
        &mut self,
        model: &mut M,
        traversal: &Traversal<M, Self::Probe>,
        stacks_bytes: u64,
    ) -> ControlFlow<Self::Halt>;

    /// Reports a violation: of the transition `label` from the state on top, or of that state.
    fn report(
        &mut self,
        model: &mut M,
        traversal: &mut Traversal<M, Self::Probe>,
        kind: ViolationKind<M::Fault>,
        label: Option<M::Label>,
    ) -> ControlFlow<Self::Halt>;

    /// Whether another thread may soon want work.
    fn others_want_work(&self) -> bool {
        false
    }

    /// Gives a part of a stack to another thread.
    fn give_part(&mut self, part: Part<M, Self::Probe>) {
        let _ = part;
    }

    /// Gives the successor to another thread: its probe, its hidden words, and how it was reached.
    fn give_away(&mut self, probe: Self::Probe, hidden: &[u32], reached: HowReached) {
        let _ = (probe, hidden, reached);
    }

    /// Keeps the successor of a position, a new state, for later: with its probe, and how it was reached.
    fn set_aside(&mut self, successor: (Self::Probe, &Position), reached: HowReached);

    /// Writes a state that was set aside, the last one first, and says how it was reached.
    fn take_aside(&mut self, state: &mut Vec<u32>) -> Option<HowReached>;

    /// How states were reached.
    fn traces(&mut self) -> (&Traces, &mut Portion);

    /// Counts the beginning of a traversal.
    fn count_piece(&mut self) {}
}

/// How a state was reached at which a traversal begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct HowReached {
    pub(super) trace: Trace,
    /// Labels on the path to it.
    pub(super) depth: u64,
    /// Who sleeps there.
    pub(super) asleep: Asleep,
}

impl HowReached {
    /// The initial state.
    pub(super) const START: Self = Self { trace: Trace::START, depth: 0, asleep: Asleep::NOBODY };
}

/// The traversals of a thread.
pub(super) struct Traversals<M: Model, P> {
    all: [Traversal<M, P>; COUNT],
    /// How many have no work.
    idle: usize,
}

/// States that are not expanded completely.
pub(super) struct Part<M: Model, P> {
    pub(super) stack: DfsStack<M, Way, P>,
    /// How the bottom of the stack was reached, …
    pub(super) bottom: Trace,
    /// … with how many labels.
    pub(super) depth_below: u64,
}

/// A depth-first traversal: it has work if there is a state on its stack.
pub(super) struct Traversal<M: Model, P> {
    pub(super) stack: DfsStack<M, Way, P>,
    /// As in [`Part`].
    pub(super) bottom: Trace,
    depth_below: u64,
    /// The present successor, if it was looked up.
    awaited: Option<Awaited<P>>,
}

/// A successor whose memory is on its way.
struct Awaited<P> {
    class: Class,
    probe: P,
    /// Labels on the path to it.
    depth: u64,
}

/// What is kept with a state on a stack.
#[derive(Clone, Copy)]
pub(super) struct Way {
    /// How it was reached, if somebody had to know.
    trace: KnownTrace,
    /// Who sleeps; in a transient state, who will after it.
    asleep: Asleep,
    /// Who sleeps, or had a step that was listed.
    have_steps: Asleep,
}

impl Way {
    /// Nothing is known yet, and nobody sleeps.
    pub(super) const NEW: Self = Self::with(Asleep::NOBODY);

    /// These sleep, and no more is known yet.
    const fn with(asleep: Asleep) -> Self {
        Self { trace: KnownTrace::NONE, asleep, have_steps: asleep }
    }
}

impl Traced for Way {
    fn trace(&mut self) -> &mut KnownTrace {
        &mut self.trace
    }

    fn asleep(&self) -> Asleep {
        self.asleep
    }
}

impl<M: Model, P: Copy> Traversals<M, P> {
    /// None has work.
    pub(super) fn new(model: &M, memo_per_word: usize, policy: TransientPolicy) -> Self {
        let traversal = |_| {
            let mut stack = DfsStack::new(model, memo_per_word);
            stack.policy = policy;
            Traversal { stack, bottom: Trace::START, depth_below: 0, awaited: None }
        };
        Self { all: std::array::from_fn(traversal), idle: COUNT }
    }

    /// Goes on with a stack that was begun; nobody has work.
    pub(super) fn take_over(&mut self, part: Part<M, P>) {
        debug_assert_eq!(self.idle, COUNT, "nobody has work");
        self.idle -= usize::from(part.stack.len() != 0);
        let traversal = &mut self.all[0];
        (traversal.stack, traversal.bottom, traversal.depth_below) = (part.stack, part.bottom, part.depth_below);
    }

    /// Moves a traversal to a state, to begin there; nobody has work.
    pub(super) fn reset(&mut self, state: &[u32], set: &mut impl Lookup<Probe = P>) -> P {
        self.all[0].reset(state, set)
    }

    /// Begins at the state moved to, which is in the visited set.
    pub(super) fn begin<T: Thread<M, Probe = P>>(&mut self, model: &mut M, thread: &mut T, reached: HowReached) {
        self.begin_with(0, model, thread, reached);
    }

    fn begin_with<T: Thread<M, Probe = P>>(
        &mut self,
        at: usize,
        model: &mut M,
        thread: &mut T,
        HowReached { trace, depth, asleep }: HowReached,
    ) {
        thread.count_piece();
        self.idle -= 1;
        let traversal = &mut self.all[at];
        (traversal.bottom, traversal.depth_below) = (trace, depth);
        traversal.stack.start(model, false, Way { trace: trace.into(), ..Way::with(asleep) });
        traversal.stack.pass_over(model, asleep);
    }

    /// Visits the states on the stacks and all that can be reached from them, as far as nobody else does.
    pub(super) fn visit<T: Thread<M, Probe = P>>(&mut self, model: &mut M, thread: &mut T) -> ControlFlow<T::Halt> {
        let mut state = Vec::new();
        loop {
            while self.idle < COUNT {
                for at in 0..COUNT {
                    if self.all[at].has_work() {
                        self.turn(at, model, thread)?;
                    }
                }
            }
            for at in 0..COUNT {
                let Some(reached) = thread.take_aside(&mut state) else { break };
                self.all[at].reset(&state, thread);
                self.begin_with(at, model, thread, reached);
            }
            if self.idle == COUNT {
                return ControlFlow::Continue(());
            }
        }
    }

    /// Goes to the successor that was looked up, and on until another one is.
    #[inline]
    fn turn<T: Thread<M, Probe = P>>(&mut self, at: usize, model: &mut M, thread: &mut T) -> ControlFlow<T::Halt> {
        if let Some(awaited) = self.all[at].awaited.take() {
            self.arrive(at, &awaited, model, thread)?;
        }
        while let Some(listed) = self.all[at].stack.list(model) {
            if thread.step_is_due() {
                let stacks_bytes = self.memory_bytes();
                thread.look(model, &self.all[at], stacks_bytes)?;
            }
            let traversal = &mut self.all[at];
            match listed {
                Listed::Successor { labelled, transient, faulty, .. } => {
                    if faulty {
                        traversal.report_fault(model, thread)?;
                    }
                    if traversal.look_up(model, thread, labelled, transient) {
                        return ControlFlow::Continue(());
                    }
                }
                Listed::Broken => traversal.report_fault(model, thread)?,
                Listed::Done(ending) => {
                    if ending == Ending::InvalidEnd {
                        thread.report(model, traversal, ViolationKind::InvalidEnd, None)?;
                    }
                    traversal.stack.pop();
                }
            }
        }
        self.idle += 1;
        ControlFlow::Continue(())
    }

    /// Goes to the successor that was looked up, unless it was visited before or is given to somebody else.
    #[inline]
    fn arrive<T: Thread<M, Probe = P>>(
        &mut self,
        at: usize,
        awaited: &Awaited<P>,
        model: &mut M,
        thread: &mut T,
    ) -> ControlFlow<T::Halt> {
        let &Awaited { class, probe, depth } = awaited;
        let stack = &mut self.all[at].stack;
        if !thread.insert(probe) {
            thread.statistics().matched += u64::from(class == Class::Ordinary);
            stack.reject();
            return ControlFlow::Continue(());
        }
        let statistics = thread.statistics();
        statistics.depth = statistics.depth.max(depth);
        let transient = class == Class::Transient;
        let asleep = self.all[at].asleep_in_successor(model, thread, transient);
        if !transient {
            thread.count_state()?;
            if thread.others_want_work() && !self.give_part(thread) {
                let traversal = &mut self.all[at];
                let reached = HowReached { trace: traversal.trace_of_successor(thread), depth, asleep };
                thread.give_away(probe, traversal.stack.position.hidden(), reached);
                traversal.stack.reject();
                return ControlFlow::Continue(());
            }
            if model.is_for_later(self.all[at].stack.position.proposed()) {
                let traversal = &mut self.all[at];
                let reached = HowReached { trace: traversal.trace_of_successor(thread), depth, asleep };
                thread.set_aside((probe, &traversal.stack.position), reached);
                traversal.stack.reject();
                return ControlFlow::Continue(());
            }
            if self.idle != 0 {
                self.hand_over(at, (depth, asleep), model, thread);
                return ControlFlow::Continue(());
            }
        }
        let stack = &mut self.all[at].stack;
        stack.enter(model, thread, stack.details.label, transient, Way::with(asleep));
        if !transient {
            stack.pass_over(model, asleep);
        }
        ControlFlow::Continue(())
    }

    /// Gives half of the longest stack to another thread; whether it is long enough.
    #[cold]
    fn give_part<T: Thread<M, Probe = P>>(&mut self, thread: &mut T) -> bool {
        let longest = self.all.iter_mut().max_by_key(|traversal| traversal.stack.len());
        let part = longest.and_then(|longest| longest.split(thread));
        part.map(|part| thread.give_part(part)).is_some()
    }

    /// Leaves the successor, a new state, to a traversal without work.
    #[cold]
    fn hand_over<T: Thread<M, Probe = P>>(
        &mut self,
        at: usize,
        (depth, asleep): (u64, Asleep),
        model: &mut M,
        thread: &mut T,
    ) {
        let idle = self.all.iter().position(|traversal| !traversal.has_work()).expect("a traversal has no work");
        let traversal = &mut self.all[at];
        let reached = HowReached { trace: traversal.trace_of_successor(thread), depth, asleep };
        let state = traversal.stack.position.proposed().to_vec();
        traversal.stack.reject();
        self.all[idle].reset(&state, thread);
        self.begin_with(idle, model, thread, reached);
    }

    /// Memory of the stacks, in bytes.
    pub(super) fn memory_bytes(&self) -> u64 {
        self.all.iter().map(|traversal| traversal.stack.memory_bytes()).sum()
    }
}

impl<M: Model, P: Copy> Traversal<M, P> {
    fn has_work(&self) -> bool {
        self.stack.len() != 0
    }

    /// Labels on the path to the state on top.
    pub(super) fn depth(&self) -> u64 {
        self.depth_below + self.stack.depth()
    }

    /// Moves to a state, with nothing below.
    fn reset(&mut self, state: &[u32], set: &mut impl Lookup<Probe = P>) -> P {
        self.stack.reset(state);
        set.probe(&mut self.stack.position, Class::Ordinary, Marks::NONE)
    }

    /// Reports what the transition violates that was listed last.
    #[cold]
    fn report_fault<T: Thread<M, Probe = P>>(&mut self, model: &mut M, thread: &mut T) -> ControlFlow<T::Halt> {
        let Details { label, fault, .. } = self.stack.details;
        let fault = fault.expect("a transition is faulty by a fault");
        thread.report(model, self, ViolationKind::Fault(fault), label)
    }

    /// Whether the successor was looked up; if not, the traversal went there, or it lies too deep.
    #[inline]
    fn look_up<T: Thread<M, Probe = P>>(
        &mut self,
        model: &mut M,
        thread: &mut T,
        labelled: bool,
        transient: bool,
    ) -> bool {
        let depth = self.depth() + u64::from(labelled);
        thread.statistics().transient += u64::from(transient);
        if thread.is_too_deep(depth) {
            self.stack.cut();
            let statistics = thread.statistics();
            statistics.cut += 1;
            statistics.matched += 1;
            return false;
        }
        if thread.can_sleep() {
            self.fall_asleep(model);
        }
        if let Some((class, probe)) = self.stack.look_up_only(thread, transient, Marks::NONE) {
            self.awaited = Some(Awaited { class, probe, depth });
            return true;
        }
        let asleep = self.asleep_in_successor(model, thread, transient);
        self.stack.descend(model, self.stack.details.label, Marks::NONE, Way::with(asleep));
        let statistics = thread.statistics();
        statistics.depth = statistics.depth.max(depth);
        false
    }

    /// Notes that the process has a step whose step was listed last.
    #[inline]
    fn fall_asleep(&mut self, model: &M) {
        let label = self.stack.details.label;
        if let (Some(top), Some(label)) = (self.stack.top(), label) {
            top.data.have_steps = top.data.have_steps.with(model.fall_asleep(&top.cursor, &label));
        }
    }

    /// Who sleeps in the successor, which is new.
    #[inline]
    fn asleep_in_successor(&self, model: &mut M, thread: &impl Thread<M, Probe = P>, transient: bool) -> Asleep {
        if !thread.can_sleep() {
            return Asleep::NOBODY;
        }
        match (self.stack.frames().last(), self.stack.details.label, self.stack.state_and_successor()) {
            // What is done in a transient state belongs to the step before.
            (Some(top), ..) if top.transient => top.data.asleep,
            (Some(top), Some(label), Some(states)) => {
                model.stay_asleep(states, &top.cursor, (&label, transient), top.data.have_steps)
            }
            // Where processes are created or end, everybody wakes.
            _ => Asleep::NOBODY,
        }
    }

    /// Takes the lower half of the stack away, if that is enough.
    fn split(&mut self, thread: &mut impl Thread<M, Probe = P>) -> Option<Part<M, P>> {
        let frames = self.stack.frames_mut();
        let lowest = (HALF_MIN..=frames.len() / 2).rfind(|&frame| frames[frame].is_stored())?;
        let (traces, portion) = thread.traces();
        let reached = traces.of_top(&mut frames[..=lowest], portion);
        let before = self.depth();
        let stack = self.stack.split(lowest);
        let part = Part { stack, bottom: self.bottom, depth_below: self.depth_below };
        self.bottom = reached;
        self.depth_below = before - self.stack.depth();
        Some(part)
    }

    /// How the state on top of the stack was reached.
    pub(super) fn trace(&mut self, traces: &Traces, portion: &mut Portion) -> Trace {
        traces.of_top(self.stack.frames_mut(), portion)
    }

    /// How the present successor was reached.
    #[cold]
    fn trace_of_successor(&mut self, thread: &mut impl Thread<M, Probe = P>) -> Trace {
        let (traces, portion) = thread.traces();
        let above = self.trace(traces, portion);
        let step = self.stack.frames().last().map_or((0, Asleep::NOBODY), step_above);
        traces.extend(above, step, portion)
    }
}
