//! The part of the graph that a bound allows: it grows with the bound, state by state as it is asked for.
//!
//! ```text
//! H[s] = (d, n) when s was first met: the scheduler's state, and the delays on the way
//! edges(s) = for i = 0, 1, … while n + i ≤ bound:  each macro step s → t of process Next(dᵢ), where dᵢ₊₁ = Delay(dᵢ)
//! ```
//!
//! Where the bound is on the length of runs ([`Graph::by_depth`]), n is the number of macro steps on the way instead, and a state within
//! the bound has all its edges.
//!
//! A state whose edges are not all there yet is in the frontier; it keeps dᵢ, n + i and i, so no edge is listed twice.

mod evidence;
mod kept;
mod progress;

pub(super) use kept::KeptGraph;
pub(super) use progress::{Edge, Node, Progress};

use super::Evidence;
use crate::cycle::{Found, Goal};
use crate::delay_bounded::{DelayObserver, Listing, SHOWN_MACRO_STEPS_MAX, replay, scheduled};
use crate::model::{Marks, Processes};
use crate::numbered_states::NumberedStates;
use crate::observer::Settings;
use crate::outcome::{Halt, Run, Statistics};
use crate::schedule::macro_steps::{MacroStepEnd, MacroStepLister};
use crate::schedule::{MacroSteps, Scheduler};
use crate::snapshot::{Phase, SearchSnapshot};
use crate::store::{Class, Store};
use fabius_base::StopReason;
use std::ops::ControlFlow;

/// What several threads may read while they expand states.
pub(super) struct Known<'g, State> {
    pub bound: u32,
    nodes: &'g [Node<State>],
    states: &'g NumberedStates,
}

impl<State> Known<'_, State> {
    pub fn node(&self, number: u32) -> &Node<State> {
        &self.nodes[number as usize]
    }

    /// Writes the words of a state; drops what `state` held.
    pub fn recall(&self, number: u32, state: &mut Vec<u32>) {
        self.states.recall(number, state);
    }
}

/// The graph.
pub(super) struct Graph<'a, M: Processes, D: Scheduler<M::Label>, O> {
    listing: Listing<'a, M>,
    pub scheduler: &'a D,
    pub observer: &'a mut O,
    goal: Goal,
    states: NumberedStates,
    pub nodes: Vec<Node<D::State>>,
    /// The edges of each state, as far as they are there.
    pub edges: Vec<Vec<Edge>>,
    incomplete: u64,
    pub bound: u32,
    /// What each macro step costs, beside the delays before it.
    macro_step_cost: u32,
    pub listed: u64,
    pub edges_there: u64,
    pub infinite_macro_steps: u64,
    /// Partitions that are still to be refined.
    pub partitions_left: u64,
    pub statistics: Statistics,
    macro_steps: MacroSteps<M::Label, M::Fault>,
    macro_steps_after: MacroSteps<M::Label, M::Fault>,
    fault: Option<(u32, u32, M::Fault)>,
    initial_fault: Option<M::Fault>,
}

