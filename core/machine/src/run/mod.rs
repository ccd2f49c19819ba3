//! The interpreter: runs the instructions of one edge, first on the state, then on a copy of it.

mod channel;
mod explore;
mod found;
mod probe;
mod process;
mod rendezvous;
mod watch;

pub(crate) use explore::NOT_BEGUN;
pub use found::Found;
pub(crate) use rendezvous::Seat;

use crate::arith::compute;
use crate::code::{BLOCKED, Code, Instr, Pc, Reg};
use crate::layout::{COUNT_MASK, LAST_MASK, LAST_SHIFT, Slot};
use crate::shape::{PlacedChannel, Shape, Shapes};
use fabius_program::meaning::{BLOCK_STEPS_MAX, Fault};

/// What came of running instructions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    /// Not executable.
    Blocked,
    /// Executed; where only executability is asked, executable.
    Done,
    /// A fault, which [`Scratch::fault`] keeps, so that an outcome takes one register.
    Raised,
    /// A message is offered; what the sender does is done once a partner takes it.
    Offering,
    /// Can be partner; its part of the step goes on there.
    Partner(Pc),
}

/// Memory that is kept from one successor to the next.
#[derive(Clone, Debug)]
pub(crate) struct Scratch {
    registers: [i32; 256],
    /// Fields of the message offered.
    message: Vec<i32>,
    /// Identity of the channel on which a message is offered.
    offered: u32,
    /// The current channel, and its identity.
    current: PlacedChannel,
    current_id: u32,
    /// Which message was found.
    position: u32,
    /// Creations of processes under way.
    frames: Vec<Frame>,
    /// Registers that they must not change.
    saved: Vec<i32>,
    /// Processes whose edges are being tried to answer what is enabled.
    trying: Vec<u32>,
    /// Steps taken within blocks so far.
    pub(crate) block_steps: u64,
    /// The last fault that was raised.
    pub(crate) fault: Fault,
    /// Words in which the last successor may differ from the state, as [`crate::Machine::touched`] tells them.
    pub(crate) touched: u64,
}

impl Scratch {
    pub(crate) fn new() -> Self {
        Self {
            registers: [0; 256],
            message: Vec::new(),
            offered: 0,
            current: PlacedChannel { base: 0, layout: 0 },
            current_id: 0,
            position: 0,
            frames: Vec::new(),
            saved: Vec::new(),
            trying: Vec::new(),
            block_steps: 0,
            fault: Fault::EndlessBlock,
            touched: 0,
        }
    }
}

/// Where to go on when a process has been created.
#[derive(Clone, Copy, Debug)]
struct Frame {
    pc: Pc,
    pid: u32,
    d: Reg,
}

/// The words that instructions read and write: those of the state, or of its copy once there is one.
#[derive(Clone, Copy)]
struct Memory {
    start: *mut u32,
    /// Words of the copy that may differ from the state's: bit `i` stands for word `i`, and for those behind it in steps of 64.
    touched: u64,
    #[cfg(debug_assertions)]
    words: usize,
    #[cfg(debug_assertions)]
    writable: bool,
}

impl Memory {
    fn readable(words: &[u32]) -> Self {
        Self {
            start: words.as_ptr().cast_mut(),
            touched: 0,
            #[cfg(debug_assertions)]
            words: words.len(),
            #[cfg(debug_assertions)]
            writable: false,
        }
    }

    fn writable(words: &mut [u32]) -> Self {
        Self {
            start: words.as_mut_ptr(),
            touched: 0,
            #[cfg(debug_assertions)]
            words: words.len(),
            #[cfg(debug_assertions)]
            writable: true,
        }
    }

    #[inline(always)]
    fn get(self, word: usize) -> u32 {
        #[cfg(debug_assertions)]
        assert!(word < self.words);
        // SAFETY: the words are as many as their shape says ([`Interpreter::new`] compares, and creating and
        // ending processes keeps it so). Every offset is the sum of a base and a distance: bases come from
        // that shape, and the assembler gives out distances within the block that the base begins: slots
        // without condition, elements of arrays once their index was compared with the length, messages
        // once their number was compared with the capacity. The code that runs belongs to the type that the
        // shape gives to the process. The memory is borrowed for as long as the interpreter lives, and
        // whatever moves the copy makes a new `Memory`.
        unsafe { *self.start.add(word) }
    }

