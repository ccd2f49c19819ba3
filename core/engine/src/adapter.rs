//! A program as a model that the searches understand: the machine behind the trait.

use fabius_base::Span;
use fabius_machine::{Cursor, Machine, Refusal, Step};
use fabius_program::{EdgeId, Move, Program, StepMarks, meaning::Fault};
use fabius_search::{Ending, Marks, Model, Next};
use std::sync::Arc;

/// The machine of a program, as a search sees it.
pub(crate) struct SearchedMachine {
    machine: Machine,
}

/// Tells where the processes of a state are.
pub(crate) struct Places {
    machine: Machine,
}

impl SearchedMachine {
    /// Assembles the program.
    pub(crate) fn new(program: Arc<Program>) -> Result<Self, Refusal> {
        Ok(Self { machine: Machine::new(program)? })
    }

    /// A reader of the states that this machine makes.
    pub(crate) fn places(&self) -> Places {
        Places { machine: self.machine.clone() }
    }

    /// Whether some search took this edge.
    pub(crate) fn reached(&self, edge: EdgeId) -> bool {
        self.machine.reached(edge)
    }
}

impl Places {
    /// Where the oldest process stands that may not stop where it is.
    pub(crate) fn first_stuck(&self, state: &[u32]) -> Option<Span> {
        let program = self.machine.program();
        let locations = (0..self.machine.process_count(state)).filter_map(|pid| {
            let process = program.process(self.machine.process_of(state, pid)?);
            process.locations.get(self.machine.location_of(state, pid)?.0 as usize)
        });
        locations.into_iter().find(|location| !location.end).map(|location| location.span)
    }
}

impl Model for SearchedMachine {
    type Label = Move;
    type Fault = Fault;
    type Cursor = Cursor;

    fn hidden_words(&self) -> usize {
        self.machine.hidden_words()
    }

    fn initial(&mut self, state: &mut Vec<u32>) -> Result<(), Fault> {
        self.machine.initial(state)
    }

    #[inline]
    fn begin(&mut self, state: &[u32]) -> Cursor {
        self.machine.begin(state)
    }

    #[inline]
    fn next(&mut self, state: &[u32], cursor: &mut Cursor, successor: &mut Vec<u32>) -> Next<Move, Fault> {
        match self.machine.next(state, cursor, successor) {
            Step::Successor { label, transient, fault, marks } => {
                Next::Successor { label, transient, fault, marks: as_marks(marks) }
            }
            Step::Broken { label, fault } => Next::Broken { label, fault },
            Step::Done(ending) => Next::Done(match ending {
                fabius_machine::Ending::Moves => Ending::Moves,
                fabius_machine::Ending::ValidEnd => Ending::ValidEnd,
                fabius_machine::Ending::InvalidEnd => Ending::InvalidEnd,
            }),
        }
    }
}

/// The marks of a step, as a search knows them.
#[inline(always)]
fn as_marks(marks: StepMarks) -> Marks {
    let accepting = if marks.accepting { Marks::ACCEPTING } else { Marks::NONE };
    let progress = if marks.progress { Marks::PROGRESS } else { Marks::NONE };
    accepting.with(progress)
}
