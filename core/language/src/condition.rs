//! Where the parts of a condition stand in the text.

use fabius_base::Span;

/// A condition, or a part of one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Condition {
    /// Where it stands, with the parentheses around it; only its beginning, if not all of it came into the text the same way.
    pub span: Span,
    /// Where its last operand stands.
    pub last: Span,
    /// What joins its parts.
    pub operator: ConditionOperator,
    /// The parts, from left to right.
    pub operands: Vec<Condition>,
}

/// What joins the parts of a condition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ConditionOperator {
    /// True if both are.
    And,
    /// True if one is.
    Or,
    /// True if the only one is not.
    Not,
    /// It has no parts that are conditions.
    None,
}
