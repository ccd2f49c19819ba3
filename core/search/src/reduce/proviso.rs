//! The proviso that keeps a reduction from putting something off for ever, for depth-first searches that look
//! for faults.
//!
//! ```text
//! visit(s): list the steps of the reduced set; if each of them leads to a state on the stack: list the others
//! ```
//!
//! A state off the stack is left before `s` is. So from every state there is, within reduced sets, a way along
//! states that are left earlier and earlier, to one where everything is listed, or what was put off
//! is done on the way. (Holzmann, Peled, *An improvement in formal verification*, FORTE 1994, in the weak form
//! that suffices for safety: not every step, but some step has to lead off the stack.)

use crate::model::{Model, Next, Reducible};

/// A reduced model that lists everything in a state from which its reduced steps lead only to states on the
/// stack of the depth-first search that goes through it.
///
/// The stack is what the calls tell: [`Model::begin`] enters a state, and whatever is asked of a state with a
/// cursor means that those entered after it were left. Successors may be listed before their turn and again.
/// States on the stack are known by a hash: taking another one for one of them only lists too much.
#[derive(Debug)]
pub struct OffStack<M> {
    model: M,
    stack: Vec<Entry>,
    /// The hashes of the states on the stack, each at the first free place from where it belongs; 0 is free. What
    /// was put in last is taken out first, so taking out leaves no gap that somebody jumped over.
    places: Vec<u64>,
}

/// A state on the stack.
#[derive(Clone, Copy, Debug)]
struct Entry {
    hash: u64,
    place: u32,
    /// Some step led off the stack, or nothing was left out.
    escaped: bool,
    transient: bool,
}

/// A cursor of the model, and where its state is on the stack.
#[derive(Clone, Copy, Debug)]
pub struct StackCursor<C> {
    inner: C,
    height: u32,
}

impl<M: Reducible> OffStack<M> {
    /// Watches over a reduced model.
    pub fn new(model: M) -> Self {
        Self { model, stack: Vec::new(), places: vec![0; 1 << 12] }
    }

    /// The model.
    pub fn model(&self) -> &M {
        &self.model
    }

    /// The model.
    pub fn into_model(self) -> M {
        self.model
    }

    fn leave_down_to(&mut self, height: u32) {
        while height < self.stack.len() as u32 {
            let Some(entry) = self.stack.pop() else { return };
            self.places[entry.place as usize] = 0;
        }
    }

    fn enter(&mut self, hash: u64, transient: bool) {
        if self.places.len() < self.stack.len() * 4 {
            self.places = vec![0; self.places.len() * 4];
            for index in 0..self.stack.len() {
                self.stack[index].place = self.put(self.stack[index].hash);
            }
        }
        let place = self.put(hash);
        self.stack.push(Entry { hash, place, escaped: false, transient });
    }

    /// Puts a hash into a free place.
    fn put(&mut self, hash: u64) -> u32 {
        let mask = self.places.len() - 1;
        let mut place = hash as usize & mask;
        while self.places[place] != 0 {
            place = (place + 1) & mask;
        }
        self.places[place] = hash;
        place as u32
    }

    #[inline]
    fn is_on_stack(&self, hash: u64) -> bool {
        let mask = self.places.len() - 1;
        let mut place = hash as usize & mask;
        while self.places[place] != 0 {
            if self.places[place] == hash {
                return true;
            }
            place = (place + 1) & mask;
        }
        false
    }

    /// A step from the top of the stack leads off it: so does the ordinary state that the top was reached from.
    fn escape(&mut self) {
        for entry in self.stack.iter_mut().rev() {
            entry.escaped = true;
            if !entry.transient {
                return;
            }
        }
    }
}

impl<M: Reducible> Model for OffStack<M> {
    type Label = M::Label;
    type Fault = M::Fault;
    type Cursor = StackCursor<M::Cursor>;

    fn hidden_words(&self) -> usize {
        self.model.hidden_words()
    }

    fn initial(&mut self, state: &mut Vec<u32>) -> Result<(), M::Fault> {
        self.leave_down_to(0);
        self.model.initial(state)
    }

    fn retrace(&mut self, begins: bool) {
        self.model.retrace(begins);
    }

    #[inline]
    fn is_for_later(&mut self, state: &[u32]) -> bool {
        self.model.is_for_later(state)
    }

    #[inline]
    fn begin(&mut self, state: &[u32]) -> Self::Cursor {
        let visible = &state[..state.len() - self.model.hidden_words()];
        let transient = self.model.is_transient(state);
        self.enter(hash_of(visible), transient);
        StackCursor { inner: self.model.begin(state), height: self.stack.len() as u32 }
    }

    #[inline]
    fn next(&mut self, state: &[u32], cursor: &mut Self::Cursor, successor: &mut Vec<u32>) -> Next<M::Label, M::Fault> {
        self.leave_down_to(cursor.height);
        loop {
            let next = self.model.next(state, &mut cursor.inner, successor);
            match &next {
                Next::Successor { transient: false, .. } => {
                    let visible = &successor[..successor.len() - self.model.hidden_words()];
                    if !self.is_on_stack(hash_of(visible)) {
                        self.escape();
                    }
                }
                Next::Done(_) => {
                    let escaped = self.stack.last().is_none_or(|entry| entry.escaped);
                    if !escaped && self.model.fully_expand(state, &mut cursor.inner) {
                        continue;
                    }
                }
                _ => {}
            }
            return next;
        }
    }
}

/// A hash of the words of a state, not 0.
#[inline]
fn hash_of(words: &[u32]) -> u64 {
    let mut hash = words.len() as u64;
    for pair in words.chunks(2) {
        let high = pair.get(1).copied().unwrap_or(0);
        hash = (hash ^ (u64::from(pair[0]) | u64::from(high) << 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        hash ^= hash >> 29;
    }
    (hash ^ hash >> 32) | 1 << 63
}
