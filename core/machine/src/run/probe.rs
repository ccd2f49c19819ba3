//! Which edges of one process are executable, without taking any.

use super::{Interpreter, Outcome};
use crate::code::{EdgeCode, Effect, NONE, channel_bit};

impl<'m> Interpreter<'m> {
    /// The executable edges of a process's location, as bits in the order in which they are tried; edges from
    /// the 64th on share the last bit. `Timeout` is false. A trial that is a fault counts as executable.
    pub(crate) fn executable(&mut self, pid: u32) -> u64 {
        let Some(placed) = self.placed(pid as i32) else { return 0 };
        self.probing = true;
        self.evaluates = true;
        self.timeout = false;
        self.found = false;
        let (mut executable, mut bit, mut escape) = (0, 1, 0);
        let mut id = self.location(placed).first;
        while id != NONE {
            let edge = &self.code.edges[id as usize];
            if escape != 0 && edge.escape != escape {
                break;
            }
            self.seat(pid);
            if self.is_executable(edge) {
                executable |= bit;
                escape = edge.escape;
                self.found = true;
            }
            bit = if bit << 1 == 0 { bit } else { bit << 1 };
            id = if edge.has(EdgeCode::LAST) { NONE } else { id + 1 };
        }
        executable
    }

    fn is_executable(&mut self, edge: &'m EdgeCode) -> bool {
        if !self.passes(edge, self.found) || edge.offers != 0 && self.accepting() & channel_bit(edge.offers) == 0 {
            return false;
        }
        if edge.effect != Effect::Code {
            return true;
        }
        let found = self.found;
        self.prepare();
        self.ordinal = 0;
        let outcome = self.run(edge.start);
        let executable = match outcome {
            Outcome::Blocked => false,
            Outcome::Done if self.later.is_none() => true,
            outcome => self.is_executable_further(outcome, edge),
        };
        self.restart();
        self.found = found;
        executable
    }
}
