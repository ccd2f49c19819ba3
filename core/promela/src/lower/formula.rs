//! Formulas of `ltl` properties.

use super::Lowering;
use crate::ast::{self, BinOp, Expr, ExprKind, UnOp};
use fabius_base::{Code, Finding};
use fabius_program::{Formula, Property, PropertyKind};

impl Lowering<'_> {
    /// `ltl name { formula }`
    pub(super) fn ltl(&mut self, ltl: &ast::Ltl) {
        (self.in_ltl, self.in_outside) = (true, ltl.outside);
        let name = ltl.name.as_ref().map_or_else(|| format!("ltl_{}", self.ltl_names), |n| n.text.to_string());
        if self.property_names.contains(&name) {
            let headline = format!("there are two properties `{name}`");
            self.error(Code::Redeclared, ltl.span, headline, "the second one");
        }
        let mut propositions = Vec::new();
        let formula = self.formula(&ltl.formula, &mut propositions);
        let names = self.names_in(&ltl.formula, &propositions);
        self.add_property(Property { name, kind: PropertyKind::Ltl(formula), span: Some(ltl.span), names });
        (self.in_ltl, self.in_outside) = (false, false);
    }

    /// The formula, and its propositions as they are written.
    fn formula<'a>(&mut self, e: &'a Expr, propositions: &mut Vec<(&'a Expr, fabius_program::Expr)>) -> Formula {
        let over_states = match &e.kind {
            ExprKind::Unary(op, _) => matches!(op, UnOp::Neg | UnOp::BitNot),
            ExprKind::Binary(op, ..) => !matches!(
                op,
                BinOp::And
                    | BinOp::Or
                    | BinOp::Implies
                    | BinOp::Equiv
                    | BinOp::Until
                    | BinOp::WeakUntil
                    | BinOp::Release
            ),
            _ => true,
        };
        if over_states || !temporal(e) {
            let lowered = self.expression(e);
            propositions.push((e, lowered.clone()));
            return Formula::Proposition(lowered);
        }
        match &e.kind {
            ExprKind::Unary(op, a) => {
                if *op == UnOp::Next {
                    self.report(
                        Finding::new(Code::NotAllowedHere, "the operator `X` (next) cannot be used")
                            .at(e.span, "what the next step is depends on how steps are divided")
                            .note("Spin is built without it as well"),
                    );
                }
                let a = Box::new(self.formula(a, propositions));
                match op {
                    UnOp::Not => Formula::Not(a),
                    UnOp::Next => Formula::Next(a),
                    UnOp::Always => Formula::Always(a),
                    UnOp::Eventually => Formula::Eventually(a),
                    UnOp::Neg | UnOp::BitNot => self.misplaced(e),
                }
            }
            ExprKind::Binary(op, a, b) => {
                let (a, b) = (Box::new(self.formula(a, propositions)), Box::new(self.formula(b, propositions)));
                match op {
                    BinOp::And => Formula::And(a, b),
                    BinOp::Or => Formula::Or(a, b),
                    BinOp::Implies => Formula::Implies(a, b),
                    BinOp::Equiv => Formula::Equivalent(a, b),
                    BinOp::Until => Formula::Until(a, b),
                    BinOp::WeakUntil => Formula::WeakUntil(a, b),
                    BinOp::Release => Formula::Release(a, b),
                    _ => self.misplaced(e),
                }
            }
            _ => self.misplaced(e),
        }
    }

    /// An operator over states has a temporal one below it. Spin takes the latter for a number.
    fn misplaced(&mut self, e: &Expr) -> Formula {
        Formula::Proposition(self.expression(e))
    }
}

/// Whether a temporal operator occurs.
fn temporal(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Unary(UnOp::Next | UnOp::Always | UnOp::Eventually, _) => true,
        ExprKind::Unary(_, a) => temporal(a),
        ExprKind::Binary(BinOp::Until | BinOp::WeakUntil | BinOp::Release, ..) => true,
        ExprKind::Binary(_, a, b) => temporal(a) || temporal(b),
        ExprKind::Conditional(a, b, c) => temporal(a) || temporal(b) || temporal(c),
        _ => false,
    }
}
