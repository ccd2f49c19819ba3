//! Shortest lassos: among all runs that a search for cycles looks for, one with the fewest steps before its cycle and
//! in it together.
//!
//! The states near the initial one are listed breadth first, with all transitions between them. For each state of a
//! strongly connected part, the nearest first, a shortest cycle through it is looked for, breadth first again: over states
//! together with what is known of the way so far (was it accepting, who moved, who could have). What was found bounds what
//! is still of interest; once everything nearer was looked at, nothing shorter exists. That is tried with few
//! states first, then with more.
//!
//! A step is a transition that a process takes. What else moves (a claim, a change without label) adds nothing to the
//! length.

use super::outcome::{Fairness, Found, Goal, Run};
use super::watch::Watch;
use crate::model::{Marks, Next, ProcessSet, Processes};
use crate::numbered_states::NumberedStates;
use crate::observer::{Observer, Settings};
use crate::outcome::Halt;
use crate::store::{Class, Store};
use fabius_base::StopReason;
use std::collections::{HashMap, VecDeque};
use std::ops::ControlFlow;

/// Cycles are looked for once this many states are listed, …
const STATES_FIRST: usize = 1 << 9;
/// … and each time that there are this many times more.
const STATES_FACTOR: usize = 4;
/// This many states on ways that may become cycles are as much work as one transition of the model.
const PLACES_PER_TRANSITION: u64 = 8;
/// States are listed until this part of the work is left: it is for cycles.
const CYCLES_SHARE: u64 = 4;
/// Processes with higher numbers are not followed: fair cycles are left alone where there are such.
const PROCESSES_MAX: usize = 32;

/// What came of looking for a run with fewer steps.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shortest<Label, Fault> {
    /// One that has fewer than the bound; `None` if none was found.
    pub found: Option<Found<Label, Fault>>,
    /// Whether it is certain that no run has fewer steps than the one found, or than the bound if none was.
    pub proved: bool,
    /// How much work that was, in transitions of the model.
    pub work: u64,
}

/// Looks for a run with a cycle, or up to a faulty transition, that has as few steps as possible, and fewer than `bound`.
///
/// The processes in `resting` do not move: there are fewer runs without them, and a short one is found sooner. That
/// proves nothing of runs in which they do.
///
/// About `work_max` transitions of the model are listed at most: whatever comes of it does not depend on time.
pub fn shortest<M, O>(
    model: &mut M,
    observer: &mut O,
    settings: &Settings,
    (goal, fairness): (Goal, Fairness),
    resting: &ProcessSet,
    (bound, work_max): (u64, u64),
) -> Shortest<M::Label, M::Fault>
where
    M: Processes,
    O: Observer<M::Label, M::Fault>,
{
    let graph = Graph::new(model.hidden_words());
    let (watch, open) = (Watch::new(observer, settings), VecDeque::new());
    let mut search = Search {
        model,
        watch,
        goal,
        fairness,
        resting,
        graph,
        open,
        work_max,
        transitions: 0,
        places: 0,
        best: bound,
        found: None,
    };
    let proved = matches!(search.run(), ControlFlow::Continue(true)) && resting.is_empty();
    let work = search.work();
    Shortest { found: search.found, proved, work }
}

/// A state.
struct Node {
    /// Fewest steps from the initial state, as far as known.
    distance: u64,
    /// The last transition of a way with so few steps: whose it is, and its number.
    parent: Option<(u32, u32)>,
    transient: bool,
    /// Its transitions, once they are listed.
    edges: Option<(u32, u32)>,
    /// The processes that a fair scheduler may not neglect, one bit each; 0 where nobody asks.
    enabled: u32,
    /// How many processes there are.
    processes: u8,
}

/// A transition.
#[derive(Clone, Copy)]
struct Edge<L> {
    target: u32,
    label: Option<L>,
    marks: Marks,
    /// The processes that take part, one bit each.
    movers: u32,
}

impl<L> Edge<L> {
    /// How many steps it is.
    fn steps(&self) -> u64 {
        u64::from(self.movers != 0)
    }
}

/// The states listed so far.
struct Graph<L> {
    states: NumberedStates,
    nodes: Vec<Node>,
    edges: Vec<Edge<L>>,
}

