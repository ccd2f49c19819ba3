//! The order of exploration: which processes, which edges.

use super::{Found, Interpreter, Outcome, Scratch, Seat};
use crate::code::{EdgeCode, Effect, LocationCode, NONE, Pc, channel_bit};
use crate::layout::{COUNT_MASK, HOLDER_MASK, HOLDER_SHIFT, LAST_MASK, LAST_SHIFT};
use crate::shape::Placed;
use crate::{Cursor, Ending};
use fabius_program::meaning::Fault;
use fabius_program::{EdgeId, Move};

/// No process has been looked at yet.
pub(crate) const NOT_BEGUN: u32 = u32::MAX - 1;

/// What came of trying an edge.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Trial {
    Blocked,
    /// The successor is written, but for its first word.
    Taken {
        partner: Option<(u32, u32)>,
    },
    /// [`Scratch::fault`] keeps the fault.
    Fault {
        partner: Option<(u32, u32)>,
    },
}

/// What comes after a trial of everybody.
enum AfterTrials {
    /// A second trial.
    Again,
    /// The holder lost control.
    Released,
    Over(Ending),
}

impl Cursor {
    /// Moves past an edge of this number, which was tried.
    #[inline(always)]
    fn go_past(&mut self, id: u32, edge: &EdgeCode) {
        self.seat = Seat::START;
        self.edge = if edge.has(EdgeCode::LAST) { NONE } else { id + 1 };
    }

    /// Notes that an edge was executable.
    #[inline(always)]
    fn note_executable(&mut self, edge: &EdgeCode) {
        self.escape = edge.escape;
        self.flags |= Self::FOUND | Self::MOVED;
    }
}

impl<'m> Interpreter<'m> {
    /// Writes the next successor.
    pub(crate) fn next(&mut self, cursor: &mut Cursor) -> Found {
        if cursor.has(Cursor::FINISHED) {
            return Found::done(self.ending(cursor));
        }
        self.timeout = cursor.has(Cursor::TIMEOUT);
        self.evaluates = true;
        if cursor.edge != NOT_BEGUN && !self.resume(cursor) {
            return Found::done(Ending::Moves);
        }
        loop {
            if cursor.edge == NOT_BEGUN {
                self.enter(cursor);
                if self.code.restricted
                    && cursor.edge != NONE
                    && let Some((edge, fault)) = self.restrict(cursor)
                {
                    return self.broken(self.pid, edge, None, fault);
                }
            }
            while cursor.edge != NONE {
                let id = cursor.edge;
                let edge = &self.code.edges[id as usize];
                if cursor.escape != 0 && edge.escape != cursor.escape {
                    break;
                }
                let next = if edge.has(EdgeCode::LAST) { NONE } else { id + 1 };
                if !self.passes(edge, cursor.has(Cursor::FOUND))
                    || edge.offers != 0 && !self.is_wanted(edge.offers, cursor)
                {
                    cursor.edge = next;
                    continue;
                }
                if edge.effect == Effect::Code {
                    if let Some(step) = self.attempt(cursor, edge) {
                        return step;
                    }
                    continue;
                }
                self.copy();
                self.apply(edge.effect);
                self.arrive(edge);
                cursor.edge = next;
                cursor.note_executable(edge);
                self.assertion_failed = false;
                return self.complete(self.pid, id, edge, None);
            }
            if !cursor.has(Cursor::HELD) && cursor.go_to_next_process() {
                continue;
            }
            match self.all_tried(cursor) {
                AfterTrials::Again => {}
                AfterTrials::Released => return Found::silent(),
                AfterTrials::Over(ending) => return Found::done(ending),
            }
        }
    }

    /// Whether an edge's tests hold; `found` tells whether an edge before it was executable.
    #[inline(always)]
    pub(super) fn passes(&self, edge: &EdgeCode, found: bool) -> bool {
        let word = |base: u8, word: u16| self.memory.get(self.bases[usize::from(base)] as usize + usize::from(word));
        if !edge.passes_test(word) {
            return false;
        }
        if edge.flags & (EdgeCode::SECOND | EdgeCode::ELSE) == 0 {
            return true;
        }
        (!edge.has(EdgeCode::SECOND) || edge.passes_second(word)) && !(found && edge.has(EdgeCode::ELSE))
    }

    /// Whether somebody in the state may take a message offered on a channel; the cursor keeps on which somebody may.
    #[inline]
    fn is_wanted(&mut self, channel: u16, cursor: &mut Cursor) -> bool {
        if !cursor.has(Cursor::ACCEPTING_KNOWN) {
            cursor.accepting = self.accepting();
            cursor.flags |= Cursor::ACCEPTING_KNOWN;
        }
        cursor.accepting & channel_bit(channel) != 0
    }