    #[inline(always)]
    fn set(&mut self, word: usize, value: u32) {
        #[cfg(debug_assertions)]
        assert!(word < self.words && self.writable);
        // SAFETY: as in `get`. The assembler puts `Commit`, `Copy` or `Partner` before every instruction that
        // writes, and after those the memory is that of the copy, which is borrowed mutably.
        unsafe { *self.start.add(word) = value }
        self.touched |= 1 << (word & 63);
    }
}

/// Lists the successors of one state.
pub(crate) struct Interpreter<'m> {
    code: &'m Code,
    shapes: &'m Shapes,
    scratch: &'m mut Scratch,
    reached: &'m mut [u8],
    state: &'m [u32],
    successor: &'m mut Vec<u32>,
    memory: Memory,
    /// What slots are relative to, in the order of [`crate::layout::Base`].
    bases: [u32; 4],
    /// Shape of the state.
    state_shape: &'m Shape,
    /// Shape of the memory.
    shape: &'m Shape,
    /// The process whose code runs.
    pid: u32,
    /// An edge before this one was executable.
    found: bool,
    /// This is the second trial.
    timeout: bool,
    /// Only executability is asked.
    probing: bool,
    /// A process evaluates; else a condition that belongs to none.
    evaluates: bool,
    /// An assertion failed in this step.
    assertion_failed: bool,
    /// A message is kept for a partner: where to go on if there is none, and which offer it is.
    later: Option<(Pc, u8)>,
    /// The offer whose partners are being listed; 0 for none yet.
    ordinal: u8,
    /// Steps of the block that runs.
    ticks: u32,
    /// Channels on which somebody may be partner in the state, if that was asked already.
    accepting: Option<u32>,
}

impl<'m> Interpreter<'m> {
    /// `shape` must be that of the state.
    #[inline(always)]
    pub(crate) fn new(
        code: &'m Code,
        shapes: &'m Shapes,
        scratch: &'m mut Scratch,
        reached: &'m mut [u8],
        state: &'m [u32],
        shape: &'m Shape,
        successor: &'m mut Vec<u32>,
    ) -> Self {
        let words = shape.words;
        assert_eq!(words as usize, state.len(), "a state and its shape belong together");
        Self {
            memory: Memory::readable(state),
            bases: [0, 0, words - code.hidden_words, 0],
            code,
            shapes,
            scratch,
            reached,
            state,
            successor,
            state_shape: shape,
            shape,
            pid: 0,
            found: false,
            timeout: false,
            probing: false,
            evaluates: false,
            assertion_failed: false,
            later: None,
            ordinal: 0,
            ticks: 0,
            accepting: None,
        }
    }

    /// The words that instructions read now.
    fn words(&self) -> &[u32] {
        let words = self.shape.words as usize;
        // SAFETY: the memory has as many words as its shape says, and is borrowed as long as `self` is.
        unsafe { std::slice::from_raw_parts(self.memory.start, words) }
    }

    /// Makes a process the one whose code runs.
    #[inline(always)]
    fn seat(&mut self, pid: u32) {
        self.pid = pid;
        self.bases[1] = self.shape.processes[pid as usize].base;
    }

    /// Goes back to reading the state.
    #[inline(always)]
    fn restart(&mut self) {
        self.memory = Memory::readable(self.state);
        if !std::ptr::eq(self.shape, self.state_shape) {
            self.shape = self.state_shape;
            self.bases[2] = self.state.len() as u32 - self.code.hidden_words;
        }
    }

    /// Copies the state; what follows changes the copy.
    #[inline(always)]
    fn copy(&mut self) {
        self.successor.clear();
        self.successor.extend_from_slice(self.state);
        self.memory = Memory::writable(self.successor);
    }

    #[inline(always)]
    fn load(&self, slot: Slot) -> i32 {
        slot.get(self.memory.get(self.bases[slot.base()] as usize + usize::from(slot.word)))
    }

    #[inline(always)]
    fn store(&mut self, slot: Slot, value: i32) {
        let at = self.bases[slot.base()] as usize + usize::from(slot.word);
        self.memory.set(at, slot.set(self.memory.get(at), value));
    }

