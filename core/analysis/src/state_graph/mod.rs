//! The state graph of a small model as a picture: all states and steps as the reference interpreter finds them, or groups of
//! states, with the run to an error on it; and the automata of processes.
//!
//! Nothing is left out and nothing is merged: the program is the one that was written, every order of steps is followed. A state
//! inside an atomic sequence is part of the graph and marked; one that loses control there is the state after it.

mod automata;
mod layout;
mod notation;
mod svg;
mod walkable;

pub use automata::automata;
pub use notation::{dot, mermaid};
pub use svg::svg;
pub use walkable::WalkableGraph;

use fabius_base::{Cancel, Span, StopReason};
use fabius_program::{Move, Program};
use fabius_witness::show::{Names, process_name, statement_text};
use fabius_witness::{Ending, Outcome, State, ending, moves, settled, snapshot};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

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

/// What is not in a graph that was explored to its end.
struct Explored {
    states: Vec<(State, Node)>,
    edges: Vec<Step>,
    stopped: Option<&'static str>,
    /// For each state, by which edge it was met first.
    parents: Vec<Option<usize>>,
    /// The first error met.
    first_error: Option<FirstError>,
}

/// A step from one state to another.
struct Step {
    taken: Move,
    from: usize,
    to: usize,
    /// Who does what, and what is wrong with it.
    text: String,
    fails: bool,
    /// The line of the statement.
    line: Option<u32>,
}

/// What is wrong first, in the order of the search.
#[derive(Clone, Copy)]
enum FirstError {
    /// Nothing can move in this state.
    Deadlock(usize),
    /// The step along this edge fails.
    Step(usize),
}

/// The state graph of a program, explored breadth-first as far as `states_max` states. `line_of` says in
/// which line something stands, if it is written anywhere.
///
/// # Errors
/// A sentence, if the initial state cannot be computed, or if no variable has one of the names.
pub fn state_graph(
    program: &Program,
    grouping: &Grouping,
    states_max: usize,
    line_of: &dyn Fn(Span) -> Option<u32>,
    cancel: &Cancel,
) -> Result<StateGraph, String> {
    grouped(program, &explore(program, states_max, line_of, cancel)?, grouping, line_of)
}

/// The graph of what was explored.
fn grouped(
    program: &Program,
    explored: &Explored,
    grouping: &Grouping,
    line_of: &dyn Fn(Span) -> Option<u32>,
) -> Result<StateGraph, String> {
    let (on_states, on_edges) = explored.run();
    let labels = Labels::of(program, explored, line_of);
    let keys = labels.keys(grouping)?;
    let mut numbers: BTreeMap<&[String], usize> = BTreeMap::new();
    let mut group_of = Vec::with_capacity(keys.len());
    let mut graph = StateGraph { stopped: explored.stopped, ..StateGraph::default() };
    for (at, ((_, node), key)) in explored.states.iter().zip(&keys).enumerate() {
        graph.states += usize::from(node.states == 1 && !node.transient);
        let next = numbers.len();
        // An error that is no state stays apart.
        let group = *numbers.entry(key).or_insert(next);
        group_of.push(group);
        if group == graph.nodes.len() {
            let lines = labels.lines[at].clone();
            graph.nodes.push(Node { label: key.clone(), lines, transient: true, ..Node::default() });
        }
        let known = &mut graph.nodes[group];
        known.lines.retain(|line| labels.lines[at].contains(line));
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
        let (from, to) = (group_of[step.from], group_of[step.to]);
        let edge = edges.entry((from, to)).or_insert_with(|| Edge::between(from, to));
        edge.on_run |= on_edges[at];
        edge.fails |= step.fails;
        edge.lines.extend(step.line);
        if !edge.steps.contains(&step.text) {
            edge.steps.push(step.text.clone());
        }
    }
    graph.edges = edges.into_values().collect();
    if *grouping == Grouping::States {
        graph.constant = labels.constant();
    }
    Ok(graph)
}

