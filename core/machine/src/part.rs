//! Looking at a part of a state: the steps of one process, single values. What a reduction asks for.

use crate::assemble::Storage;
use crate::layout::{Base, COUNT_MASK, HOLDER_MASK, HOLDER_SHIFT, Slot, TURN};
use crate::run::Interpreter;
use crate::shape::Shape;
use crate::{Cursor, Machine};
use fabius_program::{LocationId, ProcessId, VariableId};
use std::ops::Range;

/// Where a value stands in all states with the same [`Machine::shape_number`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reader {
    word: u32,
    slot: Slot,
}

impl Reader {
    /// The value; 0 in a state of another shape that is shorter.
    #[inline(always)]
    pub fn read(&self, state: &[u32]) -> i32 {
        state.get(self.word as usize).map_or(0, |word| self.slot.get(*word))
    }

    /// The word of a state in which the value stands, and its bits there.
    pub fn place(&self) -> (usize, u32) {
        (self.word as usize, self.slot.set(0, -1))
    }
}

impl Cursor {
    /// Lists the steps of one process only, from the first on, as a cursor of [`Machine::begin_process`] for the same state. The
    /// process exists, and the state is neither one with a holder nor the claim's turn.
    #[inline]
    pub fn turn_to(&mut self, pid: u8) {
        self.go_to_process(pid);
        // What ends the listing as if there was nobody else, and nothing more to be said of the state.
        self.flags = Self::HELD | Self::MOVED;
    }

    /// Passes over some processes, given as bits by their numbers, and ends as in a state that has steps. The cursor has listed nothing yet; its
    /// state has no holder, and it is not the claim's turn.
    #[inline]
    pub fn pass_over(&mut self, processes: u32) {
        debug_assert!(!self.has(Self::HELD | Self::CLAIM), "all processes may move");
        self.passed_over = processes;
        self.flags |= Self::MOVED;
        if self.passes_over(self.pid) && !self.go_to_next_process() {
            self.turn_to_nobody();
        }
    }

    #[inline(always)]
    fn passes_over(&self, pid: u8) -> bool {
        self.passed_over.checked_shr(u32::from(pid)).is_some_and(|bits| bits & 1 != 0)
    }

    /// Goes to the process that was created last before the present one, and is not passed over; whether there is one.
    #[inline(always)]
    pub(crate) fn go_to_next_process(&mut self) -> bool {
        let mut pid = self.pid;
        while pid > 0 {
            pid -= 1;
            if self.passed_over == 0 || !self.passes_over(pid) {
                self.go_to_process(pid);
                return true;
            }
        }
        false
    }

    /// Lists no step more, and then ends as in a state that has steps.
    #[inline]
    pub fn turn_to_nobody(&mut self) {
        self.flags |= Self::FINISHED | Self::MOVED;
    }
}

impl Machine {
    /// A cursor that lists the steps of one process only, and then ends as in a state that has steps. Not for
    /// states with a holder, nor for the claim's turn.
    #[inline]
    pub fn begin_process(&mut self, state: &[u32], pid: u8) -> Cursor {
        let mut cursor = self.begin(state);
        if !cursor.has(Cursor::FINISHED) && u32::from(pid) < state[0] & COUNT_MASK {
            cursor.turn_to(pid);
        }
        cursor
    }

    /// The executable edges of a process in a state with this [`Machine::shape_number`], as bits in the order of its
    /// location's edges; edges from the 64th on share the last bit. `Timeout` is false. An edge whose trial is a
    /// fault counts as executable.
    #[inline]
    pub fn executable(&mut self, state: &[u32], shape: u32, pid: u8) -> u64 {
        let Self { code, shapes, scratch, reached, spare, .. } = self;
        let Some(shape) = shapes.get(shape).filter(|shape| shape.words as usize == state.len()) else { return 0 };
        Interpreter::new(code, shapes, scratch, reached, state, shape, spare).executable(u32::from(pid))
    }

    /// The [executable edges](Self::executable) of some processes, which are given as bits; `executable` has a place for each process.
    #[inline]
    pub fn executable_of(&mut self, state: &[u32], shape: u32, processes: u64, executable: &mut [u64]) {
        let Self { code, shapes, scratch, reached, spare, .. } = self;
        let Some(shape) = shapes.get(shape).filter(|shape| shape.words as usize == state.len()) else { return };
        let mut interpreter = Interpreter::new(code, shapes, scratch, reached, state, shape, spare);
        let mut rest = processes;
        while rest != 0 {
            let pid = rest.trailing_zeros();
            rest &= rest - 1;
            executable[pid as usize] = interpreter.executable(pid);
        }
    }

