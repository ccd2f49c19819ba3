//! The states and steps of a program, as far as limits allow: what a graph is drawn from.

use super::labels::Labels;
use super::{GraphLimits, Node};
use fabius_base::{Cancel, Span, StopReason};
use fabius_program::{Move, Program};
use fabius_witness::show::{Names, statement_text};
use fabius_witness::{Ending, Outcome, State, ending, moves, settled};
use std::collections::{HashMap, VecDeque};

/// What a state takes beside its own words, in bytes: its labels, its node, and the text of both.
const NODE_BYTES: usize = 1_200;
/// The same of a step.
const STEP_BYTES: usize = 500;

/// What was found.
pub struct Explored {
    /// States, and errors that are no states, nearest first.
    pub(super) nodes: Vec<Node>,
    pub(super) labels: Labels,
    pub(super) edges: Vec<Step>,
    /// Why there may be more.
    pub(super) stopped: Option<&'static str>,
    /// Ordinary states that were found and [left out](Self::cut).
    pub(super) left_out: usize,
    /// For each node, by which edge it was met first.
    pub(super) parents: Vec<Option<usize>>,
    /// The first error met.
    first_error: Option<FirstError>,
    /// The nodes of the states.
    pub(super) numbers: HashMap<State, usize>,
    /// The nodes of the errors that are no states.
    errors: HashMap<String, usize>,
    /// What all that takes until it is printed, in bytes.
    bytes: usize,
}

/// A step from one state to another.
pub(super) struct Step {
    pub taken: Move,
    pub from: usize,
    pub to: usize,
    /// Who does what, and what is wrong with it.
    pub text: u32,
    pub fails: bool,
    /// The line of the statement.
    pub line: Option<u32>,
}

/// What is wrong first, in the order of the search.
#[derive(Clone, Copy)]
enum FirstError {
    /// Nothing can move in this state.
    Deadlock(usize),
    /// The step along this edge fails.
    Step(usize),
}

/// Why work that was asked to stop is not complete.
pub(super) fn sentence(why: StopReason) -> &'static str {
    match why {
        StopReason::Timeout => "the time allowed was used up",
        StopReason::Memory | StopReason::Exhausted => "memory ran out",
        _ => "it was interrupted",
    }
}

/// A program, and in which line something of it stands.
type Written<'a> = (&'a Program, &'a dyn Fn(Span) -> Option<u32>);

impl Explored {
    /// The states and steps of a program, explored breadth-first as far as `limits` allow. `line_of` says in which line something stands,
    /// if it is written anywhere.
    ///
    /// # Errors
    /// A sentence, if the initial state cannot be computed.
    pub fn of(
        program: &Program,
        limits: GraphLimits,
        line_of: &dyn Fn(Span) -> Option<u32>,
        cancel: &Cancel,
    ) -> Result<Self, String> {
        let initial =
            State::initial(program).map_err(|fault| format!("the initial state cannot be computed: {fault}"))?;
        let initial = settled(program, &initial);
        let mut found = Explored::nothing();
        let mut open = VecDeque::new();
        let visible = initial.visible(program);
        open.push_back((found.add((program, line_of), (&initial, visible), None), initial));
        found.nodes[0].initial = true;
        while let Some((at, before)) = open.pop_front() {
            if let Some(why) = cancel.requested() {
                found.stopped.get_or_insert(sentence(why));
            } else if limits.memory_bytes_max.is_some_and(|max| max < found.bytes as u64) {
                found.stopped.get_or_insert(sentence(StopReason::Memory));
            } else {
                found.expand((program, line_of), (at, &before), limits.states_max, &mut open);
                continue;
            }
            found.nodes[at].open = true;
            open.iter().for_each(|(at, _)| found.nodes[*at].open = true);
            break;
        }
        Ok(found)
    }

    fn nothing() -> Self {
        Self {
            nodes: Vec::new(),
            labels: Labels::default(),
            edges: Vec::new(),
            stopped: None,
            left_out: 0,
            parents: Vec::new(),
            first_error: None,
            numbers: HashMap::new(),
            errors: HashMap::new(),
            bytes: 0,
        }
    }

    /// Takes all steps of a state.
    fn expand(
        &mut self,
        (program, line_of): Written<'_>,
        (at, before): (usize, &State),
        states_max: usize,
        open: &mut VecDeque<(usize, State)>,
    ) {
        for (step, outcome) in moves(program, before).successors {
            let (mut text, fault) = (step_text(program, before, step), outcome.fault());
            if let Some(fault) = fault {
                text = format!("{text}: {fault}");
            }
            let edge = self.edges.len();
            let to = match outcome {
                Outcome::Reaches { state, .. } => {
                    let state = settled(program, &state);
                    let visible = state.visible(program);
                    match self.numbers.get(&visible) {
                        Some(known) => *known,
                        None if states_max <= self.numbers.len() => {
                            self.nodes[at].open = true;
                            self.stopped.get_or_insert("the limit on states was reached");
                            continue;
                        }
                        None => {
                            let new = self.add((program, line_of), (&state, visible), Some(edge));
                            open.push_back((new, state));
                            new
                        }
                    }
                }
                Outcome::Broken { .. } => self.error(at, &text, edge),
            };
            let (text, line) = (self.labels.intern(text), line_of(program.span_of(step.edge)));
            self.edges.push(Step { taken: step, from: at, to, text, fails: fault.is_some(), line });
            self.bytes += STEP_BYTES;
            if fault.is_some() {
                self.first_error.get_or_insert(FirstError::Step(edge));
            }
        }
    }

