//! The state graph of a small model as a picture: all states and steps as the reference interpreter finds them, or groups of
//! states, with the run to an error on it; and the automata of processes.
//!
//! Nothing is left out and nothing is merged: the program is the one that was written, every order of steps is followed. A state
//! inside an atomic sequence is part of the graph and marked; one that loses control there is the state after it.

mod automata;
mod explore;
mod labels;
mod layout;
mod notation;
mod svg;
mod walkable;

pub use automata::automata;
pub use explore::Explored;
pub use notation::{dot, mermaid};
pub use svg::svg;
pub use walkable::WalkableGraph;

use explore::sentence;
use fabius_base::{Cancel, Span};
use fabius_program::Program;
use labels::{Key, Keys};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// By what states are put together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Grouping {
    /// Each state for itself.
    States,
    /// Those in which every process is at the same place.
    Locations,
    /// Those in which variables or channels with these names have the same values; an array or a structure stands for its
    /// elements.
    Values(Vec<String>),
}

impl Grouping {
    /// What somebody asks for: nothing, `locations`, or names with commas between them.
    pub fn read(by: Option<&str>) -> Self {
        match by {
            None => Self::States,
            Some("locations") => Self::Locations,
            Some(names) => Self::Values(names.split(',').map(|name| name.trim().to_owned()).collect()),
        }
    }
}

/// A picture with more nodes cannot be read.
pub const DRAWN_NODES_MAX: usize = 300;

/// Once somebody asked to stop, what was explored is drawn as far as this many states: the nearest ones.
pub const STOPPED_NODES_MAX: usize = 50_000;

/// Nodes and steps from one look at whether somebody asked to stop to the next.
const NODES_PER_LOOK: usize = 1 << 12;

/// This many states are explored unless somebody asks for others.
pub const STATES_MAX: usize = 10_000;

/// A graph to draw.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct StateGraph {
    /// States or groups of states; or places of processes.
    pub nodes: Vec<Node>,
    /// Steps: at most one edge from a node to another, with everything that leads there.
    pub edges: Vec<Edge>,
    /// How many states there are, those inside atomic sequences left out.
    pub states: usize,
    /// Why there may be more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<&'static str>,
    /// How many more states were found, and are not in the graph since there was no time to draw them.
    #[serde(skip_serializing_if = "is_zero")]
    pub left_out: usize,
    /// Variables and channels that have the same value in all states, and are not part of the labels: names and values.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub constant: Vec<(String, String)>,
}

/// A state, a group of states, or a place of a process.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Node {
    /// What is said of it, a line each.
    pub label: Vec<String>,
    /// The lines at which processes are in every one of its states, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<u32>,
    /// How many states it stands for.
    pub states: usize,
    /// Something begins there.
    pub initial: bool,
    /// Every state is inside an atomic sequence.
    pub transient: bool,
    /// It may end there.
    pub end: bool,
    /// What is wrong with it: nothing can move, or a step that led here failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// In how many of its states something is wrong.
    pub errors: usize,
    /// The run to the first error goes through it.
    pub on_run: bool,
    /// Not all of its steps are known.
    pub open: bool,
    /// Of an automaton: the type of the processes, and the number of the location.
    #[serde(skip)]
    pub location: Option<(String, u32)>,
}

/// The steps from one node to another.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Edge {
    /// Index of a node.
    pub from: usize,
    /// Index of a node.
    pub to: usize,
    /// Who does what, each once.
    pub steps: Vec<String>,
    /// The lines of these statements, in order.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub lines: BTreeSet<u32>,
    /// The run to the first error takes one of them.
    pub on_run: bool,
    /// One of them fails.
    pub fails: bool,
}

/// How much of a state graph is wanted.
#[derive(Clone, Copy, Debug)]
pub struct GraphLimits {
    /// This many states are explored.
    pub states_max: usize,
    /// The graph takes about as much memory as this, until it is printed.
    pub memory_bytes_max: Option<u64>,
}

impl GraphLimits {
    /// At most this many states.
    pub fn states(states_max: usize) -> Self {
        Self { states_max, memory_bytes_max: None }
    }
}

/// The state graph of a program, explored breadth-first as far as `limits` allow. `line_of` says in which line something stands, if it
/// is written anywhere.
///
/// # Errors
/// A sentence, if the initial state cannot be computed, or if no variable has one of the names.
pub fn state_graph(
    program: &Program,
    grouping: &Grouping,
    limits: GraphLimits,
    line_of: &dyn Fn(Span) -> Option<u32>,
    cancel: &Cancel,
) -> Result<StateGraph, String> {
    Explored::of(program, limits, line_of, cancel)?.graph(grouping, cancel)
}

