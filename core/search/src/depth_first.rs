//! Depth-first search for violations of safety: faulty transitions and invalid end states.
//!
//! ```text
//! visit(s):                                    for each step s → t of next(s), in order:
//!   stored := stored ∪ {s}                       report the step if it is faulty
//!   for each step s → t: …                       if t is transient: visit t, not storing it
//!   report s if it is an invalid end             else if t ∉ stored: visit t
//! ```
//!
//! The order is exactly that of [`Model::next`], and successors are asked for one at a time, as pan
//! does: numbers of states, matched states and depth are comparable to Spin's.
//!
//! A frame of the stack holds no state. It holds how far its successors are listed, the label that
//! led to it, and how many entries of the [`Position`]'s log lead back to the frame below.
//!
//! Most of the time goes into waiting for the memory of the visited set. While it is on its way, the next
//! successor is listed already, if the last one was known: then this one is likely to be known, too. If
//! it is not, what was listed ahead is forgotten, and listed again later. This changes no order.
//!
//! Transient states are not stored, so a search could go round among them for ever, or along very many
//! ways from one to another. Where they come in long runs or in great number, they are therefore put
//! into a set of their own, uncounted: see [`TRANSIENT_RUN_MAX`] and [`TRANSIENT_PASSES_MAX`].

use crate::look::{Look, Phase};
use crate::model::{Ending, Model, Next};
use crate::observer::{Budget, Observer, Settings};
use crate::outcome::{Halt, Outcome, Statistics, ViolationKind, Violations};
use crate::position::Position;
use crate::store::{Class, Inserted, Store};
use fabius_base::StopReason;
use std::ops::ControlFlow;

/// So many transient states in a row are passed through on trust; the next one is remembered.
pub const TRANSIENT_RUN_MAX: u32 = 256;
/// So many transient states between one stored state and the next, in whatever order they are visited,
/// are passed through on trust; further ones are remembered.
pub const TRANSIENT_PASSES_MAX: u32 = 4096;

/// Searches all states that `model` can reach, in the order in which it lists them.
pub fn depth_first<M: Model, S: Store, O: Observer<M::Label, M::Fault>>(
    model: &mut M,
    store: &mut S,
    observer: &mut O,
    settings: &Settings,
) -> Outcome<M::Label, M::Fault> {
    let mut search = DepthFirst {
        position: Position::new(S::MEMO_PER_WORD, model.hidden_words()),
        model,
        store,
        observer,
        budget: Budget::new(settings),
        stack: Vec::new(),
        ahead: None,
        last_was_old: false,
        depth: 0,
        passes: 0,
        statistics: Statistics::default(),
        violations: Violations::new(settings.stop_at),
    };
    let run = search.run();
    search.statistics.memory_bytes = search.statistics.memory_bytes.max(search.memory_bytes());
    search.violations.conclude(run, search.store.exactness(), search.statistics)
}

struct DepthFirst<'a, M: Model, S: Store, O> {
    model: &'a mut M,
    store: &'a mut S,
    observer: &'a mut O,
    budget: Budget<'a>,
    /// The state on top of the stack.
    position: Position,
    stack: Vec<Frame<M::Cursor, M::Label>>,
    /// What comes next at the top of the stack, if it was listed already.
    ahead: Option<Ahead<M, S::Probe>>,
    last_was_old: bool,
    /// Labels on the stack.
    depth: u64,
    /// Transient states visited since an ordinary one was entered or left.
    passes: u32,
    statistics: Statistics,
    violations: Violations<M::Label, M::Fault>,
}

/// A state on the stack.
struct Frame<C, L> {
    cursor: C,
    label: Option<L>,
    /// Entries of the log that lead back to the frame below.
    changes: u32,
    /// Frames from this one downwards that the memo of the position does not reflect: the transient
    /// ones since the last state that was put into the store.
    stale_run: u32,
    transient: bool,
}

/// Something listed before its turn.
struct Ahead<M: Model, P> {
    found: Next<M::Label, M::Fault>,
    /// Of a successor to be stored; then it is proposed to the position.
    probe: Option<P>,
    /// How far successors were listed before.
    cursor: M::Cursor,
}

