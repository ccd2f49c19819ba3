//! Breadth-first search: the first violation found has a shortest path, counted in stored states
//! passed.
//!
//! ```text
//! layer := {initial}
//! while layer is not empty:
//!   for each s in layer: for each ordinary t reached from s through transient states only:
//!     if t ∉ stored: stored := stored ∪ {t};  next layer := next layer ∪ {t}
//!   layer := next layer
//! ```
//!
//! States at the greatest depth allowed are stored, but not looked at.
//!
//! How transient states are listed is told in [`crate::expansion`], how a path is found in [`crate::origins`].

use crate::arrivals::Arrivals;
use crate::expansion::Expansion;
use crate::model::{Ending, Model, Next};
use crate::observer::{Budget, Observer, Settings, state_words};
use crate::origins::{Origin, Origins};
use crate::outcome::{Halt, Outcome, Statistics, ViolationKind, Violations};
use crate::position::Position;
use crate::snapshot::{Phase, SearchSnapshot};
use crate::state_log::StateLog;
use crate::store::{Inserted, Store};
use fabius_base::StopReason;
use std::ops::ControlFlow;

/// Searches all states that `model` can reach, nearest first.
pub fn breadth_first<M: Model, S: Store, O: Observer<M::Label, M::Fault>>(
    model: &mut M,
    store: &mut S,
    observer: &mut O,
    settings: &Settings,
) -> Outcome<M::Label, M::Fault> {
    let hidden = model.hidden_words();
    let budget = Budget::new(settings, state_words(model));
    let mut search = BreadthFirst {
        model,
        store,
        observer,
        budget,
        position: Position::new(S::MEMO_PER_WORD, hidden),
        expansion: Expansion::new(hidden),
        layer: StateLog::new(hidden),
        expanded: 0,
        next_layer: StateLog::new(hidden),
        arrivals: Arrivals::new(),
        origins: Origins::default(),
        statistics: Statistics::default(),
        violations: Violations::new(settings.stop_at),
    };
    let run = search.run();
    search.statistics.memory_bytes = search.statistics.memory_bytes.max(search.memory_bytes());
    search.violations.conclude(run, search.store.exactness(), search.statistics)
}

struct BreadthFirst<'a, M: Model, S: Store, O> {
    model: &'a mut M,
    store: &'a mut S,
    observer: &'a mut O,
    budget: Budget<'a>,
    /// The state inserted last; the next one is not very different.
    position: Position,
    expansion: Expansion<M::Cursor, M::Label>,
    layer: StateLog,
    /// States of this layer that were expanded.
    expanded: usize,
    next_layer: StateLog,
    /// Successors that will be in the next layer if they are new.
    arrivals: Arrivals<S::Probe, Origin>,
    origins: Origins,
    statistics: Statistics,
    violations: Violations<M::Label, M::Fault>,
}

