//! From a table of transitions to locations, edges and statements.

use super::Draft;
use super::block::Builder;
use super::table::{Forward, Table, Transition};
use crate::flow::{ATOM, D_ATOM, El, Flow, Label, Node};
use crate::names::Names;
use fabius_base::{Code, Finding, Span};
use fabius_program::{
    Action, Edge, Expr, Location, LocationId, Place, Process, ProcessId, ProcessKind, Slot, Statement, StatementId,
};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// A process type with its edges, and the location of each state number.
pub(super) struct Automaton {
    pub process: Process,
    pub edges: Vec<Edge>,
    pub locations: BTreeMap<u32, LocationId>,
}

/// Builds the automaton of one process type from its `elements`; `first_edge` is the number of its first edge.
pub(super) fn build(
    flow: &mut Flow,
    names: &Names,
    draft: Draft,
    elements: &[El],
    index: u32,
    merging: bool,
    first_edge: u32,
) -> Automaton {
    let Some(body) = draft.body else {
        return Automaton { process: empty(draft), edges: Vec::new(), locations: BTreeMap::new() };
    };
    let mut table = Table::build(flow, names, index, body, merging);
    let entry = table.entry(body);
    let transitions = std::mem::take(&mut table.transitions);
    let marks = std::mem::take(&mut table.marks);
    let merged = std::mem::take(&mut table.merged);
    check(flow, &draft, &transitions);
    warn_of_invisible_labels(flow, index);
    let states: FxHashMap<u32, Span> = elements.iter().map(|el| (flow.el(*el).state, flow.el(*el).head.span)).collect();
    let mut labels = labels(flow, index);
    let roots = if matches!(draft.kind, ProcessKind::Trace | ProcessKind::NoTrace) {
        // What an event trace forbids, or does not know, leads to its closing brace.
        vec![entry, closing(flow, elements).unwrap_or(entry)]
    } else {
        vec![entry]
    };
    let locations = reachable(flow, index, roots, &transitions);
    let mut process = empty(draft);
    let mut statements: FxHashMap<El, StatementId> = FxHashMap::default();
    let mut edges = Vec::new();
    for (&state, &id) in &locations {
        let start = first_edge + edges.len() as u32;
        let list = transitions.get(state as usize).map_or(&[][..], Vec::as_slice);
        for transition in list.iter().filter(|t| t.forward != Forward::Nothing) {
            let statement = *statements.entry(transition.el).or_insert_with(|| {
                process.statements.push(statement(flow, names, transition, &merged));
                StatementId(process.statements.len() as u32 - 1)
            });
            edges.push(Edge {
                process: ProcessId(index),
                source: id,
                statement,
                target: locations.get(&transition.to).copied().unwrap_or(id),
                atomic: transition.atom & ATOM != 0,
                escape: transition.escape,
            });
        }
        let mark = marks.get(state as usize).copied().unwrap_or_default();
        process.locations.push(Location {
            number: state,
            edges: start..first_edge + edges.len() as u32,
            end: mark.end,
            progress: mark.progress,
            accept: mark.accept,
            labels: labels.remove(&state).unwrap_or_default(),
            span: states.get(&state).copied().unwrap_or(process.span),
        });
    }
    process.entry = locations.get(&entry).copied().unwrap_or(LocationId(0));
    Automaton { process, edges, locations }
}

fn empty(draft: Draft) -> Process {
    let shown = draft.name.trim_matches(':').to_string();
    Process {
        name: shown,
        kind: draft.kind,
        parameter_count: draft.parameter_count,
        locals: draft.locals,
        locations: Vec::new(),
        entry: LocationId(0),
        statements: Vec::new(),
        provided: draft.provided,
        deterministic: draft.deterministic,
        span: draft.span,
    }
}

/// The labels on each state of a process type.
fn labels(flow: &Flow, process: u32) -> FxHashMap<u32, Vec<String>> {
    let mut labels: FxHashMap<u32, Vec<String>> = FxHashMap::default();
    for label in flow.labels.of(process).filter(|label| !label.moved && !label.at.name.starts_with(':')) {
        labels.entry(flow.el(label.el).state).or_default().push(label.at.name.to_string());
    }
    labels
}

/// The state behind the last step of a process.
fn closing(flow: &Flow, elements: &[El]) -> Option<u32> {
    elements.iter().map(|el| flow.el(*el)).find(|e| matches!(e.node, Node::End)).map(|e| e.state)
}

