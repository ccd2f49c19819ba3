//! Strongly connected components: acceptance cycles and livelocks, also for fair schedulers only, without
//! copies of the state space.
//!
//! ```text
//! for each state s that waits, the initial one first:
//!   for each component that can be reached from s:                 (couvreur)
//!     if a run through all of it counts: report its lasso          (lasso)
//!     if a part of it may count: search the part                   (streett)
//! ```
//!
//! What is summed up is a matter of fairness ([`super::acceptance_summary`]). Under *weak fairness* each process is an acceptance
//! condition of its own: it moves, or it is not enabled. Under *strong fairness* (a Streett condition) a component
//! may be too large: a process is enabled in it somewhere and never moves. The rest of it is then searched again.
//!
//! *Livelocks* are components of the graph without progress. Steps with progress are put off as in
//! [`super::dfs_fifo`].
//!
//! *Reduction.* A state from which a transition leads to an active one is expanded in full. A reduction says nothing of
//! fairness: with any, the model is to leave nothing out.

mod couvreur;
mod lasso;
mod pass;
mod streett;

use super::acceptance_summary::{AcceptanceSummary, Strong, Weak};
use super::frontier::{Frontier, Seed};
use super::outcome::{CycleOutcome, CycleQuestion, Fairness, Found, Goal, Run};
use super::proviso::Proviso;
use super::watch::Watch;
use crate::model::{Marks, Model, Processes};
use crate::observer::{Observer, Settings, state_words};
use crate::outcome::Halt;
use crate::snapshot::{Phase, SearchSnapshot};
use crate::store::{Class, Payloads};
use couvreur::Halted;
use fabius_base::StopReason;
use pass::Pass;
use std::ops::ControlFlow;
use streett::Subproblem;

/// Searches for a cycle that is what `goal` says, and that is fair.
pub fn components<M, S, O, P>(
    model: &mut M,
    store: &mut S,
    observer: &mut O,
    settings: &Settings,
    proviso: P,
    CycleQuestion { goal, fairness }: CycleQuestion,
) -> CycleOutcome<M::Label, M::Fault>
where
    M: Processes,
    S: Payloads<Number>,
    O: Observer<M::Label, M::Fault>,
    P: Proviso<M>,
{
    let watch = Watch::new(observer, settings, state_words(model));
    match fairness {
        Fairness::None => Components::<M, S, O, P, Marks>::search(model, store, watch, proviso, goal),
        Fairness::Weak => Components::<M, S, O, P, Weak>::search(model, store, watch, proviso, goal),
        Fairness::Strong => Components::<M, S, O, P, Strong>::search(model, store, watch, proviso, goal),
    }
}

/// What is kept with each state: its number while it is active, from 1, or one of the values below.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Number(u32);

impl Number {
    /// Was not met before.
    const NEW: Self = Self(0);
    /// Belongs to a component that is done with.
    const DONE: Self = Self(u32::MAX);
    /// Waits until its turn comes.
    const QUEUED: Self = Self(u32::MAX - 1);
    /// Active states have numbers below this; subproblems have numbers from this on.
    const FIRST_SUBPROBLEM: Self = Self(1 << 31);
}

struct Components<'a, M: Model, S, O, P, C> {
    model: &'a mut M,
    store: &'a mut S,
    proviso: P,
    watch: Watch<'a, O>,
    goal: Goal,
    /// States that were put off because of progress.
    queue: Frontier,
    seed: Seed,
    /// What is left of components that were too large.
    subproblems: Vec<Subproblem>,
    subproblems_made: u32,
    memory_bytes: u64,
    /// States of the largest component that was left.
    largest: u64,
    sum: std::marker::PhantomData<C>,
}