    /// Channels on which somebody may be partner in the state, as [`channel_bit`]s.
    pub(super) fn accepting(&mut self) -> u32 {
        if let Some(accepting) = self.accepting {
            return accepting;
        }
        let locations = self.state_shape.processes.iter().map(|placed| self.location(*placed).accepts);
        *self.accepting.insert(locations.fold(0, |all, accepts| all | accepts))
    }

    /// Starts with a process: finds its first edge.
    #[inline(always)]
    fn enter(&mut self, cursor: &mut Cursor) {
        let pid = u32::from(cursor.pid);
        let placed = self.state_shape.processes[pid as usize];
        self.pid = pid;
        self.bases[1] = placed.base;
        cursor.edge = self.location(placed).tried_first;
    }

    /// Drops the process's edges if it may not move at all; an edge and a fault if that cannot be told.
    #[cold]
    fn restrict(&mut self, cursor: &mut Cursor) -> Option<(u32, Fault)> {
        let edge = cursor.edge;
        if self.code.uses_priority && self.is_outranked(self.pid) {
            cursor.edge = NONE;
            return None;
        }
        let placed = self.state_shape.processes[self.pid as usize];
        let provided = self.code.processes[placed.process as usize].provided;
        if provided == NONE {
            return None;
        }
        let outcome = self.run(provided);
        if outcome != Outcome::Done {
            cursor.edge = NONE;
        }
        if outcome == Outcome::Raised {
            cursor.flags |= Cursor::MOVED;
            return Some((edge, self.scratch.fault));
        }
        None
    }

    /// Goes on with a process; false if the cursor belongs to another state.
    #[inline(always)]
    fn resume(&mut self, cursor: &Cursor) -> bool {
        if cursor.edge == NONE {
            return true;
        }
        let Some(placed) = self.state_shape.processes.get(usize::from(cursor.pid)) else { return false };
        self.pid = u32::from(cursor.pid);
        self.bases[1] = placed.base;
        self.code.partners.get(cursor.edge as usize).is_some_and(|edge| edge.process == placed.process)
    }

    /// Tries an edge that takes instructions and whose test holds, and moves the cursor.
    #[inline(always)]
    fn attempt(&mut self, cursor: &mut Cursor, edge: &'m EdgeCode) -> Option<Found> {
        // A run that ends while it creates a process leaves that one seated.
        let pid = self.pid;
        self.found = cursor.has(Cursor::FOUND);
        self.prepare();
        self.ordinal = cursor.seat.ordinal;
        let outcome = self.run(edge.start);
        if outcome == Outcome::Done && self.later.is_none() && !edge.has(EdgeCode::DETERMINISTIC) {
            self.arrive(edge);
            let id = cursor.edge;
            cursor.go_past(id, edge);
            cursor.note_executable(edge);
            return Some(self.complete(pid, id, edge, None));
        }
        if outcome == Outcome::Blocked {
            cursor.go_past(cursor.edge, edge);
            self.restart();
            return None;
        }
        self.attempt_further(outcome, pid, cursor, edge)
    }

    /// As [`Self::attempt`], once instructions ended with a fault or an offer, or in a process that is declared deterministic.
    #[inline(never)]
    fn attempt_further(
        &mut self,
        outcome: Outcome,
        pid: u32,
        cursor: &mut Cursor,
        edge: &'m EdgeCode,
    ) -> Option<Found> {
        let id = cursor.edge;
        let found_before = cursor.has(Cursor::FOUND) && cursor.seat.ordinal == 0;
        let trial = if outcome == Outcome::Done && self.later.is_none() {
            self.arrive(edge);
            Trial::Taken { partner: None }
        } else {
            self.try_further(outcome, edge, &mut cursor.seat)
        };
        if cursor.seat.ordinal == 0 || trial == Trial::Blocked {
            cursor.go_past(id, edge);
        }
        let (partner, is_fault) = match trial {
            Trial::Blocked => {
                self.restart();
                return None;
            }
            Trial::Taken { partner } => (partner, false),
            Trial::Fault { partner } => (partner, true),
        };
        cursor.note_executable(edge);
        if found_before && edge.has(EdgeCode::DETERMINISTIC) {
            cursor.go_past(id, edge);
            return Some(self.broken(pid, id, partner, Fault::NotDeterministic));
        }
        Some(if is_fault {
            self.broken(pid, id, partner, self.scratch.fault)
        } else {
            self.complete(pid, id, edge, partner)
        })
    }

