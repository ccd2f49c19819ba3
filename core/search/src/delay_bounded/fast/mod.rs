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

use super::checkpoint::{FastSnapshot, Waiting};
use super::replay::replay;
use super::{DelayObserver, IterativeDelayBounding, Listing, Origin, Round, is_choice, scheduled};
use crate::checkpoint::{ByRounds, CheckpointPolicy, Retraced, Unusable, Visit, retrace};
use crate::macro_stack::{KEPT, MacroStack};
use crate::model::{Ending, Processes};
use crate::observer::{Budget, Settings};
use crate::outcome::{Halt, Outcome, Statistics, ViolationKind, Violations};
use crate::position::Position;
use crate::schedule::Scheduler;
use crate::schedule::macro_steps::{MacroStepEnd, MacroStepLister};
use crate::snapshot::{Phase, SearchSnapshot};
use crate::state_log::StateLog;
use crate::store::{Class, Inserted, Store};
use fabius_base::StopReason;
use std::collections::{HashMap, HashSet};
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
    let mut search = Fast::new((model, scheduler, store, observer), &settings, bounding);
    let run = search.run(checkpoint)?;
    Ok(search.conclude(run))
}

struct Fast<'a, M: Processes, S, D: Scheduler<M::Label>, O> {
    listing: Listing<'a, M>,
    scheduler: &'a D,
    store: &'a mut S,
    observer: &'a mut O,
    stack: MacroStack<M, Explore<D::State>>,
    /// Of each state, by its number.
    origins: Vec<Origin>,
    /// What waits for the next round.
    frontier: Postponed<D::State>,
    /// What waited for this one, and how much of it was taken up.
    present: Postponed<D::State>,
    taken_up: usize,
    bounding: &'a IterativeDelayBounding,
    bound: u32,
    /// The bound on choices cut something off.
    cut_off: bool,
    finished: Vec<Round>,
    statistics: Statistics,
    violations: Violations<M::Label, M::Fault>,
}

/// A call of `explore`.
#[derive(Clone)]
struct Explore<State> {
    number: u32,
    /// d, n and i of the algorithm.
    schedule: State,
    delays: u32,
    index: u32,
    /// Environment moves come first.
    environment: bool,
    /// Transitions from the initial state.
    depth: u64,
    /// Choices on the way.
    choices: u32,
}

impl<State> Explore<State> {
    /// What a snapshot tells of it, with the macro step to look at next.
    fn waiting(&self, macro_step: u32) -> Waiting {
        let Self { number, delays, index, environment, depth, choices, .. } = *self;
        Waiting { number, delays, index, macro_step, environment, depth, choices }
    }

    /// Says on the stack which macro steps are its.
    fn tag(&self) -> u64 {
        u64::from(self.number) + 1
    }
}

/// What comes next in a frame.
enum Next {
    Take(usize),
    Postpone,
    Return,
}

