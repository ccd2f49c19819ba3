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
//! Transient states are expanded together with the ordinary state they follow, each once per such
//! state: what is atomic stays atomic, and is one step of the path's length.
//!
//! States at the greatest depth allowed are stored, but not looked at.
//!
//! For a path, each state
//! remembers its parent and which of the parent's ordinary successors it is; a path is executed anew.

use crate::model::{Ending, Model, Next};
use crate::observer::{Budget, Observer, Settings};
use crate::outcome::{Halt, Outcome, Statistics, ViolationKind, Violations};
use crate::position::Position;
use crate::snapshot::{Phase, SearchSnapshot};
use crate::state_log::StateLog;
use crate::store::{Class, Inserted, Store};
use fabius_base::StopReason;
use std::collections::HashSet;
use std::ops::ControlFlow;

/// Searches all states that `model` can reach, nearest first.
pub fn breadth_first<M: Model, S: Store, O: Observer<M::Label, M::Fault>>(
    model: &mut M,
    store: &mut S,
    observer: &mut O,
    settings: &Settings,
) -> Outcome<M::Label, M::Fault> {
    let hidden = model.hidden_words();
    let mut search = BreadthFirst {
        model,
        store,
        observer,
        budget: Budget::new(settings),
        position: Position::new(S::MEMO_PER_WORD, hidden),
        expansion: Expansion::new(hidden),
        layer: StateLog::new(hidden),
        expanded: 0,
        next_layer: StateLog::new(hidden),
        origins: Vec::new(),
        statistics: Statistics::default(),
        violations: Violations::new(settings.stop_at),
    };
    let run = search.run();
    search.statistics.memory_bytes = search.statistics.memory_bytes.max(search.memory_bytes());
    search.violations.conclude(run, search.store.exactness(), search.statistics)
}

struct BreadthFirst<'a, M: Model, S, O> {
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
    /// Of each state, by its number.
    origins: Vec<Origin>,
    statistics: Statistics,
    violations: Violations<M::Label, M::Fault>,
}

/// Where a state came from; the initial state is its own parent.
#[derive(Clone, Copy)]
pub(crate) struct Origin {
    /// Number of the parent.
    parent: u32,
    /// Which of the parent's ordinary successors it is, from 1.
    ordinal: u32,
}

impl Origin {
    /// That of the initial state.
    pub(crate) const INITIAL: Self = Self { parent: 0, ordinal: 0 };

    /// That of an ordinary successor of a state, counted from 1.
    pub(crate) fn of(parent: u32, ordinal: u32) -> Self {
        Self { parent, ordinal }
    }
}