    /// Moves a process to the place of an older one, which then follows it, as if it had been created before that one. Numbers
    /// of processes in variables stay as they are, and none from that place on may have channels of its own.
    ///
    /// Returns false, and changes nothing, for words that are no state and for places that do not exist.
    pub fn move_process(&self, state: &mut [u32], from: usize, to: usize) -> bool {
        let Some(shape) = self.shapes.find(&self.code, state) else { return false };
        let base = |pid: usize| shape.processes.get(pid).map(|placed| placed.base as usize);
        let hidden = state.len() - self.code.hidden_words as usize;
        let (Some(first), Some(start)) = (base(to), base(from)) else { return false };
        let end = base(from + 1).unwrap_or(hidden);
        if from < to {
            return false;
        }
        state[first..end].rotate_right(end - start);
        if let Some(holder) = ((state[0] & HOLDER_MASK) >> HOLDER_SHIFT).checked_sub(1).map(|pid| pid as usize) {
            let moved = match holder {
                pid if pid == from => to,
                pid if (to..from).contains(&pid) => pid + 1,
                pid => pid,
            };
            state[0] = state[0] & !HOLDER_MASK | (moved as u32 + 1) << HOLDER_SHIFT;
        }
        true
    }

    /// Removes a process; those that follow it move up by one. Numbers of processes in variables stay as they are, and none from
    /// that place on may have channels of its own.
    ///
    /// Returns false, and changes nothing, for words that are no state, for places that do not exist, and for the process that
    /// holds control.
    pub fn remove_process(&self, state: &mut Vec<u32>, pid: usize) -> bool {
        let Some(range) = self.block(state, pid) else { return false };
        match self.holder(state) {
            Some(holder) if holder == pid => return false,
            Some(holder) if pid < holder => state[0] -= 1 << HOLDER_SHIFT,
            _ => {}
        }
        state.drain(range);
        state[0] -= 1;
        true
    }

    /// Forgets the variables of a process that nobody will read: they become 0. Nothing happens to a process that has channels of
    /// its own.
    pub fn forget_locals(&self, state: &mut [u32], pid: usize) {
        let Some(shape) = self.shapes.find(&self.code, state) else { return };
        let Some(placed) = shape.processes.get(pid) else { return };
        let kind = &self.code.processes[placed.process as usize];
        let base = placed.base as usize;
        if kind.channels.is_empty() {
            let kept = state[base] & (self.code.rank_mask | kind.location_mask << self.code.location_shift);
            state[base..base + kind.words as usize].fill(0);
            state[base] = kept;
        }
    }

    /// The type and the location of each process of a state; none for words that are no state.
    pub fn locations(&self, state: &[u32], found: &mut Vec<(ProcessId, LocationId)>) {
        found.clear();
        let Some(shape) = self.shapes.find(&self.code, state) else { return };
        found.extend(shape.processes.iter().map(|placed| {
            let mask = self.code.processes[placed.process as usize].location_mask;
            let location = state[placed.base as usize] >> self.code.location_shift & mask;
            (ProcessId(placed.process), LocationId(location))
        }));
    }

    /// Appends the words of a state before those of its first process: the globals and their channels, but neither how many
    /// processes there are nor who holds control.
    pub fn append_globals(&self, state: &[u32], words: &mut Vec<u32>) {
        let Some(globals) = state.get(..self.code.global_words as usize) else { return };
        let head = words.len();
        words.extend_from_slice(globals);
        words[head..].iter_mut().take(1).for_each(|head| *head &= !(COUNT_MASK | HOLDER_MASK));
    }

