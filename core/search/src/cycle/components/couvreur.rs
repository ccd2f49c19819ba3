//! Strongly connected components on the fly.
//!
//! After Couvreur (*On-the-Fly Verification of Linear Temporal Logic*, FM 1999), which is Tarjan's algorithm with a
//! stack of the roots of the components known so far:
//!
//! ```text
//! visit(s):                                      merge(s → t):
//!   number s; active := active ∪ {s}               sum := that of s → t
//!   roots.push({s}, sum of the way to s)           while the root on top has a larger number than t:
//!   for each s → t:                                  sum := sum + that of the root + that of the way to it
//!     if t is new: visit(t)                          roots.pop()
//!     else if t ∈ active: merge(s → t)             add sum to the root on top
//!   if s is the root on top:                       report if a run through all of it counts
//!     roots.pop()
//!     active := active \ {s and all after it}
//! ```
//!
//! The sum says which runs a component has ([`super::super::acceptance_summary`]).
//!
//! A state from which a transition leads to an active one is fully expanded.

use super::pass::{FrameData, Pass, Root};
use super::{Components, Number};
use crate::cycle::acceptance_summary::AcceptanceSummary;
use crate::cycle::outcome::{Goal, Run};
use crate::cycle::proviso::Proviso;
use crate::model::{Marks, Next, Processes};
use crate::observer::Observer;
use crate::outcome::Halt;
use crate::snapshot::Rejection;
use crate::store::{Class, Payloads};
use fabius_base::StopReason;
use std::ops::ControlFlow;

/// Why a pass came to a halt.
pub(super) enum Halted {
    /// A run through all of the component on top counts.
    Found,
    /// The component of which the state on top is the root was split. Its parts are searched while the stack still has the path
    /// to it; then the state is to be removed.
    Split,
    Exhausted,
}