struct Search<'a, M: Processes, O> {
    model: &'a mut M,
    watch: Watch<'a, O>,
    goal: Goal,
    fairness: Fairness,
    /// These processes do not move.
    resting: &'a ProcessSet,
    graph: Graph<M::Label>,
    /// States whose transitions are still to be listed, the nearest first.
    open: VecDeque<u32>,
    work_max: u64,
    /// Transitions of the model that were listed.
    transitions: u64,
    /// Places that were looked at.
    places: u64,
    /// Steps of the shortest run that is known.
    best: u64,
    found: Option<Found<M::Label, M::Fault>>,
}

/// What is known of a way that may become a cycle.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct History {
    accepted: bool,
    /// It went through a state that is not transient.
    ordinary: bool,
    moved: u32,
    /// Weak fairness: who was enabled all the time. Strong: who was at some time.
    able: u32,
    /// It is a cycle that counts.
    closed: bool,
}

/// How far the states are listed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Listed {
    /// All that are near enough to matter.
    All,
    /// As many as were asked for.
    Enough,
    /// As many as may be.
    Most,
}

/// The labels of a cycle, and how many steps it has.
type Round<L> = (Vec<L>, u64);

/// A state on a way that may become a cycle.
struct Place {
    node: u32,
    history: History,
    steps: u64,
    /// The place before, and the transition from there.
    parent: (u32, u32),
}

