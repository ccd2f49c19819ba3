//! Iterative delay-bounded search, remembering states of the system only.
//!
//! Figure 1 of Desai, Qadeer, Rajamani (MSR-TR-2015-28), corrected:
//!
//! ```text
//! H := {s₀};  F := {s₀ ↦ (d₀, 0, 0)};  bound := first
//! while F ≠ ∅:
//!   F′ := F;  F := ∅
//!   for each (s ↦ (d, n, i)) in F′: explore(s, d, n, i)
//!   bound := bound + increment
//!
//! explore(s, d, n, i):
//!   while i < number of processes that can move in s:
//!     if n > bound: F[s] := (d, n, i);  return
//!     for each macro step s → t of process Next(d):
//!       report it if it is faulty
//!       if t ∉ H: H := H ∪ {t};  explore(t, Step(s, d, t), n, 0)
//!     d := Delay(d);  n := n + 1;  i := i + 1
//! ```
//!
//! What differs: the figure *continues* when t is known, which leaves out the last line and never ends; here the
//! search falls through. A process may have several macro steps. The first bound may be 0.
//!
//! Where choices are bounded ([`is_choice`](super::is_choice)), a state goes on with those that were spent when it was first met, and
//! alternatives that cost more than is left are never taken. An empty frontier then proves nothing.
//!
//! n counts the delays on the whole way, and what was spent in s is spent for what follows. A frontier state keeps
//! where its own loop stood, so no macro step is tried twice, whatever the bound.
//!
//! The set H knows nothing of the scheduler. A state that is first met late, with many delays spent, is not looked at
//! again when it is met earlier; so a round does *not* see all that its bound could reach (about 2 % of the states are
//! missing on small random systems, and come in a later round). Once the frontier is empty, all are there. Nothing but
//! a violation or an empty frontier is therefore proof of anything; for a bound, see [`super::exact`].

mod evidence;
mod postponed;
mod resume;
mod state;

use super::checkpoint::FastSnapshot;
use super::{DelayObserver, IterativeDelayBounding, Origin, Round, is_choice, scheduled};
use crate::checkpoint::{ByRounds, CheckpointPolicy, Unusable};
use crate::model::{Ending, Processes};
use crate::observer::Settings;
use crate::outcome::{Halt, Outcome, ViolationKind};
use crate::schedule::Scheduler;
use crate::schedule::macro_steps::MacroStepEnd;
use crate::store::{Class, Inserted, Store};
use fabius_base::StopReason;
use postponed::Postponed;
use state::{Explore, Fast};
use std::ops::ControlFlow;

/// The memory in use is measured once for this many states.
const LOOK_EVERY: u32 = 256;

/// Searches with ever more delays.
///
/// A search of which checkpoints are kept, or that goes on from one, ends at the first violation.
///
/// # Errors
/// If it is to go on from a snapshot that cannot be one of this search.
pub fn fast<M, S, D, O>(
    model: &mut M,
    scheduler: &D,
    store: &mut S,
    observer: &mut O,
    settings: &Settings,
    bounding: &IterativeDelayBounding,
    checkpoint: CheckpointPolicy<'_, FastSnapshot>,
) -> Result<Outcome<M::Label, M::Fault>, Unusable>
where
    M: Processes,
    S: Store,
    D: Scheduler<M::Label>,
    O: DelayObserver<M::Label, M::Fault>,
{
    let settings = checkpoint.settings(settings);
    let mut search = Fast::new(model, scheduler, store, observer, &settings, bounding);
    let run = search.run(checkpoint)?;
    Ok(search.conclude(run))
}

/// What comes next in a frame.
enum Next {
    Take(usize),
    Postpone,
    Return,
}

