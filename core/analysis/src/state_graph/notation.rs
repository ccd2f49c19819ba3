//! A graph in the notations of other tools: Graphviz and Mermaid.

use super::{Edge, Node, StateGraph};
use std::fmt::Write as _;

/// At most this many characters of a step are written.
const STEP_WIDTH: usize = 40;
/// At most this many steps of an edge are written.
const STEPS_MAX: usize = 3;

/// What leads from one node to another, a line each, the first of many.
pub(super) fn step_lines(edge: &Edge, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = edge.steps.iter().take(STEPS_MAX).map(|step| shortened(step, width)).collect();
    if STEPS_MAX < edge.steps.len() {
        lines.push(format!("and {} more", edge.steps.len() - STEPS_MAX));
    }
    lines
}

pub(super) fn shortened(text: &str, width: usize) -> String {
    match text.char_indices().nth(width) {
        None => text.to_owned(),
        Some(_) => text.chars().take(width - 1).chain(['…']).collect(),
    }
}

/// The lines of a node.
pub(super) fn node_lines(node: &Node) -> Vec<String> {
    let mut lines = node.label.clone();
    if let Some(error) = node.error.as_ref().filter(|error| node.label.first() != Some(error)) {
        lines.push(match node.errors {
            errors if errors < node.states => format!("{error} in {errors} of {} states", node.states),
            _ => error.clone(),
        });
    }
    if 1 < node.states && (node.errors == 0 || node.errors == node.states) {
        lines.push(format!("{} states", node.states));
    }
    if node.open {
        lines.push("more follows".to_owned());
    }
    lines
}

/// The graph for Graphviz.
pub fn dot(graph: &StateGraph) -> String {
    let mut text = String::from(
        "digraph states {\n  node [shape=box, style=rounded, fontname=\"monospace\", fontsize=10];\n  edge [fontname=\"monospace\", fontsize=9];\n",
    );
    for (at, node) in graph.nodes.iter().enumerate() {
        let mut attributes =
            format!("label=\"{}\"", node_lines(node).iter().map(|line| quoted(line)).collect::<Vec<_>>().join("\\n"));
        if node.initial {
            attributes.push_str(", penwidth=2");
        }
        if node.end {
            attributes.push_str(", peripheries=2");
        }
        if node.transient || node.open {
            attributes.push_str(", style=\"rounded,dashed\"");
        }
        if node.error.is_some() {
            attributes.push_str(", color=red, fontcolor=red");
        } else if node.on_run {
            attributes.push_str(", color=orange");
        }
        let _ = writeln!(text, "  n{at} [{attributes}];");
    }
    for edge in &graph.edges {
        let lines: Vec<String> = step_lines(edge, STEP_WIDTH).iter().map(|line| quoted(line)).collect();
        let colour = match (edge.fails, edge.on_run) {
            (true, _) => ", color=red",
            (false, true) => ", color=orange, penwidth=2",
            (false, false) => "",
        };
        let _ = writeln!(text, "  n{} -> n{} [label=\"{}\"{colour}];", edge.from, edge.to, lines.join("\\n"));
    }
    text.push_str("}\n");
    text
}

/// Text inside quotation marks of Graphviz.
fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

/// The graph for Mermaid.
pub fn mermaid(graph: &StateGraph) -> String {
    let mut text = String::from("flowchart TD\n");
    for (at, node) in graph.nodes.iter().enumerate() {
        let lines: Vec<String> = node_lines(node).iter().map(|line| plain(line)).collect();
        let (open, close) = if node.end { ("([", "])") } else { ("(", ")") };
        let _ = writeln!(text, "  n{at}{open}\"{}\"{close}", lines.join("<br/>"));
    }
    for edge in &graph.edges {
        let lines: Vec<String> = step_lines(edge, STEP_WIDTH).iter().map(|line| plain(line)).collect();
        let arrow = if edge.on_run || edge.fails { "==>" } else { "-->" };
        let _ = writeln!(text, "  n{} {arrow}|\"{}\"| n{}", edge.from, lines.join("<br/>"), edge.to);
    }
    for (at, node) in graph.nodes.iter().enumerate() {
        if node.error.is_some() {
            let _ = writeln!(text, "  style n{at} stroke:#d1242f,color:#d1242f");
        } else if node.on_run {
            let _ = writeln!(text, "  style n{at} stroke:#e9a23b,stroke-width:3px");
        }
    }
    text
}

/// Text that Mermaid takes for nothing else.
fn plain(text: &str) -> String {
    text.replace('&', "#amp;").replace('"', "#quot;").replace('<', "#lt;").replace('>', "#gt;")
}