impl<M: Processes, O: Observer<M::Label, M::Fault>> Search<'_, M, O> {
    /// Lists states and looks for cycles by turns; whether the best that was found is proved to be that.
    fn run(&mut self) -> Run<M::Label, M::Fault, bool> {
        let mut state = Vec::new();
        if self.model.initial(&mut state).is_err() {
            return ControlFlow::Continue(false);
        }
        self.reach(None, &state, Class::Ordinary)?;
        let mut enough = STATES_FIRST;
        loop {
            let listed = match self.list(enough) {
                ControlFlow::Break(Halt::Stopped(StopReason::States)) => Listed::Most,
                listed => listed?,
            };
            if self.fairness != Fairness::None && self.graph.nodes.iter().any(|n| PROCESSES_MAX < n.processes.into()) {
                return ControlFlow::Continue(false);
            }
            self.look_for_cycles()?;
            if listed != Listed::Enough {
                return ControlFlow::Continue(listed == Listed::All);
            }
            enough *= STATES_FACTOR;
        }
    }

    fn work(&self) -> u64 {
        self.transitions + self.places / PLACES_PER_TRANSITION
    }

    /// Lists states, until there are this many.
    fn list(&mut self, enough: usize) -> Run<M::Label, M::Fault, Listed> {
        while let Some(number) = self.open.pop_front() {
            let node = &self.graph.nodes[number as usize];
            if node.edges.is_some() {
                continue;
            }
            let reason = match () {
                () if self.best <= node.distance => Some(Listed::All),
                () if self.work_max - self.work_max / CYCLES_SHARE <= self.work() => Some(Listed::Most),
                () if enough <= self.graph.nodes.len() => Some(Listed::Enough),
                () => None,
            };
            if let Some(reason) = reason {
                self.open.push_front(number);
                return ControlFlow::Continue(reason);
            }
            self.expand(number)?;
        }
        ControlFlow::Continue(Listed::All)
    }

    /// Lists the transitions of a state.
    fn expand(&mut self, number: u32) -> Run<M::Label, M::Fault> {
        let (mut state, mut successor) = (Vec::new(), Vec::new());
        self.graph.states.recall(number, &mut state);
        if self.fairness != Fairness::None {
            let node = &mut self.graph.nodes[number as usize];
            node.processes = u8::try_from(self.model.process_count(&state)).unwrap_or(u8::MAX);
            let mut enabled = ProcessSet::EMPTY;
            self.model.enabled(&state, &mut enabled);
            node.enabled = bits(enabled.iter());
        }
        let first = self.graph.edges.len() as u32;
        let mut cursor = self.model.begin(&state);
        loop {
            self.pause()?;
            self.transitions += 1;
            match self.model.next(&state, &mut cursor, &mut successor) {
                Next::Successor { label: Some(label), .. } | Next::Broken { label, .. } if self.rests(&label) => {}
                Next::Successor { label, fault: Some(fault), .. } => self.fails(number, label, fault),
                Next::Broken { label, fault } => self.fails(number, Some(label), fault),
                Next::Successor { label, transient, marks, fault: None } => {
                    let movers = label.map(|label| self.model.movers(&label)).into_iter().flatten().flatten();
                    let edge = Edge { target: 0, label, marks, movers: bits(movers) };
                    let class = if transient { Class::Transient } else { Class::Ordinary };
                    self.reach(Some((number, edge)), &successor, class)?;
                }
                Next::Done(_) => break,
            }
        }
        self.graph.nodes[number as usize].edges = Some((first, self.graph.edges.len() as u32));
        ControlFlow::Continue(())
    }

    /// Whether a process takes part that is not to move.
    fn rests(&self, label: &M::Label) -> bool {
        self.model.movers(label).into_iter().flatten().any(|process| self.resting.contains(process))
    }

    /// Adds a state and the transition to it.
    fn reach(&mut self, via: Option<(u32, Edge<M::Label>)>, state: &[u32], class: Class) -> Run<M::Label, M::Fault> {
        let target = self.graph.number_of(state, class);
        if self.graph.is_new(target) {
            self.watch.counts_state()?;
            self.graph.add(class);
        }
        let Some((source, edge)) = via else {
            self.graph.nodes[target as usize].distance = 0;
            self.open.push_back(target);
            return ControlFlow::Continue(());
        };
        self.graph.edges.push(Edge { target, ..edge });
        let distance = self.graph.nodes[source as usize].distance + edge.steps();
        let node = &mut self.graph.nodes[target as usize];
        if distance < node.distance {
            node.distance = distance;
            node.parent = Some((source, self.graph.edges.len() as u32 - 1));
            if edge.steps() == 0 { self.open.push_front(target) } else { self.open.push_back(target) }
        }
        ControlFlow::Continue(())
    }

    /// A faulty transition ends a run.
    fn fails(&mut self, number: u32, label: Option<M::Label>, fault: M::Fault) {
        let moves = label.is_some_and(|label| self.model.movers(&label).iter().any(Option::is_some));
        let steps = self.graph.nodes[number as usize].distance + u64::from(moves);
        if steps < self.best {
            self.best = steps;
            let path = self.graph.path_to(number).into_iter().chain(label).collect();
            self.found = Some(Found::Fault { path, fault });
        }
    }

    /// Looks for cycles through the states whose transitions are listed, the nearest first.
    fn look_for_cycles(&mut self) -> Run<M::Label, M::Fault> {
        let parts = Parts::of(&self.graph, self.goal);
        let mut starts: Vec<u32> = (0..self.graph.nodes.len() as u32).filter(|&n| parts.counts(n)).collect();
        starts.sort_by_key(|&start| self.graph.nodes[start as usize].distance);
        for start in starts {
            let distance = self.graph.nodes[start as usize].distance;
            if self.best <= distance {
                break;
            }
            if let Some((cycle, steps)) = self.cycle_through(start, &parts)? {
                self.best = distance + steps;
                self.found = Some(Found::Lasso { stem: self.graph.path_to(start), cycle });
            }
        }
        ControlFlow::Continue(())
    }

    /// A shortest cycle through a state that counts and makes a shorter run than the best, through states that are not
    /// nearer; its labels and how many steps it has.
    fn cycle_through(&mut self, start: u32, parts: &Parts) -> Run<M::Label, M::Fault, Option<Round<M::Label>>> {
        let distance = self.graph.nodes[start as usize].distance;
        let history = self.nothing_yet(start);
        let mut places = vec![Place { node: start, history, steps: 0, parent: (0, 0) }];
        let mut seen = HashMap::from([((start, history), 0)]);
        let mut open = VecDeque::from([0_u32]);
        while let Some(number) = open.pop_front() {
            self.pause()?;
            self.places += 1;
            if self.work_max <= self.work() {
                return ControlFlow::Break(Halt::Stopped(StopReason::States));
            }
            let Place { node, history, steps, .. } = places[number as usize];
            if history.closed {
                return ControlFlow::Continue(Some((self.graph.cycle(&places, number), steps)));
            }
            if seen.get(&(node, history)).is_some_and(|&known| known < steps) {
                continue;
            }
            let (first, end) = self.graph.nodes[node as usize].edges.unwrap_or_default();
            for index in first..end {
                let edge = self.graph.edges[index as usize];
                let steps = steps + edge.steps();
                let target = &self.graph.nodes[edge.target as usize];
                let stays = parts.together(start, edge.target) && distance <= target.distance;
                if !stays || !may_take(self.goal, edge.marks) || self.best <= distance + steps {
                    continue;
                }
                let mut history = history.after(&edge, target, (self.goal, self.fairness));
                let processes = self.graph.nodes[start as usize].processes;
                history.closed = edge.target == start && history.counts(self.goal, self.fairness, processes);
                let known = seen.entry((edge.target, history)).or_insert(u64::MAX);
                if steps < *known {
                    *known = steps;
                    places.push(Place { node: edge.target, history, steps, parent: (number, index) });
                    let place = places.len() as u32 - 1;
                    if edge.steps() == 0 { open.push_front(place) } else { open.push_back(place) }
                }
            }
        }
        ControlFlow::Continue(None)
    }

    fn nothing_yet(&self, start: u32) -> History {
        let able = match self.fairness {
            Fairness::Weak => first_bits(self.graph.nodes[start as usize].processes),
            Fairness::None | Fairness::Strong => 0,
        };
        History { accepted: false, ordinary: false, moved: 0, able, closed: false }
    }

    #[inline]
    fn pause(&mut self) -> Run<M::Label, M::Fault> {
        if self.watch.step_is_due() {
            let graph = &self.graph;
            let listed = size_of_val::<[Node]>(&graph.nodes) + size_of_val::<[Edge<M::Label>]>(&graph.edges);
            let states = graph.states.memory_bytes();
            let memory_bytes = states + listed as u64;
            self.watch.look(memory_bytes, graph.states.store.is_full())?;
        }
        ControlFlow::Continue(())
    }
}

