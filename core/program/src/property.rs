//! What is to be checked.

use crate::expr::{BinaryOp, Expr, UnaryOp};
use crate::process::ProcessId;
use fabius_base::Span;

/// A property by the name under which a person knows it.
#[derive(Clone, Hash, Debug)]
pub struct Property {
    /// `safety`, `progress`, `acceptance`, or the name of a formula or claim.
    pub name: String,
    /// What it asks.
    pub kind: PropertyKind,
    /// Where it stands; `None` for those that need no declaration.
    pub span: Option<Span>,
    /// The names that the text has for propositions of its formula, for showing them.
    pub names: Vec<(Expr, String)>,
}

impl Property {
    /// A property whose propositions have no names.
    pub fn new(name: impl Into<String>, kind: PropertyKind, span: Option<Span>) -> Self {
        Self { name: name.into(), kind, span, names: Vec::new() }
    }
}

/// [`Formula::invariant`] does not look at what is nested deeper.
const INVARIANT_DEPTH_MAX: u32 = 100;

/// What a property asks.
#[derive(Clone, Hash, Debug)]
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
///
/// However deep it is nested, it is copied and dropped without recursion.
#[derive(PartialEq, Hash, Debug)]
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
    /// Its propositions, each once, from left to right.
    pub fn propositions(&self) -> Vec<&Expr> {
        let (mut found, mut open) = (Vec::new(), vec![self]);
        while let Some(formula) = open.pop() {
            if let Self::Proposition(expr) = formula {
                found.extend((!found.contains(&expr)).then_some(expr));
            }
            let (a, b) = formula.operands();
            open.extend(b.into_iter().chain(a));
        }
        found
    }

    /// What must be true in every state, of a formula that says no more than that: `p` of `[] p`, and `!p` of `!<> p`.
    pub fn invariant(&self) -> Option<Expr> {
        match self {
            Self::Always(p) => p.of_one_state(INVARIANT_DEPTH_MAX),
            Self::Not(inner) => match &**inner {
                Self::Eventually(p) => Some(not(p.of_one_state(INVARIANT_DEPTH_MAX)?)),
                _ => None,
            },
            _ => None,
        }
    }

    /// It as a condition, if it says nothing of other states than one and is nested no deeper than this.
    fn of_one_state(&self, depth: u32) -> Option<Expr> {
        let depth = depth.checked_sub(1)?;
        let both = |op, a: Expr, b: Expr| Expr::Binary(op, Box::new(a), Box::new(b));
        Some(match self {
            Self::Proposition(expr) => expr.clone(),
            Self::Not(a) => not(a.of_one_state(depth)?),
            Self::And(a, b) => both(BinaryOp::And, a.of_one_state(depth)?, b.of_one_state(depth)?),
            Self::Or(a, b) => both(BinaryOp::Or, a.of_one_state(depth)?, b.of_one_state(depth)?),
            Self::Implies(a, b) => both(BinaryOp::Or, not(a.of_one_state(depth)?), b.of_one_state(depth)?),
            Self::Equivalent(a, b) => both(BinaryOp::Equal, not(a.of_one_state(depth)?), not(b.of_one_state(depth)?)),
            Self::Next(_)
            | Self::Always(_)
            | Self::Eventually(_)
            | Self::Until(..)
            | Self::WeakUntil(..)
            | Self::Release(..) => return None,
        })
    }

    /// The operands of an operator, to change them; none of a proposition.
    pub fn operands_mut(&mut self) -> (Option<&mut Formula>, Option<&mut Formula>) {
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

/// The opposite of a condition.
fn not(condition: Expr) -> Expr {
    Expr::Unary(UnaryOp::Not, Box::new(condition))
}

/// What is to be done to copy a formula.
enum Task<'a> {
    Copy(&'a Formula),
    /// Its operands have been copied.
    Join(&'a Formula),
}

impl Clone for Formula {
    fn clone(&self) -> Self {
        let mut tasks = vec![Task::Copy(self)];
        let mut copies: Vec<Formula> = Vec::new();
        while let Some(task) = tasks.pop() {
            match task {
                Task::Copy(Self::Proposition(e)) => copies.push(Self::Proposition(e.clone())),
                Task::Copy(f) => {
                    tasks.push(Task::Join(f));
                    let (a, b) = f.operands();
                    tasks.extend(b.into_iter().chain(a).map(Task::Copy));
                }
                Task::Join(f) => {
                    let mut operand = || Box::new(copies.pop().unwrap_or(Self::NOTHING));
                    let last = operand();
                    let joined = match f {
                        Self::Proposition(_) => *last,
                        Self::Not(_) => Self::Not(last),
                        Self::Next(_) => Self::Next(last),
                        Self::Always(_) => Self::Always(last),
                        Self::Eventually(_) => Self::Eventually(last),
                        Self::And(..) => Self::And(operand(), last),
                        Self::Or(..) => Self::Or(operand(), last),
                        Self::Implies(..) => Self::Implies(operand(), last),
                        Self::Equivalent(..) => Self::Equivalent(operand(), last),
                        Self::Until(..) => Self::Until(operand(), last),
                        Self::WeakUntil(..) => Self::WeakUntil(operand(), last),
                        Self::Release(..) => Self::Release(operand(), last),
                    };
                    copies.push(joined);
                }
            }
        }
        copies.pop().unwrap_or(Self::NOTHING)
    }
}

impl Drop for Formula {
    fn drop(&mut self) {
        let mut pending = Vec::new();
        self.give_up_operands(&mut pending);
        while let Some(mut f) = pending.pop() {
            f.give_up_operands(&mut pending);
        }
    }
}

impl Formula {
    /// What stands in a place from which a formula was taken.
    const NOTHING: Self = Self::Proposition(Expr::Constant(0));

    /// Moves those operands elsewhere that have operands themselves.
    fn give_up_operands(&mut self, to: &mut Vec<Formula>) {
        let mut take = |f: &mut Box<Formula>| {
            if !matches!(**f, Self::Proposition(_)) {
                to.push(std::mem::replace(f, Self::NOTHING));
            }
        };
        match self {
            Self::Proposition(_) => {}
            Self::Not(a) | Self::Next(a) | Self::Always(a) | Self::Eventually(a) => take(a),
            Self::And(a, b)
            | Self::Or(a, b)
            | Self::Implies(a, b)
            | Self::Equivalent(a, b)
            | Self::Until(a, b)
            | Self::WeakUntil(a, b)
            | Self::Release(a, b) => {
                take(a);
                take(b);
            }
        }
    }
}
