//! What is watched beside the processes: the claim's moves, the event trace, who is enabled.

use super::explore::label;
use super::{Found, Interpreter, NOT_BEGUN, Outcome};
use crate::code::{ClaimCode, EdgeCode, Effect, LocationCode, NONE};
use crate::layout::{STUTTERED, TURN};
use crate::shape::{Placed, PlacedChannel};
use crate::{Cursor, Ending};
use fabius_program::CLAIM_PID;
use fabius_program::meaning::Fault;

impl<'m> Interpreter<'m> {
    /// Makes the claim the one whose code runs.
    fn seat_claim(&mut self, placed: Placed) {
        self.pid = u32::from(CLAIM_PID);
        self.bases[1] = placed.base;
    }

    /// Writes the next successor by a move of the claim.
    pub(crate) fn next_of_claim(&mut self, cursor: &mut Cursor) -> Found {
        let Some(claim) = self.code.claim else { return Found::done(Ending::Moves) };
        self.evaluates = true;
        if cursor.edge == NOT_BEGUN {
            if claim.asks_timeout && !self.something_moves() {
                cursor.flags |= Cursor::TIMEOUT;
            }
            cursor.edge = self.location(claim.placed).first;
        } else if !self.is_of_claim(cursor.edge, claim) {
            return Found::done(Ending::Moves);
        }
        self.timeout = cursor.has(Cursor::TIMEOUT);
        while cursor.edge != NONE {
            let id = cursor.edge;
            let edge = &self.code.edges[id as usize];
            if cursor.escape != 0 && edge.escape != cursor.escape {
                cursor.edge = NONE;
                break;
            }
            cursor.edge = if edge.has(EdgeCode::LAST) { NONE } else { id + 1 };
            let outcome = self.try_claim(edge, claim, cursor.has(Cursor::FOUND));
            if outcome == Outcome::Blocked {
                continue;
            }
            cursor.escape = edge.escape;
            cursor.flags |= Cursor::FOUND | Cursor::MOVED;
            self.reached[id as usize] = 1;
            let label = label(self.pid, id, None);
            let fault = match outcome {
                Outcome::Raised => Some(self.scratch.fault),
                _ => self.location(claim.placed).has(LocationCode::END).then_some(Fault::ClaimCompleted),
            };
            if let Some(fault) = fault {
                self.scratch.fault = fault;
                return Found::broken(label);
            }
            let turn = if edge.has(EdgeCode::ATOMIC) { TURN } else { 0 };
            self.memory.set(0, self.memory.get(0) & !(TURN | STUTTERED) | turn);
            return self.successor(label, true);
        }
        Found::done(if cursor.has(Cursor::MOVED) { Ending::Moves } else { Ending::ValidEnd })
    }

    fn is_of_claim(&self, edge: u32, claim: ClaimCode) -> bool {
        edge == NONE || self.code.partners.get(edge as usize).is_some_and(|edge| edge.process == claim.placed.process)
    }

    /// Tries an edge of the claim; the successor is written, but for its first word.
    fn try_claim(&mut self, edge: &'m EdgeCode, claim: ClaimCode, found: bool) -> Outcome {
        self.restart();
        self.seat_claim(claim.placed);
        if !self.passes(edge, found) {
            return Outcome::Blocked;
        }
        self.found = found;
        self.prepare();
        if edge.effect == Effect::Code {
            match self.run(edge.start) {
                Outcome::Done => {}
                Outcome::Raised => return Outcome::Raised,
                _ => return Outcome::Blocked,
            }
        } else {
            self.copy();
            self.apply(edge.effect);
        }
        self.arrive(edge);
        Outcome::Done
    }

