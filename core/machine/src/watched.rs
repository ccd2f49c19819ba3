//! Machines that watch more than the processes: turns of a claim, stuttering, marks on transitions.

use crate::code::LocationCode;
use crate::layout::{STUTTERED, TURN};
use crate::run::{Found, Interpreter};
use crate::{Cursor, Ending, Machine};
use fabius_program::{EdgeId, Move, ProgressOn, StepMarks, Watch};

impl Machine {
    /// What is watched.
    pub fn watch(&self) -> Watch {
        self.watch
    }

    /// Tells which processes have a step in a state in which nobody holds control.
    pub fn enabled(&mut self, state: &[u32], tell: &mut impl FnMut(u8)) {
        let Self { code, shapes, scratch, reached, spare, .. } = self;
        if let Some(shape) = shapes.find(code, state) {
            Interpreter::new(code, shapes, scratch, reached, state, shape, spare).enabled_processes(tell);
        }
    }

    /// Whether a process of a certain number takes an edge that leaves a location with a flag.
    fn leaves(&self, edge: EdgeId, flag: u8) -> bool {
        let edge = self.program.edge(edge);
        let first = self.code.processes[edge.process.0 as usize].locations;
        self.code.locations[(first + edge.source.0) as usize].has(flag)
    }

    /// The next successor of a machine that watches something.
    #[inline(never)]
    pub(crate) fn next_watched(&mut self, state: &[u32], cursor: &mut Cursor, successor: &mut Vec<u32>) -> Found {
        let Self { code, shapes, scratch, reached, .. } = self;
        let found = match shapes.get(cursor.shape) {
            Some(shape) if shape.words as usize == state.len() => {
                let mut interpreter = Interpreter::new(code, shapes, scratch, reached, state, shape, successor);
                if cursor.has(Cursor::CLAIM) { interpreter.next_of_claim(cursor) } else { interpreter.next(cursor) }
            }
            _ => Found::done(Ending::Moves),
        };
        if found.is_successor() {
            if self.watch.claim.is_some() && !cursor.has(Cursor::CLAIM) && !found.is_transient() {
                successor[0] |= TURN;
            }
            return found.marked(self.marks(found.label(), found.is_transient(), successor));
        }
        match found.ending() {
            None | Some(Ending::Moves) => found,
            Some(_) if cursor.has(Cursor::CLAIM) => found,
            Some(_) if self.watch.claim.is_some() => self.stutter(state, cursor, successor),
            Some(_) if self.stops_accepting(state, cursor) => {
                cursor.flags |= Cursor::STUTTERED;
                successor.clear();
                successor.extend_from_slice(state);
                Found::silent().marked(self.marks(None, false, successor))
            }
            Some(Ending::ValidEnd) if !self.is_trace_at_end(state) => Found::done(Ending::InvalidEnd),
            Some(_) => found,
        }
    }

    /// In a terminal state the turn passes to the claim without a step.
    fn stutter(&self, state: &[u32], cursor: &mut Cursor, successor: &mut Vec<u32>) -> Found {
        if cursor.has(Cursor::STUTTERED) {
            return Found::done(Ending::Moves);
        }
        cursor.flags |= Cursor::STUTTERED;
        let keeps = self.code.claim.is_some_and(|claim| claim.asks_progress);
        successor.clear();
        successor.extend_from_slice(state);
        successor[0] |= TURN | if keeps { STUTTERED } else { 0 };
        Found::silent().marked(self.marks(None, false, successor))
    }

    /// Whether a terminal state is one that is accepted for ever, which has not been said yet.
    fn stops_accepting(&self, state: &[u32], cursor: &Cursor) -> bool {
        self.may_accept && !cursor.has(Cursor::STUTTERED) && self.is_anybody_at(state, LocationCode::ACCEPT)
    }

    /// Whether the event trace, if there is one, may stop where it is.
    fn is_trace_at_end(&self, state: &[u32]) -> bool {
        let Some(trace) = &self.code.trace else { return true };
        let first = self.code.processes[trace.process as usize].locations;
        let at = first + state[trace.word as usize];
        self.process_count(state) == 0
            || self.code.locations.get(at as usize).is_some_and(|location| location.has(LocationCode::END))
    }

    fn marks(&self, label: Option<Move>, transient: bool, successor: &[u32]) -> StepMarks {
        let is_there = |flag| !transient && self.is_anybody_at(successor, flag);
        let takes = |label: &Move| {
            let mut edges = std::iter::once(label.edge).chain(label.partner.map(|(_, edge)| edge));
            edges.any(|edge| self.leaves(edge, LocationCode::PROGRESS))
        };
        StepMarks {
            accepting: self.may_accept && is_there(LocationCode::ACCEPT),
            progress: match self.watch.progress {
                None => false,
                Some(ProgressOn::States) => is_there(LocationCode::PROGRESS),
                Some(ProgressOn::Transitions) => label.as_ref().is_some_and(takes),
            },
        }
    }

    /// Whether some process, or the claim, is at a location with a flag.
    fn is_anybody_at(&self, state: &[u32], flag: u8) -> bool {
        let Some(shape) = self.shapes.find(&self.code, state) else { return false };
        let is_there = |placed: &crate::shape::Placed| {
            let process = &self.code.processes[placed.process as usize];
            let word = state[placed.base as usize] >> self.code.location_shift;
            self.code.locations[(process.locations + (word & process.location_mask)) as usize].has(flag)
        };
        self.code.claim.is_some_and(|claim| is_there(&claim.placed)) || shape.processes.iter().any(is_there)
    }
}
