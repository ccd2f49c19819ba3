//! Formulas as a person would write them.

use super::claim;
use super::parts::{apart, connective};
use crate::{Expr, Formula, Program, Property};

/// How a formula is written: with the names that its text has for propositions, and no more parentheses than needed.
pub struct FormulaText<'a> {
    program: &'a Program,
    /// Propositions that have names.
    names: Vec<(Formula, &'a str)>,
}

/// How tightly a text holds together; an operand that holds less tightly than its operator asks for is put in parentheses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Tightness {
    Loose,
    Implication,
    Disjunction,
    Conjunction,
    Comparison,
    Unary,
    Name,
}

impl<'a> FormulaText<'a> {
    /// The names of the formula of a property.
    pub fn of(program: &'a Program, property: &'a Property) -> Self {
        let named =
            |(expr, name): &'a (Expr, String)| Some((apart(&Formula::Proposition(expr.clone()))?, name.as_str()));
        Self { program, names: property.names.iter().filter_map(named).collect() }
    }

    /// The text of a formula, or of a part of it.
    pub fn text(&self, formula: &Formula) -> String {
        self.tight(formula).0
    }

    /// Whether the text has a name for a formula.
    pub fn is_named(&self, formula: &Formula) -> bool {
        self.names.iter().any(|(named, _)| named == formula)
    }

    fn tight(&self, formula: &Formula) -> (String, Tightness) {
        use Tightness::{Comparison, Conjunction, Disjunction, Implication, Loose, Name, Unary};
        if let Some((_, name)) = self.names.iter().find(|(named, _)| named == formula) {
            let is_word = name.chars().all(|c| c.is_alphanumeric() || "_@[].:".contains(c));
            return ((*name).to_owned(), if is_word { Name } else { Comparison });
        }
        let part = |f: &Formula, least: Tightness| {
            let (text, tightness) = self.tight(f);
            if tightness < least { format!("({text})") } else { text }
        };
        let two = |a, op: &str, b, least: Tightness| format!("{} {op} {}", part(a, least), part(b, least));
        match formula {
            // However it is evaluated, it reads as what it means.
            Formula::Proposition(e) => match (connective(e, |_| true), e) {
                (Some(apart), _) => self.tight(&apart),
                (None, Expr::Binary(..)) => (claim::text(self.program, e), Comparison),
                (None, Expr::Unary(..)) => (claim::text(self.program, e), Unary),
                (None, Expr::Constant(value)) => (if *value == 0 { "false" } else { "true" }.to_owned(), Name),
                (None, _) => (claim::text(self.program, e), Name),
            },
            Formula::Not(a) => (format!("!{}", part(a, Unary)), Unary),
            Formula::Next(a) => (format!("X {}", part(a, Unary)), Unary),
            Formula::Always(a) => (format!("[] {}", part(a, Unary)), Unary),
            Formula::Eventually(a) => (format!("<> {}", part(a, Unary)), Unary),
            Formula::And(a, b) => (two(a, "&&", b, Conjunction), Conjunction),
            Formula::Or(a, b) => (two(a, "||", b, Disjunction), Disjunction),
            Formula::Implies(a, b) => (two(a, "->", b, Disjunction), Implication),
            Formula::Equivalent(a, b) => (two(a, "<->", b, Disjunction), Implication),
            Formula::Until(a, b) => (two(a, "U", b, Unary), Loose),
            Formula::WeakUntil(a, b) => (two(a, "W", b, Unary), Loose),
            Formula::Release(a, b) => (two(a, "V", b, Unary), Loose),
        }
    }
}