    #[cold]
    fn broken(&mut self, pid: u32, edge: u32, partner: Option<(u32, u32)>, fault: Fault) -> Found {
        self.mark(edge, partner);
        self.scratch.fault = fault;
        Found::broken(label(pid, edge, partner))
    }

    #[inline(always)]
    fn mark(&mut self, edge: u32, partner: Option<(u32, u32)>) {
        self.reached[edge as usize] = 1;
        if let Some((_, edge)) = partner {
            self.reached[edge as usize] = 1;
        }
    }

    /// The successor is written, but for its first word.
    #[inline(always)]
    fn complete(&mut self, pid: u32, id: u32, edge: &EdgeCode, partner: Option<(u32, u32)>) -> Found {
        self.mark(id, partner);
        let transient = match partner {
            Some((partner, id)) => self.hand_over(partner, &self.code.edges[id as usize]),
            None => self.hand_over(pid, edge),
        };
        self.successor(label(pid, id, partner), transient)
    }

    /// A successor that is written, by a transition.
    #[inline(always)]
    pub(super) fn successor(&mut self, label: Move, transient: bool) -> Found {
        self.scratch.touched = self.memory.touched;
        Found::successor(label, transient, self.assertion_failed)
    }

    /// Says in the first word who holds control and who moved last; whether somebody holds control.
    #[inline(always)]
    fn hand_over(&mut self, mover: u32, edge: &EdgeCode) -> bool {
        let transient = edge.flags & (EdgeCode::ATOMIC | EdgeCode::ENDS) == EdgeCode::ATOMIC;
        let mut head = self.memory.get(0) & !HOLDER_MASK;
        if transient {
            head |= (mover + 1) << HOLDER_SHIFT;
        }
        if self.code.uses_last {
            head = head & !LAST_MASK | mover << LAST_SHIFT;
        }
        self.memory.set(0, head);
        transient
    }

    /// After the last process of a trial: an end, a second trial (`None`), or the loss of control.
    #[inline(always)]
    fn all_tried(&mut self, cursor: &mut Cursor) -> AfterTrials {
        if cursor.has(Cursor::MOVED) {
            cursor.flags |= Cursor::FINISHED;
            return AfterTrials::Over(Ending::Moves);
        }
        self.nobody_moves(cursor)
    }

    #[inline(never)]
    fn nobody_moves(&mut self, cursor: &mut Cursor) -> AfterTrials {
        if cursor.has(Cursor::HELD) {
            cursor.flags |= Cursor::FINISHED | Cursor::MOVED;
            self.successor.clear();
            self.successor.extend_from_slice(self.state);
            self.successor[0] &= !HOLDER_MASK;
            return AfterTrials::Released;
        }
        if self.code.uses_timeout && !cursor.has(Cursor::TIMEOUT) {
            self.timeout = true;
            cursor.flags |= Cursor::TIMEOUT;
            cursor.go_to_process((self.state[0] & COUNT_MASK) as u8 - 1);
            return AfterTrials::Again;
        }
        cursor.flags |= Cursor::FINISHED;
        AfterTrials::Over(self.ending(cursor))
    }

    fn ending(&mut self, cursor: &Cursor) -> Ending {
        self.restart();
        let is_at_end = |placed: &Placed| self.location(*placed).has(LocationCode::END);
        if cursor.has(Cursor::MOVED) {
            Ending::Moves
        } else if self.state_shape.processes.iter().all(is_at_end) {
            Ending::ValidEnd
        } else {
            Ending::InvalidEnd
        }
    }

    /// Tries an edge of the seated process without taking it.
    fn probe(&mut self, edge: &'m EdgeCode) -> bool {
        self.restart();
        if !self.passes(edge, self.found) {
            return false;
        }
        if edge.effect != Effect::Code {
            return true;
        }
        self.prepare();
        self.ordinal = 0;
        match self.run(edge.start) {
            Outcome::Done if self.later.is_none() => true,
            outcome => self.try_further(outcome, edge, &mut { Seat::START }) != Trial::Blocked,
        }
    }

    /// Whether an edge is executable whose instructions ended with a fault or an offer.
    pub(super) fn is_executable_further(&mut self, outcome: Outcome, edge: &'m EdgeCode) -> bool {
        self.try_further(outcome, edge, &mut { Seat::START }) != Trial::Blocked
    }

    /// Forgets what an earlier trial left behind.
    #[inline(always)]
    pub(super) fn prepare(&mut self) {
        self.assertion_failed = false;
        self.later = None;
        self.ticks = 0;
        if !self.scratch.frames.is_empty() {
            self.scratch.frames.clear();
            self.scratch.saved.clear();
        }
    }