impl<M, S, D, O> ByRounds for Fast<'_, M, S, D, O>
where
    M: Processes,
    S: Store,
    D: Scheduler<M::Label>,
    O: DelayObserver<M::Label, M::Fault>,
{
    type Snapshot = FastSnapshot;

    /// Arrives at the initial state.
    fn begin(&mut self) -> ControlFlow<Halt> {
        let mut initial = Vec::new();
        if let Err(fault) = self.listing.model.initial(&mut initial) {
            return self.report(ViolationKind::Fault(fault), None);
        }
        let position = &mut self.stack.position;
        position.state_and_successor().1.clone_from(&initial);
        position.propose();
        self.arrive(None)
    }

    /// Continues with what is on the stack, then round by round.
    fn rounds(&mut self, mut keep: Option<&mut dyn FnMut(FastSnapshot)>) -> ControlFlow<Halt> {
        loop {
            let is_finished = self.finished.last().is_some_and(|round| self.bound <= round.bound);
            let answer = if is_finished { ControlFlow::Continue(()) } else { self.finish_round()? };
            let next = self.bounding.as_wanted(self.observer).after(self.bound);
            let Some(bound) = next.filter(|_| !self.frontier.is_empty()) else { return answer };
            self.bound = bound;
            let later = Postponed::new(self.listing.model.hidden_words());
            (self.present, self.taken_up) = (std::mem::replace(&mut self.frontier, later), 0);
            answer?;
            if let Some(keep) = &mut keep {
                keep(self.snapshot());
            }
        }
    }

    fn snapshot(&self) -> FastSnapshot {
        self.take_snapshot()
    }

    fn restore(&mut self, snapshot: &FastSnapshot) -> Result<ControlFlow<StopReason>, Unusable> {
        self.resume_from(snapshot)
    }

    fn has_unkept_frontier(&self) -> bool {
        !self.frontier.is_empty()
    }
}

