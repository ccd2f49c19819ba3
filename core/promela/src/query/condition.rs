//! Where the parts of a statement that is a condition stand.

use crate::ast::{BinOp, Expr, ExprKind, Model, Sequence, Step, StepKind, UnOp, Unit};
use fabius_base::Span;
use fabius_language::{Condition, ConditionOperator};

/// The parts of the condition that is the statement at a place.
pub(crate) fn condition(model: &Model, statement: Span) -> Option<Condition> {
    let bodies = model.units.iter().filter_map(|unit| match unit {
        Unit::Proctype(process) => Some(&process.body),
        Unit::Init(process) => Some(&process.body),
        Unit::Never(claim) => Some(&claim.body),
        _ => None,
    });
    bodies.into_iter().find_map(|body| in_sequence(body, statement))
}

/// The parts of the `provided` of a process type.
pub(crate) fn provided(model: &Model, process: &str) -> Option<Condition> {
    let found = model.units.iter().find_map(|unit| match unit {
        Unit::Proctype(found) if &*found.name.text == process => Some(found),
        _ => None,
    });
    found?.provided.as_ref().map(parts)
}

fn in_sequence(sequence: &Sequence, wanted: Span) -> Option<Condition> {
    sequence.steps.iter().find_map(|step| in_step(step, wanted))
}

fn in_step(step: &Step, wanted: Span) -> Option<Condition> {
    match &step.kind {
        StepKind::Expr(expr) if step.span == wanted => Some(parts(expr)),
        StepKind::If(options) | StepKind::Do(options) => options.iter().find_map(|option| in_sequence(option, wanted)),
        StepKind::Atomic(body) | StepKind::DStep(body) | StepKind::Block(body) => in_sequence(body, wanted),
        StepKind::Inlined { body, .. } | StepKind::ForRange { body, .. } | StepKind::ForIn { body, .. } => {
            in_sequence(body, wanted)
        }
        StepKind::Unless { main, escape } => in_step(main, wanted).or_else(|| in_step(escape, wanted)),
        _ => None,
    }
}

/// The parts of an expression, as it is lowered.
fn parts(expr: &Expr) -> Condition {
    use ConditionOperator::{And, Not, Or};
    let join = |operator, operands| Condition { span: expr.span, last: last(expr), operator, operands };
    match &expr.kind {
        ExprKind::Unary(UnOp::Not, operand) => join(Not, vec![parts(operand)]),
        ExprKind::Binary(BinOp::And, left, right) => join(And, vec![parts(left), parts(right)]),
        ExprKind::Binary(BinOp::Or, left, right) => join(Or, vec![parts(left), parts(right)]),
        ExprKind::Binary(BinOp::Implies, left, right) => {
            let not = Condition { span: left.span, last: last(left), operator: Not, operands: vec![parts(left)] };
            join(Or, vec![not, parts(right)])
        }
        _ => join(ConditionOperator::None, Vec::new()),
    }
}

/// Where the last operand of an expression stands.
fn last(mut expr: &Expr) -> Span {
    loop {
        match &expr.kind {
            ExprKind::Unary(_, operand) | ExprKind::Binary(_, _, operand) => expr = operand,
            _ => return expr.span,
        }
    }
}
