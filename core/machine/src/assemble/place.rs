//! Instructions for places: elements of arrays, loads, stores and assignments.

use super::expr::after;
use super::{Assembler, Done, Storage};
use crate::Refusal;
use crate::code::{Instr, Reg};
use crate::layout::Slot as Bits;
use fabius_program::{BinaryOp, Expr, Place};

impl Assembler<'_> {
    /// `array[slot]`, which some instructions can name.
    pub(super) fn element(&self, e: &Expr) -> Option<(u16, Bits)> {
        let Expr::Load(place) = e else { return None };
        self.element_of_place(place)
    }

    pub(super) fn element_of_place(&self, place: &Place) -> Option<(u16, Bits)> {
        let (Storage::Array(array), [index]) = (self.storage(place.slot)?, &place.indices[..]) else { return None };
        Some((*array, self.slot_of(index)?))
    }

    pub(super) fn load(&mut self, place: &Place, d: Reg) -> Done {
        if let Some((array, index)) = self.element_of_place(place) {
            self.emit(Instr::LoadBySlot { d, array, index });
            return Ok(());
        }
        let variable = self.variable(place.slot)?;
        let dimensions = variable.dimensions.clone();
        self.index(&dimensions, &place.indices, d)?;
        let Some(storage) = self.storage(place.slot).cloned() else {
            return Err(Refusal::Malformed("no such variable"));
        };
        self.load_indexed(&storage, d);
        Ok(())
    }

    /// Reads the element whose number is in a register.
    pub(super) fn load_indexed(&mut self, storage: &Storage, d: Reg) {
        match storage {
            Storage::Scalar(slot) => self.emit(Instr::Load { d, slot: *slot }),
            Storage::Array(array) => self.emit(Instr::LoadAt { d, array: *array, i: d }),
            Storage::Constant(values) => {
                let table = self.code.tables.len() as u32;
                self.code.tables.push(values.clone());
                self.emit(Instr::TableAt { d, table, i: d });
            }
        }
    }

    /// Puts the number of an element into a register: 0 for a scalar.
    pub(super) fn index(&mut self, dimensions: &[u32], indices: &[Expr], d: Reg) -> Done {
        if dimensions.len() != indices.len() {
            return Err(Refusal::Malformed("a place has more or fewer indices than its variable has dimensions"));
        }
        match indices {
            [] => self.emit(Instr::Const { d, k: 0 }),
            // Reading or writing the element checks it.
            [index] => self.value(index, d)?,
            [first, rest @ ..] => {
                self.value(first, d)?;
                self.emit(Instr::CheckIndex { a: d, length: dimensions[0] });
                let next = after(d)?;
                for (index, &length) in rest.iter().zip(&dimensions[1..]) {
                    self.value(index, next)?;
                    self.emit(Instr::CheckIndex { a: next, length });
                    self.emit(Instr::Scale { d, a: next, k: length });
                }
            }
        }
        Ok(())
    }

    /// Stores the value in a register to a place; registers from `d` on may be used.
    pub(super) fn store(&mut self, place: &Place, a: Reg, d: Reg) -> Done {
        if let Some(slot) = self.slot_of_place(place) {
            self.emit(Instr::Store { slot, a });
            return Ok(());
        }
        if let Some((array, index)) = self.element_of_place(place) {
            self.emit(Instr::StoreBySlot { array, index, a });
            return Ok(());
        }
        let array = self.store_index(place, d)?;
        self.emit(Instr::StoreAt { array, i: d, a });
        Ok(())
    }

    /// Puts the number of an element of an array into a register, to store to it.
    pub(super) fn store_index(&mut self, place: &Place, d: Reg) -> Result<u16, Refusal> {
        let dimensions = self.variable(place.slot)?.dimensions.clone();
        self.index(&dimensions, &place.indices, d)?;
        match self.storage(place.slot) {
            Some(Storage::Array(array)) => Ok(*array),
            _ => Err(Refusal::Malformed("something that cannot change is stored to")),
        }
    }

    /// Assigns to a place; registers from `d` on may be used. The place is found before the value is computed: where both
    /// fail, the fault is that of the place.
    pub(super) fn assign(&mut self, place: &Place, e: &Expr, d: Reg) -> Done {
        if let Some(slot) = self.slot_of_place(place) {
            return self.assign_slot(slot, e, d);
        }
        let value = self.constant(e);
        let can_fail = value.is_none() && self.can_fail(e);
        if let Some((array, index)) = self.element_of_place(place).filter(|_| !can_fail) {
            match value {
                Some(k) => self.emit(Instr::StoreBySlotConst { array, index, k }),
                None => {
                    self.value(e, d)?;
                    self.emit(Instr::StoreBySlot { array, index, a: d });
                }
            }
            return Ok(());
        }
        let array = self.store_index(place, d)?;
        match value {
            Some(k) => self.emit(Instr::StoreAtConst { array, i: d, k }),
            None => {
                if can_fail {
                    // What has more than one index was checked already.
                    let length = self.code.arrays[usize::from(array)].length;
                    self.emit(Instr::CheckIndex { a: d, length });
                }
                let next = after(d)?;
                self.value(e, next)?;
                self.emit(Instr::StoreAt { array, i: d, a: next });
            }
        }
        Ok(())
    }

    /// Whether an expression may have no value.
    fn can_fail(&self, e: &Expr) -> bool {
        match e {
            Expr::Constant(_) | Expr::Pid | Expr::ProcessCount | Expr::Last | Expr::Timeout | Expr::NonProgress => {
                false
            }
            Expr::Load(place) => self.slot_of_place(place).is_none(),
            Expr::Unary(_, a) => self.can_fail(a),
            Expr::Binary(BinaryOp::Divide | BinaryOp::Remainder, a, b) => {
                self.can_fail(a) || self.constant(b).is_none_or(|divisor| divisor == 0)
            }
            Expr::Binary(_, a, b) => self.can_fail(a) || self.can_fail(b),
            Expr::Conditional(a, b, c) => [a, b, c].into_iter().any(|part| self.can_fail(part)),
            _ => true,
        }
    }

    fn assign_slot(&mut self, slot: Bits, e: &Expr, d: Reg) -> Done {
        if let Some(k) = self.constant(e) {
            self.emit(Instr::StoreConst { slot, k });
        } else if let Some(from) = self.slot_of(e) {
            self.emit(Instr::StoreSlot { slot, from });
        } else if let Some((from, k)) = self.sum(e) {
            self.emit(Instr::StoreSum { slot, from, k });
        } else {
            self.value(e, d)?;
            self.emit(Instr::Store { slot, a: d });
        }
        Ok(())
    }

    /// `slot + k`, which an assignment can name.
    fn sum(&self, e: &Expr) -> Option<(Bits, i32)> {
        let Expr::Binary(op, a, b) = e else { return None };
        match op {
            BinaryOp::Add => match (self.slot_of(a), self.constant(b)) {
                (Some(slot), Some(k)) => Some((slot, k)),
                _ => Some((self.slot_of(b)?, self.constant(a)?)),
            },
            BinaryOp::Subtract => Some((self.slot_of(a)?, self.constant(b)?.wrapping_neg())),
            _ => None,
        }
    }
}