impl<M: Model, S: Store, O: Observer<M::Label, M::Fault>> DepthFirst<'_, M, S, O> {
    fn run(&mut self) -> ControlFlow<Halt> {
        if let Err(fault) = self.model.initial(self.position.state_and_successor().1) {
            return self.report(ViolationKind::Fault(fault), None);
        }
        self.arrive(None, false, None)?;
        while let Some(frame) = self.stack.last_mut() {
            if self.budget.step_is_due() {
                self.look()?;
                continue;
            }
            let (state, successor) = self.position.state_and_successor();
            let (found, probe) = match self.ahead.take() {
                Some(ahead) => (ahead.found, ahead.probe),
                None => (self.model.next(state, &mut frame.cursor, successor), None),
            };
            match found {
                Next::Successor { label, transient, fault, .. } => {
                    if let Some(fault) = fault {
                        self.report(ViolationKind::Fault(fault), label)?;
                    }
                    self.arrive(label, transient, probe)?;
                }
                Next::Broken { label, fault } => self.report(ViolationKind::Fault(fault), Some(label))?,
                Next::Done(ending) => {
                    if ending == Ending::InvalidEnd {
                        self.report(ViolationKind::InvalidEnd, None)?;
                    }
                    self.backtrack();
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// Goes to the successor, unless it was visited before or lies too deep. With a probe, it is proposed
    /// to the position already.
    #[inline]
    fn arrive(&mut self, label: Option<M::Label>, transient: bool, probe: Option<S::Probe>) -> ControlFlow<Halt> {
        let depth = self.depth + u64::from(label.is_some());
        self.statistics.transient += u64::from(transient);
        if self.budget.too_deep(depth) {
            self.statistics.cut += 1;
            self.statistics.matched += 1;
            return ControlFlow::Continue(());
        }
        if probe.is_none() {
            self.position.propose();
        }
        let stale_run = if transient { self.pass() } else { self.store(probe)? };
        let Some(stale_run) = stale_run else { return ControlFlow::Continue(()) };
        let changes = self.position.accept() as u32;
        let cursor = self.model.begin(self.position.state());
        self.stack.push(Frame { cursor, label, changes, stale_run, transient });
        self.depth = depth;
        self.statistics.depth = self.statistics.depth.max(depth);
        ControlFlow::Continue(())
    }

    /// Stores the state proposed. `None` if it was there already, else its [`Frame::stale_run`].
    #[inline]
    fn store(&mut self, probe: Option<S::Probe>) -> ControlFlow<Halt, Option<u32>> {
        let probe = probe.unwrap_or_else(|| self.store.prepare(&mut self.position, Class::Ordinary));
        if self.last_was_old {
            self.look_ahead();
        }
        self.last_was_old = self.store.commit(probe) == Inserted::Old;
        if self.last_was_old {
            self.statistics.matched += 1;
            if self.ahead.is_none() {
                self.position.reject();
            }
            return ControlFlow::Continue(None);
        }
        if self.budget.states_exhausted(self.statistics.states) {
            return ControlFlow::Break(Halt::Reason(StopReason::States));
        }
        self.forget_ahead();
        self.statistics.states += 1;
        self.passes = 0;
        self.position.memo_is_right_until(self.position.log_len());
        ControlFlow::Continue(Some(0))
    }

    /// Lists what comes next while the store's memory for the state proposed is on its way.
    #[inline]
    fn look_ahead(&mut self) {
        let Some(frame) = self.stack.last_mut() else { return };
        let cursor = frame.cursor;
        self.position.put_aside();
        let (state, successor) = self.position.state_and_successor();
        let found = self.model.next(state, &mut frame.cursor, successor);
        let probe = match found {
            Next::Successor { label, transient: false, .. }
                if !self.budget.too_deep(self.depth + u64::from(label.is_some())) =>
            {
                self.position.propose();
                Some(self.store.prepare(&mut self.position, Class::Ordinary))
            }
            _ => None,
        };
        self.ahead = Some(Ahead { found, probe, cursor });
    }

    /// Forgets what was listed ahead, and proposes again the state before it.
    fn forget_ahead(&mut self) {
        let Some(ahead) = self.ahead.take() else { return };
        if let Some(frame) = self.stack.last_mut() {
            frame.cursor = ahead.cursor;
        }
        self.position.take_from_aside();
        self.store.prepare(&mut self.position, Class::Ordinary);
    }

    /// Passes through the transient state arrived at. `None` if it is remembered from before, else its
    /// [`Frame::stale_run`].
    fn pass(&mut self) -> Option<u32> {
        let run = 1 + self.stack.last().map_or(0, |below| below.stale_run);
        self.passes = self.passes.saturating_add(1);
        if run <= TRANSIENT_RUN_MAX && self.passes <= TRANSIENT_PASSES_MAX {
            return Some(run);
        }
        if self.store.insert(&mut self.position, Class::Transient) == Inserted::Old {
            self.position.reject();
            return None;
        }
        self.position.memo_is_right_until(self.position.log_len());
        Some(0)
    }

    /// Returns to the frame below.
    #[inline]
    fn backtrack(&mut self) {
        let Some(frame) = self.stack.pop() else { return };
        self.depth -= u64::from(frame.label.is_some());
        self.position.retreat(frame.changes as usize);
        if !frame.transient {
            self.passes = 0;
        }
        if frame.stale_run == 0 {
            self.position.memo_is_right_until(self.position.log_len() - self.stale_changes());
        }
    }

    /// Entries of the log that the memo of the state on top of the stack does not reflect.
    #[inline]
    fn stale_changes(&self) -> usize {
        let stale_run = self.stack.last().map_or(0, |frame| frame.stale_run as usize);
        self.stack[self.stack.len() - stale_run..].iter().map(|frame| frame.changes as usize).sum()
    }

    /// Reports a violation: of the transition `label` from here, or of this state.
    #[cold]
    fn report(&mut self, kind: ViolationKind<M::Fault>, label: Option<M::Label>) -> ControlFlow<Halt> {
        self.statistics.violations += 1;
        let key = self.observer.key(&kind, label.as_ref(), self.position.state());
        let stack = &self.stack;
        self.violations.record(key, kind, || stack.iter().filter_map(|frame| frame.label).chain(label).collect())
    }

    #[cold]
    fn look(&mut self) -> ControlFlow<Halt> {
        let now = self.memory_bytes();
        self.statistics.memory_bytes = self.statistics.memory_bytes.max(now);
        self.budget.look(&self.statistics, self.store.is_full(), self.observer)?;
        if let Some(wanted) = self.observer.curiosity() {
            let labels = self.stack.iter().filter_map(|frame| frame.label);
            let look = Look::at(Phase::DepthFirst).along_many(wanted, self.depth, labels);
            let look = Look { stack: self.stack.len() as u64, ..look };
            self.observer.shown(look);
        }
        ControlFlow::Continue(())
    }

    fn memory_bytes(&self) -> u64 {
        let stack = size_of_val::<[Frame<M::Cursor, M::Label>]>(&self.stack) as u64;
        self.store.memory_bytes() + self.position.memory_bytes() + stack
    }
}
