//! A program as a model that the searches understand: the machine behind the trait.

use fabius_base::{Finding, Span};
use fabius_program::{EdgeId, Move, Program, meaning::Fault};
use fabius_search::{Ending, Model, Next};
use fabius_witness::{Outcome, State, moves, released};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

type Shared = Rc<RefCell<Vec<State>>>;

/// The machine of a program, as a search sees it.
pub(crate) struct SearchedMachine<'p> {
    program: &'p Program,
    states: Shared,
    by: HashMap<State, u32>,
    reached: HashSet<EdgeId>,
}

/// Tells where the processes of a state are.
pub(crate) struct Places<'p> {
    program: &'p Program,
    states: Shared,
}

impl<'p> SearchedMachine<'p> {
    pub(crate) fn new(program: &'p Program) -> Result<Self, Finding> {
        Ok(Self { program, states: Shared::default(), by: HashMap::new(), reached: HashSet::new() })
    }
    pub(crate) fn places(&self) -> Places<'p> {
        Places { program: self.program, states: self.states.clone() }
    }
    pub(crate) fn reached(&self, edge: EdgeId) -> bool {
        self.reached.contains(&edge)
    }
    fn intern(&mut self, state: &State) -> u32 {
        *self.by.entry(state.clone()).or_insert_with(|| {
            let mut states = self.states.borrow_mut();
            states.push(state.clone());
            states.len() as u32 - 1
        })
    }
}

impl Places<'_> {
    /// Where the oldest process stands that may not stop where it is.
    pub(crate) fn first_stuck(&self, state: &[u32]) -> Option<Span> {
        let states = self.states.borrow();
        let state = &states[state[0] as usize];
        state
            .processes
            .iter()
            .map(|p| &self.program.process(p.process).locations[p.location.0 as usize])
            .find(|l| !l.end)
            .map(|l| l.span)
    }
}

impl Model for SearchedMachine<'_> {
    type Label = Move;
    type Fault = Fault;
    type Cursor = u32;
    fn hidden_words(&self) -> usize {
        0
    }
    fn initial(&mut self, state: &mut Vec<u32>) -> Result<(), Self::Fault> {
        let s = State::initial(self.program)?;
        let id = self.intern(&s);
        state.clear();
        state.push(id);
        Ok(())
    }
    fn begin(&mut self, _: &[u32]) -> Self::Cursor {
        0
    }
    fn next(&mut self, state: &[u32], cursor: &mut Self::Cursor, successor: &mut Vec<u32>) -> Next<Move, Fault> {
        let s = self.states.borrow()[state[0] as usize].clone();
        let m = moves(self.program, &s);
        let i = *cursor as usize;
        *cursor += 1;
        if m.ending == fabius_witness::Ending::LosesControl {
            if i == 0 {
                let id = self.intern(&released(&s));
                successor.clear();
                successor.push(id);
                return Next::Successor { label: None, transient: false, fault: None };
            }
            return Next::Done(Ending::Moves);
        }
        match m.successors.get(i) {
            Some((label, Outcome::Reaches { state, assertion_failed, .. })) => {
                self.reached.insert(label.edge);
                if let Some(p) = label.partner {
                    self.reached.insert(p.1);
                }
                let id = self.intern(state);
                successor.clear();
                successor.push(id);
                let fault = assertion_failed.then_some(Fault::AssertionFailed);
                Next::Successor { label: Some(*label), transient: state.holder.is_some(), fault }
            }
            Some((label, Outcome::Broken { fault, .. })) => Next::Broken { label: *label, fault: *fault },
            None => Next::Done(match m.ending {
                fabius_witness::Ending::Valid => Ending::ValidEnd,
                fabius_witness::Ending::Invalid => Ending::InvalidEnd,
                _ => Ending::Moves,
            }),
        }
    }
}