fn explore(
    program: &Program,
    states_max: usize,
    line_of: &dyn Fn(Span) -> Option<u32>,
    cancel: &Cancel,
) -> Result<Explored, String> {
    let initial = State::initial(program).map_err(|fault| format!("the initial state cannot be computed: {fault}"))?;
    let mut found =
        Explored { states: Vec::new(), edges: Vec::new(), stopped: None, parents: Vec::new(), first_error: None };
    let mut numbers: HashMap<State, usize> = HashMap::new();
    let mut open = VecDeque::from([found.add(program, &mut numbers, settled(program, &initial), None)]);
    found.states[0].1.initial = true;
    while let Some(at) = open.pop_front() {
        if let Some(why) = cancel.requested() {
            found.stop(match why {
                StopReason::Timeout => "the time allowed was used up",
                StopReason::Memory | StopReason::Exhausted => "memory ran out",
                _ => "it was interrupted",
            });
            found.states[at].1.open = true;
            continue;
        }
        let before = found.states[at].0.clone();
        for (step, outcome) in moves(program, &before).successors {
            let (text, fault) = (step_text(program, &before, step), outcome.fault());
            let edge = found.edges.len();
            let to = match outcome {
                Outcome::Reaches { state, .. } => {
                    let state = settled(program, &state);
                    match numbers.get(&state.visible(program)) {
                        Some(known) => *known,
                        None if states_max <= numbers.len() => {
                            found.states[at].1.open = true;
                            found.stop("the limit on states was reached");
                            continue;
                        }
                        None => {
                            let new = found.add(program, &mut numbers, state, Some(edge));
                            open.push_back(new);
                            new
                        }
                    }
                }
                Outcome::Broken { fault, .. } => found.error(&before, &format!("{text}: {fault}"), edge),
            };
            let text = fault.map_or_else(|| text.clone(), |fault| format!("{text}: {fault}"));
            let line = line_of(program.span_of(step.edge));
            found.edges.push(Step { taken: step, from: at, to, text, fails: fault.is_some(), line });
            if fault.is_some() {
                found.first_error.get_or_insert(FirstError::Step(edge));
            }
        }
    }
    Ok(found)
}

impl Explored {
    fn stop(&mut self, why: &'static str) {
        self.stopped.get_or_insert(why);
    }

    fn add(
        &mut self,
        program: &Program,
        numbers: &mut HashMap<State, usize>,
        state: State,
        parent: Option<usize>,
    ) -> usize {
        let ends = ending(program, &state);
        let node = Node {
            states: 1,
            transient: state.holder.is_some(),
            end: ends == Ending::Valid,
            error: (ends == Ending::Invalid).then(|| "deadlock".to_owned()),
            ..Node::default()
        };
        let at = self.states.len();
        numbers.insert(state.visible(program), at);
        if node.error.is_some() {
            self.first_error.get_or_insert(FirstError::Deadlock(at));
        }
        self.states.push((state, node));
        self.parents.push(parent);
        at
    }

    /// What a step leads to that leads to no state.
    fn error(&mut self, before: &State, what: &str, edge: usize) -> usize {
        let same = |(_, node): &(State, Node)| node.states == 0 && node.error.as_deref() == Some(what);
        if let Some(known) = self.states.iter().position(same) {
            return known;
        }
        self.states.push((before.clone(), Node { error: Some(what.to_owned()), ..Node::default() }));
        self.parents.push(Some(edge));
        self.states.len() - 1
    }

    /// The states and the edges of the run to the first error.
    fn run(&self) -> (Vec<bool>, Vec<bool>) {
        let (mut states, mut edges) = (vec![false; self.states.len()], vec![false; self.edges.len()]);
        let mut here = match self.first_error {
            None => return (states, edges),
            Some(FirstError::Deadlock(state)) => state,
            Some(FirstError::Step(edge)) => {
                let Step { from, to, .. } = self.edges[edge];
                (states[to], edges[edge]) = (true, true);
                from
            }
        };
        states[here] = true;
        while let Some(edge) = self.parents[here] {
            here = self.edges[edge].from;
            (states[here], edges[edge]) = (true, true);
        }
        (states, edges)
    }
}

fn step_text(program: &Program, before: &State, step: Move) -> String {
    let text = |pid: u8, edge| {
        let statement = program.statement(program.process_of(edge), edge);
        format!("{} {}", Names::of(program, before).process(pid), statement_text(statement))
    };
    let partner = step.partner.map(|(pid, edge)| format!(" ⇄ {}", text(pid, edge))).unwrap_or_default();
    format!("{}{partner}", text(step.pid, step.edge))
}