    fn add(
        &mut self,
        (program, line_of): Written<'_>,
        (state, visible): (&State, State),
        parent: Option<usize>,
    ) -> usize {
        let ends = ending(program, state);
        let node = Node {
            states: 1,
            transient: state.holder.is_some(),
            end: ends == Ending::Valid,
            error: (ends == Ending::Invalid).then(|| "deadlock".to_owned()),
            ..Node::default()
        };
        let at = self.nodes.len();
        self.bytes += 2 * bytes(state) + NODE_BYTES + self.labels.add(program, state, line_of);
        self.numbers.insert(visible, at);
        if node.error.is_some() {
            self.first_error.get_or_insert(FirstError::Deadlock(at));
        }
        self.nodes.push(node);
        self.parents.push(parent);
        at
    }

    /// What a step from this node leads to that leads to no state.
    fn error(&mut self, from: usize, what: &str, edge: usize) -> usize {
        if let Some(known) = self.errors.get(what) {
            return *known;
        }
        let at = self.nodes.len();
        self.errors.insert(what.to_owned(), at);
        self.labels.repeat(from);
        self.nodes.push(Node { error: Some(what.to_owned()), ..Node::default() });
        self.parents.push(Some(edge));
        self.bytes += NODE_BYTES;
        at
    }

    /// The nodes and the edges of the run to the first error.
    pub(super) fn run(&self) -> (Vec<bool>, Vec<bool>) {
        let (mut nodes, mut edges) = (vec![false; self.nodes.len()], vec![false; self.edges.len()]);
        let mut here = match self.first_error {
            None => return (nodes, edges),
            Some(FirstError::Deadlock(state)) => state,
            Some(FirstError::Step(edge)) => {
                let Step { from, to, .. } = self.edges[edge];
                (nodes[to], edges[edge]) = (true, true);
                from
            }
        };
        nodes[here] = true;
        while let Some(edge) = self.parents[here] {
            here = self.edges[edge].from;
            (nodes[here], edges[edge]) = (true, true);
        }
        (nodes, edges)
    }

    /// Leaves out all nodes but the first `count` and those on the run to the first error, and the steps to and from them.
    pub(super) fn cut(&mut self, count: usize) {
        let (on_run, _) = self.run();
        let keep: Vec<bool> = on_run.iter().enumerate().map(|(at, on_run)| at < count || *on_run).collect();
        let is_ordinary = |node: &Node| node.states == 1 && !node.transient;
        let before = self.nodes.iter().filter(|node| is_ordinary(node)).count();
        let new_nodes = numbered(keep.iter().copied());
        let is_kept = |edge: &Step| keep[edge.from] && keep[edge.to];
        for edge in self.edges.iter().filter(|edge| keep[edge.from] && !keep[edge.to]) {
            self.nodes[edge.from].open = true;
        }
        let new_edges = numbered(self.edges.iter().map(is_kept));
        self.edges.retain(is_kept);
        self.edges.iter_mut().for_each(|edge| (edge.from, edge.to) = (new_nodes[edge.from], new_nodes[edge.to]));
        retain(&mut self.nodes, &keep);
        retain(&mut self.parents, &keep);
        self.parents.iter_mut().flatten().for_each(|edge| *edge = new_edges[*edge]);
        self.labels.retain(&keep);
        self.first_error = self.first_error.map(|error| match error {
            FirstError::Deadlock(at) => FirstError::Deadlock(new_nodes[at]),
            FirstError::Step(edge) => FirstError::Step(new_edges[edge]),
        });
        self.left_out += before - self.nodes.iter().filter(|node| is_ordinary(node)).count();
    }
}

/// For each of a list the number that it has among those that are kept, if it is.
fn numbered(keep: impl Iterator<Item = bool>) -> Vec<usize> {
    let count = |next: &mut usize, keep: bool| Some(std::mem::replace(next, *next + usize::from(keep)));
    keep.scan(0, count).collect()
}

/// Keeps what is to be kept.
pub(super) fn retain<T>(list: &mut Vec<T>, keep: &[bool]) {
    let mut keep = keep.iter();
    list.retain(|_| keep.next() == Some(&true));
}

/// About how many bytes a state takes: what it shares with others is not counted.
fn bytes(state: &State) -> usize {
    let parts = state.globals.len() + state.processes.len() + state.channels.len();
    let arrays = state.globals.iter().map(|values| values.len() * size_of::<i32>()).max();
    size_of::<State>() + 32 * parts + arrays.unwrap_or(0)
}

fn step_text(program: &Program, before: &State, step: Move) -> String {
    let text = |pid: u8, edge| {
        let statement = program.statement(program.process_of(edge), edge);
        format!("{} {}", Names::of(program, before).process(pid), statement_text(statement))
    };
    let partner = step.partner.map(|(pid, edge)| format!(" ⇄ {}", text(pid, edge))).unwrap_or_default();
    format!("{}{partner}", text(step.pid, step.edge))
}
