//! The automata of process types.

use super::labels::place;
use super::{Edge, Node, StateGraph};
use fabius_base::Span;
use fabius_program::lossy::lost_send;
use fabius_program::{Process, Program};
use fabius_witness::show::statement_text;
use std::collections::BTreeMap;

/// The automata of all process types, claims and event traces, side by side: their locations, and the statements that lead
/// from one to another.
pub fn automata(program: &Program, line_of: &dyn Fn(Span) -> Option<u32>) -> StateGraph {
    let mut graph = StateGraph::default();
    for process in &program.processes {
        add(&mut graph, program, process, line_of);
    }
    graph
}

fn add(graph: &mut StateGraph, program: &Program, process: &Process, line_of: &dyn Fn(Span) -> Option<u32>) {
    let first = graph.nodes.len();
    let mut edges: BTreeMap<(usize, usize), Edge> = BTreeMap::new();
    for (at, location) in process.locations.iter().enumerate() {
        let initial = at == process.entry.0 as usize;
        let name = initial.then(|| process.name.clone());
        let labels = location.labels.iter().map(|label| format!("{label}:"));
        let marks = [(location.accept, "accepting"), (location.progress, "progress")];
        let marks = marks.into_iter().filter(|(is, _)| *is).map(|(_, mark)| mark.to_owned());
        let line = line_of(location.span);
        let label = name.into_iter().chain([place(line)]).chain(labels).chain(marks).collect();
        let lines = line.into_iter().collect();
        let number = Some((process.name.clone(), at as u32));
        let end = location.end;
        graph.nodes.push(Node { label, lines, states: 0, initial, end, location: number, ..Node::default() });
        for (id, edge) in program.edges_of(location) {
            let statement = &process.statements[edge.statement.0 as usize];
            let atomic = if edge.atomic { " (atomic)" } else { "" };
            let (from, to) = (first + at, first + edge.target.0 as usize);
            let drawn = edges.entry((from, to)).or_insert_with(|| Edge::between(from, to));
            let lost = if lost_send(program, id).is_some() { " (lost)" } else { "" };
            drawn.steps.push(format!("{}{lost}{atomic}", statement_text(statement)));
            drawn.lines.extend(line_of(program.span_of(id)));
        }
    }
    graph.edges.extend(edges.into_values());
}
