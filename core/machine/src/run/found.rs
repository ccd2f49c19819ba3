//! What the interpreter found, in two registers of the processor.
//!
//! A [`Step`] has so many fields that it is returned by way of memory, and processors wait where memory that was just written field by
//! field is read as a whole.

use crate::code::NONE;
use crate::{Ending, Step};
use fabius_program::meaning::Fault;
use fabius_program::{EdgeId, Move, StepMarks};

/// A [`Step`], but for the fault that broke it: [`crate::Machine::step`] gives all of it, as long as the machine was not asked for more.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    /// The edge, then that of the partner or [`NONE`].
    edges: u64,
    /// From the lowest bit up: the number of the process, that of the partner, flags.
    rest: u64,
}

/// Where the number of the partner stands.
const PARTNER_SHIFT: u32 = 8;
/// A successor was written.
const SUCCESSOR: u64 = 1 << 16;
/// The successor was written without a transition.
const SILENT: u64 = 1 << 17;
/// The transition cannot be computed.
const BROKEN: u64 = 1 << 18;
const TRANSIENT: u64 = 1 << 19;
const ASSERTION_FAILED: u64 = 1 << 20;
const ACCEPTING: u64 = 1 << 21;
const PROGRESS: u64 = 1 << 22;
/// All was listed, and the state may stop; …
const VALID_END: u64 = 1 << 23;
/// … or may not.
const INVALID_END: u64 = 1 << 24;

/// The flag, if it is set.
#[inline(always)]
fn flag(flag: u64, is_set: bool) -> u64 {
    if is_set { flag } else { 0 }
}

impl Found {
    /// A successor by a transition.
    #[inline(always)]
    pub(crate) fn successor(label: Move, transient: bool, assertion_failed: bool) -> Self {
        let flags = SUCCESSOR | flag(TRANSIENT, transient) | flag(ASSERTION_FAILED, assertion_failed);
        Self::with_label(label, flags)
    }

    /// A successor without a transition.
    pub(crate) fn silent() -> Self {
        Self { edges: 0, rest: SUCCESSOR | SILENT }
    }

    /// A transition that cannot be computed; the fault is kept elsewhere.
    pub(crate) fn broken(label: Move) -> Self {
        Self::with_label(label, BROKEN)
    }

    /// All was listed.
    pub(crate) fn done(ending: Ending) -> Self {
        let rest = match ending {
            Ending::Moves => 0,
            Ending::ValidEnd => VALID_END,
            Ending::InvalidEnd => INVALID_END,
        };
        Self { edges: 0, rest }
    }

    #[inline(always)]
    fn with_label(label: Move, flags: u64) -> Self {
        let (partner, edge) = label.partner.map_or((0, NONE), |(partner, edge)| (partner, edge.0));
        Self {
            edges: u64::from(label.edge.0) | u64::from(edge) << 32,
            rest: u64::from(label.pid) | u64::from(partner) << PARTNER_SHIFT | flags,
        }
    }

    /// The same with marks.
    pub(crate) fn marked(self, marks: StepMarks) -> Self {
        let marks = flag(ACCEPTING, marks.accepting) | flag(PROGRESS, marks.progress);
        Self { rest: self.rest | marks, ..self }
    }

    /// Whether it is no fault.
    #[inline(always)]
    pub fn is_sound(self) -> bool {
        self.rest & (BROKEN | ASSERTION_FAILED) == 0
    }

    /// Whether a successor was written.
    pub(crate) fn is_successor(self) -> bool {
        self.rest & SUCCESSOR != 0
    }

    /// How the state ends, once all was listed.
    #[inline(always)]
    pub fn ending(self) -> Option<Ending> {
        match self.rest & (SUCCESSOR | BROKEN | VALID_END | INVALID_END) {
            0 => Some(Ending::Moves),
            VALID_END => Some(Ending::ValidEnd),
            INVALID_END => Some(Ending::InvalidEnd),
            _ => None,
        }
    }

    /// The transition, if there is one.
    #[inline(always)]
    pub fn label(self) -> Option<Move> {
        (self.rest & SILENT == 0).then(|| self.transition())
    }

    #[inline(always)]
    fn transition(self) -> Move {
        let partner = (self.edges >> 32) as u32;
        Move {
            pid: self.rest as u8,
            edge: EdgeId(self.edges as u32),
            partner: (partner != NONE).then_some(((self.rest >> PARTNER_SHIFT) as u8, EdgeId(partner))),
        }
    }

    /// Whether the successor is transient.
    #[inline(always)]
    pub fn is_transient(self) -> bool {
        self.rest & TRANSIENT != 0
    }

    /// Words in which the successor may differ from the state, if their lengths are equal: bit `i` stands for word `i`, and for those
    /// behind it in steps of 64. `touched` is what the interpreter kept.
    #[inline(always)]
    pub(crate) fn touched(self, touched: u64) -> u64 {
        if self.rest & SILENT == 0 { touched } else { u64::MAX }
    }

    /// The marks of its transition.
    #[inline(always)]
    pub fn marks(self) -> StepMarks {
        StepMarks { accepting: self.rest & ACCEPTING != 0, progress: self.rest & PROGRESS != 0 }
    }

    /// All of it; `fault` is what broke the transition, if it is broken.
    #[inline(always)]
    pub(crate) fn step(self, fault: Fault) -> Step {
        let has = |flag| self.rest & flag != 0;
        if has(SUCCESSOR) {
            Step::Successor {
                label: self.label(),
                transient: self.is_transient(),
                fault: has(ASSERTION_FAILED).then_some(Fault::AssertionFailed),
                marks: self.marks(),
            }
        } else if has(BROKEN) {
            Step::Broken { label: self.transition(), fault }
        } else if has(VALID_END) {
            Step::Done(Ending::ValidEnd)
        } else if has(INVALID_END) {
            Step::Done(Ending::InvalidEnd)
        } else {
            Step::Done(Ending::Moves)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_a_step_comes_back() {
        let fault = Fault::DivisionByZero;
        let partners = [None, Some((0, EdgeId(0))), Some((255, EdgeId(NONE - 1)))];
        for (pid, edge) in [(0, 0), (255, 7), (3, NONE - 1)] {
            for partner in partners {
                let label = Move { pid, edge: EdgeId(edge), partner };
                assert_eq!(Found::broken(label).step(fault), Step::Broken { label, fault });
                for bits in 0..16 {
                    let [transient, failed, accepting, progress] = [1, 2, 4, 8].map(|bit| bits & bit != 0);
                    let marks = StepMarks { accepting, progress };
                    let fault = failed.then_some(Fault::AssertionFailed);
                    let expected = Step::Successor { label: Some(label), transient, fault, marks };
                    let found = Found::successor(label, transient, failed).marked(marks);
                    assert_eq!(found.step(Fault::DivisionByZero), expected);
                    assert!(found.is_successor() && found.ending().is_none() && found.is_sound() != failed);
                }
            }
        }
        let silent = Step::Successor { label: None, transient: false, fault: None, marks: StepMarks::NONE };
        assert_eq!(Found::silent().step(fault), silent);
        for ending in [Ending::Moves, Ending::ValidEnd, Ending::InvalidEnd] {
            assert_eq!(Found::done(ending).step(fault), Step::Done(ending));
            assert_eq!(Found::done(ending).ending(), Some(ending));
        }
    }
}
