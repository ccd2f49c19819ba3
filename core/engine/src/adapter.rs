//! A program as a model that the searches understand: the machine behind the trait.

use fabius_base::{Finding, Span};
use fabius_program::{EdgeId, Move, Program, meaning::Fault};
use fabius_search::{Model, Next};

/// The machine of a program, as a search sees it.
pub(crate) struct SearchedMachine<'p> {
    program: &'p Program,
}

/// Tells where the processes of a state are.
pub(crate) struct Places<'p> {
    program: &'p Program,
}

impl<'p> SearchedMachine<'p> {
    pub(crate) fn new(program: &'p Program) -> Result<Self, Finding> {
        Ok(Self { program })
    }
    pub(crate) fn places(&self) -> Places<'p> {
        Places { program: self.program }
    }
    pub(crate) fn reached(&self, edge: EdgeId) -> bool {
        todo!()
    }
}

impl Places<'_> {
    /// Where the oldest process stands that may not stop where it is.
    pub(crate) fn first_stuck(&self, state: &[u32]) -> Option<Span> {
        todo!()
    }
}

impl Model for SearchedMachine<'_> {
    type Label = Move;
    type Fault = Fault;
    type Cursor = u32;
    fn hidden_words(&self) -> usize {
        todo!()
    }
    fn initial(&mut self, state: &mut Vec<u32>) -> Result<(), Self::Fault> {
        todo!()
    }
    fn begin(&mut self, state: &[u32]) -> Self::Cursor {
        todo!()
    }
    fn next(
        &mut self,
        state: &[u32],
        cursor: &mut Self::Cursor,
        successor: &mut Vec<u32>,
    ) -> Next<Self::Label, Self::Fault> {
        todo!()
    }
}
