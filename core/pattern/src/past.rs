//! What a pattern means.

use std::fmt;

/// A pattern over propositions: a formula of linear temporal logic with operators that look back.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Past<P> {
    /// It is true now.
    Proposition(P),
    /// One operand.
    Unary(Unary, Box<Self>),
    /// Both are true.
    And(Box<Self>, Box<Self>),
    /// One of them is true.
    Or(Box<Self>, Box<Self>),
    /// The first is false, or the second is true.
    Implies(Box<Self>, Box<Self>),
    /// The second was true at some position up to now, and the first is true at all positions behind that one, up to now.
    Since(Box<Self>, Box<Self>),
    /// The first is true now, and the second was at some position before.
    After(Box<Self>, Box<Self>),
}

impl<P: fmt::Display> fmt::Display for Past<P> {
    /// As it is read: operands that are operators with two operands stand in parentheses.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |part: &Self| match part {
            Self::Proposition(_) | Self::Unary(..) => part.to_string(),
            _ => format!("({part})"),
        };
        match self {
            Self::Proposition(p) => write!(f, "{p}"),
            Self::Unary(operator, a) => match (operator, &**a) {
                (Unary::Not, Self::Unary(..)) => write!(f, "!{a}"),
                (Unary::Not, _) => write!(f, "!({a})"),
                _ => write!(f, "{} {}", operator.word(), of(a)),
            },
            Self::And(a, b) => write!(f, "{} && {}", of(a), of(b)),
            Self::Or(a, b) => write!(f, "{} || {}", of(a), of(b)),
            Self::Implies(a, b) => write!(f, "{} -> {}", of(a), of(b)),
            Self::Since(a, b) => write!(f, "{} since {}", of(a), of(b)),
            Self::After(a, b) => write!(f, "{} after {}", of(a), of(b)),
        }
    }
}

/// Operators with one operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Unary {
    /// It is false now.
    Not,
    /// It was true at the position before; false at the first one.
    Previously,
    /// It was true at some position up to now.
    Once,
    /// It was true at all positions up to now.
    Historically,
    /// It is true now, and was false at the position before; false at the first one.
    Start,
    /// It is false now, and was true at the position before; false at the first one.
    End,
}

impl Unary {
    /// The word that a person writes.
    pub fn word(self) -> &'static str {
        match self {
            Self::Not => "!",
            Self::Previously => "previously",
            Self::Once => "once",
            Self::Historically => "historically",
            Self::Start => "start",
            Self::End => "end",
        }
    }
}

impl<P> Past<P> {
    /// The pattern and all of its parts, each before its own parts, with how deep it is.
    pub fn parts(&self) -> Vec<(&Self, usize)> {
        let (mut parts, mut open) = (Vec::new(), vec![(self, 0)]);
        while let Some((part, depth)) = open.pop() {
            parts.push((part, depth));
            match part {
                Self::Proposition(_) => {}
                Self::Unary(_, a) => open.push((a, depth + 1)),
                Self::And(a, b) | Self::Or(a, b) | Self::Implies(a, b) | Self::Since(a, b) | Self::After(a, b) => {
                    open.extend([(&**b, depth + 1), (&**a, depth + 1)]);
                }
            }
        }
        parts
    }

    /// `operator operand`.
    pub fn unary(operator: Unary, operand: Self) -> Self {
        Self::Unary(operator, Box::new(operand))
    }

    /// The same pattern with each proposition replaced.
    ///
    /// # Errors
    /// The first one of `replace`.
    pub fn replaced<Q, E>(&self, replace: &mut impl FnMut(&P) -> Result<Past<Q>, E>) -> Result<Past<Q>, E> {
        let mut of = |operand: &Self| operand.replaced(replace).map(Box::new);
        Ok(match self {
            Self::Proposition(p) => replace(p)?,
            Self::Unary(operator, a) => Past::Unary(*operator, of(a)?),
            Self::And(a, b) => Past::And(of(a)?, of(b)?),
            Self::Or(a, b) => Past::Or(of(a)?, of(b)?),
            Self::Implies(a, b) => Past::Implies(of(a)?, of(b)?),
            Self::Since(a, b) => Past::Since(of(a)?, of(b)?),
            Self::After(a, b) => Past::After(of(a)?, of(b)?),
        })
    }

    /// At which positions of a run of `length` positions the pattern is true, in time linear in the length. `is_true` tells a proposition at a
    /// position. It looks at the whole run at once, as the definitions above do: what a [`crate::Monitor`] found is confirmed by it.
    pub fn positions(&self, length: usize, is_true: &mut impl FnMut(&P, usize) -> bool) -> Vec<bool> {
        let each = |at: &dyn Fn(usize) -> bool| (0..length).map(at).collect();
        match self {
            Self::Proposition(p) => (0..length).map(|now| is_true(p, now)).collect(),
            Self::Unary(operator, a) => {
                let a = a.positions(length, is_true);
                let first = |value: bool| a.iter().position(|now| *now == value).unwrap_or(length);
                let (first_true, first_false) = (first(true), first(false));
                let at = |now: usize| match operator {
                    Unary::Not => !a[now],
                    Unary::Previously => 0 < now && a[now - 1],
                    Unary::Once => first_true <= now,
                    Unary::Historically => now < first_false,
                    Unary::Start => 0 < now && a[now] && !a[now - 1],
                    Unary::End => 0 < now && !a[now] && a[now - 1],
                };
                each(&at)
            }
            Self::And(a, b) | Self::Or(a, b) | Self::Implies(a, b) | Self::Since(a, b) | Self::After(a, b) => {
                let (a, b) = (a.positions(length, is_true), b.positions(length, is_true));
                let first_b = b.iter().position(|now| *now).unwrap_or(length);
                let (last_b, last_not_a) = (last(&b, true), last(&a, false));
                let at = |now: usize| match self {
                    Self::And(..) => a[now] && b[now],
                    Self::Or(..) => a[now] || b[now],
                    Self::Implies(..) => !a[now] || b[now],
                    // If any position of the second will do, the last one does.
                    Self::Since(..) => last_b[now].is_some() && last_not_a[now] <= last_b[now],
                    _ => a[now] && first_b < now,
                };
                each(&at)
            }
        }
    }
}

/// Of each position, the last one up to it that has a value.
fn last(values: &[bool], value: bool) -> Vec<Option<usize>> {
    let mut last = None;
    let at = |(now, here): (usize, &bool)| {
        last = if *here == value { Some(now) } else { last };
        last
    };
    values.iter().enumerate().map(at).collect()
}
