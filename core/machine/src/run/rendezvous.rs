//! Partners: who takes a message that is offered in a rendezvous.

use super::explore::Trial;
use super::{Interpreter, NOT_BEGUN, Outcome};
use crate::code::{EdgeCode, NONE, Pc, channel_bit};

/// How far the partners of an offer have been listed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Seat {
    /// The edge to try next, [`NONE`] if the process has no more, [`NOT_BEGUN`] if it was not looked at.
    pub edge: u32,
    pub pid: u8,
    /// Which offer of the sender's statement found partners; 0 for none yet.
    pub ordinal: u8,
    /// Escape group of the last edge that matched.
    pub escape: u16,
}

impl Seat {
    pub(crate) const START: Self = Self { edge: NOT_BEGUN, pid: u8::MAX, ordinal: 0, escape: 0 };
}

/// What came of looking for a partner: its number, and the edge.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Sought {
    Nobody,
    Found { pid: u32, edge: u32, rest: Pc },
    Fault { pid: u32, edge: u32 },
}

impl<'m> Interpreter<'m> {
    /// The sender's part has run and a message waits; if nobody takes it, other options may do.
    pub(super) fn trial_with_partner(&mut self, edge: &'m EdgeCode, seat: &mut Seat) -> Trial {
        let sender = self.pid;
        loop {
            let Some((otherwise, ordinal)) = self.later else { return Trial::Blocked };
            self.arrive(edge);
            match self.rendezvous(edge, seat, ordinal) {
                Trial::Blocked if seat.ordinal == 0 => {}
                trial => return trial,
            }
            *seat = Seat::START;
            self.restart();
            self.seat(sender);
            self.later = None;
            self.assertion_failed = false;
            self.ticks = 0;
            match self.run(otherwise) {
                Outcome::Done if self.later.is_some() => {}
                Outcome::Done => {
                    if !self.probing {
                        self.arrive(edge);
                    }
                    return Trial::Taken { partner: None };
                }
                Outcome::Raised => return Trial::Fault { partner: None },
                _ => return Trial::Blocked,
            }
        }
    }

    /// Finds the next partner for the message offered, and lets it take its part.
    pub(super) fn rendezvous(&mut self, edge: &'m EdgeCode, seat: &mut Seat, ordinal: u8) -> Trial {
        let sender = self.pid;
        match self.seek(sender, seat) {
            Sought::Nobody => {
                self.seat(sender);
                Trial::Blocked
            }
            Sought::Fault { pid, edge } => {
                seat.ordinal = ordinal;
                Trial::Fault { partner: Some((pid, edge)) }
            }
            Sought::Found { pid, edge: id, rest } => {
                seat.ordinal = ordinal;
                let partner = Some((pid, id));
                if self.probing {
                    return Trial::Taken { partner };
                }
                if self.later.is_none() {
                    self.copy();
                    self.seat(sender);
                    self.arrive(edge);
                }
                self.seat(pid);
                self.ticks = 0;
                match self.run(rest) {
                    Outcome::Raised => Trial::Fault { partner },
                    _ => {
                        let edge = &self.code.edges[id as usize];
                        self.arrive(edge);
                        Trial::Taken { partner }
                    }
                }
            }
        }
    }

    /// The next process, from the youngest on, that takes the message offered.
    fn seek(&mut self, sender: u32, seat: &mut Seat) -> Sought {
        if seat.edge == NOT_BEGUN && seat.pid == u8::MAX {
            seat.pid = self.count() as u8 - 1;
        }
        let best = if self.code.uses_priority { self.best_partner(sender) } else { 0 };
        let offered = channel_bit(self.scratch.offered as u16);
        loop {
            let pid = u32::from(seat.pid);
            if seat.edge != NOT_BEGUN || self.accepts(pid, offered) {
                let sought = self.seek_in(pid, sender, best, seat);
                if sought != Sought::Nobody {
                    return sought;
                }
            }
            if pid == 0 {
                seat.edge = NONE;
                return Sought::Nobody;
            }
            (seat.pid, seat.edge) = (seat.pid - 1, NOT_BEGUN);
        }
    }

    /// Whether a process exists and is where it may take a message offered on a channel of this [`channel_bit`].
    #[inline(always)]
    fn accepts(&self, pid: u32, offered: u32) -> bool {
        self.shape.processes.get(pid as usize).is_some_and(|placed| self.location(*placed).accepts & offered != 0)
    }

    /// The next edge of a process that takes the message offered.
    #[inline(never)]
    fn seek_in(&mut self, pid: u32, sender: u32, best: i32, seat: &mut Seat) -> Sought {
        let Some(placed) = self.placed(pid as i32).filter(|_| pid != sender) else { return Sought::Nobody };
        if seat.edge == NOT_BEGUN {
            let location = *self.location(placed);
            let offered = channel_bit(self.scratch.offered as u16);
            if location.accepts & offered == 0 || best > 0 && self.priority_of(pid as i32) < best {
                return Sought::Nobody;
            }
            if !self.is_provided(pid, placed) {
                return Sought::Nobody;
            }
            (seat.edge, seat.escape) = (location.first, 0);
        }
        while seat.edge != NONE {
            let id = seat.edge;
            let edge = &self.code.edges[id as usize];
            let partner = &self.code.partners[id as usize];
            if partner.process != placed.process || seat.escape != 0 && edge.escape != seat.escape {
                break;
            }
            seat.edge = if edge.has(EdgeCode::LAST) { NONE } else { id + 1 };
            if partner.start == NONE || partner.channel != 0 && u32::from(partner.channel) != self.scratch.offered {
                continue;
            }
            self.seat(pid);
            match self.run(partner.start) {
                Outcome::Partner(rest) => {
                    seat.escape = edge.escape;
                    return Sought::Found { pid, edge: id, rest };
                }
                Outcome::Raised => {
                    seat.escape = edge.escape;
                    return Sought::Fault { pid, edge: id };
                }
                _ => {}
            }
        }
        Sought::Nobody
    }

    /// The highest priority among those who could take the message offered.
    #[cold]
    fn best_partner(&mut self, sender: u32) -> i32 {
        let mut best = 0;
        for pid in 0..self.count() {
            let mut seat = Seat { pid: pid as u8, ..Seat::START };
            if self.seek_in(pid, sender, 0, &mut seat) != Sought::Nobody {
                best = best.max(self.priority_of(pid as i32));
            }
        }
        best
    }
}
