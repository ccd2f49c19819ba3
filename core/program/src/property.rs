//! What is to be checked.

use crate::expr::Expr;
use crate::process::ProcessId;
use fabius_base::Span;

/// A property by the name under which a person knows it.
#[derive(Clone, Debug)]
pub struct Property {
    /// `safety`, `progress`, `acceptance`, or the name of a formula or claim.
    pub name: String,
    /// What it asks.
    pub kind: PropertyKind,
    /// Where it stands; `None` for those that need no declaration.
    pub span: Option<Span>,
}

/// What a property asks.
#[derive(Clone, Debug)]
pub enum PropertyKind {
    /// Assertions hold, no invalid end state, no fault.
    Safety,
    /// Every infinite run passes progress locations again and again.
    Progress,
    /// No infinite run passes an acceptance location again and again.
    Acceptance,
    /// Every run satisfies the formula.
    Ltl(Formula),
    /// No run matches the claim.
    Never(ProcessId),
    /// Sends and receives follow the automaton.
    Trace(ProcessId),
}

/// A formula of linear temporal logic; propositions are expressions over a state.
#[derive(Clone, PartialEq, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Formula {
    Proposition(Expr),
    Not(Box<Formula>),
    And(Box<Formula>, Box<Formula>),
    Or(Box<Formula>, Box<Formula>),
    Implies(Box<Formula>, Box<Formula>),
    Equivalent(Box<Formula>, Box<Formula>),
    Next(Box<Formula>),
    Always(Box<Formula>),
    Eventually(Box<Formula>),
    Until(Box<Formula>, Box<Formula>),
    WeakUntil(Box<Formula>, Box<Formula>),
    Release(Box<Formula>, Box<Formula>),
}

impl Formula {
    /// The operands of an operator, none of a proposition.
    pub fn operands(&self) -> (Option<&Formula>, Option<&Formula>) {
        match self {
            Self::Proposition(_) => (None, None),
            Self::Not(a) | Self::Next(a) | Self::Always(a) | Self::Eventually(a) => (Some(a), None),
            Self::And(a, b)
            | Self::Or(a, b)
            | Self::Implies(a, b)
            | Self::Equivalent(a, b)
            | Self::Until(a, b)
            | Self::WeakUntil(a, b)
            | Self::Release(a, b) => (Some(a), Some(b)),
        }
    }
}