impl<M, S, D, O> Fast<'_, M, S, D, O>
where
    M: Processes,
    S: Store,
    D: Scheduler<M::Label>,
    O: DelayObserver<M::Label, M::Fault>,
{
    /// Does what is left of a round; what the observer says to it.
    fn finish_round(&mut self) -> ControlFlow<Halt, ControlFlow<Halt>> {
        self.explore()?;
        self.explore_present()?;
        let frontier = self.frontier.calls.len() as u64;
        let round = Round { bound: self.bound, states: self.statistics.states, frontier, ..Round::default() };
        self.finished.push(round);
        ControlFlow::Continue(self.observer.round(&round).map_break(Halt::Stopped))
    }

    /// Explores what waited for this round.
    fn explore_present(&mut self) -> ControlFlow<Halt> {
        while let Some((call, macro_step)) = self.present.calls.get(self.taken_up) {
            let position = &mut self.stack.position;
            let (_, probe) = self.present.states.return_to(self.store, self.taken_up, position);
            self.store.commit(probe);
            self.stack.start_at(call.tag(), *macro_step, call.clone());
            self.taken_up += 1;
            self.explore()?;
        }
        ControlFlow::Continue(())
    }

    /// Works until the stack is empty.
    fn explore(&mut self) -> ControlFlow<Halt> {
        loop {
            let full = self.store.is_full();
            let listed = self.stack.list_top(&mut self.listing, &mut self.statistics, full, self.observer);
            if !listed.map_break(Halt::Stopped)? {
                return ControlFlow::Continue(());
            }
            match self.proceed() {
                Next::Take(macro_step) => self.take(macro_step)?,
                Next::Postpone => self.postpone(),
                Next::Return => drop(self.stack.pop()),
            }
        }
    }

    /// The loop of `explore`, up to the next macro step.
    fn proceed(&mut self) -> Next {
        let (frame, macro_steps) = self.stack.top_frame();
        let call = &mut frame.data;
        loop {
            let process = if call.environment { None } else { self.scheduler.next(&call.schedule) };
            if !call.environment && (process.is_none() || macro_steps.enabled().len() <= call.index as usize) {
                return Next::Return;
            }
            if self.bound < call.delays {
                return Next::Postpone;
            }
            if let Some(macro_step) = macro_steps.next_of(process, frame.macro_step as usize) {
                frame.macro_step = macro_step as u32 + 1;
                if self.bounding.choices.is_some_and(|most| most <= call.choices) && is_choice(macro_steps, macro_step)
                {
                    self.cut_off = true;
                    continue;
                }
                return Next::Take(macro_step);
            }
            frame.macro_step = 0;
            if call.environment {
                call.environment = false;
            } else if self.scheduler.is_sealed(&call.schedule) {
                return Next::Return;
            } else {
                self.scheduler.delay(&mut call.schedule);
                call.delays += 1;
                call.index += 1;
            }
        }
    }

    /// Takes a macro step of the state on top of the stack. If that is interrupted, the macro step is still to be taken.
    fn take(&mut self, macro_step: usize) -> ControlFlow<Halt> {
        let kind = match &self.stack.macro_steps().get(macro_step).end {
            MacroStepEnd::State(_) => {
                self.stack.propose(macro_step);
                let known = (self.origins.len(), self.stack.len());
                return match self.arrive(Some(macro_step)) {
                    ControlFlow::Break(Halt::Stopped(reason)) if self.stack.len() == known.1 => {
                        self.origins.truncate(known.0);
                        self.stack.top_frame().0.macro_step -= 1;
                        ControlFlow::Break(Halt::Stopped(reason))
                    }
                    arrived => arrived,
                };
            }
            MacroStepEnd::Fault(fault) => ViolationKind::Fault(*fault),
            MacroStepEnd::Stuck(_) => ViolationKind::InvalidEnd,
        };
        self.report(kind, Some(macro_step))
    }

    /// Goes to the state proposed, unless it is known or lies too deep.
    fn arrive(&mut self, by: Option<usize>) -> ControlFlow<Halt> {
        let labels = by.map_or(0, |macro_step| self.stack.macro_steps().labels(macro_step).len());
        let depth = self.stack.top().map_or(0, |frame| frame.data.depth) + labels as u64;
        if self.listing.budget.too_deep(depth) {
            self.statistics.cut += 1;
            self.statistics.matched += 1;
            self.stack.position.reject();
            return ControlFlow::Continue(());
        }
        if self.store.insert(&mut self.stack.position, Class::Ordinary) == Inserted::Old {
            self.statistics.matched += 1;
            self.stack.position.reject();
            return ControlFlow::Continue(());
        }
        if self.listing.budget.states_exhausted(self.statistics.states) {
            return ControlFlow::Break(Halt::Stopped(StopReason::States));
        }
        if self.origins.len() == u32::MAX as usize {
            return ControlFlow::Break(Halt::Stopped(StopReason::Full));
        }
        let number = self.origins.len() as u32;
        let parent = self.stack.top().map(|frame| frame.data.number);
        let origin = by.zip(parent).map(|(macro_step, parent)| Origin { parent, macro_step: macro_step as u32 });
        self.origins.push(origin.unwrap_or(Origin::NONE));
        self.statistics.states += 1;
        self.statistics.depth = self.statistics.depth.max(depth);
        self.enter(number, depth, by)
    }

    /// Makes the state proposed the top of the stack.
    fn enter(&mut self, number: u32, depth: u64, by: Option<usize>) -> ControlFlow<Halt> {
        if number.is_multiple_of(LOOK_EVERY) {
            self.look_at_memory();
            self.show();
        }
        let mut macro_steps = self.stack.spare_macro_steps();
        let full = self.store.is_full();
        let state = self.stack.position.proposed();
        self.listing
            .list(state, &mut macro_steps, &mut self.statistics, full, self.observer)
            .map_break(Halt::Stopped)?;
        let (schedule, delays, choices) = match (self.stack.top(), by) {
            (Some(frame), Some(macro_step)) => {
                let (call, from) = (&frame.data, self.stack.macro_steps());
                let schedule = scheduled(self.scheduler, &call.schedule, from, macro_step, macro_steps.situation());
                let choice = self.bounding.choices.is_some() && is_choice(from, macro_step);
                (schedule, call.delays, call.choices + u32::from(choice))
            }
            _ => (self.scheduler.start(macro_steps.situation()), 0, 0),
        };
        let (environment, ending) = (macro_steps.has_environment_moves(), macro_steps.ending());
        let call = Explore { number, schedule, delays, index: 0, environment, depth, choices };
        self.stack.push(call.tag(), macro_steps, call);
        if ending == Ending::InvalidEnd {
            self.report(ViolationKind::InvalidEnd, None)
        } else {
            ControlFlow::Continue(())
        }
    }

    /// Leaves the state on top of the stack for a later round.
    fn postpone(&mut self) {
        let (state, successor) = self.stack.position.state_and_successor();
        successor.clear();
        successor.extend_from_slice(state);
        let frame = self.stack.top_frame().0;
        let (call, macro_step) = (frame.data.clone(), frame.macro_step);
        self.frontier.push(self.store, &self.stack.position, call, macro_step);
        self.stack.pop();
    }
}
