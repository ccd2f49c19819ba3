//! The automata of process types.

use super::{Edge, Node, StateGraph};
use fabius_base::Span;
use fabius_program::{Process, Program};
use fabius_witness::show::statement_text;
use std::collections::BTreeMap;

/// The automata of all process types, claims and event traces, side by side: their locations, and the statements that lead
/// from one to another.
pub fn automata(program: &Program, place: &dyn Fn(Span) -> String) -> StateGraph {
    let mut graph = StateGraph::default();
    for process in &program.processes {
        add(&mut graph, program, process, place);
    }
    graph
}

fn add(graph: &mut StateGraph, program: &Program, process: &Process, place: &dyn Fn(Span) -> String) {
    let first = graph.nodes.len();
    let mut edges: BTreeMap<(usize, usize), Vec<String>> = BTreeMap::new();
    for (at, location) in process.locations.iter().enumerate() {
        let initial = at == process.entry.0 as usize;
        let name = initial.then(|| process.name.clone());
        let labels = location.labels.iter().map(|label| format!("{label}:"));
        let marks = [(location.accept, "accepting"), (location.progress, "progress")];
        let marks = marks.into_iter().filter(|(is, _)| *is).map(|(_, mark)| mark.to_owned());
        let label = name.into_iter().chain([place(location.span)]).chain(labels).chain(marks).collect();
        graph.nodes.push(Node { label, states: 0, initial, end: location.end, ..Node::default() });
        for (_, edge) in program.edges_of(location) {
            let statement = &process.statements[edge.statement.0 as usize];
            let atomic = if edge.atomic { " (atomic)" } else { "" };
            let steps = edges.entry((first + at, first + edge.target.0 as usize)).or_default();
            steps.push(format!("{}{atomic}", statement_text(statement)));
        }
    }
    let drawn = edges.into_iter().map(|((from, to), steps)| Edge { from, to, steps, on_run: false, fails: false });
    graph.edges.extend(drawn);
}
