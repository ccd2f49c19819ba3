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
//! Frontier states are kept as the turns that lead to them, in a tree ([`frontier`]).
//!
//! A step is what leads from one ordinary state to the next: an atomic sequence is one step. What is answered is the
//! question *can anything go wrong within so many steps?* The paper's outer loop says that all is explored only if the
//! deepest state lies strictly above the cut-off; here, once the frontier is empty.

mod cycles;
mod frontier;

pub use cycles::depth_bounded_cycles;

use crate::delay_bounded::SHOWN_TURNS_MAX;
use crate::look::{Look, Phase};
use crate::model::{Ending, Model, Next, ProcessSet, Processes};
use crate::observer::{Budget, Settings};
use crate::outcome::{Completeness, Halt, Outcome, Statistics, ViolationKind, Violations};
use crate::position::Position;
use crate::schedule::Turns;
use crate::schedule::turns::{Lister, TurnEnd};
use crate::store::{Class, Store, TreeStore};
use crate::{
    delay_bounded::{DelayObserver, Round},
    store::Inserted,
};
use fabius_base::StopReason;
use frontier::{Frontier, NodeId};
use std::ops::ControlFlow;

pub use frontier::Keep;

/// The turns of so many states on the stack are kept; those of others are listed anew.
const KEPT: usize = 16;

/// How a search in the order of depth is to be run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DepthSettings {
    /// More steps in each round; at least 1.
    pub increment: u32,
    /// At most so many steps; without it, until nothing is left.
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

/// What a round left behind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DepthRound {
    /// Steps allowed.
    pub bound: u32,
    /// States met so far, the frontier included.
    pub states: u64,
    /// States at this depth.
    pub frontier: u64,
    /// How often a state was expanded again, so far.
    pub revisits: u64,
    /// Turns executed only to get back to frontier states, so far.
    pub replayed: u64,
}

/// Result of a search in the order of depth.
#[derive(Clone, PartialEq, Debug)]
pub struct DepthOutcome<Label, Fault> {
    /// Violations and counters.
    pub outcome: Outcome<Label, Fault>,
    /// The rounds that were finished; nothing goes wrong within the bound of the last one but what was found.
    pub rounds: Vec<DepthRound>,
}

/// Searches runs of ever more steps.
pub fn depth_bounded<M, O>(
    model: &mut M,
    observer: &mut O,
    settings: &Settings,
    depth: &DepthSettings,
) -> DepthOutcome<M::Label, M::Fault>
where
    M: Model,
    O: DelayObserver<M::Label, M::Fault>,
{
    let hidden = model.hidden_words();
    let mut search = DepthBounded {
        model: Nobodys(model),
        lister: Lister::new(),
        budget: Budget::new(settings),
        depth: *depth,
        observer,
        store: TreeStore::default(),
        position: Position::new(TreeStore::<Known>::MEMO_PER_WORD, hidden),
        stack: Vec::new(),
        returned: None,
        kept: (0..KEPT).map(|_| Kept { tag: 0, turns: Turns::default() }).collect(),
        tags: 0,
        frontier: Frontier::new(depth.keep),
        from: None,
        start: 0,
        bound: 0,
        revisits: 0,
        rounds: Vec::new(),
        statistics: Statistics::default(),
        violations: Violations::new(settings.stop_at),
    };
    let run = search.run();
    search.look_at_memory();
    let everything = search.frontier.is_empty();
    let mut outcome = search.violations.conclude(run, search.store.exactness(), search.statistics);
    if outcome.completeness == Completeness::Exhaustive && !everything {
        outcome.completeness = Completeness::Stopped(StopReason::Depth);
    }
    DepthOutcome { outcome, rounds: search.rounds }
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
        self.threshold.checked_sub(2).map(i64::from).or((self.threshold == 1).then_some(-1))
    }
}

