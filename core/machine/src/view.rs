//! What the words of a state mean.

use crate::Machine;
use crate::assemble::Storage;
use crate::layout::{Base, HOLDER_MASK, HOLDER_SHIFT, LAST_MASK, LAST_SHIFT, STUTTERED, Slot, TURN};
use crate::shape::Shape;
use fabius_program::{ChannelTypeId, LocationId, ProcessId, VariableId};

/// A state, taken apart.
#[derive(Clone, Debug)]
pub struct View<'s> {
    machine: &'s Machine,
    state: &'s [u32],
    shape: &'s Shape,
}

/// A channel, taken apart.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChannelView {
    /// Its type.
    pub ty: ChannelTypeId,
    /// Its messages, the oldest first; one value per field.
    pub messages: Vec<Vec<i32>>,
}

impl<'s> View<'s> {
    pub(crate) fn new(machine: &'s Machine, state: &'s [u32]) -> Option<Self> {
        Some(Self { machine, state, shape: machine.shapes.find(&machine.code, state)? })
    }

    /// Number of processes.
    pub fn process_count(&self) -> usize {
        self.shape.processes.len()
    }

    /// Type of a process.
    pub fn process_of(&self, pid: usize) -> Option<ProcessId> {
        self.shape.processes.get(pid).map(|placed| ProcessId(placed.process))
    }

    /// Location of a process.
    pub fn location_of(&self, pid: usize) -> Option<LocationId> {
        let placed = self.shape.processes.get(pid)?;
        let code = &self.machine.code;
        let word = self.state[placed.base as usize] >> code.location_shift;
        Some(LocationId(word & code.processes[placed.process as usize].location_mask))
    }

    /// Priority of a process.
    pub fn priority_of(&self, pid: usize) -> Option<u8> {
        let placed = self.shape.processes.get(pid)?;
        let code = &self.machine.code;
        if !code.uses_priority {
            return Some(1);
        }
        let slot = code.processes[placed.process as usize].priority;
        Some(slot.get(self.state[placed.base as usize]) as u8)
    }

    /// The process that holds control.
    pub fn holder(&self) -> Option<usize> {
        ((self.state[0] & HOLDER_MASK) >> HOLDER_SHIFT).checked_sub(1).map(|pid| pid as usize)
    }

    /// The process that moved last, if the program looks at it.
    pub fn last(&self) -> Option<usize> {
        self.machine.code.uses_last.then(|| ((self.state[0] & LAST_MASK) >> LAST_SHIFT) as usize)
    }

    /// Whether it is the turn of the claim that is watched.
    pub fn is_claims_turn(&self) -> bool {
        self.machine.code.claim.is_some() && self.state[0] & TURN != 0
    }

    /// Whether the claim's turn came by stuttering, if the claim asks for what that changes.
    pub fn stuttered(&self) -> bool {
        self.machine.code.claim.is_some() && self.state[0] & STUTTERED != 0
    }

    /// Location of the claim that is watched.
    pub fn claim_location(&self) -> Option<LocationId> {
        let code = &self.machine.code;
        let placed = code.claim?.placed;
        let word = self.state[placed.base as usize] >> code.location_shift;
        Some(LocationId(word & code.processes[placed.process as usize].location_mask))
    }

    /// Values of the elements of a variable of the claim; empty for one that does not exist.
    pub fn claim_local(&self, variable: VariableId) -> Vec<i32> {
        let Some(claim) = self.machine.code.claim else { return Vec::new() };
        let locals = &self.machine.map.locals[claim.placed.process as usize];
        locals.get(variable.0 as usize).map_or(Vec::new(), |storage| self.values(storage, claim.placed.base))
    }

    /// Location of the event trace that is watched.
    pub fn trace_location(&self) -> Option<LocationId> {
        let trace = self.machine.code.trace.as_ref()?;
        Some(LocationId(self.state[trace.word as usize]))
    }

    /// Values of the elements of a global; empty for one that does not exist.
    pub fn global(&self, variable: VariableId) -> Vec<i32> {
        self.machine.map.globals.get(variable.0 as usize).map_or(Vec::new(), |storage| self.values(storage, 0))
    }

    /// The value of an element of a global, if it exists.
    pub fn global_element(&self, variable: VariableId, element: usize) -> Option<i32> {
        match self.machine.map.globals.get(variable.0 as usize)? {
            Storage::Constant(values) => values.get(element).copied(),
            Storage::Scalar(slot) => (element == 0).then(|| self.value(u32::from(slot.word), *slot, 0)),
            Storage::Array(array) => {
                let array = &self.machine.code.arrays[usize::from(*array)];
                let number = u32::try_from(element).ok().filter(|number| *number < array.length)?;
                let (word, slot) = array.element(number);
                Some(self.value(word, slot, 0))
            }
        }
    }

    /// Values of the elements of a process's variable; empty for one that does not exist.
    pub fn local(&self, pid: usize, variable: VariableId) -> Vec<i32> {
        let Some(placed) = self.shape.processes.get(pid) else { return Vec::new() };
        let locals = &self.machine.map.locals[placed.process as usize];
        locals.get(variable.0 as usize).map_or(Vec::new(), |storage| self.values(storage, placed.base))
    }

    fn values(&self, storage: &Storage, process: u32) -> Vec<i32> {
        match storage {
            Storage::Constant(values) => values.to_vec(),
            Storage::Scalar(slot) => vec![self.value(u32::from(slot.word), *slot, process)],
            Storage::Array(array) => {
                let array = &self.machine.code.arrays[usize::from(*array)];
                let value = |(word, slot)| self.value(word, slot, process);
                (0..array.length).map(|i| value(array.element(i))).collect()
            }
        }
    }

    fn value(&self, word: u32, slot: Slot, process: u32) -> i32 {
        let base = if slot.base() == Base::Global as usize {
            0
        } else if slot.base() == Base::Hidden as usize {
            self.state.len() - self.machine.hidden_words()
        } else {
            process as usize
        };
        slot.get(self.state[base + word as usize])
    }

    /// Number of channels.
    pub fn channel_count(&self) -> usize {
        self.shape.channels.len()
    }

    /// The channel with an identity, counted from 1.
    pub fn channel(&self, id: usize) -> Option<ChannelView> {
        let (ty, length) = self.channel_length(id)?;
        let messages = (0..length).map_while(|position| self.message(id, position)).collect();
        Some(ChannelView { ty, messages })
    }

    /// The type of a channel, and how many messages it holds; 0 for a rendezvous.
    pub fn channel_length(&self, id: usize) -> Option<(ChannelTypeId, u32)> {
        let placed = self.shape.channels.get(id.checked_sub(1)?)?;
        let layout = &self.machine.code.layouts[placed.layout as usize];
        let length = if layout.capacity == 0 {
            0
        } else {
            let word = self.state[placed.base as usize];
            (word & (u32::MAX >> (32 - u32::from(layout.length_bits)))).min(layout.capacity)
        };
        Some((ChannelTypeId(placed.layout), length))
    }

    /// A message in a channel, by its position counted from the oldest, 0: one value per field.
    pub fn message(&self, id: usize, position: u32) -> Option<Vec<i32>> {
        let (_, length) = self.channel_length(id)?;
        let placed = self.shape.channels.get(id.checked_sub(1)?)?;
        let layout = &self.machine.code.layouts[placed.layout as usize];
        let field = |field: &crate::layout::Field| {
            let bit = layout.message_bit(position) + field.bit;
            field.get(self.state[placed.base as usize + (bit >> 5) as usize], bit)
        };
        (position < length).then(|| layout.fields.iter().map(field).collect())
    }
}
