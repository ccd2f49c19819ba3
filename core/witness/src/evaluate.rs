//! The value of an expression in a state.

use fabius_program::{
    BinaryOp, ChannelTest, ChannelType, Expr, Location, LocationId, PROCESSES_MAX, Pattern, Place, ProcessId, Program,
    Receive, Slot, UnaryOp, Variable, VariableId, meaning::Fault,
};
use std::ops::Deref;

use crate::interpret::StepEvaluator;
use crate::state::{Birth, CLAIM, NOBODY, NextMover, ProcessState, State};

/// Why an expression that belongs to no process has no value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unreadable {
    /// It cannot be computed.
    Fault(Fault),
    /// It speaks of variables of a process without saying which, or creates one.
    OfAProcess,
}

impl std::fmt::Display for Unreadable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Fault(fault) => write!(f, "{fault}"),
            Self::OfAProcess => write!(f, "it belongs to a process"),
        }
    }
}

/// The value of an expression that belongs to no process: it reads global variables, and those of processes that it
/// names.
///
/// # Errors
/// If it has none.
pub fn value_of(program: &Program, state: &State, expr: &Expr) -> Result<i32, Unreadable> {
    if belongs_to_a_process(expr) {
        return Err(Unreadable::OfAProcess);
    }
    Evaluation::new(program, state, NOBODY).value(expr).map_err(Unreadable::Fault)
}

/// Whether an expression reads variables of the process that evaluates it, or creates processes.
fn belongs_to_a_process(expr: &Expr) -> bool {
    let mut open = vec![expr];
    let place = |place: &Place| matches!(place.slot, Slot::Local(_));
    while let Some(expr) = open.pop() {
        match expr {
            Expr::Run { .. } => return true,
            Expr::Load(loaded) if place(loaded) => return true,
            Expr::Load(loaded) => open.extend(&loaded.indices),
            Expr::Unary(_, a) | Expr::Length(a) | Expr::Test(_, a) => open.push(a),
            Expr::Enabled(a) | Expr::LocationOf(a) | Expr::PriorityOf(a) => open.push(a),
            Expr::Binary(_, a, b) => open.extend([a.as_ref(), b.as_ref()]),
            Expr::Conditional(a, b, c) => open.extend([a.as_ref(), b.as_ref(), c.as_ref()]),
            Expr::Poll { channel, fields, .. } => {
                open.push(channel);
                for field in fields {
                    match field {
                        Pattern::Match(expr) => open.push(expr),
                        Pattern::Store(stored) if place(stored) => return true,
                        Pattern::Store(_) | Pattern::Ignore => {}
                    }
                }
            }
            Expr::At { pid, .. } => open.extend(pid.as_deref()),
            Expr::Remote { pid, indices, .. } => {
                open.extend(pid.as_deref());
                open.extend(indices);
            }
            Expr::Constant(_) | Expr::Pid | Expr::ProcessCount | Expr::Last | Expr::Timeout | Expr::NonProgress => {}
        }
    }
    false
}

/// Evaluates expressions of one process in one state. The state is not changed: processes that a
/// `Run` would create are remembered in [`Self::births`].
pub(crate) struct Evaluation<'a> {
    program: &'a Program,
    state: &'a State,
    /// The process that evaluates.
    pid: usize,
    timeout: bool,
    /// Processes whose edges are being tried to find out if they are enabled, besides the evaluating one.
    asked: &'a [usize],
    /// Processes that the expression creates.
    pub(crate) births: Vec<Birth>,
    /// Results that did not fit 32 bits.
    pub(crate) overflows: Vec<Overflow>,
}

/// A result that does not fit 32 bits, and what is left of it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Overflow {
    /// The left operand; 0 of a negation.
    pub left: i32,
    /// The operator.
    pub op: BinaryOp,
    /// The right operand.
    pub right: i32,
    /// The result.
    pub kept: i32,
}

impl<'a> Evaluation<'a> {
    /// An evaluation outside any trial: nothing has timed out.
    pub(crate) fn new(program: &'a Program, state: &'a State, pid: usize) -> Self {
        Self::within(program, state, pid, false, &[])
    }

    /// An evaluation within a trial of the process's edges.
    pub(crate) fn within(
        program: &'a Program,
        state: &'a State,
        pid: usize,
        timeout: bool,
        asked: &'a [usize],
    ) -> Self {
        Self { program, state, pid, timeout, asked, births: Vec::new(), overflows: Vec::new() }
    }

