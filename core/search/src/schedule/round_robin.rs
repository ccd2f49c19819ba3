//! Round-robin: in the order of creation.

use super::{Scheduler, Situation, Step};
use crate::model::ProcessSet;

/// The processes in a ring, in the order of creation. A process keeps control until it blocks or ends, or is held
/// back; then the next one in the ring that can move gets it.
///
/// It does not take control away by itself, so a process that always can move keeps it for ever at no delay.
#[derive(Clone, Copy, Debug, Default)]
pub struct RoundRobin;

/// Where the ring stands, and who can move: nothing else matters.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Ring {
    at: Option<u8>,
    enabled: ProcessSet,
}

impl Ring {
    /// Moves to the first process from `from` on that can move.
    pub(super) fn settle(&mut self, from: u8) {
        let here = self.enabled.iter().find(|&process| from <= process);
        self.at = here.or_else(|| self.enabled.iter().next());
    }
}

impl<Label> Scheduler<Label> for RoundRobin {
    type State = Ring;

    fn start(&self, situation: Situation<'_>) -> Ring {
        Ring { at: situation.enabled.iter().next(), enabled: *situation.enabled }
    }

    fn next(&self, state: &Ring) -> Option<u8> {
        state.at
    }

    fn delay(&self, state: &mut Ring) {
        if let Some(at) = state.at {
            state.settle(at.saturating_add(1));
        }
    }

    fn step(&self, state: &mut Ring, step: &Step<'_, Label>) {
        state.enabled = *step.after.enabled;
        state.settle(step.process.or(state.at).unwrap_or(0));
    }

    fn on_enabled(&self, state: &mut Ring, process: u8, _: Option<u8>) {
        state.enabled.insert(process);
        state.settle(state.at.unwrap_or(process));
    }

    fn on_blocked(&self, state: &mut Ring, process: u8) {
        state.enabled.remove(process);
        state.settle(state.at.unwrap_or(0));
    }
}
