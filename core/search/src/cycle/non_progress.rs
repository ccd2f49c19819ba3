//! Livelocks as acceptance cycles: the product with an automaton, to compare with.
//!
//! The automaton (Holzmann's *np_*) watches the run; at some step without progress it guesses that there will be
//! no more, and from then on it goes along only with such steps, which are accepting. The product has up to
//! twice as many states as the model.

use crate::model::{Marks, Model, Next, ProcessSet, Processes};

/// A model beside the automaton of livelocks; its acceptance cycles are the livelocks of the model.
#[derive(Debug)]
pub struct NonProgress<M> {
    model: M,
    successor: Vec<u32>,
}

/// How far the successors of a state of the product are listed.
#[derive(Clone, Copy, Debug)]
pub struct ProductCursor<C> {
    model: C,
    /// Before the step that was listed last, if it is to be listed again with the guess.
    again: Option<C>,
}

/// The word in front of a state of the model, before and after the guess.
const BEFORE: u32 = 0;
const AFTER: u32 = 1;

impl<M> NonProgress<M> {
    /// The product of a model with the automaton.
    pub fn new(model: M) -> Self {
        Self { model, successor: Vec::new() }
    }
}

impl<M: Model> NonProgress<M> {
    /// Writes the successor of the model, with the automaton's state.
    fn write(&self, word: u32, successor: &mut Vec<u32>) {
        successor.clear();
        successor.push(word);
        successor.extend_from_slice(&self.successor);
    }
}

impl<M: Model> Model for NonProgress<M> {
    type Label = M::Label;
    type Fault = M::Fault;
    type Cursor = ProductCursor<M::Cursor>;

    fn hidden_words(&self) -> usize {
        self.model.hidden_words()
    }

    fn initial(&mut self, state: &mut Vec<u32>) -> Result<(), M::Fault> {
        self.model.initial(&mut self.successor)?;
        self.write(BEFORE, state);
        Ok(())
    }

    fn begin(&mut self, state: &[u32]) -> Self::Cursor {
        ProductCursor { model: self.model.begin(&state[1..]), again: None }
    }

    fn next(&mut self, state: &[u32], cursor: &mut Self::Cursor, successor: &mut Vec<u32>) -> Next<M::Label, M::Fault> {
        let guesses = cursor.again.take();
        let is_guess = guesses.is_some();
        let mut here = guesses.unwrap_or(cursor.model);
        loop {
            let before = here;
            let found = self.model.next(&state[1..], &mut here, &mut self.successor);
            cursor.model = here;
            let Next::Successor { label, transient, fault, marks } = found else { return found };
            let progress = marks.has(Marks::PROGRESS);
            if state[0] == AFTER && progress {
                continue;
            }
            let (word, marks) = match is_guess || state[0] == AFTER {
                true => (AFTER, Marks::ACCEPTING),
                false => (BEFORE, Marks::NONE),
            };
            if word == BEFORE && !progress {
                cursor.again = Some(before);
            }
            self.write(word, successor);
            return Next::Successor { label, transient, fault, marks };
        }
    }
}

impl<M: Processes> Processes for NonProgress<M> {
    fn process_count(&self, state: &[u32]) -> usize {
        self.model.process_count(&state[1..])
    }

    fn movers(&self, label: &M::Label) -> [Option<u8>; 2] {
        self.model.movers(label)
    }

    fn enabled(&mut self, state: &[u32], enabled: &mut ProcessSet) {
        self.model.enabled(&state[1..], enabled);
    }
}
