//! What a check looks at beside the processes: a claim, an event trace, marks of progress and acceptance.

use crate::Program;
use crate::process::{Process, ProcessId, ProcessKind};

/// What is watched while a program runs; see [`crate::meaning`], "Claims", "Event traces" and "Marks".
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Watch {
    /// This claim moves in lock step with the system.
    pub claim: Option<ProcessId>,
    /// Every send and receive must be one that this event trace allows (or not complete one that it forbids).
    pub trace: Option<ProcessId>,
    /// Steps that make progress are marked.
    pub progress: Option<ProgressOn>,
    /// Steps to states that are accepted are marked.
    pub acceptance: bool,
}

/// What counts as progress.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ProgressOn {
    /// A state in which some process is at a progress location.
    States,
    /// A step that leaves a progress location.
    Transitions,
}

impl Watch {
    /// Nothing but the processes.
    pub const NOTHING: Self = Self { claim: None, trace: None, progress: None, acceptance: false };

    /// Whether anything but the processes is watched.
    pub fn is_nothing(&self) -> bool {
        *self == Self::NOTHING
    }

    /// Whether some step of a program may be marked as accepted. A claim that comes to its end does not go on, so nothing is accepted there.
    pub fn may_accept(&self, program: &Program) -> bool {
        let may_accept = |(at, process): (usize, &Process)| {
            let is_claim = self.claim == Some(ProcessId(at as u32));
            let counts = is_claim || process.kind == ProcessKind::Process;
            counts && process.locations.iter().any(|location| location.accept && !(is_claim && location.end))
        };
        self.acceptance && program.processes.iter().enumerate().any(may_accept)
    }
}

/// What a step means to someone who looks for cycles.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct StepMarks {
    /// A run that takes such steps again and again is accepted.
    pub accepting: bool,
    /// A run that takes such steps again and again makes progress.
    pub progress: bool,
}

impl StepMarks {
    /// No mark.
    pub const NONE: Self = Self { accepting: false, progress: false };

    /// The marks of either.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self { accepting: self.accepting || other.accepting, progress: self.progress || other.progress }
    }
}
