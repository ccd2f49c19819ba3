//! Ranges of values that are chosen from, cut down to values between which the model can tell a difference.
//!
//! ```text
//! sets of variables and fields of messages between which values are copied;
//! used otherwise than in a comparison with a constant, in another copy, or in output: nothing is cut
//! two values are alike if every comparison of the set has the same outcome for both
//! choice   :: x = 1 :: x = 2 …   of the values that are alike, the first one is left
//! loop     that counts x up      can be left only with the first of the values that are alike, in a row
//! ```
//!
//! A run of what is left is a run of the program: some of its steps are not taken. Conversely, of each run of the program there is one of what is
//! left that differs in nothing but values that are alike, and, at loops, in how often they go round; so every property that is asked of
//! the one has the same answer for the other. (A comparison, and with it every step and every formula, has the same outcome on both: a
//! bisimulation for choices, equality of runs up to stuttering for loops.)
//!
//! This is a small part of what the abstraction of programs with inputs does (as in McMillan, *Lazy abstraction with interpolants*): the predicates are
//! those that the text compares with, and nothing is refined.

mod flow;
mod loops;

use crate::{Action, BinaryOp, EdgeId, Expr, Place, ProcessId, ProcessKind, Program, Slot, StatementId};
use fabius_base::Span;
use flow::{Flow, Node, answers};
use loops::{Counting, counting, restricted};
use std::collections::{BTreeMap, BTreeSet};

/// A loop that would have to be left at more values than this is not cut.
const EXITS_MAX: usize = 100;

/// A program whose ranges were cut.
#[derive(Clone, Debug)]
pub struct Cut {
    /// What is left: the same locations and edges, but some can never be taken, or only with certain values.
    pub program: Program,
    /// What was cut.
    pub ranges: Vec<CutRange>,
    /// Edges that can never be taken because another one does what they do.
    pub passed_over: BTreeSet<EdgeId>,
}

/// A range of values that was cut.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CutRange {
    /// The variable.
    pub variable: String,
    /// The process type that chooses.
    pub process: String,
    /// Where.
    pub span: Span,
    /// How many values there are, …
    pub values: u64,
    /// … and which of them are left.
    pub kept: Vec<i32>,
}

/// A program whose ranges are cut; `None` if there is nothing to cut.
pub fn cut_ranges(program: &Program) -> Option<Cut> {
    let loops = counting(program);
    let steps: BTreeSet<usize> = loops.iter().map(|counting| counting.step).collect();
    let mut flow = Flow::of(program, &steps);
    for counting in &loops {
        flow.store(counting.node, counting.to);
    }
    let mut cut = Cut { program: program.clone(), ranges: Vec::new(), passed_over: BTreeSet::new() };
    for counting in &loops {
        cut.leave_loop(program, &flow, counting);
    }
    for (at, process) in program.processes.iter().enumerate() {
        if process.kind == ProcessKind::Process && !process.deterministic {
            process
                .locations
                .iter()
                .for_each(|location| cut.choose(program, &flow, ProcessId(at as u32), location.edges.clone()));
        }
    }
    cut.ranges.sort_by_key(|range| (range.span.start, range.kept.first().copied()));
    (!cut.ranges.is_empty()).then_some(cut)
}

impl Cut {
    /// Lets a loop be left only with values that differ from those before.
    fn leave_loop(&mut self, program: &Program, flow: &Flow, counting: &Counting) {
        let Counting { node, place, from, to, exits, step } = counting;
        let (Some(questions), Some(&first)) = (flow.questions(*node), from.first()) else { return };
        let differs = |value: &i32| {
            first < *value && value <= to && answers(&questions, *value) != answers(&questions, *value - 1)
        };
        let changes = questions.iter().flat_map(|(_, constant)| [*constant, constant.saturating_add(1)]);
        let kept: BTreeSet<i32> = changes.filter(differs).chain(from.iter().copied()).collect();
        let values = (i64::from(*to) - i64::from(first) + 1).unsigned_abs();
        if values <= kept.len() as u64 || EXITS_MAX < kept.len() {
            return;
        }
        let is = |value: &i32| Expr::binary(BinaryOp::Equal, Expr::Load(place.clone()), Expr::Constant(*value));
        let Some(condition) = kept.iter().map(is).reduce(|a, b| Expr::binary(BinaryOp::Or, a, b)) else { return };
        for &exit in exits {
            let statement = program.edges[exit].statement;
            let process = program.edges[exit].process;
            let action = &program.process(process).statements[statement.0 as usize].action;
            if let Some(action) = restricted(action, &condition) {
                self.replace(exit, action);
            }
        }
        self.tell(program, *step, place, values, kept.into_iter().collect());
    }