impl<M: Model, S: Store, O: Observer<M::Label, M::Fault>> BreadthFirst<'_, M, S, O> {
    fn run(&mut self) -> ControlFlow<Halt> {
        if let Err(fault) = self.model.initial(&mut self.expansion.successor) {
            return self.report(ViolationKind::Fault(fault), None, 0);
        }
        self.arrive(Origin::INITIAL)?;
        self.settle()?;
        let mut number = 0;
        let mut state = Vec::new();
        for depth in 0.. {
            std::mem::swap(&mut self.layer, &mut self.next_layer);
            self.next_layer.clear();
            self.expanded = 0;
            if self.layer.is_empty() {
                break;
            }
            self.statistics.depth = depth;
            if self.budget.too_deep(depth) {
                self.statistics.cut += self.layer.len() as u64;
                break;
            }
            while self.expanded < self.layer.len() {
                self.layer.recall(self.store, self.expanded, &mut state);
                self.expanded += 1;
                self.expand(&state, number)?;
                number += 1;
            }
            self.settle()?;
        }
        ControlFlow::Continue(())
    }

    /// Arrives at every ordinary successor of the state with this number.
    fn expand(&mut self, state: &[u32], number: u32) -> ControlFlow<Halt> {
        self.expansion.begin(self.model, state);
        let mut ordinal = 0;
        while let Some(found) = self.expansion.next(self.model) {
            if self.budget.step_is_due() {
                self.look(number)?;
            }
            match found {
                Next::Successor { label, transient, fault, .. } => {
                    if let Some(fault) = fault {
                        self.report(ViolationKind::Fault(fault), label, number)?;
                    }
                    if transient {
                        self.statistics.transient += 1;
                        self.expansion.pass(label);
                    } else {
                        ordinal += 1;
                        self.arrive(Origin::of(number, ordinal))?;
                    }
                }
                Next::Broken { label, fault } => self.report(ViolationKind::Fault(fault), Some(label), number)?,
                Next::Done(ending) => {
                    if ending == Ending::InvalidEnd {
                        self.report(ViolationKind::InvalidEnd, None, number)?;
                    }
                    self.expansion.turn(self.model);
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// Looks up the successor. It is stored and queued in its turn, unless it was stored before.
    #[inline]
    fn arrive(&mut self, origin: Origin) -> ControlFlow<Halt> {
        if self.arrivals.is_full() {
            self.store_oldest()?;
        }
        self.position.advance(&self.expansion.successor);
        self.arrivals.look_up(self.store, &mut self.position, origin);
        self.position.forget();
        ControlFlow::Continue(())
    }

    /// Stores and queues all that were looked up.
    fn settle(&mut self) -> ControlFlow<Halt> {
        while self.store_oldest()? {}
        ControlFlow::Continue(())
    }

    /// Stores and queues the state that was looked up first; false if there is none.
    #[inline]
    fn store_oldest(&mut self) -> ControlFlow<Halt, bool> {
        let Some((inserted, arrival)) = self.arrivals.commit(self.store) else { return ControlFlow::Continue(false) };
        if inserted == Inserted::Old {
            self.statistics.matched += 1;
            return ControlFlow::Continue(true);
        }
        if self.budget.states_exhausted(self.statistics.states) {
            return ControlFlow::Break(Halt::Stopped(StopReason::States));
        }
        if self.origins.next_number().is_none() {
            return ControlFlow::Break(Halt::Stopped(StopReason::Full));
        }
        self.statistics.states += 1;
        self.origins.push(arrival.tag);
        self.next_layer.push_words(&arrival.words);
        ControlFlow::Continue(true)
    }

    /// Reports a violation: of the transition `label` from the current state of the expansion, or of
    /// that state. The expansion is that of the state with this number.
    #[cold]
    fn report(&mut self, kind: ViolationKind<M::Fault>, label: Option<M::Label>, number: u32) -> ControlFlow<Halt> {
        self.settle()?;
        self.statistics.violations += 1;
        let key = self.observer.key(&kind, label.as_ref(), self.expansion.state());
        let (model, expansion, origins) = (&mut *self.model, &self.expansion, &self.origins);
        self.violations.record(key, kind, || {
            let mut path = origins.path_to(model, number);
            expansion.path_to_current(&mut path);
            path.extend(label);
            (path, Vec::new())
        })
    }

    #[cold]
    fn look(&mut self, number: u32) -> ControlFlow<Halt> {
        let now = self.memory_bytes();
        self.statistics.memory_bytes = self.statistics.memory_bytes.max(now);
        self.budget.look(&self.statistics, self.store.is_full(), self.observer).map_break(Halt::Stopped)?;
        if let Some(wanted) = self.observer.snapshot_request() {
            let path = self.origins.path_to(self.model, number);
            let frontier = (self.layer.len() - self.expanded + self.next_layer.len()) as u64;
            let look = SearchSnapshot::at(Phase::BreadthFirst).along(wanted, path.into_iter());
            self.observer.on_snapshot(SearchSnapshot { frontier: Some(frontier), ..look });
        }
        ControlFlow::Continue(())
    }

    fn memory_bytes(&self) -> u64 {
        let layers = self.layer.memory_bytes() + self.next_layer.memory_bytes();
        let local = self.origins.memory_bytes() + self.expansion.memory_bytes();
        self.store.memory_bytes() + self.position.memory_bytes() + layers + local as u64
    }
}
