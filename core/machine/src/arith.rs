//! Arithmetic as the program's meaning defines it.

use crate::code::Arithmetic;
use fabius_program::meaning::Fault;

/// `a op b`.
#[inline(always)]
pub(crate) fn compute(op: Arithmetic, a: i32, b: i32) -> Result<i32, Fault> {
    Ok(match op {
        Arithmetic::Add => a.wrapping_add(b),
        Arithmetic::Subtract => a.wrapping_sub(b),
        Arithmetic::Multiply => a.wrapping_mul(b),
        Arithmetic::Divide if b == 0 => return Err(Fault::DivisionByZero),
        Arithmetic::Remainder if b == 0 => return Err(Fault::DivisionByZero),
        Arithmetic::Divide => a.wrapping_div(b),
        Arithmetic::Remainder => a.wrapping_rem(b),
        Arithmetic::BitAnd => a & b,
        Arithmetic::BitOr => a | b,
        Arithmetic::BitXor => a ^ b,
        Arithmetic::ShiftLeft => a.wrapping_shl(b as u32),
        Arithmetic::ShiftRight => a.wrapping_shr(b as u32),
    })
}