impl<'a, M, D, O> Graph<'a, M, D, O>
where
    M: Processes,
    D: Scheduler<M::Label>,
    O: DelayObserver<M::Label, M::Fault>,
{
    pub fn new(model: &'a mut M, scheduler: &'a D, observer: &'a mut O, settings: &'a Settings, goal: Goal) -> Self {
        let hidden = model.hidden_words();
        Self {
            listing: Listing::new(model, settings),
            scheduler,
            observer,
            goal,
            states: NumberedStates::new(hidden),
            nodes: Vec::new(),
            edges: Vec::new(),
            incomplete: 0,
            bound: 0,
            macro_step_cost: 0,
            listed: 0,
            edges_there: 0,
            infinite_macro_steps: 0,
            partitions_left: 0,
            statistics: Statistics::default(),
            macro_steps: MacroSteps::default(),
            macro_steps_after: MacroSteps::default(),
            fault: None,
            initial_fault: None,
        }
    }

    /// The bound is one on the length of runs: each macro step costs 1.
    pub fn by_depth(self) -> Self {
        Self { macro_step_cost: 1, ..self }
    }

    /// Starts with the initial state, which is number 0.
    pub fn begin(&mut self, bound: u32) -> Run<Evidence> {
        self.bound = bound;
        let mut initial = Vec::new();
        if let Err(fault) = self.listing.model.initial(&mut initial) {
            self.initial_fault = Some(fault);
            return ControlFlow::Break(Halt::Found(Evidence::Fault));
        }
        let full = self.states.store.is_full();
        self.listing
            .list(&initial, &mut self.macro_steps_after, &mut self.statistics, full, self.observer)
            .map_break(Halt::Stopped)?;
        let schedule = self.scheduler.start(self.macro_steps_after.situation());
        self.find(&initial);
        self.add(schedule, 0, None)
    }

    /// Transient states that the caller's own lister passed.
    pub fn own_transient(&self) -> u64 {
        self.listing.lister.transient
    }

    /// Forgets everything but what was counted.
    pub fn forget(&mut self) {
        self.states = NumberedStates::new(self.listing.model.hidden_words());
        self.nodes.clear();
        self.edges.clear();
        (self.incomplete, self.edges_there, self.infinite_macro_steps) = (0, 0, 0);
        self.statistics.states = 0;
    }

    pub fn goal(&self) -> Goal {
        self.goal
    }

    pub fn states(&self) -> u64 {
        self.nodes.len() as u64
    }

    /// Whether all edges of all states are there.
    pub fn is_complete(&self) -> bool {
        self.incomplete == 0
    }

    pub fn frontier_len(&self) -> u64 {
        self.incomplete
    }

    /// States whose edges are not all there.
    pub fn frontier(&self) -> Vec<u32> {
        (0..self.nodes.len() as u32).filter(|&state| !self.nodes[state as usize].progress.complete).collect()
    }

    /// Takes a step of an algorithm, in a state; now and then that leads to a look at the limits.
    pub fn tick(&mut self, state: u32, phase: Phase) -> Run<Evidence> {
        self.ticks(1, state, phase)
    }

    /// Takes this many steps.
    pub fn ticks(&mut self, steps: u64, state: u32, phase: Phase) -> Run<Evidence> {
        if !self.listing.budget.steps_are_due(steps) {
            return ControlFlow::Continue(());
        }
        self.statistics.memory_bytes = self.statistics.memory_bytes.max(self.memory_bytes());
        let full = self.states.store.is_full();
        self.listing.budget.look(&self.statistics, full, self.observer).map_break(Halt::Stopped)?;
        self.show(state, phase);
        ControlFlow::Continue(())
    }

    /// Shows an observer who wants to see it what the search is at.
    fn show(&mut self, state: u32, phase: Phase) {
        let Some(wanted) = self.observer.snapshot_request() else { return };
        let trail = self.trail(state);
        let look = SearchSnapshot {
            before: trail.len() as u64,
            frontier: Some(self.incomplete),
            partitions: Some(self.partitions_left),
            ..SearchSnapshot::at(phase)
        };
        let look = if wanted.whole || trail.len() <= SHOWN_MACRO_STEPS_MAX {
            look.along(wanted, replay(self.listing.model, self.scheduler, &trail).path.into_iter())
        } else {
            look
        };
        self.observer.on_snapshot(look);
    }

    /// Whether the bound allows edges of a state that are not there yet.
    pub fn is_to_be_expanded(&self, state: u32) -> bool {
        let progress = &self.nodes[state as usize].progress;
        !progress.complete && progress.delays <= self.bound
    }

    /// Makes all edges of a state that the bound allows be there.
    pub fn expand(&mut self, state: u32) -> Run<Evidence> {
        if !self.is_to_be_expanded(state) {
            return ControlFlow::Continue(());
        }
        let mut progress = self.nodes[state as usize].progress.clone();
        let mut words = Vec::new();
        self.known().recall(state, &mut words);
        let full = self.states.store.is_full();
        let mut macro_steps = std::mem::take(&mut self.macro_steps);
        self.listing
            .list(&words, &mut macro_steps, &mut self.statistics, full, self.observer)
            .map_break(Halt::Stopped)?;
        let fresh = progress.is_fresh();
        let (scheduler, bound) = (self.scheduler, self.bound);
        progress.take_macro_steps(scheduler, bound, &macro_steps, |progress, macro_step| {
            self.add_edge(state, progress, &macro_steps, macro_step)
        })?;
        self.advance(state, fresh, progress, &macro_steps);
        self.macro_steps = macro_steps;
        ControlFlow::Continue(())
    }

    /// Notes how far the edges of a state are there now.
    fn advance(
        &mut self,
        state: u32,
        fresh: bool,
        progress: Progress<D::State>,
        macro_steps: &MacroSteps<M::Label, M::Fault>,
    ) {
        if fresh {
            self.listed += macro_steps.len() as u64;
        }
        if progress.complete {
            self.edges[state as usize].shrink_to_fit();
            self.incomplete -= 1;
            self.infinite_macro_steps += u64::from(macro_steps.is_infinite());
        }
        self.nodes[state as usize].progress = progress;
    }

    fn add_edge(
        &mut self,
        state: u32,
        progress: &Progress<D::State>,
        macro_steps: &MacroSteps<M::Label, M::Fault>,
        macro_step: usize,
    ) -> Run<Evidence> {
        let Some(target) = self.lead(state, macro_steps, macro_step)? else { return ControlFlow::Continue(()) };
        let to = match self.find(target) {
            Some(number) => number,
            None => {
                let number = self.nodes.len() as u32;
                let full = self.states.store.is_full();
                self.listing
                    .list(target, &mut self.macro_steps_after, &mut self.statistics, full, self.observer)
                    .map_break(Halt::Stopped)?;
                let after = self.macro_steps_after.situation();
                let schedule = scheduled(self.scheduler, &progress.schedule, macro_steps, macro_step, after);
                self.add(schedule, progress.delays + self.macro_step_cost, Some((state, macro_step as u32)))?;
                number
            }
        };
        self.connect(state, to, macro_steps, macro_step);
        ControlFlow::Continue(())
    }

    /// Takes in what another thread found out about a state. Says which new states there are, by which macro step they were met,
    /// and under which of the schedules; what the scheduler's state is in them is not known yet.
    pub fn take_in(
        &mut self,
        state: u32,
        progress: Progress<D::State>,
        macro_steps: &MacroSteps<M::Label, M::Fault>,
        taken: &[(usize, Progress<D::State>)],
    ) -> Run<Evidence, Vec<(u32, usize)>> {
        let mut new = Vec::new();
        for (place, (macro_step, under)) in taken.iter().enumerate() {
            let Some(target) = self.lead(state, macro_steps, *macro_step)? else { continue };
            let to = match self.find(target) {
                Some(number) => number,
                None => {
                    let number = self.nodes.len() as u32;
                    self.add(
                        under.schedule.clone(),
                        under.delays + self.macro_step_cost,
                        Some((state, *macro_step as u32)),
                    )?;
                    new.push((number, place));
                    number
                }
            };
            self.connect(state, to, macro_steps, *macro_step);
        }
        let fresh = self.nodes[state as usize].progress.is_fresh();
        self.advance(state, fresh, progress, macro_steps);
        ControlFlow::Continue(new)
    }

    /// The state that a macro step leads to, if it leads to one. Breaks if it is faulty.
    fn lead<'t>(
        &mut self,
        state: u32,
        macro_steps: &'t MacroSteps<M::Label, M::Fault>,
        macro_step: usize,
    ) -> Run<Evidence, Option<&'t [u32]>> {
        match &macro_steps.get(macro_step).end {
            MacroStepEnd::State(_) => ControlFlow::Continue(macro_steps.target(macro_step)),
            MacroStepEnd::Fault(fault) => {
                self.fault = Some((state, macro_step as u32, *fault));
                ControlFlow::Break(Halt::Found(Evidence::Fault))
            }
            MacroStepEnd::Stuck(_) => ControlFlow::Continue(None),
        }
    }

    /// Adds the edge that a macro step is.
    fn connect(&mut self, state: u32, to: u32, macro_steps: &MacroSteps<M::Label, M::Fault>, macro_step: usize) {
        let marks = macro_steps.get(macro_step).marks;
        let follow = self.goal == Goal::AcceptanceCycle || !marks.has(Marks::PROGRESS);
        let accept = follow && (self.goal == Goal::Livelock || marks.has(Marks::ACCEPTING));
        self.edges[state as usize].push(Edge::new(to, macro_step as u32, follow, accept));
        self.edges_there += 1;
    }

    /// The number of a state; if it has none yet, it gets the next one, and is to be added.
    fn find(&mut self, words: &[u32]) -> Option<u32> {
        let known = self.states.find(words, Class::Ordinary);
        self.statistics.matched += u64::from(known.is_some());
        known
    }

    /// Adds the state that was looked for last.
    fn add(&mut self, schedule: D::State, delays: u32, parent: Option<(u32, u32)>) -> Run<Evidence> {
        if self.listing.budget.states_exhausted(self.nodes.len() as u64) {
            return ControlFlow::Break(Halt::Stopped(StopReason::States));
        }
        if self.nodes.len() as u64 + 2 > u64::from(u32::MAX) {
            return ControlFlow::Break(Halt::Stopped(StopReason::Full));
        }
        self.states.add(Class::Ordinary);
        self.nodes.push(Node { progress: Progress::begin(schedule, delays), parent });
        self.edges.push(Vec::new());
        self.incomplete += 1;
        self.statistics.states += 1;
        ControlFlow::Continue(())
    }

    fn known(&self) -> Known<'_, D::State> {
        Known { bound: self.bound, nodes: &self.nodes, states: &self.states }
    }

    /// The caller's own model, lister and scheduler, and what all threads may read beside them.
    pub fn apart(&mut self) -> (&mut M, &mut MacroStepLister<M::Label>, &D, Known<'_, D::State>) {
        let Self { scheduler, bound, nodes, states, listing, .. } = self;
        let known = Known { bound: *bound, nodes, states };
        (listing.model, &mut listing.lister, *scheduler, known)
    }

    /// The macro steps that lead to a state, the first one first.
    pub fn trail(&self, state: u32) -> Vec<u32> {
        let parent = |&(state, _): &(u32, u32)| self.nodes[state as usize].parent;
        let mut macro_steps: Vec<u32> = std::iter::successors(self.nodes[state as usize].parent, parent)
            .map(|(_, macro_step)| macro_step)
            .collect();
        macro_steps.reverse();
        macro_steps
    }

    pub fn model(&mut self) -> &mut M {
        self.listing.model
    }

    /// The fault that ended the search.
    pub fn faulty(&mut self) -> Option<Found<M::Label, M::Fault>> {
        if let Some(fault) = self.initial_fault {
            return Some(Found::Fault { path: Vec::new(), fault });
        }
        let (state, macro_step, fault) = self.fault?;
        let mut trail = self.trail(state);
        trail.push(macro_step);
        let scheduler = self.scheduler;
        let path = replay(self.listing.model, scheduler, &trail).path;
        Some(Found::Fault { path, fault })
    }

    pub fn memory_bytes(&self) -> u64 {
        let nodes = self.nodes.capacity() * (size_of::<Node<D::State>>() + size_of::<Vec<Edge>>());
        let local = nodes + self.edges_there as usize * size_of::<Edge>();
        self.states.memory_bytes() + local as u64
    }
}
