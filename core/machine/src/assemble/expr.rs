//! Instructions for expressions: values into registers, conditions into jumps.

use super::{Assembler, Done, Label, Storage, facts};
use crate::Refusal;
use crate::arith::compute;
use crate::code::{Arithmetic, Instr, Reg, Relation};
use crate::layout::{Base, SLOT_WORD_MAX, Slot as Bits};
use fabius_program::meaning::Fault;
use fabius_program::{BinaryOp, ChannelTest, Expr, Place, ProcessId, Slot, UnaryOp, Variable, VariableId};

/// The first register that is never used, so that an instruction may name two after it.
const REGISTERS: Reg = 250;

/// A value that an instruction can name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Operand {
    Const(i32),
    Slot(Bits),
    Reg(Reg),
}

/// A channel known when the program is assembled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct StaticChannel {
    pub base: Base,
    pub word: u32,
    pub layout: u32,
    /// Its identity, if that is known too.
    pub id: Option<u32>,
}

/// An operator, sorted by how it is computed.
enum Operator {
    Compare(Relation),
    Compute(Arithmetic),
    And,
    Or,
}

fn operator(op: BinaryOp) -> Operator {
    match op {
        BinaryOp::Add => Operator::Compute(Arithmetic::Add),
        BinaryOp::Subtract => Operator::Compute(Arithmetic::Subtract),
        BinaryOp::Multiply => Operator::Compute(Arithmetic::Multiply),
        BinaryOp::Divide => Operator::Compute(Arithmetic::Divide),
        BinaryOp::Remainder => Operator::Compute(Arithmetic::Remainder),
        BinaryOp::BitAnd => Operator::Compute(Arithmetic::BitAnd),
        BinaryOp::BitOr => Operator::Compute(Arithmetic::BitOr),
        BinaryOp::BitXor => Operator::Compute(Arithmetic::BitXor),
        BinaryOp::ShiftLeft => Operator::Compute(Arithmetic::ShiftLeft),
        BinaryOp::ShiftRight => Operator::Compute(Arithmetic::ShiftRight),
        BinaryOp::Less => Operator::Compare(Relation::LESS),
        BinaryOp::LessEqual => Operator::Compare(Relation::LESS_EQUAL),
        BinaryOp::Greater => Operator::Compare(Relation::GREATER),
        BinaryOp::GreaterEqual => Operator::Compare(Relation::GREATER_EQUAL),
        BinaryOp::Equal => Operator::Compare(Relation::EQUAL),
        BinaryOp::NotEqual => Operator::Compare(Relation::NOT_EQUAL),
        BinaryOp::And => Operator::And,
        BinaryOp::Or => Operator::Or,
    }
}

/// The register after one.
pub(super) fn after(d: Reg) -> Result<Reg, Refusal> {
    if d < REGISTERS { Ok(d + 1) } else { Err(Refusal::TooDeep) }
}