impl History {
    /// After one more transition.
    fn after<L>(mut self, edge: &Edge<L>, target: &Node, (goal, fairness): (Goal, Fairness)) -> Self {
        self.accepted |= goal == Goal::AcceptanceCycle && edge.marks.has(Marks::ACCEPTING);
        match fairness {
            Fairness::None => {}
            Fairness::Weak => {
                // Who moved is not neglected, whatever comes.
                self.able &= !edge.movers;
                self.able &= if target.transient { u32::MAX } else { target.enabled };
            }
            Fairness::Strong => {
                self.moved |= edge.movers;
                self.ordinary |= !target.transient;
                self.able |= if target.transient { 0 } else { target.enabled };
            }
        }
        self
    }

    /// Whether a cycle with this history is one of those that are looked for.
    fn counts(&self, goal: Goal, fairness: Fairness, processes: u8) -> bool {
        let neglected = match fairness {
            Fairness::None => 0,
            Fairness::Weak => self.able,
            Fairness::Strong => (if self.ordinary { self.able } else { first_bits(processes) }) & !self.moved,
        };
        neglected == 0 && (goal == Goal::Livelock || self.accepted)
    }
}

impl<L: Copy> Graph<L> {
    fn new(hidden: usize) -> Self {
        Self { states: NumberedStates::new(hidden), nodes: Vec::new(), edges: Vec::new() }
    }

    /// The number of a state; if it has none, the next one is its own now.
    fn number_of(&mut self, state: &[u32], class: Class) -> u32 {
        self.states.find(state, class).unwrap_or(self.nodes.len() as u32)
    }

    fn is_new(&self, number: u32) -> bool {
        number as usize == self.nodes.len()
    }

    /// Adds the state that was just given a number.
    fn add(&mut self, class: Class) {
        self.nodes.push(Node {
            distance: u64::MAX,
            parent: None,
            transient: class == Class::Transient,
            edges: None,
            enabled: 0,
            processes: 0,
        });
        self.states.add(class);
    }

    fn path_to(&self, number: u32) -> Vec<L> {
        let parent = |edge: &(u32, u32)| self.nodes[edge.0 as usize].parent;
        let edges = std::iter::successors(self.nodes[number as usize].parent, parent);
        let mut path: Vec<L> = edges.filter_map(|(_, edge)| self.edges[edge as usize].label).collect();
        path.reverse();
        path
    }