impl Explored {
    /// The graph of what was explored. Once `cancel` is raised, no more than [`STOPPED_NODES_MAX`] states are drawn, and those on the run to
    /// an error.
    ///
    /// # Errors
    /// A sentence, if no variable has one of the names.
    pub fn graph(&mut self, grouping: &Grouping, cancel: &Cancel) -> Result<StateGraph, String> {
        if let Some(graph) = whole(self, grouping, cancel)? {
            return Ok(graph);
        }
        self.cut(STOPPED_NODES_MAX);
        self.stopped.get_or_insert(cancel.requested().map_or("it was interrupted", sentence));
        Ok(whole(self, grouping, &Cancel::new())?.unwrap_or_default())
    }
}

/// The graph of what was explored; `None` if that is more than can be drawn now that somebody asked to stop.
fn whole(explored: &Explored, grouping: &Grouping, cancel: &Cancel) -> Result<Option<StateGraph>, String> {
    let is_late = || STOPPED_NODES_MAX < explored.nodes.len() && cancel.requested().is_some();
    if is_late() {
        return Ok(None);
    }
    let (on_states, on_edges) = explored.run();
    let keys = Keys::of(explored, grouping)?;
    let mut numbers: HashMap<Key<'_>, usize> = HashMap::new();
    let mut group_of = Vec::with_capacity(explored.nodes.len());
    let (stopped, left_out) = (explored.stopped, explored.left_out);
    let mut graph = StateGraph { stopped, left_out, ..StateGraph::default() };
    for (at, node) in explored.nodes.iter().enumerate() {
        if at % NODES_PER_LOOK == 0 && is_late() {
            return Ok(None);
        }
        graph.states += usize::from(node.states == 1 && !node.transient);
        let lines = explored.labels.lines(at);
        let key = keys.key(at);
        let group = numbers.get(&key).copied().unwrap_or_else(|| {
            let (label, lines) = (keys.lines(&key), lines.to_vec());
            graph.nodes.push(Node { label, lines, transient: true, ..Node::default() });
            numbers.insert(key, graph.nodes.len() - 1);
            graph.nodes.len() - 1
        });
        group_of.push(group);
        let known = &mut graph.nodes[group];
        known.lines.retain(|line| lines.contains(line));
        known.states += node.states;
        known.initial |= node.initial;
        known.transient &= node.transient;
        known.end |= node.end;
        known.open |= node.open;
        known.on_run |= on_states[at];
        known.error = known.error.take().or_else(|| node.error.clone());
        known.errors += usize::from(node.error.is_some());
    }
    let mut edges: BTreeMap<(usize, usize), Edge> = BTreeMap::new();
    for (at, step) in explored.edges.iter().enumerate() {
        if at % NODES_PER_LOOK == 0 && is_late() {
            return Ok(None);
        }
        let (from, to) = (group_of[step.from], group_of[step.to]);
        let edge = edges.entry((from, to)).or_insert_with(|| Edge::between(from, to));
        edge.on_run |= on_edges[at];
        edge.fails |= step.fails;
        edge.lines.extend(step.line);
        let text = explored.labels.text(step.text);
        if !edge.steps.iter().any(|known| known == text) {
            edge.steps.push(text.to_owned());
        }
    }
    graph.edges = edges.into_values().collect();
    if *grouping == Grouping::States {
        graph.constant = explored.labels.constant_texts();
    }
    Ok(Some(graph))
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl Edge {
    /// An edge without a step.
    fn between(from: usize, to: usize) -> Self {
        Self { from, to, steps: Vec::new(), lines: BTreeSet::new(), on_run: false, fails: false }
    }
}

/// A line of a label without what only tells nodes apart.
pub(crate) fn visible(line: &str) -> &str {
    line.split('\u{0}').next().unwrap_or_default()
}

impl StateGraph {
    /// The same with labels for people.
    #[must_use]
    pub fn readable(mut self) -> Self {
        for node in &mut self.nodes {
            node.label =
                node.label.iter().map(|line| visible(line).to_owned()).filter(|line| !line.is_empty()).collect();
        }
        self
    }
}

#[cfg(test)]
mod tests;
