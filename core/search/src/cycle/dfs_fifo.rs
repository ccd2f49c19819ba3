//! DFS-FIFO: livelocks, in one pass and without an automaton.
//!
//! After Laarman and Faragó, *Improved On-The-Fly Livelock Detection: Combining Partial Order Reduction and
//! Parallelism for DFS-FIFO* (NFM 2013), Algorithm 1:
//!
//! ```text
//! F := queue of s₀;  V := ∅;  S := ∅
//! while F is not empty:                      dfs(s):
//!   take s from F                              S := S ∪ {s}
//!   if s ∉ V: dfs(s)                           for each s → t:
//!                                                if s → t is no progress:
//!                                                  if t ∈ S: report
//!                                                  if t ∉ V: dfs(t)
//!                                                else if t ∉ V ∪ S ∪ F: append t to F
//!                                              V := V ∪ {s};  S := S \ {s}
//! ```
//!
//! Progress is put off as long as there is anything else to do. So the stack is a way without progress, and if
//! the queue is kept in order, the first livelock found is one with the fewest progress events before
//! it. V is entered when a state is left. V, S and F are bits of what the store keeps with a state.
//!
//! What differs: a state on the stack is not appended to F, since it will be in V before its turn would come;
//! a state whose turn comes is on the stack like all others, so that a cycle through it is seen at once.
//!
//! Progress stands on transitions. If a model says that progress is to arrive at a state, it marks the
//! transitions that lead there; then a cycle has progress if it goes through such a state. A way through transient
//! states is one step, with progress if any of its transitions has any.
//!
//! *Reduction* needs no proviso here: on a cycle with progress a state is expanded in full because no part
//! of its transitions would do that has progress, and a cycle without ends the search.

use super::frontier::{Frontier, Seed};
use super::outcome::{CycleOutcome, Found, Run};
use super::proviso::NoReduction;
use super::stem::stem_to;
use super::watch::Watch;
use crate::dfs_stack::DfsStack;
use crate::model::{Marks, Model, Next};
use crate::observer::{Observer, Settings, state_words};
use crate::outcome::Halt;
use crate::snapshot::{Phase, Rejection, SearchSnapshot};
use crate::store::{Class, Inserted, Payloads, Store};
use fabius_base::StopReason;
use std::ops::ControlFlow;

/// In which order states after progress are looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Order {
    /// In the order of their arrival: finds a livelock after the fewest progress events.
    #[default]
    Strict,
    /// The last one to arrive first: there are fewer of them at a time.
    Newest,
}

/// Searches for a cycle without any transition that is marked [`Marks::PROGRESS`].
pub fn dfs_fifo<M, S, O>(
    model: &mut M,
    store: &mut S,
    observer: &mut O,
    settings: &Settings,
    order: Order,
) -> CycleOutcome<M::Label, M::Fault>
where
    M: Model,
    S: Payloads<Sets>,
    O: Observer<M::Label, M::Fault>,
{
    let watch = Watch::new(observer, settings, state_words(model));
    let mut search = DfsFifo {
        stack: DfsStack::new(model, S::MEMO_PER_WORD),
        queue: Frontier::new(model.hidden_words(), order == Order::Strict),
        seed: 0,
        model,
        store,
        watch,
    };
    let run = search.run();
    let memory_bytes = search.memory_bytes();
    let statistics = &mut search.watch.statistics;
    statistics.memory_bytes = statistics.memory_bytes.max(memory_bytes);
    let outcome = CycleOutcome::conclude_found(run, search.store.exactness(), *statistics);
    let is_least = order == Order::Strict && matches!(outcome.first(), Some(Found::Lasso { .. }));
    // Each seed after the first was found by a step with progress.
    let progress_events = || search.queue.ancestors(search.seed).len() as u64 - 1;
    CycleOutcome { progress_events_min: is_least.then(progress_events), ..outcome }
}

/// Which of the sets V, S and F a state is in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Sets(u8);

impl Sets {
    const V: u8 = 1;
    const S: u8 = 2;
    const F: u8 = 4;
}

struct DfsFifo<'a, M: Model, S: Store, O> {
    model: &'a mut M,
    store: &'a mut S,
    watch: Watch<'a, O>,
    stack: DfsStack<M, (), S::Probe>,
    queue: Frontier,
    /// The state from which the search goes depth first.
    seed: Seed,
}