    /// The process that evaluates.
    pub(crate) fn pid(&self) -> usize {
        self.pid
    }

    /// Whether nothing but values came of what was evaluated so far.
    pub(crate) fn is_pure(&self) -> bool {
        self.births.is_empty() && self.overflows.is_empty()
    }

    /// The value of an expression.
    pub(crate) fn value(&mut self, expr: &Expr) -> Result<i32, Fault> {
        Ok(match expr {
            Expr::Constant(value) => *value,
            Expr::Load(place) => {
                let element = self.element(place)?;
                self.values(place.slot)[element]
            }
            Expr::Unary(op, operand) => {
                let operand = self.value(operand)?;
                if *op == UnaryOp::Negate {
                    self.watch_overflow(0, BinaryOp::Subtract, operand);
                }
                unary(*op, operand)
            }
            Expr::Binary(BinaryOp::And, left, right) => i32::from(self.value(left)? != 0 && self.value(right)? != 0),
            Expr::Binary(BinaryOp::Or, left, right) => i32::from(self.value(left)? != 0 || self.value(right)? != 0),
            Expr::Binary(op, left, right) => {
                let left = self.value(left)?;
                let right = self.value(right)?;
                self.watch_overflow(left, *op, right);
                binary(*op, left, right)?
            }
            Expr::Conditional(condition, yes, no) => {
                let chosen = if self.value(condition)? != 0 { yes } else { no };
                self.value(chosen)?
            }
            Expr::Length(channel) => {
                let channel = self.channel(channel)?;
                self.state.channels[channel].messages.len() as i32
            }
            Expr::Test(test, channel) => i32::from(self.channel_test(*test, channel)?),
            Expr::Poll { channel, any, fields } => {
                let channel = self.channel(channel)?;
                if self.channel_type(channel).capacity == 0 {
                    return Err(Fault::PollOnRendezvous);
                }
                i32::from(self.find_message(channel, *any, fields)?.is_some())
            }
            Expr::Run { process, arguments, priority } => self.run(*process, arguments, *priority)?,
            Expr::Pid => {
                if self.pid < CLAIM {
                    self.pid as i32
                } else {
                    0
                }
            }
            Expr::ProcessCount => self.state.processes.len() as i32,
            Expr::Last => i32::from(self.state.last),
            Expr::Timeout => i32::from(self.timeout),
            Expr::NonProgress => i32::from(!self.something_progresses()),
            Expr::Enabled(pid) => i32::from(self.enabled(pid)?),
            Expr::LocationOf(pid) => {
                let process = self.process_numbered(pid)?;
                process.map_or(0, |p| self.program.process(p.process).locations[p.location.0 as usize].number as i32)
            }
            Expr::PriorityOf(pid) => self.process_numbered(pid)?.map_or(0, |p| i32::from(p.priority)),
            Expr::At { process, pid, location } => {
                i32::from(self.process_of_type(*process, pid.as_deref())?.is_some_and(|p| is_at(p, *location)))
            }
            Expr::Remote { process, pid, variable, indices } => {
                self.remote(*process, pid.as_deref(), *variable, indices)?
            }
        })
    }

    /// Which element of its variable a place is.
    pub(crate) fn element(&mut self, place: &Place) -> Result<usize, Fault> {
        let program = self.program;
        let variable = match place.slot {
            Slot::Global(id) => &program.globals[id.0 as usize],
            Slot::Local(id) => &program.process(self.state.whereabouts(self.pid).0).locals[id.0 as usize],
        };
        self.element_of(variable, &place.indices)
    }

    /// The channel that an expression names, as an index into [`State::channels`].
    pub(crate) fn channel(&mut self, expr: &Expr) -> Result<usize, Fault> {
        let identity = self.value(expr)?;
        match usize::try_from(identity) {
            Ok(0) => Err(Fault::NoChannel),
            Ok(id) if id <= self.state.channels.len() => Ok(id - 1),
            _ => Err(Fault::DeadChannel(identity)),
        }
    }