    /// Makes the one assignment of an edge.
    #[inline(always)]
    pub(super) fn apply(&mut self, effect: Effect) {
        match effect {
            Effect::Code | Effect::Nothing => {}
            Effect::Const { slot, k } => self.store(slot, k),
            Effect::Copy { slot, from } => self.store(slot, self.load(from)),
            Effect::Sum { slot, from, k } => self.store(slot, self.load(from).wrapping_add(k)),
        }
    }

    /// What remains to be done where instructions ended with a fault or an offer.
    #[inline(never)]
    fn try_further(&mut self, outcome: Outcome, edge: &'m EdgeCode, seat: &mut Seat) -> Trial {
        match outcome {
            Outcome::Raised => Trial::Fault { partner: None },
            Outcome::Blocked | Outcome::Partner(_) => Trial::Blocked,
            Outcome::Done => self.trial_with_partner(edge, seat),
            Outcome::Offering => self.rendezvous(edge, seat, 1),
        }
    }

    /// The seated process is where its edge leads.
    #[inline(always)]
    pub(super) fn arrive(&mut self, edge: &EdgeCode) {
        if edge.has(EdgeCode::ENDS) {
            return;
        }
        let at = self.bases[1] as usize;
        self.memory.set(at, self.memory.get(at) & edge.target_mask | edge.target);
    }

    /// Whether a process's `provided` holds; a fault counts as no.
    #[inline]
    pub(super) fn is_provided(&mut self, pid: u32, placed: Placed) -> bool {
        let provided = self.code.processes[placed.process as usize].provided;
        if provided == NONE {
            return true;
        }
        self.seat(pid);
        self.run(provided) == Outcome::Done
    }

    /// Whether a process of higher priority is enabled.
    #[cold]
    pub(super) fn is_outranked(&mut self, pid: u32) -> bool {
        let priority = self.priority_of(pid as i32);
        (0..self.count())
            .any(|other| other != pid && self.priority_of(other as i32) > priority && self.could_step(other))
    }

    /// Whether the process with a number exists and could make a step.
    #[cold]
    pub(super) fn enabled(&mut self, pid: i32) -> Result<bool, Fault> {
        if self.placed(pid).is_none() {
            return Ok(false);
        }
        if self.evaluates && pid == self.pid as i32 || self.scratch.trying.contains(&(pid as u32)) {
            return Err(Fault::EnabledOfSelf);
        }
        Ok(self.could_step(pid as u32))
    }

    /// Tries the edges of a process without taking one.
    pub(super) fn could_step(&mut self, pid: u32) -> bool {
        let words = self.words().to_vec();
        let mut spare = Vec::new();
        let mut scratch = Scratch::new();
        scratch.trying.clone_from(&self.scratch.trying);
        scratch.trying.push(pid);
        let mut inner =
            Interpreter::new(self.code, self.shapes, &mut scratch, &mut *self.reached, &words, self.shape, &mut spare);
        inner.probing = true;
        inner.evaluates = true;
        inner.timeout = self.timeout;
        inner.has_edge(pid)
    }

    pub(super) fn has_edge(&mut self, pid: u32) -> bool {
        let Some(placed) = self.placed(pid as i32) else { return false };
        if !self.is_provided(pid, placed) {
            return false;
        }
        let mut id = self.location(placed).tried_first;
        while id != NONE {
            let edge = &self.code.edges[id as usize];
            self.seat(pid);
            if self.probe(edge) {
                return true;
            }
            id = if edge.has(EdgeCode::LAST) { NONE } else { id + 1 };
        }
        false
    }

    /// Writes the initial state to the copy.
    pub(crate) fn initial(&mut self) -> Result<(), Fault> {
        self.scratch.frames.clear();
        self.scratch.saved.clear();
        self.copy();
        if self.run(self.code.initialise) == Outcome::Raised {
            return Err(self.scratch.fault);
        }
        for &(process, priority) in &self.code.initial {
            self.create(process, priority)?;
        }
        Ok(())
    }

    /// Whether a condition that belongs to no process holds.
    pub(crate) fn holds(&mut self, condition: Pc) -> Result<bool, Fault> {
        match self.run(condition) {
            Outcome::Raised => Err(self.scratch.fault),
            outcome => Ok(outcome == Outcome::Done),
        }
    }
}

#[inline(always)]
pub(super) fn label(pid: u32, edge: u32, partner: Option<(u32, u32)>) -> Move {
    let partner = partner.map(|(pid, edge)| (pid as u8, EdgeId(edge)));
    Move { pid: pid as u8, edge: EdgeId(edge), partner }
}