    /// The labels of the way to a place.
    fn cycle(&self, places: &[Place], mut number: u32) -> Vec<L> {
        let mut labels = Vec::new();
        while number != 0 {
            let (before, edge) = places[number as usize].parent;
            labels.extend(self.edges[edge as usize].label);
            number = before;
        }
        labels.reverse();
        labels
    }
}

/// The strongly connected parts of the graph of the transitions that a cycle may take (Tarjan's algorithm).
struct Parts {
    /// Of each state, the number of its part.
    part: Vec<u32>,
    /// Of each part, whether it may hold a cycle that counts.
    counting: Vec<bool>,
}

impl Parts {
    fn of<L: Copy>(graph: &Graph<L>, goal: Goal) -> Self {
        let mut tarjan = Tarjan { graph, goal, order: vec![0; graph.nodes.len()], low: Vec::new(), stack: Vec::new() };
        tarjan.low.resize(graph.nodes.len(), 0);
        let mut parts = Self { part: vec![u32::MAX; graph.nodes.len()], counting: Vec::new() };
        let mut visited = 0;
        for root in 0..graph.nodes.len() as u32 {
            if tarjan.order[root as usize] == 0 {
                tarjan.search(root, &mut visited, &mut parts);
            }
        }
        for (source, node) in graph.nodes.iter().enumerate() {
            let (first, end) = node.edges.unwrap_or_default();
            for edge in &graph.edges[first as usize..end as usize] {
                let inside = may_take(goal, edge.marks) && parts.together(source as u32, edge.target);
                let part = parts.part[source] as usize;
                parts.counting[part] |= inside && (goal == Goal::Livelock || edge.marks.has(Marks::ACCEPTING));
            }
        }
        parts
    }

    fn together(&self, one: u32, other: u32) -> bool {
        self.part[one as usize] == self.part[other as usize]
    }

    fn counts(&self, node: u32) -> bool {
        self.counting[self.part[node as usize] as usize]
    }
}

/// The depth-first search for the parts.
struct Tarjan<'a, L> {
    graph: &'a Graph<L>,
    goal: Goal,
    /// When a state was met first, from 1; 0 if it was not.
    order: Vec<u32>,
    low: Vec<u32>,
    /// States whose part is not known yet.
    stack: Vec<u32>,
}

impl<L: Copy> Tarjan<'_, L> {
    fn search(&mut self, root: u32, visited: &mut u32, parts: &mut Parts) {
        let edges = |node: u32| self.graph.nodes[node as usize].edges.unwrap_or_default();
        let mut way = vec![(root, edges(root))];
        while let Some((node, (next, end))) = way.last_mut() {
            let node = *node as usize;
            if self.order[node] == 0 {
                *visited += 1;
                (self.order[node], self.low[node]) = (*visited, *visited);
                self.stack.push(node as u32);
            }
            if next < end {
                let edge = &self.graph.edges[*next as usize];
                let target = edge.target as usize;
                *next += 1;
                if !may_take(self.goal, edge.marks) {
                    continue;
                }
                if self.order[target] == 0 {
                    way.push((edge.target, self.graph.nodes[target].edges.unwrap_or_default()));
                } else if parts.part[target] == u32::MAX {
                    self.low[node] = self.low[node].min(self.order[target]);
                }
                continue;
            }
            way.pop();
            if self.low[node] == self.order[node] {
                while let Some(member) = self.stack.pop() {
                    parts.part[member as usize] = parts.counting.len() as u32;
                    if member as usize == node {
                        break;
                    }
                }
                parts.counting.push(false);
            }
            if let Some((before, _)) = way.last() {
                let before = *before as usize;
                self.low[before] = self.low[before].min(self.low[node]);
            }
        }
    }
}

fn may_take(goal: Goal, marks: Marks) -> bool {
    goal == Goal::AcceptanceCycle || !marks.has(Marks::PROGRESS)
}

/// One bit for each process; those that are not followed share the last one.
fn bits(processes: impl Iterator<Item = u8>) -> u32 {
    processes.fold(0, |bits, process| bits | 1 << usize::from(process).min(PROCESSES_MAX - 1))
}

/// The bits of the first processes.
fn first_bits(count: u8) -> u32 {
    1_u32.checked_shl(count.into()).map_or(u32::MAX, |bit| bit - 1)
}