impl<'a, M, S, O, P, C> Components<'a, M, S, O, P, C>
where
    M: Processes,
    S: Payloads<Number>,
    O: Observer<M::Label, M::Fault>,
    P: Proviso<M>,
    C: AcceptanceSummary,
{
    fn search(
        model: &'a mut M,
        store: &'a mut S,
        watch: Watch<'a, O>,
        proviso: P,
        goal: Goal,
    ) -> CycleOutcome<M::Label, M::Fault> {
        let queue = Frontier::new(model.hidden_words(), true);
        let mut search = Self {
            model,
            store,
            proviso,
            watch,
            goal,
            queue,
            seed: 0,
            subproblems: Vec::new(),
            subproblems_made: 0,
            memory_bytes: 0,
            largest: 0,
            sum: std::marker::PhantomData,
        };
        let run = search.run();
        let statistics = &mut search.watch.statistics;
        statistics.memory_bytes = statistics.memory_bytes.max(search.store.memory_bytes() + search.memory_bytes);
        CycleOutcome::conclude_found(run, search.store.exactness(), *statistics)
    }

    fn run(&mut self) -> Run<M::Label, M::Fault> {
        let mut state = Vec::new();
        let mut pass = Pass::new::<S>(self.model, 0, None);
        let probe = self.watch.arrive_at_initial(self.model, self.store, &mut pass.stack)?;
        *self.store.payload(probe).1 = Number::QUEUED;
        self.append(&pass, Class::Ordinary)?;
        while let Some(seed) = self.queue.take() {
            let class = self.queue.recall(self.store, seed, &mut state);
            self.seed = seed;
            if self.start(&mut pass, &state, class)? {
                self.search_from_seed(&mut pass)?;
            }
        }
        ControlFlow::Continue(())
    }

    fn search_from_seed(&mut self, pass: &mut Pass<M, C, S::Probe>) -> Run<M::Label, M::Fault> {
        loop {
            match self.explore(pass, None)? {
                Halted::Found => return self.report(pass, None),
                Halted::Split => {
                    self.search_subproblems(pass)?;
                    pass.stack.pop();
                }
                Halted::Exhausted => return ControlFlow::Continue(()),
            }
        }
    }

    /// Appends the state that was just stored to the queue.
    fn append(&mut self, pass: &Pass<M, C, S::Probe>, class: Class) -> Run<M::Label, M::Fault> {
        if self.queue.push(self.store, &pass.stack.position, class, self.seed) {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(Halt::Stopped(StopReason::Full))
        }
    }

    #[cold]
    fn fault<T>(
        &mut self,
        pass: &Pass<M, C, S::Probe>,
        label: Option<M::Label>,
        fault: M::Fault,
    ) -> Run<M::Label, M::Fault, T> {
        let mut path = self.stem()?;
        path.extend(pass.stack.labels().chain(label));
        ControlFlow::Break(Halt::Found(Found::Fault { path, fault }))
    }

    #[cold]
    fn look(&mut self, pass: &Pass<M, C, S::Probe>, other: Option<&Pass<M, C, S::Probe>>) -> Run<M::Label, M::Fault> {
        let subproblems: u64 = self.subproblems.iter().map(|subproblem| subproblem.states.memory_bytes()).sum();
        let passes = pass.memory_bytes() + other.map_or(0, Pass::memory_bytes);
        self.memory_bytes = passes + subproblems + self.queue.memory_bytes();
        self.watch.look(self.store.memory_bytes() + self.memory_bytes, self.store.is_full())?;
        let Some(wanted) = self.watch.snapshot_request() else { return ControlFlow::Continue(()) };
        let whole = other.unwrap_or(pass);
        let phase = if other.is_some() { Phase::Subproblems } else { Phase::Components };
        let look = SearchSnapshot::at(phase).along_many(wanted, whole.stack.depth(), whole.stack.labels());
        let look = SearchSnapshot {
            from_initial: self.seed == 0,
            stack: whole.stack.len() as u64,
            frontier: Some(self.queue.waiting()),
            largest_component: Some(self.largest),
            partitions: Some(self.subproblems.len() as u64),
            ..look
        };
        let look = if wanted.whole { look.led_by(self.stem()?) } else { look };
        self.watch.show(look);
        ControlFlow::Continue(())
    }
}