    /// The type of a channel.
    pub(crate) fn channel_type(&self, channel: usize) -> &'a ChannelType {
        &self.program.channel_types[self.state.channels[channel].channel_type.0 as usize]
    }

    /// Which message of a buffered channel a receive or poll with these fields would take.
    pub(crate) fn find_message(
        &mut self,
        channel: usize,
        any: bool,
        fields: &[Pattern],
    ) -> Result<Option<usize>, Fault> {
        let state = self.state;
        let candidates = if any { usize::MAX } else { 1 };
        for (index, message) in state.channels[channel].messages.iter().take(candidates).enumerate() {
            if self.matches(fields, message)? {
                return Ok(Some(index));
            }
        }
        Ok(None)
    }

    /// Which message of a buffered channel a receive would take. The number of its fields matters only
    /// once there is a message that matches in those that both have.
    pub(crate) fn find_to_receive(&mut self, channel: usize, receive: &Receive) -> Result<Option<usize>, Fault> {
        let found = self.find_message(channel, receive.any, &receive.fields)?;
        if found.is_some() {
            self.check_field_count(channel, receive.fields.len())?;
        }
        Ok(found)
    }

    /// Whether a message is one that a receive with these fields takes.
    pub(crate) fn matches(&mut self, fields: &[Pattern], message: &[i32]) -> Result<bool, Fault> {
        for (pattern, value) in fields.iter().zip(message) {
            if let Pattern::Match(expr) = pattern
                && self.value(expr)? != *value
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// A fault if messages of this channel do not have this many fields.
    pub(crate) fn check_field_count(&self, channel: usize, given: usize) -> Result<(), Fault> {
        let expected = self.channel_type(channel).fields.len();
        if given == expected {
            Ok(())
        } else {
            Err(Fault::FieldCount { given: given as u32, expected: expected as u32 })
        }
    }

    /// The message that a send with these fields sends, before it is truncated.
    pub(crate) fn message(&mut self, channel: usize, fields: &[Expr]) -> Result<Vec<i32>, Fault> {
        self.check_field_count(channel, fields.len())?;
        fields.iter().map(|expr| self.value(expr)).collect()
    }

    /// A message as a channel stores it.
    pub(crate) fn truncated(&self, channel: usize, message: &[i32]) -> Vec<i32> {
        let types = &self.channel_type(channel).fields;
        message.iter().zip(types).map(|(value, ty)| ty.truncate(*value)).collect()
    }

    /// Remembers a result that does not fit.
    fn watch_overflow(&mut self, left: i32, op: BinaryOp, right: i32) {
        let (kept, overflows) = match op {
            BinaryOp::Add => left.overflowing_add(right),
            BinaryOp::Subtract => left.overflowing_sub(right),
            BinaryOp::Multiply => left.overflowing_mul(right),
            BinaryOp::Divide if right != 0 => left.overflowing_div(right),
            _ => return,
        };
        if overflows {
            self.overflows.push(Overflow { left, op, right, kept });
        }
    }

    fn values(&self, slot: Slot) -> &'a [i32] {
        match slot {
            Slot::Global(id) => &self.state.globals[id.0 as usize],
            Slot::Local(id) => &self.state.locals_of(self.pid)[id.0 as usize],
        }
    }

    fn element_of(&mut self, variable: &Variable, indices: &[Expr]) -> Result<usize, Fault> {
        let mut element = 0;
        for (position, &length) in variable.dimensions.iter().enumerate() {
            let index = indices.get(position).map_or(Ok(0), |expr| self.value(expr))?;
            match usize::try_from(index) {
                Ok(inside) if inside < length as usize => element = element * length as usize + inside,
                _ => return Err(Fault::IndexOutOfRange { index, length }),
            }
        }
        Ok(element)
    }

    fn channel_test(&mut self, test: ChannelTest, channel: &Expr) -> Result<bool, Fault> {
        let channel = self.channel(channel)?;
        let capacity = self.channel_type(channel).capacity as usize;
        let length = self.state.channels[channel].messages.len();
        let full = capacity > 0 && capacity <= length;
        Ok(match test {
            ChannelTest::Full => full,
            ChannelTest::NotFull => !full,
            ChannelTest::Empty => length == 0,
            ChannelTest::NotEmpty => length != 0,
        })
    }

    fn run(&mut self, process: ProcessId, arguments: &[Expr], priority: u8) -> Result<i32, Fault> {
        let arguments = arguments.iter().map(|a| self.value(a)).collect::<Result<Vec<_>, _>>()?;
        let pid = self.state.processes.len() + self.births.len();
        if PROCESSES_MAX <= pid {
            return Err(Fault::TooManyProcesses);
        }
        self.births.push(Birth { process, arguments, priority });
        Ok(pid as i32)
    }

    /// Whether somebody is at a progress location, or everything has stopped.
    fn something_progresses(&self) -> bool {
        let stuttered = self.state.claim.as_ref().is_some_and(|claim| claim.turn == NextMover::Stuttered);
        stuttered || is_anybody_at(self.program, self.state, |location| location.progress)
    }

    fn enabled(&mut self, pid: &Expr) -> Result<bool, Fault> {
        let pid = self.value(pid)?;
        let Some(pid) = usize::try_from(pid).ok().filter(|pid| *pid < self.state.processes.len()) else {
            return Ok(false);
        };
        if pid == self.pid || self.asked.contains(&pid) {
            return Err(Fault::EnabledOfSelf);
        }
        let asked = [self.asked, &[self.pid]].concat();
        Ok(StepEvaluator::asking(self.program, self.state, self.timeout, &asked).enabled(pid))
    }

    fn process_numbered(&mut self, pid: &Expr) -> Result<Option<&'a ProcessState>, Fault> {
        let pid = self.value(pid)?;
        Ok(usize::try_from(pid).ok().and_then(|pid| self.state.processes.get(pid).map(Deref::deref)))
    }

    fn process_of_type(&mut self, process: ProcessId, pid: Option<&Expr>) -> Result<Option<&'a ProcessState>, Fault> {
        match pid {
            Some(pid) => Ok(self.process_numbered(pid)?.filter(|p| p.process == process)),
            None => Ok(self.state.processes.iter().map(Deref::deref).find(|p| p.process == process)),
        }
    }

    fn remote(
        &mut self,
        process: ProcessId,
        pid: Option<&Expr>,
        variable: VariableId,
        indices: &[Expr],
    ) -> Result<i32, Fault> {
        let Some(found) = self.process_of_type(process, pid)? else { return Ok(0) };
        let program = self.program;
        let element = self.element_of(&program.process(process).locals[variable.0 as usize], indices)?;
        Ok(found.locals[variable.0 as usize][element])
    }
}