impl<'a, M, S, D, O> Fast<'a, M, S, D, O>
where
    M: Processes,
    S: Store,
    D: Scheduler<M::Label>,
    O: DelayObserver<M::Label, M::Fault>,
{
    fn new(
        (model, scheduler, store, observer): (&'a mut M, &'a D, &'a mut S, &'a mut O),
        settings: &'a Settings,
        bounding: &'a IterativeDelayBounding,
    ) -> Self {
        let hidden = model.hidden_words();
        Self {
            stack: MacroStack::new(model, S::MEMO_PER_WORD),
            listing: Listing { model, lister: MacroStepLister::new(), budget: Budget::new(settings) },
            scheduler,
            store,
            observer,
            origins: Vec::new(),
            frontier: Postponed::new(hidden),
            present: Postponed::new(hidden),
            taken_up: 0,
            bounding,
            bound: bounding.start(),
            cut_off: false,
            finished: Vec::new(),
            statistics: Statistics::default(),
            violations: Violations::new(settings.stop_at),
        }
    }

    fn conclude(mut self, run: ControlFlow<Halt>) -> Outcome<M::Label, M::Fault> {
        self.look_at_memory();
        let left = (self.frontier.is_empty(), self.cut_off);
        let outcome = self.violations.conclude(run, self.store.exactness(), self.statistics);
        outcome.by_rounds(self.finished, left, StopReason::Delays)
    }

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
            self.stack.start((call.tag(), *macro_step), None, call.clone());
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
        let Some((frame, macro_steps)) = self.stack.top_mut() else { return Next::Return };
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
                        if let Some((frame, _)) = self.stack.top_mut() {
                            frame.macro_step -= 1;
                        }
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
                let schedule = scheduled(self.scheduler, &call.schedule, (from, macro_step), macro_steps.situation());
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
        if let Some(frame) = self.stack.top() {
            self.frontier.push(self.store, &self.stack.position, frame.data.clone(), frame.macro_step);
        }
        self.stack.pop();
    }

    /// Reports a violation: of a macro step of the state on top of the stack, or of that state.
    #[cold]
    fn report(&mut self, kind: ViolationKind<M::Fault>, macro_step: Option<usize>) -> ControlFlow<Halt> {
        self.statistics.violations += 1;
        let (label, state) = self.stack.macro_steps().place(macro_step);
        let key = self.observer.key(&kind, label.as_ref(), state);
        let mut trail = self.stack.top().map_or(Vec::new(), |frame| Origin::trail(&self.origins, frame.data.number));
        trail.extend(macro_step.map(|macro_step| macro_step as u32));
        let (model, scheduler) = (&mut *self.listing.model, self.scheduler);
        self.violations.record(key, kind, || replay(model, scheduler, &trail).into())
    }

    /// Shows an observer who wants to see it what the search is at. Unless the whole path is wanted, its end: the
    /// macro steps that are kept.
    #[cold]
    fn show(&mut self) {
        let Some(wanted) = self.observer.snapshot_request() else { return };
        let look = SearchSnapshot {
            stack: self.stack.len() as u64,
            frontier: Some(self.frontier.calls.len() as u64),
            ..SearchSnapshot::at(Phase::Delays(self.bound))
        };
        let look = if wanted.whole {
            let trail = self.stack.top().map_or(Vec::new(), |frame| Origin::trail(&self.origins, frame.data.number));
            look.along(wanted, replay(self.listing.model, self.scheduler, &trail).path.into_iter())
        } else {
            let path = self.end_of_path();
            let before = self.stack.top().map_or(0, |frame| frame.data.depth).saturating_sub(path.len() as u64);
            SearchSnapshot { before, ..look.along(wanted, path.into_iter()) }
        };
        self.observer.on_snapshot(look);
    }

    /// The labels of the macro steps to the topmost states of the stack, as far as they are kept.
    fn end_of_path(&self) -> Vec<M::Label> {
        let mut path = Vec::new();
        for (index, frame) in self.stack.frames().iter().enumerate().skip(self.stack.len().saturating_sub(KEPT - 1)) {
            let macro_step = (frame.macro_step as usize).checked_sub(1);
            match macro_step
                .zip(self.stack.macro_steps_of(index))
                .filter(|(macro_step, macro_steps)| *macro_step < macro_steps.len())
            {
                Some((macro_step, macro_steps)) => path.extend_from_slice(macro_steps.labels(macro_step)),
                None => path.clear(),
            }
        }
        path
    }

    #[cold]
    fn look_at_memory(&mut self) {
        self.statistics.memory_bytes = self.statistics.memory_bytes.max(self.memory_bytes());
    }

    fn memory_bytes(&self) -> u64 {
        let local = (self.frontier.calls.len() + self.present.calls.len()) * size_of::<(Explore<D::State>, u32)>()
            + self.origins.capacity() * size_of::<Origin>();
        let postponed = self.frontier.states.memory_bytes() + self.present.states.memory_bytes();
        self.store.memory_bytes() + self.stack.memory_bytes() + postponed + local as u64
    }
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

    /// Goes on with what is on the stack, then round by round.
    fn rounds(&mut self, mut keep: Option<&mut dyn FnMut(FastSnapshot)>) -> ControlFlow<Halt> {
        loop {
            let is_finished = self.finished.last().is_some_and(|round| self.bound <= round.bound);
            let told = if is_finished { ControlFlow::Continue(()) } else { self.finish_round()? };
            let next = self.bounding.as_wanted(self.observer).after(self.bound);
            let Some(bound) = next.filter(|_| !self.frontier.is_empty()) else { return told };
            self.bound = bound;
            let later = Postponed::new(self.listing.model.hidden_words());
            (self.present, self.taken_up) = (std::mem::replace(&mut self.frontier, later), 0);
            told?;
            if let Some(keep) = &mut keep {
                keep(self.snapshot());
            }
        }
    }

    /// Where the search stands.
    fn snapshot(&self) -> FastSnapshot {
        let mut counters = self.statistics;
        counters.states = self.origins.len() as u64;
        let on_stack = self.stack.frames().iter().rev().map(|frame| frame.data.waiting(frame.macro_step));
        let waiting = |(call, macro_step): &(Explore<D::State>, u32)| call.waiting(*macro_step);
        let now = on_stack.chain(self.present.calls[self.taken_up..].iter().map(waiting)).collect();
        FastSnapshot {
            bound: self.bound,
            rounds: self.finished.clone(),
            counters,
            cut_off: self.cut_off,
            origins: self.origins.clone(),
            now,
            later: self.frontier.calls.iter().map(waiting).collect(),
        }
    }

    /// Finds all states of a snapshot again.
    fn restore(&mut self, snapshot: &FastSnapshot) -> Result<ControlFlow<StopReason>, Unusable> {
        let waiting = snapshot.now.iter().chain(&snapshot.later).map(|waiting| waiting.number).collect();
        let mut again =
            Again { store: &mut *self.store, position: &mut self.stack.position, waiting, aside: HashMap::new() };
        let by = (&mut self.listing, self.scheduler);
        let walked = retrace(by, &snapshot.origins, (&mut self.statistics, &mut *self.observer), &mut again)?;
        if walked.is_break() {
            return Ok(walked);
        }
        let aside = again.aside;
        self.present = self.postponed(&snapshot.now, &aside)?;
        self.frontier = self.postponed(&snapshot.later, &aside)?;
        self.origins.clone_from(&snapshot.origins);
        self.finished.clone_from(&snapshot.rounds);
        self.statistics = snapshot.counters;
        self.listing.lister.transient = snapshot.counters.transient;
        self.bound = snapshot.bound;
        self.cut_off = snapshot.cut_off;
        Ok(ControlFlow::Continue(()))
    }

    fn is_worth_keeping(&self, ended: ControlFlow<Halt>) -> bool {
        match ended {
            ControlFlow::Break(Halt::Found(())) => false,
            ControlFlow::Break(Halt::Stopped(_)) => true,
            ControlFlow::Continue(()) => !self.frontier.is_empty(),
        }
    }
}

