//! Values that are the same in all states, bounds of others, and what cannot be computed.

use super::cells::element;
use super::extract::Context;
use super::recorded::Now;
use super::step::Relation;
use super::walk::any_within;
use crate::{Action, BinaryOp, Block, BlockExit, Expr, Place, Slot, Type, UnaryOp, Variable};

/// Constants are looked for in expressions of this depth only.
const DEPTH_MAX: u32 = 12;

impl Context<'_> {
    /// The value of an expression that is the same in all states, as far as this is easy to see.
    pub(super) fn constant(&self, e: &Expr, depth: u32) -> Option<i32> {
        self.evaluate(e, depth, None)
    }

    /// The value of an expression that is the same in all states, or its value in the state in which it is evaluated.
    pub(super) fn value(&self, e: &Expr) -> Option<i32> {
        self.evaluate(e, 0, self.now)
    }

    fn evaluate(&self, e: &Expr, depth: u32, now: Option<Now<'_>>) -> Option<i32> {
        if DEPTH_MAX < depth {
            return None;
        }
        let value = |e: &Expr| self.evaluate(e, depth + 1, now);
        match e {
            Expr::Constant(k) => Some(*k),
            Expr::Pid => self.key?.pid.or(now.map(|now| now.pid)).map(i32::from),
            Expr::Load(place) => {
                let indices: Option<Vec<i32>> = place.indices.iter().map(value).collect();
                let element = element(self.variable(place.slot)?, &indices?)?;
                let constant = match place.slot {
                    Slot::Global(v) => {
                        let constants = self.facts.constant_globals.get(v.0 as usize)?.as_ref();
                        constants.and_then(|values| values.get(element as usize).copied())
                    }
                    Slot::Local(v) => self.constants.get(v.0 as usize).copied()?,
                };
                constant.or_else(|| (now?.load)(place.slot, element))
            }
            Expr::Unary(op, a) => {
                let a = value(a)?;
                Some(match op {
                    UnaryOp::Not => i32::from(a == 0),
                    UnaryOp::Negate => a.wrapping_neg(),
                    UnaryOp::Complement => !a,
                })
            }
            Expr::Binary(op, a, b) => fold(*op, value(a)?, value(b)?),
            Expr::Conditional(a, b, c) => value(if value(a)? != 0 { b } else { c }),
            _ => None,
        }
    }

    /// Bounds of an expression's values.
    pub(super) fn bounds(&self, e: &Expr, depth: u32) -> (i64, i64) {
        let all = (i64::from(i32::MIN), i64::from(i32::MAX));
        if DEPTH_MAX < depth {
            return all;
        }
        if let Some(value) = self.constant(e, depth) {
            return (value.into(), value.into());
        }
        let of = |e: &Expr| self.bounds(e, depth + 1);
        let fitting = |(low, high): (i64, i64)| if all.0 <= low && high <= all.1 { (low, high) } else { all };
        match e {
            Expr::Load(place) => self.variable(place.slot).map_or(all, |variable| type_bounds(variable.ty)),
            Expr::Remote { process, variable, .. } => {
                let kind = self.program().processes.get(process.0 as usize);
                let local = kind.and_then(|kind| kind.locals.get(variable.0 as usize));
                local.map_or(all, |local| type_bounds(local.ty))
            }
            Expr::Pid | Expr::ProcessCount => (0, crate::PROCESSES_MAX as i64),
            Expr::Test(..) | Expr::Poll { .. } | Expr::Timeout | Expr::NonProgress | Expr::Enabled(_) => (0, 1),
            Expr::At { .. } | Expr::Unary(UnaryOp::Not, _) => (0, 1),
            Expr::Binary(op, a, b) => {
                let ((a_low, a_high), (b_low, b_high)) = (of(a), of(b));
                match op {
                    BinaryOp::Add => fitting((a_low + b_low, a_high + b_high)),
                    BinaryOp::Subtract => fitting((a_low - b_high, a_high - b_low)),
                    BinaryOp::Remainder if 0 < b_low && 0 <= a_low => (0, a_high.min(b_high - 1)),
                    BinaryOp::Remainder if 0 < b_low => (1 - b_high, b_high - 1),
                    BinaryOp::Divide if 0 < b_low && 0 <= a_low => (0, a_high),
                    BinaryOp::BitAnd if 0 <= b_low => (0, b_high),
                    BinaryOp::BitAnd if 0 <= a_low => (0, a_high),
                    op if Relation::of(*op).is_some() => (0, 1),
                    BinaryOp::And | BinaryOp::Or => (0, 1),
                    _ => all,
                }
            }
            Expr::Conditional(_, a, b) => {
                let (a, b) = (of(a), of(b));
                (a.0.min(b.0), a.1.max(b.1))
            }
            _ => all,
        }
    }

    /// Whether the indices of a place are always within the array.
    pub(super) fn is_within(&self, place: &Place) -> bool {
        self.variable(place.slot).is_some_and(|variable| self.are_within(&place.indices, variable))
    }

    pub(super) fn are_within(&self, indices: &[Expr], variable: &Variable) -> bool {
        indices.iter().zip(&variable.dimensions).all(|(e, length)| {
            let (low, high) = self.bounds(e, 0);
            0 <= low && high < i64::from(*length)
        })
    }

    /// Whether evaluating an expression may be a fault.
    pub(super) fn may_fault(&self, e: &Expr) -> bool {
        any_within(e, |part| match part {
            Expr::Load(place) => !place.indices.is_empty() && !self.is_within(place),
            Expr::Binary(BinaryOp::Divide | BinaryOp::Remainder, _, b) => {
                let (low, high) = self.bounds(b, 0);
                low <= 0 && 0 <= high
            }
            Expr::Length(channel) | Expr::Test(_, channel) => !self.target(channel).exists,
            Expr::Poll { channel, .. } => {
                let target = self.target(channel);
                !target.exists || target.rendezvous
            }
            Expr::Run { .. } => !self.facts.fits,
            Expr::Remote { process, variable, indices, .. } => {
                let kind = self.program().processes.get(process.0 as usize);
                let local = kind.and_then(|kind| kind.locals.get(variable.0 as usize));
                local.is_none_or(|local| !self.are_within(indices, local))
            }
            Expr::Enabled(_) => true,
            _ => false,
        })
    }
}

