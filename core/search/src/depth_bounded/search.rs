//! The algorithm, with the calls of `expand` on an explicit stack; `visit` and `expand` return through [`DepthBounded::returned`].
//!
//! ```text
//! T := ∅;  frontier := {s₀};  bound := 0
//! while frontier ≠ ∅ and bound < cut-off:
//!   old := frontier;  frontier := ∅;  from := bound;  bound := min(bound + increment, cut-off)
//!   for each s in old: T[s] := from
//!   for each s in old: expand(s, from)
//!
//! visit(s, depth):                              expand(s, depth):
//!   if s ∈ T and depth ≥ T[s]: return T[s]        T[s] := depth;  frontier := frontier \ {s};  m := −1
//!   if depth = bound:                             for each s → t: m := max(m, visit(t, depth + 1) − 1)
//!     frontier := frontier ∪ {s};  return depth   T[s] := m;  return m
//!   return expand(s, depth)
//! ```

use super::frontier::NodeId;
use super::state::{DepthBounded, Expand, Known};
use super::{DepthSnapshot, Revisit};
use crate::checkpoint::{ByRounds, Unusable};
use crate::delay_bounded::{DelayObserver, Origin};
use crate::macro_stack::{MacroStepsOf, accept, propose};
use crate::model::{Ending, Processes};
use crate::outcome::{Halt, Round, ViolationKind, Work};
use crate::schedule::MacroSteps;
use crate::schedule::macro_steps::MacroStepEnd;
use crate::store::{Class, Inserted, Store};
use fabius_base::StopReason;
use std::ops::ControlFlow;

/// The most states.
const STATES_MAX: usize = u32::MAX as usize - 2;

impl<M, O> ByRounds for DepthBounded<'_, M, O>
where
    M: Processes,
    O: DelayObserver<M::Label, M::Fault>,
{
    type Snapshot = DepthSnapshot;

    /// Arrives at the initial state, which is the first frontier.
    fn begin(&mut self) -> ControlFlow<Halt> {
        let position = &mut self.stack.position;
        if let Err(fault) = self.listing.model.initial(position.state_and_successor().1) {
            return self.report(ViolationKind::Fault(fault), None);
        }
        position.propose();
        let (_, number) = self.store.entry(position, Class::Ordinary);
        *number = 1;
        let place = self.frontier.add(0, None, Vec::new());
        self.known.push(Known { threshold: 0, place: place + 1 });
        self.origins.iter_mut().for_each(|origins| origins.push(Origin::NONE));
        self.statistics.states = 1;
        self.stack.position.accept();
        self.stack.position.forget();
        ControlFlow::Continue(())
    }

    fn rounds(&mut self, mut keep: Option<&mut dyn FnMut(DepthSnapshot)>) -> ControlFlow<Halt> {
        loop {
            let finished = self.rounds.last().map_or(0, |round| round.bound);
            if finished < self.bound {
                self.explore_all()?;
                self.finish_round()?;
            }
            if self.depth.cut_off.is_some_and(|cut_off| cut_off <= self.bound) || self.frontier.is_empty() {
                return ControlFlow::Continue(());
            }
            self.begin_round();
            if let Some(keep) = &mut keep {
                keep(self.snapshot());
            }
        }
    }

    fn snapshot(&self) -> DepthSnapshot {
        self.take_snapshot()
    }

    fn restore(&mut self, snapshot: &DepthSnapshot) -> Result<ControlFlow<StopReason>, Unusable> {
        self.resume_from(snapshot)
    }

    fn has_unkept_frontier(&self) -> bool {
        !self.frontier.is_empty()
    }
}