struct DepthBounded<'a, M: Model, O> {
    model: Nobodys<'a, M>,
    lister: Lister<M::Label>,
    budget: Budget<'a>,
    depth: DepthSettings,
    observer: &'a mut O,
    store: TreeStore<Known>,
    position: Position,
    stack: Vec<Frame>,
    /// What the last call returned.
    returned: Option<i64>,
    kept: Vec<Kept<M>>,
    tags: u64,
    frontier: Frontier,
    /// The frontier state below the stack.
    from: Option<NodeId>,
    /// The depth of the states that this round starts with, and the bound.
    start: u32,
    bound: u32,
    revisits: u64,
    rounds: Vec<DepthRound>,
    statistics: Statistics,
    violations: Violations<M::Label, M::Fault>,
}

struct Kept<M: Model> {
    tag: u64,
    turns: Turns<M::Label, M::Fault>,
}

/// A call of `expand`.
struct Frame {
    /// Says which turns are its own.
    tag: u64,
    /// The turn to look at next; the one before leads to the frame above.
    turn: u32,
    depth: u32,
    /// m of the algorithm.
    most: i64,
    changes: u32,
    /// The state was not expanded before.
    first: bool,
}

impl<M, O> DepthBounded<'_, M, O>
where
    M: Model,
    O: DelayObserver<M::Label, M::Fault>,
{
    fn run(&mut self) -> ControlFlow<Halt> {
        if let Err(fault) = self.model.0.initial(self.position.state_and_successor().1) {
            return self.report(ViolationKind::Fault(fault), None);
        }
        self.position.propose();
        let (_, known) = self.store.entry(&mut self.position, Class::Ordinary);
        let place = self.frontier.add(None, Vec::new());
        *known = Known { threshold: 0, place: place + 1 };
        self.statistics.states = 1;
        self.position.accept();
        self.position.forget();
        loop {
            if self.depth.cut_off.is_some_and(|cut_off| cut_off <= self.bound) || self.frontier.is_empty() {
                return ControlFlow::Continue(());
            }
            let next = self.bound.saturating_add(self.depth.increment.max(1));
            let (from, bound) = (self.bound, self.depth.cut_off.map_or(next, |cut_off| next.min(cut_off)));
            self.bound = bound;
            self.explore_all(from)?;
            self.finish_round()?;
        }
    }

    fn finish_round(&mut self) -> ControlFlow<Halt> {
        let (bound, states, frontier) = (self.bound, self.statistics.states, self.frontier.len());
        let replayed = self.frontier.replayed;
        self.rounds.push(DepthRound { bound, states, frontier, revisits: self.revisits, replayed });
        self.observer.round(&Round { bound, states, frontier }).map_break(Halt::Reason)
    }

    /// Expands every state of the frontier, all of which lie at depth `from`.
    fn explore_all(&mut self, from: u32) -> ControlFlow<Halt> {
        self.start = from;
        let old = self.frontier.take();
        for node in old {
            self.go_to(node)?;
            let (_, known) = self.store.entry(&mut self.position, Class::Ordinary);
            *known = Known { threshold: from + 2, place: 0 };
            self.from = Some(node);
            self.expand(from, true, 0)?;
            self.explore()?;
            self.from = None;
            self.frontier.release(node);
        }
        ControlFlow::Continue(())
    }

    /// Makes a frontier state the position's state: goes back to where the way there branches off, and on from there.
    fn go_to(&mut self, node: NodeId) -> ControlFlow<Halt> {
        let back = self.frontier.leave_for(node);
        self.position.retreat(self.position.log_len() - back);
        self.position.memo_is_right_until(self.position.log_len());
        let mut turns = Turns::default();
        while let Some((child, trace)) = self.frontier.next_towards(node) {
            for turn in trace {
                self.list(&mut turns)?;
                let successor = self.position.state_and_successor().1;
                successor.clear();
                successor.extend_from_slice(turns.target(turn as usize).unwrap_or(&[]));
                self.step_to_proposed();
            }
            self.frontier.arrived(child, self.position.log_len());
        }
        // The state is proposed to itself, so that the store finds it.
        let (state, successor) = self.position.state_and_successor();
        successor.clear();
        successor.extend_from_slice(state);
        self.position.propose();
        ControlFlow::Continue(())
    }

    fn step_to_proposed(&mut self) {
        self.position.propose();
        self.store.prepare(&mut self.position, Class::Ordinary);
        self.position.accept();
        self.position.memo_is_right_until(self.position.log_len());
    }

    fn list(&mut self, turns: &mut Turns<M::Label, M::Fault>) -> ControlFlow<Halt> {
        let full = self.store.is_full();
        let Self { model, lister, budget, statistics, observer, position, .. } = self;
        lister.list(model, position.state(), turns, || {
            if budget.step_is_due() { budget.look(statistics, full, *observer) } else { ControlFlow::Continue(()) }
        })?;
        self.statistics.transient = self.lister.transient;
        ControlFlow::Continue(())
    }

    /// Works until the stack is empty.
    fn explore(&mut self) -> ControlFlow<Halt> {
        while let Some(tag) = self.stack.last().map(|frame| frame.tag) {
            let slot = self.stack.len() % KEPT;
            if self.kept[slot].tag != tag {
                let mut turns = std::mem::take(&mut self.kept[slot].turns);
                self.list(&mut turns)?;
                self.kept[slot] = Kept { tag, turns };
            }
            let Some(frame) = self.stack.last_mut() else { break };
            if let Some(returned) = self.returned.take() {
                frame.most = frame.most.max(returned - 1);
            }
            let (turn, depth, first) = (frame.turn as usize, frame.depth, frame.first);
            if turn == self.kept[slot].turns.len() {
                self.leave();
                continue;
            }
            frame.turn += 1;
            match &self.kept[slot].turns.get(turn).end {
                TurnEnd::State(_) => {
                    let target = self.kept[slot].turns.target(turn).unwrap_or(&[]);
                    let successor = self.position.state_and_successor().1;
                    successor.clear();
                    successor.extend_from_slice(target);
                    self.position.propose();
                    self.visit(depth + 1)?;
                }
                TurnEnd::Fault(fault) if first => {
                    let kind = ViolationKind::Fault(*fault);
                    self.report(kind, Some(turn))?;
                }
                TurnEnd::Stuck(_) if first => self.report(ViolationKind::InvalidEnd, Some(turn))?,
                TurnEnd::Fault(_) | TurnEnd::Stuck(_) => {}
            }
        }
        ControlFlow::Continue(())
    }

    /// `visit` of the state proposed.
    fn visit(&mut self, depth: u32) -> ControlFlow<Halt> {
        let (inserted, known) = self.store.entry(&mut self.position, Class::Ordinary);
        let mut before = *known;
        if let Some(place) = before.place.checked_sub(1)
            && self.frontier.is_old(place)
        {
            // It waits to be expanded in this round.
            before = Known { threshold: self.start + 2, place: 0 };
        }
        if inserted == Inserted::New {
            if self.budget.states_exhausted(self.statistics.states) {
                return ControlFlow::Break(Halt::Reason(StopReason::States));
            }
            self.statistics.states += 1;
        } else {
            self.statistics.matched += 1;
        }
        self.statistics.depth = self.statistics.depth.max(u64::from(depth));
        if let Some(threshold) = before.threshold().filter(|&threshold| threshold <= i64::from(depth)) {
            self.returned = Some(threshold);
            self.position.reject();
            return ControlFlow::Continue(());
        }
        if depth == self.bound {
            if before.place == 0 {
                let trace = self.stack.iter().map(|frame| frame.turn - 1).collect();
                known.place = self.frontier.add(self.from, trace) + 1;
            }
            self.returned = Some(i64::from(depth));
            self.position.reject();
            return ControlFlow::Continue(());
        }
        if before.place != 0 {
            self.frontier.remove(before.place - 1);
        }
        *known = Known { threshold: depth + 2, place: 0 };
        let first = before.threshold == 0;
        self.revisits += u64::from(!first);
        let changes = self.position.accept() as u32;
        self.position.memo_is_right_until(self.position.log_len());
        self.expand(depth, first, changes)
    }

    /// Starts to expand the position's state.
    fn expand(&mut self, depth: u32, first: bool, changes: u32) -> ControlFlow<Halt> {
        let slot = (self.stack.len() + 1) % KEPT;
        self.tags += 1;
        if self.tags.is_multiple_of(256) {
            self.look_at_memory();
            self.show(depth);
        }
        let mut turns = std::mem::take(&mut self.kept[slot].turns);
        self.list(&mut turns)?;
        let ending = turns.ending();
        self.kept[slot] = Kept { tag: self.tags, turns };
        self.returned = None;
        self.stack.push(Frame { tag: self.tags, turn: 0, depth, most: -1, changes, first });
        match ending {
            Ending::InvalidEnd if first => self.report(ViolationKind::InvalidEnd, None),
            _ => ControlFlow::Continue(()),
        }
    }

    /// The end of `expand`.
    fn leave(&mut self) {
        let Some(frame) = self.stack.pop() else { return };
        if self.depth.revisit == Revisit::Threshold {
            let (state, successor) = self.position.state_and_successor();
            successor.clear();
            successor.extend_from_slice(state);
            self.position.propose();
            let (_, known) = self.store.entry(&mut self.position, Class::Ordinary);
            known.threshold = (frame.most + 2) as u32;
            self.returned = Some(frame.most);
        } else {
            self.returned = Some(-1);
        }
        self.position.retreat(frame.changes as usize);
        self.position.memo_is_right_until(self.position.log_len());
    }

    #[cold]
    fn report(&mut self, kind: ViolationKind<M::Fault>, turn: Option<usize>) -> ControlFlow<Halt> {
        self.statistics.violations += 1;
        let turns = &self.kept[self.stack.len() % KEPT].turns;
        let (label, state) = turns.place(turn);
        let key = self.observer.key(&kind, label.as_ref(), state);
        let mut trail = self.from.map_or(Vec::new(), |node| self.frontier.trail(node));
        let below = self.stack.len().saturating_sub(1);
        trail.extend(self.stack[..below].iter().map(|frame| frame.turn - 1));
        trail.extend(turn.map(|turn| turn as u32));
        let model = &mut self.model;
        self.violations.record(key, kind, || path_of(model, &trail))
    }

    /// Shows an observer who wants to see it what the search is at.
    #[cold]
    fn show(&mut self, depth: u32) {
        let Some(wanted) = self.observer.curiosity() else { return };
        let mut trail = self.from.map_or(Vec::new(), |node| self.frontier.trail(node));
        trail.extend(self.stack.iter().map(|frame| frame.turn - 1));
        let look = Look {
            before: u64::from(depth),
            stack: self.stack.len() as u64,
            frontier: Some(self.frontier.len()),
            ..Look::at(Phase::Depth(self.bound))
        };
        let look = if wanted.whole || trail.len() <= SHOWN_TURNS_MAX {
            look.along(wanted, path_of(&mut self.model, &trail).into_iter())
        } else {
            look
        };
        self.observer.shown(look);
    }

    #[cold]
    fn look_at_memory(&mut self) {
        let local = self.stack.capacity() * size_of::<Frame>() + self.frontier.memory_bytes();
        let now = self.store.memory_bytes() + self.position.memory_bytes() + local as u64;
        self.statistics.memory_bytes = self.statistics.memory_bytes.max(now);
    }
}

/// Executes turns from the initial state on; returns their labels.
fn path_of<M: Model>(model: &mut Nobodys<'_, M>, trail: &[u32]) -> Vec<M::Label> {
    let (mut path, mut state, mut turns, mut lister) = (Vec::new(), Vec::new(), Turns::default(), Lister::new());
    if model.0.initial(&mut state).is_err() {
        return path;
    }
    for &turn in trail {
        let _: ControlFlow<()> = lister.list(model, &state, &mut turns, || ControlFlow::Continue(()));
        path.extend_from_slice(turns.labels(turn as usize));
        let Some(target) = turns.target(turn as usize) else { break };
        state = target.to_vec();
    }
    path
}

/// A model whose turns are nobody's.
pub(crate) struct Nobodys<'a, M>(pub(crate) &'a mut M);

impl<M: Model> Model for Nobodys<'_, M> {
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

impl<M: Model> Processes for Nobodys<'_, M> {
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
