//! What is known of a path that may become a cycle.

use super::graph::{Edge, Node};
use crate::cycle::outcome::{CycleQuestion, Fairness, Goal};
use crate::model::Marks;

/// Processes with higher numbers are not followed: fair cycles are left alone where there are such.
pub(super) const PROCESSES_MAX: usize = 32;

/// What is known of a path that may become a cycle.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct History {
    accepted: bool,
    /// It went through a state that is not transient.
    ordinary: bool,
    moved: u32,
    /// Weak fairness: who was enabled all the time. Strong: who was at some time.
    able: u32,
    /// It is a cycle that counts.
    pub(super) closed: bool,
}

impl History {
    /// Before the first transition, in a state with this many processes.
    pub(super) fn start(question: CycleQuestion, processes: u8) -> Self {
        let able = match question.fairness {
            Fairness::Weak => first_bits(processes),
            Fairness::None | Fairness::Strong => 0,
        };
        Self { accepted: false, ordinary: false, moved: 0, able, closed: false }
    }

    /// After one more transition.
    pub(super) fn after<L>(mut self, edge: &Edge<L>, target: &Node, question: CycleQuestion) -> Self {
        self.accepted |= question.goal == Goal::AcceptanceCycle && edge.marks.has(Marks::ACCEPTING);
        match question.fairness {
            Fairness::None => {}
            Fairness::Weak => {
                // Who moved is not neglected, whatever comes.
                self.able &= !edge.movers;
                self.able &= if target.transient { u32::MAX } else { target.enabled };
            }
            Fairness::Strong => {
                self.moved |= edge.movers;
                self.ordinary |= !target.transient;
                self.able |= if target.transient { 0 } else { target.enabled };
            }
        }
        self
    }

    /// Whether a cycle with this history is one of those that are looked for.
    pub(super) fn counts(&self, question: CycleQuestion, processes: u8) -> bool {
        let neglected = match question.fairness {
            Fairness::None => 0,
            Fairness::Weak => self.able,
            Fairness::Strong => (if self.ordinary { self.able } else { first_bits(processes) }) & !self.moved,
        };
        neglected == 0 && (question.goal == Goal::Livelock || self.accepted)
    }
}

/// One bit for each process; those that are not followed share the last one.
pub(super) fn bits(processes: impl Iterator<Item = u8>) -> u32 {
    processes.fold(0, |bits, process| bits | 1 << usize::from(process).min(PROCESSES_MAX - 1))
}

/// The bits of the first processes.
fn first_bits(count: u8) -> u32 {
    1_u32.checked_shl(count.into()).map_or(u32::MAX, |bit| bit - 1)
}
