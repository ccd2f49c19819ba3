//! Round by round, and going on from where a snapshot was taken.

use super::product::{Node, Pair};
use super::{Begun, Exact};
use crate::checkpoint::{ByRounds, Unusable};
use crate::delay_bounded::checkpoint::ExactSnapshot;
use crate::delay_bounded::{DelayObserver, Origin, Round, is_choice};
use crate::model::{ProcessSet, Processes};
use crate::outcome::{Halt, ViolationKind};
use crate::schedule::{MacroSteps, Scheduler};
use fabius_base::StopReason;
use rustc_hash::FxHashSet;
use std::ops::ControlFlow;

impl<M, D, O> ByRounds for Exact<'_, M, D, O>
where
    M: Processes,
    D: Scheduler<M::Label>,
    O: DelayObserver<M::Label, M::Fault>,
{
    type Snapshot = ExactSnapshot;

    /// Queues the first pair.
    fn begin(&mut self) -> ControlFlow<Halt> {
        let mut initial = Vec::new();
        if let Err(fault) = self.listing.model.initial(&mut initial) {
            return self.report(ViolationKind::Fault(fault), None, None);
        }
        let first = self.first_pair(&initial).map_break(Halt::Stopped)?;
        self.origins.push(Origin::NONE);
        self.enqueue(first);
        ControlFlow::Continue(())
    }

    fn rounds(&mut self, mut keep: Option<&mut dyn FnMut(ExactSnapshot)>) -> ControlFlow<Halt> {
        loop {
            let asked = match self.finished.last().map(|round| round.bound) {
                None => Some(self.bounding.start()),
                Some(last) => {
                    // A round that was going on is searched to its end, whatever is left of it.
                    let is_going_on = last < self.bound;
                    self.bounding.as_wanted(self.observer).after(last).filter(|_| is_going_on || self.is_left())
                }
            };
            let Some(asked) = asked else { return ControlFlow::Continue(()) };
            self.search_up_to(asked)?;
            let frontier = self.later.len() as u64;
            let round = Round { bound: self.bound, states: self.statistics.states, frontier, ..Round::default() };
            self.finished.push(round);
            self.observer.round(&round).map_break(Halt::Stopped)?;
            if let Some(keep) = keep.as_mut().filter(|_| self.is_left()) {
                keep(self.snapshot());
            }
        }
    }

    /// Where the search stands. A pair that was looked at only by half is looked at anew, and what came of it is left out.
    fn snapshot(&self) -> ExactSnapshot {
        let begun = self.begun.map(|begun| begun.pair);
        let (origins, counters) = match self.begun {
            Some(Begun { origins, counters, .. }) => (origins, counters),
            None => (self.origins.len(), self.statistics),
        };
        let before = |pair: &Pair| Some(pair.number).filter(|&number| (number as usize) < origins);
        let states = &self.states.nodes[..counters.states as usize];
        ExactSnapshot {
            bound: self.bound,
            rounds: self.finished.clone(),
            counters,
            origins: self.origins[..origins].to_vec(),
            now: begun.into_iter().chain(self.now.iter().filter_map(before)).collect(),
            later: self.later.iter().filter_map(before).collect(),
            waiting: states.iter().map(|node| node.waiting).collect(),
        }
    }

    /// Finds all pairs of a snapshot again.
    ///
    /// Pairs that came of the same one follow each other, so its macro steps are listed once.
    fn restore(&mut self, snapshot: &ExactSnapshot) -> Result<ControlFlow<StopReason>, Unusable> {
        (self.bound, self.finished) = (snapshot.bound, snapshot.rounds.clone());
        let pairs = match self.walk(&snapshot.origins)? {
            ControlFlow::Continue(pairs) => pairs,
            ControlFlow::Break(reason) => return Ok(ControlFlow::Break(reason)),
        };
        let nodes = &mut self.states.nodes;
        let fits = |(node, waiting): (&Node, &ProcessSet)| waiting.iter().all(|process| node.enabled.contains(process));
        if nodes.len() != snapshot.waiting.len() || !nodes.iter().zip(&snapshot.waiting).all(fits) {
            return Err(Unusable);
        }
        nodes.iter_mut().zip(&snapshot.waiting).for_each(|(node, waiting)| node.waiting = *waiting);
        self.states.open = nodes.iter().filter(|node| !node.waiting.is_empty()).count() as u64;
        // All but those that need another delay were queued at some time; those that never were are settled with fewer choices.
        let later: FxHashSet<u32> = snapshot.later.iter().copied().collect();
        for pair in pairs.iter().filter(|pair| !later.contains(&pair.number)) {
            let fewest = self.settled.entry(pair.key()).or_insert(pair.choices);
            *fewest = pair.choices.min(*fewest);
        }
        snapshot.now.iter().for_each(|&number| self.now.push(pairs[number as usize]));
        self.later = snapshot.later.iter().map(|&number| pairs[number as usize]).collect();
        self.origins.clone_from(&snapshot.origins);
        self.statistics = snapshot.counters;
        self.listing.lister.transient = snapshot.counters.transient;
        Ok(ControlFlow::Continue(()))
    }

    /// After each round there is a snapshot of it.
    fn has_unkept_frontier(&self) -> bool {
        false
    }
}

