//! Processes: creating, ending, choosing, asking about them.

use super::{Frame, Interpreter, Memory, Outcome};
use crate::code::{LocationCode, Pc};
use crate::layout::{COUNT_MASK, STUTTERED, Slot};
use crate::shape::Placed;
use fabius_program::meaning::Fault;
use fabius_program::{CHANNELS_MAX, PROCESSES_MAX};

impl Interpreter<'_> {
    pub(super) fn count(&self) -> u32 {
        self.memory.get(0) & COUNT_MASK
    }

    /// Where the process with a number stands, if it exists.
    pub(super) fn placed(&self, pid: i32) -> Option<Placed> {
        self.shape.processes.get(usize::try_from(pid).ok()?).copied()
    }

    pub(super) fn location_index(&self, placed: Placed) -> usize {
        let word = self.memory.get(placed.base as usize) >> self.code.location_shift;
        (placed.locations + (word & placed.location_mask)) as usize
    }

    pub(super) fn location(&self, placed: Placed) -> &LocationCode {
        &self.code.locations[self.location_index(placed)]
    }

    #[inline(never)]
    pub(super) fn non_progress(&self) -> bool {
        let is_progress = |placed: &Placed| self.location(*placed).has(LocationCode::PROGRESS);
        let claim = self
            .code
            .claim
            .filter(|claim| claim.asks_progress && (self.memory.get(0) & STUTTERED != 0 || is_progress(&claim.placed)));
        claim.is_none() && !self.shape.processes.iter().any(is_progress)
    }

    #[inline(never)]
    pub(super) fn location_number(&self, pid: i32) -> i32 {
        self.placed(pid).map_or(0, |placed| self.location(placed).number as i32)
    }

    /// A process's priority slot, as if the process's words began the state.
    fn priority_slot(&self, placed: Placed) -> Slot {
        self.code.processes[placed.process as usize].priority
    }

    #[inline(never)]
    pub(super) fn priority_of(&self, pid: i32) -> i32 {
        match self.placed(pid) {
            None => 0,
            Some(_) if !self.code.uses_priority => 1,
            Some(placed) => self.priority_slot(placed).get(self.memory.get(placed.base as usize)),
        }
    }

    #[inline(never)]
    pub(super) fn set_priority(&mut self, pid: i32, priority: i32) -> Result<(), Fault> {
        let Some(placed) = self.placed(pid) else { return Ok(()) };
        if !(1..=255).contains(&priority) {
            return Err(Fault::PriorityOutOfRange(priority));
        }
        if self.code.uses_priority {
            let word = self.memory.get(placed.base as usize);
            self.memory.set(placed.base as usize, self.priority_slot(placed).set(word, priority));
        }
        Ok(())
    }

    /// Makes a process the one that remote slots are relative to: the one with a number, or the first of its
    /// type. False if there is none.
    #[inline(never)]
    pub(super) fn select(&mut self, pid: Option<i32>, process: u32) -> bool {
        let chosen = match pid {
            Some(pid) => self.placed(pid).filter(|placed| placed.process == process),
            None => self.shape.processes.iter().find(|placed| placed.process == process).copied(),
        };
        match chosen {
            Some(placed) => {
                self.bases[3] = placed.base;
                true
            }
            None => false,
        }
    }

    /// Adds a process to the copy; its locals are 0.
    #[inline(never)]
    pub(super) fn spawn(&mut self, process: u32, priority: u8) -> Result<u32, Fault> {
        let pid = self.count();
        if pid as usize >= PROCESSES_MAX {
            return Err(Fault::TooManyProcesses);
        }
        let kind = &self.code.processes[process as usize];
        if self.shape.channels.len() + kind.channels.len() > CHANNELS_MAX {
            return Err(Fault::TooManyChannels);
        }
        let base = self.successor.len() - self.code.hidden_words as usize;
        let end = self.successor.len();
        self.successor.resize(end + kind.words as usize, 0);
        self.successor.copy_within(base..end, base + kind.words as usize);
        self.successor[base..base + kind.words as usize].fill(0);
        self.successor[base] = kind.fresh;
        if self.code.uses_priority {
            self.successor[base] = kind.priority.set(self.successor[base], i32::from(priority));
        }
        self.successor[0] += 1;
        self.shape = self.shapes.child(self.code, self.shape, process);
        self.moved_to(base + kind.words as usize);
        Ok(pid)
    }

    /// After the copy changed its length: its hidden words begin elsewhere, and any word may differ.
    fn moved_to(&mut self, hidden: usize) {
        self.bases[2] = hidden as u32;
        self.memory = Memory { touched: u64::MAX, ..Memory::writable(self.successor) };
    }

    /// Adds a process for a `Run`; returns where its initialisation starts.
    #[inline(never)]
    pub(super) fn spawn_from_code(
        &mut self,
        process: u32,
        priority: u8,
        first: usize,
        count: usize,
        frame: Frame,
    ) -> Result<Pc, Fault> {
        let pid = self.spawn(process, priority)?;
        self.seat(pid);
        let kind = &self.code.processes[process as usize];
        for (i, slot) in kind.parameters.iter().take(count).enumerate() {
            self.store(*slot, self.scratch.registers[(first + i) & 255]);
        }
        self.scratch.saved.extend_from_slice(&self.scratch.registers[..usize::from(frame.d)]);
        self.scratch.frames.push(frame);
        Ok(kind.initialise)
    }

    /// After a process was initialised: back to the one that created it. `None` if code did not create it.
    #[inline(never)]
    pub(super) fn return_from_creation(&mut self) -> Option<Pc> {
        let Frame { pc, pid, d } = self.scratch.frames.pop()?;
        let kept = self.scratch.saved.len() - usize::from(d);
        self.scratch.registers[..usize::from(d)].copy_from_slice(&self.scratch.saved[kept..]);
        self.scratch.saved.truncate(kept);
        self.scratch.registers[usize::from(d)] = self.pid as i32;
        self.seat(pid);
        Some(pc)
    }

    /// Adds and initialises a process of the initial state.
    pub(super) fn create(&mut self, process: u32, priority: u8) -> Result<(), Fault> {
        let pid = self.spawn(process, priority)?;
        self.seat(pid);
        match self.run(self.code.processes[process as usize].initialise) {
            Outcome::Raised => Err(self.scratch.fault),
            _ => Ok(()),
        }
    }

    /// Removes the youngest process.
    #[inline(never)]
    pub(super) fn end(&mut self) {
        let Some(placed) = self.shape.processes.last() else { return };
        let Some(parent) = self.shapes.get(self.shape.parent) else { return };
        let (base, hidden) = (placed.base as usize, self.code.hidden_words as usize);
        let words = self.successor.len();
        self.shape = parent;
        self.successor.copy_within(words - hidden.., base);
        self.successor.truncate(base + hidden);
        self.successor[0] -= 1;
        self.moved_to(base);
    }
}