impl Assembler<'_> {
    /// The value of an expression, if it is the same in every state.
    pub(super) fn constant(&self, e: &Expr) -> Option<i32> {
        match e {
            Expr::Constant(k) => Some(*k),
            Expr::Load(place) => {
                let Storage::Constant(values) = self.storage(place.slot)? else { return None };
                match &place.indices[..] {
                    [] => values.first().copied(),
                    [index] => values.get(usize::try_from(self.constant(index)?).ok()?).copied(),
                    _ => None,
                }
            }
            Expr::Unary(op, a) => {
                let a = self.constant(a)?;
                Some(match op {
                    UnaryOp::Not => i32::from(a == 0),
                    UnaryOp::Negate => a.wrapping_neg(),
                    UnaryOp::Complement => !a,
                })
            }
            Expr::Binary(op, a, b) => {
                let a = self.constant(a)?;
                match operator(*op) {
                    Operator::And if a == 0 => Some(0),
                    Operator::Or if a != 0 => Some(1),
                    Operator::And | Operator::Or => Some(i32::from(self.constant(b)? != 0)),
                    Operator::Compare(relation) => Some(i32::from(relation.holds(a, self.constant(b)?))),
                    Operator::Compute(op) => compute(op, a, self.constant(b)?).ok(),
                }
            }
            Expr::Conditional(c, a, b) => {
                if self.constant(c)? != 0 {
                    self.constant(a)
                } else {
                    self.constant(b)
                }
            }
            _ => None,
        }
    }

    /// Where a variable of the present process stands.
    pub(super) fn storage(&self, slot: Slot) -> Option<&Storage> {
        match slot {
            Slot::Global(v) => self.map.globals.get(v.0 as usize),
            Slot::Local(v) => self.map.locals.get(self.process?)?.get(v.0 as usize),
        }
    }

    pub(super) fn variable(&self, slot: Slot) -> Result<&Variable, Refusal> {
        let variable = match slot {
            Slot::Global(v) => self.program.globals.get(v.0 as usize),
            Slot::Local(v) => self.process.and_then(|process| self.program.processes[process].locals.get(v.0 as usize)),
        };
        variable.ok_or(Refusal::Malformed("no such variable"))
    }

    /// The one place that an expression reads.
    pub(super) fn slot_of(&self, e: &Expr) -> Option<Bits> {
        match e {
            Expr::Load(place) => self.slot_of_place(place),
            Expr::Length(channel) => self.length_slot(&self.static_channel(channel)?),
            _ => None,
        }
    }

    /// The one place that a place always is.
    pub(super) fn slot_of_place(&self, place: &Place) -> Option<Bits> {
        match (self.storage(place.slot)?, &place.indices[..]) {
            (Storage::Scalar(slot), []) => Some(*slot),
            (Storage::Array(array), [index]) => {
                let array = self.code.arrays[usize::from(*array)];
                let index = u32::try_from(self.constant(index)?).ok().filter(|&i| i < array.length)?;
                array.slot(index)
            }
            _ => None,
        }
    }

    /// Where the length of a buffered channel stands.
    pub(super) fn length_slot(&self, channel: &StaticChannel) -> Option<Bits> {
        let layout = &self.code.layouts[channel.layout as usize];
        (layout.capacity > 0).then(|| Bits::new(channel.base, channel.word * 32, layout.length_bits, false))
    }

    /// The channel an expression always names, if it exists as long as the process does, and instructions can name its
    /// place.
    pub(super) fn static_channel(&self, e: &Expr) -> Option<StaticChannel> {
        self.lasting_channel(e)
            .filter(|channel| channel.word <= SLOT_WORD_MAX || self.code.layouts[channel.layout as usize].capacity == 0)
    }

    fn lasting_channel(&self, e: &Expr) -> Option<StaticChannel> {
        if let Some(id) = self.constant(e) {
            let index = usize::try_from(id).ok()?.checked_sub(1)?;
            let &(word, layout) = self.code.global_channels.get(index)?;
            return Some(StaticChannel { base: Base::Global, word, layout, id: Some(id as u32) });
        }
        let Expr::Load(Place { slot: Slot::Local(v), indices }) = e else { return None };
        let process = self.process?;
        let first = (*self.map.own_channels.get(process)?.get(v.0 as usize)?)?;
        let index = match &indices[..] {
            [] => 0,
            [index] => {
                let count = self.program.processes[process].locals[v.0 as usize].element_count();
                u32::try_from(self.constant(index)?).ok().filter(|&i| i < count)?
            }
            _ => return None,
        };
        let &(word, layout) = self.code.processes[process].channels.get((first + index) as usize)?;
        Some(StaticChannel { base: Base::Process, word, layout, id: None })
    }

    /// Makes a value available to an instruction; `d` and later registers may be used for it.
    pub(super) fn operand(&mut self, e: &Expr, d: Reg) -> Result<Operand, Refusal> {
        if let Some(k) = self.constant(e) {
            return Ok(Operand::Const(k));
        }
        if let Some(slot) = self.slot_of(e) {
            return Ok(Operand::Slot(slot));
        }
        self.value(e, d)?;
        Ok(Operand::Reg(d))
    }

    fn load_operand(&mut self, operand: Operand, d: Reg) {
        match operand {
            Operand::Const(k) => self.emit(Instr::Const { d, k }),
            Operand::Slot(slot) => self.emit(Instr::Load { d, slot }),
            Operand::Reg(_) => {}
        }
    }

    /// Puts the value of an expression into a register; later registers may be used on the way.
    pub(super) fn value(&mut self, e: &Expr, d: Reg) -> Done {
        if let Some(k) = self.constant(e) {
            self.emit(Instr::Const { d, k });
            return Ok(());
        }
        if let Some(slot) = self.slot_of(e) {
            self.emit(Instr::Load { d, slot });
            return Ok(());
        }
        match e {
            Expr::Constant(k) => self.emit(Instr::Const { d, k: *k }),
            Expr::Load(place) => self.load(place, d)?,
            Expr::Unary(op, a) => {
                self.value(a, d)?;
                self.emit(match op {
                    UnaryOp::Not => Instr::Not { d, a: d },
                    UnaryOp::Negate => Instr::Negate { d, a: d },
                    UnaryOp::Complement => Instr::Complement { d, a: d },
                });
            }
            Expr::Binary(op, a, b) => match operator(*op) {
                Operator::And | Operator::Or => self.truth(e, d)?,
                Operator::Compare(relation) => self.compare(relation, a, b, d)?,
                Operator::Compute(op) => self.arithmetic(op, a, b, d)?,
            },
            Expr::Conditional(condition, a, b) => {
                let (other, end) = (self.label(), self.label());
                self.branch(condition, other, false, d)?;
                self.value(a, d)?;
                self.emit(Instr::Jump { to: end });
                self.bind(other);
                self.value(b, d)?;
                self.bind(end);
            }
            Expr::Length(channel) => match self.static_channel(channel) {
                // A buffered one has a slot: this is a rendezvous.
                Some(_) => self.emit(Instr::Const { d, k: 0 }),
                None => {
                    self.value(channel, d)?;
                    self.emit(Instr::Length { d, a: d });
                }
            },
            Expr::Test(..) | Expr::Timeout => self.truth(e, d)?,
            Expr::Poll { channel, any, fields } => self.poll(channel, *any, fields, d)?,
            Expr::Run { process, arguments, priority } => self.run(*process, arguments, *priority, d)?,
            Expr::Pid if self.is_watcher() => self.emit(Instr::Const { d, k: 0 }),
            Expr::Pid => self.emit(Instr::Pid { d }),
            Expr::ProcessCount => self.emit(Instr::ProcessCount { d }),
            Expr::Last => self.emit(Instr::Last { d }),
            Expr::NonProgress => self.emit(Instr::NonProgress { d }),
            Expr::Enabled(a) => {
                self.value(a, d)?;
                self.emit(Instr::Enabled { d, a: d });
            }
            Expr::LocationOf(a) => {
                self.value(a, d)?;
                self.emit(Instr::LocationOf { d, a: d });
            }
            Expr::PriorityOf(a) => {
                self.value(a, d)?;
                self.emit(Instr::PriorityOf { d, a: d });
            }
            Expr::At { process, pid, location } => {
                let absent = self.label();
                let process_index = self.select(*process, pid.as_deref(), absent, d)?;
                self.emit(Instr::RemoteAt { d, process: process_index, location: location.0 });
                self.or_zero(absent, d);
            }
            Expr::Remote { process, pid, variable, indices } => {
                self.remote(*process, pid.as_deref(), *variable, indices, d)?;
            }
        }
        Ok(())
    }

    /// After code that leaves a value in a register: 0 instead for those who jump to `absent`.
    fn or_zero(&mut self, absent: Label, d: Reg) {
        let end = self.label();
        self.emit(Instr::Jump { to: end });
        self.bind(absent);
        self.emit(Instr::Const { d, k: 0 });
        self.bind(end);
    }

    /// A condition as 0 or 1.
    fn truth(&mut self, e: &Expr, d: Reg) -> Done {
        let (no, end) = (self.label(), self.label());
        self.branch(e, no, false, d)?;
        self.emit(Instr::Const { d, k: 1 });
        self.emit(Instr::Jump { to: end });
        self.bind(no);
        self.emit(Instr::Const { d, k: 0 });
        self.bind(end);
        Ok(())
    }

    fn compare(&mut self, relation: Relation, a: &Expr, b: &Expr, d: Reg) -> Done {
        self.value(a, d)?;
        if let Some(k) = self.constant(b) {
            self.emit(Instr::CompareConst { relation, d, a: d, k });
        } else {
            let next = after(d)?;
            self.value(b, next)?;
            self.emit(Instr::Compare { relation, d, a: d, b: next });
        }
        Ok(())
    }

    fn arithmetic(&mut self, op: Arithmetic, a: &Expr, b: &Expr, d: Reg) -> Done {
        if let (Arithmetic::Add, Some(k)) = (op, self.constant(a)) {
            self.value(b, d)?;
            self.emit(Instr::AddConst { d, a: d, k });
            return Ok(());
        }
        self.value(a, d)?;
        if let Some(k) = self.constant(b) {
            self.emit(match op {
                Arithmetic::Add => Instr::AddConst { d, a: d, k },
                Arithmetic::Subtract => Instr::AddConst { d, a: d, k: k.wrapping_neg() },
                _ => Instr::ComputeConst { op, d, a: d, k },
            });
            return Ok(());
        }
        let next = after(d)?;
        self.value(b, next)?;
        self.emit(match op {
            Arithmetic::Add => Instr::Add { d, a: d, b: next },
            _ => Instr::Compute { op, d, a: d, b: next },
        });
        Ok(())
    }

    /// Jumps if an expression is true (`sense`) or false, else goes on.
    pub(super) fn branch(&mut self, e: &Expr, to: Label, sense: bool, d: Reg) -> Done {
        if let Some(k) = self.constant(e) {
            if (k != 0) == sense {
                self.emit(Instr::Jump { to });
            }
            return Ok(());
        }
        match e {
            Expr::Unary(UnaryOp::Not, a) => return self.branch(a, to, !sense, d),
            Expr::Binary(op, a, b) => match operator(*op) {
                Operator::And => return self.both(a, b, to, sense, d),
                Operator::Or => return self.either(a, b, to, sense, d),
                Operator::Compare(relation) => {
                    let relation = if sense { relation.not() } else { relation };
                    return self.unless(relation, a, b, to, d);
                }
                Operator::Compute(_) => {}
            },
            Expr::Test(test, channel) => return self.branch_test(*test, channel, to, sense, d),
            Expr::Timeout => {
                if sense {
                    let past = self.label();
                    self.emit(Instr::UnlessTimeout { to: past });
                    self.emit(Instr::Jump { to });
                    self.bind(past);
                } else {
                    self.emit(Instr::UnlessTimeout { to });
                }
                return Ok(());
            }
            _ => {}
        }
        let relation = if sense { Relation::EQUAL } else { Relation::NOT_EQUAL };
        self.unless(relation, e, &Expr::Constant(0), to, d)
    }

    fn both(&mut self, a: &Expr, b: &Expr, to: Label, sense: bool, d: Reg) -> Done {
        if sense {
            let past = self.label();
            self.branch(a, past, false, d)?;
            self.branch(b, to, true, d)?;
            self.bind(past);
        } else {
            self.branch(a, to, false, d)?;
            self.branch(b, to, false, d)?;
        }
        Ok(())
    }

    fn either(&mut self, a: &Expr, b: &Expr, to: Label, sense: bool, d: Reg) -> Done {
        if sense {
            self.branch(a, to, true, d)?;
            self.branch(b, to, true, d)?;
        } else {
            let past = self.label();
            self.branch(a, past, true, d)?;
            self.branch(b, to, false, d)?;
            self.bind(past);
        }
        Ok(())
    }

    /// Jumps unless two values are in a relation.
    fn unless(&mut self, relation: Relation, a: &Expr, b: &Expr, to: Label, d: Reg) -> Done {
        if let (Some(k), Some((array, index))) = (self.constant(b), self.element(a)) {
            self.emit(Instr::UnlessAt { relation, array, index, k, to });
            return Ok(());
        }
        let left = self.operand(a, d)?;
        let next = if left == Operand::Reg(d) { after(d)? } else { d };
        let right = self.operand(b, next)?;
        self.unless_operands(relation, left, right, to, next)
    }

    fn unless_operands(&mut self, relation: Relation, left: Operand, right: Operand, to: Label, next: Reg) -> Done {
        match (left, right) {
            (Operand::Slot(slot), Operand::Const(k)) => self.emit(Instr::UnlessSlot { relation, slot, k, to }),
            (Operand::Const(k), Operand::Slot(slot)) => {
                self.emit(Instr::UnlessSlot { relation: relation.flip(), slot, k, to });
            }
            (Operand::Slot(a), Operand::Slot(b)) => self.emit(Instr::UnlessSlots { relation, a, b, to }),
            (Operand::Reg(a), Operand::Const(k)) => self.emit(Instr::UnlessConst { relation, a, k, to }),
            (Operand::Const(k), Operand::Reg(a)) => {
                self.emit(Instr::UnlessConst { relation: relation.flip(), a, k, to });
            }
            (Operand::Reg(a), other) => {
                self.load_operand(other, next);
                self.emit(Instr::UnlessRegs { relation, a, b: next, to });
            }
            (other, Operand::Reg(b)) => {
                let a = after(next)?;
                self.load_operand(other, a);
                self.emit(Instr::UnlessRegs { relation, a, b, to });
            }
            (Operand::Const(a), Operand::Const(b)) => {
                if !relation.holds(a, b) {
                    self.emit(Instr::Jump { to });
                }
            }
        }
        Ok(())
    }

    fn branch_test(&mut self, test: ChannelTest, channel: &Expr, to: Label, sense: bool, d: Reg) -> Done {
        let (about_room, wanted) = match test {
            ChannelTest::Full => (true, Relation::EQUAL),
            ChannelTest::NotFull => (true, Relation::NOT_EQUAL),
            ChannelTest::Empty => (false, Relation::EQUAL),
            ChannelTest::NotEmpty => (false, Relation::NOT_EQUAL),
        };
        let relation = if sense { wanted.not() } else { wanted };
        if let Some(channel) = self.static_channel(channel) {
            let full = if about_room { self.code.layouts[channel.layout as usize].capacity as i32 } else { 0 };
            match self.length_slot(&channel) {
                Some(slot) => self.emit(Instr::UnlessSlot { relation, slot, k: full, to }),
                // A rendezvous is empty and never full.
                None if relation.holds(if about_room { 1 } else { 0 }, 0) => {}
                None => self.emit(Instr::Jump { to }),
            }
            return Ok(());
        }
        self.value(channel, d)?;
        self.emit(if about_room { Instr::Room { d, a: d } } else { Instr::Length { d, a: d } });
        self.emit(Instr::UnlessConst { relation, a: d, k: 0, to });
        Ok(())
    }

    /// Chooses a process; returns its type in short.
    fn select(&mut self, process: ProcessId, pid: Option<&Expr>, absent: Label, d: Reg) -> Result<u16, Refusal> {
        if process.0 as usize >= self.program.processes.len() {
            return Err(Refusal::Malformed("no such process"));
        }
        let index = process_number(process)?;
        if let Some(pid) = pid {
            self.value(pid, d)?;
        }
        self.emit(Instr::Select { first: pid.is_none(), a: d, process: index, to: absent });
        Ok(index)
    }

    fn remote(
        &mut self,
        process: ProcessId,
        pid: Option<&Expr>,
        variable: VariableId,
        indices: &[Expr],
        d: Reg,
    ) -> Done {
        let absent = self.label();
        let index = self.select(process, pid, absent, d)?;
        let Some(declared) = self.program.processes[process.0 as usize].locals.get(variable.0 as usize) else {
            return Err(Refusal::Malformed("no such variable"));
        };
        let storage = match &self.map.locals[process.0 as usize][variable.0 as usize] {
            Storage::Scalar(slot) => Storage::Scalar(slot.remote()),
            Storage::Array(array) => {
                let array = *array;
                let known = self.remote_arrays.get(&array).copied();
                let remote = match known {
                    Some(remote) => remote,
                    None => self.array(self.code.arrays[usize::from(array)].remote())?,
                };
                self.remote_arrays.insert(array, remote);
                Storage::Array(remote)
            }
            constant => constant.clone(),
        };
        let next = after(d)?;
        self.index(&declared.dimensions, indices, next)?;
        if indices.iter().any(|e| facts::any_expr(e, &mut |e| matches!(e, Expr::Remote { .. } | Expr::At { .. }))) {
            self.emit(Instr::Select { first: pid.is_none(), a: d, process: index, to: absent });
        }
        self.load_indexed(&storage, next);
        self.emit(Instr::AddConst { d, a: next, k: 0 });
        self.or_zero(absent, d);
        Ok(())
    }

    fn run(&mut self, process: ProcessId, arguments: &[Expr], priority: u8, d: Reg) -> Done {
        let Some(declared) = self.program.processes.get(process.0 as usize) else {
            return Err(Refusal::Malformed("no such process"));
        };
        if self.is_watcher() {
            return Err(Refusal::Malformed("a claim creates a process"));
        }
        let parameters = declared.parameter_count as usize;
        let mut at = d;
        for argument in arguments {
            self.value(argument, at)?;
            at = after(at)?;
        }
        let count = arguments.len().min(parameters) as u8;
        let process = process_number(process)?;
        self.emit(Instr::Spawn { d, a: d, count, priority, process });
        Ok(())
    }
}

/// The number of a process type, as instructions name it.
fn process_number(process: ProcessId) -> Result<u16, Refusal> {
    u16::try_from(process.0).map_err(|_| Refusal::TooMany("kinds of processes", u16::MAX.into()))
}

/// The fault of a message with the wrong number of fields.
pub(super) fn field_count(given: usize, expected: usize) -> Fault {
    Fault::FieldCount { given: given as u32, expected: expected as u32 }
}