    #[inline(always)]
    fn load_at(&self, array: u16, index: i32) -> Result<i32, Fault> {
        let array = &self.code.arrays[usize::from(array)];
        if index as u32 >= array.length {
            return Err(Fault::IndexOutOfRange { index, length: array.length });
        }
        let bit = array.bit_of(index as u32);
        let word = self.bases[usize::from(array.base & 3)] + (bit >> 5);
        Ok(array.get(self.memory.get(word as usize), bit))
    }

    #[inline(always)]
    fn store_at(&mut self, array: u16, index: i32, value: i32) -> Result<(), Fault> {
        let array = &self.code.arrays[usize::from(array)];
        if index as u32 >= array.length {
            return Err(Fault::IndexOutOfRange { index, length: array.length });
        }
        let bit = array.bit_of(index as u32);
        let at = (self.bases[usize::from(array.base & 3)] + (bit >> 5)) as usize;
        self.memory.set(at, array.set(self.memory.get(at), bit, value));
        Ok(())
    }

    /// Ends a run with a fault.
    #[cold]
    fn raise(&mut self, fault: Fault) -> Outcome {
        self.scratch.fault = fault;
        Outcome::Raised
    }

    /// Runs instructions until they say what came of them.
    pub(crate) fn run(&mut self, start: Pc) -> Outcome {
        /// The value, or out with the fault.
        macro_rules! sound {
            ($result:expr) => {
                match $result {
                    Ok(value) => value,
                    Err(fault) => return self.raise(fault),
                }
            };
        }
        macro_rules! reg {
            ($r:expr) => {
                self.scratch.registers[usize::from($r)]
            };
        }
        macro_rules! go {
            ($pc:ident, $to:expr) => {
                $pc = $to as usize
            };
        }
        /// Goes there; most often that is the end of the trial.
        macro_rules! fail {
            ($pc:ident, $to:expr) => {
                if $to == BLOCKED {
                    return Outcome::Blocked;
                } else {
                    $pc = $to as usize
                }
            };
        }
        let code = self.code;
        let mut pc = start as usize;
        loop {
            debug_assert!(pc < code.instrs.len());
            // SAFETY: labels are resolved to places of instructions, and every row of instructions ends with one
            // that does not go on.
            let instr = unsafe { code.instrs.get_unchecked(pc) };
            pc += 1;
            match *instr {
                Instr::Blocked => return Outcome::Blocked,
                Instr::Finish => return Outcome::Done,
                Instr::Commit => {
                    if self.probing && self.later.is_none() {
                        return Outcome::Done;
                    }
                    self.copy();
                }
                Instr::Copy => self.copy(),
                Instr::Passed => {
                    if self.probing {
                        return Outcome::Done;
                    }
                }
                Instr::Partner => return Outcome::Partner(pc as Pc),
                Instr::Raise { fault } => return self.raise(code.faults[fault as usize]),
                Instr::AssertFailed => self.assertion_failed = true,
                Instr::ElseGuard { to } => {
                    if self.found {
                        go!(pc, to);
                    }
                }
                Instr::EndGuard { to } => {
                    if self.pid + 1 != self.memory.get(0) & COUNT_MASK {
                        go!(pc, to);
                    }
                }
                Instr::End => self.end(),
                Instr::Jump { to } => go!(pc, to),
                Instr::Tick { to } => {
                    self.ticks += 1;
                    self.scratch.block_steps += 1;
                    if self.ticks > BLOCK_STEPS_MAX {
                        return self.raise(Fault::EndlessBlock);
                    }
                    go!(pc, to);
                }

                Instr::UnlessRegs { relation, a, b, to } => {
                    if !relation.holds(reg!(a), reg!(b)) {
                        fail!(pc, to);
                    }
                }
                Instr::UnlessConst { relation, a, k, to } => {
                    if !relation.holds(reg!(a), k) {
                        fail!(pc, to);
                    }
                }
                Instr::UnlessSlot { relation, slot, k, to } => {
                    if !relation.holds(self.load(slot), k) {
                        fail!(pc, to);
                    }
                }
                Instr::UnlessEqual { slot, k, to } => {
                    if self.load(slot) != k {
                        fail!(pc, to);
                    }
                }
                Instr::UnlessDifferent { slot, k, to } => {
                    if self.load(slot) == k {
                        fail!(pc, to);
                    }
                }
                Instr::UnlessSlots { relation, a, b, to } => {
                    if !relation.holds(self.load(a), self.load(b)) {
                        fail!(pc, to);
                    }
                }
                Instr::UnlessAt { relation, array, index, k, to } => {
                    let value = sound!(self.load_at(array, self.load(index)));
                    if !relation.holds(value, k) {
                        fail!(pc, to);
                    }
                }
                Instr::UnlessTimeout { to } => {
                    if !self.timeout {
                        fail!(pc, to);
                    }
                }

                Instr::Const { d, k } => reg!(d) = k,
                Instr::Pid { d } => reg!(d) = self.pid as i32,
                Instr::ProcessCount { d } => reg!(d) = (self.memory.get(0) & COUNT_MASK) as i32,
                Instr::Last { d } => reg!(d) = ((self.memory.get(0) & LAST_MASK) >> LAST_SHIFT) as i32,
                Instr::NonProgress { d } => reg!(d) = i32::from(self.non_progress()),
                Instr::Enabled { d, a } => reg!(d) = i32::from(sound!(self.enabled(reg!(a)))),
                Instr::LocationOf { d, a } => reg!(d) = self.location_number(reg!(a)),
                Instr::PriorityOf { d, a } => reg!(d) = self.priority_of(reg!(a)),
                Instr::Select { first, a, process, to } => {
                    if !self.select((!first).then_some(reg!(a)), u32::from(process)) {
                        go!(pc, to);
                    }
                }
                Instr::RemoteAt { d, process, location } => {
                    let word = self.memory.get(self.bases[3] as usize) >> code.location_shift;
                    let mask = code.processes[usize::from(process)].location_mask;
                    reg!(d) = i32::from(word & mask == location);
                }
                Instr::Load { d, slot } => reg!(d) = self.load(slot),
                Instr::LoadAt { d, array, i } => reg!(d) = sound!(self.load_at(array, reg!(i))),
                Instr::LoadBySlot { d, array, index } => reg!(d) = sound!(self.load_at(array, self.load(index))),
                Instr::TableAt { d, table, i } => {
                    let (index, table) = (reg!(i), &code.tables[table as usize]);
                    reg!(d) = *sound!(
                        table
                            .get(index as u32 as usize)
                            .ok_or(Fault::IndexOutOfRange { index, length: table.len() as u32 })
                    );
                }
                Instr::CheckIndex { a, length } => {
                    let index = reg!(a);
                    if index as u32 >= length {
                        return self.raise(Fault::IndexOutOfRange { index, length });
                    }
                }
                Instr::Scale { d, a, k } => reg!(d) = reg!(d).wrapping_mul(k as i32).wrapping_add(reg!(a)),
                Instr::Not { d, a } => reg!(d) = i32::from(reg!(a) == 0),
                Instr::Negate { d, a } => reg!(d) = reg!(a).wrapping_neg(),
                Instr::Complement { d, a } => reg!(d) = !reg!(a),
                Instr::Compare { relation, d, a, b } => reg!(d) = i32::from(relation.holds(reg!(a), reg!(b))),
                Instr::CompareConst { relation, d, a, k } => reg!(d) = i32::from(relation.holds(reg!(a), k)),
                Instr::Add { d, a, b } => reg!(d) = reg!(a).wrapping_add(reg!(b)),
                Instr::AddConst { d, a, k } => reg!(d) = reg!(a).wrapping_add(k),
                Instr::Compute { op, d, a, b } => reg!(d) = sound!(compute(op, reg!(a), reg!(b))),
                Instr::ComputeConst { op, d, a, k } => reg!(d) = sound!(compute(op, reg!(a), k)),

                Instr::Store { slot, a } => self.store(slot, reg!(a)),
                Instr::StoreConst { slot, k } => self.store(slot, k),
                Instr::StoreSlot { slot, from } => self.store(slot, self.load(from)),
                Instr::StoreSum { slot, from, k } => self.store(slot, self.load(from).wrapping_add(k)),
                Instr::StoreAt { array, i, a } => sound!(self.store_at(array, reg!(i), reg!(a))),
                Instr::StoreAtConst { array, i, k } => sound!(self.store_at(array, reg!(i), k)),
                Instr::StoreBySlot { array, index, a } => sound!(self.store_at(array, self.load(index), reg!(a))),
                Instr::StoreBySlotConst { array, index, k } => {
                    sound!(self.store_at(array, self.load(index), k));
                }
                Instr::Fill { array, a } => {
                    for index in 0..code.arrays[usize::from(array)].length {
                        sound!(self.store_at(array, index as i32, reg!(a)));
                    }
                }
                Instr::SetPriority { a, b } => sound!(self.set_priority(reg!(a), reg!(b))),
                Instr::Spawn { d, a, count, priority, process } => {
                    let (first, count) = (usize::from(a), usize::from(count));
                    let frame = Frame { pc: pc as Pc, pid: self.pid, d };
                    let initialise = sound!(self.spawn_from_code(u32::from(process), priority, first, count, frame));
                    go!(pc, initialise);
                }
                Instr::Return => match self.return_from_creation() {
                    Some(back) => go!(pc, back),
                    None => return Outcome::Done,
                },
                Instr::OwnChannel { d, k } => {
                    let placed = &self.shape.processes[self.pid as usize];
                    reg!(d) = (placed.channels_before + k + 1) as i32;
                }

                Instr::Resolve { a } => sound!(self.resolve(reg!(a))),
                Instr::ResolveConst { id } => sound!(self.resolve(id as i32)),
                Instr::SendReady { site, rendezvous, to } => {
                    let capacity = self.layout(self.scratch.current).capacity;
                    if capacity != 0 && self.length_of(self.scratch.current) == capacity {
                        go!(pc, to);
                    } else {
                        sound!(self.check_count(site));
                        if capacity == 0 {
                            go!(pc, rendezvous);
                        }
                    }
                }
                Instr::Append { site } => self.append(site),
                Instr::Offer { site, .. } => {
                    self.offer(site);
                    return Outcome::Offering;
                }
                Instr::OfferLater { site, ordinal, to } => {
                    if self.ordinal != 0 && self.ordinal != ordinal {
                        go!(pc, to);
                    } else {
                        self.offer(site);
                        self.later = Some((to, ordinal));
                    }
                }
                Instr::ReceiveReady { site, to } => {
                    let layout = self.layout(self.scratch.current);
                    if layout.capacity == 0 && code.sites[site as usize].keep {
                        return self.raise(Fault::PollOnRendezvous);
                    }
                    if layout.capacity == 0 || self.length_of(self.scratch.current) == 0 {
                        go!(pc, to);
                    }
                }
                Instr::CheckCount { site } => sound!(self.check_count(site)),
                Instr::Find { site, to } => match self.find(site) {
                    Some(position) => self.scratch.position = position,
                    None => fail!(pc, to),
                },
                Instr::UnlessHead { base, word, mask, value, to } => {
                    let at = self.bases[usize::from(base & 3)] as usize + usize::from(word);
                    if self.memory.get(at) & mask != value {
                        fail!(pc, to);
                    }
                }
                Instr::Take { site } => self.take(site),
                Instr::Peek { site, d } => self.peek(site, d),
                Instr::Remove { site } => self.remove_found(site),
                Instr::UnlessOffered { a, to } => {
                    if reg!(a) != self.scratch.offered as i32 {
                        go!(pc, to);
                    }
                }
                Instr::MatchOffer { site, to } => {
                    if !sound!(self.match_offer(site)) {
                        go!(pc, to);
                    }
                }
                Instr::TakeOffer { site } => self.take_offer(site),
                Instr::PeekOffer { d } => self.peek_offer(d),
                Instr::Event { sent, offered } => sound!(self.event(sent, offered)),
                Instr::MatchEvent { site, to } => {
                    if !self.match_event(site) {
                        go!(pc, to);
                    }
                }
                Instr::Length { d, a } => {
                    let channel = sound!(self.channel_by_id(reg!(a)));
                    reg!(d) = self.length_of(channel) as i32;
                }
                Instr::Room { d, a } => {
                    let channel = sound!(self.channel_by_id(reg!(a)));
                    let capacity = code.layouts[channel.layout as usize].capacity;
                    reg!(d) = if capacity == 0 { 1 } else { (capacity - self.length_of(channel)) as i32 };
                }
                Instr::Poll { site, d } => reg!(d) = i32::from(sound!(self.poll(site))),
            }
        }
    }
}