pub(super) fn type_bounds(ty: Type) -> (i64, i64) {
    let bits = u32::from(ty.bits.clamp(1, 32));
    if ty.signed || bits == 32 { (-(1_i64 << (bits - 1)), (1_i64 << (bits - 1)) - 1) } else { (0, (1_i64 << bits) - 1) }
}

pub(super) fn fold(op: BinaryOp, a: i32, b: i32) -> Option<i32> {
    if let Some(relation) = Relation::of(op) {
        return Some(i32::from(relation.holds(a, b)));
    }
    Some(match op {
        BinaryOp::Add => a.wrapping_add(b),
        BinaryOp::Subtract => a.wrapping_sub(b),
        BinaryOp::Multiply => a.wrapping_mul(b),
        BinaryOp::Divide if b != 0 => a.wrapping_div(b),
        BinaryOp::Remainder if b != 0 => a.wrapping_rem(b),
        BinaryOp::BitAnd => a & b,
        BinaryOp::BitOr => a | b,
        BinaryOp::BitXor => a ^ b,
        BinaryOp::And => i32::from(a != 0 && b != 0),
        BinaryOp::Or => i32::from(a != 0 || b != 0),
        _ => return None,
    })
}

pub(super) fn has_run(e: &Expr) -> bool {
    any_within(e, |part| matches!(part, Expr::Run { .. }))
}

/// Whether a block surely comes to its end: it goes forward only, and past its first node an option is
/// always executable.
pub(super) fn always_ends(block: &Block) -> bool {
    block.nodes.iter().enumerate().all(|(at, node)| {
        let forward = |exit: BlockExit| {
            matches!(exit, BlockExit::Leave) || matches!(exit, BlockExit::Node(to) if at < to as usize)
        };
        let open = |action: &Action| {
            matches!(action, Action::Skip | Action::Else | Action::Assign(..) | Action::Assert(_) | Action::Print(_))
        };
        node.options.iter().all(|option| forward(option.next))
            && (at == 0 || node.options.iter().any(|option| open(&option.action)))
    })
}