impl<M, O> DepthBounded<'_, M, O>
where
    M: Processes,
    O: DelayObserver<M::Label, M::Fault>,
{
    /// Makes the frontier what this round starts with.
    fn begin_round(&mut self) {
        let next = self.bound.saturating_add(self.depth.increment.max(1));
        self.start = self.bound;
        self.bound = self.depth.cut_off.map_or(next, |cut_off| next.min(cut_off));
        self.waiting = self.frontier.take().into();
        for &node in &self.waiting {
            self.known[self.frontier.state(node) as usize] = Known { threshold: self.start + 2, place: 0 };
        }
    }

    fn finish_round(&mut self) -> ControlFlow<Halt> {
        let (bound, states, frontier) = (self.bound, self.statistics.states, self.frontier.len());
        let work = Work { revisits: self.revisits, replayed: self.frontier.replayed, ..Work::default() };
        let round = Round { bound, states, frontier, work };
        self.rounds.push(round);
        self.observer.round(&round).map_break(Halt::Stopped)
    }

    /// Expands every state that this round starts with, after what is on the stack.
    fn explore_all(&mut self) -> ControlFlow<Halt> {
        loop {
            self.explore()?;
            if let Some(node) = self.from.take() {
                self.frontier.release(node);
            }
            let Some(&node) = self.waiting.front() else { return ControlFlow::Continue(()) };
            self.go_to(node).map_break(Halt::Stopped)?;
            let macro_steps = self.stack.spare_macro_steps();
            let macro_steps = self.list(false, macro_steps).map_break(Halt::Stopped)?;
            self.waiting.pop_front();
            self.from = Some(node);
            self.expand(self.frontier.state(node), self.start, true, macro_steps)?;
        }
    }

    /// Makes a frontier state the position's state: goes back to where the way there branches off, and on from there.
    pub(super) fn go_to(&mut self, node: NodeId) -> ControlFlow<StopReason> {
        let back = self.frontier.leave_for(node);
        let position = &mut self.stack.position;
        position.retreat(position.log_len() - back);
        position.memo_is_right_until(position.log_len());
        let mut macro_steps = MacroSteps::default();
        while let Some((child, trace)) = self.frontier.next_on_the_way() {
            for macro_step in trace {
                macro_steps = self.list(false, macro_steps)?;
                let position = &mut self.stack.position;
                propose(position, &macro_steps, macro_step as usize);
                self.store.prepare(position, Class::Ordinary);
                accept(position);
            }
            self.frontier.arrived(child, self.stack.position.log_len());
        }
        ControlFlow::Continue(())
    }

    /// Lists the macro steps of the position's state, or of the state proposed, in the memory of others.
    pub(super) fn list(
        &mut self,
        proposed: bool,
        mut macro_steps: MacroStepsOf<M>,
    ) -> ControlFlow<StopReason, MacroStepsOf<M>> {
        let full = self.store.is_full();
        let position = &self.stack.position;
        let state = if proposed { position.proposed() } else { position.state() };
        self.listing.list(state, &mut macro_steps, &mut self.statistics, full, self.observer)?;
        ControlFlow::Continue(macro_steps)
    }

    /// Works until the stack is empty.
    fn explore(&mut self) -> ControlFlow<Halt> {
        loop {
            let full = self.store.is_full();
            let listed = self.stack.list_top(&mut self.listing, &mut self.statistics, full, self.observer);
            if !listed.map_break(Halt::Stopped)? {
                return ControlFlow::Continue(());
            }
            let (frame, macro_steps) = self.stack.top_frame();
            let (macro_step, Expand { depth, first, .. }) = (frame.macro_step as usize, frame.data);
            if macro_step == macro_steps.len() {
                self.leave();
                continue;
            }
            frame.macro_step += 1;
            match &macro_steps.get(macro_step).end {
                MacroStepEnd::State(_) => {
                    self.stack.propose(macro_step);
                    self.take(depth + 1)?;
                }
                MacroStepEnd::Fault(fault) if first => {
                    let kind = ViolationKind::Fault(*fault);
                    self.report(kind, Some(macro_step))?;
                }
                MacroStepEnd::Stuck(_) if first => self.report(ViolationKind::InvalidEnd, Some(macro_step))?,
                MacroStepEnd::Fault(_) | MacroStepEnd::Stuck(_) => {}
            }
        }
    }

    /// Takes the macro step that leads to the state proposed. If that is interrupted, the macro step is still to be taken.
    fn take(&mut self, depth: u32) -> ControlFlow<Halt> {
        match self.visit(depth) {
            ControlFlow::Continue(Some(returned)) => self.returned(returned),
            ControlFlow::Continue(None) => {}
            ControlFlow::Break(halt) => {
                if let Halt::Stopped(_) = halt {
                    self.stack.top_frame().0.macro_step -= 1;
                }
                return ControlFlow::Break(halt);
            }
        }
        ControlFlow::Continue(())
    }

    /// A call for a successor of the state on top returned this.
    fn returned(&mut self, threshold: i64) {
        let most = &mut self.stack.top_frame().0.data.most;
        *most = (*most).max(threshold - 1);
    }

    /// `visit` of the state proposed: what it returns, or nothing if the state is to be expanded first. If it is
    /// interrupted, it has changed nothing that a snapshot holds.
    fn visit(&mut self, depth: u32) -> ControlFlow<Halt, Option<i64>> {
        let (inserted, number) = self.store.entry(&mut self.stack.position, Class::Ordinary);
        let is_new = inserted == Inserted::New;
        if is_new {
            if self.listing.budget.states_exhausted(self.statistics.states) {
                return ControlFlow::Break(Halt::Stopped(StopReason::States));
            }
            if STATES_MAX <= self.known.len() {
                return ControlFlow::Break(Halt::Stopped(StopReason::Full));
            }
            *number = self.known.len() as u32 + 1;
        }
        let state = *number - 1;
        let before = if is_new { Known::default() } else { self.known[state as usize] };
        if let Some(threshold) = before.threshold().filter(|&threshold| threshold <= i64::from(depth)) {
            self.count(is_new, depth);
            self.stack.position.reject();
            return ControlFlow::Continue(Some(threshold));
        }
        if depth == self.bound {
            self.count(is_new, depth);
            if before.place == 0 {
                let trace = self.stack.frames().iter().map(|frame| frame.macro_step - 1).collect();
                self.known[state as usize].place = self.frontier.add(state, self.from, trace) + 1;
            }
            self.stack.position.reject();
            return ControlFlow::Continue(Some(i64::from(depth)));
        }
        let macro_steps = self.stack.spare_macro_steps();
        let macro_steps = self.list(true, macro_steps).map_break(Halt::Stopped)?;
        self.count(is_new, depth);
        if before.place != 0 {
            self.frontier.remove(before.place - 1);
        }
        self.known[state as usize] = Known { threshold: depth + 2, place: 0 };
        let first = before.threshold == 0;
        self.revisits += u64::from(!first);
        self.expand(state, depth, first, macro_steps)?;
        ControlFlow::Continue(None)
    }

    /// Counts an arrival; a state that is new is known from now on.
    fn count(&mut self, is_new: bool, depth: u32) {
        if is_new {
            self.statistics.states += 1;
            self.known.push(Known::default());
            if let (Some(origins), Some(top)) = (&mut self.origins, self.stack.top()) {
                origins.push(Origin { parent: top.data.state, macro_step: top.macro_step - 1 });
            }
        } else {
            self.statistics.matched += 1;
        }
        self.statistics.depth = self.statistics.depth.max(u64::from(depth));
    }

    /// Starts to expand a state, whose macro steps these are: the state proposed, or the position's if the stack is empty.
    fn expand(&mut self, state: u32, depth: u32, first: bool, macro_steps: MacroStepsOf<M>) -> ControlFlow<Halt> {
        self.tags += 1;
        let ending = macro_steps.ending();
        let call = Expand { state, depth, most: -1, first };
        if self.stack.len() == 0 {
            self.stack.start(self.tags, macro_steps, call);
        } else {
            self.stack.push(self.tags, macro_steps, call);
        }
        if self.tags.is_multiple_of(256) {
            self.look_at_memory();
            self.show(depth);
        }
        match ending {
            Ending::InvalidEnd if first => self.report(ViolationKind::InvalidEnd, None),
            _ => ControlFlow::Continue(()),
        }
    }

    /// The end of `expand`.
    fn leave(&mut self) {
        let Expand { state, most, .. } = self.stack.top_frame().0.data;
        self.stack.pop();
        let threshold = match self.depth.revisit {
            Revisit::Threshold => {
                self.known[state as usize].threshold = (most + 2) as u32;
                most
            }
            Revisit::Shallower => -1,
        };
        if 0 < self.stack.len() {
            self.returned(threshold);
        }
    }
}
