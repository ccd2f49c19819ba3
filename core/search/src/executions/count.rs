//! Depth-first through the graph: the numbers of a node are the sums of those behind its ways, known once it is left.

use super::expand::{End, Walker, Way};
use super::numbers::{Nodes, State, Waiting};
use super::{Graph, Independence, Numbers, Settings, SleepSets};
use crate::store::Payloads;
use fabius_base::StopReason;
use rustc_hash::FxHashSet;

/// Ways from one look at the limits to the next.
const WAYS_PER_LOOK: u32 = 1024;

/// How an exploration ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ended<Label> {
    /// Everything was explored: the numbers are exact.
    Complete,
    /// There is an infinite execution.
    Cycle(Cycle<Label>),
    /// A step cannot be computed, and [`Independence::ends_executions`] did not say so before.
    Broken(Label),
    /// A step has no name.
    Nameless,
    /// It was stopped: there are at least as many executions as the numbers say.
    Stopped(StopReason),
}

/// An infinite execution: a path, and how many of its steps come before its cycle.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cycle<Label> {
    /// The steps.
    pub path: Vec<Label>,
    /// Steps before the cycle.
    pub start: usize,
}

/// What an exploration took.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Statistics {
    /// Nodes, transient ones included.
    pub nodes: u64,
    /// Ways from one node to the next.
    pub ways: u64,
    /// States in which executions end.
    pub outcomes: u64,
    /// Memory in use at the end, in bytes.
    pub memory_bytes: u64,
}

/// What an exploration found.
#[derive(Debug)]
pub struct Explored<Label, S> {
    /// The graph, complete if [`Ended::Complete`].
    pub graph: Graph<S>,
    /// How it ended.
    pub ended: Ended<Label>,
    /// What it took.
    pub statistics: Statistics,
}

/// Explores the graph of a model with an empty store.
pub fn explore<M: Independence, S: Payloads<u32>>(
    model: &mut M,
    mut store: S,
    settings: &Settings,
) -> Explored<M::Label, S> {
    let mut sets = SleepSets::default();
    let mut statistics = Statistics { outcomes: 1, ..Statistics::default() };
    let (nodes, root, ended) = match Walker::new(model, (&mut store, &mut sets), settings.rules()) {
        Err(_) => (Nodes::default(), Numbers::one(End::Broken), Ended::Complete),
        Ok(walker) => {
            let mut counter = Counter::new(walker, settings);
            let ended = counter.run();
            let root = counter.conclude();
            statistics = counter.statistics;
            (counter.nodes, root, ended)
        }
    };
    Explored { graph: Graph { store, sets, nodes, root, rules: settings.rules() }, ended, statistics }
}

/// A node on the stack.
#[derive(Clone, Copy)]
struct Open {
    node: u32,
    /// The way that leads on is faulty.
    fails: bool,
    /// Executions were met behind ways that were listed before.
    has_sum: bool,
}

struct Counter<'a, M: Independence, S> {
    walker: Walker<'a, M, S>,
    settings: &'a Settings,
    nodes: Nodes,
    stack: Vec<Open>,
    /// The executions met behind the present node.
    sum: Numbers,
    /// Those met behind the nodes before it on the stack, where there are some.
    sums: Waiting,
    /// The numbers of the first node.
    root: Option<Numbers>,
    /// States in which an execution ended with a step that cannot be computed; and those in which one ended otherwise, if not
    /// all that distinguishes nodes distinguishes these ([`Independence::write_outcome`]).
    ends: FxHashSet<Vec<u32>>,
    outcome: Vec<u32>,
    statistics: Statistics,
    ways_left: u32,
}

impl<'a, M: Independence, S: Payloads<u32>> Counter<'a, M, S> {
    fn new(walker: Walker<'a, M, S>, settings: &'a Settings) -> Self {
        Self {
            walker,
            settings,
            nodes: Nodes::default(),
            stack: Vec::new(),
            sum: Numbers::default(),
            sums: Waiting::default(),
            root: None,
            ends: FxHashSet::default(),
            outcome: Vec::new(),
            statistics: Statistics::default(),
            ways_left: 0,
        }
    }

    fn run(&mut self) -> Ended<M::Label> {
        let Some(first) = self.nodes.add() else { return Ended::Stopped(StopReason::Full) };
        *self.walker.payload_of_proposed(false) = first;
        self.enter(None, first, false);
        while !self.stack.is_empty() {
            if let Some(reason) = self.look() {
                return Ended::Stopped(reason);
            }
            match self.walker.next_way() {
                Way::Next { label, fails, transient } => {
                    if let Some(ended) = self.arrive(label, fails, transient) {
                        return ended;
                    }
                }
                Way::Broken { label, .. } => {
                    if !self.settings.all_interleavings && !self.walker.model.ends_executions(&label) {
                        return Ended::Broken(label);
                    }
                    self.sum.add(&Numbers::one(End::Broken));
                    self.note_end(true);
                }
                Way::Done => {
                    if !self.leave() {
                        return Ended::Stopped(StopReason::Full);
                    }
                }
                Way::End(end) => {
                    if end != End::Cut {
                        self.note_end(false);
                    }
                    self.sum = Numbers::one(end);
                    if !self.leave() {
                        return Ended::Stopped(StopReason::Full);
                    }
                }
                Way::Nameless => return Ended::Nameless,
                Way::Full => return Ended::Stopped(StopReason::Full),
            }
        }
        Ended::Complete
    }