/// What a snapshot is read back into.
impl<M, D, O> Exact<'_, M, D, O>
where
    M: Processes,
    D: Scheduler<M::Label>,
    O: DelayObserver<M::Label, M::Fault>,
{
    /// Meets all pairs again, in the order of their numbers, and with them all states in theirs.
    fn walk(&mut self, origins: &[Origin]) -> Result<ControlFlow<StopReason, Vec<Pair>>, Unusable> {
        let mut state = Vec::new();
        if self.listing.model.initial(&mut state).is_err() || origins.is_empty() {
            return Err(Unusable);
        }
        let mut pairs = match self.first_pair(&state) {
            ControlFlow::Continue(first) => vec![first],
            ControlFlow::Break(reason) => return Ok(ControlFlow::Break(reason)),
        };
        let mut listed = None;
        for (number, &Origin { parent, macro_step }) in origins.iter().enumerate().skip(1) {
            let from = pairs[parent as usize];
            let pair = if macro_step == Origin::DELAY {
                let mut schedule = self.schedules.get(from.schedule).clone();
                self.scheduler.delay(&mut schedule);
                Pair { schedule: self.schedules.number_of(schedule), ..from }
            } else {
                let is_listed = listed.replace(parent) == Some(parent);
                match self.follow(from, macro_step as usize, is_listed)? {
                    ControlFlow::Continue(pair) => pair,
                    ControlFlow::Break(reason) => return Ok(ControlFlow::Break(reason)),
                }
            };
            pairs.push(Pair { number: number as u32, ..pair });
        }
        Ok(ControlFlow::Continue(pairs))
    }

    /// The pair that a macro step of another leads to.
    fn follow(&mut self, from: Pair, index: usize, is_listed: bool) -> Result<ControlFlow<StopReason, Pair>, Unusable> {
        if !is_listed {
            let mut state = Vec::new();
            self.states.words.recall(from.state, &mut state);
            let listed = self.listing.list(&state, &mut self.macro_steps, &mut self.statistics, false, self.observer);
            if let ControlFlow::Break(reason) = listed {
                return Ok(ControlFlow::Break(reason));
            }
        }
        let mover =
            |macro_steps: &MacroSteps<_, _>| (index < macro_steps.len()).then(|| macro_steps.get(index).process);
        let process = mover(&self.macro_steps).ok_or(Unusable)?;
        if process.is_some() && process != self.scheduler.next(self.schedules.get(from.schedule)) {
            return Err(Unusable);
        }
        let target = self.macro_steps.target(index).ok_or(Unusable)?.to_vec();
        let depth = from.depth.saturating_add(self.macro_steps.labels(index).len() as u32);
        let choices = from.choices + u32::from(self.bounding.choices.is_some() && is_choice(&self.macro_steps, index));
        let successor = self.successor(Pair { depth, choices, ..from }, index, &target);
        Ok(successor.map_continue(|(pair, _)| pair))
    }
}