/// Whether some process, or the claim, is at a location of some kind.
pub(crate) fn is_anybody_at(program: &Program, state: &State, kind: impl Fn(&Location) -> bool) -> bool {
    let claim = state.claim.iter().map(|claim| (claim.process, claim.location));
    let processes = state.processes.iter().map(|process| (process.process, process.location));
    processes.chain(claim).any(|(process, location)| kind(&program.process(process).locations[location.0 as usize]))
}

fn is_at(process: &ProcessState, location: LocationId) -> bool {
    process.location == location
}

fn unary(op: UnaryOp, operand: i32) -> i32 {
    match op {
        UnaryOp::Not => i32::from(operand == 0),
        UnaryOp::Negate => operand.wrapping_neg(),
        UnaryOp::Complement => !operand,
    }
}

fn binary(op: BinaryOp, left: i32, right: i32) -> Result<i32, Fault> {
    Ok(match op {
        BinaryOp::Add => left.wrapping_add(right),
        BinaryOp::Subtract => left.wrapping_sub(right),
        BinaryOp::Multiply => left.wrapping_mul(right),
        BinaryOp::Divide | BinaryOp::Remainder if right == 0 => return Err(Fault::DivisionByZero),
        BinaryOp::Divide => left.wrapping_div(right),
        BinaryOp::Remainder => left.wrapping_rem(right),
        BinaryOp::BitAnd => left & right,
        BinaryOp::BitOr => left | right,
        BinaryOp::BitXor => left ^ right,
        BinaryOp::ShiftLeft => left.wrapping_shl(right as u32),
        BinaryOp::ShiftRight => left.wrapping_shr(right as u32),
        BinaryOp::Less => i32::from(left < right),
        BinaryOp::LessEqual => i32::from(left <= right),
        BinaryOp::Greater => i32::from(left > right),
        BinaryOp::GreaterEqual => i32::from(left >= right),
        BinaryOp::Equal => i32::from(left == right),
        BinaryOp::NotEqual => i32::from(left != right),
        BinaryOp::And => i32::from(left != 0 && right != 0),
        BinaryOp::Or => i32::from(left != 0 || right != 0),
    })
}