impl<M: Model, S: Payloads<Sets>, O: Observer<M::Label, M::Fault>> DfsFifo<'_, M, S, O> {
    fn run(&mut self) -> Run<M::Label, M::Fault> {
        let probe = self.watch.arrive_at_initial(self.model, self.store, &mut self.stack)?;
        self.store.payload(probe).1.0 = Sets::F;
        self.append(Class::Ordinary)?;
        while let Some(seed) = self.queue.take() {
            let (class, probe) = self.queue.return_to(self.store, seed, &mut self.stack.position);
            let sets = self.store.payload(probe).1;
            if sets.0 & Sets::V == 0 {
                sets.0 |= Sets::S;
                self.seed = seed;
                self.stack.start(self.model, class == Class::Transient, ());
                self.dfs()?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Goes depth first from the state at the bottom of the stack.
    fn dfs(&mut self) -> Run<M::Label, M::Fault> {
        while let Some(found) = self.stack.next(self.model) {
            if self.watch.step_is_due() {
                self.look()?;
            }
            match found {
                Next::Successor { label, transient, marks, fault: None } => self.arrive(label, transient, marks)?,
                Next::Successor { label, fault: Some(fault), .. } => return self.fault(label, fault),
                Next::Broken { label, fault } => return self.fault(Some(label), fault),
                Next::Done(_) => self.leave(),
            }
        }
        ControlFlow::Continue(())
    }

    #[inline]
    fn arrive(&mut self, label: Option<M::Label>, transient: bool, marks: Marks) -> Run<M::Label, M::Fault> {
        let depth = self.stack.depth() + u64::from(label.is_some());
        if self.watch.arrives_too_deep(depth, transient) {
            self.stack.cut();
            return ControlFlow::Continue(());
        }
        let progress = self.stack.marks_with(marks).has(Marks::PROGRESS);
        let Some((class, probe)) = self.stack.look_up(self.model, self.store, transient, marks) else {
            self.stack.descend(self.model, label, marks, ());
            return ControlFlow::Continue(());
        };
        let (inserted, sets) = self.store.payload(probe);
        let old = sets.0;
        match progress {
            false if old & Sets::S != 0 => return self.report(label, class),
            false if old & Sets::V == 0 => {
                sets.0 |= Sets::S;
                self.count(inserted, class)?;
                self.stack.enter(self.model, self.store, label, transient, ());
                let statistics = &mut self.watch.statistics;
                statistics.depth = statistics.depth.max(depth);
                return ControlFlow::Continue(());
            }
            true if old == 0 => {
                sets.0 = Sets::F;
                self.count(inserted, class)?;
                self.stack.recover(self.store);
                self.append(class)?;
            }
            _ => {
                self.watch.statistics.matched += 1;
                // A way back to a state that is known may close a cycle, but none without progress.
                if progress && self.watch.rejects() {
                    self.watch.show_rejected(Rejection::Progress, label, self.stack.position.state());
                }
            }
        }
        self.stack.reject();
        ControlFlow::Continue(())
    }

    /// Counts an arrival at a state that is not in V.
    #[inline]
    fn count(&mut self, inserted: Inserted, class: Class) -> Run<M::Label, M::Fault> {
        if inserted == Inserted::Old {
            self.watch.statistics.matched += 1;
        } else if class == Class::Ordinary {
            self.watch.counts_state()?;
        }
        ControlFlow::Continue(())
    }

    #[inline]
    fn leave(&mut self) {
        let top = self.stack.top_frame();
        if top.is_stored() {
            let class = top.class();
            let probe = self.store.probe_of_state(&self.stack.position, class);
            self.store.payload(probe).1.0 = Sets::V;
        }
        self.stack.pop();
        self.stack.announce_top(self.store);
    }

    /// Appends the state that was just stored to the queue.
    fn append(&mut self, class: Class) -> Run<M::Label, M::Fault> {
        if self.queue.push(self.store, &self.stack.position, class, self.seed) {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(Halt::Stopped(StopReason::Full))
        }
    }

    /// The successor, which is on the stack, closes the cycle.
    #[cold]
    fn report(&mut self, label: Option<M::Label>, class: Class) -> Run<M::Label, M::Fault> {
        let (without_progress, cycle) = self.stack.close_cycle(self.store, label, class);
        let mut stem = self.stem()?;
        stem.extend(without_progress);
        ControlFlow::Break(Halt::Found(Found::Lasso { stem, cycle }))
    }

    #[cold]
    fn fault(&mut self, label: Option<M::Label>, fault: M::Fault) -> Run<M::Label, M::Fault> {
        let mut path = self.stem()?;
        path.extend(self.stack.labels().chain(label));
        ControlFlow::Break(Halt::Found(Found::Fault { path, fault }))
    }

    /// The way to the bottom of the stack.
    fn stem(&mut self) -> Run<M::Label, M::Fault, Vec<M::Label>> {
        let memory_bytes = self.memory_bytes();
        let seeds = self.queue.ancestors(self.seed);
        stem_to(self.model, self.store, &mut NoReduction, &mut self.watch, memory_bytes, &self.queue, &seeds)
    }

    #[cold]
    fn look(&mut self) -> Run<M::Label, M::Fault> {
        self.watch.look(self.memory_bytes(), self.store.is_full())?;
        let Some(wanted) = self.watch.snapshot_request() else { return ControlFlow::Continue(()) };
        let look =
            SearchSnapshot::at(Phase::WithoutProgress).along_many(wanted, self.stack.depth(), self.stack.labels());
        let look = SearchSnapshot {
            from_initial: self.seed == 0,
            stack: self.stack.len() as u64,
            frontier: Some(self.queue.waiting()),
            ..look
        };
        let look = if wanted.whole { look.led_by(self.stem()?) } else { look };
        self.watch.show(look);
        ControlFlow::Continue(())
    }

    fn memory_bytes(&self) -> u64 {
        self.store.memory_bytes() + self.stack.memory_bytes() + self.queue.memory_bytes()
    }
}
