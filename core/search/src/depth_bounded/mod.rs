//! Depth-first search up to a bound on the length of runs that misses nothing within it, and grows.
//!
//! After Udupa, Desai, Rajamani: *Depth Bounded Explicit-State Model Checking* (SPIN 2011). A depth-first
//! search that just stops at the bound is wrong: a state that is first met on a long way shields what lies behind it.
//! So a state must be looked at again when it is met on a shorter way, but not each time:
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
//!
//! T[s] is the *threshold*: the greatest depth at which another visit of s could still find anything new within the
//! bound; −1 means never. While s is on the stack it holds the depth of s, an upper bound that back edges may read.
//! T is good for later bounds without change.
//!
//! With [`Revisit::Shallower`] T[s] stays the smallest depth at which s was met: the paper's baseline.
//!
//! Frontier states are kept as the macro steps that lead to them, in a tree ([`frontier`]).
//!
//! A step is what leads from one ordinary state to the next: an atomic sequence is one step. What is answered is the
//! question *can anything go wrong within this many steps?* The paper's outer loop says that all is explored only if the
//! deepest state lies strictly above the cut-off; here, once the frontier is empty.

mod cycles;
mod frontier;
mod kept;

pub use cycles::depth_bounded_cycles;
pub use frontier::Keep;
pub use kept::DepthSnapshot;

use crate::checkpoint::{ByRounds, CheckpointPolicy, Unusable};
use crate::delay_bounded::{DelayObserver, Listing, Origin, SHOWN_TURNS_MAX};
use crate::macro_stack::{MacroStack, TurnsOf, accept, propose};
use crate::model::{Ending, Model, Next, ProcessSet, Processes};
use crate::observer::{Budget, Settings};
use crate::outcome::{Halt, Outcome, Round, Statistics, ViolationKind, Violations, Work};
use crate::schedule::MacroSteps;
use crate::schedule::macro_steps::{MacroStepEnd, MacroStepLister};
use crate::snapshot::{Phase, SearchSnapshot};
use crate::store::{Class, Inserted, Store, TreeStore};
use fabius_base::StopReason;
use frontier::{Frontier, NodeId};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::ops::ControlFlow;

/// This many states at most.
const STATES_MAX: usize = u32::MAX as usize - 2;

/// How a search in the order of depth is to be run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DepthSettings {
    /// More steps in each round; at least 1.
    pub increment: u32,
    /// At most this many steps; without it, until nothing is left.
    pub cut_off: Option<u32>,
    /// When a state is looked at again.
    pub revisit: Revisit,
    /// How frontier states are kept.
    pub keep: Keep,
}

impl Default for DepthSettings {
    fn default() -> Self {
        Self { increment: 100, cut_off: None, revisit: Revisit::default(), keep: Keep::default() }
    }
}

/// When a state that was met before is looked at again.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Revisit {
    /// If something new may come of it.
    #[default]
    Threshold,
    /// Whenever it is met at a smaller depth.
    Shallower,
}

/// Searches runs of ever more steps.
///
/// A search of which checkpoints are kept, or that goes on from one, ends at the first violation. Macro steps
/// that are executed only to get back to where a snapshot was taken are not counted.
///
/// # Errors
/// If it is to go on from a snapshot that cannot be one of this search.
pub fn depth_bounded<M, O>(
    model: &mut M,
    observer: &mut O,
    settings: &Settings,
    depth: &DepthSettings,
    checkpoint: CheckpointPolicy<'_, DepthSnapshot>,
) -> Result<Outcome<M::Label, M::Fault>, Unusable>
where
    M: Model,
    O: DelayObserver<M::Label, M::Fault>,
{
    let settings = checkpoint.settings(settings);
    let mut model = EnvironmentMoves(model);
    let mut search = DepthBounded::new(&mut model, observer, &settings, depth, checkpoint.is_wanted());
    let run = search.run(checkpoint)?;
    Ok(search.conclude(run))
}

/// What is known of a state.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct Known {
    /// Its threshold, plus 2; 0 if it is not in T.
    threshold: u32,
    /// Its place in the frontier, plus 1; 0 if it is not in it.
    place: u32,
}

impl Known {
    fn threshold(self) -> Option<i64> {
        (self.threshold != 0).then(|| i64::from(self.threshold) - 2)
    }
}