    /// Puts the claim and the event trace where they start, once the processes are there.
    pub(crate) fn initialise_watched(&mut self) -> Result<(), Fault> {
        if let Some(trace) = &self.code.trace {
            let entry = self.code.processes[trace.process as usize].fresh >> self.code.location_shift;
            self.memory.set(trace.word as usize, entry);
        }
        let Some(claim) = self.code.claim else { return Ok(()) };
        let kind = &self.code.processes[claim.placed.process as usize];
        self.memory.set(claim.placed.base as usize, kind.fresh);
        self.memory.set(0, self.memory.get(0) | TURN);
        self.seat_claim(claim.placed);
        if self.run(kind.initialise) == Outcome::Raised {
            return Err(self.scratch.fault);
        }
        if self.location(claim.placed).has(LocationCode::END) { Err(Fault::ClaimCompleted) } else { Ok(()) }
    }

    /// Whether some process can move as long as nothing has timed out.
    fn something_moves(&mut self) -> bool {
        self.timeout = false;
        (0..self.count()).any(|pid| self.could_step(pid))
    }

    /// Tells which processes have a step in the state.
    pub(crate) fn enabled_processes(&mut self, tell: &mut impl FnMut(u8)) {
        self.probing = true;
        self.evaluates = true;
        for timeout in [false, true] {
            self.timeout = timeout;
            let mut any = false;
            for pid in 0..self.count() {
                self.restart();
                if self.has_edge(pid) && !(self.code.uses_priority && self.is_outranked_anew(pid)) {
                    any = true;
                    tell(pid as u8);
                }
            }
            if any || !self.code.uses_timeout {
                return;
            }
        }
    }

    fn is_outranked_anew(&mut self, pid: u32) -> bool {
        self.restart();
        self.is_outranked(pid)
    }

    /// Tells the event trace of a send or a receive, and moves it.
    #[inline(never)]
    pub(super) fn event(&mut self, sent: bool, offered: bool) -> Result<(), Fault> {
        let Some(trace) = &self.code.trace else { return Ok(()) };
        let registers = self.scratch.registers;
        let channel = self.scratch.offered;
        let kept = (!offered).then(|| {
            let message = self.message_at_end(self.scratch.current, sent);
            self.scratch.offered = self.scratch.current_id;
            std::mem::replace(&mut self.scratch.message, message)
        });
        let scope = &trace.scopes[usize::from(!sent)];
        let outcome =
            if scope.iter().any(|row| self.run(*row) == Outcome::Done) { self.step_of_trace(sent) } else { Ok(()) };
        if let Some(kept) = kept {
            self.scratch.message = kept;
        }
        self.scratch.offered = channel;
        self.scratch.registers = registers;
        outcome
    }

    fn step_of_trace(&mut self, sent: bool) -> Result<(), Fault> {
        let Some(trace) = &self.code.trace else { return Ok(()) };
        let at = self.memory.get(trace.word as usize);
        let edges = trace.edges.get(at as usize).map_or(&[][..], Vec::as_slice);
        let mut target = None;
        for edge in edges.iter().filter(|edge| edge.sent.is_none_or(|kind| kind == sent)) {
            if self.run(edge.start) != Outcome::Done {
                continue;
            }
            if target.replace(edge.target).is_some() {
                return Err(Fault::TraceAmbiguous);
            }
            if trace.negated && edge.target == trace.closing {
                return Err(Fault::TraceViolated);
            }
        }
        match target {
            Some(target) => self.memory.set(trace.word as usize, target),
            None if trace.negated => self.memory.set(trace.word as usize, trace.closing),
            None => return Err(Fault::TraceViolated),
        }
        Ok(())
    }

    /// The youngest message of a channel, or the oldest.
    fn message_at_end(&self, channel: PlacedChannel, youngest: bool) -> Vec<i32> {
        let layout = self.layout(channel);
        let position = if youngest { self.length_of(channel).saturating_sub(1) } else { 0 };
        let bit = layout.message_bit(position);
        layout.fields.iter().map(|field| self.field(channel, *field, bit)).collect()
    }

    /// Whether the message of an event matches, as far as both go.
    pub(super) fn match_event(&self, site: u32) -> bool {
        let (_, terms) = self.site(site);
        self.agrees(terms)
    }
}
