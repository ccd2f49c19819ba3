//! Which statements no run executes, and why. Only an exhaustive search can know.
//!
//! A statement that is never executed drags along all that comes after it. Only the border is told:
//! the first statement that is not executed although a process gets to it, and pieces of text that
//! no other piece leads to.

use fabius_base::{Code, Finding, SourceMap, Span};
use fabius_program::process::runs_in_action;
use fabius_program::{Action, Edge, EdgeId, Expr, LocationId, Process, ProcessId, ProcessKind, Program};
use std::collections::{BTreeSet, HashSet};

/// No more findings than this are made; a model with more has a reason that a few show.
pub const DEAD_CODE_MAX: usize = 200;

/// One finding per line on the border of what was executed; `reached` says whether some run took an edge.
pub fn dead_code(program: &Program, map: &SourceMap, reached: &dyn Fn(EdgeId) -> bool) -> Vec<Finding> {
    let started = started(program, reached);
    let mut findings = Vec::new();
    let mut lines = BTreeSet::new();
    for (i, process) in program.processes.iter().enumerate() {
        if process.kind != ProcessKind::Process {
            continue;
        }
        let places = if started.contains(&ProcessId(i as u32)) {
            border(program, process, reached)
        } else {
            let headline = format!("`{}` is never started", process.name);
            vec![(process.span, headline, "no run creates such a process".to_owned())]
        };
        for (span, headline, reason) in places {
            let shown = map.user_span(span);
            let line = map.line_column(shown.file, shown.start).0;
            if lines.insert((shown.file, line)) && findings.len() < DEAD_CODE_MAX {
                findings.push(Finding::new(Code::Unreached, headline).at(span, reason));
            }
        }
    }
    findings
}

/// Edges of which it is open whether some run takes them, where `reached` are those of the runs that were looked at: they leave places
/// that these runs come to, or lie beyond such edges. Empty if there is nothing more to be reached. The ends of processes do not count.
pub fn open_edges(program: &Program, reached: &dyn Fn(EdgeId) -> bool) -> Vec<EdgeId> {
    let started = started(program, reached);
    let mut is_open = false;
    let mut edges = Vec::new();
    for (i, process) in program.processes.iter().enumerate() {
        if process.kind != ProcessKind::Process {
            continue;
        }
        let visited = closure(program, process, process.entry, reached);
        for (location, is_visited) in process.locations.iter().zip(visited) {
            for (id, edge) in program.edges_of(location) {
                let ends = matches!(process.statements[edge.statement.0 as usize].action, Action::End);
                if !reached(id) && !ends {
                    edges.push(id);
                    is_open |= is_visited && started.contains(&ProcessId(i as u32));
                }
            }
        }
    }
    if is_open { edges } else { Vec::new() }
}

/// The process types of which at least one process was created.
pub(crate) fn started(program: &Program, reached: &dyn Fn(EdgeId) -> bool) -> BTreeSet<ProcessId> {
    let mut started: BTreeSet<ProcessId> = program.initial.iter().map(|instance| instance.process).collect();
    for (i, edge) in program.edges.iter().enumerate() {
        if reached(EdgeId(i as u32)) {
            let statement = &program.process(edge.process).statements[edge.statement.0 as usize];
            runs_in_action(&statement.action, &mut started);
        }
    }
    started
}

/// The border of what was executed in a process type.
fn border(program: &Program, process: &Process, reached: &dyn Fn(EdgeId) -> bool) -> Vec<(Span, String, String)> {
    let only = if process.provided.is_some() { "; it moves only while its `provided` holds" } else { "" };
    let visited = closure(program, process, process.entry, &|edge| reached(edge));
    let executed = executed(program, process, reached);
    let mut places = Vec::new();
    for (at, location) in process.locations.iter().enumerate() {
        if !visited[at] {
            continue;
        }
        for (id, edge) in program.edges_of(location) {
            let statement = &process.statements[edge.statement.0 as usize];
            if reached(id) || executed.contains(&statement.span) || !worth_telling(&statement.action) {
                continue;
            }
            let headline = format!("`{}` is never executed", statement.text);
            places.push((statement.span, headline, format!("{}{only}", why_never(&statement.action, edge))));
        }
    }
    places
}

/// Where the statements stand that some run executes. One statement may have edges at several locations, those of an escape at each
/// place that it can interrupt, and is executed if one of them is taken.
fn executed(program: &Program, process: &Process, reached: &dyn Fn(EdgeId) -> bool) -> HashSet<Span> {
    let edges = process.locations.iter().flat_map(|location| program.edges_of(location));
    edges.filter(|(id, _)| reached(*id)).map(|(_, edge)| process.statements[edge.statement.0 as usize].span).collect()
}

/// The locations that edges of a kind lead to, from one location on.
pub(crate) fn closure(
    program: &Program,
    process: &Process,
    from: LocationId,
    takes: &dyn Fn(EdgeId) -> bool,
) -> Vec<bool> {
    let mut visited = vec![false; process.locations.len()];
    let mut waiting = vec![from];
    while let Some(location) = waiting.pop() {
        if std::mem::replace(&mut visited[location.0 as usize], true) {
            continue;
        }
        for (id, edge) in program.edges_of(&process.locations[location.0 as usize]) {
            if takes(id) {
                waiting.push(edge.target);
            }
        }
    }
    visited
}

/// Whether a person would want to know that this is never executed.
pub fn worth_telling(action: &Action) -> bool {
    !matches!(action, Action::End | Action::Skip)
}

/// What keeps a statement from being executed at a place that processes get to. A process that is there may be kept from moving by
/// others: by an atomic sequence, its priority, its `provided`, or an escape that goes first.
fn why_never(action: &Action, edge: &Edge) -> &'static str {
    match action {
        _ if edge.escape > 0 => "whenever a process could take this escape, it is not executable",
        Action::Guard(Expr::Constant(0)) => "this is never true",
        Action::Guard(_) => "this is never true when a process could move here",
        Action::Send(_) => {
            "there is never room for the message, or nobody to receive it, when a process could move here"
        }
        Action::Receive(_) => "no message that fits is there when a process could move here",
        Action::Else => "whenever a process could move here, another option is executable",
        Action::Merged(parts) => parts.first().map_or("", |first| why_never(first, edge)),
        _ => "no process that gets here goes on",
    }
}
