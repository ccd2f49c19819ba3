//! Depth-first through the graph: the numbers of a node are the sums of those behind its ways, known once it is left.

use super::expand::{End, Walker, Way};
use super::{Graph, Independence, KNOWN, Numbers, Settings, SleepSets, Table};
use crate::store::Payloads;
use fabius_base::StopReason;
use std::collections::HashSet;

/// The node is on the stack; 0 says that it was not met yet, more than this that its numbers are known.
const ON_STACK: u32 = 1;
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
    let (table, root, ended) = match Walker::new(model, (&mut store, &mut sets), settings.rules()) {
        Err(_) => (Table::default(), Numbers::one(End::Broken), Ended::Complete),
        Ok(walker) => {
            let mut counter = Counter::new(walker, settings);
            let ended = counter.run();
            let root = counter.conclude();
            statistics = counter.statistics;
            (counter.table, root, ended)
        }
    };
    Explored { graph: Graph { store, sets, table, root, rules: settings.rules() }, ended, statistics }
}

/// What is known of a node on the stack.
#[derive(Default)]
struct Sum {
    numbers: Numbers,
    /// The way that leads on is faulty.
    fails: bool,
}

struct Counter<'a, M: Independence, S> {
    walker: Walker<'a, M, S>,
    settings: &'a Settings,
    table: Table,
    sums: Vec<Sum>,
    /// The numbers of the first node.
    root: Option<Numbers>,
    /// States in which an execution ended with a step that cannot be computed; and those in which one ended otherwise, if not
    /// all that distinguishes nodes distinguishes these ([`Independence::write_outcome`]).
    ends: HashSet<Vec<u32>>,
    outcome: Vec<u32>,
    statistics: Statistics,
    ways_left: u32,
}

impl<'a, M: Independence, S: Payloads<u32>> Counter<'a, M, S> {
    fn new(walker: Walker<'a, M, S>, settings: &'a Settings) -> Self {
        Self {
            walker,
            settings,
            table: Table::default(),
            sums: Vec::new(),
            root: None,
            ends: HashSet::new(),
            outcome: Vec::new(),
            statistics: Statistics::default(),
            ways_left: 0,
        }
    }

    fn run(&mut self) -> Ended<M::Label> {
        *self.walker.payload_of_proposed(false) = ON_STACK;
        self.enter(None, false);
        while !self.sums.is_empty() {
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
                    self.add(&Numbers::one(End::Broken), false);
                    self.note_end(true);
                }
                Way::Done => {
                    let numbers = self.sums.last().map_or_else(Numbers::default, |sum| sum.numbers);
                    if !self.leave(numbers) {
                        return Ended::Stopped(StopReason::Full);
                    }
                }
                Way::End(end) => {
                    if end != End::Cut {
                        self.note_end(false);
                    }
                    if !self.leave(Numbers::one(end)) {
                        return Ended::Stopped(StopReason::Full);
                    }
                }
                Way::Nameless => return Ended::Nameless,
                Way::Full => return Ended::Stopped(StopReason::Full),
            }
        }
        Ended::Complete
    }

    fn enter(&mut self, label: Option<M::Label>, transient: bool) {
        self.walker.enter(label, transient);
        self.sums.push(Sum::default());
        self.statistics.nodes += 1;
    }

    /// Goes to the next node, or takes its numbers if they are known.
    #[inline]
    fn arrive(&mut self, label: Option<M::Label>, fails: bool, transient: bool) -> Option<Ended<M::Label>> {
        self.statistics.ways += 1;
        let payload = self.walker.payload_of_proposed(transient);
        match *payload {
            0 => {
                *payload = ON_STACK;
                if let Some(sum) = self.sums.last_mut() {
                    sum.fails = fails;
                }
                self.enter(label, transient);
                None
            }
            ON_STACK => Some(Ended::Cycle(self.cycle(label, transient))),
            known => {
                let numbers = *self.table.row(known - KNOWN);
                self.walker.position.reject();
                self.add(&numbers, fails);
                None
            }
        }
    }

    #[inline]
    fn add(&mut self, numbers: &Numbers, fails: bool) {
        if let Some(sum) = self.sums.last_mut() {
            sum.numbers.add(&numbers.after(fails));
        }
    }

    /// Leaves the present node, whose numbers are known now; false if there is no room for them.
    #[inline]
    fn leave(&mut self, numbers: Numbers) -> bool {
        let Some(index) = self.table.index_of(&numbers) else { return false };
        let transient = self.walker.frames.last().is_some_and(|frame| frame.transient);
        *self.walker.payload_of_top(transient) = index + KNOWN;
        self.walker.leave();
        self.sums.pop();
        match self.sums.last_mut() {
            Some(sum) => sum.numbers.add(&numbers.after(sum.fails)),
            None => self.root = Some(numbers),
        }
        true
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
        let sums = self.sums.capacity() * size_of::<Sum>() + ends;
        self.walker.store.memory_bytes() + self.walker.memory_bytes() + self.table.memory_bytes() + sums as u64
    }

    /// The numbers of the first node; if it was not left, of the executions met behind it.
    fn conclude(&mut self) -> Numbers {
        self.statistics.memory_bytes = self.memory_bytes();
        self.statistics.outcomes += self.ends.len() as u64;
        if let Some(root) = self.root {
            return root;
        }
        let mut behind = Numbers::default();
        while let Some(sum) = self.sums.pop() {
            let mut numbers = sum.numbers;
            numbers.add(&behind.after(sum.fails));
            behind = numbers;
        }
        behind
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