struct DepthBounded<'a, M: Processes, O> {
    listing: Listing<'a, M>,
    depth: DepthSettings,
    observer: &'a mut O,
    /// The number of each state, plus 1.
    store: TreeStore<u32>,
    /// Of each state, by its number.
    known: Vec<Known>,
    /// Where each state was first met from, if that is to be kept.
    origins: Option<Vec<Origin>>,
    stack: MacroStack<M, Expand>,
    /// Calls of `expand` so far; each has a tag of its own.
    tags: u64,
    frontier: Frontier,
    /// Frontier states of the round before that are to be expanded in this one.
    waiting: VecDeque<NodeId>,
    /// The frontier state below the stack.
    from: Option<NodeId>,
    /// The depth of the states that this round starts with, and the bound.
    start: u32,
    bound: u32,
    revisits: u64,
    rounds: Vec<Round>,
    statistics: Statistics,
    violations: Violations<M::Label, M::Fault>,
}

/// A call of `expand`.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Debug)]
struct Expand {
    /// The state's number.
    state: u32,
    depth: u32,
    /// m of the algorithm.
    most: i64,
    /// The state was not expanded before.
    first: bool,
}

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
        self.stand()
    }

    fn restore(&mut self, snapshot: &DepthSnapshot) -> Result<ControlFlow<StopReason>, Unusable> {
        self.return_to(snapshot)
    }

    fn is_worth_keeping(&self, ended: ControlFlow<Halt>) -> bool {
        match ended {
            ControlFlow::Break(Halt::Found(())) => false,
            ControlFlow::Break(Halt::Stopped(_)) => true,
            ControlFlow::Continue(()) => !self.frontier.is_empty(),
        }
    }
}