    /// The words of a process and of its channels, with its type and location.
    pub fn process_words<'s>(&self, state: &'s [u32], pid: usize) -> Option<&'s [u32]> {
        state.get(self.block(state, pid)?)
    }

    /// Where a process and its channels stand.
    fn block(&self, state: &[u32], pid: usize) -> Option<Range<usize>> {
        let shape = self.shapes.find(&self.code, state)?;
        let start = shape.processes.get(pid)?.base as usize;
        let hidden = state.len() - self.code.hidden_words as usize;
        Some(start..shape.processes.get(pid + 1).map_or(hidden, |next| next.base as usize))
    }

    /// The process that holds control.
    pub fn holder(&self, state: &[u32]) -> Option<usize> {
        ((state.first()? & HOLDER_MASK) >> HOLDER_SHIFT).checked_sub(1).map(|pid| pid as usize)
    }

    /// Whether a process holds control.
    #[inline(always)]
    pub fn is_held(&self, state: &[u32]) -> bool {
        state.first().is_some_and(|head| head & HOLDER_MASK != 0)
    }

    /// Whether it is the claim's turn.
    #[inline(always)]
    pub fn is_claims_turn(&self, state: &[u32]) -> bool {
        self.watch().claim.is_some() && state.first().is_some_and(|head| head & TURN != 0)
    }

    /// A number for the sequence of types of a state's processes: everything stands in the same place in all
    /// states with the same number. Numbers count from 0; a clone gives the same ones, another machine others.
    #[inline]
    pub fn shape_number(&mut self, state: &[u32]) -> Option<u32> {
        Some(self.shapes.find(&self.code, state)?.id)
    }

    fn shape(&self, number: u32) -> Option<&Shape> {
        self.shapes.get(number)
    }

    /// Where the location of a process stands; `None` if its type has only one.
    pub fn location_reader(&self, shape: u32, pid: usize) -> Option<Reader> {
        let placed = self.shape(shape)?.processes.get(pid)?;
        let mask = self.code.processes[placed.process as usize].location_mask;
        let bits = 32 - mask.leading_zeros();
        (bits > 0).then(|| Reader {
            word: placed.base,
            slot: Slot::new(Base::Process, self.code.location_shift, bits as u8, false),
        })
    }

    /// The type of a process in the states with this [`Machine::shape_number`].
    #[inline]
    pub fn process_at(&self, shape: u32, pid: usize) -> Option<ProcessId> {
        self.shape(shape)?.processes.get(pid).map(|placed| ProcessId(placed.process))
    }

    /// How many channels are older than those of a process.
    pub fn channels_before(&self, shape: u32, pid: usize) -> Option<u32> {
        Some(self.shape(shape)?.processes.get(pid)?.channels_before)
    }

    /// Where an element of a global stands, if it is stored.
    pub fn global_reader(&self, shape: u32, variable: VariableId, element: u32) -> Option<Reader> {
        let hidden = self.shape(shape)?.words - self.code.hidden_words;
        self.reader(self.map.globals.get(variable.0 as usize)?, element, 0, hidden)
    }

    /// Where an element of a process's variable stands, if it is stored.
    pub fn local_reader(&self, shape: u32, pid: usize, variable: VariableId, element: u32) -> Option<Reader> {
        let placed = self.shape(shape)?.processes.get(pid)?;
        let storage = self.map.locals.get(placed.process as usize)?.get(variable.0 as usize)?;
        self.reader(storage, element, placed.base, 0)
    }

    fn reader(&self, storage: &Storage, element: u32, base: u32, hidden: u32) -> Option<Reader> {
        let (word, slot) = match storage {
            Storage::Constant(_) => return None,
            Storage::Scalar(slot) if element == 0 => (u32::from(slot.word), *slot),
            Storage::Scalar(_) => return None,
            Storage::Array(array) => {
                let array = &self.code.arrays[usize::from(*array)];
                if array.length <= element {
                    return None;
                }
                array.element(element)
            }
        };
        let base = if slot.base() == Base::Hidden as usize { hidden } else { base };
        Some(Reader { word: base + word, slot })
    }

    /// Where the number of messages of a channel stands; `None` for a rendezvous.
    pub fn length_reader(&self, shape: u32, channel: usize) -> Option<Reader> {
        let placed = self.shape(shape)?.channels.get(channel.checked_sub(1)?)?;
        let layout = &self.code.layouts[placed.layout as usize];
        (layout.capacity > 0)
            .then(|| Reader { word: placed.base, slot: Slot::new(Base::Global, 0, layout.length_bits, false) })
    }

    /// Where the number of processes stands.
    pub fn count_reader(&self) -> Reader {
        Reader { word: 0, slot: Slot::new(Base::Global, 0, 8, false) }
    }
}