/// What is said of states.
struct Labels<'a> {
    explored: &'a Explored,
    /// For each state, where each process is.
    places: Vec<Vec<String>>,
    /// For each state, the lines of these, in order.
    lines: Vec<Vec<u32>>,
    /// For each state, the values of variables and channels.
    values: Vec<Vec<(String, String)>>,
}

impl<'a> Labels<'a> {
    fn of(program: &Program, explored: &'a Explored, line_of: &dyn Fn(Span) -> Option<u32>) -> Self {
        let (mut places, mut lines, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for (state, _) in &explored.states {
            let shown = snapshot(program, state);
            let stand = shown.processes.iter().map(|status| {
                let labels: String = status.labels.iter().take(1).map(|label| format!(" {label}")).collect();
                let name = process_name(&status.process, usize::from(status.pid));
                let at = if status.has_ended() { "ended".to_owned() } else { place(line_of(status.span)) };
                // Two places may stand in one line.
                (format!("{name} {at}{labels}"), status.location)
            });
            let alive = shown.processes.iter().filter(|status| !status.has_ended());
            lines
                .push(alive.filter_map(|status| line_of(status.span)).collect::<BTreeSet<u32>>().into_iter().collect());
            places.push(stand.map(|(text, location)| format!("{text}\u{0}{location}")).collect());
            let own = shown.processes.iter().flat_map(|status| {
                let named = |(name, value): &(String, String)| (format!("{}:{name}", status.name), value.clone());
                status.variables.iter().map(named).collect::<Vec<_>>()
            });
            values.push(shown.variables.into_iter().chain(shown.channels).chain(own).collect());
        }
        Self { explored, places, lines, values }
    }

    /// Variables and channels that exist in all states with one value.
    fn constant(&self) -> Vec<(String, String)> {
        let first = self.values.first().cloned().unwrap_or_default();
        first.into_iter().filter(|pair| self.values.iter().all(|values| values.contains(pair))).collect()
    }

    /// For each state, the lines by which it is told apart.
    fn keys(&self, grouping: &Grouping) -> Result<Vec<Vec<String>>, String> {
        let constant = if *grouping == Grouping::States { self.constant() } else { Vec::new() };
        if let Grouping::Values(names) = grouping {
            let unknown = names.iter().find(|name| !self.values.iter().flatten().any(|(known, _)| is_of(known, name)));
            if let Some(name) = unknown {
                let known: std::collections::BTreeSet<&str> =
                    self.values.iter().flatten().map(|(known, _)| known.as_str()).collect();
                let known: Vec<&str> = known.into_iter().take(12).collect();
                return Err(format!("no variable is called `{name}` in any state; there are {}", known.join(", ")));
            }
        }
        let mut keys = Vec::new();
        for (at, (_, node)) in self.explored.states.iter().enumerate() {
            let written = |(name, value): &(String, String)| format!("{name} = {value}");
            let mut key: Vec<String> = match grouping {
                Grouping::Locations if self.places[at].is_empty() => vec!["no process is left".to_owned()],
                Grouping::Locations => self.places[at].clone(),
                Grouping::Values(names) => {
                    let chosen = |(known, _): &&(String, String)| names.iter().any(|name| is_of(known, name));
                    self.values[at].iter().filter(chosen).map(written).collect()
                }
                Grouping::States => {
                    let varying = self.values[at].iter().filter(|pair| !constant.contains(pair));
                    let mut key = self.places[at].clone();
                    // States may differ in what no label shows, such as who holds control.
                    key.push(format!("\u{0}{at}"));
                    key.extend(varying.map(written));
                    key
                }
            };
            if node.states == 0 {
                key = vec![node.error.clone().unwrap_or_default(), "\u{0}error".to_owned()];
            }
            keys.push(key);
        }
        Ok(keys)
    }
}

/// Where something stands, in words.
fn place(line: Option<u32>) -> String {
    line.map_or_else(String::new, |line| format!("line {line}"))
}

impl Edge {
    /// An edge without a step.
    fn between(from: usize, to: usize) -> Self {
        Self { from, to, steps: Vec::new(), lines: BTreeSet::new(), on_run: false, fails: false }
    }
}

/// Whether an element belongs to what is called so.
fn is_of(element: &str, name: &str) -> bool {
    element.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(['[', '.']))
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