    /// Of a process's choices between constants, leaves out those that differ from none before.
    fn choose(&mut self, program: &Program, flow: &Flow, id: ProcessId, edges: std::ops::Range<u32>) {
        let process = program.process(id);
        let mut open: Vec<usize> = edges.map(|edge| edge as usize).collect();
        while let Some(&first) = open.first() {
            let action = |edge: usize| &process.statements[program.edges[edge].statement.0 as usize].action;
            let (alike, others): (Vec<usize>, Vec<usize>) = open.iter().copied().partition(|&edge| {
                let (one, other) = (&program.edges[first], &program.edges[edge]);
                edge == first
                    || (one.target, one.atomic, one.escape) == (other.target, other.atomic, other.escape)
                        && differ_in_a_constant(action(first), action(edge))
            });
            open = others;
            let Some((place, _)) = constant_stored(action(first)) else { continue };
            let node = match place.slot {
                Slot::Global(variable) => Node::Global(variable),
                Slot::Local(variable) => Node::Local(id, variable),
            };
            let Some(questions) = flow.questions(node).filter(|_| 1 < alike.len()) else { continue };
            let values = alike.iter().filter_map(|&edge| Some((edge, constant_stored(action(edge))?.1)));
            let values: Vec<(usize, i32)> = values.collect();
            let mut kept: BTreeMap<Vec<bool>, i32> = BTreeMap::new();
            let mut left_out = Vec::new();
            for &(edge, value) in &values {
                match kept.get(&answers(&questions, value)) {
                    Some(_) => left_out.push(edge),
                    None => drop(kept.insert(answers(&questions, value), value)),
                }
            }
            let distinct: BTreeSet<i32> = values.iter().map(|(_, value)| *value).collect();
            let kept: BTreeSet<i32> = kept.into_values().collect();
            // Options that store the same are left as they are.
            if distinct.len() <= kept.len() {
                continue;
            }
            for edge in left_out {
                self.passed_over.insert(EdgeId(edge as u32));
                self.replace(edge, Action::Guard(Expr::Constant(0)));
            }
            self.tell(program, first, place, distinct.len() as u64, kept.into_iter().collect());
        }
    }

    /// Gives an edge another action; other edges may share its statement.
    fn replace(&mut self, edge: usize, action: Action) {
        let edge = &mut self.program.edges[edge];
        let statements = &mut self.program.processes[edge.process.0 as usize].statements;
        let statement = crate::Statement { action, ..statements[edge.statement.0 as usize].clone() };
        edge.statement = StatementId(statements.len() as u32);
        statements.push(statement);
    }

    fn tell(&mut self, program: &Program, edge: usize, place: &Place, values: u64, kept: Vec<i32>) {
        let edge = &program.edges[edge];
        let process = program.process(edge.process);
        let variable = match place.slot {
            Slot::Global(variable) => &program.globals[variable.0 as usize],
            Slot::Local(variable) => &process.locals[variable.0 as usize],
        };
        let span = process.statements[edge.statement.0 as usize].span;
        let (variable, process) = (variable.name.clone(), process.name.clone());
        self.ranges.push(CutRange { variable, process, span, values, kept });
    }
}

/// The constant that a step begins with storing, and where.
fn constant_stored(action: &Action) -> Option<(&Place, i32)> {
    match action {
        Action::Assign(place, Expr::Constant(value)) => Some((place, *value)),
        Action::Merged(parts) => constant_stored(parts.first()?),
        _ => None,
    }
}

/// Whether two steps do the same, but for the constant that they begin with storing.
fn differ_in_a_constant(a: &Action, b: &Action) -> bool {
    let (Some((to, _)), Some((other, _))) = (constant_stored(a), constant_stored(b)) else { return false };
    let rest = |action: &Action| match action {
        Action::Merged(parts) => parts[1..].to_vec(),
        _ => Vec::new(),
    };
    to == other && rest(a) == rest(b)
}