/// What a snapshot is read back into.
impl<M, S, D, O> Fast<'_, M, S, D, O>
where
    M: Processes,
    S: Store,
    D: Scheduler<M::Label>,
    O: DelayObserver<M::Label, M::Fault>,
{
    /// What waits, with the scheduler as it was.
    fn postponed(&mut self, list: &[Waiting], aside: &Aside<D::State>) -> Result<Postponed<D::State>, Unusable> {
        let mut postponed = Postponed::new(self.listing.model.hidden_words());
        for waiting in list {
            let (state, schedule) = aside.get(&waiting.number).ok_or(Unusable)?;
            let mut schedule = schedule.clone();
            if waiting.index < u32::from(u8::MAX) {
                (0..waiting.index).for_each(|_| self.scheduler.delay(&mut schedule));
            }
            let position = &mut self.stack.position;
            position.advance(state);
            self.store.insert(position, Class::Ordinary);
            let Waiting { number, delays, index, macro_step, environment, depth, choices } = *waiting;
            let call = Explore { number, schedule, delays, index, environment, depth, choices };
            postponed.push(self.store, position, call, macro_step);
            position.forget();
        }
        Ok(postponed)
    }
}

/// States by their numbers, with the state of the scheduler in which they were met.
type Aside<State> = HashMap<u32, (Vec<u32>, State)>;

/// Puts every state of a snapshot into the store, and those that wait aside.
struct Again<'s, S, State> {
    store: &'s mut S,
    position: &'s mut Position,
    waiting: HashSet<u32>,
    aside: Aside<State>,
}

impl<S: Store, State: Clone> Visit<State> for Again<'_, S, State> {
    fn wants(&self, number: u32) -> bool {
        self.waiting.contains(&number)
    }

    fn visit(&mut self, Retraced { number, state, schedule }: Retraced<'_, State>) {
        self.position.advance(state);
        self.store.insert(self.position, Class::Ordinary);
        self.position.forget();
        if let Some(schedule) = schedule.filter(|_| self.waiting.contains(&number)) {
            self.aside.insert(number, (state.to_vec(), schedule.clone()));
        }
    }
}

/// States that wait for more delays, each with its call of `explore` and the macro step to look at next.
struct Postponed<State> {
    calls: Vec<(Explore<State>, u32)>,
    states: StateLog,
}

impl<State> Postponed<State> {
    fn new(hidden: usize) -> Self {
        Self { calls: Vec::new(), states: StateLog::new(hidden) }
    }

    fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Adds the state that is both the position's state and its successor.
    fn push<S: Store>(&mut self, store: &S, position: &Position, call: Explore<State>, macro_step: u32) {
        self.states.push(store, position, Class::Ordinary);
        self.calls.push((call, macro_step));
    }
}