    fn enter(&mut self, label: Option<M::Label>, node: u32, transient: bool) {
        self.walker.enter(label, transient);
        self.stack.push(Open { node, fails: false, has_sum: false });
        self.statistics.nodes += 1;
    }

    /// Goes to the next node, or takes its numbers if they are known.
    #[inline]
    fn arrive(&mut self, label: Option<M::Label>, fails: bool, transient: bool) -> Option<Ended<M::Label>> {
        self.statistics.ways += 1;
        let number = self.walker.payload_of_proposed(transient);
        match self.nodes.state(*number) {
            None => {
                let Some(node) = self.nodes.add() else { return Some(Ended::Stopped(StopReason::Full)) };
                *number = node;
                if let Some(open) = self.stack.last_mut() {
                    open.fails = fails;
                    open.has_sum = self.sum.all != 0;
                    if open.has_sum {
                        self.sums.push(&self.sum);
                    }
                }
                self.sum = Numbers::default();
                self.enter(label, node, transient);
                None
            }
            Some(State::OnStack) => Some(Ended::Cycle(self.cycle(label, transient))),
            Some(State::Known(numbers)) => {
                self.walker.position.reject();
                self.sum.add(&numbers.after(fails));
                None
            }
        }
    }

    /// Leaves the present node, all of whose executions were met; false if there is no room for their numbers.
    #[inline]
    fn leave(&mut self) -> bool {
        let Some(Open { node, .. }) = self.stack.last().copied() else { return false };
        let numbers = self.sum;
        if !self.nodes.set(node, &numbers) {
            return false;
        }
        self.stack.pop();
        self.walker.leave();
        self.return_with(&numbers);
        true
    }

    /// Goes on with the node that is now the last one of the stack; `numbers` are of those behind the way that led on from it.
    #[inline]
    fn return_with(&mut self, numbers: &Numbers) {
        let Some(open) = self.stack.last() else {
            self.root = Some(*numbers);
            return;
        };
        self.sum = if open.has_sum { self.sums.pop() } else { Numbers::default() };
        self.sum.add(&numbers.after(open.fails));
    }

    /// Notes that an execution ends in the present state; `broken` if some step there cannot be computed: then the state may
    /// have other nodes, too.
    fn note_end(&mut self, broken: bool) {
        if self.walker.write_outcome(&mut self.outcome) {
            if !self.ends.contains(&self.outcome) {
                self.ends.insert(self.outcome.clone());
            }
        } else if !broken {
            self.statistics.outcomes += 1;
        } else {
            let state = self.walker.state();
            let visible = &state[..state.len() - self.walker.model.hidden_words()];
            if !self.ends.contains(visible) {
                self.ends.insert(visible.to_vec());
            }
        }
    }

    /// The path to the present node and the way that leads back to a node on it.
    fn cycle(&mut self, label: Option<M::Label>, transient: bool) -> Cycle<M::Label> {
        let target = self.walker.position.visible().to_vec();
        self.walker.position.reject();
        let labels = |walker: &Walker<'a, M, S>| walker.frames.iter().filter_map(|frame| frame.label).collect();
        let mut path: Vec<M::Label> = labels(&self.walker);
        path.extend(label);
        while let Some(frame) = self.walker.frames.last() {
            if frame.transient == transient && self.walker.position.visible_before() == target {
                break;
            }
            self.walker.leave();
        }
        let before: Vec<M::Label> = labels(&self.walker);
        Cycle { path, start: before.len() }
    }

    /// Compares what was used with the limits, now and then.
    #[inline]
    fn look(&mut self) -> Option<StopReason> {
        if self.settings.limits.states_max.is_some_and(|max| max < self.statistics.nodes) {
            return Some(StopReason::States);
        }
        if let Some(left) = self.ways_left.checked_sub(1) {
            self.ways_left = left;
            return None;
        }
        self.ways_left = WAYS_PER_LOOK;
        let memory_bytes_max = self.settings.limits.memory_bytes_max.unwrap_or(u64::MAX);
        match self.settings.cancel.requested() {
            Some(reason) => Some(reason),
            None if self.walker.store.is_full() => Some(StopReason::Full),
            None if memory_bytes_max < self.memory_bytes() => Some(StopReason::Memory),
            None => None,
        }
    }

    fn memory_bytes(&self) -> u64 {
        let ends: usize = self.ends.iter().map(|state| 64 + state.len() * size_of::<u32>()).sum();
        let stack = self.stack.capacity() * size_of::<Open>() + ends;
        let numbers = self.nodes.memory_bytes() + self.sums.memory_bytes();
        self.walker.store.memory_bytes() + self.walker.memory_bytes() + numbers + stack as u64
    }

    /// The numbers of the first node; if it was not left, of the executions met behind it.
    fn conclude(&mut self) -> Numbers {
        self.statistics.memory_bytes = self.memory_bytes();
        self.statistics.outcomes += self.ends.len() as u64;
        while self.root.is_none() && self.stack.pop().is_some() {
            let numbers = self.sum;
            self.return_with(&numbers);
        }
        self.root.unwrap_or_default()
    }
}

impl Numbers {
    /// A single execution that ends like this.
    pub(super) fn one(end: End) -> Self {
        let is = |wanted: End| u128::from(end == wanted);
        Self {
            all: 1,
            failing: is(End::Broken),
            stuck: is(End::Stuck),
            waiting: is(End::Waiting),
            cut: is(End::Cut),
            ok: is(End::Valid),
        }
    }
}