impl<M: Model, S: Store, O: Observer<M::Label, M::Fault>> BreadthFirst<'_, M, S, O> {
    fn run(&mut self) -> ControlFlow<Halt> {
        if let Err(fault) = self.model.initial(&mut self.expansion.successor) {
            return self.report(ViolationKind::Fault(fault), None, 0);
        }
        self.arrive(Origin::INITIAL)?;
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

    /// Stores and queues the successor, unless it was stored before.
    fn arrive(&mut self, origin: Origin) -> ControlFlow<Halt> {
        self.position.advance(&self.expansion.successor);
        let inserted = self.store.insert(&mut self.position, Class::Ordinary);
        self.position.forget();
        if inserted == Inserted::Old {
            self.statistics.matched += 1;
            return ControlFlow::Continue(());
        }
        if self.budget.states_exhausted(self.statistics.states) {
            return ControlFlow::Break(Halt::Stopped(StopReason::States));
        }
        if self.origins.len() == u32::MAX as usize {
            return ControlFlow::Break(Halt::Stopped(StopReason::Full));
        }
        self.statistics.states += 1;
        self.origins.push(origin);
        self.next_layer.push(self.store, &self.position, Class::Ordinary);
        ControlFlow::Continue(())
    }

    /// Reports a violation: of the transition `label` from the current state of the expansion, or of
    /// that state. The expansion is that of the state with this number.
    #[cold]
    fn report(&mut self, kind: ViolationKind<M::Fault>, label: Option<M::Label>, number: u32) -> ControlFlow<Halt> {
        self.statistics.violations += 1;
        let key = self.observer.key(&kind, label.as_ref(), self.expansion.state());
        let (model, expansion, origins) = (&mut *self.model, &self.expansion, &self.origins);
        self.violations.record(key, kind, || {
            let mut path = path_to(model, origins, number);
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
            let path = path_to(self.model, &self.origins, number);
            let frontier = (self.layer.len() - self.expanded + self.next_layer.len()) as u64;
            let look = SearchSnapshot::at(Phase::BreadthFirst).along(wanted, path.into_iter());
            self.observer.on_snapshot(SearchSnapshot { frontier: Some(frontier), ..look });
        }
        ControlFlow::Continue(())
    }

    fn memory_bytes(&self) -> u64 {
        let layers = self.layer.memory_bytes() + self.next_layer.memory_bytes();
        let local = size_of_val::<[Origin]>(&self.origins) + self.expansion.memory_bytes();
        self.store.memory_bytes() + self.position.memory_bytes() + layers + local as u64
    }
}

/// Executes the path to the state with this number, and returns its labels.
pub(crate) fn path_to<M: Model>(model: &mut M, origins: &[Origin], number: u32) -> Vec<M::Label> {
    let origin = |number: u32| origins.get(number as usize).copied().filter(|origin| origin.ordinal != 0);
    let mut ordinals: Vec<u32> =
        std::iter::successors(origin(number), |it| origin(it.parent)).map(|it| it.ordinal).collect();
    let mut path = Vec::new();
    let mut state = Vec::new();
    let mut expansion = Expansion::new(model.hidden_words());
    if model.initial(&mut state).is_err() {
        return path;
    }
    while let Some(ordinal) = ordinals.pop() {
        let mut ordinary_left = ordinal;
        expansion.begin(model, &state);
        while let Some(found) = expansion.next(model) {
            match found {
                Next::Successor { label, transient: true, .. } => expansion.pass(label),
                Next::Successor { label, transient: false, .. } => {
                    ordinary_left -= 1;
                    if ordinary_left == 0 {
                        expansion.path_to_current(&mut path);
                        path.extend(label);
                        std::mem::swap(&mut state, &mut expansion.successor);
                        break;
                    }
                }
                Next::Broken { .. } => {}
                Next::Done(_) => expansion.turn(model),
            }
        }
    }
    path
}

/// An ordinary state and the transient ones that follow it, listed nearest first.
pub(crate) struct Expansion<C, L> {
    hidden: usize,
    /// Words of all members, one after another.
    words: Vec<u32>,
    members: Vec<Member<L>>,
    /// The member whose successors are being listed, and how far they are; `None` at the end.
    current: usize,
    cursor: Option<C>,
    /// Visible words of the transient members.
    seen: HashSet<Box<[u32]>>,
    /// The successor found last.
    pub(crate) successor: Vec<u32>,
}

struct Member<L> {
    /// Where its words end; they start where those of the member before end.
    end: usize,
    parent: usize,
    label: Option<L>,
}

impl<C: Copy, L: Copy> Expansion<C, L> {
    pub(crate) fn new(hidden: usize) -> Self {
        Self {
            hidden,
            words: Vec::new(),
            members: Vec::new(),
            current: 0,
            cursor: None,
            seen: HashSet::new(),
            successor: Vec::new(),
        }
    }

    /// Starts with an ordinary state.
    pub(crate) fn begin<M: Model<Cursor = C, Label = L>>(&mut self, model: &mut M, state: &[u32]) {
        self.words.clear();
        self.members.clear();
        self.seen.clear();
        self.words.extend_from_slice(state);
        self.members.push(Member { end: state.len(), parent: 0, label: None });
        self.current = 0;
        self.cursor = Some(model.begin(state));
    }

    /// What the model finds next, in the current member; `None` once all members are done.
    pub(crate) fn next<M: Model<Cursor = C, Label = L>>(&mut self, model: &mut M) -> Option<Next<L, M::Fault>> {
        let mut cursor = self.cursor?;
        let start = self.current.checked_sub(1).map_or(0, |before| self.members[before].end);
        let state = &self.words[start..self.members[self.current].end];
        let found = model.next(state, &mut cursor, &mut self.successor);
        self.cursor = Some(cursor);
        Some(found)
    }

    /// Makes the successor, which is transient, a member.
    pub(crate) fn pass(&mut self, label: Option<L>) {
        let visible = self.successor.len().saturating_sub(self.hidden);
        if self.seen.insert(self.successor[..visible].into()) {
            self.words.extend_from_slice(&self.successor);
            self.members.push(Member { end: self.words.len(), parent: self.current, label });
        }
    }

    /// Turns to the next member.
    pub(crate) fn turn<M: Model<Cursor = C, Label = L>>(&mut self, model: &mut M) {
        self.cursor = None;
        if self.current + 1 < self.members.len() {
            self.current += 1;
            self.cursor = Some(model.begin(self.state()));
        }
    }

    /// The current member.
    pub(crate) fn state(&self) -> &[u32] {
        let start = self.current.checked_sub(1).map_or(0, |before| self.members[before].end);
        self.members.get(self.current).map_or(&[], |member| &self.words[start..member.end])
    }

    /// Appends the labels from the ordinary state to the current member.
    pub(crate) fn path_to_current(&self, path: &mut Vec<L>) {
        let first = path.len();
        let mut member = self.current;
        while member != 0 {
            path.extend(self.members[member].label);
            member = self.members[member].parent;
        }
        path[first..].reverse();
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        size_of_val::<[u32]>(&self.words) * 2 + size_of_val::<[Member<L>]>(&self.members)
    }
}