/// States that a process can be in, those in `waiting`, and those that have labels, in the order of their numbers.
fn reachable(
    flow: &Flow,
    process: u32,
    mut waiting: Vec<u32>,
    transitions: &[Vec<Transition>],
) -> BTreeMap<u32, LocationId> {
    let mut found = BTreeMap::new();
    let labelled = flow.labels.of(process).filter(|l| !l.at.name.starts_with(':'));
    waiting.extend(labelled.map(|l| flow.el(l.el).state));
    while let Some(state) = waiting.pop() {
        if found.insert(state, LocationId(0)).is_some() {
            continue;
        }
        let list = transitions.get(state as usize).map_or(&[][..], Vec::as_slice);
        waiting.extend(list.iter().filter(|t| t.forward != Forward::Nothing && t.to != 0).map(|t| t.to));
    }
    for (index, id) in found.values_mut().enumerate() {
        *id = LocationId(index as u32);
    }
    found
}

fn statement(flow: &mut Flow, names: &Names, transition: &Transition, merged: &FxHashMap<El, Vec<El>>) -> Statement {
    let el = transition.el;
    let action = match transition.forward {
        Forward::Else => Action::Else,
        Forward::Skip | Forward::Nothing => Action::Skip,
        Forward::Step => step(flow, names, el, merged.get(&el).map_or(&[][..], Vec::as_slice)),
    };
    let head = &flow.el(el).head;
    let text = if matches!(flow.el(el).node, Node::End) { String::new() } else { head.text.clone() };
    Statement { number: el.0, action, text, span: head.span }
}

/// What an element does, together with the elements merged into it and the variables reset behind it.
fn step(flow: &mut Flow, names: &Names, el: El, rest: &[El]) -> Action {
    let mut actions = Vec::new();
    for (index, el) in std::iter::once(el).chain(rest.iter().copied()).enumerate() {
        let action = match flow.el(el).node.clone() {
            Node::Action(action) => action,
            Node::Prioritise(e) => Action::SetPriority(Expr::Pid, e),
            Node::DStep(body) => Action::Block(Builder::build(flow, names, body)),
            Node::End => Action::End,
            _ => Action::Skip,
        };
        let nothing = matches!(action, Action::Skip | Action::Guard(Expr::Constant(1)));
        if index == 0 || !nothing {
            actions.push(action);
        }
        for variable in &flow.el(el).merge.dead {
            let place = Place { slot: Slot::Local(*variable), indices: Vec::new() };
            actions.push(Action::Assign(place, Expr::Constant(0)));
        }
    }
    if actions.len() > 1 && matches!(actions[0], Action::Skip) {
        actions.remove(0);
    }
    if actions.len() == 1 { actions.swap_remove(0) } else { Action::Merged(actions) }
}

/// Inside an atomic sequence there are no states of their own for labels to mark.
fn warn_of_invisible_labels(flow: &mut Flow, process: u32) {
    let labels: Vec<Label> = flow.labels.of(process).filter(|label| !label.moved).cloned().collect();
    for label in labels {
        let (name, status) = (&label.at.name, flow.el(label.el).status);
        let special = name.starts_with("progress") || name.starts_with("accept");
        let inside = match status {
            s if s & D_ATOM != 0 && (special || name.starts_with("end")) => "d_step",
            s if s & ATOM != 0 && special => "atomic",
            _ => continue,
        };
        let finding = Finding::new(Code::InvisibleLabel, format!("the label `{name}` is inside a `{inside}`"))
            .at(flow.el(label.el).head.span, "no process is ever seen here by others")
            .note("only states between steps are looked at for such labels")
            .help(format!("move the label before the `{inside}`"));
        flow.report_once(finding);
    }
}

/// What Spin's verifier refuses when it looks at its tables.
fn check(flow: &mut Flow, draft: &Draft, transitions: &[Vec<Transition>]) {
    for (state, list) in transitions.iter().enumerate() {
        let elses: Vec<El> = list.iter().filter(|t| t.forward == Forward::Else).map(|t| t.el).collect();
        if let ([first, second, ..], false) = (&elses[..], flow.findings.has(Code::BadElse)) {
            let (first, second) = (*first, *second);
            let finding = Finding::new(Code::BadElse, "two `else` meet in one choice")
                .at(flow.el(second).head.span, "this one")
                .at(flow.el(first).head.span, "and this one")
                .note("a selection that begins an option of another one adds its options to that one's")
                .help("put a `skip` before the inner selection");
            flow.report_once(finding);
        }
        let turns = list.iter().find(|t| {
            t.to == state as u32
                && t.forward == Forward::Skip
                && matches!(flow.el(t.el).node, Node::Action(Action::Guard(_)))
        });
        if let (Some(transition), ProcessKind::Process) = (turns, draft.kind) {
            let finding = Finding::new(Code::EndlessStep, "this step only leads back to itself")
                .at(flow.el(transition.el).head.span, "can be taken for ever")
                .note("Spin refuses such a model")
                .help("use `(false)` if the process is to stop here");
            flow.report_once(finding);
        }
    }
}
