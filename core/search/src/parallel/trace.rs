//! How a state was reached, in eight bytes: a trace is the trace it continues and which of the successors
//! listed there comes next; where processes slept, one of eight bytes more tells who. A path is executed anew from its trace.
//!
//! Traces are made only when they are needed: for a state that another thread goes on from, for one
//! that is queued, for a violation. Then all states on the stack below get theirs, so that each state has at
//! most one for each time it is on a stack.

use super::arena::{Arena, Portion};
use crate::dfs_stack::Frame;
use crate::model::{Model, Next};
use crate::sleep::Asleep;

/// Traces are given out up to here, and then a search is told to stop. What is left is more than can
/// be used before it asks.
const TRACES_MAX: u64 = u32::MAX as u64 - (1 << 28);

/// Set in the number of a successor, it says that the others tell who sleeps where the next one is listed.
const SLEEPERS: u32 = 1 << Asleep::COUNT;

/// All traces.
#[derive(Debug)]
pub(super) struct Traces(Arena);

/// How a state was reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Trace(pub(super) u32);

impl Trace {
    /// Of the initial state.
    pub(super) const START: Self = Self(0);
}

/// How a state was reached, if that is known, in as many bytes as a trace.
#[derive(Clone, Copy, Debug)]
pub(super) struct KnownTrace(u32);

impl KnownTrace {
    /// It is not known.
    pub(super) const NONE: Self = Self(u32::MAX);

    #[inline]
    fn get(self) -> Option<Trace> {
        (self.0 != Self::NONE.0).then_some(Trace(self.0))
    }
}

impl From<Trace> for KnownTrace {
    fn from(trace: Trace) -> Self {
        Self(trace.0)
    }
}

/// What a thread keeps with a state on its stack, as far as it says how states were reached.
pub(super) trait Traced {
    /// How the state was reached, if that is known.
    fn trace(&mut self) -> &mut KnownTrace;

    /// Who sleeps in the state; in a transient one, who will after it.
    fn asleep(&self) -> Asleep {
        Asleep::NOBODY
    }
}

/// The number of the successor that was listed last on top of a state, and who slept there.
pub(super) fn step_above<C, L, D: Traced>(frame: &Frame<C, L, D>) -> (u32, Asleep) {
    (frame.listed, if frame.transient { Asleep::NOBODY } else { frame.data.asleep() })
}

impl Traces {
    /// None yet.
    pub(super) fn new() -> Self {
        Self(Arena::new())
    }

    /// The trace that goes on from `trace` with the successor listed as number `ordinal`, from 1, where these processes slept.
    pub(super) fn extend(&self, trace: Trace, (ordinal, asleep): (u32, Asleep), portion: &mut Portion) -> Trace {
        debug_assert!(ordinal & SLEEPERS == 0, "a state has few successors");
        let asleep = asleep.bits();
        let below = if asleep == 0 { trace } else { self.link(trace, asleep | SLEEPERS, portion) };
        self.link(below, ordinal, portion)
    }

    fn link(&self, trace: Trace, step: u32, portion: &mut Portion) -> Trace {
        let index = self.0.take(portion);
        self.0.set(index, u64::from(trace.0) | u64::from(step) << 32);
        Trace(index)
    }

    /// How the state on top of a stack was reached; afterwards that is known of all states below it, too.
    pub(super) fn of_top<C, L, D: Traced>(&self, frames: &mut [Frame<C, L, D>], portion: &mut Portion) -> Trace {
        let mut known = frames.len();
        let mut trace = loop {
            match known.checked_sub(1) {
                None => break Trace::START,
                Some(lower) => known = lower,
            }
            if let Some(trace) = frames[known].data.trace().get() {
                break trace;
            }
        };
        for above in known + 1..frames.len() {
            trace = self.extend(trace, step_above(&frames[above - 1]), portion);
            *frames[above].data.trace() = trace.into();
        }
        trace
    }

    /// Whether there are hardly any left. Then some may be wrong already.
    pub(super) fn is_full(&self) -> bool {
        TRACES_MAX < self.0.taken()
    }

    /// Memory in use, in bytes.
    pub(super) fn memory_bytes(&self) -> u64 {
        self.0.memory_bytes()
    }

    /// The labels of a trace.
    pub(super) fn execute<M: Model>(&self, trace: Trace, model: &mut M) -> Vec<M::Label> {
        let mut steps = Vec::new();
        let mut index = trace.0;
        while index != 0 && !self.is_full() {
            let number = self.0.get(index);
            steps.push((number >> 32) as u32);
            index = number as u32;
        }
        let mut labels = Vec::new();
        let (mut state, mut successor) = (Vec::new(), Vec::new());
        if model.initial(&mut state).is_err() {
            return labels;
        }
        model.retrace(true);
        let mut asleep = Asleep::NOBODY;
        while let Some(ordinal) = steps.pop() {
            if ordinal & SLEEPERS != 0 {
                asleep = Asleep::of_bits(ordinal & !SLEEPERS);
                continue;
            }
            let mut cursor = model.begin(&state);
            let passed_over = std::mem::take(&mut asleep);
            if !passed_over.is_nobody() {
                model.pass_over(&state, &mut cursor, passed_over);
            }
            for i in 1..=ordinal {
                if let Next::Successor { label, .. } = model.next(&state, &mut cursor, &mut successor)
                    && i == ordinal
                {
                    labels.extend(label);
                }
            }
            std::mem::swap(&mut state, &mut successor);
        }
        model.retrace(false);
        labels
    }
}