impl<'a, M, O> DepthBounded<'a, M, O>
where
    M: Processes,
    O: DelayObserver<M::Label, M::Fault>,
{
    fn new(
        model: &'a mut M,
        observer: &'a mut O,
        settings: &'a Settings,
        depth: &DepthSettings,
        with_origins: bool,
    ) -> Self {
        Self {
            stack: MacroStack::new(model, TreeStore::<u32>::MEMO_PER_WORD),
            listing: Listing { model, lister: MacroStepLister::new(), budget: Budget::new(settings) },
            depth: *depth,
            observer,
            store: TreeStore::default(),
            known: Vec::new(),
            origins: with_origins.then(Vec::new),
            tags: 0,
            frontier: Frontier::new(depth.keep),
            waiting: VecDeque::new(),
            from: None,
            start: 0,
            bound: 0,
            revisits: 0,
            rounds: Vec::new(),
            statistics: Statistics::default(),
            violations: Violations::new(settings.stop_at),
        }
    }

    fn conclude(mut self, run: ControlFlow<Halt>) -> Outcome<M::Label, M::Fault> {
        self.look_at_memory();
        let everything = self.frontier.is_empty();
        let outcome = self.violations.conclude(run, self.store.exactness(), self.statistics);
        outcome.by_rounds(self.rounds, (everything, false), StopReason::Depth)
    }

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
            self.expand((self.frontier.state(node), self.start), true, macro_steps)?;
        }
    }

    /// Makes a frontier state the position's state: goes back to where the way there branches off, and on from there.
    fn go_to(&mut self, node: NodeId) -> ControlFlow<StopReason> {
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
    fn list(&mut self, proposed: bool, mut macro_steps: TurnsOf<M>) -> ControlFlow<StopReason, TurnsOf<M>> {
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
            let Some((frame, macro_steps)) = self.stack.top_mut() else { return ControlFlow::Continue(()) };
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
                if let (Halt::Stopped(_), Some((frame, _))) = (halt, self.stack.top_mut()) {
                    frame.macro_step -= 1;
                }
                return ControlFlow::Break(halt);
            }
        }
        ControlFlow::Continue(())
    }

    /// A call for a successor of the state on top returned this.
    fn returned(&mut self, threshold: i64) {
        if let Some((frame, _)) = self.stack.top_mut() {
            frame.data.most = frame.data.most.max(threshold - 1);
        }
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
        let before = self.known.get(state as usize).copied().unwrap_or_default();
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
        self.expand((state, depth), first, macro_steps)?;
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
    fn expand(&mut self, (state, depth): (u32, u32), first: bool, macro_steps: TurnsOf<M>) -> ControlFlow<Halt> {
        self.tags += 1;
        let ending = macro_steps.ending();
        let call = Expand { state, depth, most: -1, first };
        if self.stack.len() == 0 {
            self.stack.start((self.tags, 0), Some(macro_steps), call);
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
        let Some(frame) = self.stack.pop() else { return };
        if self.depth.revisit == Revisit::Threshold {
            self.known[frame.data.state as usize].threshold = (frame.data.most + 2) as u32;
            self.returned(frame.data.most);
        } else {
            self.returned(-1);
        }
    }

    #[cold]
    fn report(&mut self, kind: ViolationKind<M::Fault>, macro_step: Option<usize>) -> ControlFlow<Halt> {
        self.statistics.violations += 1;
        let (label, state) = self.stack.macro_steps().place(macro_step);
        let key = self.observer.key(&kind, label.as_ref(), state);
        let mut trail = self.from.map_or(Vec::new(), |node| self.frontier.trail(node));
        let below = self.stack.len().saturating_sub(1);
        trail.extend(self.stack.frames()[..below].iter().map(|frame| frame.macro_step - 1));
        trail.extend(macro_step.map(|macro_step| macro_step as u32));
        let model = &mut *self.listing.model;
        self.violations.record(key, kind, || (path_of(model, &trail), Vec::new()))
    }

    /// Shows an observer who wants to see it what the search is at.
    #[cold]
    fn show(&mut self, depth: u32) {
        let Some(wanted) = self.observer.snapshot_request() else { return };
        let mut trail = self.from.map_or(Vec::new(), |node| self.frontier.trail(node));
        let below = self.stack.len().saturating_sub(1);
        trail.extend(self.stack.frames()[..below].iter().map(|frame| frame.macro_step - 1));
        let look = SearchSnapshot {
            before: u64::from(depth),
            stack: self.stack.len() as u64,
            frontier: Some(self.frontier.len()),
            ..SearchSnapshot::at(Phase::Depth(self.bound))
        };
        let look = if wanted.whole || trail.len() <= SHOWN_TURNS_MAX {
            look.along(wanted, path_of(self.listing.model, &trail).into_iter())
        } else {
            look
        };
        self.observer.on_snapshot(look);
    }

    #[cold]
    fn look_at_memory(&mut self) {
        let local = self.known.capacity() * size_of::<Known>()
            + self.origins.as_ref().map_or(0, |origins| origins.capacity() * size_of::<Origin>())
            + self.frontier.memory_bytes();
        let now = self.store.memory_bytes() + self.stack.memory_bytes() + local as u64;
        self.statistics.memory_bytes = self.statistics.memory_bytes.max(now);
    }
}

/// Executes macro steps from the initial state on; returns their labels.
fn path_of<M: Processes>(model: &mut M, trail: &[u32]) -> Vec<M::Label> {
    let (mut path, mut state, mut macro_steps, mut lister) =
        (Vec::new(), Vec::new(), MacroSteps::default(), MacroStepLister::new());
    if model.initial(&mut state).is_err() {
        return path;
    }
    for &macro_step in trail {
        let _: ControlFlow<()> = lister.list(model, &state, &mut macro_steps, || ControlFlow::Continue(()));
        path.extend_from_slice(macro_steps.labels(macro_step as usize));
        let Some(target) = macro_steps.target(macro_step as usize) else { break };
        state = target.to_vec();
    }
    path
}

/// A model all of whose moves are environment moves: they belong to no process.
pub(crate) struct EnvironmentMoves<'a, M>(pub(crate) &'a mut M);

impl<M: Model> Model for EnvironmentMoves<'_, M> {
    type Label = M::Label;
    type Fault = M::Fault;
    type Cursor = M::Cursor;

    fn hidden_words(&self) -> usize {
        self.0.hidden_words()
    }

    fn initial(&mut self, state: &mut Vec<u32>) -> Result<(), M::Fault> {
        self.0.initial(state)
    }

    fn begin(&mut self, state: &[u32]) -> M::Cursor {
        self.0.begin(state)
    }

    fn next(&mut self, state: &[u32], cursor: &mut M::Cursor, successor: &mut Vec<u32>) -> Next<M::Label, M::Fault> {
        self.0.next(state, cursor, successor)
    }
}

impl<M: Model> Processes for EnvironmentMoves<'_, M> {
    fn process_count(&self, _: &[u32]) -> usize {
        0
    }

    fn movers(&self, _: &M::Label) -> [Option<u8>; 2] {
        [None, None]
    }

    fn enabled(&mut self, _: &[u32], enabled: &mut ProcessSet) {
        *enabled = ProcessSet::EMPTY;
    }
}