impl<M, S, O, P, C> Components<'_, M, S, O, P, C>
where
    M: Processes,
    S: Payloads<Number>,
    O: Observer<M::Label, M::Fault>,
    P: Proviso<M>,
    C: AcceptanceSummary,
{
    /// Starts a pass from a state, unless it was there before. Whether it starts.
    pub(super) fn start(
        &mut self,
        pass: &mut Pass<M, C, S::Probe>,
        state: &[u32],
        class: Class,
    ) -> Run<M::Label, M::Fault, bool> {
        pass.stack.reset(state);
        let probe = self.store.prepare(&mut pass.stack.position, class);
        let starts = pass.admits(*self.store.payload(probe).1);
        if starts {
            let number = self.activate(pass, probe, C::default(), class)?;
            let data = FrameData { number, marks: Marks::NONE, closes: false };
            pass.stack.start(self.model, class == Class::Transient, data);
            self.sum_up_top(pass);
        } else {
            pass.stack.position.forget();
        }
        ControlFlow::Continue(starts)
    }

    /// Goes on with a pass; `other` is a pass that waits meanwhile.
    pub(super) fn explore(
        &mut self,
        pass: &mut Pass<M, C, S::Probe>,
        other: Option<&Pass<M, C, S::Probe>>,
    ) -> Run<M::Label, M::Fault, Halted> {
        while let Some(found) = pass.stack.next(self.model) {
            if self.watch.step_is_due() {
                self.look(pass, other)?;
            }
            match found {
                Next::Successor { label, fault: Some(fault), .. } => return self.fault(pass, label, fault),
                Next::Broken { label, fault } => return self.fault(pass, Some(label), fault),
                Next::Successor { label, transient, marks, fault: None } => {
                    if self.arrive(pass, label, transient, marks)? {
                        return ControlFlow::Continue(Halted::Found);
                    }
                }
                Next::Done(_) if self.fully_expand(pass) => {}
                Next::Done(_) => {
                    if self.leave(pass)? {
                        return ControlFlow::Continue(Halted::Split);
                    }
                    pass.stack.pop();
                }
            }
        }
        ControlFlow::Continue(Halted::Exhausted)
    }

    /// Looks at the successor. Whether it closes a cycle that counts.
    #[inline]
    pub(super) fn arrive(
        &mut self,
        pass: &mut Pass<M, C, S::Probe>,
        label: Option<M::Label>,
        transient: bool,
        marks: Marks,
    ) -> Run<M::Label, M::Fault, bool> {
        let depth = pass.stack.depth() + u64::from(label.is_some());
        if self.watch.arrives_too_deep(depth, transient) {
            pass.stack.cut();
            return ControlFlow::Continue(false);
        }
        let progress = self.goal == Goal::Livelock && pass.stack.marks_with(marks).has(Marks::PROGRESS);
        let mut data = FrameData { number: 0, marks, closes: false };
        let Some((class, probe)) = pass.stack.look_up(self.model, self.store, transient, marks) else {
            pass.stack.descend(self.model, label, marks, data);
            return ControlFlow::Continue(false);
        };
        let number = self.store.payload(probe).1;
        let was = *number;
        if progress {
            if was == Number::NEW && pass.subproblem.is_none() {
                *number = Number::QUEUED;
                self.count(was, class)?;
                pass.stack.recover(self.store);
                self.append(pass, class)?;
            }
        } else if pass.admits(was) {
            self.count(was, class)?;
            let way = pass.way_to_successor(self.model, label, marks);
            pass.stack.recover(self.store);
            data.number = self.activate(pass, probe, way, class)?;
            pass.stack.enter(self.model, self.store, label, transient, data);
            self.sum_up_top(pass);
            let statistics = &mut self.watch.statistics;
            statistics.depth = statistics.depth.max(depth);
            return ControlFlow::Continue(false);
        }
        self.watch.statistics.matched += u64::from(was != Number::NEW);
        pass.stack.reject();
        if !progress && pass.is_active(was) {
            let way = pass.way_to_successor(self.model, label, marks);
            pass.merge(was.0, way);
            return ControlFlow::Continue(self.counts(&pass.top_root().sum));
        }
        ControlFlow::Continue(false)
    }

    /// Counts an arrival at a state that is queued or entered.
    pub(super) fn count(&mut self, was: Number, class: Class) -> Run<M::Label, M::Fault> {
        if was == Number::NEW && class == Class::Ordinary {
            self.watch.counts_state()?;
        } else if was == Number::QUEUED {
            self.watch.statistics.matched += 1;
        }
        ControlFlow::Continue(())
    }

    /// Makes the state looked at active, and the root of a component; returns its number.
    pub(super) fn activate(
        &mut self,
        pass: &mut Pass<M, C, S::Probe>,
        probe: S::Probe,
        way: C,
        class: Class,
    ) -> Run<M::Label, M::Fault, u32> {
        let number = pass.first + pass.active.len() as u32 + 1;
        if Number::FIRST_SUBPROBLEM.0 <= number {
            return ControlFlow::Break(Halt::Stopped(StopReason::Full));
        }
        *self.store.payload(probe).1 = Number(number);
        pass.active.push(probe);
        pass.roots.push(Root { number, sum: C::default(), way, cyclic: false });
        if C::SPLITS {
            pass.states.push(self.store, &pass.stack.position, class);
        }
        ControlFlow::Continue(number)
    }

    /// Adds the state on top to its component.
    pub(super) fn sum_up_top(&mut self, pass: &mut Pass<M, C, S::Probe>) {
        let transient = pass.stack.top_frame().transient;
        let root = pass.roots.last_mut().expect("an active state has a root");
        root.sum.add_state(self.model, pass.stack.position.state(), transient);
    }

    /// Whether a run through all of this again and again is what is looked for.
    pub(super) fn counts(&self, sum: &C) -> bool {
        (self.goal == Goal::Livelock || sum.marks().has(Marks::ACCEPTING)) && sum.neglected().is_empty()
    }

    /// Expands the state on top in full, if it closes a cycle and was expanded in part.
    pub(super) fn fully_expand(&mut self, pass: &mut Pass<M, C, S::Probe>) -> bool {
        let closes = std::mem::take(&mut pass.stack.top_frame().data.closes);
        if !closes || self.goal == Goal::Livelock {
            return false;
        }
        let (state, cursor) = pass.stack.state_and_cursor();
        self.proviso.fully_expand(self.model, state, cursor)
    }

    /// Ends the component of which the state on top is the root, if it is one. Whether the component was split.
    pub(super) fn leave(&mut self, pass: &mut Pass<M, C, S::Probe>) -> Run<M::Label, M::Fault, bool> {
        let top = pass.stack.top_frame();
        let (is_stored, number, label) = (top.is_stored(), top.data.number, top.label);
        if !is_stored {
            return ControlFlow::Continue(false);
        }
        let Some(root) = pass.roots.pop_if(|root| root.number == number) else { return ControlFlow::Continue(false) };
        let from = (number - pass.first) as usize - 1;
        let accepted = self.goal == Goal::Livelock || root.sum.marks().has(Marks::ACCEPTING);
        let split = C::SPLITS && root.cyclic && accepted;
        self.largest = self.largest.max((pass.active.len() - from) as u64);
        if root.cyclic && self.watch.rejects() {
            let why = if accepted { Rejection::Unfair } else { Rejection::NotAccepting };
            self.watch.show_rejected(why, label, pass.stack.position.state());
        }
        if split {
            self.split(pass, from, &root.sum)?;
        } else {
            for &probe in &pass.active[from..] {
                *self.store.payload(probe).1 = Number::DONE;
            }
        }
        pass.active.truncate(from);
        pass.states.truncate(from);
        ControlFlow::Continue(split)
    }
}
