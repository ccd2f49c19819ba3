//! A formula down to its literals: connectives inside of propositions become connectives of the formula, and constants are folded.

use super::read::cannot_fail;
use crate::{BinaryOp, Expr, Formula, UnaryOp};

/// Formulas that are nested deeper are not taken apart.
const DEPTH_MAX: usize = 200;
/// Nor are formulas with more operators and propositions.
const SIZE_MAX: usize = 1_000;

/// The same formula with connectives in place of `!`, `&&` and `||` inside of propositions, where the order of evaluation does not
/// matter; `None` if it is larger than anything that a person writes.
pub fn apart(formula: &Formula) -> Option<Formula> {
    let whole = opened(formula.clone());
    fits(&whole).then_some(whole)
}

/// How deep it is nested, and how large it is, are within the limits.
fn fits(formula: &Formula) -> bool {
    let (mut open, mut size) = (vec![(formula, 1)], 0);
    while let Some((formula, depth)) = open.pop() {
        size += 1;
        if DEPTH_MAX < depth || SIZE_MAX < size {
            return false;
        }
        let (a, b) = formula.operands();
        open.extend(a.into_iter().chain(b).map(|operand| (operand, depth + 1)));
    }
    true
}

/// Opens propositions from the outside to the inside, without recursion over the formula.
fn opened(mut formula: Formula) -> Formula {
    let mut open = vec![&mut formula];
    while let Some(here) = open.pop() {
        if let Formula::Proposition(expr) = here
            && let Some(taken_apart) = connective(expr, cannot_fail)
        {
            *here = taken_apart;
        }
        let (a, b) = here.operands_mut();
        open.extend(a.into_iter().chain(b));
    }
    formula
}

/// An expression with a connective at its top, as a formula over its operands, if it may be taken apart.
pub(super) fn connective(expr: &Expr, may: fn(&Expr) -> bool) -> Option<Formula> {
    let part = |e: &Expr| Box::new(Formula::Proposition(e.clone()));
    match expr {
        Expr::Unary(UnaryOp::Not, a) => Some(Formula::Not(part(a))),
        Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or | BinaryOp::Equal), a, b) if may(expr) => {
            match (op, &**a, &**b) {
                (BinaryOp::And, ..) => Some(Formula::And(part(a), part(b))),
                (BinaryOp::Or, Expr::Unary(UnaryOp::Not, a), _) => Some(Formula::Implies(part(a), part(b))),
                (BinaryOp::Or, ..) => Some(Formula::Or(part(a), part(b))),
                // How `a <-> b` is computed: !a == !b.
                (_, Expr::Unary(UnaryOp::Not, a), Expr::Unary(UnaryOp::Not, b)) => {
                    Some(Formula::Equivalent(part(a), part(b)))
                }
                _ => None,
            }
        }
        _ => None,
    }
}

/// A formula that always or never holds.
pub(super) fn constant(value: bool) -> Formula {
    Formula::Proposition(Expr::Constant(i32::from(value)))
}

/// Whether it always or never holds, where that is obvious.
pub(super) fn value_of(formula: &Formula) -> Option<bool> {
    let Formula::Proposition(expr) = formula else { return None };
    expr.constant().map(|value| value != 0)
}

/// The same formula with its constants folded. It must not be larger than what [`apart`] takes.
pub(super) fn folded(formula: &Formula) -> Formula {
    let (a, b) = formula.operands();
    match (a.map(folded), b.map(folded)) {
        (Some(a), Some(b)) => binary(formula, a, b),
        (Some(a), None) => unary(formula, a),
        _ => formula.clone(),
    }
}

fn unary(operator: &Formula, a: Formula) -> Formula {
    let value = value_of(&a);
    match (operator, value) {
        (Formula::Not(_), Some(value)) => constant(!value),
        (_, Some(_)) => a,
        (Formula::Not(_), None) => negation(a),
        (Formula::Next(_), None) => Formula::Next(Box::new(a)),
        (Formula::Always(_), None) => Formula::Always(Box::new(a)),
        _ => Formula::Eventually(Box::new(a)),
    }
}

fn negation(a: Formula) -> Formula {
    match &a {
        Formula::Not(inner) => (**inner).clone(),
        _ => Formula::Not(Box::new(a)),
    }
}

fn binary(operator: &Formula, a: Formula, b: Formula) -> Formula {
    use Formula::{Always, And, Equivalent, Eventually, Implies, Or, Release, Until, WeakUntil};
    let (left, right) = (value_of(&a), value_of(&b));
    match (operator, left, right) {
        (And(..), Some(false), _)
        | (And(..), _, Some(false))
        | (Until(..) | Release(..), _, Some(false))
        | (Implies(..), Some(true), Some(false)) => constant(false),
        (Or(..), Some(true), _)
        | (Or(..) | Implies(..) | Until(..) | WeakUntil(..) | Release(..), _, Some(true))
        | (Implies(..), Some(false), _)
        | (WeakUntil(..), Some(true), _) => constant(true),
        (And(..) | Implies(..) | Equivalent(..) | Release(..), Some(true), _)
        | (Or(..) | Until(..) | WeakUntil(..), Some(false), _) => b,
        (And(..) | Equivalent(..), _, Some(true)) | (Or(..), _, Some(false)) => a,
        (Implies(..) | Equivalent(..), _, Some(false)) => negation(a),
        (Equivalent(..), Some(false), _) => negation(b),
        (WeakUntil(..), _, Some(false)) => Always(Box::new(a)),
        (Until(..), Some(true), _) => Eventually(Box::new(b)),
        (Release(..), Some(false), _) => Always(Box::new(b)),
        (And(..), ..) => And(Box::new(a), Box::new(b)),
        (Or(..), ..) => Or(Box::new(a), Box::new(b)),
        (Implies(..), ..) => Implies(Box::new(a), Box::new(b)),
        (Equivalent(..), ..) => Equivalent(Box::new(a), Box::new(b)),
        (WeakUntil(..), ..) => WeakUntil(Box::new(a), Box::new(b)),
        (Release(..), ..) => Release(Box::new(a), Box::new(b)),
        _ => Until(Box::new(a), Box::new(b)),
    }
}
